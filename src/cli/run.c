/* reprise run: a CUDA program under the drop-in libraries, or one kernel of a PTX file. reprise env: the
 * variables. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vec.h"
#include "cli/cli.h"
#include "cuda/elfcheck.h"

static const char help[] =
    "usage: reprise run [options] -- PROGRAM [ARGUMENT...]\n"
    "       reprise run [options] FILE.ptx --entry KERNEL [--grid X,Y,Z] [--block X,Y,Z] [--arg A]...\n"
    "\n"
    "Runs an unmodified CUDA program (built by nvcc 11 to 13 with -cudart shared, or by clang) on\n"
    "the simulated GPU, or one kernel of a PTX file.\n"
    "\n"
    "  --functional      results only, no timing (the only mode so far)\n"
    "  --gpu NAME|FILE   the GPU: a name from 'reprise list gpus' or a .yaml file (default h200)\n"
    "  --set PATH=VALUE  change one parameter, see 'reprise list params' (repeatable)\n"
    "  --max-insts N     stop a kernel after N warp instructions: it ends with a launch timeout\n"
    "  --json FILE       write statistics of every launch to FILE\n"
    "\n"
    "Kernels of PTX files:\n"
    "  --entry KERNEL    which kernel (may be left out when there is only one)\n"
    "  --grid, --block   launch size, default 1; --shared N bytes of dynamic shared memory\n"
    "  --arg A           the next parameter: i32:-5  u64:0x10  f32:1.5  f64:2  buf:BYTES (zeroed\n"
    "                    memory, printed as words afterwards)  iota:N (memory with words 0..N-1)\n"
    "\n"
    "example: reprise run --gpu gtx480 -- ./matrixMul 512\n";

static const char env_help[] = "usage: reprise env [options as for run]\n"
                               "\n"
                               "Prints the environment that 'reprise run' sets, for use by hand:\n"
                               "  eval \"$(reprise env)\" && ./my_cuda_program\n";

const char *cli_library_dir(void) {
    static char path[PATH_MAX + 32];
    char exe[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    if (n < 0)
        return NULL;
    exe[n] = 0;
    char *slash = strrchr(exe, '/');
    if (slash)
        *slash = 0;
    static const char *const places[] = {"%s", "%s/../lib/reprise"};
    for (int i = 0; i < 2; i++) {
        char lib[PATH_MAX + 64];
        snprintf(path, sizeof path, places[i], exe);
        snprintf(lib, sizeof lib, "%s/libcuda.so.1", path);
        if (access(lib, R_OK) == 0)
            return path;
    }
    fprintf(stderr, "reprise: the CUDA libraries are not beside %s; build with 'make' first\n", exe);
    return NULL;
}

/* Options common to run and env, as environment variables. Returns the number of arguments used, or -1. */
static int take_options(int argc, char **argv, const char *usage, struct str *set) {
    static const struct {
        const char *option, *variable;
    } valued[] = {{"--gpu", "REPRISE_GPU"}, {"--json", "REPRISE_JSON"}, {"--max-insts", "REPRISE_MAX_INSTS"}};
    int i = 0;
    for (; i < argc && argv[i][0] == '-' && strcmp(argv[i], "--"); i++) {
        if (!strcmp(argv[i], "--functional")) {
            setenv("REPRISE_FUNCTIONAL", "1", 1);
            continue;
        }
        if (i + 1 == argc)
            return cli_usage_error(usage, "a value or another option is needed after", argv[i]), -1;
        if (!strcmp(argv[i], "--set")) {
            str_printf(set, "%s%s", set->len ? "\n" : "", argv[++i]);
            continue;
        }
        uint32_t k = 0;
        while (k < sizeof valued / sizeof valued[0] && strcmp(argv[i], valued[k].option))
            k++;
        if (k == sizeof valued / sizeof valued[0])
            return cli_usage_error(usage, "unknown option", argv[i]), -1;
        if (k == 2 && (argv[i + 1][strspn(argv[i + 1], "0123456789")] || !*argv[i + 1]))
            return cli_usage_error(usage, "--max-insts takes a number, not", argv[i + 1]), -1;
        char full[PATH_MAX];
        const char *value = argv[++i];
        if (k == 1 && value[0] != '/' &&
            getcwd(full, sizeof full)) { /* the program may change its directory */
            size_t len = strlen(full);
            snprintf(full + len, sizeof full - len, "/%s", value);
            value = full;
        }
        setenv(valued[k].variable, value, 1);
    }
    if (set->len)
        setenv("REPRISE_SET", str_text(set), 1);
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

static int run_program(char **argv) {
    char path[PATH_MAX];
    const char *dir = cli_library_dir();
    if (!dir)
        return 1;
    if (!find_program(argv[0], path, sizeof path)) {
        fprintf(stderr, "reprise: there is no program '%s'\n", argv[0]);
        return 127;
    }
    if (elf_check(path) == ELF_CUDA_STATIC) {
        fprintf(stderr, "reprise: %s: %s\n", path, elf_static_advice());
        return 1;
    }
    put_library_path(dir);
    execv(path, argv);
    fprintf(stderr, "reprise: %s cannot be run: %s\n", path, strerror(errno));
    return 126;
}

static bool is_ptx(const char *name) {
    size_t n = strlen(name);
    return n > 4 && !strcmp(name + n - 4, ".ptx");
}

int cli_run(int argc, char **argv) {
    struct str set = {0};
    if (argc && !strcmp(argv[0], "--help")) {
        fputs(help, stdout);
        return 0;
    }
    int used = take_options(argc, argv, help, &set);
    str_free(&set);
    if (used < 0)
        return 2;
    argc -= used;
    argv += used;
    if (argc && !strcmp(argv[0], "--")) {
        argc--;
        argv++;
    }
    if (!argc)
        return cli_usage_error(help, "what should be run?", "");
    return is_ptx(argv[0]) ? cli_run_ptx(argc, argv, help) : run_program(argv);
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
    struct str set = {0};
    if (argc && !strcmp(argv[0], "--help")) {
        fputs(env_help, stdout);
        return 0;
    }
    const char *dir = cli_library_dir();
    int used = take_options(argc, argv, env_help, &set);
    str_free(&set);
    if (used < 0)
        return 2;
    if (used != argc)
        return cli_usage_error(env_help, "unknown argument", argv[used]);
    if (!dir)
        return 1;
    put_library_path(dir);
    static const char *const names[] = {"LD_LIBRARY_PATH",    "REPRISE_GPU",       "REPRISE_SET",
                                        "REPRISE_FUNCTIONAL", "REPRISE_MAX_INSTS", "REPRISE_JSON"};
    for (uint32_t i = 0; i < sizeof names / sizeof names[0]; i++)
        print_variable(names[i]);
    return 0;
}
