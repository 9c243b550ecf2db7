/* Runs in processes of their own, several at once.
 *
 * Jobs start in their order, but for those that have to wait, and end in any; whatever is printed about them
 * keeps the order. */
#ifndef REPRISE_STUDY_JOBS_H
#define REPRISE_STUDY_JOBS_H

#include <stdbool.h>
#include <stdint.h>

/* Whether a job starts now, has to wait for something else than a free processor, or need not be done. */
enum job_turn { JOB_NOW, JOB_LATER, JOB_NEVER };

enum { JOBS_STOPPED = 130 }; /* the status when the user stopped it all, as shells have it */

struct jobs {
    uint32_t count,
        at_once; /* at_once 0: one for each processor. When there are fewer jobs, each has several */
    /* Job i, in its process: what it returns is its status. It may become another program. */
    int (*run)(void *ctx, uint32_t i);
    /* What the progress calls job i. NULL: no progress. */
    const char *(*title)(void *ctx, uint32_t i);
    /* How long job i takes, beside the others; 0: nobody knows. NULL: all take as long. */
    double (*weight)(void *ctx, uint32_t i);
    /* Whether it is job i's turn, asked in this process until the answer is not JOB_LATER. NULL: it always
     * is. */
    enum job_turn (*ready)(void *ctx, uint32_t i);
    /* Job i has ended, in any order, with a status (a signal: 128 and its number); text is what it printed.
     * Returns the status to go by. NULL: what it printed is printed, in the order of the jobs. */
    int (*ended)(void *ctx, uint32_t i, int status, const char *text);
    void *ctx;
};

/* Runs all; the status of the first job that did not succeed, or 0. When the user stops it, or the system,
 * those that run are ended, for which ended is not called, and the status is JOBS_STOPPED. */
int jobs_run(const struct jobs *j);

#endif
