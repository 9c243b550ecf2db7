/* Device memory: one reserved range of the host's address space, the allocations in it, and host memory that
 * the program registered.
 *
 * A device address is the host address of its byte (see reprise.h); addresses of 32-bit modules are the low
 * 32 bits of one in the first 4 GB. Allocation is first fit from low addresses, so it is deterministic.
 *
 * Simulated code reaches what hardware lets it reach: a GPU maps memory in pages of 2 MB, so an access beside
 * an allocation passes when something live shares its page, and finds whatever lies there; below the first
 * allocation pages of the driver are mapped. Of registered host memory it reaches not a byte more than was
 * registered. Freed allocations are remembered for the benefit of error reports. */
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
    uint8_t *opened;                /* a bit for each page of 2 MB: the host can access it */
    /* Not 0: allocations keep this many bytes apart, and addresses come in turn, so that what was freed is
     * not given out again for long. */
    uint64_t apart;
    uint64_t turn; /* where the search for the next one begins, then */
};

/* Bytes in a row that simulated code can access; size 0: none. */
struct mem_span {
    uint64_t addr, size;
};

/* Memory that was hit last: by loads and stores, by textures. */
struct mem_hints {
    struct mem_span data, texels;
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
/* What can be accessed around addr, up to a few GB of it; false when the address itself cannot. Valid until
 * the next alloc or free. */
bool memory_span(const struct memory *m, uint64_t addr, struct mem_span *span);
/* Whether all of [addr, addr + size) can be accessed. */
bool memory_reaches(const struct memory *m, uint64_t addr, uint64_t size);
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
