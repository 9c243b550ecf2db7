/* reprise sweep: all runs that a file describes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/host.h"
#include "cli/cli.h"
#include "cli/study_options.h"
#include "study/launch.h"
#include "study/slurm.h"
#include "study/sweep.h"

static const char help[] =
    "usage: reprise sweep FILE.yaml [options]\n"
    "       reprise sweep status FILE.yaml [options]\n"
    "\n"
    "Does all runs that a file describes: workloads and programs, with sizes and seeds, on every\n"
    "combination of GPUs, mechanisms and parameters (docs/sweeps.md). Each finished run is kept; after\n"
    "an interruption, the same command goes on where it was. Failures are listed with what repeats\n"
    "them. 'status' says how far it is. 'reprise query' shows and exports what came of it.\n"
    "\n"
    "  --dry-run         say how many runs that is and about how long they take, and do nothing\n"
    "  --launcher L      local: on this machine; slurm: as job arrays of Slurm (default local)\n"
    "  --no-wait         with Slurm: do not wait for the jobs\n" STUDY_OPTIONS_HELP "\n"
    "Ends with status 1 when a run failed or gave another result than the base machine.\n"
    "\n"
    "examples: reprise sweep entries.yaml --dry-run\n"
    "          reprise sweep entries.yaml --launcher slurm -j 64\n";

struct request {
    struct sweep sweep;
    const char *file;
    bool status, dry, slurm, no_wait;
};

/* ---- the command line ---- */

static int take(struct request *r, int argc, char **argv) {
    static const char *const own[] = {"--dry-run", "--launcher", "--no-wait", NULL};
    for (int i = 0; i < argc; i++) {
        if (argv[i][0] != '-') {
            bool status = !r->status && !r->file && !strcmp(argv[i], "status");
            if (!status && r->file)
                return cli_usage_error(help, "one file at a time, not also", argv[i]);
            r->status |= status;
            r->file = status ? NULL : argv[i];
            continue;
        }
        int used = study_option(&r->sweep.plan, argv + i, own, help);
        if (used < 0)
            return 2;
        if (used) {
            i += used - 1;
        } else if (!strcmp(argv[i], "--dry-run")) {
            r->dry = true;
        } else if (!strcmp(argv[i], "--no-wait")) {
            r->no_wait = true;
        } else {
            const char *value = argv[i + 1] ? argv[i + 1] : "";
            r->slurm = !strcmp(value, "slurm");
            if (!r->slurm && strcmp(value, "local"))
                return cli_usage_error(help, "--launcher takes local or slurm, not", value);
            i++;
        }
    }
    if (r->no_wait && !r->slurm)
        return cli_usage_error(help, "--no-wait is for --launcher slurm", "");
    return r->file ? 0 : cli_usage_error(help, "which file?", "");
}

/* ---- how long ---- */

static const char *plural(uint32_t n) {
    return n == 1 ? "" : "s";
}

static void print_duration(double seconds) {
    if (seconds < 100)
        printf("%.0f s", ceil(seconds));
    else if (seconds < 100 * 60)
        printf("%.0f min", ceil(seconds / 60));
    else if (seconds < 100 * 3600)
        printf("%.0f h", ceil(seconds / 3600));
    else
        printf("%.0f days", ceil(seconds / 86400));
}

/* Says what is to be done; how many rows are another's run. */
static void print_plan(const struct request *r, struct launch *l, uint32_t runs) {
    const struct table *t = &l->plan->table;
    uint32_t finished = runs - l->todo.len;
    printf("%s: %u benchmark%s on %u machine%s, %u run%s, of which %u %s finished.\n", r->sweep.name,
           t->benches.len, plural(t->benches.len), t->models.len, plural(t->models.len), runs, plural(runs),
           finished, finished == 1 ? "is" : "are");
    if (!l->todo.len)
        return;
    double seconds = launch_estimate(l);
    uint32_t at_once = l->plan->jobs ? l->plan->jobs : host_processors();
    at_once = at_once < l->todo.len ? at_once : l->todo.len;
    if (isnan(seconds)) {
        printf("How long the other %u will take nobody can tell: nothing has run yet.\n", l->todo.len);
        return;
    }
    printf("The other %u will take about ", l->todo.len);
    print_duration(seconds / at_once);
    printf(", %u at a time, going by runs of the past.\n", at_once);
}

/* ---- the outcome ---- */

static void print_indented(const char *text) {
    for (const char *line = text; *line;) {
        size_t len = strcspn(line, "\n");
        printf("    %.*s\n", (int)len, line);
        line += len + (line[len] == '\n');
    }
}

static void print_wrong(void *ctx, uint32_t row, const char *message) {
    struct launch *l = ctx;
    const struct table *t = &l->plan->table;
    const struct bench *b = &t->benches.at[t->rows.at[row].bench];
    const struct model *m = &t->models.at[t->rows.at[row].model];
    printf("\n%s, %s: WRONG RESULT\n", b->label, m->label);
    print_indented(message);
}

/* Counts the rows that are wrong, and prints them. */
struct wrong {
    struct launch *l;
    uint32_t n;
};

static void note_wrong(void *ctx, uint32_t row, const char *message) {
    struct wrong *w = ctx;
    w->n++;
    print_wrong(w->l, row, message);
}

/* Whether a run that was to be done has been: one from before is no excuse for a failure. */
static bool is_finished(const struct launch *l, uint32_t i) {
    const struct launch_run *r = &l->todo.at[i];
    return !r->message && store_has(l->store, &r->key, r->results);
}

/* The runs that are not finished: how many of them failed, which are printed. */
static uint32_t print_failures(struct launch *l) {
    uint32_t failed = 0;
    for (uint32_t i = 0; i < l->todo.len; i++) {
        char *message, *command;
        if (is_finished(l, i) || !store_failure(l->store, &l->todo.at[i].key, &message, &command))
            continue;
        char *title = launch_title(l, &l->todo.at[i]);
        printf("\n%s: FAILED\n", title);
        print_indented(message);
        printf("  to repeat it: %s\n", command);
        failed++;
        free(title);
        free(message);
        free(command);
    }
    return failed;
}

/* Says how the sweep stands; 0 when all runs are finished and right. */
static int print_outcome(const struct request *r, struct launch *l, uint32_t runs) {
    uint32_t finished = runs - l->todo.len, waiting = 0, running = 0;
    for (uint32_t i = 0; i < l->todo.len; i++)
        finished += is_finished(l, i);
    struct wrong wrong = {.l = l};
    launch_compare(l, note_wrong, &wrong);
    uint32_t failed = print_failures(l);
    slurm_count(l, &waiting, &running);
    printf("%s%s: %u of %u runs finished", wrong.n || failed ? "\n" : "", r->sweep.name, finished, runs);
    if (failed)
        printf(", %u failed", failed);
    if (wrong.n)
        printf(", %u wrong", wrong.n);
    if (waiting || running)
        printf("; Slurm runs %u, and %u wait there", running, waiting);
    printf(".\n");
    return finished < runs || wrong.n;
}

/* ---- all of it ---- */

/* The runs of a plan, those counted once that several rows share. */
static uint32_t count_runs(const struct launch *l) {
    struct map seen = {0};
    uint32_t n = 0;
    for (uint32_t i = 0; i < l->plan->table.rows.len; i++) {
        n += !map_get_u64(&seen, l->keys[i].hash);
        map_set_u64(&seen, l->keys[i].hash, &seen);
    }
    map_free(&seen);
    return n;
}

static int sweep(struct request *r, struct store *s) {
    struct launch l;
    launch_begin(&l, &r->sweep.plan, s, r->sweep.plan.fresh);
    uint32_t runs = count_runs(&l);
    int rc = 0, end = 0;
    if (r->dry) {
        print_plan(r, &l, runs);
    } else {
        if (!r->status && l.todo.len) {
            print_plan(r, &l, runs);
            fflush(stdout);
            rc = r->slurm ? slurm_launch(&l, &r->sweep, !r->no_wait) : launch_local(&l);
        }
        end = print_outcome(r, &l, runs);
        if (rc == JOBS_STOPPED)
            printf("stopped; the same command goes on%s.\n",
                   r->slurm ? ", and the jobs do, unless scancel ends them" : "");
    }
    launch_end(&l);
    return rc == JOBS_STOPPED ? rc : r->status || r->no_wait ? rc : rc || end;
}

int cli_sweep(int argc, char **argv) {
    if (argc && !strcmp(argv[0], "--help")) {
        fputs(help, stdout);
        return 0;
    }
    if (argc == 3 && !strcmp(argv[0], "task")) /* what the script of a job array calls */
        return slurm_task(argv[1], (uint32_t)strtoul(argv[2], NULL, 10));
    struct request r = {.sweep = {.plan = {.size = SIZES}}};
    struct plan *p = &r.sweep.plan;
    int rc = take(&r, argc, argv);
    if (!rc && !sweep_read(&r.sweep, r.file))
        rc = 2;
    p->size = p->size == SIZES ? SIZE_SMALL : p->size;
    p->bits = p->bits ? p->bits : 64;
    plan_add_rows(p);
    if (!rc && (!study_complete(p) || (r.slurm && !r.dry && !slurm_there())))
        rc = 2;
    struct store *s = rc ? NULL : store_open_usual(p->store);
    if (!rc)
        rc = s ? sweep(&r, s) : 1;
    if (s)
        store_close(s);
    sweep_free(&r.sweep);
    return rc;
}
