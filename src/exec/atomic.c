/* Atomic operations, lane after lane in lane order, and barrier objects in shared memory. One thread at a
 * time carries out those of a launch. Only those of system scope may meet the host's own, so they alone are
 * atomic for the host too, where they are of up to 8 bytes.
 */
#include <string.h>

#include "exec/convert.h"
#include "exec/warp.h"

/* Up to 128 bits. */
struct wide {
    uint64_t v[2];
};

static uint64_t sign_extend(uint64_t v, uint32_t bits) {
    return bits == 64 ? v : (uint64_t)((int64_t)(v << (64 - bits)) >> (64 - bits));
}

static inline uint64_t integer(enum atom_op op, uint64_t old, uint64_t v, uint32_t bits, bool sgn) {
    uint64_t mask = bits == 64 ? ~UINT64_C(0) : (UINT64_C(1) << bits) - 1;
    old &= mask;
    v &= mask;
    bool less = sgn ? (int64_t)sign_extend(v, bits) < (int64_t)sign_extend(old, bits) : v < old;
    bool more = sgn ? (int64_t)sign_extend(v, bits) > (int64_t)sign_extend(old, bits) : v > old;
    switch (op) {
    case ATOM_ADD:
        return old + v;
    case ATOM_MIN:
        return less ? v : old;
    case ATOM_MAX:
        return more ? v : old;
    case ATOM_INC:
        return old >= v ? 0 : old + 1;
    case ATOM_DEC:
        return old == 0 || old > v ? v : old - 1;
    case ATOM_AND:
        return old & v;
    case ATOM_OR:
        return old | v;
    case ATOM_XOR:
        return old ^ v;
    default:
        return v; /* exchange */
    }
}

static uint32_t flush(uint32_t bits) {
    return bits & 0x7f800000u ? bits : bits & 0x80000000u;
}

static uint32_t add_f32(uint32_t a, uint32_t b, bool ftz) {
    if (ftz) {
        a = flush(a);
        b = flush(b);
    }
    float x, y, z;
    memcpy(&x, &a, 4);
    memcpy(&y, &b, 4);
    z = x + y;
    memcpy(&a, &z, 4);
    if (z != z)
        a = 0x7fffffff;
    return ftz ? flush(a) : a;
}

static uint64_t add_f64(uint64_t a, uint64_t b) {
    double x, y, z;
    memcpy(&x, &a, 8);
    memcpy(&y, &b, 8);
    z = x + y;
    memcpy(&a, &z, 8);
    return a;
}

static uint32_t to_f32(uint32_t v, enum mtype from) {
    struct imods m = {.stype = (uint8_t)from, .dtype = MT_F32};
    return (uint32_t)convert_value(&m, v);
}

/* One 16-bit float: add, min or max; f32 holds the exact sum closely enough to round once. */
static uint32_t half_op(enum atom_op op, uint32_t old, uint32_t v, enum mtype t) {
    uint32_t a = to_f32(old, t), b = to_f32(v, t);
    float x, y;
    memcpy(&x, &a, 4);
    memcpy(&y, &b, 4);
    if (op == ATOM_EXCH)
        return v & 0xffff;
    if (op == ATOM_MIN || op == ATOM_MAX) {
        if (x != x)
            return v & 0xffff;
        if (y != y)
            return old & 0xffff;
        bool second = op == ATOM_MIN ? y < x || (y == x && b >> 31) : y > x || (y == x && a >> 31);
        return (second ? v : old) & 0xffff;
    }
    double sum =
        (double)x + (double)y; /* exact for f16; for bf16 far apart operands round as the larger one does */
    uint64_t bits;
    memcpy(&bits, &sum, 8);
    struct imods m = {.stype = MT_F64, .dtype = (uint8_t)t};
    return (uint32_t)convert_value(&m, bits) & 0xffff;
}

static void apply(const struct imods *q, struct wide *old, const struct wide *v, const struct wide *cmp,
                  uint32_t bytes, bool ftz) {
    enum atom_op op = (enum atom_op)q->aop;
    if (op == ATOM_CAS) {
        if (!memcmp(old, v, bytes))
            *old = *cmp;
        return;
    }
    uint64_t o = old->v[0], w = v->v[0];
    switch ((enum mtype)q->dtype) {
    case MT_F32:
        old->v[0] = op == ATOM_ADD ? add_f32((uint32_t)o, (uint32_t)w, ftz) : w;
        break;
    case MT_F64:
        old->v[0] = op == ATOM_ADD ? add_f64(o, w) : w;
        break;
    case MT_F16:
    case MT_BF16:
        old->v[0] = half_op(op, (uint32_t)o, (uint32_t)w, (enum mtype)q->dtype);
        break;
    case MT_F16X2:
    case MT_BF16X2: {
        enum mtype t = q->dtype == MT_F16X2 ? MT_F16 : MT_BF16;
        old->v[0] = half_op(op, (uint32_t)o & 0xffff, (uint32_t)w & 0xffff, t) |
                    half_op(op, (uint32_t)o >> 16, (uint32_t)w >> 16, t) << 16;
        break;
    }
    case MT_B128:
        *old = *v;
        break;
    default:
        old->v[0] =
            integer(op, o, w, bytes * 8, q->dtype == MT_S32 || q->dtype == MT_S64 || q->dtype == MT_S16);
    }
}

static struct wide read_words(const struct exec *x, const struct warp *w, const struct xinst *i, uint32_t src,
                              uint32_t element, uint32_t words, uint32_t lane) {
    uint32_t raw[4] = {0};
    for (uint32_t k = 0; k < words; k++)
        raw[k] = src_lanes(x, w, i->s[i->first[src] + element * words + k])[lane];
    struct wide v;
    memcpy(&v, raw, sizeof v);
    return v;
}

/* Moves a value between v and lane l's place, which is interleaved by words when it is local memory. */
static void transfer(const struct warp *w, struct wide *v, uint64_t at, uint32_t bytes, uint32_t lane,
                     bool local, bool write) {
    uint32_t piece = local && bytes > 4 ? 4 : bytes;
    for (uint32_t k = 0; k < bytes; k += piece) {
        uint8_t *p = local ? exec_local(w, at + k, lane) : (uint8_t *)(uintptr_t)at, *q = (uint8_t *)v + k;
        memcpy(write ? p : q, write ? q : p, piece);
    }
}

/* Makes what lies at p next if it is still old, for the host's threads too. */
static inline bool swap_word(void *p, uint32_t old, uint32_t next) {
    return __atomic_compare_exchange_n((uint32_t *)p, &old, next, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

/* The same of a value of q's size that is no single word. Others than those of system scope are always made
 * so. */
static bool replace(const struct imods *q, const struct warp *w, uint64_t at, uint32_t lane, bool local,
                    const struct wide *old, struct wide *next) {
    void *p = (void *)(uintptr_t)at;
    uint64_t o = old->v[0], n = next->v[0];
    uint16_t half = (uint16_t)o;
    if (q->scope == SCOPE_SYSTEM && !local && q->size == 2)
        return __atomic_compare_exchange_n((uint16_t *)p, &half, (uint16_t)n, false, __ATOMIC_SEQ_CST,
                                           __ATOMIC_RELAXED);
    if (q->scope == SCOPE_SYSTEM && !local && q->size == 4)
        return swap_word(p, (uint32_t)o, (uint32_t)n);
    if (q->scope == SCOPE_SYSTEM && !local && q->size == 8)
        return __atomic_compare_exchange_n((uint64_t *)p, &o, n, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
    transfer(w, next, at, q->size, lane, local, true);
    return true;
}

/* ---- words of 32 bits in memory that others see: nearly all atomics ---- */

/* What lanes bring, and where their old values go (NULL: nobody wants them). */
struct word_atomic {
    uint32_t lanes;
    const uint64_t *at;
    const uint32_t *v;
    uint32_t *old;
};

/* For each lane of a, in order: the word becomes what new says of old and v. */
#define EACH_WORD(a, system, new)                                                                            \
    for (uint32_t left = (a)->lanes; left; left &= left - 1) {                                               \
        uint32_t l = (uint32_t)__builtin_ctz(left), old, v = (a)->v[l], next;                                \
        void *p = (void *)(uintptr_t)(a)->at[l];                                                             \
        do {                                                                                                 \
            memcpy(&old, p, sizeof old);                                                                     \
            next = (new);                                                                                    \
        } while ((system) && !swap_word(p, old, next));                                                      \
        if (!(system))                                                                                       \
            memcpy(p, &next, sizeof next);                                                                   \
        if ((a)->old)                                                                                        \
            (a)->old[l] = old;                                                                               \
    }

static void add_words(const struct word_atomic *a) {
    EACH_WORD(a, false, (uint32_t)integer(ATOM_ADD, old, v, 32, false))
}

static void other_words(const struct word_atomic *a, enum atom_op op, bool sgn) {
    EACH_WORD(a, false, (uint32_t)integer(op, old, v, 32, sgn))
}

static void compare_words(const struct word_atomic *a, const uint32_t *swap) {
    EACH_WORD(a, false, old == v ? swap[l] : old)
}

/* Shared memory does not flush subnormal numbers. */
static bool flushes(const struct word_atomic *a, uint32_t l, const struct cta *c, bool ftz) {
    return ftz && a->at[l] - (uintptr_t)c->shared >= c->shared_bytes;
}

static void add_floats(const struct word_atomic *a, const struct cta *c, bool ftz) {
    EACH_WORD(a, false, add_f32(old, v, flushes(a, l, c, ftz)))
}

static void system_words(const struct word_atomic *a, const struct cta *c, const struct imods *q,
                         const uint32_t *swap) {
    enum atom_op op = (enum atom_op)q->aop;
    if (op == ATOM_CAS)
        EACH_WORD(a, true, old == v ? swap[l] : old)
    else if (op == ATOM_ADD && q->dtype == MT_F32)
        EACH_WORD(a, true, add_f32(old, v, flushes(a, l, c, !q->noftz)))
    else
        EACH_WORD(a, true, (uint32_t)integer(op, old, v, 32, q->dtype == MT_S32))
}

static void word_atomics(const struct exec *x, struct warp *w, const struct xinst *i, uint32_t m,
                         const uint64_t *at) {
    const struct imods *q = &i->in->m;
    const struct word_atomic a = {m, at, src_lanes(x, w, i->s[i->first[1]]), i->ndw ? w->r[i->d] : NULL};
    const uint32_t *swap = q->aop == ATOM_CAS ? src_lanes(x, w, i->s[i->first[2]]) : NULL;
    if (q->scope == SCOPE_SYSTEM)
        system_words(&a, w->cta, q, swap);
    else if (q->aop == ATOM_CAS)
        compare_words(&a, swap);
    else if (q->aop == ATOM_ADD && q->dtype == MT_F32)
        add_floats(&a, w->cta, !q->noftz);
    else if (q->aop == ATOM_ADD)
        add_words(&a);
    else
        other_words(&a, (enum atom_op)q->aop, q->dtype == MT_S32);
}

static bool is_word(enum mtype t) {
    return t == MT_F32 || t == MT_S32 || t == MT_U32;
}

bool exec_atom(struct exec *x, struct warp *w, const struct xinst *i, uint32_t m) {
    const struct imods *q = &i->in->m;
    if (x->mem->read_only && !exec_may_write(x, w, i, m))
        return false;
    uint32_t bytes = q->size, words = bytes > 4 ? bytes / 4 : 1;
    uint64_t at[WARP_LANES];
    uint32_t local; /* nobody else sees it, but libraries use the same code for any object */
    if (!exec_resolve(x, w, i, m, bytes * q->vec, at, &local))
        return false;
    if (q->vec == 1 && !local && is_word((enum mtype)q->dtype)) {
        word_atomics(x, w, i, m, at);
        return true;
    }
    for (uint32_t l = 0; l < WARP_LANES; l++) {
        if (!(m >> l & 1))
            continue;
        bool own = local >> l & 1, shared = !own && at[l] - (uintptr_t)w->cta->shared < w->cta->shared_bytes;
        for (uint32_t e = 0; e < q->vec; e++) {
            struct wide old = {{0, 0}}, v = read_words(x, w, i, 1, e, words, l), cmp = {{0, 0}}, new;
            if (q->aop == ATOM_CAS)
                cmp = read_words(x, w, i, 2, e, words, l);
            do {
                transfer(w, &old, at[l] + e * bytes, bytes, l, own, false);
                new = old;
                apply(q, &new, &v, &cmp, bytes, !shared && !q->noftz);
            } while (!replace(q, w, at[l] + e * bytes, l, own, &old, &new));
            if (!i->ndw)
                continue;
            uint32_t raw[4];
            memcpy(raw, &old, sizeof raw);
            for (uint32_t k = 0; k < words; k++)
                w->r[i->d + e * words + k][l] = raw[k];
        }
    }
    return true;
}

/* Barrier object: pending arrivals in bits 0..19, expected in 20..39, bytes that copies still owe in 40..62,
 * phase in bit 63.
 */
enum { MBAR_FIELD = 20, MBAR_MASK = (1 << MBAR_FIELD) - 1, MBAR_BYTES_AT = 40, MBAR_BYTES = (1 << 23) - 1 };

/* A phase ends when nobody and nothing is awaited any more. */
static uint64_t mbar_settle(uint64_t s) {
    if (s & MBAR_MASK || s >> MBAR_BYTES_AT & MBAR_BYTES)
        return s;
    return (s | (s >> MBAR_FIELD & MBAR_MASK)) ^ (uint64_t)1 << 63;
}

static uint64_t mbar_arrive(uint64_t s, uint32_t count, bool drop) {
    uint64_t pending = (s - count) & MBAR_MASK, expected = (s >> MBAR_FIELD) - drop;
    s &= ~((uint64_t)MBAR_MASK | (uint64_t)MBAR_MASK << MBAR_FIELD);
    return mbar_settle(s | pending | (expected & MBAR_MASK) << MBAR_FIELD);
}

static uint64_t mbar_expect(uint64_t s, uint32_t bytes) {
    uint64_t owed = ((s >> MBAR_BYTES_AT) + bytes) & MBAR_BYTES;
    return mbar_settle((s & ~((uint64_t)MBAR_BYTES << MBAR_BYTES_AT)) | owed << MBAR_BYTES_AT);
}

bool exec_mbar(struct exec *x, struct warp *w, const struct xinst *i, uint32_t m) {
    uint64_t at[WARP_LANES];
    if (!exec_resolve(x, w, i, m, 8, at, NULL))
        return false;
    const uint32_t *arg = i->in->nsrc > 1 ? src_lanes(x, w, i->s[i->first[1]]) : NULL;
    uint32_t done = 0;
    for (uint32_t l = 0; l < WARP_LANES; l++) {
        if (!(m >> l & 1))
            continue;
        uint64_t s;
        uint32_t n = arg ? arg[l] : 1;
        memcpy(&s, (void *)(uintptr_t)at[l], 8);
        uint64_t old = s;
        switch ((enum mbar_mode)i->in->m.mode) {
        case MBAR_INIT:
            s = (n & MBAR_MASK) | (uint64_t)(n & MBAR_MASK) << MBAR_FIELD;
            break;
        case MBAR_INVAL: /* the contents stay, for those who have not yet seen that their phase is over */
            break;
        case MBAR_ARRIVE:
        case MBAR_ARRIVE_DROP:
            if (i->in->m.lut) /* an asynchronous copy's arrival does not count against the expected ones */
                s = (s & ~(uint64_t)MBAR_MASK) | ((s + 1) & MBAR_MASK);
            s = mbar_arrive(s, n, i->in->m.mode == MBAR_ARRIVE_DROP);
            break;
        case MBAR_EXPECT_TX:
            s = mbar_expect(s, n);
            break;
        case MBAR_TEST_WAIT: {
            uint32_t phase = i->in->m.sgn ? n & 1 : src_lanes(x, w, i->s[i->first[1] + 1])[l] >> 31;
            done |= (uint32_t)((s >> 63) != phase) << l;
            break;
        }
        default:
            break;
        }
        memcpy((void *)(uintptr_t)at[l], &s, 8);
        if (i->ndw) {
            w->r[i->d][l] = (uint32_t)old;
            w->r[i->d + 1][l] = (uint32_t)(old >> 32);
        }
    }
    if (i->pd[0] != PRED_PT)
        w->p[i->pd[0]] = (w->p[i->pd[0]] & ~m) | (done & m);
    return true;
}
