/* kmeans: clusters of points in 34 dimensions; the new centres are computed on the host. See README.md. */
#include "host.h"
#include <string.h>

enum { THREADS = 256, CENTRES = 5, FEATURES = 34, KINDS = 23 };

static const struct {
    int points, iterations;
} sizes[WL_SIZES] = {{1024, 2}, {8192, 4}, {65536, 8}, {494020, 10}};

/* Points of a few kinds that differ in some features, as records of network connections do: many features are
 * zero, the others quantised, some kinds far more frequent. */
static void make_points(struct wl *w, float *points, int n) {
    float kinds[KINDS][FEATURES];
    for (int k = 0; k < KINDS; k++)
        for (int f = 0; f < FEATURES; f++)
            kinds[k][f] = wl_random_below(w, 3) ? 0 : (float)wl_random_below(w, 256) / 256;
    for (int i = 0; i < n; i++) {
        uint32_t most = 1 + wl_random_below(w, KINDS);
        const float *kind = kinds[wl_random_below(w, most)];
        for (int f = 0; f < FEATURES; f++) {
            float noise = wl_random_below(w, 4) ? 0 : (float)wl_random_below(w, 16) / 256;
            points[(size_t)i * FEATURES + (size_t)f] = kind[f] + noise;
        }
    }
}

static float distance(const float *point, const float *centre) {
    float sum = 0;
    for (int f = 0; f < FEATURES; f++)
        sum += (point[f] - centre[f]) * (point[f] - centre[f]);
    return sum;
}

/* A tie may go either way, so the distance to the chosen centre is compared with the least distance. */
static void check_membership(struct wl *w, const float *points, const float *centres, const int *member,
                             int n) {
    float *chosen = WL_ARRAY(w, float, n), *least = WL_ARRAY(w, float, n);
    for (int i = 0; w->check && i < n; i++) {
        const float *point = points + (size_t)i * FEATURES;
        if (member[i] < 0 || member[i] >= CENTRES)
            wl_fail(w, "membership[%d] is %d", i, member[i]);
        chosen[i] = distance(point, centres + member[i] * FEATURES);
        least[i] = distance(point, centres);
        for (int c = 1; c < CENTRES; c++) {
            float d = distance(point, centres + c * FEATURES);
            least[i] = d < least[i] ? d : least[i];
        }
    }
    /* a distance is a sum of 34 squares: 3 roundings each here and on the GPU, all terms positive */
    wl_check_f32(w, "distance", chosen, least, (size_t)n,
                 (struct wl_tolerance){2 * (FEATURES + 3) * 0x1p-24, 0});
}

static void move_centres(float *centres, const float *points, const int *member, int n) {
    double sum[CENTRES][FEATURES] = {0};
    int count[CENTRES] = {0};
    for (int i = 0; i < n; i++) {
        count[member[i]]++;
        for (int f = 0; f < FEATURES; f++)
            sum[member[i]][f] += points[(size_t)i * FEATURES + (size_t)f];
    }
    for (int c = 0; c < CENTRES; c++)
        for (int f = 0; count[c] && f < FEATURES; f++)
            centres[c * FEATURES + f] = (float)(sum[c][f] / count[c]);
}

static void run(struct wl *w) {
    int n = sizes[w->size].points, iterations = wl_option(w, "iterations", sizes[w->size].iterations);
    int features = FEATURES, k = CENTRES;
    size_t bytes = (size_t)n * FEATURES * sizeof(float);
    float *points = WL_ARRAY(w, float, (size_t)n *FEATURES), centres[CENTRES * FEATURES];
    int *member = WL_ARRAY(w, int, n);
    make_points(w, points, n);
    memcpy(centres, points, sizeof centres);

    CUdeviceptr d_points = wl_upload(w, points, bytes), d_inverted = wl_alloc(w, bytes);
    CUdeviceptr d_member = wl_alloc(w, (size_t)n * sizeof(int));
    struct wl_dim grid = wl_dim(wl_blocks((unsigned)n, THREADS), 1), block = wl_dim(THREADS, 1);
    WL_LAUNCH(w, "kmeans_invert", grid, block, 0, &d_points, &d_inverted, &n, &features);
    CUtexObject texture = wl_texture_1d(w, d_inverted, bytes, CU_AD_FORMAT_FLOAT, 1);
    for (int it = 0; it < iterations; it++) {
        wl_symbol(w, "kmeans_centres", centres, sizeof centres);
        WL_LAUNCH(w, "kmeans_nearest", grid, block, 0, &texture, &features, &n, &k, &d_member);
        wl_get(w, member, d_member, (size_t)n * sizeof(int));
        check_membership(w, points, centres, member, n);
        if (it < iterations - 1)
            move_centres(centres, points, member, n);
    }
}

const struct workload workload = {"kmeans", run};
