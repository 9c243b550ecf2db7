/* What the SM tells its watchers. Kept out of the stages, and called only when there is a watcher, so that
 * others pay one test of a pointer for each event. */
#include "core/core.h"

static const char *const unit_names[UNIT_COUNT] = {
    [UNIT_SP] = "SP",   [UNIT_SFU] = "SFU", [UNIT_DP] = "DP",     [UNIT_TENSOR] = "TENSOR",
    [UNIT_MEM] = "MEM", [UNIT_TEX] = "TEX", [UNIT_CTRL] = "CTRL",
};

static const char *const answers[MEM_STALL] = {
    [MEM_HIT] = "hit", [MEM_MISS] = "miss", [MEM_MERGED] = "merged", [MEM_SENT] = "sent"};

/* Which code a warp slot runs: 0 the program, else the number of a second stream. */
static uint8_t stream_of(const struct sm *sm, uint32_t slot) {
    for (uint32_t k = 0; sm->streaming >> slot & 1 && k < sm->nstreams; k++)
        if (sm->warps[slot].x == &sm->streams[k].x)
            return (uint8_t)(k + 1);
    return 0;
}

/* The number of an instruction of the code that a warp slot runs, among all code of the launch. */
static uint32_t pc_of(const struct sm *sm, uint32_t slot, uint32_t pc) {
    uint32_t stream = stream_of(sm, slot);
    for (uint32_t k = 0; k < stream; k++)
        pc += (k ? &sm->streams[k - 1].x : sm->x)->img->ncode;
    return pc;
}

/* Fills in what all events have in common; those that do not speak of this cycle bring their own. */
static void tell(const struct sm *sm, enum probe_kind kind, struct probe_event e) {
    e.kind = (uint8_t)kind;
    e.sm = (uint16_t)sm->id;
    if (!e.cycle)
        e.cycle = sm->now;
    probe_tell(sm->probe, &e);
}

void tell_block(const struct sm *sm, enum probe_kind kind, const struct cta *c) {
    tell(sm, kind, (struct probe_event){.block = c->number, .n = c->nwarps});
}

void tell_warp(const struct sm *sm, enum probe_kind kind, uint32_t slot) {
    const struct warp *w = sm->warps[slot].w;
    tell(sm, kind,
         (struct probe_event){
             .slot = (uint16_t)slot, .stream = stream_of(sm, slot), .block = w->cta->number, .n = w->index});
}

void tell_fetch(const struct sm *sm, enum probe_kind kind, uint32_t slot, uint32_t pc, uint32_t n) {
    tell(sm, kind,
         (struct probe_event){
             .slot = (uint16_t)slot, .stream = stream_of(sm, slot), .pc = pc_of(sm, slot, pc), .n = n});
}

void tell_issue(const struct sm *sm, enum probe_kind kind, uint32_t slot, uint32_t mask, int32_t op) {
    const struct core_warp *cw = &sm->warps[slot];
    tell(sm, kind,
         (struct probe_event){.slot = (uint16_t)slot,
                              .stream = stream_of(sm, slot),
                              .pc = pc_of(sm, slot, cw->next),
                              .mask = mask,
                              .op = op,
                              .warp = cw->w});
}

void tell_op(const struct sm *sm, enum probe_kind kind, int32_t op) {
    tell(sm, kind, (struct probe_event){.op = op, .n = sm->ops[op].passes});
}

void tell_dispatch(const struct sm *sm, int32_t op, enum op_unit unit, bool queued) {
    tell(sm, PROBE_DISPATCH, (struct probe_event){.op = op, .n = queued, .text = unit_names[unit]});
}

void tell_send(const struct sm *sm, int32_t op, uint64_t line, enum mem_result answer) {
    tell(sm, PROBE_SEND,
         (struct probe_event){.op = op, .addr = line, .n = sm->ops[op].naccess, .text = answers[answer]});
}

static enum probe_state state_of(const struct sm *sm, uint32_t s, uint64_t ready, uint64_t possible,
                                 enum probe_state lack) {
    uint64_t bit = UINT64_C(1) << s;
    const struct core_warp *cw = &sm->warps[s];
    if (!cw->w->live)
        return PROBE_STATE_DONE;
    if (sm->blocked & bit)
        return cw->fence ? PROBE_STATE_FENCE : PROBE_STATE_BARRIER;
    if (sm->held & bit)
        return PROBE_STATE_CONTROL;
    if (!(sm->valid & bit))
        return PROBE_STATE_FETCHING;
    if (!(sm->clear & bit))
        return sm->on_memory & bit ? PROBE_STATE_MEMORY : PROBE_STATE_DATA;
    return ready & ~possible & bit ? lack : PROBE_STATE_READY;
}

static void tell_state(const struct sm *sm, uint32_t sched, uint32_t slot, uint64_t cycle,
                       enum probe_state state) {
    tell(sm, PROBE_WARP_STATE,
         (struct probe_event){.slot = (uint16_t)slot, .n = sched, .cycle = cycle, .state = (uint8_t)state});
}

void tell_refused(const struct sm *sm, uint32_t sched, uint64_t warps) {
    for (uint64_t left = warps; left; left &= left - 1)
        tell_state(sm, sched, (uint32_t)__builtin_ctzll(left), sm->now, PROBE_STATE_MECHANISM);
}

void tell_inject(const struct sm *sm, int32_t op) {
    tell(sm, PROBE_INSERT,
         (struct probe_event){
             .slot = sm->ops[op].warp, .op = op, .text = op_info[sm->ops[op].i->in->op].name});
}

void tell_skip(const struct sm *sm, uint32_t slot, uint32_t pc) {
    tell(sm, PROBE_SKIP,
         (struct probe_event){.slot = (uint16_t)slot,
                              .stream = stream_of(sm, slot),
                              .pc = pc_of(sm, slot, pc),
                              .text = "skipped"});
}

void tell_note(const struct sm *sm, int32_t op, const char *text) {
    tell(sm, PROBE_NOTE, (struct probe_event){.op = op, .text = text});
}

void tell_states(const struct sm *sm, uint32_t sched, uint64_t cycle, uint64_t ready, uint64_t possible,
                 enum probe_state lack) {
    if (!probe_wanted(sm->probe, PROBE_WARP_STATE))
        return;
    for (uint64_t left = sm->group[sched] & sm->resident; left; left &= left - 1) {
        uint32_t s = (uint32_t)__builtin_ctzll(left);
        tell_state(sm, sched, s, cycle, state_of(sm, s, ready, possible, lack));
    }
}
