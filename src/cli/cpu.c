/* reprise cpu: programs for AArch64 on the simulated CPU. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/cli.h"
#include "cpu/guest.h"

static const char help[] =
    "usage: reprise cpu run [options] -- PROGRAM [ARGUMENT...]\n"
    "\n"
    "Runs a statically linked AArch64 Linux program, as aarch64-linux-gnu-gcc -static makes it, on the\n"
    "simulated CPU. The program reaches its standard streams and files that are named: by an argument\n"
    "of its own or by --file; its clock counts what it executes.\n"
    "\n"
    "  --file PATH       the program may open this file, too (repeatable)\n"
    "  --env NAME=VALUE  a variable of its environment, which is empty otherwise (repeatable)\n"
    "  --max-insts N     stop after N instructions\n"
    "  --summary         when it has ended, say on stderr how many instructions it executed, how fast\n";

struct request {
    VEC(const char *) files, env;
    const char *const *argv;
    uint64_t max_insts;
    bool summary;
};

static bool read_number(const char *text, uint64_t *value) {
    char *end;
    *value = strtoull(text, &end, 0);
    return *text >= '0' && *text <= '9' && !*end;
}

/* The options up to "--" or the program; 0, or the exit status. */
static int read_options(struct request *r, int argc, char **argv) {
    int k = 0;
    r->max_insts = UINT64_MAX;
    for (; k < argc && argv[k][0] == '-' && strcmp(argv[k], "--"); k++) {
        const char *o = argv[k], *value = k + 1 < argc ? argv[k + 1] : NULL;
        if (!strcmp(o, "--summary")) {
            r->summary = true;
            continue;
        }
        bool file = !strcmp(o, "--file"), env = !strcmp(o, "--env"), max = !strcmp(o, "--max-insts");
        if (!file && !env && !max)
            return cli_usage_error(help, "there is no option", o);
        if (!value)
            return cli_usage_error(help, "a value must follow", o);
        if (max && !read_number(value, &r->max_insts))
            return cli_usage_error(help, "not a number:", value);
        if (env && !strchr(value, '='))
            return cli_usage_error(help, "not NAME=VALUE:", value);
        if (file)
            vec_push(&r->files, value);
        if (env)
            vec_push(&r->env, value);
        k++;
    }
    if (k < argc && !strcmp(argv[k], "--"))
        k++;
    if (k >= argc)
        return cli_usage_error(help, "no program is named", "");
    r->argv = (const char *const *)&argv[k];
    vec_push(&r->files, NULL);
    vec_push(&r->env, NULL);
    return 0;
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int run_program(const struct request *r) {
    struct diag d = {0};
    struct guest *g = xcalloc(1, sizeof *g);
    struct guest_options o = {.argv = r->argv, .env = r->env.at, .files = r->files.at};
    if (!guest_init(g, &o, &d)) {
        fprintf(stderr, "reprise: %s", str_text(&d.text));
        diag_free(&d);
        free(g);
        return 1;
    }
    double start = seconds();
    enum cpu_stop why = guest_run(g, r->max_insts);
    double wall = seconds() - start;
    int status = guest_status(g);
    if (why == CPU_FAULT) {
        struct str text = {0};
        cpu_describe_fault(&g->cpu, &text);
        fprintf(stderr, "reprise: %s: %s\n", r->argv[0], str_text(&text));
        str_free(&text);
        status = 1;
    }
    if (why == CPU_BUDGET) {
        fprintf(stderr, "reprise: %s: stopped after %" PRIu64 " instructions\n", r->argv[0],
                cpu_counter(&g->cpu));
        status = 1;
    }
    if (g->signal)
        fprintf(stderr, "reprise: %s: ended by signal %d\n", r->argv[0], g->signal);
    if (r->summary)
        fprintf(stderr, "%" PRIu64 " instructions, %.1f million a second\n", cpu_counter(&g->cpu),
                (double)cpu_counter(&g->cpu) / wall * 1e-6);
    guest_free(g);
    free(g);
    return status;
}

static int cpu_run_command(int argc, char **argv) {
    struct request r = {0};
    int status = read_options(&r, argc, argv);
    if (!status)
        status = run_program(&r);
    vec_free(&r.files);
    vec_free(&r.env);
    return status;
}

int cli_cpu(int argc, char **argv) {
    if (argc && (!strcmp(argv[0], "--help") || !strcmp(argv[0], "-h"))) {
        fputs(help, stdout);
        return 0;
    }
    if (argc && !strcmp(argv[0], "run"))
        return argc > 1 && !strcmp(argv[1], "--help") ? cli_cpu(1, argv + 1)
                                                      : cpu_run_command(argc - 1, argv + 1);
    return cli_usage_error(help, argc ? "cpu cannot" : "what should the cpu do?", argc ? argv[0] : "");
}
