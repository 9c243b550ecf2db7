/* The tag array. */
#include "mem/tags.h"

#include <assert.h>
#include <string.h>

#include "base/often.h"

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
    t->stamp = arena_array(a, uint64_t, slots);
    t->line = arena_array(a, struct tags_line, slots);
    t->locked = arena_array(a, uint16_t, s->sets);
}

void tags_clear(struct tags *t) {
    if (t->empty)
        return;
    t->empty = true;
    size_t slots = (size_t)t->spec.sets * t->spec.ways;
    memset(t->key, 0, slots * sizeof *t->key);
    memset(t->stamp, 0, slots * sizeof *t->stamp);
    memset(t->line, 0, slots * sizeof *t->line);
    memset(t->locked, 0, t->spec.sets * sizeof *t->locked);
}

EVERY_TIME struct tags_victim tags_place(struct tags *t, uint32_t slot, uint64_t line) {
    struct tags_line *l = &t->line[slot];
    assert(!l->pending && !l->locks);
    struct tags_victim v = {t->key[slot] & ~UINT64_C(1), l->dirty, t->stamp[slot] != 0, l->prefetched};
    *l = (struct tags_line){0};
    t->stamp[slot] = ++t->time;
    t->key[slot] = tags_key(line);
    t->empty = false;
    return v;
}

void tags_drop(struct tags *t, uint32_t slot) {
    assert(!t->line[slot].pending && !t->line[slot].locks);
    t->line[slot] = (struct tags_line){0};
    t->stamp[slot] = 0;
    t->key[slot] = 0;
}

/* The line in a slot may go again, unless it still waits for sectors or has locks. */
static void let_go(struct tags *t, uint32_t slot) {
    if (!(t->line[slot].pending | t->line[slot].locks))
        t->stamp[slot] &= ~TAGS_HELD;
}

EVERY_TIME void tags_await(struct tags *t, uint32_t slot, uint8_t sectors) {
    t->line[slot].pending |= sectors;
    t->stamp[slot] |= TAGS_HELD;
}

EVERY_TIME void tags_arrive(struct tags *t, uint32_t slot, uint8_t sectors) {
    t->line[slot].pending &= ~sectors;
    t->line[slot].valid |= sectors;
    let_go(t, slot);
}

bool tags_can_lock(const struct tags *t, uint32_t slot) {
    return t->line[slot].locks ? t->line[slot].locks < UINT16_MAX
                               : t->locked[slot / t->spec.ways] + 1u < t->spec.ways;
}

void tags_lock(struct tags *t, uint32_t slot) {
    assert(tags_can_lock(t, slot));
    if (!t->line[slot].locks++)
        t->locked[slot / t->spec.ways]++;
    t->stamp[slot] |= TAGS_HELD;
}

void tags_unlock(struct tags *t, uint32_t slot) {
    assert(t->line[slot].locks);
    if (!--t->line[slot].locks)
        t->locked[slot / t->spec.ways]--;
    let_go(t, slot);
}
