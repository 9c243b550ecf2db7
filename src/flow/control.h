/* Control dependence: which branches decide whether a block runs.
 *
 * Block x depends on branch b if one way out of b always leads to x and another may not: x post-dominates a
 * successor of b, and not b itself (Ferrante, Ottenstein and Warren, "The program dependence graph and its
 * use in optimization", 1987). A guarded EXIT or RET is a branch, too, one of whose ways leads out of the
 * function: what follows runs only for those that stay. So the post-dominators here are those of all ways
 * out, unlike the joins of struct block (ipdom), where threads that leave are waited for by nobody.
 *
 * A loop that nothing leaves has no way to an exit: its blocks are taken to lead out, each of them.
 *
 * Besides, for each branch: where its ways may part the threads of a warp, and where they come together again
 * (struct split). A branch whose threads go different ways keeps them apart until its join, the block where
 * the machine lets them go on together. In between is its region: all blocks that can be reached from it
 * without passing the join, the branch itself included if it is on a cycle there, that is, if it may be
 * passed again before all have come to the join. Blocks to which several of its ways lead, in the region or
 * the join, are its meets: what a thread brings there depends on the way it went. And what is written in the
 * region and read outside may be of different rounds in different threads. */
#ifndef REPRISE_FLOW_CONTROL_H
#define REPRISE_FLOW_CONTROL_H

#include "flow/flow.h"

/* A branch with more than one way. */
struct split {
    uint32_t block; /* whose last instruction it is */
    uint32_t join;  /* block at which its threads meet; NO_BLOCK: none before the end */
};

struct control {
    const struct fn *f;
    uint32_t *ipdom; /* by block; NONE: the way out */
    /* Branches that each block depends on, ascending, each once: by block, the last row is the end. */
    uint32_t *dep_at, *deps;
    struct split *splits;
    uint32_t nsplits, words; /* words: of a set of splits */
    bits *region, *meets;    /* by block: splits in whose region it is, that meet there */
    bits *again;             /* splits that may be passed again in their region */
};

/* Edges and joins must be up to date (cfg_joins). */
struct control control_of(struct arena *a, const struct fn *f);

/* Splits in whose region (at which a meet) block is. */
static inline const bits *control_region(const struct control *c, uint32_t block) {
    return c->region + (size_t)block * c->words;
}
static inline const bits *control_meets(const struct control *c, uint32_t block) {
    return c->meets + (size_t)block * c->words;
}
/* Splits of word w of a set that may be passed again in their region, in which written is and read is not. */
static inline bits control_left(const struct control *c, uint32_t written, uint32_t read, uint32_t w) {
    return control_region(c, written)[w] & ~control_region(c, read)[w] & c->again[w];
}
/* True when block x depends on the branch at the end of block b. */
bool control_depends(const struct control *c, uint32_t x, uint32_t b);

#endif
