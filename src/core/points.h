/* How the stages call the points of the mechanisms on this SM. A test of one bit is all that a machine
 * without them pays; what calls the mechanisms is kept out of the stages (points.c). */
#ifndef REPRISE_CORE_POINTS_H
#define REPRISE_CORE_POINTS_H

#include "core/core.h"

#define HAS(sm, point) __builtin_expect((sm)->mech.has >> MECH_AT_##point & 1, 0)

/* Calls a point that returns nothing. */
#define AT_POINT(sm, point, ...)                                                                             \
    do {                                                                                                     \
        if (HAS(sm, point))                                                                                  \
            point_##point(sm, __VA_ARGS__);                                                                  \
    } while (0)

#define COLD __attribute__((cold, noinline))
COLD void point_start(struct sm *sm, const void *const *marks);
COLD const char *point_finish(struct sm *sm);
COLD void point_block(struct sm *sm, uint32_t block, bool enters);
COLD void point_warp(struct sm *sm, uint32_t warp, bool enters);
/* Those that narrow a set of warps, or of lanes. */
COLD uint64_t point_fetch(struct sm *sm, uint64_t wanting, uint64_t now);
COLD uint64_t point_eligible(struct sm *sm, uint64_t ready, uint64_t now);
COLD uint32_t point_lanes(struct sm *sm, uint32_t warp, const struct xinst *i, uint32_t mask);
COLD uint32_t point_slots(struct sm *sm, uint32_t sched, uint32_t free, uint64_t now);
COLD void point_operands(struct sm *sm, uint32_t warp, const struct xinst *i, uint32_t mask);
COLD void point_control(struct sm *sm, uint32_t warp, const struct xinst *i, uint32_t mask);
/* Those at which an op can be taken: the first mechanism that does ends the round. from: where in the stack
 * it begins. */
COLD bool point_issued(struct sm *sm, int32_t op, uint64_t now, uint32_t from);
COLD bool point_access(struct sm *sm, int32_t op, uint64_t now);
COLD bool point_result(struct sm *sm, int32_t op, uint64_t now);
COLD uint32_t point_place(struct sm *sm, int32_t op, uint32_t k, bool write);
/* source: CORE_NONE for a read on behalf of a mechanism. */
COLD uint32_t point_read_arrays(struct sm *sm, int32_t op, int32_t source);
COLD uint32_t point_write_arrays(struct sm *sm, int32_t op, int32_t word);
COLD void point_arbitrate(struct sm *sm, uint64_t now);
COLD void point_dispatch(struct sm *sm, int32_t op);
COLD void point_read_done(struct sm *sm, int32_t op, uint64_t now);
COLD void point_arrived(struct sm *sm, uint32_t token, uint64_t now);
COLD void point_written(struct sm *sm, int32_t op, uint32_t k);
COLD void point_retire(struct sm *sm, int32_t op);
COLD void point_tick(struct sm *sm, uint64_t now);
COLD uint64_t point_next(const struct sm *sm, uint64_t now);
COLD void point_elapsed(struct sm *sm, uint64_t cycles);
COLD void point_describe(const struct sm *sm, struct str *out);

#endif
