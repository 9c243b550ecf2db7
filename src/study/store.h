/* Reports of runs that are kept, so that what was finished once need not be run again.
 *
 * The name of a report's file is a hash of all that decides what the run computes: its command line, every
 * setting of the GPU, the folder of configurations, the simulator and the workload's program. */
#ifndef REPRISE_STUDY_STORE_H
#define REPRISE_STUDY_STORE_H

#include <jansson.h>
#include <stdint.h>

#include "study/workload.h"

/* What need be hashed only once; a zeroed struct is ready for use. */
struct keep {
    uint64_t simulator; /* 0: not known yet */
};

/* What tells a run from others. */
struct keep_run {
    char *const *words; /* of its command line */
    uint32_t nwords;
    const char *gpu;
    const char *const *set;
    const struct workload *workload;
    int bits;
};

/* The file that keeps a run's report; the caller frees it. */
char *keep_name(struct keep *k, const char *dir, const struct keep_run *run);
/* The report in a file, or NULL when there is none that can be read. */
json_t *keep_find(const char *path);
/* Writes a report to the file at once or not at all. */
void keep_report(const char *path, json_t *report);

#endif
