/* What the files of libcuda share. An entry point is one DRIVER(...) line: lock, check what it needs, call,
 * unlock, give back a CUresult. */
#ifndef REPRISE_CUDA_DRIVER_H
#define REPRISE_CUDA_DRIVER_H

#include <string.h>

#include "cuda/graph.h"
#include "cuda/queue.h"
#include "cuda/work.h"
#include "reprise_cuda.h"

/* Runs the expression (an error code) under the lock if the need is met. */
#define DRIVER(need, ...)                                                                                    \
    do {                                                                                                     \
        int error_ = cud_begin_driver(need);                                                                 \
        if (!error_)                                                                                         \
            error_ = (__VA_ARGS__);                                                                          \
        return (CUresult)cud_end_driver(error_);                                                             \
    } while (0)

/* Exports an entry point under a second name, with suffix: _ptsz and _ptds are for programs with a default
 * stream per thread (default_stream.c). */
#define DRIVER_ALIAS(name, suffix)  DRIVER_ALIAS_(name, suffix)
#define DRIVER_ALIAS_(name, suffix) extern __typeof__(name) name##suffix __attribute__((alias(#name)))
#define DRIVER_SAME(name, other)    DRIVER_SAME_(name, other)
#define DRIVER_SAME_(name, other)   extern __typeof__(name) other __attribute__((alias(#name)))
#define PTSZ(name)                  DRIVER_ALIAS(name, _ptsz)
#define PTDS(name)                  DRIVER_ALIAS(name, _ptds)

typedef struct CUmod_st *CUlibrary;
typedef struct CUfunc_st *CUkernel;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphNode_st *CUgraphNode;
typedef struct CUgraphExec_st *CUgraphExec;
typedef struct CUpool_st *CUmemoryPool;

typedef struct CUmemLocation_st {
    int type, id;
} CUmemLocation;

/* The device number is right. */
static inline int device_ok(CUdevice dev) {
    return dev == 0 ? cudaSuccess : cudaErrorInvalidDevice;
}

/* Copies a log into the buffers given as JIT options and sets the sizes. */
void jit_log(const char *log, int error, unsigned n, const CUjit_option *options, void **values);
/* The copy a 3D copy structure describes. */
int copy_of_3d(struct cud_copy *c, const CUDA_MEMCPY3D *p);
/* A texture from its driver descriptions; tex NULL for a surface. */
int tex_of_driver(struct cud_tex *t, const CUDA_RESOURCE_DESC *res, const CUDA_TEXTURE_DESC *tex,
                  const CUDA_RESOURCE_VIEW_DESC *view);
/* Fills in a launch's arguments from params or extra. */
int pack_launch(struct cud_launch *l, void **params, void **extra);

/* What the including file defines is exported; the version script drops what is not API. */
#pragma GCC visibility push(default)

#endif
