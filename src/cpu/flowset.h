/* The code around an address, as far as it can be reached from there without returning, and which registers
 * are live in it. Calls are one step. */
#ifndef REPRISE_CPU_FLOWSET_H
#define REPRISE_CPU_FLOWSET_H

#include "cpu/cputrace.h"

/* A set of registers. */
struct regset {
    uint64_t w[2];
};

static inline void regset_add(struct regset *s, uint32_t r) {
    s->w[r >> 6] |= 1ull << (r & 63);
}
static inline bool regset_has(const struct regset *s, uint32_t r) {
    return s->w[r >> 6] >> (r & 63) & 1;
}
static inline bool regset_empty(const struct regset *s) {
    return !(s->w[0] | s->w[1]);
}

/* A direct branch of the program to a node, from a node or, NO_VERTEX, from elsewhere. */
struct flow_entry {
    uint32_t from, to;
};

struct flow_node {
    uint64_t pc;
    uint32_t spine; /* for who looks for blocks: its place in a loop, or NO_VERTEX */
    uint32_t word;
    uint32_t to[2];                   /* numbers of nodes, or NO_VERTEX */
    bool is_call, is_end, comes_back; /* comes_back: the first node can be reached from it again */
    struct a64_uses uses;
    struct regset use, def, live; /* live: before it */
};

struct flowset {
    VEC(struct flow_node) at;       /* the first is where it began */
    struct map by_pc;               /* from 1 */
    VEC(struct flow_entry) entries; /* for who looks for blocks */
    bool incomplete;                /* there was code that could not be followed */
};

/* Where a direct branch goes; false when the word is none. */
bool flow_target(uint32_t word, uint64_t pc, uint64_t *to);
/* Follows the code from pc on. The trace says which registers are read behind returns, and calls of functions
 * that are not known read. kept: registers, beside results and those that functions restore, that callers may
 * read behind returns; NULL: all that this code leaves alone. */
void flow_build(struct flowset *f, const struct cputrace *t, uint64_t pc, const struct regset *kept);
/* What a function does to registers, and those that it calls: compilers keep values over a call in registers
 * of which they know that the callee leaves them alone. */
struct function_facts {
    bool known;                  /* all of its code is */
    struct regset reads, writes; /* arguments that any path reads, registers that one writes */
};
/* The facts of the function at pc, which the trace keeps. */
const struct function_facts *flow_function(const struct cputrace *t, uint64_t pc);
/* The node of an address, or NO_VERTEX. */
uint32_t flow_at(const struct flowset *f, uint64_t pc);
void flow_free(struct flowset *f);

#endif
