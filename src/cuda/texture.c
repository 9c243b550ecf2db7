/* Texture and surface objects and module-scope references. */
#include <stdlib.h>
#include <string.h>

#include "cuda/queue.h"

/* Resource view formats come in threes (1, 2, 4 channels) in this order, from 1. */
static const enum cud_format view_formats[] = {CUD_U8,  CUD_S8,  CUD_U16,  CUD_S16,
                                               CUD_U32, CUD_S32, CUD_HALF, CUD_FLOAT};

static bool rp_format(enum cud_format f, enum rp_tex_format *out) {
    switch (f) {
    case CUD_U8:
        *out = RP_TEX_U8;
        return true;
    case CUD_U16:
        *out = RP_TEX_U16;
        return true;
    case CUD_U32:
        *out = RP_TEX_U32;
        return true;
    case CUD_S8:
        *out = RP_TEX_S8;
        return true;
    case CUD_S16:
        *out = RP_TEX_S16;
        return true;
    case CUD_S32:
        *out = RP_TEX_S32;
        return true;
    case CUD_HALF:
        *out = RP_TEX_F16;
        return true;
    case CUD_FLOAT:
        *out = RP_TEX_F32;
        return true;
    }
    return false;
}

/* First and last mipmap level to read: all, or the view's. */
static void level_range(const struct cud_tex *t, unsigned levels, uint32_t *first, uint32_t *last) {
    *first = 0;
    *last = levels - 1;
    if (t->has_view) {
        memcpy(first, t->view + 32, sizeof *first);
        memcpy(last, t->view + 36, sizeof *last);
    }
    *first = *first < levels ? *first : levels - 1;
    *last = *last < *first ? *first : *last < levels ? *last : levels - 1;
}

static int from_array(const struct cud_tex *t, const struct CUarray_st *a, struct rp_tex_desc *d,
                      enum cud_format *format) {
    bool layered = a->shape.flags & CUD_ARRAY_LAYERED, cube = a->shape.flags & CUD_ARRAY_CUBEMAP;
    uint32_t view = 0;
    *format = a->shape.format;
    d->channels = (int)a->shape.channels;
    d->width = (uint32_t)a->shape.width;
    d->height = (uint32_t)a->shape.height;
    if (t->has_view)
        memcpy(&view, t->view, sizeof view);
    if (view >= 1 && view <= 3 * sizeof view_formats / sizeof *view_formats) {
        *format = view_formats[(view - 1) / 3];
        d->channels = 1 << (view - 1) % 3;
        size_t row = a->shape.width * cud_texel_bytes(&a->shape);
        d->width = (uint32_t)(row / (cud_format_bytes(*format) * (size_t)d->channels));
    }
    d->addr = a->addr;
    d->pitch = a->pitch;
    d->slice = a->slice;
    d->tiled = a->shape.height > 1;
    d->cubemap = cube;
    if (layered)
        d->layers = (uint32_t)(cube ? a->shape.depth / 6 : a->shape.depth);
    else
        d->depth = (uint32_t)a->shape.depth;
    return cudaSuccess;
}

#define PITCH_ALIGN  32 /* of the rows of a pitched texture */
#define LINEAR_ALIGN 16 /* of the first texel: the largest there is */

/* Linear textures may state more than there is; they end where their allocation does. */
static int from_linear(const struct cud_tex *t, struct rp_tex_desc *d) {
    size_t texel = cud_format_bytes(t->format) * t->channels;
    struct rp_alloc *a = cud_mem_find(t->addr);
    if (!texel)
        return cudaErrorInvalidChannelDescriptor;
    if (!a || t->addr % LINEAR_ALIGN)
        return cudaErrorInvalidValue;
    size_t left = a->addr + a->size - t->addr;
    d->addr = t->addr;
    d->channels = (int)t->channels;
    if (t->type == CUD_RES_LINEAR) {
        d->linear_memory = true;
        d->pitch = d->slice = t->size < left ? t->size : left;
        d->width = (uint32_t)(d->pitch / texel);
        return cudaSuccess;
    }
    if (t->pitch % PITCH_ALIGN || t->pitch < t->width * texel || !t->width || !t->height)
        return cudaErrorInvalidValue;
    d->width = (uint32_t)t->width;
    d->height = (uint32_t)t->height;
    d->pitch = t->pitch;
    d->slice = t->pitch * (t->height - 1) + t->width * texel;
    return d->slice <= left ? cudaSuccess : cudaErrorInvalidValue;
}

static void sampler(const struct cud_tex *t, enum cud_format format, struct rp_tex_desc *d) {
    for (int i = 0; i < 3; i++)
        d->address[i] = t->address[i] >= 0 && t->address[i] <= RP_ADDR_BORDER
                            ? (enum rp_tex_address)t->address[i]
                            : RP_ADDR_CLAMP;
    d->linear = t->filter == 1;
    d->normalized_coords = t->flags & CUD_TEX_NORMALIZED;
    d->srgb = t->flags & CUD_TEX_SRGB;
    d->normalized_float =
        cud_format_bytes(format) < 4 && format != CUD_HALF && !(t->flags & CUD_TEX_AS_INTEGER);
    memcpy(d->border, t->border, sizeof d->border);
}

/* The levels that are read; the first one has been described. */
static void levels(const struct cud_tex *t, const struct CUmipmap_st *m, uint32_t first, uint32_t last,
                   struct rp_tex_desc *d) {
    d->mip_linear = t->mip_filter == 1;
    d->lod_bias = t->mip_bias;
    d->lod_min = t->mip_min;
    d->lod_max = t->mip_max;
    for (uint32_t v = first; v <= last; v++) {
        struct rp_tex_desc one = {0};
        enum cud_format format;
        from_array(t, m->level[v], &one, &format);
        d->level[d->levels++] =
            (struct rp_tex_level){one.addr, one.width, one.height, one.depth, one.pitch, one.slice};
    }
}

/* Translates the program's description into the simulator's. */
static int describe(const struct cud_tex *t, struct rp_tex_desc *d) {
    struct CUarray_st *array = NULL;
    struct CUmipmap_st *mipmap = t->type == CUD_RES_MIPMAP ? cud_object_get(t->mipmap, CUD_MIPMAP) : NULL;
    enum cud_format format = t->format;
    uint32_t first, last;
    memset(d, 0, sizeof *d);
    if (t->type == CUD_RES_ARRAY)
        array = cud_object_get(t->array, CUD_ARRAY);
    else if (mipmap) {
        level_range(t, mipmap->levels, &first, &last);
        array = mipmap->level[first];
    }
    int error;
    if (t->type == CUD_RES_ARRAY || t->type == CUD_RES_MIPMAP)
        error = array ? from_array(t, array, d, &format) : cudaErrorInvalidResourceHandle;
    else
        error = from_linear(t, d);
    if (error)
        return error;
    if (mipmap)
        levels(t, mipmap, first, last, d);
    sampler(t, format, d);
    return rp_format(format, &d->format) ? cudaSuccess : cudaErrorInvalidChannelDescriptor;
}

static int create(uint64_t *handle, const struct cud_tex *t,
                  uint64_t (*make)(struct rp_gpu *, const struct rp_tex_desc *)) {
    struct rp_tex_desc d;
    int error = describe(t, &d);
    if (error)
        return error;
    uint64_t h = make(cud.gpu, &d);
    if (!h)
        return cudaErrorInvalidValue;
    struct cud_tex *copy = xmalloc(sizeof *copy);
    *copy = *t;
    map_set_u64(&cud.textures, h, copy);
    *handle = h;
    return cudaSuccess;
}

int cud_tex_create(uint64_t *handle, const struct cud_tex *t) {
    return create(handle, t, rp_tex_create);
}

int cud_surf_create(uint64_t *handle, const struct cud_tex *t) {
    if (t->type != CUD_RES_ARRAY)
        return cudaErrorInvalidValue;
    return create(handle, t, rp_surf_create);
}

struct cud_tex *cud_tex_get(uint64_t handle) {
    return map_get_u64(&cud.textures, handle);
}

int cud_tex_destroy(uint64_t handle) {
    struct cud_tex *t = cud_tex_get(handle);
    if (!t)
        return cudaSuccess; /* destroying nothing is no error */
    cud_drain();
    rp_tex_destroy(cud.gpu, handle);
    map_remove_u64(&cud.textures, handle);
    free(t);
    return cudaSuccess;
}

void cud_tex_reset(void) {
    for (uint32_t i = 0; i < cud.textures.len; i++)
        if (cud.textures.entries[i].value)
            cud_tex_destroy(cud.textures.entries[i].num);
}

struct CUtexref_st *cud_texref(struct CUmod_st *m, const char *name) {
    for (uint32_t i = 0; i < m->texrefs.len; i++)
        if (!strcmp(m->texrefs.at[i]->name, name))
            return m->texrefs.at[i];
    if (cud_module_ready(m) || !rp_module_has_texref(m->rp, name))
        return NULL;
    struct CUtexref_st *r = cud_object_new(CUD_TEXREF, sizeof *r, NULL);
    r->module = m;
    r->name = xstrdup(name);
    r->tex.address[0] = r->tex.address[1] = r->tex.address[2] = RP_ADDR_CLAMP;
    r->tex.format = CUD_FLOAT;
    r->tex.channels = 1;
    vec_push(&m->texrefs, r);
    return r;
}

int cud_texref_update(struct CUtexref_st *r) {
    struct rp_tex_desc d;
    if (!r->module)
        return cudaSuccess; /* made by cuTexRefCreate: belongs to no kernel */
    cud_drain();            /* launches before it see it as it was */
    int error = cud_module_ready(r->module);
    if (error)
        return error;
    if (!r->bound)
        return cud_error_of(rp_texref_bind(r->module->rp, r->name, NULL));
    error = describe(&r->tex, &d);
    return error ? error : cud_error_of(rp_texref_bind(r->module->rp, r->name, &d));
}
