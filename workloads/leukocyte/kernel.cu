// Finding and following white blood cells in video microscopy, three kernels.
//
// lk_gicov scores each pixel as a cell's centre: for circles of several radii around it, the gradient along
// the outward normal, its mean against its variance. lk_dilate spreads the scores' maxima over a disc.
// lk_flow relaxes a gradient-vector-flow field for each cell, one block a cell, in shared memory until it
// changes little.
#include "device.h"

#define MAX_CIRCLES 7
#define MAX_POINTS  150
#define MARGIN      22 // largest radius and 2
#define MAX_DISC    25
#define FLOW_ROWS   41
#define FLOW_COLS   81
#define FLOW_BLOCK  320

__constant__ float lk_cos[MAX_POINTS], lk_sin[MAX_POINTS];
__constant__ int lk_dx[MAX_CIRCLES * MAX_POINTS], lk_dy[MAX_CIRCLES * MAX_POINTS];
__constant__ int lk_disc[MAX_DISC * MAX_DISC];

// A block for each column of the image, a thread for each row; images are stored by columns. Mean and
// variance are updated point by point.
KERNEL lk_gicov(int rows, int circles, int points, texture_t grad_x, texture_t grad_y, float *scores) {
    int column = (int)blockIdx.x + MARGIN, row = (int)threadIdx.x + MARGIN;
    float best = 0.0f, score = 0.0f;
#pragma unroll 1
    for (int k = 0; k < circles; k++) {
        float sum = 0.0f, squares = 0.0f, mean = 0.0f;
#pragma unroll 1
        for (int n = 0; n < points; n++) {
            int x = column + lk_dx[k * MAX_POINTS + n], y = row + lk_dy[k * MAX_POINTS + n];
            int at = x * rows + y;
            float p = texture_1d(grad_x, at) * lk_cos[n] + texture_1d(grad_y, at) * lk_sin[n];
            sum += p;
            float delta = p - mean;
            mean += delta / (float)(n + 1);
            squares += delta * (p - mean);
        }
        mean = sum / (float)points;
        float variance = squares / (float)(points - 1);
        float ratio = mean * mean / variance;
        if (ratio > best) {
            best = ratio;
            score = mean / sqrtf(variance);
        }
    }
    scores[column * rows + row] = score;
}

// The largest score under the disc, one thread for each pixel, 176 in a block.
KERNEL lk_dilate(int rows, int columns, int side, texture_t scores, float *dilated) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    int row = i % rows, column = i / rows;
    if (column >= columns)
        return;
    float most = 0.0f;
#pragma unroll 1
    for (int dy = 0; dy < side; dy++) {
        int y = row - side / 2 + dy;
        if (y >= 0 && y < rows)
#pragma unroll 1
            for (int dx = 0; dx < side; dx++) {
                int x = column - side / 2 + dx;
                if (x >= 0 && x < columns && lk_disc[dy * side + dx] != 0) {
                    float v = texture_1d(scores, x * rows + y);
                    if (v > most)
                        most = v;
                }
            }
    }
    dilated[column * rows + row] = most;
}

// A step from 0 to 1, one half within 0.0001 of zero.
DEVICE_FN float lk_step(float v) {
    float r = 0.0f;
    if (v > -0.0001f)
        r = 0.5f;
    if (v > 0.0001f)
        r = 1.0f;
    return r;
}

DEVICE_FN float lk_pull(const float *field, int row, int column, float here, float along) {
    row = min(max(row, 0), FLOW_ROWS - 1);
    column = min(max(column, 0), FLOW_COLS - 1);
    float difference = field[row * FLOW_COLS + column] - here;
    return lk_step(difference * along) * difference;
}

// One relaxed value from its eight neighbours and the image.
DEVICE_FN float lk_relax(const float *field, const float *image, int i, float vx, float vy) {
    int row = i / FLOW_COLS, column = i % FLOW_COLS;
    float here = field[i];
    float pull = lk_pull(field, row - 1, column, here, -vy) + lk_pull(field, row + 1, column, here, vy) +
                 lk_pull(field, row, column - 1, here, -vx) + lk_pull(field, row, column + 1, here, vx) +
                 lk_pull(field, row - 1, column + 1, here, vx - vy) +
                 lk_pull(field, row + 1, column + 1, here, vx + vy) +
                 lk_pull(field, row - 1, column - 1, here, -vx - vy) +
                 lk_pull(field, row + 1, column - 1, here, vy - vx);
    float next = here + 0.1f * pull, edge = image[i];
    return next - 0.2f * edge * (next - edge);
}

// Iterations until the mean change is below the cut-off. The field is updated in place, 320 cells at a time:
// a row is 81 long, so results of one round are written when the next round has been computed.
KERNEL lk_flow(const float *images, float *fields, int *iterations, float vx, float vy, int most,
               float cutoff) {
    __shared__ float field[FLOW_ROWS * FLOW_COLS];
    __shared__ float change[FLOW_BLOCK];
    __shared__ int converged;
    const int n = FLOW_ROWS * FLOW_COLS;
    int tx = threadIdx.x, cell = blockIdx.x;
    const float *image = images + cell * n;
    for (int i = tx; i < n; i += FLOW_BLOCK)
        field[i] = image[i];
    if (tx == 0)
        converged = 0;
    __syncthreads();
    int done = 0;
#pragma unroll 1
    while (!converged && done < most) {
        float total = 0.0f, kept = 0.0f;
#pragma unroll 1
        for (int first = 0; first < n + FLOW_BLOCK; first += FLOW_BLOCK) {
            int i = first + tx;
            float next = 0.0f;
            if (i < n) {
                next = lk_relax(field, image, i, vx, vy);
                total += fabsf(next - field[i]);
            }
            __syncthreads();
            if (first > 0 && i - FLOW_BLOCK < n)
                field[i - FLOW_BLOCK] = kept;
            kept = next;
            __syncthreads();
        }
        change[tx] = total;
        __syncthreads();
        if (tx >= 256)
            change[tx - 256] += change[tx];
        __syncthreads();
#pragma unroll 1
        for (int half = 128; half > 0; half /= 2) {
            if (tx < half)
                change[tx] += change[tx + half];
            __syncthreads();
        }
        if (tx == 0 && change[0] / (float)n < cutoff)
            converged = 1;
        done++;
        __syncthreads();
    }
    for (int i = tx; i < n; i += FLOW_BLOCK)
        fields[cell * n + i] = field[i];
    if (tx == 0)
        iterations[cell] = done;
}
