/* One partition of L2: a write-back cache in front of one DRAM channel, and the place where atomics happen.
 *
 * Stores allocate without fetching: a sector written in part is fetched only if it is read later. Atomics
 * operate on sectors that are present; those on one address follow one another. Time is counted in ticks of
 * L2's clock. Addresses are those of the partition (memsys.h), without the bits that chose it. */
#ifndef REPRISE_MEM_L2_H
#define REPRISE_MEM_L2_H

#include "mem/bank.h"
#include "mem/promise.h"

struct l2_spec {
    struct bank_spec bank;
    uint32_t slices;  /* requests in one tick, each to a slice of its own */
    uint32_t latency; /* ticks to the reply, from a request's turn or the coming of its data; at least 1 */
    uint32_t queue;   /* requests from SMs that wait */
    uint32_t atomic_lanes; /* operations of one atomic request on different addresses in one tick */
};

/* What a partition counts beside its lines. */
struct l2_counters { /* in words: mem/counters.c */
    uint64_t reads, read_hits, read_misses, read_merged, read_sectors, writes, write_hits, write_sectors,
        atomics, atomic_hits, atomic_ops, atomic_ticks, fills, stall_mshr, stall_merge, stall_queue,
        stall_ways, stall_reply;
};

struct l2;

struct l2 *l2_create(struct arena *a, const struct l2_spec *s);
/* Says of every reply from now on when it is ready at the earliest, to the port that gets it. */
void l2_promise(struct l2 *l, struct promises *promises);
bool l2_has_room(const struct l2 *l);
/* A request that can be looked at from tick now on. */
void l2_push(struct l2 *l, uint64_t now, const struct mem_packet *p);
void l2_tick(struct l2 *l, uint64_t now);
/* The next tick with something to do, here or in what l2_out and l2_reply hold. */
uint64_t l2_next(const struct l2 *l);
/* The next request to DRAM, or NULL: a load whose id comes back by l2_fill, or a silent store. Taken by
 * l2_sent. */
const struct mem_packet *l2_out(const struct l2 *l);
void l2_sent(struct l2 *l);
/* DRAM brought sectors that the load with this id asked for. */
void l2_fill(struct l2 *l, uint64_t now, uint32_t id, uint8_t sectors);
/* The next reply that is ready by now, or NULL; taken by l2_replied. */
const struct mem_packet *l2_reply(const struct l2 *l, uint64_t now);
void l2_replied(struct l2 *l, uint64_t now);
/* The line is here from now on, and takes no time to come. */
void l2_put(struct l2 *l, uint64_t line);
bool l2_idle(const struct l2 *l);
const struct l2_counters *l2_counters(const struct l2 *l);
const struct bank_counters *l2_bank_counters(const struct l2 *l);

#endif
