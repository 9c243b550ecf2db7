// Reversible wavelet transform (5/3 lifting) of an image, as in JPEG 2000.
//
// dwt_split separates the colours of an image. dwt_forward_W is one level of the transform of one component:
// a block of W threads slides down a strip of W columns, 8 rows at a time, through shared memory. Rows are
// transformed first, even and odd columns kept apart; then each thread transforms a column. A window keeps
// the last odd row's result and the row after it from the window before.
#include "device.h"

#define SPLIT_BLOCK 256
#define WINDOW      8

// Interleaved bytes, three a pixel, to three arrays of numbers around zero.
KERNEL dwt_split(const unsigned char *rgb, int *red, int *green, int *blue, int pixels) {
    __shared__ unsigned char bytes[3 * SPLIT_BLOCK];
    int tx = threadIdx.x, first = (int)blockIdx.x * SPLIT_BLOCK;
    for (int i = tx; i < 3 * SPLIT_BLOCK; i += SPLIT_BLOCK)
        if (3 * first + i < 3 * pixels)
            bytes[i] = rgb[3 * first + i];
    __syncthreads();
    if (first + tx < pixels) {
        red[first + tx] = bytes[3 * tx] - 128;
        green[first + tx] = bytes[3 * tx + 1] - 128;
        blue[first + tx] = bytes[3 * tx + 2] - 128;
    }
}

// One row of a strip W columns wide: even columns, from two before the strip to the one after it, then odd
// ones.
template <int W> struct dwt_row {
    int v[W + 4];
    __device__ int &even(int e) {
        return v[e];
    }
    __device__ int &odd(int o) {
        return v[W / 2 + 2 + o];
    }
};

struct dwt_plane {
    const int *pixels;
    int pitch, columns, rows;
};

// Where a level's results go: the quarter that is low in both directions to `low`, the others to `out`.
struct dwt_result {
    int *low, *out;
    int low_pitch, out_pitch;
};

// Beyond an edge the image repeats backwards.
DEVICE_FN int dwt_mirror(int i, int n) {
    i = abs(i);
    if (i >= n)
        i = 2 * n - 2 - i;
    return max(i, 0);
}

// Loads a row: each thread one column, three threads the columns beside the strip.
template <int W> DEVICE_FN void dwt_load(dwt_row<W> &row, const dwt_plane &in, int first, int y) {
    const int *line = in.pixels + dwt_mirror(y, in.rows) * in.pitch;
    int tx = threadIdx.x;
    row.v[tx / 2 + 1 + tx % 2 * (W / 2 + 2)] = line[dwt_mirror(first + tx, in.columns)];
    if (tx < 3) {
        int beside = tx == 2 ? W : tx - 2;
        row.v[tx == 2 ? W / 2 + 1 : tx * (W / 2 + 2)] = line[dwt_mirror(first + beside, in.columns)];
    }
}

DEVICE_FN int dwt_high(int left, int here, int right) {
    return here - ((left + right) >> 1);
}

DEVICE_FN int dwt_low(int left, int here, int right) {
    return here + ((left + right + 2) >> 2);
}

// Transforms n rows in place: odd columns, then even ones, two rows at a time.
template <int W> DEVICE_FN void dwt_rows(dwt_row<W> *rows, int n) {
    int tx = threadIdx.x, half = tx / (W / 2), c = tx % (W / 2) + 1;
    for (int r = half; r < n; r += 2)
        rows[r].odd(c) = dwt_high(rows[r].even(c), rows[r].odd(c), rows[r].even(c + 1));
    if (tx < n)
        rows[tx].odd(0) = dwt_high(rows[tx].even(0), rows[tx].odd(0), rows[tx].even(1));
    __syncthreads();
    for (int r = half; r < n; r += 2)
        rows[r].even(c) = dwt_low(rows[r].odd(c - 1), rows[r].even(c), rows[r].odd(c));
    __syncthreads();
}

DEVICE_FN void dwt_store(int v, int y, int x, bool high_column, const dwt_plane &in, const dwt_result &to) {
    int low_columns = (in.columns + 1) / 2, low_rows = (in.rows + 1) / 2;
    if (y >= in.rows || 2 * x + high_column >= in.columns)
        return;
    if (y % 2 == 0 && !high_column)
        to.low[y / 2 * to.low_pitch + x] = v;
    else
        to.out[(y % 2 ? low_rows + y / 2 : y / 2) * to.out_pitch + x + (high_column ? low_columns : 0)] = v;
}

template <int W> DEVICE_FN void dwt_strip(const dwt_plane &in, const dwt_result &to, int windows) {
    __shared__ dwt_row<W> row[WINDOW + 2]; // the odd row above, then the window and the row below it
    int tx = threadIdx.x, first = (int)blockIdx.x * W, y = (int)blockIdx.y * WINDOW * windows;
    bool high_column = tx >= W / 2;
    int x = first / 2 + tx % (W / 2);
    int column = tx % (W / 2) + 1 + (high_column ? W / 2 + 2 : 0); // the thread's own in each row

    for (int r = 0; r < 3; r++)
        dwt_load(row[r], in, first, y - 2 + r);
    __syncthreads();
    dwt_rows(row, 3);
    int above = dwt_high(row[0].v[column], row[1].v[column], row[2].v[column]), even = row[2].v[column];
    row[0].v[column] = above;
    row[1].v[column] = even;
    __syncthreads();
#pragma unroll 1
    for (int w = 0; w < windows && y < in.rows; w++, y += WINDOW) {
        for (int r = 0; r < WINDOW; r++)
            dwt_load(row[r + 2], in, first, y + 1 + r);
        __syncthreads();
        dwt_rows(row + 2, WINDOW);
        above = row[0].v[column];
        even = row[1].v[column];
#pragma unroll
        for (int r = 0; r < WINDOW; r += 2) {
            int next_even = row[r + 3].v[column];
            int high = dwt_high(even, row[r + 2].v[column], next_even);
            dwt_store(dwt_low(above, even, high), y + r, x, high_column, in, to);
            dwt_store(high, y + r + 1, x, high_column, in, to);
            above = high;
            even = next_even;
        }
        row[0].v[column] = above;
        row[1].v[column] = even;
        __syncthreads();
    }
}

#define DWT_FORWARD(W)                                                                                       \
    KERNEL dwt_forward_##W(const int *pixels, int pitch, int columns, int rows, int *low, int low_pitch,     \
                           int *out, int out_pitch, int windows) {                                           \
        dwt_strip<W>({pixels, pitch, columns, rows}, {low, out, low_pitch, out_pitch}, windows);             \
    }
DWT_FORWARD(192)
DWT_FORWARD(128)
DWT_FORWARD(64)
