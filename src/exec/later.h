/* Accesses to global memory that take effect later than they issue.
 *
 * SMs that are simulated at the same time must not touch what they share. Each keeps its accesses here, with
 * the values that their operands have when they issue, and they are carried out when all SMs are as far, in
 * the order in which a machine that goes cycle by cycle would have: by cycle, SM and place in the program.
 * Until then no instruction may issue that needs a result: destination registers keep their values. */
#ifndef REPRISE_EXEC_LATER_H
#define REPRISE_EXEC_LATER_H

#include "exec/warp.h"

/* One access, followed by those of its source words that are registers and not also its destination. */
struct later_access {
    _Alignas(64) struct warp *w;
    const struct xinst *i;
    uint64_t cycle;
    uint32_t m;  /* lanes */
    int32_t tag; /* the caller's */
    uint32_t words;
};

/* Accesses of one SM, oldest first. */
struct later {
    uint8_t *at;
    size_t first, end, size; /* bytes */
};

/* Whether an instruction can be carried out later. */
static inline bool later_can(const struct xinst *i) {
    return i->kind == X_LOAD || i->kind == X_STORE || i->kind == X_ATOM || i->kind == X_TEX;
}

/* Whether all of a kernel's accesses to what SMs share are such instructions. */
bool later_suits(const struct image *img);
/* Bytes that so many accesses of a kernel take at most. */
size_t later_bytes(const struct image *img, uint32_t accesses);
/* Lanes of m for which the instruction accesses what SMs share. */
uint32_t later_lanes(const struct exec *x, const struct warp *w, const struct xinst *i, uint32_t m);
/* Notes an access for lanes m, at least one. */
void later_add(struct later *l, struct warp *w, const struct xinst *i, uint32_t m, uint64_t cycle,
               int32_t tag);
/* The oldest, or NULL. */
static inline struct later_access *later_first(const struct later *l) {
    return l->first < l->end ? (struct later_access *)(void *)(l->at + l->first) : NULL;
}
/* Carries out the oldest access, and forgets it; false on a fault (x->fault). */
bool later_run(struct later *l, struct exec *x);
/* The same for a warp that has ended, whose registers nobody needs. */
bool later_finish(struct later *l, struct exec *x);

#endif
