/* binomialOptions: prices of European call options by binomial trees. See README.md. */
#include "host.h"
#include <math.h>

enum { THREADS = 256, LEVELS = 32, MAX_OPTIONS = 512 };

static const struct { int options, steps; } sizes[WL_SIZES] = {{3, 416}, {4, 2048}, {48, 2048}, {512, 2048}};

static const double riskless = 0.06, volatility = 0.10;

/* As in the kernel. */
struct option {
    float price, strike, step, up, down;
};

/* e^x for |x| < 0.1 from additions and multiplications alone, the same on every machine. */
static double small_exp(double x) {
    double sum = 1;
    for (int i = 12; i > 0; i--)
        sum = 1 + sum * x / i;
    return sum;
}

static struct option make_option(struct wl *w, int steps) {
    float price = wl_random_float(w, 5, 30), strike = wl_random_float(w, 1, 100);
    double years = wl_random_float(w, 0.25f, 10), dt = years / steps;
    double step = volatility * sqrt(dt), discount = small_exp(-riskless * dt);
    double rise = small_exp(step), fall = small_exp(-step);
    double up = (1 / discount - fall) / (rise - fall);
    return (struct option){price, strike, (float)step, (float)(up * discount), (float)((1 - up) * discount)};
}

static double tree_price(const struct option *o, int steps, double *value) {
    for (int i = 0; i <= steps; i++)
        value[i] = fmax(0, o->price * exp((double)o->step * (2 * i - steps)) - o->strike);
    for (int level = steps; level > 0; level--)
        for (int i = 0; i < level; i++)
            value[i] = (double)o->up * value[i + 1] + (double)o->down * value[i];
    return value[0];
}

static void run(struct wl *w) {
    int n = wl_option(w, "options", sizes[w->size].options),
        steps = wl_option(w, "steps", sizes[w->size].steps);
    if (n < 1 || n > MAX_OPTIONS || steps < LEVELS || steps % LEVELS)
        wl_fail(w, "options is 1 to %d, steps a multiple of %d", MAX_OPTIONS, LEVELS);
    struct option *options = WL_ARRAY(w, struct option, n);
    for (int i = 0; i < n; i++)
        options[i] = make_option(w, steps);
    wl_symbol(w, "binomial_options", options, (size_t)n * sizeof *options);
    CUdeviceptr d_prices = wl_alloc(w, (size_t)n * sizeof(float));
    CUdeviceptr d_values = wl_alloc(w, (size_t)n * (size_t)(steps + 16) * sizeof(float));
    WL_LAUNCH(w, "binomial_price", wl_dim((unsigned)n, 1), wl_dim(THREADS, 1), 0, &d_prices, &d_values,
              &steps);

    float *got = WL_ARRAY(w, float, n), *want = WL_ARRAY(w, float, n);
    wl_get(w, got, d_prices, (size_t)n * sizeof *got);
    double *value = WL_ARRAY(w, double, steps + 1);
    for (int i = 0; w->check && i < n; i++)
        want[i] = (float)tree_price(&options[i], steps, value);
    /* sums of positive terms, two roundings a level; a leaf is good to 8 roundings of its stock price, whose
     * discounted mean is at most 30 */
    wl_check_f32(w, "price", got, want, (size_t)n, (struct wl_tolerance){(2 * steps + 256) * 0x1p-24, 1});
}

const struct workload workload = {"binomialOptions", run};
