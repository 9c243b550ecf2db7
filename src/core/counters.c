/* The counters of an SM, as tables. */
#include "core/core.h"

#include <assert.h>

static const struct counter_info core_rows[] = {
#define COUNTER(field, name, unit, help) {name, unit, help, offsetof(struct core_counters, field)},
#include "core/core.def"
#undef COUNTER
};
const struct counter_table core_counter_table = COUNTER_TABLE(core_rows);

static const struct counter_info lane_rows[] = {
#define ACTIVE(energy, name, help)                                                                           \
    [EN_##energy] = {name, "lanes", help, offsetof(struct core_lanes, active[EN_##energy])},
#define IDLE(unit, name, help)                                                                               \
    [EN_COUNT + UNIT_##unit] = {name, "lanes", help, offsetof(struct core_lanes, idle[UNIT_##unit])},
#include "core/lanes.def"
#undef ACTIVE
#undef IDLE
};
static_assert(sizeof lane_rows / sizeof lane_rows[0] == sizeof(struct core_lanes) / sizeof(uint64_t),
              "every energy class and unit has a row");
const struct counter_table core_lane_table = COUNTER_TABLE(lane_rows);
