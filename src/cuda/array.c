/* CUDA arrays: texels in rows, for textures and surfaces. The layout is plain rows, since nothing but the
 * simulator ever sees it; their number is rounded up to whole tiles, so that the timed machine can tell where
 * a GPU would keep them. */
#include <stdlib.h>

#include "cuda/work.h"

#define ROW_ALIGN 64 /* width of a tile in bytes, and its height in rows */
#define TILE_ROWS 8

size_t cud_format_bytes(enum cud_format f) {
    switch (f) {
    case CUD_U8:
    case CUD_S8:
        return 1;
    case CUD_U16:
    case CUD_S16:
    case CUD_HALF:
        return 2;
    case CUD_U32:
    case CUD_S32:
    case CUD_FLOAT:
        return 4;
    }
    return 0;
}

size_t cud_texel_bytes(const struct cud_array_shape *s) {
    return cud_format_bytes(s->format) * s->channels;
}

static bool shape_ok(const struct cud_array_shape *s) {
    bool channels = s->channels == 1 || s->channels == 2 || s->channels == 4;
    bool layered = s->flags & CUD_ARRAY_LAYERED;
    bool cube = s->flags & CUD_ARRAY_CUBEMAP;
    if (!channels || !cud_format_bytes(s->format) || s->width == 0)
        return false;
    if (s->width > 1 << 27 || s->height > 1 << 17 || s->depth > 1 << 15)
        return false;
    if (cube && (s->width != s->height || (layered ? s->depth % 6 != 0 || !s->depth : s->depth != 6)))
        return false;
    return layered ? s->depth > 0 : s->depth == 0 || s->height > 0;
}

int cud_array_create(struct CUarray_st **out, const struct cud_array_shape *shape) {
    if (!shape_ok(shape))
        return cudaErrorInvalidValue;
    size_t rows = shape->height > 1 ? (shape->height + TILE_ROWS - 1) / TILE_ROWS * TILE_ROWS : 1;
    size_t planes = shape->depth ? shape->depth : 1, total;
    size_t pitch = (shape->width * cud_texel_bytes(shape) + ROW_ALIGN - 1) / ROW_ALIGN * ROW_ALIGN;
    if (__builtin_mul_overflow(pitch * rows, planes, &total))
        return cudaErrorMemoryAllocation;
    uint64_t addr;
    int error = cud_mem_alloc(&addr, total, RP_MEM_ARRAY, 0);
    if (error)
        return error;
    struct CUarray_st *a = cud_object_new(CUD_ARRAY, sizeof *a, cud_current());
    a->shape = *shape;
    a->addr = addr;
    a->pitch = pitch;
    a->slice = pitch * rows;
    *out = a;
    return cudaSuccess;
}

int cud_array_destroy(struct CUarray_st *a) {
    rp_mem_free(cud.gpu, a->addr);
    cud_object_free(a);
    return cudaSuccess;
}

static size_t halved(size_t n) {
    return n > 1 ? n / 2 : n;
}

int cud_mipmap_create(struct CUmipmap_st **out, const struct cud_array_shape *shape, unsigned levels) {
    struct CUmipmap_st *m = cud_object_new(CUD_MIPMAP, sizeof *m, cud_current());
    unsigned most = sizeof m->level / sizeof *m->level;
    struct cud_array_shape s = *shape;
    bool layers = s.flags & (CUD_ARRAY_LAYERED | CUD_ARRAY_CUBEMAP);
    levels = levels < 1 ? 1 : levels > most ? most : levels;
    for (m->levels = 0; m->levels < levels; m->levels++) {
        int error = cud_array_create(&m->level[m->levels], &s);
        if (error) {
            cud_mipmap_destroy(m);
            return error;
        }
        m->level[m->levels]->parent = m;
        if (s.width <= 1 && s.height <= 1 && (layers || s.depth <= 1)) {
            m->levels++;
            break;
        }
        s.width = halved(s.width);
        s.height = halved(s.height);
        s.depth = layers ? s.depth : halved(s.depth);
    }
    *out = m;
    return cudaSuccess;
}

int cud_mipmap_destroy(struct CUmipmap_st *m) {
    for (unsigned i = 0; i < m->levels; i++)
        cud_array_destroy(m->level[i]);
    cud_object_free(m);
    return cudaSuccess;
}
