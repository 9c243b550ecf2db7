/* Results of many runs: reading them, and asking for figures. */
#include "study/table.h"

#include <math.h>
#include <string.h>

#include "report/number.h"
#include "stats/formula.h"

void results_begin(struct results *r) {
    r->runs = xcalloc((size_t)r->workloads.len * r->models.len + 1, sizeof *r->runs);
}

struct run *results_run(const struct results *r, uint32_t w, uint32_t m) {
    return &r->runs[(size_t)w * r->models.len + m];
}

void results_free(struct results *r) {
    for (size_t i = 0; r->runs && i < (size_t)r->workloads.len * r->models.len; i++) {
        free(r->runs[i].message);
        json_decref(r->runs[i].report);
    }
    for (uint32_t i = 0; i < r->workloads.len; i++)
        free(r->workloads.at[i]);
    for (uint32_t i = 0; i < r->models.len; i++)
        free(r->models.at[i]);
    vec_free(&r->workloads);
    vec_free(&r->models);
    free(r->runs);
    *r = (struct results){0};
}

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

json_t *results_read(const char *path, struct str *error) {
    static const char *const run_keys[] = {"schema", "gpu", "mech", "settings", "kernels", "totals", NULL};
    static const char *const kernel_keys[] = {"name", "digest", NULL};
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
    return all;
}

/* ---- did it compute the same? ---- */

static const char *text_of(json_t *object, const char *key) {
    const char *s = json_string_value(json_object_get(object, key));
    return s ? s : "";
}

/* Says where the first difference is; false when there is none. */
static bool differs(const struct run *base, const struct run *run, struct str *what) {
    if (!strcmp(text_of(json_object_get(base->report, "totals"), "digest"),
                text_of(json_object_get(run->report, "totals"), "digest")))
        return false;
    json_t *ours = json_object_get(run->report, "kernels"),
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

void results_check(struct results *r) {
    for (uint32_t w = 0; w < r->workloads.len; w++)
        for (uint32_t m = 1; m < r->models.len; m++) {
            const struct run *base = results_run(r, w, 0);
            struct run *run = results_run(r, w, m);
            struct str what = {0};
            if (base->status == RUN_OK && run->status == RUN_OK && differs(base, run, &what)) {
                run->status = RUN_WRONG;
                run->message = xstrdup(str_text(&what));
            }
            str_free(&what);
        }
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

/* A figure of one report. */
static double figure(json_t *report, const char *name) {
    json_t *totals = json_object_get(report, "totals");
    if (*name == '$')
        return number_in(json_object_get(report, "settings"), name + 1);
    if (!strncmp(name, "energy.", 7))
        return number_in(json_object_get(totals, "energy"), name + 7);
    double v = number_in(totals, name);
    return isnan(v) ? number_in(json_object_get(totals, "counters"), name) : v;
}

static bool find_model(const struct results *r, const char *label, uint32_t *m) {
    if (!strcmp(label, "base")) {
        *m = 0;
        return true;
    }
    for (*m = 0; *m < r->models.len; ++*m)
        if (!strcmp(r->models.at[*m], label))
            return true;
    return false;
}

double results_value(const struct results *r, uint32_t w, uint32_t m, const char *name) {
    char text[128];
    snprintf(text, sizeof text, "%s", name);
    char *at = strchr(text, '@');
    if (at) {
        *at = 0;
        if (!find_model(r, at + 1, &m))
            return NAN;
    }
    for (uint32_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (!strcmp(text, names[i].name))
            return results_eval(r, w, m, names[i].formula);
    const struct run *run = results_run(r, w, m);
    return run->status == RUN_OK ? figure(run->report, text) : NAN;
}

struct place {
    const struct results *results;
    uint32_t w, m;
};

static bool name_value(void *ctx, const char *name, double *value) {
    const struct place *p = ctx;
    if (!number_function(name, name_value, ctx, value))
        *value = results_value(p->results, p->w, p->m, name);
    return true; /* what is missing is NAN, and so is all that follows from it */
}

double results_eval(const struct results *r, uint32_t w, uint32_t m, const char *formula) {
    struct place p = {r, w, m};
    double v;
    return formula_eval(formula, name_value, &p, &v) == FORMULA_OK && isfinite(v) ? v : NAN;
}

/* ---- metrics ---- */

static const struct metric metrics[] = {
#define METRIC(id, title, style, formula) {#id, title, formula, STYLE_##style},
#include "study/metrics.def"
};

const struct metric *metric_at(uint32_t i) {
    return i < sizeof metrics / sizeof metrics[0] ? &metrics[i] : NULL;
}

static double shown(const struct metric *metric, double v) {
    return metric->style == STYLE_SAVING ? 100 * (1 - v) : v;
}

static double raw_value(const struct results *r, uint32_t w, uint32_t m, const struct metric *metric) {
    return results_eval(r, w, m, metric->formula);
}

double metric_value(const struct results *r, uint32_t w, uint32_t m, const struct metric *metric) {
    return shown(metric, raw_value(r, w, m, metric));
}

double metric_mean(const struct results *r, uint32_t m, const struct metric *metric) {
    if (metric->style != STYLE_FACTOR && metric->style != STYLE_SAVING)
        return NAN;
    double *v = xcalloc(r->workloads.len + 1, sizeof *v);
    for (uint32_t w = 0; w < r->workloads.len; w++)
        v[w] = raw_value(r, w, m, metric);
    double mean = shown(metric, number_geomean(v, r->workloads.len));
    free(v);
    return mean;
}
