/* Operations across the lanes of a warp. */
#include <string.h>

#include "exec/warp.h"

static void set_pred(struct warp *w, uint32_t pd, uint32_t m, uint32_t bits) {
    if (pd != PRED_PT)
        w->p[pd] = (w->p[pd] & ~m) | (bits & m);
}

static void set_lanes(struct warp *w, const struct xinst *i, uint32_t m, const uint32_t *v) {
    if (i->ndw)
        lane_blend(w->r[i->d], v, m);
}

static void set_uniform(struct warp *w, const struct xinst *i, uint32_t m, uint32_t v) {
    for (uint32_t l = 0; l < WARP_LANES && i->ndw; l++)
        if (m >> l & 1)
            w->r[i->d][l] = v;
}

/* Lanes that take part: the named ones among those that execute, or all of them in the old forms without a
 * mask. */
static uint32_t members(const struct exec *x, const struct warp *w, const struct xinst *i, uint32_t src,
                        uint32_t m) {
    uint32_t named = src_lanes(x, w, i->s[i->first[src]])[__builtin_ctz(m)];
    return i->in->m.lut || !(named & m) ? m : named & m;
}

bool exec_shfl(struct exec *x, struct warp *w, const struct xinst *i, uint32_t m, uint32_t here) {
    const uint32_t *a = src_lanes(x, w, i->s[0]), *b = src_lanes(x, w, i->s[1]),
                   *c = src_lanes(x, w, i->s[2]);
    _Alignas(64) uint32_t v[WARP_LANES], out[WARP_LANES];
    memcpy(v, a, sizeof v);
    uint32_t p = 0;
    for (uint32_t l = 0; l < WARP_LANES; l++) {
        uint32_t bval = b[l] & 31, cval = c[l] & 31, seg = c[l] >> 8 & 31;
        uint32_t max = (l & seg) | (cval & ~seg), min = l & seg;
        int32_t j = (int32_t)l;
        bool ok = false;
        switch ((enum shfl_mode)i->in->m.mode) {
        case SHFL_UP:
            j -= (int32_t)bval;
            ok = j >= (int32_t)max;
            break;
        case SHFL_DOWN:
            j += (int32_t)bval;
            ok = j <= (int32_t)max;
            break;
        case SHFL_BFLY:
            j ^= (int32_t)bval;
            ok = j <= (int32_t)max;
            break;
        case SHFL_IDX:
            j = (int32_t)(min | (bval & ~seg));
            ok = j <= (int32_t)max;
            break;
        }
        out[l] = !ok ? v[l] : here >> j & 1 ? v[j] : 0;
        p |= (uint32_t)ok << l;
    }
    set_lanes(w, i, m, out);
    set_pred(w, i->pd[0], m, p);
    return true;
}

bool exec_vote(struct exec *x, struct warp *w, const struct xinst *i, uint32_t m) {
    uint32_t who = members(x, w, i, 0, m);
    uint32_t p = (w->p[i->ps[0]] ^ (i->pneg[0] ? 0xffffffffu : 0)) & who;
    switch ((enum vote_mode)i->in->m.mode) {
    case VOTE_BALLOT:
        set_uniform(w, i, m, p);
        break;
    case VOTE_ALL:
        set_pred(w, i->pd[0], m, p == who ? 0xffffffffu : 0);
        break;
    case VOTE_ANY:
        set_pred(w, i->pd[0], m, p ? 0xffffffffu : 0);
        break;
    case VOTE_UNI:
        set_pred(w, i->pd[0], m, p == who || !p ? 0xffffffffu : 0);
        break;
    }
    return true;
}

bool exec_match(struct exec *x, struct warp *w, const struct xinst *i, uint32_t m) {
    uint32_t who = members(x, w, i, 1, m);
    const uint32_t *lo = src_lanes(x, w, i->s[0]),
                   *hi = i->in->nsrc > 2 ? src_lanes(x, w, i->s[i->first[2]]) : NULL;
    uint32_t out[WARP_LANES] __attribute__((aligned(64))), p = 0;
    for (uint32_t l = 0; l < WARP_LANES; l++) {
        uint32_t same = 0;
        for (uint32_t k = 0; k < WARP_LANES; k++)
            same |= (uint32_t)(lo[k] == lo[l] && (!hi || hi[k] == hi[l])) << k;
        same &= who;
        bool all = same == who;
        out[l] = i->in->m.mode == MATCH_ANY ? same : all ? who : 0;
        p |= (uint32_t)all << l;
    }
    set_lanes(w, i, m, out);
    set_pred(w, i->pd[0], m, p);
    return true;
}

static uint32_t reduce(enum redux_mode op, bool sgn, uint32_t a, uint32_t b) {
    switch (op) {
    case REDUX_ADD:
        return a + b;
    case REDUX_MIN:
        return sgn ? ((int32_t)a < (int32_t)b ? a : b) : a < b ? a : b;
    case REDUX_MAX:
        return sgn ? ((int32_t)a > (int32_t)b ? a : b) : a > b ? a : b;
    case REDUX_AND:
        return a & b;
    case REDUX_OR:
        return a | b;
    default:
        return a ^ b;
    }
}

bool exec_redux(struct exec *x, struct warp *w, const struct xinst *i, uint32_t m) {
    uint32_t who = members(x, w, i, 1, m);
    const uint32_t *a = src_lanes(x, w, i->s[0]);
    uint32_t first = (uint32_t)__builtin_ctz(who), v = a[first];
    for (uint32_t l = first + 1; l < WARP_LANES; l++)
        if (who >> l & 1)
            v = reduce((enum redux_mode)i->in->m.mode, i->in->m.sgn, v, a[l]);
    set_uniform(w, i, m, v);
    return true;
}

bool exec_elect(struct exec *x, struct warp *w, const struct xinst *i, uint32_t m) {
    uint32_t who = members(x, w, i, 0, m);
    uint32_t leader = (uint32_t)__builtin_ctz(who);
    set_uniform(w, i, m, leader);
    set_pred(w, i->pd[0], m, 1u << leader);
    return true;
}
