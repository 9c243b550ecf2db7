/* Declared results, the error of approximated ones by hand, and who is measured by it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/io.h"
#include "study/error.h"
#include "study/table.h"

#define LEN(a) (sizeof(a) / sizeof(a)[0])

static void close_to(double got, double wanted) {
    if (isnan(wanted) ? !isnan(got) : !(fabs(got - wanted) <= 1e-12 * fabs(wanted)))
        fail_msg("%.17g instead of %.17g", got, wanted);
}

static uint32_t type_called(const char *name) {
    uint32_t t = 0;
    while (t < RESULT_TYPES && strcmp(result_type_name(t), name))
        t++;
    assert_true(t < RESULT_TYPES);
    return t;
}

static void add(struct results *r, const char *name, const char *type, const void *data, uint64_t count) {
    struct result x = {.name = xstrdup(name), .type = type_called(type), .count = count};
    x.data = xmalloc(count * result_type_bytes(x.type) + 1);
    memcpy(x.data, data, count * result_type_bytes(x.type));
    vec_push(&r->all, x);
}

static char path[] = "/tmp/reprise-test-XXXXXX";

static int make_file(void **state) {
    (void)state;
    int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state) {
    (void)state;
    return unlink(path);
}

/* ---- files ---- */

static void files_are_read_as_written(void **state) {
    (void)state;
    static const float f[] = {1.5f, -2, INFINITY};
    static const uint8_t u[] = {0, 10, 255};
    static const int64_t i[] = {-3000000000};
    static const double d[] = {0.1};
    struct results r = {0}, back;
    struct str error = {0};
    add(&r, "two words", "f32", f, 3);
    add(&r, "bytes", "u8", u, 3);
    add(&r, "bytes", "i64", i, 1);
    add(&r, "empty", "u16", "", 0);
    add(&r, "last", "f64", d, 1);
    assert_true(results_write(&r, path));
    assert_true(results_read(&back, path, &error));
    assert_int_equal(back.all.len, 5);
    for (uint32_t k = 0; k < 5; k++) {
        const struct result *a = &r.all.at[k], *b = &back.all.at[k];
        assert_string_equal(a->name, b->name);
        assert_int_equal(a->type, b->type);
        assert_int_equal(a->count, b->count);
        assert_memory_equal(a->data, b->data, a->count * result_type_bytes(a->type));
    }
    close_to(result_value(&back.all.at[0], 1), -2);
    close_to(result_value(&back.all.at[1], 2), 255);
    close_to(result_value(&back.all.at[2], 0), -3e9);
    close_to(result_value(&back.all.at[4], 0), 0.1);
    results_free(&r);
    results_free(&back);
}

/* What single launches left stands behind the results, and is compared launch by launch. */
static void launches_have_errors_of_their_own(void **state) {
    (void)state;
    static const float right[] = {1, 3}, first[] = {1, 3}, second[] = {2, 4};
    static const char text[] = "reprise results 1\nf32 2 end\n........f32 2 @0 k:1\n........f32 2 @1 k:1\n"
                               "........f32 1 @2 k:1\n....";
    struct results r[2];
    struct str why = {0};
    for (int k = 0; k < 2; k++) {
        char bytes[sizeof text];
        memcpy(bytes, text, sizeof text);
        char *at = strstr(bytes, "@0 k:1\n") + 7;
        memcpy(at, k ? first : right, sizeof first);
        memcpy(strstr(at + sizeof first, "@1 k:1\n") + 7, k ? second : right, sizeof second);
        size_t less = k ? 0 : strlen("f32 1 @2 k:1\n....");
        assert_true(io_write(path, bytes, sizeof bytes - 1 - less));
        assert_true(results_read(&r[k], path, &why));
        assert_int_equal(r[k].all.len, 1);
        assert_int_equal(r[k].launches.len, 2 + k);
    }
    struct error e;
    assert_true(error_of_launch(&r[0], &r[1], 0, &e, &why));
    assert_int_equal(e.differing, 0);
    assert_true(error_of_launch(&r[0], &r[1], 1, &e, &why));
    assert_int_equal(e.differing, 2);
    close_to(e.rmse_over_mean, 0.5);
    assert_false(error_of_launch(&r[0], &r[1], 2, &e, &why));
    assert_non_null(strstr(str_text(&why), "no launch like that"));
    str_free(&why);
    results_free(&r[0]);
    results_free(&r[1]);
}

static void broken_files_are_refused(void **state) {
    (void)state;
    static const char *const texts[] = {
        "",
        "reprise results 2\n",
        "reprise results 1\nf32 2 x\n1234567",                   /* a byte is missing */
        "reprise results 1\nf33 1 x\n1234",                      /* no type */
        "reprise results 1\nf32 -1 x\n1234",                     /* no count */
        "reprise results 1\nf32 1\n1234",                        /* no name */
        "reprise results 1\nf32 99999999999999999999999 x\n123", /* more than there can be */
        "reprise results 1\nu64 2305843009213693953 x\n12345678",
    };
    struct results r;
    for (size_t i = 0; i < LEN(texts); i++) {
        struct str error = {0};
        assert_true(io_write(path, texts[i], strlen(texts[i])));
        if (results_read(&r, path, &error))
            fail_msg("file %zu was read", i);
        assert_non_null(strstr(str_text(&error), "is no file of results"));
        str_free(&error);
    }
    struct str error = {0};
    assert_false(results_read(&r, "/nonexistent/results", &error));
    assert_string_equal(str_text(&error), "/nonexistent/results cannot be read");
    str_free(&error);
}

static void results_are_named_by_kernel_and_parameter(void **state) {
    (void)state;
    struct result_spec s;
    assert_true(result_spec_read(&s, "_Z3mulPf:12:f64:1000"));
    assert_int_equal(s.kernel_len, 8);
    assert_int_equal(s.param, 12);
    assert_string_equal(result_type_name(s.type), "f64");
    assert_int_equal(s.count, 1000);
    assert_true(result_spec_read(&s, "k:0:u8"));
    assert_int_equal(s.count, 0);
    static const char *const wrong[] = {"",          "k",           "k:0",        ":0:f32",     "k::f32",
                                        "k:x:f32",   "k:-1:f32",    "k:0:f3",     "k:0:f32:",   "k:0:f32:0",
                                        "k:0:f32:x", "k:0:f32:1:2", "k:0:f32:1x", "k:99999:f32"};
    for (size_t i = 0; i < LEN(wrong); i++)
        if (result_spec_read(&s, wrong[i]))
            fail_msg("'%s' names a result", wrong[i]);
}

/* ---- errors ---- */

static void errors_by_hand(void **state) {
    (void)state;
    static const float one[] = {1, 2, 3, 4}, one_off[] = {1, 2, 3, 6}, near[] = {100, 100, 100},
                       near_off[] = {100, 100.5f, 105};
    static const uint8_t bytes[] = {0, 10, 20}, bytes_off[] = {5, 10, 20};
    static const int32_t zero_mean[] = {-1, 1}, zero_mean_off[] = {-1, 2}, flat[] = {7, 7},
                         flat_off[] = {7, 8};
    static const double odd[] = {NAN, INFINITY, 4}, odd_off[] = {NAN, INFINITY, 5};
    static const struct {
        const char *type;
        const void *right, *got;
        uint64_t n;
        struct error e;
    } rows[] = {
        {"f32",
         one,
         one_off,
         4,
         {0.4, 2, 0.125, 20 * 0.47712125471966244, 4, 1, 4.0 / 30, {0.75, 0.75, 0.75}}}, /* RMSE 1, range 3 */
        {"f32", one, one, 4, {0, 0, 0, NAN, 4, 0, 0, {1, 1, 1}}},
        {"u8",
         bytes,
         bytes_off,
         3,
         {0.28867513459481287,
          5,
          1.0 / 3,
          38.92261606915535,
          3,
          1,
          25.0 / 500,
          {2.0 / 3, 2.0 / 3, 2.0 / 3}}}, /* 255 over sqrt(25/3) */
        {"i32",
         zero_mean,
         zero_mean_off,
         2,
         {NAN, 1, 0.5, 9.030899869919436, 2, 1, 0.5, {0.5, 0.5, 0.5}}}, /* 2 over sqrt(1/2) */
        {"i32",
         flat,
         flat_off,
         2,
         {0.10101525445522107, 1, 1.0 / 14, NAN, 2, 1, 1.0 / 98, {0.5, 0.5, 0.5}}}, /* no range */
        {"f64", odd, odd_off, 3, {0.25, 1, 0.25, NAN, 3, 1, 1.0 / 16, {0, 0, 0}}},  /* one number */
        {"f32", one, one, 0, {0, 0, 0, NAN, 0, 0, 0, {1, 1, 1}}},
        {"f32",
         near,
         near_off,
         3,
         {0.029011491975882014, 5, 0.055 / 3, NAN, 3, 2, 25.25 / 30000, {1.0 / 3, 2.0 / 3, 1}}},
    };
    for (size_t i = 0; i < LEN(rows); i++) {
        struct results right = {0}, got = {0};
        struct error e;
        struct str why = {0};
        add(&right, "x", rows[i].type, rows[i].right, rows[i].n);
        add(&got, "x", rows[i].type, rows[i].got, rows[i].n);
        if (!error_of(&right, &got, &e, &why))
            fail_msg("row %zu: %s", i, str_text(&why));
        close_to(e.rmse_over_mean, rows[i].e.rmse_over_mean);
        close_to(e.max, rows[i].e.max);
        close_to(e.mean_relative, rows[i].e.mean_relative);
        close_to(e.psnr, rows[i].e.psnr);
        close_to(e.square, rows[i].e.square);
        for (int k = 0; k < ERROR_LIMITS; k++)
            close_to(e.within[k], rows[i].e.within[k]);
        assert_int_equal(e.values, rows[i].e.values);
        assert_int_equal(e.differing, rows[i].e.differing);
        results_free(&right);
        results_free(&got);
    }
}

/* Of several results, the worst counts: here the first for the one figure, the second for the others. */
static void the_worst_result_counts(void **state) {
    (void)state;
    static const float a[] = {1, 2, 3, 4}, a_off[] = {1, 2, 3, 6}, b[] = {100, 200, -300, 0},
                       b_off[] = {100, 203, -300, 0};
    struct results right = {0}, got = {0};
    struct error e;
    struct str why = {0};
    add(&right, "a", "f32", a, 4);
    add(&right, "b", "f32", b, 4);
    add(&got, "a", "f32", a_off, 4);
    add(&got, "b", "f32", b_off, 4);
    assert_true(error_of(&right, &got, &e, &why));
    close_to(e.rmse_over_mean, 0.4); /* the mean of b is 0 */
    close_to(e.max, 3);
    close_to(e.mean_relative, 0.125);
    close_to(e.psnr, 20 * log10(3));
    close_to(e.square, 4.0 / 30);
    close_to(e.within[0], 0.75);
    assert_int_equal(e.values, 8);
    assert_int_equal(e.differing, 2);
    results_free(&right);
    results_free(&got);
}

static void other_arrays_are_not_compared(void **state) {
    (void)state;
    static const float x[] = {1, 2, 3, 4}, nan[] = {1, NAN, 3, -INFINITY};
    static const struct {
        const char *name, *type;
        const float *data;
        uint64_t n;
        const char *why;
    } rows[] = {
        {"y", "f32", x, 4, "its result is 4 f32 of 'y', the base machine's 4 f32 of 'x'"},
        {"x", "i32", x, 4, "its result is 4 i32 of 'x', the base machine's 4 f32 of 'x'"},
        {"x", "f32", x, 3, "its result is 3 f32 of 'x', the base machine's 4 f32 of 'x'"},
        {"x", "f32", nan, 4, "2 of 4 values of 'x' are infinite or no numbers"},
        {NULL, NULL, NULL, 0, "it has 0 results, the base machine 1"},
    };
    for (size_t i = 0; i < LEN(rows); i++) {
        struct results right = {0}, got = {0};
        struct error e;
        struct str why = {0};
        add(&right, "x", "f32", x, 4);
        if (rows[i].name)
            add(&got, rows[i].name, rows[i].type, rows[i].data, rows[i].n);
        assert_false(error_of(&right, &got, &e, &why));
        assert_string_equal(str_text(&why), rows[i].why);
        str_free(&why);
        results_free(&right);
        results_free(&got);
    }
}

/* ---- exact or approximate ---- */

static json_t *report_of(bool approximate, const char *digest, int wrong) {
    json_t *r = json_pack("{s:[{s:s, s:s}], s:{s:i, s:s, s:{s:i}}}", "kernels", "name", "k", "digest", digest,
                          "totals", "cycles", 100, "digest", digest, "counters", "check.wrong", wrong);
    if (approximate)
        json_object_set_new(r, "approximate", json_true());
    return r;
}

static void put(struct table *t, uint32_t model, json_t *report, const char *results) {
    struct row *r = table_add(t, 0, model);
    r->status = ROW_OK;
    r->report = report;
    r->results = results ? xstrdup(results) : NULL;
}

/* A fabricated pair of runs that left other memory: an exact machine is wrong, of one that approximates the
 * error is told. */
static void exact_or_approximate(void **state) {
    (void)state;
    static const float x[] = {1, 2, 3, 4}, y[] = {1, 2, 3, 6};
    static const struct {
        bool approximate;
        const char *digest;
        int wrong;
        bool results;
        enum row_status status;
        const char *message;
    } rows[] = {
        {false, "aa", 0, false, ROW_OK, NULL},
        {false, "bb", 0, true, ROW_WRONG,
         "memory differs from the base machine's after launch 1 of 1, kernel k"},
        {false, "aa", 3, false, ROW_WRONG, "--check found 3 values or states that are wrong"},
        {true, "bb", 0, true, ROW_OK, NULL},
        {true, "aa", 0, true, ROW_OK, NULL},
        {true, "bb", 1, true, ROW_WRONG, "--check found 1 values or states that are wrong"},
        {true, "bb", 0, false, ROW_WRONG,
         "there are no results by which to measure the error of an approximation"},
    };
    struct results right = {0}, got = {0};
    struct str other = {0};
    str_printf(&other, "%s.got", path);
    add(&right, "x", "f32", x, 4);
    add(&got, "x", "f32", y, 4);
    assert_true(results_write(&right, path) && results_write(&got, other.at));
    for (size_t i = 0; i < LEN(rows); i++) {
        struct table t = {0};
        table_add_bench(&t, "bench");
        table_add_model(&t, "base");
        table_add_model(&t, "model");
        put(&t, 0, report_of(false, "aa", 0), path);
        put(&t, 1, report_of(rows[i].approximate, rows[i].digest, rows[i].wrong),
            rows[i].results ? other.at : NULL);
        table_check(&t);
        const struct row *r = table_row(&t, 0, 1);
        assert_int_equal(table_row(&t, 0, 0)->status, ROW_OK);
        assert_int_equal(r->status, rows[i].status);
        if (rows[i].message)
            assert_string_equal(r->message, rows[i].message);
        bool measured = rows[i].approximate && rows[i].status == ROW_OK;
        assert_int_equal(table_parts(&t), rows[i].approximate ? METRIC_PARTS : PART_ERROR);
        close_to(table_value(&t, r, "error.rmse_over_mean"), measured ? 0.4 : NAN);
        close_to(table_value(&t, r, "error.max"), measured ? 2 : NAN);
        close_to(table_value(&t, r, "error.mean_relative"), measured ? 0.125 : NAN);
        close_to(table_value(&t, r, "error.psnr"), measured ? 20 * log10(3) : NAN);
        close_to(metric_value(&t, r, metric_at(PART_ERROR, 0)), measured ? 40 : NAN);
        close_to(table_value(&t, table_row(&t, 0, 0), "error.max"), NAN);
        table_free(&t);
    }
    unlink(other.at);
    str_free(&other);
    results_free(&right);
    results_free(&got);
}

/* The lines a table of both kinds has. */
static void tables_show_errors(void **state) {
    (void)state;
    static const float x[] = {1, 2, 3, 4}, y[] = {1, 2, 3, 6};
    struct results right = {0}, got = {0};
    struct str other = {0}, csv = {0};
    struct table t = {0};
    str_printf(&other, "%s.got", path);
    add(&right, "x", "f32", x, 4);
    add(&got, "x", "f32", y, 4);
    assert_true(results_write(&right, path) && results_write(&got, other.at));
    table_add_bench(&t, "bench");
    for (uint32_t m = 0; m < 3; m++)
        table_add_model(&t, (const char *const[]){"base", "exact", "nearly"}[m]);
    put(&t, 0, report_of(false, "aa", 0), path);
    put(&t, 1, report_of(false, "aa", 0), NULL);
    put(&t, 2, report_of(true, "bb", 0), other.at);
    table_check(&t);
    char *text = NULL;
    size_t len;
    FILE *f = open_memstream(&text, &len);
    table_print(&t, f);
    fclose(f);
    const char *errors = strstr(text, "\nErrors of what only approximates");
    assert_non_null(errors);
    if (!strstr(errors,
                "\nworkload       mech   RMSE/mean max. error mean rel. error PSNR, dB values that differ\n"
                "bench          nearly       40%          2           12.5%    9.542                25%\n"))
        fail_msg("%s", text);
    assert_null(strstr(errors, "exact"));
    table_csv(&t, &csv);
    assert_non_null(
        strstr(str_text(&csv), ",rmse_over_mean,max_error,mean_relative_error,psnr,differing,digest\n"));
    assert_non_null(strstr(str_text(&csv), ",40,2,12.5,9.54242509439"));
    assert_non_null(strstr(str_text(&csv), ",25,bb\n"));
    json_t *all = table_json(&t), *row = json_array_get(json_object_get(all, "runs"), 2);
    close_to(json_real_value(json_object_get(json_object_get(row, "error"), "max")), 2);
    close_to(json_real_value(json_object_get(json_object_get(row, "metrics"), "mean_relative_error")), 12.5);
    json_decref(all);
    free(text);
    str_free(&csv);
    table_free(&t);
    unlink(other.at);
    str_free(&other);
    results_free(&right);
    results_free(&got);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_read_as_written),
        cmocka_unit_test(launches_have_errors_of_their_own),
        cmocka_unit_test(broken_files_are_refused),
        cmocka_unit_test(results_are_named_by_kernel_and_parameter),
        cmocka_unit_test(errors_by_hand),
        cmocka_unit_test(the_worst_result_counts),
        cmocka_unit_test(other_arrays_are_not_compared),
        cmocka_unit_test(exact_or_approximate),
        cmocka_unit_test(tables_show_errors),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
