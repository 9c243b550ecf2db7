/* libcuda: looking functions up by name, and the functions that are not there. */
#include <dlfcn.h>
#include <stdio.h>

#include "cuda/driver/driver.h"

struct proc {
    const char *name, *suffix, *thread_suffix;
    int version;
};

#define PROC(name, suffix, version)      {#name, #suffix, NULL, version},
#define PROC_PTSZ(name, suffix, version) {#name, #suffix, "_ptsz", version},
#define PROC_PTDS(name, suffix, version) {#name, #suffix, "_ptds", version},
static const struct proc procs[] = {
#include "cuda/driver/procs.def"
};

enum { PROC_LEGACY_STREAM = 1, PROC_PER_THREAD_STREAM = 2 };

/* Since CUDA 12 this name means the form with flags. */
#define INSTANTIATE_WITH_FLAGS 12000

static void *own_symbol(const char *name) {
    Dl_info self;
    if (!dladdr((void *)(uintptr_t)&cuInit, &self))
        return NULL;
    void *lib = dlopen(self.dli_fname, RTLD_NOLOAD | RTLD_LAZY);
    void *fn = lib ? dlsym(lib, name) : NULL;
    if (lib)
        dlclose(lib);
    return fn;
}

/* The newest version of symbol that a program built for CUDA version knows. */
static const struct proc *find(const char *symbol, int version, bool *known) {
    const struct proc *best = NULL;
    *known = false;
    for (size_t i = 0; i < sizeof procs / sizeof *procs; i++)
        if (!strcmp(procs[i].name, symbol)) {
            *known = true;
            if (procs[i].version <= version)
                best = &procs[i];
        }
    return best;
}

static int get_proc(const char *symbol, void **fn, int version, uint64_t flags, int *status) {
    bool known;
    char name[128];
    if (!symbol || !fn || flags > 3)
        return cudaErrorInvalidValue;
    if (!strcmp(symbol, "cuGraphInstantiate") && version >= INSTANTIATE_WITH_FLAGS)
        symbol = "cuGraphInstantiateWithFlags";
    const struct proc *p = find(symbol, version, &known);
    *fn = NULL;
    *status = p       ? CU_GET_PROC_ADDRESS_SUCCESS
              : known ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                      : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    if (!p)
        return cudaSuccess;
    bool per_thread = flags & PROC_PER_THREAD_STREAM && p->thread_suffix;
    snprintf(name, sizeof name, "%s%s%s", p->name, p->suffix, per_thread ? p->thread_suffix : "");
    *fn = own_symbol(name);
    if (!*fn)
        *status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return cudaSuccess;
}

CUresult cuGetProcAddress(const char *symbol, void **fn, int version, uint64_t flags,
                          CUdriverProcAddressQueryResult *status) {
    int s = 0;
    int error = get_proc(symbol, fn, version, flags, &s);
    if (status)
        *status = (CUdriverProcAddressQueryResult)s;
    return (CUresult)error;
}
#undef cuGetProcAddress

/* The first form has no status to say "not found" with. */
CUresult cuGetProcAddress(const char *symbol, void **fn, int version, uint64_t flags) {
    int s = 0;
    int error = get_proc(symbol, fn, version, flags, &s);
    return (CUresult)(error ? error : s ? cudaErrorSymbolNotFound : cudaSuccess);
}

/* Private tables between NVIDIA's own libraries; none of them is here. */
CUresult cuGetExportTable(const void **table, const CUuuid *id) {
    if (!table || !id)
        return CUDA_ERROR_INVALID_VALUE;
    *table = NULL;
    return CUDA_ERROR_NOT_FOUND;
}
