/* The approximate functions of PTX as the GPU executes them: the special function unit (mufu_model.h), and
 * around it, without .ftz, the scaling by which subnormal operands and results are kept, since the unit
 * flushes them. One lane at a time, on bits, written so that loops over them vectorise. The host must round
 * to nearest. */
#ifndef REPRISE_EXEC_LANES_MUFU_H
#define REPRISE_EXEC_LANES_MUFU_H

#include "exec/lanes_isa.h"
#include "exec/mufu_model.h"

/* Powers of two, as bits. */
#define P2(exponent) ((uint32_t)(127 + (exponent)) << 23)

/* canon32 without a condition. */
LANE_INLINE uint32_t canon_bits(float x) {
    uint32_t v = f32_bits(x);
    return mufu_select(mufu_below(0x7f800000, v & 0x7fffffffu), F32_NAN, v);
}

LANE_INLINE uint32_t mul32(uint32_t x, uint32_t y) {
    return canon_bits(as_f32(x) * as_f32(y));
}

/* x y with .ftz: flushed when tiny after rounding as if exponents had no end. */
LANE_INLINE uint32_t mul32_ftz(uint32_t x, uint32_t y) {
    float a = as_f32(flush32(x)), b = as_f32(flush32(y));
    uint32_t r = canon_bits(a * b), scaled = f32_bits(a * 0x1p64f * b) & 0x7fffffffu;
    return mufu_select(mufu_below(scaled, P2(-126 + 64)), r & 0x80000000u, r);
}

/* All ones where |v| < 2^-126. */
LANE_INLINE uint32_t small_mask(uint32_t v) {
    return mufu_below(v & 0x7fffffffu, P2(-126));
}

/* All ones where |v| > 2^126, whose reciprocal is subnormal. */
LANE_INLINE uint32_t huge_mask(uint32_t v) {
    return mufu_below(P2(126), v & 0x7fffffffu);
}

LANE_INLINE uint32_t mufu_rcp(uint32_t v, const bool ftz) {
    if (ftz)
        return mufu_unit_rcp(v);
    uint32_t scale = mufu_select(small_mask(v), P2(24), mufu_select(huge_mask(v), P2(-2), P2(0)));
    return mul32(mufu_unit_rcp(mul32(v, scale)), scale);
}

LANE_INLINE uint32_t mufu_rsq(uint32_t v, const bool ftz) {
    if (ftz)
        return mufu_unit_rsq(v);
    uint32_t small = small_mask(v), up = mul32(v, mufu_select(small, P2(24), P2(0)));
    return mul32(mufu_unit_rsq(up), mufu_select(small, P2(12), P2(0)));
}

LANE_INLINE uint32_t mufu_sqrt(uint32_t v, const bool ftz) {
    if (ftz)
        return mufu_unit_sqrt(v);
    uint32_t small = small_mask(v), up = mul32(v, mufu_select(small, P2(24), P2(0)));
    return mul32(mufu_unit_sqrt(up), mufu_select(small, P2(-12), P2(0)));
}

LANE_INLINE uint32_t mufu_lg2(uint32_t v, const bool ftz) {
    if (ftz)
        return mufu_unit_lg2(v);
    uint32_t small = small_mask(v), r = mufu_unit_lg2(mul32(v, mufu_select(small, P2(24), P2(0))));
    return mufu_select(small, canon_bits(as_f32(r) - 24.0f), r);
}

LANE_INLINE uint32_t mufu_ex2(uint32_t v, const bool ftz) {
    if (ftz)
        return mufu_unit_ex2(v);
    /* Below -126, up to infinity: the square of the function of half the operand. */
    uint32_t low = mufu_negative(v) & mufu_below(0x42fc0000, v & 0x7fffffffu);
    uint32_t r = mufu_unit_ex2(mul32(v, mufu_select(low, P2(-1), P2(0))));
    return mul32(r, mufu_select(low, r, P2(0)));
}

/* v / 2 pi, rounded towards zero, with .ftz or without: where the error for large angles comes from. */
LANE_INLINE uint32_t turns(uint32_t v) {
    double exact = (double)as_f32(v) * 0x1.45f306p-3;
    float near = (float)exact;
    return f32_bits(near) - (fabs((double)near) > fabs(exact) ? 1 : 0);
}

LANE_INLINE uint32_t mufu_sin(uint32_t v, const bool ftz) {
    (void)ftz;
    return mufu_unit_turn(turns(v), 0);
}

LANE_INLINE uint32_t mufu_cos(uint32_t v, const bool ftz) {
    (void)ftz;
    return mufu_unit_turn(turns(v), 1);
}

LANE_INLINE uint32_t mufu_tanh(uint32_t v, const bool ftz) {
    (void)ftz;
    return mufu_unit_tanh(v);
}

/* 1 / sqrt(v) in f64: one step of third order from the unit's seed. */
LANE_INLINE uint64_t mufu_rsq64(uint64_t v) {
    bool small = (v & UINT64_C(0x7ff0000000000000)) == 0;
    double x = as_f64(v), up = small ? x * 0x1p54 : x;
    double y = as_f64((uint64_t)mufu_unit_rsq64h((uint32_t)(f64_bits(up) >> 32)) << 32);
    double e = fma(up, -(y * y), 1.0), r = fma(fma(e, 0.375, 0.5), y * e, y);
    r = small ? r * 0x1p27 : r;
    return canon64(x != x ? x : x > 0 && x < (double)INFINITY ? r : y);
}

/* A result of the unit in a 16-bit format: cut off. */
LANE_INLINE uint32_t mufu_narrow(uint32_t v, const bool bf) {
    uint32_t mag = v & 0x7fffffffu, normal = (mag - 0x38000000u) >> 13;
    uint32_t e = mag >> 23, shift = 126 - e, m = (mag & 0x7fffffu) | 0x800000u;
    uint32_t subnormal = m >> (shift > 31 ? 31 : shift); /* in units of 2^-24 */
    uint32_t r = mag < 0x38800000u ? subnormal : mag >= 0x47800000u ? 0x7c00u : normal;
    r = bf ? mag >> 16 : r;
    return mag > 0x7f800000u ? 0x7fff : (v >> 16 & 0x8000u) | r;
}

/* x / y as x times the reciprocal of y. .full scales a huge divisor too; without .ftz a subnormal one. */
LANE_INLINE uint32_t mufu_div(uint32_t x, uint32_t y, const bool full, const bool ftz) {
    uint32_t scale = mufu_select(full ? huge_mask(y) : 0, P2(-2), P2(0));
    if (ftz)
        return mul32_ftz(mul32_ftz(x, scale), mufu_unit_rcp(mul32_ftz(y, scale)));
    scale = mufu_select(small_mask(y), P2(24), scale);
    return mul32(mul32(x, scale), mufu_unit_rcp(mul32(y, scale)));
}

#endif
