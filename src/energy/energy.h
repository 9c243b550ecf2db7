/* Energy: counts times table.
 *
 * An event is a row: how often it happened is a counter, what it costs a parameter, and it belongs to a part
 * of the machine. A model is made of tables of rows: that of the machine and those of whatever is added to
 * it, which name their own counters and parameters, or the machine's. Nothing here acts in a cycle: energy is
 * worked out from counters when someone asks.
 *
 * There may be several opinions of what things cost. Each is an account, which has a model of its own. */
#ifndef REPRISE_ENERGY_ENERGY_H
#define REPRISE_ENERGY_ENERGY_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct config;
struct counter_registry;

/* Where energy goes. The parts of a run, in the order of the machine's table of them, sum to its energy. */
struct energy_part {
    const char *name, *meaning;
};

/* What the parameter of an event is. */
enum energy_unit {
    ENERGY_PJ,       /* picojoules each time, scaled to the chip's process */
    ENERGY_PJ_FIXED, /* the same, not scaled */
    ENERGY_PJ_BIT,   /* for each bit of a DRAM burst, not scaled */
    ENERGY_WATT,     /* for so many cycles of the machine's clock */
    ENERGY_UNITS
};

/* Something that costs energy. */
struct energy_event {
    uint32_t part;       /* number of a part */
    const char *counter; /* how often it happened; NULL: cycles */
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

#define ENERGY_CYCLES UINT32_MAX /* instead of a counter's number: cycles */

/* An event with its counter found, and its cost in joules. */
struct energy_term {
    uint32_t part, counter;
    double joules;
};

/* What turns parameters into joules on a machine. */
struct energy_spec {
    const char *key;   /* the account's name in reports */
    const char *title; /* ... and for people */
    const struct energy_part *parts;
    uint32_t nparts;
    double scale;      /* of the chip's process */
    double burst_bits; /* of a DRAM burst */
    double hz;         /* the machine's clock, in which cycles are counted */
};

struct energy_model {
    struct energy_spec spec;
    double unit[ENERGY_UNITS]; /* joules that a parameter of 1 means */
    uint32_t told;             /* bit by part: those that something is charged to, at most ENERGY_MAX_PARTS */
    VEC(struct energy_term) terms;
};

enum { ENERGY_MAX_PARTS = 32 };

/* An empty model of a machine. */
void energy_init(struct energy_model *m, const struct energy_spec *s);
/* Adds the events of a table. Returns NULL, or the first counter or parameter that is not among these; then
 * nothing was added. */
const char *energy_add(struct energy_model *m, const struct energy_table *t, const struct config *config,
                       const struct counter_registry *counters);
/* Lets reports tell a part although nothing is charged to it. */
void energy_tell(struct energy_model *m, uint32_t part);
/* The next part from part on that reports tell; UINT32_MAX when there is none. */
uint32_t energy_told(const struct energy_model *m, uint32_t part);
void energy_free(struct energy_model *m);

/* Joules of each part, given counters by number and cycles. Returns their sum, added in the order of the
 * parts.
 */
double energy_sum(const struct energy_model *m, const uint64_t *counters, uint64_t cycles, double *parts);

#endif
