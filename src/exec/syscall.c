/* What the device runtime provides: printf, malloc, free, assert; launches have a file of their own. */
#include "exec/syscall.h"

#include <string.h>

#include "exec/format.h"
#include "exec/watch.h"

enum { MAX_ARGS = 1024 };

/* The host's place of a byte at a generic address, or NULL. */
static uint8_t *place(const struct caller *c, uint64_t a) {
    uint32_t low = (uint32_t)a;
    if (a >> 32 == WINDOW_HI && low >= LOCAL_WINDOW && low < LOCAL_END) {
        low -= LOCAL_WINDOW;
        return low < c->x->local_bytes ? exec_local(c->w, low, c->lane) : NULL;
    }
    if (a >> 32 == WINDOW_HI && low >= SHARED_WINDOW && low < LOCAL_WINDOW)
        return cluster_shared(c->w->cta, low - SHARED_WINDOW, 1);
    return exec_global(c->x, a, 1);
}

bool caller_read(const struct caller *c, uint64_t addr, void *to, uint32_t bytes) {
    for (uint32_t k = 0; k < bytes; k++) {
        const uint8_t *p = place(c, addr + k);
        if (!p)
            return false;
        ((uint8_t *)to)[k] = *p;
    }
    return true;
}

bool caller_write(const struct caller *c, uint64_t addr, const void *from, uint32_t bytes) {
    for (uint32_t k = 0; k < bytes; k++) {
        uint8_t *p = place(c, addr + k);
        if (!p)
            return false;
        *p = ((const uint8_t *)from)[k];
    }
    return true;
}

static const char *read_string(void *ctx, uint64_t addr, size_t *len) {
    struct caller *c = ctx;
    size_t n = 0;
    uint8_t b;
    if (!caller_read(c, addr, &b, 1))
        return NULL;
    while (n < SYS_MAX_STRING && caller_read(c, addr + n, &b, 1) && b)
        c->text[n++] = (char)b;
    c->text[n] = 0;
    if (len)
        *len = n;
    return c->text;
}

uint64_t caller_value(const struct caller *c, uint64_t offset, uint32_t bytes) {
    uint64_t v = 0;
    for (uint32_t k = 0; k < bytes && c->at + offset + k < c->x->local_bytes; k++)
        v |= (uint64_t) * (uint8_t *)exec_local(c->w, c->at + offset + k, c->lane) << (8 * k);
    return v;
}

void caller_return(const struct caller *c, uint64_t v, uint32_t bytes) {
    for (uint32_t k = 0; k < bytes && c->at + k < c->x->local_bytes; k++)
        *(uint8_t *)exec_local(c->w, c->at + k, c->lane) = (uint8_t)(v >> (8 * k));
}

/* A pointer argument. */
static uint64_t pointer(const struct caller *c, uint64_t offset) {
    uint64_t p = caller_value(c, offset, c->ptr);
    return c->ptr == 8 ? p : (uint64_t)WINDOW_HI << 32 | p;
}

/* Device printf returns the number of arguments, not of characters. */
static uint32_t count_conversions(const char *f) {
    uint32_t n = 0;
    for (; *f; f++) {
        if (*f != '%')
            continue;
        if (f[1] == '%')
            f++;
        else if (f[1])
            n++;
    }
    return n;
}

static void do_printf(struct caller *c) {
    uint64_t args = pointer(c, 2 * c->ptr);
    uint8_t buf[MAX_ARGS];
    size_t n = 0;
    while (n < MAX_ARGS && caller_read(c, args + n, &buf[n], 1))
        n++;
    char fmt[SYS_MAX_STRING + 1];
    const char *f = read_string(c, pointer(c, c->ptr), NULL);
    strcpy(fmt, f ? f : "");
    if (f && c->x->out->len < c->x->out_limit)
        format_device(c->x->out, fmt, buf, n, read_string, c);
    caller_return(c, f ? count_conversions(fmt) : 0xffffffffu, 4);
}

static void do_malloc(struct caller *c) {
    struct exec *x = c->x;
    uint64_t size = caller_value(c, c->ptr, c->ptr), addr = 0;
    if (size && size <= x->heap_limit && *x->heap_used <= x->heap_limit - size) {
        addr = memory_alloc(x->mem, size, RP_MEM_DEVICE);
        x->hint = (struct mem_hints){0}; /* what is mapped has changed */
        if (addr) {
            memory_find(x->mem, addr)->flags = MEM_DEVICE_HEAP;
            *x->heap_used += size;
            if (x->watch)
                x->watch->allocated(x->watch, x, c->w, c->i, c->lane, addr);
        }
    }
    caller_return(c, addr, c->ptr);
}

static bool do_free(struct caller *c) {
    struct exec *x = c->x;
    uint64_t addr = pointer(c, 0);
    if (!caller_value(c, 0, c->ptr))
        return true;
    if (x->watch && !x->watch->freeing(x->watch, x, c->w, c->i, c->lane, addr))
        return true;
    const struct rp_alloc *a = memory_find(x->mem, addr);
    if (!a || a->addr != addr || a->flags != MEM_DEVICE_HEAP)
        return exec_fault(x, c->w, c->i, RP_ILLEGAL_ADDRESS, c->lane, addr, 0, MS_GLOBAL);
    *x->heap_used -= a->size;
    memory_free(x->mem, addr);
    x->hint = (struct mem_hints){0};
    return true;
}

static bool do_assert(struct caller *c) {
    const struct exec *x = c->x;
    const struct cta *b = c->w->cta;
    char msg[SYS_MAX_STRING + 1] = "", file[SYS_MAX_STRING + 1] = "", func[SYS_MAX_STRING + 1] = "";
    uint32_t after_line = c->ptr == 8 ? 24 : 12;
    struct {
        char *to;
        uint64_t at;
    } parts[] = {{msg, 0}, {file, c->ptr}, {func, after_line}};
    for (int k = 0; k < 3; k++) {
        const char *s = read_string(c, pointer(c, parts[k].at), NULL);
        if (s)
            strcpy(parts[k].to, s);
    }
    uint32_t t = c->w->index * WARP_LANES + c->lane, line = (uint32_t)caller_value(c, 2 * c->ptr, 4);
    str_printf(x->err, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n", file,
               line, func, b->id[0], b->id[1], b->id[2], t % x->block[0], t / x->block[0] % x->block[1],
               t / (x->block[0] * x->block[1]), msg);
    return exec_fault(c->x, c->w, c->i, RP_ASSERT, c->lane, 0, 0, MS_GENERIC);
}

/* A handle of a graph's conditional node is the address of its value. */
static bool do_set_conditional(struct caller *c) {
    uint64_t handle = caller_value(c, 0, 8);
    uint32_t value = (uint32_t)caller_value(c, 8, 4);
    void *p = handle % sizeof value ? NULL : exec_global(c->x, handle, sizeof value);
    if (!p)
        return exec_fault(c->x, c->w, c->i, RP_ILLEGAL_ADDRESS, c->lane, handle, sizeof value, MS_GLOBAL);
    memcpy(p, &value, sizeof value);
    return true;
}

static bool run_call(struct caller *c) {
    switch ((enum sys_call)c->i->in->m.mode) {
    case SYS_VPRINTF:
        do_printf(c);
        return true;
    case SYS_MALLOC:
        do_malloc(c);
        return true;
    case SYS_FREE:
        return do_free(c);
    case SYS_ASSERTFAIL:
        return do_assert(c);
    case SYS_SET_CONDITIONAL:
        return do_set_conditional(c);
    default:
        return runtime_call(c, (enum sys_call)c->i->in->m.mode);
    }
}

bool exec_syscall(struct exec *x, struct warp *w, const struct xinst *i, uint32_t m) {
    const uint32_t *fp = src_lanes(x, w, i->s[0]);
    bool ok = true;
    for (uint32_t l = 0; l < WARP_LANES; l++) {
        if (!(m >> l & 1))
            continue;
        struct caller c = {.x = x, .w = w, .i = i, .lane = l, .ptr = i->in->m.size};
        c.at = fp[l] + (uint64_t)(uint32_t)i->in->imm;
        ok = run_call(&c) && ok;
    }
    return ok;
}
