#include "sanitize/view.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

enum { ITEMS_MOST = 64, WARP = 32, WARPS = 32 };

/* A view with room for blocks and items, in one piece of memory. */
static struct view *allocate(uint32_t nblocks, uint32_t nitems) {
    struct view *v = xmalloc(sizeof *v + nblocks * sizeof *v->blocks + nitems * sizeof *v->items);
    *v = (struct view){.refs = 1, .least = UINT32_MAX};
    v->blocks = (struct view_block *)(v + 1);
    v->items = (struct view_item *)(v->blocks + nblocks);
    return v;
}

static void add_item(struct view *v, struct view_block *b, struct view_item item) {
    if (item.time <= b->base)
        return;
    for (uint32_t k = b->first; k < v->nitems; k++)
        if (v->items[k].tid == item.tid && v->items[k].span == item.span) {
            v->items[k].time = v->items[k].time > item.time ? v->items[k].time : item.time;
            return;
        }
    v->items[v->nitems++] = item;
    b->count++;
}

/* Begins a block; its items follow. */
static struct view_block *add_block(struct view *v, uint32_t block, uint32_t base) {
    v->blocks[v->nblocks] = (struct view_block){.block = block, .base = base, .first = v->nitems};
    return &v->blocks[v->nblocks++];
}

/* Puts items of all threads of a warp together, with the latest time for all. */
static void pack_warps(struct view *v, struct view_block *b) {
    for (uint32_t warp = 0; warp < WARPS; warp++) {
        uint32_t lanes = 0, time = 0, n = b->first;
        for (uint32_t k = b->first; k < v->nitems; k++)
            if (v->items[k].tid / WARP == warp) {
                lanes |= v->items[k].span == 1 ? 1u << v->items[k].tid % WARP : 0;
                time = v->items[k].time > time ? v->items[k].time : time;
            }
        if (lanes != UINT32_MAX)
            continue;
        for (uint32_t k = b->first; k < v->nitems; k++)
            if (v->items[k].tid / WARP != warp)
                v->items[n++] = v->items[k];
        v->items[n++] = (struct view_item){(uint16_t)(warp * WARP), WARP, time};
        v->nitems = n;
        b->count = n - b->first;
    }
}

static void end_block(struct view *v, struct view_block *b) {
    if (b->count > ITEMS_MOST)
        pack_warps(v, b);
    if (b->count > ITEMS_MOST) {
        for (uint32_t k = b->first; k < v->nitems; k++)
            b->base = b->base > v->items[k].time ? b->base : v->items[k].time;
        v->nitems = b->first;
        b->count = 0;
    }
    v->least = v->least < b->base ? v->least : b->base;
}

struct view *view_create(uint32_t block, uint32_t base, const struct view_item *items, uint32_t n) {
    struct view *v = allocate(1, n);
    struct view_block *b = add_block(v, block, base);
    for (uint32_t k = 0; k < n; k++)
        add_item(v, b, items[k]);
    end_block(v, b);
    return v;
}

struct view *view_keep(struct view *v) {
    if (v)
        v->refs++;
    return v;
}

void view_drop(struct view *v) {
    if (v && !--v->refs)
        free(v);
}

static void take_items(struct view *v, struct view_block *b, const struct view *from,
                       const struct view_block *of) {
    for (uint32_t k = 0; k < of->count; k++)
        add_item(v, b, from->items[of->first + k]);
}

static const struct view_block *find(const struct view *v, uint32_t block) {
    uint32_t lo = 0, hi = v ? v->nblocks : 0;
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        if (v->blocks[mid].block < block)
            lo = mid + 1;
        else
            hi = mid;
    }
    return v && lo < v->nblocks && v->blocks[lo].block == block ? &v->blocks[lo] : NULL;
}

/* The latest time of a block's items that hold all of tid to tid + span - 1, or of the block. */
static uint32_t latest_of(const struct view *v, const struct view_block *b, uint32_t tid, uint32_t span) {
    uint32_t time = b->base;
    for (uint32_t k = 0; k < b->count; k++) {
        const struct view_item *i = &v->items[b->first + k];
        if (i->tid <= tid && tid + span <= (uint32_t)i->tid + i->span && i->time > time)
            time = i->time;
    }
    return time;
}

static uint32_t latest(const struct view *v, uint32_t block, uint32_t tid, uint32_t span) {
    const struct view_block *b = find(v, block);
    return b ? latest_of(v, b, tid, span) : 0;
}

/* Whether a knows all that b does: threads that learn nothing new keep the view they have. */
static bool covers(const struct view *a, const struct view *b) {
    uint32_t i = 0;
    if (a == b)
        return true;
    for (uint32_t k = 0; k < b->nblocks; k++) {
        const struct view_block *q = &b->blocks[k];
        while (i < a->nblocks && a->blocks[i].block < q->block)
            i++;
        if (i == a->nblocks || a->blocks[i].block != q->block || a->blocks[i].base < q->base)
            return false;
        for (uint32_t n = 0; n < q->count; n++) {
            const struct view_item *item = &b->items[q->first + n];
            if (latest_of(a, &a->blocks[i], item->tid, item->span) < item->time)
                return false;
        }
    }
    return true;
}

struct view *view_join(struct view *a, struct view *b) {
    if (!b || (a && covers(a, b)))
        return view_keep(a);
    if (!a || covers(b, a))
        return view_keep(b);
    struct view *v = allocate(a->nblocks + b->nblocks, a->nitems + b->nitems);
    uint32_t i = 0, k = 0;
    while (i < a->nblocks || k < b->nblocks) {
        const struct view_block *p = i < a->nblocks ? &a->blocks[i] : NULL,
                                *q = k < b->nblocks ? &b->blocks[k] : NULL;
        bool from_a = p && (!q || p->block <= q->block), from_b = q && (!p || q->block <= p->block);
        uint32_t base = from_a ? p->base : 0;
        if (from_b && q->base > base)
            base = q->base;
        struct view_block *to = add_block(v, from_a ? p->block : q->block, base);
        if (from_a)
            take_items(v, to, a, p);
        if (from_b)
            take_items(v, to, b, q);
        end_block(v, to);
        i += from_a;
        k += from_b;
    }
    return v;
}

uint32_t view_of_thread(const struct view *v, uint32_t block, uint32_t tid) {
    return latest(v, block, tid, 1);
}

uint32_t view_of_warp(const struct view *v, uint32_t block, uint32_t warp) {
    return latest(v, block, warp * WARP, WARP);
}

uint32_t view_of_block(const struct view *v, uint32_t block) {
    const struct view_block *b = find(v, block);
    return b ? b->base : 0;
}
