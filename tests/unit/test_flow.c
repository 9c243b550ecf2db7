/* The analyses of src/flow on kernels worked out by hand: classes of the values that a kernel stores, before
 * and after register allocation; accesses; control dependence; reaching definitions. test_flow_random.c holds
 * them against what happens. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "core/view.h" /* stands beside src/flow in mechanisms: no name may be in both */
#include "flow/classes.h"
#include "opt/mech_pass.h"
#include "opt/opt.h"
#include "opt/pass.h"
#include "ptx/lower.h"

/* A kernel has out, in, other (pointers), n and m, the indices in %tx to %cz, and a, b, c, d, i (words), A,
 * B, C (64 bits), p, q. */
#define KERNEL(body)                                                                                         \
    ".version 7.0\n.target sm_70\n.address_size 64\n.global .align 4 .b8 table[64];\n"                       \
    ".const .align 4 .b8 fixed[64];\n"                                                                       \
    ".func (.param .u32 r) twice(.param .u32 x) { .reg .b32 %a; ld.param.u32 %a, [x]; add.u32 %a, %a, %a;\n" \
    "st.param.u32 [r], %a; ret; }\n"                                                                         \
    ".visible .entry k(.param .u64 out_, .param .u64 in_, .param .u64 other_, .param .u32 n_, .param .u32 "  \
    "m_)\n"                                                                                                  \
    "{ .reg .b32 %tx, %ty, %tz, %cx, %cy, %cz, %n, %m, %a, %b, %c, %d, %i, %j;\n"                            \
    ".reg .b64 %out, %in, %other, %A, %B, %C; .reg .pred %p, %q; .shared .align 8 .b8 sh[256];\n"            \
    ".local .align 8 .b8 lo[64];\n"                                                                          \
    "ld.param.u64 %out, [out_]; ld.param.u64 %in, [in_]; ld.param.u64 %other, [other_];\n"                   \
    "ld.param.u32 %n, [n_]; ld.param.u32 %m, [m_];\n"                                                        \
    "mov.u32 %tx, %tid.x; mov.u32 %ty, %tid.y; mov.u32 %tz, %tid.z;\n"                                       \
    "mov.u32 %cx, %ctaid.x; mov.u32 %cy, %ctaid.y; mov.u32 %cz, %ctaid.z;\n" body "\nret; }\n"

enum { MAX_STORES = 64 };
/* What is claimed of the value that is stored so far behind out. */
static struct stored {
    int32_t at;
    char text[64], why[256];
} stored[2][MAX_STORES];
static uint32_t nstored[2];
static struct class_options options;

static bool note_stores(const struct pass_run *r) {
    struct arena a = {0};
    uint32_t place = r->pass->place;
    struct class_options o = options;
    o.accesses = accesses_of(&a, r->p);
    o.reasons = true;
    const struct classes *c = classes_of(&a, r->p->fns.at[0], &o);
    for (uint32_t b = 0; b < c->f->blocks.len; b++)
        for (uint32_t k = 0; k < c->f->blocks.at[b].insts.len; k++) {
            const struct inst *i = &c->f->blocks.at[b].insts.at[k];
            const struct access *x = access_at(o.accesses, 0, b, k);
            if (i->op != OP_ST || !x || x->spaces != IN_GLOBAL || i->src[1].kind != O_REG)
                continue;
            struct str text = {0}, why = {0};
            struct vclass of = class_of_source(c, b, k, 1);
            class_print(&text, of);
            if (i->src[1].v != VREG_RZ)
                class_explain(&why, c, reach_read(&c->reach, b, k, value_of_opd(&c->reach.v, &i->src[1])),
                              of.deps, 0);
            struct stored *s = &stored[place][nstored[place]++];
            assert_true(nstored[place] < MAX_STORES);
            s->at = i->imm;
            snprintf(s->text, sizeof s->text, "%s", str_text(&text));
            snprintf(s->why, sizeof s->why, "%s", str_text(&why));
            str_free(&text);
            str_free(&why);
        }
    arena_free(&a);
    return false;
}

/* Compiles the kernel with these passes. */
static void compile(const char *ptx, const struct mech_pass *passes, uint64_t disable) {
    struct diag d = {0};
    struct ptx_layout layout;
    struct ptx_module *m = ptx_parse(ptx, strlen(ptx), "flow.ptx", &d);
    if (!m || !ptx_layout(m, &layout, &d))
        fail_msg("%s", str_text(&d.text));
    struct ptx_func *f = NULL;
    for (uint32_t k = 0; k < m->nfuncs; k++)
        f = m->funcs[k]->entry ? m->funcs[k] : f;
    struct program *p = ptx_lower(m, f, &d);
    p->reg_limit = 63;
    const struct opt_mech mech = {.passes = passes};
    if (!opt_compile_with(p, &(struct opt_options){.disable = disable, .mechs = &mech, .nmechs = 1}, &d))
        fail_msg("%s", str_text(&d.text));
    program_destroy(p);
    ptx_free(m);
    diag_free(&d);
}

static const struct stored *find_stored(uint32_t place, int32_t at) {
    for (uint32_t k = 0; k < nstored[place]; k++)
        if (stored[place][k].at == at)
            return &stored[place][k];
    fail_msg("nothing is stored at %d", at);
    return NULL;
}

struct row {
    int32_t at;
    const char *text;
};

static void check_rows(const char *ptx, uint64_t disable, const struct row *rows, uint32_t n) {
    static const struct mech_pass both[] = {
        {"before", BEFORE_REGISTERS, note_stores}, {"after", AFTER_REGISTERS, note_stores}, {NULL, 0, NULL}};
    nstored[0] = nstored[1] = 0;
    compile(ptx, both, disable);
    for (uint32_t place = 0; place < 2; place++)
        for (uint32_t k = 0; k < n; k++) {
            const struct stored *s = find_stored(place, rows[k].at);
            if (strcmp(s->text, rows[k].text))
                fail_msg("%s allocation, %d: '%s', not '%s'; %s", place ? "after" : "before", rows[k].at,
                         s->text, rows[k].text, s->why);
        }
}
#define CHECK(body, disable, ...)                                                                            \
    do {                                                                                                     \
        static const struct row rows_[] = {__VA_ARGS__};                                                     \
        check_rows(KERNEL(body), (disable), rows_, sizeof rows_ / sizeof rows_[0]);                          \
    } while (0)
#define NO_IFCONV (UINT64_C(1) << OPT_IFCONV)

/* ---- values ---- */

static void test_sources(void **state) {
    (void)state;
    CHECK(
        "st.global.u32 [%out], %tx; st.global.u32 [%out+4], %ty; st.global.u32 [%out+8], %tz;\n"
        "st.global.u32 [%out+12], %cx; st.global.u32 [%out+16], %cy; st.global.u32 [%out+20], %cz;\n"
        "st.global.u32 [%out+24], %n; mov.u32 %a, 7; st.global.u32 [%out+28], %a;\n"
        "mov.u32 %b, %ntid.x; st.global.u32 [%out+32], %b; mov.u32 %c, %laneid; st.global.u32 [%out+36], "
        "%c;\n"
        "mov.u32 %d, %warpid; st.global.u32 [%out+40], %d; mov.u32 %a, %clock; st.global.u32 [%out+44], %a;\n"
        "mov.u32 %b, %smid; st.global.u32 [%out+48], %b; mov.u32 %a, %lanemask_lt; st.global.u32 [%out+52], "
        "%a;",
        0, {0, "tid.x, affine"}, {4, "tid.y, affine"}, {8, "tid.z, affine"}, {12, "ctaid.x, affine"},
        {16, "ctaid.y, affine"}, {20, "ctaid.z, affine"}, {24, "uniform"}, {28, "uniform"}, {32, "uniform"},
        {36, "lane"}, {40, "ctaid.x ctaid.y ctaid.z warp"}, {44, "any"},
        {48, "ctaid.x ctaid.y ctaid.z, affine block"}, {52, "lane"});
}

static void test_forms(void **state) {
    (void)state;
    CHECK("mad.lo.u32 %a, %cx, %n, %tx; st.global.u32 [%out], %a;\n"
          "mul.lo.u32 %b, %a, %m; st.global.u32 [%out+4], %b;\n"
          "mul.lo.u32 %b, %tx, %ty; st.global.u32 [%out+8], %b;\n"
          "mul.lo.u32 %b, %cx, %tx; st.global.u32 [%out+12], %b;\n"
          "mul.lo.u32 %b, %cx, %cy; st.global.u32 [%out+16], %b;\n"
          "shl.b32 %b, %tx, %n; st.global.u32 [%out+20], %b;\n"
          "shl.b32 %b, %n, %tx; st.global.u32 [%out+24], %b;\n"
          "shl.b32 %b, %tx, %cx; st.global.u32 [%out+28], %b;\n"
          "not.b32 %b, %tx; st.global.u32 [%out+32], %b;\n"
          "sub.u32 %b, %n, %tx; st.global.u32 [%out+36], %b;\n"
          "shr.u32 %b, %tx, 2; st.global.u32 [%out+40], %b;\n"
          "xor.b32 %b, %n, %m; st.global.u32 [%out+44], %b;\n"
          "xor.b32 %b, %tx, %m; st.global.u32 [%out+48], %b;",
          0, {0, "ctaid.x tid.x, affine"}, {4, "ctaid.x tid.x, affine"}, {8, "tid.x tid.y"},
          {12, "ctaid.x tid.x, affine block"}, {16, "ctaid.x ctaid.y, affine block"}, {20, "tid.x, affine"},
          {24, "tid.x"}, {28, "ctaid.x tid.x, affine block"}, {32, "tid.x, affine"}, {36, "tid.x, affine"},
          {40, "tid.x"}, {44, "uniform"}, {48, "tid.x"});
    CHECK(
        "and.b32 %a, %tx, 7; st.global.u32 [%out], %a; mad.lo.u32 %b, %a, %n, 5; st.global.u32 [%out+4], "
        "%b;\n"
        "add.u32 %b, %a, %tx; st.global.u32 [%out+8], %b; and.b32 %b, %tx, 6; st.global.u32 [%out+12], %b;\n"
        "rem.u32 %b, %tx, %n; st.global.u32 [%out+16], %b; rem.u32 %b, %n, %tx; st.global.u32 [%out+20], "
        "%b;\n"
        "rem.u32 %b, %a, %n; st.global.u32 [%out+24], %b;\n"
        "shl.b32 %b, %tx, 3; or.b32 %c, %b, 5; st.global.u32 [%out+28], %c;\n"
        "or.b32 %c, %b, 8; st.global.u32 [%out+32], %c;\n"
        "min.u32 %c, %tx, %n; st.global.u32 [%out+36], %c; min.u32 %c, %n, %m; st.global.u32 [%out+40], %c;\n"
        "min.s32 %c, %cx, %n; st.global.u32 [%out+44], %c; abs.s32 %c, %b; st.global.u32 [%out+48], %c;",
        0, {0, "tid.x, affine remainder"}, {4, "tid.x, affine remainder"}, {8, "tid.x"}, {12, "tid.x"},
        {16, "tid.x"}, {20, "tid.x"}, {24, "tid.x"}, {28, "tid.x, affine"}, {32, "tid.x"},
        {36, "tid.x, affine chosen"}, {40, "uniform"}, {44, "ctaid.x, affine block"},
        {48, "tid.x, affine chosen"});
}

/* A guarded write is new in some threads and old in the others. */
static void test_guards(void **state) {
    (void)state;
    CHECK("setp.lt.u32 %p, %tx, 4; mov.u32 %a, 5; @%p mov.u32 %a, 7; st.global.u32 [%out], %a;\n"
          "setp.lt.u32 %q, %n, 4; mov.u32 %b, %m; @%q mov.u32 %b, 7; st.global.u32 [%out+4], %b;\n"
          "mov.u32 %c, %tx; @%q add.u32 %c, %c, %n; st.global.u32 [%out+8], %c;\n"
          "mov.u32 %d, %m; @%q mov.u32 %d, %clock; st.global.u32 [%out+12], %d;\n"
          "setp.eq.u32 %q, %cx, 4; mov.u32 %i, %tx; @%q mov.u32 %i, %ty; st.global.u32 [%out+16], %i;\n"
          "selp.u32 %j, %n, %m, %p; st.global.u32 [%out+20], %j;",
          0, {0, "tid.x, affine chosen"}, {4, "uniform"}, {8, "tid.x, affine"}, {12, "any"},
          {16, "ctaid.x tid.x tid.y, affine block"}, {20, "tid.x, affine chosen"});
}

/* Where threads meet that came on different ways, the branch decides; a branch that is the same for all, or
 * that is over before, does not. */
static void test_joins(void **state) {
    (void)state;
    CHECK("setp.lt.u32 %p, %ty, 4; @%p bra A; mov.u32 %a, 1; bra B; A: mov.u32 %a, 2; B: bar.sync 0;\n"
          "add.u32 %a, %a, 1; st.global.u32 [%out], %a; st.global.u32 [%out+4], %n;",
          NO_IFCONV, {0, "tid.y, affine chosen"}, {4, "uniform"});
    CHECK("setp.lt.u32 %p, %n, 4; @%p bra A; mov.u32 %a, 1; bra B; A: mov.u32 %a, %tx; B: bar.sync 0;\n"
          "st.global.u32 [%out], %a;",
          NO_IFCONV, {0, "tid.x, affine"});
    CHECK("setp.lt.u32 %p, %ty, 4; mov.u32 %b, %n; @%p bra D;\n"
          "setp.lt.u32 %q, %n, 4; @%q bra A; mov.u32 %a, 1; bra B; A: mov.u32 %a, 2; B:\n"
          "add.u32 %a, %a, %m; st.global.u32 [%out], %a; add.u32 %b, %b, 1; D: st.global.u32 [%out+4], %b;",
          NO_IFCONV, {0, "uniform"}, {4, "tid.y, affine chosen"});
    /* Who has left does not matter to those who stay. */
    CHECK("setp.lt.u32 %p, %ty, 4; mov.u32 %a, %n; @%p exit; add.u32 %a, %a, 1; st.global.u32 [%out], %a;", 0,
          {0, "uniform"});
    /* An indexed branch is one, too. */
    CHECK("and.b32 %i, %ty, 3; L: .branchtargets A, B, C, A; mov.u32 %a, 0; brx.idx %i, L;\n"
          "A: mov.u32 %a, 1; bra E; B: mov.u32 %a, 2; bra E; C: mov.u32 %a, 3; E: bar.sync 0; st.global.u32 "
          "[%out], %a;",
          0, {0, "tid.y, affine chosen"});
}

/* Loops: counters are the same in all threads of a round; what is read behind a loop that some leave earlier
 * is not. */
static void test_loops(void **state) {
    (void)state;
    CHECK("mov.u32 %i, 0; mov.u32 %a, %n; mov.u32 %b, %n;\n"
          "L: add.u32 %i, %i, 1; add.u32 %a, %a, %tx; mad.lo.u32 %b, %b, %b, 1; st.global.u32 [%out], %i;\n"
          "st.global.u32 [%out+4], %a; setp.lt.u32 %p, %i, %m; @%p bra L;\n"
          "st.global.u32 [%out+8], %i; st.global.u32 [%out+12], %a; st.global.u32 [%out+16], %b;",
          0, {0, "uniform"}, {4, "tid.x, affine"}, {8, "uniform"}, {12, "tid.x, affine"}, {16, "uniform"});
    CHECK("mov.u32 %i, 0; mov.u32 %a, %n;\n"
          "L: add.u32 %i, %i, 1; add.u32 %a, %a, 3; st.global.u32 [%out], %i; setp.lt.u32 %p, %i, %tx; @%p "
          "bra L;\n"
          "st.global.u32 [%out+4], %i; st.global.u32 [%out+8], %a; st.global.u32 [%out+12], %n;",
          0, {0, "uniform"}, {4, "tid.x"}, {8, "tid.x"}, {12, "uniform"});
    /* A break. */
    CHECK("mov.u32 %i, 0; mov.u32 %a, %n;\n"
          "L: add.u32 %i, %i, 1; setp.eq.u32 %q, %i, %ty; @%q bra E; add.u32 %a, %a, %n; st.global.u32 "
          "[%out], %a;\n"
          "setp.lt.u32 %p, %i, %m; @%p bra L; E: bar.sync 0; st.global.u32 [%out+4], %a;",
          0, {0, "uniform"}, {4, "tid.y"});
    /* Threads that go straight to the next round meet the others at R in another round than theirs. */
    CHECK("mov.u32 %i, 0;\n"
          "H: add.u32 %i, %i, 1; add.u32 %a, %i, %ty; and.b32 %a, %a, 1; setp.eq.u32 %q, %a, 1; @%q bra H;\n"
          "R: st.global.u32 [%out], %i; bar.sync 0; setp.lt.u32 %p, %i, %m; @%p bra H;",
          0, {0, "tid.y"});
    /* A loop in a loop: the inner one ends alike for all, the outer one does not. */
    CHECK("mov.u32 %i, 0; mov.u32 %a, 0;\n"
          "O: mov.u32 %j, 0; I: add.u32 %j, %j, 1; add.u32 %a, %a, 1; setp.lt.u32 %p, %j, %n; @%p bra I;\n"
          "st.global.u32 [%out], %a; st.global.u32 [%out+4], %j; add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %tx; "
          "@%p bra O;\n"
          "st.global.u32 [%out+8], %a;",
          0, {0, "uniform"}, {4, "uniform"}, {8, "tid.x"});
    options.pessimistic = true;
    CHECK(
        "mov.u32 %i, 0; L: add.u32 %i, %i, 1; st.global.u32 [%out], %i; setp.lt.u32 %p, %i, %m; @%p bra L;\n"
        "st.global.u32 [%out+4], %n;",
        0, {0, "any"}, {4, "uniform"});
    options.pessimistic = false;
}

/* Loads, by what the options make of them. */
static void test_loads(void **state) {
    (void)state;
    static const char *const body = KERNEL(
        "ld.global.u32 %a, [%in]; st.global.u32 [%out], %a; mul.wide.u32 %A, %tx, 4; add.u64 %B, %in, %A;\n"
        "ld.global.u32 %a, [%B]; st.global.u32 [%out+4], %a; ld.volatile.global.u32 %a, [%in+8];\n"
        "st.global.u32 [%out+8], %a; ld.global.u32 %a, [%out+64]; st.global.u32 [%out+12], %a;\n"
        "st.local.u32 [lo], %n; bar.sync 0; ld.local.u32 %a, [lo]; st.global.u32 [%out+16], %a;\n"
        "ld.shared.u32 %a, [sh+4]; st.global.u32 [%out+20], %a; ld.global.u32 %a, [table]; st.global.u32 "
        "[%out+24], %a;\n"
        "ld.const.u32 %a, [fixed+4]; st.global.u32 [%out+28], %a; cvt.u64.u32 %C, %tx; mov.u64 %B, fixed;\n"
        "add.u64 %B, %B, %C; ld.const.u8 %a, [%B]; st.global.u32 [%out+32], %a;\n"
        "atom.global.add.u32 %a, [%other], 1; st.global.u32 [%out+36], %a; shfl.sync.idx.b32 %a, %n, 0, 31, "
        "-1;\n"
        "st.global.u32 [%out+40], %a; setp.ne.u32 %p, %tx, 0; vote.sync.ballot.b32 %a, %p, -1; st.global.u32 "
        "[%out+44], %a;\n"
        "ld.global.u64 %C, [%in+16]; ld.u32 %a, [%C]; st.global.u32 [%out+48], %a;\n"
        "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%a}, [sh]; st.global.u32 [%out+52], %a;\n"
        "mov.u32 %a, %cluster_ctarank; st.global.u32 [%out+56], %a;");
    static const struct {
        enum class_loads loads;
        struct row rows[16];
    } cases[] = {{LOADS_VARY,
                  {{0, "any"},
                   {4, "any"},
                   {8, "any"},
                   {12, "any"},
                   {16, "any"},
                   {20, "any"},
                   {24, "any"},
                   {28, "uniform"},
                   {32, "tid.x"},
                   {36, "any"},
                   {40, "any"},
                   {48, "any"}}},
                 {LOADS_READ_ONLY,
                  {{0, "any"},
                   {4, "any"},
                   {8, "any"},
                   {12, "any"},
                   {16, "any"},
                   {20, "ctaid.x ctaid.y ctaid.z, affine block"},
                   {24, "any"},
                   {28, "uniform"},
                   {48, "any"}}},
                 {LOADS_DISTINCT,
                  {{0, "uniform"},
                   {4, "tid.x"},
                   {8, "any"},
                   {12, "any"},
                   {16, "any"},
                   {20, "ctaid.x ctaid.y ctaid.z, affine block"},
                   {24, "uniform"},
                   {48, "any"}}},
                 {LOADS_BY_ADDRESS,
                  {{0, "uniform"},
                   {4, "tid.x"},
                   {8, "any"},
                   {12, "uniform"},
                   {16, "any"},
                   {20, "ctaid.x ctaid.y ctaid.z, affine block"},
                   {36, "any"},
                   {48, "any"},
                   {52, "any"},
                   {56, "ctaid.x ctaid.y ctaid.z, affine block"}}}};
    for (uint32_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        uint32_t n = 0;
        while (cases[k].rows[n].text)
            n++;
        options.loads = cases[k].loads;
        check_rows(body, 0, cases[k].rows, n);
    }
    options.loads = LOADS_VARY;
}

/* Registers keep their values over a call; what it returns comes from memory. */
static void test_calls(void **state) {
    (void)state;
    CHECK(
        "mad.lo.u32 %a, %tx, 4, %n; { .param .u32 x; .param .u32 y; st.param.u32 [x], %n;\n"
        "call (y), twice, (x); ld.param.u32 %b, [y]; } st.global.u32 [%out], %a; st.global.u32 [%out+4], %b;",
        0, {0, "tid.x, affine"}, {4, "any"});
}

/* Numbers of 64 bits are made of words, and have a form as a whole. */
static void test_pairs(void **state) {
    (void)state;
    CHECK(
        "mul.wide.u32 %A, %tx, 4; add.u64 %B, %in, %A; st.global.u64 [%out], %B;\n"
        "mad.lo.s32 %a, %cx, %n, %tx; mul.wide.s32 %A, %a, 8; add.s64 %B, %in, %A; st.global.u64 [%out+8], "
        "%B;\n"
        "cvt.s64.s32 %A, %a; shl.b64 %B, %A, 2; sub.s64 %C, %B, %in; st.global.u64 [%out+16], %C;\n"
        "cvt.u64.u32 %A, %tx; st.global.u64 [%out+24], %A; cvt.u64.u32 %A, %a; st.global.u64 [%out+32], %A;\n"
        "cvt.s64.s32 %A, %a; mul.lo.s64 %B, %A, 12; st.global.u64 [%out+40], %B;\n"
        "mul.lo.s64 %B, %A, %A; st.global.u64 [%out+48], %B; shr.u64 %B, %A, 4; st.global.u64 [%out+56], "
        "%B;\n"
        "mov.b64 %B, {%tx, %ty}; st.global.u64 [%out+64], %B; st.global.u64 [%out+72], %in;\n"
        "mul.wide.u32 %B, %cx, %tx; st.global.u64 [%out+80], %B; mul.wide.u32 %B, %n, %m; st.global.u64 "
        "[%out+88], %B;",
        0, {0, "tid.x, affine"}, {8, "ctaid.x tid.x, affine extended"},
        {16, "ctaid.x tid.x, affine extended"}, {24, "tid.x, affine"}, {32, "ctaid.x tid.x, affine extended"},
        {40, "ctaid.x tid.x, affine extended"}, {48, "ctaid.x tid.x"}, {56, "ctaid.x tid.x"},
        {64, "tid.x tid.y"}, {72, "uniform"}, {80, "ctaid.x tid.x, affine block"}, {88, "uniform"});
    /* Through merges: a pointer that goes around a loop, and one of two. */
    CHECK("mul.wide.u32 %A, %tx, 4; add.u64 %B, %in, %A; mov.u32 %i, 0;\n"
          "L: add.u64 %B, %B, 64; st.global.u64 [%out], %B; add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %n; @%p "
          "bra L;\n"
          "mov.u64 %C, %in; setp.lt.u32 %q, %ty, 4; @%q bra A; mov.u64 %C, %other; A: bar.sync 0; "
          "st.global.u64 [%out+8], %C;",
          NO_IFCONV, {0, "tid.x, affine"}, {8, "tid.y, affine chosen"});
}

/* The way by which a member came in ends at its source. */
static void test_reasons(void **state) {
    (void)state;
    CHECK("setp.lt.u32 %p, %ty, 4; @%p bra A; mov.u32 %a, 1; bra B; A: mov.u32 %a, 2; B: bar.sync 0;\n"
          "add.u32 %a, %a, 1; st.global.u32 [%out], %a;",
          NO_IFCONV, {0, "tid.y, affine chosen"});
    const char *why = find_stored(0, 0)->why;
    if (strncmp(why, "tid.y: S2R, line ", 17) || !strstr(why, "ISETP, line ") ||
        !strstr(why, "branch, line ") || !strstr(why, " decides > merge in block ") ||
        !strstr(why, "IADD, line "))
        fail_msg("%s", why);
    CHECK("mov.u32 %i, 0; L: add.u32 %i, %i, 1; bar.sync 0; setp.lt.u32 %p, %i, %tx; @%p bra L; add.u32 %a, "
          "%i, 1;\n"
          "st.global.u32 [%out], %a;",
          0, {0, "tid.x"});
    why = find_stored(1, 0)->why;
    if (!strstr(why, " ends rounds of > IADD, line "))
        fail_msg("%s", why);
}

/* ---- accesses ---- */

static struct access found[64];
static enum access_alias alias[64][64], written[64];
static struct access_base bases[64][2];
static uint32_t nfound;

static bool note_accesses(const struct pass_run *r) {
    struct arena a = {0};
    const struct accesses *m = accesses_of(&a, r->p);
    nfound = 0;
    for (uint32_t k = 0; k < m->n; k++) {
        if (m->at[k].fn)
            continue;
        uint32_t n = nfound++, b = 0;
        found[n] = m->at[k];
        written[n] = access_written(m, &m->at[k]);
        for (uint32_t i = 0; i < m->nbases && b < 2; i++)
            if (m->at[k].bases >> i & 1)
                bases[n][b++] = m->bases[i];
        for (uint32_t i = 0; i < m->n && i < 64; i++)
            alias[n][i] = access_alias(m, &m->at[k], &m->at[i]);
    }
    arena_free(&a);
    return false;
}

static const struct mech_pass access_passes[2][2] = {
    {{"before", BEFORE_REGISTERS, note_accesses}, {NULL, 0, NULL}},
    {{"after", AFTER_REGISTERS, note_accesses}, {NULL, 0, NULL}}};

static void test_accesses(void **state) {
    (void)state;
    enum {
        IN,
        OUT,
        TABLE,
        SHARED4,
        SHARED8,
        SHARED_X,
        GENERIC_SHARED,
        LOCAL,
        POINTER,
        VOLATILE,
        BOTH,
        ATOM,
        COUNT
    };
    for (uint32_t place = 0; place < 2; place++) {
        compile(
            KERNEL("mul.wide.u32 %A, %tx, 4; add.u64 %B, %in, %A; ld.global.u32 %a, [%B+4];\n"
                   "add.u64 %C, %out, %A; st.global.u32 [%C], %a; ld.global.u32 %b, [table+8];\n"
                   "st.shared.u32 [sh+4], %b; ld.shared.u32 %c, [sh+8]; shl.b32 %d, %tx, 2; mov.u32 %i, sh;\n"
                   "add.u32 %i, %i, %d; ld.shared.u32 %d, [%i]; mov.u64 %B, sh; cvta.shared.u64 %B, %B;\n"
                   "add.u64 %B, %B, %A; ld.u32 %j, [%B]; add.u32 %a, %b, %c; add.u32 %a, %a, %d; add.u32 %a, "
                   "%a, %j;\n"
                   "st.local.u32 [lo+8], %a; ld.global.u64 %B, [%in]; ld.volatile.global.u32 %a, [%B];\n"
                   "setp.eq.u32 %p, %n, 3; selp.u64 %B, %in, %other, %p; add.u64 %B, %B, %A; st.global.u32 "
                   "[%B], %a;\n"
                   "atom.global.add.u32 %a, [%other], 1; st.global.u32 [%out], %a;"),
            access_passes[place], 0);
        assert_int_equal(nfound, COUNT + 1);
        static const uint8_t spaces[] = {IN_GLOBAL, IN_GLOBAL, IN_GLOBAL, IN_SHARED, IN_SHARED, IN_SHARED,
                                         IN_SHARED, IN_LOCAL,  IN_GLOBAL, IN_GLOBAL, IN_GLOBAL, IN_GLOBAL};
        for (uint32_t k = 0; k < COUNT; k++)
            assert_int_equal(found[k].spaces, spaces[k]);
        assert_int_equal(bases[IN][0].kind, BASE_PARAM);
        assert_int_equal(bases[IN][0].v, PARAM_BASE + 8);
        assert_int_equal(bases[OUT][0].v, PARAM_BASE);
        assert_int_equal(bases[TABLE][0].kind, BASE_SYMBOL);
        assert_int_equal(__builtin_popcountll(found[IN].bases), 1);
        assert_int_equal(__builtin_popcountll(found[BOTH].bases), 2);
        assert_true(found[VOLATILE].vol && found[VOLATILE].bases & BASE_UNKNOWN);
        assert_true(found[ATOM].atomic && found[ATOM].writes && found[ATOM].reads);
        assert_true(found[SHARED4].fixed && found[SHARED8].fixed && !found[SHARED_X].fixed);
        assert_int_equal(alias[IN][OUT], ALIAS_ARGUMENTS);
        assert_int_equal(alias[OUT][OUT], ALIAS_MAY);
        assert_int_equal(alias[IN][TABLE], ALIAS_ARGUMENTS);
        assert_int_equal(alias[IN][SHARED4], ALIAS_NO);
        assert_int_equal(alias[SHARED4][SHARED8], ALIAS_NO);
        assert_int_equal(alias[SHARED4][SHARED_X], ALIAS_MAY);
        assert_int_equal(alias[SHARED4][GENERIC_SHARED], ALIAS_MAY);
        assert_int_equal(alias[LOCAL][GENERIC_SHARED], ALIAS_NO);
        assert_int_equal(alias[VOLATILE][OUT], ALIAS_MAY);
        assert_int_equal(alias[BOTH][IN], ALIAS_MAY);
        assert_int_equal(written[IN], ALIAS_MAY); /* by the one of two */
        assert_int_equal(written[TABLE], ALIAS_ARGUMENTS);
        assert_int_equal(written[SHARED8], ALIAS_NO);
    }
}

/* ---- control ---- */

/* A function of blocks with these edges; a branch is guarded by predicate 0, '!' makes an exit of it. */
static struct fn *graph(struct program *p, const char *const *edges, uint32_t n) {
    struct fn *f = fn_create(p, "graph");
    f->entry = true;
    f->npreds = 1;
    vec_push(&p->fns, f);
    for (uint32_t b = 0; b < n; b++)
        fn_block(f);
    for (uint32_t b = 0; b < n; b++) {
        struct block *k = &f->blocks.at[b];
        uint32_t count = 0;
        bool exits = false;
        for (const char *e = edges[b]; *e; e++) {
            if (*e == '!') {
                exits = true;
                continue;
            }
            vec_push(&k->succ, (uint32_t)(*e - '0'));
            count++;
        }
        struct inst last = inst_new(exits || !count ? OP_EXIT : OP_BRA);
        if (count == 2 || exits)
            last.guard.id = 0;
        if (last.op == OP_BRA)
            last.target = k->succ.at[0];
        vec_push(&k->insts, last);
    }
    cfg_joins(f);
    assert_null(ir_validate(p, f));
    return f;
}

/* The branches that each block depends on, as digits. */
static void check_control(const char *const *edges, const char *const *deps, uint32_t n) {
    struct program p = {0};
    struct arena a = {0};
    struct fn *f = graph(&p, edges, n);
    struct control c = control_of(&a, f);
    for (uint32_t b = 0; b < n; b++) {
        char got[16] = "";
        for (uint32_t k = c.dep_at[b]; k < c.dep_at[b + 1]; k++) {
            assert_true(control_depends(&c, b, c.deps[k]));
            got[strlen(got)] = (char)('0' + c.deps[k]);
        }
        if (strcmp(got, deps[b]))
            fail_msg("block %u depends on '%s', not '%s'", b, got, deps[b]);
    }
    arena_free(&a);
    program_free(&p);
}

static void test_control(void **state) {
    (void)state;
    /* if and else */
    check_control((const char *const[]){"12", "3", "3", ""}, (const char *const[]){"", "0", "0", ""}, 4);
    /* a loop: the body runs again if its end says so */
    check_control((const char *const[]){"1", "2", "13", ""}, (const char *const[]){"", "2", "2", ""}, 4);
    /* a loop that is tested first, with an if in it */
    check_control((const char *const[]){"1", "25", "34", "4", "1", ""},
                  (const char *const[]){"", "1", "1", "2", "1", ""}, 6);
    /* some leave the kernel: the rest depends on that */
    check_control((const char *const[]){"!1", "23", "3", ""}, (const char *const[]){"", "0", "1", "0"}, 4);
    /* nothing leaves the loop */
    check_control((const char *const[]){"12", "1", ""}, (const char *const[]){"", "0", "0"}, 3);
}

/* Splits: joins, meets and regions. */
static void check_split(const char *const *edges, uint32_t n, uint32_t block, uint32_t join,
                        const char *region, const char *meets, bool again) {
    struct program p = {0};
    struct arena a = {0};
    struct fn *f = graph(&p, edges, n);
    struct control c = control_of(&a, f);
    uint32_t s = 0;
    while (s < c.nsplits && c.splits[s].block != block)
        s++;
    assert_true(s < c.nsplits);
    char in[16] = "", at[16] = "";
    for (uint32_t b = 0; b < n; b++) {
        if (bits_get(control_region(&c, b), s))
            in[strlen(in)] = (char)('0' + b);
        if (bits_get(control_meets(&c, b), s))
            at[strlen(at)] = (char)('0' + b);
    }
    assert_int_equal(c.splits[s].join, join);
    assert_string_equal(in, region);
    assert_string_equal(at, meets);
    assert_int_equal(bits_get(c.again, s), again);
    arena_free(&a);
    program_free(&p);
}

static void test_splits(void **state) {
    (void)state;
    check_split((const char *const[]){"12", "3", "3", ""}, 4, 0, 3, "12", "3", false);
    check_split((const char *const[]){"1", "2", "13", ""}, 4, 2, 3, "12", "3", true);
    /* a break: 1 -> 2 | 4, 2 -> 3, 3 -> 1 | 4 */
    check_split((const char *const[]){"1", "24", "3", "14", ""}, 5, 1, 4, "123", "4", true);
    /* an if in a loop: the loop is no region of it */
    check_split((const char *const[]){"1", "23", "4", "4", "15", ""}, 6, 1, 4, "23", "4", false);
    /* straight to the next round: 1 -> 1 | 2 before 2 -> 1 | 3 */
    check_split((const char *const[]){"1", "12", "13", ""}, 4, 1, 2, "1", "2", true);
}

/* ---- reaching definitions ---- */

static struct inst set(uint32_t reg, uint32_t value, uint32_t guard) {
    struct inst i = inst_new(OP_MOV);
    i.dst = opd_reg(reg, 0);
    i.nsrc = 1;
    i.src[0] = opd_imm(value);
    i.guard.id = guard;
    return i;
}

/* The numbers that may be in register 0 where block reads it, as digits; 'u': it was not written. */
static void check_reach(struct fn *f, uint32_t block, const char *want) {
    struct arena a = {0};
    struct reach r = reach_of(&a, f);
    struct inst *read = &f->blocks.at[block].insts.at[0];
    assert_int_equal(read->op, OP_NOT);
    uint32_t *defs, n = reach_definitions(&a, &r, reach_read(&r, block, 0, 0), &defs);
    char got[16] = "";
    for (char c = '0'; c <= '9'; c++)
        for (uint32_t k = 0; k < n; k++)
            if (r.at[defs[k]].kind == VERSION_WRITE &&
                reach_inst(&r, defs[k])->src[0].v == (uint32_t)(c - '0'))
                got[strlen(got)] = c;
    for (uint32_t k = 0; k < n; k++)
        if (r.at[defs[k]].kind == VERSION_ENTRY)
            got[strlen(got)] = 'u';
    assert_string_equal(got, want);
    arena_free(&a);
}

static void put_first(struct fn *f, uint32_t block, struct inst i) {
    block_insert(&f->blocks.at[block], 0, &i, 1);
}

static struct inst read_it(void) {
    struct inst i = inst_new(OP_NOT);
    i.dst = opd_reg(1, 0);
    i.nsrc = 1;
    i.src[0] = opd_reg(0, 0);
    return i;
}

static void test_reach(void **state) {
    (void)state;
    struct program p = {0};
    struct fn *f = graph(&p, (const char *const[]){"12", "3", "3", "45", "3", ""}, 6);
    fn_vreg(f, 1);
    fn_vreg(f, 1);
    put_first(f, 0, set(0, 1, VPRED_PT));
    put_first(f, 1, set(0, 2, VPRED_PT));
    put_first(f, 3, read_it());
    put_first(f, 5, read_it());
    check_reach(f, 3, "12"); /* an if without else */
    put_first(f, 4, set(0, 3, VPRED_PT));
    check_reach(f, 3, "123"); /* and what comes around the loop */
    put_first(f, 2, set(0, 4, 0));
    check_reach(f, 3, "1234"); /* a guarded write keeps what was there */
    f->blocks.at[2].insts.at[0].guard.id = VPRED_PT;
    check_reach(f, 5, "234");
    f->blocks.at[0].insts.at[0].op = OP_NOP;
    f->blocks.at[0].insts.at[0].dst = (struct opd){0};
    f->blocks.at[0].insts.at[0].nsrc = 0;
    f->blocks.at[2].insts.at[0].guard.id = 0;
    check_reach(f, 3, "234u");
    program_free(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sources),  cmocka_unit_test(test_forms),   cmocka_unit_test(test_guards),
        cmocka_unit_test(test_joins),    cmocka_unit_test(test_loops),   cmocka_unit_test(test_loads),
        cmocka_unit_test(test_calls),    cmocka_unit_test(test_pairs),   cmocka_unit_test(test_reasons),
        cmocka_unit_test(test_accesses), cmocka_unit_test(test_control), cmocka_unit_test(test_splits),
        cmocka_unit_test(test_reach),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
