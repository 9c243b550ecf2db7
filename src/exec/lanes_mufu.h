/* The approximate functions of PTX as the GPU executes them: the special function unit (mufu_model.h), and
 * around it, without .ftz, the scaling by which subnormal operands and results are kept, since the unit
 * flushes them. One lane at a time, on bits, written so that loops over them vectorise. The host must round
 * to nearest. */
#ifndef REPRISE_EXEC_LANES_MUFU_H
#define REPRISE_EXEC_LANES_MUFU_H

#include "exec/lanes_isa.h"
#include "exec/mufu_model.h"

LANE_INLINE uint32_t mul32(uint32_t x, float y) {
    return canon32(as_f32(x) * y);
}

/* x y with .ftz: flushed when tiny after rounding as if exponents had no end. */
LANE_INLINE uint32_t mul32_ftz(uint32_t x, uint32_t y) {
    float a = as_f32(flush32(x)), b = as_f32(flush32(y)), scaled = a * 0x1p64f * b;
    uint32_t r = canon32(a * b);
    return (f32_bits(scaled) & 0x7fffffffu) < 0x20800000u ? r & 0x80000000u : r; /* 2^-126 2^64 */
}

LANE_INLINE bool is_small(uint32_t v) {
    return (v & 0x7fffffffu) < 0x00800000u;
}

/* |v| > 2^126, whose reciprocal is subnormal. */
LANE_INLINE bool is_huge(uint32_t v) {
    return (v & 0x7fffffffu) > 0x7e800000u;
}

LANE_INLINE uint32_t mufu_rcp(uint32_t v, const bool ftz) {
    if (ftz)
        return mufu_unit_rcp(v);
    float scale = is_small(v) ? 0x1p24f : is_huge(v) ? 0.25f : 1.0f;
    return mul32(mufu_unit_rcp(mul32(v, scale)), scale);
}

LANE_INLINE uint32_t mufu_rsq(uint32_t v, const bool ftz) {
    bool small = !ftz && is_small(v);
    return mul32(mufu_unit_rsq(small ? mul32(v, 0x1p24f) : v), small ? 0x1p12f : 1.0f);
}

LANE_INLINE uint32_t mufu_sqrt(uint32_t v, const bool ftz) {
    bool small = !ftz && is_small(v);
    return mul32(mufu_unit_sqrt(small ? mul32(v, 0x1p24f) : v), small ? 0x1p-12f : 1.0f);
}

LANE_INLINE uint32_t mufu_lg2(uint32_t v, const bool ftz) {
    bool small = !ftz && is_small(v);
    uint32_t r = mufu_unit_lg2(small ? mul32(v, 0x1p24f) : v);
    return small ? canon32(as_f32(r) - 24.0f) : r;
}

LANE_INLINE uint32_t mufu_ex2(uint32_t v, const bool ftz) {
    bool small = !ftz && as_f32(v) < -126.0f;
    uint32_t r = mufu_unit_ex2(small ? mul32(v, 0.5f) : v);
    return small ? mul32(r, as_f32(r)) : r;
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
    bool huge = full && is_huge(y);
    float scale = huge ? 0.25f : !ftz && is_small(y) ? 0x1p24f : 1.0f;
    if (!ftz)
        return mul32(mul32(x, scale), as_f32(mufu_unit_rcp(mul32(y, scale))));
    uint32_t factor = f32_bits(scale);
    return mul32_ftz(mul32_ftz(x, factor), mufu_unit_rcp(mul32_ftz(y, factor)));
}

#endif
