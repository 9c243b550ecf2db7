// Histogram of an image with 256 bins: counted by blocks in shared memory, then added up.
//
// Each warp of a block has a histogram of its own, so that atomic additions meet only within a warp; threads
// read four pixels at a time, a grid apart. The block adds its histograms and then to the image's.
#include "device.h"

#define THREADS 256
#define WARPS   (THREADS / 32)
#define BINS    256

KERNEL imghisto_count(const unsigned *pixels, int words, unsigned *histogram) {
    __shared__ unsigned counts[WARPS * BINS];
    int tid = threadIdx.x;
    unsigned *mine = counts + tid / 32 * BINS;
    for (int i = tid; i < WARPS * BINS; i += THREADS)
        counts[i] = 0;
    __syncthreads();

    for (int i = blockIdx.x * THREADS + tid; i < words; i += THREADS * gridDim.x) {
        unsigned four = pixels[i];
        atomicAdd(&mine[four & 0xff], 1u);
        atomicAdd(&mine[four >> 8 & 0xff], 1u);
        atomicAdd(&mine[four >> 16 & 0xff], 1u);
        atomicAdd(&mine[four >> 24], 1u);
    }
    __syncthreads();

    unsigned sum = 0;
    for (int warp = 0; warp < WARPS; warp++)
        sum += counts[warp * BINS + tid];
    atomicAdd(&histogram[tid], sum);
}
