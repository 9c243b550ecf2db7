/* One partition of L2: a write-back cache in front of one DRAM channel, and the place where atomics happen.
 *
 * Stores allocate without fetching: a sector written in part is fetched only if it is read later. Atomics
 * operate on a line that is present; those on one address follow one another. Time is counted in ticks of
 * L2's clock. Addresses are those of the partition (memsys.h), without the bits that chose it. */
#ifndef REPRISE_MEM_L2_H
#define REPRISE_MEM_L2_H

#include "mem/mshr.h"
#include "mem/tags.h"
#include "sim/queue.h"

struct l2_spec {
    struct tags_spec tags;
    uint32_t banks;   /* accesses in one tick, each to a bank of its own */
    uint32_t latency; /* ticks from arrival to the reply of a hit; at least 1 */
    uint32_t mshrs, merges;
    uint32_t in_queue, out_queue; /* requests from SMs; requests to DRAM */
    uint32_t atomic_lanes;        /* lanes of one atomic, on different addresses, in one tick */
    bool sectored;
};

struct l2_counters {
#define COUNTER(field, name, unit, help) uint64_t field;
#include "mem/l2.def"
#undef COUNTER
};

/* A request to DRAM. Reads come back by id; writes are forgotten. */
struct l2_miss {
    uint64_t line;
    uint32_t id;
    uint8_t sectors;
    bool write;
};

struct l2;

struct l2 *l2_create(struct arena *a, const struct l2_spec *s);
bool l2_has_room(const struct l2 *l);
/* A request that can be looked at from tick now on. */
void l2_push(struct l2 *l, uint64_t now, const struct mem_packet *p);
void l2_tick(struct l2 *l, uint64_t now);
uint64_t l2_next(const struct l2 *l);
/* The next request to DRAM, or NULL; taken by l2_sent. */
const struct l2_miss *l2_out(const struct l2 *l);
void l2_sent(struct l2 *l);
/* DRAM brought what the read with this id asked for. */
void l2_fill(struct l2 *l, uint64_t now, uint32_t id, uint8_t sectors);
/* The next reply that is ready by now, or NULL; taken by l2_replied. */
const struct mem_packet *l2_reply(const struct l2 *l, uint64_t now);
void l2_replied(struct l2 *l);
bool l2_idle(const struct l2 *l);
const struct l2_counters *l2_counters(const struct l2 *l);

#endif
