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

/* The counters of one owner. */
struct counter_table {
    const struct counter_info *rows;
    uint32_t count;
};

#define COUNTER_TABLE(rows)                                                                                  \
    { (rows), sizeof(rows) / sizeof *(rows) }

/* The value of a counter in its owner's struct. */
static inline uint64_t counter_value(const struct counter_info *c, const void *counts) {
    return *(const uint64_t *)((const char *)counts + c->offset);
}

#endif
