/* gaussian: a system of linear equations by elimination; the triangle is solved on the host. See README.md.
 */
#include "host.h"

enum { LINE = 512, PATCH = 4 };

static const int sides[WL_SIZES] = {40, 128, 288, 1024};

static void make_system(struct wl *w, float *m, float *rhs, int n) {
    float *value = WL_ARRAY(w, float, n), v = 10;
    for (int i = 0; i < n; i++, v *= 0.99f)
        value[i] = v;
    for (int y = 0; y < n; y++) {
        rhs[y] = 1;
        for (int x = 0; x < n; x++)
            m[y * n + x] = value[y > x ? y - x : x - y];
    }
}

static void reference(double *m, double *rhs, int n) {
    for (int k = 0; k < n; k++)
        for (int y = k + 1; y < n; y++) {
            double factor = m[y * n + k] / m[k * n + k];
            for (int x = k; x < n; x++)
                m[y * n + x] -= factor * m[k * n + x];
            rhs[y] -= factor * rhs[k];
        }
}

static void eliminate(struct wl *w, CUdeviceptr m, CUdeviceptr rhs, int n) {
    CUdeviceptr factors = wl_alloc(w, (size_t)n * (size_t)n * sizeof(float));
    unsigned lines = wl_blocks((unsigned)n, LINE), patches = wl_blocks((unsigned)n, PATCH);
    for (int pivot = 0; pivot < n - 1; pivot++) {
        WL_LAUNCH(w, "gaussian_multipliers", wl_dim(lines, 1), wl_dim(LINE, 1), 0, &factors, &m, &n, &pivot);
        WL_LAUNCH(w, "gaussian_eliminate", wl_dim(patches, patches), wl_dim(PATCH, PATCH), 0, &factors, &m,
                  &rhs, &n, &pivot);
    }
}

static void run(struct wl *w) {
    int n = wl_option(w, "side", sides[w->size]);
    size_t cells = (size_t)n * (size_t)n;
    float *m = WL_ARRAY(w, float, cells), *rhs = WL_ARRAY(w, float, n);
    make_system(w, m, rhs, n);
    CUdeviceptr d_m = wl_upload(w, m, cells * sizeof *m), d_rhs = wl_upload(w, rhs, (size_t)n * sizeof *rhs);
    eliminate(w, d_m, d_rhs, n);
    float *got = WL_ARRAY(w, float, cells), *got_rhs = WL_ARRAY(w, float, n);
    wl_get(w, got, d_m, cells * sizeof *got);
    wl_get(w, got_rhs, d_rhs, (size_t)n * sizeof *got_rhs);
    if (w->check) {
        double *exact = WL_ARRAY(w, double, cells), *exact_rhs = WL_ARRAY(w, double, n);
        for (size_t i = 0; i < cells; i++)
            exact[i] = m[i];
        for (int i = 0; i < n; i++)
            exact_rhs[i] = rhs[i];
        reference(exact, exact_rhs, n);
        for (size_t i = 0; i < cells; i++)
            m[i] = (float)exact[i];
        for (int i = 0; i < n; i++)
            rhs[i] = (float)exact_rhs[i];
    }
    /* the first eliminations cancel entries near 10 down to pivots near 0.2, which magnifies some 16
     * roundings 50 times; each of the rest, at most n, adds one */
    struct wl_tolerance t = {(16 * 50 + n) * 0x1p-24, 1};
    wl_check_f32(w, "matrix", got, m, cells, t);
    wl_check_f32(w, "right-hand side", got_rhs, rhs, (size_t)n, t);
}

const struct workload workload = {"gaussian", run};
