/* The timed machine as a whole: results equal those of functional runs, nothing depends on sleeping or on the
 * run, schedulers do what their names say, and a hang is reported. */
#include <stdio.h>

#include "timing_rig.h"

static const struct {
    const char *kernel;
    uint32_t grid, block;
} set[] = {
    {"reduce", 40, 200}, {"reduce", 3, 1},    {"reduce", 20, 33},   {"reduce", 4, 1024}, {"atomics", 40, 192},
    {"atomics", 7, 45},  {"diverge", 33, 77}, {"diverge", 16, 256}, {"produce", 40, 64}, {"lock", 2, 40},
};
enum { LAUNCHES = sizeof set / sizeof *set };

/* What a run leaves behind: all memory, and cycles and counters of each launch. */
struct outcome {
    uint8_t *image;
    size_t bytes;
    uint64_t cycles[LAUNCHES], counters[LAUNCHES][RIG_COUNTERS];
};

enum mode { TIMED, EAGER, FUNCTIONAL };

static void keep_memory(struct rig *r, struct outcome *o) {
    struct rp_alloc *a;
    for (uint32_t i = 0; (a = rp_mem_at(r->g, i)); i++)
        o->bytes += a->size + sizeof a->addr;
    uint8_t *to = o->image = malloc(o->bytes);
    for (uint32_t i = 0; (a = rp_mem_at(r->g, i)); i++) {
        memcpy(to, &a->addr, sizeof a->addr);
        memcpy(to + sizeof a->addr, (const void *)(uintptr_t)a->addr, a->size);
        to += sizeof a->addr + a->size;
    }
}

/* Runs every kernel of the set. Eager: without sleeping. */
static struct outcome *run_set(const char *gpu, const char *const *settings, enum mode mode) {
    struct outcome *o = calloc(1, sizeof *o);
    struct rig r;
    char *text = rig_file("mixed.ptx");
    rig_open(&r, gpu, settings, mode == FUNCTIONAL, text);
    rig_zero(&r);
    rig_run(&r, "reduce", 1, 32, (struct rig_params){0}); /* makes the machine */
    if (mode == EAGER)
        r.g->machine->core.sleep = false;
    for (uint32_t i = 0; i < LAUNCHES; i++) {
        uint64_t own = rp_mem_alloc(r.g, 65536, RP_MEM_DEVICE);
        o->cycles[i] = rig_run(&r, set[i].kernel, set[i].grid, set[i].block, (struct rig_params){own, 0, 0});
        rig_counters(&r, o->counters[i]);
    }
    keep_memory(&r, o);
    rig_close(&r);
    free(text);
    return o;
}

static void release(struct outcome *o) {
    free(o->image);
    free(o);
}

static void expect_same_memory(const struct outcome *a, const struct outcome *b) {
    assert_int_equal(a->bytes, b->bytes);
    assert_memory_equal(a->image, b->image, a->bytes);
}

static void expect_same(const struct outcome *a, const struct outcome *b) {
    expect_same_memory(a, b);
    assert_memory_equal(a->cycles, b->cycles, sizeof a->cycles);
    assert_memory_equal(a->counters, b->counters, sizeof a->counters);
}

static const char *const policies[] = {"issue.policy=lrr", "issue.policy=gto", "issue.policy=two_level",
                                       "issue.policy=oldest"};

/* On every kind of GPU and with every scheduler. */
static void test_results(void **state) {
    (void)state;
    static const char *const gpus[] = {"gtx480", "gtx1080ti", "h200", "wir", "darsie"};
    for (size_t g = 0; g < sizeof gpus / sizeof *gpus; g++) {
        struct outcome *want = run_set(gpus[g], NULL, FUNCTIONAL), *got = run_set(gpus[g], NULL, TIMED);
        expect_same_memory(want, got);
        release(got);
        for (size_t p = 0; g == 0 && p < 4; p++) {
            const char *const settings[] = {policies[p], "issue.active=3", NULL};
            got = run_set(gpus[g], settings, TIMED);
            expect_same_memory(want, got);
            release(got);
        }
        release(want);
    }
}

static void test_determinism(void **state) {
    (void)state;
    struct outcome *a = run_set("gtx480", NULL, TIMED), *b = run_set("gtx480", NULL, TIMED);
    expect_same(a, b);
    for (uint32_t i = 0; i < LAUNCHES; i++)
        assert_true(a->cycles[i] > 0);
    release(a);
    release(b);
}

/* Skipping cycles in which nothing can happen changes nothing. */
static void test_sleep(void **state) {
    (void)state;
    static const char *const gpus[] = {"gtx480", "gtx1080ti"};
    for (size_t g = 0; g < 2; g++)
        for (size_t p = 0; p < 4; p++) {
            const char *const settings[] = {policies[p], "issue.active=3", NULL};
            struct outcome *a = run_set(gpus[g], settings, TIMED), *b = run_set(gpus[g], settings, EAGER);
            expect_same(a, b);
            release(a);
            release(b);
        }
}

/* Every lane of every warp has had the lock. */
static void test_lock(void **state) {
    (void)state;
    struct rig r;
    char *text = rig_file("mixed.ptx");
    uint32_t sum;
    rig_open(&r, "gtx480", NULL, false, text);
    rig_zero(&r);
    rig_run(&r, "lock", 2, 40, (struct rig_params){0});
    memcpy(&sum, (const void *)(uintptr_t)(r.buffer + 512), 4);
    assert_int_equal(sum, 3 * 2 * 40);
    rig_close(&r);
    free(text);
}

/* The clock of a program is the SM's: a chain of additions takes its latency on it. */
static void test_clock(void **state) {
    (void)state;
    for (int latency = 22; latency <= 23; latency++) {
        char alu[32];
        snprintf(alu, sizeof alu, "latency.alu=%d", latency);
        const char *const settings[] = {alu, NULL};
        struct rig r;
        char *text = rig_file("mixed.ptx");
        uint32_t ticks;
        uint64_t last, before = 0;
        rig_open(&r, "gtx480", settings, false, text);
        for (int i = 0; i < 2; i++) {
            rig_run(&r, "ticks", 1, 32, (struct rig_params){.n = 5});
            memcpy(&ticks, (const void *)(uintptr_t)r.buffer, 4);
            memcpy(&last, (const void *)(uintptr_t)(r.buffer + 8), 8);
            /* From the first look to the addition after it, three latencies, and to the second look. */
            assert_int_equal(ticks, 1 + 3 * latency + 1);
            assert_true(last > before); /* goes on from launch to launch */
            before = last;
        }
        rig_close(&r);
        free(text);
    }
}

/* When the first and the last of 24 warps end, which share one scheduler. */
static void ends(const char *policy, uint32_t *first, uint32_t *last) {
    const char *const settings[] = {policy,
                                    "issue.schedulers=1",
                                    "device.sms=1",
                                    "issue.active=4",
                                    "unit.sp_lanes=32",
                                    "latency.imul=4",
                                    "latency.alu=4",
                                    "latency.ctrl=1",
                                    "fetch.buffer=8",
                                    "fetch.width=8",
                                    NULL};
    struct rig r;
    char *text = rig_file("mixed.ptx");
    rig_open(&r, "gtx480", settings, false, text);
    rig_run(&r, "finish", 1, 768, (struct rig_params){.n = 100});
    uint32_t at[24];
    memcpy(at, (const void *)(uintptr_t)r.buffer, sizeof at);
    *first = UINT32_MAX;
    *last = 0;
    for (int i = 0; i < 24; i++) {
        *first = at[i] < *first ? at[i] : *first;
        *last = at[i] > *last ? at[i] : *last;
    }
    rig_close(&r);
    free(text);
}

/* Round robin lets all warps end together; greedy and oldest first let the first one run ahead, and two-level
 * the first few. */
static void test_schedulers(void **state) {
    (void)state;
    uint32_t first[4], last[4];
    for (int p = 0; p < 4; p++)
        ends(policies[p], &first[p], &last[p]);
    assert_true(first[0] > last[0] / 10 * 9);
    assert_true(first[1] < last[1] / 4);
    assert_true(first[2] > first[1] && first[2] < last[2] / 2);
    assert_true(first[3] < last[3] / 4);
}

/* Blocks that end in the same cycle are all replaced: an SM stays full until there are no more. */
static void test_full(void **state) {
    (void)state;
    static const char chain[] = ".version 6.0\n.target sm_60\n.address_size 64\n"
                                ".visible .entry chain(.param .u64 buffer, .param .u32 n, .param .u32 x) {\n"
                                "  .reg .u32 %r0; .reg .pred %p;\n"
                                "  ld.param.u32 %r0, [n];\n"
                                "again:\n"
                                "  sub.u32 %r0, %r0, 1; setp.ne.u32 %p, %r0, 0; @%p bra again;\n"
                                "  ret; }\n";
    static const char *const one[] = {"device.sms=1", NULL};
    enum { FIT = 8, BLOCKS = 80 };
    struct rig r;
    rig_open(&r, "wir", one, false, chain); /* which fetches and issues for two warps in a cycle */
    rig_run(&r, "chain", BLOCKS, 32, (struct rig_params){.n = 40, .x = 3});
    assert_int_equal(rig_counter(&r, "sm.blocks"), BLOCKS);
    double resident = (double)rig_counter(&r, "sm.warps.resident") / (double)r.cycles;
    if (resident < 0.95 * FIT)
        fail_msg("%.2f blocks of one warp on the SM, on average, where %d fit", resident, FIT);
    rig_close(&r);
}

/* A block whose halves wait for each other ends with a report that says who waits where. */
static void test_hang(void **state) {
    (void)state;
    struct rig r;
    char *text = rig_file("mixed.ptx"), *report = NULL;
    rig_open(&r, "gtx480", NULL, false, text);
    assert_int_equal(rig_try(&r, "stuck", 1, 64, 0, (struct rig_params){0}, &report), RP_TIMEOUT);
    assert_non_null(report);
    static const char *const parts[] = {
        "launch timed out in kernel stuck",
        "SM 0, block (0,0,0), warp 0: waits for threads\n"
        "    lanes 0xffffffff wait at barrier 1: 32 of 64 threads have arrived; not there: warp 1\n"
        "      at timing.ptx:",
        "SM 0, block (0,0,0), warp 1: waits for threads\n"
        "    lanes 0xffffffff wait at barrier 2: 32 of 64 threads have arrived; not there: warp 0\n"
        "      at timing.ptx:",
        "BAR"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strstr(report, parts[i]))
            fail_msg("'%s' is not in\n%s", parts[i], report);
    free(report);
    /* The GPU is as good as before. */
    rig_run(&r, "reduce", 4, 64, (struct rig_params){0});
    uint32_t sum;
    memcpy(&sum, (const void *)(uintptr_t)(r.buffer + 4), 4);
    assert_int_equal(sum, (64 + 127) * 32);
    rig_close(&r);
    free(text);
}

/* Some lanes wait at a barrier of one arm; the others, at the end of the other arm, for them. The last thing
 * that happens in the block is no barrier: those others go on to the barrier behind all the same. And a
 * barrier that ends an arm is one. */
static void test_apart(void **state) {
    (void)state;
    static const char text[] = ".version 6.4\n.target sm_70\n.address_size 64\n"
                               ".visible .entry apart(.param .u64 buffer, .param .u32 n, .param .u32 x)\n{\n"
                               "    .reg .b32 %r<4>; .reg .b64 %l<3>; .reg .pred %p<3>;\n"
                               "    ld.param.u64 %l0, [buffer]; mov.u32 %r0, %tid.x; mov.u32 %r1, 0;\n"
                               "    mul.wide.u32 %l1, %r0, 4; add.u64 %l2, %l0, %l1;\n"
                               "    setp.gt.u32 %p0, %r0, 5; @%p0 bra ARM;\n"
                               "AGAIN: st.global.u32 [%l2], %r1; add.u32 %r1, %r1, 1;\n"
                               "    setp.lt.u32 %p1, %r1, 40; @%p1 bra AGAIN; bra JOIN;\n"
                               "ARM: barrier.sync 0; st.global.u32 [%l2], %r0;\n"
                               "JOIN: barrier.sync 0; ret;\n}\n"
                               ".visible .entry last(.param .u64 buffer, .param .u32 n, .param .u32 x)\n{\n"
                               "    .reg .b32 %r<4>; .reg .b64 %l<3>; .reg .pred %p<3>;\n"
                               "    ld.param.u64 %l0, [buffer]; mov.u32 %r0, %tid.x; mov.u32 %r1, 0;\n"
                               "    mul.wide.u32 %l1, %r0, 4; add.u64 %l2, %l0, %l1;\n"
                               "    setp.gt.u32 %p0, %r0, 31; setp.lt.u32 %p1, %r0, 6; @%p0 bra SLOW;\n"
                               "    @%p1 bra JOIN; barrier.sync 0;\n"
                               "JOIN: ld.global.u32 %r2, [%l2+128]; st.global.u32 [%l2+256], %r2; ret;\n"
                               "SLOW: st.global.u32 [%l2], %r1; add.u32 %r1, %r1, 1;\n"
                               "    setp.lt.u32 %p1, %r1, 40; @%p1 bra SLOW; barrier.sync 0; ret;\n}\n";
    for (int functional = 0; functional < 2; functional++) {
        struct rig r;
        rig_open(&r, "gtx480", NULL, functional, text);
        rig_run(&r, "apart", 1, 64, (struct rig_params){0});
        for (uint32_t k = 0; k < 64; k++)
            assert_int_equal(((const uint32_t *)(uintptr_t)r.buffer)[k], k > 5 ? k : 39);
        rig_run(&r, "last", 1, 64, (struct rig_params){0});
        for (uint32_t k = 6; k < 32; k++)
            assert_int_equal(((const uint32_t *)(uintptr_t)r.buffer)[64 + k], 39);
        rig_close(&r);
    }
}

/* A lane waits for one that is past the place where both would meet: the others go on without it. Behind the
 * next instruction of the whole warp all go on together, as on a GPU. */
static void test_together(void **state) {
    (void)state;
    static const char text[] = ".version 6.4\n.target sm_70\n.address_size 64\n"
                               ".visible .entry meet(.param .u64 buffer, .param .u32 n, .param .u32 x)\n{\n"
                               "    .reg .b32 %r<4>; .reg .b64 %l<3>; .reg .pred %p<3>;\n"
                               "    ld.param.u64 %l0, [buffer]; mov.u32 %r0, %laneid;\n"
                               "    setp.ne.u32 %p0, %r0, 0; setp.eq.u32 %p1, %r0, 1; @%p0 bra ON;\n"
                               "AGAIN: ld.volatile.global.u32 %r1, [%l0+128]; setp.ne.u32 %p2, %r1, 7;\n"
                               "    @%p2 bra AGAIN;\n"
                               "ON: @%p1 st.volatile.global.u32 [%l0+128], 7;\n"
                               "    bar.warp.sync 0xffffffff; activemask.b32 %r2;\n"
                               "    mul.wide.u32 %l1, %r0, 4; add.u64 %l2, %l0, %l1;\n"
                               "    st.global.u32 [%l2], %r2; ret;\n}\n";
    for (int functional = 0; functional < 2; functional++) {
        struct rig r;
        rig_open(&r, "gtx480", NULL, functional, text);
        rig_run(&r, "meet", 1, 32, (struct rig_params){0});
        for (uint32_t k = 0; k < 32; k++)
            assert_int_equal(((const uint32_t *)(uintptr_t)r.buffer)[k], UINT32_MAX);
        rig_close(&r);
    }
}

/* A launch whose parameters are not there, or fewer than the kernel reads, is refused. */
static void test_parameters(void **state) {
    (void)state;
    struct rig r;
    char *text = rig_file("mixed.ptx");
    rig_open(&r, "gtx480", NULL, true, text);
    struct rig_params p = {.buffer = r.buffer};
    struct rp_launch l = {.grid = {1, 1, 1}, .block = {32, 1, 1}, .param_bytes = sizeof p};
    const void *const given[] = {NULL, &p};
    for (size_t i = 0; i < 2; i++) {
        char *report = NULL;
        l.params = given[i];
        l.param_bytes -= i;
        assert_int_equal(rp_launch(r.g, rp_module_kernel(r.m, "reduce"), &l, &report), RP_INVALID_VALUE);
        assert_non_null(strstr(report, i ? "15 bytes of parameters were given, 16 are needed"
                                         : "0 bytes of parameters were given, 16 are needed"));
        free(report);
    }
    rig_close(&r);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_results), cmocka_unit_test(test_determinism), cmocka_unit_test(test_sleep),
        cmocka_unit_test(test_lock),    cmocka_unit_test(test_clock),       cmocka_unit_test(test_schedulers),
        cmocka_unit_test(test_hang),    cmocka_unit_test(test_parameters),  cmocka_unit_test(test_full),
        cmocka_unit_test(test_apart),   cmocka_unit_test(test_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
