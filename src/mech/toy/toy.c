/* A toy, for docs/adding-a-mechanism.md: an instruction that has the operands it had the last time, whichever
 * warp that was, gets the result of that time from a table. */
#include "mech/mechanism.h"

struct toy_params {
    int32_t entries, latency;
    double pj_lookup;
};
static const struct param params[] = {
    {"toy.entries", PARAM_AT(struct toy_params, entries), 1, 4096, 64, "entries",
     "Toy: instructions whose last operands and result are kept."},
    {"toy.latency", PARAM_AT(struct toy_params, latency), 1, 64, 4, "cycles",
     "Toy: from issue to a result that is in the table."},
    {"toy.pj.lookup", PARAM_AT(struct toy_params, pj_lookup), 0, 1e6, 10, "pJ",
     "Toy: a look into the table; a made-up figure."},
};

enum { SOURCES = 3, ALL_LANES = -1 };
struct toy_entry {
    const struct xinst *i; /* NULL: the entry is empty */
    int32_t op;            /* that computes the result; CORE_NONE: it is there */
    uint32_t source[SOURCES][WARP_LANES], result[WARP_LANES];
};
struct toy {
    struct sm *sm;
    const struct toy_params *params;
    struct toy_entry *table;
    uint32_t source[SOURCES][WARP_LANES]; /* of the instruction that is about to take effect */
    uint64_t lookups, hits;
};

/* Registers and constants go in, one register comes out, and all lanes take part. */
static bool fits(const struct xinst *i, uint32_t mask) {
    return i->kind == X_ALU && i->nsw <= SOURCES && i->ndw == 1 && mask == (uint32_t)ALL_LANES &&
           (i->pd[0] & i->pd[1] & i->ps[0] & i->ps[1]) == PRED_PT;
}

static struct toy_entry *entry_of(struct toy *t, const struct core_op *o) {
    return &t->table[o->pc % t->params->entries];
}

static void start(void *m, const void *marks) {
    struct toy *t = m;
    (void)marks;
    memset(t->table, 0, (size_t)t->params->entries * sizeof *t->table);
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
    t->lookups++;
    if (e->i != o->i || memcmp(e->source, t->source, o->i->nsw * sizeof e->source[0])) {
        *e = (struct toy_entry){.i = o->i, .op = op};
        memcpy(e->source, t->source, sizeof e->source);
    } else if (e->op == CORE_NONE) {
        t->hits++;
        core_give(t->sm, op, e->result);
        core_finish(t->sm, op, now + (uint64_t)t->params->latency);
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

static void *create(struct arena *a, const void *params, void *shared, struct sm *sm) {
    struct toy *t = arena_new(a, struct toy);
    (void)shared;
    *t = (struct toy){.sm = sm, .params = params};
    t->table = arena_array(a, struct toy_entry, t->params->entries);
    return t;
}

static const struct counter_info counters[] = {
    {"toy.lookups", "instructions", "instructions looked up in the toy's table",
     offsetof(struct toy, lookups)},
    {"toy.hits", "instructions", "... with the operands of the last time: not executed",
     offsetof(struct toy, hits)},
};
static const struct energy_event energy[] = {
    {ENERGY_MECHANISM, "toy.lookups", "toy.pj.lookup", ENERGY_PJ_FIXED},
};
MECHANISM(toy) = {
    .name = "toy",
    .help = "an example for authors, see docs/adding-a-mechanism.md",
    .order = 20,
    .points = {.life = {.start = start},
               .watch = {.before = before, .result = result},
               .front = {.take = take}},
    .params = PARAM_TABLE(struct toy_params, params, NULL),
    .counters = COUNTER_TABLE(counters),
    .energy = ENERGY_TABLE(energy),
    .create = create,
};
