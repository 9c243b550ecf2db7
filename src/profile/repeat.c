/* Repeated computations: how many warp instructions do again what one shortly before them did on the same SM
 * (Kim and Ro, "WIR", HPCA 2018, section III-A and Figure 2).
 *
 * profile/compute.h says what a computation is: the same address again counts if the same values came back.
 * Control flow, barriers, stores and atomics
 * never count, nor what no lane executes, nor a warp-wide instruction that only waits for lanes; all take
 * their place among the instructions.
 *
 * Two ways of counting, each SM for itself, without a break between launches:
 * - The paper's. Instructions fall into windows of repeat.window; repeated are those whose computation came
 *   before in the same window. All of a computation that appears more than 10 times there count as such. An
 *   average over windows is a ratio of sums, since all have the same length; the last one of an SM counts
 *   with what it has.
 * - Sliding. Repeated are those whose computation is among the repeat.window instructions before them.
 *
 * Computations are compared by a hash of 64 bits: the chance that one of 10^8 instructions is wrongly found
 * among 1000 others is below one in 10^8. */
#include <string.h>

#include "base/arena.h"
#include "profile/compute.h"
#include "profile/profile.h"
#include "profile/window.h"

enum { OFTEN = 10 };

struct repeat_params {
    int32_t window;
};

static const struct param params[] = {
    {"repeat.window", PARAM_AT(struct repeat_params, window), 1, 65536, 1000, "instructions",
     "Profile of repeated computations: warp instructions of an SM in which they are looked for."},
};

struct repeat_counters {
#define COUNTER(field, ...) uint64_t field;
#include "profile/repeat.def"
#undef COUNTER
};

static const struct counter_info rows[] = {
#define COUNTER(field, name, unit, meaning) {name, unit, meaning, offsetof(struct repeat_counters, field)},
#include "profile/repeat.def"
#undef COUNTER
};

struct repeat {
    struct probe probe;
    const struct exec *exec; /* of the launch */
    struct compute_mark *marks;
    uint32_t nmarks;
    uint64_t key; /* of the instruction that is about to take effect, without its result */
    uint32_t nsms;
    struct repeat_sm {
        struct window window;
        struct repeat_counters n;
    } sms[];
};

static void on_kernel(struct repeat *r, const struct probe_kernel *k) {
    const struct image *img = k->exec->img;
    r->exec = k->exec;
    if (r->nmarks < img->ncode) {
        r->nmarks = img->ncode;
        r->marks = xrealloc(r->marks, r->nmarks * sizeof *r->marks);
    }
    for (uint32_t c = 0; c < img->ncode; c++)
        r->marks[c] = compute_mark(&img->code[c]);
}

/* ---- instructions ---- */

static void on_issue(struct repeat *r, const struct probe_event *e) {
    const struct compute_mark *mark = &r->marks[e->pc];
    const struct xinst *i = &r->exec->img->code[e->pc];
    if (mark->excluded || !e->mask)
        return;
    uint64_t h = compute_begin(mark, e->mask);
    for (uint32_t k = 0; k < i->nsw; k++)
        h = value_mix_sum(h, value_sum(src_lanes(r->exec, e->warp, i->s[k]), e->mask));
    r->key = compute_preds(h, e->warp, i, e->mask);
}

static void on_effect(struct repeat *r, const struct probe_event *e) {
    struct repeat_sm *sm = &r->sms[e->sm];
    const struct compute_mark *mark = &r->marks[e->pc];
    sm->n.insts++;
    if (mark->excluded || !e->mask || (mark->waits && compute_waiting(e->warp, e->mask))) {
        sm->n.excluded++;
        window_step(&sm->window, WINDOW_NOTHING);
        return;
    }
    uint64_t key = compute_result(r->key, mark, e->warp, &r->exec->img->code[e->pc], e->mask);
    struct window_seen seen = window_step(&sm->window, key == WINDOW_NOTHING ? 1 : key);
    sm->n.repeated += seen.in_block > 0;
    sm->n.often += seen.in_block == OFTEN ? OFTEN + 1 : seen.in_block > OFTEN;
    sm->n.recent += seen.recent > 0;
    sm->n.recent_often += seen.recent >= OFTEN;
}

static void on_event(struct probe *p, const struct probe_event *e) {
    struct repeat *r = (struct repeat *)p;
    if (e->stream)
        return; /* not the program's */
    if (e->kind == PROBE_ISSUE)
        on_issue(r, e);
    else if (e->kind == PROBE_EFFECT)
        on_effect(r, e);
    else if (e->kind == PROBE_KERNEL_BEGIN)
        on_kernel(r, e->kernel);
}

/* ---- as a profile ---- */

static struct probe *create(const void *params, uint32_t sms) {
    const struct repeat_params *given = params;
    struct repeat *r = xcalloc(1, sizeof *r + sms * sizeof r->sms[0]);
    r->probe.event = on_event;
    r->probe.kinds = 1u << PROBE_ISSUE | 1u << PROBE_EFFECT | 1u << PROBE_KERNEL_BEGIN;
    r->nsms = sms;
    for (uint32_t i = 0; i < sms; i++)
        window_init(&r->sms[i].window, (uint32_t)given->window);
    return &r->probe;
}

static void destroy(struct probe *p) {
    struct repeat *r = (struct repeat *)p;
    for (uint32_t i = 0; i < r->nsms; i++)
        window_free(&r->sms[i].window);
    free(r->marks);
    free(r);
}

static const void *counts(const struct probe *p, uint32_t sm) {
    return &((const struct repeat *)p)->sms[sm].n;
}

const struct profile_kind profile_repeat = {
    .params = PARAM_TABLE(struct repeat_params, params, NULL),
    .counters = COUNTER_TABLE(rows),
    .create = create,
    .destroy = destroy,
    .counts = counts,
};
