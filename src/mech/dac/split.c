/* Splits a kernel into two streams (section 4.7), before registers are allocated.
 *
 * Which instructions the affine warp can carry out is found as a greatest fixpoint: at first all whose
 * operation it knows; then those go that need something which it cannot have. An instruction needs the
 * versions it reads (flow/reach.h), made in the same round of the loops around it, and its block needs the
 * branches it depends on. A merge must not depend on the way a thread came: the affine warp has one register
 * for all threads. What of several values a thread has may only depend on conditions that are computed
 * (SEL, minima, guarded writes): at most two in the whole chain, and none that goes around a loop.
 *
 * Addresses of memory accesses that it can compute, and comparisons, go to the affine stream, with all they
 * need; the other stream takes them from queues, and what it no longer needs goes as dead code. Both streams
 * keep the virtual registers of the kernel, so that a merge is the same register in both.
 *
 * A kernel is not split when its warps might run their paths in another order than the affine warp, when it
 * waits for other blocks, or when nothing would be gained. */
#include "mech/dac/split.h"

#include <stdio.h>
#include <string.h>

#include "flow/classes.h"
#include "mech/dac/params.h"
#include "mech/dac/registers.h"
#include "opt/pass.h"

enum { MAX_CHOICES = 64, MAX_CONDITIONS = 2 };
/* What forms may lack. That base and offsets be uniform in the grid is seen to operation by operation: a
 * choice by the block leaves them so, unlike a product. */
enum { ALLOWED = LACK_EXTENDED | LACK_CHOSEN | LACK_REMAINDER | LACK_BLOCK };

/* What a version is beside a plain tuple. */
enum trait { TRAIT_MOD = 1 << 0, TRAIT_HIGH = 1 << 1 };

struct splitter {
    const struct pass_run *run;
    struct program *p;
    struct fn *f;
    struct arena *a;
    const struct dac_params *params;
    struct accesses *accesses;
    struct classes *c;
    const struct reach *r;
    uint32_t n;                  /* instructions */
    bool *good;                  /* by instruction: the affine warp can do it */
    bool *vgood;                 /* by version */
    bool *bgood;                 /* by block: it can follow the paths that lead there */
    uint64_t *choices;           /* by version: numbers of the conditional instructions behind it */
    uint8_t *traits;             /* by version: set of enum trait */
    int32_t *choice_no;          /* by instruction: its number among those, or -1 */
    const char **why;            /* by instruction: what speaks against it */
    bool *address, *data, *pred; /* by instruction: goes into the queues */
    bool *affine;                /* by instruction: is in the affine stream */
    bool *barrier;               /* by instruction: a barrier of both streams */
    uint32_t *number;
    uint32_t count;
};

static struct inst *inst_at(const struct splitter *s, uint32_t b, uint32_t k) {
    return &s->f->blocks.at[b].insts.at[k];
}
static uint32_t no_of(const struct splitter *s, uint32_t b, uint32_t k) {
    return s->r->first[b] + k;
}

#define EACH_INST(s, b, k, i)                                                                                \
    for (uint32_t b = 0; b < (s)->f->blocks.len; b++)                                                        \
        for (uint32_t k = 0; k < (s)->f->blocks.at[b].insts.len; k++)                                        \
            for (struct inst *i = inst_at(s, b, k); i; i = NULL)

/* ---- what the affine warp knows ---- */

static bool is_compare(const struct inst *i) {
    return i->op == OP_ISETP || i->op == OP_ISETPX;
}

static bool is_access(const struct inst *i) {
    bool kind = i->op == OP_LD || i->op == OP_ST || i->op == OP_ATOM || i->op == OP_RED;
    return kind && (i->m.space == MS_GLOBAL || i->m.space == MS_SHARED) && !i->frame && !i->m.vol;
}

static bool is_branch(const struct inst *i) {
    return i->op == OP_BRA || i->op == OP_EXIT;
}

/* Operations that take and make tuples. */
static bool makes_tuples(const struct inst *i) {
    switch ((enum op)i->op) {
    case OP_MOV:
    case OP_NOT:
    case OP_IADD:
    case OP_ISUB:
    case OP_IMUL:
    case OP_IMAD:
    case OP_SHL:
    case OP_SEL:
    case OP_IMIN:
    case OP_IMAX:
    case OP_IABS:
    case OP_IREM:
    case OP_AND:
    case OP_OR:
        return true;
    default:
        return false;
    }
}

/* Those that make one half of a tuple of 64 bits: whether the whole is one is asked of the pair. */
static bool makes_halves(const struct inst *i) {
    bool sign = i->op == OP_SHR && i->m.sgn && i->src[1].kind == O_IMM && i->src[1].v == 31;
    return sign || i->op == OP_IADDC || i->op == OP_ISUBC || i->op == OP_SHLHI || i->op == OP_IMULW ||
           i->op == OP_IMADW;
}

static bool is_choice_op(const struct inst *i) {
    return i->op == OP_SEL || i->op == OP_IMIN || i->op == OP_IMAX || i->op == OP_IABS || is_guarded(i);
}

static bool is_low_mask(const struct opd *o) {
    return o->kind == O_IMM && o->v && !(o->v & (o->v + 1));
}

/* Of products, shifts and remainders one side is the same in the whole grid. */
static bool factors_uniform(const struct splitter *s, uint32_t b, uint32_t k) {
    const struct inst *i = inst_at(s, b, k);
    uint32_t x = class_of_source(s->c, b, k, 0).deps,
             y = i->nsrc > 1 ? class_of_source(s->c, b, k, 1).deps : 0;
    switch ((enum op)i->op) {
    case OP_IMUL:
    case OP_IMAD:
    case OP_IMULW:
    case OP_IMADW:
        return !x || !y;
    case OP_SHL:
    case OP_SHLHI:
    case OP_IREM:
        return !y;
    case OP_AND:
        return is_low_mask(&i->src[1]);
    case OP_OR: /* with bits that are zero, which the class of the result tells */
        return !(class_of_result(s->c, b, k, 0).lack & LACK_BLOCK);
    default:
        return true;
    }
}

static bool refuse(struct splitter *s, uint32_t n, const char *why) {
    if (!s->why[n])
        s->why[n] = why;
    return false;
}

static bool is_affine(const struct splitter *s, struct vclass c) {
    return class_affine(c, ALLOWED | (dac_rule(s->params, DAC_RULE_ROUNDS) ? 0 : LACK_NONE));
}

/* Whether the affine warp could do it if it had what it needs. */
static bool knows(struct splitter *s, uint32_t b, uint32_t k) {
    const struct inst *i = inst_at(s, b, k);
    uint32_t n = no_of(s, b, k);
    if (i->op == OP_BRA || i->op == OP_EXIT || i->op == OP_BAR)
        return true;
    if (i->frame)
        return refuse(s, n, "a place in the frame");
    if (is_access(i))
        return is_affine(s, class_of_source(s->c, b, k, 0)) || refuse(s, n, "address is not affine");
    if (is_compare(i)) {
        struct vclass x = class_of_source(s->c, b, k, 0), y = class_of_source(s->c, b, k, 1);
        if (i->op == OP_ISETPX && (x.deps | y.deps))
            return refuse(s, n, "a comparison of 64 bits that are not the same in all threads");
        if (!is_affine(s, x) || !is_affine(s, y))
            return refuse(s, n, "an operand is not affine");
        return class_uniform_block(x) || class_uniform_block(y) || refuse(s, n, "no operand is a scalar");
    }
    if (i->op == OP_S2R)
        return i->m.mode <= SR_CTAID_Z || i->m.mode == SR_DYN_SMEM || i->m.mode == SR_ZERO ||
               refuse(s, n, "a special register");
    if (i->op == OP_PLOP)
        return true;
    bool computes = op_info[i->op].unit != UNIT_CTRL && op_info[i->op].form != FORM_MEM &&
                    op_info[i->op].form != FORM_TEX && op_info[i->op].form != FORM_WARP &&
                    !(op_info[i->op].flags & (OPF_EFFECT | OPF_LANE | OPF_CROSS)) && i->op != OP_P2R &&
                    i->op != OP_R2P;
    if (!computes && i->op != OP_LDC)
        return refuse(s, n, op_info[i->op].flags & OPF_LOAD ? "loaded from memory" : "no affine operation");
    bool uniform = true;
    for (uint32_t x = 0; x < i->nsrc; x++)
        uniform &= !class_of_source(s->c, b, k, x).deps;
    if (uniform)
        return true;
    if (!computes)
        return refuse(s, n, "loaded from memory");
    if (is_guarded(i) && (i->op == OP_SEL || i->op == OP_IMIN || i->op == OP_IMAX || i->op == OP_IABS))
        return refuse(s, n, "a choice under a guard");
    if (!factors_uniform(s, b, k))
        return refuse(s, n, "a factor is not the same in the whole grid");
    if (makes_halves(i))
        return true;
    return (makes_tuples(i) && is_affine(s, class_of_result(s->c, b, k, 0))) ||
           refuse(s, n, "result is not affine");
}

/* ---- versions ---- */

static struct vclass split_class(const struct splitter *s, uint32_t split) {
    return class_of(s->c, s->c->reach.n + s->c->npairs + split);
}

/* What is made in block home and read in block is of the same round in all threads. */
static bool same_round(const struct splitter *s, uint32_t home, uint32_t block) {
    const struct control *c = &s->c->control;
    if (!dac_rule(s->params, DAC_RULE_ROUNDS))
        return true;
    for (uint32_t w = 0; w < c->words; w++)
        for (bits left = control_left(c, home, block, w); left; left &= left - 1)
            if (split_class(s, 64 * w + (uint32_t)__builtin_ctzll(left)).deps)
                return false;
    return true;
}

static bool read_good(const struct splitter *s, uint32_t v, uint32_t block) {
    return v != NONE && s->vgood[v] && same_round(s, s->r->at[v].block, block);
}

/* All threads come to the block on the same way, as far as that decides which input of a merge they have. */
static bool one_way(const struct splitter *s, uint32_t block) {
    const bits *meets = control_meets(&s->c->control, block);
    if (!dac_rule(s->params, DAC_RULE_MERGE))
        return true;
    for (uint32_t w = 0; w < s->c->control.words; w++)
        for (bits left = meets[w]; left; left &= left - 1)
            if (split_class(s, 64 * w + (uint32_t)__builtin_ctzll(left)).deps)
                return false;
    return true;
}

static bool merge_good(const struct splitter *s, uint32_t v) {
    const struct version *x = &s->r->at[v];
    const struct block *b = &s->f->blocks.at[x->block];
    uint32_t only = NONE;
    bool differs = false;
    for (uint32_t k = 0; k < b->pred.len; k++) {
        uint32_t in = s->r->inputs[x->input + k];
        if (in == NONE || in == v)
            continue;
        differs |= only != NONE && only != in;
        only = in;
        if (!read_good(s, in, b->pred.at[k]))
            return false;
    }
    return !differs || one_way(s, x->block);
}

static bool version_good(const struct splitter *s, uint32_t v) {
    const struct version *x = &s->r->at[v];
    if (x->kind == VERSION_ENTRY)
        return true;
    if (x->kind == VERSION_MERGE)
        return merge_good(s, v);
    return s->good[no_of(s, x->block, x->index)] && !is_access(inst_at(s, x->block, x->index)) &&
           (x->before == NONE || read_good(s, x->before, x->block));
}

/* Reads of an instruction that its copy in the affine stream has: of accesses, only address and guard. */
static bool copy_reads(const struct inst *i, const struct values *v, uint32_t value) {
    if (!is_access(i))
        return true;
    if (i->guard.id != VPRED_PT && value == value_of_pred(v, i->guard.id))
        return true;
    return i->src[0].kind == O_REG && i->src[0].v != VREG_RZ &&
           value - value_of_opd(v, &i->src[0]) < inst_src_words(i, 0);
}

/* Calls the statement for each version v that the affine copy of instruction k of block b reads. */
#define EACH_READ(s, b, k, v, ...)                                                                           \
    do {                                                                                                     \
        struct span span_[MAX_SPANS];                                                                        \
        const struct inst *i_ = inst_at(s, b, k);                                                            \
        uint32_t n_ = inst_reads(&(s)->r->v, i_, span_);                                                     \
        for (uint32_t j_ = 0; j_ < n_; j_++)                                                                 \
            for (uint32_t w_ = 0; w_ < span_[j_].n; w_++)                                                    \
                if (copy_reads(i_, &(s)->r->v, span_[j_].first + w_)) {                                      \
                    uint32_t v = reach_read((s)->r, b, k, span_[j_].first + w_);                             \
                    __VA_ARGS__                                                                              \
                }                                                                                            \
    } while (0)

static bool inst_good(struct splitter *s, uint32_t b, uint32_t k) {
    uint32_t n = no_of(s, b, k);
    if (!s->bgood[b])
        return refuse(s, n, "a branch before it depends on data");
    bool ok = true;
    EACH_READ(s, b, k, v, ok &= read_good(s, v, b););
    return ok || refuse(s, n, "needs a value that is not affine here");
}

static bool block_good(const struct splitter *s, uint32_t b) {
    const struct control *c = &s->c->control;
    for (uint32_t k = c->dep_at[b]; k < c->dep_at[b + 1]; k++) {
        const struct block *from = &s->f->blocks.at[c->deps[k]];
        if (!from->insts.len || !s->bgood[c->deps[k]] || !s->good[no_of(s, c->deps[k], from->insts.len - 1)])
            return false;
    }
    return true;
}

/* Drops what cannot be, until nothing changes. */
static void settle_good(struct splitter *s) {
    for (bool again = true; again;) {
        again = false;
        for (uint32_t v = 0; v < s->r->n; v++)
            if (s->vgood[v] && !version_good(s, v))
                again = true, s->vgood[v] = false;
        for (uint32_t b = 0; b < s->f->blocks.len; b++)
            if (s->bgood[b] && !block_good(s, b))
                again = true, s->bgood[b] = false;
        EACH_INST(s, b, k, i) {
            uint32_t n = no_of(s, b, k);
            if (s->good[n] && !inst_good(s, b, k))
                again = true, s->good[n] = false;
        }
    }
}

/* ---- conditions ---- */

/* The instruction chooses between values by something that differs between threads. */
static bool chooses(struct splitter *s, uint32_t b, uint32_t k) {
    const struct inst *i = inst_at(s, b, k);
    if (!inst_dst_words(i) || !is_choice_op(i))
        return false;
    uint32_t deps = 0;
    if (i->op == OP_IMIN || i->op == OP_IMAX || i->op == OP_IABS)
        deps = class_of_source(s->c, b, k, 0).deps | (i->nsrc > 1 ? class_of_source(s->c, b, k, 1).deps : 0);
    const struct popd *preds[2] = {&i->guard, &i->psrc[0]};
    for (uint32_t x = 0; x < 2; x++) {
        uint32_t v =
            preds[x]->id == VPRED_PT ? NONE : reach_read(s->r, b, k, value_of_pred(&s->r->v, preds[x]->id));
        deps |= v == NONE ? 0 : class_read(s->c, v, b).deps;
    }
    return deps;
}

/* The conditions behind all that an instruction reads, and what a guarded one leaves where it is skipped. */
static uint64_t choices_read(struct splitter *s, uint32_t b, uint32_t k) {
    const struct inst *i = inst_at(s, b, k);
    uint64_t all = 0;
    EACH_READ(s, b, k, v, all |= v == NONE ? 0 : s->choices[v];);
    for (uint32_t w = 0;
         is_guarded(i) && i->dst.kind == O_REG && i->dst.v != VREG_RZ && w < inst_dst_words(i); w++) {
        uint32_t v = reach_written(s->r, b, k, value_of_opd(&s->r->v, &i->dst) + w);
        all |= v == NONE || s->r->at[v].before == NONE ? 0 : s->choices[s->r->at[v].before];
    }
    return all;
}

static uint64_t choices_of(struct splitter *s, uint32_t v) {
    const struct version *x = &s->r->at[v];
    uint64_t all = 0;
    if (x->kind == VERSION_MERGE)
        for (uint32_t k = 0; k < s->f->blocks.at[x->block].pred.len; k++) {
            uint32_t in = s->r->inputs[x->input + k];
            all |= in == NONE ? 0 : s->choices[in];
        }
    if (x->kind != VERSION_WRITE || x->value >= s->r->v.nwords)
        return all; /* a condition by itself is no tuple */
    uint32_t n = no_of(s, x->block, x->index);
    all = choices_read(s, x->block, x->index) | (x->before == NONE ? 0 : s->choices[x->before]);
    return all | (s->choice_no[n] < 0 ? 0 : UINT64_C(1) << s->choice_no[n]);
}

/* The traits of source word w of source x, as read; 0 for constants. */
static uint8_t source_traits(const struct splitter *s, uint32_t b, uint32_t k, uint32_t x, uint32_t w) {
    const struct opd *o = &inst_at(s, b, k)->src[x];
    if (o->kind != O_REG || o->v == VREG_RZ)
        return 0;
    uint32_t v = reach_read(s->r, b, k, value_of_opd(&s->r->v, o) + w);
    return v == NONE ? 0 : s->traits[v];
}

static bool all_uniform(const struct splitter *s, uint32_t b, uint32_t k) {
    const struct inst *i = inst_at(s, b, k);
    for (uint32_t x = 0; x < i->nsrc; x++)
        if (class_of_source(s->c, b, k, x).deps)
            return false;
    return true;
}

static uint8_t traits_of(const struct splitter *s, uint32_t v) {
    const struct version *x = &s->r->at[v];
    uint8_t all = 0;
    if (x->kind == VERSION_MERGE)
        for (uint32_t k = 0; k < s->f->blocks.at[x->block].pred.len; k++) {
            uint32_t in = s->r->inputs[x->input + k];
            all |= in == NONE ? 0 : s->traits[in];
        }
    if (x->kind != VERSION_WRITE || x->value >= s->r->v.nwords)
        return all;
    const struct inst *i = inst_at(s, x->block, x->index);
    if (i->op == OP_LDC || all_uniform(s, x->block, x->index))
        return 0;
    all = x->before == NONE ? 0 : s->traits[x->before];
    for (uint32_t k = 0; k < i->nsrc; k++)
        for (uint32_t w = 0; w < inst_src_words(i, k); w++)
            all |= source_traits(s, x->block, x->index, k, w);
    bool upper = x->value != value_of_opd(&s->r->v, &i->dst) || i->op == OP_SHLHI || i->op == OP_SHR ||
                 (form_info[op_info[i->op].form].psrc && i->psrc[0].id != VPRED_PT && i->op != OP_SEL);
    if (makes_halves(i))
        all = (uint8_t)((all & ~TRAIT_HIGH) | (upper ? TRAIT_HIGH : 0));
    return (uint8_t)(all | (i->op == OP_IREM || i->op == OP_AND ? TRAIT_MOD : 0));
}

/* The affine warp cannot say the result: of upper words, or of remainders, that do not go together. */
static bool clashes(const struct splitter *s, uint32_t b, uint32_t k) {
    const struct inst *i = inst_at(s, b, k);
    if (is_access(i) || is_branch(i) || i->op == OP_MOV || all_uniform(s, b, k))
        return false;
    uint8_t mods = 0;
    for (uint32_t x = 0; x < i->nsrc; x++)
        for (uint32_t w = 0; w < inst_src_words(i, x); w++) {
            uint8_t t = source_traits(s, b, k, x, w);
            bool place = (i->op == OP_IADDC || i->op == OP_ISUBC) ? i->psrc[0].id != VPRED_PT
                         : i->op == OP_SHLHI                      ? x == 2
                                                                  : i->op == OP_IMADW && x == 2 && w == 1;
            if (t & TRAIT_HIGH && !place)
                return true;
            mods = (uint8_t)(mods + ((t & TRAIT_MOD) != 0 && !(t & TRAIT_HIGH)));
        }
    bool choice = i->op == OP_SEL || i->op == OP_IMIN || i->op == OP_IMAX || is_compare(i);
    return mods > 1 ? !choice : mods && (i->op == OP_IREM || i->op == OP_AND);
}

/* Finds the conditions behind every tuple, and drops chains with too many or with one around a loop; true
 * when some were dropped. */
static bool settle_choices(struct splitter *s) {
    int32_t next = 0;
    bool dropped = false;
    EACH_INST(s, b, k, i) {
        uint32_t n = no_of(s, b, k);
        s->choice_no[n] = -1;
        if (!s->good[n] || !chooses(s, b, k))
            continue;
        if (next < MAX_CHOICES)
            s->choice_no[n] = next++;
        else
            s->good[n] = false, dropped = true;
    }
    memset(s->choices, 0, s->r->n * sizeof *s->choices);
    memset(s->traits, 0, s->r->n * sizeof *s->traits);
    for (bool again = true; again;) {
        again = false;
        for (uint32_t v = 0; v < s->r->n; v++) {
            uint64_t all = s->vgood[v] ? choices_of(s, v) : 0;
            uint8_t traits = s->vgood[v] ? traits_of(s, v) : 0;
            again |= all != s->choices[v] || (traits & ~s->traits[v]);
            s->choices[v] = all;
            s->traits[v] |= traits;
        }
    }
    EACH_INST(s, b, k, i) {
        uint32_t n = no_of(s, b, k);
        if (!s->good[n])
            continue;
        uint64_t all = choices_read(s, b, k);
        if (clashes(s, b, k)) {
            refuse(s, n, "remainders, or words of 64 bits, that do not go together");
            s->good[n] = false;
            dropped = true;
            continue;
        }
        bool own = s->choice_no[n] >= 0, around = own && all >> s->choice_no[n] & 1;
        if (around || __builtin_popcountll(all) + (own && !around) > MAX_CONDITIONS) {
            refuse(s, n, around ? "a choice goes around a loop" : "more than two conditions");
            s->good[n] = false;
            dropped = true;
        }
    }
    return dropped;
}

/* ---- whether the kernel can be split at all ---- */

/* What an ordered access brings, or an atomic. */
static bool is_news(const struct inst *i) {
    return (op_info[i->op].flags & OPF_LOAD) && (i->m.vol || op_info[i->op].flags & OPF_ATOMIC);
}

static bool version_news(const struct splitter *s, const bool *news, uint32_t v) {
    const struct version *x = &s->r->at[v];
    bool any = false;
    if (x->kind == VERSION_MERGE)
        for (uint32_t k = 0; k < s->f->blocks.at[x->block].pred.len; k++)
            any |= s->r->inputs[x->input + k] != NONE && news[s->r->inputs[x->input + k]];
    if (x->kind != VERSION_WRITE)
        return any;
    const struct inst *i = inst_at(s, x->block, x->index);
    struct span span[MAX_SPANS];
    uint32_t n = inst_reads(&s->r->v, i, span);
    for (uint32_t j = 0; j < n; j++)
        for (uint32_t w = 0; w < span[j].n; w++) {
            uint32_t from = reach_read(s->r, x->block, x->index, span[j].first + w);
            any |= from != NONE && news[from];
        }
    return any || is_news(i) || (x->before != NONE && news[x->before]);
}

/* Some loop goes on as long as others have not written something. */
static bool polls(struct splitter *s) {
    bool *news = arena_array(s->a, bool, s->r->n + 1);
    for (bool again = true; again;) {
        again = false;
        for (uint32_t v = 0; v < s->r->n; v++)
            if (!news[v] && version_news(s, news, v))
                again = news[v] = true;
    }
    EACH_INST(s, b, k, i) {
        if (!is_branch(i) || i->guard.id == VPRED_PT || !s->f->blocks.at[b].depth)
            continue;
        uint32_t v = reach_read(s->r, b, k, value_of_pred(&s->r->v, i->guard.id));
        if (v != NONE && news[v])
            return true;
    }
    return false;
}

/* Why the streams might not go the same ways in the same order, or wait for each other; NULL: they cannot. */
static const char *obstacle(struct splitter *s) {
    if (s->p->fns.len > 1 || s->f->calls)
        return "it calls functions";
    EACH_INST(s, b, k, i) {
        bool varies = class_order(s->c, b).deps & ~(uint32_t)DEP_BLOCK;
        if (i->op == OP_BRX || i->op == OP_CALL || i->op == OP_CALLI || i->op == OP_RET)
            return "it has an indexed branch or a call";
        if (i->op == OP_MBAR || i->op == OP_NANOSLEEP || i->op == OP_LDGSTS)
            return "it waits for memory";
        if (i->op == OP_BAR && (i->m.mode != BAR_SYNC || i->src[0].kind != O_IMM || i->src[0].v ||
                                (i->src[1].kind == O_IMM && i->src[1].v) || is_guarded(i)))
            return "it has a named barrier";
        if (i->op == OP_BAR && varies && !i->m.aligned)
            return "a barrier may be reached by parts of warps";
        if ((op_info[i->op].flags & OPF_CROSS) && varies)
            return "lanes exchange values on a path that not all take";
    }
    return polls(s) ? "it polls memory" : NULL;
}

/* ---- data that may be fetched ahead ---- */

/* Walks from behind instruction k of block b to all that may follow before a barrier of both streams. */
static void reach_from(const struct splitter *s, uint32_t b, uint32_t k, bool *seen_block, bool *reached) {
    const struct fn *f = s->f;
    for (; k < f->blocks.at[b].insts.len; k++) {
        if (s->barrier[no_of(s, b, k)])
            return;
        reached[no_of(s, b, k)] = true;
    }
    for (uint32_t x = 0; x < f->blocks.at[b].succ.len; x++) {
        uint32_t to = f->blocks.at[b].succ.at[x];
        if (!seen_block[to]) {
            seen_block[to] = true;
            reach_from(s, to, 0, seen_block, reached);
        }
    }
}

static bool add_base(uint32_t *list, uint8_t *n, const struct access_base *b) {
    if (b->kind != BASE_PARAM && b->kind != BASE_SYMBOL)
        return false;
    uint32_t v = b->v | (b->kind == BASE_SYMBOL ? DAC_SYMBOL : 0);
    for (uint32_t k = 0; k < *n; k++)
        if (list[k] == v)
            return true;
    if (*n == DAC_BASES)
        return false;
    list[(*n)++] = v;
    return true;
}

static bool add_bases(const struct splitter *s, uint32_t *list, uint8_t *n, uint64_t bases) {
    bool ok = !(bases & BASE_UNKNOWN);
    for (uint64_t left = bases; ok && left; left &= left - 1)
        ok = add_base(list, n, &s->accesses->bases[__builtin_ctzll(left)]);
    return ok;
}

/* Something that loads must not be fetched ahead of, and all that may follow it in its barrier interval,
 * around loops, too. */
struct writer {
    const struct access *x; /* NULL: a fence, or an atomic, ordered with all */
    const bool *reached;
};
struct writers {
    struct writer *at;
    uint32_t n;
};

static struct writers find_writers(struct splitter *s) {
    struct writers all = {.at = arena_array(s->a, struct writer, s->n + 1)};
    EACH_INST(s, b, k, i) {
        const struct access *x = access_at(s->accesses, 0, b, k);
        bool fence = i->op == OP_MEMBAR || i->m.vol ||
                     ((op_info[i->op].flags & OPF_ATOMIC) && i->m.space != MS_SHARED);
        if (!fence && !(x && x->writes && x->spaces & ~IN_SHARED))
            continue;
        bool *seen = arena_array(s->a, bool, s->f->blocks.len + 1);
        bool *reached = arena_array(s->a, bool, s->n + 1);
        reach_from(s, b, k + 1, seen, reached);
        all.at[all.n++] = (struct writer){fence ? NULL : x, reached};
    }
    return all;
}

/* Whether a load may be fetched ahead. Bases that a launch has to compare are added to f. */
static bool may_fetch(struct splitter *s, const struct writers *all, uint32_t b, uint32_t k,
                      struct dac_fact *f) {
    const struct access *x = access_at(s->accesses, 0, b, k);
    if (!x || x->spaces != IN_GLOBAL)
        return false;
    for (uint32_t n = 0; n < all->n; n++) {
        const struct writer *w = &all->at[n];
        enum access_alias alias = w->x ? access_alias(s->accesses, x, w->x) : ALIAS_MAY;
        if (alias == ALIAS_NO || !w->reached[no_of(s, b, k)] || !dac_rule(s->params, DAC_RULE_ALIAS))
            continue;
        if (alias != ALIAS_ARGUMENTS || !add_bases(s, f->load, &f->nload, x->bases) ||
            !add_bases(s, f->store, &f->nstore, w->x->bases))
            return false;
    }
    return true;
}

/* ---- what the other stream still needs ---- */

struct needs {
    struct splitter *s;
    bool *inst; /* by instruction */
    VEC(uint32_t) work;
};

static void need_version(struct needs *m, uint32_t v) {
    if (v != NONE)
        vec_push(&m->work, v);
}

/* The copy of instruction k in the other stream reads these. */
static void need_reads(struct needs *m, uint32_t b, uint32_t k) {
    struct splitter *s = m->s;
    uint32_t n = no_of(s, b, k);
    const struct inst *i = inst_at(s, b, k);
    if (s->pred[n])
        return;
    struct span span[MAX_SPANS];
    uint32_t spans = inst_reads(&s->r->v, i, span);
    for (uint32_t j = 0; j < spans; j++)
        for (uint32_t w = 0; w < span[j].n; w++) {
            uint32_t value = span[j].first + w;
            bool guard = i->guard.id != VPRED_PT && value == value_of_pred(&s->r->v, i->guard.id);
            if (s->address[n] && !guard && copy_reads(i, &s->r->v, value)) {
                bool also = false; /* data that is in the address's register, too */
                for (uint32_t x = 1; x < i->nsrc; x++)
                    also |= i->src[x].kind == O_REG && i->src[x].v != VREG_RZ &&
                            value - value_of_opd(&s->r->v, &i->src[x]) < inst_src_words(i, x);
                if (!also)
                    continue;
            }
            need_version(m, reach_read(s->r, b, k, value));
        }
}

/* Marks what the other stream is made of. */
static void find_needs(struct needs *m) {
    struct splitter *s = m->s;
    bool *seen = arena_array(s->a, bool, s->r->n + 1);
    EACH_INST(s, b, k, i) {
        m->inst[no_of(s, b, k)] = false;
        if (!inst_is_pure(i)) {
            m->inst[no_of(s, b, k)] = true;
            need_reads(m, b, k);
        }
    }
    while (m->work.len) {
        uint32_t v = m->work.at[--m->work.len];
        const struct version *x = &s->r->at[v];
        if (seen[v])
            continue;
        seen[v] = true;
        for (uint32_t k = 0; x->kind == VERSION_MERGE && k < s->f->blocks.at[x->block].pred.len; k++)
            need_version(m, s->r->inputs[x->input + k]);
        if (x->kind != VERSION_WRITE)
            continue;
        need_version(m, x->before);
        if (!m->inst[no_of(s, x->block, x->index)]) {
            m->inst[no_of(s, x->block, x->index)] = true;
            need_reads(m, x->block, x->index);
        }
    }
}

/* ---- choosing ---- */

static void choose_accesses(struct splitter *s) {
    EACH_INST(s, b, k, i) {
        uint32_t n = no_of(s, b, k);
        s->address[n] = is_access(i) && s->good[n];
    }
}

/* A comparison whose result the other stream takes from a queue. */
static bool can_dequeue(const struct inst *i) {
    return is_compare(i) && !is_guarded(i) && i->pdst[0].id != VPRED_PT && i->pdst[1].id == VPRED_PT;
}

/* Comparisons that the other stream would do itself. A predicate that it takes from a queue makes others
 * unnecessary, so this goes on until nothing changes. */
static void choose_predicates(struct splitter *s) {
    struct needs m = {.s = s, .inst = arena_array(s->a, bool, s->n + 1)};
    for (bool again = true; again;) {
        again = false;
        find_needs(&m);
        EACH_INST(s, b, k, i) {
            uint32_t n = no_of(s, b, k);
            bool want = s->good[n] && can_dequeue(i) && m.inst[n];
            again |= want != s->pred[n] && want;
            s->pred[n] |= want;
        }
    }
    find_needs(&m);
    EACH_INST(s, b, k, i)
    s->pred[no_of(s, b, k)] &= m.inst[no_of(s, b, k)];
    vec_free(&m.work);
}

/* ---- the affine stream ---- */

struct slice {
    struct splitter *s;
    bool *block, *version;
    VEC(struct def_site) work;
};

static void slice_block(struct slice *x, uint32_t b);

static void slice_inst(struct slice *x, uint32_t b, uint32_t k) {
    uint32_t n = no_of(x->s, b, k);
    if (x->s->affine[n])
        return;
    x->s->affine[n] = true;
    vec_push(&x->work, (struct def_site){b, k});
}

static void slice_version(struct slice *x, uint32_t v) {
    const struct reach *r = x->s->r;
    if (v == NONE || x->version[v])
        return;
    x->version[v] = true;
    const struct version *at = &r->at[v];
    if (at->kind == VERSION_WRITE) {
        slice_inst(x, at->block, at->index);
        slice_version(x, at->before);
    }
    for (uint32_t k = 0; at->kind == VERSION_MERGE && k < x->s->f->blocks.at[at->block].pred.len; k++)
        slice_version(x, r->inputs[at->input + k]);
}

/* The branches that a block depends on. */
static void slice_block(struct slice *x, uint32_t b) {
    const struct control *c = &x->s->c->control;
    if (x->block[b])
        return;
    x->block[b] = true;
    for (uint32_t k = c->dep_at[b]; k < c->dep_at[b + 1]; k++)
        slice_inst(x, c->deps[k], x->s->f->blocks.at[c->deps[k]].insts.len - 1);
}

/* All that what goes into the queues needs, and the barriers. */
static void find_slice(struct splitter *s) {
    struct slice x = {.s = s,
                      .block = arena_array(s->a, bool, s->f->blocks.len + 1),
                      .version = arena_array(s->a, bool, s->r->n + 1)};
    EACH_INST(s, b, k, i) {
        uint32_t n = no_of(s, b, k);
        if (s->address[n] || s->pred[n] || s->barrier[n])
            slice_inst(&x, b, k);
    }
    while (x.work.len) {
        struct def_site at = x.work.at[--x.work.len];
        slice_block(&x, at.block);
        EACH_READ(s, at.block, at.index, v, slice_version(&x, v););
    }
    vec_free(&x.work);
}

/* A copy of an instruction for the affine stream. */
static struct inst affine_copy(const struct splitter *s, const struct inst *i, uint32_t n) {
    struct inst copy = *i;
    copy.id = 0;
    copy.m.vol |= s->pred[n]; /* no pass may think that nobody looks at it */
    if (!s->address[n])
        return copy;
    copy = inst_new(OP_ENQ);
    copy.m = i->m;
    copy.m.mode = s->data[n] ? ENQ_DATA : ENQ_ADDR;
    copy.m.order = 0;
    copy.guard = i->guard;
    copy.src[0] = i->src[0];
    copy.nsrc = 1;
    copy.imm = i->imm;
    copy.line = i->line;
    copy.dbg_file = i->dbg_file;
    copy.dbg_line = i->dbg_line;
    return copy;
}

static void set_fact(struct splitter *s, struct program *p, struct inst *i, const struct dac_fact *f) {
    struct dac_fact *to = fact_make(p, s->run->pass, i, sizeof *to);
    *to = *f;
}

static void note_roles(struct program *p, struct inst *i, const struct dac_fact *f) {
    static const char *const names[] = {"enq", "enq.pred", "deq", "deq.pred", "barrier of both streams"};
    for (uint32_t k = 0; k < 5; k++)
        if (f->roles >> k & 1)
            note_add(p, i, "%s%s #%u", names[k], k == 0 || k == 2 ? f->data ? ".data" : ".addr" : "",
                     f->number);
}

/* The block at which the affine stream goes on behind a branch that it does not have. */
static uint32_t past(const struct splitter *s, uint32_t b) {
    return s->f->blocks.at[b].ipdom;
}

static void close_affine(struct splitter *s, struct program *p, uint32_t b) {
    struct fn *to = p->fns.at[0];
    const struct block *from = &s->f->blocks.at[b];
    struct block *out = &to->blocks.at[b];
    const struct inst *last = from->insts.len ? &from->insts.at[from->insts.len - 1] : NULL;
    bool kept = last && is_branch(last) && s->affine[no_of(s, b, from->insts.len - 1)];
    if (kept) {
        struct inst copy = *last;
        copy.id = 0;
        vec_push(&out->insts, copy);
        struct dac_fact f = {.roles = DAC_BRANCH, .number = ++s->count};
        if (last->op == OP_BRA && is_guarded(last)) { /* one stream may have it the other way around */
            set_fact(s, p, &out->insts.at[out->insts.len - 1], &f);
            set_fact(s, s->p, &s->f->blocks.at[b].insts.at[from->insts.len - 1], &f);
        }
    }
    if (!last || !ends_block(last) || kept || !is_guarded(last)) {
        if (last && ends_block(last) && !kept) {
            struct inst copy = *last;
            copy.id = 0;
            vec_push(&out->insts, copy);
        }
        for (uint32_t k = 0; k < from->succ.len; k++)
            vec_push(&out->succ, from->succ.at[k]);
        return;
    }
    uint32_t next = past(s, b); /* a branch, or an exit of some, that nothing here depends on */
    if (next == NO_BLOCK) {
        vec_push(&out->insts, inst_new(OP_EXIT));
        return;
    }
    struct inst jump = inst_new(OP_BRA);
    jump.target = next;
    vec_push(&out->insts, jump);
    vec_push(&out->succ, next);
}

static bool build_affine(struct splitter *s, const struct dac_fact *facts) {
    struct program *p = program_stream(s->p, DAC_STREAM);
    struct fn *to = p->fns.at[0];
    for (uint32_t v = 0; v < s->f->vregs.len; v++)
        vec_push(&to->vregs, s->f->vregs.at[v]);
    to->npreds = s->f->npreds;
    for (uint32_t b = 0; b < s->f->blocks.len; b++)
        fn_block(to);
    for (uint32_t b = 0; b < s->f->blocks.len; b++) {
        const struct block *from = &s->f->blocks.at[b];
        for (uint32_t k = 0; k < from->insts.len; k++) {
            uint32_t n = no_of(s, b, k);
            if (!s->affine[n] || is_branch(&from->insts.at[k]))
                continue;
            vec_push(&to->blocks.at[b].insts, affine_copy(s, &from->insts.at[k], n));
            struct inst *copy = &to->blocks.at[b].insts.at[to->blocks.at[b].insts.len - 1];
            struct dac_fact f = facts[n];
            f.roles = (s->address[n] ? DAC_ENQ : 0) | (s->pred[n] ? DAC_ENQ_PRED : 0) |
                      (s->barrier[n] ? DAC_BAR : 0);
            if (f.roles) {
                set_fact(s, p, copy, &f);
                note_roles(p, copy, &f);
            }
        }
        close_affine(s, p, b);
    }
    opt_simplify(p, to);
    if (dac_registers(p, to, s->params))
        return true;
    s->p->streams.len--;
    program_destroy(p);
    return false;
}

/* ---- the other stream ---- */

static void rewrite(struct splitter *s, const struct dac_fact *facts) {
    EACH_INST(s, b, k, i) {
        uint32_t n = no_of(s, b, k);
        struct dac_fact f = facts[n];
        f.roles = (s->address[n] ? DAC_DEQ : 0) | (s->pred[n] ? DAC_DEQ_PRED | DAC_TAKE : 0) |
                  (s->barrier[n] ? DAC_BAR : 0);
        if (s->address[n]) {
            i->src[0] = opd_const(BANK_QUEUE, 0);
            i->imm = 0;
        }
        if (s->pred[n]) {
            struct inst take = inst_new(OP_PLOP);
            take.m.vol = true;
            take.pdst[0] = i->pdst[0];
            take.line = i->line;
            take.dbg_file = i->dbg_file;
            take.dbg_line = i->dbg_line;
            *i = take;
        }
        if (f.roles) {
            set_fact(s, s->p, i, &f);
            note_roles(s->p, i, &f);
        }
    }
}

/* ---- the whole ---- */

static void note_reasons(struct splitter *s) {
    EACH_INST(s, b, k, i) {
        uint32_t n = no_of(s, b, k);
        if ((is_access(i) || can_dequeue(i)) && !s->address[n] && !s->pred[n] && s->why[n])
            note_add(s->p, i, "stays: %s", s->why[n]);
        else if (s->address[n] && i->op == OP_LD && !s->data[n])
            note_add(s->p, i, "not fetched ahead");
    }
}

static void allocate(struct splitter *s) {
    s->good = arena_array(s->a, bool, s->n + 1);
    s->vgood = arena_array(s->a, bool, s->r->n + 1);
    s->bgood = arena_array(s->a, bool, s->f->blocks.len + 1);
    s->choices = arena_array(s->a, uint64_t, s->r->n + 1);
    s->traits = arena_array(s->a, uint8_t, s->r->n + 1);
    s->choice_no = arena_array(s->a, int32_t, s->n + 1);
    s->why = arena_array(s->a, const char *, s->n + 1);
    s->address = arena_array(s->a, bool, s->n + 1);
    s->data = arena_array(s->a, bool, s->n + 1);
    s->pred = arena_array(s->a, bool, s->n + 1);
    s->affine = arena_array(s->a, bool, s->n + 1);
    s->barrier = arena_array(s->a, bool, s->n + 1);
    memset(s->vgood, 1, s->r->n * sizeof *s->vgood);
    memset(s->bgood, 1, s->f->blocks.len * sizeof *s->bgood);
}

/* Finds out what goes where; NULL, or why the kernel stays whole. */
static const char *decide(struct splitter *s) {
    const char *why = obstacle(s);
    if (why)
        return why;
    EACH_INST(s, b, k, i)
    s->good[no_of(s, b, k)] = knows(s, b, k);
    do
        settle_good(s);
    while (settle_choices(s));
    choose_accesses(s);
    choose_predicates(s);
    bool any = false;
    EACH_INST(s, b, k, i) {
        uint32_t n = no_of(s, b, k);
        bool all = !(class_order(s->c, b).deps & ~(uint32_t)DEP_BLOCK);
        s->barrier[n] = i->op == OP_BAR && s->good[n] && all;
        if (i->op == OP_BAR && s->good[n] && !all)
            return "threads of a block come to different barriers";
        any |= s->address[n];
    }
    return any ? NULL : "no address is affine";
}

/* Instructions that compute on scalars and indices of threads (figure 6). */
static void count_affine(struct splitter *s) {
    struct dac_static *n = fact_make(s->p, dac_static_owner(), NULL, sizeof *n);
    EACH_INST(s, b, k, i) {
        struct vclass c = class_of_reads(s->c, b, k);
        bool loads = op_info[i->op].flags & (OPF_LOAD | OPF_CROSS);
        n->insts++;
        n->affine += class_affine(c, ALLOWED) && !loads;
    }
}

static bool split_kernel(const struct pass_run *run) {
    struct arena a = {0};
    struct splitter s = {.run = run, .p = run->p, .f = run->p->fns.at[0], .a = &a, .params = run->params};
    cfg_joins(s.f);
    s.accesses = accesses_of(&a, s.p);
    s.c = classes_of(&a, s.f, &(struct class_options){.loads = LOADS_VARY, .accesses = s.accesses});
    s.r = &s.c->reach;
    for (uint32_t b = 0; b < s.f->blocks.len; b++)
        s.n += s.f->blocks.at[b].insts.len;
    allocate(&s);
    count_affine(&s);
    const char *why = decide(&s);
    struct dac_fact *facts = arena_array(&a, struct dac_fact, s.n + 1);
    if (!why) {
        const struct writers writers = find_writers(&s);
        EACH_INST(&s, b, k, i) {
            uint32_t n = no_of(&s, b, k);
            if (s.address[n] || s.pred[n] || s.barrier[n])
                facts[n].number = ++s.count;
            s.data[n] = s.address[n] && i->op == OP_LD && s.params->prefetch &&
                        may_fetch(&s, &writers, b, k, &facts[n]);
            facts[n].data = s.data[n];
        }
        find_slice(&s);
        if (!build_affine(&s, facts))
            why = "the affine stream needs too many registers";
    }
    if (!why) {
        note_reasons(&s);
        rewrite(&s, facts);
    } else if (s.f->blocks.at[0].insts.len) {
        note_add(s.p, &s.f->blocks.at[0].insts.at[0], "not split: %s", why);
    }
    arena_free(&a);
    return !why;
}

/* ---- behind register allocation ---- */

static bool reads_pred(const struct inst *i, uint32_t p) {
    return i->guard.id == p || i->psrc[0].id == p || i->psrc[1].id == p;
}

/* The predicate is taken by the instruction that reads it first, if nothing between takes another. */
static bool fold_take(struct program *p, struct block *b, uint32_t k, const struct mech_pass *owner) {
    struct inst *take = &b->insts.at[k];
    struct dac_fact f = *(const struct dac_fact *)fact_get(p, owner, take);
    f.pred = (uint8_t)take->pdst[0].id;
    for (uint32_t j = k + 1; j < b->insts.len; j++) {
        struct inst *i = &b->insts.at[j];
        const struct dac_fact *other = fact_get(p, owner, i);
        if (other && other->roles & DAC_DEQ_PRED)
            break;
        if (reads_pred(i, f.pred)) {
            struct dac_fact *to = fact_make(p, owner, i, sizeof *to);
            struct dac_fact was = *to;
            *to = was;
            to->roles |= DAC_DEQ_PRED;
            to->pred = f.pred;
            to->pred_number = f.number;
            note_add(p, i, "deq.pred P%u #%u", f.pred, f.number);
            *take = inst_new(OP_NOP);
            return true;
        }
        if (i->pdst[0].id == f.pred || i->pdst[1].id == f.pred)
            break;
    }
    struct dac_fact *own = fact_make(p, owner, take, sizeof *own);
    own->pred = f.pred;
    own->pred_number = f.number;
    take->psrc[0].id = take->pdst[0].id; /* where the predicate is put before it issues */
    return false;
}

static bool fold_takes(const struct pass_run *run) {
    const struct mech_pass *owner = &dac_passes[0];
    struct fn *f = run->p->fns.at[0];
    bool changed = false;
    for (uint32_t b = 0; b < f->blocks.len; b++)
        for (uint32_t k = 0; k < f->blocks.at[b].insts.len; k++) {
            struct inst *i = &f->blocks.at[b].insts.at[k];
            const struct dac_fact *x = i->op == OP_PLOP ? fact_get(run->p, owner, i) : NULL;
            if (x && x->roles & DAC_TAKE)
                changed |= fold_take(run->p, &f->blocks.at[b], k, owner);
        }
    return changed;
}

const struct mech_pass dac_passes[] = {
    {"dac", BEFORE_REGISTERS, split_kernel}, {"dac-takes", AFTER_REGISTERS, fold_takes}, {NULL, 0, NULL}};
