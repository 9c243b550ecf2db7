/* libcuda: arrays, texture and surface objects, texture references. */
#include <stdlib.h>

#include "cuda/driver/driver.h"

static int create(CUarray *array, const struct cud_array_shape *s) {
    return array ? cud_array_create(array, s) : cudaErrorInvalidValue;
}

static int create_2d(CUarray *array, const CUDA_ARRAY_DESCRIPTOR *d) {
    if (!d)
        return cudaErrorInvalidValue;
    return create(array, &(struct cud_array_shape){.format = (enum cud_format)d->Format,
                                                   .channels = d->NumChannels,
                                                   .width = d->Width,
                                                   .height = d->Height});
}

CUresult cuArrayCreate(CUarray *array, const CUDA_ARRAY_DESCRIPTOR *desc) {
    DRIVER(CUD_CONTEXT, create_2d(array, desc));
}

static struct cud_array_shape shape_of(const CUDA_ARRAY3D_DESCRIPTOR *d) {
    return (struct cud_array_shape){.format = (enum cud_format)d->Format,
                                    .channels = d->NumChannels,
                                    .width = d->Width,
                                    .height = d->Height,
                                    .depth = d->Depth,
                                    .flags = d->Flags};
}

static int create_3d(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *d) {
    if (!d)
        return cudaErrorInvalidValue;
    struct cud_array_shape s = shape_of(d);
    return create(array, &s);
}

CUresult cuArray3DCreate(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *desc) {
    DRIVER(CUD_CONTEXT, create_3d(array, desc));
}

static int describe_3d(CUDA_ARRAY3D_DESCRIPTOR *d, CUarray array) {
    struct CUarray_st *a = cud_object_get(array, CUD_ARRAY);
    if (!a)
        return cudaErrorInvalidResourceHandle;
    if (!d)
        return cudaErrorInvalidValue;
    *d = (CUDA_ARRAY3D_DESCRIPTOR){a->shape.width,    a->shape.height,
                                   a->shape.depth,    (CUarray_format)a->shape.format,
                                   a->shape.channels, a->shape.flags};
    return cudaSuccess;
}

CUresult cuArray3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR *desc, CUarray array) {
    DRIVER(CUD_CONTEXT, describe_3d(desc, array));
}

static int describe_2d(CUDA_ARRAY_DESCRIPTOR *d, CUarray array) {
    CUDA_ARRAY3D_DESCRIPTOR e;
    int error = d ? describe_3d(&e, array) : cudaErrorInvalidValue;
    if (!error)
        *d = (CUDA_ARRAY_DESCRIPTOR){e.Width, e.Height, e.Format, e.NumChannels};
    return error;
}

CUresult cuArrayGetDescriptor(CUDA_ARRAY_DESCRIPTOR *desc, CUarray array) {
    DRIVER(CUD_CONTEXT, describe_2d(desc, array));
}

static int destroy(CUarray array) {
    struct CUarray_st *a = cud_object_get(array, CUD_ARRAY);
    if (a && a->parent)
        return cudaSuccess; /* a level goes with its mipmap */
    return a ? cud_array_destroy(a) : cudaErrorInvalidResourceHandle;
}

CUresult cuArrayDestroy(CUarray array) {
    DRIVER(CUD_DRAIN, destroy(array));
}

static int mip_create(CUmipmappedArray *mip, const CUDA_ARRAY3D_DESCRIPTOR *d, unsigned levels) {
    if (!mip || !d)
        return cudaErrorInvalidValue;
    struct cud_array_shape s = shape_of(d);
    return cud_mipmap_create(mip, &s, levels);
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray *mip, const CUDA_ARRAY3D_DESCRIPTOR *desc,
                                unsigned int levels) {
    DRIVER(CUD_CONTEXT, mip_create(mip, desc, levels));
}

static int mip_level(CUarray *array, CUmipmappedArray mip, unsigned level) {
    if (!cud_object_get(mip, CUD_MIPMAP))
        return cudaErrorInvalidResourceHandle;
    if (!array || level >= mip->levels)
        return cudaErrorInvalidValue;
    *array = mip->level[level];
    return cudaSuccess;
}

CUresult cuMipmappedArrayGetLevel(CUarray *array, CUmipmappedArray mip, unsigned int level) {
    DRIVER(CUD_CONTEXT, mip_level(array, mip, level));
}

CUresult cuMipmappedArrayDestroy(CUmipmappedArray mip) {
    DRIVER(CUD_DRAIN,
           cud_object_get(mip, CUD_MIPMAP) ? cud_mipmap_destroy(mip) : cudaErrorInvalidResourceHandle);
}

/* ---- objects ---------------------------------------------------------------------------------------- */

static void sampler(struct cud_tex *t, const CUDA_TEXTURE_DESC *d) {
    for (int i = 0; i < 3; i++)
        t->address[i] = (int)d->addressMode[i];
    t->filter = (int)d->filterMode;
    t->flags = d->flags;
    t->anisotropy = d->maxAnisotropy;
    t->mip_filter = (int)d->mipmapFilterMode;
    t->mip_bias = d->mipmapLevelBias;
    t->mip_min = d->minMipmapLevelClamp;
    t->mip_max = d->maxMipmapLevelClamp;
    memcpy(t->border, d->borderColor, sizeof t->border);
}

int tex_of_driver(struct cud_tex *t, const CUDA_RESOURCE_DESC *res, const CUDA_TEXTURE_DESC *tex,
                  const CUDA_RESOURCE_VIEW_DESC *view) {
    _Static_assert(sizeof *view == sizeof t->view, "resource view size");
    memset(t, 0, sizeof *t);
    if (!res || (int)res->resType < 0 || res->resType > CU_RESOURCE_TYPE_PITCH2D)
        return cudaErrorInvalidValue;
    t->type = (enum cud_resource)res->resType;
    if (t->type == CUD_RES_ARRAY)
        t->array = res->res.array.hArray;
    else if (t->type == CUD_RES_MIPMAP)
        t->mipmap = res->res.mipmap.hMipmappedArray;
    else { /* linear and pitch2D start alike */
        t->addr = res->res.linear.devPtr;
        t->format = (enum cud_format)res->res.linear.format;
        t->channels = res->res.linear.numChannels;
    }
    if (t->type == CUD_RES_LINEAR)
        t->size = res->res.linear.sizeInBytes;
    if (t->type == CUD_RES_PITCH2D) {
        t->width = res->res.pitch2D.width;
        t->height = res->res.pitch2D.height;
        t->pitch = res->res.pitch2D.pitchInBytes;
    }
    if (tex)
        sampler(t, tex);
    t->has_view = view != NULL;
    if (view)
        memcpy(t->view, view, sizeof t->view);
    return cudaSuccess;
}

static int tex_create(CUtexObject *object, const CUDA_RESOURCE_DESC *res, const CUDA_TEXTURE_DESC *tex,
                      const CUDA_RESOURCE_VIEW_DESC *view) {
    struct cud_tex t;
    uint64_t handle;
    if (!object || !tex || tex_of_driver(&t, res, tex, view))
        return cudaErrorInvalidValue;
    int error = cud_tex_create(&handle, &t);
    if (!error)
        *object = handle;
    return error;
}

CUresult cuTexObjectCreate(CUtexObject *object, const CUDA_RESOURCE_DESC *res, const CUDA_TEXTURE_DESC *tex,
                           const CUDA_RESOURCE_VIEW_DESC *view) {
    DRIVER(CUD_CONTEXT, tex_create(object, res, tex, view));
}

CUresult cuTexObjectDestroy(CUtexObject object) {
    DRIVER(CUD_CONTEXT, cud_tex_destroy(object));
}

static int surf_create(CUsurfObject *object, const CUDA_RESOURCE_DESC *res) {
    struct cud_tex t;
    uint64_t handle;
    if (!object || tex_of_driver(&t, res, NULL, NULL))
        return cudaErrorInvalidValue;
    int error = cud_surf_create(&handle, &t);
    if (!error)
        *object = handle;
    return error;
}

CUresult cuSurfObjectCreate(CUsurfObject *object, const CUDA_RESOURCE_DESC *res) {
    DRIVER(CUD_CONTEXT, surf_create(object, res));
}

CUresult cuSurfObjectDestroy(CUsurfObject object) {
    DRIVER(CUD_CONTEXT, cud_tex_destroy(object));
}

static int get_resource(CUDA_RESOURCE_DESC *d, uint64_t object) {
    struct cud_tex *t = cud_tex_get(object);
    if (!d || !t)
        return cudaErrorInvalidValue;
    memset(d, 0, sizeof *d);
    d->resType = (CUresourcetype)t->type;
    if (t->type == CUD_RES_ARRAY)
        d->res.array.hArray = t->array;
    else if (t->type == CUD_RES_MIPMAP)
        d->res.mipmap.hMipmappedArray = t->mipmap;
    else {
        d->res.linear.devPtr = t->addr;
        d->res.linear.format = (CUarray_format)t->format;
        d->res.linear.numChannels = t->channels;
    }
    if (t->type == CUD_RES_LINEAR)
        d->res.linear.sizeInBytes = t->size;
    if (t->type == CUD_RES_PITCH2D) {
        d->res.pitch2D.width = t->width;
        d->res.pitch2D.height = t->height;
        d->res.pitch2D.pitchInBytes = t->pitch;
    }
    return cudaSuccess;
}

CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC *desc, CUtexObject object) {
    DRIVER(CUD_CONTEXT, get_resource(desc, object));
}

CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC *desc, CUsurfObject object) {
    DRIVER(CUD_CONTEXT, get_resource(desc, object));
}

static int get_sampler(CUDA_TEXTURE_DESC *d, uint64_t object) {
    struct cud_tex *t = cud_tex_get(object);
    if (!d || !t)
        return cudaErrorInvalidValue;
    *d = (CUDA_TEXTURE_DESC){
        .filterMode = (CUfilter_mode)t->filter,
        .flags = t->flags,
        .maxAnisotropy = t->anisotropy,
        .mipmapFilterMode = (CUfilter_mode)t->mip_filter,
        .mipmapLevelBias = t->mip_bias,
        .minMipmapLevelClamp = t->mip_min,
        .maxMipmapLevelClamp = t->mip_max,
    };
    for (int i = 0; i < 3; i++)
        d->addressMode[i] = (CUaddress_mode)t->address[i];
    memcpy(d->borderColor, t->border, sizeof d->borderColor);
    return cudaSuccess;
}

CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC *desc, CUtexObject object) {
    DRIVER(CUD_CONTEXT, get_sampler(desc, object));
}

static int get_view(CUDA_RESOURCE_VIEW_DESC *d, uint64_t object) {
    struct cud_tex *t = cud_tex_get(object);
    if (!d || !t || !t->has_view)
        return cudaErrorInvalidValue;
    memcpy(d, t->view, sizeof *d);
    return cudaSuccess;
}

CUresult cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC *desc, CUtexObject object) {
    DRIVER(CUD_CONTEXT, get_view(desc, object));
}
