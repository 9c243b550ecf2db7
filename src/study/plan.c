/* Every workload on every model: the runs as jobs, and their reports as results. */
#include "study/plan.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "reprise.h"
#include "study/jobs.h"
#include "study/store.h"

enum { SHOWN_LINES = 4 }; /* of the beginning, and of the end, of what a failed run printed */

/* ---- what to run ---- */

int matrix_add_model(struct matrix *x, const char *label, const char *text) {
    for (uint32_t m = 0; m < x->results.models.len; m++)
        if (!strcmp(x->results.models.at[m], label))
            return (int)m;
    struct matrix_model model = {0};
    char *words = xstrdup(text), *save, *word = strtok_r(words, ":", &save);
    if (word && !strchr(word, '='))
        model.mech = xstrdup(word);
    for (word = strtok_r(NULL, ":", &save); word && model.mech; word = strtok_r(NULL, ":", &save))
        if (strchr(word, '='))
            vec_push(&model.set, xstrdup(word));
        else
            str_printf(&model.probes, "%s%s", model.probes.len ? "+" : "", word);
    free(words);
    if (!model.mech) {
        fprintf(stderr, "reprise: a model is MECH, MECH:PATH=VALUE or MECH:PROBE, not '%s'\n", text);
        return -1;
    }
    vec_push(&x->models, model);
    vec_push(&x->results.models, xstrdup(label));
    return (int)x->models.len - 1;
}

/* Names of workloads, then of suites. */
static const char *next_name(void *ctx, uint32_t i) {
    (void)ctx;
    uint32_t n = 0;
    while (workload_at(n))
        n++;
    if (i < n)
        return workload_at(i)->name;
    return suite_at(i - n) ? suite_at(i - n)->name : NULL;
}

bool matrix_add_workloads(struct matrix *x, const char *name) {
    const struct suite *suite = suite_find(name), one = {.workloads = name};
    if (!suite && !workload_find(name)) {
        const char *near = diag_nearest(name, strlen(name), next_name, NULL);
        fprintf(stderr, "reprise: there is no workload or suite '%s'%s%s%s\n", name,
                near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
        return false;
    }
    suite_workloads(suite ? suite : &one, &x->workloads);
    return true;
}

/* The settings of a model: those for all, then its own. */
static const char **model_settings(const struct matrix *x, const struct matrix_model *m) {
    VEC(const char *) all = {0};
    for (uint32_t i = 0; i < x->set.len; i++)
        vec_push(&all, x->set.at[i]);
    for (uint32_t i = 0; i < m->set.len; i++)
        vec_push(&all, m->set.at[i]);
    vec_push(&all, NULL);
    return all.at;
}

bool matrix_check(const struct matrix *x) {
    bool ok = true;
    for (uint32_t m = 0; ok && m < x->models.len; m++) {
        const struct matrix_model *model = &x->models.at[m];
        const char **set = model_settings(x, model);
        char *log = NULL;
        struct rp_gpu *gpu = rp_gpu_create(
            &(struct rp_options){
                .gpu = x->gpu, .set = set, .mech = model->mech, .probe = str_text(&model->probes)},
            &log);
        ok = gpu != NULL;
        if (log)
            fputs(log, stderr);
        free(log);
        rp_gpu_destroy(gpu);
        free(set);
    }
    return ok;
}

/* ---- one run ---- */

/* A run that has not been done yet. */
struct todo {
    uint32_t run;      /* of results */
    VEC(char *) words; /* its command line */
    char *title, *report, *kept;
};

/* What the jobs need. */
struct context {
    struct matrix *matrix;
    const char *dir;
    struct keep keep;
    VEC(struct todo) todo;
};

__attribute__((format(printf, 2, 3))) static void add_word(struct todo *t, const char *fmt, ...) {
    struct str s = {0};
    va_list ap;
    va_start(ap, fmt);
    str_vprintf(&s, fmt, ap);
    va_end(ap);
    vec_push(&t->words, s.at);
}

/* The options that decide what a run computes. */
static void add_options(const struct matrix *x, const struct matrix_model *m, struct todo *t) {
    const char **set = model_settings(x, m);
    add_word(t, "--digest");
    if (x->gpu) {
        add_word(t, "--gpu");
        add_word(t, "%s", x->gpu);
    }
    if (strcmp(m->mech, "base")) {
        add_word(t, "--mech");
        add_word(t, "%s", m->mech);
        if (x->check)
            add_word(t, "--check");
    }
    if (m->probes.len) {
        add_word(t, "--probe");
        add_word(t, "%s", str_text(&m->probes));
    }
    for (uint32_t i = 0; set[i]; i++) {
        add_word(t, "--set");
        add_word(t, "%s", set[i]);
    }
    free(set);
}

static void add_what(const struct matrix *x, uint32_t w, struct todo *t) {
    if (x->program) {
        add_word(t, "--");
        for (char **p = x->program; *p; p++)
            add_word(t, "%s", *p);
        return;
    }
    add_word(t, "%s", x->workloads.at[w]->name);
    add_word(t, "--size");
    add_word(t, "%s", workload_sizes[x->run.size]);
    add_word(t, "--bits");
    add_word(t, "%d", x->run.bits);
    add_word(t, "--check-result");
}

/* ---- as a job ---- */

static const char *job_title(void *ctx, uint32_t i) {
    const struct context *c = ctx;
    return c->todo.at[i].title;
}

static int job_run(void *ctx, uint32_t i) {
    struct context *c = ctx;
    struct todo *t = &c->todo.at[i];
    vec_push(&t->words, NULL);
    dup2(STDERR_FILENO, STDOUT_FILENO); /* what it says in the order it said it */
    execv("/proc/self/exe", t->words.at);
    return 127;
}

/* Adds the first and the last lines of what a run printed. */
static void add_excerpt(struct str *s, const char *text) {
    uint32_t n = 0, all = 0;
    for (const char *p = text; *p; p++)
        all += *p != '\n' && (p[1] == '\n' || !p[1]);
    char *lines = xstrdup(text), *save, *line = strtok_r(lines, "\n", &save);
    for (; line; line = strtok_r(NULL, "\n", &save), n++) {
        if (n < SHOWN_LINES || n + SHOWN_LINES >= all)
            str_printf(s, "\n%s", line);
        else if (n == SHOWN_LINES)
            str_printf(s, "\n...");
    }
    free(lines);
}

static int job_ended(void *ctx, uint32_t i, int status, const char *text) {
    struct context *c = ctx;
    struct todo *t = &c->todo.at[i];
    struct run *run = &c->matrix->results.runs[t->run];
    struct str error = {0};
    if (status > 128)
        str_printf(&error, "ended by signal %d (%s)", status - 128, strsignal(status - 128));
    else if (status)
        str_printf(&error, "ended with status %d", status);
    json_t *report = status ? NULL : results_read(t->report, &error);
    unlink(t->report);
    if (report && t->kept)
        keep_report(t->kept, report);
    if (!report)
        add_excerpt(&error, text);
    *run = (struct run){.status = report ? RUN_OK : RUN_FAILED, .report = report, .message = error.at};
    return report ? 0 : 1;
}

/* ---- all of them ---- */

static const char *row_name(const struct matrix *x, uint32_t w) {
    if (!x->program)
        return x->workloads.at[w]->name;
    const char *slash = strrchr(x->program[0], '/');
    return slash ? slash + 1 : x->program[0];
}

/* A folder for files of this process: that of kept reports, or a new one; false after a message. */
static bool open_folder(const struct matrix *x, char *dir, size_t size) {
    const char *tmp = getenv("TMPDIR");
    if (x->keep) {
        snprintf(dir, size, "%s", x->keep);
        return io_make_folder(dir);
    }
    snprintf(dir, size, "%s/reprise-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (mkdtemp(dir))
        return true;
    fprintf(stderr, "reprise: %s: %s\n", dir, strerror(errno));
    return false;
}

static void free_todo(struct todo *t) {
    for (uint32_t i = 0; i < t->words.len; i++)
        free(t->words.at[i]);
    vec_free(&t->words);
    free(t->title);
    free(t->report);
    free(t->kept);
}

/* Notes a run as something to do, unless its report is kept already. */
static void add_run(struct context *c, uint32_t w, uint32_t m) {
    enum { UNNAMED = 4 }; /* words that do not tell runs apart: reprise run --json FILE */
    struct matrix *x = c->matrix;
    struct todo t = {.run = w * x->models.len + m};
    struct str title = {0}, report = {0};
    str_printf(&title, "%s %s", row_name(x, w), x->results.models.at[m]);
    str_printf(&report, "%s/%d-%u.part", c->dir, (int)getpid(), t.run);
    t.title = title.at;
    t.report = report.at;
    add_word(&t, "reprise");
    add_word(&t, "run");
    add_word(&t, "--json");
    add_word(&t, "%s", t.report);
    add_options(x, &x->models.at[m], &t);
    add_what(x, w, &t);
    json_t *found = NULL;
    if (x->keep) {
        const char **set = model_settings(x, &x->models.at[m]);
        struct keep_run run = {.words = t.words.at + UNNAMED,
                               .nwords = t.words.len - UNNAMED,
                               .gpu = x->gpu,
                               .set = set,
                               .workload = x->workloads.at[w],
                               .bits = x->run.bits};
        t.kept = keep_name(&c->keep, x->keep, &run);
        found = keep_find(t.kept);
        free(set);
    }
    if (!found) {
        vec_push(&c->todo, t);
        return;
    }
    x->results.runs[t.run] = (struct run){.status = RUN_OK, .report = found};
    free_todo(&t);
}

static int outcome(const struct results *r) {
    for (size_t i = 0; i < (size_t)r->workloads.len * r->models.len; i++)
        if (r->runs[i].status != RUN_OK)
            return 1;
    return 0;
}

int matrix_run(struct matrix *x) {
    char dir[PATH_MAX];
    uint32_t rows = x->program ? 1 : x->workloads.len;
    struct context c = {.matrix = x, .dir = dir};
    if (!open_folder(x, dir, sizeof dir))
        return 1;
    for (uint32_t w = 0; w < rows; w++)
        vec_push(&x->results.workloads, xstrdup(row_name(x, w)));
    results_begin(&x->results);
    for (uint32_t w = 0; w < rows; w++)
        for (uint32_t m = 0; m < x->models.len; m++)
            add_run(&c, w, m);
    struct jobs jobs = {.count = c.todo.len,
                        .at_once = x->jobs,
                        .run = job_run,
                        .title = job_title,
                        .ended = job_ended,
                        .ctx = &c};
    int rc = jobs_run(&jobs);
    for (uint32_t i = 0; i < c.todo.len; i++) {
        unlink(c.todo.at[i].report);
        free_todo(&c.todo.at[i]);
    }
    vec_free(&c.todo);
    if (!x->keep)
        rmdir(dir);
    results_check(&x->results);
    return rc == JOBS_STOPPED ? rc : outcome(&x->results);
}

void matrix_free(struct matrix *x) {
    for (uint32_t i = 0; i < x->models.len; i++) {
        free(x->models.at[i].mech);
        str_free(&x->models.at[i].probes);
        for (uint32_t k = 0; k < x->models.at[i].set.len; k++)
            free(x->models.at[i].set.at[k]);
        vec_free(&x->models.at[i].set);
    }
    vec_free(&x->models);
    vec_free(&x->workloads);
    vec_free(&x->set);
    results_free(&x->results);
}
