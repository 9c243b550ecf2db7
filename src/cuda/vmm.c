/* See vmm.h. What is refused, and how, is what an H200's driver answers. */
#include "cuda/vmm.h"

#include "cuda/queue.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define GRANULARITY (UINT64_C(2) << 20)

enum { ALLOCATION_PINNED = 1, LOCATION_DEVICE = 1, HANDLE_FD = 1 };

/* Created or imported memory. */
struct CUmemory_st {
    struct cud_object obj;
    size_t size;
    struct cud_memory_props props;
    int fd;
    bool imported; /* counted where it was created */
    unsigned held; /* by the program: creation, retains */
    unsigned used; /* by mappings */
};

struct mapping {
    uint64_t addr, size;
    struct CUmemory_st *memory;
};

struct range {
    uint64_t addr, size;
};

static VEC(struct mapping) mappings;
static VEC(struct range) ranges; /* reserved */

static struct CUmemory_st *memory_of(uint64_t handle) {
    struct CUmemory_st *m = cud_object_get((const void *)(uintptr_t)handle, CUD_MEMORY);
    return m && m->held ? m : NULL;
}

static bool whole(uint64_t x) {
    return x && x % GRANULARITY == 0;
}

static bool inside(uint64_t addr, uint64_t size, const struct range *r) {
    return addr - r->addr < r->size && size <= r->size - (addr - r->addr);
}

static bool is_reserved(uint64_t addr, uint64_t size) {
    for (uint32_t i = 0; i < ranges.len; i++)
        if (inside(addr, size, &ranges.at[i]))
            return true;
    return false;
}

static struct mapping *mapping_at(uint64_t addr) {
    for (uint32_t i = 0; i < mappings.len; i++)
        if (addr - mappings.at[i].addr < mappings.at[i].size)
            return &mappings.at[i];
    return NULL;
}

static bool overlaps(const struct mapping *m, uint64_t addr, uint64_t size) {
    return m->addr < addr + size && addr < m->addr + m->size;
}

bool cud_vmm_mapping(uint64_t addr, uint64_t *start, uint64_t *size) {
    const struct mapping *m = mapping_at(addr);
    if (m) {
        *start = m->addr;
        *size = m->size;
    }
    return m;
}

static int props_ok(const struct cud_memory_props *p) {
    if (!p || p->type != ALLOCATION_PINNED || p->location.type != LOCATION_DEVICE)
        return cudaErrorInvalidValue;
    return p->location.id ? cudaErrorInvalidDevice : cudaSuccess;
}

int cud_vmm_granularity(size_t *out, const struct cud_memory_props *props, int option) {
    int error = props_ok(props);
    if (error || !out || option < 0 || option > 1)
        return error ? error : cudaErrorInvalidValue;
    *out = GRANULARITY;
    return cudaSuccess;
}

/* ---- addresses ---------------------------------------------------------------------------------------- */

int cud_vmm_reserve(uint64_t *out, size_t size, size_t align, uint64_t want, unsigned long long flags) {
    if (!out || !whole(size) || flags || (align & (align - 1)))
        return cudaErrorInvalidValue;
    uint64_t at = rp_mem_reserve(cud.gpu, size, align < GRANULARITY ? GRANULARITY : align, want);
    if (!at)
        return cudaErrorMemoryAllocation;
    vec_push(&ranges, (struct range){at, size});
    *out = at;
    return cudaSuccess;
}

int cud_vmm_unreserve(uint64_t addr, size_t size) {
    cud_drain();
    uint32_t i = 0;
    while (i < ranges.len && (ranges.at[i].addr != addr || ranges.at[i].size != size))
        i++;
    if (i == ranges.len)
        return cudaErrorInvalidValue;
    for (uint32_t k = 0; k < mappings.len; k++)
        if (overlaps(&mappings.at[k], addr, size))
            return cudaErrorInvalidValue;
    rp_mem_unreserve(cud.gpu, addr);
    ranges.at[i] = ranges.at[--ranges.len];
    return cudaSuccess;
}

/* ---- memory ------------------------------------------------------------------------------------------- */

static struct CUmemory_st *new_memory(size_t size, const struct cud_memory_props *props, int fd) {
    struct CUmemory_st *m = cud_object_new(CUD_MEMORY, sizeof *m, NULL);
    m->size = size;
    m->props = *props;
    m->fd = fd;
    m->held = 1;
    return m;
}

int cud_vmm_create(uint64_t *handle, size_t size, const struct cud_memory_props *props, uint64_t flags) {
    int error = props_ok(props);
    if (error || !handle || !whole(size) || flags)
        return error ? error : cudaErrorInvalidValue;
    if (size > INT64_MAX || !rp_mem_charge(cud.gpu, (int64_t)size))
        return cudaErrorMemoryAllocation;
    int fd = memfd_create("reprise", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, (off_t)size)) {
        if (fd >= 0)
            close(fd);
        rp_mem_charge(cud.gpu, -(int64_t)size);
        return cudaErrorMemoryAllocation;
    }
    *handle = (uintptr_t)new_memory(size, props, fd);
    return cudaSuccess;
}

static void drop_unused(struct CUmemory_st *m) {
    if (m->held || m->used)
        return;
    close(m->fd);
    if (!m->imported)
        rp_mem_charge(cud.gpu, -(int64_t)m->size);
    cud_object_free(m);
}

int cud_vmm_release(uint64_t handle) {
    struct CUmemory_st *m = memory_of(handle);
    if (!m)
        return cudaErrorInvalidValue;
    m->held--;
    drop_unused(m);
    return cudaSuccess;
}

int cud_vmm_retain(uint64_t *handle, const void *p) {
    const struct mapping *m = mapping_at((uintptr_t)p);
    if (!handle || !m)
        return cudaErrorInvalidValue;
    m->memory->held++;
    *handle = (uintptr_t)m->memory;
    return cudaSuccess;
}

int cud_vmm_props(struct cud_memory_props *out, uint64_t handle) {
    const struct CUmemory_st *m = memory_of(handle);
    if (!out || !m)
        return cudaErrorInvalidValue;
    *out = m->props;
    return cudaSuccess;
}

int cud_vmm_export(int *fd, uint64_t handle, int type, uint64_t flags) {
    const struct CUmemory_st *m = memory_of(handle);
    if (!fd || !m || type != HANDLE_FD || flags || !(m->props.handle_types & HANDLE_FD))
        return cudaErrorInvalidValue;
    *fd = dup(m->fd);
    return *fd < 0 ? cudaErrorOperatingSystem : cudaSuccess;
}

int cud_vmm_import(uint64_t *handle, int fd, int type) {
    struct stat st;
    static const struct cud_memory_props props = {
        .type = ALLOCATION_PINNED, .handle_types = HANDLE_FD, .location = {LOCATION_DEVICE, 0}};
    if (!handle || type != HANDLE_FD || fstat(fd, &st) || !whole((uint64_t)st.st_size))
        return cudaErrorInvalidValue;
    int own = dup(fd);
    if (own < 0)
        return cudaErrorOperatingSystem;
    struct CUmemory_st *m = new_memory((size_t)st.st_size, &props, own);
    m->imported = true;
    *handle = (uintptr_t)m;
    return cudaSuccess;
}

/* ---- mappings ----------------------------------------------------------------------------------------- */

int cud_vmm_map(uint64_t addr, size_t size, size_t offset, uint64_t handle, uint64_t flags) {
    struct CUmemory_st *m = memory_of(handle);
    if (!m || addr % GRANULARITY || flags)
        return cudaErrorInvalidValue;
    if (size != m->size || offset)
        return cudaErrorNotSupported; /* part of it */
    if (!is_reserved(addr, size))
        return cudaErrorInvalidValue;
    for (uint32_t i = 0; i < mappings.len; i++)
        if (overlaps(&mappings.at[i], addr, size))
            return cudaErrorInvalidValue;
    if (!rp_mem_map(cud.gpu, addr, size, m->fd, offset))
        return cudaErrorMemoryAllocation;
    vec_push(&mappings, (struct mapping){addr, size, m});
    m->used++;
    return cudaSuccess;
}

static void end_mapping(uint32_t i) {
    struct mapping m = mappings.at[i];
    rp_mem_unmap(cud.gpu, m.addr, m.size);
    mappings.at[i] = mappings.at[--mappings.len];
    m.memory->used--;
    drop_unused(m.memory);
}

int cud_vmm_unmap(uint64_t addr, size_t size) {
    cud_drain();
    for (uint32_t i = 0; i < mappings.len; i++) {
        const struct mapping *m = &mappings.at[i];
        if (!overlaps(m, addr, size))
            continue;
        if (m->addr < addr || m->addr + m->size > addr + size)
            return cudaErrorInvalidValue; /* part of it */
    }
    if (!is_reserved(addr, size))
        return cudaErrorInvalidValue;
    for (uint32_t i = 0; i < mappings.len;)
        if (overlaps(&mappings.at[i], addr, size))
            end_mapping(i);
        else
            i++;
    return cudaSuccess;
}

int cud_vmm_set_access(uint64_t addr, size_t size, const struct cud_memory_access *access, size_t n) {
    cud_drain();
    if (!access || !n || !whole(size))
        return cudaErrorInvalidValue;
    for (uint64_t at = addr; at - addr < size;) { /* all of it must be mapped, and by whole mappings */
        const struct mapping *m = mapping_at(at);
        if (!m || m->addr != at || m->size > size - (at - addr))
            return cudaErrorInvalidValue;
        at += m->size;
    }
    for (size_t i = 0; i < n; i++) {
        int flags = access[i].flags;
        if (access[i].location.type != LOCATION_DEVICE || access[i].location.id ||
            (flags != RP_ACCESS_NONE && flags != RP_ACCESS_READ && flags != RP_ACCESS_READ_WRITE))
            return cudaErrorInvalidValue;
    }
    for (uint64_t at = addr; at - addr < size;) { /* mapping by mapping, since each ends by itself */
        const struct mapping *m = mapping_at(at);
        rp_mem_access(cud.gpu, at, m->size, (enum rp_access)access[n - 1].flags);
        at += m->size;
    }
    return cudaSuccess;
}

int cud_vmm_get_access(uint64_t *flags, const void *location, uint64_t addr) {
    const struct rp_alloc *a = cud_mem_find(addr);
    if (!flags || !location)
        return cudaErrorInvalidValue;
    *flags = !a || a->kind != RP_MEM_MAPPED ? RP_ACCESS_NONE
             : a->read_only                 ? RP_ACCESS_READ
                                            : RP_ACCESS_READ_WRITE;
    return a || mapping_at(addr) ? cudaSuccess : cudaErrorInvalidValue;
}

void cud_vmm_reset(void) {
    while (mappings.len)
        end_mapping(mappings.len - 1);
    for (uint32_t i = 0; i < ranges.len; i++)
        rp_mem_unreserve(cud.gpu, ranges.at[i].addr);
    ranges.len = 0;
    for (uint32_t i = 0; i < cud.objects.len; i++) {
        struct CUmemory_st *m = cud.objects.entries[i].value;
        if (m && m->obj.kind == CUD_MEMORY) {
            m->held = 0;
            drop_unused(m);
        }
    }
}
