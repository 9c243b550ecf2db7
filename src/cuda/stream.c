/* Streams and events. What is submitted to a stream goes to the queue or, while it captures, into the graph
 * under construction. Event times are simulated. */
#include <stdlib.h>
#include <string.h>

#include "cuda/graph.h"
#include "cuda/queue.h"

#define STREAM_LEGACY     ((uintptr_t)1)
#define STREAM_PER_THREAD ((uintptr_t)2)
#define STREAM_FLAGS      1u
#define EVENT_FLAGS       7u
#define EVENT_NO_TIMING   2u

struct CUstream_st *cud_stream(struct CUstream_st *handle) {
    struct CUctx_st *ctx = cud_current();
    if ((uintptr_t)handle == STREAM_PER_THREAD || (!handle && cud_default_per_thread()))
        return cud_thread_stream(ctx);
    if (!handle || (uintptr_t)handle == STREAM_LEGACY)
        return &ctx->legacy;
    return cud_object_get(handle, CUD_STREAM);
}

int cud_stream_create(struct CUstream_st **out, unsigned flags, int priority) {
    if (!out || flags & ~STREAM_FLAGS)
        return cudaErrorInvalidValue;
    struct CUstream_st *s = cud_object_new(CUD_STREAM, sizeof *s, cud_current());
    s->flags = flags;
    s->priority = priority < -5 ? -5 : priority > 0 ? 0 : priority;
    s->id = ++cud.next_id;
    *out = s;
    return cudaSuccess;
}

int cud_stream_destroy(struct CUstream_st *s) {
    if (s->capture && s->capture_origin) {
        cud.captures--;
        if (!s->capture_lent)
            cud_graph_destroy(s->capture);
    }
    vec_free(&s->tail);
    if (s->pending) { /* the queue frees it */
        map_remove_u64(&cud.objects, (uintptr_t)s);
        s->gone = true;
    } else
        cud_object_free(s);
    return cudaSuccess;
}

int cud_stream_settle(struct CUstream_st *stream, bool patient) {
    struct CUstream_st *s = cud_stream(stream);
    if (!s)
        return cudaErrorInvalidResourceHandle;
    if (!s->capture)
        return cud_stream_done(s, patient);
    s->capture->invalidated = true; /* synchronising ends a capture badly */
    return cudaErrorStreamCaptureUnsupported;
}

int cud_event_create(struct CUevent_st **out, unsigned flags) {
    if (!out || flags & ~EVENT_FLAGS)
        return cudaErrorInvalidValue;
    struct CUevent_st *e = cud_object_new(CUD_EVENT, sizeof *e, cud_current());
    e->flags = flags;
    *out = e;
    return cudaSuccess;
}

/* In a capture an event remembers the nodes it stands after, and nothing runs. */
int cud_event_record(struct CUevent_st *e, struct CUstream_st *stream) {
    struct CUstream_st *s = cud_stream(stream);
    if (!s || !cud_object_get(e, CUD_EVENT))
        return cudaErrorInvalidResourceHandle;
    e->tail.len = 0;
    e->capture = s->capture;
    if (s->capture) {
        for (uint32_t i = 0; i < s->tail.len; i++)
            vec_push(&e->tail, s->tail.at[i]);
        return cudaSuccess;
    }
    return cud_enqueue_record(s, e);
}

int cud_event_destroy(struct CUevent_st *event) {
    struct CUevent_st *e = cud_object_get(event, CUD_EVENT);
    if (!e)
        return cudaErrorInvalidResourceHandle;
    vec_free(&e->tail);
    cud_stamp_drop(e->stamp);
    cud_object_free(e);
    return cudaSuccess;
}

/* Waiting for an event of a capture draws the stream into that capture. */
int cud_event_wait(struct CUstream_st *stream, struct CUevent_st *e) {
    struct CUstream_st *s = cud_stream(stream);
    if (!s || !cud_object_get(e, CUD_EVENT))
        return cudaErrorInvalidResourceHandle;
    if (!e->capture)
        return s->capture ? cudaErrorStreamCaptureIsolation : cud_enqueue_wait(s, e->stamp);
    if (s->capture && s->capture != e->capture)
        return cudaErrorStreamCaptureMerge;
    if (!s->capture) {
        s->capture = e->capture;
        s->capture_origin = false;
        s->tail.len = 0;
    }
    for (uint32_t i = 0; i < e->tail.len; i++)
        vec_push(&s->tail, e->tail.at[i]);
    return cudaSuccess;
}

int cud_event_elapsed(float *ms, struct CUevent_st *start, struct CUevent_st *end) {
    if (!cud_object_get(start, CUD_EVENT) || !cud_object_get(end, CUD_EVENT) || !start->stamp ||
        !end->stamp || (start->flags | end->flags) & EVENT_NO_TIMING)
        return cudaErrorInvalidResourceHandle;
    if (!ms)
        return cudaErrorInvalidValue;
    if (!start->stamp->done || !end->stamp->done)
        return cudaErrorNotReady;
    *ms = (float)((double)(int64_t)(end->stamp->time_ns - start->stamp->time_ns) / 1e6);
    return cudaSuccess;
}

int cud_event_settle(struct CUevent_st *event, bool patient) {
    struct CUevent_st *e = cud_object_get(event, CUD_EVENT);
    if (!e)
        return cudaErrorInvalidResourceHandle;
    if (!e->capture)
        return e->stamp ? cud_stamp_done(e->stamp, patient) : cud_synchronize(cud_current(), 0);
    e->capture->invalidated = true;
    return cudaErrorCapturedEvent;
}

/* A window of addresses whose lines shall stay in the L2, as both APIs have it. */
struct access_window {
    void *base;
    size_t bytes;
    float hit_ratio;
    int hit, miss;
};

enum { ATTRIBUTE_ACCESS_WINDOW = 1, ACCESS_PERSISTING = 2, ATTRIBUTE_MAX_WINDOW = 109 };

static bool window_ok(const void *value) {
    struct access_window w;
    int most = 0;
    memcpy(&w, value, sizeof w);
    cud_device_attribute(ATTRIBUTE_MAX_WINDOW, &most);
    return w.bytes <= (size_t)most && w.hit_ratio >= 0 && w.hit_ratio <= 1 && w.miss != ACCESS_PERSISTING;
}

int cud_stream_attribute_set(struct CUstream_st *stream, int attribute, const void *value) {
    struct CUstream_st *s = cud_stream(stream);
    if (!s || !value || attribute < 0 || attribute >= CUD_STREAM_ATTRIBUTES ||
        (attribute == ATTRIBUTE_ACCESS_WINDOW && !window_ok(value)))
        return cudaErrorInvalidValue;
    memcpy(s->attributes[attribute].value, value, sizeof s->attributes[attribute].value);
    return cudaSuccess;
}

int cud_stream_attribute_get(struct CUstream_st *stream, int attribute, void *value) {
    struct CUstream_st *s = cud_stream(stream);
    if (!s || !value || attribute < 0 || attribute >= CUD_STREAM_ATTRIBUTES)
        return cudaErrorInvalidValue;
    memcpy(value, s->attributes[attribute].value, sizeof s->attributes[attribute].value);
    return cudaSuccess;
}

int cud_stream_attributes_copy(struct CUstream_st *dst, struct CUstream_st *src) {
    struct CUstream_st *d = cud_stream(dst), *s = cud_stream(src);
    if (!d || !s)
        return cudaErrorInvalidResourceHandle;
    memcpy(d->attributes, s->attributes, sizeof d->attributes);
    return cudaSuccess;
}

void cud_op_free(struct cud_op *op) {
    if (op->kind == CUD_OP_LAUNCH)
        free(op->launch.params);
    else if (op->kind == CUD_OP_GRAPH && cud_object_get(op->graph, CUD_GRAPH))
        cud_graph_destroy(op->graph);
    else if (op->kind == CUD_OP_ALLOC)
        cud_graph_mem_ref(op->mem.addr, false);
    else if (op->kind == CUD_OP_COND)
        cud_cond_free(op);
    op->kind = CUD_OP_EMPTY;
}

static int check(struct cud_op *op) {
    switch (op->kind) {
    case CUD_OP_LAUNCH:
        return cud_launch_check(&op->launch);
    case CUD_OP_COPY:
        cud_settle();
        return cud_copy_check(&op->copy);
    case CUD_OP_FILL:
        cud_settle();
        return cud_fill_check(&op->fill);
    case CUD_OP_FREE:
        cud_settle();
        return cud_mem_free_check(op->mem.addr);
    default:
        return cudaSuccess;
    }
}

/* Fills of the GPU's own memory, and copies within it, may end after the call in any case. */
static bool stays_on_device(const struct cud_op *op) {
    if (op->kind == CUD_OP_COPY)
        return cud_copy_within(&op->copy);
    const struct rp_alloc *a = op->kind == CUD_OP_FILL ? cud_mem_find(op->fill.dst) : NULL;
    return a && a->kind != RP_MEM_HOST && a->kind != RP_MEM_REGISTERED && a->kind != RP_MEM_MANAGED;
}

int cud_submit(struct CUstream_st *stream, struct cud_op *op) {
    struct CUstream_st *s = cud_stream(stream);
    int error = s ? check(op) : cudaErrorInvalidResourceHandle;
    if (!error && s == &cud_current()->legacy)
        error = cud_capture_forbids(cudaErrorStreamCaptureImplicit); /* it would wait for the capture */
    if (!error && s->capture && s->capture->invalidated)
        error = cudaErrorStreamCaptureInvalidated;
    if (!error && s->capture)
        return cud_capture_add(s, op);
    if (!error)
        return cud_enqueue(s, op, cud_thread()->sync && !stays_on_device(op));
    cud_op_free(op);
    return error;
}
