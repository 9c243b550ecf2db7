/* histo: a large saturating histogram of an image whose values crowd in a small part of it. See README.md. */
#include "host.h"

enum { PRESCAN_THREADS = 512, MAIN_THREADS = 768, FINAL_THREADS = 512, WINDOW = 24 * 1024, ROWS = 16 };

static const struct {
    int width, height;        /* image */
    int bins_x, bins_y;       /* histogram */
    int spread_x, spread_y;   /* half the extent of the spot, in bins */
    int prescan, main, final; /* blocks of the kernels, along x */
    int iterations;
} sizes[WL_SIZES] = {
    {160, 96, 128, 512, 8, 8, 3, 2, 4, 1},
    {498, 520, 256, 1024, 32, 32, 16, 14, 42, 2},
    {996, 1040, 256, 4096, 64, 32, 64, 14, 42, 5},
    {996, 1040, 256, 4096, 64, 32, 64, 14, 42, 20},
};

/* About normal: the mean of four random numbers, within +-spread. */
static int bell(struct wl *w, int spread) {
    uint32_t sum = 0;
    for (int i = 0; i < 4; i++)
        sum += wl_random_below(w, (uint32_t)(2 * spread + 1));
    return (int)(sum / 4) - spread;
}

/* Bins of pixels: a spot in the middle of the two-dimensional histogram, and one in 64 anywhere. */
static void make_values(struct wl *w, unsigned *values, size_t n) {
    int bins_x = sizes[w->size].bins_x, bins_y = sizes[w->size].bins_y;
    for (size_t i = 0; i < n; i++) {
        int x = bins_x / 2 + bell(w, sizes[w->size].spread_x),
            y = bins_y / 2 + bell(w, sizes[w->size].spread_y);
        values[i] = (unsigned)(y * bins_x + x);
        if (wl_random_below(w, 64) == 0)
            values[i] = wl_random_below(w, (uint32_t)(bins_x * bins_y));
    }
}

struct buffers {
    CUdeviceptr values, places, range, parts, outside, histogram;
};

static void histogram(struct wl *w, struct buffers *b, int n, int bins) {
    int width = sizes[w->size].width, height = sizes[w->size].height, count = sizes[w->size].main;
    unsigned range[2] = {(unsigned)bins, 0};
    wl_put(w, b->range, range, sizeof range);
    WL_LAUNCH(w, "histo_prescan", wl_dim((unsigned)sizes[w->size].prescan, 1), wl_dim(PRESCAN_THREADS, 1), 0,
              &b->range, &b->values, &n, &bins);
    wl_get(w, range, b->range, sizeof range);
    WL_LAUNCH(w, "histo_locate", wl_dim(wl_blocks((unsigned)height, ROWS), 1), wl_dim((unsigned)width / 2, 1),
              0, &b->places, &b->values, &width, &height);
    unsigned first = range[0] / WINDOW, windows = range[1] / WINDOW - first + 1;
    wl_fill(w, b->outside, 0, (size_t)bins * sizeof(unsigned));
    WL_LAUNCH(w, "histo_main", wl_dim((unsigned)count, windows), wl_dim(MAIN_THREADS, 1), 0, &b->parts,
              &b->outside, &b->places, &n, &first, &windows);
    int words = bins / 4, first_window = (int)first, n_windows = (int)windows;
    WL_LAUNCH(w, "histo_final", wl_dim((unsigned)sizes[w->size].final, 1), wl_dim(FINAL_THREADS, 1), 0,
              &b->histogram, &b->parts, &b->outside, &words, &count, &first_window, &n_windows);
}

static void run(struct wl *w) {
    int n = sizes[w->size].width * sizes[w->size].height,
        bins = sizes[w->size].bins_x * sizes[w->size].bins_y;
    int iterations = wl_option(w, "iterations", sizes[w->size].iterations);
    unsigned *values = WL_ARRAY(w, unsigned, n);
    make_values(w, values, (size_t)n);
    size_t bytes = (size_t)n * sizeof *values, all_windows = (size_t)bins / WINDOW + 1;
    struct buffers b = {
        .values = wl_upload(w, values, bytes),
        .places = wl_alloc(w, bytes),
        .range = wl_alloc(w, 2 * sizeof(unsigned)),
        .parts = wl_alloc(w, all_windows * (size_t)sizes[w->size].main * WINDOW),
        .outside = wl_alloc(w, (size_t)bins * sizeof(unsigned)),
        .histogram = wl_alloc(w, (size_t)bins),
    };
    for (int i = 0; i < iterations; i++)
        histogram(w, &b, n, bins);

    unsigned char *got = WL_ARRAY(w, unsigned char, bins), *want = WL_ARRAY(w, unsigned char, bins);
    wl_get(w, got, b.histogram, (size_t)bins);
    for (int i = 0; w->check && i < n; i++)
        if (want[values[i]] < 255)
            want[values[i]]++;
    wl_check_bytes(w, "bin", got, want, (size_t)bins);
}

const struct workload workload = {"histo", run};
