/* Execution units: a unit takes a warp instruction every interval cycles; results come after the operation's
 * latency. */
#include "core/points.h"

static EVERY_TIME void finish_at(struct sm *sm, int32_t id, struct core_op *op, uint64_t cycle) {
    uint32_t at = cycle % CORE_WHEEL;
    int32_t *first = &sm->wheel[at];
    KEEP(first);
    op->next = *first;
    *first = id;
    if (__builtin_expect(cycle - sm->now < 64, 1)) {
        sm->ends_soon |= UINT64_C(1) << cycle % 64;
        return;
    }
    sm->wheel_bits[at / 64] |= UINT64_C(1) << (at % 64);
    sm->wheel_words |= 1u << at / 64;
}

void op_finish_at(struct sm *sm, int32_t id, uint64_t cycle) {
    finish_at(sm, id, &sm->ops[id], cycle);
}

static uint32_t interval_of(const struct sm *sm, const struct core_op *op, uint32_t unit) {
    uint32_t interval = sm->spec->units[unit].interval;
    if (op->space == CORE_TEXTURE)
        return interval * op->passes;
    if (unit == UNIT_TENSOR)
        return tensor_interval(sm->spec, op->i->in);
    return interval;
}

/* Where an op goes from its unit: to a queue towards memory, or to its end. */
static inline bool goes_to_memory(const struct core_op *op, uint32_t unit) {
    return unit == UNIT_MEM || op->accesses != CORE_NONE || op->space == CORE_TEXTURE;
}

/* It waits in that queue. */
APART void queue_op(struct sm *sm, int32_t id) {
    bool texture = sm->ops[id].space == CORE_TEXTURE;
    *(texture ? &sm->tex_length : &sm->lsu_length) += 1;
    fifo_push(sm, texture ? sm->tex : sm->lsu, id, &sm->ops[id]);
}

static inline bool queue_is_full(const struct sm *sm, const struct core_op *op) {
    return (op->space == CORE_TEXTURE ? sm->tex_length : sm->lsu_length) >= sm->spec->lsu_queue;
}

/* The counter of instructions of each unit. */
static const size_t unit_counter[UNIT_CTRL] = {
    [UNIT_SP] = offsetof(struct core_counters, sp_ops),
    [UNIT_SFU] = offsetof(struct core_counters, sfu_ops),
    [UNIT_DP] = offsetof(struct core_counters, dp_ops),
    [UNIT_TENSOR] = offsetof(struct core_counters, tensor_ops),
    [UNIT_MEM] = offsetof(struct core_counters, mem_ops),
    [UNIT_TEX] = offsetof(struct core_counters, tex_ops),
};

void units_init(struct sm *sm) {
    for (uint32_t u = 0; u < UNIT_CTRL; u++)
        sm->units[u] = (struct core_unit){.count = sm->spec->units[u].count,
                                          .ops = (uint64_t *)((char *)&sm->n + unit_counter[u]),
                                          .idle = &sm->lanes.idle[u]};
}

static uint32_t latency_of(const struct sm *sm, const struct core_op *op, uint32_t unit) {
    if (unit == UNIT_TENSOR)
        return tensor_latency(sm->spec, op->i->in);
    return sm->spec->latency[op->need->latency];
}

/* An instruction goes to its unit, where lanes without work are gated. */
static inline void count_unit(struct sm *sm, const struct core_unit *u, uint32_t energy, uint32_t lanes) {
    ++*u->ops;
    sm->lanes.active[energy] += lanes;
    *u->idle += WARP_LANES - lanes;
}

/* The op leaves its collector for its unit, which takes the next one after so many cycles. */
static EVERY_TIME uint32_t start_op(struct sm *sm, int32_t id, uint32_t unit, bool queued, uint64_t now,
                                    enum core_shape shape) {
    struct core_op *op = &sm->ops[id];
    bool known = AHEAD(shape) && !is_injected(op, shape); /* what follows from the machine */
    sm->collectors_free[shape >= SHAPE_SINGLE ? COLLECT_SP : op->need->kind]++;
    struct mech_work work = {op->lanes, known ? op->need->beats : interval_of(sm, op, unit)};
    if (known && op->space == CORE_TEXTURE)
        work.beats *= op->passes;
    if (shape < SHAPE_BASE && HAS(sm, units, dispatch)) {
        work = OWNER(sm, units, dispatch, id, work);
        op->lanes = (uint8_t)work.lanes;
    }
    count_unit(sm, &sm->units[unit], op->need->energy, work.lanes);
    if (unit == UNIT_TENSOR)
        tensor_count(sm, op->i->in);
    if (shape == SHAPE_ANY)
        TELL(sm, tell_dispatch(sm, id, (enum op_unit)unit, queued));
    if (queued) {
        queue_op(sm, id);
    } else {
        access_finish_at(sm, id,
                         now + (known ? op->need->cycles : latency_of(sm, op, unit)) +
                             (shape >= SHAPE_BASE ? 0 : op->delay) - 1);
    }
    return work.beats;
}

/* It goes from its unit to its end, and all that is known of it holds for the machine, too. */
static EVERY_TIME bool is_simple(const struct core_op *op, enum core_shape shape) {
    return shape != SHAPE_ANY && __builtin_expect(op->need->simple, 1) && !is_injected(op, shape);
}

/* The same of such an op. */
static EVERY_TIME uint32_t start_simple(struct sm *sm, int32_t id, struct core_op *op,
                                        const struct core_unit *u, uint64_t now, enum core_shape shape) {
    const struct core_need *need = op->need;
    sm->collectors_free[shape >= SHAPE_SINGLE ? COLLECT_SP : need->kind]++;
    struct mech_work work = {op->lanes, need->beats};
    if (shape < SHAPE_BASE && HAS(sm, units, dispatch)) {
        work = OWNER(sm, units, dispatch, id, work);
        op->lanes = (uint8_t)work.lanes;
    }
    count_unit(sm, u, need->energy, work.lanes);
    finish_at(sm, id, op, now + need->cycles + (shape >= SHAPE_BASE ? 0 : op->delay) - 1);
    return work.beats;
}

EVERY_TIME bool unit_start(struct sm *sm, int32_t id, struct core_op *op, enum core_shape shape) {
    struct core_unit *u = &sm->units[UNIT_SP]; /* whose ops are simple */
    if (shape == SHAPE_ANY || op->need->unit != UNIT_SP || u->ready[0] != CORE_NONE)
        return false;
    uint64_t now = sm->now;
    if (is_injected(op, shape) || (!AHEAD(shape) && op->ready > now))
        return false;
    for (uint64_t *free = u->free, *end = free + u->count; free < end; free++)
        if (*free <= now) {
            *free = now + start_simple(sm, id, op, u, now, shape);
            return true;
        }
    return false;
}

/* The same of one that is not. */
static APART uint32_t start_special(struct sm *sm, int32_t id, uint32_t unit, bool queued, uint64_t now) {
    return start_op(sm, id, unit, queued, now, SHAPE_BESIDE);
}

/* From collectors to the units of one kind; a collector is free again when its instruction leaves it. */
static EVERY_TIME void dispatch_unit(struct sm *sm, uint32_t unit, uint64_t now, enum core_shape shape) {
    struct core_unit *u = &sm->units[unit];
    KEEP(u);
    int32_t id = u->ready[0];
    for (uint64_t *free = u->free, *end = free + u->count; free < end; free++) {
        if (*free > now)
            continue;
        struct core_op *op = &sm->ops[id];
        KEEP(op);
        if (!AHEAD(shape) && op->ready > now)
            return;
        bool simple = is_simple(op, shape);
        bool queued = !simple && goes_to_memory(op, unit);
        if (queued && queue_is_full(sm, op)) {
            sm->full_units |= 1u << unit;
            return;
        }
        int32_t next = u->ready[0] = op->next;
        *free = now + (simple          ? start_simple(sm, id, op, u, now, shape)
                       : BESIDE(shape) ? start_special(sm, id, unit, queued, now)
                                       : start_op(sm, id, unit, queued, now, shape));
        if (next == CORE_NONE) {
            sm->ready_units &= ~(1u << unit);
            return;
        }
        id = next;
    }
}

uint64_t units_next(const struct sm *sm, uint64_t now) {
    uint64_t next = NEVER;
    for (uint32_t left = sm->ready_units; left; left &= left - 1) {
        uint32_t u = (uint32_t)__builtin_ctz(left);
        int32_t id = sm->units[u].ready[0];
        const struct core_op *op = &sm->ops[id];
        if (goes_to_memory(op, u) && queue_is_full(sm, op)) {
            if (op->space == CORE_TEXTURE ? !tex_refused(sm) : !lsu_refused(sm))
                return now + 1;
            continue;
        }
        uint64_t free = NEVER;
        for (uint32_t k = 0; k < sm->units[u].count; k++)
            free = min_u64(free, sm->units[u].free[k]);
        next = min_u64(next, max_u64(max_u64(op->ready, free), now + 1));
    }
    return next;
}

EVERY_TIME void sm_dispatch(struct sm *sm, uint64_t now, enum core_shape shape) {
    for (uint32_t left = sm->ready_units & ~sm->full_units; left; left &= left - 1)
        dispatch_unit(sm, (uint32_t)__builtin_ctz(left), now, shape);
}

void store_done(struct sm *sm, uint32_t warp) {
    struct core_warp *cw = &sm->warps[warp];
    if (--cw->stores || !cw->fence)
        return;
    cw->fence = false;
    if (simt_top(cw->w) && cw->until <= sm->now)
        warp_unblock(sm, warp);
}

static EVERY_TIME void memory_done(struct sm *sm, const struct mem_done *d, enum core_shape shape) {
    if (__builtin_expect(d->token & CORE_REQUEST, 0)) {
        sm->outstanding--;
        sm->answer_far = d->far;
        OWNER(sm, memory, arrived, d->token & ~CORE_REQUEST, sm->now);
        return;
    }
    struct core_op *op = &sm->ops[d->token];
    TELL(sm, tell_op(sm, PROBE_RETURN, (int32_t)d->token));
    if (++op->done < op->naccess || op->sent < op->naccess)
        return;
    sm->outstanding--;
    if (op->need->store)
        store_done(sm, op->warp);
    if (op->space == CORE_TEXTURE) /* texels are there; now they are filtered */
        access_finish_at(sm, (int32_t)d->token, sm->now + sm->spec->latency[LAT_TEX] + op->delay);
    else if (op->delay)
        op_finish_at(sm, (int32_t)d->token, sm->now + op->delay);
    else
        op_writeback(sm, (int32_t)d->token, op, shape);
}

static EVERY_TIME void take_answers(struct sm *sm, uint64_t now, enum core_shape shape) {
    struct mem_done d;
    static const enum mem_client clients[] = {MEM_DATA, MEM_CONSTANT, MEM_TEXTURE};
    for (uint32_t k = 0; k < 3 && sm->outstanding && sm->port->first <= now; k++)
        while (sm->outstanding && sm->port->done[clients[k]] <= now &&
               memsys_pop(sm->mem, now, sm->id, clients[k], &d))
            memory_done(sm, &d, shape);
}

void sm_answers(struct sm *sm, uint64_t now) {
    if (MECHS(sm) || WATCHED(sm))
        take_answers(sm, now, SHAPE_HERE);
    else
        take_answers(sm, now, SHAPE_BASE);
}

/* An answer is for an op whose result is not there yet. What a mechanism has asked for, it has. */
static bool is_later(const struct sm *sm, uint32_t token) {
    bool of_op = !(token & CORE_REQUEST) || token & CORE_OF_OP;
    return of_op && sm->ops[token & ~(CORE_REQUEST | CORE_OF_OP)].later;
}

bool sm_must_wait(const struct sm *sm, uint64_t now) {
    const struct cache *c = memsys_cache(sm->mem, sm->id, MEM_DATA);
    int32_t id = now <= sm->later_ends ? sm->wheel[now % CORE_WHEEL] : CORE_NONE;
    for (; id != CORE_NONE; id = sm->ops[id].next)
        if (sm->ops[id].later)
            return true;
    for (uint32_t k = 0; k < c->hits.len && queue_item(&c->hits, k)->ready <= now; k++)
        if (is_later(sm, queue_item(&c->hits, k)->token))
            return true;
    for (uint32_t k = 0; k < c->fills.len && queue_item(&c->fills, k)->ready <= now; k++)
        if (is_later(sm, queue_item(&c->fills, k)->token))
            return true;
    return false;
}

bool sm_catch_up(struct sm *sm, bool run) {
    const struct later_access *a = later_first(sm->later);
    int32_t tag = a->tag;
    bool own = !a->w, gives = a->i->ndw && !a->given;
    if (gives)
        sm->ops[tag].later = false;
    if (!run || own)
        later_drop(sm->later);
    else if (!later_run(sm->later, sm->x))
        return false;
    if (run && own)
        OWNER(sm, memory, again, (uint32_t)tag);
    else if (run && gives && HAS(sm, memory, given))
        OWNER(sm, memory, given, tag);
    return true;
}

EVERY_TIME void sm_complete(struct sm *sm, uint64_t now, enum core_shape shape) {
    uint32_t at = now % CORE_WHEEL;
    int32_t id = sm->wheel[at];
    sm->wheel[at] = CORE_NONE;
    sm->ends_soon &= ~(UINT64_C(1) << now % 64);
    if (__builtin_expect(sm->wheel_words >> at / 64 & 1, 0)) {
        sm->wheel_bits[at / 64] &= ~(UINT64_C(1) << (at % 64));
        if (!sm->wheel_bits[at / 64])
            sm->wheel_words &= ~(1u << at / 64);
    }
    while (id != CORE_NONE) {
        struct core_op *op = &sm->ops[id];
        KEEP(op);
        int32_t next = op->next;
        op_writeback(sm, id, op, shape);
        id = next;
    }
}
