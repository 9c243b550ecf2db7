/* The memory of a simulated program.
 *
 * Guest addresses 0 to SPACE_SIZE are one reserved range of host addresses; what each page allows is a byte
 * of a table, and every access of the guest is checked against it, so that a guest reaches nothing but its
 * own memory. Pages the guest has not mapped cost the host nothing. */
#ifndef REPRISE_CPU_SPACE_H
#define REPRISE_CPU_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SPACE_BITS = 36, PAGE_BITS = 12, PAGE_SIZE = 1 << PAGE_BITS };
#define SPACE_SIZE  (1ull << SPACE_BITS)
#define SPACE_PAGES (SPACE_SIZE >> PAGE_BITS)
#define NO_ADDRESS  UINT64_MAX

enum { PERM_READ = 1, PERM_WRITE = 2, PERM_EXEC = 4 };

struct space {
    uint8_t *mem;    /* the byte of guest address 0 */
    uint8_t *perm;   /* PERM_* of each page, and of one more, which allows nothing */
    uint64_t mapped; /* pages that allow something or are reserved as such */
};

/* False: the host has no room. */
bool space_init(struct space *s);
void space_free(struct space *s);

/* Whether all of [at, at + size) allows what need says. */
bool space_allows(const struct space *s, uint64_t at, uint64_t size, uint8_t need);
/* Maps pages, which become zero; at and size are multiples of the page size. False: outside of the space. */
bool space_map(struct space *s, uint64_t at, uint64_t size, uint8_t perm);
/* Changes what mapped pages allow; false, with nothing changed, when one of them is not mapped. */
bool space_protect(struct space *s, uint64_t at, uint64_t size, uint8_t perm);
/* Forgets pages, mapped or not. */
void space_unmap(struct space *s, uint64_t at, uint64_t size);
/* The highest address below limit at which size bytes are free; NO_ADDRESS: nowhere. */
uint64_t space_find(const struct space *s, uint64_t size, uint64_t limit);

/* Copies from or to the guest; false, with nothing done, when a page does not allow it. */
bool space_read(const struct space *s, uint64_t at, void *to, uint64_t size);
bool space_write(struct space *s, uint64_t at, const void *from, uint64_t size);
/* Copies a string of at most size - 1 characters; false when it is longer or not readable. */
bool space_read_string(const struct space *s, uint64_t at, char *to, size_t size);

#endif
