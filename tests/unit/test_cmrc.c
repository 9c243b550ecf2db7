/* CMRC, its rivals and limits: widths and sub-banks against a reference that was written from the description
 * alone; kernels that would come out wrong without a rule; who shares a port; energy by hand. */
#include <math.h>
#include <stdio.h>

#include "mech/cmrc/cmrc.h"
#include "mech/registry.h"
#include "regs_rig.h"

/* ---- the reference ----------------------------------------------------------------------------------- */

/* A register: its bytes as they were stored, how many of each lane. */
struct ref_reg {
    uint32_t width;
    bool written;
};

static struct ref {
    struct probe probe;
    const struct exec *exec;
    uint32_t regs; /* of a warp */
    enum cmrc_sign sign;
    struct ref_reg reg[CORE_MAX_WARPS][MAX_GPR];
    uint64_t read_arrays, write_arrays, expansions, width[5];
} ref;

/* The value of a word of which so many bytes were stored. */
static uint32_t ref_read(uint32_t word, uint32_t width) {
    int32_t shift = 32 - 8 * (int32_t)width;
    return (uint32_t)((int32_t)(word << shift) >> shift);
}

/* Smallest k such that planes k to 3 are 0x00 in all lanes, and bit 7 of the plane below 0, or 0xff and 1;
 * each lane for itself if signs may be mixed. */
static uint32_t ref_width(const uint32_t *v, uint32_t lanes) {
    for (uint32_t k = 1; k < 4; k++) {
        bool zeros = true, ones = true, own = true;
        for (uint32_t l = 0; l < WARP_LANES; l++) {
            if (!(lanes >> l & 1))
                continue;
            for (uint32_t b = k; b < 4; b++) {
                uint32_t byte = v[l] >> 8 * b & 255, sign = v[l] >> (8 * k - 1) & 1;
                zeros &= byte == 0 && !sign;
                ones &= byte == 255 && sign;
                own &= byte == (sign ? 255 : 0);
            }
        }
        if (ref.sign == SIGN_THREAD ? own : zeros || ones)
            return k;
    }
    return 4;
}

static void ref_write(const struct probe_event *e, uint32_t reg) {
    struct ref_reg *r = &ref.reg[e->slot][reg];
    const uint32_t *v = e->warp->r[reg];
    uint32_t others = e->warp->live & ~e->mask, old = r->written ? r->width : 4;
    bool fits = true;
    for (uint32_t l = 0; l < WARP_LANES; l++)
        fits &= !(e->mask >> l & 1) || ref_read(v[l], old) == v[l];
    if (others && fits) {
        r->width = old;
    } else {
        r->width = ref_width(v, e->mask | others);
        ref.expansions += others != 0;
        ref.width[old] += others != 0;
    }
    r->written = true;
    ref.width[r->width]++;
    ref.write_arrays += 2 * r->width;
}

static void ref_event(struct probe *p, const struct probe_event *e) {
    (void)p;
    if (e->kind == PROBE_KERNEL_BEGIN) {
        ref.exec = e->kernel->exec;
        ref.regs = ref.exec->img->prog->nregs;
    }
    if (e->kind == PROBE_WARP_BEGIN)
        memset(ref.reg[e->slot], 0, sizeof ref.reg[0]);
    if ((e->kind != PROBE_ISSUE && e->kind != PROBE_EFFECT) || e->op < 0)
        return;
    const struct xinst *i = &ref.exec->img->code[e->pc];
    struct core_need need = core_need(i);
    for (uint32_t k = 0; e->kind == PROBE_ISSUE && k < need.nreads; k++) {
        const struct ref_reg *r = &ref.reg[e->slot][need.reads[k]];
        uint32_t width = r->written ? r->width : 4;
        ref.read_arrays += 2 * width;
        ref.width[width]++;
    }
    for (uint32_t k = 0; e->kind == PROBE_EFFECT && k < i->ndw && e->mask; k++)
        ref_write(e, i->d + k);
}

/* ---- widths alone ------------------------------------------------------------------------------------ */

/* Values written by all lanes and by some: what comes back is what was written, if it fits. */
static void test_width(void **state) {
    (void)state;
    uint64_t x = 5;
    for (uint32_t sign = SIGN_UNIFORM; sign <= SIGN_FILL; sign++) {
        uint32_t v[WARP_LANES], back[WARP_LANES];
        struct cmrc_form before = {CMRC_FULL, false};
        ref.sign = (enum cmrc_sign)sign;
        for (uint32_t n = 0; n < 5000; n++) {
            uint32_t bits = regs_random(&x, 33), signs = regs_random(&x, 4);
            uint32_t lanes = n % 4 ? 1u << regs_random(&x, 32) | regs_random(&x, UINT32_MAX) : UINT32_MAX;
            for (uint32_t l = 0; l < WARP_LANES; l++) {
                uint32_t any = regs_random(&x, UINT32_MAX) << 1 | regs_random(&x, 2);
                v[l] = bits ? any >> (32 - bits) : 0;
                v[l] = signs == 1 || (signs == 2 && l % 2) ? ~v[l] : v[l];
            }
            struct cmrc_form f = cmrc_form((enum cmrc_sign)sign, v, lanes);
            if (sign != SIGN_FILL)
                assert_int_equal(f.width, ref_width(v, lanes));
            cmrc_load((enum cmrc_sign)sign, f, v, back);
            assert_true(cmrc_fits((enum cmrc_sign)sign, f, v, lanes));
            bool same = true;
            for (uint32_t l = 0; l < WARP_LANES; l++) {
                assert_true(back[l] == v[l] || !(lanes >> l & 1));
                if (sign == SIGN_FILL && f.width < CMRC_FULL && lanes >> l & 1)
                    assert_int_equal(v[l] >> 8 * f.width, f.ones ? UINT32_MAX >> 8 * f.width : 0);
            }
            cmrc_load((enum cmrc_sign)sign, before, v, back);
            for (uint32_t l = 0; l < WARP_LANES; l++)
                same &= back[l] == v[l] || !(lanes >> l & 1);
            assert_int_equal(cmrc_fits((enum cmrc_sign)sign, before, v, lanes), same);
            before = f;
        }
    }
    for (uint32_t w = 1; w <= 4; w++)
        for (uint32_t u = 1; u <= 4; u++) {
            assert_int_equal(!(cmrc_mask(w, false) & cmrc_mask(u, true)), w + u <= 4);
            assert_true(cmrc_mask(w, false) & cmrc_mask(u, false));
        }
}

/* ---- random kernels ---------------------------------------------------------------------------------- */

static void open_mech(struct rig *r, const char *mech, const char *const *set, const char *text) {
    regs_open(r, "cmrc", mech, set, text);
}

static void expect(const struct rig *r, const char *counter, uint64_t want, uint64_t seed) {
    uint64_t got = rig_counter(r, counter);
    if (got != want)
        fail_msg("seed %u, sign %d: %s is %u, must be %u", (unsigned)seed, (int)ref.sign, counter,
                 (unsigned)got, (unsigned)want);
}

static bool run_kernel(struct rig *r, uint64_t seed, uint32_t threads, const uint32_t *want) {
    char *report = NULL;
    regs_fill(r, seed);
    return rig_try(r, "k", 1, threads, 0, (struct rig_params){.n = 1, .x = 2}, &report) == RP_OK &&
           !rig_counter(r, "check.wrong") &&
           !memcmp((uint32_t *)(uintptr_t)r->buffer + REGS_RESULT, want, REGS_RESULT * sizeof *want);
}

static uint32_t want[REGS_RESULT];
static const uint32_t threads_of[] = {32, 64, 45, 200};
static const char *const mappings[] = {"rf.mapping=wid", "rf.mapping=wshift"};

static void test_reference(void **state) {
    (void)state;
    static const char *const signs[] = {"cmrc.sign=uniform", "cmrc.sign=thread"};
    for (uint64_t seed = 1; seed <= 24; seed++) {
        char *text = regs_kernel(seed);
        uint32_t n = threads_of[seed % 4];
        regs_base("cmrc", text, seed, n, want);
        for (uint32_t k = 0; k < 2; k++) {
            struct rig r;
            open_mech(&r, "cmrc",
                      (const char *const[]){"device.sms=1", signs[k], mappings[seed / 4 % 2], NULL}, text);
            memset(&ref, 0, sizeof ref);
            ref.probe.event = ref_event;
            ref.sign = (enum cmrc_sign)k;
            rp_gpu_watch(r.g, &ref.probe);
            assert_true(run_kernel(&r, seed, n, want));
            expect(&r, "rf.read.arrays", ref.read_arrays, seed);
            expect(&r, "rf.write.arrays", ref.write_arrays, seed);
            expect(&r, "cmrc.expansions", ref.expansions, seed);
            expect(&r, "cmrc.width.1", ref.width[1], seed);
            expect(&r, "cmrc.width.2", ref.width[2], seed);
            expect(&r, "cmrc.width.3", ref.width[3], seed);
            expect(&r, "cmrc.width.4", ref.width[4], seed);
            expect(&r, "cmrc.port.cycles",
                   rig_counter(&r, "rf.reads") + rig_counter(&r, "rf.writes") + ref.expansions -
                       rig_counter(&r, "cmrc.pairs"),
                   seed);
            rig_close(&r);
        }
        free(text);
    }
}

/* Every model, layout, width of search; beneath WIR and DARSIE, too. */
static void test_models(void **state) {
    (void)state;
    static const struct {
        const char *mech, *set;
    } machines[] = {
        {"cmrc", "cmrc.sign=fill"},      {"cmrc", "cmrc.depth=2"},         {"cmrc", "cmrc.latency=1"},
        {"cmrc", "rf.banks=1"},          {"cmrc", "rf.collector_ports=0"}, {"corf", "cmrc.depth=8"},
        {"cmrc-bound", "cmrc.depth=8"},  {"rf-ideal", "cmrc.depth=8"},     {"wir+cmrc", "wir.vc_entries=2"},
        {"darsie+cmrc", "cmrc.depth=8"}, {"uv+cmrc", "cmrc.depth=8"}};
    for (uint64_t seed = 30; seed < 34; seed++) {
        char *text = regs_kernel(seed);
        uint32_t n = threads_of[seed % 4];
        regs_base("cmrc", text, seed, n, want);
        for (size_t k = 0; k < 2 * sizeof machines / sizeof *machines; k++) {
            struct rig r;
            open_mech(&r, machines[k / 2].mech,
                      (const char *const[]){"device.sms=1", machines[k / 2].set, mappings[k % 2], NULL},
                      text);
            if (!run_kernel(&r, seed, n, want))
                fail_msg("seed %u: %s, %s, %s", (unsigned)seed, machines[k / 2].mech, machines[k / 2].set,
                         mappings[k % 2]);
            rig_close(&r);
        }
        free(text);
    }
}

/* ---- rules ------------------------------------------------------------------------------------------- */

/* Without the rule some random kernel comes out wrong, or what must hold does not; with it all is well. */
static void test_random_rules(void **state) {
    (void)state;
    static const struct {
        int rule;
        const char *mapping, *set;
    } rules[] = {{CM_PAD, "rf.mapping=wshift", "cmrc.depth=1024"},
                 {CM_SLICES, "rf.mapping=wshift", "cmrc.depth=1024"}};
    for (size_t k = 0; k < sizeof rules / sizeof *rules; k++) {
        bool wrong = false;
        for (uint64_t seed = 50; seed < 60 && !wrong; seed++) {
            char *text = regs_kernel(seed), omit[32];
            regs_base("cmrc", text, seed, 512, want);
            for (int off = 0; off < 2; off++) {
                struct rig r;
                snprintf(omit, sizeof omit, "cmrc.omit=%d", off ? rules[k].rule : 0);
                open_mech(&r, "cmrc",
                          (const char *const[]){"device.sms=1", rules[k].mapping, rules[k].set, omit, NULL},
                          text);
                bool right = run_kernel(&r, seed, 512, want);
                if (!off)
                    assert_true(right);
                wrong |= !right;
                rig_close(&r);
            }
            free(text);
        }
        if (!wrong)
            fail_msg("all kernels come out right without rule %d", rules[k].rule);
    }
}

#define KERNEL(body)                                                                                         \
    ".version 7.0\n.target sm_70\n.address_size 64\n"                                                        \
    ".visible .entry k(.param .u64 buffer, .param .u32 n, .param .u32 x)\n"                                  \
    "{ .reg .b32 %r<16>; .reg .b64 %l<6>; .reg .pred %p<4>;\n"                                               \
    "ld.param.u64 %l0, [buffer]; ld.param.u32 %r9, [x]; mov.u32 %r0, %tid.x; mov.u32 %r1, %laneid;\n"        \
    "mul.wide.u32 %l1, %r0, 4; add.u64 %l1, %l0, %l1;\n" body " st.global.u32 [%l1+4096], %r3; exit; }\n"

/* Words from 1024 on of the buffer after a kernel; expansions, and accesses of one byte. */
static bool comes_out(const char *text, int omit, uint32_t threads, uint32_t (*value)(uint32_t t),
                      uint64_t n[2]) {
    char word[32];
    struct rig r;
    bool right = true;
    snprintf(word, sizeof word, "cmrc.omit=%d", omit);
    open_mech(&r, "cmrc", (const char *const[]){"device.sms=1", word, NULL}, text);
    rig_run(&r, "k", 1, threads, (struct rig_params){.n = 1, .x = 2});
    for (uint32_t t = 0; t < threads; t++)
        right &= ((const uint32_t *)(uintptr_t)r.buffer)[1024 + t] == value(t);
    n[0] = rig_counter(&r, "cmrc.expansions");
    n[1] = rig_counter(&r, "cmrc.width.1");
    rig_close(&r);
    return right;
}

static uint32_t stale(uint32_t t) {
    return t % 32 < 4 ? 0x55667788 + 2 : 7 + 2;
}

static uint32_t byte(uint32_t t) {
    (void)t;
    return 255 + 2;
}

static uint32_t grown(uint32_t t) {
    (void)t;
    return 2 * 0x101 * 0x101 * 0x101 + 2;
}

static void test_rules(void **state) {
    (void)state;
    /* A wide value, then a narrow one, then some lanes of a wide one: the planes of the first are still
     * there. */
    static const char expand[] = KERNEL("add.u32 %r3, %r9, 0x11223342; st.global.u32 [%l1+8192], %r3;\n"
                                        "add.u32 %r3, %r9, 5; st.global.u32 [%l1+8192], %r3;\n"
                                        "setp.lt.u32 %p0, %r1, 4; @%p0 add.u32 %r3, %r9, 0x55667786;\n"
                                        "add.u32 %r3, %r3, %r9;");
    static const char sign[] = KERNEL("add.u32 %r3, %r9, 253; add.u32 %r3, %r3, %r9;");
    static const char live[] = KERNEL("mov.u32 %r3, %r9; mov.u32 %r2, 0;\n"
                                      "LOOP: mul.lo.u32 %r3, %r3, 0x101; add.u32 %r2, %r2, 1;\n"
                                      "setp.le.u32 %p0, %r2, %r9; @%p0 bra LOOP; add.u32 %r3, %r3, %r9;");
    uint64_t n[2];
    assert_true(comes_out(expand, 0, 64, stale, n));
    assert_int_equal(n[0], 2); /* one for each warp */
    assert_false(comes_out(expand, CM_EXPAND, 64, stale, n));
    assert_true(comes_out(sign, 0, 32, byte, n));
    assert_false(comes_out(sign, CM_SIGN, 32, byte, n));
    /* The other half of the warp was never there; if it counted, no register would ever become narrow. */
    assert_true(comes_out(live, 0, 16, grown, n));
    assert_true(!n[0] && n[1] > 0);
    assert_true(comes_out(live, CM_LIVE, 16, grown, n));
    assert_int_equal(n[1], 0);
}

/* ---- who shares a port ------------------------------------------------------------------------------- */

/* Loads narrow values, and adds them pairwise, n warps at a time. */
static const char sums[] =
    KERNEL("mov.u32 %r2, 0; and.b32 %r3, %r1, 7; and.b32 %r4, %r1, 3; and.b32 %r5, %r1, 5;\n"
           "LOOP: add.u32 %r3, %r3, %r4; min.u32 %r3, %r3, 9; add.u32 %r5, %r5, %r4;\n"
           "min.u32 %r5, %r5, 11; xor.b32 %r4, %r3, %r5; add.u32 %r2, %r2, 1;\n"
           "setp.lt.u32 %p0, %r2, 40; @%p0 bra LOOP; add.u32 %r3, %r3, %r5;");

static void run_sums(struct rig *r, const char *mech, const char *mapping, uint32_t threads) {
    open_mech(r, mech, (const char *const[]){"device.sms=1", mapping, NULL}, sums);
    rig_run(r, "k", 3, threads, (struct rig_params){.n = 1, .x = 2});
}

/* All registers of a warp lie in one bank: operands meet there. */
static void test_pairs(void **state) {
    (void)state;
    struct rig r;
    run_sums(&r, "base", "rf.mapping=wid", 512);
    uint64_t base = r.cycles, reads = rig_counter(&r, "rf.reads");
    rig_close(&r);
    run_sums(&r, "cmrc", "rf.mapping=wid", 512);
    uint64_t all = rig_counter(&r, "cmrc.pairs"), cycles = r.cycles;
    assert_true(rig_counter(&r, "cmrc.pairs.reads") && rig_counter(&r, "cmrc.pairs.mixed"));
    assert_true(rig_counter(&r, "cmrc.pairs.operands") && rig_counter(&r, "cmrc.pairs.writes"));
    assert_true(20 * cycles < 19 * base); /* 5% is less than it takes off */
    assert_int_equal(rig_counter(&r, "cmrc.collector.pairs"), 0);
    assert_int_equal(rig_counter(&r, "cmrc.collector.writes"),
                     reads - rig_counter(&r, "cmrc.pairs.operands"));
    rig_close(&r);
    run_sums(&r, "corf", "rf.mapping=wid", 512);
    uint64_t operands = rig_counter(&r, "cmrc.pairs.operands");
    assert_int_equal(operands, rig_counter(&r, "cmrc.pairs"));
    assert_true(operands && operands < all);
    rig_close(&r);
    run_sums(&r, "cmrc-bound", "rf.mapping=wid", 512);
    assert_true(rig_counter(&r, "cmrc.pairs") > all && r.cycles <= cycles);
    rig_close(&r);
    run_sums(&r, "rf-ideal", "rf.mapping=wid", 512);
    assert_true(r.cycles <= cycles);
    assert_int_equal(rig_counter(&r, "rf.read.conflicts") + rig_counter(&r, "rf.write.conflicts"), 0);
    rig_close(&r);
}

/* Registers are spread over the banks: operands meet at their collector, unless it has one port for all its
 * bytes. */
static void test_collectors(void **state) {
    (void)state;
    char *text = regs_kernel(50);
    for (int corf = 0; corf < 2; corf++) {
        struct rig r;
        open_mech(&r, corf ? "corf" : "cmrc",
                  (const char *const[]){"device.sms=1", "rf.mapping=wshift", NULL}, text);
        regs_fill(&r, 50);
        rig_run(&r, "k", 1, 512, (struct rig_params){.n = 1, .x = 2});
        assert_int_equal(rig_counter(&r, "cmrc.collector.pairs") != 0, !corf);
        assert_int_equal(rig_counter(&r, "cmrc.collector.operands"), rig_counter(&r, "rf.reads"));
        rig_close(&r);
    }
    free(text);
}

/* Where registers are spread over the banks, those of a warp are padded, and fewer blocks may fit. */
static void test_padding(void **state) {
    (void)state;
    for (int shift = 0; shift < 2; shift++) {
        char registers[32], of_block[32];
        struct rig r;
        char *text = NULL;
        uint32_t regs = 0;
        for (uint64_t seed = 1; regs % 4 < 2; seed++) { /* those of a kernel that must be padded */
            free(text);
            text = regs_kernel(seed);
            open_mech(&r, "base", NULL, text);
            ref.probe = (struct probe){.event = ref_event};
            rp_gpu_watch(r.g, &ref.probe);
            rig_run(&r, "k", 1, 32, (struct rig_params){.n = 1, .x = 2});
            regs = ref.regs;
            rig_close(&r);
        }
        snprintf(registers, sizeof registers, "sm.registers=%u", 4 * regs * WARP_LANES);
        snprintf(of_block, sizeof of_block, "block.registers=%u", 4 * regs * WARP_LANES);
        open_mech(&r, "cmrc",
                  (const char *const[]){"device.sms=1", "sm.register_unit=32", "sm.warp_unit=1", registers,
                                        of_block, mappings[shift], NULL},
                  text);
        rig_run(&r, "k", 8, 32, (struct rig_params){.n = 1, .x = 2});
        assert_int_equal(rig_counter(&r, "cmrc.refused") != 0, shift);
        assert_int_equal(rig_counter(&r, "check.wrong"), 0);
        rig_close(&r);
        free(text);
    }
}

/* A register is overwritten by an instruction that reads none, while an older one waits for it at a busy
 * bank. */
static void test_order(void **state) {
    (void)state;
    static const char clocks[] =
        KERNEL("mov.u32 %r2, %r1; mov.u32 %r3, %r0; mov.u32 %r4, 0; mov.u32 %r5, 3;\n"
               "LOOP: mad.lo.u32 %r3, %r2, %r5, %r3; mov.u32 %r2, %clock;\n"
               "add.u32 %r4, %r4, 1; setp.lt.u32 %p0, %r4, 20; @%p0 bra LOOP;");
    for (int off = 0; off < 2; off++) {
        struct rig r;
        open_mech(&r, "cmrc",
                  (const char *const[]){"device.sms=1", "rf.banks=1", "rf.collectors=16", "latency.alu=2",
                                        off ? "cmrc.omit=4" : "cmrc.omit=0", NULL},
                  clocks);
        rig_run(&r, "k", 3, 512, (struct rig_params){.n = 1, .x = 2});
        assert_int_equal(rig_counter(&r, "check.wrong") != 0, off);
        rig_close(&r);
    }
}

/* ---- energy ------------------------------------------------------------------------------------------ */

static void expect_pj(const struct rig *r, const char *name, double pj) {
    struct rp_energy e;
    for (uint32_t i = 0; rp_energy(r->g, RP_ENERGY_PHYSICAL, i, &e); i++)
        if (!strcmp(e.name, name) && fabs(e.launch * 1e12 - pj) > 1e-9 * pj)
            fail_msg("%s: %.17g pJ, not %.17g", name, e.launch * 1e12, pj);
}

/* MOV of an address of a bytes, S2R of 0, IADD of 5, ST: a + 1 + 1 bytes of each lane are written, and as
 * many read, two arrays each. */
static void test_energy(void **state) {
    (void)state;
    static const char text[] = ".version 7.0\n.target sm_70\n.address_size 32\n"
                               ".visible .entry k(.param .u64 buffer, .param .u32 n, .param .u32 x)\n"
                               "{ .reg .b32 %r<4>; ld.param.u32 %r0, [buffer]; mov.u32 %r1, %ctaid.x;\n"
                               "add.u32 %r2, %r1, 5; st.global.u32 [%r0], %r2; exit; }\n";
    struct rig r;
    uint32_t address[WARP_LANES];
    open_mech(&r, "cmrc", NULL, text);
    rig_run(&r, "k", 1, 32, (struct rig_params){.n = 1});
    for (uint32_t l = 0; l < WARP_LANES; l++)
        address[l] = (uint32_t)r.buffer;
    ref.sign = SIGN_UNIFORM;
    uint32_t arrays = 2 * (ref_width(address, UINT32_MAX) + 1 + 1);
    expect(&r, "rf.read.arrays", arrays, 0);
    expect(&r, "rf.write.arrays", arrays, 0);
    expect_pj(&r, "register_file", arrays * (56.8 + 103.6));
    expect_pj(&r, "collectors", 3 * 93 + 3 * 62 - (2 * 24 - 2 * (double)arrays) * 7.75);
    expect_pj(&r, "mechanism", 6 * 9.1);
    rig_close(&r);
}

/* What cannot be built together is refused, with the reason; the rest is not. */
static void test_stacks(void **state) {
    (void)state;
    static const struct {
        const char *stack, *why;
    } stacks[] = {{"gscalar+cmrc", "how the banks store"},
                  {"cmrc+alu-scalar", "how the banks store"},
                  {"affine+gscalar", "how the banks store"},
                  {"affine+cmrc", "how the banks store"},
                  {"cmrc+corf", "models of one mechanism"},
                  {"dac-ideal+gscalar", "pass over instructions"},
                  {"dac-ideal+cmrc", "pass over instructions"},
                  {"wir+gscalar", NULL},
                  {"wir+cmrc", NULL},
                  {"darsie+gscalar", NULL},
                  {"darsie+cmrc", NULL},
                  {"uv+cmrc", NULL}};
    for (size_t k = 0; k < sizeof stacks / sizeof *stacks; k++) {
        struct mech_registry registry;
        struct mech_set set;
        struct diag d = {0};
        mech_registry_init(&registry);
        assert_int_equal(mech_select(&set, &registry, stacks[k].stack, &d), !stacks[k].why);
        if (stacks[k].why && !strstr(str_text(&d.text), stacks[k].why))
            fail_msg("%s: %s", stacks[k].stack, str_text(&d.text));
        diag_free(&d);
        mech_registry_free(&registry);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_width),      cmocka_unit_test(test_reference),
        cmocka_unit_test(test_models),     cmocka_unit_test(test_random_rules),
        cmocka_unit_test(test_rules),      cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_energy),     cmocka_unit_test(test_order),
        cmocka_unit_test(test_collectors), cmocka_unit_test(test_padding),
        cmocka_unit_test(test_stacks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
