/* Figures of papers: their tables, and the values runs give. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/number.h"
#include "stats/formula.h"
#include "study/figure.h"

/* ---- the tables ---- */

#define MODEL(...)
#define FIGURE(...)
#define SERIES(...)
#define CLAIM(...)
#define UNABLE(...)

static const struct repro_model wir_models[] = {
#undef MODEL
#define MODEL(label, model) {label, model},
#include "study/papers/wir.def"
#undef MODEL
#define MODEL(...)
    {NULL, NULL},
};

enum { average_mean, average_geomean };
static const struct repro_figure wir_figures[] = {
#undef FIGURE
#define FIGURE(id, mean, title) {id, average_##mean, title},
#include "study/papers/wir.def"
#undef FIGURE
#define FIGURE(...)
    {NULL, false, NULL},
};

static const struct repro_series wir_series[] = {
#undef SERIES
#define SERIES(figure, column, model, formula) {figure, column, model, formula},
#include "study/papers/wir.def"
#undef SERIES
#define SERIES(...)
    {NULL, NULL, NULL, NULL},
};

static const struct repro_claim wir_claims[] = {
#undef CLAIM
#define CLAIM(figure, id, formula) {figure, id, formula},
#include "study/papers/wir.def"
#undef CLAIM
#define CLAIM(...)
    {NULL, NULL, NULL},
};

static const struct repro_unable wir_unable[] = {
#undef UNABLE
#define UNABLE(id, reason) {id, reason},
#include "study/papers/wir.def"
    {NULL, NULL},
};

const struct repro_paper repro_papers[] = {
    {"wir", "WIR: warp instruction reuse (Kim and Ro, HPCA 2018)", "wir", "wir34", 32, wir_models,
     wir_figures, wir_series, wir_claims, wir_unable},
};
const uint32_t repro_paper_count = sizeof repro_papers / sizeof repro_papers[0];

/* ---- values ---- */

void repro_fill(struct repro_data *d, const struct repro_paper *p, const struct repro_figure *f,
                const struct results *r) {
    *d = (struct repro_data){.paper = p, .figure = f, .results = r};
    for (const struct repro_series *s = p->series; s->figure; s++) {
        if (strcmp(s->figure, f->id))
            continue;
        struct repro_column c = {.series = s, .values = xcalloc(r->workloads.len + 1, sizeof *c.values)};
        uint32_t m = 0;
        while (m < r->models.len && strcmp(r->models.at[m], s->model))
            m++;
        for (uint32_t w = 0; w < r->workloads.len; w++)
            c.values[w] = m < r->models.len ? results_eval(r, w, m, s->formula) : NAN;
        vec_push(&d->columns, c);
    }
}

void repro_data_free(struct repro_data *d) {
    for (uint32_t i = 0; i < d->columns.len; i++)
        free(d->columns.at[i].values);
    vec_free(&d->columns);
}

double repro_average(const struct repro_data *d, uint32_t column) {
    const double *v = d->columns.at[column].values;
    uint32_t n = d->results->workloads.len;
    return d->figure->geometric ? number_geomean(v, n) : number_mean(v, n);
}

const char *repro_benchmark(const struct repro_data *d, uint32_t w, char *out, size_t size) {
    const struct workload *workload = workload_find(d->results->workloads.at[w]);
    if (workload)
        workload_abbreviation(workload, d->paper->name, out, size);
    if (!workload || !*out)
        snprintf(out, size, "%s", d->results->workloads.at[w]);
    return out;
}

/* ---- claims ---- */

/* Means over the first and the second half: the paper orders its benchmarks. */
static double top(const double *v, uint32_t n) {
    return number_mean(v, n / 2);
}

static double bottom(const double *v, uint32_t n) {
    return number_mean(v + n / 2, n - n / 2);
}

static const struct {
    const char *name;
    double (*compute)(const double *v, uint32_t n);
} functions[] = {
    {"mean", number_mean}, {"geomean", number_geomean}, {"median", number_median},
    {"min", number_min},   {"max", number_max},         {"top", top},
    {"bottom", bottom},
};

static const double *column_called(const struct repro_data *d, const char *name) {
    for (uint32_t i = 0; i < d->columns.len; i++)
        if (!strcmp(d->columns.at[i].series->column, name))
            return d->columns.at[i].values;
    return NULL;
}

/* at(BENCHMARK, COLUMN) */
static double value_at(const struct repro_data *d, char *argument) {
    char *comma = strchr(argument, ','), text[64];
    if (!comma)
        return NAN;
    *comma = 0;
    const double *v = column_called(d, comma + 1 + strspn(comma + 1, " "));
    for (uint32_t w = 0; v && w < d->results->workloads.len; w++)
        if (!strcmp(repro_benchmark(d, w, text, sizeof text), argument))
            return v[w];
    return NAN;
}

/* last(COLUMNS): the number in the name of the last column whose average is 1 or more; 0 when none is. */
static double last_above_one(const struct repro_data *d, const char *prefix) {
    double last = NAN;
    for (uint32_t i = 0; i < d->columns.len; i++) {
        const char *name = d->columns.at[i].series->column;
        double v = repro_average(d, i);
        if (strncmp(name, prefix, strlen(prefix)) || isnan(v))
            continue;
        last = v >= 1 ? atof(name + strlen(prefix)) : isnan(last) ? 0 : last;
    }
    return last;
}

static double call(const struct repro_data *d, const char *function, char *argument) {
    if (!strcmp(function, "at"))
        return value_at(d, argument);
    if (!strcmp(function, "last"))
        return last_above_one(d, argument);
    const double *v = column_called(d, argument);
    for (size_t i = 0; v && i < sizeof functions / sizeof functions[0]; i++)
        if (!strcmp(functions[i].name, function))
            return functions[i].compute(v, d->results->workloads.len);
    return NAN;
}

static bool lookup(void *ctx, const char *name, double *value) {
    const struct repro_data *d = ctx;
    if (number_function(name, lookup, ctx, value))
        return true;
    char *text = xstrdup(name), *open = strchr(text, '(');
    *value = NAN;
    if (open) {
        *open = 0;
        open[strlen(open + 1)] = 0; /* the closing parenthesis */
        *value = call(d, text, open + 1);
    }
    for (uint32_t w = 0; *name == '$' && isnan(*value) && w < d->results->workloads.len; w++)
        *value = results_value(d->results, w, 0, name); /* parameters are the same in all runs */
    free(text);
    return true;
}

double repro_value(const struct repro_data *d, const char *formula, const char *star) {
    struct str text = {0};
    double v;
    const char *at = *star ? strchr(formula, '*') : NULL;
    if (at)
        str_printf(&text, "%.*s%s%s", (int)(at - formula), formula, star, at + 1);
    else
        str_printf(&text, "%s", formula);
    bool ok = formula_eval(str_text(&text), lookup, (void *)d, &v) == FORMULA_OK && isfinite(v);
    str_free(&text);
    return ok ? v : NAN;
}

/* Whether a row of a table of claims means this one; *star is then what * stands for. */
static bool means(const char *pattern, const char *id, const char **star) {
    size_t n = strcspn(pattern, "*");
    *star = pattern[n] ? id + n : "";
    return pattern[n] ? strlen(id) > n && !strncmp(pattern, id, n) : !strcmp(pattern, id);
}

void repro_compare(const struct repro_data *d, const struct claims *c, struct repro_rows *out) {
    for (const struct repro_claim *r = d->paper->claims; r->figure; r++) {
        struct claim claim;
        const char *star;
        for (uint32_t i = 0; !strcmp(r->figure, d->figure->id) && claim_at(c, i, &claim); i++)
            if (means(r->id, claim.id, &star)) {
                struct repro_row row = {.claim = claim,
                                        .figure = d->figure->id,
                                        .explanation = claim_explanation(c, claim.id),
                                        .ours = repro_value(d, r->formula, star)};
                vec_push(out, row);
            }
    }
}
