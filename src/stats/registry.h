/* The counters of a machine as one numbered list.
 *
 * Whoever builds a machine registers the tables of its units, in the order in which reports show them, and
 * binds to each table the structs in which the units count: one for each cache, core or channel. A counter's
 * value is the sum over these; before any is bound it is 0, so that a list can tell names before there is a
 * machine. */
#ifndef REPRISE_STATS_REGISTRY_H
#define REPRISE_STATS_REGISTRY_H

#include <stdbool.h>

#include "base/vec.h"
#include "stats/counter.h"

enum { COUNTER_NAME_SIZE = 64 };

/* A registered table. */
struct counter_block {
    const char *prefix; /* what stands before the names of the table */
    const struct counter_table *table;
    uint32_t first;           /* number of its first counter */
    bool shared_out;          /* struct k belongs to part k of the machine: SM k, core k */
    VEC(const void *) counts; /* structs that the table describes */
};

/* The list; a zeroed one is empty. */
struct counter_registry {
    VEC(struct counter_block) blocks;
    uint32_t count; /* counters in all */
};

/* Adds a table behind the others; returns the number of its block. The table and the prefix must stay. */
uint32_t counters_add(struct counter_registry *r, const char *prefix, const struct counter_table *t,
                      bool shared_out);
/* A unit counts in this struct, which stays where it is. */
void counters_bind(struct counter_registry *r, uint32_t block, const void *counts);
void counters_free(struct counter_registry *r);

/* Counter number i; its full name goes to name. false past the last one. */
bool counters_info(const struct counter_registry *r, uint32_t i, char name[COUNTER_NAME_SIZE],
                   struct counter_info *info);
/* The number of the counter with this name, or UINT32_MAX. */
uint32_t counters_find(const struct counter_registry *r, const char *name);
/* Whether counter i can be told for each part of the machine. */
bool counters_shared_out(const struct counter_registry *r, uint32_t i);

/* All values: of the whole machine, or the share of one part of it, which is 0 for counters that are not
 * shared out. */
void counters_read(const struct counter_registry *r, uint64_t *to);
void counters_read_part(const struct counter_registry *r, uint32_t part, uint64_t *to);

#endif
