/* The table of bundled workloads, and how their programs are called. */
#include "study/workload.h"

#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/vec.h"
#include "study/place.h"

const char *const workload_sizes[SIZES] = {"tiny", "small", "medium", "large"};

static struct workload table[] = {
#define WORKLOAD(name, suite, block, papers, summary)                                                        \
    {#name, #name, "", #suite, block, papers, summary, NULL, false, {0}},
#define VARIANT(name, program, arguments, block, papers, summary)                                            \
    {#name, #program, arguments, NULL, block, papers, summary, NULL, false, {0}},
#define PROGRAM(name, program, suite, papers, summary)                                                       \
    {#name, #program, "", #suite, "CPU", papers, summary, NULL, true, {0}},
#include "workloads.def"
#undef WORKLOAD
#undef VARIANT
#undef PROGRAM
};
enum { NWORKLOADS = sizeof table / sizeof table[0] };

/* Instruction counts that tools have measured: COUNT(name, size, bits, warp instructions, threads each). */
static const struct {
    const char *name, *size;
    int bits;
    uint64_t insts;
} counts[] = {
#define COUNT(name, size, bits, insts, threads) {#name, #size, bits, insts},
#include "counts.def"
#undef COUNT
    {NULL, NULL, 0, 0},
};

static const struct {
    const char *name, *results;
} launch_results[] = {
#define RESULTS(name, results) {#name, results},
#include "launch_results.def"
#undef RESULTS
};

static int find(const char *name) {
    for (int i = 0; i < NWORKLOADS; i++)
        if (!strcmp(table[i].name, name))
            return i;
    return -1;
}

/* Fills in what other rows say: a variant's suite, and the counts. */
static void complete(void) {
    static bool done;
    if (done)
        return;
    done = true;
    for (int i = 0; i < NWORKLOADS; i++)
        if (!table[i].suite) {
            int of = find(table[i].program);
            table[i].suite = of < 0 ? "" : table[of].suite;
        }
    for (uint32_t k = 0; k < sizeof launch_results / sizeof *launch_results; k++) {
        int i = find(launch_results[k].name);
        if (i >= 0)
            table[i].launch_results = launch_results[k].results;
    }
    for (uint32_t c = 0; counts[c].name; c++) {
        int i = find(counts[c].name);
        enum workload_size size = workload_size(counts[c].size);
        if (i >= 0 && size != SIZES && counts[c].bits == 64)
            table[i].insts[size] = counts[c].insts;
    }
}

const struct workload *workload_at(uint32_t i) {
    complete();
    return i < NWORKLOADS ? &table[i] : NULL;
}

const struct workload *workload_find(const char *name) {
    complete();
    int i = find(name);
    return i < 0 ? NULL : &table[i];
}

static const char *next_name(void *ctx, uint32_t i) {
    (void)ctx;
    return i < NWORKLOADS ? table[i].name : NULL;
}

const char *workload_nearest(const char *word) {
    return diag_nearest(word, strlen(word), next_name, NULL);
}

enum workload_size workload_size(const char *name) {
    int i = 0;
    while (i < SIZES && strcmp(workload_sizes[i], name))
        i++;
    return (enum workload_size)i;
}

bool workload_path(const struct workload *w, char *path, size_t size) {
    if (place_workload(w->program, path, size))
        return true;
    fprintf(stderr, "reprise: workload %s has not been built: that needs clang; install it and run 'make'\n",
            w->name);
    return false;
}

char **workload_command(const struct workload *w, const struct workload_run *r, char *path, char **extra) {
    static char arguments[256];
    VEC(char *) v = {0};
    vec_push(&v, path);
    vec_push(&v, "--size");
    vec_push(&v, (char *)workload_sizes[r->size]);
    vec_push(&v, "--bits");
    vec_push(&v, r->bits == 32 ? "32" : "64");
    vec_push(&v, !r->check ? "--no-check" : r->accept ? "--accept" : "--check");
    if (r->results && *r->results) {
        vec_push(&v, "--results");
        vec_push(&v, (char *)r->results);
    }
    snprintf(arguments, sizeof arguments, "%s", w->arguments);
    for (char *save, *a = strtok_r(arguments, " ", &save); a; a = strtok_r(NULL, " ", &save))
        vec_push(&v, a);
    for (; extra && *extra; extra++)
        vec_push(&v, *extra);
    vec_push(&v, NULL);
    return v.at;
}

void workload_abbreviation(const struct workload *w, const char *paper, char *out, size_t size) {
    size_t len = strlen(paper);
    *out = 0;
    for (const char *p = w->papers; *p;) {
        size_t n = strcspn(p, ",");
        if (n > len && !strncmp(p, paper, len) && p[len] == '=')
            snprintf(out, size, "%.*s", (int)(n - len - 1), p + len + 1);
        p += n + (p[n] == ',');
    }
}
