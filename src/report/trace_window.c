/* What the format sees: at the end of a cycle, what changed in it, as far as it lies in the window.
 *
 * Sleeping SMs tell nothing, so nothing here may depend on how often something is told: only changes are
 * passed on. Within a cycle the order is: control instructions that are over; stages of instructions, SM by
 * SM, in the order of their events, and then the states of warps by slot; other ends come at the start of the
 * next cycle. */
#include <string.h>

#include "report/trace_model.h"

static void release(struct trace_sm *sm, struct trace_inst *i) {
    i->live = false;
    i->next = sm->free;
    sm->free = (int32_t)(i - sm->insts);
}

static void show_inst(struct trace *t, struct trace_sm *sm, struct trace_inst *i) {
    if (i->shown == STAGE_NONE)
        FORMAT(t, begin, t->now, sm, i);
    if (i->issued && !i->issue_shown)
        FORMAT(t, issue, t->now, sm, i);
    for (; i->notes_shown < i->nnotes; i->notes_shown++)
        FORMAT(t, note, t->now, sm, i, i->notes[i->notes_shown]);
    if (i->reason != i->reason_shown)
        FORMAT(t, reason, t->now, sm, i);
    if (i->stage != i->shown)
        FORMAT(t, stage, t->now, sm, i);
    i->issue_shown = i->issued;
    i->reason_shown = i->reason;
    i->shown = i->stage;
}

void trace_end_inst(struct trace *t, struct trace_sm *sm, struct trace_inst *i, uint64_t cycle,
                    enum trace_end how) {
    if (i->shown != STAGE_NONE)
        FORMAT(t, end, cycle, sm, i, how);
    release(sm, i);
}

/* Ends what ended in the cycle that is over. */
static void flush_ending(struct trace *t, struct trace_sm *sm) {
    for (uint32_t k = 0; k < sm->ending.len; k++) {
        struct trace_inst *i = &sm->insts[sm->ending.at[k]];
        trace_end_inst(t, sm, i, t->now + 1, i->flushed ? END_FLUSHED : END_RETIRED);
    }
    sm->ending.len = 0;
}

static bool waits(uint8_t state) {
    return state == PROBE_STATE_BARRIER || state == PROBE_STATE_FENCE || state == PROBE_STATE_CONTROL;
}

/* What the state of a warp means for its instructions: the next one waits for something, and a control
 * instruction is over when the warp goes on. */
static void settle_warp(struct trace *t, struct trace_sm *sm, struct trace_warp *w) {
    if (w->control != TRACE_NONE && sm->insts[w->control].issue_at < t->now && !waits(w->state)) {
        trace_end_inst(t, sm, &sm->insts[w->control], t->now, END_RETIRED);
        w->control = TRACE_NONE;
    }
    bool none = w->state == PROBE_STATE_ISSUED || w->state == PROBE_STATE_DONE;
    if (w->first != TRACE_NONE)
        sm->insts[w->first].reason = none ? PROBE_STATES : w->state;
}

void trace_show_state(struct trace *t, struct trace_sm *sm, uint32_t slot, uint64_t cycle) {
    struct trace_warp *w = &sm->warps[slot];
    if (w->state == w->shown)
        return;
    FORMAT(t, state, cycle, sm, slot);
    w->shown = w->state;
    w->since = cycle;
}

static void show_warp(struct trace *t, struct trace_sm *sm, uint32_t slot) {
    int32_t first = sm->warps[slot].first;
    if (t->open && first != TRACE_NONE)
        show_inst(t, sm, &sm->insts[first]);
    trace_show_state(t, sm, slot, t->now);
}

static int by_serial(const void *a, const void *b) {
    const struct trace_inst *const *x = a, *const *y = b;
    return (*x)->serial < (*y)->serial ? -1 : (*x)->serial > (*y)->serial;
}

/* All instructions of an SM, in the order of their appearance; to be freed. */
static struct trace_inst **all_insts(struct trace_sm *sm, uint32_t *n) {
    struct trace_inst **list = xcalloc(sm->ninsts + 1u, sizeof(struct trace_inst *));
    *n = 0;
    for (uint32_t k = 0; k < sm->ninsts; k++)
        if (sm->insts[k].live)
            list[(*n)++] = &sm->insts[k];
    qsort(list, *n, sizeof *list, by_serial);
    return list;
}

/* The window opens: what is there already begins here. */
static void open_window(struct trace *t) {
    t->open = t->begun = true;
    if (!t->kernel)
        return;
    FORMAT(t, kernel, t->now, true);
    for (uint32_t s = 0; s < t->nsms; s++) {
        struct trace_sm *sm = &t->sms[s];
        for (uint32_t k = 0; k < sm->blocks.len; k++)
            FORMAT(t, block, t->now, sm, sm->blocks.at[k], true);
        for (uint32_t k = 0; sm->watched && k < t->slots; k++) {
            struct trace_warp *w = &sm->warps[k];
            w->since = w->since > t->now ? w->since : t->now;
            if (w->used)
                FORMAT(t, warp, w->since, sm, k, true);
        }
        uint32_t n;
        struct trace_inst **list = all_insts(sm, &n);
        for (uint32_t k = 0; k < n; k++)
            show_inst(t, sm, list[k]);
        free(list);
    }
}

/* Ends whatever is still there, at cycle, because the window or the launch ends. */
void trace_end_all(struct trace *t, uint64_t cycle) {
    for (uint32_t s = 0; s < t->nsms; s++) {
        struct trace_sm *sm = &t->sms[s];
        uint32_t n;
        struct trace_inst **list = all_insts(sm, &n);
        for (uint32_t k = 0; k < n; k++)
            if (list[k]->shown != STAGE_NONE) {
                FORMAT(t, end, cycle, sm, list[k], END_CUT);
                list[k]->shown = STAGE_NONE;
            }
        free(list);
        for (uint32_t k = 0; sm->watched && k < t->slots; k++)
            if (sm->warps[k].used) {
                FORMAT(t, state, cycle, sm, k);
                FORMAT(t, warp, cycle, sm, k, false);
            }
        for (uint32_t k = 0; k < sm->blocks.len; k++)
            FORMAT(t, block, cycle, sm, sm->blocks.at[k], false);
    }
    if (t->kernel)
        FORMAT(t, kernel, cycle, false);
}

/* Writes the counts of the cycles around now. */
static void write_sample(struct trace *t, uint64_t bucket) {
    for (uint32_t s = 0; s < t->nsms; s++) {
        struct trace_sm *sm = &t->sms[s];
        struct trace_counts now = {sm->issued, sm->resident, sm->memory};
        if (sm->watched && t->open && memcmp(&now, &sm->written, sizeof now)) {
            FORMAT(t, counts, bucket * TRACE_SAMPLE, sm, &now);
            sm->written = now;
        }
        sm->issued = 0;
    }
}

/* When the clock leaves samples behind: only the first and the one after it can differ from what was written.
 */
static void sample(struct trace *t, uint64_t next) {
    uint64_t bucket = t->now / TRACE_SAMPLE, end = next / TRACE_SAMPLE;
    for (uint64_t b = bucket; b < end && b < bucket + 2; b++)
        write_sample(t, b);
}

void trace_close_window(struct trace *t, uint64_t cycle) {
    trace_end_all(t, cycle);
    write_sample(t, t->now / TRACE_SAMPLE);
    t->open = false;
}

/* The cycle is over: passes on what it changed. */
static void commit(struct trace *t) {
    for (uint32_t s = 0; s < t->nsms; s++)
        for (uint64_t left = t->sms[s].touched; left; left &= left - 1)
            settle_warp(t, &t->sms[s], &t->sms[s].warps[__builtin_ctzll(left)]);
    if (!t->begun && t->now >= t->what.first && t->now <= t->what.last)
        open_window(t);
    for (uint32_t s = 0; s < t->nsms; s++) {
        struct trace_sm *sm = &t->sms[s];
        for (uint32_t k = 0; k < sm->dirty.len; k++) {
            struct trace_inst *i = &sm->insts[sm->dirty.at[k]];
            i->dirty = false;
            if (t->open)
                show_inst(t, sm, i);
            if (i->done)
                vec_push(&sm->ending, sm->dirty.at[k]);
        }
        sm->dirty.len = 0;
        for (uint64_t left = sm->touched; left; left &= left - 1)
            show_warp(t, sm, (uint32_t)__builtin_ctzll(left));
        sm->touched = 0;
    }
    for (uint32_t s = 0; s < t->nsms; s++)
        flush_ending(t, &t->sms[s]);
    if (t->open && t->now == t->what.last)
        trace_close_window(t, t->now + 1);
}

/* What was told for this cycle before it began. */
static void apply_told(struct trace *t) {
    t->told_at = 0;
    for (uint32_t s = 0; s < t->nsms; s++) {
        struct trace_sm *sm = &t->sms[s];
        for (uint64_t left = sm->told; left; left &= left - 1) {
            struct trace_warp *w = &sm->warps[__builtin_ctzll(left)];
            w->state = w->told;
        }
        sm->touched |= sm->told;
        sm->told = 0;
    }
}

/* Goes on to a later cycle, by way of those in which something changes. */
void trace_advance(struct trace *t, uint64_t to) {
    while (t->now < to) {
        commit(t);
        uint64_t next = t->told_at > t->now && t->told_at < to ? t->told_at : to;
        if (t->now < t->what.first && t->what.first < next)
            next = t->what.first;
        if (t->now < t->what.last && t->what.last < next)
            next = t->what.last;
        sample(t, next);
        t->now = next;
        if (t->told_at == next)
            apply_told(t);
    }
}
