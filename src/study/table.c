/* Rows by key: adding them, reading reports, and asking for figures. */
#include "study/table.h"

#include <math.h>
#include <string.h>

#include "report/number.h"
#include "stats/formula.h"

/* ---- rows ---- */

uint32_t table_add_bench(struct table *t, const char *label) {
    for (uint32_t i = 0; i < t->benches.len; i++)
        if (!strcmp(t->benches.at[i].label, label))
            return i;
    struct bench b = {.label = xstrdup(label), .size = SIZES};
    vec_push(&t->benches, b);
    return t->benches.len - 1;
}

uint32_t table_add_model(struct table *t, const char *label) {
    for (uint32_t i = 0; i < t->models.len; i++)
        if (!strcmp(t->models.at[i].label, label))
            return i;
    struct model m = {.label = xstrdup(label)};
    vec_push(&t->models, m);
    return t->models.len - 1;
}

static uint64_t pair(uint32_t bench, uint32_t model) {
    return (uint64_t)bench << 32 | model;
}

struct row *table_row(const struct table *t, uint32_t bench, uint32_t model) {
    uintptr_t found =
        (uintptr_t)map_get_u64(&t->index, pair(bench, model)); /* a number from 1, as rows move */
    return found ? &t->rows.at[found - 1] : NULL;
}

struct row *table_add(struct table *t, uint32_t bench, uint32_t model) {
    struct row *there = table_row(t, bench, model);
    if (there)
        return there;
    struct row r = {.bench = bench, .model = model};
    vec_push(&t->rows, r);
    map_set_u64(&t->index, pair(bench, model), (void *)(uintptr_t)t->rows.len);
    return &t->rows.at[t->rows.len - 1];
}

bool table_is_base(const struct table *t, const struct row *r) {
    return t->models.at[r->model].base == r->model;
}

static void free_bench(struct bench *b) {
    for (uint32_t i = 0; i < b->arguments.len; i++)
        free(b->arguments.at[i]);
    vec_free(&b->arguments);
    vec_free(&b->results);
    free(b->label);
}

static void free_model(struct model *m) {
    for (uint32_t i = 0; i < m->set.len; i++)
        free(m->set.at[i]);
    vec_free(&m->set);
    str_free(&m->probes);
    free(m->label);
    free(m->gpu);
    free(m->cpu);
    free(m->mech);
}

void table_free(struct table *t) {
    for (uint32_t i = 0; i < t->rows.len; i++) {
        free(t->rows.at[i].message);
        free(t->rows.at[i].results);
        json_decref(t->rows.at[i].report);
    }
    for (uint32_t i = 0; i < t->benches.len; i++)
        free_bench(&t->benches.at[i]);
    for (uint32_t i = 0; i < t->models.len; i++)
        free_model(&t->models.at[i]);
    vec_free(&t->rows);
    vec_free(&t->benches);
    vec_free(&t->models);
    map_free(&t->index);
    *t = (struct table){0};
}

/* ---- reports ---- */

/* Removes all keys but those in kept. */
static void reduce(json_t *object, const char *const *kept) {
    const char *key;
    json_t *value;
    void *next;
    json_object_foreach_safe(object, next, key, value) {
        const char *const *k = kept;
        while (*k && strcmp(*k, key))
            k++;
        if (!*k)
            json_object_del(object, key);
    }
}

json_t *table_read_report(const char *path, struct str *error) {
    static const char *const run_keys[] = {"schema",  "gpu",      "cpu",    "mech", "approximate", "settings",
                                           "kernels", "programs", "totals", "host", "units",       NULL};
    static const char *const kernel_keys[] = {
        "name",         "demangled",        "grid",        "block",  "timed", "warp_insts", "insts",
        "thread_insts", "timed_warp_insts", "timed_insts", "cycles", "ipc",   "counters",   "energy",
        "gpuwattch",    "derived",          "digest",      NULL};
    json_error_t e;
    json_t *all = json_load_file(path, 0, &e), *kernel;
    size_t i;
    if (!all) {
        str_printf(error, "no report: %s", e.text);
        return NULL;
    }
    if (!json_is_object(json_object_get(json_object_get(all, "totals"), "counters"))) {
        str_printf(error, "the report has no totals");
        json_decref(all);
        return NULL;
    }
    reduce(all, run_keys);
    json_array_foreach(json_object_get(all, "kernels"), i, kernel) reduce(kernel, kernel_keys);
    json_array_foreach(json_object_get(all, "programs"), i, kernel) reduce(kernel, kernel_keys);
    return all;
}

/* ---- figures ---- */

static const struct {
    const char *name, *formula;
} names[] = {
#define NAME(name, formula) {#name, formula},
#include "study/metrics.def"
};

static double number_in(json_t *object, const char *key) {
    json_t *v = json_object_get(object, key);
    return json_is_number(v) ? json_number_value(v) : NAN;
}

/* Names of what stands in an object of its own. */
static bool in_object(json_t *from, const char *object, const char *name, double *value) {
    size_t n = strlen(object);
    if (strncmp(name, object, n) || name[n] != '.')
        return false;
    *value = number_in(json_object_get(from, object), name + n + 1);
    return true;
}

/* A figure of one report. */
static double figure(json_t *report, const char *name) {
    json_t *totals = json_object_get(report, "totals");
    if (*name == '$')
        return number_in(json_object_get(report, "settings"), name + 1);
    double v;
    if (in_object(totals, "energy", name, &v) || in_object(totals, "gpuwattch", name, &v) ||
        in_object(report, "error", name, &v))
        return v;
    v = number_in(totals, name);
    return isnan(v) ? number_in(json_object_get(totals, "counters"), name) : v;
}

/* The row of the same benchmark that "@label" means. */
static const struct row *row_of_model(const struct table *t, const struct row *r, const char *label) {
    if (!strcmp(label, "base"))
        return table_row(t, r->bench, t->models.at[r->model].base);
    for (uint32_t m = 0; m < t->models.len; m++)
        if (!strcmp(t->models.at[m].label, label))
            return table_row(t, r->bench, m);
    return NULL;
}

double table_value(const struct table *t, const struct row *r, const char *name) {
    char text[128];
    snprintf(text, sizeof text, "%s", name);
    char *at = strchr(text, '@');
    if (at) {
        *at = 0;
        r = r ? row_of_model(t, r, at + 1) : NULL;
    }
    for (uint32_t i = 0; r && i < sizeof names / sizeof names[0]; i++)
        if (!strcmp(text, names[i].name))
            return table_eval(t, r, names[i].formula);
    return r && r->status == ROW_OK ? figure(r->report, text) : NAN;
}

struct place {
    const struct table *table;
    const struct row *row;
};

static bool name_value(void *ctx, const char *name, double *value) {
    const struct place *p = ctx;
    if (!number_function(name, name_value, ctx, value))
        *value = table_value(p->table, p->row, name);
    return true; /* what is missing is NAN, and so is all that follows from it */
}

double table_eval(const struct table *t, const struct row *r, const char *formula) {
    struct place p = {t, r};
    double v;
    return formula_eval(formula, name_value, &p, &v) == FORMULA_OK && isfinite(v) ? v : NAN;
}

/* ---- metrics ---- */

static const struct metric metrics[] = {
#define METRIC(id, title, style, formula) {#id, title, formula, STYLE_##style},
#include "study/metrics.def"
};
static const struct metric energies[] = {
#define PART(id, title, style, formula) {#id, title, formula, STYLE_##style},
#include "study/metrics.def"
};
static const struct metric errors[] = {
#define ERROR(id, title, style, formula) {#id, title, formula, STYLE_##style},
#include "study/metrics.def"
};
static const struct {
    const struct metric *at;
    uint32_t len;
} parts[METRIC_PARTS] = {[PART_MACHINE] = {metrics, sizeof metrics / sizeof metrics[0]},
                         [PART_ENERGY] = {energies, sizeof energies / sizeof energies[0]},
                         [PART_ERROR] = {errors, sizeof errors / sizeof errors[0]}};

const struct metric *metric_at(enum metric_part part, uint32_t i) {
    return i < parts[part].len ? &parts[part].at[i] : NULL;
}

enum metric_part table_parts(const struct table *t) {
    for (uint32_t i = 0; i < t->rows.len; i++)
        if (row_approximates(&t->rows.at[i]))
            return METRIC_PARTS;
    return PART_ERROR;
}

bool metric_has_mean(const struct metric *metric) {
    return metric->style == STYLE_FACTOR || metric->style == STYLE_SAVING;
}

static double shown(const struct metric *metric, double v) {
    return metric->style == STYLE_SAVING ? 100 * (1 - v) : v;
}

double metric_value(const struct table *t, const struct row *r, const struct metric *metric) {
    return shown(metric, table_eval(t, r, metric->formula));
}

double metric_mean(const struct table *t, uint32_t model, const struct metric *metric) {
    if (!metric_has_mean(metric))
        return NAN;
    double *v = xcalloc(t->rows.len + 1, sizeof *v);
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->rows.len; i++)
        if (t->rows.at[i].model == model)
            v[n++] = table_eval(t, &t->rows.at[i], metric->formula);
    double mean = shown(metric, number_geomean(v, n));
    free(v);
    return mean;
}
