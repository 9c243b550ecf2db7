/* What the compiler's start-up code registers: modules, and the host addresses that stand for their kernels,
 * variables and textures. */
#include <stdlib.h>
#include <string.h>

#include "cuda/fatbin.h"
#include "cuda/work.h"

struct CUmod_st *cud_register_binary(const void *wrapper) {
    const struct fatbin_wrapper *w = wrapper;
    struct CUmod_st *m = cud_object_new(CUD_MODULE, sizeof *m, NULL);
    m->registered = true;
    m->wrapper = w;
    if (!w || w->magic != FATBIN_WRAPPER_MAGIC)
        m->failed = cudaErrorInvalidKernelImage;
    return m;
}

void cud_unregister_binary(struct CUmod_st *m) {
    if (!cud_object_get(m, CUD_MODULE))
        return;
    for (uint32_t i = 0; i < m->symbols.len; i++) {
        struct cud_symbol *s = m->symbols.at[i];
        if (map_get_u64(&cud.symbols, (uintptr_t)s->host) == s)
            map_remove_u64(&cud.symbols, (uintptr_t)s->host);
        free(s->name);
        free(s);
    }
    cud_module_unload(m);
}

struct cud_symbol *cud_register_symbol(struct CUmod_st *m, int kind, const void *host, const char *name) {
    if (!cud_object_get(m, CUD_MODULE) || !name)
        return NULL;
    struct cud_symbol *s = xcalloc(1, sizeof *s);
    s->kind = kind;
    s->module = m;
    s->host = host;
    s->name = xstrdup(name);
    if (kind == CUD_SYM_FUNC)
        s->func = cud_module_func(m, name);
    vec_push(&m->symbols, s);
    map_set_u64(&cud.symbols, (uintptr_t)host, s);
    return s;
}

struct cud_symbol *cud_symbol(const void *host, int kind) {
    struct cud_symbol *s = map_get_u64(&cud.symbols, (uintptr_t)host);
    return s && (int)s->kind == kind ? s : NULL;
}

int cud_symbol_address(const void *host, uint64_t *addr, size_t *size) {
    struct cud_symbol *s = cud_symbol(host, CUD_SYM_VAR);
    if (!s)
        return cudaErrorInvalidSymbol;
    uint64_t a;
    size_t n;
    int error = cud_module_global(s->module, s->name, &a, &n);
    if (error)
        return error == cudaErrorSymbolNotFound ? cudaErrorInvalidSymbol : error;
    if (addr)
        *addr = a;
    if (size)
        *size = s->size ? s->size : n;
    return cudaSuccess;
}

struct CUfunc_st *cud_func(const void *handle) {
    struct cud_symbol *s = cud_symbol(handle, CUD_SYM_FUNC);
    return s ? s->func : cud_object_get(handle, CUD_FUNC);
}

int cud_func_ready(struct CUfunc_st *f) {
    int error = cud_module_ready(f->module);
    if (error)
        return error;
    return f->kernel ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}
