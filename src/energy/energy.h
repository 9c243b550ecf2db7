/* Energy: counts times table.
 *
 * An event is a row: how often it happened is a counter of the timed machine, what it costs a parameter, and
 * the part of the machine it belongs to one of parts.def. A model is made of tables of rows: that of the base
 * machine (events.c) and those of whatever is added to it, which name their own counters and parameters, or
 * the machine's. Nothing here acts in a cycle: energy is worked out from counters when someone asks. */
#ifndef REPRISE_ENERGY_ENERGY_H
#define REPRISE_ENERGY_ENERGY_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct config;
struct gpu_config;

enum energy_part {
#define PART(id, ...) ENERGY_##id,
#include "energy/parts.def"
#undef PART
    ENERGY_PARTS
};

struct energy_part_info {
    const char *name, *meaning;
};
extern const struct energy_part_info energy_parts[ENERGY_PARTS];

/* What the parameter of an event is. */
enum energy_unit {
    ENERGY_PJ,       /* picojoules each time, scaled by energy.scale */
    ENERGY_PJ_FIXED, /* the same, not scaled */
    ENERGY_PJ_BIT,   /* for each bit of a DRAM burst, not scaled */
    ENERGY_WATT,     /* for so many cycles of the SMs' clock */
};

/* Something that costs energy. */
struct energy_event {
    enum energy_part part;
    const char *counter; /* how often it happened; NULL: cycles of the launch */
    const char *param;   /* what it costs: the name of a FLOAT parameter */
    enum energy_unit unit;
};

/* The events of one owner. */
struct energy_table {
    const struct energy_event *rows;
    uint32_t count;
};

#define ENERGY_TABLE(rows)                                                                                   \
    { (rows), sizeof(rows) / sizeof *(rows) }

/* The events of the base machine. */
extern const struct energy_table energy_base;

#define ENERGY_CYCLES UINT32_MAX /* instead of a counter's number: cycles of the launch */

/* An event with its counter found, and its cost in joules. */
struct energy_term {
    enum energy_part part;
    uint32_t counter;
    double joules;
};

struct energy_model {
    VEC(struct energy_term) terms;
    double unit[ENERGY_WATT + 1]; /* joules that a parameter of 1 means, by unit */
};

/* The number of the counter with this name, or ENERGY_CYCLES when there is none. */
typedef uint32_t energy_find(const void *ctx, const char *name);

/* An empty model of the GPU. */
void energy_init(struct energy_model *m, const struct gpu_config *cfg);
/* Adds the events of a table. Returns NULL, or the first counter that find does not know or parameter that
 * the configuration does not have; then nothing was added. */
const char *energy_add(struct energy_model *m, const struct energy_table *t, const struct config *config,
                       energy_find *find, const void *ctx);
void energy_free(struct energy_model *m);

/* Joules of each part, given counters by number and cycles of the SMs' clock. Returns their sum, added in the
 * order of the parts. */
double energy_sum(const struct energy_model *m, const uint64_t *counters, uint64_t cycles,
                  double parts[ENERGY_PARTS]);

#endif
