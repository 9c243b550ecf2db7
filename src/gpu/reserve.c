/* The API of reserved addresses; src/exec/reserve.c does the work. */
#include "gpu/gpu.h"

uint64_t rp_mem_reserve(struct rp_gpu *g, uint64_t size, uint64_t align, uint64_t want) {
    return memory_reserve(&g->mem, size, align, want);
}

bool rp_mem_reserved(const struct rp_gpu *g, uint64_t addr, uint64_t *start, uint64_t *size) {
    const struct mem_range *r = memory_reserved(&g->mem, addr);
    if (!r)
        return false;
    *start = r->addr;
    *size = r->size;
    return true;
}

bool rp_mem_unreserve(struct rp_gpu *g, uint64_t addr) {
    return memory_unreserve(&g->mem, addr);
}

bool rp_mem_back(struct rp_gpu *g, uint64_t addr, uint64_t size) {
    return memory_back(&g->mem, addr, size);
}

bool rp_mem_map(struct rp_gpu *g, uint64_t addr, uint64_t size, int fd, uint64_t offset) {
    (void)g;
    return memory_map(addr, size, fd, offset);
}

void rp_mem_unmap(struct rp_gpu *g, uint64_t addr, uint64_t size) {
    memory_unmap(&g->mem, addr, size);
}

void rp_mem_access(struct rp_gpu *g, uint64_t addr, uint64_t size, enum rp_access access) {
    memory_access(&g->mem, addr, size, access);
}

bool rp_mem_charge(struct rp_gpu *g, int64_t bytes) {
    struct memory *m = &g->mem;
    if (bytes > 0 && ((uint64_t)bytes > m->limit || m->used > m->limit - (uint64_t)bytes))
        return false;
    m->used += (uint64_t)bytes;
    return true;
}
