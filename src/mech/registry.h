/* The mechanisms there are, and stacks of them. */
#ifndef REPRISE_MECH_REGISTRY_H
#define REPRISE_MECH_REGISTRY_H

#include "base/diag.h"
#include "mech/mech.h"

/* Mechanism number i; NULL past the last one. */
const struct mechanism *mech_at(uint32_t i);

/* The mechanisms of a machine, in the order in which they act. */
struct mech_set {
    uint32_t n;
    const struct mechanism *at[MECH_MAX];
    const struct mech_model *model[MECH_MAX]; /* by which each was named; NULL: by its own name */
};
/* Reads NAME[+NAME...]; "base" and "" mean none. false, with a message, for unknown names and for stacks that
 * cannot be. */
bool mech_select(struct mech_set *out, const char *text, struct diag *d);
/* Puts a mechanism in its place in a stack; false, with the reason, when it cannot stand beside one of them.
 */
bool mech_add(struct mech_set *s, const struct mechanism *m, const struct mech_model *model, struct diag *d);
/* Adds a line for each name that users may give, at most 100 columns wide. */
void mech_list(struct str *out);

#endif
