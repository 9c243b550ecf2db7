// Integer intrinsics and inline PTX: bit fields, permutes, funnel shifts, dot products of bytes, SIMD in a
// word, carry chains (a 128-bit multiply), saturating and fixed-point conversions.
#include "test.h"

__global__ void words(const unsigned *a, const unsigned *b, unsigned *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned x = a[i], y = b[i], r = 0;
    auto fold = [&](unsigned v) { r = (r ^ v) * 0x01000193u + (r >> 27); };
    fold(__byte_perm(x, y, y & 0x7777));
    fold(__funnelshift_l(x, y, x & 63));
    fold(__funnelshift_r(x, y, x & 63));
    fold(__funnelshift_lc(x, y, x & 63));
    fold(__funnelshift_rc(x, y, x & 63));
    fold(__brev(x) ^ __popc(y) ^ __clz(x) ^ __ffs(y));
    fold(__umulhi(x, y) + unsigned(__mulhi(int(x), int(y))));
    fold(__umul24(x, y) + unsigned(__mul24(int(x), int(y))));
    fold(__sad(int(x), int(y), 5u) + __usad(x, y, 7u));
    fold(__hadd(int(x), int(y)) ^ __rhadd(int(x), int(y)) ^ __uhadd(x, y) ^ __urhadd(x, y));
    fold(unsigned(__dp4a(int(x), int(y), 17)) ^ __dp4a(x, y, 19u));
    fold(unsigned(__dp2a_lo(int(x), int(y), 3)) ^ __dp2a_hi(x, y, 4u));
    fold(__vadd4(x, y) ^ __vsub2(x, y) ^ __vmaxs4(x, y) ^ __vminu2(x, y));
    fold(__vcmpgtu4(x, y) ^ __vabsdiffu4(x, y) ^ __vsadu4(x, y) ^ __vavgu4(x, y));
    fold(__vaddss4(x, y) ^ __vsubus2(x, y) ^ __vseteq4(x, y) ^ __vnegss2(x));
    unsigned v;
    asm("bfe.u32 %0, %1, %2, %3;" : "=r"(v) : "r"(x), "r"(y & 31), "r"(y >> 8 & 31));
    fold(v);
    asm("bfe.s32 %0, %1, %2, %3;" : "=r"(v) : "r"(x), "r"(y & 31), "r"(y >> 8 & 31));
    fold(v);
    asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(v) : "r"(x), "r"(y), "r"(y & 31), "r"(x & 31));
    fold(v);
    asm("bfind.u32 %0, %1;" : "=r"(v) : "r"(x));
    fold(v);
    asm("bfind.shiftamt.s32 %0, %1;" : "=r"(v) : "r"(y));
    fold(v);
    asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(v) : "r"(x), "r"(y), "r"(r));
    fold(v);
    asm("slct.u32.s32 %0, %1, %2, %3;" : "=r"(v) : "r"(x), "r"(y), "r"(x ^ y));
    fold(v);
    asm("mad.hi.u32 %0, %1, %2, %3;" : "=r"(v) : "r"(x), "r"(y), "r"(r));
    fold(v);
    asm("{ .reg .pred p; setp.lt.and.u32 p, %1, %2, 1; selp.u32 %0, %1, %2, p; }" : "=r"(v) : "r"(x), "r"(y));
    fold(v);
    asm("prmt.b32.f4e %0, %1, %2, %3;" : "=r"(v) : "r"(x), "r"(y), "r"(r & 3));
    fold(v);
    asm("cnot.b32 %0, %1;" : "=r"(v) : "r"(x & 1));
    fold(v);
    out[i] = r;
}

// 128 x 128 -> 128 bits of low product by carry chains.
__global__ void wide(const uint4 *a, const uint4 *b, uint4 *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    uint4 x = a[i], y = b[i], r;
    asm("mul.lo.u32 %0, %4, %8;\n\t"
        "mul.hi.u32 %1, %4, %8;\n\t"
        "mul.lo.u32 %2, %4, %10;\n\t"
        "mul.hi.u32 %3, %4, %10;\n\t"
        "mad.lo.cc.u32 %1, %4, %9, %1;\n\t"
        "madc.hi.cc.u32 %2, %4, %9, %2;\n\t"
        "madc.lo.u32 %3, %4, %11, %3;\n\t"
        "mad.lo.cc.u32 %1, %5, %8, %1;\n\t"
        "madc.hi.cc.u32 %2, %5, %8, %2;\n\t"
        "madc.lo.u32 %3, %5, %10, %3;\n\t"
        "mad.lo.cc.u32 %2, %5, %9, %2;\n\t"
        "madc.hi.u32 %3, %5, %9, %3;\n\t"
        "mad.lo.cc.u32 %2, %6, %8, %2;\n\t"
        "madc.hi.u32 %3, %6, %8, %3;\n\t"
        "mad.lo.u32 %3, %6, %9, %3;\n\t"
        "mad.lo.u32 %3, %7, %8, %3;"
        : "=&r"(r.x), "=&r"(r.y), "=&r"(r.z), "=&r"(r.w)
        : "r"(x.x), "r"(x.y), "r"(x.z), "r"(x.w), "r"(y.x), "r"(y.y), "r"(y.z), "r"(y.w));
    out[i] = r;
}

__global__ void conversions(const float *in, unsigned *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float f = in[i];
    double d = f * 1.37;
    unsigned r = 0;
    auto fold = [&](unsigned v) { r = r * 31 + v; };
    fold(__float2int_rn(f));
    fold(__float2int_ru(f));
    fold(__float2uint_rz(f));
    fold(__float2uint_rd(f));
    fold(__double2int_rd(d));
    fold(__double2uint_rn(d));
    fold(__float_as_uint(__int2float_rz(int(r))));
    fold(__float_as_uint(__uint2float_ru(r)));
    fold(__float_as_uint(__double2float_rd(d)));
    fold(__double2hiint(d) ^ __double2loint(d));
    fold(__float_as_uint(__saturatef(f)));
    fold(__float_as_uint(truncf(f)) ^ __float_as_uint(rintf(f)) ^ __float_as_uint(ceilf(f)) ^
         __float_as_uint(floorf(f)));
    fold(__float_as_uint(fminf(f, 1.5f)) ^ __float_as_uint(fmaxf(f, -2.5f)) ^
         __float_as_uint(copysignf(f, -1.0f)));
    fold(__float_as_uint(__fadd_ru(f, 0.1f)) ^ __float_as_uint(__fmul_rz(f, 0.3f)) ^
         __float_as_uint(__fmaf_rd(f, f, 0.7f)));
    fold(__float_as_uint(__fdiv_ru(f, 3.0f)) ^ __float_as_uint(__fsqrt_rd(fabsf(f))) ^
         __float_as_uint(__frcp_rz(f + 1e-3f)));
    unsigned s;
    asm("cvt.sat.u8.s32 %0, %1;" : "=r"(s) : "r"(__float2int_rz(f)));
    fold(s);
    asm("cvt.rni.sat.s8.f32 %0, %1;" : "=r"(s) : "f"(f));
    fold(s);
    fold(unsigned((signed char)(int)s) + (unsigned short)r + unsigned((short)(r >> 3)));
    fold((isnan(f) ? 1 : 0) + (isinf(f) ? 2 : 0) + (signbit(f) ? 4 : 0) + unsigned(ilogbf(f == 0 ? 1 : f)));
    out[i] = r;
}

int main(int argc, char **argv) {
    int n = size_arg(argc, argv, 4000);
    random_source rng(37);
    std::vector<unsigned> a(4 * n), b(4 * n);
    std::vector<float> f(n);
    for (int i = 0; i < 4 * n; i++) {
        a[i] = rng.next() >> (rng.below(4) ? 0 : rng.below(32));
        b[i] = rng.next() << (rng.below(4) ? 0 : rng.below(32));
    }
    for (float &v : f)
        v = (rng.unit() - 0.5f) * ldexpf(1.0f, int(rng.below(40)) - 4);
    f[0] = 0;
    f[1] = -0.0f;
    dev_array<unsigned> da(a), db(b), out(n), product(4 * n);
    dev_array<float> df(f);
    words<<<div_up(n, 128), 128>>>(da, db, out, n);
    SYNC();
    print_sum("words", out.get());
    wide<<<div_up(n, 128), 128>>>((uint4 *)da.ptr, (uint4 *)db.ptr, (uint4 *)product.ptr, n);
    SYNC();
    std::vector<unsigned> p = product.get();
    bool ok = true;
    for (int i = 0; i < n; i++) {
        unsigned __int128 x, y, z;
        memcpy(&x, &a[4 * i], 16);
        memcpy(&y, &b[4 * i], 16);
        z = x * y;
        ok = ok && memcmp(&z, &p[4 * i], 16) == 0;
    }
    verdict("128-bit product", ok);
    conversions<<<div_up(n, 128), 128>>>(df, out, n);
    SYNC();
    print_sum("conversions", out.get());
    return finish();
}
