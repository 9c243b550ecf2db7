/* The data cache of an SM: loads as any cache (cache.h), and stores, atomics and locked lines.
 *
 * Global stores go through to L2 and allocate no line; a line they hit is dropped or updated. Local stores
 * may be kept and written back when their line goes. Atomics happen at L2 and drop the line. Every store and
 * atomic that goes to L2 is answered; its struct mem_done says that it is visible to all, which a membar
 * waits for. */
#ifndef REPRISE_MEM_L1_H
#define REPRISE_MEM_L1_H

#include "mem/cache.h"

enum l1_write { L1_WRITE_EVICT, L1_WRITE_UPDATE }; /* what a store does to a line it hits */

struct l1_spec {
    struct cache_spec cache;
    bool cache_global;     /* loads of global memory look into the cache; else only local ones do */
    bool local_write_back; /* local stores stay in the cache */
    enum l1_write write_hit;
};

/* What the data cache counts beside its reads. */
struct l1_counters { /* in words: mem/counters.c */
    uint64_t writes, write_hits, write_sectors, write_through, atomics, locks, unlocks;
};

struct l1 {
    struct cache cache;
    struct l1_spec spec;
    struct l1_counters n;
};

struct l1 *l1_create(struct arena *a, const struct l1_spec *s, uint32_t port);
/* Offers an access of any kind. */
enum mem_result l1_access(struct l1 *l, uint64_t now, const struct mem_access *x, uint32_t token);
/* What a load would come to if the cache were not busy; nothing changes. */
enum mem_result l1_would_load(struct l1 *l, const struct mem_access *x);
/* One lock less on a line; false if it is not there or not locked. */
bool l1_unlock(struct l1 *l, uint64_t line);
/* A reply came from L2. */
void l1_fill(struct l1 *l, uint64_t now, const struct mem_packet *p);
bool l1_idle(const struct l1 *l);

/* As that of the cache. */
static inline bool l1_pop(struct l1 *l, uint64_t now, struct mem_done *out) {
    return cache_pop(&l->cache, now, out);
}

#endif
