/* The special function unit as the hardware computes it, bit for bit.
 *
 * The unit interpolates. The upper bits of a reduced argument choose three coefficients, the 17 bits below
 * them are x, and the result is c0 + c1 x + c2 x^2 in fixed point, cut off once at the end. Only the square
 * is inexact: its partial products below 2^19 are never formed. (The structure is that of Oberman and Siu, "A
 * high-performance area-efficient multifunction interpolator", ARITH-17; widths and coefficients come from
 * results of an H200.)
 *
 * Functions take and give the bits of a number, flush subnormal operands and results as the unit does, have
 * no branches, and are exact whatever the host's rounding mode. */
#ifndef REPRISE_EXEC_MUFU_MODEL_H
#define REPRISE_EXEC_MUFU_MODEL_H

#include <stdint.h>
#include <string.h>

/* Coefficients by segment; tables of 64 use half of them, or hold two octaves. */
struct mufu_table {
    int32_t c0[128], c1[128], c2[128];
};

extern const struct mufu_table mufu_rcp_table, mufu_rsq_table, mufu_sqrt_table, mufu_ex2_table,
    mufu_lg2_table, mufu_sin_table, mufu_tanh_table;

#define MUFU_INLINE static inline __attribute__((always_inline))

#define MUFU_NAN UINT32_C(0x7fffffff)
#define MUFU_INF UINT32_C(0x7f800000)

/* All ones where a < b, else 0; a and b are less than 2^31 apart. Masks, unlike conditions, keep compilers
 * from making branches around much work, and so from leaving loops scalar. */
MUFU_INLINE uint32_t mufu_below(uint32_t a, uint32_t b) {
    return (uint32_t)((int32_t)(a - b) >> 31);
}

/* All ones where the highest bit is set. */
MUFU_INLINE uint32_t mufu_negative(uint32_t v) {
    return (uint32_t)((int32_t)v >> 31);
}

/* a where mask is ones, else b. Compilers turn a choice between results of much work into branches, which
 * keep loops from being vectorised; this leaves them none. */
MUFU_INLINE uint32_t mufu_select(uint32_t mask, uint32_t a, uint32_t b) {
    return b ^ ((a ^ b) & mask);
}

/* The square of 17 bits in units of 2^19, less the partial products below that: bit j times itself and twice
 * the bits below it, of which the lower 10 alone are cut off. */
MUFU_INLINE uint32_t mufu_square(uint32_t x) {
    uint32_t high = x >> 10, low = x & 0x3ff, sum = 2 * high * high;
    for (unsigned j = 10; j <= 16; j++)
        sum += low >> (18 - j) & mufu_negative(x << (31 - j));
    return sum;
}

/* c0 + c1 x + c2 x^2, where c0 counts 2^c0_shift and c0_low is the part all segments share. It is never
 * negative. Doubles hold all that is added up exactly, and hosts are faster with them than with 64-bit
 * integers.
 */
MUFU_INLINE double mufu_interpolate(const struct mufu_table *t, uint32_t segment, uint32_t x, int c0_shift,
                                    int c0_low) {
    const int32_t k = (int32_t)segment;
    return (double)t->c0[k] * (1 << c0_shift) + c0_low + (double)t->c1[k] * (double)(int32_t)x +
           (double)t->c2[k] * (double)(int32_t)mufu_square(x);
}

/* The same where c0 counts 2^15, without the low bits. */
MUFU_INLINE uint32_t mufu_fraction(const struct mufu_table *t, uint32_t segment, uint32_t x, int c0_low,
                                   int low_bits) {
    return (uint32_t)(int32_t)(mufu_interpolate(t, segment, x, 15, c0_low) / (1 << low_bits));
}

/* An integer 0 <= v < 2^52. */
MUFU_INLINE double mufu_double(uint64_t v) {
    uint64_t bits = v | UINT64_C(0x4330000000000000); /* 2^52 */
    double whole, two52 = 0x1p52;
    memcpy(&whole, &bits, sizeof whole);
    return whole - two52; /* exact */
}

/* The other way. */
MUFU_INLINE uint64_t mufu_integer(double v) {
    uint64_t bits;
    v += 0x1p52;
    memcpy(&bits, &v, sizeof bits);
    return bits & UINT64_C(0xfffffffffffff);
}

/* A fixed-point number 0 <= v < 2^52 with the given fraction bits as float bits, cut off. */
MUFU_INLINE uint32_t mufu_normalize(double v, int fraction) {
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    uint32_t r = (uint32_t)((bits >> 29) - ((uint64_t)(1023 - 127 + fraction) << 23));
    return mufu_select(mufu_below((uint32_t)(bits >> 32), 1), 0, r);
}

MUFU_INLINE uint32_t mufu_unit_rcp(uint32_t v) {
    uint32_t sign = v & 0x80000000u, mag = v & 0x7fffffffu, e = mag >> 23;
    uint32_t m = mufu_fraction(&mufu_rcp_table, mag >> 16 & 127, (mag & 0xffff) << 1, 8092, 17);
    int32_t r = (int32_t)(253 - e) * (1 << 23) + (int32_t)m;
    uint32_t out = mufu_select(mufu_below((uint32_t)r, 0x800000) | mufu_below(254, e), 0, (uint32_t)r);
    out = mufu_select(mufu_below(e, 1), MUFU_INF, out);
    return mufu_select(mufu_below(MUFU_INF, mag), MUFU_NAN, sign | out);
}

MUFU_INLINE uint32_t mufu_unit_rsq(uint32_t v) {
    uint32_t sign = v & 0x80000000u, mag = v & 0x7fffffffu, e = mag >> 23, even = ~e & 1;
    uint32_t m = mufu_fraction(&mufu_rsq_table, (mag >> 17 & 63) + (even << 6), mag & 0x1ffff, 32766, 17);
    uint32_t exact = mufu_below((mag & 0xffffff) ^ 0x800000, 1); /* a power of 4 */
    uint32_t out = ((190 - ((e + 1) >> 1)) << 23) + mufu_select(exact, 0x800000, m);
    out = mufu_select(mufu_below(e, 1), sign | MUFU_INF, mufu_select(mufu_below(254, e), 0, out));
    return mufu_select(mufu_below(MUFU_INF, mag) | (mufu_negative(v) & mufu_below(0, e)), MUFU_NAN, out);
}

MUFU_INLINE uint32_t mufu_unit_sqrt(uint32_t v) {
    uint32_t sign = v & 0x80000000u, mag = v & 0x7fffffffu, e = mag >> 23, even = ~e & 1;
    uint32_t m = mufu_fraction(&mufu_sqrt_table, (mag >> 17 & 63) + (even << 6), mag & 0x1ffff, 32767, 17);
    uint32_t out = ((63 + ((e + 1) >> 1)) << 23) + m;
    out = mufu_select(mufu_below(e, 1), sign, mufu_select(mufu_below(254, e), MUFU_INF, out));
    return mufu_select(mufu_below(MUFU_INF, mag) | (mufu_negative(v) & mufu_below(0, e)), MUFU_NAN, out);
}

/* |v| in units of 2^-fraction, cut off, modulo 2^32; v is no NaN and no infinity. */
MUFU_INLINE uint32_t mufu_fixed(uint32_t v, int fraction) {
    int32_t e = (int32_t)(v >> 23 & 255);
    int32_t left = e - 150 + fraction;
    uint32_t m = mufu_select(mufu_below(e, 1), 0, (v & 0x7fffffu) | 0x800000u);
    uint32_t up = mufu_select(mufu_below(31, (uint32_t)left), 0, m << (left & 31)),
             down = mufu_select(mufu_below((uint32_t)left, (uint32_t)-31), 0, m >> (-left & 31));
    return mufu_select(~mufu_negative((uint32_t)left), up, down);
}

MUFU_INLINE uint32_t mufu_unit_ex2(uint32_t v) {
    uint32_t mag = v & 0x7fffffffu;
    uint32_t fixed = mufu_fixed(mufu_select(mufu_below(mag, 0x43800000), mag, 0), 23); /* |v| < 256 */
    uint32_t whole_only = mufu_below(fixed & 0x7fffffu, 1); /* other negatives come out less by one unit */
    uint32_t q = mufu_select(mufu_negative(v), ~fixed - whole_only, fixed);
    uint32_t m = mufu_fraction(&mufu_ex2_table, q >> 17 & 63, q & 0x1ffff, 24456, 17);
    int32_t whole = (int32_t)q >> 23;
    uint32_t r = ((uint32_t)(127 + whole) << 23) + m;
    uint32_t far = ~mufu_below(mag, 0x43800000), negative = mufu_negative(v);
    uint32_t out = mufu_select(mufu_below((uint32_t)whole, (uint32_t)-126) | (far & negative), 0, r);
    out = mufu_select(mufu_below(127, (uint32_t)whole) | (far & ~negative), MUFU_INF, out);
    out = mufu_select(mufu_below(mag, 0x800000), 0x3f800000u, out);
    return mufu_select(mufu_below(MUFU_INF, mag), MUFU_NAN, out);
}

MUFU_INLINE uint32_t mufu_unit_lg2(uint32_t v) {
    uint32_t mag = v & 0x7fffffffu, e = mag >> 23;
    uint64_t t = mufu_integer(mufu_interpolate(&mufu_lg2_table, mag >> 17 & 63, mag & 0x1ffff, 12, 837)) >> 2;
    /* The sum is modulo 2^64; negative ones are complemented, which makes them less by one unit. */
    uint64_t sum = ((uint64_t)e << 36) + t - (UINT64_C(127) << 36);
    uint32_t minus = mufu_negative((uint32_t)(sum >> 32));
    uint64_t mag_sum = sum ^ ((uint64_t)minus << 32 | minus);
    uint32_t out = mufu_normalize(mufu_double(mag_sum), 36) | (minus & 0x80000000u);
    out = mufu_select(mufu_below(mag ^ 0x3f800000u, 1), 0, mufu_select(mufu_below(254, e), MUFU_INF, out));
    out = mufu_select(mufu_below(e, 1), 0xff800000u, out);
    return mufu_select(mufu_below(MUFU_INF, mag) | (mufu_negative(v) & mufu_below(0, e)), MUFU_NAN, out);
}

/* Sine or cosine of v turns. */
MUFU_INLINE uint32_t mufu_unit_turn(uint32_t v, const uint32_t cosine) {
    uint32_t mag = v & 0x7fffffffu, q = mufu_fixed(mag, 25);
    uint32_t quadrant = (q >> 23) + cosine, back = -(quadrant & 1); /* odd quadrants run backwards */
    uint32_t u = (q ^ back) & 0x7fffffu, sign = (quadrant & 2) << 30 ^ (cosine ? 0 : v & 0x80000000u);
    double t = mufu_interpolate(&mufu_sin_table, u >> 17, u & 0x1ffff, 12, 0);
    return mufu_select(mufu_below(MUFU_INF - 1, mag), MUFU_NAN, mufu_normalize(t, 38) | sign);
}

/* Octaves from 2^-8 to 8 have between 1 and 16 segments; below, the result is the operand, above it is 1. */
MUFU_INLINE uint32_t mufu_unit_tanh(uint32_t v) {
    static const int32_t first[11] = {0, 1, 2, 3, 5, 7, 11, 15, 19, 27, 43};
    static const int32_t bits[11] = {0, 0, 0, 1, 1, 2, 2, 2, 3, 4, 3}; /* log2 of the number of segments */
    uint32_t sign = v & 0x80000000u, mag = v & 0x7fffffffu, e = mag >> 23;
    uint32_t octave = mufu_select(mufu_below(e, 119), 0, mufu_select(mufu_below(129, e), 10, e - 119)),
             n = (uint32_t)bits[octave];
    uint32_t m = (mag & 0x7fffffu) << n, segment = (uint32_t)first[octave] + (m >> 23);
    double t = mufu_interpolate(&mufu_tanh_table, segment, m >> 6 & 0x1ffff, 13, 0);
    uint32_t out = mufu_normalize(t, 39);
    out = mufu_select(mufu_below(e, 119), mag, mufu_select(mufu_below(129, e), 0x3f800000u, out));
    return mufu_select(mufu_below(MUFU_INF, mag), MUFU_NAN, sign | out);
}

/* The upper word of the seed of an f64 function, from the upper word of its operand. */
MUFU_INLINE uint32_t mufu_unit_rcp64h(uint32_t v) {
    uint32_t sign = v & 0x80000000u, mag = v & 0x7fffffffu, e = mag >> 20;
    uint32_t m = mufu_fraction(&mufu_rcp_table, mag >> 13 & 127, (mag & 0x1fff) << 4, 8092, 20);
    int32_t r = (int32_t)(2045 - e) * (1 << 20) + (int32_t)m;
    uint32_t out = mufu_select(mufu_below((uint32_t)r, 0x100000) | mufu_below(2046, e), 0, (uint32_t)r);
    out = mufu_select(mufu_below(e, 1), 0x7ff00000u, out);
    return mufu_select(mufu_below(0x7ff00000, mag), MUFU_NAN, sign | out);
}

MUFU_INLINE uint32_t mufu_unit_rsq64h(uint32_t v) {
    uint32_t sign = v & 0x80000000u, mag = v & 0x7fffffffu, e = mag >> 20, even = ~e & 1;
    uint32_t segment = (mag >> 14 & 63) + (even << 6), x = (mag & 0x3fff) << 3;
    uint32_t m = mufu_fraction(&mufu_rsq_table, segment, x, 32766, 20);
    uint32_t exact = mufu_below((mag & 0x1fffff) ^ 0x100000, 1);
    uint32_t out = ((1534 - ((e + 1) >> 1)) << 20) + mufu_select(exact, 0x100000, m);
    out = mufu_select(mufu_below(e, 1), sign | 0x7ff00000u, mufu_select(mufu_below(2046, e), 0, out));
    return mufu_select(mufu_below(0x7ff00000, mag) | (mufu_negative(v) & mufu_below(0, e)), MUFU_NAN, out);
}

#endif
