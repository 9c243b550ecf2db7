/* The mechanisms there are, by name, and stacks of them. */
#ifndef REPRISE_MECH_REGISTRY_H
#define REPRISE_MECH_REGISTRY_H

#include "base/diag.h"
#include "mech/mech.h"

/* The mechanisms that can be named: those built in, and those that were loaded. */
struct mech_registry {
    VEC(const struct mechanism *) mechs;
};

/* Begins with those built in. */
void mech_registry_init(struct mech_registry *r);
void mech_registry_free(struct mech_registry *r);
/* Adds the mechanism of a shared object, in the place of one with the same name; NULL after a message. */
const struct mechanism *mech_registry_load(struct mech_registry *r, const char *path, struct diag *d);
/* Adds a line for each name that users may give, at most 100 columns wide. */
void mech_list(const struct mech_registry *r, struct str *out);

/* The mechanisms of a machine, in the order in which they act. */
struct mech_set {
    uint32_t n;
    const struct mechanism *at[MECH_MAX];
    const struct mech_model *model[MECH_MAX]; /* by which each was named; NULL: by its own name */
    const char *names[MECH_MAX];              /* of all, in the order in which they were added */
};
/* Reads NAME[+NAME...], where a NAME may be the path of a shared object, whose mechanism joins the registry;
 * "base" and "" mean none. false, with a message, for unknown names and for stacks that cannot be. */
bool mech_select(struct mech_set *out, struct mech_registry *r, const char *text, struct diag *d);
/* Puts a mechanism in its place in a stack; false, with the reason, when it cannot stand beside one of them.
 */
bool mech_add(struct mech_set *s, const struct mechanism *m, const struct mech_model *model, struct diag *d);
/* Whether some mechanism of a set only approximates: then the whole machine does. */
bool mech_approximate(const struct mech_set *s);
/* Whether some mechanism of a set runs streams of code of its own, so that instructions are no measure of how
 * far a program has come. */
bool mech_streams(const struct mech_set *s);

#endif
