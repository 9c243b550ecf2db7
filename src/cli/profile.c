/* reprise profile: a run in a process of its own that counts what is redundant, then tables of that. */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "base/vec.h"
#include "cli/cli.h"
#include "cli/profile_print.h"

static const char help[] =
    "usage: reprise profile [options] -- PROGRAM [ARGUMENT...]\n"
    "       reprise profile [options] WORKLOAD... [options] [-- ARGUMENT...]\n"
    "       reprise profile [options] FILE.ptx --entry KERNEL [--grid X,Y,Z] [--block X,Y,Z] [--arg A]...\n"
    "\n"
    "Says how much of a program is redundant, where, and which mechanisms could remove it. The program\n"
    "runs on the simulated GPU without any mechanism, functionally unless --timed is given; what it\n"
    "prints comes first. Counted are computations that repeat, instructions that are the same in a\n"
    "warp, a block or the grid, equal and narrow operands, affine addresses, stores that change nothing\n"
    "and loads that return what they returned: docs/profiles.md has every definition.\n"
    "\n"
    "  --lines           the source, annotated, hottest redundancy first: why values are the same, as the\n"
    "                    data-flow analysis finds it, what would catch it, and the machine code. Programs\n"
    "                    built with nvcc -lineinfo have source lines, others those of their PTX\n"
    "  --top N           lines of each kernel that are shown (default 10; all with --lines)\n"
    "  --timed           time the run: windows of instructions are then those that SMs issue, and kernels\n"
    "                    have cycles; many times slower\n"
    "  --json FILE       write all counts, of kernels, lines and instructions; of several workloads\n"
    "                    FILE.NAME.json\n"
    "  --gpu, --set, --size, --bits, --watchdog, --input, --check-result, -j  as of 'reprise run'\n"
    "  --kernels, --max-cycles, --max-insts  ... with --timed, and others that have a meaning here\n"
    "\n"
    "What the columns say: 'old' are instructions that do nothing new (a computation of the last 10,000\n"
    "instructions of the SM, what another warp of the block did at the same place, a silent store, a\n"
    "load of what was loaded before); 'one lane' are others in which all lanes have the same operands.\n"
    "\n"
    "examples: reprise profile hotspot --size tiny\n"
    "          reprise profile bfs --lines --top 5\n"
    "          reprise profile --json p.json -- ./matrixMul 512\n";

struct request {
    struct profile_view view;
    bool timed;
    const char *json;
    VEC(char *) rest; /* for run */
};

/* Options of run that have no place here, and why. */
static const struct {
    const char *name, *why;
} refused[] = {
    {"--mech", "a profile is of the base machine, without mechanisms: there is no place for"},
    {"--probe", "a profile counts what probes do: there is no place for"},
    {"--trace", "'reprise run' writes traces: there is no place for"},
};

/* Takes what is ours out of the command line, up to --; 0, or the exit status after a message. */
static int take(struct request *r, int argc, char **argv) {
    bool functional = false, top = false;
    int i = 0;
    for (; i < argc && strcmp(argv[i], "--"); i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        for (size_t k = 0; k < sizeof refused / sizeof *refused; k++)
            if (!strcmp(argv[i], refused[k].name))
                return cli_usage_error(help, refused[k].why, argv[i]);
        if (!strcmp(argv[i], "--lines")) {
            r->view.lines = true;
        } else if (!strcmp(argv[i], "--timed")) {
            r->timed = true;
        } else if (!strcmp(argv[i], "--functional")) {
            functional = true;
        } else if (!strcmp(argv[i], "--json") || !strcmp(argv[i], "--top")) {
            if (!value)
                return cli_usage_error(help, "a value is needed after", argv[i]);
            i++;
            if (argv[i - 1][2] == 'j') {
                r->json = value;
                continue;
            }
            top = true;
            if (!*value || strlen(value) > 9 || value[strspn(value, "0123456789")] || !atoi(value))
                return cli_usage_error(help, "--top takes a number, 1 or more, not", value);
            r->view.top = (uint32_t)atoi(value);
        } else {
            vec_push(&r->rest, argv[i]);
        }
    }
    for (; i < argc; i++)
        vec_push(&r->rest, argv[i]);
    if (functional && r->timed)
        return cli_usage_error(help, "either --functional or --timed", "");
    if (!r->rest.len)
        return cli_usage_error(help, "what should be profiled?", "");
    if (!top)
        r->view.top = r->view.lines ? UINT32_MAX : 10;
    return 0;
}

/* ---- the run ----------------------------------------------------------------------------------------- */

/* Runs it in a process of its own, with profiles going to a folder; its status. */
static int run(struct request *r, const char *folder) {
    struct str path = {0};
    str_printf(&path, "%s/profile.json", folder);
    fflush(NULL);
    struct sigaction ignore = {.sa_handler = SIG_IGN}, interrupt, quit;
    sigaction(SIGINT, &ignore, &interrupt); /* the program ends by it; what it had done is shown */
    sigaction(SIGQUIT, &ignore, &quit);
    pid_t child = fork();
    if (!child) {
        sigaction(SIGINT, &interrupt, NULL);
        sigaction(SIGQUIT, &quit, NULL);
        setenv("REPRISE_PROFILE", str_text(&path), 1);
        if (!r->timed)
            setenv("REPRISE_FUNCTIONAL", "1", 1);
        vec_push(&r->rest, NULL);
        exit(cli_run((int)r->rest.len - 1, r->rest.at));
    }
    str_free(&path);
    int status = 1;
    if (child < 0)
        fprintf(stderr, "reprise: a process cannot be started: %s\n", strerror(errno));
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    sigaction(SIGINT, &interrupt, NULL);
    sigaction(SIGQUIT, &quit, NULL);
    return child < 0 ? 1 : WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* ---- what came of it --------------------------------------------------------------------------------- */

static int is_profile(const struct dirent *e) {
    return !strncmp(e->d_name, "profile.", strlen("profile."));
}

/* Of profile.NAME.json the NAME; of several runs, or processes, each has one. */
static void add_name(struct str *out, const char *file) {
    const char *from = strchr(file, '.') + 1, *dot = strrchr(file, '.');
    if (dot > from)
        str_add(out, from, (size_t)(dot - from));
}

/* Where a profile goes: FILE.json, or FILE.NAME.json. */
static void add_target(struct str *out, const char *json, const char *name) {
    const char *slash = strrchr(json, '/'), *dot = strrchr(slash ? slash : json, '.');
    int stem = (int)(dot ? dot - json : (ptrdiff_t)strlen(json));
    str_printf(out, "%.*s%s%s%s", stem, json, *name ? "." : "", name, json + stem);
}

static void add_title(struct str *out, const struct request *r, const char *name) {
    if (*name) {
        str_printf(out, "profile of %s", name);
        return;
    }
    str_printf(out, "profile of");
    for (uint32_t i = 0; i < r->rest.len && r->rest.at[i]; i++)
        if (strcmp(r->rest.at[i], "--"))
            str_printf(out, " %s", r->rest.at[i]);
}

/* Shows one profile, and puts it where it is wanted; false after a message. */
static bool show(const struct request *r, const char *folder, const char *file) {
    struct str path = {0}, name = {0}, target = {0}, title = {0};
    str_printf(&path, "%s/%s", folder, file);
    add_name(&name, file);
    add_title(&title, r, str_text(&name));
    size_t len;
    char *text = io_read(str_text(&path), &len);
    json_error_t error;
    json_t *profile = text ? json_loadb(text, len, 0, &error) : NULL;
    bool ok = profile;
    if (text && !profile)
        fprintf(stderr, "reprise: the profile cannot be read: %s\n", error.text);
    if (ok)
        profile_print(profile, str_text(&title), &r->view, stdout);
    if (ok && r->json) {
        add_target(&target, r->json, str_text(&name));
        ok = io_write(str_text(&target), text, len);
    }
    unlink(str_text(&path));
    json_decref(profile);
    free(text);
    str_free(&path);
    str_free(&name);
    str_free(&target);
    str_free(&title);
    return ok;
}

/* Profiles of all that ran, in the order of their names. */
static bool show_all(const struct request *r, const char *folder, int status) {
    struct dirent **files = NULL;
    int n = scandir(folder, &files, is_profile, alphasort);
    bool ok = true;
    for (int i = 0; i < n; i++) {
        if (i)
            puts("");
        ok &= show(r, folder, files[i]->d_name);
        free(files[i]);
    }
    free(files);
    if (n <= 0 && !status)
        fprintf(stderr, "reprise: it launched no kernel: there is nothing to profile\n");
    return ok && (n > 0 || status);
}

static int profile(struct request *r) {
    const char *tmp = getenv("TMPDIR");
    struct str folder = {0};
    str_printf(&folder, "%s/reprise.XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (r->json && !io_try(r->json))
        return 1;
    if (!mkdtemp(folder.at)) {
        fprintf(stderr, "reprise: no folder can be made in %s: %s\n", tmp && *tmp ? tmp : "/tmp",
                strerror(errno));
        str_free(&folder);
        return 1;
    }
    int status = run(r, folder.at);
    bool ok = show_all(r, folder.at, status);
    rmdir(folder.at);
    str_free(&folder);
    return status ? status : !ok;
}

int cli_profile(int argc, char **argv) {
    if (argc && !strcmp(argv[0], "--help")) {
        fputs(help, stdout);
        return 0;
    }
    struct request r = {0};
    int rc = take(&r, argc, argv);
    if (!rc)
        rc = profile(&r);
    vec_free(&r.rest);
    return rc;
}
