/* The contracts of mech/mech.h: when each point is called, and that a mechanism which has all of them and
 * changes nothing leaves the machine as it is. */
#include <stdio.h>

#include "mech_rig.h"

/* ---- a mechanism with every point, which checks the order of calls and changes nothing ---- */

enum stage { FREE, ISSUED, DISPATCHED, ACCESSED, RESULT, RETIRED };

static struct {
    bool running;
    uint64_t calls[32]; /* by enum mech_point */
    uint64_t ticks, slept, now, eligible, fetching;
    uint64_t blocks, warps;
    uint32_t lanes_of, lanes, operands_of;
    struct {
        enum stage stage;
        uint32_t reads, read_arrays, written;
    } op[1024];
} w;

#define CALLED(point) (w.calls[MECH_AT_##point]++)

static const struct core_op *op_at(int32_t op) {
    return &mech_sm->ops[op];
}

/* Its destination is on the scoreboard. */
static void expect_pending(const struct core_op *o) {
    for (uint32_t r = o->i->d; r < o->i->d + o->i->ndw; r++)
        assert_true(mech_sm->warps[o->warp].pending[r / 64] >> (r % 64) & 1);
}

static bool to_lsu(const struct core_op *o) {
    return op_info[o->i->in->op].unit == UNIT_MEM || (o->space != CORE_TEXTURE && o->naccess);
}

static void start(void *m, const void *marks) {
    assert_ptr_equal(m, mech_sm);
    assert_null(marks);
    assert_false(w.running);
    w.running = true;
    CALLED(start);
}

static const char *finish(void *m) {
    (void)m;
    assert_true(w.running && !w.blocks && !w.warps);
    for (uint32_t k = 0; k < 1024; k++)
        assert_true(w.op[k].stage == FREE || w.op[k].stage == RETIRED);
    w.running = false;
    CALLED(finish);
    return NULL;
}

static void block(void *m, uint32_t slot, bool enters) {
    (void)m;
    assert_non_null(mech_sm->blocks[slot].cta);
    assert_int_equal(w.blocks >> slot & 1, !enters);
    for (uint64_t left = w.warps; left; left &= left - 1) /* its warps come after it and go before it */
        assert_int_not_equal(mech_sm->warps[__builtin_ctzll(left)].block, slot);
    w.blocks ^= UINT64_C(1) << slot;
    CALLED(block);
}

static void warp(void *m, uint32_t slot, bool enters) {
    (void)m;
    assert_non_null(mech_sm->warps[slot].w);
    assert_true(w.blocks >> mech_sm->warps[slot].block & 1);
    assert_int_equal(w.warps >> slot & 1, !enters);
    assert_int_equal(mech_sm->warps[slot].inflight, 0);
    w.warps ^= UINT64_C(1) << slot;
    CALLED(warp);
}

static uint64_t fetch(void *m, uint64_t wanting, uint64_t now) {
    (void)m;
    assert_int_equal(now, w.now);
    assert_true(wanting && !(wanting & ~w.warps) && !(wanting & mech_sm->blocked));
    w.fetching |= wanting;
    CALLED(fetch);
    return wanting;
}

static uint64_t eligible(void *m, uint64_t ready, uint64_t now) {
    (void)m;
    assert_int_equal(now, w.now);
    assert_true(ready && !(ready & ~w.fetching)); /* what they issue they have fetched */
    w.eligible = ready;
    CALLED(eligible);
    return ready;
}

static uint32_t slots(void *m, uint32_t sched, uint32_t free, uint64_t now) {
    (void)m;
    assert_int_equal(now, w.now);
    assert_true(sched < mech_sm->spec->schedulers && free == mech_sm->spec->width);
    CALLED(slots);
    return 0;
}

static uint32_t lanes(void *m, uint32_t slot, const struct xinst *i, uint32_t mask) {
    (void)m;
    assert_true(w.eligible >> slot & 1);
    assert_ptr_equal(i, &mech_sm->x->img->code[mech_sm->warps[slot].next]);
    w.lanes_of = slot + 1;
    w.lanes = mask;
    CALLED(lanes);
    return mask;
}

static void operands(void *m, uint32_t slot, const struct xinst *i, uint32_t mask) {
    (void)m;
    bool control = mech_sm->needs[i - mech_sm->x->img->code].control;
    assert_true(w.eligible >> slot & 1);
    assert_int_equal(w.lanes_of, control ? 0 : slot + 1);
    if (!control)
        assert_int_equal(mask, w.lanes);
    w.lanes_of = 0;
    w.operands_of = slot + 1;
    CALLED(operands);
}

static void control(void *m, uint32_t slot, const struct xinst *i, uint32_t mask) {
    (void)m, (void)mask;
    assert_true(mech_sm->needs[i - mech_sm->x->img->code].control);
    assert_int_equal(w.operands_of, slot + 1);
    w.operands_of = 0;
    CALLED(control);
}

static enum mech_verdict issued(void *m, int32_t op, uint64_t now) {
    (void)m;
    const struct core_op *o = op_at(op);
    assert_int_equal(now, w.now);
    assert_int_equal(w.operands_of, o->warp + 1);
    assert_int_equal(w.lanes, o->mask);
    assert_true(w.op[op].stage == FREE || w.op[op].stage == RETIRED);
    expect_pending(o);
    w.operands_of = 0;
    w.op[op].stage = ISSUED;
    w.op[op].reads = w.op[op].read_arrays = w.op[op].written = 0;
    CALLED(issued);
    return MECH_PASS;
}

static uint32_t place(void *m, int32_t op, uint32_t k, bool write) {
    (void)m;
    const struct core_op *o = op_at(op);
    const struct core_need *need = &mech_sm->needs[o->i - mech_sm->x->img->code];
    assert_int_equal(w.op[op].stage, write ? RESULT : ISSUED);
    assert_int_equal(k, write ? w.op[op].written : w.op[op].reads++);
    CALLED(place);
    return bank_of(mech_sm, o->warp, write ? o->i->d + k : need->reads[k]);
}

static uint32_t arrays(void *m, int32_t op, int32_t k, bool write, uint32_t arrays) {
    (void)m;
    const struct core_op *o = op_at(op);
    assert_int_equal(w.op[op].stage, write ? RESULT : ISSUED);
    assert_true(k >= 0);
    if (write)
        assert_int_equal(k, w.op[op].written);
    else
        assert_int_equal(w.op[op].read_arrays & 1u << k, 0);
    w.op[op].read_arrays |= write ? 0 : 1u << k;
    assert_int_equal(arrays, write ? o->write_arrays : CORE_ARRAYS);
    CALLED(arrays);
    return arrays;
}

static void arbitrate(void *m, uint64_t now) {
    (void)m;
    assert_int_equal(now, w.now);
    core_arbitrate(mech_sm);
    CALLED(arbitrate);
}

static uint32_t dispatch(void *m, int32_t op, uint32_t lanes) {
    (void)m;
    const struct core_op *o = op_at(op);
    assert_int_equal(w.op[op].stage, ISSUED);
    assert_int_equal(w.op[op].read_arrays + 1, 1u << w.op[op].reads); /* all operands have been read */
    assert_int_equal(lanes, __builtin_popcount(o->mask));
    w.op[op].stage = DISPATCHED;
    CALLED(dispatch);
    return lanes;
}

static enum mech_verdict access_(void *m, int32_t op, uint64_t now) {
    (void)m;
    assert_int_equal(now, w.now);
    assert_int_equal(w.op[op].stage, DISPATCHED);
    assert_true(to_lsu(op_at(op)));
    w.op[op].stage = ACCESSED;
    CALLED(access);
    return MECH_PASS;
}

static enum mech_verdict result(void *m, int32_t op, uint64_t now) {
    (void)m, (void)now;
    assert_int_equal(w.op[op].stage, to_lsu(op_at(op)) ? ACCESSED : DISPATCHED);
    expect_pending(op_at(op));
    w.op[op].stage = RESULT;
    CALLED(result);
    return MECH_PASS;
}

static void written(void *m, int32_t op, uint32_t k) {
    (void)m;
    assert_int_equal(w.op[op].stage, RESULT);
    assert_int_equal(k, w.op[op].written++);
    CALLED(written);
}

static void retire(void *m, int32_t op) {
    (void)m;
    assert_int_equal(w.op[op].stage, RESULT);
    assert_int_equal(w.op[op].written, op_at(op)->writes);
    w.op[op].stage = RETIRED;
    CALLED(retire);
}

static void tick(void *m, uint64_t now) {
    (void)m;
    assert_true(w.running);
    assert_true(!w.now || now > w.now);
    w.now = now;
    w.ticks++;
    CALLED(tick);
}

static uint64_t next(const void *m, uint64_t now) {
    (void)m, (void)now;
    CALLED(next);
    return UINT64_MAX;
}

static void elapsed(void *m, uint64_t cycles) {
    (void)m;
    assert_true(cycles > 0);
    w.slept += cycles;
    CALLED(elapsed);
}

static void describe(const void *m, struct str *out) {
    (void)m;
    str_printf(out, "  the mechanism was here\n");
    CALLED(describe);
}

/* A mechanism makes these two happen. */
static void read_done(void *m, int32_t op, uint64_t now) {
    (void)m, (void)op, (void)now;
    fail_msg("nobody asked for a read");
}

static void arrived(void *m, uint32_t token, uint64_t now) {
    (void)m, (void)token, (void)now;
    fail_msg("nobody asked for memory");
}

static const struct mech_points all_points = {
    .start = start,
    .finish = finish,
    .block = block,
    .warp = warp,
    .fetch = fetch,
    .eligible = eligible,
    .slots = slots,
    .lanes = lanes,
    .operands = operands,
    .control = control,
    .issued = issued,
    .place = place,
    .arrays = arrays,
    .arbitrate = arbitrate,
    .dispatch = dispatch,
    .access = access_,
    .result = result,
    .arrived = arrived,
    .read_done = read_done,
    .written = written,
    .retire = retire,
    .tick = tick,
    .next = next,
    .elapsed = elapsed,
    .describe = describe,
};
static const struct mech_points *const watcher[] = {&all_points};

/* ---- tests ---- */

static const struct {
    const char *kernel;
    uint32_t grid, block;
} set[] = {
    {"reduce", 12, 200}, {"reduce", 3, 33},  {"atomics", 9, 192}, {"diverge", 11, 77}, {"produce", 9, 64},
    {"lock", 2, 40},     {"texture", 5, 96}, {"finish", 1, 256},  {"wide", 2, 64},
};
enum { LAUNCHES = sizeof set / sizeof *set, TEXELS = 1 << 17 };

/* A texture; and words of one result that are written one after the other, while the first is overwritten. */
static const char more[] =
    ".global .texref words;\n" KERNEL("texture", "tex.1d.v4.s32.s32 {%r1, %r2, %r3, %r4}, [words, {%r0}];\n"
                                                 "add.u32 %r1, %r1, %r4; st.global.u32 [%l1], %r1;")
        KERNEL("wide", "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%l0]; xor.b32 %r1, %r1, 5;\n"
                       "xor.b32 %r2, %r2, 6; mul.lo.u32 %r1, %r1, %r2; mul.lo.u32 %r3, %r3, %r4;\n"
                       "add.u32 %r1, %r1, %r3; st.global.u32 [%l1+64], %r1;");

/* Kernels with barriers, atomics, divergence, local memory, constants, locks, fences, textures. */
static char *kernels(void) {
    struct str text = {0};
    char *mixed = rig_file("mixed.ptx");
    str_printf(&text, "%s%s", mixed, more);
    free(mixed);
    return text.at;
}

static void bind(struct rig *r) {
    struct rp_tex_desc d = {.addr = r->buffer + TEXELS,
                            .format = RP_TEX_S32,
                            .channels = 1,
                            .width = 4096,
                            .address = {RP_ADDR_CLAMP, RP_ADDR_CLAMP, RP_ADDR_CLAMP}};
    assert_int_equal(rp_texref_bind(r->m, "words", &d), RP_OK);
}

struct outcome {
    uint64_t cycles[LAUNCHES], counters[LAUNCHES][RIG_COUNTERS];
    uint8_t memory[TEXELS];
};

static struct outcome *run_all(const char *gpu, const char *setting, uint32_t nmech) {
    struct outcome *o = calloc(1, sizeof *o);
    struct rig r;
    char *text = kernels();
    memset(&w, 0, sizeof w);
    mech_rig_open(&r, gpu, setting, text, nmech, watcher);
    rig_zero(&r);
    bind(&r);
    for (uint32_t i = 0; i < LAUNCHES; i++) {
        uint64_t ticks = w.ticks, slept = w.slept;
        o->cycles[i] = rig_run(&r, set[i].kernel, set[i].grid, set[i].block,
                               (struct rig_params){.buffer = r.buffer + i * 8192, .n = 20});
        rig_counters(&r, o->counters[i]);
        if (nmech)
            assert_int_equal(w.ticks - ticks + w.slept - slept, rig_counter(&r, "sm.cycles"));
    }
    memcpy(o->memory, (const void *)(uintptr_t)r.buffer, sizeof o->memory);
    rig_close(&r);
    free(text);
    return o;
}

/* Every point is called, in its order (the mechanism looks), and neither a cycle nor a counter nor a word of
 * memory differs. */
static void test_passive(void **state) {
    (void)state;
    static const struct {
        const char *gpu, *set;
    } machines[] = {
        {"gtx480", "issue.policy=lrr"},  {"gtx480", "issue.policy=two_level"},
        {"gtx480", "rf.dual_port=true"}, {"gtx1080ti", "issue.policy=gto"},
        {"gtx480", "rf.mapping=wid"},    {"gtx480", "rf.collectors=2"},
    };
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        struct outcome *base = run_all(machines[i].gpu, machines[i].set, 0),
                       *with = run_all(machines[i].gpu, machines[i].set, 1);
        assert_memory_equal(base->cycles, with->cycles, sizeof base->cycles);
        assert_memory_equal(base->counters, with->counters, sizeof base->counters);
        assert_memory_equal(base->memory, with->memory, sizeof base->memory);
        free(base);
        free(with);
        static const char *const names[] = {
#define X(name) #name,
            MECH_POINTS(X)
#undef X
        };
        for (uint32_t p = 0; p < sizeof names / sizeof *names; p++)
            if (!w.calls[p] && p != MECH_AT_arrived && p != MECH_AT_read_done && p != MECH_AT_describe)
                fail_msg("%s was never called", names[p]);
        assert_int_equal(w.calls[MECH_AT_start], LAUNCHES);
        assert_int_equal(w.calls[MECH_AT_finish], LAUNCHES);
        assert_int_equal(w.calls[MECH_AT_issued], w.calls[MECH_AT_retire]);
        assert_int_equal(w.calls[MECH_AT_issued] + w.calls[MECH_AT_control], w.calls[MECH_AT_operands]);
    }
}

/* Ticks and elapsed make up the cycles of a launch whose timing was cut, too; it has no finish. */
static void test_cut(void **state) {
    (void)state;
    struct rig r;
    char *text = kernels();
    memset(&w, 0, sizeof w);
    mech_rig_open(&r, "gtx480", NULL, text, 1, watcher);
    r.g->opt.max_cycles = 777;
    rig_run(&r, "reduce", 4, 64, (struct rig_params){0});
    assert_int_equal(rig_counter(&r, "sm.cycles"), 777);
    assert_int_equal(w.ticks + w.slept, 777);
    assert_true(w.slept > 0);
    assert_int_equal(w.calls[MECH_AT_finish], 0);
    rig_close(&r);
    free(text);
}

/* The report of a hang has what mechanisms say. */
static void test_describe(void **state) {
    (void)state;
    struct rig r;
    char *text = kernels(), *report = NULL;
    memset(&w, 0, sizeof w);
    mech_rig_open(&r, "gtx480", NULL, text, 1, watcher);
    assert_int_equal(rig_try(&r, "stuck", 1, 64, 0, (struct rig_params){0}, &report), RP_TIMEOUT);
    assert_non_null(strstr(report, "  the mechanism was here\n"));
    free(report);
    rig_close(&r);
    free(text);
}

/* ---- stacks ---- */

static struct {
    char order[256];
    int32_t waits;
} st;

static void note(char c) {
    size_t n = strlen(st.order);
    if (n + 1 < sizeof st.order)
        st.order[n] = c;
}

static enum mech_verdict first_issued(void *m, int32_t op, uint64_t now) {
    (void)m, (void)now;
    note('a');
    st.waits = op;
    return MECH_TAKEN;
}

static uint64_t one_at_a_time(void *m, uint64_t ready, uint64_t now) {
    (void)m, (void)now;
    return mech_sm->free_op != CORE_NONE && st.waits == CORE_NONE ? ready & -ready : 0;
}

static void first_tick(void *m, uint64_t now) {
    (void)m;
    if (st.waits == CORE_NONE || !core_collector_free(mech_sm))
        return;
    int32_t op = st.waits;
    st.waits = CORE_NONE;
    note('.');
    core_collect(mech_sm, op, now);
}

static uint64_t first_next(const void *m, uint64_t now) {
    (void)m;
    return st.waits == CORE_NONE ? UINT64_MAX : now + 1;
}

static enum mech_verdict first_result(void *m, int32_t op, uint64_t now) {
    (void)m, (void)now;
    note('r');
    if (!mech_sm->ops[op].writes)
        return MECH_PASS;
    core_write(mech_sm, op);
    return MECH_TAKEN;
}

static void first_written(void *m, int32_t op, uint32_t k) {
    (void)m;
    note('w');
    if (k + 1u < mech_sm->ops[op].writes)
        core_write(mech_sm, op);
    else
        core_retire(mech_sm, op);
}

static enum mech_verdict second_issued(void *m, int32_t op, uint64_t now) {
    (void)m, (void)op, (void)now;
    note('b');
    return MECH_PASS;
}

static void second_written(void *m, int32_t op, uint32_t k) {
    (void)m, (void)op, (void)k;
    note('v');
}

static void second_retire(void *m, int32_t op) {
    (void)m, (void)op;
    note(';');
}

/* An op that the first mechanism takes is seen by the second when the first lets it go; of a write the one
 * that took the result hears last, as it may end the op. */
static void test_stack(void **state) {
    (void)state;
    static const struct mech_points first = {.eligible = one_at_a_time,
                                             .issued = first_issued,
                                             .tick = first_tick,
                                             .next = first_next,
                                             .result = first_result,
                                             .written = first_written},
                                    second = {.issued = second_issued,
                                              .written = second_written,
                                              .retire = second_retire};
    static const struct mech_points *const both[] = {&first, &second};
    struct rig r;
    memset(&st, 0, sizeof st);
    st.waits = CORE_NONE;
    mech_rig_open(&r, "gtx480", "latency.ctrl=1",
                  KERNELS KERNEL("k", "mul.wide.u32 %l2, %r0, %r0; st.global.u64 [%l1], %l2;"), 2, both);
    rig_run(&r, "k", 1, 1, (struct rig_params){0});
    assert_int_equal(rig_word(&r, 0), 0);
    assert_non_null(strstr(st.order, "a.b"));
    assert_non_null(strstr(st.order, "rvw;"));   /* one word */
    assert_non_null(strstr(st.order, "rvwvw;")); /* two */
    for (const char *c = st.order; *c; c++)      /* nobody else is ever first */
        assert_false(*c == 'b' && c[-1] != '.');
    rig_close(&r);
}

/* ---- the registry ---- */

static void expect_message(const char *text, const char *want) {
    struct mech_set s;
    struct diag d = {0};
    assert_int_equal(mech_select(&s, text, &d), !want);
    if (want && !strstr(str_text(&d.text), want))
        fail_msg("'%s' is not in\n%s", want, str_text(&d.text));
    diag_free(&d);
}

static void test_names(void **state) {
    (void)state;
    expect_message("base", NULL);
    expect_message("", NULL);
    expect_message("wir", NULL);
    expect_message("affine+wir", NULL);
    expect_message("wri", "there is no mechanism 'wri'; did you mean 'wir'?");
    expect_message("wir-rlvp", "did you mean 'wir-rl");
    expect_message("bsae", "did you mean 'base'?");
    expect_message("nonsense", "known are base, wir, ");
    expect_message("wir+", "the name of a mechanism is missing");
    expect_message("+wir", "the name of a mechanism is missing");
    expect_message("wir+wir-r", "'wir' and 'wir-r' cannot be stacked: both are models of one mechanism");
    expect_message("toy+wir", "'toy' and 'wir' cannot be stacked: both supply results");
}

/* Each claim excludes; order decides who acts first; there is an end to stacking. */
static void test_claims(void **state) {
    (void)state;
    struct mechanism mech[MECH_MAX + 1];
    struct mech_model model[MECH_MAX + 1];
    for (uint32_t k = 0; k <= MECH_MAX; k++) {
        mech[k] = (struct mechanism){.name = "m", .order = MECH_MAX - k};
        model[k] = (struct mech_model){.name = &"abcdefgh"[k], .mechanism = &mech[k]};
    }
    struct mech_set s = {0};
    struct diag d = {0};
    for (uint32_t k = 0; k < MECH_MAX; k++)
        assert_true(mech_add(&s, &model[k], &d));
    for (uint32_t k = 0; k < MECH_MAX; k++)
        assert_ptr_equal(s.at[k], &model[MECH_MAX - 1 - k]);
    assert_false(mech_add(&s, &model[MECH_MAX], &d));
    assert_non_null(strstr(str_text(&d.text), "at most 4 mechanisms"));
    static const struct {
        enum mech_claim claim;
        const char *words;
    } claims[] = {
        {MECH_REGISTERS, "registers values live"},
        {MECH_BANKS, "arbitrate"},
        {MECH_STREAM, "fetches"},
        {MECH_LANES, "lanes execute"},
        {MECH_FRONT, "between issue"},
        {MECH_FORMS, "store the lanes"},
        {MECH_BACK, "between execution"},
        {MECH_SUPPLY, "supply"},
        {MECH_MEMORY, "access memory"},
    };
    for (size_t k = 0; k < sizeof claims / sizeof *claims; k++) {
        diag_free(&d);
        d = (struct diag){0};
        s.n = 0;
        mech[0].claims = mech[1].claims = claims[k].claim;
        assert_true(mech_add(&s, &model[0], &d));
        assert_false(mech_add(&s, &model[1], &d));
        assert_non_null(strstr(str_text(&d.text), claims[k].words));
    }
    diag_free(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_passive), cmocka_unit_test(test_cut),   cmocka_unit_test(test_describe),
        cmocka_unit_test(test_stack),   cmocka_unit_test(test_names), cmocka_unit_test(test_claims),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
