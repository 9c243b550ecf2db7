/* libcuda: modules, libraries, kernels, linking. */
#include <stdio.h>
#include <stdlib.h>

#include "cuda/driver/driver.h"
#include "cuda/fatbin.h"

/* What the JIT options say about log buffers. */
struct log_buffers {
    char *info, *error;
    size_t info_size, error_size;
    void **info_used, **error_used; /* option values that receive the bytes written */
};

static void find_buffers(struct log_buffers *b, unsigned n, const CUjit_option *options, void **values) {
    *b = (struct log_buffers){0};
    for (unsigned i = 0; options && values && i < n; i++)
        switch (options[i]) {
        case CU_JIT_INFO_LOG_BUFFER:
            b->info = values[i];
            break;
        case CU_JIT_ERROR_LOG_BUFFER:
            b->error = values[i];
            break;
        case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
            b->info_size = (unsigned)(uintptr_t)values[i];
            b->info_used = &values[i];
            break;
        case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
            b->error_size = (unsigned)(uintptr_t)values[i];
            b->error_used = &values[i];
            break;
        default:
            break;
        }
}

static void fill_buffer(char *to, size_t size, void **used, const char *log) {
    size_t n = log ? strlen(log) : 0;
    if (!to || !size)
        n = 0;
    else {
        n = n < size ? n : size - 1;
        memcpy(to, log ? log : "", n);
        to[n] = '\0';
    }
    if (used)
        *used = (void *)(uintptr_t)n;
}

/* Without a buffer for them, messages of a failure go to stderr: better there than nowhere. */
void jit_log(const char *log, int error, unsigned n, const CUjit_option *options, void **values) {
    struct log_buffers b;
    find_buffers(&b, n, options, values);
    fill_buffer(b.info, b.info_size, b.info_used, error ? NULL : log);
    fill_buffer(b.error, b.error_size, b.error_used, error ? log : NULL);
    if (error && log && !b.error)
        fprintf(stderr, "reprise: cannot load module\n%s", log);
}

static int load_data(CUmodule *module, const void *image, unsigned n, CUjit_option *options, void **values) {
    char *log = NULL;
    if (!module || !image)
        return cudaErrorInvalidValue;
    int error = cud_module_load(module, image, FATBIN_UNBOUNDED, &log);
    jit_log(log, error, n, options, values);
    free(log);
    return error;
}

CUresult cuModuleLoadData(CUmodule *module, const void *image) {
    DRIVER(CUD_CONTEXT, load_data(module, image, 0, NULL, NULL));
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int n, CUjit_option *options,
                            void **values) {
    DRIVER(CUD_CONTEXT, load_data(module, image, n, options, values));
}

CUresult cuModuleLoadFatBinary(CUmodule *module, const void *image) {
    DRIVER(CUD_CONTEXT, load_data(module, image, 0, NULL, NULL));
}

static int load_file(CUmodule *module, const char *path, unsigned n, CUjit_option *options, void **values) {
    char *log = NULL;
    if (!module || !path)
        return cudaErrorInvalidValue;
    int error = cud_module_load_file(module, path, &log);
    jit_log(log, error, n, options, values);
    free(log);
    return error;
}

CUresult cuModuleLoad(CUmodule *module, const char *path) {
    DRIVER(CUD_CONTEXT, load_file(module, path, 0, NULL, NULL));
}

static int unload(CUmodule m) {
    return cud_object_get(m, CUD_MODULE) && !m->registered ? cud_module_unload(m)
                                                           : cudaErrorInvalidResourceHandle;
}

CUresult cuModuleUnload(CUmodule module) {
    DRIVER(CUD_CONTEXT, unload(module));
}

static int loading_mode(int *mode) {
    if (!mode)
        return cudaErrorInvalidValue;
    *mode = 2; /* lazy */
    return cudaSuccess;
}

CUresult cuModuleGetLoadingMode(int *mode) {
    DRIVER(CUD_DEVICE, loading_mode(mode));
}

static int get_function(CUfunction *func, CUmodule m, const char *name) {
    if (!func || !name)
        return cudaErrorInvalidValue;
    if (!cud_object_get(m, CUD_MODULE))
        return cudaErrorInvalidResourceHandle;
    *func = cud_module_func(m, name);
    return *func ? cudaSuccess : cudaErrorSymbolNotFound;
}

CUresult cuModuleGetFunction(CUfunction *func, CUmodule module, const char *name) {
    DRIVER(CUD_CONTEXT, get_function(func, module, name));
}

static unsigned kernel_count(CUmodule m) {
    unsigned n = 0;
    while (rp_module_kernel_at(m->rp, n))
        n++;
    return n;
}

static int count_functions(unsigned *count, CUmodule m) {
    if (!count)
        return cudaErrorInvalidValue;
    if (!cud_object_get(m, CUD_MODULE))
        return cudaErrorInvalidResourceHandle;
    int error = cud_module_ready(m);
    if (!error)
        *count = kernel_count(m);
    return error;
}

CUresult cuModuleGetFunctionCount(unsigned int *count, CUmodule module) {
    DRIVER(CUD_CONTEXT, count_functions(count, module));
}

static int enumerate(CUfunction *funcs, unsigned n, CUmodule m) {
    if (!funcs || !n)
        return cudaErrorInvalidValue;
    if (!cud_object_get(m, CUD_MODULE))
        return cudaErrorInvalidResourceHandle;
    int error = cud_module_ready(m);
    for (unsigned i = 0; !error && i < n; i++) {
        struct rp_kernel *k = rp_module_kernel_at(m->rp, i);
        funcs[i] = k ? cud_module_func(m, rp_kernel_name(k)) : NULL;
    }
    return error;
}

CUresult cuModuleEnumerateFunctions(CUfunction *funcs, unsigned int n, CUmodule module) {
    DRIVER(CUD_CONTEXT, enumerate(funcs, n, module));
}

static int get_global(CUdeviceptr *ptr, size_t *bytes, CUmodule m, const char *name) {
    uint64_t addr;
    size_t size;
    if (!name || (!ptr && !bytes))
        return cudaErrorInvalidValue;
    if (!cud_object_get(m, CUD_MODULE))
        return cudaErrorInvalidResourceHandle;
    int error = cud_module_global(m, name, &addr, &size);
    if (!error && ptr)
        *ptr = addr;
    if (!error && bytes)
        *bytes = size;
    return error;
}

CUresult cuModuleGetGlobal(CUdeviceptr *ptr, size_t *bytes, CUmodule module, const char *name) {
    DRIVER(CUD_CONTEXT, get_global(ptr, bytes, module, name));
}

static int get_texref(CUtexref *ref, CUmodule m, const char *name) {
    if (!ref || !name)
        return cudaErrorInvalidValue;
    if (!cud_object_get(m, CUD_MODULE))
        return cudaErrorInvalidResourceHandle;
    *ref = cud_texref(m, name);
    return *ref ? cudaSuccess : cudaErrorSymbolNotFound;
}

CUresult cuModuleGetTexRef(CUtexref *ref, CUmodule module, const char *name) {
    DRIVER(CUD_CONTEXT, get_texref(ref, module, name));
}

CUresult cuModuleGetSurfRef(CUsurfref *ref, CUmodule module, const char *name) {
    DRIVER(CUD_CONTEXT, get_texref((CUtexref *)ref, module, name));
}

/* ---- libraries and kernels: modules and functions under other names ----------------------------------- */

/* The primary context owns a library, whatever is current. */
static int library(int error, CUlibrary *lib) {
    if (!error)
        (*lib)->obj.ctx = &cud.primary;
    return error;
}

static int library_data(CUlibrary *lib, const void *code, unsigned n, CUjit_option *options, void **values) {
    cud_primary_start();
    return library(load_data(lib, code, n, options, values), lib);
}

CUresult cuLibraryLoadData(CUlibrary *lib, const void *code, CUjit_option *options, void **values,
                           unsigned int n, int *lib_options, void **lib_values, unsigned int nlib) {
    (void)lib_options;
    (void)lib_values;
    (void)nlib;
    DRIVER(CUD_DEVICE, library_data(lib, code, n, options, values));
}

static int library_file(CUlibrary *lib, const char *path, unsigned n, CUjit_option *options, void **values) {
    cud_primary_start();
    return library(load_file(lib, path, n, options, values), lib);
}

CUresult cuLibraryLoadFromFile(CUlibrary *lib, const char *path, CUjit_option *options, void **values,
                               unsigned int n, int *lib_options, void **lib_values, unsigned int nlib) {
    (void)lib_options;
    (void)lib_values;
    (void)nlib;
    DRIVER(CUD_DEVICE, library_file(lib, path, n, options, values));
}

CUresult cuLibraryUnload(CUlibrary lib) {
    DRIVER(CUD_DEVICE, unload(lib));
}

CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary lib, const char *name) {
    DRIVER(CUD_DEVICE, get_function(kernel, lib, name));
}

CUresult cuLibraryGetKernelCount(unsigned int *count, CUlibrary lib) {
    DRIVER(CUD_DEVICE, count_functions(count, lib));
}

CUresult cuLibraryEnumerateKernels(CUkernel *kernels, unsigned int n, CUlibrary lib) {
    DRIVER(CUD_DEVICE, enumerate(kernels, n, lib));
}

static int same_module(CUmodule *module, CUlibrary lib) {
    if (!module)
        return cudaErrorInvalidValue;
    *module = cud_object_get(lib, CUD_MODULE);
    return *module ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

CUresult cuLibraryGetModule(CUmodule *module, CUlibrary lib) {
    DRIVER(CUD_CONTEXT, same_module(module, lib));
}

CUresult cuLibraryGetGlobal(CUdeviceptr *ptr, size_t *bytes, CUlibrary lib, const char *name) {
    DRIVER(CUD_CONTEXT, get_global(ptr, bytes, lib, name));
}

CUresult cuLibraryGetManaged(CUdeviceptr *ptr, size_t *bytes, CUlibrary lib, const char *name) {
    DRIVER(CUD_DEVICE, get_global(ptr, bytes, lib, name));
}

static int same_function(CUfunction *func, CUkernel kernel) {
    if (!func)
        return cudaErrorInvalidValue;
    *func = cud_object_get(kernel, CUD_FUNC);
    return *func ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

CUresult cuKernelGetFunction(CUfunction *func, CUkernel kernel) {
    DRIVER(CUD_CONTEXT, same_function(func, kernel));
}

static int module_of(CUmodule *module, CUfunction func) {
    CUfunction f = cud_object_get(func, CUD_FUNC);
    if (!module)
        return cudaErrorInvalidValue;
    if (!f)
        return cudaErrorInvalidResourceHandle;
    *module = f->module;
    return cudaSuccess;
}

CUresult cuKernelGetLibrary(CUlibrary *lib, CUkernel kernel) {
    DRIVER(CUD_DEVICE, module_of(lib, kernel));
}

CUresult cuFuncGetModule(CUmodule *module, CUfunction func) {
    DRIVER(CUD_CONTEXT, module_of(module, func));
}

/* ---- linking ---------------------------------------------------------------------------------------- */

CUresult cuLinkCreate(unsigned int n, CUjit_option *options, void **values, CUlinkState *state) {
    (void)n;
    (void)options;
    (void)values;
    DRIVER(CUD_CONTEXT, cud_link_create(state));
}

CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void *data, size_t size, const char *name,
                       unsigned int n, CUjit_option *options, void **values) {
    (void)name;
    (void)n;
    (void)options;
    (void)values;
    DRIVER(CUD_CONTEXT, cud_link_add(state, (int)type, data, size));
}

CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char *path, unsigned int n,
                       CUjit_option *options, void **values) {
    (void)n;
    (void)options;
    (void)values;
    DRIVER(CUD_CONTEXT, cud_link_add_file(state, (int)type, path));
}

CUresult cuLinkComplete(CUlinkState state, void **image, size_t *size) {
    DRIVER(CUD_CONTEXT, cud_link_complete(state, image, size));
}

CUresult cuLinkDestroy(CUlinkState state) {
    DRIVER(CUD_CONTEXT, cud_link_destroy(state));
}

#undef cuLinkCreate
#undef cuLinkAddData
#undef cuLinkAddFile
DRIVER_SAME(cuLinkCreate_v2, cuLinkCreate);
DRIVER_SAME(cuLinkAddData_v2, cuLinkAddData);
DRIVER_SAME(cuLinkAddFile_v2, cuLinkAddFile);
