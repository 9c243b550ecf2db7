/* sgemm: dense matrix product, register tiling. See README.md. */
#include "host.h"

enum { TILE_N = 16, TILE_M = 128, TILE_K = 8 };

static const struct {
    int m, n, k;
} sizes[WL_SIZES] = {{128, 160, 96}, {384, 320, 288}, {768, 768, 768}, {1024, 1056, 992}};

/* a is m x k, b is n x k, both by columns. */
static void reference(float *c, const float *a, const float *b, int m, int n, int k) {
    for (int column = 0; column < n; column++)
        for (int row = 0; row < m; row++) {
            double sum = 0;
            for (int i = 0; i < k; i++)
                sum += (double)a[row + i * m] * b[column + i * n];
            c[row + column * m] = (float)sum;
        }
}

static void run(struct wl *w) {
    int m = sizes[w->size].m, n = sizes[w->size].n, k = sizes[w->size].k;
    size_t na = (size_t)(m * k), nb = (size_t)(n * k), nc = (size_t)(m * n);
    float *a = WL_ARRAY(w, float, na), *b = WL_ARRAY(w, float, nb);
    wl_random_floats(w, a, na, 0, 1);
    wl_random_floats(w, b, nb, 0, 1);
    CUdeviceptr d_a = wl_upload(w, a, na * sizeof *a), d_b = wl_upload(w, b, nb * sizeof *b);
    CUdeviceptr d_c = wl_alloc(w, nc * sizeof(float));
    float alpha = 1, beta = 0;
    WL_LAUNCH(w, "sgemm_nt", wl_dim((unsigned)(m / TILE_M), (unsigned)(n / TILE_N)), wl_dim(TILE_N, TILE_K),
              0, &d_a, &m, &d_b, &n, &d_c, &m, &k, &alpha, &beta);
    float *got = WL_ARRAY(w, float, nc), *want = WL_ARRAY(w, float, nc);
    wl_get(w, got, d_c, nc * sizeof *got);
    if (w->check)
        reference(want, a, b, m, n, k);
    /* a running sum of positive terms: one rounding for each, relative to a sum not larger than the last */
    wl_check_f32(w, "c", got, want, nc, (struct wl_tolerance){k * 0x1p-24, 0});
}

const struct workload workload = {"sgemm", run};
