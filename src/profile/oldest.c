/* What the oldest warp of each scheduler waits for.
 *
 * The issue slots of the machine's own counters are charged to what some warp lacks: one that waits for
 * memory makes a slot a memory slot, whatever the others do. Here each cycle of a scheduler is charged to its
 * oldest warp alone, the one that greedy-then-oldest scheduling prefers: what holds it up holds up its block.
 *
 * A state lasts until the next one is told. A scheduler's cycles begin when one of its warps is first looked
 * at and end with its last warp; a warp that has exited is no longer the oldest. */
#include <stddef.h>
#include <stdlib.h>

#include "base/arena.h"
#include "profile/profile.h"

enum { MAX_SLOTS = 64, NOBODY = MAX_SLOTS };

struct oldest_counters {
    uint64_t of[PROBE_STATES]; /* cycles by state of the oldest warp; of DONE there are none */
};

#define ROW(state, name, meaning)                                                                            \
    {                                                                                                        \
        "oldest." name, "schedulers x cycles", "The oldest warp of a scheduler: " meaning ".",               \
            offsetof(struct oldest_counters, of[PROBE_STATE_##state])                                        \
    }
static const struct counter_info rows[] = {
    ROW(ISSUED, "issued", "its next instruction issued"),
    ROW(BARRIER, "barrier", "it waits at a barrier"),
    ROW(FENCE, "fence", "it waits for its stores at a memory fence"),
    ROW(CONTROL, "control", "it waits for the time a control instruction takes"),
    ROW(FETCHING, "fetch", "it has no instruction"),
    ROW(MEMORY, "memory", "its next instruction needs data of a load"),
    ROW(DATA, "data", "its next instruction needs the result of an earlier one"),
    ROW(UNIT, "unit", "units or the load/store queue are full"),
    ROW(COLLECTOR, "collector", "no operand collector is free"),
    ROW(MECHANISM, "mechanism", "a mechanism holds it back"),
    ROW(READY, "ready", "it is ready, and the scheduler took another"),
};

struct warp_slot {
    uint64_t born; /* order of arrival; 0: empty, or its warp has exited */
    uint8_t state, scheduler;
};

/* The warps of a scheduler. */
struct group {
    uint32_t oldest; /* its slot */
    uint64_t since;  /* cycle from which on its state is to be counted */
};

struct oldest_sm {
    struct oldest_counters n;
    uint64_t arrivals;
    struct warp_slot slots[MAX_SLOTS];
    struct group groups[MAX_SLOTS];
};

struct oldest {
    struct probe probe;
    uint32_t nsms;
    struct oldest_sm sms[];
};

/* Counts the state of the group's oldest warp up to a cycle. */
static void count_until(struct oldest_sm *sm, struct group *g, uint64_t cycle) {
    if (g->oldest == NOBODY || cycle <= g->since)
        return;
    sm->n.of[sm->slots[g->oldest].state] += cycle - g->since;
    g->since = cycle;
}

static void choose(struct oldest_sm *sm, uint32_t scheduler, uint64_t cycle) {
    struct group *g = &sm->groups[scheduler];
    g->oldest = NOBODY;
    for (uint32_t s = 0; s < MAX_SLOTS; s++)
        if (sm->slots[s].born && sm->slots[s].scheduler == scheduler &&
            (g->oldest == NOBODY || sm->slots[s].born < sm->slots[g->oldest].born))
            g->oldest = s;
    g->since = cycle;
}

/* The warp is none of those that could be the oldest any more. */
static void leave(struct oldest_sm *sm, uint32_t slot, uint64_t cycle) {
    struct warp_slot *w = &sm->slots[slot];
    uint32_t scheduler = w->scheduler;
    if (w->born && scheduler != NOBODY && sm->groups[scheduler].oldest == slot) {
        struct group *g = &sm->groups[scheduler];
        if (w->state == PROBE_STATE_ISSUED &&
            g->since == cycle) /* it exits in this cycle, which is its own */
            cycle++;
        count_until(sm, g, cycle);
        w->born = 0;
        choose(sm, scheduler, cycle);
    }
    w->born = 0;
}

static void on_state(struct oldest_sm *sm, const struct probe_event *e) {
    struct warp_slot *w = &sm->slots[e->slot];
    if (!w->born)
        return;
    if (e->state == PROBE_STATE_DONE) {
        leave(sm, e->slot, e->cycle);
        return;
    }
    struct group *g = &sm->groups[e->n];
    bool fresh = w->scheduler == NOBODY;
    w->scheduler = (uint8_t)e->n;
    if (g->oldest == e->slot)
        count_until(sm, g, e->cycle);
    w->state = e->state;
    if (fresh && g->oldest == NOBODY)
        choose(sm, e->n, e->cycle);
}

static void on_issue(struct oldest_sm *sm, const struct probe_event *e) {
    struct warp_slot *w = &sm->slots[e->slot];
    if (w->born && w->scheduler != NOBODY && sm->groups[w->scheduler].oldest == e->slot)
        count_until(sm, &sm->groups[w->scheduler], e->cycle);
    w->state = PROBE_STATE_ISSUED;
}

static void clear(struct oldest_sm *sm) {
    for (uint32_t s = 0; s < MAX_SLOTS; s++) {
        sm->slots[s].born = 0;
        sm->groups[s].oldest = NOBODY;
    }
}

static void on_event(struct probe *p, const struct probe_event *e) {
    struct oldest *o = (struct oldest *)p;
    struct oldest_sm *sm = &o->sms[e->sm];
    if (e->kind == PROBE_KERNEL_BEGIN) {
        for (uint32_t k = 0; k < o->nsms; k++)
            clear(&o->sms[k]);
        return;
    }
    if (e->stream || e->slot >= MAX_SLOTS)
        return; /* not the program's */
    if (e->kind == PROBE_WARP_BEGIN)
        sm->slots[e->slot] =
            (struct warp_slot){.born = ++sm->arrivals, .state = PROBE_STATE_FETCHING, .scheduler = NOBODY};
    else if (e->kind == PROBE_WARP_END)
        leave(sm, e->slot, e->cycle);
    else if (e->kind == PROBE_WARP_STATE)
        on_state(sm, e);
    else if (e->kind == PROBE_ISSUE)
        on_issue(sm, e);
}

/* ---- as a profile ---- */

static struct probe *create(const void *params, uint32_t sms) {
    (void)params;
    struct oldest *o = xcalloc(1, sizeof *o + sms * sizeof o->sms[0]);
    o->probe.event = on_event;
    o->probe.kinds = 1u << PROBE_KERNEL_BEGIN | 1u << PROBE_WARP_BEGIN | 1u << PROBE_WARP_END |
                     1u << PROBE_WARP_STATE | 1u << PROBE_ISSUE;
    o->nsms = sms;
    for (uint32_t k = 0; k < sms; k++)
        clear(&o->sms[k]);
    return &o->probe;
}

static void destroy(struct probe *p) {
    free(p);
}

static const void *counts(const struct probe *p, uint32_t sm) {
    return &((const struct oldest *)p)->sms[sm].n;
}

const struct profile_kind profile_oldest = {
    .counters = COUNTER_TABLE(rows),
    .create = create,
    .destroy = destroy,
    .counts = counts,
};
