/* Live ranges from liveness: one backward walk over the code in layout order. */
#include "opt/ranges.h"

struct link {
    struct seg s;
    uint32_t next; /* index in links, NONE at the end */
};

struct builder {
    const struct live *live;
    VEC(struct link) links;
    uint32_t *head;  /* by value: first segment, NONE */
    uint32_t *end;   /* by value: end of the segment being built, 0 when none */
    uint32_t *first; /* by value: earliest write seen in this block, as position; 0 when none */
    VEC(uint32_t) open;
    float *weight;
};

/* Adds [from, to) before all earlier found segments of v. */
static void add(struct builder *b, uint32_t v, uint32_t from, uint32_t to) {
    uint32_t h = b->head[v];
    if (from >= to)
        return;
    if (h != NONE && b->links.at[h].s.from <= to) {
        if (from < b->links.at[h].s.from)
            b->links.at[h].s.from = from;
        return;
    }
    vec_push(&b->links, (struct link){{from, to}, h});
    b->head[v] = b->links.len - 1;
}

static void start(struct builder *b, uint32_t v, uint32_t to) {
    if (b->end[v])
        return;
    b->end[v] = to;
    vec_push(&b->open, v);
}

static void walk_inst(struct builder *b, const struct inst *i, uint32_t pos, float weight) {
    struct span span[MAX_SPANS];
    uint32_t n = inst_writes(&b->live->v, i, span);
    for (uint32_t j = 0; j < n; j++)
        for (uint32_t w = 0; w < span[j].n; w++) {
            uint32_t v = span[j].first + w;
            b->weight[v] += weight;
            b->first[v] = pos + 1;
            if (!b->end[v])
                add(b, v, pos + 1, pos + 2);
            else if (!is_guarded(i)) {
                add(b, v, pos + 1, b->end[v]);
                b->end[v] = 0;
            }
        }
    n = inst_reads(&b->live->v, i, span);
    for (uint32_t j = 0; j < n; j++)
        for (uint32_t w = 0; w < span[j].n; w++) {
            b->weight[span[j].first + w] += weight;
            start(b, span[j].first + w, pos + 1);
        }
}

static void walk_block(struct builder *b, const struct fn *f, uint32_t id, uint32_t first,
                       const bits *defined) {
    const struct live *l = b->live;
    const struct block *k = &f->blocks.at[id];
    const bits *out = l->out + (size_t)id * l->words;
    uint32_t stop = 2 * (first + k->insts.len);
    static const float by_depth[] = {1, 8, 64, 512, 4096};
    float weight = by_depth[k->depth < 4 ? k->depth : 4];
    b->open.len = 0;
    for (uint32_t w = 0; w < l->words; w++)
        for (bits rest = out[w]; rest; rest &= rest - 1)
            start(b, l->value[64 * w + (uint32_t)__builtin_ctzll(rest)], stop);
    for (uint32_t n = k->insts.len; n-- > 0;)
        walk_inst(b, &k->insts.at[n], 2 * (first + n), weight);
    for (uint32_t n = 0; n < b->open.len; n++) {
        uint32_t v = b->open.at[n];
        if (!b->end[v])
            continue;
        bool before = l->index[v] != NONE && bits_get(defined + (size_t)id * l->words, l->index[v]);
        if (before)
            add(b, v, 2 * first, b->end[v]);
        else if (b->first[v])
            add(b, v, b->first[v], b->end[v]);
        b->end[v] = 0;
    }
    /* Positions of first writes are facts of this block only. */
    struct span span[MAX_SPANS];
    for (uint32_t n = 0; n < k->insts.len; n++) {
        uint32_t count = inst_writes(&l->v, &k->insts.at[n], span);
        for (uint32_t j = 0; j < count; j++)
            for (uint32_t w = 0; w < span[j].n; w++)
                b->first[span[j].first + w] = 0;
    }
}

static void flatten(struct arena *a, struct builder *b, struct ranges *r) {
    for (uint32_t v = 0; v < r->v.n; v++) {
        uint32_t n = 0;
        for (uint32_t l = b->head[v]; l != NONE; l = b->links.at[l].next)
            n++;
        if (!n)
            continue;
        r->of[v] = (struct range){arena_array(a, struct seg, n), n};
        n = 0;
        for (uint32_t l = b->head[v]; l != NONE; l = b->links.at[l].next)
            r->of[v].at[n++] = b->links.at[l].s;
    }
}

struct ranges ranges_of(struct arena *a, const struct fn *f) {
    struct arena temp = {0};
    struct live live = live_of(&temp, f);
    bits *defined = live_defined(&temp, f, &live);
    struct ranges r = {.v = values_of(a, f)};
    r.of = arena_array(a, struct range, r.v.n + 1);
    r.weight = arena_array(a, float, r.v.n + 1);
    struct builder b = {.live = &live, .weight = r.weight};
    b.head = arena_array(&temp, uint32_t, r.v.n + 1);
    b.end = arena_array(&temp, uint32_t, r.v.n + 1);
    b.first = arena_array(&temp, uint32_t, r.v.n + 1);
    uint32_t total = 0;
    for (uint32_t v = 0; v < r.v.n; v++)
        b.head[v] = NONE;
    for (uint32_t k = 0; k < f->blocks.len; k++)
        total += f->blocks.at[k].insts.len;
    for (uint32_t k = f->blocks.len; k-- > 0;) {
        total -= f->blocks.at[k].insts.len;
        walk_block(&b, f, k, total, defined);
    }
    flatten(a, &b, &r);
    vec_free(&b.links);
    vec_free(&b.open);
    arena_free(&temp);
    return r;
}

bool range_overlaps(const struct range *x, const struct range *y) {
    uint32_t i = 0, j = 0;
    while (i < x->n && j < y->n) {
        if (x->at[i].to <= y->at[j].from)
            i++;
        else if (y->at[j].to <= x->at[i].from)
            j++;
        else
            return true;
    }
    return false;
}

struct range range_join(struct arena *a, const struct range *x, const struct range *y) {
    struct range r = {arena_array(a, struct seg, x->n + y->n + 1), 0};
    uint32_t i = 0, j = 0;
    while (i < x->n || j < y->n) {
        bool left = j == y->n || (i < x->n && x->at[i].from < y->at[j].from);
        struct seg s = left ? x->at[i++] : y->at[j++];
        if (r.n && r.at[r.n - 1].to >= s.from)
            r.at[r.n - 1].to = s.to > r.at[r.n - 1].to ? s.to : r.at[r.n - 1].to;
        else
            r.at[r.n++] = s;
    }
    return r;
}
