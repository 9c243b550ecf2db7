/* reprise run: a CUDA program under the drop-in libraries, a bundled workload, or one kernel of a PTX file.
 * reprise env: the variables that do the same by hand. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/io.h"
#include "base/waiting.h"
#include "cli/cli.h"
#include "cli/run_error.h"
#include "cuda/elfcheck.h"
#include "gpu/options.h"
#include "mech/load.h"
#include "report/results.h"
#include "study/jobs.h"
#include "study/place.h"
#include "study/workload.h"

static const char help[] =
    "usage: reprise run [options] -- PROGRAM [ARGUMENT...]\n"
    "       reprise run [options] WORKLOAD... [options] [-- ARGUMENT...]\n"
    "       reprise run [options] FILE.ptx --entry KERNEL [--grid X,Y,Z] [--block X,Y,Z] [--arg A]...\n"
    "\n"
    "Runs on the simulated GPU: an unmodified CUDA program (built by nvcc 11 to 13 with -cudart\n"
    "shared, or by clang), a bundled workload, or one kernel of a PTX file.\n"
    "\n"
    "  --functional      results and instruction counts only, no timing: many times faster\n"
    "  --gpu NAME|FILE   the GPU: a name from 'reprise list gpus' or a .yaml file (default h200)\n"
    "  --mech NAME[+...] mechanisms: names from 'reprise list mechs', or FILE.so (default base: none)\n"
    "  --load FILE.so    know its mechanism as those built in (repeatable)\n"
    "  --probe NAME[+...]  also count what repeats, see 'reprise list probes'; nothing else changes\n"
    "  --check           compare each value that a mechanism supplies with the one computed\n"
    "  --set PATH=VALUE  change one parameter, see 'reprise list params' (repeatable)\n"
    "  --summary         when the program has ended, say on stderr what it cost: cycles, energy, power\n"
    "  --json FILE       write statistics of every launch to FILE\n"
    "  --per-sm          ... with the counters of every SM, for each launch and in total\n"
    "  --digest          ... with a hash of the device memory each of them left\n"
    "  --units           ... with the unit and the meaning of each number in the totals\n"
    "  --profile FILE    count what is redundant, and write that, see 'reprise help profile'\n"
    "  --results FILE    write the results, see docs/results.md: those a workload checks, or of a program\n"
    "                    those that --result names\n"
    "  --result KERNEL:PARAMETER:TYPE[:COUNT]  what a parameter (0 is the first) of the kernel's last\n"
    "                    launch points to; the types are those of --arg (repeatable)\n"
    "  --input FILE      what the program reads from its standard input\n"
    "  -j N              use N processors (default: all); results and counters are the same\n"
    "                    Long runs show on stderr how far they are: at a terminal a bar, in a log a line\n"
    "                    now and then; REPRISE_PROGRESS=none in the environment keeps them quiet\n"
    "  --watchdog N      a kernel that executes more than N warp instructions ends with a launch timeout\n"
    "\n"
    "Traces, see docs/traces.md:\n"
    "  --trace FILE      write what every instruction does in each cycle: for Konata, or, when the name\n"
    "                    ends in .json, for Perfetto and Chrome\n"
    "  --trace-window A:B  only cycles A to B (also A: and :B)\n"
    "  --trace-sm N      only this SM (also A:B)\n"
    "\n"
    "Sampling of long runs: what is not timed runs functionally, at that speed, and results are the\n"
    "same. Limits are those of the whole run, and --json tells for each launch what was timed.\n"
    "  --kernels A:B     time launches A to B only, the first is number 0 (also A, A: and :B)\n"
    "  --max-cycles N    stop timing after N cycles\n"
    "  --max-insts N     stop timing with the cycle that issues warp instruction N\n"
    "  --expect-insts N  the run executes about so many: those to time are spread over its launches, as\n"
    "                    always for a workload, whose number is known\n"
    "  --whole-blocks    ... in whole blocks: the same ones, whatever a mechanism makes of the code; for\n"
    "                    workloads with mechanisms such as dac, which add to the code, it is the rule\n"
    "\n"
    "Mistakes of programs, see docs/sanitizers.md; reports go to stderr, with a count at the end:\n"
    "  --memcheck        accesses outside allocations, to freed memory, misaligned; failed calls, leaks\n"
    "  --racecheck       races in shared and global memory, within and between blocks\n"
    "  --initcheck       reads of memory that nobody has written\n"
    "  --synccheck       divergent barriers, wrong counts and member masks\n"
    "  --error-exitcode N  end with status N when they have found errors\n"
    "  --print-limit N   print N findings and only count the rest (default 100)\n"
    "  --leak-check full|no  whether memory never freed is an error (default full)\n"
    "  --destroy-on-device-error context|kernel  whether a wrong access ends the context (default)\n"
    "\n"
    "Workloads, see 'reprise list workloads':\n"
    "  --size S          tiny, small, medium or large (default small)\n"
    "  --bits 32|64      width of addresses in the kernels (default 64)\n"
    "                    Several workloads run at once (-j); their output comes in order, and\n"
    "                    FILE.json becomes FILE.NAME.json for each\n"
    "  --max-error P     run once more, exactly, and print how far off the results are; status 1 if\n"
    "                    by more than P percent of their mean (RMSE)\n"
    "  --check-result    compare the result with a CPU reference; a wrong one ends with status 1, unless\n"
    "                    a mechanism is one that approximates\n"
    "\n"
    "Kernels of PTX files:\n"
    "  --entry KERNEL    which kernel (may be left out when there is only one)\n"
    "  --grid, --block   launch size (default 1)\n"
    "  --shared N        bytes of dynamic shared memory (default 0)\n"
    "  --arg A           the next parameter: i32:-5  u64:0x10  f32:1.5  f64:2  buf:BYTES (zeroed\n"
    "                    memory, printed as words afterwards)  iota:N (memory with words 0..N-1)\n"
    "\n"
    "examples: reprise run --gpu gtx480 -- ./matrixMul 512\n"
    "          reprise run hotspot --size tiny --check-result\n";

static const char env_help[] = "usage: reprise env [options as for run]\n"
                               "\n"
                               "Prints the environment that 'reprise run' sets, for use by hand:\n"
                               "  eval \"$(reprise env)\" && ./my_cuda_program\n";

/* Options of run and env become environment variables, which the libraries read; those with a field of
 * struct request instead are for workloads. */
enum option_kind {
    OPT_FLAG,
    OPT_TEXT,
    OPT_NUMBER,
    OPT_RANGE,
    OPT_FILE,
    OPT_SET,
    OPT_MECH,
    OPT_LOAD,
    OPT_RESULT,
    OPT_SIZE,
    OPT_BITS,
    OPT_JOBS,
    OPT_CHECK,
    OPT_INPUT,
    OPT_ERROR
};
static const struct {
    const char *name;
    enum option_kind kind;
    const char *variable;
} options[] = {
    {"--functional", OPT_FLAG, "REPRISE_FUNCTIONAL"},
    {"--gpu", OPT_TEXT, "REPRISE_GPU"},
    {"--mech", OPT_MECH, "REPRISE_MECH"},
    {"--load", OPT_LOAD, "REPRISE_LOAD"},
    {"--probe", OPT_TEXT, "REPRISE_PROBE"},
    {"--check", OPT_FLAG, "REPRISE_CHECK"},
    {"--set", OPT_SET, "REPRISE_SET"},
    {"--max-cycles", OPT_NUMBER, "REPRISE_MAX_CYCLES"},
    {"--max-insts", OPT_NUMBER, "REPRISE_MAX_INSTS"},
    {"--expect-insts", OPT_NUMBER, "REPRISE_EXPECT_INSTS"},
    {"--whole-blocks", OPT_FLAG, "REPRISE_WHOLE_BLOCKS"},
    {"--kernels", OPT_RANGE, "REPRISE_KERNELS"},
    {"--watchdog", OPT_NUMBER, "REPRISE_WATCHDOG"},
    {"--memcheck", OPT_FLAG, "REPRISE_MEMCHECK"},
    {"--racecheck", OPT_FLAG, "REPRISE_RACECHECK"},
    {"--initcheck", OPT_FLAG, "REPRISE_INITCHECK"},
    {"--synccheck", OPT_FLAG, "REPRISE_SYNCCHECK"},
    {"--error-exitcode", OPT_NUMBER, "REPRISE_ERROR_EXITCODE"},
    {"--print-limit", OPT_NUMBER, "REPRISE_PRINT_LIMIT"},
    {"--leak-check", OPT_TEXT, "REPRISE_LEAK_CHECK"},
    {"--destroy-on-device-error", OPT_TEXT, "REPRISE_DESTROY_ON_DEVICE_ERROR"},
    {"--summary", OPT_FLAG, "REPRISE_SUMMARY"},
    {"--json", OPT_FILE, "REPRISE_JSON"},
    {"--profile", OPT_FILE, "REPRISE_PROFILE"},
    {"--per-sm", OPT_FLAG, "REPRISE_PER_SM"},
    {"--trace", OPT_FILE, "REPRISE_TRACE"},
    {"--trace-window", OPT_RANGE, "REPRISE_TRACE_WINDOW"},
    {"--trace-sm", OPT_RANGE, "REPRISE_TRACE_SM"},
    {"--digest", OPT_FLAG, "REPRISE_DIGEST"},
    {"--units", OPT_FLAG, "REPRISE_UNITS"},
    {"--results", OPT_FILE, "REPRISE_RESULTS"},
    {"--result", OPT_RESULT, "REPRISE_RESULT"},
    {"--size", OPT_SIZE, NULL},
    {"--bits", OPT_BITS, NULL},
    {"-j", OPT_JOBS, "REPRISE_THREADS"},
    {"--check-result", OPT_CHECK, NULL},
    {"--input", OPT_INPUT, NULL},
    {"--max-error", OPT_ERROR, NULL},
};
enum { NOPTIONS = sizeof options / sizeof options[0] };

/* What the command line asks for. */
struct request {
    struct str set, results; /* of --set and --result, one per line */
    struct workload_run workload;
    VEC(const struct workload *) names;
    double max_error;            /* that results may have, in %; 0: nobody looks */
    uint32_t jobs;               /* at once */
    const char *input;           /* the program's standard input, or NULL */
    const char *workload_option; /* one that only workloads take, or NULL */
};

static const char *next_option(void *ctx, uint32_t i) {
    (void)ctx;
    return i < NOPTIONS ? options[i].name : NULL;
}

/* Its number, or NOPTIONS. */
static uint32_t find_option(const char *word) {
    uint32_t k = 0;
    while (k < NOPTIONS && strcmp(word, options[k].name))
        k++;
    return k;
}

bool cli_is_run_option(const char *word) {
    return find_option(word) < NOPTIONS;
}

static int unknown_option(const char *usage, const char *word) {
    const char *near = diag_nearest(word, strlen(word), next_option, NULL);
    struct str what = {0};
    str_printf(&what, "unknown option %s%s%s%s", word, near ? "; did you mean " : "", near ? near : "",
               near ? "?" : "");
    cli_usage_error(usage, str_text(&what), "");
    str_free(&what);
    return -1;
}

/* The program may change its directory: a relative name would then be another file. */
static void set_file(const char *variable, const char *name) {
    char dir[PATH_MAX];
    struct str full = {0};
    if (name[0] != '/' && getcwd(dir, sizeof dir))
        str_printf(&full, "%s/", dir);
    str_printf(&full, "%s", name);
    setenv(variable, str_text(&full), 1);
    str_free(&full);
}

/* The same for mechanisms, which may be files. */
static void set_mechs(const char *variable, const char *names) {
    struct str full = {0};
    mech_absolute(names, &full);
    setenv(variable, str_text(&full), 1);
    str_free(&full);
}

static bool is_number(const char *text) {
    return text[strspn(text, "0")] && !text[strspn(text, "0123456789")];
}

static bool wrong_value(const char *usage, const char *option, const char *what, const char *value) {
    struct str said = {0};
    str_printf(&said, "%s %s", option, what);
    cli_usage_error(usage, str_text(&said), value);
    str_free(&said);
    return false;
}

/* Adds a line to those of an option that can be repeated. */
static bool add_line(struct str *lines, const char *variable, const char *value) {
    str_printf(lines, "%s%s", lines->len ? "\n" : "", value);
    setenv(variable, str_text(lines), 1);
    return true;
}

/* Takes one option with its value; false after a message. */
static bool take_value(uint32_t k, const char *value, const char *usage, struct request *r) {
    switch (options[k].kind) {
    case OPT_SET:
        return add_line(&r->set, options[k].variable, value);
    case OPT_RESULT:
        if (!result_spec_read(&(struct result_spec){0}, value))
            return wrong_value(usage, options[k].name, "takes KERNEL:PARAMETER:TYPE[:COUNT], not", value);
        return add_line(&r->results, options[k].variable, value);
    case OPT_MECH:
        set_mechs(options[k].variable, value);
        return true;
    case OPT_LOAD:
        cli_load(value);
        return true;
    case OPT_NUMBER:
        if (!is_number(value))
            return wrong_value(usage, options[k].name, "takes a number, 1 or more, not", value);
        break;
    case OPT_RANGE:
        if (!options_range(value, &(uint64_t){0}, &(uint64_t){0}))
            return wrong_value(usage, options[k].name, "takes A:B, A:, :B or A, not", value);
        break;
    case OPT_FILE:
        set_file(options[k].variable, value);
        return true;
    case OPT_SIZE:
        r->workload.size = workload_size(value);
        if (r->workload.size == SIZES)
            return cli_usage_error(usage, "--size takes tiny, small, medium or large, not", value), false;
        return true;
    case OPT_BITS:
        r->workload.bits = !strcmp(value, "32") ? 32 : 64;
        if (strcmp(value, "32") && strcmp(value, "64"))
            return cli_usage_error(usage, "--bits takes 32 or 64, not", value), false;
        return true;
    case OPT_ERROR: {
        char *end;
        r->max_error = strtod(value, &end);
        if (end == value || *end || !(r->max_error > 0))
            return wrong_value(usage, options[k].name, "takes a number above 0, not", value);
        return true;
    }
    case OPT_INPUT:
        r->input = value;
        return true;
    case OPT_JOBS:
        if (!is_number(value) || strlen(value) > 4)
            return wrong_value(usage, "-j", "takes a number from 1 to 9999, not", value);
        r->jobs = (uint32_t)strtoul(value, NULL, 10);
        break;
    default:
        break;
    }
    setenv(options[k].variable, value, 1);
    return true;
}

/* Takes options up to the first word that is none. Returns the number of words used, or -1 after a message.
 */
static int take_options(int argc, char **argv, const char *usage, struct request *r) {
    int i = 0;
    for (; i < argc && argv[i][0] == '-' && strcmp(argv[i], "--"); i++) {
        uint32_t k = find_option(argv[i]);
        if (k == NOPTIONS)
            return unknown_option(usage, argv[i]);
        if (!options[k].variable && options[k].kind != OPT_ERROR && options[k].kind != OPT_INPUT)
            r->workload_option = options[k].name;
        if (options[k].kind == OPT_FLAG) {
            setenv(options[k].variable, "1", 1);
            continue;
        }
        if (options[k].kind == OPT_CHECK) {
            r->workload.check = true;
            continue;
        }
        if (i + 1 == argc)
            return cli_usage_error(usage, "a value is needed after", argv[i]), -1;
        if (!take_value(k, argv[++i], usage, r))
            return -1;
    }
    return i;
}

static void put_library_path(const char *dir) {
    const char *old = getenv("LD_LIBRARY_PATH");
    struct str s = {0};
    str_printf(&s, "%s%s%s", dir, old && *old ? ":" : "", old && *old ? old : "");
    setenv("LD_LIBRARY_PATH", str_text(&s), 1);
    str_free(&s);
}

/* The file a program name means, as the shell would find it. */
static bool find_program(const char *name, char *out, size_t size) {
    if (strchr(name, '/')) {
        snprintf(out, size, "%s", name);
        return access(out, F_OK) == 0;
    }
    const char *path = getenv("PATH");
    while (path && *path) {
        size_t n = strcspn(path, ":");
        snprintf(out, size, "%.*s/%s", (int)n, path, name);
        if (access(out, X_OK) == 0)
            return true;
        path += n + (path[n] == ':');
    }
    return false;
}

/* Before the program comes what redirects the runtime that it has inside. */
static void put_redirection(const char *dir) {
    const char *old = getenv("LD_PRELOAD");
    struct str s = {0};
    str_printf(&s, "%s%s%s/libreprise_static.so", old && *old ? old : "", old && *old ? ":" : "", dir);
    setenv("LD_PRELOAD", str_text(&s), 1);
    str_free(&s);
}

/* Whether the files asked for can be written, tried before what may take long; false after a message. */
static bool files_can_be(void) {
    bool ok = true;
    for (uint32_t k = 0; ok && k < NOPTIONS; k++) {
        const char *file = options[k].kind == OPT_FILE ? getenv(options[k].variable) : NULL;
        ok = !file || !*file || io_try(file);
    }
    return ok;
}

/* Whether the options that choose what is timed stand with those they need; false after a message. How much a
 * bundled workload executes is known. */
static bool sampling_said(bool workload) {
    bool part = getenv("REPRISE_MAX_INSTS"), expected = getenv("REPRISE_EXPECT_INSTS"),
         blocks = getenv("REPRISE_WHOLE_BLOCKS");
    const char *lacking =
        !part && expected ? "--expect-insts needs --max-insts, which says how many of them are timed"
        : !part && blocks ? "--whole-blocks needs --max-insts, which says how many instructions are timed"
        : blocks && !expected && !workload
            ? "--whole-blocks needs --expect-insts, which says how many instructions the program executes"
            : NULL;
    if (lacking)
        cli_usage_error(help, lacking, "");
    return !lacking;
}

/* Tells the simulator how much the workload executes, so that what is timed of it is spread over its launches
 * as comparisons have it; false, after a message, where that is needed and nobody knows it. */
static bool expect_workload(const struct workload *w, enum workload_size size) {
    if (!getenv("REPRISE_MAX_INSTS") || getenv("REPRISE_EXPECT_INSTS"))
        return true;
    if (w->insts[size]) {
        char text[24];
        snprintf(text, sizeof text, "%" PRIu64, w->insts[size]);
        setenv("REPRISE_EXPECT_INSTS", text, 1);
    } else if (getenv("REPRISE_WHOLE_BLOCKS")) {
        fprintf(stderr,
                "reprise: nobody has counted what %s --size %s executes: say it with --expect-insts\n",
                w->name, workload_sizes[size]);
        return false;
    }
    return true;
}

/* Becomes the program. */
static int become(char *path, char **argv, bool inside) {
    const char *dir = place_libraries();
    if (!dir || !files_can_be())
        return 1;
    waiting_ask(0);
    unsetenv("REPRISE_OWNER"); /* these files are its own, whoever runs this command */
    put_library_path(dir);
    if (inside)
        put_redirection(dir);
    execv(path, argv);
    fprintf(stderr, "reprise: %s cannot be run: %s\n", path, strerror(errno));
    return 126;
}

/* Says, once, what a run without timing does not do, although it was asked for. */
static void say_ignored(const struct rp_options *o) {
    const struct {
        const char *option, *value;
    } timed[] = {{"--mech", o->mech && strcmp(o->mech, "base") ? o->mech : NULL},
                 {"--probe", o->probe},
                 {"--trace", getenv("REPRISE_TRACE")}};
    struct str all = {0};
    for (size_t i = 0; o->functional && i < sizeof timed / sizeof *timed; i++)
        if (timed[i].value && *timed[i].value)
            str_printf(&all, "%s %s %s", all.len ? "," : "", timed[i].option, timed[i].value);
    if (all.len)
        fprintf(stderr, "reprise: --functional times nothing, and ignores%s\n", str_text(&all));
    str_free(&all);
}

/* Whether there is a machine as the options say that became environment variables, said once here rather than
 * by each program as a failure of its own; and what its mechanisms do. */
static bool machine_exists(struct cli_machine *machine) {
    struct options o;
    options_read(&o);
    bool ok = cli_machine_exists(&o.rp, machine);
    if (ok)
        say_ignored(&o.rp);
    options_free(&o);
    return ok;
}

/* Has the program read a file; false after a message. */
static bool read_from(const char *file) {
    int in = open(file, O_RDONLY | O_CLOEXEC);
    bool ok = in >= 0 && dup2(in, STDIN_FILENO) >= 0;
    if (!ok)
        fprintf(stderr, "reprise: %s cannot be read: %s\n", file, strerror(errno));
    if (in >= 0)
        close(in);
    return ok;
}

static int run_program(const struct request *r, char **argv, bool maybe_workload) {
    char path[PATH_MAX];
    if (!find_program(argv[0], path, sizeof path)) {
        const char *near = maybe_workload ? workload_nearest(argv[0]) : NULL;
        fprintf(stderr, "reprise: there is no program%s '%s'%s%s%s\n", maybe_workload ? " or workload" : "",
                argv[0], near ? "; did you mean the workload '" : "", near ? near : "", near ? "'?" : "");
        return 127;
    }
    enum elf_cuda_kind kind = elf_check(path);
    if (kind == ELF_CUDA_STATIC) {
        fprintf(stderr, "reprise: %s: %s\n", path, elf_static_advice());
        return 1;
    }
    if (!sampling_said(false) || !machine_exists(&(struct cli_machine){0}))
        return 2;
    if (r->input && !read_from(r->input))
        return 1;
    return become(path, argv, kind != ELF_CUDA_SHARED); /* a script may start programs that need it */
}

/* A workload, or a program, that is run again. */
struct again {
    const struct workload *workload;
    const struct request *request;
    char **argv;
    bool maybe_workload;
};

static int run_workload(const struct workload *w, const struct request *r, char **extra);

static int workload_again(void *ctx) {
    const struct again *a = ctx;
    struct request once = *a->request;
    once.max_error = 0;
    return run_workload(a->workload, &once, a->argv);
}

static int program_again(void *ctx) {
    const struct again *a = ctx;
    return run_program(a->request, a->argv, a->maybe_workload);
}

static int run_workload(const struct workload *w, const struct request *r, char **extra) {
    if (r->max_error)
        return cli_run_measured(r->max_error, workload_again,
                                &(struct again){.workload = w, .request = r, .argv = extra});
    char path[PATH_MAX];
    if (!workload_path(w, path, sizeof path))
        return 1;
    if (!expect_workload(w, r->workload.size))
        return 2;
    struct workload_run run = r->workload;
    char *results = getenv("REPRISE_RESULTS") ? xstrdup(getenv("REPRISE_RESULTS")) : NULL;
    unsetenv("REPRISE_RESULTS"); /* the program writes them itself */
    run.results = results;
    if (!*extra) /* arguments may make it do more, or less */
        waiting_ask(w->insts[run.size]);
    if (results && w->launch_results) { /* and those of single launches are added */
        char *specs = xstrdup(w->launch_results);
        for (char *blank = specs; (blank = strchr(blank, ' '));)
            *blank = '\n';
        setenv("REPRISE_LAUNCH_RESULTS", results, 1);
        setenv("REPRISE_RESULT", specs, 1);
        free(specs);
    }
    char **argv = workload_command(w, &run, path, extra);
    int rc = become(path, argv, false);
    free(argv);
    free(results);
    return rc;
}

/* Gives the files of one of several runs a name of their own: a.json becomes a.NAME.json. */
static void name_files(const char *workload) {
    for (uint32_t k = 0; k < NOPTIONS; k++) {
        const char *file = options[k].kind == OPT_FILE ? getenv(options[k].variable) : NULL;
        if (!file || !*file)
            continue;
        const char *slash = strrchr(file, '/'), *dot = strrchr(slash ? slash : file, '.');
        int stem = (int)(dot ? dot - file : (ptrdiff_t)strlen(file));
        struct str name = {0};
        str_printf(&name, "%.*s.%s%s", stem, file, workload, file + stem);
        setenv(options[k].variable, str_text(&name), 1);
        str_free(&name);
    }
}

static int run_one(void *ctx, uint32_t i) {
    const struct request *r = ctx;
    setenv("REPRISE_PROGRESS", "none", 1); /* there is one for all of them */
    name_files(r->names.at[i]->name);
    return run_workload(r->names.at[i], r, (char *[]){NULL});
}

static const char *run_title(void *ctx, uint32_t i) {
    return ((const struct request *)ctx)->names.at[i]->name;
}

/* One workload, or several in processes of their own. argv begins with the first one's name. */
static int run_workloads(int argc, char **argv, struct request *r) {
    const struct workload *w;
    int i = 0;
    while (i < argc && (w = workload_find(argv[i]))) {
        if (w->cpu) {
            fprintf(stderr,
                    "reprise: %s is a program for the CPU: 'reprise help cpu', workloads/cpu/README.md\n",
                    w->name);
            return 2;
        }
        vec_push(&r->names, w);
        int used = take_options(argc - i - 1, argv + i + 1, help, r);
        if (used < 0)
            return 2;
        i += 1 + used;
    }
    char **extra = argv + i;
    if (i < argc && strcmp(*extra++, "--")) {
        const char *near = workload_nearest(argv[i]);
        return near ? cli_usage_error(help, "there is no workload of that name; did you mean", near)
                    : cli_usage_error(help, "arguments of a workload's program come after --, not", argv[i]);
    }
    if (r->input)
        return cli_usage_error(help, "only programs take", "--input");
    if (r->results.len)
        return cli_usage_error(help, "workloads declare their results: there is nothing for --result to add",
                               "");
    struct cli_machine machine;
    if (!sampling_said(true) || !machine_exists(&machine))
        return 2;
    r->workload.accept = machine.approximate;
    if (machine.streams && getenv("REPRISE_MAX_INSTS"))
        setenv("REPRISE_WHOLE_BLOCKS", "1", 1); /* as compare has it */
    if (r->names.len == 1)
        return run_workload(r->names.at[0], r, extra);
    if (i < argc)
        return cli_usage_error(help, "arguments after -- are for one workload, not for several", "");
    struct jobs jobs = {.count = r->names.len,
                        .at_once = r->jobs,
                        .run = run_one,
                        .title = isatty(STDERR_FILENO) ? run_title : NULL, /* a log has what they print */
                        .ctx = r};
    return jobs_run(&jobs);
}

static bool is_ptx(const char *name) {
    size_t n = strlen(name);
    return n > 4 && !strcmp(name + n - 4, ".ptx");
}

/* What comes after the options: a program after "--", else a PTX file, a workload or a program. */
static int run_what(int argc, char **argv, struct request *r) {
    bool named = argc && strcmp(argv[0], "--");
    if (argc && !named) {
        argc--;
        argv++;
    }
    if (!argc)
        return cli_usage_error(help, "what should be run?", "");
    if (named && workload_find(argv[0]))
        return run_workloads(argc, argv, r);
    char path[PATH_MAX];
    if (r->workload_option && (is_ptx(argv[0]) || find_program(argv[0], path, sizeof path)))
        return cli_usage_error(help, "only workloads take", r->workload_option);
    if (!getenv("REPRISE_RESULTS") != !getenv("REPRISE_RESULT"))
        return cli_usage_error(
            help, "--results says where they go, and --result which they are: both are needed", "");
    if (r->max_error && (is_ptx(argv[0]) || !getenv("REPRISE_RESULT")))
        return cli_usage_error(
            help, "--max-error is for workloads, and for programs of which --result names results", "");
    if (is_ptx(argv[0]) && r->input)
        return cli_usage_error(help, "only programs take", "--input");
    if (!is_ptx(argv[0]) && r->max_error)
        return cli_run_measured(r->max_error, program_again,
                                &(struct again){.request = r, .argv = argv, .maybe_workload = named});
    if (!is_ptx(argv[0]))
        return run_program(r, argv, named);
    if (!sampling_said(false) || !machine_exists(&(struct cli_machine){0}))
        return 2;
    waiting_ask(0);
    return files_can_be() ? cli_run_ptx(argc, argv, help) : 1;
}

int cli_run(int argc, char **argv) {
    if (argc && !strcmp(argv[0], "--help")) {
        fputs(help, stdout);
        return 0;
    }
    struct request r = {.workload = {.size = SIZE_SMALL, .bits = 64}};
    int used = take_options(argc, argv, help, &r);
    int rc = used < 0 ? 2 : run_what(argc - used, argv + used, &r);
    str_free(&r.set);
    str_free(&r.results);
    vec_free(&r.names);
    return rc;
}

static void print_variable(const char *name) {
    const char *v = getenv(name);
    if (!v)
        return;
    printf("export %s='", name);
    for (; *v; v++)
        *v == '\'' ? fputs("'\\''", stdout) : putchar(*v);
    puts("'");
}

int cli_env(int argc, char **argv) {
    struct request r = {0};
    if (argc && !strcmp(argv[0], "--help")) {
        fputs(env_help, stdout);
        return 0;
    }
    int used = take_options(argc, argv, env_help, &r);
    str_free(&r.set);
    str_free(&r.results);
    if (used < 0)
        return 2;
    if (used != argc)
        return cli_usage_error(env_help, "unknown argument", argv[used]);
    if (r.workload_option)
        return cli_usage_error(env_help, "only 'reprise run WORKLOAD' takes", r.workload_option);
    if (r.input)
        return cli_usage_error(env_help, "only 'reprise run' takes", "--input");
    if (!machine_exists(&(struct cli_machine){0}))
        return 2;
    const char *dir = place_libraries();
    if (!dir)
        return 1;
    put_library_path(dir);
    print_variable("LD_LIBRARY_PATH");
    for (uint32_t i = 0; i < NOPTIONS; i++)
        if (options[i].variable)
            print_variable(options[i].variable);
    return 0;
}
