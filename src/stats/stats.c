/* The table of counters. */
#include "stats/stats.h"

const struct counter_info counter_info[COUNTER_COUNT] = {
#define COUNTER(field, name, unit, meaning)                                                                  \
    [COUNTER_##field] = {name, unit, meaning, COUNTER_##field * sizeof(uint64_t)},
#include "stats/counters.def"
#undef COUNTER
};

void counters_add(uint64_t to[COUNTER_COUNT], const uint64_t from[COUNTER_COUNT]) {
    for (uint32_t i = 0; i < COUNTER_COUNT; i++)
        to[i] += from[i];
}
