/* Counters: the table is complete, and every operation belongs to the instruction mix. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "gpu/gpu.h"
#include "gpu/mix.h"
#include "gpu/resolve.h"
#include "gpu/timed.h"
#include "stats/formula.h"

static void rows_are_complete(void **state) {
    (void)state;
    for (uint32_t i = 0; i < COUNTER_COUNT; i++) {
        const struct counter_info *c = &mix_table.rows[i];
        assert_true(*c->name && *c->unit && *c->meaning);
        assert_int_equal(c->meaning[strlen(c->meaning) - 1], '.');
        for (uint32_t k = 0; k < i; k++)
            assert_string_not_equal(c->name, mix_table.rows[k].name);
    }
}

static void machine_rows_are_complete(void **state) {
    (void)state;
    static char names[1024][COUNTER_NAME_SIZE];
    struct counter_registry all = {0};
    struct mech_registry mechs;
    struct counter_info c;
    mech_registry_init(&mechs);
    counters_add(&all, "", &mix_table, false);
    machine_counters(&all, NULL);
    for (uint32_t i = 0; i < mechs.mechs.len; i++)
        counters_add(&all, "", &mechs.mechs.at[i]->counters, true);
    assert_true(all.count < 1024 && all.count > COUNTER_COUNT + 100);
    for (uint32_t i = 0; counters_info(&all, i, names[i], &c); i++) {
        assert_true(*c.name && *c.unit && *c.meaning && strlen(c.name) + 1 < COUNTER_NAME_SIZE);
        assert_int_equal(counters_find(&all, c.name), i); /* no other is called so */
    }
    mech_registry_free(&mechs);
    counters_free(&all);
}

/* ---- rules ---- */

struct names {
    struct counter_registry counters;
    struct str params; /* as they are listed */
};

static bool is_known(void *ctx, const char *name, double *value) {
    struct names *n = ctx;
    char text[COUNTER_NAME_SIZE + 16];
    *value = 1;
    snprintf(text, sizeof text, "%s", name);
    char *base = strstr(text, "@base");
    if (base)
        memmove(base, base + 5, strlen(base + 5) + 1);
    if (!strncmp(text, "sum(", 4)) {
        struct counter_info c;
        char full[COUNTER_NAME_SIZE];
        for (uint32_t i = 0; counters_info(&n->counters, i, full, &c); i++)
            if (!strncmp(c.name, text + 4, strlen(text + 4) - 1))
                return true;
        return false;
    }
    if (text[0] == '$') {
        char line[sizeof text + 4];
        snprintf(line, sizeof line, "%s ", text + 1);
        return !strcmp(text, "$alone") || strstr(str_text(&n->params), line);
    }
    return counters_find(&n->counters, text) != UINT32_MAX;
}

static void check_formula(struct names *n, const char *text, const char *of) {
    double value;
    enum formula_result r = formula_eval(text, is_known, n, &value);
    if (r != FORMULA_OK)
        fail_msg("%s: '%s': %s", of, text,
                 r == FORMULA_UNKNOWN_NAME ? "there is nothing of that name" : "syntax");
}

/* Rules of mechanisms are formulas over counters and parameters that there are. */
static void rules_name_what_there_is(void **state) {
    (void)state;
    struct names n = {0};
    struct mech_registry mechs = {0};
    struct config params = {0};
    struct diag d = {0};
    uint32_t rules = 0;
    assert_true(resolve_mechs(&(struct rp_options){0}, &mechs, &d) && resolve_params(&mechs, &params, &d));
    config_list(&params, &n.params);
    counters_add(&n.counters, "", &mix_table, false);
    machine_counters(&n.counters, NULL);
    for (uint32_t i = 0; i < mechs.mechs.len; i++)
        counters_add(&n.counters, "", &mechs.mechs.at[i]->counters, true);
    for (uint32_t i = 0; i < mechs.mechs.len; i++)
        for (uint32_t k = 0; k < mechs.mechs.at[i]->counters.nrules; k++, rules++) {
            const struct counter_rule *r = &mechs.mechs.at[i]->counters.rules[k];
            check_formula(&n, r->left, mechs.mechs.at[i]->name);
            check_formula(&n, r->right, mechs.mechs.at[i]->name);
            assert_true(!strcmp(r->relation, "==") || !strcmp(r->relation, "<=") ||
                        !strcmp(r->relation, ">="));
            char when[128], *save = NULL;
            snprintf(when, sizeof when, "%s", r->when);
            for (char *w = strtok_r(when, ",", &save); w; w = strtok_r(NULL, ",", &save))
                check_formula(&n, w + strspn(w, " !"), mechs.mechs.at[i]->name);
        }
    assert_true(rules > 30);
    str_free(&n.params);
    counters_free(&n.counters);
    config_free(&params);
    mech_registry_free(&mechs);
    diag_free(&d);
}

/* Tables in their order, units added up, shares of parts, and nothing before there is a machine. */
static void test_registry(void **state) {
    (void)state;
    struct own {
        uint32_t before;
        uint64_t cows, pigs;
    };
    static const struct counter_info rows[] = {
        {"pigs", "pigs", "Pigs.", offsetof(struct own, pigs)},
        {"cows", "cows", "Cows.", offsetof(struct own, cows)},
    };
    static const struct counter_table table = COUNTER_TABLE(rows), one = {.rows = rows, .count = 1};
    struct own yard[3] = {{0, 1, 20}, {0, 3, 40}, {0, 5, 60}}, far = {9, 100, 200};
    struct counter_registry r = {0};
    struct counter_info info;
    char name[COUNTER_NAME_SIZE];
    uint64_t v[3];
    uint32_t farm = counters_add(&r, "farm.", &table, true), away = counters_add(&r, "", &one, false);
    assert_int_equal(r.count, 3);
    counters_read(&r, v);
    assert_true(!v[0] && !v[1] && !v[2]);
    for (uint32_t i = 0; i < 3; i++)
        counters_bind(&r, farm, &yard[i]);
    counters_bind(&r, away, &far);
    counters_read(&r, v);
    assert_true(v[0] == 120 && v[1] == 9 && v[2] == 200);
    yard[2].cows++;
    counters_read_part(&r, 2, v);
    assert_true(v[0] == 60 && v[1] == 6 && v[2] == 0);
    counters_read_part(&r, 3, v);
    assert_true(!v[0] && !v[1] && !v[2]);
    assert_true(counters_info(&r, 1, name, &info) && !strcmp(info.name, "farm.cows") && info.name == name);
    assert_true(counters_info(&r, 2, name, &info) && !strcmp(info.name, "pigs"));
    assert_false(counters_info(&r, 3, name, &info));
    assert_int_equal(counters_find(&r, "farm.cows"), 1);
    assert_int_equal(counters_find(&r, "pigs"), 2);
    assert_int_equal(counters_find(&r, "cows"), UINT32_MAX);
    assert_int_equal(counters_find(&r, "farm."), UINT32_MAX);
    assert_true(counters_shared_out(&r, 1) && !counters_shared_out(&r, 2) && !counters_shared_out(&r, 3));
    counters_free(&r);
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
    for (uint32_t i = 0; i < gpu_formulas.count; i++) {
        const struct formula_info *f = &gpu_formulas.rows[i];
        double v;
        assert_true(*f->name && *f->unit);
        assert_int_equal(f->meaning[strlen(f->meaning) - 1], '.');
        if (formula_eval(f->text, known, g, &v) != FORMULA_OK)
            fail_msg("%s = %s", f->name, f->text);
        for (uint32_t k = 0; k < i; k++)
            assert_string_not_equal(f->name, gpu_formulas.rows[k].name);
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
        cmocka_unit_test(rules_name_what_there_is),    cmocka_unit_test(test_registry),
        cmocka_unit_test(formulas_are_complete),       cmocka_unit_test(formulas_are_arithmetic),
        cmocka_unit_test(every_operation_counts_once), cmocka_unit_test(exceptions_are_where_they_belong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
