/* Integer arithmetic, logic, shifts and bit operations. 64-bit integers become 32-bit operations with carry.
 */
#include "ptx/lower.h"

#define T(i)    in_type(l, i)
#define W(i, w) src_word(l, arg(l, i), T(0), w)
#define X(i)    src_ext(l, arg(l, i), T(0))
#define D(w)    dst_word(l, arg(l, 0), w)

static struct opd new_word(struct lower *l) {
    return opd_reg(tmp(l, 1), 0);
}

static bool is64(struct lower *l) {
    return ptx_type_size(T(0)) == 8;
}

/* Carry-in and carry-out of add, addc, sub, subc and their .cc forms. */
static void add_sub(struct lower *l, enum op plain, enum op carry, bool in) {
    bool out = has(l, MOD_CC);
    uint32_t cin = in ? l->cc : VPRED_PT, cout = out ? l->cc : VPRED_PT;
    if (!is64(l)) {
        if (in || out)
            emit_carry(l, carry, D(0), cout, W(1, 0), W(2, 0), cin);
        else if (has(l, MOD_SAT))
            emit2(l, plain == OP_IADD ? OP_IADDSAT : OP_ISUBSAT, D(0), W(1, 0), W(2, 0));
        else
            emit2(l, plain, D(0), W(1, 0), W(2, 0));
        return;
    }
    uint32_t p = tmp_pred(l);
    emit_carry(l, carry, D(0), p, W(1, 0), W(2, 0), cin);
    emit_carry(l, carry, D(1), cout, W(1, 1), W(2, 1), p);
}

/* add.u16x2 and relatives: two independent halves. */
static bool is_simd16(enum ptx_type t) {
    return t == PTX_U16X2 || t == PTX_S16X2;
}

static void simd16(struct lower *l, uint32_t op) {
    struct inst i = mk(OP_SIMD2, D(0), W(1, 0), W(2, 0), opd_rz());
    i.m.mode = SIMD_MODE(op, 0, 3, 0);
    i.m.lut = T(0) == PTX_S16X2 ? VLUT_A_SIGNED | VLUT_B_SIGNED | VLUT_D_SIGNED : 0;
    i.m.relu = has(l, MOD_RELU);
    emit(l, i);
}

void lower_fadd(struct lower *l, bool neg); /* lower_float.c */
void lower_fmul(struct lower *l);
void lower_fminmax(struct lower *l, bool max);
void lower_fdiv(struct lower *l);
void lower_fsign(struct lower *l, bool abs);

void lower_add(struct lower *l) {
    if (type_is_float(T(0)))
        lower_fadd(l, false);
    else if (is_simd16(T(0)))
        simd16(l, SIMD_ADD);
    else
        add_sub(l, OP_IADD, OP_IADDC, l->in->op == PTXOP_ADDC);
}

void lower_sub(struct lower *l) {
    if (type_is_float(T(0)))
        lower_fadd(l, true);
    else
        add_sub(l, OP_ISUB, OP_ISUBC, l->in->op == PTXOP_SUBC);
}

/* Full 64x64 product, high half; unsigned. Words a0 a1 b0 b1 are registers. */
static struct opd mulhi64(struct lower *l, struct opd a0, struct opd a1, struct opd b0, struct opd b1,
                          bool sgn) {
    struct opd p00 = opd_reg(tmp(l, 2), 0), p01 = opd_reg(tmp(l, 2), 0), p10 = opd_reg(tmp(l, 2), 0),
               hi = opd_reg(tmp(l, 2), 0);
    emit2(l, OP_IMULW, p00, a0, b0);
    emit3(l, OP_IMADW, p01, a0, b1, make_pair(l, pair_word(p00, 1), opd_imm(0)));
    emit3(l, OP_IMADW, p10, a1, b0, make_pair(l, pair_word(p01, 0), opd_imm(0)));
    emit3(l, OP_IMADW, hi, a1, b1, make_pair(l, pair_word(p01, 1), opd_imm(0)));
    struct opd r = opd_reg(tmp(l, 2), 0);
    uint32_t c = tmp_pred(l);
    emit_carry(l, OP_IADDC, pair_word(r, 0), c, pair_word(hi, 0), pair_word(p10, 1), VPRED_PT);
    emit_carry(l, OP_IADDC, pair_word(r, 1), VPRED_PT, pair_word(hi, 1), opd_imm(0), c);
    if (!sgn)
        return r;
    /* signed: subtract b if a < 0, and a if b < 0 */
    struct opd who[2][3] = {{a1, b0, b1}, {b1, a0, a1}};
    for (int k = 0; k < 2; k++) {
        struct opd s = new_word(l), m0 = new_word(l), m1 = new_word(l), n = opd_reg(tmp(l, 2), 0);
        emit_mode(l, OP_SHR, s, who[k][0], opd_imm(31), none, 0, true);
        emit2(l, OP_AND, m0, s, who[k][1]);
        emit2(l, OP_AND, m1, s, who[k][2]);
        uint32_t b = tmp_pred(l);
        emit_carry(l, OP_ISUBC, pair_word(n, 0), b, pair_word(r, 0), m0, VPRED_PT);
        emit_carry(l, OP_ISUBC, pair_word(n, 1), VPRED_PT, pair_word(r, 1), m1, b);
        r = n;
    }
    return r;
}

static struct opd in_reg(struct lower *l, struct opd a) {
    if (a.kind == O_REG)
        return a;
    struct opd t = new_word(l);
    emit1(l, OP_MOV, t, a);
    return t;
}

/* 64-bit product (low or high half) of operands 1 and 2 into pair r, which may be a source. */
static void mul64(struct lower *l, bool hi, struct opd r) {
    struct opd a0 = in_reg(l, W(1, 0)), a1 = in_reg(l, W(1, 1)), b0 = in_reg(l, W(2, 0)),
               b1 = in_reg(l, W(2, 1));
    if (hi) {
        struct opd h = mulhi64(l, a0, a1, b0, b1, type_is_signed(T(0)));
        emit1(l, OP_MOV, pair_word(r, 0), pair_word(h, 0));
        emit1(l, OP_MOV, pair_word(r, 1), pair_word(h, 1));
        return;
    }
    struct opd p = opd_reg(tmp(l, 2), 0), h = new_word(l);
    emit2(l, OP_IMULW, p, a0, b0);
    emit3(l, OP_IMAD, h, a0, b1, pair_word(p, 1));
    emit3(l, OP_IMAD, pair_word(r, 1), a1, b0, h);
    emit1(l, OP_MOV, pair_word(r, 0), pair_word(p, 0));
}

/* Product of values of at most 32 bits into the word r, which may be a source. */
static void mul32(struct lower *l, struct opd r) {
    bool sgn = type_is_signed(T(0)), small = ptx_type_size(T(0)) < 4;
    if (small && !has(l, MOD_LO)) { /* hi or wide of 16-bit values: the whole product fits a word */
        struct opd whole = has(l, MOD_WIDE) ? r : new_word(l);
        emit2(l, OP_IMUL, whole, X(1), X(2));
        if (!has(l, MOD_WIDE))
            emit_mode(l, OP_SHR, r, whole, opd_imm(16), none, 0, sgn);
    } else if (has(l, MOD_HI)) {
        emit_mode(l, OP_IMULHI, r, W(1, 0), W(2, 0), none, 0, sgn);
    } else {
        emit2(l, OP_IMUL, r, W(1, 0), W(2, 0));
    }
}

static struct opd product(struct lower *l) {
    struct opd t = new_word(l);
    mul32(l, t);
    return t;
}

void lower_mul(struct lower *l) {
    if (type_is_float(T(0))) {
        lower_fmul(l);
    } else if (is64(l)) {
        D(1);
        mul64(l, has(l, MOD_HI), D(0));
    } else if (has(l, MOD_WIDE) && ptx_type_size(T(0)) == 4) {
        D(1);
        emit_mode(l, OP_IMULW, D(0), W(1, 0), W(2, 0), none, 0, type_is_signed(T(0)));
    } else {
        mul32(l, D(0));
    }
}

/* mad.cc and madc: the product, then an addition with carry. */
static void mad_carry(struct lower *l) {
    uint32_t cin = l->in->op == PTXOP_MADC ? l->cc : VPRED_PT, cout = has(l, MOD_CC) ? l->cc : VPRED_PT;
    if (!is64(l)) {
        emit_carry(l, OP_IADDC, D(0), cout, product(l), W(3, 0), cin);
        return;
    }
    struct opd p = opd_reg(tmp(l, 2), 0);
    uint32_t c = tmp_pred(l);
    mul64(l, has(l, MOD_HI), p);
    emit_carry(l, OP_IADDC, D(0), c, pair_word(p, 0), W(3, 0), cin);
    emit_carry(l, OP_IADDC, D(1), cout, pair_word(p, 1), W(3, 1), c);
}

void lower_mad(struct lower *l) {
    if (type_is_float(T(0))) {
        lower_fma(l);
    } else if (l->in->op == PTXOP_MADC || has(l, MOD_CC) || is64(l)) {
        mad_carry(l);
    } else if (has(l, MOD_WIDE) && ptx_type_size(T(0)) == 4) {
        D(1);
        struct opd c = src_group(l, arg(l, 3), PTX_U64);
        emit_mode(l, OP_IMADW, D(0), W(1, 0), W(2, 0), c, 0, type_is_signed(T(0)));
    } else if (has(l, MOD_HI) && ptx_type_size(T(0)) == 4) {
        emit_mode(l, has(l, MOD_SAT) ? OP_IMADHISAT : OP_IMADHI, D(0), W(1, 0), W(2, 0), W(3, 0), 0,
                  type_is_signed(T(0)));
    } else if (has(l, MOD_LO) && ptx_type_size(T(0)) <= 4) {
        emit3(l, OP_IMAD, D(0), W(1, 0), W(2, 0), W(3, 0));
    } else {
        emit2(l, OP_IADD, D(0), product(l), W(3, 0));
    }
}

void lower_mul24(struct lower *l) {
    emit_mode(l, has(l, MOD_HI) ? OP_IMUL24HI : OP_IMUL24, D(0), W(1, 0), W(2, 0), none, 0,
              type_is_signed(T(0)));
}

void lower_mad24(struct lower *l) {
    struct opd t = new_word(l);
    emit_mode(l, has(l, MOD_HI) ? OP_IMUL24HI : OP_IMUL24, t, W(1, 0), W(2, 0), none, 0,
              type_is_signed(T(0)));
    emit2(l, has(l, MOD_SAT) ? OP_IADDSAT : OP_IADD, D(0), t, W(3, 0));
}

/* Predicate a < b for 64-bit words. */
static uint32_t less64(struct lower *l, bool sgn, struct opd a0, struct opd a1, struct opd b0,
                       struct opd b1) {
    uint32_t lo = emit_isetp(l, CMP_LT, false, a0, b0);
    struct inst i = mk(OP_ISETPX, none, a1, b1, none);
    i.m.cmp = CMP_LT;
    i.m.sgn = sgn;
    i.pdst[0].id = tmp_pred(l);
    i.psrc[1].id = lo;
    emit(l, i);
    return i.pdst[0].id;
}

void lower_sad(struct lower *l) {
    bool sgn = type_is_signed(T(0));
    if (!is64(l)) {
        emit_mode(l, OP_ISAD, D(0), X(1), X(2), W(3, 0), 0, sgn);
        return;
    }
    struct popd lt = {less64(l, sgn, W(1, 0), W(1, 1), W(2, 0), W(2, 1)), false};
    struct opd d[2], e[2], t = new_word(l);
    for (int k = 0; k < 2; k++) { /* both differences, then the right one */
        uint32_t b = tmp_pred(l), g = tmp(l, 2);
        emit_carry(l, OP_ISUBC, opd_reg(g, 0), b, W(1 + k, 0), W(2 - k, 0), VPRED_PT);
        emit_carry(l, OP_ISUBC, opd_reg(g, 1), VPRED_PT, W(1 + k, 1), W(2 - k, 1), b);
        d[k] = opd_reg(g, 0);
    }
    for (uint32_t w = 0; w < 2; w++) {
        e[w] = new_word(l);
        emit_sel(l, e[w], pair_word(d[1], w), pair_word(d[0], w), lt);
    }
    uint32_t c = tmp_pred(l);
    emit_carry(l, OP_IADDC, t, c, e[0], W(3, 0), VPRED_PT);
    emit_carry(l, OP_IADDC, D(1), VPRED_PT, e[1], W(3, 1), c);
    emit1(l, OP_MOV, D(0), t);
}

static void div_rem(struct lower *l, enum op op, enum op op64) {
    bool sgn = type_is_signed(T(0));
    if (is64(l)) {
        D(1);
        emit_mode(l, op64, D(0), src_group(l, arg(l, 1), T(0)), src_group(l, arg(l, 2), T(0)), none, 0, sgn);
    } else {
        emit_mode(l, op, D(0), X(1), X(2), none, 0, sgn);
    }
}

void lower_div(struct lower *l) {
    if (type_is_float(T(0)))
        lower_fdiv(l);
    else
        div_rem(l, OP_IDIV, OP_IDIV64);
}

void lower_rem(struct lower *l) {
    div_rem(l, OP_IREM, OP_IREM64);
}

void lower_neg(struct lower *l) {
    if (type_is_float(T(0))) {
        lower_fsign(l, false);
        return;
    }
    if (!is64(l)) {
        emit2(l, OP_ISUB, D(0), opd_rz(), W(1, 0));
        return;
    }
    uint32_t p = tmp_pred(l);
    emit_carry(l, OP_ISUBC, D(0), p, opd_rz(), W(1, 0), VPRED_PT);
    emit_carry(l, OP_ISUBC, D(1), VPRED_PT, opd_rz(), W(1, 1), p);
}

void lower_abs(struct lower *l) {
    if (type_is_float(T(0))) {
        lower_fsign(l, true);
        return;
    }
    if (!is64(l)) {
        emit1(l, OP_IABS, D(0), X(1));
        return;
    }
    struct opd s = new_word(l), x0 = new_word(l), x1 = new_word(l), t = new_word(l);
    uint32_t p = tmp_pred(l);
    emit_mode(l, OP_SHR, s, W(1, 1), opd_imm(31), none, 0, true);
    emit2(l, OP_XOR, x0, W(1, 0), s);
    emit2(l, OP_XOR, x1, W(1, 1), s);
    emit_carry(l, OP_ISUBC, t, p, x0, s, VPRED_PT);
    emit_carry(l, OP_ISUBC, D(1), VPRED_PT, x1, s, p);
    emit1(l, OP_MOV, D(0), t);
}

void lower_minmax(struct lower *l) {
    bool max = l->in->op == PTXOP_MAX, sgn = type_is_signed(T(0));
    if (type_is_float(T(0))) {
        lower_fminmax(l, max);
    } else if (is_simd16(T(0))) {
        simd16(l, max ? SIMD_MAX : SIMD_MIN);
    } else if (is64(l)) {
        struct popd lt = {less64(l, sgn, W(1, 0), W(1, 1), W(2, 0), W(2, 1)), max};
        for (uint32_t w = 0; w < 2; w++)
            emit_sel(l, D(w), W(1, w), W(2, w), lt);
    } else {
        struct opd r = has(l, MOD_RELU) ? new_word(l) : D(0);
        emit_mode(l, max ? OP_IMAX : OP_IMIN, r, X(1), X(2), none, 0, sgn);
        if (has(l, MOD_RELU))
            emit_mode(l, OP_IMAX, D(0), r, opd_rz(), none, 0, true);
    }
}

void lower_popc(struct lower *l) {
    if (!is64(l)) {
        emit1(l, OP_POPC, D(0), W(1, 0));
        return;
    }
    struct opd a = new_word(l), b = new_word(l);
    emit1(l, OP_POPC, a, W(1, 0));
    emit1(l, OP_POPC, b, W(1, 1));
    emit2(l, OP_IADD, D(0), a, b);
}

void lower_clz(struct lower *l) {
    if (!is64(l)) {
        emit1(l, OP_CLZ, D(0), W(1, 0));
        return;
    }
    struct opd hi = new_word(l), lo = new_word(l), sum = new_word(l);
    struct popd zero = {emit_isetp(l, CMP_EQ, false, W(1, 1), opd_rz()), false};
    emit1(l, OP_CLZ, hi, W(1, 1));
    emit1(l, OP_CLZ, lo, W(1, 0));
    emit2(l, OP_IADD, sum, lo, opd_imm(32));
    emit_sel(l, D(0), sum, hi, zero);
}

void lower_bfind(struct lower *l) {
    bool sgn = type_is_signed(T(0)), amount = has(l, MOD_SHIFTAMT);
    if (!is64(l)) {
        emit_mode(l, OP_FLO, D(0), W(1, 0), none, none, amount, sgn);
        return;
    }
    struct opd a[2] = {W(1, 0), W(1, 1)};
    if (sgn) { /* of a negative number the first bit that is not 1 is sought */
        struct opd s = new_word(l);
        emit_mode(l, OP_SHR, s, a[1], opd_imm(31), none, 0, true);
        for (int k = 0; k < 2; k++) {
            struct opd x = new_word(l);
            emit2(l, OP_XOR, x, a[k], s);
            a[k] = x;
        }
    }
    struct opd hi = new_word(l), lo = new_word(l), hi32 = new_word(l), r = new_word(l);
    struct popd zero = {emit_isetp(l, CMP_EQ, false, a[1], opd_rz()), false};
    emit_mode(l, OP_FLO, hi, a[1], none, none, 0, false);
    emit_mode(l, OP_FLO, lo, a[0], none, none, 0, false);
    emit2(l, OP_IADD, hi32, hi, opd_imm(32));
    if (!amount) {
        emit_sel(l, D(0), lo, hi32, zero);
        return;
    }
    emit_sel(l, r, lo, hi32, zero);
    struct opd amt = new_word(l);
    struct popd none_found = {emit_isetp(l, CMP_EQ, false, r, opd_imm(0xffffffffu)), false};
    emit2(l, OP_ISUB, amt, opd_imm(63), r);
    emit_sel(l, D(0), r, amt, none_found);
}

void lower_fns(struct lower *l) {
    emit3(l, OP_FNS, D(0), W(1, 0), W(2, 0), W(3, 0));
}

void lower_brev(struct lower *l) {
    if (!is64(l)) {
        emit1(l, OP_BREV, D(0), W(1, 0));
        return;
    }
    struct opd t = new_word(l);
    emit1(l, OP_BREV, t, W(1, 1));
    emit1(l, OP_BREV, D(1), W(1, 0));
    emit1(l, OP_MOV, D(0), t);
}

#define U32(i) src_word(l, arg(l, i), PTX_U32, 0)

void lower_bfe(struct lower *l) {
    bool sgn = type_is_signed(T(0));
    if (is64(l)) {
        D(1);
        emit_mode(l, OP_BFE64, D(0), src_group(l, arg(l, 1), T(0)), U32(2), U32(3), 0, sgn);
    } else {
        emit_mode(l, OP_BFE, D(0), W(1, 0), U32(2), U32(3), 0, sgn);
    }
}

void lower_bfi(struct lower *l) {
    struct opd a = src_group(l, arg(l, 1), T(0)), b = src_group(l, arg(l, 2), T(0));
    struct inst i = mk(is64(l) ? OP_BFI64 : OP_BFI, D(0), a, b, U32(3));
    i.src[3] = U32(4);
    i.nsrc = 4;
    emit(l, i);
}

void lower_bmsk(struct lower *l) {
    emit_mode(l, OP_BMSK, D(0), W(1, 0), W(2, 0), none, has(l, MOD_WRAP), false);
}

void lower_szext(struct lower *l) {
    emit_mode(l, OP_SZEXT, D(0), W(1, 0), W(2, 0), none, has(l, MOD_WRAP), type_is_signed(T(0)));
}

void lower_dp(struct lower *l) {
    uint32_t mode =
        (uint32_t)type_is_signed(T(0)) | (uint32_t)type_is_signed(T(1)) << 1 | (uint32_t)has(l, MOD_HI) << 2;
    emit_mode(l, l->in->op == PTXOP_DP4A ? OP_DP4A : OP_DP2A, D(0), W(1, 0), W(2, 0), W(3, 0), mode, false);
}

/* ---- logic ---- */

void lower_logic(struct lower *l) {
    bool and = l->in->op == PTXOP_AND, or = l->in->op == PTXOP_OR;
    if (T(0) == PTX_PRED) {
        emit_plop(l, dst_pred(l, arg(l, 0)),
                  and? BOOL_AND : or ? BOOL_OR
                                     : BOOL_XOR,
                  src_pred(l, arg(l, 1)), src_pred(l, arg(l, 2)));
        return;
    }
    for (uint32_t w = 0; w < type_words(T(0)); w++)
        emit2(l, and? OP_AND : or ? OP_OR : OP_XOR, D(w), W(1, w), W(2, w));
}

void lower_not(struct lower *l) {
    if (T(0) == PTX_PRED) {
        struct popd p = src_pred(l, arg(l, 1));
        p.neg = !p.neg;
        emit_plop(l, dst_pred(l, arg(l, 0)), BOOL_AND, p, (struct popd){VPRED_PT, false});
        return;
    }
    for (uint32_t w = 0; w < type_words(T(0)); w++)
        emit1(l, OP_NOT, D(w), W(1, w));
}

void lower_cnot(struct lower *l) {
    struct opd v = X(1);
    if (is64(l)) {
        v = new_word(l);
        emit2(l, OP_OR, v, W(1, 0), W(1, 1));
    }
    struct popd zero = {emit_isetp(l, CMP_EQ, false, v, opd_rz()), false};
    emit_sel(l, D(0), opd_imm(1), opd_rz(), zero);
    if (is64(l))
        emit1(l, OP_MOV, D(1), opd_rz());
}

void lower_lop3(struct lower *l) {
    const struct ptx_opd *d = arg(l, 0);
    const struct ptx_opd *lut = arg(l, 4);
    if (lut->kind != OPD_INT)
        lower_refuse(l, "the table must be an immediate");
    struct opd r = d->kind == OPD_PAIR ? dst_word(l, &d->elems[0], 0) : dst_word(l, d, 0);
    struct opd t = d->kind == OPD_PAIR ? new_word(l) : r;
    emit_mode(l, OP_LOP3, t, W(1, 0), W(2, 0), W(3, 0), (uint8_t)lut->imm, false);
    if (d->kind != OPD_PAIR)
        return;
    struct inst i = mk(OP_ISETP, none, t, opd_rz(), none); /* lop3.BoolOp: result and (value != 0) BoolOp q */
    i.m.cmp = CMP_LT | CMP_GT;
    i.m.bop = has(l, MOD_OR) ? BOOL_OR : BOOL_AND;
    i.psrc[0] = src_pred(l, arg(l, 5));
    i.pdst[0].id = dst_pred(l, &d->elems[1]);
    emit(l, i);
    emit1(l, OP_MOV, r, t);
}

/* ---- shifts ---- */

void lower_shf(struct lower *l) {
    uint32_t mode = (has(l, MOD_R) ? SHF_RIGHT : 0u) | (has(l, MOD_WRAP) ? SHF_WRAP : 0u);
    emit_mode(l, OP_SHF, D(0), W(1, 0), U32(3), W(2, 0), mode, false);
}

void lower_shift(struct lower *l) {
    bool left = l->in->op == PTXOP_SHL, sgn = type_is_signed(T(0));
    struct opd n = U32(2);
    if (!is64(l)) {
        emit_mode(l, left ? OP_SHL : OP_SHR, D(0), left ? W(1, 0) : X(1), n, none, 0, sgn);
        return;
    }
    struct opd a0 = in_reg(l, W(1, 0)), a1 = in_reg(l, W(1, 1));
    if (left) { /* in this order the destination may be the source */
        emit3(l, OP_SHLHI, D(1), a0, n, a1);
        emit_mode(l, OP_SHL, D(0), a0, n, none, 0, false);
    } else {
        emit_mode(l, OP_SHRLO, D(0), a0, n, a1, 0, sgn);
        emit_mode(l, OP_SHR, D(1), a1, n, none, 0, sgn);
    }
}

void lower_prmt(struct lower *l) {
    static const struct {
        uint16_t mod;
        uint8_t mode;
    } modes[] = {{MOD_F4E, PRMT_F4E}, {MOD_B4E, PRMT_B4E}, {MOD_RC8, PRMT_RC8},
                 {MOD_ECL, PRMT_ECL}, {MOD_ECR, PRMT_ECR}, {MOD_RC16, PRMT_RC16}};
    uint32_t mode = PRMT_NONE;
    for (uint32_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
        if (has(l, (enum ptx_mod)modes[i].mod))
            mode = modes[i].mode;
    emit_mode(l, OP_PRMT, D(0), W(1, 0), W(2, 0), W(3, 0), mode, false);
}

/* ---- comparison and selection ---- */

uint32_t inst_cmp(struct lower *l) {
    static const struct {
        uint16_t mod;
        uint8_t cmp;
    } words[] = {
        {MOD_EQ, CMP_EQ},
        {MOD_NE, CMP_LT | CMP_GT},
        {MOD_LT, CMP_LT},
        {MOD_LE, CMP_LT | CMP_EQ},
        {MOD_GT, CMP_GT},
        {MOD_GE, CMP_GT | CMP_EQ},
        {MOD_LO, CMP_LT},
        {MOD_LS, CMP_LT | CMP_EQ},
        {MOD_HI, CMP_GT},
        {MOD_HS, CMP_GT | CMP_EQ},
        {MOD_EQU, CMP_EQ | CMP_UN},
        {MOD_NEU, CMP_LT | CMP_GT | CMP_UN},
        {MOD_LTU, CMP_LT | CMP_UN},
        {MOD_LEU, CMP_LT | CMP_EQ | CMP_UN},
        {MOD_GTU, CMP_GT | CMP_UN},
        {MOD_GEU, CMP_GT | CMP_EQ | CMP_UN},
        {MOD_NUM, 7},
        {MOD_NAN, CMP_UN},
    };
    for (uint32_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (has(l, (enum ptx_mod)words[i].mod))
            return words[i].cmp;
    lower_refuse(l, "no comparison is named");
}

void lower_compare(struct lower *l, enum ptx_type t, uint32_t cmp, const struct ptx_opd *a,
                   const struct ptx_opd *b, uint32_t pd, uint32_t pq, enum bool_op bop, struct popd c) {
    struct inst i = inst_new(OP_ISETP);
    i.nsrc = 2;
    i.m.cmp = (uint8_t)cmp;
    i.m.bop = bop;
    i.m.ftz = has(l, MOD_FTZ);
    i.m.sgn = type_is_signed(t);
    i.pdst[0].id = pd;
    i.pdst[1].id = pq;
    i.psrc[0] = c;
    if (type_is_half(t)) {
        i.op = OP_HSETP2;
        i.m.dtype = (uint8_t)type_machine(t);
        i.src[0] = src_word(l, a, t, 0);
        i.src[1] = src_word(l, b, t, 0);
    } else if (t == PTX_F64) {
        i.op = OP_DSETP;
        i.src[0] = src_group(l, a, t);
        i.src[1] = src_group(l, b, t);
    } else if (t == PTX_F32) {
        i.op = OP_FSETP;
        i.src[0] = src_word(l, a, t, 0);
        i.src[1] = src_word(l, b, t, 0);
    } else if (ptx_type_size(t) == 8) {
        if (has(l, MOD_LO) || has(l, MOD_LS) || has(l, MOD_HI) || has(l, MOD_HS))
            i.m.sgn = false;
        i.psrc[1].id = emit_isetp(l, cmp, false, src_word(l, a, t, 0), src_word(l, b, t, 0));
        i.op = OP_ISETPX;
        i.src[0] = src_word(l, a, t, 1);
        i.src[1] = src_word(l, b, t, 1);
    } else {
        i.src[0] = src_ext(l, a, t);
        i.src[1] = src_ext(l, b, t);
    }
    emit(l, i);
}

static enum bool_op inst_bool(struct lower *l) {
    return has(l, MOD_OR) ? BOOL_OR : has(l, MOD_XOR) ? BOOL_XOR : BOOL_AND;
}

void lower_setp(struct lower *l) {
    const struct ptx_opd *d = arg(l, 0);
    uint32_t pd, pq = VPRED_PT;
    if (d->kind == OPD_PAIR) {
        pd = dst_pred(l, &d->elems[0]);
        pq = dst_pred(l, &d->elems[1]);
    } else {
        pd = dst_pred(l, d);
    }
    struct popd c = l->in->nopds > 3 ? src_pred(l, arg(l, 3)) : (struct popd){VPRED_PT, false};
    lower_compare(l, T(0), inst_cmp(l), arg(l, 1), arg(l, 2), pd, pq, inst_bool(l), c);
}

void lower_set(struct lower *l) {
    struct popd c = l->in->nopds > 3 ? src_pred(l, arg(l, 3)) : (struct popd){VPRED_PT, false};
    uint32_t cmp = inst_cmp(l);
    if (type_is_half(T(1)) && (T(0) == PTX_F16 || T(0) == PTX_BF16 || ptx_type_size(T(1)) == 4)) {
        struct inst i =
            mk(OP_HSET2, D(0), src_word(l, arg(l, 1), T(1), 0), src_word(l, arg(l, 2), T(1), 0), none);
        i.m.cmp = (uint8_t)cmp;
        i.m.bop = inst_bool(l);
        i.m.ftz = has(l, MOD_FTZ);
        i.m.dtype = (uint8_t)type_machine(T(1));
        i.m.mode = !type_is_float(T(0));
        i.psrc[0] = c;
        emit(l, i);
        return;
    }
    uint32_t p = tmp_pred(l);
    lower_compare(l, T(1), cmp, arg(l, 1), arg(l, 2), p, VPRED_PT, inst_bool(l), c);
    uint32_t one = T(0) == PTX_F32    ? 0x3f800000u
                   : T(0) == PTX_F16  ? 0x3c00
                   : T(0) == PTX_BF16 ? 0x3f80
                                      : 0xffffffffu;
    emit_sel(l, D(0), opd_imm(one), opd_rz(), (struct popd){p, false});
}

void lower_selp(struct lower *l) {
    struct popd p = src_pred(l, arg(l, 3));
    for (uint32_t w = 0; w < type_words(T(0)); w++)
        emit_sel(l, D(w), W(1, w), W(2, w), p);
}

void lower_slct(struct lower *l) {
    struct inst i =
        mk(T(1) == PTX_F32 ? OP_FSETP : OP_ISETP, none, src_word(l, arg(l, 3), T(1), 0), opd_rz(), none);
    i.m.cmp = CMP_GT | CMP_EQ;
    i.m.sgn = true;
    i.m.ftz = has(l, MOD_FTZ);
    i.pdst[0].id = tmp_pred(l);
    emit(l, i);
    for (uint32_t w = 0; w < type_words(T(0)); w++)
        emit_sel(l, D(w), W(1, w), W(2, w), (struct popd){i.pdst[0].id, false});
}
