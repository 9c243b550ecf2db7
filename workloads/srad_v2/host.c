/* srad_v2: speckle-reducing anisotropic diffusion by tiles. See README.md. */
#include "host.h"
#include <string.h>

enum { TILE = 16 };

static const struct { int side, iterations; } sizes[WL_SIZES] = {{64, 3}, {256, 3}, {1024, 4}, {2048, 2}};

static const float lambda = 0.5f;

/* Squared coefficient of variation in the region of interest, the upper left corner of the image. */
static float speckle(const float *j, int side, int region) {
    double sum = 0, squares = 0, n = (double)region * region;
    for (int y = 0; y < region; y++)
        for (int x = 0; x < region; x++) {
            double v = j[y * side + x];
            sum += v;
            squares += v * v;
        }
    double mean = sum / n;
    return (float)((squares / n - mean * mean) / (mean * mean));
}

static float at(const float *v, int n, int y, int x) {
    y = y < 0 ? 0 : y >= n ? n - 1 : y;
    x = x < 0 ? 0 : x >= n ? n - 1 : x;
    return v[(size_t)y * (size_t)n + (size_t)x];
}

static float coefficient(const float *j, int n, int y, int x, float q0) {
    float c = at(j, n, y, x);
    float up = at(j, n, y - 1, x) - c, down = at(j, n, y + 1, x) - c;
    float left = at(j, n, y, x - 1) - c, right = at(j, n, y, x + 1) - c;
    float g2 = (up * up + down * down + left * left + right * right) / (c * c),
          l = (up + down + left + right) / c;
    float den = 1 + 0.25f * l, q = (0.5f * g2 - (1.0f / 16) * (l * l)) / (den * den);
    float k = 1 / (1 + (q - q0) / (q0 * (1 + q0)));
    return k < 0 ? 0 : k > 1 ? 1 : k;
}

static void reference_iteration(float *next, float *k, const float *j, int n, float q0) {
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++)
            k[(size_t)y * (size_t)n + (size_t)x] = coefficient(j, n, y, x, q0);
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            float c = at(j, n, y, x), here = at(k, n, y, x);
            float d = here * (at(j, n, y - 1, x) - c) + at(k, n, y + 1, x) * (at(j, n, y + 1, x) - c) +
                      here * (at(j, n, y, x - 1) - c) + at(k, n, y, x + 1) * (at(j, n, y, x + 1) - c);
            next[(size_t)y * (size_t)n + (size_t)x] = c + 0.25f * lambda * d;
        }
}

static void run(struct wl *w) {
    int n = wl_option(w, "side", sizes[w->size].side);
    int iterations = wl_option(w, "iterations", sizes[w->size].iterations);
    if (n < TILE || n % TILE)
        wl_fail(w, "side must be a multiple of %d", TILE);
    size_t pixels = (size_t)n * (size_t)n, bytes = pixels * sizeof(float);
    int region = n < 128 ? n : 128;
    float *j = WL_ARRAY(w, float, pixels), *want = WL_ARRAY(w, float, pixels);
    for (size_t i = 0; i < pixels; i++)
        j[i] = want[i] = wl_exp(wl_random_float(w, 0, 1));

    CUdeviceptr d_image = wl_upload(w, j, bytes), d_c = wl_alloc(w, bytes), d[4];
    for (int i = 0; i < 4; i++)
        d[i] = wl_alloc(w, bytes);
    struct wl_dim grid = wl_dim((unsigned)(n / TILE), (unsigned)(n / TILE)), block = wl_dim(TILE, TILE);
    float *next = WL_ARRAY(w, float, pixels), *k = WL_ARRAY(w, float, pixels);
    for (int it = 0; it < iterations; it++) {
        float q0 = speckle(j, n, region), l = lambda;
        WL_LAUNCH(w, "srad2_gradient", grid, block, 0, &d[0], &d[1], &d[2], &d[3], &d_image, &d_c, &n, &q0);
        WL_LAUNCH(w, "srad2_update", grid, block, 0, &d[0], &d[1], &d[2], &d[3], &d_image, &d_c, &n, &l);
        wl_get(w, j, d_image, bytes);
        if (w->check) {
            reference_iteration(next, k, want, n, q0);
            memcpy(want, next, bytes);
        }
    }
    /* values lie between 1 and e; a step has about 20 roundings, halved by the coefficient and lambda / 4
     */
    wl_check_f32(w, "pixel", j, want, pixels, (struct wl_tolerance){10 * iterations * 0x1p-24, 0});
}

const struct workload workload = {"srad_v2", run};
