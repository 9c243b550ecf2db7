/* What orders accesses: barriers of the block, __syncwarp, fences with strong accesses behind them, releases,
 * barrier objects, and waiting for asynchronous copies. Each passes on what a thread knows of others' past.
 *
 * Strong accesses (volatile, relaxed and stronger, atomic) do not race with each other. A write behind a
 * fence, or that is itself a release, passes on what was before the fence; a strong read that finds it there
 * learns it at once: a fence behind the read is not asked for, since programs leave it out where control
 * depends on the value. */
#include <string.h>

#include "sanitize/race.h"

void race_tick(struct racecheck *r) {
    if (r->now < UINT32_MAX - 1)
        r->now++;
    else
        r->given_up = true;
}

/* Joins views; the same ones are joined again and again. */
static struct view *join(struct racecheck *r, struct view *a, struct view *b) {
    if (!a || !b || a == b)
        return view_join(a, b);
    uint32_t slot = (uint32_t)(((uintptr_t)a >> 4) * 31 + ((uintptr_t)b >> 4)) % MEMO;
    if (r->memo[slot].a != a || r->memo[slot].b != b) {
        view_drop(r->memo[slot].a);
        view_drop(r->memo[slot].b);
        view_drop(r->memo[slot].joined);
        r->memo[slot].a = view_keep(a);
        r->memo[slot].b = view_keep(b);
        r->memo[slot].joined = view_join(a, b);
    }
    return view_keep(r->memo[slot].joined);
}

/* *to learns what v knows. */
static void join_into(struct racecheck *r, struct view **to, struct view *v) {
    if (!v || *to == v)
        return;
    struct view *joined = join(r, *to, v);
    view_drop(*to);
    *to = joined;
}

void race_learn(struct racecheck *r, struct race_block *b, uint32_t t, enum known what, struct view *v) {
    uint32_t first = r->lockstep ? t / WARP_LANES * WARP_LANES : t, n = r->lockstep ? WARP_LANES : 1;
    if (!v)
        return;
    for (uint32_t k = first; k < first + n; k++) /* lanes in step learn together */
        for (uint32_t q = 0; q < KNOWN_KINDS; q++)
            if (what == KNOWN_ALL || q == KNOWN_READS)
                join_into(r, &b->view[q][k], v);
    b->views = true;
}

/* Thread t forgets what it knew and knows what another does. */
static void know_as(struct race_block *b, uint32_t t, uint32_t other) {
    for (uint32_t k = 0; k < KNOWN_KINDS; k++) {
        struct view *v = view_keep(b->view[k][other]);
        view_drop(b->view[k][t]);
        b->view[k][t] = v;
    }
}

/* Thread t learns what another knows. */
static void learn_from(struct racecheck *r, struct race_block *b, uint32_t t, uint32_t other) {
    for (uint32_t k = 0; k < KNOWN_KINDS; k++)
        join_into(r, &b->view[k][t], b->view[k][other]);
}

/* What thread t of a block passes on: its own past up to time, and what it knows with view and base. */
static struct view *past_of(struct racecheck *r, const struct race_block *b, uint32_t t, uint32_t time,
                            uint32_t base, struct view *known) {
    struct view_item items[WARP_LANES + 1];
    uint32_t n = 0, warp = t / WARP_LANES * WARP_LANES, first = b->row[t][t % WARP_LANES ? 0 : 1];
    bool alike = true;
    for (uint32_t l = 0; l < WARP_LANES; l++)
        alike &= l == t % WARP_LANES || b->row[t][l] == first;
    if (r->lockstep)
        items[n++] = (struct view_item){(uint16_t)warp, WARP_LANES, time};
    else if (alike)
        items[n++] = (struct view_item){(uint16_t)warp, WARP_LANES, first < time ? first : time};
    for (uint32_t l = 0; l < WARP_LANES && !alike && !r->lockstep; l++)
        items[n++] = (struct view_item){(uint16_t)(warp + l), 1, b->row[t][l] < time ? b->row[t][l] : time};
    items[n++] = (struct view_item){(uint16_t)t, 1, time};
    struct view *own = view_create(b->number, base, items, n), *all = view_join(own, known);
    view_drop(own);
    return all;
}

/* ---- fences, strong accesses ---- */

static void put(struct racecheck *r, struct view **to, struct view *v, bool join_it) {
    if (join_it) {
        join_into(r, to, v);
        return;
    }
    view_keep(v);
    view_drop(*to);
    *to = v;
}

/* Lanes of a warp pass a fence together: what they have done and know is visible to others from here on. */
static void fence(struct racecheck *r, struct race_block *b, const struct warp *w, uint32_t m,
                  enum mem_scope scope) {
    struct view_item items[WARP_LANES];
    uint32_t n = 0, base = UINT32_MAX, first = w->index * WARP_LANES;
    bool whole = !(w->live & ~m);
    if (whole)
        items[n++] = (struct view_item){(uint16_t)first, WARP_LANES, r->now};
    for (uint32_t left = m; left; left &= left - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(left);
        if (!whole)
            items[n++] = (struct view_item){(uint16_t)(first + l), 1, r->now};
        base = b->base[first + l] < base ? b->base[first + l] : base;
    }
    struct view *all = view_create(b->number, base, items, n);
    for (uint32_t left = m; left; left &= left - 1)
        join_into(r, &all, b->view[KNOWN_ALL][first + (uint32_t)__builtin_ctz(left)]);
    for (uint32_t left = m; left; left &= left - 1) {
        uint32_t t = first + (uint32_t)__builtin_ctz(left);
        put(r, &b->view[KNOWN_FENCED_BLOCK][t], all, false);
        if (scope != SCOPE_BLOCK)
            put(r, &b->view[KNOWN_FENCED][t], all, false);
    }
    view_drop(all);
    b->views = true;
}

/* owner: the block in whose shared memory the location is, if it is in any. */
static struct race_sync *sync_make(struct racecheck *r, struct race_block *owner, uint64_t at) {
    struct race_sync *y = map_get_u64(&r->sync, at);
    if (y)
        return y;
    y = xcalloc(1, sizeof *y);
    map_set_u64(&r->sync, at, y);
    if (at >= SHARED_PLACE)
        vec_push(&owner->synced, at);
    return y;
}

static void sync_free(struct race_sync *y) {
    if (!y)
        return;
    view_drop(y->gpu);
    view_drop(y->block);
    view_drop(y->reads);
    view_drop(y->phase);
    free(y);
}

void race_strong(struct racecheck *r, struct race_block *b, const struct access *a, uint32_t lane,
                 uint64_t at) {
    const struct imods *q = &a->i->in->m;
    uint32_t t = a->w->index * WARP_LANES + lane;
    struct race_sync *y = map_get_u64(&r->sync, at);
    if (y && a->read) {
        race_learn(r, b, t, KNOWN_ALL, y->gpu);
        race_learn(r, b, t, KNOWN_READS, y->reads);
        if (y->of_block == b->number)
            race_learn(r, b, t, KNOWN_ALL, y->block);
    }
    if (!a->write)
        return;
    bool release = q->order == ORDER_RELEASE || q->order == ORDER_ACQ_REL;
    struct view *gpu = b->view[KNOWN_FENCED][t], *block = b->view[KNOWN_FENCED_BLOCK][t], *now = NULL;
    if (release) {
        now = past_of(r, b, t, r->now, b->base[t], b->view[KNOWN_ALL][t]);
        gpu = q->scope != SCOPE_BLOCK ? now : gpu;
        block = now;
        race_tick(r);
    }
    if (gpu || block ||
        y) { /* a write that is no part of a read-modify-write ends what was passed on before */
        y = sync_make(r, race_owner(a, lane), at);
        put(r, &y->gpu, gpu, a->atomic);
        put(r, &y->block, block, a->atomic && y->of_block == b->number);
        y->of_block = b->number;
    }
    view_drop(now);
    if (!a->atomic && at < SHARED_PLACE) { /* flags between blocks; in shared memory there are barriers */
        y = sync_make(r, race_owner(a, lane), at);
        view_drop(y->reads);
        y->reads = past_of(r, b, t, r->now, b->base[t], b->view[KNOWN_READS][t]);
        race_tick(r);
    }
}

void racecheck_fence(struct racecheck *r, struct warp *w, const struct xinst *i, uint32_t m) {
    struct race_block *b = race_block(w);
    if (i->in->op == OP_MEMBAR)
        fence(r, b, w, m, (enum mem_scope)i->in->m.scope);
    for (uint32_t left = m; left; left &= left - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(left), t = w->index * WARP_LANES + l;
        if (i->in->op == OP_CPCOMMIT)
            b->groups[t]++;
        else if (i->in->op == OP_CPWAIT)
            race_complete(r, w, l, (uint32_t)i->in->imm);
    }
    race_tick(r);
}

/* ---- lanes of a warp ---- */

/* Lanes of a group have met: each is behind all that the others have done and know. */
static void meet(struct racecheck *r, struct race_block *b, uint32_t warp, uint32_t group) {
    uint32_t first = warp * WARP_LANES + (uint32_t)__builtin_ctz(group), base = 0;
    _Alignas(64) uint32_t row[WARP_LANES] = {0};
    for (uint32_t left = group; left; left &= left - 1) {
        uint32_t t = warp * WARP_LANES + (uint32_t)__builtin_ctz(left);
        base = b->base[t] > base ? b->base[t] : base;
        for (uint32_t l = 0; group != UINT32_MAX && l < WARP_LANES; l++)
            row[l] = b->row[t][l] > row[l] ? b->row[t][l] : row[l];
        if (b->views && t != first)
            learn_from(r, b, first, t);
    }
    for (uint32_t l = 0; l < WARP_LANES; l++)
        row[l] = group >> l & 1 ? r->now : row[l];
    for (uint32_t left = group; left; left &= left - 1) {
        uint32_t t = warp * WARP_LANES + (uint32_t)__builtin_ctz(left);
        memcpy(b->row[t], row, sizeof row);
        b->base[t] = base;
        if (b->views && t != first)
            know_as(b, t, first);
    }
}

/* Lanes that exchanged values, but not by __syncwarp: they share what each has learnt from other warps, while
 * what they did themselves is not ordered. Libraries let one lane acquire for all, and tell by a shuffle. */
static void exchange(struct racecheck *r, struct race_block *b, uint32_t warp, uint32_t group) {
    uint32_t first = warp * WARP_LANES + (uint32_t)__builtin_ctz(group);
    for (uint32_t left = group & (group - 1); left; left &= left - 1)
        learn_from(r, b, first, warp * WARP_LANES + (uint32_t)__builtin_ctz(left));
    for (uint32_t left = group & (group - 1); left; left &= left - 1)
        know_as(b, warp * WARP_LANES + (uint32_t)__builtin_ctz(left), first);
}

void racecheck_together(struct racecheck *r, struct exec *x, struct warp *w, const struct xinst *i,
                        uint32_t m) {
    struct race_block *b = race_block(w);
    if (r->lockstep || i->in->m.lut || (i->kind != X_WARPSYNC && !b->views))
        return;
    const uint32_t *masks = exec_member_masks(x, w, i);
    for (uint32_t left = m; left;) {
        uint32_t mask = masks[__builtin_ctz(left)], group = 0;
        for (uint32_t l = 0; l < WARP_LANES; l++)
            group |= (uint32_t)((left >> l & 1) && masks[l] == mask) << l;
        if (i->kind == X_WARPSYNC)
            meet(r, b, w->index, group);
        else
            exchange(r, b, w->index, group);
        left &= ~group;
    }
    race_tick(r);
}

/* ---- barriers of a block ---- */

void racecheck_arrive(struct racecheck *r, struct warp *w, const struct xinst *i, uint32_t id, uint32_t m) {
    struct race_block *b = race_block(w);
    struct race_barrier *y = &b->barriers[id];
    if (i->in->m.mode != BAR_ARRIVE) {
        y->waiting[w->index] |= m;
        return;
    }
    for (uint32_t left = m; left; left &= left - 1) { /* these go on, so what they pass on is what is now */
        uint32_t t = w->index * WARP_LANES + (uint32_t)__builtin_ctz(left);
        struct view *v = past_of(r, b, t, r->now, b->base[t], b->view[KNOWN_ALL][t]);
        join_into(r, &y->view, v);
        view_drop(v);
        y->base = b->base[t] > y->base ? b->base[t] : y->base;
    }
    y->passed[w->index] |= m;
    race_tick(r);
}

/* Whether all threads that have not exited wait. */
static bool all_wait(const struct cta *c, const struct race_barrier *y) {
    for (uint32_t k = 0; k < c->nwarps; k++)
        if (y->passed[k] || c->warps[k].live & ~y->waiting[k])
            return false;
    return true;
}

/* All threads are behind all that the block has done. */
static void open_for_all(struct racecheck *r, struct race_block *b) {
    if (b->views) {
        for (uint32_t t = 1; t < b->nthreads; t++)
            learn_from(r, b, 0, t);
        for (uint32_t t = 1; t < b->nthreads; t++)
            know_as(b, t, 0);
    }
    for (uint32_t t = 0; t < b->nthreads; t++)
        b->base[t] = r->now;
    for (uint32_t k = 0; k < b->nwarps; k++)
        b->least[k] = r->now;
}

/* Some of the block: those that wait are behind what all who arrived had done. */
static void open_for_some(struct racecheck *r, struct race_block *b, const struct cta *c,
                          struct race_barrier *y) {
    struct view_item items[BLOCK_WARPS * WARP_LANES];
    uint32_t n = 0, base = y->base;
    for (uint32_t k = 0; k < b->nwarps; k++) {
        bool whole = y->waiting[k] && !(c->warps[k].live & ~y->waiting[k]);
        if (whole)
            items[n++] = (struct view_item){(uint16_t)(k * WARP_LANES), WARP_LANES, r->now};
        for (uint32_t left = y->waiting[k]; left; left &= left - 1) {
            uint32_t t = k * WARP_LANES + (uint32_t)__builtin_ctz(left);
            if (!whole)
                items[n++] = (struct view_item){(uint16_t)t, 1, r->now};
            base = b->base[t] > base ? b->base[t] : base;
            join_into(r, &y->view, b->view[KNOWN_ALL][t]);
        }
    }
    struct view *own = view_create(b->number, base, items, n);
    join_into(r, &y->view, own);
    view_drop(own);
    for (uint32_t k = 0; k < b->nwarps; k++)
        for (uint32_t left = y->waiting[k]; left; left &= left - 1) {
            uint32_t t = k * WARP_LANES + (uint32_t)__builtin_ctz(left);
            race_learn(r, b, t, KNOWN_ALL, y->view);
            b->base[t] = base;
        }
    b->views = true;
}

void racecheck_open(struct racecheck *r, struct cta *c, uint32_t id) {
    struct race_block *b = ((struct block_state *)c->watched)->race;
    struct race_barrier *y = &b->barriers[id];
    if (all_wait(c, y))
        open_for_all(r, b);
    else
        open_for_some(r, b, c, y);
    view_drop(y->view);
    *y = (struct race_barrier){0};
    race_tick(r);
}

/* ---- the barrier of a cluster, whose state is with the first of its blocks ---- */

static struct race_block *first_block(const struct cluster *k) {
    return ((struct block_state *)k->ctas[0]->watched)->race;
}

/* All threads of all blocks have arrived. What some of them did since then, before they wait, is taken to be
 * before the barrier, too: races may be missed, but none is made up. */
void racecheck_cluster_open(struct racecheck *r, struct cluster *k) {
    struct race_block *first = first_block(k);
    view_drop(first->opened);
    first->opened = NULL;
    first->opened_at = r->now;
    for (uint32_t n = 0; n < k->n; n++) {
        const struct race_block *b = ((struct block_state *)k->ctas[n]->watched)->race;
        struct view *all = view_create(b->number, r->now, NULL, 0);
        join_into(r, &first->opened, all);
        view_drop(all);
        for (uint32_t t = 0; b->views && t < b->nthreads; t++)
            join_into(r, &first->opened, b->view[KNOWN_ALL][t]);
    }
    race_tick(r);
}

void racecheck_cluster_pass(struct racecheck *r, struct warp *w, uint32_t m) {
    struct race_block *b = race_block(w), *first = first_block(w->cta->cluster);
    for (uint32_t left = m; left; left &= left - 1) {
        uint32_t t = w->index * WARP_LANES + (uint32_t)__builtin_ctz(left);
        race_learn(r, b, t, KNOWN_ALL, first->opened);
        b->base[t] = first->opened_at > b->base[t] ? first->opened_at : b->base[t];
    }
    uint32_t least = UINT32_MAX;
    for (uint32_t l = 0; l < WARP_LANES; l++)
        if (b->lanes[w->index] >> l & 1 && b->base[w->index * WARP_LANES + l] < least)
            least = b->base[w->index * WARP_LANES + l];
    b->least[w->index] = least;
    race_tick(r);
}

/* ---- barrier objects ---- */

static bool phase_of(const struct access *a, uint32_t lane) {
    uint64_t state;
    memcpy(&state, touch_block(a->w, &a->t, lane)->shared + a->t.at[lane], sizeof state);
    return state >> 63;
}

/* A phase of the object is over when its highest bit has changed: those who wait for it learn what was passed
 * on in it. */
void racecheck_object(struct racecheck *r, const struct access *a) {
    struct race_block *b = race_block(a->w);
    enum mbar_mode mode = (enum mbar_mode)a->i->in->m.mode;
    uint32_t done = a->i->pd[0] != PRED_PT ? a->w->p[a->i->pd[0]] : UINT32_MAX;
    for (uint32_t left = a->t.shared; left; left &= left - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(left), t = a->w->index * WARP_LANES + l;
        struct race_block *owner = race_owner(a, l);
        struct race_sync *y = sync_make(r, owner, owner->shared + a->t.at[l]);
        if (mode == MBAR_INIT) {
            view_drop(y->gpu);
            view_drop(y->phase);
            y->gpu = y->phase = NULL;
            y->odd = false;
        } else if (mode == MBAR_TEST_WAIT) {
            if (done >> l & 1)
                race_learn(r, b, t, KNOWN_ALL, y->gpu);
        } else if (mode != MBAR_INVAL) {
            race_complete(r, a->w, l, 0);
            struct view *v = past_of(r, b, t, r->now, b->base[t], b->view[KNOWN_ALL][t]);
            join_into(r, &y->phase, v);
            view_drop(v);
        }
    }
    for (uint32_t left = a->t.shared; left; left &= left - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(left);
        struct race_block *owner = race_owner(a, l);
        struct race_sync *y = sync_make(r, owner, owner->shared + a->t.at[l]);
        if (mode == MBAR_INIT || phase_of(a, l) == y->odd)
            continue;
        view_drop(y->gpu);
        y->gpu = y->phase;
        y->phase = NULL;
        y->odd = !y->odd;
    }
    race_tick(r);
}

/* ---- ends ---- */

void race_forget(struct racecheck *r) {
    for (uint32_t i = 0; i < r->sync.len; i++)
        sync_free(r->sync.entries[i].value);
    map_free(&r->sync);
    for (uint32_t i = 0; i < MEMO; i++) {
        view_drop(r->memo[i].a);
        view_drop(r->memo[i].b);
        view_drop(r->memo[i].joined);
    }
    memset(r->memo, 0, sizeof r->memo);
}

void race_block_reset(struct racecheck *r, struct race_block *b) {
    for (uint32_t t = 0; t < b->nthreads; t++) {
        for (uint32_t k = 0; k < KNOWN_KINDS; k++) {
            view_drop(b->view[k][t]);
            b->view[k][t] = NULL;
        }
        b->groups[t] = 0;
    }
    for (uint32_t k = 0; k < MAX_BARRIERS; k++) {
        view_drop(b->barriers[k].view);
        b->barriers[k] = (struct race_barrier){0};
    }
    for (uint32_t k = 0; k < BLOCK_WARPS; k++)
        b->copies[k].len = 0;
    for (uint32_t k = 0; k < b->synced.len; k++) {
        sync_free(map_get_u64(&r->sync, b->synced.at[k]));
        map_remove_u64(&r->sync, b->synced.at[k]);
    }
    b->synced.len = 0;
    view_drop(b->opened);
    b->opened = NULL;
    b->views = false;
}
