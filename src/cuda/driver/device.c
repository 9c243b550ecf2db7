/* libcuda: start-up, errors, the device. */
#include <stdio.h>
#include <strings.h>

#include "cuda/driver/driver.h"

#define PCI_BUS_ID "0000:01:00.0"

static int text_of(const char *text, const char **out) {
    if (!out)
        return cudaErrorInvalidValue;
    *out = text;
    return text ? cudaSuccess : cudaErrorInvalidValue;
}

CUresult cuGetErrorString(CUresult error, const char **str) {
    return (CUresult)text_of(cud_error_text((int)error, true), str);
}

CUresult cuGetErrorName(CUresult error, const char **str) {
    return (CUresult)text_of(cud_error_name((int)error, true), str);
}

static int init(unsigned flags) {
    if (flags)
        return cudaErrorInvalidValue;
    int error = cud_device_open();
    if (!error)
        cud.initialised = true;
    return error;
}

CUresult cuInit(unsigned int flags) {
    DRIVER(CUD_NOTHING, init(flags));
}

CUresult cuDriverGetVersion(int *version) {
    if (!version)
        return CUDA_ERROR_INVALID_VALUE;
    *version = CUD_DRIVER_VERSION;
    return CUDA_SUCCESS;
}

static int get_device(CUdevice *device, int ordinal) {
    if (!device)
        return cudaErrorInvalidValue;
    *device = ordinal;
    return device_ok(ordinal);
}

CUresult cuDeviceGet(CUdevice *device, int ordinal) {
    DRIVER(CUD_DEVICE, get_device(device, ordinal));
}

static int set_int(int *out, int value) {
    if (!out)
        return cudaErrorInvalidValue;
    *out = value;
    return cudaSuccess;
}

CUresult cuDeviceGetCount(int *count) {
    DRIVER(CUD_DEVICE, set_int(count, 1));
}

static int device_name(char *name, int len, CUdevice dev) {
    if (!name || len <= 0)
        return cudaErrorInvalidValue;
    if (device_ok(dev))
        return device_ok(dev);
    snprintf(name, (size_t)len, "%s", rp_gpu_info(cud.gpu)->name);
    return cudaSuccess;
}

CUresult cuDeviceGetName(char *name, int len, CUdevice dev) {
    DRIVER(CUD_DEVICE, device_name(name, len, dev));
}

static int device_uuid(CUuuid *uuid, CUdevice dev) {
    if (!uuid)
        return cudaErrorInvalidValue;
    cud_device_uuid((unsigned char *)uuid->bytes);
    return device_ok(dev);
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice dev) {
    DRIVER(CUD_DEVICE, device_uuid(uuid, dev));
}
#undef cuDeviceGetUuid
DRIVER_SAME(cuDeviceGetUuid_v2, cuDeviceGetUuid);

static int total_mem(size_t *bytes, CUdevice dev) {
    if (!bytes)
        return cudaErrorInvalidValue;
    *bytes = rp_gpu_info(cud.gpu)->total_mem;
    return device_ok(dev);
}

CUresult cuDeviceTotalMem(size_t *bytes, CUdevice dev) {
    DRIVER(CUD_DEVICE, total_mem(bytes, dev));
}

static int attribute(int *value, int which, CUdevice dev) {
    if (!value)
        return cudaErrorInvalidValue;
    int error = device_ok(dev);
    return error ? error : cud_device_attribute(which, value);
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute which, CUdevice dev) {
    DRIVER(CUD_DEVICE, attribute(value, (int)which, dev));
}

static int properties(CUdevprop *p, CUdevice dev) {
    const struct rp_gpu_info *i = rp_gpu_info(cud.gpu);
    if (!p)
        return cudaErrorInvalidValue;
    *p = (CUdevprop){
        .maxThreadsPerBlock = i->max_threads_per_block,
        .sharedMemPerBlock = (int)i->shared_per_block,
        .totalConstantMemory = (int)i->const_bytes,
        .SIMDWidth = i->warp_size,
        .memPitch = 0x7fffffff,
        .regsPerBlock = i->regs_per_block,
        .clockRate = i->clock_khz,
        .textureAlign = 512,
    };
    memcpy(p->maxThreadsDim, i->max_block, sizeof p->maxThreadsDim);
    memcpy(p->maxGridSize, i->max_grid, sizeof p->maxGridSize);
    return device_ok(dev);
}

CUresult cuDeviceGetProperties(CUdevprop *prop, CUdevice dev) {
    DRIVER(CUD_DEVICE, properties(prop, dev));
}

static int capability(int *major, int *minor, CUdevice dev) {
    if (!major || !minor)
        return cudaErrorInvalidValue;
    *major = rp_gpu_info(cud.gpu)->cc_major;
    *minor = rp_gpu_info(cud.gpu)->cc_minor;
    return device_ok(dev);
}

CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice dev) {
    DRIVER(CUD_DEVICE, capability(major, minor, dev));
}

static int bus_id(char *id, int len, CUdevice dev) {
    if (!id || len <= 0)
        return cudaErrorInvalidValue;
    snprintf(id, (size_t)len, PCI_BUS_ID);
    return device_ok(dev);
}

CUresult cuDeviceGetPCIBusId(char *id, int len, CUdevice dev) {
    DRIVER(CUD_DEVICE, bus_id(id, len, dev));
}

static int by_bus_id(CUdevice *dev, const char *id) {
    if (!dev || !id)
        return cudaErrorInvalidValue;
    *dev = 0;
    return strcasecmp(id, PCI_BUS_ID) == 0 ? cudaSuccess : cudaErrorInvalidDevice;
}

CUresult cuDeviceGetByPCIBusId(CUdevice *dev, const char *id) {
    DRIVER(CUD_DEVICE, by_bus_id(dev, id));
}

static int no_peer(int *can, CUdevice dev, CUdevice peer) {
    if (!can)
        return cudaErrorInvalidValue;
    *can = 0;
    return device_ok(dev | peer);
}

CUresult cuDeviceCanAccessPeer(int *can, CUdevice dev, CUdevice peer) {
    DRIVER(CUD_DEVICE, no_peer(can, dev, peer));
}

CUresult cuDeviceGetP2PAttribute(int *value, int which, CUdevice src, CUdevice dst) {
    (void)which;
    DRIVER(CUD_DEVICE, no_peer(value, src, dst));
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags) {
    (void)peer;
    (void)flags;
    DRIVER(CUD_CONTEXT, cudaErrorPeerAccessUnsupported);
}

CUresult cuCtxDisablePeerAccess(CUcontext peer) {
    (void)peer;
    DRIVER(CUD_CONTEXT, cudaErrorPeerAccessNotEnabled);
}

static int linear_width(size_t *width, int format, unsigned channels, CUdevice dev) {
    size_t texel = cud_format_bytes((enum cud_format)format) * channels;
    if (!width || !texel)
        return cudaErrorInvalidValue;
    int bytes;
    cud_device_attribute(69, &bytes);
    *width = (size_t)bytes / texel;
    return device_ok(dev);
}

CUresult cuDeviceGetTexture1DLinearMaxWidth(size_t *width, CUarray_format format, unsigned channels,
                                            CUdevice dev) {
    DRIVER(CUD_DEVICE, linear_width(width, (int)format, channels, dev));
}

CUresult cuDeviceGetExecAffinitySupport(int *value, int type, CUdevice dev) {
    (void)type;
    DRIVER(CUD_DEVICE, no_peer(value, dev, dev));
}

static int pool_out(CUmemoryPool *pool, CUmemoryPool which, CUdevice dev) {
    if (!pool)
        return cudaErrorInvalidValue;
    *pool = which;
    return device_ok(dev);
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice dev) {
    DRIVER(CUD_DEVICE, pool_out(pool, cud_default_pool(), dev));
}

CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice dev) {
    DRIVER(CUD_DEVICE, pool_out(pool, cud.current_pool ? cud.current_pool : cud_default_pool(), dev));
}

static int set_pool(CUdevice dev, CUmemoryPool pool) {
    if (!cud_object_get(pool, CUD_POOL))
        return cudaErrorInvalidValue;
    cud.current_pool = pool;
    return device_ok(dev);
}

CUresult cuDeviceSetMemPool(CUdevice dev, CUmemoryPool pool) {
    DRIVER(CUD_DEVICE, set_pool(dev, pool));
}

CUresult cuProfilerStart(void) {
    DRIVER(CUD_DEVICE, cudaSuccess);
}

CUresult cuProfilerStop(void) {
    DRIVER(CUD_DEVICE, cudaSuccess);
}

CUresult cuProfilerInitialize(const char *config, const char *output, int mode) {
    (void)config;
    (void)output;
    (void)mode;
    DRIVER(CUD_DEVICE, cudaSuccess);
}
