// Laplace's equation on a 3D grid, Jacobi iteration: a block of 32x4 threads marches through all planes.
//
// Shared memory holds three consecutive planes of the block's 32x4 columns with a border of one cell. For
// each plane the block moves two planes down, loads the next (its border by the first threads, a second
// time), and after a barrier replaces each inner cell by the mean of its six neighbours.
#include "device.h"

#define TILE_X 32
#define TILE_Y 4
#define ROW    (TILE_X + 2)
#define PLANE  (ROW * (TILE_Y + 2))
#define BORDER (2 * (TILE_X + TILE_Y + 2))

DEVICE_FN bool lps_inside(int x, int y, int nx, int ny) {
    return x >= 0 && x < nx && y >= 0 && y < ny;
}

// Passes the middle and upper of three planes down and reads the cell of the next one.
DEVICE_FN void lps_advance(float *cell, const float *next) {
    cell[-PLANE] = cell[0];
    cell[0] = cell[PLANE];
    if (next)
        cell[PLANE] = *next;
}

KERNEL lps_iterate(int nx, int ny, int nz, int pitch, const float *u, float *u_next) {
    __shared__ float planes[3 * PLANE];
    int tx = threadIdx.x, ty = threadIdx.y, k = tx + ty * TILE_X;
    int left = blockIdx.x * TILE_X, top = blockIdx.y * TILE_Y;
    int step = pitch * ny;

    // The border cell this thread loads too: the rows above and below first, then the two sides in pairs.
    int border_x = tx, border_y = ty * (TILE_Y + 1) - 1;
    if (ty >= 2) {
        border_x = (k & 1) * (TILE_X + 1) - 1;
        border_y = k / 2 - TILE_X - 1;
    }
    bool border = k < BORDER && lps_inside(left + border_x, top + border_y, nx, ny);
    float *border_cell = planes + PLANE + (border_y + 1) * ROW + border_x + 1;
    int border_at = (top + border_y) * pitch + left + border_x;

    int x = left + tx, y = top + ty;
    bool active = lps_inside(x, y, nx, ny);
    float *cell = planes + PLANE + (ty + 1) * ROW + tx + 1;
    int at = y * pitch + x;
    if (active)
        cell[PLANE] = u[at];
    if (border)
        border_cell[PLANE] = u[border_at];

#pragma unroll 1
    for (int z = 0; z < nz; z++) {
        bool more = z < nz - 1;
        if (active)
            lps_advance(cell, more ? u + at + step : nullptr);
        if (border)
            lps_advance(border_cell, more ? u + border_at + step : nullptr);
        __syncthreads();
        if (active) {
            float mean = cell[0];
            if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1 && z > 0 && more)
                mean = (cell[-1] + cell[1] + cell[-ROW] + cell[ROW] + cell[-PLANE] + cell[PLANE]) *
                       (1.0f / 6.0f);
            u_next[at] = mean;
        }
        at += step;
        border_at += step;
        __syncthreads();
    }
}
