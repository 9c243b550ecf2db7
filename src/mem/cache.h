/* A cache: one that is only read (texture, constant, instructions, and the reading half of a GPU's data
 * cache), or one that keeps what is written until its line goes (write-back).
 *
 * It has no work of its own between calls, hence no tick: who stands at its port calls cache_access and
 * cache_pop, the memory system takes requests with cache_out and brings lines with cache_fill. Hits take the
 * latency, lines that come are handed on in the next cycle, one access in each. The consumer takes what is
 * ready in every cycle in which something is.
 *
 * A stalled access may be offered again in every cycle, or only after *cache_epoch changed (MEM_STALL_PORT:
 * in the next cycle); results and counters are the same. */
#ifndef REPRISE_MEM_CACHE_H
#define REPRISE_MEM_CACHE_H

#include "mem/bank.h"

struct cache_spec {
    struct bank_spec bank;
    uint32_t latency;  /* cycles from access to data of a hit; at least 1 */
    uint32_t interval; /* cycles from one access to the next; at least 1 */
    uint32_t more;     /* accesses that fit into one cycle beside the first */
    uint32_t stores;   /* stores and atomics that may be unanswered; 0 where there are none */
    bool write_back; /* stores are accepted, and stay here: what of a line is written in part is fetched first
                      */
    enum mem_client client;
};

/* What happens at the port of a cache. Only data caches move those from bypasses on, and of them only those
 * that write back those from writes on. */
struct cache_counters { /* in words: mem/counters.c */
    uint64_t reads, read_hits, read_misses, read_merged, read_sectors, fills, stall_port, stall_mshr,
        stall_merge, stall_queue, stall_ways, bypasses, prefetches, prefetch_misses, stall_stores, writes,
        write_hits, write_misses, write_merged, write_sectors;
};

enum { CACHE_SURE = 32 };

/* A line of which it is sure that a load of it hits. */
struct cache_sure {
    uint64_t line; /* NEVER: none */
    uint64_t *stamp;
};

struct cache {
    struct cache_spec spec;
    struct bank bank;
    QUEUE(struct mem_done) hits, fills; /* each in the order of ready */
    uint64_t free_at, last_fill;
    uint64_t used_at; /* cycle of the last access, and how many there were in it */
    uint32_t used;
    uint32_t stores;     /* unanswered stores and atomics */
    enum mem_result why; /* of the access that stalled last, if the last access did */
    uint64_t stall_line, stall_at;
    uint32_t stall_epoch;
    uint8_t stall_kind, stall_sectors, stall_full, stall_flags;
    bool any_sure;  /* of the lines below: */
    uint64_t again; /* loads of these that are not in n yet (cache_count) */
    struct cache_counters n;
    struct cache_sure sure[CACHE_SURE]; /* by the numbers of the lines; none after anything but such loads */
};

struct cache *cache_create(struct arena *a, const struct cache_spec *s, uint32_t port);
/* Offers a load, a prefetch or, to one that writes back, a store. token comes back when it is done, unless
 * the access is silent. Whole sectors that a cache above writes back are stores, too. */
enum mem_result cache_access(struct cache *c, uint64_t now, const struct mem_access *x, uint32_t token);
/* An access that was refused for a reason other than the port, since when *cache_epoch is the same, is
 * offered again: it would be refused again, and is counted as if it had been offered. False, and nothing
 * happened, when the port is busy. */
bool cache_refuse(struct cache *c, uint64_t now, const struct mem_access *x, enum mem_result r);
/* Whether the port is busy. */
bool cache_is_busy(const struct cache *c, uint64_t now);
/* An access that would be refused now, for this reason, is counted as if it had been offered. */
void cache_refused(struct cache *c, uint64_t now, const struct mem_access *x, enum mem_result r);
/* What was refused is not offered again: the time up to cycle now, in which it was at the latest, counts. */
void cache_stop_waiting(struct cache *c, uint64_t now);
/* The same as cache_access, but a hit is the caller's to wait for: cache_pop does not announce it. */
enum mem_result cache_look(struct cache *c, uint64_t now, const struct mem_access *x, uint32_t token);
/* A load of a whole line that hits at once, as cache_look would have it; false, and nothing happened, when
 * that is not sure without a closer look. */
bool cache_finds(struct cache *c, uint64_t now, uint64_t line);
/* The same, false unless such a load found the line before and nothing else happened to the cache since. Who
 * uses them changes lines by functions of the cache only. */
static inline bool cache_finds_again(struct cache *c, uint64_t now, uint64_t line);
/* Counts what cache_finds_again found since then: to be called before somebody looks at the counters. */
void cache_count(struct cache *c);
/* Takes one completed access if there is one by now. */
bool cache_pop(struct cache *c, uint64_t now, struct mem_done *out);
/* First cycle in which cache_pop has something, as far as is known; NEVER when it depends on memory. */
static inline uint64_t cache_next(const struct cache *c) {
    uint64_t hit = queue_empty(&c->hits) ? NEVER : queue_head(&c->hits)->ready;
    return queue_empty(&c->fills) ? hit : min_u64(hit, queue_head(&c->fills)->ready);
}
/* Whether nothing is under way. */
bool cache_idle(const struct cache *c);
/* Forgets all lines, without writing any back; the cache must be idle. */
void cache_flush(struct cache *c);

/* The number that changes whenever an access that stalled may have become possible. */
static inline const uint32_t *cache_epoch(const struct cache *c) {
    return &c->bank.epoch;
}

/* The memory system's side: the oldest request, or NULL; the oldest n left; a reply with data came. */
static inline const struct mem_packet *cache_out(const struct cache *c) {
    return queue_empty(&c->bank.out) ? NULL : queue_head(&c->bank.out);
}

static inline void cache_sent(struct cache *c, uint32_t n) {
    bank_sent(&c->bank, n);
}

/* Requests are numbered as they are made: the number of the next; one of those that wait, or of the last that
 * left (keep in struct bank_spec). */
static inline uint32_t cache_requests(const struct cache *c) {
    return c->bank.out.head + c->bank.out.len;
}

static inline const struct mem_packet *cache_request(const struct cache *c, uint32_t number) {
    return &c->bank.out.at[number & c->bank.out.mask];
}

void cache_fill(struct cache *c, uint64_t now, const struct mem_packet *p);

/* An access takes the port. */
static inline void cache_use_port(struct cache *c, uint64_t now) {
    if (c->spec.more) {
        c->used = c->used_at == now ? c->used + 1 : 0;
        c->used_at = now;
        if (c->used != c->spec.more)
            return;
    }
    c->free_at = now + c->spec.interval;
}

static inline bool cache_finds_again(struct cache *c, uint64_t now, uint64_t line) {
    struct tags *t = &c->bank.tags;
    const struct cache_sure *s = &c->sure[(line >> t->shift) % CACHE_SURE];
    if (s->line != line || now < c->free_at)
        return false;
    *s->stamp = ++t->time;
    c->again++;
    cache_use_port(c, now);
    return true;
}

/* For l1.c, which adds stores to a cache. */
void cache_init(struct cache *c, struct arena *a, const struct cache_spec *s, uint32_t port);
/* Whether the access must stall as it did before: MEM_HIT if not. */
enum mem_result cache_begin(struct cache *c, uint64_t now, const struct mem_access *x);
/* Notes a result: the reason of a stall, or that the port was used. Returns it. */
enum mem_result cache_end(struct cache *c, uint64_t now, const struct mem_access *x, enum mem_result r);
/* An access will be done when a hit would. */
void cache_hit(struct cache *c, uint64_t now, uint32_t token, const struct mem_access *x);
/* An access is answered from outside. */
void cache_answer(struct cache *c, uint64_t now, const struct mem_packet *p);
/* A read, without the port. flags: instead of those of the access. */
enum mem_result cache_read(struct cache *c, uint64_t now, const struct mem_access *x, uint8_t flags,
                           uint32_t token);

#endif
