/* What the files of libcudart share. libcudart is built three times, with REPRISE_CUDART 11, 12 and 13,
 * because structures and signatures changed between these releases; the sources say where.
 *
 * An entry point is one RUNTIME(...) line: lock, see to what it needs, call, remember the error, unlock. */
#ifndef REPRISE_CUDA_RUNTIME_H
#define REPRISE_CUDA_RUNTIME_H

#include <string.h>

#include "cuda/graph.h"
#include "cuda/work.h"

#ifndef REPRISE_CUDART
#error "REPRISE_CUDART must be 11, 12 or 13"
#endif

/* What cudaRuntimeGetVersion answers. */
#define RUNTIME_VERSION (REPRISE_CUDART == 11 ? 11080 : REPRISE_CUDART == 12 ? 12090 : 13000)

#define RUNTIME(need, ...)                                                                                   \
    do {                                                                                                     \
        int error_ = cud_begin_runtime(need);                                                                \
        if (!error_)                                                                                         \
            error_ = (__VA_ARGS__);                                                                          \
        return cud_end_runtime(error_);                                                                      \
    } while (0)

/* A second exported name for an entry point; _ptsz and _ptds are the names used when the default stream is
 * per thread (default_stream.c). */
#define RUNTIME_SAME(name, other) extern __typeof__(name) other __attribute__((alias(#name)))
#define PTSZ(name)                RUNTIME_SAME(name, name##_ptsz)
#define PTDS(name)                RUNTIME_SAME(name, name##_ptds)

typedef int cudaError_t;
typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
typedef struct CUarray_st *cudaArray_t;
typedef struct CUmipmap_st *cudaMipmappedArray_t;
typedef struct CUfunc_st *cudaKernel_t;
typedef struct CUfunc_st *cudaFunction_t;
typedef struct CUmod_st *cudaLibrary_t;
typedef struct CUpool_st *cudaMemPool_t;
typedef struct CUgraph_st *cudaGraph_t;
typedef struct CUgraphNode_st *cudaGraphNode_t;
typedef struct CUgraphExec_st *cudaGraphExec_t;
typedef void (*cudaHostFn_t)(void *);

typedef struct {
    unsigned x, y, z;
} dim3;

enum cudaMemcpyKind {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault,
};

struct cudaPitchedPtr {
    void *ptr;
    size_t pitch, xsize, ysize;
};

struct cudaExtent {
    size_t width, height, depth;
};

struct cudaPos {
    size_t x, y, z;
};

struct cudaMemcpy3DParms {
    cudaArray_t srcArray;
    struct cudaPos srcPos;
    struct cudaPitchedPtr srcPtr;
    cudaArray_t dstArray;
    struct cudaPos dstPos;
    struct cudaPitchedPtr dstPtr;
    struct cudaExtent extent;
    enum cudaMemcpyKind kind;
};

struct cudaMemcpy3DPeerParms {
    cudaArray_t srcArray;
    struct cudaPos srcPos;
    struct cudaPitchedPtr srcPtr;
    int srcDevice;
    cudaArray_t dstArray;
    struct cudaPos dstPos;
    struct cudaPitchedPtr dstPtr;
    int dstDevice;
    struct cudaExtent extent;
};

struct cudaMemsetParams {
    void *dst;
    size_t pitch;
    unsigned value, elementSize;
    size_t width, height;
};

struct cudaMemLocation {
    int type, id;
};

enum cudaChannelFormatKind {
    cudaChannelFormatKindSigned,
    cudaChannelFormatKindUnsigned,
    cudaChannelFormatKindFloat,
    cudaChannelFormatKindNone,
};

struct cudaChannelFormatDesc {
    int x, y, z, w;
    enum cudaChannelFormatKind f;
};

struct cudaResourceDesc {
    int resType;
    union {
        struct {
            cudaArray_t array;
        } array;
        struct {
            cudaMipmappedArray_t mipmap;
        } mipmap;
        struct {
            void *devPtr;
            struct cudaChannelFormatDesc desc;
            size_t sizeInBytes;
        } linear;
        struct {
            void *devPtr;
            struct cudaChannelFormatDesc desc;
            size_t width, height, pitchInBytes;
        } pitch2D;
#if REPRISE_CUDART >= 13
        struct {
            int reserved[32];
        } reserved;
#endif
    } res;
#if REPRISE_CUDART >= 13
    unsigned flags;
#endif
};

struct cudaTextureDesc {
    int addressMode[3], filterMode, readMode, sRGB;
    float borderColor[4];
    int normalizedCoords;
    unsigned maxAnisotropy;
    int mipmapFilterMode;
    float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
    int disableTrilinearOptimization;
    int seamlessCubemap; /* since 11.6; not read, and not written for CUDA 11 */
};

struct cudaPointerAttributes {
    int type, device;
    void *devicePointer, *hostPointer;
#if REPRISE_CUDART >= 13
    long reserved[8];
#endif
};

struct cudaFuncAttributes {
    size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
    int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA;
    int maxDynamicSharedSizeBytes, preferredShmemCarveout;
#if REPRISE_CUDART >= 12
    int clusterDimMustBeSet, requiredClusterWidth, requiredClusterHeight, requiredClusterDepth;
    int clusterSchedulingPolicyPreference, nonPortableClusterSizeAllowed;
    int reserved[16];
#endif
};

typedef struct {
    unsigned id;
    char pad[4];
    union {
        char pad[64];
        int cooperative;
        struct {
            unsigned x, y, z;
        } clusterDim;
    } val;
} cudaLaunchAttribute;

typedef struct {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    cudaLaunchAttribute *attrs;
    unsigned numAttrs;
} cudaLaunchConfig_t;

struct cudaKernelNodeParams {
    void *func;
    dim3 gridDim, blockDim;
    unsigned sharedMemBytes;
    void **kernelParams, **extra;
};

struct cudaHostNodeParams {
    cudaHostFn_t fn;
    void *userData;
};

/* The format and channel count a channel description stands for. */
int shape_of_channels(const struct cudaChannelFormatDesc *d, enum cud_format *format, unsigned *channels);
struct cudaChannelFormatDesc channels_of_shape(enum cud_format format, unsigned channels);
/* The copy a 3D parameter structure describes. */
int copy_of_3d(struct cud_copy *c, const struct cudaMemcpy3DParms *p);
/* A side of a linear copy, with what kind says about where it is. */
struct cud_side linear_side(const void *p, size_t pitch, enum cudaMemcpyKind kind, bool source);
/* Looks up, readies and fills in a launch. */
int prepare_launch(struct cud_op *op, const void *func, dim3 grid, dim3 block, void **args, void **extra,
                   size_t shared);
/* The address of a variable, checked against offset and count. */
int symbol_range(const void *symbol, size_t offset, size_t count, void **addr);

/* What the including file defines is exported; the version script drops what is not API. */
#pragma GCC visibility push(default)

#endif
