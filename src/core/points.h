/* How the stages call the points of the mechanisms on this SM. Each test of HAS is all that a machine without
 * them pays. */
#ifndef REPRISE_CORE_POINTS_H
#define REPRISE_CORE_POINTS_H

#include "core/core.h"

#define HAS(sm, point) __builtin_expect((sm)->mech.has >> MECH_AT_##point & 1, 0)

/* Runs the statement for each mechanism that has the point; its state is `state`, its operation `at`. */
#define EACH_POINT(sm, point, ...)                                                                           \
    for (uint32_t each = 0; each < (sm)->mech.n; each++) {                                                   \
        const struct mech_points *points = (sm)->mech.at[each].points;                                       \
        void *state = (sm)->mech.at[each].state;                                                             \
        (void)state;                                                                                         \
        if (points->point) {                                                                                 \
            __VA_ARGS__;                                                                                     \
        }                                                                                                    \
    }

/* Calls a point that returns nothing. */
#define AT_POINT(sm, point, ...)                                                                             \
    do {                                                                                                     \
        if (HAS(sm, point))                                                                                  \
            EACH_POINT(sm, point, points->point(state, __VA_ARGS__))                                         \
    } while (0)

/* The first mechanism that takes the op ends the round. */
#define TAKEN_AT(sm, point, op, now)                                                                         \
    (HAS(sm, point) && point_taken(sm, offsetof(struct mech_points, point), op, now))

#include <stddef.h>

/* For the points of the form verdict (m, op, now). */
static inline bool point_taken(struct sm *sm, size_t point, int32_t op, uint64_t now) {
    for (uint32_t k = 0; k < sm->mech.n; k++) {
        enum mech_verdict (*fn)(void *m, int32_t op, uint64_t now);
        const char *at = (const char *)sm->mech.at[k].points + point;
        __builtin_memcpy(&fn, at, sizeof fn);
        if (fn && fn(sm->mech.at[k].state, op, now) == MECH_TAKEN)
            return true;
    }
    return false;
}

/* For the points that narrow a set of warps. */
static inline uint64_t point_fetch(struct sm *sm, uint64_t set, uint64_t now) {
    EACH_POINT(sm, fetch, set = points->fetch(state, set, now))
    return set;
}

static inline uint64_t point_eligible(struct sm *sm, uint64_t set, uint64_t now) {
    EACH_POINT(sm, eligible, set = set ? points->eligible(state, set, now) : 0)
    return set;
}

/* source: CORE_NONE for a read on behalf of a mechanism. */
static inline uint32_t point_read_arrays(struct sm *sm, int32_t op, int32_t source) {
    uint32_t arrays = sm->ops[op].read_arrays;
    EACH_POINT(sm, arrays, arrays = points->arrays(state, op, source, false, arrays))
    return arrays;
}

static inline uint32_t point_write_arrays(struct sm *sm, int32_t op, int32_t word) {
    uint32_t arrays = sm->ops[op].write_arrays;
    EACH_POINT(sm, arrays, arrays = points->arrays(state, op, word, true, arrays))
    return arrays;
}

#endif
