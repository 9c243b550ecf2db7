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
_Static_assert((int)ENERGY_PARTS <= (int)ENERGY_MAX_PARTS, "parts are told by the bits of a word");

extern const struct energy_part gpu_parts[ENERGY_PARTS];

/* The events of the base machine that cost the same in every account. */
extern const struct energy_table gpu_energy;

/* The accounts: what circuits take, and what GPUWattch, the power model that came with the simulator most
 * papers used, would report (docs/energy.md). */
enum gpu_energy_account { ENERGY_PHYSICAL, ENERGY_GPUWATTCH, GPU_ACCOUNTS };

/* An account: its name in reports and in formulas, what summaries call it, and its own events. */
struct gpu_account {
    const char *key, *title;
    struct energy_table energy;
};

extern const struct gpu_account gpu_accounts[GPU_ACCOUNTS];

/* How a GPU turns parameters into joules, in an account. */
struct energy_spec gpu_energy_spec(const struct gpu_config *cfg, enum gpu_energy_account account);

#endif
