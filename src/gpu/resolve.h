/* From what options name to the mechanisms, probes and parameters of a machine. */
#ifndef REPRISE_GPU_RESOLVE_H
#define REPRISE_GPU_RESOLVE_H

#include "cfg/gpu.h"
#include "mech/registry.h"
#include "profile/profile.h"
#include "reprise.h"

/* The mechanisms that options can name: those built in, and those of the shared objects they load. false
 * after a message. To be freed in either case. */
bool resolve_mechs(const struct rp_options *o, struct mech_registry *r, struct diag *d);

/* Adds the parameters of the GPU and of all mechanisms and probes that there are to an empty configuration.
 * false, with a message, when some want the same name. */
bool resolve_params(const struct mech_registry *r, struct config *config, struct diag *d);

/* All that the options name: mechanisms, probes, and the configuration, which must be empty, and in which the
 * settings of the models stand before the user's. false, with messages, when there is no such machine. */
bool resolve_options(const struct rp_options *o, struct mech_set *mechs, struct profile_set *profiles,
                     struct config *config, struct diag *d);

/* Optional passes that make code which the GPU does not run, as struct opt_options has them: operations of
 * later ones, and what the vendor's compiler does, which is measured from Turing on. Papers on older ones
 * used simulators that run PTX as it is. */
uint64_t resolve_lacking(const struct gpu_config *gpu);

#endif
