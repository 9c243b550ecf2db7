/* Operand collection and writeback: requests queue at the register banks, each of which serves one access a
 * cycle (a read and a write with two ports); writes go first. */
#include <assert.h>
#include <string.h>

#include "core/points.h"
#include "core/view.h"

static void queue_read(struct sm *sm, int32_t id, uint32_t b, int16_t source) {
    int32_t r = sm->free_read;
    sm->free_read = sm->reads[r].next;
    sm->reads[r] = (struct core_read){(int16_t)id, source, CORE_NONE};
    if (sm->bank_reads[b][0] == CORE_NONE)
        sm->bank_reads[b][0] = r;
    else
        sm->reads[sm->bank_reads[b][1]].next = r;
    sm->bank_reads[b][1] = r;
    sm->read_banks |= 1u << b;
}

/* The bank of a source register (write: of a destination word) of an op. */
static inline uint32_t op_bank(struct sm *sm, int32_t id, uint32_t k, uint32_t reg, bool write) {
    if (HAS(sm, place))
        return point_place(sm, id, k, write) % sm->spec->banks;
    return bank_of(sm, sm->ops[id].warp, reg);
}

uint32_t core_place(struct sm *sm, int32_t id, uint32_t k, bool write) {
    const struct core_op *op = &sm->ops[id];
    if (HAS(sm, place))
        return point_place(sm, id, k, write);
    return op->warp * MAX_GPR + (write ? op->i->d + k : core_need(op->i).reads[k]);
}

static inline void operands_complete(struct sm *sm, int32_t id) {
    fifo_push(sm, sm->ready[op_info[sm->ops[id].i->in->op].unit], id);
    TELL(sm, tell_op(sm, PROBE_OPERANDS, id));
}

void op_read_operands(struct sm *sm, int32_t id, const struct core_need *need, uint64_t now) {
    struct core_op *op = &sm->ops[id];
    op->ready = now + 1;
    sm->n.const_operands += need->nconsts;
    for (uint32_t k = 0; k < need->nreads; k++)
        queue_read(sm, id, op_bank(sm, id, k, need->reads[k], false), (int16_t)k);
    op->pending = need->nreads;
    if (!op->pending)
        operands_complete(sm, id);
}

void core_collect(struct sm *sm, int32_t id, uint64_t now) {
    const struct core_op *op = &sm->ops[id];
    struct core_need own;
    const struct core_need *need = &own;
    if (op->injected)
        own = core_need(op->i);
    else if (HAS(sm, issued) && point_issued(sm, id, now, op->holder + 1u))
        return;
    else
        need = &sm->needs[op->i - sm->x->img->code];
    sm->collectors_used++;
    op_read_operands(sm, id, need, now);
}

void core_finish(struct sm *sm, int32_t id, uint64_t cycle) {
    assert(cycle > sm->now && cycle < sm->now + CORE_WHEEL);
    op_finish_at(sm, id, cycle);
}

void core_read(struct sm *sm, int32_t id, uint32_t place) {
    queue_read(sm, id, place % sm->spec->banks, CORE_NONE);
}

/* The bank serves the read behind prev (CORE_NONE: the first) of those that wait. */
static inline __attribute__((always_inline)) void serve_read(struct sm *sm, uint32_t b, int32_t prev) {
    int32_t *link = prev == CORE_NONE ? &sm->bank_reads[b][0] : &sm->reads[prev].next, r = *link;
    struct core_read *read = &sm->reads[r];
    *link = read->next;
    if (prev != CORE_NONE && read->next == CORE_NONE)
        sm->bank_reads[b][1] = prev;
    else if (read->next == CORE_NONE)
        sm->read_banks &= ~(1u << b);
    struct core_op *op = &sm->ops[read->op];
    sm->n.rf_reads++;
    sm->n.rf_read_arrays += HAS(sm, arrays) ? point_read_arrays(sm, read->op, read->source) : op->read_arrays;
    int32_t id = read->op;
    int16_t source = read->source;
    read->next = sm->free_read;
    sm->free_read = r;
    if (__builtin_expect(source == CORE_NONE, 0))
        AT_POINT(sm, read_done, id, sm->now);
    else if (!--op->pending)
        operands_complete(sm, id);
}

static void clear_register(struct sm *sm, uint32_t slot, uint32_t reg) {
    struct core_warp *cw = &sm->warps[slot];
    cw->pending[reg / 64] &= ~(UINT64_C(1) << (reg % 64));
    cw->memory[reg / 64] &= ~(UINT64_C(1) << (reg % 64));
}

static void free_op(struct sm *sm, int32_t id) {
    sm->ops[id].next = sm->free_op;
    sm->free_op = id;
}

/* The end of an op of a mechanism: the scoreboard knows nothing of it. */
static COLD void end_injected(struct sm *sm, int32_t id) {
    uint32_t warp = sm->ops[id].warp;
    TELL(sm, tell_op(sm, PROBE_END, id));
    if (warp != CORE_OWN && !--sm->warps[warp].inflight && !sm->warps[warp].w->live)
        sm->ended = true;
    free_op(sm, id);
}

/* Tells mechanisms of the end of an op; true: it was one of theirs. */
static COLD bool retire(struct sm *sm, int32_t id) {
    const struct core_op *op = &sm->ops[id];
    AT_POINT(sm, retire, id);
    if (op->injected) {
        end_injected(sm, id);
        return true;
    }
    /* A store that a mechanism did not let go to memory. */
    if (op->sent < op->naccess && op_info[op->i->in->op].flags & OPF_STORE)
        store_done(sm, op->warp);
    return false;
}

void op_end(struct sm *sm, int32_t id) {
    struct core_op *op = &sm->ops[id];
    struct core_warp *cw = &sm->warps[op->warp];
    const struct xinst *i = op->i;
    if (__builtin_expect(sm->mech.n, 0) && retire(sm, id))
        return;
    /* Words that were written have left the scoreboard, where a later instruction may hold them again; those
     * of a result that a mechanism took have not. */
    for (uint32_t k = op->taken ? 0 : op->next_write; k < i->ndw; k++)
        clear_register(sm, op->warp, i->d + k);
    for (int k = 0; k < 2; k++)
        if (i->pd[k] != PRED_PT)
            cw->pending_preds &= (uint8_t) ~(1u << i->pd[k]);
    if (i->kind == X_R2P)
        cw->pending_preds = 0;
    if (op->accesses != CORE_NONE)
        sm->access_free[sm->naccess_free++] = op->accesses;
    if (!--cw->inflight && !cw->w->live)
        sm->ended = true;
    TELL(sm, tell_op(sm, PROBE_END, id));
    warp_update(sm, op->warp);
    free_op(sm, id);
}

/* The next destination word waits for its bank; without one the op is over. */
static inline __attribute__((always_inline)) void request_write(struct sm *sm, int32_t id) {
    struct core_op *op = &sm->ops[id];
    if (op->next_write >= op->writes) {
        op_end(sm, id);
        return;
    }
    uint32_t b = op_bank(sm, id, op->next_write, op->i->d + op->next_write, true);
    fifo_push(sm, sm->bank_writes[b], id);
    sm->write_banks |= 1u << b;
}

void op_writeback(struct sm *sm, int32_t id) {
    TELL(sm, tell_op(sm, PROBE_WRITEBACK, id));
    if (!HAS(sm, result) || !point_result(sm, id, sm->now))
        request_write(sm, id);
}

void core_write(struct sm *sm, int32_t id) {
    request_write(sm, id);
}

void core_retire(struct sm *sm, int32_t id) {
    op_end(sm, id);
}

/* What a mechanism supplied is not what the instruction computed: a bug of the mechanism, or, for a load, a
 * race of the program; unless it is one that approximates. */
static void wrong_value(struct sm *sm, const struct core_op *op, const uint32_t *value,
                        const uint32_t *computed) {
    enum { SHOWN = 10 };
    uint32_t lane = 0;
    if (sm->check.approximate) {
        sm->check.differing++;
        return;
    }
    while (value[lane] == computed[lane])
        lane++;
    if (sm->n.check_wrong++ < SHOWN)
        str_printf(sm->check.out,
                   "check: SM %u, warp %u, %s at line %u: lane %u was given 0x%x, computed 0x%x\n", sm->id,
                   op->warp, op_info[op->i->in->op].name, op->i->in->line, lane, value[lane], computed[lane]);
}

void core_share(struct sm *sm, int32_t id, const uint32_t value[WARP_LANES]) {
    struct core_op *op = &sm->ops[id];
    uint32_t *latch = sm->warps[op->warp].w->r[op->i->d + op->next_write];
    if (sm->check.on && memcmp(latch, value, WARP_LANES * sizeof *latch))
        wrong_value(sm, op, value, latch);
    memcpy(latch, value, WARP_LANES * sizeof *latch);
}

void core_give(struct sm *sm, int32_t id, const uint32_t value[WARP_LANES]) {
    core_share(sm, id, value);
    TELL(sm, tell_note(sm, id, "supplied"));
}

void core_supply(struct sm *sm, int32_t id, const uint32_t value[WARP_LANES]) {
    core_give(sm, id, value);
    op_end(sm, id);
}

/* Tells mechanisms of a write; true: the op goes on without the scoreboard, which does not know of it. */
static COLD bool written(struct sm *sm, int32_t id, uint32_t word) {
    bool taken = sm->ops[id].taken, injected = sm->ops[id].injected;
    AT_POINT(sm, written, id, word);
    if (!taken && injected)
        core_write(sm, id);
    return taken || injected;
}

/* The bank serves the write behind prev (CORE_NONE: the first) of those that wait. The next word of the
 * result then waits for its own bank, where it may be served in the same cycle. */
static inline __attribute__((always_inline)) void serve_write(struct sm *sm, uint32_t b, int32_t prev) {
    int32_t *q = sm->bank_writes[b], *link = prev == CORE_NONE ? q : &sm->ops[prev].next, id = *link;
    struct core_op *op = &sm->ops[id];
    *link = op->next;
    if (prev != CORE_NONE && op->next == CORE_NONE)
        q[1] = prev;
    else if (op->next == CORE_NONE)
        sm->write_banks &= ~(1u << b);
    sm->n.rf_writes++;
    sm->n.rf_write_arrays += HAS(sm, arrays) ? point_write_arrays(sm, id, op->next_write) : op->write_arrays;
    uint32_t word = op->next_write++;
    if (__builtin_expect(sm->mech.n, 0) && written(sm, id, word))
        return;
    clear_register(sm, op->warp, op->i->d + word);
    if (op->next_write < op->writes) /* else the end of the op does it */
        warp_update(sm, op->warp);
    request_write(sm, id);
}

void core_serve_read(struct sm *sm, uint32_t bank, int32_t prev) {
    serve_read(sm, bank, prev);
}

void core_serve_write(struct sm *sm, uint32_t bank, int32_t prev) {
    serve_write(sm, bank, prev);
}

void core_arbitrate(struct sm *sm) {
    uint32_t busy = 0;
    for (uint32_t left = sm->write_banks; left; left = sm->write_banks & ~busy) {
        uint32_t b = (uint32_t)__builtin_ctz(left);
        sm->n.rf_write_conflicts += sm->ops[sm->bank_writes[b][0]].next != CORE_NONE;
        busy |= 1u << b;
        serve_write(sm, b, CORE_NONE);
    }
    uint32_t reads = sm->read_banks;
    for (uint32_t left = reads; left; left &= left - 1) {
        uint32_t b = (uint32_t)__builtin_ctz(left);
        if ((busy >> b & 1) && !sm->spec->dual_port) {
            sm->n.rf_read_conflicts++;
            continue;
        }
        serve_read(sm, b, CORE_NONE);
        sm->n.rf_read_conflicts += sm->bank_reads[b][0] != CORE_NONE;
    }
}

void sm_collect(struct sm *sm, uint64_t now) {
    if (HAS(sm, arbitrate))
        point_arbitrate(sm, now);
    else
        core_arbitrate(sm);
}
