/* Miss registers: which lines are on their way, and who waits for them.
 *
 * An entry is one line; requests for sectors of it that come later join it. Waiters leave when every sector
 * they need has come, in the order in which they came. */
#ifndef REPRISE_MEM_MSHR_H
#define REPRISE_MEM_MSHR_H

#include "base/arena.h"
#include "mem/mem.h"
#include "sim/pool.h"

struct mshr_entry {
    uint64_t line;
    uint32_t hash_next, first, last; /* entries of one bucket; waiters */
    uint16_t waiters;
    uint8_t wanted; /* sectors asked for and not yet come */
    bool no_line;   /* fetched past the cache: no line is kept for it */
};

/* One who waits: whatever the cache needs to answer it. */
struct mshr_waiter {
    struct mem_packet packet;
    uint8_t needs;
};

struct mshr {
    struct mshr_entry *entry;
    struct mshr_waiter *waiter;
    struct pool entries, waiters;
    uint32_t *bucket, buckets; /* a power of two */
    uint32_t merges;           /* waiters of one entry at most */
};

void mshr_init(struct mshr *m, struct arena *a, uint32_t entries, uint32_t merges);
/* The entry of line, or NO_SLOT. */
uint32_t mshr_find(const struct mshr *m, uint64_t line);
/* A new entry; one must be free. */
uint32_t mshr_add(struct mshr *m, uint64_t line);
/* Whether another waiter may join entry e. */
bool mshr_has_room(const struct mshr *m, uint32_t e);
void mshr_wait(struct mshr *m, uint32_t e, const struct mem_packet *p, uint8_t needs);
/* Takes the next waiter of e that needs nothing but sectors in have; false when there is none. */
bool mshr_take(struct mshr *m, uint32_t e, uint8_t have, struct mem_packet *out);
/* Frees an entry nobody waits for. */
void mshr_remove(struct mshr *m, uint32_t e);

#endif
