// Kernels of cdrv_errors.c, compiled by clang.
#include "clang_cuda.h"

extern "C" {
__global__ void fill(int *p, int value) {
    p[threadIdx.x] = value;
}

__global__ void through_null(int **p) {
    *p[0] = 1;
}
}
