/* libcudart: streams, events, host functions. */
#include <stdlib.h>

#include "cuda/runtime/runtime.h"

cudaError_t cudaStreamCreate(cudaStream_t *stream) {
    RUNTIME(CUD_CONTEXT, cud_stream_create(stream, 0, 0));
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
    RUNTIME(CUD_CONTEXT, cud_stream_create(stream, flags, 0));
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority) {
    RUNTIME(CUD_CONTEXT, cud_stream_create(stream, flags, priority));
}

static int destroy(cudaStream_t stream) {
    struct CUstream_st *s = cud_object_get(stream, CUD_STREAM);
    return s ? cud_stream_destroy(s) : cudaErrorInvalidResourceHandle;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    RUNTIME(CUD_CONTEXT, destroy(stream));
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    RUNTIME(CUD_CONTEXT, cud_stream_settle(stream, true));
}
PTSZ(cudaStreamSynchronize);

cudaError_t cudaStreamQuery(cudaStream_t stream) {
    RUNTIME(CUD_CONTEXT, cud_stream_settle(stream, false));
}
PTSZ(cudaStreamQuery);

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
    RUNTIME(CUD_CONTEXT, flags > 1 ? cudaErrorInvalidValue : cud_event_wait(stream, event));
}
PTSZ(cudaStreamWaitEvent);

static int host_func(cudaStream_t stream, cudaHostFn_t fn, void *data) {
    struct cud_op op = {.kind = CUD_OP_HOST, .host = {fn, data}};
    return fn ? cud_submit(stream, &op) : cudaErrorInvalidValue;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void *data) {
    RUNTIME(CUD_CONTEXT, host_func(stream, fn, data));
}
PTSZ(cudaLaunchHostFunc);

typedef void (*cudaStreamCallback_t)(cudaStream_t, cudaError_t, void *);

struct callback {
    cudaStreamCallback_t fn;
    cudaStream_t stream;
    void *data;
};

static void call_back(void *p) {
    struct callback *c = p;
    c->fn(c->stream, cudaSuccess, c->data);
    free(c);
}

static int add_callback(cudaStream_t stream, cudaStreamCallback_t fn, void *data, unsigned flags) {
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

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t fn, void *data, unsigned flags) {
    RUNTIME(CUD_CONTEXT, add_callback(stream, fn, data, flags));
}
PTSZ(cudaStreamAddCallback);

/* Puts the value of an expression on a live stream s. */
#define STREAM_GET(stream, out, value)                                                                       \
    do {                                                                                                     \
        int error_ = cud_begin_runtime(CUD_CONTEXT);                                                         \
        struct CUstream_st *s = error_ ? NULL : cud_stream(stream);                                          \
        if (!error_)                                                                                         \
            error_ = !s ? cudaErrorInvalidResourceHandle : !(out) ? cudaErrorInvalidValue : cudaSuccess;     \
        if (!error_)                                                                                         \
            *(out) = (value);                                                                                \
        return cud_end_runtime(error_);                                                                      \
    } while (0)

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority) {
    STREAM_GET(stream, priority, s->priority);
}
PTSZ(cudaStreamGetPriority);

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned *flags) {
    STREAM_GET(stream, flags, s->flags);
}
PTSZ(cudaStreamGetFlags);

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *id) {
    STREAM_GET(stream, id, s->id);
}
PTSZ(cudaStreamGetId);

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *device) {
    STREAM_GET(stream, device, 0);
}
PTSZ(cudaStreamGetDevice);

cudaError_t cudaStreamSetAttribute(cudaStream_t stream, int attribute, const void *value) {
    RUNTIME(CUD_CONTEXT, cud_stream_attribute_set(stream, attribute, value));
}
PTSZ(cudaStreamSetAttribute);

cudaError_t cudaStreamGetAttribute(cudaStream_t stream, int attribute, void *value) {
    RUNTIME(CUD_CONTEXT, cud_stream_attribute_get(stream, attribute, value));
}
PTSZ(cudaStreamGetAttribute);

cudaError_t cudaStreamCopyAttributes(cudaStream_t dst, cudaStream_t src) {
    RUNTIME(CUD_CONTEXT, cud_stream_attributes_copy(dst, src));
}
PTSZ(cudaStreamCopyAttributes);

/* ---- events ----------------------------------------------------------------------------------------- */

cudaError_t cudaEventCreate(cudaEvent_t *event) {
    RUNTIME(CUD_CONTEXT, cud_event_create(event, 0));
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags) {
    RUNTIME(CUD_CONTEXT, cud_event_create(event, flags));
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    RUNTIME(CUD_CONTEXT, cud_event_destroy(event));
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    RUNTIME(CUD_CONTEXT, cud_event_record(event, stream));
}
PTSZ(cudaEventRecord);

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
    (void)flags;
    RUNTIME(CUD_CONTEXT, cud_event_record(event, stream));
}
PTSZ(cudaEventRecordWithFlags);

cudaError_t cudaEventQuery(cudaEvent_t event) {
    RUNTIME(CUD_CONTEXT, cud_event_settle(event, false));
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    RUNTIME(CUD_CONTEXT, cud_event_settle(event, true));
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end) {
    RUNTIME(CUD_CONTEXT, cud_event_elapsed(ms, start, end));
}
RUNTIME_SAME(cudaEventElapsedTime, cudaEventElapsedTime_v2);
