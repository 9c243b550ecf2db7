/* K-means: a picture in six colours.
 *
 * The block is the search for the nearest of the colours, from a pixel, three numbers of four bytes. The
 * colours change between passes, so that the table is invalidated there. */
#include "bench.h"

#ifndef BITS
#define BITS 16
#endif

enum { COLOURS = 6, PASSES = 4 };

struct pixel {
    float r, g, b;
};

static int nearest(const struct pixel *colour, float r, float g, float b) {
    int best = 0;
    float least = 1e30f;
    for (int k = 0; k < COLOURS; k++) {
        float dr = r - colour[k].r, dg = g - colour[k].g, db = b - colour[k].b,
              d = dr * dr + dg * dg + db * db;
        if (d < least) {
            least = d;
            best = k;
        }
    }
    return best;
}

static __attribute__((noinline)) void pass(const struct pixel *in, int n, struct pixel *colour, uint8_t *of) {
    struct pixel sum[COLOURS] = {{0, 0, 0}};
    int count[COLOURS] = {0};
    AX_INVALIDATE(0);
    for (int k = 0; k < n; k++) {
        float r = AX_LD_F32(&in[k].r, 0, BITS), g = AX_LD_F32(&in[k].g, 0, BITS),
              b = AX_LD_F32(&in[k].b, 0, BITS);
        int c = 0;
        if (!AX_LOOKUP_I32(c, 0)) {
            c = nearest(colour, r, g, b);
            AX_UPDATE_I32(c, 0);
        }
        of[k] = (uint8_t)c;
        sum[c].r += r;
        sum[c].g += g;
        sum[c].b += b;
        count[c]++;
    }
    for (int c = 0; c < COLOURS; c++)
        if (count[c])
            colour[c] = (struct pixel){sum[c].r / (float)count[c], sum[c].g / (float)count[c],
                                       sum[c].b / (float)count[c]};
}

int main(int argc, char **argv) {
    static const int sizes[SIZES] = {24, 128, 256, 512};
    int w = sizes[bench_start(argc, argv)], n = w * w;
    uint8_t *rgb = bench_picture(w, w), *of = bench_alloc(n, 1);
    struct pixel *in = bench_alloc(n, sizeof *in), *out = bench_alloc(n, sizeof *out), colour[COLOURS];
    for (int k = 0; k < n; k++)
        in[k] =
            (struct pixel){(float)rgb[3 * k] / 255, (float)rgb[3 * k + 1] / 255, (float)rgb[3 * k + 2] / 255};
    for (int c = 0; c < COLOURS; c++)
        colour[c] = in[bench_below((uint32_t)n)];
    AX_BEGIN();
    for (int k = 0; k < PASSES; k++)
        pass(in, n, colour, of);
    for (int k = 0; k < n; k++)
        out[k] = colour[of[k]];
    AX_END();
    bench_result("f32", 4, "picture", out, 3 * (size_t)n);
    return 0;
}
