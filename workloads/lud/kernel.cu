// LU factors of a dense matrix in place, by 16x16 tiles: for each step along the diagonal, factor the
// diagonal tile (16 threads), then the tiles right of and below it (32 threads: half a warp for each), then
// update the rest (16x16).
#include "device.h"

#define TILE 16

// Row by row of the tile: first column i of L, one element in each thread, then row i + 1 of U.
KERNEL lud_diagonal(float *m, int n, int offset) {
    __shared__ float tile[TILE][TILE];
    int tx = threadIdx.x;
    float *corner = m + offset * n + offset;
    for (int i = 0; i < TILE; i++)
        tile[i][tx] = corner[i * n + tx];
    __syncthreads();
    for (int i = 0; i < TILE - 1; i++) {
        if (tx > i) {
            for (int j = 0; j < i; j++)
                tile[tx][i] -= tile[tx][j] * tile[j][i];
            tile[tx][i] /= tile[i][i];
        }
        __syncthreads();
        if (tx > i)
            for (int j = 0; j < i + 1; j++)
                tile[i + 1][tx] -= tile[i + 1][j] * tile[j][tx];
        __syncthreads();
    }
    for (int i = 1; i < TILE; i++)
        corner[i * n + tx] = tile[i][tx];
}

// Threads 0-15 solve a tile of U's row, one column each; threads 16-31 a tile of L's column, one row each.
KERNEL lud_perimeter(float *m, int n, int offset) {
    __shared__ float diagonal[TILE][TILE];
    __shared__ float row[TILE][TILE];
    __shared__ float column[TILE][TILE];
    int half = threadIdx.x / TILE, t = threadIdx.x % TILE;
    int away = ((int)blockIdx.x + 1) * TILE;
    float *corner = m + offset * n + offset;
    float *right = corner + away, *below = corner + away * n;
    if (half == 0) {
        for (int i = 0; i < TILE / 2; i++)
            diagonal[i][t] = corner[i * n + t];
        for (int i = 0; i < TILE; i++)
            row[i][t] = right[i * n + t];
    } else {
        for (int i = TILE / 2; i < TILE; i++)
            diagonal[i][t] = corner[i * n + t];
        for (int i = 0; i < TILE; i++)
            column[i][t] = below[i * n + t];
    }
    __syncthreads();
    if (half == 0) {
        for (int i = 1; i < TILE; i++)
            for (int j = 0; j < i; j++)
                row[i][t] -= diagonal[i][j] * row[j][t];
    } else {
        for (int i = 0; i < TILE; i++) {
            for (int j = 0; j < i; j++)
                column[t][i] -= column[t][j] * diagonal[j][i];
            column[t][i] /= diagonal[i][i];
        }
    }
    __syncthreads();
    if (half == 0) {
        for (int i = 1; i < TILE; i++)
            right[i * n + t] = row[i][t];
    } else {
        for (int i = 0; i < TILE; i++)
            below[i * n + t] = column[i][t];
    }
}

// Every other tile loses the product of its row's tile of L and its column's tile of U.
KERNEL lud_internal(float *m, int n, int offset) {
    __shared__ float row[TILE][TILE];
    __shared__ float column[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int y = offset + ((int)blockIdx.y + 1) * TILE + ty, x = offset + ((int)blockIdx.x + 1) * TILE + tx;
    row[ty][tx] = m[(offset + ty) * n + x];
    column[ty][tx] = m[y * n + offset + tx];
    __syncthreads();
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < TILE; i++)
        sum += column[ty][i] * row[i][tx];
    m[y * n + x] -= sum;
}
