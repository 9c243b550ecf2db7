/* One DRAM channel: banks and rows, first-ready first-come scheduling, GDDR5 timing.
 *
 * One command goes out in each tick of the command clock. Row hits go before others unless the oldest request
 * has waited too long; writes wait until there are many of them, or nothing to read. Meanwhile rows for what
 * waits are opened in banks that are not in use. Rows stay open. Refresh and power-down are left out. */
#ifndef REPRISE_MEM_DRAM_H
#define REPRISE_MEM_DRAM_H

#include "base/arena.h"
#include "mem/mem.h"

/* In ticks of the command clock. */
struct dram_timing {
    uint32_t rcd;  /* activate to column command */
    uint32_t rp;   /* precharge to activate */
    uint32_t ras;  /* activate to precharge */
    uint32_t rc;   /* activate to activate, same bank */
    uint32_t rrd;  /* activate to activate, any bank */
    uint32_t faw;  /* activate to the fourth activate after it */
    uint32_t cl;   /* read to data */
    uint32_t wl;   /* write to data */
    uint32_t ccd;  /* column command to column command of the same kind, any bank */
    uint32_t ccdl; /* the same within a bank group */
    uint32_t wr;   /* end of written data to precharge */
    uint32_t wtr;  /* end of written data to read */
    uint32_t rtp;  /* read to precharge */
};

struct dram_spec {
    uint32_t banks, groups; /* banks in all, at most 64, and the groups they form */
    uint32_t line;          /* bytes of a line */
    uint32_t row;           /* bytes of a row, a multiple of chunk */
    uint32_t chunk;         /* consecutive bytes in one bank before the next bank follows; whole lines */
    bool hash;              /* banks also depend on the row, so that strides spread */
    uint32_t burst_bytes, burst_ticks; /* one column command moves, and occupies the data bus for */
    uint32_t queue, write_queue;       /* requests that wait */
    uint32_t reads;                 /* reads that may be under way, those included whose data was not taken */
    uint32_t write_high, write_low; /* writes that start, and end, a round of writing; low is less */
    bool mixed;       /* reads and writes share queue, and are served as they come, hits first */
    uint32_t starve;  /* ticks after which the oldest request goes first */
    uint32_t latency; /* ticks a read takes beside the timing of the chips */
    struct dram_timing t;
};

/* What happens on a channel. */
struct dram_counters { /* in words: mem/counters.c */
    uint64_t reads, writes, read_bursts, write_bursts, activates, precharges, row_hits, row_misses, busy,
        read_wait, starved;
};

enum dram_command { DRAM_ACTIVATE, DRAM_PRECHARGE, DRAM_READ, DRAM_WRITE };

/* A probe, called with every command; it changes nothing. */
typedef void dram_probe(void *ctx, uint64_t now, enum dram_command c, uint32_t bank, uint64_t row);

struct dram;

struct dram *dram_create(struct arena *a, const struct dram_spec *s);
bool dram_has_room(const struct dram *d, bool write);
/* A request for sectors of a line, from tick now on. Reads come back by id. */
void dram_push(struct dram *d, uint64_t now, uint64_t line, uint8_t sectors, bool write, uint32_t id);
void dram_tick(struct dram *d, uint64_t now);
/* The next tick with something to do for dram_tick. */
uint64_t dram_next(const struct dram *d);
/* The tick in which the next read's data comes, or NEVER when that depends on commands still to be given. */
uint64_t dram_pop_at(const struct dram *d);
/* For who need not see every tick, since nothing is pushed meanwhile: does all those up to a tick, and tells
 * when the next read's data comes, or, as long as that is not known, the first tick in which it could. */
void dram_run(struct dram *d, uint64_t until);
uint64_t dram_pop_from(const struct dram *d);
/* The first tick in which data of a read could come that is pushed in tick now. */
uint64_t dram_soonest(const struct dram *d, uint64_t now);
/* Takes that read. */
void dram_pop(struct dram *d, uint32_t *id, uint8_t *sectors);
bool dram_idle(const struct dram *d);
const struct dram_counters *dram_counters(const struct dram *d);
void dram_watch(struct dram *d, dram_probe *probe, void *ctx);

#endif
