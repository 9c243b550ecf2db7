// Convolution of an image with a separable kernel of 17 taps through shared memory: rows, then columns.
//
// A thread makes 8 pixels, a block's width (or height) apart. A block stages its pixels and one block's width
// on either side; what lies beyond the image is zero.
#include "device.h"
#include "reprise_approx.h"

#define RADIUS 8

__constant__ float taps[2 * RADIUS + 1];

#define ROWS_X    16
#define ROWS_Y    4
#define COLUMNS_X 16
#define COLUMNS_Y 8
#define RESULTS   8
#define HALO      1
#define CHECKED   3 // of the pixels that a thread loads, this many are looked at

KERNEL __launch_bounds__(ROWS_X *ROWS_Y) separable_rows(float *out, const float *in, int width, int pitch) {
    __shared__ float data[ROWS_Y][(RESULTS + 2 * HALO) * ROWS_X];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = ((int)blockIdx.x * RESULTS - HALO) * ROWS_X + tx, y = (int)blockIdx.y * ROWS_Y + ty;
    in += y * pitch + x;
    out += y * pitch + x;
#pragma unroll
    for (int i = HALO; i < HALO + RESULTS; i++) {
        float v = in[i * ROWS_X];
        if ((i - HALO) % CHECKED == 1)
            approx_load(v);
        data[ty][tx + i * ROWS_X] = v;
    }
#pragma unroll
    for (int i = 0; i < HALO; i++)
        data[ty][tx + i * ROWS_X] = x >= -i * ROWS_X ? in[i * ROWS_X] : 0.0f;
#pragma unroll
    for (int i = HALO + RESULTS; i < HALO + RESULTS + HALO; i++)
        data[ty][tx + i * ROWS_X] = width - x > i * ROWS_X ? in[i * ROWS_X] : 0.0f;
    __syncthreads();
    start_approx();
#pragma unroll
    for (int i = HALO; i < HALO + RESULTS; i++) {
        float sum = 0.0f;
#pragma unroll
        for (int k = -RADIUS; k <= RADIUS; k++)
            sum += taps[RADIUS - k] * data[ty][tx + i * ROWS_X + k];
        out[i * ROWS_X] = sum;
    }
    end_approx();
}

// Columns lie along rows of shared memory, an odd number of words long, so that no two threads meet in a
// bank.
KERNEL __launch_bounds__(COLUMNS_X *COLUMNS_Y)
    separable_columns(float *out, const float *in, int height, int pitch) {
    __shared__ float data[COLUMNS_X][(RESULTS + 2 * HALO) * COLUMNS_Y + 1];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = (int)blockIdx.x * COLUMNS_X + tx, y = ((int)blockIdx.y * RESULTS - HALO) * COLUMNS_Y + ty;
    in += y * pitch + x;
    out += y * pitch + x;
#pragma unroll
    for (int i = HALO; i < HALO + RESULTS; i++) {
        float v = in[i * COLUMNS_Y * pitch];
        if ((i - HALO) % CHECKED == 1)
            approx_load(v);
        data[tx][ty + i * COLUMNS_Y] = v;
    }
#pragma unroll
    for (int i = 0; i < HALO; i++)
        data[tx][ty + i * COLUMNS_Y] = y >= -i * COLUMNS_Y ? in[i * COLUMNS_Y * pitch] : 0.0f;
#pragma unroll
    for (int i = HALO + RESULTS; i < HALO + RESULTS + HALO; i++)
        data[tx][ty + i * COLUMNS_Y] = height - y > i * COLUMNS_Y ? in[i * COLUMNS_Y * pitch] : 0.0f;
    __syncthreads();
    start_approx();
#pragma unroll
    for (int i = HALO; i < HALO + RESULTS; i++) {
        float sum = 0.0f;
#pragma unroll
        for (int k = -RADIUS; k <= RADIUS; k++)
            sum += taps[RADIUS - k] * data[tx][ty + i * COLUMNS_Y + k];
        out[i * COLUMNS_Y * pitch] = sum;
    }
    end_approx();
}
