/* What a counter is: a row of a table, and a member of the struct its owner counts in. */
#ifndef REPRISE_STATS_COUNTER_H
#define REPRISE_STATS_COUNTER_H

#include <stddef.h>
#include <stdint.h>

/* A counter. Its value is a uint64_t that only grows. */
struct counter_info {
    const char *name, *unit, *meaning;
    size_t offset; /* of its member in the owner's struct */
};

/* What must hold of counters in every launch and in a run's totals. Both sides are formulas (stats/formula.h)
 * over the run's counters; NAME@base is that of the base machine's run, $NAME a parameter, where false is 0,
 * $alone is 1 unless mechanisms are stacked, and sum(PREFIX), sum(PREFIX@base) add up the counters whose
 * names begin so. */
struct counter_rule {
    const char *left, *relation, *right; /* relation: "==", "<=" or ">=" */
    const char *when; /* the same kind of formulas, separated by commas: it holds if none of them is 0, and
                         those with ! in front are */
};

/* The counters of one owner. */
struct counter_table {
    const struct counter_info *rows;
    uint32_t count;
    const struct counter_rule *rules;
    uint32_t nrules;
};

#define COUNTER_TABLE(list)                                                                                  \
    { .rows = (list), .count = sizeof(list) / sizeof *(list) }
#define COUNTER_TABLE_RULES(list, held)                                                                      \
    {                                                                                                        \
        .rows = (list), .count = sizeof(list) / sizeof *(list), .rules = (held),                             \
        .nrules = sizeof(held) / sizeof *(held)                                                              \
    }

/* The value of a counter in its owner's struct. */
static inline uint64_t counter_value(const struct counter_info *c, const void *counts) {
    return *(const uint64_t *)((const char *)counts + c->offset);
}

#endif
