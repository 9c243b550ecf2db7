/* How often something appeared among the last so many: keys in the order in which they come, and a table of
 * those in sight. A step costs a few accesses, whatever the window's size. */
#ifndef REPRISE_PROFILE_WINDOW_H
#define REPRISE_PROFILE_WINDOW_H

#include <stdint.h>

enum { WINDOW_NOTHING = 0 }; /* a key that takes its place and is equal to no other */

struct window_entry {
    uint64_t key;
    uint64_t block;            /* that in_block belongs to */
    uint32_t recent, in_block; /* appearances among the last size steps; in the block */
};

struct window {
    uint32_t size;              /* in steps */
    uint32_t at;                /* steps of the block so far: where the next one goes in the ring */
    uint64_t block;             /* the block's number */
    uint64_t *ring;             /* the last size keys */
    struct window_entry *table; /* open addressing; free: recent is 0 */
    uint64_t mask;              /* slots - 1; at least half of them are free */
};

/* Earlier appearances of a key: among the size steps before it, and in its own block of size steps (the
 * first block begins with the first step, the next where it ends). */
struct window_seen {
    uint32_t recent, in_block;
};

void window_init(struct window *w, uint32_t size);
void window_free(struct window *w);
struct window_seen window_step(struct window *w, uint64_t key);

#endif
