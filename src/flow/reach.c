#include "flow/reach.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_WRITES = 8 + 2 + NUM_PRED }; /* words and predicates of one instruction */

/* The version that was in force before a block changed it. */
struct undone {
    uint32_t value, version;
};

/* What the builder knows while it works. */
struct builder {
    struct arena *a, temp;
    struct reach *r;
    struct dom dom;
    struct live live;
    VEC(struct version) versions;
    VEC(uint32_t) inputs, reads;
    uint32_t *current; /* by value: version in force; NONE: the entry's */
    uint32_t *entry;   /* by value: that one, once somebody sees it; NONE */
    VEC(struct undone) undo;
};

static uint32_t add_version(struct builder *b, struct version v) {
    vec_push(&b->versions, v);
    return b->versions.len - 1;
}

/* ---- merges ---- */

typedef VEC(uint32_t) list;

/* Dominance frontiers, by block. */
static list *frontiers(struct builder *b, const struct fn *f) {
    list *df = arena_array(&b->temp, list, f->blocks.len + 1);
    for (uint32_t k = 0; k < b->dom.n; k++) {
        uint32_t at = b->dom.order[k];
        const struct block *block = &f->blocks.at[at];
        for (uint32_t p = 0; p < block->pred.len && block->pred.len > 1; p++) {
            uint32_t from = block->pred.at[p];
            if (from && b->dom.idom[from] == NONE)
                continue; /* cannot be reached */
            while (from != b->dom.idom[at] && from != NONE) {
                if (!df[from].len || df[from].at[df[from].len - 1] != at)
                    vec_push(&df[from], at);
                from = b->dom.idom[from];
            }
        }
    }
    return df;
}

/* Blocks that write each value that leaves a block, by the value's bit in the live sets. */
static list *writers(struct builder *b, const struct fn *f) {
    list *all = arena_array(&b->temp, list, b->live.n + 1);
    struct span span[MAX_SPANS];
    for (uint32_t k = 0; k < b->dom.n; k++) {
        const struct block *block = &f->blocks.at[b->dom.order[k]];
        for (uint32_t i = 0; i < block->insts.len; i++) {
            uint32_t n = inst_writes(&b->r->v, &block->insts.at[i], span);
            for (uint32_t s = 0; s < n; s++)
                for (uint32_t w = 0; w < span[s].n; w++) {
                    uint32_t g = b->live.index[span[s].first + w];
                    if (g != NONE && (!all[g].len || all[g].at[all[g].len - 1] != b->dom.order[k]))
                        vec_push(&all[g], b->dom.order[k]);
                }
        }
    }
    return all;
}

/* The values that need a merge at each block. */
static list *place_merges(struct builder *b, const struct fn *f) {
    list *df = frontiers(b, f), *defs = writers(b, f);
    list *merges = arena_array(&b->temp, list, f->blocks.len + 1);
    uint32_t *merged = arena_array(&b->temp, uint32_t, f->blocks.len + 1);
    for (uint32_t g = 0; g < b->live.n; g++) {
        list *work = &defs[g];
        while (work->len) {
            uint32_t from = work->at[--work->len];
            for (uint32_t k = 0; k < df[from].len; k++) {
                uint32_t at = df[from].at[k];
                if (merged[at] == g + 1)
                    continue;
                merged[at] = g + 1;
                vec_push(&merges[at], b->live.value[g]);
                vec_push(work, at); /* a merge is a write */
            }
        }
        vec_free(work);
    }
    for (uint32_t k = 0; k < f->blocks.len; k++)
        vec_free(&df[k]);
    return merges;
}

/* Gives the merges their numbers, block by block, with room for their inputs. */
static void number_merges(struct builder *b, const struct fn *f) {
    list *merges = place_merges(b, f);
    uint32_t total = 0;
    for (uint32_t k = 0; k < f->blocks.len; k++)
        total += merges[k].len;
    b->r->merge_at = arena_array(b->a, uint32_t, f->blocks.len + 2);
    b->r->merges = arena_array(b->a, uint32_t, total + 1);
    total = 0;
    for (uint32_t k = 0; k < f->blocks.len; k++) {
        b->r->merge_at[k] = total;
        for (uint32_t m = 0; m < merges[k].len; m++) {
            b->r->merges[total++] = add_version(b, (struct version){.kind = VERSION_MERGE,
                                                                    .value = merges[k].at[m],
                                                                    .block = k,
                                                                    .before = NONE,
                                                                    .input = b->inputs.len});
            for (uint32_t p = 0; p < f->blocks.at[k].pred.len; p++)
                vec_push(&b->inputs, NONE);
        }
        vec_free(&merges[k]);
    }
    b->r->merge_at[f->blocks.len] = total;
}

/* ---- who sees what ---- */

static uint32_t seen(struct builder *b, uint32_t value) {
    if (b->current[value] != NONE)
        return b->current[value];
    if (b->entry[value] == NONE)
        b->entry[value] =
            add_version(b, (struct version){.kind = VERSION_ENTRY, .value = value, .before = NONE});
    return b->entry[value];
}

static void set_current(struct builder *b, uint32_t value, uint32_t version) {
    vec_push(&b->undo, (struct undone){value, b->current[value]});
    b->current[value] = version;
}

static void walk_inst(struct builder *b, uint32_t block, uint32_t index, const struct inst *i) {
    struct span span[MAX_SPANS];
    uint32_t number = b->r->first[block] + index, n = inst_reads(&b->r->v, i, span);
    b->r->read_at[number] = b->reads.len;
    for (uint32_t s = 0; s < n; s++)
        for (uint32_t w = 0; w < span[s].n; w++)
            vec_push(&b->reads, seen(b, span[s].first + w));
    n = inst_writes(&b->r->v, i, span);
    uint32_t before[MAX_WRITES], count = 0; /* seen first, because writes have consecutive numbers */
    for (uint32_t s = 0; s < n; s++)
        for (uint32_t w = 0; w < span[s].n; w++)
            before[count++] = is_guarded(i) ? seen(b, span[s].first + w) : NONE;
    b->r->write_at[number] = b->versions.len;
    count = 0;
    for (uint32_t s = 0; s < n; s++)
        for (uint32_t w = 0; w < span[s].n; w++) {
            struct version v = {.kind = VERSION_WRITE,
                                .value = span[s].first + w,
                                .block = block,
                                .index = index,
                                .before = before[count++]};
            set_current(b, v.value, add_version(b, v));
        }
}

static void walk_block(struct builder *b, const struct fn *f, uint32_t at) {
    const struct block *block = &f->blocks.at[at];
    for (uint32_t m = b->r->merge_at[at]; m < b->r->merge_at[at + 1]; m++)
        set_current(b, b->versions.at[b->r->merges[m]].value, b->r->merges[m]);
    for (uint32_t i = 0; i < block->insts.len; i++)
        walk_inst(b, at, i, &block->insts.at[i]);
    for (uint32_t s = 0; s < block->succ.len; s++) {
        uint32_t to = block->succ.at[s];
        for (uint32_t m = b->r->merge_at[to]; m < b->r->merge_at[to + 1]; m++) {
            const struct version *v = &b->versions.at[b->r->merges[m]];
            uint32_t value = v->value, input = v->input;
            for (uint32_t p = 0; p < f->blocks.at[to].pred.len; p++)
                if (f->blocks.at[to].pred.at[p] == at)
                    b->inputs.at[input + p] = seen(b, value);
        }
    }
}

/* The blocks in dominator preorder; what a block wrote is undone when the walk leaves its part of the tree.
 */
static void walk_tree(struct builder *b, const struct fn *f) {
    uint32_t *path = arena_array(&b->temp, uint32_t, f->blocks.len + 1);
    uint32_t *mark = arena_array(&b->temp, uint32_t, f->blocks.len + 1), depth = 0;
    for (uint32_t k = 0; k < b->dom.n; k++) {
        uint32_t at = b->dom.order[k];
        while (depth && path[depth - 1] != b->dom.idom[at]) {
            for (depth--; b->undo.len > mark[depth]; b->undo.len--)
                b->current[b->undo.at[b->undo.len - 1].value] = b->undo.at[b->undo.len - 1].version;
        }
        mark[depth] = b->undo.len;
        path[depth++] = at;
        walk_block(b, f, at);
    }
}

static void *keep(struct arena *a, void *from, size_t bytes) {
    void *to = arena_alloc(a, bytes + 1);
    if (bytes)
        memcpy(to, from, bytes);
    free(from);
    return to;
}

struct reach reach_of(struct arena *a, const struct fn *f) {
    struct reach r = {.f = f, .v = values_of(a, f)};
    struct builder b = {.a = a, .r = &r};
    uint32_t total = 0;
    r.first = arena_array(a, uint32_t, f->blocks.len + 1);
    for (uint32_t k = 0; k < f->blocks.len; total += f->blocks.at[k++].insts.len)
        r.first[k] = total;
    r.read_at = arena_array(a, uint32_t, total + 1);
    r.write_at = arena_array(a, uint32_t, total + 1);
    for (uint32_t k = 0; k < total; k++)
        r.read_at[k] = r.write_at[k] = NONE;
    b.dom = dom_of(&b.temp, f);
    b.live = live_of(&b.temp, f);
    number_merges(&b, f);
    b.current = arena_array(&b.temp, uint32_t, r.v.n + 1);
    b.entry = arena_array(&b.temp, uint32_t, r.v.n + 1);
    for (uint32_t v = 0; v < r.v.n; v++)
        b.current[v] = b.entry[v] = NONE;
    walk_tree(&b, f);
    r.n = b.versions.len;
    r.at = keep(a, b.versions.at, r.n * sizeof *r.at);
    r.inputs = keep(a, b.inputs.at, b.inputs.len * sizeof *r.inputs);
    r.nreads = b.reads.len;
    r.reads = keep(a, b.reads.at, b.reads.len * sizeof *r.reads);
    vec_free(&b.undo);
    arena_free(&b.temp);
    return r;
}

/* ---- questions ---- */

uint32_t reach_read(const struct reach *r, uint32_t block, uint32_t index, uint32_t value) {
    struct span span[MAX_SPANS];
    uint32_t n = inst_reads(&r->v, &r->f->blocks.at[block].insts.at[index], span);
    uint32_t at = r->read_at[r->first[block] + index];
    if (at == NONE)
        return NONE;
    for (uint32_t s = 0; s < n; at += span[s++].n)
        if (value - span[s].first < span[s].n)
            return r->reads[at + value - span[s].first];
    return NONE;
}

uint32_t reach_written(const struct reach *r, uint32_t block, uint32_t index, uint32_t value) {
    struct span span[MAX_SPANS];
    uint32_t n = inst_writes(&r->v, &r->f->blocks.at[block].insts.at[index], span);
    uint32_t at = r->write_at[r->first[block] + index];
    if (at == NONE)
        return NONE;
    for (uint32_t s = 0; s < n; at += span[s++].n)
        if (value - span[s].first < span[s].n)
            return at + value - span[s].first;
    return NONE;
}

const struct inst *reach_inst(const struct reach *r, uint32_t v) {
    const struct version *at = &r->at[v];
    return at->kind == VERSION_WRITE ? &r->f->blocks.at[at->block].insts.at[at->index] : NULL;
}

static int ascending(const void *x, const void *y) {
    uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    return a < b ? -1 : a > b;
}

uint32_t reach_definitions(struct arena *a, const struct reach *r, uint32_t v, uint32_t **out) {
    struct arena temp = {0};
    bits *met = arena_array(&temp, bits, bits_words(r->n) + 1);
    VEC(uint32_t) work = {0}, found = {0};
    vec_push(&work, v);
    bits_set(met, v);
    while (work.len) {
        uint32_t here = work.at[--work.len];
        const struct version *at = &r->at[here];
        if (at->kind != VERSION_MERGE)
            vec_push(&found, here);
        uint32_t n = at->kind == VERSION_MERGE ? r->f->blocks.at[at->block].pred.len : at->before != NONE;
        for (uint32_t k = 0; k < n; k++) {
            uint32_t next = at->kind == VERSION_MERGE ? r->inputs[at->input + k] : at->before;
            if (next == NONE || bits_get(met, next))
                continue;
            bits_set(met, next);
            vec_push(&work, next);
        }
    }
    qsort(found.at, found.len, sizeof *found.at, ascending);
    uint32_t n = found.len;
    *out = keep(a, found.at, n * sizeof **out);
    vec_free(&work);
    arena_free(&temp);
    return n;
}
