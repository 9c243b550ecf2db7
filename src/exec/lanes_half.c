/* Executors of f16 and bf16, one or two numbers per word.
 *
 * Results are rounded once. Sums and products of f16 may be computed in f32, which is wide enough that the
 * second rounding never shows; fma, and bf16 products that may fall below f32's range, are first rounded "to
 * odd": cut off, with the last bit set when anything was lost. A number so rounded to at least two more bits
 * than the target keeps the side of every tie. */
#include "exec/lanes_half.h"
#include "exec/lanes_mufu.h"

LANE_INLINE bool is_pair(const struct imods *m) {
    return m->dtype == MT_F16X2 || m->dtype == MT_BF16X2;
}

LANE_INLINE bool is_bf(const struct imods *m) {
    return m->dtype == MT_BF16 || m->dtype == MT_BF16X2;
}

/* ---- arithmetic ---- */
enum half_op { HALF_ADD, HALF_SUB, HALF_MUL, HALF_FMA };

/* p + c rounded to odd, p and c exact. */
LANE_INLINE float add_odd32(float p, float c) {
    float s = p + c, part = s - p, err = (p - (s - part)) + (c - part);
    uint32_t v = f32_bits(s), away = (f32_bits(err) ^ v) >> 31;
    bool exact = err == 0 || (v & 0x7f800000u) == 0x7f800000u;
    return as_f32(exact ? v : (v - away) | 1);
}

LANE_INLINE double add_odd64(double p, double c) {
    double s = p + c, part = s - p, err = (p - (s - part)) + (c - part);
    uint64_t v = f64_bits(s), away = (f64_bits(err) ^ v) >> 63;
    const uint64_t inf = UINT64_C(0x7ff0000000000000);
    bool exact = err == 0 || (v & inf) == inf;
    return as_f64(exact ? v : (v - away) | 1);
}

LANE_INLINE float narrow_odd(double x) {
    float f = (float)x;
    double back = f;
    uint32_t v = f32_bits(f), away = fabs(back) > fabs(x) ? 1 : 0;
    return as_f32(back == x ? v : (v - away) | 1);
}

LANE_INLINE void half_compute(float *r, const float *x, const float *y, const float *z, const enum half_op op,
                              const bool bf) {
    switch (op) {
    case HALF_ADD:
        FOR_LANES r[i] = x[i] + y[i];
        break;
    case HALF_SUB:
        FOR_LANES r[i] = x[i] - y[i];
        break;
    case HALF_MUL:
        if (bf)
            FOR_LANES r[i] = narrow_odd((double)x[i] * y[i]);
        else
            FOR_LANES r[i] = x[i] * y[i];
        break;
    case HALF_FMA:
        if (bf)
            FOR_LANES r[i] = narrow_odd(add_odd64((double)x[i] * y[i], z[i]));
        else
            FOR_LANES r[i] = add_odd32(x[i] * y[i], z[i]);
        break;
    }
}

/* Source k of half number n as f32. */
LANE_INLINE void load_half(float *x, const struct lane_io *io, unsigned k, unsigned n, const bool bf,
                           const bool ftz) {
    const uint32_t *s = lane_src(io, k);
    LANE_TEMP(uint32_t, flushed);
    if (ftz) {
        FOR_LANES flushed[i] = half_flush(s[i] >> (16 * n) & 0xffff, bf);
        half_to_f32(x, flushed, 0, bf);
    } else if (n) {
        half_to_f32(x, s, 16, bf);
    } else {
        half_to_f32(x, s, 0, bf);
    }
}

LANE_INLINE void half_arith(struct lane_io *io, const enum half_op op, const bool bf) {
    const struct imods *m = io->m;
    LANE_TEMP(float, x);
    LANE_TEMP(float, y);
    LANE_TEMP(float, z);
    LANE_TEMP(float, r);
    LANE_TEMP(uint32_t, out[2]);
    unsigned count = is_pair(m) ? 2 : 1;
    const bool ftz = m->ftz, sat = m->sat, relu = m->relu;
    memset(out[1], 0, sizeof out[1]);
    for (unsigned n = 0; n < count; n++) {
        load_half(x, io, 0, n, bf, ftz);
        load_half(y, io, 1, n, bf, ftz);
        if (op == HALF_FMA)
            load_half(z, io, 2, n, bf, ftz);
        half_compute(r, x, y, z, op, bf);
        f32_to_half(out[n], r, bf);
        if (ftz)
            FOR_LANES out[n][i] = half_flush_result(out[n][i], r[i], bf);
        if (sat)
            FOR_LANES out[n][i] = half_sat(out[n][i], bf);
        if (relu)
            FOR_LANES out[n][i] = half_relu(out[n][i]);
    }
    uint32_t *d = lane_dst(io, 0);
    FOR_LANES d[i] = out[0][i] | out[1][i] << 16;
}

#define HALF_EXECUTORS(id, op)                                                                               \
    static void id##_f16(struct lane_io *io) {                                                               \
        half_arith(io, op, false);                                                                           \
    }                                                                                                        \
    static void id##_bf16(struct lane_io *io) {                                                              \
        half_arith(io, op, true);                                                                            \
    }                                                                                                        \
    PICK(id, is_bf(m) ? id##_bf16 : id##_f16)
HALF_EXECUTORS(HADD2, HALF_ADD)
HALF_EXECUTORS(HSUB2, HALF_SUB)
HALF_EXECUTORS(HMUL2, HALF_MUL)
HALF_EXECUTORS(HFMA2, HALF_FMA)

/* ---- minimum and maximum, on bit patterns ---- */

/* Orders the numbers as signed integers, -0 below +0. */
LANE_INLINE int32_t order16(uint32_t h) {
    int32_t v = (int32_t)(h << 16) >> 16;
    return v ^ (v >> 16 & 0x7fff);
}

LANE_INLINE uint32_t half_minmax(uint32_t a, uint32_t b, const bool max, const bool bf, unsigned mode,
                                 bool ftz) {
    const uint32_t inf = half_inf(bf);
    a = ftz ? half_flush(a & 0xffff, bf) : a & 0xffff;
    b = ftz ? half_flush(b & 0xffff, bf) : b & 0xffff;
    uint32_t sign = mode & MINMAX_XORSIGN ? (a ^ b) & 0x8000u : 0;
    uint32_t keep = mode & MINMAX_XORSIGN ? 0x7fffu : 0xffffu;
    a &= keep;
    b &= keep;
    uint32_t r = (max ? order16(a) > order16(b) : order16(a) < order16(b)) ? a : b;
    bool nan_a = (a & 0x7fff) > inf, nan_b = (b & 0x7fff) > inf, strict = mode & MINMAX_NAN;
    r = nan_b ? a : r;
    r = nan_a ? b : r;
    bool nan = strict ? nan_a || nan_b : nan_a && nan_b;
    return nan ? F16_NAN : r | sign;
}

LANE_INLINE void half_minmax_lanes(struct lane_io *io, const bool max, const bool bf) {
    const uint32_t *s0 = lane_src(io, 0), *s1 = lane_src(io, 1);
    uint32_t *d = lane_dst(io, 0);
    const unsigned mode = io->m->mode;
    const bool ftz = io->m->ftz;
    const uint32_t upper = is_pair(io->m) ? 0xffff0000u : 0;
    FOR_LANES {
        uint32_t a = s0[i], b = s1[i];
        uint32_t lo = half_minmax(a, b, max, bf, mode, ftz),
                 hi = half_minmax(a >> 16, b >> 16, max, bf, mode, ftz);
        d[i] = lo | (hi << 16 & upper);
    }
}

#define HALF_MINMAX(id, max)                                                                                 \
    static void id##_f16(struct lane_io *io) {                                                               \
        half_minmax_lanes(io, max, false);                                                                   \
    }                                                                                                        \
    static void id##_bf16(struct lane_io *io) {                                                              \
        half_minmax_lanes(io, max, true);                                                                    \
    }                                                                                                        \
    PICK(id, is_bf(m) ? id##_bf16 : id##_f16)
HALF_MINMAX(HMIN2, false)
HALF_MINMAX(HMAX2, true)

/* ---- comparisons ---- */

/* Lanes in which half n of the operands compares as asked. */
static uint32_t half_compare(const struct lane_io *io, unsigned n) {
    const bool bf = is_bf(io->m), ftz = io->m->ftz;
    LANE_TEMP(float, x);
    LANE_TEMP(float, y);
    LANE_TEMP(uint32_t, lt);
    LANE_TEMP(uint32_t, eq);
    LANE_TEMP(uint32_t, un);
    load_half(x, io, 0, n, bf, ftz);
    load_half(y, io, 1, n, bf, ftz);
    FOR_LANES {
        lt[i] = x[i] < y[i] ? 1 : 0;
        eq[i] = x[i] == y[i] ? 1 : 0;
        un[i] = x[i] != x[i] || y[i] != y[i] ? 1 : 0;
    }
    return relation_mask(io->m->cmp, pack_mask(lt), pack_mask(eq), pack_mask(un));
}

/* One number: both results as for other comparisons; two: one result for each. */
static void exec_hsetp2(struct lane_io *io) {
    uint32_t low = half_compare(io, 0);
    compare_out(io, low);
    if (is_pair(io->m))
        io->pout[1] = combine_mask(io->m->bop, half_compare(io, 1), io->pin[0]);
}
PICK(HSETP2, exec_hsetp2)

static void exec_hset2(struct lane_io *io) {
    const struct imods *m = io->m;
    uint32_t yes = m->mode == HSET_MASK ? 0xffffu : half_one(is_bf(m));
    uint32_t low = combine_mask(m->bop, half_compare(io, 0), io->pin[0]);
    uint32_t high = m->mode == HSET_MASK ? low : 0; /* a mask of one number fills the word */
    if (is_pair(m))
        high = combine_mask(m->bop, half_compare(io, 1), io->pin[0]);
    uint32_t *d = lane_dst(io, 0);
    LANE_TEMP(uint32_t, lo);
    LANE_TEMP(uint32_t, hi);
    spread_mask(lo, low);
    spread_mask(hi, high);
    FOR_LANES d[i] = (lo[i] & yes) | (hi[i] & yes << 16);
}
PICK(HSET2, exec_hset2)

/* ---- approximate functions, through those of f32 ---- */
static void exec_hmufu(struct lane_io *io) {
    const struct imods *m = io->m;
    const bool bf = is_bf(m), ftz = m->ftz;
    LANE_TEMP(float, x);
    LANE_TEMP(uint32_t, out[2]);
    memset(out[1], 0, sizeof out[1]);
    for (unsigned n = 0; n < (is_pair(m) ? 2u : 1u); n++) {
        load_half(x, io, 0, n, bf, ftz);
        if (m->mode == MUFU_TANH)
            FOR_LANES out[n][i] = mufu_narrow(mufu_unit_tanh(f32_bits(x[i])), bf);
        else
            FOR_LANES out[n][i] = mufu_narrow(mufu_unit_ex2(f32_bits(x[i])), bf);
        if (ftz)
            FOR_LANES out[n][i] = half_flush(out[n][i], bf);
    }
    uint32_t *d = lane_dst(io, 0);
    FOR_LANES d[i] = out[0][i] | out[1][i] << 16;
}
PICK(HMUFU, exec_hmufu)
