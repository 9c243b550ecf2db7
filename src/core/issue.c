/* Issue: the next instruction of a warp takes effect, and goes on its way to the collectors. */
#include "core/points.h"
#include "core/view.h"

/* What an instruction writes is pending. */
static EVERY_TIME void mark_pending(struct core_warp *cw, const struct core_need *need) {
    uint32_t word = need->dest_word;
    cw->pending_preds |= need->sets;
    cw->pending[word] |= need->dest;
    cw->memory[word] |= need->loaded;
    if (__builtin_expect(!need->parted, 1))
        return;
    for (uint32_t r = need->i->d; r < need->i->d + need->nwrites; r++) {
        uint64_t bit = UINT64_C(1) << (r % 64);
        cw->pending[r / 64] |= bit;
        cw->memory[r / 64] |= need->load ? bit : 0;
    }
}

/* What lies between the instruction that left the buffer and the next one was skipped. */
static APART void pass_to(struct sm *sm, uint32_t s, uint32_t pc) {
    struct core_warp *cw = &sm->warps[s];
    uint32_t next = cw->next;
    warp_next(cw, pc);
    path_pass(sm, s, next, pc);
}

/* The first instruction leaves the buffer, of which there may be some that were skipped behind it. */
static EVERY_TIME void buffer_pop(struct sm *sm, struct core_warp *cw, uint32_t s) {
    cw->first = (cw->first + 1) % CORE_BUFFER;
    uint32_t pc = buffer_front(cw);
    if (__builtin_expect(cw->next != pc, 0))
        pass_to(sm, s, pc);
}

/* The first instruction leaves the buffer, and the path goes on behind it. control: it may be one. */
static EVERY_TIME void step_on(struct sm *sm, struct core_warp *cw, uint32_t s, bool control,
                               enum core_shape shape) {
    uint64_t bit = warp_bit(s);
    if (sm->arriving & bit && cw->found < sm->now)
        buffer_found(sm, s);
    cw->buffered--;
    cw->next++;
    cw->need++;
    if (shape < SHAPE_BASE && __builtin_expect(SKIPS(sm), 0))
        buffer_pop(sm, cw, s);
    if (!cw->buffered)
        sm->valid &= ~bit;
    if (!cw->fetching && !cw->arriving && cw->fetch_pc < cw->ncode) /* there is room now */
        sm->hungry |= bit;
    if (control)
        warp_turn(sm, cw, bit);
    else
        warp_turn_on(sm, cw, bit, shape);
}

/* All paths of the warp wait. Its threads may be the last of their block that a barrier elsewhere could have
 * been waiting for; of those that a barrier or an exit ends, control_issue sees to that. */
static void warp_wait(struct sm *sm, uint32_t s, uint32_t pc) {
    struct core_warp *cw = &sm->warps[s];
    uint16_t kind = cw->x->img->code[pc].kind;
    sm->blocked |= warp_bit(s);
    step_on(sm, cw, s, true, SHAPE_ANY);
    if (kind != X_BAR && kind != X_EXIT && cw->block != CORE_NO_BLOCK)
        barrier_changed(sm, cw->block, false);
}

EVERY_TIME void warp_advance(struct sm *sm, uint32_t s, uint32_t pc, enum core_shape shape) {
    struct core_warp *cw = &sm->warps[s];
    struct simt_entry *e = simt_top(cw->w);
    uint32_t next = e ? e->pc : pc + 1;
    if (__builtin_expect(!e && cw->w->live, 0)) {
        warp_wait(sm, s, pc);
        return;
    }
    if (__builtin_expect(next == pc + 1 && cw->w->live, 1)) {
        step_on(sm, cw, s, true, shape);
        return;
    }
    if (!cw->w->live) {
        buffer_flush(sm, s, pc);
        sm->halts |= cw->inflight ? 0 : HALT_ENDED;
    } else {
        buffer_flush(sm, s, next);
    }
    warp_update(sm, s);
}

/* The same of an instruction that is no control instruction: most often it is known where the path goes on.
 */
static APART void advance_other(struct sm *sm, uint32_t s, uint32_t pc) {
    warp_advance(sm, s, pc, SHAPE_HERE);
}

void warp_fault(struct sm *sm, const struct core_warp *cw) {
    sm->halts |= HALT_FAULT;
    if (cw->x == sm->x)
        return;
    sm->x->fault = cw->x->fault; /* of code that the program does not have */
    sm->x->fault.pc = UINT32_MAX;
    sm->x->fault.what = "in the instruction stream of a mechanism";
}

/* Lanes of a path for which an instruction takes effect. */
static uint32_t active_lanes(const struct core_warp *cw, const struct simt_entry *e, const struct xinst *i) {
    return e->mask & (cw->w->p[i->guard] ^ (0u - (uint32_t)i->gneg));
}

/* Arrays of a register bank that hold lanes of m. */
static inline uint8_t arrays_of(uint32_t m) {
    if (m == UINT32_MAX)
        return CORE_ARRAYS;
    uint32_t any = m | m >> 1;
    any = (any | any >> 2) & 0x11111111u;
    return (uint8_t)(any * 0x11111111u >> 28); /* the sum of its nibbles */
}

int32_t core_inject(struct sm *sm, uint32_t warp, const struct core_own *own, uint32_t mask) {
    if (sm->free_op == CORE_NONE)
        return CORE_NONE;
    struct core_op *op;
    int32_t id = op_take(sm, &op);
    *op = (struct core_op){.i = &own->i,
                           .need = &own->need,
                           .pc = CORE_NO_PC,
                           .warp = (uint16_t)warp,
                           .accesses = CORE_NONE,
                           .next = CORE_NONE,
                           .lanes = (uint8_t)lanes_of(mask),
                           .write_arrays = arrays_of(mask),
                           .mask = mask,
                           .writes = own->i.ndw};
    sm->warps[warp].inflight++;
    TELL(sm, tell_inject(sm, id));
    return id;
}

struct core_own *core_copies(struct arena *a) {
    struct inst *in = arena_new(a, struct inst);
    *in = inst_new(OP_MOV);
    struct core_own *all = arena_array(a, struct core_own, MAX_GPR);
    for (uint32_t r = 0; r < MAX_GPR; r++) {
        all[r].i = (struct xinst){.in = in,
                                  .kind = X_ALU,
                                  .nsw = 1,
                                  .ndw = 1,
                                  .guard = PRED_PT,
                                  .ps = {PRED_PT, PRED_PT},
                                  .pd = {PRED_PT, PRED_PT},
                                  .d = r,
                                  .s = {r}};
        core_prepare(&all[r]);
    }
    return all;
}

/* Who has a say in the operands of an instruction that is about to take effect. */
static EVERY_TIME void prepare_operands(struct sm *sm, uint32_t s, const struct xinst *i, uint32_t m) {
    if (HAS(sm, registers, fill))
        OWNER(sm, registers, fill, s, i, m);
    if (HAS(sm, values, sources))
        OWNER(sm, values, sources, s, i, m);
    AT_POINT(sm, watch, before, s, i, m);
}

/* Who looks at an instruction that took effect, or takes it; true: it was taken. */
static EVERY_TIME bool offer(struct sm *sm, int32_t id, uint64_t now) {
    AT_POINT(sm, watch, issued, id);
    return HAS(sm, front, take) ? OWNER(sm, front, take, id, now) == MECH_TAKEN : TAKES_EVERY(sm);
}

/* The same of an instruction that accesses memory, where its lanes point to p, for an SM that is ahead of
 * others. */
static APART enum warp_state take_later(struct sm *sm, struct core_warp *cw, struct core_op *op,
                                        const struct spot *p, uint64_t now) {
    int32_t id = (int32_t)(op - sm->ops);
    enum warp_state s = warp_take_later(cw->x, cw->w, op->i, op->mask, op->lanes, p, sm->later, now, id);
    op->later = s == WARP_WAITING && op->i->ndw;
    if (s != WARP_WAITING)
        return s;
    bool known = op->i->kind != X_TEX && op->i->in->m.space == MS_GLOBAL && op->i->bytes <= 16;
    const struct mem_access *a = known ? &sm->access_pool[op->accesses * COALESCER_MAX] : NULL;
    for (uint32_t k = 0; k < op->naccess && known; k++)
        later_touches(sm->later, a[k].line, false);
    if (!known)
        later_touches(sm->later, 0, true);
    later_guess(sm->later, cw->x);
    return s;
}

/* The instruction takes effect for lanes m of those in all that could, so many of them. */
static EVERY_TIME enum warp_state take_effect(struct core_warp *cw, struct simt_entry *e,
                                              const struct xinst *i, uint32_t m, uint32_t all, uint32_t lanes,
                                              bool steps) {
    if (steps || (i->kind == X_S2R && i->guard == PRED_PT && !cw->x->watch))
        return warp_take(cw->x, cw->w, e, i, m, lanes);
    return m == all ? warp_step(cw->x, cw->w) : warp_step_lanes(cw->x, cw->w, m);
}

/* Whether an instruction accesses what SMs share. */
static bool may_be_later(const struct xinst *i, uint32_t m) {
    bool own = i->kind != X_TEX && (i->in->m.space == MS_SHARED || i->in->m.space == MS_LOCAL);
    return m && !own && later_can(i);
}

/* The same of an instruction that accesses memory, and how. spins: the warp repeats it, it seems, until
 * another of its own lanes has done something. */
static APART enum warp_state access_memory(struct sm *sm, uint32_t s, int32_t id, uint32_t all, uint64_t now,
                                           bool *spins) {
    struct core_warp *cw = &sm->warps[s];
    struct core_op *op = &sm->ops[id];
    const struct xinst *i = op->i;
    static const struct spot nowhere = {.shape = LANES_ANY};
    struct simt_entry *e = cw->w->top;
    uint32_t m = op->mask;
    _Alignas(64) uint32_t off[WARP_LANES];
    struct spot p = {.off = off};
    bool known = i->spots && m && exec_spot(cw->x, cw->w, i, m, &p) && lsu_prepare_spot(sm, cw, op, i, m, &p);
    if (!known && m)
        lsu_prepare(sm, cw, op, i, m);
    TELL(sm, tell_issue(sm, PROBE_ISSUE, s, m, id));
    if (op->need->store && op->naccess)
        cw->stores++;
    if (__builtin_expect(i->in->m.vol && cw->w->depth > 1, 0))
        *spins = op->need->load && m && warp_spins(cw, i, m);
    if (known && (i->shared || !sm->later) && !cw->x->watch)
        return warp_take_at(cw->x, cw->w, e, i, m, op->lanes, &p);
    return sm->later && may_be_later(i, m)
               ? take_later(sm, cw, op, known ? &p : &nowhere, now)
               : take_effect(cw, e, i, m, all, op->lanes, op->need->steps && !cw->x->watch);
}

/* The op of an instruction that takes effect for lanes m; at: where it lies. */
static EVERY_TIME int32_t begin_op(struct sm *sm, const struct core_warp *cw, uint32_t s, uint32_t m,
                                   struct core_op **at) {
    uint32_t lanes = lanes_of(m);
    uint8_t arrays = arrays_of(m);
    struct core_op *op;
    int32_t id = op_take(sm, &op);
    KEEP(op);
    *op = (struct core_op){.i = cw->need->i,
                           .need = cw->need,
                           .pc = (int32_t)cw->next,
                           .warp = (uint16_t)s,
                           .accesses = CORE_NONE,
                           .next = CORE_NONE,
                           .lanes = (uint8_t)lanes,
                           .write_arrays = arrays,
                           .mask = m};
    sm->n.thread_insts += lanes;
    *at = op;
    return id;
}

/* What it will write is on the scoreboard from here on. */
static EVERY_TIME void expect_result(struct core_warp *cw, struct core_op *op, const struct core_need *need,
                                     uint32_t m) {
    mark_pending(cw, need);
    cw->inflight++;
    op->writes = m ? need->nwrites : 0;
    if (!m) /* nobody is active: nothing will be written, but the scoreboard must be told */
        op->space = CORE_SHARED;
}

/* The path does not end here, nor meet another. */
static EVERY_TIME bool goes_on(const struct simt_entry *e) {
    return e->pc != e->rpc || e->call;
}

/* An instruction that changes nothing but registers. Its values are computed when all else is done, if nobody
 * is told of it: then there is less to remember meanwhile. Where it is asked every time whether somebody
 * wants to be told they are computed first, as one copy of this is then enough: the code of two is too much
 * for the host's cache. */
static EVERY_TIME bool issue_computing(struct sm *sm, struct core_warp *cw, uint32_t s, uint32_t m,
                                       uint64_t now, bool told, enum core_shape shape) {
    const struct core_need *need = cw->need;
    uint32_t pc = cw->next;
    struct simt_entry *e = cw->w->top;
    if (told)
        prepare_operands(sm, s, need->i, m);
    struct core_op *op;
    int32_t id = begin_op(sm, cw, s, m, &op);
    warp_pass(cw->x, e, op->lanes);
    if (told || ASKS_ISSUE)
        warp_compute(cw->x, cw->w, need->i, m);
    expect_result(cw, op, need, m);
    if (!told || !offer(sm, id, now))
        op_collect(sm, id, op, shape);
    /* Mechanisms may have changed where the warp goes on. */
    bool alone = (!told || BESIDE(shape) || (e == cw->w->top && e->pc == pc + 1)) && goes_on(e);
    if (alone)
        step_on(sm, cw, s, false, shape);
    else
        advance_other(sm, s, pc);
    if (!told && !ASKS_ISSUE)
        warp_compute(cw->x, cw->w, need->i, m);
    return alone;
}

/* Any instruction that is not control. */
static EVERY_TIME int32_t issue_any(struct sm *sm, uint32_t s, uint32_t m, uint64_t now, bool *alone,
                                    enum core_shape shape) {
    struct core_warp *cw = &sm->warps[s];
    KEEP(cw);
    uint32_t pc = cw->next, all = m;
    const struct core_need *need = cw->need;
    const struct xinst *i = need->i;
    struct simt_entry *e = cw->w->top;
    bool steps = need->steps && (shape >= SHAPE_USUAL || !cw->x->watch), spins = false;
    if (shape < SHAPE_BASE && HAS(sm, lanes, choose))
        m &= OWNER(sm, lanes, choose, s, i, m);
    bool told = shape < SHAPE_BASE && TELLS_ISSUE(sm) && TELLS_OF(need);
    if (told)
        prepare_operands(sm, s, i, m);
    struct core_op *op;
    int32_t id = begin_op(sm, cw, s, m, &op);
    enum warp_state state;
    if (need->memory) {
        state = access_memory(sm, s, id, all, now, &spins);
    } else {
        if (shape == SHAPE_ANY)
            TELL(sm, tell_issue(sm, PROBE_ISSUE, s, m, id));
        if (!steps && i->kind == X_S2R) /* what %clock reads is the sum of these */
            cw->x->clock = now - cw->x->warp_insts - 1;
        state = take_effect(cw, e, i, m, all, op->lanes, steps);
    }
    if (state == WARP_FAULT) {
        warp_fault(sm, cw);
        return CORE_NONE;
    }
    if (shape == SHAPE_ANY)
        TELL(sm, tell_issue(sm, PROBE_EFFECT, s, m, id));
    expect_result(cw, op, need, m);
    if (alone && (!told || !offer(sm, id, now)))
        op_collect(sm, id, op, shape);
    if (spins)
        simt_yield(cw->w);
    /* Mechanisms may have changed where the warp goes on. */
    bool same = !told || BESIDE(shape) || (e == cw->w->top && e->pc == pc + 1);
    if (same && steps && !spins && goes_on(e)) {
        step_on(sm, cw, s, false, shape);
        if (alone)
            *alone = true;
    } else {
        advance_other(sm, s, pc);
    }
    return id;
}

static APART bool issue_other(struct sm *sm, uint32_t s, uint32_t m, uint64_t now) {
    bool alone = false;
    issue_any(sm, s, m, now, &alone, SHAPE_BESIDE);
    return alone;
}

EVERY_TIME int32_t warp_issue(struct sm *sm, uint32_t s, uint64_t now, bool *alone, enum core_shape shape) {
    struct core_warp *cw = &sm->warps[s];
    KEEP(cw);
    const struct core_need *need = cw->need;
    uint32_t m = active_lanes(cw, cw->w->top, need->i);
    bool all = shape >= SHAPE_BASE || (shape == SHAPE_USUAL && !HAS(sm, lanes, choose));
    bool told = shape < SHAPE_BASE && TELLS_ISSUE(sm) && TELLS_OF(need);
    if (told && HAS(sm, registers, silent) && MECHS(sm) == 1 && need->computes)
        told = !OWNER(sm, registers, silent, s);
    if (all && __builtin_expect(need->computes, 1)) {
        if (ASKS_ISSUE)
            *alone = issue_computing(sm, cw, s, m, now, told, shape);
        else if (told)
            *alone = issue_computing(sm, cw, s, m, now, true, shape);
        else
            *alone = issue_computing(sm, cw, s, m, now, false, shape);
    } else if (need->control) {
        control_issue(sm, s, need->i, m, now);
    } else if (BESIDE(shape)) {
        *alone = issue_other(sm, s, m, now);
    } else {
        return issue_any(sm, s, m, now, alone, shape);
    }
    return CORE_NONE;
}

int32_t core_issue(struct sm *sm, uint32_t warp, uint64_t now) {
    struct core_warp *cw = &sm->warps[warp];
    uint32_t pc = cw->next;
    buffer_flush(sm, warp, pc + 1);
    warp_next(cw, pc);
    cw->buffer[cw->first] = pc;
    cw->buffered = 1;
    return warp_issue(sm, warp, now, NULL, SHAPE_ANY);
}
