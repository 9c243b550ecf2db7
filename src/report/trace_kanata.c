/* Kanata 0004: lines of words separated by tabs, in the order of cycles. Lane 0 has the stages, lane 1 what
 * the next instruction of a warp waits for. */
#include <inttypes.h>
#include <stdio.h>

#include "report/trace_model.h"

enum { LANE_STAGE, LANE_STALL };
enum { LABEL_LEFT, LABEL_DETAIL };
enum { RETIRED, FLUSHED };

static void kanata_open(struct trace *t) {
    t->file_cycle = UINT64_MAX;
    trace_out_printf(&t->out, "Kanata\t0004\n");
}

/* What follows happens in this cycle. */
static void at(struct trace *t, uint64_t cycle) {
    if (t->file_cycle == UINT64_MAX)
        trace_out_printf(&t->out, "C=\t%" PRIu64 "\n", cycle);
    else if (cycle > t->file_cycle)
        trace_out_printf(&t->out, "C\t%" PRIu64 "\n", cycle - t->file_cycle);
    t->file_cycle = cycle;
}

static void kanata_begin(struct trace *t, uint64_t cycle, const struct trace_sm *sm, struct trace_inst *i) {
    const struct trace_text *text = trace_text(t, i->pc);
    char owner[64];
    trace_owner(t, i, owner, sizeof owner);
    at(t, cycle);
    i->id = t->next_id++;
    trace_out_printf(&t->out, "I\t%u\t%" PRIu64 "\t%" PRIu64 "\n", i->id, i->serial, i->warp);
    if (i->foreign)
        trace_out_printf(&t->out, "L\t%u\t%d\t%s ----:\n", i->id, LABEL_LEFT, owner);
    else
        trace_out_printf(&t->out, "L\t%u\t%d\t%s %04x: %s\n", i->id, LABEL_LEFT, owner,
                         i->pc * TRACE_INST_BYTES, text->inst);
    if (i->warp < trace_grid_warps(t)) {
        uint32_t b[3];
        trace_block_id(t, i->warp / t->kernel->warps, b);
        snprintf(owner, sizeof owner, "block (%u,%u,%u), warp %u", b[0], b[1], b[2],
                 (uint32_t)(i->warp % t->kernel->warps));
    }
    trace_out_printf(&t->out, "L\t%u\t%d\tlaunch %" PRIu64 " %.32s, %s, SM %u\\n%s\n", i->id, LABEL_DETAIL,
                     t->kernel->launch, t->name, owner, sm->id,
                     i->foreign ? "added by a mechanism" : text->where);
}

static void kanata_issue(struct trace *t, uint64_t cycle, const struct trace_sm *sm,
                         const struct trace_inst *i) {
    (void)sm;
    at(t, cycle);
    trace_out_printf(&t->out, "L\t%u\t%d\t\\ninstruction %" PRIu64 " of the warp, lanes %08x\n", i->id,
                     LABEL_DETAIL, i->number, i->mask);
}

static void kanata_note(struct trace *t, uint64_t cycle, const struct trace_sm *sm,
                        const struct trace_inst *i, const char *text) {
    (void)sm;
    at(t, cycle);
    trace_out_printf(&t->out, "L\t%u\t%d\t [%.100s]\n", i->id, LABEL_LEFT, text);
}

/* One lane goes from one stage to another; NULL: none. */
static void lane(struct trace *t, const struct trace_inst *i, int lane, const char *from, const char *to) {
    if (from)
        trace_out_printf(&t->out, "E\t%u\t%d\t%s\n", i->id, lane, from);
    if (to)
        trace_out_printf(&t->out, "S\t%u\t%d\t%s\n", i->id, lane, to);
}

static const char *state_name(uint8_t state) {
    return state == PROBE_STATES ? NULL : trace_state_names[state];
}

static void kanata_stage(struct trace *t, uint64_t cycle, const struct trace_sm *sm, struct trace_inst *i) {
    (void)sm;
    at(t, cycle);
    lane(t, i, LANE_STAGE, trace_stage_names[i->shown], trace_stage_names[i->stage]);
}

static void kanata_reason(struct trace *t, uint64_t cycle, const struct trace_sm *sm,
                          const struct trace_inst *i) {
    (void)sm;
    at(t, cycle);
    lane(t, i, LANE_STALL, state_name(i->reason_shown), state_name(i->reason));
}

static void kanata_end(struct trace *t, uint64_t cycle, const struct trace_sm *sm, const struct trace_inst *i,
                       enum trace_end how) {
    (void)sm;
    at(t, cycle);
    if (i->unit)
        trace_out_printf(&t->out, "L\t%u\t%d\t\\nunit %s\n", i->id, LABEL_DETAIL, i->unit);
    if (i->lines)
        trace_out_printf(&t->out, "L\t%u\t%d\t\\n%u lines from 0x%" PRIx64 ", %u in the cache\n", i->id,
                         LABEL_DETAIL, i->lines, i->addr, i->hits);
    if (how == END_CUT)
        trace_out_printf(&t->out, "L\t%u\t%d\t\\nthe trace ends before this instruction does\n", i->id,
                         LABEL_DETAIL);
    lane(t, i, LANE_STALL, state_name(i->reason_shown), NULL);
    lane(t, i, LANE_STAGE, trace_stage_names[i->shown], NULL);
    bool retired = i->issued && how != END_FLUSHED;
    trace_out_printf(&t->out, "R\t%u\t%" PRIu64 "\t%d\n", i->id, trace_retire_id(t, i),
                     retired ? RETIRED : FLUSHED);
}

static void kanata_close(struct trace *t) {
    (void)t; /* the format has no end */
}

const struct trace_format trace_kanata = {
    .open = kanata_open,
    .begin = kanata_begin,
    .issue = kanata_issue,
    .note = kanata_note,
    .stage = kanata_stage,
    .reason = kanata_reason,
    .end = kanata_end,
    .close = kanata_close,
};
