/* Operand collection and writeback: requests queue at the register banks, each of which serves one access a
 * cycle (a read and a write with two ports); writes go first. */
#include <assert.h>
#include <string.h>

#include "core/owner.h"
#include "core/points.h"
#include "core/view.h"

/* The bank of a physical register: without an owner of the registers that is the register of a warp. */
static inline uint32_t place_bank(const struct sm *sm, uint32_t place) {
    return HAS(sm, registers, place) ? owned_bank(sm, place) : bank_of(sm, place / MAX_GPR, place % MAX_GPR);
}

static inline void queue_read(struct sm *sm, int32_t id, uint32_t place, uint32_t b, int16_t source) {
    int32_t r = sm->free_read;
    sm->free_read = sm->reads[r].next;
    if (r == sm->fresh_read) {
        sm->fresh_read++;
        sm->free_read = sm->fresh_read < (int32_t)sm->nreads ? sm->fresh_read : CORE_NONE;
    }
    sm->reads[r] = (struct core_read){(int16_t)id, source, (uint16_t)place, CORE_NONE};
    if (sm->bank_reads[b][0] == CORE_NONE)
        sm->bank_reads[b][0] = r;
    else
        sm->reads[sm->bank_reads[b][1]].next = r;
    sm->bank_reads[b][1] = r;
    sm->read_banks |= 1u << b;
    sm->reads_waiting++;
}

static inline uint32_t place_of(struct sm *sm, int32_t id, uint32_t k, bool write) {
    const struct core_op *op = &sm->ops[id];
    if (HAS(sm, registers, place))
        return OWNER(sm, registers, place, id, k, write);
    return op->warp * MAX_GPR + (write ? op->i->d + k : op->need->reads[k]);
}

uint32_t core_place(struct sm *sm, int32_t id, uint32_t k, bool write) {
    return place_of(sm, id, k, write);
}

uint32_t core_holds(struct sm *sm, uint32_t warp, uint32_t reg) {
    if (HAS(sm, registers, holds))
        return OWNER(sm, registers, holds, warp, reg);
    return HAS(sm, registers, place) ? CORE_NO_PLACE : warp * MAX_GPR + reg;
}

/* Asks for the operands of an op where the owner of the registers has them. */
static APART void read_places(struct sm *sm, int32_t id) {
    for (uint32_t k = 0, n = sm->ops[id].need->nreads; k < n; k++) {
        uint32_t at = OWNER(sm, registers, place, id, k, false);
        queue_read(sm, id, at, owned_bank(sm, at), (int16_t)k);
    }
}

/* Asks for the operands of an op where they lie when registers have no owner. */
static EVERY_TIME void read_own(struct sm *sm, int32_t id) {
    const struct core_op *op = &sm->ops[id];
    const struct core_need *need = op->need;
    uint32_t first = op->warp * MAX_GPR;
    for (uint32_t k = 0; k < need->nreads; k++)
        queue_read(sm, id, first + need->reads[k], bank_of(sm, op->warp, need->reads[k]), (int16_t)k);
}

/* Asks for them where an owner of the registers says that they lie. */
static EVERY_TIME void read_told(struct sm *sm, int32_t id, uint32_t n, const uint16_t *places) {
    for (uint32_t k = 0; k < n; k++)
        queue_read(sm, id, places[k], owned_bank(sm, places[k]), (int16_t)k);
}

/* Ops that read from these banks read alone no more: their reads wait in queues. */
static APART void queue_lone_at(struct sm *sm, uint32_t banks) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < sm->nlone; k++)
        if (sm->lone[k].banks & banks) {
            const struct core_lone *l = &sm->lone[k];
            if (l->places)
                read_told(sm, l->op, sm->ops[l->op].need->nreads, l->places);
            else
                read_own(sm, l->op);
            sm->lone_banks &= ~sm->lone[k].banks;
        } else {
            sm->lone[n++] = sm->lone[k];
        }
    sm->nlone = n;
}

/* Banks that lie behind these, around the end, by all but so many; banks holds them twice, as need.read_banks
 * does. */
static inline uint32_t banks_behind(const struct sm *sm, uint64_t banks, uint32_t past) {
    return (uint32_t)(banks >> past) & sm->all_banks;
}

/* Takes a collector, and asks for the operands of an op where registers have no owner. */
static EVERY_TIME void collect_own(struct sm *sm, int32_t id, struct core_op *op, enum core_shape shape) {
    const struct core_need *need = op->need;
    bool more = false; /* operands than its own: core_read_beside may have asked for some */
    if (AHEAD(shape)) {
        sm->collectors_free[shape >= SHAPE_SINGLE ? COLLECT_SP : need->kind]--;
        sm->n.const_operands += need->nconsts;
        op->pending = need->nreads;
        if (shape < SHAPE_BASE && HAS(sm, banks, arbitrate)) /* who may want to know which came first */
            op->ready = sm->now;
    } else {
        enter_collector(sm, id, op);
        more = op->pending || sm->nlone == sizeof sm->lone / sizeof *sm->lone;
        op->pending = (uint8_t)(op->pending + need->nreads);
    }
    if (!op->pending) {
        operands_complete(sm, id, op, shape);
        return;
    }
    uint32_t banks = banks_behind(sm, need->read_banks, sm->banks_past[op->warp]);
    if (__builtin_expect(need->apart && !more && !(banks & sm->read_banks), 1)) {
        add_lone(sm, id, banks, NULL);
        return;
    }
    if (banks & sm->lone_banks)
        queue_lone_at(sm, banks);
    read_own(sm, id);
}

/* Before reads wait in the queues of other banks than those that an op reads from alone. */
static EVERY_TIME void make_queues(struct sm *sm) {
    if (__builtin_expect(sm->nlone, 0))
        queue_lone_at(sm, sm->lone_banks);
}

/* Operands are read from the next cycle on in which the banks are served: this one, if they were not yet. */
static EVERY_TIME void collect_op(struct sm *sm, int32_t id) {
    struct core_op *op = &sm->ops[id];
    const struct core_need *need = op->need;
    enter_collector(sm, id, op);
    make_queues(sm);
    if (HAS(sm, registers, place)) {
        read_places(sm, id);
    } else {
        read_own(sm, id);
    }
    op->pending = (uint8_t)(op->pending + need->nreads); /* core_read_beside may have asked for more */
    if (!op->pending)
        operands_complete(sm, id, op, false);
}

/* Whoever serves the banks knows of ops that read alone. */
static EVERY_TIME bool lone_served(const struct sm *sm) {
    return !HAS(sm, banks, arbitrate) || (MECHS(sm) == 1 && OWNER_POINTS(sm, banks)->banks.lone);
}

/* The registers of an op lie where they would if they had no owner. */
static EVERY_TIME bool has_own(struct sm *sm, int32_t id, bool write) {
    return !HAS(sm, registers, place) ||
           (HAS(sm, registers, own) && MECHS(sm) == 1 && OWNER(sm, registers, own, id, write));
}

/* Asks for the operands of an op where the owner of the registers, who is alone, says that they lie. */
static APART void collect_placed(struct sm *sm, int32_t id) {
    owner_collect(sm, id, OWNER(sm, registers, places, id));
}

EVERY_TIME void op_collect(struct sm *sm, int32_t id, struct core_op *op, enum core_shape shape) {
    if (shape == SHAPE_ANY || (shape < SHAPE_BASE && !lone_served(sm)))
        collect_op(sm, id);
    else if (shape >= SHAPE_BASE || has_own(sm, id, false))
        collect_own(sm, id, op, shape);
    else if (HAS(sm, registers, places) && MECHS(sm) == 1)
        collect_placed(sm, id);
    else
        collect_op(sm, id);
}

void core_collect(struct sm *sm, int32_t id) {
    if (sm->ops[id].pc == CORE_NO_PC && !HAS(sm, watch, collected))
        each_watch_collected(sm, id);
    collect_op(sm, id);
}

void core_collect_from(struct sm *sm, int32_t id, const uint16_t *places) {
    owner_collect(sm, id, places);
}

void owner_queue_reads(struct sm *sm, int32_t id, const uint16_t *places) {
    make_queues(sm);
    read_told(sm, id, sm->ops[id].need->nreads, places);
}

void core_finish(struct sm *sm, int32_t id, uint64_t cycle) {
    assert(cycle > sm->now && cycle < sm->now + CORE_WHEEL);
    access_finish_at(sm, id, cycle);
}

void core_read(struct sm *sm, int32_t id, uint32_t place) {
    make_queues(sm);
    queue_read(sm, id, place, place_bank(sm, place), CORE_NONE);
}

void core_read_beside(struct sm *sm, int32_t id, int32_t beside) {
    const struct core_op *other = &sm->ops[beside];
    make_queues(sm);
    for (uint32_t k = 0; k < other->need->nreads; k++) {
        uint32_t place = place_of(sm, beside, k, false);
        queue_read(sm, id, place, place_bank(sm, place), (int16_t)k);
    }
    sm->ops[id].pending = (uint8_t)(sm->ops[id].pending + other->need->nreads);
}

/* Arrays of a bank that an access activates, of those that it would without mechanisms. */
static EVERY_TIME uint32_t note_arrays(struct sm *sm, bool write, uint32_t arrays, uint32_t used) {
    if (__builtin_expect(used < arrays, 0))
        *(write ? &sm->n.rf_write_spared : &sm->n.rf_read_spared) += arrays - used;
    return used;
}

/* The same; word: of the result, or source (CORE_NONE: a mechanism's). The owner of the forms is asked. */
static EVERY_TIME uint32_t arrays_used(struct sm *sm, int32_t id, int32_t word, bool write) {
    const struct core_op *op = &sm->ops[id];
    uint32_t arrays = write ? op->write_arrays : CORE_ARRAYS;
    if (!HAS(sm, forms, arrays))
        return arrays;
    return note_arrays(sm, write, arrays, OWNER(sm, forms, arrays, id, word, write, arrays));
}

/* The bank serves the read behind prev (CORE_NONE: the first) of those that wait. said: the owner of the
 * forms has said how many arrays that activates, or 0: it counts the access itself. */
static inline __attribute__((always_inline)) void
serve_read(struct sm *sm, uint32_t b, int32_t prev, enum core_shape shape, bool said, uint32_t arrays) {
    int32_t *link = prev == CORE_NONE ? &sm->bank_reads[b][0] : &sm->reads[prev].next, r = *link;
    struct core_read *read = &sm->reads[r];
    *link = read->next;
    if (prev != CORE_NONE && read->next == CORE_NONE)
        sm->bank_reads[b][1] = prev;
    else if (read->next == CORE_NONE)
        sm->read_banks &= ~(1u << b);
    int32_t id = read->op;
    int16_t source = read->source;
    struct core_op *op = &sm->ops[id];
    sm->reads_waiting--;
    if (!said || arrays) {
        sm->n.rf_reads++;
        sm->n.rf_read_arrays += shape >= SHAPE_BASE ? CORE_ARRAYS
                                : said              ? note_arrays(sm, false, CORE_ARRAYS, arrays)
                                                    : arrays_used(sm, id, source, false);
    }
    read->next = sm->free_read;
    sm->free_read = r;
    if (shape < SHAPE_BASE && __builtin_expect(source == CORE_NONE, 0) && HAS(sm, back, read_done))
        OWNER(sm, back, read_done, id, sm->now);
    else if (!--op->pending && !unit_start(sm, id, op, shape))
        operands_complete(sm, id, op, shape);
}

/* A register was written: it leaves the scoreboard, or waits for the other of two writes. */
static void clear_register(struct sm *sm, uint32_t slot, uint32_t reg) {
    struct core_warp *cw = &sm->warps[slot];
    uint64_t bit = UINT64_C(1) << (reg % 64), again = cw->twice[reg / 64] & bit;
    cw->twice[reg / 64] ^= again;
    cw->pending[reg / 64] &= ~(bit ^ again);
    cw->memory[reg / 64] &= ~bit;
}

/* The same of several that follow each other. */
static EVERY_TIME void clear_registers(struct sm *sm, uint32_t slot, uint32_t first, uint32_t n) {
    struct core_warp *cw = &sm->warps[slot];
    if (__builtin_expect(first % 64 + n > 64, 0)) {
        for (uint32_t r = first; r < first + n; r++)
            clear_register(sm, slot, r);
        return;
    }
    uint64_t bits = ((UINT64_C(1) << n) - 1) << first % 64, again = cw->twice[first / 64] & bits;
    cw->twice[first / 64] ^= again;
    cw->pending[first / 64] &= ~(bits ^ again);
    cw->memory[first / 64] &= ~bits;
}

APART void clear_parted(struct sm *sm, const struct core_op *op) {
    clear_registers(sm, op->warp, op->i->d, op->i->ndw);
}

void core_expect(struct sm *sm, uint32_t warp, uint32_t reg) {
    sm->warps[warp].twice[reg / 64] |= UINT64_C(1) << (reg % 64);
}

void core_arrive(struct sm *sm, uint32_t warp, uint32_t reg) {
    clear_register(sm, warp, reg);
    warp_freed(sm, &sm->warps[warp], warp);
}

/* The end of an op of a mechanism: the scoreboard knows nothing of it. */
APART void end_injected(struct sm *sm, int32_t id) {
    struct core_warp *cw = &sm->warps[sm->ops[id].warp];
    if (!HAS(sm, watch, retire)) /* who ignores ops of the program */
        each_watch_retire(sm, id);
    TELL(sm, tell_op(sm, PROBE_END, id));
    if (!--cw->inflight && !cw->w->live)
        sm->halts |= HALT_ENDED;
    sm->ops[id].next = sm->free_op;
    sm->free_op = id;
}

/* The op ends, and what it has on the scoreboard is released. */
static EVERY_TIME void end_op(struct sm *sm, int32_t id, enum core_shape shape) {
    struct core_op *op = &sm->ops[id];
    const struct xinst *i = op->i;
    /* Words that were written have left the scoreboard, where a later instruction may hold them again; those
     * of a result that a mechanism took have not. */
    uint32_t gone = op->taken ? 0 : op->next_write;
    if (gone < i->ndw)
        clear_registers(sm, op->warp, i->d + gone, i->ndw - gone);
    leave_op(sm, id, op, &sm->warps[op->warp], shape);
}

/* An op that accesses memory ends. */
APART void end_access(struct sm *sm, struct core_op *op) {
    /* A store that a mechanism did not let go to memory. */
    if (op->sent < op->naccess && op_info[op->i->in->op].flags & OPF_STORE)
        store_done(sm, op->warp);
    if (op->accesses != CORE_NONE)
        sm->access_free[sm->naccess_free++] = op->accesses;
    op->accesses = CORE_NONE;
}

/* The same with mechanisms, which have been told. */
static EVERY_TIME void end_told(struct sm *sm, int32_t id) {
    struct core_op *op = &sm->ops[id];
    if (__builtin_expect(op->pc == CORE_NO_PC, 0)) {
        end_injected(sm, id);
        return;
    }
    if (op->need->memory)
        end_access(sm, op);
    end_op(sm, id, SHAPE_ANY);
}

static EVERY_TIME void end_watched(struct sm *sm, int32_t id) {
    AT_POINT(sm, watch, retire, id);
    end_told(sm, id);
}

APART void op_end(struct sm *sm, int32_t id) {
    if (MECHS(sm))
        end_watched(sm, id);
    else
        end_op(sm, id, SHAPE_ANY);
}

void core_retire(struct sm *sm, int32_t id) {
    assert(!sm->ops[id].later);
    op_end(sm, id);
}

void core_retire_by(struct sm *sm, int32_t id, const void *state) {
    owner_retire(sm, id, state);
}

/* An op of the program ends whose words were all written, and have left the scoreboard. */
static EVERY_TIME void end_written(struct sm *sm, int32_t id, struct core_op *op, struct core_warp *cw) {
    AT_POINT(sm, watch, retire, id);
    if (!AHEAD(SHAPE_HERE) && op->need->memory)
        end_access(sm, op);
    leave_op(sm, id, op, cw, SHAPE_HERE);
}

/* The next destination word waits for its bank; without one the op is over. */
static inline __attribute__((always_inline)) void request_write(struct sm *sm, int32_t id) {
    struct core_op *op = &sm->ops[id];
    if (op->next_write >= op->writes) {
        op_end(sm, id);
        return;
    }
    op->place = (uint16_t)place_of(sm, id, op->next_write, true);
    queue_write(sm, id,
                HAS(sm, registers, place) ? owned_bank(sm, op->place)
                                          : bank_of(sm, op->warp, op->i->d + op->next_write));
}

/* Who looks at a result, or takes it; true: it was taken. The op is marked before, as it may end at once. */
static EVERY_TIME bool offer_result(struct sm *sm, int32_t id) {
    AT_POINT(sm, watch, result, id);
    if (!HAS(sm, back, result))
        return false;
    sm->ops[id].taken = true;
    if (OWNER(sm, back, result, id, sm->now) == MECH_TAKEN)
        return true;
    sm->ops[id].taken = false;
    return false;
}

/* One word, and its bank has no other write to take in this cycle: the bank need not be asked again when it
 * is served, but for what waits behind. Nothing between now and then sees the difference. */
static inline bool can_write_at_once(const struct sm *sm, const struct core_op *op, uint32_t b) {
    return op->writes == 1 && !((sm->write_banks | sm->written_banks) >> b & 1);
}

static EVERY_TIME bool write_at_once(struct sm *sm, int32_t id, struct core_op *op, struct core_warp *cw,
                                     enum core_shape shape) {
    const struct core_need *need = op->need;
    uint32_t b = bank_of(sm, op->warp, op->i->d);
    if (!can_write_at_once(sm, op, b))
        return false;
    sm->written_banks |= 1u << b;
    sm->n.rf_writes++;
    sm->n.rf_write_arrays += op->write_arrays;
    uint64_t others = ~need->dest;
    uint32_t word = need->dest_word;
    cw->pending[word] &= others; /* no mechanism has it written twice */
    cw->memory[word] &= others;
    leave_op(sm, id, op, cw, shape);
    return true;
}

/* The same with mechanisms to whom the order of results is all the same. */
static EVERY_TIME bool write_told(struct sm *sm, int32_t id, struct core_op *op, struct core_warp *cw) {
    uint32_t b = bank_of(sm, op->warp, op->i->d);
    if (op->pc == CORE_NO_PC || !can_write_at_once(sm, op, b))
        return false;
    sm->written_banks |= 1u << b;
    op->place = (uint16_t)(op->warp * MAX_GPR + op->i->d);
    sm->n.rf_writes++;
    sm->n.rf_write_arrays += arrays_used(sm, id, 0, true);
    op->next_write = 1;
    clear_all(sm, op, cw);
    end_written(sm, id, op, cw);
    return true;
}

/* The same where somebody else serves the banks, and grants it. */
static EVERY_TIME bool write_granted(struct sm *sm, int32_t id, struct core_op *op, struct core_warp *cw) {
    uint32_t b = bank_of(sm, op->warp, op->i->d);
    if (MECHS(sm) > 1 || op->pc == CORE_NO_PC || !can_write_at_once(sm, op, b) || sm->read_banks >> b & 1)
        return false;
    op->place = (uint16_t)(op->warp * MAX_GPR + op->i->d);
    uint32_t arrays = OWNER(sm, banks, write, id, b);
    if (!arrays)
        return false;
    sm->written_banks |= 1u << b;
    sm->n.rf_writes++;
    sm->n.rf_write_arrays += note_arrays(sm, true, op->write_arrays, arrays);
    op->next_write = 1;
    clear_all(sm, op, cw);
    end_written(sm, id, op, cw);
    return true;
}

/* Destinations of an op that has nothing to write leave the scoreboard: nobody was active. */
static EVERY_TIME void clear_unwritten(struct sm *sm, const struct core_op *op, struct core_warp *cw) {
    if (__builtin_expect(op->need->nwrites, 0))
        clear_all(sm, op, cw);
}

/* One of these, as may be; an instruction of the program that has nothing to write ends at once. */
static EVERY_TIME bool write_with_mechs(struct sm *sm, int32_t id, struct core_op *op, struct core_warp *cw) {
    if (!op->writes && op->pc != CORE_NO_PC) {
        clear_unwritten(sm, op, cw);
        end_written(sm, id, op, cw);
        return true;
    }
    if (ANY_ORDER(sm) || (HAS(sm, registers, own) && has_own(sm, id, true)))
        return write_told(sm, id, op, cw);
    return HAS(sm, banks, write) && !HAS(sm, registers, place) && write_granted(sm, id, op, cw);
}

/* soon: the banks are served in this cycle. */
static EVERY_TIME void write_result(struct sm *sm, int32_t id, struct core_op *op, bool soon,
                                    enum core_shape shape) {
    struct core_warp *cw = &sm->warps[op->warp];
    KEEP(cw);
    if (AHEAD(shape)) {
        if (shape < SHAPE_BASE && HAS(sm, watch, result) && op->need->memory)
            point_watch_result(sm, id);
        bool injected = is_injected(op, shape);
        if (!op->writes && !injected) {
            clear_unwritten(sm, op, cw);
            leave_op(sm, id, op, cw, shape);
        } else if (injected ||
                   !(shape < SHAPE_BASE && HAS(sm, banks, arbitrate) ? write_granted(sm, id, op, cw)
                                                                     : write_at_once(sm, id, op, cw, shape)))
            request_write(sm, id);
        return;
    }
    if (shape == SHAPE_ANY)
        TELL(sm, tell_op(sm, PROBE_WRITEBACK, id));
    bool offered = HAS(sm, watch, result) || HAS(sm, back, result);
    if (__builtin_expect(MECHS(sm), 0)
            ? !((offered && offer_result(sm, id)) || (soon && write_with_mechs(sm, id, op, cw)))
            : !write_at_once(sm, id, op, cw, shape))
        request_write(sm, id);
}

EVERY_TIME void op_writeback(struct sm *sm, int32_t id, struct core_op *op, enum core_shape shape) {
    write_result(sm, id, op, true, shape);
}

void core_write(struct sm *sm, int32_t id) {
    sm->ops[id].taken = true; /* an injected one may come here without a result that was offered */
    request_write(sm, id);
}

void core_writeback(struct sm *sm, int32_t id) {
    write_result(sm, id, &sm->ops[id], false, SHAPE_ANY);
}

/* Tells mechanisms of a write; true: the op goes on without the scoreboard, which does not know of it.
 * Whoever took the result comes last, because it may end the op. */
static APART bool written(struct sm *sm, int32_t id, uint32_t word) {
    bool taken = sm->ops[id].taken, injected = sm->ops[id].pc == CORE_NO_PC;
    AT_POINT(sm, watch, written, id, word);
    if (taken)
        OWNER(sm, back, written, id, word);
    else if (injected)
        core_write(sm, id);
    return taken || injected;
}

/* The bank serves the write behind prev (CORE_NONE: the first) of those that wait. The next word of the
 * result then waits for its own bank, where it may be served in the same cycle. */
static inline __attribute__((always_inline)) void serve_write(struct sm *sm, uint32_t b, int32_t prev,
                                                              bool said, uint32_t arrays) {
    int32_t *q = sm->bank_writes[b], *link = prev == CORE_NONE ? q : &sm->ops[prev].next, id = *link;
    struct core_op *op = &sm->ops[id];
    *link = op->next;
    if (prev != CORE_NONE && op->next == CORE_NONE)
        q[1] = prev;
    else if (op->next == CORE_NONE)
        sm->write_banks &= ~(1u << b);
    sm->writes_waiting--;
    if (!said || arrays) {
        sm->n.rf_writes++;
        sm->n.rf_write_arrays += said ? note_arrays(sm, true, op->write_arrays, arrays)
                                      : arrays_used(sm, id, op->next_write, true);
    }
    uint32_t word = op->next_write++;
    if (op->taken && !HAS(sm, watch, written)) { /* nobody looks on while the owner goes on with it */
        OWNER(sm, back, written, id, word);
        return;
    }
    bool told = op->taken || op->pc == CORE_NO_PC || HAS(sm, watch, written);
    if (__builtin_expect(told, 0) && written(sm, id, word))
        return;
    clear_register(sm, op->warp, op->i->d + word);
    if (SHAPE_HERE != SHAPE_ANY && op->next_write == op->writes) {
        end_written(sm, id, op, &sm->warps[op->warp]);
        return;
    }
    if (op->next_write < op->writes) /* else the end of the op does it */
        warp_freed(sm, &sm->warps[op->warp], op->warp);
    request_write(sm, id);
}

void core_serve_read(struct sm *sm, uint32_t bank, int32_t prev) {
    serve_read(sm, bank, prev, SHAPE_ANY, false, 0);
}

void core_serve_write(struct sm *sm, uint32_t bank, int32_t prev) {
    serve_write(sm, bank, prev, false, 0);
}

EVERY_TIME void core_serve_read_of(struct sm *sm, uint32_t bank, int32_t prev, uint32_t arrays) {
    serve_read(sm, bank, prev, SHAPE_HERE, true, arrays);
}

EVERY_TIME void core_serve_write_of(struct sm *sm, uint32_t bank, int32_t prev, uint32_t arrays) {
    serve_write(sm, bank, prev, true, arrays);
}

EVERY_TIME void core_serve_lone(struct sm *sm, int32_t id, uint32_t arrays) {
    struct core_op *op = &sm->ops[id];
    KEEP(op);
    if (arrays) {
        sm->n.rf_reads += op->pending;
        sm->n.rf_read_arrays += arrays;
        sm->n.rf_read_spared += op->pending * CORE_ARRAYS - arrays;
    }
    op->pending = 0;
    if (!unit_start(sm, id, op, SHAPE_HERE))
        operands_complete(sm, id, op, SHAPE_HERE);
}

void core_queue_lone(struct sm *sm, uint32_t banks) {
    if (sm->nlone)
        queue_lone_at(sm, banks);
}

/* A port of the op's collector takes an operand in this cycle; false: all have one. */
static bool take_port(struct sm *sm, const struct core_read *read) {
    struct core_port *p = &sm->ports[read->op];
    if (read->source == CORE_NONE) /* for a mechanism, not for a collector */
        return true;
    if (p->cycle != sm->now)
        *p = (struct core_port){.cycle = sm->now};
    return p->taken < sm->spec->collector_ports && ++p->taken;
}

/* Collectors with few ports: each bank serves the oldest read whose collector can take it. The banks take
 * turns in being first. */
static APART void read_ports(struct sm *sm, uint32_t busy) {
    uint32_t n = sm->spec->banks, b = (uint32_t)(sm->now % n);
    for (uint32_t k = 0; k < n; k++, b = b + 1 < n ? b + 1 : 0) {
        if (!(sm->read_banks >> b & 1))
            continue;
        int32_t prev = CORE_NONE,
                r = (busy >> b & 1) && !sm->spec->dual_port ? CORE_NONE : sm->bank_reads[b][0];
        while (r != CORE_NONE && !take_port(sm, &sm->reads[r])) {
            prev = r;
            r = sm->reads[r].next;
        }
        if (r != CORE_NONE)
            serve_read(sm, b, prev, SHAPE_ANY, false, 0);
        sm->n.rf_read_conflicts += sm->read_banks >> b & 1;
    }
}

/* The only op that waits for banks writes all its words, if each has a bank of its own; returns these banks.
 */
static uint32_t write_words(struct sm *sm, uint32_t b, enum core_shape shape) {
    int32_t id = sm->bank_writes[b][0];
    struct core_op *op = &sm->ops[id];
    uint32_t n = op->writes - op->next_write, all = sm->spec->banks;
    if (op->next != CORE_NONE || n > all || !sm->bank_regs)
        return 0;
    if (shape < SHAPE_BASE && (op->pc == CORE_NO_PC || op->taken || !has_own(sm, id, true)))
        return 0;
    uint64_t first = (UINT64_C(1) << n) - 1;
    uint32_t banks = banks_behind(sm, first | first << all, all - b);
    if (banks & sm->written_banks)
        return 0;
    sm->bank_writes[b][0] = CORE_NONE;
    sm->write_banks = sm->writes_waiting = 0;
    sm->n.rf_writes += n;
    sm->n.rf_write_arrays += n * op->write_arrays;
    for (; op->next_write < op->writes; op->next_write++)
        clear_register(sm, op->warp, op->i->d + op->next_write);
    if (shape < SHAPE_BASE)
        end_written(sm, id, op, &sm->warps[op->warp]);
    else
        end_op(sm, id, shape);
    return banks;
}

/* Each bank takes a write, if one waits; returns those that took one in this cycle. */
static __attribute__((noinline)) uint32_t serve_writes(struct sm *sm, enum core_shape shape) {
    uint32_t busy = 0, written = sm->written_banks;
    bool own = AHEAD(shape) || (shape == SHAPE_USUAL && HAS(sm, registers, own));
    own = own && (shape >= SHAPE_BASE || !HAS(sm, forms, arrays));
    if (own && !(sm->write_banks & (sm->write_banks - 1))) {
        uint32_t banks = write_words(sm, (uint32_t)__builtin_ctz(sm->write_banks), shape);
        if (banks)
            return banks | written;
    }
    for (uint32_t left; (left = (sm->write_banks | written) & ~busy);) {
        uint32_t b = (uint32_t)__builtin_ctz(left);
        busy |= 1u << b;
        if (written >> b & 1) {
            sm->n.rf_write_conflicts += sm->write_banks >> b & 1;
            continue;
        }
        sm->n.rf_write_conflicts += sm->ops[sm->bank_writes[b][0]].next != CORE_NONE;
        serve_write(sm, b, CORE_NONE, false, 0);
    }
    return busy;
}

/* A write is before some reads of an op that reads alone: these wait, the others are served. */
static APART void serve_some(struct sm *sm, const struct core_lone *l, uint32_t busy) {
    struct core_op *op = &sm->ops[l->op];
    for (uint32_t k = 0; k < op->need->nreads; k++) {
        uint32_t reg = op->need->reads[k], place = l->places ? l->places[k] : op->warp * MAX_GPR + reg;
        uint32_t b = l->places ? owned_bank(sm, place) : bank_of(sm, op->warp, reg);
        if (busy >> b & 1) {
            queue_read(sm, l->op, place, b, (int16_t)k);
            sm->n.rf_read_conflicts++;
            continue;
        }
        sm->n.rf_reads++;
        sm->n.rf_read_arrays += arrays_used(sm, l->op, (int16_t)k, false);
        op->pending--;
    }
}

/* All banks of an op that reads alone serve it; busy: those that took a write instead. */
static EVERY_TIME void serve_lone(struct sm *sm, const struct core_lone *l, uint32_t busy,
                                  enum core_shape shape) {
    if (__builtin_expect(l->banks & busy && !sm->spec->dual_port, 0)) {
        serve_some(sm, l, busy);
        return;
    }
    int32_t id = l->op;
    struct core_op *op = &sm->ops[id];
    KEEP(op);
    uint32_t n = op->pending;
    sm->n.rf_reads += n;
    uint32_t all = n * CORE_ARRAYS, used = 0;
    if (shape < SHAPE_BASE && HAS(sm, forms, arrays)) {
        for (uint32_t k = 0; k < n; k++)
            used += OWNER(sm, forms, arrays, id, (int32_t)k, false, CORE_ARRAYS);
        sm->n.rf_read_spared += all - used;
        sm->n.rf_read_arrays += used;
    } else {
        sm->n.rf_read_arrays += all;
    }
    op->pending = 0;
    if (!unit_start(sm, id, op, shape))
        operands_complete(sm, id, op, shape);
}

static EVERY_TIME void arbitrate(struct sm *sm, enum core_shape shape) {
    uint32_t busy = sm->write_banks ? serve_writes(sm, shape) : sm->written_banks;
    if (shape == SHAPE_ANY && __builtin_expect(sm->ports != NULL, 0)) {
        read_ports(sm, busy);
        return;
    }
    uint32_t reads = sm->read_banks, nlone = sm->nlone, lone = 0;
    if (shape >= SHAPE_BASE || nlone) {
        reads ^= sm->lone_banks;
        sm->read_banks = reads;
        sm->nlone = sm->lone_banks = 0;
    }
    for (uint32_t left = reads; left; left &= left - 1) {
        uint32_t b = (uint32_t)__builtin_ctz(left);
        /* Ops are complete in the order of the banks that serve the last of their operands. */
        for (; lone < nlone && sm->lone[lone].banks >> b == 0; lone++)
            serve_lone(sm, &sm->lone[lone], busy, shape);
        if ((busy >> b & 1) && !sm->spec->dual_port) {
            sm->n.rf_read_conflicts++;
            continue;
        }
        serve_read(sm, b, CORE_NONE, shape, false, 0);
        sm->n.rf_read_conflicts += sm->bank_reads[b][0] != CORE_NONE;
    }
    for (; lone < nlone; lone++)
        serve_lone(sm, &sm->lone[lone], busy, shape);
}

void core_arbitrate(struct sm *sm) {
    arbitrate(sm, SHAPE_ANY);
}

EVERY_TIME void sm_collect(struct sm *sm, uint64_t now, enum core_shape shape) {
    bool any = sm->read_banks | sm->write_banks;
    if (shape < SHAPE_BASE && HAS(sm, banks, arbitrate))
        OWNER(sm, banks, arbitrate, now);
    else if (any)
        arbitrate(sm, shape);
    sm->written_banks = 0;
    if ((any || !AHEAD(shape)) &&
        (sm->reads_waiting | sm->writes_waiting)) { /* whoever still waits was refused */
        sm->n.rf_read_retries += sm->reads_waiting;
        sm->n.rf_write_retries += sm->writes_waiting;
    }
    if (shape < SHAPE_BASE)
        sm->served = now;
}
