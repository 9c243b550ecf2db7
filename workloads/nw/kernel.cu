// Needleman-Wunsch alignment: the score matrix by 16x16 tiles, one block of 16 threads for each tile of a
// diagonal.
//
// Inside a tile the cells of an anti-diagonal are independent: thread t works on column t, 31 steps with a
// barrier after each.
#include "device.h"

#define TILE 16

// Cell (row, column) of the tile from its three neighbours; borders take index 0 of `score`.
DEVICE_FN void nw_cell(int (*score)[TILE + 1], const int (*match)[TILE], int row, int column, int penalty) {
    int diagonal = score[row - 1][column - 1] + match[row - 1][column - 1];
    int left = score[row][column - 1] - penalty, up = score[row - 1][column] - penalty;
    score[row][column] = max(diagonal, max(left, up));
}

DEVICE_FN void nw_tile(const int *reference, int *scores, int columns, int penalty, int tile_x, int tile_y) {
    __shared__ int score[TILE + 1][TILE + 1];
    __shared__ int match[TILE][TILE];
    int tx = threadIdx.x;
    int corner = columns * TILE * tile_y + TILE * tile_x, inside = corner + columns + 1 + tx;
    if (tx == 0)
        score[0][0] = scores[corner];
    for (int y = 0; y < TILE; y++)
        match[y][tx] = reference[inside + columns * y];
    __syncthreads();
    score[tx + 1][0] = scores[corner + columns * (tx + 1)];
    __syncthreads();
    score[0][tx + 1] = scores[corner + tx + 1];
    __syncthreads();
    for (int step = 0; step < TILE; step++) {
        if (tx <= step)
            nw_cell(score, match, step - tx + 1, tx + 1, penalty);
        __syncthreads();
    }
    for (int step = TILE - 2; step >= 0; step--) {
        if (tx <= step)
            nw_cell(score, match, TILE - tx, tx + TILE - step, penalty);
        __syncthreads();
    }
    for (int y = 0; y < TILE; y++)
        scores[inside + columns * y] = score[y + 1][tx + 1];
}

// Tiles of an anti-diagonal above and on the main one: `tiles` of them, from the lower left up.
KERNEL nw_upper(const int *reference, int *scores, int columns, int penalty, int tiles) {
    int x = blockIdx.x;
    nw_tile(reference, scores, columns, penalty, x, tiles - 1 - x);
}

// Tiles of an anti-diagonal below the main one.
KERNEL nw_lower(const int *reference, int *scores, int columns, int penalty, int tiles, int side) {
    int x = (int)blockIdx.x + side - tiles;
    nw_tile(reference, scores, columns, penalty, x, side + (side - tiles) - x - 1);
}
