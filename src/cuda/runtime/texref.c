/* libcudart: texture and surface references, which CUDA had until version 11. */
#include <stdlib.h>

#include "cuda/runtime/runtime.h"

/* The variable the program declares; its address names the reference. */
struct textureReference {
    int normalized, filterMode, addressMode[3];
    struct cudaChannelFormatDesc channelDesc;
    int sRGB;
    unsigned maxAnisotropy;
    int mipmapFilterMode;
    float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
    int disableTrilinearOptimization, reserved[14];
};

/* The reference behind the program's variable, with the sampler state the variable holds now. */
static int find(struct CUtexref_st **out, const struct textureReference *ref) {
    struct cud_symbol *s = cud_symbol(ref, CUD_SYM_TEX);
    if (!s)
        return cudaErrorInvalidTexture;
    struct CUtexref_st *r = cud_texref(s->module, s->name);
    if (!r)
        return cudaErrorInvalidTexture;
    memcpy(r->tex.address, ref->addressMode, sizeof r->tex.address);
    r->tex.filter = ref->filterMode;
    r->tex.flags = (s->tex_norm ? 0 : CUD_TEX_AS_INTEGER) | (ref->normalized ? CUD_TEX_NORMALIZED : 0) |
                   (ref->sRGB ? CUD_TEX_SRGB : 0);
    r->tex.anisotropy = ref->maxAnisotropy;
    *out = r;
    return cudaSuccess;
}

static int bind(struct CUtexref_st *r, bool bound) {
    r->bound = bound;
    int error = cud_texref_update(r);
    if (error)
        r->bound = false;
    return error;
}

static int bind_linear(size_t *offset, const struct textureReference *ref, const void *p,
                       const struct cudaChannelFormatDesc *d, size_t size) {
    struct CUtexref_st *r;
    struct rp_alloc *a = cud_mem_find((uintptr_t)p);
    int error = find(&r, ref);
    if (!error)
        error = shape_of_channels(d, &r->tex.format, &r->tex.channels);
    if (error)
        return error;
    if (!a)
        return cudaErrorInvalidValue;
    size_t left = a->addr + a->size - (uintptr_t)p; /* programs may leave the size at its default, all ones */
    r->tex.type = CUD_RES_LINEAR;
    r->tex.addr = (uintptr_t)p;
    r->tex.size = size < left ? size : left;
    if (offset)
        *offset = 0;
    return bind(r, true);
}

cudaError_t cudaBindTexture(size_t *offset, const struct textureReference *ref, const void *p,
                            const struct cudaChannelFormatDesc *desc, size_t size) {
    RUNTIME(CUD_CONTEXT, bind_linear(offset, ref, p, desc, size));
}

static int bind_2d(size_t *offset, const struct textureReference *ref, const void *p,
                   const struct cudaChannelFormatDesc *d, size_t width, size_t height, size_t pitch) {
    struct CUtexref_st *r;
    int error = find(&r, ref);
    if (!error)
        error = shape_of_channels(d, &r->tex.format, &r->tex.channels);
    if (error)
        return error;
    r->tex.type = CUD_RES_PITCH2D;
    r->tex.addr = (uintptr_t)p;
    r->tex.width = width;
    r->tex.height = height;
    r->tex.pitch = pitch;
    if (offset)
        *offset = 0;
    return bind(r, true);
}

cudaError_t cudaBindTexture2D(size_t *offset, const struct textureReference *ref, const void *p,
                              const struct cudaChannelFormatDesc *desc, size_t width, size_t height,
                              size_t pitch) {
    RUNTIME(CUD_CONTEXT, bind_2d(offset, ref, p, desc, width, height, pitch));
}

static int bind_array(const struct textureReference *ref, const struct CUarray_st *array) {
    struct CUtexref_st *r;
    int error = find(&r, ref);
    if (error)
        return error;
    r->tex.type = CUD_RES_ARRAY;
    r->tex.array = (struct CUarray_st *)(uintptr_t)array;
    return bind(r, true);
}

cudaError_t cudaBindTextureToArray(const struct textureReference *ref, const struct CUarray_st *array,
                                   const struct cudaChannelFormatDesc *desc) {
    (void)desc;
    RUNTIME(CUD_CONTEXT, bind_array(ref, array));
}

static int bind_mipmap(const struct textureReference *ref, const struct CUmipmap_st *mip) {
    struct CUtexref_st *r;
    int error = find(&r, ref);
    if (error)
        return error;
    r->tex.type = CUD_RES_MIPMAP;
    r->tex.mipmap = (struct CUmipmap_st *)(uintptr_t)mip;
    return bind(r, true);
}

cudaError_t cudaBindTextureToMipmappedArray(const struct textureReference *ref, const struct CUmipmap_st *mip,
                                            const struct cudaChannelFormatDesc *desc) {
    (void)desc;
    RUNTIME(CUD_CONTEXT, bind_mipmap(ref, mip));
}

static int unbind(const struct textureReference *ref) {
    struct CUtexref_st *r;
    int error = find(&r, ref);
    return error ? error : bind(r, false);
}

cudaError_t cudaUnbindTexture(const struct textureReference *ref) {
    RUNTIME(CUD_CONTEXT, unbind(ref));
}

static int alignment_offset(size_t *offset, const struct textureReference *ref) {
    struct CUtexref_st *r;
    int error = find(&r, ref);
    if (!error && !r->bound)
        error = cudaErrorInvalidTextureBinding;
    if (!error && offset)
        *offset = 0;
    return error;
}

cudaError_t cudaGetTextureAlignmentOffset(size_t *offset, const struct textureReference *ref) {
    RUNTIME(CUD_CONTEXT, alignment_offset(offset, ref));
}

static int reference(const void **ref, const void *symbol, int kind) {
    if (!ref)
        return cudaErrorInvalidValue;
    *ref = cud_symbol(symbol, kind) ? symbol : NULL;
    return *ref ? cudaSuccess : kind == CUD_SYM_TEX ? cudaErrorInvalidTexture : cudaErrorInvalidSurface;
}

cudaError_t cudaGetTextureReference(const void **ref, const void *symbol) {
    RUNTIME(CUD_CONTEXT, reference(ref, symbol, CUD_SYM_TEX));
}

cudaError_t cudaGetSurfaceReference(const void **ref, const void *symbol) {
    RUNTIME(CUD_CONTEXT, reference(ref, symbol, CUD_SYM_SURF));
}

static int bind_surface(const void *ref, const struct CUarray_st *array) {
    struct cud_symbol *s = cud_symbol(ref, CUD_SYM_SURF);
    struct CUtexref_st *r = s ? cud_texref(s->module, s->name) : NULL;
    if (!r)
        return cudaErrorInvalidSurface;
    r->tex.type = CUD_RES_ARRAY;
    r->tex.array = (struct CUarray_st *)(uintptr_t)array;
    r->surface = true;
    return bind(r, true);
}

cudaError_t cudaBindSurfaceToArray(const void *ref, const struct CUarray_st *array,
                                   const struct cudaChannelFormatDesc *desc) {
    (void)desc;
    RUNTIME(CUD_CONTEXT, bind_surface(ref, array));
}
