/* Loads and stores of a warp. Addresses of inactive lanes are replaced by that of an active one, so that
 * checks and loads need no masks; results are blended at the end. */
#include <string.h>

#include "base/often.h"
#include "base/wide.h"
#include "exec/warp.h"
#include "exec/watch.h"

typedef uint32_t __attribute__((may_alias, aligned(4))) word;
typedef uint16_t __attribute__((may_alias, aligned(2))) half;

/* Where the lanes of an access point. */
struct target {
    uint64_t at[WARP_LANES]; /* host address, or offset for local lanes */
    uint32_t local;          /* lanes that touch their local memory */
};

bool exec_fault(struct exec *x, const struct warp *w, const struct xinst *i, enum rp_status s, uint32_t lane,
                uint64_t addr, uint32_t size, enum mem_space space) {
    x->fault = (struct fault){.status = s,
                              .pc = (uint32_t)(i - x->img->code),
                              .lane = lane,
                              .w = w,
                              .addr = addr,
                              .size = size,
                              .space = space};
    return false;
}

void *exec_global(struct exec *x, uint64_t addr, uint32_t size) {
    const struct mem_span *h = &x->hint.data;
    bool known = addr - h->addr < h->size && h->size - (addr - h->addr) >= size;
    if (!known && !memory_span(x->mem, addr, &x->hint.data))
        return NULL;
    return h->size - (addr - h->addr) >= size ? (void *)(uintptr_t)addr : NULL;
}

static uint32_t first_lane(uint32_t m) {
    return (uint32_t)__builtin_ctz(m);
}

/* Addresses as the program computed them: source word 0 (and 1) of source s plus the offset. */
static WIDE_PART void add_up(const struct exec *x, const struct warp *w, const struct xinst *i, uint32_t s,
                             int64_t imm, uint32_t m, uint64_t *a) {
    const uint32_t *lo = src_lanes(x, w, i->s[i->first[s]]);
    bool global = i->in->m.space == MS_GLOBAL || i->in->m.space == MS_GENERIC;
    if (i->in->m.a64) {
        const uint32_t *hi = src_lanes(x, w, i->s[i->first[s] + 1]);
        for (int l = 0; l < WARP_LANES; l++)
            a[l] = ((uint64_t)hi[l] << 32 | lo[l]) + (uint64_t)imm;
    } else {
        uint64_t high = global ? (uint64_t)WINDOW_HI << 32 : 0;
        for (int l = 0; l < WARP_LANES; l++)
            a[l] = high | (uint32_t)(lo[l] + (uint32_t)imm);
    }
    if (m != 0xffffffffu) {
        uint64_t safe = a[first_lane(m)];
        for (int l = 0; l < WARP_LANES; l++)
            a[l] = m >> l & 1 ? a[l] : safe;
    }
}
WIDE_HERE(void, addresses,
          (const struct exec *x, const struct warp *w, const struct xinst *i, uint32_t s, int64_t imm,
           uint32_t m, uint64_t *a),
          add_up, x, w, i, s, imm, m, a)

void exec_addresses(const struct exec *x, const struct warp *w, const struct xinst *i, uint32_t m,
                    uint64_t *a) {
    addresses(x, w, i, i->kind == X_LDGSTS, i->kind == X_LDGSTS ? 0 : i->in->imm, m, a);
}

/* All lanes in [base, base + size - bytes]? */
static bool in_range(const uint64_t *a, uint64_t base, uint64_t size, uint32_t bytes) {
    if (size < bytes)
        return false;
    uint64_t limit = size - bytes, bad = 0;
    for (int l = 0; l < WARP_LANES; l++) {
        uint64_t off = a[l] - base;
        bad |= off | (limit - off);
    }
    return !(bad >> 63);
}

static bool aligned(const uint64_t *a, uint32_t bytes) {
    uint64_t low = 0;
    for (int l = 0; l < WARP_LANES; l++)
        low |= a[l];
    return !(low & (bytes - 1));
}

static bool fault_lane(struct exec *x, const struct warp *w, const struct xinst *i, const uint64_t *a,
                       uint32_t m, uint32_t bytes, enum mem_space space, uint64_t base, uint64_t size,
                       enum rp_status status) {
    for (uint32_t l = 0; l < WARP_LANES; l++) {
        if (!(m >> l & 1))
            continue;
        if (a[l] & (bytes - 1))
            return exec_fault(x, w, i, RP_MISALIGNED, l, a[l], bytes, space);
        uint64_t off = a[l] - base;
        if (off >= size || size - off < bytes)
            return exec_fault(x, w, i, status, l, a[l], bytes, space);
    }
    return true;
}

/* Lanes in memory with gaps between, or a fault. */
static bool global_each(struct exec *x, struct warp *w, const struct xinst *i, uint32_t m, uint64_t *a,
                        uint32_t bytes) {
    for (uint32_t l = 0; l < WARP_LANES; l++) {
        if (!(m >> l & 1))
            continue;
        if (a[l] & (bytes - 1))
            return exec_fault(x, w, i, RP_MISALIGNED, l, a[l], bytes, MS_GLOBAL);
        if (!exec_global(x, a[l], bytes))
            return exec_fault(x, w, i, RP_ILLEGAL_ADDRESS, l, a[l], bytes, MS_GLOBAL);
    }
    return true;
}

static bool to_global(struct exec *x, struct warp *w, const struct xinst *i, uint32_t m, struct target *t,
                      uint32_t bytes) {
    const struct mem_span *h = &x->hint.data;
    uint64_t a0 = t->at[first_lane(m)];
    if (a0 - h->addr >= h->size && !memory_span(x->mem, a0, &x->hint.data))
        return global_each(x, w, i, m, t->at, bytes);
    if (in_range(t->at, h->addr, h->size, bytes) && aligned(t->at, bytes))
        return true;
    return global_each(x, w, i, m, t->at, bytes);
}

/* Lanes outside the mask have the address of one inside, so that the first that faults is one that executes.
 */
static bool to_shared(struct exec *x, struct warp *w, const struct xinst *i, uint32_t m, struct target *t,
                      uint32_t bytes) {
    (void)m;
    if (in_range(t->at, 0, w->cta->shared_bytes, bytes) && aligned(t->at, bytes)) {
        for (int l = 0; l < WARP_LANES; l++)
            t->at[l] += (uintptr_t)w->cta->shared;
        return true;
    }
    for (uint32_t l = 0; l < WARP_LANES; l++) {
        if (t->at[l] & (bytes - 1))
            return exec_fault(x, w, i, RP_MISALIGNED, l, t->at[l], bytes, MS_SHARED);
        uint8_t *at = cluster_shared(w->cta, t->at[l], bytes);
        if (!at)
            return exec_fault(x, w, i, RP_SHARED_RANGE, l, t->at[l], bytes, MS_SHARED);
        t->at[l] = (uintptr_t)at;
    }
    return true;
}

static bool to_local(struct exec *x, struct warp *w, const struct xinst *i, uint32_t m, struct target *t,
                     uint32_t bytes) {
    t->local = m;
    if (!in_range(t->at, 0, x->local_bytes, bytes) || !aligned(t->at, bytes))
        return fault_lane(x, w, i, t->at, m, bytes, MS_LOCAL, 0, x->local_bytes, RP_LOCAL_RANGE);
    return true;
}

static bool in_window(uint64_t a, uint32_t window, uint32_t end) {
    return a >> 32 == WINDOW_HI && (uint32_t)a >= window && (uint32_t)a < end;
}

/* Generic addresses of one space are the common case; mixed ones are resolved lane by lane. */
static bool to_generic(struct exec *x, struct warp *w, const struct xinst *i, uint32_t m, struct target *t,
                       uint32_t bytes) {
    uint32_t shared = 0, local = 0;
    for (uint32_t l = 0; l < WARP_LANES; l++) {
        shared |= (uint32_t)in_window(t->at[l], SHARED_WINDOW, LOCAL_WINDOW) << l;
        local |= (uint32_t)in_window(t->at[l], LOCAL_WINDOW, LOCAL_END) << l;
    }
    if (!((shared | local) & m))
        return to_global(x, w, i, m, t, bytes);
    struct target part;
    uint32_t rest = m & ~shared & ~local;
    uint32_t masks[3] = {rest, m & shared, m & local};
    for (int k = 0; k < 3; k++) {
        if (!masks[k])
            continue;
        uint64_t base = k == 0 ? 0 : ((uint64_t)WINDOW_HI << 32 | (k == 1 ? SHARED_WINDOW : LOCAL_WINDOW));
        uint64_t safe = t->at[first_lane(masks[k])] - base;
        for (int l = 0; l < WARP_LANES; l++)
            part.at[l] = masks[k] >> l & 1 ? t->at[l] - base : safe;
        bool ok = k == 0   ? to_global(x, w, i, masks[k], &part, bytes)
                  : k == 1 ? to_shared(x, w, i, masks[k], &part, bytes)
                           : to_local(x, w, i, masks[k], &part, bytes);
        if (!ok)
            return false;
        for (int l = 0; l < WARP_LANES; l++)
            if (masks[k] >> l & 1)
                t->at[l] = part.at[l];
    }
    t->local = masks[2];
    if (m != 0xffffffffu) { /* inactive lanes must still have a harmless address */
        uint32_t plain = m & ~t->local;
        uint64_t safe = plain ? t->at[first_lane(plain)] : 0;
        for (int l = 0; l < WARP_LANES; l++)
            if (!(m >> l & 1))
                t->at[l] = safe;
    }
    return true;
}

static bool resolve(struct exec *x, struct warp *w, const struct xinst *i, uint32_t m, uint32_t bytes,
                    struct target *t) {
    addresses(x, w, i, 0, i->in->imm, m, t->at);
    t->local = 0;
    switch ((enum mem_space)i->in->m.space) {
    case MS_GLOBAL:
        return to_global(x, w, i, m, t, bytes);
    case MS_SHARED:
        return to_shared(x, w, i, m, t, bytes);
    case MS_LOCAL:
        return to_local(x, w, i, m, t, bytes);
    default:
        return to_generic(x, w, i, m, t, bytes);
    }
}

static uint32_t extend(uint32_t v, uint32_t size, bool sgn) {
    if (size == 1)
        return sgn ? (uint32_t)(int8_t)v : (uint8_t)v;
    return size == 2 ? (sgn ? (uint32_t)(int16_t)v : (uint16_t)v) : v;
}

/* Word k (element k when narrower than a word) of all lanes from plain memory. */
static void gather(uint32_t *d, const uint64_t *a, uint32_t k, uint32_t size, bool sgn) {
    if (size >= 4) {
        for (int l = 0; l < WARP_LANES; l++)
            d[l] = *(const word *)(uintptr_t)(a[l] + 4 * k);
    } else if (size == 2) {
        for (int l = 0; l < WARP_LANES; l++)
            d[l] = extend(*(const half *)(uintptr_t)(a[l] + 2 * k), 2, sgn);
    } else {
        for (int l = 0; l < WARP_LANES; l++)
            d[l] = extend(*(const uint8_t *)(uintptr_t)(a[l] + k), 1, sgn);
    }
}

/* The same from local memory, which is interleaved by words. */
static uint8_t *local_byte(const struct warp *w, uint64_t a, uint32_t lane) {
    return w->local + ((a >> 2) * WARP_LANES + lane) * 4 + (a & 3);
}

static bool same_everywhere(const uint64_t *a) {
    uint64_t diff = 0;
    for (int l = 0; l < WARP_LANES; l++)
        diff |= a[l] ^ a[0];
    return !diff;
}

static void gather_local(const struct warp *w, uint32_t *d, const uint64_t *a, uint32_t lanes, uint32_t k,
                         uint32_t size, bool sgn) {
    uint32_t step = size >= 4 ? 4 : size;
    if (lanes == 0xffffffffu && step == 4 && same_everywhere(a)) { /* a spilled register is a row */
        memcpy(d, local_byte(w, a[0] + 4 * k, 0), 4 * WARP_LANES);
        return;
    }
    for (uint32_t l = 0; l < WARP_LANES; l++) {
        if (!(lanes >> l & 1))
            continue;
        uint32_t v = 0;
        memcpy(&v, local_byte(w, a[l] + step * k, l), step);
        d[l] = extend(v, size, sgn);
    }
}

/* Whether bytes of memory can be accessed from an address on, which is an offset in shared memory. */
static EVERY_TIME bool is_there(struct exec *x, const struct warp *w, const struct xinst *i, uint64_t from,
                                uint32_t n) {
    if (i->shared)
        return from + n <= w->cta->shared_bytes;
    const struct mem_span *h = &x->hint.data;
    if (from - h->addr >= h->size && !memory_span(x->mem, from, &x->hint.data))
        return false;
    return h->size - (from - h->addr) >= n;
}

/* The address of a lane, of 64 bits. */
static inline uint64_t wide_address(const struct xinst *i, const uint32_t *lo, const uint32_t *hi,
                                    uint32_t lane) {
    return ((uint64_t)hi[lane] << 32 | lo[lane]) + (uint64_t)(int64_t)i->in->imm;
}

/* Base and offsets of lanes that point to one piece of memory, wherever. */
static APART bool is_near(struct exec *x, const struct warp *w, const struct xinst *i, uint32_t m,
                          const uint32_t *lo, const uint32_t *hi, struct spot *p) {
    uint32_t imm = (uint32_t)i->in->imm, bytes = i->bytes;
    p->shape = LANES_NEAR;
    p->at = 0;
    if (i->shared) {
        uint32_t size = w->cta->shared_bytes;
        return size >= bytes && lane_memory.offsets32(p->off, lo, imm, m, size - bytes, bytes);
    }
    uint32_t l = first_lane(m);
    uint64_t a0 = hi ? wide_address(i, lo, hi, l) : (uint64_t)WINDOW_HI << 32 | (uint32_t)(lo[l] + imm);
    const struct mem_span *h = &x->hint.data;
    if (a0 - h->addr >= h->size && !memory_span(x->mem, a0, &x->hint.data))
        return false;
    if (h->size < bytes || (h->addr & (bytes - 1)))
        return false;
    uint64_t span = h->size - bytes;
    uint32_t limit = span > UINT32_MAX ? UINT32_MAX : (uint32_t)span;
    p->at = h->addr;
    return hi ? lane_memory.offsets64(p->off, lo, hi, (uint64_t)(int64_t)i->in->imm - h->addr, m, limit,
                                      bytes)
              : lane_memory.offsets32(p->off, lo, imm - (uint32_t)h->addr, m, limit, bytes);
}

/* Lanes whose places have a shape. */
static EVERY_TIME bool is_shape(struct exec *x, const struct warp *w, const struct xinst *i, uint32_t m,
                                const uint32_t *lo, const uint32_t *hi, struct spot *p) {
    enum lane_shape shape = lane_memory.shape(lo, hi, m);
    if (shape == LANES_ANY)
        return false;
    uint32_t first = first_lane(m), n = i->bytes, before = 0;
    uint64_t at = hi ? wide_address(i, lo, hi, first) : lo[first] + (uint32_t)i->in->imm;
    if (at & (n - 1))
        return false;
    if (shape == LANES_ROW) {
        if (n != 4)
            return false;
        before = 4 * first;
        n = 4 * (WARP_LANES - (uint32_t)__builtin_clz(m)) - before;
    }
    p->shape = shape;
    p->at = at - before;
    return is_there(x, w, i, at, n);
}

EVERY_TIME bool exec_spot(struct exec *x, const struct warp *w, const struct xinst *i, uint32_t m,
                          struct spot *p) {
    const uint32_t *lo = src_lanes(x, w, i->s[0]), *hi = i->wide ? src_lanes(x, w, i->s[1]) : NULL;
    if (i->kind == X_STORE && __builtin_expect(x->mem->read_only, 0))
        return false;
    return (i->shaped && is_shape(x, w, i, m, lo, hi, p)) || is_near(x, w, i, m, lo, hi, p);
}

/* The words of a load from base + off into the destination registers. */
static void load_near(struct warp *w, const struct xinst *i, uint32_t m, const uint8_t *base,
                      const uint32_t *off) {
    for (uint32_t k = 0; k < i->ndw; k++)
        lane_memory.gather(w->r[i->d + k], base + i->step * k, off, m, i->step, i->in->m.sgn);
}

static EVERY_TIME void load_at(struct warp *w, const struct xinst *i, uint32_t m, uintptr_t at,
                               const struct spot *p) {
    if (p->shape == LANES_NEAR)
        load_near(w, i, m, (const uint8_t *)at, p->off);
    else if (p->shape == LANES_ROW && i->ndw)
        lane_memory.load_row(w->r[i->d], at, m);
    else
        for (uint32_t k = 0; k < i->ndw; k++)
            lane_fill(w->r[i->d + k], ((const word *)at)[k], m);
}

/* stored: the words to store; NULL: they are in their registers. */
static EVERY_TIME void store_at(const struct exec *x, const struct warp *w, const struct xinst *i, uint32_t m,
                                uintptr_t at, const struct spot *p, const uint32_t (*stored)[WARP_LANES]) {
    for (uint32_t k = 0; k < i->words; k++) {
        const uint32_t *s = stored ? stored[k] : src_lanes(x, w, i->s[i->first[1] + k]);
        if (p->shape == LANES_NEAR)
            lane_memory.scatter((uint8_t *)at + i->step * k, p->off, s, m, i->step);
        else if (p->shape == LANES_ROW)
            lane_memory.store_row(at, s, m);
        else
            ((word *)at)[k] = s[31 - __builtin_clz(m)]; /* what the last lane stores stays */
    }
}

EVERY_TIME void exec_at_spot(const struct exec *x, struct warp *w, const struct xinst *i, uint32_t m,
                             const struct spot *p, const uint32_t (*stored)[WARP_LANES]) {
    uintptr_t at = (uintptr_t)p->at + (i->shared ? (uintptr_t)w->cta->shared : 0);
    if (i->kind == X_LOAD)
        load_at(w, i, m, at, p);
    else
        store_at(x, w, i, m, at, p, stored);
}

bool exec_load(struct exec *x, struct warp *w, const struct xinst *i, uint32_t m) {
    const struct imods *q = &i->in->m;
    _Alignas(64) uint32_t off[WARP_LANES];
    struct spot p = {.off = off};
    if (i->spots && exec_spot(x, w, i, m, &p)) {
        exec_at_spot(x, w, i, m, &p, NULL);
        return true;
    }
    struct target t;
    if (!resolve(x, w, i, m, i->bytes, &t))
        return false;
    _Alignas(64) uint32_t tmp[WARP_LANES];
    for (uint32_t k = 0; k < i->ndw; k++) {
        uint32_t *d = w->r[i->d + k];
        if (t.local == m) {
            gather_local(w, d, t.at, m, k, q->size, q->sgn);
        } else if (m == 0xffffffffu && !t.local) {
            gather(d, t.at, k, q->size, q->sgn);
        } else {
            uint32_t plain = m & ~t.local;
            uint64_t a[WARP_LANES], safe = t.at[first_lane(plain)];
            for (int l = 0; l < WARP_LANES; l++)
                a[l] = plain >> l & 1 ? t.at[l] : safe;
            gather(tmp, a, k, q->size, q->sgn);
            lane_blend(d, tmp, plain);
            gather_local(w, d, t.at, t.local, k, q->size, q->sgn);
        }
    }
    return true;
}

bool exec_may_write(struct exec *x, struct warp *w, const struct xinst *i, uint32_t m) {
    uint64_t a[WARP_LANES];
    uint32_t space = i->in->m.space;
    if (space != MS_GLOBAL && space != MS_GENERIC)
        return true;
    exec_addresses(x, w, i, m, a);
    for (uint32_t left = m; left; left &= left - 1) {
        uint32_t l = first_lane(left);
        const struct rp_alloc *at = memory_find(x->mem, a[l]);
        if (at && at->read_only)
            return exec_fault(x, w, i, RP_ILLEGAL_ADDRESS, l, a[l], i->in->m.size, MS_GLOBAL);
    }
    return true;
}

bool exec_store(struct exec *x, struct warp *w, const struct xinst *i, uint32_t m) {
    if (x->mem->read_only && !exec_may_write(x, w, i, m))
        return false;
    _Alignas(64) uint32_t off[WARP_LANES];
    struct spot p = {.off = off};
    if (i->spots && exec_spot(x, w, i, m, &p)) {
        exec_at_spot(x, w, i, m, &p, NULL);
        return true;
    }
    struct target t;
    if (!resolve(x, w, i, m, i->bytes, &t))
        return false;
    for (uint32_t k = 0; k < i->words; k++) {
        const uint32_t *s = src_lanes(x, w, i->s[i->first[1] + k]);
        if (t.local == 0xffffffffu && i->step == 4 && same_everywhere(t.at)) {
            memcpy(local_byte(w, t.at[0] + 4 * k, 0), s, 4 * WARP_LANES);
            continue;
        }
        for (uint32_t l = 0; l < WARP_LANES; l++) {
            if (!(m >> l & 1))
                continue;
            uint8_t *at = t.local >> l & 1 ? local_byte(w, t.at[l] + i->step * k, l)
                                           : (uint8_t *)(uintptr_t)(t.at[l] + i->step * k);
            memcpy(at, &s[l], i->step);
        }
    }
    return true;
}

uint32_t exec_silent(struct exec *x, struct warp *w, const struct xinst *i, uint32_t m) {
    uint32_t words = i->words, step = i->step, silent = m;
    struct target t;
    if (!resolve(x, w, i, m, i->bytes, &t))
        return 0;
    for (uint32_t k = 0; k < words && silent; k++) {
        const uint32_t *s = src_lanes(x, w, i->s[i->first[1] + k]);
        for (uint32_t left = silent; left; left &= left - 1) {
            uint32_t l = first_lane(left);
            const uint8_t *at = t.local >> l & 1 ? local_byte(w, t.at[l] + step * k, l)
                                                 : (const uint8_t *)(uintptr_t)(t.at[l] + step * k);
            if (memcmp(at, &s[l], step))
                silent &= ~(1u << l);
        }
    }
    return silent;
}

bool exec_ldc(struct exec *x, struct warp *w, const struct xinst *i, uint32_t m) {
    const struct imods *q = &i->in->m;
    uint32_t bytes = i->bytes, step = i->step, limit = x->bank_bytes[q->mode];
    const uint32_t *base = src_lanes(x, w, i->s[0]);
    _Alignas(64) uint32_t off[WARP_LANES];
    if (limit >= bytes && lane_memory.offsets32(off, base, (uint32_t)i->in->imm, m, limit - bytes, bytes)) {
        load_near(w, i, m, x->bank[q->mode], off);
        return true;
    }
    for (uint32_t l = 0; l < WARP_LANES; l++) {
        if (!(m >> l & 1))
            continue;
        uint32_t a = base[l] + (uint32_t)i->in->imm;
        if (a & (bytes - 1))
            return exec_fault(x, w, i, RP_MISALIGNED, l, a, bytes, MS_CONST);
        if (a > limit || limit - a < bytes)
            return exec_fault(x, w, i, RP_ILLEGAL_ADDRESS, l, a, bytes, MS_CONST);
        for (uint32_t k = 0; k < i->ndw; k++) {
            uint32_t v = 0;
            memcpy(&v, x->bank[q->mode] + a + step * k, step);
            w->r[i->d + k][l] = extend(v, q->size, q->sgn);
        }
    }
    return true;
}

/* Lane l's place of an atomic or similar access, as a host pointer to bytes contiguous bytes. Lanes that
 * touch their local memory are given in local, with offsets instead; without local that is a fault. */
bool exec_resolve(struct exec *x, struct warp *w, const struct xinst *i, uint32_t m, uint32_t bytes,
                  uint64_t *at, uint32_t *local) {
    struct target t;
    if (!resolve(x, w, i, m, bytes, &t))
        return false;
    if (t.local && !local)
        return exec_fault(x, w, i, RP_ADDRESS_SPACE, first_lane(t.local), t.at[first_lane(t.local)], bytes,
                          MS_LOCAL);
    if (local)
        *local = t.local;
    memcpy(at, t.at, sizeof t.at);
    return true;
}

void *exec_local(const struct warp *w, uint64_t at, uint32_t lane) {
    return local_byte(w, at, lane);
}

/* Copies as many bytes as source 2 says between global and shared memory. */
static bool bulk_copy(struct exec *x, struct warp *w, const struct xinst *i, uint32_t m) {
    uint64_t at[WARP_LANES];
    addresses(x, w, i, 1, 0, m, at);
    const uint32_t *base = src_lanes(x, w, i->s[0]), *size = src_lanes(x, w, i->s[i->first[2]]);
    for (uint32_t l = 0; l < WARP_LANES; l++) {
        if (!(m >> l & 1))
            continue;
        uint32_t shared = base[l] + (uint32_t)i->in->imm, n = size[l];
        uint8_t *inside = cluster_shared(w->cta, shared, n);
        if (shared % 16 || at[l] % 16 || n % 16)
            return exec_fault(x, w, i, RP_MISALIGNED, l, shared % 16 ? shared : at[l], 16,
                              shared % 16 ? MS_SHARED : MS_GLOBAL);
        if (!inside)
            return exec_fault(x, w, i, RP_SHARED_RANGE, l, shared, n, MS_SHARED);
        uint8_t *global = n ? exec_global(x, at[l], n) : inside;
        if (!global)
            return exec_fault(x, w, i, RP_ILLEGAL_ADDRESS, l, at[l], n, MS_GLOBAL);
        if (i->in->m.mode == LDGSTS_BULK_OUT)
            memcpy(global, inside, n);
        else
            memcpy(inside, global, n);
    }
    return true;
}

bool exec_ldgsts(struct exec *x, struct warp *w, const struct xinst *i, uint32_t m) {
    if (i->in->m.mode != LDGSTS_PLAIN)
        return bulk_copy(x, w, i, m);
    uint32_t bytes = i->in->m.size;
    struct target from, to;
    addresses(x, w, i, 1, 0, m, from.at);
    from.local = to.local = 0;
    if (!to_generic(x, w, i, m, &from, bytes))
        return false;
    const uint32_t *lo = src_lanes(x, w, i->s[0]);
    uint32_t safe = lo[first_lane(m)];
    for (uint32_t l = 0; l < WARP_LANES; l++)
        to.at[l] = (uint32_t)((m >> l & 1 ? lo[l] : safe) + (uint32_t)i->in->imm);
    if (!to_shared(x, w, i, m, &to, bytes))
        return false;
    const uint32_t *taken = i->in->nsrc > 2 ? src_lanes(x, w, i->s[i->first[2]]) : NULL;
    for (uint32_t l = 0; l < WARP_LANES; l++) {
        if (!(m >> l & 1))
            continue;
        uint32_t n = taken && taken[l] < bytes ? taken[l] : bytes;
        uint8_t v[16] = {0};
        memcpy(v, (const void *)(uintptr_t)from.at[l], n);
        memcpy((void *)(uintptr_t)to.at[l], v, bytes);
    }
    return true;
}

void touch_find_blocks(const struct warp *w, struct touch *t) {
    const struct cta *c = w->cta;
    memset(t->rank, (int)c->rank, sizeof t->rank);
    for (uint32_t left = c->shared_bytes <= SHARED_SLICE ? t->shared : 0; left; left &= left - 1) {
        uint32_t l = first_lane(left);
        uint64_t slice = t->at[l] / SHARED_SLICE;
        if (!slice || slice > c->cluster->n) /* its own, or nobody's */
            continue;
        t->rank[l] = (uint8_t)(slice - 1);
        t->at[l] %= SHARED_SLICE;
    }
}

void exec_touch(const struct exec *x, const struct warp *w, const struct xinst *i, uint32_t s, int64_t imm,
                uint32_t m, struct touch *t) {
    uint32_t space = i->in->m.space;
    addresses(x, w, i, s, imm, m, t->at);
    t->bytes = i->bytes;
    t->shared = space == MS_SHARED ? m : 0;
    t->local = space == MS_LOCAL ? m : 0;
    for (uint32_t l = 0; space == MS_GENERIC && l < WARP_LANES; l++) {
        bool shared = in_window(t->at[l], SHARED_WINDOW, LOCAL_WINDOW),
             local = in_window(t->at[l], LOCAL_WINDOW, LOCAL_END);
        t->shared |= (uint32_t)shared << l & m;
        t->local |= (uint32_t)local << l & m;
        t->at[l] -= shared || local ? (uint64_t)WINDOW_HI << 32 | (shared ? SHARED_WINDOW : LOCAL_WINDOW) : 0;
    }
    t->global = m & ~t->shared & ~t->local;
    touch_find_blocks(w, t);
}

bool exec_isspace(struct exec *x, struct warp *w, const struct xinst *i, uint32_t m) {
    const uint32_t *lo = src_lanes(x, w, i->s[0]), *hi = i->in->m.a64 ? src_lanes(x, w, i->s[1]) : NULL;
    uint32_t p = 0;
    for (uint32_t l = 0; l < WARP_LANES; l++) {
        uint64_t a = (uint64_t)(hi ? hi[l] : WINDOW_HI) << 32 | lo[l];
        bool shared = in_window(a, SHARED_WINDOW, LOCAL_WINDOW),
             local = in_window(a, LOCAL_WINDOW, LOCAL_END);
        uint32_t slice = ((uint32_t)a - SHARED_WINDOW) / SHARED_SLICE;
        if (i->in->m.mode == ISSPACE_OWN && i->in->m.space == MS_SHARED && w->cta->cluster->n > 1)
            shared = shared && (!slice || slice - 1 == w->cta->rank);
        uint64_t cbase = 0;
        memcpy(&cbase, x->bank[BANK_SYMBOL] + SYMBOL_CONST_BASE, 8);
        bool cst = x->bank_bytes[BANK_CONST] && a - cbase < x->bank_bytes[BANK_CONST];
        bool is = i->in->m.space == MS_SHARED  ? shared
                  : i->in->m.space == MS_LOCAL ? local
                  : i->in->m.space == MS_CONST ? cst
                                               : !shared && !local && !cst;
        p |= (uint32_t)is << l;
    }
    if (i->pd[0] != PRED_PT)
        w->p[i->pd[0]] = (w->p[i->pd[0]] & ~m) | (p & m);
    return true;
}
