/* LIB: swaptions in the LIBOR market model by Monte Carlo. See README.md. */
#include "host.h"
#include <math.h>

enum { BLOCK = 256, MAX_RATES = 80, MAX_STEPS = 40, OPTIONS = 15 };

static const struct {
    int rates, steps, paths;
} sizes[WL_SIZES] = {{14, 7, 512}, {40, 20, 1024}, {80, 40, 4096}, {80, 40, 4096}};

struct market {
    int rates, steps, maturities[OPTIONS];
    float delta, normal, initial, swaprates[OPTIONS], volatility[MAX_RATES];
};

/* Maturities spread over the rates behind the option date, three options of each, strikes around the rates.
 */
static struct market make_market(int rates, int steps) {
    struct market m = {.rates = rates, .steps = steps, .delta = 0.25f, .normal = 0.3f, .initial = 0.05f};
    static const float strikes[3] = {0.045f, 0.05f, 0.055f};
    for (int i = 0; i < OPTIONS; i++) {
        m.maturities[i] = (rates - steps) * (i / 3 + 1) / (OPTIONS / 3);
        m.swaprates[i] = strikes[i % 3];
    }
    for (int i = 0; i < rates; i++)
        m.volatility[i] = 0.2f;
    return m;
}

static void set_constants(struct wl *w, const struct market *m) {
    int options = OPTIONS;
    wl_symbol(w, "lib_rates", &m->rates, sizeof m->rates);
    wl_symbol(w, "lib_steps", &m->steps, sizeof m->steps);
    wl_symbol(w, "lib_options", &options, sizeof options);
    wl_symbol(w, "lib_maturities", m->maturities, sizeof m->maturities);
    wl_symbol(w, "lib_delta", &m->delta, sizeof m->delta);
    wl_symbol(w, "lib_normal", &m->normal, sizeof m->normal);
    wl_symbol(w, "lib_initial", &m->initial, sizeof m->initial);
    wl_symbol(w, "lib_swaprates", m->swaprates, sizeof m->swaprates);
    wl_symbol(w, "lib_volatility", m->volatility, sizeof m->volatility);
}

/* The value of the portfolio on a path whose first rate after the option date starts at `first`. */
static double path_value(const struct market *m, double first) {
    double rate[MAX_RATES], bond[MAX_RATES], swap[MAX_RATES], delta = m->delta, v = 0;
    for (int i = 0; i < m->rates; i++)
        rate[i] = i == m->steps ? first : m->initial;
    for (int n = 0; n < m->steps; n++) {
        double drift = 0;
        for (int i = n + 1; i < m->rates; i++) {
            double vol = m->volatility[i - n - 1];
            drift += delta * vol * rate[i] / (1 + delta * rate[i]);
            rate[i] *= exp(delta * vol * drift + vol * (sqrt(delta) * m->normal - 0.5 * delta * vol));
        }
    }
    double b = 1, s = 0;
    for (int n = m->steps; n < m->rates; n++) {
        b /= 1 + delta * rate[n];
        s += delta * b;
        bond[n - m->steps] = b;
        swap[n - m->steps] = s;
    }
    for (int i = 0; i < OPTIONS; i++) {
        int at = m->maturities[i] - 1;
        double value = bond[at] + m->swaprates[i] * swap[at] - 1;
        v += value < 0 ? -100 * value : 0;
    }
    for (int n = 0; n < m->steps; n++)
        v /= 1 + delta * rate[n];
    return v;
}

/* All paths draw the same numbers: one reference serves them all. */
static void fill(float *out, size_t n, double v) {
    for (size_t i = 0; i < n; i++)
        out[i] = (float)v;
}

static void run(struct wl *w) {
    int paths = wl_option(w, "paths", sizes[w->size].paths);
    int threads = wl_option(w, "threads", sizes[w->size].paths);
    if (paths < 1 || threads < BLOCK || threads % BLOCK)
        wl_fail(w, "paths must be positive, threads a multiple of %d", BLOCK);
    struct market m = make_market(sizes[w->size].rates, sizes[w->size].steps);
    set_constants(w, &m);
    size_t bytes = (size_t)paths * sizeof(float);
    CUdeviceptr d_value = wl_alloc(w, bytes), d_sensitivity = wl_alloc(w, bytes),
                d_plain = wl_alloc(w, bytes);
    unsigned blocks = (unsigned)threads / BLOCK;
    WL_LAUNCH(w, "lib_greeks", wl_dim(blocks, 1), wl_dim(BLOCK, 1), 0, &paths, &d_value, &d_sensitivity);
    WL_LAUNCH(w, "lib_value", wl_dim(blocks, 1), wl_dim(BLOCK, 1), 0, &paths, &d_plain);

    size_t n = (size_t)paths;
    float *value = WL_ARRAY(w, float, n), *sensitivity = WL_ARRAY(w, float, n),
          *plain = WL_ARRAY(w, float, n);
    float *want_value = WL_ARRAY(w, float, n), *want_sensitivity = WL_ARRAY(w, float, n);
    wl_get(w, value, d_value, bytes);
    wl_get(w, sensitivity, d_sensitivity, bytes);
    wl_get(w, plain, d_plain, bytes);
    if (w->check) {
        double at = m.initial, step = 1e-6;
        fill(want_value, n, path_value(&m, at));
        fill(want_sensitivity, n, (path_value(&m, at + step) - path_value(&m, at - step)) / (2 * step));
    }
    /* A rate is multiplied once a step by an exponential good to 4 units of 2^-24 (argument below one), the
     * drift in it adds one more: 6 for each step. An option's value is a difference of numbers near 1 that a
     * rate's error reaches weighted by delta times the rates' number, and the portfolio sums 15 of them
     * 100-fold: the error is absolute, 100 * 15 * (that), and compared on the scale of one option's largest
     * payment, 100. */
    double rates = 6 * m.steps * 0x1p-24,
           options = OPTIONS * ((double)m.delta * (m.rates - m.steps) * 0.1 * rates +
                                2 * (m.rates - m.steps) * 0x1p-24);
    struct wl_tolerance price = {options, 100};
    wl_check_f32(w, "value", value, want_value, n, price);
    wl_check_f32(w, "plain value", plain, want_value, n, price);
    /* Products of such factors and no cancellation: relative, with the roundings of both passes and the sums.
     */
    wl_check_f32(w, "sensitivity", sensitivity, want_sensitivity, n,
                 (struct wl_tolerance){4 * rates + 2 * m.rates * 0x1p-24, 0});
}

const struct workload workload = {"LIB", run};
