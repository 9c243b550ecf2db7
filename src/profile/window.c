#include "profile/window.h"

#include <stdlib.h>

#include "base/arena.h"

void window_init(struct window *w, uint32_t size) {
    uint64_t slots = 4;
    while (slots < 2 * ((uint64_t)size + 1))
        slots *= 2;
    *w = (struct window){.size = size,
                         .ring = xcalloc(size, sizeof *w->ring),
                         .table = xcalloc(slots, sizeof *w->table),
                         .mask = slots - 1};
}

void window_free(struct window *w) {
    free(w->ring);
    free(w->table);
}

/* The slot of a key, or the free one where it would go. Keys are hashes: their bits serve as they are. */
static uint64_t slot_of(const struct window *w, uint64_t key) {
    uint64_t i = key & w->mask;
    while (w->table[i].recent && w->table[i].key != key)
        i = (i + 1) & w->mask;
    return i;
}

/* A step leaves the window. The slot of a key's last appearance is filled again with what had to go further,
 * so that no search ends too early. */
static void leave(struct window *w, uint64_t key) {
    uint64_t hole = slot_of(w, key);
    if (--w->table[hole].recent)
        return;
    for (uint64_t i = (hole + 1) & w->mask; w->table[i].recent; i = (i + 1) & w->mask)
        if (((i - w->table[i].key) & w->mask) >= ((i - hole) & w->mask)) {
            w->table[hole] = w->table[i];
            w->table[i].recent = 0;
            hole = i;
        }
}

struct window_seen window_step(struct window *w, uint64_t key) {
    struct window_seen seen = {0};
    uint64_t *place = &w->ring[w->at];
    if (key != WINDOW_NOTHING) {
        struct window_entry *e = &w->table[slot_of(w, key)];
        seen.recent = e->recent;
        seen.in_block = e->recent && e->block == w->block ? e->in_block : 0;
        *e = (struct window_entry){
            .key = key, .block = w->block, .recent = e->recent + 1, .in_block = seen.in_block + 1};
    }
    if (*place != WINDOW_NOTHING)
        leave(w, *place);
    *place = key;
    if (++w->at == w->size) {
        w->at = 0;
        w->block++;
    }
    return seen;
}
