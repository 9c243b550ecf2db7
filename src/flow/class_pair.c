#include "flow/class_pair.h"

static uint64_t key_of(uint32_t lo, uint32_t hi) {
    return (uint64_t)hi << 32 | lo;
}

static bool is_version(uint32_t half) {
    return half < HALF_ZERO;
}

static uint32_t origin(const struct reach *r, uint32_t half);

/* What a source is: word w of it, as half of a number. */
static uint32_t half_of(const struct reach *r, uint32_t block, uint32_t index, uint32_t s, uint32_t w) {
    const struct inst *i = &r->f->blocks.at[block].insts.at[index];
    const struct opd *o = &i->src[s];
    if (o->kind == O_REG && o->v != VREG_RZ)
        return origin(r, reach_read(r, block, index, value_of_opd(&r->v, o) + w));
    bool zero = o->kind == O_REG || (o->kind == O_IMM && (!o->v || (!w && inst_src_words(i, s) == 2)));
    return zero && !is_frame_value(i) ? HALF_ZERO : HALF_CONST;
}

/* The half behind copies. */
static uint32_t origin(const struct reach *r, uint32_t half) {
    const struct inst *i = is_version(half) ? reach_inst(r, half) : NULL;
    bool copy = i && i->op == OP_MOV && !is_guarded(i);
    return copy ? half_of(r, r->at[half].block, r->at[half].index, 0, 0) : half;
}

static uint32_t add_pair(struct pair_set *p, uint32_t lo, uint32_t hi) {
    if (!is_version(lo) && !is_version(hi))
        return NONE;
    uintptr_t known = (uintptr_t)map_get_u64(&p->by_halves, key_of(lo, hi));
    if (!known) {
        vec_push(&p->at, (struct class_pair){
                             .lo = lo, .hi = hi, .part = {NONE, NONE}, .word = {NONE, NONE}, .parts = NONE});
        known = p->at.len;
        map_set_u64(&p->by_halves, key_of(lo, hi), (void *)known);
    }
    return (uint32_t)known - 1;
}

/* An index: these are not negative and fit into 31 bits. */
static bool cannot_wrap(const struct reach *r, uint32_t half) {
    const struct inst *i = is_version(half) ? reach_inst(r, half) : NULL;
    return i && i->op == OP_S2R && i->m.mode <= SR_CTAID_Z && !is_guarded(i);
}

/* ---- how a pair was made ---- */

struct maker {
    struct pair_set *set;
    const struct reach *r;
    struct class_pair p;        /* that is looked at */
    const struct inst *lo, *hi; /* that wrote its words, unguarded; NULL */
    const struct version *vlo, *vhi;
};

static uint32_t hi_half(const struct maker *m, uint32_t s, uint32_t w) {
    return half_of(m->r, m->vhi->block, m->vhi->index, s, w);
}

static uint32_t lo_half(const struct maker *m, uint32_t s, uint32_t w) {
    return half_of(m->r, m->vlo->block, m->vlo->index, s, w);
}

/* The version that holds the carry out of the instruction that wrote the lower word is what the upper word
 * adds. */
static bool is_sum(struct maker *m) {
    if (!m->lo || !m->hi || m->lo->op != m->hi->op || (m->hi->op != OP_IADDC && m->hi->op != OP_ISUBC))
        return false;
    if (m->hi->psrc[0].id == VPRED_PT || m->hi->psrc[0].neg || m->lo->pdst[0].id == VPRED_PT ||
        m->lo->psrc[0].id != VPRED_PT)
        return false;
    uint32_t in = reach_read(m->r, m->vhi->block, m->vhi->index, value_of_pred(&m->r->v, m->hi->psrc[0].id));
    uint32_t out =
        reach_written(m->r, m->vlo->block, m->vlo->index, value_of_pred(&m->r->v, m->lo->pdst[0].id));
    if (in != out)
        return false;
    m->p.kind = PAIR_SUM;
    for (uint32_t s = 0; s < 2; s++)
        m->p.part[s] = add_pair(m->set, lo_half(m, s, 0), hi_half(m, s, 0));
    return true;
}

/* The first and second word of the destination of one wide product. */
static bool is_wide_product(const struct maker *m, const struct version *lo, const struct version *hi) {
    const struct inst *i = &m->r->f->blocks.at[lo->block].insts.at[lo->index];
    return lo->block == hi->block && lo->index == hi->index && hi->value == lo->value + 1 &&
           (i->op == OP_IMULW || i->op == OP_IMADW) && value_of_opd(&m->r->v, &i->dst) == lo->value;
}

static bool is_wide(struct maker *m) {
    if (!m->lo || !m->hi || !is_wide_product(m, m->vlo, m->vhi))
        return false;
    m->p.kind = PAIR_WIDE;
    m->p.word[0] = hi_half(m, 0, 0);
    m->p.word[1] = hi_half(m, 1, 0);
    for (uint32_t s = 0; s < 2; s++)
        m->p.exact[s] = cannot_wrap(m->r, m->p.word[s]);
    if (m->hi->op == OP_IMADW)
        m->p.part[0] = add_pair(m->set, hi_half(m, 2, 0), hi_half(m, 2, 1));
    return true;
}

/* Both sources are the same: one version, or the same constant. */
static bool same_source(const struct maker *m, uint32_t slo, uint32_t shi) {
    uint32_t a = lo_half(m, slo, 0), b = hi_half(m, shi, 0);
    return is_version(a) ? a == b : !is_version(b) && opd_eq(&m->lo->src[slo], &m->hi->src[shi]);
}

static bool is_shift(struct maker *m) {
    if (!m->lo || !m->hi || m->lo->op != OP_SHL || m->hi->op != OP_SHLHI || !same_source(m, 0, 0) ||
        !same_source(m, 1, 1))
        return false;
    m->p.kind = PAIR_SHIFT;
    m->p.part[0] = add_pair(m->set, hi_half(m, 0, 0), hi_half(m, 2, 0));
    m->p.word[1] = hi_half(m, 1, 0);
    return true;
}

/* (lower a) * b, unsigned, wide, to whose upper word (upper a) * b was added. */
static bool is_product(struct maker *m) {
    if (!m->lo || !m->hi || m->hi->op != OP_IMAD || m->lo->op != OP_IMULW || m->lo->m.sgn)
        return false;
    uint32_t top = hi_half(m, 2, 0);
    if (!is_version(top) || !is_wide_product(m, m->vlo, &m->r->at[top]))
        return false;
    for (uint32_t k = 0; k < 4; k++) {
        uint32_t slo = k & 1, shi = k >> 1; /* places of b */
        if (!same_source(m, slo, shi))
            continue;
        m->p.kind = PAIR_PRODUCT;
        m->p.part[0] = add_pair(m->set, lo_half(m, !slo, 0), hi_half(m, !shi, 0));
        m->p.word[1] = hi_half(m, shi, 0);
        return true;
    }
    return false;
}

static bool is_widened(struct maker *m) {
    bool sign = m->hi && m->hi->op == OP_SHR && m->hi->m.sgn && m->hi->src[1].kind == O_IMM &&
                m->hi->src[1].v == 31 && hi_half(m, 0, 0) == m->p.lo;
    if (!is_version(m->p.lo) || !(sign || m->p.hi == HALF_ZERO))
        return false;
    m->p.kind = sign ? PAIR_SIGN : PAIR_ZERO;
    m->p.exact[0] = cannot_wrap(m->r, m->p.lo);
    m->p.word[0] = m->p.lo;
    return true;
}

static bool is_merge(struct maker *m) {
    if (!m->vlo || !m->vhi || m->vlo->kind != VERSION_MERGE || m->vhi->kind != VERSION_MERGE ||
        m->vlo->block != m->vhi->block)
        return false;
    m->p.kind = PAIR_MERGE;
    m->p.parts = m->set->inputs.len;
    uint32_t n = m->r->f->blocks.at[m->vhi->block].pred.len;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t lo = m->r->inputs[m->vlo->input + k], hi = m->r->inputs[m->vhi->input + k];
        uint32_t pair =
            lo == NONE || hi == NONE ? NONE : add_pair(m->set, origin(m->r, lo), origin(m->r, hi));
        vec_push(&m->set->inputs, pair);
    }
    return true;
}

static void find_maker(struct pair_set *set, const struct reach *r, uint32_t n) {
    struct maker m = {.set = set, .r = r, .p = set->at.at[n]};
    m.vlo = is_version(m.p.lo) ? &r->at[m.p.lo] : NULL;
    m.vhi = is_version(m.p.hi) ? &r->at[m.p.hi] : NULL;
    m.lo = m.vlo && m.vlo->before == NONE ? reach_inst(r, m.p.lo) : NULL;
    m.hi = m.vhi && m.vhi->before == NONE ? reach_inst(r, m.p.hi) : NULL;
    const struct version *at = m.vhi ? m.vhi : m.vlo;
    m.p.block = at->block;
    m.p.index = at->index;
    (void)(is_sum(&m) || is_wide(&m) || is_shift(&m) || is_product(&m) || is_widened(&m) || is_merge(&m));
    set->at.at[n] = m.p;
}

/* The pairs that an instruction reads. */
static void find_reads(struct pair_set *p, const struct reach *r, uint32_t block, uint32_t index,
                       uint32_t *pair_at) {
    const struct inst *i = &r->f->blocks.at[block].insts.at[index];
    uint32_t at = r->read_at[r->first[block] + index];
    for (uint32_t s = 0; s < i->nsrc && at != NONE; s++) {
        if (i->src[s].kind != O_REG || i->src[s].v == VREG_RZ)
            continue;
        uint32_t words = inst_src_words(i, s);
        if (words == 2)
            pair_at[at] = add_pair(p, origin(r, r->reads[at]), origin(r, r->reads[at + 1])) + 1;
        at += words;
    }
}

void pairs_find(struct pair_set *p, const struct reach *r, uint32_t *pair_at) {
    for (uint32_t b = 0; b < r->f->blocks.len; b++)
        for (uint32_t k = 0; k < r->f->blocks.at[b].insts.len; k++)
            find_reads(p, r, b, k, pair_at);
    for (uint32_t n = 0; n < p->at.len; n++) /* grows while it is walked */
        find_maker(p, r, n);
}

void pairs_free(struct pair_set *p) {
    vec_free(&p->at);
    vec_free(&p->inputs);
    map_free(&p->by_halves);
}
