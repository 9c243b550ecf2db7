/* The JSON of Chrome's trace viewer, which Perfetto reads: an array of events, one a line. A process is an
 * SM, a thread a warp slot; a cycle is a microsecond. The array's end may be missing, so that an interrupted
 * run leaves a file that opens. Processes and threads are numbered from 1, because viewers take 0 for the
 * idle one. */
#include <inttypes.h>
#include <string.h>

#include "report/trace_model.h"

/* One event, written whole: kind, time, process, thread, and the rest of the object, a format that begins
 * with a string. */
#define EVENT(t, ph, ts, pid, tid, ...) EVENT_(t, ph, ts, pid, tid, __VA_ARGS__, "")
#define EVENT_(t, ph, ts, pid, tid, rest, ...)                                                               \
    trace_out_printf(&(t)->out, ",\n{\"ph\":\"%s\",\"ts\":%" PRIu64 ",\"pid\":%u,\"tid\":%u" rest "}%s", ph, \
                     ts, (pid) + 1u, (tid) + 1u, __VA_ARGS__)

enum { LAUNCHES = 999999 }; /* the process of the launches */

static void chrome_open(struct trace *t) {
    trace_out_printf(&t->out,
                     "[\n{\"ph\":\"M\",\"ts\":0,\"pid\":%d,\"tid\":1,\"name\":\"process_name\","
                     "\"args\":{\"name\":\"launches\"}}",
                     LAUNCHES + 1);
}

static void chrome_close(struct trace *t) {
    trace_out_printf(&t->out, "\n]\n");
}

/* Gives a warp slot, and its SM, a name when they are used for the first time. */
static void name_track(struct trace *t, struct trace_sm *sm, uint32_t slot) {
    if (!sm->named)
        EVENT(t, "M", UINT64_C(0), sm->id, 0, ",\"name\":\"process_name\",\"args\":{\"name\":\"SM %u\"}",
              sm->id);
    if (!(sm->named >> slot & 1))
        EVENT(t, "M", UINT64_C(0), sm->id, slot,
              ",\"name\":\"thread_name\",\"args\":{\"name\":\"warp slot %u\"}", slot);
    sm->named |= UINT64_C(1) << slot;
}

static void chrome_kernel(struct trace *t, uint64_t cycle, bool begin) {
    const struct probe_kernel *k = t->kernel;
    if (begin)
        EVENT(t, "B", cycle, LAUNCHES, 0,
              ",\"name\":\"%s\",\"args\":{\"launch\":%" PRIu64 ",\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u]}",
              t->name, k->launch, k->grid[0], k->grid[1], k->grid[2], k->block[0], k->block[1], k->block[2]);
    else
        EVENT(t, "E", cycle, LAUNCHES, 0, "");
}

static void chrome_block(struct trace *t, uint64_t cycle, struct trace_sm *sm, uint64_t block, bool begin) {
    uint32_t b[3];
    trace_block_id(t, block, b);
    EVENT(t, begin ? "b" : "e", cycle, sm->id, 0,
          ",\"cat\":\"block\",\"id\":\"b%" PRIu64 ".%" PRIu64 "\",\"name\":\"block (%u,%u,%u)\"",
          t->kernel->launch, block, b[0], b[1], b[2]);
}

static void chrome_warp(struct trace *t, uint64_t cycle, struct trace_sm *sm, uint32_t slot, bool begin) {
    const struct trace_warp *w = &sm->warps[slot];
    uint32_t b[3];
    trace_block_id(t, w->block, b);
    name_track(t, sm, slot);
    if (begin && w->stream)
        EVENT(t, "B", cycle, sm->id, slot, ",\"name\":\"stream %u of a mechanism\"", w->stream);
    else if (begin)
        EVENT(t, "B", cycle, sm->id, slot, ",\"name\":\"block (%u,%u,%u) warp %u\"", b[0], b[1], b[2],
              w->index);
    else
        EVENT(t, "E", cycle, sm->id, slot, "");
}

static void chrome_state(struct trace *t, uint64_t cycle, const struct trace_sm *sm, uint32_t slot) {
    const struct trace_warp *w = &sm->warps[slot];
    if (w->shown == PROBE_STATES || w->shown == PROBE_STATE_ISSUED || cycle <= w->since)
        return;
    EVENT(t, "X", w->since, sm->id, slot, ",\"dur\":%" PRIu64 ",\"cat\":\"wait\",\"name\":\"%s\"",
          cycle - w->since, trace_state_names[w->shown]);
}

/* The first word of an instruction, without its guard. */
static int mnemonic(const char **text) {
    if (**text == '@')
        *text += strcspn(*text, " ") + (strchr(*text, ' ') != NULL);
    return (int)strcspn(*text, " ");
}

static void chrome_issue(struct trace *t, uint64_t cycle, const struct trace_sm *sm,
                         const struct trace_inst *i) {
    if (i->issue_at != cycle)
        return; /* it was before the window opened */
    const struct trace_text *text = trace_text(t, i->pc);
    const char *name = text->inst;
    int n = mnemonic(&name);
    EVENT(t, "X", cycle, sm->id, i->slot,
          ",\"dur\":1,\"cat\":\"issue\",\"name\":\"%.*s\",\"args\":{\"pc\":\"%04x\",\"inst\":\"%s\","
          "\"source\":\"%s\","
          "\"number\":%" PRIu64 ",\"lanes\":\"%08x\"}",
          n, name, i->pc * TRACE_INST_BYTES, text->inst, text->where, i->number, i->mask);
}

static void chrome_note(struct trace *t, uint64_t cycle, const struct trace_sm *sm,
                        const struct trace_inst *i, const char *note) {
    EVENT(t, "i", cycle, sm->id, i->slot, ",\"s\":\"t\",\"name\":\"%.100s\"", note);
}

/* Memory instructions are asynchronous slices, from their unit's queue to their end. */
static void chrome_stage(struct trace *t, uint64_t cycle, const struct trace_sm *sm, struct trace_inst *i) {
    if (!i->memory || i->id)
        return;
    const char *name = trace_text(t, i->pc)->inst;
    int n = mnemonic(&name);
    i->id = ++t->next_id;
    EVENT(t, "b", cycle, sm->id, i->slot, ",\"cat\":\"memory\",\"id\":\"m%u\",\"name\":\"%.*s\"", i->id, n,
          name);
}

static void chrome_end(struct trace *t, uint64_t cycle, const struct trace_sm *sm, const struct trace_inst *i,
                       enum trace_end how) {
    (void)how;
    if (!i->id)
        return;
    const char *name = trace_text(t, i->pc)->inst;
    int n = mnemonic(&name);
    EVENT(t, "e", cycle, sm->id, i->slot,
          ",\"cat\":\"memory\",\"id\":\"m%u\",\"name\":\"%.*s\",\"args\":{\"warp "
          "slot\":%u,\"lines\":%u,\"hits\":%u,"
          "\"address\":\"0x%" PRIx64 "\"}",
          i->id, n, name, i->slot, i->lines, i->hits, i->addr);
}

static void chrome_counts(struct trace *t, uint64_t cycle, const struct trace_sm *sm,
                          const struct trace_counts *n) {
    const struct {
        const char *name;
        uint32_t now, before;
    } counts[] = {
        {"issued in 64 cycles", n->issued, sm->written.issued},
        {"resident warps", n->resident, sm->written.resident},
        {"memory instructions", n->memory, sm->written.memory},
    };
    _Static_assert(TRACE_SAMPLE == 64, "the name says so");
    for (uint32_t k = 0; k < sizeof counts / sizeof counts[0]; k++)
        if (counts[k].now != counts[k].before)
            EVENT(t, "C", cycle, sm->id, 0, ",\"name\":\"%s\",\"args\":{\"value\":%u}", counts[k].name,
                  counts[k].now);
}

const struct trace_format trace_chrome = {
    .open = chrome_open,
    .kernel = chrome_kernel,
    .block = chrome_block,
    .warp = chrome_warp,
    .state = chrome_state,
    .issue = chrome_issue,
    .note = chrome_note,
    .stage = chrome_stage,
    .end = chrome_end,
    .counts = chrome_counts,
    .close = chrome_close,
};
