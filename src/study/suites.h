/* Suites: several workloads by one name, e.g. those a paper uses. */
#ifndef REPRISE_STUDY_SUITES_H
#define REPRISE_STUDY_SUITES_H

#include <stdio.h>

#include "base/vec.h"
#include "study/workload.h"

/* A row of suites.def. */
struct suite {
    const char *name, *paper, *collection, *workloads, *summary;
};

struct workload_list {
    const struct workload **at;
    uint32_t len, cap;
};

/* Suite i; NULL past the last one. */
const struct suite *suite_at(uint32_t i);
const struct suite *suite_find(const char *name);
/* Appends those workloads of a suite that are not in out yet. */
void suite_workloads(const struct suite *s, struct workload_list *out);
/* Prints a line for each suite. */
void suite_list(FILE *to);

#endif
