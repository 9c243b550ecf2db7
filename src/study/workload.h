/* The bundled workloads as the command knows them: the rows of workloads/workloads.def. */
#ifndef REPRISE_STUDY_WORKLOAD_H
#define REPRISE_STUDY_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum workload_size { SIZE_TINY, SIZE_SMALL, SIZE_MEDIUM, SIZE_LARGE, SIZES };
extern const char *const workload_sizes[SIZES];

struct workload {
    const char *name, *program; /* the program may serve several names, with other arguments */
    const char *arguments;      /* of the program, separated by blanks */
    const char *suite, *block, *papers, *summary;
    const char *launch_results; /* what launches leave as results, as --result takes them; NULL: not said */
    bool cpu;                   /* a program for the CPU; the others use a GPU */
    uint64_t insts[SIZES];      /* warp instructions at 64 bits; 0: not known */
};

/* How a workload is to be run. */
struct workload_run {
    enum workload_size size;
    int bits;            /* 32 or 64 */
    bool check, accept;  /* compare with the reference; accept what differs */
    const char *results; /* file for the results, or NULL */
};

/* Workload i; NULL past the last one. */
const struct workload *workload_at(uint32_t i);
/* The workload called name, or NULL. */
const struct workload *workload_find(const char *name);
/* The name nearest to word, or NULL when none is near. */
const char *workload_nearest(const char *word);
/* The size called name; SIZES when there is none. */
enum workload_size workload_size(const char *name);

/* Where the program of w is; false, after a message, when it has not been built. */
bool workload_path(const struct workload *w, char *path, size_t size);
/* The command line that runs w, then the NULL-terminated extra arguments; the caller frees it. path is from
 * workload_path. */
char **workload_command(const struct workload *w, const struct workload_run *r, char *path, char **extra);
/* The paper's abbreviation of w, e.g. "BP" for "wir"; empty when the paper does not use it. */
void workload_abbreviation(const struct workload *w, const char *paper, char *out, size_t size);

#endif
