/* DARSIE: hazards (tests/hazards/darsie.ptx), what is skipped, what it costs, and that registers and versions
 * balance. Without its rules the hazards come out wrong, hang, or break an invariant: each rule is needed. */
#include <stdio.h>

#include "mech/darsie/darsie.h"
#include "timing_rig.h"

enum { WORDS = 65536, SHAPES = 12 };

static const char *const kernels[] = {"ahead",  "versions", "own_store", "own_atomic",  "generations",
                                      "rounds", "captured", "guarded",   "out_of_step", "leaves",
                                      "joins",  "trips",    "exits",     "diverges",    "many",
                                      "loads",  "local",    "calls",     "flags"};
enum { KERNELS_N = sizeof kernels / sizeof *kernels };

/* Blocks: rows that are warps, that are less, that are no power of two; partial warps; three dimensions. */
static const uint32_t shapes[SHAPES][3] = {{32, 8, 1}, {16, 16, 1}, {8, 8, 1},  {32, 32, 1},
                                           {33, 1, 1}, {24, 8, 1},  {16, 5, 1}, {64, 4, 1},
                                           {8, 4, 4},  {4, 2, 16},  {16, 1, 4}, {32, 2, 1}};

/* Launches one kernel; the memory it leaves, or NULL. */
static const uint32_t *launch(struct rig *r, const char *kernel, uint32_t grid, const uint32_t shape[3]) {
    uint32_t *word = (uint32_t *)(uintptr_t)r->buffer;
    for (uint32_t i = 0; i < WORDS; i++)
        word[i] = i;
    struct rig_params p = {.buffer = r->buffer, .n = 1, .x = 3};
    struct rp_launch l = {
        .grid = {grid, 1, 1}, .block = {shape[0], shape[1], shape[2]}, .params = &p, .param_bytes = sizeof p};
    char *report = NULL;
    uint64_t before = rp_totals(r->g).cycles;
    enum rp_status s = rp_launch(r->g, rp_module_kernel(r->m, kernel), &l, &report);
    r->cycles = rp_totals(r->g).cycles - before;
    free(report);
    return s == RP_OK ? word : NULL;
}

/* Rows wait for each other in this one: it needs rows that do not share a warp. */
static bool fits(const char *kernel, const uint32_t shape[3]) {
    bool rows = shape[0] == 32 && shape[2] == 1;
    return rows || (strcmp(kernel, "flags") && strcmp(kernel, "out_of_step"));
}

static uint32_t want[KERNELS_N][SHAPES][WORDS / 2];

static void find_results(const char *text) {
    struct rig r;
    rig_open(&r, "gtx480", NULL, true, text);
    for (uint32_t k = 0; k < KERNELS_N; k++)
        for (uint32_t s = 0; s < SHAPES; s++)
            if (fits(kernels[k], shapes[s])) {
                const uint32_t *got = launch(&r, kernels[k], 3, shapes[s]);
                assert_non_null(got);
                memcpy(want[k][s], got + WORDS / 2, sizeof want[k][s]);
            }
    rig_close(&r);
}

/* True if the kernel leaves what it must, and no invariant is broken. */
static bool comes_out(struct rig *r, uint32_t k, uint32_t s) {
    const uint32_t *got = launch(r, kernels[k], 3, shapes[s]);
    return got && !memcmp(got + WORDS / 2, want[k][s], sizeof want[k][s]) && !rig_counter(r, "check.wrong");
}

static void open_darsie(struct rig *r, const char *mech, const char *const *set, const char *text) {
    rig_open_options(
        r, &(struct rp_options){.gpu = "darsie", .mech = mech, .set = set, .check = true, .watchdog = 100000},
        text);
}

#define SET(...) ((const char *const[]){"device.sms=1", __VA_ARGS__, NULL})

static void test_hazards(void **state) {
    const char *text = *state;
    static const char *const lrr[] = {"device.sms=1", "issue.policy=lrr", NULL},
                             *const one[] = {"device.sms=1", "darsie.registers=1", NULL},
                             *const two[] = {"device.sms=1", "darsie.registers=2", "darsie.entries=1", NULL},
                             *const deep[] = {"device.sms=1", "darsie.three_d=true", "fetch.buffer=8",
                                              "fetch.width=4", NULL},
                             *const slow[] = {"device.sms=1", "fetch.decode=4", "latency.alu=40", NULL};
    static const struct {
        const char *mech;
        const char *const *set;
    } machines[] = {{"darsie", lrr},
                    {"darsie", one},
                    {"darsie", two},
                    {"darsie", deep},
                    {"darsie", slow},
                    {"darsie+gscalar", lrr},
                    {"darsie+gscalar", deep},
                    {"darsie+cmrc", lrr},
                    {"darsie+cmrc", two},
                    {"darsie-no-cf-sync", lrr},
                    {"darsie-no-cf-sync", two},
                    {"darsie-no-cf-sync", deep}};
    for (size_t m = 0; m < sizeof machines / sizeof *machines; m++) {
        struct rig r;
        open_darsie(&r, machines[m].mech, machines[m].set, text);
        for (uint32_t k = 0; k < KERNELS_N; k++)
            for (uint32_t s = 0; s < SHAPES; s++)
                if (fits(kernels[k], shapes[s]) && !comes_out(&r, k, s))
                    fail_msg("%s in blocks of %ux%ux%u, machine %zu (%s)", kernels[k], shapes[s][0],
                             shapes[s][1], shapes[s][2], m, machines[m].mech);
        rig_close(&r);
    }
}

/* Each rule by itself: some hazard needs it. */
static void test_rules(void **state) {
    const char *text = *state;
    static const struct {
        enum darsie_rule rule;
        const char *kernel, *more;
    } rules[] = {
        {RULE_VERSIONS, "versions", "darsie.entries=8"}, {RULE_ORDER, "own_store", "darsie.entries=8"},
        {RULE_HELD, "ahead", "darsie.entries=8"},        {RULE_GENERATION, "generations", "darsie.entries=8"},
        {RULE_CLEAR, "rounds", "darsie.registers=1"},    {RULE_CAPTURE, "captured", "darsie.entries=8"},
        {RULE_MERGE, "guarded", "darsie.entries=8"},     {RULE_LEVEL, "out_of_step", "darsie.entries=8"},
        {RULE_COPY, "leaves", "darsie.entries=8"},       {RULE_ATOMICS, "own_atomic", "darsie.entries=8"},
    };
    for (size_t n = 0; n < sizeof rules / sizeof *rules; n++) {
        char omit[32];
        struct rig r;
        bool wrong = false;
        snprintf(omit, sizeof omit, "darsie.omit=%d", (int)rules[n].rule);
        open_darsie(&r, "darsie", SET(omit, rules[n].more), text);
        for (uint32_t k = 0; k < KERNELS_N; k++)
            for (uint32_t s = 0; s < SHAPES && !strcmp(kernels[k], rules[n].kernel); s++)
                wrong |= fits(kernels[k], shapes[s]) && !comes_out(&r, k, s);
        if (!wrong)
            fail_msg("%s comes out right without rule %d", rules[n].kernel, (int)rules[n].rule);
        rig_close(&r);
    }
}

/* Rows of 32: all but one of the warps skip what does not depend on the row. */
static void test_counts(void **state) {
    const char *text = *state;
    struct rig r;
    open_darsie(&r, "base", SET("issue.policy=gto"), text);
    assert_non_null(launch(&r, "many", 1, shapes[0]));
    uint64_t all = rig_counter(&r, "sm.insts.warp"), fetched = rig_counter(&r, "fetch.insts");
    rig_close(&r);
    open_darsie(&r, "darsie", SET("issue.policy=gto"), text);
    assert_non_null(launch(&r, "many", 1, shapes[0]));
    uint64_t skipped = rig_counter(&r, "darsie.skipped"), dropped = rig_counter(&r, "darsie.dropped");
    uint64_t led = rig_counter(&r, "darsie.led");
    assert_int_equal(rig_counter(&r, "sm.insts.warp") + skipped + dropped, all);
    assert_int_equal(skipped + dropped, 7 * led); /* eight warps, one of which leads each time */
    assert_true(led >= 48);                       /* the chain of the kernel, and some of what comes before */
    assert_true(fetched - rig_counter(&r, "fetch.insts") >= skipped);
    rig_close(&r);
    /* Blocks of one dimension: what depends on tid.x is each warp's own; one warp has nobody to follow. */
    static const uint32_t flat[3] = {256, 1, 1}, single[3] = {32, 1, 1};
    open_darsie(&r, "darsie", SET("issue.policy=gto"), text);
    assert_non_null(launch(&r, "many", 1, flat));
    assert_true(rig_counter(&r, "darsie.led") < 12);
    assert_non_null(launch(&r, "many", 1, single));
    assert_int_equal(rig_counter(&r, "darsie.led"), 0);
    /* Without registers there is no DARSIE. */
    rig_close(&r);
    open_darsie(&r, "darsie", SET("darsie.registers=0"), text);
    assert_non_null(launch(&r, "many", 1, shapes[0]));
    assert_int_equal(rig_counter(&r, "darsie.led") + rig_counter(&r, "darsie.syncs"), 0);
    rig_close(&r);
}

/* By pc: how often it was issued, or passed over. */
enum { PCS = 512 };
static struct {
    struct probe probe;
    uint64_t issued[PCS], passed[PCS];
} seen;

static void count_event(struct probe *p, const struct probe_event *e) {
    (void)p;
    assert_true(e->pc < PCS);
    seen.issued[e->pc] += e->kind == PROBE_ISSUE;
    seen.passed[e->pc] += e->kind == PROBE_SKIP;
}

static void count_by_pc(const char *mech, uint32_t k, uint32_t s, const char *text) {
    struct rig r;
    open_darsie(&r, mech, SET("issue.policy=gto"), text);
    memset(&seen, 0, sizeof seen);
    seen.probe = (struct probe){.event = count_event, .kinds = 1u << PROBE_ISSUE | 1u << PROBE_SKIP};
    rp_gpu_watch(r.g, &seen.probe);
    assert_non_null(launch(&r, kernels[k], 3, shapes[s]));
    rig_close(&r);
}

/* What is issued and what is passed over make up what the base machine issues, at each pc. A warp that waits
 * for another's store goes around as often as it has to. */
static void test_each_pc(void **state) {
    static uint64_t all[PCS];
    static const char *const models[] = {"darsie", "darsie-no-cf-sync"};
    uint64_t passed = 0;
    for (uint32_t k = 0; k < KERNELS_N; k++)
        for (uint32_t s = 0; s < SHAPES; s += 3) {
            if (!fits(kernels[k], (const uint32_t[3]){0, 0, 0})) /* these wait */
                continue;
            count_by_pc("base", k, s, *state);
            memcpy(all, seen.issued, sizeof all);
            for (uint32_t m = 0; m < 2; m++) {
                count_by_pc(models[m], k, s, *state);
                for (uint32_t pc = 0; pc < PCS; pc++) {
                    if (seen.issued[pc] + seen.passed[pc] != all[pc])
                        fail_msg("%s, %s, pc %u", models[m], kernels[k], pc);
                    passed += seen.passed[pc];
                }
            }
        }
    assert_true(passed);
}

/* A long row of instructions, every other of which does not depend on the row; or, by hand, the same with
 * these only in the first row, to which a branch leads. */
static char *half_redundant(bool by_hand) {
    enum { LENGTH = 320, ROWS = 10, OTHERS = 20, CHAINS = 8 }; /* registers of the two kinds */
    struct str t = {0};
    str_printf(&t,
               ".version 7.0\n.target sm_70\n.address_size 64\n"
               ".visible .entry k(.param .u64 buffer, .param .u32 n, .param .u32 x)\n{\n"
               ".reg .b32 %%r<32>; .reg .b64 %%l<4>; .reg .pred %%p<2>;\n"
               "ld.param.u64 %%l0, [buffer]; ld.param.u32 %%r9, [x];\n"
               "mov.u32 %%r0, %%tid.x; mov.u32 %%r1, %%tid.y;\n"
               "mad.lo.u32 %%r3, %%r1, 32, %%r0; mul.wide.u32 %%l1, %%r3, 4; add.u64 %%l1, %%l0, %%l1;\n");
    for (uint32_t k = 0; k < CHAINS; k++)
        str_printf(&t, "add.u32 %%r%u, %%r1, %u; add.u32 %%r%u, %%r0, %u;\n", ROWS + k, k, OTHERS + k, k);
    str_printf(&t, "bar.sync 0;\n");
    if (by_hand)
        str_printf(&t, "setp.ne.u32 %%p0, %%r1, 0; @%%p0 bra REST;\n");
    for (uint32_t part = 0; part <= by_hand; part++) {
        for (uint32_t k = 0; k < LENGTH; k++) {
            uint32_t row = ROWS + k % CHAINS, other = OTHERS + k % CHAINS;
            if (!part)
                str_printf(&t, "mad.lo.u32 %%r%u, %%r%u, %u, %%r9;\n", other, other, k + 3);
            str_printf(&t, "mad.lo.u32 %%r%u, %%r%u, %u, %%r1;\n", row, row, k + 5);
        }
        if (by_hand && !part)
            str_printf(&t, "bra END;\nREST:\n");
    }
    str_printf(&t, "END: mov.u32 %%r2, 0;\n");
    for (uint32_t k = 0; k < CHAINS; k++)
        str_printf(&t, "add.u32 %%r2, %%r2, %%r%u; add.u32 %%r2, %%r2, %%r%u;\n", ROWS + k, OTHERS + k);
    str_printf(&t, "st.global.u32 [%%l1], %%r2; exit;\n}\n");
    return t.at;
}

/* Skipping is as good as if the instructions were not in the code of all warps but one. */
static void test_ideal(void **state) {
    (void)state;
    static const struct {
        const char *mech;
        bool by_hand;
    } runs[] = {{"base", false}, {"base", true}, {"darsie", false}};
    static const uint32_t shape[3] = {32, 16, 1};
    uint64_t cycles[3];
    for (uint32_t n = 0; n < 3; n++) {
        struct rig r;
        char *text = half_redundant(runs[n].by_hand);
        open_darsie(&r, runs[n].mech, SET("issue.policy=gto"), text);
        assert_non_null(launch(&r, "k", 2, shape));
        assert_non_null(launch(&r, "k", 2, shape)); /* with the code in the cache */
        cycles[n] = r.cycles;
        rig_close(&r);
        free(text);
    }
    assert_true(cycles[2] * 100 < cycles[1] * 105);
    assert_true(cycles[2] * 4 < cycles[0] * 3);
}

/* Sleeping through cycles in which nothing happens changes no counter. */
static void test_sleep(void **state) {
    const char *text = *state;
    static uint64_t count[2][RIG_COUNTERS];
    for (uint32_t k = 0; k < KERNELS_N; k++) {
        for (uint32_t awake = 0; awake < 2; awake++) {
            struct rig r;
            struct rp_counter c;
            open_darsie(&r, "darsie", SET("latency.alu=40"), text);
            r.g->machine = machine_create(&r.g->config, &r.g->mechs, true, 1);
            r.g->machine->core.sleep = !awake;
            assert_non_null(launch(&r, kernels[k], 3, shapes[0]));
            for (uint32_t i = 0; rp_counter(r.g, i, &c); i++)
                count[awake][i] = c.launch;
            for (uint32_t i = 0; awake && rp_counter(r.g, i, &c); i++)
                if (count[0][i] != count[1][i])
                    fail_msg("%s: %s is %llu with sleep, %llu without", kernels[k], c.name,
                             (unsigned long long)count[0][i], (unsigned long long)count[1][i]);
            rig_close(&r);
        }
    }
}

static int open_text(void **state) {
    *state = rig_file("../hazards/darsie.ptx");
    find_results(*state);
    return 0;
}

static int close_text(void **state) {
    free(*state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_hazards), cmocka_unit_test(test_rules),
                                       cmocka_unit_test(test_counts),  cmocka_unit_test(test_each_pc),
                                       cmocka_unit_test(test_ideal),   cmocka_unit_test(test_sleep)};
    return cmocka_run_group_tests(tests, open_text, close_text);
}
