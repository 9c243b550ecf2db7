/* libcudart: copies between host, device, arrays and variables. */
#include "cuda/runtime/runtime.h"

/* A pointer the kind calls a device's must be one; any other may be anywhere. */
struct cud_side linear_side(const void *p, size_t pitch, enum cudaMemcpyKind kind, bool source) {
    bool device = kind == cudaMemcpyDeviceToDevice ||
                  kind == (source ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice);
    return (struct cud_side){
        .where = device ? CUD_DEV : CUD_ANY, .ptr = (void *)(uintptr_t)p, .pitch = pitch};
}

static struct cud_side array_side(const struct CUarray_st *a, size_t x, size_t y) {
    return (struct cud_side){.where = CUD_ARR, .array = (struct CUarray_st *)(uintptr_t)a, .x = x, .y = y};
}

static bool kind_ok(enum cudaMemcpyKind kind) {
    return (unsigned)kind <= cudaMemcpyDefault;
}

/* A pinned or managed buffer where the kind says device is fine; a device buffer where it says host is what
 * the other direction's check catches. */
static int submit(cudaStream_t stream, struct cud_side dst, struct cud_side src, enum cudaMemcpyKind kind,
                  size_t width, size_t height) {
    if (width == 0 || height == 0)
        return cudaSuccess;
    if (!kind_ok(kind))
        return cudaErrorInvalidMemcpyDirection;
    struct cud_op op = {.kind = CUD_OP_COPY,
                        .copy = {.src = src, .dst = dst, .width = width, .height = height, .depth = 1}};
    return cud_submit(stream, &op);
}

static int row(cudaStream_t stream, void *dst, const void *src, size_t n, enum cudaMemcpyKind kind) {
    return submit(stream, linear_side(dst, 0, kind, false), linear_side(src, 0, kind, true), kind, n, 1);
}

cudaError_t cudaMemcpy(void *dst, const void *src, size_t n, enum cudaMemcpyKind kind) {
    RUNTIME(CUD_SYNC, row(NULL, dst, src, n, kind));
}
PTDS(cudaMemcpy);

cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t n, enum cudaMemcpyKind kind,
                            cudaStream_t stream) {
    RUNTIME(CUD_CONTEXT, row(stream, dst, src, n, kind));
}
PTSZ(cudaMemcpyAsync);

cudaError_t cudaMemcpyPeer(void *dst, int dst_device, const void *src, int src_device, size_t n) {
    RUNTIME(CUD_SYNC, dst_device | src_device ? cudaErrorInvalidDevice
                                              : row(NULL, dst, src, n, cudaMemcpyDeviceToDevice));
}

cudaError_t cudaMemcpyPeerAsync(void *dst, int dst_device, const void *src, int src_device, size_t n,
                                cudaStream_t stream) {
    RUNTIME(CUD_CONTEXT, dst_device | src_device ? cudaErrorInvalidDevice
                                                 : row(stream, dst, src, n, cudaMemcpyDeviceToDevice));
}

/* ---- two dimensions --------------------------------------------------------------------------------- */

static int plane(cudaStream_t stream, void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
                 size_t height, enum cudaMemcpyKind kind) {
    if (width && height && (dpitch < width || spitch < width))
        return cudaErrorInvalidPitchValue;
    return submit(stream, linear_side(dst, dpitch, kind, false), linear_side(src, spitch, kind, true), kind,
                  width, height);
}

cudaError_t cudaMemcpy2D(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
                         size_t height, enum cudaMemcpyKind kind) {
    RUNTIME(CUD_SYNC, plane(NULL, dst, dpitch, src, spitch, width, height, kind));
}
PTDS(cudaMemcpy2D);

cudaError_t cudaMemcpy2DAsync(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
                              size_t height, enum cudaMemcpyKind kind, cudaStream_t stream) {
    RUNTIME(CUD_CONTEXT, plane(stream, dst, dpitch, src, spitch, width, height, kind));
}
PTSZ(cudaMemcpy2DAsync);

/* ---- arrays ----------------------------------------------------------------------------------------- */

static int to_array(cudaStream_t stream, cudaArray_t dst, size_t x, size_t y, const void *src, size_t pitch,
                    size_t width, size_t height, enum cudaMemcpyKind kind) {
    if (pitch < width && width && height > 1)
        return cudaErrorInvalidPitchValue;
    return submit(stream, array_side(dst, x, y), linear_side(src, pitch, kind, true), kind, width, height);
}

static int from_array(cudaStream_t stream, void *dst, size_t pitch, const struct CUarray_st *src, size_t x,
                      size_t y, size_t width, size_t height, enum cudaMemcpyKind kind) {
    if (pitch < width && width && height > 1)
        return cudaErrorInvalidPitchValue;
    return submit(stream, linear_side(dst, pitch, kind, false), array_side(src, x, y), kind, width, height);
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t dst, size_t x, size_t y, const void *src, size_t pitch,
                                size_t width, size_t height, enum cudaMemcpyKind kind) {
    RUNTIME(CUD_SYNC, to_array(NULL, dst, x, y, src, pitch, width, height, kind));
}
PTDS(cudaMemcpy2DToArray);

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t dst, size_t x, size_t y, const void *src, size_t pitch,
                                     size_t width, size_t height, enum cudaMemcpyKind kind,
                                     cudaStream_t stream) {
    RUNTIME(CUD_CONTEXT, to_array(stream, dst, x, y, src, pitch, width, height, kind));
}
PTSZ(cudaMemcpy2DToArrayAsync);

cudaError_t cudaMemcpy2DFromArray(void *dst, size_t pitch, const struct CUarray_st *src, size_t x, size_t y,
                                  size_t width, size_t height, enum cudaMemcpyKind kind) {
    RUNTIME(CUD_SYNC, from_array(NULL, dst, pitch, src, x, y, width, height, kind));
}
PTDS(cudaMemcpy2DFromArray);

cudaError_t cudaMemcpy2DFromArrayAsync(void *dst, size_t pitch, const struct CUarray_st *src, size_t x,
                                       size_t y, size_t width, size_t height, enum cudaMemcpyKind kind,
                                       cudaStream_t stream) {
    RUNTIME(CUD_CONTEXT, from_array(stream, dst, pitch, src, x, y, width, height, kind));
}
PTSZ(cudaMemcpy2DFromArrayAsync);

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t dst, size_t dx, size_t dy, const struct CUarray_st *src,
                                     size_t sx, size_t sy, size_t width, size_t height,
                                     enum cudaMemcpyKind kind) {
    RUNTIME(CUD_SYNC, submit(NULL, array_side(dst, dx, dy), array_side(src, sx, sy), kind, width, height));
}
PTDS(cudaMemcpy2DArrayToArray);

/* The one-dimensional array copies run on over the ends of rows: they become a piece of a row, whole rows,
 * and a last piece. */
static int pieces(const struct CUarray_st *array, size_t x, size_t y, size_t n, char *linear,
                  cudaStream_t stream, enum cudaMemcpyKind kind, bool to) {
    struct CUarray_st *a = cud_object_get(array, CUD_ARRAY);
    if (!a)
        return n ? cudaErrorInvalidResourceHandle : cudaSuccess;
    size_t row_bytes = a->shape.width * cud_texel_bytes(&a->shape);
    if (x > row_bytes)
        return cudaErrorInvalidValue;
    while (n) {
        size_t width = row_bytes - x < n ? row_bytes - x : n, height = 1;
        if (x == 0 && n >= row_bytes)
            height = n / row_bytes;
        int error = to ? to_array(stream, a, x, y, linear, width, width, height, kind)
                       : from_array(stream, linear, width, a, x, y, width, height, kind);
        if (error)
            return error;
        linear += width * height;
        n -= width * height;
        y += height;
        x = 0;
    }
    return cudaSuccess;
}

cudaError_t cudaMemcpyToArray(cudaArray_t dst, size_t x, size_t y, const void *src, size_t n,
                              enum cudaMemcpyKind kind) {
    RUNTIME(CUD_SYNC, pieces(dst, x, y, n, (char *)(uintptr_t)src, NULL, kind, true));
}
PTDS(cudaMemcpyToArray);

cudaError_t cudaMemcpyToArrayAsync(cudaArray_t dst, size_t x, size_t y, const void *src, size_t n,
                                   enum cudaMemcpyKind kind, cudaStream_t stream) {
    RUNTIME(CUD_CONTEXT, pieces(dst, x, y, n, (char *)(uintptr_t)src, stream, kind, true));
}
PTSZ(cudaMemcpyToArrayAsync);

cudaError_t cudaMemcpyFromArray(void *dst, const struct CUarray_st *src, size_t x, size_t y, size_t n,
                                enum cudaMemcpyKind kind) {
    RUNTIME(CUD_SYNC, pieces(src, x, y, n, dst, NULL, kind, false));
}
PTDS(cudaMemcpyFromArray);

cudaError_t cudaMemcpyFromArrayAsync(void *dst, const struct CUarray_st *src, size_t x, size_t y, size_t n,
                                     enum cudaMemcpyKind kind, cudaStream_t stream) {
    RUNTIME(CUD_CONTEXT, pieces(src, x, y, n, dst, stream, kind, false));
}
PTSZ(cudaMemcpyFromArrayAsync);

cudaError_t cudaMemcpyArrayToArray(cudaArray_t dst, size_t dx, size_t dy, const struct CUarray_st *src,
                                   size_t sx, size_t sy, size_t n, enum cudaMemcpyKind kind) {
    RUNTIME(CUD_SYNC, submit(NULL, array_side(dst, dx, dy), array_side(src, sx, sy), kind, n, 1));
}
PTDS(cudaMemcpyArrayToArray);

/* ---- three dimensions ------------------------------------------------------------------------------- */

static struct cud_side side_3d(struct CUarray_st *array, struct cudaPos pos, struct cudaPitchedPtr p,
                               enum cudaMemcpyKind kind, bool source) {
    struct cud_side s = array ? array_side(array, 0, 0) : linear_side(p.ptr, p.pitch, kind, source);
    struct CUarray_st *a = cud_object_get(array, CUD_ARRAY);
    s.x = pos.x * (a ? cud_texel_bytes(&a->shape) : 1);
    s.y = pos.y;
    s.z = pos.z;
    s.rows = p.ysize;
    return s;
}

/* Widths are in elements of the array when there is one, else in bytes. */
int copy_of_3d(struct cud_copy *c, const struct cudaMemcpy3DParms *p) {
    if (!p || (!p->srcArray && !p->srcPtr.ptr) || (!p->dstArray && !p->dstPtr.ptr))
        return cudaErrorInvalidValue;
    if (!kind_ok(p->kind))
        return cudaErrorInvalidMemcpyDirection;
    struct CUarray_st *a = cud_object_get(p->srcArray ? p->srcArray : p->dstArray, CUD_ARRAY);
    if ((p->srcArray || p->dstArray) && !a)
        return cudaErrorInvalidResourceHandle;
    c->src = side_3d(p->srcArray, p->srcPos, p->srcPtr, p->kind, true);
    c->dst = side_3d(p->dstArray, p->dstPos, p->dstPtr, p->kind, false);
    c->width = p->extent.width * (a ? cud_texel_bytes(&a->shape) : 1);
    c->height = p->extent.height;
    c->depth = p->extent.depth;
    return cudaSuccess;
}

static int box(const struct cudaMemcpy3DParms *p, cudaStream_t stream) {
    struct cud_op op = {.kind = CUD_OP_COPY};
    int error = copy_of_3d(&op.copy, p);
    return error ? error : cud_submit(stream, &op);
}

cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *p) {
    RUNTIME(CUD_SYNC, box(p, NULL));
}
PTDS(cudaMemcpy3D);

cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream) {
    RUNTIME(CUD_CONTEXT, box(p, stream));
}
PTSZ(cudaMemcpy3DAsync);

static int peer_box(const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream) {
    if (!p)
        return cudaErrorInvalidValue;
    struct cudaMemcpy3DParms q = {p->srcArray, p->srcPos, p->srcPtr, p->dstArray,
                                  p->dstPos,   p->dstPtr, p->extent, cudaMemcpyDefault};
    return p->srcDevice | p->dstDevice ? cudaErrorInvalidDevice : box(&q, stream);
}

cudaError_t cudaMemcpy3DPeer(const struct cudaMemcpy3DPeerParms *p) {
    RUNTIME(CUD_SYNC, peer_box(p, NULL));
}
PTDS(cudaMemcpy3DPeer);

cudaError_t cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream) {
    RUNTIME(CUD_CONTEXT, peer_box(p, stream));
}
PTSZ(cudaMemcpy3DPeerAsync);

/* ---- variables -------------------------------------------------------------------------------------- */

int symbol_range(const void *symbol, size_t offset, size_t count, void **addr) {
    uint64_t a;
    size_t size;
    int error = cud_symbol_address(symbol, &a, &size);
    if (error)
        return error;
    if (offset > size || count > size - offset)
        return cudaErrorInvalidValue;
    *addr = (void *)(uintptr_t)(a + offset);
    return cudaSuccess;
}

static int to_symbol(cudaStream_t stream, const void *symbol, const void *src, size_t n, size_t offset,
                     enum cudaMemcpyKind kind) {
    void *dst;
    if (kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    int error = symbol_range(symbol, offset, n, &dst);
    return error ? error : row(stream, dst, src, n, kind);
}

static int from_symbol(cudaStream_t stream, void *dst, const void *symbol, size_t n, size_t offset,
                       enum cudaMemcpyKind kind) {
    void *src;
    if (kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    int error = symbol_range(symbol, offset, n, &src);
    return error ? error : row(stream, dst, src, n, kind);
}

cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *src, size_t n, size_t offset,
                               enum cudaMemcpyKind kind) {
    RUNTIME(CUD_SYNC, to_symbol(NULL, symbol, src, n, offset, kind));
}
PTDS(cudaMemcpyToSymbol);

cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t n, size_t offset,
                                    enum cudaMemcpyKind kind, cudaStream_t stream) {
    RUNTIME(CUD_CONTEXT, to_symbol(stream, symbol, src, n, offset, kind));
}
PTSZ(cudaMemcpyToSymbolAsync);

cudaError_t cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t n, size_t offset,
                                 enum cudaMemcpyKind kind) {
    RUNTIME(CUD_SYNC, from_symbol(NULL, dst, symbol, n, offset, kind));
}
PTDS(cudaMemcpyFromSymbol);

cudaError_t cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t n, size_t offset,
                                      enum cudaMemcpyKind kind, cudaStream_t stream) {
    RUNTIME(CUD_CONTEXT, from_symbol(stream, dst, symbol, n, offset, kind));
}
PTSZ(cudaMemcpyFromSymbolAsync);

static int symbol_address(void **out, const void *symbol) {
    return out ? symbol_range(symbol, 0, 0, out) : cudaErrorInvalidValue;
}

cudaError_t cudaGetSymbolAddress(void **out, const void *symbol) {
    RUNTIME(CUD_CONTEXT, symbol_address(out, symbol));
}

cudaError_t cudaGetSymbolSize(size_t *size, const void *symbol) {
    RUNTIME(CUD_CONTEXT, size ? cud_symbol_address(symbol, NULL, size) : cudaErrorInvalidValue);
}

/* ---- batches ---------------------------------------------------------------------------------------- */

static int batch(void *const *dsts, const void *const *srcs, const size_t *sizes, size_t n,
                 cudaStream_t stream) {
    if (!dsts || !srcs || !sizes)
        return cudaErrorInvalidValue;
    for (size_t i = 0; i < n; i++) {
        int error = row(stream, dsts[i], srcs[i], sizes[i], cudaMemcpyDefault);
        if (error)
            return error;
    }
    return cudaSuccess;
}

#if REPRISE_CUDART >= 13
cudaError_t cudaMemcpyBatchAsync(void *const *dsts, const void *const *srcs, const size_t *sizes, size_t n,
                                 void *attrs, size_t *indices, size_t nattrs, cudaStream_t stream) {
    (void)attrs, (void)indices, (void)nattrs;
    RUNTIME(CUD_CONTEXT, batch(dsts, srcs, sizes, n, stream));
}
#else
cudaError_t cudaMemcpyBatchAsync(void *const *dsts, const void *const *srcs, const size_t *sizes, size_t n,
                                 void *attrs, size_t *indices, size_t nattrs, size_t *failed,
                                 cudaStream_t stream) {
    (void)attrs, (void)indices, (void)nattrs, (void)failed;
    RUNTIME(CUD_CONTEXT, batch(dsts, srcs, sizes, n, stream));
}
#endif
PTSZ(cudaMemcpyBatchAsync);
