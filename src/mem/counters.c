/* The counters of the units of the memory system, as tables. Names are relative: who registers a table says
 * what stands before them ("l1.", "dram."). */
#include "mem/counters.h"

#include "mem/cache.h"
#include "mem/dram.h"
#include "mem/icnt.h"
#include "mem/l1.h"
#include "mem/l2.h"

static const struct counter_info bank_counter_rows[] = {
    {"evictions", "lines", "Lines thrown out for others.", offsetof(struct bank_counters, evictions)},
    {"write_backs", "lines", "Dirty lines written to the next level.",
     offsetof(struct bank_counters, write_backs)},
    {"sectors_fetched", "sectors", "Sectors asked of the next level.",
     offsetof(struct bank_counters, sectors_fetched)},
};
const struct counter_table bank_counter_table = COUNTER_TABLE(bank_counter_rows);

static const struct counter_info bank_prefetch_rows[] = {
    {"prefetch_useful", "lines", "Prefetched lines that a load found or joined.",
     offsetof(struct bank_counters, prefetch_useful)},
    {"prefetch_unused", "lines", "Prefetched lines thrown out before any load found them.",
     offsetof(struct bank_counters, prefetch_unused)},
};
const struct counter_table bank_prefetch_table = COUNTER_TABLE(bank_prefetch_rows);

static const struct counter_info cache_counter_rows[] = {
    {"reads", "accesses", "Loads that were accepted.", offsetof(struct cache_counters, reads)},
    {"read_hits", "accesses", "Loads whose data was there.", offsetof(struct cache_counters, read_hits)},
    {"read_misses", "accesses", "Loads that sent a request to memory.",
     offsetof(struct cache_counters, read_misses)},
    {"read_merged", "accesses", "Loads that joined a request already under way.",
     offsetof(struct cache_counters, read_merged)},
    {"read_sectors", "sectors", "Sectors that accepted loads touched.",
     offsetof(struct cache_counters, read_sectors)},
    {"fills", "packets", "Replies with data from memory.", offsetof(struct cache_counters, fills)},
    {"stall_port", "cycles", "An access waited for one before it.",
     offsetof(struct cache_counters, stall_port)},
    {"stall_mshr", "cycles", "An access waited for a miss register.",
     offsetof(struct cache_counters, stall_mshr)},
    {"stall_merge", "cycles", "An access waited for room in its line's miss register.",
     offsetof(struct cache_counters, stall_merge)},
    {"stall_queue", "cycles", "An access waited for room in the queue towards memory.",
     offsetof(struct cache_counters, stall_queue)},
    {"stall_ways", "cycles", "An access waited for a way that is neither pending nor locked.",
     offsetof(struct cache_counters, stall_ways)},
};
const struct counter_table cache_counter_table = COUNTER_TABLE(cache_counter_rows);

static const struct counter_info cache_data_rows[] = {
    {"bypasses", "accesses", "Loads that did not look into the cache.",
     offsetof(struct cache_counters, bypasses)},
    {"prefetches", "accesses", "Prefetches that were accepted.", offsetof(struct cache_counters, prefetches)},
    {"prefetch_misses", "accesses", "Prefetches that sent a request to memory.",
     offsetof(struct cache_counters, prefetch_misses)},
    {"stall_stores", "cycles", "A store or atomic waited for answers to earlier ones.",
     offsetof(struct cache_counters, stall_stores)},
};
const struct counter_table cache_data_table = COUNTER_TABLE(cache_data_rows);

static const struct counter_info cache_write_rows[] = {
    {"writes", "accesses", "Stores that were accepted.", offsetof(struct cache_counters, writes)},
    {"write_hits", "accesses", "Stores whose line was there.", offsetof(struct cache_counters, write_hits)},
    {"write_misses", "accesses", "Stores whose line was not there.",
     offsetof(struct cache_counters, write_misses)},
    {"write_merged", "accesses", "Stores that joined a request already under way.",
     offsetof(struct cache_counters, write_merged)},
    {"write_sectors", "sectors", "Sectors that accepted stores touched.",
     offsetof(struct cache_counters, write_sectors)},
};
const struct counter_table cache_write_table = COUNTER_TABLE(cache_write_rows);

static const struct counter_info l1_counter_rows[] = {
    {"writes", "accesses", "Stores that were accepted.", offsetof(struct l1_counters, writes)},
    {"write_hits", "accesses", "Stores whose line was there.", offsetof(struct l1_counters, write_hits)},
    {"write_sectors", "sectors", "Sectors that stores touched.", offsetof(struct l1_counters, write_sectors)},
    {"write_through", "packets", "Stores sent on to L2.", offsetof(struct l1_counters, write_through)},
    {"atomics", "accesses", "Atomics sent to L2.", offsetof(struct l1_counters, atomics)},
    {"locks", "accesses", "Accesses that locked their line.", offsetof(struct l1_counters, locks)},
    {"unlocks", "accesses", "Locks given back.", offsetof(struct l1_counters, unlocks)},
};
const struct counter_table l1_counter_table = COUNTER_TABLE(l1_counter_rows);

static const struct counter_info l2_counter_rows[] = {
    {"reads", "requests", "Reads, served or taken up.", offsetof(struct l2_counters, reads)},
    {"read_hits", "requests", "Reads whose data was there.", offsetof(struct l2_counters, read_hits)},
    {"read_misses", "requests", "Reads that went to DRAM.", offsetof(struct l2_counters, read_misses)},
    {"read_merged", "requests", "Reads that joined a request already under way.",
     offsetof(struct l2_counters, read_merged)},
    {"read_sectors", "sectors", "Sectors read.", offsetof(struct l2_counters, read_sectors)},
    {"writes", "requests", "Writes.", offsetof(struct l2_counters, writes)},
    {"write_hits", "requests", "Writes whose line was there.", offsetof(struct l2_counters, write_hits)},
    {"write_sectors", "sectors", "Sectors written.", offsetof(struct l2_counters, write_sectors)},
    {"atomics", "requests", "Atomic requests, one for each line of a warp's instruction.",
     offsetof(struct l2_counters, atomics)},
    {"atomic_hits", "requests", "Atomic requests whose data was there.",
     offsetof(struct l2_counters, atomic_hits)},
    {"atomic_ops", "operations", "Atomic operations of single threads.",
     offsetof(struct l2_counters, atomic_ops)},
    {"atomic_ticks", "ticks", "Ticks that the atomic unit was busy.",
     offsetof(struct l2_counters, atomic_ticks)},
    {"fills", "requests", "Answers from DRAM.", offsetof(struct l2_counters, fills)},
    {"stall_mshr", "ticks", "The oldest request waited for a miss register.",
     offsetof(struct l2_counters, stall_mshr)},
    {"stall_merge", "ticks", "The oldest request waited for room in its line's miss register.",
     offsetof(struct l2_counters, stall_merge)},
    {"stall_queue", "ticks", "The oldest request waited for room in the queue to DRAM.",
     offsetof(struct l2_counters, stall_queue)},
    {"stall_ways", "ticks", "The oldest request waited for a way that is not pending.",
     offsetof(struct l2_counters, stall_ways)},
    {"stall_reply", "ticks", "The oldest request waited for room among the replies.",
     offsetof(struct l2_counters, stall_reply)},
};
const struct counter_table l2_counter_table = COUNTER_TABLE(l2_counter_rows);

static const struct counter_info icnt_counter_rows[] = {
    {"packets", "packets", "Packets carried.", offsetof(struct icnt_counters, packets)},
    {"bytes", "bytes", "Bytes carried, headers included.", offsetof(struct icnt_counters, bytes)},
    {"input_busy", "ticks", "Ticks that input ports were busy, summed over ports.",
     offsetof(struct icnt_counters, input_busy)},
    {"output_busy", "ticks", "Ticks that output ports were busy, summed over ports.",
     offsetof(struct icnt_counters, output_busy)},
    {"wait", "ticks", "Ticks that packets waited in input queues, summed over packets.",
     offsetof(struct icnt_counters, wait)},
};
const struct counter_table icnt_counter_table = COUNTER_TABLE(icnt_counter_rows);

static const struct counter_info dram_counter_rows[] = {
    {"reads", "requests", "Reads.", offsetof(struct dram_counters, reads)},
    {"writes", "requests", "Writes.", offsetof(struct dram_counters, writes)},
    {"read_bursts", "bursts", "Read commands: bursts of data read.",
     offsetof(struct dram_counters, read_bursts)},
    {"write_bursts", "bursts", "Write commands: bursts of data written.",
     offsetof(struct dram_counters, write_bursts)},
    {"activates", "commands", "Rows opened.", offsetof(struct dram_counters, activates)},
    {"precharges", "commands", "Rows closed.", offsetof(struct dram_counters, precharges)},
    {"row_hits", "requests", "Requests that found their row open.", offsetof(struct dram_counters, row_hits)},
    {"row_misses", "requests", "Requests that had their row opened.",
     offsetof(struct dram_counters, row_misses)},
    {"busy", "ticks", "Ticks that the data bus was busy.", offsetof(struct dram_counters, busy)},
    {"read_wait", "ticks", "Ticks from a read's arrival to its last command, summed.",
     offsetof(struct dram_counters, read_wait)},
    {"starved", "commands", "Commands given to a request because it had waited too long.",
     offsetof(struct dram_counters, starved)},
};
const struct counter_table dram_counter_table = COUNTER_TABLE(dram_counter_rows);
