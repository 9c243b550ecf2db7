/* scalarProd: scalar products of many pairs of vectors. See README.md. */
#include "host.h"
#include <math.h>

enum { BLOCKS = 128, THREADS = 256, SUMS = 1024 };

static const struct {
    int vectors, elements;
} sizes[WL_SIZES] = {{32, 4096}, {256, 4096}, {256, 4096}, {256, 4096}};

static void run(struct wl *w) {
    int vectors = wl_option(w, "vectors", sizes[w->size].vectors);
    int elements = wl_option(w, "elements", sizes[w->size].elements);
    if (vectors < 1 || elements < 1)
        wl_fail(w, "vectors and elements must be positive");
    size_t n = (size_t)vectors * (size_t)elements;
    float *a = WL_ARRAY(w, float, n), *b = WL_ARRAY(w, float, n);
    wl_random_floats(w, a, n, 0, 1);
    wl_random_floats(w, b, n, 0, 1);

    CUdeviceptr d_a = wl_upload(w, a, n * sizeof(float)), d_b = wl_upload(w, b, n * sizeof(float)),
                d_products = wl_alloc(w, (size_t)vectors * sizeof(float));
    unsigned blocks = vectors < BLOCKS ? (unsigned)vectors : BLOCKS;
    WL_LAUNCH(w, "scalar_products", wl_dim(blocks, 1), wl_dim(THREADS, 1), 0, &d_products, &d_a, &d_b,
              &vectors, &elements);
    float *got = WL_ARRAY(w, float, vectors), *want = WL_ARRAY(w, float, vectors);
    wl_get(w, got, d_products, (size_t)vectors * sizeof(float));
    for (int v = 0; w->check && v < vectors; v++) {
        double sum = 0;
        for (size_t i = (size_t)v * (size_t)elements; i < (size_t)(v + 1) * (size_t)elements; i++)
            sum += (double)a[i] * b[i];
        want[v] = (float)sum;
    }
    /* A product rounds once, then once for each of the additions of its partial sum and of the tree's ten
     * levels; the result is rounded once more for the comparison. No term is negative. */
    double roundings = 1 + ceil((double)elements / SUMS) + 10 + 1;
    wl_check_f32(w, "product", got, want, (size_t)vectors, (struct wl_tolerance){roundings * 0x1p-24, 0});
}

const struct workload workload = {"scalarProd", run};
