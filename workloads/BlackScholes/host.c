/* BlackScholes: prices of European options in closed form. See README.md. */
#include "host.h"
#include <math.h>

enum { THREADS = 128, MAX_BLOCKS = 480 };

static const int sizes[WL_SIZES] = {40000, 640000, 4000000, 4000000};

static const float riskless = 0.02f, volatility = 0.30f;

/* The same polynomial as the kernel's: its own error, 1e-7, is no part of the comparison. */
static double normal_cdf(double d) {
    static const double a[5] = {0.31938153, -0.356563782, 1.781477937, -1.821255978, 1.330274429};
    double k = 1 / (1 + 0.2316419 * fabs(d)), sum = 0;
    for (int i = 4; i >= 0; i--)
        sum = k * (a[i] + sum);
    double tail = 0.39894228040143267794 * exp(-0.5 * d * d) * sum;
    return d > 0 ? 1 - tail : tail;
}

static void reference(double s, double x, double t, float *call, float *put) {
    double r = riskless, v = volatility, root = sqrt(t);
    double d1 = (log(s / x) + (r + 0.5 * v * v) * t) / (v * root), d2 = d1 - v * root;
    double n1 = normal_cdf(d1), n2 = normal_cdf(d2), discounted = x * exp(-r * t);
    *call = (float)(s * n1 - discounted * n2);
    *put = (float)(discounted * (1 - n2) - s * (1 - n1));
}

static void run(struct wl *w) {
    int n = wl_option(w, "options", sizes[w->size]);
    size_t count = (size_t)n, bytes = count * sizeof(float);
    float *price = WL_ARRAY(w, float, n), *strike = WL_ARRAY(w, float, n), *years = WL_ARRAY(w, float, n);
    wl_random_floats(w, price, count, 5, 30);
    wl_random_floats(w, strike, count, 1, 100);
    wl_random_floats(w, years, count, 0.25f, 10);
    CUdeviceptr d_price = wl_upload(w, price, bytes), d_strike = wl_upload(w, strike, bytes);
    CUdeviceptr d_years = wl_upload(w, years, bytes), d_call = wl_alloc(w, bytes), d_put = wl_alloc(w, bytes);
    float r = riskless, v = volatility;
    unsigned blocks = wl_blocks((unsigned)n, THREADS);
    WL_LAUNCH(w, "black_scholes", wl_dim(blocks < MAX_BLOCKS ? blocks : MAX_BLOCKS, 1), wl_dim(THREADS, 1), 0,
              &d_call, &d_put, &d_price, &d_strike, &d_years, &r, &v, &n);

    float *call = WL_ARRAY(w, float, n), *put = WL_ARRAY(w, float, n);
    float *want_call = WL_ARRAY(w, float, n), *want_put = WL_ARRAY(w, float, n);
    wl_get(w, call, d_call, bytes);
    wl_get(w, put, d_put, bytes);
    for (int i = 0; w->check && i < n; i++)
        reference(price[i], strike[i], years[i], &want_call[i], &want_put[i]);
    /* Prices are differences of terms of up to 100. The distribution function has slope 0.4 at most, less
     * where d is large, so it passes on 0.4 of the error of d: 2^-22 of the logarithm over 0.15 and a few
     * roundings, 2^-20.5 in all, times a price of 30 or a strike that is not much more. Its exponential is
     * good to 2^-20 of a tail that is small where the exponent is not. */
    struct wl_tolerance t = {0x1p-20, 100};
    wl_check_f32(w, "call", call, want_call, count, t);
    wl_check_f32(w, "put", put, want_put, count, t);
}

const struct workload workload = {"BlackScholes", run};
