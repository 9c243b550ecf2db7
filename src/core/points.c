/* The points, called for each mechanism of the stack that has them, in its order. */
#include "core/points.h"

/* Runs the statement for each mechanism from number first that has the point: `points` are its operations,
 * `state` its state. */
#define EACH_FROM(first, sm, point, ...)                                                                     \
    for (uint32_t each = (first); each < (sm)->mech.n; each++) {                                             \
        const struct mech_points *points = (sm)->mech.at[each].points;                                       \
        void *state = (sm)->mech.at[each].state;                                                             \
        if (points->point) {                                                                                 \
            __VA_ARGS__;                                                                                     \
        }                                                                                                    \
    }
#define EACH(sm, point, ...) EACH_FROM(0, sm, point, __VA_ARGS__)

void point_start(struct sm *sm, const void *const *marks) {
    EACH(sm, start, points->start(state, marks[each]))
}

const char *point_finish(struct sm *sm) {
    const char *wrong = NULL, *now;
    EACH(sm, finish, now = points->finish(state); wrong = wrong ? wrong : now)
    return wrong;
}

void point_block(struct sm *sm, uint32_t block, bool enters) {
    EACH(sm, block, points->block(state, block, enters))
}

void point_warp(struct sm *sm, uint32_t warp, bool enters) {
    EACH(sm, warp, points->warp(state, warp, enters));
}

uint64_t point_fetch(struct sm *sm, uint64_t wanting, uint64_t now) {
    EACH(sm, fetch, wanting = wanting ? points->fetch(state, wanting, now) : 0)
    return wanting;
}

uint64_t point_eligible(struct sm *sm, uint64_t ready, uint64_t now) {
    EACH(sm, eligible, ready = ready ? points->eligible(state, ready, now) : 0)
    return ready;
}

uint32_t point_lanes(struct sm *sm, uint32_t warp, const struct xinst *i, uint32_t mask) {
    EACH(sm, lanes, mask &= points->lanes(state, warp, i, mask))
    return mask;
}

uint32_t point_slots(struct sm *sm, uint32_t sched, uint32_t free, uint64_t now) {
    uint32_t used = 0;
    EACH(sm, slots, used += used < free ? points->slots(state, sched, free - used, now) : 0)
    return used;
}

void point_operands(struct sm *sm, uint32_t warp, const struct xinst *i, uint32_t mask) {
    EACH(sm, operands, points->operands(state, warp, i, mask))
}

void point_control(struct sm *sm, uint32_t warp, const struct xinst *i, uint32_t mask) {
    EACH(sm, control, points->control(state, warp, i, mask))
}

/* The op may end before the point returns, and its number be another's: it is marked before. */
bool point_issued(struct sm *sm, int32_t op, uint64_t now, uint32_t from) {
    EACH_FROM(from, sm, issued, sm->ops[op].holder = (uint8_t)each;
              if (points->issued(state, op, now) == MECH_TAKEN) return true)
    return false;
}

bool point_access(struct sm *sm, int32_t op, uint64_t now) {
    EACH(sm, access, if (points->access(state, op, now) == MECH_TAKEN) return true)
    return false;
}

bool point_result(struct sm *sm, int32_t op, uint64_t now) {
    sm->ops[op].taken = true;
    EACH(sm, result, sm->ops[op].holder = (uint8_t)each;
         if (points->result(state, op, now) == MECH_TAKEN) return true)
    sm->ops[op].taken = false;
    return false;
}

uint32_t point_place(struct sm *sm, int32_t op, uint32_t k, bool write) {
    uint32_t place = 0;
    EACH(sm, place, place = points->place(state, op, k, write))
    return place;
}

uint32_t point_read_arrays(struct sm *sm, int32_t op, int32_t source) {
    uint32_t arrays = sm->ops[op].read_arrays;
    EACH(sm, arrays, arrays = points->arrays(state, op, source, false, arrays))
    return arrays;
}

uint32_t point_write_arrays(struct sm *sm, int32_t op, int32_t word) {
    uint32_t arrays = sm->ops[op].write_arrays;
    EACH(sm, arrays, arrays = points->arrays(state, op, word, true, arrays))
    return arrays;
}

void point_arbitrate(struct sm *sm, uint64_t now) {
    EACH(sm, arbitrate, points->arbitrate(state, now))
}

void point_dispatch(struct sm *sm, int32_t op) {
    EACH(sm, dispatch, sm->ops[op].lanes = (uint8_t)points->dispatch(state, op, sm->ops[op].lanes))
}

void point_read_done(struct sm *sm, int32_t op, uint64_t now) {
    EACH(sm, read_done, points->read_done(state, op, now))
}

void point_arrived(struct sm *sm, uint32_t token, uint64_t now) {
    EACH(sm, arrived, points->arrived(state, token, now))
}

/* The mechanism that took the result comes last, because it may end the op. */
void point_written(struct sm *sm, int32_t op, uint32_t k) {
    uint32_t last = sm->ops[op].taken ? sm->ops[op].holder : MECH_MAX;
    EACH(sm, written, if (each != last) points->written(state, op, k))
    EACH_FROM(last, sm, written, points->written(state, op, k); return )
}

void point_retire(struct sm *sm, int32_t op) {
    EACH(sm, retire, points->retire(state, op))
}

void point_tick(struct sm *sm, uint64_t now) {
    EACH(sm, tick, points->tick(state, now));
}

uint64_t point_next(const struct sm *sm, uint64_t now) {
    uint64_t next = NEVER, own;
    EACH(sm, next, own = points->next(state, now); next = own < next ? own : next)
    return next;
}

void point_elapsed(struct sm *sm, uint64_t cycles) {
    EACH(sm, elapsed, points->elapsed(state, cycles))
}

void point_describe(const struct sm *sm, struct str *out) {
    EACH(sm, describe, points->describe(state, out))
}
