/* Figures of papers: their tables hang together, every claim is accounted for, and averages by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "stats/formula.h"
#include "study/figure.h"

static void close_to(double got, double wanted) {
    if (isnan(wanted) ? !isnan(got) : !(fabs(got - wanted) <= 1e-12 * fabs(wanted)))
        fail_msg("%.17g instead of %.17g", got, wanted);
}

static bool anything(void *ctx, const char *name, double *value) {
    (void)ctx;
    (void)name;
    *value = 2;
    return true;
}

static void is_formula(const char *text) {
    double v;
    if (formula_eval(text, anything, NULL, &v) == FORMULA_BAD_SYNTAX)
        fail_msg("'%s' is no formula", text);
}

static bool has_figure(const struct repro_paper *p, const char *id) {
    const struct repro_figure *f = p->figures;
    while (f->id && strcmp(f->id, id))
        f++;
    return f->id != NULL;
}

static bool has_model(const struct repro_paper *p, const char *label, size_t len) {
    const struct repro_model *m = p->models;
    while (m->label && (strlen(m->label) != len || strncmp(m->label, label, len)))
        m++;
    return m->label != NULL;
}

static bool has_column(const struct repro_paper *p, const char *figure, const char *column, size_t len) {
    for (const struct repro_series *s = p->series; s->figure; s++)
        if (!strcmp(s->figure, figure) && !strncmp(s->column, column, len) && !s->column[len])
            return true;
    return false;
}

/* The columns a claim's formula names are there. */
static void check_columns(const struct repro_paper *p, const struct repro_claim *c) {
    static const char *const functions[] = {"mean(", "geomean(", "median(", "max(",
                                            "min(",  "top(",     "bottom("};
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        for (const char *at = strstr(c->formula, functions[i]); at; at = strstr(at + 1, functions[i])) {
            const char *name = at + strlen(functions[i]);
            if (!has_column(p, c->figure, name, strcspn(name, ")")))
                fail_msg("%s: figure %s has no such column: %s", c->id, c->figure, name);
        }
    const char *at = strstr(c->formula, "at(");
    if (at) {
        const char *name = strchr(at, ',') + 2;
        assert_true(has_column(p, c->figure, name, strcspn(name, ")")));
    }
}

static void tables_hang_together(void **state) {
    (void)state;
    for (uint32_t i = 0; i < repro_paper_count; i++) {
        const struct repro_paper *p = &repro_papers[i];
        for (const struct repro_series *s = p->series; s->figure; s++) {
            is_formula(s->formula);
            assert_true(has_figure(p, s->figure));
            assert_true(has_model(p, s->model, strlen(s->model)));
            for (const char *at = strchr(s->formula, '@'); at; at = strchr(at + 1, '@'))
                assert_true(has_model(p, at + 1, strcspn(at + 1, " ()*/")));
            for (const struct repro_series *t = s + 1; t->figure; t++)
                if (!strcmp(s->figure, t->figure) && !strcmp(s->column, t->column))
                    fail_msg("figure %s has two columns %s", s->figure, s->column);
        }
        for (const struct repro_claim *c = p->claims; c->figure; c++) {
            is_formula(c->formula);
            assert_true(has_figure(p, c->figure));
            check_columns(p, c);
        }
    }
}

static void read_csv(const char *name, struct csv *out) {
    char path[4096];
    static char text[1 << 20];
    snprintf(path, sizeof path, "%s/data/%s", SOURCE_DIR, name);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t n = fread(text, 1, sizeof text, f);
    fclose(f);
    assert_true(n < sizeof text && csv_parse(out, text, n));
}

/* How often the tables of a paper speak of a claim. */
static int mentions(const struct repro_paper *p, const char *id) {
    int n = 0;
    for (const struct repro_claim *c = p->claims; c->figure; c++) {
        size_t len = strcspn(c->id, "*");
        n += c->id[len] ? !strncmp(c->id, id, len) : !strcmp(c->id, id);
    }
    for (const struct repro_unable *u = p->unable; u->id; u++)
        n += !strcmp(u->id, id);
    return n;
}

static void every_claim_is_accounted_for_once(void **state) {
    (void)state;
    struct claims claims = {0};
    struct claim c;
    read_csv("claims.csv", &claims.table);
    read_csv("explanations.csv", &claims.explanations);
    for (uint32_t i = 0; i < repro_paper_count; i++) {
        char prefix[32];
        uint32_t found = 0, wanted = 0;
        snprintf(prefix, sizeof prefix, "%s.", repro_papers[i].name);
        for (uint32_t k = 0; claim_at(&claims, k, &c); k++) {
            if (strncmp(c.id, prefix, strlen(prefix)))
                continue;
            wanted++;
            found += mentions(&repro_papers[i], c.id) == 1;
            if (mentions(&repro_papers[i], c.id) != 1)
                print_message("%s: %d rows\n", c.id, mentions(&repro_papers[i], c.id));
        }
        assert_true(wanted > 0);
        assert_int_equal(found, wanted);
    }
    for (uint32_t i = 1; i < claims.explanations.rows.len; i++) { /* explanations are of claims */
        const char *id = csv_get(&claims.explanations, i, "claim");
        uint32_t k = 0;
        while (claim_at(&claims, k, &c) && strcmp(c.id, id))
            k++;
        if (!claim_at(&claims, k, &c))
            fail_msg("an explanation of %s, which is no claim", id);
    }
    claims_free(&claims);
}

static json_t *run_of(int cycles) {
    return json_pack("{s:{s:i}, s:{s:i, s:{}}}", "settings", "sm.warps", 48, "totals", "cycles", cycles,
                     "counters");
}

/* Four benchmarks on two machines; speedups 2, 4, 0.5 and 1. */
static void averages_by_hand(void **state) {
    (void)state;
    static const char *const names[] = {"SobelFilter", "b+tree", "gaussian", "nobody's"};
    static const int base[] = {200, 400, 100, 300}, fast[] = {100, 100, 200, 300};
    static const struct repro_figure figure = {"f", true, "a figure"};
    static const struct repro_series series[] = {
        {"f", "D1", "fast", "cycles@Base / cycles"},
        {"f", "D2 slower", "fast", "cycles / cycles@Base"},
        {"g", "other", "fast", "cycles"},
        {NULL, NULL, NULL, NULL},
    };
    const struct repro_paper paper = {.name = "wir", .series = series};
    struct results r = {0};
    for (int i = 0; i < 4; i++)
        vec_push(&r.workloads, xstrdup(names[i]));
    vec_push(&r.models, xstrdup("Base"));
    vec_push(&r.models, xstrdup("fast"));
    results_begin(&r);
    for (uint32_t w = 0; w < 4; w++) {
        *results_run(&r, w, 0) = (struct run){.status = RUN_OK, .report = run_of(base[w])};
        *results_run(&r, w, 1) = (struct run){.status = RUN_OK, .report = run_of(fast[w])};
    }
    struct repro_data d;
    repro_fill(&d, &paper, &figure, &r);
    assert_int_equal(d.columns.len, 2);
    close_to(repro_average(&d, 0), sqrt(2));
    static const struct {
        const char *formula, *star;
        double value;
    } rows[] = {
        {"mean(D1)", "", 7.5 / 4},
        {"geomean(D1)", "", M_SQRT2},
        {"median(D1)", "", 1.5},
        {"min(D1)", "", 0.5},
        {"max(D1)", "", 4},
        {"top(D1)", "", 3},
        {"bottom(D1)", "", 0.75},
        {"100 * (at(BT, D1) - 1)", "", 300},
        {"at(*, D1)", "GA", 0.5},
        {"at(nobody's, D1)", "", 1},
        {"at(XX, D1)", "", NAN},
        {"mean(none)", "", NAN},
        {"mean(D1) - mean(D2 slower)", "", 7.5 / 4 - 3.75 / 4},
        {"last(D)", "", 1},  /* D2's average is below 1 */
        {"last(D2)", "", 0}, /* none is above */
        {"last(E)", "", NAN},
        {"log2($sm.warps / 3)", "", 4},
        {"$nothing", "", NAN},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        close_to(repro_value(&d, rows[i].formula, rows[i].star), rows[i].value);
    repro_data_free(&d);
    results_free(&r);
}

static void verdicts(void **state) {
    (void)state;
    static const struct {
        double claim, ours;
        const char *note;
        enum verdict verdict;
    } rows[] = {
        {18, 12, "", VERDICT_AGREES},
        {18, 11.9, "", VERDICT_DIFFERS},
        {18, 24.1, "", VERDICT_DIFFERS},
        {2, 0.1, "qual: <", VERDICT_HOLDS},
        {2, 2.5, "qual: <; more words", VERDICT_AGREES},
        {2, 3, "qual: <", VERDICT_DIFFERS},
        {103.2, 300, "qual: >; i.e.", VERDICT_HOLDS},
        {10, 3, "qual: within", VERDICT_HOLDS},
        {32.4, 10, "qual: up to", VERDICT_DIFFERS},
        {0, 0, "", VERDICT_AGREES},
        {0, 1, "", VERDICT_DIFFERS},
        {1, NAN, "", VERDICT_NONE},
        {NAN, 1, "", VERDICT_NONE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct claim c = {.value = rows[i].claim, .note = rows[i].note};
        if (claim_verdict(&c, rows[i].ours) != rows[i].verdict)
            fail_msg("row %zu", i);
    }
    struct claim c = {.value = -4, .note = ""};
    close_to(claim_difference(&c, -3), 25);
    c.value = 0;
    close_to(claim_difference(&c, 1), NAN);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_hang_together),
        cmocka_unit_test(every_claim_is_accounted_for_once),
        cmocka_unit_test(averages_by_hand),
        cmocka_unit_test(verdicts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
