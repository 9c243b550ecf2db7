/* sad: block matching of two video frames. See README.md. */
#include "host.h"
#include <stdlib.h>

enum { RANGE = 16, SPAN = 2 * RANGE + 1, PADDED = 1096, THREADS = 61 };

static const struct { int width, height; } sizes[WL_SIZES] = {{32, 16}, {112, 80}, {176, 144}, {1920, 1072}};

/* The shapes of blocks: how many there are in a macroblock, along and down. */
enum shape { S4X4, S8X4, S4X8, S8X8, S16X8, S8X16, S16X16, SHAPES };
static const struct {
    const char *name;
    int along, down;
} shapes[SHAPES] = {{"4x4", 4, 4},  {"8x4", 2, 4},  {"4x8", 4, 2},  {"8x8", 2, 2},
                    {"16x8", 1, 2}, {"8x16", 2, 1}, {"16x16", 1, 1}};

struct video {
    int width, height;
    uint16_t *frame, *reference;
};

/* A scene seen twice: the camera has moved a little, an object in the middle has moved the other way, and
 * every pixel has its noise. */
static struct video make_video(struct wl *w, int width, int height) {
    size_t n = (size_t)width * (size_t)height;
    struct video v = {width, height, WL_ARRAY(w, uint16_t, n), WL_ARRAY(w, uint16_t, n)};
    int border = 16, pitch = width + 2 * border;
    unsigned char *scene = WL_ARRAY(w, unsigned char, (size_t)pitch *(size_t)(height + 2 * border));
    wl_image(w, scene, pitch, height + 2 * border);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            bool object = x > width / 3 && x < 2 * width / 3 && y > height / 3 && y < 2 * height / 3;
            int dx = object ? -7 : 3, dy = object ? 5 : -2;
            int now = scene[(y + border + dy) * pitch + x + border + dx] + (int)wl_random_below(w, 3) - 1;
            v.reference[y * width + x] = scene[(y + border) * pitch + x + border];
            v.frame[y * width + x] = (uint16_t)(now < 0 ? 0 : now > 255 ? 255 : now);
        }
    return v;
}

static int clamp(int i, int n) {
    return i < 0 ? 0 : i >= n ? n - 1 : i;
}

static int block_sad(const struct video *v, int x, int y, int width, int height, int dx, int dy) {
    int sum = 0;
    for (int j = y; j < y + height; j++)
        for (int i = x; i < x + width; i++)
            sum += abs(v->frame[j * v->width + i] -
                       v->reference[clamp(j + dy, v->height) * v->width + clamp(i + dx, v->width)]);
    return sum;
}

/* Where block `index` of a macroblock stands in it, in blocks of its shape. Halves of 8x8 blocks count within
 * those: 8x4 and 4x8 blocks 2k and 2k + 1 are the halves of 8x8 block k. */
static void place_of(enum shape shape, int index, int *column, int *row) {
    *column = index % shapes[shape].along;
    *row = index / shapes[shape].along;
    int whole = index / 2, half = index % 2;
    if (shape == S8X4) {
        *column = whole % 2;
        *row = whole / 2 * 2 + half;
    } else if (shape == S4X8) {
        *column = whole % 2 * 2 + half;
        *row = whole / 2;
    }
}

static void reference(const struct video *v, enum shape shape, uint16_t *sads) {
    int blocks = shapes[shape].along * shapes[shape].down, mbs = v->width / 16 * (v->height / 16);
    int width = 16 / shapes[shape].along, height = 16 / shapes[shape].down;
    for (int i = 0; i < mbs * blocks; i++) {
        int mb = i / blocks, column, row;
        place_of(shape, i % blocks, &column, &row);
        int x = mb % (v->width / 16) * 16 + column * width, y = mb / (v->width / 16) * 16 + row * height;
        for (int p = 0; p < SPAN * SPAN; p++)
            sads[(size_t)i * PADDED + (size_t)p] =
                (uint16_t)block_sad(v, x, y, width, height, p % SPAN - RANGE, p / SPAN - RANGE);
    }
}

static void run(struct wl *w) {
    struct video v = make_video(w, sizes[w->size].width, sizes[w->size].height);
    size_t n = (size_t)v.width * (size_t)v.height;
    int mb_width = v.width / 16;
    CUtexObject texture = wl_texture_2d(w, v.reference, v.width, v.height, CU_AD_FORMAT_UNSIGNED_INT16, 1,
                                        (struct wl_sampling){0});
    CUdeviceptr d_frame = wl_upload(w, v.frame, n * sizeof *v.frame), d_sads[SHAPES];
    size_t bytes[SHAPES];
    for (int s = 0; s < SHAPES; s++) {
        bytes[s] = n / 256 * (size_t)(shapes[s].along * shapes[s].down) * PADDED * sizeof(uint16_t);
        d_sads[s] = wl_alloc(w, bytes[s]);
    }
    struct wl_dim blocks = wl_dim((unsigned)v.width / 4, (unsigned)v.height / 4);
    struct wl_dim macroblocks = wl_dim((unsigned)v.width / 16, (unsigned)v.height / 16);
    WL_LAUNCH(w, "sad_4x4", blocks, wl_dim(THREADS, 1), 0, &d_sads[S4X4], &d_frame, &mb_width, &texture);
    WL_LAUNCH(w, "sad_8", macroblocks, wl_dim(32, 4), 0, &d_sads[S8X8], &d_sads[S8X4], &d_sads[S4X8],
              &d_sads[S4X4]);
    WL_LAUNCH(w, "sad_16", macroblocks, wl_dim(32, 1), 0, &d_sads[S16X16], &d_sads[S16X8], &d_sads[S8X16],
              &d_sads[S8X8]);
    /* 4x4 needs the most; padding stays zero in all shapes */
    uint16_t *got = WL_ARRAY(w, uint16_t, bytes[S4X4] / 2), *want = WL_ARRAY(w, uint16_t, bytes[S4X4] / 2);
    for (int s = 0; s < SHAPES; s++) {
        wl_get(w, got, d_sads[s], bytes[s]);
        if (w->check)
            reference(&v, (enum shape)s, want);
        wl_check_same(w, shapes[s].name, WL_U16, got, want, bytes[s] / 2);
    }
}

const struct workload workload = {"sad", run};
