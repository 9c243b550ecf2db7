/* libcuda: contexts. */
#include "cuda/driver/driver.h"

#define API_V1 3010 /* what a context made through the first or second entry point reports */
#define API_V2 3020

static int retain(CUcontext *ctx, CUdevice dev) {
    if (!ctx)
        return cudaErrorInvalidValue;
    int error = device_ok(dev);
    if (error)
        return error;
    cud_primary_start();
    cud.primary.refs++;
    *ctx = &cud.primary;
    return cudaSuccess;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *ctx, CUdevice dev) {
    DRIVER(CUD_DEVICE, retain(ctx, dev));
}

static int release(CUdevice dev) {
    int error = device_ok(dev);
    if (error)
        return error;
    if (!cud.primary.alive || cud.primary.refs == 0)
        return cudaErrorDeviceUninitialized;
    if (--cud.primary.refs == 0)
        cud_primary_reset();
    return cudaSuccess;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice dev) {
    DRIVER(CUD_DEVICE, release(dev));
}
#undef cuDevicePrimaryCtxRelease
DRIVER_SAME(cuDevicePrimaryCtxRelease_v2, cuDevicePrimaryCtxRelease);

static int reset(CUdevice dev) {
    int error = device_ok(dev);
    if (!error)
        cud_primary_reset();
    return error;
}

CUresult cuDevicePrimaryCtxReset(CUdevice dev) {
    DRIVER(CUD_DEVICE, reset(dev));
}
#undef cuDevicePrimaryCtxReset
DRIVER_SAME(cuDevicePrimaryCtxReset_v2, cuDevicePrimaryCtxReset);

static int set_flags(CUdevice dev, unsigned flags) {
    int error = device_ok(dev);
    if (!error)
        cud.primary.flags = flags;
    return error;
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice dev, unsigned int flags) {
    DRIVER(CUD_DEVICE, set_flags(dev, flags));
}
#undef cuDevicePrimaryCtxSetFlags
DRIVER_SAME(cuDevicePrimaryCtxSetFlags_v2, cuDevicePrimaryCtxSetFlags);

static int state(CUdevice dev, unsigned *flags, int *active) {
    if (!flags || !active)
        return cudaErrorInvalidValue;
    *flags = cud.primary.flags;
    *active = cud.primary.alive;
    return device_ok(dev);
}

CUresult cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int *flags, int *active) {
    DRIVER(CUD_DEVICE, state(dev, flags, active));
}

static int push(CUcontext ctx) {
    struct cud_thread *t = cud_thread();
    if (!cud_object_get(ctx, CUD_CTX))
        return cudaErrorDeviceUninitialized;
    if (t->depth == CUD_CONTEXT_DEPTH)
        return cudaErrorInvalidValue;
    t->contexts[t->depth++] = ctx;
    return cudaSuccess;
}

static int create(CUcontext *ctx, unsigned flags, CUdevice dev, unsigned api) {
    if (!ctx)
        return cudaErrorInvalidValue;
    int error = device_ok(dev);
    if (error)
        return error;
    cud_context_create(ctx, flags, api);
    return push(*ctx);
}

CUresult cuCtxCreate(CUcontext *ctx, unsigned int flags, CUdevice dev) {
    DRIVER(CUD_DEVICE, create(ctx, flags, dev, API_V2));
}
#undef cuCtxCreate

CUresult cuCtxCreate(CUcontext *ctx, unsigned int flags, CUdevice dev) {
    DRIVER(CUD_DEVICE, create(ctx, flags, dev, API_V1));
}

CUresult cuCtxCreate_v3(CUcontext *ctx, void *affinity, int n, unsigned int flags, CUdevice dev) {
    (void)affinity;
    DRIVER(CUD_DEVICE, n ? cudaErrorUnsupportedExecAffinity : create(ctx, flags, dev, API_V2));
}

CUresult cuCtxCreate_v4(CUcontext *ctx, void *params, unsigned int flags, CUdevice dev) {
    (void)params;
    DRIVER(CUD_DEVICE, create(ctx, flags, dev, API_V2));
}

static int destroy(CUcontext ctx) {
    if (!cud_object_get(ctx, CUD_CTX))
        return cudaErrorDeviceUninitialized;
    return ctx->primary ? cudaErrorDeviceUninitialized : cud_context_destroy(ctx);
}

CUresult cuCtxDestroy(CUcontext ctx) {
    DRIVER(CUD_DEVICE, destroy(ctx));
}
#undef cuCtxDestroy
DRIVER_SAME(cuCtxDestroy_v2, cuCtxDestroy);
DRIVER_SAME(cuCtxDestroy_v2, cuCtxDetach);

CUresult cuCtxPushCurrent(CUcontext ctx) {
    DRIVER(CUD_DEVICE, push(ctx));
}
#undef cuCtxPushCurrent
DRIVER_SAME(cuCtxPushCurrent_v2, cuCtxPushCurrent);

static int pop(CUcontext *ctx) {
    struct cud_thread *t = cud_thread();
    if (!t->depth)
        return cudaErrorDeviceUninitialized;
    t->depth--;
    if (ctx)
        *ctx = t->contexts[t->depth];
    return cudaSuccess;
}

CUresult cuCtxPopCurrent(CUcontext *ctx) {
    DRIVER(CUD_DEVICE, pop(ctx));
}
#undef cuCtxPopCurrent
DRIVER_SAME(cuCtxPopCurrent_v2, cuCtxPopCurrent);

static int set_current(CUcontext ctx) {
    if (ctx && !cud_object_get(ctx, CUD_CTX))
        return cudaErrorDeviceUninitialized;
    cud_set_current(ctx);
    return cudaSuccess;
}

CUresult cuCtxSetCurrent(CUcontext ctx) {
    DRIVER(CUD_DEVICE, set_current(ctx));
}

static int get_current(CUcontext *ctx) {
    if (!ctx)
        return cudaErrorInvalidValue;
    *ctx = cud_current();
    return cudaSuccess;
}

CUresult cuCtxGetCurrent(CUcontext *ctx) {
    DRIVER(CUD_DEVICE, get_current(ctx));
}

static int put(int *out, int value) {
    if (!out)
        return cudaErrorInvalidValue;
    *out = value;
    return cudaSuccess;
}

CUresult cuCtxGetDevice(CUdevice *device) {
    DRIVER(CUD_CONTEXT, put(device, 0));
}

CUresult cuCtxGetDevice_v2(CUdevice *device, CUcontext ctx) {
    DRIVER(CUD_DEVICE, ctx && !cud_object_get(ctx, CUD_CTX) ? cudaErrorDeviceUninitialized : put(device, 0));
}

CUresult cuCtxGetFlags(unsigned int *flags) {
    DRIVER(CUD_CONTEXT, put((int *)flags, (int)cud_current()->flags));
}

static int set_ctx_flags(unsigned flags) {
    cud_current()->flags = flags;
    return cudaSuccess;
}

CUresult cuCtxSetFlags(unsigned int flags) {
    DRIVER(CUD_CONTEXT, set_ctx_flags(flags));
}

static int ctx_id(CUcontext ctx, unsigned long long *id) {
    CUcontext c = cud_object_get(ctx ? ctx : cud_current(), CUD_CTX);
    if (!c)
        return cudaErrorDeviceUninitialized;
    if (!id)
        return cudaErrorInvalidValue;
    *id = c->id;
    return cudaSuccess;
}

CUresult cuCtxGetId(CUcontext ctx, unsigned long long *id) {
    DRIVER(CUD_DEVICE, ctx_id(ctx, id));
}

CUresult cuCtxSynchronize(void) {
    DRIVER(CUD_DRAIN, cud_capture_forbids(cudaErrorStreamCaptureUnsupported));
}

static int sync_ctx(CUcontext ctx) {
    CUcontext c = cud_object_get(ctx ? ctx : cud_current(), CUD_CTX);
    if (!c)
        return cudaErrorDeviceUninitialized;
    cud_drain();
    return cud_synchronize(c, UINT64_MAX);
}

CUresult cuCtxSynchronize_v2(CUcontext ctx) {
    DRIVER(CUD_DEVICE, sync_ctx(ctx));
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
    DRIVER(CUD_CONTEXT, cud_limit_set((int)limit, value));
}

CUresult cuCtxGetLimit(size_t *value, CUlimit limit) {
    DRIVER(CUD_CONTEXT, value ? cud_limit_get((int)limit, value) : cudaErrorInvalidValue);
}

CUresult cuCtxGetCacheConfig(CUfunc_cache *config) {
    DRIVER(CUD_CONTEXT, put((int *)config, cud_current()->cache_config));
}

static int set_config(int *where, int value) {
    *where = value;
    return cudaSuccess;
}

CUresult cuCtxSetCacheConfig(CUfunc_cache config) {
    DRIVER(CUD_CONTEXT, set_config(&cud_current()->cache_config, (int)config));
}

CUresult cuCtxGetSharedMemConfig(CUsharedconfig *config) {
    DRIVER(CUD_CONTEXT, put((int *)config, cud_current()->shared_config));
}

CUresult cuCtxSetSharedMemConfig(CUsharedconfig config) {
    DRIVER(CUD_CONTEXT, set_config(&cud_current()->shared_config, (int)config));
}

static int api_version(CUcontext ctx, unsigned *version) {
    CUcontext c = cud_object_get(ctx ? ctx : cud_current(), CUD_CTX);
    if (!c)
        return cudaErrorDeviceUninitialized;
    return put((int *)version, (int)c->api_version);
}

CUresult cuCtxGetApiVersion(CUcontext ctx, unsigned int *version) {
    DRIVER(CUD_DEVICE, api_version(ctx, version));
}

static int priorities(int *least, int *greatest) {
    if (least)
        *least = 0;
    if (greatest)
        *greatest = -5;
    return cudaSuccess;
}

CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest) {
    DRIVER(CUD_CONTEXT, priorities(least, greatest));
}

CUresult cuCtxResetPersistingL2Cache(void) {
    DRIVER(CUD_CONTEXT, cudaSuccess);
}

static int attach(CUcontext *ctx) {
    if (!ctx)
        return cudaErrorInvalidValue;
    *ctx = cud_current();
    return cudaSuccess;
}

CUresult cuCtxAttach(CUcontext *ctx, unsigned int flags) {
    DRIVER(CUD_CONTEXT, flags ? cudaErrorInvalidValue : attach(ctx));
}

CUresult cuCtxRecordEvent(CUcontext ctx, CUevent event) {
    (void)ctx;
    DRIVER(CUD_CONTEXT, cud_event_record(event, NULL));
}

CUresult cuCtxWaitEvent(CUcontext ctx, CUevent event) {
    (void)ctx;
    DRIVER(CUD_CONTEXT, cud_event_wait(NULL, event));
}
