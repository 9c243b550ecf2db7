// European call options by simulation: one block of 256 threads for each option, all drawing on the same
// normal numbers.
//
// monte_normals makes the numbers once, from equal steps of the distribution function. monte_option lets each
// thread sum the payoffs of every 256th path and their squares, then adds the threads' sums by a tree in
// shared memory.
#include "device.h"

#define THREADS     256
#define MAX_OPTIONS 256

struct option {
    float price, strike, drift, spread;
};
__constant__ option monte_options[MAX_OPTIONS];

// The inverse of the normal distribution function at u / 2^32, by the rational function of Beasley and
// Springer in the middle and Moro's polynomial of a double logarithm in the tails.
DEVICE_FN float inverse_normal(unsigned u) {
    bool negate = false;
    if (u >= 0x80000000u) {
        u = 0xffffffffu - u;
        negate = true;
    }
    float z, x = (float)u * 2.3283064e-10f + 1.1641532e-10f, y = 0.5f - x;
    if (y < 0.42f) {
        z = y * y;
        z = y * (((-25.44106049637f * z + 41.39119773534f) * z - 18.61500062529f) * z + 2.50662823884f) /
            ((((3.13082909833f * z - 21.06224101826f) * z + 23.08336743743f) * z - 8.4735109309f) * z + 1.0f);
    } else {
        z = __logf(-__logf(x));
        z = 0.3374754822726f +
            z * (0.9761690190917f +
                 z * (0.1607979714918f +
                      z * (0.0276438810334f +
                           z * (0.0038405729374f +
                                z * (0.0003951896512f +
                                     z * (0.0000321767882f +
                                          z * (0.0000002888167f + z * 0.0000003960315f)))))));
    }
    return negate ? z : -z;
}

KERNEL monte_normals(float *normals, int n, unsigned step) {
    int threads = (int)(blockDim.x * gridDim.x);
    for (int i = (int)(blockDim.x * blockIdx.x + threadIdx.x); i < n; i += threads)
        normals[i] = inverse_normal((unsigned)(i + 1) * step);
}

// Sums of payoffs and of their squares, for option blockIdx.x.
KERNEL monte_option(float2 *results, const float *normals, int paths) {
    __shared__ float sums[THREADS];
    __shared__ float squares[THREADS];
    int tid = threadIdx.x;
    const option &o = monte_options[blockIdx.x];
    float price = o.price, strike = o.strike, drift = o.drift, spread = o.spread;

    float sum = 0.0f, square = 0.0f;
    for (int i = tid; i < paths; i += THREADS) {
        float payoff = price * __expf(drift + spread * normals[i]) - strike;
        payoff = payoff > 0.0f ? payoff : 0.0f;
        sum += payoff;
        square += payoff * payoff;
    }
    sums[tid] = sum;
    squares[tid] = square;
    for (int stride = THREADS / 2; stride > 0; stride >>= 1) {
        __syncthreads();
        if (tid < stride) {
            sums[tid] += sums[tid + stride];
            squares[tid] += squares[tid + stride];
        }
    }
    if (tid == 0)
        results[blockIdx.x] = make_float2(sums[0], squares[0]);
}
