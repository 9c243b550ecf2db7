/* bilateralFilter: edge-preserving smoothing of a colour image. See README.md. */
#include "host.h"
#include <math.h>

enum { BLOCK = 16, MAX_RADIUS = 31 };

static const struct { int width, height; } sizes[WL_SIZES] = {{32, 32}, {160, 128}, {640, 480}, {1024, 1024}};

static const float spread = 0.1f;

struct image {
    int width, height;
    unsigned char *rgba;
};

/* A scene in slowly changing tints, opaque. */
static struct image make_image(struct wl *w, int width, int height) {
    size_t n = (size_t)width * (size_t)height;
    struct image m = {width, height, WL_ARRAY(w, unsigned char, 4 * n)};
    unsigned char *grey = WL_ARRAY(w, unsigned char, n);
    float *tint = WL_ARRAY(w, float, n);
    wl_image(w, grey, width, height);
    for (size_t c = 0; c < 3; c++) {
        wl_smooth_field(w, tint, width, height, 40, 0.6f, 1.1f);
        for (size_t i = 0; i < n; i++) {
            float v = (float)grey[i] * tint[i];
            m.rgba[4 * i + c] = (unsigned char)(v > 255 ? 255 : v);
        }
    }
    for (size_t i = 0; i < n; i++)
        m.rgba[4 * i + 3] = 255;
    return m;
}

/* e^(-x) for x >= 0 from additions, multiplications and divisions alone, the same on every machine. */
static double decay(double x) {
    double sum = 1;
    for (int i = 60; i > 0; i--)
        sum = 1 + sum * x / i;
    return 1 / sum;
}

/* Weights of distances -radius..radius, for a standard deviation of 4 pixels. */
static void make_gaussian(float *gaussian, int radius) {
    for (int i = -radius; i <= radius; i++)
        gaussian[i + radius] = (float)decay(i * i / 32.0);
}

static int clamp(int i, int n) {
    return i < 0 ? 0 : i >= n ? n - 1 : i;
}

static const unsigned char *pixel(const struct image *m, int x, int y) {
    return m->rgba + 4 * ((size_t)clamp(y, m->height) * (size_t)m->width + (size_t)clamp(x, m->width));
}

/* What pixel (x, y) must be, in `want`. A weight is good to 2^-18 of itself: __expf of exponents down to -16,
 * beyond which weights do not count, rounds its scaled argument to 2^-20. A mean of positive weights is twice
 * as bad. Where the value is that close to the next level, either level will do. */
static void reference_pixel(const struct image *m, int x, int y, const float *gaussian, int radius,
                            const unsigned char *got, unsigned char *want) {
    double sum[4] = {0}, weights = 0, error = 255 * 0x1p-17;
    const unsigned char *centre = pixel(m, x, y);
    for (int j = -radius; j <= radius; j++)
        for (int i = -radius; i <= radius; i++) {
            const unsigned char *there = pixel(m, x + i, y + j);
            int distance = 0;
            for (int c = 0; c < 3; c++)
                distance += (there[c] - centre[c]) * (there[c] - centre[c]);
            double weight = (double)gaussian[i + radius] * gaussian[j + radius] *
                            exp(-distance / (255.0 * 255.0) / (2 * (double)spread * spread));
            for (int c = 0; c < 4; c++)
                sum[c] += weight * there[c];
            weights += weight;
        }
    for (int c = 0; c < 4; c++) {
        double v = sum[c] / weights;
        bool near = got[c] == floor(v - error) || got[c] == floor(fmin(v + error, 255));
        want[c] = near ? got[c] : (unsigned char)v;
    }
}

static void run(struct wl *w) {
    int width = sizes[w->size].width, height = sizes[w->size].height, radius = wl_option(w, "radius", 5);
    if (radius < 1 || radius > MAX_RADIUS)
        wl_fail(w, "radius is 1 to %d", MAX_RADIUS);
    size_t n = (size_t)width * (size_t)height;
    struct image m = make_image(w, width, height);
    float gaussian[2 * MAX_RADIUS + 1] = {0}, d = spread;
    make_gaussian(gaussian, radius);
    wl_symbol(w, "gaussian", gaussian, sizeof gaussian);
    CUtexObject image = wl_texture_2d(w, m.rgba, width, height, CU_AD_FORMAT_UNSIGNED_INT8, 4,
                                      (struct wl_sampling){.as_float = true});
    CUdeviceptr d_out = wl_alloc(w, 4 * n);
    WL_LAUNCH(w, "bilateral_filter",
              wl_dim(wl_blocks((unsigned)width, BLOCK), wl_blocks((unsigned)height, BLOCK)),
              wl_dim(BLOCK, BLOCK), 0, &d_out, &width, &height, &d, &radius, &image);

    unsigned char *got = WL_ARRAY(w, unsigned char, 4 * n), *want = WL_ARRAY(w, unsigned char, 4 * n);
    wl_get(w, got, d_out, 4 * n);
    for (size_t i = 0; w->check && i < n; i++)
        reference_pixel(&m, (int)i % width, (int)i / width, gaussian, radius, got + 4 * i, want + 4 * i);
    wl_check_bytes(w, "colour", got, want, 4 * n);
}

const struct workload workload = {"bilateralFilter", run};
