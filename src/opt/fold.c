/* Constant folding: what can be computed now is, and operations with a neutral operand become moves. Of
 * floating point only comparisons of ordinary numbers, which all machines agree on; the rest would have to
 * repeat rounding and NaN rules that belong to the executors. */
#include <math.h>
#include <string.h>

#include "isa/eval.h"
#include "opt/walk.h"

enum { MAX_DEPTH = 4 };

static bool pred_known(const struct walk *w, const struct popd *p, uint32_t depth, bool *out);

static bool combine(enum bool_op op, bool a, bool b) {
    return op == BOOL_AND ? a && b : op == BOOL_OR ? a || b : a != b;
}

static bool compare(const struct imods *m, uint32_t a, uint32_t b) {
    bool less = m->sgn ? (int32_t)a < (int32_t)b : a < b;
    return m->cmp & (less ? CMP_LT : a == b ? CMP_EQ : CMP_GT);
}

/* True when operand o is known to be an ordinary number: finite, and not subnormal, which may count as zero.
 */
static bool float_known(const struct walk *w, const struct opd *o, float *out) {
    struct opd plain = *o;
    uint32_t bits;
    plain.mod = 0;
    if (!walk_number(w, &plain, &bits))
        return false;
    if (o->mod & OMOD_ABS)
        bits &= 0x7fffffffu;
    if (o->mod & OMOD_NEG)
        bits ^= 0x80000000u;
    memcpy(out, &bits, sizeof bits);
    return isnormal(*out) || *out == 0.0f;
}

/* Both predicates known, or one that decides. */
static bool combine_known(const struct walk *w, const struct inst *i, const bool *first, uint32_t depth,
                          bool *out) {
    bool a, b, ka = first ? (a = *first, true) : pred_known(w, &i->psrc[0], depth, &a);
    bool kb = pred_known(w, &i->psrc[first ? 0 : 1], depth, &b);
    if (ka && kb) {
        *out = combine(i->m.bop, a, b);
        return true;
    }
    bool decides = i->m.bop == BOOL_OR; /* value of one side that settles AND and OR */
    if (i->m.bop == BOOL_XOR || !((ka && a == decides) || (kb && b == decides)))
        return false;
    *out = decides;
    return true;
}

/* First predicate result of i, whose operands must be now what they were when it ran. */
static bool result_known(const struct walk *w, const struct inst *i, uint32_t depth, bool *out) {
    uint32_t a, b;
    float x, y;
    bool value, cin;
    switch (i->op) {
    case OP_PLOP:
        return combine_known(w, i, NULL, depth, out);
    case OP_ISETP:
        if (!walk_number(w, &i->src[0], &a) || !walk_number(w, &i->src[1], &b))
            return false;
        value = compare(&i->m, a, b);
        return combine_known(w, i, &value, depth, out);
    case OP_FSETP:
        if (!float_known(w, &i->src[0], &x) || !float_known(w, &i->src[1], &y))
            return false;
        value = i->m.cmp & (x < y ? CMP_LT : x == y ? CMP_EQ : CMP_GT);
        return combine_known(w, i, &value, depth, out);
    case OP_IADDC:
    case OP_ISUBC:
        if (!walk_number(w, &i->src[1], &b) || !pred_known(w, &i->psrc[0], depth, &cin))
            return false;
        if (!b && cin == (i->op == OP_ISUBC)) { /* a + 0 + 0, a + ~0 + 1 */
            *out = cin;
            return true;
        }
        if (!walk_number(w, &i->src[0], &a))
            return false;
        *out = (uint64_t)a + (i->op == OP_IADDC ? b : ~b) + cin > UINT32_MAX;
        return true;
    default:
        return false;
    }
}

static bool pred_known(const struct walk *w, const struct popd *p, uint32_t depth, bool *out) {
    struct def_site at;
    if (p->id == VPRED_PT) {
        *out = !p->neg;
        return true;
    }
    const struct inst *i = walk_def(w, value_of_pred(&w->d.v, p->id), &at);
    if (!i || i->pdst[0].id != p->id || depth == MAX_DEPTH)
        return false;
    /* Only if its operands still are what they were. */
    for (uint32_t s = 0; s < i->nsrc; s++)
        if (!walk_same_opd(w, &i->src[s], inst_src_words(i, s), at))
            return false;
    for (uint32_t k = 0; k < 2; k++)
        if (i->psrc[k].id != VPRED_PT && !walk_same(w, value_of_pred(&w->d.v, i->psrc[k].id), at))
            return false;
    if (!result_known(w, i, depth + 1, out))
        return false;
    *out ^= p->neg;
    return true;
}

static void become_mov(struct inst *i, struct opd from) {
    i->op = OP_MOV;
    i->m = (struct imods){0};
    i->nsrc = 1;
    i->src[0] = from.kind == O_IMM && !from.v ? opd_rz() : from;
    for (uint32_t k = 0; k < 2; k++)
        i->pdst[k] = i->psrc[k] = (struct popd){.id = VPRED_PT};
}

/* Predicate sources that are known become PT or !PT. */
static bool settle_preds(const struct walk *w, struct inst *i) {
    bool changed = false, value;
    for (uint32_t k = 0; k < 2; k++)
        if (i->psrc[k].id != VPRED_PT && pred_known(w, &i->psrc[k], 0, &value)) {
            i->psrc[k] = (struct popd){.id = VPRED_PT, .neg = !value};
            changed = true;
        }
    return changed;
}

/* A guard that is known goes, or its instruction does. Branches keep their successors in step. */
static bool settle_guard(const struct walk *w, struct inst *i) {
    struct block *b = &w->f->blocks.at[w->block];
    bool value;
    if (i->guard.id == VPRED_PT || !pred_known(w, &i->guard, 0, &value))
        return false;
    if (!value && !ends_block(i)) {
        i->op = OP_NOP;
        i->nsrc = 0;
        i->dst.kind = O_NONE;
        for (uint32_t k = 0; k < 2; k++)
            i->pdst[k] = i->psrc[k] = (struct popd){.id = VPRED_PT};
    }
    i->guard = (struct popd){.id = VPRED_PT, .neg = ends_block(i) && !value};
    if (ends_block(i) && value)
        b->succ.len--; /* the fall-through comes last */
    return true;
}

/* Operations whose result is their first operand when the second is a certain number. */
static const struct {
    uint16_t op;
    uint32_t neutral;
} neutrals[] = {
    {OP_IADD, 0}, {OP_ISUB, 0}, {OP_OR, 0},    {OP_XOR, 0},          {OP_SHL, 0},
    {OP_SHR, 0},  {OP_IMUL, 1}, {OP_SHRLO, 0}, {OP_AND, UINT32_MAX},
};

static bool neutral(const struct walk *w, struct inst *i) {
    uint32_t a, b;
    if (i->nsrc < 2 || is_frame_value(i))
        return false;
    bool kb = walk_number(w, &i->src[1], &b);
    bool ka = (op_info[i->op].flags & OPF_COMMUTES) && walk_number(w, &i->src[0], &a);
    for (uint32_t k = 0; k < sizeof neutrals / sizeof *neutrals; k++) {
        if (neutrals[k].op != i->op ||
            (!(kb && b == neutrals[k].neutral) && !(ka && a == neutrals[k].neutral)))
            continue;
        become_mov(i, i->src[kb && b == neutrals[k].neutral ? 0 : 1]);
        return true;
    }
    if (i->op == OP_SHLHI && kb && b == 0) {
        become_mov(i, i->src[2]);
        return true;
    }
    bool zero = (kb && !b) || (ka && !a);
    if (zero && (i->op == OP_IMUL || i->op == OP_AND || i->op == OP_IMULHI)) {
        become_mov(i, opd_imm(0));
        return true;
    }
    if (zero && i->op == OP_IMAD) {
        become_mov(i, i->src[2]);
        return true;
    }
    return false;
}

static bool fold_carry(struct inst *i) {
    if (i->op != OP_IADDC && i->op != OP_ISUBC)
        return false;
    if (i->pdst[0].id != VPRED_PT || !(i->op == OP_IADDC ? is_pf(&i->psrc[0]) : is_pt(&i->psrc[0])))
        return false;
    i->op = i->op == OP_IADDC ? OP_IADD : OP_ISUB;
    i->psrc[0] = (struct popd){.id = VPRED_PT};
    return true;
}

static bool fold_value(const struct walk *w, struct inst *i) {
    uint32_t v[3] = {0}, out;
    bool p = true;
    uint8_t form = op_info[i->op].form;
    if (i->op == OP_MOV || is_frame_value(i) || i->dst.kind != O_REG || i->nsrc > 3)
        return false;
    if (i->op == OP_SEL) {
        if (pred_known(w, &i->psrc[0], 0, &p)) {
            become_mov(i, i->src[p ? 0 : 1]);
            return true;
        }
        if (opd_eq(&i->src[0], &i->src[1])) {
            become_mov(i, i->src[0]);
            return true;
        }
        return false;
    }
    if (form != FORM_W1_1 && form != FORM_W1_11 && form != FORM_W1_111)
        return false;
    for (uint32_t s = 0; s < i->nsrc; s++)
        if (!walk_number(w, &i->src[s], &v[s]))
            return neutral(w, i);
    if (!isa_eval((enum op)i->op, &i->m, v[0], v[1], v[2], p, &out))
        return false;
    become_mov(i, opd_imm(out));
    return true;
}

/* A comparison or predicate operation with a known result becomes the shortest way to say so. */
static bool fold_pred(const struct walk *w, struct inst *i) {
    bool value;
    if ((i->op != OP_ISETP && i->op != OP_FSETP && i->op != OP_PLOP) || i->pdst[1].id != VPRED_PT ||
        i->pdst[0].id == VPRED_PT)
        return false;
    if (i->op == OP_PLOP && i->psrc[0].id == VPRED_PT && is_pt(&i->psrc[1]) && i->m.bop == BOOL_AND)
        return false; /* already is */
    if (!result_known(w, i, 0, &value))
        return false;
    i->op = OP_PLOP;
    i->m = (struct imods){.bop = BOOL_AND};
    i->nsrc = 0;
    i->psrc[0] = (struct popd){.id = VPRED_PT, .neg = !value};
    i->psrc[1] = (struct popd){.id = VPRED_PT};
    return true;
}

bool opt_fold(struct program *p, struct fn *f) {
    (void)p;
    struct walk w;
    bool changed = false;
    walk_begin(&w, f);
    for (struct inst *i; (i = walk_next(&w));) {
        changed |= settle_preds(&w, i);
        changed |= settle_guard(&w, i);
        changed |= fold_carry(i);
        changed |= fold_value(&w, i);
        changed |= fold_pred(&w, i);
    }
    walk_end(&w);
    fn_compact(f);
    cfg_edges(f);
    return changed;
}
