// The cheapest way down a grid: row by row, each cell adds the least of the three above it.
//
// A block advances its columns by several rows per launch. After s rows the outer s columns of its range lack
// a neighbour, so blocks overlap by `steps` columns on each side; the threads there go idle one by one.
#include "device.h"

#define MAX_BLOCK 1024

DEVICE_FN void pathfinder_rows(int steps, const int *wall, const int *costs_in, int *costs_out, int columns,
                               int first_row, int border, int *prev, int *result) {
    int tx = threadIdx.x, size = blockDim.x;
    int inner = size - 2 * border;
    int left = inner * (int)blockIdx.x - border, column = left + tx;
    int first = max(-left, 0), last = min(size - 1, columns - 1 - left);
    int west = max(tx - 1, first), east = min(tx + 1, last);
    bool inside = tx >= first && tx <= last;
    if (inside)
        prev[tx] = costs_in[column];
    __syncthreads();
    bool computed = false;
    for (int s = 0; s < steps; s++) {
        computed = false;
        if (tx >= s + 1 && tx <= size - 2 - s && inside) {
            computed = true;
            int least = min(min(prev[west], prev[tx]), prev[east]);
            result[tx] = least + wall[columns * (first_row + s) + column];
        }
        __syncthreads();
        if (s == steps - 1)
            break;
        if (computed)
            prev[tx] = result[tx];
        __syncthreads();
    }
    if (computed)
        costs_out[column] = result[tx];
}

KERNEL pathfinder(int steps, const int *wall, const int *costs_in, int *costs_out, int columns, int first_row,
                  int border) {
    __shared__ int prev[256];
    __shared__ int result[256];
    pathfinder_rows(steps, wall, costs_in, costs_out, columns, first_row, border, prev, result);
}

KERNEL pathfinder_wide(int steps, const int *wall, const int *costs_in, int *costs_out, int columns,
                       int first_row, int border) {
    __shared__ int prev[MAX_BLOCK];
    __shared__ int result[MAX_BLOCK];
    pathfinder_rows(steps, wall, costs_in, costs_out, columns, first_row, border, prev, result);
}
