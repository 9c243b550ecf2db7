/* Divergent tuples of ways that meet again (section 4.7).
 *
 * The affine warp runs the ways of a branch one after the other. Where they meet, the value that each has
 * left is in a register of its own, as every version is (registers.c), and the predicate of the branch tells
 * which one a thread has: the merge becomes a SEL there. That is sound for a merge in block j, and the branch
 * at the end of block b, if
 * - b dominates every block from which a version comes, so that each thread has been at the branch;
 * - each of these blocks can be reached by one way of the branch only: the way is its own, as nobody else
 *   enters it, and dominates the block; or it is the branch itself that leads to j;
 * - j is the block where the ways meet (the join): the affine warp comes there once, with all who stay;
 * - the branch cannot be passed again before, and the predicate is not made anew between: what the
 *   predicate's register and the versions' hold in j is of the round in which the threads are.
 * Then no way writes what another has left, since it would have to pass the branch for that.
 * Where one of the ways has a branch of its own with the same join, that decides among its threads. Threads
 * that have left come to no join, and what a way would have left that nobody took may be of an older round:
 * the SEL looks only at those who are there (eval.c). */
#include "mech/dac/joins.h"

enum { MAX_EDGES = 32, MAX_NESTING = 2 };

/* A version that comes to a merge, and the block it comes from. */
struct edge {
    uint32_t from, version;
};

/* The edges of a merge that bring something; NONE: too many. */
static uint32_t edges_of(const struct joins *j, uint32_t v, struct edge out[MAX_EDGES]) {
    const struct version *x = &j->r->at[v];
    const struct block *b = &j->f->blocks.at[x->block];
    uint32_t n = 0;
    for (uint32_t k = 0; k < b->pred.len; k++) {
        uint32_t in = j->r->inputs[x->input + k];
        if (in == NONE || in == v)
            continue;
        if (n == MAX_EDGES)
            return NONE;
        out[n++] = (struct edge){b->pred.at[k], in};
    }
    return n;
}

static bool all_same(const struct edge *e, uint32_t n) {
    for (uint32_t k = 1; k < n; k++)
        if (e[k].version != e[0].version)
            return false;
    return true;
}

bool join_differs(const struct joins *j, uint32_t v) {
    const struct control *c = j->c;
    struct edge all[MAX_EDGES], some[MAX_EDGES];
    uint32_t n = edges_of(j, v, all);
    for (uint32_t s = 0; s < c->nsplits; s++) {
        if (!j->parts[s] || !bits_get(control_meets(c, j->r->at[v].block), s))
            continue;
        if (n == NONE)
            return true;
        uint32_t m = 0;
        for (uint32_t k = 0; k < n; k++)
            if (all[k].from == c->splits[s].block || bits_get(control_region(c, all[k].from), s))
                some[m++] = all[k];
        if (!all_same(some, m))
            return true;
    }
    return false;
}

static const struct inst *branch_of(const struct joins *j, uint32_t b) {
    const struct block *k = &j->f->blocks.at[b];
    const struct inst *last = k->insts.len ? &k->insts.at[k->insts.len - 1] : NULL;
    if (j->asks && j->asks[b])
        return NULL;
    bool two = last && last->op == OP_BRA && last->guard.id != VPRED_PT && k->succ.len == 2 &&
               k->succ.at[0] != k->succ.at[1];
    return two ? last : NULL;
}

/* The version of the predicate of the branch at the end of block b. */
static uint32_t predicate_of(const struct joins *j, uint32_t b) {
    const struct block *k = &j->f->blocks.at[b];
    return reach_read(j->r, b, k->insts.len - 1,
                      value_of_pred(&j->r->v, k->insts.at[k->insts.len - 1].guard.id));
}

/* The branch at the end of block b is passed once before its ways meet in block at, with its predicate. */
static bool passed_once(const struct joins *j, uint32_t b, uint32_t at) {
    const struct control *c = j->c;
    uint32_t p = predicate_of(j, b);
    for (uint32_t s = 0; s < c->nsplits; s++)
        if (c->splits[s].block == b)
            return c->splits[s].join == at && !bits_get(c->again, s) && p != NONE &&
                   !bits_get(control_region(c, j->r->at[p].block), s);
    return false;
}

/* Only threads that go this way out of block b come to block x. */
static bool leads_only(const struct joins *j, uint32_t b, uint32_t way, uint32_t x) {
    const struct block *to = &j->f->blocks.at[way];
    for (uint32_t k = 0; k < to->pred.len; k++)
        if (to->pred.at[k] != b && !dom_block(&j->dom, way, to->pred.at[k]))
            return false;
    return dom_block(&j->dom, way, x);
}

/* The way out of block b, 0 or 1, by which alone an edge to block at is reached; NONE: by neither. */
static uint32_t way_of(const struct joins *j, uint32_t b, uint32_t at, const struct edge *e) {
    const struct block *k = &j->f->blocks.at[b];
    for (uint32_t w = 0; w < 2; w++) {
        uint32_t to = k->succ.at[w];
        if (e->from == b ? to == at : to != at && leads_only(j, b, to, e->from))
            return w;
    }
    return NONE;
}

static uint32_t common_dominator(const struct joins *j, const struct edge *e, uint32_t n) {
    uint32_t b = e[0].from;
    for (uint32_t k = 1; k < n; k++)
        while (!dom_block(&j->dom, b, e[k].from))
            b = j->dom.idom[b];
    return b;
}

static const struct join_choice *plan(struct arena *a, const struct joins *j, uint32_t at,
                                      const struct edge *e, uint32_t n, uint32_t depth) {
    struct edge side[2][MAX_EDGES];
    uint32_t len[2] = {0, 0}, b = common_dominator(j, e, n);
    if (depth == MAX_NESTING || !branch_of(j, b) || !passed_once(j, b, at))
        return NULL;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t w = way_of(j, b, at, &e[k]);
        if (w == NONE)
            return NULL;
        side[w][len[w]++] = e[k];
    }
    if (!len[0] || !len[1])
        return NULL;
    struct join_choice *c = arena_new(a, struct join_choice);
    *c = (struct join_choice){.branch = b, .pred = predicate_of(j, b)};
    for (uint32_t w = 0; w < 2; w++) {
        c->version[w] = all_same(side[w], len[w]) ? side[w][0].version : NONE;
        c->more[w] = c->version[w] == NONE ? plan(a, j, at, side[w], len[w], depth + 1) : NULL;
        if (c->version[w] == NONE && !c->more[w])
            return NULL;
    }
    return c;
}

const struct join_choice *join_plan(struct arena *a, const struct joins *j, uint32_t v) {
    struct edge all[MAX_EDGES];
    uint32_t n = edges_of(j, v, all);
    bool each = n == j->f->blocks.at[j->r->at[v].block].pred.len; /* brings something else than v */
    return each && n > 1 ? plan(a, j, j->r->at[v].block, all, n, 0) : NULL;
}
