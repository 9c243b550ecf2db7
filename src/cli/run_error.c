/* reprise run --max-error: how far the results of a run are off. The program runs a first time without
 * timing, where no mechanism acts, and that is what its results are compared with (docs/results.md). */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jansson.h>

#include "base/io.h"
#include "cli/run_error.h"
#include "report/results.h"
#include "study/error.h"
#include "study/table.h"

/* What the exact run must not do: act, write files, say something. */
static const char *const not_exact[] = {"REPRISE_JSON",
                                        "REPRISE_PROFILE",
                                        "REPRISE_TRACE",
                                        "REPRISE_MECH",
                                        "REPRISE_PROBE",
                                        "REPRISE_CHECK",
                                        NULL};

/* Runs the program in a process of its own, results to a file; its status. */
static int run_apart(int (*go)(void *), void *ctx, const char *results, bool exact) {
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0)
        return 1;
    if (!pid) {
        setenv("REPRISE_RESULTS", results, 1);
        for (uint32_t i = 0; exact && not_exact[i]; i++)
            unsetenv(not_exact[i]);
        if (exact) {
            setenv("REPRISE_FUNCTIONAL", "1", 1);
            int null = open("/dev/null", O_WRONLY);
            if (null >= 0)
                dup2(null, STDOUT_FILENO);
        }
        _exit(go(ctx));
    }
    int status = 0;
    while (waitpid(pid, &status, 0) < 0)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Each launch of the report gets the errors of what it left. */
static void add_to_launches(json_t *report, const json_t *launches) {
    size_t i;
    json_t *e;
    json_array_foreach(launches, i, e) {
        json_t *kernel = json_array_get(json_object_get(report, "kernels"),
                                        (size_t)json_integer_value(json_object_get(e, "launch")));
        json_t *list = json_object_get(kernel, "errors");
        if (kernel && !list)
            json_object_set_new(kernel, "errors", list = json_array());
        json_array_append(list, e);
    }
}

/* Adds the error to the run's report. */
static bool add_to_report(const struct error *e, const json_t *launches) {
    const char *path = getenv("REPRISE_JSON");
    json_t *report = path ? json_load_file(path, 0, NULL) : NULL;
    if (!report)
        return !path;
    json_object_set_new(report, "error", table_error_json(e));
    add_to_launches(report, launches);
    char *text = json_dumps(report, JSON_INDENT(2));
    bool ok = text && io_write(path, text, strlen(text));
    free(text);
    json_decref(report);
    return ok;
}

/* Compares the two files, and says what came out; the exit status. */
static int compare_results(const char *exact, const char *got, double most) {
    struct results a = {0}, b = {0};
    struct error e;
    struct str why = {0};
    int rc = 1;
    if (!results_read(&a, exact, &why) || !results_read(&b, got, &why) || !error_of(&a, &b, &e, &why)) {
        fprintf(stderr, "reprise: the error of the results cannot be told: %s\n", str_text(&why));
    } else {
        double percent = e.differing ? 100 * e.rmse_over_mean : 0;
        printf("error: RMSE %.3g%% of the mean, at most %.4g, %.3g%% of a value on average, PSNR %.1f dB; "
               "%llu of %llu "
               "values differ\n",
               percent, e.max, 100 * e.mean_relative, e.psnr, (unsigned long long)e.differing,
               (unsigned long long)e.values);
        json_t *launches = table_launch_errors(&a, &b);
        table_print_launches(launches, "  ", UINT32_MAX, stdout);
        rc = add_to_report(&e, launches) && percent <= most ? 0 : 1;
        json_decref(launches);
        if (!(percent <= most))
            fprintf(stderr,
                    "reprise: the error of the results, %.3g%% of their mean, is above --max-error %g\n",
                    percent, most);
    }
    str_free(&why);
    results_free(&a);
    results_free(&b);
    return rc;
}

int cli_run_measured(double most, int (*go)(void *), void *ctx) {
    const char *kept = getenv("REPRISE_RESULTS"), *tmp = getenv("TMPDIR");
    struct str exact = {0}, got = {0};
    str_printf(&exact, "%s/reprise-%d-exact.results", tmp ? tmp : "/tmp", (int)getpid());
    str_printf(&got, "%s/reprise-%d.results", tmp ? tmp : "/tmp", (int)getpid());
    const char *own = kept ? kept : str_text(&got);
    int rc = run_apart(go, ctx, str_text(&exact), true);
    if (!rc)
        rc = run_apart(go, ctx, own, false);
    if (!rc)
        rc = compare_results(str_text(&exact), own, most);
    unlink(str_text(&exact));
    if (!kept)
        unlink(str_text(&got));
    str_free(&exact);
    str_free(&got);
    return rc;
}
