/* Statistics: what a run counts.
 *
 * A counter is a row of a table: name, unit, meaning. Values live in arrays indexed like the table, one for
 * each launch and one for the whole run; they only grow. Every figure is the same from run to run and from
 * host to host. */
#ifndef REPRISE_STATS_STATS_H
#define REPRISE_STATS_STATS_H

#include <stdint.h>

#include "stats/counter.h"

enum counter {
#define COUNTER(field, ...) COUNTER_##field,
#include "stats/counters.def"
#undef COUNTER
    COUNTER_COUNT,
    COUNTER_MIX = COUNTER_insts_warp + 1 /* the counters below this one are the instruction mix */
};

extern const struct counter_info counter_info[COUNTER_COUNT];

/* Adds the counters of one launch, or one unit, to others. */
void counters_add(uint64_t to[COUNTER_COUNT], const uint64_t from[COUNTER_COUNT]);

#endif
