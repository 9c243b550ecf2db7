/* A cache: a bank of lines with a port, a latency and completions. */
#include "mem/cache.h"

#include <stddef.h>

#include "base/often.h"

enum { SPARE = 16 }; /* completions that may lie there when the consumer is late */

static __attribute__((noinline)) void forget_all(struct cache *c) {
    for (uint32_t i = 0; i < CACHE_SURE; i++)
        c->sure[i].line = NEVER;
    c->any_sure = false;
}

/* Something may have changed that a load which was sure to hit took for granted. */
static inline void forget_sure(struct cache *c) {
    if (c->any_sure)
        forget_all(c);
}

void cache_init(struct cache *c, struct arena *a, const struct cache_spec *s, uint32_t port) {
    assert(s->latency && s->interval);
    c->spec = *s;
    struct mem_packet origin = {.port = (uint16_t)port, .client = (uint8_t)s->client};
    bank_init(&c->bank, a, &s->bank, &origin);
    forget_all(c);
    c->used_at = NEVER;
    queue_init(&c->hits, a, s->latency * (1 + s->more) + SPARE);
    queue_init(&c->fills, a, s->bank.mshrs * s->bank.merges + s->stores + SPARE);
}

struct cache *cache_create(struct arena *a, const struct cache_spec *s, uint32_t port) {
    struct cache *c = arena_new(a, struct cache);
    cache_init(c, a, s, port);
    return c;
}

/* ---- stalls ------------------------------------------------------------------------------------------ */

/* Counts the cycles since the last offer, in which nothing changed, for the reason it had. */
static void count_stall(struct cache *c, uint64_t now) {
    static const size_t field[MEM_RESULTS] = {
        [MEM_STALL_PORT] = offsetof(struct cache_counters, stall_port),
        [MEM_STALL_MSHR] = offsetof(struct cache_counters, stall_mshr),
        [MEM_STALL_MERGE] = offsetof(struct cache_counters, stall_merge),
        [MEM_STALL_QUEUE] = offsetof(struct cache_counters, stall_queue),
        [MEM_STALL_WAYS] = offsetof(struct cache_counters, stall_ways),
        [MEM_STALL_STORES] = offsetof(struct cache_counters, stall_stores),
    };
    *(uint64_t *)((char *)&c->n + field[c->why]) += now - c->stall_at;
    c->stall_at = now;
}

void cache_stop_waiting(struct cache *c, uint64_t now) {
    if (mem_accepted(c->why))
        return;
    count_stall(c, now);
    c->why = MEM_HIT;
}

static bool same_access(const struct cache *c, const struct mem_access *x) {
    return c->stall_line == x->line && c->stall_kind == x->kind && c->stall_sectors == x->sectors &&
           c->stall_flags == x->flags && c->stall_full == x->full;
}

/* Another access is being served, or those that are done were not taken. */
static bool port_busy(const struct cache *c, uint64_t now) {
    return now < c->free_at || queue_full(&c->hits) ||
           queue_room(&c->fills) <= c->bank.mshr.waiters.used + c->stores;
}

enum mem_result cache_begin(struct cache *c, uint64_t now, const struct mem_access *x) {
    forget_sure(c);
    if (!mem_accepted(c->why)) {
        count_stall(c, now);
        if (c->why != MEM_STALL_PORT && c->stall_epoch == c->bank.epoch && same_access(c, x))
            return c->why;
        c->why = MEM_HIT;
    }
    return port_busy(c, now) ? MEM_STALL_PORT : MEM_HIT;
}

enum mem_result cache_end(struct cache *c, uint64_t now, const struct mem_access *x, enum mem_result r) {
    if (mem_accepted(r)) {
        cache_use_port(c, now);
        return r;
    }
    c->why = r;
    c->stall_at = now;
    c->stall_epoch = c->bank.epoch;
    c->stall_line = x->line;
    c->stall_kind = x->kind;
    c->stall_sectors = x->sectors;
    c->stall_flags = x->flags;
    c->stall_full = x->full;
    return r;
}

void cache_refused(struct cache *c, uint64_t now, const struct mem_access *x, enum mem_result r) {
    forget_sure(c);
    if (!mem_accepted(c->why))
        count_stall(c, now);
    cache_end(c, now, x, r);
}

bool cache_refuse(struct cache *c, uint64_t now, const struct mem_access *x, enum mem_result r) {
    if (port_busy(c, now))
        return false;
    cache_refused(c, now, x, r);
    return true;
}

bool cache_is_busy(const struct cache *c, uint64_t now) {
    return port_busy(c, now);
}

/* ---- accesses ---------------------------------------------------------------------------------------- */

void cache_hit(struct cache *c, uint64_t now, uint32_t token, const struct mem_access *x) {
    queue_push(&c->hits, (struct mem_done){now + c->spec.latency, token, x->kind, x->sectors, false});
}

void cache_answer(struct cache *c, uint64_t now, const struct mem_packet *p) {
    c->last_fill = max_u64(now, c->last_fill) + 1;
    queue_push(&c->fills, (struct mem_done){c->last_fill, p->id, p->kind, p->sectors, p->flags & MEM_FAR});
}

static void count_read(struct cache *c, const struct mem_access *x, uint8_t flags, enum mem_result r) {
    if (x->kind == MEM_PREFETCH) {
        c->n.prefetches++;
        c->n.prefetch_misses += r == MEM_MISS;
        return;
    }
    c->n.reads++;
    c->n.read_hits += r == MEM_HIT;
    c->n.read_misses += r == MEM_MISS;
    c->n.read_merged += r == MEM_MERGED;
    c->n.read_sectors += mem_sectors(x->sectors);
    c->n.bypasses += (flags & MEM_BYPASS) != 0;
}

/* A read that announces no hit. */
static enum mem_result look(struct cache *c, const struct mem_access *x, uint8_t flags, uint32_t token) {
    struct mem_packet p = {
        .line = x->line, .id = token, .kind = x->kind, .flags = flags, .sectors = x->sectors};
    enum mem_result r = bank_read(&c->bank, &p);
    if (mem_accepted(r))
        count_read(c, x, flags, r);
    return r;
}

EVERY_TIME enum mem_result cache_read(struct cache *c, uint64_t now, const struct mem_access *x,
                                      uint8_t flags, uint32_t token) {
    enum mem_result r = look(c, x, flags, token);
    if (r == MEM_HIT && x->kind != MEM_PREFETCH)
        cache_hit(c, now, token, x);
    return r;
}

static void count_write(struct cache *c, const struct mem_access *x, enum mem_result r) {
    c->n.writes++;
    c->n.write_hits += r == MEM_HIT;
    c->n.write_misses += r == MEM_MISS;
    c->n.write_merged += r == MEM_MERGED;
    c->n.write_sectors += mem_sectors(x->sectors);
}

/* A store that stays here. Sectors that it fills need not be fetched; else it waits for what is missing, as a
 * load, and writes then. */
static enum mem_result write(struct cache *c, uint64_t now, const struct mem_access *x, uint32_t token) {
    bool whole = x->full == x->sectors, waits = false;
    enum mem_result r;
    if (whole) {
        r = bank_write(&c->bank, x->line, x->sectors, x->full);
    } else {
        struct mem_packet p = {
            .line = x->line, .id = token, .kind = x->kind, .flags = x->flags, .sectors = x->sectors};
        r = bank_read(&c->bank, &p);
        waits = r != MEM_HIT;
    }
    if (!mem_accepted(r))
        return r;
    count_write(c, x, r);
    if (!whole && !waits)
        bank_write(&c->bank, x->line, x->sectors, 0);
    if (!waits && !(x->flags & MEM_SILENT))
        cache_hit(c, now, token, x);
    return r;
}

enum mem_result cache_look(struct cache *c, uint64_t now, const struct mem_access *x, uint32_t token) {
    enum mem_result r = cache_begin(c, now, x);
    if (mem_accepted(r))
        r = look(c, x, x->flags, token);
    return cache_end(c, now, x, r);
}

void cache_count(struct cache *c) {
    c->n.reads += c->again;
    c->n.read_hits += c->again;
    c->n.read_sectors += c->again * mem_sectors(c->bank.all);
    c->again = 0;
}

bool cache_finds(struct cache *c, uint64_t now, uint64_t line) {
    struct tags *t = &c->bank.tags;
    uint32_t slot = tags_find(t, line);
    if (slot == NO_SLOT || !mem_accepted(c->why) || port_busy(c, now) || t->line[slot].valid != c->bank.all ||
        t->line[slot].prefetched || t->stamp[slot] & TAGS_HELD || !t->touch)
        return false;
    c->sure[(line >> t->shift) % CACHE_SURE] = (struct cache_sure){line, &t->stamp[slot]};
    c->any_sure = true;
    return cache_finds_again(c, now, line);
}

enum mem_result cache_access(struct cache *c, uint64_t now, const struct mem_access *x, uint32_t token) {
    assert(x->kind == MEM_LOAD || x->kind == MEM_PREFETCH || (x->kind == MEM_STORE && c->spec.write_back));
    enum mem_result r = cache_begin(c, now, x);
    if (mem_accepted(r))
        r = x->kind == MEM_STORE ? write(c, now, x, token) : cache_read(c, now, x, x->flags, token);
    return cache_end(c, now, x, r);
}

void cache_fill(struct cache *c, uint64_t now, const struct mem_packet *p) {
    struct mem_packet waiter;
    uint8_t first = p->flags & MEM_FAR;
    forget_sure(c);
    c->n.fills++;
    bank_fill(&c->bank, p->id, p->sectors);
    for (; bank_take(&c->bank, p->id, &waiter); first = 0) {
        waiter.flags |= first;
        if (waiter.kind == MEM_STORE)
            bank_write_filled(&c->bank, p->id, waiter.sectors);
        if (!(waiter.flags & MEM_SILENT))
            cache_answer(c, now, &waiter);
    }
    bank_end_fill(&c->bank, p->id);
}

/* ---- completions ------------------------------------------------------------------------------------- */

static uint64_t hits_at(const struct cache *c) {
    return queue_empty(&c->hits) ? NEVER : queue_head(&c->hits)->ready;
}

static uint64_t fills_at(const struct cache *c) {
    return queue_empty(&c->fills) ? NEVER : queue_head(&c->fills)->ready;
}

bool cache_pop(struct cache *c, uint64_t now, struct mem_done *out) {
    uint64_t hit = hits_at(c), fill = fills_at(c);
    if (min_u64(hit, fill) > now)
        return false;
    if (hit <= fill) {
        *out = *queue_head(&c->hits);
        queue_pop(&c->hits);
    } else {
        *out = *queue_head(&c->fills);
        queue_pop(&c->fills);
    }
    return true;
}

bool cache_idle(const struct cache *c) {
    return bank_idle(&c->bank) && queue_empty(&c->hits) && queue_empty(&c->fills);
}

void cache_flush(struct cache *c) {
    assert(cache_idle(c));
    forget_sure(c);
    tags_clear(&c->bank.tags);
    c->bank.epoch++;
}
