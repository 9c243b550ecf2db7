// Heat spreading over a chip: each block advances a 16x16 tile by several time steps in shared memory.
//
// A step needs the neighbours of the step before, so after s steps the outer s rings of the tile hold nothing
// useful: tiles overlap by `steps` cells on each side, and the threads of the overlap compute what another
// block computes too.
//
// The constant 2.0 is a double, as in the suite, so that a step is summed up in double precision and rounded
// once.
#include "device.h"
#include "reprise_approx.h"

#define TILE 16

// The model of one cell, and the time step. Each thread divides by capacity and resistances.
struct chip {
    float capacity, rx, ry, rz, step;
};

KERNEL hotspot_steps(int steps, const float *power, const float *temp_in, float *temp_out, int columns,
                     int rows, chip c) {
    __shared__ float temp[TILE][TILE];
    __shared__ float heat[TILE][TILE];
    __shared__ float next[TILE][TILE];
    const float ambient = 80;
    float step_over_cap = c.step / c.capacity, inv_rx = 1 / c.rx, inv_ry = 1 / c.ry, inv_rz = 1 / c.rz;
    int tx = threadIdx.x, ty = threadIdx.y;
    int inner = TILE - 2 * steps;
    int top = inner * (int)blockIdx.y - steps, left = inner * (int)blockIdx.x - steps;
    int row = top + ty, column = left + tx;
    int at = row * columns + column;
    if (row >= 0 && row < rows && column >= 0 && column < columns) {
        float t = temp_in[at];
        approx_load(t);
        temp[ty][tx] = t;
        float p = power[at];
        approx_load(p);
        heat[ty][tx] = p;
    }
    __syncthreads();

    // The part of the tile that lies on the chip; beyond it, an edge cell is its own neighbour.
    int first_row = max(-top, 0), last_row = min(TILE - 1, rows - 1 - top);
    int first_column = max(-left, 0), last_column = min(TILE - 1, columns - 1 - left);
    int north = max(ty - 1, first_row), south = min(ty + 1, last_row);
    int west = max(tx - 1, first_column), east = min(tx + 1, last_column);

    bool computed = false;
    for (int s = 0; s < steps; s++) {
        computed = false;
        if (tx >= s + 1 && tx <= TILE - 2 - s && ty >= s + 1 && ty <= TILE - 2 - s && tx >= first_column &&
            tx <= last_column && ty >= first_row && ty <= last_row) {
            computed = true;
            start_approx();
            float t = temp[ty][tx];
            next[ty][tx] =
                t + step_over_cap *
                        (heat[ty][tx] + (temp[south][tx] + temp[north][tx] - 2.0 * t) * inv_ry +
                         (temp[ty][east] + temp[ty][west] - 2.0 * t) * inv_rx + (ambient - t) * inv_rz);
            end_approx();
        }
        __syncthreads();
        if (s == steps - 1)
            break;
        if (computed)
            temp[ty][tx] = next[ty][tx];
        __syncthreads();
    }
    if (computed)
        temp_out[at] = next[ty][tx];
}
