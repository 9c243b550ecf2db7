// The little of CUDA that the clang-built programs need, so that they compile without a CUDA toolkit:
// attributes, dim3, the special registers, warp intrinsics and atomics through clang's builtins, and the
// runtime calls they make. Under nvcc, which brings all of it, only the helpers at the end remain.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__clang__)

#define __global__             __attribute__((global))
#define __device__             __attribute__((device))
#define __host__               __attribute__((host))
#define __shared__             __attribute__((shared))
#define __constant__           __attribute__((constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __noinline__           __attribute__((noinline))

struct uint3 {
    unsigned x, y, z;
};
struct dim3 {
    unsigned x, y, z;
    __host__ __device__ constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};

typedef struct CUstream_st *cudaStream_t;
typedef enum { cudaSuccess = 0 } cudaError_t;
enum cudaMemcpyKind {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice
};

extern "C" {
cudaError_t cudaMalloc(void **ptr, size_t bytes);
cudaError_t cudaFree(void *ptr);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind);
cudaError_t cudaMemset(void *ptr, int value, size_t bytes);
cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset,
                               enum cudaMemcpyKind kind);
cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset,
                                 enum cudaMemcpyKind kind);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaGetLastError(void);
const char *cudaGetErrorName(cudaError_t err);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes = 0, cudaStream_t stream = 0);
cudaError_t cudaLaunchKernel(const void *func, dim3 grid, dim3 block, void **args, size_t shared_bytes,
                             cudaStream_t stream);
}

// Symbols are passed by name, as nvcc's headers allow.
template <class T>
static inline cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *from, size_t bytes, size_t offset,
                                             enum cudaMemcpyKind kind) {
    return cudaMemcpyToSymbol(reinterpret_cast<const void *>(&symbol), from, bytes, offset, kind);
}
template <class T>
static inline cudaError_t cudaMemcpyFromSymbol(void *to, const T &symbol, size_t bytes, size_t offset,
                                               enum cudaMemcpyKind kind) {
    return cudaMemcpyFromSymbol(to, reinterpret_cast<const void *>(&symbol), bytes, offset, kind);
}

#define BUILTIN_AXIS(name, reg)                                                                              \
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
    extern const __device__ name##_type name;
BUILTIN_AXIS(threadIdx, tid)
BUILTIN_AXIS(blockIdx, ctaid)
BUILTIN_AXIS(blockDim, ntid)
BUILTIN_AXIS(gridDim, nctaid)

static inline __device__ void __syncwarp(unsigned mask = ~0u) {
    __nvvm_bar_warp_sync(mask);
}
static inline __device__ void __threadfence() {
    __nvvm_membar_gl();
}
static inline __device__ int __shfl_sync(unsigned mask, int v, int lane) {
    return __nvvm_shfl_sync_idx_i32(mask, v, lane, 31);
}
static inline __device__ int __shfl_up_sync(unsigned mask, int v, unsigned delta) {
    return __nvvm_shfl_sync_up_i32(mask, v, delta, 0);
}
static inline __device__ int __shfl_down_sync(unsigned mask, int v, unsigned delta) {
    return __nvvm_shfl_sync_down_i32(mask, v, delta, 31);
}
static inline __device__ int __shfl_xor_sync(unsigned mask, int v, int lanes) {
    return __nvvm_shfl_sync_bfly_i32(mask, v, lanes, 31);
}
static inline __device__ float __shfl_down_sync(unsigned mask, float v, unsigned delta) {
    return __nvvm_shfl_sync_down_f32(mask, v, delta, 31);
}
static inline __device__ unsigned __ballot_sync(unsigned mask, int p) {
    return __nvvm_vote_ballot_sync(mask, p);
}
static inline __device__ int __popc(unsigned v) {
    return __builtin_popcount(v);
}
static inline __device__ float fmaf(float a, float b, float c) {
    return __builtin_fmaf(a, b, c);
}
static inline __device__ double fma(double a, double b, double c) {
    return __builtin_fma(a, b, c);
}
template <class T> static inline __device__ T atomicAdd(T *p, T v) {
    return __atomic_fetch_add(p, v, __ATOMIC_RELAXED);
}
static inline __device__ float atomicAdd(float *p, float v) {
    return __nvvm_atom_add_gen_f(p, v);
}
static inline __device__ int atomicMin(int *p, int v) {
    return __atomic_fetch_min(p, v, __ATOMIC_RELAXED);
}
static inline __device__ int atomicMax(int *p, int v) {
    return __atomic_fetch_max(p, v, __ATOMIC_RELAXED);
}
static inline __device__ unsigned atomicOr(unsigned *p, unsigned v) {
    return __atomic_fetch_or(p, v, __ATOMIC_RELAXED);
}
static inline __device__ unsigned atomicXor(unsigned *p, unsigned v) {
    return __atomic_fetch_xor(p, v, __ATOMIC_RELAXED);
}
template <class T> static inline __device__ T atomicExch(T *p, T v) {
    return __atomic_exchange_n(p, v, __ATOMIC_RELAXED);
}
template <class T> static inline __device__ T atomicCAS(T *p, T expected, T desired) {
    __atomic_compare_exchange_n(p, &expected, desired, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return expected;
}

#else
#include <cuda_runtime.h>
#endif

static int failures;

#define CHECK(call) check_call((call), #call, __LINE__)
static inline void check_call(cudaError_t err, const char *what, int line) {
    if (err == cudaSuccess)
        return;
    printf("line %d: %s: %s\n", line, what, cudaGetErrorName(err));
    exit(2);
}

static inline void sync_check(int line) {
    check_call(cudaGetLastError(), "launch", line);
    check_call(cudaDeviceSynchronize(), "kernel", line);
}
#define SYNC() sync_check(__LINE__)

// What device_array made is freed when the program ends.
static struct device_arrays {
    void *at[64];
    int n;
    ~device_arrays() {
        while (n > 0)
            cudaFree(at[--n]);
    }
} device_arrays_made;

template <class T> static T *device_array(const T *from, int n) {
    void *p = nullptr;
    CHECK(cudaMalloc(&p, n * sizeof(T)));
    if (from)
        CHECK(cudaMemcpy(p, from, n * sizeof(T), cudaMemcpyHostToDevice));
    else
        CHECK(cudaMemset(p, 0, n * sizeof(T)));
    device_arrays_made.at[device_arrays_made.n++] = p;
    return static_cast<T *>(p);
}

template <class T> static void fetch(T *to, const T *dev, int n) {
    CHECK(cudaMemcpy(to, dev, n * sizeof(T), cudaMemcpyDeviceToHost));
}

static inline void print_sum(const char *name, const void *data, size_t bytes) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ static_cast<const unsigned char *>(data)[i]) * 0x100000001b3u;
    printf("%s %016llx\n", name, static_cast<unsigned long long>(hash));
}

static inline void verdict(const char *name, bool ok) {
    printf("%s %s\n", name, ok ? "OK" : "MISMATCH");
    failures += !ok;
}

// The same pseudo-random numbers everywhere.
static inline uint32_t next_random(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static inline int size_arg(int argc, char **argv, int fallback) {
    return argc > 1 ? atoi(argv[1]) : fallback;
}
