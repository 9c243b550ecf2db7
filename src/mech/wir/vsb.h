/* The value signature buffer (WIR, section V-A): which physical register holds a value with a given hash.
 *
 * Indexed by the low bits of the hash. An entry counts as a reference to its register: one that leaves the
 * buffer is handed back by value. Equal hashes do not mean equal values; the caller compares. */
#ifndef REPRISE_MECH_WIR_VSB_H
#define REPRISE_MECH_WIR_VSB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

#define VSB_MISS UINT32_MAX

struct vsb_entry {
    uint32_t hash;
    uint16_t reg;
    bool valid;
};

struct vsb {
    struct vsb_entry *entry;
    uint32_t entries, mask; /* mask: entries - 1 if that is all ones, else 0 */
    uint32_t used;
    uint64_t random;
};

/* A buffer of any size; one without entries never finds anything. */
void vsb_init(struct vsb *b, struct arena *a, uint32_t entries);
/* The place of a hash; there must be entries. */
static inline uint32_t vsb_index(const struct vsb *b, uint32_t hash) {
    return __builtin_expect(b->mask, 1) ? hash & b->mask : hash % b->entries;
}
static inline struct vsb_entry *vsb_place(const struct vsb *b, uint32_t hash) {
    return &b->entry[vsb_index(b, hash)];
}
/* The register entered with this hash, or VSB_MISS. */
uint32_t vsb_lookup(const struct vsb *b, uint32_t hash);
/* Whether that has the hash. */
static inline bool vsb_has(const struct vsb_entry *e, uint32_t hash) {
    return e->valid && e->hash == hash;
}
/* Enters a register at the place of its hash; what was there is over. */
static inline void vsb_enter(struct vsb *b, struct vsb_entry *e, uint32_t hash, uint16_t reg) {
    b->used += !e->valid;
    *e = (struct vsb_entry){hash, reg, true};
}
/* The same; what was there is handed back. False when there is no place at all. */
bool vsb_insert(struct vsb *b, uint32_t hash, uint16_t reg, struct vsb_entry *out);
/* Empties the place of a hash; false when it was empty. */
bool vsb_evict(struct vsb *b, uint32_t hash, struct vsb_entry *out);
/* Empties one place at random; false when all are empty, and only then. */
bool vsb_evict_random(struct vsb *b, struct vsb_entry *out);
/* The next valid entry from *cursor (0 at first) on, or NULL. */
const struct vsb_entry *vsb_next(const struct vsb *b, uint32_t *cursor);

#endif
