/* Matrix products in the way tensor cores compute them, between the unpacking of registers (mma.c) and loops
 * that are compiled for each instruction set of the host (lanes_mma.c).
 *
 * Floating point. A tensor core of sm_90 adds up to 16 products and the accumulator at once: every term is
 * shifted to the exponent of the largest, bits beyond MMA_FRACTION behind its point are cut off, the integers
 * are added, and their sum is cut off to f32 or rounded to the nearest f16. The exponent of a product is the
 * sum of its factors' exponents, so that its significand may reach 4; zeros have none. A sum of zero is +0.
 * The only NaN is MMA_NAN. This was fitted to results of an H200 and checked on others; see
 * tests/conformance/README.md. */
#ifndef REPRISE_EXEC_MMA_H
#define REPRISE_EXEC_MMA_H

#include "isa/mma.h"

enum {
    MMA_FRACTION = 25,
    MMA_TERMS =
        64, /* of one element of the result, at most, where products are not of single bits or integers */
    MMA_NO_EXP = -10000, /* exponent of zero */
};
#define MMA_NAN 0x7fffffffu

/* A binary format: bits of the exponent and of the fraction. */
struct mma_format {
    uint8_t ebits, mbits;
};

/* Factors of products: significand with its sign, and exponent, of each element. Infinities and NaNs have a
 * significand of 0 here. */
struct mma_factors {
    _Alignas(64) int32_t a[MMA_MAX_M][MMA_TERMS], a_exp[MMA_MAX_M][MMA_TERMS];
    _Alignas(64) int32_t b[MMA_TERMS][MMA_N], b_exp[MMA_TERMS][MMA_N];
    uint8_t row[MMA_MAX_M][MMA_TERMS]; /* of B, that each element of a row of A is multiplied with */
    uint32_t up;                       /* shift that gives a product MMA_FRACTION bits behind its point */
};

/* What one instruction set of the host offers. */
struct lane_matrix {
    /* Takes n numbers apart: significand with its sign, and exponent. True when infinities or NaNs are among
     * them. */
    bool (*unpack)(const uint32_t *v, uint32_t n, const struct mma_format *f, int32_t *sig, int32_t *exp);
    /* For a row of the result: adds products [first, end) of each column, and an accumulator c[j] *
     * 2^c_exp[j] given with MMA_FRACTION bits. The sums are in units of 2^(top[j] - MMA_FRACTION). */
    void (*fused)(const struct mma_factors *f, uint32_t row, uint32_t first, uint32_t end, const int32_t *c,
                  const int32_t *c_exp, int64_t *sum, int32_t *top);
    /* A row of integers: d[j] = sum of a[k] * b[k][j], over n of the rows of b. */
    void (*integer)(const int32_t *a, const int32_t (*b)[MMA_N], const uint8_t *row, uint32_t n, int64_t *d);
    /* A row of doubles: products are added to d[j] one after the other, each rounded. */
    void (*chain)(const double *a, const double (*b)[MMA_N], uint32_t n, double *d);
};
extern struct lane_matrix lane_matrix;

#endif
