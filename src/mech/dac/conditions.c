/* By how many conditions threads have different values (sections 4.6 and 4.7): at most two in the whole
 * chain of a tuple, and none that is made anew while the tuple goes around a loop.
 *
 * Conditions are predicates: of SELs, of guards, of branches whose ways meet again (joins.c); minima, maxima
 * and absolute values have one of their own. Values that were chosen by one predicate have one condition
 * between them. */
#include <string.h>

#include "mech/dac/splitter.h"

static bool refused(struct splitter *s, uint32_t n, const char *why) {
    (void)dac_refuse(s, n, why);
    s->good[n] = false;
    return true;
}

/* ---- conditions ---- */

static bool has_own(const struct inst *i) {
    return i->op == OP_IMIN || i->op == OP_IMAX || i->op == OP_IABS;
}

/* The number of a condition; -1: there are too many. */
static int32_t number_of(struct splitter *s, struct condition c) {
    for (uint32_t k = 0; k < s->nconds; k++) {
        const struct condition *x = &s->conds[k];
        if (x->pred == c.pred && x->inst == c.inst && x->edges == c.edges && x->other == c.other &&
            x->home == c.home)
            return (int32_t)k;
    }
    if (s->nconds == MAX_CHOICES)
        return -1;
    s->conds[s->nconds] = c;
    return (int32_t)s->nconds++;
}

static int32_t number_of_pred(struct splitter *s, uint32_t v) {
    return number_of(s, (struct condition){.pred = v, .inst = NONE, .home = s->r->at[v].block});
}

/* The version of a predicate by which an instruction chooses between values, if it differs between threads;
 * NONE: it does not. */
static uint32_t chosen_by(const struct splitter *s, uint32_t b, uint32_t k) {
    const struct inst *i = inst_at(s, b, k);
    const struct popd *p = i->op == OP_SEL ? &i->psrc[0] : &i->guard;
    if (!inst_dst_words(i) || p->id == VPRED_PT)
        return NONE;
    uint32_t v = reach_read(s->r, b, k, value_of_pred(&s->r->v, p->id));
    return v != NONE && class_read(s->c, v, b).deps ? v : NONE;
}

/* Numbers the condition of an instruction, if it has one; false: there are too many. */
static bool number_inst(struct splitter *s, uint32_t b, uint32_t k) {
    const struct inst *i = inst_at(s, b, k);
    uint32_t n = no_of(s, b, k), by = chosen_by(s, b, k);
    bool own = has_own(i) && inst_dst_words(i) &&
               (class_of_source(s->c, b, k, 0).deps || (i->nsrc > 1 && class_of_source(s->c, b, k, 1).deps));
    s->choice_no[n] = -1;
    if (own)
        s->choice_no[n] = number_of(s, (struct condition){.pred = NONE, .inst = n, .home = b});
    else if (by != NONE)
        s->choice_no[n] = number_of_pred(s, by);
    return s->choice_no[n] >= 0 || (!own && by == NONE);
}

/* The same of a merge. */
static bool number_merge(struct splitter *s, uint32_t v) {
    const struct join_plan *p = s->plan[v];
    for (uint32_t k = 0; k + 1 < p->n; k++) {
        int32_t n = p->cond[k]->kind == JOIN_IF
                        ? number_of_pred(s, p->cond[k]->pred)
                        : number_of(s, (struct condition){.pred = NONE,
                                                          .inst = NONE,
                                                          .edges = p->edges[k],
                                                          .other = k ? p->edges[0] : 0,
                                                          .home = s->r->at[v].block});
        if (n < 0)
            return false;
        s->merge_choices[v] |= UINT64_C(1) << n;
    }
    return true;
}

/* Numbers all; true when some were dropped. */
static bool number_all(struct splitter *s) {
    bool dropped = false;
    s->nconds = 0;
    EACH_INST(s, b, k, i) {
        uint32_t n = no_of(s, b, k);
        s->choice_no[n] = -1;
        if (s->good[n] && !number_inst(s, b, k))
            dropped = refused(s, n, "more conditions than can be told apart");
    }
    for (uint32_t v = 0; v < s->r->n; v++) {
        s->merge_choices[v] = 0;
        if (s->vgood[v] && s->differs[v] && !number_merge(s, v))
            dropped = true, s->vgood[v] = false;
    }
    return dropped;
}

/* The conditions behind all that an instruction reads, and what a guarded one leaves where it is skipped. */
static uint64_t choices_read(struct splitter *s, uint32_t b, uint32_t k) {
    const struct inst *i = inst_at(s, b, k);
    uint64_t all = 0;
    EACH_READ(s, b, k, v, all |= v == NONE ? 0 : s->choices[v];);
    for (uint32_t w = 0;
         is_guarded(i) && i->dst.kind == O_REG && i->dst.v != VREG_RZ && w < inst_dst_words(i); w++) {
        uint32_t v = reach_written(s->r, b, k, value_of_opd(&s->r->v, &i->dst) + w);
        all |= v == NONE || s->r->at[v].before == NONE ? 0 : s->choices[s->r->at[v].before];
    }
    return all;
}

static uint64_t choices_of(struct splitter *s, uint32_t v) {
    const struct version *x = &s->r->at[v];
    uint64_t all = s->merge_choices[v];
    EACH_INPUT(s, v, in, all |= s->choices[in];);
    if (x->kind != VERSION_WRITE || x->value >= s->r->v.nwords)
        return all; /* a condition by itself is no tuple */
    uint32_t n = no_of(s, x->block, x->index);
    all = choices_read(s, x->block, x->index) | (x->before == NONE ? 0 : s->choices[x->before]);
    return all | (s->choice_no[n] < 0 ? 0 : UINT64_C(1) << s->choice_no[n]);
}

/* The traits of source word w of source x, as read; 0 for constants. */
static uint8_t source_traits(const struct splitter *s, uint32_t b, uint32_t k, uint32_t x, uint32_t w) {
    const struct opd *o = &inst_at(s, b, k)->src[x];
    if (o->kind != O_REG || o->v == VREG_RZ)
        return 0;
    uint32_t v = reach_read(s->r, b, k, value_of_opd(&s->r->v, o) + w);
    return v == NONE ? 0 : s->traits[v];
}

static bool all_uniform(const struct splitter *s, uint32_t b, uint32_t k) {
    const struct inst *i = inst_at(s, b, k);
    for (uint32_t x = 0; x < i->nsrc; x++)
        if (class_of_source(s->c, b, k, x).deps)
            return false;
    return true;
}

static uint8_t traits_of(const struct splitter *s, uint32_t v) {
    const struct version *x = &s->r->at[v];
    uint8_t all = 0;
    EACH_INPUT(s, v, in, all |= s->traits[in];);
    if (x->kind != VERSION_WRITE || x->value >= s->r->v.nwords)
        return all;
    const struct inst *i = inst_at(s, x->block, x->index);
    all = x->before == NONE ? 0 : s->traits[x->before]; /* where a guard skips it */
    if (i->op == OP_LDC || all_uniform(s, x->block, x->index))
        return all;
    for (uint32_t k = 0; k < i->nsrc; k++)
        for (uint32_t w = 0; w < inst_src_words(i, k); w++)
            all |= source_traits(s, x->block, x->index, k, w);
    bool upper = x->value != value_of_opd(&s->r->v, &i->dst) || i->op == OP_SHLHI || i->op == OP_SHR ||
                 (form_info[op_info[i->op].form].psrc && i->psrc[0].id != VPRED_PT && i->op != OP_SEL);
    if (dac_makes_halves(i))
        all = (uint8_t)((all & ~TRAIT_HIGH) | (upper ? TRAIT_HIGH : 0));
    return (uint8_t)(all | (i->op == OP_AND ? TRAIT_MOD : 0));
}

/* The affine warp cannot say the result: of upper words, or of remainders, that do not go together. */
static bool clashes(const struct splitter *s, uint32_t b, uint32_t k) {
    const struct inst *i = inst_at(s, b, k);
    if (is_access(i) || is_branch(i) || i->op == OP_MOV || all_uniform(s, b, k))
        return false;
    uint8_t mods = 0;
    for (uint32_t x = 0; x < i->nsrc; x++)
        for (uint32_t w = 0; w < inst_src_words(i, x); w++) {
            uint8_t t = source_traits(s, b, k, x, w);
            bool place = (i->op == OP_IADDC || i->op == OP_ISUBC) ? i->psrc[0].id != VPRED_PT
                         : i->op == OP_SHLHI                      ? x == 2
                                                                  : i->op == OP_IMADW && x == 2 && w == 1;
            if (t & TRAIT_HIGH && !place)
                return true;
            mods = (uint8_t)(mods + ((t & TRAIT_MOD) != 0 && !(t & TRAIT_HIGH)));
        }
    bool choice = i->op == OP_SEL || i->op == OP_IMIN || i->op == OP_IMAX || is_compare(i);
    return mods > 1 ? !choice : mods && i->op == OP_AND;
}

/* The instruction makes four tuples of which some are remainders. A plain one takes seven lanes, a remainder
 * nine: four do not fit. */
static bool exceeds_lanes(const struct splitter *s, uint32_t b, uint32_t k) {
    const struct inst *i = inst_at(s, b, k);
    for (uint32_t w = 0; i->dst.kind == O_REG && i->dst.v != VREG_RZ && w < inst_dst_words(i); w++) {
        uint32_t v = reach_written(s->r, b, k, value_of_opd(&s->r->v, &i->dst) + w);
        if (v != NONE && s->traits[v] & TRAIT_MOD && __builtin_popcountll(s->choices[v]) == MAX_CONDITIONS)
            return true;
    }
    return false;
}

/* A merge at the head of a loop to which a tuple comes around whose condition is made in the loop: in each
 * round it is another one. */
static bool carries(const struct splitter *s, uint32_t v) {
    const struct version *x = &s->r->at[v];
    const struct dom *d = &s->joins.dom;
    const struct block *b = &s->f->blocks.at[x->block];
    for (uint32_t k = 0; x->kind == VERSION_MERGE && k < b->pred.len; k++) {
        uint32_t in = s->r->inputs[x->input + k];
        if (in == NONE || s->rank[b->pred.at[k]] < s->rank[x->block])
            continue; /* from before */
        for (uint64_t left = s->choices[in]; left; left &= left - 1) {
            uint32_t home = s->conds[__builtin_ctzll(left)].home;
            if (home == x->block || !dom_block(d, home, x->block))
                return true;
        }
    }
    return false;
}

/* A version that takes more conditions than there are, or lanes; of upper words, threads cannot choose. */
static bool exceeds(const struct splitter *s, uint32_t v) {
    int conditions = __builtin_popcountll(s->choices[v]);
    return conditions > MAX_CONDITIONS || (s->merge_choices[v] && s->traits[v] & TRAIT_HIGH) ||
           (s->merge_choices[v] && conditions == MAX_CONDITIONS && s->traits[v] & TRAIT_MOD);
}

/* Finds the conditions behind every tuple, and drops chains with too many or with one around a loop; true
 * when some were dropped. */
bool dac_settle_choices(struct splitter *s) {
    bool dropped = number_all(s);
    memset(s->choices, 0, s->r->n * sizeof *s->choices);
    memset(s->traits, 0, s->r->n * sizeof *s->traits);
    for (bool again = true; again;) {
        again = false;
        for (uint32_t v = 0; v < s->r->n; v++) {
            uint64_t all = s->vgood[v] ? choices_of(s, v) : 0;
            uint8_t traits = s->vgood[v] ? traits_of(s, v) : 0;
            again |= all != s->choices[v] || (traits & ~s->traits[v]);
            s->choices[v] = all;
            s->traits[v] |= traits;
        }
    }
    EACH_INST(s, b, k, i) {
        uint32_t n = no_of(s, b, k);
        if (!s->good[n])
            continue;
        uint64_t all = choices_read(s, b, k);
        if (s->choice_no[n] >= 0)
            all |= UINT64_C(1) << s->choice_no[n];
        if (clashes(s, b, k))
            dropped = refused(s, n, "remainders, or words of 64 bits, that do not go together");
        else if (exceeds_lanes(s, b, k))
            dropped = refused(s, n, "four remainders, which no warp has lanes for");
        else if (__builtin_popcountll(all) > MAX_CONDITIONS)
            dropped = refused(s, n, "more than two conditions");
    }
    for (uint32_t v = 0; v < s->r->n; v++)
        if (s->vgood[v] && s->r->at[v].kind == VERSION_MERGE && (carries(s, v) || exceeds(s, v)))
            dropped = true, s->vgood[v] = false;
    return dropped;
}
