/* Operand collection and writeback: requests queue at the register banks, each of which serves one access a
 * cycle (a read and a write with two ports); writes go first. */
#include "core/core.h"

static inline void operands_complete(struct sm *sm, int32_t id) {
    fifo_push(sm, sm->ready[op_info[sm->ops[id].i->in->op].unit], id);
    TELL(sm, tell_op(sm, PROBE_OPERANDS, id));
}

void op_read_operands(struct sm *sm, int32_t id, const struct core_need *need, uint64_t now) {
    struct core_op *op = &sm->ops[id];
    op->ready = now + 1;
    sm->n.const_operands += need->nconsts;
    for (uint32_t k = 0; k < need->nreads; k++) {
        uint32_t b = bank_of(sm, op->warp, need->reads[k]);
        int32_t r = sm->free_read;
        sm->free_read = sm->reads[r].next;
        sm->reads[r] = (struct core_read){id, CORE_NONE};
        if (sm->bank_reads[b][0] == CORE_NONE)
            sm->bank_reads[b][0] = r;
        else
            sm->reads[sm->bank_reads[b][1]].next = r;
        sm->bank_reads[b][1] = r;
        sm->read_banks |= 1u << b;
        op->pending++;
    }
    if (!op->pending)
        operands_complete(sm, id);
}

static void serve_read(struct sm *sm, uint32_t b) {
    int32_t r = sm->bank_reads[b][0];
    struct core_read *read = &sm->reads[r];
    sm->bank_reads[b][0] = read->next;
    if (read->next == CORE_NONE)
        sm->read_banks &= ~(1u << b);
    struct core_op *op = &sm->ops[read->op];
    sm->n.rf_reads++;
    sm->n.rf_read_arrays += op->read_arrays;
    if (!--op->pending)
        operands_complete(sm, read->op);
    read->next = sm->free_read;
    sm->free_read = r;
}

static void clear_register(struct sm *sm, uint32_t slot, uint32_t reg) {
    struct core_warp *cw = &sm->warps[slot];
    cw->pending[reg / 64] &= ~(UINT64_C(1) << (reg % 64));
    cw->memory[reg / 64] &= ~(UINT64_C(1) << (reg % 64));
}

void op_end(struct sm *sm, int32_t id) {
    struct core_op *op = &sm->ops[id];
    struct core_warp *cw = &sm->warps[op->warp];
    const struct xinst *i = op->i;
    for (uint32_t k = 0; k < i->ndw; k++)
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
    op->next = sm->free_op;
    sm->free_op = id;
}

/* The next destination word waits for its bank; without one the op is over. */
static void request_write(struct sm *sm, int32_t id) {
    struct core_op *op = &sm->ops[id];
    if (op->next_write >= op->writes) {
        op_end(sm, id);
        return;
    }
    uint32_t b = bank_of(sm, op->warp, op->i->d + op->next_write);
    fifo_push(sm, sm->bank_writes[b], id);
    sm->write_banks |= 1u << b;
}

void op_writeback(struct sm *sm, int32_t id) {
    TELL(sm, tell_op(sm, PROBE_WRITEBACK, id));
    request_write(sm, id);
}

/* The words of one result are written in turn, in the same cycle where their banks are free. */
static uint32_t serve_writes(struct sm *sm) {
    uint32_t busy = 0;
    for (uint32_t left = sm->write_banks; left; left = sm->write_banks & ~busy) {
        uint32_t b = (uint32_t)__builtin_ctz(left);
        int32_t id = fifo_pop(sm, sm->bank_writes[b]);
        if (sm->bank_writes[b][0] == CORE_NONE)
            sm->write_banks &= ~(1u << b);
        else
            sm->n.rf_write_conflicts++;
        busy |= 1u << b;
        sm->n.rf_writes++;
        struct core_op *op = &sm->ops[id];
        sm->n.rf_write_arrays += op->write_arrays;
        clear_register(sm, op->warp, op->i->d + op->next_write);
        op->next_write++;
        request_write(sm, id);
        warp_update(sm, op->warp);
    }
    return busy;
}

void sm_collect(struct sm *sm, uint64_t now) {
    (void)now;
    uint32_t busy = sm->write_banks ? serve_writes(sm) : 0;
    uint32_t reads = sm->read_banks;
    for (uint32_t left = reads; left; left &= left - 1) {
        uint32_t b = (uint32_t)__builtin_ctz(left);
        if ((busy >> b & 1) && !sm->spec->dual_port) {
            sm->n.rf_read_conflicts++;
            continue;
        }
        serve_read(sm, b);
        sm->n.rf_read_conflicts += sm->bank_reads[b][0] != CORE_NONE;
    }
}
