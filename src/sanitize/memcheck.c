/* memcheck: every access must lie in one live allocation and be aligned, in shared memory inside what the
 * block has, in local memory inside what the thread has. A wrong access is reported and left out: loads give
 * zero.
 *
 * While it is on, allocations stand apart, with red zones between them, and freed addresses are not given out
 * again for as long as possible (exec/memory.h), so that what is beside an allocation, or was one, is never
 * another. */
#include <inttypes.h>

#include "exec/texture_ops.h"
#include "sanitize/tool.h"

enum wrong {
    RIGHT,
    MISALIGNED,
    OUTSIDE,
    IN_ARRAY,
    IN_CONSTANT,
    IN_DRIVER,
    TEXTURE_GONE,
    TEXTURE_HANDLE,
    SURFACE_RANGE,
    FREED
};
enum space { GLOBAL, SHARED, LOCAL, TEXTURE, SURFACE };
static const char *const space_names[] = {"__global__", "__shared__", "__local__", "texture", "surface"};

static const char *verb(const struct access *a) {
    return a->atomic ? "atomic" : a->write ? "write" : "read";
}

/* The first lines of a finding; NULL when it is not the first of its kind here. */
static struct str *begin(struct sanitizer *s, const struct access *a, enum space space, enum wrong wrong,
                         uint32_t bytes, uint32_t lane) {
    s->wrong_access = true;
    struct finding *f = finding_add(s,
                                    (uint64_t)RP_MEMCHECK << 48 | (uint64_t)space << 40 |
                                        (uint64_t)wrong << 36 | (uint64_t)a->write << 32 | a->pc,
                                    false);
    if (!f)
        return NULL;
    struct str *text = &f->text;
    str_printf(text, "========= Invalid %s %s", space_names[space], verb(a));
    str_printf(text, bytes ? " of size %u bytes\n" : "\n", bytes);
    finding_place(a, lane, text);
    return text;
}

static const struct rp_alloc *freed_at(const struct memory *m, uint64_t addr) {
    for (uint32_t i = m->freed.len; i-- > 0;)
        if (addr - m->freed.at[i].addr < m->freed.at[i].size)
            return &m->freed.at[i];
    return NULL;
}

/* The allocation that is nearest to an address outside all; NULL when there is none. */
static const struct rp_alloc *nearest(const struct memory *m, uint64_t addr, uint64_t *distance,
                                      bool *after) {
    const struct rp_alloc *best = NULL;
    for (uint32_t i = 0; i < m->allocs.len; i++) {
        const struct rp_alloc *a = &m->allocs.at[i];
        if (a->kind == RP_MEM_DRIVER)
            continue;
        bool behind = addr >= a->addr;
        uint64_t d = behind ? addr - a->addr : a->addr - addr;
        d = behind && d >= a->size ? d - a->size + 1 : behind ? 0 : d;
        if (best && d >= *distance)
            continue;
        best = a;
        *distance = d;
        *after = behind;
    }
    return best;
}

static void describe_address(struct sanitizer *s, uint64_t addr, uint32_t bytes, struct str *text) {
    uint64_t distance = 0;
    bool after = false;
    const struct rp_alloc *a = nearest(s->mem, addr, &distance, &after), *freed = freed_at(s->mem, addr);
    str_printf(text, "=========     Address 0x%" PRIx64 " is out of bounds\n", addr);
    if (freed) {
        str_printf(text,
                   "=========     and is inside an allocation at 0x%" PRIx64
                   " of size %zu bytes that was freed\n",
                   freed->addr, freed->size);
    } else if (a && !distance) {
        str_printf(text,
                   "=========     and its last %" PRIu64
                   " bytes are after the nearest allocation at 0x%" PRIx64 " of size %zu bytes\n",
                   addr + bytes - (a->addr + a->size), a->addr, a->size);
    } else if (a) {
        str_printf(text,
                   "=========     and is %" PRIu64 " bytes %s the nearest allocation at 0x%" PRIx64
                   " of size %zu bytes\n",
                   distance, after ? "after" : "before", a->addr, a->size);
    }
    const struct kept *k = a ? kept_find(s, a->addr) : NULL;
    if (k && !freed)
        describe_trace(s, &k->at, "allocation time", text);
}

static void report_global(struct sanitizer *s, const struct access *a, uint32_t lane, enum wrong wrong) {
    struct str *text = begin(s, a, GLOBAL, wrong, a->t.bytes, lane);
    uint64_t addr = a->t.at[lane];
    if (!text)
        return;
    switch (wrong) {
    case MISALIGNED:
        str_printf(text, "=========     Address 0x%" PRIx64 " is misaligned\n", addr);
        break;
    case IN_ARRAY:
        str_printf(text,
                   "=========     Address 0x%" PRIx64
                   " is inside a CUDA array, which only textures and surfaces can access\n",
                   addr);
        break;
    case IN_CONSTANT:
        str_printf(text, "=========     Address 0x%" PRIx64 " is inside constant memory\n", addr);
        break;
    case IN_DRIVER:
        str_printf(text, "=========     Address 0x%" PRIx64 " is inside memory of the driver\n", addr);
        break;
    default:
        describe_address(s, addr, a->t.bytes, text);
    }
    finding_end(s, text);
}

/* Whether the access may touch memory of that kind; what the driver keeps there is for special uses. */
static enum wrong allowed(const struct access *a, const struct rp_alloc *in, uint64_t addr) {
    uint64_t constants = (uintptr_t)a->x->bank[BANK_CONST];
    if (in->kind == RP_MEM_ARRAY)
        return IN_ARRAY;
    if (in->kind == RP_MEM_DRIVER) { /* parameters can be read, and grids synchronise through the workspace */
        uint64_t params, env;
        __builtin_memcpy(&params, a->x->bank[BANK_PARAM] + PARAM_BLOCK, 8);
        __builtin_memcpy(&env, a->x->bank[BANK_PARAM] + PARAM_ENVREG, 8);
        bool parameter =
            !a->write && addr >= params && addr + a->t.bytes <= params + a->x->bank_bytes[BANK_PARAM];
        return parameter || (env && in->addr == env) ? RIGHT : IN_DRIVER;
    }
    return a->write && constants && in->addr == constants ? IN_CONSTANT : RIGHT;
}

static enum wrong check_global(struct sanitizer *s, const struct access *a, uint32_t lane) {
    uint64_t addr = a->t.at[lane];
    if (addr & ((a->t.bytes & -a->t.bytes) - 1) && a->i->kind != X_LDGSTS)
        return MISALIGNED;
    if (addr - s->at.addr >= s->at.size) {
        const struct rp_alloc *found = memory_find(s->mem, addr);
        if (!found)
            return OUTSIDE;
        s->at = *found;
    }
    if (s->at.size - (addr - s->at.addr) < a->t.bytes)
        return OUTSIDE;
    return allowed(a, &s->at, addr);
}

/* All lanes inside the allocation that was hit last, which any access may touch? */
static bool all_right(const struct sanitizer *s, const struct access *a) {
    const struct rp_alloc *h = &s->at;
    if (h->size < a->t.bytes || h->kind == RP_MEM_ARRAY || h->kind == RP_MEM_DRIVER ||
        h->kind == RP_MEM_MODULE || a->i->kind == X_LDGSTS)
        return false;
    uint64_t limit = h->size - a->t.bytes, low = 0, bad = 0;
    for (uint32_t l = 0; l < WARP_LANES; l++) { /* lanes that do not take part have another's address */
        uint64_t off = a->t.at[l] - h->addr;
        bad |= off > limit;
        low |= a->t.at[l];
    }
    return !bad && !(low & (a->t.bytes - 1));
}

static uint32_t access_global(struct sanitizer *s, const struct access *a, uint32_t m) {
    uint32_t ok = 0;
    if (!a->t.shared && !a->t.local && all_right(s, a))
        return m;
    for (uint32_t left = m; left; left &= left - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(left);
        enum wrong wrong = check_global(s, a, l);
        if (wrong == RIGHT)
            ok |= 1u << l;
        else
            report_global(s, a, l, wrong);
    }
    return ok;
}

/* Shared and local memory: offsets into pieces of a size that is known. */
static void report_piece(struct sanitizer *s, const struct access *a, uint32_t lane, enum space space,
                         enum wrong wrong, uint64_t size) {
    uint64_t at = a->t.at[lane];
    struct str *text = begin(s, a, space, wrong, a->t.bytes, lane);
    if (!text)
        return;
    if (wrong == MISALIGNED)
        str_printf(text, "=========     Address 0x%" PRIx64 " is misaligned\n", at);
    else
        str_printf(text,
                   "=========     Access to 0x%" PRIx64 " is out of bounds\n"
                   "=========     and is %" PRIu64 " bytes after the %s memory of size %" PRIu64 " bytes\n",
                   at, at < size ? 0 : at - size + 1, space == SHARED ? "block's shared" : "thread's local",
                   size);
    finding_end(s, text);
}

static uint32_t access_piece(struct sanitizer *s, const struct access *a, uint32_t m, enum space space,
                             uint64_t size) {
    uint32_t ok = 0, bytes = a->t.bytes;
    for (uint32_t left = m; left; left &= left - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(left);
        uint64_t at = a->t.at[l];
        enum wrong wrong = at & ((bytes & -bytes) - 1) && a->i->kind != X_LDGSTS ? MISALIGNED
                           : at > size || size - at < bytes                      ? OUTSIDE
                                                                                 : RIGHT;
        if (wrong == RIGHT)
            ok |= 1u << l;
        else
            report_piece(s, a, l, space, wrong, size);
    }
    return ok;
}

/* Local memory that the access may touch. Behind the variables of a kernel stand spilled registers, which the
 * compiler's own code alone touches, at fixed places; with calls, or what the kernel allocates
 * at run time, more follows. */
static uint64_t local_size(const struct access *a) {
    const struct program *p = a->x->img->prog;
    const struct opd *base = &a->i->in->src[0];
    bool fixed = base->kind == O_REG && base->v == VREG_RZ && a->i->in->m.space == MS_LOCAL;
    const struct fn *kernel = p->fns.at[0];
    bool alone = p->fns.len == 1 && !kernel->calls && !kernel->outgoing && !p->recursive;
    return alone && !fixed ? kernel->vars : a->x->local_bytes;
}

uint32_t memcheck_access(struct sanitizer *s, const struct access *a) {
    uint32_t ok = 0;
    if (a->t.global)
        ok |= access_global(s, a, a->t.global);
    if (a->t.shared) { /* without dynamic memory nothing but padding follows the last variable */
        uint64_t size = a->x->shared_dynamic ? a->x->shared_static + a->x->shared_dynamic
                                             : a->x->img->prog->shared_static;
        ok |= access_piece(s, a, a->t.shared, SHARED, size);
    }
    if (a->t.local)
        ok |= access_piece(s, a, a->t.local, LOCAL, local_size(a));
    return ok;
}

/* ---- textures ---- */

static void report_texture(struct sanitizer *s, const struct access *a, uint32_t lane, enum wrong wrong,
                           const struct rp_tex_desc *t, uint64_t handle) {
    bool surface = a->i->in->op != OP_TEX;
    uint32_t bytes = t && !surface ? tex_texel_bytes(t) : (uint32_t)a->i->in->m.size * a->i->in->m.vec;
    struct str *text = begin(s, a, surface ? SURFACE : TEXTURE, wrong, bytes, lane);
    if (!text)
        return;
    if (wrong == TEXTURE_HANDLE)
        str_printf(text, "=========     0x%" PRIx64 " is no %s object\n", handle,
                   space_names[surface ? SURFACE : TEXTURE]);
    else if (wrong == SURFACE_RANGE)
        str_printf(text,
                   "=========     The coordinates are outside of the surface of %u x %u x %u elements\n",
                   tex_extent(t, 0), tex_extent(t, 1), tex_extent(t, 2));
    else
        describe_address(s, t->addr, bytes, text);
    finding_end(s, text);
}

/* Whether the memory behind a texture is one live allocation's. */
static bool is_backed(const struct sanitizer *s, const struct rp_tex_desc *t) {
    const struct rp_alloc *in = memory_find(s->mem, t->addr);
    return in && in->size - (t->addr - in->addr) >= tex_memory_bytes(t);
}

uint32_t memcheck_texture(struct sanitizer *s, const struct access *a, uint32_t m) {
    uint32_t ok = m, same;
    uint64_t handle;
    for (uint32_t left = m; left; left &= ~same) {
        const struct rp_tex_desc *t = exec_next_texture(a->x, a->w, a->i, left, &handle, &same);
        enum wrong wrong = !t ? TEXTURE_HANDLE : !is_backed(s, t) ? TEXTURE_GONE : SURFACE_RANGE;
        uint32_t bad = wrong == SURFACE_RANGE ? exec_surface_outside(a->x, a->w, a->i, t, same) : same;
        for (uint32_t lanes = bad; lanes; lanes &= lanes - 1)
            report_texture(s, a, (uint32_t)__builtin_ctz(lanes), wrong, t, handle);
        ok &= ~bad;
    }
    return ok;
}

/* ---- allocations ---- */

bool memcheck_free(struct sanitizer *s, const struct access *a, uint32_t lane, uint64_t addr) {
    const struct rp_alloc *in = memory_find(s->mem, addr), *freed = freed_at(s->mem, addr);
    if (in && in->addr == addr && in->flags == MEM_DEVICE_HEAP)
        return true;
    s->wrong_access = true;
    struct finding *f = finding_add(s, (uint64_t)RP_MEMCHECK << 48 | (uint64_t)FREED << 36 | a->pc, false);
    if (!f)
        return false;
    struct str *text = &f->text;
    bool twice = !in && freed && freed->addr == addr;
    str_printf(text, "========= Malloc/Free Error encountered : Device-side %s\n",
               twice ? "double free" : "invalid free");
    finding_place(a, lane, text);
    str_printf(text, "=========     Address 0x%" PRIx64 " is ", addr);
    memory_describe(s->mem, addr, text);
    str_printf(text, "\n");
    finding_end(s, text);
    return false;
}

/* What the simulator or a module allocated belongs to nobody who could free it. */
static bool is_leak(const struct rp_alloc *a, const struct kept *k, const void *owner) {
    return k && (owner ? a->user == owner : a->user || k->device);
}

void memcheck_leaks(struct sanitizer *s, const void *owner) {
    static const char *const kinds[] = {[RP_MEM_ARRAY] = " in a CUDA array",
                                        [RP_MEM_HOST] = " of pinned host memory",
                                        [RP_MEM_MANAGED] = " of managed memory",
                                        [RP_MEM_DRIVER] = NULL};
    for (uint32_t i = 0; i < s->mem->allocs.len; i++) {
        const struct rp_alloc *a = &s->mem->allocs.at[i];
        struct kept *k = map_get_u64(&s->kept, a->addr);
        if (!is_leak(a, k, owner))
            continue;
        struct str text = {0};
        const char *kind = k->device ? " on the device heap" : kinds[k->kind];
        str_printf(&text, "========= Leaked %zu bytes at 0x%" PRIx64 "%s\n", a->size, a->addr,
                   kind ? kind : "");
        describe_trace(s, &k->at, "allocation time", &text);
        finding_alone(s, &text);
        str_free(&text);
        s->leaked_bytes += a->size;
        s->leaks++;
    }
}
