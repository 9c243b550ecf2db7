/* What a task of a job array does: its runs, one after another, each into the spool. */
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "study/command.h"
#include "study/slurm.h"

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Runs a command; its status, 128 and the number of a signal, and what it printed. */
static int run(char *const *words, struct str *text) {
    FILE *out = tmpfile();
    pid_t parent = getpid(), pid = out ? fork() : -1;
    int status;
    if (!pid) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(127);
        dup2(fileno(out), STDERR_FILENO);
        launch_become(words);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return 127;
    char buffer[4096];
    size_t n;
    rewind(out);
    while ((n = fread(buffer, 1, sizeof buffer, out)) > 0)
        str_add(text, buffer, n);
    fclose(out);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static const char *text_in(json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* Does one run and leaves its outcome in the spool; whether it succeeded. */
static bool do_run(json_t *task, const char *spool) {
    struct command c = {0};
    struct str text = {0}, error = {0};
    struct run_key key = {0};
    json_t *word, *m = json_object_get(task, "manifest");
    const char *report = text_in(task, "report"), *results = text_in(task, "results");
    size_t i;
    snprintf(key.text, sizeof key.text, "%s", text_in(task, "key"));
    json_array_foreach(json_object_get(task, "words"), i, word)
        vec_push(&c.words, xstrdup(json_string_value(word)));
    vec_push(&c.words, NULL);
    command_begin(m);
    double began = now();
    int status = run(c.words.at, &text);
    json_object_set_new(m, "wall_s", json_real(now() - began));
    json_t *all = launch_outcome(status, report, str_text(&text), &error);
    bool kept = store_spool(spool, &key, m, text_in(task, "title"), all,
                            all && !access(results, R_OK) ? results : NULL, all ? NULL : str_text(&error));
    printf("%s: %s\n", text_in(task, "title"), all ? "finished" : str_text(&error));
    unlink(report);
    unlink(results);
    json_decref(all);
    command_free(&c);
    str_free(&text);
    str_free(&error);
    return kept && status == 0;
}

int slurm_task(const char *folder, uint32_t n) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/tasks.json", folder);
    json_error_t e;
    json_t *all = json_load_file(path, 0, &e), *runs = json_object_get(all, "runs");
    size_t per_task = (size_t)json_integer_value(json_object_get(all, "per_task")), failed = 0;
    if (!all)
        fprintf(stderr, "reprise: %s: %s\n", path, e.text);
    else if (n * per_task >= json_array_size(runs))
        fprintf(stderr, "reprise: %s has no task %u\n", path, n);
    for (size_t i = n * per_task; i < (n + 1) * per_task && i < json_array_size(runs); i++)
        failed += !do_run(json_array_get(runs, i), text_in(all, "spool"));
    bool ok = all && n * per_task < json_array_size(runs) && !failed;
    json_decref(all);
    return !ok;
}
