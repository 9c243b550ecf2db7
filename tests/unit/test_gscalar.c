/* G-Scalar and its rivals: encodings and activated arrays against a reference that was written from the
 * description alone; kernels that would come out wrong without a rule; energy by hand. */
#include <math.h>
#include <stdio.h>

#include "mech/gscalar/gscalar.h"
#include "regs_rig.h"

/* ---- the reference ----------------------------------------------------------------------------------- */

enum mode { PLANES, PLANES_WHOLE, SCALARS, DIFFERENCES, MODES };
static const struct {
    const char *model, *set;
} modes[MODES] = {
    [PLANES] = {"gscalar", "gscalar.halves=true"},
    [PLANES_WHOLE] = {"gscalar", "gscalar.halves=false"},
    [SCALARS] = {"alu-scalar", "gscalar.dedicated=false"},
    [DIFFERENCES] = {"warped-compression", "gscalar.latency=3"},
};

/* A register as it was last written: all of it, and by whom. */
struct ref_reg {
    uint32_t v[WARP_LANES], lanes;
    bool written, partial;
};
struct ref_pred {
    uint32_t v, lanes;
    bool written;
};

static struct ref {
    struct probe probe;
    const struct exec *exec;
    enum mode mode;
    bool subset;
    struct ref_reg reg[CORE_MAX_WARPS][MAX_GPR];
    struct ref_pred pred[CORE_MAX_WARPS][8];
    uint64_t read_arrays, write_arrays, alu, sfu, mem, half, divergent, moves, gated, small_reads,
        small_writes;
} ref;

/* Leading bytes, from byte 3 down, that lanes from first on, n of them, all have as the first has. */
static uint32_t leading(const uint32_t *v, uint32_t first, uint32_t n) {
    uint32_t bytes = 0;
    for (int k = 3; k >= 0; k--) {
        for (uint32_t l = first; l < first + n; l++)
            if ((v[l] >> 8 * k & 255) != (v[first] >> 8 * k & 255))
                return bytes;
        bytes++;
    }
    return bytes;
}

static bool equal_lanes(const uint32_t *v, uint32_t lanes) {
    for (uint32_t a = 0; a < WARP_LANES; a++)
        for (uint32_t b = 0; b < a; b++)
            if (lanes >> a & lanes >> b & 1 && v[a] != v[b])
                return false;
    return true;
}

/* Bytes that differences to lane 0 need: 0, 1, 2, or 4 when they do not fit. */
static uint32_t delta_bytes(const uint32_t *v) {
    uint32_t bytes = 0;
    for (uint32_t l = 0; l < WARP_LANES; l++) {
        int64_t d = (int64_t)(int32_t)(v[l] - v[0]);
        uint32_t need = !d ? 0 : d >= -128 && d < 128 ? 1 : d >= -32768 && d < 32768 ? 2 : 4;
        bytes = need > bytes ? need : bytes;
    }
    return bytes;
}

/* Arrays that hold a register which all lanes wrote. */
static uint32_t ref_arrays(const struct ref_reg *r) {
    if (!r->written || r->partial)
        return 8;
    switch (ref.mode) {
    case PLANES:
        return 8 - leading(r->v, 0, 16) - leading(r->v, 16, 16);
    case PLANES_WHOLE:
        return 8 - 2 * leading(r->v, 0, 32);
    case SCALARS:
        return leading(r->v, 0, 32) == 4 ? 0 : 8;
    default:
        return delta_bytes(r->v) == 4 ? 8 : 1 + 2 * delta_bytes(r->v);
    }
}

static uint32_t ref_small(const struct ref_reg *r) {
    return ref.mode == PLANES ? 2 : ref.mode == PLANES_WHOLE ? 1 : ref.mode == SCALARS ? !ref_arrays(r) : 0;
}

static bool ref_scalar(const struct ref_reg *r, uint32_t m) {
    if (!r->written)
        return false;
    if (!r->partial)
        return equal_lanes(r->v, UINT32_MAX);
    return equal_lanes(r->v, r->lanes) && (ref.subset ? !(m & ~r->lanes) : m == r->lanes);
}

static bool ref_pred_scalar(const struct ref_pred *p, uint32_t m) {
    uint32_t v = p->v & p->lanes;
    bool lanes = p->lanes == UINT32_MAX || (ref.subset ? !(m & ~p->lanes) : m == p->lanes);
    return p->written && lanes && (!v || v == p->lanes);
}

/* What the kernels here are made of. */
static uint64_t *ref_class(const struct xinst *i) {
    const char *name = op_info[i->in->op].name;
    if (!strncmp(name, "MUFU", 4))
        return &ref.sfu;
    if (!strcmp(name, "LD") || !strcmp(name, "ST"))
        return &ref.mem;
    return !strcmp(name, "S2R") || i->kind != X_ALU ? NULL : &ref.alu;
}

static void ref_decide(const struct probe_event *e, const struct xinst *i, const struct core_need *need) {
    uint64_t *class = ref_class(i);
    bool all = true, half[2] = {true, true}, executes = ref.mode <= SCALARS;
    if (ref.mode == SCALARS && class != &ref.alu)
        executes = false;
    if (!class || !e->mask || !executes)
        return;
    for (uint32_t k = 0; k < need->nreads; k++) {
        const struct ref_reg *r = &ref.reg[e->slot][need->reads[k]];
        all &= ref_scalar(r, e->mask);
        for (uint32_t h = 0; h < 2; h++)
            half[h] &= r->written && !r->partial && leading(r->v, 16 * h, 16) == 4;
    }
    for (int k = 0; k < 2; k++)
        if (i->ps[k] != PRED_PT && !ref_pred_scalar(&ref.pred[e->slot][i->ps[k]], e->mask))
            return;
    uint32_t lanes = (uint32_t)__builtin_popcount(e->mask);
    if (e->mask != UINT32_MAX) {
        ref.divergent += all && ref.mode != SCALARS;
        ref.gated += all && ref.mode != SCALARS ? lanes - 1 : 0;
    } else if (all) {
        ++*class;
        ref.gated += 31;
    } else if (ref.mode == PLANES && (half[0] || half[1])) {
        ref.half++;
        ref.gated += 15u * (half[0] + half[1]);
    }
}

/* A divergent instruction looks at its destination first; a compressed one is moved by all lanes, and is as
 * it is from then on, also for the instruction itself. */
static void ref_move(const struct probe_event *e, uint32_t reg) {
    struct ref_reg *r = &ref.reg[e->slot][reg];
    uint32_t sets = ref.mode == PLANES ? 2 : ref.mode == PLANES_WHOLE;
    ref.small_reads += sets;
    if (ref_arrays(r) == 8)
        return;
    ref.moves++;
    ref.read_arrays += ref_arrays(r);
    ref.write_arrays += 8;
    ref.small_reads += ref_small(r);
    ref.small_writes += sets;
    r->lanes = UINT32_MAX;
    r->partial = true;
}

static void ref_issue(const struct probe_event *e, const struct xinst *i, const struct core_need *need) {
    for (uint32_t k = 0; k < i->ndw && e->mask && e->mask != UINT32_MAX; k++)
        ref_move(e, i->d + k);
    for (uint32_t k = 0; k < need->nreads; k++) {
        ref.read_arrays += ref_arrays(&ref.reg[e->slot][need->reads[k]]);
        ref.small_reads += ref_small(&ref.reg[e->slot][need->reads[k]]);
    }
    ref_decide(e, i, need);
}

static void ref_write(const struct probe_event *e, uint32_t reg) {
    struct ref_reg *r = &ref.reg[e->slot][reg];
    bool full = e->mask == UINT32_MAX;
    memcpy(r->v, e->warp->r[reg], sizeof r->v);
    r->lanes = e->mask;
    r->written = true;
    r->partial = !full;
    ref.write_arrays += full ? ref_arrays(r) : 4u * (!!(e->mask & 0xffff) + !!(e->mask >> 16));
    ref.small_writes += ref_small(r);
}

static void ref_event(struct probe *p, const struct probe_event *e) {
    (void)p;
    if (e->kind == PROBE_KERNEL_BEGIN) {
        ref.exec = e->kernel->exec;
        return;
    }
    if (e->kind == PROBE_WARP_BEGIN) {
        memset(ref.reg[e->slot], 0, sizeof ref.reg[0]);
        memset(ref.pred[e->slot], 0, sizeof ref.pred[0]);
        return;
    }
    const struct xinst *i = &ref.exec->img->code[e->pc];
    struct core_need need = core_need(i);
    if (e->op < 0) /* control: no registers here */
        return;
    if (e->kind == PROBE_ISSUE) {
        ref_issue(e, i, &need);
        return;
    }
    for (uint32_t k = 0; k < i->ndw && e->mask; k++)
        ref_write(e, i->d + k);
    for (int k = 0; k < 2; k++)
        if (i->pd[k] != PRED_PT && e->mask)
            ref.pred[e->slot][i->pd[k]] = (struct ref_pred){e->warp->p[i->pd[k]], e->mask, true};
}

/* ---- encodings alone --------------------------------------------------------------------------------- */

/* What comes back is what was written, through as many arrays as the reference says; what is not stored does
 * not survive. */
static void test_code(void **state) {
    (void)state;
    uint64_t x = 77;
    static const struct code_spec specs[MODES] = {[PLANES] = {CODE_PLANES, true},
                                                  [PLANES_WHOLE] = {CODE_PLANES, false},
                                                  [SCALARS] = {CODE_SCALAR, false},
                                                  [DIFFERENCES] = {CODE_BDI, false}};
    for (uint32_t mode = 0; mode < MODES; mode++) {
        ref.mode = (enum mode)mode;
        for (uint32_t n = 0; n < 4000; n++) {
            uint32_t base = regs_random(&x, UINT32_MAX), bits = regs_random(&x, 33),
                     split = regs_random(&x, 3);
            uint32_t mask = 1u << regs_random(&x, 32) | regs_random(&x, UINT32_MAX), back[WARP_LANES];
            struct ref_reg plain = {.written = true};
            for (uint32_t l = 0; l < WARP_LANES; l++) {
                uint32_t any = regs_random(&x, UINT32_MAX) << 1 | regs_random(&x, 2);
                plain.v[l] = base ^ (bits ? any >> (32 - bits) : 0) ^ (split && l >= 16 ? split << 7 : 0);
            }
            struct code_reg r = code_full(&specs[mode], plain.v);
            assert_int_equal(r.full_scalar, equal_lanes(plain.v, UINT32_MAX));
            assert_int_equal(code_write_arrays(&specs[mode], &r), ref_arrays(&plain));
            assert_int_equal(code_read_arrays(&specs[mode], &r), ref_arrays(&plain));
            assert_int_equal(code_compressed(&r), ref_arrays(&plain) < 8);
            code_back(&specs[mode], &r, plain.v, back);
            assert_memory_equal(back, plain.v, sizeof back);
            if (code_compressed(&r))
                code_lose(&specs[mode], &r, back, mask);
            for (uint32_t l = 0; l < WARP_LANES; l++) {
                uint32_t stored = mode == DIFFERENCES ? ref_arrays(&plain) / 2 : 4u - r.shared[l / 16];
                bool same = ref_arrays(&plain) == 8 || !(mask >> l & 1);
                assert_true(same ? back[l] == plain.v[l] : stored == 4 || back[l] >> 24 == 0xa5);
            }
            r = code_part(plain.v, mask);
            assert_int_equal(r.full_scalar, equal_lanes(plain.v, mask));
            assert_int_equal(code_write_arrays(&specs[mode], &r), 4 * (!!(mask & 0xffff) + !!(mask >> 16)));
            assert_int_equal(code_read_arrays(&specs[mode], &r), 8);
        }
    }
}

/* ---- random kernels ---------------------------------------------------------------------------------- */

static void open_mech(struct rig *r, const char *mech, const char *const *set, const char *text) {
    regs_open(r, "gscalar", mech, set, text);
}

static void expect(const struct rig *r, const char *counter, uint64_t want, uint64_t seed) {
    uint64_t got = rig_counter(r, counter);
    if (got != want)
        fail_msg("seed %u, mode %d: %s is %u, must be %u", (unsigned)seed, (int)ref.mode, counter,
                 (unsigned)got, (unsigned)want);
}

static void test_reference(void **state) {
    (void)state;
    static uint32_t want[REGS_RESULT];
    static const uint32_t threads[] = {32, 64, 45, 200};
    for (uint64_t seed = 1; seed <= 16; seed++) {
        char *text = regs_kernel(seed);
        uint32_t n = threads[seed % 4];
        regs_base("gscalar", text, seed, n, want);
        for (uint32_t mode = 0; mode < MODES; mode++) {
            struct rig r;
            bool subset = seed & 1;
            open_mech(&r, modes[mode].model,
                      (const char *const[]){"device.sms=1", modes[mode].set,
                                            subset ? "gscalar.subset=true" : "gscalar.subset=false", NULL},
                      text);
            memset(&ref, 0, sizeof ref);
            ref.probe = (struct probe){ref_event,
                                       1u << PROBE_KERNEL_BEGIN | 1u << PROBE_WARP_BEGIN | 1u << PROBE_ISSUE |
                                           1u << PROBE_EFFECT,
                                       NULL};
            ref.mode = (enum mode)mode;
            ref.subset = subset;
            rp_gpu_watch(r.g, &ref.probe);
            regs_fill(&r, seed);
            rig_run(&r, "k", 1, n, (struct rig_params){.n = 1, .x = 2});
            assert_memory_equal((uint32_t *)(uintptr_t)r.buffer + REGS_RESULT, want, sizeof want);
            expect(&r, "check.wrong", 0, seed);
            expect(&r, "rf.read.arrays", ref.read_arrays, seed);
            expect(&r, "rf.write.arrays", ref.write_arrays, seed);
            expect(&r, "gscalar.moves", ref.moves, seed);
            expect(&r, "gscalar.scalar.alu", ref.alu, seed);
            expect(&r, "gscalar.scalar.sfu", ref.sfu, seed);
            expect(&r, "gscalar.scalar.mem", ref.mem, seed);
            expect(&r, "gscalar.half", ref.half, seed);
            expect(&r, "gscalar.divergent.scalar", ref.divergent, seed);
            expect(&r, "gscalar.lanes.gated", ref.gated, seed);
            expect(&r, "gscalar.small.reads", ref.small_reads, seed);
            expect(&r, "gscalar.small.writes", ref.small_writes, seed);
            rig_close(&r);
        }
        free(text);
    }
}

/* ---- traps ------------------------------------------------------------------------------------------- */

#define HEAD                                                                                                 \
    ".version 7.0\n.target sm_70\n.address_size 64\n"                                                        \
    ".func (.param .b32 out) twice(.param .b32 in)\n"                                                        \
    "{ .reg .b32 %a<2>; ld.param.u32 %a0, [in]; add.u32 %a1, %a0, %a0; st.param.u32 [out], %a1; ret; }\n"    \
    ".visible .entry k(.param .u64 buffer, .param .u32 n, .param .u32 x)\n"                                  \
    "{ .reg .b32 %r<16>; .reg .b64 %l<6>; .reg .pred %p<4>; .reg .f32 %f<8>; .local .align 4 .b8 a[32];\n"   \
    ".shared .align 4 .b8 sums[32];\n"                                                                       \
    "ld.param.u64 %l0, [buffer]; ld.param.u32 %r9, [x]; mov.u32 %r0, %tid.x; mov.u32 %r1, %laneid;\n"        \
    "mul.wide.u32 %l1, %r0, 4; add.u64 %l1, %l0, %l1;\n"
#define TAIL " st.global.u32 [%l1+32768], %r3; exit; }\n"
/* A path of its own: no pass makes guards of a loop. */
#define IF(p, body)                                                                                          \
    "@" p                                                                                                    \
    " bra SKIP; AGAIN: st.global.u32 [%l1+8192], %r0; setp.eq.u32 %p3, %r9, 999; @%p3 bra AGAIN; " body      \
    " SKIP: "

static const struct trap {
    const char *name, *body;
    int rule;        /* without which it comes out wrong; 0: none */
    const char *set; /* that the rule belongs to */
} traps[] = {
    {"expansion", "add.u32 %r3, %r9, 5; setp.ge.u32 %p0, %r1, 4; " IF("%p0", "add.u32 %r3, %r1, 9;"), GS_MOVE,
     NULL},
    {"half of a divergent register",
     "add.u32 %r2, %r1, 40; and.b32 %r4, %r1, 1; setp.eq.u32 %p0, %r4, 0; " IF(
         "%p0", "add.u32 %r2, %r9, 7;") "add.u32 %r3, %r2, 1;",
     GS_HALF, NULL},
    {"two halves of one value each",
     "add.u32 %r2, %r1, 40; setp.eq.u32 %p0, %r1, 31; " IF(
         "%p0", "shr.u32 %r4, %r1, 4; add.u32 %r2, %r4, 1; mul.lo.u32 %r3, %r2, 3;") "add.u32 %r3, %r3, %r2;",
     GS_FULL, NULL},
    {"local memory",
     "mov.u64 %l2, a; cvt.u64.u32 %l3, %r9; add.u64 %l2, %l2, %l3; st.local.u32 [%l2+2], %r0; "
     "ld.local.u32 %r3, [%l2+2];",
     GS_LOCAL, NULL},
    {"generic local memory",
     "mov.u64 %l2, a; cvta.local.u64 %l2, %l2; cvt.u64.u32 %l3, %r9; add.u64 %l2, %l2, %l3; "
     "st.u32 [%l2+2], %r0; ld.u32 %r3, [%l2+2];",
     GS_LOCAL, NULL},
    {"guard", "add.u32 %r3, %r1, 40; setp.lt.u32 %p0, %r1, %r9; @%p0 add.u32 %r3, %r9, 7;", GS_GUARD, NULL},
    {"guard of nobody",
     "add.u32 %r3, %r1, 40; setp.gt.u32 %p0, %r1, 50; @%p0 add.u32 %r3, %r9, 7; add.u32 %r3, %r3, %r9;", 0,
     NULL},
    {"carry", "add.u32 %r4, %r1, -16; add.cc.u32 %r5, %r4, 8; addc.u32 %r3, %r9, 0;", GS_PREDS, NULL},
    {"selection", "setp.lt.u32 %p0, %r1, 9; selp.u32 %r3, %r9, 77, %p0;", GS_PREDS, NULL},
    {"lane", "add.u32 %r3, %r1, %r9;", GS_LANE, NULL},
    {"shuffle", "add.u32 %r4, %r9, 1; shfl.sync.idx.b32 %r3|%p0, %r1, %r4, 31, -1; add.u32 %r3, %r3, %r1;", 0,
     NULL},
    {"atomics",
     "shr.u32 %r5, %r0, 5; shl.b32 %r5, %r5, 2; mov.u32 %r4, sums; add.u32 %r4, %r4, %r5; "
     "st.shared.u32 [%r4], %r9; bar.sync 0; atom.shared.add.u32 %r3, [%r4], 1;",
     GS_LANE, NULL},
    {"votes and barriers",
     "setp.lt.u32 %p0, %r1, 9; vote.sync.ballot.b32 %r4, %p0, -1; bar.red.popc.u32 %r5, 0, %p0; "
     "activemask.b32 %r6; mov.u32 %r7, %lanemask_lt; add.u32 %r3, %r4, %r5; add.u32 %r3, %r3, %r6; "
     "add.u32 %r3, %r3, %r7;",
     0, NULL},
    {"first lane inactive",
     "add.u32 %r2, %r1, 40; setp.lt.u32 %p0, %r1, 8; mov.u32 %r3, 0; " IF(
         "%p0", "add.u32 %r2, %r9, 7; mul.lo.u32 %r3, %r2, 5;") "add.u32 %r3, %r3, %r2;",
     GS_LEADER, NULL},
    {"other lanes",
     "add.u32 %r2, %r1, 40; setp.ge.u32 %p0, %r1, 8; " IF(
         "%p0", "add.u32 %r2, %r9, 7;") "setp.ge.u32 %p0, %r1, 16; mov.u32 %r3, 3; @%p0 bra NEXT; "
                                        "st.global.u32 [%l1+8192], %r0; "
                                        "mul.lo.u32 %r3, %r2, 5; NEXT: ",
     GS_EXACT, NULL},
    {"dead on one path", "add.u32 %r3, %r9, 5; setp.ge.u32 %p0, %r1, 4; " IF("%p0", "add.u32 %r3, %r1, 9;"),
     GS_DEAD, "gscalar.skip_dead=true"},
    {"a function's parameter",
     "{ .param .b32 p; .param .b32 q; st.param.b32 [p], %r1; call.uni (q), twice, (p); ld.param.b32 %r3, "
     "[q]; }",
     0, NULL},
    {"predicates of a path",
     "setp.lt.u32 %p1, %r1, 30; setp.lt.u32 %p0, %r1, 8; mov.u32 %r3, 1; " IF(
         "%p0",
         "setp.lt.u32 %p1, %r9, 99; selp.u32 %r3, %r9, 77, %p1;") "selp.u32 %r4, 5, 6, %p1; add.u32 %r3, "
                                                                  "%r3, %r4;",
     0, NULL},
};
enum { TRAPS = sizeof traps / sizeof *traps, TRAP_RESULT = 8192 /* word of the buffer */, TRAP_THREADS = 72 };

/* Runs a trap; false: the launch failed. */
static bool run_trap(const struct trap *t, const char *mech, const char *const *set, uint32_t threads,
                     uint32_t result[TRAP_THREADS], uint64_t *wrong) {
    char text[4096], *report = NULL;
    struct rig r;
    snprintf(text, sizeof text, "%s%s%s", HEAD, t->body, TAIL);
    open_mech(&r, mech, set, text);
    bool ended = rig_try(&r, "k", 1, threads, 0, (struct rig_params){.n = 1, .x = 2}, &report) == RP_OK;
    memcpy(result, (const uint32_t *)(uintptr_t)r.buffer + TRAP_RESULT, threads * sizeof *result);
    *wrong = rig_counter(&r, "check.wrong");
    rig_close(&r);
    free(report);
    return ended;
}

/* Whether a trap leaves what it leaves on the base machine. */
static bool comes_out(const struct trap *t, const char *mech, const char *set[2], uint32_t threads,
                      const uint32_t want[TRAP_THREADS], uint64_t *wrong) {
    uint32_t got[TRAP_THREADS];
    return run_trap(t, mech, (const char *const[]){"device.sms=1", set[0], set[1], NULL}, threads, got,
                    wrong) &&
           !memcmp(want, got, threads * sizeof *want);
}

static void base_trap(const struct trap *t, uint32_t threads, uint32_t want[TRAP_THREADS]) {
    uint64_t wrong;
    assert_true(run_trap(t, "base", (const char *const[]){"device.sms=1", NULL}, threads, want, &wrong));
}

static void test_traps(void **state) {
    (void)state;
    static const struct {
        const char *mech, *set;
    } machines[] = {{"gscalar", "gscalar.subset=false"},         {"gscalar", "gscalar.subset=true"},
                    {"gscalar", "gscalar.skip_dead=true"},       {"gscalar", "gscalar.halves=false"},
                    {"gscalar", "gscalar.one_beat=true"},        {"gscalar-nodiv", "gscalar.latency=0"},
                    {"alu-scalar", "gscalar.file_ports=1"},      {"scalar-rf", "gscalar.latency=0"},
                    {"warped-compression", "gscalar.latency=9"}, {"wir+gscalar", "wir.rb_entries=8"},
                    {"darsie+gscalar", "darsie.entries=8"},      {"uv+gscalar", "gscalar.latency=3"}};
    for (uint32_t t = 0; t < TRAPS; t++)
        for (uint32_t threads = TRAP_THREADS; threads; threads = 0) {
            uint32_t want[TRAP_THREADS];
            base_trap(&traps[t], threads, want);
            for (size_t m = 0; m < sizeof machines / sizeof *machines; m++) {
                const char *set[2] = {machines[m].set};
                uint64_t wrong;
                if (!comes_out(&traps[t], machines[m].mech, set, threads, want, &wrong) || wrong)
                    fail_msg("%s comes out wrong: %s, %s, %u threads", traps[t].name, machines[m].mech,
                             machines[m].set, (unsigned)threads);
            }
        }
}

static void test_rules(void **state) {
    (void)state;
    for (uint32_t t = 0; t < TRAPS; t++) {
        char omit[32];
        uint32_t want[TRAP_THREADS];
        const char *set[2] = {omit, traps[t].set};
        uint64_t wrong;
        snprintf(omit, sizeof omit, "gscalar.omit=%d", traps[t].rule);
        if (!traps[t].rule)
            continue;
        base_trap(&traps[t], WARP_LANES, want);
        if (comes_out(&traps[t], "gscalar", set, WARP_LANES, want, &wrong))
            fail_msg("%s comes out right without its rule", traps[t].name);
    }
}

/* ---- energy, time ------------------------------------------------------------------------------------ */

static double part(const struct rig *r, const char *name) {
    struct rp_energy e;
    for (uint32_t i = 0; rp_energy(r->g, RP_ENERGY_PHYSICAL, i, &e); i++)
        if (!strcmp(e.name, name))
            return e.launch * 1e12;
    fail_msg("no part is called %s", name);
    return 0;
}

static void expect_pj(const struct rig *r, const char *name, double want) {
    if (fabs(part(r, name) - want) > 1e-9 * want)
        fail_msg("%s: %.17g pJ, not %.17g", name, part(r, name), want);
}

/* MOV, S2R, IADD, ST of one word, all with the same operands in all lanes: three reads, three writes. Nothing
 * touches an array, and one lane works in each. */
static void test_energy(void **state) {
    (void)state;
    static const char text[] = ".version 7.0\n.target sm_70\n.address_size 32\n"
                               ".visible .entry k(.param .u64 buffer, .param .u32 n, .param .u32 x)\n"
                               "{ .reg .b32 %r<4>; ld.param.u32 %r0, [buffer]; mov.u32 %r1, %ctaid.x;\n"
                               "add.u32 %r2, %r1, 5; st.global.u32 [%r0], %r2; exit; }\n";
    struct rig r;
    open_mech(&r, "gscalar", NULL, text);
    rig_run(&r, "k", 1, 32, (struct rig_params){.n = 1});
    expect(&r, "rf.reads", 3, 0);
    expect(&r, "rf.writes", 3, 0);
    expect(&r, "rf.read.arrays", 0, 0);
    expect(&r, "rf.write.arrays", 0, 0);
    expect_pj(&r, "register_file", 6 * 23.6 + 6 * 43.1);
    expect_pj(&r, "mechanism", 3 * 11.6 + 3 * 11.3);
    expect_pj(&r, "collectors", 3 * 93 + 3 * 62 - 8 * 6 * 7.75);
    expect_pj(&r, "sp", 3 * (40 + 31 * 4));
    expect_pj(&r, "lsu", 40 + 31 * 4);
    rig_close(&r);
}

/* Every instruction takes three cycles more, those of shared memory too; a scalar instruction of one beat
 * does not let the next wait. */
static uint64_t cycles_of(const char *mech, const char *set, const char *body, uint32_t n, uint32_t threads) {
    char text[4096];
    struct rig r;
    snprintf(text, sizeof text, "%s%s%s", HEAD, body, TAIL);
    open_mech(&r, mech, (const char *const[]){"latency.imul=200", set, NULL}, text);
    uint64_t cycles = rig_run(&r, "k", 1, threads, (struct rig_params){.n = n, .x = 2});
    rig_close(&r);
    return cycles;
}

/* What 50 times around a loop of two dependent products, which take longest, take more than 10. */
static uint64_t forty(const char *mech, const char *set) {
    static const char chain[] = "ld.param.u32 %r8, [n]; mov.u32 %r2, 0; add.u32 %r3, %r1, 3;\n"
                                "LOOP: mul.lo.u32 %r3, %r3, %r3; mul.lo.u32 %r3, %r3, %r3;\n"
                                "add.u32 %r2, %r2, 1; setp.lt.u32 %p0, %r2, %r8; @%p0 bra LOOP;";
    return cycles_of(mech, set, chain, 50, 32) - cycles_of(mech, set, chain, 10, 32);
}

static void test_time(void **state) {
    (void)state;
    uint64_t base = forty("base", NULL);
    assert_int_equal(forty("gscalar", "gscalar.latency=0"), base);
    assert_int_equal(forty("gscalar", NULL), base + 40 * 2 * 3);
    assert_int_equal(forty("gscalar", "gscalar.latency=10"), base + 40 * 2 * 10);
    /* Special functions of one value: of 32 lanes each takes eight cycles. */
    static const char special[] =
        "ld.param.u32 %r8, [n]; mov.u32 %r2, 0; cvt.rn.f32.u32 %f0, %r9;\n"
        "LOOP: ex2.approx.ftz.f32 %f1, %f0; rcp.approx.ftz.f32 %f2, %f0; rsqrt.approx.ftz.f32 %f3, %f0;\n"
        "lg2.approx.ftz.f32 %f4, %f0; ex2.approx.ftz.f32 %f5, %f4; rcp.approx.ftz.f32 %f6, %f4;\n"
        "add.f32 %f1, %f1, %f2; add.f32 %f3, %f3, %f5; add.f32 %f1, %f1, %f6; add.f32 %f0, %f1, %f3;\n"
        "add.u32 %r2, %r2, 1; setp.lt.u32 %p0, %r2, %r8; @%p0 bra LOOP; mov.b32 %r3, %f0;";
    enum { TIMES = 20, WARPS = 32, FUNCTIONS = 6, BEATS = 8 };
    uint64_t whole = cycles_of("gscalar", "gscalar.one_beat=false", special, TIMES, WARPS * WARP_LANES);
    assert_true(whole >= TIMES * WARPS * FUNCTIONS * BEATS);
    assert_true(3 * cycles_of("gscalar", "gscalar.one_beat=true", special, TIMES, WARPS * WARP_LANES) <
                2 * whole);
    assert_true(cycles_of("base", NULL, special, TIMES, WARPS * WARP_LANES) >=
                TIMES * WARPS * FUNCTIONS * BEATS);
}

/* Two warps as one of 64 lanes: what is one value in each, but not in both, is scalar by quarters; what is
 * one in both is scalar. */
static void test_pairs(void **state) {
    (void)state;
    static const struct {
        const char *body;
        uint32_t threads, quarters;
    } cases[] = {{"add.u32 %r4, %r9, 7; mul.lo.u32 %r3, %r4, %r9;", 64, 0},
                 {"shr.u32 %r4, %r0, 5; add.u32 %r3, %r4, %r9;", 64, 1},
                 {"shr.u32 %r4, %r0, 5; add.u32 %r3, %r4, %r9;", 128, 2},
                 {"shr.u32 %r4, %r0, 5; add.u32 %r3, %r4, %r9;", 32, 0}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char text[4096];
        struct rig r;
        snprintf(text, sizeof text, "%s%s%s", HEAD, cases[k].body, TAIL);
        open_mech(&r, "gscalar", (const char *const[]){"device.sms=1", "gscalar.pairs=true", NULL}, text);
        rig_run(&r, "k", 1, cases[k].threads, (struct rig_params){.n = 1, .x = 2});
        expect(&r, "gscalar.pairs.quarter", cases[k].quarters, k);
        expect(&r, "gscalar.pairs", cases[k].threads < 64 ? 0 : rig_counter(&r, "sm.insts.warp") / 2, k);
        rig_close(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_code),  cmocka_unit_test(test_reference), cmocka_unit_test(test_traps),
        cmocka_unit_test(test_rules), cmocka_unit_test(test_energy),    cmocka_unit_test(test_time),
        cmocka_unit_test(test_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
