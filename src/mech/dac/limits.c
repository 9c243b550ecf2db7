/* What the affine warp has room for (section 4.8): paths on its stack, and conditions of divergent tuples.
 * What would need more stays in the other stream. */
#include <string.h>

#include "mech/dac/splitter.h"

/* ---- the stack ---- */

/* Threads of the SM may go different ways there. */
static bool diverges(const struct splitter *s, uint32_t split) {
    return class_of(s->c, s->c->reach.n + s->c->npairs + split).deps;
}

/* Entries of the stack while the affine warp is in a block, at most: one for all threads; one for each place
 * where some are waited for; and one for the second arm of each branch that has two. */
static uint32_t paths_in(const struct splitter *s, uint32_t block) {
    const struct control *c = &s->c->control;
    uint32_t n = 1;
    for (uint32_t k = 0; k < c->nsplits; k++) {
        const struct split *x = &c->splits[k];
        if (!bits_get(control_region(c, block), k) || !diverges(s, k))
            continue;
        bool known = false, arms = true;
        for (uint32_t j = 0; j < k; j++)
            known |= c->splits[j].join == x->join && bits_get(control_region(c, block), j) && diverges(s, j);
        for (uint32_t j = 0; j < s->f->blocks.at[x->block].succ.len; j++)
            arms &= s->f->blocks.at[x->block].succ.at[j] != x->join;
        n += !known + arms;
    }
    return n;
}

void dac_limit_paths(struct splitter *s) {
    for (uint32_t b = 0; b < s->f->blocks.len; b++)
        if (paths_in(s, b) > (uint32_t)s->params->stack) {
            s->bgood[b] = false;
            s->block_why[b] = "branches nest deeper than the affine stack";
        }
}

/* ---- conditions ---- */

/* From where a condition is made to the last instruction that reads a tuple which depends on it, in the order
 * of the code. */
struct range {
    uint32_t first, last;
};

static void extend(struct range *r, uint64_t choices, uint32_t from, uint32_t to) {
    for (; choices; choices &= choices - 1) {
        struct range *x = &r[__builtin_ctzll(choices)];
        x->first = from < x->first ? from : x->first;
        x->last = to > x->last ? to : x->last;
    }
}

static uint32_t made_at(const struct splitter *s, uint32_t v) {
    const struct version *x = &s->r->at[v];
    return no_of(s, x->block, x->kind == VERSION_WRITE ? x->index : 0);
}

/* What is made before a loop, and read in it, is kept until its end. */
static bool keep_around(const struct splitter *s, struct range *r) {
    bool longer = false;
    for (uint32_t b = 0; b < s->f->blocks.len; b++)
        for (uint32_t k = 0; k < s->f->blocks.at[b].succ.len; k++) {
            uint32_t to = s->f->blocks.at[b].succ.at[k];
            uint32_t begin = no_of(s, to, 0), end = no_of(s, b, s->f->blocks.at[b].insts.len);
            if (to <= b && r->first < begin && r->last >= begin && r->last < end) {
                r->last = end;
                longer = true;
            }
        }
    return longer;
}

/* Takes away a condition: all that chooses by it. */
static void drop(struct splitter *s, uint32_t cond) {
    for (uint32_t n = 0; n < s->n; n++)
        if (s->choice_no[n] == (int32_t)cond) {
            s->good[n] = false;
            s->why[n] = "more conditions at a time than there are registers for";
        }
    for (uint32_t v = 0; v < s->r->n; v++)
        if (s->merge_choices[v] >> cond & 1)
            s->vgood[v] = false;
}

bool dac_limit_conditions(struct splitter *s) {
    struct range r[MAX_CHOICES];
    for (uint32_t k = 0; k < MAX_CHOICES; k++)
        r[k] = (struct range){NONE, 0};
    EACH_INST(s, b, k, i)
    if (s->affine[no_of(s, b, k)])
        EACH_READ(s, b, k, v, if (v != NONE) extend(r, s->choices[v], made_at(s, v), no_of(s, b, k)););
    for (uint32_t k = 0; k < s->nconds; k++)
        while (r[k].first != NONE && keep_around(s, &r[k]))
            ;
    bool dropped = false;
    for (uint32_t k = 0; k < s->nconds; k++) {
        uint32_t together = 1;
        for (uint32_t j = 0; j < s->nconds && r[k].first != NONE; j++)
            together += j != k && r[j].first <= r[k].first && r[j].last > r[k].first;
        if (together > (uint32_t)s->params->dcrf) {
            drop(s, k);
            dropped = true;
        }
    }
    return dropped;
}
