/* The memory system of the GPU: the caches of all SMs, the interconnect, L2 and DRAM.
 *
 * An SM's load/store unit talks to its port: memsys_access offers an access, memsys_pop takes completions. In
 * each core cycle the run loop calls memsys_tick and lets the SMs work, always in the same order; it may
 * leave out cycles before memsys_next in which no SM has anything to do (memsys_port_next tells when one gets
 * something). Results are the same, in the same cycles. Cost follows the requests under way: an idle SM or
 * partition is not looked at.
 *
 * Partitions: chunks of interleave bytes go around the partitions. With hash, the start of each round is
 * shifted by a hash of its number, so that no stride keeps hitting one partition.
 *
 * What a unit hands to another is there in the next core cycle at the earliest, whatever their clocks are. */
#ifndef REPRISE_MEM_MEMSYS_H
#define REPRISE_MEM_MEMSYS_H

#include "mem/dram.h"
#include "mem/icnt.h"
#include "mem/l1.h"
#include "mem/l2.h"

/* Everything there is to know. The ports of the networks are filled in by memsys_create. */
struct mem_spec {
    uint32_t sms, partitions;
    uint32_t interleave; /* bytes, whole lines */
    bool hash;
    struct clock icnt_clock, l2_clock, dram_clock;
    struct l1_spec l1;
    struct cache_spec texture, constant, inst;
    struct icnt_spec request, reply;
    struct l2_spec l2;
    struct dram_spec dram;
};

struct memsys;

struct memsys *memsys_create(struct arena *a, const struct mem_spec *s);

/* Offers an access to a cache of an SM; data takes every kind, the others loads and prefetches. */
enum mem_result memsys_access(struct memsys *m, uint64_t now, uint32_t sm, enum mem_client client,
                              const struct mem_access *x, uint32_t token);
/* The same of one that was refused (cache_refuse). */
bool memsys_refuse(struct memsys *m, uint64_t now, uint32_t sm, enum mem_client client,
                   const struct mem_access *x, enum mem_result r);
/* For who may offer many accesses to the data cache of an SM, of which it accepts one: whether the cache is
 * busy, so that it would refuse all of them; what it would say to a load, if not; and that those which were
 * not offered would have been refused is counted as if they had been: whys are the reasons, as bits, and the
 * last of them was this, refused for r. */
bool memsys_is_busy(struct memsys *m, uint64_t now, uint32_t sm);
enum mem_result memsys_would_load(struct memsys *m, uint32_t sm, const struct mem_access *x);
void memsys_refused(struct memsys *m, uint64_t now, uint32_t sm, const struct mem_access *x,
                    enum mem_result r, uint32_t whys);
/* Reasons, as bits, why an access was refused that may be possible when a line comes. */
enum { MEM_CURED_BY_FILL = 1 << MEM_STALL_MSHR | 1 << MEM_STALL_MERGE | 1 << MEM_STALL_WAYS };
/* When an SM's port next has something for it: kept by the memory system, and read by the SM in every cycle.
 */
struct port_times {
    _Alignas(64)
        uint64_t done[MEM_CLIENTS]; /* the first cycle in which memsys_pop has something; NEVER: not known */
    uint64_t first;                 /* of these */
    uint64_t retry; /* the first in which a stalled access may be possible; NEVER: not known */
    uint64_t due;   /* while ports are apart: the first at whose end the port has something to do besides what
                     * its SM asks of it; NEVER: not known */
    struct cache *inst; /* the instruction cache */
};
struct port_times *memsys_port_times(const struct memsys *m, uint32_t sm);
/* A fetch of a line that was not found again. */
enum mem_result memsys_fetch_line(struct memsys *m, uint64_t now, uint32_t sm, uint64_t line, uint32_t token);
/* The same as memsys_access for a fetch of instructions, but a hit is not announced by memsys_pop: it is
 * there after the cache's latency, which the fetching SM waits for itself. t: those of the SM. */
static inline enum mem_result memsys_fetch(struct memsys *m, struct port_times *t, uint64_t now, uint32_t sm,
                                           uint64_t line, uint32_t token) {
    t->retry = NEVER;
    return cache_finds_again(t->inst, now, line) ? MEM_HIT : memsys_fetch_line(m, now, sm, line, token);
}
/* The SMs whose port_times came forward because something reached their caches or left them; who looks at one
 * removes it. What an SM's own calls changed is not among them. */
struct bits *memsys_woken(struct memsys *m);
/* Takes one completed access of a cache, if there is one by now. */
bool memsys_pop(struct memsys *m, uint64_t now, uint32_t sm, enum mem_client client, struct mem_done *out);
/* The first cycle in which an SM can pop something, or offer again what stalled, as far as is known; NEVER
 * when it waits for memory. */
uint64_t memsys_port_next(const struct memsys *m, uint32_t sm);
/* Where the number is that changes whenever a stalled access of this SM's cache may have become possible; one
 * that stalled with MEM_STALL_PORT may be offered again in the next cycle whether it changed or not. */
const uint32_t *memsys_port_epoch(const struct memsys *m, uint32_t sm, enum mem_client client);

void memsys_tick(struct memsys *m, uint64_t now);
/* The next core cycle with something to do for memsys_tick, or NEVER. Completions waiting to be popped do not
 * count. */
uint64_t memsys_next(const struct memsys *m);
/* Nothing is under way anywhere, and every completion was taken. */
bool memsys_idle(const struct memsys *m);
/* The same of the caches of one SM. */
bool memsys_port_idle(const struct memsys *m, uint32_t sm);
/* A launch is cut: accesses that caches of SMs refused are not offered again (cache_stop_waiting). */
void memsys_stop_waiting(struct memsys *m, uint64_t now);
/* Forgets the lines of the SMs' caches, as between kernels; the memory system must be idle. */
void memsys_flush_l1(struct memsys *m);
/* The host copied bytes to an address: as much of them as fits lies in L2 now. */
void memsys_copied(struct memsys *m, uint64_t addr, uint64_t bytes);
/* For tests: tick every unit in each of its ticks, also those that say they have nothing to do. */
void memsys_set_eager(struct memsys *m, bool eager);

/* ---- ports apart ----
 *
 * The ports of SMs can be gone through apart from the networks and from one another, some cycles at a time
 * and also by several threads, one for each port. What an SM sends reaches the networks, and what they have
 * for it reaches the SM, in the very cycles in which it would otherwise. That is possible because a reply
 * takes its time from the network's choice of it to the SM: what arrives in the next memsys_lookahead cycles
 * is known. Only whether the network has room for a request may be unknown. As long as its caches can take
 * what the SM may ask of them whether it has left or not, the port goes on; else it waits for the others to
 * be as far.
 *
 * A port goes through cycle c so: memsys_port_knows; the SM's own work, with memsys_access, _fetch and _pop;
 * memsys_port_end. When all have gone through the cycles before end, memsys_show tells
 * the rest of their requests, memsys_advance lets it follow, up to there, and memsys_inform tells the ports
 * of replies and of room: they may then go through cycles before end + memsys_lookahead. memsys_advance may
 * be at work beside the ports; the other two may not. */

/* Parts the ports; cycle now is the next. open: those that take part, as long as this lasts; the others are
 * idle and stay so. foresee: who gets room in the network is looked at ahead, where it is short. */
void memsys_part(struct memsys *m, uint64_t now, const struct bits *open, bool foresee);
/* Ends that, when the ports and the rest have gone through the cycles before now. Then memsys_tick was called
 * for each of them. */
void memsys_join(struct memsys *m, uint64_t now);
uint64_t memsys_lookahead(const struct memsys *m);
/* How many cycles of the replies to an SM are known now, its port having been informed: as many, and more
 * while none is on its way to the network. */
uint64_t memsys_known(const struct memsys *m, uint32_t sm);
/* Packets that the networks have moved. */
uint64_t memsys_packets(const struct memsys *m);
/* Lets everything but the ports go through the cycles before end. */
void memsys_advance(struct memsys *m, uint64_t end);
/* A port has gone through cycles before at. */
void memsys_show(struct memsys *m, uint32_t sm, uint64_t at);
/* Has the host fetch what these two will look at of a port. */
void memsys_expect(const struct memsys *m, uint32_t sm);
void memsys_inform(struct memsys *m);
/* The next cycle in which it has something to do; NEVER: none is known. */
uint64_t memsys_advances_at(const struct memsys *m);
/* Whether enough is known for the port to go through all cycles before it is due. */
bool memsys_port_is_sure(const struct memsys *m, uint32_t sm);
/* Whether enough is known for the port to go through a cycle. ticks: the SM works in it. */
bool memsys_port_knows(const struct memsys *m, uint32_t sm, bool ticks);
/* What the port itself does in a cycle: it sends a request, as far as it is known whether the network has
 * room, and takes a reply, if there is one. */
void memsys_port_end(struct memsys *m, uint64_t now, uint32_t sm);

/* The partition of an address, and the address within it. */
uint32_t memsys_partition(const struct mem_spec *s, uint64_t addr, uint64_t *local);

/* For statistics, traces and mechanisms. client MEM_DATA: the reading half of the data cache. */
struct l1 *memsys_l1(struct memsys *m, uint32_t sm);
struct cache *memsys_cache(struct memsys *m, uint32_t sm, enum mem_client client);
const struct icnt *memsys_requests(const struct memsys *m);
const struct icnt *memsys_replies(const struct memsys *m);
const struct l2 *memsys_l2(const struct memsys *m, uint32_t partition);
struct dram *memsys_dram(struct memsys *m, uint32_t partition);

#endif
