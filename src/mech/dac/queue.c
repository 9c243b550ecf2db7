/* What the warps take from their queues: addresses, data, predicates. The latches of the program get what
 * came out of the queues, so that the program goes on with it. */
#include "mech/dac/dac.h"

#include <string.h>

static const struct dac_mark *mark_at(const struct dac *d, const struct core_warp *cw) {
    return &d->main[cw->next];
}

/* Lanes for which the next instruction of a warp would act. */
static uint32_t active(const struct core_warp *cw, const struct xinst *i) {
    return cw->w->stack[cw->w->depth - 1].mask & (cw->w->p[i->guard] ^ (0u - (uint32_t)i->gneg));
}

/* Puts the predicate at the head of the queue where the warp will read it. */
static bool offer_predicate(struct dac *d, uint32_t warp, const struct dac_fact *f) {
    struct core_warp *cw = &d->sm->warps[warp];
    const struct dac_queues *q = &d->q[warp];
    uint32_t m = cw->w->stack[cw->w->depth - 1].mask;
    if (!q->pfilled)
        return false;
    if (q->pred[q->pfirst].number != f->pred_number)
        dac_broken(d, "a warp took the predicate of another instruction");
    cw->w->p[f->pred] = (cw->w->p[f->pred] & ~m) | (q->pred[q->pfirst].mask & m);
    return true;
}

/* The address at the head of the queue is there, and of loads the first line. */
static inline bool has_address(struct dac *d, uint32_t warp) {
    const struct dac_queues *q = &d->q[warp];
    if (q->count == q->issued)
        return false;
    const struct dac_access *a = dac_nth(d, q, q->issued);
    if (!a->expanded || (a->data && !(a->arrived & 1)))
        return false;
    return dac_rule(d->params, DAC_RULE_LINES) ||
           (a->expanded == a->n && (!a->data || __builtin_popcount(a->arrived) == a->n));
}

/* The same of an instruction that does not take an address alone. */
static APART bool can_take_other(struct dac *d, uint32_t warp, const struct dac_mark *m) {
    const struct core_warp *cw = &d->sm->warps[warp];
    if (m->roles & DAC_ASK && (d->sent | ~d->served) >> warp & 1)
        return false; /* the affine warp has yet to take its last one, or to begin for it */
    if (m->roles & DAC_DEQ_PRED && !offer_predicate(d, warp, m->fact))
        return false;
    return !(m->roles & DAC_DEQ) || !active(cw, cw->needs[cw->next].i) || has_address(d, warp);
}

/* What the next instruction of a warp takes is there. */
static inline bool can_take(struct dac *d, uint32_t warp) {
    const struct dac_mark *m = mark_at(d, &d->sm->warps[warp]);
    if (!m->roles)
        return true;
    return m->address ? has_address(d, warp) : can_take_other(d, warp, m);
}

/* Warps that were refused and have got nothing since. */
static inline uint64_t still_refused(const struct dac *d, uint64_t ready) {
    return ready & d->sm->parked & ~(d->changed | d->able | d->sm->streaming);
}

/* Asks for warps of which it is not known; returns those that are refused. */
static APART uint64_t refused_of(struct dac *d, uint64_t warps) {
    uint64_t refused = 0;
    for (uint64_t left = warps; left; left &= left - 1) {
        uint32_t w = (uint32_t)__builtin_ctzll(left);
        bool own = d->sm->streaming >> w & 1, waits = own ? dac_affine_waits(d) : !can_take(d, w);
        if (!waits && !own)
            dac_know(d, left & -left, true);
        if (!waits && (!own || dac_affine_ready(d)))
            continue;
        refused |= left & -left;
        d->n.wait_warps += !own;
        if (waits)
            core_park(d->sm, w, true);
    }
    return refused;
}

EVERY_TIME uint64_t dac_eligible(void *m, uint64_t ready, uint64_t now) {
    struct dac *d = m;
    (void)now;
    uint64_t refused = still_refused(d, ready), asked = ready & ~(d->able | refused);
    d->n.wait_warps += warps_of(refused);
    if (asked & d->sm->streaming && d->affine_unchanged) { /* it waits still */
        dac_count_affine(d, 1);
        refused |= asked & d->sm->streaming;
        asked &= ~refused;
    }
    if (asked)
        refused |= refused_of(d, asked);
    uint64_t able = ready & ~refused;
    if (__builtin_expect(able & d->sm->streaming && d->params->first, 0))
        return able & d->sm->streaming;
    return able;
}

uint64_t dac_refused(const void *m, uint64_t ready) {
    const struct dac *d = m;
    if (!d->on)
        return 0;
    uint64_t affine = d->affine_unchanged ? ready & d->sm->parked & d->sm->streaming : 0;
    return still_refused(d, ready) | affine;
}

void dac_unpark(struct dac *d, uint64_t warps) {
    for (uint64_t left = warps; left; left &= left - 1) {
        uint32_t w = (uint32_t)__builtin_ctzll(left);
        bool own = d->sm->streaming >> w & 1, gone = !(d->sm->resident >> w & 1);
        if (!gone && (own ? dac_affine_waits(d) : !can_take(d, w)))
            continue;
        core_park(d->sm, w, false);
        if (!gone && !own)
            dac_know(d, left & -left, true);
    }
}

void dac_send(struct dac *d, uint32_t warp, const struct xinst *i, const struct dac_mark *m) {
    const struct warp *w = d->sm->warps[warp].w;
    uint32_t here = w->stack[w->depth - 1].mask;
    d->asked[warp] = here;
    d->vector[warp] = (struct dac_taken){.mask = w->p[i->guard] & here, .number = m->fact->number};
    d->sent |= UINT64_C(1) << warp;
    d->affine_unchanged = false;
    d->n.stack_accesses++;
}

static void take_predicate(struct dac *d, uint32_t warp) {
    struct dac_queues *q = &d->q[warp];
    q->pfirst = (q->pfirst + 1) % DAC_RING;
    q->pcount--;
    q->pfilled--;
    d->affine_unchanged = false;
    d->n.pwpq_accesses++;
    d->n.deq_pred++;
}

/* The address of each lane goes where the instruction reads it. */
static void put_address(struct dac *d, uint32_t warp, const struct xinst *i, const struct dac_access *a) {
    uint32_t(*pool)[WARP_LANES] = d->sm->x->pool;
    uint32_t *low = pool[i->s[i->first[0]] & ~POOL];
    if (a->plain && !i->in->m.a64) {
        block_num_words(&a->num, &d->coords[warp], low);
        uint32_t safe = low[__builtin_ctz(a->mask)];
        for (uint32_t left = ~a->mask; left; left &= left - 1)
            low[__builtin_ctz(left)] = safe;
        return;
    }
    uint64_t own[WARP_LANES];
    const uint64_t *addr = a->plain ? own : a->at->addr;
    if (a->plain) {
        block_num_expand(&a->num, &d->coords[warp], own);
        dac_settle_lanes(own, a->mask);
    }
    for (uint32_t l = 0; l < WARP_LANES; l++)
        low[l] = (uint32_t)addr[l];
    uint32_t *high = i->in->m.a64 ? pool[i->s[i->first[0] + 1] & ~POOL] : NULL;
    for (uint32_t l = 0; high && l < WARP_LANES; l++)
        high[l] = (uint32_t)(addr[l] >> 32);
}

static EVERY_TIME void take_address(struct dac *d, uint32_t warp, const struct xinst *i,
                                    const struct dac_fact *f, uint32_t mask) {
    struct dac_queues *q = &d->q[warp];
    struct dac_access *a = dac_nth(d, q, q->issued++);
    if (a->number != f->number || a->mask != mask)
        dac_broken(d, "the streams of a warp disagree");
    put_address(d, warp, i, a);
    a->issued = true;
    q->used -= a->expanded;
    dac_changed(d, warp);
    if (a->data)
        return;
    a->taken = a->expanded;
    d->n.pwaq_accesses += a->expanded;
    dac_drop_taken(d, q);
}

/* The same of an instruction that takes nothing else. */
static APART void take_address_alone(struct dac *d, uint32_t warp, const struct xinst *i, uint32_t mask,
                                     const struct dac_mark *mark) {
    take_address(d, warp, i, mark->fact, mask);
}

/* What the instruction takes. Before it takes effect, so that the block's count of a barrier is known when it
 * opens, and the lanes that come to a branch are. */
static APART void dac_take(struct dac *d, uint32_t warp, const struct xinst *i, uint32_t mask,
                           const struct dac_mark *mark) {
    if (mark->roles & DAC_DEQ_PRED)
        take_predicate(d, warp);
    if (mark->roles & DAC_DEQ && mask)
        take_address(d, warp, i, mark->fact, mask);
    if (mark->roles & DAC_BAR && mask)
        d->at_bar[d->sm->warps[warp].block] = true;
    if (dac_asks(mark))
        dac_send(d, warp, i, mark);
}

EVERY_TIME void dac_sources(void *m, uint32_t warp, const struct xinst *i, uint32_t mask) {
    struct dac *d = m;
    const struct core_warp *cw = &d->sm->warps[warp];
    if (cw->x != d->split)
        return;
    const struct dac_mark *mark = mark_at(d, cw);
    if (mark->roles)
        (mark->address && mask ? take_address_alone : dac_take)(d, warp, i, mask, mark);
}

/* Word k of what a load puts into a lane's registers. */
static uint32_t dac_word_of(const struct imods *m, const struct dac_place *at, uint32_t l, uint32_t k) {
    uint32_t bits = m->size < 4 ? 8u * m->size : 32, first = k * bits;
    uint32_t v = at->word[first / 32][l] >> first % 32;
    if (bits < 32)
        v &= (1u << bits) - 1;
    if (m->sgn && m->size == 1)
        v = (uint32_t)(int32_t)(int8_t)v;
    if (m->sgn && m->size == 2)
        v = (uint32_t)(int32_t)(int16_t)v;
    return v;
}

/* The load goes on with the bytes that were read ahead: with whole words, and nobody compares. */
static void give_words(struct dac *d, const struct core_op *o, const struct dac_access *a) {
    struct warp *w = d->sm->warps[o->warp].w;
    for (uint32_t k = 0; k < o->i->ndw; k++)
        lane_blend(w->r[o->i->d + k], a->at->word[k], a->given & o->mask);
}

/* The same of parts of words, or where somebody does. */
static void give_parts(struct dac *d, const struct core_op *o, const struct dac_access *a) {
    struct warp *w = d->sm->warps[o->warp].w;
    const struct imods *m = &o->i->in->m;
    for (uint32_t k = 0; k < o->i->ndw; k++)
        for (uint32_t left = a->given & o->mask; left; left &= left - 1) {
            uint32_t l = (uint32_t)__builtin_ctz(left), v = dac_word_of(m, a->at, l, k);
            uint32_t *to = &w->r[o->i->d + k][l];
            if (*to != v && d->sm->check.on) {
                d->sm->n.check_wrong++;
                if (d->sm->check.out)
                    str_printf(d->sm->check.out,
                               "check: DAC fetched 0x%x ahead of %s:%u, where 0x%x is loaded\n", v,
                               d->sm->x->img->prog->name, o->i->in->line, *to);
            }
            *to = v;
        }
}

static void give_data(struct dac *d, int32_t op, const struct dac_access *a) {
    const struct core_op *o = &d->sm->ops[op];
    if (o->i->in->m.size >= 4 && !d->sm->check.on)
        give_words(d, o, a);
    else
        give_parts(d, o, a);
}

void dac_given(struct dac *d, int32_t op) {
    const struct core_op *o = &d->sm->ops[op];
    struct dac_queues *q = &d->q[o->warp];
    struct dac_access *a = dac_nth(d, q, q->issued - 1);
    a->op = op;
    a->given = a->have;
    d->access_of[op] = a;
    d->n.deq_data++;
    give_data(d, op, a);
}

void dac_given_again(void *m, int32_t op) {
    struct dac *d = m;
    const struct core_op *o = &d->sm->ops[op];
    if (d->on && d->main[o->pc].roles & DAC_DEQ && d->main[o->pc].data)
        give_data(d, op, d->access_of[op]);
}

/* The load whose data were fetched ahead takes its lines now. */
static APART void begin_drain(struct dac *d, int32_t op) {
    const struct core_op *o = &d->sm->ops[op];
    const struct dac_queues *q = &d->q[o->warp];
    for (uint32_t k = 0; k < q->issued; k++)
        dac_nth(d, q, k)->served |= dac_nth(d, q, k)->op == op;
    d->draining |= UINT64_C(1) << o->warp;
    d->lines_came |= UINT64_C(1) << o->warp;
}

EVERY_TIME enum mech_verdict dac_access(void *m, int32_t op, uint64_t now) {
    struct dac *d = m;
    const struct core_op *o = &d->sm->ops[op];
    (void)now;
    if (o->pc < 0 || d->sm->warps[o->warp].x != d->split || !d->main[o->pc].data || !o->mask)
        return MECH_PASS;
    begin_drain(d, op);
    return MECH_TAKEN;
}
