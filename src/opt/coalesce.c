/* Coalescing: two registers connected by a copy become one when they are never live at the same time.
 *
 * A register may also become part of a larger group: the words of a vector load flow straight into where they
 * are used, and a vector store collects its words in place. Copies in the deepest loops go first. */
#include "opt/ranges.h"

struct joiner {
    struct arena arena;
    struct fn *f;
    struct ranges r;
    uint32_t *parent; /* by virtual register; itself for a representative */
    uint8_t *offset;  /* word of the parent at which it starts */
};

/* Representative of v; *word, a word of v, becomes a word of the representative. */
static uint32_t find(struct joiner *j, uint32_t v, uint32_t *word) {
    while (j->parent[v] != v) {
        uint32_t p = j->parent[v];
        if (j->parent[p] != p) { /* shorten the path */
            j->offset[v] = (uint8_t)(j->offset[v] + j->offset[p]);
            j->parent[v] = j->parent[p];
            continue;
        }
        *word += j->offset[v];
        v = p;
    }
    return v;
}

static struct range *range_at(struct joiner *j, uint32_t v, uint32_t word) {
    return &j->r.of[j->r.v.base[v] + word];
}

/* Joins the groups of two words if nothing forbids it. */
static void join(struct joiner *j, uint32_t x, uint32_t xw, uint32_t y, uint32_t yw) {
    x = find(j, x, &xw);
    y = find(j, y, &yw);
    if (x == y || x == j->f->fp || y == j->f->fp)
        return;
    if (j->f->vregs.at[x] < j->f->vregs.at[y]) {
        uint32_t t = x, tw = xw;
        x = y, xw = yw;
        y = t, yw = tw;
    }
    uint32_t small = j->f->vregs.at[y], align = small > 4 ? 4 : small;
    if (xw < yw || (xw - yw) % align || xw - yw + small > j->f->vregs.at[x])
        return;
    uint32_t at = xw - yw;
    for (uint32_t w = 0; w < small; w++)
        if (range_overlaps(range_at(j, y, w), range_at(j, x, at + w)))
            return;
    for (uint32_t w = 0; w < small; w++)
        *range_at(j, x, at + w) = range_join(&j->arena, range_at(j, x, at + w), range_at(j, y, w));
    j->parent[y] = x;
    j->offset[y] = (uint8_t)at;
}

static void rename(struct joiner *j, struct opd *o) {
    if (o->kind != O_REG || o->v == VREG_RZ)
        return;
    uint32_t word = o->word;
    o->v = find(j, o->v, &word);
    o->word = (uint8_t)word;
}

static bool is_copy(const struct inst *i) {
    return i->op == OP_MOV && i->dst.kind == O_REG && i->src[0].kind == O_REG && !is_rz(&i->dst) &&
           !is_rz(&i->src[0]) && !i->frame;
}

static void join_copies(struct joiner *j) {
    uint32_t deepest = 0;
    for (uint32_t b = 0; b < j->f->blocks.len; b++)
        if (j->f->blocks.at[b].depth > deepest)
            deepest = j->f->blocks.at[b].depth;
    if (deepest > 4)
        deepest = 4;
    for (uint32_t depth = deepest + 1; depth-- > 0;)
        for (uint32_t b = 0; b < j->f->blocks.len; b++) {
            const struct block *k = &j->f->blocks.at[b];
            if ((k->depth < 4 ? k->depth : 4) != depth)
                continue;
            for (uint32_t n = 0; n < k->insts.len; n++) {
                const struct inst *i = &k->insts.at[n];
                if (is_copy(i))
                    join(j, i->dst.v, i->dst.word, i->src[0].v, i->src[0].word);
            }
        }
}

void coalesce_groups(struct fn *f) {
    struct joiner j = {.f = f};
    j.r = ranges_of(&j.arena, f);
    j.parent = arena_array(&j.arena, uint32_t, f->vregs.len + 1);
    j.offset = arena_array(&j.arena, uint8_t, f->vregs.len + 1);
    for (uint32_t v = 0; v < f->vregs.len; v++)
        j.parent[v] = v;
    join_copies(&j);
    for (uint32_t b = 0; b < f->blocks.len; b++)
        for (uint32_t k = 0; k < f->blocks.at[b].insts.len; k++) {
            struct inst *i = &f->blocks.at[b].insts.at[k];
            rename(&j, &i->dst);
            for (uint32_t s = 0; s < i->nsrc; s++)
                rename(&j, &i->src[s]);
            if (is_copy(i) && opd_eq(&i->dst, &i->src[0]))
                i->op = OP_NOP;
        }
    arena_free(&j.arena);
    fn_compact(f);
}
