/* Energy is counts times table: kernels with known counts, every row and every parameter, sums. */
#include <math.h>
#include <stdio.h>

#include "timing_rig.h"

/* Ten multiply-adds, three of them for the first five lanes only, one reciprocal, a store. */
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

/* A part of an account; negative when it does not tell such a part. */
static double part_of(const struct rig *r, enum rp_account account, const char *name) {
    struct rp_energy e;
    for (uint32_t i = 0; rp_energy(r->g, account, i, &e); i++)
        if (!strcmp(e.name, name))
            return e.launch;
    return -1;
}

static double part(const struct rig *r, const char *name) {
    double joules = part_of(r, RP_ENERGY_PHYSICAL, name);
    if (joules < 0)
        fail_msg("no part is called %s", name);
    return joules;
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
    expect_close(part(&r, "sfu"), WARPS * WARP_LANES * 225 * pj);
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

/* The other account of the same run: no leakage, no clock of busy SMs, a pipeline, and SMs without blocks. */
static void test_gpuwattch(void **state) {
    (void)state;
    const enum rp_account other = RP_ENERGY_GPUWATTCH;
    const double pj = 1e-12, hz = 1401e6;
    struct rig r;
    open_and_run(&r, NULL);
    static const char *const units[] = {"unit.sp",  "unit.sfu", "unit.dp",
                                        "unit.mem", "unit.tex", "unit.ctrl"};
    double issued = (double)rig_counter(&r, "sm.insts.warp"), dispatched = 0;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        dispatched += (double)rig_counter(&r, units[i]);
    expect_close(part_of(&r, other, "pipeline"), (issued * 540 + dispatched * 540) * pj);
    expect_close(part_of(&r, other, "front_end"),
                 ((double)rig_counter(&r, "icache.reads") * 40 + (double)rig_counter(&r, "fetch.insts") * 40 +
                  issued * 40) *
                     pj);
    expect_close(part_of(&r, other, "sfu"), WARPS * WARP_LANES * 1225 * pj);
    /* One block: it keeps one SM of fifteen busy. */
    uint64_t empty = rig_counter(&r, "sm.cycles.empty");
    assert_int_equal(empty + rig_counter(&r, "sm.cycles"), 15 * r.cycles);
    assert_true(empty >= 14 * r.cycles);
    expect_close(part_of(&r, other, "empty_sms"), 1.59 * (double)empty / hz);
    expect_close(part_of(&r, other, "constant"), 11 * (double)r.cycles / hz);
    /* What has one price has it in both. */
    static const char *const same[] = {"register_file", "l2", "dram", "interconnect"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        assert_true(part_of(&r, other, same[i]) == part(&r, same[i]));
    static const char *const absent[] = {"static", "clock", "collectors", "mechanism"};
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
        assert_true(part_of(&r, other, absent[i]) < 0);
    assert_true(part_of(&r, RP_ENERGY_PHYSICAL, "pipeline") < 0);
    assert_true(part_of(&r, RP_ENERGY_PHYSICAL, "empty_sms") < 0);
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
    uint32_t n = 0;
    for (; rp_energy(r.g, RP_ENERGY_PHYSICAL, n, &e); n++) {
        assert_string_not_equal(e.name, "mechanism");
        one[n] = e.launch;
    }
    assert_int_equal(n, 17);
    rig_close(&r);
    open_and_run(&r, set);
    for (uint32_t i = 0; i < n; i++) {
        rp_energy(r.g, RP_ENERGY_PHYSICAL, i, &e);
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
        for (uint32_t i = 0; rp_energy(r.g, RP_ENERGY_PHYSICAL, i, &e); i++) {
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
    assert_false(rp_energy(r.g, RP_ENERGY_PHYSICAL, 0, &e));
    rig_close(&r);
}

/* Counters that all differ, so that rows cannot stand for one another. */
static void sum_of(const struct config *c, enum gpu_energy_account account, double parts[ENERGY_PARTS]) {
    struct energy_model m;
    struct counter_registry r = {0};
    struct energy_spec spec = gpu_energy_spec(config_values(c, &gpu_params), account);
    machine_counters(&r, NULL);
    uint64_t *counters = calloc(r.count, sizeof *counters);
    for (uint32_t i = 0; i < r.count; i++)
        counters[i] = 1000 + 7 * i;
    energy_init(&m, &spec);
    /* Every counter and parameter of its tables exists. */
    assert_null(energy_add(&m, &gpu_energy, c, &r));
    assert_null(energy_add(&m, &gpu_accounts[account].energy, c, &r));
    double sum = 0, whole = energy_sum(&m, counters, 12345, parts);
    for (uint32_t p = 0; p < ENERGY_PARTS; p++) {
        assert_true(energy_told(&m, p) == p ? parts[p] > 0 : parts[p] == 0);
        sum += parts[p];
    }
    assert_true(sum == whole); /* to the last bit */
    energy_free(&m);
    counters_free(&r);
    free(counters);
}

/* Parts that a parameter moves in an account; each twice as much when the parameter is doubled. */
static uint32_t moved_by(struct config *c, double *value, enum gpu_energy_account account) {
    double before[ENERGY_PARTS], none[ENERGY_PARTS], twice[ENERGY_PARTS];
    double given = *value;
    sum_of(c, account, before);
    *value = 2 * given;
    sum_of(c, account, twice);
    *value = given * 1e-9; /* none, but that parts stay above zero */
    sum_of(c, account, none);
    *value = given;
    uint32_t moved = 0;
    for (uint32_t k = 0; k < ENERGY_PARTS; k++) {
        double share = before[k] - none[k];
        moved += share > 0;
        assert_true(fabs(twice[k] - before[k] - share) <= 1e-8 * before[k]);
    }
    return moved;
}

/* Every parameter of energy.* costs something in some account. */
static void test_parameters(void **state) {
    (void)state;
    uint32_t found = 0;
    struct config c = {0};
    config_add(&c, &gpu_params);
    for (uint32_t i = 0; i < gpu_params.count; i++) {
        const struct param *p = &gpu_params.rows[i];
        if (strncmp(p->path, "energy.", 7))
            continue;
        found++;
        double *value = (double *)((char *)config_values(&c, &gpu_params) + p->offset);
        assert_true(*value > 0);
        uint32_t moved = 0;
        for (uint32_t a = 0; a < GPU_ACCOUNTS; a++)
            moved += moved_by(&c, value, a);
        if (!moved)
            fail_msg("%s costs nothing", p->path);
    }
    assert_true(found > 40);
    config_free(&c);
}

static bool pays_for(const struct energy_table *t, const char *counter) {
    for (uint32_t k = 0; k < t->count; k++)
        if (t->rows[k].counter && !strcmp(t->rows[k].counter, counter))
            return true;
    return false;
}

/* What instructions do to lanes is paid for in every account, but for control, which the front end pays,
 * matrix products, which are paid by the operation, and GPUWattch's load/store unit, which is paid by the
 * instruction. */
static void test_lanes(void **state) {
    (void)state;
    struct counter_registry r = {0};
    struct counter_info info;
    char name[COUNTER_NAME_SIZE];
    machine_counters(&r, NULL);
    for (uint32_t i = 0; counters_info(&r, i, name, &info); i++) {
        if (strncmp(name, "lanes.", 6) || !strcmp(name, "lanes.ctrl") || !strcmp(name, "lanes.mma"))
            continue;
        for (uint32_t a = 0; a < GPU_ACCOUNTS; a++) {
            bool by_inst =
                a == ENERGY_GPUWATTCH && (!strcmp(name, "lanes.ldst") || !strcmp(name, "lanes.atom"));
            if (!by_inst && !pays_for(&gpu_energy, name) && !pays_for(&gpu_accounts[a].energy, name))
                fail_msg("%s has no energy in account %u", name, a);
        }
    }
    counters_free(&r);
}

/* Others add rows of their own: with their parameters or those of the machine, to the parts there are. */
static void test_tables(void **state) {
    (void)state;
    static const struct own { double table; } initial = {4.71};
    static const struct param params[] = {
        {"own.table", PARAM_AT(struct own, table), 0, 10, 4.71, "pJ", "An access to the table."}};
    static const struct param_table table = PARAM_TABLE(struct own, params, NULL);
    static const struct energy_event rows[] = {
        {ENERGY_FRONT_END, "rf.reads", "own.table", ENERGY_PJ_FIXED},
        {ENERGY_L1, "rf.reads", "energy.dram.activate", ENERGY_PJ_FIXED},
        {ENERGY_L1, "rf.raeds", "own.table", ENERGY_PJ_FIXED},
    };
    static const struct energy_event unpaid[] = {{ENERGY_L1, "rf.reads", "own.tabel", ENERGY_PJ_FIXED}};
    const struct energy_table good = {rows, 2}, bad = {rows, 3}, worse = ENERGY_TABLE(unpaid);
    struct energy_model m;
    struct config c = {0};
    config_add(&c, &gpu_params);
    config_add(&c, &table);
    const struct gpu_config *g = config_values(&c, &gpu_params);
    struct counter_registry r = {0};
    struct energy_spec spec = gpu_energy_spec(g, ENERGY_PHYSICAL);
    machine_counters(&r, NULL);
    uint64_t *counters = calloc(r.count, sizeof *counters);
    double parts[ENERGY_PARTS];
    counters[counters_find(&r, "rf.reads")] = 100;
    energy_init(&m, &spec);
    assert_string_equal(energy_add(&m, &bad, &c, &r), "rf.raeds");
    assert_string_equal(energy_add(&m, &worse, &c, &r), "own.tabel");
    assert_true(energy_sum(&m, counters, 5, parts) == 0);
    assert_null(energy_add(&m, &good, &c, &r));
    assert_null(energy_add(&m, &good, &c, &r));
    energy_sum(&m, counters, 5, parts);
    expect_close(parts[ENERGY_FRONT_END], 2 * 100 * initial.table * 1e-12);
    expect_close(parts[ENERGY_L1], 2 * 100 * g->energy_dram_activate * 1e-12);
    energy_free(&m);
    counters_free(&r);
    config_free(&c);
    free(counters);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),   cmocka_unit_test(test_table),      cmocka_unit_test(test_scale),
        cmocka_unit_test(test_launches), cmocka_unit_test(test_functional), cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_lanes),    cmocka_unit_test(test_tables),     cmocka_unit_test(test_gpuwattch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
