// Speckle-reducing anisotropic diffusion, first version: one thread for each pixel of a flat image, 512 in a
// block.
//
// The image is stored by columns. Neighbours are found through four tables of row and column numbers, which
// repeat the edge. Each iteration needs the mean and variance of the whole image, so two arrays are reduced
// first. Constants are doubles where the suite's are, so that some of the arithmetic is done in double
// precision.
#include "device.h"

#define THREADS 512

DEVICE_FN int pixel_index() {
    return (int)(blockIdx.x * THREADS + threadIdx.x);
}

// Grey values 0..255 to their exponentials.
KERNEL srad1_extract(int n, float *image) {
    int i = pixel_index();
    if (i < n)
        image[i] = expf(image[i] / 255.0f);
}

// The two arrays to be summed: pixels and their squares.
KERNEL srad1_prepare(int n, const float *image, float *sums, float *squares) {
    int i = pixel_index();
    if (i < n) {
        sums[i] = image[i];
        squares[i] = image[i] * image[i];
    }
}

// Sums of 512 elements; element i stands at i * stride, and the sum is left at the block's first element. At
// each level of the tree the last thread of a growing group adds what its half-way neighbour has.
KERNEL srad1_reduce(int n, int stride, float *sums, float *squares) {
    __shared__ float sum[THREADS];
    __shared__ float square[THREADS];
    int tx = threadIdx.x, i = pixel_index();
    sum[tx] = 0.0f;
    square[tx] = 0.0f;
    if (i < n) {
        sum[tx] = sums[i * stride];
        square[tx] = squares[i * stride];
    }
    __syncthreads();
#pragma unroll 1
    for (int group = 2; group <= THREADS; group *= 2) {
        if ((tx + 1) % group == 0) {
            sum[tx] = sum[tx] + sum[tx - group / 2];
            square[tx] = square[tx] + square[tx - group / 2];
        }
        __syncthreads();
    }
    if (tx == THREADS - 1) {
        sums[blockIdx.x * stride * THREADS] = sum[tx];
        squares[blockIdx.x * stride * THREADS] = square[tx];
    }
}

// Differences to the four neighbours, and from them the diffusion coefficient, 0 at edges, 1 in flat regions.
KERNEL srad1_gradient(int rows, int n, const int *north, const int *south, const int *west, const int *east,
                      float *d_n, float *d_s, float *d_w, float *d_e, float q0, float *coefficient,
                      const float *image) {
    int i = pixel_index();
    if (i >= n)
        return;
    int row = i % rows, column = i / rows;
    float centre = image[i];
    float dn = image[north[row] + rows * column] - centre, ds = image[south[row] + rows * column] - centre;
    float dw = image[row + rows * west[column]] - centre, de = image[row + rows * east[column]] - centre;
    float g2 = (dn * dn + ds * ds + dw * dw + de * de) / (centre * centre);
    float l = (dn + ds + dw + de) / centre;
    float numerator = 0.5 * g2 - (1.0 / 16.0) * (l * l);
    float denominator = 1 + 0.25 * l;
    float q = numerator / (denominator * denominator);
    float excess = (q - q0) / (q0 * (1 + q0));
    float c = 1.0 / (1.0 + excess);
    if (c < 0.0f)
        c = 0.0f;
    else if (c > 1.0f)
        c = 1.0f;
    d_n[i] = dn;
    d_s[i] = ds;
    d_w[i] = dw;
    d_e[i] = de;
    coefficient[i] = c;
}

// The diffusion step.
KERNEL srad1_update(float lambda, int rows, int n, const int *south, const int *east, const float *d_n,
                    const float *d_s, const float *d_w, const float *d_e, const float *coefficient,
                    float *image) {
    int i = pixel_index();
    if (i >= n)
        return;
    int row = i % rows, column = i / rows;
    float here = coefficient[i];
    float c_south = coefficient[south[row] + rows * column], c_east = coefficient[row + rows * east[column]];
    float divergence = here * d_n[i] + c_south * d_s[i] + here * d_w[i] + c_east * d_e[i];
    image[i] = image[i] + 0.25 * lambda * divergence;
}

// Back to grey values.
KERNEL srad1_compress(int n, float *image) {
    int i = pixel_index();
    if (i < n)
        image[i] = logf(image[i]) * 255.0f;
}
