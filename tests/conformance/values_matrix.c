/* Operands of matrix instructions. A result is a sum of many products, so that independent random elements
 * would nearly always be of one kind: every warp has a kind of its own instead, and all elements of its
 * matrices lean that way. */
#include "conform.h"

enum { LANES = 32 };

enum kind {
    NEAR_ONE,    /* magnitudes as in real programs */
    WIDE,        /* exponents far apart: much is lost when terms are aligned */
    POWERS,      /* products of one bit: shows where that bit is lost */
    CANCEL,      /* terms of nearly the same size, so that a sum leaves the last bits */
    TINY,        /* subnormal numbers and products */
    HUGE_VALUES, /* sums and products that overflow */
    SPARSE,      /* few terms: zeros of either sign between wide ones */
    ANY_BITS,    /* everything, now and then infinities and NaNs */
    KINDS
};

/* A binary format: explicit exponent and mantissa bits, the exponents of its wide numbers, and whether the
 * largest exponent belongs to infinities and NaNs. */
struct format {
    int ebits, mbits, wide;
    bool specials;
};
static const struct format f16 = {5, 10, 14, true}, bf16 = {8, 7, 30, true}, tf32 = {8, 23, 30, true},
                           f64 = {11, 52, 60, true}, e4m3 = {4, 3, 6, false}, e5m2 = {5, 2, 14, true};

static enum kind kind_of(uint32_t t) {
    return (enum kind)(t / LANES % KINDS);
}

static int between(struct rng *r, int lo, int hi) {
    return lo + (int)rng_below(r, (uint32_t)(hi - lo + 1));
}

/* A number of format f. scale: 1 for factors, 2 for what is added to their products. */
static uint64_t element(struct rng *r, enum kind kind, const struct format *f, int scale) {
    int bias = (1 << (f->ebits - 1)) - 1, top = (1 << f->ebits) - 1 - (f->specials ? 1 : 0), e = bias;
    uint64_t frac = rng_next(r) >> (64 - f->mbits), sign = rng_next(r) >> 63 << (f->ebits + f->mbits);
    uint64_t one = UINT64_C(1) << f->mbits;
    switch (kind) {
    case NEAR_ONE:
        e += between(r, -3 * scale, 3 * scale);
        break;
    case WIDE:
        e += between(r, -f->wide * scale, f->wide * scale);
        break;
    case POWERS:
        frac = scale == 1 ? frac & one >> 1 : frac;
        e += between(r, -f->wide * scale, f->wide * scale);
        break;
    case CANCEL: {
        uint64_t few[] = {0, 1, one - 1, one / 2};
        frac = scale == 1 ? few[rng_below(r, 4)] : frac;
        e += scale == 1 ? between(r, 0, 1) : between(r, -26, 5);
        break;
    }
    case TINY:
        if (rng_below(r, 2))
            return sign | frac >> rng_below(r, (uint32_t)f->mbits);
        e = rng_below(r, 2) ? between(r, 1, 4) : e + between(r, -4, 4);
        break;
    case HUGE_VALUES:
        e = scale == 1 ? between(r, bias + f->wide - 4, top) : between(r, top - (top - bias) / 2, top);
        break;
    case SPARSE:
        if (rng_below(r, 4))
            return sign;
        e += between(r, -f->wide * scale, f->wide * scale);
        break;
    default:
        e = (int)rng_below(r, 1u << f->ebits);
        if (e > top && rng_below(r, 8))
            e = bias;
        if (f->ebits == 11 && !rng_below(r, 16)) { /* or there would hardly be any */
            e = top + 1;
            frac = rng_below(r, 3) ? frac : 0;
        }
        break;
    }
    if (e < 1)
        e = kind == ANY_BITS && !e ? 0 : 1;
    else if (e > top && kind != ANY_BITS)
        e = top;
    return sign | (uint64_t)e << f->mbits | frac;
}

static uint64_t word_of(struct rng *r, uint32_t t, const struct format *f, int scale) {
    int bits = 1 + f->ebits + f->mbits;
    uint64_t x = 0;
    for (int at = 0; at < (bits < 32 ? 32 : bits); at += bits)
        x |= element(r, kind_of(t), f, scale) << at;
    return x;
}

#define FLOATS(name, format, scale)                                                                          \
    uint64_t random_matrix_##name(struct rng *r, uint32_t t) {                                               \
        return word_of(r, t, &format, scale);                                                                \
    }
FLOATS(f16, f16, 1)
FLOATS(bf16, bf16, 1)
FLOATS(tf32, tf32, 1)
FLOATS(f64, f64, 1)
FLOATS(e4m3, e4m3, 1)
FLOATS(e5m2, e5m2, 1)
FLOATS(c_f16, f16, 2)
FLOATS(c_f32, tf32, 2)

/* Integers: bytes, nibbles and bits; small ones, extreme ones, any. */
static uint64_t integers(struct rng *r, uint32_t t, int bits) {
    uint64_t x = 0, all = (UINT64_C(1) << bits) - 1;
    for (int at = 0; at < 32; at += bits) {
        uint64_t v = rng_next(r) >> 32;
        if (t / LANES % 4 == 1)
            v = v % 3 - 1;
        if (t / LANES % 4 == 2)
            v = rng_below(r, 2) ? all >> 1 : (all >> 1) + 1;
        x |= (v & all) << at;
    }
    return x;
}
uint64_t random_matrix_s8(struct rng *r, uint32_t t) {
    return integers(r, t, 8);
}
uint64_t random_matrix_s4(struct rng *r, uint32_t t) {
    return integers(r, t, 4);
}
uint64_t random_matrix_b1(struct rng *r, uint32_t t) {
    (void)t;
    return rng_next(r) >> 32;
}
/* Sums near the ends of the range, others. */
uint64_t random_matrix_c_s32(struct rng *r, uint32_t t) {
    uint32_t x = (uint32_t)(rng_next(r) >> 32);
    if (t / LANES % 2)
        return x;
    x = x % 600000;
    return rng_below(r, 2) ? 0x7fffffffu - x : 0x80000000u + x;
}

/* Metadata of sparse matrices: two different, ascending indices of two bits in each nibble; or one of the two
 * pairs that choose a whole half. */
uint64_t random_matrix_meta24(struct rng *r, uint32_t t) {
    static const uint8_t legal[] = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe};
    uint64_t x = 0;
    (void)t;
    for (int at = 0; at < 32; at += 4)
        x |= (uint64_t)legal[rng_below(r, 6)] << at;
    return x;
}
uint64_t random_matrix_meta12(struct rng *r, uint32_t t) {
    uint64_t x = 0;
    (void)t;
    for (int at = 0; at < 32; at += 4)
        x |= (uint64_t)(rng_below(r, 2) ? 0x4 : 0xe) << at;
    return x;
}

/* Which 16 bytes of the block's shared memory a row of a matrix is: in some warps the rows in order. */
uint64_t random_matrix_row(struct rng *r, uint32_t t) {
    return t / LANES % 4 ? rng_below(r, 512) : t % 128 * 4;
}
