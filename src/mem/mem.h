/* What travels through the memory system.
 *
 * Only timing lives here: values were computed when the instruction issued. A load, store or atomic becomes
 * struct mem_access, one for each line; that of a warp many (coalescer.h). A cache answers at once with enum
 * mem_result: accepted, in which case a struct mem_done with the caller's token follows, or stalled, in which
 * case the caller offers the same access again. What a cache cannot answer leaves it as struct mem_packet.
 *
 * Whoever has caches of its own stands at a port of the memory system: an SM, a core. */
#ifndef REPRISE_MEM_MEM_H
#define REPRISE_MEM_MEM_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/clock.h"

enum {
    MEM_LANES = 32,
    MEM_SECTOR = 32,    /* bytes of a sector: the least that moves between caches and memory */
    MEM_MAX_LINE = 128, /* bytes of the longest line; those of a machine have a power of two of them */
    MEM_MAX_SECTORS = MEM_MAX_LINE / MEM_SECTOR,
    MEM_SETS = 1 << MEM_MAX_SECTORS, /* of sectors of a line, as bits */
};

enum mem_kind {
    MEM_LOAD,
    MEM_STORE,
    MEM_ATOMIC,
    MEM_PREFETCH, /* a load nobody waits for: no struct mem_done follows */
};

enum {
    MEM_LOCAL = 1 << 0,  /* a thread's own memory: caches may write it back instead of through */
    MEM_BYPASS = 1 << 1, /* do not look into the SM's cache (ld.cg, ld.cv, volatile) */
    MEM_RETURN = 1 << 2, /* an atomic whose old value is wanted */
    MEM_PIN = 1 << 3,    /* lock the line in the cache: one count more */
    MEM_UNPIN = 1 << 4,  /* unlock it after this access: one count less */
    MEM_SILENT = 1 << 5, /* no answer is wanted; used between caches */
    MEM_FAR = 1 << 6,    /* of a reply: to the request for which DRAM was asked */
};

/* Who sends: the caches at a port. */
enum mem_client { MEM_DATA, MEM_TEXTURE, MEM_CONSTANT, MEM_INST, MEM_CLIENTS };

/* The sectors in a set of them. */
static inline uint32_t mem_sectors(uint8_t set) {
    return UINT64_C(0x4332322132212110) >> set * 4 & 15;
}

/* All sectors of a line of so many bytes. */
static inline uint8_t mem_all_sectors(uint32_t line) {
    return (uint8_t)((1u << line / MEM_SECTOR) - 1);
}

/* The shift that divides an address by the bytes of a line. */
static inline uint32_t mem_line_shift(uint32_t line) {
    return (uint32_t)__builtin_ctz(line);
}

/* Whether lines may have so many bytes. */
static inline bool mem_line_is_valid(uint32_t line) {
    return line >= MEM_SECTOR && line <= MEM_MAX_LINE && !(line & (line - 1));
}

/* What is wanted of one line. */
struct mem_access {
    uint64_t line;   /* its address, a multiple of its bytes */
    uint32_t lanes;  /* the lanes of a warp that it serves */
    uint16_t bytes;  /* asked for or written, those of each lane counted */
    uint8_t sectors; /* the sectors touched, sector 0 in bit 0 */
    uint8_t full;    /* stores: those of them written in every byte */
    uint8_t kind, flags;
    uint8_t ops;    /* atomics: lanes that operate */
    uint8_t serial; /* atomics: the most of them on one address, which follow one another */
};

enum mem_result {
    MEM_HIT,                    /* done after the latency of the cache */
    MEM_MISS,                   /* done when the line has come */
    MEM_MERGED,                 /* done when a line comes that was already asked for */
    MEM_SENT,                   /* stores and atomics: done when the next level has answered */
    MEM_STALL,                  /* from here on: not accepted, and why */
    MEM_STALL_PORT = MEM_STALL, /* the cache serves another access in this cycle */
    MEM_STALL_MSHR,             /* no miss register is free */
    MEM_STALL_MERGE,            /* the line's miss register holds as many accesses as it can */
    MEM_STALL_QUEUE,            /* the queue towards memory is full */
    MEM_STALL_WAYS,             /* every way of the set waits for its line, or is locked */
    MEM_STALL_STORES,           /* too many stores and atomics are unanswered */
    MEM_RESULTS
};

static inline bool mem_accepted(enum mem_result r) {
    return r < MEM_STALL;
}

/* An access is complete: registers may be written, or, for a store, it is visible to all. */
struct mem_done {
    uint64_t ready; /* first cycle in which it may be taken */
    uint32_t token; /* what the caller gave with the access */
    uint8_t kind;   /* of the access */
    uint8_t sectors;
    bool far; /* DRAM was asked for it */
};

/* A request on its way to the next level, or the reply to it. */
struct mem_packet {
    uint64_t line;
    uint32_t id;    /* of the sender: comes back in the reply */
    uint16_t port;  /* where who asks stands */
    uint16_t bytes; /* data in this packet */
    uint8_t client; /* enum mem_client */
    uint8_t kind, flags;
    uint8_t sectors, full;
    uint8_t ops, serial;
};

#endif
