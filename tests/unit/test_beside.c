/* Pauses of launches: who acts in them, when a launch is said to wait, and launches beside it. */
#include "timing_rig.h"

#include <stdio.h>

static const char kernels[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    /* Waits until the first word of the buffer is x, and then writes the second. */
    ".visible .entry waits(.param .u64 buffer, .param .u32 n, .param .u32 x)\n"
    "{ .reg .b32 %r<4>; .reg .b64 %l; .reg .pred %p;\n"
    "ld.param.u64 %l, [buffer]; ld.param.u32 %r1, [x];\n"
    "LOOP: ld.volatile.global.u32 %r0, [%l]; setp.ne.u32 %p, %r0, %r1; @%p bra LOOP;\n"
    "st.global.u32 [%l+4], %r1; exit; }\n"
    /* Computes for long and loads and stores nothing meanwhile. */
    ".visible .entry computes(.param .u64 buffer, .param .u32 n, .param .u32 x)\n"
    "{ .reg .b32 %r<4>; .reg .b64 %l; .reg .pred %p;\n"
    "ld.param.u64 %l, [buffer]; ld.param.u32 %r1, [n]; mov.u32 %r0, 0;\n"
    "LOOP: mad.lo.u32 %r2, %r2, %r2, %r0; add.u32 %r0, %r0, 1; setp.lt.u32 %p, %r0, %r1; @%p bra LOOP;\n"
    "st.global.u32 [%l+8], %r2; exit; }\n"
    /* Writes x into the first word, and loads where nothing is if n is not 0. */
    ".visible .entry tells(.param .u64 buffer, .param .u32 n, .param .u32 x)\n"
    "{ .reg .b32 %r<4>; .reg .b64 %l; .reg .pred %p;\n"
    "ld.param.u64 %l, [buffer]; ld.param.u32 %r0, [x]; ld.param.u32 %r1, [n]; setp.ne.u32 %p, %r1, 0;\n"
    "@%p ld.global.u32 %r0, [64]; st.volatile.global.u32 [%l], %r0; exit; }\n";

struct host {
    struct rig *r;
    unsigned pauses;
    bool waited; /* the launch was said to wait */
    enum { ANSWER, END, BESIDE, ONLY_LOOK } how;
    struct rp_beside *beside;
    struct rig_params params; /* of a launch beside */
    enum rp_status status;
    char *report;
};

static void start(struct host *h) {
    struct rp_launch l = {
        .grid = {1, 1, 1}, .block = {32, 1, 1}, .params = &h->params, .param_bytes = sizeof h->params};
    h->beside = rp_beside_begin(h->r->g, rp_module_kernel(h->r->m, "tells"), &l);
    assert_non_null(h->beside);
}

static void turn(struct host *h) {
    if (!h->beside || rp_beside_turn(h->beside))
        return;
    h->status = rp_beside_end(h->beside, &h->report);
    h->beside = NULL;
    if (h->status != RP_OK)
        *(volatile uint32_t *)(uintptr_t)h->r->buffer = 7; /* so that the other one ends */
}

static const char *act(void *ctx) {
    struct host *h = ctx;
    h->pauses++;
    bool waits = rp_launch_waits(h->r->g);
    h->waited |= waits;
    if (waits && h->how == END)
        return "enough";
    if (waits && h->how == ANSWER)
        *(volatile uint32_t *)(uintptr_t)h->r->buffer = 7;
    if (waits && h->how == BESIDE && !h->beside && !h->report && h->status == RP_TIMEOUT)
        start(h);
    turn(h);
    return NULL;
}

static enum rp_status run(struct host *h, struct rig *r, bool functional, const char *kernel, char **report) {
    static const char *const set[] = {"device.sms=2", NULL};
    rig_open(r, "gtx480", set, functional, kernels);
    rig_zero(r);
    h->r = r;
    h->status = RP_TIMEOUT;
    h->params.buffer = r->buffer;
    rp_gpu_pause(r->g, act, h);
    struct rig_params p = {.buffer = r->buffer, .n = 100000, .x = 7};
    enum rp_status s = rig_try(r, kernel, 2, 64, 0, p, report);
    while (h->beside) /* it may end later than the one that it answered */
        turn(h);
    return s;
}

static uint32_t word(const struct rig *r, uint32_t i) {
    return ((const volatile uint32_t *)(uintptr_t)r->buffer)[i];
}

static void test_host_answers(void **state) {
    (void)state;
    for (int functional = 0; functional < 2; functional++) {
        struct rig r;
        struct host h = {.how = ANSWER};
        char *report = NULL;
        assert_int_equal(run(&h, &r, functional, "waits", &report), RP_OK);
        assert_true(h.waited);
        assert_int_equal(word(&r, 1), 7);
        rig_close(&r);
    }
}

static void test_host_ends_it(void **state) {
    (void)state;
    for (int functional = 0; functional < 2; functional++) {
        struct rig r;
        struct host h = {.how = END};
        char *report = NULL;
        assert_int_equal(run(&h, &r, functional, "waits", &report), RP_TIMEOUT);
        assert_non_null(strstr(report, "enough"));
        free(report);
        rig_close(&r);
    }
}

static void test_computing_is_not_waiting(void **state) {
    (void)state;
    for (int functional = 0; functional < 2; functional++) {
        struct rig r;
        struct host h = {.how = ONLY_LOOK};
        char *report = NULL;
        assert_int_equal(run(&h, &r, functional, "computes", &report), RP_OK);
        assert_true(h.pauses > 100);
        assert_false(h.waited);
        rig_close(&r);
    }
}

static void test_kernel_beside(void **state) {
    (void)state;
    for (int functional = 0; functional < 2; functional++) {
        struct rig r;
        struct host h = {.how = BESIDE, .params = {.x = 7}};
        char *report = NULL;
        assert_int_equal(run(&h, &r, functional, "waits", &report), RP_OK);
        assert_int_equal(h.status, RP_OK);
        assert_int_equal(word(&r, 1), 7);
        struct rp_totals t = rp_totals(r.g);
        assert_int_equal(t.launches, 2);
        assert_true(functional ? !t.timed_insts : t.timed_insts < t.warp_insts);
        rig_close(&r);
    }
}

static void test_fault_beside(void **state) {
    (void)state;
    struct rig r;
    struct host h = {.how = BESIDE, .params = {.n = 1, .x = 7}};
    char *report = NULL;
    assert_int_equal(run(&h, &r, true, "waits", &report), RP_OK);
    assert_int_equal(h.status, RP_ILLEGAL_ADDRESS);
    assert_non_null(strstr(h.report, "kernel tells"));
    free(h.report);
    rig_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_host_answers),
        cmocka_unit_test(test_host_ends_it),
        cmocka_unit_test(test_computing_is_not_waiting),
        cmocka_unit_test(test_kernel_beside),
        cmocka_unit_test(test_fault_beside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
