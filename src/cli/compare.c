/* reprise compare: workloads on several mechanisms, one table. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "cli/cli.h"
#include "cli/report.h"
#include "cli/study_options.h"
#include "gpu/resolve.h"
#include "report/results.h"
#include "study/command.h"
#include "study/launch.h"
#include "study/paper.h"
#include "study/rank.h"

static const char help[] =
    "usage: reprise compare [options] WORKLOAD... --mech NAME[,NAME...] | --best\n"
    "       reprise compare [options] --mech NAME[,NAME...] | --best -- PROGRAM [ARGUMENT...]\n"
    "       reprise compare [options] --mech NAME[,NAME...] | --best --program 'PROGRAM ARGUMENT'...\n"
    "\n"
    "Runs each workload and CUDA program on the base machine and on every mechanism named, and\n"
    "prints one table: cycles, speedup, instructions that were not executed, energy, and what was\n"
    "saved of it, of what GPUWattch would report, and of the register file's. All runs must leave\n"
    "the same device memory; of those whose mechanism only approximates, the error of the results\n"
    "is shown, see docs/results.md.\n"
    "\n"
    "  WORKLOAD          a name from 'reprise list workloads', or a suite from 'reprise list suites';\n"
    "                    with :size=S, :bits=B, :seed=N or :SETTING=VALUE of the workload to run it so\n"
    "  --program COMMAND  a CUDA program with its arguments, in words as for a shell, with < FILE if it\n"
    "                    reads (repeatable, beside workloads and a program after --)\n"
    "  --input FILE      what the program after -- reads from its standard input (default: nothing)\n"
    "  --mech M,M        the models: MECH[+MECH...], with settings of its own MECH:PATH=VALUE, watched\n"
    "                    by a probe MECH:PROBE, on another GPU MECH:gpu=NAME\n"
    "  --best            try the sensible mechanisms and stacks of them, and rank them by time, energy\n"
    "                    and energy x delay; those of --mech are among them\n"
    "  --gpu A,B         several GPUs: every model on each of them, beside the base machine of each\n"
    "  --parts           also print where the energy goes, and what is saved of energy x "
    "delay\n" STUDY_OPTIONS_HELP
    "  --check           compare each value that a mechanism supplies with the one computed\n"
    "  --result KERNEL:PARAMETER:TYPE[:COUNT]  a result, as for 'reprise run', of the --program before\n"
    "                    it; before any, of all programs\n"
    "  --max-error P     approximated results may be P percent off (RMSE over mean), and no more\n"
    "  --json FILE       write all figures and counters, see docs/results.md\n"
    "  --csv FILE        write the table, energy by part included\n"
    "  --html FILE       write a page with charts, as 'reprise report' does\n"
    "\n"
    "Finished runs are kept, and not done again. Ends with status 1 when a run failed or gave another\n"
    "result than the base machine; ^C keeps what was finished.\n"
    "\n"
    "examples: reprise compare hotspot srad_v1 --mech wir --gpu wir --bits 32\n"
    "          reprise compare dozen --mech wir,wir:wir.rb_entries=512 --size tiny --csv wir.csv\n"
    "          reprise compare nw:seed=1 nw:seed=2 --mech wir,wir:gpu=gtx480 --size tiny\n"
    "          reprise compare --mech wir -- ./matrixMul 512\n"
    "          reprise compare --mech wir,dac --program './matrixMul 99' --program './fft < \"in "
    "put.dat\"'\n"
    "          reprise compare hotspot nw --best --gpu gtx480 --size tiny --json best.json\n";

struct request {
    struct plan plan;
    char **program;               /* after --, or NULL */
    const char *input;            /* of that, or NULL */
    VEC(struct command) programs; /* of --program */
    const char *json, *csv, *html;
    struct str mechs; /* of all --mech, with commas between */
    bool best, parts;
};

/* Whether a stack can be built on a GPU; NULL: the default. */
static bool can_be_built(const char *stack, const char *gpu) {
    struct mech_set mechs;
    struct profile_set profiles;
    struct config config = {0};
    struct diag d = {0};
    bool ok =
        resolve_options(&(struct rp_options){.gpu = gpu, .mech = stack}, &mechs, &profiles, &config, &d);
    config_free(&config);
    diag_free(&d);
    return ok;
}

/* Adds a model on one of several GPUs; NULL: on the GPU of all. */
static bool add_model(struct plan *p, const char *text, const char *gpu) {
    struct str full = {0};
    str_printf(&full, "%s%s%s", text, gpu ? ":gpu=" : "", gpu ? gpu : "");
    bool ok = plan_add_model(p, str_text(&full), str_text(&full));
    str_free(&full);
    return ok;
}

/* Adds what --mech and --best ask for, on one GPU; false after a message. */
static bool add_models(struct request *r, const char *gpu) {
    char *words = xstrdup(str_text(&r->mechs)), *save;
    const char *stack;
    bool ok = true;
    for (char *w = strtok_r(words, ",", &save); ok && w; w = strtok_r(NULL, ",", &save))
        ok = add_model(&r->plan, w, gpu && !strstr(w, ":gpu=") && !strstr(w, ":cpu=") ? gpu : NULL);
    for (uint32_t i = 0; ok && r->best && (stack = rank_stack(i)); i++)
        if (can_be_built(stack, gpu ? gpu : r->plan.gpu))
            ok = add_model(&r->plan, stack, gpu);
    free(words);
    return ok;
}

/* The same on each of the GPUs that --gpu names. */
static bool add_all_models(struct request *r) {
    if (!r->plan.gpu || !strchr(r->plan.gpu, ','))
        return add_models(r, NULL);
    char *words = xstrdup(r->plan.gpu), *save;
    bool ok = true;
    r->plan.gpu = NULL;
    for (char *w = strtok_r(words, ",", &save); ok && w; w = strtok_r(NULL, ",", &save))
        ok = add_models(r, w);
    free(words);
    return ok;
}

/* Adds the program of --program; false after a message. */
static bool take_program(struct request *r, const char *text) {
    struct command c = {0};
    bool ok = command_split(&c, text);
    vec_push(&r->programs, c);
    if (!ok)
        return cli_usage_error(help, "--program takes 'PROGRAM ARGUMENT... [< FILE]', not", text), false;
    char *label = plan_program_label(c.words.at, c.input);
    struct bench *b = plan_add_program_as(&r->plan, c.words.at, label);
    free(label);
    if (b)
        b->input = c.input;
    return b || (cli_usage_error(help, "there is something of that name already:", text), false);
}

/* Takes a result, which belongs to the program that was named last; before any, to all. */
static bool take_result(struct request *r, char *text) {
    if (!result_spec_read(&(struct result_spec){0}, text))
        return cli_usage_error(help, "--result takes KERNEL:PARAMETER:TYPE[:COUNT], not", text), false;
    uint32_t b = r->plan.table.benches.len;
    while (b && !r->plan.table.benches.at[b - 1].program)
        b--;
    if (b)
        vec_push(&r->plan.table.benches.at[b - 1].results, text);
    else
        vec_push(&r->plan.results, text);
    return true;
}

/* Takes the command line; 0, or the exit status after a message. */
static int take(struct request *r, int argc, char **argv) {
    for (int i = 0; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (!strcmp(argv[i], "--")) {
            r->program = argv + i + 1;
            break;
        }
        if (argv[i][0] != '-') {
            if (!plan_add_bench(&r->plan, argv[i]))
                return 2;
            continue;
        }
        static const char *const own[] = {"--program", "--mech",      "--best",  "--parts",
                                          "--json",    "--csv",       "--html",  "--check",
                                          "--result",  "--max-error", "--input", NULL};
        int used = study_option(&r->plan, argv + i, own, help);
        if (used < 0)
            return 2;
        if (used) {
            i += used - 1;
            continue;
        }
        bool *flag = !strcmp(argv[i], "--check")   ? &r->plan.check
                     : !strcmp(argv[i], "--best")  ? &r->best
                     : !strcmp(argv[i], "--parts") ? &r->parts
                                                   : NULL;
        if (flag) {
            *flag = true;
            continue;
        }
        if (!value)
            return cli_usage_error(help, "a value is needed after", argv[i]);
        if (!strcmp(argv[i], "--json"))
            r->json = value;
        else if (!strcmp(argv[i], "--csv"))
            r->csv = value;
        else if (!strcmp(argv[i], "--html"))
            r->html = value;
        else if (!strcmp(argv[i], "--input"))
            r->input = value;
        else if (!strcmp(argv[i], "--max-error")) {
            char *end;
            r->plan.table.max_error = strtod(value, &end);
            if (end == value || *end || !(r->plan.table.max_error > 0))
                return cli_usage_error(help, "--max-error takes a number above 0, not", value);
        } else if (!strcmp(argv[i], "--result") || !strcmp(argv[i], "--program")) {
            if (argv[i][2] == 'r' ? !take_result(r, argv[i + 1]) : !take_program(r, value))
                return 2;
        } else {
            str_printf(&r->mechs, "%s%s", r->mechs.len ? "," : "", value);
        }
        i++;
    }
    if (r->program && !*r->program)
        return cli_usage_error(help, "which program? It stands after --", "");
    if (!r->program && !r->plan.table.benches.len)
        return cli_usage_error(help, "which workloads? Their names, a suite, or a program after --", "");
    if (r->input && !r->program)
        return cli_usage_error(help, "--input is for a program after --; --program takes 'PROGRAM < FILE'",
                               "");
    if (r->plan.results.len && !r->program && !r->programs.len)
        return cli_usage_error(help, "workloads declare their results: there is nothing for --result to add",
                               "");
    if (!r->mechs.len && !r->best)
        return cli_usage_error(help, "which mechanisms? --mech takes their names, --best tries all", "");
    return add_all_models(r) ? 0 : 2;
}

/* The files asked for; false after a message. */
static bool write_files(const struct request *r) {
    bool ok = true;
    if (r->csv) {
        struct str out = {0};
        table_csv(&r->plan.table, &out);
        ok = io_write(r->csv, str_text(&out), out.len);
        str_free(&out);
    }
    json_t *all = table_json(&r->plan.table);
    if (r->best)
        json_object_set_new(all, "ranking", rank_json(&r->plan.table));
    if (r->json) {
        char *text = json_dumps(all, JSON_INDENT(2));
        ok &= text && io_write(r->json, text, strlen(text));
        free(text);
    }
    if (r->html) {
        json_t *sources = json_pack("[{s:s, s:s, s:s, s:O}]", "name", "Comparison", "kind", "comparison",
                                    "version", REPRISE_VERSION, "value", all);
        ok &= cli_report_page(r->html, NULL, sources);
        json_decref(sources);
    }
    json_decref(all);
    return ok;
}

/* Whether a GPU is the baseline of a paper that repro knows. */
static bool is_papers(const char *gpu) {
    struct paper p;
    for (uint32_t i = 0; gpu && paper_at(i, &p); i++)
        if (p.head->gpu && !strcmp(p.head->gpu, gpu))
            return true;
    return false;
}

/* Which runs were timed in part. */
static void print_sampling(const struct plan *p) {
    uint32_t parts = 0;
    for (uint32_t i = 0; i < p->table.benches.len; i++)
        parts += plan_sampled(p, &p->table.benches.at[i]) != 0;
    if (parts)
        printf("\nOf %u of %u workloads, %" PRIu64
               " warp instructions at most are timed, spread over their launches;\n"
               "--max-insts all times them whole.\n",
               parts, p->table.benches.len, p->max_insts);
}

/* Which benchmarks gave nothing to compare. */
static void print_idle(const struct table *t) {
    for (uint32_t i = 0; i < t->benches.len; i++) {
        const struct bench *b = &t->benches.at[i];
        const struct row *r = table_row(t, i, 0);
        const json_t *launches =
            r && r->report ? json_object_get(json_object_get(r->report, "totals"), "launches") : NULL;
        if (launches && !json_integer_value(launches))
            printf("\n%s launched no kernel: there is nothing to compare.%s\n", b->label,
                   b->program && !b->input ? "\nIts standard input was empty; --program 'PROGRAM < FILE' "
                                             "and --input FILE say what it reads."
                                           : "");
    }
}

/* Runs the plan and shows what came of it; the exit status. */
static int compare(struct request *r) {
    if ((r->csv && !io_try(r->csv)) || (r->json && !io_try(r->json)) || (r->html && !io_try(r->html)))
        return 1;
    struct store *store = store_open_usual(r->plan.store);
    if (!store)
        return 1;
    plan_add_rows(&r->plan);
    int rc = launch_plan(&r->plan, store, r->plan.fresh);
    store_close(store);
    table_print(&r->plan.table, stdout);
    if (r->parts)
        table_print_energy(&r->plan.table, stdout);
    if (r->best)
        rank_print(&r->plan.table, stdout);
    print_idle(&r->plan.table);
    print_sampling(&r->plan);
    if (rc == JOBS_STOPPED)
        puts("\nstopped: this is what was finished");
    return write_files(r) || rc ? rc : 1;
}

int cli_compare(int argc, char **argv) {
    if (argc && !strcmp(argv[0], "--help")) {
        fputs(help, stdout);
        return 0;
    }
    struct request r = {.plan = {.size = SIZES, .bits = 64}};
    int rc = take(&r, argc, argv);
    struct bench *b = !rc && r.program ? plan_add_program(&r.plan, r.program) : NULL;
    if (b)
        b->input = r.input;
    else if (!rc && r.program)
        rc = cli_usage_error(help, "there is something of that name already:", r.program[0]);
    study_defaults(&r.plan, is_papers(r.plan.gpu));
    if (!rc)
        rc = study_complete(&r.plan) ? compare(&r) : 2;
    plan_free(&r.plan);
    str_free(&r.mechs);
    for (uint32_t i = 0; i < r.programs.len; i++)
        command_free(&r.programs.at[i]);
    vec_free(&r.programs);
    return rc;
}
