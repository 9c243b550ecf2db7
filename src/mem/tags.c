/* The tag array. Sets need not be a power of two in number (48 KB of 4 ways are 96 sets), so the set is a
 * remainder, taken by two multiplications (Lemire, Kaser, Kurz: Faster remainder by direct computation,
 * 2019). */
#include "mem/tags.h"

#include <assert.h>
#include <string.h>

#include "sim/pool.h"

void tags_init(struct tags *t, struct arena *a, const struct tags_spec *s) {
    static const bool touch[] = {
#define REPLACEMENT(id, touch) [id] = touch,
        REPLACEMENTS
#undef REPLACEMENT
    };
    assert(s->sets && s->ways && mem_line_is_valid(s->line));
    size_t slots = (size_t)s->sets * s->ways;
    *t = (struct tags){.spec = *s,
                       .magic = UINT64_MAX / s->sets + 1,
                       .shift = mem_line_shift(s->line),
                       .empty = true,
                       .touch = touch[s->replacement]};
    t->key = arena_array(a, uint64_t, slots);
    t->line = arena_array(a, struct tags_line, slots);
    t->locked = arena_array(a, uint16_t, s->sets);
}

void tags_clear(struct tags *t) {
    if (t->empty)
        return;
    t->empty = true;
    size_t slots = (size_t)t->spec.sets * t->spec.ways;
    memset(t->key, 0, slots * sizeof *t->key);
    memset(t->line, 0, slots * sizeof *t->line);
    memset(t->locked, 0, t->spec.sets * sizeof *t->locked);
}

/* The first slot of the set of a line. */
static uint32_t set_of(const struct tags *t, uint64_t line) {
    __extension__ typedef unsigned __int128 wide;
    uint64_t n = line >> t->shift;
    if (t->spec.hash)
        n ^= n >> 7 ^ n >> 13 ^ n >> 19;
    uint32_t set = (uint32_t)((wide)(t->magic * (uint32_t)n) * t->spec.sets >> 64);
    return (t->spec.sets == 1 ? 0 : set) * t->spec.ways;
}

uint32_t tags_find(const struct tags *t, uint64_t line) {
    uint32_t first = set_of(t, line);
    for (uint32_t i = first; i < first + t->spec.ways; i++)
        if (t->key[i] == tags_key(line))
            return i;
    return NO_SLOT;
}

uint32_t tags_victim(const struct tags *t, uint64_t line) {
    uint32_t first = set_of(t, line), best = NO_SLOT;
    uint64_t oldest = UINT64_MAX;
    for (uint32_t i = first; i < first + t->spec.ways; i++) {
        const struct tags_line *l = &t->line[i];
        uint64_t stamp = l->pending | l->locks ? UINT64_MAX : l->stamp;
        best = stamp < oldest ? i : best;
        oldest = min_u64(stamp, oldest);
    }
    return best;
}

struct tags_victim tags_place(struct tags *t, uint32_t slot, uint64_t line) {
    struct tags_line *l = &t->line[slot];
    assert(!l->pending && !l->locks);
    struct tags_victim v = {t->key[slot] & ~UINT64_C(1), l->dirty, l->stamp != 0, l->prefetched};
    *l = (struct tags_line){.stamp = ++t->stamp};
    t->key[slot] = tags_key(line);
    t->empty = false;
    return v;
}

void tags_drop(struct tags *t, uint32_t slot) {
    assert(!t->line[slot].pending && !t->line[slot].locks);
    t->line[slot] = (struct tags_line){0};
    t->key[slot] = 0;
}

bool tags_can_lock(const struct tags *t, uint32_t slot) {
    return t->line[slot].locks ? t->line[slot].locks < UINT16_MAX
                               : t->locked[slot / t->spec.ways] + 1u < t->spec.ways;
}

void tags_lock(struct tags *t, uint32_t slot) {
    assert(tags_can_lock(t, slot));
    if (!t->line[slot].locks++)
        t->locked[slot / t->spec.ways]++;
}

void tags_unlock(struct tags *t, uint32_t slot) {
    assert(t->line[slot].locks);
    if (!--t->line[slot].locks)
        t->locked[slot / t->spec.ways]--;
}
