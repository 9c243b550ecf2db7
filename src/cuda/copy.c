/* Copies and fills. Every copy of both APIs is a box of bytes between two sides, each of them host memory,
 * device memory or an array; a side is checked against the allocation it lies in before a byte moves. */
#include <stdlib.h>
#include <string.h>

#include "cuda/graph.h"
#include "cuda/queue.h"

#define COPY_NS_PER_KB 64 /* about 16 GB/s, the rate of a PCIe 3 link */

/* A side made concrete: where its first byte is and how to step. */
struct box {
    uint8_t *base;
    size_t pitch, slice;
};

static bool in_region(const void *p) {
    return (uintptr_t)p - RP_REGION < RP_REGION_SIZE + RP_RESERVED_SIZE;
}

/* Whether [p, p + bytes) can be read, and written if it must be; or later, when a graph has allocated it. */
static bool reaches(const void *p, size_t bytes, bool write, bool later) {
    uint64_t addr = (uintptr_t)p;
    if (later && cud_graph_mem_holds(addr, bytes))
        return true;
    if (!rp_mem_ptr(cud.gpu, addr, bytes))
        return false;
    const struct rp_alloc *a = cud_mem_find(addr);
    return a->kind != RP_MEM_ARRAY && !(write && a->read_only);
}

/* Bytes from the first to one past the last of the box; false on overflow. */
static bool span(const struct cud_copy *c, const struct box *b, size_t *bytes) {
    size_t rows, planes;
    if (__builtin_mul_overflow(b->pitch, c->height - 1, &rows) ||
        __builtin_mul_overflow(b->slice, c->depth - 1, &planes) ||
        __builtin_add_overflow(rows, planes, &rows) || __builtin_add_overflow(rows, c->width, bytes))
        return false;
    return *bytes <= PTRDIFF_MAX;
}

static int array_box(const struct cud_copy *c, const struct cud_side *s, struct box *b) {
    struct CUarray_st *a = cud_object_get(s->array, CUD_ARRAY);
    if (!a)
        return cudaErrorInvalidResourceHandle;
    size_t row = a->shape.width * cud_texel_bytes(&a->shape);
    size_t rows = a->shape.height ? a->shape.height : 1, planes = a->shape.depth ? a->shape.depth : 1;
    if (s->x > row || c->width > row - s->x || s->y > rows || c->height > rows - s->y || s->z > planes ||
        c->depth > planes - s->z)
        return cudaErrorInvalidValue;
    b->pitch = a->pitch;
    b->slice = a->slice;
    b->base = (uint8_t *)(uintptr_t)a->addr + s->z * a->slice + s->y * a->pitch + s->x;
    return cudaSuccess;
}

static int linear_box(const struct cud_copy *c, const struct cud_side *s, struct box *b, bool later) {
    size_t bytes;
    bool rows = c->height > 1 || c->depth > 1 || s->y || s->z;
    if (!s->ptr)
        return cudaErrorInvalidValue;
    if (rows && s->pitch && s->pitch < c->width)
        return cudaErrorInvalidPitchValue;
    b->pitch = s->pitch ? s->pitch : c->width;
    b->slice = b->pitch * (s->rows ? s->rows : c->height);
    b->base = (uint8_t *)s->ptr + s->z * b->slice + s->y * b->pitch + s->x;
    if (!span(c, b, &bytes))
        return cudaErrorInvalidValue;
    bool device = s->where == CUD_DEV || in_region(b->base);
    if (!device || reaches(b->base, bytes, s == &c->dst, later))
        return cudaSuccess;
    cud_thread()->wrong = (uintptr_t)b->base;
    cud_thread()->wrong_size = bytes;
    return cudaErrorInvalidValue;
}

static int side_box(const struct cud_copy *c, const struct cud_side *s, struct box *b, bool later) {
    return s->where == CUD_ARR ? array_box(c, s, b) : linear_box(c, s, b, later);
}

/* later: it will be done, and checked again, when a graph runs. */
static int boxes(const struct cud_copy *c, struct box *src, struct box *dst, bool later) {
    int error = side_box(c, &c->src, src, later);
    return error ? error : side_box(c, &c->dst, dst, later);
}

static bool empty(const struct cud_copy *c) {
    return !c->width || !c->height || !c->depth;
}

int cud_copy_check(const struct cud_copy *c) {
    struct box src, dst;
    return empty(c) ? cudaSuccess : boxes(c, &src, &dst, true);
}

/* Whether a side is memory of the GPU's own. */
static bool on_device(const struct cud_side *s) {
    if (s->where == CUD_ARR)
        return true;
    const struct rp_alloc *a = in_region(s->ptr) ? cud_mem_find((uintptr_t)s->ptr) : NULL;
    return a && a->kind != RP_MEM_HOST && a->kind != RP_MEM_REGISTERED && a->kind != RP_MEM_MANAGED;
}

int cud_copy_run(const struct cud_copy *c) {
    struct box src, dst;
    if (empty(c))
        return cudaSuccess;
    int error = boxes(c, &src, &dst, false);
    if (error)
        return error;
    for (size_t z = 0; z < c->depth; z++)
        for (size_t y = 0; y < c->height; y++) {
            uint8_t *to = dst.base + z * dst.slice + y * dst.pitch;
            const uint8_t *from = src.base + z * src.slice + y * src.pitch;
            rp_mem_copied(cud.gpu, (uintptr_t)to, (uintptr_t)from, c->width);
            memmove(to, from, c->width);
        }
    static const enum cud_engine engine[2][2] = {{CUD_ENGINES, CUD_ENGINE_TO_DEVICE},
                                                 {CUD_ENGINE_TO_HOST, CUD_ENGINES}};
    cud_spend(engine[on_device(&c->src)][on_device(&c->dst)],
              c->width * c->height * c->depth * COPY_NS_PER_KB / 1024);
    return cudaSuccess;
}

bool cud_copy_within(const struct cud_copy *c) {
    return on_device(&c->src) && on_device(&c->dst);
}

/* Memory of the program that the GPU cannot reach. */
static bool pageable(const struct cud_copy *c, const struct cud_side *s) {
    struct box b;
    return s->where != CUD_ARR && !linear_box(c, s, &b, true) && !in_region(b.base) &&
           !cud_mem_find((uintptr_t)b.base);
}

bool cud_copy_stage(struct cud_copy *c, size_t most, void **staged) {
    struct box b;
    if (empty(c))
        return true;
    if (pageable(c, &c->dst))
        return false;
    if (!pageable(c, &c->src))
        return true;
    size_t bytes = c->width * c->height * c->depth;
    if (bytes > most || linear_box(c, &c->src, &b, true))
        return false;
    uint8_t *to = *staged = xmalloc(bytes);
    for (size_t z = 0; z < c->depth; z++)
        for (size_t y = 0; y < c->height; y++, to += c->width)
            memcpy(to, b.base + z * b.slice + y * b.pitch, c->width);
    c->src = (struct cud_side){.where = c->src.where, .ptr = *staged, .pitch = c->width, .rows = c->height};
    return true;
}

static bool fill_empty(const struct cud_fill *f) {
    return !f->width || !f->height || !f->depth;
}

static int fill_check(const struct cud_fill *f, bool later) {
    struct cud_copy c = {.height = f->height, .depth = f->depth};
    if (fill_empty(f))
        return cudaSuccess;
    if (!f->dst || f->dst % f->elem || __builtin_mul_overflow(f->width, f->elem, &c.width))
        return cudaErrorInvalidValue;
    struct box b = {(uint8_t *)(uintptr_t)f->dst, f->pitch, f->slice};
    size_t bytes;
    if ((f->height > 1 || f->depth > 1) && f->pitch < c.width)
        return cudaErrorInvalidValue;
    return span(&c, &b, &bytes) && reaches(b.base, bytes, true, later) ? cudaSuccess : cudaErrorInvalidValue;
}

int cud_fill_check(const struct cud_fill *f) {
    return fill_check(f, true);
}

static void fill_row(uint64_t addr, uint32_t value, unsigned elem, size_t n) {
    uint8_t *p = (uint8_t *)(uintptr_t)addr;
    rp_mem_written(cud.gpu, addr, n * elem);
    if (elem == 1)
        memset(p, (int)(value & 0xff), n);
    else
        for (size_t i = 0; i < n; i++)
            memcpy(p + i * elem, &value, elem); /* little endian: the low bytes come first */
}

int cud_fill_run(const struct cud_fill *f) {
    int error = fill_check(f, false);
    if (error || fill_empty(f))
        return error;
    for (size_t z = 0; z < f->depth; z++)
        for (size_t y = 0; y < f->height; y++)
            fill_row(f->dst + z * f->slice + y * f->pitch, f->value, f->elem, f->width);
    cud_spend(CUD_ENGINES, f->width * f->elem * f->height * f->depth / 1024);
    return cudaSuccess;
}
