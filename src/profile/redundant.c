/* Redundant instructions: how many need to be executed only once for a warp, a block, a grid, because all
 * there have the same source operands (Yeh, Green and Rogers, "DARSIE", ASPLOS 2020, Figures 1 and 2).
 *
 * Instances of an instruction belong together if each is the n-th of its warp. They are redundant in a block
 * if every warp of the block has one, with all 32 lanes, and the sources are the same 32-lane vectors;
 * likewise in the grid. Redundant in a warp is an instance whose sources each have one value. Sources are
 * registers, immediates, constants and predicates; of a special register, what it reads. Control instructions
 * are never redundant, as they have to be executed, but count among all; so do instructions of fewer lanes.
 *
 * Sources are compared by a hash of 64 bits. */
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "profile/compute.h"
#include "profile/profile.h"

enum { BLOCKS = 64 };

struct redundant_counters {
#define COUNTER(field, ...) uint64_t field;
#include "profile/redundant.def"
#undef COUNTER
};

static const struct counter_info rows[] = {
#define COUNTER(field, name, unit, meaning) {name, unit, meaning, offsetof(struct redundant_counters, field)},
#include "profile/redundant.def"
#undef COUNTER
};

/* Instances that belong together. */
struct group {
    uint64_t sources; /* hash of those of the first */
    uint32_t n, sm;   /* instances; sm: of the first */
    uint8_t form;
    bool differ;
};

/* The groups of a block, or of a launch. */
struct groups {
    struct arena arena;
    struct map by_instance; /* pc << 32 | which of the warp's */
    uint64_t block;
    bool used;
};

struct redundant {
    struct probe probe;
    const struct probe_kernel *kernel;
    uint32_t *times; /* by SM, slot and instruction: executions of the warp */
    size_t room;
    uint64_t sources; /* of the instruction that is about to take effect */
    uint8_t form;
    struct groups grid;
    uint32_t nsms;
    struct redundant_sm {
        struct groups blocks[BLOCKS];
        struct groups *of[BLOCKS]; /* by warp slot */
        struct redundant_counters n;
    } sms[];
};

static void add_source(struct redundant *r, const uint32_t *v) {
    enum value_form f = value_form(v);
    r->sources = value_mix_sum(r->sources, value_sum(v, UINT32_MAX));
    r->form = f > (enum value_form)r->form ? (uint8_t)f : r->form;
}

static void add_pred(struct redundant *r, uint32_t p) {
    r->sources = value_mix(r->sources, p);
    if (p && p != UINT32_MAX)
        r->form = VALUE_UNSTRUCTURED;
}

static void on_issue(struct redundant *r, const struct probe_event *e) {
    const struct exec *x = r->kernel->exec;
    const struct xinst *i = &x->img->code[e->pc];
    r->sources = 1;
    r->form = VALUE_UNIFORM;
    for (uint32_t k = 0; k < i->nsw; k++)
        add_source(r, src_lanes(x, e->warp, i->s[k]));
    for (uint32_t k = 0; k < 2; k++)
        if (i->ps[k] != PRED_PT)
            add_pred(r, e->warp->p[i->ps[k]]);
    if (i->guard != PRED_PT)
        add_pred(r, e->warp->p[i->guard]);
}

/* One more instance of its group. */
static void add_instance(struct groups *g, uint64_t instance, const struct redundant *r, uint32_t sm,
                         bool whole) {
    struct group *at = map_get_u64(&g->by_instance, instance);
    if (!at) {
        at = arena_new(&g->arena, struct group);
        *at = (struct group){.sources = r->sources, .form = r->form, .sm = sm};
        map_set_u64(&g->by_instance, instance, at);
    }
    at->n++;
    at->differ |= !whole || at->sources != r->sources;
}

static void on_effect(struct redundant *r, const struct probe_event *e) {
    struct redundant_sm *sm = &r->sms[e->sm];
    const struct xinst *i = &r->kernel->exec->img->code[e->pc];
    uint32_t *times = &r->times[((size_t)e->sm * r->kernel->slots + e->slot) * r->kernel->ncode + e->pc];
    uint64_t instance = (uint64_t)e->pc << 32 | (*times)++;
    sm->n.insts++;
    if (!compute_is(i))
        return;
    if (i->kind == X_S2R)
        add_source(r, e->warp->r[i->d]);
    bool whole = e->warp->live == UINT32_MAX && e->warp->stack[e->warp->depth - 1].mask == UINT32_MAX;
    sm->n.warp += whole && r->form == VALUE_UNIFORM;
    if (sm->of[e->slot])
        add_instance(sm->of[e->slot], instance, r, e->sm, whole);
    add_instance(&r->grid, instance, r, e->sm, whole);
}

static void empty(struct groups *g) {
    map_free(&g->by_instance);
    arena_free(&g->arena);
    *g = (struct groups){0};
}

static void on_block_begin(struct redundant_sm *sm, uint64_t block) {
    for (uint32_t k = 0; k < BLOCKS; k++)
        if (!sm->blocks[k].used) {
            sm->blocks[k].used = true;
            sm->blocks[k].block = block;
            return;
        }
}

static struct groups *find_block(struct redundant_sm *sm, uint64_t block) {
    for (uint32_t k = 0; k < BLOCKS; k++)
        if (sm->blocks[k].used && sm->blocks[k].block == block)
            return &sm->blocks[k];
    return NULL;
}

/* Counts what all warps of a block have executed alike. */
static void end_block(const struct redundant *r, struct redundant_sm *sm, struct groups *g) {
    for (uint32_t k = 0; k < g->by_instance.len; k++) {
        const struct group *at = g->by_instance.entries[k].value;
        if (at->differ || at->n != r->kernel->warps)
            continue;
        sm->n.block += at->n;
        *(at->form == VALUE_UNIFORM  ? &sm->n.uniform
          : at->form == VALUE_AFFINE ? &sm->n.affine
                                     : &sm->n.unstructured) += at->n;
    }
    empty(g);
}

static void on_block_end(struct redundant *r, struct redundant_sm *sm, uint64_t block) {
    struct groups *g = find_block(sm, block);
    if (g)
        end_block(r, sm, g);
}

static void on_kernel_begin(struct redundant *r, const struct probe_kernel *k) {
    size_t need = (size_t)r->nsms * k->slots * k->ncode;
    r->kernel = k;
    if (r->room < need) {
        r->room = need;
        r->times = xrealloc(r->times, need * sizeof *r->times);
    }
    empty(&r->grid);
}

static void on_kernel_end(struct redundant *r, const struct probe_kernel *k) {
    for (uint32_t s = 0; s < r->nsms; s++) /* blocks that were cut short, as far as all their warps came */
        for (uint32_t b = 0; b < BLOCKS; b++)
            if (r->sms[s].blocks[b].used)
                end_block(r, &r->sms[s], &r->sms[s].blocks[b]);
    uint64_t warps = (uint64_t)k->grid[0] * k->grid[1] * k->grid[2] * k->warps;
    for (uint32_t n = 0; n < r->grid.by_instance.len; n++) {
        const struct group *at = r->grid.by_instance.entries[n].value;
        if (!at->differ && at->n == warps)
            r->sms[at->sm].n.grid += at->n;
    }
    empty(&r->grid);
}

static void on_warp_begin(struct redundant *r, const struct probe_event *e) {
    size_t ncode = r->kernel->ncode;
    r->sms[e->sm].of[e->slot] = find_block(&r->sms[e->sm], e->block);
    memset(&r->times[((size_t)e->sm * r->kernel->slots + e->slot) * ncode], 0, ncode * sizeof *r->times);
}

static void on_event(struct probe *p, const struct probe_event *e) {
    struct redundant *r = (struct redundant *)p;
    if (e->stream)
        return; /* not the program's */
    if (e->kind == PROBE_ISSUE)
        on_issue(r, e);
    else if (e->kind == PROBE_EFFECT)
        on_effect(r, e);
    else if (e->kind == PROBE_WARP_BEGIN)
        on_warp_begin(r, e);
    else if (e->kind == PROBE_BLOCK_BEGIN)
        on_block_begin(&r->sms[e->sm], e->block);
    else if (e->kind == PROBE_BLOCK_END)
        on_block_end(r, &r->sms[e->sm], e->block);
    else if (e->kind == PROBE_KERNEL_BEGIN)
        on_kernel_begin(r, e->kernel);
    else if (e->kind == PROBE_KERNEL_END)
        on_kernel_end(r, e->kernel);
}

static struct probe *create(const void *params, uint32_t sms) {
    (void)params;
    struct redundant *r = xcalloc(1, sizeof *r + sms * sizeof r->sms[0]);
    r->probe.event = on_event;
    r->probe.kinds = 1u << PROBE_ISSUE | 1u << PROBE_EFFECT | 1u << PROBE_WARP_BEGIN |
                     1u << PROBE_BLOCK_BEGIN | 1u << PROBE_BLOCK_END | 1u << PROBE_KERNEL_BEGIN |
                     1u << PROBE_KERNEL_END;
    r->nsms = sms;
    return &r->probe;
}

static void destroy(struct probe *p) {
    struct redundant *r = (struct redundant *)p;
    for (uint32_t s = 0; s < r->nsms; s++)
        for (uint32_t b = 0; b < BLOCKS; b++)
            empty(&r->sms[s].blocks[b]);
    empty(&r->grid);
    free(r->times);
    free(r);
}

static const void *counts(const struct probe *p, uint32_t sm) {
    return &((const struct redundant *)p)->sms[sm].n;
}

const struct profile_kind profile_redundant = {
    .counters = COUNTER_TABLE(rows),
    .create = create,
    .destroy = destroy,
    .counts = counts,
};
