/* Unrolling: the body of a small loop, several times over, under one test, as vendors' compilers do it.
 *
 * A loop is one block that branches back to itself while a counter, to which the block adds a number once,
 * stands in some relation to what does not change. In front of it come three blocks. The first finds out
 * whether at least TIMES passes are left; the second does that many without a test in between, and goes on
 * while there are as many; the third goes to the loop itself for the rest, or behind it:
 *
 *     guard:  if fewer than TIMES passes are left, go to loop
 *     main:   body, body, body, body; if TIMES passes are left, go to main
 *     rest:   if none is left, go behind the loop
 *     loop:   as it was
 *
 * The counter, and whatever else the body adds numbers to, takes its step once for all passes; those in
 * between read sums, which become offsets of addresses or disappear. Nothing is assumed of the numbers: a
 * counter that would pass its end by overflow takes the loop as it was.
 *
 * Left alone are loops with barriers, atomic operations, calls and whatever reads other threads, long ones,
 * and those whose source says nounroll. */
#include <string.h>

#include "opt/pass.h"

enum { TIMES = 4, MAX_BODY = 32, MAX_STEPS = 8 };

/* A register that the body adds a number to, once. */
struct step {
    uint32_t reg, words;
    uint32_t at, low_at; /* the addition; of two words that of the high one, and of the low one */
    int64_t by;
    uint32_t sum[TIMES]; /* register that holds it before each pass, itself before the first */
};

struct loop {
    struct fn *f;
    uint32_t block, behind;
    uint32_t test; /* the comparison */
    uint32_t nsteps;
    struct step steps[MAX_STEPS];
    const struct step *counter;
    struct opd end; /* what it is compared with */
    uint8_t cmp;    /* how, while the loop goes on */
    bool sgn;
};

/* ---- what can be unrolled ---- */

static bool is_plain(const struct inst *i) {
    uint16_t flags = op_info[i->op].flags;
    if (i->m.vol || i->frame || (flags & (OPF_CROSS | OPF_ATOMIC | OPF_END | OPF_MACRO)))
        return false;
    return i->op == OP_ST || !(flags & (OPF_EFFECT | OPF_STORE));
}

static uint32_t count_writes(const struct block *b, uint32_t reg) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < b->insts.len; k++)
        n += b->insts.at[k].dst.kind == O_REG && b->insts.at[k].dst.v == reg;
    return n;
}

/* Uses of predicate id in the block: as guards and operands. */
static uint32_t count_reads(const struct block *b, uint32_t id) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < b->insts.len; k++) {
        const struct inst *i = &b->insts.at[k];
        n += (i->guard.id == id) + (i->psrc[0].id == id) + (i->psrc[1].id == id);
    }
    return n;
}

static bool adds_to_itself(const struct inst *i, enum op op) {
    return i->op == op && !is_guarded(i) && !i->frame && i->dst.kind == O_REG && !is_rz(&i->dst) &&
           opd_eq(&i->src[0], &i->dst) && (i->src[1].kind == O_IMM || is_rz(&i->src[1]));
}

static uint32_t number(const struct opd *o) {
    return o->kind == O_IMM ? o->v : 0;
}

/* The addition of a number to two words whose high half is instruction at. */
static bool wide_step(const struct block *b, uint32_t at, struct step *s) {
    const struct inst *hi = &b->insts.at[at], *lo = at ? &b->insts.at[at - 1] : NULL;
    if (!lo || !adds_to_itself(hi, OP_IADDC) || !adds_to_itself(lo, OP_IADDC) || !is_pf(&lo->psrc[0]))
        return false;
    uint32_t carry = lo->pdst[0].id;
    if (carry == VPRED_PT || hi->psrc[0].id != carry || hi->psrc[0].neg || hi->pdst[0].id != VPRED_PT ||
        hi->dst.v != lo->dst.v || lo->dst.word || hi->dst.word != 1 || count_reads(b, carry) != 1)
        return false;
    s->low_at = at - 1;
    s->by = (int64_t)((uint64_t)number(&hi->src[1]) << 32 | number(&lo->src[1]));
    return true;
}

static void find_steps(struct loop *l) {
    const struct block *b = &l->f->blocks.at[l->block];
    for (uint32_t k = 0; k < b->insts.len && l->nsteps < MAX_STEPS; k++) {
        const struct inst *i = &b->insts.at[k];
        struct step s = {.at = k, .low_at = k, .words = 1};
        if (i->dst.kind != O_REG || is_rz(&i->dst))
            continue;
        s.reg = s.sum[0] = i->dst.v;
        if (adds_to_itself(i, OP_IADD) && l->f->vregs.at[s.reg] == 1)
            s.by = (int32_t)number(&i->src[1]);
        else if (l->f->vregs.at[s.reg] == 2 && wide_step(b, k, &s))
            s.words = 2;
        else
            continue;
        if (count_writes(b, s.reg) == s.words)
            l->steps[l->nsteps++] = s;
    }
}

static bool is_constant(const struct block *b, const struct opd *o) {
    return o->kind != O_REG ? is_const(o) : is_rz(o) || !count_writes(b, o->v);
}

static uint8_t mirrored(uint8_t cmp) {
    return (uint8_t)((cmp & CMP_EQ) | (cmp & CMP_LT ? CMP_GT : 0) | (cmp & CMP_GT ? CMP_LT : 0));
}

static const struct step *step_of(const struct loop *l, const struct opd *o) {
    for (uint32_t k = 0; k < l->nsteps; k++)
        if (o->kind == O_REG && o->v == l->steps[k].reg && l->steps[k].words == 1 && l->steps[k].at < l->test)
            return &l->steps[k];
    return NULL;
}

/* True when the relation goes on until the counter has come to its end, whatever the numbers. */
static bool comes_to_end(const struct loop *l) {
    int64_t by = l->counter->by, most = INT32_MAX / TIMES;
    if (!by || by > most || by < -most)
        return false;
    if (l->cmp == (CMP_LT | CMP_GT))
        return true;
    return by > 0 ? l->cmp == CMP_LT || l->cmp == (CMP_LT | CMP_EQ)
                  : l->cmp == CMP_GT || l->cmp == (CMP_GT | CMP_EQ);
}

/* Reads the test of the loop; last branches back. */
static bool find_test(struct loop *l, const struct inst *last) {
    const struct block *b = &l->f->blocks.at[l->block];
    uint32_t id = last->guard.id, writes = 0;
    for (uint32_t k = 0; k < b->insts.len; k++)
        if (b->insts.at[k].pdst[0].id == id || b->insts.at[k].pdst[1].id == id) {
            writes++;
            l->test = k;
        }
    const struct inst *t = &b->insts.at[l->test];
    if (writes != 1 || t->op != OP_ISETP || is_guarded(t) || t->pdst[0].id != id ||
        t->pdst[1].id != VPRED_PT || !is_pt(&t->psrc[0]) || t->m.bop != BOOL_AND || count_reads(b, id) != 1)
        return false;
    find_steps(l);
    uint32_t which = (l->counter = step_of(l, &t->src[0])) ? 0 : 1;
    if (which)
        l->counter = step_of(l, &t->src[1]);
    if (!l->counter || !is_constant(b, &t->src[1 - which]))
        return false;
    l->end = t->src[1 - which];
    l->sgn = t->m.sgn;
    l->cmp = t->m.cmp & (CMP_LT | CMP_EQ | CMP_GT);
    if (which)
        l->cmp = mirrored(l->cmp);
    if (last->guard.neg)
        l->cmp ^= CMP_LT | CMP_EQ | CMP_GT;
    return comes_to_end(l);
}

static bool is_loop(struct loop *l, struct fn *f, uint32_t block) {
    struct block *b = &f->blocks.at[block];
    const struct inst *last = block_last(b);
    *l = (struct loop){.f = f, .block = block};
    if (!block || !last || last->op != OP_BRA || last->guard.id == VPRED_PT || b->succ.len != 2 ||
        b->succ.at[0] != block || b->succ.at[1] == block || b->no_unroll || b->insts.len > MAX_BODY)
        return false;
    l->behind = b->succ.at[1];
    for (uint32_t k = 0; k + 1 < b->insts.len; k++)
        if (!is_plain(&b->insts.at[k]))
            return false;
    return find_test(l, last);
}

/* ---- the new blocks ---- */

static struct inst made(const struct inst *like, enum op op, struct opd dst, struct opd a, struct opd b) {
    struct inst i = inst_new(op);
    inst_from(&i, like);
    i.dst = dst;
    i.src[0] = a;
    i.src[1] = b;
    i.nsrc = b.kind == O_NONE ? 1 : 2;
    return i;
}

static struct inst compared(const struct inst *like, uint32_t pred, uint8_t cmp, bool sgn, struct opd a,
                            struct opd b) {
    struct inst i = made(like, OP_ISETP, (struct opd){0}, a, b);
    i.m.cmp = cmp;
    i.m.sgn = sgn;
    i.m.bop = BOOL_AND;
    i.pdst[0].id = pred;
    return i;
}

static struct inst branch(const struct inst *like, uint32_t pred, bool neg, uint32_t target) {
    struct inst i = made(like, OP_BRA, (struct opd){0}, (struct opd){0}, (struct opd){0});
    i.nsrc = 0;
    i.guard = (struct popd){.id = pred, .neg = neg};
    i.target = target;
    return i;
}

static struct opd counter_opd(const struct loop *l) {
    return opd_reg(l->counter->reg, 0);
}

/* How far the counter moves before the last of TIMES passes. */
static uint32_t distance(const struct loop *l) {
    int64_t by = l->counter->by;
    return (uint32_t)((by < 0 ? -by : by) * (TIMES - 1));
}

/* Adds to b a predicate that says whether the distance between counter and end allows TIMES passes. */
static uint32_t far_enough(struct loop *l, struct block *b, const struct inst *like, struct opd end) {
    struct opd d = opd_reg(fn_vreg(l->f, 1), 0), i = counter_opd(l);
    uint32_t p = fn_pred(l->f);
    bool up = l->counter->by > 0, equal = l->cmp != (CMP_LT | CMP_GT) && (l->cmp & CMP_EQ);
    vec_push(&b->insts, made(like, OP_ISUB, d, up ? end : i, up ? i : end));
    vec_push(&b->insts, compared(like, p, equal ? CMP_GT | CMP_EQ : CMP_GT, false, d, opd_imm(distance(l))));
    return p;
}

static bool until_equal(const struct loop *l) {
    return l->cmp == (CMP_LT | CMP_GT);
}

/* The end in a register. */
static struct opd end_register(struct loop *l, struct block *b, const struct inst *like) {
    struct opd end = l->end;
    if (end.kind == O_REG)
        return end;
    struct opd r = opd_reg(fn_vreg(l->f, 1), 0);
    vec_push(&b->insts, made(like, OP_MOV, r, end, (struct opd){0}));
    return r;
}

/* Fills the block in front; *limit is what the counter is compared with in the main one. */
static void write_guard(struct loop *l, struct block *b, const struct inst *like, struct opd *end,
                        struct opd *limit, uint32_t loop) {
    *end = end_register(l, b, like);
    if (!until_equal(l)) {
        uint32_t before = fn_pred(l->f), p;
        *limit = opd_reg(fn_vreg(l->f, 1), 0);
        vec_push(&b->insts, compared(like, before, l->cmp, l->sgn, counter_opd(l), l->end));
        vec_push(&b->insts,
                 made(like, OP_IADD, *limit, *end, opd_imm((uint32_t)(-l->counter->by * (TIMES - 1)))));
        p = far_enough(l, b, like, *end);
        b->insts.at[b->insts.len - 1].psrc[0].id = before;
        vec_push(&b->insts, branch(like, p, true, loop));
    } else {
        vec_push(&b->insts, branch(like, far_enough(l, b, like, *end), true, loop));
    }
}

/* The sum of a step's register and a number, into register to. */
static void write_sum(struct loop *l, struct block *b, const struct inst *like, const struct step *s,
                      uint32_t to, int64_t by) {
    if (s->words == 1) {
        vec_push(&b->insts, made(like, OP_IADD, opd_reg(to, 0), opd_reg(s->reg, 0), opd_imm((uint32_t)by)));
        return;
    }
    uint32_t carry = fn_pred(l->f);
    struct inst lo = made(like, OP_IADDC, opd_reg(to, 0), opd_reg(s->reg, 0), opd_imm((uint32_t)by));
    struct inst hi =
        made(like, OP_IADDC, opd_reg(to, 1), opd_reg(s->reg, 1), opd_imm((uint32_t)((uint64_t)by >> 32)));
    lo.psrc[0] = (struct popd){.id = VPRED_PT, .neg = true};
    lo.pdst[0].id = hi.psrc[0].id = carry;
    vec_push(&b->insts, lo);
    vec_push(&b->insts, hi);
}

/* Registers of steps as they are in pass number pass, at instruction at. */
static void read_sums(const struct loop *l, struct inst *i, uint32_t pass, uint32_t at) {
    for (uint32_t s = 0; s < i->nsrc; s++)
        for (uint32_t k = 0; k < l->nsteps; k++) {
            const struct step *step = &l->steps[k];
            uint32_t taken = pass + (at > step->at);
            if (i->src[s].kind == O_REG && i->src[s].v == step->reg && taken < TIMES)
                i->src[s].v = step->sum[taken];
        }
}

/* The step that instruction at is or belongs to, or NULL. */
static struct step *step_at(struct loop *l, uint32_t at) {
    for (uint32_t k = 0; k < l->nsteps; k++)
        if (l->steps[k].at == at || l->steps[k].low_at == at)
            return &l->steps[k];
    return NULL;
}

static void write_main(struct loop *l, struct block *b, const struct block *body, struct opd end,
                       struct opd limit, uint32_t self) {
    const struct inst *test = &body->insts.at[l->test];
    for (uint32_t pass = 0; pass < TIMES; pass++)
        for (uint32_t k = 0; k + 1 < body->insts.len; k++) {
            struct inst i = body->insts.at[k];
            struct step *s = step_at(l, k);
            if (k == l->test || (s && k != s->at))
                continue;
            if (s && pass + 1 < TIMES) {
                s->sum[pass + 1] = fn_vreg(l->f, s->words);
                write_sum(l, b, &i, s, s->sum[pass + 1], s->by * (pass + 1));
            } else if (s) {
                write_sum(l, b, &i, s, s->reg, s->by * TIMES);
            } else {
                read_sums(l, &i, pass, k);
                vec_push(&b->insts, i);
            }
        }
    uint32_t p;
    if (until_equal(l)) {
        p = far_enough(l, b, test, end);
    } else {
        p = fn_pred(l->f);
        vec_push(&b->insts, compared(test, p, l->cmp, l->sgn, counter_opd(l), limit));
    }
    vec_push(&b->insts, branch(test, p, false, self));
}

static void write_rest(struct loop *l, struct block *b, const struct inst *test, uint32_t behind) {
    uint32_t p = fn_pred(l->f);
    vec_push(&b->insts, compared(test, p, l->cmp, l->sgn, counter_opd(l), l->end));
    vec_push(&b->insts, branch(test, p, true, behind));
}

static void set_ways(struct block *b, uint32_t to, uint32_t next) {
    vec_push(&b->succ, to);
    vec_push(&b->succ, next);
}

/* Makes room for n blocks in front of block at, which take all edges to it but its own. */
static void insert_blocks(struct fn *f, uint32_t at, uint32_t n) {
    for (uint32_t b = 0; b < f->blocks.len; b++) {
        struct block *k = &f->blocks.at[b];
        struct inst *last = block_last(k);
        for (uint32_t s = 0; s < k->succ.len; s++)
            if (k->succ.at[s] > at || (k->succ.at[s] == at && b == at))
                k->succ.at[s] += n;
        if (last && last->op == OP_BRA && (last->target > at || (last->target == at && b == at)))
            last->target += n;
    }
    for (uint32_t t = 0; t < f->tables.len; t++)
        for (uint32_t k = 0; k < f->tables.at[t].n; k++)
            if (f->tables.at[t].blocks[k] > at)
                f->tables.at[t].blocks[k] += n;
    for (uint32_t k = 0; k < n; k++)
        fn_block(f);
    memmove(f->blocks.at + at + n, f->blocks.at + at, (f->blocks.len - n - at) * sizeof *f->blocks.at);
    for (uint32_t k = 0; k < n; k++)
        f->blocks.at[at + k] = (struct block){.ipdom = NO_BLOCK};
}

static void unroll(struct loop *l) {
    enum { NEW = 3 };
    struct fn *f = l->f;
    uint32_t guard = l->block, main = guard + 1, rest = guard + 2, loop = guard + NEW;
    insert_blocks(f, guard, NEW);
    uint32_t behind = f->blocks.at[loop].succ.at[1];
    struct block b[NEW] = {{.ipdom = NO_BLOCK}, {.ipdom = NO_BLOCK}, {.ipdom = NO_BLOCK}};
    const struct block *body = &f->blocks.at[loop];
    const struct inst *test = &body->insts.at[l->test];
    struct opd end, limit = {0};
    write_guard(l, &b[0], test, &end, &limit, loop);
    write_main(l, &b[1], body, end, limit, main);
    write_rest(l, &b[2], test, behind);
    set_ways(&b[0], loop, main);
    set_ways(&b[1], main, rest);
    set_ways(&b[2], behind, loop);
    b[1].no_unroll = true;
    f->blocks.at[loop].no_unroll = true;
    for (uint32_t k = 0; k < NEW; k++)
        f->blocks.at[guard + k] = b[k];
}

/* True when a predicate that the unrolled loop does not write is read behind it. */
static bool is_read_behind(const struct loop *l, const struct live *live) {
    const struct block *b = &l->f->blocks.at[l->block];
    uint32_t test = b->insts.at[l->test].pdst[0].id;
    if (live_at(live, live->in, l->behind, value_of_pred(&live->v, test)))
        return true;
    for (uint32_t k = 0; k < l->nsteps; k++) {
        const struct step *s = &l->steps[k];
        uint32_t carry = b->insts.at[s->low_at].pdst[0].id;
        if (s->words == 2 && live_at(live, live->in, l->behind, value_of_pred(&live->v, carry)))
            return true;
    }
    return false;
}

bool opt_unroll(struct program *p, struct fn *f) {
    (void)p;
    struct arena arena = {0};
    struct live live = live_of(&arena, f);
    uint32_t n = f->blocks.len;
    bool *fit = arena_array(&arena, bool, n + 1), changed = false;
    struct loop l;
    for (uint32_t b = 0; b < n; b++)
        fit[b] = is_loop(&l, f, b) && !is_read_behind(&l, &live);
    for (uint32_t b = n; b-- > 0;) /* from the end, so that numbers in front stay what they were */
        if (fit[b] && is_loop(&l, f, b)) {
            unroll(&l);
            changed = true;
        }
    arena_free(&arena);
    if (changed) {
        cfg_edges(f);
        cfg_joins(f);
    }
    return changed;
}
