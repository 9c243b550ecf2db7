// Sparse matrix times vector, jagged diagonal storage: one thread for each row.
//
// Rows are sorted by length and padded in groups of 32, so that all rows of a warp have the same number of
// entries; the k-th entries of all rows that have one stand side by side. The loop is pipelined by hand: the
// column index of entry k and the vector element of entry k - 1 are fetched while entry k - 2 is added.
#include "device.h"

#define MAX_DIAGONALS 5000
#define MAX_GROUPS    5000

__constant__ int spmv_diagonal[MAX_DIAGONALS]; // where the k-th entries start
__constant__ int spmv_length[MAX_GROUPS];      // entries in each row of a group of 32

KERNEL spmv_jds(float *y, const float *value, const int *column, const int *permutation, const float *x,
                int rows) {
    int row = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (row >= rows)
        return;
    int length = spmv_length[row >> 5];
    float sum = 0.0f;
    int at = spmv_diagonal[0] + row;
    float v = value[at], element = x[column[at]];
    if (length > 1) {
        at = spmv_diagonal[1] + row;
        int next_column = column[at];
#pragma unroll 1
        for (int k = 2; k < length; k++) {
            float next_v = value[at];
            at = spmv_diagonal[k] + row;
            int column_after = column[at];
            float next_element = x[next_column];
            sum += v * element;
            next_column = column_after;
            v = next_v;
            element = next_element;
        }
        sum += v * element;
        v = value[at];
        element = x[next_column];
    }
    y[permutation[row]] = sum + v * element;
}
