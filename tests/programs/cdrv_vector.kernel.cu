// Kernels of cdrv_vector.c, compiled by clang.
#include "clang_cuda.h"

extern "C" {
__device__ int offset = 3;
__constant__ int table[16];

__global__ void gather(const int *in, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[(i * 5) % n] * table[i & 15] + offset;
}

__global__ void sum_rows(const double *m, double *out, int width) {
    __shared__ double s[64];
    double v = 0;
    for (int x = threadIdx.x; x < width; x += 64)
        v += m[blockIdx.x * width + x];
    s[threadIdx.x] = v;
    for (int d = 32; d > 0; d /= 2) {
        __syncthreads();
        if (int(threadIdx.x) < d)
            s[threadIdx.x] += s[threadIdx.x + d];
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = s[0];
}
}
