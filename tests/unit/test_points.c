/* The contracts of mech/mech.h: when each point is called, and that a mechanism which has all of them and
 * changes nothing leaves the machine as it is. */
#include <stdio.h>

#include "mech_rig.h"

/* ---- a mechanism with every point, which checks the order of calls and changes nothing ---- */

enum stage { FREE, ISSUED, OFFERED, COLLECTED, DISPATCHED, ACCESSED, RESULT, RETIRED };

static struct {
    bool running;
    uint64_t calls[MECH_POINTS_ALL];
    uint64_t ticks, slept, now, eligible, fetching, waiting;
    uint64_t blocks, warps;
    uint32_t lanes_of, lanes, filled, changed, before;
    uint32_t decoded[64]; /* pc behind the last one of each warp */
    bool admitted;
    struct {
        enum stage stage;
        uint32_t reads, read_arrays, written;
    } op[1024];
} w;

#define CALLED(group, point) (w.calls[MECH_AT_##group##_##point]++)

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
    CALLED(life, start);
}

static const char *finish(void *m, bool cut) {
    (void)m;
    assert_true(w.running);
    assert_int_equal(cut, w.blocks || w.warps);
    for (uint32_t k = 0; !cut && k < 1024; k++)
        assert_true(w.op[k].stage == FREE || w.op[k].stage == RETIRED);
    w.running = false;
    CALLED(life, finish);
    return NULL;
}

static bool admit(void *m, uint32_t warps) {
    (void)m;
    assert_true(warps);
    w.admitted = true;
    CALLED(life, admit);
    return true;
}

static void block(void *m, uint32_t slot, bool enters) {
    (void)m;
    assert_non_null(mech_sm->blocks[slot].cta);
    assert_int_equal(w.blocks >> slot & 1, !enters);
    assert_true(!enters || w.admitted);
    w.admitted = false;
    for (uint64_t left = w.warps; left; left &= left - 1) /* its warps come after it and go before it */
        assert_int_not_equal(mech_sm->warps[__builtin_ctzll(left)].block, slot);
    w.blocks ^= UINT64_C(1) << slot;
    CALLED(life, block);
}

static void warp(void *m, uint32_t slot, bool enters) {
    (void)m;
    assert_non_null(mech_sm->warps[slot].w);
    assert_true(w.blocks >> mech_sm->warps[slot].block & 1);
    assert_int_equal(w.warps >> slot & 1, !enters);
    assert_int_equal(mech_sm->warps[slot].inflight, 0);
    w.warps ^= UINT64_C(1) << slot;
    CALLED(life, warp);
}

static uint64_t fetch(void *m, uint64_t wanting, uint64_t now) {
    (void)m;
    assert_int_equal(now, w.now);
    assert_true(wanting && !(wanting & ~w.warps) && !(wanting & mech_sm->blocked));
    w.fetching |= wanting;
    CALLED(stream, fetch);
    return wanting;
}

/* Instructions come in order, and only for those that fetch. */
static enum mech_decode decoded(void *m, uint32_t slot, uint32_t pc, uint64_t now) {
    (void)m;
    const struct core_warp *cw = &mech_sm->warps[slot];
    assert_int_equal(now, w.now);
    assert_true(w.fetching >> slot & 1);
    assert_int_equal(cw->buffer[(cw->first + cw->buffered) % CORE_BUFFER], pc);
    if (cw->buffered)
        assert_int_equal(pc, w.decoded[slot]);
    w.decoded[slot] = pc + 1;
    CALLED(stream, decoded);
    return DECODE_KEEP;
}

static uint64_t eligible(void *m, uint64_t ready, uint64_t now) {
    (void)m;
    assert_int_equal(now, w.now);
    assert_true(ready && !(ready & ~w.fetching)); /* what they issue they have fetched */
    w.eligible = ready;
    CALLED(gate, eligible);
    return ready;
}

static uint32_t slots(void *m, uint32_t sched, uint32_t free, uint64_t now) {
    (void)m;
    assert_int_equal(now, w.now);
    assert_true(sched < mech_sm->spec->schedulers && free == mech_sm->spec->width);
    CALLED(gate, slots);
    return 0;
}

static uint64_t refused(const void *m, uint64_t ready) {
    (void)m;
    assert_true(ready && !(ready & ~w.fetching));
    CALLED(gate, refused);
    return 0;
}

static uint32_t choose(void *m, uint32_t slot, const struct xinst *i, uint32_t mask) {
    (void)m;
    assert_true(w.eligible >> slot & 1);
    assert_ptr_equal(i, &mech_sm->x->img->code[mech_sm->warps[slot].next]);
    w.lanes_of = slot + 1;
    w.lanes = mask;
    CALLED(lanes, choose);
    return mask;
}

static void fill(void *m, uint32_t slot, const struct xinst *i, uint32_t mask) {
    (void)m;
    bool control = mech_sm->needs[i - mech_sm->x->img->code].control;
    assert_true(w.eligible >> slot & 1);
    assert_int_equal(w.lanes_of, control ? 0 : slot + 1);
    if (!control)
        assert_int_equal(mask, w.lanes);
    w.lanes_of = 0;
    w.filled = slot + 1;
    CALLED(registers, fill);
}

static void sources(void *m, uint32_t slot, const struct xinst *i, uint32_t mask) {
    (void)m, (void)i, (void)mask;
    assert_int_equal(w.filled, slot + 1);
    w.filled = 0;
    w.changed = slot + 1;
    assert_int_equal(core_holds(mech_sm, slot, 1), bank_of(mech_sm, slot, 1));
    CALLED(values, sources);
}

static void before(void *m, uint32_t slot, const struct xinst *i, uint32_t mask) {
    (void)m, (void)i, (void)mask;
    assert_int_equal(w.changed, slot + 1);
    w.changed = 0;
    w.before = slot + 1;
    CALLED(watch, before);
}

static void control(void *m, uint32_t slot, const struct xinst *i, uint32_t mask) {
    (void)m, (void)mask;
    assert_true(mech_sm->needs[i - mech_sm->x->img->code].control);
    assert_int_equal(w.before, slot + 1);
    w.before = 0;
    CALLED(watch, control);
}

/* Who waits came, and goes on when it opens, with the one that came last. */
static void barrier(void *m, uint32_t slot, uint64_t warps, bool opened) {
    (void)m;
    assert_true(warps && !(warps & ~w.warps));
    for (uint64_t left = warps; left; left &= left - 1)
        assert_int_equal(mech_sm->warps[__builtin_ctzll(left)].block, slot);
    if (opened)
        assert_true(__builtin_popcountll(warps & ~w.waiting) <= 1 && !(warps & mech_sm->blocked));
    else
        assert_true(!(warps & w.waiting) && (warps & mech_sm->blocked) == warps);
    w.waiting ^= opened ? warps & w.waiting : warps;
    CALLED(watch, barrier);
}

static void issued(void *m, int32_t op) {
    (void)m;
    const struct core_op *o = op_at(op);
    assert_int_equal(w.before, o->warp + 1);
    assert_int_equal(o->pc, mech_sm->warps[o->warp].next);
    assert_ptr_equal(o->i, &mech_sm->x->img->code[o->pc]);
    assert_ptr_equal(o->need, &mech_sm->needs[o->pc]);
    assert_int_equal(w.lanes, o->mask);
    assert_true(w.op[op].stage == FREE || w.op[op].stage == RETIRED);
    expect_pending(o);
    w.before = 0;
    w.op[op].stage = ISSUED;
    w.op[op].reads = w.op[op].read_arrays = w.op[op].written = 0;
    CALLED(watch, issued);
}

static enum mech_verdict take(void *m, int32_t op, uint64_t now) {
    (void)m;
    assert_int_equal(now, w.now);
    assert_int_equal(w.op[op].stage, ISSUED);
    w.op[op].stage = OFFERED;
    CALLED(front, take);
    return MECH_PASS;
}

static void collected(void *m, int32_t op) {
    (void)m;
    assert_int_equal(w.op[op].stage, OFFERED);
    w.op[op].stage = COLLECTED;
    CALLED(watch, collected);
}

static uint32_t place(void *m, int32_t op, uint32_t k, bool write) {
    (void)m;
    const struct core_op *o = op_at(op);
    assert_int_equal(w.op[op].stage, write ? RESULT : COLLECTED);
    assert_int_equal(k, write ? w.op[op].written : w.op[op].reads++);
    CALLED(registers, place);
    return bank_of(mech_sm, o->warp, write ? o->i->d + k : o->need->reads[k]);
}

static uint32_t holds(void *m, uint32_t slot, uint32_t reg) {
    (void)m;
    CALLED(registers, holds);
    return bank_of(mech_sm, slot, reg);
}

static uint32_t arrays(void *m, int32_t op, int32_t k, bool write, uint32_t arrays) {
    (void)m;
    const struct core_op *o = op_at(op);
    assert_int_equal(w.op[op].stage, write ? RESULT : COLLECTED);
    assert_true(k >= 0);
    if (write)
        assert_int_equal(k, w.op[op].written);
    else
        assert_int_equal(w.op[op].read_arrays & 1u << k, 0);
    w.op[op].read_arrays |= write ? 0 : 1u << k;
    assert_int_equal(arrays, write ? o->write_arrays : CORE_ARRAYS);
    CALLED(forms, arrays);
    return arrays;
}

static void arbitrate(void *m, uint64_t now) {
    (void)m;
    assert_int_equal(now, w.now);
    core_arbitrate(mech_sm);
    CALLED(banks, arbitrate);
}

static struct mech_work dispatch(void *m, int32_t op, struct mech_work work) {
    (void)m;
    const struct core_op *o = op_at(op);
    assert_int_equal(w.op[op].stage, COLLECTED);
    assert_int_equal(w.op[op].read_arrays + 1, 1u << w.op[op].reads); /* all operands have been read */
    assert_int_equal(work.lanes, __builtin_popcount(o->mask));
    assert_true(work.beats);
    w.op[op].stage = DISPATCHED;
    CALLED(units, dispatch);
    return work;
}

static enum mech_verdict access_(void *m, int32_t op, uint64_t now) {
    (void)m;
    assert_int_equal(now, w.now);
    assert_int_equal(w.op[op].stage, DISPATCHED);
    assert_true(to_lsu(op_at(op)));
    w.op[op].stage = ACCESSED;
    CALLED(memory, access);
    return MECH_PASS;
}

static void result(void *m, int32_t op) {
    (void)m;
    assert_int_equal(w.op[op].stage, to_lsu(op_at(op)) ? ACCESSED : DISPATCHED);
    expect_pending(op_at(op));
    w.op[op].stage = RESULT;
    CALLED(watch, result);
}

static enum mech_verdict take_result(void *m, int32_t op, uint64_t now) {
    (void)m;
    assert_int_equal(now, mech_sm->now);
    assert_int_equal(w.op[op].stage, RESULT);
    CALLED(back, result);
    return MECH_PASS;
}

/* A mechanism that took the result makes this happen. */
static void take_written(void *m, int32_t op, uint32_t k) {
    (void)m, (void)op, (void)k;
    fail_msg("nobody took the result");
}

static void written(void *m, int32_t op, uint32_t k) {
    (void)m;
    assert_int_equal(w.op[op].stage, RESULT);
    assert_int_equal(k, w.op[op].written++);
    CALLED(watch, written);
}

static void retire(void *m, int32_t op) {
    (void)m;
    assert_int_equal(w.op[op].stage, RESULT);
    assert_int_equal(w.op[op].written, op_at(op)->writes);
    w.op[op].stage = RETIRED;
    CALLED(watch, retire);
}

static void tick(void *m, uint64_t now) {
    (void)m;
    assert_true(w.running);
    assert_true(!w.now || now > w.now);
    w.now = now;
    w.ticks++;
    CALLED(life, tick);
}

static uint64_t next(const void *m, uint64_t now) {
    (void)m, (void)now;
    CALLED(life, next);
    return UINT64_MAX;
}

static void elapsed(void *m, uint64_t cycles) {
    (void)m;
    assert_true(cycles > 0);
    w.slept += cycles;
    CALLED(life, elapsed);
}

static void describe(const void *m, struct str *out) {
    (void)m;
    str_printf(out, "  the mechanism was here\n");
    CALLED(life, describe);
}

/* A mechanism makes these happen. */
static void recalled(void *m, uint32_t slot, uint64_t now) {
    (void)m, (void)slot, (void)now;
    fail_msg("nobody held anything");
}

static void passed(void *m, uint32_t slot, uint32_t pc) {
    (void)m, (void)slot, (void)pc;
    fail_msg("nobody skipped anything");
}

static void read_done(void *m, int32_t op, uint64_t now) {
    (void)m, (void)op, (void)now;
    fail_msg("nobody asked for a read");
}

static void arrived(void *m, uint32_t token, uint64_t now) {
    (void)m, (void)token, (void)now;
    fail_msg("nobody asked for memory");
}

/* Nothing is on its way any more. */
static void restore(void *m, uint32_t slot) {
    (void)m;
    const struct core_warp *cw = &mech_sm->warps[slot];
    assert_true(w.running && cw->w);
    for (uint32_t k = 0; k < cw->words; k++)
        assert_int_equal(cw->pending[k], 0);
    assert_int_equal(mech_sm->outstanding, 0);
    CALLED(registers, restore);
}

/* Asked of every warp when timing has been cut; none needs the mechanism. */
static bool bound(void *m, uint32_t slot) {
    (void)m;
    assert_true(w.running && mech_sm->warps[slot].w);
    CALLED(lanes, bound);
    return false;
}

static const struct mech_points all_points = {
    .life = {start, finish, admit, block, warp, tick, next, elapsed, describe, false, false, false, false, 0},
    .watch = {before, control, barrier, issued, collected, result, written, retire, false, false},
    .gate = {eligible, slots, refused},
    .stream = {fetch, decoded, recalled, passed, 0, false},
    .lanes = {choose, bound},
    .registers = {.fill = fill, .place = place, .restore = restore, .holds = holds},
    .values = {sources},
    .front = {.take = take},
    .banks = {.arbitrate = arbitrate},
    .forms = {arrays},
    .units = {dispatch},
    .back = {take_result, take_written, read_done},
    .memory = {.access = access_, .arrived = arrived},
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
#define X(group, name) #group "." #name,
            MECH_POINTS(X)
#undef X
        };
        static const uint64_t asked =
            UINT64_C(1) << MECH_AT_stream_passed | UINT64_C(1) << MECH_AT_stream_recalled |
            UINT64_C(1) << MECH_AT_memory_arrived | UINT64_C(1) << MECH_AT_back_read_done |
            UINT64_C(1) << MECH_AT_back_written | UINT64_C(1) << MECH_AT_life_describe |
            UINT64_C(1) << MECH_AT_registers_restore | UINT64_C(1) << MECH_AT_lanes_bound |
            UINT64_C(1) << MECH_AT_registers_own | UINT64_C(1) << MECH_AT_registers_silent |
            UINT64_C(1) << MECH_AT_registers_places | UINT64_C(1) << MECH_AT_banks_write |
            UINT64_C(1) << MECH_AT_gate_refused | /* test_refused, and test_alone in test_view.c */
            UINT64_C(1) << MECH_AT_memory_again | UINT64_C(1) << MECH_AT_memory_given;
        for (uint32_t p = 0; p < sizeof names / sizeof *names; p++)
            if (!w.calls[p] && !(asked >> p & 1))
                fail_msg("%s was never called", names[p]);
        assert_int_equal(w.calls[MECH_AT_life_start], LAUNCHES);
        assert_int_equal(w.calls[MECH_AT_life_finish], LAUNCHES);
        assert_int_equal(w.calls[MECH_AT_watch_issued], w.calls[MECH_AT_watch_retire]);
        assert_int_equal(w.calls[MECH_AT_watch_issued] + w.calls[MECH_AT_watch_control],
                         w.calls[MECH_AT_watch_before]);
    }
}

/* Ticks and elapsed make up the cycles of a launch whose timing was cut, too; its finish says so. With an
 * owner of the registers what was begun comes to an end first, and each warp is restored. */
static void test_cut(void **state) {
    (void)state;
    struct rig r;
    char *text = kernels();
    memset(&w, 0, sizeof w);
    mech_rig_open(&r, "gtx480", NULL, text, 1, watcher);
    r.g->opt.max_cycles = 777;
    rig_run(&r, "reduce", 4, 64, (struct rig_params){0});
    uint64_t cycles = rig_counter(&r, "sm.cycles");
    assert_true(cycles >= 777);
    assert_int_equal(w.ticks + w.slept, cycles);
    assert_int_equal(w.calls[MECH_AT_registers_restore], __builtin_popcountll(w.warps));
    assert_int_equal(w.calls[MECH_AT_lanes_bound], __builtin_popcountll(w.warps));
    assert_true(w.slept > 0);
    assert_int_equal(w.calls[MECH_AT_life_finish], 1);
    assert_true(w.warps);
    assert_true(rig_counter(&r, "sm.registers.resident") > 0);
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

static enum mech_verdict first_take(void *m, int32_t op, uint64_t now) {
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
    (void)m, (void)now;
    if (st.waits == CORE_NONE || !core_collector_free(mech_sm, mech_sm->ops[st.waits].need))
        return;
    int32_t op = st.waits;
    st.waits = CORE_NONE;
    note('.');
    core_collect(mech_sm, op);
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

static void second_issued(void *m, int32_t op) {
    (void)m, (void)op;
    note('i');
}

static void second_collected(void *m, int32_t op) {
    (void)m, (void)op;
    note('b');
}

static void second_written(void *m, int32_t op, uint32_t k) {
    (void)m, (void)op, (void)k;
    note('v');
}

static void second_retire(void *m, int32_t op) {
    (void)m, (void)op;
    note(';');
}

/* Others see an op that the first mechanism takes when it issues and when the first lets it go; of a write
 * the one that took the result hears last, as it may end the op. */
static void test_stack(void **state) {
    (void)state;
    static const struct mech_points first = {.life = {.tick = first_tick, .next = first_next},
                                             .gate = {.eligible = one_at_a_time},
                                             .front = {.take = first_take},
                                             .back = {.result = first_result, .written = first_written}},
                                    second = {.watch = {.issued = second_issued,
                                                        .collected = second_collected,
                                                        .written = second_written,
                                                        .retire = second_retire}};
    static const struct mech_points *const both[] = {&first, &second};
    struct rig r;
    memset(&st, 0, sizeof st);
    st.waits = CORE_NONE;
    mech_rig_open(&r, "gtx480", "latency.ctrl=1",
                  KERNELS KERNEL("k", "mul.wide.u32 %l2, %r0, %r0; st.global.u64 [%l1], %l2;"), 2, both);
    rig_run(&r, "k", 1, 1, (struct rig_params){0});
    assert_int_equal(rig_word(&r, 0), 0);
    assert_non_null(strstr(st.order, "ia.b"));
    assert_non_null(strstr(st.order, "rvw;"));   /* one word */
    assert_non_null(strstr(st.order, "rvwvw;")); /* two */
    for (const char *c = st.order; *c; c++)      /* nobody else is ever first */
        assert_false(*c == 'b' && c[-1] != '.');
    rig_close(&r);
}

/* ---- a gate that is shut for a while ---- */

enum { TURN = 64, OPEN = 8 }; /* cycles */
static uint64_t gate_ticks;

static uint64_t in_turn(void *m, uint64_t ready, uint64_t now) {
    (void)m;
    return now % TURN < OPEN ? ready : 0;
}

static void count_tick(void *m, uint64_t now) {
    (void)m, (void)now;
    gate_ticks++;
}

static uint64_t next_turn(const void *m, uint64_t now) {
    (void)m;
    return now / TURN * TURN + TURN;
}

static uint64_t until_turn(const void *m, uint64_t ready) {
    (void)m;
    return (mech_sm->now + 1) % TURN < OPEN ? 0 : ready;
}

/* An SM whose mechanism says that it will refuse all that are ready sleeps, and nothing else differs. */
static void test_refused(void **state) {
    (void)state;
    static const struct mech_points gates[] = {
        {.life = {.tick = count_tick, .next = next_turn}, .gate = {.eligible = in_turn}},
        {.life = {.tick = count_tick, .next = next_turn},
         .gate = {.eligible = in_turn, .refused = until_turn}}};
    uint64_t cycles[2], ticks[2], counters[2][RIG_COUNTERS] = {0};
    for (uint32_t k = 0; k < 2; k++) {
        const struct mech_points *const one[] = {&gates[k]};
        struct rig r;
        char *text = kernels();
        mech_rig_open(&r, "gtx480", NULL, text, 1, one);
        rig_zero(&r);
        gate_ticks = 0;
        cycles[k] = rig_run(&r, "reduce", 12, 200, (struct rig_params){.buffer = r.buffer, .n = 20});
        ticks[k] = gate_ticks;
        rig_counters(&r, counters[k]);
        assert_true(rig_counter(&r, "slot.mechanism"));
        rig_close(&r);
        free(text);
    }
    assert_int_equal(cycles[0], cycles[1]);
    assert_memory_equal(counters[0], counters[1], sizeof counters[0]);
    assert_true(ticks[1] * 2 < ticks[0]);
}

/* ---- the registry ---- */

static void expect_message(const char *text, const char *want) {
    struct mech_registry r;
    struct mech_set s;
    struct diag d = {0};
    mech_registry_init(&r);
    assert_int_equal(mech_select(&s, &r, text, &d), !want);
    mech_registry_free(&r);
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
    expect_message("toy+wir", "'toy' and 'wir' cannot be stacked: both take instructions between issue");
}

/* Each group that has an owner excludes a second one; order decides who acts first; there is an end to
 * stacking. */
static void test_owners(void **state) {
    (void)state;
    struct mechanism mech[MECH_MAX + 1];
    for (uint32_t k = 0; k <= MECH_MAX; k++)
        mech[k] = (struct mechanism){.name = &"abcdefgh"[k], .order = MECH_MAX - k};
    struct mech_set s = {0};
    struct diag d = {0};
    for (uint32_t k = 0; k < MECH_MAX; k++)
        assert_true(mech_add(&s, &mech[k], NULL, &d));
    for (uint32_t k = 0; k < MECH_MAX; k++)
        assert_ptr_equal(s.at[k], &mech[MECH_MAX - 1 - k]);
    assert_false(mech_add(&s, &mech[MECH_MAX], NULL, &d));
    assert_non_null(strstr(str_text(&d.text), "at most 4 mechanisms"));
    struct mech_points one[MECH_GROUPS_ALL] = {0}; /* each with one group */
#define X(group, what) one[MECH_##group].group = all_points.group;
    MECH_GROUPS(X)
#undef X
    for (uint32_t g = 0; g < MECH_GROUPS_ALL; g++) {
        const char *what = mech_group_what((enum mech_group)g);
        diag_free(&d);
        d = (struct diag){0};
        s.n = 0;
        mech[0].points = mech[1].points = one[g];
        assert_int_equal(mech_owns(&one[g]), 1u << g);
        assert_true(mech_add(&s, &mech[0], NULL, &d));
        assert_int_equal(mech_add(&s, &mech[1], NULL, &d), !what);
        if (what)
            assert_non_null(strstr(str_text(&d.text), what));
    }
    diag_free(&d);
    d = (struct diag){0};
    s.n = 0;
    /* What must see every instruction stands beside no one who skips. */
    mech[0].points = (struct mech_points){.watch = {.every = true}};
    mech[1].points = (struct mech_points){.stream = {.decoded = decoded}};
    assert_true(mech_add(&s, &mech[1], NULL, &d));
    assert_false(mech_add(&s, &mech[0], NULL, &d));
    assert_non_null(strstr(str_text(&d.text), "pass over instructions"));
    diag_free(&d);
    d = (struct diag){0};
    s.n = 0;
    /* What knows registers by their place stands beside those who skip and say where registers lie. */
    mech[0].points = (struct mech_points){.watch = {.places = true}};
    mech[1].points = (struct mech_points){.stream = {.decoded = decoded}};
    assert_true(mech_add(&s, &mech[1], NULL, &d));
    assert_false(mech_add(&s, &mech[0], NULL, &d));
    s.n = 0;
    mech[1].points.registers =
        (struct mech_registers){.fill = fill, .place = place, .restore = restore, .holds = holds};
    assert_true(mech_add(&s, &mech[1], NULL, &d));
    assert_true(mech_add(&s, &mech[0], NULL, &d));
    diag_free(&d);
    d = (struct diag){0};
    s.n = 0;
    mech[0].points = (struct mech_points){.stream = {.own_code = true}};
    mech[1].points = one[MECH_registers];
    assert_true(mech_add(&s, &mech[1], NULL, &d));
    assert_false(mech_add(&s, &mech[0], NULL, &d));
    assert_non_null(strstr(str_text(&d.text), "registers of instructions"));
    diag_free(&d);
}

static void read_again(void *m, uint32_t token) {
    (void)m, (void)token;
}

/* A mechanism that lacks a point which another of its points needs is refused. */
static void test_whole(void **state) {
    (void)state;
    static const struct {
        struct mech_points points;
        const char *words;
    } wrong[] = {
        {{.life = {.tick = tick}}, "life.next"},
        {{.registers = {.fill = fill}}, "needs all"},
        {{.registers = {.place = place}}, "needs all"},
        {{.registers = {.fill = fill, .place = place}}, "needs all"},
        {{.back = {.result = take_result}}, "needs both"},
        {{.lanes = {.bound = bound}}, "lanes.choose"},
        {{.life = {.any_order = true}, .watch = {.written = second_written}}, "life.any_order"},
        {{.memory = {.again = read_again}}, "needs both"},
        {{.life = {.beside = true}, .front = {.every = true}}, "life.beside"},
        {{.life = {.beside = true}, .stream = {.own_code = true}}, "life.beside"},
        {{.life = {.ahead = true}, .units = {.dispatch = dispatch}}, "life.ahead"},
        {{.life = {.ahead = true}, .watch = {.retire = retire}}, "life.ahead"},
    };
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        struct mechanism mech = {.name = "half", .points = wrong[k].points};
        struct mech_set s = {0};
        struct diag d = {0};
        assert_false(mech_add(&s, &mech, NULL, &d));
        assert_non_null(strstr(str_text(&d.text), "'half' is not whole"));
        assert_non_null(strstr(str_text(&d.text), wrong[k].words));
        diag_free(&d);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_passive), cmocka_unit_test(test_cut),     cmocka_unit_test(test_describe),
        cmocka_unit_test(test_stack),   cmocka_unit_test(test_names),   cmocka_unit_test(test_owners),
        cmocka_unit_test(test_whole),   cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
