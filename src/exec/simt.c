/* The SIMT stack. See warp.h for what makes an entry runnable. */
#include "exec/warp.h"

#include <string.h>

void simt_push(struct warp *w, struct simt_entry e) {
    if (w->depth == w->cap) {
        bool few = w->stack == w->few;
        w->cap *= 2;
        w->stack = xrealloc(few ? NULL : w->stack, w->cap * sizeof *w->stack);
        if (few)
            memcpy(w->stack, w->few, sizeof w->few);
    }
    simt_resize(w, w->depth + 1);
    *w->top = e;
}

static struct simt_entry path(uint32_t pc, uint32_t rpc, uint32_t mask) {
    return (struct simt_entry){.pc = pc, .rpc = rpc, .mask = mask, .bar = -1};
}

void simt_init(struct warp *w, uint32_t mask) {
    w->depth = 0;
    w->live = mask;
    if (!w->stack) {
        w->stack = w->few;
        w->cap = sizeof w->few / sizeof *w->few;
    }
    simt_push(w, path(0, NO_RPC, mask));
}

/* Drops entries that are finished, wherever they stand. */
static void sweep(struct warp *w) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->depth; i++)
        if (w->stack[i].mask)
            w->stack[n++] = w->stack[i];
    simt_resize(w, n);
}

/* The path has come to its end, and does not wait there: a barrier may be its last instruction. */
static bool finished(const struct simt_entry *e) {
    return e->pc == e->rpc && !e->call && e->bar < 0;
}

/* Drops paths whose barrier has opened at their end while others ran. */
static void drop_finished(struct warp *w) {
    for (uint32_t i = 0; i < w->depth; i++)
        if (finished(&w->stack[i]))
            w->stack[i].mask = 0;
    sweep(w);
}

/* Moves the lowest entry that is runnable and has the wanted kind of wait to the top: it has waited longest.
 */
static bool raise(struct warp *w, bool syncing) {
    uint32_t above = 0, best = UINT32_MAX;
    drop_finished(w);
    for (uint32_t i = w->depth; i-- > 0;) {
        const struct simt_entry *e = &w->stack[i];
        if (e->mask && !(e->mask & above) && e->bar < 0 && !e->sync != syncing &&
            (syncing || i + 1 < w->depth))
            best = i;
        above |= e->mask;
    }
    if (best == UINT32_MAX)
        return false;
    struct simt_entry e = w->stack[best];
    memmove(&w->stack[best], &w->stack[best + 1], (w->depth - 1 - best) * sizeof e);
    *w->top = e;
    return true;
}

bool simt_rotate(struct warp *w) {
    return raise(w, false);
}

bool simt_yield(struct warp *w) {
    return simt_rotate(w) || simt_part(w, UINT32_MAX);
}

bool simt_part(struct warp *w, uint32_t lanes) {
    uint32_t above = 0;
    drop_finished(w);
    for (uint32_t i = w->depth; i-- > 0;) {
        struct simt_entry *e = &w->stack[i];
        uint32_t waiting = e->mask & ~above;
        above |= e->mask;
        if (i + 1 == w->depth || !(waiting & lanes) || e->bar >= 0 || e->sync)
            continue;
        struct simt_entry ahead = *e;
        ahead.mask = waiting;
        e->mask &= ~waiting;
        simt_push(w, ahead);
        return true;
    }
    return false;
}

bool simt_join(struct warp *w) {
    const uint32_t top = w->depth - 1;
    uint32_t above = 0, joined = 0;
    for (uint32_t i = w->depth; i-- > 0;) {
        struct simt_entry *e = &w->stack[i], *t = &w->stack[top];
        uint32_t lanes = e->mask;
        if (i != top && !(lanes & above) && e->pc == t->pc && e->rpc == t->rpc && e->call == t->call &&
            e->bar < 0 && !e->sync && !e->given) {
            joined |= lanes;
            e->mask = 0;
        }
        above |= lanes;
    }
    w->stack[top].mask |= joined;
    if (joined)
        sweep(w);
    return joined;
}

struct simt_entry *simt_settle(struct warp *w) {
    while (w->depth) {
        struct simt_entry *e = w->top;
        if (!e->mask || finished(e)) {
            simt_resize(w, w->depth - 1);
            continue;
        }
        if (e->bar < 0 && !e->sync)
            return e;
        if (e->bar >= 0 && w->depth == 1) /* there is no other path */
            return NULL;
        if (simt_rotate(w))
            continue;
        if (!raise(w, true))
            return NULL;
        w->top->sync = 0; /* nobody else can come: it looks again at who is missing */
    }
    return NULL;
}

void simt_diverge(struct warp *w, uint32_t taken, uint32_t target, uint32_t next, uint32_t rpc) {
    struct simt_entry *e = w->top;
    uint32_t others = e->mask & ~taken, outer = e->rpc;
    bool call = e->call;
    if (outer == rpc && !call) {
        simt_resize(w, w->depth - 1); /* the entry that waits at rpc is below already */
    } else {
        e->pc = rpc;
    }
    if (next != rpc)
        simt_push(w, path(next, rpc, others));
    if (target != rpc)
        simt_push(w, path(target, rpc, taken));
}

void simt_exit(struct warp *w, uint32_t lanes) {
    w->live &= ~lanes;
    for (uint32_t i = 0; i < w->depth; i++)
        w->stack[i].mask &= ~lanes;
    sweep(w);
}

void simt_return(struct warp *w, uint32_t lanes) {
    for (uint32_t i = w->depth; i-- > 0;) {
        struct simt_entry *e = &w->stack[i];
        if (!(e->mask & lanes))
            continue;
        e->mask &= ~lanes;
        if (e->call)
            break;
    }
    sweep(w);
}
