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

/* A line: what it is called, and whose first result it shows. */
struct line {
    const char *name;
    size_t len;
    struct results results;
};
struct lines {
    struct line *at;
    uint32_t len, cap;
};

/* The first value of the stretch in which lines are furthest from the first one, by the sum of squares. */
static uint64_t furthest(const struct lines *l) {
    const struct result *exact = &l->at[0].results.all.at[0];
    uint64_t best = 0;
    double most = -1;
    for (uint64_t from = 0; from + CURVE_VALUES <= exact->count; from += CURVE_VALUES) {
        double sum = 0;
        for (uint32_t k = 1; k < l->len; k++)
            for (uint64_t i = from; i < from + CURVE_VALUES; i++) {
                double d = result_value(&l->at[k].results.all.at[0], i) - result_value(exact, i);
                sum += isfinite(d) ? d * d : 0;
            }
        if (sum > most) {
            most = sum;
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

/* Reads the lines of those models that have run, of results as long as the first one's. */
static void read_lines(const struct figure *f, uint32_t bench, const char *text, struct lines *out) {
    for (size_t n; *text; text += n) {
        text += strspn(text, ", ");
        n = strcspn(text, ",");
        struct line l = {.name = text, .len = strcspn(text, "=")};
        if (read_results(f, bench, text + l.len + 1, n - l.len - 1, &l.results) &&
            (!out->len || l.results.all.at[0].count == out->at[0].results.all.at[0].count))
            vec_push(out, l);
        else
            results_free(&l.results);
    }
}

json_t *figure_curve(const struct figure *f, const char *text) {
    struct lines l = {0};
    uint32_t bench;
    size_t n = strcspn(text, ",");
    if (find_bench(f, text, n, &bench))
        read_lines(f, bench, text + n, &l);
    if (!l.len)
        return json_null();
    uint64_t from = furthest(&l);
    json_t *lines = json_array();
    for (uint32_t k = 0; k < l.len; k++) {
        json_array_append_new(lines, json_pack("{s:o, s:o}", "name", json_stringn(l.at[k].name, l.at[k].len),
                                               "values", values_of(&l.at[k].results.all.at[0], from)));
        results_free(&l.at[k].results);
    }
    vec_free(&l);
    return json_pack("{s:I, s:o}", "from", (json_int_t)from, "lines", lines);
}
