/* The SM as mechanisms see it: they read struct sm, its warps and ops, and change them through these. */
#ifndef REPRISE_CORE_VIEW_H
#define REPRISE_CORE_VIEW_H

#include "core/core.h"
#include "core/regfile.h"

/* An operand collector is free. */
static inline bool core_collector_free(const struct sm *sm) {
    return sm->collectors_used < sm->spec->collectors;
}

/* The op takes a collector, which must be free, and reads its operands. */
void core_collect(struct sm *sm, int32_t op, uint64_t now);
/* The op, taken at issue, ends without being executed: its one destination register gets value, with which
 * the program goes on. */
void core_supply(struct sm *sm, int32_t op, const uint32_t value[WARP_LANES]);
/* Asks a bank for one more read on behalf of op; read_done follows. */
void core_read(struct sm *sm, int32_t op, uint32_t bank);
/* Destination word op->next_write of an op whose result was taken goes to its bank; written follows. */
void core_write(struct sm *sm, int32_t op);
/* The op ends: what it has on the scoreboard is released. */
void core_retire(struct sm *sm, int32_t op);
/* A new op of a warp for lanes mask, which does not take effect and has nothing on the scoreboard yet: a copy
 * of registers the mechanism needs. It is as if taken at issue. CORE_NONE when there is no room. */
int32_t core_inject(struct sm *sm, uint32_t warp, const struct xinst *i, uint32_t mask);
/* The warp, whose buffer is empty, goes on n instructions further without having fetched these. */
void core_skip(struct sm *sm, uint32_t warp, uint32_t n);

#endif
