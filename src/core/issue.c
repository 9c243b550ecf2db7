/* Issue: each scheduler picks a warp whose next instruction may go, by its policy, and the instruction takes
 * effect. */
#include <string.h>

#include "core/points.h"
#include "core/view.h"

enum outcome { ISSUED, NO_UNIT, NO_COLLECTOR, REFUSED };

/* Repetitions that make a spin loop; ordered accesses elsewhere after which another one is watched. */
enum { SPIN_TIMES = 16, SPIN_OTHERS = 8 };

static uint32_t oldest(const struct sm *sm, uint64_t set) {
    uint32_t best = (uint32_t)__builtin_ctzll(set);
    for (uint64_t left = set & (set - 1); left; left &= left - 1) {
        uint32_t s = (uint32_t)__builtin_ctzll(left);
        if (sm->warps[s].age < sm->warps[best].age)
            best = s;
    }
    return best;
}

static uint32_t after(uint64_t set, uint32_t last) {
    uint64_t above = last >= 63 ? 0 : set & (~UINT64_C(0) << (last + 1));
    return (uint32_t)__builtin_ctzll(above ? above : set);
}

static uint32_t pick_lrr(const struct sm *sm, uint32_t sched, uint64_t set) {
    return after(set, sm->last[sched]);
}

static uint32_t pick_gto(const struct sm *sm, uint32_t sched, uint64_t set) {
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

/* Two-level: warps that wait for memory or a barrier leave the active set, others fill it up in turn. */
static uint64_t active_set(struct sm *sm, uint32_t sched) {
    uint64_t waits = sm->blocked | (sm->on_memory & ~sm->clear);
    uint64_t *a = &sm->active[sched], pool = sm->group[sched] & sm->resident & ~waits;
    *a &= pool;
    pool &= ~*a;
    while (pool && (uint32_t)__builtin_popcountll(*a) < sm->spec->active) {
        uint32_t s = after(pool, sm->last[sched]);
        *a |= UINT64_C(1) << s;
        pool &= ~(UINT64_C(1) << s);
    }
    return *a;
}

static void mark_pending(struct core_warp *cw, const struct xinst *i, bool memory) {
    for (uint32_t k = 0; k < i->ndw; k++) {
        uint32_t r = i->d + k;
        cw->pending[r / 64] |= UINT64_C(1) << (r % 64);
        if (memory)
            cw->memory[r / 64] |= UINT64_C(1) << (r % 64);
    }
    for (int k = 0; k < 2; k++)
        if (i->pd[k] != PRED_PT)
            cw->pending_preds |= (uint8_t)(1u << i->pd[k]);
    if (i->kind == X_R2P)
        cw->pending_preds |= (1u << PRED_PT) - 1;
}

/* Empties the buffer; the warp goes on at next. */
static void flush(struct sm *sm, uint32_t s, uint32_t next) {
    struct core_warp *cw = &sm->warps[s];
    cw->next = next;
    cw->buffered = cw->arriving = 0;
    cw->fetching = false;
    cw->epoch++;
    TELL(sm, tell_warp(sm, PROBE_FLUSH, s));
}

/* After an instruction took effect: where the warp goes on, and whether it waits. */
static void advance(struct sm *sm, uint32_t s, uint32_t pc) {
    struct core_warp *cw = &sm->warps[s];
    uint64_t bit = UINT64_C(1) << s;
    struct simt_entry *e = simt_top(cw->w);
    uint32_t next = e ? e->pc : pc + 1;
    if (!e && cw->w->live)
        sm->blocked |= bit;
    if (!cw->w->live) {
        flush(sm, s, pc);
        sm->ended |= !cw->inflight;
    } else if (next == pc + 1) {
        cw->next = next;
        cw->buffered--;
    } else {
        flush(sm, s, next);
    }
    warp_update(sm, s);
}

/* Warps of a block that can go on after all, go on. */
static void wake_block(struct sm *sm, uint32_t block) {
    for (uint64_t left = sm->blocked; left; left &= left - 1) {
        uint32_t s = (uint32_t)__builtin_ctzll(left);
        struct core_warp *cw = &sm->warps[s];
        struct simt_entry *e = cw->block == block && cw->w ? simt_top(cw->w) : NULL;
        if (!e)
            continue;
        if (cw->fence || cw->until > sm->now)
            continue;
        sm->blocked &= ~(UINT64_C(1) << s);
        if (e->pc != cw->next)
            flush(sm, s, e->pc);
        warp_update(sm, s);
    }
}

/* A barrier may have opened. When instead every thread of the block waits at one, lanes that wait for others
 * of their warp at a reconvergence point go on alone: a barrier counts threads, and theirs may be the
 * arrivals it lacks. */
static void barrier_changed(struct sm *sm, uint32_t block) {
    wake_block(sm, block);
    const struct cta *c = sm->blocks[block].cta;
    uint64_t waiting = 0;
    for (uint64_t left = sm->resident; left; left &= left - 1) {
        uint32_t s = (uint32_t)__builtin_ctzll(left);
        const struct core_warp *cw = &sm->warps[s];
        if (cw->block != block || !cw->w->live)
            continue;
        if (!(sm->blocked >> s & 1) || cw->fence || cw->until > sm->now)
            return;
        waiting |= UINT64_C(1) << s;
    }
    bool split = false;
    for (uint32_t k = 0; waiting && k < c->nwarps; k++)
        split |= c->warps[k].live && simt_yield(&c->warps[k]);
    if (split)
        wake_block(sm, block);
}

/* A warp goes on behind a barrier of its cluster when that is open for all. */
static void wait_until(struct sm *sm, uint32_t s, uint64_t cycle) {
    sm->warps[s].until = cycle;
    sm->blocked |= UINT64_C(1) << s;
    sm->cluster_wake = min_u64(sm->cluster_wake, cycle);
}

/* The barrier of a cluster has opened: the news take their time to all of its blocks. */
static void cluster_opened(const struct sm *sm, struct cluster *k, uint64_t now) {
    k->open_at = now + sm->spec->cluster_latency;
    for (uint32_t r = 0; r < k->n; r++) {
        struct sm *peer = sm->peers[k->ctas[r]->sm];
        for (uint64_t left = peer->resident & peer->blocked; left; left &= left - 1) {
            uint32_t s = (uint32_t)__builtin_ctzll(left);
            if (peer->warps[s].w->cta == k->ctas[r] && simt_top(peer->warps[s].w))
                wait_until(peer, s, k->open_at);
        }
    }
}

void sm_open(struct sm *sm, uint64_t now) {
    sm->cluster_wake = NEVER;
    for (uint64_t left = sm->resident & sm->blocked; left; left &= left - 1) {
        uint32_t s = (uint32_t)__builtin_ctzll(left);
        struct core_warp *cw = &sm->warps[s];
        if (cw->until > now)
            sm->cluster_wake = min_u64(sm->cluster_wake, cw->until);
        struct simt_entry *e = cw->until && cw->until <= now && !cw->fence ? simt_top(cw->w) : NULL;
        if (!e)
            continue;
        cw->until = 0;
        sm->blocked &= ~(UINT64_C(1) << s);
        if (e->pc != cw->next)
            flush(sm, s, e->pc);
        warp_update(sm, s);
    }
}

/* The warp issues nothing more for the time a control instruction takes. */
static void hold(struct sm *sm, uint32_t s, uint64_t now) {
    uint32_t latency = sm->spec->latency[LAT_CTRL];
    if (latency < 2 || !sm->warps[s].w->live)
        return;
    uint32_t at = (sm->hold_first + sm->hold_count++) % CORE_MAX_WARPS;
    sm->hold[at].until = now + latency;
    sm->hold[at].warp = s;
    sm->held |= UINT64_C(1) << s;
}

void sm_release(struct sm *sm, uint64_t now) {
    while (sm->hold_count && sm->hold[sm->hold_first].until <= now) {
        sm->held &= ~(UINT64_C(1) << sm->hold[sm->hold_first].warp);
        sm->hold_first = (sm->hold_first + 1) % CORE_MAX_WARPS;
        sm->hold_count--;
    }
}

static uint32_t active_lanes(const struct core_warp *cw, const struct xinst *i) {
    return cw->w->stack[cw->w->depth - 1].mask & (cw->w->p[i->guard] ^ (0u - (uint32_t)i->gneg));
}

/* Full warps are the rule, and hosts without an instruction for it take their time to count bits. */
static uint32_t lanes_of(uint32_t m) {
    return m == UINT32_MAX ? WARP_LANES : (uint32_t)__builtin_popcount(m);
}

/* Arrays of a register bank that hold lanes of m. */
static uint8_t arrays_of(uint32_t m) {
    uint32_t any = m | m >> 1;
    any = (any | any >> 2) & 0x11111111u;
    return any == 0x11111111u ? CORE_ARRAYS : (uint8_t)__builtin_popcount(any);
}

static void count(struct sm *sm, const struct xinst *i, uint32_t lanes) {
    sm->n.thread_insts += lanes;
    sm->n.branches += i->kind == X_BRA || i->kind == X_BRX;
    sm->n.barriers += i->kind == X_BAR;
}

/* Control instructions need no collector: they act at once. */
static void issue_control(struct sm *sm, uint32_t s, const struct xinst *i, uint32_t m, uint64_t now) {
    struct core_warp *cw = &sm->warps[s];
    struct cluster *k = cw->w->cta->cluster;
    uint32_t pc = cw->next, depth = cw->w->depth, block = cw->block, opened = k->opened;
    uint32_t lanes = lanes_of(m);
    count(sm, i, lanes);
    sm->n.ctrl_ops++;
    sm->lanes.active[EN_CTRL] += lanes;
    AT_POINT(sm, operands, s, i, m);
    TELL(sm, tell_issue(sm, PROBE_ISSUE, s, m, CORE_NONE));
    if (warp_step(sm->x, cw->w) == WARP_FAULT) {
        sm->fault = true;
        return;
    }
    TELL(sm, tell_issue(sm, PROBE_EFFECT, s, m, CORE_NONE));
    AT_POINT(sm, control, s, i, m);
    sm->n.branch_diverged += (i->kind == X_BRA || i->kind == X_BRX) && cw->w->depth > depth;
    advance(sm, s, pc);
    hold(sm, s, now);
    if (i->in->op == OP_MEMBAR && m && cw->stores) {
        cw->fence = true;
        sm->blocked |= UINT64_C(1) << s;
    }
    if (k->opened != opened)
        cluster_opened(sm, k, now);
    else if (i->kind == X_BAR && i->in->m.mode == BAR_CLUSTER_WAIT && k->open_at > now)
        wait_until(sm, s, k->open_at);
    if (i->kind == X_BAR || i->kind == X_EXIT)
        barrier_changed(sm, block);
}

/* Resources an instruction needs beside its operands; without them only control instructions can go. */
static enum outcome shortage(const struct sm *sm) {
    if (sm->free_op == CORE_NONE)
        return NO_UNIT;
    if (sm->collectors_used < sm->spec->collectors || sm->mech.claims & MECH_FRONT)
        return ISSUED;
    for (uint32_t u = 0; u < UNIT_COUNT; u++)
        if (sm->ready[u][0] != CORE_NONE)
            return NO_UNIT;
    return NO_COLLECTOR;
}

/* Does the warp repeat an ordered access, as it does when it waits for another of its own lanes? That one may
 * wait for this path at a reconvergence point. */
static bool spinning(const struct sm *sm, struct core_warp *cw, const struct xinst *i, uint32_t m) {
    uint64_t a[WARP_LANES];
    exec_addresses(sm->x, cw->w, i, m, a);
    uint64_t addr = a[__builtin_ctz(m)];
    if (cw->spin.pc != cw->next && ++cw->spin.others < SPIN_OTHERS)
        return false;
    bool same = cw->spin.pc == cw->next && cw->spin.addr == addr;
    cw->spin.addr = addr;
    cw->spin.pc = cw->next;
    cw->spin.others = 0;
    cw->spin.times = same ? cw->spin.times + 1 : 0;
    if (cw->spin.times < SPIN_TIMES)
        return false;
    cw->spin.times = 0;
    return true;
}

int32_t core_inject(struct sm *sm, uint32_t warp, const struct xinst *i, uint32_t mask) {
    int32_t id = sm->free_op;
    if (id == CORE_NONE)
        return CORE_NONE;
    struct core_op *op = &sm->ops[id];
    sm->free_op = op->next;
    *op = (struct core_op){.i = i,
                           .warp = (uint16_t)warp,
                           .accesses = CORE_NONE,
                           .next = CORE_NONE,
                           .lanes = (uint8_t)lanes_of(mask),
                           .read_arrays = CORE_ARRAYS,
                           .write_arrays = arrays_of(mask),
                           .mask = mask,
                           .writes = i->ndw,
                           .injected = true};
    if (warp != CORE_OWN) {
        sm->warps[warp].inflight++;
        TELL(sm, tell_inject(sm, id));
    }
    return id;
}

/* The warp's next instruction takes effect. rides: with that of another warp, whose slot, collector and unit
 * serve both; its op is returned, as if taken. */
static inline __attribute__((always_inline)) int32_t issue(struct sm *sm, uint32_t s, uint64_t now,
                                                           bool rides) {
    struct core_warp *cw = &sm->warps[s];
    uint32_t pc = cw->next;
    const struct xinst *i = &sm->x->img->code[pc];
    const struct core_need *need = &sm->needs[pc];
    uint32_t m = active_lanes(cw, i), all = m;
    if (need->control) {
        issue_control(sm, s, i, m, now);
        return CORE_NONE;
    }
    bool memory = need->memory;
    int32_t id = sm->free_op;
    struct core_op *op = &sm->ops[id];
    int32_t rest = op->next;
    if (HAS(sm, lanes))
        m = point_lanes(sm, s, i, m);
    AT_POINT(sm, operands, s, i, m);
    *op = (struct core_op){.i = i,
                           .warp = (uint16_t)s,
                           .accesses = CORE_NONE,
                           .next = rest,
                           .lanes = (uint8_t)lanes_of(m),
                           .read_arrays = CORE_ARRAYS,
                           .write_arrays = arrays_of(m),
                           .mask = m};
    if (memory && m)
        lsu_prepare(sm, cw, op, i, m);
    sm->free_op = rest;
    count(sm, i, op->lanes);
    TELL(sm, tell_issue(sm, PROBE_ISSUE, s, m, id));
    if (i->kind == X_S2R) /* what %clock reads is the sum of these */
        sm->x->clock = now - sm->x->warp_insts - 1;
    bool spins = memory && i->in->m.vol && m && cw->w->depth > 1 && spinning(sm, cw, i, m);
    if ((m == all ? warp_step(sm->x, cw->w) : warp_step_lanes(sm->x, cw->w, m)) == WARP_FAULT) {
        sm->fault = true;
        return CORE_NONE;
    }
    TELL(sm, tell_issue(sm, PROBE_EFFECT, s, m, id));
    bool load = memory && (op_info[i->in->op].flags & OPF_LOAD);
    mark_pending(cw, i, load);
    cw->inflight++;
    op->writes = m ? need->nwrites : 0;
    if (!m) /* nobody is active: nothing will be written, but the scoreboard must be told */
        op->space = CORE_SHARED;
    if (memory && (op_info[i->in->op].flags & OPF_STORE) && op->naccess)
        cw->stores++;
    if (!rides && !(HAS(sm, issued) && point_issued(sm, id, now, 0))) {
        sm->collectors_used++;
        op_read_operands(sm, id, need, now);
    }
    if (spins)
        simt_yield(cw->w);
    advance(sm, s, pc);
    return id;
}

int32_t core_issue(struct sm *sm, uint32_t warp, uint64_t now) {
    struct core_warp *cw = &sm->warps[warp];
    flush(sm, warp, cw->next);
    cw->buffered = 1;
    return issue(sm, warp, now, true);
}

void core_skip(struct sm *sm, uint32_t warp, uint32_t n) {
    struct core_warp *cw = &sm->warps[warp];
    TELL(sm, tell_skip(sm, warp, n));
    simt_top(cw->w)->pc += n;
    uint32_t pc = simt_top(cw->w)->pc; /* of another path, where diverged lanes have met */
    if (pc == cw->next + n && n <= cw->buffered) {
        cw->next = pc;
        cw->buffered -= n;
    } else if (cw->buffered || cw->arriving || cw->fetching) {
        flush(sm, warp, pc);
    } else {
        cw->next = pc;
    }
    warp_update(sm, warp);
}

void core_redirect(struct sm *sm, uint32_t warp) {
    struct core_warp *cw = &sm->warps[warp];
    const struct simt_entry *e = simt_top(cw->w);
    if (e && e->pc != cw->next)
        flush(sm, warp, e->pc);
    warp_update(sm, warp);
}

/* Warps of a set whose next instruction finds what it needs. */
static uint64_t possible(const struct sm *sm, uint64_t set, enum outcome *why) {
    *why = shortage(sm);
    if (*why != ISSUED)
        return set & sm->control;
    if (sm->naccess_free)
        return set;
    *why = NO_UNIT;
    return set & ~sm->memory;
}

/* Why a slot was not used. */
static void count_stall(struct sm *sm, uint32_t sched, enum outcome why, uint64_t tried, uint64_t slots) {
    uint64_t here = sm->group[sched] & sm->resident, buffered = here & sm->valid & ~sm->blocked;
    uint64_t *counter = &sm->n.slot_fetch;
    if (tried)
        counter = why == NO_UNIT   ? &sm->n.slot_unit
                  : why == REFUSED ? &sm->n.slot_mechanism
                                   : &sm->n.slot_collector;
    else if (!here)
        counter = &sm->n.slot_idle;
    else if (buffered & sm->on_memory)
        counter = &sm->n.slot_memory;
    else if (buffered)
        counter = &sm->n.slot_data;
    else if (here & sm->blocked)
        counter = &sm->n.slot_barrier;
    *counter += slots;
}

static void run_scheduler(struct sm *sm, uint32_t sched, uint64_t now) {
    uint64_t set = sm->group[sched] & sm->resident & sm->valid & sm->clear & ~(sm->blocked | sm->held);
    if (sm->spec->policy == SCHED_TWO_LEVEL)
        set &= active_set(sm, sched);
    uint32_t slots = sm->spec->width;
    enum outcome why;
    if (HAS(sm, slots)) {
        uint32_t used = point_slots(sm, sched, slots, now);
        sm->n.slot_mechanism += used;
        slots -= used;
        if (!slots) {
            TELL(sm, tell_states(sm, sched, now, set, 0, PROBE_STATE_MECHANISM));
            return;
        }
    }
    uint64_t ready = possible(sm, set, &why);
    TELL(sm,
         tell_states(sm, sched, now, set, ready, why == NO_UNIT ? PROBE_STATE_UNIT : PROBE_STATE_COLLECTOR));
    if (HAS(sm, eligible) && ready) {
        uint64_t able = ready;
        ready = point_eligible(sm, ready, now);
        TELL(sm, tell_refused(sm, able & ~ready));
        if (!ready)
            why = REFUSED;
    }
    if (ready) {
        uint32_t s = pick[sm->spec->policy](sm, sched, ready);
        sm->last[sched] = s;
        do {
            issue(sm, s, now, false);
            sm->n.slot_issued++;
            sm->n.warp_insts++;
            slots--;
            set = sm->valid & sm->clear & sm->resident & ~(sm->blocked | sm->held) & UINT64_C(1) << s;
            if (HAS(sm, eligible))
                set = point_eligible(sm, set, now);
        } while (slots && !sm->fault && possible(sm, set, &why));
        set = 0;
    }
    count_stall(sm, sched, why, set, slots);
}

static uint64_t ready_warps(const struct sm *sm) {
    return sm->resident & sm->valid & sm->clear & ~(sm->blocked | sm->held);
}

bool sm_can_issue(const struct sm *sm) {
    enum outcome why;
    uint64_t ready = ready_warps(sm);
    /* An active set changes while its scheduler looks at it. */
    return ready && (sm->spec->policy == SCHED_TWO_LEVEL || possible(sm, ready, &why));
}

void issue_sleep(const struct sm *sm, uint64_t cycle) {
    for (uint32_t k = 0; k < sm->spec->schedulers; k++) {
        enum outcome why;
        uint64_t set = sm->group[k] & ready_warps(sm);
        possible(sm, set, &why);
        tell_states(sm, k, cycle, set, 0, why == NO_UNIT ? PROBE_STATE_UNIT : PROBE_STATE_COLLECTOR);
    }
}

void sm_account(struct sm *sm, uint64_t cycles) {
    sm->n.cycles += cycles;
    if (sm->lsu_epoch != UINT32_MAX)
        sm->n.lsu_stalls += cycles;
    sm->n.resident_warps += cycles * (uint64_t)__builtin_popcountll(sm->resident);
    for (uint32_t k = 0; k < sm->spec->schedulers; k++) {
        if (sm->spec->policy == SCHED_TWO_LEVEL)
            active_set(sm, k); /* as the first of these cycles would have left it */
        enum outcome why;
        uint64_t set = sm->group[k] & ready_warps(sm);
        possible(sm, set, &why);
        count_stall(sm, k, why, set, cycles * sm->spec->width);
    }
}

void sm_issue(struct sm *sm, uint64_t now) {
    sm->n.cycles++;
    sm->n.resident_warps += (uint64_t)__builtin_popcountll(sm->resident);
    /* The schedulers take turns in being first, because they share collectors and units. */
    uint32_t n = sm->spec->schedulers, k = (uint32_t)(now % n);
    for (uint32_t i = 0; i < n && !sm->fault; i++) {
        run_scheduler(sm, k, now);
        k = k + 1 < n ? k + 1 : 0;
    }
}
