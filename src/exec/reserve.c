/* Reserved addresses: ranges without memory, and what is put behind them later. They have a range of the
 * host's address space of their own, so that plain allocations need not know about them. */
#include "exec/memory.h"

#include <string.h>
#include <sys/mman.h>

enum { HOST_PAGE = 4096 };

static void *host(uint64_t addr) {
    return (void *)(uintptr_t)addr;
}

/* Makes sure that nobody else gets these addresses. */
static bool ready(struct memory *m) {
    if (m->reserves)
        return true;
    void *p = mmap(host(RP_RESERVED), RP_RESERVED_SIZE, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (p != MAP_FAILED && p != host(RP_RESERVED))
        munmap(p, RP_RESERVED_SIZE);
    return m->reserves = p == host(RP_RESERVED);
}

void memory_reserve_destroy(struct memory *m) {
    if (m->reserves)
        munmap(host(RP_RESERVED), RP_RESERVED_SIZE);
    vec_free(&m->reserved);
    m->reserves = false;
}

static uint64_t round_up(uint64_t x, uint64_t align) {
    return (x + align - 1) & ~(align - 1);
}

/* Where size bytes are free at or behind at; *i: the range behind them. 0: nowhere. */
static uint64_t place(const struct memory *m, uint64_t at, uint64_t size, uint64_t align, uint32_t *i) {
    for (*i = 0; *i < m->reserved.len; (*i)++) {
        const struct mem_range *r = &m->reserved.at[*i];
        if (at + size <= r->addr)
            break;
        if (r->addr + r->size > at)
            at = round_up(r->addr + r->size, align);
    }
    return at + size <= RP_RESERVED + RP_RESERVED_SIZE ? at : 0;
}

uint64_t memory_reserve(struct memory *m, uint64_t size, uint64_t align, uint64_t want) {
    uint32_t i;
    if (!size || size > RP_RESERVED_SIZE || size % HOST_PAGE || align > RP_RESERVED_SIZE || !ready(m))
        return 0;
    align = align < HOST_PAGE ? HOST_PAGE : align;
    uint64_t at = 0;
    if (want >= RP_RESERVED && want < RP_RESERVED + RP_RESERVED_SIZE && !(want & (align - 1)))
        at = place(m, want, size, align, &i);
    if (!at || at != want)
        at = place(m, round_up(RP_RESERVED, align), size, align, &i);
    if (!at)
        return 0;
    vec_push(&m->reserved, (struct mem_range){0});
    memmove(&m->reserved.at[i + 1], &m->reserved.at[i], (m->reserved.len - 1 - i) * sizeof *m->reserved.at);
    m->reserved.at[i] = (struct mem_range){at, size};
    return at;
}

const struct mem_range *memory_reserved(const struct memory *m, uint64_t addr) {
    for (uint32_t i = 0; i < m->reserved.len; i++)
        if (addr - m->reserved.at[i].addr < m->reserved.at[i].size)
            return &m->reserved.at[i];
    return NULL;
}

bool memory_unreserve(struct memory *m, uint64_t addr) {
    const struct mem_range *r = memory_reserved(m, addr);
    if (!r || r->addr != addr)
        return false;
    memory_unmap(m, r->addr, r->size);
    uint32_t i = (uint32_t)(r - m->reserved.at);
    memmove(&m->reserved.at[i], &m->reserved.at[i + 1], (m->reserved.len - 1 - i) * sizeof *r);
    m->reserved.len--;
    return true;
}

bool memory_back(struct memory *m, uint64_t addr, uint64_t size) {
    if (size > m->limit || m->used > m->limit - size ||
        mprotect(host(addr), round_up(size, HOST_PAGE), PROT_READ | PROT_WRITE) ||
        !memory_add(m, (struct rp_alloc){.addr = addr, .size = size, .kind = RP_MEM_DEVICE}))
        return false;
    m->used += size;
    return true;
}

bool memory_map(uint64_t addr, uint64_t size, int fd, uint64_t offset) {
    return mmap(host(addr), size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, (off_t)offset) !=
           MAP_FAILED;
}

void memory_unmap(struct memory *m, uint64_t addr, uint64_t size) {
    memory_access(m, addr, size, RP_ACCESS_NONE);
    mmap(host(addr), size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

static void show(struct memory *m, uint64_t from, uint64_t to, bool read_only) {
    if (from >= to)
        return;
    m->read_only += read_only;
    memory_add(
        m, (struct rp_alloc){.addr = from, .size = to - from, .kind = RP_MEM_MAPPED, .read_only = read_only});
}

void memory_access(struct memory *m, uint64_t addr, uint64_t size, enum rp_access access) {
    struct rp_alloc *a;
    uint64_t end = addr + size;
    while ((a = memory_first(m, addr)) && a->addr < end) { /* what juts out stays as it was */
        struct rp_alloc old = *a;
        m->read_only -= old.read_only;
        memory_forget(m, a);
        show(m, old.addr, addr, old.read_only);
        show(m, end, old.addr + old.size, old.read_only);
        if (old.addr + old.size > end)
            break;
    }
    if (access != RP_ACCESS_NONE)
        show(m, addr, end, access == RP_ACCESS_READ);
}

bool memory_covers(const struct memory *m, uint64_t addr, uint64_t size) {
    const struct rp_alloc *a = memory_find(m, addr), *end = m->allocs.at + m->allocs.len;
    if (!a)
        return false;
    uint64_t left = a->addr + a->size - addr;
    for (; size > left; left += a->size) {
        const struct rp_alloc *next = a + 1;
        if (next == end || next->addr != a->addr + a->size || a->kind != RP_MEM_MAPPED ||
            next->kind != RP_MEM_MAPPED)
            return false;
        a = next;
    }
    return true;
}
