/* Facts about code that passes, mechanisms and the profile share: numbering of words, control-flow facts,
 * liveness. What is built on them has a header of its own.
 *
 * All of it works on virtual registers and, after allocation (fn->allocated), on machine registers. Facts
 * live in an arena of whoever asks for them and are stale as soon as the code they describe changes. */
#ifndef REPRISE_FLOW_FLOW_H
#define REPRISE_FLOW_FLOW_H

#include "ir/ir.h"

#define NONE UINT32_MAX

static inline bool is_rz(const struct opd *o) {
    return o->kind == O_REG && o->v == VREG_RZ;
}
static inline bool is_const(const struct opd *o) {
    return o->kind == O_IMM || o->kind == O_CONST;
}
/* True when the instruction is skipped by some threads. */
static inline bool is_guarded(const struct inst *i) {
    return i->guard.id != VPRED_PT || i->guard.neg;
}
static inline bool is_pt(const struct popd *p) {
    return p->id == VPRED_PT && !p->neg;
}
/* The constant false. */
static inline bool is_pf(const struct popd *p) {
    return p->id == VPRED_PT && p->neg;
}
static inline bool opd_eq(const struct opd *a, const struct opd *b) {
    return a->kind == b->kind && a->mod == b->mod && a->word == b->word && a->bank == b->bank && a->v == b->v;
}
/* True when the last source stands for the size of the frame, so that its value is not known yet. */
static inline bool is_frame_value(const struct inst *i) {
    return i->frame && (i->op == OP_IADD || i->op == OP_MOV);
}

/* The register that holds the frame's address, as operands name it; VREG_RZ: there is none. */
static inline uint32_t fn_frame_reg(const struct fn *f) {
    return f->allocated && f->fp != VREG_RZ ? (uint32_t)REG_FRAME : f->fp;
}

/* ---- bit sets ---- */
typedef uint64_t bits;
static inline uint32_t bits_words(uint32_t n) {
    return (n + 63) / 64;
}
static inline bool bits_get(const bits *s, uint32_t i) {
    return s[i / 64] >> (i % 64) & 1;
}
static inline void bits_set(bits *s, uint32_t i) {
    s[i / 64] |= UINT64_C(1) << (i % 64);
}
static inline void bits_clear(bits *s, uint32_t i) {
    s[i / 64] &= ~(UINT64_C(1) << (i % 64));
}

/* ---- values: every word of every register, then every predicate, has a number (values.c) ---- */
struct values {
    const struct fn *f;
    uint32_t *base; /* number of word 0 of each virtual register; of each machine register after allocation */
    uint32_t nwords; /* predicates are numbered from here */
    uint32_t n;
};
/* A run of consecutive values. */
struct span {
    uint32_t first, n;
};
enum { MAX_SPANS = 8 };

struct values values_of(struct arena *a, const struct fn *f);
static inline uint32_t value_of_opd(const struct values *v, const struct opd *o) {
    return v->base[o->v] + o->word;
}
static inline uint32_t value_of_pred(const struct values *v, uint32_t pred) {
    return v->nwords + pred;
}
/* What an instruction reads (guard included) and writes; a guarded write keeps the old value where it is
 * skipped. */
uint32_t inst_reads(const struct values *v, const struct inst *i, struct span out[MAX_SPANS]);
uint32_t inst_writes(const struct values *v, const struct inst *i, struct span out[MAX_SPANS]);

/* Where values are written. */
struct def_site {
    uint32_t block, index;
};
struct defs {
    struct values v;
    uint32_t *count; /* writes of each value; a guarded write counts as two, since the old value survives */
    uint32_t *uses;  /* instructions that read it */
    struct def_site *site; /* of the last write seen; of the only one when count is 1 */
};
struct defs defs_of(struct arena *a, const struct fn *f);
static inline struct inst *def_inst(struct fn *f, const struct defs *d, uint32_t value) {
    return &f->blocks.at[d->site[value].block].insts.at[d->site[value].index];
}

/* ---- control flow (dom.c) ---- */
/* Fills in succ of indexed branches and pred of every block. */
void cfg_edges(struct fn *f);
/* Blocks reachable from the entry in reverse postorder; returns how many. */
uint32_t cfg_rpo(struct arena *a, const struct fn *f, uint32_t **order);

/* Dominator tree; intervals of dfs numbers answer "does a dominate b". Unreachable blocks have idom NONE. */
struct dom {
    uint32_t *idom, *pre, *post;
    uint32_t *order, n; /* blocks in dominator preorder */
};
struct dom dom_of(struct arena *a, const struct fn *f);
static inline bool dom_block(const struct dom *d, uint32_t a, uint32_t b) {
    return d->pre[a] <= d->pre[b] && d->post[b] <= d->post[a];
}
/* True when the definition at s has run whenever instruction index of block is reached. */
static inline bool dom_site(const struct dom *d, struct def_site s, uint32_t block, uint32_t index) {
    return s.block == block ? s.index < index : dom_block(d, s.block, block);
}
/* Sets ipdom and depth of every block. */
void cfg_joins(struct fn *f);
/* Immediate post-dominators over all ways out of the function, guarded EXIT and RET among them; NONE: the
 * outside. */
uint32_t *postdom_of(struct arena *a, const struct fn *f);
/* True for an instruction by which threads may leave the function while others stay. */
static inline bool fn_may_leave(const struct inst *i) {
    return (i->op == OP_EXIT || i->op == OP_RET) && is_guarded(i);
}
/* The last instruction of a block, or NULL. */
static inline struct inst *block_last(struct block *b) {
    return b->insts.len ? &b->insts.at[b->insts.len - 1] : NULL;
}
static inline bool ends_block(const struct inst *i) {
    return i && (op_info[i->op].flags & OPF_END);
}

/* ---- liveness (liveness.c) ---- */
/* Values that never leave a block are not in the sets: index[value] is NONE for them. */
struct live {
    struct values v;
    uint32_t *index; /* value -> bit */
    uint32_t *value; /* bit -> value */
    uint32_t n, words;
    bits *in, *out; /* words bits per block */
};
struct live live_of(struct arena *a, const struct fn *f);
static inline bool live_at(const struct live *l, const bits *sets, uint32_t block, uint32_t value) {
    return l->index[value] != NONE && bits_get(sets + (size_t)block * l->words, l->index[value]);
}
/* Values that may have been written when the block is entered, over the same bits; what is not among them is
 * garbage. */
bits *live_defined(struct arena *a, const struct fn *f, const struct live *l);

#endif
