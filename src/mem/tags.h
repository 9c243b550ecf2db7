/* The tag array that all caches share: sets, ways, sectors, replacement, dirty and pending lines, locks.
 *
 * A line is found by its address, a multiple of its bytes. At any time a set holds a line at most once;
 * sectors that are dirty but not valid were written only in part and must be fetched before they can be read.
 * A pending line waits for sectors and is never a victim, nor is a locked one. At least one way of each set
 * is never locked. */
#ifndef REPRISE_MEM_TAGS_H
#define REPRISE_MEM_TAGS_H

#include "base/arena.h"
#include "mem/mem.h"
#include "sim/pool.h"

/* Which line of a set goes: REPLACEMENT(constant, whether using a line protects it). */
#define REPLACEMENTS                                                                                         \
    REPLACEMENT(REPLACE_LRU, true)                                                                           \
    REPLACEMENT(REPLACE_FIFO, false)

enum replacement {
#define REPLACEMENT(id, touch) id,
    REPLACEMENTS
#undef REPLACEMENT
};

struct tags_spec {
    uint32_t sets, ways;
    bool hash; /* spread lines over sets by more than their low bits */
    enum replacement replacement;
    uint32_t line; /* bytes of a line */
};

/* What is known about a line beside its address. */
struct tags_line {
    uint8_t valid, dirty, pending; /* sectors */
    bool prefetched;               /* and not used since */
    uint16_t locks;
};

struct tags {
    struct tags_spec spec;
    uint64_t *key;   /* of the lines, by set, then way; 0: the slot is empty */
    uint64_t *stamp; /* when a line was last used, or placed, and TAGS_HELD if it must stay; 0: empty */
    struct tags_line *line;
    uint16_t *locked; /* ways of each set with locks */
    uint64_t time, magic;
    bool empty;     /* no line came since all slots were emptied */
    uint32_t shift; /* of an address, to the number of its line */
    bool touch;
};

/* A line thrown out. */
struct tags_victim {
    uint64_t line;
    uint8_t dirty;
    bool present, prefetched; /* there was one; it was never used after its prefetch */
};

/* In the stamp of a line that is pending or locked: it is later than any other. */
#define TAGS_HELD (UINT64_C(1) << 63)

void tags_init(struct tags *t, struct arena *a, const struct tags_spec *s);
/* Puts line into a slot of its set and tells what was there. */
struct tags_victim tags_place(struct tags *t, uint32_t slot, uint64_t line);
/* Empties a slot that is neither pending nor locked. */
void tags_drop(struct tags *t, uint32_t slot);
/* Whether a slot may take one lock more: not when it would leave no way of its set without. */
bool tags_can_lock(const struct tags *t, uint32_t slot);
void tags_lock(struct tags *t, uint32_t slot);
void tags_unlock(struct tags *t, uint32_t slot);
/* Sectors of the line in a slot were asked for; they came. */
void tags_await(struct tags *t, uint32_t slot, uint8_t sectors);
void tags_arrive(struct tags *t, uint32_t slot, uint8_t sectors);
/* Empties all slots. */
void tags_clear(struct tags *t);

/* What stands for a line in a slot: no line has an odd address, so that memory of zeros is a cache with
 * nothing in it, and costs nothing until it is used. */
static inline uint64_t tags_key(uint64_t line) {
    return line | 1;
}

/* The first slot of the set of a line. Sets need not be a power of two in number (48 KB of 4 ways are 96
 * sets), so the set is a remainder, taken by two multiplications (Lemire, Kaser, Kurz: Faster remainder by
 * direct computation, 2019). Of one set magic is 0, and so is the remainder. */
static inline uint32_t tags_set(const struct tags *t, uint64_t line) {
    __extension__ typedef unsigned __int128 wide;
    uint64_t n = line >> t->shift;
    if (t->spec.hash)
        n ^= n >> 7 ^ n >> 13 ^ n >> 19;
    return (uint32_t)((wide)(t->magic * (uint32_t)n) * t->spec.sets >> 64) * t->spec.ways;
}

/* The slot that holds line, or NO_SLOT; first: of its set. */
static inline uint32_t tags_find_in(const struct tags *t, uint32_t first, uint64_t line) {
    for (uint32_t i = first; i < first + t->spec.ways; i++)
        if (t->key[i] == tags_key(line))
            return i;
    return NO_SLOT;
}

static inline uint32_t tags_find(const struct tags *t, uint64_t line) {
    return tags_find_in(t, tags_set(t, line), line);
}

/* The slot that a line of the set from slot first on, which must not be there, would take, or NO_SLOT when
 * none may go. */
static inline uint32_t tags_victim_in(const struct tags *t, uint32_t first) {
    uint32_t best = NO_SLOT;
    uint64_t oldest = TAGS_HELD;
    for (uint32_t i = first; i < first + t->spec.ways; i++) {
        best = t->stamp[i] < oldest ? i : best;
        oldest = min_u64(t->stamp[i], oldest);
    }
    return best;
}

static inline uint32_t tags_victim(const struct tags *t, uint64_t line) {
    return tags_victim_in(t, tags_set(t, line));
}

/* Notes a use, for the replacement. */
static inline void tags_touch(struct tags *t, uint32_t slot) {
    if (t->touch)
        t->stamp[slot] = ++t->time | (t->stamp[slot] & TAGS_HELD);
}

#endif
