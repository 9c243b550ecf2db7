/* What the oldest warps wait for, in kernels in which that is known; and the probe that counts it changes
 * nothing else. */
#include <stdio.h>

#include "timing_rig.h"

static const char ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    /* Each load needs the one before. */
    ".visible .entry chain(.param .u64 buffer, .param .u32 n, .param .u32 x) {\n"
    "  .reg .b32 %r<4>; .reg .b64 %l<4>; .reg .pred %p;\n"
    "  ld.param.u64 %l0, [buffer]; ld.param.u32 %r1, [n];\n"
    "AGAIN: ld.volatile.global.u32 %r2, [%l0]; cvt.u64.u32 %l1, %r2; add.u64 %l0, %l0, %l1;\n"
    "  sub.u32 %r1, %r1, 1; setp.ne.u32 %p, %r1, 0; @%p bra AGAIN; ret; }\n"
    /* A store and a fence, again and again. */
    ".visible .entry fence(.param .u64 buffer, .param .u32 n, .param .u32 x) {\n"
    "  .reg .b32 %r<4>; .reg .b64 %l<4>; .reg .pred %p;\n"
    "  ld.param.u64 %l0, [buffer]; ld.param.u32 %r1, [n];\n"
    "AGAIN: st.volatile.global.u32 [%l0], %r1; membar.gl;\n"
    "  sub.u32 %r1, %r1, 1; setp.ne.u32 %p, %r1, 0; @%p bra AGAIN; ret; }\n"
    /* The first warp waits at a barrier until the others have counted to n. */
    ".visible .entry wait(.param .u64 buffer, .param .u32 n, .param .u32 x) {\n"
    "  .reg .b32 %r<4>; .reg .b64 %l<4>; .reg .pred %p;\n"
    "  ld.param.u64 %l0, [buffer]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x; setp.lt.u32 %p, %r2, 32;\n"
    "  @%p bra MEET;\n"
    "AGAIN: sub.u32 %r1, %r1, 1; setp.ne.u32 %p, %r1, 0; @%p bra AGAIN;\n"
    "MEET: bar.sync 0; st.global.u32 [%l0], %r1; ret; }\n";

static const char *const states[] = {"issued", "barrier", "fence",     "control",   "fetch", "memory",
                                     "data",   "unit",    "collector", "mechanism", "ready"};
enum { STATES = sizeof states / sizeof states[0] };

static uint64_t counted(const struct rig *r, const char *state) {
    char name[32];
    snprintf(name, sizeof name, "oldest.%s", state);
    return rig_counter(r, name);
}

static uint64_t sum(const struct rig *r) {
    uint64_t all = 0;
    for (uint32_t k = 0; k < STATES; k++)
        all += counted(r, states[k]);
    return all;
}

static void open_rig(struct rig *r, const char *probe) {
    static const char *const set[] = {"device.sms=1", NULL};
    rig_open_options(r, &(struct rp_options){.gpu = "gtx480", .set = set, .probe = probe}, ptx);
    rig_zero(r);
}

/* A warp that is alone is the oldest: all its instructions are counted, and all its cycles but those before
 * it is first looked at and behind its end. */
static void test_alone(void **state) {
    (void)state;
    enum { STEPS = 50, AROUND = 60 };
    struct rig r;
    open_rig(&r, "oldest");
    rig_run(&r, "chain", 1, 32, (struct rig_params){.n = STEPS});
    uint64_t cycles = rig_counter(&r, "sm.cycles"), all = sum(&r);
    assert_int_equal(counted(&r, "issued"), rig_counter(&r, "sm.insts.warp"));
    assert_true(all <= cycles && all + AROUND > cycles);
    assert_true(2 * counted(&r, "memory") > all); /* each load takes longer than all else of a step */
    assert_int_equal(counted(&r, "barrier") + counted(&r, "ready"), 0);
    rig_close(&r);
}

static void test_fence(void **state) {
    (void)state;
    struct rig r;
    open_rig(&r, "oldest");
    rig_run(&r, "fence", 1, 32, (struct rig_params){.n = 20});
    assert_true(2 * counted(&r, "fence") > sum(&r));
    assert_int_equal(counted(&r, "issued"), rig_counter(&r, "sm.insts.warp"));
    rig_close(&r);
}

/* The third warp, of the same scheduler as the first, uses the slots; the cycles are those of the first,
 * which waits. Of the other scheduler the second warp is the oldest, which counts. */
static void test_barrier(void **state) {
    (void)state;
    enum { STEPS = 500 };
    struct rig r;
    open_rig(&r, "oldest");
    rig_run(&r, "wait", 1, 96, (struct rig_params){.n = STEPS});
    uint64_t waited = counted(&r, "barrier"), others = counted(&r, "issued");
    assert_true(waited > 3 * STEPS && waited < sum(&r));
    assert_true(others >= 3 * STEPS && others < 4 * STEPS);
    rig_close(&r);
}

static void test_only_watches(void **state) {
    (void)state;
    static const char *const kernels[] = {"chain", "fence", "wait"};
    for (uint32_t k = 0; k < 3; k++) {
        uint64_t cycles[2];
        for (uint32_t probed = 0; probed < 2; probed++) {
            struct rig r;
            open_rig(&r, probed ? "oldest" : NULL);
            rig_run(&r, kernels[k], 3, 96, (struct rig_params){.n = 30});
            cycles[probed] = rig_counter(&r, "sm.cycles");
            rig_close(&r);
        }
        assert_int_equal(cycles[0], cycles[1]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alone),
        cmocka_unit_test(test_fence),
        cmocka_unit_test(test_barrier),
        cmocka_unit_test(test_only_watches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
