// The other translation unit of rdc.cu.
#include "test.h"

__device__ int shared_counter = 1000;
__constant__ float shared_weights[4];

__device__ __noinline__ int far_away(int x) {
    return x < 2 ? 1 : x * 3 + far_away(x / 2);
}

__device__ float half_of(float x) {
    return x * 0.5f;
}
__device__ float negated(float x) {
    return -x;
}
__device__ float rooted(float x) {
    return sqrtf(x);
}
typedef float (*unary)(float);
__device__ unary far_table[3] = {half_of, negated, rooted};

__global__ void other(int *p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] += shared_counter + int(shared_weights[3]);
}

void set_weights(const float *w) {
    CHECK(cudaMemcpyToSymbol(shared_weights, w, sizeof shared_weights));
}

void launch_other(int *p, int n) {
    other<<<div_up(n, 32), 32>>>(p, n);
}
