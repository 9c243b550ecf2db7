/* libcudart: launches, kernel attributes, occupancy. */
#include <stdlib.h>
#include <string.h>

#include "cuda/runtime/runtime.h"

enum { ATTR_COOPERATIVE = 2, ATTR_CLUSTER = 4 }; /* cudaLaunchAttributeID */

/* What a pointer that is no kernel gets; CUDA 13 looks kernels up by handle and says so. */
#define NOT_A_KERNEL (REPRISE_CUDART >= 13 ? cudaErrorInvalidResourceHandle : cudaErrorInvalidDeviceFunction)

/* What a grid or block the GPU cannot run gets. */
#define BAD_CONFIGURATION (REPRISE_CUDART >= 13 ? cudaErrorInvalidValue : cudaErrorInvalidConfiguration)

static int find_func(struct CUfunc_st **f, const void *func) {
    if (!func)
        return cudaErrorInvalidDeviceFunction;
    *f = cud_func(func);
    return *f ? cudaSuccess : NOT_A_KERNEL;
}

static int pack(struct cud_launch *l, void **args, void **extra) {
    const void *buffer = NULL;
    size_t size = 0;
    if (!extra)
        return cud_pack_args(l, args);
    for (; *extra; extra += 2) /* 1: buffer, 2: its size */
        if ((uintptr_t)extra[0] == 1)
            buffer = extra[1];
        else if ((uintptr_t)extra[0] == 2)
            size = *(size_t *)extra[1];
        else
            return cudaErrorInvalidValue;
    return cud_pack_buffer(l, buffer ? buffer : "", buffer ? size : 0);
}

int prepare_launch(struct cud_op *op, const void *func, dim3 grid, dim3 block, void **args, void **extra,
                   size_t shared) {
    struct CUfunc_st *f;
    int error = find_func(&f, func);
    if (!error)
        error = cud_func_ready(f);
    if (error)
        return error;
    *op = (struct cud_op){
        .kind = CUD_OP_LAUNCH,
        .launch = {.func = f,
                   .grid = {grid.x, grid.y, grid.z},
                   .block = {block.x, block.y, block.z},
                   .shared = shared},
    };
    error = pack(&op->launch, args, extra);
    if (error)
        cud_op_free(op);
    return error;
}

static int launch(const void *func, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream,
                  bool cooperative, const uint32_t *cluster) {
    struct cud_op op;
    int error = prepare_launch(&op, func, grid, block, args, NULL, shared);
    if (error)
        return error;
    op.launch.cooperative = cooperative;
    if (cluster)
        memcpy(op.launch.cluster, cluster, sizeof op.launch.cluster);
    error = cud_submit(stream, &op);
    return error == cudaErrorInvalidConfiguration ? BAD_CONFIGURATION : error;
}

cudaError_t cudaLaunchKernel(const void *func, dim3 grid, dim3 block, void **args, size_t shared,
                             cudaStream_t stream) {
    RUNTIME(CUD_CONTEXT, launch(func, grid, block, args, shared, stream, false, NULL));
}
PTSZ(cudaLaunchKernel);

/* The stubs of CUDA 13 launch by handle. */
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args, size_t shared,
                               cudaStream_t stream) {
    RUNTIME(CUD_CONTEXT, launch(kernel, grid, block, args, shared, stream, false, NULL));
}
PTSZ(__cudaLaunchKernel);

cudaError_t cudaLaunchCooperativeKernel(const void *func, dim3 grid, dim3 block, void **args, size_t shared,
                                        cudaStream_t stream) {
    RUNTIME(CUD_CONTEXT, launch(func, grid, block, args, shared, stream, true, NULL));
}
PTSZ(cudaLaunchCooperativeKernel);

static int read_attributes(const cudaLaunchConfig_t *c, bool *cooperative, uint32_t cluster[3]) {
    if (!c || (c->numAttrs && !c->attrs))
        return cudaErrorInvalidValue;
    for (unsigned i = 0; i < c->numAttrs; i++) {
        const cudaLaunchAttribute *a = &c->attrs[i];
        if (a->id == ATTR_COOPERATIVE)
            *cooperative = a->val.cooperative != 0;
        else if (a->id == ATTR_CLUSTER)
            memcpy(cluster, &a->val.clusterDim, 3 * sizeof *cluster);
    }
    return cudaSuccess;
}

static int launch_ex(const cudaLaunchConfig_t *c, const void *func, void **args) {
    bool cooperative = false;
    uint32_t cluster[3] = {0};
    int error = read_attributes(c, &cooperative, cluster);
    if (error)
        return error;
    return launch(func, c->gridDim, c->blockDim, args, c->dynamicSmemBytes, c->stream, cooperative, cluster);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *func, void **args) {
    RUNTIME(CUD_CONTEXT, launch_ex(config, func, args));
}
PTSZ(cudaLaunchKernelExC);

/* ---- about kernels ---------------------------------------------------------------------------------- */

/* Runs the expression on the kernel f that func stands for. */
#define KERNEL(need, func, ...)                                                                              \
    do {                                                                                                     \
        struct CUfunc_st *f = NULL;                                                                          \
        int error_ = cud_begin_runtime(need);                                                                \
        if (!error_)                                                                                         \
            error_ = find_func(&f, func);                                                                    \
        if (!error_)                                                                                         \
            error_ = (__VA_ARGS__);                                                                          \
        return cud_end_runtime(error_);                                                                      \
    } while (0)

static int attributes(struct cudaFuncAttributes *a, struct CUfunc_st *f) {
    struct rp_kernel_info k;
    int error = a ? cud_func_info(f, &k) : cudaErrorInvalidValue;
    if (error)
        return error;
    memset(a, 0, sizeof *a);
    a->sharedSizeBytes = k.shared_static;
    a->constSizeBytes = k.const_bytes;
    a->localSizeBytes = k.local_per_thread;
    a->maxThreadsPerBlock = k.max_threads;
    a->numRegs = k.regs;
    cud_func_attribute(f, 5, &a->ptxVersion);
    cud_func_attribute(f, 6, &a->binaryVersion);
    cud_func_attribute(f, 8, &a->maxDynamicSharedSizeBytes);
    a->preferredShmemCarveout = f->carveout;
#if REPRISE_CUDART >= 12
    a->clusterDimMustBeSet = k.cluster[0] != 0;
    a->requiredClusterWidth = k.cluster[0];
    a->requiredClusterHeight = k.cluster[1];
    a->requiredClusterDepth = k.cluster[2];
    a->nonPortableClusterSizeAllowed = f->big_clusters;
    a->clusterSchedulingPolicyPreference = f->cluster_policy;
#endif
    return cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attr, const void *func) {
    KERNEL(CUD_CONTEXT, func, attributes(attr, f));
}

/* In CUDA 13 this call, alone among those probed, forgets an earlier error when it succeeds. */
static int set_attribute(struct CUfunc_st *f, int attribute, int value) {
    int error = cud_func_set_attribute(f, attribute, value);
    if (!error && REPRISE_CUDART >= 13)
        cud_thread()->last_error = cudaSuccess;
    return error;
}

cudaError_t cudaFuncSetAttribute(const void *func, int attribute, int value) {
    KERNEL(CUD_CONTEXT, func, set_attribute(f, attribute, value));
}

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, int attribute, int value, int device) {
    KERNEL(CUD_CONTEXT, kernel,
           device ? cudaErrorInvalidDevice : cud_func_set_attribute(f, attribute, value));
}

static int put(int *where, int value, int most) {
    if (value < 0 || value > most)
        return cudaErrorInvalidValue;
    *where = value;
    return cudaSuccess;
}

cudaError_t cudaFuncSetCacheConfig(const void *func, int config) {
    KERNEL(CUD_CONTEXT, func, put(&f->cache_config, config, 3));
}

cudaError_t cudaFuncSetSharedMemConfig(const void *func, int config) {
    KERNEL(CUD_CONTEXT, func, put(&f->shared_config, config, 2));
}

static int name_of(const char **name, struct CUfunc_st *f) {
    if (!name)
        return cudaErrorInvalidValue;
    *name = f->name;
    return cudaSuccess;
}

cudaError_t cudaFuncGetName(const char **name, const void *func) {
    KERNEL(CUD_CONTEXT, func, name_of(name, f));
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

cudaError_t cudaFuncGetParamInfo(const void *func, size_t index, size_t *offset, size_t *size) {
    KERNEL(CUD_CONTEXT, func, param_info(f, index, offset, size));
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *func, int block,
                                                          size_t dynamic) {
    KERNEL(CUD_CONTEXT, func, cud_occupancy(f, block, dynamic, blocks));
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *func, int block,
                                                                   size_t dynamic, unsigned flags) {
    (void)flags;
    KERNEL(CUD_CONTEXT, func, cud_occupancy(f, block, dynamic, blocks));
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *dynamic, const void *func, int blocks,
                                                      int block) {
    KERNEL(CUD_CONTEXT, func, cud_occupancy_dynamic(f, blocks, block, dynamic));
}

/* A launch to ask about: its block, shared memory and cluster. */
static int imagine(struct cud_launch *l, struct CUfunc_st *f, const cudaLaunchConfig_t *c) {
    bool cooperative = false;
    int error = read_attributes(c, &cooperative, l->cluster);
    if (error)
        return error;
    l->func = f;
    l->shared = c->dynamicSmemBytes;
    memcpy(l->block, &c->blockDim, sizeof l->block);
    return cudaSuccess;
}

static int clusters(int *n, struct CUfunc_st *f, const cudaLaunchConfig_t *c,
                    int (*ask)(const struct cud_launch *, int *)) {
    struct cud_launch l = {0};
    int error = imagine(&l, f, c);
    return error ? error : ask(&l, n);
}

cudaError_t cudaOccupancyMaxActiveClusters(int *n, const void *func, const cudaLaunchConfig_t *config) {
    KERNEL(CUD_CONTEXT, func, clusters(n, f, config, cud_occupancy_clusters));
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int *n, const void *func, const cudaLaunchConfig_t *config) {
    KERNEL(CUD_CONTEXT, func, clusters(n, f, config, cud_occupancy_cluster_size));
}
