/* Random structured programs: variables that are written many times, temporaries that are written once and
 * used inside their scope, branches, counted loops, guards, register groups and their parts, carries, calls.
 */
#include "irsim.h"

enum { MAX_NAMES = 512, MAX_NEST = 4 };

struct gen {
    struct program *p;
    struct fn *f;
    const struct gen_options *o;
    uint64_t rng;
    uint32_t block, budget, nest;
    struct loop *loop;           /* the innermost one */
    struct opd words[MAX_NAMES]; /* readable words */
    struct opd pairs[MAX_NAMES]; /* readable pairs */
    struct opd vars[MAX_NAMES];  /* writable words */
    struct opd pair_vars[16];
    uint32_t preds[MAX_NAMES], pred_vars[64];
    uint32_t nwords, npairs, nvars, npreds, npred_vars, npair_vars;
};

/* A loop around what is being generated. */
struct loop {
    uint32_t body, after;
    struct opd count, limit; /* rounds so far; after how many it ends */
};

static uint32_t rnd(struct gen *g, uint32_t n) {
    g->rng ^= g->rng << 13;
    g->rng ^= g->rng >> 7;
    g->rng ^= g->rng << 17;
    return (uint32_t)(g->rng >> 11) % n;
}

static void put(struct gen *g, struct inst i) {
    vec_push(&g->f->blocks.at[g->block].insts, i);
}

static struct inst make(enum op op, struct opd d, uint32_t n, const struct opd *src) {
    struct inst i = inst_new(op);
    i.dst = d;
    i.nsrc = (uint8_t)n;
    for (uint32_t k = 0; k < n; k++)
        i.src[k] = src[k];
    return i;
}

static struct opd temp(struct gen *g, uint32_t words) {
    return opd_reg(fn_vreg(g->f, words), 0);
}

static void publish(struct gen *g, struct opd o) {
    if (g->nwords < MAX_NAMES)
        g->words[g->nwords++] = o;
}

static void publish_pair(struct gen *g, struct opd o) {
    if (g->npairs < MAX_NAMES)
        g->pairs[g->npairs++] = o;
    publish(g, o);
    o.word++;
    publish(g, o);
}

static struct opd pick(struct gen *g) {
    return g->words[rnd(g, g->nwords)];
}

static struct opd pick_pair(struct gen *g) {
    return g->pairs[rnd(g, g->npairs)];
}

static struct popd pick_pred(struct gen *g) {
    return (struct popd){g->preds[rnd(g, g->npreds)], rnd(g, 2)};
}

static uint32_t number(struct gen *g) {
    static const uint32_t usual[] = {0,  1,    2,          4,          8,          16,         31, 32,
                                     63, 0xff, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffc, 12};
    return rnd(g, 4) ? usual[rnd(g, sizeof usual / sizeof *usual)] : rnd(g, 1u << 24);
}

/* A constant, in a register through MOV as the front end leaves it, or as it is. */
static struct opd constant(struct gen *g, bool direct) {
    struct opd c = rnd(g, 3) ? opd_imm(number(g)) : opd_const(BANK_PARAM, 4 * rnd(g, 64));
    if (direct)
        return c;
    struct opd t = temp(g, 1);
    put(g, make(OP_MOV, t, 1, &c));
    return t;
}

/* Operands for i, at most one constant where the form allows it. */
static void fill(struct gen *g, struct inst *i) {
    bool used = false;
    for (uint32_t s = 0; s < i->nsrc; s++) {
        if (!used && !rnd(g, 3) && inst_src_may_be_const(i, s)) {
            i->src[s] = constant(g, true);
            used = true;
        } else {
            i->src[s] = rnd(g, 6) ? pick(g) : rnd(g, 2) ? constant(g, false) : opd_rz();
        }
    }
}

static void maybe_guard(struct gen *g, struct inst *i) {
    if (!rnd(g, 4))
        i->guard = pick_pred(g);
}

static const uint16_t word_ops[] = {
    OP_MOV,  OP_IADD, OP_ISUB, OP_IMUL, OP_IMAD, OP_IMULHI, OP_IMIN,  OP_IMAX,  OP_IABS,
    OP_AND,  OP_OR,   OP_XOR,  OP_NOT,  OP_SHL,  OP_SHR,    OP_LOP3,  OP_SHLHI, OP_SHRLO,
    OP_POPC, OP_BFE,  OP_SEXT, OP_PRMT, OP_SEL,  OP_IDIV,   OP_IREM,  OP_IADD,  OP_IADD,
    OP_XOR,  OP_AND,  OP_FADD, OP_FMUL, OP_FFMA, OP_FMIN,   OP_HADD2, OP_S2R,   OP_BFI,
};

static void gen_word(struct gen *g) {
    enum op op = (enum op)word_ops[rnd(g, sizeof word_ops / sizeof *word_ops)];
    struct inst i = inst_new(op);
    i.nsrc = form_info[op_info[op].form].nsrc;
    i.m.sgn = (op_info[op].flags & OPF_SIGNED) && rnd(g, 2);
    i.m.mode = op == OP_LOP3   ? (uint16_t)rnd(g, 256)
               : op == OP_SEXT ? (uint16_t)rnd(g, 4)
               : op == OP_S2R  ? (uint16_t)rnd(g, 7)
                               : 0;
    fill(g, &i);
    if (op == OP_SEL)
        i.psrc[0] = pick_pred(g);
    if (op_info[op].flags & OPF_FMOD)
        for (uint32_t s = 0; s < i.nsrc; s++)
            i.src[s].mod = rnd(g, 2) ? (uint8_t)rnd(g, 4) : 0;
    i.m.fuse = (op == OP_FADD || op == OP_FMUL) && rnd(g, 2);
    bool fresh = rnd(g, 2);
    i.dst = fresh ? temp(g, 1) : g->vars[rnd(g, g->nvars)];
    if (!fresh)
        maybe_guard(g, &i);
    put(g, i);
    if (fresh)
        publish(g, i.dst);
}

/* Something plain: a number, an index, a sum or a multiple, a comparison. */
static void gen_plain(struct gen *g) {
    static const uint16_t ops[] = {OP_MOV,  OP_MOV, OP_S2R,  OP_IADD, OP_IADD,
                                   OP_IMUL, OP_SHL, OP_ISUB, OP_IMAD, OP_ISETP};
    struct inst i = inst_new((enum op)ops[rnd(g, sizeof ops / sizeof *ops)]);
    i.nsrc = form_info[op_info[i.op].form].nsrc;
    for (uint32_t s = 0; s < i.nsrc; s++)
        i.src[s] = s == 1 && rnd(g, 3) ? opd_imm(rnd(g, 8)) : i.op == OP_MOV ? opd_imm(rnd(g, 8)) : pick(g);
    if (i.op == OP_S2R)
        i.m.mode = (uint16_t)rnd(g, SR_CTAID_Z + 1);
    if (i.op == OP_ISETP) {
        i.m.cmp = (uint8_t)(1 + rnd(g, 6));
        i.pdst[0].id = g->pred_vars[rnd(g, g->npred_vars)];
    } else {
        i.dst = g->vars[rnd(g, g->nvars)];
        if (i.nsrc > 1 && rnd(g, 2)) /* goes on from round to round of a loop */
            i.src[0] = i.dst;
    }
    maybe_guard(g, &i);
    put(g, i);
}

/* x with its sign bit changed, then used by a floating-point operation. */
static void gen_sign(struct gen *g) {
    bool neg = rnd(g, 2);
    struct opd t = temp(g, 1), src[2] = {pick(g), opd_imm(neg ? 0x80000000u : 0x7fffffffu)};
    put(g, make(neg ? OP_XOR : OP_AND, t, 2, src));
    struct opd both[2] = {t, pick(g)};
    struct inst i = make(OP_FADD, temp(g, 1), 2, both);
    i.src[0].mod = (uint8_t)rnd(g, 4);
    put(g, i);
    publish(g, i.dst);
    struct opd pair = pick_pair(g), d = temp(g, 2), hi = pair, lo = pair;
    hi.word++;
    struct opd dhi = opd_reg(d.v, 1), change[2] = {hi, src[1]};
    put(g, make(OP_MOV, d, 1, &lo));
    put(g, make(neg ? OP_XOR : OP_AND, dhi, 2, change));
    struct opd wide[2] = {d, pick_pair(g)};
    struct inst j = make(OP_DADD, temp(g, 2), 2, wide);
    j.src[0].mod = (uint8_t)rnd(g, 4);
    put(g, j);
    publish_pair(g, j.dst);
}

static void carry_word(struct gen *g, enum op op, struct opd d, struct opd a, struct opd b, uint32_t out,
                       uint32_t in) {
    struct opd src[2] = {a, b};
    struct inst i = make(op, d, 2, src);
    i.pdst[0].id = out;
    i.psrc[0] =
        (struct popd){in, in == VPRED_PT && op == OP_IADDC}; /* a carry into a subtraction means no borrow */
    put(g, i);
}

/* A 64-bit sum of two pairs, or of a pair and a constant. */
static struct opd gen_add64(struct gen *g, bool fresh, struct opd a, bool by_constant) {
    struct opd d = fresh ? temp(g, 2) : g->pair_vars[rnd(g, g->npair_vars)];
    struct opd b = pick_pair(g), a1 = a, b1 = b, d1 = d;
    a1.word++, b1.word++, d1.word++;
    uint32_t carry = fn_pred(g->f), k = rnd(g, 3) ? 4 * rnd(g, 100) : number(g);
    enum op op = by_constant || rnd(g, 3) ? OP_IADDC : OP_ISUBC;
    /* Words are written one after the other, so a source that is also the destination goes through a copy. */
    if (!fresh) {
        struct opd copy = temp(g, 2), copy1 = opd_reg(copy.v, 1);
        put(g, make(OP_MOV, copy, 1, &a));
        put(g, make(OP_MOV, copy1, 1, &a1));
        a = copy, a1 = copy1;
        struct opd other = temp(g, 2), other1 = opd_reg(other.v, 1);
        put(g, make(OP_MOV, other, 1, &b));
        put(g, make(OP_MOV, other1, 1, &b1));
        b = other, b1 = other1;
    }
    carry_word(g, op, d, a, by_constant ? opd_imm(k) : b, carry, VPRED_PT);
    carry_word(g, op, d1, a1, by_constant ? opd_imm(rnd(g, 4) ? 0 : (uint32_t)((int32_t)k >> 31)) : b1,
               VPRED_PT, carry);
    if (fresh)
        publish_pair(g, d);
    return d;
}

/* A product and a sum that may become one. */
static void gen_fused(struct gen *g) {
    struct opd factors[2] = {pick_pair(g), pick_pair(g)};
    struct inst mul = make(OP_DMUL, temp(g, 2), 2, factors);
    mul.m.fuse = true;
    mul.src[0].mod = rnd(g, 2) ? OMOD_NEG : 0;
    put(g, mul);
    struct opd terms[2] = {rnd(g, 2) ? pick_pair(g) : mul.dst, mul.dst};
    struct inst add = make(OP_DADD, temp(g, 2), 2, terms);
    add.m.fuse = rnd(g, 4);
    add.src[1].mod = (uint8_t)rnd(g, 4);
    put(g, add);
    publish_pair(g, add.dst);
    if (!rnd(g, 3))
        publish_pair(g, mul.dst);
}

static void gen_wide(struct gen *g) {
    struct inst i = inst_new(rnd(g, 3) ? OP_IMULW : OP_IMADW);
    i.nsrc = i.op == OP_IMULW ? 2 : 3;
    i.m.sgn = rnd(g, 2);
    i.src[0] = pick(g);
    i.src[1] = rnd(g, 2) ? opd_imm(number(g)) : pick(g);
    if (i.op == OP_IMADW)
        i.src[2] = pick_pair(g);
    i.dst = temp(g, 2);
    put(g, i);
    publish_pair(g, i.dst);
    if (rnd(g, 2))
        gen_add64(g, rnd(g, 2), i.dst, false);
}

/* An offset below GEN_BUFFER / 2, aligned to so many bytes: from anything, of the thread's number, or fixed.
 */
static struct opd gen_offset(struct gen *g, uint32_t bytes) {
    uint32_t kind = rnd(g, 3);
    struct opd t = temp(g, 1), fixed = opd_imm(rnd(g, 64) * bytes);
    if (kind == 0) {
        struct opd src[2] = {pick(g), opd_imm((GEN_BUFFER / 2 - 1) & ~(bytes - 1))};
        put(g, make(OP_AND, t, 2, src));
    } else if (kind == 1) {
        struct inst tid = inst_new(OP_S2R);
        tid.m.mode = (uint16_t)(SR_TID_X + rnd(g, 3));
        tid.dst = temp(g, 1);
        put(g, tid);
        struct opd scaled[2] = {tid.dst, opd_imm(bytes)};
        put(g, make(OP_IMUL, t, 2, scaled));
    } else {
        put(g, make(OP_MOV, t, 1, &fixed));
    }
    return t;
}

/* A pointer parameter, in a pair. */
static struct opd gen_pointer(struct gen *g) {
    struct opd p = temp(g, 2);
    uint32_t at = PARAM_BASE + 8 * rnd(g, GEN_BUFFERS);
    for (uint32_t w = 0; w < 2; w++) {
        struct opd c = opd_const(BANK_PARAM, at + 4 * w), d = opd_reg(p.v, w);
        put(g, make(OP_MOV, d, 1, &c));
    }
    return p;
}

/* The address of an access of the machine's threads. */
static void gen_address(struct gen *g, struct inst *i) {
    uint32_t bytes = (uint32_t)i->m.size * i->m.vec;
    struct opd offset = gen_offset(g, bytes);
    i->imm = (int32_t)(rnd(g, 32) * bytes);
    i->m.a64 = i->m.space == MS_GLOBAL;
    if (i->m.space == MS_SHARED) {
        i->src[0] = offset;
        return;
    }
    struct opd p = gen_pointer(g), d = temp(g, 2), p1 = opd_reg(p.v, 1), d1 = opd_reg(d.v, 1);
    if (rnd(g, 2)) {
        struct opd src[3] = {offset, opd_imm(1), p};
        struct inst wide = make(OP_IMADW, d, 3, src);
        wide.m.sgn = rnd(g, 2);
        put(g, wide);
    } else {
        uint32_t carry = fn_pred(g->f);
        carry_word(g, OP_IADDC, d, p, offset, carry, VPRED_PT);
        carry_word(g, OP_IADDC, d1, p1, opd_rz(), VPRED_PT, carry);
    }
    i->src[0] = d;
}

static void gen_memory(struct gen *g, bool store) {
    static const uint8_t sizes[] = {1, 2, 4, 4, 4, 8, 16};
    struct inst i = inst_new(store ? OP_ST : OP_LD);
    i.m.space = rnd(g, 2) ? MS_GLOBAL : MS_SHARED;
    i.m.size = sizes[rnd(g, sizeof sizes)];
    i.m.vec = i.m.size > 8 ? 1 : (uint8_t)(1u << rnd(g, 3));
    i.m.sgn = !store && rnd(g, 2);
    i.m.a64 = i.m.space == MS_GLOBAL && rnd(g, 2);
    i.nsrc = store ? 2 : 1;
    i.imm = (int32_t)rnd(g, 64) * 4 - 128;
    if (g->o->threads) {
        gen_address(g, &i);
    } else if (i.m.a64) {
        struct opd a = pick_pair(g);
        i.src[0] = rnd(g, 2) ? gen_add64(g, true, a, true) : a;
    } else {
        struct opd t = temp(g, 1), src[2] = {pick(g), opd_imm(4 * rnd(g, 100))};
        put(g, make(OP_IADD, t, 2, src));
        i.src[0] = rnd(g, 2) ? t : pick(g);
    }
    uint32_t words = (i.m.size > 4 ? i.m.size / 4u : 1u) * i.m.vec;
    struct opd group = temp(g, words);
    if (store) {
        for (uint32_t w = 0; w < words; w++) {
            struct opd from = pick(g), to = opd_reg(group.v, w);
            put(g, make(OP_MOV, to, 1, &from));
        }
        i.src[1] = group;
        maybe_guard(g, &i);
        put(g, i);
        return;
    }
    i.dst = group;
    put(g, i);
    for (uint32_t w = 0; w < words; w++) {
        struct opd from = opd_reg(group.v, w);
        if (rnd(g, 2))
            publish(g, from);
        else
            put(g, make(OP_MOV, g->vars[rnd(g, g->nvars)], 1, &from));
    }
    if (words >= 2)
        publish_pair(g, group);
}

static void gen_pred(struct gen *g) {
    static const uint16_t ops[] = {OP_ISETP, OP_ISETP, OP_ISETPX, OP_PLOP, OP_FSETP};
    struct inst i = inst_new((enum op)ops[rnd(g, 5)]);
    i.nsrc = form_info[op_info[i.op].form].nsrc;
    i.m.cmp = (uint8_t)rnd(g, 8);
    i.m.sgn = rnd(g, 2);
    i.m.bop = (uint8_t)rnd(g, 3);
    fill(g, &i);
    if (rnd(g, 2) || i.op == OP_PLOP)
        i.psrc[0] = pick_pred(g);
    else
        i.m.bop = BOOL_AND;
    if (i.op == OP_ISETPX || (i.op == OP_PLOP && rnd(g, 2)))
        i.psrc[1] = pick_pred(g);
    bool fresh = rnd(g, 2);
    i.pdst[0].id = fresh ? fn_pred(g->f) : g->pred_vars[rnd(g, g->npred_vars)];
    if (!fresh)
        maybe_guard(g, &i);
    put(g, i);
    if (fresh && g->npreds < MAX_NAMES)
        g->preds[g->npreds++] = i.pdst[0].id;
}

static void gen_list(struct gen *g, uint32_t n);

/* Names made inside a body are not visible behind it. */
struct scope {
    uint32_t nwords, npairs, npreds;
};

static struct scope open_scope(struct gen *g) {
    g->nest++;
    return (struct scope){g->nwords, g->npairs, g->npreds};
}

static void close_scope(struct gen *g, struct scope s) {
    g->nest--;
    g->nwords = s.nwords;
    g->npairs = s.npairs;
    g->npreds = s.npreds;
}

static void jump(struct gen *g, uint32_t from, uint32_t to) {
    struct inst i = inst_new(OP_BRA);
    i.target = to;
    vec_push(&g->f->blocks.at[from].insts, i);
    vec_push(&g->f->blocks.at[from].succ, to);
}

static void fall(struct gen *g, uint32_t from, uint32_t to) {
    vec_push(&g->f->blocks.at[from].succ, to);
}

static void branch(struct gen *g, uint32_t from, struct popd p, uint32_t to, uint32_t next) {
    struct inst i = inst_new(OP_BRA);
    i.guard = p;
    i.target = to;
    vec_push(&g->f->blocks.at[from].insts, i);
    vec_push(&g->f->blocks.at[from].succ, to);
    vec_push(&g->f->blocks.at[from].succ, next);
}

static void gen_if(struct gen *g) {
    uint32_t head = g->block, yes = fn_block(g->f), other = rnd(g, 2) ? fn_block(g->f) : NO_BLOCK,
             join = fn_block(g->f);
    struct popd p = pick_pred(g);
    branch(g, head, p, yes, other == NO_BLOCK ? join : other);
    for (uint32_t side = 0; side < 2; side++) {
        if (side && other == NO_BLOCK)
            break;
        struct scope s = open_scope(g);
        g->block = side ? other : yes;
        gen_list(g, rnd(g, 5));
        if (rnd(g, 2))
            jump(g, g->block, join);
        else
            fall(g, g->block, join);
        close_scope(g, s);
    }
    g->block = join;
}

/* The end of a round: on with the next, or out of the loop. */
static void gen_round(struct gen *g, const struct loop *l) {
    struct opd add[2] = {l->count, opd_imm(1)};
    put(g, make(OP_IADD, l->count, 2, add));
    struct inst cmp = inst_new(OP_ISETP);
    cmp.nsrc = 2;
    cmp.src[0] = l->count;
    cmp.src[1] = l->limit;
    cmp.m.cmp = CMP_LT;
    cmp.pdst[0].id = fn_pred(g->f);
    put(g, cmp);
    branch(g, g->block, (struct popd){cmp.pdst[0].id, false}, l->body, l->after);
}

static void gen_loop(struct gen *g) {
    struct opd count = temp(g, 1), zero = opd_imm(0), limit = opd_imm(1 + rnd(g, rnd(g, 3) ? 4 : 12));
    put(g, make(OP_MOV, count, 1, &zero));
    if (g->o->threads && rnd(g, 2)) { /* threads have limits of their own */
        struct opd few[2] = {pick(g), opd_imm(3)};
        limit = temp(g, 1);
        put(g, make(OP_AND, limit, 2, few));
    }
    struct loop l = {fn_block(g->f), fn_block(g->f), count, limit}, *outer = g->loop;
    fall(g, g->block, l.body);
    g->block = l.body;
    g->loop = &l;
    struct scope s = open_scope(g);
    publish(g, count);
    gen_list(g, 1 + rnd(g, 8));
    gen_round(g, &l);
    close_scope(g, s);
    g->loop = outer;
    g->block = l.after;
}

/* Some threads leave the loop, go on with its next round, or end. */
static void gen_leave(struct gen *g) {
    uint32_t next = fn_block(g->f), kind = g->loop ? rnd(g, 3) : 2;
    if (kind == 0) {
        branch(g, g->block, pick_pred(g), g->loop->after, next);
    } else if (kind == 1) {
        uint32_t again = fn_block(g->f);
        branch(g, g->block, pick_pred(g), again, next);
        g->block = again;
        gen_round(g, g->loop);
    } else {
        struct inst out = inst_new(OP_EXIT);
        out.guard = pick_pred(g);
        put(g, out);
        fall(g, g->block, next);
    }
    g->block = next;
}

static void gen_call(struct gen *g) {
    struct opd fp = opd_reg(g->f->fp, 0);
    struct inst st = inst_new(OP_ST), ld = inst_new(OP_LD), call = inst_new(OP_CALL);
    st.m.space = ld.m.space = MS_LOCAL;
    st.m.size = ld.m.size = 4;
    st.m.vec = ld.m.vec = 1;
    st.frame = ld.frame = true;
    st.nsrc = 2;
    ld.nsrc = 1;
    st.src[0] = ld.src[0] = fp;
    st.src[1] = pick(g);
    st.imm = 4;
    put(g, st);
    struct opd up[2] = {fp, opd_imm(1)}, down[2] = {fp, opd_imm(0xffffffffu)};
    struct inst move = make(OP_IADD, fp, 2, up);
    move.frame = true;
    put(g, move);
    call.target = 1;
    put(g, call);
    move = make(OP_IADD, fp, 2, down);
    move.frame = true;
    put(g, move);
    ld.dst = temp(g, 1);
    put(g, ld);
    publish(g, ld.dst);
}

static void gen_statement(struct gen *g) {
    uint32_t k = rnd(g, 100);
    if (g->o->threads && rnd(g, 3))
        k = 80 + rnd(g, 20);
    if (g->o->threads && k >= 80 && rnd(g, 3))
        gen_plain(g);
    else if (k < 40)
        gen_word(g);
    else if (k < 48)
        gen_pred(g);
    else if (k < 54)
        gen_add64(g, rnd(g, 2), pick_pair(g), rnd(g, 2));
    else if (k < 60)
        gen_wide(g);
    else if (k < 66)
        gen_memory(g, false);
    else if (k < 78)
        gen_memory(g, true);
    else if (k < 80)
        gen_sign(g);
    else if (k < 82)
        gen_fused(g);
    else if (k < 84 && g->o->calls && g->f->entry)
        gen_call(g);
    else if (k < 86 && g->o->threads)
        gen_leave(g);
    else if (g->nest < MAX_NEST && k < 93)
        gen_if(g);
    else if (g->nest < MAX_NEST)
        gen_loop(g);
}

static void gen_list(struct gen *g, uint32_t n) {
    for (uint32_t k = 0; k < n && g->budget; k++) {
        g->budget--;
        gen_statement(g);
    }
}

/* Every variable starts with a value. */
static void declare(struct gen *g, uint32_t vars, uint32_t preds) {
    for (uint32_t k = 0; k < vars; k++) {
        struct opd v = temp(g, 1), c = opd_const(BANK_PARAM, 4 * k);
        struct inst i = make(OP_MOV, v, 1, &c);
        if (g->o->threads && rnd(g, 2)) {
            i = make(OP_S2R, v, 0, NULL);
            i.m.mode = (uint16_t)rnd(g, SR_CTAID_Z + 1);
        }
        put(g, i);
        g->vars[g->nvars++] = v;
        publish(g, v);
    }
    for (uint32_t k = 0; k < 4; k++) {
        struct opd v = temp(g, 2);
        for (uint32_t w = 0; w < 2; w++) {
            struct opd c = opd_const(BANK_PARAM, 8 * k + 4 * w + 256), d = opd_reg(v.v, w);
            put(g, make(OP_MOV, d, 1, &c));
        }
        g->pair_vars[g->npair_vars++] = v;
        publish_pair(g, v);
    }
    for (uint32_t k = 0; k < preds; k++) {
        struct inst i = inst_new(OP_ISETP);
        i.nsrc = 2;
        i.src[0] = pick(g);
        i.src[1] = opd_imm(g->o->threads ? 1 + rnd(g, 3) : number(g));
        i.m.cmp = CMP_LT;
        i.pdst[0].id = fn_pred(g->f);
        put(g, i);
        g->preds[g->npreds++] = g->pred_vars[g->npred_vars++] = i.pdst[0].id;
    }
}

/* All variables are stored at the end, so that all are alive throughout. */
static void finish(struct gen *g, struct opd base, bool local) {
    struct opd to = g->o->threads ? gen_pointer(g) : opd_rz();
    for (uint32_t k = 0; k < g->nvars; k++) {
        struct inst i = inst_new(OP_ST);
        i.m.space = MS_GLOBAL;
        i.m.size = 4;
        i.m.vec = 1;
        i.nsrc = 2;
        i.m.a64 = g->o->threads;
        i.src[0] = to;
        i.src[1] = g->vars[k];
        i.imm = 4 * (int32_t)k;
        put(g, i);
    }
    for (uint32_t k = 0; k < g->npred_vars; k++) {
        struct opd src[2] = {opd_rz(), opd_imm(k + 1)}, d = temp(g, 1);
        struct inst sel = make(OP_SEL, d, 2, src), i = inst_new(OP_ST);
        sel.psrc[0] = (struct popd){g->pred_vars[k], false};
        put(g, sel);
        i.m.space = MS_GLOBAL;
        i.m.size = 4;
        i.m.vec = 1;
        i.nsrc = 2;
        i.m.a64 = g->o->threads;
        i.src[0] = to;
        i.src[1] = d;
        i.imm = 2048 + 4 * (int32_t)k;
        put(g, i);
    }
    if (!local)
        return;
    struct inst i = inst_new(OP_ST);
    i.m.space = MS_LOCAL;
    i.m.size = 4;
    i.m.vec = 1;
    i.nsrc = 2;
    i.src[0] = base;
    i.src[1] = g->vars[0];
    put(g, i);
}

static void gen_fn(struct gen *g, const char *name, bool entry) {
    struct fn *f = fn_create(g->p, name);
    vec_push(&g->p->fns, f);
    vec_push(&g->p->fn_ids, g->p->fns.len - 1);
    g->f = f;
    g->block = fn_block(f);
    g->nwords = g->npairs = g->nvars = g->npreds = g->npred_vars = g->npair_vars = g->nest = 0;
    f->entry = entry;
    f->fp = VREG_RZ;
    if (!entry || g->o->calls) {
        f->fp = fn_vreg(f, 1);
        f->calls = true;
    }
    if (entry && f->fp != VREG_RZ) {
        struct opd zero = opd_imm(0);
        put(g, make(OP_MOV, opd_reg(f->fp, 0), 1, &zero));
    }
    g->budget = entry ? g->o->size : 20;
    declare(g, entry ? g->o->vars : 4, entry ? g->o->preds : 2);
    if (!entry) {
        f->frame = f->args = 16;
        struct inst ld = inst_new(OP_LD);
        ld.m.space = MS_LOCAL;
        ld.m.size = 4;
        ld.m.vec = 1;
        ld.nsrc = 1;
        ld.src[0] = opd_reg(f->fp, 0);
        ld.imm = 4;
        ld.dst = temp(g, 1);
        put(g, ld);
        publish(g, ld.dst);
    }
    while (g->budget)
        gen_list(g, g->budget);
    finish(g, f->fp == VREG_RZ ? opd_rz() : opd_reg(f->fp, 0), !entry);
    put(g, inst_new(entry ? OP_EXIT : OP_RET));
}

void gen_program(struct program *p, const struct gen_options *o) {
    struct gen *g = xcalloc(1, sizeof *g);
    g->p = p;
    g->o = o;
    g->rng = o->seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    p->name = "random";
    gen_fn(g, "random", true);
    if (o->calls)
        gen_fn(g, "helper", false);
    free(g);
}
