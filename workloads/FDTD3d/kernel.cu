// A time step of finite differences on a 3D volume: a symmetric stencil of radius 4 along each axis.
//
// A block of 32x16 threads marches through the planes. Each thread keeps the four cells behind and before its
// own in registers; the current plane, with a border of four cells, lies in shared memory. Coefficients are
// in constant memory. Volumes carry a border of four cells on every side, which is read and never written.
#include "device.h"

#define RADIUS 4
#define TILE_X 32
#define TILE_Y 16

__constant__ float fdtd_stencil[RADIUS + 1];

KERNEL fdtd_step(float *output, const float *input, int nx, int ny, int nz) {
    __shared__ float tile[TILE_Y + 2 * RADIUS][TILE_X + 2 * RADIUS];
    int lx = threadIdx.x, ly = threadIdx.y;
    int x = blockIdx.x * TILE_X + lx, y = blockIdx.y * TILE_Y + ly;
    int row = nx + 2 * RADIUS, plane = row * (ny + 2 * RADIUS);
    int at = (y + RADIUS) * row + x + RADIUS;
    int tx = lx + RADIUS, ty = ly + RADIUS;
    // threads beyond the volume still load border cells where these exist
    bool reads = x < nx + RADIUS && y < ny + RADIUS;
    bool writes = x < nx && y < ny;

    float before[RADIUS], behind[RADIUS], current = 0.0f;
#pragma unroll
    for (int i = RADIUS - 2; i >= 0; i--) {
        behind[i] = reads ? input[at] : 0.0f;
        at += plane;
    }
    behind[RADIUS - 1] = 0.0f;
    if (reads)
        current = input[at];
    int out_at = at;
    at += plane;
#pragma unroll
    for (int i = 0; i < RADIUS; i++) {
        before[i] = reads ? input[at] : 0.0f;
        at += plane;
    }

#pragma unroll 1
    for (int z = 0; z < nz; z++) {
#pragma unroll
        for (int i = RADIUS - 1; i > 0; i--)
            behind[i] = behind[i - 1];
        behind[0] = current;
        current = before[0];
#pragma unroll
        for (int i = 0; i < RADIUS - 1; i++)
            before[i] = before[i + 1];
        if (reads)
            before[RADIUS - 1] = input[at];
        at += plane;
        out_at += plane;
        __syncthreads();

        // the border above and below by the first rows of threads, left and right by the first columns
        if (ly < RADIUS) {
            tile[ly][tx] = x < nx + RADIUS ? input[out_at - RADIUS * row] : 0.0f;
            tile[ly + TILE_Y + RADIUS][tx] =
                x < nx + RADIUS && y + TILE_Y < ny + RADIUS ? input[out_at + TILE_Y * row] : 0.0f;
        }
        if (lx < RADIUS) {
            tile[ty][lx] = y < ny + RADIUS ? input[out_at - RADIUS] : 0.0f;
            tile[ty][lx + TILE_X + RADIUS] =
                y < ny + RADIUS && x + TILE_X < nx + RADIUS ? input[out_at + TILE_X] : 0.0f;
        }
        tile[ty][tx] = current;
        __syncthreads();

        float value = fdtd_stencil[0] * current;
#pragma unroll
        for (int i = 1; i <= RADIUS; i++)
            value += fdtd_stencil[i] * (before[i - 1] + behind[i - 1] + tile[ty - i][tx] + tile[ty + i][tx] +
                                        tile[ty][tx - i] + tile[ty][tx + i]);
        if (writes)
            output[out_at] = value;
    }
}
