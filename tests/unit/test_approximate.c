/* Mechanisms that approximate: --check counts what they change, and finds no mistake in it; exact ones are
 * told of each. */
#include <stdio.h>
#include <unistd.h>

#include <jansson.h>

#include "gpu/gpu_report.h"
#include "mech_rig.h"

static const char kernels[] = KERNELS KERNEL("plain", "xor.b32 %r1, %r0, %r9; xor.b32 %r2, %r1, %r8;\n"
                                                      "st.global.u32 [%l1], %r2;");

static uint32_t change; /* what is added to the result of each XOR in lane 5 */

static enum mech_verdict give_nearly(void *m, int32_t id, uint64_t now) {
    (void)m, (void)now;
    const struct core_op *op = &mech_sm->ops[id];
    uint32_t value[WARP_LANES];
    if (op->i->in->op != OP_XOR)
        return MECH_PASS;
    memcpy(value, mech_sm->warps[op->warp].w->r[op->i->d], sizeof value);
    value[5] += change;
    core_supply(mech_sm, id, value);
    return MECH_TAKEN;
}

static const char *broken(void *m, bool cut) {
    (void)m, (void)cut;
    return "something is wrong";
}

static const struct mech_points nearly = {.front.take = give_nearly},
                                broken_nearly = {.front.take = give_nearly, .life.finish = broken};

static void open_and_run(struct rig *r, const struct mech_points *points, bool approximate) {
    mech_rig_open(r, "gtx480", NULL, kernels, 1, &points);
    mech_rig_check(r, approximate);
    rig_run(r, "plain", 1, 64, (struct rig_params){.n = 0, .x = 8});
}

static void differing_values_are_counted(void **state) {
    (void)state;
    struct rig r;
    size_t len;
    change = 16;
    open_and_run(&r, &nearly, true);
    for (uint32_t t = 0; t < 64; t++)
        assert_int_equal(rig_word(&r, t), (t ^ 8) + (t % 32 == 5 ? 32 : 0));
    assert_true(rp_gpu_approximate(r.g));
    assert_int_equal(rp_totals(r.g).approximated, 4); /* two instructions of two warps */
    assert_int_equal(rig_counter(&r, "check.wrong"), 0);
    assert_string_equal(rp_take_errors(r.g, &len),
                        "check: 4 values that were supplied approximate those computed\n");
    change = 0; /* nothing to say when nothing differs */
    rig_run(&r, "plain", 1, 64, (struct rig_params){.n = 0, .x = 8});
    assert_int_equal(rp_totals(r.g).approximated, 4);
    assert_string_equal(rp_take_errors(r.g, &len), "");
    rig_close(&r);
}

static void exact_mechanisms_are_told(void **state) {
    (void)state;
    struct rig r;
    size_t len;
    change = 16;
    open_and_run(&r, &nearly, false);
    assert_false(rp_gpu_approximate(r.g));
    assert_int_equal(rp_totals(r.g).approximated, 0);
    assert_int_equal(rig_counter(&r, "check.wrong"), 4);
    assert_non_null(strstr(rp_take_errors(r.g, &len), "lane 5 was given 0x1d, computed 0xd\n"));
    rig_close(&r);
}

/* What a mechanism itself says is wrong is wrong, whether it approximates or not. */
static void invariants_hold_for_both(void **state) {
    (void)state;
    for (int approximate = 0; approximate < 2; approximate++) {
        struct rig r;
        change = 0;
        open_and_run(&r, &broken_nearly, approximate);
        assert_int_equal(rig_counter(&r, "check.wrong"), 1);
        rig_close(&r);
    }
}

/* Where nothing is timed mechanisms do nothing, and results are exact. */
static void functional_runs_are_exact(void **state) {
    (void)state;
    struct rig r;
    change = 16;
    const struct mech_points *points = &nearly;
    mech_rig_open(&r, "gtx480", NULL, kernels, 1, &points);
    mech_rig_check(&r, true);
    r.g->opt.functional = true;
    rig_run(&r, "plain", 1, 64, (struct rig_params){.n = 0, .x = 8});
    assert_int_equal(rig_word(&r, 5), 5 ^ 8);
    assert_false(rp_gpu_approximate(r.g));
    rig_close(&r);
}

/* The report says so, and only then. */
static void reports_say_it(void **state) {
    (void)state;
    for (int approximate = 0; approximate < 2; approximate++) {
        struct rig r;
        char path[] = "/tmp/reprise-test-XXXXXX";
        int fd = mkstemp(path);
        assert_true(fd >= 0);
        change = 16;
        open_and_run(&r, &nearly, approximate);
        struct gpu_report *report = gpu_report_create(r.g);
        gpu_report_launch(report, rp_module_kernel(r.m, "plain"),
                          &(struct rp_launch){.grid = {1, 1, 1}, .block = {64, 1, 1}}, (struct rp_totals){0});
        assert_true(gpu_report_write(report, NULL, path));
        gpu_report_free(report);
        rig_close(&r);
        json_t *all = json_load_file(path, 0, NULL), *totals = json_object_get(all, "totals"),
               *kernel = json_array_get(json_object_get(all, "kernels"), 0);
        assert_int_equal(json_is_true(json_object_get(all, "approximate")), approximate);
        assert_int_equal(json_integer_value(json_object_get(totals, "approximated")), approximate ? 4 : 0);
        assert_int_equal(json_integer_value(json_object_get(kernel, "approximated")), approximate ? 4 : 0);
        assert_int_equal(json_object_get(totals, "approximated") != NULL, approximate);
        json_decref(all);
        close(fd);
        unlink(path);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(differing_values_are_counted),
        cmocka_unit_test(exact_mechanisms_are_told),
        cmocka_unit_test(invariants_hold_for_both),
        cmocka_unit_test(functional_runs_are_exact),
        cmocka_unit_test(reports_say_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
