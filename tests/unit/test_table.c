/* Tables of many runs: formulas, means, CSV, and figures worked out by hand from two made-up machines. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "report/csv.h"
#include "report/number.h"
#include "stats/formula.h"
#include "study/rank.h"
#include "study/table.h"

#define LEN(a) (sizeof(a) / sizeof(a)[0])

static void close_to(double got, double wanted) {
    if (isnan(wanted) ? !isnan(got) : !(fabs(got - wanted) <= 1e-12 * fabs(wanted)))
        fail_msg("%.17g instead of %.17g", got, wanted);
}

/* ---- formulas ---- */

static bool some_names(void *ctx, const char *name, double *value) {
    (void)ctx;
    static const struct {
        const char *name;
        double value;
    } known[] = {{"a.b@x+y-z", 12}, {"$k", 8}, {"mean(a+b)", 3}, {"f(g(1), 2)", 5}};
    for (size_t i = 0; i < LEN(known); i++)
        if (!strcmp(known[i].name, name)) {
            *value = known[i].value;
            return true;
        }
    return false;
}

static void formulas_take_names_of_every_shape(void **state) {
    (void)state;
    static const struct {
        const char *text;
        enum formula_result result;
        double value;
    } rows[] = {
        {"100 * (1 - a.b@x+y-z / 16)", FORMULA_OK, 25},
        {"$k - mean(a+b) * 2", FORMULA_OK, 2},
        {"(f(g(1), 2) + 1) / 2", FORMULA_OK, 3},
        {"10 - 4 - 3", FORMULA_OK, 3},
        {"16 / 4 / 2", FORMULA_OK, 2},
        {"a.b@x", FORMULA_UNKNOWN_NAME, 0},
        {"mean(a", FORMULA_BAD_SYNTAX, 0},
        {"@x", FORMULA_BAD_SYNTAX, 0},
        {"$k $k", FORMULA_BAD_SYNTAX, 0},
    };
    for (size_t i = 0; i < LEN(rows); i++) {
        double v;
        enum formula_result got = formula_eval(rows[i].text, some_names, NULL, &v);
        if (got != rows[i].result)
            fail_msg("'%s': result %d", rows[i].text, (int)got);
        if (got == FORMULA_OK)
            close_to(v, rows[i].value);
    }
}

/* ---- numbers ---- */

static void means_leave_out_what_is_missing(void **state) {
    (void)state;
    static const double v[] = {1, NAN, 4, 16};
    close_to(number_mean(v, 4), 7);
    close_to(number_geomean(v, 4), 4);
    close_to(number_median(v, 4), 4);
    close_to(number_median(v, 3), 2.5);
    close_to(number_min(v, 4), 1);
    close_to(number_max(v, 4), 16);
    static const double none[] = {NAN}, zero[] = {1, 0};
    close_to(number_mean(none, 1), NAN);
    close_to(number_median(none, 1), NAN);
    close_to(number_max(none, 1), NAN);
    close_to(number_geomean(zero, 2), NAN);
}

static void numbers_as_text(void **state) {
    (void)state;
    char out[NUMBER_TEXT];
    assert_string_equal(number_exact(0.1, out), "0.1");
    assert_string_equal(number_exact(50, out), "50");
    assert_string_equal(number_exact(230, out), "230");
    assert_string_equal(number_exact(-1e20, out), "-1e+20");
    assert_string_equal(number_exact(1.0 / 3, out), "0.3333333333333333");
    assert_string_equal(number_short(18.7049, out), "18.70");
    assert_string_equal(number_short(1.0 / 3, out), "0.333");
    assert_string_equal(number_short(256, out), "256");
    assert_string_equal(number_short(123456.7, out), "123457");
    assert_string_equal(number_short(NAN, out), "-");
    assert_string_equal(number_unit(0.00123, "J", out), "1.23 mJ");
    assert_string_equal(number_unit(0.0009999, "J", out), "1.00 mJ");
    assert_string_equal(number_unit(123.4, "J", out), "123 J");
    assert_string_equal(number_unit(0, "J", out), "0.00 J");
    assert_string_equal(number_unit(2.5e-11, "J", out), "25.0 pJ");
}

/* ---- CSV ---- */

static void csv_reads_what_it_writes(void **state) {
    (void)state;
    static const char *const fields[] = {"plain", "with, comma", "a \"quote\"", "two\nlines", "", "last"};
    struct str out = {0};
    struct csv c = {0};
    for (size_t i = 0; i < LEN(fields); i++) {
        char column[8];
        snprintf(column, sizeof column, "c%zu", i);
        csv_add(&out, column);
    }
    csv_end_row(&out);
    for (size_t i = 0; i < LEN(fields); i++)
        csv_add(&out, fields[i]);
    csv_end_row(&out);
    csv_add_number(&out, 0.25);
    csv_add_number(&out, NAN);
    csv_end_row(&out);
    assert_true(csv_parse(&c, str_text(&out), out.len));
    assert_int_equal(c.rows.len, 3);
    for (size_t i = 0; i < LEN(fields); i++) {
        char column[8];
        snprintf(column, sizeof column, "c%zu", i);
        assert_string_equal(csv_get(&c, 1, column), fields[i]);
    }
    assert_string_equal(csv_get(&c, 2, "c0"), "0.25");
    assert_string_equal(csv_get(&c, 2, "c1"), "");
    assert_string_equal(csv_get(&c, 2, "c5"), "");
    assert_string_equal(csv_get(&c, 1, "none"), "");
    csv_free(&c);
    str_free(&out);
    struct csv crlf = {0}, open = {0};
    assert_true(csv_parse(&crlf, "a,b\r\n1,2\r\n", 10));
    assert_string_equal(csv_get(&crlf, 1, "b"), "2");
    assert_false(csv_parse(&open, "a,\"b", 4));
    csv_free(&crlf);
    csv_free(&open);
}

/* ---- tables ---- */

static json_t *machine(int cycles, int sp, int mem, double total, double rf, const char *digest) {
    return json_pack(
        "{s:s, s:{s:i}, s:[{s:s, s:s}], s:{s:i, s:s, s:{s:i,s:i,s:i,s:i,s:i,s:i}, s:{s:f, s:f}, s:{s:f}}}",
        "gpu", "g", "settings", "sm.warps", 48, "kernels", "name", "k", "digest", digest, "totals", "cycles",
        cycles, "digest", digest, "counters", "unit.sp", sp, "unit.sfu", 0, "unit.dp", 0, "unit.mem", mem,
        "unit.tex", 0, "unit.ctrl", 0, "energy", "total", total, "register_file", rf, "gpuwattch", "total",
        total + 2);
}

static void put(struct table *t, uint32_t bench, uint32_t model, json_t *report) {
    struct row *r = table_add(t, bench, model);
    json_decref(r->report);
    r->status = ROW_OK;
    r->report = report;
}

/* Two workloads on two machines: twice and half as fast; 20% and 80% of the instructions left. */
static void fill(struct table *t) {
    *t = (struct table){0};
    uint32_t one = table_add_bench(t, "one"), two = table_add_bench(t, "two");
    uint32_t base = table_add_model(t, "base"), fast = table_add_model(t, "fast+1");
    put(t, one, base, machine(1000, 90, 10, 4.0, 1.0, "aa"));
    put(t, one, fast, machine(500, 15, 5, 1.0, 0.25, "aa"));
    put(t, two, base, machine(300, 50, 50, 2.0, 1.0, "bb"));
    put(t, two, fast, machine(600, 40, 40, 2.0, 1.0, "bb"));
}

static const struct metric *metric_called(const char *id) {
    const struct metric *m;
    for (enum metric_part part = 0; part < PART_ERROR; part++)
        for (uint32_t i = 0; (m = metric_at(part, i)); i++)
            if (!strcmp(m->id, id))
                return m;
    fail_msg("no metric %s", id);
    return NULL;
}

static void metrics_by_hand(void **state) {
    (void)state;
    struct table t;
    fill(&t);
    static const struct {
        const char *id;
        double one, two, mean;
    } rows[] = {
        {"cycles", 500, 600, NAN},
        {"speedup", 2, 0.5, 1},
        {"eliminated", 80, 20, 60},
        {"energy", 1, 2, NAN},
        {"energy_saved", 75, 0, 50},
        {"rf_energy_saved", 75, 0, 50},
        {"energy_delay_saved", 87.5, -100, 50},
        {"gpuwattch_saved", 50, 0, 29.289321881345245},
    };
    for (size_t i = 0; i < LEN(rows); i++) {
        const struct metric *m = metric_called(rows[i].id);
        close_to(metric_value(&t, table_row(&t, 0, 1), m), rows[i].one);
        close_to(metric_value(&t, table_row(&t, 1, 1), m), rows[i].two);
        close_to(metric_mean(&t, 1, m), rows[i].mean);
    }
    const struct row *base = table_row(&t, 0, 0);
    close_to(table_eval(&t, base, "cycles@fast+1 / $sm.warps + nothing@base"), NAN);
    close_to(table_eval(&t, base, "cycles@fast+1 / $sm.warps"), 500.0 / 48);
    close_to(table_eval(&t, base, "cycles@slow"), NAN);
    close_to(table_eval(&t, base, "1 / (1 - 1)"), NAN);
    close_to(table_eval(&t, NULL, "cycles@base"), NAN);
    table_free(&t);
}

static void other_memory_is_noticed(void **state) {
    (void)state;
    struct table t;
    fill(&t);
    table_check(&t);
    assert_int_equal(table_row(&t, 0, 1)->status, ROW_OK);
    put(&t, 1, 1, machine(600, 40, 40, 2.0, 1.0, "cc"));
    table_check(&t);
    assert_int_equal(table_row(&t, 0, 1)->status, ROW_OK);
    assert_int_equal(table_row(&t, 1, 1)->status, ROW_WRONG);
    assert_string_equal(table_row(&t, 1, 1)->message,
                        "memory differs from the base machine's after launch 1 of 1, kernel k");
    close_to(metric_mean(&t, 1, metric_called("speedup")), 2); /* wrong results count for nothing */
    table_free(&t);
}

/* A table with holes and two base machines: each row is compared with the base of its own model. */
static void rows_need_not_be_a_grid(void **state) {
    (void)state;
    struct table t;
    fill(&t);
    uint32_t base = table_add_model(&t, "base:gpu=h"), fast = table_add_model(&t, "fast:gpu=h");
    uint32_t three = table_add_bench(&t, "three");
    t.models.at[base].base = t.models.at[fast].base = base;
    put(&t, three, base, machine(800, 10, 0, 1.0, 1.0, "dd"));
    put(&t, three, fast, machine(200, 10, 0, 1.0, 1.0, "dd"));
    put(&t, 0, base, machine(70, 10, 0, 1.0, 1.0, "ee"));
    assert_int_equal(t.rows.len, 7);
    assert_null(table_row(&t, three, 0));
    assert_null(table_row(&t, 0, fast));
    assert_ptr_equal(table_add(&t, three, fast), table_row(&t, three, fast));
    assert_int_equal(table_add_bench(&t, "three"), three);
    assert_int_equal(t.rows.len, 7);
    table_check(&t); /* the digests of two GPUs are not compared */
    for (uint32_t i = 0; i < t.rows.len; i++)
        assert_int_equal(t.rows.at[i].status, ROW_OK);
    assert_true(table_is_base(&t, table_row(&t, 0, base)));
    assert_false(table_is_base(&t, table_row(&t, three, fast)));
    close_to(table_eval(&t, table_row(&t, three, fast), "cycles@base / cycles"), 4);
    close_to(table_eval(&t, table_row(&t, three, fast), "cycles@fast+1"), NAN);
    close_to(metric_mean(&t, fast, metric_called("speedup")), 4);
    close_to(metric_mean(&t, 1, metric_called("speedup")), 1);
    table_free(&t);
}

/* Ranks by hand; who lacks a run, or computed something else, has no place. */
static void ranks_by_hand(void **state) {
    (void)state;
    struct table t;
    fill(&t);
    uint32_t slow = table_add_model(&t, "slow"), part = table_add_model(&t, "part");
    put(&t, 0, slow, machine(2000, 90, 10, 1.0, 1.0, "aa")); /* half as fast, for a quarter of the energy */
    put(&t, 1, slow, machine(900, 50, 50, 0.5, 1.0, "bb"));  /* a third as fast */
    put(&t, 0, part, machine(1, 1, 1, 0.1, 0.1, "aa"));
    put(&t, 1, part, machine(1, 1, 1, 0.1, 0.1, "zz"));
    table_check(&t);
    static const struct {
        uint32_t models[3];
        double values[3];
    } wanted[RANKS] = {
        [RANK_TIME] = {{0, 1, 2}, {1, 1, 0.408248290463863}},
        [RANK_ENERGY] = {{2, 1, 0}, {75, 50, 0}},
        [RANK_ENERGY_DELAY] = {{1, 2, 0}, {50, 38.76275643042055, 0}},
    };
    for (enum rank_by by = 0; by < RANKS; by++) {
        uint32_t n;
        struct rank_place *list = rank_models(&t, 0, by, &n);
        assert_int_equal(n, 3);
        for (uint32_t i = 0; i < n; i++) {
            assert_int_equal(list[i].model, wanted[by].models[i]);
            close_to(list[i].value, wanted[by].values[i]);
        }
        free(list);
    }
    json_t *all = rank_json(&t);
    json_t *first = json_array_get(json_object_get(json_object_get(all, "base"), "energy"), 0);
    assert_string_equal(json_string_value(json_object_get(first, "model")), "slow");
    json_decref(all);
    table_free(&t);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(formulas_take_names_of_every_shape),
        cmocka_unit_test(numbers_as_text),
        cmocka_unit_test(means_leave_out_what_is_missing),
        cmocka_unit_test(csv_reads_what_it_writes),
        cmocka_unit_test(metrics_by_hand),
        cmocka_unit_test(other_memory_is_noticed),
        cmocka_unit_test(ranks_by_hand),
        cmocka_unit_test(rows_need_not_be_a_grid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
