/* Whether the rows of a table computed what the base machine computed: an exact machine must leave its
 * memory, bit for bit; of one that approximates, the error of the results is measured. */
#include <math.h>
#include <string.h>

#include "study/error.h"
#include "study/table.h"

static const char *text_of(json_t *object, const char *key) {
    const char *s = json_string_value(json_object_get(object, key));
    return s ? s : "";
}

/* Says where the first difference in memory is; false when there is none. */
static bool differs(const struct row *base, const struct row *row, struct str *what) {
    if (!strcmp(text_of(json_object_get(base->report, "totals"), "digest"),
                text_of(json_object_get(row->report, "totals"), "digest")))
        return false;
    json_t *ours = json_object_get(row->report, "kernels"),
           *theirs = json_object_get(base->report, "kernels");
    size_t n = json_array_size(ours), all = json_array_size(theirs);
    for (size_t i = 0; i < n && i < all; i++) {
        json_t *a = json_array_get(ours, i), *b = json_array_get(theirs, i);
        if (strcmp(text_of(a, "digest"), text_of(b, "digest"))) {
            str_printf(what, "memory differs from the base machine's after launch %zu of %zu, kernel %s",
                       i + 1, n, text_of(a, "name"));
            return true;
        }
    }
    str_printf(what, "launches %zu kernels, the base machine %zu", n, all);
    return true;
}

/* Says what --check found in a run; false when that is nothing. */
static bool found_wrong(const struct row *row, struct str *what) {
    json_t *counters = json_object_get(json_object_get(row->report, "totals"), "counters");
    json_int_t n = json_integer_value(json_object_get(counters, "check.wrong"));
    if (n)
        str_printf(what, "--check found %lld values or states that are wrong", (long long)n);
    return n != 0;
}

static void add_number(json_t *to, const char *name, double v) {
    json_object_set_new(to, name, isfinite(v) ? json_real(v) : json_null());
}

json_t *table_error_json(const struct error *e) {
    json_t *error =
        json_pack("{s:I, s:I}", "values", (json_int_t)e->values, "differing", (json_int_t)e->differing);
    add_number(error, "rmse_over_mean", e->rmse_over_mean);
    add_number(error, "square", e->square);
    add_number(error, "within_01", e->within[0]);
    add_number(error, "within_1", e->within[1]);
    add_number(error, "within_10", e->within[2]);
    add_number(error, "max", e->max);
    add_number(error, "mean_relative", e->mean_relative);
    add_number(error, "psnr", e->psnr);
    return error;
}

json_t *table_launch_errors(const struct results *right, const struct results *got) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < got->launches.len; i++) {
        char *name;
        struct error e;
        struct str why = {0};
        uint64_t launch = strtoull(got->launches.at[i].name + 1, &name, 10);
        bool ok = error_of_launch(right, got, i, &e, &why);
        json_t *one = ok ? table_error_json(&e) : json_pack("{s:s}", "message", str_text(&why));
        json_object_set_new(one, "launch", json_integer((json_int_t)launch));
        json_object_set_new(one, "result", json_string(name + (*name == ' ')));
        json_array_append_new(list, one);
        str_free(&why);
    }
    return list;
}

/* Whether an error is within what the user allows. */
static bool is_near(const struct table *t, const struct error *e, struct str *why) {
    double percent = e->differing ? 100 * e->rmse_over_mean : 0;
    if (!t->max_error || percent <= t->max_error)
        return true;
    str_printf(why, "the error of the results, %.3g%% of their mean, is above --max-error %g", percent,
               t->max_error);
    return false;
}

/* Puts the error of a row's results into its report; false, with the reason, when it cannot be told. */
static bool measure(const struct table *t, const struct row *base, struct row *row, struct str *why) {
    struct results right = {0}, got = {0};
    struct error e;
    if (!base->results || !row->results) {
        str_printf(why, "there are no results by which to measure the error of an approximation");
        return false;
    }
    bool ok = results_read(&right, base->results, why) && results_read(&got, row->results, why) &&
              error_of(&right, &got, &e, why);
    json_t *launches = ok ? table_launch_errors(&right, &got) : NULL;
    results_free(&right);
    results_free(&got);
    if (!ok)
        return false;
    json_t *error = table_error_json(&e);
    json_t *report = json_copy(row->report); /* rows of one run may share theirs, and have other bases */
    json_object_set_new(report, "error", error);
    json_object_set_new(report, "launch_errors", launches);
    json_decref(row->report);
    row->report = report;
    return is_near(t, &e, why);
}

bool row_approximates(const struct row *r) {
    return json_is_true(json_object_get(r->report, "approximate"));
}

/* Whether a row that ended well is right; what is wrong goes to what. */
static bool is_right(const struct table *t, struct row *row, struct str *what) {
    const struct row *base = table_row(t, row->bench, t->models.at[row->model].base);
    if (found_wrong(row, what))
        return false;
    if (!base || base == row || base->status != ROW_OK)
        return true;
    return row_approximates(row) || t->models.at[row->model].approximate ? measure(t, base, row, what)
                                                                         : !differs(base, row, what);
}

void table_check(struct table *t) {
    for (uint32_t i = 0; i < t->rows.len; i++) {
        struct row *row = &t->rows.at[i];
        struct str what = {0};
        if (row->status == ROW_OK && !is_right(t, row, &what)) {
            row->status = ROW_WRONG;
            row->message = xstrdup(str_text(&what));
        }
        str_free(&what);
    }
}
