#include "exec/memory.h"

#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#include "isa/isa.h"

enum { ALIGN = 256, PAGE = 4096, FREED_KEPT = 64, FREED_KEPT_APART = 4096 };
enum { MAPPED_SHIFT = 21, MAPPED_PAGES = RP_REGION_SIZE >> MAPPED_SHIFT };
#define MAPPED_PAGE ((uint64_t)1 << MAPPED_SHIFT)

/* The range is shared by all GPUs of the process: it is reserved once, and a second GPU gets the upper half.
 */
static int users;

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

static uint64_t round_up(uint64_t x, uint64_t align) {
    return (x + align - 1) & ~(align - 1);
}

static uint64_t round_down(uint64_t x, uint64_t align) {
    return x & ~(align - 1);
}

static uint64_t alloc_end(const struct rp_alloc *a) {
    return a->addr + a->size;
}

/* Widens [*lo, *hi), which are mapped, by the pages of neighbouring allocations, as long as they follow
 * without a gap. Where it stops early is right as well: what lies beyond is looked up when it is accessed. */
static void widen(const struct memory *m, uint32_t i, uint64_t *lo, uint64_t *hi) {
    enum { STEPS = 256 };
    const uint64_t most = UINT64_C(1) << 31; /* so that offsets in the span have 32 bits */
    uint64_t top = *hi + most, bottom = *lo > most ? *lo - most : 0;
    for (uint32_t k = i, n = 0; k < m->allocs.len && n < STEPS && *hi < top; k++, n++) {
        const struct rp_alloc *a = &m->allocs.at[k];
        if (a->kind == RP_MEM_REGISTERED || round_down(a->addr, MAPPED_PAGE) > *hi)
            break;
        uint64_t end = round_up(alloc_end(a), MAPPED_PAGE);
        *hi = end > *hi ? end : *hi;
    }
    for (uint32_t k = i, n = 0; k-- > 0 && n<STEPS && * lo> bottom; n++) {
        const struct rp_alloc *a = &m->allocs.at[k];
        if (a->kind == RP_MEM_REGISTERED || round_up(alloc_end(a), MAPPED_PAGE) < *lo)
            break;
        uint64_t start = round_down(a->addr, MAPPED_PAGE);
        *lo = start < *lo ? start : *lo;
    }
    *hi = *hi > top ? top : *hi;
    *lo = *lo < bottom ? bottom : *lo;
}

bool memory_span(const struct memory *m, uint64_t addr, struct mem_span *span) {
    uint64_t drivers = m->base + LOCAL_END, own = m->base + WINDOW_END;
    *span = (struct mem_span){0};
    if (addr - m->base >= RP_REGION_SIZE) { /* what lies around registered memory is the host's */
        const struct rp_alloc *a = memory_find(m, addr);
        if (a)
            *span = (struct mem_span){a->addr, a->size};
        return a;
    }
    bool below = addr >= drivers && addr < own;
    uint64_t lo = below ? drivers : round_down(addr, MAPPED_PAGE), hi = below ? own : lo + MAPPED_PAGE;
    uint32_t i = lower_bound(m, lo);
    if (!below && (i == m->allocs.len || m->allocs.at[i].addr >= hi))
        return false;
    widen(m, i, &lo, &hi);
    lo = lo == own ? drivers : lo;
    *span = (struct mem_span){lo, hi - lo};
    return true;
}

bool memory_reaches(const struct memory *m, uint64_t addr, uint64_t size) {
    while (size) {
        struct mem_span span;
        if (!memory_span(m, addr, &span))
            return false;
        uint64_t n = span.addr + span.size - addr;
        n = n < size ? n : size;
        addr += n;
        size -= n;
    }
    return true;
}

static void insert(struct memory *m, uint32_t at, struct rp_alloc a) {
    vec_push(&m->allocs, a);
    memmove(&m->allocs.at[at + 1], &m->allocs.at[at], (m->allocs.len - 1 - at) * sizeof a);
    m->allocs.at[at] = a;
}

/* Gives whole pages of the host inside [from, to) back; they read as zero from then on. */
static void give_back(uint64_t from, uint64_t to) {
    from = round_up(from, PAGE);
    to = round_down(to, PAGE);
    if (to > from)
        madvise((void *)(uintptr_t)from, to - from, MADV_DONTNEED);
}

/* Fills [at, at + size) with zeros, in memory that earlier allocations or stray writes may have touched. */
static void clear(uint64_t at, uint64_t size) {
    uint64_t first = round_up(at, PAGE), last = round_down(at + size, PAGE);
    if (size < PAGE || first >= last) {
        memset((void *)(uintptr_t)at, 0, size);
        return;
    }
    memset((void *)(uintptr_t)at, 0, first - at);
    give_back(first, last);
    memset((void *)(uintptr_t)last, 0, at + size - last);
}

/* Makes the mapped pages of [at, at + size) accessible on the host; *used: some were before. */
static bool open_pages(struct memory *m, uint64_t at, uint64_t size, bool *used) {
    uint64_t first = (at - m->base) >> MAPPED_SHIFT, last = (at + size - 1 - m->base) >> MAPPED_SHIFT;
    *used = false;
    for (uint64_t p = first; p <= last; p++) {
        if (m->opened[p / 8] >> p % 8 & 1) {
            *used = true;
            continue;
        }
        uint64_t n = 1;
        while (p + n <= last && !(m->opened[(p + n) / 8] >> (p + n) % 8 & 1))
            n++;
        if (mprotect((void *)(uintptr_t)(m->base + (p << MAPPED_SHIFT)), n << MAPPED_SHIFT,
                     PROT_READ | PROT_WRITE))
            return false;
        for (uint64_t k = p; k < p + n; k++)
            m->opened[k / 8] |= (uint8_t)(1 << k % 8);
        p += n - 1;
    }
    return true;
}

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
    m->opened = xcalloc(MAPPED_PAGES / 8, 1);
    return open_pages(m, RP_REGION + LOCAL_END, WINDOW_END - LOCAL_END, &(bool){false});
}

void memory_destroy(struct memory *m) {
    if (!m->base)
        return;
    munmap((void *)(uintptr_t)m->base, RP_REGION_SIZE);
    memory_reserve_destroy(m);
    users--;
    vec_free(&m->allocs);
    vec_free(&m->freed);
    free(m->opened);
    *m = (struct memory){0};
}

/* The first place at or above from, and below end, where size bytes fit between allocations; 0: none. *i: the
 * allocation behind it. */
static uint64_t place(const struct memory *m, uint64_t from, uint64_t end, size_t size, uint32_t *i) {
    /* Small allocations are at least ALIGN apart, large ones start on pages of their own. */
    uint64_t align = size >= PAGE ? PAGE : ALIGN, at = from;
    for (*i = lower_bound(m, at); *i < m->allocs.len && m->allocs.at[*i].addr < m->base + RP_REGION_SIZE;
         (*i)++) {
        at = round_up(at, align);
        if (at + size + m->apart <= m->allocs.at[*i].addr)
            break;
        at = round_up(alloc_end(&m->allocs.at[*i]) + m->apart, ALIGN);
    }
    at = round_up(at, align);
    return at + size <= end ? at : 0;
}

/* The same for addresses that come in turn: in the first 4 GB, which 32-bit modules reach, as long as there
 * is room, since allocations with gaps between them need a lot. */
static uint64_t place_in_turn(struct memory *m, size_t size, uint32_t *i) {
    uint64_t first = m->base + WINDOW_END + m->apart, low = m->base + (UINT64_C(1) << 32), at = 0;
    if (m->turn >= first)
        at = place(m, m->turn, low, size, i);
    if (!at)
        at = place(m, first, low, size, i);
    if (!at)
        at = place(m, low, m->base + RP_REGION_SIZE, size, i);
    m->turn = at && at < low ? at + size + m->apart : first;
    return at;
}

uint64_t memory_alloc(struct memory *m, size_t size, enum rp_mem_kind kind) {
    if (!size || size > m->limit || m->used > m->limit - size)
        return 0;
    uint32_t i;
    uint64_t at = m->apart ? place_in_turn(m, size, &i)
                           : place(m, m->base + WINDOW_END, m->base + RP_REGION_SIZE, size, &i);
    bool used;
    if (!at || !open_pages(m, at, size, &used))
        return 0;
    if (used)
        clear(at, size);
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

/* Whether the host has memory in every page of [addr, addr + size). */
static bool host_has(uint64_t addr, size_t size) {
    unsigned char there[256];
    uint64_t end = round_up(addr + size, PAGE);
    for (uint64_t p = round_down(addr, PAGE); p < end; p += sizeof there * PAGE) {
        uint64_t n = end - p < sizeof there * PAGE ? end - p : sizeof there * PAGE;
        if (mincore((void *)(uintptr_t)p, n, there))
            return false;
    }
    return true;
}

bool memory_register(struct memory *m, void *p, size_t size) {
    uint64_t addr = (uintptr_t)p;
    if (!size || addr + size < addr || (addr < m->base + RP_REGION_SIZE && addr + size > m->base) ||
        !host_has(addr, size))
        return false;
    return memory_add(m, (struct rp_alloc){.addr = addr, .size = size, .kind = RP_MEM_REGISTERED});
}

void memory_forget(struct memory *m, struct rp_alloc *a) {
    if (m->freed.len == (m->apart ? FREED_KEPT_APART : FREED_KEPT)) {
        m->freed.len--;
        memmove(m->freed.at, m->freed.at + 1, m->freed.len * sizeof *m->freed.at);
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
        give_back(addr, alloc_end(a));
    }
    memory_forget(m, a);
    return true;
}

static uint64_t gap(const struct rp_alloc *a, uint64_t addr) {
    return addr < a->addr ? a->addr - addr : addr < alloc_end(a) ? 0 : addr - alloc_end(a) + 1;
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
