/* racecheck: two accesses of different threads to the same memory, one of them a write, must be ordered by
 * synchronisation, or both be strong. Every word (or byte) remembers who wrote and who read it last; an
 * access is compared with them, and with what its thread is ordered behind (race_sync.c).
 *
 * Since Volta the lanes of a warp are threads like others: what one of them writes another may read behind
 * __syncwarp only. In code for earlier targets the lanes of a path run in step, and their instructions are
 * ordered. Threads that write the same value do not race for it. */
#include <inttypes.h>
#include <string.h>

#include "sanitize/race.h"

enum { PC_MOST = (1 << 20) - 1 };

struct racecheck *racecheck_create(struct sanitizer *s) {
    struct racecheck *r = xcalloc(1, sizeof *r);
    r->s = s;
    r->now = 1;
    return r;
}

void racecheck_destroy(struct racecheck *r) {
    if (!r)
        return;
    race_forget(r);
    shadow_free(&r->shadow);
    free(r->line_pc);
    free(r);
}

void racecheck_begin(struct racecheck *r, struct exec *x, bool lockstep) {
    if (r->now > UINT32_MAX / 2) { /* time starts anew, with nothing to remember */
        shadow_free(&r->shadow);
        r->now = 1;
    }
    r->x = x;
    r->lockstep = lockstep;
    r->given_up = false;
    r->begun = 0;
    r->prelude = xcalloc(x->img->ncode + 1u, 1);
    race_tick(r);
    r->start = r->now;
    race_tick(r);
}

void racecheck_end(struct racecheck *r) {
    for (uint32_t i = 0; i < r->s->found.len; i++) {
        struct finding *f = &r->s->found.at[i];
        if (f->before_atomic && r->prelude[f->before_atomic - 1]) {
            finding_drop(r->s, f);
            r->s->races--;
        }
    }
    if (r->given_up)
        str_printf(&r->s->text, "========= racecheck gave up in kernel %s, which synchronises too often\n",
                   r->x->img->prog->name);
    race_forget(r);
    free(r->line_pc);
    r->line_pc = NULL;
    free(r->prelude);
    r->prelude = NULL;
    r->x = NULL;
}

static struct race_block *block_create(struct racecheck *r, const struct cta *c) {
    struct race_block *b = xcalloc(1, sizeof *b);
    uint32_t n = c->nwarps * WARP_LANES;
    b->nthreads = n;
    b->nwarps = c->nwarps;
    for (uint32_t k = 0; k < c->nwarps; k++)
        b->lanes[k] =
            c->nthreads - k * WARP_LANES >= WARP_LANES ? UINT32_MAX : (1u << c->nthreads % WARP_LANES) - 1;
    b->shared = SHARED_PLACE + ((uint64_t)r->slots++ << 32);
    b->base = xcalloc(n, sizeof *b->base);
    b->row = xcalloc(n, sizeof *b->row);
    b->groups = xcalloc(n, sizeof *b->groups);
    b->reads = xcalloc(c->nwarps, sizeof *b->reads);
    for (uint32_t k = 0; k < KNOWN_KINDS; k++)
        b->view[k] = xcalloc(n, sizeof *b->view[k]);
    return b;
}

void racecheck_block(struct racecheck *r, struct cta *c) {
    struct block_state *state = c->watched;
    struct race_block *b = state->race;
    if (b)
        race_block_reset(r, b);
    else
        b = state->race = block_create(r, c);
    b->number = c->number;
    if (c->cluster->n >
        1) /* others of the cluster, which come here as well, know nothing of earlier blocks */
        racecheck_forget(r, b->shared, c->shared_bytes);
    r->begun++;
    race_tick(r);
    for (uint32_t t = 0; t < b->nthreads; t++)
        b->base[t] = r->now;
    for (uint32_t k = 0; k < b->nwarps; k++)
        b->least[k] = r->now;
    race_tick(r);
}

void racecheck_block_end(struct racecheck *r, struct cta *c) {
    struct block_state *state = c->watched;
    struct race_block *b = state->race;
    if (!b)
        return;
    race_block_reset(r, b);
    free(b->base);
    free(b->row);
    free(b->groups);
    free(b->reads);
    for (uint32_t k = 0; k < KNOWN_KINDS; k++)
        free(b->view[k]);
    for (uint32_t k = 0; k < BLOCK_WARPS; k++)
        vec_free(&b->copies[k]);
    vec_free(&b->synced);
    free(b);
    state->race = NULL;
}

/* ---- accesses ---- */

/* Whether two accesses that are not ordered are allowed to be so. */
static bool compatible(const struct racecheck *r, const struct past *p, const struct past *n, bool shared) {
    if (p->pending || n->pending || !p->strong || !n->strong)
        return false;
    if ((p->block_scope || n->block_scope) && (p->block != n->block || p->kind >= PAST_BLOCKS))
        return false;
    /* Volatile accesses are strong, but a warp that relies on their order in shared memory relied on lanes
     * running in step. */
    return !(shared && !r->lockstep && p->mark && n->mark && p->kind == PAST_LANES && p->block == n->block &&
             p->warp == n->warp);
}

/* Whether the thread itself is among those that wrote the same value: it finds what it wrote. */
static bool took_part(const struct who *t, const struct past *p) {
    if (p->strong || !p->mark || p->block != t->b->number)
        return false;
    return p->kind == PAST_LANES ? p->warp == t->warp && p->mask >> t->lane & 1
                                 : p->kind == PAST_WARPS && p->mask >> t->warp & 1;
}

/* An access of a group of lanes to one cell. */
struct step {
    const struct access *a;
    struct race_block *b;
    struct past now;
    bool shared;
    uint32_t lane; /* the group's first */
};

static struct who who(const struct step *y, uint32_t lane) {
    return (struct who){y->b, y->now.warp, lane, y->now.warp * WARP_LANES + lane, NULL};
}

/* Nothing that could race: none, of an earlier launch or block, or behind the warp's last barrier. What
 * another block did to shared memory is over, but for those of a cluster. */
static bool is_old(const struct racecheck *r, const struct step *y, const struct past *p) {
    return p->time <= r->start || (p->block == y->b->number && p->kind < PAST_BLOCKS
                                       ? p->time <= y->b->least[y->now.warp] && !p->pending
                                       : y->shared && y->a->w->cta->cluster->n == 1);
}

/* Compares with a past access; true when there is no race. */
static bool check(struct racecheck *r, const struct step *y, const struct past *p, bool past_write) {
    bool ok = true;
    if (is_old(r, y, p) || compatible(r, p, &y->now, y->shared))
        return true;
    for (uint32_t left = y->now.mask; left; left &= left - 1) {
        struct who t = who(y, (uint32_t)__builtin_ctz(left));
        if (!p->pending && (took_part(&t, p) || race_behind(r, &t, p, past_write)))
            continue;
        race_report(r, y->a, t.lane, p, past_write, &y->now);
        ok = false;
    }
    return ok;
}

static bool settled(const struct racecheck *r, const struct step *y, const struct past *p, bool past_write) {
    struct who t = who(y, y->lane);
    return is_old(r, y, p) || (!p->pending && race_behind(r, &t, p, past_write));
}

/* The same lanes of the same warp, and nobody else. */
static bool is_own(const struct step *y, const struct past *p) {
    return p->block == y->now.block && p->kind == PAST_LANES && p->warp == y->now.warp &&
           p->mask == y->now.mask && !(p->mask & (p->mask - 1)) && !p->pending;
}

static void read_cell(struct racecheck *r, const struct step *y, struct cell *c) {
    if (!is_old(r, y, &c->write) && !is_own(y, &c->write))
        check(r, y, &c->write, true);
    if (is_own(y, &c->read))
        c->read = y->now;
    else if (settled(r, y, &c->read, false))
        race_replace(r, &c->read, &y->now);
    else
        race_merge(r, &c->read, &y->now);
}

/* Whether the store leaves these bytes, from byte at of the access on, as they are. */
static bool same_value(const struct step *y, uint32_t at, uint32_t n) {
    const struct access *a = y->a;
    const struct imods *q = &a->i->in->m;
    uint64_t addr = a->t.at[y->lane] + at;
    uint32_t unit = q->size >= 4 ? 4 : q->size;
    if (a->i->kind != X_STORE || (y->shared && addr + n > a->w->cta->shared_bytes))
        return false;
    const uint8_t *old =
        y->shared ? touch_block(a->w, &a->t, y->lane)->shared + addr : exec_global(a->x, addr, n);
    if (!old)
        return false;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t word = src_lanes(a->x, a->w, a->i->s[a->i->first[1] + (at + k) / unit])[y->lane];
        if (old[k] != (uint8_t)(word >> 8 * ((at + k) % unit)))
            return false;
    }
    return true;
}

/* A thread that reads a place and then accesses it atomically began a loop around compare-and-swap, or asked
 * whether the atomic access was worth while: the read decides nothing that the atomic access does not. */
static void note_preludes(struct racecheck *r, const struct race_block *b, const struct access *a,
                          uint32_t lanes) {
    const struct race_reads *reads = &b->reads[a->w->index];
    for (uint32_t k = 0; k < READS_KEPT; k++)
        for (uint32_t left = reads->last[k].time > b->least[a->w->index] ? lanes & reads->last[k].mask : 0;
             left; left &= left - 1)
            if (reads->last[k].at[__builtin_ctz(left)] == a->t.at[__builtin_ctz(left)])
                r->prelude[reads->last[k].pc] = true;
}

static void keep_reads(const struct racecheck *r, struct race_block *b, const struct access *a,
                       uint32_t lanes) {
    struct race_reads *reads = &b->reads[a->w->index];
    uint32_t k = reads->next++ % READS_KEPT;
    reads->last[k].pc = a->pc;
    reads->last[k].mask = lanes;
    reads->last[k].time = r->now;
    memcpy(reads->last[k].at, a->t.at, sizeof a->t.at);
}

static void write_cell(struct racecheck *r, struct step *y, struct cell *c, uint32_t at, uint32_t n) {
    struct past *w = &c->write;
    if ((is_old(r, y, w) || is_own(y, w)) && is_old(r, y, &c->read)) {
        race_replace(r, w, &y->now);
        return;
    }
    bool old = settled(r, y, w, true);
    bool same =
        !old && !w->strong && !y->now.strong && !w->pending && !y->now.pending && same_value(y, at, n);
    if (!same)
        check(r, y, w, true);
    check(r, y, &c->read, false);
    if (same) {
        race_merge(r, w, &y->now);
        w->mark = 1;
    } else if (!old && w->strong && y->now.strong) {
        race_merge(r, w, &y->now);
    } else {
        race_replace(r, w, &y->now);
    }
    if (!(c->read.strong && y->now.strong) || settled(r, y, &c->read, false))
        race_replace(r, &c->read, &(struct past){0});
}

static void each_cell(struct racecheck *r, struct step *y, uint64_t at) {
    uint32_t bytes = y->a->t.bytes;
    uint32_t unit = y->a->i->kind == X_TEX ? bytes & -bytes : y->a->i->in->m.size; /* texels have any size */
    struct shadow_page *p = shadow_page(&r->shadow, at, unit);
    for (uint32_t k = 0; k < bytes;) {
        if (k && !((at + k) & (PAGE_BYTES - 1)))
            p = shadow_page(&r->shadow, at + k, unit);
        uint32_t n = 1u << p->shift;
        struct cell *c = shadow_cell(p, at + k);
        if (y->a->write)
            write_cell(r, y, c, k, n < bytes - k ? n : bytes - k);
        else
            read_cell(r, y, c);
        k += n;
    }
}

/* Finds lanes that access the same place: of each such group, its lanes in groups at the first of them.
 * Returns the first lanes. */
static uint32_t group_lanes(const struct touch *t, uint32_t m, uint32_t groups[WARP_LANES]) {
    enum { BUCKETS = 64 };
    uint8_t bucket[BUCKETS] = {0}, next[WARP_LANES]; /* lanes plus one, of groups with the same hash */
    uint32_t firsts = 0;
    for (uint32_t left = m; left; left &= left - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(left);
        uint64_t at = t->at[l];
        uint32_t h = (uint32_t)(at ^ at >> 2 ^ at >> 8) % BUCKETS, k = bucket[h];
        bool shared = t->shared >> l & 1;
        while (k && (t->at[k - 1] != at || (t->shared >> (k - 1) & 1) != shared ||
                     (shared && t->rank[k - 1] != t->rank[l])))
            k = next[k - 1];
        if (k) {
            groups[k - 1] |= 1u << l;
            continue;
        }
        groups[l] = 1u << l;
        next[l] = bucket[h];
        bucket[h] = (uint8_t)(l + 1);
        firsts |= 1u << l;
    }
    return firsts;
}

/* Lanes of one store that write different values to one place: which of them remains is open. */
static void check_group(struct racecheck *r, struct step *y) {
    const struct access *a = y->a;
    uint32_t words = a->i->nsw - a->i->first[1];
    for (uint32_t left = y->now.mask & (y->now.mask - 1); left; left &= left - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(left), differ = 0;
        for (uint32_t k = 0; k < words; k++) {
            const uint32_t *v = src_lanes(a->x, a->w, a->i->s[a->i->first[1] + k]);
            differ |= v[l] ^ v[y->lane];
        }
        if (!differ)
            continue;
        struct past first = y->now, second = y->now;
        first.mask = 1u << y->lane;
        second.mask = 1u << l;
        race_report(r, a, l, &first, true, &second);
    }
}

static void remember_copy(struct race_block *b, const struct access *a, uint32_t lane) {
    uint32_t t = a->w->index * WARP_LANES + lane;
    vec_push(&b->copies[a->w->index], (struct race_copy){.at = (uint32_t)a->t.at[lane],
                                                         .bytes = a->t.bytes,
                                                         .group = b->groups[t],
                                                         .lane = (uint8_t)lane});
}

/* The past that the access will be. */
static struct past past_of(const struct racecheck *r, const struct race_block *b, const struct access *a) {
    const struct imods *q = &a->i->in->m;
    bool ordered = a->i->kind == X_LOAD || a->i->kind == X_STORE || a->i->kind == X_ATOM;
    bool strong = (ordered && q->order != ORDER_WEAK) || a->atomic;
    if (a->i->kind == X_MBAR && q->mode == MBAR_INIT)
        strong = false;
    return (struct past){.block = b->number,
                         .time = r->now,
                         .pc = a->pc < PC_MOST ? a->pc : PC_MOST,
                         .warp = a->w->index % BLOCK_WARPS,
                         .kind = PAST_LANES,
                         .strong = strong,
                         .atomic = a->atomic && strong,
                         .block_scope = strong && ordered && q->scope == SCOPE_BLOCK,
                         .mark = strong && q->order == ORDER_VOLATILE,
                         .pending = a->async};
}

/* Where a lane's access begins in the shadow. */
static uint64_t place_of(const struct access *a, uint32_t lane) {
    return a->t.at[lane] + (a->t.shared >> lane & 1 ? race_owner(a, lane)->shared : 0);
}

void racecheck_access(struct racecheck *r, const struct access *a) {
    struct race_block *b = race_block(a->w);
    uint32_t lanes = a->t.global | a->t.shared;
    if (r->given_up || !lanes)
        return;
    struct step y = {.a = a, .b = b, .now = past_of(r, b, a)};
    if (a->i->kind == X_ATOM)
        note_preludes(r, b, a, lanes);
    else if (a->i->kind == X_LOAD && !y.now.strong)
        keep_reads(r, b, a, lanes);
    bool store = a->i->kind == X_STORE && !y.now.strong;
    for (uint32_t left = y.now.strong && a->i->kind != X_MBAR ? lanes : 0; left; left &= left - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(left);
        race_strong(r, b, a, l, place_of(a, l));
    }
    uint32_t groups[WARP_LANES];
    for (uint32_t left = group_lanes(&a->t, lanes, groups); left; left &= left - 1) {
        y.lane = (uint32_t)__builtin_ctz(left);
        y.shared = a->t.shared >> y.lane & 1;
        y.now.mask = groups[y.lane];
        y.now.mark = y.now.strong ? y.now.mark : store && (y.now.mask & (y.now.mask - 1));
        if (store && y.now.mark)
            check_group(r, &y);
        each_cell(r, &y, place_of(a, y.lane));
        if (a->async)
            remember_copy(b, a, y.lane);
    }
}

void race_complete(struct racecheck *r, struct warp *w, uint32_t lane, uint32_t open_groups) {
    struct race_block *b = race_block(w);
    uint32_t t = w->index * WARP_LANES + lane, kept = 0;
    for (uint32_t i = 0; i < b->copies[w->index].len; i++) {
        struct race_copy c = b->copies[w->index].at[i];
        if (c.lane != lane || (open_groups && c.group + open_groups >= b->groups[t])) {
            b->copies[w->index].at[kept++] = c;
            continue;
        }
        for (uint32_t k = 0; k < c.bytes;) {
            struct shadow_page *p = shadow_page(&r->shadow, b->shared + c.at + k, 4);
            struct past *write = &shadow_cell(p, b->shared + c.at + k)->write;
            if (write->pending && write->block == b->number && write->warp == w->index) {
                write->pending = 0;
                write->time = r->now;
            }
            k += 1u << p->shift;
        }
    }
    b->copies[w->index].len = kept;
}

void racecheck_forget(struct racecheck *r, uint64_t addr, uint64_t size) {
    shadow_clear(&r->shadow, addr, size);
}
