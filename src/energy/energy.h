/* Energy: counts times table.
 *
 * An event is a row: how often it happened is a counter of the timed machine, what it costs a parameter, and
 * the part of the machine it belongs to one of parts.def. A model is made of blocks of rows: those of the
 * base machine (events.def) and those of whatever is added to it, with their own parameters and counters.
 * Nothing here acts in a cycle: energy is worked out from counters when someone asks. */
#ifndef REPRISE_ENERGY_ENERGY_H
#define REPRISE_ENERGY_ENERGY_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "cfg/config.h"

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

/* What the parameter of an event is, see events.def. */
enum energy_unit { ENERGY_PJ, ENERGY_PJ_FIXED, ENERGY_PJ_BIT, ENERGY_WATT };

struct energy_event {
    enum energy_part part;
    const char *counter; /* NULL: cycles of the launch */
    size_t param;        /* offset of a double in the block's parameters */
    enum energy_unit unit;
};

/* Rows that come together, and the struct that holds their parameters. */
struct energy_block {
    const struct energy_event *events;
    uint32_t n;
    const void *params;
};

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

/* The rows of events.def, for this configuration. */
struct energy_block energy_base(const struct gpu_config *cfg);

/* An empty model of the GPU. */
void energy_init(struct energy_model *m, const struct gpu_config *cfg);
/* Adds a block. Returns NULL, or the first counter that find does not know; then nothing was added. */
const char *energy_add(struct energy_model *m, const struct energy_block *b, energy_find *find,
                       const void *ctx);
void energy_free(struct energy_model *m);

/* Joules of each part, given counters by number and cycles of the SMs' clock. Returns their sum, added in the
 * order of the parts. */
double energy_sum(const struct energy_model *m, const uint64_t *counters, uint64_t cycles,
                  double parts[ENERGY_PARTS]);

#endif
