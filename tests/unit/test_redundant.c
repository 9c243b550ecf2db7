/* Redundant instructions, counted by hand; and the probe that counts them changes nothing else. */
#include "levels.h"
#include "timing_rig.h"

static const char kernels[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry k(.param .u64 buffer, .param .u32 n, .param .u32 x)\n" LEVELS_BODY;

enum { WARPS = 4, GRID = 3 };

static uint64_t run_part(struct rig *r, const char *probe, const uint32_t shape[3], uint64_t insts) {
    static const char *const set[] = {"device.sms=2", NULL};
    rig_open_options(r, &(struct rp_options){.gpu = "gtx480", .set = set, .probe = probe, .max_insts = insts},
                     kernels);
    struct rig_params p = {.buffer = r->buffer, .n = 1, .x = 3};
    struct rp_launch l = {
        .grid = {GRID, 1, 1}, .block = {shape[0], shape[1], shape[2]}, .params = &p, .param_bytes = sizeof p};
    char *report = NULL;
    assert_int_equal(rp_launch(r->g, rp_module_kernel(r->m, "k"), &l, &report), RP_OK);
    return rp_totals(r->g).cycles;
}

static uint64_t run(struct rig *r, const char *probe, const uint32_t shape[3]) {
    return run_part(r, probe, shape, 0);
}

/* A launch that is cut: what all warps of its blocks have executed by then counts. */
static void test_cut(void **state) {
    (void)state;
    static const uint32_t rows[3] = {32, WARPS, 1};
    struct rig r;
    uint64_t all = WARPS * GRID;
    run_part(&r, "redundant", rows, all * 12);
    assert_int_equal(rp_totals(r.g).last, RP_TIMED_PART);
    assert_in_range(rig_counter(&r, "redundant.block"), all * 3, all * 6);
    rig_close(&r);
}

static void test_levels(void **state) {
    (void)state;
    static const uint32_t rows[3] = {32, WARPS, 1}, flat[3] = {32 * WARPS, 1, 1}, part[3] = {33, 1, 1};
    struct rig r;
    uint64_t all = WARPS * GRID, with = run(&r, "redundant", rows);
    assert_int_equal(rig_counter(&r, "redundant.insts"), all * 13);
    assert_int_equal(rig_counter(&r, "redundant.warp"), all * 4);
    assert_int_equal(rig_counter(&r, "redundant.block"), all * 6);
    assert_int_equal(rig_counter(&r, "redundant.block.uniform"), all * 2);
    assert_int_equal(rig_counter(&r, "redundant.block.affine"), all * 3);
    assert_int_equal(rig_counter(&r, "redundant.block.unstructured"), all * 1);
    assert_int_equal(rig_counter(&r, "redundant.grid"), all * 4);
    rig_close(&r);
    assert_int_equal(run(&r, NULL, rows), with);
    rig_close(&r);
    run(&r, "redundant", flat); /* tid.x is another vector in each warp, tid.y is 0 in all */
    assert_int_equal(rig_counter(&r, "redundant.block.affine"), 0);
    assert_true(rig_counter(&r, "redundant.block.uniform") >= all * 3);
    rig_close(&r);
    run(&r, "redundant", part); /* the second warp has one lane: nothing is redundant */
    assert_int_equal(rig_counter(&r, "redundant.block"), 0);
    rig_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_levels), cmocka_unit_test(test_cut)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
