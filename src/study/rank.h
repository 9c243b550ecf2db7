/* Models of a table in the order of what they save: time, energy, energy x delay. */
#ifndef REPRISE_STUDY_RANK_H
#define REPRISE_STUDY_RANK_H

#include "study/table.h"

enum rank_by { RANK_TIME, RANK_ENERGY, RANK_ENERGY_DELAY, RANKS };

/* A model in its place; value: the geometric mean over all benchmarks, a factor for time, else per cent
 * saved. */
struct rank_place {
    uint32_t model;
    double value;
};

/* The models that are compared with base, base included, the best first; those for which a run is missing,
 * failed or was wrong are left out. The caller frees the list, of *n. */
struct rank_place *rank_models(const struct table *t, uint32_t base, enum rank_by by, uint32_t *n);

/* Three lists beside each other, at most 100 columns wide, for each machine that others are compared with. */
void rank_print(const struct table *t, FILE *to);
/* By label of that machine: {"time": [{"model", "value"}...], "energy": ..., "energy_delay": ...}. */
json_t *rank_json(const struct table *t);

/* Stack i of stacks.def; NULL past the last one. */
const char *rank_stack(uint32_t i);

#endif
