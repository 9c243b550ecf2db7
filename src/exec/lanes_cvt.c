/* Executors of conversions. Common pairs of types are computed with the host's own conversions, all lanes at
 * once; the others go through convert_value lane by lane. Where the host rounds, it does so in the mode the
 * caller set. */
#include "exec/convert.h"
#include "exec/lanes_half.h"

/* ---- any pair ---- */
static void exec_any(struct lane_io *io) {
    const struct imods *m = io->m;
    bool wide_in = mtype_size(m->stype) == 8, wide_out = mtype_size(m->dtype) == 8;
    for (unsigned i = 0; i < WARP_LANES; i++) {
        uint64_t v = convert_value(m, pair64(io->s[0][i], wide_in ? io->s[1][i] : 0));
        io->d[0][i] = (uint32_t)v;
        if (wide_out)
            io->d[1][i] = (uint32_t)(v >> 32);
    }
}

static void exec_f2fp(struct lane_io *io) {
    const uint32_t *hi = lane_src(io, 0), *lo = lane_src(io, 1);
    uint32_t *d = lane_dst(io, 0);
    for (unsigned i = 0; i < WARP_LANES; i++)
        d[i] = convert_pack(io->m, hi[i], lo[i]);
}

/* cvt.rn.f16x2.f32, cvt.rn.bf16x2.f32 */
LANE_INLINE void pack_halves(struct lane_io *io, const bool bf) {
    LANE_TEMP(float, x);
    LANE_TEMP(uint32_t, hi);
    LANE_TEMP(uint32_t, lo);
    uint32_t *d = lane_dst(io, 0);
    const uint32_t negative = io->m->relu ? 0x8000u : 0;
    memcpy(x, lane_src(io, 0), sizeof x);
    f32_to_half(hi, x, bf);
    memcpy(x, lane_src(io, 1), sizeof x);
    f32_to_half(lo, x, bf);
    FOR_LANES {
        uint32_t h = hi[i] & negative ? 0 : hi[i], l = lo[i] & negative ? 0 : lo[i];
        d[i] = h << 16 | l;
    }
}

static void exec_pack_f16(struct lane_io *io) {
    pack_halves(io, false);
}

static void exec_pack_bf16(struct lane_io *io) {
    pack_halves(io, true);
}

static lane_fn *pick_pack(const struct imods *m) {
    bool plain = m->rnd == RND_RN && !m->sat && !m->mode;
    if (plain && m->dtype == MT_F16X2)
        return exec_pack_f16;
    return plain && m->dtype == MT_BF16X2 ? exec_pack_bf16 : exec_f2fp;
}
PICK(F2FP, pick_pack(m))

/* ---- float to float ---- */
LANE_INLINE void f64_f32(struct lane_io *io, const bool ftz) {
    const uint32_t *s0 = lane_src(io, 0), *s1 = lane_src(io, 1);
    uint32_t *d = lane_dst(io, 0);
    const bool sat = io->m->sat;
    FOR_LANES {
        double x = as_f64(pair64(s0[i], s1[i]));
        uint32_t r = canon32((float)x);
        if (ftz) /* tiny after rounding as if exponents had no end: see lanes_float.c */
            r = (f32_bits((float)(x * 0x1p64)) & 0x7fffffffu) < 0x20800000u ? r & 0x80000000u : r;
        d[i] = sat ? sat32(r) : r;
    }
}

static void exec_f64_f32(struct lane_io *io) {
    f64_f32(io, false);
}

static void exec_f64_f32_ftz(struct lane_io *io) {
    f64_f32(io, true);
}

static void exec_f32_f64(struct lane_io *io) {
    const uint32_t *s0 = lane_src(io, 0);
    uint32_t *d0 = lane_dst(io, 0), *d1 = lane_dst(io, 1);
    const bool ftz = io->m->ftz, sat = io->m->sat;
    FOR_LANES {
        uint64_t r = canon64((double)as_f32(ftz ? flush32(s0[i]) : s0[i]));
        r = sat ? sat64(r) : r;
        d0[i] = (uint32_t)r;
        d1[i] = (uint32_t)(r >> 32);
    }
}

/* .rni, .rmi, .rpi, .rzi; the host rounds to nearest here. */
LANE_INLINE float integral32(float x, const unsigned rnd) {
    return rnd == RND_RN ? rintf(x) : rnd == RND_RZ ? truncf(x) : rnd == RND_RM ? floorf(x) : ceilf(x);
}

LANE_INLINE double integral64(double x, const unsigned rnd) {
    return rnd == RND_RN ? rint(x) : rnd == RND_RZ ? trunc(x) : rnd == RND_RM ? floor(x) : ceil(x);
}

LANE_INLINE void f32_same(struct lane_io *io, const bool whole, const unsigned rnd) {
    const uint32_t *s0 = lane_src(io, 0);
    uint32_t *d = lane_dst(io, 0);
    const bool ftz = io->m->ftz, sat = io->m->sat;
    FOR_LANES {
        float x = as_f32(ftz ? flush32(s0[i]) : s0[i]);
        uint32_t r = canon32(whole ? integral32(x, rnd) : x);
        d[i] = sat ? sat32(r) : r;
    }
}

LANE_INLINE void f64_whole(struct lane_io *io, const unsigned rnd) {
    const uint32_t *s0 = lane_src(io, 0), *s1 = lane_src(io, 1);
    uint32_t *d0 = lane_dst(io, 0), *d1 = lane_dst(io, 1);
    const bool sat = io->m->sat;
    FOR_LANES {
        uint64_t r = canon64(integral64(as_f64(pair64(s0[i], s1[i])), rnd));
        r = sat ? sat64(r) : r;
        d0[i] = (uint32_t)r;
        d1[i] = (uint32_t)(r >> 32);
    }
}

LANE_INLINE void half_f32(struct lane_io *io, const bool bf) {
    LANE_TEMP(float, x);
    uint32_t *d = lane_dst(io, 0);
    const bool sat = io->m->sat;
    half_to_f32(x, lane_src(io, 0), 0, bf);
    FOR_LANES {
        uint32_t r = canon32(x[i]);
        d[i] = sat ? sat32(r) : r;
    }
}

LANE_INLINE void f32_half(struct lane_io *io, const bool bf) {
    LANE_TEMP(float, x);
    LANE_TEMP(uint32_t, h);
    const uint32_t *s0 = lane_src(io, 0);
    uint32_t *d = lane_dst(io, 0);
    const bool sat = io->m->sat, relu = io->m->relu;
    FOR_LANES x[i] = as_f32(s0[i]);
    f32_to_half(h, x, bf);
    FOR_LANES {
        uint32_t r = sat ? half_sat(h[i], bf) : h[i];
        d[i] = relu ? half_relu(r) : r;
    }
}

/* Defines exec_<name>: an executor that calls body with constants. */
#define INSTANCE(name, body, ...)                                                                            \
    static void exec_##name(struct lane_io *io) {                                                            \
        body(io, __VA_ARGS__);                                                                               \
    }
#define INSTANCES_RND(name, body, ...)                                                                       \
    INSTANCE(name##_rn, body, __VA_ARGS__, RND_RN)                                                           \
    INSTANCE(name##_rz, body, __VA_ARGS__, RND_RZ)                                                           \
    INSTANCE(name##_rm, body, __VA_ARGS__, RND_RM)                                                           \
    INSTANCE(name##_rp, body, __VA_ARGS__, RND_RP)                                                           \
    static lane_fn *const name##_table[4] = {exec_##name##_rn, exec_##name##_rz, exec_##name##_rm,           \
                                             exec_##name##_rp};
INSTANCE(f32_f32, f32_same, false, RND_RN)
INSTANCES_RND(f32_whole, f32_same, true)
INSTANCE(f64_whole_rn, f64_whole, RND_RN)
INSTANCE(f64_whole_rz, f64_whole, RND_RZ)
INSTANCE(f64_whole_rm, f64_whole, RND_RM)
INSTANCE(f64_whole_rp, f64_whole, RND_RP)
static lane_fn *const f64_whole_table[4] = {exec_f64_whole_rn, exec_f64_whole_rz, exec_f64_whole_rm,
                                            exec_f64_whole_rp};
INSTANCE(f16_f32, half_f32, false)
INSTANCE(bf16_f32, half_f32, true)
INSTANCE(f32_f16, f32_half, false)
INSTANCE(f32_bf16, f32_half, true)

static lane_fn *pick_f2f(const struct imods *m) {
    bool same = m->stype == m->dtype,
         narrow = m->stype == MT_F32 && (m->dtype == MT_F16 || m->dtype == MT_BF16);
    if (m->rnd > RND_RP || m->mode || (m->relu && !narrow))
        return exec_any;
    if (narrow && m->rnd == RND_RN)
        return m->dtype == MT_F16 ? exec_f32_f16 : exec_f32_bf16;
    if (same && m->stype == MT_F32)
        return m->rint ? f32_whole_table[m->rnd] : exec_f32_f32;
    if (same && m->stype == MT_F64 && m->rint)
        return f64_whole_table[m->rnd];
    if (m->stype == MT_F64 && m->dtype == MT_F32)
        return m->ftz ? exec_f64_f32_ftz : exec_f64_f32;
    if (m->stype == MT_F32 && m->dtype == MT_F64)
        return exec_f32_f64;
    if (m->dtype == MT_F32 && (m->stype == MT_F16 || m->stype == MT_BF16) && !m->ftz)
        return m->stype == MT_F16 ? exec_f16_f32 : exec_bf16_f32;
    return exec_any;
}
PICK(F2F, pick_f2f(m))

/* ---- float to 32-bit integer; clamped before the host converts, which is undefined out of range ---- */
LANE_INLINE void f32_int(struct lane_io *io, const bool sgn, const unsigned rnd) {
    const uint32_t *s0 = lane_src(io, 0);
    uint32_t *d = lane_dst(io, 0);
    const bool ftz = io->m->ftz;
    FOR_LANES {
        float x = integral32(as_f32(ftz ? flush32(s0[i]) : s0[i]), rnd),
              bias = sgn || x < 0x1p31f ? 0 : 0x1p31f;
        float low = sgn ? -0x1p31f : 0, high = sgn ? 0x1p31f : 0x1p32f;
        bool in = x >= low && x < high;
        uint32_t r = (uint32_t)(int32_t)(in ? x - bias : 0) + (bias > 0 ? 0x80000000u : 0);
        r = x >= high ? (sgn ? 0x7fffffffu : UINT32_MAX) : r;
        r = x < low ? (sgn ? 0x80000000u : 0) : r;
        d[i] = x == x ? r : 0;
    }
}

LANE_INLINE void f64_int(struct lane_io *io, const bool sgn, const unsigned rnd) {
    const uint32_t *s0 = lane_src(io, 0), *s1 = lane_src(io, 1);
    uint32_t *d = lane_dst(io, 0);
    FOR_LANES {
        double x = integral64(as_f64(pair64(s0[i], s1[i])), rnd), bias = sgn ? 0 : 0x1p31;
        double low = sgn ? -0x1p31 : 0, high = sgn ? 0x1p31 : 0x1p32;
        double in = x >= low && x < high ? x : 0;
        uint32_t r = (uint32_t)(int32_t)(in - bias) + (sgn ? 0 : 0x80000000u);
        r = x >= high ? (sgn ? 0x7fffffffu : UINT32_MAX) : r;
        r = x < low ? (sgn ? 0x80000000u : 0) : r;
        d[i] = x == x ? r : 0x80000000u;
    }
}
/* Integers that floats hold exactly: least to most. */
LANE_INLINE void f32_short(struct lane_io *io, const float least, const float most, const unsigned rnd) {
    const uint32_t *s0 = lane_src(io, 0);
    uint32_t *d = lane_dst(io, 0);
    const bool ftz = io->m->ftz;
    FOR_LANES {
        float x = integral32(as_f32(ftz ? flush32(s0[i]) : s0[i]), rnd), in = x < most ? x : most;
        d[i] = x == x ? (uint32_t)(int32_t)(in > least ? in : least) : 0;
    }
}
INSTANCES_RND(f32_s16, f32_short, -0x1p15f, 0x1p15f - 1)
INSTANCES_RND(f32_u16, f32_short, 0, 0x1p16f - 1)
INSTANCES_RND(f32_s8, f32_short, -0x1p7f, 0x1p7f - 1)
INSTANCES_RND(f32_u8, f32_short, 0, 0x1p8f - 1)
INSTANCES_RND(f32_s32, f32_int, true)
INSTANCES_RND(f32_u32, f32_int, false)
INSTANCES_RND(f64_s32, f64_int, true)
INSTANCES_RND(f64_u32, f64_int, false)

static lane_fn *pick_f2i(const struct imods *m) {
    bool from32 = m->stype == MT_F32;
    if ((!from32 && m->stype != MT_F64) || m->rnd > RND_RP)
        return exec_any;
    if (m->dtype == MT_S32)
        return from32 ? f32_s32_table[m->rnd] : f64_s32_table[m->rnd];
    if (m->dtype == MT_U32)
        return from32 ? f32_u32_table[m->rnd] : f64_u32_table[m->rnd];
    if (from32 && mtype_size(m->dtype) == 2)
        return m->dtype == MT_S16 ? f32_s16_table[m->rnd] : f32_u16_table[m->rnd];
    if (from32 && mtype_size(m->dtype) == 1)
        return m->dtype == MT_S8 ? f32_s8_table[m->rnd] : f32_u8_table[m->rnd];
    return exec_any;
}
PICK(F2I, pick_f2i(m))

/* ---- integer to float ---- */
#define INT_TO_F32(name, expr)                                                                               \
    static void exec_##name##_f32(struct lane_io *io) {                                                      \
        const uint32_t *s0 = lane_src(io, 0);                                                                \
        uint32_t *d = lane_dst(io, 0);                                                                       \
        FOR_LANES {                                                                                          \
            uint32_t a = s0[i];                                                                              \
            d[i] = f32_bits((float)(expr));                                                                  \
        }                                                                                                    \
    }
INT_TO_F32(s32, (int32_t)a)
INT_TO_F32(u32, a)
INT_TO_F32(u32_any, (double)(int32_t)(a >> 1) * 2 + (double)(int32_t)(a & 1)) /* rounds once, at the end */
INT_TO_F32(s16, (int32_t)(int16_t)a)
INT_TO_F32(u16, (int32_t)(a & 0xffff))
INT_TO_F32(s8, (int32_t)(int8_t)a)
INT_TO_F32(u8, (int32_t)(a & 0xff))

LANE_INLINE void int32_f64(struct lane_io *io, const bool sgn) {
    const uint32_t *s0 = lane_src(io, 0);
    uint32_t *d0 = lane_dst(io, 0), *d1 = lane_dst(io, 1);
    FOR_LANES {
        uint64_t r = f64_bits(sgn ? (double)(int32_t)s0[i] : (double)s0[i]);
        d0[i] = (uint32_t)r;
        d1[i] = (uint32_t)(r >> 32);
    }
}
INSTANCE(s32_f64, int32_f64, true)
INSTANCE(u32_f64, int32_f64, false)

LANE_INLINE void int64_f32(struct lane_io *io, const bool sgn) {
    const uint32_t *s0 = lane_src(io, 0), *s1 = lane_src(io, 1);
    uint32_t *d = lane_dst(io, 0);
    FOR_LANES {
        uint64_t a = pair64(s0[i], s1[i]);
        d[i] = f32_bits(sgn ? (float)(int64_t)a : (float)a);
    }
}

LANE_INLINE void int64_f64(struct lane_io *io, const bool sgn) {
    const uint32_t *s0 = lane_src(io, 0), *s1 = lane_src(io, 1);
    uint32_t *d0 = lane_dst(io, 0), *d1 = lane_dst(io, 1);
    FOR_LANES {
        uint64_t a = pair64(s0[i], s1[i]), r = f64_bits(sgn ? (double)(int64_t)a : (double)a);
        d0[i] = (uint32_t)r;
        d1[i] = (uint32_t)(r >> 32);
    }
}
INSTANCE(s64_f32, int64_f32, true)
INSTANCE(u64_f32, int64_f32, false)
INSTANCE(s64_f64, int64_f64, true)
INSTANCE(u64_f64, int64_f64, false)

static lane_fn *const i2f_table[MT_COUNT][2] = {
    [MT_S32] = {exec_s32_f32, exec_s32_f64},
    [MT_U32] = {exec_u32_f32, exec_u32_f64},
    [MT_S16] = {exec_s16_f32},
    [MT_U16] = {exec_u16_f32},
    [MT_S8] = {exec_s8_f32},
    [MT_U8] = {exec_u8_f32},
    [MT_S64] = {exec_s64_f32, exec_s64_f64},
    [MT_U64] = {exec_u64_f32, exec_u64_f64},
};

static lane_fn *pick_i2f(const struct imods *m) {
    lane_fn *fast = NULL;
    /* Compilers emulate conversions the host lacks in ways that hold for rounding to nearest only. */
    bool native = m->stype == MT_S32 || mtype_size(m->stype) < 4 || m->rnd == RND_RN;
    if (!m->sat && !native && m->stype == MT_U32 && m->dtype == MT_F32 && m->rnd <= RND_RP)
        return exec_u32_any_f32;
    if (!m->sat && native && (m->dtype == MT_F32 || m->dtype == MT_F64))
        fast = i2f_table[m->stype][m->dtype == MT_F64];
    return fast ? fast : exec_any;
}
PICK(I2F, pick_i2f(m))
PICK(I2ISAT, exec_any)
