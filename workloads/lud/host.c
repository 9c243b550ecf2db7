/* lud: LU decomposition of a dense matrix without pivoting. See README.md. */
#include "host.h"

enum { TILE = 16 };

static const int sides[WL_SIZES] = {96, 256, 768, 2048};

/* A matrix that is constant along diagonals and falls off away from the main one: positive definite. */
static void toeplitz(struct wl *w, float *m, int n) {
    float *value = WL_ARRAY(w, float, n), v = 10;
    for (int i = 0; i < n; i++, v *= 0.99f)
        value[i] = v;
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++)
            m[(size_t)y * (size_t)n + (size_t)x] = value[y > x ? y - x : x - y];
}

static void reference(double *m, int n) {
    for (int k = 0; k < n; k++)
        for (int y = k + 1; y < n; y++) {
            double *row = m + (size_t)y * (size_t)n;
            const double *pivot = m + (size_t)k * (size_t)n;
            double factor = row[k] /= pivot[k];
            for (int x = k + 1; x < n; x++)
                row[x] -= factor * pivot[x];
        }
}

static void decompose(struct wl *w, CUdeviceptr m, int n) {
    int offset = 0;
    for (; offset < n - TILE; offset += TILE) {
        unsigned rest = (unsigned)((n - offset) / TILE - 1);
        WL_LAUNCH(w, "lud_diagonal", wl_dim(1, 1), wl_dim(TILE, 1), 0, &m, &n, &offset);
        WL_LAUNCH(w, "lud_perimeter", wl_dim(rest, 1), wl_dim(2 * TILE, 1), 0, &m, &n, &offset);
        WL_LAUNCH(w, "lud_internal", wl_dim(rest, rest), wl_dim(TILE, TILE), 0, &m, &n, &offset);
    }
    WL_LAUNCH(w, "lud_diagonal", wl_dim(1, 1), wl_dim(TILE, 1), 0, &m, &n, &offset);
}

static void run(struct wl *w) {
    int n = wl_option(w, "side", sides[w->size]);
    if (n < TILE || n % TILE)
        wl_fail(w, "side must be a multiple of %d", TILE);
    size_t cells = (size_t)n * (size_t)n;
    float *m = WL_ARRAY(w, float, cells), *got = WL_ARRAY(w, float, cells);
    toeplitz(w, m, n);
    CUdeviceptr d_m = wl_upload(w, m, cells * sizeof *m);
    decompose(w, d_m, n);
    wl_get(w, got, d_m, cells * sizeof *got);
    if (w->check) {
        double *exact = WL_ARRAY(w, double, cells);
        for (size_t i = 0; i < cells; i++)
            exact[i] = m[i];
        reference(exact, n);
        for (size_t i = 0; i < cells; i++)
            m[i] = (float)exact[i];
    }
    /* the first eliminations cancel entries near 10 down to pivots near 0.2, which magnifies some 16
     * roundings 50 times; each of the rest, at most n, adds one */
    wl_check_f32(w, "factor", got, m, cells, (struct wl_tolerance){(16 * 50 + n) * 0x1p-24, 1});
}

const struct workload workload = {"lud", run};
