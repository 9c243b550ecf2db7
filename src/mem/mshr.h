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
    uint32_t slot;        /* of the line in the cache, or NO_SLOT; it stays while the line is pending */
    uint32_t first, last; /* waiters */
    uint32_t waiters;
    uint8_t wanted; /* sectors asked for that have not come */
};

/* One who waits: its request, and the sectors of it that were missing. */
struct mshr_waiter {
    struct mem_packet packet;
    uint8_t needs;
};

struct mshr {
    struct mshr_entry *entry;
    struct mshr_waiter *waiter;
    struct pool entries,
        waiters; /* next of an entry in use: of the same bucket; of a waiter: of the same entry */
    uint32_t *bucket, mask;
    uint32_t shift;  /* of an address, to the number of its line */
    uint32_t merges; /* waiters of one entry at most */
};

/* line: bytes of a line. */
void mshr_init(struct mshr *m, struct arena *a, uint32_t entries, uint32_t merges, uint32_t line);
/* The entry of line, or NO_SLOT. */
uint32_t mshr_find(const struct mshr *m, uint64_t line);
/* A new entry; one must be free. */
uint32_t mshr_add(struct mshr *m, uint64_t line);
/* Adds a waiter, for which there must be room. */
void mshr_wait(struct mshr *m, uint32_t e, const struct mem_packet *p, uint8_t needs);
/* Takes the first waiter of e that needs no sector still wanted; false when there is none. */
bool mshr_take(struct mshr *m, uint32_t e, struct mem_packet *out);
/* Frees an entry nobody waits for. */
void mshr_remove(struct mshr *m, uint32_t e);

static inline bool mshr_full(const struct mshr *m) {
    return pool_full(&m->entries);
}

/* Whether another waiter may join entry e. */
static inline bool mshr_has_room(const struct mshr *m, uint32_t e) {
    return m->entry[e].waiters < m->merges;
}

#endif
