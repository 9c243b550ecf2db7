/* Operations across the lanes of a warp.
 *
 * Those that name their members wait for them: PTX wants the same operation with the same members of all of
 * them, but not the same instruction. Paths that wait at this instruction are carried along; one that waits
 * at another instruction brings its operands, and its results lie ready until it goes on. */
#include <string.h>

#include "exec/watch.h"

enum { SRCS = 4 };

/* What lanes bring, and what they get. */
struct wide {
    const struct xinst *i;
    uint32_t here;           /* lanes that take part */
    const uint32_t *s[SRCS]; /* sources */
    const uint32_t *members; /* the source that names them */
    uint32_t p;              /* predicate source */
    _Alignas(64) uint32_t out[WARP_LANES];
    uint32_t pout;
    _Alignas(64) uint32_t gathered[SRCS][WARP_LANES]; /* sources of several instructions */
};

/* Lanes that take part with lanes m, which name the same: those of them, or all in the old forms without a
 * mask. */
static uint32_t members(const struct wide *q, uint32_t m) {
    uint32_t named = q->members[__builtin_ctz(m)];
    return q->i->in->m.lut || !(named & m) ? m : named & m;
}

static void set_all(struct wide *q, uint32_t m, uint32_t v) {
    for (uint32_t l = 0; l < WARP_LANES; l++)
        q->out[l] = m >> l & 1 ? v : q->out[l];
}

/* From a lane that does not execute the instruction nothing can be had, and hardware gives 0. */
static void shfl(struct wide *q, uint32_t m) {
    const uint32_t *a = q->s[0], *b = q->s[1], *c = q->s[2];
    (void)m;
    for (uint32_t l = 0; l < WARP_LANES; l++) {
        uint32_t bval = b[l] & 31, cval = c[l] & 31, seg = c[l] >> 8 & 31;
        uint32_t max = (l & seg) | (cval & ~seg), min = l & seg;
        int32_t j = (int32_t)l;
        bool ok = false;
        switch ((enum shfl_mode)q->i->in->m.mode) {
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
        q->out[l] = !ok ? a[l] : q->here >> j & 1 ? a[j] : 0;
        q->pout |= (uint32_t)ok << l;
    }
}

static void vote(struct wide *q, uint32_t m) {
    uint32_t who = members(q, m), p = q->p & who;
    bool yes = false;
    switch ((enum vote_mode)q->i->in->m.mode) {
    case VOTE_BALLOT:
        set_all(q, m, p);
        break;
    case VOTE_ALL:
        yes = p == who;
        break;
    case VOTE_ANY:
        yes = p;
        break;
    case VOTE_UNI:
        yes = p == who || !p;
        break;
    }
    q->pout |= yes ? m : 0;
}

static void match(struct wide *q, uint32_t m) {
    uint32_t who = members(q, m);
    const uint32_t *lo = q->s[0], *hi = q->i->in->nsrc > 2 ? q->s[2] : NULL;
    for (uint32_t left = m; left; left &= left - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(left), same = 0;
        for (uint32_t k = 0; k < WARP_LANES; k++)
            same |= (uint32_t)(lo[k] == lo[l] && (!hi || hi[k] == hi[l])) << k;
        same &= who;
        bool all = same == who;
        q->out[l] = q->i->in->m.mode == MATCH_ANY ? same : all ? who : 0;
        q->pout |= (uint32_t)all << l;
    }
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

static void redux(struct wide *q, uint32_t m) {
    uint32_t who = members(q, m), first = (uint32_t)__builtin_ctz(who), v = q->s[0][first];
    for (uint32_t l = first + 1; l < WARP_LANES; l++)
        if (who >> l & 1)
            v = reduce((enum redux_mode)q->i->in->m.mode, q->i->in->m.sgn, v, q->s[0][l]);
    set_all(q, m, v);
}

static void elect(struct wide *q, uint32_t m) {
    uint32_t leader = (uint32_t)__builtin_ctz(members(q, m));
    set_all(q, m, leader);
    q->pout |= 1u << leader;
}

static void nothing(struct wide *q, uint32_t m) {
    (void)q, (void)m;
}

/* The source that names the members, and what it does for lanes that name the same ones; a shuffle only reads
 * and does all at once. */
static const struct {
    void (*fn)(struct wide *, uint32_t m);
    uint8_t members;
} ops[] = {
    [X_SHFL] = {shfl, 3},   [X_VOTE] = {vote, 0},   [X_MATCH] = {match, 1},
    [X_REDUX] = {redux, 1}, [X_ELECT] = {elect, 0}, [X_WARPSYNC] = {nothing, 0},
};

const uint32_t *exec_member_masks(const struct exec *x, const struct warp *w, const struct xinst *i) {
    return src_lanes(x, w, i->s[ops[i->kind].members]);
}

static uint32_t guard_of(const struct warp *w, const struct xinst *i) {
    return w->p[i->guard] ^ (0u - (uint32_t)i->gneg);
}

/* All that lanes name. */
static uint32_t named_by(const struct exec *x, const struct warp *w, const struct xinst *i, uint32_t lanes) {
    const uint32_t *masks = exec_member_masks(x, w, i);
    uint32_t named = 0;
    for (uint32_t left = lanes; left; left &= left - 1)
        named |= masks[__builtin_ctz(left)];
    return named;
}

/* True when lanes that wait at b take part in a. */
static bool corresponds(const struct xinst *a, const struct xinst *b) {
    const struct imods *m = &a->in->m, *n = &b->in->m;
    return a->kind == b->kind &&
           (a->kind == X_WARPSYNC || (m->mode == n->mode && m->sgn == n->sgn && m->size == n->size &&
                                      a->in->nsrc == b->in->nsrc && m->lut == n->lut));
}

/* Another instruction's lanes join. */
static void bring(const struct exec *x, const struct warp *w, struct wide *q, const struct xinst *i,
                  uint32_t lanes) {
    for (uint32_t k = 0; k < q->i->nsw; k++) {
        if (q->s[k] != q->gathered[k])
            memcpy(q->gathered[k], q->s[k], sizeof q->gathered[k]);
        q->s[k] = q->gathered[k];
        lane_blend(q->gathered[k], src_lanes(x, w, i->s[k]), lanes);
    }
    q->members = q->s[ops[q->i->kind].members];
    uint32_t p = w->p[i->ps[0]] ^ (0u - (uint32_t)i->pneg[0]);
    q->p = (q->p & ~lanes) | (p & lanes);
    q->here |= lanes;
}

/* Paths that wait for lanes of e take part: those at the same instruction go past it, others get what is
 * theirs when they run theirs. Returns the lanes at this instruction; 0 when some members are still on their
 * way and e must wait. */
static uint32_t assemble(const struct exec *x, struct warp *w, struct wide *q, uint32_t m) {
    const struct xinst *code = x->img->code, *i = q->i;
    struct simt_entry *e = w->top;
    uint32_t named = named_by(x, w, i, m), missing = named & w->live & ~e->mask;
    for (uint32_t k = 0; k + 1 < w->depth; k++)
        if (w->stack[k].sync)
            missing &= ~w->stack[k].mask;
    if (missing) {
        e->sync = missing;
        if (simt_rotate(w) || simt_part(w, missing)) /* they may come yet, also from where paths meet */
            return 0;
        e->sync = 0; /* nobody else can come: go on with those that are here */
    }
    uint32_t at = e->mask;
    for (uint32_t k = 0; k + 1 < w->depth; k++) {
        struct simt_entry *o = &w->stack[k];
        const struct xinst *other = &code[o->pc];
        if (!o->sync || !corresponds(i, other))
            continue;
        uint32_t lanes = o->mask & guard_of(w, other);
        if (o->pc == e->pc || i->kind == X_WARPSYNC) {
            at |= o->mask;
            o->pc++;
        } else if (named_by(x, w, other, lanes) == named) {
            bring(x, w, q, other, lanes);
            o->given = true;
        } else {
            continue;
        }
        o->sync = 0;
    }
    return at & guard_of(w, i);
}

/* Matrix operations name nobody: every lane that lives takes part, in the same instruction. */
uint32_t exec_meet(struct warp *w, const struct xinst *i) {
    struct simt_entry *e = w->top;
    uint32_t missing = w->live & ~e->mask, at = e->mask;
    for (uint32_t k = 0; k + 1 < w->depth; k++)
        if (w->stack[k].sync)
            missing &= ~w->stack[k].mask;
    if (missing) {
        e->sync = missing;
        if (simt_rotate(w) || simt_part(w, missing))
            return 0;
        e->sync = 0; /* nobody else can come: go on with those that are here */
    }
    for (uint32_t k = 0; k + 1 < w->depth; k++) {
        struct simt_entry *o = &w->stack[k];
        if (!o->sync || o->pc != e->pc)
            continue;
        at |= o->mask;
        o->sync = 0;
        o->pc++;
    }
    return at & guard_of(w, i);
}

/* Results of lanes m. */
static void take(struct warp *w, const struct xinst *i, uint32_t m, const uint32_t *out, uint32_t pout) {
    if (i->ndw)
        lane_blend(w->r[i->d], out, m);
    if (i->pd[0] != PRED_PT)
        w->p[i->pd[0]] = (w->p[i->pd[0]] & ~m) | (pout & m);
}

/* Watchers learn which lanes have met. */
static void tell_together(struct exec *x, struct warp *w, const struct xinst *i, uint32_t m) {
    if (x->watch && m)
        x->watch->together(x->watch, x, w, i, m);
}

bool exec_wide(struct exec *x, struct warp *w, const struct xinst *i, uint32_t only) {
    struct simt_entry *e = w->top;
    uint32_t m = e->mask & guard_of(w, i);
    struct wide q;
    if (e->given) {
        tell_together(x, w, i, m & only);
        memcpy(q.out, w->given, sizeof q.out);
        take(w, i, m & only, q.out, w->given_p);
        e->given = false;
        return true;
    }
    q.i = i;
    q.here = m;
    q.p = w->p[i->ps[0]] ^ (0u - (uint32_t)i->pneg[0]);
    q.pout = 0;
    for (uint32_t k = 0; k < i->nsw; k++)
        q.s[k] = src_lanes(x, w, i->s[k]);
    q.members = q.s[ops[i->kind].members];
    if (!i->in->m.lut && w->depth > 1) {
        m = assemble(x, w, &q, m);
        if (!m)
            return false;
    }
    tell_together(x, w, i, m & only);
    uint32_t elsewhere = q.here & ~m;
    q.here |= m;
    for (uint32_t left = q.here; left;) {
        uint32_t group = left;
        if (i->kind != X_SHFL && !i->in->m.lut)
            for (uint32_t l = 0; l < WARP_LANES; l++)
                if (q.members[l] != q.members[__builtin_ctz(left)])
                    group &= ~(1u << l);
        ops[i->kind].fn(&q, group);
        left &= ~group;
    }
    take(w, i, m & only, q.out, q.pout);
    for (uint32_t left = elsewhere; left; left &= left - 1)
        w->given[__builtin_ctz(left)] = q.out[__builtin_ctz(left)];
    w->given_p = (w->given_p & ~elsewhere) | (q.pout & elsewhere);
    return true;
}
