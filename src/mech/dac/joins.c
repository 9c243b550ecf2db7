/* Divergent tuples of ways that meet again (section 4.7).
 *
 * The affine warp runs the ways of a branch one after the other. Where they meet, the value that each has
 * left is in a register of its own, as every version is (registers.c), and the predicates of the branches
 * tell which one a thread has: the merge becomes a SEL there, by a condition that is made of them (Figure
 * 15b: by several of them, where more than one branch leads to a way). That is sound for a merge in block j
 * if
 * - every thread has been at the first of these branches: it stands in the block that dominates j
 * immediately; and each other one is reached only by a way of one before it, and by all who go that way and
 * stay;
 * - j is the block where the ways of each meet (its join): the affine warp comes there once, with all who
 * stay;
 * - none of the branches can be passed again before, and its predicate is not made anew between: what the
 *   predicates' registers hold in j is of the round in which the threads are;
 * - what a way leaves is the same however often the affine warp runs it: more than one branch may lead there,
 *   and it runs for the threads of each. So nothing is chosen there by conditions, which would be of the
 *   threads of the last time.
 * No way writes what another has left, since a version is written in one place. Threads that have left come
 * to no join, and what a way would have left that nobody took may be of an older round: the SEL looks only at
 * those who are there (eval.c). */
#include "mech/dac/joins.h"

#include <string.h>

enum { MAX_EDGES = 32 };

/* ---- what comes to a merge ---- */

struct search {
    struct arena *a;
    const struct joins *j;
    uint32_t at; /* the block of the merge */
    uint32_t v;
    struct join_plan *p;
    uint32_t shared; /* versions to which more than one branch may lead, as a set */
};

static uint32_t input_of(const struct joins *j, uint32_t v, uint32_t k) {
    return j->r->inputs[j->r->at[v].input + k];
}

/* Adds a version to a set of up to two; true: it is another one than those before. */
static bool is_other(uint32_t *first, uint32_t in) {
    bool other = *first != NONE && *first != in;
    *first = *first == NONE ? in : *first;
    return other;
}

bool join_differs(const struct joins *j, uint32_t v) {
    const struct control *c = j->c;
    const struct block *b = &j->f->blocks.at[j->r->at[v].block];
    for (uint32_t s = 0; s < c->nsplits; s++) {
        uint32_t first = NONE;
        if (!j->parts[s] || !bits_get(control_meets(c, j->r->at[v].block), s))
            continue;
        for (uint32_t k = 0; k < b->pred.len; k++) {
            uint32_t from = b->pred.at[k], in = input_of(j, v, k);
            bool comes = from == c->splits[s].block || bits_get(control_region(c, from), s);
            if (comes && in != NONE && in != v && is_other(&first, in))
                return true;
        }
    }
    return false;
}

/* The version that threads in block b bring, if it is one: its number; otherwise NONE. */
static uint32_t brings(const struct search *x, uint32_t b) {
    const struct joins *j = x->j;
    struct arena temp = {0};
    bool *seen = arena_array(&temp, bool, j->f->blocks.len + 1), differs = false;
    uint32_t *work = arena_array(&temp, uint32_t, j->f->blocks.len + 1), len = 0, version = NONE;
    work[len++] = b;
    seen[b] = true;
    while (len && !differs) {
        uint32_t from = work[--len];
        const struct block *k = &j->f->blocks.at[from];
        for (uint32_t n = 0; n < k->succ.len; n++) {
            uint32_t to = k->succ.at[n];
            for (uint32_t e = 0; to == x->at && e < j->f->blocks.at[to].pred.len; e++)
                if (j->f->blocks.at[to].pred.at[e] == from)
                    differs |= is_other(&version, input_of(j, x->v, e));
            if (to != x->at && !seen[to]) {
                seen[to] = true;
                work[len++] = to;
            }
        }
    }
    arena_free(&temp);
    for (uint32_t n = 0; n < x->p->n && !differs; n++)
        if (x->p->version[n] == version)
            return n;
    return NONE;
}

/* ---- branches ---- */

static const struct inst *branch_of(const struct joins *j, uint32_t b) {
    const struct block *k = &j->f->blocks.at[b];
    const struct inst *last = k->insts.len ? &k->insts.at[k->insts.len - 1] : NULL;
    if (j->asks && j->asks[b])
        return NULL;
    bool two = last && last->op == OP_BRA && last->guard.id != VPRED_PT && k->succ.len == 2 &&
               k->succ.at[0] != k->succ.at[1];
    return two ? last : NULL;
}

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

/* Only those come to block way who go there from block b. */
static bool leads_only(const struct joins *j, uint32_t b, uint32_t way) {
    const struct block *to = &j->f->blocks.at[way];
    for (uint32_t k = 0; k < to->pred.len; k++)
        if (to->pred.at[k] != b && !dom_block(&j->dom, way, to->pred.at[k]))
            return false;
    return true;
}

/* The next block on the way of all who are in block b that ends in a branch whose ways meet at x->at; NONE:
 * there is none. */
static uint32_t next_branch(const struct search *x, uint32_t b) {
    const struct joins *j = x->j;
    for (uint32_t n = 0, at = b; n < j->f->blocks.len && at != NO_BLOCK && at != x->at; n++) {
        const struct block *k = &j->f->blocks.at[at];
        if (!dom_block(&j->dom, b, at))
            return NONE;
        if (k->succ.len == 2 && k->ipdom == x->at)
            return at;
        at = k->succ.len == 1 ? k->succ.at[0] : k->ipdom;
    }
    return NONE;
}

/* ---- conditions ---- */

static const struct join_cond never = {.kind = JOIN_NEVER}, always = {.kind = JOIN_ALWAYS},
                              any = {.kind = JOIN_ANY};

static const struct join_cond *make(struct search *x, uint8_t kind, const struct join_cond *a,
                                    const struct join_cond *b) {
    struct join_cond *c = arena_new(x->a, struct join_cond);
    *c = (struct join_cond){.kind = kind, .of = {a, b}};
    return c;
}

/* p ? a : b. */
static const struct join_cond *either(struct search *x, uint32_t pred, bool neg, const struct join_cond *a,
                                      const struct join_cond *b) {
    struct join_cond *p = arena_new(x->a, struct join_cond), *no = arena_new(x->a, struct join_cond);
    *p = (struct join_cond){.kind = JOIN_IF, .pred = pred, .neg = neg};
    *no = (struct join_cond){.kind = JOIN_IF, .pred = pred, .neg = !neg};
    if (a->kind == JOIN_ANY || (b->kind <= JOIN_ALWAYS && a->kind == b->kind))
        return b;
    if (b->kind == JOIN_ANY)
        return a;
    if (a->kind == JOIN_ALWAYS)
        return b->kind == JOIN_NEVER ? p : make(x, JOIN_OR, p, b);
    if (b->kind == JOIN_ALWAYS)
        return a->kind == JOIN_NEVER ? no : make(x, JOIN_OR, no, a);
    if (a->kind == JOIN_NEVER)
        return make(x, JOIN_AND, no, b);
    if (b->kind == JOIN_NEVER)
        return make(x, JOIN_AND, p, a);
    return make(x, JOIN_OR, make(x, JOIN_AND, p, a), make(x, JOIN_AND, no, b));
}

/* The condition under which threads in block b bring version want, if it does not matter what is said of
 * those who bring version other; NULL: it cannot be told. */
static const struct join_cond *decide(struct search *x, uint32_t b, uint32_t want, uint32_t other) {
    const struct joins *j = x->j;
    struct join_plan *p = x->p;
    uint32_t at = next_branch(x, b), n = 0;
    if (at == NONE || !branch_of(j, at) || !passed_once(j, at, x->at))
        return NULL;
    while (n < p->nbranches && p->branch[n] != at)
        n++;
    if (n == JOIN_BRANCHES)
        return NULL;
    p->branch[n] = at;
    p->pred[n] = predicate_of(j, at);
    p->nbranches = n == p->nbranches ? n + 1 : p->nbranches;
    const struct join_cond *side[2];
    for (uint32_t w = 0; w < 2; w++) {
        uint32_t to = j->f->blocks.at[at].succ.at[w], version = NONE;
        bool own = to != x->at && leads_only(j, at, to);
        if (to != x->at)
            version = brings(x, to);
        for (uint32_t e = 0; to == x->at && e < j->f->blocks.at[to].pred.len; e++)
            for (uint32_t k = 0; k < p->n && j->f->blocks.at[to].pred.at[e] == at; k++)
                version = p->version[k] == input_of(j, x->v, e) ? k : version;
        if (version == NONE && !own)
            return NULL;
        x->shared |= version != NONE && to != x->at && !own ? 1u << version : 0;
        side[w] = version == NONE    ? decide(x, to, want, other)
                  : version == want  ? &always
                  : version == other ? &any
                                     : &never;
        if (!side[w])
            return NULL;
    }
    return either(x, p->pred[n], branch_of(j, at)->guard.neg, side[0], side[1]);
}

/* ---- plans ---- */

/* Threads choose by something on the way from block root to where version v is made. */
static bool chosen_behind(const struct joins *j, uint32_t v, uint32_t root, bool *seen) {
    const struct version *x = &j->r->at[v];
    if (seen[v] || dom_block(&j->dom, x->block, root))
        return false;
    seen[v] = true;
    if (x->kind == VERSION_MERGE) {
        if (join_differs(j, v))
            return true;
        for (uint32_t k = 0; k < j->f->blocks.at[x->block].pred.len; k++)
            if (input_of(j, v, k) != NONE && chosen_behind(j, input_of(j, v, k), root, seen))
                return true;
        return false;
    }
    const struct inst *i = reach_inst(j->r, v);
    if (!i || is_guarded(i) || i->op == OP_SEL || i->op == OP_IMIN || i->op == OP_IMAX || i->op == OP_IABS)
        return i != NULL;
    struct span span[MAX_SPANS];
    uint32_t n = inst_reads(&j->r->v, i, span);
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t w = 0; w < span[k].n; w++) {
            uint32_t from = reach_read(j->r, x->block, x->index, span[k].first + w);
            if (from != NONE && chosen_behind(j, from, root, seen))
                return true;
        }
    return false;
}

/* The versions that come to the merge, each once, and by which edges; false: none, or too many. */
static bool find_versions(struct search *x) {
    const struct block *b = &x->j->f->blocks.at[x->at];
    struct join_plan *p = x->p;
    for (uint32_t k = 0; k < b->pred.len; k++) {
        uint32_t in = input_of(x->j, x->v, k), n = 0;
        if (in == NONE || in == x->v || k >= MAX_EDGES)
            return false;
        while (n < p->n && p->version[n] != in)
            n++;
        if (n == JOIN_VERSIONS)
            return false;
        p->n = n == p->n ? n + 1 : p->n;
        p->version[n] = in;
        p->edges[n] |= 1u << k;
    }
    return p->n > 1;
}

static void exchange(struct join_plan *p, uint32_t a, uint32_t b) {
    uint32_t version = p->version[a], edges = p->edges[a];
    p->version[a] = p->version[b];
    p->edges[a] = p->edges[b];
    p->version[b] = version;
    p->edges[b] = edges;
}

const struct join_plan *join_plan(struct arena *a, const struct joins *j, uint32_t v) {
    struct join_plan *p = arena_new(a, struct join_plan);
    struct search x = {.a = a, .j = j, .at = j->r->at[v].block, .v = v, .p = p};
    uint32_t root = j->dom.idom[x.at];
    if (root == NONE || !find_versions(&x))
        return NULL;
    /* The first is one that a single predicate tells, if there is any. */
    for (uint32_t n = 0; n < p->n; n++) {
        const struct join_cond *c = decide(&x, root, n, NONE);
        if (!c)
            return NULL;
        if (!n || (c->kind == JOIN_IF && p->cond[0]->kind != JOIN_IF)) {
            exchange(p, 0, n);
            x.shared = 0; /* numbers have changed */
            p->cond[0] = decide(&x, root, 0, NONE);
        }
    }
    for (uint32_t n = 1; n + 1 < p->n; n++)
        p->cond[n] = decide(&x, root, n, n - 1);
    for (uint32_t n = 0; n + 1 < p->n; n++)
        if (!p->cond[n] || p->cond[n]->kind < JOIN_IF)
            return NULL;
    bool *seen = x.shared ? arena_array(a, bool, j->r->n + 1) : NULL;
    for (uint32_t n = 0; n < p->n; n++)
        if (x.shared >> n & 1 && chosen_behind(j, p->version[n], p->branch[0], seen))
            return NULL;
    return p;
}
