/* Batches (section 4.1): the affine warp runs once for all blocks that are on the SM together. Blocks enter
 * as on the base machine, but those that follow others of a batch wait until the last of it has left, and are
 * then the next batch. Queues are divided among the warps of a batch. */
#include "mech/dac/dac.h"

#include <string.h>

static void set_coords(struct dac *d, uint32_t slot) {
    const struct core_warp *cw = &d->sm->warps[slot];
    const struct cta *c = cw->w->cta;
    struct coords *at = &d->coords[slot];
    const uint32_t *n = d->sm->x->block;
    memcpy(at->ctaid, c->id, sizeof at->ctaid);
    if (d->coords_of[slot] == cw->w->index + 1) /* as of the block before */
        return;
    d->coords_of[slot] = cw->w->index + 1;
    at->row = true;
    for (uint32_t l = 0; l < WARP_LANES; l++) {
        uint32_t t = cw->w->index * WARP_LANES + l;
        at->tid[0][l] = t % n[0];
        at->tid[1][l] = t / n[0] % n[1];
        at->tid[2][l] = t / n[0] / n[1];
        at->row &= at->tid[0][l] == at->tid[0][0] + l;
    }
}

/* ---- the queues ---- */

static void divide_queues(struct dac *d, uint32_t warps) {
    d->depth_a = (uint32_t)d->params->pwaq / warps;
    d->depth_p = (uint32_t)d->params->pwpq / warps;
    d->depth_a = d->depth_a ? d->depth_a : 1;
    d->depth_p = d->depth_p ? d->depth_p : 1;
    d->naccess = d->depth_a + DAC_FLYING;
}

/* A warp gets the share-th part. */
static void take_share(struct dac *d, uint32_t w, uint32_t share) {
    struct dac_queues *q = &d->q[w];
    q->access = &d->accesses[share * d->naccess];
    q->first = q->issued = q->count = q->used = q->pfirst = q->pcount = q->pfilled = 0;
    dac_changed(d, w);
}

/* ---- a batch ---- */

bool dac_can_begin(const struct dac *d) {
    bool compared = d->peu == d->tail; /* for no warp that has left */
    return !d->served && d->sm->resident & ~d->sm->streaming && !d->stream->running && compared;
}

static void start_affine(struct dac *d, uint64_t warps) {
    struct dac_path all = {.pc = 0, .rpc = NO_RPC};
    uint64_t blocks = 0;
    uint32_t shares = 0;
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
        take_share(d, s, shares++);
    }
    d->batch = warps;
    d->served = warps;
    d->blocks |= blocks;
    d->asking &= ~blocks;
    d->path[0] = all;
    d->depth = 1;
    d->affine_unchanged = d->affine_goes = d->stays = false;
    dac_rouse(d, UINT64_MAX);
    dac_clear(d);
    d->n.batches++;
}

APART void dac_begin_batch(struct dac *d) {
    if (!dac_can_begin(d))
        return;
    uint64_t warps = d->sm->resident & ~d->sm->streaming;
    divide_queues(d, warps_of(warps));
    start_affine(d, warps);
    if (!core_stream_start(d->sm, d->stream, (uint32_t)((UINT64_C(1) << d->params->lanes) - 1)))
        dac_broken(d, "no room for the affine warp");
}
