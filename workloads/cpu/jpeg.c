/* JPEG: a picture compressed as the baseline standard has it, all three components at full size.
 *
 * The blocks are the two halves of the cosine transform of eight numbers, the even and the odd coefficients.
 * Each takes four sums or differences of four bytes and gives four coefficients of two bytes. The result is the
 * picture that a decoder would show. */
#include <math.h>

#include "bench.h"

#ifndef EVEN_BITS
#define EVEN_BITS 2
#endif
#ifndef ODD_BITS
#define ODD_BITS 7
#endif

enum { BLOCK = 64, CODES = 256 };

static const uint8_t zigzag[BLOCK] = {0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,
                                      12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6,  7,  14, 21, 28,
                                      35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
                                      58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};
static const uint8_t quantum[BLOCK] = {16, 11, 10, 16, 24,  40,  51,  61,  12, 12, 14, 19, 26,  58,  60,  55,
                                       14, 13, 16, 24, 40,  57,  69,  56,  14, 17, 22, 29, 51,  87,  80,  62,
                                       18, 22, 37, 56, 68,  109, 103, 77,  24, 35, 55, 64, 81,  104, 113, 92,
                                       49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99};
/* Huffman codes: how many have each length, and the symbols in their order. */
static const uint8_t dc_lengths[16] = {0, 1, 5, 1, 1, 1, 1, 1, 1},
                     dc_symbols[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
static const uint8_t ac_lengths[16] = {0, 2, 1, 3, 3, 2, 4, 3, 5, 5, 4, 4, 0, 0, 1, 0x7d};
static const uint8_t ac_symbols[] = {
    0x01, 0x02, 0x03, 0x00, 0x04, 0x11, 0x05, 0x12, 0x21, 0x31, 0x41, 0x06, 0x13, 0x51, 0x61, 0x07, 0x22,
    0x71, 0x14, 0x32, 0x81, 0x91, 0xa1, 0x08, 0x23, 0x42, 0xb1, 0xc1, 0x15, 0x52, 0xd1, 0xf0, 0x24, 0x33,
    0x62, 0x72, 0x82, 0x09, 0x0a, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x25, 0x26, 0x27, 0x28, 0x29, 0x2a, 0x34,
    0x35, 0x36, 0x37, 0x38, 0x39, 0x3a, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x49, 0x4a, 0x53, 0x54, 0x55,
    0x56, 0x57, 0x58, 0x59, 0x5a, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6a, 0x73, 0x74, 0x75, 0x76,
    0x77, 0x78, 0x79, 0x7a, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8a, 0x92, 0x93, 0x94, 0x95, 0x96,
    0x97, 0x98, 0x99, 0x9a, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xb2, 0xb3, 0xb4, 0xb5,
    0xb6, 0xb7, 0xb8, 0xb9, 0xba, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xca, 0xd2, 0xd3, 0xd4,
    0xd5, 0xd6, 0xd7, 0xd8, 0xd9, 0xda, 0xe1, 0xe2, 0xe3, 0xe4, 0xe5, 0xe6, 0xe7, 0xe8, 0xe9, 0xea, 0xf1,
    0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0xfa};

struct code {
    uint16_t bits;
    uint8_t length;
};

static struct code dc_code[CODES], ac_code[CODES];

static void make_codes(struct code *code, const uint8_t *lengths, const uint8_t *symbols) {
    uint16_t next = 0;
    for (int length = 1; length <= 16; length++, next = (uint16_t)(next << 1))
        for (int k = 0; k < lengths[length - 1]; k++)
            code[*symbols++] = (struct code){next++, (uint8_t)length};
}

/* ---- the transform ---- */

/* Cosines of sixteenths of half a turn, halved, times 2^13. */
enum { C1 = 4017, C2 = 3784, C3 = 3406, C4 = 2896, C5 = 2276, C6 = 1567, C7 = 799 };

static inline int64_t pack(int a, int b, int c, int d) {
    return (int64_t)((uint64_t)(uint16_t)a << 48 | (uint64_t)(uint16_t)b << 32 | (uint64_t)(uint16_t)c << 16 |
                     (uint16_t)d);
}

static inline int shorten(int v) {
    return (v + 4096) >> 13;
}

static inline int64_t even_half(int a, int b, int c, int d) {
    return pack(shorten((a + b + c + d) * C4), shorten((a - d) * C2 + (b - c) * C6),
                shorten((a - b - c + d) * C4), shorten((a - d) * C6 - (b - c) * C2));
}

static inline int64_t odd_half(int a, int b, int c, int d) {
    return pack(shorten(a * C1 + b * C3 + c * C5 + d * C7), shorten(a * C3 - b * C7 - c * C1 - d * C5),
                shorten(a * C5 - b * C1 + c * C7 + d * C3), shorten(a * C7 - b * C5 + c * C3 - d * C1));
}

/* Eight numbers of a row or, by steps, of a column. */
static void transform(int16_t *p, int step) {
    int16_t *q = p + 7 * step;
    int a = p[0] + q[0], b = p[step] + q[-step], c = p[2 * step] + q[-2 * step],
        d = p[3 * step] + q[-3 * step];
    int e = p[0] - q[0], f = p[step] - q[-step], g = p[2 * step] - q[-2 * step],
        h = p[3 * step] - q[-3 * step];
    int64_t even = 0, odd = 0;
    AX_REG_I32(a, 0, EVEN_BITS);
    AX_REG_I32(b, 0, EVEN_BITS);
    AX_REG_I32(c, 0, EVEN_BITS);
    AX_REG_I32(d, 0, EVEN_BITS);
    if (!AX_LOOKUP_I64(even, 0)) {
        even = even_half(a, b, c, d);
        AX_UPDATE_I16X4(even, 0);
    }
    AX_REG_I32(e, 1, ODD_BITS);
    AX_REG_I32(f, 1, ODD_BITS);
    AX_REG_I32(g, 1, ODD_BITS);
    AX_REG_I32(h, 1, ODD_BITS);
    if (!AX_LOOKUP_I64(odd, 1)) {
        odd = odd_half(e, f, g, h);
        AX_UPDATE_I16X4(odd, 1);
    }
    for (int k = 0; k < 4; k++) {
        p[2 * k * step] = (int16_t)(even >> (48 - 16 * k));
        p[(2 * k + 1) * step] = (int16_t)(odd >> (48 - 16 * k));
    }
}

/* ---- the stream ---- */

struct stream {
    uint8_t *at;
    uint32_t bits, n; /* that wait */
};

static inline void put(struct stream *s, uint32_t bits, uint32_t n) {
    s->bits = s->bits << n | (bits & ((1u << n) - 1));
    s->n += n;
    while (s->n >= 8) {
        uint8_t byte = (uint8_t)(s->bits >> (s->n - 8));
        *s->at++ = byte;
        if (byte == 0xff)
            *s->at++ = 0;
        s->n -= 8;
    }
}

static inline uint32_t length_of(int v) {
    uint32_t a = (uint32_t)(v < 0 ? -v : v);
    return a ? 32 - (uint32_t)__builtin_clz(a) : 0;
}

static inline void put_value(struct stream *s, int v, uint32_t n) {
    put(s, (uint32_t)(v < 0 ? v - 1 : v), n);
}

static void put_block(struct stream *s, const int16_t *q, int *last) {
    int diff = q[0] - *last, run = 0;
    uint32_t n = length_of(diff);
    *last = q[0];
    put(s, dc_code[n].bits, dc_code[n].length);
    put_value(s, diff, n);
    for (int k = 1; k < BLOCK; k++) {
        int v = q[zigzag[k]];
        if (!v) {
            run++;
            continue;
        }
        for (; run > 15; run -= 16)
            put(s, ac_code[0xf0].bits, ac_code[0xf0].length);
        n = length_of(v);
        put(s, ac_code[(uint32_t)run << 4 | n].bits, ac_code[(uint32_t)run << 4 | n].length);
        put_value(s, v, n);
        run = 0;
    }
    if (run)
        put(s, ac_code[0].bits, ac_code[0].length);
}

/* ---- the picture ---- */

/* One component of a block, brightness or one of two colour differences, around zero. */
static void component(const uint8_t *rgb, int w, int which, int16_t *out) {
    static const int weights[3][3] = {{19595, 38470, 7471}, {-11059, -21709, 32768}, {32768, -27439, -5329}};
    const int *k = weights[which];
    for (int y = 0; y < 8; y++)
        for (int x = 0; x < 8; x++) {
            const uint8_t *p = rgb + (y * w + x) * 3;
            int v = (k[0] * p[0] + k[1] * p[1] + k[2] * p[2] + 32768) >> 16;
            out[y * 8 + x] = (int16_t)(which ? v : v - 128);
        }
}

static __attribute__((noinline)) void compress(const uint8_t *rgb, int w, struct stream *s, int16_t *kept) {
    int last[3] = {0, 0, 0};
    for (int y = 0; y < w; y += 8)
        for (int x = 0; x < w; x += 8)
            for (int c = 0; c < 3; c++, kept += BLOCK) {
                component(rgb + (y * w + x) * 3, w, c, kept);
                for (int k = 0; k < 8; k++)
                    transform(kept + 8 * k, 1);
                for (int k = 0; k < 8; k++)
                    transform(kept + k, 8);
                for (int k = 0; k < BLOCK; k++) {
                    int v = kept[k], half = quantum[k] / 2;
                    kept[k] = (int16_t)((v < 0 ? v - half : v + half) / quantum[k]);
                }
                put_block(s, kept, &last[c]);
            }
    put(s, 0x7f, 7);
}

/* A block as a decoder shows it. */
static void decode(const int16_t *q, float *out) {
    float cosine[8][8], half[BLOCK];
    for (int x = 0; x < 8; x++)
        for (int u = 0; u < 8; u++)
            cosine[x][u] = cosf((float)((2 * x + 1) * u) * (float)M_PI / 16) * (u ? 0.5f : 0.35355339f);
    for (int v = 0; v < 8; v++)
        for (int x = 0; x < 8; x++) {
            half[v * 8 + x] = 0;
            for (int u = 0; u < 8; u++)
                half[v * 8 + x] += cosine[x][u] * (float)(q[v * 8 + u] * quantum[v * 8 + u]);
        }
    for (int y = 0; y < 8; y++)
        for (int x = 0; x < 8; x++) {
            out[y * 8 + x] = 128;
            for (int v = 0; v < 8; v++)
                out[y * 8 + x] += cosine[y][v] * half[v * 8 + x];
        }
}

int main(int argc, char **argv) {
    static const int sizes[SIZES] = {24, 128, 256, 512};
    int w = sizes[bench_start(argc, argv)], n = w * w * 3;
    uint8_t *rgb = bench_picture(w, w), *file = bench_alloc((size_t)n * 2 + 64, 1);
    int16_t *kept = bench_alloc(n, 2);
    float *shown = bench_alloc(n, 4);
    struct stream s = {file, 0, 0};
    make_codes(dc_code, dc_lengths, dc_symbols);
    make_codes(ac_code, ac_lengths, ac_symbols);
    AX_BEGIN();
    compress(rgb, w, &s, kept);
    AX_END();
    for (int k = 0; k < n; k += BLOCK)
        decode(kept + k, shown + k);
    printf("%d bytes\n", (int)(s.at - file));
    bench_result("f32", 4, "pixels", shown, (size_t)n);
    return 0;
}
