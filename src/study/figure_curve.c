/* Values that stand side by side in a benchmark's result, as several machines compute them. */
#include <math.h>
#include <string.h>

#include "report/results.h"
#include "study/figure.h"

/* Values of a curve: they divide the rows of the grids and images that workloads compute, so that all are of
 * one row. */
enum { CURVE_VALUES = 64 };

/* Reads the results of a benchmark on the model of that label; false when there are none of that length. */
static bool read_results(const struct figure *f, uint32_t bench, const char *label, size_t len,
                         struct results *out) {
    const struct table *t = f->table;
    struct str why = {0};
    uint32_t m = 0;
    while (m < t->models.len &&
           (strlen(t->models.at[m].label) != len || strncmp(t->models.at[m].label, label, len)))
        m++;
    const struct row *r = m < t->models.len ? table_row(t, bench, m) : NULL;
    bool ok = r && r->status == ROW_OK && r->results && results_read(out, r->results, &why) && out->all.len &&
              out->all.at[0].count >= CURVE_VALUES;
    str_free(&why);
    return ok;
}

/* The first value of the stretch in which values are furthest apart. */
static uint64_t steepest(const struct result *r) {
    uint64_t best = 0;
    double most = -1;
    for (uint64_t from = 0; from + CURVE_VALUES <= r->count; from += CURVE_VALUES) {
        double least = INFINITY, greatest = -INFINITY;
        for (uint64_t i = from; i < from + CURVE_VALUES; i++) {
            least = fmin(least, result_value(r, i));
            greatest = fmax(greatest, result_value(r, i));
        }
        if (greatest - least > most) {
            most = greatest - least;
            best = from;
        }
    }
    return best;
}

static json_t *values_of(const struct result *r, uint64_t from) {
    json_t *all = json_array();
    for (uint64_t i = from; i < from + CURVE_VALUES; i++) {
        double v = result_value(r, i);
        json_array_append_new(all, isfinite(v) ? json_real(v) : json_null());
    }
    return all;
}

static bool find_bench(const struct figure *f, const char *name, size_t len, uint32_t *bench) {
    char text[64];
    for (*bench = 0; *bench < f->table->benches.len; ++*bench)
        if (strlen(figure_bench(f, *bench, text, sizeof text)) == len && !strncmp(text, name, len))
            return true;
    return false;
}

json_t *figure_curve(const struct figure *f, const char *text) {
    uint32_t bench;
    size_t n = strcspn(text, ",");
    if (!find_bench(f, text, n, &bench))
        return json_null();
    uint64_t from = UINT64_MAX;
    json_t *lines = json_array();
    for (text += n; *text; text += n) {
        text += strspn(text, ", ");
        n = strcspn(text, ",");
        size_t name = strcspn(text, "=");
        struct results r = {0};
        if (read_results(f, bench, text + name + 1, n - name - 1, &r)) {
            if (from == UINT64_MAX)
                from = steepest(&r.all.at[0]);
            if (from + CURVE_VALUES <= r.all.at[0].count)
                json_array_append_new(lines, json_pack("{s:o, s:o}", "name", json_stringn(text, name),
                                                       "values", values_of(&r.all.at[0], from)));
        }
        results_free(&r);
    }
    if (json_array_size(lines))
        return json_pack("{s:I, s:o}", "from", (json_int_t)from, "lines", lines);
    json_decref(lines);
    return json_null();
}
