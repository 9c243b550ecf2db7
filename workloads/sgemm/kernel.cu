// C = alpha A B^T + beta C, matrices stored by columns: a block of 16x8 threads makes a 128x16 tile of C.
//
// Each thread keeps 16 results of one row of the tile in registers. Tiles of B go through shared memory, 8x16
// at a time; values of A are read straight into a register and used 16 times.
#include "device.h"

#define TILE_N 16
#define TILE_K 8
#define TILE_M (TILE_N * TILE_K)

KERNEL sgemm_nt(const float *a, int lda, const float *b, int ldb, float *c, int ldc, int k, float alpha,
                float beta) {
    __shared__ float4 b_tile[TILE_K][TILE_N / 4]; // read four at a time
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = (int)blockIdx.x * TILE_M + ty * TILE_N + tx;
    int first_column = (int)blockIdx.y * TILE_N;
    float sum[TILE_N];
#pragma unroll
    for (int n = 0; n < TILE_N; n++)
        sum[n] = 0.0f;
#pragma unroll 1
    for (int i = 0; i < k; i += TILE_K) {
        ((float *)b_tile[ty])[tx] = b[first_column + tx + (i + ty) * ldb];
        __syncthreads();
#pragma unroll
        for (int j = 0; j < TILE_K; j++) {
            float av = a[row + (i + j) * lda];
#pragma unroll
            for (int n = 0; n < TILE_N; n += 4) {
                float4 bv = b_tile[j][n / 4];
                sum[n] += av * bv.x;
                sum[n + 1] += av * bv.y;
                sum[n + 2] += av * bv.z;
                sum[n + 3] += av * bv.w;
            }
        }
        __syncthreads();
    }
    int at = row + first_column * ldc;
#pragma unroll
    for (int n = 0; n < TILE_N; n++, at += ldc)
        c[at] = c[at] * beta + alpha * sum[n];
}
