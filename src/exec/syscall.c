/* What the device runtime provides: printf, malloc, free, assert. Arguments lie in local memory behind the
 * caller's frame, as for any other call: the result first, then the parameters. */
#include <string.h>

#include "exec/format.h"
#include "exec/watch.h"

enum { MAX_STRING = 4096, MAX_ARGS = 1024 };

/* A thread whose memory is read. */
struct reader {
    struct exec *x;
    const struct warp *w;
    uint32_t lane;
    char text[MAX_STRING + 1];
};

static bool local_byte(const struct reader *r, uint64_t a, uint8_t *out) {
    if (a >= r->x->local_bytes)
        return false;
    *out = r->w->local[((a >> 2) * WARP_LANES + r->lane) * 4 + (a & 3)];
    return true;
}

/* One byte at a generic address. */
static bool read_byte(const struct reader *r, uint64_t a, uint8_t *out) {
    uint32_t low = (uint32_t)a;
    if (a >> 32 == WINDOW_HI && low >= LOCAL_WINDOW && low < LOCAL_END)
        return local_byte(r, low - LOCAL_WINDOW, out);
    if (a >> 32 == WINDOW_HI && low >= SHARED_WINDOW && low < LOCAL_WINDOW) {
        if (low - SHARED_WINDOW >= r->w->cta->shared_bytes)
            return false;
        *out = r->w->cta->shared[low - SHARED_WINDOW];
        return true;
    }
    const uint8_t *p = exec_global(r->x, a, 1);
    if (p)
        *out = *p;
    return p != NULL;
}

static const char *read_string(void *ctx, uint64_t addr, size_t *len) {
    struct reader *r = ctx;
    size_t n = 0;
    uint8_t c;
    if (!read_byte(r, addr, &c))
        return NULL;
    while (n < MAX_STRING && read_byte(r, addr + n, &c) && c)
        r->text[n++] = (char)c;
    r->text[n] = 0;
    if (len)
        *len = n;
    return r->text;
}

static uint64_t local_value(const struct reader *r, uint64_t at, uint32_t bytes) {
    uint64_t v = 0;
    for (uint32_t k = 0; k < bytes; k++) {
        uint8_t b = 0;
        local_byte(r, at + k, &b);
        v |= (uint64_t)b << (8 * k);
    }
    return v;
}

static void put_local(struct warp *w, uint32_t lane, const struct exec *x, uint64_t at, uint64_t v,
                      uint32_t bytes) {
    for (uint32_t k = 0; k < bytes && at + k < x->local_bytes; k++)
        w->local[(((at + k) >> 2) * WARP_LANES + lane) * 4 + ((at + k) & 3)] = (uint8_t)(v >> (8 * k));
}

static uint64_t pointer(const struct reader *r, uint64_t at, uint32_t bytes) {
    uint64_t p = local_value(r, at, bytes);
    return bytes == 8 ? p : (uint64_t)WINDOW_HI << 32 | p;
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

static void do_printf(struct exec *x, struct warp *w, struct reader *r, uint64_t at, uint32_t ptr) {
    uint64_t args = pointer(r, at + 2 * ptr, ptr);
    uint8_t buf[MAX_ARGS];
    size_t n = 0;
    while (n < MAX_ARGS && read_byte(r, args + n, &buf[n]))
        n++;
    char fmt[MAX_STRING + 1];
    const char *f = read_string(r, pointer(r, at + ptr, ptr), NULL);
    strcpy(fmt, f ? f : "");
    if (f && x->out->len < x->out_limit) {
        format_device(x->out, fmt, buf, n, read_string, r);
    }
    put_local(w, r->lane, x, at, f ? count_conversions(fmt) : 0xffffffffu, 4);
}

static void do_malloc(struct exec *x, struct warp *w, const struct xinst *i, struct reader *r, uint64_t at,
                      uint32_t ptr) {
    uint64_t size = local_value(r, at + ptr, ptr), addr = 0;
    if (size && size <= x->heap_limit && *x->heap_used <= x->heap_limit - size) {
        addr = memory_alloc(x->mem, size, RP_MEM_DEVICE);
        x->hint = (struct mem_span){0}; /* what is mapped has changed */
        if (addr) {
            memory_find(x->mem, addr)->flags = MEM_DEVICE_HEAP;
            *x->heap_used += size;
            if (x->watch)
                x->watch->allocated(x->watch, x, w, i, r->lane, addr);
        }
    }
    put_local(w, r->lane, x, at, addr, ptr);
}

static bool do_free(struct exec *x, struct warp *w, const struct xinst *i, struct reader *r, uint64_t at,
                    uint32_t ptr) {
    uint64_t addr = pointer(r, at, ptr);
    if (!local_value(r, at, ptr))
        return true;
    if (x->watch && !x->watch->freeing(x->watch, x, w, i, r->lane, addr))
        return true;
    const struct rp_alloc *a = memory_find(x->mem, addr);
    if (!a || a->addr != addr || a->flags != MEM_DEVICE_HEAP)
        return exec_fault(x, w, i, RP_ILLEGAL_ADDRESS, r->lane, addr, 0, MS_GLOBAL);
    *x->heap_used -= a->size;
    memory_free(x->mem, addr);
    x->hint = (struct mem_span){0};
    return true;
}

static bool do_assert(struct exec *x, struct warp *w, const struct xinst *i, struct reader *r, uint64_t at,
                      uint32_t ptr) {
    char msg[MAX_STRING + 1] = "", file[MAX_STRING + 1] = "", func[MAX_STRING + 1] = "";
    uint32_t after_line = ptr == 8 ? 24 : 12;
    struct {
        char *to;
        uint64_t at;
    } parts[] = {{msg, at}, {file, at + ptr}, {func, at + after_line}};
    for (int k = 0; k < 3; k++) {
        const char *s = read_string(r, pointer(r, parts[k].at, ptr), NULL);
        if (s)
            strcpy(parts[k].to, s);
    }
    uint32_t t = w->index * WARP_LANES + r->lane, line = (uint32_t)local_value(r, at + 2 * ptr, 4);
    str_printf(x->err, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n", file,
               line, func, w->cta->id[0], w->cta->id[1], w->cta->id[2], t % x->block[0],
               t / x->block[0] % x->block[1], t / (x->block[0] * x->block[1]), msg);
    return exec_fault(x, w, i, RP_ASSERT, r->lane, 0, 0, MS_GENERIC);
}

/* A handle of a graph's conditional node is the address of its value. */
static bool do_set_conditional(struct exec *x, struct warp *w, const struct xinst *i, struct reader *r,
                               uint64_t at) {
    uint64_t handle = local_value(r, at, 8);
    uint32_t value = (uint32_t)local_value(r, at + 8, 4);
    void *p = handle % sizeof value ? NULL : exec_global(x, handle, sizeof value);
    if (!p)
        return exec_fault(x, w, i, RP_ILLEGAL_ADDRESS, r->lane, handle, sizeof value, MS_GLOBAL);
    memcpy(p, &value, sizeof value);
    return true;
}

bool exec_syscall(struct exec *x, struct warp *w, const struct xinst *i, uint32_t m) {
    const uint32_t *fp = src_lanes(x, w, i->s[0]);
    uint32_t ptr = i->in->m.size;
    bool ok = true;
    for (uint32_t l = 0; l < WARP_LANES; l++) {
        if (!(m >> l & 1))
            continue;
        struct reader r = {.x = x, .w = w, .lane = l};
        uint64_t at = fp[l] + (uint64_t)(uint32_t)i->in->imm;
        switch ((enum sys_call)i->in->m.mode) {
        case SYS_VPRINTF:
            do_printf(x, w, &r, at, ptr);
            break;
        case SYS_MALLOC:
            do_malloc(x, w, i, &r, at, ptr);
            break;
        case SYS_FREE:
            ok = do_free(x, w, i, &r, at, ptr) && ok;
            break;
        case SYS_ASSERTFAIL:
            ok = do_assert(x, w, i, &r, at, ptr) && ok;
            break;
        case SYS_SET_CONDITIONAL:
            ok = do_set_conditional(x, w, i, &r, at) && ok;
            break;
        }
    }
    return ok;
}
