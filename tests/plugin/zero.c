/* A mechanism of its own: counts results that are zero in every lane, and what finding that out would cost.
 */
#include "mech/mechanism.h"

struct zero {
    struct sm *sm;
    uint64_t looks, zeros;
};

static void issued(void *m, int32_t op) {
    static const uint32_t none[WARP_LANES];
    struct zero *z = m;
    const struct core_op *o = &z->sm->ops[op];
    z->looks += o->i->ndw == 1;
    z->zeros += o->i->ndw == 1 && !memcmp(z->sm->warps[o->warp].w->r[o->i->d], none, sizeof none);
}

static void *create(struct arena *a, const void *params, void *shared, struct sm *sm) {
    struct zero *z = arena_new(a, struct zero);
    (void)params, (void)shared;
    z->sm = sm;
    return z;
}

struct zero_params {
    double pj;
};
static const struct param params[] = {
    {"zero.pj.look", PARAM_AT(struct zero_params, pj), 0, 1e6, 2, "pJ", "Zero: a look at a result."},
};
static const struct counter_info counters[] = {
    {"zero.looks", "instructions", "instructions with one result", offsetof(struct zero, looks)},
    {"zero.zeros", "instructions", "... that is zero", offsetof(struct zero, zeros)},
};
static const struct energy_event energy[] = {
    {ENERGY_MECHANISM, "zero.looks", "zero.pj.look", ENERGY_PJ_FIXED},
};

MECHANISM(zero) = {
    .name = "zero",
    .help = "an example from outside: counts results that are zero",
    .order = 1,
    .points = {.watch = {.issued = issued}},
    .params = PARAM_TABLE(struct zero_params, params, NULL),
    .counters = COUNTER_TABLE(counters),
    .energy = ENERGY_TABLE(energy),
    .create = create,
};
