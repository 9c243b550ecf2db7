// C = A B: a block of 32x32 threads makes a 32x32 tile of C from pairs of tiles staged in shared memory.
#include "device.h"

#define TILE 32

KERNEL matrixMul(float *c, const float *a, const float *b, int a_width, int b_width) {
    int tx = threadIdx.x, ty = threadIdx.y;
    int a_at = a_width * TILE * (int)blockIdx.y + a_width * ty + tx;
    int b_at = TILE * (int)blockIdx.x + b_width * ty + tx;
    float sum = 0.0f;
    for (int tile = 0; tile < a_width; tile += TILE) {
        __shared__ float as[TILE][TILE];
        __shared__ float bs[TILE][TILE];
        as[ty][tx] = a[a_at + tile];
        bs[ty][tx] = b[b_at + tile * b_width];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE; k++)
            sum += as[ty][k] * bs[k][tx];
        __syncthreads();
    }
    c[b_width * TILE * (int)blockIdx.y + TILE * (int)blockIdx.x + b_width * ty + tx] = sum;
}
