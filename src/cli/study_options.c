/* The options that compare and repro share. */
#include "cli/study_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "cli/cli.h"
#include "gpu/options.h"
#include "study/cpu.h"

static bool take_gpu(struct plan *p, char *value) {
    p->gpu = value;
    return true;
}

static bool take_set(struct plan *p, char *value) {
    vec_push(&p->set, value);
    return true;
}

static bool take_load(struct plan *p, char *value) {
    (void)p;
    cli_load(value);
    return true;
}

static bool take_size(struct plan *p, char *value) {
    p->size = workload_size(value);
    return p->size != SIZES;
}

static bool take_insts(struct plan *p, char *value) {
    char *end;
    p->max_insts = !strcmp(value, "all") ? UINT64_MAX : strtoull(value, &end, 10);
    return p->max_insts && (!strcmp(value, "all") || (value[0] >= '0' && value[0] <= '9' && !*end));
}

static bool take_bits(struct plan *p, char *value) {
    p->bits = atoi(value);
    return !strcmp(value, "32") || !strcmp(value, "64");
}

static bool take_jobs(struct plan *p, char *value) {
    p->jobs = (uint32_t)atoi(value);
    return *value && strlen(value) < 5 && !value[strspn(value, "0123456789")] && p->jobs;
}

static bool take_store(struct plan *p, char *value) {
    p->store = value;
    return *value;
}

static const struct {
    const char *name;
    bool (*take)(struct plan *p, char *value);
    const char *takes;
} options[] = {
    {"--gpu", take_gpu, "a GPU"},
    {"--set", take_set, "PATH=VALUE"},
    {"--load", take_load, "a shared object"},
    {"--size", take_size, "tiny, small, medium or large"},
    {"--max-insts", take_insts, "a number of warp instructions, or all"},
    {"--bits", take_bits, "32 or 64"},
    {"-j", take_jobs, "a number of runs, 1 or more"},
    {"--store", take_store, "a folder"},
};
enum { NOPTIONS = sizeof options / sizeof options[0] };

/* Names of the shared options, then of the caller's. */
static const char *next_option(void *ctx, uint32_t i) {
    const char *const *own = ctx;
    if (i <= NOPTIONS)
        return i ? options[i - 1].name : "--fresh";
    for (i -= NOPTIONS + 1; i && *own; i--)
        own++;
    return *own;
}

static int unknown(const char *word, const char *const *own, const char *help) {
    const char *near = diag_nearest(word, strlen(word), next_option, (void *)own);
    struct str what = {0};
    str_printf(&what, "unknown option %s%s%s%s", word, near ? "; did you mean " : "", near ? near : "",
               near ? "?" : "");
    cli_usage_error(help, str_text(&what), "");
    str_free(&what);
    return -1;
}

int study_option(struct plan *p, char **argv, const char *const *own, const char *help) {
    for (const char *const *o = own; *o; o++)
        if (!strcmp(argv[0], *o))
            return 0;
    if (!strncmp(argv[0], "-j", 2) && argv[0][2] && take_jobs(p, argv[0] + 2))
        return 1; /* -j2, as of make */
    if (!strcmp(argv[0], "--fresh")) {
        p->fresh = true;
        return 1;
    }
    for (uint32_t i = 0; i < NOPTIONS; i++) {
        if (strcmp(argv[0], options[i].name))
            continue;
        if (!argv[1])
            return cli_usage_error(help, "a value is needed after", argv[0]), -1;
        if (options[i].take(p, argv[1]))
            return 2;
        struct str what = {0};
        str_printf(&what, "%s takes %s, not", argv[0], options[i].takes);
        cli_usage_error(help, str_text(&what), argv[1]);
        str_free(&what);
        return -1;
    }
    return unknown(argv[0], own, help);
}

void study_defaults(struct plan *p, bool paper) {
    enum { PART = 4000000 }; /* of a paper's 34 benchmarks on 20 machines, within an hour on two processors */
    if (p->size == SIZES)
        p->size = paper ? SIZE_MEDIUM : SIZE_SMALL;
    p->usual_part = !p->max_insts;
    if (!p->max_insts)
        p->max_insts = paper ? PART : UINT64_MAX;
}

bool study_complete(struct plan *p) {
    char *text;
    const char **load = options_load(&text);
    p->load = load;
    bool ok = plan_complete(p) && cpu_built(&p->table);
    p->load = NULL;
    free(load);
    free(text);
    return ok;
}
