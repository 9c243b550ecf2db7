/* What racecheck remembers of memory: for each word, or byte where bytes are accessed, who wrote and who read
 * it last. */
#ifndef REPRISE_SANITIZE_SHADOW_H
#define REPRISE_SANITIZE_SHADOW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"

/* Whom a past access came from. */
enum past_kind {
    PAST_LANES,  /* lanes mask of warp number warp of the block */
    PAST_WARPS,  /* warps mask of the block */
    PAST_BLOCKS, /* several blocks: number mask in a list of the shadow's */
    PAST_MANY,   /* more than that */
};

struct past {
    uint32_t block, time; /* time 0: none; of several, the latest */
    uint32_t mask;
    uint32_t pc : 20, warp : 5, kind : 2;
    uint32_t strong : 1;      /* volatile, relaxed or atomic */
    uint32_t atomic : 1;      /* read and written at once */
    uint32_t block_scope : 1; /* strong for its own block only */
    uint32_t mark : 1;        /* strong: volatile; weak: several wrote, and all the same value */
    uint32_t pending : 1;     /* an asynchronous copy that nobody has waited for */
};

struct cell {
    struct past write, read;
};

enum { PAGE_SHIFT = 12, PAGE_BYTES = 1 << PAGE_SHIFT, LIST_BLOCKS = 16 /* a cluster */ };

/* Cells of PAGE_BYTES bytes of memory: one for each 1 << shift bytes. */
struct shadow_page {
    uint32_t shift;
    struct cell *cells;
};

/* Accesses of several blocks, each of kind PAST_LANES or PAST_WARPS. */
struct past_list {
    uint32_t n, next; /* next: of a list that is free */
    struct past at[LIST_BLOCKS];
};

enum { SHADOW_NEAR = 256 };

struct shadow {
    struct map pages; /* number -> struct shadow_page */
    struct {
        uint64_t number;
        struct shadow_page *page;
    } near[SHADOW_NEAR]; /* pages used lately */
    struct past_list *lists;
    uint32_t nlists, cap_lists, free_list; /* free_list: index + 1, or 0 */
};

/* The page of an address, whose cells hold no more than size bytes; 0 is none's number in near. */
struct shadow_page *shadow_page(struct shadow *s, uint64_t addr, uint32_t size);
/* The cell of an address in its page. */
static inline struct cell *shadow_cell(const struct shadow_page *p, uint64_t addr) {
    return &p->cells[(addr & (PAGE_BYTES - 1)) >> p->shift];
}
uint32_t shadow_list(struct shadow *s);
void shadow_list_free(struct shadow *s, uint32_t list);
/* Forgets what was known of [addr, addr + size); of everything. */
void shadow_clear(struct shadow *s, uint64_t addr, uint64_t size);
void shadow_free(struct shadow *s);

#endif
