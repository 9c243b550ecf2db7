/* The functions of launches by device code. */
#include "exec/device_runtime.h"

#include <stdlib.h>
#include <string.h>

#include "exec/syscall.h"
#include "exec/watch.h"

enum {
    FIRST_HANDLE = 0x10000, /* of streams and events; below it are the streams that have names */
    STREAM_TAIL = 3,
    STREAM_NAMES = 5,
    EVENT_NO_TIMING = 2,
    ERROR_MEMORY = 2, /* cudaErrorMemoryAllocation */
};

static struct device_runtime *runtime(const struct caller *c) {
    return c->x->runtime;
}

static bool is_handle(const struct caller *c, uint64_t h) {
    return h >= FIRST_HANDLE && h < FIRST_HANDLE + runtime(c)->handles;
}

static bool is_stream(const struct caller *c, uint64_t h) {
    return h < STREAM_NAMES || is_handle(c, h);
}

/* Writes a result through a pointer argument. */
static enum device_error give(const struct caller *c, uint64_t to, const void *v, uint32_t bytes) {
    return caller_write(c, to, v, bytes) ? DEVICE_OK : DEVICE_INVALID_VALUE;
}

static enum device_error give_int(const struct caller *c, uint64_t to, bool known, int v) {
    return known ? give(c, to, &v, sizeof v) : DEVICE_INVALID_VALUE;
}

/* ---- launches ---- */

/* Memory for a launch's parameters, which the caller writes; 0 when there is none. */
static uint64_t prepare(struct caller *c, struct child k) {
    k.buffer = memory_alloc(c->x->mem, k.bytes ? k.bytes : 1, RP_MEM_DEVICE);
    c->x->hint = (struct mem_hints){0}; /* what is mapped has changed */
    if (!k.buffer) {
        c->w->error[c->lane] = ERROR_MEMORY;
        return 0;
    }
    memory_find(c->x->mem, k.buffer)->flags = MEM_DEVICE_HEAP;
    if (c->x->watch)
        c->x->watch->allocated(c->x->watch, c->x, c->w, c->i, c->lane, k.buffer);
    vec_push(&runtime(c)->prepared, k);
    return k.buffer;
}

static uint64_t parameter_buffer(struct caller *c) {
    uint64_t bytes = caller_value(c, 12, 4);
    return prepare(c, (struct child){.bytes = (uint32_t)bytes});
}

static void read_dims(const struct caller *c, uint64_t offset, uint32_t dims[3]) {
    for (uint32_t d = 0; d < 3; d++)
        dims[d] = (uint32_t)caller_value(c, offset + 4 * d, 4);
}

static uint64_t parameter_buffer_v2(struct caller *c) {
    struct child k = {.func = caller_value(c, 8, 8), .shared = (uint32_t)caller_value(c, 40, 4)};
    read_dims(c, 16, k.grid);
    read_dims(c, 28, k.block);
    const struct device_host *h = &runtime(c)->host;
    return h->param_bytes(h->ctx, k.func, &k.bytes) ? prepare(c, k) : 0;
}

/* Takes the launch whose parameters lie at an address out of those being prepared. */
static bool take(struct caller *c, uint64_t buffer, struct child *k) {
    struct device_runtime *rt = runtime(c);
    for (uint32_t i = 0; i < rt->prepared.len; i++) {
        if (rt->prepared.at[i].buffer != buffer)
            continue;
        *k = rt->prepared.at[i];
        rt->prepared.at[i] = rt->prepared.at[--rt->prepared.len];
        return true;
    }
    return false;
}

static enum device_error launch(struct caller *c, struct child *k, uint64_t stream) {
    struct device_runtime *rt = runtime(c);
    k->params = xcalloc(1, k->bytes + 1u);
    memcpy(k->params, (const void *)(uintptr_t)k->buffer, k->bytes);
    if (c->x->watch)
        c->x->watch->freeing(c->x->watch, c->x, c->w, c->i, c->lane, k->buffer);
    memory_free(c->x->mem, k->buffer);
    c->x->hint = (struct mem_hints){0};
    k->tail = stream == STREAM_TAIL;
    enum device_error error = rt->host.check(rt->host.ctx, k);
    if (!is_stream(c, stream))
        error = DEVICE_INVALID_VALUE;
    else if (!error && rt->depth + (k->tail ? 0 : 1) >= DEVICE_MAX_NESTING)
        error = DEVICE_MAX_DEPTH;
    if (error)
        free(k->params);
    else
        vec_push(&rt->children, *k);
    return error;
}

static enum device_error launch_device_v2(struct caller *c) {
    struct child k;
    if (!take(c, caller_value(c, 8, 8), &k))
        return DEVICE_INVALID_VALUE;
    return launch(c, &k, caller_value(c, 16, 8));
}

static enum device_error launch_device(struct caller *c) {
    struct child k;
    if (!take(c, caller_value(c, 16, 8), &k))
        return DEVICE_INVALID_VALUE;
    k.func = caller_value(c, 8, 8);
    k.shared = (uint32_t)caller_value(c, 40, 4);
    if (!caller_read(c, caller_value(c, 24, 8), k.grid, sizeof k.grid) ||
        !caller_read(c, caller_value(c, 32, 8), k.block, sizeof k.block))
        memset(k.grid, 0, sizeof k.grid);
    return launch(c, &k, caller_value(c, 48, 8));
}

/* ---- streams and events ---- */

static enum device_error new_handle(struct caller *c, bool allowed) {
    uint64_t h = FIRST_HANDLE + runtime(c)->handles;
    enum device_error error = allowed ? give(c, caller_value(c, 8, 8), &h, sizeof h) : DEVICE_INVALID_VALUE;
    runtime(c)->handles += !error;
    return error;
}

static enum device_error stream_create(struct caller *c) {
    return new_handle(c, caller_value(c, 16, 4) <= 1);
}

static enum device_error event_create(struct caller *c) {
    return new_handle(c, caller_value(c, 16, 4) == EVENT_NO_TIMING);
}

static enum device_error destroy(struct caller *c) {
    return is_handle(c, caller_value(c, 8, 8)) ? DEVICE_OK : DEVICE_INVALID_VALUE;
}

static enum device_error event_record(struct caller *c) {
    bool ok = is_handle(c, caller_value(c, 8, 8)) && is_stream(c, caller_value(c, 16, 8));
    return ok ? DEVICE_OK : DEVICE_INVALID_VALUE;
}

static enum device_error stream_wait(struct caller *c) {
    bool ok = is_stream(c, caller_value(c, 8, 8)) && is_handle(c, caller_value(c, 16, 8));
    return ok ? DEVICE_OK : DEVICE_INVALID_VALUE;
}

/* ---- questions ---- */

static enum device_error device_count(struct caller *c) {
    return give_int(c, caller_value(c, 8, 8), true, 1);
}

static enum device_error zero(struct caller *c) {
    return give_int(c, caller_value(c, 8, 8), true, 0);
}

static enum device_error device_attribute(struct caller *c) {
    const struct device_host *h = &runtime(c)->host;
    int v = 0;
    bool known = !caller_value(c, 20, 4) && h->attribute(h->ctx, (int)caller_value(c, 16, 4), &v);
    return give_int(c, caller_value(c, 8, 8), known, v);
}

static enum device_error limit(struct caller *c) {
    const struct device_host *h = &runtime(c)->host;
    uint64_t v = 0;
    if (!h->limit(h->ctx, (int)caller_value(c, 16, 4), &v))
        return DEVICE_INVALID_LIMIT;
    return give(c, caller_value(c, 8, 8), &v, sizeof v);
}

static enum device_error func_attribute(struct caller *c) {
    const struct device_host *h = &runtime(c)->host;
    int v = 0;
    bool known = h->func_attribute(h->ctx, caller_value(c, 24, 8), (int)caller_value(c, 16, 4), &v);
    return give_int(c, caller_value(c, 8, 8), known, v);
}

static enum device_error occupancy(struct caller *c) {
    const struct device_host *h = &runtime(c)->host;
    int v = 0;
    bool known = h->occupancy(h->ctx, caller_value(c, 16, 8), (uint32_t)caller_value(c, 24, 4),
                              caller_value(c, 32, 8), &v);
    return give_int(c, caller_value(c, 8, 8), known, v);
}

/* Each thread has an error of its own; reading it does not clear it. */
static enum device_error last_error(struct caller *c) {
    return (enum device_error)c->w->error[c->lane];
}

static enum device_error set_last_error(struct caller *c) {
    c->w->error[c->lane] = (uint32_t)caller_value(c, 4, 4);
    return last_error(c);
}

typedef enum device_error call_fn(struct caller *c);
static call_fn *const calls[] = {
    [SYS_GET_LAST_ERROR] = last_error,
    [SYS_SET_LAST_ERROR] = set_last_error,
    [SYS_LAUNCH_DEVICE] = launch_device,
    [SYS_LAUNCH_DEVICE_V2] = launch_device_v2,
    [SYS_STREAM_CREATE] = stream_create,
    [SYS_STREAM_DESTROY] = destroy,
    [SYS_STREAM_WAIT] = stream_wait,
    [SYS_EVENT_CREATE] = event_create,
    [SYS_EVENT_RECORD] = event_record,
    [SYS_EVENT_DESTROY] = destroy,
    [SYS_DEVICE_COUNT] = device_count,
    [SYS_DEVICE] = zero,
    [SYS_DEVICE_ATTRIBUTE] = device_attribute,
    [SYS_LIMIT] = limit,
    [SYS_CACHE_CONFIG] = zero,
    [SYS_SHARED_CONFIG] = zero,
    [SYS_FUNC_ATTRIBUTE] = func_attribute,
    [SYS_OCCUPANCY] = occupancy,
    [SYS_OCCUPANCY_FLAGS] = occupancy,
};

bool runtime_call(struct caller *c, enum sys_call call) {
    if (call == SYS_PARAMETER_BUFFER || call == SYS_PARAMETER_BUFFER_V2) {
        caller_return(c, call == SYS_PARAMETER_BUFFER ? parameter_buffer(c) : parameter_buffer_v2(c), 8);
        return true;
    }
    if ((size_t)call >= sizeof calls / sizeof *calls || !calls[call])
        return false;
    caller_return(c, calls[call](c), 4);
    return true;
}
