// Convolution of an image with a separable kernel of 17 taps, read through a texture: rows, then columns.
//
// One thread for each pixel, blocks of 16x16; taps in constant memory, the loop over them unrolled.
#include "device.h"
#include "reprise_approx.h"

#define RADIUS 8

__constant__ float taps[2 * RADIUS + 1];

KERNEL convolution_rows(float *out, int width, int height, texture_t image) {
    int ix = (int)(blockIdx.x * blockDim.x + threadIdx.x), iy = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    if (ix >= width || iy >= height)
        return;
    float x = (float)ix + 0.5f, y = (float)iy + 0.5f, sum = 0.0f;
#pragma unroll
    for (int k = -RADIUS; k <= RADIUS; k++) {
        float v = texture_2d(image, x + (float)k, y);
        if (k == -RADIUS) {
            approx_load(v);
            start_approx();
        }
        sum += v * taps[RADIUS - k];
    }
    out[iy * width + ix] = sum;
    end_approx();
}

KERNEL convolution_columns(float *out, int width, int height, texture_t image) {
    int ix = (int)(blockIdx.x * blockDim.x + threadIdx.x), iy = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    if (ix >= width || iy >= height)
        return;
    float x = (float)ix + 0.5f, y = (float)iy + 0.5f, sum = 0.0f;
#pragma unroll
    for (int k = -RADIUS; k <= RADIUS; k++) {
        float v = texture_2d(image, x, y + (float)k);
        if (k == -RADIUS) {
            approx_load(v);
            start_approx();
        }
        sum += v * taps[RADIUS - k];
    }
    out[iy * width + ix] = sum;
    end_approx();
}
