#include "cpu/space.h"

#include <string.h>
#include <sys/mman.h>

/* Marks a page as mapped although it allows nothing. */
enum { PERM_MAPPED = 8 };

static void *reserve(uint64_t size, int prot) {
    void *p = mmap(NULL, size, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

bool space_init(struct space *s) {
    *s = (struct space){.mem = reserve(SPACE_SIZE, PROT_NONE),
                        .perm = reserve(SPACE_PAGES + 1, PROT_READ | PROT_WRITE)};
    if (s->mem && s->perm)
        return true;
    space_free(s);
    return false;
}

void space_free(struct space *s) {
    if (s->mem)
        munmap(s->mem, SPACE_SIZE);
    if (s->perm)
        munmap(s->perm, SPACE_PAGES + 1);
    *s = (struct space){0};
}

static bool inside(uint64_t at, uint64_t size) {
    return at <= SPACE_SIZE && size <= SPACE_SIZE - at;
}

bool space_allows(const struct space *s, uint64_t at, uint64_t size, uint8_t need) {
    if (!inside(at, size))
        return false;
    if (!size)
        return true;
    for (uint64_t p = at >> PAGE_BITS; p <= (at + size - 1) >> PAGE_BITS; p++)
        if ((s->perm[p] & need) != need)
            return false;
    return true;
}

bool space_map(struct space *s, uint64_t at, uint64_t size, uint8_t perm) {
    if (!inside(at, size) || !size)
        return false;
    space_unmap(s, at, size);
    if (mprotect(s->mem + at, size, PROT_READ | PROT_WRITE))
        return false;
    memset(s->perm + (at >> PAGE_BITS), perm | PERM_MAPPED, size >> PAGE_BITS);
    s->mapped += size >> PAGE_BITS;
    return true;
}

bool space_protect(struct space *s, uint64_t at, uint64_t size, uint8_t perm) {
    if (!space_allows(s, at, size, PERM_MAPPED))
        return false;
    memset(s->perm + (at >> PAGE_BITS), perm | PERM_MAPPED, size >> PAGE_BITS);
    return true;
}

void space_unmap(struct space *s, uint64_t at, uint64_t size) {
    if (!inside(at, size) || !size)
        return;
    uint64_t first = at >> PAGE_BITS, n = size >> PAGE_BITS, was = 0;
    for (uint64_t p = first; p < first + n; p++)
        was += s->perm[p] != 0;
    if (!was)
        return;
    s->mapped -= was;
    memset(s->perm + first, 0, n);
    if (madvise(s->mem + at, size, MADV_DONTNEED)) /* which makes them zero, and free */
        memset(s->mem + at, 0, size);
}

uint64_t space_find(const struct space *s, uint64_t size, uint64_t limit) {
    uint64_t want = (size + PAGE_SIZE - 1) >> PAGE_BITS, run = 0;
    for (uint64_t p = limit >> PAGE_BITS; want && want < SPACE_PAGES && p-- > 16;) {
        run = s->perm[p] ? 0 : run + 1;
        if (run == want)
            return p << PAGE_BITS;
    }
    return NO_ADDRESS;
}

bool space_read(const struct space *s, uint64_t at, void *to, uint64_t size) {
    if (!space_allows(s, at, size, PERM_READ))
        return false;
    memcpy(to, s->mem + at, size);
    return true;
}

bool space_write(struct space *s, uint64_t at, const void *from, uint64_t size) {
    if (!space_allows(s, at, size, PERM_WRITE))
        return false;
    memcpy(s->mem + at, from, size);
    return true;
}

bool space_read_string(const struct space *s, uint64_t at, char *to, size_t size) {
    for (size_t k = 0; k < size; k++) {
        if (!space_read(s, at + k, to + k, 1))
            return false;
        if (!to[k])
            return true;
    }
    return false;
}
