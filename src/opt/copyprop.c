/* Copy propagation: readers of a copy read the original. Whole groups are replaced when all their words come
 * from one group in the same order; predicates through the moves that PLOP makes. Operands of matrix products
 * are groups that were put together from single registers: of several that hold the same the first one is
 * read. */
#include <string.h>

#include "opt/walk.h"

static bool forward_reg(const struct walk *w, struct inst *i, uint32_t s) {
    struct opd *o = &i->src[s], from[8];
    uint32_t words = inst_src_words(i, s), align = words > 2 ? 4 : words;
    if (o->kind != O_REG || o->v == VREG_RZ || !words || words > 8)
        return false;
    /* What a guarded instruction changes in place it keeps, or original and copy would both be needed. */
    if (is_guarded(i) && i->dst.kind == O_REG && i->dst.v == o->v && i->dst.word == o->word)
        return false;
    for (uint32_t k = 0; k < words; k++)
        if (!walk_copied(w, o, k, &from[k]) || from[k].kind != O_REG || from[k].mod)
            return false;
    bool zero = is_rz(&from[0]);
    for (uint32_t k = 1; k < words; k++)
        if (from[k].v != from[0].v || (!zero && from[k].word != from[0].word + k))
            return false;
    if (!zero && (from[0].word % align || from[0].word + words > w->f->vregs.at[from[0].v]))
        return false;
    uint8_t mod = o->mod;
    *o = from[0];
    o->mod = mod;
    return true;
}

enum { RECENT = 16 };

/* Groups that matrix products of the block at hand read last. */
struct groups {
    struct opd at[RECENT];
    uint32_t words[RECENT];
    uint32_t n, block;
};

static bool same_origin(const struct walk *w, const struct opd *a, const struct opd *b, uint32_t words) {
    struct opd x, y;
    for (uint32_t k = 0; k < words; k++)
        if (!walk_copied(w, a, k, &x) || !walk_copied(w, b, k, &y) || memcmp(&x, &y, sizeof x))
            return false;
    return true;
}

/* Replaces a group by an earlier one with the same words, or remembers it. */
static bool share_group(const struct walk *w, struct groups *g, struct inst *i, uint32_t s) {
    struct opd *o = &i->src[s];
    uint32_t words = inst_src_words(i, s);
    if (op_info[i->op].form != FORM_MMA || words < 2 || o->kind != O_REG || o->v == VREG_RZ)
        return false;
    if (g->block != w->block)
        g->n = 0;
    g->block = w->block;
    for (uint32_t k = 0; k < g->n && k < RECENT; k++)
        if (g->words[k] == words && !memcmp(&g->at[k], o, sizeof *o))
            return false;
    for (uint32_t k = 0; k < g->n && k < RECENT; k++)
        if (g->words[k] == words && same_origin(w, &g->at[k], o, words)) {
            *o = g->at[k];
            return true;
        }
    g->at[g->n % RECENT] = *o;
    g->words[g->n++ % RECENT] = words;
    return false;
}

/* The predicate that p copies. */
static bool copied_pred(const struct walk *w, const struct popd *p, struct popd *out) {
    struct def_site at;
    if (p->id == VPRED_PT)
        return false;
    const struct inst *i = walk_def(w, value_of_pred(&w->d.v, p->id), &at);
    if (!i || i->op != OP_PLOP || i->pdst[0].id != p->id || i->m.bop != BOOL_AND)
        return false;
    const struct popd *from = is_pt(&i->psrc[1]) ? &i->psrc[0] : is_pt(&i->psrc[0]) ? &i->psrc[1] : NULL;
    if (!from || (from->id != VPRED_PT && !walk_same(w, value_of_pred(&w->d.v, from->id), at)))
        return false;
    *out = *from;
    out->neg ^= p->neg;
    return true;
}

static bool forward_pred(const struct walk *w, struct popd *p) {
    struct popd from;
    if (!copied_pred(w, p, &from))
        return false;
    *p = from;
    return true;
}

bool opt_copyprop(struct program *p, struct fn *f) {
    (void)p;
    struct walk w;
    struct groups groups = {.block = NONE};
    bool changed = false;
    walk_begin(&w, f);
    for (struct inst *i; (i = walk_next(&w));) {
        for (uint32_t s = 0; s < i->nsrc; s++)
            while (forward_reg(&w, i, s))
                changed = true;
        for (uint32_t s = 0; s < i->nsrc; s++)
            changed |= share_group(&w, &groups, i, s);
        /* A guard that turns constant would change the shape of the block; opt_fold sees to branches. */
        struct popd from;
        if (copied_pred(&w, &i->guard, &from) && (from.id != VPRED_PT || !ends_block(i))) {
            i->guard = from;
            changed = true;
        }
        for (uint32_t k = 0; k < 2; k++)
            changed |= forward_pred(&w, &i->psrc[k]);
    }
    walk_end(&w);
    return changed;
}
