/* Traces change nothing, are the same from run to run and with or without sleeping SMs; cut ones are parts of
 * whole ones. tests/e2e/traces.py looks at their form. */
#include <stdio.h>
#include <unistd.h>

#include "report/trace.h"
#include "report/trace_model.h"
#include "timing_rig.h"

static const struct {
    const char *kernel;
    uint32_t grid, block;
} set[] = {
    {"reduce", 40, 200}, {"atomics", 7, 45}, {"diverge", 33, 77}, {"produce", 40, 64}, {"lock", 2, 40},
};
enum { LAUNCHES = sizeof set / sizeof *set };

struct outcome {
    uint64_t cycles[LAUNCHES], counters[LAUNCHES][RIG_COUNTERS];
    char *trace; /* text of the file, or NULL */
    size_t bytes;
};

static char path[64];

static char *read_all(const char *name, size_t *bytes) {
    FILE *f = fopen(name, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    *bytes = (size_t)ftell(f);
    rewind(f);
    char *text = calloc(1, *bytes + 1);
    assert_int_equal(fread(text, 1, *bytes, f), *bytes);
    fclose(f);
    return text;
}

/* Runs every kernel of the set. mech: a mechanism or NULL; suffix: of the trace, NULL for none; eager:
 * without sleeping. */
static struct outcome *run_set(const char *const *settings, const char *mech, const char *suffix,
                               struct rp_trace what, bool eager) {
    struct outcome *o = calloc(1, sizeof *o);
    struct rig r;
    char *text = rig_file("mixed.ptx"), *log = NULL;
    rig_open_options(&r, &(struct rp_options){.gpu = "gtx480", .set = settings, .mech = mech}, text);
    rig_zero(&r);
    struct trace *t = NULL;
    if (suffix) {
        snprintf(path, sizeof path, "/tmp/reprise_trace_%d%s", (int)getpid(), suffix);
        what.path = path;
        t = trace_open(r.g, &what, &log);
        if (!t)
            fail_msg("%s", log);
    }
    rig_run(&r, "reduce", 1, 32, (struct rig_params){0}); /* makes the machine */
    r.g->machine->core.sleep = !eager;
    for (uint32_t i = 0; i < LAUNCHES; i++) {
        uint64_t own = rp_mem_alloc(r.g, 65536, RP_MEM_DEVICE);
        o->cycles[i] = rig_run(&r, set[i].kernel, set[i].grid, set[i].block, (struct rig_params){own, 0, 0});
        rig_counters(&r, o->counters[i]);
    }
    if (t) {
        assert_true(trace_close(t, &log));
        o->trace = read_all(path, &o->bytes);
        remove(path);
        free(log);
    }
    rig_close(&r);
    free(text);
    return o;
}

static void release(struct outcome *o) {
    free(o->trace);
    free(o);
}

static void expect_same_counts(const struct outcome *a, const struct outcome *b) {
    assert_memory_equal(a->cycles, b->cycles, sizeof a->cycles);
    assert_memory_equal(a->counters, b->counters, sizeof a->counters);
}

static void expect_same_trace(const struct outcome *a, const struct outcome *b) {
    size_t k = 0;
    while (k < a->bytes && k < b->bytes && a->trace[k] == b->trace[k])
        k++;
    if (k < a->bytes || k < b->bytes)
        fail_msg("traces differ at byte %zu:\n%.300s\n---\n%.300s", k, a->trace + (k > 100 ? k - 100 : 0),
                 b->trace + (k > 100 ? k - 100 : 0));
}

static const struct rp_trace all = {.last = UINT64_MAX, .last_sm = UINT64_MAX};
static const char *const formats[] = {".kanata", ".json"};

static void test_changes_nothing(void **state) {
    (void)state;
    struct outcome *plain = run_set(NULL, NULL, NULL, all, false);
    for (int f = 0; f < 2; f++) {
        struct outcome *a = run_set(NULL, NULL, formats[f], all, false),
                       *b = run_set(NULL, NULL, formats[f], all, false);
        expect_same_counts(plain, a);
        expect_same_trace(a, b);
        assert_true(a->bytes > 100000);
        release(a);
        release(b);
    }
    release(plain);
}

/* Every scheduler, a mechanism, and windows and SMs that cut through the run. */
static void test_sleep(void **state) {
    (void)state;
    static const char *const policies[] = {"issue.policy=lrr", "issue.policy=gto", "issue.policy=two_level",
                                           "issue.policy=oldest"};
    static const char *const mechs[] = {NULL, "wir", NULL, NULL};
    static const struct rp_trace cuts[] = {{.last = UINT64_MAX, .last_sm = UINT64_MAX},
                                           {.first = 1111, .last = 3333, .last_sm = UINT64_MAX},
                                           {.first = 500, .last = UINT64_MAX, .first_sm = 2, .last_sm = 3},
                                           {.first = 2000, .last = 2000, .first_sm = 0, .last_sm = 5}};
    for (int p = 0; p < 4; p++)
        for (int f = 0; f < 2; f++) {
            const char *const settings[] = {policies[p], "issue.active=3", "issue.width=2", NULL};
            struct outcome *a = run_set(settings, mechs[p], formats[f], cuts[p], false),
                           *b = run_set(settings, mechs[p], formats[f], cuts[p], true);
            expect_same_counts(a, b);
            expect_same_trace(a, b);
            release(a);
            release(b);
        }
}

/* ---- events by hand: what mechanisms tell ---- */

static void print(const struct probe_kernel *k, uint32_t pc, struct str *inst, struct str *where) {
    (void)k;
    str_printf(inst, "OP%u ;", pc);
    str_printf(where, "file\t\"x\\.ptx:%u", pc);
}

static const struct probe_kernel kernel = {.name = "k",
                                           .grid = {2, 1, 1},
                                           .block = {64, 1, 1},
                                           .warps = 2,
                                           .ncode = 10,
                                           .sms = 2,
                                           .slots = 4,
                                           .nops = 8,
                                           .print = print};

/* The Kanata log of a list of events. */
static char *log_of(const struct probe_event *events, size_t n) {
    struct rig r;
    char *log = NULL, *text = rig_file("mixed.ptx");
    rig_open(&r, "gtx480", NULL, false, text);
    snprintf(path, sizeof path, "/tmp/reprise_trace_%d", (int)getpid());
    struct rp_trace what = all;
    what.path = path;
    struct trace *t = trace_open(r.g, &what, &log);
    assert_non_null(t);
    struct probe *p = (struct probe *)t;
    p->event(p, &(struct probe_event){.kind = PROBE_KERNEL_BEGIN, .kernel = &kernel});
    for (size_t k = 0; k < n; k++)
        p->event(p, &events[k]);
    p->event(p, &(struct probe_event){.kind = PROBE_KERNEL_END, .cycle = 100, .kernel = &kernel});
    assert_true(trace_close(t, &log));
    assert_null(log);
    rig_close(&r);
    free(text);
    size_t bytes;
    char *out = read_all(path, &bytes);
    remove(path);
    return out;
}

static void expect_parts(const char *text, const char *const *parts) {
    const char *at = text;
    for (; *parts; parts++) {
        at = strstr(at, *parts);
        if (!at)
            fail_msg("'%s' is not, or not in this place, in\n%s", *parts, text);
        at += strlen(*parts);
    }
}

/* The warp with number 3 in the grid of 4: one instruction is reused, one skipped, one is the mechanism's
 * own. */
static void test_mechanisms(void **state) {
    (void)state;
    static const struct probe_event events[] = {
        {.kind = PROBE_WARP_BEGIN, .sm = 1, .slot = 2, .block = 1, .n = 1},
        {.kind = PROBE_FETCH, .sm = 1, .slot = 2, .pc = 4, .n = 2, .cycle = 1},
        {.kind = PROBE_DECODE, .sm = 1, .slot = 2, .pc = 4, .n = 3, .cycle = 3},
        {.kind = PROBE_BUFFER, .sm = 1, .slot = 2, .cycle = 4},
        {.kind = PROBE_ISSUE, .sm = 1, .slot = 2, .pc = 4, .mask = 7, .op = 5, .cycle = 6},
        {.kind = PROBE_NOTE, .sm = 1, .op = 5, .text = "reuse hit", .cycle = 7},
        {.kind = PROBE_WRITEBACK, .sm = 1, .op = 5, .cycle = 8},
        {.kind = PROBE_END, .sm = 1, .op = 5, .cycle = 8},
        {.kind = PROBE_SKIP, .sm = 1, .slot = 2, .pc = 5, .text = "skipped", .cycle = 8},
        {.kind = PROBE_INSERT, .sm = 1, .slot = 2, .op = 5, .text = "MOV R1, R2", .cycle = 9},
        {.kind = PROBE_DISPATCH, .sm = 1, .op = 5, .text = "SP", .cycle = 10},
        {.kind = PROBE_END, .sm = 1, .op = 5, .cycle = 12},
        {.kind = PROBE_ISSUE, .sm = 1, .slot = 2, .pc = 6, .mask = 1, .op = -1, .cycle = 14},
        {.kind = PROBE_WARP_END, .sm = 1, .slot = 2, .cycle = 14},
    };
    static const char *const parts[] = {
        "Kanata\t0004\nC=\t1\nI\t0\t0\t3\nL\t0\t0\tb1 w1 0020: OP4\n",
        "block (1,0,0), warp 1, SM 1\\nfile??x?.ptx:4\nS\t0\t0\tF\n",
        "I\t1\t1\t3\n",
        "C\t2\nE\t0\t0\tF\nS\t0\t0\tD\n",
        "I\t2\t2\t3\n",
        "C\t1\nE\t0\t0\tD\nS\t0\t0\tB\n",
        "C\t2\nL\t0\t1\t\\ninstruction 0 of the warp, lanes 00000007\nE\t0\t0\tB\nS\t0\t0\tO\n",
        "C\t1\nL\t0\t0\t [reuse hit]\nC\t1\nE\t0\t0\tO\nS\t0\t0\tW\n",
        "L\t1\t0\t [skipped]\nE\t1\t0\tB\nS\t1\t0\tSk\nC\t1\n",
        "R\t0\t3\t0\n",
        "R\t1\t7\t0\n",
        "L\t3\t0\tb1 w1 ----:\n",
        "L\t3\t0\t [MOV R1, R2]\nS\t3\t0\tO\nC\t1\n",
        "C\t3\nL\t3\t1\t\\nunit SP\nE\t3\t0\tX\nR\t3\t11\t1\n",
        "R\t2\t11\t0\n",
        NULL};
    char *text = log_of(events, sizeof events / sizeof *events);
    expect_parts(text, parts);
    free(text);
}

/* A warp at a barrier: the instruction stays until the warp goes on, and the next one says why it waits. */
static void test_barrier(void **state) {
    (void)state;
    static const struct probe_event events[] = {
        {.kind = PROBE_WARP_BEGIN, .sm = 0, .slot = 0},
        {.kind = PROBE_DECODE, .pc = 0, .n = 2, .cycle = 1},
        {.kind = PROBE_BUFFER, .cycle = 2},
        {.kind = PROBE_WARP_STATE, .state = PROBE_STATE_READY, .cycle = 3},
        {.kind = PROBE_ISSUE, .pc = 0, .op = -1, .cycle = 3},
        {.kind = PROBE_WARP_STATE, .state = PROBE_STATE_BARRIER, .cycle = 4}, /* it sleeps */
        {.kind = PROBE_WARP_STATE, .state = PROBE_STATE_CONTROL, .cycle = 9},
        {.kind = PROBE_WARP_STATE, .state = PROBE_STATE_READY, .cycle = 11},
        {.kind = PROBE_ISSUE, .pc = 1, .op = -1, .cycle = 11},
        {.kind = PROBE_WARP_END, .cycle = 11},
    };
    static const char *const parts[] = {
        "C\t1\nL\t0\t1\t\\ninstruction 0",
        "E\t0\t0\tB\nS\t0\t0\tX\nC\t1\nS\t1\t1\tbarrier\n",
        "C\t5\nE\t1\t1\tbarrier\nS\t1\t1\tcontrol\nC\t2\n",
        "E\t0\t0\tX\nR\t0\t0\t0\n",
        "E\t1\t1\tcontrol\nE\t1\t0\tB\nS\t1\t0\tX\nC\t1\nE\t1\t0\tX\nR\t1\t4\t0\n",
        NULL};
    char *text = log_of(events, sizeof events / sizeof *events);
    expect_parts(text, parts);
    free(text);
}

static void test_refusals(void **state) {
    (void)state;
    struct rig r;
    char *log = NULL, *text = rig_file("mixed.ptx");
    rig_open(&r, "gtx480", NULL, false, text);
    struct rp_trace what = all;
    what.path = "/nonexistent/trace";
    assert_null(trace_open(r.g, &what, &log));
    assert_null(log);
    what.first_sm = 15;
    assert_null(trace_open(r.g, &what, &log));
    assert_non_null(strstr(log, "no trace of SM 15: the GPU has 15 SMs"));
    free(log);
    /* A full disk is noticed, and the run goes on. */
    what = all;
    what.path = "/dev/full";
    struct trace *t = trace_open(r.g, &what, &log);
    assert_non_null(t);
    rig_run(&r, "reduce", 4, 64, (struct rig_params){0});
    assert_false(trace_close(t, &log));
    assert_null(log);
    rig_close(&r);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_changes_nothing), cmocka_unit_test(test_sleep),
        cmocka_unit_test(test_mechanisms),      cmocka_unit_test(test_barrier),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
