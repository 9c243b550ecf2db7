/* SMs that go ahead by themselves, in several threads: nothing that is simulated can tell. Every launch is
 * compared with one of a machine that goes cycle by cycle: cycles, counters and memory, races included. */
#include "core/view.h"
#include "timing_rig.h"

enum { EAGER = UINT16_MAX, COUNTS = 4 };
static const uint32_t counts[COUNTS + 1] = {1, 2, 3, 16, EAGER}; /* of threads; EAGER: none, nor sleep */
static uint32_t step = 1;                                        /* through these */
static const char *mech;                                         /* that machines have; NULL: none */
static const struct mechanism *own;                              /* ... or this one */

/* What a launch left. */
struct outcome {
    uint64_t cycles, insts, counters[RIG_COUNTERS];
    uint64_t program; /* instructions, also those that were passed over */
    enum rp_status status;
    char *report;
    uint8_t *memory;
};

struct launch {
    const char *kernel;
    uint32_t grid, block;
    struct rig_params p;
};

static void open_rig(struct rig *r, const char *gpu, const char *const *set, const char *file,
                     uint32_t threads) {
    char *text = rig_file(file);
    rig_open_options(r, &(struct rp_options){.gpu = gpu, .set = set, .mech = mech}, text);
    free(text);
    if (own)
        r->g->mechs = (struct mech_set){.at = {own}, .n = 1};
    r->g->machine = machine_create(&r->g->config, &r->g->mechs, false, threads == EAGER ? 0 : threads);
    r->g->machine->core.sleep = threads != EAGER;
}

static struct outcome run(struct rig *r, const struct launch *l) {
    struct outcome o = {.memory = malloc(RIG_BYTES)};
    struct rp_totals before = rp_totals(r->g);
    uint64_t program = r->g->program_insts;
    rig_zero(r);
    o.status = rig_try(r, l->kernel, l->grid, l->block, 0, l->p, &o.report);
    struct rp_totals after = rp_totals(r->g);
    o.cycles = after.cycles - before.cycles;
    o.insts = o.status == RP_OK ? after.warp_insts - before.warp_insts : 0;
    o.program = o.status == RP_OK ? r->g->program_insts - program : 0;
    if (o.status == RP_OK)
        rig_counters(r, o.counters);
    memcpy(o.memory, (const void *)(uintptr_t)r->buffer, RIG_BYTES);
    return o;
}

static void forget(struct outcome *o) {
    free(o->memory);
    free(o->report);
}

static void assert_same(const struct outcome *a, const struct outcome *b) {
    assert_int_equal(a->status, b->status);
    assert_int_equal(a->cycles, b->cycles);
    assert_int_equal(a->insts, b->insts);
    assert_int_equal(a->program, b->program);
    assert_memory_equal(a->counters, b->counters, sizeof a->counters);
    assert_memory_equal(a->memory, b->memory, RIG_BYTES);
    assert_true(!a->report == !b->report);
    if (a->report)
        assert_string_equal(a->report, b->report);
}

/* Launches one after the other, on one machine, with every number of threads, and on one that goes cycle by
 * cycle; those with mechanisms also on one that goes through every cycle, as no mechanism may count by how
 * often it is asked. */
static void compare(const char *gpu, const char *const *set, const char *file, const struct launch *l,
                    uint32_t n) {
    struct outcome *want = calloc(n, sizeof *want);
    struct rig r;
    open_rig(&r, gpu, set, file, 0);
    for (uint32_t i = 0; i < n; i++)
        want[i] = run(&r, &l[i]);
    assert_false(r.g->machine->rounds);
    rig_close(&r);
    for (uint32_t t = 0; t < COUNTS + (mech != NULL); t += step) {
        open_rig(&r, gpu, set, file, counts[t]);
        for (uint32_t i = 0; i < n; i++) {
            struct outcome o = run(&r, &l[i]);
            assert_same(&o, &want[i]);
            forget(&o);
        }
        assert_int_equal(r.g->machine->rounds != 0, counts[t] != EAGER);
        assert_true(counts[t] > 1 || !r.g->machine->crew);
        rig_close(&r);
    }
    for (uint32_t i = 0; i < n; i++)
        forget(&want[i]);
    free(want);
}

static const struct launch usual[] = {
    {"reduce", 40, 200, {0}}, {"reduce", 130, 33, {0}},  {"atomics", 40, 192, {0}}, {"diverge", 33, 77, {0}},
    {"produce", 40, 64, {0}}, {"produce", 120, 64, {0}}, {"lock", 2, 40, {0}},      {"reduce", 1, 64, {0}},
};
enum { USUAL = sizeof usual / sizeof *usual };

static const struct launch races[] = {
    {"race", 60, 96, {0, 40, 1}},  {"race", 7, 224, {0, 60, 2}}, {"mixed", 45, 64, {0, 30, 0}},
    {"race", 90, 32, {0, 20, 3}},  {"race", 15, 64, {0, 50, 9}}, {"chase", 60, 96, {0, 40, 77}},
    {"agree", 60, 96, {0, 60, 1}},
};
enum { RACES = sizeof races / sizeof *races };

static void launches_are_the_same(void **state) {
    (void)state;
    compare("gtx480", NULL, "mixed.ptx", usual, USUAL);
    compare("gtx1080ti", NULL, "mixed.ptx", usual, USUAL);
}

static void races_are_the_same(void **state) {
    (void)state;
    compare("gtx480", NULL, "races.ptx", races, RACES);
    compare("h200", (const char *const[]){"device.sms=24", NULL}, "races.ptx", races, RACES);
}

/* Where queues towards memory are short, SMs mostly wait for each other. */
static void full_queues_are_the_same(void **state) {
    (void)state;
    static const char *const narrow[] = {"icnt.in_queue=1", "icnt.out_queue=2", "l1.queue=2", NULL};
    static const char *const slow[] = {"icnt.in_queue=2", "icnt.sm_bytes=4", "icnt.latency=31",
                                       "l1.latency=4",    "l1.stores=3",     NULL};
    compare("gtx480", narrow, "races.ptx", races, RACES);
    compare("gtx480", slow, "races.ptx", races, RACES);
    compare("gtx480", slow, "mixed.ptx", usual, USUAL);
}

/* Cycles of a launch with races, and the rounds in which SMs went ahead in it. */
static uint64_t cycles_and_rounds(const char *const *set, uint32_t threads, uint64_t *rounds) {
    struct rig r;
    open_rig(&r, "gtx480", set, "races.ptx", threads);
    struct outcome o = run(&r, &(struct launch){"race", 60, 96, {0, 10, 1}});
    assert_int_equal(o.status, RP_OK);
    *rounds = r.g->machine->rounds;
    rig_close(&r);
    forget(&o);
    return o.cycles;
}

/* ... and when they do so all the time the machine goes cycle by cycle, but for a try now and then. */
static void short_rounds_are_few(void **state) {
    (void)state;
    static const char *const narrow[] = {"icnt.in_queue=1", "l1.queue=2", NULL};
    uint64_t rounds, cycles = cycles_and_rounds(narrow, 2, &rounds);
    assert_true(rounds && 4 * rounds < cycles);
}

/* As long as a cache has room for requests, its SM need not know when they leave. All cycles belong to a
 * round then, and these are of 16 or so: longer ones only where no SM is about to get a reply. */
static void waiting_requests_end_no_rounds(void **state) {
    (void)state;
    static const char *const deep[] = {"icnt.in_queue=1", "l1.queue=64", NULL};
    uint64_t rounds, cycles = cycles_and_rounds(deep, 1, &rounds);
    assert_true(9 * rounds < cycles && cycles < 20 * rounds);
}

/* Who gets room in a network that is full is foreseen where there are several threads, so that rounds are not
 * short. */
static void room_is_foreseen(void **state) {
    (void)state;
    static const char *const full[] = {"icnt.sm_bytes=8", "icnt.in_queue=8", "l1.queue=4", NULL};
    uint64_t rounds, cycles = cycles_and_rounds(full, 2, &rounds);
    assert_true(5 * rounds < cycles && cycles < 16 * rounds);
}

/* The launch ends with the same fault, in the same cycle, and has changed memory as far. Behind that, others
 * can be run; their cycles depend on what SMs that were ahead had asked of memory. */
static void faults_are_the_same(void **state) {
    (void)state;
    static const struct launch wild[] = {
        {"race", 60, 96, {0, 40, 1}},   {"wild", 40, 64, {0, 20, 11}}, {"race", 20, 96, {0, 10, 1}},
        {"wild", 200, 32, {0, 5, 170}}, {"wild", 15, 32, {0, 3, 0}},   {"race", 20, 96, {0, 10, 1}},
    };
    compare("gtx480", NULL, "races.ptx", wild, 2);
    compare("gtx480", NULL, "races.ptx", wild + 3, 1);
    compare("gtx480", NULL, "races.ptx", wild + 4, 1);
    compare("gtx480", NULL, "races.ptx", &(struct launch){"astray", 40, 64, {0, 20, 11}}, 1);
    for (uint32_t t = 0; t < COUNTS; t++) {
        struct rig r;
        open_rig(&r, "gtx480", NULL, "races.ptx", counts[t]);
        for (uint32_t i = 0; i < sizeof wild / sizeof *wild; i++) {
            struct outcome o = run(&r, &wild[i]);
            assert_int_equal(o.status == RP_OK, !strcmp(wild[i].kernel, "race"));
            forget(&o);
        }
        rig_close(&r);
    }
}

/* Cut after so many cycles or instructions, a launch has timed as much of itself. */
static void cuts_are_the_same(void **state) {
    (void)state;
    for (uint64_t n = 1; n < 6000; n = n * 5 / 3 + 1)
        for (int insts = 0; insts < 2; insts++) {
            struct outcome o[2];
            uint64_t timed[2];
            for (uint32_t t = 0; t < 2; t++) {
                struct rig r;
                open_rig(&r, "gtx480", NULL, "races.ptx", 2 * t);
                *(insts ? &r.g->opt.max_insts : &r.g->opt.max_cycles) = n;
                o[t] = run(&r, &races[0]);
                timed[t] = rp_totals(r.g).timed_insts;
                rig_close(&r);
            }
            assert_int_equal(timed[0], timed[1]);
            assert_same(&o[0], &o[1]);
            forget(&o[0]);
            forget(&o[1]);
        }
}

/* A mechanism that lets the first lane load for all. */
struct leads {
    struct sm *sm;
    uint32_t mask; /* lanes of the last instruction; of `gives`: warps whose last load was given a number */
};

static void *create_leads(struct arena *a, const void *params, void *shared, struct sm *sm) {
    (void)params, (void)shared;
    struct leads *l = arena_new(a, struct leads);
    l->sm = sm;
    return l;
}

static uint32_t choose_first(void *m, uint32_t warp, const struct xinst *i, uint32_t mask) {
    struct leads *l = m;
    (void)warp;
    l->mask = mask;
    return i->kind == X_LOAD ? mask & -mask : mask;
}

static void spread_first(void *m, int32_t op) {
    struct leads *l = m;
    if (l->sm->ops[op].i->kind == X_LOAD && l->mask)
        core_spread(l->sm, op, (uint32_t)__builtin_ctz(l->mask), l->mask);
}

static const struct mechanism first_leads = {
    .name = "leads",
    .points = {.life = {.apart = true}, .lanes = {.choose = choose_first}, .watch = {.issued = spread_first}},
    .create = create_leads,
};

/* A mechanism that gives a number to every other load of a warp, which ends at once. */
static enum mech_verdict give_number(void *m, int32_t op, uint64_t now) {
    struct leads *l = m;
    const struct core_op *o = &l->sm->ops[op];
    uint32_t number[WARP_LANES];
    (void)now;
    if (o->i->kind != X_LOAD || o->i->ndw != 1 || (l->mask ^= 1u << o->warp % 32) >> o->warp % 32 & 1)
        return MECH_PASS;
    for (uint32_t lane = 0; lane < WARP_LANES; lane++)
        number[lane] = lane + (uint32_t)o->pc;
    core_supply(l->sm, op, number);
    return MECH_TAKEN;
}

static const struct mechanism gives = {
    .name = "gives",
    .points = {.life = {.apart = true}, .front = {.take = give_number}},
    .create = create_leads,
};

/* So few registers that CMRC, which pads those of a warp, has blocks wait. */
static const char *const tight[] = {"rf.mapping=wshift", "sm.registers=2048", "block.registers=2048", NULL};

/* A block that was refused enters in the cycle in which warps have left room for it, even if neither its SM
 * nor others have anything else to do for long. */
static void refused_blocks_are_the_same(void **state) {
    (void)state;
    static const struct launch few = {"atomics", 90, 64, {0}};
    struct rig r;
    mech = "cmrc";
    compare("gtx480", tight, "mixed.ptx", &few, 1);
    open_rig(&r, "gtx480", tight, "mixed.ptx", 1);
    struct outcome o = run(&r, &few);
    assert_true(rig_counter(&r, "cmrc.refused"));
    rig_close(&r);
    forget(&o);
    mech = NULL;
}

/* Mechanisms see the same, too: values that they keep and supply instead of what somebody loads, lanes that
 * one computes for, instructions that are passed over, and blocks that have to wait. */
static void mechanisms_are_the_same(void **state) {
    (void)state;
    static const struct {
        const char *gpu, *mech;
        const char *const *set;
    } with[] = {
        {"wir", "wir", NULL},      {"gtx480", "wir", NULL},         {"gscalar", "gscalar", NULL},
        {"gtx480", "cmrc", tight}, {"darsie", "darsie", NULL},      {"lnl", "lnl", NULL},
        {"gtx480", "uv", NULL},    {"gtx480", "cmrc+darsie", NULL}, {"dac", "dac", NULL},
        {"gtx480", "dac", NULL},
    };
    step = 2;
    for (uint32_t k = 0; k < sizeof with / sizeof *with; k++) {
        mech = with[k].mech;
        compare(with[k].gpu, with[k].set, "races.ptx", races, RACES);
        compare(with[k].gpu, with[k].set, "mixed.ptx", usual, USUAL);
    }
    mech = NULL;
    own = &first_leads;
    compare("gtx480", NULL, "races.ptx", races, RACES);
    own = &gives;
    compare("gtx480", NULL, "races.ptx", races, RACES);
    own = NULL;
    step = 1;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launches_are_the_same),    cmocka_unit_test(races_are_the_same),
        cmocka_unit_test(mechanisms_are_the_same),  cmocka_unit_test(refused_blocks_are_the_same),
        cmocka_unit_test(full_queues_are_the_same), cmocka_unit_test(faults_are_the_same),
        cmocka_unit_test(cuts_are_the_same),        cmocka_unit_test(short_rounds_are_few),
        cmocka_unit_test(room_is_foreseen),         cmocka_unit_test(waiting_requests_end_no_rounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
