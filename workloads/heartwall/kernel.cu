// Following points of a heart's wall through the frames of an ultrasound film: a block of 256 threads for
// each point, one launch for each frame.
//
// Around a point's last place the block looks for the window that correlates best with the point's template:
// a full convolution with the rotated template, sums over windows by differences of cumulative sums, the
// template's own statistics, the normalised correlation, a mask of allowed moves, and the best entry. Each
// step is a loop over the elements of a matrix, 256 at a time, with a barrier behind it; some steps occupy
// only a few threads. All matrices are stored by columns in global memory.
#include "device.h"

#define THREADS  256
#define MAX_SIDE 192

// Sides of the square matrices, and where each lies in a point's share of the scratch memory.
struct heart_shape {
    int template_side, search_side, conv_side, padded_side, max_move, frame_rows;
    int template_at, search_at, rotated_at, conv_at, padded_at, selected_at, sums_at, squares_at, mask_at,
        allowed_at, stride;
};
__constant__ heart_shape heart;

// A window of the frame whose first element is (row, column).
DEVICE_FN void heart_extract(float *window, int side, const float *frame, int row, int column) {
    for (int i = threadIdx.x; i < side * side; i += THREADS) {
        int c = i / side, r = i - c * side;
        window[i] = frame[row + r + (column + c) * heart.frame_rows];
    }
}

// The full convolution of the search window with the rotated template.
DEVICE_FN void heart_convolve(float *conv, const float *rotated, const float *search) {
    int ts = heart.template_side, ss = heart.search_side, cs = heart.conv_side;
    for (int i = threadIdx.x; i < cs * cs; i += THREADS) {
        int column = i / cs, row = i - column * cs;
        int c1 = max(column - ts + 1, 0), c2 = min(column, ss - 1);
        int r1 = max(row - ts + 1, 0), r2 = min(row, ss - 1);
        float sum = 0.0f;
#pragma unroll 1
        for (int c = c1; c <= c2; c++)
#pragma unroll 1
            for (int r = r1; r <= r2; r++)
                sum += rotated[row - r + (column - c) * ts] * search[r + c * ss];
        conv[i] = sum;
    }
}

// Sums of the search window's values, or of their squares, under each position of the template: padded with
// zeros, summed up along columns, differences taken, then the same along rows.
DEVICE_FN void heart_window_sums(float *sums, float *padded, float *selected, const float *search,
                                 bool square) {
    int ts = heart.template_side, ss = heart.search_side, cs = heart.conv_side, ps = heart.padded_side;
    for (int i = threadIdx.x; i < ps * ps; i += THREADS) {
        int c = i / ps - ts, r = i % ps - ts;
        float v = 0.0f;
        if (r >= 0 && r < ss && c >= 0 && c < ss)
            v = search[r + c * ss];
        padded[i] = square ? v * v : v;
    }
    __syncthreads();
    for (int c = threadIdx.x; c < ps; c += THREADS) {
        float sum = 0.0f;
#pragma unroll 1
        for (int r = 0; r < ps; r++) {
            sum += padded[r + c * ps];
            padded[r + c * ps] = sum;
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < cs * ps; i += THREADS) {
        int c = i / cs, r = i - c * cs;
        selected[i] = padded[r + ts + c * ps] - padded[r + c * ps];
    }
    __syncthreads();
    for (int r = threadIdx.x; r < cs; r += THREADS) {
        float sum = 0.0f;
#pragma unroll 1
        for (int c = 0; c < ps; c++) {
            sum += selected[r + c * cs];
            selected[r + c * cs] = sum;
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < cs * cs; i += THREADS)
        sums[i] = selected[i + ts * cs] - selected[i];
    __syncthreads();
}

// Sum of the template's values and of their squares: a thread for each column, then two threads for the rest.
DEVICE_FN void heart_template_sums(const float *templ, float *total) {
    __shared__ float sum[MAX_SIDE];
    __shared__ float square[MAX_SIDE];
    int ts = heart.template_side, tx = threadIdx.x;
    if (tx < ts) {
        float s = 0.0f, q = 0.0f;
#pragma unroll 1
        for (int r = 0; r < ts; r++) {
            float v = templ[r + tx * ts];
            s += v;
            q += v * v;
        }
        sum[tx] = s;
        square[tx] = q;
    }
    __syncthreads();
    if (tx < 2) {
        const float *from = tx == 0 ? sum : square;
        float s = 0.0f;
#pragma unroll 1
        for (int c = 0; c < ts; c++)
            s += from[c];
        total[tx] = s;
    }
    __syncthreads();
}

// 1 at the place of no move, 0 elsewhere; then how many of its neighbours within reach are 1.
DEVICE_FN void heart_allow(float *allowed, float *mask) {
    int cs = heart.conv_side, reach = heart.max_move;
    for (int i = threadIdx.x; i < cs * cs; i += THREADS)
        mask[i] = i == cs / 2 + cs / 2 * cs ? 1.0f : 0.0f;
    __syncthreads();
    for (int i = threadIdx.x; i < cs * cs; i += THREADS) {
        int column = i / cs, row = i - column * cs;
        int c1 = max(column - reach, 0), c2 = min(column + reach, cs - 1);
        int r1 = max(row - reach, 0), r2 = min(row + reach, cs - 1);
        float sum = 0.0f;
#pragma unroll 1
        for (int c = c1; c <= c2; c++)
#pragma unroll 1
            for (int r = r1; r <= r2; r++)
                sum += mask[r + c * cs];
        allowed[i] = sum;
    }
}

// Correlation coefficients in place of the convolution.
DEVICE_FN void heart_normalise(float *conv, const float *sums, const float *squares, const float *allowed,
                               const float *total) {
    int cs = heart.conv_side;
    float n = (float)(heart.template_side * heart.template_side);
    float mean = total[0] / n, deviation = sqrtf(fmaxf(total[1] - total[0] * mean, 0.0f));
    for (int i = threadIdx.x; i < cs * cs; i += THREADS) {
        float variance = fmaxf(squares[i] - sums[i] * sums[i] / n, 1.0f);
        conv[i] = (conv[i] - sums[i] * mean) / (deviation * sqrtf(variance)) * allowed[i];
    }
}

// The largest element: a thread for each row, then one thread. Writes its index and value.
DEVICE_FN void heart_peak(const float *conv, int *at, float *value) {
    __shared__ float row_max[MAX_SIDE];
    __shared__ int row_at[MAX_SIDE];
    int cs = heart.conv_side, tx = threadIdx.x;
    if (tx < cs) {
        float best = -2.0f;
        int where = 0;
#pragma unroll 1
        for (int c = 0; c < cs; c++)
            if (conv[tx + c * cs] > best) {
                best = conv[tx + c * cs];
                where = tx + c * cs;
            }
        row_max[tx] = best;
        row_at[tx] = where;
    }
    __syncthreads();
    if (tx == 0) {
        int best = 0;
#pragma unroll 1
        for (int r = 1; r < cs; r++)
            if (row_max[r] > row_max[best])
                best = r;
        *at = row_at[best];
        *value = row_max[best];
    }
    __syncthreads();
}

// Frame 0 makes the templates; every later frame moves the points, every refresh-th one blends the new view
// into the templates.
KERNEL heart_track(int frame_number, int refresh, const float *frame, int *rows, int *columns, float *scratch,
                   float *scores) {
    __shared__ float total[2];
    int point = blockIdx.x, tx = threadIdx.x;
    float *mine = scratch + point * heart.stride, *templ = mine + heart.template_at;
    int ts = heart.template_side, ss = heart.search_side, cs = heart.conv_side;
    if (frame_number == 0) {
        heart_extract(templ, ts, frame, rows[point] - ts / 2, columns[point] - ts / 2);
        return;
    }
    float *search = mine + heart.search_at, *rotated = mine + heart.rotated_at, *conv = mine + heart.conv_at;
    heart_extract(search, ss, frame, rows[point] - ss / 2, columns[point] - ss / 2);
    for (int i = tx; i < ts * ts; i += THREADS)
        rotated[i] = templ[ts * ts - 1 - i];
    __syncthreads();
    heart_convolve(conv, rotated, search);
    __syncthreads();
    heart_window_sums(mine + heart.sums_at, mine + heart.padded_at, mine + heart.selected_at, search, false);
    heart_window_sums(mine + heart.squares_at, mine + heart.padded_at, mine + heart.selected_at, search,
                      true);
    heart_template_sums(templ, total);
    heart_allow(mine + heart.allowed_at, mine + heart.mask_at);
    __syncthreads();
    heart_normalise(conv, mine + heart.sums_at, mine + heart.squares_at, mine + heart.allowed_at, total);
    __syncthreads();
    __shared__ int peak;
    heart_peak(conv, &peak, &scores[point]);
    if (tx == 0) {
        columns[point] += peak / cs - cs / 2;
        rows[point] += peak % cs - cs / 2;
    }
    __syncthreads();
    if (frame_number % refresh == 0)
        for (int i = tx; i < ts * ts; i += THREADS) {
            int c = i / ts, r = i - c * ts;
            float now = frame[rows[point] - ts / 2 + r + (columns[point] - ts / 2 + c) * heart.frame_rows];
            templ[i] = 0.87f * templ[i] + 0.13f * now;
        }
}
