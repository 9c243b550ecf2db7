/* Expansion of what no machine has as one instruction: divisions, remainders, reciprocals, roots, and
 * approximate functions of numbers that the special function unit does not take as they are.
 *
 * Each becomes the steps that vendors' compilers emit for it: a seed of the special function unit, Newton's
 * method in fused multiplications and additions, and a far block for operands whose intermediate results
 * would leave the range of the format. Every sequence gives bit for bit what the operation table says of the
 * operation; tests compare both. The pass runs behind the others, which know divisions by constants, and they
 * run once more behind it. */
#include <string.h>

#include "opt/sequence.h"

/* ---- building ---- */

struct inst seq1(enum op op, struct opd a) {
    struct inst i = inst_new(op);
    i.nsrc = 1;
    i.src[0] = a;
    return i;
}

struct inst seq2(enum op op, struct opd a, struct opd b) {
    struct inst i = seq1(op, a);
    i.nsrc = 2;
    i.src[1] = b;
    return i;
}

struct inst seq3(enum op op, struct opd a, struct opd b, struct opd c) {
    struct inst i = seq2(op, a, b);
    i.nsrc = 3;
    i.src[2] = c;
    return i;
}

struct inst seq_convert(enum op op, enum mtype to, enum mtype from, struct opd a) {
    struct inst i = seq1(op, a);
    i.m.dtype = (uint8_t)to;
    i.m.stype = (uint8_t)from;
    return i;
}

static void push(struct seq *s, struct inst i) {
    inst_from(&i, s->of);
    if (i.op != OP_BRA)
        i.guard = s->guard;
    vec_push(&s->f->blocks.at[s->block].insts, i);
}

void seq_into(struct seq *s, struct opd d, struct inst i) {
    i.dst = d;
    push(s, i);
}

struct opd seq_do(struct seq *s, struct inst i) {
    i.dst = opd_rz(); /* there is one: how many words it has depends on the operation */
    struct opd d = opd_reg(fn_vreg(s->f, inst_dst_words(&i)), 0);
    seq_into(s, d, i);
    return d;
}

struct opd seq_copy(struct seq *s, struct opd a, uint32_t words) {
    struct opd d = opd_reg(fn_vreg(s->f, words), 0);
    for (uint32_t w = 0; w < words; w++)
        seq_into(s, seq_word(d, w), seq1(OP_MOV, is_rz(&a) ? a : seq_word(a, w)));
    return d;
}

struct popd seq_predicate(struct seq *s, struct inst i) {
    i.pdst[0].id = fn_pred(s->f);
    push(s, i);
    return (struct popd){.id = i.pdst[0].id};
}

struct popd seq_compare(struct seq *s, struct inst i, uint32_t cmp, struct popd and) {
    i.m.cmp = (uint8_t)cmp;
    i.m.bop = BOOL_AND;
    i.psrc[0] = and;
    return seq_predicate(s, i);
}

struct popd seq_join(struct seq *s, enum bool_op how, struct popd p, struct popd q) {
    struct inst i = inst_new(OP_PLOP);
    i.m.bop = (uint8_t)how;
    i.psrc[0] = p;
    i.psrc[1] = q;
    return seq_predicate(s, i);
}

struct popd seq_carry(struct seq *s, enum op op, struct opd d, struct opd a, struct opd b,
                      const struct popd *in) {
    struct inst i = seq2(op, a, b);
    i.dst = d;
    i.psrc[0] = in ? *in : (struct popd){.id = VPRED_PT, .neg = op == OP_IADDC};
    return seq_predicate(s, i);
}

/* ---- blocks ---- */

uint32_t seq_next(struct seq *s) {
    uint32_t next = fn_block(s->f);
    vec_push(&s->f->blocks.at[s->block].succ, next);
    vec_push(&s->near, next);
    s->block = next;
    return next;
}

/* Ends the block with a branch to block to where p holds. */
static void branch(struct seq *s, struct popd p, uint32_t to) {
    struct inst go = inst_new(OP_BRA);
    go.guard = p;
    go.target = to;
    push(s, go);
    vec_push(&s->f->blocks.at[s->block].succ, to);
}

void seq_return_if(struct seq *s, struct popd p, uint32_t to) {
    uint32_t next = fn_block(s->f);
    branch(s, p, to);
    vec_push(&s->f->blocks.at[s->block].succ, next);
    vec_push(&s->far, next);
    s->block = next;
}

uint32_t seq_leave(struct seq *s, struct popd p) {
    const struct popd *guard = &s->of->guard;
    if (is_guarded(s->of)) /* threads that skip the operation have no reason to go */
        p = seq_join(s, BOOL_AND, p, *guard);
    uint32_t far = fn_block(s->f);
    branch(s, p, far);
    vec_push(&s->far, far);
    seq_next(s);
    return far;
}

void seq_return(struct seq *s, uint32_t to) {
    vec_push(&s->f->blocks.at[s->block].succ, to);
    s->block = to;
}

/* ---- the pass ---- */

static seq_fn *const sequences[OP_COUNT] = {
    [OP_FAPX] = seq_fapx,     [OP_FDIVA] = seq_fdiva, [OP_FDIV] = seq_fdiv,   [OP_FRCP] = seq_frcp,
    [OP_FSQRT] = seq_fsqrt,   [OP_DDIV] = seq_ddiv,   [OP_DRCP] = seq_drcp,   [OP_DSQRT] = seq_dsqrt,
    [OP_DRSQ] = seq_drsq,     [OP_IDIV] = seq_idiv,   [OP_IREM] = seq_irem,   [OP_IDIV64] = seq_idiv64,
    [OP_IREM64] = seq_irem64, [OP_BFE64] = seq_bfe64, [OP_BFI64] = seq_bfi64, [OP_FNS] = seq_fns,
};

/* Sources become plain registers: sequences look at their bits, and read them more than once. */
static struct opd plain_source(struct seq *s, const struct inst *i, uint32_t n) {
    struct opd o = i->src[n];
    uint32_t words = inst_src_words(i, n);
    if (o.kind == O_REG && !o.mod)
        return o;
    struct opd d = opd_reg(fn_vreg(s->f, words), 0);
    bool real = op_info[i->op].flags & OPF_FMOD;
    for (uint32_t w = 0; w < words; w++) {
        struct opd from = o;
        from.mod = 0;
        if (o.kind == O_REG && !is_rz(&o))
            from.word = (uint8_t)(o.word + w);
        else if (o.kind == O_CONST)
            from.v += 4 * w;
        else if (o.kind == O_IMM && words == 2) /* the high word of a number; the low word of an integer */
            from.v = real ? (w ? o.v : 0) : w ? (uint32_t)((int32_t)o.v >> 31) : o.v;
        seq_into(s, seq_word(d, w), seq1(OP_MOV, from));
    }
    struct opd top = seq_word(d, words - 1);
    if (o.mod & OMOD_ABS)
        seq_into(s, top, seq2(OP_AND, top, opd_imm(0x7fffffffu)));
    if (o.mod & OMOD_NEG)
        seq_into(s, top, seq2(OP_XOR, top, opd_imm(0x80000000u)));
    return d;
}

/* Replaces register from by register to in the instructions of a block from number first on. */
static void rename_in(struct block *b, uint32_t first, uint32_t from, const struct opd *to) {
    for (uint32_t k = first; k < b->insts.len; k++) {
        struct inst *i = &b->insts.at[k];
        struct opd *o[5] = {&i->dst, &i->src[0], &i->src[1], &i->src[2], &i->src[3]};
        for (uint32_t n = 0; n <= i->nsrc; n++)
            if (o[n]->kind == O_REG && o[n]->v == from) {
                o[n]->v = to->v;
                o[n]->word = (uint8_t)(o[n]->word + to->word);
            }
    }
}

/* True when the result can be computed in its destination: nothing needs what was there. */
static bool in_place(const struct inst *i) {
    if (is_guarded(i) || i->m.sat)
        return false;
    for (uint32_t n = 0; n < i->nsrc; n++)
        if (i->src[n].kind == O_REG && i->src[n].v == i->dst.v)
            return false;
    return true;
}

static void expand(struct seq *s, const struct inst *i) {
    struct inst plain = *i;
    uint32_t block = s->block, first = s->f->blocks.at[block].insts.len, fresh = s->f->blocks.len,
             kept = s->f->vregs.len;
    s->of = &plain;
    for (uint32_t n = 0; n < i->nsrc; n++)
        plain.src[n] = plain_source(s, i, n);
    struct opd r = sequences[i->op](s);
    if (in_place(i) && r.v >= kept) {
        rename_in(&s->f->blocks.at[block], first, r.v, &i->dst);
        for (uint32_t b = fresh; b < s->f->blocks.len; b++)
            rename_in(&s->f->blocks.at[b], 0, r.v, &i->dst);
        return;
    }
    s->guard = i->guard;
    if (i->m.sat) { /* adding -0 changes nothing else */
        bool wide = inst_dst_words(i) == 2;
        struct inst sat = seq2(wide ? OP_DADD : OP_FADD, r, opd_imm(0x80000000u));
        sat.m.sat = true;
        seq_into(s, i->dst, sat);
    } else {
        for (uint32_t w = 0; w < inst_dst_words(i); w++)
            seq_into(s, seq_word(i->dst, w), seq1(OP_MOV, seq_word(r, w)));
    }
    s->guard = seq_always();
}

static bool has_sequences(const struct fn *f) {
    for (uint32_t b = 0; b < f->blocks.len; b++)
        for (uint32_t k = 0; k < f->blocks.at[b].insts.len; k++)
            if (sequences[f->blocks.at[b].insts.at[k].op])
                return true;
    return false;
}

/* Brings blocks into their order: those near, then those far. */
static void reorder(struct seq *s) {
    struct fn *f = s->f;
    struct arena a = {0};
    uint32_t n = f->blocks.len;
    uint32_t *map = arena_array(&a, uint32_t, n);
    struct block *old = arena_array(&a, struct block, n);
    memcpy(old, f->blocks.at, n * sizeof *old);
    for (uint32_t k = 0; k < s->far.len; k++)
        vec_push(&s->near, s->far.at[k]);
    for (uint32_t k = 0; k < n; k++) {
        map[s->near.at[k]] = k;
        f->blocks.at[k] = old[s->near.at[k]];
    }
    for (uint32_t b = 0; b < n; b++) {
        struct inst *last = block_last(&f->blocks.at[b]);
        if (last && last->op == OP_BRA)
            last->target = map[last->target];
        for (uint32_t k = 0; k < f->blocks.at[b].succ.len; k++)
            f->blocks.at[b].succ.at[k] = map[f->blocks.at[b].succ.at[k]];
    }
    for (uint32_t t = 0; t < f->tables.len; t++)
        for (uint32_t k = 0; k < f->tables.at[t].n; k++)
            f->tables.at[t].blocks[k] = map[f->tables.at[t].blocks[k]];
    arena_free(&a);
}

bool opt_expand(struct program *p, struct fn *f) {
    (void)p;
    if (!has_sequences(f))
        return false;
    struct seq s = {.f = f, .guard = seq_always()};
    uint32_t n = f->blocks.len;
    for (uint32_t b = 0; b < n; b++) {
        struct block old = f->blocks.at[b];
        f->blocks.at[b] = (struct block){.ipdom = NO_BLOCK, .no_unroll = old.no_unroll};
        vec_push(&s.near, b);
        s.block = b;
        for (uint32_t k = 0; k < old.insts.len; k++) {
            const struct inst *i = &old.insts.at[k];
            if (sequences[i->op] && !is_rz(&i->dst))
                expand(&s, i);
            else
                vec_push(&f->blocks.at[s.block].insts, *i);
        }
        for (uint32_t k = 0; k < old.succ.len; k++)
            vec_push(&f->blocks.at[s.block].succ, old.succ.at[k]);
        block_free(&old);
    }
    reorder(&s);
    vec_free(&s.near);
    vec_free(&s.far);
    cfg_edges(f);
    cfg_joins(f);
    return true;
}
