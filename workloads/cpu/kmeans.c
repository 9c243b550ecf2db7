/* K-means: a picture in six colours.
 *
 * The block is the search for the nearest of the colours, from a pixel, three numbers of four bytes. As in
 * AxBench's program there is one pass, from colours that were drawn by lot: each pixel is given to a colour,
 * the colours become the means of their pixels, and the pixels take them. */
#include <math.h>

#include "bench.h"

#ifndef BITS
#define BITS 16
#endif

enum { COLOURS = 6 };

struct pixel {
    float rgb[3];
    int32_t nearest;
};

struct colour {
    float r, g, b;
    int32_t pixels;
};

static inline float distance(const struct colour *c, float r, float g, float b) {
    float dr = r - c->r, dg = g - c->g, db = b - c->b;
    return sqrtf(dr * dr + dg * dg + db * db);
}

static int32_t nearest(const struct colour *colour, float r, float g, float b) {
    int32_t best = 0;
    float least = distance(&colour[0], r, g, b);
    for (int32_t k = 1; k < COLOURS; k++) {
        float d = distance(&colour[k], r, g, b);
        if (d < least) {
            least = d;
            best = k;
        }
    }
    return best;
}

static __attribute__((noinline)) void assign(struct pixel *p, int n, const struct colour *colour) {
    for (int k = 0; k < n; k++) {
        const float *rgb = p[k].rgb;
        float r = AX_LDX_F32(rgb, 0, 0, BITS), g = AX_LDX_F32(rgb, 1, 0, BITS),
              b = AX_LDX_F32(rgb, 2, 0, BITS);
        int32_t c = 0;
        if (!AX_LOOKUP_I32(c, 0)) {
            c = nearest(colour, r, g, b);
            AX_UPDATE_I32(c, 0);
        }
        p[k].nearest = c;
    }
}

static __attribute__((noinline)) void mix(const struct pixel *p, int n, struct colour *colour) {
    for (int c = 0; c < COLOURS; c++)
        colour[c] = (struct colour){0, 0, 0, 0};
    for (int k = 0; k < n; k++) {
        struct colour *c = &colour[p[k].nearest];
        c->r += p[k].rgb[0];
        c->g += p[k].rgb[1];
        c->b += p[k].rgb[2];
        c->pixels++;
    }
    for (int c = 0; c < COLOURS; c++)
        if (colour[c].pixels) {
            colour[c].r /= (float)colour[c].pixels;
            colour[c].g /= (float)colour[c].pixels;
            colour[c].b /= (float)colour[c].pixels;
        }
}

static __attribute__((noinline)) void paint(const struct pixel *p, int n, const struct colour *colour,
                                            float *out) {
    for (int k = 0; k < n; k++) {
        const struct colour *c = &colour[p[k].nearest];
        out[3 * k] = c->r;
        out[3 * k + 1] = c->g;
        out[3 * k + 2] = c->b;
    }
}

int main(int argc, char **argv) {
    static const int sizes[SIZES] = {24, 128, 256, 512};
    int w = sizes[bench_start(argc, argv)], n = w * w;
    uint8_t *rgb = bench_picture(w, w);
    struct pixel *in = bench_alloc(n, sizeof *in);
    float *out = bench_alloc(3 * (size_t)n, sizeof *out);
    struct colour colour[COLOURS];
    for (int k = 0; k < n; k++)
        for (int c = 0; c < 3; c++)
            in[k].rgb[c] = (float)rgb[3 * k + c] / 256;
    for (int c = 0; c < COLOURS; c++)
        colour[c] = (struct colour){bench_uniform(), bench_uniform(), bench_uniform(), 0};
    AX_BEGIN();
    assign(in, n, colour);
    mix(in, n, colour);
    paint(in, n, colour, out);
    AX_END();
    bench_result("f32", 4, "picture", out, 3 * (size_t)n);
    return 0;
}
