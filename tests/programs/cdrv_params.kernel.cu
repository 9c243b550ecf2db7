// Kernel of cdrv_params.c, compiled by clang.
#include "clang_cuda.h"

extern "C" __global__ void fill(int *p, int value) {
    if (p)
        p[threadIdx.x] = value;
}
