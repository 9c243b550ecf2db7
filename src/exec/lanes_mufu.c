/* Executors of approximate functions and divisions. */
#include "exec/lanes_mufu.h"

/* ---- f32 ---- */

/* Apart from the loops that compute, which a choice inside would keep scalar. */
static void saturate(struct lane_io *io) {
    uint32_t *d = lane_dst(io, 0);
    if (io->m->sat)
        FOR_LANES d[i] = sat32(d[i]);
}

#define MUFU_EXECUTOR(name)                                                                                  \
    LANE_INLINE void name##_lanes(struct lane_io *io, const bool ftz) {                                      \
        const uint32_t *s0 = lane_src(io, 0);                                                                \
        uint32_t *d = lane_dst(io, 0);                                                                       \
        FOR_LANES d[i] = mufu_##name(s0[i], ftz);                                                            \
        saturate(io);                                                                                        \
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
PICK(FAPX, m->mode < MUFU_COUNT ? mufu_table[m->mode][m->ftz] : NULL)

/* ---- the unit itself ---- */
LANE_INLINE uint32_t unit_sin(uint32_t v) {
    return mufu_unit_turn(v, 0);
}

LANE_INLINE uint32_t unit_cos(uint32_t v) {
    return mufu_unit_turn(v, 1);
}

#define UNIT_EXECUTOR(name, function)                                                                        \
    static void name(struct lane_io *io) {                                                                   \
        const uint32_t *s0 = lane_src(io, 0);                                                                \
        uint32_t *d = lane_dst(io, 0);                                                                       \
        FOR_LANES d[i] = function(s0[i]);                                                                    \
    }
UNIT_EXECUTOR(exec_unit_sin, unit_sin)
UNIT_EXECUTOR(exec_unit_cos, unit_cos)

/* The other functions with .ftz are what the unit gives. */
static lane_fn *const unit_table[MUFU_COUNT] = {
    [MUFU_RCP] = exec_rcp_ftz,  [MUFU_RSQ] = exec_rsq_ftz,   [MUFU_SQRT] = exec_sqrt_ftz,
    [MUFU_LG2] = exec_lg2_ftz,  [MUFU_EX2] = exec_ex2_ftz,   [MUFU_SIN] = exec_unit_sin,
    [MUFU_COS] = exec_unit_cos, [MUFU_TANH] = exec_tanh_ftz,
};
PICK(MUFU, m->mode < MUFU_COUNT ? unit_table[m->mode] : NULL)

/* ---- division ---- */
LANE_INLINE void fdiva(struct lane_io *io, const bool full, const bool ftz) {
    const uint32_t *s0 = lane_src(io, 0), *s1 = lane_src(io, 1);
    uint32_t *d = lane_dst(io, 0);
    FOR_LANES d[i] = mufu_div(s0[i], s1[i], full, ftz);
    saturate(io);
}

#define DIV_EXECUTOR(name, full, ftz)                                                                        \
    static void name(struct lane_io *io) {                                                                   \
        fdiva(io, full, ftz);                                                                                \
    }
DIV_EXECUTOR(exec_div_approx, false, false)
DIV_EXECUTOR(exec_div_approx_ftz, false, true)
DIV_EXECUTOR(exec_div_full, true, false)
DIV_EXECUTOR(exec_div_full_ftz, true, true)

static lane_fn *const div_table[2][2] = {{exec_div_approx, exec_div_approx_ftz},
                                         {exec_div_full, exec_div_full_ftz}};
PICK(FDIVA, div_table[m->mode == FDIV_FULL][m->ftz])

/* ---- f64 seeds: only the upper word of the operand counts, and only that of the result is not zero ---- */
LANE_INLINE void mufu64h(struct lane_io *io, const bool root) {
    const uint32_t *hi = lane_src(io, 1);
    uint32_t *d0 = lane_dst(io, 0), *d1 = lane_dst(io, 1);
    FOR_LANES {
        d1[i] = root ? mufu_unit_rsq64h(hi[i]) : mufu_unit_rcp64h(hi[i]);
        d0[i] = 0;
    }
}

static void exec_rcp64h(struct lane_io *io) {
    mufu64h(io, false);
}

static void exec_rsq64h(struct lane_io *io) {
    mufu64h(io, true);
}

static void exec_rsq64(struct lane_io *io) {
    const uint32_t *s0 = lane_src(io, 0), *s1 = lane_src(io, 1);
    uint32_t *d0 = lane_dst(io, 0), *d1 = lane_dst(io, 1);
    FOR_LANES {
        uint64_t r = mufu_rsq64(pair64(s0[i], s1[i]));
        d0[i] = (uint32_t)r;
        d1[i] = (uint32_t)(r >> 32);
    }
}
PICK(MUFU64H, m->mode == MUFU_RSQ ? exec_rsq64h : exec_rcp64h)
PICK(DRSQ, exec_rsq64)
