/* Perfect memory: accesses to global and local memory take no time and no bandwidth. DAC's authors call a
 * benchmark memory intensive when this makes it one and a half times as fast (section 5.1.2). */
#include "mech/mechanism.h"

struct perfect {
    struct sm *sm;
    uint64_t accesses;
};

/* The op would be served by the load/store unit, and is over in the next cycle. */
static enum mech_verdict access(void *m, int32_t op, uint64_t now) {
    struct perfect *p = m;
    const struct core_op *o = &p->sm->ops[op];
    if (!o->mask || o->i->kind == X_LDC || (o->space != CORE_GLOBAL && o->space != CORE_LOCAL))
        return MECH_PASS;
    p->accesses++;
    core_finish(p->sm, op, now + 1);
    return MECH_TAKEN;
}

static void *create(struct arena *a, const void *params, void *shared, struct sm *sm) {
    struct perfect *p = arena_new(a, struct perfect);
    (void)params, (void)shared;
    p->sm = sm;
    return p;
}

static const struct counter_info counters[] = {
    {"perfect.accesses", "instructions", "accesses to memory that took no time",
     offsetof(struct perfect, accesses)},
};

MECHANISM(perfect_memory) = {
    .name = "perfect-memory",
    .help = "memory without latency, of any bandwidth: a limit, no mechanism",
    .order = 40,
    .points = {.memory = {.access = access}},
    .counters = COUNTER_TABLE(counters),
    .create = create,
};
