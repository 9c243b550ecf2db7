/* The SM as mechanisms see it: they read struct sm, its warps, ops and queues, and change them through these.
 * A warp's stack of paths they may change through exec/warp.h, and say so with core_redirect; that of a warp
 * whose instruction issues at watch.issued and front.take, where the SM looks by itself. */
#ifndef REPRISE_CORE_VIEW_H
#define REPRISE_CORE_VIEW_H

#include "core/core.h"
#include "core/regfile.h"

/* ---- ops on their way ---- */

/* An operand collector is free for an instruction that needs this. */
static inline bool core_collector_free(const struct sm *sm, const struct core_need *need) {
    return sm->collectors_free[need->kind];
}

/* The op that the instruction which is about to take effect will be: for registers.fill, values.sources and
 * watch.before. Before a control instruction, which is none, it is one that is free, or CORE_NONE. */
static inline int32_t core_next_op(const struct sm *sm) {
    return sm->free_op;
}
/* The op, taken at issue or injected, takes a collector, which must be free, and reads its operands. */
void core_collect(struct sm *sm, int32_t op);
/* The same for the owner of the registers, which says at once where each of the operands lies, instead of
 * being asked (registers.place). */
void core_collect_from(struct sm *sm, int32_t op, const uint16_t *places);
/* The one destination register of an op that was taken at issue gets value instead of what the instruction
 * computes, and the program goes on with it. --check compares the two. */
void core_give(struct sm *sm, int32_t op, const uint32_t value[WARP_LANES]);
/* The same, and the op ends without being executed or written. */
void core_supply(struct sm *sm, int32_t op, const uint32_t value[WARP_LANES]);
/* The execution of an op that was taken at issue or at its access ends in a cycle after this one, less than
 * CORE_WHEEL ahead; result follows. Accesses to memory that it has not made are not made. */
void core_finish(struct sm *sm, int32_t op, uint64_t cycle);
/* The execution of an op that is not over takes so many cycles more. */
static inline void core_delay(struct sm *sm, int32_t op, uint32_t cycles) {
    sm->ops[op].delay = (uint16_t)(sm->ops[op].delay + cycles);
}
/* Destination word op->next_write of an op whose result was taken, or that was injected, goes to its bank;
 * written follows. */
void core_write(struct sm *sm, int32_t op);
/* The same for the owner of the registers, which says where the word goes, instead of being asked. */
static inline void core_write_to(struct sm *sm, int32_t op, uint32_t place) {
    assert(sm->ops[op].next_write < sm->ops[op].writes);
    sm->ops[op].taken = true;
    sm->ops[op].place = (uint16_t)place;
    queue_write(sm, op, owned_bank(sm, place));
}
/* Does no write keep a word of such an owner from its bank in this cycle, and nobody else look on? At
 * life.tick. */
static inline bool core_writes_now(const struct sm *sm) {
    return sm->mech.n == 1 && !(sm->write_banks | sm->written_banks);
}
/* Then the next word is written at once; written does not follow. If there are several: by their banks, of
 * which no two may be the same. */
static inline void core_write_now(struct sm *sm, int32_t op, uint32_t place) {
    struct core_op *o = &sm->ops[op];
    sm->written_banks |= 1u << owned_bank(sm, place);
    sm->n.rf_writes++;
    sm->n.rf_write_arrays += o->write_arrays;
    o->taken = true;
    o->next_write++;
}
/* The same word is not written, because a register that has value stands for it: the program goes on with
 * that. --check compares it with what was computed. The next word is the one in work. NULL: the mechanism has
 * found that this value and the one computed are the same. */
void core_share(struct sm *sm, int32_t op, const uint32_t value[WARP_LANES]);
/* One lane computed for these: in them, what an op has written to registers and predicates is replaced by
 * what it wrote in lane `from`. --check compares. For watch.issued. */
void core_spread(struct sm *sm, int32_t op, uint32_t from, uint32_t lanes);
/* In these lanes the latch of a warp's register gets what a mechanism holds of it. --check compares it with
 * what is there. For values.sources. */
void core_operand(struct sm *sm, uint32_t warp, uint32_t reg, const uint32_t value[WARP_LANES],
                  uint32_t lanes);
/* The latch itself, where core_operand would do no more than put the value there: for all lanes, and nobody
 * compares. NULL otherwise. */
static inline uint32_t *core_latch(struct sm *sm, uint32_t warp, uint32_t reg, uint32_t lanes) {
    return lanes == UINT32_MAX && !sm->check.on ? sm->warps[warp].w->r[reg] : NULL;
}
/* The execution of an op that was taken at issue ends now, without having been in a unit: its result is
 * offered, and goes to the banks. */
void core_writeback(struct sm *sm, int32_t op);
/* The op ends: what it has on the scoreboard is released. */
void core_retire(struct sm *sm, int32_t op);
/* The same for the mechanism of this state, which is not told (watch.retire): it has seen to that. */
void core_retire_by(struct sm *sm, int32_t op, const void *state);

/* ---- register banks ---- */

/* The number of the physical register that is op's k-th source (write: destination word): the owner's, or,
 * when the registers have no owner, one for each register of each warp. */
uint32_t core_place(struct sm *sm, int32_t op, uint32_t k, bool write);
/* The same of a warp's register, for the instruction in front of its buffer, which has no op yet.
 * CORE_NO_PLACE: the owner has none for it, or does not say. */
uint32_t core_holds(struct sm *sm, uint32_t warp, uint32_t reg);
/* Asks for one more read, of a physical register, on behalf of op; back.read_done follows. */
void core_read(struct sm *sm, int32_t op, uint32_t place);
/* The operands of another op that was taken at issue are read into the collector of this one, which is about
 * to take it and needs them, too, to be complete. For front.take. */
void core_read_beside(struct sm *sm, int32_t op, int32_t other);
/* A bank serves the waiting read (write) behind prev, or the first if prev is CORE_NONE: for
 * banks.arbitrate. sm->read_banks and sm->write_banks have the banks at which requests wait, oldest first:
 * reads from sm->bank_reads[bank][0] on, linked by sm->reads[].next, writes from sm->bank_writes[bank][0] on,
 * linked by sm->ops[].next. */
void core_serve_read(struct sm *sm, uint32_t bank, int32_t prev);
void core_serve_write(struct sm *sm, uint32_t bank, int32_t prev);
/* The same for the owner of the forms, who says how many arrays the access activates, instead of being asked,
 * or 0: it counts the access itself, later (tally). */
void core_serve_read_of(struct sm *sm, uint32_t bank, int32_t prev, uint32_t arrays);
void core_serve_write_of(struct sm *sm, uint32_t bank, int32_t prev, uint32_t arrays);
/* All banks of an op that reads alone (sm->lone) serve it, which activates so many arrays, or 0, as above;
 * whoever does that empties sm->lone. */
void core_serve_lone(struct sm *sm, int32_t op, uint32_t arrays);
/* Ops that read alone from some of these banks do so no more: their reads wait like others. */
void core_queue_lone(struct sm *sm, uint32_t banks);
/* Counts banks that left reads (writes) waiting in this cycle. */
static inline void core_conflicts(struct sm *sm, uint32_t reads, uint32_t writes) {
    sm->n.rf_read_conflicts += reads;
    sm->n.rf_write_conflicts += writes;
}
/* The SM's own arbiter: each bank one access a cycle, writes first, or one of each with two ports. */
void core_arbitrate(struct sm *sm);

/* ---- instructions of the mechanism's own ---- */

/* An instruction that is not the program's, prepared once: core_prepare. It takes a collector of the first
 * kind. */
struct core_own {
    struct xinst i;
    struct core_need need;
};
static inline void core_prepare(struct core_own *own) {
    own->need = core_need(&own->i);
}
/* A new op of a warp for lanes mask, which does not take effect and has nothing on the scoreboard: a copy of
 * registers the mechanism needs. It is as if taken at issue. CORE_NONE when there is no room. */
int32_t core_inject(struct sm *sm, uint32_t warp, const struct core_own *own, uint32_t mask);

/* A destination of the warp's instruction that has just issued needs one more write before others may read or
 * write it: of an op that the mechanism injects, when there is room for it, at whose end it calls
 * core_arrive. */
void core_expect(struct sm *sm, uint32_t warp, uint32_t reg);
void core_arrive(struct sm *sm, uint32_t warp, uint32_t reg);

/* A move of each register to itself, prepared, by its number: what copies of registers are made of. */
struct core_own *core_copies(struct arena *a);

/* A second stream that runs img in the launch that begins: for life.start, at most CORE_STREAMS of them. */
struct core_stream *core_stream_open(struct sm *sm, const struct image *img);
/* It begins at its first instruction, for these lanes, with all registers 0; false when no warp slot is free.
 * Slots beyond those of the program's warps are taken first. It ends by EXIT, or is stopped: what it has
 * issued then still comes to its end, before the slot is free and life.warp tells so. */
bool core_stream_start(struct sm *sm, struct core_stream *t, uint32_t lanes);
void core_stream_stop(struct sm *sm, struct core_stream *t);
/* The stream a warp slot runs; NULL: a warp of the program. */
struct core_stream *core_stream_of(struct sm *sm, uint32_t warp);

/* Accesses memory through the L1 for the mechanism: loads, prefetches, with or without locking the line. If
 * the answer is one that mem_accepted takes, memory.arrived follows, with the token, but for prefetches. A
 * token has 30 bits, or is the number of an op with CORE_OF_OP: then the answer does not come before the op
 * has its result, if it is a load.
 */
enum mem_result core_request(struct sm *sm, const struct mem_access *a, uint32_t token, uint64_t now);
/* The mechanism reads from this line, of 128 bytes, in memory that the launch may write: at most once in a
 * cycle, and of what it has read loads alone take something, when they issue. If somebody turns out to have
 * written there before, memory.again follows, with the token (31 bits). */
static inline void core_reads(struct sm *sm, uint64_t line, uint32_t token, uint64_t now) {
    assert(sm->mech.has >> MECH_AT_memory_again & 1);
    if (sm->later)
        later_note(sm->later, line, now, (int32_t)token);
}
/* Changes whenever the data cache may answer a request otherwise, or refuse it for another reason. */
static inline uint32_t core_data_epoch(const struct sm *sm) {
    return *sm->epoch[MEM_DATA] + sm->data_accepted;
}
/* For who may make many requests, of which one is accepted. Would the data cache refuse any, because it is
 * busy? If not: what would it say to one for a load? A refusal stays one until core_data_room changes, and
 * its reason what it is, unless that is MEM_STALL_WAYS. */
static inline bool core_data_busy(struct sm *sm, uint64_t now) {
    return memsys_is_busy(sm->mem, now, sm->id);
}
static inline enum mem_result core_would_request(const struct sm *sm, const struct mem_access *a) {
    return memsys_would_load(sm->mem, sm->id, a);
}
static inline uint32_t core_data_room(const struct sm *sm) {
    return *sm->epoch[MEM_DATA];
}
/* The SM wakes when what was refused for any of these reasons may be possible: it does so for one, and for
 * several if the same can cure all of them and it was refused last. */
static inline bool core_wakes_for(const struct sm *sm, uint32_t whys) {
    return !(whys & (whys - 1)) || (!(whys & ~(uint32_t)MEM_CURED_BY_FILL) && sm->lsu_epoch == UINT32_MAX);
}
/* Requests that would be refused in this cycle are counted as if they had been made: whys are the reasons, as
 * bits, and the last of them is this, refused why. To be called before another request is made. */
static inline void core_count_refused(struct sm *sm, const struct mem_access *a, enum mem_result why,
                                      uint32_t whys, uint64_t now) {
    memsys_refused(sm->mem, now, sm->id, a, why, whys);
}
/* The same for a request, the last of this cycle, that was refused why when core_data_epoch was epoch,
 * as were all others that the mechanism would make in this cycle: true if they are refused again, which is
 * counted. False: they are to be made. */
bool core_refused(struct sm *sm, const struct mem_access *a, enum mem_result why, uint32_t epoch,
                  uint64_t now);
/* DRAM was asked for what has arrived, on behalf of that request. For memory.arrived. */
static inline bool core_arrived_from_dram(const struct sm *sm) {
    return sm->answer_far;
}

/* ---- warps ---- */

/* The warp has one path, and what it fetches next is sure to come next: no control instruction waits in its
 * buffer, and nothing is on its way to it. */
static inline bool core_can_skip(const struct sm *sm, uint32_t warp) {
    const struct core_warp *cw = &sm->warps[warp];
    if (!cw->w || cw->w->depth != 1 || cw->fetching || cw->arriving || sm->blocked >> warp & 1)
        return false;
    for (uint32_t k = 0; k < cw->buffered; k++)
        if (cw->needs[cw->buffer[(cw->first + k) % CORE_BUFFER]].control)
            return false;
    return true;
}
/* The instruction at pc, which may not be control, will not be fetched, and counts as executed without effect
 * once all before it has issued. For warps that core_can_skip; pc is at most CORE_AHEAD - 1 beyond the warp's
 * fetch_pc, with no control instruction between. Later fetches pass over it. */
void core_skip(struct sm *sm, uint32_t warp, uint32_t pc);
/* The owner of the stream is asked again about instructions that it holds (DECODE_HOLD): in this cycle, if
 * warps have not fetched in it yet. */
void core_ask(struct sm *sm, uint32_t warp);
/* The warp's next fetch brings at most n instructions, not 0. */
void core_fetch_most(struct sm *sm, uint32_t warp, uint32_t n);
/* The warp waits for something of the mechanism's, or does so no more. As long as it waits it has no place
 * among the active warps of a two-level scheduler: others that it may wait for get it. */
static inline void core_park(struct sm *sm, uint32_t warp, bool waits) {
    set_bit(&sm->parked, warp_bit(warp), waits);
}
/* Schedulers own warps by pairs of neighbouring slots, so that warps which issue as one leave slots to others
 * of both. For create. */
void core_pair_warps(struct sm *sm);
/* From now on the gate of the mechanism of this state is open: gate.eligible would let all warps pass, and is
 * not called; or that is so no more. */
void core_open_gate(struct sm *sm, const void *state, bool open);
/* Gate and slots of the mechanism of this state concern these warps alone, from now on: all until it says so.
 */
static inline void core_concern(struct sm *sm, const void *state, uint64_t warps) {
    uint64_t all = warps;
    for (uint32_t each = 0; __builtin_expect(sm->mech.n > 1, 0) && each < sm->mech.n; each++) {
        if (sm->mech.at[each].state == state)
            sm->mech.at[each].concern = warps;
        all |= sm->mech.at[each].concern;
    }
    sm->mech.concern = all;
}
/* The mechanism of this state, if it is alone, is not told of the program's ops at a point of watch: issued,
 * collected, retire. It still is of those that it injects. For life.start. A copy of the stages that is
 * compiled for it goes by life.ignores alone. */
void core_ignore(struct sm *sm, const void *state, enum mech_point point);
/* The launch that begins is none for the copy of the stages that is compiled for the mechanism, which calls
 * this. For life.start. */
static inline void core_leave_copy(struct sm *sm) {
    sm->copied = false;
}
/* The mechanism of this state has nothing to do in the launch that begins: none of its points is called
 * before life.finish, unless others are stacked with it that have something to do. For life.start. */
void core_rest(struct sm *sm, const void *state);
/* When the mechanism of this state is asked for issue slots, from now on. */
void core_want_slots(struct sm *sm, const void *state, enum mech_slots when);
/* There is room for an op of the warp's next instruction, and the scoreboard lets it pass. */
static inline bool core_can_issue(const struct sm *sm, uint32_t warp) {
    uint64_t bit = UINT64_C(1) << warp;
    return sm->resident & sm->clear & ~(sm->blocked | sm->held) & bit && sm->free_op != CORE_NONE &&
           (sm->naccess_free || without_access(sm, bit));
}
/* The next instruction of a warp that core_can_issue takes effect beside that of another, without a slot of
 * its own and without having been fetched; what the warp's buffer holds is given up. Returns its op, as if
 * taken at issue; CORE_NONE for control instructions, which are over. For front.take of the other. */
int32_t core_issue(struct sm *sm, uint32_t warp, uint64_t now);
/* A memory op that was taken at issue goes to the load/store unit, or to that of textures, without having
 * been collected. */
void core_memory(struct sm *sm, int32_t op);
/* The mechanism changed the warp's stack of paths: the warp goes on where the stack says. */
void core_redirect(struct sm *sm, uint32_t warp);

#endif
