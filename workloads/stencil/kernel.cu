// Seven-point stencil on a 3D grid: a block of 32x4 threads sweeps a column of 64x4 cells along z.
//
// Each thread computes two cells, 32 apart in x. The plane being computed is in shared memory, the cells
// above and below in registers; neighbours beyond the tile come from global memory.
#include "device.h"

#define WIDTH  32
#define HEIGHT 4

// One of the two columns of cells of a thread.
struct stencil_column {
    const float *in; // the cell at z = 0
    float *shared;   // its place in the plane
    float below;
    bool inside, left_edge, right_edge;
};

DEVICE_FN float stencil_cell(const stencil_column &c, const float *cell, int nx, bool top_edge,
                             bool bottom_edge, float above, float c0, float c1) {
    float left = c.left_edge ? __ldg(cell - 1) : c.shared[-1];
    float right = c.right_edge ? __ldg(cell + 1) : c.shared[1];
    float up = top_edge ? __ldg(cell - nx) : c.shared[-2 * WIDTH];
    float down = bottom_edge ? __ldg(cell + nx) : c.shared[2 * WIDTH];
    return (above + c.below + up + down + left + right) * c1 - c.shared[0] * c0;
}

KERNEL stencil_sweep(float c0, float c1, const float *in, float *out, int nx, int ny, int nz) {
    __shared__ float plane[HEIGHT * 2 * WIDTH];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = (int)blockIdx.x * 2 * WIDTH + tx, y = (int)blockIdx.y * HEIGHT + ty;
    int at = y * nx + x, layer = nx * ny;
    bool row_inside = y > 0 && y < ny - 1;
    bool top_edge = ty == 0, bottom_edge = ty == HEIGHT - 1;
    float *mine = plane + ty * 2 * WIDTH + tx;
    stencil_column a = {in + at, mine, in[at], row_inside && x > 0 && x < nx - 1, tx == 0, false};
    stencil_column b = {in + at + WIDTH, mine + WIDTH,   in[at + WIDTH], row_inside && x + WIDTH < nx - 1,
                        false,           tx == WIDTH - 1};
    *a.shared = a.in[layer];
    *b.shared = b.in[layer];
    __syncthreads();
#pragma unroll 1
    for (int z = 1; z < nz - 1; z++) {
        int here = z * layer;
        float above_a = a.in[here + layer], above_b = b.in[here + layer];
        if (a.inside)
            out[at + here] = stencil_cell(a, a.in + here, nx, top_edge, bottom_edge, above_a, c0, c1);
        if (b.inside)
            out[at + here + WIDTH] = stencil_cell(b, b.in + here, nx, top_edge, bottom_edge, above_b, c0, c1);
        __syncthreads();
        a.below = *a.shared;
        *a.shared = above_a;
        b.below = *b.shared;
        *b.shared = above_b;
        __syncthreads();
    }
}
