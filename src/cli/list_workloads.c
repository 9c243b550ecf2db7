/* reprise list workloads: the table, and with --mix what they execute beside what the papers say. */
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/vec.h"
#include "cli/cli.h"
#include "study/place.h"
#include "study/workload.h"

/* ---- the plain table ---- */

/* A count in at most five characters. */
static const char *short_count(uint64_t n, char *out, size_t size) {
    static const char units[] = {'k', 'M', 'G', 'T'};
    double v = (double)n / 1000;
    int u = 0;
    if (!n)
        return "-";
    while (v >= 999.5 && u < 3) {
        v /= 1000;
        u++;
    }
    snprintf(out, size, v < 9.95 ? "%.1f%c" : "%.0f%c", v, units[u]);
    return out;
}

/* The papers' names without the abbreviations, separated by blanks. */
static void paper_names(const struct workload *w, char *out, size_t size) {
    size_t at = 0;
    *out = 0;
    for (const char *p = w->papers; *p && at < size;) {
        size_t n = strcspn(p, ",="), all = strcspn(p, ",");
        if (p[n] == '=')
            at += (size_t)snprintf(out + at, size - at, "%s%.*s", at ? " " : "", (int)n, p);
        p += all + (p[all] == ',');
    }
}

/* The line of a workload; a long list of blocks takes room from the papers. */
static void print_row(const char *name, const char *suite, const char *block, const char *papers,
                      const char *const insts[SIZES]) {
    char middle[128];
    snprintf(middle, sizeof middle, "%-13s %s", block, papers);
    printf("%-20s %-8s %-45.45s", name, suite, middle);
    for (int s = 0; s < SIZES; s++)
        printf("%*s", s == SIZE_MEDIUM ? 7 : 6, insts[s]);
    puts("");
}

void cli_list_workloads(void) {
    const struct workload *w;
    char papers[64], text[SIZES][16];
    const char *insts[SIZES];
    print_row("workload", "suite", "block", "papers", workload_sizes);
    for (uint32_t i = 0; (w = workload_at(i)); i++) {
        paper_names(w, papers, sizeof papers);
        for (int s = 0; s < SIZES; s++)
            insts[s] = short_count(w->insts[s], text[s], sizeof text[s]);
        print_row(w->name, w->suite, w->block, papers, insts);
    }
    puts("\nSizes: warp instructions with 64-bit addresses. --mix runs them and prints their instruction "
         "mix.\n"
         "'reprise run NAME --size tiny --check-result' runs one; its README is in workloads/NAME.\n"
         "Those of the CPU are in workloads/cpu: 'reprise help cpu'.");
}

/* ---- the mix ---- */

enum group { G_INT, G_FP, G_SFU, G_CVT, G_MEM, G_TEX, G_CTRL, G_SYNC, GROUPS };
static const char *const group_names[GROUPS] = {"int", "fp", "sfu", "cvt", "mem", "tex", "ctl", "syn"};

/* Counters by the beginning of their names. */
static const struct {
    const char *prefix;
    enum group group;
} groups[] = {
    {"insts.move", G_INT},    {"insts.int", G_INT},      {"insts.fp", G_FP},        {"insts.sfu", G_SFU},
    {"insts.convert", G_CVT}, {"insts.load.", G_MEM},    {"insts.store.", G_MEM},   {"insts.atomic", G_MEM},
    {"insts.texture", G_TEX}, {"insts.control", G_CTRL}, {"insts.barrier", G_SYNC}, {"insts.warp", G_SYNC},
};

/* What a run of a workload executed, in per cent of its warp instructions. */
struct mix {
    double share[GROUPS], divergent;
    char block[24]; /* of the kernel with the most instructions */
};

static const struct {
    const char *paper, *abbreviation, *kind, *value;
} figures[] = {
#define FIGURE(paper, abbreviation, kind, value, source) {#paper, #abbreviation, #kind, value},
#include "papers.def"
#undef FIGURE
};

/* What paper says of w; "" when it says nothing. */
static const char *paper_figure(const struct workload *w, const char *paper, const char *kind) {
    char abbreviation[24];
    workload_abbreviation(w, paper, abbreviation, sizeof abbreviation);
    for (uint32_t i = 0; i < sizeof figures / sizeof figures[0]; i++)
        if (!strcmp(figures[i].paper, paper) && !strcmp(figures[i].abbreviation, abbreviation) &&
            !strcmp(figures[i].kind, kind))
            return figures[i].value;
    return "";
}

/* Runs w with its report going to json; false after a message. */
static bool run_quietly(const struct workload *w, const struct workload_run *r, const char *json) {
    char path[PATH_MAX];
    if (!workload_path(w, path, sizeof path))
        return false;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        setenv("REPRISE_JSON", json, 1);
        setenv("REPRISE_FUNCTIONAL", "1", 1);
        setenv("LD_LIBRARY_PATH", place_libraries(), 1);
        if (!freopen("/dev/null", "w", stdout))
            _exit(126);
        execv(path, workload_command(w, r, path, NULL));
        _exit(126);
    }
    int status = -1;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status)) {
        fprintf(stderr, "reprise: workload %s failed\n", w->name);
        return false;
    }
    return true;
}

static void read_block(json_t *kernels, char *out, size_t size) {
    json_int_t most = -1;
    size_t i;
    json_t *k;
    json_array_foreach(kernels, i, k) {
        json_int_t n = json_integer_value(json_object_get(k, "warp_insts"));
        json_t *b = json_object_get(k, "block");
        if (n <= most)
            continue;
        most = n;
        int x[3];
        for (size_t d = 0; d < 3; d++)
            x[d] = (int)json_integer_value(json_array_get(b, d));
        int len = snprintf(out, size, "%d", x[0]);
        for (int d = 1; d < 3 && (x[1] > 1 || x[2] > 1) && (d == 1 || x[2] > 1); d++)
            len += snprintf(out + len, size - (size_t)len, "x%d", x[d]);
    }
}

static bool read_mix(const char *json, struct mix *m) {
    json_t *all = json_load_file(json, 0, NULL);
    json_t *totals = json_object_get(all, "totals"), *counters = json_object_get(totals, "counters");
    double insts = (double)json_integer_value(json_object_get(totals, "warp_insts"));
    bool ok = counters && insts > 0;
    *m = (struct mix){0};
    for (void *it = ok ? json_object_iter(counters) : NULL; it; it = json_object_iter_next(counters, it)) {
        const char *name = json_object_iter_key(it);
        double share = 100 * (double)json_integer_value(json_object_iter_value(it)) / insts;
        for (uint32_t i = 0; i < sizeof groups / sizeof groups[0]; i++)
            if (!strncmp(name, groups[i].prefix, strlen(groups[i].prefix)))
                m->share[groups[i].group] += share;
        if (!strcmp(name, "insts.divergent"))
            m->divergent = share;
    }
    read_block(json_object_get(all, "kernels"), m->block, sizeof m->block);
    json_decref(all);
    return ok;
}

static void print_mix(const struct workload *w, const struct mix *m) {
    printf("%-20s %-8s %-8s %5.1f %5s   %5.1f %5s  ", w->name, m->block, paper_figure(w, "darsie", "block"),
           m->share[G_FP] + m->share[G_SFU], paper_figure(w, "wir", "fp"), m->divergent,
           paper_figure(w, "gscalar", "divergent"));
    for (int g = 0; g < GROUPS; g++)
        printf("%4.0f", m->share[g]);
    puts("");
    fflush(stdout);
}

int cli_list_mix(const struct workload_run *r) {
    char json[] = "/tmp/reprise-mix-XXXXXX";
    int fd = mkstemp(json), rc = 0;
    if (fd < 0) {
        perror("reprise: a temporary file");
        return 1;
    }
    close(fd);
    printf("%-20s %-17s %-11s   %-11s    %s\n", "", "block", "% float", "% divergent",
           "mix, % of warp instructions");
    printf("%-20s %-8s %-8s %5s %5s   %5s %5s  ", "workload", "ours", "DARSIE", "ours", "WIR", "ours",
           "G-Sc");
    for (int g = 0; g < GROUPS; g++)
        printf("%4s", group_names[g]);
    puts("");
    const struct workload *w;
    struct mix m;
    for (uint32_t i = 0; (w = workload_at(i)); i++) {
        if (w->cpu)
            continue;
        if (run_quietly(w, r, json) && read_mix(json, &m))
            print_mix(w, &m);
        else
            rc = 1;
    }
    unlink(json);
    printf("\nOurs: size %s, %d-bit addresses; block of the kernel with the most instructions.\n"
           "The papers' figures are in workloads/papers.def, with their sources.\n"
           "mem: loads, stores, atomics; syn: barriers and warp-wide operations.\n",
           workload_sizes[r->size], r->bits);
    return rc;
}
