/* Options of a run from the environment: how the command speaks to the libraries. */
#ifndef REPRISE_GPU_OPTIONS_H
#define REPRISE_GPU_OPTIONS_H

#include "cfg/config.h"
#include "mech/registry.h"
#include "profile/profile.h"
#include "reprise.h"

struct options {
    struct rp_options rp;
    char *set_text;        /* what rp.set points into */
    struct rp_trace trace; /* path NULL: none is wanted */
    int error_exitcode;    /* how a program ends in which tools found errors; 0: as it would */
};

/* Reads REPRISE_GPU, REPRISE_SET (one per line), REPRISE_FUNCTIONAL and the rest of the table in options.c. A
 * value that makes no sense is named on stderr and ignored. */
void options_read(struct options *o);
void options_free(struct options *o);

/* What the options name: mechanisms, probes, and the configuration, in which the settings of the models stand
 * before the user's. false, with messages, when there is no such machine. */
bool options_resolve(const struct rp_options *o, struct mech_set *mechs, struct profile_set *profiles,
                     struct gpu_config *cfg, struct diag *d);

/* Reads "A:B", "A:", ":B" or "A", which is A:A; false if it is nothing of that kind. */
bool options_range(const char *text, uint64_t *first, uint64_t *last);

#endif
