/* A cache of an SM that is only read: texture, constant, instructions; and the reading half of the data
 * cache.
 *
 * Non-blocking: misses take a miss register, later ones of the same line join it, and a request goes into the
 * queue towards memory. The cache has no work of its own between calls, hence no tick: the SM calls
 * cache_access and cache_pop, the memory system takes requests with cache_out and brings lines with
 * cache_fill.
 *
 * An access stalls for the same reason until cache_epoch changes, so nobody needs to try again before. */
#ifndef REPRISE_MEM_CACHE_H
#define REPRISE_MEM_CACHE_H

#include "mem/mshr.h"
#include "mem/tags.h"
#include "sim/queue.h"

struct cache_spec {
    struct tags_spec tags;
    uint32_t mshrs, merges; /* miss registers, and accesses each of them holds */
    uint32_t queue;         /* requests waiting to leave for memory */
    uint32_t latency;       /* cycles from access to data of a hit; at least 1 */
    uint32_t interval;      /* cycles from one access to the next */
    bool sectored;          /* misses fetch the sectors touched, not the line */
    uint32_t stores;        /* stores and atomics unanswered at most; 0 where there are none */
    enum mem_client client;
};

struct cache_counters {
#define COUNTER(field, name, unit, help) uint64_t field;
#include "mem/cache.def"
#undef COUNTER
};

struct cache {
    struct cache_spec spec;
    struct tags tags;
    struct mshr mshr;
    QUEUE(struct mem_packet) out;
    QUEUE(struct mem_done) hits, fills; /* each in the order of ready */
    uint64_t free_at, last_fill;
    uint16_t sm;
    /* The access that stalled last, and since when. */
    struct mem_access stalled;
    enum mem_result why;
    uint64_t stalled_at;
    uint32_t epoch, stalled_epoch;
    struct cache_counters n;
};

struct cache *cache_create(struct arena *a, const struct cache_spec *s, uint32_t sm);
/* Offers a load or prefetch. token comes back when it is done. */
enum mem_result cache_access(struct cache *c, uint64_t now, const struct mem_access *x, uint32_t token);
/* Takes one completed access if there is one by now. */
bool cache_pop(struct cache *c, uint64_t now, struct mem_done *out);
/* First cycle in which cache_pop has something, as far as is known; NEVER when it depends on memory. */
uint64_t cache_next(const struct cache *c);
/* Whether nothing is under way. */
bool cache_idle(const struct cache *c);
/* Forgets all lines; nothing may be under way. */
void cache_flush(struct cache *c);

/* The memory system's side: the oldest request, or NULL; it left; a reply came. */
const struct mem_packet *cache_out(const struct cache *c);
void cache_sent(struct cache *c);
void cache_fill(struct cache *c, uint64_t now, const struct mem_packet *p);

#endif
