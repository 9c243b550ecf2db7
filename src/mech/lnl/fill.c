/* Lanes that an approximated warp leaves to their anchors, and what they store (sections 3.2.3 and 3.3.3).
 *
 * Which lanes are approximated is known of each path, since paths of one warp may be in different regions, or
 * one of them in none. Between the anchors of two neighbouring groups results are interpolated, by the
 * filters of the texture unit; behind the last anchor they are its own. Where the loads of two neighbouring
 * anchors were not alike, the second one does not count for the lanes of the first. */
#include "mech/lnl/lnl.h"
#include "mech/lnl/unit.h"

enum { FILTER_LANES = 4 };

uint32_t lnl_off(struct lnl *m, uint32_t warp, const struct lnl_fact *f, uint32_t mask) {
    struct lnl_warp *w = &m->warps[warp];
    uint32_t off = 0;
    while (w->npaths && !w->paths[w->npaths - 1].lanes)
        w->npaths--;
    for (uint32_t k = 0; k < w->npaths; k++) {
        struct lnl_path *p = &w->paths[k];
        uint32_t here = p->lanes & mask;
        if (p->region != f->region) {
            p->lanes &= lnl_rule(m, LNL_PATHS) ? ~mask : 0;
            continue;
        }
        if (!here)
            continue;
        if (!lnl_rule(m, LNL_ANCHORS))
            p->anchors = lnl_anchors(here, (uint32_t)m->params->group);
        off |= here & ~p->anchors;
    }
    return off;
}

bool lnl_inside(struct lnl *m, uint32_t warp) {
    struct lnl_warp *own = &m->warps[warp];
    const struct warp *w = m->sm->warps[warp].w;
    bool any = false;
    for (uint32_t k = 0; k < own->npaths; k++) {
        struct lnl_path *p = &own->paths[k];
        uint32_t left = p->lanes, stay = 0;
        for (uint32_t d = w->depth; d-- && left; left &= ~w->stack[d].mask)
            if (m->marks->at[w->stack[d].pc].region == p->region) /* of the topmost that has the lane */
                stay |= left & w->stack[d].mask;
        p->lanes = stay;
        any |= stay;
    }
    return any;
}

void lnl_lead(struct lnl *m, uint32_t warp, const struct xinst *i, const struct lnl_fact *f) {
    struct warp *w = m->sm->warps[warp].w;
    uint32_t *p = &w->p[i->guard];
    for (uint32_t k = 0; k < m->warps[warp].npaths; k++) {
        const struct lnl_path *x = &m->warps[warp].paths[k];
        uint32_t left = x->region == f->region ? x->lanes & w->stack[w->depth - 1].mask & ~x->anchors : 0;
        for (; left; left &= left - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(left), below = x->anchors & ((1u << lane) - 1);
            uint32_t anchor = 31 - (uint32_t)__builtin_clz(below | 1);
            *p = (*p & ~(1u << lane)) | (*p >> anchor & 1) << lane;
        }
    }
}

/* The lane's value, given the anchor at or before it and the next one. */
static uint32_t value_of(const struct lnl *m, const struct lnl_fact *f, const uint32_t *v, uint32_t lane,
                         uint32_t before, uint32_t next) {
    uint32_t x = lane - before, n = next - before;
    if (f->pixels)
        return unit_between_bytes(v[before], v[next], x, n);
    return lnl_rule(m, LNL_EXACT) ? unit_between(v[before], v[next], x, n)
                                  : unit_weighted(v[before], v[next], x, n);
}

/* Fills in one register for lanes of a path. */
static void fill_register(struct lnl *m, const struct lnl_path *p, const struct lnl_fact *f, uint32_t *v,
                          uint32_t lanes) {
    for (uint32_t left = lanes; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left), below = p->anchors & ((2u << lane) - 1);
        if (!below) /* no anchor before it: only where a rule is left out */
            continue;
        uint32_t before = 31 - (uint32_t)__builtin_clz(below);
        uint32_t above = lane < 31 ? p->anchors & (UINT32_MAX << (lane + 1)) : 0;
        uint32_t next = above ? (uint32_t)__builtin_ctz(above) : before;
        bool edge = above && p->edges >> next & 1;
        if (m->params->fill == LNL_REPLICATE || edge || (!above && !m->params->extrapolate)) {
            v[lane] = v[before];
        } else if (above) {
            v[lane] = value_of(m, f, v, lane, before, next);
        } else { /* on as it went between the last two */
            uint32_t other = below & ~(1u << before);
            uint32_t start = other ? 31 - (uint32_t)__builtin_clz(other) : before;
            v[lane] = other && !(p->edges >> before & 1) ? value_of(m, f, v, lane, start, before) : v[before];
        }
    }
    uint32_t n = (uint32_t)__builtin_popcount(lanes);
    m->n.filled += n;
    m->n.filters += (n + FILTER_LANES - 1) / FILTER_LANES;
}

bool lnl_fill_in(struct lnl *m, uint32_t warp, const struct xinst *i, const struct lnl_fact *f,
                 uint32_t mask) {
    uint32_t first = i->in->op == OP_INTERP ? 0 : i->first[1];
    bool any = false;
    for (uint32_t k = 0; k < m->warps[warp].npaths; k++) {
        const struct lnl_path *p = &m->warps[warp].paths[k];
        uint32_t lanes = p->lanes & mask & ~p->anchors;
        if (p->region != f->region || !lanes)
            continue;
        for (uint32_t left = f->words; left; left &= left - 1) {
            uint32_t s = i->s[first + (uint32_t)__builtin_ctz(left)];
            if (!(s & POOL))
                fill_register(m, p, f, m->sm->warps[warp].w->r[s], lanes);
        }
        any = true;
    }
    m->n.stores += any;
    return any;
}
