/* libcuda: copies. */
#include "cuda/driver/driver.h"

static int submit(CUstream stream, struct cud_copy copy) {
    struct cud_op op = {.kind = CUD_OP_COPY, .copy = copy};
    return cud_submit(stream, &op);
}

static struct cud_side host(const void *p) {
    return (struct cud_side){.where = CUD_HOST, .ptr = (void *)(uintptr_t)p};
}

static struct cud_side device(CUdeviceptr p) {
    return (struct cud_side){.where = CUD_DEV, .ptr = (void *)(uintptr_t)p};
}

static struct cud_side any(CUdeviceptr p) {
    return (struct cud_side){.where = CUD_ANY, .ptr = (void *)(uintptr_t)p};
}

static struct cud_side array(CUarray a, size_t offset) {
    return (struct cud_side){.where = CUD_ARR, .array = a, .x = offset};
}

/* bytes in a row, from one side to the other */
static int row(CUstream stream, struct cud_side dst, struct cud_side src, size_t bytes) {
    return submit(stream, (struct cud_copy){.src = src, .dst = dst, .width = bytes, .height = 1, .depth = 1});
}

CUresult cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t bytes) {
    DRIVER(CUD_SYNC, row(NULL, any(dst), any(src), bytes));
}
PTDS(cuMemcpy);

CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream) {
    DRIVER(CUD_CONTEXT, row(stream, any(dst), any(src), bytes));
}
PTSZ(cuMemcpyAsync);

CUresult cuMemcpyPeer(CUdeviceptr dst, CUcontext dst_ctx, CUdeviceptr src, CUcontext src_ctx, size_t bytes) {
    (void)dst_ctx;
    (void)src_ctx;
    DRIVER(CUD_SYNC, row(NULL, device(dst), device(src), bytes));
}
PTDS(cuMemcpyPeer);

CUresult cuMemcpyPeerAsync(CUdeviceptr dst, CUcontext dst_ctx, CUdeviceptr src, CUcontext src_ctx,
                           size_t bytes, CUstream stream) {
    (void)dst_ctx;
    (void)src_ctx;
    DRIVER(CUD_CONTEXT, row(stream, device(dst), device(src), bytes));
}
PTSZ(cuMemcpyPeerAsync);

CUresult cuMemcpyHtoD(CUdeviceptr dst, const void *src, size_t bytes) {
    DRIVER(CUD_SYNC, row(NULL, device(dst), host(src), bytes));
}
PTDS(cuMemcpyHtoD);

CUresult cuMemcpyDtoH(void *dst, CUdeviceptr src, size_t bytes) {
    DRIVER(CUD_SYNC, row(NULL, host(dst), device(src), bytes));
}
PTDS(cuMemcpyDtoH);

CUresult cuMemcpyDtoD(CUdeviceptr dst, CUdeviceptr src, size_t bytes) {
    DRIVER(CUD_SYNC, row(NULL, device(dst), device(src), bytes));
}
PTDS(cuMemcpyDtoD);

CUresult cuMemcpyHtoDAsync(CUdeviceptr dst, const void *src, size_t bytes, CUstream stream) {
    DRIVER(CUD_CONTEXT, row(stream, device(dst), host(src), bytes));
}
PTSZ(cuMemcpyHtoDAsync);

CUresult cuMemcpyDtoHAsync(void *dst, CUdeviceptr src, size_t bytes, CUstream stream) {
    DRIVER(CUD_CONTEXT, row(stream, host(dst), device(src), bytes));
}
PTSZ(cuMemcpyDtoHAsync);

CUresult cuMemcpyDtoDAsync(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream) {
    DRIVER(CUD_CONTEXT, row(stream, device(dst), device(src), bytes));
}
PTSZ(cuMemcpyDtoDAsync);

CUresult cuMemcpyDtoA(CUarray dst, size_t offset, CUdeviceptr src, size_t bytes) {
    DRIVER(CUD_SYNC, row(NULL, array(dst, offset), device(src), bytes));
}
PTDS(cuMemcpyDtoA);

CUresult cuMemcpyAtoD(CUdeviceptr dst, CUarray src, size_t offset, size_t bytes) {
    DRIVER(CUD_SYNC, row(NULL, device(dst), array(src, offset), bytes));
}
PTDS(cuMemcpyAtoD);

CUresult cuMemcpyHtoA(CUarray dst, size_t offset, const void *src, size_t bytes) {
    DRIVER(CUD_SYNC, row(NULL, array(dst, offset), host(src), bytes));
}
PTDS(cuMemcpyHtoA);

CUresult cuMemcpyAtoH(void *dst, CUarray src, size_t offset, size_t bytes) {
    DRIVER(CUD_SYNC, row(NULL, host(dst), array(src, offset), bytes));
}
PTDS(cuMemcpyAtoH);

CUresult cuMemcpyAtoA(CUarray dst, size_t dst_offset, CUarray src, size_t src_offset, size_t bytes) {
    DRIVER(CUD_SYNC, row(NULL, array(dst, dst_offset), array(src, src_offset), bytes));
}
PTDS(cuMemcpyAtoA);

CUresult cuMemcpyHtoAAsync(CUarray dst, size_t offset, const void *src, size_t bytes, CUstream stream) {
    DRIVER(CUD_CONTEXT, row(stream, array(dst, offset), host(src), bytes));
}
PTSZ(cuMemcpyHtoAAsync);

CUresult cuMemcpyAtoHAsync(void *dst, CUarray src, size_t offset, size_t bytes, CUstream stream) {
    DRIVER(CUD_CONTEXT, row(stream, host(dst), array(src, offset), bytes));
}
PTSZ(cuMemcpyAtoHAsync);

static int side_of(struct cud_side *s, int type, const void *host_ptr, CUdeviceptr device_ptr, CUarray arr) {
    switch (type) {
    case CU_MEMORYTYPE_HOST:
        *s = host(host_ptr);
        return cudaSuccess;
    case CU_MEMORYTYPE_DEVICE:
        *s = device(device_ptr);
        return cudaSuccess;
    case CU_MEMORYTYPE_ARRAY:
        *s = array(arr, 0);
        return cudaSuccess;
    case CU_MEMORYTYPE_UNIFIED:
        *s = any(device_ptr);
        return cudaSuccess;
    default:
        return cudaErrorInvalidValue;
    }
}

int copy_of_3d(struct cud_copy *c, const CUDA_MEMCPY3D *p) {
    if (!p || p->srcLOD || p->dstLOD)
        return cudaErrorInvalidValue;
    memset(c, 0, sizeof *c);
    if (side_of(&c->src, (int)p->srcMemoryType, p->srcHost, p->srcDevice, p->srcArray) ||
        side_of(&c->dst, (int)p->dstMemoryType, p->dstHost, p->dstDevice, p->dstArray))
        return cudaErrorInvalidValue;
    c->src.x = p->srcXInBytes;
    c->src.y = p->srcY;
    c->src.z = p->srcZ;
    c->src.pitch = p->srcPitch;
    c->src.rows = p->srcHeight;
    c->dst.x = p->dstXInBytes;
    c->dst.y = p->dstY;
    c->dst.z = p->dstZ;
    c->dst.pitch = p->dstPitch;
    c->dst.rows = p->dstHeight;
    c->width = p->WidthInBytes;
    c->height = p->Height;
    c->depth = p->Depth;
    return cudaSuccess;
}

static int copy_3d(const CUDA_MEMCPY3D *p, CUstream stream) {
    struct cud_copy c;
    int error = copy_of_3d(&c, p);
    return error ? error : submit(stream, c);
}

static int copy_2d(const CUDA_MEMCPY2D *p, CUstream stream) {
    if (!p)
        return cudaErrorInvalidValue;
    CUDA_MEMCPY3D q = {
        .srcXInBytes = p->srcXInBytes,
        .srcY = p->srcY,
        .srcMemoryType = p->srcMemoryType,
        .srcHost = p->srcHost,
        .srcDevice = p->srcDevice,
        .srcArray = p->srcArray,
        .srcPitch = p->srcPitch,
        .dstXInBytes = p->dstXInBytes,
        .dstY = p->dstY,
        .dstMemoryType = p->dstMemoryType,
        .dstHost = p->dstHost,
        .dstDevice = p->dstDevice,
        .dstArray = p->dstArray,
        .dstPitch = p->dstPitch,
        .WidthInBytes = p->WidthInBytes,
        .Height = p->Height,
        .Depth = 1,
    };
    return copy_3d(&q, stream);
}

CUresult cuMemcpy2D(const CUDA_MEMCPY2D *copy) {
    DRIVER(CUD_SYNC, copy_2d(copy, NULL));
}
PTDS(cuMemcpy2D);

CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D *copy) {
    DRIVER(CUD_SYNC, copy_2d(copy, NULL));
}
PTDS(cuMemcpy2DUnaligned);

CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D *copy, CUstream stream) {
    DRIVER(CUD_CONTEXT, copy_2d(copy, stream));
}
PTSZ(cuMemcpy2DAsync);

CUresult cuMemcpy3D(const CUDA_MEMCPY3D *copy) {
    DRIVER(CUD_SYNC, copy_3d(copy, NULL));
}
PTDS(cuMemcpy3D);

CUresult cuMemcpy3DAsync(const CUDA_MEMCPY3D *copy, CUstream stream) {
    DRIVER(CUD_CONTEXT, copy_3d(copy, stream));
}
PTSZ(cuMemcpy3DAsync);

/* The peer form has contexts where the plain one has reserved words. */
CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D *copy) {
    DRIVER(CUD_SYNC, copy_3d(copy, NULL));
}
PTDS(cuMemcpy3DPeer);

CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D *copy, CUstream stream) {
    DRIVER(CUD_CONTEXT, copy_3d(copy, stream));
}
PTSZ(cuMemcpy3DPeerAsync);

static int batch(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t n, CUstream stream) {
    if (!dsts || !srcs || !sizes)
        return cudaErrorInvalidValue;
    for (size_t i = 0; i < n; i++) {
        int error = row(stream, any(dsts[i]), any(srcs[i]), sizes[i]);
        if (error)
            return error;
    }
    return cudaSuccess;
}

CUresult cuMemcpyBatchAsync(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t n, void *attrs,
                            size_t *indices, size_t nattrs, size_t *failed, CUstream stream) {
    (void)attrs;
    (void)indices;
    (void)nattrs;
    (void)failed;
    DRIVER(CUD_CONTEXT, batch(dsts, srcs, sizes, n, stream));
}
PTSZ(cuMemcpyBatchAsync);

CUresult cuMemcpyBatchAsync_v2(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t n, void *attrs,
                               size_t *indices, size_t nattrs, CUstream stream) {
    (void)attrs;
    (void)indices;
    (void)nattrs;
    DRIVER(CUD_CONTEXT, batch(dsts, srcs, sizes, n, stream));
}
PTSZ(cuMemcpyBatchAsync_v2);
