/* Arena: memory with one owner, released all at once.
 *
 * Everything a module, a machine or a launch builds lives in its owner's arena, so that no object needs
 * a destructor. Memory is zeroed. Allocation never returns NULL: running out of host memory ends the
 * process with a message, since nothing sensible can follow. */
#ifndef REPRISE_BASE_ARENA_H
#define REPRISE_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

struct arena_chunk;

/* An arena; a zeroed struct is a valid empty one. */
struct arena {
    struct arena_chunk *chunks;
    char *next, *end;
    size_t size; /* of all chunks */
};

/* Returns size zeroed bytes aligned for any type (64 bytes, so that lane vectors load aligned). */
void *arena_alloc(struct arena *a, size_t size);
/* Copies len bytes of s and adds a terminating NUL. */
char *arena_strndup(struct arena *a, const char *s, size_t len);
/* printf into the arena. */
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Releases everything; the arena is empty and usable again. */
void arena_free(struct arena *a);

#define arena_new(a, T)      ((T *)arena_alloc((a), sizeof(T)))
#define arena_array(a, T, n) ((T *)arena_alloc((a), sizeof(T) * (size_t)(n)))

/* malloc family that ends the process with a message when the host is out of memory. */
void *xmalloc(size_t size);
void *xcalloc(size_t n, size_t size);
/* Not cleared, on a cache line's boundary. */
void *xaligned(size_t size);
void *xrealloc(void *p, size_t size);
char *xstrdup(const char *s);

#endif
