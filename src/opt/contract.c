/* Contraction: mul + add and mul + sub without rounding modifiers become fused multiply-add.
 *
 * PTX leaves this to the machine's compiler, and the vendor's does it whenever every use of the product can
 * be fused; results agree with real GPUs bit for bit only if we do the same. Where both operands of an
 * addition are products the first one is fused. A product is looked through a sign change. Runs first, on
 * code as lowered: the product and the operands of the multiplication must be registers that are written
 * once, or constants. */
#include "opt/pass.h"

/* What is known of each virtual register. */
struct def {
    const struct inst *at; /* its only definition, or NULL */
    uint32_t defs, uses;
    uint32_t fused; /* uses that can be fused */
};

struct contract {
    struct fn *f;
    struct def *regs;
};

static void count_operands(struct contract *c, const struct inst *i) {
    for (uint32_t s = 0; s < i->nsrc; s++)
        if (i->src[s].kind == O_REG && i->src[s].v != VREG_RZ)
            c->regs[i->src[s].v].uses++;
    if (i->dst.kind == O_REG && i->dst.v != VREG_RZ) {
        struct def *d = &c->regs[i->dst.v];
        d->at = d->defs++ ? NULL : i;
    }
}

static bool is_mul(const struct inst *i) {
    return i->op == OP_FMUL || i->op == OP_DMUL;
}

static bool is_add(const struct inst *i) {
    return i->op == OP_FADD || i->op == OP_DADD;
}

static bool stable(const struct contract *c, const struct opd *o) {
    return o->kind != O_REG || o->v == VREG_RZ || c->regs[o->v].defs == 1;
}

/* The multiplication whose product is operand s of the addition and may be fused, or NULL. */
static const struct inst *product(const struct contract *c, const struct inst *add, uint32_t s) {
    const struct opd *o = &add->src[s];
    if (o->kind != O_REG || o->v == VREG_RZ || (o->mod & OMOD_ABS))
        return NULL;
    const struct inst *m = c->regs[o->v].at;
    if (!m || c->regs[o->v].defs != 1 || !is_mul(m) || !m->m.fuse || m->m.sat || m->m.ftz != add->m.ftz ||
        m->guard.id != VPRED_PT)
        return NULL;
    if ((m->op == OP_FMUL) != (add->op == OP_FADD) || ((m->src[0].mod | m->src[1].mod) & OMOD_ABS))
        return NULL;
    return stable(c, &m->src[0]) && stable(c, &m->src[1]) ? m : NULL;
}

static const struct inst *chosen(const struct contract *c, const struct inst *add, uint32_t *which) {
    for (uint32_t s = 0; s < 2; s++) {
        const struct inst *m = product(c, add, s);
        if (m) {
            *which = s;
            return m;
        }
    }
    return NULL;
}

/* Number of words of a pair count as one use each time the register is named, so uses compare directly. */
static void fuse(struct contract *c, struct inst *add) {
    uint32_t s;
    const struct inst *m = chosen(c, add, &s);
    if (!m || c->regs[add->src[s].v].fused != c->regs[add->src[s].v].uses)
        return;
    struct inst r = *add;
    r.op = add->op == OP_FADD ? OP_FFMA : OP_DFMA;
    r.src[0] = m->src[0];
    r.src[1] = m->src[1];
    r.src[0].mod ^= add->src[s].mod & OMOD_NEG;
    r.src[2] = add->src[1 - s];
    r.nsrc = 3;
    /* one operand may be an immediate or constant; the product of registers leaves it to the addend */
    uint32_t consts = 0;
    for (uint32_t k = 0; k < 3; k++)
        consts += r.src[k].kind == O_IMM || r.src[k].kind == O_CONST;
    if (consts <= 1)
        *add = r;
}

bool opt_contract(struct program *p, struct fn *f) {
    (void)p;
    struct contract c = {.f = f, .regs = xcalloc(f->vregs.len + 1u, sizeof *c.regs)};
    bool changed = false;
    for (uint32_t b = 0; b < f->blocks.len; b++)
        for (uint32_t i = 0; i < f->blocks.at[b].insts.len; i++)
            count_operands(&c, &f->blocks.at[b].insts.at[i]);
    for (uint32_t b = 0; b < f->blocks.len; b++)
        for (uint32_t i = 0; i < f->blocks.at[b].insts.len; i++) {
            const struct inst *add = &f->blocks.at[b].insts.at[i];
            uint32_t s;
            if (is_add(add) && add->m.fuse && chosen(&c, add, &s))
                c.regs[add->src[s].v].fused++;
        }
    for (uint32_t b = 0; b < f->blocks.len; b++)
        for (uint32_t i = 0; i < f->blocks.at[b].insts.len; i++) {
            struct inst *add = &f->blocks.at[b].insts.at[i];
            if (is_add(add) && add->m.fuse) {
                fuse(&c, add);
                changed |= !is_add(add);
            }
        }
    free(c.regs);
    return changed;
}
