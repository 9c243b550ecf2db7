/* libcuda: streams, events, host functions. */
#include <stdlib.h>

#include "cuda/driver/driver.h"

static int create(CUstream *stream, unsigned flags, int priority) {
    return cud_stream_create(stream, flags, priority);
}

CUresult cuStreamCreate(CUstream *stream, unsigned int flags) {
    DRIVER(CUD_CONTEXT, create(stream, flags, 0));
}

CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned int flags, int priority) {
    DRIVER(CUD_CONTEXT, create(stream, flags, priority));
}

static int destroy(CUstream stream) {
    struct CUstream_st *s = cud_object_get(stream, CUD_STREAM);
    return s ? cud_stream_destroy(s) : cudaErrorInvalidResourceHandle;
}

CUresult cuStreamDestroy(CUstream stream) {
    DRIVER(CUD_CONTEXT, destroy(stream));
}
#undef cuStreamDestroy
DRIVER_SAME(cuStreamDestroy_v2, cuStreamDestroy);

CUresult cuStreamSynchronize(CUstream stream) {
    DRIVER(CUD_CONTEXT, cud_stream_settle(stream, true));
}
PTSZ(cuStreamSynchronize);

CUresult cuStreamQuery(CUstream stream) {
    DRIVER(CUD_CONTEXT, cud_stream_settle(stream, false));
}
PTSZ(cuStreamQuery);

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags) {
    DRIVER(CUD_CONTEXT, flags > 1 ? cudaErrorInvalidValue : cud_event_wait(stream, event));
}
PTSZ(cuStreamWaitEvent);

struct callback {
    CUstreamCallback fn;
    CUstream stream;
    void *data;
};

static void call_back(void *p) {
    struct callback *c = p;
    c->fn(c->stream, CUDA_SUCCESS, c->data);
    free(c);
}

static int host_func(CUstream stream, CUhostFn fn, void *data) {
    struct cud_op op = {.kind = CUD_OP_HOST, .host = {fn, data}};
    return fn ? cud_submit(stream, &op) : cudaErrorInvalidValue;
}

static int add_callback(CUstream stream, CUstreamCallback fn, void *data, unsigned flags) {
    struct CUstream_st *s = cud_stream(stream);
    if (!fn || flags)
        return cudaErrorInvalidValue;
    if (s && s->capture)
        return cudaErrorStreamCaptureUnsupported;
    struct callback *c = xmalloc(sizeof *c);
    *c = (struct callback){fn, stream, data};
    int error = host_func(stream, call_back, c);
    if (error)
        free(c);
    return error;
}

CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void *data, unsigned int flags) {
    DRIVER(CUD_CONTEXT, add_callback(stream, callback, data, flags));
}
PTSZ(cuStreamAddCallback);

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn fn, void *data) {
    DRIVER(CUD_CONTEXT, host_func(stream, fn, data));
}
PTSZ(cuLaunchHostFunc);

/* Puts the value of an expression on a live stream s. */
#define STREAM_GET(stream, out, value)                                                                       \
    do {                                                                                                     \
        int error_ = cud_begin_driver(CUD_CONTEXT);                                                          \
        struct CUstream_st *s = error_ ? NULL : cud_stream(stream);                                          \
        if (!error_)                                                                                         \
            error_ = !s ? cudaErrorInvalidResourceHandle : !(out) ? cudaErrorInvalidValue : cudaSuccess;     \
        if (!error_)                                                                                         \
            *(out) = (value);                                                                                \
        return (CUresult)cud_end_driver(error_);                                                             \
    } while (0)

CUresult cuStreamGetPriority(CUstream stream, int *priority) {
    STREAM_GET(stream, priority, s->priority);
}
PTSZ(cuStreamGetPriority);

CUresult cuStreamGetFlags(CUstream stream, unsigned int *flags) {
    STREAM_GET(stream, flags, s->flags);
}
PTSZ(cuStreamGetFlags);

CUresult cuStreamGetId(CUstream stream, unsigned long long *id) {
    STREAM_GET(stream, id, s->id);
}
PTSZ(cuStreamGetId);

CUresult cuStreamGetCtx(CUstream stream, CUcontext *ctx) {
    STREAM_GET(stream, ctx, s->obj.ctx);
}
PTSZ(cuStreamGetCtx);

CUresult cuStreamGetDevice(CUstream stream, CUdevice *dev) {
    STREAM_GET(stream, dev, 0);
}
PTSZ(cuStreamGetDevice);

CUresult cuStreamAttachMemAsync(CUstream stream, CUdeviceptr ptr, size_t bytes, unsigned int flags) {
    (void)bytes;
    (void)flags;
    DRIVER(CUD_CONTEXT, !cud_stream(stream) ? cudaErrorInvalidResourceHandle
                        : cud_mem_find(ptr) ? cudaSuccess
                                            : cudaErrorInvalidValue);
}
PTSZ(cuStreamAttachMemAsync);

CUresult cuStreamSetAttribute(CUstream stream, int attribute, const void *value) {
    DRIVER(CUD_CONTEXT, cud_stream_attribute_set(stream, attribute, value));
}
PTSZ(cuStreamSetAttribute);

CUresult cuStreamGetAttribute(CUstream stream, int attribute, void *value) {
    DRIVER(CUD_CONTEXT, cud_stream_attribute_get(stream, attribute, value));
}
PTSZ(cuStreamGetAttribute);

CUresult cuStreamCopyAttributes(CUstream dst, CUstream src) {
    DRIVER(CUD_CONTEXT, cud_stream_attributes_copy(dst, src));
}
PTSZ(cuStreamCopyAttributes);

/* ---- events ----------------------------------------------------------------------------------------- */

CUresult cuEventCreate(CUevent *event, unsigned int flags) {
    DRIVER(CUD_CONTEXT, cud_event_create(event, flags));
}

CUresult cuEventDestroy(CUevent event) {
    DRIVER(CUD_CONTEXT, cud_event_destroy(event));
}
#undef cuEventDestroy
DRIVER_SAME(cuEventDestroy_v2, cuEventDestroy);

CUresult cuEventRecord(CUevent event, CUstream stream) {
    DRIVER(CUD_CONTEXT, cud_event_record(event, stream));
}
PTSZ(cuEventRecord);

CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned int flags) {
    (void)flags;
    DRIVER(CUD_CONTEXT, cud_event_record(event, stream));
}
PTSZ(cuEventRecordWithFlags);

CUresult cuEventQuery(CUevent event) {
    DRIVER(CUD_CONTEXT, cud_event_settle(event, false));
}

CUresult cuEventSynchronize(CUevent event) {
    DRIVER(CUD_CONTEXT, cud_event_settle(event, true));
}

CUresult cuEventElapsedTime(float *ms, CUevent start, CUevent end) {
    DRIVER(CUD_CONTEXT, cud_event_elapsed(ms, start, end));
}
DRIVER_ALIAS(cuEventElapsedTime, _v2);

/* ---- memory operations of a stream ------------------------------------------------------------------- */

static int write_value(CUstream stream, CUdeviceptr ptr, uint64_t value, size_t bytes) {
    struct CUstream_st *s = cud_stream(stream);
    if (!s || !rp_mem_ptr(cud.gpu, ptr, bytes) || ptr % bytes)
        return cudaErrorInvalidValue;
    if (s->capture)
        return cudaErrorStreamCaptureUnsupported;
    int error = cudaSuccess;
    for (size_t i = 0; !error && i < bytes; i += 4) {
        struct cud_op op = {.kind = CUD_OP_FILL,
                            .fill = {ptr + i, 4, 4, (uint32_t)(value >> 8 * i), 4, 1, 1, 1}};
        error = cud_submit(stream, &op);
    }
    return error;
}

CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr ptr, uint32_t value, unsigned int flags) {
    (void)flags;
    DRIVER(CUD_CONTEXT, write_value(stream, ptr, value, 4));
}
PTSZ(cuStreamWriteValue32);
DRIVER_ALIAS(cuStreamWriteValue32, _v2);
DRIVER_ALIAS(cuStreamWriteValue32, _v2_ptsz);

CUresult cuStreamWriteValue64(CUstream stream, CUdeviceptr ptr, uint64_t value, unsigned int flags) {
    (void)flags;
    DRIVER(CUD_CONTEXT, write_value(stream, ptr, value, 8));
}
PTSZ(cuStreamWriteValue64);
DRIVER_ALIAS(cuStreamWriteValue64, _v2);
DRIVER_ALIAS(cuStreamWriteValue64, _v2_ptsz);
