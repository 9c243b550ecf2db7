/* Issue: the next instruction of a warp takes effect, and goes on its way to the collectors. */
#include "core/points.h"
#include "core/view.h"

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

void warp_advance(struct sm *sm, uint32_t s, uint32_t pc) {
    struct core_warp *cw = &sm->warps[s];
    struct simt_entry *e = simt_top(cw->w);
    uint32_t next = e ? e->pc : pc + 1;
    if (!e && cw->w->live)
        sm->blocked |= warp_bit(s);
    if (!cw->w->live) {
        buffer_flush(sm, s, pc);
        sm->ended |= !cw->inflight;
    } else if (next == pc + 1) {
        buffer_pop(cw);
        cw->next = buffer_front(cw);
        if (__builtin_expect(cw->next != next, 0)) /* what lies between was skipped */
            path_pass(sm, s, next, cw->next);
    } else {
        buffer_flush(sm, s, next);
    }
    warp_update(sm, s);
}

void warp_fault(struct sm *sm, const struct core_warp *cw) {
    sm->fault = true;
    if (cw->x == sm->x)
        return;
    sm->x->fault = cw->x->fault; /* of code that the program does not have */
    sm->x->fault.pc = UINT32_MAX;
    sm->x->fault.what = "in the instruction stream of a mechanism";
}

static uint32_t active_lanes(const struct core_warp *cw, const struct xinst *i) {
    return cw->w->stack[cw->w->depth - 1].mask & (cw->w->p[i->guard] ^ (0u - (uint32_t)i->gneg));
}

/* Arrays of a register bank that hold lanes of m. */
static uint8_t arrays_of(uint32_t m) {
    uint32_t any = m | m >> 1;
    any = (any | any >> 2) & 0x11111111u;
    return any == 0x11111111u ? CORE_ARRAYS : (uint8_t)__builtin_popcount(any);
}

int32_t core_inject(struct sm *sm, uint32_t warp, const struct core_own *own, uint32_t mask) {
    int32_t id = sm->free_op;
    if (id == CORE_NONE)
        return CORE_NONE;
    struct core_op *op = &sm->ops[id];
    sm->free_op = op->next;
    *op = (struct core_op){.i = &own->i,
                           .need = &own->need,
                           .pc = CORE_NO_PC,
                           .warp = (uint16_t)warp,
                           .accesses = CORE_NONE,
                           .next = CORE_NONE,
                           .lanes = (uint8_t)lanes_of(mask),
                           .read_arrays = CORE_ARRAYS,
                           .write_arrays = arrays_of(mask),
                           .mask = mask,
                           .writes = own->i.ndw};
    sm->warps[warp].inflight++;
    TELL(sm, tell_inject(sm, id));
    return id;
}

/* Who has a say in the operands of an instruction that is about to take effect. */
static COLD void prepare_operands(struct sm *sm, uint32_t s, const struct xinst *i, uint32_t m) {
    if (HAS(sm, registers, fill))
        OWNER(sm, registers, fill, s, i, m);
    if (HAS(sm, values, sources))
        OWNER(sm, values, sources, s, i, m);
    AT_POINT(sm, watch, before, s, i, m);
}

/* Who looks at an instruction that took effect, or takes it; true: it was taken. */
static COLD bool offer(struct sm *sm, int32_t id, uint64_t now) {
    AT_POINT(sm, watch, issued, id);
    return HAS(sm, front, take) && OWNER(sm, front, take, id, now) == MECH_TAKEN;
}

int32_t warp_issue(struct sm *sm, uint32_t s, uint64_t now, bool rides) {
    struct core_warp *cw = &sm->warps[s];
    uint32_t pc = cw->next;
    const struct xinst *i = &cw->x->img->code[pc];
    const struct core_need *need = &cw->needs[pc];
    uint32_t m = active_lanes(cw, i), all = m;
    if (need->control) {
        control_issue(sm, s, i, m, now);
        return CORE_NONE;
    }
    bool memory = need->memory;
    int32_t id = sm->free_op;
    struct core_op *op = &sm->ops[id];
    int32_t rest = op->next;
    if (HAS(sm, lanes, choose))
        m &= OWNER(sm, lanes, choose, s, i, m);
    if (__builtin_expect(sm->mech.n, 0))
        prepare_operands(sm, s, i, m);
    *op = (struct core_op){.i = i,
                           .need = need,
                           .pc = (int32_t)pc,
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
    count_issue(sm, i, op->lanes);
    TELL(sm, tell_issue(sm, PROBE_ISSUE, s, m, id));
    if (i->kind == X_S2R) /* what %clock reads is the sum of these */
        cw->x->clock = now - cw->x->warp_insts - 1;
    bool load = memory && (op_info[i->in->op].flags & OPF_LOAD);
    bool spins = load && i->in->m.vol && m && cw->w->depth > 1 && warp_spins(cw, i, m);
    if ((m == all ? warp_step(cw->x, cw->w) : warp_step_lanes(cw->x, cw->w, m)) == WARP_FAULT) {
        warp_fault(sm, cw);
        return CORE_NONE;
    }
    TELL(sm, tell_issue(sm, PROBE_EFFECT, s, m, id));
    mark_pending(cw, i, load);
    cw->inflight++;
    op->writes = m ? need->nwrites : 0;
    if (!m) /* nobody is active: nothing will be written, but the scoreboard must be told */
        op->space = CORE_SHARED;
    if (memory && (op_info[i->in->op].flags & OPF_STORE) && op->naccess)
        cw->stores++;
    if (!rides && !(__builtin_expect(sm->mech.n, 0) && offer(sm, id, now)))
        op_collect(sm, id);
    if (spins)
        simt_yield(cw->w);
    warp_advance(sm, s, pc);
    return id;
}

int32_t core_issue(struct sm *sm, uint32_t warp, uint64_t now) {
    struct core_warp *cw = &sm->warps[warp];
    uint32_t pc = cw->next;
    buffer_flush(sm, warp, pc + 1);
    cw->next = cw->buffer[cw->first] = pc;
    cw->buffered = 1;
    return warp_issue(sm, warp, now, true);
}
