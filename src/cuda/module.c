/* Modules: from an image to loaded code, functions and variables. Modules the compiler registered load when
 * first needed, as in CUDA, so one that cannot be loaded does not stop a program that never uses it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/image.h"
#include "cuda/queue.h"

static unsigned device_cc(void) {
    const struct rp_gpu_info *i = rp_gpu_info(cud.gpu);
    return (unsigned)(i->cc_major * 10 + i->cc_minor);
}

/* Kernels and tables that nvcc's device runtime library brings along, wanted or not. */
static bool of_device_runtime(const char *name) {
    return strstr(name, "cuda_device_runtime_cu") || !strncmp(name, "cudartError", 11) ||
           !strncmp(name, "__CNPRT_", 8);
}

/* The PTX that the compiler registered with a module, with what it registered of it. */
static char *registered_ptx(struct CUmod_st *m, int *error, char **log) {
    VEC(const char *) roots = {0};
    for (uint32_t i = 0; i < m->symbols.len; i++)
        if (!of_device_runtime(m->symbols.at[i]->name))
            vec_push(&roots, m->symbols.at[i]->name);
    char *text = image_ptx_of_wrapper(m->wrapper, device_cc(), roots.at, roots.len, &m->ptx_len, error, log);
    vec_free(&roots);
    return text;
}

static void take_log(struct CUmod_st *m, char *log) {
    free(m->log);
    m->log = log;
}

/* Gives every managed variable its address on the host side. */
static void place_managed(struct CUmod_st *m) {
    for (uint32_t i = 0; i < m->symbols.len; i++) {
        struct cud_symbol *s = m->symbols.at[i];
        uint64_t addr;
        size_t size;
        if (s->managed && rp_module_global(m->rp, s->name, &addr, &size) == RP_OK)
            *s->managed = (void *)(uintptr_t)addr;
    }
}

/* Host code may touch managed variables of a module that cannot be loaded, before it looks at any error. */
static void place_managed_anyway(struct CUmod_st *m) {
    for (uint32_t i = 0; i < m->symbols.len; i++) {
        struct cud_symbol *s = m->symbols.at[i];
        uint64_t addr;
        if (s->managed && !*s->managed && !cud_mem_alloc(&addr, s->size ? s->size : 1, RP_MEM_MANAGED, 0))
            *s->managed = (void *)(uintptr_t)addr;
    }
}

static int load_text(struct CUmod_st *m, const char *name) {
    char *log = NULL;
    enum rp_status status = rp_module_load(cud.gpu, m->ptx, m->ptx_len, name, &m->rp, &log);
    take_log(m, log);
    if (status != RP_OK) {
        m->rp = NULL;
        return cud_error_of(status);
    }
    for (uint32_t i = 0; i < m->funcs.len; i++)
        m->funcs.at[i]->kernel = rp_module_kernel(m->rp, m->funcs.at[i]->name);
    place_managed(m);
    return cudaSuccess;
}

int cud_module_ready(struct CUmod_st *m) {
    if (m->rp)
        return cudaSuccess;
    if (m->failed)
        return m->failed;
    char *log = NULL;
    int error = cudaSuccess;
    if (!m->ptx) {
        m->ptx = registered_ptx(m, &error, &log);
        take_log(m, log);
    }
    if (m->ptx)
        error = load_text(m, "embedded PTX");
    m->failed = error;
    if (error)
        place_managed_anyway(m);
    if (error && m->log)
        fprintf(stderr, "reprise: cannot load device code\n%s", m->log);
    return error;
}

int cud_module_load(struct CUmod_st **out, const void *image, size_t len, char **log) {
    struct CUmod_st *m = cud_object_new(CUD_MODULE, sizeof *m, cud_current());
    char *why = NULL;
    int error = cudaSuccess;
    m->ptx = image_ptx(image, len, device_cc(), NULL, 0, &m->ptx_len, &error, &why);
    take_log(m, why);
    if (m->ptx)
        error = load_text(m, "PTX");
    if (log) {
        *log = m->log;
        m->log = NULL;
    }
    if (error) {
        cud_module_unload(m);
        return error;
    }
    *out = m;
    return cudaSuccess;
}

int cud_module_load_file(struct CUmod_st **out, const char *path, char **log) {
    FILE *f = fopen(path, "rb");
    if (!f)
        return cudaErrorFileNotFound;
    struct str s = {0};
    char buffer[65536];
    size_t n;
    while ((n = fread(buffer, 1, sizeof buffer, f)) > 0)
        str_add(&s, buffer, n);
    fclose(f);
    int error = s.len ? cud_module_load(out, s.at, s.len, log) : cudaErrorInvalidKernelImage;
    str_free(&s);
    return error;
}

void cud_module_drop(struct CUmod_st *m) {
    cud_drain(); /* launches of its kernels may be in the queue */
    for (uint32_t i = 0; i < m->funcs.len; i++)
        m->funcs.at[i]->kernel = NULL;
    for (uint32_t i = 0; i < m->texrefs.len; i++)
        m->texrefs.at[i]->bound = false;
    if (m->rp)
        rp_module_unload(m->rp);
    m->rp = NULL;
}

int cud_module_unload(struct CUmod_st *m) {
    cud_module_drop(m);
    for (uint32_t i = 0; i < m->funcs.len; i++) {
        free(m->funcs.at[i]->name);
        free(m->funcs.at[i]->params);
        cud_object_free(m->funcs.at[i]);
    }
    for (uint32_t i = 0; i < m->texrefs.len; i++) {
        free(m->texrefs.at[i]->name);
        cud_object_free(m->texrefs.at[i]);
    }
    vec_free(&m->funcs);
    vec_free(&m->texrefs);
    vec_free(&m->symbols);
    free(m->ptx);
    free(m->log);
    cud_object_free(m);
    return cudaSuccess;
}

/* The function object called name, made if need be; whether the kernel exists shows when it is used. */
static struct CUfunc_st *func_object(struct CUmod_st *m, const char *name) {
    for (uint32_t i = 0; i < m->funcs.len; i++)
        if (!strcmp(m->funcs.at[i]->name, name))
            return m->funcs.at[i];
    struct CUfunc_st *f = cud_object_new(CUD_FUNC, sizeof *f, NULL);
    f->module = m;
    f->name = xstrdup(name);
    f->max_dynamic = -1;
    f->carveout = -1;
    f->kernel = m->rp ? rp_module_kernel(m->rp, name) : NULL;
    vec_push(&m->funcs, f);
    return f;
}

struct CUfunc_st *cud_module_func(struct CUmod_st *m, const char *name) {
    if (!m->registered && (cud_module_ready(m) || !rp_module_kernel(m->rp, name)))
        return NULL;
    return func_object(m, name);
}

int cud_module_global(struct CUmod_st *m, const char *name, uint64_t *addr, size_t *size) {
    int error = cud_module_ready(m);
    return error ? error : cud_error_of(rp_module_global(m->rp, name, addr, size));
}
