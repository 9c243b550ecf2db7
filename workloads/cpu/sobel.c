/* Sobel: the edges of a picture.
 *
 * The block is the length of the gradient from the nine grey values around a pixel, of four bytes each. */
#include <math.h>

#include "bench.h"

#ifndef BITS
#define BITS 16
#endif

static __attribute__((noinline)) void make_grey(const uint8_t *rgb, float *grey, int n) {
    for (int k = 0; k < n; k++)
        grey[k] =
            ((float)rgb[3 * k] * 0.30f + (float)rgb[3 * k + 1] * 0.59f + (float)rgb[3 * k + 2] * 0.11f) / 256;
}

static __attribute__((noinline)) void edges(const float *in, float *out, int w, int h) {
    for (int j = 1; j < h - 1; j++)
        for (int i = 1; i < w - 1; i++) {
            const float *p = &in[(j - 1) * w + i - 1], *q = p + w, *r = q + w;
            float a = AX_LD_F32(&p[0], 0, BITS), b = AX_LD_F32(&p[1], 0, BITS), c = AX_LD_F32(&p[2], 0, BITS),
                  d = AX_LD_F32(&q[0], 0, BITS), m = AX_LD_F32(&q[1], 0, BITS), e = AX_LD_F32(&q[2], 0, BITS),
                  f = AX_LD_F32(&r[0], 0, BITS), g = AX_LD_F32(&r[1], 0, BITS), k = AX_LD_F32(&r[2], 0, BITS);
            float length = 0;
            (void)m;
            if (!AX_LOOKUP_F32(length, 0)) {
                float x = c - a + 2 * (e - d) + k - f, y = f - a + 2 * (g - b) + k - c;
                length = sqrtf(x * x + y * y);
                length = length > 0.7f ? 0.7f : length;
                AX_UPDATE_F32(length, 0);
            }
            out[j * w + i] = length;
        }
}

int main(int argc, char **argv) {
    static const int sizes[SIZES] = {24, 128, 256, 512};
    int w = sizes[bench_start(argc, argv)], n = w * w;
    uint8_t *rgb = bench_picture(w, w);
    float *grey = bench_alloc(n, 4), *out = bench_alloc(n, 4);
    AX_BEGIN();
    make_grey(rgb, grey, n);
    edges(grey, out, w, w);
    AX_END();
    bench_result("f32", 4, "edges", out, (size_t)n);
    return 0;
}
