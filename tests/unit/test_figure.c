/* Figures of papers: their tables hang together, every claim is accounted for, and averages by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "report/results.h"
#include "stats/formula.h"
#include "study/figure.h"
#include "study/suites.h"

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

/* The first row of a kind with that name; for figures, their id. */
static const struct paper_row *find(const struct paper *p, enum paper_kind kind, const char *name,
                                    size_t len) {
    const struct paper_row *r = NULL;
    while ((r = paper_next(p, r, kind))) {
        const char *is = kind == PAPER_FIGURE ? r->figure : r->name;
        if (strlen(is) == len && !strncmp(is, name, len))
            return r;
    }
    return NULL;
}

static void needs(const struct paper *p, enum paper_kind kind, const char *name, size_t len,
                  const char *where) {
    if (!find(p, kind, name, len))
        fail_msg("%s: there is no '%.*s'", where, (int)len, name);
}

static void needs_column(const struct paper *p, const struct paper_row *claim, const char *name, size_t len) {
    const struct paper_row *s = NULL;
    while ((s = paper_next(p, s, PAPER_SERIES)))
        if (!strcmp(s->figure, claim->figure) && strlen(s->name) == len && !strncmp(s->name, name, len))
            return;
    fail_msg("%s: figure %s has no column '%.*s'", claim->name, claim->figure, (int)len, name);
}

/* The columns and groups that a claim's formula names are there. */
static void check_columns(const struct paper *p, const struct paper_row *c) {
    static const char *const functions[] = {"mean(", "geomean(", "median(", "max(",
                                            "min(",  "top(",     "bottom("};
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        for (const char *at = strstr(c->text, functions[i]); at; at = strstr(at + 1, functions[i])) {
            const char *name = at + strlen(functions[i]), *comma = name + strcspn(name, ",)");
            bool half = !strcmp(functions[i], "top(") || !strcmp(functions[i], "bottom(");
            needs_column(p, c, name, (size_t)(comma - name));
            if (*comma == ',' && half)
                needs_column(p, c, comma + 2, strcspn(comma + 2, ")"));
            else if (*comma == ',')
                needs(p, PAPER_GROUP, comma + 2, strcspn(comma + 2, ")"), c->name);
        }
    const char *at = strstr(c->text, "at(");
    if (at) {
        const char *name = strchr(at, ',') + 2;
        needs_column(p, c, name, strcspn(name, ")"));
    }
}

static void check_series(const struct paper *p, const struct paper_row *s) {
    is_formula(s->text);
    needs(p, PAPER_FIGURE, s->figure, strlen(s->figure), s->name);
    needs(p, PAPER_MODEL, s->model, strlen(s->model), s->name);
    for (const char *at = strchr(s->text, '@'); at; at = strchr(at + 1, '@'))
        needs(p, PAPER_MODEL, at + 1, strcspn(at + 1, " ()*/"), s->name);
    const struct paper_row *t = s;
    while ((t = paper_next(p, t, PAPER_SERIES)))
        if (!strcmp(s->figure, t->figure) && !strcmp(s->name, t->name))
            fail_msg("figure %s has two columns %s", s->figure, s->name);
}

/* A model whose results a curve shows runs for the figure: it is the base machine, or that of a column. */
static void needs_model(const struct paper *p, const struct paper_row *chart, const char *name, size_t len) {
    const struct paper_row *base = paper_next(p, NULL, PAPER_MODEL), *s = NULL;
    if (strlen(base->name) == len && !strncmp(base->name, name, len))
        return;
    while ((s = paper_next(p, s, PAPER_SERIES)))
        if (!strcmp(s->figure, chart->figure) && strlen(s->model) == len && !strncmp(s->model, name, len))
            return;
    fail_msg("figure %s: no column is of the model '%.*s'", chart->figure, (int)len, name);
}

/* A benchmark is one that the paper uses. */
static void needs_workload(const struct paper *p, const char *name, size_t len, const char *where) {
    char text[24];
    const struct workload *w;
    for (uint32_t i = 0; (w = workload_at(i)); i++) {
        workload_abbreviation(w, p->head->name, text, sizeof text);
        if (strlen(text) == len && !strncmp(text, name, len))
            return;
    }
    fail_msg("%s: no workload is '%.*s'", where, (int)len, name);
}

/* A chart is of a kind that the report can draw, and of columns that the figure has. */
static void check_chart(const struct paper *p, const struct paper_row *c) {
    static const char *const kinds[] = {"bars",     "stack", "within", "stacks", "averages",
                                        "clusters", "line",  "panels", "curve"};
    size_t kind = 0;
    while (kind < sizeof kinds / sizeof kinds[0] && strcmp(kinds[kind], c->name))
        kind++;
    if (kind == sizeof kinds / sizeof kinds[0])
        fail_msg("figure %s: no chart is called %s", c->figure, c->name);
    needs(p, PAPER_FIGURE, c->figure, strlen(c->figure), c->name);
    bool curve = !strcmp(c->name, "curve");
    for (const char *at = c->text; *at;) {
        size_t n = strcspn(at, ","), name = strcspn(at, "=");
        if (!curve)
            needs_column(p, c, at, n);
        else if (at != c->text)
            needs_model(p, c, at + name + 1, n - name - 1);
        else
            needs_workload(p, at, n, c->figure);
        at += n;
        at += strspn(at, ", ");
    }
}

/* Groups are of benchmarks that the paper uses. */
static void check_group(const struct paper *p, const struct paper_row *g) {
    char *words = xstrdup(g->text), *save;
    for (char *word = strtok_r(words, " ", &save); word; word = strtok_r(NULL, " ", &save))
        needs_workload(p, word, strlen(word), g->name);
    free(words);
}

static void tables_hang_together(void **state) {
    (void)state;
    struct paper p;
    uint32_t papers = 0;
    for (; paper_at(papers, &p); papers++) {
        const struct paper_row *r = NULL;
        assert_non_null(paper_next(&p, NULL, PAPER_MODEL));
        assert_non_null(suite_find(p.head->suite));
        while ((r = paper_next(&p, r, PAPER_SERIES)))
            check_series(&p, r);
        while ((r = paper_next(&p, r, PAPER_CHART)))
            check_chart(&p, r);
        while ((r = paper_next(&p, r, PAPER_GROUP)))
            check_group(&p, r);
        while ((r = paper_next(&p, r, PAPER_CLAIM))) {
            is_formula(r->text);
            needs(&p, PAPER_FIGURE, r->figure, strlen(r->figure), r->name);
            check_columns(&p, r);
        }
    }
    assert_true(papers > 0);
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
static int mentions(const struct paper *p, const char *id) {
    const struct paper_row *r = NULL;
    int n = 0;
    while ((r = paper_next(p, r, PAPER_CLAIM))) {
        size_t len = strcspn(r->name, "*");
        n += r->name[len] ? !strncmp(r->name, id, len) : !strcmp(r->name, id);
    }
    while ((r = paper_next(p, r, PAPER_UNABLE)))
        n += !strcmp(r->name, id);
    return n;
}

static void every_claim_is_accounted_for_once(void **state) {
    (void)state;
    struct claims claims = {0};
    struct claim c;
    struct paper p;
    read_csv("claims.csv", &claims.table);
    read_csv("explanations.csv", &claims.explanations);
    for (uint32_t i = 0; paper_at(i, &p); i++) {
        char prefix[32];
        uint32_t found = 0, wanted = 0;
        snprintf(prefix, sizeof prefix, "%s.", p.head->name);
        for (uint32_t k = 0; claim_at(&claims, k, &c); k++) {
            if (strncmp(c.id, prefix, strlen(prefix)))
                continue;
            wanted++;
            found += mentions(&p, c.id) == 1;
            if (mentions(&p, c.id) != 1)
                print_message("%s: %d rows\n", c.id, mentions(&p, c.id));
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

static void put(struct table *t, uint32_t bench, uint32_t model, int cycles) {
    struct row *r = table_add(t, bench, model);
    r->status = ROW_OK;
    r->report = run_of(cycles);
}

static const struct paper_row made_up[] = {
    {.kind = PAPER_PAPER, .name = "wir"},
    {.kind = PAPER_MODEL, .name = "Base", .text = "base"},
    {.kind = PAPER_MODEL, .name = "fast", .text = "wir"},
    {.kind = PAPER_MODEL, .name = "slow", .text = "toy"},
    {.kind = PAPER_MODEL, .name = "unused", .text = "affine"},
    {.kind = PAPER_GROUP, .name = "ends", .text = "SF GA"},
    {.kind = PAPER_FIGURE, .figure = "f", .text = "a figure", .geometric = true},
    {.kind = PAPER_SERIES, .figure = "f", .name = "D1", .model = "fast", .text = "cycles@Base / cycles"},
    {.kind = PAPER_SERIES,
     .figure = "f",
     .name = "D2 slower",
     .model = "fast",
     .text = "cycles / cycles@Base"},
    {.kind = PAPER_CHART, .figure = "f", .name = "stack", .axis = "times", .text = "D1, D2 slower"},
    {.kind = PAPER_FIGURE, .figure = "g", .text = "another figure"},
    {.kind = PAPER_SERIES, .figure = "g", .name = "other", .model = "fast", .text = "cycles / cycles@slow"},
};
static const struct paper paper = {made_up, sizeof made_up / sizeof made_up[0]};

/* Four benchmarks on two machines; speedups 2, 4, 0.5 and 1. A fifth one has no rows. */
static void averages_by_hand(void **state) {
    (void)state;
    static const char *const names[] = {"SobelFilter", "b+tree", "gaussian", "nobody's", "hotspot"};
    static const int base[] = {200, 400, 100, 300}, fast[] = {100, 100, 200, 300};
    struct table t = {0};
    table_add_model(&t, "Base");
    table_add_model(&t, "fast");
    for (uint32_t b = 0; b < 5; b++) {
        table_add_bench(&t, names[b]);
        t.benches.at[b].workload = workload_find(names[b]);
        if (b == 4)
            continue;
        put(&t, b, 0, base[b]);
        put(&t, b, 1, fast[b]);
    }
    struct figure f;
    const struct paper_row *group = paper_next(&paper, NULL, PAPER_GROUP);
    figure_fill(&f, &paper, paper_next(&paper, NULL, PAPER_FIGURE), &t);
    assert_int_equal(f.columns.len, 2);
    close_to(figure_average(&f, 0, NULL), sqrt(2));
    close_to(figure_average(&f, 0, group), 1);
    static const struct {
        const char *formula, *star;
        double value;
    } rows[] = {
        {"mean(D1)", "", 7.5 / 4},
        {"geomean(D1)", "", M_SQRT2},
        {"median(D1)", "", 1.5},
        {"min(D1)", "", 0.5},
        {"max(D1)", "", 4},
        {"top(D1, D1)", "", 3},
        {"bottom(D1, D1)", "", 1.5 / 2},
        {"top(D1, D2 slower)", "", 1.5 / 2}, /* gaussian and the unnamed one */
        {"bottom(D1, D2 slower)", "", 3},
        {"top(D1)", "", NAN},
        {"top(D1, ends)", "", NAN}, /* a group is no order */
        {"mean(D1, ends)", "", 1.25},
        {"max(D2 slower, ends)", "", 2},
        {"mean(D1, beginnings)", "", NAN},
        {"100 * (at(BT, D1) - 1)", "", 300},
        {"at(*, D1)", "GA", 0.5},
        {"at(nobody's, D1)", "", 1},
        {"at(HS, D1)", "", NAN},
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
        close_to(figure_value(&f, rows[i].formula, rows[i].star), rows[i].value);
    static const char *const lines[] = {
        "benchmark,workload,D1,D2 slower\nSF,SobelFilter,2,0.5\nBT,b+tree,4,0.25\n",
        "nobody's,nobody's,1,1\nHS,hotspot,\"\",\"\"\ngeometric mean,\"\",1.41421",
        "\n\"geometric mean, ends\",\"\",1,1\n"};
    struct str csv = {0};
    figure_csv(&f, &csv);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        if (!strstr(str_text(&csv), lines[i]))
            fail_msg("not in the CSV: %s\n%s", lines[i], str_text(&csv));
    str_free(&csv);
    json_t *json = figure_json(&f, &(struct claim_rows){0}, 0);
    json_t *column = json_array_get(json_object_get(json, "columns"), 0);
    json_t *chart = json_array_get(json_object_get(json, "charts"), 0);
    json_t *columns = json_object_get(chart, "columns");
    close_to(json_real_value(json_array_get(json_object_get(column, "values"), 1)), 4);
    assert_true(json_is_null(json_array_get(json_object_get(column, "values"), 4)));
    close_to(json_real_value(json_object_get(column, "average")), sqrt(2));
    close_to(json_real_value(json_object_get(json_object_get(column, "groups"), "ends")), 1);
    assert_string_equal(json_string_value(json_object_get(chart, "kind")), "stack");
    assert_int_equal(json_array_size(columns), 2);
    assert_string_equal(json_string_value(json_array_get(columns, 1)), "D2 slower");
    json_decref(json);
    figure_free(&f);
    table_free(&t);
}

/* A row of that benchmark and model whose result is this. */
static void put_result(struct table *t, uint32_t bench, uint32_t model, float *values, uint64_t count,
                       const char *path) {
    uint32_t type = 0;
    while (strcmp(result_type_name(type), "f32"))
        type++;
    struct results r = {0};
    vec_push(&r.all, ((struct result){xstrdup("heat"), type, count, values}));
    put(t, bench, model, 1);
    table_row(t, bench, model)->results = xstrdup(path);
    assert_true(results_write(&r, path));
    free(r.all.at[0].name);
    vec_free(&r.all);
}

static double value_in(json_t *curve, size_t line, size_t i) {
    json_t *l = json_array_get(json_object_get(curve, "lines"), line);
    return json_real_value(json_array_get(json_object_get(l, "values"), i));
}

/* The stretch of 64 values in which lines are furthest from the first, of each model that has run. */
static void curves_are_where_lines_differ(void **state) {
    (void)state;
    float exact[200] = {0}, got[200];
    for (uint32_t i = 0; i < 200; i++) {
        exact[i] = (float)i;
        got[i] = (float)i + (i < 64 ? 1 : i < 128 ? 3 : i < 192 ? -2 : 500); /* the last 8 fill no stretch */
    }
    char paths[2][64];
    struct table t = {0};
    table_add_model(&t, "Base");
    table_add_model(&t, "fast");
    table_add_bench(&t, "hotspot");
    t.benches.at[0].workload = workload_find("hotspot");
    const struct figure f = {.paper = paper, .table = &t};
    json_t *none = figure_curve(&f, "HS, exact=Base");
    assert_true(json_is_null(none));
    for (int m = 0; m < 2; m++) {
        snprintf(paths[m], sizeof paths[m], "test_figure.%d.%d.results", (int)getpid(), m);
        put_result(&t, 0, (uint32_t)m, m ? got : exact, 200, paths[m]);
    }
    json_t *curve = figure_curve(&f, "HS, exact=Base, other=nobody, as it is=fast");
    assert_int_equal(json_integer_value(json_object_get(curve, "from")), 64);
    assert_int_equal(json_array_size(json_object_get(curve, "lines")), 2);
    json_t *second = json_array_get(json_object_get(curve, "lines"), 1);
    assert_string_equal(json_string_value(json_object_get(second, "name")), "as it is");
    assert_int_equal(json_array_size(json_object_get(second, "values")), 64);
    close_to(value_in(curve, 0, 1), 65);
    close_to(value_in(curve, 1, 63), 130);
    json_decref(curve);
    assert_true(json_is_null(figure_curve(&f, "BT, exact=Base")));
    for (int m = 0; m < 2; m++)
        remove(paths[m]);
    table_free(&t);
}

/* A figure needs the base machine, the models of its columns and those that formulas name, and no others. */
static void figures_name_their_models(void **state) {
    (void)state;
    static const char *const wanted[2][4] = {{"Base", "fast"}, {"Base", "fast", "slow"}};
    const struct paper_row *row = NULL;
    for (int i = 0; i < 2; i++) {
        struct plan p = {0};
        row = paper_next(&paper, row, PAPER_FIGURE);
        assert_true(figure_add_models(&p, &paper, row));
        uint32_t n = 0;
        while (wanted[i][n])
            n++;
        assert_int_equal(p.table.models.len, n);
        for (uint32_t m = 0; m < n; m++) {
            assert_string_equal(p.table.models.at[m].label, wanted[i][m]);
            assert_int_equal(p.table.models.at[m].base, 0);
        }
        plan_free(&p);
    }
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
        cmocka_unit_test(tables_hang_together),      cmocka_unit_test(every_claim_is_accounted_for_once),
        cmocka_unit_test(averages_by_hand),          cmocka_unit_test(curves_are_where_lines_differ),
        cmocka_unit_test(figures_name_their_models), cmocka_unit_test(verdicts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
