// Speckle-reducing anisotropic diffusion, second version: 16x16 tiles with their four borders in shared
// memory.
//
// Every thread of a block loads the border cell of its column above and below the tile and of its row left
// and right of it, so each border is loaded sixteen times; at the image's edge the tile's own edge takes its
// place. The cases of a pixel, from the corners of its tile to the inside, are tested one after another.
// Constants are doubles where the suite's are, so that some of the arithmetic is done in double precision.
#include "device.h"

#define TILE 16

// Where a tile lies: this thread's pixel, and the border pixels of its column and row.
struct place {
    int here, north, south, west, east;
};

DEVICE_FN place find_place(int columns) {
    int tx = threadIdx.x, ty = threadIdx.y, bx = blockIdx.x, by = blockIdx.y;
    int corner = columns * TILE * by + TILE * bx;
    place p;
    p.here = corner + columns * ty + tx;
    p.north = by == 0 ? corner + tx : corner + tx - columns;
    p.south = corner + tx + columns * (by == (int)gridDim.y - 1 ? TILE - 1 : TILE);
    p.west = corner + columns * ty - (bx == 0 ? 0 : 1);
    p.east = corner + columns * ty + (bx == (int)gridDim.x - 1 ? TILE - 1 : TILE);
    return p;
}

typedef float tile_t[TILE][TILE];

struct neighbours {
    float north, south, west, east;
};

DEVICE_FN neighbours find_neighbours(const tile_t centre, const tile_t above, const tile_t below,
                                     const tile_t left, const tile_t right) {
    const int last = TILE - 1;
    int tx = threadIdx.x, ty = threadIdx.y;
    if (ty == 0 && tx == 0)
        return {above[ty][tx], centre[ty + 1][tx], left[ty][tx], centre[ty][tx + 1]};
    if (ty == 0 && tx == last)
        return {above[ty][tx], centre[ty + 1][tx], centre[ty][tx - 1], right[ty][tx]};
    if (ty == last && tx == last)
        return {centre[ty - 1][tx], below[ty][tx], centre[ty][tx - 1], right[ty][tx]};
    if (ty == last && tx == 0)
        return {centre[ty - 1][tx], below[ty][tx], left[ty][tx], centre[ty][tx + 1]};
    if (ty == 0)
        return {above[ty][tx], centre[ty + 1][tx], centre[ty][tx - 1], centre[ty][tx + 1]};
    if (tx == last)
        return {centre[ty - 1][tx], centre[ty + 1][tx], centre[ty][tx - 1], right[ty][tx]};
    if (ty == last)
        return {centre[ty - 1][tx], below[ty][tx], centre[ty][tx - 1], centre[ty][tx + 1]};
    if (tx == 0)
        return {centre[ty - 1][tx], centre[ty + 1][tx], left[ty][tx], centre[ty][tx + 1]};
    return {centre[ty - 1][tx], centre[ty + 1][tx], centre[ty][tx - 1], centre[ty][tx + 1]};
}

KERNEL srad2_gradient(float *d_n, float *d_s, float *d_w, float *d_e, const float *image, float *coefficient,
                      int columns, float q0) {
    __shared__ tile_t centre, above, below, left, right, result;
    int tx = threadIdx.x, ty = threadIdx.y;
    place p = find_place(columns);
    above[ty][tx] = image[p.north];
    below[ty][tx] = image[p.south];
    left[ty][tx] = image[p.west];
    right[ty][tx] = image[p.east];
    centre[ty][tx] = image[p.here];
    __syncthreads();

    float c = centre[ty][tx];
    neighbours around = find_neighbours(centre, above, below, left, right);
    float n = around.north - c, s = around.south - c, w = around.west - c, e = around.east - c;
    float g2 = (n * n + s * s + w * w + e * e) / (c * c);
    float l = (n + s + w + e) / c;
    float numerator = 0.5 * g2 - (1.0 / 16.0) * (l * l);
    float denominator = 1 + 0.25 * l;
    float q = numerator / (denominator * denominator);
    float excess = (q - q0) / (q0 * (1 + q0));
    float k = 1.0 / (1.0 + excess);
    result[ty][tx] = k < 0.0f ? 0.0f : k > 1.0f ? 1.0f : k;
    __syncthreads();
    coefficient[p.here] = result[ty][tx];
    d_n[p.here] = n;
    d_s[p.here] = s;
    d_w[p.here] = w;
    d_e[p.here] = e;
}

KERNEL srad2_update(const float *d_n, const float *d_s, const float *d_w, const float *d_e, float *image,
                    const float *coefficient, int columns, float lambda) {
    __shared__ tile_t k, below, right, old, result;
    int tx = threadIdx.x, ty = threadIdx.y;
    place p = find_place(columns);
    old[ty][tx] = image[p.here];
    __syncthreads();
    below[ty][tx] = coefficient[p.south];
    right[ty][tx] = coefficient[p.east];
    k[ty][tx] = coefficient[p.here];
    __syncthreads();
    float here = k[ty][tx], south, east;
    if (ty == TILE - 1 && tx == TILE - 1) {
        south = below[ty][tx];
        east = right[ty][tx];
    } else if (tx == TILE - 1) {
        south = k[ty + 1][tx];
        east = right[ty][tx];
    } else if (ty == TILE - 1) {
        south = below[ty][tx];
        east = k[ty][tx + 1];
    } else {
        south = k[ty + 1][tx];
        east = k[ty][tx + 1];
    }
    float divergence = here * d_n[p.here] + south * d_s[p.here] + here * d_w[p.here] + east * d_e[p.here];
    result[ty][tx] = old[ty][tx] + 0.25 * lambda * divergence;
    __syncthreads();
    image[p.here] = result[ty][tx];
}
