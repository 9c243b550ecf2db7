/* Between the files that split a kernel: what is known of its instructions while that is decided. */
#ifndef REPRISE_MECH_DAC_SPLITTER_H
#define REPRISE_MECH_DAC_SPLITTER_H

#include "flow/classes.h"
#include "mech/dac/joins.h"
#include "mech/dac/params.h"
#include "mech/dac/split.h"
#include "opt/pass.h"

enum { MAX_CHOICES = 64, MAX_CONDITIONS = 2 };
/* What forms may lack. That base and offsets be uniform in the grid is seen to operation by operation: a
 * choice by the block leaves them so, unlike a product. */
enum { ALLOWED = LACK_EXTENDED | LACK_CHOSEN | LACK_REMAINDER | LACK_BLOCK };

/* What a version is beside a plain tuple. */
enum trait { TRAIT_MOD = 1 << 0, TRAIT_HIGH = 1 << 1 };

/* A condition by which threads have different values. */
struct condition {
    uint32_t pred; /* version of a predicate; NONE: ... */
    uint32_t inst; /* ... that of an instruction: its number; NONE: ... */
    uint32_t edges,
        other;     /* ... of a merge: edges by which those come for whom it holds; whom it is not about */
    uint32_t home; /* block in which it is made */
};

struct splitter {
    const struct pass_run *run;
    struct program *p;
    struct fn *f;
    struct arena *a;
    const struct dac_params *params;
    struct accesses *accesses;
    struct classes *c;
    const struct reach *r;
    uint32_t n;  /* instructions */
    bool *good;  /* by instruction: the affine warp can do it */
    bool *vgood; /* by version */
    bool *bgood; /* by block: it can follow the paths that lead there */
    struct joins joins;
    bool ways;                     /* values of ways that meet may be chosen by their branches */
    bool built;                    /* the affine stream was made, be it of use or not */
    bool *differs;                 /* by version: a merge to which threads that part bring different ones */
    const struct join_plan **plan; /* ... and how it is told which; NULL: it is not */
    struct condition conds[MAX_CHOICES];
    uint32_t nconds;
    uint64_t *choices;           /* by version: the conditions behind it */
    uint64_t *merge_choices;     /* by version: those of a merge alone */
    uint8_t *traits;             /* by version: set of enum trait */
    int32_t *choice_no;          /* by instruction: number of its own condition, or -1 */
    uint32_t *rank;              /* by block: its place in reverse postorder */
    const char **why;            /* by instruction: what speaks against it */
    bool *address, *data, *pred; /* by instruction: goes into the queues */
    bool *affine;                /* by instruction: is in the affine stream */
    bool *barrier;               /* by instruction: a barrier of both streams */
    const char **block_why;      /* by block: why it cannot follow, if not because of a branch */
    bool *asks;              /* by instruction: a branch that the warps decide, for the affine warp, too */
    struct dac_fact *branch; /* by block: of the branch at its end, if both streams have it */
    uint32_t count;
};

static inline struct inst *inst_at(const struct splitter *s, uint32_t b, uint32_t k) {
    return &s->f->blocks.at[b].insts.at[k];
}
static inline uint32_t no_of(const struct splitter *s, uint32_t b, uint32_t k) {
    return s->r->first[b] + k;
}

#define EACH_INST(s, b, k, i)                                                                                \
    for (uint32_t b = 0; b < (s)->f->blocks.len; b++)                                                        \
        for (uint32_t k = 0; k < (s)->f->blocks.at[b].insts.len; k++)                                        \
            for (struct inst *i = inst_at(s, b, k); i; i = NULL)

/* ---- what the affine warp knows ---- */

static inline bool is_compare(const struct inst *i) {
    return i->op == OP_ISETP || i->op == OP_ISETPX;
}

static inline bool is_access(const struct inst *i) {
    bool kind = i->op == OP_LD || i->op == OP_ST || i->op == OP_ATOM || i->op == OP_RED;
    return kind && (i->m.space == MS_GLOBAL || i->m.space == MS_SHARED) && !i->frame && !i->m.vol;
}

static inline bool is_branch(const struct inst *i) {
    return i->op == OP_BRA || i->op == OP_EXIT;
}

/* Calls the statement for each version in that comes to version v, if that is a merge. */
#define EACH_INPUT(s, v, in, ...)                                                                            \
    do {                                                                                                     \
        const struct version *x_ = &(s)->r->at[v];                                                           \
        uint32_t n_ = x_->kind == VERSION_MERGE ? (s)->f->blocks.at[x_->block].pred.len : 0;                 \
        for (uint32_t k_ = 0; k_ < n_; k_++) {                                                               \
            uint32_t in = (s)->r->inputs[x_->input + k_];                                                    \
            if (in != NONE) {                                                                                \
                __VA_ARGS__                                                                                  \
            }                                                                                                \
        }                                                                                                    \
    } while (0)

/* Calls the statement for each version v that the affine copy of instruction k of block b reads. */
#define EACH_READ(s, b, k, v, ...)                                                                           \
    do {                                                                                                     \
        struct span span_[MAX_SPANS];                                                                        \
        const struct inst *i_ = inst_at(s, b, k);                                                            \
        uint32_t n_ = inst_reads(&(s)->r->v, i_, span_);                                                     \
        for (uint32_t j_ = 0; j_ < n_; j_++)                                                                 \
            for (uint32_t w_ = 0; w_ < span_[j_].n; w_++)                                                    \
                if (dac_copy_reads(s, i_, span_[j_].first + w_)) {                                           \
                    uint32_t v = reach_read((s)->r, b, k, span_[j_].first + w_);                             \
                    __VA_ARGS__                                                                              \
                }                                                                                            \
    } while (0)

/* Those that make one half of a tuple of 64 bits: whether the whole is one is asked of the pair. */
static inline bool dac_makes_halves(const struct inst *i) {
    bool sign = i->op == OP_SHR && i->m.sgn && i->src[1].kind == O_IMM && i->src[1].v == 31;
    return sign || i->op == OP_IADDC || i->op == OP_ISUBC || i->op == OP_SHLHI || i->op == OP_IMULW ||
           i->op == OP_IMADW;
}

/* Notes what speaks against an instruction, unless something is noted; false. */
static inline bool dac_refuse(struct splitter *s, uint32_t n, const char *why) {
    if (!s->why[n])
        s->why[n] = why;
    return false;
}

/* ---- candidates.c ---- */

/* Can the affine warp carry out the instruction, as far as its operation goes? If not, s->why says why. */
bool dac_knows(struct splitter *s, uint32_t b, uint32_t k);
/* Takes away, until nothing changes, what needs something that the affine warp cannot have. */
void dac_settle(struct splitter *s);
/* Why the kernel cannot be split whatever it computes, or NULL. */
const char *dac_obstacle(struct splitter *s);
/* Does a copy of the instruction, which takes its address or data from a queue, still read this value? */
bool dac_copy_reads(const struct splitter *s, const struct inst *i, uint32_t value);

/* ---- conditions.c ---- */

/* Takes away what would need too many conditions, or one around a loop; true if anything went. */
bool dac_settle_choices(struct splitter *s);

/* ---- limits.c ---- */

/* Takes away the blocks in which the affine warp would have more paths than its stack. */
void dac_limit_paths(struct splitter *s);
/* Of the affine stream: takes away conditions for which there is no register; true if any went. */
bool dac_limit_conditions(struct splitter *s);

/* ---- streams.c ---- */

/* Marks what the affine stream has: what goes into the queues, and all that these need. */
void dac_find_slice(struct splitter *s);
/* Makes the affine stream; NULL, or why it cannot be. */
const char *dac_build_affine(struct splitter *s, const struct dac_fact *facts);
/* Makes the other stream of the kernel itself. */
void dac_rewrite(struct splitter *s, const struct dac_fact *facts);

/* ---- takes.c ---- */

/* Behind register allocation: predicates are taken by the instructions that read them first. */
bool dac_fold_takes(const struct pass_run *run);

#endif
