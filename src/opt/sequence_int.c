/* Integer divisions and remainders, of 32 and 64 bits.
 *
 * The divisor's reciprocal as a fraction of 2^32 (2^64), from the special function unit, is a little too
 * small; Newton's method brings it near. The quotient that it gives is at most two less than the right one.
 */
#include "opt/sequence.h"

static struct opd zero_pair(struct seq *s, struct opd low) {
    struct opd d = opd_reg(fn_vreg(s->f, 2), 0);
    seq_into(s, d, seq1(OP_MOV, low));
    seq_into(s, seq_word(d, 1), seq1(OP_MOV, opd_rz()));
    return d;
}

/* d = a where p holds. */
static void choose(struct seq *s, struct popd p, struct opd d, struct inst i) {
    s->guard = p;
    seq_into(s, d, i);
    s->guard = seq_always();
}

/* The reciprocal of unsigned b as a fraction, too small by a few units of the last of 24 bits; lift: what is
 * added to its exponent, less two units. */
static struct opd fraction(struct seq *s, struct opd b, enum mtype type, uint32_t lift) {
    struct opd f = seq_do(s, seq_round(seq_convert(OP_I2F, MT_F32, type, b), RND_RP));
    f = seq_do(s, seq_mode(seq1(OP_MUFU, f), MUFU_RCP));
    f = seq_do(s, seq2(OP_IADD, f, opd_imm(lift)));
    struct inst whole = seq_round(seq_convert(OP_F2I, type, MT_F32, f), RND_RZ);
    whole.m.rint = true;
    return seq_do(s, whole);
}

/* ---- 32 bits ---- */

/* a / b or a % b without sign; of a division by zero any number. */
static struct opd divide32(struct seq *s, struct opd a, struct opd b, bool remainder) {
    struct opd z = fraction(s, b, MT_U32, 0x0ffffffeu);
    struct opd minus = seq_do(s, seq2(OP_ISUB, opd_rz(), b));
    z = seq_do(s, seq3(OP_IMADHI, z, seq_do(s, seq2(OP_IMUL, minus, z)), z));
    struct opd q = seq_do(s, seq2(OP_IMULHI, z, a)), r = seq_do(s, seq3(OP_IMAD, q, minus, a));
    for (uint32_t step = 0; step < 2; step++) {
        struct popd more = seq_compare(s, seq2(OP_ISETP, r, b), CMP_GT | CMP_EQ, seq_always());
        if (remainder || !step)
            choose(s, more, r, seq2(OP_ISUB, r, b));
        if (!remainder)
            choose(s, more, q, seq2(OP_IADD, q, opd_imm(1)));
    }
    return remainder ? r : q;
}

static struct opd divide(struct seq *s, bool remainder) {
    struct opd a = s->of->src[0], b = s->of->src[1];
    bool sgn = s->of->m.sgn;
    struct opd r =
        divide32(s, sgn ? seq_do(s, seq1(OP_IABS, a)) : a, sgn ? seq_do(s, seq1(OP_IABS, b)) : b, remainder);
    if (sgn) { /* a remainder has the sign of the dividend */
        struct opd sign = remainder ? a : seq_do(s, seq2(OP_XOR, a, b));
        struct popd minus = seq_compare(s, seq_signed(seq2(OP_ISETP, sign, opd_rz())), CMP_LT, seq_always());
        choose(s, minus, r, seq2(OP_ISUB, opd_rz(), r));
    }
    struct popd none = seq_compare(s, seq2(OP_ISETP, b, opd_rz()), CMP_EQ, seq_always());
    choose(s, none, r, seq1(OP_MOV, opd_imm(UINT32_MAX)));
    return r;
}

struct opd seq_idiv(struct seq *s) {
    return divide(s, false);
}

struct opd seq_irem(struct seq *s) {
    return divide(s, true);
}

/* ---- 64 bits ---- */

/* d = a + b or a - b. */
static void sum64(struct seq *s, enum op op, struct opd d, struct opd a, struct opd b) {
    struct popd c = seq_carry(s, op, d, a, b, NULL);
    seq_carry(s, op, seq_word(d, 1), is_rz(&a) ? a : seq_word(a, 1), is_const(&b) ? opd_rz() : seq_word(b, 1),
              &c);
}

static struct opd new64(struct seq *s, enum op op, struct opd a, struct opd b) {
    struct opd d = opd_reg(fn_vreg(s->f, 2), 0);
    sum64(s, op, d, a, b);
    return d;
}

/* The low 64 bits of a product. */
static struct opd low64(struct seq *s, struct opd a, struct opd b) {
    struct opd d = seq_do(s, seq2(OP_IMULW, a, b));
    struct opd t = seq_do(s, seq3(OP_IMAD, a, seq_word(b, 1), seq_word(d, 1)));
    seq_into(s, seq_word(d, 1), seq3(OP_IMAD, seq_word(a, 1), b, t));
    return d;
}

/* The high 64 bits of a product. */
static struct opd high64(struct seq *s, struct opd a, struct opd b) {
    struct opd t = zero_pair(s, seq_do(s, seq2(OP_IMULHI, a, b)));
    struct opd u = seq_do(s, seq3(OP_IMADW, a, seq_word(b, 1), t));
    struct opd v = seq_do(s, seq3(OP_IMADW, seq_word(a, 1), b, zero_pair(s, u)));
    struct opd above = opd_reg(fn_vreg(s->f, 2), 0);
    struct popd c = seq_carry(s, OP_IADDC, above, seq_word(u, 1), seq_word(v, 1), NULL);
    seq_carry(s, OP_IADDC, seq_word(above, 1), opd_rz(), opd_rz(), &c);
    return seq_do(s, seq3(OP_IMADW, seq_word(a, 1), seq_word(b, 1), above));
}

/* Where a >= b. */
static struct popd not_less64(struct seq *s, struct opd a, struct opd b) {
    struct popd low = seq_compare(s, seq2(OP_ISETP, a, b), CMP_GT | CMP_EQ, seq_always());
    struct inst i = seq2(OP_ISETPX, seq_word(a, 1), seq_word(b, 1));
    i.psrc[1] = low;
    return seq_compare(s, i, CMP_GT | CMP_EQ, seq_always());
}

static void choose64(struct seq *s, struct popd p, struct opd d, struct opd a) {
    for (uint32_t w = 0; w < 2; w++)
        choose(s, p, seq_word(d, w), seq1(OP_MOV, seq_word(a, w)));
}

/* a / b or a % b without sign; of a division by zero any number. */
static struct opd divide64(struct seq *s, struct opd a, struct opd b, bool remainder) {
    struct opd z = fraction(s, b, MT_U64, 0x1ffffffeu);
    for (uint32_t step = 0; step < 2; step++) {
        struct opd e = new64(s, OP_ISUBC, opd_rz(), low64(s, b, z));
        z = new64(s, OP_IADDC, z, high64(s, z, e));
    }
    struct opd q = high64(s, z, a), r = new64(s, OP_ISUBC, a, low64(s, q, b));
    for (uint32_t step = 0; step < 2; step++) {
        struct popd more = not_less64(s, r, b);
        if (remainder || !step)
            choose64(s, more, r, new64(s, OP_ISUBC, r, b));
        if (!remainder)
            choose64(s, more, q, new64(s, OP_IADDC, q, opd_imm(1)));
    }
    return remainder ? r : q;
}

static struct opd absolute64(struct seq *s, struct opd a) {
    struct opd d = seq_copy(s, a, 2), minus = new64(s, OP_ISUBC, opd_rz(), a);
    choose64(s, seq_compare(s, seq_signed(seq2(OP_ISETP, seq_word(a, 1), opd_rz())), CMP_LT, seq_always()), d,
             minus);
    return d;
}

/* The far way: 64 bits and signs. */
static void far64(struct seq *s, struct opd d, struct opd a, struct opd b, bool remainder) {
    bool sgn = s->of->m.sgn;
    struct opd r = divide64(s, sgn ? absolute64(s, a) : a, sgn ? absolute64(s, b) : b, remainder);
    for (uint32_t w = 0; w < 2; w++)
        seq_into(s, seq_word(d, w), seq1(OP_MOV, seq_word(r, w)));
    if (!sgn)
        return;
    struct opd sign = remainder ? seq_word(a, 1) : seq_do(s, seq2(OP_XOR, seq_word(a, 1), seq_word(b, 1)));
    struct popd minus = seq_compare(s, seq_signed(seq2(OP_ISETP, sign, opd_rz())), CMP_LT, seq_always());
    choose64(s, minus, d, new64(s, OP_ISUBC, opd_rz(), r));
}

/* Numbers of 32 bits, without a sign, are frequent enough to be tried first. */
static struct opd divide_wide(struct seq *s, bool remainder) {
    struct opd a = s->of->src[0], b = s->of->src[1];
    struct opd upper = seq_do(s, seq2(OP_OR, seq_word(a, 1), seq_word(b, 1)));
    struct popd wide = seq_compare(s, seq2(OP_ISETP, upper, opd_rz()), CMP_LT | CMP_GT, seq_always());
    struct opd d = opd_reg(fn_vreg(s->f, 2), 0);
    uint32_t far = seq_leave(s, wide);
    seq_into(s, d, seq1(OP_MOV, divide32(s, a, b, remainder)));
    seq_into(s, seq_word(d, 1), seq1(OP_MOV, opd_rz()));
    uint32_t home = seq_next(s);
    s->block = far;
    far64(s, d, a, b, remainder);
    seq_return(s, home);
    struct opd any = seq_do(s, seq2(OP_OR, b, seq_word(b, 1)));
    struct popd none = seq_compare(s, seq2(OP_ISETP, any, opd_rz()), CMP_EQ, seq_always());
    for (uint32_t w = 0; w < 2; w++)
        choose(s, none, seq_word(d, w), seq1(OP_MOV, opd_imm(UINT32_MAX)));
    return d;
}

struct opd seq_idiv64(struct seq *s) {
    return divide_wide(s, false);
}

struct opd seq_irem64(struct seq *s) {
    return divide_wide(s, true);
}

/* ---- fields of 64 bits ---- */

/* {hi, lo} shifted by n, which may be 64 and more. */
static struct opd left64(struct seq *s, struct opd a, struct opd n) {
    struct opd d = opd_reg(fn_vreg(s->f, 2), 0);
    seq_into(s, seq_word(d, 1), seq3(OP_SHLHI, a, n, seq_word(a, 1)));
    seq_into(s, d, seq2(OP_SHL, a, n));
    return d;
}

static struct opd right64(struct seq *s, struct opd a, struct opd n, bool sgn) {
    struct opd d = opd_reg(fn_vreg(s->f, 2), 0);
    struct inst low = seq3(OP_SHRLO, a, n, seq_word(a, 1)), high = seq2(OP_SHR, seq_word(a, 1), n);
    seq_into(s, d, sgn ? seq_signed(low) : low);
    seq_into(s, seq_word(d, 1), sgn ? seq_signed(high) : high);
    return d;
}

struct opd seq_bfe64(struct seq *s) {
    const struct inst *of = s->of;
    struct opd length = seq_do(s, seq2(OP_IMIN, of->src[2], opd_imm(64)));
    struct opd above = seq_do(s, seq2(OP_ISUB, opd_imm(64), length));
    struct opd from = right64(s, of->src[0], of->src[1], of->m.sgn);
    return right64(s, left64(s, from, above), above, of->m.sgn);
}

struct opd seq_bfi64(struct seq *s) {
    const struct inst *of = s->of;
    struct opd all = opd_reg(fn_vreg(s->f, 2), 0), d = opd_reg(fn_vreg(s->f, 2), 0);
    for (uint32_t w = 0; w < 2; w++)
        seq_into(s, seq_word(all, w), seq1(OP_MOV, opd_imm(UINT32_MAX)));
    struct opd above = left64(s, all, of->src[3]);
    for (uint32_t w = 0; w < 2; w++)
        seq_into(s, seq_word(above, w), seq1(OP_NOT, seq_word(above, w)));
    struct opd field = left64(s, above, of->src[2]), moved = left64(s, of->src[0], of->src[2]);
    for (uint32_t w = 0; w < 2; w++) {
        struct inst merge = seq3(OP_LOP3, seq_word(field, w), seq_word(moved, w), seq_word(of->src[1], w));
        seq_into(s, seq_word(d, w), seq_mode(merge, 0xca)); /* mask ? moved : the other */
    }
    return d;
}

/* ---- the n-th set bit ---- */

/* Position of set bit number n, from 1, of x, which has that many: halves are counted, and the right one is
 * searched. Changes both. */
static struct opd find_bit(struct seq *s, struct opd x, struct opd n) {
    struct opd at = seq_do(s, seq1(OP_MOV, opd_rz()));
    for (uint32_t half = 16; half; half /= 2) {
        struct opd low = seq_do(s, seq1(OP_POPC, seq_do(s, seq2(OP_AND, x, opd_imm((1u << half) - 1)))));
        struct popd higher = seq_compare(s, seq2(OP_ISETP, n, low), CMP_GT, seq_always());
        choose(s, higher, n, seq2(OP_ISUB, n, low));
        choose(s, higher, at, seq2(OP_IADD, at, opd_imm(half)));
        choose(s, higher, x, seq2(OP_SHR, x, opd_imm(half)));
    }
    return at;
}

/* Downwards is upwards in the mirror. */
struct opd seq_fns(struct seq *s) {
    struct opd mask = s->of->src[0], base = s->of->src[1], offset = s->of->src[2];
    struct popd down = seq_compare(s, seq_signed(seq2(OP_ISETP, offset, opd_rz())), CMP_LT, seq_always());
    struct opd x = seq_copy(s, mask, 1), from = seq_copy(s, base, 1);
    choose(s, down, x, seq1(OP_BREV, mask));
    choose(s, down, from, seq2(OP_ISUB, opd_imm(31), base));
    x = seq_do(s, seq2(OP_SHR, x, from)); /* nothing is left when base is no position */
    struct popd here = seq_compare(s, seq2(OP_ISETP, offset, opd_rz()), CMP_EQ, seq_always());
    choose(s, here, x, seq2(OP_AND, x, opd_imm(1)));
    struct opd n = seq_do(s, seq1(OP_IABS, offset));
    choose(s, here, n, seq1(OP_MOV, opd_imm(1)));
    struct popd none = seq_compare(s, seq2(OP_ISETP, seq_do(s, seq1(OP_POPC, x)), n), CMP_LT, seq_always());
    struct opd at = seq_do(s, seq2(OP_IADD, find_bit(s, x, n), from));
    choose(s, down, at, seq2(OP_ISUB, opd_imm(31), at));
    choose(s, none, at, seq1(OP_MOV, opd_imm(UINT32_MAX)));
    /* The least number has no magnitude: the hardware answers 0. */
    struct popd least = seq_compare(s, seq2(OP_ISETP, offset, opd_imm(0x80000000u)), CMP_EQ, seq_always());
    least = seq_compare(s, seq2(OP_ISETP, base, opd_imm(32)), CMP_LT, least);
    choose(s, least, at, seq1(OP_MOV, opd_rz()));
    return at;
}
