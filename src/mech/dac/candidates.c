/* Which instructions the affine warp can carry out: a greatest fixpoint. At first all whose operation it
 * knows; then those go that need something which it cannot have. An instruction needs the versions it reads
 * (flow/reach.h), made in the same round of the loops around it, and its block needs the branches it depends
 * on. A merge must not depend on the way a thread came: the affine warp has one register for all threads.
 * What of several values a thread has may only depend on conditions that are computed (SEL, minima, guarded
 * writes): at most two in the whole chain, and none that goes around a loop.
 *
 * A kernel is not split when its warps might run their paths in another order than the affine warp, when it
 * waits for other blocks, or when nothing would be gained. */
#include <string.h>

#include "mech/dac/splitter.h"

/* Operations that take and make tuples. */
static bool makes_tuples(const struct inst *i) {
    switch ((enum op)i->op) {
    case OP_MOV:
    case OP_NOT:
    case OP_IADD:
    case OP_IADD3:
    case OP_LEA:
    case OP_ISUB:
    case OP_IMUL:
    case OP_IMAD:
    case OP_SHL:
    case OP_SEL:
    case OP_IMIN:
    case OP_IMAX:
    case OP_IABS:
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
bool dac_knows(struct splitter *s, uint32_t b, uint32_t k) {
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
    if (is_guarded(i) && (i->op == OP_SEL || i->op == OP_IMIN || i->op == OP_IMAX || i->op == OP_IABS))
        return refuse(s, n, "a choice under a guard"); /* two conditions in one */
    bool uniform = true;
    for (uint32_t x = 0; x < i->nsrc; x++)
        uniform &= !class_of_source(s->c, b, k, x).deps;
    if (uniform)
        return true;
    if (!computes)
        return refuse(s, n, "loaded from memory");
    if (!factors_uniform(s, b, k) && dac_rule(s->params, DAC_RULE_FACTORS))
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
bool dac_copy_reads(const struct splitter *s, const struct inst *i, uint32_t value) {
    const struct values *v = &s->r->v;
    if (!is_access(i))
        return true;
    if (i->guard.id != VPRED_PT && value == value_of_pred(v, i->guard.id))
        return dac_rule(s->params, DAC_RULE_GUARD);
    return i->src[0].kind == O_REG && i->src[0].v != VREG_RZ &&
           value - value_of_opd(v, &i->src[0]) < inst_src_words(i, 0);
}

/* A branch that depends on data can be asked of the warps. Not in a loop: the affine warp would wait in each
 * round for the slowest warp of all blocks, and fetch nothing ahead. */
static bool can_ask(const struct splitter *s, uint32_t b, uint32_t k) {
    return s->params->ask && is_branch(inst_at(s, b, k)) && !s->f->blocks.at[b].depth;
}

static bool inst_good(struct splitter *s, uint32_t b, uint32_t k) {
    uint32_t n = no_of(s, b, k);
    if (!s->bgood[b])
        return refuse(s, n, s->block_why[b] ? s->block_why[b] : "a branch before it depends on data");
    bool ok = true;
    EACH_READ(s, b, k, v, ok &= read_good(s, v, b););
    if (!ok && can_ask(s, b, k))
        ok = s->asks[n] = true;
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
void dac_settle(struct splitter *s) {
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
    all = x->before == NONE ? 0 : s->traits[x->before]; /* where a guard skips it */
    if (i->op == OP_LDC || all_uniform(s, x->block, x->index))
        return all;
    for (uint32_t k = 0; k < i->nsrc; k++)
        for (uint32_t w = 0; w < inst_src_words(i, k); w++)
            all |= source_traits(s, x->block, x->index, k, w);
    bool upper = x->value != value_of_opd(&s->r->v, &i->dst) || i->op == OP_SHLHI || i->op == OP_SHR ||
                 (form_info[op_info[i->op].form].psrc && i->psrc[0].id != VPRED_PT && i->op != OP_SEL);
    if (makes_halves(i))
        all = (uint8_t)((all & ~TRAIT_HIGH) | (upper ? TRAIT_HIGH : 0));
    return (uint8_t)(all | (i->op == OP_AND ? TRAIT_MOD : 0));
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
    return mods > 1 ? !choice : mods && i->op == OP_AND;
}

/* The instruction makes four tuples of which some are remainders. A plain one takes seven lanes, a remainder
 * nine: four do not fit. */
static bool exceeds_lanes(const struct splitter *s, uint32_t b, uint32_t k) {
    const struct inst *i = inst_at(s, b, k);
    for (uint32_t w = 0; i->dst.kind == O_REG && i->dst.v != VREG_RZ && w < inst_dst_words(i); w++) {
        uint32_t v = reach_written(s->r, b, k, value_of_opd(&s->r->v, &i->dst) + w);
        if (v != NONE && s->traits[v] & TRAIT_MOD && __builtin_popcountll(s->choices[v]) == MAX_CONDITIONS)
            return true;
    }
    return false;
}

/* Finds the conditions behind every tuple, and drops chains with too many or with one around a loop; true
 * when some were dropped. */
bool dac_settle_choices(struct splitter *s) {
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
        if (exceeds_lanes(s, b, k)) {
            refuse(s, n, "four remainders, which no warp has lanes for");
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

/* Why the streams might not go the same ways in the same order, or wait for each other; NULL: they cannot.
 * Where threads come to different barriers, a path that waits at one makes way for another of its warp, and
 * lanes may even go on before those have come whom they wait for behind a branch: no order is sure then. */
const char *dac_obstacle(struct splitter *s) {
    if (s->p->fns.len > 1 || s->f->calls)
        return "it calls functions";
    EACH_INST(s, b, k, i) {
        bool varies = class_order(s->c, b).deps & ~(uint32_t)DEP_BLOCK;
        if (i->op == OP_BRX || i->op == OP_CALL || i->op == OP_CALLI || i->op == OP_RET)
            return "it has an indexed branch or a call";
        if (i->op == OP_MBAR || i->op == OP_NANOSLEEP || i->op == OP_LDGSTS)
            return "it waits for memory";
        if (i->op == OP_BAR && dac_rule(s->params, DAC_RULE_PLACES) &&
            (i->m.mode != BAR_SYNC || i->src[0].kind != O_IMM || i->src[0].v ||
             (i->src[1].kind == O_IMM && i->src[1].v) || is_guarded(i)))
            return "it has a named barrier";
        if (i->op == OP_BAR && varies && dac_rule(s->params, DAC_RULE_APART))
            return "threads of a block come to different barriers";
        if ((op_info[i->op].flags & OPF_CROSS) && varies)
            return "lanes exchange values on a path that not all take";
    }
    return dac_rule(s->params, DAC_RULE_POLLS) && polls(s) ? "it polls memory" : NULL;
}
