/* hybridsort: sorting floats by buckets and merging. See README.md. */
#include "host.h"
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 1024, HISTOGRAM_BLOCK = 96, COUNT_BLOCK = 32, BAND = 128, PREFIX_BLOCK = 128 };
enum { SORT_BLOCK = 256, MERGE_BLOCK = 208, PACK_BLOCK = 256 };

static const struct {
    int n, histogram_blocks;
} sizes[WL_SIZES] = {{4096, 2}, {1 << 17, 16}, {1 << 20, 64}, {1 << 22, 64}};

static int compare_floats(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

struct range {
    float least, most, scale;
};

static struct range find_range(const float *v, int n) {
    struct range r = {v[0], v[0], 0};
    for (int i = 1; i < n; i++) {
        r.least = v[i] < r.least ? v[i] : r.least;
        r.most = v[i] > r.most ? v[i] : r.most;
    }
    r.scale = BUCKETS / (r.most - r.least);
    return r;
}

static void histogram(struct wl *w, CUdeviceptr d_in, const float *in, int n, int blocks, struct range r,
                      int *bins) {
    CUdeviceptr d_bins = wl_alloc(w, BUCKETS * sizeof(int));
    WL_LAUNCH(w, "hs_histogram", wl_dim((unsigned)blocks, 1), wl_dim(HISTOGRAM_BLOCK, 1), 0, &d_in, &n,
              &r.least, &r.scale, &d_bins);
    wl_get(w, bins, d_bins, BUCKETS * sizeof(int));
    int *want = WL_ARRAY(w, int, BUCKETS);
    for (int i = 0; i < n; i++) {
        int bin = (int)((in[i] - r.least) * r.scale);
        want[bin >= BUCKETS ? BUCKETS - 1 : bin]++;
    }
    wl_check_int(w, "bin", bins, want, BUCKETS);
}

/* Pivot k has (k + 1) / BUCKETS of the numbers below it, as far as the histogram tells; numbers are taken to
 * be spread evenly over a bin. The last one is above all numbers. */
static void choose_pivots(const int *bins, int n, struct range r, float *pivots) {
    double below = 0;
    int bin = 0;
    for (int k = 0; k < BUCKETS - 1; k++) {
        double wanted = (double)n * (k + 1) / BUCKETS;
        while (bin < BUCKETS - 1 && below + bins[bin] <= wanted)
            below += bins[bin++];
        double part = bins[bin] ? (wanted - below) / bins[bin] : 0;
        pivots[k] = (float)(r.least + (bin + part) / r.scale);
    }
    pivots[BUCKETS - 1] = 3e38f;
}

/* Where each bucket starts, in groups of four; the number of groups and the longest bucket's. */
struct layout {
    int start[BUCKETS + 1], packed[BUCKETS], size[BUCKETS];
    int groups, longest;
};

static void lay_out(struct wl *w, struct layout *l, CUdeviceptr d_totals) {
    int packed = 0;
    wl_get(w, l->size, d_totals, sizeof l->size);
    for (int b = 0; b < BUCKETS; b++) {
        int groups = (l->size[b] + 3) / 4;
        l->start[b] = l->groups;
        l->packed[b] = packed;
        packed += l->size[b];
        l->groups += groups;
        l->longest = groups > l->longest ? groups : l->longest;
    }
    l->start[BUCKETS] = l->groups;
    wl_symbol(w, "hs_start", l->start, sizeof l->start);
    wl_symbol(w, "hs_packed", l->packed, sizeof l->packed);
    wl_symbol(w, "hs_size", l->size, sizeof l->size);
}

/* Spreads the numbers over the buckets; what pads a bucket is larger than any number. */
static CUdeviceptr spread(struct wl *w, CUdeviceptr d_in, int n, CUtexObject pivots, struct layout *l) {
    unsigned blocks = wl_blocks((unsigned)n, COUNT_BLOCK * BAND);
    int n_blocks = (int)blocks;
    CUdeviceptr d_places = wl_alloc(w, (size_t)n * sizeof(int)),
                d_counts = wl_alloc(w, (size_t)blocks * BUCKETS * sizeof(int)),
                d_totals = wl_alloc(w, BUCKETS * sizeof(int));
    WL_LAUNCH(w, "hs_count", wl_dim(blocks, 1), wl_dim(COUNT_BLOCK, 1), 0, &d_in, &n, &pivots, &d_places,
              &d_counts);
    WL_LAUNCH(w, "hs_prefix", wl_dim(BUCKETS / PREFIX_BLOCK, 1), wl_dim(PREFIX_BLOCK, 1), 0, &d_counts,
              &d_totals, &n_blocks);
    lay_out(w, l, d_totals);
    CUdeviceptr d_groups = wl_alloc(w, (size_t)l->groups * 4 * sizeof(float));
    wl_fill(w, d_groups, 0x7f, (size_t)l->groups * 4 * sizeof(float));
    WL_LAUNCH(w, "hs_scatter", wl_dim(blocks, 1), wl_dim(COUNT_BLOCK, 1), 0, &d_in, &n, &d_places, &d_counts,
              &d_groups);
    return d_groups;
}

/* Sorts each bucket; returns where the result is. */
static CUdeviceptr merge(struct wl *w, CUdeviceptr d_groups, struct layout *l) {
    size_t bytes = (size_t)l->groups * 4 * sizeof(float);
    CUdeviceptr d[2] = {d_groups, wl_alloc(w, bytes)};
    CUtexObject in[2];
    for (int k = 0; k < 2; k++)
        in[k] = wl_texture_1d(w, d[k], bytes, CU_AD_FORMAT_FLOAT, 4);
    int now = 1;
    WL_LAUNCH(w, "hs_sort_groups", wl_dim(wl_blocks((unsigned)l->groups, SORT_BLOCK), 1),
              wl_dim(SORT_BLOCK, 1), 0, &in[0], &d[1], &l->groups);
    for (int length = 1; length < l->longest; length *= 2, now ^= 1) {
        int pairs = (l->longest + 2 * length - 1) / (2 * length);
        WL_LAUNCH(w, "hs_merge", wl_dim(wl_blocks((unsigned)(pairs * BUCKETS), MERGE_BLOCK), 1),
                  wl_dim(MERGE_BLOCK, 1), 0, &in[now], &d[!now], &length, &pairs);
    }
    return d[now];
}

static void run(struct wl *w) {
    int n = wl_option(w, "n", sizes[w->size].n);
    size_t bytes = (size_t)n * sizeof(float);
    float *in = WL_ARRAY(w, float, n), *got = WL_ARRAY(w, float, n), *pivots = WL_ARRAY(w, float, BUCKETS);
    int bins[BUCKETS];
    for (int i = 0; i < n; i++) {
        float v = wl_random_float(w, 0, 1);
        in[i] = v * v; /* more small ones than large ones */
    }
    struct range r = find_range(in, n);
    CUdeviceptr d_in = wl_upload(w, in, bytes), d_out = wl_alloc(w, bytes);
    histogram(w, d_in, in, n, sizes[w->size].histogram_blocks, r, bins);
    choose_pivots(bins, n, r, pivots);
    size_t pivot_bytes = BUCKETS * sizeof(float);
    CUtexObject texture =
        wl_texture_1d(w, wl_upload(w, pivots, pivot_bytes), pivot_bytes, CU_AD_FORMAT_FLOAT, 1);
    static struct layout l;
    CUdeviceptr d_sorted = merge(w, spread(w, d_in, n, texture, &l), &l);
    WL_LAUNCH(w, "hs_pack", wl_dim(wl_blocks((unsigned)l.longest * 4, PACK_BLOCK), BUCKETS),
              wl_dim(PACK_BLOCK, 1), 0, &d_sorted, &d_out);
    wl_get(w, got, d_out, bytes);
    if (w->check)
        qsort(in, (size_t)n, sizeof(float), compare_floats);
    wl_check_same(w, "sorted numbers", WL_F32, got, in, (size_t)n);
}

const struct workload workload = {"hybridsort", run};
