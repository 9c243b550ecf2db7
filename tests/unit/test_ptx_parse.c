/* The PTX parser: what it reads is printed back in a compact form and compared, what it refuses is compared
 * with the message. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/vec.h"
#include "ptx/ptx.h"

#define HEAD "\n.version 8.0\n.target sm_75\n.address_size 64\n"
#define REGS                                                                                                 \
    ".reg .pred p, q, %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .f64 %d<3>;"           \
    ".reg .v4 .f32 V; .reg .v2 .b32 W<2>; .reg .b16 %h<4>;"
#define GLOBALS                                                                                              \
    ".global .u32 g[8]; .shared .u8 sh[64]; .global .texref tx; .func (.param .b32 r) f (.param .b32 a);\n"

static struct ptx_module *parse(const char *text, struct diag *d) {
    *d = (struct diag){0};
    return ptx_parse(text, strlen(text), "t.ptx", d);
}

/* Parses what must be valid. */
static struct ptx_module *good(const char *text) {
    struct diag d;
    struct ptx_module *m = parse(text, &d);
    if (!m)
        print_error("%s", str_text(&d.text));
    assert_non_null(m);
    diag_free(&d);
    return m;
}

/* Parses what must fail with a message that contains the given words. */
static void bad(const char *text, const char *words) {
    struct diag d;
    struct ptx_module *m = parse(text, &d);
    assert_null(m);
    assert_true(d.errors > 0);
    if (!strstr(str_text(&d.text), words))
        fail_msg("'%s' not in:\n%s", words, str_text(&d.text));
    diag_free(&d);
}

static struct ptx_func *func(const struct ptx_module *m, const char *name) {
    for (uint32_t i = 0; i < m->nfuncs; i++)
        if (!strcmp(m->funcs[i]->name, name))
            return m->funcs[i];
    fail_msg("no function %s", name);
    return NULL;
}

static struct ptx_var *var(const struct ptx_module *m, const char *name) {
    for (uint32_t i = 0; i < m->nvars; i++)
        if (!strcmp(m->vars[i]->name, name))
            return m->vars[i];
    fail_msg("no variable %s", name);
    return NULL;
}

static void print_opd(struct str *s, const struct ptx_func *f, const struct ptx_opd *o);

static void print_elems(struct str *s, const struct ptx_func *f, const struct ptx_opd *o, const char *sep) {
    for (uint32_t i = 0; i < o->nelems; i++) {
        str_printf(s, "%s", i ? sep : "");
        print_opd(s, f, &o->elems[i]);
    }
}

static void print_opd(struct str *s, const struct ptx_func *f, const struct ptx_opd *o) {
    static const char *const open[] = {
        [OPD_VECTOR] = "{", [OPD_ADDR] = "[", [OPD_LIST] = "(", [OPD_PAIR] = ""};
    static const char *const close[] = {
        [OPD_VECTOR] = "}", [OPD_ADDR] = "]", [OPD_LIST] = ")", [OPD_PAIR] = ""};
    if (o->neg)
        str_printf(s, "!");
    switch (o->kind) {
    case OPD_NONE:
        str_printf(s, "?");
        break;
    case OPD_REG: /* by index, so that elements of vectors can be told apart */
        str_printf(s, "%s#%u", f->regs[o->reg].name, o->reg);
        break;
    case OPD_INT:
        str_printf(s, "%lld", (long long)o->imm);
        break;
    case OPD_F32:
        str_printf(s, "f%08llx", (unsigned long long)o->imm);
        break;
    case OPD_F64:
        str_printf(s, "d%016llx", (unsigned long long)o->imm);
        break;
    case OPD_VAR:
        str_printf(s, "%s", o->var->name);
        break;
    case OPD_FUNC:
        str_printf(s, "%s()", o->func->name);
        break;
    case OPD_SREG:
        str_printf(s, "%%%s.%d", ptx_sreg_name(o->sreg), o->comp);
        break;
    case OPD_LABEL:
        str_printf(s, "->%u", f->labels[o->label].inst);
        break;
    case OPD_SINK:
        str_printf(s, "_");
        break;
    case OPD_TARGETS:
        str_printf(s, "table %s", o->targets->name);
        break;
    default:
        str_printf(s, "%s", open[o->kind]);
        print_elems(s, f, o, o->kind == OPD_PAIR ? "|" : ",");
        if (o->kind == OPD_ADDR && o->imm)
            str_printf(s, "%+lld", (long long)o->imm);
        str_printf(s, "%s", close[o->kind]);
    }
    if (o->kind == OPD_VAR && o->imm)
        str_printf(s, "%+lld", (long long)o->imm);
    if (o->nsel)
        str_printf(s, ":%c%0*x", o->sel_half ? 'h' : 'b', o->nsel, o->sel);
}

/* The first instruction of entry k, printed. */
static void print_first(struct str *s, const struct ptx_func *f) {
    const struct ptx_inst *i = &f->insts[0];
    char buf[200];
    if (i->guarded)
        str_printf(s, "@%s%s ", i->guard_neg ? "!" : "", f->regs[i->guard].name);
    str_printf(s, "%s", ptx_inst_text(i, buf, sizeof buf));
    for (uint32_t k = 0; k < i->nopds; k++) {
        str_printf(s, " ");
        print_opd(s, f, &i->opds[k]);
    }
}

/* Statements and what the first of them reads as. Registers: p q %p0-3 are 0-5, %r from 6, %rd from 15, %f
 * from 24, %d from 33, V 36-39, W 40-43, %h from 44. */
static const struct {
    const char *text, *expected;
} statements[] = {
    {"ret;", "ret"},
    {"add.s32 %r1, %r2, -1;", "add.s32 %r1#7 %r2#8 -1"},
    {"@p add.rn.ftz.f32 %f1, %f2, 0f3F800000;", "@p add.rn.ftz.f32 %f1#25 %f2#26 f3f800000"},
    {"@!%p3 bra L; L: ret;", "@!%p3 bra ->1"},
    {"bra.uni L; ret; { L: ret; } L: ret;", "bra.uni ->3"},
    {"mov.b64 {%r1,_}, %rd1;", "mov.b64 {%r1#7,_} %rd1#16"},
    {"mov.u32 %r1, %tid.y;", "mov.u32 %r1#7 %tid.1"},
    {"mov.u64 %rd1, %clock64;", "mov.u64 %rd1#16 %clock64.-1"},
    {"mov.u32 %r1, %envreg31;", "mov.u32 %r1#7 %envreg31.-1"},
    {"mov.f32 %f0, V.z;", "mov.f32 %f0#24 V#38"},
    {"mov.v4.f32 V, V;", "mov.v4.f32 {V#36,V#37,V#38,V#39} {V#36,V#37,V#38,V#39}"},
    {"mov.b32 W1.y, 0;", "mov.b32 W1#43 0"},
    {"mov.u64 %rd1, g+4;", "mov.u64 %rd1#16 g+4"},
    {"mov.u64 %rd1, g[2];", "mov.u64 %rd1#16 g+8"},
    {"ld.global.u32 %r1, g[2];", "ld.global.u32 %r1#7 [g+8]"},
    {"mov.u64 %rd1, f;", "mov.u64 %rd1#16 f()"},
    {"mov.u64 %rd1, later;", "mov.u64 %rd1#16 later()"},
    {"mov.u32 %r1, WARP_SZ;", "mov.u32 %r1#7 32"},
    {"mov.u32 %r1, -(2+3)*4 % 7 | 1<<8;", "mov.u32 %r1#7 -6"},
    {"mov.u32 %r1, 5 > 3 ? 0x10U : 7;", "mov.u32 %r1#7 16"},
    {"mov.u32 %r1, (1 == 2) || !0 && ~0 != 0;", "mov.u32 %r1#7 1"},
    {"mov.u64 %rd1, (.u64)-1 >> 60;", "mov.u64 %rd1#16 15"},
    {"mov.u64 %rd1, (.s64)0xFFFFFFFFFFFFFFFF >> 60;", "mov.u64 %rd1#16 -1"},
    {"mov.f64 %d1, -1.5e1;", "mov.f64 %d1#34 dc02e000000000000"},
    {"mov.f64 %d1, 0dBFF0000000000000;", "mov.f64 %d1#34 dbff0000000000000"},
    {"ld.global.v2.u32 {%r1,%r2}, [%rd1+-8];", "ld.global.v2.u32 {%r1#7,%r2#8} [%rd1#16-8]"},
    {"ld.shared::cta.u8 %h1, [sh+2*8];", "ld.shared::cta.u8 %h1#45 [sh+16]"},
    {"ld.param.u64 %rd1, [a0];", "ld.param.u64 %rd1#16 [a0]"},
    {"ld.const[3].u32 %r1, [64];", "ld.const.u32 %r1#7 [64]"},
    {"ld.b32 %r1, [%rd1].unified;", "ld.unified.b32 %r1#7 [%rd1#16]"},
    {"setp.lt.and.s32 p|q, %r1, %r2, !%p0;", "setp.lt.and.s32 p#0|q#1 %r1#7 %r2#8 !%p0#2"},
    {"shfl.sync.up.b32 %r1|p, %r2, 1, 0, -1;", "shfl.sync.up.b32 %r1#7|p#0 %r2#8 1 0 -1"},
    {"tex.2d.v4.f32.f32 V, [tx, {%f0,%f1}];", "tex.2d.v4.f32.f32 {V#36,V#37,V#38,V#39} [tx,{%f0#24,%f1#25}]"},
    {"tex.1d.v4.f32.s32 V|p, [%rd1, %rd2, {%r1}];",
     "tex.1d.v4.f32.s32 {V#36,V#37,V#38,V#39}|p#0 [%rd1#16,%rd2#17,{%r1#7}]"},
    {"vadd2.s32.s32.s32 %r1.h10, %r2.h32, -%r3.b3, %r4;",
     "vadd2.s32.s32.s32 %r1#7:h10 %r2#8:h32 !%r3#9:b3 %r4#10"},
    {"call f;", "call f()"},
    {"call.uni (%r1), f, (%r2, 3);", "call.uni (%r1#7) f() (%r2#8,3)"},
    {"{ .param .b32 x; P: .callprototype (.param .b32 _) _ (.param .b32 _); call (x), %rd1, (x), P; }",
     "call (x) %rd1#16 (x) table P"},
    {"T: .branchtargets L, M; brx.idx %r1, T; L: M: ret;", "brx.idx %r1#7 table T"},
    {"cp.async.cg.shared.global.L2::128B [%r1], [%rd1], 16;",
     "cp.async.cg.shared.global.L2::128B [%r1#7] [%rd1#16] 16"},
    {"wgmma.mma_async.sync.aligned.m64n24k16.f32.f16.f16 {%f1}, %rd1, %rd2, p, 1, -1, 0, 0;",
     "wgmma.mma_async.sync.aligned.mMnNkK.f32.f16.f16 {%f1#25} %rd1#16 %rd2#17 p#0 1 -1 0 0"},
    {"min.NaN.f32 %f1, %f2, %f3;", "min.NaN.f32 %f1#25 %f2#26 %f3#27"},
    {"set.nan.u32.f32 %r1, %f2, %f3;", "set.nan.u32.f32 %r1#7 %f2#26 %f3#27"},
    {"barrier.cta.red.popc.aligned.u32 %r1, 0, p;", "barrier.cta.red.popc.aligned.u32 %r1#7 0 p#0"},
};

static void test_statements(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        struct str text = {0}, out = {0};
        str_printf(&text, "%s%s.entry k (.param .u64 a0) { %s\n%s }\n.func later () { ret; }\n", HEAD,
                   GLOBALS, REGS, statements[i].text);
        struct ptx_module *m = good(text.at);
        const struct ptx_func *k = func(m, "k");
        if (k->refused)
            fail_msg("%s", k->refused);
        print_first(&out, k);
        assert_string_equal(out.at, statements[i].expected);
        assert_int_equal(k->insts[0].line, 7);
        ptx_free(m);
        str_free(&text);
        str_free(&out);
    }
}

/* Statements that refuse their function, and words of the message. */
static const struct {
    const char *text, *words;
} refused[] = {
    {"ad.s32 %r1, %r2, %r3;", "t.ptx:7:1: error: unknown instruction 'ad'; did you mean 'add'?\n    ad.s32"},
    {"ld.globl.u32 %r1, [%rd1];", "7:3: error: unknown modifier '.globl'; did you mean 'global'?"},
    {"add.s32 %r1, %r2, %r9;", "register '%r9' is not declared: %r<9> ends at %r8"},
    {"add.s32 %rr1, %r2, %r2;", "'%rr1' is not declared; did you mean '%r1'?"},
    {"mov.u64 %rd1, gg;", "'gg' is not declared; did you mean 'g'?"},
    {"bra LOOPP; LOOP: ret;", "'LOOPP' is not declared; did you mean 'LOOP'?"},
    {"{ IN: ret; } bra IN;", "'IN' is not declared"},
    {"@%r1 ret;", "'%r1' is not a predicate register"},
    {"add.s32 %r1, %r2, ;", "expected an operand, found ';'"},
    {"add.s32 %r1, {%r2, %r3;", "expected '}' after the list"},
    {"ld.u32 %r1, [%rd1+%rd2];", "expected a constant offset"},
    {"mov.u32 %r1, 1/0;", "division by zero"},
    {"mov.u32 %r1, 18446744073709551616;", "does not fit 64 bits"},
    {"mov.f32 %f1, 0f3F80;", "0f constant has 8"},
    {".reg .b32 %r<5>;", "'%r' is already declared"},
    {".reg .b32 %r3;", "'%r3' is already declared"},
    {".reg .b32 big<4000000000>;", "at most 1048576 registers"},
    {"L: L: ret;", "'L' is already declared"},
    {".rge .b32 x;", "unknown directive '.rge' in a function; did you mean '.reg'?"},
    {".local .b8 x[0x10000000000][0x1000];", "larger than"},
    {"mov.f32 %f1, V.q;", "V"},
    {"mov.b32 %r1, W0.z;", "'W' has 2 components"},
    {"mov.u32 %r1, %tid.q;", "expected a component"},
    {".shared .u32 x = 5;", "only .global and .const"},
    {"add.s32 %r1, %r2, \x01;", "unexpected character"},
};

static void test_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct str text = {0};
        str_printf(&text, "%s%s.entry k (.param .u64 a0) { %s\n%s }\n.entry other () { ret; }\n", HEAD,
                   GLOBALS, REGS, refused[i].text);
        struct ptx_module *m = good(text.at);
        const struct ptx_func *k = func(m, "k");
        if (!k->refused || !strstr(k->refused, refused[i].words))
            fail_msg("'%s' not in:\n%s", refused[i].words, k->refused ? k->refused : "(accepted)");
        assert_null(func(m, "other")->refused);
        assert_int_equal(func(m, "other")->ninsts, 1);
        ptx_free(m);
        str_free(&text);
    }
}

/* Module-level problems, and words of the message. */
static const struct {
    const char *text, *words;
} rejected[] = {
    {"", "a PTX module starts with .version"},
    {".version 8.0\n.taget sm_75\n", "t.ptx:2:1: error: unknown directive '.taget'; did you mean '.target'?"},
    {".version x\n", "expected a version"},
    {".version 8.0\n.target texmode_unifed\n", "did you mean 'texmode_unified'?"},
    {HEAD ".entry k () { ret;", "function 'k' has no closing '}'"},
    {HEAD ".entry k () { ret; .entry j () { ret; }", "function 'k' has no closing '}'"},
    {HEAD ".entry k () { ret; } .entry k () { ret; }", "'k' is already defined"},
    {HEAD ".func f (.param .b32 a); .func f () { ret; }", "declared before with other parameters"},
    {HEAD ".func f (); .entry f () { ret; }", "both as .entry and as .func"},
    {HEAD ".global .u32 x; .global .u32 x;", "'x' is already defined"},
    {HEAD ".global .u32 x; .func x ();", "already declared as a variable"},
    {HEAD ".global .u23 x;", "unknown word '.u23' in a declaration; did you mean 'u32'?"},
    {HEAD ".global .u32 x[2] = {1,2,3};", "more initial values than elements"},
    {HEAD ".global .u64 x = nowhere;", "'nowhere' is not declared"},
    {HEAD ".global .u8 x = {0xFFF(y)};", "a mask selects one byte"},
    {HEAD ".global .align 3 .u32 x;", "power of two"},
    {HEAD ".global .u32 x[2][];", "first dimension"},
    {HEAD ".global .u32 x[4611686018427387904];", "from 0 to"},
    {HEAD ".func a (); .alias a, b;", "an alias needs a function"},
    {HEAD ".file 99999999 \"x\"", "file number"},
    {HEAD ".section .debug_info { .b8 1", "no closing '}'"},
    {HEAD "/* no end", "comment without end"},
    {HEAD ".global .pred x;", "only registers can be predicates"},
    {HEAD "add.s32 a, b, c;", "expected a directive"},
};

static void test_rejected(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rejected / sizeof *rejected; i++)
        bad(rejected[i].text, rejected[i].words);
}

static void test_several_errors(void **state) {
    (void)state;
    struct diag d;
    assert_null(parse(HEAD ".global .u23 x;\n.entry k () { ret; }\n.global .f31 y;\n.fnuc z ();\n", &d));
    assert_int_equal(d.errors, 3);
    diag_free(&d);
}

static void test_module_header(void **state) {
    (void)state;
    struct ptx_module *m = good("// c\n.version 1.4\n.target sm_13, map_f64_to_f32\n.entry k () { exit; }");
    assert_int_equal(m->version, 14);
    assert_int_equal(m->target, 13);
    assert_int_equal(m->address_bits, 32);
    ptx_free(m);
    m = good(".version 1.4 .target sm_13 .entry k () { .reg .u64 a; .reg .u32 b; ld.global.u32 b, [a+4]; }");
    assert_int_equal(m->address_bits, 64);
    ptx_free(m);
    m = good(".version 9.0 .target sm_100f, debug .address_size 64 .file 3 \"a b.cu\", 12, 34");
    assert_int_equal(m->version, 90);
    assert_int_equal(m->target, 100);
    assert_string_equal(m->target_name, "sm_100f");
    assert_int_equal(m->address_bits, 64);
    assert_string_equal(m->files[3].name, "a b.cu");
    ptx_free(m);
}

static void test_variables(void **state) {
    (void)state;
    struct ptx_module *m = good(HEAD ".extern .shared .align 16 .b8 dyn[];\n"
                                     ".visible .const .v4 .f32 v[3];\n"
                                     ".global .attribute(.managed) .u16 m[2][5];\n"
                                     ".extern .global .u32 e;\n"
                                     ".tex .u32 t;\n"
                                     ".weak .global .u32 e = 7;\n");
    assert_int_equal(m->nvars, 5);
    struct ptx_var *v = var(m, "dyn");
    assert_true(v->unsized && v->array && v->size == 0 && v->align == 16 && v->space == SPACE_SHARED);
    assert_int_equal(v->linkage, LINK_EXTERN);
    v = var(m, "v");
    assert_true(v->size == 48 && v->count == 3 && v->vec == 4 && v->align == 16 && v->space == SPACE_CONST);
    v = var(m, "m");
    assert_true(v->size == 20 && v->count == 10 && v->managed);
    v = var(m, "e");
    assert_true(v->linkage == LINK_WEAK && v->ninit == 1 && v->init[0].bits == 7);
    assert_int_equal(var(m, "t")->type, PTX_TEXREF);
    ptx_free(m);
}

/* The bytes of a variable whose values are all constants. */
static void image(const struct ptx_var *v, uint8_t *out) {
    memset(out, 0, v->size);
    uint64_t last = 0;
    for (uint32_t i = 0; i < v->ninit; i++) {
        const struct ptx_init *in = &v->init[i];
        assert_true(in->offset >= last && in->offset + in->size <= v->size);
        last = in->offset + in->size;
        memcpy(out + in->offset, &in->bits, in->size);
    }
}

static void test_constant_values(void **state) {
    (void)state;
    uint8_t b[64];
    struct ptx_module *m = good(HEAD ".global .u8 rows[3][4] = { {1, 2}, {3}, 4, 5 };\n"
                                     ".global .s16 open[] = { -1, 0, 0, 010, 0b11 };\n"
                                     ".const .f32 f[4] = { 0f3F800000, 0d4000000000000000, 1.5, 2 };\n"
                                     ".const .f64 d = 0.25;\n"
                                     ".global .v2 .u32 v[2] = { {1, 2}, {3} };\n"
                                     ".global .b32 x = 0f40000000;\n");
    image(var(m, "rows"), b);
    assert_memory_equal(b, ((uint8_t[]){1, 2, 0, 0, 3, 0, 0, 0, 4, 5, 0, 0}), 12);
    struct ptx_var *open = var(m, "open");
    assert_true(!open->unsized && open->size == 10 && open->count == 5);
    image(open, b);
    assert_memory_equal(b, ((int16_t[]){-1, 0, 0, 8, 3}), 10);
    image(var(m, "f"), b);
    assert_memory_equal(b, ((float[]){1, 2, 1.5f, 2}), 16);
    image(var(m, "d"), b);
    assert_memory_equal(b, ((double[]){0.25}), 8);
    image(var(m, "v"), b);
    assert_memory_equal(b, ((uint32_t[]){1, 2, 3, 0}), 16);
    image(var(m, "x"), b);
    assert_memory_equal(b, ((float[]){2}), 4);
    ptx_free(m);
}

static void test_symbol_values(void **state) {
    (void)state;
    struct ptx_module *m =
        good(HEAD ".global .u64 p[4] = { a, generic(a)+8, fn, 0 };\n"
                  ".global .b8 q[9] = { 1, 0xFF(a), 0xFF00(generic(a)+4), 0xFF00000000000000(a) };\n"
                  ".global .u32 a[4];\n.func fn () { ret; }\n");
    const struct ptx_var *p = var(m, "p"), *q = var(m, "q"), *a = var(m, "a");
    assert_int_equal(p->ninit, 3);
    assert_true(p->init[0].var == a && p->init[0].bits == 0 && !p->init[0].generic && p->init[0].size == 8);
    assert_true(p->init[1].var == a && p->init[1].bits == 8 && p->init[1].generic && p->init[1].offset == 8);
    assert_true(p->init[2].func == func(m, "fn") && !p->init[2].var);
    assert_int_equal(q->ninit, 4);
    assert_true(!q->init[0].var && q->init[0].bits == 1);
    assert_true(q->init[1].var == a && q->init[1].shift == 0 && q->init[1].size == 1 &&
                q->init[1].offset == 1);
    assert_true(q->init[2].var == a && q->init[2].shift == 8 && q->init[2].bits == 4 && q->init[2].generic);
    assert_int_equal(q->init[3].shift, 56);
    ptx_free(m);
}

static void test_function_headers(void **state) {
    (void)state;
    struct ptx_module *m = good(
        HEAD
        ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n"
        ".func dead () .noreturn;\n"
        ".visible .entry k (.param .u64 .ptr .shared .align 64 a, .param .align 8 .b8 s[20])\n"
        ".maxntid 16, 8 .reqntid 32 .minnctapersm 3 .maxnreg 40 .reqnctapercluster 2,1,1 .explicitcluster\n"
        "{ .reg .b32 %r<3>; ret; }\n"
        ".func (.reg .u32 out) old (.reg .u32 in, .reg .v2 .f32 w) { .reg .b32 z; mov.u32 out, in; ret; }\n");
    const struct ptx_func *f = func(m, "vprintf");
    assert_true(!f->defined && !f->entry && f->nrets == 1 && f->nparams == 2 && f->linkage == LINK_EXTERN);
    assert_true(func(m, "dead")->noreturn);
    f = func(m, "k");
    assert_true(f->defined && f->entry && f->linkage == LINK_VISIBLE && f->nparams == 2);
    assert_true(f->params[0]->ptr && f->params[0]->align == 8 && f->params[0]->space == SPACE_PARAM);
    assert_true(f->params[1]->size == 20 && f->params[1]->align == 8 && f->params[1]->func == f);
    assert_true(f->maxntid[0] == 16 && f->maxntid[1] == 8 && f->maxntid[2] == 1 && f->reqntid[0] == 32);
    assert_true(f->minnctapersm == 3 && f->maxnreg == 40 && f->reqnctapercluster[0] == 2 &&
                f->explicitcluster);
    assert_int_equal(f->nregs, 3);
    f = func(m, "old");
    assert_true(f->rets[0]->space == SPACE_REG && f->rets[0]->reg == 0 && f->params[0]->reg == 1);
    assert_int_equal(f->nregs, 5);
    assert_true(f->insts[0].opds[0].reg == 0 && f->insts[0].opds[1].reg == 1);
    ptx_free(m);
}

static void test_scopes(void **state) {
    (void)state;
    struct ptx_module *m =
        good(HEAD ".entry k () { .reg .b32 t; .reg .b32 %r<5>;\n"
                  "{ .reg .b64 t; .reg .f32 %r<3>; .reg .f32 %r1<10>; mov.b64 t, 0; mov.f32 %r2, %r4;\n"
                  "  mov.f32 %r12, 0f0; bra L; L: }\n"
                  "mov.b32 t, 1; bra L; L: }");
    const struct ptx_func *k = func(m, "k");
    assert_non_null(strstr(k->refused, "0f constant"));
    const struct ptx_inst *i = k->insts;
    assert_int_equal(k->regs[i[0].opds[0].reg].type, PTX_B64);
    assert_int_equal(k->regs[i[1].opds[0].reg].type, PTX_F32); /* the inner %r2 */
    assert_int_equal(k->regs[i[1].opds[1].reg].type, PTX_B32); /* only the outer range has %r4 */
    assert_int_equal(k->labels[i[2].opds[0].label].inst, 3);   /* each block's own L */
    assert_int_equal(k->regs[i[3].opds[0].reg].type, PTX_B32);
    assert_int_equal(k->labels[i[4].opds[0].label].inst, 5);
    ptx_free(m);
}

static void test_tables(void **state) {
    (void)state;
    struct ptx_module *m = good(HEAD ".entry k () { .reg .b32 r; .reg .b64 d;\n"
                                     "T: .branchtargets A, B, A; brx.idx r, T; A: ret; B: ret;\n"
                                     "C: .calltargets f, g; call d, C; }\n"
                                     ".func f () { ret; } .func g () { ret; }");
    const struct ptx_func *k = func(m, "k");
    assert_null(k->refused);
    const struct ptx_targets *t = k->insts[0].opds[1].targets;
    assert_int_equal(t->nlabels, 3);
    assert_int_equal(k->labels[t->labels[0]].inst, 1);
    assert_int_equal(k->labels[t->labels[1]].inst, 2);
    assert_int_equal(t->labels[2], t->labels[0]);
    t = k->insts[3].opds[1].targets;
    assert_true(t->nfuncs == 2 && t->funcs[0] == func(m, "f") && t->funcs[1] == func(m, "g"));
    ptx_free(m);
}

static void test_alias(void **state) {
    (void)state;
    struct ptx_module *m =
        good(HEAD ".func a (); .entry k () { call a; ret; } .func b () { ret; } .alias a, b;");
    assert_ptr_equal(func(m, "k")->insts[0].opds[0].func, func(m, "b"));
    assert_ptr_equal(func(m, "a")->alias, func(m, "b"));
    ptx_free(m);
}

static void test_debug_lines(void **state) {
    (void)state;
    struct ptx_module *m = good(HEAD ".file 1 \"a.cu\"\n.entry k () {\nret;\n.loc 1 42 7\nret;\n"
                                     ".loc 1 50 3, function_name $L__s+4, inlined_at 1 9 9\nret; }\n"
                                     ".entry j () { ret; }\n"
                                     ".section .debug_str { $L__s: .b8 65, 0 \"}\" /* } */ }\n"
                                     "@@DWARF .byte 1, 2 { {\n");
    const struct ptx_inst *i = func(m, "k")->insts;
    assert_true(i[0].dbg_line == 0 && i[1].dbg_file == 1 && i[1].dbg_line == 42 && i[2].dbg_line == 50);
    assert_int_equal(func(m, "j")->insts[0].dbg_line, 0);
    ptx_free(m);
}

/* A later error must not be charged to the function before it, and one function's errors are bounded. */
static void test_refusal_is_bounded(void **state) {
    (void)state;
    struct str text = {0};
    str_printf(&text, "%s.entry k () {\n", HEAD);
    for (int i = 0; i < 1000; i++)
        str_printf(&text, "bogus%d;\n", i);
    str_printf(&text, "}\n");
    struct ptx_module *m = good(text.at);
    assert_true(strlen(func(m, "k")->refused) < 2000);
    ptx_free(m);
    str_free(&text);
}

static void test_nesting_is_bounded(void **state) {
    (void)state;
    static const char *const opens[] = {"(", "-", "{", "[", "1?", "!(~"};
    for (size_t k = 0; k < sizeof opens / sizeof *opens; k++) {
        struct str text = {0};
        str_printf(&text, "%s.entry k () { .reg .b32 r; mov.b32 r, ", HEAD);
        for (int i = 0; i < 100000; i++)
            str_printf(&text, "%s", opens[k]);
        str_printf(&text, "; }\n");
        struct ptx_module *m = good(text.at);
        assert_non_null(strstr(func(m, "k")->refused, "too deeply"));
        ptx_free(m);
        str_free(&text);
    }
    struct str text = {0};
    str_printf(&text, "%s.entry k () ", HEAD);
    for (int i = 0; i < 100000; i++)
        str_printf(&text, "{");
    bad(text.at, "nested too deeply");
    str_free(&text);
}

static void test_trailing_zeros(void **state) {
    (void)state;
    static const char text[] = HEAD ".entry k () { ret; }\n\0\0\0";
    struct diag d = {0};
    struct ptx_module *m = ptx_parse(text, sizeof text, "t.ptx", &d);
    assert_non_null(m);
    ptx_free(m);
    diag_free(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_statements),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_rejected),
        cmocka_unit_test(test_several_errors),
        cmocka_unit_test(test_module_header),
        cmocka_unit_test(test_variables),
        cmocka_unit_test(test_constant_values),
        cmocka_unit_test(test_symbol_values),
        cmocka_unit_test(test_function_headers),
        cmocka_unit_test(test_scopes),
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_alias),
        cmocka_unit_test(test_debug_lines),
        cmocka_unit_test(test_refusal_is_bounded),
        cmocka_unit_test(test_nesting_is_bounded),
        cmocka_unit_test(test_trailing_zeros),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
