/* What every cache is made of: lines, miss registers and a queue towards the next level. It knows no time:
 * cache.h and l2.h add that.
 *
 * A read is a hit, or takes up or joins a request for the missing sectors and waits. A write allocates a line
 * without fetching it. Lines are allocated when they are asked for. A result that is a stall changed nothing,
 * and stays a stall until epoch changes: for the same reason, unless that was MEM_STALL_WAYS, whatever other
 * reads and writes are accepted meanwhile. */
#ifndef REPRISE_MEM_BANK_H
#define REPRISE_MEM_BANK_H

#include "mem/mshr.h"
#include "mem/tags.h"
#include "sim/queue.h"

enum { BANK_MOST_REQUESTS = 2 }; /* that an access makes: for a line, and to write back another */

struct bank_spec {
    struct tags_spec tags;
    uint32_t mshrs, merges; /* miss registers, and requests each of them holds */
    uint32_t queue; /* requests waiting to leave for the next level; at least as many as a read makes */
    uint32_t keep;  /* of those that left: how many can still be read */
    bool sectored;  /* misses fetch the sectors touched, not the line */
};

/* What the lines of a cache go through. */
struct bank_counters { /* in words: mem/counters.c */
    uint64_t evictions, write_backs, sectors_fetched, prefetch_useful, prefetch_unused;
};

struct bank {
    struct bank_spec spec;
    struct tags tags;
    struct mshr mshr;
    QUEUE(struct mem_packet) out;
    struct mem_packet origin; /* what requests to the next level have in common: port, client */
    uint32_t epoch;
    uint8_t all; /* sectors of a line */
    struct bank_counters n;
};

/* origin: port and client of the requests to the next level. */
void bank_init(struct bank *b, struct arena *a, const struct bank_spec *s, const struct mem_packet *origin);
/* A read of p->sectors of p->line; p->flags may bypass or lock. Unless it hits or is a prefetch, p waits. */
enum mem_result bank_read(struct bank *b, const struct mem_packet *p);
/* What it would come to now; nothing changes. */
enum mem_result bank_would_read(struct bank *b, const struct mem_packet *p);
/* A write that stays here; MEM_MISS: the line was not there. */
enum mem_result bank_write(struct bank *b, uint64_t line, uint8_t sectors, uint8_t full);
/* Sectors came for the miss register id. Then take all who waited for them, and end. */
void bank_fill(struct bank *b, uint32_t id, uint8_t sectors);
bool bank_take(struct bank *b, uint32_t id, struct mem_packet *out);
/* One who waited, and was taken, writes sectors of the line that came. */
void bank_write_filled(struct bank *b, uint32_t id, uint8_t sectors);
void bank_end_fill(struct bank *b, uint32_t id);
/* Forgets the copy of line, except a locked one. */
void bank_forget(struct bank *b, uint64_t line);
/* The line is here, whole, as if it had been read; not where no way of its set may go. What it takes the
 * place of is forgotten. */
void bank_put(struct bank *b, uint64_t line);
/* The two halves of a read that misses, for who knows that nothing stands in its way. A line that will come
 * whole takes a slot, and what was there is told; then that is written back, the line asked for, and p waits.
 */
struct tags_victim bank_expect(struct bank *b, uint32_t slot, uint64_t line);
void bank_ask(struct bank *b, uint32_t slot, const struct tags_victim *v, const struct mem_packet *p);
/* The oldest n requests to the next level left. */
static inline void bank_sent(struct bank *b, uint32_t n) {
    assert(n <= b->out.len);
    b->out.head += n;
    b->out.len -= n;
    b->epoch++;
}
/* Whether nothing waits. */
bool bank_idle(const struct bank *b);

#endif
