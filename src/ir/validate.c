/* Checks the invariants of ir.h. Passes run it after themselves, so that a broken pass is named, not its
 * victim. */
#include <stdio.h>

#include "ir/ir.h"

struct checker {
    struct program *p;
    struct fn *f;
    uint32_t block, index;
    const char *error;
};

#define FAIL(c, ...) fail((c), arena_printf(&(c)->p->arena, __VA_ARGS__))

static void fail(struct checker *c, const char *what) {
    if (!c->error)
        c->error = arena_printf(&c->p->arena, "%s: block %u, instruction %u: %s", c->f->name, c->block,
                                c->index, what);
}

/* Alignment of an operand of so many words within its register group. */
static uint32_t operand_align(uint32_t words) {
    return words <= 1 ? 1 : words == 2 ? 2 : 4;
}

static void check_reg(struct checker *c, const char *what, const struct opd *o, uint32_t words) {
    if (o->v == VREG_RZ)
        return;
    if (c->f->allocated) {
        if (o->word)
            FAIL(c, "%s has a word index after allocation", what);
        else if (o->v + words > REG_RZ)
            FAIL(c, "%s: R%u does not exist", what, o->v + words - 1);
        else if (o->v % operand_align(words))
            FAIL(c, "%s: R%u is not aligned for %u words", what, o->v, words);
        return;
    }
    if (o->v >= c->f->vregs.len)
        FAIL(c, "%s: no virtual register %u", what, o->v);
    else if (o->word + words > c->f->vregs.at[o->v])
        FAIL(c, "%s: V%u has %u words, %u+%u are accessed", what, o->v, c->f->vregs.at[o->v], o->word, words);
    else if (o->word % operand_align(words))
        FAIL(c, "%s: V%u.%u is not aligned for %u words", what, o->v, o->word, words);
}

static void check_pred(struct checker *c, const char *what, const struct popd *p, bool allowed) {
    if (p->id == VPRED_PT)
        return;
    if (!allowed)
        FAIL(c, "%s is not an operand of this operation", what);
    else if (p->id >= (c->f->allocated ? NUM_PRED : c->f->npreds))
        FAIL(c, "%s: no predicate %u", what, p->id);
}

static void check_preds(struct checker *c, const struct inst *i) {
    const struct form_info *form = &form_info[op_info[i->op].form];
    check_pred(c, "guard", &i->guard, true);
    for (uint32_t k = 0; k < 2; k++) {
        check_pred(c, "predicate destination", &i->pdst[k], k < form->pdst);
        check_pred(c, "predicate source", &i->psrc[k], k < form->psrc);
        if (i->pdst[k].neg)
            FAIL(c, "predicate destination is negated");
    }
    if (i->pdst[0].id != VPRED_PT && i->pdst[0].id == i->pdst[1].id)
        FAIL(c, "one predicate is written twice");
}

static void check_sources(struct checker *c, const struct inst *i) {
    const struct op_info *op = &op_info[i->op];
    uint32_t nsrc = form_info[op->form].nsrc, constants = 0;
    if (nsrc == WORDS_VAR ? i->nsrc > 4 : i->nsrc != nsrc)
        FAIL(c, "%u sources", i->nsrc);
    for (uint32_t s = 0; s < i->nsrc && s < 4; s++) {
        const struct opd *o = &i->src[s];
        char what[16];
        snprintf(what, sizeof what, "source %u", s);
        if (o->kind == O_REG)
            check_reg(c, what, o, inst_src_words(i, s));
        else if (o->kind == O_NONE && nsrc != WORDS_VAR)
            FAIL(c, "%s is missing", what);
        else if (o->kind == O_CONST && o->bank >= BANK_COUNT)
            FAIL(c, "%s: no constant bank %u", what, o->bank);
        if (o->mod && !(op->flags & OPF_FMOD))
            FAIL(c, "%s has a sign modifier", what);
        if ((o->kind == O_IMM || o->kind == O_CONST) && !inst_has_free_operands(i)) {
            constants++;
            if (!inst_src_may_be_const(i, s))
                FAIL(c, "%s may not be a constant", what);
        }
    }
    if (constants > 1)
        FAIL(c, "more than one constant operand");
}

static void check_target(struct checker *c, const struct inst *i) {
    if (i->op == OP_BRA && i->target >= c->f->blocks.len)
        FAIL(c, "branch to block %u of %u", i->target, c->f->blocks.len);
    if (i->op == OP_CALL && i->target >= c->p->fns.len)
        FAIL(c, "call of function %u of %u", i->target, c->p->fns.len);
    if (i->op != OP_BRX)
        return;
    if (i->target >= c->f->tables.len) {
        FAIL(c, "no branch table %u", i->target);
        return;
    }
    for (uint32_t k = 0; k < c->f->tables.at[i->target].n; k++)
        if (c->f->tables.at[i->target].blocks[k] >= c->f->blocks.len)
            FAIL(c, "table entry %u is no block", k);
}

static void check_inst(struct checker *c, const struct inst *i, bool last) {
    if (i->op >= OP_COUNT) {
        FAIL(c, "no operation %u", i->op);
        return;
    }
    if (i->dst.kind != O_NONE && i->dst.kind != O_REG)
        FAIL(c, "destination is not a register");
    else if (i->dst.kind == O_REG && !form_info[op_info[i->op].form].dst)
        FAIL(c, "operation has no register destination");
    else if (i->dst.kind == O_REG)
        check_reg(c, "destination", &i->dst, inst_dst_words(i));
    check_sources(c, i);
    check_preds(c, i);
    check_target(c, i);
    if ((op_info[i->op].flags & OPF_END) && !last)
        FAIL(c, "control leaves in the middle of a block");
}

static void check_successors(struct checker *c, const struct block *b) {
    const struct inst *i = b->insts.len ? &b->insts.at[b->insts.len - 1] : NULL;
    uint32_t want = 1;
    if (i && (op_info[i->op].flags & OPF_END)) {
        bool guarded = i->guard.id != VPRED_PT || i->guard.neg;
        if (i->op == OP_BRX) {
            if (guarded)
                FAIL(c, "guarded indexed branch");
            want = b->succ.len;
        } else {
            want = (i->op == OP_BRA) + guarded;
        }
        if (i->op == OP_BRA && b->succ.len && b->succ.at[0] != i->target)
            FAIL(c, "first successor is not the branch target");
    }
    if (b->succ.len != want)
        FAIL(c, "%u successors, expected %u", b->succ.len, want);
    for (uint32_t s = 0; s < b->succ.len; s++)
        if (b->succ.at[s] >= c->f->blocks.len)
            FAIL(c, "successor %u does not exist", b->succ.at[s]);
}

const char *ir_validate(struct program *p, struct fn *f) {
    struct checker c = {.p = p, .f = f};
    if (!f->blocks.len)
        FAIL(&c, "no blocks");
    for (uint32_t v = 0; v < f->vregs.len && !f->allocated; v++) {
        uint8_t w = f->vregs.at[v];
        if (w != 1 && w != 2 && w != 4 && w != 8)
            FAIL(&c, "V%u has %u words", v, w);
    }
    for (c.block = 0; c.block < f->blocks.len && !c.error; c.block++) {
        const struct block *b = &f->blocks.at[c.block];
        for (c.index = 0; c.index < b->insts.len && !c.error; c.index++)
            check_inst(&c, &b->insts.at[c.index], c.index + 1 == b->insts.len);
        check_successors(&c, b);
    }
    return c.error;
}
