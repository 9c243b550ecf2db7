/* Executors of 32- and 64-bit floating point, from the operation table where it has an expression.
 *
 * They run under whatever rounding mode the caller set, so nothing here may depend on it but the operation
 * itself. Flushing of subnormals is explicit: the host's own flush modes differ from the GPU's in detail and
 * cost a mode switch. */
#include "exec/lanes_isa.h"
#include "isa/semantics.h"

/* ---- forms of the table: four executors each, for ftz and sat off and on ----
 *
 * With .ftz a result is flushed when it is below the normal range after rounding as if exponents had no end.
 * What the host returns, rounded to the spacing of subnormals, may have reached the least normal number
 * since; so the operation is done once more, scaled up by an exact power of two, and that result decides.
 * Scaled operands only overflow where the result is far from tiny. */
#define UP           0x1p64f
#define SCALED_FADD  ((x + y) * UP) /* a tiny sum is exact */
#define SCALED_FMUL  (x * UP * y)
#define SCALED_FFMA  fmaf(x *UP, y, z *UP)
#define SCALED_FDIV  (x * UP / y)
#define SCALED_FRCP  (UP / x)
#define SCALED_FSQRT 1.0f /* never tiny, but for zero */

LANE_INLINE bool is_tiny(float scaled) {
    return (f32_bits(scaled) & 0x7fffffffu) < 0x20800000u; /* 2^-126 * 2^64 */
}

#define FIN(v, ftz) as_f32((ftz) ? flush32(v) : (v))
#define FOUT(d, expr, scaled)                                                                                \
    do {                                                                                                     \
        uint32_t r_ = canon32(expr);                                                                         \
        if (ftz)                                                                                             \
            r_ = is_tiny(scaled) ? r_ & 0x80000000u : r_;                                                    \
        d = sat ? sat32(r_) : r_;                                                                            \
    } while (0)

#define BODY_F1_1(id, expr)                                                                                  \
    const uint32_t *s0 = lane_src(io, 0);                                                                    \
    uint32_t *d = lane_dst(io, 0);                                                                           \
    FOR_LANES {                                                                                              \
        float x = FIN(s0[i], ftz);                                                                           \
        FOUT(d[i], expr, SCALED_##id);                                                                       \
    }
#define BODY_F1_11(id, expr)                                                                                 \
    const uint32_t *s0 = lane_src(io, 0), *s1 = lane_src(io, 1);                                             \
    uint32_t *d = lane_dst(io, 0);                                                                           \
    FOR_LANES {                                                                                              \
        float x = FIN(s0[i], ftz), y = FIN(s1[i], ftz);                                                      \
        FOUT(d[i], expr, SCALED_##id);                                                                       \
    }
#define BODY_F1_111(id, expr)                                                                                \
    const uint32_t *s0 = lane_src(io, 0), *s1 = lane_src(io, 1), *s2 = lane_src(io, 2);                      \
    uint32_t *d = lane_dst(io, 0);                                                                           \
    FOR_LANES {                                                                                              \
        float x = FIN(s0[i], ftz), y = FIN(s1[i], ftz), z = FIN(s2[i], ftz);                                 \
        FOUT(d[i], expr, SCALED_##id);                                                                       \
    }
#define BODY_D2(sources, expr)                                                                               \
    uint32_t *d0 = lane_dst(io, 0), *d1 = lane_dst(io, 1);                                                   \
    FOR_LANES {                                                                                              \
        sources;                                                                                             \
        uint64_t r = canon64(expr);                                                                          \
        r = sat ? sat64(r) : r;                                                                              \
        d0[i] = (uint32_t)r;                                                                                 \
        d1[i] = (uint32_t)(r >> 32);                                                                         \
    }
#define BODY_D2_2(expr)                                                                                      \
    const uint32_t *s0 = lane_src(io, 0), *s1 = lane_src(io, 1);                                             \
    BODY_D2(double x = as_f64(pair64(s0[i], s1[i])), expr)
#define BODY_D2_22(expr)                                                                                     \
    const uint32_t *s0 = lane_src(io, 0), *s1 = lane_src(io, 1), *s2 = lane_src(io, 2),                      \
                   *s3 = lane_src(io, 3);                                                                    \
    BODY_D2(double x = as_f64(pair64(s0[i], s1[i])); double y = as_f64(pair64(s2[i], s3[i])), expr)
#define BODY_D2_222(expr)                                                                                    \
    const uint32_t *s0 = lane_src(io, 0), *s1 = lane_src(io, 1), *s2 = lane_src(io, 2),                      \
                   *s3 = lane_src(io, 3);                                                                    \
    const uint32_t *s4 = lane_src(io, 4), *s5 = lane_src(io, 5);                                             \
    BODY_D2(double x = as_f64(pair64(s0[i], s1[i])); double y = as_f64(pair64(s2[i], s3[i]));                \
            double z = as_f64(pair64(s4[i], s5[i])), expr)

#define INSTANCE(id, tag, ftz, sat)                                                                          \
    static void id##_##tag(struct lane_io *io) {                                                             \
        body_##id(io, ftz, sat);                                                                             \
    }
#define EXECUTORS(id, body)                                                                                  \
    LANE_INLINE void body_##id(struct lane_io *io, const bool ftz, const bool sat) {                         \
        (void)ftz;                                                                                           \
        body                                                                                                 \
    }                                                                                                        \
    INSTANCE(id, plain, false, false)                                                                        \
    INSTANCE(id, ftz, true, false)                                                                           \
    INSTANCE(id, sat, false, true)                                                                           \
    INSTANCE(id, ftz_sat, true, true)                                                                        \
    PICK(id, m->sat ? (m->ftz ? id##_ftz_sat : id##_sat) : m->ftz ? id##_ftz : id##_plain)

#define EXEC_F1_1(id, ...)   EXECUTORS(id, BODY_F1_1(id, (__VA_ARGS__)))
#define EXEC_F1_11(id, ...)  EXECUTORS(id, BODY_F1_11(id, (__VA_ARGS__)))
#define EXEC_F1_111(id, ...) EXECUTORS(id, BODY_F1_111(id, (__VA_ARGS__)))
#define EXEC_D2_2(id, ...)   EXECUTORS(id, BODY_D2_2((__VA_ARGS__)))
#define EXEC_D2_22(id, ...)  EXECUTORS(id, BODY_D2_22((__VA_ARGS__)))
#define EXEC_D2_222(id, ...) EXECUTORS(id, BODY_D2_222((__VA_ARGS__)))
/* the other forms live in other files */
#define EXEC_W1_1(id, ...)
#define EXEC_W1_11(id, ...)
#define EXEC_W1_111(id, ...)
#define EXEC_W1_11P(id, ...)
#define EXEC_W2_11(id, ...)
#define EXEC_W2_112(id, ...)
#define EXEC_W2_22(id, ...)
#define EXEC_FN_W1(id, ...)
#define EXEC_FN_W1_1(id, ...)
#define EXEC_FN_W1_11(id, ...)
#define EXEC_FN_W1_11P(id, ...)
#define EXEC_FN_W1_111(id, ...)
#define EXEC_FN_W1_1111(id, ...)
#define EXEC_FN_W2_211(id, ...)
#define EXEC_FN_W2_2211(id, ...)
#define EXEC_FN_F1_1(id, ...)
#define EXEC_FN_F1_11(id, ...)
#define EXEC_FN_D2_2(id, ...)
#define EXEC_FN_D2_22(id, ...)
#define EXEC_FN_CARRY(id, ...)
#define EXEC_FN_SETP1(id, ...)
#define EXEC_FN_SETP2(id, ...)
#define EXEC_FN_TESTP1(id, ...)
#define EXEC_FN_TESTP2(id, ...)
#define EXEC_FN_CHECK(id, ...)
#define EXEC_FN_P2R(id, ...)
#define EXEC_FN_R2P(id, ...)
#define EXEC_FN_PLOP(id, ...)
#define EXEC_FN_CVT(id, ...)
#define EXEC_FN_SPACE(id, ...)
#define EXEC_MEM(id, ...)
#define EXEC_TEX(id, ...)
#define EXEC_WARP(id, ...)
#define EXEC_MMA(id, ...)
#define EXEC_CTRL(id, ...)
#define OP(id, name, form, unit, latency, energy, flags, ...) EXEC_##form(id, __VA_ARGS__)
#include "isa/ops.def"
#undef OP

/* ---- minimum and maximum ---- */

/* Orders the numbers as signed integers, -0 below +0. */
LANE_INLINE int32_t order32(uint32_t v) {
    return (int32_t)(v ^ ((uint32_t)((int32_t)v >> 31) >> 1));
}

LANE_INLINE int64_t order64(uint64_t v) {
    return (int64_t)(v ^ ((uint64_t)((int64_t)v >> 63) >> 1));
}

LANE_INLINE void minmax32(struct lane_io *io, const bool max, const unsigned mode) {
    const uint32_t *s0 = lane_src(io, 0), *s1 = lane_src(io, 1);
    uint32_t *d = lane_dst(io, 0);
    const bool ftz = io->m->ftz;
    FOR_LANES {
        uint32_t a = ftz ? flush32(s0[i]) : s0[i], b = ftz ? flush32(s1[i]) : s1[i];
        uint32_t sign = (a ^ b) & 0x80000000u;
        if (mode & MINMAX_XORSIGN) {
            a &= 0x7fffffffu;
            b &= 0x7fffffffu;
        }
        uint32_t r = (max ? order32(a) > order32(b) : order32(a) < order32(b)) ? a : b;
        if (mode & MINMAX_NAN) {
            r = is_nan32(a) || is_nan32(b) ? F32_NAN : r;
        } else {
            r = is_nan32(b) ? a : r;
            r = is_nan32(a) ? b : r;
            r = is_nan32(r) ? F32_NAN : r;
        }
        d[i] = mode & MINMAX_XORSIGN && !is_nan32(r) ? r | sign : r;
    }
}

#define MINMAX(name, max)                                                                                    \
    static void exec_##name(struct lane_io *io) {                                                            \
        minmax32(io, max, 0);                                                                                \
    }                                                                                                        \
    static void exec_##name##_nan(struct lane_io *io) {                                                      \
        minmax32(io, max, MINMAX_NAN);                                                                       \
    }                                                                                                        \
    static void exec_##name##_xorsign(struct lane_io *io) {                                                  \
        minmax32(io, max, io->m->mode);                                                                      \
    }
MINMAX(fmin, false)
MINMAX(fmax, true)
PICK(FMIN, m->mode == 0 ? exec_fmin : m->mode == MINMAX_NAN ? exec_fmin_nan : exec_fmin_xorsign)
PICK(FMAX, m->mode == 0 ? exec_fmax : m->mode == MINMAX_NAN ? exec_fmax_nan : exec_fmax_xorsign)

LANE_INLINE void minmax64(struct lane_io *io, const bool max) {
    const uint32_t *s0 = lane_src(io, 0), *s1 = lane_src(io, 1), *s2 = lane_src(io, 2), *s3 = lane_src(io, 3);
    uint32_t *d0 = lane_dst(io, 0), *d1 = lane_dst(io, 1);
    FOR_LANES {
        uint64_t a = pair64(s0[i], s1[i]), b = pair64(s2[i], s3[i]);
        uint64_t r = (max ? order64(a) > order64(b) : order64(a) < order64(b)) ? a : b;
        r = is_nan64(b) ? a : r;
        r = is_nan64(a) ? b : r;
        r = is_nan64(r) ? F64_NAN : r;
        d0[i] = (uint32_t)r;
        d1[i] = (uint32_t)(r >> 32);
    }
}

static void exec_dmin(struct lane_io *io) {
    minmax64(io, false);
}

static void exec_dmax(struct lane_io *io) {
    minmax64(io, true);
}
PICK(DMIN, exec_dmin)
PICK(DMAX, exec_dmax)

/* ---- comparisons ---- */
LANE_INLINE void fsetp(struct lane_io *io, const bool ftz) {
    const uint32_t *s0 = lane_src(io, 0), *s1 = lane_src(io, 1);
    LANE_TEMP(uint32_t, lt);
    LANE_TEMP(uint32_t, eq);
    LANE_TEMP(uint32_t, un);
    FOR_LANES {
        float x = FIN(s0[i], ftz), y = FIN(s1[i], ftz);
        lt[i] = x < y ? 1 : 0;
        eq[i] = x == y ? 1 : 0;
        un[i] = x != x || y != y ? 1 : 0;
    }
    compare_out(io, relation_mask(io->m->cmp, pack_mask(lt), pack_mask(eq), pack_mask(un)));
}

static void exec_fsetp(struct lane_io *io) {
    fsetp(io, false);
}

static void exec_fsetp_ftz(struct lane_io *io) {
    fsetp(io, true);
}

static void exec_dsetp(struct lane_io *io) {
    const uint32_t *s0 = lane_src(io, 0), *s1 = lane_src(io, 1), *s2 = lane_src(io, 2), *s3 = lane_src(io, 3);
    LANE_TEMP(uint32_t, lt);
    LANE_TEMP(uint32_t, eq);
    LANE_TEMP(uint32_t, un);
    FOR_LANES {
        double x = as_f64(pair64(s0[i], s1[i])), y = as_f64(pair64(s2[i], s3[i]));
        lt[i] = x < y ? 1 : 0;
        eq[i] = x == y ? 1 : 0;
        un[i] = x != x || y != y ? 1 : 0;
    }
    compare_out(io, relation_mask(io->m->cmp, pack_mask(lt), pack_mask(eq), pack_mask(un)));
}
PICK(FSETP, m->ftz ? exec_fsetp_ftz : exec_fsetp)
PICK(DSETP, exec_dsetp)

/* ---- classification ---- */

/* Whether a number of the given magnitude, with infinity at inf and the least normal at least, is what mode
 * asks for. */
LANE_INLINE bool test_class(uint64_t mag, uint64_t inf, uint64_t least, unsigned mode) {
    switch (mode) {
    case TESTP_FINITE:
        return mag < inf;
    case TESTP_INFINITE:
        return mag == inf;
    case TESTP_NUMBER:
        return mag <= inf;
    case TESTP_NOTANUMBER:
        return mag > inf;
    case TESTP_NORMAL:
        return mag < inf && (mag >= least || mag == 0);
    default:
        return mag > 0 && mag < least;
    }
}

static void exec_ftestp(struct lane_io *io) {
    const uint32_t *s0 = lane_src(io, 0);
    LANE_TEMP(uint32_t, yes);
    for (unsigned i = 0; i < WARP_LANES; i++)
        yes[i] = test_class(s0[i] & 0x7fffffffu, 0x7f800000u, 0x00800000u, io->m->mode);
    io->pout[0] = pack_mask(yes);
}

static void exec_dtestp(struct lane_io *io) {
    const uint32_t *s0 = lane_src(io, 0), *s1 = lane_src(io, 1);
    const uint64_t least = UINT64_C(1) << 52;
    LANE_TEMP(uint32_t, yes);
    for (unsigned i = 0; i < WARP_LANES; i++)
        yes[i] = test_class(pair64(s0[i], s1[i]) & INT64_MAX, 0x7ff * least, least, io->m->mode);
    io->pout[0] = pack_mask(yes);
}

static void exec_fchk(struct lane_io *io) {
    const uint32_t *s0 = lane_src(io, 0), *s1 = lane_src(io, 1);
    LANE_TEMP(uint32_t, yes);
    FOR_LANES yes[i] = op_fchk(s0[i], s1[i]);
    io->pout[0] = pack_mask(yes);
}
PICK(FCHK, exec_fchk)
PICK(FTESTP, exec_ftestp)
PICK(DTESTP, exec_dtestp)

/* ---- directed rounding without switching the host's mode ---- */
#if defined(__AVX512F__)

/* One executor: op on whole vectors with the rounding as part of the instruction. */
#define ROUNDED(name, rounding, op)                                                                          \
    static void name(struct lane_io *io) {                                                                   \
        enum { HOW = (rounding) | _MM_FROUND_NO_EXC };                                                       \
        const bool ftz = io->m->ftz, sat = io->m->sat, three = op_info[OP_##op].form == FORM_F1_111;         \
        const uint32_t *s0 = lane_src(io, 0), *s1 = lane_src(io, 1), *s2 = three ? lane_src(io, 2) : s0;     \
        uint32_t *d = lane_dst(io, 0);                                                                       \
        LANE_TEMP(float, v[5]);                                                                              \
        FOR_LANES {                                                                                          \
            v[0][i] = FIN(s0[i], ftz);                                                                       \
            v[1][i] = FIN(s1[i], ftz);                                                                       \
            v[2][i] = FIN(s2[i], ftz);                                                                       \
        }                                                                                                    \
        for (unsigned k = 0; k < WARP_LANES; k += 16) {                                                      \
            __m512 up = _mm512_set1_ps(UP), a = _mm512_load_ps(v[0] + k), b = _mm512_load_ps(v[1] + k);      \
            __m512 c = _mm512_load_ps(v[2] + k), scaled = _mm512_mul_ps(a, up), rest = _mm512_mul_ps(c, up); \
            (void)rest;                                                                                      \
            _mm512_store_ps(v[3] + k, VECTOR_##op(a, b, c));                                                 \
            _mm512_store_ps(v[4] + k, SCALED_VECTOR_##op(scaled, b, rest));                                  \
        }                                                                                                    \
        FOR_LANES FOUT(d[i], v[3][i], v[4][i]);                                                              \
    }
#define VECTOR_FADD(a, b, c)                _mm512_add_round_ps(a, b, HOW)
#define VECTOR_FMUL(a, b, c)                _mm512_mul_round_ps(a, b, HOW)
#define VECTOR_FFMA(a, b, c)                _mm512_fmadd_round_ps(a, b, c, HOW)
#define SCALED_VECTOR_FADD(scaled, b, rest) _mm512_add_round_ps(scaled, _mm512_mul_ps(b, up), HOW)
#define SCALED_VECTOR_FMUL(scaled, b, rest) _mm512_mul_round_ps(scaled, b, HOW)
#define SCALED_VECTOR_FFMA(scaled, b, rest) _mm512_fmadd_round_ps(scaled, b, rest, HOW)
#define ROUNDED_ALL(op)                                                                                      \
    ROUNDED(op##_rz, _MM_FROUND_TO_ZERO, op)                                                                 \
    ROUNDED(op##_rm, _MM_FROUND_TO_NEG_INF, op)                                                              \
    ROUNDED(op##_rp, _MM_FROUND_TO_POS_INF, op)
ROUNDED_ALL(FADD)
ROUNDED_ALL(FMUL)
ROUNDED_ALL(FFMA)

lane_fn *LANE_NAME(lane_pick_rounded)(enum op op, const struct imods *m) {
    static lane_fn *const table[3][3] = {
        {FADD_rz, FADD_rm, FADD_rp}, {FMUL_rz, FMUL_rm, FMUL_rp}, {FFMA_rz, FFMA_rm, FFMA_rp}};
    int row = op == OP_FADD ? 0 : op == OP_FMUL ? 1 : op == OP_FFMA ? 2 : -1;
    return row >= 0 && m->rnd >= RND_RZ && m->rnd <= RND_RP ? table[row][m->rnd - RND_RZ] : NULL;
}

#else

lane_fn *LANE_NAME(lane_pick_rounded)(enum op op, const struct imods *m) {
    (void)op, (void)m;
    return NULL;
}

#endif
