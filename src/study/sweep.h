/* Sweeps: many runs that a YAML file describes, as docs/sweeps.md has it. */
#ifndef REPRISE_STUDY_SWEEP_H
#define REPRISE_STUDY_SWEEP_H

#include "study/plan.h"

struct sweep {
    struct plan plan; /* with a row for every benchmark on every machine */
    char *name;
    VEC(char *) slurm; /* options for sbatch */
    uint32_t per_task; /* runs that one task of a job array does */
    uint32_t retries;  /* how often a run that failed on Slurm is tried again */
    VEC(void *) owned; /* texts and command lines that the plan points to */
};

/* Reads a file; false after messages. What the plan has before, the user wants so, whatever the file says:
 * gpu, size, bits and max_insts. */
bool sweep_read(struct sweep *s, const char *path);
void sweep_free(struct sweep *s);

#endif
