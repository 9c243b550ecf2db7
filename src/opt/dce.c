/* Dead code: instructions whose results nobody reads, words and predicates alike.
 *
 * First from the other end: whatever an effect needs, directly or not, is alive; the rest goes, also when it
 * only feeds itself around a loop. Then by liveness, which sees that a value is overwritten before it is
 * read. */
#include "opt/pass.h"

struct marker {
    struct fn *f;
    struct values v;
    uint32_t *first; /* by value: first link of its writers, NONE */
    VEC(struct {
        struct def_site at;
        uint32_t next;
    })
    writers;
    bool *needed; /* by value */
    VEC(uint32_t) work;
};

static bool has_effect(const struct fn *f, const struct inst *i) {
    bool frame = f->fp != VREG_RZ && i->dst.kind == O_REG && i->dst.v == f->fp;
    return !inst_is_pure(i) || frame;
}

static void need(struct marker *m, const struct inst *i) {
    struct span span[MAX_SPANS];
    uint32_t n = inst_reads(&m->v, i, span);
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t w = 0; w < span[k].n; w++)
            if (!m->needed[span[k].first + w]) {
                m->needed[span[k].first + w] = true;
                vec_push(&m->work, span[k].first + w);
            }
}

static void index_writers(struct marker *m) {
    struct span span[MAX_SPANS];
    for (uint32_t v = 0; v < m->v.n; v++)
        m->first[v] = NONE;
    for (uint32_t b = 0; b < m->f->blocks.len; b++)
        for (uint32_t k = 0; k < m->f->blocks.at[b].insts.len; k++) {
            const struct inst *i = &m->f->blocks.at[b].insts.at[k];
            uint32_t n = inst_writes(&m->v, i, span);
            for (uint32_t j = 0; j < n; j++)
                for (uint32_t w = 0; w < span[j].n; w++) {
                    uint32_t v = span[j].first + w;
                    vec_reserve(&m->writers, m->writers.len + 1);
                    m->writers.at[m->writers.len].at = (struct def_site){b, k};
                    m->writers.at[m->writers.len].next = m->first[v];
                    m->first[v] = m->writers.len++;
                }
            if (has_effect(m->f, i))
                need(m, i);
        }
}

static bool word_needed(const struct values *v, const struct inst *i, const bool *needed) {
    for (uint32_t w = 0; !is_rz(&i->dst) && w < inst_dst_words(i); w++)
        if (needed[value_of_opd(v, &i->dst) + w])
            return true;
    return false;
}

static bool upper_half_needed(const struct values *v, const struct inst *i, const bool *needed) {
    uint32_t words = inst_dst_words(i);
    for (uint32_t w = words / 2; !is_rz(&i->dst) && w < words; w++)
        if (needed[value_of_opd(v, &i->dst) + w])
            return true;
    return false;
}

/* Drops what is written but not needed; true when that was anything. */
static bool drop_results(const struct values *v, struct inst *i, const bool *needed) {
    bool changed = false;
    for (uint32_t k = 0; k < 2; k++)
        if (i->pdst[k].id != VPRED_PT && !needed[value_of_pred(v, i->pdst[k].id)]) {
            i->pdst[k].id = VPRED_PT;
            changed = true;
        }
    if (i->op == OP_ATOM && i->m.aop < ATOM_EXCH && i->dst.kind == O_REG && !word_needed(v, i, needed)) {
        i->op = OP_RED; /* nobody looks at the old value */
        i->dst = (struct opd){0};
        changed = true;
    }
    while (i->op == OP_TEX && i->m.vec > 1 && !upper_half_needed(v, i, needed)) {
        i->m.vec /= 2;
        changed = true;
    }
    return changed;
}

static bool any_needed(const struct values *v, const struct inst *i, const bool *needed) {
    struct span span[MAX_SPANS];
    uint32_t n = inst_writes(v, i, span);
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t w = 0; w < span[k].n; w++)
            if (needed[span[k].first + w])
                return true;
    return false;
}

static bool sweep_unneeded(struct fn *f) {
    struct arena a = {0};
    struct marker m = {.f = f, .v = values_of(&a, f)};
    bool changed = false;
    m.first = arena_array(&a, uint32_t, m.v.n + 1);
    m.needed = arena_array(&a, bool, m.v.n + 1);
    index_writers(&m);
    while (m.work.len)
        for (uint32_t l = m.first[m.work.at[--m.work.len]]; l != NONE; l = m.writers.at[l].next)
            need(&m, &f->blocks.at[m.writers.at[l].at.block].insts.at[m.writers.at[l].at.index]);
    for (uint32_t b = 0; b < f->blocks.len; b++)
        for (uint32_t k = 0; k < f->blocks.at[b].insts.len; k++) {
            struct inst *i = &f->blocks.at[b].insts.at[k];
            changed |= drop_results(&m.v, i, m.needed);
            if (!has_effect(f, i) && !any_needed(&m.v, i, m.needed)) {
                i->op = OP_NOP;
                changed = true;
            }
        }
    vec_free(&m.writers);
    vec_free(&m.work);
    arena_free(&a);
    fn_compact(f);
    return changed;
}

/* One block backwards; alive holds the values alive behind the instruction at hand. */
static bool sweep_block(struct fn *f, const struct live *l, uint32_t b, bool *alive) {
    struct block *k = &f->blocks.at[b];
    struct span span[MAX_SPANS];
    bool changed = false;
    for (uint32_t n = k->insts.len; n-- > 0;) {
        struct inst *i = &k->insts.at[n];
        changed |= drop_results(&l->v, i, alive);
        if (!has_effect(f, i) && !any_needed(&l->v, i, alive)) {
            i->op = OP_NOP;
            changed = true;
            continue;
        }
        uint32_t count = is_guarded(i) ? 0 : inst_writes(&l->v, i, span);
        for (uint32_t j = 0; j < count; j++)
            for (uint32_t w = 0; w < span[j].n; w++)
                alive[span[j].first + w] = false;
        count = inst_reads(&l->v, i, span);
        for (uint32_t j = 0; j < count; j++)
            for (uint32_t w = 0; w < span[j].n; w++)
                alive[span[j].first + w] = true;
    }
    return changed;
}

static void load_set(const struct live *l, const bits *set, bool *alive, bool value) {
    for (uint32_t w = 0; w < l->words; w++)
        for (bits rest = set[w]; rest; rest &= rest - 1)
            alive[l->value[64 * w + (uint32_t)__builtin_ctzll(rest)]] = value;
}

static bool sweep_dead(struct fn *f) {
    struct arena a = {0};
    struct live l = live_of(&a, f);
    bool *alive = arena_array(&a, bool, l.v.n + 1), changed = false;
    for (uint32_t b = 0; b < f->blocks.len; b++) {
        load_set(&l, l.out + (size_t)b * l.words, alive, true);
        changed |= sweep_block(f, &l, b, alive);
        /* What is still marked is alive at the start of the block, or was read before any write in it. */
        load_set(&l, l.out + (size_t)b * l.words, alive, false);
        load_set(&l, l.in + (size_t)b * l.words, alive, false);
    }
    arena_free(&a);
    fn_compact(f);
    return changed;
}

static void reach_word(const struct opd *o, uint32_t words, uint8_t *used) {
    if (o->kind == O_REG && o->v != VREG_RZ && o->word + words > used[o->v])
        used[o->v] = (uint8_t)(o->word + words);
}

/* Groups lose the half that nothing names any more, and with it their alignment. */
static bool shrink_groups(struct fn *f) {
    struct arena a = {0};
    uint8_t *used = arena_array(&a, uint8_t, f->vregs.len + 1);
    bool changed = false;
    for (uint32_t b = 0; b < f->blocks.len; b++)
        for (uint32_t k = 0; k < f->blocks.at[b].insts.len; k++) {
            const struct inst *i = &f->blocks.at[b].insts.at[k];
            reach_word(&i->dst, inst_dst_words(i), used);
            for (uint32_t s = 0; s < i->nsrc; s++)
                reach_word(&i->src[s], inst_src_words(i, s), used);
        }
    for (uint32_t v = 0; v < f->vregs.len; v++)
        while (f->vregs.at[v] > 1 && used[v] && used[v] <= f->vregs.at[v] / 2) {
            f->vregs.at[v] /= 2;
            changed = true;
        }
    arena_free(&a);
    return changed;
}

bool opt_dce(struct program *p, struct fn *f) {
    (void)p;
    bool changed = sweep_unneeded(f);
    changed |= sweep_dead(f);
    return shrink_groups(f) || changed;
}
