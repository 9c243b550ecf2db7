// Prices of European call options by a recombining binomial tree: one block of 256 threads for each option.
//
// The values at the leaves lie in global memory. The tree is folded 32 levels at a time: a window of 256
// values is loaded into shared memory, advanced 32 levels between two buffers with a barrier at each, and the
// 224 values that are still right are written back. All threads compute at every level, those beyond the
// valid part in vain.
#include "device.h"

#define WINDOW      256
#define LEVELS      32
#define ADVANCE     (WINDOW - LEVELS)
#define MAX_OPTIONS 512

// up and down are the discounted probabilities of a step up and a step down of the price.
struct option {
    float price, strike, step, up, down;
};
__constant__ option binomial_options[MAX_OPTIONS];

// What the option is worth at leaf i if it is exercised there.
DEVICE_FN float leaf_value(const option &o, int i, int steps) {
    float gain = o.price * expf(o.step * (2.0f * (float)i - (float)steps)) - o.strike;
    return gain > 0.0f ? gain : 0.0f;
}

KERNEL binomial_price(float *prices, float *values, int steps) {
    __shared__ float near[WINDOW + 1];
    __shared__ float far[WINDOW + 1];
    int tid = threadIdx.x;
    const option &o = binomial_options[blockIdx.x];
    float up = o.up, down = o.down;
    float *level = values + (int)blockIdx.x * (steps + 16);

    for (int i = tid; i <= steps; i += WINDOW)
        level[i] = leaf_value(o, i, steps);

    for (int width = steps; width > 0; width -= LEVELS)
        for (int base = 0; base < width; base += ADVANCE) {
            int start = min(WINDOW - 1, width - base), end = start - LEVELS;
            __syncthreads();
            if (tid <= start)
                near[tid] = level[base + tid];
#pragma unroll 1
            for (int k = start - 1; k >= end;) {
                __syncthreads();
                far[tid] = up * near[tid + 1] + down * near[tid];
                k--;
                __syncthreads();
                near[tid] = up * far[tid + 1] + down * far[tid];
                k--;
            }
            __syncthreads();
            if (tid <= end)
                level[base + tid] = near[tid];
        }

    if (tid == 0)
        prices[blockIdx.x] = near[0];
}
