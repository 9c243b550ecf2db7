/* The models that users name, and stacks of them. */
#ifndef REPRISE_MECH_REGISTRY_H
#define REPRISE_MECH_REGISTRY_H

#include "base/diag.h"
#include "mech/mech.h"

/* A model: a mechanism with settings of its own. */
struct mech_model {
    const char *name, *help;
    const struct mechanism *mechanism;
    const char *const *settings; /* "path=value", NULL-terminated */
};
/* Model number i; NULL past the last one. */
const struct mech_model *mech_model_at(uint32_t i);

/* The mechanisms of a machine, in the order in which they act. */
struct mech_set {
    uint32_t n;
    const struct mech_model *at[MECH_MAX];
};
/* Reads NAME[+NAME...]; "base" and "" mean none. false, with a message, for unknown names and for stacks that
 * cannot be. */
bool mech_select(struct mech_set *out, const char *text, struct diag *d);
/* Puts a model in its place in a stack; false, with the reason, when it cannot stand beside one of them. */
bool mech_add(struct mech_set *s, const struct mech_model *m, struct diag *d);
/* Whether some mechanism of a set only approximates: then the whole machine does. */
bool mech_approximate(const struct mech_set *s);
/* Adds a line for each model, at most 100 columns wide. */
void mech_list(struct str *out);

#endif
