/* The device: kernels run through the CUDA driver API, which is looked up at run time. The same program thus
 * runs on a real GPU and on Reprise's libcuda.so.1. */
#include "conform.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int cu_result;
typedef unsigned long long cu_ptr;
typedef struct cu_object *cu_handle;

enum { JIT_ERROR_LOG = 5, JIT_ERROR_LOG_SIZE = 6, LOG_BYTES = 8192 };

static struct {
    cu_result (*init)(unsigned);
    cu_result (*device_get)(int *, int);
    cu_result (*device_name)(char *, int, int);
    cu_result (*retain)(cu_handle *, int);
    cu_result (*reset)(int);
    cu_result (*set_current)(cu_handle);
    cu_result (*alloc)(cu_ptr *, size_t);
    cu_result (*to_device)(cu_ptr, const void *, size_t);
    cu_result (*to_host)(void *, cu_ptr, size_t);
    cu_result (*zero)(cu_ptr, unsigned char, size_t);
    cu_result (*load)(cu_handle *, const void *, unsigned, int *, void **);
    cu_result (*unload)(cu_handle);
    cu_result (*function)(cu_handle *, cu_handle, const char *);
    cu_result (*launch)(cu_handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                        cu_handle, void **, void **);
    cu_result (*sync)(void);
    cu_result (*error_name)(cu_result, const char **);
} cu;

static const struct {
    const char *name;
    void *slot;
} symbols[] = {
    {"cuInit", &cu.init},
    {"cuDeviceGet", &cu.device_get},
    {"cuDeviceGetName", &cu.device_name},
    {"cuDevicePrimaryCtxRetain", &cu.retain},
    {"cuDevicePrimaryCtxReset_v2", &cu.reset},
    {"cuCtxSetCurrent", &cu.set_current},
    {"cuMemAlloc_v2", &cu.alloc},
    {"cuMemcpyHtoD_v2", &cu.to_device},
    {"cuMemcpyDtoH_v2", &cu.to_host},
    {"cuMemsetD8_v2", &cu.zero},
    {"cuModuleLoadDataEx", &cu.load},
    {"cuModuleUnload", &cu.unload},
    {"cuModuleGetFunction", &cu.function},
    {"cuLaunchKernel", &cu.launch},
    {"cuCtxSynchronize", &cu.sync},
    {"cuGetErrorName", &cu.error_name},
};

static int device;
static cu_ptr mem_in, mem_out, mem_scratch;
static uint8_t pattern[TUPLES * SLOT];

static bool failed(cu_result r, const char *what) {
    if (!r)
        return false;
    const char *name = "unknown error";
    cu.error_name(r, &name);
    fprintf(stderr, "%s: %s\n", what, name);
    return true;
}

/* Makes a context and the buffers every launch uses. */
static bool set_up(void) {
    cu_handle context;
    return !failed(cu.retain(&context, device), "cuDevicePrimaryCtxRetain") &&
           !failed(cu.set_current(context), "cuCtxSetCurrent") &&
           !failed(cu.alloc(&mem_in, 8 * MAX_IN * TUPLES), "cuMemAlloc") &&
           !failed(cu.alloc(&mem_out, 8 * MAX_OUT * TUPLES), "cuMemAlloc") &&
           !failed(cu.alloc(&mem_scratch, sizeof pattern), "cuMemAlloc");
}

bool device_open(void) {
    void *lib = dlopen("libcuda.so.1", RTLD_NOW);
    if (!lib) {
        fprintf(stderr, "%s\n", dlerror());
        return false;
    }
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *f = dlsym(lib, symbols[i].name);
        if (!f) {
            fprintf(stderr, "%s\n", dlerror());
            return false;
        }
        memcpy(symbols[i].slot, &f, sizeof f);
    }
    for (uint32_t i = 0; i < sizeof pattern; i++)
        pattern[i] = values_pattern(i);
    return !failed(cu.init(0), "cuInit") && !failed(cu.device_get(&device, 0), "cuDeviceGet") && set_up();
}

const char *device_name(void) {
    static char name[128];
    if (cu.device_name(name, sizeof name, device))
        strcpy(name, "unknown device");
    return name;
}

static cu_result run_kernel(cu_handle module, const struct variant *v, uint64_t *out) {
    static uint64_t in[MAX_IN * TUPLES];
    char name[256];
    cu_handle f;
    cu_result r;
    ptx_kernel_name(name, sizeof name, v);
    values_fill(v, in);
    void *args[] = {&mem_in, &mem_out, &mem_scratch, pattern};
    size_t out_bytes = 8 * (size_t)v->nout * TUPLES;
    bool scratch = ptx_uses(v, "GP") || ptx_uses(v, "WP");
    if ((r = cu.function(&f, module, name)))
        return r;
    if (v->nin && (r = cu.to_device(mem_in, in, 8 * (size_t)v->nin * TUPLES)))
        return r;
    if ((r = cu.zero(mem_out, 0, out_bytes)))
        return r;
    if (scratch && (r = cu.to_device(mem_scratch, pattern, sizeof pattern)))
        return r;
    if ((r = cu.launch(f, TUPLES / BLOCK, 1, 1, BLOCK, 1, 1, 0, NULL, args, NULL)))
        return r;
    if ((r = cu.sync()))
        return r;
    return cu.to_host(out, mem_out, out_bytes);
}

/* Keeps what fits of a message, on one line. */
static void say(char *error, const char *text) {
    size_t n = 0;
    for (; *text && n < 255; text++)
        error[n++] = *text == '\n' || *text == '\t' ? ' ' : *text;
    error[n] = 0;
}

void device_run(const struct variant *const *v, size_t n, uint64_t (*out)[MAX_OUT * TUPLES],
                char (*error)[256]) {
    struct text ptx = {0};
    char log[LOG_BYTES] = "";
    int options[] = {JIT_ERROR_LOG, JIT_ERROR_LOG_SIZE};
    void *values[] = {log, (void *)(uintptr_t)LOG_BYTES};
    cu_handle module;
    ptx_head(&ptx);
    for (size_t i = 0; i < n; i++)
        ptx_kernel(&ptx, v[i]);
    cu_result r = cu.load(&module, ptx.s, 2, options, values);
    free(ptx.s);
    if (r && n == 1) {
        const char *name = "does not load";
        cu.error_name(r, &name);
        say(*error, *log ? log : name);
        return;
    }
    if (r) {
        for (size_t i = 0; i < n; i++)
            device_run(v + i, 1, out + i, error + i);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        *error[i] = 0;
        if (!(r = run_kernel(module, v[i], out[i])))
            continue;
        const char *name = "does not run";
        cu.error_name(r, &name);
        say(error[i], name);
        /* The fault may have killed the context: start afresh for the others. */
        cu.reset(device);
        if (!set_up())
            exit(1);
        if (i + 1 < n)
            device_run(v + i + 1, n - i - 1, out + i + 1, error + i + 1);
        return;
    }
    cu.unload(module);
}
