/* Scheduling: each scheduler picks a warp whose next instruction may go, by its policy. */
#include "core/points.h"
#include "core/slots.h"

static inline uint32_t oldest(const struct sm *sm, uint64_t set) {
    uint32_t best = (uint32_t)__builtin_ctzll(set);
    while (set &= sm->older[best])
        best = (uint32_t)__builtin_ctzll(set);
    return best;
}

static uint32_t after(uint64_t set, uint32_t last) {
    uint64_t above = last >= 63 ? 0 : set & (~UINT64_C(0) << (last + 1));
    return (uint32_t)__builtin_ctzll(above ? above : set);
}

static uint32_t pick_lrr(const struct sm *sm, uint32_t sched, uint64_t set) {
    return after(set, sm->last[sched]);
}

static inline uint32_t pick_gto(const struct sm *sm, uint32_t sched, uint64_t set) {
    return set >> sm->last[sched] & 1 ? sm->last[sched] : oldest(sm, set);
}

static uint32_t pick_oldest(const struct sm *sm, uint32_t sched, uint64_t set) {
    (void)sched;
    return oldest(sm, set);
}

/* The strategies: which of the ready warps goes next. */
static uint32_t (*const pick[])(const struct sm *sm, uint32_t sched, uint64_t set) = {
    [SCHED_LRR] = pick_lrr,
    [SCHED_GTO] = pick_gto,
    [SCHED_TWO_LEVEL] = pick_lrr,
    [SCHED_OLDEST] = pick_oldest,
};

/* The usual one without a call. */
static inline uint32_t choose_warp(const struct sm *sm, uint32_t sched, uint64_t set, enum core_shape shape) {
    return shape >= SHAPE_USUAL || sm->spec->policy == SCHED_GTO ? pick_gto(sm, sched, set)
                                                                 : pick[sm->spec->policy](sm, sched, set);
}

/* Two-level: warps that wait for memory, a barrier or something of a mechanism's, or have nothing to issue
 * because a mechanism keeps the next instruction from them, or because the SM was halted. What they wait for
 * may take a warp that is not in the active set. */
static uint64_t long_waits(const struct sm *sm) {
    uint64_t kept = (sm->holding | (sm->kept & sm->hungry) | ~sm->fetchers) & ~sm->valid;
    return sm->blocked | sm->parked | (sm->on_memory & ~sm->clear) | kept;
}

/* Those leave the active set, others fill it up in turn. */
uint64_t sched_active(struct sm *sm, uint32_t sched) {
    uint64_t *a = &sm->active[sched], pool = sm->group[sched] & sm->resident & ~long_waits(sm);
    *a &= pool;
    pool &= ~*a;
    while (pool && warps_of(*a) < sm->spec->active) {
        uint32_t s = after(pool, sm->last[sched]);
        *a |= warp_bit(s);
        pool &= ~warp_bit(s);
    }
    return *a;
}

static enum probe_state state_of_shortage(enum shortage why) {
    return why == NO_UNIT ? PROBE_STATE_UNIT : PROBE_STATE_COLLECTOR;
}

/* The warp's next instruction takes a slot. True when that changed nothing of other warps. */
static EVERY_TIME bool use_slot(struct sm *sm, uint32_t s, uint64_t now, enum core_shape shape) {
    bool program = BESIDE(shape) || !(STREAMS(sm) >> s & 1), alone = false;
    warp_issue(sm, s, now, &alone, shape);
    if (__builtin_expect(program, 1)) {
        sm->n.warp_insts++;
        sm->n.slot_issued++;
    } else {
        sm->n.slot_mechanism++;
    }
    return alone;
}

/* ready: warps of all schedulers that are. True when this still holds for those of others. */
static inline __attribute__((always_inline)) bool run_scheduler(struct sm *sm, uint32_t sched, uint64_t ready,
                                                                uint64_t now, enum core_shape shape) {
    uint64_t set = sm->group[sched] & ready;
    uint64_t all = set;
    if (shape == SHAPE_ANY && sm->spec->policy == SCHED_TWO_LEVEL)
        set &= sched_active(sm, sched);
    uint32_t slots = shape >= SHAPE_USUAL ? 1 : sm->spec->width;
    enum shortage why = NO_SHORTAGE;
    bool told = shape < SHAPE_BASE && (all & CONCERN(sm) || SLOTS(sm) == SLOTS_ALWAYS);
    if (told && SLOTS(sm)) {
        uint32_t used = point_gate_slots(sm, sched, all, slots, now);
        sm->n.slot_mechanism += used;
        slots -= used;
        if (!slots) {
            if (shape == SHAPE_ANY)
                TELL(sm, tell_states(sm, sched, now, set, 0, PROBE_STATE_MECHANISM));
            return false;
        }
    }
    if (!set && (shape >= SHAPE_USUAL || !sm->probe)) {
        slots_stalled(sm, sched, why, 0, slots, shape);
        return AHEAD(shape) || !told;
    }
    ready = issue_possible(sm, set, &why, shape);
    if (shape == SHAPE_ANY)
        TELL(sm, tell_states(sm, sched, now, set, ready, state_of_shortage(why)));
    if (told && GATES(sm) && ready & sm->mech.concern) {
        uint64_t able = ready;
        ready = point_gate_eligible(sm, ready, now);
        if (shape == SHAPE_ANY)
            TELL(sm, tell_refused(sm, sched, able & ~ready));
        if (!ready)
            why = REFUSED;
    }
    if (ready) {
        uint32_t s = choose_warp(sm, sched, ready, shape);
        sm->last[sched] = s;
        for (;;) {
            bool alone = use_slot(sm, s, now, shape);
            if (BESIDE(shape))
                return alone;
            set = warp_bit(s);
            bool asked = GATES(sm) && set & sm->mech.concern;
            if (!--slots && !asked) /* a gate may want to know who is ready now */
                return AHEAD(shape) && alone;
            set &= ready_warps(sm);
            if (asked && set)
                set = point_gate_eligible(sm, set, now);
            if (AHEAD(shape))
                return alone;
            if (!slots || sm_faulted(sm) || !issue_possible(sm, set, &why, shape))
                break;
        }
        set = 0;
    }
    slots_stalled(sm, sched, why, set, slots, shape);
    return AHEAD(shape);
}

/* Two-level: a warp that is ready is in the active set of its scheduler, or can get there. */
static bool active_can_issue(const struct sm *sm, uint64_t ready) {
    uint64_t waits = long_waits(sm);
    for (uint32_t k = 0; k < sm->spec->schedulers; k++) {
        uint64_t pool = sm->group[k] & sm->resident & ~waits, active = sm->active[k] & pool;
        if (ready & active || (pool & ~active && warps_of(active) < sm->spec->active))
            return true;
    }
    return false;
}

bool sm_can_issue(const struct sm *sm) {
    enum shortage why;
    uint64_t ready = ready_warps(sm);
    if (!ready)
        return false;
    if (sm->spec->policy != SCHED_TWO_LEVEL) {
        ready = issue_possible(sm, ready, &why, SHAPE_ANY);
        return ready && !(HAS(sm, gate, refused) && point_gate_refuses(sm, ready));
    }
    return SLOTS(sm) != SLOTS_NEVER || active_can_issue(sm, ready);
}

void issue_sleep(const struct sm *sm, uint64_t cycle) {
    for (uint32_t k = 0; k < sm->spec->schedulers; k++) {
        enum shortage why;
        uint64_t set = sm->group[k] & ready_warps(sm);
        if (sm->spec->policy == SCHED_TWO_LEVEL)
            set &= sm->active[k]; /* nobody enters it while the SM sleeps */
        issue_possible(sm, set, &why, SHAPE_ANY);
        tell_states(sm, k, cycle, set, 0, state_of_shortage(why));
    }
}

EVERY_TIME void sm_issue(struct sm *sm, uint64_t now, enum core_shape shape) {
    uint32_t n = shape == SHAPE_PAIR ? 2 : sm->spec->schedulers;
    uint64_t ready = ready_warps(sm);
    if (!ready && (shape >= SHAPE_BASE ||
                   (SLOTS(sm) != SLOTS_ALWAYS &&
                    (shape >= SHAPE_USUAL || (!sm->probe && sm->spec->policy != SCHED_TWO_LEVEL))))) {
        slots_all_stalled(sm, 1, n, shape);
        return;
    }
    /* The schedulers take turns in being first, because they share collectors and units. */
    uint32_t k = (uint32_t)(n & (n - 1) ? now % n : now & (n - 1));
    for (uint32_t left = n;;) {
        bool holds = run_scheduler(sm, k, ready, now, shape);
        if (!--left)
            return;
        if (!holds) {
            if (sm_faulted(sm))
                return;
            ready = ready_warps(sm);
        }
        k = k + 1 < n ? k + 1 : 0;
    }
}
