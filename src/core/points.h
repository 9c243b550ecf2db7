/* How the stages call the points of the mechanisms on this SM. A test of one bit is all that a machine
 * without them pays; what calls the mechanisms is kept out of the stages (points.c). */
#ifndef REPRISE_CORE_POINTS_H
#define REPRISE_CORE_POINTS_H

#include "core/core.h"

/* What the stages ask of the stack: how many mechanisms there are, whether one has a point, who is called
 * there and with which state, whether it skips instructions, takes every op at issue, does not care for the
 * order of results, wants issue slots or has gates that are not open; which warps run code of its own or
 * concern its gates and slots, and whether it is told of an instruction, or asked whether it wants to be.
 *
 * A mechanism that is alone on the machine has a copy of the stages of its own, compiled together with it and
 * with its struct's name as CORE_ALONE (meson.build): most answers are constants there, and points are calls
 * of known functions, which can be inlined.
 *
 * BESIDE: instructions go their way as without mechanisms, for one of two reasons: there are none (the shape
 * says so), or the one for which this copy is compiled only acts beside them (life.beside). Functions out of
 * line that are called there only have SHAPE_BESIDE. AHEAD: they do so behind their issue, at least
 * (life.ahead). */
#ifdef CORE_ALONE
extern const struct mechanism CORE_ALONE;
#define SHAPE_HERE SHAPE_USUAL /* the least that functions without a shape can take for granted */
#define PORTS(sm)  false       /* of collectors: they take whatever comes */
#define MECHS(sm)  1
#define HAS(sm, group, point)                                                                                \
    ((void)(sm),                                                                                             \
     CORE_ALONE.points.group.point && !(CORE_ALONE.points.life.ignores >> MECH_AT_##group##_##point & 1))
#define FIRST_POINTS(sm)        (&CORE_ALONE.points)
#define OWNER_POINTS(sm, group) (&CORE_ALONE.points)
#define OWNER_STATE(sm, group)  ((sm)->mech.at[0].state)
#define SKIPS(sm)               (CORE_ALONE.points.stream.fetch || CORE_ALONE.points.stream.decoded)
#define TAKES_EVERY(sm)         CORE_ALONE.points.front.every
#define STREAMS(sm)             (CORE_ALONE.points.stream.own_code ? (sm)->streaming : 0)
#define ANY_ORDER(sm)           CORE_ALONE.points.life.any_order
#define SLOTS(sm)               (CORE_ALONE.points.gate.slots ? (sm)->mech.slots : SLOTS_NEVER)
#define GATES(sm)               (CORE_ALONE.points.gate.eligible ? (sm)->mech.gates : 0)
#define CONCERN(sm)             (CORE_ALONE.points.gate.slots || CORE_ALONE.points.gate.eligible ? (sm)->mech.concern : 0)
#define BESIDE(shape)           ((shape) >= SHAPE_BASE || CORE_ALONE.points.life.beside)
#define AHEAD(shape)            (BESIDE(shape) || CORE_ALONE.points.life.ahead)
#define SHAPE_BESIDE            SHAPE_USUAL
#define ASKS_ISSUE              (CORE_ALONE.points.registers.silent != NULL)
#define INJECTS(sm)             (!AHEAD(SHAPE_USUAL) || (BESIDE(SHAPE_USUAL) && CORE_ALONE.points.gate.slots))
#define TELLS_OF(need)          (!CORE_ALONE.concerns || (need)->told)
#define TELLS_ISSUE(sm)                                                                                      \
    (HAS(sm, registers, fill) || HAS(sm, values, sources) || HAS(sm, watch, before) ||                       \
     HAS(sm, watch, issued) || HAS(sm, front, take) || TAKES_EVERY(sm))
#else
#define SHAPE_HERE              SHAPE_ANY
#define PORTS(sm)               ((sm)->ports != NULL)
#define MECHS(sm)               ((sm)->mech.n)
#define HAS(sm, group, point)   __builtin_expect((sm)->mech.has >> MECH_AT_##group##_##point & 1, 0)
#define FIRST_POINTS(sm)        ((sm)->mech.at[0].points)
#define OWNER_POINTS(sm, group) ((sm)->mech.owner[MECH_##group].points)
#define OWNER_STATE(sm, group)  ((sm)->mech.owner[MECH_##group].state)
#define SKIPS(sm)               ((sm)->mech.skips)
#define TAKES_EVERY(sm)         ((sm)->mech.takes_every)
#define STREAMS(sm)             ((sm)->streaming)
#define ANY_ORDER(sm)           ((sm)->mech.any_order)
#define SLOTS(sm)               ((sm)->mech.slots)
#define GATES(sm)               ((sm)->mech.gates)
#define CONCERN(sm)             ((sm)->mech.concern)
#define BESIDE(shape)           ((shape) >= SHAPE_BASE)
#define AHEAD(shape)            BESIDE(shape)
#define SHAPE_BESIDE            SHAPE_BASE
#define ASKS_ISSUE              false
#define INJECTS(sm)             true
#define TELLS_OF(need)          ((need)->told)
#define TELLS_ISSUE(sm)         true
#endif

/* The op is one that a mechanism injected, where that is not ruled out. */
static inline bool is_injected(const struct core_op *op, enum core_shape shape) {
    return shape < SHAPE_BASE && INJECTS(sm) && op->pc == CORE_NO_PC;
}

/* Calls a point that returns nothing. */
#define AT_POINT(sm, group, point, ...)                                                                      \
    do {                                                                                                     \
        if (HAS(sm, group, point))                                                                           \
            point_##group##_##point(sm, __VA_ARGS__);                                                        \
    } while (0)

/* Calls a point of a group that has one owner. */
#define OWNER(sm, group, point, ...)                                                                         \
    (OWNER_POINTS(sm, group)->group.point(OWNER_STATE(sm, group), __VA_ARGS__))

/* A launch begins or ends: the stack is what it was made. */
void mechs_wake(struct sm *sm);
/* life.start was called: if no mechanism has anything to do, the launch goes on as without any. */
void mechs_rest(struct sm *sm);

/* Groups that are open to all: every mechanism of the stack that has the point, in order. */
APART void point_life_start(struct sm *sm, const void *const *marks);
APART const char *point_life_finish(struct sm *sm, bool cut);
APART bool point_life_admit(struct sm *sm, uint32_t warps);
APART void point_life_block(struct sm *sm, uint32_t block, bool enters);
APART void point_life_warp(struct sm *sm, uint32_t warp, bool enters);
APART uint64_t point_life_next(const struct sm *sm, uint64_t now);
APART void point_life_elapsed(struct sm *sm, uint64_t cycles);
APART void point_life_describe(const struct sm *sm, struct str *out);
APART void point_watch_control(struct sm *sm, uint32_t warp, const struct xinst *i, uint32_t mask);
APART void point_watch_barrier(struct sm *sm, uint32_t block, uint64_t warps, bool opened);
APART uint64_t each_gate_eligible(struct sm *sm, uint64_t ready, uint64_t now);
/* watch.retire of all but the mechanism of this state. */
APART void point_retire_others(struct sm *sm, int32_t op, const void *state);
APART bool point_gate_refuses(const struct sm *sm, uint64_t ready);
APART uint32_t each_gate_slots(struct sm *sm, uint32_t sched, uint64_t ready, uint32_t free, uint64_t now);

/* Points that are called for every cycle or instruction, of such groups: X(group, name, parameters,
 * arguments). Most stacks are one mechanism, which then has the point, as nobody would have called otherwise.
 */
#define OFTEN_POINTS(X)                                                                                      \
    X(life, tick, (struct sm * sm, uint64_t now), now)                                                       \
    X(watch, before, (struct sm * sm, uint32_t warp, const struct xinst *i, uint32_t mask), warp, i, mask)   \
    X(watch, issued, (struct sm * sm, int32_t op), op)                                                       \
    X(watch, collected, (struct sm * sm, int32_t op), op)                                                    \
    X(watch, result, (struct sm * sm, int32_t op), op)                                                       \
    X(watch, written, (struct sm * sm, int32_t op, uint32_t k), op, k)                                       \
    X(watch, retire, (struct sm * sm, int32_t op), op)
#define X(group, point, parameters, ...)                                                                     \
    APART void each_##group##_##point parameters;                                                            \
    static inline void point_##group##_##point parameters {                                                  \
        if (__builtin_expect(MECHS(sm) == 1, 1))                                                             \
            FIRST_POINTS(sm)->group.point(sm->mech.at[0].state, __VA_ARGS__);                                \
        else                                                                                                 \
            each_##group##_##point(sm, __VA_ARGS__);                                                         \
    }
OFTEN_POINTS(X)
#undef X

/* Issue slots of a scheduler that mechanisms use, of those that are free. */
static inline uint32_t point_gate_slots(struct sm *sm, uint32_t sched, uint64_t ready, uint32_t free,
                                        uint64_t now) {
    if (__builtin_expect(MECHS(sm) == 1, 1)) /* and it wants to be asked */
        return FIRST_POINTS(sm)->gate.slots(sm->mech.at[0].state, sched, free, now);
    return each_gate_slots(sm, sched, ready, free, now);
}

/* Those of these warps that all gates which are not open let pass. */
static inline uint64_t point_gate_eligible(struct sm *sm, uint64_t ready, uint64_t now) {
    if (__builtin_expect(MECHS(sm) == 1, 1)) /* and its gate is not open */
        return FIRST_POINTS(sm)->gate.eligible(sm->mech.at[0].state, ready, now);
    return each_gate_eligible(sm, ready, now);
}

#endif
