/* MonteCarlo: prices of European call options by simulation. See README.md. */
#include "host.h"
#include <math.h>

enum { THREADS = 256, MAX_OPTIONS = 256, NORMAL_BLOCKS = 64, NORMAL_THREADS = 128 };

static const struct {
    int options, paths;
} sizes[WL_SIZES] = {{16, 8192}, {24, 131072}, {256, 262144}, {256, 262144}};

static const double riskless = 0.06, volatility = 0.10;

/* As in the kernel. */
struct option {
    float price, strike, drift, spread;
};

static struct option make_option(struct wl *w) {
    float price = wl_random_float(w, 5, 50), strike = wl_random_float(w, 10, 25);
    double years = wl_random_float(w, 1, 5);
    return (struct option){price, strike, (float)((riskless - 0.5 * volatility * volatility) * years),
                           (float)(volatility * sqrt(years))};
}

/* The same functions as the kernel's, which are inverses of the distribution function to 3e-9. */
static double inverse_normal(double p) {
    static const double a[4] = {2.50662823884, -18.61500062529, 41.39119773534, -25.44106049637};
    static const double b[5] = {1, -8.4735109309, 23.08336743743, -21.06224101826, 3.13082909833};
    static const double c[9] = {0.3374754822726, 0.9761690190917, 0.1607979714918,
                                0.0276438810334, 0.0038405729374, 0.0003951896512,
                                0.0000321767882, 0.0000002888167, 0.0000003960315};
    double y = p - 0.5, top = 0, bottom = 0;
    if (fabs(y) < 0.42) {
        for (int i = 3; i >= 0; i--)
            top = top * y * y + a[i];
        for (int i = 4; i >= 0; i--)
            bottom = bottom * y * y + b[i];
        return y * top / bottom;
    }
    double z = log(-log(p < 0.5 ? p : 1 - p)), sum = 0;
    for (int i = 8; i >= 0; i--)
        sum = sum * z + c[i];
    return p < 0.5 ? -sum : sum;
}

static void reference(const struct option *o, const double *normals, int paths, float *out) {
    double sum = 0, squares = 0;
    for (int i = 0; i < paths; i++) {
        double payoff = fmax(0, o->price * exp(o->drift + o->spread * normals[i]) - o->strike);
        sum += payoff;
        squares += payoff * payoff;
    }
    out[0] = (float)sum;
    out[1] = (float)squares;
}

static void run(struct wl *w) {
    int n = wl_option(w, "options", sizes[w->size].options),
        paths = wl_option(w, "paths", sizes[w->size].paths);
    if (n < 1 || n > MAX_OPTIONS || paths < THREADS)
        wl_fail(w, "options is 1 to %d, paths at least %d", MAX_OPTIONS, THREADS);
    struct option *options = WL_ARRAY(w, struct option, n);
    for (int i = 0; i < n; i++)
        options[i] = make_option(w);
    wl_symbol(w, "monte_options", options, (size_t)n * sizeof *options);
    CUdeviceptr d_normals = wl_alloc(w, (size_t)paths * sizeof(float));
    CUdeviceptr d_results = wl_alloc(w, 2 * (size_t)n * sizeof(float));
    unsigned step = UINT32_MAX / (unsigned)(paths + 1);
    WL_LAUNCH(w, "monte_normals", wl_dim(NORMAL_BLOCKS, 1), wl_dim(NORMAL_THREADS, 1), 0, &d_normals, &paths,
              &step);
    WL_LAUNCH(w, "monte_option", wl_dim((unsigned)n, 1), wl_dim(THREADS, 1), 0, &d_results, &d_normals,
              &paths);

    float *normals = WL_ARRAY(w, float, paths), *want_normals = WL_ARRAY(w, float, paths);
    float *results = WL_ARRAY(w, float, 2 * n), *want = WL_ARRAY(w, float, 2 * n);
    double *exact = WL_ARRAY(w, double, paths);
    wl_get(w, normals, d_normals, (size_t)paths * sizeof *normals);
    wl_get(w, results, d_results, 2 * (size_t)n * sizeof *results);
    for (int i = 0; w->check && i < paths; i++) {
        exact[i] = inverse_normal(((double)((unsigned)(i + 1) * step) + 0.5) * 0x1p-32);
        want_normals[i] = (float)exact[i];
    }
    for (int i = 0; w->check && i < n; i++)
        reference(&options[i], exact, paths, want + 2 * i);
    /* rational function: 2^-24 of p times a slope of up to 5, and 20 roundings; in the tails a logarithm good
     * to 2^-22 of a logarithm of at least 2, times a slope of up to 3 */
    wl_check_f32(w, "normal", normals, want_normals, (size_t)paths, (struct wl_tolerance){32 * 0x1p-24, 1});
    /* sums of positive terms: one rounding for each of a thread's and 8 for the tree, of which they fall
     * evenly on both sides; payoffs good to 2^-20 of the price at most 50, or of 50 x 50 in their squares */
    double roundings = paths / THREADS + 8;
    wl_check_f32(w, "sum", results, want, 2 * (size_t)n,
                 (struct wl_tolerance){(roundings + 64) * 0x1p-24, paths});
}

const struct workload workload = {"MonteCarlo", run};
