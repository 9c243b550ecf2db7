/* libcudart: libraries loaded at run time, and the way to driver functions. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "cuda/fatbin.h"
#include "cuda/runtime/runtime.h"

static int load(cudaLibrary_t *lib, const void *code, const char *path) {
    char *log = NULL;
    if (!lib || (!code && !path))
        return cudaErrorInvalidValue;
    int error =
        code ? cud_module_load(lib, code, FATBIN_UNBOUNDED, &log) : cud_module_load_file(lib, path, &log);
    if (error && log)
        fprintf(stderr, "reprise: cannot load library\n%s", log);
    free(log);
    return error;
}

cudaError_t cudaLibraryLoadData(cudaLibrary_t *lib, const void *code, int *jit, void **jit_values,
                                unsigned njit, int *options, void **values, unsigned n) {
    (void)jit, (void)jit_values, (void)njit, (void)options, (void)values, (void)n;
    RUNTIME(CUD_CONTEXT, load(lib, code, NULL));
}

cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t *lib, const char *path, int *jit, void **jit_values,
                                    unsigned njit, int *options, void **values, unsigned n) {
    (void)jit, (void)jit_values, (void)njit, (void)options, (void)values, (void)n;
    RUNTIME(CUD_CONTEXT, load(lib, NULL, path));
}

/* Runs the expression on a live library m. */
#define LIBRARY(lib, ...)                                                                                    \
    do {                                                                                                     \
        int error_ = cud_begin_runtime(CUD_CONTEXT);                                                         \
        struct CUmod_st *m = error_ ? NULL : cud_object_get(lib, CUD_MODULE);                                \
        if (!error_)                                                                                         \
            error_ = m ? (__VA_ARGS__) : cudaErrorInvalidResourceHandle;                                     \
        return cud_end_runtime(error_);                                                                      \
    } while (0)

cudaError_t cudaLibraryUnload(cudaLibrary_t lib) {
    LIBRARY(lib, m->registered ? cudaErrorInvalidResourceHandle : cud_module_unload(m));
}

static int get_kernel(cudaKernel_t *kernel, struct CUmod_st *m, const char *name) {
    if (!kernel || !name)
        return cudaErrorInvalidValue;
    *kernel = cud_module_func(m, name);
    return *kernel ? cudaSuccess : cudaErrorSymbolNotFound;
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t *kernel, cudaLibrary_t lib, const char *name) {
    LIBRARY(lib, get_kernel(kernel, m, name));
}

static int count(unsigned *n, struct CUmod_st *m) {
    if (!n)
        return cudaErrorInvalidValue;
    for (*n = 0; rp_module_kernel_at(m->rp, *n); ++*n)
        ;
    return cudaSuccess;
}

cudaError_t cudaLibraryGetKernelCount(unsigned *n, cudaLibrary_t lib) {
    LIBRARY(lib, cud_module_ready(m) ? cud_module_ready(m) : count(n, m));
}

static int enumerate(cudaKernel_t *kernels, unsigned n, struct CUmod_st *m) {
    int error = kernels ? cud_module_ready(m) : cudaErrorInvalidValue;
    for (unsigned i = 0; !error && i < n; i++) {
        struct rp_kernel *k = rp_module_kernel_at(m->rp, i);
        kernels[i] = k ? cud_module_func(m, rp_kernel_name(k)) : NULL;
    }
    return error;
}

cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t *kernels, unsigned n, cudaLibrary_t lib) {
    LIBRARY(lib, enumerate(kernels, n, m));
}

static int global(void **p, size_t *bytes, struct CUmod_st *m, const char *name) {
    uint64_t addr;
    size_t size;
    if (!name || (!p && !bytes))
        return cudaErrorInvalidValue;
    int error = cud_module_global(m, name, &addr, &size);
    if (!error && p)
        *p = (void *)(uintptr_t)addr;
    if (!error && bytes)
        *bytes = size;
    return error;
}

cudaError_t cudaLibraryGetGlobal(void **p, size_t *bytes, cudaLibrary_t lib, const char *name) {
    LIBRARY(lib, global(p, bytes, m, name));
}
RUNTIME_SAME(cudaLibraryGetGlobal, cudaLibraryGetManaged);

/* ---- driver functions --------------------------------------------------------------------------------- */

typedef int (*get_proc_fn)(const char *, void **, int, uint64_t, int *);

/* cuGetProcAddress of the libcuda that stands beside this library. */
static get_proc_fn driver_lookup(void) {
    Dl_info self;
    void *lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    if (!lib && dladdr((void *)(uintptr_t)&cudaLibraryUnload, &self)) {
        const char *slash = strrchr(self.dli_fname, '/');
        struct str path = {0};
        str_add(&path, self.dli_fname, slash ? (size_t)(slash + 1 - self.dli_fname) : 0);
        str_printf(&path, "libcuda.so.1");
        lib = dlopen(path.at, RTLD_NOW | RTLD_GLOBAL);
        str_free(&path);
    }
    return lib ? (get_proc_fn)(uintptr_t)dlsym(lib, "cuGetProcAddress_v2") : NULL;
}

static int entry_point(const char *symbol, void **fn, unsigned version, unsigned long long flags,
                       int *status) {
    get_proc_fn lookup = driver_lookup();
    int found = 0;
    if (!symbol || !fn)
        return cudaErrorInvalidValue;
    if (!lookup)
        return cudaErrorInsufficientDriver;
    int error = lookup(symbol, fn, (int)version, flags, &found);
    if (error)
        return error;
    if (status)
        *status = found;
    return found && !status ? cudaErrorSymbolNotFound : cudaSuccess;
}

cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **fn, unsigned long long flags, int *status) {
    RUNTIME(CUD_NOTHING, entry_point(symbol, fn, RUNTIME_VERSION, flags, status));
}

cudaError_t cudaGetDriverEntryPoint_ptsz(const char *symbol, void **fn, unsigned long long flags,
                                         int *status) {
    RUNTIME(CUD_NOTHING, entry_point(symbol, fn, RUNTIME_VERSION, flags ? flags : 2, status));
}

cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **fn, unsigned version,
                                             unsigned long long flags, int *status) {
    RUNTIME(CUD_NOTHING, entry_point(symbol, fn, version, flags, status));
}

cudaError_t cudaGetDriverEntryPointByVersion_ptsz(const char *symbol, void **fn, unsigned version,
                                                  unsigned long long flags, int *status) {
    RUNTIME(CUD_NOTHING, entry_point(symbol, fn, version, flags ? flags : 2, status));
}

/* Private tables between NVIDIA's own libraries; none of them is here. */
cudaError_t cudaGetExportTable(const void **table, const void *id) {
    (void)id;
    if (table)
        *table = NULL;
    RUNTIME(CUD_NOTHING, cudaErrorSymbolNotFound);
}
