/* Matrix products of a warp: D = A * B + C, with A of m rows and k columns, B of k rows and 8 columns, spread
 * over the registers of 32 lanes as PTX lays out mma.
 *
 * m.mode is an MMA_MODE, m.stype the element type of A, m.lut that of B, m.dtype that of C and D; m.rnd
 * rounds products of doubles, m.sat clamps integer sums. Sparse products have half of A's elements, and in
 * src[3] which ones. */
#ifndef REPRISE_ISA_MMA_H
#define REPRISE_ISA_MMA_H

#include "isa/isa.h"

enum { MMA_N = 8, MMA_MAX_M = 16, MMA_MAX_K = 256 };

enum mma_flags {
    MMA_M16 = 1 << 4,    /* 16 rows; else 8 */
    MMA_SPARSE = 1 << 5, /* the selector stands above it */
    MMA_AND = 1 << 8,    /* single bits: those of A and B that are both set count, else those that differ */
    MMA_A_COL = 1 << 9,  /* MMA884: A is stored by columns ... */
    MMA_B_ROW = 1 << 10, /* ... B by rows */
};
/* log2k: logarithm of the number of columns of A; flags: of enum mma_flags. */
#define MMA_MODE(log2k, flags, selector) ((uint16_t)((log2k) | (flags) | (selector) << 6))

static inline uint32_t mma_m(uint16_t mode) {
    return mode & MMA_M16 ? 16 : 8;
}
static inline uint32_t mma_k(uint16_t mode) {
    return 1u << (mode & 15);
}
static inline uint32_t mma_selector(uint16_t mode) {
    return mode >> 6 & 3;
}

/* Bits of an element. */
uint32_t mma_bits(enum mtype t);

/* Words of a lane that a matrix of so many elements of so many bits takes. */
static inline uint32_t mma_words(uint32_t elements, uint32_t bits) {
    return elements * bits / (32 * WARP_LANES);
}
/* Words of A, B, and of C or D. */
static inline uint32_t mma_words_a(const struct imods *m) {
    return mma_words(mma_m(m->mode) * mma_k(m->mode), mma_bits(m->stype)) / (m->mode & MMA_SPARSE ? 2 : 1);
}
static inline uint32_t mma_words_b(const struct imods *m) {
    return mma_words(MMA_N * mma_k(m->mode), mma_bits(m->stype));
}
static inline uint32_t mma_words_c(const struct imods *m) {
    return mma_words(mma_m(m->mode) * MMA_N, mma_bits(m->dtype));
}

#endif
