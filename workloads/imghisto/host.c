/* imghisto: histogram of an image. See README.md. */
#include "host.h"

enum { THREADS = 256, BINS = 256 };

static const struct {
    int width, height, blocks;
} sizes[WL_SIZES] = {{768, 512, 8}, {2560, 2560, 60}, {8192, 4096, 240}, {8192, 4096, 240}};

static void run(struct wl *w) {
    int width = wl_option(w, "width", sizes[w->size].width),
        height = wl_option(w, "height", sizes[w->size].height);
    int blocks = wl_option(w, "blocks", sizes[w->size].blocks);
    if (width < 4 || width % 4 || height < 1 || blocks < 1)
        wl_fail(w, "width must be a multiple of 4, height and blocks positive");
    size_t pixels = (size_t)width * (size_t)height;
    int words = (int)(pixels / 4), got[BINS], want[BINS] = {0};
    unsigned char *image = WL_ARRAY(w, unsigned char, pixels);
    wl_image(w, image, width, height);

    CUdeviceptr d_image = wl_upload(w, image, pixels), d_histogram = wl_alloc(w, sizeof got);
    WL_LAUNCH(w, "imghisto_count", wl_dim((unsigned)blocks, 1), wl_dim(THREADS, 1), 0, &d_image, &words,
              &d_histogram);
    wl_get(w, got, d_histogram, sizeof got);
    for (size_t i = 0; w->check && i < pixels; i++)
        want[image[i]]++;
    wl_check_int(w, "bin", got, want, BINS);
}

const struct workload workload = {"imghisto", run};
