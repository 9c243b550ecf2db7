/* libcuda: functions, launches, occupancy. */
#include <stdlib.h>

#include "cuda/driver/driver.h"

enum { ATTR_COOPERATIVE = 2, ATTR_CLUSTER = 4 }; /* CUlaunchAttributeID */

/* Runs the expression on a live function f. */
#define FUNCTION(need, func, ...)                                                                            \
    do {                                                                                                     \
        int error_ = cud_begin_driver(need);                                                                 \
        struct CUfunc_st *f = error_ ? NULL : cud_object_get(func, CUD_FUNC);                                \
        if (!error_)                                                                                         \
            error_ = f ? (__VA_ARGS__) : cudaErrorInvalidResourceHandle;                                     \
        return (CUresult)cud_end_driver(error_);                                                             \
    } while (0)

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction func) {
    FUNCTION(CUD_CONTEXT, func, value ? cud_func_attribute(f, (int)attribute, value) : cudaErrorInvalidValue);
}

CUresult cuFuncSetAttribute(CUfunction func, CUfunction_attribute attribute, int value) {
    FUNCTION(CUD_CONTEXT, func, cud_func_set_attribute(f, (int)attribute, value));
}

CUresult cuKernelGetAttribute(int *value, CUfunction_attribute attribute, CUkernel kernel, CUdevice dev) {
    FUNCTION(CUD_DEVICE, kernel,
             device_ok(dev) ? device_ok(dev) : cud_func_attribute(f, (int)attribute, value));
}

CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel, CUdevice dev) {
    FUNCTION(CUD_DEVICE, kernel,
             device_ok(dev) ? device_ok(dev) : cud_func_set_attribute(f, (int)attribute, value));
}

static int put(int *where, int value) {
    *where = value;
    return cudaSuccess;
}

CUresult cuFuncSetCacheConfig(CUfunction func, CUfunc_cache config) {
    FUNCTION(CUD_CONTEXT, func, put(&f->cache_config, (int)config));
}

CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice dev) {
    FUNCTION(CUD_DEVICE, kernel, device_ok(dev) ? device_ok(dev) : put(&f->cache_config, (int)config));
}

CUresult cuFuncSetSharedMemConfig(CUfunction func, CUsharedconfig config) {
    FUNCTION(CUD_CONTEXT, func, put(&f->shared_config, (int)config));
}

static int name_of(const char **name, struct CUfunc_st *f) {
    if (!name)
        return cudaErrorInvalidValue;
    *name = f->name;
    return cudaSuccess;
}

CUresult cuFuncGetName(const char **name, CUfunction func) {
    FUNCTION(CUD_CONTEXT, func, name_of(name, f));
}

CUresult cuKernelGetName(const char **name, CUkernel kernel) {
    FUNCTION(CUD_DEVICE, kernel, name_of(name, f));
}

static int param_info(struct CUfunc_st *f, size_t index, size_t *offset, size_t *size) {
    struct rp_param_info p;
    int error = cud_func_ready(f);
    if (error)
        return error;
    if (!offset || index > UINT32_MAX || !rp_kernel_param(f->kernel, (uint32_t)index, &p))
        return cudaErrorInvalidValue;
    *offset = p.offset;
    if (size)
        *size = p.size;
    return cudaSuccess;
}

CUresult cuFuncGetParamInfo(CUfunction func, size_t index, size_t *offset, size_t *size) {
    FUNCTION(CUD_CONTEXT, func, param_info(f, index, offset, size));
}

CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t *offset, size_t *size) {
    FUNCTION(CUD_DEVICE, kernel, param_info(f, index, offset, size));
}

static int is_loaded(int *state, struct CUfunc_st *f) {
    if (!state)
        return cudaErrorInvalidValue;
    *state = f->kernel != NULL;
    return cudaSuccess;
}

CUresult cuFuncIsLoaded(int *state, CUfunction func) {
    FUNCTION(CUD_CONTEXT, func, is_loaded(state, f));
}

CUresult cuFuncLoad(CUfunction func) {
    FUNCTION(CUD_CONTEXT, func, cud_func_ready(f));
}

/* ---- launches --------------------------------------------------------------------------------------- */

static int pack_extra(struct cud_launch *l, void **extra) {
    const void *buffer = NULL;
    size_t size = 0;
    for (; *extra != CU_LAUNCH_PARAM_END; extra += 2)
        if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = extra[1];
        else if (extra[0] == CU_LAUNCH_PARAM_BUFFER_SIZE && extra[1])
            size = *(size_t *)extra[1];
        else
            return cudaErrorInvalidValue;
    return size && !buffer ? cudaErrorInvalidValue : cud_pack_buffer(l, buffer ? buffer : "", size);
}

int pack_launch(struct cud_launch *l, void **params, void **extra) {
    bool buffer = extra && *extra != CU_LAUNCH_PARAM_END;
    if (params && buffer)
        return cudaErrorInvalidValue;
    return extra && !params ? pack_extra(l, extra) : cud_pack_args(l, params);
}

/* The cluster a configuration asks for. */
static void read_cluster(const CUlaunchConfig *c, uint32_t cluster[3]) {
    for (unsigned i = 0; i < c->numAttrs; i++)
        if (c->attrs[i].id == ATTR_CLUSTER)
            memcpy(cluster, &c->attrs[i].value.clusterDim, 3 * sizeof *cluster);
}

static int launch(const CUlaunchConfig *c, CUfunction func, void **params, void **extra, bool cooperative) {
    struct CUfunc_st *f = cud_object_get(func, CUD_FUNC);
    if (!f)
        return cudaErrorInvalidResourceHandle;
    int error = cud_func_ready(f);
    if (error)
        return error;
    struct cud_op op = {
        .kind = CUD_OP_LAUNCH,
        .launch = {.func = f,
                   .grid = {c->gridDimX, c->gridDimY, c->gridDimZ},
                   .block = {c->blockDimX, c->blockDimY, c->blockDimZ},
                   .shared = c->sharedMemBytes,
                   .cooperative = cooperative},
    };
    read_cluster(c, op.launch.cluster);
    error = pack_launch(&op.launch, params, extra);
    if (error) {
        cud_op_free(&op);
        return error;
    }
    return cud_submit(c->hStream, &op);
}

CUresult cuLaunchKernel(CUfunction func, unsigned int gridX, unsigned int gridY, unsigned int gridZ,
                        unsigned int blockX, unsigned int blockY, unsigned int blockZ, unsigned int shared,
                        CUstream stream, void **params, void **extra) {
    CUlaunchConfig c = {gridX, gridY, gridZ, blockX, blockY, blockZ, shared, stream, NULL, 0};
    DRIVER(CUD_CONTEXT, launch(&c, func, params, extra, false));
}
PTSZ(cuLaunchKernel);

CUresult cuLaunchCooperativeKernel(CUfunction func, unsigned int gridX, unsigned int gridY,
                                   unsigned int gridZ, unsigned int blockX, unsigned int blockY,
                                   unsigned int blockZ, unsigned int shared, CUstream stream, void **params) {
    CUlaunchConfig c = {gridX, gridY, gridZ, blockX, blockY, blockZ, shared, stream, NULL, 0};
    DRIVER(CUD_CONTEXT, launch(&c, func, params, NULL, true));
}
PTSZ(cuLaunchCooperativeKernel);

static int launch_ex(const CUlaunchConfig *c, CUfunction func, void **params, void **extra) {
    bool cooperative = false;
    if (!c || (c->numAttrs && !c->attrs))
        return cudaErrorInvalidValue;
    for (unsigned i = 0; i < c->numAttrs; i++)
        if (c->attrs[i].id == ATTR_COOPERATIVE)
            cooperative = c->attrs[i].value.cooperative != 0;
    return launch(c, func, params, extra, cooperative);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction func, void **params, void **extra) {
    DRIVER(CUD_CONTEXT, launch_ex(config, func, params, extra));
}
PTSZ(cuLaunchKernelEx);

/* ---- the launch calls of CUDA 3: state is set on the function first ------------------------------------ */

static int block_shape(struct CUfunc_st *f, int x, int y, int z) {
    f->block[0] = (uint32_t)x;
    f->block[1] = (uint32_t)y;
    f->block[2] = (uint32_t)z;
    return cudaSuccess;
}

CUresult cuFuncSetBlockShape(CUfunction func, int x, int y, int z) {
    FUNCTION(CUD_CONTEXT, func, block_shape(f, x, y, z));
}

static int shared_size(struct CUfunc_st *f, unsigned bytes) {
    f->shared = bytes;
    return cudaSuccess;
}

CUresult cuFuncSetSharedSize(CUfunction func, unsigned int bytes) {
    FUNCTION(CUD_CONTEXT, func, shared_size(f, bytes));
}

#define PARAM_LIMIT 32768

static int param_size(struct CUfunc_st *f, size_t bytes) {
    if (bytes > PARAM_LIMIT)
        return cudaErrorInvalidValue;
    if (bytes > f->param_bytes) {
        f->params = xrealloc(f->params, bytes);
        memset(f->params + f->param_bytes, 0, bytes - f->param_bytes);
        f->param_bytes = bytes;
    }
    return cudaSuccess;
}

CUresult cuParamSetSize(CUfunction func, unsigned int bytes) {
    FUNCTION(CUD_CONTEXT, func, param_size(f, bytes));
}

static int param_set(struct CUfunc_st *f, int offset, const void *p, size_t bytes) {
    if (offset < 0 || !p || bytes > PARAM_LIMIT)
        return cudaErrorInvalidValue;
    int error = param_size(f, (size_t)offset + bytes);
    if (!error)
        memcpy(f->params + offset, p, bytes);
    return error;
}

CUresult cuParamSeti(CUfunction func, int offset, unsigned int value) {
    FUNCTION(CUD_CONTEXT, func, param_set(f, offset, &value, sizeof value));
}

CUresult cuParamSetf(CUfunction func, int offset, float value) {
    FUNCTION(CUD_CONTEXT, func, param_set(f, offset, &value, sizeof value));
}

CUresult cuParamSetv(CUfunction func, int offset, void *p, unsigned int bytes) {
    FUNCTION(CUD_CONTEXT, func, param_set(f, offset, p, bytes));
}

static int launch_grid(struct CUfunc_st *f, int width, int height, CUstream stream) {
    size_t size = f->param_bytes;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, f->params, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END};
    CUlaunchConfig c = {(unsigned)width, (unsigned)height,    1,      f->block[0], f->block[1],
                        f->block[2],     (unsigned)f->shared, stream, NULL,        0};
    return launch(&c, f, NULL, extra, false);
}

CUresult cuLaunch(CUfunction func) {
    FUNCTION(CUD_CONTEXT, func, launch_grid(f, 1, 1, NULL));
}

CUresult cuLaunchGrid(CUfunction func, int width, int height) {
    FUNCTION(CUD_CONTEXT, func, launch_grid(f, width, height, NULL));
}

CUresult cuLaunchGridAsync(CUfunction func, int width, int height, CUstream stream) {
    FUNCTION(CUD_CONTEXT, func, launch_grid(f, width, height, stream));
}

/* ---- occupancy -------------------------------------------------------------------------------------- */

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction func, int block,
                                                     size_t dynamic) {
    FUNCTION(CUD_CONTEXT, func, cud_occupancy(f, block, dynamic, blocks));
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction func, int block,
                                                              size_t dynamic, unsigned int flags) {
    (void)flags;
    FUNCTION(CUD_CONTEXT, func, cud_occupancy(f, block, dynamic, blocks));
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *dynamic, CUfunction func, int blocks, int block) {
    FUNCTION(CUD_CONTEXT, func, cud_occupancy_dynamic(f, blocks, block, dynamic));
}

static int clusters(int *n, struct CUfunc_st *f, const CUlaunchConfig *c,
                    int (*ask)(const struct cud_launch *, int *)) {
    if (!c || (c->numAttrs && !c->attrs))
        return cudaErrorInvalidValue;
    struct cud_launch l = {
        .func = f, .block = {c->blockDimX, c->blockDimY, c->blockDimZ}, .shared = c->sharedMemBytes};
    read_cluster(c, l.cluster);
    return ask(&l, n);
}

CUresult cuOccupancyMaxActiveClusters(int *n, CUfunction func, const CUlaunchConfig *config) {
    FUNCTION(CUD_CONTEXT, func, clusters(n, f, config, cud_occupancy_clusters));
}

CUresult cuOccupancyMaxPotentialClusterSize(int *n, CUfunction func, const CUlaunchConfig *config) {
    FUNCTION(CUD_CONTEXT, func, clusters(n, f, config, cud_occupancy_cluster_size));
}

/* The block size that keeps most threads resident; the largest such. */
static int best_block(int *grid, int *block, struct CUfunc_st *f, CUoccupancyB2DSize dynamic_of,
                      size_t dynamic, int limit) {
    struct rp_kernel_info k;
    const struct rp_gpu_info *gpu = rp_gpu_info(cud.gpu);
    int error = cud_func_info(f, &k), best = 0;
    if (error)
        return error;
    if (!grid || !block)
        return cudaErrorInvalidValue;
    int most = k.max_threads < gpu->max_threads_per_block ? k.max_threads : gpu->max_threads_per_block;
    most = limit > 0 && limit < most ? limit : most;
    *grid = *block = 0;
    int step = gpu->warp_size;
    for (int size = (most + step - 1) / step * step; size > 0; size -= step) {
        int threads = size < most ? size : most, blocks = 0;
        cud_occupancy(f, threads, dynamic_of ? dynamic_of(threads) : dynamic, &blocks);
        if (blocks * threads > best) {
            best = blocks * threads;
            *block = threads;
            *grid = blocks * gpu->sms;
        }
    }
    return cudaSuccess;
}

CUresult cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction func,
                                          CUoccupancyB2DSize dynamic_of, size_t dynamic, int limit) {
    FUNCTION(CUD_CONTEXT, func, best_block(grid, block, f, dynamic_of, dynamic, limit));
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, CUfunction func,
                                                   CUoccupancyB2DSize dynamic_of, size_t dynamic, int limit,
                                                   unsigned int flags) {
    (void)flags;
    FUNCTION(CUD_CONTEXT, func, best_block(grid, block, f, dynamic_of, dynamic, limit));
}
