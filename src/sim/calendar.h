/* Numbers by the cycle in which they are due. Those of the next CALENDAR_SLOTS cycles are found at once; what
 * is due later only tells that somebody must look at all of them then. */
#ifndef REPRISE_SIM_CALENDAR_H
#define REPRISE_SIM_CALENDAR_H

#include "sim/clock.h"
#include "sim/pool.h"

enum { CALENDAR_SLOTS = 64 };

struct calendar {
    struct bits slot[CALENDAR_SLOTS]; /* by the cycle, modulo their number */
    uint64_t filled;                  /* slots that are not empty */
    uint64_t far;                     /* the first cycle of what has no slot; NEVER: there is none */
};

static inline void calendar_init(struct calendar *c, struct arena *a, uint32_t size) {
    for (uint32_t k = 0; k < CALENDAR_SLOTS; k++)
        bits_init(&c->slot[k], a, size);
    c->far = NEVER;
}

static inline void calendar_clear(struct calendar *c) {
    for (; c->filled; c->filled &= c->filled - 1) {
        struct bits *b = &c->slot[__builtin_ctzll(c->filled)];
        BITS_EACH (b, i)
            bits_remove(b, i);
    }
    c->far = NEVER;
}

/* i is due in a cycle after now; who changes its mind leaves the old entry behind. */
static inline void calendar_add(struct calendar *c, uint32_t i, uint64_t cycle, uint64_t now) {
    if (cycle - now < CALENDAR_SLOTS) {
        bits_add(&c->slot[cycle % CALENDAR_SLOTS], i);
        c->filled |= UINT64_C(1) << cycle % CALENDAR_SLOTS;
    } else if (cycle < c->far) {
        c->far = cycle;
    }
}

/* The first cycle after now for which there is an entry; NEVER: none. */
static inline uint64_t calendar_next(const struct calendar *c, uint64_t now) {
    if (!c->filled)
        return c->far;
    uint32_t turn = (uint32_t)((now + 1) % CALENDAR_SLOTS);
    uint64_t turned = turn ? c->filled >> turn | c->filled << (CALENDAR_SLOTS - turn) : c->filled;
    return min_u64(c->far, now + 1 + (uint64_t)__builtin_ctzll(turned));
}

/* The entries of cycle now, to be emptied; no earlier cycle has any. */
static inline struct bits *calendar_today(struct calendar *c, uint64_t now) {
    c->filled &= ~(UINT64_C(1) << now % CALENDAR_SLOTS);
    return &c->slot[now % CALENDAR_SLOTS];
}

#endif
