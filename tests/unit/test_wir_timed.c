/* WIR in the timed machine, against figures worked out by hand and against functional runs. The machine is
 * the paper's with one SM. */
#include <stdio.h>

#include "timing_rig.h"

static const char *const models[] = {"wir",     "wir-r",     "wir-rl",   "wir-rlp",
                                     "wir-rpv", "wir-rlpvc", "wir-novsb"};
enum { MODELS = sizeof models / sizeof *models, SETTINGS = 12, BASE_LATENCY = 11 /* latency.alu */ };

/* Kernels of tests/timing that end with results that do not depend on time. */
static const struct {
    const char *file, *kernel;
    uint32_t grid, block, n;
} kernels[] = {
    {"mixed.ptx", "reduce", 20, 200, 0}, {"mixed.ptx", "atomics", 10, 192, 0},
    {"mixed.ptx", "diverge", 9, 77, 0},  {"mixed.ptx", "produce", 12, 64, 0},
    {"mixed.ptx", "lock", 2, 40, 0},     {"reuse.ptx", "alike", 1, 200, 50},
    {"reuse.ptx", "nest", 6, 72, 0},     {"reuse.ptx", "barriers", 1, 96, 40},
    {"reuse.ptx", "results", 3, 72, 5},  {"reuse.ptx", "wide", 5, 136, 12},
};
enum { KERNELS = sizeof kernels / sizeof *kernels };

/* A machine of one SM with a mechanism, parameters (NULL-terminated, or NULL), and the file's kernels. */
static void open_file(struct rig *r, const char *mech, const char *const *set, const char *file) {
    const char *all[SETTINGS] = {"device.sms=1"};
    for (uint32_t i = 0; set && set[i]; i++)
        all[i + 1] = set[i];
    char *text = rig_file(file);
    rig_open_options(r, &(struct rp_options){.gpu = "wir", .mech = mech, .set = all, .check = true}, text);
    rig_zero(r);
    free(text);
}

/* Fills the buffer and runs kernel k. */
static uint64_t run_kernel(struct rig *r, uint32_t k) {
    uint32_t *word = (uint32_t *)(uintptr_t)r->buffer;
    for (uint32_t i = 0; i < RIG_BYTES / sizeof *word; i++)
        word[i] = strcmp(kernels[k].file, "mixed.ptx") ? i * 3 : 0;
    return rig_run(r, kernels[k].kernel, kernels[k].grid, kernels[k].block,
                   (struct rig_params){.n = kernels[k].n, .x = 7});
}

static uint8_t want[KERNELS][RIG_BYTES]; /* what functional runs leave */

static int run_functionally(void **state) {
    (void)state;
    for (uint32_t k = 0; k < KERNELS; k++) {
        struct rig r;
        char *text = rig_file(kernels[k].file);
        rig_open(&r, "wir", NULL, true, text);
        rig_zero(&r);
        free(text);
        run_kernel(&r, k);
        memcpy(want[k], (const void *)(uintptr_t)r.buffer, RIG_BYTES);
        rig_close(&r);
    }
    return 0;
}

/* The last launch left what it should, and no value that was supplied is wrong. */
static void expect_right(const struct rig *r, uint32_t k, const char *mech) {
    if (memcmp(want[k], (const void *)(uintptr_t)r->buffer, RIG_BYTES))
        fail_msg("%s: memory after %s is wrong", mech, kernels[k].kernel);
    if (rig_counter(r, "check.wrong"))
        fail_msg("%s: wrong values or lost registers in %s", mech, kernels[k].kernel);
}

/* ---- cycles ------------------------------------------------------------------------------------------- */

/* A loop of n times k steps of a chain through %r4. */
static char *chain(const char *step, uint32_t k) {
    struct str s = {0};
    str_printf(&s, ".version 7.0\n.target sm_70\n.address_size 64\n"
                   ".visible .entry k(.param .u64 buffer, .param .u32 n, .param .u32 x)\n{\n"
                   ".reg .b32 %%r<8>; .reg .b64 %%l<2>; .reg .pred %%p<2>;\n"
                   "ld.param.u64 %%l0, [buffer]; ld.param.u32 %%r0, [n]; mov.u32 %%r1, %%tid.x;\n"
                   "xor.b32 %%r4, %%r1, 12345;\nLOOP:\nsub.u32 %%r0, %%r0, 1;\nsetp.ne.u32 %%p1, %%r0, 0;\n");
    for (uint32_t i = 0; i < k; i++)
        str_printf(&s, "%s\n", step);
    str_printf(&s, "@%%p1 bra LOOP;\nst.global.u32 [%%l0], %%r4;\nexit;\n}\n");
    char *text = strdup(str_text(&s));
    str_free(&s);
    return text;
}

static const char step[] = "mul.lo.u32 %r4, %r4, 77773;";

/* Cycles of a step: of the first launch, in which nothing repeats, or of a second, in which everything does.
 */
static uint64_t per_step(const char *mech, const char *const *set, bool again) {
    enum {
        SHORT = 16,
        LONG = 32,
        FEW = 5,
        MANY = 15
    }; /* registers for all values; SHORT: longer than the loop itself */
    uint64_t cycles[2][2];
    for (uint32_t i = 0; i < 2; i++)
        for (uint32_t j = 0; j < 2; j++) {
            struct rig r;
            const struct rig_params p = {.n = j ? MANY : FEW};
            char *text = chain(step, i ? LONG : SHORT);
            const char *all[SETTINGS] = {"device.sms=1", "wir.rb_entries=65536", "wir.vsb_entries=65536",
                                         "fetch.width=8", "fetch.buffer=16"};
            for (uint32_t k = 0; set && set[k]; k++)
                all[k + 5] = set[k];
            rig_open_options(&r, &(struct rp_options){.gpu = "wir", .mech = mech, .set = all}, text);
            free(text);
            cycles[i][j] = rig_run(&r, "k", 1, 32, p);
            if (again)
                cycles[i][j] = rig_run(&r, "k", 1, 32, p);
            rig_close(&r);
        }
    uint64_t d = cycles[1][1] - cycles[1][0] - (cycles[0][1] - cycles[0][0]);
    uint64_t steps = (LONG - SHORT) * (MANY - FEW);
    assert_int_equal(d % steps, 0);
    return d / steps;
}

/* Instructions that find no collector of their kind hold up no others: while seven warps keep the load/store
 * unit and its collectors full, with accesses of which each takes 32 cycles, the first one multiplies as fast
 * as alone.
 */
static void test_kinds_apart(void **state) {
    (void)state;
    static const char text[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n"
        ".visible .entry k(.param .u64 buffer, .param .u32 n, .param .u32 x)\n{\n"
        ".reg .b32 %r<8>; .reg .b64 %l<2>; .reg .pred %p<2>; .shared .b32 s[1024];\n"
        "ld.param.u64 %l0, [buffer]; ld.param.u32 %r0, [n]; mov.u32 %r1, %tid.x;\n"
        "setp.ge.u32 %p1, %r1, 32; @%p1 bra OTHERS;\n"
        "xor.b32 %r4, %r1, 12345; mov.u32 %r5, %clock;\n"
        "CHAIN: mul.lo.u32 %r4, %r4, 77773; mul.lo.u32 %r4, %r4, 77773; mul.lo.u32 %r4, %r4, 77773;\n"
        "mul.lo.u32 %r4, %r4, 77773; sub.u32 %r0, %r0, 1; setp.ne.u32 %p0, %r0, 0; @%p0 bra CHAIN;\n"
        "mov.u32 %r6, %clock; sub.u32 %r6, %r6, %r5; st.global.u32 [%l0], %r6; st.global.u32 [%l0+4], %r4; "
        "exit;\n"
        "OTHERS: and.b32 %r2, %r1, 31; shl.b32 %r2, %r2, 7; mov.u32 %r3, s; add.u32 %r2, %r2, %r3;\n"
        "LOADS: ld.volatile.shared.u32 %r4, [%r2]; ld.volatile.shared.u32 %r5, [%r2+4];\n"
        "sub.u32 %r0, %r0, 1; setp.ne.u32 %p0, %r0, 0; @%p0 bra LOADS; exit;\n}\n";
    uint32_t took[2];
    for (uint32_t i = 0; i < 2; i++) {
        struct rig r;
        const char *const set[] = {"device.sms=1", NULL};
        rig_open_options(&r, &(struct rp_options){.gpu = "wir", .mech = "wir", .set = set}, text);
        rig_run(&r, "k", 1, i ? 256 : 32, (struct rig_params){.n = 20});
        took[i] = *(const uint32_t *)(uintptr_t)r.buffer;
        rig_close(&r);
    }
    assert_in_range(took[1], took[0], took[0] + took[0] / 20);
}

/* Without reuse a chain takes exactly wir.front + wir.alloc more for each step: four as the paper has it, and
 * three to seven as in Figure 22. With reuse, issue and the stages up to the reuse buffer are all that is
 * left. */
static void test_added_cycles(void **state) {
    (void)state;
    static const struct {
        const char *front, *alloc;
        uint32_t added, hit;
    } rows[] = {
        {"wir.front=1", "wir.alloc=2", 3, 2}, {"wir.front=2", "wir.alloc=2", 4, 3},
        {"wir.front=2", "wir.alloc=3", 5, 3}, {"wir.front=3", "wir.alloc=3", 6, 4},
        {"wir.front=4", "wir.alloc=3", 7, 5},
    };
    assert_int_equal(per_step("base", NULL, false), BASE_LATENCY);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *const set[] = {rows[i].front, rows[i].alloc, NULL};
        assert_int_equal(per_step("wir", set, false), BASE_LATENCY + rows[i].added);
        assert_int_equal(per_step("wir", set, true), rows[i].hit);
    }
    for (uint32_t m = 0; m < MODELS; m++)
        assert_int_equal(per_step(models[m], NULL, false), BASE_LATENCY + 4);
}

/* ---- pending results ---------------------------------------------------------------------------------- */

enum { STEPS = 50 };

/* Two warps compute alike at once: one executes each step, the other waits for it. Without the queue it
 * executes. */
static void test_pending(void **state) {
    (void)state;
    struct rig r;
    open_file(&r, "wir", NULL, "reuse.ptx");
    rig_run(&r, "alike", 1, 64, (struct rig_params){.n = STEPS});
    assert_int_equal(rig_counter(&r, "check.wrong"), 0);
    assert_true(rig_counter(&r, "wir.pending_hits") >= STEPS);
    assert_int_equal(rig_counter(&r, "wir.reused.pending"), rig_counter(&r, "wir.pending_hits"));
    assert_true(rig_counter(&r, "wir.retries") >= STEPS);
    assert_int_equal(rig_counter(&r, "wir.queue.full"), 0);
    rig_close(&r);
    open_file(&r, "wir-rl", NULL, "reuse.ptx");
    rig_run(&r, "alike", 1, 64, (struct rig_params){.n = STEPS});
    assert_int_equal(rig_counter(&r, "wir.pending_hits"), 0);
    assert_int_equal(rig_counter(&r, "wir.reused"), 0);
    rig_close(&r);
}

/* With room for one, others that find a result pending execute, and enter nothing. */
static void test_queue_full(void **state) {
    (void)state;
    static const char *const set[] = {"wir.queue=1", NULL};
    struct rig r;
    open_file(&r, "wir", set, "reuse.ptx");
    rig_run(&r, "alike", 1, 128, (struct rig_params){.n = STEPS});
    uint64_t full = rig_counter(&r, "wir.queue.full"), waited = rig_counter(&r, "wir.reused.pending");
    assert_true(full > 0 && waited > 0);
    assert_int_equal(full + waited, rig_counter(&r, "wir.pending_hits"));
    assert_int_equal(rig_counter(&r, "check.wrong"), 0);
    rig_close(&r);
}

/* ---- divergence, barriers ----------------------------------------------------------------------------- */

/* A copy for the first write of each register that not all lanes take part in, none for those behind it; and
 * none where nothing was written before: of the second warp, which is not full. */
static void test_copies(void **state) {
    (void)state;
    static const struct { uint32_t threads, copies; } rows[] = {{32, 2}, {64, 4}, {40, 2}, {8, 0}};
    for (uint32_t m = 0; m < MODELS; m++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            struct rig r;
            open_file(&r, models[m], NULL, "reuse.ptx");
            rig_run(&r, "nest", 1, rows[i].threads, (struct rig_params){0});
            assert_int_equal(rig_counter(&r, "wir.movs"), rows[i].copies);
            rig_close(&r);
        }
}

/* Copies at the banks read and write as much as moves do, and take no unit. */
static void test_copies_at_banks(void **state) {
    (void)state;
    static const char *const set[] = {"wir.bank_copies=true", NULL};
    uint64_t units[2], reads[2], writes[2], copies[2];
    for (uint32_t m = 0; m < MODELS; m++) {
        for (uint32_t banks = 0; banks < 2; banks++) {
            struct rig r;
            open_file(&r, models[m], banks ? set : NULL, "reuse.ptx");
            rig_run(&r, "nest", 1, 64, (struct rig_params){0});
            units[banks] = rig_counter(&r, "unit.sp");
            reads[banks] = rig_counter(&r, "rf.reads") - rig_counter(&r, "wir.verify.reads");
            writes[banks] = rig_counter(&r, "rf.writes");
            copies[banks] = rig_counter(&r, "wir.movs");
            assert_int_equal(rig_counter(&r, "check.wrong"), 0);
            rig_close(&r);
        }
        assert_int_equal(copies[0], 4);
        assert_int_equal(copies[1], 4);
        assert_int_equal(units[0] - units[1], 4);
        assert_int_equal(reads[0], reads[1]);
        assert_int_equal(writes[0], writes[1]);
    }
}

/* A block's counter of barriers ends at 31: loads behind the 31st are not looked up. */
static void test_saturation(void **state) {
    (void)state;
    enum { WARPS = 3, LAST = 30 }; /* the last count at which loads are looked up */
    uint64_t reused = 0;
    for (uint32_t n = LAST - 1; n <= LAST + 30; n++) {
        struct rig r;
        open_file(&r, "wir", NULL, "reuse.ptx");
        rig_run(&r, "barriers", 1, 32 * WARPS, (struct rig_params){.n = n});
        uint64_t now = rig_counter(&r, "wir.reused.loads");
        assert_int_equal(rig_counter(&r, "wir.bypassed.loads"), n > LAST ? (n - LAST) * WARPS : 0);
        if (n > LAST)
            assert_int_equal(now, reused);
        else
            assert_true(now > reused);
        reused = now;
        rig_close(&r);
    }
}

/* Loads of constant memory and of parameters are loads: models without their reuse do not look them up. All
 * warps read one word. Where equal values do not share a register either, nothing is reused. */
static void test_constant_loads(void **state) {
    (void)state;
    static const char text[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n.const .align 4 .b32 table[4] = {3, 5, 7, 9};\n"
        ".visible .entry look(.param .u64 buffer, .param .u32 n, .param .u32 x)\n{\n"
        ".reg .b32 %r<4>; .reg .b64 %l<4>;\n"
        "ld.param.u64 %l0, [buffer]; ld.param.u32 %r0, [n]; mul.wide.u32 %l1, %r0, 4; mov.u64 %l2, table;\n"
        "add.u64 %l3, %l2, %l1; ld.const.u32 %r1, [%l3]; st.global.u32 [%l0], %r1; exit;\n}\n";
    enum { BLOCKS = 30, WARPS = 8, ALL = BLOCKS * WARPS };
    static const struct {
        const char *mech;
        uint64_t least, most; /* loads that go to the constant cache */
    } rows[] = {{"base", ALL, ALL},    {"wir-r", ALL, ALL},    {"wir-novsb", ALL, ALL},
                {"wir-rpv", ALL, ALL}, {"wir-rl", 1, ALL - 1}, {"wir", 1, ALL / 2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rig r;
        const char *set[] = {"device.sms=1", NULL};
        rig_open_options(&r,
                         &(struct rp_options){.gpu = "wir",
                                              .mech = strcmp(rows[i].mech, "base") ? rows[i].mech : NULL,
                                              .set = set},
                         text);
        rig_run(&r, "look", BLOCKS, 32 * WARPS, (struct rig_params){.n = 2});
        assert_int_equal(*(const uint32_t *)(uintptr_t)r.buffer, 7);
        assert_in_range(rig_counter(&r, "const.accesses"), rows[i].least, rows[i].most);
        if (!strcmp(rows[i].mech, "wir-novsb"))
            assert_int_equal(rig_counter(&r, "wir.reused"), 0);
        rig_close(&r);
    }
}

/* ---- everything else, by results ---------------------------------------------------------------------- */

/* Machines at their edges: structures of one entry, weak hashes, long and short ways. moves: a counter that
 * must show it. */
static const struct {
    const char *set[SETTINGS], *moves;
} edges[] = {
    {{NULL}, "wir.reused"},
    {{"wir.hash_bits=1", NULL}, "wir.vsb.collisions"},
    {{"wir.hash_bits=3", "wir.vsb_entries=8", "wir.vc_entries=1", NULL}, "wir.vsb.collisions"},
    {{"wir.rb_entries=1", "wir.vsb_entries=1", "wir.queue=1", NULL}, NULL},
    {{"wir.rb_entries=7", "wir.vsb_entries=5", "wir.vc_entries=64", NULL}, NULL},
    {{"wir.ports=1", "wir.front=16", "wir.alloc=16", NULL}, "wir.reused"},
    {{"wir.front=1", "wir.alloc=1", "wir.release=0", NULL}, "wir.reused"},
    {{"wir.release=64", "wir.predicates=true", NULL}, "wir.reused"},
    {{"wir.immediate_bits=0", NULL}, NULL},
    {{"rf.collectors=1", "wir.queue=2", NULL}, "wir.reused"},
    {{"issue.policy=lrr", "issue.width=2", "issue.schedulers=4", NULL}, "wir.reused"},
};

static void test_edges(void **state) {
    (void)state;
    for (size_t e = 0; e < sizeof edges / sizeof *edges; e++) {
        uint64_t moved = 0;
        for (uint32_t k = 0; k < KERNELS; k++) {
            struct rig r;
            const char *mech = models[k % 2 ? (e + k) % MODELS : 0];
            open_file(&r, mech, edges[e].set, kernels[k].file);
            for (uint32_t times = 0; times < 2; times++) {
                run_kernel(&r, k);
                expect_right(&r, k, mech);
                moved += edges[e].moves ? rig_counter(&r, edges[e].moves) : 1;
            }
            rig_close(&r);
        }
        if (!moved)
            fail_msg("%s is 0 in machine %zu", edges[e].moves, e);
    }
}

/* Warps of fewer lanes reuse results, too, but only those computed for as many: a warp of all lanes must not
 * take what one of 16 has. Every block is a full warp and one of 16 lanes, which compute the same; in half of
 * the blocks the first 16 lanes of the full warp exit early. */
static void test_fewer_lanes(void **state) {
    (void)state;
    static const char text[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n"
        ".visible .entry few(.param .u64 buffer, .param .u32 n, .param .u32 x)\n{\n"
        ".reg .b32 %r<12>; .reg .b64 %l<4>; .reg .pred %p<4>;\n"
        "ld.param.u64 %l0, [buffer]; ld.param.u32 %r0, [n]; ld.param.u32 %r1, [x];\n"
        "mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mad.lo.u32 %r5, %r3, %r4, %r2;\n"
        "and.b32 %r6, %r3, 1; setp.ne.u32 %p0, %r6, 0; setp.lt.u32 %p1, %r2, 16; and.pred %p2, %p0, %p1;\n"
        "@%p2 exit;\n"
        "mov.u32 %r7, 1;\n"
        "LOOP: mad.lo.u32 %r7, %r7, %r1, %r0; xor.b32 %r8, %r7, %r1; add.u32 %r7, %r7, %r8;\n"
        "sub.u32 %r0, %r0, 1; setp.ne.u32 %p3, %r0, 0; @%p3 bra LOOP;\n"
        "mul.wide.u32 %l1, %r5, 4; add.u64 %l2, %l0, %l1; st.global.u32 [%l2], %r7; exit;\n}\n";
    enum { BLOCKS = 60, THREADS = 48, N = 9, X = 5 };
    uint32_t want = 1;
    for (uint32_t n = N; n; n--) {
        want = want * X + n;
        want += want ^ X;
    }
    struct rig r;
    rig_open_options(&r, &(struct rp_options){.gpu = "wir", .mech = "wir", .check = true}, text);
    rig_run(&r, "few", BLOCKS, THREADS, (struct rig_params){.n = N, .x = X});
    for (uint32_t i = 0; i < BLOCKS * THREADS; i++) {
        bool exits = i / THREADS % 2 && i % THREADS < 16;
        uint32_t got;
        memcpy(&got, (const void *)(uintptr_t)(r.buffer + 4 * i), 4);
        assert_int_equal(got, exits ? RIG_FILL : want);
    }
    assert_int_equal(rig_counter(&r, "check.wrong"), 0);
    rig_run(&r, "few", BLOCKS, 16, (struct rig_params){.n = N, .x = X});
    assert_int_equal(rig_counter(&r, "check.wrong"), 0);
    assert_true(rig_counter(&r, "wir.reused") * 5 > rig_counter(&r, "sm.insts.warp"));
    assert_int_equal(rig_counter(&r, "wir.bypassed.divergent"), 0);
    rig_close(&r);
}

/* Registers of the SM as many as its warps name, one more, and 64 more: results have to wait, registers are
 * overwritten in place, and everything ends, right. */
static void test_few_registers(void **state) {
    (void)state;
    enum { LEAST = 32 }; /* that an SM can have */
    static const uint32_t spare[] = {0, 1, 64};
    uint32_t nregs[KERNELS], warps[KERNELS];
    for (uint32_t k = 0; k < KERNELS; k++) {
        struct rig r;
        open_file(&r, "base", NULL, kernels[k].file);
        run_kernel(&r, k);
        nregs[k] = rp_module_kernel(r.m, kernels[k].kernel)->plain.prog->nregs;
        warps[k] = (kernels[k].block + WARP_LANES - 1) / WARP_LANES;
        rig_close(&r);
    }
    uint64_t starved = 0, in_place = 0, low = 0;
    for (uint32_t k = 0; k < KERNELS; k++)
        for (uint32_t m = 0; m < MODELS; m++)
            for (uint32_t s = 0; s < 3; s++) {
                struct rig r;
                char file[40], block[40];
                uint32_t n = warps[k] * nregs[k], blocks = n < LEAST ? (LEAST + n - 1) / n : 1;
                n *= blocks;
                snprintf(file, sizeof file, "sm.registers=%u", (n + spare[s]) * WARP_LANES);
                snprintf(block, sizeof block, "block.registers=%u", n * WARP_LANES);
                const char *const set[] = {file, block, "sm.register_unit=32", "sm.warp_unit=1", NULL};
                open_file(&r, models[m], set, kernels[k].file);
                r.g->info.regs_per_block = 32768; /* or it would be compiled for a multiple of eight */
                run_kernel(&r, k);
                expect_right(&r, k, models[m]);
                starved += rig_counter(&r, "wir.starved");
                in_place += rig_counter(&r, "wir.writes.inplace");
                low += rig_counter(&r, "wir.low.cycles");
                assert_true(rig_counter(&r, "wir.regs.peak") <= n + spare[s]);
                rig_close(&r);
            }
    assert_true(starved && in_place && low);
}

/* ---- energy ------------------------------------------------------------------------------------------- */

/* What the structures cost is their accesses times Table III, and 0 when these figures are. */
static void test_energy(void **state) {
    (void)state;
    static const struct {
        const char *counter, *free;
        double pj;
    } table[] = {
        {"wir.rename.ops", "wir.pj.rename=0", 3.5}, {"wir.rb.ops", "wir.pj.rb=0", 4.71},
        {"wir.hash.ops", "wir.pj.hash=0", 4.85},    {"wir.vsb.ops", "wir.pj.vsb=0", 4.96},
        {"wir.alloc.ops", "wir.pj.alloc=0", 1.35},  {"wir.refcount.ops", "wir.pj.refcount=0", 0.32},
        {"wir.vc.ops", "wir.pj.vc=0", 2.93},
    };
    enum { ROWS = sizeof table / sizeof *table };
    for (uint32_t without = 0; without <= ROWS; without++) {
        const char *const set[] = {without < ROWS ? table[without].free : NULL, NULL};
        struct rig r;
        struct rp_energy e;
        double sum = 0;
        open_file(&r, "wir", set, "reuse.ptx");
        rig_run(&r, "wide", 5, 136, (struct rig_params){.n = 12, .x = 7});
        for (uint32_t i = 0; i < ROWS; i++) {
            assert_true(rig_counter(&r, table[i].counter) > 0);
            sum += i == without ? 0 : (double)rig_counter(&r, table[i].counter) * table[i].pj * 1e-12;
        }
        for (uint32_t account = RP_ENERGY_PHYSICAL; account <= RP_ENERGY_GPUWATTCH; account++) {
            uint32_t i = 0;
            while (rp_energy(r.g, account, i, &e) && strcmp(e.name, "mechanism"))
                i++;
            assert_string_equal(e.name, "mechanism");
            assert_true(e.launch > sum * 0.999999 && e.launch < sum * 1.000001);
        }
        rig_close(&r);
    }
}

/* ---- time that is skipped or cut ---------------------------------------------------------------------- */

/* What one launch of a fresh machine counted. */
struct sample {
    uint64_t cycles;
    uint32_t n;
    struct rp_counter of[RIG_COUNTERS];
};

static void take(struct sample *to, uint32_t k, const char *mech, const char *const *set, bool sleep,
                 uint64_t max_cycles) {
    struct rig r;
    open_file(&r, mech, set, kernels[k].file);
    r.g->opt.max_cycles = max_cycles;
    r.g->machine = machine_create(&r.g->config, &r.g->mechs, true, 1);
    r.g->machine->core.sleep = sleep;
    to->cycles = run_kernel(&r, k);
    for (to->n = 0; rp_counter(r.g, to->n, &to->of[to->n]); to->n++)
        assert_true(to->n + 1 < RIG_COUNTERS);
    expect_right(&r, k, mech);
    rig_close(&r);
}

/* Sleeping through cycles in which nothing happens changes no counter, wherever timing ends. */
static void test_sleep(void **state) {
    (void)state;
    static const char *const few[] = {"sm.registers=2560", "block.registers=2560", "sm.register_unit=32",
                                      "sm.warp_unit=1", NULL};
    static const struct {
        const char *const *set;
        uint64_t max_cycles;
    } rows[] = {{NULL, 0}, {NULL, 211}, {NULL, 1422}, {few, 0}, {few, 997}};
    static struct sample lazy, eager;
    for (uint32_t k = 0; k < KERNELS; k++)
        for (uint32_t m = 0; m < MODELS; m++)
            for (uint32_t c = (k + m) % 2; c < sizeof rows / sizeof *rows; c += 2) {
                if (rows[c].set && kernels[k].block > 128)
                    continue;
                take(&lazy, k, models[m], rows[c].set, true, rows[c].max_cycles);
                take(&eager, k, models[m], rows[c].set, false, rows[c].max_cycles);
                assert_int_equal(lazy.cycles, eager.cycles);
                for (uint32_t i = 0; i < lazy.n; i++)
                    if (lazy.of[i].launch != eager.of[i].launch)
                        fail_msg("%s, %s, row %u: %s is %llu with sleep, %llu without", kernels[k].kernel,
                                 models[m], c, lazy.of[i].name, (unsigned long long)lazy.of[i].launch,
                                 (unsigned long long)eager.of[i].launch);
            }
}

/* Timing that ends in the middle of a launch leaves nothing behind: results are right, and so are later
 * launches, as if the machine were new but for its caches. */
static void test_cuts(void **state) {
    (void)state;
    for (uint32_t k = 0; k < KERNELS; k++)
        for (uint32_t m = 0; m < MODELS; m++) {
            struct rig r;
            open_file(&r, models[m], NULL, kernels[k].file);
            uint64_t full = run_kernel(&r, k);
            for (uint64_t c = 1; c < 12; c++) {
                r.g->opt.max_cycles = rp_totals(r.g).cycles + c * full / 12 + c;
                run_kernel(&r, k);
                expect_right(&r, k, models[m]);
                r.g->opt.max_cycles = 0;
                if (c % 3)
                    continue;
                run_kernel(&r, k);
                expect_right(&r, k, models[m]);
                assert_int_equal(rp_totals(r.g).last, RP_TIMED_ALL);
            }
            rig_close(&r);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds_apart), cmocka_unit_test(test_added_cycles),
        cmocka_unit_test(test_pending),     cmocka_unit_test(test_queue_full),
        cmocka_unit_test(test_copies),      cmocka_unit_test(test_copies_at_banks),
        cmocka_unit_test(test_saturation),  cmocka_unit_test(test_constant_loads),
        cmocka_unit_test(test_edges),       cmocka_unit_test(test_few_registers),
        cmocka_unit_test(test_energy),      cmocka_unit_test(test_sleep),
        cmocka_unit_test(test_cuts),        cmocka_unit_test(test_fewer_lanes),
    };
    return cmocka_run_group_tests(tests, run_functionally, NULL);
}
