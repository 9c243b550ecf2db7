/* What mechanisms can do to an SM (core/view.h and the points that change something), each on a small kernel:
 * the effect is there, exactly, and nothing else is. */
#include <stdio.h>

#include "mech_rig.h"

static const char kernels[] = KERNELS
    /* Word t = 3t ^ 5. */
    KERNEL("plain", "mul.lo.u32 %r1, %r0, 3; xor.b32 %r1, %r1, 5; st.global.u32 [%l1], %r1;")
    /* Threads below x add up the numbers below n, and change one bit just before all meet again; the others
     * write to word 64 + t meanwhile. */
    KERNEL("paths", "mov.u32 %r1, 128; setp.lt.u32 %p0, %r0, %r9; @%p0 bra BELOW;\n"
                    "st.global.u32 [%l1+256], %r0; bra MEET;\n"
                    "BELOW: mov.u32 %r2, 0;\n"
                    "LOOP: add.u32 %r1, %r1, %r2; add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, %r8;\n"
                    "@%p1 bra LOOP; xor.b32 %r1, %r1, 256;\n"
                    "MEET: add.u32 %r1, %r1, 1000; st.global.u32 [%l1], %r1;")
    /* Adds word 512 + t to word t n times, each time behind a fence. */
    KERNEL("memory", "mov.u32 %r2, 0;\n"
                     "LOOP: ld.global.u32 %r3, [%l1]; ld.global.u32 %r4, [%l1+2048]; add.u32 %r3, %r3, %r4;\n"
                     "st.global.u32 [%l1], %r3; membar.gl; add.u32 %r2, %r2, 1;\n"
                     "setp.lt.u32 %p0, %r2, %r8; @%p0 bra LOOP;")
    /* A chain of n additions; of n loads. */
    KERNEL("chain", "mov.u32 %r2, 0; mov.u32 %r1, 0;\n"
                    "LOOP: add.u32 %r1, %r1, %r9; add.u32 %r2, %r2, 1; setp.lt.u32 %p0, %r2, %r8;\n"
                    "add.u32 %r1, %r1, %r9; add.u32 %r1, %r1, %r9; add.u32 %r1, %r1, %r9;\n"
                    "@%p0 bra LOOP; st.global.u32 [%l1], %r1;")
        KERNEL("chase", "mov.u32 %r2, 0;\n"
                        "LOOP: ld.global.u64 %l1, [%l1]; add.u32 %r2, %r2, 1; setp.lt.u32 %p0, %r2, %r8;\n"
                        "@%p0 bra LOOP; st.global.u64 [%l1+8], %l1;")
    /* The same of n loads of shared memory. */
    ".shared .align 4 .u32 link[1];\n" KERNEL(
        "chase_shared", "mov.u32 %r2, 0; mov.u32 %r1, link; st.shared.u32 [%r1], %r1;\n"
                        "LOOP: ld.shared.u32 %r1, [%r1]; add.u32 %r2, %r2, 1; setp.lt.u32 %p0, %r2, %r8;\n"
                        "@%p0 bra LOOP; st.global.u32 [%l1+8], %r1;")
    /* Many reads of registers from few banks. */
    KERNEL("banks", "mov.u32 %r2, 0; mov.u32 %r3, %r0; mov.u32 %r4, %r9;\n"
                    "LOOP: mad.lo.u32 %r5, %r3, %r4, %r2; mad.lo.u32 %r3, %r4, %r5, %r0;\n"
                    "mad.lo.u32 %r4, %r5, %r3, %r9; add.u32 %r2, %r2, 1; setp.lt.u32 %p0, %r2, %r8;\n"
                    "@%p0 bra LOOP; st.global.u32 [%l1], %r4;");

static struct {
    uint64_t count, ended, at;
    uint32_t depth, token;
    int32_t op, partner[1024];
} s;

/* Runs a kernel with one mechanism (NULL: none) and leaves the GPU open. */
static void run(struct rig *r, const struct mech_points *p, const char *set, const char *kernel,
                uint32_t block, uint32_t n, uint32_t x) {
    memset(&s, 0, sizeof s);
    s.op = CORE_NONE;
    mech_rig_open(r, "gtx480", set, kernels, p != NULL, &p);
    rig_run(r, kernel, 1, block, (struct rig_params){.n = n, .x = x});
}

static uint64_t cycles_of(const struct mech_points *p, const char *set, const char *kernel, uint32_t block,
                          uint32_t n, uint32_t x) {
    struct rig r;
    run(&r, p, set, kernel, block, n, x);
    rig_close(&r);
    return r.cycles;
}

static bool is_op(const struct xinst *i, enum op op) {
    return i->in->op == op;
}

/* ---- lanes ---- */

static uint32_t even_lanes(void *m, uint32_t warp, const struct xinst *i, uint32_t mask) {
    (void)m;
    if (!is_op(i, OP_XOR))
        return mask;
    s.depth = mech_sm->warps[warp].w->depth;
    return mask & 0x55555555;
}

static uint32_t few_stores(void *m, uint32_t warp, const struct xinst *i, uint32_t mask) {
    (void)m, (void)warp;
    return i->kind == X_STORE ? mask & 0xff : mask;
}

/* Both words of thread t. */
static void expect_paths(const struct rig *r, uint32_t t, uint32_t n, uint32_t x, bool flip) {
    assert_int_equal(rig_word(r, t), 1000 + (t >= x ? 128 : (128 + n * (n - 1) / 2) ^ (flip ? 256 : 0)));
    assert_int_equal(rig_word(r, 64 + t), t < x ? (uint32_t)RIG_FILL : t);
}

static void test_lanes(void **state) {
    (void)state;
    struct rig r;
    static const struct mech_points alu = {.lanes = {.choose = even_lanes}},
                                    store = {.lanes = {.choose = few_stores}};
    run(&r, &alu, NULL, "plain", 64, 0, 0);
    for (uint32_t t = 0; t < 64; t++)
        assert_int_equal(rig_word(&r, t), t % 2 ? 3 * t : (3 * t) ^ 5);
    rig_close(&r);
    /* On a path of a diverged warp that ends with this instruction: the paths are as they were. */
    run(&r, &alu, NULL, "paths", 32, 4, 20);
    assert_true(s.depth > 1);
    for (uint32_t t = 0; t < 32; t++)
        expect_paths(&r, t, 4, 20, !(t % 2));
    rig_close(&r);
    /* Lanes that are left out do not access memory. */
    run(&r, &store, NULL, "plain", 32, 0, 0);
    for (uint32_t t = 0; t < 32; t++)
        assert_int_equal(rig_word(&r, t), t < 8 ? (3 * t) ^ 5 : (uint32_t)RIG_FILL);
    assert_int_equal(rig_counter(&r, "lanes.ldst"), 8);
    rig_close(&r);
}

/* ---- operands ---- */

static void change_source(void *m, uint32_t warp, const struct xinst *i, uint32_t mask) {
    (void)m, (void)mask;
    for (uint32_t l = 0; is_op(i, OP_XOR) && l < WARP_LANES; l++)
        mech_sm->warps[warp].w->r[i->s[0]][l] = l;
}

static void test_operands(void **state) {
    (void)state;
    struct rig r;
    run(&r, &(struct mech_points){.values = {change_source}}, NULL, "plain", 32, 0, 0);
    for (uint32_t t = 0; t < 32; t++)
        assert_int_equal(rig_word(&r, t), t ^ 5);
    rig_close(&r);
}

/* ---- fetch ---- */

static uint64_t fetch_late(void *m, uint64_t wanting, uint64_t now) {
    (void)m;
    if (!s.at)
        s.at = now + 5000;
    return now < s.at ? wanting & ~UINT64_C(2) : wanting;
}

/* Every XOR that a warp is going to fetch, as far as it is known. */
static void skip_ahead(uint32_t slot) {
    const struct core_warp *cw = &mech_sm->warps[slot];
    for (uint32_t pc = cw->fetch_pc, k = 0; k < CORE_AHEAD && !cw->needs[pc].control; pc++, k++)
        if (is_op(&cw->x->img->code[pc], OP_XOR) &&
            !(pc - cw->fetch_pc < CORE_AHEAD && cw->skips >> (pc - cw->fetch_pc) & 1)) {
            core_skip(mech_sm, slot, pc);
            s.count++;
        }
}

static uint64_t skip_xor(void *m, uint64_t wanting, uint64_t now) {
    (void)m, (void)now;
    for (uint64_t left = wanting; left; left &= left - 1) {
        uint32_t slot = (uint32_t)__builtin_ctzll(left);
        if (core_can_skip(mech_sm, slot))
            skip_ahead(slot);
    }
    return wanting;
}

static uint64_t one_by_one(void *m, uint64_t wanting, uint64_t now) {
    (void)m, (void)now;
    for (uint64_t left = wanting; left; left &= left - 1)
        core_fetch_most(mech_sm, (uint32_t)__builtin_ctzll(left), 1);
    return wanting;
}

static void test_fetch(void **state) {
    (void)state;
    struct rig r;
    uint64_t base = cycles_of(NULL, NULL, "plain", 64, 0, 0);
    run(&r, &(struct mech_points){.stream = {.fetch = fetch_late}}, NULL, "plain", 64, 0, 0);
    assert_true(r.cycles > 5000 && r.cycles < 5000 + base);
    assert_int_equal(rig_word(&r, 63), 189 ^ 5);
    rig_close(&r);

    run(&r, &(struct mech_points){.stream = {.fetch = one_by_one}}, "fetch.width=4", "plain", 64, 0, 0);
    assert_int_equal(rig_word(&r, 63), 189 ^ 5);
    assert_int_equal(rig_counter(&r, "fetch.insts"),
                     rig_counter(&r, "fetch.requests") - rig_counter(&r, "fetch.stalls"));
    rig_close(&r);

    static const char *const widths[] = {"fetch.width=1", "fetch.width=2", "fetch.width=8"};
    static const struct mech_points skips = {.stream = {.fetch = skip_xor}};
    for (uint32_t k = 0; k < 3; k++) {
        run(&r, NULL, widths[k], "plain", 64, 0, 0);
        uint64_t fetched = rig_counter(&r, "fetch.insts");
        rig_close(&r);
        run(&r, &skips, widths[k], "plain", 64, 0, 0);
        assert_int_equal(s.count, 2);
        assert_int_equal(rig_counter(&r, "lanes.logic"), 0);
        assert_int_equal(rig_counter(&r, "fetch.insts"), fetched - 2);
        for (uint32_t t = 0; t < 64; t++)
            assert_int_equal(rig_word(&r, t), 3 * t);
        rig_close(&r);
    }
    /* Warps of several paths cannot skip: what they fetch need not come next. */
    run(&r, &skips, NULL, "paths", 32, 4, 20);
    assert_int_equal(s.count, 0);
    for (uint32_t t = 0; t < 32; t++)
        expect_paths(&r, t, 4, 20, true);
    rig_close(&r);
}

/* A kernel of n rounds of work, behind `shift` instructions, with and without an XOR behind every
 * instruction of it, guarded so that no two of them become one. */
static char *padded(uint32_t shift, bool padding) {
    struct str text = {0};
    str_printf(&text,
               "%s.visible .entry k(.param .u64 buffer, .param .u32 n, .param .u32 x)\n"
               "{ .reg .b32 %%r<16>; .reg .b64 %%l<4>; .reg .pred %%p<4>;\n"
               "ld.param.u64 %%l0, [buffer]; ld.param.u32 %%r8, [n]; ld.param.u32 %%r9, [x];\n"
               "mov.u32 %%r0, %%tid.x; mul.wide.u32 %%l1, %%r0, 4; add.u64 %%l1, %%l0, %%l1;\n"
               "mov.u32 %%r2, 0; mov.u32 %%r7, %%r0; setp.ne.u32 %%p1, %%r9, 0;\n",
               KERNELS);
    for (uint32_t k = 0; k < 4; k++)
        str_printf(&text, "mov.u32 %%r%u, %u;\n", 3 + k, k);
    for (uint32_t k = 0; k < shift; k++)
        str_printf(&text, "mad.lo.u32 %%r3, %%r3, %%r9, %%r0;\n");
    str_printf(&text, "LOOP:\n");
    for (uint32_t k = 0; k < 40; k++) {
        str_printf(&text, "mad.lo.u32 %%r%u, %%r%u, %%r9, %%r0;\n", 3 + k % 4, 3 + k % 4);
        if (padding)
            str_printf(&text, "@%%p1 xor.b32 %%r7, %%r7, %%r%u;\n", 3 + (k + 1) % 4);
    }
    str_printf(&text, "add.u32 %%r2, %%r2, 1; setp.lt.u32 %%p0, %%r2, %%r8; @%%p0 bra LOOP;\n");
    for (uint32_t k = 0; k < 4; k++)
        str_printf(&text, "add.u32 %%r7, %%r7, %%r%u;\n", 3 + k);
    str_printf(&text, "st.global.u32 [%%l1], %%r7; exit; }\n");
    return text.at;
}

static uint64_t padded_cycles(const struct mech_points *p, const char *set, char *text, uint32_t *word) {
    struct rig r;
    memset(&s, 0, sizeof s);
    mech_rig_open(&r, "darsie", set, text, p != NULL, &p);
    uint64_t cycles = rig_run(&r, "k", 2, 512, (struct rig_params){.n = 80, .x = 3});
    *word = rig_word(&r, 77);
    rig_close(&r);
    free(text);
    return cycles;
}

/* Skipping is as good as taking the instructions out of the code, whatever a fetch brings and wherever a line
 * begins. The code is longer, so that its first run through misses the instruction cache more often. */
static void test_skip_cycles(void **state) {
    (void)state;
    static const char *const sets[] = {"fetch.width=1", "fetch.width=2", "fetch.width=3 fetch.buffer=4",
                                       "fetch.width=8 fetch.buffer=8", "fetch.buffer=8"};
    static const struct mech_points skips = {.stream = {.fetch = skip_xor}};
    for (uint32_t k = 0; k < sizeof sets / sizeof *sets; k++)
        for (uint32_t shift = 0; shift < 4; shift++) {
            uint32_t base_word, without_word, with_word;
            uint64_t base = padded_cycles(NULL, sets[k], padded(shift, true), &base_word),
                     without = padded_cycles(NULL, sets[k], padded(shift, false), &without_word),
                     with = padded_cycles(&skips, sets[k], padded(shift, true), &with_word);
            if (with * 100 > without * 105 || with * 105 < without * 100)
                fail_msg("%s, %u before: %llu cycles, %llu without the instructions, %llu when skipped",
                         sets[k], shift, (unsigned long long)base, (unsigned long long)without,
                         (unsigned long long)with);
            assert_true(base * 10 > without * 13);
            assert_int_equal(with_word, without_word);
            assert_int_not_equal(with_word, base_word);
        }
}

/* XOR is dropped when it is decoded, or waits there for a while. */
static enum mech_decode drop_xor(void *m, uint32_t warp, uint32_t pc, uint64_t now) {
    (void)m, (void)now;
    if (!is_op(&mech_sm->warps[warp].x->img->code[pc], OP_XOR))
        return DECODE_KEEP;
    s.count++;
    return DECODE_DROP;
}

static enum mech_decode hold_xor(void *m, uint32_t warp, uint32_t pc, uint64_t now) {
    (void)m;
    if (!is_op(&mech_sm->warps[warp].x->img->code[pc], OP_XOR))
        return DECODE_KEEP;
    if (!s.at)
        s.at = now + 3000;
    return now < s.at ? DECODE_WAIT : DECODE_KEEP;
}

/* What was skipped or dropped takes effect when the path passes over it. */
static void perform(void *m, uint32_t warp, uint32_t pc) {
    (void)m;
    struct core_warp *cw = &mech_sm->warps[warp];
    assert_true(is_op(&cw->x->img->code[pc], OP_XOR));
    assert_int_equal(simt_top(cw->w)->pc, pc);
    warp_step(cw->x, cw->w);
    assert_int_equal(simt_top(cw->w)->pc, pc + 1);
}

static void test_passed(void **state) {
    (void)state;
    static const char *const sets[] = {"fetch.width=1", "fetch.width=3 fetch.buffer=4", "fetch.buffer=8"};
    static const struct mech_points both[] = {{.stream = {.fetch = skip_xor, .passed = perform}},
                                              {.stream = {.decoded = drop_xor, .passed = perform}}};
    for (uint32_t k = 0; k < sizeof sets / sizeof *sets; k++)
        for (uint32_t shift = 0; shift < 4; shift++) {
            uint32_t base_word, with_word, dropped_word;
            uint64_t base = padded_cycles(NULL, sets[k], padded(shift, true), &base_word),
                     with = padded_cycles(&both[0], sets[k], padded(shift, true), &with_word);
            padded_cycles(&both[1], sets[k], padded(shift, true), &dropped_word);
            assert_int_equal(with_word, base_word);
            assert_int_equal(dropped_word, base_word);
            assert_true(with < base);
        }
}

static void test_decoded(void **state) {
    (void)state;
    struct rig r;
    static const char *const widths[] = {"fetch.width=1", "fetch.width=2", "fetch.width=8"};
    for (uint32_t k = 0; k < 3; k++) {
        run(&r, NULL, widths[k], "plain", 64, 0, 0);
        uint64_t base = r.cycles, fetched = rig_counter(&r, "fetch.insts");
        rig_close(&r);
        run(&r, &(struct mech_points){.stream = {.decoded = drop_xor}}, widths[k], "plain", 64, 0, 0);
        assert_int_equal(s.count, 2);
        assert_int_equal(rig_counter(&r, "fetch.insts"), fetched);
        assert_int_equal(rig_counter(&r, "lanes.logic"), 0);
        for (uint32_t t = 0; t < 64; t++)
            assert_int_equal(rig_word(&r, t), 3 * t);
        rig_close(&r);
        run(&r, &(struct mech_points){.stream = {.decoded = hold_xor}}, widths[k], "plain", 64, 0, 0);
        assert_true(r.cycles > 3000 && r.cycles < 3000 + base);
        assert_int_equal(rig_counter(&r, "fetch.insts"), fetched);
        assert_int_equal(rig_word(&r, 63), 189 ^ 5);
        rig_close(&r);
    }
}

/* The same as hold_xor, but the mechanism says when it is asked again. */
static enum mech_decode hold_quietly(void *m, uint32_t warp, uint32_t pc, uint64_t now) {
    s.count++;
    return hold_xor(m, warp, pc, now) == DECODE_WAIT ? DECODE_HOLD : DECODE_KEEP;
}

static void ask_then(void *m, uint64_t now) {
    (void)m;
    for (uint32_t w = 0; w < 2 && now == s.at; w++)
        core_ask(mech_sm, w);
}

static uint64_t then(const void *m, uint64_t now) {
    (void)m;
    return s.at > now ? s.at : UINT64_MAX;
}

static void not_recalled(void *m, uint32_t warp, uint64_t now) {
    (void)m, (void)warp, (void)now;
    fail_msg("nothing was forgotten");
}

/* What is held costs no questions, and goes on in the cycle in which it would have. */
static void test_held(void **state) {
    (void)state;
    static const struct mech_points waits = {.stream = {.decoded = hold_xor}},
                                    holds = {.life = {.tick = ask_then, .next = then},
                                             .stream = {.decoded = hold_quietly, .recalled = not_recalled}};
    uint64_t cycles = cycles_of(&waits, NULL, "plain", 64, 0, 0);
    struct rig r;
    run(&r, &holds, NULL, "plain", 64, 0, 0);
    assert_int_equal(r.cycles, cycles);
    assert_true(s.count < 100);
    assert_int_equal(rig_word(&r, 63), 189 ^ 5);
    rig_close(&r);
}

/* Nothing enters the buffer behind a control instruction that is in it. */
static enum mech_decode hold_behind_control(void *m, uint32_t warp, uint32_t pc, uint64_t now) {
    (void)m, (void)pc, (void)now;
    const struct core_warp *cw = &mech_sm->warps[warp];
    s.depth = 0;
    for (uint32_t k = 0; k < cw->buffered; k++)
        s.depth |= cw->needs[cw->buffer[(cw->first + k) % CORE_BUFFER]].control;
    return s.depth ? DECODE_HOLD : DECODE_KEEP;
}

static void ask_behind_control(void *m, uint32_t warp, const struct xinst *i, uint32_t mask) {
    (void)m, (void)i, (void)mask;
    core_ask(mech_sm, warp);
}

static void recalled(void *m, uint32_t warp, uint64_t now) {
    (void)m, (void)warp;
    assert_int_equal(now, mech_sm->now);
    assert_int_equal(s.depth, 1);
    s.depth = 0;
    s.count++;
}

/* A branch takes the warp away from what is held; once, at the end, it does not. */
static void test_recalled(void **state) {
    (void)state;
    static const struct mech_points p = {.watch = {.control = ask_behind_control},
                                         .stream = {.decoded = hold_behind_control, .recalled = recalled}};
    struct rig r;
    run(&r, &p, "fetch.buffer=4", "chain", 32, 40, 1);
    assert_in_range(s.count, 20, 39);
    assert_int_equal(rig_word(&r, 7), 160);
    rig_close(&r);
}

/* ---- issue slots ---- */

static void want_as_told(void *m, const void *marks) {
    (void)marks;
    core_want_slots(mech_sm, m, (enum mech_slots)s.depth);
}

static uint32_t count_slots(void *m, uint32_t sched, uint32_t free, uint64_t now) {
    (void)m, (void)free, (void)now;
    s.count++;
    s.ended += !(mech_sm->group[sched] & ready_warps(mech_sm));
    return 0;
}

/* Who does not use slots is not asked, or only where a warp is ready. */
static void test_want_slots(void **state) {
    (void)state;
    static const struct mech_points p = {.life = {.start = want_as_told}, .gate = {.slots = count_slots}};
    const struct mech_points *one = &p;
    uint64_t asked[3], idle[3], cycles[3];
    for (uint32_t when = SLOTS_NEVER; when <= SLOTS_ALWAYS; when++) {
        struct rig r;
        memset(&s, 0, sizeof s);
        s.depth = when;
        mech_rig_open(&r, "gtx480", NULL, kernels, 1, &one);
        cycles[when] = rig_run(&r, "chain", 1, 64, (struct rig_params){.n = 40, .x = 1});
        asked[when] = s.count;
        idle[when] = s.ended;
        rig_close(&r);
    }
    assert_int_equal(asked[SLOTS_NEVER], 0);
    assert_int_equal(idle[SLOTS_READY], 0);
    assert_true(asked[SLOTS_READY] > 0 && idle[SLOTS_ALWAYS] > 0);
    assert_int_equal(asked[SLOTS_ALWAYS] - idle[SLOTS_ALWAYS], asked[SLOTS_READY]);
    assert_int_equal(cycles[SLOTS_NEVER], cycles[SLOTS_ALWAYS]);
    assert_int_equal(cycles[SLOTS_READY], cycles[SLOTS_ALWAYS]);
}

/* ---- blocks ---- */

static bool alone(void *m, uint32_t warps) {
    (void)m;
    assert_int_equal(warps, 2);
    s.count++;
    return !mech_sm->nblocks;
}

static void most_blocks(void *m, uint32_t block, bool enters) {
    (void)m, (void)block, (void)enters;
    s.at = s.at > mech_sm->nblocks ? s.at : mech_sm->nblocks;
}

/* A mechanism lets the next block enter when the one before has left. */
static void test_admit(void **state) {
    (void)state;
    struct rig r;
    static const struct mech_points p = {.life = {.admit = alone, .block = most_blocks}},
                                    watches = {.life = {.block = most_blocks}},
                                    *const points[] = {&p, &watches};
    for (uint32_t k = 0; k < 2; k++) {
        memset(&s, 0, sizeof s);
        mech_rig_open(&r, "gtx480", NULL, kernels, 1, &points[k]);
        rig_run(&r, "chain", 7, 64, (struct rig_params){.n = 9, .x = 3});
        assert_int_equal(s.at, k ? 7 : 1);
        assert_true(k || s.count > 7);
        assert_int_equal(rig_counter(&r, "sm.blocks"), 7);
        rig_close(&r);
    }
}

/* ---- eligible ---- */

static uint64_t late(void *m, uint64_t ready, uint64_t now) {
    (void)m, (void)ready;
    if (!s.at)
        s.at = now + 1000;
    s.count += now < s.at;
    return now < s.at ? 0 : ready;
}

static uint64_t never(void *m, uint64_t ready, uint64_t now) {
    (void)m, (void)now;
    return ready & ~UINT64_C(1);
}

static void test_eligible(void **state) {
    (void)state;
    struct rig r;
    char *report = NULL;
    uint64_t base = cycles_of(NULL, NULL, "plain", 32, 0, 0);
    run(&r, &(struct mech_points){.gate = {.eligible = late}}, NULL, "plain", 32, 0, 0);
    assert_int_equal(r.cycles, base + 1000);
    assert_int_equal(rig_counter(&r, "slot.mechanism"), 1000);
    assert_int_equal(s.count, 1000);
    rig_close(&r);
    /* A warp that is never let go is a hang, and the report says who. */
    static const struct mech_points refuses = {.gate = {.eligible = never}}, *const points[] = {&refuses};
    mech_rig_open(&r, "gtx480", NULL, kernels, 1, points);
    assert_int_equal(rig_try(&r, "plain", 1, 64, 0, (struct rig_params){0}, &report), RP_TIMEOUT);
    assert_non_null(strstr(report, "warp 0: is ready to issue"));
    assert_null(strstr(report, "warp 1: "));
    free(report);
    rig_close(&r);
}

/* s.depth: a gate for all warps, for that of slot 1 alone, or an open one. */
static void gate_as_told(void *m, const void *marks) {
    (void)marks;
    core_want_slots(mech_sm, m, SLOTS_READY);
    core_concern(mech_sm, m, s.depth == 1 ? 2 : UINT64_MAX);
    core_open_gate(mech_sm, m, s.depth == 2);
}

static uint64_t count_eligible(void *m, uint64_t ready, uint64_t now) {
    (void)m, (void)now;
    assert_true(s.depth == 0 || (s.depth == 1 && ready & 2));
    s.count++;
    return ready;
}

static uint32_t count_concerned(void *m, uint32_t sched, uint32_t free, uint64_t now) {
    (void)m, (void)free, (void)now;
    uint64_t ready = mech_sm->group[sched] & ready_warps(mech_sm);
    assert_true(s.depth == 1 ? ready & 2 : ready);
    s.ended++;
    return 0;
}

/* Nobody is asked of warps that do not concern it, nor at an open gate; of stacks, too. */
static void test_concern(void **state) {
    (void)state;
    static const struct mech_points p = {.life = {.start = gate_as_told},
                                         .gate = {.eligible = count_eligible, .slots = count_concerned}},
                                    q = {.gate = {.eligible = late}}, *const both[] = {&p, &q};
    for (uint32_t n = 1; n <= 2; n++) {
        uint64_t gate[3], slots[3], cycles[3];
        for (uint32_t how = 0; how < 3; how++) {
            struct rig r;
            memset(&s, 0, sizeof s);
            s.depth = how;
            s.at = 1; /* the other one lets all pass */
            mech_rig_open(&r, "gtx480", NULL, kernels, n, both);
            cycles[how] = rig_run(&r, "chain", 1, 64, (struct rig_params){.n = 40, .x = 1});
            gate[how] = s.count;
            slots[how] = s.ended;
            rig_close(&r);
        }
        assert_true(gate[1] > 0 && gate[1] < gate[0] && slots[1] > 0 && slots[1] < slots[0]);
        assert_int_equal(gate[2], 0);
        assert_int_equal(slots[2], slots[0]);
        assert_true(cycles[1] == cycles[0] && cycles[2] == cycles[0]);
    }
}

/* Warps in slots 0 and 2, of one scheduler whose active set is one warp, at first that of slot 2, which waits
 * for the other. s.token: it is parked meanwhile. */
enum { WAITS = 2, OTHER = 0 };

static uint64_t one_waits(void *m, uint64_t ready, uint64_t now) {
    (void)m, (void)now;
    if (!(ready >> WAITS & 1) || !(mech_sm->resident >> OTHER & 1))
        return ready;
    core_park(mech_sm, WAITS, s.token);
    return ready & ~(UINT64_C(1) << WAITS);
}

static void unpark(void *m, uint64_t now) {
    (void)m, (void)now;
    if (mech_sm->parked && !(mech_sm->resident >> OTHER & 1))
        core_park(mech_sm, WAITS, false);
}

static uint64_t each_cycle(const void *m, uint64_t now) {
    (void)m;
    return now + 1;
}

static void test_park(void **state) {
    (void)state;
    static const struct mech_points p = {.life = {.tick = unpark, .next = each_cycle},
                                         .gate = {.eligible = one_waits}},
                                    *const points[] = {&p};
    for (uint32_t parks = 0; parks < 2; parks++) {
        struct rig r;
        memset(&s, 0, sizeof s);
        s.token = parks;
        mech_rig_open(&r, "dac", "issue.active=1", kernels, 1, points);
        enum rp_status st = rig_try(&r, "plain", 1, 128, 0, (struct rig_params){0}, NULL);
        assert_int_equal(st, parks ? RP_OK : RP_TIMEOUT);
        rig_close(&r);
    }
}

/* ---- arbitrate ---- */

/* As the SM's own. */
static void same_arbiter(void *m, uint64_t now) {
    (void)m, (void)now;
    uint32_t busy = 0, reads = 0, writes = 0;
    for (uint32_t left; (left = mech_sm->write_banks & ~busy);) {
        uint32_t b = (uint32_t)__builtin_ctz(left);
        busy |= 1u << b;
        writes += mech_sm->ops[mech_sm->bank_writes[b][0]].next != CORE_NONE;
        core_serve_write(mech_sm, b, CORE_NONE);
    }
    for (uint32_t b = 0; b < mech_sm->spec->banks; b++) {
        if (!(mech_sm->read_banks >> b & 1))
            continue;
        if (!(busy >> b & 1) || mech_sm->spec->dual_port)
            core_serve_read(mech_sm, b, CORE_NONE);
        reads += mech_sm->read_banks >> b & 1;
    }
    core_conflicts(mech_sm, reads, writes);
}

/* The youngest request first, which must not lose or repeat one; at most `most` in a cycle. */
static void serve_last(uint32_t most) {
    for (uint32_t b = 0; b < mech_sm->spec->banks; b++)
        for (uint32_t n = 0; n < most; n++) {
            int32_t prev = CORE_NONE;
            if (mech_sm->write_banks >> b & 1) {
                for (int32_t at = mech_sm->bank_writes[b][0]; mech_sm->ops[at].next != CORE_NONE;
                     at = mech_sm->ops[at].next)
                    prev = at;
                core_serve_write(mech_sm, b, prev);
            } else if (mech_sm->read_banks >> b & 1) {
                for (int32_t at = mech_sm->bank_reads[b][0]; mech_sm->reads[at].next != CORE_NONE;
                     at = mech_sm->reads[at].next)
                    prev = at;
                s.count += prev != CORE_NONE;
                core_serve_read(mech_sm, b, prev);
            }
        }
}

static void youngest(void *m, uint64_t now) {
    (void)m, (void)now;
    serve_last(1);
}

static void pairs(void *m, uint64_t now) {
    (void)m, (void)now;
    serve_last(2);
}

/* Whatever waits, in any order, and so many arrays of each access: their owner says so, and is not asked. */
static void serve_arrays(uint32_t n) {
    while (mech_sm->write_banks)
        core_serve_write_of(mech_sm, (uint32_t)__builtin_ctz(mech_sm->write_banks), CORE_NONE, n);
    while (mech_sm->read_banks)
        core_serve_read_of(mech_sm, (uint32_t)__builtin_ctz(mech_sm->read_banks), CORE_NONE, n);
}

static void three_arrays(void *m, uint64_t now) {
    (void)m, (void)now;
    serve_arrays(3);
}

/* It counts them itself. */
static void no_arrays(void *m, uint64_t now) {
    (void)m, (void)now;
    serve_arrays(0);
}

static uint32_t not_asked(void *m, int32_t op, int32_t k, bool write, uint32_t arrays) {
    (void)m, (void)op, (void)k, (void)write;
    fail();
    return arrays;
}

static void test_arbitrate(void **state) {
    (void)state;
    static const char *const settings[] = {"rf.banks=2", "rf.banks=4", "rf.dual_port=true", "rf.mapping=wid"};
    static uint64_t base[RIG_COUNTERS], same[RIG_COUNTERS];
    struct rig r;
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
        run(&r, NULL, settings[k], "banks", 512, 20, 3);
        uint64_t cycles = r.cycles, reads = rig_counter(&r, "rf.reads"),
                 writes = rig_counter(&r, "rf.writes");
        uint32_t n = rig_counters(&r, base), last = rig_word(&r, 511);
        assert_true(rig_counter(&r, "rf.read.conflicts") > 0);
        rig_close(&r);
        run(&r, &(struct mech_points){.banks = {.arbitrate = same_arbiter}}, settings[k], "banks", 512, 20,
            3);
        assert_int_equal(r.cycles, cycles);
        assert_int_equal(rig_counters(&r, same), n);
        assert_memory_equal(base, same, n * sizeof *base);
        rig_close(&r);
        for (int two = 0; two < 2; two++) {
            run(&r, &(struct mech_points){.banks = {.arbitrate = two ? pairs : youngest}}, settings[k],
                "banks", 512, 20, 3);
            assert_true(s.count > 0);
            assert_int_equal(rig_word(&r, 511), last);
            assert_int_equal(rig_counter(&r, "rf.reads"), reads);
            assert_int_equal(rig_counter(&r, "rf.writes"), writes);
            if (two && k < 2)
                assert_true(r.cycles < cycles);
            rig_close(&r);
        }
        run(&r, &(struct mech_points){.banks = {.arbitrate = three_arrays}, .forms = {not_asked}},
            settings[k], "banks", 512, 20, 3);
        assert_int_equal(rig_word(&r, 511), last);
        assert_int_equal(rig_counter(&r, "rf.read.arrays"), 3 * reads);
        assert_int_equal(rig_counter(&r, "rf.write.arrays"), 3 * writes);
        assert_int_equal(rig_counter(&r, "rf.read.arrays.spared"), 5 * reads);
        uint64_t took = r.cycles;
        rig_close(&r);
        run(&r, &(struct mech_points){.banks = {.arbitrate = no_arrays}, .forms = {not_asked}}, settings[k],
            "banks", 512, 20, 3);
        assert_int_equal(rig_word(&r, 511), last);
        assert_int_equal(r.cycles, took);
        assert_false(rig_counter(&r, "rf.reads") || rig_counter(&r, "rf.writes"));
        assert_false(rig_counter(&r, "rf.read.arrays") || rig_counter(&r, "rf.write.arrays"));
        rig_close(&r);
    }
}

/* As the SM's own, where requests need not wait: results come at once, and ops may read alone. */
static void knowing_arbiter(void *m, uint64_t now) {
    uint32_t busy = mech_sm->written_banks, waits = 0;
    s.ended += mech_sm->nlone;
    core_queue_lone(mech_sm, UINT32_MAX);
    if (!mech_sm->spec->dual_port)
        waits = mech_sm->read_banks & busy;
    assert_false(waits);
    core_conflicts(mech_sm, 0, lanes_of(mech_sm->write_banks & busy));
    if (!busy) {
        same_arbiter(m, now);
        return;
    }
    uint32_t reads = 0, writes = 0;
    for (uint32_t left; (left = mech_sm->write_banks & ~busy);) {
        uint32_t b = (uint32_t)__builtin_ctz(left);
        busy |= 1u << b;
        writes += mech_sm->ops[mech_sm->bank_writes[b][0]].next != CORE_NONE;
        core_serve_write(mech_sm, b, CORE_NONE);
    }
    for (uint32_t left = mech_sm->read_banks; left; left &= left - 1) {
        uint32_t b = (uint32_t)__builtin_ctz(left);
        if (!(busy >> b & 1) || mech_sm->spec->dual_port)
            core_serve_read(mech_sm, b, CORE_NONE);
        reads += mech_sm->read_banks >> b & 1;
    }
    core_conflicts(mech_sm, reads, writes);
}

static uint32_t write_at_once(void *m, int32_t op, uint32_t bank) {
    (void)m;
    const struct core_op *o = &mech_sm->ops[op];
    assert_int_equal(o->place, core_place(mech_sm, op, 0, true));
    assert_int_equal(bank, bank_of(mech_sm, o->warp, o->i->d));
    assert_false((mech_sm->read_banks | mech_sm->write_banks | mech_sm->written_banks) >> bank & 1);
    s.count++;
    return s.count % 3 ? o->write_arrays : 0;
}

/* An owner of registers that leaves most where they are, and says of the others the same. */
static bool is_own(const void *m, int32_t op, bool write) {
    (void)m;
    s.count++;
    return op % 2 || (write && s.count % 3);
}

static bool is_silent(const void *m, uint32_t warp) {
    (void)m;
    assert_true(mech_sm->warps[warp].need->computes);
    return s.at++ % 2;
}

static uint32_t base_place(void *m, int32_t op, uint32_t k, bool write) {
    (void)m;
    const struct core_op *o = &mech_sm->ops[op];
    return bank_of(mech_sm, o->warp, write ? o->i->d + k : o->need->reads[k]);
}

static const uint16_t *base_places(void *m, int32_t op) {
    static uint16_t places[CORE_OPS][MAX_SOURCE_WORDS];
    for (uint32_t k = 0; k < mech_sm->ops[op].need->nreads; k++)
        places[op][k] = (uint16_t)base_place(m, op, k, false);
    s.ended++;
    return places[op];
}

static void fill_nothing(void *m, uint32_t warp, const struct xinst *i, uint32_t mask) {
    (void)m, (void)warp, (void)i, (void)mask;
}

static void restore_nothing(void *m, uint32_t warp) {
    (void)m, (void)warp;
}

/* Who is alone and knows more is asked less; nothing else changes. */
static void test_alone(void **state) {
    (void)state;
    static const struct mech_points points[] = {
        {.banks = {.arbitrate = knowing_arbiter, .write = write_at_once, .lone = true}},
        {.registers = {.fill = fill_nothing,
                       .place = base_place,
                       .own = is_own,
                       .silent = is_silent,
                       .places = base_places,
                       .restore = restore_nothing}}};
    static const char *const settings[] = {"rf.banks=2",        "rf.banks=4",     "rf.banks=16",
                                           "rf.dual_port=true", "rf.mapping=wid", "rf.collectors=3"};
    static uint64_t base[RIG_COUNTERS], same[RIG_COUNTERS];
    struct rig r;
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++)
        for (size_t which = 0; which < sizeof points / sizeof *points; which++) {
            run(&r, NULL, settings[k], "banks", 512, 20, 3);
            uint64_t cycles = r.cycles;
            uint32_t n = rig_counters(&r, base);
            rig_close(&r);
            run(&r, &points[which], settings[k], "banks", 512, 20, 3);
            assert_int_equal(r.cycles, cycles);
            assert_int_equal(rig_counters(&r, same), n);
            assert_memory_equal(base, same, n * sizeof *base);
            assert_true(s.count > 0 && s.ended > 0 && (s.at > 0) == (which == 1));
            rig_close(&r);
        }
}

/* ---- ops that mechanisms finish ---- */

static enum mech_verdict take_access(void *m, int32_t op, uint64_t now) {
    (void)m;
    s.count++;
    core_finish(mech_sm, op, now + 10);
    return MECH_TAKEN;
}

static void test_access(void **state) {
    (void)state;
    static const struct mech_points takes = {.memory = {.access = take_access}};
    enum { N = 6 };
    uint64_t base = cycles_of(NULL, NULL, "memory", 64, N, 0);
    struct rig r;
    memset(&s, 0, sizeof s);
    const struct mech_points *const points[] = {&takes};
    mech_rig_open(&r, "gtx480", NULL, kernels, 1, points);
    rig_zero(&r);
    for (uint32_t t = 0; t < 64; t++)
        ((uint32_t *)(uintptr_t)r.buffer)[512 + t] = t;
    rig_run(&r, "memory", 1, 64, (struct rig_params){.n = N});
    for (uint32_t t = 0; t < 64; t++) /* the effect is the program's; only the access is the mechanism's */
        assert_int_equal(rig_word(&r, t), N * t);
    assert_int_equal(s.count, 2 * 3 * N);
    assert_int_equal(rig_counter(&r, "global.accesses"), 0);
    assert_int_equal(rig_counter(&r, "l1.reads"), 0);
    assert_true(r.cycles < base);
    /* Fences waited for the stores that were taken, and no room for accesses was lost: it goes on. */
    for (uint32_t k = 0; k < 5; k++)
        rig_run(&r, "memory", 8, 256, (struct rig_params){.n = 20});
    rig_close(&r);
}

static enum mech_verdict give_value(void *m, int32_t op, uint64_t now) {
    (void)m;
    uint32_t value[WARP_LANES];
    if (!is_op(mech_sm->ops[op].i, OP_XOR))
        return MECH_PASS;
    for (uint32_t l = 0; l < WARP_LANES; l++)
        value[l] = 70 + l;
    s.count++;
    if (s.at) {
        core_supply(mech_sm, op, value);
    } else {
        core_give(mech_sm, op, value);
        core_finish(mech_sm, op, now + 3);
    }
    return MECH_TAKEN;
}

static enum mech_verdict supply_value(void *m, int32_t op, uint64_t now) {
    s.at = 1;
    return give_value(m, op, now);
}

/* The program goes on with what a mechanism supplies. */
static void test_supply(void **state) {
    (void)state;
    struct rig r;
    uint64_t writes[3];
    for (int k = 0; k < 3; k++) {
        const struct mech_points p = {.front = {.take = k == 2 ? supply_value : give_value}};
        run(&r, k ? &p : NULL, NULL, "plain", 32, 0, 0);
        for (uint32_t t = 0; k && t < 32; t++)
            assert_int_equal(rig_word(&r, t), 70 + t);
        writes[k] = rig_counter(&r, "rf.writes");
        assert_int_equal(rig_counter(&r, "lanes.logic"), k ? 0 : 32); /* nothing was executed */
        rig_close(&r);
    }
    assert_int_equal(writes[1], writes[0]);
    assert_int_equal(writes[2], writes[0] - 1);
}

static struct mech_work slow(void *m, int32_t op, struct mech_work work) {
    (void)m;
    core_delay(mech_sm, op, 5);
    s.count++;
    return work;
}

static struct mech_work one_lane(void *m, int32_t op, struct mech_work work) {
    (void)m, (void)op;
    work.lanes = 1;
    return work;
}

static struct mech_work long_beats(void *m, int32_t op, struct mech_work work) {
    (void)m, (void)op;
    work.beats = 40;
    return work;
}

/* Loops of dependent instructions, in which these take longest: what 50 times around more take. */
static uint64_t fifty(const struct mech_points *p, const char *kernel, const char *set) {
    uint64_t cycles[2];
    for (uint32_t k = 0; k < 2; k++) {
        struct rig r;
        mech_rig_open(&r, "gtx480", set, kernels, p != NULL, &p);
        *(uint64_t *)(uintptr_t)r.buffer = r.buffer; /* a chain of loads goes on here */
        cycles[k] = rig_run(&r, kernel, 1, 1, (struct rig_params){.n = 10 + 50 * k, .x = 3});
        rig_close(&r);
    }
    return cycles[1] - cycles[0];
}

/* Every instruction of a chain takes five cycles more; lanes are for energy alone. */
static void test_dispatch(void **state) {
    (void)state;
    static const struct mech_points slower = {.units = {slow}}, lanes = {.units = {one_lane}},
                                    beats = {.units = {long_beats}};
    static const char *const slow_alu = "latency.alu=60", *const quick_alu = "latency.alu=4",
                             *const slow_shared = "latency.shared=200";
    assert_int_equal(fifty(&slower, "chain", slow_alu) - fifty(NULL, "chain", slow_alu), 50 * 4 * 5);
    assert_int_equal(fifty(&slower, "chase", quick_alu) - fifty(NULL, "chase", quick_alu), 50 * 5);
    assert_int_equal(fifty(&slower, "chase_shared", slow_shared) - fifty(NULL, "chase_shared", slow_shared),
                     50 * 5);
    struct rig r;
    run(&r, NULL, NULL, "chain", 32, 60, 3);
    uint64_t cycles = r.cycles, sp = rig_counter(&r, "unit.sp"), iadd = rig_counter(&r, "lanes.iadd");
    rig_close(&r);
    run(&r, &lanes, NULL, "chain", 32, 60, 3);
    assert_int_equal(r.cycles, cycles);
    assert_int_equal(rig_counter(&r, "unit.sp"), sp);
    assert_int_equal(rig_counter(&r, "lanes.iadd"), iadd / 32);
    assert_int_equal(rig_word(&r, 31), 4 * 60 * 3);
    rig_close(&r);
    /* 16 warps of a loop of six such instructions, in turn on two units: each keeps one busy. */
    cycles = cycles_of(&beats, NULL, "chain", 512, 60, 3);
    assert_true(cycles > 16 * 60 * 6 * 40 / 2 && cycles < 16 * 60 * 7 * 40 / 2 + 2000);
}

/* ---- reads for a mechanism ---- */

static enum mech_verdict read_first(void *m, int32_t op, uint64_t now) {
    (void)m, (void)now;
    if (!mech_sm->ops[op].writes)
        return MECH_PASS;
    s.count++;
    core_read(mech_sm, op, 1);
    return MECH_TAKEN;
}

static void then_write(void *m, int32_t op, uint64_t now) {
    (void)m, (void)now;
    s.ended++;
    core_write(mech_sm, op);
}

static uint32_t nine_arrays(void *m, int32_t op, int32_t k, bool write, uint32_t arrays) {
    (void)m, (void)op, (void)arrays;
    return k == CORE_NONE && !write ? 9 : 1;
}

static void end_written(void *m, int32_t op, uint32_t k) {
    (void)m;
    if (k + 1u < mech_sm->ops[op].writes)
        core_write(mech_sm, op);
    else
        core_retire(mech_sm, op);
}

/* One read more for each result, of a bank that the mechanism names, before it is written. */
static void test_read(void **state) {
    (void)state;
    struct rig r;
    run(&r, NULL, NULL, "plain", 64, 0, 0);
    uint64_t reads = rig_counter(&r, "rf.reads"), writes = rig_counter(&r, "rf.writes");
    rig_close(&r);
    run(&r,
        &(struct mech_points){.back = {.result = read_first, .read_done = then_write, .written = end_written},
                              .forms = {nine_arrays}},
        NULL, "plain", 64, 0, 0);
    assert_true(s.count > 0);
    assert_int_equal(s.ended, s.count);
    assert_int_equal(rig_counter(&r, "rf.reads"), reads + s.count);
    assert_int_equal(rig_counter(&r, "rf.read.arrays"), reads + 9 * s.count);
    assert_int_equal(rig_counter(&r, "rf.writes"), writes);
    assert_int_equal(rig_counter(&r, "rf.write.arrays"), writes);
    for (uint32_t t = 0; t < 64; t++)
        assert_int_equal(rig_word(&r, t), (3 * t) ^ 5);
    rig_close(&r);
}

/* ---- instructions of the mechanism's own ---- */

static struct inst own_inst;
static struct core_own own = {.i = {.in = &own_inst,
                                    .kind = X_ALU,
                                    .nsw = 1,
                                    .ndw = 1,
                                    .guard = PRED_PT,
                                    .ps = {PRED_PT, PRED_PT},
                                    .pd = {PRED_PT, PRED_PT}}};

/* A copy of the register that each XOR writes, by an op of the warp, while the scoreboard holds the register.
 */
static enum mech_verdict copy_too(void *m, int32_t op, uint64_t now) {
    (void)m;
    const struct core_op *o = &mech_sm->ops[op];
    if (!is_op(o->i, OP_XOR))
        return MECH_PASS;
    own.i.d = own.i.s[0] = o->i->d;
    core_prepare(&own);
    s.op = core_inject(mech_sm, o->warp, &own, 0xff);
    assert_true(core_collector_free(mech_sm, &own.need));
    core_collect(mech_sm, s.op);
    core_finish(mech_sm, op, now + 500); /* the instruction itself comes much later */
    s.partner[0] = op;
    return MECH_TAKEN;
}

static void copy_ended(void *m, int32_t op) {
    (void)m;
    const struct core_op *o = &mech_sm->ops[op];
    uint32_t d = o->i->d;
    bool pending = mech_sm->warps[o->warp].pending[d / 64] >> (d % 64) & 1;
    s.ended += op == s.op && pending;
}

static void test_inject(void **state) {
    (void)state;
    struct rig r;
    own_inst = inst_new(OP_MOV);
    run(&r, NULL, NULL, "plain", 32, 0, 0);
    uint64_t cycles = r.cycles, reads = rig_counter(&r, "rf.reads"), writes = rig_counter(&r, "rf.writes");
    rig_close(&r);
    run(&r, &(struct mech_points){.front = {.take = copy_too}, .watch = {.retire = copy_ended}}, NULL,
        "plain", 32, 0, 0);
    assert_int_equal(s.ended, 1);
    assert_true(r.cycles > cycles + 400);                 /* the copy released nothing */
    assert_int_equal(rig_counter(&r, "rf.reads"), reads); /* its source instead of XOR's */
    assert_int_equal(rig_counter(&r, "rf.writes"), writes + 1);
    assert_int_equal(rig_word(&r, 31), 93 ^ 5);
    rig_close(&r);
}

/* ---- points that need not be called ---- */

static void ignore_program(void *m, const void *marks) {
    (void)marks;
    core_ignore(mech_sm, m, MECH_AT_watch_issued);
    core_ignore(mech_sm, m, MECH_AT_watch_collected);
    core_ignore(mech_sm, m, MECH_AT_watch_retire);
}

static void count_told(void *m, int32_t op) {
    (void)m;
    s.count += mech_sm->ops[op].pc != CORE_NO_PC;
    s.ended += mech_sm->ops[op].pc == CORE_NO_PC;
}

/* Who is alone is told of the ops that it injects, and of no others; beside another it is told of all. */
static void test_ignore(void **state) {
    (void)state;
    struct rig r;
    static const struct mech_points p = {
        .life = {.start = ignore_program},
        .watch = {.issued = count_told, .collected = count_told, .retire = count_told},
        .front = {.take = copy_too}};
    static const struct mech_points watcher = {.watch = {.retire = copy_ended}};
    const struct mech_points *const both[] = {&p, &watcher};
    own_inst = inst_new(OP_MOV);
    run(&r, &p, NULL, "plain", 32, 0, 0);
    assert_int_equal(s.count, 0);
    assert_int_equal(s.ended, 2); /* collected, retired */
    rig_close(&r);
    memset(&s, 0, sizeof s);
    mech_rig_open(&r, "gtx480", NULL, kernels, 2, both);
    rig_run(&r, "plain", 1, 32, (struct rig_params){0});
    assert_true(s.count > 10);
    assert_int_equal(s.ended, 3); /* once more by the other one */
    rig_close(&r);
}

static void rest_at_first(void *m, const void *marks) {
    (void)marks;
    if (!s.ended)
        core_rest(mech_sm, m);
}

static const char *count_finish(void *m, bool cut) {
    (void)m, (void)cut;
    s.ended++;
    return NULL;
}

static void count_issued(void *m, int32_t op) {
    (void)m, (void)op;
    s.count++;
}

/* Who has nothing to do in a launch is called at its beginning and end alone, and as ever in the next one. */
static void test_rest(void **state) {
    (void)state;
    struct rig r;
    static const struct mech_points p = {.life = {.start = rest_at_first, .finish = count_finish},
                                         .watch = {.issued = count_issued}};
    run(&r, &p, NULL, "plain", 32, 0, 0);
    assert_int_equal(s.count, 0);
    assert_int_equal(s.ended, 1);
    rig_run(&r, "plain", 1, 32, (struct rig_params){0});
    assert_true(s.count > 5);
    assert_int_equal(s.ended, 2);
    rig_close(&r);
}

/* XOR is over when it has issued. */
static enum mech_verdict end_xor(void *m, int32_t op, uint64_t now) {
    (void)now;
    const struct core_op *o = &mech_sm->ops[op];
    uint32_t value[WARP_LANES];
    if (!is_op(o->i, OP_XOR))
        return MECH_PASS;
    memcpy(value, mech_sm->warps[o->warp].w->r[o->i->d], sizeof value);
    core_give(mech_sm, op, value);
    core_retire_by(mech_sm, op, m);
    return MECH_TAKEN;
}

static void own_end(void *m, int32_t op) {
    (void)m;
    assert_false(is_op(mech_sm->ops[op].i, OP_XOR));
}

static void other_end(void *m, int32_t op) {
    (void)m;
    s.count += is_op(mech_sm->ops[op].i, OP_XOR);
}

/* All mechanisms of the rig have the same state: the second gets another. */
static void tell_apart(void *m, const void *marks) {
    (void)m, (void)marks;
    if (mech_sm->mech.n > 1)
        mech_sm->mech.at[1].state = &s;
}

/* Who ends an op is not told of its end, but others are. */
static void test_retire_by(void **state) {
    (void)state;
    struct rig r;
    static const struct mech_points p = {
        .life = {.start = tell_apart}, .watch = {.retire = own_end}, .front = {.take = end_xor}};
    static const struct mech_points watcher = {.watch = {.retire = other_end}};
    const struct mech_points *const both[] = {&p, &watcher};
    for (uint32_t n = 1; n <= 2; n++) {
        memset(&s, 0, sizeof s);
        mech_rig_open(&r, "gtx480", NULL, kernels, n, both);
        rig_run(&r, "plain", 1, 32, (struct rig_params){0});
        assert_int_equal(s.count, n - 1);
        assert_int_equal(rig_word(&r, 31), 93 ^ 5);
        rig_close(&r);
    }
}

static void collect_issued(void *m, int32_t op) {
    (void)m;
    assert_true(core_collector_free(mech_sm, mech_sm->ops[op].need));
    core_collect(mech_sm, op);
    s.count++;
}

/* Who takes every op need not be asked. */
static void test_take_every(void **state) {
    (void)state;
    struct rig r;
    static const struct mech_points p = {.watch = {.issued = collect_issued}, .front = {.every = true}};
    uint64_t cycles = cycles_of(NULL, NULL, "plain", 32, 0, 0);
    run(&r, &p, NULL, "plain", 32, 0, 0);
    assert_true(s.count > 3);
    assert_int_equal(r.cycles, cycles);
    assert_int_equal(rig_word(&r, 31), 93 ^ 5);
    rig_close(&r);
}

/* ---- memory of the mechanism's own ---- */

static uint64_t wanted; /* a line of memory */

static void ask(void *m, uint64_t now) {
    (void)m;
    if (s.count)
        return;
    struct mem_access a = {
        .line = wanted, .lanes = 1, .bytes = 4, .sectors = mem_all_sectors(MEM_MAX_LINE), .kind = MEM_LOAD};
    if (mem_accepted(core_request(mech_sm, &a, 12345, now))) {
        s.count = 1;
        s.at = now;
    }
}

static void came(void *m, uint32_t token, uint64_t now) {
    (void)m;
    s.token = token;
    s.at = now - s.at;
    s.ended++;
}

/* Nobody issues before the line is there. */
static uint64_t after_line(void *m, uint64_t ready, uint64_t now) {
    (void)m, (void)now;
    return s.ended ? ready : 0;
}

static void test_request(void **state) {
    (void)state;
    struct rig r;
    static const struct mech_points p = {.life = {.tick = ask},
                                         .memory = {.arrived = came},
                                         .gate = {.eligible = after_line}},
                                    *const points[] = {&p};
    memset(&s, 0, sizeof s);
    mech_rig_open(&r, "gtx480", NULL, kernels, 1, points);
    wanted = r.buffer & ~(uint64_t)(MEM_MAX_LINE - 1);
    rig_run(&r, "memory", 1, 32, (struct rig_params){.n = 1});
    assert_int_equal(s.ended, 1);
    assert_int_equal(s.token, 12345);
    assert_true(s.at > 50);
    assert_int_equal(rig_counter(&r, "l1.reads"), 3);       /* two of the program's */
    assert_int_equal(rig_counter(&r, "l1.read_misses"), 2); /* of which one finds the line */
    rig_close(&r);
}

/* One request after the other, of more lines than the cache can wait for. s.depth: what it has refused is not
 * asked for again before it changes. */
enum { MANY = 200 };
static struct {
    enum mem_result why;
    uint32_t epoch;
    bool is;
} refused;

static void ask_many(void *m, uint64_t now) {
    (void)m;
    const struct mem_access a = {.line = wanted + s.count * MEM_MAX_LINE,
                                 .lanes = 1,
                                 .bytes = 4,
                                 .sectors = mem_all_sectors(MEM_MAX_LINE),
                                 .kind = MEM_LOAD};
    if (s.count == MANY)
        return;
    if (s.depth && refused.is && core_refused(mech_sm, &a, refused.why, refused.epoch, now)) {
        s.token++;
        return;
    }
    enum mem_result r = core_request(mech_sm, &a, 1, now);
    refused.is = !mem_accepted(r);
    refused.why = r;
    refused.epoch = core_data_epoch(mech_sm);
    s.count += mem_accepted(r);
}

static void came_one(void *m, uint32_t token, uint64_t now) {
    (void)m, (void)token, (void)now;
    s.ended++;
}

static uint64_t after_many(void *m, uint64_t ready, uint64_t now) {
    (void)m, (void)now;
    return s.ended == MANY ? ready : 0;
}

static void test_refused(void **state) {
    (void)state;
    static const struct mech_points p = {.life = {.tick = ask_many},
                                         .memory = {.arrived = came_one},
                                         .gate = {.eligible = after_many}},
                                    *const points[] = {&p};
    uint64_t cycles[2], stalls[2];
    for (uint32_t k = 0; k < 2; k++) {
        struct rig r;
        memset(&s, 0, sizeof s);
        memset(&refused, 0, sizeof refused);
        s.depth = k;
        mech_rig_open(&r, "gtx480", NULL, kernels, 1, points);
        wanted = r.buffer & ~(uint64_t)(MEM_MAX_LINE - 1);
        cycles[k] = rig_run(&r, "memory", 1, 32, (struct rig_params){.n = 1});
        stalls[k] = rig_counter(&r, "l1.stall_mshr");
        assert_true(k ? s.token > 0 : !s.token);
        rig_close(&r);
    }
    assert_int_equal(cycles[0], cycles[1]);
    assert_int_equal(stalls[0], stalls[1]);
    assert_true(stalls[0] > 0);
}

/* Nobody waits for a prefetch, and the line is there nevertheless. */
static void fetch_ahead(void *m, uint64_t now) {
    (void)m;
    const struct mem_access a = {.line = wanted,
                                 .lanes = 1,
                                 .bytes = 4,
                                 .sectors = mem_all_sectors(MEM_MAX_LINE),
                                 .kind = MEM_PREFETCH};
    s.count = s.count || mem_accepted(core_request(mech_sm, &a, 1, now));
    s.at = s.at ? s.at : now;
}

static uint64_t much_later(void *m, uint64_t ready, uint64_t now) {
    (void)m;
    return now > s.at + 5000 ? ready : 0;
}

static void test_prefetch(void **state) {
    (void)state;
    struct rig r;
    static const struct mech_points p = {.life = {.tick = fetch_ahead}, .gate = {.eligible = much_later}},
                                    *const points[] = {&p};
    memset(&s, 0, sizeof s);
    mech_rig_open(&r, "gtx480", NULL, kernels, 1, points);
    wanted = r.buffer & ~(uint64_t)(MEM_MAX_LINE - 1);
    rig_run(&r, "memory", 1, 32, (struct rig_params){.n = 1});
    assert_int_equal(s.count, 1);
    assert_int_equal(rig_counter(&r, "l1.prefetches"), 1);
    assert_int_equal(rig_counter(&r, "l1.prefetch_useful"), 1);
    assert_int_equal(rig_counter(&r, "l1.read_misses"), 1);
    rig_close(&r);
}

/* ---- two warps as one ---- */

static uint32_t other(uint32_t warp) {
    return warp ^ 1;
}

static uint64_t even_fetch(void *m, uint64_t wanting, uint64_t now) {
    (void)m, (void)now;
    return wanting & 0x5555555555555555;
}

static uint64_t even_pairs(void *m, uint64_t ready, uint64_t now) {
    (void)m, (void)now;
    ready &= 0x5555555555555555;
    for (uint64_t left = ready; left; left &= left - 1) {
        uint32_t warp = (uint32_t)__builtin_ctzll(left);
        if (!core_can_issue(mech_sm, other(warp)))
            ready &= ~(UINT64_C(1) << warp);
    }
    return ready;
}

/* The odd warp does what the even one does; its op ends with that of the other, or goes to memory. */
static enum mech_verdict ride(void *m, int32_t op, uint64_t now) {
    (void)m;
    const struct core_op *o = &mech_sm->ops[op];
    s.partner[op] = CORE_NONE;
    if (o->warp % 2)
        return MECH_PASS;
    assert_int_equal(o->pc, mech_sm->warps[other(o->warp)].next);
    int32_t with = core_issue(mech_sm, other(o->warp), now);
    s.count++;
    if (o->need->memory)
        core_memory(mech_sm, with);
    else
        s.partner[op] = with;
    return MECH_PASS;
}

static void ride_control(void *m, uint32_t warp, const struct xinst *i, uint32_t mask) {
    (void)m, (void)i, (void)mask;
    if (warp % 2)
        return;
    assert_int_equal(core_issue(mech_sm, other(warp), mech_sm->now), CORE_NONE);
    s.count++;
}

static void end_both(void *m, int32_t op) {
    (void)m;
    if (mech_sm->ops[op].warp % 2 == 0 && s.partner[op] != CORE_NONE)
        core_retire(mech_sm, s.partner[op]);
}

static void test_ride(void **state) {
    (void)state;
    static const struct mech_points p = {.stream = {.fetch = even_fetch},
                                         .gate = {.eligible = even_pairs},
                                         .front = {.take = ride},
                                         .watch = {.control = ride_control, .retire = end_both}};
    struct rig r;
    run(&r, NULL, NULL, "banks", 128, 20, 3);
    uint32_t want[128];
    for (uint32_t t = 0; t < 128; t++)
        want[t] = rig_word(&r, t);
    uint64_t insts = rig_counter(&r, "sm.insts.warp"), sp = rig_counter(&r, "unit.sp"),
             threads = rig_counter(&r, "sm.insts.thread"), fetched = rig_counter(&r, "fetch.insts");
    rig_close(&r);
    run(&r, &p, NULL, "banks", 128, 20, 3);
    for (uint32_t t = 0; t < 128; t++)
        assert_int_equal(rig_word(&r, t), want[t]);
    assert_int_equal(s.count * 2, insts);
    assert_int_equal(rig_counter(&r, "sm.insts.warp"), s.count); /* and as many slots: the rig looks */
    assert_int_equal(rig_counter(&r, "sm.insts.thread"), threads);
    assert_int_equal(rig_counter(&r, "unit.sp"), sp / 2);
    assert_int_equal(rig_counter(&r, "fetch.insts"), fetched / 2);
    assert_int_equal(rig_counter(&r, "global.accesses"), 4);
    rig_close(&r);
}

static void own_pairs(void *m, const void *marks) {
    (void)m, (void)marks;
    core_pair_warps(mech_sm);
}

/* Slots 0 and 1 belong to one scheduler, 2 and 3 to the other; otherwise slots alternate. */
static void test_pairs(void **state) {
    (void)state;
    struct rig r;
    static const struct mech_points p = {.life = {.start = own_pairs}}, none = {.life = {.start = NULL}};
    run(&r, &none, NULL, "banks", 128, 20, 3);
    assert_int_equal(mech_sm->group[0], 0x5555555555555555);
    rig_close(&r);
    run(&r, &p, NULL, "banks", 128, 20, 3);
    assert_int_equal(mech_sm->group[0], 0x3333333333333333);
    assert_int_equal(mech_sm->group[1], 0xcccccccccccccccc);
    rig_close(&r);
}

/* ---- the stack of paths ---- */

/* A warp whose next instruction is XOR goes on behind it, whatever it has fetched. */
static void pass_by(void *m, uint64_t now) {
    (void)m, (void)now;
    for (uint64_t left = mech_sm->resident & mech_sm->valid; left; left &= left - 1) {
        uint32_t slot = (uint32_t)__builtin_ctzll(left);
        struct core_warp *cw = &mech_sm->warps[slot];
        if (!cw->w->live || !is_op(&mech_sm->x->img->code[cw->next], OP_XOR))
            continue;
        simt_top(cw->w)->pc++;
        core_redirect(mech_sm, slot);
        s.count++;
    }
}

static void test_redirect(void **state) {
    (void)state;
    struct rig r;
    static const struct mech_points p = {.life = {.tick = pass_by}};
    run(&r, &p, NULL, "plain", 64, 0, 0);
    assert_int_equal(s.count, 2);
    for (uint32_t t = 0; t < 64; t++)
        assert_int_equal(rig_word(&r, t), 3 * t);
    rig_close(&r);
    run(&r, &p, NULL, "paths", 32, 4, 20);
    for (uint32_t t = 0; t < 32; t++)
        expect_paths(&r, t, 4, 20, false);
    rig_close(&r);
}

/* ---- places ---- */

static void places(void *m, int32_t op) {
    (void)m;
    const struct core_op *o = &mech_sm->ops[op];
    for (uint32_t k = 0; k < o->need->nreads; k++, s.count++)
        assert_int_equal(core_place(mech_sm, op, k, false), o->warp * MAX_GPR + o->need->reads[k]);
    for (uint32_t k = 0; k < o->writes; k++, s.count++)
        assert_int_equal(core_place(mech_sm, op, k, true), o->warp * MAX_GPR + o->i->d + k);
}

/* The waiting requests of a bank say which registers they are for. */
static void waiting_places(void *m, uint64_t now) {
    (void)m, (void)now;
    for (uint32_t b = 0; b < mech_sm->spec->banks; b++) {
        for (int32_t r = mech_sm->bank_reads[b][0]; mech_sm->read_banks >> b & 1 && r != CORE_NONE;
             r = mech_sm->reads[r].next, s.ended++)
            assert_int_equal(mech_sm->reads[r].place, core_place(mech_sm, mech_sm->reads[r].op,
                                                                 (uint32_t)mech_sm->reads[r].source, false));
        for (int32_t op = mech_sm->bank_writes[b][0]; mech_sm->write_banks >> b & 1 && op != CORE_NONE;
             op = mech_sm->ops[op].next, s.ended++)
            assert_int_equal(mech_sm->ops[op].place,
                             core_place(mech_sm, op, mech_sm->ops[op].next_write, true));
    }
    core_arbitrate(mech_sm);
}

static uint32_t third(void *m, int32_t op, uint32_t k, bool write) {
    (void)m, (void)op;
    return 3 + 4 * k + 100 * write;
}

static void thirds(void *m, int32_t op) {
    (void)m;
    assert_int_equal(core_place(mech_sm, op, 1, true), 107);
}

/* Without an owner every register of every warp is a place; with one, the bank follows from what it says:
 * here all in one of four. */
static void test_place(void **state) {
    (void)state;
    struct rig r;
    run(&r, &(struct mech_points){.watch = {.issued = places}, .banks = {.arbitrate = waiting_places}},
        "rf.banks=4", "banks", 64, 3, 3);
    uint64_t cycles = r.cycles;
    assert_true(s.count > 0 && s.ended > 0);
    rig_close(&r);
    run(&r,
        &(struct mech_points){
            .watch = {.issued = thirds},
            .registers = {.fill = fill_nothing, .place = third, .restore = restore_nothing}},
        "rf.banks=4", "banks", 64, 3, 3);
    assert_true(r.cycles > cycles);
    rig_close(&r);
}

static uint32_t asked_place(void *m, int32_t op, uint32_t k, bool write) {
    s.count++;
    return third(m, op, k, write);
}

/* s.token: the owner says where operands and results lie, and is not asked. */
static enum mech_verdict collect_here(void *m, int32_t op, uint64_t now) {
    (void)now;
    uint16_t places[MAX_SOURCE_WORDS];
    for (uint32_t k = 0; k < mech_sm->ops[op].need->nreads; k++)
        places[k] = (uint16_t)third(m, op, k, false);
    if (s.token)
        core_collect_from(mech_sm, op, places);
    else
        core_collect(mech_sm, op);
    return MECH_TAKEN;
}

static void write_next(void *m, int32_t op) {
    if (s.token)
        core_write_to(mech_sm, op, third(m, op, mech_sm->ops[op].next_write, true));
    else
        core_write(mech_sm, op);
}

static enum mech_verdict write_here(void *m, int32_t op, uint64_t now) {
    (void)now;
    if (!mech_sm->ops[op].writes)
        return MECH_PASS;
    write_next(m, op);
    return MECH_TAKEN;
}

static void wrote_here(void *m, int32_t op, uint32_t k) {
    if (k + 1 < mech_sm->ops[op].writes)
        write_next(m, op);
    else
        core_retire(mech_sm, op);
}

static void test_told_places(void **state) {
    (void)state;
    static const struct mech_points p = {.registers = {.fill = fill_nothing,
                                                       .place = asked_place,
                                                       .restore = restore_nothing},
                                         .front = {.take = collect_here},
                                         .back = {.result = write_here, .written = wrote_here}},
                                    *const points[] = {&p};
    uint64_t cycles[2], conflicts[2];
    for (uint32_t told = 0; told < 2; told++) {
        struct rig r;
        memset(&s, 0, sizeof s);
        s.token = told;
        mech_rig_open(&r, "gtx480", "rf.banks=4", kernels, 1, points);
        cycles[told] = rig_run(&r, "banks", 1, 64, (struct rig_params){.n = 3, .x = 3});
        conflicts[told] = rig_counter(&r, "rf.read.conflicts") + rig_counter(&r, "rf.write.conflicts");
        assert_true(told ? !s.count : s.count > 0);
        rig_close(&r);
    }
    assert_int_equal(cycles[0], cycles[1]);
    assert_int_equal(conflicts[0], conflicts[1]);
}

/* ---- results without a queue ---- */

static void count_ends(void *m, int32_t op) {
    (void)m, (void)op;
    s.count++;
    s.ended += s.at != mech_sm->now; /* before the banks are served */
}

static void note_cycle(void *m, uint64_t now) {
    (void)m;
    s.at = now;
}

static void test_any_order(void **state) {
    (void)state;
    static const struct mech_points queued = {.life = {.tick = note_cycle}, .watch = {.retire = count_ends}},
                                    free = {.life = {.tick = note_cycle, .any_order = true},
                                            .watch = {.retire = count_ends}};
    for (uint32_t k = 0; k < 2; k++) {
        const char *kernel = k ? "banks" : "memory";
        struct rig r;
        run(&r, &queued, "rf.banks=4", kernel, 64, 3, 3);
        uint64_t cycles = r.cycles, ends = s.count, writes = rig_counter(&r, "rf.writes"), before = s.ended,
                 word = rig_word(&r, 7);
        rig_close(&r);
        run(&r, &free, "rf.banks=4", kernel, 64, 3, 3);
        assert_int_equal(r.cycles, cycles);
        assert_int_equal(s.count, ends);
        assert_true(s.ended > before);
        assert_int_equal(rig_counter(&r, "rf.writes"), writes);
        assert_int_equal(rig_word(&r, 7), word);
        rig_close(&r);
    }
}

/* ---- ports of collectors ---- */

/* Three products in a row, of three registers, three and two: with one port each waits for its operands,
 * which lie in different banks, one after the other. */
static void test_ports(void **state) {
    (void)state;
    static const char *const slow = "latency.imul=100",
                             *const three = "latency.imul=100 rf.collector_ports=3",
                             *const one = "latency.imul=100 rf.collector_ports=1";
    uint64_t base = fifty(NULL, "banks", slow);
    assert_int_equal(fifty(NULL, "banks", three), base);
    assert_int_equal(fifty(NULL, "banks", one), base + 50 * (2 + 2 + 1));
}

/* ---- values of one lane, values that a mechanism holds ---- */

/* The product of lane 7 for lanes 4 to 11. */
static void spread(void *m, int32_t op) {
    (void)m;
    if (is_op(mech_sm->ops[op].i, OP_IMUL) || is_op(mech_sm->ops[op].i, OP_IMAD))
        core_spread(mech_sm, op, 7, 0xff0);
}

/* Of the comparison, too: lanes 0 to 15 go where lane 3 goes. */
static void spread_predicate(void *m, int32_t op) {
    (void)m;
    if (is_op(mech_sm->ops[op].i, OP_ISETP))
        core_spread(mech_sm, op, 3, 0xffff);
}

static void operand(void *m, uint32_t warp, const struct xinst *i, uint32_t mask) {
    (void)m, (void)mask;
    uint32_t value[WARP_LANES];
    for (uint32_t l = 0; l < WARP_LANES; l++)
        value[l] = 100 + l;
    if (is_op(i, OP_XOR))
        core_operand(mech_sm, warp, i->s[0], value, 0xffff);
}

static void run_checked(struct rig *r, const struct mech_points *p, const char *kernel, uint32_t x) {
    mech_rig_open(r, "gtx480", NULL, kernels, 1, &p);
    mech_rig_check(r, false);
    rig_run(r, kernel, 1, 32, (struct rig_params){.n = 1, .x = x});
}

static void test_values(void **state) {
    (void)state;
    struct rig r;
    run_checked(&r, &(struct mech_points){.watch = {.issued = spread}}, "plain", 0);
    for (uint32_t t = 0; t < 32; t++)
        assert_int_equal(rig_word(&r, t), (3 * (t >= 4 && t < 12 ? 7 : t)) ^ 5);
    assert_int_equal(rig_counter(&r, "check.wrong"), 1);
    rig_close(&r);
    run_checked(&r, &(struct mech_points){.watch = {.issued = spread_predicate}}, "paths", 2);
    for (uint32_t t = 0; t < 32; t++)
        assert_int_equal(rig_word(&r, t), 1128);
    assert_int_equal(rig_counter(&r, "check.wrong"), 1);
    rig_close(&r);
    run_checked(&r, &(struct mech_points){.values = {operand}}, "plain", 0);
    for (uint32_t t = 0; t < 32; t++)
        assert_int_equal(rig_word(&r, t), (t < 16 ? 100 + t : 3 * t) ^ 5);
    assert_int_equal(rig_counter(&r, "check.wrong"), 1);
    rig_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),      cmocka_unit_test(test_ports),
        cmocka_unit_test(test_lanes),       cmocka_unit_test(test_operands),
        cmocka_unit_test(test_fetch),       cmocka_unit_test(test_skip_cycles),
        cmocka_unit_test(test_admit),       cmocka_unit_test(test_decoded),
        cmocka_unit_test(test_held),        cmocka_unit_test(test_recalled),
        cmocka_unit_test(test_want_slots),  cmocka_unit_test(test_passed),
        cmocka_unit_test(test_eligible),    cmocka_unit_test(test_arbitrate),
        cmocka_unit_test(test_alone),       cmocka_unit_test(test_access),
        cmocka_unit_test(test_supply),      cmocka_unit_test(test_dispatch),
        cmocka_unit_test(test_read),        cmocka_unit_test(test_inject),
        cmocka_unit_test(test_request),     cmocka_unit_test(test_ignore),
        cmocka_unit_test(test_rest),        cmocka_unit_test(test_retire_by),
        cmocka_unit_test(test_take_every),  cmocka_unit_test(test_prefetch),
        cmocka_unit_test(test_ride),        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_redirect),    cmocka_unit_test(test_place),
        cmocka_unit_test(test_park),        cmocka_unit_test(test_concern),
        cmocka_unit_test(test_told_places), cmocka_unit_test(test_any_order),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
