/* From the addresses of a warp's lanes to accesses of lines, and to conflicts of shared-memory and constant
 * banks.
 *
 * All functions are pure. Elements are 1, 2, 4, 8 or 16 bytes and aligned to their size, so that none crosses
 * a sector; addresses of lanes outside the mask are ignored. Accesses come in the order of the first lane
 * they serve. */
#ifndef REPRISE_MEM_COALESCER_H
#define REPRISE_MEM_COALESCER_H

#include "mem/mem.h"

enum {
    COALESCER_MAX = 16 * MEM_LANES, /* accesses of one instruction: each texel of linear filtering in three
                                       dimensions, of two levels, in a line of its own */
    SHARED_BANKS = 32,
    SHARED_WORD = 4,
};

/* How a generation forms requests. */
struct coalescer_spec {
    bool split_wide; /* Fermi: elements of 8 (16) bytes go by half (quarter) warps, each on its own; later
                        generations look at the whole warp */
    uint32_t line;   /* bytes of a line */
};

/* The instruction: what all its lanes have in common. */
struct coalescer_inst {
    uint32_t mask;  /* lanes that take part */
    uint32_t bytes; /* of one lane's element */
    uint8_t kind, flags;
};

/* Global memory: writes up to COALESCER_MAX accesses and returns how many. */
uint32_t coalesce(const struct coalescer_spec *s, const struct coalescer_inst *i, const uint64_t *addr,
                  struct mem_access *out);

/* The same where lanes are at base + off; base is a multiple of the bytes of a line. */
uint32_t coalesce_near(const struct coalescer_spec *s, const struct coalescer_inst *i, uint64_t base,
                       const uint32_t *off, struct mem_access *out);

/* Local memory. Word w of lane l lies at base + (w * 32 + l) * 4, so that lanes that touch the same offset
 * share lines; base, a multiple of the bytes of a line, belongs to the warp. at: each lane's offset into its
 * local memory. */
uint32_t coalesce_local(const struct coalescer_spec *s, const struct coalescer_inst *i, uint64_t base,
                        const uint32_t *at, struct mem_access *out);

static inline uint64_t local_address(uint64_t base, uint32_t at, uint32_t lane) {
    return base + ((uint64_t)(at / 4) * MEM_LANES + lane) * 4 + at % 4;
}

/* The same of words in a row, lane 0's at addr, and of lanes that all touch what is at addr; no atomics. */
uint32_t coalesce_row(const struct coalescer_spec *s, const struct coalescer_inst *i, uint64_t addr,
                      struct mem_access *out);
uint32_t coalesce_same(const struct coalescer_spec *s, const struct coalescer_inst *i, uint64_t addr,
                       struct mem_access *out);

/* Constant memory: one access for each distinct address, at + add, since they are served one after the other.
 */
uint32_t coalesce_constant(const struct coalescer_spec *s, const struct coalescer_inst *i, const uint32_t *at,
                           uint32_t add, struct mem_access *out);

/* Textures: n texels of so many bytes, each read by a lane; one access for each line they lie in. */
uint32_t coalesce_texels(const struct coalescer_spec *s, const uint64_t *addr, const uint8_t *lane,
                         uint32_t n, uint32_t bytes, struct mem_access *out);

/* Shared memory: in how many passes the banks serve the warp, at least 1. Lanes that read or write one word
 * share a pass. Offsets into shared memory are at + add. */
uint32_t shared_passes(const struct coalescer_spec *s, const struct coalescer_inst *i, const uint32_t *at,
                       uint32_t add);
/* The same of lanes that all touch the same. */
uint32_t shared_passes_same(const struct coalescer_spec *s, const struct coalescer_inst *i);
/* The same for atomics, where lanes on one word follow one another too. */
uint32_t shared_atomic_passes(const struct coalescer_inst *i, const uint32_t *at, uint32_t add);

#endif
