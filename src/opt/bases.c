/* Base addresses from constant banks: IMAD.WIDE reads its 64-bit addend from a bank when its factor is in a
 * register.
 *
 * Indexing a parameter array takes "index * size + base". Size and base are both constants and only one of
 * them can be an operand, so the size, which few registers serve for a whole kernel, moves to a register made
 * at the entry, and the base needs none. */
#include "opt/walk.h"

enum { MAX_FACTORS = 8 };

struct factors {
    uint32_t value[MAX_FACTORS], reg[MAX_FACTORS], n;
};

static bool constant_pair(const struct walk *w, const struct opd *o, struct opd *out) {
    struct opd hi;
    if (o->kind != O_REG || is_rz(o) || !walk_copied(w, o, 0, out) || !walk_copied(w, o, 1, &hi))
        return false;
    return out->kind == O_CONST && hi.kind == O_CONST && out->bank == hi.bank && out->v % 8 == 0 &&
           out->v + 4 == hi.v;
}

/* Register that holds factor; NONE when there are enough already. */
static uint32_t factor_reg(struct fn *f, struct factors *k, uint32_t factor) {
    for (uint32_t n = 0; n < k->n; n++)
        if (k->value[n] == factor)
            return k->reg[n];
    if (k->n == MAX_FACTORS)
        return NONE;
    k->value[k->n] = factor;
    k->reg[k->n] = fn_vreg(f, 1);
    return k->reg[k->n++];
}

static void define_factors(struct fn *f, const struct factors *k) {
    struct block *b = &f->blocks.at[0];
    vec_reserve(&b->insts, b->insts.len + k->n);
    for (uint32_t n = b->insts.len; n-- > 0;)
        b->insts.at[n + k->n] = b->insts.at[n];
    b->insts.len += k->n;
    for (uint32_t n = 0; n < k->n; n++) {
        struct inst i = inst_new(OP_MOV);
        i.dst = opd_reg(k->reg[n], 0);
        i.nsrc = 1;
        i.src[0] = opd_imm(k->value[n]);
        if (b->insts.len > k->n)
            inst_from(&i, &b->insts.at[k->n]);
        b->insts.at[n] = i;
    }
}

bool opt_bases(struct program *p, struct fn *f) {
    (void)p;
    struct walk w;
    struct factors k = {.n = 0};
    bool changed = false;
    walk_begin(&w, f);
    for (struct inst *i; (i = walk_next(&w));) {
        struct opd base;
        if (i->op != OP_IMADW || i->src[1].kind != O_IMM || !constant_pair(&w, &i->src[2], &base))
            continue;
        uint32_t reg = factor_reg(f, &k, i->src[1].v);
        if (reg == NONE)
            continue;
        i->src[1] = opd_reg(reg, 0);
        i->src[2] = base;
        changed = true;
    }
    walk_end(&w);
    if (k.n)
        define_factors(f, &k);
    return changed;
}
