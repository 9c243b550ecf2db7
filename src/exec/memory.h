/* Device memory: one reserved range of the host's address space, the allocations in it, and host memory that
 * the program registered.
 *
 * A device address is the host address of its byte (see reprise.h); addresses of 32-bit modules are the low
 * 32 bits of one in the first 4 GB. Allocation is first fit from low addresses, so it is deterministic. Only
 * live allocations can be reached from simulated code. Freed ones are remembered for the benefit of error
 * reports. */
#ifndef REPRISE_EXEC_MEMORY_H
#define REPRISE_EXEC_MEMORY_H

#include "base/vec.h"
#include "reprise.h"

struct mem_range {
    uint64_t addr, size;
};

struct memory {
    VEC(struct rp_alloc) allocs;    /* live, in address order */
    VEC(struct rp_alloc) freed;     /* the last few that were freed, oldest first */
    uint64_t base;                  /* RP_REGION once reserved, else 0 */
    size_t limit, used;             /* bytes that may be, and are, allocated */
    VEC(struct mem_range) reserved; /* addresses, in order (reserve.c) */
    bool reserves;                  /* their range is ours */
    uint32_t read_only;             /* live allocations that may not be written */
};

/* Reserves the address range; false when the host refuses. */
bool memory_init(struct memory *m, size_t limit);
void memory_destroy(struct memory *m);
uint64_t memory_alloc(struct memory *m, size_t size, enum rp_mem_kind kind);
bool memory_register(struct memory *m, void *p, size_t size);
bool memory_free(struct memory *m, uint64_t addr);
/* The live allocation that holds addr, or NULL. */
struct rp_alloc *memory_find(const struct memory *m, uint64_t addr);
/* The first live allocation that ends beyond addr, or NULL. */
struct rp_alloc *memory_first(const struct memory *m, uint64_t addr);
/* Makes a range live that overlaps no other; false when it does. */
bool memory_add(struct memory *m, struct rp_alloc a);
/* Ends a live range; what is behind it is the caller's affair. */
void memory_forget(struct memory *m, struct rp_alloc *a);
/* Appends to out where addr lies relative to what is or was allocated. */
void memory_describe(const struct memory *m, uint64_t addr, struct str *out);

/* ---- reserve.c: see rp_mem_reserve and its kin ---- */
uint64_t memory_reserve(struct memory *m, uint64_t size, uint64_t align, uint64_t want);
/* The reserved range that holds addr, or NULL. */
const struct mem_range *memory_reserved(const struct memory *m, uint64_t addr);
bool memory_unreserve(struct memory *m, uint64_t addr);
bool memory_back(struct memory *m, uint64_t addr, uint64_t size);
bool memory_map(uint64_t addr, uint64_t size, int fd, uint64_t offset);
void memory_unmap(struct memory *m, uint64_t addr, uint64_t size);
void memory_access(struct memory *m, uint64_t addr, uint64_t size, enum rp_access access);
/* Whether [addr, addr + size) is live: one allocation, or mapped ones in a row. */
bool memory_covers(const struct memory *m, uint64_t addr, uint64_t size);
void memory_reserve_destroy(struct memory *m);

#endif
