/* Operations of three operands: a shift and the addition that uses it become LEA, two additions IADD3, trees
 * of logic operations LOP3; and 64-bit shifts of extended words become products.
 *
 * The inner operation must be used nowhere else and stand in the same block, with its operands as they were;
 * it is then dead. Passes that look for additions and shifts, for addresses, come before this one. GPUs have
 * these operations from Maxwell on. */
#include "opt/walk.h"

/* ---- what all share ---- */

/* The instruction whose result source s of i and at most uses in all read, if it can be computed here as
 * well. */
static const struct inst *inner(const struct walk *w, const struct inst *i, uint32_t s, uint32_t uses) {
    struct def_site at;
    const struct opd *o = &i->src[s];
    if (o->kind != O_REG || is_rz(o) || o->mod)
        return NULL;
    uint32_t value = value_of_opd(&w->d.v, o);
    const struct inst *m = w->d.uses[value] <= uses ? walk_def(w, value, &at) : NULL;
    if (!m || at.block != w->block || m->frame || inst_dst_words(m) != 1)
        return NULL;
    for (uint32_t k = 0; k < m->nsrc; k++)
        if (!walk_same_opd(w, &m->src[k], inst_src_words(m, k), at))
            return NULL;
    return m;
}

/* Operands of a new instruction: a register comes first, and one may be a constant. */
struct operands {
    struct opd at[3];
    uint32_t n;
};

static bool fits(const struct operands *o) {
    uint32_t constants = 0;
    for (uint32_t k = 0; k < o->n; k++)
        constants += is_const(&o->at[k]);
    return constants <= 1;
}

/* ---- additions ---- */

static bool is_sum(const struct inst *i) {
    return (i->op == OP_IADD || i->op == OP_ISUB) && !is_frame_value(i);
}

/* What LEA and LEA.HI can do of a shift: to the left, of one word or of two, or of one to the right. */
static bool as_lea(const struct inst *m, struct inst *out) {
    uint32_t by = m->nsrc > 1 && m->src[1].kind == O_IMM ? m->src[1].v : 0;
    if (by < 1 || by > 31 || is_const(&m->src[0]))
        return false;
    bool right = m->op == OP_SHR && !m->m.sgn,
         pair = m->op == OP_SHF && !(m->m.mode & SHF_RIGHT) && !is_const(&m->src[2]);
    if (m->op != OP_SHL && !right && !pair)
        return false;
    *out = inst_new(m->op == OP_SHL ? OP_LEA : OP_LEAHI);
    out->m.mode = (uint16_t)(right ? 32 - by : by);
    out->nsrc = m->op == OP_SHL ? 2 : 3;
    out->src[0] = m->src[0];
    out->src[2] = right ? opd_rz() : m->src[2];
    return true;
}

static bool shift_and_add(const struct walk *w, struct inst *i) {
    for (uint32_t s = 0; s < 2 && i->op == OP_IADD; s++) {
        struct inst lea;
        const struct inst *m = inner(w, i, s, 1);
        if (!m || !as_lea(m, &lea))
            continue;
        i->op = lea.op;
        i->m.mode = lea.m.mode;
        i->nsrc = lea.nsrc;
        i->src[1] = i->src[1 - s];
        i->src[0] = lea.src[0];
        if (lea.nsrc == 3)
            i->src[2] = lea.src[2];
        return true;
    }
    return false;
}

static bool add_three(const struct walk *w, struct inst *i) {
    for (uint32_t s = 0; s < 2; s++) {
        const struct inst *m = inner(w, i, s, 1);
        if (!m || !is_sum(m))
            continue;
        bool minus = s == 1 && i->op == OP_ISUB, other_minus = s == 0 && i->op == OP_ISUB;
        struct operands o = {{m->src[0], m->src[1], i->src[1 - s]}, 3};
        bool negative[3] = {minus, minus != (m->op == OP_ISUB), other_minus};
        if (!fits(&o))
            continue;
        if (is_const(&o.at[0])) { /* ISUB takes it there */
            struct opd t = o.at[0];
            bool n = negative[0];
            o.at[0] = o.at[2], negative[0] = negative[2];
            o.at[2] = t, negative[2] = n;
        }
        i->op = OP_IADD3;
        i->m.mode = (uint16_t)(negative[0] | negative[1] << 1 | negative[2] << 2);
        i->nsrc = 3;
        for (uint32_t k = 0; k < 3; k++)
            i->src[k] = o.at[k];
        return true;
    }
    return false;
}

/* True when operand o is the sign of word x, all ones or zero. */
static bool is_sign_of(const struct walk *w, const struct opd *o, const struct opd *x) {
    struct def_site at;
    if (o->kind != O_REG || is_rz(o))
        return false;
    const struct inst *i = walk_def(w, value_of_opd(&w->d.v, o), &at);
    return i && i->op == OP_SHR && i->m.sgn && i->src[1].kind == O_IMM && i->src[1].v == 31 &&
           opd_eq(&i->src[0], x) && walk_same_opd(w, x, 1, at);
}

/* A 64-bit shift to the left of an extended word, high half first, becomes a wide product, so that neither
 * the extension nor the second half is needed. Vendors' compilers shift and add 64 bits in two instructions;
 * here these are three. */
static bool widen(const struct walk *w, struct inst *lo) {
    if (lo->op != OP_SHL || !w->index || is_guarded(lo) || is_rz(&lo->dst))
        return false;
    struct inst *hi = &w->f->blocks.at[w->block].insts.at[w->index - 1];
    const struct opd *x = &lo->src[0];
    if (hi->op != OP_SHLHI || is_guarded(hi) || hi->dst.v != lo->dst.v || lo->dst.word % 2 ||
        lo->dst.word + 1 != hi->dst.word || !opd_eq(&hi->src[0], x) || !opd_eq(&hi->src[1], &lo->src[1]))
        return false;
    if (x->kind != O_REG || is_rz(x) || opd_eq(x, &hi->dst) || lo->src[1].kind != O_IMM || lo->src[1].v > 30)
        return false;
    bool sgn = !is_rz(&hi->src[2]);
    if (sgn && !is_sign_of(w, &hi->src[2], x))
        return false;
    lo->op = OP_IMULW;
    lo->m.sgn = sgn;
    lo->src[1] = opd_imm(1u << lo->src[1].v);
    hi->op = OP_NOP;
    hi->nsrc = 0;
    hi->dst.kind = O_NONE;
    return true;
}

/* ---- logic ---- */

/* A logic operation as a table: bit (4a + 2b + c) is its result for those bits of the operands. */
struct logic {
    struct operands o;
    uint32_t table;
};

/* An operation that is used twice may be done twice, since that takes no instruction more. */
enum { MAX_USES = 2 };

static const uint8_t variable[3] = {0xf0, 0xcc, 0xaa};

static bool logic_of(const struct inst *i, struct logic *out) {
    *out = (struct logic){.o = {.n = i->nsrc}};
    for (uint32_t k = 0; k < i->nsrc && k < 3; k++)
        out->o.at[k] = i->src[k];
    switch (i->op) {
    case OP_AND:
        out->table = variable[0] & variable[1];
        return true;
    case OP_OR:
        out->table = variable[0] | variable[1];
        return true;
    case OP_XOR:
        out->table = variable[0] ^ variable[1];
        return true;
    case OP_NOT:
        out->table = 0xff & ~variable[0];
        return true;
    case OP_LOP3:
        out->table = i->m.mode & 0xff;
        return true;
    default:
        return false;
    }
}

/* Where operand x stands in o, added if need be; 3: there is no room. */
static uint32_t place(struct operands *o, const struct opd *x) {
    for (uint32_t k = 0; k < o->n; k++)
        if (opd_eq(&o->at[k], x))
            return k;
    if (o->n < 3)
        o->at[o->n] = *x;
    return o->n < 3 ? o->n++ : 3;
}

/* What table gives when its operands have the columns in. */
static uint32_t apply(uint32_t table, const uint32_t in[3]) {
    uint32_t out = 0;
    for (uint32_t row = 0; row < 8; row++) {
        uint32_t at = (in[0] >> row & 1) << 2 | (in[1] >> row & 1) << 1 | (in[2] >> row & 1);
        out |= (table >> at & 1) << row;
    }
    return out;
}

static bool columns_of(struct operands *o, const struct logic *l, uint32_t skip, uint32_t in[3]) {
    for (uint32_t k = 0; k < l->o.n; k++) {
        if (k == skip || is_rz(&l->o.at[k]))
            continue; /* zero takes no place */
        uint32_t at = place(o, &l->o.at[k]);
        if (at == 3)
            return false;
        in[k] = variable[at];
    }
    return true;
}

static bool absorb_logic(const struct walk *w, struct inst *i) {
    struct logic outer, within;
    for (uint32_t s = 0; logic_of(i, &outer) && s < i->nsrc; s++) {
        const struct inst *m = inner(w, i, s, MAX_USES);
        if (!m || !logic_of(m, &within))
            continue;
        struct operands o = {0};
        uint32_t in[3] = {0}, below[3] = {0};
        if (!columns_of(&o, &within, NONE, below) || !columns_of(&o, &outer, s, in) || !fits(&o))
            continue;
        in[s] = apply(within.table, below);
        uint32_t table = apply(outer.table, in);
        while (o.n < 3)
            o.at[o.n++] = opd_rz();
        if (is_const(&o.at[0])) { /* swap it with the last, and the table's rows with them */
            struct opd t = o.at[0];
            o.at[0] = o.at[2];
            o.at[2] = t;
            table = apply(table, (const uint32_t[3]){variable[2], variable[1], variable[0]});
        }
        i->op = OP_LOP3;
        i->m = (struct imods){.mode = (uint16_t)table};
        i->nsrc = 3;
        for (uint32_t k = 0; k < 3; k++)
            i->src[k] = o.at[k];
        return true;
    }
    return false;
}

bool opt_fuse(struct program *p, struct fn *f) {
    (void)p;
    bool changed = false;
    for (bool again = true; again;) { /* uses are counted once for each walk */
        struct walk w;
        again = false;
        walk_begin(&w, f);
        for (struct inst *i; (i = walk_next(&w));) {
            bool sum = is_sum(i) && !is_guarded(i);
            again |= sum && (shift_and_add(&w, i) || add_three(&w, i));
            again |= widen(&w, i);
            again |= !is_guarded(i) && absorb_logic(&w, i);
        }
        walk_end(&w);
        if (again)
            opt_dce(p, f);
        changed |= again;
    }
    return changed;
}
