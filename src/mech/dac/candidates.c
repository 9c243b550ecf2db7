/* Which instructions the affine warp can carry out: a greatest fixpoint. At first all whose operation it
 * knows; then those go that need something which it cannot have. An instruction needs the versions it reads
 * (flow/reach.h), made in the same round of the loops around it, and its block needs the branches it depends
 * on. What a merge is must not depend on the way a thread came, as the affine warp has one register for all
 * threads; unless the branches tell that came before (joins.c). Conditions by which threads have different
 * values are counted (conditions.c).
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
        return dac_refuse(s, n, "a place in the frame");
    if (is_access(i))
        return is_affine(s, class_of_source(s->c, b, k, 0)) || dac_refuse(s, n, "address is not affine");
    if (is_compare(i)) {
        struct vclass x = class_of_source(s->c, b, k, 0), y = class_of_source(s->c, b, k, 1);
        if (i->op == OP_ISETPX && (x.deps | y.deps))
            return dac_refuse(s, n, "a comparison of 64 bits that are not the same in all threads");
        if (!is_affine(s, x) || !is_affine(s, y))
            return dac_refuse(s, n, "an operand is not affine");
        return class_uniform_block(x) || class_uniform_block(y) || dac_refuse(s, n, "no operand is a scalar");
    }
    if (i->op == OP_S2R)
        return i->m.mode <= SR_CTAID_Z || i->m.mode == SR_DYN_SMEM || i->m.mode == SR_ZERO ||
               dac_refuse(s, n, "a special register");
    if (i->op == OP_PLOP)
        return true;
    bool computes = op_info[i->op].unit != UNIT_CTRL && op_info[i->op].form != FORM_MEM &&
                    op_info[i->op].form != FORM_TEX && op_info[i->op].form != FORM_WARP &&
                    !(op_info[i->op].flags & (OPF_EFFECT | OPF_LANE | OPF_CROSS)) && i->op != OP_P2R &&
                    i->op != OP_R2P;
    if (!computes && i->op != OP_LDC)
        return dac_refuse(s, n,
                          op_info[i->op].flags & OPF_LOAD ? "loaded from memory" : "no affine operation");
    if (is_guarded(i) && (i->op == OP_SEL || i->op == OP_IMIN || i->op == OP_IMAX || i->op == OP_IABS))
        return dac_refuse(s, n, "a choice under a guard"); /* two conditions in one */
    bool uniform = true;
    for (uint32_t x = 0; x < i->nsrc; x++)
        uniform &= !class_of_source(s->c, b, k, x).deps;
    if (uniform)
        return true;
    if (!computes)
        return dac_refuse(s, n, "loaded from memory");
    if (!factors_uniform(s, b, k) && dac_rule(s->params, DAC_RULE_FACTORS))
        return dac_refuse(s, n, "a factor is not the same in the whole grid");
    if (dac_makes_halves(i))
        return true;
    return (makes_tuples(i) && is_affine(s, class_of_result(s->c, b, k, 0))) ||
           dac_refuse(s, n, "result is not affine");
}

/* ---- versions ---- */

/* What is made in block home and read in block is of the same round in all threads. */
static bool same_round(const struct splitter *s, uint32_t home, uint32_t block) {
    const struct control *c = &s->c->control;
    if (!dac_rule(s->params, DAC_RULE_ROUNDS))
        return true;
    for (uint32_t w = 0; w < c->words; w++)
        for (bits left = control_left(c, home, block, w); left; left &= left - 1)
            if (s->joins.parts[64 * w + (uint32_t)__builtin_ctzll(left)])
                return false;
    return true;
}

static bool read_good(const struct splitter *s, uint32_t v, uint32_t block) {
    return v != NONE && s->vgood[v] && same_round(s, s->r->at[v].block, block);
}

/* The affine warp can tell which version a thread brings to block at: it has the branches that decide, their
 * predicates, and all versions, of the round in which the threads meet. */
static bool plan_good(const struct splitter *s, const struct join_plan *p, uint32_t at) {
    for (uint32_t k = 0; k < p->nbranches; k++) {
        uint32_t b = p->branch[k], n = no_of(s, b, s->f->blocks.at[b].insts.len - 1);
        if (!s->bgood[b] || !s->good[n] || s->asks[n] || !read_good(s, p->pred[k], at))
            return false;
    }
    for (uint32_t k = 0; k < p->n; k++)
        if (!read_good(s, p->version[k], at))
            return false;
    return true;
}

static bool merge_good(const struct splitter *s, uint32_t v) {
    const struct version *x = &s->r->at[v];
    const struct block *b = &s->f->blocks.at[x->block];
    for (uint32_t k = 0; k < b->pred.len; k++) {
        uint32_t in = s->r->inputs[x->input + k];
        if (in != NONE && in != v && !read_good(s, in, b->pred.at[k]))
            return false;
    }
    return !s->differs[v] || (s->plan[v] && plan_good(s, s->plan[v], x->block));
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
        return dac_refuse(s, n, s->block_why[b] ? s->block_why[b] : "a branch before it depends on data");
    bool ok = true;
    EACH_READ(s, b, k, v, ok &= read_good(s, v, b););
    if (!ok && can_ask(s, b, k))
        ok = s->asks[n] = true;
    return ok || dac_refuse(s, n, "needs a value that is not affine here");
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

/* ---- whether the kernel can be split at all ---- */

/* What an ordered access brings, or an atomic. */
static bool is_news(const struct inst *i) {
    return (op_info[i->op].flags & OPF_LOAD) && (i->m.vol || op_info[i->op].flags & OPF_ATOMIC);
}

static bool version_news(const struct splitter *s, const bool *news, uint32_t v) {
    const struct version *x = &s->r->at[v];
    bool any = false;
    EACH_INPUT(s, v, in, any |= news[in];);
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
