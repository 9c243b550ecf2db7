/* Executors of integer and logic operations, generated from the operation table, and the table of all
 * executors of one instruction set. Floats, conversions and the rest have files of their own. */
#include "exec/lanes_isa.h"
#include "isa/semantics.h"

/* ---- forms of the table ----
 *
 * A body computes all lanes with sgn and mode as parameters; executors are bodies with those fixed, so that
 * nothing is decided inside the loop. Modes beyond the first four take the body with the mode left variable.
 */
#define UNUSED_NAMES (void)sgn, (void)mode

#define BODY_W1_1(expr)                                                                                      \
    const uint32_t *s0 = lane_src(io, 0);                                                                    \
    uint32_t *d = lane_dst(io, 0);                                                                           \
    FOR_LANES {                                                                                              \
        uint32_t a = s0[i];                                                                                  \
        d[i] = expr;                                                                                         \
    }
#define BODY_W1_11(expr)                                                                                     \
    const uint32_t *s0 = lane_src(io, 0), *s1 = lane_src(io, 1);                                             \
    uint32_t *d = lane_dst(io, 0);                                                                           \
    FOR_LANES {                                                                                              \
        uint32_t a = s0[i], b = s1[i];                                                                       \
        d[i] = expr;                                                                                         \
    }
#define BODY_W1_111(expr)                                                                                    \
    const uint32_t *s0 = lane_src(io, 0), *s1 = lane_src(io, 1), *s2 = lane_src(io, 2);                      \
    uint32_t *d = lane_dst(io, 0);                                                                           \
    FOR_LANES {                                                                                              \
        uint32_t a = s0[i], b = s1[i], c = s2[i];                                                            \
        d[i] = expr;                                                                                         \
    }
#define BODY_W1_11P(expr)                                                                                    \
    const uint32_t *s0 = lane_src(io, 0), *s1 = lane_src(io, 1);                                             \
    uint32_t *d = lane_dst(io, 0);                                                                           \
    LANE_TEMP(uint32_t, all);                                                                                \
    spread_mask(all, io->pin[0]);                                                                            \
    FOR_LANES {                                                                                              \
        uint32_t a = s0[i], b = s1[i], p = all[i];                                                           \
        d[i] = expr;                                                                                         \
    }
#define BODY_W2(sources, expr)                                                                               \
    uint32_t *d0 = lane_dst(io, 0), *d1 = lane_dst(io, 1);                                                   \
    FOR_LANES {                                                                                              \
        sources;                                                                                             \
        uint64_t r = expr;                                                                                   \
        d0[i] = (uint32_t)r;                                                                                 \
        d1[i] = (uint32_t)(r >> 32);                                                                         \
    }
#define BODY_W2_11(expr)                                                                                     \
    const uint32_t *s0 = lane_src(io, 0), *s1 = lane_src(io, 1);                                             \
    BODY_W2(uint32_t a = s0[i]; uint32_t b = s1[i], expr)
#define BODY_W2_112(expr)                                                                                    \
    const uint32_t *s0 = lane_src(io, 0), *s1 = lane_src(io, 1), *s2 = lane_src(io, 2),                      \
                   *s3 = lane_src(io, 3);                                                                    \
    BODY_W2(uint32_t a = s0[i]; uint32_t b = s1[i]; uint64_t C = pair64(s2[i], s3[i]), expr)
#define BODY_W2_22(expr)                                                                                     \
    const uint32_t *s0 = lane_src(io, 0), *s1 = lane_src(io, 1), *s2 = lane_src(io, 2),                      \
                   *s3 = lane_src(io, 3);                                                                    \
    BODY_W2(uint64_t A = pair64(s0[i], s1[i]); uint64_t B = pair64(s2[i], s3[i]), expr)

#define INSTANCE(id, sgn, tag, mode)                                                                         \
    static void id##_##sgn##_##tag(struct lane_io *io) {                                                     \
        body_##id(io, sgn, mode);                                                                            \
    }
#define EXECUTORS(id, flags, body)                                                                           \
    LANE_INLINE void body_##id(struct lane_io *io, const unsigned sgn, const unsigned mode) {                \
        UNUSED_NAMES;                                                                                        \
        body                                                                                                 \
    }                                                                                                        \
    INSTANCE(id, 0, m0, 0)                                                                                   \
    INSTANCE(id, 0, m1, 1)                                                                                   \
    INSTANCE(id, 0, m2, 2)                                                                                   \
    INSTANCE(id, 0, m3, 3)                                                                                   \
    INSTANCE(id, 0, any, io->m->mode)                                                                        \
    INSTANCE(id, 1, m0, 0)                                                                                   \
    INSTANCE(id, 1, m1, 1)                                                                                   \
    INSTANCE(id, 1, m2, 2)                                                                                   \
    INSTANCE(id, 1, m3, 3)                                                                                   \
    INSTANCE(id, 1, any, io->m->mode)                                                                        \
    static lane_fn *LANE_NAME(pick_##id)(const struct imods *m) {                                            \
        bool sgn = ((flags)&OPF_SIGNED) && m->sgn;                                                           \
        switch ((flags)&OPF_MODE ? m->mode : 0) {                                                            \
        case 0:                                                                                              \
            return sgn ? id##_1_m0 : id##_0_m0;                                                              \
        case 1:                                                                                              \
            return sgn ? id##_1_m1 : id##_0_m1;                                                              \
        case 2:                                                                                              \
            return sgn ? id##_1_m2 : id##_0_m2;                                                              \
        case 3:                                                                                              \
            return sgn ? id##_1_m3 : id##_0_m3;                                                              \
        default:                                                                                             \
            return sgn ? id##_1_any : id##_0_any;                                                            \
        }                                                                                                    \
    }

/* What a row adds to this file, by its form: executors, or only a declaration where another file has them, or
 * a picker that finds none. */
#define ELSEWHERE(id) lane_picker LANE_NAME(pick_##id);
#define NOWHERE(id)                                                                                          \
    static lane_fn *LANE_NAME(pick_##id)(const struct imods *m) {                                            \
        (void)m;                                                                                             \
        return NULL;                                                                                         \
    }
#define EXEC_W1_1(id, flags, ...)                             EXECUTORS(id, flags, BODY_W1_1((__VA_ARGS__)))
#define EXEC_W1_11(id, flags, ...)                            EXECUTORS(id, flags, BODY_W1_11((__VA_ARGS__)))
#define EXEC_W1_111(id, flags, ...)                           EXECUTORS(id, flags, BODY_W1_111((__VA_ARGS__)))
#define EXEC_W1_11P(id, flags, ...)                           EXECUTORS(id, flags, BODY_W1_11P((__VA_ARGS__)))
#define EXEC_W2_11(id, flags, ...)                            EXECUTORS(id, flags, BODY_W2_11((__VA_ARGS__)))
#define EXEC_W2_112(id, flags, ...)                           EXECUTORS(id, flags, BODY_W2_112((__VA_ARGS__)))
#define EXEC_W2_22(id, flags, ...)                            EXECUTORS(id, flags, BODY_W2_22((__VA_ARGS__)))
#define EXEC_F1_1(id, ...)                                    ELSEWHERE(id)
#define EXEC_F1_11(id, ...)                                   ELSEWHERE(id)
#define EXEC_F1_111(id, ...)                                  ELSEWHERE(id)
#define EXEC_D2_2(id, ...)                                    ELSEWHERE(id)
#define EXEC_D2_22(id, ...)                                   ELSEWHERE(id)
#define EXEC_D2_222(id, ...)                                  ELSEWHERE(id)
#define EXEC_FN_W1_1(id, ...)                                 ELSEWHERE(id)
#define EXEC_FN_W1_11(id, ...)                                ELSEWHERE(id)
#define EXEC_FN_W1_11P(id, ...)                               ELSEWHERE(id)
#define EXEC_FN_W1_111(id, ...)                               ELSEWHERE(id)
#define EXEC_FN_F1_1(id, ...)                                 ELSEWHERE(id)
#define EXEC_FN_F1_11(id, ...)                                ELSEWHERE(id)
#define EXEC_FN_D2_2(id, ...)                                 ELSEWHERE(id)
#define EXEC_FN_D2_22(id, ...)                                ELSEWHERE(id)
#define EXEC_FN_SETP2(id, ...)                                ELSEWHERE(id)
#define EXEC_FN_TESTP1(id, ...)                               ELSEWHERE(id)
#define EXEC_FN_TESTP2(id, ...)                               ELSEWHERE(id)
#define EXEC_FN_CHECK(id, ...)                                ELSEWHERE(id)
#define EXEC_FN_CVT(id, ...)                                  ELSEWHERE(id)
#define EXEC_FN_SETP1(id, ...)                                ELSEWHERE(id)
#define EXEC_FN_CARRY(id, ...)                                ELSEWHERE(id)
#define EXEC_FN_PLOP(id, ...)                                 ELSEWHERE(id)
#define EXEC_FN_W1_1111(id, ...)                              ELSEWHERE(id)
#define EXEC_FN_W2_211(id, ...)                               ELSEWHERE(id)
#define EXEC_FN_W2_2211(id, ...)                              ELSEWHERE(id)
#define EXEC_FN_W1(id, ...)                                   NOWHERE(id)
#define EXEC_FN_P2R(id, ...)                                  NOWHERE(id)
#define EXEC_FN_R2P(id, ...)                                  NOWHERE(id)
#define EXEC_FN_SPACE(id, ...)                                NOWHERE(id)
#define EXEC_MEM(id, ...)                                     NOWHERE(id)
#define EXEC_TEX(id, ...)                                     NOWHERE(id)
#define EXEC_WARP(id, ...)                                    NOWHERE(id)
#define EXEC_MMA(id, ...)                                     NOWHERE(id)
#define EXEC_CTRL(id, ...)                                    NOWHERE(id)
#define OP(id, name, form, unit, latency, energy, flags, ...) EXEC_##form(id, flags, __VA_ARGS__)
#include "isa/ops.def"
#undef OP

/* ---- operations on operands ---- */
static void modify(uint32_t *d, const uint32_t *s, uint32_t and_mask, uint32_t xor_mask) {
    d = __builtin_assume_aligned(d, 64);
    s = __builtin_assume_aligned(s, 64);
    FOR_LANES d[i] = (s[i] & and_mask) ^ xor_mask;
}

static void blend(uint32_t *d, const uint32_t *s, uint32_t mask) {
    blend_lanes(d, s, mask);
}

#define LANE_TEXT2(x) #x
#define LANE_TEXT(x)  LANE_TEXT2(x)

enum lane_shape LANE_NAME(lane_shape)(const uint32_t *, const uint32_t *, uint32_t);
bool LANE_NAME(lane_offsets32)(uint32_t *, const uint32_t *, uint32_t, uint32_t, uint32_t, uint32_t);
bool LANE_NAME(lane_offsets64)(uint32_t *, const uint32_t *, const uint32_t *, uint64_t, uint32_t, uint32_t,
                               uint32_t);
void LANE_NAME(lane_gather)(uint32_t *, const uint8_t *, const uint32_t *, uint32_t, uint32_t, bool);
void LANE_NAME(lane_scatter)(uint8_t *, const uint32_t *, const uint32_t *, uint32_t, uint32_t);
void LANE_NAME(lane_load_row)(uint32_t *, uintptr_t, uint32_t);
void LANE_NAME(lane_store_row)(uintptr_t, const uint32_t *, uint32_t);

extern const struct lane_texture LANE_NAME(lane_texture_set);
extern const struct lane_matrix LANE_NAME(lane_matrix_set);

const struct lane_set LANE_NAME(lane_set) = {
    .name = LANE_TEXT(LANE_ISA),
    .pick =
        {
#define OP(id, ...) [OP_##id] = LANE_NAME(pick_##id),
#include "isa/ops.def"
#undef OP
        },
    .pick_rounded = LANE_NAME(lane_pick_rounded),
    .memory = {LANE_NAME(lane_shape), LANE_NAME(lane_offsets32), LANE_NAME(lane_offsets64),
               LANE_NAME(lane_gather), LANE_NAME(lane_scatter), LANE_NAME(lane_load_row),
               LANE_NAME(lane_store_row)},
    .texture = &LANE_NAME(lane_texture_set),
    .matrix = &LANE_NAME(lane_matrix_set),
    .modify = modify,
    .blend = blend,
};
