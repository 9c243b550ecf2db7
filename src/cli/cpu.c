/* reprise cpu: programs for AArch64 on the simulated CPU. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "cfg/files.h"
#include "cli/cli.h"
#include "cpu/machine.h"

static const char help[] =
    "usage: reprise cpu run [options] -- PROGRAM [ARGUMENT...]\n"
    "       reprise cpu memo [options] -- PROGRAM [ARGUMENT...]\n"
    "       reprise cpu params\n"
    "\n"
    "Runs a statically linked AArch64 Linux program, as aarch64-linux-gnu-gcc -static makes it, on the\n"
    "simulated CPU. The program reaches its standard streams and files that are named: by an argument\n"
    "of its own or by --file; its clock counts what it executes.\n"
    "\n"
    "  --functional      results and instruction counts only, no timing: many times faster\n"
    "  --region          only what is between the marks of the program takes time (AX_BEGIN and AX_END\n"
    "                    of include/reprise_axmemo.h); the rest is functional\n"
    "  --cpu NAME|FILE   the CPU: a name from 'reprise list cpus' or a .yaml file (default hpi)\n"
    "  --set PATH=VALUE  change one parameter, see 'reprise cpu params' (repeatable)\n"
    "  --beside COMMAND  run a second program on the other core: its words, separated by blanks\n"
    "  --json FILE       write statistics to FILE\n"
    "  --trace FILE      write when each instruction was fetched, issued and ended, for Konata\n"
    "  --trace-window A:B  only cycles A to B of it (also A: and :B)\n"
    "  --file PATH       the program may open this file, too (repeatable)\n"
    "  --env NAME=VALUE  a variable of its environment, which is empty otherwise (repeatable)\n"
    "  --max-insts N     stop after N instructions; those who wait are then told how long it will take\n"
    "  --summary         when it has ended, say on stderr what it cost: instructions, cycles, energy\n"
    "\n"
    "These are options of 'cpu run'; 'reprise cpu memo --help' has those of the search for blocks that can\n"
    "be memoized, and 'reprise cpu params' lists every parameter of a CPU.\n";

struct request {
    struct machine_options machine;
    VEC(const char *) files, env, set;
    VEC(char *) beside; /* words of the second program, NULL-terminated */
    const char *json;
    bool summary;
};

enum option_kind { /* those without a value come first */
                   OPT_FUNCTIONAL,
                   OPT_SUMMARY,
                   OPT_REGION,
                   OPT_CPU,
                   OPT_SET,
                   OPT_FILE,
                   OPT_ENV,
                   OPT_MAX_INSTS,
                   OPT_BESIDE,
                   OPT_JSON,
                   OPT_TRACE,
                   OPT_TRACE_WINDOW
};

static const struct {
    const char *name;
    enum option_kind kind;
} options[] = {
    {"--functional", OPT_FUNCTIONAL},
    {"--summary", OPT_SUMMARY},
    {"--region", OPT_REGION},
    {"--cpu", OPT_CPU},
    {"--set", OPT_SET},
    {"--file", OPT_FILE},
    {"--env", OPT_ENV},
    {"--max-insts", OPT_MAX_INSTS},
    {"--beside", OPT_BESIDE},
    {"--json", OPT_JSON},
    {"--trace", OPT_TRACE},
    {"--trace-window", OPT_TRACE_WINDOW},
};
enum { NOPTIONS = sizeof options / sizeof options[0] };

static bool read_number(const char *text, uint64_t *value) {
    char *end;
    *value = strtoull(text, &end, 0);
    return *text >= '0' && *text <= '9' && !*end;
}

/* Reads "A:B" of which either may be missing. */
static bool read_window(struct machine_options *m, const char *text) {
    const char *colon = strchr(text, ':');
    char first[24];
    if (!colon || (size_t)(colon - text) >= sizeof first || !strcmp(text, ":"))
        return false;
    snprintf(first, sizeof first, "%.*s", (int)(colon - text), text);
    return (!*first || read_number(first, &m->trace_first)) &&
           (!colon[1] || read_number(colon + 1, &m->trace_last)) && m->trace_first <= m->trace_last;
}

/* Splits the command of the second program at blanks. */
static void split(struct request *r, const char *command) {
    char *words = xstrdup(command), *save = NULL;
    for (char *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save))
        vec_push(&r->beside, xstrdup(w));
    vec_push(&r->beside, NULL);
    free(words);
}

/* Takes an option with its value, which is "" for those that have none; 0, or the exit status. */
static int take_option(struct request *r, enum option_kind kind, const char *value) {
    switch (kind) {
    case OPT_FUNCTIONAL:
        r->machine.functional = true;
        break;
    case OPT_SUMMARY:
        r->summary = true;
        break;
    case OPT_REGION:
        r->machine.region = true;
        break;
    case OPT_CPU:
        r->machine.cpu = value;
        break;
    case OPT_SET:
        vec_push(&r->set, value);
        break;
    case OPT_FILE:
        vec_push(&r->files, value);
        break;
    case OPT_ENV:
        if (!strchr(value, '='))
            return cli_usage_error(help, "not NAME=VALUE:", value);
        vec_push(&r->env, value);
        break;
    case OPT_MAX_INSTS:
        if (!read_number(value, &r->machine.max_insts))
            return cli_usage_error(help, "not a number:", value);
        break;
    case OPT_BESIDE:
        split(r, value);
        if (!r->beside.at[0])
            return cli_usage_error(help, "no program is named", "");
        break;
    case OPT_JSON:
        r->json = value;
        break;
    case OPT_TRACE:
        r->machine.trace = value;
        break;
    case OPT_TRACE_WINDOW:
        if (!read_window(&r->machine, value))
            return cli_usage_error(help, "a window is A:B, A: or :B, not", value);
        break;
    }
    return 0;
}

/* The options up to "--" or the program; 0, or the exit status. */
static int read_options(struct request *r, int argc, char **argv) {
    int k = 0, status = 0;
    r->machine.max_insts = r->machine.trace_last = UINT64_MAX;
    for (; k < argc && argv[k][0] == '-' && strcmp(argv[k], "--") && !status; k++) {
        int o = 0;
        while (o < NOPTIONS && strcmp(argv[k], options[o].name))
            o++;
        if (o == NOPTIONS)
            return cli_usage_error(help, "there is no option", argv[k]);
        bool flag = options[o].kind <= OPT_REGION;
        if (!flag && k + 1 >= argc)
            return cli_usage_error(help, "a value must follow", argv[k]);
        status = take_option(r, options[o].kind, flag ? "" : argv[++k]);
    }
    if (k < argc && !strcmp(argv[k], "--"))
        k++;
    if (!status && k >= argc)
        return cli_usage_error(help, "no program is named", "");
    vec_push(&r->files, NULL);
    vec_push(&r->env, NULL);
    vec_push(&r->set, NULL);
    r->machine.set = r->set.at;
    struct guest_options *p = r->machine.programs;
    p[0] =
        (struct guest_options){.argv = (const char *const *)&argv[k], .env = r->env.at, .files = r->files.at};
    p[1] = (struct guest_options){
        .argv = (const char *const *)r->beside.at, .env = r->env.at, .files = r->files.at};
    r->machine.nprograms = r->beside.len ? 2 : 1;
    return status;
}

/* How a program ended, if not as it should; its exit status. */
static int tell_end(const struct cpu_machine *m, uint32_t k) {
    const struct guest *g = &m->guest[k];
    const char *name = g->options.argv[0];
    if (m->stop[k] == CPU_FAULT) {
        struct str text = {0};
        cpu_describe_fault(&g->cpu, &text);
        fprintf(stderr, "reprise: %s: %s\n", name, str_text(&text));
        str_free(&text);
        return 1;
    }
    if (m->stop[k] == CPU_BUDGET) {
        fprintf(stderr, "reprise: %s: stopped after %" PRIu64 " instructions\n", name, cpu_counter(&g->cpu));
        return 1;
    }
    if (g->signal)
        fprintf(stderr, "reprise: %s: ended by signal %d\n", name, g->signal);
    return guest_status(g);
}

/* The signal that ends the run, whose report is written all the same; the next one ends the process. */
static volatile sig_atomic_t interrupted;

static void interrupt(int number) {
    interrupted = number;
}

static void catch_signals(void) {
    struct sigaction a = {.sa_handler = interrupt, .sa_flags = SA_RESETHAND | SA_RESTART};
    sigaction(SIGINT, &a, NULL);
    sigaction(SIGTERM, &a, NULL);
}

static int run_programs(struct request *r) {
    struct diag d = {0};
    if (r->json && !io_try(r->json))
        return 2;
    catch_signals();
    r->machine.stop = &interrupted;
    struct waiting_line waiting;
    uint64_t most = r->machine.max_insts;
    waiting_ask(most < UINT64_MAX / r->machine.nprograms ? most * r->machine.nprograms : 0);
    waiting_read(&waiting);
    r->machine.waiting = &waiting;
    struct cpu_machine *m = cpu_machine_create(&r->machine, &d);
    if (!m) {
        fprintf(stderr, "reprise: %s", str_text(&d.text));
        diag_free(&d);
        return 2;
    }
    cpu_machine_run(m);
    int status = tell_end(m, 0);
    if (r->machine.nprograms > 1 && tell_end(m, 1) && !status)
        status = 1;
    char incomplete[32];
    snprintf(incomplete, sizeof incomplete, "signal %d", (int)interrupted);
    if (r->json && !cpu_machine_report(m, interrupted ? incomplete : NULL, r->json))
        status = 1;
    if (!cpu_machine_end_trace(m))
        status = 1;
    if (r->summary)
        cpu_machine_summary(m, stderr);
    cpu_machine_free(m);
    return interrupted ? 128 + (int)interrupted : status;
}

static int cpu_run_command(int argc, char **argv) {
    struct request r = {0};
    int status = read_options(&r, argc, argv);
    if (!status)
        status = run_programs(&r);
    vec_free(&r.files);
    vec_free(&r.env);
    vec_free(&r.set);
    for (uint32_t k = 0; k < r.beside.len; k++)
        free(r.beside.at[k]);
    vec_free(&r.beside);
    return status;
}

/* reprise cpu list: the parameters of a CPU. */
static int cpu_list_command(void) {
    struct config c = {0};
    struct str out = {0};
    cpu_machine_params(&c);
    config_list(&c, &out);
    fputs(str_text(&out), stdout);
    str_free(&out);
    config_free(&c);
    return 0;
}

static void list_cpu(const char *name) {
    struct config c = {0};
    struct diag d = {0};
    printf("%-14s ", name);
    if (cpu_machine_config(&c, name, NULL, &d)) {
        const struct cpu_config *g = config_values(&c, &cpu_params);
        printf("%-20.20s %d cores at %d MHz, L2 %dK, memo tables %dK and %dK%s\n", g->name, g->cores,
               g->clock, (int)(g->l2_size >> 10), (int)(g->memo_l1 >> 10), (int)(g->memo_l2 >> 10),
               strcmp(name, CPU_DEFAULT) ? "" : "  (default)");
    } else {
        printf("cannot be read:\n%s", str_text(&d.text));
    }
    diag_free(&d);
    config_free(&c);
}

int cli_list_cpus(void) {
    struct arena a = {0};
    struct str dir = {0};
    struct diag d = {0};
    bool ok = cpu_machine_config_dir(&dir, &d);
    struct file_names names = {0};
    if (ok)
        names = file_list(&a, str_text(&dir));
    for (uint32_t i = 0; i < names.len; i++)
        list_cpu(names.at[i]);
    fputs(str_text(&d.text), stderr);
    diag_free(&d);
    str_free(&dir);
    arena_free(&a);
    return !ok;
}

int cli_cpu(int argc, char **argv) {
    if (argc && (!strcmp(argv[0], "--help") || !strcmp(argv[0], "-h"))) {
        fputs(help, stdout);
        return 0;
    }
    if (argc && !strcmp(argv[0], "run"))
        return argc > 1 && !strcmp(argv[1], "--help") ? cli_cpu(1, argv + 1)
                                                      : cpu_run_command(argc - 1, argv + 1);
    if (argc && !strcmp(argv[0], "memo"))
        return cli_cpu_memo(argc - 1, argv + 1);
    if (argc == 1 && !strcmp(argv[0], "params"))
        return cpu_list_command();
    return cli_usage_error(help, argc ? "cpu cannot" : "what should the cpu do?", argc ? argv[0] : "");
}
