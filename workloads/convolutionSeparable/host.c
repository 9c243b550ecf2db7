/* convolutionSeparable: separable convolution of an image through shared memory. See README.md. */
#include "host.h"

enum {
    ROWS_X = 16,
    ROWS_Y = 4,
    COLUMNS_X = 16,
    COLUMNS_Y = 8,
    RESULTS = 8,
    RADIUS = 8,
    TAPS = 2 * RADIUS + 1
};

static const struct {
    int width, height;
} sizes[WL_SIZES] = {{256, 128}, {1024, 512}, {1024, 1024}, {3072, 3072}};

/* One direction; pixels beyond the edge are zero. */
static void convolve(float *out, const float *in, int width, int height, const float *taps, int dx, int dy) {
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            double sum = 0;
            for (int k = -RADIUS; k <= RADIUS; k++) {
                int u = x + k * dx, v = y + k * dy;
                if (u >= 0 && u < width && v >= 0 && v < height)
                    sum += (double)in[v * width + u] * taps[RADIUS - k];
            }
            out[y * width + x] = (float)sum;
        }
}

static void run(struct wl *w) {
    int width = sizes[w->size].width, height = sizes[w->size].height;
    size_t n = (size_t)width * (size_t)height, bytes = n * sizeof(float);
    float *image = WL_ARRAY(w, float, n), *half = WL_ARRAY(w, float, n), *got = WL_ARRAY(w, float, n);
    float *want = WL_ARRAY(w, float, n), taps[TAPS];
    unsigned char *grey = WL_ARRAY(w, unsigned char, n);
    wl_image(w, grey, width, height);
    for (size_t i = 0; i < n; i++)
        image[i] = grey[i];
    wl_random_floats(w, taps, TAPS, 0, 1);
    wl_symbol(w, "taps", taps, sizeof taps);

    CUdeviceptr d_in = wl_upload(w, image, bytes), d_half = wl_alloc(w, bytes), d_out = wl_alloc(w, bytes);
    unsigned columns = (unsigned)width, rows = (unsigned)height;
    WL_LAUNCH(w, "separable_rows", wl_dim(columns / (RESULTS * ROWS_X), rows / ROWS_Y),
              wl_dim(ROWS_X, ROWS_Y), 0, &d_half, &d_in, &width, &width);
    WL_LAUNCH(w, "separable_columns", wl_dim(columns / COLUMNS_X, rows / (RESULTS * COLUMNS_Y)),
              wl_dim(COLUMNS_X, COLUMNS_Y), 0, &d_out, &d_half, &height, &width);
    wl_get(w, got, d_out, bytes);

    if (w->check) {
        convolve(half, image, width, height, taps, 1, 0);
        convolve(want, half, width, height, taps, 0, 1);
    }
    /* two sums of 17 positive products, a rounding for each product's addition; the reference rounds between
     * them */
    wl_check_f32(w, "pixel", got, want, n, (struct wl_tolerance){2 * (TAPS + 1) * 0x1p-24, 0});
}

const struct workload workload = {"convolutionSeparable", run};
