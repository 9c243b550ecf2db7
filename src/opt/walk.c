#include "opt/walk.h"

void walk_begin(struct walk *w, struct fn *f) {
    *w = (struct walk){.f = f};
    w->d = defs_of(&w->arena, f);
    w->dom = dom_of(&w->arena, f);
    w->stamp = arena_array(&w->arena, uint32_t, w->d.v.n + 1);
    w->last = arena_array(&w->arena, uint32_t, w->d.v.n + 1);
    w->index = NONE;
    w->block = w->dom.order[0];
}

static void note_writes(struct walk *w, const struct inst *i) {
    struct span span[MAX_SPANS];
    uint32_t n = inst_writes(&w->d.v, i, span);
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t j = 0; j < span[k].n; j++) {
            w->stamp[span[k].first + j] = w->block + 1;
            w->last[span[k].first + j] = w->index;
        }
}

struct inst *walk_next(struct walk *w) {
    if (w->index != NONE)
        note_writes(w, &w->f->blocks.at[w->block].insts.at[w->index]);
    w->index++;
    while (w->index >= w->f->blocks.at[w->block].insts.len) {
        if (++w->k >= w->dom.n)
            return NULL;
        w->block = w->dom.order[w->k];
        w->index = 0;
    }
    return &w->f->blocks.at[w->block].insts.at[w->index];
}

void walk_end(struct walk *w) {
    arena_free(&w->arena);
}

struct inst *walk_def(const struct walk *w, uint32_t value, struct def_site *at) {
    if (w->stamp[value] == w->block + 1)
        *at = (struct def_site){w->block, w->last[value]};
    else if (w->d.count[value] == 1 && dom_site(&w->dom, w->d.site[value], w->block, w->index))
        *at = w->d.site[value];
    else
        return NULL;
    struct inst *i = &w->f->blocks.at[at->block].insts.at[at->index];
    return is_guarded(i) ? NULL : i;
}

bool walk_same(const struct walk *w, uint32_t value, struct def_site at) {
    if (!w->d.count[value]) /* never written */
        return true;
    if (at.block == w->block)
        return w->stamp[value] != w->block + 1 || w->last[value] < at.index;
    return w->d.count[value] == 1 && dom_site(&w->dom, w->d.site[value], at.block, at.index);
}

bool walk_same_opd(const struct walk *w, const struct opd *o, uint32_t words, struct def_site at) {
    if (o->kind != O_REG || o->v == VREG_RZ)
        return true;
    for (uint32_t k = 0; k < words; k++)
        if (!walk_same(w, value_of_opd(&w->d.v, o) + k, at))
            return false;
    return true;
}

bool walk_copied(const struct walk *w, const struct opd *o, uint32_t word, struct opd *out) {
    struct def_site at;
    if (o->kind != O_REG || o->v == VREG_RZ)
        return false;
    const struct inst *i = walk_def(w, value_of_opd(&w->d.v, o) + word, &at);
    if (!i || i->op != OP_MOV || i->frame || !walk_same_opd(w, &i->src[0], 1, at))
        return false;
    *out = i->src[0];
    return true;
}

bool walk_number(const struct walk *w, const struct opd *o, uint32_t *out) {
    struct opd from = *o;
    if (o->mod)
        return false;
    if (o->kind == O_REG && o->v != VREG_RZ && !walk_copied(w, o, 0, &from))
        return false;
    if (from.kind == O_IMM || is_rz(&from)) {
        *out = from.kind == O_IMM ? from.v : 0;
        return true;
    }
    return false;
}
