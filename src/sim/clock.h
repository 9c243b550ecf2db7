/* Clock domains. The core clock is the master: time is counted in core cycles, and every other clock is an
 * exact fraction of it. Its ticks are numbered from 0; tick k falls into core cycle floor(k * core / own
 * frequency). Nothing accumulates, so no error does, and a run that jumps over idle cycles sees the same
 * ticks as one that does not. */
#ifndef REPRISE_SIM_CLOCK_H
#define REPRISE_SIM_CLOCK_H

#include "sim/divide.h"

#define NEVER UINT64_MAX /* the next cycle of a unit that waits for others */

/* A clock of num ticks in den core cycles, in lowest terms. */
struct clock {
    uint64_t num, den;
    struct divisor by_num, by_den;
    uint64_t small; /* products of smaller numbers with either fit into 64 bits */
};

/* The clock of khz beside a core clock of core_khz; both at least 1. */
struct clock clock_make(uint64_t khz, uint64_t core_khz);

/* floor(a * b / c) and ceil(a * b / c) without overflow in between. */
uint64_t clock_scale_down(uint64_t a, uint64_t b, uint64_t c);
uint64_t clock_scale_up(uint64_t a, uint64_t b, uint64_t c);

/* The core cycle into which a tick falls. */
static inline uint64_t clock_cycle(const struct clock *c, uint64_t tick) {
    if (tick == NEVER || c->num == c->den)
        return tick;
    return tick < c->small ? divide(&c->by_num, tick * c->den) : clock_scale_down(tick, c->den, c->num);
}

/* The first tick that falls into core cycle cycle or a later one. */
static inline uint64_t clock_tick(const struct clock *c, uint64_t cycle) {
    if (c->num == c->den)
        return cycle;
    return cycle < c->small ? divide(&c->by_den, cycle * c->num + c->den - 1)
                            : clock_scale_up(cycle, c->num, c->den);
}

static inline uint64_t min_u64(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static inline uint64_t max_u64(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

#endif
