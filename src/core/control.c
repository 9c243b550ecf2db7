/* Control instructions act at once, without a collector: branches, barriers, fences, exits, calls. The warp
 * issues nothing more for the time they take. */
#include "core/points.h"

/* The warp issues nothing more for the time a control instruction takes. */
static void hold(struct sm *sm, uint32_t s, uint64_t now) {
    uint32_t latency = sm->spec->latency[LAT_CTRL];
    if (latency < 2 || !sm->warps[s].w->live)
        return;
    uint32_t at = (sm->hold_first + sm->hold_count++) % CORE_MAX_WARPS;
    sm->hold[at].until = now + latency;
    sm->hold_next = min_u64(sm->hold_next, now + latency);
    sm->hold[at].warp = s;
    sm->held |= warp_bit(s);
}

void sm_release(struct sm *sm, uint64_t now) {
    for (; sm->hold_count && sm->hold[sm->hold_first].until <= now; sm->hold_count--) {
        sm->held &= ~warp_bit(sm->hold[sm->hold_first].warp);
        sm->hold_first = (sm->hold_first + 1) % CORE_MAX_WARPS;
    }
    if (sm->cluster_wake <= now)
        sm_open(sm, now);
    sm->hold_next =
        sm->hold_count ? min_u64(sm->hold[sm->hold_first].until, sm->cluster_wake) : sm->cluster_wake;
}

/* Warps of a block that can go on after all, go on; returns which. */
static uint64_t wake_block(struct sm *sm, uint32_t block) {
    uint64_t woken = 0;
    for (uint64_t left = sm->blocked & sm->blocks[block].slots; left; left &= left - 1) {
        uint32_t s = (uint32_t)__builtin_ctzll(left);
        struct core_warp *cw = &sm->warps[s];
        struct simt_entry *e = simt_top(cw->w);
        if (!e || cw->fence || cw->until > sm->now)
            continue;
        warp_unblock(sm, s);
        woken |= warp_bit(s);
        if (e->pc != cw->next)
            buffer_flush(sm, s, e->pc);
        warp_update(sm, s);
    }
    return woken;
}

/* Every thread of the block waits, and neither a fence nor the cluster's barrier, which is open, is among
 * what they wait for. */
static bool all_wait(const struct sm *sm, uint32_t block) {
    uint64_t slots = sm->blocks[block].slots, waiting = slots & sm->blocked;
    for (uint64_t left = slots & ~sm->blocked; left; left &= left - 1)
        if (sm->warps[__builtin_ctzll(left)].w->live)
            return false;
    for (uint64_t left = waiting; left; left &= left - 1) {
        const struct core_warp *cw = &sm->warps[__builtin_ctzll(left)];
        if (cw->fence || cw->until > sm->now)
            return false;
    }
    return waiting;
}

uint64_t barrier_changed(struct sm *sm, uint32_t block, bool opened) {
    uint64_t woken = opened ? wake_block(sm, block) : 0;
    if (!all_wait(sm, block))
        return woken;
    const struct cta *c = sm->blocks[block].cta;
    bool split = false;
    for (uint32_t k = 0; k < c->nwarps; k++)
        split |= c->warps[k].live && simt_yield(&c->warps[k]);
    return split ? woken | wake_block(sm, block) : woken;
}

/* After a barrier or an exit: who goes on, for those who watch. own, all: openings of the block's barriers
 * and of the cluster's before that. */
static void barriers(struct sm *sm, uint32_t s, const struct xinst *i, uint32_t own, uint32_t all) {
    uint32_t block = sm->warps[s].block;
    const struct cta *c = sm->blocks[block].cta;
    uint64_t self = i->kind == X_BAR ? warp_bit(s) : 0;
    bool waits = sm->blocked & self;
    uint64_t woken = barrier_changed(sm, block, c->opened != own || c->cluster->opened != all);
    if (!HAS(sm, watch, barrier))
        return;
    if (waits)
        point_watch_barrier(sm, block, self, false);
    if (c->opened != own)
        point_watch_barrier(sm, block, woken | (waits ? 0 : self), true);
}

/* Who wants to know of it before it takes effect. */
static APART void tell_before(struct sm *sm, uint32_t s, const struct xinst *i, uint32_t m) {
    if (HAS(sm, registers, fill))
        OWNER(sm, registers, fill, s, i, m);
    if (HAS(sm, values, sources))
        OWNER(sm, values, sources, s, i, m);
    AT_POINT(sm, watch, before, s, i, m);
}

/* It takes effect, and is not known to be a branch that the whole path takes, or does not take: who was told
 * may have changed its guard. */
static APART bool take_control(struct sm *sm, uint32_t s, const struct xinst *i) {
    struct core_warp *cw = &sm->warps[s];
    uint32_t depth = cw->w->depth;
    bool branches = i->kind == X_BRA || i->kind == X_BRX;
    sm->n.branches += branches;
    sm->n.barriers += i->kind == X_BAR;
    if (warp_take_control(cw->x, cw->w, i) == WARP_FAULT) {
        warp_fault(sm, cw);
        return false;
    }
    sm->n.branch_diverged += branches && cw->w->depth > depth;
    return true;
}

void control_issue(struct sm *sm, uint32_t s, const struct xinst *i, uint32_t m, uint64_t now) {
    struct core_warp *cw = &sm->warps[s];
    const struct cta *c = cw->w->cta;
    uint32_t pc = cw->next, opened = c->opened, together = c->cluster->opened, lanes = lanes_of(m);
    bool whole = i->kind == X_BRA && (!m || m == cw->w->stack[cw->w->depth - 1].mask);
    sm->n.thread_insts += lanes;
    sm->n.ctrl_ops++;
    sm->lanes.active[EN_CTRL] += lanes;
    if (__builtin_expect(MECHS(sm), 0))
        tell_before(sm, s, i, m);
    TELL(sm, tell_issue(sm, PROBE_ISSUE, s, m, CORE_NONE));
    if (whole) {
        sm->n.branches++;
        warp_take_branch(cw->x, cw->w, i, m, lanes);
    } else if (!take_control(sm, s, i)) {
        return;
    }
    TELL(sm, tell_issue(sm, PROBE_EFFECT, s, m, CORE_NONE));
    if (__builtin_expect(MECHS(sm), 0))
        AT_POINT(sm, watch, control, s, i, m);
    warp_advance(sm, s, pc, SHAPE_ANY);
    hold(sm, s, now);
    if (whole)
        return;
    if (i->in->op == OP_MEMBAR && m && cw->stores) {
        cw->fence = true;
        sm->blocked |= warp_bit(s);
    }
    if ((i->kind == X_BAR || i->kind == X_EXIT) && cw->block != CORE_NO_BLOCK) {
        cluster_changed(sm, s, i, together, now);
        barriers(sm, s, i, opened, together);
    }
}
