/* The timed machine against figures worked out by hand: latencies, throughput, conflicts, memory, occupancy.
 *
 * Kernels repeat a piece of code in a loop, and launches with different numbers of repetitions are subtracted
 * from each other, so that what starting, fetching and ending cost cancels out. */
#include <stdio.h>

#include "gpu/mem_spec.h"
#include "timing_rig.h"

/* Registers and parameters as every generated kernel has them. %r4 to %r15, %f2 and %d2 are for the body; %r1
 * is the thread's number. */
static const char head[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".const .align 8 .b8 zeros[512];\n"
    ".global .texref words, flat, solid; .global .surfref pixels;\n"
    ".visible .entry k(.param .u64 buffer, .param .u32 n, .param .u32 x)\n{\n"
    ".reg .b32 %r<32>; .reg .f32 %f<8>; .reg .f64 %d<8>; .reg .b64 %l<16>;\n"
    ".reg .pred %p<4>;\n"
    ".shared .align 16 .b8 table[8192];\n"
    "ld.param.u64 %l0, [buffer]; ld.param.u32 %r0, [n]; ld.param.u32 %r3, [x];\n"
    "mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u64 %l1, %l0;\n"
    "mov.u32 %r4, %r1; xor.b32 %r5, %r1, 5; xor.b32 %r6, %r1, 6; xor.b32 %r7, %r1, 7;\n"
    "xor.b32 %r8, %r1, 8; xor.b32 %r9, %r1, 9; xor.b32 %r10, %r1, 10;\n"
    "xor.b32 %r11, %r1, 11;\n"
    "cvt.rn.f32.u32 %f1, %r1; mov.f32 %f2, %f1;\n"
    "cvt.f64.f32 %d1, %f1; mov.f64 %d2, %d1;\n"
    "cvt.u64.u32 %l3, %r1; mov.u64 %l4, %l3; mov.u64 %l5, %l3;\n";
/* Everything is used, so that nothing is optimised away. */
static const char tail[] =
    "xor.b32 %r4, %r4, %r5; xor.b32 %r4, %r4, %r6; xor.b32 %r4, %r4, %r7;\n"
    "xor.b32 %r4, %r4, %r8; xor.b32 %r4, %r4, %r9; xor.b32 %r4, %r4, %r10;\n"
    "xor.b32 %r4, %r4, %r11; st.global.u32 [%l0+65536], %r4;\n"
    "st.global.f32 [%l0+65540], %f2; st.global.f64 [%l0+65544], %d2;\n"
    "st.global.u64 [%l0+65552], %l4; st.global.u64 [%l0+65568], %l5; st.global.u64 [%l0+65560], %l1;\n"
    "exit;\n}\n";

/* A kernel: begin, then n times k steps. The counter's instructions stand behind the first and the second
 * step, where a chain of steps waits longer than they do. */
static char *loop(const char *begin, const char *step, uint32_t k) {
    struct str s = {0};
    str_printf(&s, "%s%s\nLOOP:\n.pragma \"nounroll\";\n", head, begin);
    for (uint32_t i = 0; i < k; i++) {
        str_printf(&s, "%s\n", step);
        if (i == 0)
            str_printf(&s, "sub.u32 %%r0, %%r0, 1;\n");
        if (i == 1 || k == 1)
            str_printf(&s, "setp.ne.u32 %%p1, %%r0, 0;\n");
    }
    str_printf(&s, "@%%p1 bra LOOP;\n%s", tail);
    char *text = strdup(str_text(&s));
    str_free(&s);
    return text;
}

enum { FEW = 20, MANY = 40, SHORT = 4, LONG = 12 };

static struct rig_params times(uint32_t n) {
    return (struct rig_params){.n = n};
}

/* Cycles, or a counter's gain, of MANY - FEW repetitions of a loop. */
static int64_t slope(struct rig *r, uint32_t grid, uint32_t block, const char *counter) {
    rig_run(r, "k", grid, block, times(1)); /* brings the code into L2 */
    uint64_t few = rig_run(r, "k", grid, block, times(FEW));
    few = counter ? rig_counter(r, counter) : few;
    uint64_t many = rig_run(r, "k", grid, block, times(MANY));
    many = counter ? rig_counter(r, counter) : many;
    return (int64_t)(many - few);
}

enum { TEXTURES = 131072, ROW = 4096, SLICE = 32 * ROW }; /* zeros in the rig's buffer, where textures lie */

/* Integers one after the other; floats in two and three dimensions, filtered; pixels to be written. */
static void bind(struct rig *r) {
    struct rp_tex_desc d = {.addr = r->buffer + TEXTURES,
                            .format = RP_TEX_S32,
                            .channels = 1,
                            .width = 131072,
                            .pitch = ROW,
                            .slice = SLICE,
                            .address = {RP_ADDR_CLAMP, RP_ADDR_CLAMP, RP_ADDR_CLAMP}};
    assert_int_equal(rp_texref_bind(r->m, "words", &d), RP_OK);
    d.width = ROW / 4;
    d.height = 32;
    assert_int_equal(rp_texref_bind(r->m, "pixels", &d), RP_OK);
    d.format = RP_TEX_F32;
    d.linear = true;
    assert_int_equal(rp_texref_bind(r->m, "flat", &d), RP_OK);
    d.depth = 4;
    assert_int_equal(rp_texref_bind(r->m, "solid", &d), RP_OK);
}

/* Makes a GPU of one SM whose clocks tick together, so that every latency is one number. */
static void open_chain(struct rig *r, const char *const *set, const char *text) {
    const char *all[16] = {"clock.icnt=1401", "clock.l2=1401", "clock.dram=2802", "device.sms=1",
                           "l2.partitions=1"};
    for (uint32_t i = 5; set && set[i - 5]; i++)
        all[i] = set[i - 5];
    rig_open(r, "gtx480", all, false, text);
    rig_zero(r); /* chains of loads go on from what they loaded */
    if (rp_module_has_texref(r->m, "words"))
        bind(r);
}

/* Cycles, or a counter's gain, of one step in a chain on one warp of so many threads; must be a whole number.
 */
static int64_t per_step_of(uint32_t threads, const char *const *set, const char *begin, const char *step,
                           const char *counter) {
    int64_t by[2];
    for (int i = 0; i < 2; i++) {
        struct rig r;
        char *text = loop(begin, step, i ? LONG : SHORT);
        open_chain(&r, set, text);
        by[i] = slope(&r, 1, threads, counter);
        rig_close(&r);
        free(text);
    }
    int64_t steps = (LONG - SHORT) * (MANY - FEW);
    assert_int_equal((by[1] - by[0]) % steps, 0);
    return (by[1] - by[0]) / steps;
}

static int64_t per_step(const char *const *set, const char *begin, const char *step, const char *counter) {
    return per_step_of(32, set, begin, step, counter);
}

/* ---- latencies ---------------------------------------------------------------------------------------- */

/* A chain of each class takes its latency, exactly, also one more and one less. */
static void test_chains(void **state) {
    (void)state;
    static const struct {
        const char *parameter, *step;
        int latency, ops; /* ops: instructions of the class in a step */
    } chains[] = {
        {"latency.mov", "xor.b32 %r4, %r4, %r1;", 22, 1},
        {"latency.mov", "shl.b32 %r4, %r4, %r1;", 22, 1},
        {"latency.alu", "add.u32 %r4, %r4, %r1;", 22, 1},
        {"latency.imul", "mul.lo.u32 %r4, %r4, %r1;", 22, 1},
        {"latency.imul", "mad.lo.u32 %r4, %r4, %r1, %r5;", 22, 1},
        {"latency.fp", "fma.rn.f32 %f2, %f2, %f1, %f1;", 22, 1},
        {"latency.sfu", "ex2.approx.ftz.f32 %f2, %f2;", 40, 1},
        {"latency.dp", "fma.rn.f64 %d2, %d2, %d1, %d1;", 30, 1},
        {"latency.cvt", "cvt.rzi.s32.f32 %r4, %f2; cvt.rn.f32.s32 %f2, %r4;", 22, 2},
        {"latency.ctrl", "membar.cta;", 22, 1},
    };
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++)
        for (int d = -1; d <= 1; d++) {
            char set[64];
            snprintf(set, sizeof set, "%s=%d", chains[i].parameter, chains[i].latency + d);
            const char *const sets[] = {set, NULL};
            int64_t got = per_step(d ? sets : NULL, "", chains[i].step, NULL);
            if (got != (chains[i].latency + d) * chains[i].ops)
                fail_msg("%s with %s: %ld", chains[i].step, set, (long)got);
        }
}

/* Predicates are results too: a comparison and the selection that needs it. */
static void test_predicates(void **state) {
    (void)state;
    const char *const set[] = {"latency.mov=31", NULL};
    static const char step[] = "setp.lt.u32 %p2, %r4, %r1; selp.u32 %r4, %r4, %r1, %p2;";
    assert_int_equal(per_step(NULL, "", step, NULL), 2 * 22);
    assert_int_equal(per_step(set, "", step, NULL), 2 * 31);
}

/* Branches that are not taken cost the control latency, taken ones the same when that hides the fetch. */
static void test_branches(void **state) {
    (void)state;
    static const char *const set[] = {"latency.ctrl=50", NULL};
    struct rig r;
    char *text = loop("", "add.u32 %r4, %r4, %r1;", SHORT);
    for (int i = 0; i < 2; i++) {
        open_chain(&r, i ? set : NULL, text);
        /* The last addition of a round and the first of the next have the branch between them. */
        assert_int_equal(slope(&r, 1, 32, NULL), (MANY - FEW) * (3 * 22 + 1 + (i ? 50 : 22)));
        rig_close(&r);
    }
    free(text);
}

/* ---- register banks ----------------------------------------------------------------------------------- */

/* With wid all registers of a warp lie in one bank: each further operand costs a cycle. */
static void test_bank_conflicts(void **state) {
    (void)state;
    static const char *const wid[] = {"rf.mapping=wid", NULL}, *const one[] = {"rf.banks=1", NULL};
    static const struct {
        const char *step;
        int conflicts;
    } cases[] = {
        {"add.u32 %r4, %r4, 7;", 0},           {"add.u32 %r4, %r4, %r4;", 0},
        {"add.u32 %r4, %r4, %r1;", 1},         {"mad.lo.u32 %r4, %r4, %r1, %r1;", 1},
        {"mad.lo.u32 %r4, %r4, %r1, %r5;", 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int k = 0; k < 3; k++) {
            const char *const *set = k == 0 ? NULL : k == 1 ? wid : one;
            int more = k ? cases[i].conflicts : 0;
            assert_int_equal(per_step(set, "", cases[i].step, NULL), 22 + more);
            assert_int_equal(per_step(set, "", cases[i].step, "rf.read.conflicts"), more);
            /* Of three operands two wait for a cycle and one for another. */
            assert_int_equal(per_step(set, "", cases[i].step, "rf.read.retries"), more * (more + 1) / 2);
        }
    /* Both words of a double are written to one bank, one after the other; four are read. */
    assert_int_equal(per_step(wid, "", "fma.rn.f64 %d2, %d2, %d1, %d1;", NULL), 30 + 3 + 1);
    assert_int_equal(per_step(wid, "", "fma.rn.f64 %d2, %d2, %d1, %d1;", "rf.writes"), 2);
    assert_int_equal(per_step(wid, "", "fma.rn.f64 %d2, %d2, %d1, %d1;", "rf.read.retries"), 3 + 2 + 1);
    assert_int_equal(per_step(wid, "", "fma.rn.f64 %d2, %d2, %d1, %d1;", "rf.write.retries"), 1);
}

/* ---- throughput --------------------------------------------------------------------------------------- */

/* Cycles of one round of a loop on a full SM, in which a step is repeated LONG times. */
static double round_of(const char *const *set, const char *step) {
    const char *all[8] = {"issue.policy=lrr"}; /* warps end together */
    for (uint32_t i = 0; set[i]; i++)
        all[i + 1] = set[i];
    struct rig r;
    char *text = loop("", step, LONG);
    open_chain(&r, all, text);
    double cycles = (double)slope(&r, 2, 768, NULL) / (MANY - FEW);
    rig_close(&r);
    free(text);
    return cycles;
}

/* Many warps keep a unit as busy as it can be, and no busier. */
static void test_throughput(void **state) {
    (void)state;
    static const char one[] = "sm.blocks=8";
    enum { WARPS = 48, SP_EXTRA = 2 }; /* the loop's own additions and comparisons */
    static const struct {
        const char *set[6], *step;
        double cycles; /* of one round: what the busiest unit needs */
    } cases[] = {
        /* two units, a warp every other cycle each */
        {{one}, "add.u32 %r4, %r4, %r1;", WARPS * (LONG + SP_EXTRA)},
        {{"unit.sp=1"}, "add.u32 %r4, %r4, %r1;", 2 * WARPS * (LONG + SP_EXTRA)},
        {{"unit.sp=1", "unit.sp_lanes=8"}, "add.u32 %r4, %r4, %r1;", 4 * WARPS * (LONG + SP_EXTRA)},
        {{one}, "ex2.approx.ftz.f32 %f2, %f2;", 8 * WARPS * LONG},
        {{"unit.sfu_lanes=8"}, "ex2.approx.ftz.f32 %f2, %f2;", 4 * WARPS * LONG},
        {{one}, "fma.rn.f64 %d2, %d2, %d1, %d1;", 8 * WARPS * LONG},
        {{"unit.dp=2"}, "fma.rn.f64 %d2, %d2, %d1, %d1;", 4 * WARPS * LONG},
        {{one}, "ld.volatile.shared.u32 %r4, [table];", 2 * WARPS * LONG},
        {{"unit.mem_lanes=32"}, "ld.volatile.shared.u32 %r4, [table];", WARPS * LONG},
        /* units enough: the schedulers are the limit, and one of them */
        {{"unit.sp=4", "unit.sp_lanes=32", "fetch.groups=2", "latency.ctrl=2", "latency.alu=4"},
         "add.u32 %r4, %r4, %r1;",
         WARPS * (LONG + SP_EXTRA + 1) / 2},
        {{"unit.sp=4", "unit.sp_lanes=32", "issue.schedulers=1", "latency.ctrl=2", "latency.alu=4"},
         "add.u32 %r4, %r4, %r1;",
         WARPS * (LONG + SP_EXTRA + 1)},
        /* fetch is: two instructions of one warp in a cycle, or one */
        {{"unit.sp=4", "unit.sp_lanes=32", "fetch.width=1", "latency.ctrl=2", "latency.alu=4"},
         "add.u32 %r4, %r4, %r1;",
         WARPS * (LONG + SP_EXTRA + 1)},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double got = round_of(cases[i].set, cases[i].step);
        if (got < cases[i].cycles * 0.997 || got > cases[i].cycles * 1.02)
            fail_msg("case %zu, %s: %g cycles, not %g", i, cases[i].step, got, cases[i].cycles);
    }
}

/* Where collectors are divided, instructions of one kind do not take those of another. Twelve warps load from
 * one bank of shared memory, which is slow, and hold every collector that they may have; a thirteenth adds,
 * and tells how long that took. */
static void test_collectors(void **state) {
    (void)state;
    static const char text[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n"
        ".visible .entry k(.param .u64 buffer, .param .u32 n, .param .u32 x)\n{\n"
        ".reg .b32 %r<8>; .reg .b64 %l<2>; .reg .pred %p<3>; .shared .align 16 .b8 table[4096];\n"
        "ld.param.u64 %l0, [buffer]; ld.param.u32 %r0, [n]; mov.u32 %r1, %tid.x; mov.u32 %r2, table;\n"
        "and.b32 %r3, %r1, 31; mad.lo.u32 %r2, %r3, 128, %r2; setp.ge.u32 %p1, %r1, 384; @%p1 bra ADD;\n"
        "LOAD: ld.volatile.shared.u32 %r4, [%r2]; sub.u32 %r0, %r0, 1; setp.ne.u32 %p2, %r0, 0; @%p2 bra "
        "LOAD;\n"
        "exit;\n"
        "ADD: mov.u32 %r5, %clock;\n"
        "MORE: sub.u32 %r0, %r0, 1; setp.ne.u32 %p2, %r0, 0; @%p2 bra MORE;\n"
        "mov.u32 %r6, %clock; sub.u32 %r6, %r6, %r5; st.global.u32 [%l0], %r6; exit;\n}\n";
    static const char *const sets[][4] = {{"rf.collectors=4", "unit.mem_queue=1"},
                                          {"rf.collectors=4", "unit.mem_queue=1", "rf.collectors_mem=2"},
                                          {"rf.collectors=4", "unit.mem_queue=1", "rf.collectors_sfu=2"},
                                          {"rf.collectors=40", "unit.mem_queue=1"}};
    uint32_t took[4];
    for (int i = 0; i < 4; i++) {
        struct rig r;
        rig_open(&r, "gtx480", sets[i], false, text);
        rig_run(&r, "k", 1, 416, times(MANY));
        memcpy(&took[i], (const void *)(uintptr_t)r.buffer, sizeof took[i]);
        rig_close(&r);
    }
    assert_true(took[0] > 1.2 * took[3]);                              /* loads have all of them */
    assert_true(took[1] < 1.01 * took[3] && took[1] > 0.99 * took[3]); /* they have two, the addition four */
    assert_int_equal(took[2], took[0]); /* special functions alone have their own */
}

/* ---- shared memory ------------------------------------------------------------------------------------ */

/* A stride of d words has d lanes in each bank they touch; words read by several lanes are read once. */
static void test_shared(void **state) {
    (void)state;
    static const char step[] = "ld.volatile.shared.u32 %r5, [%r4]; add.u32 %r4, %r4, %r5;";
    for (int d = 0; d <= 32; d = d ? 2 * d : 1) {
        char begin[128];
        snprintf(begin, sizeof begin, "mov.u32 %%r4, table; mad.lo.u32 %%r4, %%r1, %d, %%r4;", d * 4);
        int passes = d ? d : 1;
        assert_int_equal(per_step(NULL, begin, step, NULL), 36 + passes - 1 + 22);
        assert_int_equal(per_step(NULL, begin, step, "shared.passes"), passes);
        assert_int_equal(per_step(NULL, begin, step, "shared.accesses"), 1);
    }
    static const char *const set[] = {"latency.shared=37", NULL};
    static const char plain[] = "mov.u32 %r4, table;";
    assert_int_equal(per_step(set, plain, step, NULL), 37 + 22);
    /* 17 lanes on one word, 15 on others of the same bank; three words in one bank */
    static const char two[] = "mov.u32 %r4, table; setp.lt.u32 %p2, %r1, 17; @%p2 mov.u32 %r1, 0;"
                              "min.u32 %r1, %r1, 18; shl.b32 %r1, %r1, 7; add.u32 %r4, %r4, %r1;";
    assert_int_equal(per_step(NULL, two, step, "shared.passes"), 3);
    /* Atomics on one word follow one another. */
    static const char atom[] = "atom.shared.add.u32 %r5, [table], 0; add.u32 %r4, %r4, %r5;";
    assert_int_equal(per_step(NULL, "", atom, "shared.passes"), 32);
}

/* ---- caches and DRAM ---------------------------------------------------------------------------------- */

/* Cycles that the memory system alone takes for accesses of two words each, one after the other. */
static uint64_t client_alone(const struct gpu_config *c, enum mem_client client, const uint64_t *addr,
                             uint32_t n, uint8_t kind, uint8_t flags) {
    struct mem_spec s = mem_spec(c);
    struct arena arena = {0};
    struct memsys *m = memsys_create(&arena, &s);
    uint64_t now = 0, sum = 0, last = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct coalescer_inst ci = {.mask = 1, .bytes = 8, .kind = kind, .flags = flags};
        struct coalescer_spec cs = {.line = (uint32_t)c->cache_line};
        uint64_t all[MEM_LANES] = {addr[i]};
        struct mem_access x[COALESCER_MAX];
        struct mem_done done;
        assert_int_equal(coalesce(&cs, &ci, all, x), 1);
        uint64_t start = now;
        assert_true(mem_accepted(memsys_access(m, now, 0, client, x, 0)));
        while (!memsys_pop(m, now, 0, client, &done))
            memsys_tick(m, now++);
        last = done.ready - start;
        sum += last;
    }
    arena_free(&arena);
    return n > 1 ? sum : last;
}

static uint64_t memory_alone(const struct gpu_config *c, const uint64_t *addr, uint32_t n, uint8_t kind,
                             uint8_t flags) {
    return client_alone(c, MEM_DATA, addr, n, kind, flags);
}

/* What the SM adds to a load: the cycle in which operands are read. */
enum { SM_LOAD = 1 };

/* Dependent loads that hit in L1, and those that go past it to L2. */
static void test_cache_latency(void **state) {
    (void)state;
    /* Address and data are one register pair: the first pointer points to itself. */
    static const char begin[] = "st.global.u64 [%l1], %l1;", hit[] = "ld.global.u64 %l1, [%l1];",
                      past[] = "ld.volatile.global.u64 %l1, [%l1];";
    static const char *const slower[] = {"l1.latency=81", NULL};
    assert_int_equal(per_step_of(1, NULL, begin, hit, NULL), 80 + SM_LOAD);
    assert_int_equal(per_step_of(1, slower, begin, hit, NULL), 81 + SM_LOAD);
    struct rig r;
    char *text = loop("", "", 1);
    open_chain(&r, NULL, text);
    uint64_t twice[2] = {4096, 4096}, once = memory_alone(r.g->cfg, twice, 1, MEM_LOAD, MEM_BYPASS);
    int64_t l2 = (int64_t)(memory_alone(r.g->cfg, twice, 2, MEM_LOAD, MEM_BYPASS) - once);
    rig_close(&r);
    free(text);
    /* Out of the SM, into L2 and the network back, and into registers: a cycle each; a sector is two flits.
     */
    assert_int_equal(l2, 4 + 2 * 8 + 120 + 2);
    assert_int_equal(per_step_of(1, NULL, begin, past, NULL), l2 + SM_LOAD);
}

/* A fence lets the warp go on in the cycle in which its store is answered. */
static void test_fence(void **state) {
    (void)state;
    struct rig r;
    char *text = loop("", "", 1);
    open_chain(&r, NULL, text);
    uint64_t twice[2] = {4096, 4096}, once = memory_alone(r.g->cfg, twice, 1, MEM_STORE, 0);
    int64_t store = (int64_t)(memory_alone(r.g->cfg, twice, 2, MEM_STORE, 0) - once);
    rig_close(&r);
    free(text);
    static const char *const faster[] = {"l2.latency=119", NULL};
    static const char step[] = "st.global.u64 [%l1], %l1; membar.gl;";
    assert_int_equal(per_step_of(1, NULL, "", step, NULL), store + SM_LOAD);
    assert_int_equal(per_step_of(1, faster, "", step, NULL), store - 1 + SM_LOAD);
}

/* Indexed constants come from their cache; addresses that differ are served one after the other. */
static void test_constants(void **state) {
    (void)state;
    static const char *const slower[] = {"constcache.latency=37", NULL};
    static const char same[] = "mov.u64 %l5, zeros;", step[] = "ld.const.u64 %l5, [%l5];";
    static const char apart[] = "mov.u64 %l5, zeros; mad.wide.u32 %l5, %r1, 8, %l5;",
                      again[] = "ld.const.u64 %l6, [%l5]; add.u64 %l5, %l5, %l6;";
    assert_int_equal(per_step(NULL, same, step, NULL), 36 + SM_LOAD);
    assert_int_equal(per_step(slower, same, step, NULL), 37 + SM_LOAD);
    int64_t one = per_step_of(1, NULL, apart, again, NULL);
    assert_int_equal(per_step_of(8, NULL, apart, again, NULL), one + 7);
    assert_int_equal(per_step_of(32, NULL, apart, again, NULL), one + 31);
}

/* A chain through memory that was never touched: every load goes to DRAM. */
static void test_dram_latency(void **state) {
    (void)state;
    enum { STRIDE = 4352, FIRST = 16 }; /* not a multiple of anything in DRAM */
    uint64_t addr[FIRST + MANY];
    struct rig r;
    char *text = loop("", "ld.global.u64 %l1, [%l1];", 1);
    uint64_t cycles[2], alone[2], lengths[2] = {FEW, MANY};
    for (int i = 0; i < 2; i++) {
        open_chain(&r, NULL, text);
        for (uint32_t k = 0; k <= MANY; k++) {
            addr[k] = r.buffer + k * STRIDE;
            memcpy((void *)(uintptr_t)addr[k], &(uint64_t){addr[k] + STRIDE}, 8);
        }
        cycles[i] = rig_run(&r, "k", 1, 1, times((uint32_t)lengths[i]));
        alone[i] = memory_alone(r.g->cfg, addr, (uint32_t)lengths[i], MEM_LOAD, 0);
        assert_int_equal(rig_counter(&r, "dram.reads") > lengths[i], 1);
        rig_close(&r);
    }
    free(text);
    assert_int_equal(cycles[1] - cycles[0], alone[1] - alone[0] + SM_LOAD * (MANY - FEW));
}

/* ---- textures ----------------------------------------------------------------------------------------- */

static const char fetch_word[] = "tex.1d.v4.s32.s32 {%r4, %r12, %r13, %r14}, [words, {%r4}];";
/* Each lane a column or a row of its own, between texels where the texture is filtered. */
static const char
    by_column[] = "cvt.rn.f32.u32 %f3, %r1; add.f32 %f3, %f3, 0f41000000; mov.f32 %f4, 0f40000000;"
                  "mov.f32 %f2, 0f00000000;",
    by_row[] =
        "and.b32 %r15, %r1, 31; cvt.rn.f32.u32 %f4, %r15; mov.f32 %f3, 0f41000000; mov.f32 %f2, 0f00000000;";
static const char sample_flat[] =
    "tex.2d.v4.f32.f32 {%f5, %f6, %f7, %f2}, [flat, {%f3, %f4}]; add.f32 %f3, %f3, %f5;",
                  sample_solid[] = "tex.3d.v4.f32.f32 {%f5, %f6, %f7, %f2}, [solid, {%f3, %f4, %f2, %f2}];"
                                   "add.f32 %f3, %f3, %f5;";

/* A hit takes the unit and the cache; each parameter counts. A miss takes what the memory system takes. */
static void test_texture_latency(void **state) {
    (void)state;
    static const char *const cache[] = {"texcache.latency=81", NULL}, *const unit[] = {"latency.texture=59",
                                                                                       NULL};
    static const char zero[] = "mov.u32 %r4, 0;";
    assert_int_equal(per_step(NULL, zero, fetch_word, NULL), 80 + 60 + SM_LOAD);
    assert_int_equal(per_step(cache, zero, fetch_word, NULL), 81 + 60 + SM_LOAD);
    assert_int_equal(per_step(unit, zero, fetch_word, NULL), 80 + 59 + SM_LOAD);
    /* Outside there is nothing to fetch. */
    static const char beyond[] = "mov.u32 %r4, -1;", outside[] = "or.b32 %r4, %r4, %r15;";
    char step[256];
    snprintf(step, sizeof step, "%s%s", fetch_word, outside);
    char begin[64];
    snprintf(begin, sizeof begin, "mov.u32 %%r15, -1;%s", beyond);
    assert_int_equal(per_step(NULL, begin, step, NULL), 60 + 22);
    assert_int_equal(per_step(NULL, begin, step, "texcache.reads"), 0);

    enum { STRIDE = 4352 };
    uint64_t addr[MANY], cycles[2], alone[2], lengths[2] = {FEW, MANY};
    char *text = loop(zero, fetch_word, 1);
    for (int i = 0; i < 2; i++) {
        struct rig r;
        open_chain(&r, NULL, text);
        for (uint32_t k = 0; k < MANY; k++) {
            addr[k] = r.buffer + TEXTURES + k * STRIDE;
            memcpy((void *)(uintptr_t)addr[k], &(uint32_t){(k + 1) * STRIDE / 4}, 4);
        }
        cycles[i] = rig_run(&r, "k", 1, 1, times((uint32_t)lengths[i]));
        alone[i] = client_alone(r.g->cfg, MEM_TEXTURE, addr, (uint32_t)lengths[i], MEM_LOAD, 0);
        assert_int_equal(rig_counter(&r, "texcache.read_misses"), lengths[i]);
        rig_close(&r);
    }
    free(text);
    assert_int_equal(cycles[1] - cycles[0], alone[1] - alone[0] + (SM_LOAD + 60) * (MANY - FEW));
}

/* Lines a warp touches, and what they cost: the unit takes a quad a cycle, the cache a line. */
static void test_texture_lines(void **state) {
    (void)state;
    static const struct {
        const char *begin, *step;
        int lines, cycles; /* lines of one step; cycles it keeps the texture unit and its cache busy */
    } cases[] = {
        {"", fetch_word, 1, 8},
        {"shl.b32 %r4, %r1, 5; shl.b32 %r15, %r1, 5;",
         "tex.1d.v4.s32.s32 {%r4, %r12, %r13, %r14}, [words, {%r4}]; add.u32 %r4, %r4, %r15;", 32, 32},
        {by_column, sample_flat, 4, 8},   /* texels 7 to 39 of two rows */
        {by_row, sample_flat, 32, 32},    /* 31 rows and that beyond the edge, which is the first again */
        {by_column, sample_solid, 8, 16}, /* those of two slices; depth is the fourth result, 1 */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(per_step(NULL, cases[i].begin, cases[i].step, "texture.accesses"), 1);
        assert_int_equal(per_step(NULL, cases[i].begin, cases[i].step, "texture.lines"), cases[i].lines);
        assert_int_equal(per_step(NULL, cases[i].begin, cases[i].step, "texcache.reads"), cases[i].lines);
        const char *all[] = {"issue.policy=lrr", "texcache.size=1M", "texcache.ways=512", NULL};
        struct rig r;
        char *text = loop(cases[i].begin, cases[i].step, LONG);
        open_chain(&r, all, text);
        double got = (double)slope(&r, 4, 192, NULL) / (MANY - FEW), want = 24.0 * LONG * cases[i].cycles;
        rig_close(&r);
        free(text);
        if (got < want * 0.997 || got > want * 1.02)
            fail_msg("case %zu: %g cycles, not %g", i, got, want);
    }
}

/* Surface loads use the texture cache; stores go to memory as those of global memory do. */
static void test_surfaces(void **state) {
    (void)state;
    static const char begin[] = "shl.b32 %r12, %r1, 2; mov.u32 %r13, 3;",
                      load[] = "suld.b.1d.b32.trap {%r4}, [pixels, {%r4}];",
                      store[] = "sust.b.2d.b32.trap [pixels, {%r12, %r13}], {%r11};",
                      reduce[] = "sured.b.2d.add.u32.trap [pixels, {%r12, %r13}], %r11;";
    assert_int_equal(per_step(NULL, "mov.u32 %r4, 0;", load, "texcache.reads"), 1);
    assert_int_equal(per_step(NULL, "mov.u32 %r4, 0;", load, NULL), 80 + 60 + SM_LOAD);
    assert_int_equal(per_step(NULL, begin, store, "texcache.reads"), 0);
    assert_int_equal(per_step(NULL, begin, store, "global.lines"), 1);
    assert_int_equal(per_step(NULL, begin, store, "l1.writes"), 1);
    assert_int_equal(per_step(NULL, begin, reduce, "l1.atomics"), 1);
}

/* ---- bandwidth ---------------------------------------------------------------------------------------- */

/* The share of DRAM's peak that a kernel reaches once it runs: from two launches, one twice as long, on
 * memory of their own, so that L2 holds none of it. What L2 writes back late counts where it happens. */
static double share_of_peak(const char *gpu, const char *kernel, uint32_t grid, uint64_t bytes, uint32_t n) {
    enum { THREADS = 256 };
    struct rig r;
    char *text = rig_file("stream.ptx");
    rig_open(&r, gpu, NULL, false, text);
    const struct gpu_config *c = r.g->cfg;
    double peak = c->dram_bus / 8.0 * 2 * c->clock_dram / c->clock_sm; /* bytes a cycle */
    double burst = c->dram_bus / c->l2_partitions * c->dram_burst / 8, cycles[2], moved[2];
    bool rounds = !strcmp(kernel, "stream"); /* n is how long it runs; else the grid is */
    for (uint32_t i = 0; i < 2; i++) {
        struct rig_params p = {.buffer = rp_mem_alloc(r.g, bytes * (i + 1), RP_MEM_DEVICE), .n = n * (i + 1)};
        cycles[i] = (double)rig_run(&r, kernel, rounds ? grid : grid * (i + 1), THREADS, p);
        moved[i] =
            burst * (double)(rig_counter(&r, "dram.read_bursts") + rig_counter(&r, "dram.write_bursts"));
        assert_true(moved[i] < cycles[i] * peak);
    }
    assert_true(moved[1] > (double)bytes); /* whatever L2 kept */
    rig_close(&r);
    free(text);
    return (moved[1] - moved[0]) / (cycles[1] - cycles[0]) / peak;
}

/* Kernels with warps enough get at least 85% of DRAM's peak: those that only read, eight words for each
 * thread or a single one, and copies. GDDR5X moves twice as much in a tick, so that turning the bus around
 * between reads and writes costs copies twice the share. */
static void test_bandwidth(void **state) {
    (void)state;
    enum { K = 1024, WORDS = 8, ROUNDS = 48, STREAM = 90 };
    static const struct {
        const char *gpu, *kernel;
        uint32_t grid, n;
        uint64_t bytes;
        double least;
    } cases[] = {
        {"gtx480", "stream", STREAM, ROUNDS, (uint64_t)STREAM * K * WORDS * ROUNDS, 0.85},
        {"gtx480", "read", 2 * K, 0, 2 * K * K, 0.85},
        {"gtx1080ti", "read", 4 * K, 0, 4 * K * K, 0.85},
        {"h200", "read", 16 * K, 0, 16 * K * K, 0.85},
        {"gtx480", "copy", 2 * K, 512 * K, 4 * K * K, 0.85},
        {"gtx1080ti", "copy", 6 * K, 1536 * K, 12 * K * K, 0.80},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double share =
            share_of_peak(cases[i].gpu, cases[i].kernel, cases[i].grid, cases[i].bytes, cases[i].n);
        print_message("%s on %s: %.3f of peak bandwidth\n", cases[i].kernel, cases[i].gpu, share);
        if (share < cases[i].least)
            fail_msg("%s on %s: %g of peak bandwidth", cases[i].kernel, cases[i].gpu, share);
    }
}

/* ---- occupancy ---------------------------------------------------------------------------------------- */

/* Every block waits until fit * sms of them have begun: it ends only if so many are resident together. One
 * more than fit cannot be. */
static void check_resident(const char *kernel, uint32_t threads, uint32_t shared, uint32_t fit) {
    struct rig r;
    char *text = rig_file("resident.ptx"), *report = NULL;
    for (uint32_t more = 0; more < 2; more++) {
        static const char *const set[] = {"device.sms=2", NULL};
        rig_open(&r, "gtx480", set, false, text);
        rig_zero(&r);
        r.g->opt.watchdog = 300000;
        struct rig_params p = {.n = 2 * fit + more};
        enum rp_status s = rig_try(&r, kernel, 2 * (fit + more), threads, shared, p, &report);
        if (s != (more ? RP_TIMEOUT : RP_OK))
            fail_msg("%s, %u threads, %u bytes, %u blocks: %s", kernel, threads, shared, fit + more,
                     rp_status_text(s));
        free(report);
        assert_int_equal(rp_kernel_occupancy(rp_module_kernel(r.m, kernel), threads, shared), fit);
        rig_close(&r);
    }
    free(text);
}

/* A GPU of shorter lines makes a request for each of them, fetches as many bytes, and reads as much code. */
static void test_lines(void **state) {
    (void)state;
    char *text = rig_file("stream.ptx");
    uint64_t bytes[3], fetches[3];
    for (uint32_t k = 0; k < 3; k++) {
        char line[32];
        snprintf(line, sizeof line, "cache.line=%u", 32u << k);
        const char *const set[] = {line, "device.sms=2", "fetch.width=8", "fetch.buffer=8", NULL};
        struct rig r;
        rig_open(&r, "gtx1080ti", set, false, text);
        rig_run(&r, "stream", 2, 64, times(4));
        uint64_t loads = rig_counter(&r, "insts.load.global");
        assert_int_equal(loads, 2 * 2 * 4 * 8);
        assert_int_equal(rig_counter(&r, "global.lines"), loads << (2 - k)); /* its store has no lanes */
        assert_int_equal(rig_counter(&r, "l1.read_sectors"), 4 * loads);
        bytes[k] = 32 * rig_counter(&r, "l1.sectors_fetched");
        fetches[k] = rig_counter(&r, "fetch.requests");
        rig_close(&r);
    }
    assert_true(bytes[0] == bytes[1] && bytes[1] == bytes[2]);
    assert_true(fetches[0] > fetches[1]); /* four instructions at most in a line, not eight */
    free(text);
}

static void test_occupancy(void **state) {
    (void)state;
    static const struct {
        const char *kernel;
        uint32_t threads, shared, fit;
    } cases[] = {
        {"few_registers", 32, 0, 8},                                   /* blocks */
        {"few_registers", 192, 0, 8},                                  /* 48 warps, exactly */
        {"few_registers", 193, 0, 6},                                  /* 7 warps */
        {"few_registers", 256, 0, 6},    {"few_registers", 257, 0, 5}, /* 9 warps */
        {"few_registers", 512, 0, 3},    {"few_registers", 1024, 0, 1},
        {"few_registers", 32, 6144, 8}, /* 48 KB of shared memory */
        {"few_registers", 32, 6145, 7},  {"few_registers", 32, 16384, 3},
        {"few_registers", 32, 16385, 2}, {"few_registers", 32, 49152, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_resident(cases[i].kernel, cases[i].threads, cases[i].shared, cases[i].fit);
    /* Registers: 64 at a time for a warp, 32768 in all. */
    struct rig r;
    struct rp_kernel_info info;
    char *text = rig_file("resident.ptx");
    rig_open(&r, "gtx480", NULL, false, text);
    assert_int_equal(rp_kernel_info(rp_module_kernel(r.m, "many_registers"), &info, NULL), RP_OK);
    rig_close(&r);
    free(text);
    uint32_t warp = ((uint32_t)info.regs * 32 + 63) / 64 * 64, warps = 32768 / warp & ~1u;
    assert_true(warps < 48 && info.regs > 40);
    check_resident("many_registers", 64, 0, warps / 2 < 8 ? warps / 2 : 8);
    check_resident("many_registers", 128, 0, warps / 4);
    check_resident("many_registers", 256, 0, warps / 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chains),        cmocka_unit_test(test_predicates),
        cmocka_unit_test(test_branches),      cmocka_unit_test(test_bank_conflicts),
        cmocka_unit_test(test_collectors),    cmocka_unit_test(test_throughput),
        cmocka_unit_test(test_shared),        cmocka_unit_test(test_cache_latency),
        cmocka_unit_test(test_dram_latency),  cmocka_unit_test(test_fence),
        cmocka_unit_test(test_constants),     cmocka_unit_test(test_texture_latency),
        cmocka_unit_test(test_texture_lines), cmocka_unit_test(test_surfaces),
        cmocka_unit_test(test_bandwidth),     cmocka_unit_test(test_lines),
        cmocka_unit_test(test_occupancy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
