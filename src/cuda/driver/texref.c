/* libcuda: module-scope texture and surface references. Every change takes effect for the next launch. */
#include <stdlib.h>

#include "cuda/driver/driver.h"

static struct CUtexref_st *live(CUtexref ref) {
    return cud_object_get(ref, CUD_TEXREF);
}

/* Runs the statements on a live reference r. */
#define TEXREF(ref, ...)                                                                                     \
    do {                                                                                                     \
        int error_ = cud_begin_driver(CUD_CONTEXT);                                                          \
        struct CUtexref_st *r = error_ ? NULL : live((CUtexref)(ref));                                       \
        if (!error_ && !r)                                                                                   \
            error_ = cudaErrorInvalidResourceHandle;                                                         \
        if (!error_) {                                                                                       \
            __VA_ARGS__                                                                                      \
        }                                                                                                    \
        return (CUresult)cud_end_driver(error_);                                                             \
    } while (0)

/* The same, then makes kernels see the change. */
#define TEXREF_SET(ref, ...) TEXREF(ref, __VA_ARGS__ if (r->bound) error_ = cud_texref_update(r);)

CUresult cuTexRefSetArray(CUtexref ref, CUarray array, unsigned int flags) {
    (void)flags;
    TEXREF_SET(ref, r->tex.type = CUD_RES_ARRAY; r->tex.array = array; r->bound = array != NULL;);
}

CUresult cuTexRefSetMipmappedArray(CUtexref ref, CUmipmappedArray mip, unsigned int flags) {
    (void)flags;
    TEXREF_SET(ref, r->tex.type = CUD_RES_MIPMAP; r->tex.mipmap = mip; r->bound = mip != NULL;);
}

CUresult cuTexRefSetAddress(size_t *offset, CUtexref ref, CUdeviceptr ptr, size_t bytes) {
    TEXREF_SET(ref, r->tex.type = CUD_RES_LINEAR; r->tex.addr = ptr; r->tex.size = bytes; r->bound = ptr != 0;
               if (offset) *offset = 0;);
}

CUresult cuTexRefSetAddress2D(CUtexref ref, const CUDA_ARRAY_DESCRIPTOR *desc, CUdeviceptr ptr,
                              size_t pitch) {
    if (!desc)
        return CUDA_ERROR_INVALID_VALUE;
    TEXREF_SET(ref, r->tex.type = CUD_RES_PITCH2D; r->tex.addr = ptr;
               r->tex.format = (enum cud_format)desc->Format; r->tex.channels = desc->NumChannels;
               r->tex.width = desc->Width; r->tex.height = desc->Height; r->tex.pitch = pitch;
               r->bound = ptr != 0;);
}
#undef cuTexRefSetAddress2D
DRIVER_SAME(cuTexRefSetAddress2D_v3, cuTexRefSetAddress2D_v2);

CUresult cuTexRefSetFormat(CUtexref ref, CUarray_format format, int channels) {
    TEXREF_SET(ref, r->tex.format = (enum cud_format)format; r->tex.channels = (unsigned)channels;);
}

CUresult cuTexRefSetAddressMode(CUtexref ref, int dim, CUaddress_mode mode) {
    if (dim < 0 || dim > 2)
        return CUDA_ERROR_INVALID_VALUE;
    TEXREF_SET(ref, r->tex.address[dim] = (int)mode;);
}

CUresult cuTexRefSetFilterMode(CUtexref ref, CUfilter_mode mode) {
    TEXREF_SET(ref, r->tex.filter = (int)mode;);
}

CUresult cuTexRefSetMipmapFilterMode(CUtexref ref, CUfilter_mode mode) {
    TEXREF_SET(ref, r->tex.mip_filter = (int)mode;);
}

CUresult cuTexRefSetMipmapLevelBias(CUtexref ref, float bias) {
    TEXREF_SET(ref, r->tex.mip_bias = bias;);
}

CUresult cuTexRefSetMipmapLevelClamp(CUtexref ref, float min, float max) {
    TEXREF_SET(ref, r->tex.mip_min = min; r->tex.mip_max = max;);
}

CUresult cuTexRefSetMaxAnisotropy(CUtexref ref, unsigned int n) {
    TEXREF_SET(ref, r->tex.anisotropy = n;);
}

CUresult cuTexRefSetBorderColor(CUtexref ref, float *color) {
    if (!color)
        return CUDA_ERROR_INVALID_VALUE;
    TEXREF_SET(ref, memcpy(r->tex.border, color, sizeof r->tex.border););
}

CUresult cuTexRefSetFlags(CUtexref ref, unsigned int flags) {
    TEXREF_SET(ref, r->tex.flags = flags;);
}

CUresult cuTexRefGetAddress(CUdeviceptr *ptr, CUtexref ref) {
    TEXREF(ref, if (!ptr || !r->bound || r->tex.type < CUD_RES_LINEAR) error_ = cudaErrorInvalidValue;
           else *ptr = r->tex.addr;);
}

CUresult cuTexRefGetArray(CUarray *array, CUtexref ref) {
    TEXREF(ref, if (!array || !r->bound || r->tex.type != CUD_RES_ARRAY) error_ = cudaErrorInvalidValue;
           else *array = r->tex.array;);
}

CUresult cuTexRefGetMipmappedArray(CUmipmappedArray *mip, CUtexref ref) {
    TEXREF(ref, if (!mip || !r->bound || r->tex.type != CUD_RES_MIPMAP) error_ = cudaErrorInvalidValue;
           else *mip = r->tex.mipmap;);
}

#define TEXREF_GET(name, type, field)                                                                        \
    CUresult name(type *out, CUtexref ref) {                                                                 \
        TEXREF(ref, if (!out) error_ = cudaErrorInvalidValue; else *out = (type)r->tex.field;);              \
    }

TEXREF_GET(cuTexRefGetFilterMode, CUfilter_mode, filter)
TEXREF_GET(cuTexRefGetMipmapFilterMode, CUfilter_mode, mip_filter)
TEXREF_GET(cuTexRefGetMipmapLevelBias, float, mip_bias)
TEXREF_GET(cuTexRefGetMaxAnisotropy, int, anisotropy)
TEXREF_GET(cuTexRefGetFlags, unsigned, flags)

CUresult cuTexRefGetAddressMode(CUaddress_mode *mode, CUtexref ref, int dim) {
    if (!mode || dim < 0 || dim > 2)
        return CUDA_ERROR_INVALID_VALUE;
    TEXREF(ref, *mode = (CUaddress_mode)r->tex.address[dim];);
}

CUresult cuTexRefGetFormat(CUarray_format *format, int *channels, CUtexref ref) {
    TEXREF(ref, if (format) *format = (CUarray_format)r->tex.format;
           if (channels) *channels = (int)r->tex.channels;);
}

CUresult cuTexRefGetMipmapLevelClamp(float *min, float *max, CUtexref ref) {
    TEXREF(ref, if (min) *min = r->tex.mip_min; if (max) *max = r->tex.mip_max;);
}

CUresult cuTexRefGetBorderColor(float *color, CUtexref ref) {
    if (!color)
        return CUDA_ERROR_INVALID_VALUE;
    TEXREF(ref, memcpy(color, r->tex.border, sizeof r->tex.border););
}

static int create(CUtexref *ref) {
    if (!ref)
        return cudaErrorInvalidValue;
    *ref = cud_object_new(CUD_TEXREF, sizeof **ref, NULL);
    return cudaSuccess;
}

CUresult cuTexRefCreate(CUtexref *ref) {
    DRIVER(CUD_CONTEXT, create(ref));
}

CUresult cuTexRefDestroy(CUtexref ref) {
    TEXREF(ref, if (r->module) error_ = cudaErrorInvalidValue; else cud_object_free(r););
}

CUresult cuSurfRefSetArray(CUsurfref ref, CUarray array, unsigned int flags) {
    (void)flags;
    TEXREF_SET(ref, r->tex.type = CUD_RES_ARRAY; r->tex.array = array; r->surface = true;
               r->bound = array != NULL;);
}

CUresult cuSurfRefGetArray(CUarray *array, CUsurfref ref) {
    TEXREF(ref, if (!array || !r->bound) error_ = cudaErrorInvalidValue; else *array = r->tex.array;);
}

CUresult cuParamSetTexRef(CUfunction func, int unit, CUtexref ref) {
    (void)unit;
    TEXREF(ref, if (!cud_object_get(func, CUD_FUNC)) error_ = cudaErrorInvalidResourceHandle;);
}
