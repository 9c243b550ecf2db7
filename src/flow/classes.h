/* Classes of values: what makes them differ between threads, and whether they are affine.
 *
 * A class says of a version of a word or predicate (flow/reach.h) on what its value may depend beside things
 * that are the same in the whole grid (parameters, sizes, immediates): a set of thread and block indices, the
 * lane, the warp, or anything. Two threads that agree in the indices of the set, and have come to the
 * instruction in the same round of the loops around it, have the same value; and so have, whatever their
 * rounds, all lanes for which the instruction is issued at once. The empty set is a value that is uniform in
 * the grid, one of ctaid alone is uniform in a block, one that also names the warp is uniform in a warp. Of
 * DARSIE's classes, DR is a set within ctaid, CR one within ctaid and tid.x.
 *
 * Beside it stands how good the value's form is, as a set of what is lacking. Nothing is lacking: the value
 * is affine, base + sum of factor x index over tid.x to ctaid.z, modulo 2^32 (2^64 for a pair), with base and
 * factors uniform in the grid. BLOCK: base and factors are uniform in a block only, as in ctaid.x * tid.x.
 * EXTENDED: the number of 64 bits is a sum of affine ones and of affine numbers of 32 bits that wrapped
 * around before they were widened. CHOSEN: each thread has one of several such values, by conditions.
 * REMAINDER: factor x (affine mod divisor) + base. NONE: nothing is known. Values that are uniform in the
 * grid lack nothing, those uniform in a block at most BLOCK.
 *
 * Classes only get worse: both sets start empty (optimistic) and grow to the smallest solution of
 * - an instruction's result depends on what its sources do; its form follows from the operation: sums,
 *   differences, multiples by uniform factors, copies keep the form, comparisons and the rest lose it;
 * - a guarded write depends on the guard, too, and on what was there before;
 * - a merge depends on its inputs and, where these differ, on the branches that bring threads there on
 *   different ways (meets of flow/control.h);
 * - what is written in the region of a branch that may be passed again before its join, and read outside, is
 * of different rounds: it depends on the branch, and has lost its form (a loop that some leave earlier);
 * - special registers are what they are; a load is as the options say, atomics and shuffles depend on
 *   anything, votes on the warp;
 * - a value that was never written may be anything that helps in a kernel, where nobody reads it for a
 *   purpose; in a called function it is the caller's and depends on anything.
 *
 * Pairs. A number of 64 bits is made of words by chains: add and add with carry, wide products, shifts across
 * words, sign or zero extension, copies, and merges of both words. Where two words are read as one number,
 * the chain that made them is followed, and the pair as a whole has a class. The upper word by itself has no
 * form, as it lacks the carry.
 *
 * Reasons. For each member of a set the version is kept that brought it in first, so that explanations end
 * at its source (class_explain). */
#ifndef REPRISE_FLOW_CLASSES_H
#define REPRISE_FLOW_CLASSES_H

#include "flow/access.h"
#include "flow/control.h"
#include "flow/reach.h"

enum class_dep {
    DEP_CTAID_X = 1 << 0,
    DEP_CTAID_Y = 1 << 1,
    DEP_CTAID_Z = 1 << 2,
    DEP_TID_X = 1 << 3,
    DEP_TID_Y = 1 << 4,
    DEP_TID_Z = 1 << 5,
    DEP_LANE = 1 << 6,
    DEP_WARP = 1 << 7,
    DEP_ANY = 1 << 8,
    DEP_BLOCK = DEP_CTAID_X | DEP_CTAID_Y | DEP_CTAID_Z,
    DEP_TID = DEP_TID_X | DEP_TID_Y | DEP_TID_Z,
};

enum class_lack {
    LACK_BLOCK = 1 << 0,
    LACK_EXTENDED = 1 << 1,
    LACK_CHOSEN = 1 << 2,
    LACK_REMAINDER = 1 << 3,
    LACK_NONE = 1 << 4, /* of a form: whatever else is set does not matter */
};
enum { CLASS_BITS = 9 + 5 };

struct vclass {
    uint16_t deps; /* set of enum class_dep */
    uint16_t lack; /* set of enum class_lack */
};

/* What a load from memory depends on that is not volatile and cannot be local. Constant banks and textures
 * always go by address. */
enum class_loads {
    LOADS_VARY,       /* anything */
    LOADS_READ_ONLY,  /* what its address does, if nothing in the kernel can write there */
    LOADS_DISTINCT,   /* the same if the launch's arguments point into different allocations */
    LOADS_BY_ADDRESS, /* what its address does, as long as nobody writes in between: the machine sees to that
                       */
};

struct class_options {
    enum class_loads loads;
    const struct accesses *accesses; /* needed unless LOADS_VARY */
    bool pessimistic;                /* values that go around a loop depend on anything */
    bool reasons;                    /* keep what class_explain tells */
};

/* How a member came into a class. */
enum class_how { HOW_SELF, HOW_SOURCE, HOW_GUARD, HOW_OLD, HOW_INPUT, HOW_BRANCH, HOW_ROUNDS };
struct class_reason {
    uint32_t from; /* node that brought it; NONE: the operation itself */
    uint8_t how;   /* enum class_how */
};

/* Two words that are read as one number, and the chain that made them. */
struct class_pair;

struct classes {
    const struct fn *f;
    struct reach reach;
    struct control control;
    struct class_options o;
    /* By node: versions, then pairs, then the conditions of control.splits. */
    struct vclass *of;
    struct class_reason *reasons; /* CLASS_BITS for each node, or NULL */
    struct class_pair *pairs;
    uint32_t npairs;
    uint32_t *pair_at; /* by place in reach.reads of a pair's lower word: the pair plus one */
};

/* Edges and joins must be up to date (cfg_joins). */
struct classes *classes_of(struct arena *a, const struct fn *f, const struct class_options *o);

/* The class of node v, and of v as block reads it. */
struct vclass class_of(const struct classes *c, uint32_t v);
struct vclass class_read(const struct classes *c, uint32_t v, uint32_t block);
/* The class of source s of instruction index of block, as one number; of all it reads, the guard included;
 * and of word k of its destination. */
struct vclass class_of_source(const struct classes *c, uint32_t block, uint32_t index, uint32_t s);
struct vclass class_of_reads(const struct classes *c, uint32_t block, uint32_t index);
struct vclass class_of_result(const struct classes *c, uint32_t block, uint32_t index, uint32_t k);

/* What decides how often a thread comes by a block: the conditions of all branches that the block depends on,
 * of those that these depend on, and so on. Threads that leave by a guarded EXIT or RET come by no more; how
 * often those come by who stay does not depend on that. */
struct vclass class_order(const struct classes *c, uint32_t block);

/* Scopes in which a value is the same in all threads. */
static inline bool class_uniform_grid(struct vclass c) {
    return !c.deps;
}
static inline bool class_uniform_block(struct vclass c) {
    return !(c.deps & ~DEP_BLOCK);
}
static inline bool class_uniform_warp(struct vclass c) {
    return !(c.deps & ~(DEP_BLOCK | DEP_WARP));
}
/* Affine, with nothing lacking but what is in allowed (set of enum class_lack). */
static inline bool class_affine(struct vclass c, uint32_t allowed) {
    return !(c.lack & ~allowed) && !(c.deps & ~(DEP_BLOCK | DEP_TID));
}
static inline struct vclass class_meet(struct vclass a, struct vclass b) {
    return (struct vclass){a.deps | b.deps, a.lack | b.lack};
}

/* Adds "uniform", "ctaid.x tid.x, affine", "any" and the like. */
void class_print(struct str *out, struct vclass c);
/* Adds the way by which the first of the members deps (0: of lack) came into the class of version v: from the
 * instruction that is its source to v, with lines of the PTX text. Nothing if none of them is in it, or no
 * reasons were kept. */
void class_explain(struct str *out, const struct classes *c, uint32_t v, uint32_t deps, uint32_t lack);
/* The instruction that is the source of the first of these members; NULL if none of them is in the class, no
 * reasons were kept, or it is no instruction. */
const struct inst *class_origin(const struct classes *c, uint32_t v, uint32_t deps);

#endif
