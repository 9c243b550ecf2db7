// Sum of an array: each block reduces a part of it to one number by a tree in shared memory.
//
// `reduction_grid` is the tuned form: few blocks, each thread first adds pairs of elements a grid apart, the
// last warp goes on without barriers. `reduction_modulo` and `reduction_sequential` take one or two elements
// a thread and differ in which threads stay at work: every 2s-th one (warps diverge) or the first ones.
#include "device.h"

#define THREADS 256

KERNEL reduction_modulo(const int *in, int *out, int n) {
    __shared__ int sums[THREADS];
    int tid = threadIdx.x, i = blockIdx.x * THREADS + tid;
    sums[tid] = i < n ? in[i] : 0;
    __syncthreads();
    for (int s = 1; s < THREADS; s *= 2) {
        if (tid % (2 * s) == 0)
            sums[tid] += sums[tid + s];
        __syncthreads();
    }
    if (tid == 0)
        out[blockIdx.x] = sums[0];
}

KERNEL reduction_sequential(const int *in, int *out, int n) {
    __shared__ int sums[THREADS];
    int tid = threadIdx.x, i = blockIdx.x * 2 * THREADS + tid;
    int sum = i < n ? in[i] : 0;
    if (i + THREADS < n)
        sum += in[i + THREADS];
    sums[tid] = sum;
    __syncthreads();
    for (int s = THREADS / 2; s > 0; s >>= 1) {
        if (tid < s)
            sums[tid] += sums[tid + s];
        __syncthreads();
    }
    if (tid == 0)
        out[blockIdx.x] = sums[0];
}

KERNEL reduction_grid(const int *in, int *out, int n) {
    __shared__ int sums[THREADS];
    int tid = threadIdx.x, step = 2 * THREADS * gridDim.x, sum = 0;
    for (int i = blockIdx.x * 2 * THREADS + tid; i < n; i += step) {
        sum += in[i];
        if (i + THREADS < n)
            sum += in[i + THREADS];
    }
    sums[tid] = sum;
    __syncthreads();
#pragma unroll
    for (int s = THREADS / 2; s > 32; s >>= 1) {
        if (tid < s)
            sums[tid] = sum = sum + sums[tid + s];
        __syncthreads();
    }
    if (tid < 32) {
        sum += sums[tid + 32];
#pragma unroll
        for (int s = 16; s > 0; s >>= 1)
            sum += __shfl_down_sync(~0u, sum, s);
    }
    if (tid == 0)
        out[blockIdx.x] = sum;
}
