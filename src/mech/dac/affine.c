/* The affine warp: control flow for all threads of the batch at once (section 4.5), and when its next
 * instruction may issue (section 4.1). Its paths follow the rules of exec/simt.c, so that each warp meets its
 * instructions in the order in which the affine warp does. */
#include "mech/dac/dac.h"

#include <string.h>

static struct warp *stream_warp(const struct dac *d) {
    return d->sm->warps[d->stream->slot].w;
}

static bool any_lane(const struct dac *d, const struct dac_mask *m) {
    for (uint64_t left = d->batch; left; left &= left - 1)
        if (m->w[__builtin_ctzll(left)])
            return true;
    return false;
}

/* ---- paths ---- */

static void push(struct dac *d, uint32_t pc, uint32_t rpc, const struct dac_mask *mask) {
    if (d->depth == DAC_PATHS || !any_lane(d, mask)) {
        if (any_lane(d, mask))
            dac_broken(d, "too many paths");
        return;
    }
    d->path[d->depth++] = (struct dac_path){pc, rpc, *mask};
    d->n.stack_accesses++;
}

/* Leaves paths that have come to their end; the warp goes on where the path on top stands. */
static void settle(struct dac *d) {
    while (d->depth) {
        const struct dac_path *p = &d->path[d->depth - 1];
        if (p->pc != p->rpc && any_lane(d, &p->mask))
            break;
        d->depth--;
        d->n.stack_accesses++;
    }
    struct warp *w = stream_warp(d);
    if (d->depth && w->depth)
        w->stack[w->depth - 1].pc = d->path[d->depth - 1].pc;
}

/* Threads for which the guard of an instruction holds. */
static struct dac_mask guard_of(struct dac *d, const struct xinst *i) {
    struct dac_mask m = {0};
    dac_guarded(d, i, &m);
    return m;
}

static void branch(struct dac *d, const struct xinst *i, uint32_t pc) {
    struct dac_mask taken = guard_of(d, i), others = *dac_top(d);
    uint32_t target = i->in->target, rpc = i->in->rpc;
    for (uint32_t w = 0; w < DAC_WARPS; w++)
        others.w[w] &= ~taken.w[w];
    struct dac_path *top = &d->path[d->depth - 1];
    d->n.stack_accesses += d->depth > 1;
    if (!any_lane(d, &others) || !any_lane(d, &taken)) {
        top->pc = any_lane(d, &taken) ? target : pc + 1;
        return;
    }
    d->n.branches_diverged++;
    if (top->rpc == rpc)
        d->depth--;
    else
        top->pc = rpc;
    bool flip =
        d->side[pc].flip && dac_rule(d->params, DAC_RULE_ORDER); /* the way that warps take first is on top */
    if (flip && target != rpc)
        push(d, target, rpc, &taken);
    if (pc + 1 != rpc)
        push(d, pc + 1, rpc, &others);
    if (!flip && target != rpc)
        push(d, target, rpc, &taken);
}

static void dac_leave(struct dac *d, const struct dac_mask *gone) {
    for (uint32_t k = 0; k < d->depth; k++)
        for (uint32_t w = 0; w < DAC_WARPS; w++)
            d->path[k].mask.w[w] &= ~gone->w[w];
}

/* Any thread stays when these leave. */
static bool some_stay(const struct dac *d, const struct dac_mask *gone) {
    for (uint32_t k = 0; k < d->depth; k++)
        for (uint64_t left = d->batch; left; left &= left - 1) {
            uint32_t w = (uint32_t)__builtin_ctzll(left);
            if (d->path[k].mask.w[w] & ~gone->w[w])
                return true;
        }
    return false;
}

static void barrier(struct dac *d) {
    for (uint64_t left = d->blocks; left; left &= left - 1) {
        uint32_t c = (uint32_t)__builtin_ctzll(left);
        bool any = false;
        for (uint64_t warps = d->block_warps[c]; warps; warps &= warps - 1)
            any |= dac_top(d)->w[__builtin_ctzll(warps)] != 0;
        d->epoch[c] += any;
    }
}

/* ---- branches that depend on data ---- */

/* Warps with threads on the path, which all come to the branch that the affine warp is at. */
static uint64_t warps_here(const struct dac *d) {
    uint64_t all = 0;
    for (uint64_t left = d->batch; left; left &= left - 1)
        if (d->path[d->depth - 1].mask.w[__builtin_ctzll(left)])
            all |= left & -left;
    return all;
}

/* The vectors of all warps are here; they must be about the same branch and threads. */
static void take_vectors(struct dac *d, const struct dac_mark *m) {
    uint64_t here = warps_here(d);
    for (uint64_t left = here; left; left &= left - 1) {
        uint32_t w = (uint32_t)__builtin_ctzll(left);
        if (d->vector[w].number != m->fact->number || d->asked[w] != dac_top(d)->w[w])
            dac_broken(d, "a warp came to another branch than the affine warp");
        d->n.stack_accesses++;
        d->n.vectors++;
    }
    d->sent &= ~here;
    d->changed |= here;
}

void dac_affine_control(struct dac *d, const struct xinst *i) {
    uint32_t pc = (uint32_t)(i - d->affine->code);
    d->n.affine_insts++;
    if (dac_asks(&d->side[pc]))
        take_vectors(d, &d->side[pc]);
    d->path[d->depth - 1].pc = pc + 1;
    d->affine_goes = false;
    if (i->kind == X_BRA)
        branch(d, i, pc);
    if (i->kind == X_BAR)
        barrier(d);
    if (i->kind == X_EXIT) {
        struct dac_mask gone = guard_of(d, i);
        dac_leave(d, &gone);
    }
    settle(d);
}

void dac_affine_issued(struct dac *d, const struct xinst *i, uint32_t pc) {
    d->n.affine_insts++;
    if (d->shadow)
        dac_shadow(d, i);
    if (i->kind == X_QUEUE)
        dac_put_address(d, i, &d->side[pc]);
    else
        dac_eval(d, i);
    d->path[d->depth - 1].pc = pc + 1;
    d->affine_goes = false;
    settle(d);
}

/* ---- issue ---- */

static bool pred_ready(const struct dac *d, uint32_t p) {
    return p == PRED_PT || d->preds[p].ready <= d->peu;
}

/* Entries of the tuple queue that an address takes: one for each alternative. */
static uint32_t entries_of(const struct dac *d, const struct xinst *i) {
    uint16_t seen[DAC_CONDS] = {DAC_NO_COND, DAC_NO_COND};
    uint32_t n = 0;
    for (uint32_t k = 0; k < i->nsw; k++)
        for (uint32_t j = 0; j < DAC_CONDS && !(i->s[k] & POOL); j++) {
            uint16_t c = d->regs[i->s[k]].cond[j];
            if (c != DAC_NO_COND && c != seen[0] && c != seen[1] && n < DAC_CONDS)
                seen[n++] = c;
        }
    return 1u << n;
}

static bool has_room(const struct dac *d, const struct xinst *i, uint32_t pc) {
    uint32_t size = i->kind == X_QUEUE ? entries_of(d, i) : 1;
    if (d->tail - d->head == DAC_RING || (d->used && d->used + size > (uint32_t)d->params->atq))
        return false;
    const struct dac_fact *f = d->side[pc].fact;
    if (!f || !(f->roles & DAC_ENQ_PRED))
        return true;
    for (uint64_t left = d->batch; left; left &= left - 1) {
        uint32_t w = (uint32_t)__builtin_ctzll(left);
        if (d->path[d->depth - 1].mask.w[w] && d->q[w].pcount == d->depth_p)
            return false;
    }
    return true;
}

/* The instruction chooses by something that differs between threads. */
static bool chooses(const struct dac *d, const struct xinst *i) {
    uint16_t op = i->in->op;
    uint8_t by = op == OP_SEL ? i->ps[0] : i->guard;
    return op == OP_IMIN || op == OP_IMAX || op == OP_IABS ||
           (i->ndw && by != PRED_PT && d->preds[by].kind == PRED_MASK);
}

/* What its next instruction waits for. */
enum dac_wait { WAIT_NONE, WAIT_PREDICATE, WAIT_DATA, WAIT_QUEUE };
static enum dac_wait waits_for(const struct dac *d) {
    uint32_t pc = d->sm->warps[d->stream->slot].next;
    const struct xinst *i = &d->affine->code[pc];
    bool asks = dac_asks(&d->side[pc]);
    if ((!asks && !pred_ready(d, i->guard)) || !pred_ready(d, i->ps[0]) || !pred_ready(d, i->ps[1]))
        return WAIT_PREDICATE;
    if (asks && warps_here(d) & ~d->sent)
        return WAIT_DATA;
    bool compares = i->in->op == OP_ISETP || i->in->op == OP_ISETPX;
    if ((i->kind == X_QUEUE || compares) && !has_room(d, i, pc))
        return WAIT_QUEUE;
    /* until tuples that name some leave */
    return d->nnamed >= (uint32_t)d->params->dcrf && chooses(d, i) ? WAIT_QUEUE : WAIT_NONE;
}

void dac_affine_look(struct dac *d) {
    uint64_t *const count[] = {[WAIT_NONE] = NULL,
                               [WAIT_PREDICATE] = &d->n.affine_wait_pred,
                               [WAIT_DATA] = &d->n.affine_wait_data,
                               [WAIT_QUEUE] = &d->n.affine_wait_queue};
    d->affine_lacks = count[d->broken ? WAIT_NONE : waits_for(d)];
    d->affine_unchanged = d->affine_lacks != NULL;
    d->affine_goes = !d->affine_unchanged;
}

bool dac_affine_ready(struct dac *d) {
    struct core_warp *cw = &d->sm->warps[d->stream->slot];
    uint32_t pc = cw->next;
    const struct xinst *i = &d->affine->code[pc];
    if (d->broken)
        return true;
    bool active = true; /* the latches of the warp say whether it acts, once for all threads */
    if (i->kind == X_EXIT) {
        struct dac_mask gone = guard_of(d, i);
        active = !some_stay(d, &gone);
        if (!active && i->guard == PRED_PT) { /* other paths are left */
            dac_leave(d, &gone);
            settle(d);
            d->affine_goes = false;
            core_redirect(d->sm, d->stream->slot);
            return false;
        }
    } else if (i->guard != PRED_PT && !dac_asks(&d->side[pc]) && d->preds[i->guard].kind == PRED_SAME) {
        active = d->preds[i->guard].same != i->gneg;
    }
    if (i->guard != PRED_PT)
        cw->w->p[i->guard] = active != i->gneg ? UINT32_MAX : 0;
    return true;
}
