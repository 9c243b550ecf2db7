/* libcudart: what the compiler's start-up code and launch stubs call. */
#include <stdlib.h>

#include "cuda/runtime/runtime.h"

void **__cudaRegisterFatBinary(void *wrapper) {
    cud_lock();
    struct CUmod_st *m = cud_register_binary(wrapper);
    cud_unlock();
    return (void **)m;
}

void __cudaRegisterFatBinaryEnd(void **handle) {
    (void)handle; /* modules load when first needed */
}

void __cudaUnregisterFatBinary(void **handle) {
    cud_lock();
    cud_unregister_binary((struct CUmod_st *)handle);
    cud_unlock();
}

static void add(void **handle, int kind, const void *host, const char *name, size_t size, bool constant,
                void **managed, int norm) {
    cud_lock();
    struct cud_symbol *s = cud_register_symbol((struct CUmod_st *)handle, kind, host, name);
    if (s) {
        s->size = size;
        s->constant = constant;
        s->managed = managed;
        s->tex_norm = norm;
    }
    cud_unlock();
}

void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int limit,
                            void *tid, void *bid, void *bdim, void *gdim, int *wsize) {
    (void)device, (void)limit, (void)tid, (void)bid, (void)bdim, (void)gdim, (void)wsize;
    add(handle, CUD_SYM_FUNC, host, name, 0, false, NULL, 0);
}

void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext, size_t size,
                       int constant, int global) {
    (void)device, (void)ext, (void)global;
    add(handle, CUD_SYM_VAR, host, name, size, constant, NULL, 0);
}

/* host is the variable's shadow: a pointer that must lead to it once the module is loaded. */
void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int ext,
                              size_t size, int constant, int global) {
    (void)device, (void)ext, (void)global;
    add(handle, CUD_SYM_VAR, host, name, size, constant, host, 0);
}

void __cudaRegisterTexture(void **handle, const void *host, const void **device, const char *name, int dim,
                           int norm, int ext) {
    (void)device, (void)dim, (void)ext;
    add(handle, CUD_SYM_TEX, host, name, 0, false, NULL, norm);
}

void __cudaRegisterSurface(void **handle, const void *host, const void **device, const char *name, int dim,
                           int ext) {
    (void)device, (void)dim, (void)ext;
    add(handle, CUD_SYM_SURF, host, name, 0, false, NULL, 0);
}

/* A host variable that device code may name; device code here never does. */
void __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t size) {
    (void)handle, (void)name, (void)host, (void)size;
}

void __cudaRegisterUnifiedTable(void **handle, void *table) {
    (void)handle, (void)table;
}

/* Called before host code touches a managed variable. */
char __cudaInitModule(void **handle) {
    int error = cud_begin_runtime(CUD_CONTEXT);
    struct CUmod_st *m = cud_object_get(handle, CUD_MODULE);
    if (!error)
        error = m ? cud_module_ready(m) : cudaErrorInvalidResourceHandle;
    cud_end_runtime(error);
    return error == cudaSuccess;
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, struct CUstream_st *stream) {
    struct cud_thread *t = cud_thread();
    if (t->nconfigs == CUD_CONFIG_DEPTH)
        return cudaErrorLaunchPendingCountExceeded;
    t->configs[t->nconfigs++] =
        (struct cud_config){{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared, stream};
    return cudaSuccess;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream) {
    struct cud_thread *t = cud_thread();
    if (!t->nconfigs)
        return cudaErrorMissingConfiguration;
    struct cud_config *c = &t->configs[--t->nconfigs];
    *grid = (dim3){c->grid[0], c->grid[1], c->grid[2]};
    *block = (dim3){c->block[0], c->block[1], c->block[2]};
    *shared = c->shared;
    *(struct CUstream_st **)stream = c->stream;
    return cudaSuccess;
}

static int get_kernel(cudaKernel_t *kernel, const void *host) {
    struct cud_symbol *s = cud_symbol(host, CUD_SYM_FUNC);
    if (!kernel)
        return cudaErrorInvalidValue;
    if (!s)
        return cudaErrorInvalidDeviceFunction;
    *kernel = s->func;
    return cudaSuccess;
}

/* Runs in static initialisers, long before anything may touch the device. */
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *host) {
    RUNTIME(CUD_NOTHING, get_kernel(kernel, host));
}

cudaError_t cudaGetKernel(cudaKernel_t *kernel, const void *host) {
    RUNTIME(CUD_NOTHING, get_kernel(kernel, host));
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t *func, const void *host) {
    RUNTIME(CUD_CONTEXT, get_kernel(func, host));
}
