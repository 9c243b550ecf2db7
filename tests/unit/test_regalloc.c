/* Register allocation and every pass, against random programs: the compiled code must store what the code
 * with virtual registers does. The checker must accept all of it, and refuse code that was tampered with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "irsim.h"
#include "opt/opt.h"
#include "opt/pass.h"
#include "opt/ranges.h"

static uint64_t all_passes(void) {
    return (UINT64_C(1) << OPT_COUNT) - 1;
}

/* Compiles one random program and compares; on failure prints what is needed to find it. */
static void check_program(const struct gen_options *g, uint32_t limit, uint64_t disable) {
    struct program p = {0};
    struct diag d = {0};
    struct opt_options o = {.disable = disable, .check = CHECK_ALWAYS};
    gen_program(&p, g);
    p.reg_limit = limit;
    for (uint32_t n = 0; n < p.fns.len; n++) {
        const char *error = ir_validate(&p, p.fns.at[n]);
        if (error)
            fail_msg("seed %u: generator: %s", g->seed, error);
    }
    struct sim_result before = sim_virtual(&p, 0x5a);
    if (before.error)
        fail_msg("seed %u: virtual code: %s", g->seed, before.error);
    if (!opt_compile_with(&p, &o, &d))
        fail_msg("seed %u, limit %u, disabled %#llx: %s", g->seed, limit, (unsigned long long)disable,
                 str_text(&d.text));
    struct sim_result after = sim_linked(&p, 0xa5);
    if (after.error || after.hash != before.hash || after.stores != before.stores)
        fail_msg("seed %u, limit %u, disabled %#llx: %s, %u stores, expected %u", g->seed, limit,
                 (unsigned long long)disable, after.error ? after.error : "other results", after.stores,
                 before.stores);
    if (limit >= 32 && p.nregs > limit)
        fail_msg("seed %u: %u registers used, limit %u", g->seed, p.nregs, limit);
    program_free(&p);
    diag_free(&d);
}

/* ---- allocation alone ---- */

static void test_plain(void **state) {
    (void)state;
    for (uint32_t seed = 1; seed <= 400; seed++)
        check_program(&(struct gen_options){.seed = seed, .size = 60, .vars = 8, .preds = 4}, 255,
                      all_passes());
}

static void test_pressure(void **state) {
    (void)state;
    for (uint32_t seed = 1; seed <= 300; seed++)
        check_program(&(struct gen_options){.seed = seed, .size = 80, .vars = 40, .preds = 3}, 24 + seed % 40,
                      all_passes());
}

static void test_smallest_limit(void **state) {
    (void)state;
    for (uint32_t seed = 1; seed <= 150; seed++)
        check_program(&(struct gen_options){.seed = seed, .size = 60, .vars = 24, .preds = 10}, 16,
                      all_passes());
}

static void test_predicates(void **state) {
    (void)state;
    for (uint32_t seed = 1; seed <= 300; seed++)
        check_program(&(struct gen_options){.seed = seed, .size = 60, .vars = 6, .preds = 5 + seed % 20}, 63,
                      all_passes());
}

static void test_calls(void **state) {
    (void)state;
    for (uint32_t seed = 1; seed <= 300; seed++)
        check_program(
            &(struct gen_options){.seed = seed, .size = 60, .vars = 4 + seed % 40, .preds = 4, .calls = true},
            seed % 2 ? 32 : 255, all_passes());
}

/* ---- passes ---- */

static void test_each_pass(void **state) {
    (void)state;
    for (uint32_t n = 0; n < OPT_COUNT; n++)
        for (uint32_t seed = 1; seed <= 150; seed++)
            check_program(&(struct gen_options){.seed = seed * 31 + n, .size = 50, .vars = 8, .preds = 4},
                          255, all_passes() & ~(UINT64_C(1) << n));
}

static void test_all_passes(void **state) {
    (void)state;
    for (uint32_t seed = 1; seed <= 1000; seed++)
        check_program(&(struct gen_options){.seed = seed,
                                            .size = 30 + seed % 120,
                                            .vars = 4 + seed % 30,
                                            .preds = 2 + seed % 9,
                                            .calls = seed % 3 == 0},
                      seed % 4 ? 255 : 20 + seed % 50, 0);
}

static void test_passes_without_one(void **state) {
    (void)state;
    for (uint32_t n = 0; n < OPT_COUNT; n++)
        for (uint32_t seed = 1; seed <= 60; seed++)
            check_program(&(struct gen_options){.seed = seed * 17 + n, .size = 80, .vars = 8, .preds = 4}, 63,
                          UINT64_C(1) << n);
}

/* ---- the checker ---- */

static struct fn copy_code(struct arena *a, const struct fn *f) {
    struct fn c = *f;
    c.blocks.at = arena_array(a, struct block, f->blocks.len);
    c.vregs.at = arena_array(a, uint8_t, f->vregs.len + 1);
    memcpy(c.vregs.at, f->vregs.at, f->vregs.len);
    for (uint32_t b = 0; b < f->blocks.len; b++) {
        c.blocks.at[b] = f->blocks.at[b];
        c.blocks.at[b].insts.at = arena_array(a, struct inst, f->blocks.at[b].insts.len + 1);
        memcpy(c.blocks.at[b].insts.at, f->blocks.at[b].insts.at,
               f->blocks.at[b].insts.len * sizeof(struct inst));
    }
    return c;
}

/* Changes one register of the allocated code; false when the instruction at hand has none to change. */
static bool tamper(struct inst *i, uint32_t how) {
    if (how == 0 && i->dst.kind == O_REG && i->dst.v != VREG_RZ && inst_dst_words(i) == 1) {
        i->dst.v ^= 1;
        return true;
    }
    if (how == 1 && i->nsrc && i->src[0].kind == O_REG && i->src[0].v != VREG_RZ &&
        inst_src_words(i, 0) == 1) {
        i->src[0].v += 3;
        return true;
    }
    if (how == 2 && i->guard.id != VPRED_PT) {
        i->guard.neg = !i->guard.neg;
        return true;
    }
    if (how == 3 && i->rpc == 0 && i->op == OP_LD) {
        i->imm += 4;
        return true;
    }
    return false;
}

static void test_checker_refuses(void **state) {
    (void)state;
    uint32_t tried[4] = {0}, caught[4] = {0};
    for (uint32_t seed = 1; seed <= 40; seed++) {
        struct program p = {0};
        struct arena a = {0};
        struct gen_options g = {.seed = seed, .size = 40, .vars = 24, .preds = 4};
        gen_program(&p, &g);
        p.reg_limit = 20;
        struct fn *f = p.fns.at[0];
        opt_simplify(&p, f);
        regalloc_number(f);
        struct fn before = copy_code(&a, f);
        assert_null(regalloc(&p, f, true));
        for (uint32_t how = 0; how < 4; how++)
            for (uint32_t b = 0; b < f->blocks.len; b++) {
                struct inst *at = f->blocks.at[b].insts.len
                                      ? &f->blocks.at[b].insts.at[f->blocks.at[b].insts.len / 2]
                                      : NULL;
                if (!at)
                    continue;
                struct inst saved = *at;
                if (!tamper(at, how))
                    continue;
                tried[how]++;
                caught[how] += regalloc_check(&p, &before, f) != NULL;
                *at = saved;
            }
        arena_free(&a);
        program_free(&p);
    }
    /* A change can be harmless (a dead write, two registers with one value), but rarely is. */
    for (uint32_t how = 0; how < 4; how++) {
        assert_true(tried[how] > 5);
        assert_true(caught[how] * 10 >= tried[how] * 7);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),           cmocka_unit_test(test_pressure),
        cmocka_unit_test(test_smallest_limit),  cmocka_unit_test(test_predicates),
        cmocka_unit_test(test_calls),           cmocka_unit_test(test_each_pass),
        cmocka_unit_test(test_all_passes),      cmocka_unit_test(test_passes_without_one),
        cmocka_unit_test(test_checker_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
