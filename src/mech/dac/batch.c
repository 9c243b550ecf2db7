/* Batches (section 4.1): blocks enter an SM as on the base machine, and whenever the affine warp has come to
 * its end it begins again, for all blocks that entered meanwhile. Queues are divided among as many warps as
 * the first batch has; a warp has its share of them while it is on the SM. */
#include "mech/dac/dac.h"

#include <string.h>

static void set_coords(struct dac *d, uint32_t slot) {
    const struct core_warp *cw = &d->sm->warps[slot];
    const struct cta *c = cw->w->cta;
    struct coords *at = &d->coords[slot];
    const uint32_t *n = d->sm->x->block;
    at->row = true;
    for (uint32_t l = 0; l < WARP_LANES; l++) {
        uint32_t t = cw->w->index * WARP_LANES + l;
        at->tid[0][l] = t % n[0];
        at->tid[1][l] = t / n[0] % n[1];
        at->tid[2][l] = t / n[0] / n[1];
        at->row &= at->tid[0][l] == at->tid[0][0] + l;
    }
    memcpy(at->ctaid, c->id, sizeof at->ctaid);
}

/* ---- shares of the queues ---- */

static void divide_queues(struct dac *d, uint32_t warps) {
    d->depth_a = (uint32_t)d->params->pwaq / warps;
    d->depth_p = (uint32_t)d->params->pwpq / warps;
    d->depth_a = d->depth_a ? d->depth_a : 1;
    d->depth_p = d->depth_p ? d->depth_p : 1;
    d->naccess = d->depth_a + DAC_FLYING;
    d->shares = warps == DAC_WARPS ? UINT64_MAX : (UINT64_C(1) << warps) - 1;
}

static void take_share(struct dac *d, uint32_t w) {
    struct dac_queues *q = &d->q[w];
    q->share = (uint8_t)__builtin_ctzll(d->shares);
    q->access = &d->accesses[q->share * d->naccess];
    q->first = q->issued = q->count = q->used = q->pfirst = q->pcount = q->pfilled = 0;
    d->shares &= d->shares - 1;
    dac_changed(d, w);
}

void dac_leave(struct dac *d, uint32_t w) {
    uint64_t bit = UINT64_C(1) << w;
    if (!(d->served & bit))
        return;
    d->served &= ~bit;
    d->shares |= UINT64_C(1) << d->q[w].share;
}

/* ---- a batch ---- */

/* Warps for which the affine warp has not begun. */
static uint64_t fresh(const struct dac *d) {
    return d->sm->resident & ~d->sm->streaming & ~d->served;
}

/* The affine warp has come to its end, no warp that has left since is still compared for, and those that
 * wait find room in the queues. */
bool dac_can_begin(const struct dac *d) {
    uint64_t warps = fresh(d);
    return warps && !d->stream->running && d->peu == d->tail &&
           (!d->served || warps_of(warps) <= warps_of(d->shares));
}

static void start_affine(struct dac *d, uint64_t warps) {
    struct dac_path all = {.pc = 0, .rpc = NO_RPC};
    uint64_t blocks = 0;
    for (uint64_t left = warps; left; left &= left - 1)
        blocks |= UINT64_C(1) << d->sm->warps[__builtin_ctzll(left)].block;
    for (uint64_t left = blocks; left; left &= left - 1) {
        uint32_t c = (uint32_t)__builtin_ctzll(left);
        d->exp[c] = (struct dac_expansion){.at = d->tail};
        d->block_warps[c] = 0;
        d->epoch[c] = 0;
    }
    for (uint64_t left = warps; left; left &= left - 1) {
        uint32_t s = (uint32_t)__builtin_ctzll(left);
        d->block_warps[d->sm->warps[s].block] |= UINT64_C(1) << s;
        all.mask.w[s] = d->sm->warps[s].w->live;
        set_coords(d, s);
        take_share(d, s);
    }
    d->batch = warps;
    d->served |= warps;
    d->blocks |= blocks;
    d->path[0] = all;
    d->depth = 1;
    d->affine_unchanged = d->aeu_rests = false;
    dac_clear(d);
    d->n.batches++;
}

void dac_begin_batch(struct dac *d) {
    if (!dac_can_begin(d))
        return;
    uint64_t warps = fresh(d);
    if (!d->served)
        divide_queues(d, warps_of(warps));
    start_affine(d, warps);
    if (!core_stream_start(d->sm, d->stream, (uint32_t)((UINT64_C(1) << d->params->lanes) - 1)))
        dac_broken(d, "no room for the affine warp");
}
