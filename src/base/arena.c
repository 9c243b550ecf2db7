#include "base/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Chunks are the larger the more there are, so that those of a large arena come from the host as pages that
 * it has not touched: it is the first use that costs. */
enum { CHUNK = 64 * 1024, LARGE_CHUNK = 4 * 1024 * 1024, ALIGN = 64 };

struct arena_chunk {
    struct arena_chunk *next;
};

static void *check(void *p, size_t size) {
    if (!p && size) {
        fprintf(stderr, "reprise: out of host memory (%zu bytes wanted)\n", size);
        exit(1);
    }
    return p;
}

void *xmalloc(size_t size) {
    return check(malloc(size), size);
}

void *xcalloc(size_t n, size_t size) {
    return check(calloc(n, size), n * size);
}

void *xaligned(size_t size) {
    return check(aligned_alloc(ALIGN, (size + ALIGN - 1) / ALIGN * ALIGN), size);
}

void *xrealloc(void *p, size_t size) {
    return check(realloc(p, size), size);
}

char *xstrdup(const char *s) {
    size_t n = strlen(s) + 1;
    return memcpy(xmalloc(n), s, n);
}

void *arena_alloc(struct arena *a, size_t size) {
    /* Small objects pack at 16 bytes; anything a vector load may touch is aligned to a cache line. */
    size_t align = size >= ALIGN ? ALIGN : 16;
    uintptr_t at = ((uintptr_t)a->next + align - 1) & ~(uintptr_t)(align - 1);
    if (!a->next || at + size > (uintptr_t)a->end) {
        size_t want = size + sizeof(struct arena_chunk) + 2 * ALIGN;
        size_t chunk = a->size < CHUNK ? CHUNK : a->size < LARGE_CHUNK ? a->size : LARGE_CHUNK;
        size_t bytes = want > chunk ? want : chunk;
        struct arena_chunk *c = xcalloc(1, bytes);
        c->next = a->chunks;
        a->chunks = c;
        a->size += bytes;
        char *start = (char *)(c + 1);
        uintptr_t first = ((uintptr_t)start + align - 1) & ~(uintptr_t)(align - 1);
        if (bytes > chunk && a->next) /* a large object does not waste the rest of the current chunk */
            return (void *)first;
        a->next = start;
        a->end = (char *)c + bytes;
        at = first;
    }
    a->next = (char *)(at + size);
    return (void *)at;
}

char *arena_strndup(struct arena *a, const char *s, size_t len) {
    char *p = arena_alloc(a, len + 1);
    memcpy(p, s, len);
    return p;
}

char *arena_printf(struct arena *a, const char *fmt, ...) {
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    char *p = arena_alloc(a, (size_t)n + 1);
    vsnprintf(p, (size_t)n + 1, fmt, again);
    va_end(again);
    return p;
}

void arena_free(struct arena *a) {
    for (struct arena_chunk *c = a->chunks, *n; c; c = n) {
        n = c->next;
        free(c);
    }
    *a = (struct arena){0};
}
