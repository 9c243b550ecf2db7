/* Between the files that find blocks: loops as they were traced, and pairs of instructions between which a
 * block may be. */
#ifndef REPRISE_CPU_REGION_MODEL_H
#define REPRISE_CPU_REGION_MODEL_H

#include "cpu/region.h"

enum {
    SPINE = 400, /* instructions of a body that every round passes once */
};

struct branch {
    uint64_t from, to;
};

struct round {
    uint32_t begin, end;      /* vertices: its first, and the one behind */
    uint32_t function, first; /* ... the first of the function, and of the loop in that call */
    uint32_t *pos;            /* of each instruction of the spine */
};

struct loop {
    uint32_t head, count; /* code; rounds in all */
    uint64_t weight;
    VEC(struct round) rounds;
    uint32_t spine[SPINE], n;
    bool *own;    /* of each instruction: it is of the spine */
    bool repeats; /* it is a loop, not a path that a call passes once */
    bool is_loop; /* its head is where a branch leads back to */
};

struct finder {
    const struct cputrace *t;
    const struct region_limits *l;
    bool *stable; /* of each instruction: a load of memory that does not change */
    VEC(struct branch) branches;
    VEC(struct loop) loops;
    VEC(struct callee) callees;
    bool *passed; /* of each instruction: it is of a spine that was looked at */
};

/* A pair that was measured in the trace. */
struct pair {
    uint32_t a, b;
    uint64_t weight; /* of all rounds together */
    struct regset inputs;
    uint32_t cut;
    bool assumes_memory, reads_behind; /* reads_behind: callees load what pointers lead to */
    double gain;
};

static inline const struct cputrace_code *region_code(const struct finder *f, uint32_t v) {
    return &f->t->code.at[f->t->at.at[v].code];
}

/* Whether a vertex can get data of the caller in a register: by the calling convention a callee only saves
 * the others. */
bool region_can_read(const struct finder *f, const struct round *r, uint32_t v, uint32_t reg);
/* The function that a word at pc calls, if it reads what pointers lead to and all that is understood; else
 * NULL. */
const struct callee *region_callee(const struct finder *f, uint32_t word, uint64_t pc);
/* Whether a load reads what was there before the block, which began at from, and may be another value the
 * next time: it is done before the block, and its value is an input. assumes: set when it is none because
 * memory does not change. */
bool region_is_cut(const struct finder *f, const struct round *r, uint32_t from, uint32_t v, bool *assumes);
/* Whether a pair is a block of the program, whose code from its first instruction on is in flow; what it is.
 */
bool region_prove(const struct finder *f, const struct loop *l, const struct pair *p, struct flowset *flow,
                  struct region *out);

#endif
