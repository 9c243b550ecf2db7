/* Launches by device code: answers to what grids ask, and the order in which their children run. */
#include <stdlib.h>
#include <string.h>

#include "gpu/gpu.h"

/* The kernel of the module that runs at an address, or NULL. */
static struct rp_kernel *kernel_at(const struct rp_kernel *from, uint64_t func) {
    const struct ptx_module *m = from->mod->ptx;
    uint64_t index = (func - FUNC_ADDR(0)) / (FUNC_ADDR(1) - FUNC_ADDR(0));
    if (func < FUNC_ADDR(0) || index >= m->nfuncs || func != FUNC_ADDR(index))
        return NULL;
    for (uint32_t i = 0; i < from->mod->nkernels; i++)
        if (from->mod->kernels[i].func == m->funcs[index])
            return &from->mod->kernels[i];
    return NULL;
}

static bool param_bytes(void *ctx, uint64_t func, uint32_t *bytes) {
    struct rp_kernel *k = kernel_at(ctx, func);
    if (k)
        *bytes = ptx_param_bytes(k->func);
    return k;
}

static struct rp_launch launch_of(const struct child *c) {
    struct rp_launch l = {.dynamic_shared = c->shared, .params = c->params, .param_bytes = c->bytes};
    memcpy(l.grid, c->grid, sizeof l.grid);
    memcpy(l.block, c->block, sizeof l.block);
    return l;
}

static enum device_error check(void *ctx, const struct child *c) {
    struct rp_kernel *from = ctx, *k = kernel_at(from, c->func);
    struct rp_gpu *g = from->mod->gpu;
    struct rp_launch l = launch_of(c);
    struct rp_kernel_info info;
    if (!k)
        return DEVICE_INVALID_VALUE;
    struct kernel_code *code = kernel_code(k, !g->opt.functional);
    if (launch_check(g, k, code, &l, NULL) != RP_OK || kernel_info(k, code, &info, NULL) != RP_OK ||
        info.shared_static + c->shared > g->info.shared_per_block)
        return DEVICE_INVALID_CONFIG;
    return DEVICE_OK;
}

/* Numbered as CUfunction_attribute. */
static bool func_attribute(void *ctx, uint64_t func, int attribute, int *value) {
    struct rp_kernel *k = kernel_at(ctx, func);
    struct rp_kernel_info i;
    if (!k || rp_kernel_info(k, &i, NULL) != RP_OK)
        return false;
    const struct rp_gpu_info *gpu = &k->mod->gpu->info;
    const long long all[] = {i.max_threads,
                             (long long)i.shared_static,
                             (long long)i.const_bytes,
                             (long long)i.local_per_thread,
                             i.regs,
                             i.target,
                             gpu->cc_major * 10 + gpu->cc_minor};
    if (attribute < 0 || (size_t)attribute >= sizeof all / sizeof *all)
        return false;
    *value = (int)all[attribute];
    return true;
}

static bool occupancy(void *ctx, uint64_t func, uint32_t threads, uint64_t shared, int *blocks) {
    struct rp_kernel *k = kernel_at(ctx, func);
    struct kernel_code *code = k ? kernel_code(k, !k->mod->gpu->opt.functional) : NULL;
    struct rp_kernel_info i;
    if (!k || kernel_info(k, code, &i, NULL) != RP_OK || shared > UINT32_MAX - i.shared_static)
        return false;
    /* Not rp_kernel_occupancy, which may compile the kernel again: it may be the one that runs. */
    *blocks =
        config_occupancy(k->mod->gpu->cfg, threads, code->prog->nregs, (uint32_t)(i.shared_static + shared));
    return true;
}

static bool attribute(void *ctx, int attribute, int *value) {
    const struct rp_kernel *k = ctx;
    return k->mod->gpu->answers.attribute && k->mod->gpu->answers.attribute(attribute, value);
}

static bool limit(void *ctx, int limit, uint64_t *value) {
    const struct rp_kernel *k = ctx;
    size_t v;
    if (!k->mod->gpu->answers.limit || !k->mod->gpu->answers.limit(limit, &v))
        return false;
    *value = v;
    return true;
}

void rp_gpu_answers(struct rp_gpu *g, bool (*attribute)(int, int *), bool (*limit)(int, size_t *)) {
    g->answers.attribute = attribute;
    g->answers.limit = limit;
}

static void drop(struct device_launch *d) {
    free(d->child.params);
    *d = (struct device_launch){0};
}

void children_begin(struct rp_gpu *g, struct rp_kernel *k) {
    g->runtime.host =
        (struct device_host){k, param_bytes, check, func_attribute, occupancy, attribute, limit};
    g->runtime.depth = g->current.depth;
}

/* Children go onto a stack, the first of them last, tail launches below all others: so each runs with all
 * that it launches before its next sibling. */
void children_end(struct rp_gpu *g, struct rp_kernel *k, bool ok) {
    struct device_runtime *rt = &g->runtime;
    for (uint32_t i = 0; i < rt->prepared.len; i++) {
        if (g->san)
            sanitizer_freeing(g->san, rt->prepared.at[i].buffer);
        memory_free(&g->mem, rt->prepared.at[i].buffer);
    }
    rt->prepared.len = 0;
    if (!ok)
        children_free(g);
    for (uint32_t pass = 0; pass < 2; pass++)
        for (uint32_t i = rt->children.len; ok && i-- > 0;) {
            const struct child *c = &rt->children.at[i];
            if (c->tail != !pass)
                continue;
            struct device_launch d = {kernel_at(k, c->func), *c, g->current.depth + (c->tail ? 0 : 1)};
            vec_push(&g->waiting, d);
        }
    rt->children.len = 0;
    drop(&g->current);
}

void children_free(struct rp_gpu *g) {
    for (uint32_t i = 0; i < g->runtime.children.len; i++)
        free(g->runtime.children.at[i].params);
    for (uint32_t i = 0; i < g->waiting.len; i++)
        drop(&g->waiting.at[i]);
    g->runtime.children.len = g->waiting.len = 0;
    drop(&g->current);
}

bool rp_next_launch(struct rp_gpu *g, struct rp_kernel **k, struct rp_launch *l) {
    drop(&g->current);
    if (!g->waiting.len)
        return false;
    g->current = g->waiting.at[--g->waiting.len];
    *k = g->current.kernel;
    *l = launch_of(&g->current.child);
    return true;
}
