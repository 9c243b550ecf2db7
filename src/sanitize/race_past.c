/* Past accesses: whether they happened before what a thread does now, and what is remembered of several. */
#include "sanitize/race.h"

/* Up to which time the thread knows lane l of its own warp. */
static uint32_t known_lane(const struct who *t, uint32_t l) {
    uint32_t row = t->b->row[t->tid][l], base = t->b->base[t->tid];
    return row > base ? row : base;
}

/* Whether the thread is ordered behind what lanes of a warp of its own block did up to time. */
static bool behind_lanes(const struct racecheck *r, const struct who *t, uint32_t warp, uint32_t mask,
                         uint32_t time) {
    if (warp == t->warp) {
        if (r->lockstep)
            return true;
        mask &= ~(1u << t->lane);
    }
    for (; mask; mask &= mask - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(mask);
        if (warp == t->warp && known_lane(t, l) >= time)
            continue;
        if (view_of_thread(t->view, t->b->number, warp * WARP_LANES + l) < time)
            return false;
    }
    return true;
}

static bool behind_warp(const struct racecheck *r, const struct who *t, uint32_t warp, uint32_t time) {
    if (view_of_warp(t->view, t->b->number, warp) >= time)
        return true;
    return behind_lanes(r, t, warp, t->b->lanes[warp], time);
}

/* The same of another block. */
static bool behind_block(const struct who *t, const struct past *p) {
    const struct view *v = t->view;
    if (!v)
        return false;
    if (view_of_block(v, p->block) >= p->time)
        return true;
    for (uint32_t mask = p->mask; mask; mask &= mask - 1) {
        uint32_t k = (uint32_t)__builtin_ctz(mask);
        uint32_t time = p->kind == PAST_WARPS ? view_of_warp(v, p->block, k)
                                              : view_of_thread(v, p->block, p->warp * WARP_LANES + k);
        if (time < p->time)
            return false;
    }
    return true;
}

/* Everything that any block of the launch did up to time. */
static bool behind_all(const struct racecheck *r, const struct who *t, uint32_t time) {
    const struct view *v = t->view;
    bool own = view_of_block(v, t->b->number) >= time;
    if (t->b->base[t->tid] < time && !own)
        return false;
    if (r->begun == 1)
        return true;
    uint32_t others = v ? v->nblocks : 0, least = v ? v->least : 0;
    for (uint32_t k = 0; v && k < v->nblocks; k++)
        if (v->blocks[k].block == t->b->number)
            others--;
    if (least < time && v) { /* what it knows of its own block may be the least, and does not count */
        least = UINT32_MAX;
        for (uint32_t k = 0; k < v->nblocks; k++)
            if (v->blocks[k].block != t->b->number && v->blocks[k].base < least)
                least = v->blocks[k].base;
    }
    return others + 1 >= r->begun && least >= time;
}

static bool behind_one(const struct racecheck *r, const struct who *t, const struct past *p) {
    if (p->block != t->b->number)
        return behind_block(t, p);
    if (p->time <= t->b->base[t->tid])
        return true;
    if (p->kind == PAST_LANES)
        return behind_lanes(r, t, p->warp, p->mask, p->time);
    for (uint32_t mask = p->mask; mask; mask &= mask - 1)
        if (!behind_warp(r, t, (uint32_t)__builtin_ctz(mask), p->time))
            return false;
    return true;
}

static bool behind_what_it_knows(const struct racecheck *r, const struct who *t, const struct past *p) {
    if (p->kind == PAST_MANY)
        return behind_all(r, t, p->time);
    if (p->kind != PAST_BLOCKS)
        return behind_one(r, t, p);
    const struct past_list *list = &r->shadow.lists[p->mask];
    for (uint32_t k = 0; k < list->n; k++)
        if (!behind_one(r, t, &list->at[k]))
            return false;
    return true;
}

bool race_behind(const struct racecheck *r, struct who *t, const struct past *p, bool past_write) {
    if (p->time <= r->start)
        return true;
    t->view = t->b->view[past_write ? KNOWN_ALL : KNOWN_READS][t->tid];
    return behind_what_it_knows(r, t, p);
}

void race_replace(struct racecheck *r, struct past *p, const struct past *n) {
    if (p->time && p->kind == PAST_BLOCKS)
        shadow_list_free(&r->shadow, p->mask);
    *p = *n;
}

/* Adds an access to one of the same block. */
static void merge_block(struct past *p, const struct past *n) {
    uint32_t old = p->kind == PAST_WARPS ? p->mask : 1u << p->warp;
    if (p->kind == PAST_LANES && p->warp == n->warp) {
        p->mask |= n->mask;
    } else {
        p->mask = old | 1u << n->warp;
        p->kind = PAST_WARPS;
    }
    p->time = n->time;
    p->pc = n->pc;
}

/* Adds an access to those of other blocks. */
static void merge_blocks(struct racecheck *r, struct past *p, const struct past *n) {
    if (p->kind != PAST_BLOCKS) {
        uint32_t list = shadow_list(&r->shadow);
        r->shadow.lists[list].at[0] = *p;
        r->shadow.lists[list].n = 1;
        p->kind = PAST_BLOCKS;
        p->mask = list;
    }
    struct past_list *list = &r->shadow.lists[p->mask];
    uint32_t k = 0;
    while (k < list->n && list->at[k].block != n->block)
        k++;
    p->time = n->time;
    p->pc = n->pc;
    if (k < list->n) {
        merge_block(&list->at[k], n);
    } else if (list->n < LIST_BLOCKS) {
        list->at[list->n++] = *n;
    } else {
        shadow_list_free(&r->shadow, p->mask);
        p->kind = PAST_MANY;
        p->mask = 0;
    }
}

void race_merge(struct racecheck *r, struct past *p, const struct past *n) {
    if (p->strong && !n->strong) {
        race_replace(r, p, n);
        return;
    }
    if (n->strong && !p->strong)
        return;
    p->block_scope |= n->block_scope;
    if (p->kind == PAST_MANY) {
        p->time = n->time;
        p->pc = n->pc;
    } else if (p->kind == PAST_BLOCKS || p->block != n->block) {
        merge_blocks(r, p, n);
    } else {
        merge_block(p, n);
    }
}
