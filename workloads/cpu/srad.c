/* SRAD: diffusion that takes the speckle out of a picture and leaves its edges.
 *
 * The block is the coefficient of diffusion of a pixel from its value, its four neighbours' and the speckle
 * of the whole: six numbers of four bytes. */
#include <math.h>

#include "bench.h"

#ifndef BITS
#define BITS 18
#endif

enum { PASSES = 2 };

static inline float coefficient(float c, float north, float south, float west, float east, float q0) {
    float dn = north - c, ds = south - c, dw = west - c, de = east - c;
    float g2 = (dn * dn + ds * ds + dw * dw + de * de) / (c * c), l = (dn + ds + dw + de) / c;
    float num = 0.5f * g2 - 0.0625f * l * l, den = 1 + 0.25f * l;
    float q = num / (den * den);
    float k = 1 / (1 + (q - q0) / (q0 * (1 + q0)));
    return k < 0 ? 0 : k > 1 ? 1 : k;
}

static float speckle(const float *j, int n) {
    float sum = 0, square = 0;
    for (int k = 0; k < n; k++) {
        sum += j[k];
        square += j[k] * j[k];
    }
    float mean = sum / (float)n, variance = square / (float)n - mean * mean;
    return variance / (mean * mean);
}

/* Differences to the four neighbours, as the first half of a pass leaves them for the second. */
struct differences {
    float *north, *south, *west, *east;
};

static __attribute__((noinline)) void pass(float *j, float *k, struct differences *d, int rows, int columns) {
    const float lambda = 0.5f;
    float q0 = speckle(j, rows * columns);
    for (int y = 0; y < rows; y++)
        for (int x = 0; x < columns; x++) {
            int at = y * columns + x;
            float c = AX_LD_F32(&j[at], 0, BITS), n = AX_LD_F32(&j[y ? at - columns : at], 0, BITS),
                  s = AX_LD_F32(&j[y < rows - 1 ? at + columns : at], 0, BITS),
                  w = AX_LD_F32(&j[x ? at - 1 : at], 0, BITS),
                  e = AX_LD_F32(&j[x < columns - 1 ? at + 1 : at], 0, BITS), v = 0;
            AX_REG_F32(q0, 0, BITS);
            if (!AX_LOOKUP_F32(v, 0)) {
                v = coefficient(c, n, s, w, e, q0);
                AX_UPDATE_F32(v, 0);
            }
            k[at] = v;
            d->north[at] = n - c;
            d->south[at] = s - c;
            d->west[at] = w - c;
            d->east[at] = e - c;
        }
    for (int y = 0; y < rows; y++)
        for (int x = 0; x < columns; x++) {
            int at = y * columns + x;
            float south = k[y < rows - 1 ? at + columns : at], east = k[x < columns - 1 ? at + 1 : at];
            j[at] += 0.25f * lambda *
                     (k[at] * d->north[at] + south * d->south[at] + k[at] * d->west[at] + east * d->east[at]);
        }
}

int main(int argc, char **argv) {
    static const int sizes[SIZES][2] = {{24, 20}, {96, 112}, {229, 251}, {458, 502}};
    int size = bench_start(argc, argv), rows = sizes[size][0], columns = sizes[size][1], n = rows * columns;
    uint8_t *rgb = bench_picture(columns, rows);
    float *j = bench_alloc(n, 4), *k = bench_alloc(n, 4);
    struct differences d = {bench_alloc(n, 4), bench_alloc(n, 4), bench_alloc(n, 4), bench_alloc(n, 4)};
    for (int i = 0; i < n; i++)
        j[i] = expf((float)rgb[3 * i + 1] / 255);
    AX_BEGIN();
    for (int i = 0; i < PASSES; i++)
        pass(j, k, &d, rows, columns);
    AX_END();
    bench_result("f32", 4, "picture", j, (size_t)n);
    return 0;
}
