/* Clusters: groups of SMs, what fits, who runs together, and the timing of remote shared memory and of the
 * barrier. */
#include <stdio.h>

#include "timing_rig.h"

/* ---- groups of SMs ---------------------------------------------------------------------------------- */

static struct gpu_config defaults(void) {
    struct config all = {0};
    config_add(&all, &gpu_params);
    struct gpu_config c = *(const struct gpu_config *)config_values(&all, &gpu_params);
    config_free(&all);
    return c;
}

static struct gpu_config with_gpcs(int sms, const char *gpcs) {
    struct gpu_config c = defaults();
    c.device_sms = sms;
    snprintf(c.device_gpcs, sizeof c.device_gpcs, "%s", gpcs);
    return c;
}

static void expect_gpcs(int sms, const char *gpcs, const uint32_t *want) {
    struct gpu_config c = with_gpcs(sms, gpcs);
    uint32_t k = 0;
    for (; want[k]; k++)
        assert_int_equal(config_gpc(&c, k), want[k]);
    assert_int_equal(config_gpc(&c, k), 0);
}

static void test_gpcs(void **state) {
    (void)state;
    expect_gpcs(132, defaults().device_gpcs, (uint32_t[]){18, 18, 16, 16, 16, 16, 16, 8, 2, 2, 2, 2, 0});
    expect_gpcs(20, "18 18", (uint32_t[]){18, 2, 0});
    expect_gpcs(7, "2", (uint32_t[]){2, 2, 2, 1, 0});
    expect_gpcs(4, "words", (uint32_t[]){0});
    expect_gpcs(4, "2 x", (uint32_t[]){2, 0});
    expect_gpcs(4, "0", (uint32_t[]){0});
}

/* What an H200 answers to cudaOccupancyMaxActiveClusters, for clusters of 1 to 16 blocks. */
static void test_fits(void **state) {
    (void)state;
    static const struct {
        uint32_t per_sm;
        int clusters[16];
    } asked[] = {
        {1, {132, 66, 39, 30, 22, 17, 15, 15, 9, 7, 7, 7, 7, 7, 7, 7}},
        {2, {264, 132, 79, 62, 47, 39, 32, 30, 23, 21, 16, 16, 14, 14, 14, 14}},
        {3, {396, 198, 124, 92, 69, 62, 47, 45, 37, 30, 28, 28, 23, 21, 21, 21}},
        {8, {1056, 528, 327, 248, 193, 163, 139, 124, 102, 88, 81, 74, 67, 65, 58, 58}},
        {32, {1056, 528, 327, 248, 193, 163, 139, 124, 102, 88, 81, 74, 67, 65, 58, 58}},
    };
    const struct gpu_config c = defaults();
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        for (uint32_t n = 1; n <= 16; n++)
            assert_int_equal(config_clusters(&c, asked[i].per_sm, n), asked[i].clusters[n - 1]);
}

/* ---- kernels ---------------------------------------------------------------------------------------- */

static const char head[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry k(.param .u64 buffer, .param .u32 n, .param .u32 x) .explicitcluster .reqnctapercluster "
    "%s\n{\n"
    ".reg .b32 %%r<12>; .reg .b64 %%l<4>; .reg .pred %%p<3>;\n"
    ".shared .align 16 .b8 table[1024];\n"
    "ld.param.u64 %%l0, [buffer]; ld.param.u32 %%r0, [n]; mov.u32 %%r1, %%tid.x;\n"
    "mov.u32 %%r2, %%cluster_ctarank; mov.u32 %%r3, %%cluster_nctarank; add.u32 %%r4, %%r2, 1; rem.u32 %%r4, "
    "%%r4, %%r3;\n"
    "mov.u32 %%r5, table; mapa.shared::cluster.u32 %%r6, %%r5, %%r4; mov.u32 %%r7, 0;\n"
    "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n";
static const char tail[] = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n"
                           "st.global.u32 [%l0], %r7; exit;\n}\n";

enum { FEW = 10, MANY = 20, SHORT = 4, LONG = 12 };

static void open_kernel(struct rig *r, const char *cluster, const char *const *set, const char *body) {
    struct str s = {0};
    str_printf(&s, head, cluster);
    str_printf(&s, "%s%s", body, tail);
    rig_open(r, "h200", set, false, str_text(&s));
    str_free(&s);
}

static int64_t round_of(const char *cluster, const char *more, uint32_t grid, const char *step,
                        uint32_t steps, const char *counter) {
    const char *set[] = {"device.sms=8", more, NULL};
    struct str s = {0};
    struct rig r;
    uint64_t by[2];
    str_printf(&s, "LOOP:\n.pragma \"nounroll\";\n");
    for (uint32_t i = 0; i < steps; i++)
        str_printf(&s, "%s\n", step);
    str_printf(&s, "sub.u32 %%r0, %%r0, 1; setp.ne.u32 %%p0, %%r0, 0; @%%p0 bra LOOP;\n");
    open_kernel(&r, cluster, set, str_text(&s));
    rig_run(&r, "k", grid, 32, (struct rig_params){.n = 1});
    for (int i = 0; i < 2; i++) {
        by[i] = rig_run(&r, "k", grid, 32, (struct rig_params){.n = i ? MANY : FEW});
        by[i] = counter ? rig_counter(&r, counter) : by[i];
    }
    rig_close(&r);
    str_free(&s);
    return (int64_t)(by[1] - by[0]) / (MANY - FEW);
}

static int64_t per_step(const char *cluster, const char *more, uint32_t grid, const char *step,
                        const char *counter) {
    int64_t gain = round_of(cluster, more, grid, step, LONG, counter) -
                   round_of(cluster, more, grid, step, SHORT, counter);
    assert_int_equal(gain % (LONG - SHORT), 0);
    return gain / (LONG - SHORT);
}

#define REMOTE  "ld.shared::cluster.u32 %r7, [%r6]; add.u32 %r6, %r6, %r7;"
#define LOCAL   "ld.shared::cluster.u32 %r7, [%r5]; add.u32 %r5, %r5, %r7;"
#define BARRIER "barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.aligned;"

static void test_remote(void **state) {
    (void)state;
    assert_int_equal(per_step("2", NULL, 2, REMOTE, NULL), 205 + 1 + 4); /* two passes for one */
    assert_int_equal(per_step("2", "latency.remote=300", 2, REMOTE, NULL), 300 + 1 + 4);
    assert_int_equal(per_step("2", NULL, 2, LOCAL, NULL), 29 + 4);
    assert_int_equal(per_step("2", NULL, 2, REMOTE, "shared.remote"), 2);
    assert_int_equal(per_step("2", NULL, 2, REMOTE, "shared.remote.bytes"), 2 * 128);
    assert_int_equal(per_step("2", NULL, 2, LOCAL, "shared.remote"), 0);
    assert_int_equal(per_step("1", NULL, 1, REMOTE, "shared.remote"),
                     0); /* the next block is the block itself */
}

/* All warps leave the barrier when it has been open long enough, the last to arrive among them. */
static void test_barrier(void **state) {
    (void)state;
    for (uint32_t n = 1; n <= 8; n *= 2) {
        char cluster[8];
        snprintf(cluster, sizeof cluster, "%u", n);
        int64_t usual = per_step(cluster, NULL, n, BARRIER, NULL);
        assert_in_range(usual, 80, 80 + 12);
        assert_int_equal(per_step(cluster, "latency.cluster=180", n, BARRIER, NULL), usual + 100);
    }
}

/* Blocks that wait for each other end: clusters are resident as a whole, however little room there is. */
static void test_together(void **state) {
    (void)state;
    static const char pass[] =
        "SPIN: atom.shared::cluster.add.u32 %r8, [%r6], 1; ld.volatile.shared.u32 %r9, [%r5];\n"
        "setp.eq.u32 %p1, %r9, 0; @%p1 bra SPIN;\n";
    static const char *const sets[][4] = {{"device.sms=4", "device.gpcs=2"},
                                          {"device.sms=5", "device.gpcs=3 2", "sm.blocks=1"},
                                          {"device.sms=2", "sm.blocks=2"}};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        struct rig r;
        open_kernel(&r, "2", sets[i], pass);
        rig_run(&r, "k", 40, 64, (struct rig_params){.n = 1});
        assert_int_equal(rig_counter(&r, "sm.blocks"), 40);
        rig_close(&r);
    }
}

/* What another block stored before the barrier is what is loaded behind it, also where mechanisms know the
 * value that was there before, and also without a fence of the reader's own. Warps with the same number as
 * those that loaded before load again. */
static void test_fresh(void **state) {
    (void)state;
    static const char body[] =
        "shl.b32 %r8, %r1, 2; add.u32 %r5, %r5, %r8; add.u32 %r6, %r6, %r8;\n"
        "ld.shared.u32 %r9, [%r5]; add.u32 %r7, %r7, %r9;\n" BARRIER "\n"
        "ld.shared.u32 %r9, [%r5]; add.u32 %r7, %r7, %r9;\n"
        "setp.eq.u32 %p0, %r2, 0; mov.u32 %r10, 1000;\n"
        "@!%p0 st.shared::cluster.u32 [%r6], %r10; @!%p0 fence.acq_rel.cluster;\n" BARRIER "\n"
        "ld.shared.u32 %r9, [%r5]; add.u32 %r7, %r7, %r9;\n"
        "shl.b32 %r8, %r2, 8; cvt.u64.u32 %l1, %r8; add.u64 %l0, %l0, %l1;\n"
        "mul.wide.u32 %l1, %r1, 4; add.u64 %l0, %l0, %l1;\n";
    static const char *const mechs[] = {NULL, "wir", "darsie", "uv", "affine", "dac-ideal"};
    struct str s = {0};
    str_printf(&s, head, "2");
    str_printf(&s, "%s%s", body, tail);
    for (size_t i = 0; i < sizeof mechs / sizeof *mechs; i++) {
        struct rig r;
        rig_open_options(&r, &(struct rp_options){.gpu = "h200", .mech = mechs[i], .check = true},
                         str_text(&s));
        rig_run(&r, "k", 2, 64, (struct rig_params){.n = 1});
        const uint32_t *got = (const uint32_t *)(uintptr_t)r.buffer;
        for (uint32_t t = 0; t < 128; t++)
            if (got[t] != (t < 64 ? 1000 : 0))
                fail_msg("%s: thread %u of block %u has %u", mechs[i] ? mechs[i] : "base", t % 64, t / 64,
                         got[t]);
        rig_close(&r);
    }
    str_free(&s);
}

static void test_refused(void **state) {
    (void)state;
    static const struct {
        const char *cluster, *set;
        uint32_t grid;
        enum rp_status status;
    } cases[] = {
        {"2", NULL, 4, RP_OK},
        {"2", NULL, 5, RP_INVALID_CLUSTER},
        {"4", "device.gpcs=2", 4, RP_INVALID_CLUSTER},
        {"17", NULL, 17, RP_INVALID_CLUSTER},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const set[] = {"device.sms=8", cases[i].set, NULL};
        struct rig r;
        char *report = NULL;
        open_kernel(&r, cases[i].cluster, set, "");
        assert_int_equal(rig_try(&r, "k", cases[i].grid, 32, 0, (struct rig_params){.n = 1}, &report),
                         cases[i].status);
        free(report);
        rig_close(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gpcs),    cmocka_unit_test(test_fits),     cmocka_unit_test(test_remote),
        cmocka_unit_test(test_barrier), cmocka_unit_test(test_together), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_fresh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
