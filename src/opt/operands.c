/* Folds immediates and constant-bank words into the operand that may hold one, swapping operands where the
 * operation allows it. Zero needs no constant: RZ reads zero anywhere. */
#include "opt/walk.h"

static bool has_constant(const struct inst *i) {
    for (uint32_t s = 0; s < i->nsrc; s++)
        if (is_const(&i->src[s]))
            return true;
    return false;
}

static bool is_double(uint8_t form) {
    return form == FORM_D2_2 || form == FORM_D2_22 || form == FORM_D2_222 || form == FORM_FN_D2_2 ||
           form == FORM_FN_D2_22 || form == FORM_FN_SETP2;
}

/* The constant operand that source s of i could be instead. */
static bool constant_for(const struct walk *w, const struct inst *i, uint32_t s, struct opd *out) {
    uint32_t words = inst_src_words(i, s);
    uint8_t form = op_info[i->op].form;
    struct opd hi;
    if (words == 1)
        return walk_copied(w, &i->src[s], 0, out) && is_const(out);
    if (words != 2 || !walk_copied(w, &i->src[s], 0, out) || !walk_copied(w, &i->src[s], 1, &hi))
        return false;
    if (out->kind == O_CONST && hi.kind == O_CONST &&
        (is_double(form) || form == FORM_W2_112 || form == FORM_W2_22))
        return out->bank == hi.bank && out->v + 4 == hi.v && out->v % 8 == 0;
    bool zero = is_rz(out) || (out->kind == O_IMM && !out->v);
    if (is_double(form) && zero && hi.kind == O_IMM) {
        *out = hi;
        return true;
    }
    return false;
}

static void swap_sources(struct inst *i) {
    struct opd t = i->src[0];
    i->src[0] = i->src[1];
    i->src[1] = t;
}

/* Makes the operation mean the same with its first two sources swapped. */
static bool swap_meaning(struct inst *i) {
    static const uint8_t mirrored[8] = {0,      CMP_GT,          CMP_EQ,          CMP_GT | CMP_EQ,
                                        CMP_LT, CMP_LT | CMP_GT, CMP_LT | CMP_EQ, 7};
    uint8_t form = op_info[i->op].form;
    if (op_info[i->op].flags & OPF_COMMUTES)
        return true;
    if (form == FORM_FN_SETP1 || form == FORM_FN_SETP2) {
        i->m.cmp = (uint8_t)(mirrored[i->m.cmp & 7] | (i->m.cmp & CMP_UN));
        return true;
    }
    if (i->op == OP_SEL) {
        i->psrc[0].neg = !i->psrc[0].neg;
        return true;
    }
    return i->op == OP_FMIN || i->op == OP_FMAX || i->op == OP_DMIN || i->op == OP_DMAX
               ? !(i->m.mode & MINMAX_XORSIGN)
               : false;
}

static bool put_constant(const struct walk *w, struct inst *i) {
    struct opd c;
    if (has_constant(i) && !inst_has_free_operands(i))
        return false;
    for (uint32_t s = i->nsrc; s-- > 0;) {
        if (!constant_for(w, i, s, &c) || (inst_has_free_operands(i) && c.kind != O_IMM))
            continue;
        if (!inst_src_may_be_const(i, s)) {
            if (s || i->nsrc < 2 || inst_has_free_operands(i) ||
                inst_src_words(i, 0) != inst_src_words(i, 1) || !inst_src_may_be_const(i, 1) ||
                !swap_meaning(i))
                continue;
            swap_sources(i);
            s = 1;
        }
        c.mod = i->src[s].mod;
        i->src[s] = c;
        return true;
    }
    return false;
}

/* A zero immediate reads as RZ; a register known to be zero too. */
static bool use_rz(const struct walk *w, struct inst *i) {
    bool changed = false;
    for (uint32_t s = 0; s < i->nsrc; s++) {
        struct opd *o = &i->src[s], from;
        bool zero = inst_src_words(i, s) == 1 && o->kind == O_IMM && !o->v && !inst_has_free_operands(i) &&
                    !is_frame_value(i);
        if (o->kind == O_REG && o->v != VREG_RZ && inst_src_words(i, s)) {
            zero = true;
            for (uint32_t k = 0; k < inst_src_words(i, s) && zero; k++)
                zero = walk_copied(w, o, k, &from) && (is_rz(&from) || (from.kind == O_IMM && !from.v));
        }
        if (zero) {
            uint8_t mod = o->mod;
            *o = opd_rz();
            o->mod = mod;
            changed = true;
        }
    }
    return changed;
}

/* a - constant is a + -constant, which can be folded further; a register moves out of the constant's way. */
static bool tidy(struct inst *i) {
    if (is_frame_value(i))
        return false;
    if (i->op == OP_ISUB && i->src[1].kind == O_IMM) {
        i->op = OP_IADD;
        i->src[1].v = 0u - i->src[1].v;
        return true;
    }
    bool first = i->nsrc >= 2 && is_rz(&i->src[0]) && i->src[1].kind == O_REG && !is_rz(&i->src[1]);
    if (first && (op_info[i->op].flags & OPF_COMMUTES) && inst_src_words(i, 0) == inst_src_words(i, 1)) {
        swap_sources(i);
        return true;
    }
    return false;
}

bool opt_operands(struct program *p, struct fn *f) {
    (void)p;
    struct walk w;
    bool changed = false;
    walk_begin(&w, f);
    for (struct inst *i; (i = walk_next(&w));) {
        changed |= use_rz(&w, i);
        while (put_constant(&w, i))
            changed = true;
        changed |= tidy(i);
    }
    walk_end(&w);
    return changed;
}
