/* The memory of the timed CPU: for each core an instruction and a data cache, translation buffers and a
 * prefetcher; L2 and DRAM for all.
 *
 * Only timing lives here. Time is counted in cycles of the cores and moves when somebody asks: a core that
 * hits asks nothing. An access that misses is given a number, and cpumem_wait moves time until it is there.
 * Times of accesses never decrease; one that is earlier than memory's time, since the other core was ahead,
 * happens at memory's time. */
#ifndef REPRISE_CPU_CPUMEM_H
#define REPRISE_CPU_CPUMEM_H

#include "cpu/config.h"
#include "mem/cache.h"
#include "mem/dram.h"

enum { CPUMEM_CORES = 2, CPUMEM_SLOTS = 32, CPUMEM_CHANNELS = 4, RECENT = 256 };

struct tlb_counters {
    uint64_t looks, misses;
};

struct tlb {
    uint32_t sets, ways;
    uint64_t *page, *stamp; /* by set, then way */
    uint64_t last, time;    /* the page looked for last */
    struct tlb_counters n;
};

/* Loads by address of their instruction, and the strides of their misses. */
struct stride {
    uint64_t pc, last;
    int64_t stride;
    uint32_t seen;  /* times in a row */
    uint64_t ahead; /* the last line that was fetched ahead, while the stride stays */
};

/* Slots of a cache in which lines were, by the number of the line; and how often they were found there, by
 * sectors, loads and stores apart. */
struct recent {
    uint32_t slot[RECENT];
    uint64_t hits[2][MEM_SETS];
};

struct cpumem;

/* A core's side. */
struct port {
    struct cpumem *memory;
    uint64_t space; /* distinguishes the addresses of programs */
    struct cache *l1i, *l1d;
    struct tlb itlb, dtlb;
    struct stride *strides;
    struct recent data, code;
    uint32_t extra; /* cycles that the last load or store took for translation and a second line */
    uint64_t done[CPUMEM_SLOTS]; /* when an access was complete; NEVER: it is not */
    uint32_t busy;               /* bits of numbers in use */
    uint64_t fetched;            /* when the line of code that is waited for came; NEVER: it has not */
};

/* A request on its way to DRAM. */
struct to_dram {
    struct mem_packet packet;
    uint64_t ready;
};

/* A channel of DRAM. Its ticks are done when somebody must know of them: before it is given more, and when
 * data may come. That is in the tick into which it falls, or, if memory does or is asked something in a cycle
 * behind the tick before, already then. */
struct channel {
    struct dram *dram;
    uint64_t at, soon; /* these two cycles, of the next data */
};

/* A miss in a memory in which nothing else is under way. Its line has its place in the first cache. If it is
 * waited for before time moves and anything else is asked for, it is resolved at once; else it becomes a
 * request as any other. */
struct lone_miss {
    bool on;
    uint8_t sectors; /* that are waited for */
    uint32_t cache, slot, token;
    uint64_t line;
    struct tags_victim victim; /* whose place it took */
};

struct cpumem {
    struct arena arena;
    struct cpu_config cfg;
    uint32_t shift, nports;
    struct port port[CPUMEM_CORES];
    struct cache *l2;
    struct channel channel[CPUMEM_CHANNELS];
    struct clock dram_clock;
    struct divisor interleave, channels;
    QUEUE(struct to_dram) to_dram;
    uint64_t now;                /* everything up to this cycle has happened */
    uint64_t before;             /* the cycle before in which something happened or somebody asked */
    uint64_t due;                /* the next cycle with something to do, if nobody asks before; NEVER: none */
    uint64_t visit;              /* the first one in which whoever asks finds something to do */
    uint64_t dram_at, dram_soon; /* of all channels */
    struct lone_miss lone;
    bool stepwise;    /* no miss is resolved at once; nothing else is different */
    uint32_t leaving; /* bits of first caches, by port and kind, that have requests for L2 */
    bool blocked;     /* the next request for DRAM finds its queue full */
};

/* l2_ways: those of L2 that hold lines. */
void cpumem_init(struct cpumem *m, const struct cpu_config *cfg, uint32_t l2_ways);
void cpumem_free(struct cpumem *m);

enum { CPUMEM_HIT = -1 };

/* A load of size bytes at cycle now. CPUMEM_HIT, or the number of an access that is under way and must be
 * waited for; sets extra. pc is its instruction's address. */
int cpumem_load(struct port *p, uint64_t now, uint64_t address, uint32_t size, uint64_t pc);
/* The same for a store. */
int cpumem_store(struct port *p, uint64_t now, uint64_t address, uint32_t size);
/* The line of code at an address: the cycle in which it is there. */
uint64_t cpumem_fetch(struct port *p, uint64_t now, uint64_t address);
/* Moves time until an access is complete; when that was. Its number is free then. */
uint64_t cpumem_wait(struct port *p, int number);
/* Moves time to cycle now. */
void cpumem_move_to(struct port *p, uint64_t now);
/* Whether an access is complete by cycle now, to which time has moved. If so its number is free. */
static inline bool cpumem_is_done(struct port *p, int number, uint64_t now) {
    if (p->done[number] > now)
        return false;
    p->busy &= ~(1u << number);
    return true;
}
/* Brings the counters up to date with time. */
void cpumem_settle(struct cpumem *m);
/* Something else uses L2 at cycle now: the cycle in which it may. */
uint64_t cpumem_use_l2(struct cpumem *m, uint64_t now);

#endif
