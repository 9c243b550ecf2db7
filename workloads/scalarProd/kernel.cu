// Scalar products of many pairs of vectors: a block of 256 threads makes one product after another.
//
// A pair is first reduced to 1024 partial sums in shared memory, each over every 1024th element, then to one
// by a tree with a barrier at each level.
#include "device.h"

#define SUMS 1024

KERNEL scalar_products(float *products, const float *a, const float *b, int vectors, int elements) {
    __shared__ float sums[SUMS];
    for (int vector = blockIdx.x; vector < vectors; vector += gridDim.x) {
        int first = elements * vector, end = first + elements;
        for (int s = threadIdx.x; s < SUMS; s += blockDim.x) {
            float sum = 0.0f;
            for (int i = first + s; i < end; i += SUMS)
                sum += a[i] * b[i];
            sums[s] = sum;
        }
        for (int stride = SUMS / 2; stride > 0; stride >>= 1) {
            __syncthreads();
            for (int s = threadIdx.x; s < stride; s += blockDim.x)
                sums[s] += sums[stride + s];
        }
        __syncthreads();
        if (threadIdx.x == 0)
            products[vector] = sums[0];
    }
}
