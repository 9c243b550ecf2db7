/* Windows of blocks. What a block touches is seen as the sanitizers see it (watch.h), in lines of 128 bytes.
 */
#include "exec/ahead.h"

#include <assert.h>
#include <string.h>

#include "exec/later.h"
#include "exec/watch.h"

enum {
    LINE_BITS = 7,
    SLOTS = 16384,       /* of a set of lines; a power of two */
    MOST_LINES = 12288,  /* in it: a block that touches more is not worth following */
    LOG_BYTES = 1 << 20, /* of what a block keeps */
};

/* Numbers of lines, plus 1, by their hash; 0: the slot is free. */
struct lines {
    uint64_t *slot;
    uint32_t *used, n; /* slots that are not */
};

/* A block of a window. The watch is first, so that it leads here. */
struct follower {
    struct watch watch;
    struct exec x;
    struct cluster *block;
    struct later kept;
    struct lines reads, writes;
    bool failed; /* it did what cannot be kept */
};

struct ahead {
    struct exec *x;
    uint64_t first;
    struct lines written; /* by the blocks of the window that have been settled */
    struct arena arena;
    struct follower block[AHEAD_BLOCKS];
};

/* ---- sets of lines ----------------------------------------------------------------------------------- */

static void lines_init(struct lines *s, struct arena *a) {
    s->slot = arena_array(a, uint64_t, SLOTS);
    s->used = arena_array(a, uint32_t, MOST_LINES);
}

static void lines_clear(struct lines *s) {
    for (; s->n; s->n--)
        s->slot[s->used[s->n - 1]] = 0;
}

/* Where a line is, or would be. */
static uint32_t lines_find(const struct lines *s, uint64_t key) {
    uint32_t at = (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 40) % SLOTS;
    while (s->slot[at] && s->slot[at] != key)
        at = (at + 1) % SLOTS;
    return at;
}

static bool lines_has(const struct lines *s, uint64_t key) {
    return s->n && s->slot[lines_find(s, key)];
}

/* False when there is no room. */
static bool lines_add(struct lines *s, uint64_t key) {
    uint32_t at = lines_find(s, key);
    if (s->slot[at])
        return true;
    if (s->n == MOST_LINES)
        return false;
    s->slot[at] = key;
    s->used[s->n++] = at;
    return true;
}

/* ---- what a block does ------------------------------------------------------------------------------- */

/* Whether all lanes touch one line, as they mostly do. */
static bool is_one_line(const uint64_t *a) {
    uint64_t differ = 0;
    for (uint32_t l = 0; l < WARP_LANES; l++)
        differ |= a[l] ^ a[0];
    return !(differ >> LINE_BITS);
}

/* Lanes m read global memory. What the block itself has kept of a line is not there. */
static bool note_reads(struct follower *f, const struct warp *w, const struct xinst *i, uint32_t m) {
    uint64_t a[WARP_LANES], last = 0;
    exec_addresses(&f->x, w, i, m, a);
    uint32_t lanes = is_one_line(a) ? 1 : WARP_LANES;
    for (uint32_t l = 0; l < lanes; l++) {
        uint64_t key = (a[l] >> LINE_BITS) + 1;
        if (key == last)
            continue;
        if (lines_has(&f->writes, key) || !lines_add(&f->reads, key))
            return false;
        last = key;
    }
    return true;
}

/* Are constants that the launch reads in a line? */
static bool is_constant(const struct exec *x, uint64_t line) {
    for (uint32_t b = 0; b < BANK_COUNT; b++)
        if (line + (1 << LINE_BITS) > (uintptr_t)x->bank[b] &&
            line < (uintptr_t)x->bank[b] + x->bank_bytes[b])
            return true;
    return false;
}

/* Lanes m write to global memory, or would: the access is kept, if it will not fault. */
static bool keep_writes(struct follower *f, struct warp *w, const struct xinst *i, uint32_t m) {
    uint64_t a[WARP_LANES];
    const struct imods *q = &i->in->m;
    uint32_t local, bytes = (uint32_t)q->size * q->vec;
    size_t most = sizeof(struct later_access) + i->nsw * (size_t)WARP_LANES * 4;
    if (i->ndw || i->pd[0] != PRED_PT || f->kept.end + most > f->kept.size ||
        (f->x.mem->read_only && !exec_may_write(&f->x, w, i, m)) ||
        !exec_resolve(&f->x, w, i, m, bytes, a, &local))
        return false;
    uint64_t last = 0;
    for (uint32_t left = is_one_line(a) ? m & -m : m; left; left &= left - 1) {
        uint64_t key = (a[__builtin_ctz(left)] >> LINE_BITS) + 1;
        if (key != last && (is_constant(&f->x, (key - 1) << LINE_BITS) || !lines_add(&f->writes, key)))
            return false;
        last = key;
    }
    later_add(&f->kept, &f->x, w, i, m, &(struct spot){.shape = LANES_ANY}, 0, 0);
    return true;
}

static uint32_t access(struct watch *watch, struct exec *x, struct warp *w, const struct xinst *i,
                       uint32_t m) {
    struct follower *f = (struct follower *)watch;
    uint32_t global = later_can(i) ? later_lanes(x, w, i, m) : 0;
    if (!global || f->failed)
        return m & ~global;
    if (i->kind == X_LOAD) {
        f->failed = !note_reads(f, w, i, global);
        return m;
    }
    f->failed = !keep_writes(f, w, i, global);
    return m & ~global;
}

/* ---- what does not matter ---- */
static void accessed(struct watch *s, struct exec *x, struct warp *w, const struct xinst *i, uint32_t m) {
    (void)s, (void)x, (void)w, (void)i, (void)m;
}

static void arrive(struct watch *s, struct warp *w, const struct xinst *i, uint32_t id, uint32_t want,
                   uint32_t m) {
    (void)s, (void)w, (void)i, (void)id, (void)want, (void)m;
}

static void open(struct watch *s, struct cta *c, uint32_t id) {
    (void)s, (void)c, (void)id;
}

static void cluster_open(struct watch *s, struct cluster *k) {
    (void)s, (void)k;
}

static void cluster_pass(struct watch *s, struct warp *w, uint32_t m) {
    (void)s, (void)w, (void)m;
}

static void begin_or_end(struct watch *s, struct cta *c) {
    (void)s, (void)c;
}

static const struct watch follow = {
    .access = access,
    .accessed = accessed,
    .fence = accessed,
    .together = accessed,
    .arrive = arrive,
    .open = open,
    .cluster_open = cluster_open,
    .cluster_pass = cluster_pass,
    .begin = begin_or_end,
    .end = begin_or_end,
};

/* ---- windows ----------------------------------------------------------------------------------------- */

/* An instruction whose effect neither is the block's own affair nor can be followed. */
static bool is_strange(const struct xinst *i) {
    uint16_t r = i->in->m.mode;
    bool time = r == SR_CLOCK_LO || r == SR_CLOCK_HI || r == SR_GLOBALTIMER_LO || r == SR_GLOBALTIMER_HI;
    return i->kind == X_TEX || (i->kind == X_S2R && time);
}

static bool suits(const struct exec *x) {
    if (x->watch || x->observer || x->cluster[0] * x->cluster[1] * x->cluster[2] > 1)
        return false;
    for (uint32_t c = 0; c < x->img->ncode; c++)
        if (is_strange(&x->img->code[c]))
            return false;
    return later_suits(x->img);
}

struct ahead *ahead_create(void) {
    struct ahead *a = xcalloc(1, sizeof *a);
    lines_init(&a->written, &a->arena);
    for (uint32_t k = 0; k < AHEAD_BLOCKS; k++) {
        struct follower *f = &a->block[k];
        f->watch = follow;
        f->kept = (struct later){.at = arena_alloc(&a->arena, LOG_BYTES), .size = LOG_BYTES};
        lines_init(&f->reads, &a->arena);
        lines_init(&f->writes, &a->arena);
    }
    return a;
}

void ahead_free(struct ahead *a) {
    if (!a)
        return;
    arena_free(&a->arena);
    free(a);
}

bool ahead_open(struct ahead *a, struct exec *x) {
    if (!suits(x))
        return false;
    a->x = x;
    for (uint32_t k = 0; k < AHEAD_BLOCKS; k++) {
        struct follower *f = &a->block[k];
        f->x = *x;
        f->x.watch = &f->watch;
        f->x.pause = NULL;
        f->x.watchdog = 0;
        f->x.executed = xcalloc(x->img->ncode + 1u, sizeof *f->x.executed);
        f->block = cluster_create(&f->x);
    }
    return true;
}

void ahead_close(struct ahead *a) {
    for (uint32_t k = 0; k < AHEAD_BLOCKS; k++) {
        cluster_free(a->block[k].block);
        free(a->block[k].x.executed);
    }
}

void ahead_begin(struct ahead *a, uint64_t first) {
    a->first = first;
    lines_clear(&a->written);
}

void ahead_run(void *ctx, uint32_t k) {
    struct ahead *a = ctx;
    struct follower *f = &a->block[k];
    struct exec *x = &f->x;
    x->hint = (struct mem_hints){0}; /* what is mapped may have changed */
    x->warp_insts = x->thread_insts = x->divergent = x->waited = 0;
    memset(x->executed, 0, x->img->ncode * sizeof *x->executed);
    f->kept.first = f->kept.end = 0;
    lines_clear(&f->reads);
    lines_clear(&f->writes);
    f->failed = false;
    cluster_start(f->block, a->first + k);
    f->failed |= !cta_run_to_end(f->block->ctas[0], &f->failed);
}

/* Was anything that the block has read written by one before it? */
static bool is_stale(const struct ahead *a, const struct follower *f) {
    for (uint32_t k = 0; a->written.n && k < f->reads.n; k++)
        if (lines_has(&a->written, f->reads.slot[f->reads.used[k]]))
            return true;
    return false;
}

/* What the block kept takes effect, and what it counted counts. False: the next in the window must not be
 * settled. */
static bool settle(struct ahead *a, struct follower *f) {
    struct exec *x = a->x;
    bool room = true;
    while (later_first(&f->kept)) {
        bool ok = later_finish(&f->kept, x);
        assert(ok);
        (void)ok;
    }
    for (uint32_t k = 0; k < f->writes.n; k++)
        room &= lines_add(&a->written, f->writes.slot[f->writes.used[k]]);
    x->warp_insts += f->x.warp_insts;
    x->thread_insts += f->x.thread_insts;
    x->divergent += f->x.divergent;
    x->waited += f->x.waited;
    for (uint32_t c = 0; c < x->img->ncode; c++)
        x->executed[c] += f->x.executed[c];
    return room;
}

uint32_t ahead_settle(struct ahead *a, uint32_t n) {
    for (uint32_t k = 0; k < n; k++) {
        struct follower *f = &a->block[k];
        if (f->failed || is_stale(a, f))
            return k;
        if (!settle(a, f))
            return k + 1;
    }
    return n;
}
