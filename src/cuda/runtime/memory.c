/* libcudart: linear memory, pointers, pools, fills. */
#include <stdlib.h>

#include "cuda/runtime/runtime.h"

/* Nothing is what zero bytes get, without an error. */
static int alloc_any(void **p, size_t size, enum rp_mem_kind kind, unsigned flags) {
    uint64_t addr = 0;
    if (!p)
        return cudaErrorInvalidValue;
    int error = size ? cud_mem_alloc(&addr, size, kind, flags) : cudaSuccess;
    if (!error)
        *p = (void *)(uintptr_t)addr;
    return error;
}

static int alloc(void **p, size_t size, enum rp_mem_kind kind, unsigned flags) {
    int error = cud_capture_forbids_alloc();
    return error ? error : alloc_any(p, size, kind, flags);
}

cudaError_t cudaMalloc(void **p, size_t size) {
    RUNTIME(CUD_CONTEXT, alloc(p, size, RP_MEM_DEVICE, 0));
}

cudaError_t cudaMallocHost(void **p, size_t size) {
    RUNTIME(CUD_CONTEXT, alloc(p, size, RP_MEM_HOST, 0));
}

cudaError_t cudaHostAlloc(void **p, size_t size, unsigned flags) {
    RUNTIME(CUD_CONTEXT, flags > 7 ? cudaErrorInvalidValue : alloc(p, size, RP_MEM_HOST, flags));
}

cudaError_t cudaMallocManaged(void **p, size_t size, unsigned flags) {
    RUNTIME(CUD_CONTEXT,
            flags != 1 && flags != 2 ? cudaErrorInvalidValue : alloc(p, size, RP_MEM_MANAGED, flags));
}

static int release(void *p) {
    int error = cud_capture_forbids_alloc();
    return error ? error : cud_mem_free((uintptr_t)p);
}

cudaError_t cudaFree(void *p) {
    RUNTIME(CUD_DRAIN, release(p));
}

cudaError_t cudaFreeHost(void *p) {
    RUNTIME(CUD_DRAIN, cud_host_free(p));
}

static int alloc_pitch(void **p, size_t *pitch, size_t width, size_t rows) {
    uint64_t addr = 0;
    if (!p || !pitch)
        return cudaErrorInvalidValue;
    int error = cudaSuccess;
    *pitch = 0;
    if (width && rows)
        error = cud_mem_alloc_pitch(&addr, pitch, width, rows);
    if (!error)
        *p = (void *)(uintptr_t)addr;
    return error;
}

cudaError_t cudaMallocPitch(void **p, size_t *pitch, size_t width, size_t height) {
    RUNTIME(CUD_CONTEXT, alloc_pitch(p, pitch, width, height));
}

static int alloc_3d(struct cudaPitchedPtr *p, struct cudaExtent e) {
    size_t rows;
    if (!p || __builtin_mul_overflow(e.height, e.depth, &rows))
        return cudaErrorInvalidValue;
    int error = alloc_pitch(&p->ptr, &p->pitch, e.width, rows);
    p->xsize = e.width;
    p->ysize = e.height;
    return error;
}

cudaError_t cudaMalloc3D(struct cudaPitchedPtr *p, struct cudaExtent extent) {
    RUNTIME(CUD_CONTEXT, alloc_3d(p, extent));
}

cudaError_t cudaHostRegister(void *p, size_t size, unsigned flags) {
    RUNTIME(CUD_CONTEXT, cud_host_register(p, size, flags));
}

cudaError_t cudaHostUnregister(void *p) {
    RUNTIME(CUD_DRAIN, cud_host_unregister(p));
}

static struct rp_alloc *host_memory(const void *p) {
    struct rp_alloc *a = cud_mem_find((uintptr_t)p);
    return a && (a->kind == RP_MEM_HOST || a->kind == RP_MEM_REGISTERED) ? a : NULL;
}

static int device_pointer(void **device, void *p, unsigned flags) {
    if (!device || flags || !host_memory(p))
        return cudaErrorInvalidValue;
    *device = p;
    return cudaSuccess;
}

cudaError_t cudaHostGetDevicePointer(void **device, void *p, unsigned flags) {
    RUNTIME(CUD_CONTEXT, device_pointer(device, p, flags));
}

static int host_flags(unsigned *flags, void *p) {
    struct rp_alloc *a = host_memory(p);
    if (!flags || !a)
        return cudaErrorInvalidValue;
    *flags = a->flags | 2; /* always mapped */
    return cudaSuccess;
}

cudaError_t cudaHostGetFlags(unsigned *flags, void *p) {
    RUNTIME(CUD_CONTEXT, host_flags(flags, p));
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total) {
    RUNTIME(CUD_CONTEXT, cud_mem_info(free_bytes, total));
}

enum { TYPE_UNREGISTERED, TYPE_HOST, TYPE_DEVICE, TYPE_MANAGED };

static int pointer_attributes(struct cudaPointerAttributes *out, const void *p) {
    if (!out)
        return cudaErrorInvalidValue;
    struct rp_alloc *a = p ? cud_mem_find((uintptr_t)p) : NULL;
    memset(out, 0, sizeof *out);
    out->device = -2;
    out->hostPointer = (void *)(uintptr_t)p;
    if (!a || a->kind == RP_MEM_ARRAY)
        return cudaSuccess;
    out->device = 0;
    out->devicePointer = (void *)(uintptr_t)p;
    out->type = a->kind == RP_MEM_MANAGED                                ? TYPE_MANAGED
                : a->kind == RP_MEM_HOST || a->kind == RP_MEM_REGISTERED ? TYPE_HOST
                                                                         : TYPE_DEVICE;
    if (out->type == TYPE_DEVICE)
        out->hostPointer = NULL;
    return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *out, const void *p) {
    RUNTIME(CUD_CONTEXT, pointer_attributes(out, p));
}

/* ---- advice: memory has one place, so there is nothing to move ---------------------------------------- */

static int managed_range(const void *p, size_t n) {
    return n && rp_mem_ptr(cud.gpu, (uintptr_t)p, n) ? cudaSuccess : cudaErrorInvalidValue;
}

#if REPRISE_CUDART < 13
cudaError_t cudaMemAdvise(const void *p, size_t n, int advice, int device) {
    (void)advice, (void)device;
    RUNTIME(CUD_CONTEXT, managed_range(p, n));
}

cudaError_t cudaMemPrefetchAsync(const void *p, size_t n, int device, cudaStream_t stream) {
    (void)device, (void)stream;
    RUNTIME(CUD_CONTEXT, managed_range(p, n));
}
PTSZ(cudaMemPrefetchAsync);
#endif

cudaError_t cudaMemAdvise_v2(const void *p, size_t n, int advice, struct cudaMemLocation where) {
    (void)advice, (void)where;
    RUNTIME(CUD_CONTEXT, managed_range(p, n));
}

cudaError_t cudaMemPrefetchAsync_v2(const void *p, size_t n, struct cudaMemLocation where, unsigned flags,
                                    cudaStream_t stream) {
    (void)where, (void)flags, (void)stream;
    RUNTIME(CUD_CONTEXT, managed_range(p, n));
}
PTSZ(cudaMemPrefetchAsync_v2);

#if REPRISE_CUDART >= 13
RUNTIME_SAME(cudaMemAdvise_v2, cudaMemAdvise);
RUNTIME_SAME(cudaMemPrefetchAsync_v2, cudaMemPrefetchAsync);
RUNTIME_SAME(cudaMemPrefetchAsync_v2, cudaMemPrefetchAsync_ptsz);
#endif

cudaError_t cudaMemRangeGetAttribute(void *data, size_t size, int attribute, const void *p, size_t n) {
    RUNTIME(CUD_CONTEXT, cud_mem_range(data, size, attribute, (uintptr_t)p, n));
}

static int ranges(void **data, size_t *sizes, int *attributes, size_t n, const void *p, size_t bytes) {
    int error = data && sizes && attributes && n ? cudaSuccess : cudaErrorInvalidValue;
    for (size_t i = 0; !error && i < n; i++)
        error = cud_mem_range(data[i], sizes[i], attributes[i], (uintptr_t)p, bytes);
    return error;
}

cudaError_t cudaMemRangeGetAttributes(void **data, size_t *sizes, int *attributes, size_t n, const void *p,
                                      size_t bytes) {
    RUNTIME(CUD_CONTEXT, ranges(data, sizes, attributes, n, p, bytes));
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *p, size_t n, unsigned flags) {
    (void)n, (void)flags;
    RUNTIME(CUD_CONTEXT, !cud_stream(stream)          ? cudaErrorInvalidResourceHandle
                         : cud_mem_find((uintptr_t)p) ? cudaSuccess
                                                      : cudaErrorInvalidValue);
}
PTSZ(cudaStreamAttachMemAsync);

/* ---- pools ------------------------------------------------------------------------------------------ */

static int alloc_async(void **p, size_t size, cudaStream_t stream) {
    struct CUstream_st *s = cud_stream(stream);
    if (!s)
        return cudaErrorInvalidResourceHandle;
    return s->capture ? cud_capture_alloc(s, (uint64_t *)p, size) : alloc_any(p, size, RP_MEM_DEVICE, 0);
}

cudaError_t cudaMallocAsync(void **p, size_t size, cudaStream_t stream) {
    RUNTIME(CUD_CONTEXT, alloc_async(p, size, stream));
}
PTSZ(cudaMallocAsync);

cudaError_t cudaMallocFromPoolAsync(void **p, size_t size, cudaMemPool_t pool, cudaStream_t stream) {
    RUNTIME(CUD_CONTEXT,
            cud_object_get(pool, CUD_POOL) ? alloc_async(p, size, stream) : cudaErrorInvalidResourceHandle);
}
PTSZ(cudaMallocFromPoolAsync);

static int free_async(void *p, cudaStream_t stream) {
    struct cud_op op = {.kind = CUD_OP_FREE, .mem = {(uintptr_t)p, 0}};
    return cud_submit(stream, &op);
}

cudaError_t cudaFreeAsync(void *p, cudaStream_t stream) {
    RUNTIME(CUD_CONTEXT, free_async(p, stream));
}
PTSZ(cudaFreeAsync);

static int pool_out(cudaMemPool_t *out, cudaMemPool_t pool, int device) {
    if (!out)
        return cudaErrorInvalidValue;
    *out = pool;
    return device ? cudaErrorInvalidDevice : cudaSuccess;
}

static cudaMemPool_t current_pool(void) {
    return cud.current_pool ? cud.current_pool : cud_default_pool();
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device) {
    RUNTIME(CUD_DEVICE, pool_out(pool, cud_default_pool(), device));
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device) {
    RUNTIME(CUD_DEVICE, pool_out(pool, current_pool(), device));
}

cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t *pool, struct cudaMemLocation *where, int type) {
    (void)type;
    RUNTIME(CUD_DEVICE, where ? pool_out(pool, cud_default_pool(), 0) : cudaErrorInvalidValue);
}

cudaError_t cudaMemGetMemPool(cudaMemPool_t *pool, struct cudaMemLocation *where, int type) {
    (void)type;
    RUNTIME(CUD_DEVICE, where ? pool_out(pool, current_pool(), 0) : cudaErrorInvalidValue);
}

static int set_pool(cudaMemPool_t pool) {
    if (!cud_object_get(pool, CUD_POOL))
        return cudaErrorInvalidValue;
    cud.current_pool = pool;
    return cudaSuccess;
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
    RUNTIME(CUD_DEVICE, device ? cudaErrorInvalidDevice : set_pool(pool));
}

cudaError_t cudaMemSetMemPool(struct cudaMemLocation *where, int type, cudaMemPool_t pool) {
    (void)type;
    RUNTIME(CUD_DEVICE, where ? set_pool(pool) : cudaErrorInvalidValue);
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const void *props) {
    RUNTIME(CUD_DEVICE, props ? cud_pool_create(pool) : cudaErrorInvalidValue);
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
    RUNTIME(CUD_DEVICE, cud_pool_destroy(pool));
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, int attribute, void *value) {
    RUNTIME(CUD_DEVICE, cud_pool_attribute(pool, attribute, value, true));
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, int attribute, void *value) {
    RUNTIME(CUD_DEVICE, cud_pool_attribute(pool, attribute, value, false));
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t keep) {
    (void)keep;
    RUNTIME(CUD_DEVICE, cud_object_get(pool, CUD_POOL) ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const void *list, size_t n) {
    (void)list, (void)n;
    RUNTIME(CUD_DEVICE, cud_object_get(pool, CUD_POOL) ? cudaSuccess : cudaErrorInvalidValue);
}

static int pool_access(int *flags, cudaMemPool_t pool) {
    if (!flags || !cud_object_get(pool, CUD_POOL))
        return cudaErrorInvalidValue;
    *flags = 3; /* read and write */
    return cudaSuccess;
}

cudaError_t cudaMemPoolGetAccess(int *flags, cudaMemPool_t pool, struct cudaMemLocation *where) {
    (void)where;
    RUNTIME(CUD_DEVICE, pool_access(flags, pool));
}

/* ---- fills ------------------------------------------------------------------------------------------ */

static int fill(cudaStream_t stream, void *p, size_t pitch, size_t slice, int value, struct cudaExtent e) {
    struct cud_op op = {
        .kind = CUD_OP_FILL,
        .fill = {(uintptr_t)p, pitch, slice, (uint32_t)value & 0xff, 1, e.width, e.height, e.depth}};
    return cud_submit(stream, &op);
}

static struct cudaExtent extent(size_t w, size_t h) {
    return (struct cudaExtent){w, h, 1};
}

cudaError_t cudaMemset(void *p, int value, size_t n) {
    RUNTIME(CUD_SYNC, fill(NULL, p, 0, 0, value, extent(n, 1)));
}
PTDS(cudaMemset);

cudaError_t cudaMemsetAsync(void *p, int value, size_t n, cudaStream_t stream) {
    RUNTIME(CUD_CONTEXT, fill(stream, p, 0, 0, value, extent(n, 1)));
}
PTSZ(cudaMemsetAsync);

cudaError_t cudaMemset2D(void *p, size_t pitch, int value, size_t width, size_t height) {
    RUNTIME(CUD_SYNC, fill(NULL, p, pitch, 0, value, extent(width, height)));
}
PTDS(cudaMemset2D);

cudaError_t cudaMemset2DAsync(void *p, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
    RUNTIME(CUD_CONTEXT, fill(stream, p, pitch, 0, value, extent(width, height)));
}
PTSZ(cudaMemset2DAsync);

cudaError_t cudaMemset3D(struct cudaPitchedPtr p, int value, struct cudaExtent e) {
    RUNTIME(CUD_SYNC, fill(NULL, p.ptr, p.pitch, p.pitch * p.ysize, value, e));
}
PTDS(cudaMemset3D);

cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr p, int value, struct cudaExtent e, cudaStream_t stream) {
    RUNTIME(CUD_CONTEXT, fill(stream, p.ptr, p.pitch, p.pitch * p.ysize, value, e));
}
PTSZ(cudaMemset3DAsync);
