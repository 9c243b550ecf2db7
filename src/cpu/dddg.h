/* Candidates for memoization in a trace (Liu, Section 4.4): parts of the data-dependence graph that compute
 * one value from few inputs, by the cycles that each input saves. */
#ifndef REPRISE_CPU_DDDG_H
#define REPRISE_CPU_DDDG_H

#include "cpu/cputrace.h"

struct dddg_limits {
    double ratio;      /* cycles for each input, at least */
    uint32_t weight;   /* cycles of a candidate, at least */
    uint32_t inputs;   /* at most */
    uint32_t vertices; /* of a candidate, at most */
    double overlap;    /* of two that have so much in common, of the smaller one, one is made */
};

/* What was found: all candidates, and those that are left of them when those that are equal are one. */
struct dddg_result {
    uint64_t candidates, unique;
    double weight, inputs;   /* of the unique ones, averages over their occurrences, summed up */
    uint64_t covered, total; /* cycles */
    bool *in;                /* of each vertex: whether it is in a candidate */
};

void dddg_find(const struct cputrace *t, const struct dddg_limits *l, struct dddg_result *r);
void dddg_free(struct dddg_result *r);

#endif
