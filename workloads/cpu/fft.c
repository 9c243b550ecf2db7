/* FFT: a radix-2 transform that computes its factors when it needs them.
 *
 * The block is the sine and cosine of an angle, given as a fraction of a turn, four bytes. Stages use the
 * angles of the stages before them again, so that of N/2 log2 N angles only N/2 are different. */
#include <math.h>

#include "bench.h"

#ifndef BITS
#define BITS 0
#endif

struct complex {
    float re, im;
};

static void sine_and_cosine(float turns, float *s, float *c) {
    *s = (float)sin(-2 * M_PI * turns);
    *c = (float)cos(-2 * M_PI * turns);
}

static __attribute__((noinline)) void transform(struct complex *x, int n) {
    for (int half = 1; half < n; half *= 2)
        for (int i = 0; i < n; i += 2 * half)
            for (int j = 0; j < half; j++) {
                float turns = (float)j / (float)(2 * half), s, c;
                int64_t both = 0;
                AX_REG_F32(turns, 0, BITS);
                if (AX_LOOKUP_I64(both, 0)) {
                    ax_unpack_f32(both, &s, &c);
                } else {
                    sine_and_cosine(turns, &s, &c);
                    AX_UPDATE_F32X2(ax_pack_f32(s, c), 0);
                }
                struct complex *a = &x[i + j], *b = &x[i + j + half];
                struct complex t = {b->re * c - b->im * s, b->re * s + b->im * c};
                *b = (struct complex){a->re - t.re, a->im - t.im};
                *a = (struct complex){a->re + t.re, a->im + t.im};
            }
}

int main(int argc, char **argv) {
    static const int bits_of[SIZES] = {8, 12, 12, 12};
    int bits = bits_of[bench_start(argc, argv)], n = 1 << bits;
    struct complex *x = bench_alloc(n, sizeof *x);
    for (int k = 0; k < n; k++) { /* in the order of the transform: bits reversed */
        int from = 0;
        for (int b = 0; b < bits; b++)
            from |= (k >> b & 1) << (bits - 1 - b);
        x[from].re = (float)(k % 97) + bench_uniform();
    }
    AX_BEGIN();
    transform(x, n);
    AX_END();
    bench_result("f32", 4, "spectrum", x, 2 * (size_t)n);
    return 0;
}
