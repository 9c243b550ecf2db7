/* convolutionTexture: separable convolution of an image read through a texture. See README.md. */
#include "host.h"

enum { BLOCK = 16, RADIUS = 8, TAPS = 2 * RADIUS + 1 };

static const struct {
    int width, height;
} sizes[WL_SIZES] = {{128, 128}, {512, 512}, {1024, 1024}, {3072, 1536}};

static int clamp(int i, int n) {
    return i < 0 ? 0 : i >= n ? n - 1 : i;
}

/* One direction; pixels beyond the edge repeat the edge. */
static void convolve(float *out, const float *in, int width, int height, const float *taps, int dx, int dy) {
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            double sum = 0;
            for (int k = -RADIUS; k <= RADIUS; k++)
                sum += (double)in[clamp(y + k * dy, height) * width + clamp(x + k * dx, width)] *
                       taps[RADIUS - k];
            out[y * width + x] = (float)sum;
        }
}

static CUtexObject texture(struct wl *w, const float *data, int width, int height) {
    return wl_texture_2d(w, data, width, height, CU_AD_FORMAT_FLOAT, 1, (struct wl_sampling){0});
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

    CUdeviceptr d_half = wl_alloc(w, bytes), d_out = wl_alloc(w, bytes);
    struct wl_dim block = wl_dim(BLOCK, BLOCK);
    struct wl_dim grid = wl_dim(wl_blocks((unsigned)width, BLOCK), wl_blocks((unsigned)height, BLOCK));
    CUtexObject source = texture(w, image, width, height);
    WL_LAUNCH(w, "convolution_rows", grid, block, 0, &d_half, &width, &height, &source);
    wl_get(w, half, d_half, bytes);
    CUtexObject rows = texture(w, half, width, height);
    WL_LAUNCH(w, "convolution_columns", grid, block, 0, &d_out, &width, &height, &rows);
    wl_get(w, got, d_out, bytes);

    if (w->check) {
        convolve(half, image, width, height, taps, 1, 0);
        convolve(want, half, width, height, taps, 0, 1);
    }
    /* two sums of 17 positive products, a rounding for each product's addition; the reference rounds between
     * them */
    wl_check_f32(w, "pixel", got, want, n, (struct wl_tolerance){2 * (TAPS + 1) * 0x1p-24, 0});
}

const struct workload workload = {"convolutionTexture", run};
