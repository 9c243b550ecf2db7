/* Sampling: timing ends where it was told to, what comes after runs functionally, and no result changes. */
#include "timing_rig.h"

#include "gpu/options.h"

static const struct {
    const char *kernel;
    uint32_t grid, block;
} set[] = {
    {"reduce", 40, 200}, {"reduce", 130, 33},  {"atomics", 40, 192}, {"diverge", 33, 77},
    {"produce", 40, 64}, {"produce", 120, 64}, {"lock", 2, 40},
};
enum { KERNELS = sizeof set / sizeof *set, CUTS = 60 };

static const char *const few_sms[] = {"device.sms=3", NULL};

static void open_mixed(struct rig *r, const struct rp_options *o) {
    char *text = rig_file("mixed.ptx");
    rig_open(r, "gtx480", few_sms, o && o->functional, text);
    free(text);
    if (o)
        r->g->opt = *o;
}

static uint64_t run_kernel(struct rig *r, uint32_t k) {
    memset((void *)(uintptr_t)r->buffer, 0, RIG_BYTES);
    return rig_run(r, set[k].kernel, set[k].grid, set[k].block, (struct rig_params){0});
}

/* Cut at many cycles, with barriers half full, atomics and stores on their way, lanes diverged and a lock
 * held: memory ends as without timing, and exactly so many cycles were timed. */
static void cuts_keep_results(void **state) {
    (void)state;
    uint8_t *want = malloc(RIG_BYTES);
    for (uint32_t k = 0; k < KERNELS; k++) {
        struct rig r;
        open_mixed(&r, &(struct rp_options){.functional = true});
        run_kernel(&r, k);
        memcpy(want, (const void *)(uintptr_t)r.buffer, RIG_BYTES);
        rig_close(&r);
        open_mixed(&r, NULL);
        uint64_t full = run_kernel(&r, k), parts = 0;
        for (uint64_t c = 0; c < CUTS; c++) {
            uint64_t n = c < CUTS / 2 ? 1 + 7 * c : full * (c - CUTS / 2) / (CUTS / 2) + c;
            struct rp_totals before = rp_totals(r.g);
            r.g->opt.max_cycles = before.cycles + n;
            run_kernel(&r, k);
            struct rp_totals after = rp_totals(r.g);
            if (after.last == RP_TIMED_PART)
                assert_int_equal(r.cycles, n);
            else
                assert_true(after.last == RP_TIMED_ALL && r.cycles <= n);
            parts += after.last == RP_TIMED_PART;
            assert_true(after.timed_insts - before.timed_insts <= after.warp_insts - before.warp_insts);
            assert_memory_equal(want, (const void *)(uintptr_t)r.buffer, RIG_BYTES);
        }
        assert_true(parts > CUTS / 2);
        rig_close(&r);
    }
    free(want);
}

/* One launch of a fresh GPU with a limit. */
struct sample {
    uint64_t cycles, timed_insts, insts, counters[RIG_COUNTERS];
    enum rp_timing timing;
};

static struct sample sample(uint32_t kernel, struct rp_options o, bool sleep) {
    struct rig r;
    struct sample s = {0};
    open_mixed(&r, &o);
    r.g->machine = machine_create(&r.g->config, &r.g->mechs, false, 1);
    r.g->machine->core.sleep = sleep;
    s.cycles = run_kernel(&r, kernel);
    struct rp_totals t = rp_totals(r.g);
    s.timed_insts = t.timed_insts;
    s.insts = t.warp_insts;
    s.timing = t.last;
    rig_counters(&r, s.counters);
    assert_int_equal(t.timed_insts, rig_counter(&r, "sm.insts.warp"));
    rig_close(&r);
    return s;
}

static void cycles_are_exact(void **state) {
    (void)state;
    struct sample full = sample(0, (struct rp_options){0}, true);
    assert_int_equal(full.timing, RP_TIMED_ALL);
    assert_int_equal(full.timed_insts, full.insts);
    for (uint64_t n = full.cycles; n <= full.cycles + 1; n++) {
        struct sample s = sample(0, (struct rp_options){.max_cycles = n}, true);
        assert_memory_equal(&s, &full, sizeof s);
    }
    uint64_t last = 0;
    for (uint64_t n = 1; n < full.cycles; n += n < 20 ? 1 : full.cycles / 9) {
        struct sample s = sample(0, (struct rp_options){.max_cycles = n}, true);
        assert_int_equal(s.cycles, n);
        assert_int_equal(s.timing, RP_TIMED_PART);
        assert_int_equal(s.insts, full.insts);
        assert_true(s.timed_insts >= last && s.timed_insts <= full.timed_insts);
        last = s.timed_insts;
        /* Where the cut falls into cycles that are skipped, they count up to it. */
        struct sample eager = sample(0, (struct rp_options){.max_cycles = n}, false);
        assert_memory_equal(&s, &eager, sizeof s);
    }
    assert_int_equal(sample(0, (struct rp_options){.max_cycles = full.cycles - 1}, true).cycles,
                     full.cycles - 1);
}

/* The cycle that issues instruction n is the last one. */
static void instructions_are_exact(void **state) {
    (void)state;
    for (uint64_t n = 1; n < 3000; n = n * 3 + 1) {
        struct sample s = sample(2, (struct rp_options){.max_insts = n}, true);
        assert_int_equal(s.timing, RP_TIMED_PART);
        assert_true(s.timed_insts >= n);
        assert_int_equal(sample(2, (struct rp_options){.max_cycles = s.cycles}, true).timed_insts,
                         s.timed_insts);
        if (s.cycles > 1)
            assert_true(sample(2, (struct rp_options){.max_cycles = s.cycles - 1}, true).timed_insts < n);
    }
}

/* Runs every kernel once; cycles of each. */
static void run_all(struct rp_options o, uint64_t cycles[KERNELS], enum rp_timing timing[KERNELS]) {
    struct rig r;
    uint64_t sum = 0;
    open_mixed(&r, &o);
    for (uint32_t k = 0; k < KERNELS; k++) {
        sum += cycles[k] = run_kernel(&r, k);
        timing[k] = rp_totals(r.g).last;
        if (timing[k] == RP_TIMED_NONE)
            assert_int_equal(rig_counter(&r, "sm.cycles"), 0);
    }
    assert_int_equal(rp_totals(r.g).cycles, sum);
    rig_close(&r);
}

/* Launches before the first that is not timed are as in a whole run; others are timed or not as asked. */
static void windows(void **state) {
    (void)state;
    uint64_t full[KERNELS], some[KERNELS];
    enum rp_timing timing[KERNELS];
    run_all((struct rp_options){0}, full, timing);
    run_all((struct rp_options){.some_kernels = true, .last_kernel = 2}, some, timing);
    for (uint32_t k = 0; k < KERNELS; k++) {
        assert_int_equal(timing[k], k <= 2 ? RP_TIMED_ALL : RP_TIMED_NONE);
        assert_int_equal(some[k], k <= 2 ? full[k] : 0);
    }
    run_all((struct rp_options){.some_kernels = true, .first_kernel = 2, .last_kernel = 3}, some, timing);
    for (uint32_t k = 0; k < KERNELS; k++)
        assert_int_equal(some[k] > 0, k == 2 || k == 3);
    run_all((struct rp_options){.max_cycles = full[0] + full[1] + 10}, some, timing);
    for (uint32_t k = 0; k < KERNELS; k++) {
        assert_int_equal(some[k], k < 2 ? full[k] : k == 2 ? 10 : 0);
        assert_int_equal(timing[k], k < 2 ? RP_TIMED_ALL : k == 2 ? RP_TIMED_PART : RP_TIMED_NONE);
    }
    run_all((struct rp_options){.some_kernels = true, .first_kernel = 1, .last_kernel = 4, .max_cycles = 20},
            some, timing);
    for (uint32_t k = 0; k < KERNELS; k++)
        assert_int_equal(some[k], k == 1 ? 20 : 0);
}

static void clock_goes_on(void **state) {
    (void)state;
    for (uint64_t n = 300; n < 420; n += 17) {
        struct rig r;
        uint64_t last;
        open_mixed(&r, &(struct rp_options){.max_cycles = n});
        rig_run(&r, "ticks", 1, 32, (struct rig_params){.n = 50});
        assert_int_equal(rp_totals(r.g).last, RP_TIMED_PART);
        memcpy(&last, (const void *)(uintptr_t)(r.buffer + 8), 8);
        /* After the cut an instruction takes one tick, of which there are a few hundred, and each of the two
         * readings of the clock in a round 20 more. */
        assert_true(last > n && last < n + 1000 + 50 * 2 * 20);
        rig_close(&r);
    }
}

/* Faults after the cut are faults, and the next launch is not disturbed. */
static void faults_after_the_cut(void **state) {
    (void)state;
    struct rig r;
    char *report = NULL;
    open_mixed(&r, &(struct rp_options){.max_cycles = 30});
    assert_int_equal(rig_try(&r, "stuck", 1, 64, 0, (struct rig_params){0}, &report), RP_TIMEOUT);
    assert_non_null(strstr(report, "a barrier that cannot open"));
    free(report);
    r.g->opt.max_cycles = 0;
    assert_true(run_kernel(&r, 0) > 0);
    r.g->opt.max_cycles = rp_totals(r.g).cycles + 500;
    r.g->opt.watchdog = 2000;
    assert_int_equal(rig_try(&r, "finish", 8, 256, 0, (struct rig_params){.n = 1000}, &report), RP_TIMEOUT);
    free(report);
    assert_int_equal(rp_totals(r.g).last, RP_TIMED_PART);
    rig_close(&r);
}

static void ranges(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool ok;
        uint64_t first, last;
    } rows[] = {
        {"3:5", true, 3, 5},         {"3", true, 3, 3},
        {"3:", true, 3, UINT64_MAX}, {":5", true, 0, 5},
        {"0:0", true, 0, 0},         {":", true, 0, UINT64_MAX},
        {"5:3", false, 0, 0},        {"", false, 0, 0},
        {"x", false, 0, 0},          {"1:x", false, 0, 0},
        {"1-2", false, 0, 0},        {"-1:2", false, 0, 0},
        {"1:2:3", false, 0, 0},      {"99999999999999999999", false, 0, 0},
        {" 1", false, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t first, last;
        if (options_range(rows[i].text, &first, &last) != rows[i].ok)
            fail_msg("'%s'", rows[i].text);
        if (rows[i].ok) {
            assert_int_equal(first, rows[i].first);
            assert_int_equal(last, rows[i].last);
        }
    }
}

/* Timing that is spread over a run: of many launches some of all are timed, about as much as was allowed, a
 * long one is cut, and which parts these are does not depend on the machine. */
static void spread_over_launches(void **state) {
    (void)state;
    enum { RUNS = 40, LONG_ONE = 5 };
    uint8_t timing[2][RUNS];
    uint64_t all = 0, share = 0;
    for (uint32_t machine = 0; machine < 3; machine++) {
        static const char *const slow[] = {"device.sms=3", "latency.alu=60", NULL};
        struct rig r;
        char *text = rig_file("mixed.ptx");
        rig_open(&r, "gtx480", machine == 2 ? slow : few_sms, !machine, text);
        free(text);
        r.g->opt.max_insts = machine ? share : 0;
        r.g->opt.expect_insts = all;
        for (uint32_t i = 0; i < RUNS; i++) {
            rig_run(&r, "reduce", i == LONG_ONE ? 400 : 10 + i % 3, 200, (struct rig_params){0});
            if (machine)
                timing[machine - 1][i] = (uint8_t)rp_totals(r.g).last;
        }
        if (!machine) {
            all = rp_totals(r.g).warp_insts;
            share = all / 5;
        } else {
            assert_int_equal(rp_totals(r.g).warp_insts, all);
            double timed = (double)rp_totals(r.g).timed_insts / (double)share;
            assert_true(timed > 0.7 && timed < 1.3);
        }
        rig_close(&r);
    }
    assert_memory_equal(timing[0], timing[1], RUNS);
    uint32_t whole = 0, late = 0, none = 0;
    for (uint32_t i = 0; i < RUNS; i++) {
        whole += timing[0][i] == RP_TIMED_ALL;
        none += timing[0][i] == RP_TIMED_NONE;
        late += i >= RUNS * 3 / 4 && timing[0][i] != RP_TIMED_NONE;
    }
    assert_int_equal(timing[0][LONG_ONE], RP_TIMED_PART);
    assert_true(whole >= 2 && none >= 10 && late >= 1);
}

/* Each thread adds up words of a row that is the same for its block. */
static const char rows[] =
    ".version 6.0\n.target sm_60\n.address_size 64\n"
    ".visible .entry rows(.param .u64 buffer, .param .u32 n, .param .u32 x)\n{\n"
    ".reg .b32 %r<8>; .reg .b64 %l<4>; .reg .pred %p;\n"
    "ld.param.u64 %l0, [buffer]; mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x;\n"
    "mov.u32 %r2, 0; mov.u32 %r3, 0; mul.wide.u32 %l1, %r1, 64; add.u64 %l1, %l0, %l1;\n"
    "L: ld.global.u32 %r4, [%l1]; mad.lo.u32 %r3, %r4, %r0, %r3; add.u64 %l1, %l1, 4;\n"
    "add.u32 %r2, %r2, 1; setp.lt.u32 %p, %r2, 40; @%p bra L;\n"
    "mad.lo.u32 %r5, %r1, 64, %r0; mul.wide.u32 %l2, %r5, 4; add.u64 %l2, %l0, %l2;\n"
    "st.global.u32 [%l2+65536], %r3; exit;\n}\n";

/* What DARSIE lets warps pass over counts as done: the same part of the program is timed as on the base
 * machine, and not the same number of instructions. */
static void passed_over(void **state) {
    (void)state;
    enum { PART = 20000, SMS = 2, AT_ONCE = 8 };
    static const char *const two[] = {"device.sms=2", NULL};
    uint64_t done[2], executed[2];
    for (uint32_t k = 0; k < 2; k++) {
        struct rig r;
        rig_open_options(&r,
                         &(struct rp_options){
                             .gpu = "darsie", .mech = k ? "darsie" : "base", .set = two, .max_insts = PART},
                         rows);
        rig_run(&r, "rows", 200, 64, (struct rig_params){0});
        executed[k] = rp_totals(r.g).timed_insts;
        done[k] = executed[k];
        if (k)
            done[k] += rig_counter(&r, "darsie.skipped") + rig_counter(&r, "darsie.dropped");
        rig_close(&r);
    }
    assert_in_range(done[0], PART, PART + SMS * AT_ONCE);
    /* What is skipped is counted when it would be fetched, and passed a little later. */
    assert_in_range(done[1], PART, PART + PART / 50);
    assert_true(executed[1] < executed[0] * 9 / 10);
}

/* In whole blocks the same ones are timed by the base machine and by DAC, which makes other code of kernels:
 * of the first launch what the GPU can hold at least, of the next none until that is its share. */
static void whole_blocks(void **state) {
    (void)state;
    enum { RUNS = 12, GRID = 200 };
    static const char *const two[] = {"device.sms=2", NULL};
    uint64_t blocks[2][RUNS];
    uint32_t want[GRID * 64];
    for (uint32_t k = 0; k < 3; k++) {
        struct rig r;
        rig_open_options(&r,
                         &(struct rp_options){.gpu = "dac",
                                              .mech = k == 2 ? "dac" : "base",
                                              .functional = !k,
                                              .set = two,
                                              .max_insts = 1000,
                                              .expect_insts = 10000,
                                              .whole_blocks = true},
                         rows);
        for (uint32_t n = 0; n < RUNS; n++) {
            rig_run(&r, "rows", GRID, 64, (struct rig_params){0});
            if (k)
                blocks[k - 1][n] = rig_counter(&r, "sm.blocks"); /* of this launch */
        }
        const void *got = (const uint8_t *)(uintptr_t)r.buffer + 65536;
        if (!k)
            memcpy(want, got, sizeof want);
        assert_memory_equal(want, got, sizeof want);
        rig_close(&r);
    }
    assert_memory_equal(blocks[0], blocks[1], sizeof blocks[0]);
    uint64_t all = 0;
    for (uint32_t n = 0; n < RUNS; n++)
        all += blocks[0][n];
    assert_int_equal(blocks[0][0], GRID / 10 > 16 ? GRID / 10 : 16); /* eight blocks fit on an SM */
    assert_in_range(all, RUNS * GRID / 10, RUNS * GRID / 10 + 16);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cuts_keep_results),
        cmocka_unit_test(cycles_are_exact),
        cmocka_unit_test(instructions_are_exact),
        cmocka_unit_test(windows),
        cmocka_unit_test(clock_goes_on),
        cmocka_unit_test(faults_after_the_cut),
        cmocka_unit_test(ranges),
        cmocka_unit_test(spread_over_launches),
        cmocka_unit_test(passed_over),
        cmocka_unit_test(whole_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
