/* The runs of a plan: their command lines, and what becomes of them. */
#include "study/launch.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "study/cpu.h"

enum { SHOWN_LINES = 4 }; /* of the beginning, and of the end, of what a failed run printed */

/* A run that has to be done. */
struct todo {
    struct run_key key;
    VEC(uint32_t) rows; /* that want it */
    bool wants_results;
    VEC(char *) words; /* its command line */
    char *title, *report, *results;
};

struct launch {
    struct plan *plan;
    struct store *store;
    VEC(struct todo) todo;
    struct map by_key; /* from hashes to numbers of todo, from 1 */
};

/* ---- the command line ---- */

__attribute__((format(printf, 2, 3))) static void add_word(struct todo *t, const char *fmt, ...) {
    struct str s = {0};
    va_list ap;
    va_start(ap, fmt);
    str_vprintf(&s, fmt, ap);
    va_end(ap);
    vec_push(&t->words, s.at);
}

static void add_option(struct todo *t, const char *option, const char *value) {
    add_word(t, "%s", option);
    add_word(t, "%s", value);
}

static void add_machine(const struct plan *p, const struct model *m, struct todo *t) {
    add_word(t, "--digest");
    if (m->gpu)
        add_option(t, "--gpu", m->gpu);
    if (strcmp(m->mech, "base")) {
        add_option(t, "--mech", m->mech);
        if (p->check)
            add_word(t, "--check");
    }
    if (m->probes.len)
        add_option(t, "--probe", str_text(&m->probes));
    for (uint32_t i = 0; i < m->set.len; i++)
        add_option(t, "--set", m->set.at[i]);
}

static void add_sampling(const struct plan *p, const struct bench *b, struct todo *t) {
    uint64_t all = plan_sampled(p, b);
    if (!all)
        return;
    add_word(t, "--max-insts");
    add_word(t, "%" PRIu64, p->max_insts);
    add_word(t, "--expect-insts");
    add_word(t, "%" PRIu64, all);
    if (plan_whole_blocks(p))
        add_word(t, "--whole-blocks");
}

static void add_bench(const struct bench *b, struct todo *t) {
    if (t->wants_results)
        add_option(t, "--results", t->results);
    for (uint32_t i = 0; t->wants_results && i < b->results.len; i++)
        add_option(t, "--result", b->results.at[i]);
    if (b->program) {
        add_word(t, "--");
        for (char **p = b->program; *p; p++)
            add_word(t, "%s", *p);
        return;
    }
    add_word(t, "%s", b->workload->name);
    add_option(t, "--size", workload_sizes[b->size]);
    add_option(t, "--bits", b->bits == 32 ? "32" : "64");
    add_word(t, "--check-result");
    if (b->arguments.len)
        add_word(t, "--");
    for (uint32_t i = 0; i < b->arguments.len; i++)
        add_word(t, "%s", b->arguments.at[i]);
}

/* ---- as a job ---- */

static const char *job_title(void *ctx, uint32_t i) {
    const struct launch *l = ctx;
    return l->todo.at[i].title;
}

static int job_run(void *ctx, uint32_t i) {
    struct launch *l = ctx;
    dup2(STDERR_FILENO, STDOUT_FILENO); /* what it says in the order it said it */
    execv("/proc/self/exe", l->todo.at[i].words.at);
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

static void fill_row(struct row *row, const struct store_row *from, const char *error) {
    row->status = from->report ? ROW_OK : ROW_FAILED;
    row->report = json_incref(from->report);
    row->results = from->results ? xstrdup(from->results) : NULL;
    row->message = *error ? xstrdup(error) : NULL;
}

static void free_row(struct store_row *row) {
    json_decref(row->report);
    free(row->results);
}

static void remove_files(const struct todo *t) {
    unlink(t->report);
    unlink(t->results);
}

static int job_ended(void *ctx, uint32_t i, int status, const char *text) {
    struct launch *l = ctx;
    struct todo *t = &l->todo.at[i];
    struct str error = {0};
    if (status > 128)
        str_printf(&error, "ended by signal %d (%s)", status - 128, strsignal(status - 128));
    else if (status)
        str_printf(&error, "ended with status %d", status);
    struct store_row row = {.report = status ? NULL : table_read_report(t->report, &error)};
    bool ok = row.report;
    if (ok && !access(t->results, R_OK))
        row.results = xstrdup(t->results);
    if (ok)
        store_put(l->store, &t->key, &row);
    else
        add_excerpt(&error, text);
    for (uint32_t r = 0; r < t->rows.len; r++)
        fill_row(&l->plan->table.rows.at[t->rows.at[r]], &row, str_text(&error));
    remove_files(t);
    free_row(&row);
    str_free(&error);
    return !ok;
}

/* ---- all of them ---- */

static void free_todo(struct todo *t) {
    for (uint32_t i = 0; i < t->words.len; i++)
        free(t->words.at[i]);
    vec_free(&t->words);
    vec_free(&t->rows);
    free(t->title);
    free(t->report);
    free(t->results);
}

/* A file for what a run writes. */
static char *part_name(const struct launch *l, const struct todo *t, const char *what) {
    struct str path = {0};
    str_printf(&path, "%s/%s.%s.%d.part", store_folder(l->store), t->key.text, what, (int)getpid());
    return path.at;
}

/* Names the files of a run, and makes its command line from the first row that wants it. */
static void prepare(const struct launch *l, struct todo *t) {
    const struct table *table = &l->plan->table;
    const struct row *row = &table->rows.at[t->rows.at[0]];
    const struct bench *b = &table->benches.at[row->bench];
    const struct model *m = &table->models.at[row->model];
    struct str title = {0};
    str_printf(&title, "%s %s", b->label, m->label);
    t->title = title.at;
    t->report = part_name(l, t, "report");
    t->results = part_name(l, t, "results");
    if (m->cpu) {
        char **words;
        cpu_command(b, m, t->report, t->wants_results ? t->results : NULL, &words);
        for (char **w = words; *w; w++)
            vec_push(&t->words, *w);
        free(words);
    } else {
        add_word(t, "reprise");
        add_word(t, "run");
        add_option(t, "--json", t->report);
        add_machine(l->plan, m, t);
        add_sampling(l->plan, b, t);
        add_bench(b, t);
    }
    vec_push(&t->words, NULL);
}

/* The run with a key that has to be done; made when there is none. */
static struct todo *todo_for(struct launch *l, const struct run_key *key) {
    uintptr_t known = (uintptr_t)map_get_u64(&l->by_key, key->hash);
    if (known)
        return &l->todo.at[known - 1];
    struct todo t = {.key = *key};
    vec_push(&l->todo, t);
    map_set_u64(&l->by_key, key->hash, (void *)(uintptr_t)l->todo.len);
    return &l->todo.at[l->todo.len - 1];
}

/* Whether the results of a model are needed: it approximates, or one that does is compared with it. */
static bool wants_results(const struct table *t, uint32_t model) {
    for (uint32_t m = 0; m < t->models.len; m++)
        if (t->models.at[m].approximate && (m == model || t->models.at[m].base == model))
            return true;
    return false;
}

/* Takes a row from the store, or notes its run as something to do. */
static void add_row(struct launch *l, uint32_t r) {
    struct table *table = &l->plan->table;
    struct row *row = &table->rows.at[r];
    const struct bench *b = &table->benches.at[row->bench];
    uint64_t part = plan_sampled(l->plan, b) ? l->plan->max_insts : 0;
    part |= part && plan_whole_blocks(l->plan) ? UINT64_C(1) << 63 : 0;
    struct run_key key = key_of(b, &table->models.at[row->model], l->plan->check, part);
    struct store_row found = {0};
    bool results = wants_results(table, row->model);
    if (store_find(l->store, &key, &found) && (found.results || !results)) {
        fill_row(row, &found, "");
    } else {
        struct todo *t = todo_for(l, &key);
        t->wants_results |= results;
        vec_push(&t->rows, r);
    }
    free_row(&found);
}

static int outcome(const struct table *t) {
    for (uint32_t i = 0; i < t->rows.len; i++)
        if (t->rows.at[i].status != ROW_OK)
            return 1;
    return 0;
}

int launch_plan(struct plan *p, struct store *s) {
    struct launch l = {.plan = p, .store = s};
    for (uint32_t r = 0; r < p->table.rows.len; r++)
        add_row(&l, r);
    for (uint32_t i = 0; i < l.todo.len; i++)
        prepare(&l, &l.todo.at[i]);
    struct jobs jobs = {.count = l.todo.len,
                        .at_once = p->jobs,
                        .run = job_run,
                        .title = job_title,
                        .ended = job_ended,
                        .ctx = &l};
    int rc = jobs_run(&jobs);
    for (uint32_t i = 0; i < l.todo.len; i++) {
        remove_files(&l.todo.at[i]);
        free_todo(&l.todo.at[i]);
    }
    vec_free(&l.todo);
    map_free(&l.by_key);
    table_check(&p->table);
    return rc == JOBS_STOPPED ? rc : outcome(&p->table);
}
