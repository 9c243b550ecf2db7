/* Follows the instructions of a timed run from event to event, cuts out the cycles and SMs that are wanted,
 * and tells the format what changed, cycle by cycle. */
#include "report/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/demangle.h"
#include "report/trace_model.h"

enum { TEXT_MAX = 400 }; /* longer names and instructions are cut, so that a line has a bound */

const char *const trace_stage_names[STAGES] = {
#define X(id, name, meaning) [STAGE_##id] = name,
    TRACE_STAGES(X)
#undef X
};

const char *const trace_state_names[PROBE_STATES] = {
#define PROBE_STATE(name, word, meaning) [PROBE_STATE_##name] = word,
#include "sim/probe.def"
};

uint64_t trace_grid_warps(const struct trace *t) {
    const struct probe_kernel *k = t->kernel;
    return (uint64_t)k->grid[0] * k->grid[1] * k->grid[2] * k->warps;
}

/* Warps and second streams of the launch. */
static uint64_t all_warps(const struct trace *t) {
    return trace_grid_warps(t) + t->kernel->streams * t->kernel->sms;
}

uint64_t trace_retire_id(const struct trace *t, const struct trace_inst *i) {
    return t->base + i->number * all_warps(t) + i->warp;
}

void trace_owner(const struct trace *t, const struct trace_inst *i, char *to, size_t size) {
    uint64_t grid = trace_grid_warps(t);
    if (i->warp < grid)
        snprintf(to, size, "b%" PRIu64 " w%" PRIu64, i->warp / t->kernel->warps, i->warp % t->kernel->warps);
    else
        snprintf(to, size, "stream %" PRIu64, (i->warp - grid) % t->kernel->streams + 1);
}

void trace_block_id(const struct trace *t, uint64_t block, uint32_t id[3]) {
    id[0] = (uint32_t)(block % t->kernel->grid[0]);
    id[1] = (uint32_t)(block / t->kernel->grid[0] % t->kernel->grid[1]);
    id[2] = (uint32_t)(block / t->kernel->grid[0] / t->kernel->grid[1]);
}

/* ---- instructions ------------------------------------------------------------------------------------ */

static void touch(struct trace_sm *sm, struct trace_inst *i) {
    if (i->dirty)
        return;
    i->dirty = true;
    vec_push(&sm->dirty, (int32_t)(i - sm->insts));
}

static void set_stage(struct trace_sm *sm, struct trace_inst *i, enum trace_stage stage) {
    i->stage = (uint8_t)stage;
    touch(sm, i);
}

/* The instruction has ended in this cycle. */
static void finish(struct trace_sm *sm, struct trace_inst *i, bool flushed) {
    i->done = true;
    i->flushed = flushed;
    touch(sm, i);
}

static uint64_t warp_number(const struct trace *t, const struct trace_sm *sm, const struct trace_warp *w) {
    if (w->stream)
        return trace_grid_warps(t) + (uint64_t)sm->id * t->kernel->streams + w->stream - 1;
    return w->block * t->kernel->warps + w->index;
}

static struct trace_inst *create(struct trace *t, struct trace_sm *sm, uint32_t slot, uint32_t pc) {
    if (sm->free == TRACE_NONE) { /* more than the machine said it can hold: only while mechanisms add some */
        sm->insts = xrealloc(sm->insts, 2 * sm->ninsts * sizeof *sm->insts);
        memset(sm->insts + sm->ninsts, 0, sm->ninsts * sizeof *sm->insts);
        for (uint32_t k = sm->ninsts; k < 2 * sm->ninsts; k++)
            sm->insts[k].next = k + 1 < 2 * sm->ninsts ? (int32_t)k + 1 : TRACE_NONE;
        sm->free = (int32_t)sm->ninsts;
        sm->ninsts *= 2;
    }
    struct trace_inst *i = &sm->insts[sm->free];
    sm->free = i->next;
    *i = (struct trace_inst){.serial = t->serial++,
                             .pc = pc < t->ntext ? pc : 0,
                             .next = TRACE_NONE,
                             .warp = warp_number(t, sm, &sm->warps[slot]),
                             .slot = (uint16_t)slot,
                             .reason = PROBE_STATES,
                             .reason_shown = PROBE_STATES,
                             .live = true};
    return i;
}

static struct trace_inst *op_inst(struct trace_sm *sm, const struct trace *t, int32_t op) {
    int32_t k = op >= 0 && (uint32_t)op < t->nops ? sm->ops[op] : TRACE_NONE;
    return k == TRACE_NONE ? NULL : &sm->insts[k];
}

/* Takes the warp's first fetched instruction, which is at pc; one that was never seen to be fetched is made.
 */
static struct trace_inst *take_first(struct trace *t, struct trace_sm *sm, uint32_t slot, uint32_t pc) {
    struct trace_warp *w = &sm->warps[slot];
    struct trace_inst *i = w->first == TRACE_NONE ? NULL : &sm->insts[w->first];
    if (!i || i->pc != pc)
        i = create(t, sm, slot, pc);
    else
        w->first = i->next;
    i->number = w->issued;
    i->next = TRACE_NONE;
    i->reason = PROBE_STATES;
    return i;
}

/* ---- events ------------------------------------------------------------------------------------------ */

static char *short_text(struct str *s) {
    uint32_t n = s->len < TEXT_MAX ? s->len : TEXT_MAX;
    while (n && (s->at[n - 1] == ' ' || s->at[n - 1] == ';'))
        n--;
    char *to = xcalloc(n + 1u, 1);
    for (uint32_t k = 0; k < n; k++) /* nothing that means something to a format */
        to[k] = (unsigned char)s->at[k] < ' ' || s->at[k] == '"' || s->at[k] == '\\' ? '?' : s->at[k];
    str_free(s);
    return to;
}

const struct trace_text *trace_text(struct trace *t, uint32_t pc) {
    struct trace_text *text = &t->text[pc];
    if (!text->inst) {
        struct str inst = {0}, where = {0};
        t->kernel->print(t->kernel, pc, &inst, &where);
        text->inst = short_text(&inst);
        text->where = short_text(&where);
    }
    return text;
}

static void free_text(struct trace *t) {
    for (uint32_t k = 0; k < t->ntext; k++) {
        free(t->text[k].inst);
        free(t->text[k].where);
    }
    free(t->text);
    free(t->name);
    t->text = NULL;
    t->name = NULL;
    t->ntext = 0;
}

static void make_sms(struct trace *t, const struct probe_kernel *k) {
    t->nsms = k->sms;
    t->slots = k->slots;
    t->nops = k->nops;
    t->sms = xcalloc(t->nsms, sizeof *t->sms);
    for (uint32_t s = 0; s < t->nsms; s++) {
        struct trace_sm *sm = &t->sms[s];
        sm->id = s;
        sm->watched = s >= t->what.first_sm && s <= t->what.last_sm;
        sm->warps = xcalloc(t->slots, sizeof *sm->warps);
        sm->free = TRACE_NONE;
        if (!sm->watched)
            continue;
        sm->ops = xcalloc(t->nops, sizeof *sm->ops);
        sm->ninsts = t->nops + 8 * t->slots;
        sm->insts = xcalloc(sm->ninsts, sizeof *sm->insts);
    }
}

/* Nothing is on the SM. */
static void clear_sm(const struct trace *t, struct trace_sm *sm) {
    for (uint32_t k = 0; k < t->slots; k++)
        sm->warps[k] = (struct trace_warp){
            .first = TRACE_NONE, .control = TRACE_NONE, .state = PROBE_STATES, .shown = PROBE_STATES};
    sm->touched = sm->told = 0;
    memset(sm->streamed, 0, sizeof sm->streamed);
    sm->resident = sm->memory = 0;
    sm->dirty.len = sm->ending.len = sm->blocks.len = 0;
    for (uint32_t k = 0; k < sm->ninsts; k++)
        sm->insts[k] = (struct trace_inst){.next = k + 1 < sm->ninsts ? (int32_t)k + 1 : TRACE_NONE};
    sm->free = sm->ninsts ? 0 : TRACE_NONE;
    for (uint32_t k = 0; sm->ops && k < t->nops; k++)
        sm->ops[k] = TRACE_NONE;
}

static void on_kernel_begin(struct trace *t, struct trace_sm *sm, const struct probe_event *e) {
    (void)sm;
    if (!t->sms)
        make_sms(t, e->kernel);
    for (uint32_t s = 0; s < t->nsms; s++)
        clear_sm(t, &t->sms[s]);
    t->kernel = e->kernel;
    t->most = 0;
    t->ntext = e->kernel->ncode;
    t->text = xcalloc(t->ntext + 1u, sizeof *t->text);
    struct str name = {0};
    str_add_name(&name, e->kernel->name);
    t->name = short_text(&name);
    FORMAT(t, kernel, e->cycle, true);
}

static void on_kernel_end(struct trace *t, struct trace_sm *sm, const struct probe_event *e) {
    (void)sm;
    trace_end_all(t, e->cycle);
    for (uint32_t s = 0; s < t->nsms; s++)
        clear_sm(t, &t->sms[s]);
    t->told_at = 0;
    t->base += t->most * all_warps(t);
    t->kernel = NULL;
    free_text(t);
    trace_out_flush(&t->out);
}

static void on_block_begin(struct trace *t, struct trace_sm *sm, const struct probe_event *e) {
    if (!sm->watched)
        return;
    vec_push(&sm->blocks, e->block);
    FORMAT(t, block, e->cycle, sm, e->block, true);
}

static void on_block_end(struct trace *t, struct trace_sm *sm, const struct probe_event *e) {
    for (uint32_t k = 0; k < sm->blocks.len; k++)
        if (sm->blocks.at[k] == e->block) {
            sm->blocks.at[k] = sm->blocks.at[--sm->blocks.len];
            FORMAT(t, block, e->cycle + 1, sm, e->block, false);
            return;
        }
}

static void on_warp_begin(struct trace *t, struct trace_sm *sm, const struct probe_event *e) {
    struct trace_warp *w = &sm->warps[e->slot];
    uint64_t begin = w->free > e->cycle ? w->free : e->cycle;
    *w = (struct trace_warp){.used = true,
                             .block = e->block,
                             .index = e->n,
                             .stream = e->stream,
                             .issued = e->stream ? sm->streamed[e->stream % TRACE_STREAMS] : 0,
                             .begin = begin,
                             .since = begin,
                             .first = TRACE_NONE,
                             .control = TRACE_NONE,
                             .state = PROBE_STATES,
                             .shown = PROBE_STATES};
    sm->resident++;
    if (sm->watched)
        FORMAT(t, warp, begin, sm, e->slot, true);
}

static void flush_fetched(struct trace_sm *sm, struct trace_warp *w) {
    for (int32_t k = w->first; k != TRACE_NONE;) {
        struct trace_inst *i = &sm->insts[k];
        k = i->next;
        i->reason = PROBE_STATES;
        finish(sm, i, true);
    }
    w->first = TRACE_NONE;
}

static void on_warp_end(struct trace *t, struct trace_sm *sm, const struct probe_event *e) {
    struct trace_warp *w = &sm->warps[e->slot];
    if (w->stream)
        sm->streamed[w->stream % TRACE_STREAMS] = w->issued;
    sm->resident--;
    w->used = false;
    w->free = e->cycle + 1;
    if (!sm->watched)
        return;
    flush_fetched(sm, w);
    if (w->control != TRACE_NONE)
        finish(sm, &sm->insts[w->control], false);
    w->control = TRACE_NONE;
    sm->touched &= ~(UINT64_C(1) << e->slot);
    trace_show_state(t, sm, e->slot, e->cycle);
    FORMAT(t, state, e->cycle + 1, sm, e->slot);
    FORMAT(t, warp, e->cycle + 1, sm, e->slot, false);
}

/* Instructions pc to pc+n of the warp are in a stage; those not seen before begin. What a warp has fetched
 * and not issued is in order of pc. */
static void fetched(struct trace *t, struct trace_sm *sm, const struct probe_event *e,
                    enum trace_stage stage) {
    struct trace_warp *w = &sm->warps[e->slot];
    for (uint32_t k = 0; k < e->n; k++) {
        int32_t *at = &w->first;
        uint64_t number = w->issued;
        for (; *at != TRACE_NONE && sm->insts[*at].pc < e->pc + k; number++)
            at = &sm->insts[*at].next;
        struct trace_inst *i;
        if (*at == TRACE_NONE || sm->insts[*at].pc != e->pc + k) {
            /* create may move the instructions: the link is found again */
            i = create(t, sm, e->slot, e->pc + k);
            i->number = number;
            for (at = &w->first; *at != TRACE_NONE && sm->insts[*at].pc < i->pc;)
                at = &sm->insts[*at].next;
            i->next = *at;
            *at = (int32_t)(i - sm->insts);
        } else {
            i = &sm->insts[*at];
        }
        set_stage(sm, i, stage);
    }
}

static void on_fetch(struct trace *t, struct trace_sm *sm, const struct probe_event *e) {
    fetched(t, sm, e, STAGE_FETCH);
}

static void on_decode(struct trace *t, struct trace_sm *sm, const struct probe_event *e) {
    fetched(t, sm, e, STAGE_DECODE);
}

static void on_buffer(struct trace *t, struct trace_sm *sm, const struct probe_event *e) {
    (void)t;
    for (int32_t k = sm->warps[e->slot].first; k != TRACE_NONE; k = sm->insts[k].next)
        if (sm->insts[k].stage == STAGE_DECODE)
            set_stage(sm, &sm->insts[k], STAGE_BUFFER);
}

static void on_flush(struct trace *t, struct trace_sm *sm, const struct probe_event *e) {
    (void)t;
    flush_fetched(sm, &sm->warps[e->slot]);
}

/* Counts one of the warp's instructions. */
static void count(struct trace *t, struct trace_warp *w) {
    w->issued++;
    t->most = w->issued > t->most ? w->issued : t->most;
}

/* Instructions that were skipped and come next are over. */
static void end_skipped(struct trace *t, struct trace_sm *sm, struct trace_warp *w) {
    while (w->first != TRACE_NONE && sm->insts[w->first].skipped) {
        struct trace_inst *i = &sm->insts[w->first];
        w->first = i->next;
        i->next = TRACE_NONE;
        i->number = w->issued;
        i->issued = true;
        finish(sm, i, false);
        count(t, w);
    }
}

static void on_issue(struct trace *t, struct trace_sm *sm, const struct probe_event *e) {
    struct trace_warp *w = &sm->warps[e->slot];
    if (!sm->watched) {
        count(t, w);
        return;
    }
    struct trace_inst *i = take_first(t, sm, e->slot, e->pc);
    i->issued = true;
    i->issue_at = e->cycle;
    i->mask = e->mask;
    count(t, w);
    end_skipped(t, sm, w);
    w->state = PROBE_STATE_ISSUED;
    sm->touched |= UINT64_C(1) << e->slot;
    sm->issued++;
    set_stage(sm, i, e->op < 0 ? STAGE_EXECUTE : STAGE_OPERANDS);
    if (e->op >= 0) {
        sm->ops[e->op] = (int32_t)(i - sm->insts);
        return;
    }
    if (w->control != TRACE_NONE && sm->insts[w->control].issue_at == e->cycle)
        finish(sm, &sm->insts[w->control], false); /* two in one cycle */
    else if (w->control != TRACE_NONE)
        trace_end_inst(t, sm, &sm->insts[w->control], e->cycle, END_RETIRED);
    w->control = (int32_t)(i - sm->insts);
}

static void on_operands(struct trace *t, struct trace_sm *sm, const struct probe_event *e) {
    struct trace_inst *i = op_inst(sm, t, e->op);
    if (i)
        set_stage(sm, i, STAGE_READY);
}

static void on_dispatch(struct trace *t, struct trace_sm *sm, const struct probe_event *e) {
    struct trace_inst *i = op_inst(sm, t, e->op);
    if (!i)
        return;
    i->unit = e->text;
    i->memory = e->n;
    sm->memory += e->n;
    set_stage(sm, i, e->n ? STAGE_QUEUE : STAGE_EXECUTE);
}

static void on_shared(struct trace *t, struct trace_sm *sm, const struct probe_event *e) {
    struct trace_inst *i = op_inst(sm, t, e->op);
    if (i)
        set_stage(sm, i, STAGE_EXECUTE);
}

static void on_send(struct trace *t, struct trace_sm *sm, const struct probe_event *e) {
    struct trace_inst *i = op_inst(sm, t, e->op);
    if (!i)
        return;
    if (!i->lines)
        i->addr = e->addr;
    i->lines = (uint16_t)e->n;
    i->hits += !strcmp(e->text, "hit");
    set_stage(sm, i, STAGE_MEMORY);
}

static void on_return(struct trace *t, struct trace_sm *sm, const struct probe_event *e) {
    struct trace_inst *i = op_inst(sm, t, e->op);
    if (i &&
        ++i->back == i->lines) /* texels are filtered from here on; others are written in the same cycle */
        set_stage(sm, i, STAGE_EXECUTE);
}

static void on_writeback(struct trace *t, struct trace_sm *sm, const struct probe_event *e) {
    struct trace_inst *i = op_inst(sm, t, e->op);
    if (i)
        set_stage(sm, i, STAGE_WRITE);
}

static void on_end(struct trace *t, struct trace_sm *sm, const struct probe_event *e) {
    struct trace_inst *i = op_inst(sm, t, e->op);
    if (!i)
        return;
    sm->memory -= i->memory;
    sm->ops[e->op] = TRACE_NONE;
    finish(sm, i, false);
}

static void on_note(struct trace *t, struct trace_sm *sm, const struct probe_event *e) {
    int32_t first = sm->warps[e->slot].first;
    struct trace_inst *i = e->op >= 0            ? op_inst(sm, t, e->op)
                           : first == TRACE_NONE ? NULL
                                                 : &sm->insts[first];
    if (!i || i->nnotes == TRACE_NOTES)
        return;
    i->notes[i->nnotes++] = e->text;
    touch(sm, i);
}

/* The instruction takes its place behind those that were fetched, or is one of them. */
static void on_skip(struct trace *t, struct trace_sm *sm, const struct probe_event *e) {
    struct trace_warp *w = &sm->warps[e->slot];
    if (!sm->watched) {
        count(t, w);
        return;
    }
    struct probe_event one = *e;
    one.n = 1;
    fetched(t, sm, &one, STAGE_SKIPPED);
    for (int32_t k = w->first; k != TRACE_NONE; k = sm->insts[k].next)
        if (sm->insts[k].pc == e->pc && !sm->insts[k].skipped) {
            sm->insts[k].skipped = true;
            sm->insts[k].notes[0] = e->text;
            sm->insts[k].nnotes = 1;
        }
    end_skipped(t, sm, w);
}

static void on_insert(struct trace *t, struct trace_sm *sm, const struct probe_event *e) {
    struct trace_inst *i = create(t, sm, e->slot, 0);
    i->foreign = true;
    i->number = sm->warps[e->slot].issued;
    i->notes[0] = e->text;
    i->nnotes = 1;
    sm->ops[e->op] = (int32_t)(i - sm->insts);
    set_stage(sm, i, STAGE_OPERANDS);
}

typedef void handler(struct trace *t, struct trace_sm *sm, const struct probe_event *e);
/* all: told of every SM, because retire ids count what all of them do. */
static const struct {
    handler *handle;
    bool all;
} handlers[PROBE_KINDS] = {
    [PROBE_KERNEL_BEGIN] = {on_kernel_begin, true},
    [PROBE_KERNEL_END] = {on_kernel_end, true},
    [PROBE_BLOCK_BEGIN] = {on_block_begin, false},
    [PROBE_BLOCK_END] = {on_block_end, false},
    [PROBE_WARP_BEGIN] = {on_warp_begin, true},
    [PROBE_WARP_END] = {on_warp_end, true},
    [PROBE_FETCH] = {on_fetch, false},
    [PROBE_DECODE] = {on_decode, false},
    [PROBE_BUFFER] = {on_buffer, false},
    [PROBE_FLUSH] = {on_flush, false},
    [PROBE_ISSUE] = {on_issue, true},
    [PROBE_OPERANDS] = {on_operands, false},
    [PROBE_DISPATCH] = {on_dispatch, false},
    [PROBE_SHARED] = {on_shared, false},
    [PROBE_SEND] = {on_send, false},
    [PROBE_RETURN] = {on_return, false},
    [PROBE_WRITEBACK] = {on_writeback, false},
    [PROBE_END] = {on_end, false},
    [PROBE_NOTE] = {on_note, false},
    [PROBE_SKIP] = {on_skip, true},
    [PROBE_INSERT] = {on_insert, false},
};

/* States may be told for a cycle that has not begun; all that are, are told for the same one. */
static void on_state(struct trace *t, struct trace_sm *sm, const struct probe_event *e) {
    struct trace_warp *w = &sm->warps[e->slot];
    if (t->told_at && e->cycle > t->told_at)
        trace_advance(t, t->told_at);
    if (e->cycle <= t->now) {
        w->state = e->state;
        sm->touched |= UINT64_C(1) << e->slot;
        return;
    }
    t->told_at = e->cycle;
    w->told = e->state;
    sm->told |= UINT64_C(1) << e->slot;
}

static void on_event(struct probe *p, const struct probe_event *e) {
    struct trace *t = (struct trace *)p;
    if (t->begun && !t->open)
        return; /* the window is over */
    struct trace_sm *sm = t->sms ? &t->sms[e->sm] : NULL;
    if (e->kind == PROBE_WARP_STATE) {
        if (sm->watched)
            on_state(t, sm, e);
        return;
    }
    if (!handlers[e->kind].all && !sm->watched)
        return;
    if (e->kind == PROBE_KERNEL_END && t->told_at >= e->cycle)
        t->told_at = 0; /* the launch ends before it */
    if (handlers[e->kind].handle) {
        trace_advance(t, e->cycle);
        handlers[e->kind].handle(t, sm, e);
    }
}

/* ---- the interface ----------------------------------------------------------------------------------- */

static bool ends_with(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcmp(text + n - m, end);
}

static void say(char **log, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void say(char **log, const char *fmt, ...) {
    struct str s = {0};
    va_list ap;
    va_start(ap, fmt);
    str_vprintf(&s, fmt, ap);
    va_end(ap);
    *log = xstrdup(str_text(&s));
    str_free(&s);
}

struct trace *trace_open(struct rp_gpu *gpu, const struct rp_trace *what, char **log) {
    *log = NULL;
    uint32_t sms = (uint32_t)rp_gpu_info(gpu)->sms;
    if (what->first_sm >= sms) {
        say(log, "reprise: no trace of SM %" PRIu64 ": the GPU has %u SMs, numbered from 0\n", what->first_sm,
            sms);
        return NULL;
    }
    struct trace *t = xcalloc(1, sizeof *t);
    if (!trace_out_open(&t->out, what->path)) {
        free(t);
        return NULL;
    }
    t->probe.event = on_event;
    t->what = *what;
    t->format = ends_with(what->path, ".json") ? &trace_chrome : &trace_kanata;
    t->format->open(t);
    t->gpu = gpu;
    rp_gpu_watch(gpu, &t->probe);
    return t;
}

void trace_keep(const struct trace *t) {
    if (t)
        io_keep(&t->out.file);
}

bool trace_close(struct trace *t, char **log) {
    *log = NULL;
    if (!t)
        return true;
    rp_gpu_unwatch(t->gpu, &t->probe);
    if (t->open)
        trace_close_window(
            t, t->now + 1); /* of a launch there is something left only if the process ends within it */
    t->format->close(t);
    trace_out_close(&t->out);
    bool ok = !t->out.error;
    if (ok && !t->begun)
        say(log, "reprise: the trace %s is empty: the run ended at cycle %" PRIu64 ", before the window\n",
            t->what.path, t->now);
    for (uint32_t s = 0; s < t->nsms; s++) {
        free(t->sms[s].warps);
        free(t->sms[s].insts);
        free(t->sms[s].ops);
        vec_free(&t->sms[s].dirty);
        vec_free(&t->sms[s].ending);
        vec_free(&t->sms[s].blocks);
    }
    free(t->sms);
    free_text(t);
    free(t);
    return ok;
}
