/* The barrier of a cluster, between SMs: the news that it has opened take their time to all of its blocks. */
#include "core/points.h"

/* The warp goes on in this cycle, not before. */
static void wait_until(struct sm *sm, uint32_t s, uint64_t cycle) {
    sm->warps[s].until = cycle;
    sm->blocked |= warp_bit(s);
    sm->cluster_wake = min_u64(sm->cluster_wake, cycle);
    sm->hold_next = min_u64(sm->hold_next, cycle);
}

/* Warps that waited at the barrier, wherever they are, go on when the news arrive. */
static void opened(const struct sm *sm, struct cluster *k, uint64_t now) {
    k->open_at = now + sm->spec->cluster_latency;
    for (uint32_t r = 0; r < k->n; r++) {
        struct sm *peer = sm->peers[k->ctas[r]->sm];
        for (uint64_t left = peer->resident & peer->blocked; left; left &= left - 1) {
            uint32_t s = (uint32_t)__builtin_ctzll(left);
            if (peer->warps[s].w->cta == k->ctas[r] && simt_top(peer->warps[s].w))
                wait_until(peer, s, k->open_at);
        }
    }
}

void cluster_changed(struct sm *sm, uint32_t s, const struct xinst *i, uint32_t opened_before, uint64_t now) {
    struct cluster *k = sm->warps[s].w->cta->cluster;
    if (k->opened != opened_before)
        opened(sm, k, now);
    else if (i->kind == X_BAR && i->in->m.mode == BAR_CLUSTER_WAIT && k->open_at > now)
        wait_until(sm, s, k->open_at);
}

void sm_open(struct sm *sm, uint64_t now) {
    sm->cluster_wake = NEVER;
    for (uint64_t left = sm->resident & sm->blocked; left; left &= left - 1) {
        uint32_t s = (uint32_t)__builtin_ctzll(left);
        struct core_warp *cw = &sm->warps[s];
        if (cw->until > now)
            sm->cluster_wake = min_u64(sm->cluster_wake, cw->until);
        struct simt_entry *e = cw->until && cw->until <= now && !cw->fence ? simt_top(cw->w) : NULL;
        if (!e)
            continue;
        cw->until = 0;
        warp_unblock(sm, s);
        if (e->pc != cw->next)
            buffer_flush(sm, s, e->pc);
        warp_update(sm, s);
    }
}
