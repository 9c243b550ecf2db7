/* Sobel: the edges of a picture.
 *
 * The block is the length of the gradient from the nine grey values around a pixel, of four bytes each: two
 * convolutions with filters of three by three and a root, as AxBench's. */
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

static const float across[3][3] = {{-1, 0, 1}, {-2, 0, 2}, {-1, 0, 1}},
                   down[3][3] = {{-1, -2, -1}, {0, 0, 0}, {1, 2, 1}};

/* The sum of a pixel and its neighbours by the weights of a filter, any filter: zeros are multiplied, too. */
static inline float convolve(float w[3][3], const float filter[3][3]) {
    float sum = 0;
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++)
            sum += w[j][i] * filter[j][i];
    return sum;
}

static inline float gradient(float w[3][3]) {
    float x = convolve(w, across), y = convolve(w, down), length = sqrtf(x * x + y * y);
    return length > 0.7f ? 0.7f : length;
}

static __attribute__((noinline)) void edges(const float *in, float *out, int n, int h) {
    for (int j = 1; j < h - 1; j++)
        for (int i = 1; i < n - 1; i++) {
            const float *p = &in[(j - 1) * n + i - 1], *q = p + n, *r = q + n;
            float w[3][3] = {
                {AX_LDX_F32(p, 0, 0, BITS), AX_LDX_F32(p, 1, 0, BITS), AX_LDX_F32(p, 2, 0, BITS)},
                {AX_LDX_F32(q, 0, 0, BITS), AX_LDX_F32(q, 1, 0, BITS), AX_LDX_F32(q, 2, 0, BITS)},
                {AX_LDX_F32(r, 0, 0, BITS), AX_LDX_F32(r, 1, 0, BITS), AX_LDX_F32(r, 2, 0, BITS)}};
            float length = 0;
            if (!AX_LOOKUP_F32(length, 0)) {
                length = gradient(w);
                AX_UPDATE_F32(length, 0);
            }
            out[j * n + i] = length;
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
