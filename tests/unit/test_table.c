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

/* ---- results ---- */

static json_t *machine(int cycles, int sp, int mem, double total, double rf, const char *digest) {
    return json_pack(
        "{s:s, s:{s:i}, s:[{s:s, s:s}], s:{s:i, s:s, s:{s:i,s:i,s:i,s:i,s:i,s:i}, s:{s:f, s:f}}}", "gpu", "g",
        "settings", "sm.warps", 48, "kernels", "name", "k", "digest", digest, "totals", "cycles", cycles,
        "digest", digest, "counters", "unit.sp", sp, "unit.sfu", 0, "unit.dp", 0, "unit.mem", mem, "unit.tex",
        0, "unit.ctrl", 0, "energy", "total", total, "register_file", rf);
}

/* Two workloads on two machines: twice and half as fast; 20% and 80% of the instructions left. */
static void fill(struct results *r) {
    *r = (struct results){0};
    vec_push(&r->workloads, xstrdup("one"));
    vec_push(&r->workloads, xstrdup("two"));
    vec_push(&r->models, xstrdup("base"));
    vec_push(&r->models, xstrdup("fast+1"));
    results_begin(r);
    *results_run(r, 0, 0) = (struct run){.status = RUN_OK, .report = machine(1000, 90, 10, 4.0, 1.0, "aa")};
    *results_run(r, 0, 1) = (struct run){.status = RUN_OK, .report = machine(500, 15, 5, 1.0, 0.25, "aa")};
    *results_run(r, 1, 0) = (struct run){.status = RUN_OK, .report = machine(300, 50, 50, 2.0, 1.0, "bb")};
    *results_run(r, 1, 1) = (struct run){.status = RUN_OK, .report = machine(600, 40, 40, 2.0, 1.0, "bb")};
}

static const struct metric *metric_called(const char *id) {
    const struct metric *m;
    for (uint32_t i = 0; (m = metric_at(i)); i++)
        if (!strcmp(m->id, id))
            return m;
    fail_msg("no metric %s", id);
    return NULL;
}

static void metrics_by_hand(void **state) {
    (void)state;
    struct results r;
    fill(&r);
    static const struct {
        const char *id;
        double one, two, mean;
    } rows[] = {
        {"cycles", 500, 600, NAN}, {"speedup", 2, 0.5, 1},      {"eliminated", 80, 20, 60},
        {"energy", 1, 2, NAN},     {"energy_saved", 75, 0, 50}, {"rf_energy_saved", 75, 0, 50},
    };
    for (size_t i = 0; i < LEN(rows); i++) {
        const struct metric *m = metric_called(rows[i].id);
        close_to(metric_value(&r, 0, 1, m), rows[i].one);
        close_to(metric_value(&r, 1, 1, m), rows[i].two);
        close_to(metric_mean(&r, 1, m), rows[i].mean);
    }
    close_to(results_eval(&r, 0, 0, "cycles@fast+1 / $sm.warps + nothing@base"), NAN);
    close_to(results_eval(&r, 0, 0, "cycles@fast+1 / $sm.warps"), 500.0 / 48);
    close_to(results_eval(&r, 0, 0, "cycles@slow"), NAN);
    close_to(results_eval(&r, 0, 0, "1 / (1 - 1)"), NAN);
    results_free(&r);
}

static void other_memory_is_noticed(void **state) {
    (void)state;
    struct results r;
    fill(&r);
    results_check(&r);
    assert_int_equal(results_run(&r, 0, 1)->status, RUN_OK);
    results_free(&r);
    fill(&r);
    json_decref(results_run(&r, 1, 1)->report);
    results_run(&r, 1, 1)->report = machine(600, 40, 40, 2.0, 1.0, "cc");
    results_check(&r);
    assert_int_equal(results_run(&r, 0, 1)->status, RUN_OK);
    assert_int_equal(results_run(&r, 1, 1)->status, RUN_WRONG);
    assert_string_equal(results_run(&r, 1, 1)->message,
                        "memory differs from the base machine's after launch 1 of 1, kernel k");
    close_to(metric_mean(&r, 1, metric_called("speedup")), 2); /* wrong results count for nothing */
    results_free(&r);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(formulas_take_names_of_every_shape),
        cmocka_unit_test(numbers_as_text),
        cmocka_unit_test(means_leave_out_what_is_missing),
        cmocka_unit_test(csv_reads_what_it_writes),
        cmocka_unit_test(metrics_by_hand),
        cmocka_unit_test(other_memory_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
