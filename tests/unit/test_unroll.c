/* Unrolled loops against the same loops as they are: counters that go up and down, by steps that meet their
 * end or pass it, in every relation, and numbers around the limits of 32 bits, where counters overflow.
 * Whether a loop is unrolled shows in how many instructions it takes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "irsim.h"
#include "opt/opt.h"

/* One loop: it starts, takes a step and goes on while the counter stands in a relation to its end. */
struct shape {
    uint32_t start, end;
    int32_t step;
    uint8_t cmp;
    bool sgn, mirrored, neg, reg, no_unroll, reads_after;
};

static struct inst op2(enum op op, struct opd d, struct opd a, struct opd b) {
    struct inst i = inst_new(op);
    i.dst = d;
    i.nsrc = 2;
    i.src[0] = a;
    i.src[1] = b;
    return i;
}

static struct inst copy(struct opd d, struct opd a) {
    struct inst i = op2(OP_MOV, d, a, a);
    i.nsrc = 1;
    return i;
}

static struct inst store(struct opd base, int32_t at, struct opd what) {
    struct inst i = op2(OP_ST, (struct opd){0}, base, what);
    i.m.space = MS_GLOBAL;
    i.m.size = 4;
    i.m.vec = 1;
    i.imm = at;
    return i;
}

static struct inst carried(struct opd d, struct opd a, uint32_t k, uint32_t out, uint32_t in) {
    struct inst i = op2(OP_IADDC, d, a, opd_imm(k));
    i.pdst[0].id = out;
    i.psrc[0] = (struct popd){.id = in, .neg = in == VPRED_PT};
    return i;
}

/* A loop that stores its counter, a pair that grows beyond 32 bits, a hash of all passes, and at the end all
 * of them again. */
static void build(struct program *p, const struct shape *s) {
    struct fn *f = fn_create(p, "loop");
    f->entry = true;
    vec_push(&p->fns, f);
    vec_push(&p->fn_ids, 0);
    uint32_t entry = fn_block(f), loop = fn_block(f), after = fn_block(f);
    struct opd i = opd_reg(fn_vreg(f, 1), 0), end = opd_reg(fn_vreg(f, 1), 0), at = opd_reg(fn_vreg(f, 1), 0),
               hash = opd_reg(fn_vreg(f, 1), 0), low = opd_reg(fn_vreg(f, 2), 0), high = opd_reg(low.v, 1);
    uint32_t carry = fn_pred(f), again = fn_pred(f);
#define PUT(block, inst) vec_push(&f->blocks.at[block].insts, (inst))
    PUT(entry, copy(i, opd_imm(s->start)));
    PUT(entry, copy(end, opd_imm(s->end)));
    PUT(entry, copy(at, opd_rz()));
    PUT(entry, copy(hash, opd_imm(1)));
    PUT(entry, copy(low, opd_imm(0xfffffff0u)));
    PUT(entry, copy(high, opd_rz()));
    PUT(loop, store(at, 0, i));
    PUT(loop, op2(OP_IMUL, hash, hash, opd_imm(31)));
    PUT(loop, op2(OP_XOR, hash, hash, i));
    PUT(loop, carried(low, low, 7, carry, VPRED_PT));
    PUT(loop, carried(high, high, 0, VPRED_PT, carry));
    PUT(loop, op2(OP_IADD, i, i, opd_imm((uint32_t)s->step)));
    if (s->reads_after)
        PUT(loop, op2(OP_IADD, hash, hash, i));
    PUT(loop, op2(OP_XOR, hash, hash, high));
    PUT(loop, store(at, 4, low));
    PUT(loop, op2(OP_IADD, at, at, opd_imm(8)));
    struct opd limit = s->reg ? end : opd_imm(s->end);
    struct inst test = op2(OP_ISETP, (struct opd){0}, s->mirrored ? end : i, s->mirrored ? i : limit);
    test.m.cmp = s->cmp;
    test.m.sgn = s->sgn;
    test.pdst[0].id = again;
    PUT(loop, test);
    struct inst back = inst_new(OP_BRA);
    back.guard = (struct popd){.id = again, .neg = s->neg};
    back.target = loop;
    PUT(loop, back);
    PUT(after, store(opd_rz(), 0, i));
    PUT(after, store(opd_rz(), 4, hash));
    PUT(after, store(opd_rz(), 8, high));
    PUT(after, inst_new(OP_EXIT));
    vec_push(&f->blocks.at[entry].succ, loop);
    vec_push(&f->blocks.at[loop].succ, loop);
    vec_push(&f->blocks.at[loop].succ, after);
    f->blocks.at[loop].no_unroll = s->no_unroll;
    p->reg_limit = 255;
}

/* Steps that the compiled loop takes, with the passes given left out; stores must be those of the code as it
 * was written. */
static uint32_t steps_of(const struct shape *s, uint64_t disable) {
    struct program p = {0};
    struct diag d = {0};
    struct opt_options o = {.disable = disable, .check = CHECK_ALWAYS};
    build(&p, s);
    assert_null(ir_validate(&p, p.fns.at[0]));
    struct sim_result before = sim_virtual(&p, 0x5a);
    assert_null(before.error);
    assert_true(opt_compile_with(&p, &o, &d));
    struct sim_result now = sim_linked(&p, 0xa5);
    assert_null(now.error);
    if (now.hash != before.hash || now.stores != before.stores)
        fail_msg("from %u to %u by %d, relation %u: %u stores, expected %u", s->start, s->end, s->step,
                 s->cmp, now.stores, before.stores);
    program_free(&p);
    diag_free(&d);
    return now.steps;
}

/* Whether the loop ends within the passes that the simulator has patience for. */
static bool ends(const struct shape *s) {
    enum { PASSES = 100 };
    uint32_t i = s->start;
    for (uint32_t n = 0; n < PASSES; n++) {
        i += (uint32_t)s->step;
        uint32_t a = s->mirrored ? s->end : i, b = s->mirrored ? i : s->end;
        bool less = s->sgn ? (int32_t)a < (int32_t)b : a < b;
        bool holds = s->cmp & (less ? CMP_LT : a == b ? CMP_EQ : CMP_GT);
        if (holds == s->neg)
            return true;
    }
    return false;
}

static void test_counters(void **state) {
    (void)state;
    static const uint32_t numbers[] = {
        0, 1, 3, 4, 5, 17, 0x7ffffff9u, 0x7fffffffu, 0x80000000u, 0x80000005u, 0xfffffff9u, 0xffffffffu};
    static const int32_t steps[] = {1, -1, 2, -2, 3, 7, -7, 0x20000000};
    static const uint32_t apart[] = {0, 1, 2, 3, 4, 5, 9, 12, 26};
    enum { RELATIONS = 8, NUMBERS = sizeof numbers / sizeof *numbers };
    uint32_t ended = 0;
    for (uint32_t n = 0; n < NUMBERS; n++)
        for (uint32_t k = 0; k < sizeof steps / sizeof *steps; k++)
            for (uint32_t a = 0; a < sizeof apart / sizeof *apart; a++)
                for (uint32_t cmp = 1; cmp < RELATIONS - 1; cmp++) {
                    uint32_t bits = n * 31 + k * 7 + a * 3 + cmp;
                    struct shape s = {.start = numbers[n],
                                      .end = numbers[n] + (steps[k] < 0 ? 0u - apart[a] : apart[a]),
                                      .step = steps[k],
                                      .cmp = (uint8_t)cmp,
                                      .sgn = bits & 1,
                                      .mirrored = bits & 2,
                                      .neg = bits & 4,
                                      .reg = bits & 8,
                                      .reads_after = bits & 16};
                    if (!ends(&s))
                        continue;
                    assert_true(steps_of(&s, 0) > 0);
                    ended++;
                }
    assert_true(ended > 1000);
}

static void test_is_unrolled(void **state) {
    (void)state;
    const uint64_t plain = UINT64_C(1) << OPT_UNROLL;
    const struct shape up = {.end = 101, .step = 1, .cmp = CMP_LT, .sgn = true},
                       down = {.start = 101, .step = -1, .cmp = CMP_EQ, .neg = true},
                       kept = {.end = 101, .step = 1, .cmp = CMP_LT, .sgn = true, .no_unroll = true},
                       wrong_way = {.end = 101, .step = 1, .cmp = CMP_GT, .neg = true, .mirrored = true};
    assert_true(steps_of(&up, 0) * 10 < steps_of(&up, plain) * 8);
    assert_true(steps_of(&down, 0) * 10 < steps_of(&down, plain) * 8);
    assert_int_equal(steps_of(&kept, 0), steps_of(&kept, plain));
    assert_int_equal(steps_of(&wrong_way, 0), steps_of(&wrong_way, plain));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counters),
        cmocka_unit_test(test_is_unrolled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
