/* Figures of papers: the values runs give, and what claims are compared with. */
#include "study/figure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/number.h"
#include "stats/formula.h"

/* ---- values ---- */

void figure_fill(struct figure *f, const struct paper *p, const struct paper_row *row,
                 const struct table *t) {
    *f = (struct figure){.paper = *p, .row = row, .table = t};
    const struct paper_row *s = NULL;
    while ((s = paper_next(p, s, PAPER_SERIES))) {
        if (strcmp(s->figure, row->figure))
            continue;
        struct figure_column c = {.series = s, .values = xcalloc(t->benches.len + 1, sizeof *c.values)};
        uint32_t m = 0;
        while (m < t->models.len && strcmp(t->models.at[m].label, s->model))
            m++;
        for (uint32_t b = 0; b < t->benches.len; b++)
            c.values[b] = table_eval(t, table_row(t, b, m), s->text);
        vec_push(&f->columns, c);
    }
}

void figure_free(struct figure *f) {
    for (uint32_t i = 0; i < f->columns.len; i++)
        free(f->columns.at[i].values);
    vec_free(&f->columns);
}

const char *figure_bench(const struct figure *f, uint32_t bench, char *out, size_t size) {
    const struct bench *b = &f->table->benches.at[bench];
    *out = 0;
    if (b->workload)
        workload_abbreviation(b->workload, f->paper.head->name, out, size);
    if (!*out)
        snprintf(out, size, "%s", b->label);
    return out;
}

/* Whether a list of words has one. */
static bool has_word(const char *list, const char *word) {
    size_t n = strlen(word);
    for (const char *p = list; *p; p += strcspn(p, " "), p += strspn(p, " "))
        if (strcspn(p, " ") == n && !strncmp(p, word, n))
            return true;
    return false;
}

typedef double aggregate(const double *v, uint32_t n);

/* What a column's values come to: all of them, or, with a group, those of its benchmarks. */
static double aggregate_of(const struct figure *f, const double *v, const struct paper_row *group,
                           aggregate *compute) {
    uint32_t n = 0, all = f->table->benches.len;
    double *some = xcalloc(all + 1, sizeof *some);
    char text[64];
    for (uint32_t b = 0; b < all; b++)
        if (!group || has_word(group->text, figure_bench(f, b, text, sizeof text)))
            some[n++] = v[b];
    double result = compute(some, n);
    free(some);
    return result;
}

double figure_average(const struct figure *f, uint32_t column, const struct paper_row *group) {
    return aggregate_of(f, f->columns.at[column].values, group,
                        f->row->geometric ? number_geomean : number_mean);
}

/* ---- claims ---- */

/* Means over the first and the second half of what is in order. */
static double top(const double *v, uint32_t n) {
    return number_mean(v, n / 2);
}

static double bottom(const double *v, uint32_t n) {
    return number_mean(v + n / 2, n - n / 2);
}

static const struct {
    const char *name;
    aggregate *compute;
} functions[] = {
    {"mean", number_mean}, {"geomean", number_geomean}, {"median", number_median},
    {"min", number_min},   {"max", number_max},
};

static const double *column_called(const struct figure *f, const char *name) {
    for (uint32_t i = 0; i < f->columns.len; i++)
        if (!strcmp(f->columns.at[i].series->name, name))
            return f->columns.at[i].values;
    return NULL;
}

static const struct paper_row *group_called(const struct figure *f, const char *name) {
    const struct paper_row *g = NULL;
    while ((g = paper_next(&f->paper, g, PAPER_GROUP)) && strcmp(g->name, name))
        ;
    return g;
}

/* Values in the order in which those of another column fall; equal ones keep theirs. Without a value there,
 * last. */
static double *ordered(const double *v, const double *by, uint32_t n) {
    double *sorted = xcalloc(n + 1, sizeof *sorted), *keys = xcalloc(n + 1, sizeof *keys);
    for (uint32_t b = 0; b < n; b++) {
        double key = isnan(by[b]) ? -INFINITY : by[b];
        uint32_t at = b;
        for (; at && keys[at - 1] < key; at--) {
            keys[at] = keys[at - 1];
            sorted[at] = sorted[at - 1];
        }
        keys[at] = key;
        sorted[at] = v[b];
    }
    free(keys);
    return sorted;
}

/* Cuts "A, B" in two; B, or NULL when there is no comma. */
static char *second(char *arguments) {
    char *comma = strchr(arguments, ',');
    if (!comma)
        return NULL;
    *comma = 0;
    return comma + 1 + strspn(comma + 1, " ");
}

/* at(BENCHMARK, COLUMN) */
static double value_at(const struct figure *f, const char *bench, const char *column) {
    char text[64];
    const double *v = column ? column_called(f, column) : NULL;
    for (uint32_t b = 0; v && b < f->table->benches.len; b++)
        if (!strcmp(figure_bench(f, b, text, sizeof text), bench))
            return v[b];
    return NAN;
}

/* last(COLUMNS): the number in the name of the last column whose average is 1 or more; 0 when none is. */
static double last_above_one(const struct figure *f, const char *prefix) {
    double last = NAN;
    for (uint32_t i = 0; i < f->columns.len; i++) {
        const char *name = f->columns.at[i].series->name;
        double v = figure_average(f, i, NULL);
        if (strncmp(name, prefix, strlen(prefix)) || isnan(v))
            continue;
        last = v >= 1 ? atof(name + strlen(prefix)) : isnan(last) ? 0 : last;
    }
    return last;
}

/* top(COLUMN, ORDER), bottom(COLUMN, ORDER) */
static double half_by(const struct figure *f, aggregate *half, const char *column, const char *order) {
    const double *v = column_called(f, column), *by = order ? column_called(f, order) : NULL;
    if (!v || !by)
        return NAN;
    double *sorted = ordered(v, by, f->table->benches.len), result = half(sorted, f->table->benches.len);
    free(sorted);
    return result;
}

static double call(const struct figure *f, const char *function, char *arguments) {
    char *more = second(arguments);
    if (!strcmp(function, "at"))
        return value_at(f, arguments, more);
    if (!strcmp(function, "last"))
        return last_above_one(f, arguments);
    if (!strcmp(function, "top") || !strcmp(function, "bottom"))
        return half_by(f, *function == 't' ? top : bottom, arguments, more);
    const double *v = column_called(f, arguments);
    const struct paper_row *group = more ? group_called(f, more) : NULL;
    for (size_t i = 0; v && !group == !more && i < sizeof functions / sizeof functions[0]; i++)
        if (!strcmp(functions[i].name, function))
            return aggregate_of(f, v, group, functions[i].compute);
    return NAN;
}

static bool lookup(void *ctx, const char *name, double *value) {
    const struct figure *f = ctx;
    if (number_function(name, lookup, ctx, value))
        return true;
    char *text = xstrdup(name), *open = strchr(text, '(');
    *value = NAN;
    if (open) {
        *open = 0;
        open[strlen(open + 1)] = 0; /* the closing parenthesis */
        *value = call(f, text, open + 1);
    }
    for (uint32_t i = 0; *name == '$' && isnan(*value) && i < f->table->rows.len; i++)
        if (table_is_base(f->table, &f->table->rows.at[i])) /* parameters are the same on all benchmarks */
            *value = table_value(f->table, &f->table->rows.at[i], name);
    free(text);
    return true;
}

/* A formula in which the first * is replaced, unless star is empty. */
static char *replace_star(const char *formula, const char *star) {
    struct str text = {0};
    const char *at = *star ? strchr(formula, '*') : NULL;
    if (at)
        str_printf(&text, "%.*s%s%s", (int)(at - formula), formula, star, at + 1);
    else
        str_printf(&text, "%s", formula);
    return text.at;
}

double figure_value(const struct figure *f, const char *formula, const char *star) {
    char *text = replace_star(formula, star);
    double v;
    bool ok = formula_eval(text, lookup, (void *)f, &v) == FORMULA_OK && isfinite(v);
    free(text);
    return ok ? v : NAN;
}

/* Whether a row of a table of claims means this one; *star is then what * stands for. */
static bool means(const char *pattern, const char *id, const char **star) {
    size_t n = strcspn(pattern, "*");
    *star = pattern[n] ? id + n : "";
    return pattern[n] ? strlen(id) > n && !strncmp(pattern, id, n) : !strcmp(pattern, id);
}

/* Whether a formula is of one benchmark, and not of many. */
static bool of_one(const char *formula) {
    return !strncmp(formula, "at(", 3) || strstr(formula, "(at(");
}

enum verdict figure_verdict(const struct claim_row *r) {
    enum verdict v = claim_verdict(&r->claim, r->ours);
    return v != VERDICT_NONE && r->part ? VERDICT_PART : v;
}

void figure_claims(const struct figure *f, const struct claims *c, enum figure_cover cover,
                   struct claim_rows *out) {
    const struct paper_row *r = NULL;
    while ((r = paper_next(&f->paper, r, PAPER_CLAIM))) {
        struct claim claim;
        const char *star;
        for (uint32_t i = 0; !strcmp(r->figure, f->row->figure) && claim_at(c, i, &claim); i++)
            if (means(r->name, claim.id, &star)) {
                struct claim_row row = {.claim = claim,
                                        .figure = f->row->figure,
                                        .explanation = claim_explanation(c, claim.id),
                                        .formula = replace_star(r->text, star),
                                        .ours = figure_value(f, r->text, star)};
                row.part = f->columns.len &&
                           (cover == FIGURE_OTHER_SIZE || (cover == FIGURE_SUBSET && !of_one(r->text)));
                vec_push(out, row);
            }
    }
}

void claim_rows_free(struct claim_rows *rows) {
    for (uint32_t i = 0; i < rows->len; i++)
        free(rows->at[i].formula);
    vec_free(rows);
}
