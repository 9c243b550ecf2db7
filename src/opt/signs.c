/* Folds changes of the sign bit into the floating-point operands that can carry them: XOR with the sign bit
 * is neg, AND without it is abs; of a 64-bit value in the high word. */
#include "opt/walk.h"

#define SIGN 0x80000000u

/* If word value is a sign change of something that still holds: what, and how. */
static bool sign_change(const struct walk *w, uint32_t value, struct opd *from, uint8_t *mod) {
    struct def_site at;
    const struct inst *i = walk_def(w, value, &at);
    if (!i || (i->op != OP_XOR && i->op != OP_AND) || i->src[1].kind != O_IMM || i->src[0].kind != O_REG ||
        is_rz(&i->src[0]))
        return false;
    if (i->src[1].v != (i->op == OP_XOR ? SIGN : ~SIGN) || !walk_same_opd(w, &i->src[0], 1, at))
        return false;
    *from = i->src[0];
    *mod = i->op == OP_XOR ? OMOD_NEG : OMOD_ABS;
    return true;
}

/* The modifier that applies outer after inner. */
static uint8_t compose(uint8_t outer, uint8_t inner) {
    if (outer & OMOD_ABS)
        return outer; /* whatever the sign was */
    return inner ^ outer;
}

static bool fold_sign(const struct walk *w, struct inst *i, uint32_t s) {
    struct opd *o = &i->src[s], from, low;
    uint32_t words = inst_src_words(i, s);
    uint8_t mod;
    if (o->kind != O_REG || is_rz(o) || !words || words > 2)
        return false;
    if (!sign_change(w, value_of_opd(&w->d.v, o) + words - 1, &from, &mod))
        return false;
    if (words == 2) {
        /* The low word must be the other half of the same pair. */
        if (!walk_copied(w, o, 0, &low) || low.kind != O_REG || low.v != from.v || low.word % 2 ||
            low.word + 1 != from.word)
            return false;
        from = low;
    }
    from.mod = compose(o->mod, mod);
    *o = from;
    return true;
}

/* Operands of 16-bit types keep their sign elsewhere. */
static bool sign_is_on_top(const struct inst *i) {
    if (!(op_info[i->op].flags & OPF_FMOD))
        return false;
    return op_info[i->op].form != FORM_FN_CVT || i->m.stype == MT_F32 || i->m.stype == MT_F64;
}

bool opt_signs(struct program *p, struct fn *f) {
    (void)p;
    struct walk w;
    bool changed = false;
    walk_begin(&w, f);
    for (struct inst *i; (i = walk_next(&w));)
        for (uint32_t s = 0; s < i->nsrc && sign_is_on_top(i); s++)
            while (fold_sign(&w, i, s))
                changed = true;
    walk_end(&w);
    return changed;
}
