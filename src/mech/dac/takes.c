/* Behind register allocation: a predicate from the queue is taken by the instruction that reads it first. */
#include "mech/dac/splitter.h"

static bool reads_pred(const struct inst *i, uint32_t p) {
    return i->guard.id == p || i->psrc[0].id == p || i->psrc[1].id == p;
}

/* The predicate is taken by the instruction that reads it first, if nothing between takes another. */
static bool fold_take(struct program *p, struct block *b, uint32_t k, const struct mech_pass *owner) {
    struct inst *take = &b->insts.at[k];
    struct dac_fact f = *(const struct dac_fact *)fact_get(p, owner, take);
    f.pred = (uint8_t)take->pdst[0].id;
    for (uint32_t j = k + 1; j < b->insts.len; j++) {
        struct inst *i = &b->insts.at[j];
        const struct dac_fact *other = fact_get(p, owner, i);
        if (other && other->roles & DAC_DEQ_PRED)
            break;
        if (reads_pred(i, f.pred)) {
            struct dac_fact *to = fact_make(p, owner, i, sizeof *to);
            to->roles |= DAC_DEQ_PRED;
            to->pred = f.pred;
            to->pred_number = f.number;
            note_add(p, i, "deq.pred P%u #%u", f.pred, f.number);
            *take = inst_new(OP_NOP);
            return true;
        }
        if (i->pdst[0].id == f.pred || i->pdst[1].id == f.pred)
            break;
    }
    struct dac_fact *own = fact_make(p, owner, take, sizeof *own);
    own->pred = f.pred;
    own->pred_number = f.number;
    take->psrc[0].id = take->pdst[0].id; /* where the predicate is put before it issues */
    return false;
}

bool dac_fold_takes(const struct pass_run *run) {
    const struct mech_pass *owner = &dac_passes[0];
    struct fn *f = run->p->fns.at[0];
    bool changed = false;
    for (uint32_t b = 0; b < f->blocks.len; b++)
        for (uint32_t k = 0; k < f->blocks.at[b].insts.len; k++) {
            struct inst *i = &f->blocks.at[b].insts.at[k];
            const struct dac_fact *x = i->op == OP_PLOP ? fact_get(run->p, owner, i) : NULL;
            if (x && x->roles & DAC_TAKE)
                changed |= fold_take(run->p, &f->blocks.at[b], k, owner);
        }
    return changed;
}
