/* The majority path (section 4.3.3): branches at which its warps wait for each other, those that leave it,
 * and barriers of the block that bring them back. */
#include "mech/darsie/darsie.h"

/* All lanes of the warp are there and together. */
static bool is_whole(const struct darsie *d, uint32_t warp) {
    const struct warp *w = d->sm->warps[warp].w;
    return w->live == UINT32_MAX && w->depth == 1;
}

static void join_majority(struct darsie *d, uint32_t warp) {
    d->blocks[d->sm->warps[warp].block].majority |= warp_bit(warp);
    d->majority |= warp_bit(warp);
    d->n.mask_ops++;
    darsie_ask(d, warp_bit(warp));
}

void darsie_enter(struct darsie *d, uint32_t warp) {
    d->blocks[d->sm->warps[warp].block].members |= warp_bit(warp);
    d->history[warp] = 0;
    d->changed |= warp_bit(warp);
    d->special |= warp_bit(warp);
    if (is_whole(d, warp))
        join_majority(d, warp);
}

/* The warps that an entry waits for have become fewer. */
static void recheck(struct darsie *d, uint32_t block) {
    struct darsie_block *b = &d->blocks[block];
    for (uint32_t left = b->used; left; left &= left - 1)
        darsie_passed(d, block, &b->entries[__builtin_ctz(left)], 0);
}

/* The pc at which a warp goes on. */
static uint32_t next_pc(const struct darsie *d, uint32_t warp) {
    return simt_top(d->sm->warps[warp].w)->pc;
}

static void leave_majority(struct darsie *d, uint32_t warp) {
    struct darsie_block *b = &d->blocks[d->sm->warps[warp].block];
    b->majority &= ~warp_bit(warp);
    b->arrived &= ~warp_bit(warp);
    d->majority &= ~warp_bit(warp);
    d->special |= warp_bit(warp);
    d->waiting &= ~warp_bit(warp);
    d->n.mask_ops++;
    d->n.left++;
    if (darsie_renames(d, warp))
        d->leaving |= warp_bit(warp);
    darsie_ask(d, warp_bit(warp));
}

/* Of the warps that wait at a branch: those that go where most go, with the lowest if there are as many. */
static uint64_t largest_way(const struct darsie *d, uint64_t warps) {
    uint64_t best = 0;
    while (warps) {
        uint32_t pc = next_pc(d, (uint32_t)__builtin_ctzll(warps));
        uint64_t way = 0;
        for (uint64_t left = warps; left; left &= left - 1) {
            uint32_t warp = (uint32_t)__builtin_ctzll(left);
            way |= next_pc(d, warp) == pc ? warp_bit(warp) : 0;
        }
        best = __builtin_popcountll(way) > __builtin_popcountll(best) ? way : best;
        warps &= ~way;
    }
    return best;
}

/* All of the majority path have passed a branch. */
static void check_branch(struct darsie *d, uint32_t block) {
    struct darsie_block *b = &d->blocks[block];
    if (!b->majority || b->majority & ~b->arrived)
        return;
    uint64_t all = b->majority, stay = largest_way(d, all);
    d->waiting &= ~all;
    darsie_ask(d, all);
    b->arrived = 0;
    for (uint64_t left = all & ~stay; left; left &= left - 1)
        leave_majority(d, (uint32_t)__builtin_ctzll(left));
    if (darsie_keeps(d, RULE_CLEAR))
        darsie_clear(d, block);
    d->n.syncs++;
}

void darsie_leave(struct darsie *d, uint32_t warp) {
    uint32_t block = d->sm->warps[warp].block;
    leave_majority(d, warp);
    recheck(d, block);
    check_branch(d, block);
}

static void arrive(struct darsie *d, uint32_t warp, uint32_t pc) {
    struct darsie_block *b = &d->blocks[d->sm->warps[warp].block];
    if (!d->params->cf_sync) {
        uint64_t h = d->history[warp] ^ ((uint64_t)pc << 32 | next_pc(d, warp));
        h = (h ^ h >> 31) * UINT64_C(0x9e3779b97f4a7c15);
        d->history[warp] = h ^ h >> 29;
        return;
    }
    b->arrived |= warp_bit(warp);
    d->waiting |= warp_bit(warp);
    d->n.mask_ops++;
    check_branch(d, d->sm->warps[warp].block);
}

/* What a control instruction does to memory that others have loaded from. */
static void note_control(struct darsie *d, uint32_t warp, const struct xinst *i) {
    if (!darsie_keeps(d, RULE_ATOMICS))
        return;
    bool together = i->kind == X_BAR && i->in->m.mode >= BAR_CLUSTER_ARRIVE;
    if (together || i->in->op == OP_MEMBAR || i->in->op == OP_CPWAIT || i->kind == X_SYSCALL ||
        i->in->op == OP_CCTL) {
        darsie_flush_block(d, d->sm->warps[warp].block);
        darsie_flush_global(d);
    }
}

void darsie_control(void *m, uint32_t warp, const struct xinst *i, uint32_t mask) {
    struct darsie *d = m;
    const struct core_warp *cw = &d->sm->warps[warp];
    if (!darsie_is_on(d))
        return;
    d->changed |= warp_bit(warp);
    d->special |= warp_bit(warp);
    darsie_ask(d, warp_bit(warp));
    if (darsie_is_naming(d, warp)) {
        uint32_t at = darsie_front(d, warp);
        struct darsie_inst *c = darsie_at(d, warp, at);
        darsie_release(d, c);
        darsie_release_old(d, c);
        d->naming[warp] &= ~(1u << at);
    }
    darsie_unlatch(d, warp, i->d, i->ndw);
    if (mask)
        note_control(d, warp, i);
    if (!(d->majority & warp_bit(warp)))
        return;
    if (!is_whole(d, warp)) {
        darsie_leave(d, warp);
        if (!cw->w->live) {
            darsie_forget_warp(d, warp);
            d->leaving &= ~warp_bit(warp);
        }
    } else if (d->marks[cw->next].sync) {
        arrive(d, warp, cw->next);
    }
}

/* The barrier from which all these warps go on, and which brings them into step; NULL: it does not. */
static bool brings_together(const struct darsie *d, uint64_t warps, uint64_t whole) {
    const struct sm *sm = d->sm;
    uint32_t pc = UINT32_MAX;
    for (uint64_t left = whole & warps; left; left &= left - 1) {
        uint32_t warp = (uint32_t)__builtin_ctzll(left), at = next_pc(d, warp);
        if (pc != UINT32_MAX && at != pc)
            return false;
        pc = at;
    }
    if (pc == UINT32_MAX || !pc || sm->x->img->code[pc - 1].kind != X_BAR)
        return false;
    return d->marks[pc - 1].level || !darsie_keeps(d, RULE_LEVEL);
}

void darsie_barrier(void *m, uint32_t block, uint64_t warps, bool opened) {
    struct darsie *d = m;
    struct darsie_block *b = &d->blocks[block];
    uint64_t live = 0, whole = 0;
    if (!darsie_is_on(d) || !opened)
        return;
    for (uint64_t left = b->members; left; left &= left - 1) {
        uint32_t warp = (uint32_t)__builtin_ctzll(left);
        live |= d->sm->warps[warp].w->live ? warp_bit(warp) : 0;
        whole |= is_whole(d, warp) ? warp_bit(warp) : 0;
    }
    if (live & ~warps || b->majority & ~whole || !brings_together(d, warps, whole))
        return;
    if (darsie_keeps(d, RULE_CLEAR) && d->params->cf_sync)
        darsie_clear(d, block);
    b->rounds++;
    for (uint64_t left = whole; left; left &= left - 1) {
        uint32_t warp = (uint32_t)__builtin_ctzll(left);
        d->history[warp] = d->params->cf_sync ? 0 : (uint64_t)b->rounds << 32 | 1;
        d->n.joined += !(b->majority & warp_bit(warp));
        join_majority(d, warp);
    }
}
