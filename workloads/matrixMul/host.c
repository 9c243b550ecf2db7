/* matrixMul: dense matrix product by 32x32 tiles. See README.md. */
#include "host.h"

enum { TILE = 32 };

static const struct {
    int a_rows, a_columns, b_columns;
} sizes[WL_SIZES] = {{64, 64, 128}, {192, 192, 384}, {320, 320, 640}, {320, 320, 640}};

static void reference(float *c, const float *a, const float *b, int rows, int inner, int columns) {
    for (int y = 0; y < rows; y++)
        for (int x = 0; x < columns; x++) {
            double sum = 0;
            for (int k = 0; k < inner; k++)
                sum += (double)a[y * inner + k] * b[k * columns + x];
            c[y * columns + x] = (float)sum;
        }
}

static void run(struct wl *w) {
    int rows = sizes[w->size].a_rows, inner = sizes[w->size].a_columns, columns = sizes[w->size].b_columns;
    size_t na = (size_t)(rows * inner), nb = (size_t)(inner * columns), nc = (size_t)(rows * columns);
    float *a = WL_ARRAY(w, float, na), *b = WL_ARRAY(w, float, nb);
    if (wl_option(w, "constant", 0)) {
        for (size_t i = 0; i < na; i++)
            a[i] = 1;
        for (size_t i = 0; i < nb; i++)
            b[i] = 0.01f;
    } else {
        wl_random_floats(w, a, na, 0, 1);
        wl_random_floats(w, b, nb, 0, 1);
    }
    CUdeviceptr d_a = wl_upload(w, a, na * sizeof *a), d_b = wl_upload(w, b, nb * sizeof *b);
    CUdeviceptr d_c = wl_alloc(w, nc * sizeof(float));
    WL_LAUNCH(w, "matrixMul", wl_dim((unsigned)(columns / TILE), (unsigned)(rows / TILE)), wl_dim(TILE, TILE),
              0, &d_c, &d_a, &d_b, &inner, &columns);
    float *got = WL_ARRAY(w, float, nc), *want = WL_ARRAY(w, float, nc);
    wl_get(w, got, d_c, nc * sizeof *got);
    if (w->check)
        reference(want, a, b, rows, inner, columns);
    /* a running sum of positive terms: one rounding for each, relative to a sum not larger than the last */
    wl_check_f32(w, "c", got, want, nc, (struct wl_tolerance){inner * 0x1p-24, 0});
}

const struct workload workload = {"matrixMul", run};
