/* How candidates are found.
 *
 * From each vertex the search goes backwards, nearest first, and takes in a vertex when everything that uses
 * it is in already: so a candidate has one result. Loads are cut: their value is an input, unless nothing can
 * write what they read or the candidate wrote it itself. After each vertex the ratio of cycles to inputs is
 * looked at, and the best is kept. Constants are no inputs, nor is what so many use that it must be one of a
 * loop.
 *
 * Registers that are saved on the stack and loaded again are only moved, which has no weight: a compiler's
 * graph knows no registers. A candidate does not take in the instruction that makes its result a second time:
 * what that made is the result of a candidate before, in an earlier round of a loop. */
#include "cpu/dddg.h"

#include <string.h>

enum { MANY_USES = 64 };

struct search {
    const struct cputrace *t;
    const struct dddg_limits *l;
    uint32_t *uses;    /* of each vertex, how many */
    bool *constant;    /* ... computed from constants alone */
    uint32_t *seen;    /* ... the search in which it was met last, ... */
    uint32_t *inside;  /* ... how many of its uses were inside then, ... */
    uint32_t *taken;   /* ... and the search that took it in */
    uint32_t number;   /* of the search */
    VEC(uint32_t) all; /* taken in by the search, then those that may be */
};

/* Who made an operand or what a load reads: source k of n, then memory. */
static uint32_t source(const struct cputrace_vertex *v, uint32_t k, uint32_t n) {
    return k < n ? v->src[k] : v->mem;
}

/* Addresses are no data of a load that is cut. */
static bool is_cut(const struct search *s, const struct cputrace_vertex *v) {
    return s->t->code.at[v->code].is_load && v->mem == NO_VERTEX && !cputrace_reads_constant(s->t, v);
}

static bool is_free(const struct search *s, uint32_t v) {
    return v == NO_VERTEX || s->constant[v] || s->uses[v] > MANY_USES;
}

static bool can_be_inside(const struct search *s, const struct cputrace_vertex *v) {
    const struct cputrace_code *c = &s->t->code.at[v->code];
    return !c->is_branch && c->op != A64_SVC && !is_cut(s, v);
}

static void prepare(struct search *s) {
    const struct cputrace *t = s->t;
    for (uint32_t i = 0; i < t->at.len; i++) {
        const struct cputrace_vertex *v = &t->at.at[i];
        const struct cputrace_code *c = &t->code.at[v->code];
        bool constant = !c->is_store && !c->is_branch && c->class != CLASS_SYS &&
                        (!c->is_load || cputrace_reads_constant(t, v));
        for (uint32_t k = 0; k <= c->uses.nsrc; k++) {
            uint32_t from = source(v, k, c->uses.nsrc);
            if (from != NO_VERTEX)
                s->uses[from]++;
            constant &=
                k == c->uses.nsrc || c->uses.src[k] == A64_SP || (from != NO_VERTEX && s->constant[from]);
        }
        s->constant[i] = constant;
    }
}

/* Whether a load or store is of the stack. */
static bool on_stack(const struct cputrace_code *c) {
    bool sp = false;
    for (uint32_t k = 0; k < c->uses.nsrc; k++)
        sp |= c->uses.src[k] == A64_SP;
    return sp && (c->is_load || c->is_store);
}

/* Cycles in which something is computed, not moved. */
static uint32_t weight_of(const struct search *s, uint32_t v) {
    const struct cputrace_code *c = &s->t->code.at[s->t->at.at[v].code];
    return on_stack(c) ? 0 : c->latency;
}

static void meet(struct search *s, uint32_t v) {
    if (s->seen[v] != s->number) {
        s->seen[v] = s->number;
        s->inside[v] = 0;
    }
    s->inside[v]++;
}

struct best {
    double ratio;
    uint32_t vertices, inputs, weight;
};

/* Takes a vertex in: those that it uses are met. The number of inputs, known so far, changes. */
static void take(struct search *s, uint32_t v, uint32_t *inputs) {
    const struct cputrace_vertex *x = &s->t->at.at[v];
    const struct cputrace_code *c = &s->t->code.at[x->code];
    s->taken[v] = s->number;
    for (uint32_t k = 0; k <= c->uses.nsrc; k++) {
        uint32_t from = source(x, k, c->uses.nsrc);
        if (is_free(s, from) || (k < c->uses.nsrc && c->uses.src[k] == A64_SP))
            continue;
        if (s->seen[from] != s->number)
            ++*inputs;
        meet(s, from);
        if (s->inside[from] == s->uses[from] && can_be_inside(s, &s->t->at.at[from]) &&
            s->t->at.at[from].code != s->t->at.at[s->all.at[0]].code)
            vec_push(&s->all, from);
    }
}

/* The best candidate whose result is v: the first so many of all. */
static struct best grow(struct search *s, uint32_t v) {
    struct best best = {0, 0, 0, 0};
    uint32_t inputs = 0, weight = 0;
    s->number++;
    s->all.len = 0;
    vec_push(&s->all, v);
    for (uint32_t k = 0; k < s->all.len && k < s->l->vertices; k++) {
        uint32_t next = s->all.at[k];
        if (k)
            inputs--; /* it was one */
        take(s, next, &inputs);
        weight += weight_of(s, next);
        double ratio = (double)weight / (inputs ? inputs : 1);
        if (inputs && inputs <= s->l->inputs && ratio >= best.ratio && weight >= s->l->weight)
            best = (struct best){ratio, k + 1, inputs, weight};
    }
    return best;
}

/* ---- equal ones ---- */

struct group {
    uint64_t hash, count, weight, inputs; /* sums over its occurrences */
    uint32_t *codes, n;                   /* sorted */
    bool dropped;
};

struct groups {
    VEC(struct group) at;
    struct map by_hash;
};

static int by_number(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Sorts, and leaves each number once. */
static uint32_t sort_once(uint32_t *v, uint32_t n) {
    uint32_t m = 0;
    qsort(v, n, sizeof *v, by_number);
    for (uint32_t k = 0; k < n; k++)
        if (!m || v[m - 1] != v[k])
            v[m++] = v[k];
    return m;
}

static void add(struct groups *g, const struct search *s, const struct best *b) {
    uint32_t *codes = xcalloc(b->vertices, sizeof *codes);
    for (uint32_t k = 0; k < b->vertices; k++)
        codes[k] = s->t->at.at[s->all.at[k]].code;
    uint32_t n = sort_once(codes, b->vertices);
    uint64_t hash = hash_bytes(codes, n * sizeof *codes);
    uintptr_t known = (uintptr_t)map_get_u64(&g->by_hash, hash);
    if (!known) {
        vec_push(&g->at, (struct group){.hash = hash, .codes = codes, .n = n});
        known = g->at.len;
        map_set_u64(&g->by_hash, hash, (void *)known);
    } else {
        free(codes);
    }
    struct group *x = &g->at.at[known - 1];
    x->count++;
    x->weight += b->weight;
    x->inputs += b->inputs;
}

static int by_weight(const void *a, const void *b) {
    const struct group *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight < y->weight ? 1 : -1;
    return x->codes[0] < y->codes[0] ? -1 : x->codes[0] > y->codes[0];
}

static uint32_t common(const struct group *a, const struct group *b) {
    uint32_t i = 0, k = 0, n = 0;
    while (i < a->n && k < b->n) {
        n += a->codes[i] == b->codes[k];
        uint32_t x = a->codes[i], y = b->codes[k];
        i += x <= y;
        k += y <= x;
    }
    return n;
}

/* Those that are part of a heavier one go; those that have much in common with one become part of it. */
static void reduce(struct groups *g, const struct dddg_limits *l) {
    if (g->at.len)
        qsort(g->at.at, g->at.len, sizeof *g->at.at, by_weight);
    for (uint32_t i = 0; i < g->at.len; i++)
        for (uint32_t k = 0; k < i && !g->at.at[i].dropped; k++) {
            struct group *big = &g->at.at[k], *x = &g->at.at[i];
            uint32_t n = big->dropped ? 0 : common(big, x), less = big->n < x->n ? big->n : x->n;
            if (n && (n == x->n || n >= l->overlap * less)) {
                uint32_t *codes = xcalloc(big->n + x->n, sizeof *codes);
                memcpy(codes, big->codes, big->n * sizeof *codes);
                memcpy(codes + big->n, x->codes, x->n * sizeof *codes);
                big->n = sort_once(codes, big->n + x->n);
                free(big->codes);
                big->codes = codes;
                x->dropped = true;
            }
        }
}

/* ---- all of it ---- */

static void cover(struct search *s, const struct best *b, bool *in) {
    for (uint32_t k = 0; k < b->vertices; k++)
        in[s->all.at[k]] = true;
}

void dddg_find(const struct cputrace *t, const struct dddg_limits *l, struct dddg_result *r) {
    uint32_t n = t->at.len;
    struct search s = {.t = t,
                       .l = l,
                       .uses = xcalloc(n + 1, sizeof *s.uses),
                       .constant = xcalloc(n + 1, sizeof *s.constant),
                       .seen = xcalloc(n + 1, sizeof *s.seen),
                       .inside = xcalloc(n + 1, sizeof *s.inside),
                       .taken = xcalloc(n + 1, sizeof *s.taken)};
    struct groups g = {0};
    *r = (struct dddg_result){.in = xcalloc(n + 1, sizeof *r->in)};
    prepare(&s);
    for (uint32_t v = n; v-- > 0;) { /* from the end, so that a part of a candidate is not one of its own */
        r->total += t->code.at[t->at.at[v].code].latency;
        if (r->in[v] || !can_be_inside(&s, &t->at.at[v]) || t->code.at[t->at.at[v].code].is_store ||
            s.constant[v])
            continue;
        struct best b = grow(&s, v);
        if (!b.vertices || b.ratio < l->ratio)
            continue;
        r->candidates++;
        add(&g, &s, &b);
        cover(&s, &b, r->in);
    }
    reduce(&g, l);
    for (uint32_t i = 0; i < g.at.len; i++) {
        if (!g.at.at[i].dropped) {
            r->unique++;
            r->weight += (double)g.at.at[i].weight / (double)g.at.at[i].count;
            r->inputs += (double)g.at.at[i].inputs / (double)g.at.at[i].count;
        }
        free(g.at.at[i].codes);
    }
    for (uint32_t v = 0; v < n; v++)
        r->covered += r->in[v] ? t->code.at[t->at.at[v].code].latency : 0;
    vec_free(&g.at);
    map_free(&g.by_hash);
    vec_free(&s.all);
    free(s.uses);
    free(s.constant);
    free(s.seen);
    free(s.inside);
    free(s.taken);
}

void dddg_free(struct dddg_result *r) {
    free(r->in);
}
