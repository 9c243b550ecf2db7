/* Where threads meet again that a branch has parted, and bring different values. */
#ifndef REPRISE_MECH_DAC_JOINS_H
#define REPRISE_MECH_DAC_JOINS_H

#include "flow/control.h"
#include "flow/reach.h"

/* Choices of a merge: one, and one within each of its ways. */
enum { JOIN_CHOICES = 3 };

struct joins {
    const struct fn *f;
    const struct control *c;
    const struct reach *r;
    struct dom dom;
    const bool *parts; /* by split of c: threads of a batch may take both ways */
    const bool *asks;  /* by block, or NULL: the branch at its end has no predicate here */
};

/* What a thread brings to a merge, by the branch at the end of a block. */
struct join_choice {
    uint32_t branch, pred;             /* pred: version of its predicate */
    uint32_t version[2];               /* of those that take the branch, of the others; NONE: ... */
    const struct join_choice *more[2]; /* ... this decides, between them */
};

/* Threads that part bring different versions to merge v. */
bool join_differs(const struct joins *j, uint32_t v);
/* How the branches tell which version a thread brings to merge v; NULL: they do not. */
const struct join_choice *join_plan(struct arena *a, const struct joins *j, uint32_t v);

#endif
