/* Sequences: what the compiler puts in place of a division, a root or a function gives bit for bit what the
 * operation table says of the operation itself, for all kinds of operands, with a guard and without. */
#include <stdio.h>

#include "timing_rig.h"

#include "exec/lanes.h"
#include "opt/opt.h"
#include "ptx/lower.h"

enum { N = 32768, ROUNDS = 4, BLOCK = 128 };

static const struct row {
    const char *ptx; /* the instruction without operands */
    uint16_t op;
    struct imods m;
    uint8_t words, sources;
} rows[] = {
#define ROUNDINGS(name, op, words, n)                                                                        \
    {name ".rn"                                                                                              \
          ".f" #words,                                                                                       \
     op,                                                                                                     \
     {.rnd = RND_RN},                                                                                        \
     words / 32,                                                                                             \
     n},                                                                                                     \
        {name ".rz"                                                                                          \
              ".f" #words,                                                                                   \
         op,                                                                                                 \
         {.rnd = RND_RZ},                                                                                    \
         words / 32,                                                                                         \
         n},                                                                                                 \
        {name ".rm"                                                                                          \
              ".f" #words,                                                                                   \
         op,                                                                                                 \
         {.rnd = RND_RM},                                                                                    \
         words / 32,                                                                                         \
         n},                                                                                                 \
    {                                                                                                        \
        name ".rp"                                                                                           \
             ".f" #words,                                                                                    \
            op, {.rnd = RND_RP}, words / 32, n                                                               \
    }
#define FLUSHING(name, op, n)                                                                                \
    {name ".rn.ftz.f32", op, {.rnd = RND_RN, .ftz = true}, 1, n},                                            \
        {name ".rz.ftz.f32", op, {.rnd = RND_RZ, .ftz = true}, 1, n}, {                                      \
        name ".rp.ftz.f32", op, {.rnd = RND_RP, .ftz = true}, 1, n                                           \
    }
#define APPROXIMATE(name, mufu)                                                                              \
    {name ".approx.f32", OP_FAPX, {.mode = mufu}, 1, 1}, {                                                   \
        name ".approx.ftz.f32", OP_FAPX, {.mode = mufu, .ftz = true}, 1, 1                                   \
    }
    ROUNDINGS("div", OP_FDIV, 32, 2),
    FLUSHING("div", OP_FDIV, 2),
    ROUNDINGS("rcp", OP_FRCP, 32, 1),
    FLUSHING("rcp", OP_FRCP, 1),
    ROUNDINGS("sqrt", OP_FSQRT, 32, 1),
    FLUSHING("sqrt", OP_FSQRT, 1),
    ROUNDINGS("div", OP_DDIV, 64, 2),
    ROUNDINGS("rcp", OP_DRCP, 64, 1),
    ROUNDINGS("sqrt", OP_DSQRT, 64, 1),
    {"rsqrt.approx.f64", OP_DRSQ, {0}, 2, 1},
    {"div.approx.f32", OP_FDIVA, {.mode = FDIV_APPROX}, 1, 2},
    {"div.approx.ftz.f32", OP_FDIVA, {.mode = FDIV_APPROX, .ftz = true}, 1, 2},
    {"div.full.f32", OP_FDIVA, {.mode = FDIV_FULL}, 1, 2},
    {"div.full.ftz.f32", OP_FDIVA, {.mode = FDIV_FULL, .ftz = true}, 1, 2},
    APPROXIMATE("rcp", MUFU_RCP),
    APPROXIMATE("sqrt", MUFU_SQRT),
    APPROXIMATE("rsqrt", MUFU_RSQ),
    APPROXIMATE("sin", MUFU_SIN),
    APPROXIMATE("cos", MUFU_COS),
    APPROXIMATE("lg2", MUFU_LG2),
    APPROXIMATE("ex2", MUFU_EX2),
    {"tanh.approx.f32", OP_FAPX, {.mode = MUFU_TANH}, 1, 1},
    {"div.u32", OP_IDIV, {0}, 1, 2},
    {"div.s32", OP_IDIV, {.sgn = true}, 1, 2},
    {"rem.u32", OP_IREM, {0}, 1, 2},
    {"rem.s32", OP_IREM, {.sgn = true}, 1, 2},
    {"div.u64", OP_IDIV64, {0}, 2, 2},
    {"div.s64", OP_IDIV64, {.sgn = true}, 2, 2},
    {"rem.u64", OP_IREM64, {0}, 2, 2},
    {"rem.s64", OP_IREM64, {.sgn = true}, 2, 2},
};
enum { ROWS = sizeof rows / sizeof *rows };

/* d[i] = op(a[i], b[i]), where guard says so: for odd i only. Arrays have 8 bytes for each element. */
static void write_kernel(char *out, size_t size, const struct row *r, bool guarded) {
    const char *b = r->words == 2 ? "rd" : "r";
    const char *bits = r->words == 2 ? "b64" : "b32";
    snprintf(out, size,
             ".version 8.5\n.target sm_70\n.address_size 64\n"
             ".visible .entry k(.param .u64 buf, .param .u32 n, .param .u32 x) {\n"
             ".reg .b32 %%r<9>; .reg .b64 %%rd<9>; .reg .pred %%p;\n"
             "mov.u32 %%r1, %%tid.x; mov.u32 %%r2, %%ctaid.x; mov.u32 %%r3, %%ntid.x;\n"
             "mad.lo.u32 %%r1, %%r2, %%r3, %%r1; and.b32 %%r2, %%r1, 1; setp.ne.u32 %%p, %%r2, 0;\n"
             "ld.param.u64 %%rd1, [buf]; mad.wide.u32 %%rd1, %%r1, 8, %%rd1;\n"
             "ld.global.%s %%%s5, [%%rd1]; ld.global.%s %%%s6, [%%rd1+%u]; ld.global.%s %%%s7, [%%rd1+%u];\n"
             "%s %s %%%s7, %%%s5%s%s%s;\n"
             "st.global.%s [%%rd1+%u], %%%s7; ret; }\n",
             bits, b, bits, b, N * 8, bits, b, N * 16, guarded ? "@%p" : "", r->ptx, b, b,
             r->sources == 2 ? ", %" : "", r->sources == 2 ? b : "", r->sources == 2 ? "6" : "", bits, N * 16,
             b);
}

static uint64_t state = 88172645463325252u;
static uint64_t rng(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * UINT64_C(0x2545f4914f6cdd1d);
}

/* Any number; small integers, few bits, all bits, exponents near both ends. */
static uint64_t value(bool wide) {
    uint64_t v = rng(), bits = wide ? 64 : 32, fraction = wide ? 52 : 23, exponents = wide ? 2047 : 255;
    uint64_t mask = (UINT64_C(1) << fraction) - 1, sign = (v >> 63) << (bits - 1), m = v & mask;
    switch (v >> 32 & 15) {
    case 0:
        return (rng() & 15) << (rng() % bits);
    case 1:
        return sign | (rng() % 24) << fraction | m; /* small, often subnormal */
    case 2:
        return sign | (exponents - rng() % 24) << fraction | m; /* great, often infinite or NaN */
    case 3:
        return sign | (rng() % exponents) << fraction | (mask - (rng() & 1)); /* just below a power of two */
    case 4:
        return sign | (rng() % exponents) << fraction | (rng() & 3); /* just above */
    case 5:
        return sign | (rng() % exponents) << fraction | (m >> fraction / 2 << fraction / 2); /* few bits */
    case 6:
        return sign | (exponents / 2 + rng() % 8) << fraction | m;
    case 7:
        return rng() >> (rng() % bits); /* integers of all lengths */
    case 8:
        return 0u - (rng() >> (rng() % bits));
    case 9:
        return sign | m >> rng() % fraction; /* subnormal */
    default:
        return v * UINT64_C(0x9e3779b97f4a7c15) >> (64 - bits);
    }
}

/* What the operation table says, 32 elements at a time. */
static void reference(const struct row *r, const uint64_t *a, const uint64_t *b, uint64_t *d) {
    _Alignas(64) uint32_t s[4][WARP_LANES], out[2][WARP_LANES];
    struct inst i = inst_new((enum op)r->op);
    i.m = r->m;
    struct lane_op op = lane_pick(&i);
    assert_non_null(op.fn);
    for (uint32_t from = 0; from < N; from += WARP_LANES) {
        for (uint32_t k = 0; k < WARP_LANES; k++) {
            s[0][k] = (uint32_t)a[from + k];
            s[1][k] = (uint32_t)(r->words == 2 ? a[from + k] >> 32 : b[from + k]);
            s[2][k] = (uint32_t)b[from + k];
            s[3][k] = (uint32_t)(b[from + k] >> 32);
        }
        struct lane_io io = {.d = {out[0], out[1]}, .s = {s[0], s[1], s[2], s[3]}, .m = &i.m};
        lane_run(op, &io);
        for (uint32_t k = 0; k < WARP_LANES; k++)
            d[from + k] = out[0][k] | (r->words == 2 ? (uint64_t)out[1][k] << 32 : 0);
    }
}

static void check(const struct row *r, bool guarded) {
    char text[2048];
    struct rig rig;
    write_kernel(text, sizeof text, r, guarded);
    rig_open(&rig, "gtx480", NULL, true, text);
    uint64_t *a = (uint64_t *)(uintptr_t)rig.buffer, *b = a + N, *d = b + N, *want = malloc(N * sizeof *want);
    uint64_t keep = r->words == 2 ? UINT64_MAX : UINT32_MAX;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (uint32_t k = 0; k < N; k++) {
            a[k] = value(r->words == 2);
            b[k] = rng() % 16 ? value(r->words == 2) : a[k];
            d[k] = RIG_FILL;
        }
        reference(r, a, b, want);
        rig_run(&rig, "k", N / BLOCK, BLOCK, (struct rig_params){0});
        for (uint32_t k = 0; k < N; k++) {
            uint64_t expected = guarded && k % 2 == 0 ? (uint64_t)RIG_FILL : want[k];
            if ((d[k] & keep) != (expected & keep))
                fail_msg("%s%s: a=%#lx b=%#lx gives %#lx, not %#lx", guarded ? "guarded " : "", r->ptx, a[k],
                         b[k], d[k] & keep, expected & keep);
        }
    }
    free(want);
    rig_close(&rig);
}

static void same_bits(void **unused) {
    (void)unused;
    for (uint32_t k = 0; k < ROWS; k++)
        check(&rows[k], false);
}

static void same_bits_where_guarded(void **unused) {
    (void)unused;
    for (uint32_t k = 0; k < ROWS; k++)
        check(&rows[k], true);
}

/* Nothing that is a sequence is left in compiled code. */
static void no_macro_is_left(void **unused) {
    (void)unused;
    for (uint32_t k = 0; k < ROWS; k++) {
        char text[2048];
        struct diag d = {0};
        struct ptx_layout layout;
        write_kernel(text, sizeof text, &rows[k], false);
        struct ptx_module *m = ptx_parse(text, strlen(text), "k", &d);
        assert_true(m && ptx_layout(m, &layout, &d));
        struct program *p = ptx_lower(m, m->funcs[0], &d);
        assert_true(p && opt_compile(p, &d));
        for (uint32_t n = 0; n < p->ncode; n++)
            if (op_info[p->code[n].op].flags & OPF_MACRO)
                fail_msg("%s leaves %s", rows[k].ptx, op_info[p->code[n].op].name);
        program_destroy(p);
        ptx_free(m);
        diag_free(&d);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bits),
        cmocka_unit_test(same_bits_where_guarded),
        cmocka_unit_test(no_macro_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
