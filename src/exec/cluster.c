/* Clusters: blocks that begin together, their barrier, and the shared memory they reach in each other. A
 * launch without clusters has clusters of one block. */
#include <string.h>

#include "exec/watch.h"

struct cluster *cluster_create(struct exec *x) {
    struct cluster *k = xcalloc(1, sizeof *k);
    k->n = x->cluster[0] * x->cluster[1] * x->cluster[2];
    k->ctas = xcalloc(k->n, sizeof(struct cta *));
    for (uint32_t r = 0; r < k->n; r++) {
        k->ctas[r] = cta_create(x);
        k->ctas[r]->cluster = k;
        k->ctas[r]->rank = r;
    }
    return k;
}

void cluster_free(struct cluster *k) {
    for (uint32_t r = 0; r < k->n; r++)
        cta_free(k->ctas[r]);
    free(k->ctas);
    free(k);
}

void cluster_start(struct cluster *k, uint64_t first) {
    const struct exec *x = k->ctas[0]->x;
    uint64_t index = first / k->n, at[3];
    for (int d = 0; d < 3; d++) {
        uint32_t along = x->grid[d] / x->cluster[d];
        at[d] = d < 2 ? index % along : index;
        index /= along;
    }
    for (uint32_t r = 0; r < k->n; r++) {
        uint32_t in[3] = {r % x->cluster[0], r / x->cluster[0] % x->cluster[1],
                          r / x->cluster[0] / x->cluster[1]};
        uint64_t id[3];
        for (int d = 0; d < 3; d++)
            id[d] = at[d] * x->cluster[d] + in[d];
        cta_start(k->ctas[r], (uint32_t)(id[0] + x->grid[0] * (id[1] + x->grid[1] * id[2])));
    }
    k->running = k->n;
    k->live = k->n * k->ctas[0]->nthreads;
    k->arrived = k->opened = 0;
    k->open_at = 0;
}

bool cluster_end(struct cta *c) {
    c->ended = true;
    return !--c->cluster->running;
}

/* ---- the barrier ---- */

static void open_barrier(struct cluster *k) {
    struct watch *watch = k->ctas[0]->x->watch;
    if (watch)
        watch->cluster_open(watch, k);
    for (uint32_t r = 0; r < k->n; r++)
        for (uint32_t i = 0; i < k->ctas[r]->nwarps; i++) {
            struct warp *w = &k->ctas[r]->warps[i];
            w->arrived = 0;
            for (uint32_t e = 0; e < w->depth; e++)
                if (w->stack[e].bar == CLUSTER_BARRIER) {
                    if (watch)
                        watch->cluster_pass(watch, w, w->stack[e].lanes);
                    w->stack[e].bar = -1;
                }
        }
    k->arrived = 0;
    k->opened++;
}

static void check(struct cluster *k) {
    if (k->arrived && k->arrived == k->live)
        open_barrier(k);
}

void cluster_arrive(struct warp *w, uint32_t lanes) {
    struct cluster *k = w->cta->cluster;
    k->arrived += (uint32_t)__builtin_popcount(lanes & ~w->arrived);
    w->arrived |= lanes;
    check(k);
}

void cluster_wait(struct warp *w, uint32_t lanes) {
    struct watch *watch = w->cta->x->watch;
    if (!(lanes & w->arrived)) { /* it has opened since they arrived */
        if (watch)
            watch->cluster_pass(watch, w, lanes);
        return;
    }
    w->stack[w->depth - 1].bar = CLUSTER_BARRIER;
    w->stack[w->depth - 1].lanes = lanes;
}

void cluster_exit(struct warp *w, uint32_t lanes) {
    struct cluster *k = w->cta->cluster;
    k->live -= (uint32_t)__builtin_popcount(lanes);
    k->arrived -= (uint32_t)__builtin_popcount(lanes & w->arrived);
    w->arrived &= ~lanes;
    check(k);
}

/* ---- shared memory ---- */

uint8_t *cluster_shared(const struct cta *c, uint64_t at, uint32_t bytes) {
    uint64_t slice = at / SHARED_SLICE, offset = at % SHARED_SLICE;
    if (c->shared_bytes > SHARED_SLICE) /* only without clusters */
        slice = 0, offset = at;
    if (slice > c->cluster->n || offset > c->shared_bytes || c->shared_bytes - offset < bytes)
        return NULL;
    return (slice ? c->cluster->ctas[slice - 1] : c)->shared + offset;
}
