/* DAC on kernels made for it: what is split and what is not, what it costs, and hazards. Without one of its
 * rules (dac.without) the hazards that are about it come out wrong, so each rule is needed. */
#include <stdio.h>

#include "dac_hazards.h"

/* Two pointers, which the launch may let meet. */
static const char pointers[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                               ".visible .entry pair(.param .u64 a, .param .u64 b)\n{ .reg .b32 %r<8>; .reg "
                               ".b64 %l<8>; .reg .pred %p<2>;\n"
                               "ld.param.u64 %l0, [a]; ld.param.u64 %l4, [b]; mov.u32 %r0, %tid.x; "
                               "mul.wide.u32 %l1, %r0, 4; add.u64 %l0, %l0, %l1;\n"
                               "add.u64 %l4, %l4, %l1; mov.u32 %r2, 0;\nL: ld.global.u32 %r1, [%l0]; add.u32 "
                               "%r1, %r1, 1; st.global.u32 [%l4+256], %r1;\n"
                               "add.u64 %l0, %l0, 256; add.u64 %l4, %l4, 256; add.u32 %r2, %r2, 1; "
                               "setp.lt.u32 %p0, %r2, 30; @%p0 bra L; exit; }\n";

/* Launches blocks of so many rows of threads. */
static const uint32_t *launch_rows(struct rig *r, const char *kernel, uint32_t rows) {
    uint32_t *word = (uint32_t *)(uintptr_t)r->buffer;
    for (uint32_t i = 0; i < WORDS; i++)
        word[i] = i;
    struct rig_params p = {.buffer = r->buffer, .n = 7, .x = 3};
    struct rp_launch l = {
        .grid = {GRID, 1, 1}, .block = {THREADS / rows, rows, 1}, .params = &p, .param_bytes = sizeof p};
    char *report = NULL;
    uint64_t before = rp_totals(r->g).cycles;
    enum rp_status s = rp_launch(r->g, rp_module_kernel(r->m, kernel), &l, &report);
    r->cycles = rp_totals(r->g).cycles - before;
    free(report);
    return s == RP_OK ? word + WORDS / 2 : NULL;
}

static const uint32_t *launch(struct rig *r, const char *kernel) {
    return launch_rows(r, kernel, 1);
}

static const uint32_t *launch_hazard(struct rig *r, uint32_t k) {
    return launch_rows(r, hazards[k].kernel, hazards[k].rows ? hazards[k].rows : 1);
}

static uint32_t want[HAZARDS][WORDS / 2];

static int find_results(void **state) {
    (void)state;
    struct rig r;
    rig_open(&r, "dac", NULL, true, text);
    for (uint32_t k = 0; k < HAZARDS; k++) {
        const uint32_t *got = launch_hazard(&r, k);
        if (!got)
            fail_msg("%s does not run", hazards[k].kernel);
        memcpy(want[k], got, sizeof want[k]);
    }
    rig_close(&r);
    return 0;
}

/* The kernel leaves what it must, and no check or invariant says otherwise. */
static bool comes_out(struct rig *r, uint32_t k) {
    const uint32_t *got = launch_hazard(r, k);
    return got && !memcmp(got, want[k], sizeof want[k]) && !rig_counter(r, "check.wrong");
}

static void open_text(struct rig *r, const char *const *set, const char *code) {
    rig_open_options(
        r, &(struct rp_options){.gpu = "dac", .mech = "dac", .set = set, .check = true, .watchdog = 1000000},
        code);
}

static void open_dac(struct rig *r, const char *const *set) {
    open_text(r, set, text);
}

static void test_hazards(void **state) {
    (void)state;
    static const char *const sets[][7] = {
        {"device.sms=1", NULL},
        {"device.sms=2", "dac.atq=1", "dac.pwaq=1", "dac.pwpq=1", NULL},
        {"device.sms=1", "dac.first=true", "issue.policy=lrr", "l1.size=4K", "l1.ways=2", NULL},
        {"device.sms=1", "dac.prefetch=false", "issue.policy=gto", NULL},
        {"device.sms=1", "l1.mshrs=1", "l1.merges=1", NULL},
        {"device.sms=1", "issue.active=1", "dac.atq=1", "dac.pwpq=1", NULL}, /* who waits makes way */
        {"device.sms=1", "l1.ways=1", NULL},                                 /* nothing can be locked */
    };
    for (uint32_t s = 0; s < sizeof sets / sizeof *sets; s++) {
        struct rig r;
        open_dac(&r, sets[s]);
        for (uint32_t k = 0; k < HAZARDS; k++) {
            if (!comes_out(&r, k))
                fail_msg("%s with settings %u comes out wrong", hazards[k].kernel, s);
            const char *remark = rp_module_kernel(r.m, hazards[k].kernel)->passed.prog->remark;
            bool whole = remark && strstr(remark, "not split: ");
            if (whole != hazards[k].whole || whole != (rig_counter(&r, "dac.whole") > 0))
                fail_msg("%s: %s", hazards[k].kernel, remark ? remark : "split");
        }
        rig_close(&r);
    }
}

/* Without its rule a hazard is one. */
static void test_rules(void **state) {
    (void)state;
    for (uint32_t k = 0; k < HAZARDS; k++) {
        if (!hazards[k].rule)
            continue;
        struct rig r;
        char without[32];
        snprintf(without, sizeof without, "dac.without=%u", hazards[k].rule);
        open_dac(&r, (const char *const[]){"device.sms=1", without, hazards[k].set, NULL});
        if (comes_out(&r, k))
            fail_msg("%s comes out right without its rule", hazards[k].kernel);
        rig_close(&r);
    }
}

/* Runs the kernel with two pointers, into one buffer or into two; whether it comes out right. */
static bool run_pair(struct rig *r, uint64_t other, bool apart, uint64_t *fetched) {
    enum { ROWS = 31 };
    uint32_t *a = (uint32_t *)(uintptr_t)r->buffer, *b = (uint32_t *)(uintptr_t)(apart ? other : r->buffer);
    for (uint32_t i = 0; i < 64 * (ROWS + 1); i++)
        a[i] = i * 3;
    uint64_t p[2] = {r->buffer, (uint64_t)(uintptr_t)b};
    struct rp_launch l = {.grid = {1, 1, 1}, .block = {64, 1, 1}, .params = p, .param_bytes = sizeof p};
    assert_int_equal(rp_launch(r->g, rp_module_kernel(r->m, "pair"), &l, NULL), RP_OK);
    bool ok = !rig_counter(r, "check.wrong");
    for (uint32_t i = 64; i < 64 * ROWS; i++)
        ok &= b[i] == (apart ? (i - 64) * 3 + 1 : i % 64 * 3 + i / 64);
    *fetched = rig_counter(r, "dac.deq.data");
    return ok;
}

/* What a launch's arguments decide, for each launch anew: data are fetched ahead if they do not meet. */
static void test_arguments(void **state) {
    (void)state;
    for (uint32_t rule = 0; rule < 2; rule++) {
        struct rig r;
        const char *without = rule ? "dac.without=0" : "dac.without=2"; /* DAC_RULE_ARGUMENTS */
        rig_open_options(&r,
                         &(struct rp_options){.gpu = "dac",
                                              .mech = "dac",
                                              .set = (const char *const[]){"device.sms=1", without, NULL},
                                              .check = true},
                         pointers);
        uint64_t other = rp_mem_alloc(r.g, RIG_BYTES, RP_MEM_DEVICE), fetched;
        for (uint32_t k = 0; k < 4; k++) {
            bool apart = k % 2 == 0;
            assert_int_equal(run_pair(&r, other, apart, &fetched), apart || rule);
            assert_int_equal(fetched, apart || !rule ? 2 * 30 : 0);
        }
        rig_close(&r);
    }
}

/* Addresses of 32 bits: those of the program wrap around, and lie in one window of memory. */
static void test_narrow(void **state) {
    (void)state;
    static const char code[] =
        ".version 7.0\n.target sm_30\n.address_size 32\n"
        ".visible .entry narrow(.param .u32 buffer, .param .u32 n)\n{\n"
        ".reg .b32 %r<12>; .reg .pred %p<2>;\n"
        "ld.param.u32 %r0, [buffer]; ld.param.u32 %r8, [n]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;\n"
        "mad.lo.u32 %r3, %r2, 64, %r1; mad.lo.u32 %r4, %r3, 4, %r0; sub.u32 %r5, 10, %r1;\n"
        "mad.lo.u32 %r5, %r5, -12, %r0; ld.global.u32 %r6, [%r5+2000]; sub.u32 %r7, %r1, 4;\n"
        "mad.lo.u32 %r7, %r7, 4, %r0; setp.ge.u32 %p0, %r1, 4; @%p0 ld.global.u32 %r9, [%r7];\n"
        "@!%p0 mov.u32 %r9, %r8; mad.lo.u32 %r6, %r9, 1000, %r6; st.global.u32 [%r4+131072], %r6; exit;\n}\n";
    struct rig r;
    open_text(&r, (const char *const[]){"device.sms=1", NULL}, code);
    uint32_t *word = (uint32_t *)(uintptr_t)r.buffer, p[2] = {(uint32_t)r.buffer, 7};
    for (uint32_t i = 0; i < WORDS; i++)
        word[i] = i;
    struct rp_launch l = {
        .grid = {GRID, 1, 1}, .block = {THREADS, 1, 1}, .params = p, .param_bytes = sizeof p};
    assert_int_equal(rp_launch(r.g, rp_module_kernel(r.m, "narrow"), &l, NULL), RP_OK);
    for (uint32_t t = 0; t < GRID * THREADS; t++) {
        uint32_t x = t % THREADS;
        assert_int_equal(word[WORDS / 2 + t], 500 - 30 + 3 * x + 1000 * (x < 4 ? 7 : x - 4));
    }
    assert_int_equal(rig_counter(&r, "dac.deq.data"), 2 * GRID * THREADS / 32);
    assert_int_equal(rig_counter(&r, "check.wrong"), 0);
    rig_close(&r);
}

/* A choice of four tuples, some of which are remainders, takes more lanes than there are: its load stays. Of
 * two, it is fetched ahead. */
static void test_lanes(void **state) {
    (void)state;
    struct rig r;
    open_dac(&r, (const char *const[]){"device.sms=1", NULL});
    assert_non_null(launch(&r, "many"));
    assert_int_equal(rig_counter(&r, "dac.deq.data"), 0);
    assert_non_null(launch(&r, "few"));
    assert_int_equal(rig_counter(&r, "dac.deq.data"), GRID * THREADS / 32);
    rig_close(&r);
}

/* Figures by hand: "webs" has two warps in each of four blocks, and one batch. */
static void test_counts(void **state) {
    (void)state;
    struct rig r;
    open_dac(&r, (const char *const[]){"device.sms=1", NULL});
    assert_non_null(launch(&r, "webs"));
    enum { WARPS = GRID * THREADS / 32 };
    assert_int_equal(rig_counter(&r, "dac.batches"), 1);
    assert_int_equal(rig_counter(&r, "dac.enq.data"), 1);
    assert_int_equal(rig_counter(&r, "dac.enq.addr"), 1);
    assert_int_equal(rig_counter(&r, "dac.enq.pred"), 5);
    assert_int_equal(rig_counter(&r, "dac.deq.data"), WARPS);
    assert_int_equal(rig_counter(&r, "dac.deq.addr"), WARPS);
    assert_int_equal(rig_counter(&r, "dac.deq.pred"), 5 * WARPS);
    assert_int_equal(rig_counter(&r, "dac.pred.scalar"), 5 * WARPS);
    /* Each word is 20 bytes from the next: five lines and one that the last begins, for a warp that starts
     * one. */
    assert_true(rig_counter(&r, "dac.aeu.fetched") >= 5 * WARPS &&
                rig_counter(&r, "dac.aeu.fetched") <= 6 * WARPS);
    /* A load, a store, five branches, an exit; nothing else is left of the kernel. */
    assert_int_equal(rig_counter(&r, "sm.insts.warp"), 8 * WARPS);
    /* So warps wait for their queues alone: for no result but that of the load. */
    assert_true(rig_counter(&r, "slot.mechanism") > 10 * rig_counter(&r, "slot.data"));
    rig_close(&r);
}

/* The affine warp runs once for blocks that are on the SM together: what follows the second block waits for
 * the first, which runs long, and is a batch with what follows that. */
static void test_batches(void **state) {
    (void)state;
    static const char code[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n"
        ".visible .entry uneven(.param .u64 buffer, .param .u32 n, .param .u32 x)\n{\n"
        ".reg .b32 %r<8>; .reg .b64 %l<4>; .reg .pred %p<2>;\n"
        "ld.param.u64 %l0, [buffer]; mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r4, 0;\n"
        "setp.eq.u32 %p0, %r1, 0; selp.b32 %r2, 400, 2, %p0; mad.lo.u32 %r3, %r1, 64, %r0;\n"
        "mul.wide.u32 %l1, %r3, 4; add.u64 %l1, %l0, %l1;\n"
        "L: ld.global.u32 %r5, [%l1]; add.u32 %r5, %r5, %r4; st.global.u32 [%l1+131072], %r5;\n"
        "add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, %r2; @%p1 bra L; exit;\n}\n";
    struct rig r;
    rig_open_options(&r,
                     &(struct rp_options){.gpu = "dac",
                                          .mech = "dac",
                                          .set = (const char *const[]){"device.sms=1", "sm.blocks=2", NULL},
                                          .check = true},
                     code);
    const uint32_t *got = launch(&r, "uneven");
    assert_non_null(got);
    for (uint32_t t = 0; t < GRID * THREADS; t++)
        assert_int_equal(got[t], t + (t < THREADS ? 399 : 1));
    assert_int_equal(rig_counter(&r, "dac.batches"), 2);
    assert_int_equal(rig_counter(&r, "check.wrong"), 0);
    rig_close(&r);
}

/* A record of shared memory is a plain tuple, whatever its offset; where remainders are taken, it is of 128
 * bytes from any word on: one for a warp's row, wherever it begins, and one for each word of a column. */
static void test_windows(void **state) {
    (void)state;
    static const char code[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n"
        ".visible .entry windows(.param .u64 buffer, .param .u32 n, .param .u32 x)\n{\n"
        ".reg .b32 %r<8>; .shared .b32 s[512];\n"
        "mov.u32 %r0, %tid.x; mov.u32 %r1, s; mad.lo.u32 %r2, %r0, 4, %r1; st.shared.u32 [%r2+4], %r0;\n"
        "and.b32 %r3, %r0, 15; mad.lo.u32 %r4, %r3, 4, %r1; bar.sync 0; ld.shared.u32 %r5, [%r4+60];\n"
        "st.shared.u32 [%r2+1024], %r5; exit;\n}\n"
        ".visible .entry columns(.param .u64 buffer, .param .u32 n, .param .u32 x)\n{\n"
        ".reg .b32 %r<8>; .shared .b32 t[2112];\n"
        "mov.u32 %r0, %tid.x; mov.u32 %r1, t; mad.lo.u32 %r2, %r0, 132, %r1; st.shared.u32 [%r2], %r0;\n"
        "and.b32 %r3, %r0, 15; mad.lo.u32 %r4, %r3, 132, %r1; st.shared.u32 [%r4+4], %r0; exit;\n}\n";
    enum { WARPS = GRID * THREADS / 32 };
    struct rig r;
    rig_open_options(
        &r,
        &(struct rp_options){
            .gpu = "dac", .mech = "dac", .set = (const char *const[]){"device.sms=1", NULL}, .check = true},
        code);
    assert_non_null(launch(&r, "windows"));
    assert_int_equal(rig_counter(&r, "dac.deq.addr"), 3 * WARPS);
    assert_int_equal(rig_counter(&r, "dac.aeu.records"), 3 * WARPS);
    assert_non_null(launch(&r, "columns"));
    assert_int_equal(rig_counter(&r, "dac.deq.addr"), 2 * WARPS);
    assert_int_equal(rig_counter(&r, "dac.aeu.records"), (1 + 16) * WARPS);
    rig_close(&r);
}

/* Branches that data decide: two that all warps come to, and one for those with an odd word. Without asking
 * nothing behind the first is decoupled. */
static void test_vectors(void **state) {
    (void)state;
    enum { WARPS = GRID * THREADS / 32 };
    for (uint32_t ask = 0; ask < 2; ask++) {
        struct rig r;
        open_dac(&r, (const char *const[]){"device.sms=1", ask ? "dac.ask=true" : "dac.ask=false", NULL});
        assert_non_null(launch(&r, "vectors"));
        assert_int_equal(rig_counter(&r, "dac.vectors"), ask ? 3 * WARPS : 0);
        assert_int_equal(rig_counter(&r, "dac.deq.data") > WARPS, ask);
        assert_int_equal(rig_counter(&r, "check.wrong"), 0);
        assert_non_null(launch(&r, "stores"));
        assert_int_equal(rig_counter(&r, "dac.vectors"), 0);
        assert_int_equal(rig_counter(&r, "check.wrong"), 0);
        rig_close(&r);
    }
}

/* Those with which DAC is compared leave the same memory, and supply nothing that differs. */
static void test_rivals(void **state) {
    (void)state;
    static const char *const mechs[] = {"cae", "mta", "perfect-memory", "dac-noprefetch"};
    for (uint32_t m = 0; m < 4; m++) {
        struct rig r;
        rig_open_options(&r,
                         &(struct rp_options){.gpu = "dac",
                                              .mech = mechs[m],
                                              .set = (const char *const[]){"device.sms=1", NULL},
                                              .check = true},
                         text);
        for (uint32_t k = 0; k < HAZARDS; k++)
            if (!comes_out(&r, k))
                fail_msg("%s comes out wrong with %s", hazards[k].kernel, mechs[m]);
        rig_close(&r);
    }
}

/* What a launch of a kernel counts with a mechanism; its cycles. */
static uint64_t count(const char *mech, const char *kernel, const char *counter, uint64_t *n) {
    struct rig r;
    rig_open_options(
        &r,
        &(struct rp_options){.gpu = "dac", .mech = mech, .set = (const char *const[]){"device.sms=1", NULL}},
        text);
    assert_non_null(launch(&r, kernel));
    *n = counter ? rig_counter(&r, counter) : 0;
    uint64_t cycles = r.cycles;
    rig_close(&r);
    return cycles;
}

/* Perfect memory: every access takes no time. CAE: of "webs", what is affine is all but accesses and control.
 * MTA: a load in a loop, with one stride in all warps, is known after some rounds. */
static void test_rival_counts(void **state) {
    (void)state;
    enum { WARPS = GRID * THREADS / 32, ROUNDS = 20 };
    uint64_t n, base = count("base", "stale", NULL, &n);
    assert_true(count("perfect-memory", "stale", "perfect.accesses", &n) < base / 2);
    assert_int_equal(n, 2 * ROUNDS * WARPS);
    (void)count("cae", "webs", "cae.executed", &n);
    assert_true(n >= (1 + 3 * 5) * WARPS); /* a start, and three in each round of the loop */
    (void)count("mta", "stale", "mta.loads", &n);
    assert_int_equal(n, ROUNDS * WARPS);
    (void)count("mta", "stale", "mta.fetched", &n);
    assert_true(n > 0);
}

/* Lines that MTA fetches come from DRAM the first time, but for some that join the request of a load, and
 * from L2 when the same is launched again. */
static void test_coverage(void **state) {
    (void)state;
    static const char code[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n"
        ".visible .entry sum(.param .u64 buffer, .param .u32 n, .param .u32 x)\n{\n"
        ".reg .b32 %r<8>; .reg .b64 %l<3>; .reg .pred %p<2>;\n"
        "ld.param.u64 %l0, [buffer]; mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mad.lo.u32 %r0, %r1, 64, "
        "%r0;\n"
        "mul.wide.u32 %l1, %r0, 4; add.u64 %l1, %l0, %l1; mov.u32 %r2, 0; mov.u32 %r3, 0;\n"
        "L: ld.global.u32 %r4, [%l1]; add.u32 %r3, %r3, %r4; add.u64 %l1, %l1, 1024; add.u32 %r2, %r2, 1;\n"
        "setp.lt.u32 %p0, %r2, 64; @%p0 bra L; st.global.u32 [%l1+131072], %r3; exit;\n}\n";
    struct rig r;
    rig_open_options(
        &r,
        &(struct rp_options){.gpu = "dac", .mech = "mta", .set = (const char *const[]){"device.sms=1", NULL}},
        code);
    for (uint32_t again = 0; again < 2; again++) {
        assert_non_null(launch(&r, "sum"));
        uint64_t fetched = again ? 0 : rig_counter(&r, "mta.fetched"),
                 used = again ? 0 : rig_counter(&r, "mta.used");
        assert_true(rig_counter(&r, "mta.used") > 0);
        assert_in_range(rig_counter(&r, "mta.dram.fetched"), fetched - fetched / 100, fetched);
        assert_in_range(rig_counter(&r, "mta.dram.used"), used - used / 100, used);
    }
    rig_close(&r);
}

/* What CAE's units do, by hand: two moves of constants, tid.x, tid.x + 5, its comparison with 500, and its
 * sum with what all lanes load from one address; not products of 64 bits, nor sums with what each lane loads.
 * tid.x is written out for the product, and once only; that sum for the next. One access has a tuple for an
 * address. */
static void test_cae(void **state) {
    (void)state;
    static const char code[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                               ".visible .entry tuples(.param .u64 buffer, .param .u32 n, .param .u32 x)\n{\n"
                               ".reg .b32 %r<8>; .reg .b64 %l<3>; .reg .pred %p<2>;\n"
                               "ld.param.u64 %l0, [buffer]; mov.u32 %r0, %tid.x; mul.wide.u32 %l1, %r0, 4;\n"
                               "add.u64 %l1, %l0, %l1; ld.global.u32 %r1, [%l1]; add.u32 %r2, %r1, %r0;\n"
                               "add.u32 %r3, %r0, 5; setp.lt.u32 %p0, %r3, 500; ld.global.u32 %r4, [%l0+8];\n"
                               "add.u32 %r5, %r4, %r3; add.u32 %r6, %r5, %r2; selp.b32 %r6, %r6, %r1, %p0;\n"
                               "st.global.u32 [%l1+131072], %r6; exit;\n}\n";
    enum { WARPS = GRID * THREADS / 32 };
    struct rig r;
    rig_open_options(
        &r,
        &(struct rp_options){
            .gpu = "dac", .mech = "cae", .set = (const char *const[]){"device.sms=1", NULL}, .check = true},
        code);
    const uint32_t *got = launch(&r, "tuples");
    assert_non_null(got);
    for (uint32_t t = 0; t < THREADS; t++)
        assert_int_equal(got[t], 2 + t + 5 + 2 * t);
    assert_int_equal(rig_counter(&r, "cae.executed"), 6 * WARPS);
    assert_int_equal(rig_counter(&r, "cae.expansions"), 2 * WARPS);
    assert_int_equal(rig_counter(&r, "cae.accesses"), WARPS);
    assert_int_equal(rig_counter(&r, "check.wrong"), 0);
    rig_close(&r);
}

/* Limits of the affine stack and of conditions: what needs more stays in the other stream, and comes out
 * right all the same. */
static void test_limits(void **state) {
    (void)state;
    static const char code[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n"
        ".visible .entry nested(.param .u64 buffer, .param .u32 n, .param .u32 x)\n{\n"
        ".reg .b32 %r<8>; .reg .b64 %l<3>; .reg .pred %p<4>;\n"
        "ld.param.u64 %l0, [buffer]; mov.u32 %r0, %tid.x; mul.wide.u32 %l1, %r0, 4; add.u64 %l1, %l0, %l1;\n"
        "setp.lt.u32 %p0, %r0, 40; @!%p0 bra J; st.global.u32 [%l1+131072], %r0; mov.u32 %r1, 0;\n"
        "A: st.global.u32 [%l1+132096], %r1; add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, %r0; @%p1 bra A;\n"
        "J: exit;\n}\n"
        ".visible .entry chosen(.param .u64 buffer, .param .u32 n, .param .u32 x)\n{\n"
        ".reg .b32 %r<8>; .reg .b64 %l<5>; .reg .pred %p<4>;\n"
        "ld.param.u64 %l0, [buffer]; mov.u32 %r0, %tid.x; min.u32 %r1, %r0, 9; max.u32 %r2, %r0, 20;\n"
        "mul.wide.u32 %l1, %r1, 4; add.u64 %l1, %l0, %l1; mul.wide.u32 %l2, %r2, 4; add.u64 %l2, %l0, %l2;\n"
        "mul.wide.u32 %l3, %r0, 4; add.u64 %l3, %l0, %l3;\n"
        "ld.global.u32 %r3, [%l2]; ld.global.u32 %r4, [%l1+256]; add.u32 %r3, %r3, %r4;\n"
        "st.global.u32 [%l3+131072], %r3; exit;\n}\n";
    /* A warp takes from its queues the address of a guarded store, and with a deeper stack those of the loop;
     * three addresses of "chosen", or two, if both conditions do not fit. */
    enum { WARPS = GRID * THREADS / 32 };
    static const struct {
        const char *set, *kernel;
        uint64_t least, most;
    } tries[] = {{"dac.stack=8", "nested", 2 * WARPS, UINT64_MAX},
                 {"dac.stack=1", "nested", WARPS, WARPS},
                 {"dac.dcrf=8", "chosen", 3 * WARPS, 3 * WARPS},
                 {"dac.dcrf=1", "chosen", 2 * WARPS, 2 * WARPS}};
    for (uint32_t k = 0; k < 4; k++) {
        struct rig r;
        rig_open_options(
            &r,
            &(struct rp_options){.gpu = "dac",
                                 .mech = "dac",
                                 .set = (const char *const[]){"device.sms=1", tries[k].set, NULL},
                                 .check = true},
            code);
        const uint32_t *got = launch(&r, tries[k].kernel);
        assert_non_null(got);
        for (uint32_t t = 0; t < THREADS; t++)
            if (k < 2)
                assert_int_equal(got[t], t < 40 ? t : WORDS / 2 + t);
            else
                assert_int_equal(got[t], (t > 20 ? t : 20) + (t < 9 ? t : 9) + 64);
        uint64_t n = rig_counter(&r, "dac.deq.addr") + rig_counter(&r, "dac.deq.data");
        assert_in_range(n, tries[k].least, tries[k].most);
        assert_int_equal(rig_counter(&r, "check.wrong"), 0);
        rig_close(&r);
    }
}

/* Launches that are cut come to a right end, in the plain code. */
static void test_cut(void **state) {
    (void)state;
    for (uint64_t cycles = 1; cycles < 4000; cycles = cycles * 3 + 100)
        for (uint32_t k = 0; k < HAZARDS; k++) {
            struct rig r;
            rig_open_options(
                &r,
                &(struct rp_options){.gpu = "dac",
                                     .mech = "dac",
                                     .set = (const char *const[]){"device.sms=1", "sm.blocks=2", NULL},
                                     .check = true,
                                     .max_cycles = cycles},
                text);
            if (strcmp(hazards[k].kernel, "polls") && !comes_out(&r, k))
                fail_msg("%s, cut after %u cycles, comes out wrong", hazards[k].kernel, (unsigned)cycles);
            rig_close(&r);
        }
}

/* Sleeping through cycles in which nothing happens changes no counter, whoever waits for what. */
static void test_sleep(void **state) {
    (void)state;
    static uint64_t count[2][RIG_COUNTERS];
    static const char *const sets[][5] = {
        {"device.sms=2", NULL},
        {"device.sms=1", "dac.atq=2", "dac.pwaq=8", "dac.pwpq=8", NULL},
        {"device.sms=1", "issue.policy=gto", "l1.mshrs=2", NULL},
    };
    for (uint32_t k = 0; k < HAZARDS * 3; k++)
        for (uint32_t awake = 0; awake < 2; awake++) {
            struct rig r;
            struct rp_counter c;
            open_dac(&r, sets[k % 3]);
            r.g->machine = machine_create(&r.g->config, &r.g->mechs, true, 1);
            r.g->machine->core.sleep = !awake;
            assert_non_null(launch_hazard(&r, k / 3));
            for (uint32_t i = 0; rp_counter(r.g, i, &c); i++)
                count[awake][i] = c.launch;
            for (uint32_t i = 0; awake && rp_counter(r.g, i, &c); i++)
                if (count[0][i] != count[1][i])
                    fail_msg("%s: %s is %llu with sleep, %llu without", hazards[k / 3].kernel, c.name,
                             (unsigned long long)count[0][i], (unsigned long long)count[1][i]);
            rig_close(&r);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hazards), cmocka_unit_test(test_rules),    cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_counts),  cmocka_unit_test(test_batches),  cmocka_unit_test(test_windows),
        cmocka_unit_test(test_vectors), cmocka_unit_test(test_coverage), cmocka_unit_test(test_cae),
        cmocka_unit_test(test_limits),  cmocka_unit_test(test_rivals),   cmocka_unit_test(test_rival_counts),
        cmocka_unit_test(test_cut),     cmocka_unit_test(test_sleep),    cmocka_unit_test(test_narrow),
        cmocka_unit_test(test_lanes),
    };
    return cmocka_run_group_tests(tests, find_results, NULL);
}
