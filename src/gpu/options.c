/* Options from the environment. */
#include "gpu/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

/* Variables that hold a number. */
static const struct {
    const char *name;
    size_t field;
} numbers[] = {
    {"REPRISE_MAX_CYCLES", offsetof(struct rp_options, max_cycles)},
    {"REPRISE_MAX_INSTS", offsetof(struct rp_options, max_insts)},
    {"REPRISE_EXPECT_INSTS", offsetof(struct rp_options, expect_insts)},
    {"REPRISE_WATCHDOG", offsetof(struct rp_options, watchdog)},
    {"REPRISE_THREADS", offsetof(struct rp_options, threads)},
    {"REPRISE_PRINT_LIMIT", offsetof(struct rp_options, print_limit)},
};

/* Tools that look for mistakes. */
static const struct {
    const char *name;
    enum rp_tool tool;
} tools[] = {
    {"REPRISE_MEMCHECK", RP_MEMCHECK},
    {"REPRISE_RACECHECK", RP_RACECHECK},
    {"REPRISE_INITCHECK", RP_INITCHECK},
    {"REPRISE_SYNCCHECK", RP_SYNCCHECK},
};

static const char *text_from(const char *name) {
    const char *v = getenv(name);
    return v && *v ? v : NULL;
}

static bool flag_from(const char *name) {
    const char *v = text_from(name);
    return v && strcmp(v, "0") != 0;
}

static bool read_number(const char *text, char **end, uint64_t *to) {
    errno = 0;
    *to = strtoull(text, end, 10);
    return !errno && *end != text && *text >= '0' && *text <= '9';
}

bool options_range(const char *text, uint64_t *first, uint64_t *last) {
    char *end = (char *)(uintptr_t)text;
    *first = 0;
    if (*text != ':' && !read_number(text, &end, first))
        return false;
    *last = *end ? UINT64_MAX : *first;
    if (*end && *end++ != ':')
        return false;
    text = end;
    if (*text && !read_number(text, &end, last))
        return false;
    return !*end && *first <= *last;
}

/* Splits text at newlines, in place, into a NULL-terminated list. */
static const char **split_lines(char *text) {
    VEC(const char *) list = {0};
    char *save = NULL;
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
        vec_push(&list, line);
    vec_push(&list, NULL);
    return list.at;
}

static void read_range(const char *name, uint64_t *first, uint64_t *last) {
    const char *v = text_from(name);
    *first = 0;
    *last = UINT64_MAX;
    if (!v || options_range(v, first, last))
        return;
    fprintf(stderr, "reprise: %s=%s is not a range; ignored\n", name, v);
    *first = 0;
    *last = UINT64_MAX;
}

static void read_trace(struct options *o) {
    o->trace = (struct rp_trace){.path = text_from("REPRISE_TRACE")};
    read_range("REPRISE_TRACE_WINDOW", &o->trace.first, &o->trace.last);
    read_range("REPRISE_TRACE_SM", &o->trace.first_sm, &o->trace.last_sm);
    if (o->rp.functional)
        o->trace.path = NULL; /* it has no cycles */
}

const char **options_load(char **text) {
    const char *load = getenv("REPRISE_LOAD");
    *text = xstrdup(load ? load : "");
    return split_lines(*text);
}

/* One of two words; which, or the first after a message. */
static bool is_second(const char *name, const char *first, const char *second) {
    const char *v = text_from(name);
    if (v && strcmp(v, first) && strcmp(v, second))
        fprintf(stderr, "reprise: %s=%s is neither %s nor %s; ignored\n", name, v, first, second);
    return v && !strcmp(v, second);
}

static void read_tools(struct options *o) {
    for (uint32_t i = 0; i < sizeof tools / sizeof tools[0]; i++)
        o->rp.tools |= flag_from(tools[i].name) ? (unsigned)tools[i].tool : 0;
    o->rp.no_leaks = is_second("REPRISE_LEAK_CHECK", "full", "no");
    o->rp.keep_context = is_second("REPRISE_DESTROY_ON_DEVICE_ERROR", "context", "kernel");
    const char *code = text_from("REPRISE_ERROR_EXITCODE");
    o->error_exitcode = code ? atoi(code) : 0;
    if (code && (o->error_exitcode < 1 || o->error_exitcode > 255)) {
        fprintf(stderr, "reprise: REPRISE_ERROR_EXITCODE=%s is no exit status from 1 to 255; ignored\n",
                code);
        o->error_exitcode = 0;
    }
}

void options_read(struct options *o) {
    const char *set = getenv("REPRISE_SET"), *kernels = text_from("REPRISE_KERNELS");
    o->set_text = xstrdup(set ? set : "");
    o->rp = (struct rp_options){.gpu = text_from("REPRISE_GPU"),
                                .set = split_lines(o->set_text),
                                .mech = text_from("REPRISE_MECH"),
                                .load = options_load(&o->load_text),
                                .probe = text_from("REPRISE_PROBE"),
                                .functional = flag_from("REPRISE_FUNCTIONAL"),
                                .profile = text_from("REPRISE_PROFILE"),
                                .per_sm = flag_from("REPRISE_PER_SM"),
                                .whole_blocks = flag_from("REPRISE_WHOLE_BLOCKS"),
                                .check = flag_from("REPRISE_CHECK")};
    for (uint32_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        const char *v = text_from(numbers[i].name);
        char *end = NULL;
        uint64_t n;
        if (!v)
            continue;
        if (read_number(v, &end, &n) && !*end)
            memcpy((char *)&o->rp + numbers[i].field, &n, sizeof n);
        else
            fprintf(stderr, "reprise: %s=%s is not a number; ignored\n", numbers[i].name, v);
    }
    read_trace(o);
    read_tools(o);
    o->rp.some_kernels = kernels && options_range(kernels, &o->rp.first_kernel, &o->rp.last_kernel);
    if (kernels && !o->rp.some_kernels)
        fprintf(stderr, "reprise: REPRISE_KERNELS=%s is not a range; ignored\n", kernels);
}

void options_free(struct options *o) {
    free((void *)(uintptr_t)o->rp.set);
    free((void *)(uintptr_t)o->rp.load);
    free(o->set_text);
    free(o->load_text);
}
