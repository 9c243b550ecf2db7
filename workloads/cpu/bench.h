/* What the benchmarks of AxMemo have in common: arguments, random numbers, pictures, and the file of results.
 *
 * Each is one C program that becomes three: NAME as it is, NAME.memo with the instructions of the memoization
 * unit, NAME.soft with memoization in software (include/reprise_axmemo.h). Inputs are made by the program
 * before the part that is measured begins. */
#ifndef BENCH_H
#define BENCH_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reprise_axmemo.h"

enum { TINY, SMALL, MEDIUM, LARGE, SIZES };

static uint64_t bench_state = 1;
static FILE *bench_file;

static void bench_fail(const char *what, const char *word) {
    fprintf(stderr, "%s '%s'\nusage: --size tiny|small|medium|large [--seed N] [--results FILE]\n", what,
            word);
    exit(2);
}

/* Reads the arguments; which of the sizes is wanted. */
static int bench_start(int argc, char **argv) {
    static const char *const names[SIZES] = {"tiny", "small", "medium", "large"};
    int size = SMALL;
    for (int k = 1; k < argc; k += 2) {
        if (k + 1 == argc)
            bench_fail("a value must follow", argv[k]);
        if (!strcmp(argv[k], "--size")) {
            for (size = 0; size < SIZES && strcmp(names[size], argv[k + 1]);)
                size++;
            if (size == SIZES)
                bench_fail("there is no size", argv[k + 1]);
        } else if (!strcmp(argv[k], "--seed")) {
            bench_state = strtoull(argv[k + 1], NULL, 0) * 2 + 1;
        } else if (!strcmp(argv[k], "--results")) {
            bench_file = fopen(argv[k + 1], "wb");
            if (!bench_file)
                bench_fail("cannot be written:", argv[k + 1]);
        } else {
            bench_fail("there is no option", argv[k]);
        }
    }
    return size;
}

/* Xorshift, multiplied: the same on every machine. */
static inline uint32_t bench_random(void) {
    bench_state ^= bench_state >> 12;
    bench_state ^= bench_state << 25;
    bench_state ^= bench_state >> 27;
    return (uint32_t)(bench_state * 0x2545f4914f6cdd1dull >> 32);
}

static inline uint32_t bench_below(uint32_t n) {
    return (uint32_t)((uint64_t)bench_random() * n >> 32);
}

/* From 0 up to, not including, 1. */
static inline float bench_uniform(void) {
    return (float)(bench_random() >> 8) * 0x1p-24f;
}

static void *bench_alloc(size_t n, size_t size) {
    void *p = calloc(n, size);
    if (!p)
        bench_fail("there is no memory for", "the input");
    return p;
}

/* Says what was computed: to the file of results, and a sum of its bytes for people. */
static __attribute__((unused)) void bench_result(const char *type, size_t size, const char *name,
                                                 const void *data, size_t n) {
    const unsigned char *bytes = data;
    uint32_t sum = 0;
    for (size_t k = 0; k < n * size; k++)
        sum = sum * 31 + bytes[k];
    printf("%s: %zu values, %08x\n", name, n, sum);
    if (bench_file) {
        fprintf(bench_file, "reprise results 1\n%s %zu %s\n", type, n, name);
        fwrite(data, size, n, bench_file);
        fclose(bench_file);
    }
}

/* ---- pictures ---- */

/* A value between two, by a smooth curve. */
static inline float bench_blend(float a, float b, float t) {
    return a + (b - a) * (t * t * (3 - 2 * t));
}

/* Noise on a grid of so many points a side, smooth between them: x and y from 0 to 1. */
static inline float bench_noise(const float *grid, int points, float x, float y) {
    float u = x * (float)(points - 1), v = y * (float)(points - 1);
    int i = (int)u < points - 1 ? (int)u : points - 2, j = (int)v < points - 1 ? (int)v : points - 2;
    const float *g = grid + j * points + i;
    float top = bench_blend(g[0], g[1], u - (float)i);
    return bench_blend(top, bench_blend(g[points], g[points + 1], u - (float)i), v - (float)j);
}

/* A picture as a camera gives it, three bytes a pixel: a sky that changes slowly, bodies of one colour that
 * are lit from one side, a patch of fine texture below, and a sensor whose last bit is noise in one pixel of
 * sixteen. */
static __attribute__((unused)) uint8_t *bench_picture(int w, int h) {
    enum { COARSE = 5, FINE = 48, BODIES = 9 };
    float coarse[COARSE * COARSE], fine[FINE * FINE];
    struct {
        float x, y, rx, ry, colour[3];
    } body[BODIES];
    uint8_t *rgb = bench_alloc((size_t)(w * h) * 3, 1);
    for (int k = 0; k < COARSE * COARSE; k++)
        coarse[k] = bench_uniform();
    for (int k = 0; k < FINE * FINE; k++)
        fine[k] = bench_uniform();
    for (int k = 0; k < BODIES; k++) {
        body[k].x = bench_uniform();
        body[k].y = 0.2f + 0.6f * bench_uniform();
        body[k].rx = 0.05f + 0.15f * bench_uniform();
        body[k].ry = 0.05f + 0.15f * bench_uniform();
        for (int c = 0; c < 3; c++)
            body[k].colour[c] = 40 + 180 * bench_uniform();
    }
    for (int j = 0; j < h; j++)
        for (int i = 0; i < w; i++) {
            float x = ((float)i + 0.5f) / (float)w, y = ((float)j + 0.5f) / (float)h;
            float sky = bench_noise(coarse, COARSE, x, y);
            float colour[3] = {110 + 30 * sky, 140 + 25 * sky, 180 + 30 * sky};
            if (y > 0.8f) {
                float grass = bench_noise(fine, FINE, x, (y - 0.8f) * 5);
                for (int c = 0; c < 3; c++)
                    colour[c] = (c == 1 ? 90 : 50) + 40 * grass;
            }
            for (int k = 0; k < BODIES; k++) {
                float dx = (x - body[k].x) / body[k].rx, dy = (y - body[k].y) / body[k].ry;
                float light = dx > 0.3f ? 0.8f : 1;
                for (int c = 0; dx * dx + dy * dy < 1 && c < 3; c++)
                    colour[c] = body[k].colour[c] * light;
            }
            bool noisy = bench_below(16) == 0;
            for (int c = 0; c < 3; c++)
                rgb[(j * w + i) * 3 + c] = (uint8_t)((int)colour[c] ^ (noisy ? (int)bench_below(2) : 0));
        }
    return rgb;
}

#endif
