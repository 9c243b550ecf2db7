// What kernels of the workloads may use of CUDA C, so that Debian's clang compiles them without a CUDA
// toolkit.
//
// Under clang (no CUDA headers) this header supplies attributes, thread indices, vector types, barriers,
// atomics, shuffles and single-precision math under CUDA's own names, by NVPTX builtins and inline PTX. Under
// nvcc, which brings all of that, only the texture fetches at the end remain. Kernels are compiled for 64-bit
// and for 32-bit addresses: `long`, size_t and pointers differ in size between the two, so parameters and
// data use int, unsigned, float, double, long long or pointers to those, and never hold pointers in memory.
#ifndef WORKLOADS_DEVICE_H
#define WORKLOADS_DEVICE_H

// A kernel, under its plain name in the module.
#define KERNEL extern "C" __global__ void

#ifdef __clang__

#define __global__             __attribute__((global))
#define __device__             __attribute__((device))
#define __host__               __attribute__((host))
#define __shared__             __attribute__((shared))
#define __constant__           __attribute__((constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __forceinline__        inline __attribute__((always_inline))
#define __noinline__           __attribute__((noinline))
#define DEVICE_FN              static inline __attribute__((always_inline)) __device__

typedef unsigned char uchar;
typedef unsigned int uint;

#define WORKLOADS_AXES(name, reg)                                                                            \
    struct name##_type {                                                                                     \
        __declspec(property(get = get_x)) unsigned x;                                                        \
        __declspec(property(get = get_y)) unsigned y;                                                        \
        __declspec(property(get = get_z)) unsigned z;                                                        \
        static __device__ unsigned get_x() {                                                                 \
            return __nvvm_read_ptx_sreg_##reg##_x();                                                         \
        }                                                                                                    \
        static __device__ unsigned get_y() {                                                                 \
            return __nvvm_read_ptx_sreg_##reg##_y();                                                         \
        }                                                                                                    \
        static __device__ unsigned get_z() {                                                                 \
            return __nvvm_read_ptx_sreg_##reg##_z();                                                         \
        }                                                                                                    \
    };                                                                                                       \
    extern const __device__ name##_type name
WORKLOADS_AXES(threadIdx, tid);
WORKLOADS_AXES(blockIdx, ctaid);
WORKLOADS_AXES(blockDim, ntid);
WORKLOADS_AXES(gridDim, nctaid);
#undef WORKLOADS_AXES

// ---- vector types; aligned, so that loads and stores of them are single vector accesses
// ----------------------------

#define WORKLOADS_VECTORS(scalar, name)                                                                      \
    struct __attribute__((aligned(2 * sizeof(scalar)))) name##2 {                                            \
        scalar x, y;                                                                                         \
    };                                                                                                       \
    struct name##3 {                                                                                         \
        scalar x, y, z;                                                                                      \
    };                                                                                                       \
    struct __attribute__((aligned(4 * sizeof(scalar)))) name##4 {                                            \
        scalar x, y, z, w;                                                                                   \
    };                                                                                                       \
    DEVICE_FN name##2 make_##name##2(scalar x, scalar y) {                                                   \
        return {x, y};                                                                                       \
    }                                                                                                        \
    DEVICE_FN name##3 make_##name##3(scalar x, scalar y, scalar z) {                                         \
        return {x, y, z};                                                                                    \
    }                                                                                                        \
    DEVICE_FN name##4 make_##name##4(scalar x, scalar y, scalar z, scalar w) {                               \
        return {x, y, z, w};                                                                                 \
    }
WORKLOADS_VECTORS(float, float)
WORKLOADS_VECTORS(int, int)
WORKLOADS_VECTORS(unsigned, uint)
WORKLOADS_VECTORS(unsigned char, uchar)
WORKLOADS_VECTORS(short, short)
WORKLOADS_VECTORS(unsigned short, ushort)
#undef WORKLOADS_VECTORS
struct __attribute__((aligned(16))) double2 {
    double x, y;
};
DEVICE_FN double2 make_double2(double x, double y) {
    return {x, y};
}

// ---- barriers, fences, warp operations (__syncthreads is clang's own)
// ----------------------------------------------

DEVICE_FN void __syncwarp(unsigned mask = ~0u) {
    __nvvm_bar_warp_sync(mask);
}
DEVICE_FN void __threadfence() {
    __nvvm_membar_gl();
}
DEVICE_FN void __threadfence_block() {
    __nvvm_membar_cta();
}
#define WORKLOADS_SHFL(type, t)                                                                              \
    DEVICE_FN type __shfl_sync(unsigned mask, type v, int lane) {                                            \
        return __nvvm_shfl_sync_idx_##t(mask, v, lane, 31);                                                  \
    }                                                                                                        \
    DEVICE_FN type __shfl_up_sync(unsigned mask, type v, unsigned delta) {                                   \
        return __nvvm_shfl_sync_up_##t(mask, v, delta, 0);                                                   \
    }                                                                                                        \
    DEVICE_FN type __shfl_down_sync(unsigned mask, type v, unsigned delta) {                                 \
        return __nvvm_shfl_sync_down_##t(mask, v, delta, 31);                                                \
    }                                                                                                        \
    DEVICE_FN type __shfl_xor_sync(unsigned mask, type v, int lanes) {                                       \
        return __nvvm_shfl_sync_bfly_##t(mask, v, lanes, 31);                                                \
    }
WORKLOADS_SHFL(int, i32)
WORKLOADS_SHFL(unsigned, i32)
WORKLOADS_SHFL(float, f32)
#undef WORKLOADS_SHFL
DEVICE_FN unsigned __ballot_sync(unsigned mask, int p) {
    return __nvvm_vote_ballot_sync(mask, p);
}
DEVICE_FN int __any_sync(unsigned mask, int p) {
    return __nvvm_vote_any_sync(mask, p);
}
DEVICE_FN int __all_sync(unsigned mask, int p) {
    return __nvvm_vote_all_sync(mask, p);
}

// ---- atomics
// -------------------------------------------------------------------------------------------------------

#define WORKLOADS_ATOMIC(name, op, type)                                                                     \
    DEVICE_FN type name(type *p, type v) {                                                                   \
        return __atomic_fetch_##op(p, v, __ATOMIC_RELAXED);                                                  \
    }
WORKLOADS_ATOMIC(atomicAdd, add, int)
WORKLOADS_ATOMIC(atomicAdd, add, unsigned)
WORKLOADS_ATOMIC(atomicAdd, add, unsigned long long)
WORKLOADS_ATOMIC(atomicSub, sub, int)
WORKLOADS_ATOMIC(atomicSub, sub, unsigned)
WORKLOADS_ATOMIC(atomicMin, min, int)
WORKLOADS_ATOMIC(atomicMin, min, unsigned)
WORKLOADS_ATOMIC(atomicMax, max, int)
WORKLOADS_ATOMIC(atomicMax, max, unsigned)
WORKLOADS_ATOMIC(atomicAnd, and, unsigned)
WORKLOADS_ATOMIC(atomicOr, or, unsigned)
WORKLOADS_ATOMIC(atomicXor, xor, unsigned)
#undef WORKLOADS_ATOMIC
DEVICE_FN float atomicAdd(float *p, float v) {
    return __nvvm_atom_add_gen_f(p, v);
}
DEVICE_FN unsigned atomicInc(unsigned *p, unsigned limit) {
    return __nvvm_atom_inc_gen_ui(p, limit);
}
DEVICE_FN int atomicExch(int *p, int v) {
    return __atomic_exchange_n(p, v, __ATOMIC_RELAXED);
}
DEVICE_FN unsigned atomicExch(unsigned *p, unsigned v) {
    return __atomic_exchange_n(p, v, __ATOMIC_RELAXED);
}
DEVICE_FN int atomicCAS(int *p, int expected, int desired) {
    return __nvvm_atom_cas_gen_i(p, expected, desired);
}
DEVICE_FN unsigned atomicCAS(unsigned *p, unsigned expected, unsigned desired) {
    return __nvvm_atom_cas_gen_i((int *)p, expected, desired);
}

// ---- integers and bits
// ---------------------------------------------------------------------------------------------

DEVICE_FN int min(int a, int b) {
    return a < b ? a : b;
}
DEVICE_FN unsigned min(unsigned a, unsigned b) {
    return a < b ? a : b;
}
DEVICE_FN int max(int a, int b) {
    return a > b ? a : b;
}
DEVICE_FN unsigned max(unsigned a, unsigned b) {
    return a > b ? a : b;
}
DEVICE_FN int abs(int a) {
    return a < 0 ? -a : a;
}
DEVICE_FN int __popc(unsigned v) {
    return __builtin_popcount(v);
}
DEVICE_FN int __clz(int v) {
    return v ? __builtin_clz((unsigned)v) : 32;
}
DEVICE_FN int __ffs(int v) {
    return __builtin_ffs(v);
}
DEVICE_FN unsigned __brev(unsigned v) {
    return __builtin_bitreverse32(v);
}
DEVICE_FN int __mul24(int a, int b) {
    return __nvvm_mul24_i(a, b);
}
DEVICE_FN unsigned __umul24(unsigned a, unsigned b) {
    return __nvvm_mul24_ui(a, b);
}
DEVICE_FN unsigned __umulhi(unsigned a, unsigned b) {
    return (unsigned)(((unsigned long long)a * b) >> 32);
}
DEVICE_FN unsigned __usad(unsigned a, unsigned b, unsigned c) {
    unsigned r;
    asm("sad.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    return r;
}
DEVICE_FN int __float_as_int(float v) {
    return __builtin_bit_cast(int, v);
}
DEVICE_FN float __int_as_float(int v) {
    return __builtin_bit_cast(float, v);
}
DEVICE_FN unsigned __float_as_uint(float v) {
    return __builtin_bit_cast(unsigned, v);
}
DEVICE_FN float __uint_as_float(unsigned v) {
    return __builtin_bit_cast(float, v);
}
DEVICE_FN int __float2int_rn(float v) {
    return __nvvm_f2i_rn(v);
}
DEVICE_FN int __float2int_rz(float v) {
    return __nvvm_f2i_rz(v);
}

// ---- read-only loads
// -----------------------------------------------------------------------------------------------

DEVICE_FN float __ldg(const float *p) {
    return __nvvm_ldg_f(p);
}
DEVICE_FN int __ldg(const int *p) {
    return __nvvm_ldg_i(p);
}
DEVICE_FN unsigned __ldg(const unsigned *p) {
    return __nvvm_ldg_ui(p);
}

// ---- exact single and double precision
// -----------------------------------------------------------------------------

DEVICE_FN float fmaf(float a, float b, float c) {
    return __builtin_fmaf(a, b, c);
}
DEVICE_FN double fma(double a, double b, double c) {
    return __builtin_fma(a, b, c);
}
DEVICE_FN float fabsf(float v) {
    return __builtin_fabsf(v);
}
DEVICE_FN double fabs(double v) {
    return __builtin_fabs(v);
}
DEVICE_FN float fminf(float a, float b) {
    return __nvvm_fmin_f(a, b);
}
DEVICE_FN float fmaxf(float a, float b) {
    return __nvvm_fmax_f(a, b);
}
DEVICE_FN double fmin(double a, double b) {
    return __nvvm_fmin_d(a, b);
}
DEVICE_FN double fmax(double a, double b) {
    return __nvvm_fmax_d(a, b);
}
DEVICE_FN float min(float a, float b) {
    return __nvvm_fmin_f(a, b);
}
DEVICE_FN float max(float a, float b) {
    return __nvvm_fmax_f(a, b);
}
DEVICE_FN float floorf(float v) {
    return __nvvm_floor_f(v);
}
DEVICE_FN float ceilf(float v) {
    return __nvvm_ceil_f(v);
}
DEVICE_FN float rintf(float v) {
    return __builtin_rintf(v);
}
DEVICE_FN float truncf(float v) {
    return __nvvm_trunc_f(v);
}
DEVICE_FN float __saturatef(float v) {
    return __nvvm_saturate_f(v);
}
DEVICE_FN float sqrtf(float v) {
    return __nvvm_sqrt_rn_f(v);
}
DEVICE_FN double sqrt(double v) {
    return __nvvm_sqrt_rn_d(v);
}

// ---- fast math: one machine instruction and a scaling, as CUDA's intrinsics of the same names
// ------------------------

#define WORKLOADS_APPROX(name, op)                                                                           \
    DEVICE_FN float name(float v) {                                                                          \
        float r;                                                                                             \
        asm(op ".f32 %0, %1;" : "=f"(r) : "f"(v));                                                           \
        return r;                                                                                            \
    }
WORKLOADS_APPROX(rsqrtf, "rsqrt.approx")
WORKLOADS_APPROX(__sinf, "sin.approx")
WORKLOADS_APPROX(__cosf, "cos.approx")
WORKLOADS_APPROX(workloads_ex2, "ex2.approx")
WORKLOADS_APPROX(__log2f, "lg2.approx")
#undef WORKLOADS_APPROX
DEVICE_FN float __fdividef(float a, float b) {
    float r;
    asm("div.approx.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
    return r;
}
DEVICE_FN float __expf(float v) {
    return workloads_ex2(v * 1.4426950408889634f);
}
DEVICE_FN float __logf(float v) {
    return __log2f(v) * 0.6931471805599453f;
}
DEVICE_FN float __powf(float a, float b) {
    return workloads_ex2(b * __log2f(a));
}

// ---- functions good to a few units in the last place
// -----------------------------------------------------------------

DEVICE_FN float exp2f(float v) {
    return workloads_ex2(v);
}
// e^v by 2^k e^r: the remainder r is exact to twice single precision, so the result is within 2 ulp.
DEVICE_FN float expf(float v) {
    float k = __builtin_rintf(v * 1.4426950408889634f);
    float r = fmaf(-k, 0.693145752f, v);
    r = fmaf(-k, 1.42860677e-6f, r);
    return workloads_ex2(k) * workloads_ex2(r * 1.4426950408889634f);
}
// ln v for normal v > 0: exponent apart, then the series of ln((1 + s) / (1 - s)) for a mantissa in [2/3,
// 4/3).
DEVICE_FN float logf(float v) {
    int e = (__float_as_int(v) - 0x3f2aaaab) & (int)0xff800000;
    float m = __int_as_float(__float_as_int(v) - e);
    float s = (m - 1.0f) / (m + 1.0f), s2 = s * s;
    float p = fmaf(s2, fmaf(s2, fmaf(s2, fmaf(s2, 0.2222222f, 0.2857143f), 0.4f), 0.6666667f), 2.0f);
    return fmaf((float)(e >> 23), 0.6931471805599453f, s * p);
}
DEVICE_FN float powf(float a, float b) {
    return workloads_ex2(b * __log2f(a));
}
// Reduced to [-pi, pi], where the machine's own sine and cosine are accurate to 2^-20 absolute.
DEVICE_FN float workloads_reduce(float v) {
    float k = __builtin_rintf(v * 0.15915494309f);
    return fmaf(-k, -1.7484556e-7f, fmaf(-k, 6.28318548f, v));
}
DEVICE_FN float sinf(float v) {
    return __sinf(workloads_reduce(v));
}
DEVICE_FN float cosf(float v) {
    return __cosf(workloads_reduce(v));
}

#else // nvcc

#define DEVICE_FN static __forceinline__ __device__
typedef unsigned char uchar;

#endif

// ---- textures: 64-bit texture objects in both address widths
// ---------------------------------------------------------

typedef unsigned long long texture_t;

#define WORKLOADS_TEXTURE_1D(name, vector, type, c)                                                          \
    DEVICE_FN vector name(texture_t tex, int i) {                                                            \
        vector v;                                                                                            \
        asm("tex.1d.v4." type ".s32 {%0, %1, %2, %3}, [%4, {%5}];"                                           \
            : "=" c(v.x), "=" c(v.y), "=" c(v.z), "=" c(v.w)                                                 \
            : "l"(tex), "r"(i));                                                                             \
        return v;                                                                                            \
    }
#define WORKLOADS_TEXTURE_2D(name, vector, type, c)                                                          \
    DEVICE_FN vector name(texture_t tex, float x, float y) {                                                 \
        vector v;                                                                                            \
        asm("tex.2d.v4." type ".f32 {%0, %1, %2, %3}, [%4, {%5, %6}];"                                       \
            : "=" c(v.x), "=" c(v.y), "=" c(v.z), "=" c(v.w)                                                 \
            : "l"(tex), "f"(x), "f"(y));                                                                     \
        return v;                                                                                            \
    }

// Texel i of a linear texture: all four channels.
WORKLOADS_TEXTURE_1D(texture_1d_float4, float4, "f32", "f")
WORKLOADS_TEXTURE_1D(texture_1d_int4, int4, "s32", "r")
WORKLOADS_TEXTURE_1D(texture_1d_uint4, uint4, "u32", "r")
// The sample at (x, y) of a 2D texture.
WORKLOADS_TEXTURE_2D(texture_2d_float4, float4, "f32", "f")
WORKLOADS_TEXTURE_2D(texture_2d_uint4, uint4, "u32", "r")
#undef WORKLOADS_TEXTURE_1D
#undef WORKLOADS_TEXTURE_2D

// The first channel alone.
DEVICE_FN float texture_1d(texture_t tex, int i) {
    return texture_1d_float4(tex, i).x;
}
DEVICE_FN int texture_1d_int(texture_t tex, int i) {
    return texture_1d_int4(tex, i).x;
}
DEVICE_FN float texture_2d(texture_t tex, float x, float y) {
    return texture_2d_float4(tex, x, y).x;
}
DEVICE_FN unsigned texture_2d_uint(texture_t tex, float x, float y) {
    return texture_2d_uint4(tex, x, y).x;
}

#endif
