/* Address folding: [R + imm] absorbs the additions of constants that made R.
 *
 * A 64-bit address is a pair of additions linked by a carry; the sum is exact modulo 2^64, as is the addition
 * that the memory instruction does. 32-bit addresses wrap modulo 2^32 on both sides. */
#include "opt/walk.h"

enum { OFFSET_MIN = -(1 << 23), OFFSET_MAX = (1 << 23) - 1 };

static bool fits(int64_t k) {
    return k >= OFFSET_MIN && k <= OFFSET_MAX;
}

/* base = from + k in 32 bits. */
static bool split32(const struct walk *w, const struct opd *base, struct opd *from, int64_t *k) {
    struct def_site at;
    uint32_t number;
    if (walk_number(w, base, &number)) {
        *from = opd_rz();
        *k = (int32_t)number;
        return true;
    }
    const struct inst *i = walk_def(w, value_of_opd(&w->d.v, base), &at);
    if (!i || i->op != OP_IADD || i->frame || i->src[1].kind != O_IMM || i->src[0].kind != O_REG)
        return false;
    if (!walk_same_opd(w, &i->src[0], 1, at))
        return false;
    *from = i->src[0];
    *k = (int32_t)i->src[1].v;
    return true;
}

/* The number a word of an operand is, counting RZ. */
static bool plain_number(const struct opd *o, uint32_t *out) {
    if (o->kind != O_IMM && !is_rz(o))
        return false;
    *out = o->kind == O_IMM ? o->v : 0;
    return true;
}

static bool split64(const struct walk *w, const struct opd *base, struct opd *from, int64_t *k) {
    struct def_site lo_at, hi_at, carry_at;
    struct opd high = opd_reg(base->v, base->word + 1u);
    uint32_t k0, k1;
    if (walk_number(w, base, &k0) && walk_number(w, &high, &k1)) {
        *from = opd_rz();
        *k = (int64_t)((uint64_t)k1 << 32 | k0);
        return true;
    }
    uint32_t value = value_of_opd(&w->d.v, base);
    const struct inst *lo = walk_def(w, value, &lo_at), *hi = walk_def(w, value + 1, &hi_at);
    if (!lo || !hi || lo->op != OP_IADDC || hi->op != OP_IADDC || !is_pf(&lo->psrc[0]))
        return false;
    if (hi->psrc[0].neg || hi->psrc[0].id == VPRED_PT || hi->psrc[0].id != lo->pdst[0].id)
        return false;
    if (!plain_number(&lo->src[1], &k0) || !plain_number(&hi->src[1], &k1))
        return false;
    const struct opd *x = &lo->src[0], *y = &hi->src[0];
    if (x->kind != O_REG || y->kind != O_REG || is_rz(x) || x->v != y->v || x->word + 1 != y->word ||
        x->word % 2)
        return false;
    /* The carry that hi read is the one lo made: still so now, and nothing in between can have changed it
     * unless it would show here too. */
    const struct inst *carry = walk_def(w, value_of_pred(&w->d.v, lo->pdst[0].id), &carry_at);
    if (carry != lo || lo_at.block != hi_at.block || lo_at.index > hi_at.index)
        return false;
    if (!walk_same_opd(w, x, 1, lo_at) || !walk_same_opd(w, y, 1, hi_at))
        return false;
    *from = *x;
    *k = (int64_t)((uint64_t)k1 << 32 | k0);
    return true;
}

static bool fold_address(const struct walk *w, struct inst *i) {
    struct opd from;
    int64_t k = 0;
    bool wide = inst_src_words(i, 0) == 2;
    if (i->src[0].kind != O_REG || is_rz(&i->src[0]))
        return false;
    if (!(wide ? split64 : split32)(w, &i->src[0], &from, &k) || !fits(k) || !fits(k + i->imm))
        return false;
    if (is_rz(&from) && k + i->imm < 0)
        return false;
    i->src[0] = from;
    i->imm = (int32_t)(k + i->imm);
    return true;
}

bool opt_address(struct program *p, struct fn *f) {
    (void)p;
    struct walk w;
    bool changed = false;
    walk_begin(&w, f);
    for (struct inst *i; (i = walk_next(&w));)
        while (op_info[i->op].form == FORM_MEM && fold_address(&w, i))
            changed = true;
    walk_end(&w);
    return changed;
}
