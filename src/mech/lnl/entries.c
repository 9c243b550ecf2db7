/* Entries of the load checking history table, chosen by the compiler (section 3.3.1).
 *
 * A region asks the checked loads that the program gives it and that can come before it. An entry is in use
 * from its load to the last region that asks it; loads whose entries are in use at the same time have
 * different ones. Two bits count the regions that will use an entry, less one; regions beyond four are not
 * approximated. An entry is not counted down by a region that a loop brings to it again without the load. */
#include "mech/lnl/compile.h"

struct check {
    uint32_t block, index;
    struct lnl_fact *fact;
    uint32_t consumers;
    bool placed;
};

struct chooser {
    struct lnl_code *c;
    bits *to; /* by block: blocks that can be reached from its end */
    uint32_t words;
    VEC(struct check) checks;
    bool *asks; /* by region and check */
};

/* Blocks that can be reached from the end of block without entering avoid. */
static void reach_from(const struct chooser *h, uint32_t block, uint32_t avoid, bits *out) {
    const struct fn *f = h->c->f;
    uint32_t *stack = arena_array(h->c->arena, uint32_t, f->blocks.len + 1), n = 0;
    stack[n++] = block;
    while (n) {
        const struct block *b = &f->blocks.at[stack[--n]];
        for (uint32_t k = 0; k < b->succ.len; k++) {
            uint32_t s = b->succ.at[k];
            if (s == avoid || bits_get(out, s))
                continue;
            bits_set(out, s);
            stack[n++] = s;
        }
    }
}

/* Whether code at a can be followed by code at b. */
static bool follows(const struct chooser *h, uint32_t ablock, uint32_t aindex, uint32_t bblock,
                    uint32_t bindex) {
    return (ablock == bblock && aindex < bindex) || bits_get(h->to + (size_t)ablock * h->words, bblock);
}

/* The region may come again without the load in between. */
static bool is_sticky(const struct chooser *h, const struct lnl_region *r, const struct check *k) {
    if (k->block == r->start.block && k->index < r->start.index)
        return false;
    bits *out = arena_array(h->c->arena, bits, h->words);
    reach_from(h, r->start.block, k->block, out);
    return bits_get(out, r->start.block);
}

static bool in_use_together(const struct chooser *h, uint32_t x, uint32_t y) {
    const struct check *a = &h->checks.at[x], *b = &h->checks.at[y];
    if (!follows(h, a->block, a->index, b->block, b->index))
        return false;
    for (uint32_t r = 0; r < h->c->regions.len; r++) {
        const struct lnl_place *s = &h->c->regions.at[r].start;
        if (h->asks[r * h->checks.len + x] && follows(h, b->block, b->index, s->block, s->index))
            return true;
    }
    return false;
}

static void drop(struct chooser *h, uint32_t r, const char *why) {
    struct lnl_region *g = &h->c->regions.at[r];
    lnl_say(h->c->run, DIAG_WARNING, lnl_inst(h->c, g->start.block, g->start.index), "not approximated: %s",
            why);
    g->dropped = true;
    for (uint32_t k = 0; k < h->checks.len; k++) {
        h->checks.at[k].consumers -= h->asks[r * h->checks.len + k];
        h->asks[r * h->checks.len + k] = false;
    }
}

static void ask(struct chooser *h, uint32_t r) {
    struct lnl_region *g = &h->c->regions.at[r];
    bool any = false, many = false;
    for (uint32_t k = 0; k < h->checks.len; k++) {
        struct check *x = &h->checks.at[k];
        if (!(x->fact->uses >> g->name & 1) ||
            !follows(h, x->block, x->index, g->start.block, g->start.index))
            continue;
        h->asks[r * h->checks.len + k] = any = true;
        many |= ++x->consumers > LNL_CONSUMERS;
    }
    if (!any)
        drop(h, r, "no load is checked for this region");
    else if (many)
        drop(h, r, "a checked load serves at most four regions");
}

static void place(struct chooser *h, uint32_t x) {
    int32_t entries = ((const struct lnl_params *)h->c->run->params)->entries;
    struct check *a = &h->checks.at[x];
    uint32_t taken = 0;
    if (!a->consumers)
        return;
    for (uint32_t y = 0; y < h->checks.len; y++)
        if (h->checks.at[y].placed && (in_use_together(h, x, y) || in_use_together(h, y, x)))
            taken |= 1u << h->checks.at[y].fact->entry;
    uint32_t entry = (uint32_t)__builtin_ctz(~taken);
    if ((int32_t)entry >= entries) {
        for (uint32_t r = 0; r < h->c->regions.len; r++)
            if (h->asks[r * h->checks.len + x])
                drop(h, r, "more loads to check than the table has entries");
        return;
    }
    a->fact->entry = (uint8_t)entry;
    a->placed = true;
}

static void find_checks(struct chooser *h) {
    struct lnl_code *c = h->c;
    for (uint32_t b = 0; b < c->f->blocks.len; b++)
        for (uint32_t k = 0; k < c->f->blocks.at[b].insts.len; k++) {
            struct inst *i = lnl_inst(c, b, k);
            const struct lnl_fact *f = fact_get(c->run->p, LNL_OWNER, i);
            if (f && f->check)
                vec_push(&h->checks, ((struct check){.block = b, .index = k, .fact = lnl_fact(c, i)}));
        }
}

void lnl_choose_entries(struct lnl_code *c) {
    struct chooser h = {.c = c, .words = bits_words(c->f->blocks.len)};
    h.to = arena_array(c->arena, bits, (size_t)h.words * c->f->blocks.len);
    for (uint32_t b = 0; b < c->f->blocks.len; b++)
        reach_from(&h, b, NONE, h.to + (size_t)b * h.words);
    find_checks(&h);
    h.asks = arena_array(c->arena, bool, (size_t)c->regions.len *h.checks.len + 1);
    for (uint32_t r = 0; r < c->regions.len; r++)
        ask(&h, r);
    for (uint32_t k = 0; k < h.checks.len; k++)
        place(&h, k);
    for (uint32_t k = 0; k < h.checks.len; k++) {
        struct check *x = &h.checks.at[k];
        x->fact->check = x->placed && x->consumers;
        x->fact->count = x->consumers ? (uint8_t)(x->consumers - 1) : 0;
        for (uint32_t r = 0; r < c->regions.len; r++) {
            struct lnl_region *g = &c->regions.at[r];
            if (!h.asks[r * h.checks.len + k])
                continue;
            g->loads |= (uint8_t)(1u << x->fact->entry);
            if (lnl_keeps(c, LNL_STICKY) && is_sticky(&h, g, x))
                g->sticky |= (uint8_t)(1u << x->fact->entry);
        }
    }
    vec_free(&h.checks);
}
