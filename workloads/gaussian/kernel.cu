// Gaussian elimination: for each column, one kernel makes the multipliers of the rows below the pivot (512
// threads in a line), another subtracts the multiplied pivot row from them (4x4 threads).
#include "device.h"

KERNEL gaussian_multipliers(float *factors, const float *m, int n, int pivot) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n - 1 - pivot)
        return;
    int row = i + pivot + 1;
    factors[n * row + pivot] = m[n * row + pivot] / m[n * pivot + pivot];
}

// threadIdx.x runs over rows and threadIdx.y over columns: neighbouring threads are a row apart in memory.
KERNEL gaussian_eliminate(const float *factors, float *m, float *rhs, int n, int pivot) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n - 1 - pivot || y >= n - pivot)
        return;
    int row = x + pivot + 1, column = y + pivot;
    float factor = factors[n * row + pivot];
    m[n * row + column] -= factor * m[n * pivot + column];
    if (y == 0)
        rhs[row] -= factor * rhs[pivot];
}
