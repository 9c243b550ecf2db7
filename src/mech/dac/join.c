/* Divergent tuples of branches (sections 4.6 and 4.7). Where threads meet that parted, the affine warp comes
 * along every way, one after the other, and each brings its value. The first one's is all threads'; of a
 * later one it is theirs who are on its path, which is the condition: the entry of the stack before they
 * meet. Ways that bring the same share a condition. */
#include "mech/dac/dac.h"

/* Going on at pc is going on at rpc: perhaps by a jump, which layout may have put there. */
static bool leads_to(const struct dac *d, uint32_t pc, uint32_t rpc) {
    if (pc == rpc || pc >= d->affine->ncode)
        return pc == rpc;
    const struct xinst *x = &d->affine->code[pc];
    return x->kind == X_BRA && x->guard == PRED_PT && !x->gneg && x->in->target == rpc;
}

/* The path on top ends behind the instruction: nothing but copies stands between. */
static bool ends_here(const struct dac *d, const struct xinst *i, uint32_t rpc) {
    uint32_t pc = (uint32_t)(i - d->affine->code);
    for (; pc < d->affine->ncode && !leads_to(d, pc, rpc); pc++) {
        const struct xinst *x = &d->affine->code[pc];
        if (x->kind == X_BRA)
            return leads_to(d, x->in->target, rpc) || (x->guard != PRED_PT && leads_to(d, pc + 1, rpc));
        if (x->in->op != OP_SEL && x->in->op != OP_MOV && x->in->op != OP_PLOP)
            return false;
    }
    return leads_to(d, pc, rpc);
}

bool dac_comes_later(const struct dac *d, const struct xinst *i) {
    const struct dac_path *top = &d->path[d->depth - 1];
    if (d->depth < 2 || !ends_here(d, i, top->rpc))
        return false;
    struct dac_mask left = top->mask; /* who is on the way, or will be */
    uint32_t k = d->depth - 2;
    for (; k && d->path[k].rpc == top->rpc && d->path[k].pc != top->rpc; k--)
        for (uint32_t w = 0; w < DAC_WARPS; w++)
            left.w[w] |= d->path[k].mask.w[w];
    if (d->path[k].pc != top->rpc)
        return false;
    for (uint32_t w = 0; w < DAC_WARPS; w++)
        if (d->path[k].mask.w[w] & ~left.w[w])
            return true;
    return false;
}

void dac_path_begin(struct dac_path *p) {
    p->cond = DAC_NO_COND;
    for (uint32_t k = 0; k < DAC_CONDS; k++)
        p->with[k] = p->both[k] = DAC_NO_COND;
}

void dac_path_end(struct dac *d, struct dac_path *p) {
    dac_hold(d, (uint16_t[]){p->cond, DAC_NO_COND}, false);
    dac_hold(d, p->both, false);
    dac_path_begin(p);
}

/* A condition that holds for those on the path, and for those of another. */
static uint16_t arrived(struct dac *d, const struct dac_path *p, const struct dac_mask *others) {
    uint16_t m = dac_mask_new(d);
    for (uint32_t w = 0; w < DAC_WARPS; w++)
        d->masks[m].w[w] = p->mask.w[w] | (others ? others->w[w] : 0);
    d->mask_join[m] = p->rpc + 1;
    return m;
}

/* Who is on the path, or of whom cond says that they came before. */
static uint16_t union_of(struct dac *d, struct dac_path *p, uint16_t cond) {
    for (uint32_t k = 0; k < DAC_CONDS; k++) {
        if (p->with[k] == cond)
            return p->both[k];
        if (p->with[k] != DAC_NO_COND)
            continue;
        p->with[k] = cond;
        return p->both[k] = arrived(d, p, &d->masks[cond]);
    }
    return DAC_NO_COND;
}

void dac_arrive(struct dac *d, const struct xinst *i, const struct val *in, const struct val *old,
                struct val *r) {
    struct dac_path *p = &d->path[d->depth - 1];
    struct val same;
    val_copy(r, in);
    if (!dac_comes_later(d, i))
        return;
    /* What those have of whom no condition says that they came: if it is what these bring, they have it
     * already. */
    val_copy(&same, in);
    for (uint32_t k = 0; k < DAC_CONDS; k++)
        if (old->cond[k] != DAC_NO_COND && d->mask_join[old->cond[k]] == p->rpc + 1)
            val_select(&same, old->cond[k], old, &same);
    if (val_equal(&same, old)) {
        val_copy(r, old);
        return;
    }
    for (uint32_t k = 0; k < DAC_CONDS; k++) {
        if (old->cond[k] == DAC_NO_COND || old->cond[k] == p->cond ||
            d->mask_join[old->cond[k]] != p->rpc + 1)
            continue;
        val_select(&same, old->cond[k], in, old);
        uint16_t both = val_equal(&same, old) ? union_of(d, p, old->cond[k]) : DAC_NO_COND;
        if (both == DAC_NO_COND)
            continue;
        val_copy(r, old);
        r->cond[k] = both;
        return;
    }
    if (p->cond == DAC_NO_COND)
        p->cond = arrived(d, p, NULL);
    val_select(r, p->cond, in, old);
}
