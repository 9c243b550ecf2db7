/* Blocks are handed over when timing is cut: they go on untimed, without mechanisms.
 *
 * Registers are put where the program finds them. A warp of which a mechanism holds lanes back cannot go on
 * without it yet: what these lanes would have computed is not in their registers. It takes untimed steps with
 * the mechanism beside it until no lane is held back. Other warps take some, too, as it may wait for them. */
#include "core/points.h"

enum { HANDOVER_SLICE = 64 };

void sm_restore(struct sm *sm) {
    for (uint64_t left = HAS(sm, registers, restore) ? sm->resident : 0; left; left &= left - 1)
        OWNER(sm, registers, restore, (uint32_t)__builtin_ctzll(left));
}

static bool is_bound(struct sm *sm, uint32_t s) {
    return sm->warps[s].w->live && OWNER(sm, lanes, bound, s);
}

bool sm_bound(struct sm *sm) {
    for (uint64_t left = HAS(sm, lanes, bound) ? sm->resident : 0; left; left &= left - 1)
        if (is_bound(sm, (uint32_t)__builtin_ctzll(left)))
            return true;
    return false;
}

/* An instruction takes effect as it would if it were timed, and is not. */
static enum warp_state step_bound(struct sm *sm, uint32_t s) {
    struct core_warp *cw = &sm->warps[s];
    const struct simt_entry *e = simt_top(cw->w);
    if (!e)
        return cw->w->live ? WARP_WAITING : WARP_DONE;
    const struct core_need *need = &cw->needs[e->pc];
    const struct xinst *i = need->i;
    uint32_t m = e->mask & (cw->w->p[i->guard] ^ (0u - (uint32_t)i->gneg)), all = m;
    if (!need->control)
        m &= OWNER(sm, lanes, choose, s, i, m);
    if (HAS(sm, values, sources))
        OWNER(sm, values, sources, s, i, m);
    return m == all ? warp_step(cw->x, cw->w) : warp_step_lanes(cw->x, cw->w, m);
}

static enum warp_state run_bound(struct sm *sm, uint32_t s) {
    enum warp_state state = WARP_RUNNING;
    for (uint32_t n = 0; n < HANDOVER_SLICE && state == WARP_RUNNING && is_bound(sm, s); n++)
        state = step_bound(sm, s);
    if (state == WARP_RUNNING) /* a path may spin until another has done something */
        simt_rotate(sm->warps[s].w);
    return state;
}

bool sm_unbind(struct sm *sm, bool others) {
    for (uint64_t left = sm->resident; left; left &= left - 1) {
        uint32_t s = (uint32_t)__builtin_ctzll(left);
        struct core_warp *cw = &sm->warps[s];
        enum warp_state state = WARP_WAITING;
        if (is_bound(sm, s))
            state = run_bound(sm, s);
        else if (others && cw->w->live)
            state = warp_run(cw->x, cw->w, HANDOVER_SLICE);
        if (state == WARP_FAULT)
            return false;
    }
    return true;
}

bool sm_split_waiting(struct sm *sm) {
    bool split = false;
    for (uint64_t left = sm->resident; left; left &= left - 1) {
        struct warp *w = sm->warps[__builtin_ctzll(left)].w;
        split |= w->live && simt_yield(w);
    }
    return split;
}
