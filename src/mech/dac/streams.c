/* Makes the two streams. Both keep the virtual registers of the kernel, so that a merge is the same register
 * in both. */
#include <stdio.h>
#include <string.h>

#include "mech/dac/registers.h"
#include "mech/dac/splitter.h"

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

/* The branches that tell what a thread brings to a merge. */
static void slice_plan(struct slice *x, const struct join_plan *p) {
    for (uint32_t k = 0; k < p->nbranches; k++)
        slice_inst(x, p->branch[k], x->s->f->blocks.at[p->branch[k]].insts.len - 1);
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
    EACH_INPUT(x->s, v, in, slice_version(x, in););
    if (x->s->merge_choices[v])
        slice_plan(x, x->s->plan[v]);
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
void dac_find_slice(struct splitter *s) {
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
        if (!s->asks[no_of(s, at.block, at.index)])
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
    if (dac_rule(s->params, DAC_RULE_GUARD))
        copy.guard = i->guard;
    copy.src[0] = i->src[0];
    copy.nsrc = 1;
    copy.imm = i->imm;
    inst_from(&copy, i);
    return copy;
}

static void set_fact(struct splitter *s, struct program *p, struct inst *i, const struct dac_fact *f) {
    struct dac_fact *to = fact_make(p, s->run->pass, i, sizeof *to);
    *to = *f;
}

static void note_roles(struct program *p, struct inst *i, const struct dac_fact *f) {
    static const char *const names[] = {"enq",
                                        "enq.pred",
                                        "deq",
                                        "deq.pred",
                                        "barrier of both streams",
                                        "",
                                        "",
                                        "decided by data, for both streams"};
    for (uint32_t k = 0; k < sizeof names / sizeof *names; k++)
        if (f->roles >> k & 1 && *names[k])
            note_add(p, i, "%s%s #%u", names[k], k == 0 || k == 2 ? f->data ? ".data" : ".addr" : "",
                     f->number);
}

/* The block at which the affine stream goes on behind a branch that it does not have. */
static uint32_t past(const struct splitter *s, uint32_t b) {
    return s->f->blocks.at[b].ipdom;
}

/* What is known of the branch at the end of a block, which both streams have. */
static struct dac_fact branch_fact(struct splitter *s, uint32_t b) {
    const struct control *c = &s->c->control;
    uint32_t last = s->f->blocks.at[b].insts.len - 1;
    bool asks = s->asks[no_of(s, b, last)], parts = false;
    if (inst_at(s, b, last)->op != OP_BRA && !asks)
        return (struct dac_fact){0};
    for (uint32_t k = 0; k < c->nsplits; k++)
        parts |= c->splits[k].block == b && s->joins.parts[k];
    return (struct dac_fact){.roles = (uint16_t)(DAC_BRANCH | (asks ? DAC_ASK : 0) | (parts ? DAC_PARTS : 0)),
                             .number = ++s->count};
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
        s->branch[b] = is_guarded(last) ? branch_fact(s, b) : (struct dac_fact){0};
        if (s->branch[b].roles) { /* one stream may have it the other way around */
            struct inst *end = &out->insts.at[out->insts.len - 1];
            set_fact(s, p, end, &s->branch[b]);
            note_roles(p, end, &s->branch[b]);
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

const char *dac_build_affine(struct splitter *s, const struct dac_fact *facts) {
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
    to->in_step = true; /* an exit would let ways meet before those of the warps do */
    opt_simplify(p, to);
    const char *why = dac_registers(p, to, s->params);
    if (!why)
        return NULL;
    s->p->streams.len--;
    program_destroy(p);
    return why;
}

/* ---- the other stream ---- */

void dac_rewrite(struct splitter *s, const struct dac_fact *facts) {
    for (uint32_t b = 0; b < s->f->blocks.len; b++)
        if (s->branch[b].roles) {
            struct inst *last = block_last(&s->f->blocks.at[b]);
            set_fact(s, s->p, last, &s->branch[b]);
            note_roles(s->p, last, &s->branch[b]);
        }
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
            inst_from(&take, i);
            *i = take;
        }
        if (f.roles) {
            set_fact(s, s->p, i, &f);
            note_roles(s->p, i, &f);
        }
    }
}
