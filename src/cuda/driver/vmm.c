/* libcuda: virtual memory management. */
#include "cuda/vmm.h"

#include "cuda/driver/driver.h"

CUresult cuMemGetAllocationGranularity(size_t *out, const struct cud_memory_props *props, int option) {
    DRIVER(CUD_DEVICE, cud_vmm_granularity(out, props, option));
}

CUresult cuMemAddressReserve(uint64_t *out, size_t size, size_t align, uint64_t want,
                             unsigned long long flags) {
    DRIVER(CUD_DEVICE, cud_vmm_reserve(out, size, align, want, flags));
}

CUresult cuMemAddressFree(uint64_t addr, size_t size) {
    DRIVER(CUD_DEVICE, cud_vmm_unreserve(addr, size));
}

CUresult cuMemCreate(uint64_t *handle, size_t size, const struct cud_memory_props *props,
                     unsigned long long flags) {
    DRIVER(CUD_DEVICE, cud_vmm_create(handle, size, props, flags));
}

CUresult cuMemRelease(uint64_t handle) {
    DRIVER(CUD_DEVICE, cud_vmm_release(handle));
}

CUresult cuMemRetainAllocationHandle(uint64_t *handle, const void *p) {
    DRIVER(CUD_DEVICE, cud_vmm_retain(handle, p));
}

CUresult cuMemGetAllocationPropertiesFromHandle(struct cud_memory_props *props, uint64_t handle) {
    DRIVER(CUD_DEVICE, cud_vmm_props(props, handle));
}

CUresult cuMemMap(uint64_t addr, size_t size, size_t offset, uint64_t handle, unsigned long long flags) {
    DRIVER(CUD_DEVICE, cud_vmm_map(addr, size, offset, handle, flags));
}

CUresult cuMemUnmap(uint64_t addr, size_t size) {
    DRIVER(CUD_DEVICE, cud_vmm_unmap(addr, size));
}

CUresult cuMemSetAccess(uint64_t addr, size_t size, const struct cud_memory_access *access, size_t n) {
    DRIVER(CUD_DEVICE, cud_vmm_set_access(addr, size, access, n));
}

CUresult cuMemGetAccess(uint64_t *flags, const void *location, uint64_t addr) {
    DRIVER(CUD_DEVICE, cud_vmm_get_access(flags, location, addr));
}

CUresult cuMemExportToShareableHandle(void *out, uint64_t handle, int type, unsigned long long flags) {
    DRIVER(CUD_DEVICE, cud_vmm_export(out, handle, type, flags));
}

CUresult cuMemImportFromShareableHandle(uint64_t *handle, void *os_handle, int type) {
    DRIVER(CUD_DEVICE, cud_vmm_import(handle, (int)(uintptr_t)os_handle, type));
}
