/* One instruction of a survey: sources are looked at before it takes effect, results behind. What a register
 * holds is looked at once, when it is written. */
#include <string.h>

#include "mech/cmrc/width.h"
#include "mech/dac/split.h"
#include "profile/survey_launch.h"

#define ALL UINT32_MAX

/* ---- values ------------------------------------------------------------------------------------------ */

struct survey_value survey_value(const uint32_t v[WARP_LANES], uint32_t lanes) {
    static const struct code_spec planes = {.code = CODE_PLANES, .halves = true};
    struct code_reg r = code_full(&planes, v);
    return (struct survey_value){.sum = value_sum(v, ALL),
                                 .form = (uint8_t)(r.full_scalar ? VALUE_UNIFORM : value_form(v)),
                                 .shared = r.whole,
                                 .halves =
                                     (uint8_t)((r.shared[0] == CODE_WORD) | (r.shared[1] == CODE_WORD) << 1),
                                 .width = cmrc_form(SIGN_UNIFORM, v, lanes).width,
                                 .lanes = lanes,
                                 .known = true};
}

static struct survey_value *place_of(const struct survey_block *b, const struct warp *w, uint32_t reg) {
    return &b->values[(size_t)w->index * b->regs + reg];
}

/* Lanes whose values matter: those that have not exited. */
static uint32_t lanes_of_warp(const struct warp *w) {
    return w->live ? w->live : ALL;
}

static struct survey_value *value_of(const struct survey_block *b, const struct warp *w, uint32_t reg) {
    struct survey_value *v = place_of(b, w, reg);
    if (!v->known)
        *v = survey_value(w->r[reg], lanes_of_warp(w));
    return v;
}

/* The count that stands k places behind one of several in a row. */
static uint64_t *count_at(struct survey_counts *c, size_t first, uint32_t k) {
    return (uint64_t *)(void *)((char *)c + first) + k;
}

/* Counts a register that is read or written for lanes m. */
static void count_access(struct survey_counts *c, const struct warp *w, uint32_t reg, struct survey_value *v,
                         uint32_t m) {
    static const size_t shared[] = {
        offsetof(struct survey_counts, access_none), offsetof(struct survey_counts, access_1byte),
        offsetof(struct survey_counts, access_2byte), offsetof(struct survey_counts, access_3byte),
        offsetof(struct survey_counts, access_scalar)};
    size_t at = m == ALL ? shared[v->shared] : offsetof(struct survey_counts, access_divergent);
    ++*count_at(c, at, 0);
    if (v->lanes != lanes_of_warp(w)) {
        v->lanes = lanes_of_warp(w);
        v->width = cmrc_form(SIGN_UNIFORM, w->r[reg], v->lanes).width;
    }
    ++*count_at(c, offsetof(struct survey_counts, width_1), v->width - 1u);
}

/* ---- before an instruction --------------------------------------------------------------------------- */

/* Whether predicates that are sources are the same in all these lanes. */
static bool preds_equal(const struct warp *w, const struct xinst *i, uint32_t m) {
    uint32_t a = w->p[i->ps[0]] & m, b = w->p[i->ps[1]] & m;
    return (!a || a == m) && (!b || b == m);
}

/* Whether one lane could do it for the others, and for which. */
static void look_for_one(struct survey_launch *s, struct survey_counts *c, const struct survey_mark *k,
                         const struct survey_block *b, struct warp *w, const struct xinst *i, uint32_t m) {
    if (!k->one)
        return;
    if (m != ALL) {
        bool equal = gscalar_equal(w, i, &k->need, m);
        c->divergent_scalar += equal;
        c->by_gscalar += equal;
        s->next.one = equal;
        return;
    }
    bool scalar = preds_equal(w, i, m);
    uint32_t halves = scalar ? 3 : 0;
    for (uint32_t n = 0; n < k->need.nreads; n++) {
        const struct survey_value *v = value_of(b, w, k->need.reads[n]);
        scalar &= v->form == VALUE_UNIFORM;
        halves &= v->halves;
    }
    c->scalar += scalar;
    c->half += !scalar && halves;
    c->by_gscalar += scalar || halves;
    s->next.one = scalar;
}

/* Adds a predicate to the sources. */
static void add_pred(struct group_instance *g, uint32_t p) {
    g->sources = value_mix(g->sources, p);
    if (p && p != ALL)
        g->form = VALUE_UNSTRUCTURED;
}

static void add_value(struct group_instance *g, const struct survey_value *v) {
    g->sources = value_mix_sum(g->sources, v->sum);
    g->form = v->form > g->form ? v->form : g->form;
}

/* The windows of a warp's SM. */
static struct spans *spans_of(const struct survey *s, const struct warp *w) {
    return &s->spans[w->cta->sm < s->sms ? w->cta->sm : 0];
}

/* The sum of these lanes of a vector, kept for the next time: most often it is asked of the same lanes. */
static struct value_sum sum_of(struct survey_value *v, const uint32_t *words, uint32_t m) {
    if (m == ALL)
        return v->sum;
    if (v->some_lanes != m) {
        v->some_lanes = m;
        v->some = value_sum(words, m);
    }
    return v->some;
}

/* All sources: for the group of the instance, and for its computation. */
static void look_at_sources(struct survey_launch *s, const struct exec *x, const struct survey_mark *k,
                            const struct survey_block *b, struct warp *w, const struct xinst *i, uint32_t m) {
    struct group_instance *g = &s->next.instance;
    bool keyed = !k->compute.excluded && m;
    uint64_t key = keyed ? compute_begin(&k->compute, m) : 0;
    g->sources = 1;
    for (uint32_t n = 0; n < i->nsw; n++) {
        struct survey_value *v = i->s[n] & POOL ? &s->pool[i->s[n] & ~POOL] : value_of(b, w, i->s[n]);
        add_value(g, v);
        if (keyed)
            key = value_mix_sum(key, sum_of(v, src_lanes(x, w, i->s[n]), m));
    }
    for (uint32_t n = 0; n < 2; n++)
        if (i->ps[n] != PRED_PT)
            add_pred(g, w->p[i->ps[n]]);
    if (i->guard != PRED_PT)
        add_pred(g, w->p[i->guard]);
    s->next.key = keyed ? compute_preds(key, w, i, m) : 0;
    if (keyed && !k->compute.result)
        spans_expect(spans_of(s->survey, w), s->next.key);
}

static void count_affine(struct survey_counts *c, uint32_t affine) {
    c->affine_operands += (affine & DAC_AFFINE_OPERANDS) != 0;
    c->by_dac += (affine & DAC_AFFINE_OPERANDS) != 0;
    c->addresses += (affine & DAC_ADDRESS) != 0;
    c->affine_addresses += (affine & DAC_AFFINE_ADDRESS) != 0;
    c->predicates += (affine & DAC_PREDICATE) != 0;
    c->affine_predicates += (affine & DAC_AFFINE_PREDICATE) != 0;
}

static void look_at_store(struct survey_launch *s, struct survey_counts *c, struct exec *x, struct warp *w,
                          const struct xinst *i, uint32_t m) {
    uint32_t silent = exec_silent(x, w, i, m);
    c->stores++;
    s->next.silent = silent == m;
    c->silent += silent == m;
    c->silent_threads += (uint32_t)__builtin_popcount(silent);
}

void survey_step(struct observer *o, struct exec *x, struct warp *w, const struct xinst *i, uint32_t path,
                 uint32_t m) {
    struct survey_launch *s = (struct survey_launch *)o;
    survey_settle(o);
    struct survey_block *b = w->cta->observed;
    uint32_t pc = (uint32_t)(i - x->img->code);
    const struct survey_mark *k = &s->marks[pc];
    struct survey_counts *c = &s->code->counts[pc];
    c->insts++;
    c->threads += (uint32_t)__builtin_popcount(m);
    c->divergent += m != ALL;
    s->next = (struct survey_next){.w = w, .i = i, .block = b, .pc = pc, .m = m};
    s->next.number = b->times[(size_t)w->index * b->ncode + pc]++;
    if (m)
        count_affine(c, k->affine);
    if (!k->computes)
        return;
    s->next.instance.whole = path == ALL;
    look_at_sources(s, x, k, b, w, i, m);
    if (!m)
        return;
    look_for_one(s, c, k, b, w, i, m);
    for (uint32_t n = 0; n < k->need.nreads; n++)
        count_access(c, w, k->need.reads[n], place_of(b, w, k->need.reads[n]), m);
    if (i->kind == X_STORE)
        look_at_store(s, c, x, w, i, m);
}

/* ---- behind it --------------------------------------------------------------------------------------- */

/* What the instruction has written is looked at. */
static void look_at_results(const struct survey_next *n, struct survey_counts *c) {
    for (uint32_t k = 0; k < n->i->ndw && n->m; k++) {
        uint32_t reg = n->i->d + k;
        struct survey_value *v = place_of(n->block, n->w, reg);
        *v = survey_value(n->w->r[reg], lanes_of_warp(n->w));
        count_access(c, n->w, reg, v, n->m);
    }
}

/* One more instance of its groups; whether it follows another in its block. */
static bool join_groups(struct survey_launch *s, struct survey_counts *c, const struct survey_mark *k) {
    const struct survey_next *n = &s->next;
    const struct group_instance *g = &n->instance;
    if (g->whole)
        ++*count_at(c, offsetof(struct survey_counts, warp_uniform), g->form);
    if (!group_list_add(&s->grid[n->pc], n->number, g, &s->room))
        s->code->untracked++;
    uint32_t warps = n->block->warps;
    struct group_seen seen = group_ring_add(&n->block->rings[n->pc], n->number, g, warps);
    if (seen.complete) {
        *count_at(c, offsetof(struct survey_counts, block_uniform), seen.form) += warps;
        c->by_darsie += k->darsie ? warps - 1 : 0;
        c->by_uv += k->uv && seen.form == VALUE_UNIFORM ? warps - 1 : 0;
    }
    c->follows += seen.follows;
    return seen.follows;
}

/* Whether the same load of the same addresses returned the same before. Loads are told apart by their
 * operation and addresses; of memory that only a block or warp has, by that, too. */
static bool load_again(struct survey_launch *s, const struct survey_mark *k, uint64_t result) {
    const struct survey_next *n = &s->next;
    uint64_t key = value_mix(n->key, s->id);
    if (k->by_block)
        key = value_mix(key, n->w->cta->number + UINT64_C(1));
    if (k->by_warp)
        key = value_mix(key, n->w->index + UINT64_C(1));
    struct survey_load *at = &s->survey->loads[key % SURVEY_LOADS];
    bool again = at->key == key && at->result == result;
    *at = (struct survey_load){key, result};
    return again;
}

/* Steps the windows of the SM; whether the computation is in the longer one. */
static bool look_back(struct survey_launch *s, struct survey_counts *c, const struct survey_mark *k) {
    const struct survey_next *n = &s->next;
    struct spans *spans = spans_of(s->survey, n->w);
    if (k->compute.excluded || !n->m || (k->compute.waits && compute_waiting(n->w, n->m))) {
        spans_pass(spans);
        return false;
    }
    uint64_t key = compute_result(n->key, &k->compute, n->w, n->i, n->m);
    struct spans_seen seen = spans_step(spans, key);
    c->repeat_1k += seen.in_short;
    c->repeat_10k += seen.in_long;
    c->by_wir += seen.in_short && n->m == ALL;
    bool again = k->load && load_again(s, k, key);
    c->loads += k->load;
    c->loads_again += again;
    return seen.in_long || again;
}

void survey_settle(struct observer *o) {
    struct survey_launch *s = (struct survey_launch *)o;
    struct survey_next *n = &s->next;
    if (!n->w)
        return;
    const struct survey_mark *k = &s->marks[n->pc];
    struct survey_counts *c = &s->code->counts[n->pc];
    look_at_results(n, c);
    bool old = look_back(s, c, k) || n->silent;
    if (k->computes) {
        if (n->i->kind == X_S2R && n->i->ndw)
            add_value(&n->instance, value_of(n->block, n->w, n->i->d));
        old |= join_groups(s, c, k);
    }
    c->old += old;
    c->one_lane += !old && n->one;
    n->w = NULL;
}
