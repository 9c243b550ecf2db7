/* Strength reduction and the machine's composite operations: multiplications by powers of two become shifts,
 * unsigned divisions too; a multiplication and the addition that uses it become IMAD, or IMAD.WIDE for 64-bit
 * addresses; extensions of values that are already extended become
 * moves. Integer only: fusing floating-point operations would change results. */
#include "opt/walk.h"

static bool power_of_two(uint32_t v, uint32_t *k) {
    if (!v || (v & (v - 1)))
        return false;
    *k = (uint32_t)__builtin_ctz(v);
    return true;
}

static bool cheaper(struct inst *i) {
    uint32_t k;
    if (i->nsrc != 2 || i->src[1].kind != O_IMM || !power_of_two(i->src[1].v, &k))
        return false;
    if (i->op == OP_IMUL) {
        i->op = OP_SHL;
        i->src[1] = opd_imm(k);
    } else if (i->op == OP_IDIV && !i->m.sgn) {
        i->op = OP_SHR;
        i->src[1] = opd_imm(k);
    } else if (i->op == OP_IREM && !i->m.sgn) {
        i->op = OP_AND;
        i->src[1] = opd_imm((1u << k) - 1);
        i->m.sgn = false;
    } else {
        return false;
    }
    return true;
}

/* d = a - a and relatives. */
static bool cancels(struct inst *i) {
    if ((i->op != OP_ISUB && i->op != OP_XOR) || i->src[0].kind != O_REG || !opd_eq(&i->src[0], &i->src[1]))
        return false;
    i->op = OP_MOV;
    i->nsrc = 1;
    i->src[0] = opd_rz();
    return true;
}

/* True when word value is already what SEXT with the given mode would make of it. */
static bool already_extended(const struct walk *w, const struct opd *o, uint32_t mode) {
    struct def_site at;
    bool sgn = mode & 1;
    uint32_t size = mode & 2 ? 2 : 1;
    if (o->kind != O_REG || is_rz(o))
        return is_rz(o);
    const struct inst *i = walk_def(w, value_of_opd(&w->d.v, o), &at);
    if (!i)
        return false;
    switch (i->op) {
    case OP_LD:
    case OP_LDC:
        return i->m.sgn == sgn ? i->m.size <= size : !i->m.sgn && i->m.size < size;
    case OP_SEXT:
        return i->m.mode == mode || (!(i->m.mode & 1) && (i->m.mode & 2) < (mode & 2));
    case OP_AND:
        return i->src[1].kind == O_IMM && i->src[1].v < 1u << (8 * size - sgn);
    default:
        return false;
    }
}

static bool drop_extension(const struct walk *w, struct inst *i) {
    if (i->op != OP_SEXT || !already_extended(w, &i->src[0], i->m.mode))
        return false;
    i->op = OP_MOV;
    i->m = (struct imods){0};
    return true;
}

/* a * b + c in one when the product is used nowhere else and was made in this block. */
static bool fuse_add(const struct walk *w, struct inst *i) {
    if (i->op != OP_IADD || is_frame_value(i) || is_guarded(i))
        return false;
    for (uint32_t s = 0; s < 2; s++) {
        struct def_site at;
        const struct opd *o = &i->src[s], *other = &i->src[1 - s];
        if (o->kind != O_REG || is_rz(o) || w->d.uses[value_of_opd(&w->d.v, o)] != 1)
            continue;
        const struct inst *m = walk_def(w, value_of_opd(&w->d.v, o), &at);
        if (!m || m->op != OP_IMUL || at.block != w->block)
            continue;
        if (!walk_same_opd(w, &m->src[0], 1, at) || !walk_same_opd(w, &m->src[1], 1, at))
            continue;
        if (is_const(other) && (is_const(&m->src[0]) || is_const(&m->src[1])))
            continue;
        struct opd c = *other;
        i->op = OP_IMAD;
        i->src[0] = m->src[0];
        i->src[1] = m->src[1];
        i->src[2] = c;
        i->nsrc = 3;
        return true;
    }
    return false;
}

/* The low half of the 64-bit addition whose high half is at hand, if nothing in between touches what both
 * share. */
static struct inst *low_half(const struct walk *w, const struct inst *hi, struct def_site *at) {
    if (hi->op != OP_IADDC || hi->pdst[0].id != VPRED_PT || hi->psrc[0].id == VPRED_PT || hi->psrc[0].neg ||
        is_guarded(hi))
        return NULL;
    uint32_t carry = value_of_pred(&w->d.v, hi->psrc[0].id);
    struct inst *lo = walk_def(w, carry, at);
    if (!lo || lo->op != OP_IADDC || !is_pf(&lo->psrc[0]) || at->block != w->block || w->d.uses[carry] != 1)
        return NULL;
    if (lo->dst.v != hi->dst.v || is_rz(&lo->dst) || lo->dst.word % 2 || lo->dst.word + 1 != hi->dst.word)
        return NULL;
    struct block *b = &w->f->blocks.at[w->block];
    uint32_t value = value_of_opd(&w->d.v, &lo->dst);
    for (uint32_t k = at->index + 1; k < w->index; k++) {
        struct span span[MAX_SPANS];
        for (int write = 0; write < 2; write++) {
            uint32_t n = (write ? inst_writes : inst_reads)(&w->d.v, &b->insts.at[k], span);
            for (uint32_t j = 0; j < n; j++)
                if (span[j].first <= value && value < span[j].first + span[j].n)
                    return NULL;
        }
    }
    return lo;
}

/* Words x and y form a pair operand: a register pair or two neighbouring constants. */
static bool is_pair(const struct opd *x, const struct opd *y) {
    if (x->kind != y->kind || x->mod || y->mod)
        return false;
    if (is_rz(x) && is_rz(y))
        return true;
    if (x->kind == O_REG)
        return x->v == y->v && !is_rz(x) && x->word % 2 == 0 && x->word + 1 == y->word;
    return x->kind == O_CONST && x->bank == y->bank && x->v % 8 == 0 && x->v + 4 == y->v;
}

/* {hi, lo} = product + c as one IMAD.WIDE. */
static bool fuse_wide(const struct walk *w, struct inst *hi) {
    struct def_site lo_at, m_at, m_hi_at;
    struct inst *lo = low_half(w, hi, &lo_at);
    for (uint32_t s = 0; lo && s < 2; s++) {
        const struct opd *x = &lo->src[s];
        for (uint32_t t = 0; t < 2; t++) {
            const struct opd *y = &hi->src[t];
            if (x->kind != O_REG || is_rz(x) || !is_pair(x, y) || !is_pair(&lo->src[1 - s], &hi->src[1 - t]))
                continue;
            const struct inst *m = walk_def(w, value_of_opd(&w->d.v, x), &m_at);
            if (!m || m->op != OP_IMULW || m != walk_def(w, value_of_opd(&w->d.v, y), &m_hi_at))
                continue;
            if (m->dst.v != x->v || m->dst.word != x->word)
                continue;
            if (!walk_same_opd(w, &m->src[0], 1, m_at) || !walk_same_opd(w, &m->src[1], 1, m_at))
                continue;
            struct opd c = lo->src[1 - s];
            /* Apart from the low word of the sum itself, nothing may have changed since the low half. */
            struct opd c_hi = hi->src[1 - t];
            bool same =
                c.kind != O_REG || is_rz(&c) || opd_eq(&c, &lo->dst) || walk_same_opd(w, &c, 1, lo_at);
            if (!same || is_const(&c_hi) != is_const(&c))
                continue;
            struct inst wide = *hi;
            wide.op = OP_IMADW;
            wide.m = m->m;
            wide.dst = lo->dst;
            wide.nsrc = 3;
            wide.src[0] = m->src[0];
            wide.src[1] = m->src[1];
            wide.src[2] = c;
            wide.psrc[0] = (struct popd){.id = VPRED_PT};
            uint32_t k = is_const(&wide.src[0]) ? 0 : 1;
            if (is_const(&c) &&
                is_const(&wide.src[k])) { /* one of two constants waits where the sum will be */
                lo->op = OP_MOV;
                lo->nsrc = 1;
                lo->src[0] = wide.src[k];
                wide.src[k] = lo->dst;
            } else {
                lo->op = OP_NOP;
                lo->nsrc = 0;
                lo->dst.kind = O_NONE;
            }
            lo->pdst[0] = lo->psrc[0] = (struct popd){.id = VPRED_PT};
            *hi = wide;
            return true;
        }
    }
    return false;
}

/* A wide product of which only the low word is read is a plain one; adding zero to it is no addition. */
static bool narrow(const struct walk *w, struct inst *i) {
    if ((i->op != OP_IMULW && i->op != OP_IMADW) || is_rz(&i->dst))
        return false;
    if (!w->d.uses[value_of_opd(&w->d.v, &i->dst) + 1]) {
        i->op = i->op == OP_IMULW ? OP_IMUL : OP_IMAD;
        i->m.sgn = false;
        return true;
    }
    if (i->op == OP_IMADW && is_rz(&i->src[2])) {
        i->op = OP_IMULW;
        i->nsrc = 2;
        return true;
    }
    return false;
}

bool opt_strength(struct program *p, struct fn *f) {
    (void)p;
    struct walk w;
    bool changed = false;
    walk_begin(&w, f);
    for (struct inst *i; (i = walk_next(&w));) {
        changed |= cheaper(i);
        changed |= cancels(i);
        changed |= drop_extension(&w, i);
        changed |= narrow(&w, i);
        changed |= fuse_add(&w, i);
        changed |= fuse_wide(&w, i);
    }
    walk_end(&w);
    fn_compact(f);
    return changed;
}
