/* A toy, for docs/adding-a-mechanism.md: an instruction that has the operands it had the last time, whichever
 * warp that was, gets the result of that time from a table. */
#include "core/view.h"
#include "energy/energy.h"

enum { LOOKUPS, HITS, COUNTERS, SOURCES = 3, ALL_LANES = -1 };
struct toy_entry {
    const struct xinst *i; /* NULL: the entry is empty */
    int32_t op;            /* that computes the result; CORE_NONE: it is there */
    uint32_t source[SOURCES][WARP_LANES], result[WARP_LANES];
};
struct toy {
    struct sm *sm;
    const struct gpu_config *cfg;
    struct toy_entry *table;
    uint32_t source[SOURCES][WARP_LANES]; /* of the instruction that is about to take effect */
    uint64_t n[COUNTERS];
};

/* Registers and constants go in, one register comes out, and all lanes take part. */
static bool fits(const struct xinst *i, uint32_t mask) {
    return i->kind == X_ALU && i->nsw <= SOURCES && i->ndw == 1 && mask == (uint32_t)ALL_LANES &&
           (i->pd[0] & i->pd[1] & i->ps[0] & i->ps[1]) == PRED_PT;
}

static struct toy_entry *entry_of(struct toy *t, const struct core_op *o) {
    return &t->table[o->pc % t->cfg->toy_entries];
}

static void start(void *m, const void *marks) {
    struct toy *t = m;
    (void)marks;
    memset(t->table, 0, (size_t)t->cfg->toy_entries * sizeof *t->table);
}

static void before(void *m, uint32_t warp, const struct xinst *i, uint32_t mask) {
    struct toy *t = m;
    for (uint32_t k = 0; fits(i, mask) && k < i->nsw; k++)
        memcpy(t->source[k], src_lanes(t->sm->x, t->sm->warps[warp].w, i->s[k]), sizeof t->source[k]);
}

static enum mech_verdict take(void *m, int32_t op, uint64_t now) {
    struct toy *t = m;
    const struct core_op *o = &t->sm->ops[op];
    struct toy_entry *e = entry_of(t, o);
    if (!fits(o->i, o->mask))
        return MECH_PASS;
    t->n[LOOKUPS]++;
    if (e->i != o->i || memcmp(e->source, t->source, o->i->nsw * sizeof e->source[0])) {
        *e = (struct toy_entry){.i = o->i, .op = op};
        memcpy(e->source, t->source, sizeof e->source);
    } else if (e->op == CORE_NONE) {
        t->n[HITS]++;
        core_give(t->sm, op, e->result);
        core_finish(t->sm, op, now + (uint64_t)t->cfg->toy_latency);
        return MECH_TAKEN;
    }
    return MECH_PASS;
}

static void result(void *m, int32_t op) {
    struct toy *t = m;
    const struct core_op *o = &t->sm->ops[op];
    struct toy_entry *e = entry_of(t, o);
    if (e->i == o->i && e->op == op) {
        memcpy(e->result, t->sm->warps[o->warp].w->r[o->i->d], sizeof e->result);
        e->op = CORE_NONE;
    }
}

static void *create(struct arena *a, const struct gpu_config *cfg, void *shared, struct sm *sm) {
    struct toy *t = arena_new(a, struct toy);
    (void)shared;
    *t = (struct toy){.sm = sm, .cfg = cfg};
    t->table = arena_array(a, struct toy_entry, cfg->toy_entries);
    return t;
}

static const uint64_t *counts(const void *m) {
    return ((const struct toy *)m)->n;
}

static const struct counter_info counters[] = {
    {"toy.lookups", "instructions", "instructions looked up in the toy's table"},
    {"toy.hits", "instructions", "... with the operands of the last time: not executed"}};
const struct mechanism mech_toy = {
    .name = "toy",
    .order = 20,
    .points = {.life = {.start = start},
               .watch = {.before = before, .result = result},
               .front = {.take = take}},
    .create = create,
    .counts = counts,
    .counters = counters,
    .ncounters = COUNTERS,
    .energy = &(const struct energy_event){ENERGY_MECHANISM, "toy.lookups",
                                           offsetof(struct gpu_config, toy_pj_lookup), ENERGY_PJ_FIXED},
    .nenergy = 1};
