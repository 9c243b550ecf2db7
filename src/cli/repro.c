/* reprise repro: a paper's figures from our runs, its claims beside ours. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/io.h"
#include "cli/cli.h"
#include "cli/study_options.h"
#include "study/figure.h"
#include "study/launch.h"

static const char help[] =
    "usage: reprise repro PAPER [FIGURE...] [options]\n"
    "       reprise repro PAPER --list\n"
    "\n"
    "Runs the workloads and machines that a paper's figures need, prints what they give beside what\n"
    "the paper claims, and writes each figure as CSV, and all of them as DIR/PAPER.json, which\n"
    "'reprise report' draws as the paper does. Runs that figures share run once, and what was\n"
    "finished before, also by 'reprise compare', is not run again.\n"
    "\n"
    "  PAPER             a name from 'reprise list papers'\n"
    "  FIGURE            a figure's number; all of them when none is named\n"
    "  --list            the figures, and the claims that no simulation can produce\n"
    "  --workloads W,W   only these workloads, written as for 'reprise compare'\n"
    "  --out DIR         where results go (default report/repro)\n" STUDY_OPTIONS_HELP "\n"
    "examples: reprise repro wir 17 --size tiny\n"
    "          reprise repro wir -j 8\n";

struct request {
    struct plan plan;
    struct paper paper; /* no head: not named yet */
    VEC(const struct paper_row *) figures;
    const char *out;
    bool list, named; /* named: figures were */
    bool subset;      /* of the paper's benchmarks */
};

/* ---- the command line ---- */

static const char *next_paper(void *ctx, uint32_t i) {
    struct paper p;
    (void)ctx;
    return paper_at(i, &p) ? p.head->name : NULL;
}

static const char *next_figure(void *ctx, uint32_t i) {
    const struct paper_row *f = paper_next(ctx, NULL, PAPER_FIGURE);
    for (; f && i; i--)
        f = paper_next(ctx, f, PAPER_FIGURE);
    return f ? f->figure : NULL;
}

static int unknown(const char *what, const char *word, const char *near) {
    struct str text = {0};
    str_printf(&text, "there is no %s '%s'%s%s%s", what, word, near ? "; did you mean '" : "",
               near ? near : "", near ? "'?" : "");
    int rc = cli_usage_error(help, str_text(&text), "");
    str_free(&text);
    return rc;
}

static int take_paper(struct request *r, const char *name) {
    struct paper p;
    for (uint32_t i = 0; paper_at(i, &p); i++)
        if (!strcmp(p.head->name, name)) {
            r->paper = p;
            return 0;
        }
    return unknown("paper", name, diag_nearest(name, strlen(name), next_paper, NULL));
}

static int take_figure(struct request *r, const char *id) {
    const struct paper_row *f = NULL;
    while ((f = paper_next(&r->paper, f, PAPER_FIGURE)))
        if (!strcmp(f->figure, id)) {
            vec_push(&r->figures, f);
            r->named = true;
            return 0;
        }
    return unknown("figure", id, diag_nearest(id, strlen(id), next_figure, &r->paper));
}

static bool take_workloads(struct plan *p, const char *list) {
    char *words = xstrdup(list), *save;
    bool ok = true;
    for (char *w = strtok_r(words, ",", &save); ok && w; w = strtok_r(NULL, ",", &save))
        ok = plan_add_bench(p, w);
    free(words);
    return ok;
}

static int take(struct request *r, int argc, char **argv) {
    static const char *const own[] = {"--list", "--workloads", "--out", NULL};
    for (int i = 0; i < argc; i++) {
        if (argv[i][0] != '-') {
            if (r->paper.head ? take_figure(r, argv[i]) : take_paper(r, argv[i]))
                return 2;
            continue;
        }
        int used = study_option(&r->plan, argv + i, own, help);
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
        else if (!take_workloads(&r->plan, argv[i + 1]))
            return 2;
        i++;
    }
    return r->paper.head ? 0 : cli_usage_error(help, "which paper?", "");
}

static void list(const struct paper *p) {
    const struct paper_row *r = NULL;
    printf("%s\n\n", p->head->text);
    while ((r = paper_next(p, r, PAPER_FIGURE)))
        printf("  %-7s %s\n", r->figure, r->text);
    puts("\nClaims that no simulation can produce:");
    while ((r = paper_next(p, r, PAPER_UNABLE)))
        printf("  %-38s %s\n", r->name, r->text);
}

/* Adds what the user left to the paper; false after a message. */
static bool complete(struct request *r) {
    const struct paper_row *head = r->paper.head, *f = NULL;
    while (!r->named && (f = paper_next(&r->paper, f, PAPER_FIGURE)))
        vec_push(&r->figures, f);
    if (!r->plan.gpu)
        r->plan.gpu = head->gpu;
    if (!r->plan.bits)
        r->plan.bits = head->bits;
    study_defaults(&r->plan, head->gpu);
    r->subset = r->plan.table.benches.len;
    bool ok = r->subset || plan_add_bench(&r->plan, head->suite);
    for (uint32_t i = 0; ok && i < r->figures.len; i++)
        ok = figure_add_models(&r->plan, &r->paper, r->figures.at[i]);
    plan_add_rows(&r->plan);
    return ok && study_complete(&r->plan);
}

/* ---- the outcome ---- */

/* Writes a file of the paper; without text, tries whether it could be written. */
static bool write_file(const struct request *r, const char *name, const struct str *text) {
    struct str path = {0};
    str_printf(&path, "%s/%s%s", r->out, r->paper.head->name, name);
    bool ok = text ? io_write(path.at, str_text(text), text->len) : io_try(path.at);
    str_free(&path);
    return ok;
}

/* Writes a table. */
static bool write_csv(const struct request *r, const char *what, const struct str *text) {
    struct str name = {0};
    str_printf(&name, "-%s.csv", what);
    bool ok = write_file(r, name.at, text);
    str_free(&name);
    return ok;
}

/* Writes all figures as JSON, with what they rest on; takes them over. */
static bool write_json(const struct request *r, const char *ran, json_t *figures) {
    json_t *all = figures_json(&r->paper, &r->plan.table, figures);
    json_object_set_new(all, "ran", json_string(ran));
    json_object_set_new(all, "version", json_string(REPRISE_VERSION));
    char *text = json_dumps(all, JSON_INDENT(1));
    struct str json = {0};
    str_add(&json, text, strlen(text));
    bool ok = write_file(r, ".json", &json);
    str_free(&json);
    free(text);
    json_decref(all);
    return ok;
}

/* Says what the figures rest on; returns how much of what the paper's do that is. */
static enum figure_cover what_ran(const struct request *r, struct str *said) {
    const struct table *t = &r->plan.table;
    uint32_t parts = 0, least = SIZES, most = 0, ok = 0;
    for (uint32_t i = 0; i < t->benches.len; i++) {
        const struct bench *b = &t->benches.at[i];
        parts += plan_sampled(&r->plan, b) != 0;
        least = b->size < least ? b->size : least;
        most = b->size > most ? b->size : most;
    }
    for (uint32_t i = 0; i < t->rows.len; i++)
        ok += t->rows.at[i].status == ROW_OK;
    bool whole = !r->subset && ok == t->rows.len;
    str_printf(said, "%s%u %s, %s%s%s, on %s", r->subset ? "" : "All ", t->benches.len,
               r->subset ? "of the paper's benchmarks" : "benchmarks of the paper", workload_sizes[least],
               least == most ? "" : " to ", least == most ? "" : workload_sizes[most],
               r->plan.gpu ? r->plan.gpu : "CPUs");
    if (parts)
        str_printf(said,
                   ";\nof %u of them, %" PRIu64
                   " warp instructions at most are timed, spread over their launches",
                   parts, r->plan.max_insts);
    str_printf(said, "%s.\n", ok == t->rows.len ? "" : "; some runs failed");
    return least < (r->paper.head->gpu ? SIZE_MEDIUM : SIZE_SMALL) ? FIGURE_OTHER_SIZE
           : whole                                                 ? FIGURE_WHOLE
                                                                   : FIGURE_SUBSET;
}

static bool show(const struct request *r, const struct claims *claims) {
    struct claim_rows rows = {0};
    struct str csv = {0}, ran = {0};
    json_t *figures = json_array();
    bool ok = true;
    enum figure_cover cover = what_ran(r, &ran);
    fputs(str_text(&ran), stdout);
    for (uint32_t i = 0; i < r->figures.len; i++) {
        struct figure f;
        struct str table = {0};
        uint32_t from = rows.len;
        figure_fill(&f, &r->paper, r->figures.at[i], &r->plan.table);
        figure_claims(&f, claims, cover, &rows);
        figure_print(&f, r->named, stdout);
        figure_print_claims(&rows, from, stdout);
        json_array_append_new(figures, figure_json(&f, &rows, from));
        figure_csv(&f, &table);
        ok &= !f.columns.len || write_csv(r, r->figures.at[i]->figure, &table);
        str_free(&table);
        figure_free(&f);
    }
    figure_claims_csv(&rows, &csv);
    ok &= write_csv(r, "claims", &csv);
    ok &= write_json(r, str_text(&ran), figures);
    uint32_t counts[VERDICTS] = {0};
    for (uint32_t i = 0; i < rows.len; i++)
        counts[figure_verdict(&rows.at[i])]++;
    printf("\n%u claims: %u agree within a third, %u hold as bounds, %u differ by more, %u not measured,\n"
           "%u not compared.\n",
           rows.len, counts[VERDICT_AGREES], counts[VERDICT_HOLDS], counts[VERDICT_DIFFERS],
           counts[VERDICT_NONE], counts[VERDICT_PART]);
    printf("Tables are in %s.\n", r->out);
    str_free(&csv);
    str_free(&ran);
    claim_rows_free(&rows);
    return ok;
}

/* The runs that did not end well. */
static void print_failures(const struct table *t) {
    for (uint32_t i = 0; i < t->rows.len; i++) {
        const struct row *r = &t->rows.at[i];
        if (r->status != ROW_OK && r->message)
            printf("\n%s, %s: %s\n", t->benches.at[r->bench].label, t->models.at[r->model].label, r->message);
    }
}

static int repro(struct request *r) {
    struct claims claims = {0};
    struct store *store = NULL;
    int rc = 1;
    if (!complete(r))
        rc = 2;
    else if (io_make_folder(r->out) && claims_read(&claims))
        store = store_open_usual(r->plan.store);
    if (store && !write_file(r, ".json", NULL)) {
        store_close(store);
        store = NULL;
    }
    if (store) {
        rc = launch_plan(&r->plan, store, r->plan.fresh);
        if (rc == JOBS_STOPPED)
            printf("stopped; what was finished is kept in %s\n", store_path(store));
        else if (!show(r, &claims))
            rc = 1;
        print_failures(&r->plan.table);
        store_close(store);
    }
    claims_free(&claims);
    return rc;
}

int cli_repro(int argc, char **argv) {
    if (argc && !strcmp(argv[0], "--help")) {
        fputs(help, stdout);
        return 0;
    }
    struct request r = {.plan = {.size = SIZES}, .out = "report/repro"};
    int rc = take(&r, argc, argv);
    if (!rc && r.list)
        list(&r.paper);
    else if (!rc)
        rc = repro(&r);
    vec_free(&r.figures);
    plan_free(&r.plan);
    return rc;
}
