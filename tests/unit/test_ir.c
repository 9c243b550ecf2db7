/* Printing, validation, control flow and layout of machine code. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/map.h"
#include "ir/ir.h"
#include "opt/opt.h"
#include "opt/pass.h"

/* ---- printing ---- */

/* An instruction of op with every operand its form has. */
static struct inst specimen(enum op op) {
    const struct form_info *form = &form_info[op_info[op].form];
    struct inst i = inst_new(op);
    i.m.size = 4;
    i.m.vec = 1;
    i.nsrc = form->nsrc == WORDS_VAR ? 1 : form->nsrc;
    for (uint32_t s = 0; s < i.nsrc; s++)
        i.src[s] = opd_reg(2 + 2 * s, 0);
    if (form->dst)
        i.dst = opd_reg(0, 0);
    i.target = 0;
    return i;
}

static void test_every_op_prints(void **state) {
    (void)state;
    struct map seen = {0};
    struct arena a = {0};
    for (uint32_t op = 0; op < OP_COUNT; op++) {
        struct str s = {0};
        struct inst i = specimen((enum op)op);
        ir_print_inst(&s, &i);
        assert_int_equal(strncmp(str_text(&s), op_info[op].name, strlen(op_info[op].name)), 0);
        assert_null(strchr(str_text(&s), '?'));
        const char *text = arena_strndup(&a, s.at, s.len);
        if (map_get(&seen, text))
            fail_msg("two operations print as '%s'", text);
        map_set(&seen, text, (void *)text);
        str_free(&s);
    }
    map_free(&seen);
    arena_free(&a);
}

static void expect_text(struct inst i, const char *want) {
    struct str s = {0};
    ir_print_inst(&s, &i);
    assert_string_equal(str_text(&s), want);
    str_free(&s);
}

static struct inst make(enum op op, struct opd d, struct opd a, struct opd b) {
    struct inst i = inst_new(op);
    i.dst = d;
    i.src[0] = a;
    i.src[1] = b;
    i.nsrc = b.kind ? 2 : a.kind ? 1 : 0;
    return i;
}

static void test_print_forms(void **state) {
    (void)state;
    const struct opd none = {0};
    struct inst i = make(OP_IADD, opd_reg(4, 0), opd_reg(2, 0), opd_const(0, 0x140));
    i.guard = (struct popd){0, true};
    expect_text(i, "@!P0 IADD R4, R2, c[0x0][0x140] ;");

    i = make(OP_LD, opd_reg(4, 0), opd_reg(2, 0), none);
    i.m.space = MS_GLOBAL;
    i.m.a64 = true;
    i.m.size = 8;
    i.m.vec = 2;
    i.imm = -16;
    expect_text(i, "LD.GLOBAL.E.64.V2 R4, [R2+-0x10] ;");

    i = make(OP_ST, none, opd_rz(), opd_reg(3, 0));
    i.m.space = MS_LOCAL;
    i.m.size = 1;
    i.m.vec = 1;
    i.imm = 8;
    expect_text(i, "ST.LOCAL.U8 [0x8], R3 ;");

    i = make(OP_FADD, opd_reg(0, 0), opd_reg(1, 0), opd_reg(2, 0));
    i.m.ftz = i.m.sat = true;
    i.m.rnd = RND_RZ;
    i.src[0].mod = OMOD_NEG | OMOD_ABS;
    i.src[1].mod = OMOD_NEG;
    expect_text(i, "FADD.RZ.FTZ.SAT R0, -|R1|, -R2 ;");

    i = make(OP_ISETP, none, opd_reg(1, 0), opd_imm(5));
    i.m.cmp = CMP_LT | CMP_EQ;
    i.m.bop = BOOL_OR;
    i.pdst[0].id = 1;
    i.psrc[0] = (struct popd){2, true};
    expect_text(i, "ISETP.LE.U32.OR P1, PT, R1, 0x5, !P2 ;");

    i = make(OP_MUFU, opd_reg(0, 0), opd_reg(1, 0), none);
    i.m.mode = MUFU_RSQ;
    expect_text(i, "MUFU.RSQ R0, R1 ;");

    i = inst_new(OP_S2R);
    i.dst = opd_reg(7, 0);
    i.m.mode = SR_CTAID_Y;
    expect_text(i, "S2R R7, SR_CTAID.Y ;");

    i = inst_new(OP_BRA);
    i.target = 3;
    i.rpc = 5;
    i.guard = (struct popd){6, false};
    expect_text(i, "@P6 BRA 0x0018 (0x0028) ;");

    i = make(OP_F2I, opd_reg(2, 0), opd_reg(4, 0), none);
    i.m.dtype = MT_S32;
    i.m.stype = MT_F64;
    i.m.rnd = RND_RZ;
    expect_text(i, "F2I.S32.F64.RZ R2, R4 ;");

    i = make(OP_LDC, opd_reg(2, 0), opd_reg(4, 0), none);
    i.m.mode = BANK_CONST;
    i.m.size = 4;
    i.imm = 0x10;
    expect_text(i, "LDC R2, c[0x3][R4+0x10] ;");
}

/* ---- validation ---- */

static struct fn *one_block(struct program *p) {
    struct fn *f = fn_create(p, "f");
    vec_push(&p->fns, f);
    f->entry = true;
    fn_block(f);
    return f;
}

static void test_validator(void **state) {
    (void)state;
    struct program p = {0};
    struct fn *f = one_block(&p);
    uint32_t one = fn_vreg(f, 1), two = fn_vreg(f, 2);
    struct block *b = &f->blocks.at[0];
    vec_push(&b->insts, make(OP_MOV, opd_reg(one, 0), opd_imm(1), (struct opd){0}));
    vec_push(&b->insts, inst_new(OP_EXIT));
    assert_null(ir_validate(&p, f));

    const struct inst good = b->insts.at[0];
#define REFUSED(change, word)                                                                                \
    do {                                                                                                     \
        struct inst *i = &b->insts.at[0];                                                                    \
        change;                                                                                              \
        const char *error = ir_validate(&p, f);                                                              \
        assert_non_null(error);                                                                              \
        assert_non_null(strstr(error, word));                                                                \
        *i = good;                                                                                           \
    } while (0)
    REFUSED(i->dst = opd_reg(99, 0), "no virtual register");
    REFUSED(i->dst = opd_reg(one, 1), "words");
    REFUSED(i->src[0].mod = OMOD_NEG, "sign modifier");
    REFUSED(i->nsrc = 2, "sources");
    REFUSED(i->pdst[0].id = 0, "not an operand");
    REFUSED(i->guard.id = 4, "no predicate");
    REFUSED(i->op = OP_EXIT; i->nsrc = 0; i->dst.kind = O_NONE, "middle of a block");
    REFUSED(*i = make(OP_IADD, opd_reg(one, 0), opd_imm(1), opd_reg(one, 0)), "may not be a constant");
    REFUSED(*i = make(OP_IMULW, opd_reg(two, 1), opd_reg(one, 0), opd_reg(one, 0)), "words");
    REFUSED(*i = make(OP_CALL, (struct opd){0}, (struct opd){0}, (struct opd){0}), "call of function");
    f->allocated = true;
    REFUSED(*i = make(OP_IMULW, opd_reg(3, 0), opd_reg(1, 0), opd_reg(1, 0)), "aligned");
#undef REFUSED
    program_free(&p);
}

/* ---- control flow ---- */

/* Builds blocks from edges; a block with two successors branches on predicate 0, one without exits. */
static struct fn *graph(struct program *p, uint32_t n, const int edges[][2]) {
    struct fn *f = one_block(p);
    uint32_t v = fn_vreg(f, 1);
    fn_pred(f);
    for (uint32_t b = 1; b < n; b++)
        fn_block(f);
    for (uint32_t b = 0; b < n; b++) {
        struct block *k = &f->blocks.at[b];
        struct inst st = make(OP_ST, (struct opd){0}, opd_rz(), opd_reg(v, 0));
        st.m.space = MS_GLOBAL;
        st.m.size = 4;
        st.m.vec = 1;
        st.imm = (int32_t)(4 * b);
        for (uint32_t copies = 0; copies < 5; copies++) /* too many for if-conversion */
            vec_push(&k->insts, st);
        if (edges[b][1] >= 0) {
            struct inst bra = inst_new(OP_BRA);
            bra.guard.id = 0;
            bra.target = (uint32_t)edges[b][0];
            vec_push(&k->insts, bra);
        } else if (edges[b][0] < 0) {
            vec_push(&k->insts, inst_new(OP_EXIT));
        }
        for (uint32_t s = 0; s < 2; s++)
            if (edges[b][s] >= 0)
                vec_push(&k->succ, (uint32_t)edges[b][s]);
    }
    return f;
}

static void test_joins(void **state) {
    (void)state;
    /* 0 -> 1|2 -> 3 -> 7; 7 loops to 3 or goes on to 4, which may leave early through 5. */
    static const int edges[][2] = {{1, 2}, {3, -1}, {3, -1}, {7, -1}, {6, 5}, {-1, -1}, {-1, -1}, {3, 4}};
    struct program p = {0};
    struct fn *f = graph(&p, 8, edges);
    assert_null(ir_validate(&p, f));
    cfg_joins(f);
    assert_int_equal(f->blocks.at[0].ipdom, 3);
    assert_int_equal(f->blocks.at[1].ipdom, 3);
    assert_int_equal(f->blocks.at[7].ipdom, 4);
    /* The last exit counts as the end; threads that leave by the other one are not waited for. */
    assert_int_equal(f->blocks.at[4].ipdom, 6);
    assert_int_equal(f->blocks.at[5].ipdom, NO_BLOCK);
    assert_int_equal(f->blocks.at[1].depth, 0);
    assert_int_equal(f->blocks.at[3].depth, 1);
    assert_int_equal(f->blocks.at[7].depth, 1);
    assert_int_equal(f->blocks.at[4].depth, 0);
    program_free(&p);
}

static void test_layout(void **state) {
    (void)state;
    static const int edges[][2] = {{2, 1}, {3, -1}, {3, -1}, {-1, -1}};
    struct program p = {0};
    struct diag d = {0};
    graph(&p, 4, edges);
    assert_true(opt_compile(&p, &d));
    uint32_t branches = 0;
    for (uint32_t k = 0; k < p.ncode; k++) {
        const struct inst *i = &p.code[k];
        if (i->op != OP_BRA)
            continue;
        branches++;
        assert_true(i->target < p.ncode);
        assert_int_not_equal(i->target, k + 1);
        /* Both meet where the stores of block 3 begin. */
        assert_true(i->rpc < p.ncode);
        assert_int_equal(p.code[i->rpc].op, OP_ST);
        assert_int_equal(p.code[i->rpc].imm, 12);
    }
    assert_int_equal(branches, 2);
    assert_int_equal(p.code[p.ncode - 1].op, OP_EXIT);
    program_free(&p);
    diag_free(&d);
}

static void test_indexed_branch(void **state) {
    (void)state;
    static const int edges[][2] = {{3, -1}, {3, -1}, {3, -1}, {-1, -1}};
    struct program p = {0};
    struct diag d = {0};
    struct fn *f = graph(&p, 4, edges);
    struct inst brx = make(OP_BRX, (struct opd){0}, opd_reg(0, 0), (struct opd){0});
    uint32_t *targets = arena_array(&p.arena, uint32_t, 3);
    targets[0] = 2, targets[1] = 1, targets[2] = 2;
    vec_reserve(&f->tables, 1);
    f->tables.at[0].blocks = targets;
    f->tables.at[0].n = 3;
    f->tables.len = 1;
    brx.target = 0;
    f->blocks.at[0].succ.len = 0;
    vec_push(&f->blocks.at[0].insts, brx);
    assert_true(opt_compile(&p, &d));
    assert_int_equal(p.tables.len, 1);
    assert_int_equal(p.tables.at[0].n, 3);
    assert_int_equal(p.code[p.tables.at[0].at[0]].imm, 8);
    assert_int_equal(p.code[p.tables.at[0].at[1]].imm, 4);
    assert_int_equal(p.tables.at[0].at[2], p.tables.at[0].at[0]);
    program_free(&p);
    diag_free(&d);
}

/* An empty loop must not keep the compiler busy, nor an unreachable one alive. */
static void test_empty_loops(void **state) {
    (void)state;
    static const int edges[][2] = {{1, 3}, {2, -1}, {1, -1}, {-1, -1}, {5, -1}, {4, -1}};
    struct program p = {0};
    struct diag d = {0};
    struct fn *f = graph(&p, 6, edges);
    for (uint32_t b = 1; b < 6; b++)
        if (b != 3)
            f->blocks.at[b].insts.len = 0;
    assert_true(opt_compile(&p, &d));
    uint32_t jumps = 0;
    for (uint32_t k = 0; k < p.ncode; k++)
        jumps += p.code[k].op == OP_BRA && p.code[k].target <= k;
    assert_int_equal(jumps, 1);
    program_free(&p);
    diag_free(&d);
}

/* ---- programs ---- */

static void test_stack_size(void **state) {
    (void)state;
    struct program p = {0};
    struct diag d = {0};
    /* kernel -> 1 -> 2, kernel -> 2 */
    for (uint32_t n = 0; n < 3; n++) {
        struct fn *f = one_block(&p);
        f->entry = n == 0;
        f->fp = fn_vreg(f, 1);
        f->frame = 32 << n;
        for (uint32_t k = n + 1; k < 3; k++) {
            struct inst call = inst_new(OP_CALL);
            call.target = k;
            vec_push(&f->blocks.at[0].insts, call);
        }
        vec_push(&f->blocks.at[0].insts, inst_new(n ? OP_RET : OP_EXIT));
    }
    assert_true(opt_compile(&p, &d));
    assert_int_equal(p.local_bytes, 32 + 64 + 128);
    assert_false(p.recursive);
    program_free(&p);

    p = (struct program){0};
    struct fn *f = one_block(&p);
    f->fp = fn_vreg(f, 1);
    struct inst call = inst_new(OP_CALL);
    call.target = 0;
    vec_push(&f->blocks.at[0].insts, call);
    vec_push(&f->blocks.at[0].insts, inst_new(OP_EXIT));
    assert_true(opt_compile(&p, &d));
    assert_true(p.recursive);
    program_free(&p);
    diag_free(&d);
}

static void test_options(void **state) {
    (void)state;
    for (uint32_t n = 0; opt_pass_name(n); n++)
        assert_true(opt_pass_bit(opt_pass_name(n)) == UINT64_C(1) << n);
    assert_true(opt_pass_bit("no such pass") == 0);

    static const int edges[][2] = {{2, 1}, {3, -1}, {3, -1}, {-1, -1}};
    struct program p = {0};
    struct diag d = {0};
    struct str dump = {0};
    struct opt_options o = {.dump = &dump, .only = "allocation"};
    graph(&p, 4, edges);
    assert_true(opt_compile_with(&p, &o, &d));
    assert_non_null(strstr(str_text(&dump), "; after allocation"));
    assert_null(strstr(str_text(&dump), "; after lowering"));
    program_free(&p);
    diag_free(&d);
    str_free(&dump);
}

/* A broken function is reported, not compiled. */
static void test_reports_invalid(void **state) {
    (void)state;
    struct program p = {0};
    struct diag d = {0};
    struct fn *f = one_block(&p);
    vec_push(&f->blocks.at[0].insts, make(OP_MOV, opd_reg(5, 0), opd_imm(1), (struct opd){0}));
    vec_push(&f->blocks.at[0].insts, inst_new(OP_EXIT));
    assert_false(opt_compile(&p, &d));
    assert_int_equal(d.errors, 1);
    assert_non_null(strstr(str_text(&d.text), "internal error after lowering"));
    program_free(&p);
    diag_free(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_op_prints), cmocka_unit_test(test_print_forms),
        cmocka_unit_test(test_validator),       cmocka_unit_test(test_joins),
        cmocka_unit_test(test_layout),          cmocka_unit_test(test_indexed_branch),
        cmocka_unit_test(test_empty_loops),     cmocka_unit_test(test_stack_size),
        cmocka_unit_test(test_options),         cmocka_unit_test(test_reports_invalid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
