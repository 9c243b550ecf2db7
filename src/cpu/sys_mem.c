/* System calls about memory. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cpu/sys.h"

/* Pages a guest may have mapped: enough for tables of gigabytes, not enough to exhaust a host by mistake. */
enum { MAX_PAGES = 8 << 20 };
/* The heap and mappings stay on their sides of this. */
#define HEAP_LIMIT (SPACE_SIZE / 2)

static uint64_t page_up(uint64_t v) {
    return (v + PAGE_SIZE - 1) & ~(uint64_t)(PAGE_SIZE - 1);
}

static uint8_t perm_of(uint64_t prot) {
    return (uint8_t)((prot & PROT_READ ? PERM_READ : 0) | (prot & PROT_WRITE ? PERM_WRITE | PERM_READ : 0) |
                     (prot & PROT_EXEC ? PERM_EXEC | PERM_READ : 0));
}

static bool has_room(const struct guest *g, uint64_t size) {
    return size >> PAGE_BITS <= MAX_PAGES && g->space.mapped + (size >> PAGE_BITS) <= MAX_PAGES;
}

int64_t sys_brk(struct guest *g, const uint64_t *arg) {
    uint64_t from = page_up(g->brk), to = page_up(arg[0]);
    if (arg[0] < g->brk_start || arg[0] > HEAP_LIMIT)
        return (int64_t)g->brk;
    if (to > from) {
        for (uint64_t p = from; p < to; p += PAGE_SIZE)
            if (g->space.perm[p >> PAGE_BITS])
                return (int64_t)g->brk;
        if (!has_room(g, to - from) || !space_map(&g->space, from, to - from, PERM_READ | PERM_WRITE))
            return (int64_t)g->brk;
    } else {
        space_unmap(&g->space, to, from - to);
    }
    g->brk = arg[0];
    return (int64_t)g->brk;
}

static uint64_t place(struct guest *g, uint64_t size) {
    uint64_t at = g->mmap_below - size;
    bool fits = at < g->mmap_below && at > HEAP_LIMIT;
    for (uint64_t p = at; fits && p < g->mmap_below; p += PAGE_SIZE)
        fits = !g->space.perm[p >> PAGE_BITS];
    if (!fits)
        at = space_find(&g->space, size, SPACE_SIZE - (64ull << 20));
    if (at == NO_ADDRESS || at < HEAP_LIMIT)
        return NO_ADDRESS;
    g->mmap_below = at;
    return at;
}

/* Fills a mapping with a file's contents: changes never go back. */
static void fill(struct guest *g, uint64_t at, uint64_t size, int file, uint64_t offset) {
    while (size) {
        ssize_t n = pread(file, g->space.mem + at, size, (off_t)offset);
        if (n <= 0)
            return;
        at += (uint64_t)n;
        offset += (uint64_t)n;
        size -= (uint64_t)n;
    }
}

int64_t sys_mmap(struct guest *g, const uint64_t *arg) {
    uint64_t at = arg[0], size = page_up(arg[1]), flags = arg[3], fd = arg[4];
    bool fixed = flags & (MAP_FIXED | 0x100000 /* MAP_FIXED_NOREPLACE */);
    if (!arg[1] || arg[1] > SPACE_SIZE || (fixed && at % PAGE_SIZE) || arg[5] % PAGE_SIZE)
        return -EINVAL;
    int file = -1;
    if (!(flags & MAP_ANONYMOUS)) {
        if (fd >= GUEST_FILES || g->files[fd] < 0)
            return -EBADF;
        if ((flags & MAP_TYPE) == MAP_SHARED && (arg[2] & PROT_WRITE))
            return -EACCES;
        file = g->files[fd];
    }
    if (!has_room(g, size))
        return -ENOMEM;
    if (!fixed)
        at = place(g, size);
    if (at == NO_ADDRESS || !space_map(&g->space, at, size, perm_of(arg[2])))
        return -ENOMEM;
    if (file >= 0)
        fill(g, at, size, file, arg[5]);
    if (fixed || (arg[2] & PROT_EXEC))
        cpu_forget_code(&g->cpu);
    return (int64_t)at;
}

int64_t sys_munmap(struct guest *g, const uint64_t *arg) {
    if (arg[0] % PAGE_SIZE || !arg[1] || arg[1] > SPACE_SIZE)
        return -EINVAL;
    space_unmap(&g->space, arg[0], page_up(arg[1]));
    cpu_forget_code(&g->cpu);
    return 0;
}

int64_t sys_mremap(struct guest *g, const uint64_t *arg) {
    uint64_t at = arg[0], was = page_up(arg[1]), size = page_up(arg[2]);
    if (at % PAGE_SIZE || !arg[1] || !arg[2] || arg[2] > SPACE_SIZE || (arg[3] & ~1ull))
        return -EINVAL;
    if (!space_allows(&g->space, at, was, 0) || !g->space.perm[at >> PAGE_BITS])
        return -EFAULT;
    if (size <= was) {
        space_unmap(&g->space, at + size, was - size);
        return (int64_t)at;
    }
    if (!(arg[3] & 1 /* MREMAP_MAYMOVE */) || !has_room(g, size))
        return -ENOMEM;
    uint8_t perm = g->space.perm[at >> PAGE_BITS] & (PERM_READ | PERM_WRITE | PERM_EXEC);
    uint64_t to = place(g, size);
    if (to == NO_ADDRESS || !space_map(&g->space, to, size, perm))
        return -ENOMEM;
    memcpy(g->space.mem + to, g->space.mem + at, was);
    space_unmap(&g->space, at, was);
    return (int64_t)to;
}

int64_t sys_mprotect(struct guest *g, const uint64_t *arg) {
    if (arg[0] % PAGE_SIZE || arg[1] > SPACE_SIZE)
        return -EINVAL;
    if (!space_protect(&g->space, arg[0], page_up(arg[1]), perm_of(arg[2])))
        return -ENOMEM;
    cpu_forget_code(&g->cpu);
    return 0;
}

/* Advice may be ignored, but for the one that makes pages zero. */
int64_t sys_madvise(struct guest *g, const uint64_t *arg) {
    uint64_t size = page_up(arg[1]);
    if (arg[0] % PAGE_SIZE || arg[1] > SPACE_SIZE || !space_allows(&g->space, arg[0], size, 0))
        return -EINVAL;
    if (arg[2] == MADV_DONTNEED)
        for (uint64_t p = arg[0]; p < arg[0] + size; p += PAGE_SIZE)
            if (g->space.perm[p >> PAGE_BITS])
                memset(g->space.mem + p, 0, PAGE_SIZE);
    return 0;
}
