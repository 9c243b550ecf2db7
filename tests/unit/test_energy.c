/* Energy is counts times table: kernels with known counts, every row and every parameter, sums. */
#include <math.h>
#include <stdio.h>

#include "timing_rig.h"

/* Ten multiply-adds, three of them for the first five lanes only, one reciprocal, a store. */
static const struct mech_set no_mechs = {0};

static const char kernel[] =
    ".version 6.0\n.target sm_60\n.address_size 64\n"
    ".visible .entry work(.param .u64 buffer, .param .u32 n, .param .u32 x) {\n"
    "  .reg .u64 %rd<4>; .reg .u32 %r<4>; .reg .f32 %f<4>; .reg .pred %p;\n"
    "  ld.param.u64 %rd0, [buffer]; mov.u32 %r0, %tid.x; mul.wide.u32 %rd1, %r0, 4;\n"
    "  add.u64 %rd2, %rd0, %rd1; cvt.rn.f32.u32 %f0, %r0; setp.lt.u32 %p, %r0, 5;\n"
    "  ld.global.f32 %f1, [%rd2];\n"
    "  fma.rn.f32 %f1, %f1, %f0, %f0; fma.rn.f32 %f1, %f1, %f0, %f0;\n"
    "  fma.rn.f32 %f1, %f1, %f0, %f0; fma.rn.f32 %f1, %f1, %f0, %f0;\n"
    "  fma.rn.f32 %f1, %f1, %f0, %f0; fma.rn.f32 %f1, %f1, %f0, %f0;\n"
    "  fma.rn.f32 %f1, %f1, %f0, %f0;\n"
    "  @%p fma.rn.f32 %f1, %f1, %f0, %f0; @%p fma.rn.f32 %f1, %f1, %f0, %f0;\n"
    "  @%p fma.rn.f32 %f1, %f1, %f0, %f0;\n"
    "  rcp.approx.ftz.f32 %f1, %f1; st.global.f32 [%rd2], %f1; ret; }\n";
enum { WARPS = 6, FULL = 7, PARTIAL = 3, ACTIVE = 5, IDLE = WARP_LANES - ACTIVE };

static void expect_close(double got, double want) {
    if (!(fabs(got - want) <= 1e-12 * fabs(want)))
        fail_msg("%.17g J, not %.17g", got, want);
}

static double part(const struct rig *r, const char *name) {
    struct rp_energy e;
    for (uint32_t i = 0; rp_energy(r->g, i, &e); i++)
        if (!strcmp(e.name, name))
            return e.launch;
    fail_msg("no part is called %s", name);
    return 0;
}

static void open_and_run(struct rig *r, const char *const *set) {
    rig_open(r, "gtx480", set, false, kernel);
    rig_run(r, "work", 1, WARPS * WARP_LANES, (struct rig_params){0});
}

/* What the kernel does is known; that much is counted. */
static void test_counts(void **state) {
    (void)state;
    struct rig r;
    open_and_run(&r, NULL);
    assert_int_equal(rig_counter(&r, "lanes.ffma"), WARPS * FULL * WARP_LANES + PARTIAL * ACTIVE);
    assert_int_equal(rig_counter(&r, "lanes.sfu"), WARPS * WARP_LANES);
    assert_int_equal(rig_counter(&r, "lanes.ldst"), WARPS * WARP_LANES * 2);
    /* The guarded ones: five lanes of the first warp, none of the others. */
    assert_int_equal(rig_counter(&r, "lanes.idle.sp"), PARTIAL * IDLE + PARTIAL * (WARPS - 1) * WARP_LANES);
    assert_int_equal(rig_counter(&r, "lanes.idle.sfu"), 0);
    assert_int_equal(rig_counter(&r, "lanes.ctrl"), WARPS * WARP_LANES); /* EXIT */
    assert_int_equal(rig_counter(&r, "rf.read.arrays"), CORE_ARRAYS * rig_counter(&r, "rf.reads"));
    /* Five lanes lie in two arrays of four; what no lane writes is no write. */
    assert_int_equal(rig_counter(&r, "rf.write.arrays"),
                     CORE_ARRAYS * (rig_counter(&r, "rf.writes") - PARTIAL) + 2 * PARTIAL);
    assert_true(rig_counter(&r, "fetch.insts") >= rig_counter(&r, "sm.insts.warp"));
    assert_int_equal(rig_counter(&r, "rf.constants"), WARPS); /* the buffer's address, added */
    rig_close(&r);
}

/* Parts of a run, from its counters and the figures of gtx480.yaml. */
static void test_table(void **state) {
    (void)state;
    static const char *const set[] = {"energy.sp.mov=0",  "energy.sp.logic=0",  "energy.sp.shift=0",
                                      "energy.sp.iadd=0", "energy.sp.imul=0",   "energy.sp.imad=0",
                                      "energy.sp.cvt=0",  "energy.sp.ffma=500", NULL};
    const double pj = 1e-12, hz = 1401e6, burst_bits = 64 * 8;
    struct rig r;
    open_and_run(&r, set);
    double idle = PARTIAL * IDLE + PARTIAL * (WARPS - 1) * WARP_LANES;
    expect_close(part(&r, "sp"), ((WARPS * FULL * WARP_LANES + PARTIAL * ACTIVE) * 500.0 + idle * 4) * pj);
    expect_close(part(&r, "sfu"), WARPS * WARP_LANES * 637 * pj);
    expect_close(part(&r, "lsu"), WARPS * WARP_LANES * 2 * 40 * pj);
    expect_close(part(&r, "register_file"), ((double)rig_counter(&r, "rf.read.arrays") * 56.8 +
                                             (double)rig_counter(&r, "rf.write.arrays") * 103.6) *
                                                pj);
    expect_close(part(&r, "static"), 41.9 * (double)r.cycles / hz);
    expect_close(part(&r, "clock"), 1.59 * (double)rig_counter(&r, "sm.cycles") / hz);
    assert_true(rig_counter(&r, "dram.read_bursts") > 0);
    expect_close(part(&r, "dram"),
                 ((double)rig_counter(&r, "dram.activates") * 3636 +
                  (double)(rig_counter(&r, "dram.read_bursts") + rig_counter(&r, "dram.write_bursts")) *
                      burst_bits * 18) *
                     pj);
    assert_true(part(&r, "dp") == 0 && part(&r, "shared") == 0);
    rig_close(&r);
}

/* energy.scale is about the chip: what is outside, and watts, stay. */
static void test_scale(void **state) {
    (void)state;
    static const char *const set[] = {"energy.scale=2", "energy.mc.request=0", NULL},
                             *const plain[] = {"energy.mc.request=0", NULL};
    static const char *const same[] = {"dram_controller", "dram", "clock", "static"};
    struct rig r;
    struct rp_energy e;
    double one[ENERGY_PARTS];
    open_and_run(&r, plain);
    for (uint32_t i = 0; i < ENERGY_MECHANISM; i++) {
        assert_true(rp_energy(r.g, i, &e));
        one[i] = e.launch;
    }
    assert_false(rp_energy(r.g, ENERGY_MECHANISM, &e));
    rig_close(&r);
    open_and_run(&r, set);
    for (uint32_t i = 0; i < ENERGY_MECHANISM; i++) {
        rp_energy(r.g, i, &e);
        bool outside = false;
        for (size_t k = 0; k < sizeof same / sizeof *same; k++)
            outside |= !strcmp(e.name, same[k]);
        assert_true(e.launch == one[i] * (outside ? 1 : 2));
    }
    rig_close(&r);
}

/* Launches sum to the run; a launch that is not timed adds nothing. */
static void test_launches(void **state) {
    (void)state;
    struct rig r;
    double sum[ENERGY_PARTS] = {0};
    rig_open(&r, "gtx480", NULL, false, kernel);
    r.g->opt.some_kernels = true;
    r.g->opt.last_kernel = 1;
    for (uint32_t run = 0; run < 3; run++) {
        struct rp_energy e;
        rig_run(&r, "work", 1 + run, 64, (struct rig_params){0});
        for (uint32_t i = 0; rp_energy(r.g, i, &e); i++) {
            assert_true(run < 2 || e.launch == 0);
            sum[i] += e.launch;
            expect_close(e.total, sum[i]);
        }
    }
    assert_true(sum[ENERGY_SP] > 0);
    rig_close(&r);
}

static void test_functional(void **state) {
    (void)state;
    struct rig r;
    struct rp_energy e;
    rig_open(&r, "gtx480", NULL, true, kernel);
    rig_run(&r, "work", 1, 64, (struct rig_params){0});
    assert_false(rp_energy(r.g, 0, &e));
    rig_close(&r);
}

/* Counters that all differ, so that rows cannot stand for one another. */
static void sum_of(const struct gpu_config *c, double parts[ENERGY_PARTS]) {
    struct energy_model m;
    struct energy_block b = energy_base(c);
    uint32_t n = machine_counter_count(&no_mechs);
    uint64_t *counters = calloc(n, sizeof *counters);
    for (uint32_t i = 0; i < n; i++)
        counters[i] = 1000 + 7 * i;
    energy_init(&m, c);
    assert_null(energy_add(&m, &b, machine_counter_find, NULL)); /* every counter of events.def exists */
    double sum = 0, whole = energy_sum(&m, counters, 12345, parts);
    for (uint32_t p = 0; p < ENERGY_PARTS; p++) {
        assert_true(p == ENERGY_MECHANISM ? parts[p] == 0 : parts[p] > 0);
        sum += parts[p];
    }
    assert_true(sum == whole); /* to the last bit */
    energy_free(&m);
    free(counters);
}

/* Every parameter of energy.* costs something, and twice as much when it is doubled. */
static void test_parameters(void **state) {
    (void)state;
    uint32_t found = 0;
    double before[ENERGY_PARTS], none[ENERGY_PARTS], twice[ENERGY_PARTS];
    sum_of(&config_default, before);
    for (uint32_t i = 0; i < config_params.count; i++) {
        const struct param *p = &config_params.rows[i];
        if (strncmp(p->path, "energy.", 7))
            continue;
        found++;
        struct gpu_config c = config_default;
        double *value = (double *)((char *)&c + p->offset);
        double given = *value;
        assert_true(given > 0);
        *value = 2 * given;
        sum_of(&c, twice);
        *value = given * 1e-9; /* none, but that parts stay above zero */
        sum_of(&c, none);
        uint32_t moved = 0;
        for (uint32_t k = 0; k < ENERGY_PARTS; k++) {
            double share = before[k] - none[k];
            moved += share > 0;
            assert_true(fabs(twice[k] - before[k] - share) <= 1e-8 * before[k]);
        }
        if (!moved)
            fail_msg("%s costs nothing", p->path);
    }
    assert_true(found > 40);
}

/* What instructions do to lanes is paid for, but for control, which the front end pays, and matrix products,
 * which are paid by the operation. */
static void test_lanes(void **state) {
    (void)state;
    struct energy_block b = energy_base(&config_default);
    for (uint32_t i = 0; i < machine_counter_count(&no_mechs); i++) {
        char name[64];
        machine_counter_info(&no_mechs, i, name, sizeof name);
        if (strncmp(name, "lanes.", 6) || !strcmp(name, "lanes.ctrl") || !strcmp(name, "lanes.mma"))
            continue;
        uint32_t k = 0;
        while (k < b.n && (!b.events[k].counter || strcmp(b.events[k].counter, name)))
            k++;
        if (k == b.n)
            fail_msg("%s has no energy", name);
    }
}

/* Others add rows of their own: with their parameters, to the parts there are. */
static void test_blocks(void **state) {
    (void)state;
    static const struct own {
        int32_t other;
        double table, wrong;
    } params = {0, 4.71, 1};
    static const struct energy_event rows[] = {
        {ENERGY_FRONT_END, "rf.reads", offsetof(struct own, table), ENERGY_PJ_FIXED},
        {ENERGY_L1, "rf.raeds", offsetof(struct own, wrong), ENERGY_PJ_FIXED},
    };
    struct energy_model m;
    struct gpu_config c = config_default;
    struct energy_block good = {rows, 1, &params}, bad = {rows, 2, &params};
    uint64_t *counters = calloc(machine_counter_count(&no_mechs), sizeof *counters);
    double parts[ENERGY_PARTS];
    counters[machine_counter_find(NULL, "rf.reads")] = 100;
    energy_init(&m, &c);
    assert_string_equal(energy_add(&m, &bad, machine_counter_find, NULL), "rf.raeds");
    assert_true(energy_sum(&m, counters, 5, parts) == 0);
    assert_null(energy_add(&m, &good, machine_counter_find, NULL));
    assert_null(energy_add(&m, &good, machine_counter_find, NULL));
    expect_close(energy_sum(&m, counters, 5, parts), 2 * 471e-12);
    expect_close(parts[ENERGY_FRONT_END], 2 * 471e-12);
    energy_free(&m);
    free(counters);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),   cmocka_unit_test(test_table),      cmocka_unit_test(test_scale),
        cmocka_unit_test(test_launches), cmocka_unit_test(test_functional), cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_lanes),    cmocka_unit_test(test_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
