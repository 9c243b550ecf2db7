/* Second instruction streams: a warp of no block that runs code of a mechanism's own. It is fetched through
 * the instruction cache, buffered, scheduled and traced as any other warp, has a scoreboard and a stack of
 * paths of its own, and registers that are nobody else's. Its instructions are counted apart from the
 * program's: in the stream's own copy of the launch (struct exec), and as issue slots that a mechanism used.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/view.h"

/* What SMs need to know of a stream's instructions is the same in all of them: who opened it first in this
 * launch has it for the others, who begin after it and end with it. NULL: this SM is that. */
static struct core_need *needs_of_first(const struct sm *sm, const struct image *img) {
    const struct sm *first = sm->peers ? sm->peers[0] : sm;
    uint32_t k = sm->nstreams - 1;
    return first != sm && first->nstreams > k && first->streams[k].x.img == img ? first->streams[k].needs
                                                                                : NULL;
}

struct core_stream *core_stream_open(struct sm *sm, const struct image *img) {
    assert(sm->mech.owner[MECH_stream].points->stream.own_code);
    if (sm->nstreams == CORE_STREAMS)
        return NULL;
    struct core_stream *t = &sm->streams[sm->nstreams++];
    *t = (struct core_stream){.x = *sm->x};
    struct exec *x = &t->x;
    x->img = img;
    x->pool = xaligned((img->pool.len + 1) * sizeof *x->pool);
    image_fill_pool(x, img, x->pool);
    x->executed = xcalloc(img->ncode, sizeof *x->executed);
    x->warp_insts = x->thread_insts = x->divergent = x->watchdog = 0;
    x->block[0] = WARP_LANES; /* one warp, and no memory but the launch's global one */
    x->block[1] = x->block[2] = 1;
    x->cluster[0] = x->cluster[1] = x->cluster[2] = 1;
    x->local_bytes = x->shared_static = x->shared_dynamic = 0;
    t->cta = cluster_create(x)->ctas[0];
    t->needs = needs_of_first(sm, img);
    t->own_needs = !t->needs;
    if (t->own_needs) {
        t->needs = xaligned((img->ncode + 1) * sizeof *t->needs);
        memset(t->needs, 0, (img->ncode + 1) * sizeof *t->needs);
        core_needs_fill(t->needs, img, sm->spec);
    }
    return t;
}

bool core_stream_start(struct sm *sm, struct core_stream *t, uint32_t lanes) {
    assert(!t->running && lanes);
    if (sm->resident == ~UINT64_C(0))
        return false;
    t->slot = 63 - (uint32_t)__builtin_clzll(~sm->resident);
    t->running = true;
    cluster_start(t->cta->cluster, 0);
    simt_init(&t->cta->warps[0], lanes);
    t->cta->live = t->cta->cluster->live = (uint32_t)__builtin_popcount(lanes);
    sm->streaming |= warp_bit(t->slot);
    warp_enter(
        sm, t->slot,
        (struct core_warp){.w = &t->cta->warps[0], .x = &t->x, .needs = t->needs, .block = CORE_NO_BLOCK});
    return true;
}

void core_stream_stop(struct sm *sm, struct core_stream *t) {
    assert(t->running);
    struct core_warp *cw = &sm->warps[t->slot];
    simt_exit(cw->w, cw->w->live);
    buffer_flush(sm, t->slot, cw->next);
    sm->halts |= cw->inflight ? 0 : HALT_ENDED;
    warp_update(sm, t->slot);
}

void stream_ended(struct sm *sm, uint32_t slot) {
    sm->streaming &= ~warp_bit(slot);
    for (uint32_t k = 0; k < sm->nstreams; k++)
        if (sm->streams[k].running && sm->streams[k].slot == slot)
            sm->streams[k].running = false;
}

struct core_stream *core_stream_of(struct sm *sm, uint32_t warp) {
    for (uint32_t k = 0; sm->streaming >> warp & 1 && k < sm->nstreams; k++)
        if (sm->streams[k].running && sm->streams[k].slot == warp)
            return &sm->streams[k];
    return NULL;
}

void sm_close(struct sm *sm) {
    for (uint32_t k = 0; k < sm->nstreams; k++) {
        cluster_free(sm->streams[k].cta->cluster);
        if (sm->streams[k].own_needs)
            free(sm->streams[k].needs);
        free(sm->streams[k].x.pool);
        free(sm->streams[k].x.executed);
    }
    sm->nstreams = 0;
}
