/* Contexts. All of them share the one simulated GPU; a context owns what was made while it was current, and
 * takes it along when it goes. */
#include <stdlib.h>
#include <string.h>

#include "cuda/graph.h"
#include "cuda/queue.h"
#include "cuda/vmm.h"

static void default_streams(struct CUctx_st *ctx) {
    ctx->legacy.obj = (struct cud_object){CUD_STREAM, ctx};
    ctx->legacy.mark = 0;
    ctx->legacy.id = ++cud.next_id;
}

void cud_primary_start(void) {
    struct CUctx_st *p = &cud.primary;
    if (p->alive)
        return;
    p->primary = p->alive = true;
    p->obj.kind = CUD_CTX;
    p->api_version = 3020;
    p->pending = p->sticky = 0;
    p->told = false;
    p->id = ++cud.next_id;
    default_streams(p);
    map_set_u64(&cud.objects, (uintptr_t)p, p);
}

void cud_primary_use(void) {
    cud_primary_start();
    if (!cud.primary.runtime_holds)
        cud.primary.refs++;
    cud.primary.runtime_holds = true;
    cud_set_current(&cud.primary);
}

int cud_context_create(struct CUctx_st **out, unsigned flags, unsigned api_version) {
    struct CUctx_st *c = cud_object_new(CUD_CTX, sizeof *c, NULL);
    c->alive = true;
    c->flags = flags;
    c->api_version = api_version;
    c->id = ++cud.next_id;
    default_streams(c);
    *out = c;
    return cudaSuccess;
}

static void free_memory(struct CUctx_st *ctx) {
    struct rp_alloc *a;
    for (uint32_t i = 0; (a = rp_mem_at(cud.gpu, i));)
        if (a->user == ctx && a->kind != RP_MEM_MODULE)
            rp_mem_free(cud.gpu, a->addr);
        else
            i++;
}

static void destroy_object(struct cud_object *o) {
    switch (o->kind) {
    case CUD_STREAM:
        cud_stream_destroy((struct CUstream_st *)o);
        return;
    case CUD_EVENT:
        cud_event_destroy((struct CUevent_st *)o);
        return;
    case CUD_MODULE:
        cud_module_unload((struct CUmod_st *)o);
        return;
    case CUD_ARRAY:
        if (!((struct CUarray_st *)o)->parent)
            cud_array_destroy((struct CUarray_st *)o);
        return;
    case CUD_MIPMAP:
        cud_mipmap_destroy((struct CUmipmap_st *)o);
        return;
    default:
        return; /* functions, references and nodes go with their owners */
    }
}

/* Frees whatever ctx owns; modules the compiler registered only forget their code. */
static void destroy_contents(struct CUctx_st *ctx) {
    for (uint32_t i = 0; i < cud.objects.len; i++) {
        struct cud_object *o = cud.objects.entries[i].value;
        if (!o)
            continue;
        if (o->ctx == ctx)
            destroy_object(o);
        else if (ctx->primary && o->kind == CUD_MODULE && ((struct CUmod_st *)o)->registered)
            cud_module_drop((struct CUmod_st *)o);
    }
    if (ctx->primary) {
        cud_tex_reset();
        cud_vmm_reset();
    }
    free_memory(ctx);
}

int cud_context_destroy(struct CUctx_st *ctx) {
    cud_drain();
    cud_flush_output(UINT64_MAX);
    if (!ctx->pending && !ctx->sticky)
        rp_find_leaks(cud.gpu, ctx);
    destroy_contents(ctx);
    struct cud_thread *t = cud_thread();
    if (t->depth && t->contexts[t->depth - 1] == ctx)
        t->depth--;
    if (ctx->primary) {
        ctx->alive = false;
        map_remove_u64(&cud.objects, (uintptr_t)ctx);
    } else
        cud_object_free(ctx);
    return cudaSuccess;
}

void cud_primary_reset(void) {
    struct CUctx_st *p = &cud.primary;
    if (!p->alive)
        return;
    struct cud_thread *t = cud_thread();
    unsigned depth = t->depth;
    cud_context_destroy(p);
    t->depth = depth; /* the next runtime call finds it dead and starts it again */
    p->flags = p->refs = 0;
    p->runtime_holds = false;
    p->pending = p->sticky = 0;
}

int cud_synchronize(struct CUctx_st *ctx, uint64_t seq) {
    cud_flush_output(seq);
    if (!ctx->sticky && ctx->fault_seq <= seq)
        ctx->sticky = ctx->pending;
    return ctx->sticky;
}
