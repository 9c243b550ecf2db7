/* libcudart: errors, versions, the device and its properties. */
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "cuda/runtime/properties.h"
#include "cuda/runtime/runtime.h"

#define PCI_BUS_ID "0000:01:00.0"

cudaError_t cudaGetLastError(void) {
    struct cud_thread *t = cud_thread();
    int error = t->last_error;
    t->last_error = cudaSuccess;
    return error;
}
RUNTIME_SAME(cudaGetLastError, cudaThreadGetLastError);

cudaError_t cudaPeekAtLastError(void) {
    return cud_thread()->last_error;
}

const char *cudaGetErrorName(cudaError_t error) {
    const char *s = cud_error_name(error, false);
    return s ? s : "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error) {
    const char *s = cud_error_text(error, false);
    return s ? s : "unrecognized error code";
}

static int put(int *out, int value) {
    if (!out)
        return cudaErrorInvalidValue;
    *out = value;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version) {
    RUNTIME(CUD_NOTHING, put(version, RUNTIME_VERSION));
}

cudaError_t cudaDriverGetVersion(int *version) {
    RUNTIME(CUD_NOTHING, put(version, CUD_DRIVER_VERSION));
}

cudaError_t cudaGetDeviceCount(int *count) {
    RUNTIME(CUD_DEVICE, put(count, 1));
}

static int device_ok(int device) {
    return device == 0 ? cudaSuccess : cudaErrorInvalidDevice;
}

static int set_device(int device) {
    int error = device_ok(device);
    if (error)
        return error;
    cud_primary_use();
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
    RUNTIME(CUD_DEVICE, set_device(device));
}

cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags) {
    (void)device_flags, (void)flags;
    RUNTIME(CUD_DEVICE, set_device(device));
}

cudaError_t cudaGetDevice(int *device) {
    RUNTIME(CUD_DEVICE, put(device, 0));
}

cudaError_t cudaSetValidDevices(int *devices, int n) {
    RUNTIME(CUD_DEVICE, !devices || n < 0 ? cudaErrorInvalidValue : n ? device_ok(devices[0]) : cudaSuccess);
}

cudaError_t cudaChooseDevice(int *device, const void *prop) {
    RUNTIME(CUD_DEVICE, prop ? put(device, 0) : cudaErrorInvalidValue);
}
RUNTIME_SAME(cudaChooseDevice, cudaChooseDevice_v2);

static int attribute(int *value, int which, int device) {
    if (!value)
        return cudaErrorInvalidValue;
    int error = device_ok(device);
    return error ? error : cud_device_attribute(which, value);
}

cudaError_t cudaDeviceGetAttribute(int *value, int which, int device) {
    RUNTIME(CUD_DEVICE, attribute(value, which, device));
}

static int set_flags(unsigned flags) {
    cud.primary.flags = flags;
    return flags & ~0xffu ? cudaErrorInvalidValue : cudaSuccess;
}

cudaError_t cudaSetDeviceFlags(unsigned flags) {
    RUNTIME(CUD_DEVICE, set_flags(flags));
}

/* Host memory is always mapped, so that flag always shows. */
cudaError_t cudaGetDeviceFlags(unsigned *flags) {
    RUNTIME(CUD_DEVICE, put((int *)flags, (int)(cud.primary.flags | 8)));
}

cudaError_t cudaDeviceSynchronize(void) {
    RUNTIME(CUD_DRAIN, cud_capture_forbids(cudaErrorStreamCaptureUnsupported));
}
RUNTIME_SAME(cudaDeviceSynchronize, cudaThreadSynchronize);

static int reset(void) {
    cud_primary_reset();
    return cudaSuccess;
}

cudaError_t cudaDeviceReset(void) {
    RUNTIME(CUD_DEVICE, reset());
}
RUNTIME_SAME(cudaDeviceReset, cudaThreadExit);

cudaError_t cudaDeviceSetLimit(int limit, size_t value) {
    RUNTIME(CUD_CONTEXT, cud_limit_set(limit, value));
}
RUNTIME_SAME(cudaDeviceSetLimit, cudaThreadSetLimit);

cudaError_t cudaDeviceGetLimit(size_t *value, int limit) {
    RUNTIME(CUD_CONTEXT, value ? cud_limit_get(limit, value) : cudaErrorInvalidValue);
}
RUNTIME_SAME(cudaDeviceGetLimit, cudaThreadGetLimit);

static int set_config(int *where, int value) {
    *where = value;
    return cudaSuccess;
}

cudaError_t cudaDeviceSetCacheConfig(int config) {
    RUNTIME(CUD_CONTEXT, set_config(&cud_current()->cache_config, config));
}
RUNTIME_SAME(cudaDeviceSetCacheConfig, cudaThreadSetCacheConfig);

cudaError_t cudaDeviceGetCacheConfig(int *config) {
    RUNTIME(CUD_CONTEXT, put(config, cud_current()->cache_config));
}
RUNTIME_SAME(cudaDeviceGetCacheConfig, cudaThreadGetCacheConfig);

cudaError_t cudaDeviceSetSharedMemConfig(int config) {
    RUNTIME(CUD_CONTEXT, set_config(&cud_current()->shared_config, config));
}

cudaError_t cudaDeviceGetSharedMemConfig(int *config) {
    RUNTIME(CUD_CONTEXT, put(config, cud_current()->shared_config));
}

static int priorities(int *least, int *greatest) {
    if (least)
        *least = 0;
    if (greatest)
        *greatest = -5;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
    RUNTIME(CUD_CONTEXT, priorities(least, greatest));
}

static int bus_id(char *id, int len, int device) {
    if (!id || len <= 0)
        return cudaErrorInvalidValue;
    snprintf(id, (size_t)len, PCI_BUS_ID);
    return device_ok(device);
}

cudaError_t cudaDeviceGetPCIBusId(char *id, int len, int device) {
    RUNTIME(CUD_DEVICE, bus_id(id, len, device));
}

cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *id) {
    RUNTIME(CUD_DEVICE, !device || !id                    ? cudaErrorInvalidValue
                        : strcasecmp(id, PCI_BUS_ID) == 0 ? put(device, 0)
                                                          : cudaErrorInvalidDevice);
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer) {
    RUNTIME(CUD_DEVICE, device_ok(device | peer) ? cudaErrorInvalidDevice : put(can, 0));
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
    RUNTIME(CUD_CONTEXT, flags  ? cudaErrorInvalidValue
                         : peer ? cudaErrorInvalidDevice
                                : cudaErrorPeerAccessUnsupported);
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
    RUNTIME(CUD_CONTEXT, peer ? cudaErrorInvalidDevice : cudaErrorPeerAccessNotEnabled);
}

cudaError_t cudaDeviceGetP2PAttribute(int *value, int which, int src, int dst) {
    (void)which;
    RUNTIME(CUD_DEVICE, device_ok(src | dst) ? cudaErrorInvalidDevice : put(value, 0));
}

cudaError_t cudaCtxResetPersistingL2Cache(void) {
    RUNTIME(CUD_CONTEXT, cudaSuccess);
}

cudaError_t cudaProfilerStart(void) {
    RUNTIME(CUD_CONTEXT, cudaSuccess);
}

cudaError_t cudaProfilerStop(void) {
    RUNTIME(CUD_CONTEXT, cudaSuccess);
}

cudaError_t cudaProfilerInitialize(const char *config, const char *output, int mode) {
    (void)config, (void)output, (void)mode;
    RUNTIME(CUD_CONTEXT, cudaSuccess);
}

/* Doubles are what they are on both sides since compute capability 1.3. */
cudaError_t cudaSetDoubleForDevice(double *d) {
    RUNTIME(CUD_NOTHING, d ? cudaSuccess : cudaErrorInvalidValue);
}
RUNTIME_SAME(cudaSetDoubleForDevice, cudaSetDoubleForHost);

/* ---- properties ------------------------------------------------------------------------------------- */

static int attr(int number) {
    int value = 0;
    cud_device_attribute(number, &value);
    return value;
}

#define TRIPLE(field, a, b, c) p->field[0] = attr(a), p->field[1] = attr(b), p->field[2] = attr(c);
#define PAIR(field, a, b)      p->field[0] = attr(a), p->field[1] = attr(b);
#define ATTR(field, number)    p->field = attr(number);

static int properties(struct cudaDeviceProp *p, int device) {
    const struct rp_gpu_info *i = rp_gpu_info(cud.gpu);
    if (!p)
        return cudaErrorInvalidValue;
    if (device_ok(device))
        return cudaErrorInvalidDevice;
    memset(p, 0, sizeof *p);
    snprintf(p->name, sizeof p->name, "%s", i->name);
    cud_device_uuid((unsigned char *)p->uuid);
    p->totalGlobalMem = i->total_mem;
    p->sharedMemPerBlock = i->shared_per_block;
    p->totalConstMem = i->const_bytes;
    p->sharedMemPerMultiprocessor = i->shared_per_sm;
    p->sharedMemPerBlockOptin = i->shared_per_block_optin;
    p->reservedSharedMemPerBlock = i->shared_reserved_per_block;
    p->memPitch = (size_t)attr(11);
    p->textureAlignment = (size_t)attr(14);
    p->texturePitchAlignment = (size_t)attr(51);
    p->surfaceAlignment = (size_t)attr(30);
#include "cuda/runtime/properties.def"
    return cudaSuccess;
}

#if REPRISE_CUDART == 12
cudaError_t cudaGetDeviceProperties_v2(struct cudaDeviceProp *prop, int device) {
    RUNTIME(CUD_DEVICE, properties(prop, device));
}

/* Programs built for CUDA 11 pass the shorter structure. */
cudaError_t cudaGetDeviceProperties(void *prop, int device) {
    struct cudaDeviceProp full;
    int error = cud_begin_runtime(CUD_DEVICE);
    if (!error)
        error = prop ? properties(&full, device) : cudaErrorInvalidValue;
    if (!error)
        memcpy(prop, &full, offsetof(struct cudaDeviceProp, hostRegisterSupported));
    return cud_end_runtime(error);
}
#else
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device) {
    RUNTIME(CUD_DEVICE, properties(prop, device));
}
#endif
