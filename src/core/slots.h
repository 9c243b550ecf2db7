/* What ready warps lack, and the accounts of issue slots: why each that was not used was not. */
#ifndef REPRISE_CORE_SLOTS_H
#define REPRISE_CORE_SLOTS_H

#include "core/points.h"

/* Why a warp that is ready does not issue. */
enum shortage { NO_SHORTAGE, NO_UNIT, NO_COLLECTOR, REFUSED };

/* Resources an instruction needs beside its operands; without them only control instructions can go. */
static inline enum shortage shortage(const struct sm *sm, enum core_shape shape) {
    if (sm->free_op == CORE_NONE)
        return NO_UNIT;
    if (sm->collectors_free[COLLECT_SP] || (shape < SHAPE_SINGLE && (sm->kinds_apart || TAKES_EVERY(sm))))
        return NO_SHORTAGE;
    return sm->ready_units ? NO_UNIT : NO_COLLECTOR;
}

/* Where collectors are divided: warps of a set whose next instruction finds one of its kind, or needs none.
 */
static inline uint64_t collector_possible(const struct sm *sm, uint64_t set) {
    for (uint32_t k = 0; k < COLLECT_KINDS; k++)
        if (!sm->collectors_free[k])
            set &= ~sm->kind[k] | sm->control;
    return set;
}

/* Warps of a set whose next instruction finds the op, collector and room for accesses that it needs. */
static inline uint64_t issue_possible(const struct sm *sm, uint64_t set, enum shortage *why,
                                      enum core_shape shape) {
    *why = shortage(sm, shape);
    if (*why != NO_SHORTAGE)
        return set & sm->control;
    if (shape < SHAPE_SINGLE && sm->kinds_apart && !TAKES_EVERY(sm)) {
        uint64_t possible = collector_possible(sm, set);
        if (set && !possible) {
            *why = sm->ready_units ? NO_UNIT : NO_COLLECTOR;
            return 0;
        }
        set = possible;
    }
    if (sm->naccess_free)
        return set;
    *why = NO_UNIT;
    return without_access(sm, set);
}

/* Warps that are ready, but taken out of scheduling by a mechanism. */
static inline uint64_t held_back(const struct sm *sm, enum core_shape shape) {
    return BESIDE(shape) ? 0 : sm->parked & sm->clear & ~STREAMS(sm);
}

/* Counts slots of a scheduler in which nothing issued; tried: warps that were ready. */
static inline void slots_stalled(struct sm *sm, uint32_t sched, enum shortage why, uint64_t tried,
                                 uint64_t slots, enum core_shape shape) {
    uint64_t here = sm->group[sched] & sm->resident, buffered = here & sm->valid & ~sm->blocked;
    uint64_t *counter = &sm->n.slot_fetch;
    if (tried)
        counter = why == NO_UNIT   ? &sm->n.slot_unit
                  : why == REFUSED ? &sm->n.slot_mechanism
                                   : &sm->n.slot_collector;
    else if (!here)
        counter = &sm->n.slot_idle;
    else if (buffered & held_back(sm, shape))
        counter = &sm->n.slot_mechanism;
    else if (buffered & sm->on_memory)
        counter = &sm->n.slot_memory;
    else if (buffered)
        counter = &sm->n.slot_data;
    else if (here & sm->blocked)
        counter = &sm->n.slot_barrier;
    *counter += slots;
}

/* The same for so many cycles of all n schedulers, none of which has a warp that is ready. */
static inline void slots_all_stalled(struct sm *sm, uint64_t cycles, uint32_t n, enum core_shape shape) {
    uint64_t resident = sm->resident, blocked = sm->blocked, buffered = resident & sm->valid & ~blocked;
    uint64_t memory = buffered & sm->on_memory, held = buffered & held_back(sm, shape);
    uint64_t slots = shape >= SHAPE_USUAL ? cycles : cycles * sm->spec->width;
    for (uint32_t k = 0; k < n; k++) {
        uint64_t group = sm->group[k];
        if (group & held)
            sm->n.slot_mechanism += slots;
        else if (group & memory)
            sm->n.slot_memory += slots;
        else if (group & buffered)
            sm->n.slot_data += slots;
        else if (!(group & resident))
            sm->n.slot_idle += slots;
        else if (group & resident & blocked)
            sm->n.slot_barrier += slots;
        else
            sm->n.slot_fetch += slots;
    }
}

#endif
