/* Where the energy of a GPU goes, and what costs any on the base machine. */
#ifndef REPRISE_ENERGY_GPU_H
#define REPRISE_ENERGY_GPU_H

#include "energy/energy.h"

struct gpu_config;

/* The parts: ENERGY_FRONT_END and so on. */
enum gpu_part {
#define PART(id, ...) ENERGY_##id,
#include "energy/gpu_parts.def"
#undef PART
    ENERGY_PARTS
};

extern const struct energy_part gpu_parts[ENERGY_PARTS];

/* The events of the base machine. */
extern const struct energy_table gpu_energy;

/* How a GPU turns parameters into joules. */
struct energy_spec gpu_energy_spec(const struct gpu_config *cfg);

#endif
