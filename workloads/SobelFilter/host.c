/* SobelFilter: edges of a grey image, by texture and by shared memory. See README.md. */
#include "host.h"
#include <stdlib.h>

enum { ROW_THREADS = 384, TILE_X = 16, TILE_Y = 4, TILE_WORDS = 80, RADIUS = 1 };

static const struct {
    int width, height;
} sizes[WL_SIZES] = {{192, 128}, {640, 512}, {1024, 1024}, {1024, 1024}};

static int at(const unsigned char *image, int width, int height, int x, int y) {
    x = x < 0 ? 0 : x >= width ? width - 1 : x;
    y = y < 0 ? 0 : y >= height ? height - 1 : y;
    return image[y * width + x];
}

static void reference(unsigned char *out, const unsigned char *image, int width, int height) {
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            int across = 0, down = 0;
            for (int k = -1; k <= 1; k++) {
                int weight = k ? 1 : 2;
                across += weight *
                          (at(image, width, height, x + 1, y + k) - at(image, width, height, x - 1, y + k));
                down += weight *
                        (at(image, width, height, x + k, y - 1) - at(image, width, height, x + k, y + 1));
            }
            int sum = abs(across) + abs(down);
            out[y * width + x] = (unsigned char)(sum > 255 ? 255 : sum);
        }
}

static void run(struct wl *w) {
    int width = sizes[w->size].width, height = sizes[w->size].height, way = wl_option(w, "way", 0);
    size_t n = (size_t)width * (size_t)height;
    unsigned char *grey = WL_ARRAY(w, unsigned char, n), *got = WL_ARRAY(w, unsigned char, n);
    unsigned char *want = WL_ARRAY(w, unsigned char, n);
    wl_image(w, grey, width, height);
    if (w->check)
        reference(want, grey, width, height);
    CUtexObject image =
        wl_texture_2d(w, grey, width, height, CU_AD_FORMAT_UNSIGNED_INT8, 1, (struct wl_sampling){0});
    CUdeviceptr d_out = wl_alloc(w, n);
    float scale = 1;

    if (way != 2) {
        WL_LAUNCH(w, "sobel_texture", wl_dim((unsigned)height, 1), wl_dim(ROW_THREADS, 1), 0, &d_out, &width,
                  &width, &scale, &image);
        wl_get(w, got, d_out, n);
        wl_check_bytes(w, "edge by texture", got, want, n);
    }
    if (way != 1) {
        int words = TILE_WORDS, pitch = (4 * (TILE_WORDS + 2 * RADIUS) + 63) / 64 * 64;
        unsigned shared = (unsigned)pitch * (TILE_Y + 2 * RADIUS);
        wl_fill(w, d_out, 0, n);
        WL_LAUNCH(w, "sobel_shared",
                  wl_dim(wl_blocks((unsigned)width, 4 * TILE_WORDS), wl_blocks((unsigned)height, TILE_Y)),
                  wl_dim(TILE_X, TILE_Y), shared, &d_out, &width, &words, &pitch, &width, &height, &scale,
                  &image);
        wl_get(w, got, d_out, n);
        wl_check_bytes(w, "edge by shared memory", got, want, n);
    }
}

const struct workload workload = {"SobelFilter", run};
