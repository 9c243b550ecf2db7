/* f64: divisions, reciprocals, roots. An immediate of 64 bits is its upper word. */
#include "opt/sequence.h"

enum { ONE = 0x3ff00000, HALF = 0x3fe00000 };

static struct opd dfma(struct seq *s, struct opd a, struct opd b, struct opd c) {
    return seq_do(s, seq3(OP_DFMA, a, b, c));
}

static struct opd dmul(struct seq *s, struct opd a, struct opd b) {
    return seq_do(s, seq2(OP_DMUL, a, b));
}

static struct opd seed(struct seq *s, enum mufu function, struct opd a) {
    return seq_do(s, seq_mode(seq1(OP_MUFU64H, a), function));
}

/* A power of two as a pair, from the upper word of its bits. */
static struct opd power(struct seq *s, struct opd high) {
    struct opd d = opd_reg(fn_vreg(s->f, 2), 0);
    seq_into(s, d, seq1(OP_MOV, opd_rz()));
    seq_into(s, seq_word(d, 1), seq1(OP_MOV, high));
    return d;
}

/* ---- division ---- */

/* The reciprocal of y, rounded to nearest. The unit gives the upper word of a seed; low becomes the other,
 * which must not be zero, or numbers just below a power of two come out wrong. */
static struct opd reciprocal(struct seq *s, struct opd y, struct opd low) {
    struct opd one = opd_imm(ONE), r = seed(s, MUFU_RCP, y);
    seq_into(s, r, seq1(OP_MOV, low));
    struct opd e = dfma(s, seq_neg(y), r, one);
    r = dfma(s, r, dfma(s, e, e, e), r);
    return dfma(s, r, dfma(s, seq_neg(y), r, one), r);
}

/* The quotient of x and y, whose exponents are moderate, rounded to nearest. */
static struct opd nearest(struct seq *s, struct opd x, struct opd y, struct opd r) {
    struct opd q = dmul(s, x, r);
    return dfma(s, r, dfma(s, seq_neg(y), q, x), q);
}

/* The same, rounded as asked: the nearest is known, and the rest decides to which side it goes. */
static struct opd rounded(struct seq *s, struct opd x, struct opd y, struct opd r, struct opd q,
                          enum rounding rnd) {
    return seq_do(s, seq_round(seq3(OP_DFMA, r, dfma(s, seq_neg(y), q, x), q), rnd));
}

/* A number of the far way: all but zeros, infinities and NaNs have their significand between 1 and 2 and
 * their exponent apart. */
struct parts {
    struct opd whole; /* subnormal numbers are multiplied by 2^54 */
    struct opd significand;
    struct opd exponent; /* of whole, then of the number itself */
    struct popd small;   /* whether it was multiplied */
};

static struct parts take_apart(struct seq *s, struct opd x) {
    struct parts p = {.whole = seq_copy(s, x, 2)};
    p.small = seq_compare(s, seq2(OP_DSETP, seq_abs(x), opd_imm(0x00100000u)), CMP_LT, seq_always());
    s->guard = p.small;
    seq_into(s, p.whole, seq2(OP_DMUL, x, opd_imm((1023u + 54) << 20)));
    s->guard = seq_always();
    p.exponent =
        seq_do(s, seq3(OP_BFE, seq_word(p.whole, 1), opd_imm(20), seq_do(s, seq1(OP_MOV, opd_imm(11)))));
    p.significand = opd_reg(fn_vreg(s->f, 2), 0);
    seq_into(s, p.significand, seq1(OP_MOV, p.whole));
    /* Bits of the significand and the sign, and the exponent of 1. */
    struct opd bits = seq_do(s, seq2(OP_AND, seq_word(p.whole, 1), opd_imm(0x800fffffu)));
    seq_into(s, seq_word(p.significand, 1), seq2(OP_OR, bits, opd_imm(ONE)));
    return p;
}

/* Where the number is neither zero nor infinite nor NaN, and and holds. */
static struct popd is_common(struct seq *s, const struct parts *p, struct popd and) {
    struct opd t = seq_do(s, seq2(OP_IADD, p->exponent, opd_imm(UINT32_MAX)));
    return seq_compare(s, seq2(OP_ISETP, t, opd_imm(2046)), CMP_LT, and);
}

/* Makes the exponent that of the number itself. */
static void lower(struct seq *s, struct parts *p) {
    s->guard = p->small;
    seq_into(s, p->exponent, seq2(OP_IADD, p->exponent, opd_imm(0u - 54u)));
    s->guard = seq_always();
}

/* What a subnormal result, cut off, is rounded to: away from zero if the quotient is above the middle between
 * it and the next, or is the middle and the last bit is set. The middle has 53 bits at most, so that its
 * distance from the quotient has the right sign. */
static void round_subnormal(struct seq *s, struct opd d, struct opd cut, const struct parts *x,
                            const struct parts *y, struct opd exponent, struct opd half_up,
                            struct opd rest_up) {
    struct opd up = dmul(s, dmul(s, seq_abs(cut), half_up), rest_up);
    struct opd step = power(s, seq_do(s, seq2(OP_ISUB, opd_imm((1023u - 1075u) << 20), exponent)));
    struct opd middle = seq_do(s, seq2(OP_DADD, up, step));
    struct opd over = dfma(s, seq_neg(seq_abs(y->significand)), middle, seq_abs(x->significand));
    struct popd above = seq_compare(s, seq2(OP_DSETP, over, opd_rz()), CMP_GT, seq_always());
    struct popd even = seq_compare(s, seq2(OP_DSETP, over, opd_rz()), CMP_EQ, seq_always());
    struct opd last = seq_do(s, seq2(OP_AND, cut, opd_imm(1)));
    even = seq_compare(s, seq2(OP_ISETP, last, opd_rz()), CMP_GT, even);
    struct inst one = seq2(OP_SEL, seq_do(s, seq1(OP_MOV, opd_imm(1))), opd_rz());
    one.psrc[0] = seq_join(s, BOOL_OR, above, even);
    struct popd carry = seq_carry(s, OP_IADDC, d, cut, seq_do(s, one), NULL);
    seq_carry(s, OP_IADDC, seq_word(d, 1), seq_word(cut, 1), opd_rz(), &carry);
}

/* x / y for all operands. */
static struct opd far_quotient(struct seq *s, struct opd nx, struct opd ny) {
    enum rounding rnd = (enum rounding)s->of->m.rnd;
    struct parts x = take_apart(s, nx), y = take_apart(s, ny);
    struct popd common = is_common(s, &y, seq_always());
    /* Zeros, infinities and NaNs give what the seed of the reciprocal gives: of divisors that are none of
     * them any will do. The unit sees the upper half of a NaN only. */
    struct opd divisor = seq_copy(s, y.whole, 2);
    s->guard = common;
    seq_into(s, seq_word(divisor, 1), seq1(OP_MOV, seq_word(y.significand, 1)));
    s->guard = seq_always();
    struct opd d = dmul(s, x.whole, seed(s, MUFU_RCP, divisor));
    s->guard = seq_compare(s, seq2(OP_DSETP, y.whole, y.whole), CMP_UN, seq_always());
    seq_into(s, d, seq2(OP_DADD, y.whole, y.whole));
    s->guard = seq_always();
    common = is_common(s, &x, common);
    lower(s, &x);
    lower(s, &y);
    struct opd e = seq_do(s, seq2(OP_ISUB, x.exponent, y.exponent));
    /* Beyond these all results are 0 or infinite before they are rounded. */
    e = seq_do(s, seq_signed(seq2(OP_IMAX, e, opd_imm(0u - 1150u))));
    e = seq_do(s, seq_signed(seq2(OP_IMIN, e, opd_imm(1100))));
    struct opd half = seq_do(s, seq_signed(seq2(OP_SHR, e, opd_imm(1))));
    half = seq_do(s, seq2(OP_SHL, half, opd_imm(20)));
    e = seq_do(s, seq2(OP_SHL, e, opd_imm(20)));
    struct opd rest = seq_do(s, seq2(OP_ISUB, e, half));
    struct opd half_down = power(s, seq_do(s, seq2(OP_IADD, half, opd_imm(ONE))));
    struct opd rest_down = power(s, seq_do(s, seq2(OP_IADD, rest, opd_imm(ONE))));
    struct opd r = reciprocal(s, y.significand, opd_imm(1)), q = nearest(s, x.significand, y.significand, r);
    struct opd exact = rnd == RND_RN ? q : rounded(s, x.significand, y.significand, r, q, rnd);
    struct opd scaled = dmul(s, exact, half_down);
    s->guard = common;
    seq_into(s, d, seq_round(seq2(OP_DMUL, scaled, rest_down), rnd));
    s->guard = seq_always();
    if (rnd != RND_RN)
        return d;
    /* A quotient and its product by a power of two, both rounded to nearest, are not one rounding of both. */
    struct opd cut = dmul(s, rounded(s, x.significand, y.significand, r, q, RND_RZ), half_down);
    cut = seq_do(s, seq_round(seq2(OP_DMUL, cut, rest_down), RND_RZ));
    struct opd half_up = power(s, seq_do(s, seq2(OP_ISUB, opd_imm(ONE), half)));
    struct opd rest_up = power(s, seq_do(s, seq2(OP_ISUB, opd_imm(ONE), rest)));
    struct opd out = opd_reg(fn_vreg(s->f, 2), 0);
    round_subnormal(s, out, cut, &x, &y, e, half_up, rest_up);
    s->guard = seq_compare(s, seq2(OP_DSETP, seq_abs(cut), opd_imm(0x00100000u)), CMP_LT, common);
    for (uint32_t w = 0; w < 2; w++)
        seq_into(s, seq_word(d, w), seq1(OP_MOV, seq_word(out, w)));
    s->guard = seq_always();
    return d;
}

/* Lets threads for which p holds overwrite r with the result of the far way. */
static void go_far(struct seq *s, struct popd p, struct opd r, struct opd x, struct opd y) {
    uint32_t far = seq_leave(s, p), home = s->block;
    s->block = far;
    struct opd d = far_quotient(s, x.kind == O_IMM ? power(s, x) : x, y);
    for (uint32_t w = 0; w < 2; w++)
        seq_into(s, seq_word(r, w), seq1(OP_MOV, seq_word(d, w)));
    seq_return(s, home);
}

struct opd seq_ddiv(struct seq *s) {
    struct opd x = s->of->src[0], y = s->of->src[1];
    enum rounding rnd = (enum rounding)s->of->m.rnd;
    struct opd r = reciprocal(s, y, opd_imm(1)), q = nearest(s, x, y, r);
    if (rnd != RND_RN)
        q = rounded(s, x, y, r, q, rnd);
    /* Upper words, taken for f32, are ordered as the numbers are. Near: a dividend whose rest is normal, a
     * quotient that is normal and finite, a divisor that is no NaN as f32, which the product with zero passes
     * on. */
    struct opd upper = seq_do(s, seq3(OP_FFMA, opd_rz(), seq_word(y, 1), seq_word(q, 1)));
    struct popd near =
        seq_compare(s, seq2(OP_FSETP, seq_abs(seq_word(x, 1)), opd_imm(0x03600000u)), CMP_GT, seq_always());
    near = seq_compare(s, seq2(OP_FSETP, seq_abs(upper), opd_imm(0x00200000u)), CMP_GT, near);
    go_far(s, seq_not(near), q, x, y);
    return q;
}

struct opd seq_drcp(struct seq *s) {
    struct opd y = s->of->src[0];
    enum rounding rnd = (enum rounding)s->of->m.rnd;
    struct opd low = seq_do(s, seq2(OP_IADD, seq_word(y, 1), opd_imm(0x00300402u)));
    struct opd r = reciprocal(s, y, low);
    if (rnd != RND_RN)
        r = rounded(s, opd_imm(ONE), y, r, r, rnd);
    /* Near: exponents from 1 to 2044, whose reciprocals are normal. */
    struct opd t = seq_do(s, seq2(OP_AND, seq_word(y, 1), opd_imm(0x7ff00000u)));
    t = seq_do(s, seq2(OP_IADD, t, opd_imm(0u - 0x00100000u)));
    struct popd far = seq_compare(s, seq2(OP_ISETP, t, opd_imm(0x7fb00000u)), CMP_GT, seq_always());
    go_far(s, far, r, opd_imm(ONE), y);
    return r;
}

/* ---- roots ---- */

/* 1 / sqrt(x) to nearly all bits: one step of third order from the seed y. */
static struct opd reciprocal_root(struct seq *s, struct opd x, struct opd y) {
    struct opd e = dfma(s, x, seq_neg(dmul(s, y, y)), opd_imm(ONE));
    struct opd c = dfma(s, e, power(s, opd_imm(0x3fd80000u)), opd_imm(HALF)); /* 3/8 e + 1/2 */
    return dfma(s, c, dmul(s, y, e), y);
}

static struct opd root(struct seq *s, struct opd x, enum rounding rnd) {
    struct opd y = reciprocal_root(s, x, seed(s, MUFU_RSQ, x));
    struct opd g = dmul(s, x, y), h = dmul(s, y, opd_imm(HALF));
    if (rnd != RND_RN)
        g = dfma(s, dfma(s, seq_neg(g), g, x), h, g);
    return seq_do(s, seq_round(seq3(OP_DFMA, dfma(s, seq_neg(g), g, x), h, g), rnd));
}

/* Where x is greater than zero and finite. */
static struct popd has_root(struct seq *s, struct opd x) {
    struct popd p = seq_compare(s, seq2(OP_DSETP, x, opd_rz()), CMP_GT, seq_always());
    return seq_compare(s, seq2(OP_DSETP, x, opd_imm(0x7ff00000u)), CMP_LT, p);
}

struct opd seq_dsqrt(struct seq *s) {
    struct opd x = s->of->src[0];
    enum rounding rnd = (enum rounding)s->of->m.rnd;
    /* Far: so small that rests are subnormal, negative, infinite, NaN. */
    struct opd t = seq_do(s, seq2(OP_IADD, seq_word(x, 1), opd_imm(0u - 0x03500000u)));
    struct popd far = seq_compare(s, seq2(OP_ISETP, t, opd_imm(0x7ca00000u)), CMP_GT | CMP_EQ, seq_always());
    struct opd d = root(s, x, rnd);
    uint32_t out = seq_leave(s, far), home = s->block;
    s->block = out;
    struct opd up = dmul(s, x, opd_imm((1023u + 106) << 20));
    struct opd above = root(s, up, rnd);
    /* Zeros and infinities are their own roots; of negative numbers there is none. */
    seq_into(s, d,
             seq2(OP_DMUL, seed(s, MUFU_RSQ, up), opd_rz())); /* NaN for infinite seeds, which zeros have */
    struct popd zero = seq_compare(s, seq2(OP_DSETP, up, opd_rz()), CMP_EQ, seq_always());
    struct popd infinite = seq_compare(s, seq2(OP_DSETP, up, opd_imm(0x7ff00000u)), CMP_EQ, seq_always());
    s->guard = seq_join(s, BOOL_OR, zero, infinite);
    for (uint32_t w = 0; w < 2; w++)
        seq_into(s, seq_word(d, w), seq1(OP_MOV, seq_word(up, w)));
    s->guard = seq_always();
    s->guard = has_root(s, up);
    seq_into(s, d, seq2(OP_DMUL, above, opd_imm((1023u - 53) << 20)));
    s->guard = seq_always();
    seq_return(s, home);
    return d;
}

struct opd seq_drsq(struct seq *s) {
    struct opd x = s->of->src[0];
    /* Far: subnormal, zero, negative, infinite, NaN. */
    struct opd t = seq_do(s, seq2(OP_IADD, seq_word(x, 1), opd_imm(0u - 0x00100000u)));
    struct popd far = seq_compare(s, seq2(OP_ISETP, t, opd_imm(0x7fe00000u)), CMP_GT | CMP_EQ, seq_always());
    struct opd d = reciprocal_root(s, x, seed(s, MUFU_RSQ, x));
    uint32_t out = seq_leave(s, far), home = s->block;
    s->block = out;
    struct opd up = dmul(s, x, opd_imm((1023u + 54) << 20)), y = seed(s, MUFU_RSQ, up);
    struct opd r = seq_copy(s, y, 2), above = reciprocal_root(s, up, y);
    s->guard = has_root(s, up);
    for (uint32_t w = 0; w < 2; w++)
        seq_into(s, seq_word(r, w), seq1(OP_MOV, seq_word(above, w)));
    s->guard = seq_always();
    seq_into(s, d, seq2(OP_DMUL, r, opd_imm((1023u + 27) << 20)));
    seq_return(s, home);
    return d;
}
