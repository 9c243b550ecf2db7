/* The memory system of the GPU: the caches of all SMs, the interconnect, L2 and DRAM.
 *
 * An SM's load/store unit talks to its port: memsys_access offers an access, memsys_pop takes completions.
 * The run loop calls memsys_tick once in each core cycle, or only in those memsys_next names and those in
 * which it made an access; both ways give the same results in the same cycles. Cost follows the requests
 * under way: an idle SM or partition is not looked at.
 *
 * Partitions: chunks of interleave bytes go around the partitions. With hash, the start of each round is
 * shifted by a hash of its number, so that no stride keeps hitting one partition. */
#ifndef REPRISE_MEM_MEMSYS_H
#define REPRISE_MEM_MEMSYS_H

#include "mem/dram.h"
#include "mem/icnt.h"
#include "mem/l1.h"
#include "mem/l2.h"

/* Everything there is to know, per unit; the number of SMs and partitions stands here only. */
struct mem_spec {
    uint32_t sms, partitions;
    uint32_t interleave; /* bytes */
    bool hash;
    struct clock icnt_clock, l2_clock, dram_clock;
    struct l1_spec l1;
    struct cache_spec texture, constant, inst;
    struct icnt_spec request, reply; /* the ports are filled in by memsys_create */
    struct l2_spec l2;
    struct dram_spec dram;
};

struct memsys;

struct memsys *memsys_create(struct arena *a, const struct mem_spec *s);

/* Offers an access to a cache of an SM; data takes every kind, the others loads and prefetches. */
enum mem_result memsys_access(struct memsys *m, uint64_t now, uint32_t sm, enum mem_client client,
                              const struct mem_access *x, uint32_t token);
/* Takes one completed access of a cache, if there is one by now. */
bool memsys_pop(struct memsys *m, uint64_t now, uint32_t sm, enum mem_client client, struct mem_done *out);
/* The first cycle in which an SM can pop something, as far as is known; NEVER when it waits for memory. */
uint64_t memsys_port_next(const struct memsys *m, uint32_t sm);
/* Changes whenever a stalled access of this SM's cache may have become possible. */
uint32_t memsys_port_epoch(const struct memsys *m, uint32_t sm, enum mem_client client);
/* One lock less on a line of an SM's data cache. */
bool memsys_unlock(struct memsys *m, uint32_t sm, uint64_t line);

void memsys_tick(struct memsys *m, uint64_t now);
/* The next core cycle with something to do for memsys_tick, or NEVER. Completions waiting to be popped do not
 * count. */
uint64_t memsys_next(const struct memsys *m);
/* Nothing is under way anywhere, and every completion was taken. */
bool memsys_idle(const struct memsys *m);
/* Forgets the lines of the SMs' caches, as between kernels; the memory system must be idle. */
void memsys_flush_l1(struct memsys *m);

/* The partition of an address, and the address within it. */
uint32_t memsys_partition(const struct mem_spec *s, uint64_t addr, uint64_t *local);

/* For statistics, traces and mechanisms. */
struct l1 *memsys_l1(struct memsys *m, uint32_t sm);
struct cache *memsys_cache(struct memsys *m, uint32_t sm, enum mem_client client);
const struct icnt *memsys_requests(const struct memsys *m);
const struct icnt *memsys_replies(const struct memsys *m);
const struct l2 *memsys_l2(const struct memsys *m, uint32_t partition);
struct dram *memsys_dram(struct memsys *m, uint32_t partition);

/* Core cycles from an access of the data cache to its completion when nothing else is under way: a load that
 * hits in L1, one that hits in L2, one from a closed row of DRAM. Clocks that are no multiples of one another
 * add up to one tick of each, depending on when the access comes; this is the mean, rounded. */
enum mem_level { MEM_LEVEL_L1, MEM_LEVEL_L2, MEM_LEVEL_DRAM };
uint64_t memsys_latency(const struct mem_spec *s, enum mem_level level);

#endif
