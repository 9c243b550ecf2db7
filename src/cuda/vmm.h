/* Virtual memory management of the driver API: addresses that are reserved, memory that is created, and
 * mappings of one at the other. Memory is a file without a name, so that it can be at several addresses, and
 * in other processes, at once. */
#ifndef REPRISE_CUDA_VMM_H
#define REPRISE_CUDA_VMM_H

#include "cuda/work.h"

#pragma GCC visibility push(default)

/* CUmemAllocationProp. */
struct cud_memory_props {
    int type, handle_types;
    struct {
        int type, id;
    } location;
    void *win32;
    unsigned char flags[8];
};

/* CUmemAccessDesc. */
struct cud_memory_access {
    struct {
        int type, id;
    } location;
    int flags;
};

struct CUmemory_st;

int cud_vmm_granularity(size_t *out, const struct cud_memory_props *props, int option);
int cud_vmm_reserve(uint64_t *out, size_t size, size_t align, uint64_t want, unsigned long long flags);
int cud_vmm_unreserve(uint64_t addr, size_t size);
int cud_vmm_create(uint64_t *handle, size_t size, const struct cud_memory_props *props, uint64_t flags);
int cud_vmm_release(uint64_t handle);
/* The handle of what is mapped at p, held once more. */
int cud_vmm_retain(uint64_t *handle, const void *p);
int cud_vmm_props(struct cud_memory_props *out, uint64_t handle);
int cud_vmm_map(uint64_t addr, size_t size, size_t offset, uint64_t handle, uint64_t flags);
int cud_vmm_unmap(uint64_t addr, size_t size);
int cud_vmm_set_access(uint64_t addr, size_t size, const struct cud_memory_access *access, size_t n);
int cud_vmm_get_access(uint64_t *flags, const void *location, uint64_t addr);
/* Through a file descriptor, the one type of shareable handle there is. */
int cud_vmm_export(int *fd, uint64_t handle, int type, uint64_t flags);
int cud_vmm_import(uint64_t *handle, int fd, int type);
/* The mapping that holds addr; false when there is none. */
bool cud_vmm_mapping(uint64_t addr, uint64_t *start, uint64_t *size);
/* Forgets everything: the device was reset. */
void cud_vmm_reset(void);

#pragma GCC visibility pop

#endif
