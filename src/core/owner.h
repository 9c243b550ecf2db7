/* What an op goes through often enough for the owner of the registers to have it as part of its own code:
 * core_collect_from and core_retire_by (view.h) without a call. */
#ifndef REPRISE_CORE_OWNER_H
#define REPRISE_CORE_OWNER_H

#include "core/points.h"

/* ---- out of line (collect.c) ---- */
APART void owner_queue_reads(struct sm *sm, int32_t op, const uint16_t *places);
APART void end_injected(struct sm *sm, int32_t op);
APART void end_access(struct sm *sm, struct core_op *op);
/* The destinations of an op, which lie in two words of the scoreboard, leave it. */
APART void clear_parted(struct sm *sm, const struct core_op *op);

static inline __attribute__((always_inline)) void
operands_complete(struct sm *sm, int32_t id, struct core_op *op, enum core_shape shape) {
    uint32_t unit = op->need->unit;
    fifo_push(sm, sm->units[unit].ready, id, op);
    sm->ready_units |= 1u << unit;
    if (shape == SHAPE_ANY)
        TELL(sm, tell_op(sm, PROBE_OPERANDS, id));
}

/* An op is the only one to read from these banks, none of which has a read that waits. */
static inline __attribute__((always_inline)) void add_lone(struct sm *sm, int32_t id, uint32_t banks,
                                                           const uint16_t *places) {
    uint32_t at = sm->nlone++;
    for (; at && sm->lone[at - 1].banks > banks; at--)
        sm->lone[at] = sm->lone[at - 1];
    sm->lone[at] = (struct core_lone){id, banks, places};
    sm->lone_banks |= banks;
    sm->read_banks |= banks;
}

/* The same of an op whose operands lie in these places. False: they do not lie in different banks where
 * nobody else reads, or somebody has a say in how banks are read. */
static inline __attribute__((always_inline)) bool read_alone(struct sm *sm, int32_t id, uint32_t n,
                                                             const uint16_t *places) {
    uint32_t banks = 0, read = sm->read_banks;
    if (__builtin_expect(MECHS(sm) > 1 || sm->ports || sm->nlone == sizeof sm->lone / sizeof *sm->lone, 0))
        return false;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t bank = 1u << owned_bank(sm, places[k]);
        if (bank & (banks | read))
            return false;
        banks |= bank;
    }
    add_lone(sm, id, banks, places);
    return true;
}

/* What is to be done of every op that takes a collector. */
static inline __attribute__((always_inline)) void enter_collector(struct sm *sm, int32_t id,
                                                                  struct core_op *op) {
    const struct core_need *need = op->need;
    AT_POINT(sm, watch, collected, id);
    sm->collectors_free[need->kind]--;
    op->ready = sm->now + (sm->served == sm->now);
    sm->n.const_operands += need->nconsts;
}

/* The op takes a collector and reads its operands, in these places. */
static inline __attribute__((always_inline)) void owner_collect(struct sm *sm, int32_t id,
                                                                const uint16_t *places) {
    struct core_op *op = &sm->ops[id];
    uint32_t n = op->need->nreads, before = op->pending; /* core_read_beside may have asked for some */
    KEEP(op);
    enter_collector(sm, id, op);
    op->pending = (uint8_t)(before + n);
    if (!(before + n))
        operands_complete(sm, id, op, SHAPE_ANY);
    else if (before || !read_alone(sm, id, n, places))
        owner_queue_reads(sm, id, places);
}

/* What is left of an op when its registers are off the scoreboard. */
static inline __attribute__((always_inline)) void leave_op(struct sm *sm, int32_t id, struct core_op *op,
                                                           struct core_warp *cw, enum core_shape shape) {
    cw->pending_preds &= (uint8_t)~op->need->sets;
    if (op->accesses != CORE_NONE)
        sm->access_free[sm->naccess_free++] = op->accesses;
    if (!--cw->inflight && !cw->w->live)
        sm->halts |= HALT_ENDED;
    if (shape == SHAPE_ANY)
        TELL(sm, tell_op(sm, PROBE_END, id));
    warp_freed(sm, cw, op->warp);
    op->next = sm->free_op;
    sm->free_op = id;
}

/* All destinations of an instruction leave the scoreboard. */
static inline __attribute__((always_inline)) void clear_all(struct sm *sm, const struct core_op *op,
                                                            struct core_warp *cw) {
    const struct core_need *need = op->need;
    uint64_t dest = need->dest;
    uint32_t word = need->dest_word;
    if (__builtin_expect(need->parted, 0)) {
        clear_parted(sm, op);
        return;
    }
    cw->memory[word] &= ~dest;
    if (__builtin_expect(cw->twice[word] & dest, 0)) {
        uint64_t again = cw->twice[word] & dest;
        cw->twice[word] ^= again;
        dest ^= again;
    }
    cw->pending[word] &= ~dest;
}

/* An op of which no word has left the scoreboard ends, and what it has there is released. */
static inline __attribute__((always_inline)) void owner_retire(struct sm *sm, int32_t id, const void *state) {
    struct core_op *op = &sm->ops[id];
    KEEP(op);
    assert(!op->later && (op->taken || !op->next_write));
    if (__builtin_expect(MECHS(sm) > 1, 0))
        point_retire_others(sm, id, state);
    if (__builtin_expect(op->pc == CORE_NO_PC, 0)) {
        end_injected(sm, id);
        return;
    }
    struct core_warp *cw = &sm->warps[op->warp];
    KEEP(cw);
    if (op->need->memory)
        end_access(sm, op);
    clear_all(sm, op, cw);
    leave_op(sm, id, op, cw, SHAPE_ANY);
}

#endif
