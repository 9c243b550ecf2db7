/* reduction: the sum of an array of integers. See README.md. */
#include "host.h"

enum { THREADS = 256, MAX_BLOCKS = 64 };

static const int lengths[WL_SIZES] = {1 << 19, 1 << 23, 1 << 24, 1 << 24};

/* The kernels, how many elements a block takes at once, and how many blocks may share the array. */
static const struct {
    const char *name;
    unsigned per_block, most_blocks;
} kernels[] = {{"reduction_modulo", THREADS, ~0u},
               {"reduction_sequential", 2 * THREADS, ~0u},
               {"reduction_grid", 2 * THREADS, MAX_BLOCKS}};

static void run(struct wl *w) {
    int n = wl_option(w, "elements", lengths[w->size]), kernel = wl_option(w, "kernel", 2);
    if (n < 1 || kernel < 0 || kernel > 2)
        wl_fail(w, "elements must be positive, kernel 0 to 2");
    int *values = WL_ARRAY(w, int, n), sum = 0, got;
    for (int i = 0; i < n; i++) {
        values[i] = (int)wl_random_below(w, 256);
        sum = (int)((unsigned)sum + (unsigned)values[i]);
    }
    size_t most = wl_blocks((unsigned)n, THREADS) * sizeof(int);
    CUdeviceptr d_in = wl_upload(w, values, (size_t)n * sizeof(int)),
                d_sums[2] = {wl_alloc(w, most), wl_alloc(w, most)};
    /* each launch leaves as many numbers as it had blocks, for the next */
    int left = n, pass = 0;
    do {
        unsigned blocks = wl_blocks((unsigned)left, kernels[kernel].per_block);
        blocks = blocks < kernels[kernel].most_blocks ? blocks : kernels[kernel].most_blocks;
        WL_LAUNCH(w, kernels[kernel].name, wl_dim(blocks, 1), wl_dim(THREADS, 1), 0,
                  pass ? &d_sums[pass & 1] : &d_in, &d_sums[~pass & 1], &left);
        left = (int)blocks;
        pass++;
    } while (left > 1);
    wl_get(w, &got, d_sums[pass & 1], sizeof got);
    wl_check_int(w, "sum", &got, &sum, 1);
}

const struct workload workload = {"reduction", run};
