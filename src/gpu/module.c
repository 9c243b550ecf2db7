/* Modules: PTX loaded onto a GPU. Variables get device memory at once; kernels are compiled when first
 * needed. */
#include <string.h>

#include "gpu/gpu.h"
#include "gpu/resolve.h"

enum { CONST_PAD = 16, NEWEST_PTX = 90 };

static bool is_reference(const struct ptx_var *v) {
    return v->type == PTX_TEXREF || v->type == PTX_SURFREF || v->type == PTX_SAMPLERREF;
}

static bool is_global(const struct ptx_var *v) {
    return v->space == SPACE_GLOBAL && !is_reference(v);
}

static void set_slot(struct rp_module *m, uint64_t slot, uint64_t value) {
    memcpy(m->symbols + slot, &value, 8);
}

static uint64_t get_slot(const struct rp_module *m, uint64_t slot) {
    uint64_t v;
    memcpy(&v, m->symbols + slot, 8);
    return v;
}

/* Gives every variable its device memory. */
static bool place_variables(struct rp_module *m, struct diag *d) {
    struct ptx_module *p = m->ptx;
    if (m->layout.const_bytes) {
        m->const_base = memory_alloc(&m->gpu->mem, m->layout.const_bytes + CONST_PAD, RP_MEM_MODULE);
        vec_push(&m->allocs, m->const_base);
    }
    set_slot(m, SYMBOL_CONST_BASE, m->const_base);
    for (uint32_t i = 0; i < p->nvars; i++) {
        struct ptx_var *v = p->vars[i];
        if (!is_global(v))
            continue;
        if (v->linkage == LINK_EXTERN && !v->ninit) {
            diag_at(d, DIAG_ERROR, &p->src, v->at, "variable '%s' is declared but not defined in this module",
                    v->name);
            return false;
        }
        uint64_t at = v->size ? memory_alloc(&m->gpu->mem, v->size, RP_MEM_MODULE) : 0;
        if (v->size && !at) {
            diag_at(d, DIAG_ERROR, &p->src, v->at, "no device memory is left for '%s' (%llu bytes)", v->name,
                    (unsigned long long)v->size);
            return false;
        }
        vec_push(&m->allocs, at);
        set_slot(m, v->user, at);
    }
    for (uint32_t i = 0; i < p->nfuncs; i++)
        set_slot(m, ptx_func_slot(p->funcs[i]), FUNC_ADDR(i));
    return true;
}

/* Address of a variable as an initialiser means it. */
static uint64_t init_address(const struct rp_module *m, const struct ptx_init *init) {
    const struct ptx_var *v = init->var;
    if (v->space == SPACE_CONST)
        return (init->generic ? m->const_base : 0) + v->user;
    if (v->space == SPACE_SHARED)
        return init->generic ? (uint64_t)WINDOW_HI << 32 | SHARED_WINDOW : 0;
    return get_slot(m, v->user);
}

static void initialise(struct rp_module *m, const struct ptx_var *v, uint8_t *at) {
    for (uint32_t k = 0; k < v->ninit; k++) {
        const struct ptx_init *init = &v->init[k];
        uint64_t bits = init->bits;
        if (init->func)
            bits += get_slot(m, ptx_func_slot(init->func));
        else if (init->var)
            bits += init_address(m, init);
        bits >>= init->shift;
        if (init->offset + init->size <= v->size)
            memcpy(at + init->offset, &bits, init->size < 8 ? init->size : 8);
    }
}

static void initialise_all(struct rp_module *m) {
    for (uint32_t i = 0; i < m->ptx->nvars; i++) {
        const struct ptx_var *v = m->ptx->vars[i];
        if (is_global(v) && v->size)
            initialise(m, v, (uint8_t *)(uintptr_t)get_slot(m, v->user));
        else if (v->space == SPACE_CONST && !is_reference(v) && v->size)
            initialise(m, v, (uint8_t *)(uintptr_t)(m->const_base + v->user));
    }
}

static void list_kernels(struct rp_module *m) {
    for (uint32_t i = 0; i < m->ptx->nfuncs; i++)
        m->nkernels += m->ptx->funcs[i]->entry && m->ptx->funcs[i]->defined;
    m->kernels = xcalloc(m->nkernels ? m->nkernels : 1, sizeof *m->kernels);
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->ptx->nfuncs; i++)
        if (m->ptx->funcs[i]->entry && m->ptx->funcs[i]->defined)
            m->kernels[n++] = (struct rp_kernel){.mod = m, .func = m->ptx->funcs[i]};
}

static void give_log(struct diag *d, char **log) {
    if (log && d->text.len)
        *log = xstrdup(str_text(&d->text));
    diag_free(d);
}

/* A word we do not know is a mistake in a version of PTX we know, as it is for real drivers; in a newer
 * version it is something we have yet to learn, and concerns only the kernel it stands in. */
static bool check_functions(const struct ptx_module *p, struct diag *d) {
    bool ok = true;
    for (uint32_t i = 0; i < p->nfuncs && p->version <= NEWEST_PTX; i++) {
        if (!p->funcs[i]->refused)
            continue;
        str_printf(&d->text, "%s", p->funcs[i]->refused);
        d->errors++;
        ok = false;
    }
    return ok;
}

enum rp_status rp_module_load(struct rp_gpu *gpu, const char *ptx, size_t len, const char *name,
                              struct rp_module **out, char **log) {
    struct diag d = {0};
    *out = NULL;
    if (log)
        *log = NULL;
    struct rp_module *m = xcalloc(1, sizeof *m);
    m->gpu = gpu;
    m->name = xstrdup(name ? name : "ptx");
    m->ptx = ptx_parse(ptx, len, m->name, &d);
    bool ok = m->ptx && check_functions(m->ptx, &d) && ptx_layout(m->ptx, &m->layout, &d);
    if (ok) {
        m->symbols = xcalloc(1, m->layout.symbol_bytes);
        ok = place_variables(m, &d);
    }
    if (ok) {
        initialise_all(m);
        list_kernels(m);
        *out = m;
    } else {
        rp_module_unload(m);
    }
    give_log(&d, log);
    return ok ? RP_OK : RP_BAD_PTX;
}

static void drop_code(struct kernel_code *c) {
    image_free(c->img);
    program_destroy(c->prog);
    c->img = NULL;
    c->prog = NULL;
}

void rp_module_unload(struct rp_module *m) {
    if (!m)
        return;
    for (uint32_t i = 0; i < m->nkernels; i++) {
        drop_code(&m->kernels[i].plain);
        drop_code(&m->kernels[i].passed);
    }
    for (uint32_t i = 0; i < m->allocs.len; i++)
        if (m->allocs.at[i])
            memory_free(&m->gpu->mem, m->allocs.at[i]);
    vec_free(&m->allocs);
    free(m->kernels);
    free(m->symbols);
    ptx_free(m->ptx);
    free(m->name);
    free(m);
}

struct rp_kernel *rp_module_kernel(struct rp_module *m, const char *name) {
    for (uint32_t i = 0; i < m->nkernels; i++)
        if (!strcmp(m->kernels[i].func->name, name))
            return &m->kernels[i];
    return NULL;
}

struct rp_kernel *rp_module_kernel_at(struct rp_module *m, uint32_t i) {
    return i < m->nkernels ? &m->kernels[i] : NULL;
}

static const struct ptx_var *find_var(const struct rp_module *m, const char *name, bool reference) {
    for (uint32_t i = 0; i < m->ptx->nvars; i++)
        if (!m->ptx->vars[i]->func && is_reference(m->ptx->vars[i]) == reference &&
            !strcmp(m->ptx->vars[i]->name, name))
            return m->ptx->vars[i];
    return NULL;
}

enum rp_status rp_module_global(struct rp_module *m, const char *name, uint64_t *addr, size_t *size) {
    const struct ptx_var *v = find_var(m, name, false);
    if (!v || (v->space != SPACE_GLOBAL && v->space != SPACE_CONST))
        return RP_NOT_FOUND;
    if (addr)
        *addr = v->space == SPACE_CONST ? m->const_base + v->user : get_slot(m, v->user);
    if (size)
        *size = v->size;
    return RP_OK;
}

bool rp_module_has_texref(struct rp_module *m, const char *name) {
    return find_var(m, name, true) != NULL;
}

enum rp_status rp_texref_bind(struct rp_module *m, const char *name, const struct rp_tex_desc *desc) {
    const struct ptx_var *v = find_var(m, name, true);
    if (!v)
        return RP_NOT_FOUND;
    textures_remove(&m->gpu->tex, get_slot(m, v->user));
    set_slot(m, v->user, desc ? textures_add(&m->gpu->tex, desc) : 0);
    return RP_OK;
}

/* ---- kernels ---- */

/* Registers per thread: the GPU's limit, .maxnreg, and what .maxntid with .minnctapersm leaves. */
static uint32_t register_limit(const struct rp_kernel *k) {
    const struct rp_gpu_info *g = &k->mod->gpu->info;
    const struct ptx_func *f = k->func;
    uint32_t limit = (uint32_t)g->max_regs_per_thread, threads = 1;
    if (f->maxnreg && f->maxnreg < limit)
        limit = f->maxnreg;
    const uint32_t *dims = f->reqntid[0] ? f->reqntid : f->maxntid;
    for (int i = 0; i < 3; i++)
        threads *= dims[i] ? dims[i] : 1;
    if (dims[0] && threads <= (uint32_t)g->max_threads_per_block) {
        uint32_t blocks = f->minnctapersm ? f->minnctapersm : 1;
        uint32_t share = (uint32_t)g->regs_per_sm / (((threads + 31) & ~31u) * blocks) & ~7u;
        if (share < limit)
            limit = share;
    }
    return limit < 16 ? 16 : limit;
}

struct kernel_code *kernel_code(struct rp_kernel *k, bool timed) {
    const struct mech_set *s = &k->mod->gpu->mechs;
    for (uint32_t i = 0; timed && i < s->n; i++)
        if (s->at[i]->passes)
            return &k->passed;
    return &k->plain;
}

/* Compiles a lowered program, with the passes of the GPU's mechanisms or without, and with that of a survey.
 */
static bool compile(struct rp_gpu *g, struct program *p, bool passed, struct diag *d) {
    struct opt_mech mechs[MECH_MAX + 1];
    uint32_t n = 0;
    if (g->survey)
        mechs[n++] = (struct opt_mech){reason_passes, NULL};
    for (uint32_t i = 0; passed && i < g->mechs.n; i++)
        mechs[n++] =
            (struct opt_mech){g->mechs.at[i]->passes, config_values(&g->config, &g->mechs.at[i]->params)};
    struct opt_options o = {.mechs = mechs, .nmechs = n, .disable = resolve_lacking(g->cfg)};
    return opt_compile_with(p, &o, d);
}

enum { CODE_ALIGN = 128 }; /* bytes: kernels share no cache line, however long those are */

/* Gives the instructions of an image, and of its streams, their addresses. */
static void place_code(struct image *img, uint64_t *end) {
    img->address = *end;
    *end += ((uint64_t)img->ncode * INST_BYTES + CODE_ALIGN) & ~(uint64_t)(CODE_ALIGN - 1);
    for (uint32_t i = 0; i < img->nstreams; i++)
        place_code(img->streams[i], end);
}

/* Whether code may do more than compute: see rp_kernel_info. */
static bool alters(const struct program *p) {
    for (uint32_t i = 0; i < p->ncode; i++) {
        uint32_t call = p->code[i].m.mode;
        if (p->code[i].op == OP_SYSCALL && call != SYS_VPRINTF && call != SYS_ASSERTFAIL &&
            call != SYS_SET_CONDITIONAL)
            return true;
    }
    return false;
}

enum rp_status kernel_compile(struct rp_kernel *k, struct kernel_code *code, uint32_t limit, char **log) {
    if (log)
        *log = NULL;
    uint32_t most = register_limit(k);
    if (!limit || limit > most)
        limit = most;
    if (code->prog && (code->limit == limit || (code->prog->nregs <= limit && code->limit >= limit)))
        return RP_OK;
    drop_code(code);
    struct diag d = {0};
    struct rp_gpu *g = k->mod->gpu;
    code->prog = ptx_lower(k->mod->ptx, k->func, &d);
    if (code->prog)
        code->prog->reg_limit = limit;
    if (code->prog && !compile(g, code->prog, code == &k->passed, &d)) {
        program_destroy(code->prog);
        code->prog = NULL;
    }
    if (code->prog) {
        code->img = image_create(code->prog);
        place_code(code->img, &g->code_end);
        code->alters = alters(code->prog);
    }
    code->limit = limit;
    give_log(&d, log);
    return code->prog ? RP_OK : RP_UNSUPPORTED;
}

static void copy_dims(int to[3], const uint32_t from[3]) {
    for (int i = 0; i < 3; i++)
        to[i] = (int)from[i];
}

static int max_threads(const struct rp_kernel *k) {
    const struct rp_gpu_info *g = &k->mod->gpu->info;
    int most = g->max_threads_per_block;
    const uint32_t *dims = k->func->reqntid[0] ? k->func->reqntid : k->func->maxntid;
    if (dims[0]) {
        uint64_t n = (uint64_t)dims[0] * (dims[1] ? dims[1] : 1) * (dims[2] ? dims[2] : 1);
        if (n < (uint64_t)most)
            most = (int)n;
    }
    return most;
}

enum rp_status kernel_info(struct rp_kernel *k, struct kernel_code *code, struct rp_kernel_info *info,
                           char **log) {
    memset(info, 0, sizeof *info);
    info->name = k->func->name;
    info->ptx_version = (int)k->mod->ptx->version;
    info->target = (int)k->mod->ptx->target;
    info->nparams = k->func->nparams;
    info->param_bytes = ptx_param_bytes(k->func);
    info->max_threads = max_threads(k);
    info->minnctapersm = (int)k->func->minnctapersm;
    copy_dims(info->reqntid, k->func->reqntid);
    copy_dims(info->cluster, k->func->reqnctapercluster);
    copy_dims(info->maxntid, k->func->maxntid);
    enum rp_status s = kernel_compile(k, code, code->limit, log);
    if (s != RP_OK)
        return s;
    info->alters = code->alters;
    info->regs = (int)code->prog->nregs;
    info->shared_static = (code->prog->shared_static + 15) & ~(size_t)15;
    info->local_per_thread = code->prog->local_bytes;
    info->const_bytes = k->mod->layout.const_bytes;
    return RP_OK;
}

enum rp_status rp_kernel_info(struct rp_kernel *k, struct rp_kernel_info *info, char **log) {
    return kernel_info(k, kernel_code(k, !k->mod->gpu->opt.functional), info, log);
}

bool rp_kernel_compiled(struct rp_kernel *k) {
    return kernel_code(k, !k->mod->gpu->opt.functional)->prog;
}

bool rp_kernel_param(struct rp_kernel *k, uint32_t i, struct rp_param_info *p) {
    if (i >= k->func->nparams)
        return false;
    const struct ptx_var *v = k->func->params[i];
    *p = (struct rp_param_info){.offset = ptx_param_offset(k->func, i), .size = v->size, .align = v->align};
    return true;
}

const char *rp_kernel_name(const struct rp_kernel *k) {
    return k->func->name;
}

int rp_kernel_address_bits(const struct rp_kernel *k) {
    return (int)k->mod->ptx->address_bits;
}
