/* Groups of registers that one instruction reads, such as the coordinates of a texture, are built word by
 * word by copies. Where a group is no longer needed when the next of its size is built, and some words are
 * the same, the next takes its place, and those words are not copied again.
 *
 * A group of which all other words are computed for it alone costs a single copy, and stays apart, so that
 * what reads it need not wait for what read the one before. Where other words are copies, too, of values that
 * are kept, sharing one register saves most of them.
 *
 * Only groups are looked at that are built by plain copies, each word once, and read in the block that built
 * them: what such a group holds is known from there on. A word is the same when both copies have one source
 * that nothing writes in between. Groups that were merged are one register, of which the allocator knows
 * nothing special; its words live as long as the source of both copies. */
#include "opt/pass.h"

enum { MAX_WORDS = 8, MAX_HOLDERS = 8 };

/* A virtual register as it is written: where its words are copied, and what reads it. */
struct group {
    bool unfit;
    uint32_t block;         /* of its copies, plus one; 0: there are none yet */
    uint32_t at[MAX_WORDS]; /* the copy of each word, plus one */
    uint32_t first, last;   /* first copy, last instruction that reads it */
};

/* A register that others may take the place of: what its words are copies of, and how long it is read. */
struct holder {
    uint32_t reg, busy;
    uint32_t at[MAX_WORDS]; /* as above */
};

struct grouping {
    struct fn *f;
    struct defs d;
    struct group *of;  /* by virtual register */
    uint32_t *instead; /* by virtual register: the one whose place it takes, or itself */
    bool changed;
};

static bool is_group(const struct grouping *g, const struct opd *o) {
    return o->kind == O_REG && !is_rz(o) && g->f->vregs.at[o->v] > 1;
}

static void note_write(struct grouping *g, const struct inst *i, uint32_t block, uint32_t index) {
    if (!is_group(g, &i->dst))
        return;
    struct group *to = &g->of[i->dst.v];
    if (i->op != OP_MOV || i->frame || is_guarded(i) || inst_dst_words(i) != 1 || to->at[i->dst.word] ||
        (to->block && to->block != block + 1)) {
        to->unfit = true;
        return;
    }
    if (!to->block)
        to->first = index;
    to->block = block + 1;
    to->at[i->dst.word] = index + 1;
}

/* A word that is read must have been copied before, in the same block. */
static void note_reads(struct grouping *g, const struct inst *i, uint32_t block, uint32_t index) {
    for (uint32_t s = 0; s < i->nsrc; s++) {
        const struct opd *o = &i->src[s];
        if (!is_group(g, o))
            continue;
        struct group *from = &g->of[o->v];
        from->last = index;
        for (uint32_t w = 0; w < inst_src_words(i, s); w++)
            from->unfit |= from->block != block + 1 || !from->at[o->word + w];
    }
}

static bool writes(const struct inst *i, const struct opd *o) {
    uint32_t words = inst_dst_words(i);
    return i->dst.kind == O_REG && i->dst.v == o->v && o->word >= i->dst.word &&
           o->word < i->dst.word + words;
}

/* True when two copies of a block, the first in front of the second, copy the same register. Copying a
 * constant again costs an instruction, but keeping it would cost a register. */
static bool same_copy(const struct block *b, uint32_t first, uint32_t second) {
    const struct opd *o = &b->insts.at[first].src[0];
    if (o->kind != O_REG || is_rz(o) || !opd_eq(o, &b->insts.at[second].src[0]))
        return false;
    for (uint32_t k = first + 1; k < second; k++)
        if (writes(&b->insts.at[k], o))
            return false;
    return true;
}

static uint32_t words_alike(const struct block *b, const struct holder *h, const struct group *next) {
    uint32_t n = 0;
    for (uint32_t w = 0; w < MAX_WORDS; w++)
        n += h->at[w] && next->at[w] && same_copy(b, h->at[w] - 1, next->at[w] - 1);
    return n;
}

/* True when what the copy has is used elsewhere, or comes from another block, so that it stays a copy. */
static bool stays_copy(const struct grouping *g, uint32_t block, const struct inst *copy) {
    const struct opd *o = &copy->src[0];
    if (o->kind != O_REG || is_rz(o))
        return true;
    uint32_t value = value_of_opd(&g->d.v, o);
    return g->d.uses[value] > 1 || g->d.count[value] != 1 || g->d.site[value].block != block;
}

/* True when group next has a word that differs from the holder's and has to be copied in any case. */
static bool copies_others(const struct grouping *g, uint32_t block, const struct holder *h,
                          const struct group *next) {
    const struct block *b = &g->f->blocks.at[block];
    for (uint32_t w = 0; w < MAX_WORDS; w++)
        if (next->at[w] && !(h->at[w] && same_copy(b, h->at[w] - 1, next->at[w] - 1)) &&
            stays_copy(g, block, &b->insts.at[next->at[w] - 1]))
            return true;
    return false;
}

/* Lets register v, built from here on, take the holder's place. */
static void take(struct grouping *g, struct block *b, struct holder *h, uint32_t v) {
    const struct group *next = &g->of[v];
    for (uint32_t w = 0; w < MAX_WORDS; w++) {
        if (!next->at[w])
            continue;
        struct inst *copy = &b->insts.at[next->at[w] - 1];
        if (h->at[w] && same_copy(b, h->at[w] - 1, next->at[w] - 1))
            *copy = inst_new(OP_NOP);
        else
            h->at[w] = next->at[w];
    }
    g->instead[v] = h->reg;
    h->busy = next->last;
    g->changed = true;
}

static void merge_groups(struct grouping *g, uint32_t block) {
    struct block *b = &g->f->blocks.at[block];
    struct holder holders[MAX_HOLDERS];
    uint32_t n = 0;
    for (uint32_t k = 0; k < b->insts.len; k++) {
        const struct inst *i = &b->insts.at[k];
        if (i->op != OP_MOV || !is_group(g, &i->dst))
            continue;
        uint32_t v = i->dst.v, most = 0;
        const struct group *next = &g->of[v];
        if (next->unfit || next->first != k || next->last < k)
            continue;
        struct holder *best = NULL;
        for (uint32_t j = 0; j < n; j++) {
            struct holder *h = &holders[j];
            if (h->busy >= k || g->f->vregs.at[h->reg] != g->f->vregs.at[v])
                continue;
            uint32_t alike = words_alike(b, h, next);
            if (alike > most && copies_others(g, block, h, next))
                most = alike, best = h;
        }
        if (best) {
            take(g, b, best, v);
            continue;
        }
        struct holder *fresh = &holders[n < MAX_HOLDERS ? n++ : k % MAX_HOLDERS];
        fresh->reg = v;
        fresh->busy = next->last;
        for (uint32_t w = 0; w < MAX_WORDS; w++)
            fresh->at[w] = next->at[w];
    }
}

static void rename_operand(const struct grouping *g, struct opd *o) {
    if (o->kind == O_REG && !is_rz(o))
        o->v = g->instead[o->v];
}

bool opt_groups(struct program *p, struct fn *f) {
    (void)p;
    struct arena arena = {0};
    uint32_t n = f->vregs.len;
    struct grouping g = {.f = f, .d = defs_of(&arena, f), .of = arena_array(&arena, struct group, n + 1)};
    g.instead = arena_array(&arena, uint32_t, n + 1);
    for (uint32_t v = 0; v < n; v++)
        g.instead[v] = v;
    for (uint32_t b = 0; b < f->blocks.len; b++)
        for (uint32_t k = 0; k < f->blocks.at[b].insts.len; k++) {
            note_reads(&g, &f->blocks.at[b].insts.at[k], b, k);
            note_write(&g, &f->blocks.at[b].insts.at[k], b, k);
        }
    for (uint32_t b = 0; b < f->blocks.len; b++)
        merge_groups(&g, b);
    for (uint32_t b = 0; g.changed && b < f->blocks.len; b++)
        for (uint32_t k = 0; k < f->blocks.at[b].insts.len; k++) {
            struct inst *i = &f->blocks.at[b].insts.at[k];
            rename_operand(&g, &i->dst);
            for (uint32_t s = 0; s < i->nsrc; s++)
                rename_operand(&g, &i->src[s]);
        }
    arena_free(&arena);
    if (g.changed)
        fn_compact(f);
    return g.changed;
}
