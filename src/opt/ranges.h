/* Live ranges with holes, and the pieces of the register allocator that share them.
 *
 * Instruction k (counted through the function in block order) reads at position 2k and writes at 2k + 1. A
 * range is a list of half-open segments; a value that is written and never read occupies its register for the
 * write itself. A value read before anything was written to it has no range there: whatever the register
 * holds will do. */
#ifndef REPRISE_OPT_RANGES_H
#define REPRISE_OPT_RANGES_H

#include "opt/pass.h"

struct seg {
    uint32_t from, to;
};
struct range {
    struct seg *at;
    uint32_t n;
};

struct ranges {
    struct values v;
    struct range *of; /* by value */
    float *weight;    /* by value: references, weighted by loop depth */
};
struct ranges ranges_of(struct arena *a, const struct fn *f);
bool range_overlaps(const struct range *x, const struct range *y);
/* The union of two ranges that do not overlap. */
struct range range_join(struct arena *a, const struct range *x, const struct range *y);

/* Merges registers that are connected by copies and never live at once; removes the copies. */
void coalesce_groups(struct fn *f);

/* Registers that the allocator made to carry a spilled value next to one instruction: never spilled again. */
typedef VEC(uint8_t) flag_list;

/* Puts the marked registers (predicates) of f into local memory (general registers). fixed_* grow with f. */
void spill_regs(struct fn *f, const bool *spilled, flag_list *fixed_regs);
void spill_preds(struct fn *f, const bool *spilled, flag_list *fixed_preds);
/* True when register v needs no memory: each word is written once, by an instruction that can be repeated
 * anywhere. */
bool can_recompute(struct fn *f, const struct defs *d, uint32_t v);

/* inst.rpc before layout: number (plus one) within its block of the instruction as it entered the allocator,
 * so that the checker can follow it; 0 for those that the allocator added. */
void regalloc_number(struct fn *f);
/* Proves that f, allocated, computes what before (its code with virtual registers) does. NULL or a
 * description. */
const char *regalloc_check(struct program *p, const struct fn *before, const struct fn *f);

#endif
