/* Modules: from an image to loaded code, functions and variables. Modules the compiler registered load when
 * first needed, as in CUDA, so one that cannot be loaded does not stop a program that never uses it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/fatbin.h"
#include "cuda/ptxlink.h"
#include "cuda/work.h"

static unsigned device_cc(void) {
    const struct rp_gpu_info *i = rp_gpu_info(cud.gpu);
    return (unsigned)(i->cc_major * 10 + i->cc_minor);
}

static char *format(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static char *format(const char *fmt, ...) {
    struct str s = {0};
    va_list ap;
    va_start(ap, fmt);
    str_vprintf(&s, fmt, ap);
    va_end(ap);
    return s.at;
}

/* The message for device code that was compiled to machine code only. */
static char *rebuild_message(const struct fatbin_census *c) {
    struct str s = {0};
    str_printf(&s, "error: the program carries machine code");
    unsigned shown = c->elf < 8 ? c->elf : 8;
    for (unsigned i = 0; i < shown; i++)
        str_printf(&s, "%s sm_%u", i ? "," : " for", c->elf_archs[i]);
    str_printf(&s,
               " but no PTX, and machine code cannot be simulated.\nRebuild it with PTX inside, for example: "
               "nvcc -gencode arch=compute_%u,code=compute_%u ...\n",
               device_cc(), device_cc());
    return s.at;
}

/* The PTX of a container; on failure NULL and *log. */
static char *ptx_of_container(const void *data, size_t size, size_t *len, int *error, char **log) {
    struct fatbin_entry best;
    struct fatbin_census census;
    const char *why = NULL;
    if (!fatbin_pick(data, size, device_cc(), &best, &census, &why)) {
        *error = census.elf ? cudaErrorNoKernelImageForDevice : cudaErrorInvalidKernelImage;
        *log = census.elf ? rebuild_message(&census)
                          : format("error: %s\n", why ? why : "the fat binary holds no device code");
        return NULL;
    }
    char *text = fatbin_contents(&best, len, &why);
    if (!text) {
        *error = cudaErrorInvalidKernelImage;
        *log = format("error: %s\n", why);
    }
    return text;
}

/* Kernels and tables that nvcc's device runtime library brings along, wanted or not. */
static bool of_device_runtime(const char *name) {
    return strstr(name, "cuda_device_runtime_cu") || !strncmp(name, "cudartError", 11) ||
           !strncmp(name, "__CNPRT_", 8);
}

/* The device-linked PTX of a version 2 wrapper: its parts, linked here since nvlink leaves machine code. */
static char *ptx_of_parts(const struct fatbin_wrapper *w, const struct CUmod_st *m, size_t *len, int *error,
                          char **log) {
    VEC(struct ptx_unit) units = {0};
    VEC(const char *) roots = {0};
    char *text = NULL, *part_log = NULL;
    for (uint32_t i = 0; w->prelinked[i]; i++) {
        struct ptx_unit u;
        free(part_log);
        part_log = NULL;
        u.text = ptx_of_container(w->prelinked[i], FATBIN_UNBOUNDED, &u.len, error, &part_log);
        if (u.text)
            vec_push(&units, u);
    }
    for (uint32_t i = 0; i < m->symbols.len; i++)
        if (!of_device_runtime(m->symbols.at[i]->name))
            vec_push(&roots, m->symbols.at[i]->name);
    if (units.len) {
        text = ptx_link(units.at, units.len, roots.at, roots.len, len);
        free(part_log);
    } else
        *log = part_log;
    for (uint32_t i = 0; i < units.len; i++)
        free((char *)units.at[i].text);
    vec_free(&units);
    vec_free(&roots);
    return text;
}

static char *ptx_of_wrapper(const struct fatbin_wrapper *w, const struct CUmod_st *m, size_t *len, int *error,
                            char **log) {
    char *text = ptx_of_container(w->data, FATBIN_UNBOUNDED, len, error, log);
    if (text || w->version != 2 || !w->prelinked)
        return text;
    free(*log);
    *log = NULL;
    return ptx_of_parts(w, m, len, error, log);
}

/* The PTX of an image; NULL with *error and *log otherwise. */
static char *ptx_of_image(const void *image, size_t size, const struct CUmod_st *m, size_t *len, int *error,
                          char **log) {
    struct fatbin_census none = {0};
    size_t text_len = size == FATBIN_UNBOUNDED ? 0 : strnlen(image, size);
    *error = cudaErrorInvalidKernelImage;
    switch (fatbin_identify(image, size)) {
    case FATBIN_IMAGE_WRAPPER:
        if (size >= sizeof(struct fatbin_wrapper))
            return ptx_of_wrapper(image, m, len, error, log);
        *log = format("error: fat binary is cut short\n");
        return NULL;
    case FATBIN_IMAGE_CONTAINER:
        return ptx_of_container(image, size, len, error, log);
    case FATBIN_IMAGE_ELF:
        *error = cudaErrorNoKernelImageForDevice;
        *log = rebuild_message(&none);
        return NULL;
    case FATBIN_IMAGE_TEXT:
        break;
    }
    if (size == FATBIN_UNBOUNDED)
        text_len = strlen(image);
    if (!memmem(image, text_len, ".version", 8)) {
        *log = format("error: the image is neither PTX nor a fat binary\n");
        return NULL;
    }
    char *copy = xmalloc(text_len + 1);
    memcpy(copy, image, text_len);
    copy[text_len] = '\0';
    *len = text_len;
    return copy;
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
        m->ptx = ptx_of_wrapper(m->wrapper, m, &m->ptx_len, &error, &log);
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
    m->ptx = ptx_of_image(image, len, m, &m->ptx_len, &error, &why);
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
