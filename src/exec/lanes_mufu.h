/* The approximate functions of the special function unit, one lane at a time, written so that loops over them
 * vectorise. Each is total: infinities, NaN, zeros and subnormals give what the PTX ISA's tables say without
 * .ftz; flushing is the caller's. Values are computed in double and rounded once, so they lie well inside the
 * documented error of every function. The host must round to nearest. */
#ifndef REPRISE_EXEC_LANES_MUFU_H
#define REPRISE_EXEC_LANES_MUFU_H

#include "exec/lanes_isa.h"

/* 2^x for -1000 < x < 1000, relative error below 2^-44. */
LANE_INLINE double exp2_core(double x) {
    const double magic = 0x1.8p52; /* adding it rounds to an integer that stands in the low bits */
    double shifted = x + magic, t = (x - (shifted - magic)) * 0x1.62e42fefa39efp-1;
    double p = 1.0 / 3628800;
    p = p * t + 1.0 / 362880;
    p = p * t + 1.0 / 40320;
    p = p * t + 1.0 / 5040;
    p = p * t + 1.0 / 720;
    p = p * t + 1.0 / 120;
    p = p * t + 1.0 / 24;
    p = p * t + 1.0 / 6;
    p = p * t + 0.5;
    p = p * t + 1.0;
    p = p * t + 1.0;
    return as_f64(f64_bits(p) + (f64_bits(shifted) << 52));
}

LANE_INLINE float mufu_ex2(float x) {
    float in = x > 160.0f ? 160.0f : x < -160.0f ? -160.0f : x;
    float r = (float)exp2_core(in == in ? in : 0);
    return x == x ? r : x;
}

LANE_INLINE float mufu_lg2(float x) {
    /* x = m 2^e with m in [sqrt(1/2), sqrt(2)); the bias keeps the shift free of signs. */
    const uint64_t one = UINT64_C(1) << 52, root2 = UINT64_C(0x3ff6a09e00000000);
    uint64_t v = f64_bits((double)x), e = ((v - root2 + 1025 * one) >> 52) - 1024, scaled = v - (e << 52);
    double m = as_f64(scaled), s = (m - 1) / (m + 1), z = s * s, p = 1.0 / 17;
    p = p * z + 1.0 / 15;
    p = p * z + 1.0 / 13;
    p = p * z + 1.0 / 11;
    p = p * z + 1.0 / 9;
    p = p * z + 1.0 / 7;
    p = p * z + 1.0 / 5;
    p = p * z + 1.0 / 3;
    p = p * z + 1.0;
    uint32_t in = f32_bits(x), mag = in & 0x7fffffffu;
    uint32_t r = f32_bits((float)((double)(int32_t)e + p * s * 0x1.71547652b82fep1)); /* 2 / ln 2 */
    r = mag >= 0x7f800000u ? in : r;
    r = in > 0x80000000u ? F32_NAN : r;
    return as_f32(mag == 0 ? 0xff800000u : r);
}

LANE_INLINE float mufu_rcp(float x) {
    return 1.0f / x;
}

LANE_INLINE float mufu_rsq(float x) {
    return (float)(1.0 / sqrt((double)x));
}

LANE_INLINE float mufu_sqrt(float x) {
    return sqrtf(x);
}

/* sin(2 pi t), |t| <= 1/2. */
LANE_INLINE double sin_turns(double t) {
    double q = fabs(t) > 0.25 ? copysign(0.5, t) - t : t, y = q * 0x1.921fb54442d18p2, z = y * y;
    double p = -1.0 / 1307674368000;
    p = p * z + 1.0 / 6227020800;
    p = p * z - 1.0 / 39916800;
    p = p * z + 1.0 / 362880;
    p = p * z - 1.0 / 5040;
    p = p * z + 1.0 / 120;
    p = p * z - 1.0 / 6;
    p = p * z + 1.0;
    return p * y;
}

/* The unit works on x / 2 pi, rounded to a float, which is where its error for large x comes from. */
LANE_INLINE float mufu_sin(float x) {
    double t = x * 0x1.45f306p-3f;
    return (float)sin_turns(t - rint(t));
}

LANE_INLINE float mufu_cos(float x) {
    double t = (double)(x * 0x1.45f306p-3f) + 0.25;
    return (float)sin_turns(t - rint(t));
}

LANE_INLINE float mufu_tanh(float x) {
    float in = x > 20.0f ? 20.0f : x < -20.0f ? -20.0f : x == x ? x : 0;
    double w = in, e = exp2_core(w * 0x1.71547652b82fep1), big = (e - 1) / (e + 1);
    double small = w - w * w * w * (1.0 / 3);
    float r = (float)(fabs(w) < 0x1p-12 ? small : big);
    r = in == 0 ? x : r;
    return x == x ? r : x;
}

#endif
