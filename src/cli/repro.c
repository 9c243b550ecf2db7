/* reprise repro: a paper's figures from our runs, its claims beside ours. */
#include <stdio.h>
#include <string.h>

#include "base/io.h"
#include "cli/cli.h"
#include "cli/study_options.h"
#include "study/figure.h"
#include "study/jobs.h"
#include "study/place.h"

static const char help[] =
    "usage: reprise repro PAPER [FIGURE...] [options]\n"
    "       reprise repro PAPER --list\n"
    "\n"
    "Runs the workloads and machines that a paper's figures need, prints what they give beside what\n"
    "the paper claims, and writes each figure as CSV. Runs that figures share run once, and are\n"
    "kept in DIR/runs: what was finished before is not run again.\n"
    "\n"
    "  PAPER             wir\n"
    "  FIGURE            a figure's number; all of them when none is named\n"
    "  --list            the figures, and the claims that no simulation can produce\n"
    "  --workloads W,W   only these workloads\n"
    "  --out DIR         where results go (default report/repro)\n" MATRIX_OPTIONS_HELP "\n"
    "examples: reprise repro wir 17 --size tiny\n"
    "          reprise repro wir -j 8\n";

struct request {
    struct matrix matrix;
    const struct repro_paper *paper;
    VEC(const struct repro_figure *) figures;
    const char *out;
    bool list, named; /* named: figures were */
};

/* ---- the command line ---- */

static const char *next_paper(void *ctx, uint32_t i) {
    (void)ctx;
    return i < repro_paper_count ? repro_papers[i].name : NULL;
}

static const char *next_figure(void *ctx, uint32_t i) {
    const struct repro_paper *p = ctx;
    return p->figures[i].id;
}

static int unknown(const char *what, const char *word, const char *near) {
    struct str text = {0};
    str_printf(&text, "there is no %s '%s'%s%s%s", what, word, near ? "; did you mean '" : "",
               near ? near : "", near ? "'?" : "");
    int rc = cli_usage_error(help, str_text(&text), "");
    str_free(&text);
    return rc;
}

/* Takes the paper's name, then figures; 0, or 2 after a message. */
static int take_word(struct request *r, const char *word) {
    if (!r->paper) {
        for (uint32_t i = 0; i < repro_paper_count; i++)
            if (!strcmp(repro_papers[i].name, word))
                r->paper = &repro_papers[i];
        return r->paper ? 0 : unknown("paper", word, diag_nearest(word, strlen(word), next_paper, NULL));
    }
    for (const struct repro_figure *f = r->paper->figures; f->id; f++)
        if (!strcmp(f->id, word)) {
            vec_push(&r->figures, f);
            r->named = true;
            return 0;
        }
    return unknown("figure", word, diag_nearest(word, strlen(word), next_figure, (void *)r->paper));
}

static bool take_workloads(struct matrix *x, const char *list) {
    char *words = xstrdup(list), *save;
    bool ok = true;
    for (char *w = strtok_r(words, ",", &save); ok && w; w = strtok_r(NULL, ",", &save))
        ok = matrix_add_workloads(x, w);
    free(words);
    return ok;
}

static int take(struct request *r, int argc, char **argv) {
    static const char *const own[] = {"--list", "--workloads", "--out", NULL};
    for (int i = 0; i < argc; i++) {
        if (argv[i][0] != '-') {
            if (take_word(r, argv[i]))
                return 2;
            continue;
        }
        int used = matrix_option(&r->matrix, argv + i, own, help);
        if (used < 0)
            return 2;
        if (used) {
            i += used - 1;
            continue;
        }
        if (!strcmp(argv[i], "--list")) {
            r->list = true;
            continue;
        }
        if (i + 1 == argc)
            return cli_usage_error(help, "a value is needed after", argv[i]);
        if (!strcmp(argv[i], "--out"))
            r->out = argv[i + 1];
        else if (!take_workloads(&r->matrix, argv[i + 1]))
            return 2;
        i++;
    }
    return r->paper ? 0 : cli_usage_error(help, "which paper?", "");
}

/* ---- what to run ---- */

static void add_model(struct request *r, const char *label, size_t len) {
    for (const struct repro_model *m = r->paper->models; m->label; m++)
        if (strlen(m->label) == len && !strncmp(m->label, label, len))
            matrix_add_model(&r->matrix, m->label, m->model);
}

static bool chosen(const struct request *r, const char *figure) {
    for (uint32_t i = 0; i < r->figures.len; i++)
        if (!strcmp(r->figures.at[i]->id, figure))
            return true;
    return false;
}

/* The models of the chosen figures' series, and those their formulas name after @. */
static void add_models(struct request *r) {
    add_model(r, r->paper->models[0].label, strlen(r->paper->models[0].label));
    for (const struct repro_series *s = r->paper->series; s->figure; s++) {
        if (!chosen(r, s->figure))
            continue;
        add_model(r, s->model, strlen(s->model));
        for (const char *at = strchr(s->formula, '@'); at; at = strchr(at + 1, '@'))
            add_model(r, at + 1, strcspn(at + 1, " ()*/"));
    }
}

static void complete(struct request *r) {
    for (const struct repro_figure *f = r->paper->figures; !r->named && f->id; f++)
        vec_push(&r->figures, f);
    if (!r->matrix.gpu)
        r->matrix.gpu = r->paper->gpu;
    if (!r->matrix.run.bits)
        r->matrix.run.bits = r->paper->bits;
    if (!r->matrix.workloads.len)
        matrix_add_workloads(&r->matrix, r->paper->suite);
    add_models(r);
}

/* ---- the claims ---- */

static bool read_table(const char *name, struct csv *out) {
    char path[4096];
    size_t len;
    char *text = place_data(name, path, sizeof path) ? io_read(path, &len) : NULL;
    bool ok = text && csv_parse(out, text, len);
    if (text && !ok)
        fprintf(stderr, "reprise: %s: a quote is never closed\n", path);
    free(text);
    return ok;
}

static void list(const struct repro_paper *p) {
    printf("%s\n\n", p->title);
    for (const struct repro_figure *f = p->figures; f->id; f++)
        printf("  %-7s %s\n", f->id, f->title);
    puts("\nClaims that no simulation can produce:");
    for (const struct repro_unable *u = p->unable; u->id; u++)
        printf("  %-38s %s\n", u->id, u->reason);
}

/* ---- the outcome ---- */

static bool write_csv(const struct request *r, const char *what, const struct str *text) {
    struct str path = {0};
    str_printf(&path, "%s/%s-%s.csv", r->out, r->paper->name, what);
    bool ok = io_write(path.at, str_text(text), text->len);
    str_free(&path);
    return ok;
}

static bool show(const struct request *r, const struct claims *claims) {
    struct repro_rows rows = {0};
    struct str csv = {0};
    bool ok = true;
    for (uint32_t i = 0; i < r->figures.len; i++) {
        struct repro_data d;
        struct str figure = {0};
        uint32_t from = rows.len;
        repro_fill(&d, r->paper, r->figures.at[i], &r->matrix.results);
        repro_compare(&d, claims, &rows);
        repro_print(&d, r->named);
        repro_print_rows(&rows, from);
        repro_csv(&d, &figure);
        ok &= !d.columns.len || write_csv(r, r->figures.at[i]->id, &figure);
        str_free(&figure);
        repro_data_free(&d);
    }
    repro_rows_csv(&rows, &csv);
    ok &= write_csv(r, "claims", &csv);
    uint32_t counts[VERDICT_DIFFERS + 1] = {0};
    for (uint32_t i = 0; i < rows.len; i++)
        counts[claim_verdict(&rows.at[i].claim, rows.at[i].ours)]++;
    printf("\n%u claims: %u agree within a third, %u hold as bounds, %u differ by more, %u not measured.\n",
           rows.len, counts[VERDICT_AGREES], counts[VERDICT_HOLDS], counts[VERDICT_DIFFERS],
           counts[VERDICT_NONE]);
    printf("Tables are in %s.\n", r->out);
    str_free(&csv);
    vec_free(&rows);
    return ok;
}

/* The runs that did not end well. */
static void print_failures(const struct results *x) {
    for (uint32_t w = 0; w < x->workloads.len; w++)
        for (uint32_t m = 0; m < x->models.len; m++) {
            const struct run *run = results_run(x, w, m);
            if (run->status != RUN_OK && run->message)
                printf("\n%s, %s: %s\n", x->workloads.at[w], x->models.at[m], run->message);
        }
}

static int repro(struct request *r) {
    struct claims claims = {0};
    struct str runs = {0};
    int rc = 1;
    complete(r);
    str_printf(&runs, "%s/runs", r->out);
    r->matrix.keep = runs.at;
    if (read_table("claims.csv", &claims.table) && read_table("explanations.csv", &claims.explanations) &&
        matrix_check(&r->matrix)) {
        rc = matrix_run(&r->matrix);
        if (rc == JOBS_STOPPED)
            printf("stopped; what was finished is kept in %s\n", runs.at);
        else if (!show(r, &claims))
            rc = 1;
        print_failures(&r->matrix.results);
    }
    claims_free(&claims);
    str_free(&runs);
    return rc;
}

int cli_repro(int argc, char **argv) {
    if (argc && !strcmp(argv[0], "--help")) {
        fputs(help, stdout);
        return 0;
    }
    struct request r = {.matrix = {.run = {.size = SIZE_SMALL, .check = true}}, .out = "report/repro"};
    int rc = take(&r, argc, argv);
    if (!rc && r.list)
        list(r.paper);
    else if (!rc)
        rc = repro(&r);
    vec_free(&r.figures);
    matrix_free(&r.matrix);
    return rc;
}
