/* Executors of approximate functions and divisions. */
#include "exec/lanes_mufu.h"

/* ---- f32 ---- */
#define MUFU_EXECUTOR(name)                                                                                  \
    LANE_INLINE void name##_lanes(struct lane_io *io, const bool ftz) {                                      \
        const uint32_t *s0 = lane_src(io, 0);                                                                \
        uint32_t *d = lane_dst(io, 0);                                                                       \
        const bool sat = io->m->sat;                                                                         \
        FOR_LANES {                                                                                          \
            uint32_t v = ftz ? flush32(s0[i]) : s0[i], r = canon32(mufu_##name(as_f32(v)));                  \
            r = ftz ? flush32(r) : r;                                                                        \
            d[i] = sat ? sat32(r) : r;                                                                       \
        }                                                                                                    \
    }                                                                                                        \
    static void exec_##name(struct lane_io *io) {                                                            \
        name##_lanes(io, false);                                                                             \
    }                                                                                                        \
    static void exec_##name##_ftz(struct lane_io *io) {                                                      \
        name##_lanes(io, true);                                                                              \
    }
MUFU_EXECUTOR(rcp)
MUFU_EXECUTOR(rsq)
MUFU_EXECUTOR(sqrt)
MUFU_EXECUTOR(lg2)
MUFU_EXECUTOR(ex2)
MUFU_EXECUTOR(sin)
MUFU_EXECUTOR(cos)
MUFU_EXECUTOR(tanh)

static lane_fn *const mufu_table[MUFU_COUNT][2] = {
    [MUFU_RCP] = {exec_rcp, exec_rcp_ftz},    [MUFU_RSQ] = {exec_rsq, exec_rsq_ftz},
    [MUFU_SQRT] = {exec_sqrt, exec_sqrt_ftz}, [MUFU_LG2] = {exec_lg2, exec_lg2_ftz},
    [MUFU_EX2] = {exec_ex2, exec_ex2_ftz},    [MUFU_SIN] = {exec_sin, exec_sin_ftz},
    [MUFU_COS] = {exec_cos, exec_cos_ftz},    [MUFU_TANH] = {exec_tanh, exec_tanh_ftz},
};
PICK(MUFU, m->mode < MUFU_COUNT ? mufu_table[m->mode][m->ftz] : NULL)

/* a / b as a times the approximate reciprocal of b, which is zero for |b| > 2^126. */
LANE_INLINE float div_approx(float x, float y) {
    float q = x / y, lost = x * copysignf(0.0f, y);
    uint32_t beyond = (f32_bits(y) & 0x7fffffffu) - 0x7e800001u; /* past 2^126, before infinity */
    return beyond < 0x00ffffffu ? lost : q;
}

LANE_INLINE void fdiva(struct lane_io *io, const bool full) {
    const uint32_t *s0 = lane_src(io, 0), *s1 = lane_src(io, 1);
    uint32_t *d = lane_dst(io, 0);
    const bool ftz = io->m->ftz, sat = io->m->sat;
    FOR_LANES {
        float x = as_f32(ftz ? flush32(s0[i]) : s0[i]), y = as_f32(ftz ? flush32(s1[i]) : s1[i]);
        uint32_t r = canon32(full ? x / y : div_approx(x, y));
        r = ftz ? flush32(r) : r;
        d[i] = sat ? sat32(r) : r;
    }
}

static void exec_div_approx(struct lane_io *io) {
    fdiva(io, false);
}

static void exec_div_full(struct lane_io *io) {
    fdiva(io, true);
}
PICK(FDIVA, m->mode == FDIV_FULL ? exec_div_full : exec_div_approx)

/* ---- f64 seeds: only the upper word of the operand counts, and only that of the result is not zero ---- */
LANE_INLINE uint32_t flush_high(uint32_t hi) {
    return hi & 0x7ff00000u ? hi : hi & 0x80000000u;
}

LANE_INLINE void mufu64h(struct lane_io *io, const bool root) {
    const uint32_t *hi = lane_src(io, 1);
    uint32_t *d0 = lane_dst(io, 0), *d1 = lane_dst(io, 1);
    FOR_LANES {
        double x = as_f64((uint64_t)flush_high(hi[i]) << 32);
        uint64_t v = canon64(root ? 1.0 / sqrt(x) : 1.0 / x);
        uint32_t top = flush_high((uint32_t)(v >> 32));
        d0[i] = 0;
        d1[i] = top;
    }
}

static void exec_rcp64h(struct lane_io *io) {
    mufu64h(io, false);
}

static void exec_rsq64h(struct lane_io *io) {
    mufu64h(io, true);
}
PICK(MUFU64H, m->mode == MUFU_RSQ ? exec_rsq64h : exec_rcp64h)
