#include "exec/memory.h"

#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#include "isa/isa.h"

enum { ALIGN = 256, PAGE = 4096, FREED_KEPT = 64 };

/* The range is shared by all GPUs of the process: it is reserved once, and a second GPU gets the upper half.
 */
static int users;

bool memory_init(struct memory *m, size_t limit) {
    if (users)
        return false;
    void *want = (void *)(uintptr_t)RP_REGION;
    void *p = mmap(want, RP_REGION_SIZE, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (p != want) {
        if (p != MAP_FAILED)
            munmap(p, RP_REGION_SIZE);
        return false;
    }
    users++;
    *m = (struct memory){.base = RP_REGION, .limit = limit};
    return true;
}

void memory_destroy(struct memory *m) {
    if (!m->base)
        return;
    munmap((void *)(uintptr_t)m->base, RP_REGION_SIZE);
    memory_reserve_destroy(m);
    users--;
    vec_free(&m->allocs);
    vec_free(&m->freed);
    *m = (struct memory){0};
}

/* Index of the first allocation that ends beyond addr. */
static uint32_t lower_bound(const struct memory *m, uint64_t addr) {
    uint32_t lo = 0, hi = m->allocs.len;
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        if (m->allocs.at[mid].addr + m->allocs.at[mid].size <= addr)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

struct rp_alloc *memory_find(const struct memory *m, uint64_t addr) {
    uint32_t i = lower_bound(m, addr);
    return i < m->allocs.len && m->allocs.at[i].addr <= addr ? &m->allocs.at[i] : NULL;
}

static void insert(struct memory *m, uint32_t at, struct rp_alloc a) {
    vec_push(&m->allocs, a);
    memmove(&m->allocs.at[at + 1], &m->allocs.at[at], (m->allocs.len - 1 - at) * sizeof a);
    m->allocs.at[at] = a;
}

static uint64_t round_up(uint64_t x, uint64_t align) {
    return (x + align - 1) & ~(align - 1);
}

uint64_t memory_alloc(struct memory *m, size_t size, enum rp_mem_kind kind) {
    if (!size || size > m->limit || m->used > m->limit - size)
        return 0;
    /* Small allocations are at least ALIGN apart, large ones start on pages of their own. */
    uint64_t align = size >= PAGE ? PAGE : ALIGN, at = m->base + WINDOW_END, end = m->base + RP_REGION_SIZE;
    uint32_t i = lower_bound(m, at);
    for (; i < m->allocs.len && m->allocs.at[i].addr < end; i++) {
        at = round_up(at, align);
        if (at + size <= m->allocs.at[i].addr)
            break;
        at = round_up(m->allocs.at[i].addr + m->allocs.at[i].size, ALIGN);
    }
    at = round_up(at, align);
    if (at + size > end)
        return 0;
    uint64_t first = at & ~(uint64_t)(PAGE - 1), last = round_up(at + size, PAGE);
    if (mprotect((void *)(uintptr_t)first, last - first, PROT_READ | PROT_WRITE))
        return 0;
    memset((void *)(uintptr_t)at, 0,
           size < PAGE ? size : 0); /* fresh pages are zero; small ones may be reused */
    insert(m, i, (struct rp_alloc){.addr = at, .size = size, .kind = kind});
    m->used += size;
    return at;
}

struct rp_alloc *memory_first(const struct memory *m, uint64_t addr) {
    uint32_t i = lower_bound(m, addr);
    return i < m->allocs.len ? &m->allocs.at[i] : NULL;
}

bool memory_add(struct memory *m, struct rp_alloc a) {
    uint32_t i = lower_bound(m, a.addr);
    if (i < m->allocs.len && m->allocs.at[i].addr < a.addr + a.size)
        return false;
    insert(m, i, a);
    return true;
}

bool memory_register(struct memory *m, void *p, size_t size) {
    uint64_t addr = (uintptr_t)p;
    if (!size || addr + size < addr)
        return false;
    return memory_add(m, (struct rp_alloc){.addr = addr, .size = size, .kind = RP_MEM_REGISTERED});
}

void memory_forget(struct memory *m, struct rp_alloc *a) {
    if (m->freed.len == FREED_KEPT) {
        memmove(m->freed.at, m->freed.at + 1, (FREED_KEPT - 1) * sizeof *m->freed.at);
        m->freed.len--;
    }
    vec_push(&m->freed, *a);
    uint32_t i = (uint32_t)(a - m->allocs.at);
    memmove(a, a + 1, (m->allocs.len - 1 - i) * sizeof *a);
    m->allocs.len--;
}

bool memory_free(struct memory *m, uint64_t addr) {
    struct rp_alloc *a = memory_find(m, addr);
    if (!a || a->addr != addr)
        return false;
    if (a->kind != RP_MEM_REGISTERED) {
        m->used -= a->size;
        if (a->size >= PAGE) { /* give the pages back; they read as zero when used again */
            uint64_t last = round_up(addr + a->size, PAGE);
            struct rp_alloc *next = a + 1 < m->allocs.at + m->allocs.len ? a + 1 : NULL;
            if (next && next->addr < last)
                last -= PAGE;
            if (last > addr)
                madvise((void *)(uintptr_t)addr, last - addr, MADV_DONTNEED);
            memset((void *)(uintptr_t)last, 0, addr + a->size > last ? addr + a->size - last : 0);
        }
    }
    memory_forget(m, a);
    return true;
}

static uint64_t gap(const struct rp_alloc *a, uint64_t addr) {
    return addr < a->addr ? a->addr - addr : addr < a->addr + a->size ? 0 : addr - (a->addr + a->size) + 1;
}

void memory_describe(const struct memory *m, uint64_t addr, struct str *out) {
    for (uint32_t i = m->freed.len; i-- > 0;)
        if (!gap(&m->freed.at[i], addr)) {
            str_printf(out, "inside an allocation of %zu bytes at 0x%" PRIx64 " that was freed",
                       m->freed.at[i].size, m->freed.at[i].addr);
            return;
        }
    const struct rp_alloc *best = NULL;
    uint32_t i = lower_bound(m, addr);
    for (uint32_t k = i ? i - 1 : 0; k <= i && k < m->allocs.len; k++)
        if (!best || gap(&m->allocs.at[k], addr) < gap(best, addr))
            best = &m->allocs.at[k];
    if (!best)
        str_printf(out, "no memory is allocated");
    else if (addr < best->addr)
        str_printf(out, "%" PRIu64 " bytes before the nearest allocation, %zu bytes at 0x%" PRIx64,
                   gap(best, addr), best->size, best->addr);
    else if (gap(best, addr))
        str_printf(out, "%" PRIu64 " bytes past the end of the nearest allocation, %zu bytes at 0x%" PRIx64,
                   gap(best, addr) - 1, best->size, best->addr);
    else
        str_printf(out, "inside an allocation of %zu bytes at 0x%" PRIx64, best->size, best->addr);
}
