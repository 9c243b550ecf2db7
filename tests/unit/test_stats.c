/* Counters: the table is complete, and every operation belongs to the instruction mix. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gpu/gpu.h"
#include "gpu/mix.h"
#include "gpu/timed.h"
#include "stats/formula.h"

static void rows_are_complete(void **state) {
    (void)state;
    for (uint32_t i = 0; i < COUNTER_COUNT; i++) {
        const struct counter_info *c = &counter_info[i];
        assert_true(*c->name && *c->unit && *c->meaning);
        assert_int_equal(c->meaning[strlen(c->meaning) - 1], '.');
        for (uint32_t k = 0; k < i; k++)
            assert_string_not_equal(c->name, counter_info[k].name);
    }
}

static void machine_rows_are_complete(void **state) {
    (void)state;
    static char names[1024][64];
    struct mech_set all = {0};
    struct diag d = {0};
    struct mech_registry r;
    mech_registry_init(&r);
    assert_true(mech_select(&all, &r, "wir", &d));
    mech_registry_free(&r);
    uint32_t n = machine_counter_count(&all);
    assert_true(n < 1024);
    for (uint32_t i = 0; i < n; i++) {
        struct counter_info c = machine_counter_info(&all, i, names[i], sizeof names[i]);
        assert_true(*c.name && *c.unit && *c.meaning && strlen(c.name) + 1 < sizeof names[i]);
        for (uint32_t k = 0; k < i; k++)
            assert_string_not_equal(names[i], names[k]);
        for (uint32_t k = 0; k < COUNTER_COUNT; k++)
            assert_string_not_equal(names[i], counter_info[k].name);
    }
}

/* Everything a report knows, as ones. */
static bool known(void *ctx, const char *name, double *value) {
    *value = 1;
    static const char *const others[] = {"cycles", "warp_insts", "thread_insts"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strcmp(name, others[i]))
            return true;
    struct rp_counter c;
    for (uint32_t i = 0; rp_counter(ctx, i, &c); i++)
        if (!strcmp(name, c.name))
            return true;
    struct rp_setting s;
    for (uint32_t i = 0; rp_gpu_setting(ctx, i, &s); i++)
        if (!strcmp(name, s.name))
            return !s.text;
    return false;
}

static void formulas_are_complete(void **state) {
    (void)state;
    struct rp_gpu *g = rp_gpu_create(&(struct rp_options){.gpu = "gtx480", .probe = "repeat"}, NULL);
    assert_non_null(g);
    for (uint32_t i = 0; i < formula_count; i++) {
        const struct formula_info *f = &formula_info[i];
        double v;
        assert_true(*f->name && *f->unit);
        assert_int_equal(f->meaning[strlen(f->meaning) - 1], '.');
        if (formula_eval(f->text, known, g, &v) != FORMULA_OK)
            fail_msg("%s = %s", f->name, f->text);
        for (uint32_t k = 0; k < i; k++)
            assert_string_not_equal(f->name, formula_info[k].name);
    }
    rp_gpu_destroy(g);
}

static bool letters(void *ctx, const char *name, double *value) {
    (void)ctx;
    *value = name[0] - 'a';
    return name[0] != 'z' && !name[1];
}

static void formulas_are_arithmetic(void **state) {
    (void)state;
    static const struct {
        const char *text;
        enum formula_result result;
        double value;
    } rows[] = {
        {"b + c * d", FORMULA_OK, 7},
        {"(b + c) * d", FORMULA_OK, 9},
        {"8 / e / c", FORMULA_OK, 1},
        {"10 - d - c", FORMULA_OK, 5},
        {" 1.5*c ", FORMULA_OK, 3},
        {"a / b", FORMULA_OK, 0},
        {"b / a", FORMULA_DIVIDED_BY_ZERO, 0},
        {"b / (c - c)", FORMULA_DIVIDED_BY_ZERO, 0},
        {"b + z", FORMULA_UNKNOWN_NAME, 0},
        {"b / z", FORMULA_UNKNOWN_NAME, 0},
        {"b +", FORMULA_BAD_SYNTAX, 0},
        {"(b", FORMULA_BAD_SYNTAX, 0},
        {"b)", FORMULA_BAD_SYNTAX, 0},
        {"b c", FORMULA_BAD_SYNTAX, 0},
        {"", FORMULA_BAD_SYNTAX, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double v = -1;
        enum formula_result r = formula_eval(rows[i].text, letters, NULL, &v);
        if (r != rows[i].result || (r == FORMULA_OK && v != rows[i].value))
            fail_msg("%s: %d, %g", rows[i].text, r, v);
    }
}

static void every_operation_counts_once(void **state) {
    (void)state;
    for (uint32_t op = 0; op < OP_COUNT; op++)
        for (uint32_t space = MS_GENERIC; space <= MS_CONST; space++) {
            struct inst in = {.op = (uint16_t)op, .m = {.space = (uint8_t)space}};
            assert_true((uint32_t)mix_counter(&in) < COUNTER_MIX);
        }
}

/* A few that the energy class alone would put elsewhere, or that the memory space decides. */
static void exceptions_are_where_they_belong(void **state) {
    (void)state;
    static const struct {
        enum op op;
        enum mem_space space;
        enum counter want;
    } rows[] = {
        {OP_IADD, 0, COUNTER_insts_int},
        {OP_FFMA, 0, COUNTER_insts_fp32},
        {OP_HFMA2, 0, COUNTER_insts_fp16},
        {OP_DDIV, 0, COUNTER_insts_fp64},
        {OP_FDIV, 0, COUNTER_insts_sfu},
        {OP_MUFU, 0, COUNTER_insts_sfu},
        {OP_SHFL, 0, COUNTER_insts_warp},
        {OP_S2R, 0, COUNTER_insts_move},
        {OP_BAR, 0, COUNTER_insts_barrier},
        {OP_EXIT, 0, COUNTER_insts_control},
        {OP_LDC, MS_CONST, COUNTER_insts_load_const},
        {OP_LD, MS_SHARED, COUNTER_insts_load_shared},
        {OP_ST, MS_LOCAL, COUNTER_insts_store_local},
        {OP_RED, MS_GLOBAL, COUNTER_insts_atomic},
        {OP_SURED, 0, COUNTER_insts_texture},
    };
    for (uint32_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct inst in = {.op = (uint16_t)rows[i].op, .m = {.space = (uint8_t)rows[i].space}};
        assert_int_equal(mix_counter(&in), rows[i].want);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_complete),           cmocka_unit_test(machine_rows_are_complete),
        cmocka_unit_test(formulas_are_complete),       cmocka_unit_test(formulas_are_arithmetic),
        cmocka_unit_test(every_operation_counts_once), cmocka_unit_test(exceptions_are_where_they_belong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
