/* libcuda: linear memory, pointers, pools, fills. */
#include "cuda/vmm.h"

#include "cuda/driver/driver.h"

CUresult cuMemGetInfo(size_t *free_bytes, size_t *total) {
    DRIVER(CUD_CONTEXT, cud_mem_info(free_bytes, total));
}

static int alloc_any(CUdeviceptr *ptr, size_t size, enum rp_mem_kind kind, unsigned flags) {
    uint64_t addr;
    if (!ptr)
        return cudaErrorInvalidValue;
    int error = cud_mem_alloc(&addr, size, kind, flags);
    if (!error)
        *ptr = addr;
    return error;
}

static int alloc(CUdeviceptr *ptr, size_t size, enum rp_mem_kind kind, unsigned flags) {
    int error = cud_capture_forbids_alloc();
    return error ? error : alloc_any(ptr, size, kind, flags);
}

CUresult cuMemAlloc(CUdeviceptr *ptr, size_t size) {
    DRIVER(CUD_CONTEXT, alloc(ptr, size, RP_MEM_DEVICE, 0));
}

static int alloc_pitch(CUdeviceptr *ptr, size_t *pitch, size_t width, size_t height, unsigned element) {
    uint64_t addr;
    if (!ptr || !pitch || !width || !height || (element != 4 && element != 8 && element != 16))
        return cudaErrorInvalidValue;
    int error = cud_mem_alloc_pitch(&addr, pitch, width, height);
    if (!error)
        *ptr = addr;
    return error;
}

CUresult cuMemAllocPitch(CUdeviceptr *ptr, size_t *pitch, size_t width, size_t height, unsigned int element) {
    DRIVER(CUD_CONTEXT, alloc_pitch(ptr, pitch, width, height, element));
}

static int release(CUdeviceptr ptr) {
    int error = cud_capture_forbids_alloc();
    return error ? error : cud_mem_free(ptr);
}

CUresult cuMemFree(CUdeviceptr ptr) {
    DRIVER(CUD_DRAIN, release(ptr));
}

static int address_range(CUdeviceptr *base, size_t *size, CUdeviceptr ptr) {
    struct rp_alloc *a = cud_mem_find(ptr);
    uint64_t start, bytes;
    if (!a)
        return cudaErrorSymbolNotFound;
    if (!cud_vmm_mapping(ptr, &start, &bytes)) {
        start = a->addr;
        bytes = a->size;
    }
    if (base)
        *base = start;
    if (size)
        *size = bytes;
    return cudaSuccess;
}

CUresult cuMemGetAddressRange(CUdeviceptr *base, size_t *size, CUdeviceptr ptr) {
    DRIVER(CUD_CONTEXT, address_range(base, size, ptr));
}

CUresult cuMemAllocHost(void **p, size_t size) {
    DRIVER(CUD_CONTEXT, alloc((CUdeviceptr *)p, size, RP_MEM_HOST, CU_MEMHOSTALLOC_DEVICEMAP));
}

CUresult cuMemHostAlloc(void **p, size_t size, unsigned int flags) {
    DRIVER(CUD_CONTEXT,
           flags > 7 ? cudaErrorInvalidValue : alloc((CUdeviceptr *)p, size, RP_MEM_HOST, flags));
}

CUresult cuMemFreeHost(void *p) {
    DRIVER(CUD_DRAIN, p ? cud_host_free(p) : cudaErrorInvalidValue);
}

static int host_alloc(void *p, struct rp_alloc **a) {
    *a = cud_mem_find((uintptr_t)p);
    return *a && ((*a)->kind == RP_MEM_HOST || (*a)->kind == RP_MEM_REGISTERED) ? cudaSuccess
                                                                                : cudaErrorInvalidValue;
}

static int host_device_pointer(CUdeviceptr *ptr, void *p, unsigned flags) {
    struct rp_alloc *a;
    if (!ptr || flags || host_alloc(p, &a))
        return cudaErrorInvalidValue;
    *ptr = (uintptr_t)p;
    return cudaSuccess;
}

CUresult cuMemHostGetDevicePointer(CUdeviceptr *ptr, void *p, unsigned int flags) {
    DRIVER(CUD_CONTEXT, host_device_pointer(ptr, p, flags));
}

static int host_flags(unsigned *flags, void *p) {
    struct rp_alloc *a;
    if (!flags || host_alloc(p, &a))
        return cudaErrorInvalidValue;
    *flags = a->flags | CU_MEMHOSTALLOC_DEVICEMAP;
    return cudaSuccess;
}

CUresult cuMemHostGetFlags(unsigned int *flags, void *p) {
    DRIVER(CUD_CONTEXT, host_flags(flags, p));
}

CUresult cuMemHostRegister(void *p, size_t size, unsigned int flags) {
    DRIVER(CUD_CONTEXT, cud_host_register(p, size, flags));
}
#undef cuMemHostRegister
DRIVER_SAME(cuMemHostRegister_v2, cuMemHostRegister);

CUresult cuMemHostUnregister(void *p) {
    DRIVER(CUD_DRAIN, cud_host_unregister(p));
}

CUresult cuMemAllocManaged(CUdeviceptr *ptr, size_t size, unsigned int flags) {
    DRIVER(CUD_CONTEXT, flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST
                            ? cudaErrorInvalidValue
                            : alloc(ptr, size, RP_MEM_MANAGED, flags));
}

/* ---- pointers --------------------------------------------------------------------------------------- */

static void put64(void *data, uint64_t v) {
    memcpy(data, &v, sizeof v);
}

static void put32(void *data, int v) {
    memcpy(data, &v, sizeof v);
}

static int pointer_attribute(void *data, int attribute, CUdeviceptr ptr) {
    struct rp_alloc *a = cud_mem_find(ptr);
    if (!data || !a)
        return cudaErrorInvalidValue;
    bool host = a->kind == RP_MEM_HOST || a->kind == RP_MEM_REGISTERED;
    uint64_t start, size;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        put64(data, (uintptr_t)(a->user ? a->user : cud_current()));
        return cudaSuccess;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        put32(data, host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
        return cudaSuccess;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        put64(data, ptr);
        return cudaSuccess;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        if (!host && a->kind != RP_MEM_MANAGED)
            return cudaErrorInvalidValue;
        put64(data, ptr);
        return cudaSuccess;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        put32(data, 0);
        return cudaSuccess;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
        put64(data, a->addr);
        return cudaSuccess;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        *(unsigned char *)data = a->kind == RP_MEM_MANAGED;
        return cudaSuccess;
    case CU_POINTER_ATTRIBUTE_MAPPED:
        *(unsigned char *)data = 1;
        return cudaSuccess;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        if (a->kind != RP_MEM_MAPPED || !rp_mem_reserved(cud.gpu, ptr, &start, &size)) {
            start = a->addr;
            size = a->size;
        }
        put64(data, attribute == CU_POINTER_ATTRIBUTE_RANGE_SIZE ? size : start);
        return cudaSuccess;
    default:
        return cudaErrorNotSupported;
    }
}

CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr ptr) {
    DRIVER(CUD_CONTEXT, pointer_attribute(data, (int)attribute, ptr));
}

/* Unlike the single form, this one answers for any pointer: what it does not know is zero. */
static int pointer_attributes(unsigned n, CUpointer_attribute *attributes, void **data, CUdeviceptr ptr) {
    if (!attributes || !data)
        return cudaErrorInvalidValue;
    for (unsigned i = 0; i < n; i++)
        if (pointer_attribute(data[i], (int)attributes[i], ptr) && data[i]) {
            if (attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
                put32(data[i], -2);
            else if (attributes[i] == CU_POINTER_ATTRIBUTE_MEMORY_TYPE)
                put32(data[i], 0);
            else if (attributes[i] == CU_POINTER_ATTRIBUTE_IS_MANAGED ||
                     attributes[i] == CU_POINTER_ATTRIBUTE_MAPPED)
                *(unsigned char *)data[i] = 0;
            else
                put64(data[i], 0);
        }
    return cudaSuccess;
}

CUresult cuPointerGetAttributes(unsigned int n, CUpointer_attribute *attributes, void **data,
                                CUdeviceptr ptr) {
    DRIVER(CUD_CONTEXT, pointer_attributes(n, attributes, data, ptr));
}

CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute attribute, CUdeviceptr ptr) {
    DRIVER(CUD_CONTEXT, value && attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS && cud_mem_find(ptr)
                            ? cudaSuccess
                            : cudaErrorInvalidValue);
}

/* ---- advice: memory has one place, so there is nothing to move ---------------------------------------- */

static int managed_range(CUdeviceptr ptr, size_t bytes) {
    return bytes && rp_mem_ptr(cud.gpu, ptr, bytes) ? cudaSuccess : cudaErrorInvalidValue;
}

CUresult cuMemAdvise(CUdeviceptr ptr, size_t bytes, int advice, CUdevice dev) {
    (void)advice;
    (void)dev;
    DRIVER(CUD_CONTEXT, managed_range(ptr, bytes));
}

CUresult cuMemAdvise_v2(CUdeviceptr ptr, size_t bytes, int advice, CUmemLocation where) {
    (void)advice;
    (void)where;
    DRIVER(CUD_CONTEXT, managed_range(ptr, bytes));
}

CUresult cuMemPrefetchAsync(CUdeviceptr ptr, size_t bytes, CUdevice dev, CUstream stream) {
    (void)dev;
    (void)stream;
    DRIVER(CUD_CONTEXT, managed_range(ptr, bytes));
}
PTSZ(cuMemPrefetchAsync);

CUresult cuMemPrefetchAsync_v2(CUdeviceptr ptr, size_t bytes, CUmemLocation where, unsigned int flags,
                               CUstream stream) {
    (void)where;
    (void)flags;
    (void)stream;
    DRIVER(CUD_CONTEXT, managed_range(ptr, bytes));
}
PTSZ(cuMemPrefetchAsync_v2);

CUresult cuMemRangeGetAttribute(void *data, size_t size, int attribute, CUdeviceptr ptr, size_t bytes) {
    DRIVER(CUD_CONTEXT, cud_mem_range(data, size, attribute, ptr, bytes));
}

static int ranges(void **data, size_t *sizes, int *attributes, size_t n, CUdeviceptr ptr, size_t bytes) {
    int error = data && sizes && attributes && n ? cudaSuccess : cudaErrorInvalidValue;
    for (size_t i = 0; !error && i < n; i++)
        error = cud_mem_range(data[i], sizes[i], attributes[i], ptr, bytes);
    return error;
}

CUresult cuMemRangeGetAttributes(void **data, size_t *sizes, int *attributes, size_t n, CUdeviceptr ptr,
                                 size_t bytes) {
    DRIVER(CUD_CONTEXT, ranges(data, sizes, attributes, n, ptr, bytes));
}

/* ---- pools ------------------------------------------------------------------------------------------ */

static int alloc_async(CUdeviceptr *ptr, size_t size, CUstream stream) {
    struct CUstream_st *s = cud_stream(stream);
    if (!s)
        return cudaErrorInvalidResourceHandle;
    return s->capture ? cud_capture_alloc(s, (uint64_t *)ptr, size) : alloc_any(ptr, size, RP_MEM_DEVICE, 0);
}

CUresult cuMemAllocAsync(CUdeviceptr *ptr, size_t size, CUstream stream) {
    DRIVER(CUD_CONTEXT, alloc_async(ptr, size, stream));
}
PTSZ(cuMemAllocAsync);

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *ptr, size_t size, CUmemoryPool pool, CUstream stream) {
    DRIVER(CUD_CONTEXT,
           cud_object_get(pool, CUD_POOL) ? alloc_async(ptr, size, stream) : cudaErrorInvalidResourceHandle);
}
PTSZ(cuMemAllocFromPoolAsync);

static int free_async(CUdeviceptr ptr, CUstream stream) {
    struct cud_op op = {.kind = CUD_OP_FREE, .mem = {ptr, 0}};
    return cud_submit(stream, &op);
}

CUresult cuMemFreeAsync(CUdeviceptr ptr, CUstream stream) {
    DRIVER(CUD_CONTEXT, free_async(ptr, stream));
}
PTSZ(cuMemFreeAsync);

CUresult cuMemPoolCreate(CUmemoryPool *pool, const void *props) {
    DRIVER(CUD_DEVICE, props ? cud_pool_create(pool) : cudaErrorInvalidValue);
}

CUresult cuMemPoolDestroy(CUmemoryPool pool) {
    DRIVER(CUD_DEVICE, cud_pool_destroy(pool));
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, int attribute, void *value) {
    DRIVER(CUD_DEVICE, cud_pool_attribute(pool, attribute, value, true));
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, int attribute, void *value) {
    DRIVER(CUD_DEVICE, cud_pool_attribute(pool, attribute, value, false));
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t keep) {
    (void)keep;
    DRIVER(CUD_DEVICE, cud_object_get(pool, CUD_POOL) ? cudaSuccess : cudaErrorInvalidValue);
}

CUresult cuMemPoolSetAccess(CUmemoryPool pool, const void *map, size_t n) {
    (void)map;
    (void)n;
    DRIVER(CUD_DEVICE, cud_object_get(pool, CUD_POOL) ? cudaSuccess : cudaErrorInvalidValue);
}

static int pool_access(int *flags, CUmemoryPool pool) {
    if (!flags || !cud_object_get(pool, CUD_POOL))
        return cudaErrorInvalidValue;
    *flags = 3; /* read and write */
    return cudaSuccess;
}

CUresult cuMemPoolGetAccess(int *flags, CUmemoryPool pool, CUmemLocation *where) {
    (void)where;
    DRIVER(CUD_DEVICE, pool_access(flags, pool));
}

/* ---- fills ------------------------------------------------------------------------------------------ */

static int fill(CUstream stream, CUdeviceptr dst, size_t pitch, uint32_t value, unsigned elem, size_t width,
                size_t height) {
    struct cud_op op = {.kind = CUD_OP_FILL, .fill = {dst, pitch, 0, value, elem, width, height, 1}};
    return cud_submit(stream, &op);
}

#define FILL(bits, type)                                                                                     \
    CUresult cuMemsetD##bits##_v2(CUdeviceptr dst, type value, size_t n) {                                   \
        DRIVER(CUD_SYNC, fill(NULL, dst, 0, value, bits / 8, n, 1));                                         \
    }                                                                                                        \
    PTDS(cuMemsetD##bits##_v2);                                                                              \
    CUresult cuMemsetD##bits##Async(CUdeviceptr dst, type value, size_t n, CUstream stream) {                \
        DRIVER(CUD_CONTEXT, fill(stream, dst, 0, value, bits / 8, n, 1));                                    \
    }                                                                                                        \
    PTSZ(cuMemsetD##bits##Async);                                                                            \
    CUresult cuMemsetD2D##bits##_v2(CUdeviceptr dst, size_t pitch, type value, size_t w, size_t h) {         \
        DRIVER(CUD_SYNC, fill(NULL, dst, pitch, value, bits / 8, w, h));                                     \
    }                                                                                                        \
    PTDS(cuMemsetD2D##bits##_v2);                                                                            \
    CUresult cuMemsetD2D##bits##Async(CUdeviceptr dst, size_t pitch, type value, size_t w, size_t h,         \
                                      CUstream stream) {                                                     \
        DRIVER(CUD_CONTEXT, fill(stream, dst, pitch, value, bits / 8, w, h));                                \
    }                                                                                                        \
    PTSZ(cuMemsetD2D##bits##Async);

FILL(8, unsigned char)
FILL(16, unsigned short)
FILL(32, unsigned int)
