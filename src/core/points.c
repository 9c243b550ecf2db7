/* The points that are open to all, called for each mechanism of the stack that has them, in its order. */
#include "core/points.h"
#include "core/view.h"

/* Runs the statement for each mechanism that has the point: `points` are its operations, `state` its state.
 */
#define EACH(sm, group, point, ...)                                                                          \
    for (uint32_t each = 0; each < (sm)->mech.n; each++) {                                                   \
        const struct mech_points *points = (sm)->mech.at[each].points;                                       \
        void *state = (sm)->mech.at[each].state;                                                             \
        if (points->group.point) {                                                                           \
            __VA_ARGS__;                                                                                     \
        }                                                                                                    \
    }

void point_life_start(struct sm *sm, const void *const *marks) {
    EACH(sm, life, start, points->life.start(state, marks[each]))
}

const char *point_life_finish(struct sm *sm, bool cut) {
    const char *wrong = NULL, *now;
    EACH(sm, life, finish, now = points->life.finish(state, cut); wrong = wrong ? wrong : now)
    return wrong;
}

bool point_life_admit(struct sm *sm, uint32_t warps) {
    EACH(sm, life, admit, if (!points->life.admit(state, warps)) return false)
    return true;
}

void point_life_block(struct sm *sm, uint32_t block, bool enters) {
    EACH(sm, life, block, points->life.block(state, block, enters))
}

void point_life_warp(struct sm *sm, uint32_t warp, bool enters) {
    EACH(sm, life, warp, points->life.warp(state, warp, enters));
}

uint64_t point_life_next(const struct sm *sm, uint64_t now) {
    if (__builtin_expect(MECHS(sm) == 1, 1))
        return FIRST_POINTS(sm)->life.next(sm->mech.at[0].state, now);
    uint64_t next = NEVER, own;
    EACH(sm, life, next, own = points->life.next(state, now); next = own < next ? own : next)
    return next;
}

void point_life_elapsed(struct sm *sm, uint64_t cycles) {
    EACH(sm, life, elapsed, points->life.elapsed(state, cycles))
}

void point_life_describe(const struct sm *sm, struct str *out) {
    EACH(sm, life, describe, points->life.describe(state, out));
}

void point_watch_control(struct sm *sm, uint32_t warp, const struct xinst *i, uint32_t mask) {
    EACH(sm, watch, control, points->watch.control(state, warp, i, mask))
}

void point_watch_barrier(struct sm *sm, uint32_t block, uint64_t warps, bool opened) {
    EACH(sm, watch, barrier, points->watch.barrier(state, block, warps, opened));
}

void point_retire_others(struct sm *sm, int32_t op, const void *except) {
    EACH(sm, watch, retire, if (state != except) points->watch.retire(state, op))
}

uint64_t each_gate_eligible(struct sm *sm, uint64_t ready, uint64_t now) {
    for (uint32_t left = sm->mech.gates; left && ready; left &= left - 1) {
        uint32_t each = (uint32_t)__builtin_ctz(left);
        if (ready & sm->mech.at[each].concern)
            ready = sm->mech.at[each].points->gate.eligible(sm->mech.at[each].state, ready, now);
    }
    return ready;
}

/* All of these warps are refused until something changes. */
bool point_gate_refuses(const struct sm *sm, uint64_t ready) {
    return MECHS(sm) == 1 && GATES(sm) && !sm->probe &&
           FIRST_POINTS(sm)->gate.refused(sm->mech.at[0].state, ready) == ready;
}

uint32_t each_gate_slots(struct sm *sm, uint32_t sched, uint64_t ready, uint32_t free, uint64_t now) {
    uint32_t used = 0;
    for (uint32_t each = 0; each < sm->mech.n && used < free; each++) {
        enum mech_slots want = sm->mech.at[each].slots;
        if (want == SLOTS_ALWAYS || (want == SLOTS_READY && ready & sm->mech.at[each].concern))
            used += sm->mech.at[each].points->gate.slots(sm->mech.at[each].state, sched, free - used, now);
    }
    return used;
}

void core_open_gate(struct sm *sm, const void *state, bool open) {
    for (uint32_t each = 0; each < sm->mech.n; each++)
        if (sm->mech.at[each].state == state && sm->mech.at[each].points->gate.eligible)
            sm->mech.gates = (sm->mech.gates & ~(1u << each)) | (uint32_t)!open << each;
}

void core_ignore(struct sm *sm, const void *state, enum mech_point point) {
    if (sm->mech.n == 1 && sm->mech.at[0].state == state)
        sm->mech.has &= ~(UINT64_C(1) << point);
}

void core_rest(struct sm *sm, const void *state) {
    for (uint32_t each = 0; each < sm->mech.n; each++)
        sm->mech.at[each].rests |= sm->mech.at[each].state == state;
}

void mechs_wake(struct sm *sm) {
    if (sm->resting.n)
        sm->mech = sm->resting;
    sm->resting.n = 0;
    for (uint32_t each = 0; each < sm->mech.n; each++)
        sm->mech.at[each].rests = false;
}

void mechs_rest(struct sm *sm) {
    bool all = sm->mech.n > 0;
    for (uint32_t each = 0; each < sm->mech.n; each++)
        all &= sm->mech.at[each].rests;
    if (!all)
        return;
    sm->resting = sm->mech;
    sm->mech = (struct mech_stack){0};
}

void core_want_slots(struct sm *sm, const void *state, enum mech_slots when) {
    enum mech_slots most = SLOTS_NEVER;
    for (uint32_t each = 0; each < sm->mech.n; each++) {
        if (sm->mech.at[each].state == state && sm->mech.at[each].points->gate.slots)
            sm->mech.at[each].slots = when;
        most = sm->mech.at[each].slots > most ? sm->mech.at[each].slots : most;
    }
    sm->mech.slots = most;
}

#define X(group, point, parameters, ...)                                                                     \
    void each_##group##_##point parameters {                                                                 \
        EACH(sm, group, point, points->group.point(state, __VA_ARGS__))                                      \
    }
OFTEN_POINTS(X)
#undef X
