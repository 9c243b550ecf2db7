/* Accesses that are kept, and carried out with the operands of the time at which they issued. */
#include "exec/later.h"

#include <assert.h>
#include <string.h>

#include "base/often.h"
#include "exec/lanes.h"

enum { WORD_BYTES = WARP_LANES * 4 };

/* An instruction that may touch what SMs share, and cannot be carried out later. */
static bool is_urgent(const struct xinst *i) {
    bool shared = i->kind == X_MBAR || i->kind == X_LDSM || i->kind == X_STSM;
    return i->kind == X_SYSCALL || i->kind == X_LDGSTS || (shared && i->in->m.space != MS_SHARED);
}

bool later_suits(const struct image *img) {
    for (uint32_t c = 0; c < img->ncode; c++)
        if (is_urgent(&img->code[c]))
            return false;
    for (uint32_t s = 0; s < img->nstreams; s++)
        for (uint32_t c = 0; c < img->streams[s]->ncode; c++)
            if (is_urgent(&img->streams[s]->code[c]) || later_can(&img->streams[s]->code[c]))
                return false;
    return true;
}

size_t later_bytes(const struct image *img, uint32_t accesses) {
    uint32_t words = 0;
    for (uint32_t c = 0; c < img->ncode; c++)
        if (later_can(&img->code[c]) && img->code[c].nsw > words)
            words = img->code[c].nsw;
    return accesses * (sizeof(struct later_access) + words * (size_t)WORD_BYTES);
}

uint32_t later_lanes(const struct exec *x, const struct warp *w, const struct xinst *i, uint32_t m) {
    uint64_t a[WARP_LANES];
    if (i->kind == X_TEX || i->in->m.space == MS_GLOBAL)
        return m;
    if (i->in->m.space == MS_SHARED || i->in->m.space == MS_LOCAL)
        return 0;
    exec_addresses(x, w, i, m, a);
    uint32_t own = 0;
    for (uint32_t l = 0; l < WARP_LANES; l++)
        own |= (uint32_t)(a[l] - ((uint64_t)WINDOW_HI << 32 | SHARED_WINDOW) < LOCAL_END - SHARED_WINDOW)
               << l;
    return m & ~own;
}

/* Whether source word k is to be kept: what it has may be something else later. */
static bool keeps(const struct xinst *i, uint32_t k) {
    return i->s[k] & POOL ? i->taken : i->s[k] - i->d >= i->ndw;
}

/* Where it is. */
static uint32_t *row_of(const struct exec *x, const struct later_access *a, uint32_t k) {
    uint32_t s = a->i->s[k];
    return s & POOL ? x->pool[s & ~POOL] : a->w->r[s];
}

/* Whether it is a register that the result replaces. */
static bool loses(const struct xinst *i, uint32_t k) {
    return !(i->s[k] & POOL) && i->s[k] - i->d < i->ndw;
}

static uint8_t *word_of(struct later_access *a, uint32_t n) {
    return (uint8_t *)(a + 1) + (size_t)n * WORD_BYTES;
}

static size_t bytes_of(const struct later_access *a) {
    return sizeof *a + (a->words + a->lost) * (size_t)WORD_BYTES;
}

/* Bytes that an access takes at most. */
static size_t most_bytes(const struct xinst *i) {
    return sizeof(struct later_access) + i->nsw * (size_t)WORD_BYTES;
}

/* Where lanes point, and the words that a store writes. */
static void keep_spot(struct later_access *a, const struct exec *x, const struct spot *p) {
    if (p->shape == LANES_NEAR)
        memcpy(word_of(a, a->words++), p->off, WORD_BYTES);
    for (uint32_t k = a->i->first[1]; a->i->kind == X_STORE && k < a->i->nsw; k++)
        memcpy(word_of(a, a->words++), src_lanes(x, a->w, a->i->s[k]), WORD_BYTES);
}

/* The words that an access reads. */
static void keep_words(struct later_access *a, const struct exec *x) {
    const struct xinst *i = a->i;
    for (uint32_t k = 0; k < i->nsw; k++)
        if (keeps(i, k))
            memcpy(word_of(a, a->words++), row_of(x, a, k), WORD_BYTES);
    for (uint32_t k = 0; k < i->nsw; k++)
        if (loses(i, k))
            memcpy(word_of(a, a->words + a->lost++), row_of(x, a, k), WORD_BYTES);
}

/* Room for an access of so many bytes at most. */
static EVERY_TIME struct later_access *later_room(struct later *l, size_t bytes) {
    if (l->end + bytes > l->size) { /* what has been carried out makes room */
        memmove(l->at, l->at + l->first, l->end - l->first);
        l->end -= l->first;
        l->first = 0;
        assert(l->end + bytes <= l->size);
    }
    l->last = l->end;
    l->last_reads = l->touched[LATER_READS].n;
    l->due++;
    return (struct later_access *)(void *)(l->at + l->end);
}

EVERY_TIME void later_add(struct later *l, const struct exec *x, struct warp *w, const struct xinst *i,
                          uint32_t m, const struct spot *p, uint64_t cycle, int32_t tag) {
    struct later_access *a = later_room(l, most_bytes(i));
    *a = (struct later_access){
        .w = w, .i = i, .cycle = cycle, .at = p->at, .m = m, .tag = tag, .shape = (uint8_t)p->shape};
    if (p->shape != LANES_ANY)
        keep_spot(a, x, p);
    else
        keep_words(a, x);
    l->end += bytes_of(a);
}

static struct later_access *last_access(const struct later *l) {
    return (struct later_access *)(void *)(l->at + l->last);
}

static bool is_read(const struct xinst *i) {
    return i->kind == X_LOAD || (i->kind == X_TEX && i->ndw);
}

static uint16_t line_number(uint64_t line) {
    return (uint16_t)((line >> 7) * UINT64_C(0x9e3779b97f4a7c15) >> 48);
}

EVERY_TIME void later_touches(struct later *l, uint64_t line, bool any) {
    uint32_t how = is_read(last_access(l)->i) ? LATER_READS : LATER_WRITES;
    struct later_count *c = &l->touched[how];
    if (any || c->n == LATER_LINES)
        c->all = true;
    else
        l->line[how][c->n++] = line_number(line);
}

/* May an access that was not carried out write to a line that the load noted last reads? */
static bool writes_before(const struct later *l) {
    const struct later_count *r = &l->touched[LATER_READS], *w = &l->touched[LATER_WRITES];
    if (w->all || (r->all && w->n))
        return true;
    for (uint32_t k = 0; k < w->n; k++)
        for (uint32_t n = l->last_reads; n < r->n; n++)
            if (l->line[LATER_WRITES][k] == l->line[LATER_READS][n])
                return true;
    return false;
}

/* Carries out an access whose registers have what they had when it was noted. */
static bool carry_out(struct later_access *a, struct exec *x) {
    if (a->shape == LANES_ANY)
        return exec_simple(x, a->w, a->i, a->m);
    uint32_t(*kept)[WARP_LANES] = (void *)word_of(a, 0);
    const struct spot p = {.shape = (enum lane_shape)a->shape, .at = a->at, .off = kept[0]};
    exec_at_spot(x, a->w, a->i, a->m, &p, (const uint32_t(*)[WARP_LANES])(kept + (a->shape == LANES_NEAR)));
    return true;
}

EVERY_TIME void later_guess(struct later *l, struct exec *x) {
    struct later_access *a = last_access(l);
    const struct xinst *i = a->i;
    if (!is_read(i) || writes_before(l))
        return;
    if (carry_out(a, x)) {
        a->guessed = true;
        l->due--;
    } else { /* it ends the launch in its turn, if another does not before */
        x->fault = (struct fault){0};
    }
}

void later_note(struct later *l, uint64_t line, uint64_t cycle, int32_t tag) {
    static const struct xinst reads = {.kind = X_LOAD};
    struct later_access *a = later_room(l, sizeof *a);
    *a = (struct later_access){.i = &reads, .cycle = cycle, .tag = tag};
    l->end += sizeof *a;
    later_touches(l, line, false);
    a->guessed = !writes_before(l);
    l->due -= a->guessed;
}

struct later_access *later_find(const struct later *l, int32_t tag) {
    for (size_t at = l->first; at < l->end;) {
        struct later_access *a = (struct later_access *)(void *)(l->at + at);
        if (a->tag == tag && a->i->ndw && !a->given)
            return a;
        at += bytes_of(a);
    }
    return NULL;
}

/* The oldest access is no longer among those that are kept, but stays where it is for now. */
static struct later_access *take(struct later *l) {
    struct later_access *a = later_first(l);
    l->first += bytes_of(a);
    l->due -= !a->guessed;
    if (l->first == l->end) {
        l->first = l->end = 0;
        l->touched[LATER_READS] = l->touched[LATER_WRITES] = (struct later_count){0};
    }
    return a;
}

void later_drop(struct later *l) {
    take(l);
}

/* The source words that were kept are where they were again; lost: those that the result replaced, too. */
static void bring_back(struct later_access *a, const struct exec *x, bool lost) {
    uint32_t n = 0;
    if (a->shape != LANES_ANY)
        return;
    for (uint32_t k = 0; k < a->i->nsw; k++)
        if (keeps(a->i, k))
            memcpy(row_of(x, a, k), word_of(a, n++), WORD_BYTES);
    for (uint32_t k = 0; lost && k < a->i->nsw; k++)
        if (loses(a->i, k))
            memcpy(row_of(x, a, k), word_of(a, n++), WORD_BYTES);
}

bool later_finish(struct later *l, struct exec *x) {
    struct later_access *a = take(l);
    bring_back(a, x, false);
    return carry_out(a, x);
}

/* What is now where words come back to. */
static void put_aside(const struct later_access *a, const struct exec *x, uint8_t (*now)[WORD_BYTES]) {
    for (uint32_t k = 0, n = 0; k < a->i->nsw && a->shape == LANES_ANY; k++)
        if (keeps(a->i, k))
            memcpy(now[n++], row_of(x, a, k), WORD_BYTES);
}

/* It is there again. */
static void put_back(const struct later_access *a, const struct exec *x, uint8_t (*now)[WORD_BYTES]) {
    for (uint32_t k = 0, n = 0; k < a->i->nsw && a->shape == LANES_ANY; k++)
        if (keeps(a->i, k))
            memcpy(row_of(x, a, k), now[n++], WORD_BYTES);
}

bool later_run(struct later *l, struct exec *x) {
    _Alignas(64) uint8_t given[WORD_BYTES], now[MAX_SOURCE_WORDS][WORD_BYTES];
    struct later_access *a = take(l);
    if (a->given && a->guessed)
        return true;
    if (a->given)
        memcpy(given, a->w->r[a->i->d], WORD_BYTES);
    put_aside(a, x, now);
    bring_back(a, x, true);
    bool ok = carry_out(a, x);
    for (uint32_t k = 0; a->led && k < a->i->ndw; k++)
        lane_spread(a->w->r[a->i->d + k], a->leader, a->led);
    if (a->given)
        memcpy(a->w->r[a->i->d], given, WORD_BYTES);
    put_back(a, x, now);
    return ok;
}
