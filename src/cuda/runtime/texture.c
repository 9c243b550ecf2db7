/* libcudart: arrays, texture and surface objects. */
#include <stdlib.h>

#include "cuda/runtime/runtime.h"

/* Formats by kind (signed, unsigned, float) and bits (8, 16, 32); 0 where there is none. */
static const enum cud_format formats[3][3] = {
    {CUD_S8, CUD_S16, CUD_S32},
    {CUD_U8, CUD_U16, CUD_U32},
    {0, CUD_HALF, CUD_FLOAT},
};

int shape_of_channels(const struct cudaChannelFormatDesc *d, enum cud_format *format, unsigned *channels) {
    if (!d || (unsigned)d->f > cudaChannelFormatKindFloat)
        return cudaErrorInvalidChannelDescriptor;
    const int bits[4] = {d->x, d->y, d->z, d->w};
    unsigned n = 0;
    while (n < 4 && bits[n])
        n++;
    for (unsigned i = 0; i < 4; i++)
        if (bits[i] != (i < n ? d->x : 0))
            return cudaErrorInvalidChannelDescriptor;
    int size = d->x == 8 ? 0 : d->x == 16 ? 1 : d->x == 32 ? 2 : -1;
    if (size < 0 || n == 3 || !formats[d->f][size])
        return cudaErrorInvalidChannelDescriptor;
    *format = formats[d->f][size];
    *channels = n;
    return cudaSuccess;
}

struct cudaChannelFormatDesc channels_of_shape(enum cud_format format, unsigned channels) {
    struct cudaChannelFormatDesc d = {.f = cudaChannelFormatKindNone};
    int bits = (int)cud_format_bytes(format) * 8;
    for (int kind = 0; kind < 3; kind++)
        for (int size = 0; size < 3; size++)
            if (formats[kind][size] == format)
                d.f = (enum cudaChannelFormatKind)kind;
    d.x = bits;
    d.y = channels > 1 ? bits : 0;
    d.z = d.w = channels > 2 ? bits : 0;
    return d;
}

struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, enum cudaChannelFormatKind f) {
    return (struct cudaChannelFormatDesc){x, y, z, w, f};
}

static int create(cudaArray_t *array, const struct cudaChannelFormatDesc *d, struct cudaExtent e,
                  unsigned flags) {
    struct cud_array_shape s = {.width = e.width, .height = e.height, .depth = e.depth, .flags = flags};
    if (!array)
        return cudaErrorInvalidValue;
    int error = shape_of_channels(d, &s.format, &s.channels);
    return error ? error : cud_array_create(array, &s);
}

cudaError_t cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc, size_t width,
                            size_t height, unsigned flags) {
    RUNTIME(CUD_CONTEXT, create(array, desc, (struct cudaExtent){width, height, 0}, flags));
}

cudaError_t cudaMalloc3DArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc,
                              struct cudaExtent extent, unsigned flags) {
    RUNTIME(CUD_CONTEXT, create(array, desc, extent, flags));
}

static int destroy(cudaArray_t array) {
    struct CUarray_st *a = cud_object_get(array, CUD_ARRAY);
    if (!array)
        return cudaSuccess;
    if (a && a->parent)
        return cudaSuccess; /* a level goes with its mipmap */
    return a ? cud_array_destroy(a) : cudaErrorInvalidResourceHandle;
}

cudaError_t cudaFreeArray(cudaArray_t array) {
    RUNTIME(CUD_DRAIN, destroy(array));
}

static int mip_create(cudaMipmappedArray_t *mip, const struct cudaChannelFormatDesc *d, struct cudaExtent e,
                      unsigned levels, unsigned flags) {
    struct cud_array_shape s = {.width = e.width, .height = e.height, .depth = e.depth, .flags = flags};
    if (!mip)
        return cudaErrorInvalidValue;
    int error = shape_of_channels(d, &s.format, &s.channels);
    return error ? error : cud_mipmap_create(mip, &s, levels);
}

cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t *mip, const struct cudaChannelFormatDesc *desc,
                                     struct cudaExtent extent, unsigned levels, unsigned flags) {
    RUNTIME(CUD_CONTEXT, mip_create(mip, desc, extent, levels, flags));
}

cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t mip) {
    RUNTIME(CUD_DRAIN, !mip                              ? cudaSuccess
                       : cud_object_get(mip, CUD_MIPMAP) ? cud_mipmap_destroy(mip)
                                                         : cudaErrorInvalidResourceHandle);
}

static int mip_level(cudaArray_t *array, const struct CUmipmap_st *mip, unsigned level) {
    struct CUmipmap_st *m = cud_object_get(mip, CUD_MIPMAP);
    if (!m)
        return cudaErrorInvalidResourceHandle;
    if (!array || level >= m->levels)
        return cudaErrorInvalidValue;
    *array = m->level[level];
    return cudaSuccess;
}

cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t *array, const struct CUmipmap_st *mip, unsigned level) {
    RUNTIME(CUD_CONTEXT, mip_level(array, mip, level));
}

static int info(struct cudaChannelFormatDesc *d, struct cudaExtent *e, unsigned *flags, const void *array) {
    struct CUarray_st *a = cud_object_get(array, CUD_ARRAY);
    if (!a)
        return cudaErrorInvalidResourceHandle;
    if (d)
        *d = channels_of_shape(a->shape.format, a->shape.channels);
    if (e)
        *e = (struct cudaExtent){a->shape.width, a->shape.height, a->shape.depth};
    if (flags)
        *flags = a->shape.flags;
    return cudaSuccess;
}

cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *desc, struct cudaExtent *extent, unsigned *flags,
                             cudaArray_t array) {
    RUNTIME(CUD_CONTEXT, info(desc, extent, flags, array));
}

cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *desc, const struct CUarray_st *array) {
    RUNTIME(CUD_CONTEXT, desc ? info(desc, NULL, NULL, array) : cudaErrorInvalidValue);
}

static int linear_width(size_t *width, const struct cudaChannelFormatDesc *d, int device) {
    struct cud_array_shape s = {0};
    int bytes = 0, error = shape_of_channels(d, &s.format, &s.channels);
    if (!width || device)
        return width ? cudaErrorInvalidDevice : cudaErrorInvalidValue;
    cud_device_attribute(69, &bytes);
    if (!error)
        *width = (size_t)bytes / cud_texel_bytes(&s);
    return error;
}

cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t *width, const struct cudaChannelFormatDesc *desc,
                                                 int device) {
    RUNTIME(CUD_DEVICE, linear_width(width, desc, device));
}

/* ---- objects ---------------------------------------------------------------------------------------- */

static int resource(struct cud_tex *t, const struct cudaResourceDesc *r) {
    memset(t, 0, sizeof *t);
    if (!r || r->resType < 0 || r->resType > CUD_RES_PITCH2D)
        return cudaErrorInvalidValue;
    t->type = (enum cud_resource)r->resType;
    if (t->type == CUD_RES_ARRAY)
        t->array = r->res.array.array;
    else if (t->type == CUD_RES_MIPMAP)
        t->mipmap = r->res.mipmap.mipmap;
    else { /* linear and pitch2D start alike */
        t->addr = (uintptr_t)r->res.linear.devPtr;
        int error = shape_of_channels(&r->res.linear.desc, &t->format, &t->channels);
        if (error)
            return error;
    }
    if (t->type == CUD_RES_LINEAR)
        t->size = r->res.linear.sizeInBytes;
    if (t->type == CUD_RES_PITCH2D) {
        t->width = r->res.pitch2D.width;
        t->height = r->res.pitch2D.height;
        t->pitch = r->res.pitch2D.pitchInBytes;
    }
    return cudaSuccess;
}

static void sampler(struct cud_tex *t, const struct cudaTextureDesc *d) {
    memcpy(t->address, d->addressMode, sizeof t->address);
    t->filter = d->filterMode;
    t->flags = (d->readMode ? 0 : CUD_TEX_AS_INTEGER) | (d->normalizedCoords ? CUD_TEX_NORMALIZED : 0) |
               (d->sRGB ? CUD_TEX_SRGB : 0);
    t->anisotropy = d->maxAnisotropy;
    t->mip_filter = d->mipmapFilterMode;
    t->mip_bias = d->mipmapLevelBias;
    t->mip_min = d->minMipmapLevelClamp;
    t->mip_max = d->maxMipmapLevelClamp;
    memcpy(t->border, d->borderColor, sizeof t->border);
}

/* Filters blend floats, and only integers below 32 bits can be read as such. */
static int sampler_ok(const struct cud_tex *t) {
    struct CUarray_st *a = cud_object_get(t->array, CUD_ARRAY);
    enum cud_format f = a ? a->shape.format : t->format;
    bool integer = f && f != CUD_FLOAT && f != CUD_HALF, wide = cud_format_bytes(f) == 4;
    bool filtered = t->filter == 1 && t->type != CUD_RES_LINEAR;
    for (int i = 0; i < 3; i++)
        if (t->address[i] < RP_ADDR_WRAP || t->address[i] > RP_ADDR_BORDER)
            return cudaErrorInvalidValue;
    if (integer && filtered && (wide || t->flags & CUD_TEX_AS_INTEGER))
        return cudaErrorInvalidFilterSetting;
    return integer && wide && !(t->flags & CUD_TEX_AS_INTEGER) ? cudaErrorInvalidNormSetting : cudaSuccess;
}

static int tex_create(unsigned long long *object, const struct cudaResourceDesc *res,
                      const struct cudaTextureDesc *tex, const void *view) {
    struct cud_tex t;
    uint64_t handle;
    if (!object || !tex)
        return cudaErrorInvalidValue;
    int error = resource(&t, res);
    if (error)
        return error;
    sampler(&t, tex);
    t.has_view = view != NULL;
    if (view)
        memcpy(t.view, view, sizeof t.view);
    error = sampler_ok(&t);
    if (!error)
        error = cud_tex_create(&handle, &t);
    if (!error)
        *object = handle;
    return error;
}

cudaError_t cudaCreateTextureObject(unsigned long long *object, const struct cudaResourceDesc *res,
                                    const struct cudaTextureDesc *tex, const void *view) {
    RUNTIME(CUD_CONTEXT, tex_create(object, res, tex, view));
}
RUNTIME_SAME(cudaCreateTextureObject, cudaCreateTextureObject_v2);

cudaError_t cudaDestroyTextureObject(unsigned long long object) {
    RUNTIME(CUD_CONTEXT, cud_tex_destroy(object));
}

static int surf_create(unsigned long long *object, const struct cudaResourceDesc *res) {
    struct cud_tex t;
    uint64_t handle;
    if (!object)
        return cudaErrorInvalidValue;
    int error = resource(&t, res);
    if (!error)
        error = cud_surf_create(&handle, &t);
    if (!error)
        *object = handle;
    return error;
}

cudaError_t cudaCreateSurfaceObject(unsigned long long *object, const struct cudaResourceDesc *res) {
    RUNTIME(CUD_CONTEXT, surf_create(object, res));
}

cudaError_t cudaDestroySurfaceObject(unsigned long long object) {
    RUNTIME(CUD_CONTEXT, cud_tex_destroy(object));
}

static int get_resource(struct cudaResourceDesc *r, unsigned long long object) {
    struct cud_tex *t = cud_tex_get(object);
    if (!r || !t)
        return cudaErrorInvalidValue;
    memset(r, 0, sizeof *r);
    r->resType = (int)t->type;
    if (t->type == CUD_RES_ARRAY)
        r->res.array.array = t->array;
    else if (t->type == CUD_RES_MIPMAP)
        r->res.mipmap.mipmap = t->mipmap;
    else {
        r->res.linear.devPtr = (void *)(uintptr_t)t->addr;
        r->res.linear.desc = channels_of_shape(t->format, t->channels);
    }
    if (t->type == CUD_RES_LINEAR)
        r->res.linear.sizeInBytes = t->size;
    if (t->type == CUD_RES_PITCH2D) {
        r->res.pitch2D.width = t->width;
        r->res.pitch2D.height = t->height;
        r->res.pitch2D.pitchInBytes = t->pitch;
    }
    return cudaSuccess;
}

cudaError_t cudaGetTextureObjectResourceDesc(struct cudaResourceDesc *desc, unsigned long long object) {
    RUNTIME(CUD_CONTEXT, get_resource(desc, object));
}
RUNTIME_SAME(cudaGetTextureObjectResourceDesc, cudaGetSurfaceObjectResourceDesc);

static int get_sampler(void *desc, unsigned long long object, bool whole) {
    struct cud_tex *t = cud_tex_get(object);
    if (!desc || !t)
        return cudaErrorInvalidValue;
    struct cudaTextureDesc d = {
        .filterMode = t->filter,
        .readMode = !(t->flags & CUD_TEX_AS_INTEGER),
        .sRGB = !!(t->flags & CUD_TEX_SRGB),
        .normalizedCoords = !!(t->flags & CUD_TEX_NORMALIZED),
        .maxAnisotropy = t->anisotropy,
        .mipmapFilterMode = t->mip_filter,
        .mipmapLevelBias = t->mip_bias,
        .minMipmapLevelClamp = t->mip_min,
        .maxMipmapLevelClamp = t->mip_max,
    };
    memcpy(d.addressMode, t->address, sizeof d.addressMode);
    memcpy(d.borderColor, t->border, sizeof d.borderColor);
    memcpy(desc, &d, whole ? sizeof d : offsetof(struct cudaTextureDesc, seamlessCubemap));
    return cudaSuccess;
}

cudaError_t cudaGetTextureObjectTextureDesc(void *desc, unsigned long long object) {
    RUNTIME(CUD_CONTEXT, get_sampler(desc, object, REPRISE_CUDART >= 12));
}

cudaError_t cudaGetTextureObjectTextureDesc_v2(void *desc, unsigned long long object) {
    RUNTIME(CUD_CONTEXT, get_sampler(desc, object, true));
}

static int get_view(void *view, unsigned long long object) {
    struct cud_tex *t = cud_tex_get(object);
    if (!view || !t || !t->has_view)
        return cudaErrorInvalidValue;
    memcpy(view, t->view, sizeof t->view);
    return cudaSuccess;
}

cudaError_t cudaGetTextureObjectResourceViewDesc(void *view, unsigned long long object) {
    RUNTIME(CUD_CONTEXT, get_view(view, object));
}
