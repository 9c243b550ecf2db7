/* Block-wide barriers. Threads are counted, not warps, so divergent arrivals and partial counts work as PTX
 * says. */
#include "exec/watch.h"

/* Writes the result of a reduction to the lanes of a path that waited for it. */
static void deliver(const struct barrier *b, struct warp *w, const struct simt_entry *e) {
    const struct xinst *i = &w->cta->x->img->code[e->pc - 1];
    uint32_t mode = i->in->m.mode;
    if (mode == BAR_RED_POPC && i->ndw)
        for (uint32_t l = 0; l < WARP_LANES; l++)
            if (e->lanes >> l & 1)
                w->r[i->d][l] = b->count;
    if ((mode == BAR_RED_AND || mode == BAR_RED_OR) && i->pd[0] != PRED_PT)
        w->p[i->pd[0]] =
            (w->p[i->pd[0]] & ~e->lanes) | ((mode == BAR_RED_OR ? b->or_ : b->and_) ? e->lanes : 0);
}

static void release(struct cta *c, uint32_t id) {
    if (c->x->watch)
        c->x->watch->open(c->x->watch, c, id);
    for (uint32_t k = 0; k < c->nwarps; k++) {
        struct warp *w = &c->warps[k];
        for (uint32_t i = 0; i < w->depth; i++)
            if (w->stack[i].bar == (int)id) {
                deliver(&c->bars[id], w, &w->stack[i]);
                w->stack[i].bar = -1;
            }
    }
    c->bars[id] = (struct barrier){0};
    c->bars_used &= ~(1u << id);
    c->opened++;
}

static void complete(struct cta *c, uint32_t id) {
    const struct barrier *b = &c->bars[id];
    if (b->arrived >= (b->want ? b->want : c->live))
        release(c, id);
}

void barrier_arrive(struct cta *c, struct warp *w, uint32_t id, uint32_t want, uint32_t lanes, uint32_t p,
                    bool wait) {
    struct barrier *b = &c->bars[id];
    if (!(c->bars_used >> id & 1))
        *b = (struct barrier){.and_ = 1};
    c->bars_used |= 1u << id;
    b->want = want;
    /* A thread count covers whole warps: absent lanes of this one have nothing to wait for. */
    b->arrived += want ? WARP_LANES : (uint32_t)__builtin_popcount(lanes);
    b->and_ &= (p & lanes) == lanes;
    b->or_ |= (p & lanes) != 0;
    b->count += (uint32_t)__builtin_popcount(p & lanes);
    if (wait) {
        w->stack[w->depth - 1].bar = (int16_t)id;
        w->stack[w->depth - 1].lanes = lanes;
    }
    complete(c, id);
}

void barrier_check(struct cta *c) {
    for (uint32_t left = c->bars_used; left; left &= left - 1)
        complete(c, (uint32_t)__builtin_ctz(left));
}
