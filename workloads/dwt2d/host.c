/* dwt2d: reversible wavelet transform of a colour image. See README.md. */
#include "host.h"
#include <string.h>

enum { SPLIT_BLOCK = 256, WINDOW = 8, LEVELS = 3, COLOURS = 3 };

static const struct {
    int columns, rows;
} sizes[WL_SIZES] = {{112, 72}, {560, 400}, {1024, 1024}, {1024, 1024}};

/* ---- reference: one line in place, even results first ---- */

static int mirror(int i, int n) {
    i = i < 0 ? -i : i;
    return i < n ? i : 2 * n - 2 - i < 0 ? 0 : 2 * n - 2 - i;
}

static void lift(int *line, int n, int stride, int *x) {
    for (int i = 0; i < n; i++)
        x[i] = line[i * stride];
    for (int i = 1; i < n; i += 2)
        x[i] -= (x[i - 1] + x[mirror(i + 1, n)]) >> 1;
    for (int i = 0; i < n; i += 2)
        x[i] += (x[mirror(i - 1, n)] + x[mirror(i + 1, n)] + 2) >> 2;
    for (int i = 0; i < n; i++)
        line[(i % 2 ? (n + 1) / 2 + i / 2 : i / 2) * stride] = x[i];
}

static void reference(struct wl *w, int *image, int columns, int rows) {
    int *x = WL_ARRAY(w, int, columns > rows ? columns : rows), pitch = columns;
    for (int level = 0; level < LEVELS; level++) {
        for (int y = 0; y < rows; y++)
            lift(image + y * pitch, columns, 1, x);
        for (int c = 0; c < columns; c++)
            lift(image + c, rows, pitch, x);
        columns = (columns + 1) / 2;
        rows = (rows + 1) / 2;
    }
}

/* ---- the run ---- */

/* Three grey images as colours; each pixel of the second and third leans towards the first. */
static unsigned char *make_image(struct wl *w, int columns, int rows) {
    size_t n = (size_t)columns * (size_t)rows;
    unsigned char *rgb = WL_ARRAY(w, unsigned char, n *COLOURS), *grey = WL_ARRAY(w, unsigned char, n);
    for (int colour = 0; colour < COLOURS; colour++) {
        wl_image(w, grey, columns, rows);
        for (size_t i = 0; i < n; i++)
            rgb[i * COLOURS + (size_t)colour] =
                (unsigned char)(colour ? (grey[i] + 3 * rgb[i * COLOURS]) / 4 : grey[i]);
    }
    return rgb;
}

/* Strips as wide as the image makes worth while. */
struct strip {
    int width;
    const char *kernel;
};

static struct strip choose_strip(int columns) {
    return columns >= 960   ? (struct strip){192, "dwt_forward_192"}
           : columns >= 480 ? (struct strip){128, "dwt_forward_128"}
                            : (struct strip){64, "dwt_forward_64"};
}

/* The levels of one component: each reads the low quarter the one before left, alternating between two
 * buffers; the last one's goes to its place in the result. */
static void transform(struct wl *w, CUdeviceptr d_in, CUdeviceptr d_out, CUdeviceptr d_low[2], int columns,
                      int rows) {
    int pitch = columns, in_pitch = columns;
    for (int level = 0; level < LEVELS; level++) {
        bool last = level == LEVELS - 1;
        int low_columns = (columns + 1) / 2, low_pitch = last ? pitch : low_columns;
        CUdeviceptr *d_quarter = last ? &d_out : &d_low[level % 2];
        int windows = (int)wl_blocks((unsigned)rows, WINDOW * 15);
        struct strip strip = choose_strip(columns);
        WL_LAUNCH(w, strip.kernel,
                  wl_dim(wl_blocks((unsigned)columns, (unsigned)strip.width),
                         wl_blocks((unsigned)rows, (unsigned)(WINDOW * windows))),
                  wl_dim((unsigned)strip.width, 1), 0, &d_in, &in_pitch, &columns, &rows, d_quarter,
                  &low_pitch, &d_out, &pitch, &windows);
        d_in = *d_quarter;
        in_pitch = low_pitch;
        columns = low_columns;
        rows = (rows + 1) / 2;
    }
}

static void run(struct wl *w) {
    int columns = wl_option(w, "columns", sizes[w->size].columns),
        rows = wl_option(w, "rows", sizes[w->size].rows);
    if (columns < 8 || rows < 8)
        wl_fail(w, "three levels need 8 columns and rows");
    int n = columns * rows;
    size_t bytes = (size_t)n * sizeof(int);
    unsigned char *rgb = make_image(w, columns, rows);
    CUdeviceptr d_rgb = wl_upload(w, rgb, (size_t)n * COLOURS);
    CUdeviceptr d_colour[COLOURS] = {wl_alloc(w, bytes), wl_alloc(w, bytes), wl_alloc(w, bytes)};
    CUdeviceptr d_out = wl_alloc(w, bytes), d_low[2] = {wl_alloc(w, bytes), wl_alloc(w, bytes)};
    WL_LAUNCH(w, "dwt_split", wl_dim(wl_blocks((unsigned)n, SPLIT_BLOCK), 1), wl_dim(SPLIT_BLOCK, 1), 0,
              &d_rgb, &d_colour[0], &d_colour[1], &d_colour[2], &n);
    int *got = WL_ARRAY(w, int, n), *want = WL_ARRAY(w, int, n);
    for (int colour = 0; colour < COLOURS; colour++) {
        transform(w, d_colour[colour], d_out, d_low, columns, rows);
        wl_get(w, got, d_out, bytes);
        for (int i = 0; i < n; i++)
            want[i] = rgb[i * COLOURS + colour] - 128;
        if (w->check)
            reference(w, want, columns, rows);
        wl_check_int(w, "coefficient", got, want, (size_t)n);
    }
}

const struct workload workload = {"dwt2d", run};
