/* Job arrays of Slurm: submitting batches, following them. */
#include "study/slurm.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "study/command.h"
#include "study/progress.h"

enum { MOST_TASKS = 1000 }; /* of one array; what Slurm allows unless it is told otherwise */

/* ---- Slurm's commands ---- */

static void read_all(int fd, struct str *out) {
    char buffer[4096];
    ssize_t n;
    while ((n = read(fd, buffer, sizeof buffer)) > 0 || (n < 0 && errno == EINTR))
        if (n > 0)
            str_add(out, buffer, (size_t)n);
    close(fd);
}

/* Runs a command and takes what it prints, errors among it; its status, 127 when there is none such. */
static int capture(char *const *words, struct str *out) {
    int ends[2], status;
    if (pipe(ends))
        return 127;
    fflush(stderr);
    pid_t pid = fork();
    if (!pid) {
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        execvp(words[0], words);
        _exit(127);
    }
    close(ends[1]);
    read_all(ends[0], out);
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return 127;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

bool slurm_there(void) {
    struct str out = {0};
    int status = capture((char *[]){"sinfo", "-h", "-o", "%P", NULL}, &out);
    if (status == 127)
        fprintf(stderr, "reprise: there is no Slurm here: sinfo was not found\n");
    else if (status)
        fprintf(stderr, "reprise: Slurm does not answer: %s", str_text(&out));
    str_free(&out);
    return !status;
}

/* ---- batches ---- */

struct batch {
    char *folder;
    char job[32];       /* Slurm's number; empty: never submitted */
    VEC(uint64_t) keys; /* of its runs, in order */
    uint32_t per_task;
    enum job_state *states; /* of its tasks: waiting, running, or JOB_DONE: no longer Slurm's */
};

struct batches {
    VEC(struct batch) all;
    struct map states; /* from keys of runs that Slurm has to 1 + their state */
};

static char *join(const char *folder, const char *name) {
    struct str path = {0};
    str_printf(&path, "%s/%s", folder, name);
    return path.at;
}

static void batch_free(struct batch *b) {
    vec_free(&b->keys);
    free(b->folder);
    free(b->states);
}

static void batches_free(struct batches *b) {
    for (uint32_t i = 0; i < b->all.len; i++)
        batch_free(&b->all.at[i]);
    vec_free(&b->all);
    map_free(&b->states);
}

static int remove_one(const char *path, const struct stat *s, int kind, struct FTW *at) {
    (void)s;
    (void)kind;
    (void)at;
    return remove(path);
}

static uint32_t tasks_of(const struct batch *b) {
    return (b->keys.len + b->per_task - 1) / b->per_task;
}

/* Reads the folder of a batch; false when it is none, or never was submitted. */
static bool batch_read(struct batch *b, const char *folder) {
    char *tasks = join(folder, "tasks.json"), *job = join(folder, "job");
    json_t *all = json_load_file(tasks, 0, NULL), *run;
    size_t i;
    *b = (struct batch){.folder = xstrdup(folder)};
    b->per_task = (uint32_t)json_integer_value(json_object_get(all, "per_task"));
    b->per_task = b->per_task ? b->per_task : 1;
    json_array_foreach(json_object_get(all, "runs"), i, run) {
        const char *key = json_string_value(json_object_get(run, "key"));
        const char *dash = key ? strrchr(key, '-') : NULL;
        vec_push(&b->keys, dash ? strtoull(dash + 1, NULL, 16) : 0);
    }
    FILE *f = all ? fopen(job, "r") : NULL;
    bool ok = f && fgets(b->job, sizeof b->job, f);
    if (f)
        fclose(f);
    b->states = xcalloc(tasks_of(b) + 1, sizeof *b->states);
    json_decref(all);
    free(tasks);
    free(job);
    return ok;
}

/* Asks Slurm what it still has of a batch. */
static void batch_ask(struct batch *b) {
    struct str out = {0};
    char *save;
    int status = capture((char *[]){"squeue", "-h", "-r", "-j", b->job, "-o", "%K %T", NULL}, &out);
    bool gone = status && strstr(str_text(&out), "Invalid job id");
    if (status && !gone) { /* Slurm does not answer: nothing has changed, as far as anybody knows */
        str_free(&out);
        return;
    }
    for (uint32_t i = 0; i < tasks_of(b); i++)
        b->states[i] = JOB_DONE;
    for (char *line = gone || !out.len ? NULL : strtok_r(out.at, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save)) {
        char *end;
        unsigned long task = strtoul(line, &end, 10);
        if (end == line || task >= tasks_of(b))
            continue;
        while (*end == ' ')
            end++;
        bool over = !strncmp(end, "COMPLETED", 9) || !strncmp(end, "FAILED", 6) ||
                    !strncmp(end, "CANCELLED", 9) || !strncmp(end, "TIMEOUT", 7) ||
                    !strncmp(end, "NODE_FAIL", 9) || !strncmp(end, "OUT_OF", 6);
        b->states[task] = over ? JOB_DONE : strncmp(end, "PENDING", 7) ? JOB_RUNNING : JOB_WAITING;
    }
    str_free(&out);
}

/* Notes which runs Slurm has, after it was asked. */
static void note_states(struct batches *b) {
    map_free(&b->states);
    b->states = (struct map){0};
    for (uint32_t i = 0; i < b->all.len; i++) {
        const struct batch *one = &b->all.at[i];
        for (uint32_t k = 0; k < one->keys.len; k++)
            if (one->states[k / one->per_task] != JOB_DONE)
                map_set_u64(&b->states, one->keys.at[k],
                            (void *)(uintptr_t)(1 + one->states[k / one->per_task]));
    }
}

/* All batches of the store, asked after. */
static void batches_read(struct batches *b, const struct store *s) {
    char *folder = store_file(s, "slurm", "");
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));) {
        struct batch one;
        if (e->d_name[0] == '.')
            continue;
        char *path = join(folder, e->d_name);
        if (batch_read(&one, path)) {
            batch_ask(&one);
            vec_push(&b->all, one);
        } else {
            batch_free(&one);
        }
        free(path);
    }
    if (d)
        closedir(d);
    free(folder);
    note_states(b);
}

/* What Slurm is doing with a run; JOB_DONE: nothing. */
static enum job_state state_of(const struct batches *b, uint64_t key) {
    uintptr_t known = (uintptr_t)map_get_u64(&b->states, key);
    return known ? (enum job_state)(known - 1) : JOB_DONE;
}

void slurm_count(const struct launch *l, uint32_t *waiting, uint32_t *running) {
    struct batches b = {0};
    batches_read(&b, l->store);
    *waiting = *running = 0;
    for (uint32_t i = 0; i < l->todo.len; i++) {
        enum job_state s = state_of(&b, l->todo.at[i].key.hash);
        *waiting += s == JOB_WAITING;
        *running += s == JOB_RUNNING;
    }
    batches_free(&b);
}

/* ---- submitting ---- */

/* A run as a task finds it. The files it writes are in the batch's folder. */
static json_t *task_json(const struct launch *l, const struct launch_run *r, const char *folder) {
    const struct table *t = &l->plan->table;
    const struct row *row = &t->rows.at[r->row];
    const struct bench *b = &t->benches.at[row->bench];
    const struct model *m = &t->models.at[row->model];
    struct str report = {0}, results = {0};
    struct command c = {0};
    json_t *words = json_array();
    char *title = launch_title(l, r);
    str_printf(&report, "%s/%s.report", folder, r->key.text);
    str_printf(&results, "%s/%s.results", folder, r->key.text);
    struct command_files files = {report.at, r->results ? results.at : NULL};
    command_of(&c, l->plan, b, m, &files);
    for (char **w = c.words.at; *w; w++)
        json_array_append_new(words, command_text(*w));
    json_t *all = json_pack("{s:s, s:o, s:s, s:s, s:o, s:o}", "key", r->key.text, "title",
                            command_text(title), "report", report.at, "results", results.at, "words", words,
                            "manifest", command_manifest(l->plan, b, m, &r->key));
    command_free(&c);
    free(title);
    str_free(&report);
    str_free(&results);
    return all;
}

static bool write_tasks(const struct launch *l, const struct sweep *s, const char *folder,
                        const uint32_t *todo, uint32_t n) {
    json_t *runs = json_array();
    char *name = store_file(l->store, "spool", ""), *spool = realpath(name, NULL);
    free(name);
    for (uint32_t i = 0; i < n; i++)
        json_array_append_new(runs, task_json(l, &l->todo.at[todo[i]], folder));
    json_t *all = json_pack("{s:i, s:s, s:o}", "per_task", (int)s->per_task, "spool", spool, "runs", runs);
    char *path = join(folder, "tasks.json"), *text = json_dumps(all, JSON_COMPACT);
    bool ok = text && io_write(path, text, strlen(text));
    free(text);
    free(path);
    free(spool);
    json_decref(all);
    return ok;
}

static bool write_script(const char *folder) {
    struct str text = {0};
    char exe[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    exe[n > 0 ? n : 0] = 0;
    str_printf(&text, "#!/bin/sh\nexec ");
    command_quote(&text, (char *[]){exe, "sweep", "task", (char *)folder, NULL});
    str_printf(&text, " \"$SLURM_ARRAY_TASK_ID\"\n");
    char *path = join(folder, "task.sh");
    bool ok = io_write(path, text.at, text.len);
    free(path);
    str_free(&text);
    return ok;
}

/* Hands a folder to Slurm; false after a message. */
static bool submit(const struct launch *l, const struct sweep *s, const char *folder, uint32_t tasks) {
    VEC(char *) words = {0};
    struct str array = {0}, log = {0}, name = {0}, out = {0};
    char *script = join(folder, "task.sh"), *job = join(folder, "job");
    str_printf(&array, "--array=0-%u", tasks - 1);
    if (l->plan->jobs)
        str_printf(&array, "%%%u", l->plan->jobs);
    str_printf(&name, "--job-name=reprise %s", s->name);
    str_printf(&log, "--output=");
    for (const char *c = folder; *c; c++) /* where % begins a pattern */
        str_add(&log, *c == '%' ? "%%" : c, *c == '%' ? 2 : 1);
    str_printf(&log, "/%%a.log");
    char *const first[] = {"sbatch", "--parsable", "--requeue", array.at, name.at, log.at};
    for (size_t i = 0; i < sizeof first / sizeof first[0]; i++)
        vec_push(&words, first[i]);
    for (uint32_t i = 0; i < s->slurm.len; i++)
        vec_push(&words, s->slurm.at[i]);
    vec_push(&words, script);
    vec_push(&words, NULL);
    bool ok = !capture(words.at, &out);
    char *number = out.len ? out.at + strcspn(out.at, "0123456789") : "";
    number[strspn(number, "0123456789")] = 0;
    if (!ok || !*number)
        fprintf(stderr, "reprise: sbatch failed: %s", str_text(&out));
    ok = ok && *number && io_write(job, number, strlen(number));
    vec_free(&words);
    str_free(&array);
    str_free(&log);
    str_free(&name);
    str_free(&out);
    free(script);
    free(job);
    return ok;
}

/* Submits runs, given by their numbers, as one array; false after a message. */
static bool submit_batch(const struct launch *l, const struct sweep *s, const uint32_t *todo, uint32_t n,
                         struct batches *b) {
    char *slurm = store_file(l->store, "slurm", ""), real[PATH_MAX];
    struct batch one;
    bool ok = io_make_folder(slurm) && realpath(slurm, real);
    free(slurm);
    if (!ok)
        return false;
    struct str folder = {0};
    str_printf(&folder, "%s/batch-XXXXXX", real);
    ok = mkdtemp(folder.at) && !chmod(folder.at, 0755) && write_tasks(l, s, folder.at, todo, n) &&
         write_script(folder.at) && submit(l, s, folder.at, (n + s->per_task - 1) / s->per_task);
    if (ok && batch_read(&one, folder.at))
        vec_push(&b->all, one);
    else
        nftw(folder.at, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    str_free(&folder);
    return ok;
}

/* ---- following ---- */

/* What is known of a run that is to be done. */
struct follow {
    struct launch *l;
    const struct sweep *s;
    struct batches batches;
    enum job_state *states; /* of l->todo */
    uint32_t *failed;       /* how often it had failed when last looked at */
    uint32_t *tries;        /* how often it was submitted */
};

/* Submits those that wait for it; false after a message. */
static bool submit_all(struct follow *f) {
    VEC(uint32_t) todo = {0};
    bool ok = true;
    for (uint32_t i = 0; i <= f->l->todo.len; i++) {
        bool end = i == f->l->todo.len;
        if (!end && f->states[i] == JOB_WAITING &&
            state_of(&f->batches, f->l->todo.at[i].key.hash) == JOB_DONE) {
            vec_push(&todo, i);
            f->tries[i]++;
        }
        if (todo.len && (end || todo.len == (uint32_t)MOST_TASKS * f->s->per_task)) {
            ok = ok && submit_batch(f->l, f->s, todo.at, todo.len, &f->batches);
            todo.len = 0;
        }
    }
    note_states(&f->batches);
    vec_free(&todo);
    return ok;
}

/* The end of what a task printed. */
static char *log_tail(const struct follow *f, uint64_t key) {
    enum { TAIL = 600 };
    struct str text = {0};
    for (uint32_t i = 0; i < f->batches.all.len; i++) {
        const struct batch *b = &f->batches.all.at[i];
        for (uint32_t k = 0; k < b->keys.len; k++) {
            if (b->keys.at[k] != key)
                continue;
            char name[32];
            snprintf(name, sizeof name, "%u.log", k / b->per_task);
            char *path = join(b->folder, name);
            size_t len = 0;
            char *log = access(path, R_OK) ? NULL : io_read(path, &len);
            text.len = 0;
            if (log)
                str_printf(&text, "\n%s", log + (len > TAIL ? len - TAIL : 0));
            free(log);
            free(path);
        }
    }
    return text.at;
}

/* Looks at run i, of which Slurm has nothing any more: finished, failed, or lost without a word. */
static void look_at(struct follow *f, uint32_t i) {
    struct launch_run *r = &f->l->todo.at[i];
    char *message = NULL, *command = NULL;
    if (store_has(f->l->store, &r->key, r->results)) {
        f->states[i] = JOB_DONE;
        return;
    }
    uint32_t failed = store_failure(f->l->store, &r->key, &message, &command);
    if (failed == f->failed[i]) {
        const struct table *t = &f->l->plan->table;
        const struct row *row = &t->rows.at[r->row];
        json_t *m =
            command_manifest(f->l->plan, &t->benches.at[row->bench], &t->models.at[row->model], &r->key);
        char *title = launch_title(f->l, r), *tail = log_tail(f, r->key.hash);
        struct str what = {0};
        str_printf(&what, "Slurm ended its task before it was finished%s", tail ? tail : "");
        store_fail(f->l->store, &r->key, m, title, what.at);
        free(message);
        message = what.at;
        json_decref(m);
        free(title);
        free(tail);
        failed++;
    }
    f->failed[i] = failed;
    f->states[i] = f->tries[i] <= f->s->retries ? JOB_WAITING : JOB_FAILED;
    free(r->message);
    r->message = f->states[i] == JOB_FAILED ? message : NULL;
    if (!r->message)
        free(message);
    free(command);
}

/* Takes in what has arrived, and looks at all runs; whether some are still to be waited for. */
static bool look(struct follow *f) {
    bool waiting = false, again = false;
    store_absorb(f->l->store);
    for (uint32_t i = 0; i < f->batches.all.len; i++)
        batch_ask(&f->batches.all.at[i]);
    note_states(&f->batches);
    store_absorb(f->l->store); /* what arrived before Slurm said that the task is over */
    for (uint32_t i = 0; i < f->l->todo.len; i++) {
        if (f->states[i] == JOB_DONE || f->states[i] == JOB_FAILED)
            continue;
        enum job_state s = state_of(&f->batches, f->l->todo.at[i].key.hash);
        if (s == JOB_DONE)
            look_at(f, i);
        else
            f->states[i] = s;
        again |= s == JOB_DONE && f->states[i] == JOB_WAITING;
        waiting |= f->states[i] == JOB_WAITING || f->states[i] == JOB_RUNNING;
    }
    return !(again && !submit_all(f)) && waiting;
}

static const char *follow_title(void *ctx, uint32_t i) {
    static char *title;
    const struct follow *f = ctx;
    free(title);
    title = launch_title(f->l, &f->l->todo.at[i]);
    return title;
}

/* Waits until all runs have ended; the exit status. */
static int follow(struct follow *f) {
    struct jobs jobs = {.count = f->l->todo.len, .title = follow_title, .ctx = f};
    struct progress p;
    sigset_t set, before;
    int got = 0;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigprocmask(SIG_BLOCK, &set, &before);
    progress_begin(&p, &jobs);
    for (long pause = 500; look(f); pause = pause < 5000 ? pause + 250 : pause) {
        struct timespec t = {.tv_sec = pause / 1000, .tv_nsec = pause % 1000 * 1000000};
        progress_show(&p, f->states);
        got = sigtimedwait(&set, NULL, &t);
        if (got > 0)
            break;
    }
    progress_show(&p, f->states);
    progress_end(&p);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (got > 0)
        return JOBS_STOPPED;
    for (uint32_t i = 0; i < f->l->todo.len; i++)
        if (f->states[i] != JOB_DONE)
            return 1;
    return 0;
}

/* Removes the folders of batches that Slurm has nothing of any more. */
static void remove_finished(struct follow *f) {
    for (uint32_t i = 0; i < f->batches.all.len; i++) {
        const struct batch *b = &f->batches.all.at[i];
        uint32_t n = 0;
        while (n < tasks_of(b) && b->states[n] == JOB_DONE)
            n++;
        if (n == tasks_of(b))
            nftw(b->folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    }
}

int slurm_launch(struct launch *l, const struct sweep *s, bool wait) {
    struct follow f = {.l = l, .s = s};
    f.states = xcalloc(l->todo.len + 1, sizeof *f.states);
    f.failed = xcalloc(l->todo.len + 1, sizeof *f.failed);
    f.tries = xcalloc(l->todo.len + 1, sizeof *f.tries);
    batches_read(&f.batches, l->store);
    for (uint32_t i = 0; i < l->todo.len; i++) {
        char *message = NULL, *command = NULL;
        f.failed[i] = store_failure(l->store, &l->todo.at[i].key, &message, &command);
        f.tries[i] = state_of(&f.batches, l->todo.at[i].key.hash) != JOB_DONE;
        free(message);
        free(command);
    }
    int rc = submit_all(&f) ? 0 : 1;
    if (!rc && wait)
        rc = follow(&f);
    remove_finished(&f);
    batches_free(&f.batches);
    free(f.states);
    free(f.failed);
    free(f.tries);
    return rc;
}
