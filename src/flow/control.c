#include "flow/control.h"

/* ---- control dependence ---- */

struct pair {
    uint32_t block, branch;
};
typedef VEC(struct pair) pairs;

/* Walks up from one way out of branch b to what post-dominates b: these blocks run if that way is taken. */
static void add_way(const struct control *c, pairs *found, uint32_t b, uint32_t way) {
    for (uint32_t at = way; at != NONE && at != c->ipdom[b]; at = c->ipdom[at])
        vec_push(found, (struct pair){at, b});
}

static int by_block(const void *x, const void *y) {
    const struct pair *a = x, *b = y;
    if (a->block != b->block)
        return a->block < b->block ? -1 : 1;
    return a->branch < b->branch ? -1 : a->branch > b->branch;
}

static void find_deps(struct arena *a, struct control *c) {
    pairs found = {0};
    for (uint32_t b = 0; b < c->f->blocks.len; b++) {
        const struct block *k = &c->f->blocks.at[b];
        bool leaves = k->insts.len && fn_may_leave(&k->insts.at[k->insts.len - 1]);
        for (uint32_t s = 0; s < k->succ.len && k->succ.len + leaves > 1; s++)
            add_way(c, &found, b, k->succ.at[s]);
    }
    if (found.len)
        qsort(found.at, found.len, sizeof *found.at, by_block);
    c->dep_at = arena_array(a, uint32_t, c->f->blocks.len + 2);
    c->deps = arena_array(a, uint32_t, found.len + 1);
    uint32_t n = 0, k = 0;
    for (uint32_t b = 0; b < c->f->blocks.len; b++) {
        c->dep_at[b] = n;
        for (; k < found.len && found.at[k].block == b; k++)
            if (n == c->dep_at[b] || c->deps[n - 1] != found.at[k].branch)
                c->deps[n++] = found.at[k].branch;
    }
    c->dep_at[c->f->blocks.len] = n;
    vec_free(&found);
}

bool control_depends(const struct control *c, uint32_t x, uint32_t b) {
    for (uint32_t k = c->dep_at[x]; k < c->dep_at[x + 1]; k++)
        if (c->deps[k] == b)
            return true;
    return false;
}

/* ---- splits ---- */

/* Scratch of the search, by block. */
struct search {
    uint32_t *met;     /* stamp of the last way that came by */
    uint32_t *reached; /* split, plus one, of which a way came by */
    uint32_t *stack;
    uint32_t stamp;
};

/* Marks what one way out of split s reaches. */
static void mark_way(const struct control *c, struct search *x, uint32_t s, uint32_t way) {
    uint32_t depth = 0;
    x->stamp++;
    x->stack[depth++] = way;
    x->met[way] = x->stamp;
    while (depth) {
        uint32_t b = x->stack[--depth];
        if (x->reached[b] == s + 1)
            bits_set(c->meets + (size_t)b * c->words, s);
        x->reached[b] = s + 1;
        if (b == c->splits[s].join)
            continue;
        bits_set(c->region + (size_t)b * c->words, s);
        for (uint32_t k = 0; k < c->f->blocks.at[b].succ.len; k++) {
            uint32_t to = c->f->blocks.at[b].succ.at[k];
            if (x->met[to] != x->stamp) {
                x->met[to] = x->stamp;
                x->stack[depth++] = to;
            }
        }
    }
}

/* Ways that lead to the same block are one way. */
static bool first_way(const struct block *k, uint32_t s) {
    for (uint32_t n = 0; n < s; n++)
        if (k->succ.at[n] == k->succ.at[s])
            return false;
    return true;
}

static uint32_t count_ways(const struct block *k) {
    uint32_t n = 0;
    for (uint32_t s = 0; s < k->succ.len; s++)
        n += first_way(k, s);
    return n;
}

static void find_splits(struct arena *a, struct control *c) {
    uint32_t n = c->f->blocks.len;
    c->splits = arena_array(a, struct split, n + 1);
    for (uint32_t b = 0; b < n; b++)
        if (count_ways(&c->f->blocks.at[b]) > 1)
            c->splits[c->nsplits++] = (struct split){.block = b, .join = c->f->blocks.at[b].ipdom};
    struct arena temp = {0};
    c->words = bits_words(c->nsplits);
    c->region = arena_array(a, bits, (size_t)n * c->words + 1);
    c->meets = arena_array(a, bits, (size_t)n * c->words + 1);
    c->again = arena_array(a, bits, c->words + 1);
    struct search x = {.met = arena_array(&temp, uint32_t, n + 1),
                       .reached = arena_array(&temp, uint32_t, n + 1),
                       .stack = arena_array(&temp, uint32_t, n + 1)};
    for (uint32_t s = 0; s < c->nsplits; s++) {
        const struct block *k = &c->f->blocks.at[c->splits[s].block];
        for (uint32_t w = 0; w < k->succ.len; w++)
            if (first_way(k, w))
                mark_way(c, &x, s, k->succ.at[w]);
        if (bits_get(control_region(c, c->splits[s].block), s))
            bits_set(c->again, s);
    }
    arena_free(&temp);
}

struct control control_of(struct arena *a, const struct fn *f) {
    struct control c = {.f = f, .ipdom = postdom_of(a, f)};
    find_deps(a, &c);
    find_splits(a, &c);
    return c;
}
