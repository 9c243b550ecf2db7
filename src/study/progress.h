/* How far long work is: a bar on a terminal, plain lines anywhere else. Both go to stderr. */
#ifndef REPRISE_STUDY_PROGRESS_H
#define REPRISE_STUDY_PROGRESS_H

#include "study/jobs.h"

enum job_state { JOB_WAITING, JOB_RUNNING, JOB_DONE, JOB_FAILED };

struct progress {
    const struct jobs *jobs;
    bool terminal;
    uint32_t printed; /* plain lines so far: one for each job, in order */
    double began;
};

/* Jobs without titles have no progress. */
void progress_begin(struct progress *p, const struct jobs *j);
/* Draws the bar, or prints a line for each job that has ended with all before it; states is one for each job.
 */
void progress_show(struct progress *p, const enum job_state *states);
/* Takes the bar away. */
void progress_end(struct progress *p);

#endif
