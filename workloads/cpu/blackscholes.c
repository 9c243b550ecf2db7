/* Blackscholes: prices of European options in closed form.
 *
 * The block is the price of one option from six numbers of four bytes. The options are as PARSEC's input
 * generator makes them: a thousand different ones, whose numbers come from short lists as in practice, over
 * and over. */
#include <math.h>

#include "bench.h"

#ifndef BITS
#define BITS 0
#endif

enum { DIFFERENT = 1000 };

/* The cumulative normal distribution, by a polynomial. */
static float normal(float x) {
    float a = fabsf(x);
    float density = expf(-0.5f * a * a) * 0.39894228040143270286f;
    float k = 1 / (1 + 0.2316419f * a);
    float sum = k * (0.319381530f +
                     k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    float upper = 1 - density * sum;
    return x < 0 ? 1 - upper : upper;
}

static float price_of(float spot, float strike, float rate, float volatility, float time, int put) {
    float root = sqrtf(time);
    float d1 = ((rate + volatility * volatility * 0.5f) * time + logf(spot / strike)) / (volatility * root);
    float d2 = d1 - volatility * root;
    float n1 = normal(d1), n2 = normal(d2), future = strike * expf(-rate * time);
    return put ? future * (1 - n2) - spot * (1 - n1) : spot * n1 - future * n2;
}

struct options {
    float *spot, *strike, *rate, *volatility, *time;
    int *put;
};

static __attribute__((noinline)) void prices(const struct options *o, float *out, int n) {
    for (int k = 0; k < n; k++) {
        float price = 0;
        float spot = AX_LD_F32(&o->spot[k], 0, BITS), strike = AX_LD_F32(&o->strike[k], 0, BITS),
              rate = AX_LD_F32(&o->rate[k], 0, BITS), volatility = AX_LD_F32(&o->volatility[k], 0, BITS),
              time = AX_LD_F32(&o->time[k], 0, BITS);
        int put = AX_LD_I32(&o->put[k], 0, 0);
        if (!AX_LOOKUP_F32(price, 0)) {
            price = price_of(spot, strike, rate, volatility, time, put);
            AX_UPDATE_F32(price, 0);
        }
        out[k] = price;
    }
}

int main(int argc, char **argv) {
    static const int sizes[SIZES] = {2000, 20000, 60000, 200000};
    static const float rates[] = {0.0275f, 0.05f, 0.075f, 0.1f},
                       volatilities[] = {0.1f, 0.15f, 0.2f, 0.25f, 0.3f, 0.35f, 0.5f, 0.65f},
                       times[] = {0.05f, 0.1f, 0.25f, 0.5f, 0.75f, 1};
    int n = sizes[bench_start(argc, argv)];
    /* One after the other, as PARSEC has them: arrays of their own may all begin in the same set of a cache. */
    float *numbers = bench_alloc(5 * (size_t)n, 4);
    struct options o = {numbers,         numbers + n,     numbers + 2 * n,
                        numbers + 3 * n, numbers + 4 * n, bench_alloc(n, 4)};
    float *out = bench_alloc(n, 4);
    for (int k = 0; k < n; k++) {
        int of = k % DIFFERENT;
        o.spot[k] = k < DIFFERENT ? 42 + (float)bench_below(12) * 5.5f : o.spot[of];
        o.strike[k] = k < DIFFERENT ? 40 + (float)bench_below(14) * 5 : o.strike[of];
        o.rate[k] = k < DIFFERENT ? rates[bench_below(4)] : o.rate[of];
        o.volatility[k] = k < DIFFERENT ? volatilities[bench_below(8)] : o.volatility[of];
        o.time[k] = k < DIFFERENT ? times[bench_below(6)] : o.time[of];
        o.put[k] = k < DIFFERENT ? (int)bench_below(2) : o.put[of];
    }
    AX_BEGIN();
    prices(&o, out, n);
    AX_END();
    bench_result("f32", 4, "prices", out, (size_t)n);
    return 0;
}
