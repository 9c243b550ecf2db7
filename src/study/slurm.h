/* The runs of a sweep as job arrays of Slurm.
 *
 * What is submitted together is a batch: a folder slurm/NAME-XXXXXX of the store with the runs as tasks.json,
 * the script of the array, and, once Slurm has it, the number of the job. Tasks write their outcomes to the
 * store's spool, so that only the machine on which people work opens the database. Nothing of ours goes on
 * running: whoever opens the store next takes in what has arrived. */
#ifndef REPRISE_STUDY_SLURM_H
#define REPRISE_STUDY_SLURM_H

#include "study/launch.h"
#include "study/sweep.h"

/* Whether Slurm can be reached; false after a message. */
bool slurm_there(void);
/* Submits the runs that are to be done and are not in Slurm's hands already, and, if that is wanted, waits
 * for them, with progress; runs that fail are submitted again as often as the sweep allows. 0; 1 when runs
 * failed or could not be submitted; JOBS_STOPPED when the user stopped waiting. */
int slurm_launch(struct launch *l, const struct sweep *s, bool wait);
/* How many of the runs that are to be done Slurm has waiting and running. */
void slurm_count(const struct launch *l, uint32_t *waiting, uint32_t *running);
/* The task of a job array: does the runs number n of the batch in a folder; the exit status. */
int slurm_task(const char *folder, uint32_t n);

#endif
