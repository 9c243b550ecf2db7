/* Running plans, with runs that are made up: this program, called as the command would be, writes what a run
 * would write. Which runs there are, what is kept, and that approximations are measured by results. */
#include <limits.h>
#include <math.h>
#include <pty.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/io.h"
#include "report/results.h"
#include "study/command.h"
#include "study/launch.h"
#include "study/progress.h"

/* ---- a made-up run ---- */

static const char *option(char **words, const char *name) {
    for (; *words; words++)
        if (!strcmp(*words, name))
            return words[1];
    return NULL;
}

/* Notes the command line, then writes a report and, where they are wanted, results: those of the mechanism
 * toy are another last value. mri-q fails. */
static int pretend(char **words) {
    const char *mech = option(words, "--mech"), *results = option(words, "--results"),
               *log = getenv("TEST_LOG");
    bool toy = mech && !strcmp(mech, "toy");
    float values[] = {1, 2, 3, toy ? 6 : 4};
    FILE *f = fopen(log, "a");
    for (char **w = words + 2; *w; w++)
        fprintf(f, "%s%s", *w, w[1] ? " " : "\n");
    fclose(f);
    if (option(words, "mri-q")) {
        fputs("it\nwent\nwrong\n", stderr);
        return 3;
    }
    json_t *report =
        json_pack("{s:s, s:s, s:[], s:{s:i, s:s, s:{}}}", "gpu", "g", "mech", mech ? mech : "base", "kernels",
                  "totals", "cycles", toy ? 50 : 100, "digest", toy ? "bb" : "aa", "counters");
    if (toy)
        json_object_set_new(report, "approximate", json_true());
    struct result x = {.name = "values", .count = 4, .data = values};
    while (strcmp(result_type_name(x.type), "f32"))
        x.type++;
    struct results all = {.all = {.at = &x, .len = 1}};
    int rc = json_dump_file(report, option(words, "--json"), 0) || (results && !results_write(&all, results));
    json_decref(report);
    return rc;
}

/* ---- plans of such runs ---- */

static char folder[PATH_MAX], place[PATH_MAX + 8], log_file[PATH_MAX + 8];

static int open_folder(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/reprise-test-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(place, sizeof place, "%s/runs", folder);
    snprintf(log_file, sizeof log_file, "%s/log", folder);
    return setenv("TEST_LOG", log_file, 1);
}

static int remove_folder(void **state) {
    (void)state;
    struct str command = {0};
    str_printf(&command, "rm -r '%s'", folder);
    int rc = system(command.at);
    str_free(&command);
    return rc;
}

/* The command lines of the runs since the last call, but for the files' names; the caller frees them. */
static char *runs_since(void) {
    size_t len;
    char *text = access(log_file, R_OK) ? xstrdup("") : io_read(log_file, &len);
    unlink(log_file);
    for (char *at = text; (at = strstr(at, place));) { /* takes "PLACE/FILE " away */
        size_t n = strcspn(at, " \n");
        memmove(at, at + n + 1, strlen(at + n));
    }
    return text;
}

/* Runs a plan; approximate: the number of a model that is said to approximate, or -1. */
static int launch(struct plan *p, int approximate) {
    struct store *s = store_open(place, STORE_MAKE);
    assert_non_null(s);
    p->jobs = 1;
    p->bits = 32;
    plan_add_rows(p);
    assert_true(plan_complete(p));
    if (approximate >= 0)
        p->table.models.at[approximate].approximate = true;
    int rc = launch_plan(p, s, false);
    store_close(s);
    return rc;
}

static void ran(const char *wanted) {
    char *text = runs_since();
    assert_string_equal(text, wanted);
    free(text);
}

static void runs_are_done_once_and_kept(void **state) {
    (void)state;
    for (int again = 0; again < 2; again++) {
        struct plan p = {.size = SIZE_TINY};
        assert_true(plan_add_bench(&p, "nw") && plan_add_bench(&p, "bfs:seed=3") &&
                    plan_add_bench(&p, "nw:bits=32"));
        assert_true(plan_add_model(&p, "wir", "wir:repeat:wir.rb_entries=64"));
        p.check = true;
        assert_int_equal(launch(&p, -1), 0);
        for (uint32_t i = 0; i < p.table.rows.len; i++) {
            assert_int_equal(p.table.rows.at[i].status, ROW_OK);
            assert_null(p.table.rows.at[i].results);
        }
        assert_int_equal(p.table.rows.len, 6);
        ran(again ? ""
                  : "--json --digest --units nw --size tiny --bits 32 --check-result\n"
                    "--json --digest --units --mech wir --check --probe repeat --set wir.rb_entries=64 nw "
                    "--size "
                    "tiny --bits 32 "
                    "--check-result\n"
                    "--json --digest --units bfs --size tiny --bits 32 --check-result -- --seed 3\n"
                    "--json --digest --units --mech wir --check --probe repeat --set wir.rb_entries=64 bfs "
                    "--size "
                    "tiny --bits 32 "
                    "--check-result -- --seed 3\n");
        plan_free(&p);
    }
}

static void failures_are_told_and_not_kept(void **state) {
    (void)state;
    for (int again = 0; again < 2; again++) {
        struct plan p = {.size = SIZE_TINY, .gpu = "gtx480"};
        assert_true(plan_add_bench(&p, "mri-q") && plan_add_bench(&p, "sgemm") &&
                    plan_add_model(&p, "base", "base"));
        assert_int_equal(launch(&p, -1), 1);
        assert_int_equal(p.table.rows.at[0].status, ROW_FAILED);
        assert_string_equal(p.table.rows.at[0].message, "ended with status 3\nit\nwent\nwrong");
        assert_int_equal(p.table.rows.at[1].status, ROW_OK);
        plan_free(&p);
        ran(again ? "--json --digest --units --gpu gtx480 mri-q --size tiny --bits 32 --check-result\n"
                  : "--json --digest --units --gpu gtx480 mri-q --size tiny --bits 32 --check-result\n"
                    "--json --digest --units --gpu gtx480 sgemm --size tiny --bits 32 --check-result\n");
    }
}

/* A machine that approximates is measured by its results, for which its base runs again when it has left
 * none; an exact one that leaves other memory is wrong. */
static void approximations_are_measured(void **state) {
    (void)state;
    static const char
        base[] = "--json --digest --units --results lud --size tiny --bits 32 --check-result\n",
        toy[] = "--json --digest --units --mech toy --results lud --size tiny --bits 32 --check-result\n";
    static const char *const wanted[] = {"--json --digest --units lud --size tiny --bits 32 --check-result\n",
                                         base, ""};
    for (int k = 0; k < 3; k++) {
        struct plan p = {.size = SIZE_TINY};
        struct str lines = {0};
        assert_true(plan_add_bench(&p, "lud") && plan_add_model(&p, k ? "toy" : "base", k ? "toy" : "base"));
        assert_int_equal(launch(&p, k ? 1 : -1), 0);
        str_printf(&lines, "%s%s", wanted[k], k == 1 ? toy : "");
        ran(str_text(&lines));
        str_free(&lines);
        const struct row *r = table_row(&p.table, 0, 1);
        if (k) {
            assert_int_equal(r->status, ROW_OK);
            assert_float_equal(table_value(&p.table, r, "error.max"), 2, 0);
            assert_float_equal(table_value(&p.table, r, "error.rmse_over_mean"), 0.4, 1e-12);
            assert_float_equal(table_eval(&p.table, r, "cycles@base / cycles"), 2, 0);
        }
        plan_free(&p);
    }
}

/* Of a user's program the user says what the results are. */
static void programs_need_named_results(void **state) {
    (void)state;
    char *words[] = {"/bin/true", "3", NULL}, *spec = "kernel:0:f32";
    struct plan p = {.bits = 32};
    plan_add_program(&p, words);
    assert_true(plan_add_model(&p, "toy", "toy"));
    vec_push(&p.results, spec);
    assert_int_equal(launch(&p, 1), 0);
    assert_int_equal(table_row(&p.table, 0, 1)->status, ROW_OK);
    plan_free(&p);
    ran("--json --digest --units --results --result kernel:0:f32 -- /bin/true 3\n"
        "--json --digest --units --mech toy --results --result kernel:0:f32 -- /bin/true 3\n");
}

/* ---- how long it takes ---- */

/* Runs weigh what they took in the past; without a past, as many instructions as they have to time. */
static void weights_are_of_the_past(void **state) {
    (void)state;
    const uint64_t nw = workload_find("nw")->insts[SIZE_TINY], bfs = workload_find("bfs")->insts[SIZE_TINY];
    struct plan p = {.size = SIZE_TINY, .bits = 32, .max_insts = nw - 1}; /* bfs has fewer */
    struct launch l;
    assert_true(plan_add_bench(&p, "nw") && plan_add_bench(&p, "bfs") && plan_add_model(&p, "base", "base"));
    plan_add_rows(&p);
    assert_true(plan_complete(&p));
    struct store *s = store_open(NULL, STORE_MAKE);
    launch_begin(&l, &p, s, false);
    assert_true(isnan(launch_estimate(&l)));
    assert_int_equal(l.todo.len, 2);
    assert_true(l.todo.at[0].weight == (double)(nw - 1) && bfs < nw);
    assert_true(l.todo.at[1].weight == (double)bfs);
    json_t *report = json_pack("{s:s, s:{s:i}}", "gpu", "x", "totals", "cycles", 7);
    for (uint32_t i = 0; i < 2; i++) {
        const struct row *row = &p.table.rows.at[l.todo.at[i].row];
        json_t *m = command_manifest(&p, &p.table.benches.at[row->bench], &p.table.models.at[row->model],
                                     &l.todo.at[i].key);
        command_begin(m);
        json_object_set_new(m, "wall_s", json_real(i ? 6 : 2));
        assert_true(store_put(s, &l.todo.at[i].key, m, report, NULL));
        json_decref(m);
    }
    json_decref(report);
    assert_true(launch_estimate(&l) == 8);
    assert_true(l.todo.at[0].weight == 2 && l.todo.at[1].weight == 6);
    launch_end(&l);
    store_close(s);
    plan_free(&p);
}

static const char *name_of(void *ctx, uint32_t i) {
    (void)ctx;
    return i ? "other" : "one";
}

static double weight_of(void *ctx, uint32_t i) {
    return ((const double *)ctx)[i];
}

/* What is shown on a terminal of so many jobs with their weights, of which the first has ended. */
static void shown(uint32_t n, const double *weights, char *text, size_t size) {
    static const enum job_state states[] = {JOB_DONE, JOB_RUNNING, JOB_WAITING};
    int ours, its, saved = dup(STDERR_FILENO);
    struct jobs jobs = {.count = n, .title = name_of, .weight = weight_of, .ctx = (void *)weights};
    struct progress p;
    assert_int_equal(openpty(&ours, &its, NULL, NULL, NULL), 0);
    dup2(its, STDERR_FILENO);
    progress_begin(&p, &jobs);
    progress_show(&p, states);
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    ssize_t len = read(ours, text, size - 1);
    text[len > 0 ? len : 0] = 0;
    close(saved);
    close(ours);
    close(its);
}

static void the_bar_goes_by_weights(void **state) {
    (void)state;
    static const struct {
        uint32_t n;
        double weights[3];
        uint32_t filled; /* of 24 */
    } cases[] = {{2, {1, 3}, 6}, {2, {0, 0}, 12}, {3, {5, 10, 0}, 5}, {2, {3, 1}, 18}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[256];
        shown(cases[i].n, cases[i].weights, text, sizeof text);
        const char *bar = strchr(text + 3, '['); /* behind what clears the line */
        assert_non_null(bar);
        assert_int_equal(strspn(bar + 1, "="), cases[i].filled);
        assert_non_null(strstr(text, ", about 0:00 left  other"));
    }
}

int main(int argc, char **argv) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_are_done_once_and_kept), cmocka_unit_test(failures_are_told_and_not_kept),
        cmocka_unit_test(approximations_are_measured), cmocka_unit_test(programs_need_named_results),
        cmocka_unit_test(weights_are_of_the_past),     cmocka_unit_test(the_bar_goes_by_weights),
    };
    if (argc > 1 && !strcmp(argv[1], "run"))
        return pretend(argv);
    return cmocka_run_group_tests(tests, open_folder, remove_folder);
}
