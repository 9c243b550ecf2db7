/* The reprise command. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "cli/cli.h"
#include "gpu/options.h"
#include "gpu/resolve.h"

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *help;
} commands[] = {
    {"run", cli_run, "run a CUDA program, a workload or a kernel of a PTX file on the simulated GPU"},
    {"env", cli_env, "print the variables that run a CUDA program by hand"},
    {"profile", cli_profile, "say how much of a program is redundant, where, and what would remove it"},
    {"compare", cli_compare, "run workloads on several mechanisms and print one table"},
    {"repro", cli_repro, "a paper's figures from our runs, its claims beside ours"},
    {"sweep", cli_sweep, "do all runs that a file describes, here or on Slurm"},
    {"query", cli_query, "print and export the runs that were kept"},
    {"report", cli_report, "one page of HTML with charts, of what the commands above wrote as JSON"},
    {"cpu", cli_cpu, "run a program for AArch64 on the simulated CPU"},
    {"disasm", cli_disasm, "print the machine code of a PTX file"},
    {"list", cli_list, "list gpus, cpus, mechs, probes, params, counters, workloads, suites or papers"},
};
enum { NCOMMANDS = sizeof commands / sizeof commands[0] };

static void usage(FILE *to) {
    fputs("Reprise runs CUDA programs on a simulated GPU.\n\nusage: reprise COMMAND [options]\n\n", to);
    for (int i = 0; i < NCOMMANDS; i++)
        fprintf(to, "  %-8s %s\n", commands[i].name, commands[i].help);
    fputs("\n'reprise help COMMAND' tells more. First steps:\n"
          "  reprise run hotspot --check-result\n"
          "  reprise profile hotspot --size tiny --lines\n"
          "  reprise compare hotspot bfs --mech wir --gpu wir --size tiny\n"
          "  reprise run -- ./my_cuda_program its arguments\n"
          "  reprise disasm kernel.ptx\n",
          to);
}

bool cli_machine_exists(const struct rp_options *o, struct cli_machine *machine) {
    struct mech_set mechs;
    struct profile_set profiles;
    struct config config = {0};
    struct diag d = {0};
    struct rp_options all = *o;
    char *text = NULL;
    const char **load = o->load ? NULL : options_load(&text);
    all.load = load ? load : o->load;
    bool ok = resolve_options(&all, &mechs, &profiles, &config, &d);
    bool timed = ok && !o->functional;
    *machine = (struct cli_machine){.approximate = timed && mech_approximate(&mechs),
                                    .streams = timed && mech_streams(&mechs)};
    if (!ok)
        fputs(str_text(&d.text), stderr);
    diag_free(&d);
    config_free(&config);
    free(load);
    free(text);
    return ok;
}

void cli_load(const char *path) {
    const char *old = getenv("REPRISE_LOAD");
    struct str all = {0};
    if (old && *old)
        str_printf(&all, "%s\n", old);
    char dir[PATH_MAX];
    if (*path != '/' && getcwd(dir, sizeof dir)) /* a program may change its directory */
        str_printf(&all, "%s/", dir);
    str_printf(&all, "%s", path);
    setenv("REPRISE_LOAD", str_text(&all), 1);
    str_free(&all);
}

int cli_usage_error(const char *help, const char *what, const char *word) {
    static const char start[] = "usage: reprise ";
    const char *command = help + strlen(start);
    fprintf(stderr, "reprise: %s%s%s\nsee 'reprise help %.*s'\n", what, *word ? " " : "", word,
            (int)strcspn(command, " "), command);
    return 2;
}

static const char *next_command(void *ctx, uint32_t i) {
    (void)ctx;
    return i < NCOMMANDS ? commands[i].name : NULL;
}

static bool is_help(const char *word) {
    return !strcmp(word, "help") || !strcmp(word, "--help") || !strcmp(word, "-h");
}

int main(int argc, char **argv) {
    bool help = argc > 1 && is_help(argv[1]);
    if (argc < 2 || (help && argc < 3)) {
        usage(argc < 2 ? stderr : stdout);
        return argc < 2 ? 2 : 0;
    }
    if (!strcmp(argv[1], "--version")) {
        puts("reprise " REPRISE_VERSION);
        return 0;
    }
    const char *name = argv[help ? 2 : 1];
    help |= argc > 2 && is_help(argv[2]) && strcmp(argv[2], "help"); /* which may be a program */
    for (int i = 0; i < NCOMMANDS; i++)
        if (!strcmp(name, commands[i].name))
            return help ? commands[i].run(1, (char *[]){"--help", NULL})
                        : commands[i].run(argc - 2, argv + 2);
    const char *near = diag_nearest(name, strlen(name), next_command, NULL);
    fprintf(stderr, "reprise: there is no command '%s'%s%s%s\nsee 'reprise help'\n", name,
            near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    return 2;
}
