/* The runs of a plan, and what becomes of them. */
#include "study/launch.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "study/command.h"

enum { SHOWN_LINES = 4 }; /* of the beginning, and of the end, of what a failed run printed */

/* ---- what has to be done ---- */

/* Whether the results of a model are needed: it approximates, or one that does is compared with it. */
static bool wants_results(const struct table *t, uint32_t model) {
    for (uint32_t m = 0; m < t->models.len; m++)
        if (t->models.at[m].approximate && (m == model || t->models.at[m].base == model))
            return true;
    return false;
}

/* Notes the run of a row as something to do, unless it is known or has been done. */
static void add_row(struct launch *l, uint32_t r) {
    const struct table *t = &l->plan->table;
    const struct bench *b = &t->benches.at[t->rows.at[r].bench];
    const struct model *m = &t->models.at[t->rows.at[r].model];
    bool results = wants_results(t, t->rows.at[r].model);
    struct run_key key = l->keys[r] = key_of(b, m, l->plan->check, plan_part(l->plan, b));
    uintptr_t known = (uintptr_t)map_get_u64(&l->by_key, key.hash);
    if (known) {
        l->todo.at[known - 1].results |= results;
    } else if (l->fresh || !store_has(l->store, &key, results)) {
        vec_push(&l->todo, (struct launch_run){.key = key, .row = r, .results = results});
        map_set_u64(&l->by_key, key.hash, (void *)(uintptr_t)l->todo.len);
    }
}

void launch_begin(struct launch *l, struct plan *p, struct store *s, bool fresh) {
    *l = (struct launch){.plan = p, .store = s, .fresh = fresh};
    l->keys = xcalloc(p->table.rows.len + 1, sizeof *l->keys);
    for (uint32_t r = 0; r < p->table.rows.len; r++)
        add_row(l, r);
}

void launch_end(struct launch *l) {
    for (uint32_t i = 0; i < l->todo.len; i++) {
        json_decref(l->todo.at[i].report);
        json_decref(l->todo.at[i].manifest);
        free(l->todo.at[i].message);
    }
    vec_free(&l->todo);
    map_free(&l->by_key);
    free(l->keys);
}

char *launch_title(const struct launch *l, const struct launch_run *r) {
    const struct table *t = &l->plan->table;
    const struct row *row = &t->rows.at[r->row];
    struct str title = {0};
    str_printf(&title, "%s %s", t->benches.at[row->bench].label, t->models.at[row->model].label);
    return title.at;
}

/* ---- a run ---- */

void launch_become(char *const *words) {
    setenv("REPRISE_UNITS", "1", 1);
    setenv("REPRISE_PROGRESS", "none", 1); /* what it prints is kept for when it fails */
    dup2(STDERR_FILENO, STDOUT_FILENO);    /* what it says in the order it said it */
    execv("/proc/self/exe", words);
    _exit(127);
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

json_t *launch_outcome(int status, const char *report, const char *text, struct str *error) {
    if (status > 128)
        str_printf(error, "ended by signal %d (%s)", status - 128, strsignal(status - 128));
    else if (status)
        str_printf(error, "ended with status %d", status);
    else if (access(report, F_OK))
        str_printf(error, "ended well, but used no GPU: there is nothing to measure");
    json_t *all = error->len ? NULL : table_read_report(report, error);
    if (!all)
        add_excerpt(error, text);
    return all;
}

/* ---- on this machine ---- */

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* A file for what a run writes; it is ours, as the run is claimed. */
static char *part_name(const struct launch *l, const struct launch_run *r, const char *what) {
    struct str name = {0};
    str_printf(&name, "%s.%s.part", r->key.text, what);
    char *path = store_file(l->store, "parts", name.at);
    str_free(&name);
    return path;
}

static const char *job_title(void *ctx, uint32_t i) {
    static char *title;
    const struct launch *l = ctx;
    free(title);
    title = launch_title(l, &l->todo.at[i]);
    return title;
}

static double job_weight(void *ctx, uint32_t i) {
    return ((const struct launch *)ctx)->todo.at[i].weight;
}

/* Claims a run. One that another process is at waits, and is not done when that has finished it. */
static enum job_turn job_ready(void *ctx, uint32_t i) {
    struct launch *l = ctx;
    struct launch_run *r = &l->todo.at[i];
    if (!store_claim(l->store, &r->key))
        return JOB_LATER;
    if (!l->fresh && store_has(l->store, &r->key, r->results)) {
        store_release(l->store, &r->key);
        return JOB_NEVER;
    }
    const struct table *t = &l->plan->table;
    const struct row *row = &t->rows.at[r->row];
    r->manifest = command_manifest(l->plan, &t->benches.at[row->bench], &t->models.at[row->model], &r->key);
    command_begin(r->manifest);
    r->began = now();
    return JOB_NOW;
}

static int job_run(void *ctx, uint32_t i) {
    struct launch *l = ctx;
    const struct launch_run *r = &l->todo.at[i];
    const struct table *t = &l->plan->table;
    const struct row *row = &t->rows.at[r->row];
    struct command c = {0};
    struct command_files files = {part_name(l, r, "report"), r->results ? part_name(l, r, "results") : NULL};
    command_of(&c, l->plan, &t->benches.at[row->bench], &t->models.at[row->model], &files);
    launch_become(c.words.at);
    return 127;
}

static int job_ended(void *ctx, uint32_t i, int status, const char *text) {
    struct launch *l = ctx;
    struct launch_run *r = &l->todo.at[i];
    struct str error = {0};
    char *report = part_name(l, r, "report"), *results = part_name(l, r, "results");
    json_object_set_new(r->manifest, "wall_s", json_real(now() - r->began));
    json_t *all = launch_outcome(status, report, text, &error);
    if (!all) {
        char *title = launch_title(l, r);
        store_fail(l->store, &r->key, r->manifest, title, str_text(&error));
        r->message = xstrdup(str_text(&error));
        free(title);
    } else if (!store_put(l->store, &r->key, r->manifest, all, access(results, R_OK) ? NULL : results)) {
        fprintf(stderr, "reprise: %s: this run will not be kept\n", r->key.text);
        r->report = json_incref(all);
    }
    unlink(report);
    unlink(results);
    store_release(l->store, &r->key);
    json_decref(r->manifest);
    r->manifest = NULL;
    json_decref(all);
    free(report);
    free(results);
    str_free(&error);
    return all == NULL;
}

/* Removes what runs have written that were stopped. */
static void remove_parts(struct launch *l) {
    for (uint32_t i = 0; i < l->todo.len; i++) {
        const struct launch_run *r = &l->todo.at[i];
        if (!r->manifest)
            continue;
        char *report = part_name(l, r, "report"), *results = part_name(l, r, "results");
        unlink(report);
        unlink(results);
        free(report);
        free(results);
        store_release(l->store, &r->key);
    }
}

int launch_local(struct launch *l) {
    launch_estimate(l);
    struct jobs jobs = {.count = l->todo.len,
                        .at_once = l->plan->jobs,
                        .run = job_run,
                        .title = job_title,
                        .weight = job_weight,
                        .ready = job_ready,
                        .ended = job_ended,
                        .ctx = l};
    int rc = jobs_run(&jobs);
    remove_parts(l);
    return rc == JOBS_STOPPED ? rc : rc != 0;
}

/* ---- whether runs are right ---- */

/* Compares a run with its base, both in the store: the two are a small table of their own. */
static void check_pair(struct launch *l, uint32_t row, uint32_t base) {
    const struct model *models = l->plan->table.models.at;
    struct table pair = {0};
    uint32_t bench = table_add_bench(&pair, "run");
    const uint32_t numbers[] = {base, row};
    for (uint32_t i = 0; i < 2; i++) {
        struct store_row found = {0};
        uint32_t model = table_add_model(&pair, i ? "model" : "base");
        pair.models.at[model].approximate = models[l->plan->table.rows.at[numbers[i]].model].approximate;
        struct row *r = table_add(&pair, bench, model);
        r->status = store_find(l->store, &l->keys[numbers[i]], &found) ? ROW_OK : ROW_MISSING;
        r->report = found.report;
        r->results = found.results;
    }
    table_check(&pair);
    const struct row *r = table_row(&pair, bench, 1), *b = table_row(&pair, bench, 0);
    if (r->status != ROW_MISSING && b->status != ROW_MISSING)
        store_compare(l->store, &l->keys[row], &l->keys[base], r->status == ROW_WRONG ? r->message : NULL,
                      json_object_get(r->report, "error"));
    table_free(&pair);
}

void launch_compare(struct launch *l, void (*wrong)(void *ctx, uint32_t row, const char *message),
                    void *ctx) {
    const struct table *t = &l->plan->table;
    for (uint32_t r = 0; r < t->rows.len; r++) {
        const struct row *base = table_row(t, t->rows.at[r].bench, t->models.at[t->rows.at[r].model].base);
        char *message = NULL;
        if (!base || base == &t->rows.at[r])
            continue;
        uint32_t of = (uint32_t)(base - t->rows.at);
        if (!store_verdict(l->store, &l->keys[r], &l->keys[of], &message) &&
            store_has(l->store, &l->keys[r], false) && store_has(l->store, &l->keys[of], false))
            check_pair(l, r, of);
        if (store_verdict(l->store, &l->keys[r], &l->keys[of], &message) < 0)
            wrong(ctx, r, message);
        free(message);
    }
}

/* ---- all of it ---- */

/* Puts what came of a row's run into it. */
static void fill_row(struct launch *l, uint32_t r) {
    struct row *row = &l->plan->table.rows.at[r];
    uintptr_t known = (uintptr_t)map_get_u64(&l->by_key, l->keys[r].hash);
    const struct launch_run *run = known ? &l->todo.at[known - 1] : NULL;
    struct store_row found = {0};
    if (run && run->message) {
        row->status = ROW_FAILED;
        row->message = xstrdup(run->message);
    } else if (run && run->report) {
        row->status = ROW_OK;
        row->report = json_incref(run->report);
    } else if (store_find(l->store, &l->keys[r], &found)) {
        row->status = ROW_OK;
        row->report = found.report;
        row->results = found.results;
    }
}

/* Keeps how rows compare with their bases, where that is new. */
static void note_comparisons(struct launch *l) {
    const struct table *t = &l->plan->table;
    for (uint32_t r = 0; r < t->rows.len; r++) {
        const struct row *row = &t->rows.at[r],
                         *base = table_row(t, row->bench, t->models.at[row->model].base);
        char *message = NULL;
        if ((row->status != ROW_OK && row->status != ROW_WRONG) || !base || base == row ||
            base->status != ROW_OK)
            continue;
        const struct run_key *of = &l->keys[base - t->rows.at];
        bool wrong = row->status == ROW_WRONG;
        if (store_verdict(l->store, &l->keys[r], of, &message) != (wrong ? -1 : 1))
            store_compare(l->store, &l->keys[r], of, wrong ? row->message : NULL,
                          json_object_get(row->report, "error"));
        free(message);
    }
}

static int outcome(const struct table *t) {
    for (uint32_t i = 0; i < t->rows.len; i++)
        if (t->rows.at[i].status != ROW_OK)
            return 1;
    return 0;
}

int launch_plan(struct plan *p, struct store *s, bool fresh) {
    struct launch l;
    launch_begin(&l, p, s, fresh);
    int rc = launch_local(&l);
    for (uint32_t r = 0; r < p->table.rows.len; r++)
        fill_row(&l, r);
    table_check(&p->table);
    note_comparisons(&l);
    launch_end(&l);
    return rc == JOBS_STOPPED ? rc : outcome(&p->table);
}
