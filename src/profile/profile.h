/* Profiles: probes that users name with --probe, and whose counters stand in the report beside the machine's.
 *
 * Like all probes they watch timed launches and change nothing. probes.def lists them. What they keep lives
 * as long as the GPU, from launch to launch. */
#ifndef REPRISE_PROFILE_PROFILE_H
#define REPRISE_PROFILE_PROFILE_H

#include "base/diag.h"
#include "cfg/config.h"
#include "sim/probe.h"
#include "stats/registry.h"

enum { PROFILE_MAX = 4 };

/* What a profile is made of. */
struct profile_kind {
    struct param_table params;
    struct counter_table counters;
    /* params: the struct that its table of parameters describes. */
    struct probe *(*create)(const void *params, uint32_t sms);
    void (*destroy)(struct probe *p);
    /* The struct in which it counts for an SM. */
    const void *(*counts)(const struct probe *p, uint32_t sm);
};

/* A row of probes.def. */
struct profile_row {
    const char *name, *help;
    const struct profile_kind *kind;
};
/* Row number i; NULL past the last one. */
const struct profile_row *profile_at(uint32_t i);
/* Adds a line for each. */
void profile_list(struct str *out);

/* The profiles of a GPU. */
struct profile_set {
    uint32_t n, sms;
    struct {
        const struct profile_kind *kind;
        struct probe *probe; /* NULL until profile_create */
    } at[PROFILE_MAX];
};

/* Reads NAME[+NAME...]; NULL and "" mean none. false, with a message, for names that are unknown or named
 * twice. */
bool profile_select(struct profile_set *out, const char *text, struct diag *d);
/* Makes them for a machine of so many SMs; config has their parameters. */
void profile_create(struct profile_set *s, const struct config *config, uint32_t sms);
void profile_destroy(struct profile_set *s);

/* Registers their counters, and where those that were made count. */
void profile_counters(const struct profile_set *s, struct counter_registry *r);

#endif
