/* The approximate functions against hashes of an H200's results: all of octave [1, 2) and a sample of every
 * other magnitude, through the executors of each instruction set this host has. */
#include <stdio.h>
#include <stdlib.h>

#include "../conformance/mufu_hash.h"
#include "lanes_util.h"

static const struct {
    const char *name;
    uint32_t hash[MUFU_HASHES];
} recorded[] = {
#include "mufu_hashes.h"
};
enum { RECORDED = sizeof recorded / sizeof *recorded };

/* How each instruction is executed, in the order of the hashes. */
static const struct {
    const char *name;
    enum mufu_kind kind;
    enum op op;
    struct imods m;
} functions[RECORDED] = {
    {"rcp.approx.ftz.f32", MUFU_F32, OP_FAPX, {.mode = MUFU_RCP, .ftz = 1}},
    {"rcp.approx.f32", MUFU_F32, OP_FAPX, {.mode = MUFU_RCP}},
    {"rsqrt.approx.ftz.f32", MUFU_F32, OP_FAPX, {.mode = MUFU_RSQ, .ftz = 1}},
    {"rsqrt.approx.f32", MUFU_F32, OP_FAPX, {.mode = MUFU_RSQ}},
    {"sqrt.approx.ftz.f32", MUFU_F32, OP_FAPX, {.mode = MUFU_SQRT, .ftz = 1}},
    {"sqrt.approx.f32", MUFU_F32, OP_FAPX, {.mode = MUFU_SQRT}},
    {"lg2.approx.ftz.f32", MUFU_F32, OP_FAPX, {.mode = MUFU_LG2, .ftz = 1}},
    {"lg2.approx.f32", MUFU_F32, OP_FAPX, {.mode = MUFU_LG2}},
    {"ex2.approx.ftz.f32", MUFU_F32, OP_FAPX, {.mode = MUFU_EX2, .ftz = 1}},
    {"ex2.approx.f32", MUFU_F32, OP_FAPX, {.mode = MUFU_EX2}},
    {"sin.approx.ftz.f32", MUFU_F32, OP_FAPX, {.mode = MUFU_SIN, .ftz = 1}},
    {"sin.approx.f32", MUFU_F32, OP_FAPX, {.mode = MUFU_SIN}},
    {"cos.approx.ftz.f32", MUFU_F32, OP_FAPX, {.mode = MUFU_COS, .ftz = 1}},
    {"cos.approx.f32", MUFU_F32, OP_FAPX, {.mode = MUFU_COS}},
    {"tanh.approx.f32", MUFU_F32, OP_FAPX, {.mode = MUFU_TANH}},
    {"rcp.approx.ftz.f64", MUFU_HIGH, OP_MUFU64H, {.mode = MUFU_RCP, .ftz = 1}},
    {"rsqrt.approx.ftz.f64", MUFU_HIGH, OP_MUFU64H, {.mode = MUFU_RSQ, .ftz = 1}},
    {"ex2.approx.f16", MUFU_B16, OP_HMUFU, {.mode = MUFU_EX2, .dtype = MT_F16}},
    {"ex2.approx.ftz.bf16", MUFU_B16, OP_HMUFU, {.mode = MUFU_EX2, .dtype = MT_BF16, .ftz = 1}},
    {"tanh.approx.f16", MUFU_B16, OP_HMUFU, {.mode = MUFU_TANH, .dtype = MT_F16}},
    {"tanh.approx.bf16", MUFU_B16, OP_HMUFU, {.mode = MUFU_TANH, .dtype = MT_BF16}},
    {"div.approx.f32", MUFU_DIV, OP_FDIVA, {.mode = FDIV_APPROX}},
    {"div.approx.ftz.f32", MUFU_DIV, OP_FDIVA, {.mode = FDIV_APPROX, .ftz = 1}},
    {"div.full.f32", MUFU_DIV, OP_FDIVA, {.mode = FDIV_FULL}},
    {"div.full.ftz.f32", MUFU_DIV, OP_FDIVA, {.mode = FDIV_FULL, .ftz = 1}},
};

/* Runs the 32 operands from, from + step, ... and takes their results into the hash. */
static uint32_t hash_warp(unsigned k, struct lane_op fn, uint32_t from, uint32_t step, unsigned count,
                          uint32_t h) {
    static struct trial t;
    enum mufu_kind kind = functions[k].kind;
    struct lane_io io = {.d = {t.d[0], t.d[1]}, .s = {t.s[0], t.s[1]}, .m = &functions[k].m};
    for (unsigned i = 0; i < WARP_LANES; i++) {
        uint32_t u = from + i * step;
        t.s[0][i] = kind == MUFU_HIGH ? 0 : u;
        t.s[1][i] = u;
        if (kind == MUFU_DIV)
            pair_of(u, &t.s[0][i], &t.s[1][i]);
    }
    lane_run(fn, &io);
    for (unsigned i = 0; i < count; i++)
        h = mufu_hash(kind, h, t.d[kind == MUFU_HIGH][i]);
    return h;
}

/* The hash of count operands from, from + step, ... */
static uint32_t hash_range(unsigned k, uint32_t from, uint32_t step, uint64_t count) {
    struct inst inst = {.op = (uint16_t)functions[k].op, .m = functions[k].m};
    struct lane_op fn = lane_pick(&inst);
    uint32_t h = MUFU_HASH_START;
    assert_non_null(fn.fn);
    for (; count; from += WARP_LANES * step) {
        unsigned n = count < WARP_LANES ? (unsigned)count : WARP_LANES;
        h = hash_warp(k, fn, from, step, n, h);
        count -= n;
    }
    return h;
}

static void check_function(unsigned k) {
    enum mufu_kind kind = functions[k].kind;
    const uint64_t step = kind == MUFU_B16 ? 1 : MUFU_STEP, part = (uint64_t)mufu_last(kind) / 16 + 1;
    assert_string_equal(functions[k].name, recorded[k].name);
    for (unsigned p = 0; p < 16; p++) {
        uint64_t first = (p * part + step - 1) / step, end = ((p + 1) * part + step - 1) / step;
        uint32_t h = hash_range(k, (uint32_t)(first * step), (uint32_t)step, end - first);
        if (h != recorded[k].hash[p])
            fail_msg("%s (%s): part %u of 16 differs from the GPU", recorded[k].name, lane_isa(), p);
    }
    if (kind == MUFU_F32 && hash_range(k, 0x3f800000, 1, 1 << 23) != recorded[k].hash[16])
        fail_msg("%s (%s): [1, 2) differs from the GPU", recorded[k].name, lane_isa());
}

static void test_functions(void **state) {
    static const char *const sets[] = {"generic", "avx2", "avx512"};
    (void)state;
    for (unsigned s = 0; s < sizeof sets / sizeof *sets; s++)
        for (unsigned k = 0; lane_use(sets[s]) && k < RECORDED; k++)
            check_function(k);
    lane_use(NULL);
}

/* The test must notice one wrong bit in one result. */
static void test_hash(void **state) {
    (void)state;
    uint32_t a = mufu_hash(MUFU_F32, MUFU_HASH_START, 0x3f800000),
             b = mufu_hash(MUFU_F32, MUFU_HASH_START, 0x3f800001);
    assert_int_not_equal(a, b);
    assert_int_not_equal(mufu_hash(MUFU_F32, a, 0x40000000), mufu_hash(MUFU_F32, b, 0x40000000));
    assert_int_equal(mufu_hash(MUFU_F32, a, 0x7fc00000), mufu_hash(MUFU_F32, a, 0xffffffff));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hash),
        cmocka_unit_test(test_functions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
