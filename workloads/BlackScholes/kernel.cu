// European options by the formula of Black and Scholes: each thread prices options a whole grid apart.
#include "device.h"

// The standard normal distribution function, by a polynomial of 1 / (1 + 0.2316419 |d|).
DEVICE_FN float normal_cdf(float d) {
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float tail = 0.39894228040143267794f * __expf(-0.5f * d * d) *
                 (k * (0.31938153f +
                       k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
    return d > 0.0f ? 1.0f - tail : tail;
}

KERNEL black_scholes(float *calls, float *puts, const float *prices, const float *strikes, const float *years,
                     float riskless, float volatility, int n) {
    int threads = (int)(blockDim.x * gridDim.x);
    for (int i = (int)(blockDim.x * blockIdx.x + threadIdx.x); i < n; i += threads) {
        float s = prices[i], x = strikes[i], t = years[i];
        float root = sqrtf(t);
        float d1 = (__logf(s / x) + (riskless + 0.5f * volatility * volatility) * t) / (volatility * root);
        float d2 = d1 - volatility * root;
        float n1 = normal_cdf(d1), n2 = normal_cdf(d2);
        float discounted = x * __expf(-riskless * t);
        calls[i] = s * n1 - discounted * n2;
        puts[i] = discounted * (1.0f - n2) - s * (1.0f - n1);
    }
}
