/* Linear memory: device, pinned host, managed, registered; and memory pools, which are bookkeeping only. */
#include <stdlib.h>
#include <string.h>

#include "cuda/graph.h"
#include "cuda/queue.h"

#define PITCH_ALIGN 512

int cud_mem_alloc(uint64_t *addr, size_t size, enum rp_mem_kind kind, unsigned flags) {
    const struct rp_gpu_info *info = rp_gpu_info(cud.gpu);
    if (size == 0)
        return cudaErrorInvalidValue;
    cud_settle();
    if (kind != RP_MEM_HOST && (size > info->total_mem || rp_mem_used(cud.gpu) > info->total_mem - size))
        return cudaErrorMemoryAllocation;
    uint64_t a = rp_mem_alloc(cud.gpu, size, kind);
    if (!a)
        return cudaErrorMemoryAllocation;
    struct rp_alloc *rec = rp_mem_find(cud.gpu, a);
    rec->flags = flags;
    rec->user = cud_current();
    *addr = a;
    return cudaSuccess;
}

int cud_mem_alloc_pitch(uint64_t *addr, size_t *pitch, size_t width, size_t rows) {
    size_t total;
    if (width > SIZE_MAX - PITCH_ALIGN)
        return cudaErrorMemoryAllocation;
    size_t p = (width + PITCH_ALIGN - 1) / PITCH_ALIGN * PITCH_ALIGN;
    if (__builtin_mul_overflow(p, rows, &total))
        return cudaErrorMemoryAllocation;
    int error = cud_mem_alloc(addr, total, RP_MEM_DEVICE, 0);
    if (!error)
        *pitch = p;
    return error;
}

struct rp_alloc *cud_mem_find(uint64_t addr) {
    cud_settle();
    return rp_mem_find(cud.gpu, addr);
}

int cud_mem_free_check(uint64_t addr) {
    struct rp_alloc *a = addr ? cud_mem_find(addr) : NULL;
    bool later = addr && cud_graph_mem_holds(addr, 1);
    if (!addr || later || (a && a->addr == addr && (a->kind == RP_MEM_DEVICE || a->kind == RP_MEM_MANAGED)))
        return cudaSuccess;
    cud_thread()->wrong = addr;
    return cudaErrorInvalidValue;
}

int cud_mem_free(uint64_t addr) {
    if (addr == 0)
        return cudaSuccess;
    struct rp_alloc *a = cud_mem_find(addr);
    if (!a || a->addr != addr || (a->kind != RP_MEM_DEVICE && a->kind != RP_MEM_MANAGED)) {
        cud_thread()->wrong = addr;
        return cudaErrorInvalidValue;
    }
    rp_mem_free(cud.gpu, addr);
    cud_graph_mem_freed(addr);
    return cudaSuccess;
}

int cud_host_free(void *p) {
    if (!p)
        return cudaSuccess;
    struct rp_alloc *a = cud_mem_find((uintptr_t)p);
    if (!a || a->addr != (uintptr_t)p || a->kind != RP_MEM_HOST) {
        cud_thread()->wrong = (uintptr_t)p;
        return cudaErrorInvalidValue;
    }
    rp_mem_free(cud.gpu, a->addr);
    return cudaSuccess;
}

int cud_host_register(void *p, size_t size, unsigned flags) {
    if (!p || !size)
        return cudaErrorInvalidValue;
    if (!rp_mem_register(cud.gpu, p, size))
        return cudaErrorHostMemoryAlreadyRegistered;
    struct rp_alloc *a = cud_mem_find((uintptr_t)p);
    a->flags = flags;
    a->user = cud_current();
    return cudaSuccess;
}

int cud_host_unregister(void *p) {
    struct rp_alloc *a = p ? cud_mem_find((uintptr_t)p) : NULL;
    if (!p)
        return cudaErrorInvalidValue;
    if (!a || a->kind != RP_MEM_REGISTERED || a->addr != (uintptr_t)p)
        return cudaErrorHostMemoryNotRegistered;
    rp_mem_free(cud.gpu, a->addr);
    return cudaSuccess;
}

int cud_mem_info(size_t *free_bytes, size_t *total) {
    cud_settle();
    size_t all = rp_gpu_info(cud.gpu)->total_mem, used = rp_mem_used(cud.gpu);
    if (free_bytes)
        *free_bytes = used < all ? all - used : 0;
    if (total)
        *total = all;
    return cudaSuccess;
}

/* Memory has one place, so advice is not kept: ranges are not read-mostly, and have no location. */
int cud_mem_range(void *data, size_t size, int attribute, uint64_t addr, size_t n) {
    enum { READ_MOSTLY = 1, ACCESSED_BY = 3, LAST_PLACE = 4, LAST = 8 };
    struct rp_alloc *a = cud_mem_find(addr);
    if (!data || size < sizeof(int) || size % sizeof(int) || attribute < 1 || attribute > LAST || !n ||
        !rp_mem_ptr(cud.gpu, addr, n) || a->kind != RP_MEM_MANAGED)
        return cudaErrorInvalidValue;
    int nowhere = attribute == READ_MOSTLY || attribute > LAST_PLACE ? 0 : -2;
    size_t places = attribute == ACCESSED_BY ? size / sizeof(int) : 1;
    for (size_t i = 0; i < places; i++)
        memcpy((int *)data + i, &nowhere, sizeof nowhere);
    return cudaSuccess;
}

struct CUpool_st *cud_default_pool(void) {
    if (!cud.default_pool)
        cud.default_pool = cud_object_new(CUD_POOL, sizeof *cud.default_pool, NULL);
    return cud.default_pool;
}

int cud_pool_create(struct CUpool_st **pool) {
    if (!pool)
        return cudaErrorInvalidValue;
    *pool = cud_object_new(CUD_POOL, sizeof **pool, NULL);
    return cudaSuccess;
}

int cud_pool_destroy(struct CUpool_st *pool) {
    if (!cud_object_get(pool, CUD_POOL) || pool == cud.default_pool)
        return cudaErrorInvalidValue;
    if (cud.current_pool == pool)
        cud.current_pool = NULL;
    cud_object_free(pool);
    return cudaSuccess;
}

/* Attributes 1 to 3 are ints, 4 to 8 are 64-bit; 5 to 8 report use, and setting the high marks resets them.
 */
int cud_pool_attribute(struct CUpool_st *p, int attribute, void *value, bool set) {
    if (!cud_object_get(p, CUD_POOL) || attribute < 1 || attribute > 8 || !value)
        return cudaErrorInvalidValue;
    bool wide = attribute >= 4, usage = attribute >= 5, high = attribute == 6 || attribute == 8;
    if (set) {
        if (usage && (!high || *(uint64_t *)value != 0))
            return cudaErrorInvalidValue;
        p->attributes[attribute] = wide ? *(uint64_t *)value : (uint64_t)(*(int *)value != 0);
        return cudaSuccess;
    }
    cud_settle();
    uint64_t used = rp_mem_used(cud.gpu);
    uint64_t v = usage ? used : p->attributes[attribute];
    if (wide)
        memcpy(value, &v, sizeof v);
    else
        *(int *)value = (int)v;
    return cudaSuccess;
}
