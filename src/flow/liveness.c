/* Liveness of words and predicates, and which of them may have been written.
 *
 * Most values live and die inside one block. Only the others get a bit, which keeps the sets small for
 * kernels with tens of thousands of registers. */
#include <string.h>

#include "flow/flow.h"

struct scan {
    struct live *l;
    uint32_t *home; /* block of all references so far, plus one */
    bool *global;
    uint32_t *written; /* block in which the value was last fully written, plus one */
};

static void scan_block(struct scan *s, const struct block *b, uint32_t id) {
    struct span span[MAX_SPANS];
    for (uint32_t k = 0; k < b->insts.len; k++) {
        const struct inst *i = &b->insts.at[k];
        for (int write = 0; write < 2; write++) {
            uint32_t n = write ? inst_writes(&s->l->v, i, span) : inst_reads(&s->l->v, i, span);
            for (uint32_t j = 0; j < n; j++)
                for (uint32_t w = 0; w < span[j].n; w++) {
                    uint32_t v = span[j].first + w;
                    if (s->home[v] && s->home[v] != id + 1)
                        s->global[v] = true;
                    s->home[v] = id + 1;
                    if (write && !is_guarded(i))
                        s->written[v] = id + 1;
                    else if (s->written[v] != id + 1)
                        s->global[v] = true; /* reads, or keeps, what came before this block */
                }
        }
    }
}

static void number(struct arena *a, const struct fn *f, struct live *l) {
    struct scan s = {.l = l};
    s.home = arena_array(a, uint32_t, l->v.n + 1);
    s.written = arena_array(a, uint32_t, l->v.n + 1);
    s.global = arena_array(a, bool, l->v.n + 1);
    for (uint32_t b = 0; b < f->blocks.len; b++)
        scan_block(&s, &f->blocks.at[b], b);
    l->index = arena_array(a, uint32_t, l->v.n + 1);
    for (uint32_t v = 0; v < l->v.n; v++)
        l->index[v] = s.global[v] ? l->n++ : NONE;
    l->words = bits_words(l->n);
    l->value = arena_array(a, uint32_t, l->n + 1);
    for (uint32_t v = 0; v < l->v.n; v++)
        if (l->index[v] != NONE)
            l->value[l->index[v]] = v;
}

/* use: read before any full write; def: fully written. */
static void block_sets(const struct live *l, const struct block *b, bits *use, bits *def) {
    struct span span[MAX_SPANS];
    for (uint32_t k = b->insts.len; k-- > 0;) {
        const struct inst *i = &b->insts.at[k];
        uint32_t n = is_guarded(i) ? 0 : inst_writes(&l->v, i, span);
        for (uint32_t j = 0; j < n; j++)
            for (uint32_t w = 0; w < span[j].n; w++) {
                uint32_t g = l->index[span[j].first + w];
                if (g != NONE) {
                    bits_set(def, g);
                    bits_clear(use, g);
                }
            }
        n = inst_reads(&l->v, i, span);
        for (uint32_t j = 0; j < n; j++)
            for (uint32_t w = 0; w < span[j].n; w++) {
                uint32_t g = l->index[span[j].first + w];
                if (g != NONE)
                    bits_set(use, g);
            }
    }
}

static void flow_back(const struct fn *f, struct live *l, const uint32_t *order, uint32_t n,
                      const bits *def) {
    uint32_t words = l->words;
    for (bool again = true; again;) {
        again = false;
        for (uint32_t k = n; k-- > 0;) {
            uint32_t b = order[k];
            bits *in = l->in + (size_t)b * words, *out = l->out + (size_t)b * words;
            const bits *kill = def + (size_t)b * words;
            for (uint32_t s = 0; s < f->blocks.at[b].succ.len; s++) {
                const bits *next = l->in + (size_t)f->blocks.at[b].succ.at[s] * words;
                for (uint32_t w = 0; w < words; w++)
                    out[w] |= next[w];
            }
            for (uint32_t w = 0; w < words; w++) {
                bits now = in[w] | (out[w] & ~kill[w]);
                again |= now != in[w];
                in[w] = now;
            }
        }
    }
}

struct live live_of(struct arena *a, const struct fn *f) {
    struct live l = {.v = values_of(a, f)};
    number(a, f, &l);
    size_t size = (size_t)f->blocks.len * l.words;
    l.in = arena_array(a, bits, size + 1);
    l.out = arena_array(a, bits, size + 1);
    struct arena temp = {0};
    bits *def = arena_array(&temp, bits, size + 1);
    for (uint32_t b = 0; b < f->blocks.len; b++)
        block_sets(&l, &f->blocks.at[b], l.in + (size_t)b * l.words, def + (size_t)b * l.words);
    uint32_t *order, n = cfg_rpo(&temp, f, &order);
    flow_back(f, &l, order, n, def);
    arena_free(&temp);
    return l;
}

bits *live_defined(struct arena *a, const struct fn *f, const struct live *l) {
    size_t size = (size_t)f->blocks.len * l->words;
    bits *in = arena_array(a, bits, size + 1);
    struct arena temp = {0};
    bits *gen = arena_array(&temp, bits, size + 1);
    struct span span[MAX_SPANS];
    for (uint32_t b = 0; b < f->blocks.len; b++)
        for (uint32_t k = 0; k < f->blocks.at[b].insts.len; k++) {
            uint32_t n = inst_writes(&l->v, &f->blocks.at[b].insts.at[k], span);
            for (uint32_t j = 0; j < n; j++)
                for (uint32_t w = 0; w < span[j].n; w++)
                    if (l->index[span[j].first + w] != NONE)
                        bits_set(gen + (size_t)b * l->words, l->index[span[j].first + w]);
        }
    uint32_t *order, n = cfg_rpo(&temp, f, &order);
    for (bool again = true; again;) {
        again = false;
        for (uint32_t k = 0; k < n; k++) {
            const struct block *b = &f->blocks.at[order[k]];
            const bits *from = in + (size_t)order[k] * l->words, *made = gen + (size_t)order[k] * l->words;
            for (uint32_t s = 0; s < b->succ.len; s++) {
                bits *to = in + (size_t)b->succ.at[s] * l->words;
                for (uint32_t w = 0; w < l->words; w++) {
                    bits now = to[w] | from[w] | made[w];
                    again |= now != to[w];
                    to[w] = now;
                }
            }
        }
    }
    arena_free(&temp);
    return in;
}
