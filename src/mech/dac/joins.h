/* Where threads meet again that a branch has parted, and bring different values. */
#ifndef REPRISE_MECH_DAC_JOINS_H
#define REPRISE_MECH_DAC_JOINS_H

#include "flow/control.h"
#include "flow/reach.h"

struct joins {
    const struct fn *f;
    const struct control *c;
    const struct reach *r;
    struct dom dom;
    const bool *parts; /* by split of c: threads of a batch may take both ways */
    const bool *asks;  /* by block, or NULL: the branch at its end has no predicate here */
};

/* A condition: a predicate or its opposite, or two conditions, both of which hold, or one of which does. */
enum join_kind { JOIN_NEVER, JOIN_ALWAYS, JOIN_ANY, JOIN_IF, JOIN_AND, JOIN_OR };
struct join_cond {
    uint8_t kind;
    bool neg;      /* IF */
    uint32_t pred; /* IF: version of the predicate */
    const struct join_cond *of[2];
};

/* What threads bring to a merge: for which the first condition holds, the first version; of the others, for
 * which the second holds, the second; others the last. */
enum { JOIN_VERSIONS = 3, JOIN_CONDS = JOIN_VERSIONS - 1, JOIN_BRANCHES = 4 };
struct join_plan {
    uint32_t n; /* versions */
    uint32_t version[JOIN_VERSIONS];
    const struct join_cond *cond[JOIN_CONDS];
    uint32_t edges[JOIN_VERSIONS];  /* of the block by which they come, as a set */
    uint32_t branch[JOIN_BRANCHES]; /* blocks whose branches decide, the first before all others */
    uint32_t pred[JOIN_BRANCHES];   /* versions of their predicates */
    uint32_t nbranches;
};

/* Threads that part bring different versions to merge v. */
bool join_differs(const struct joins *j, uint32_t v);
/* How the branches tell which version a thread brings to merge v; NULL: they do not. */
const struct join_plan *join_plan(struct arena *a, const struct joins *j, uint32_t v);

#endif
