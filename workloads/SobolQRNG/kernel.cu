// Sobol's quasi-random sequence: row y of the grid makes dimension y, each thread every stride-th point of
// it.
//
// The direction numbers of the dimension go to shared memory. Point i is the exclusive or of those that the
// Gray code of i selects; from one point to the next of the thread, a power of two further, only two bits of
// the Gray code change.
#include "device.h"

#define DIRECTIONS 32

KERNEL sobol_points(int points, const unsigned *directions, float *out) {
    __shared__ unsigned v[DIRECTIONS];
    directions += DIRECTIONS * blockIdx.y;
    out += points * (int)blockIdx.y;
    if (threadIdx.x < DIRECTIONS)
        v[threadIdx.x] = directions[threadIdx.x];
    __syncthreads();

    int first = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
    unsigned gray = first ^ (first >> 1), x = 0;
    for (unsigned k = 0; k < (unsigned)__ffs(stride) - 1; k++) {
        x ^= -(gray & 1) & v[k];
        gray >>= 1;
    }
    if (first < points)
        out[first] = (float)x * 2.3283064365386963e-10f;
    unsigned by_stride = v[__ffs(stride) - 2];
    for (int i = first + stride; i < points; i += stride) {
        // besides the bit of the stride itself, the lowest zero bit above the stride in the point before
        x ^= by_stride ^ v[__ffs(~((i - stride) | (stride - 1))) - 1];
        out[i] = (float)x * 2.3283064365386963e-10f;
    }
}
