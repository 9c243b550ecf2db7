/* f32: approximate functions and divisions, exact divisions, reciprocals and roots. */
#include "opt/sequence.h"

/* Powers of two, as bits. */
#define P2(exponent) ((uint32_t)(127 + (exponent)) << 23)

static struct inst mufu(enum mufu function, struct opd a) {
    return seq_mode(seq1(OP_MUFU, a), function);
}

static struct opd ffma(struct seq *s, struct opd a, struct opd b, struct opd c) {
    return seq_do(s, seq3(OP_FFMA, a, b, c));
}

static struct opd dfma(struct seq *s, struct opd a, struct opd b, struct opd c) {
    return seq_do(s, seq3(OP_DFMA, a, b, c));
}

static struct opd fmul(struct seq *s, struct opd a, struct opd b) {
    return seq_do(s, seq2(OP_FMUL, a, b));
}

/* Where a compares like that with a constant. */
static struct popd against(struct seq *s, struct opd a, uint32_t cmp, uint32_t bits) {
    return seq_compare(s, seq2(OP_FSETP, a, opd_imm(bits)), cmp, seq_always());
}

static struct popd is_small(struct seq *s, struct opd a) {
    return against(s, seq_abs(a), CMP_LT, P2(-126));
}

/* Its reciprocal is subnormal. */
static struct popd is_huge(struct seq *s, struct opd a) {
    return against(s, seq_abs(a), CMP_GT, P2(126));
}

/* d *= bits where p holds. */
static void scale(struct seq *s, struct popd p, struct opd d, uint32_t bits, bool ftz) {
    s->guard = p;
    seq_into(s, d, seq_ftz(seq2(OP_FMUL, d, opd_imm(bits)), ftz));
    s->guard = seq_always();
}

/* ---- approximate functions ---- */

/* 1 / x: the unit neither takes nor gives subnormal numbers. */
static struct opd approximate_rcp(struct seq *s, struct opd x) {
    struct popd small = is_small(s, x), huge = is_huge(s, x);
    struct inst up = seq2(OP_SEL, seq_do(s, seq1(OP_MOV, opd_imm(P2(24)))), opd_imm(P2(0)));
    up.psrc[0] = small;
    struct inst by = seq2(OP_SEL, seq_do(s, up), opd_imm(P2(-2)));
    by.psrc[0] = seq_not(huge);
    struct opd factor = seq_do(s, by);
    return fmul(s, factor, seq_do(s, mufu(MUFU_RCP, fmul(s, x, factor))));
}

/* How the other functions get around what the unit does not take: where compare holds, the operand is
 * multiplied before, and the result changed behind. */
static const struct around {
    uint32_t cmp, against, before;
    enum op op;     /* NOP: no way around */
    uint32_t after; /* 0: the result itself */
} arounds[MUFU_COUNT] = {
    [MUFU_RSQ] = {CMP_LT, P2(-126), P2(24), OP_FMUL, P2(12)},
    [MUFU_SQRT] = {CMP_LT, P2(-126), P2(24), OP_FMUL, P2(-12)},
    [MUFU_LG2] = {CMP_LT, P2(-126), P2(24), OP_FADD, 0xc1c00000u /* -24 */},
    [MUFU_EX2] = {CMP_LT, 0xc2fc0000u /* -126 */, P2(-1), OP_FMUL, 0},
};

struct opd seq_fapx(struct seq *s) {
    struct opd x = s->of->src[0];
    enum mufu function = (enum mufu)s->of->m.mode;
    const struct around *w = &arounds[function];
    if (function == MUFU_SIN || function == MUFU_COS) /* the unit counts turns */
        return seq_do(s,
                      mufu(function, seq_do(s, seq_round(seq2(OP_FMUL, x, opd_imm(0x3e22f983u)), RND_RZ))));
    if (s->of->m.ftz || (!w->cmp && function != MUFU_RCP))
        return seq_do(s, mufu(function, x));
    if (function == MUFU_RCP)
        return approximate_rcp(s, x);
    struct popd p = against(s, function == MUFU_EX2 ? x : seq_abs(x), w->cmp, w->against);
    struct opd y = seq_copy(s, x, 1);
    scale(s, p, y, w->before, false);
    struct opd r = seq_do(s, mufu(function, y));
    s->guard = p;
    seq_into(s, r, seq2(w->op, r, w->after ? opd_imm(w->after) : r));
    s->guard = seq_always();
    return r;
}

/* x / y as x times the reciprocal of y. */
struct opd seq_fdiva(struct seq *s) {
    struct opd x = s->of->src[0], y = s->of->src[1];
    bool ftz = s->of->m.ftz, full = s->of->m.mode == FDIV_FULL;
    struct popd huge = full ? is_huge(s, y) : seq_always(), small = ftz ? seq_always() : is_small(s, y);
    if (full || !ftz) {
        x = seq_copy(s, x, 1);
        y = seq_copy(s, y, 1);
    }
    if (full) {
        scale(s, huge, y, P2(-2), ftz);
        scale(s, huge, x, P2(-2), ftz);
    }
    if (!ftz) {
        scale(s, small, y, P2(24), false);
        scale(s, small, x, P2(24), false);
    }
    return seq_do(s, seq_ftz(seq2(OP_FMUL, x, seq_do(s, mufu(MUFU_RCP, y))), ftz));
}

/* ---- divisions and reciprocals ---- */

/* x / y for all operands, in f64: with 53 bits, more than twice the 24 of a result, no quotient of two f32
 * comes so near to the middle between two results, or to a result, that rounding twice would show. x is NULL
 * for 1. */
static void far_quotient(struct seq *s, struct opd to, const struct opd *x, struct opd y, uint32_t home) {
    const struct inst *of = s->of;
    enum rounding rnd = (enum rounding)of->m.rnd;
    struct opd one = opd_imm(0x3ff00000u), wide = one;
    struct opd d = seq_do(s, seq_ftz(seq_convert(OP_F2F, MT_F64, MT_F32, y), of->m.ftz));
    if (x)
        wide = seq_do(s, seq_ftz(seq_convert(OP_F2F, MT_F64, MT_F32, *x), of->m.ftz));
    struct opd r = seq_do(s, seq_mode(seq1(OP_MUFU64H, d), MUFU_RCP));
    /* Zeros, infinities and NaNs are right as they are; all else is finite and not zero in f64. */
    struct opd q = seq_do(s, seq2(OP_DMUL, r, wide));
    struct popd p = seq_compare(s, seq2(OP_DSETP, seq_abs(q), opd_rz()), CMP_GT, seq_always());
    p = seq_compare(s, seq2(OP_DSETP, seq_abs(q), opd_imm(0x7ff00000u)), CMP_LT, p);
    struct inst narrow = seq_ftz(seq_round(seq_convert(OP_F2F, MT_F32, MT_F64, q), rnd), of->m.ftz);
    seq_into(s, to, narrow);
    seq_return_if(s, seq_not(p), home);
    for (uint32_t step = 0; step < 2; step++)
        r = dfma(s, r, dfma(s, seq_neg(d), r, one), r);
    struct opd near = x ? seq_do(s, seq2(OP_DMUL, r, wide)) : r;
    narrow.src[0] = dfma(s, r, dfma(s, seq_neg(d), near, wide), near);
    seq_into(s, to, narrow);
}

/* Lets threads for which p holds overwrite r with the result of the far way. */
static void go_far(struct seq *s, struct popd p, struct opd r, const struct opd *x, struct opd y) {
    uint32_t far = seq_leave(s, p), home = s->block;
    s->block = far;
    far_quotient(s, r, x, y, home);
    seq_return(s, home);
}

struct opd seq_fdiv(struct seq *s) {
    struct opd x = s->of->src[0], y = s->of->src[1], one = opd_imm(P2(0));
    enum rounding rnd = (enum rounding)s->of->m.rnd;
    struct opd r = seq_do(s, mufu(MUFU_RCP, y));
    struct popd far = seq_predicate(s, seq2(OP_FCHK, x, y));
    r = ffma(s, r, ffma(s, seq_neg(y), r, one), r);
    struct opd q = fmul(s, x, r);
    q = ffma(s, r, ffma(s, seq_neg(y), q, x), q);
    if (rnd != RND_RN) /* the nearest is known: the rest decides to which side */
        q = seq_do(s, seq_round(seq3(OP_FFMA, r, ffma(s, seq_neg(y), q, x), q), rnd));
    go_far(s, far, q, &x, y);
    return q;
}

struct opd seq_frcp(struct seq *s) {
    struct opd y = s->of->src[0], one = opd_imm(P2(0));
    enum rounding rnd = (enum rounding)s->of->m.rnd;
    /* Far: subnormal and zero, from 2^126 on, infinite, NaN. */
    struct opd t = seq_do(s, seq2(OP_IADD, y, opd_imm(0x01800000u)));
    t = seq_do(s, seq2(OP_AND, t, opd_imm(0x7f800000u)));
    struct popd far = seq_compare(s, seq2(OP_ISETP, t, opd_imm(0x02000000u)), CMP_LT, seq_always());
    struct opd r = seq_do(s, mufu(MUFU_RCP, y));
    r = ffma(s, r, ffma(s, seq_neg(y), r, one), r);
    if (rnd != RND_RN)
        r = seq_do(s, seq_round(seq3(OP_FFMA, r, ffma(s, seq_neg(y), r, one), r), rnd));
    go_far(s, far, r, NULL, y);
    return r;
}

/* ---- roots ---- */

/* The root of x. */
static struct opd root(struct seq *s, struct opd x, enum rounding rnd) {
    struct opd y = seq_do(s, mufu(MUFU_RSQ, x)), g = fmul(s, x, y), h = fmul(s, y, opd_imm(P2(-1)));
    if (rnd != RND_RN)
        g = ffma(s, h, ffma(s, seq_neg(g), g, x), g);
    return seq_do(s, seq_round(seq3(OP_FFMA, h, ffma(s, seq_neg(g), g, x), g), rnd));
}

struct opd seq_fsqrt(struct seq *s) {
    struct opd x = s->of->src[0];
    enum rounding rnd = (enum rounding)s->of->m.rnd;
    /* Far: below 2^-101, where rests are subnormal, negative, infinite, NaN. */
    struct opd t = seq_do(s, seq2(OP_IADD, x, opd_imm(0u - P2(-101))));
    struct popd far =
        seq_compare(s, seq2(OP_ISETP, t, opd_imm(0x7f7fffffu - P2(-101))), CMP_GT, seq_always());
    struct opd d = root(s, x, rnd);
    uint32_t out = seq_leave(s, far), home = s->block;
    s->block = out;
    struct opd up = seq_do(s, seq_ftz(seq2(OP_FMUL, x, opd_imm(P2(64))), s->of->m.ftz));
    seq_into(s, d, mufu(MUFU_SQRT, up)); /* right for zeros, infinities, NaNs and negative numbers */
    struct popd p = against(s, up, CMP_GT, 0);
    p = seq_compare(s, seq2(OP_FSETP, up, opd_imm(0x7f800000u)), CMP_LT, p);
    struct opd above = root(s, up, rnd);
    s->guard = p;
    seq_into(s, d, seq2(OP_FMUL, above, opd_imm(P2(-32))));
    s->guard = seq_always();
    seq_return(s, home);
    return d;
}
