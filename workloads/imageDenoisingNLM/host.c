/* imageDenoisingNLM: non-local means of a noisy colour image. See README.md. */
#include "host.h"
#include <math.h>

enum { BLOCK = 16 };

static const struct {
    int width, height;
    int radius; /* of window and patch: 3 or 1 */
} sizes[WL_SIZES] = {{48, 48, 1}, {48, 48, 3}, {176, 176, 3}, {320, 408, 3}};

static const float noise = 1 / (0.32f * 0.32f), keep = 0.2f;

struct image {
    int width, height;
    unsigned char *rgba;
};

/* A scene in slowly changing tints, with sensor noise that differs between the colours. */
static struct image make_image(struct wl *w, int width, int height) {
    size_t n = (size_t)width * (size_t)height;
    struct image m = {width, height, WL_ARRAY(w, unsigned char, 4 * n)};
    unsigned char *grey = WL_ARRAY(w, unsigned char, n);
    float *tint = WL_ARRAY(w, float, n);
    wl_image(w, grey, width, height);
    for (size_t c = 0; c < 3; c++) {
        wl_smooth_field(w, tint, width, height, 24, 0.6f, 1.1f);
        for (size_t i = 0; i < n; i++) {
            float v = (float)grey[i] * tint[i] + wl_random_float(w, -15, 15);
            m.rgba[4 * i + c] = (unsigned char)(v < 0 ? 0 : v > 255 ? 255 : v);
        }
    }
    return m;
}

static int clamp(int i, int n) {
    return i < 0 ? 0 : i >= n ? n - 1 : i;
}

static const unsigned char *pixel(const struct image *m, int x, int y) {
    return m->rgba + 4 * ((size_t)clamp(y, m->height) * (size_t)m->width + (size_t)clamp(x, m->width));
}

static double patch_distance(const struct image *m, int x, int y, int u, int v, int radius) {
    int sum = 0;
    for (int j = -radius; j <= radius; j++)
        for (int i = -radius; i <= radius; i++)
            for (int c = 0; c < 3; c++) {
                int d = pixel(m, x + i, y + j)[c] - pixel(m, u + i, v + j)[c];
                sum += d * d;
            }
    return sum / (255.0 * 255.0);
}

/* `got` if v, good to `error` levels, may round down to it; otherwise v rounded down. */
static unsigned char settle(unsigned char got, double v, double error) {
    return got == floor(v - error) || got == floor(v + error) ? got : (unsigned char)v;
}

/* What pixel (x, y) must be, in `want`. The kernel's weights are good to 2^-19: a distance of 147 squares
 * sums 147 roundings, but weights above the threshold have exponents below 3, and __expf adds 2^-21. Weights
 * are positive, so their mean is as good: 255 x 2^-19 levels. Whether the pixel has enough like it is
 * undecided where one of its weights is that close to the threshold; then either blend will do. */
static void reference_pixel(const struct image *m, int x, int y, int radius, const unsigned char *got,
                            unsigned char *want) {
    int area = (2 * radius + 1) * (2 * radius + 1), surely = 0, maybe = 0;
    double sum[3] = {0}, weights = 0, close = 0x1p-19;
    for (int j = -radius; j <= radius; j++)
        for (int i = -radius; i <= radius; i++) {
            double weight = exp(
                -(patch_distance(m, x, y, x + i, y + j, radius) * noise + (double)(i * i + j * j) / area));
            for (int c = 0; c < 3; c++)
                sum[c] += weight * pixel(m, x + i, y + j)[c];
            weights += weight;
            surely += weight > 0.10 + close;
            maybe += weight > 0.10 - close;
        }
    for (int c = 0; c < 3; c++) {
        double mean = sum[c] / weights, here = pixel(m, x, y)[c];
        double alike = mean + (here - mean) * keep, unlike = mean + (here - mean) * (1.0 - keep);
        bool surely_alike = surely > 0.10 * area, maybe_alike = maybe > 0.10 * area;
        want[c] = settle(got[c], surely_alike ? alike : unlike, 255 * close);
        if (want[c] != got[c] && maybe_alike != surely_alike)
            want[c] = settle(got[c], alike, 255 * close);
    }
    want[3] = 0;
}

static void run(struct wl *w) {
    int width = sizes[w->size].width, height = sizes[w->size].height, radius = sizes[w->size].radius;
    size_t n = (size_t)width * (size_t)height;
    struct image m = make_image(w, width, height);
    CUtexObject image = wl_texture_2d(w, m.rgba, width, height, CU_AD_FORMAT_UNSIGNED_INT8, 4,
                                      (struct wl_sampling){.as_float = true});
    CUdeviceptr d_out = wl_alloc(w, 4 * n);
    float h = noise, k = keep;
    WL_LAUNCH(w, radius == 3 ? "nlm_denoise" : "nlm_denoise_narrow",
              wl_dim(wl_blocks((unsigned)width, BLOCK), wl_blocks((unsigned)height, BLOCK)),
              wl_dim(BLOCK, BLOCK), 0, &d_out, &width, &height, &h, &k, &image);

    unsigned char *got = WL_ARRAY(w, unsigned char, 4 * n), *want = WL_ARRAY(w, unsigned char, 4 * n);
    wl_get(w, got, d_out, 4 * n);
    for (size_t i = 0; w->check && i < n; i++)
        reference_pixel(&m, (int)i % width, (int)i / width, radius, got + 4 * i, want + 4 * i);
    wl_check_bytes(w, "colour", got, want, 4 * n);
}

const struct workload workload = {"imageDenoisingNLM", run};
