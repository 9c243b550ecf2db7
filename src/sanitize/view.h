/* What a thread knows of other threads' past: vector clocks, compressed.
 *
 * Time is one counter of the simulation that advances with every synchronisation. A thread that knows time T
 * of another is ordered behind everything the other did up to T. Knowledge of a block is one time for all of
 * its threads (its last barrier, as a rule) and a few items for threads or warps of which more is known.
 * Views never change once made; threads share them. */
#ifndef REPRISE_SANITIZE_VIEW_H
#define REPRISE_SANITIZE_VIEW_H

#include <stdbool.h>
#include <stdint.h>

/* Threads tid to tid + span - 1 are known up to time. */
struct view_item {
    uint16_t tid, span; /* span: 1, or 32 for a warp */
    uint32_t time;
};

/* What is known of a block. */
struct view_block {
    uint32_t block, base;  /* all of its threads: up to base */
    uint32_t first, count; /* items */
};

struct view {
    uint32_t refs, nblocks, nitems;
    uint32_t least;            /* of all bases */
    struct view_block *blocks; /* by number */
    struct view_item *items;
};

/* A view of one block. */
struct view *view_create(uint32_t block, uint32_t base, const struct view_item *items, uint32_t n);
/* NULL is a view of nothing, everywhere. */
struct view *view_keep(struct view *v);
void view_drop(struct view *v);
/* What either knows, as a view to be dropped. Of a block with very many items the latest time is taken for
 * all threads of a warp, or of the block: races may then be missed, but none is made up. */
struct view *view_join(struct view *a, struct view *b);
/* Up to which time the view knows a thread; every thread of a warp; every thread of a block. */
uint32_t view_of_thread(const struct view *v, uint32_t block, uint32_t tid);
uint32_t view_of_warp(const struct view *v, uint32_t block, uint32_t warp);
uint32_t view_of_block(const struct view *v, uint32_t block);

#endif
