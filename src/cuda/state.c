/* The process-wide state: the lock, host threads, the table of live objects, entry and exit of API calls. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cuda/queue.h"

struct cud_state cud;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t door =
    PTHREAD_MUTEX_INITIALIZER; /* to the lock, for those who could not have it at once */
static atomic_uint waiting;    /* at the door */
static _Thread_local struct cud_thread thread;
static _Thread_local unsigned held; /* how often this thread has the lock */

void cud_lock(void) {
    if (held++ || !pthread_mutex_trylock(&lock))
        return;
    waiting++;
    pthread_mutex_lock(&door);
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&door);
    waiting--;
}

void cud_unlock(void) {
    if (!--held)
        pthread_mutex_unlock(&lock);
}

/* Who waits has the door until he has the lock, so that it cannot be taken again before. */
void cud_yield(void) {
    if (!waiting)
        return;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&door);
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&door);
}

/* The way back to the lock is through the door, where whoever runs a launch sees that somebody waits. */
void cud_wait(struct cud_bell *b, long ms) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += ms % 1000 * 1000000;
    until.tv_sec += ms / 1000 + until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&b->mutex);
    uint64_t rings = b->rings;
    int late = 0;
    cud_unlock();
    while (b->rings == rings && !late)
        late =
            ms ? pthread_cond_timedwait(&b->cond, &b->mutex, &until) : pthread_cond_wait(&b->cond, &b->mutex);
    pthread_mutex_unlock(&b->mutex);
    cud_lock();
}

void cud_ring(struct cud_bell *b) {
    pthread_mutex_lock(&b->mutex);
    b->rings++;
    pthread_cond_broadcast(&b->cond);
    pthread_mutex_unlock(&b->mutex);
}

void cud_lock_forked(void) {
    pthread_mutex_init(&lock, NULL);
    pthread_mutex_init(&door, NULL);
    waiting = held = 0;
}

struct cud_thread *cud_thread(void) {
    return &thread;
}

struct CUctx_st *cud_current(void) {
    if (thread.acting)
        return thread.acting;
    return thread.depth ? thread.contexts[thread.depth - 1] : NULL;
}

void cud_set_current(struct CUctx_st *ctx) {
    if (!ctx) {
        if (thread.depth)
            thread.depth--;
        return;
    }
    if (!thread.depth)
        thread.depth = 1;
    thread.contexts[thread.depth - 1] = ctx;
}

void *cud_object_new(enum cud_kind kind, size_t size, struct CUctx_st *ctx) {
    struct cud_object *o = xcalloc(1, size);
    o->kind = kind;
    o->ctx = ctx;
    map_set_u64(&cud.objects, (uintptr_t)o, o);
    return o;
}

void *cud_object_get(const void *handle, enum cud_kind kind) {
    struct cud_object *o = map_get_u64(&cud.objects, (uintptr_t)handle);
    return o && o->kind == kind ? o : NULL;
}

void cud_object_free(void *object) {
    map_remove_u64(&cud.objects, (uintptr_t)object);
    free(object);
}

static bool context_live(struct CUctx_st *ctx) {
    return ctx == &cud.primary ? ctx->alive : cud_object_get(ctx, CUD_CTX) != NULL;
}

/* A sticky error stands, or becomes one here when the call synchronises. */
static int context_error(struct CUctx_st *ctx, enum cud_need need) {
    thread.sync = need == CUD_SYNC;
    if (need != CUD_DRAIN)
        return ctx->sticky;
    cud_drain();
    return cud_synchronize(ctx, UINT64_MAX);
}

int cud_begin_runtime(enum cud_need need) {
    cud_lock();
    worker_note_call();
    thread.wrong = thread.wrong_size = 0;
    if (need == CUD_NOTHING)
        return cudaSuccess;
    int error = cud_device_open();
    cud.initialised = !error;
    if (error || need == CUD_DEVICE)
        return error;
    struct CUctx_st *ctx = cud_current();
    if (!ctx || !context_live(ctx))
        cud_primary_use();
    return context_error(cud_current(), need);
}

/* Tells the tools of a call that failed. */
static void note_error(int error, bool driver, const char *call) {
    struct CUctx_st *ctx = cud_current();
    bool sticky = ctx && ctx->sticky == error;
    if (!cud.gpu || error == cudaSuccess || error == cudaErrorNotReady || (sticky && ctx->told))
        return;
    if (sticky)
        ctx->told = true;
    while (*call == '_') /* what compilers call stands for what programs wrote */
        call++;
    const char *name = cud_error_name(error, driver), *text = cud_error_text(error, driver);
    rp_api_error(cud.gpu, &(struct rp_api_error){.call = call,
                                                 .name = name ? name : "an unknown error",
                                                 .meaning = text ? text : "unknown error",
                                                 .code = error,
                                                 .addr = thread.wrong,
                                                 .size = thread.wrong_size});
    cud_flush_findings();
}

int cud_end_runtime_of(int error, const char *call) {
    if (error != cudaSuccess && error != cudaErrorNotReady)
        thread.last_error = error;
    note_error(error, false, call);
    cud_unlock();
    return error;
}

int cud_begin_driver(enum cud_need need) {
    cud_lock();
    worker_note_call();
    thread.wrong = thread.wrong_size = 0;
    if (need == CUD_NOTHING)
        return cudaSuccess;
    if (!cud.initialised && !cud.gpu) /* the runtime initialises the driver by itself */
        return cudaErrorInitializationError;
    int error = cud_device_open();
    if (error || need == CUD_DEVICE)
        return error;
    struct CUctx_st *ctx = cud_current();
    if (!ctx)
        return cudaErrorDeviceUninitialized;
    if (!context_live(ctx))
        return cudaErrorContextIsDestroyed;
    return context_error(ctx, need);
}

/* The driver's code for a runtime error that CUresult does not have. */
static int driver_error(int error) {
    switch (error) {
    case cudaErrorInvalidSymbol:
        return cudaErrorSymbolNotFound;
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorInvalidTexture:
    case cudaErrorInvalidSurface:
        return cudaErrorInvalidResourceHandle;
    default:
        return cud_error_name(error, true) ? error : cudaErrorInvalidValue;
    }
}

int cud_end_driver_of(int error, const char *call) {
    error = driver_error(error);
    note_error(error, true, call);
    cud_unlock();
    return error;
}

/* What to do about calls that are not there, by how their names begin behind cu or cuda. */
static const struct {
    const char *prefix, *advice;
} advices[] = {
    {"Multicast", "one GPU is simulated; run the program without multicast"},
    {"Ipc", "processes can share memory through cuMemExportToShareableHandle"},
    {"Graphics", "there is no graphics; run the program without a display, if it can do so"},
    {"GL", "there is no graphics; run the program without a display, if it can do so"},
    {"EGL", "there is no graphics; run the program without a display, if it can do so"},
    {"VDPAU", "there is no graphics; run the program without a display, if it can do so"},
    {"ImportExternal", "there are no other APIs to share with; run the program without interoperation"},
    {"GreenCtx", "the GPU cannot be divided; run the program on all of it"},
    {"DevResource", "the GPU cannot be divided; run the program on all of it"},
};

static const char *advice(const char *call) {
    const char *name = call + (!strncmp(call, "cuda", 4) ? 4 : 2);
    for (size_t i = 0; i < sizeof advices / sizeof *advices; i++)
        if (!strncmp(name, advices[i].prefix, strlen(advices[i].prefix)))
            return advices[i].advice;
    return "the program is told so and may have another way";
}

int cud_unsupported(const char *call, bool *named) {
    cud_lock();
    if (!*named)
        fprintf(stderr, "reprise: %s is not supported: %s\n", call, advice(call));
    *named = true;
    thread.last_error = cudaErrorNotSupported;
    cud_unlock();
    return cudaErrorNotSupported;
}
