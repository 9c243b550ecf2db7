// One training pass of a perceptron with one hidden layer: the two kernels that touch the large weight
// matrix.
//
// weights[i][j] joins input i (0: the bias) to hidden unit j (0: unused), with hidden + 1 columns. A block
// covers 16 inputs (threadIdx.y) and the 16 hidden units (threadIdx.x).
#include "device.h"

#define TILE 16

// Partial sums of 16 inputs for each hidden unit, by a tree over the rows of the tile. The number of levels
// and the rows of each come from logarithms and powers in floating point, and each row's part of the sum
// takes the place of its weight, as in the suite.
KERNEL backprop_forward(const float *input, float *weights, float *partial, int hidden) {
    __shared__ float node[TILE];
    __shared__ float product[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = TILE * (int)blockIdx.y + ty + 1;
    if (tx == 0)
        node[ty] = input[row];
    __syncthreads();
    int at = row * (hidden + 1) + tx + 1;
    product[ty][tx] = weights[at];
    __syncthreads();
    product[ty][tx] = product[ty][tx] * node[ty];
    __syncthreads();
#pragma unroll 1
    for (int level = 1; level <= __log2f(TILE); level++) {
        int rows = (int)__powf(2, level);
        if (ty % rows == 0)
            product[ty][tx] = product[ty][tx] + product[ty + rows / 2][tx];
        __syncthreads();
    }
    weights[at] = product[ty][tx];
    __syncthreads();
    if (tx == 0)
        partial[blockIdx.y * hidden + ty] = product[0][ty];
}

// Each weight moves along its gradient, and a part of its last move again.
KERNEL backprop_adjust(const float *delta, int hidden, const float *input, float *weights, float *last_move,
                       float rate, float momentum) {
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = TILE * (int)blockIdx.y + ty + 1, column = tx + 1;
    int at = row * (hidden + 1) + column;
    float move = rate * delta[column] * input[row] + momentum * last_move[at];
    weights[at] += move;
    last_move[at] = move;
    __syncthreads();
    if (ty == 0 && blockIdx.y == 0) {
        float bias_move = rate * delta[column] + momentum * last_move[column];
        weights[column] += bias_move;
        last_move[column] = bias_move;
    }
}
