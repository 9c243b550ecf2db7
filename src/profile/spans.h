/* Whether something appeared before in the same span of steps. Steps fall into short spans of one length, and
 * so many of those make a long one. A step costs one search in a table, whatever the lengths: this is how
 * surveys look back, many times for each of their instructions. Who must also know how often something
 * appeared, or among the last so many steps, asks profile/window.h. */
#ifndef REPRISE_PROFILE_SPANS_H
#define REPRISE_PROFILE_SPANS_H

#include <stdbool.h>
#include <stdint.h>

/* The last short span in which a key appeared; one of a long span that has ended is as good as none. */
struct spans_entry {
    uint64_t key, span;
};

struct spans {
    uint32_t size, times;      /* steps of a short span; short spans of a long one */
    uint32_t at;               /* steps of the short span so far */
    uint64_t span, first;      /* the number of the short span, from 1; of the first in the long one */
    struct spans_entry *table; /* open addressing; nothing leaves it while a long span lasts */
    uint64_t mask;             /* slots - 1; a third of them at least are free */
};

struct spans_seen {
    bool in_short, in_long;
};

/* n of them, one at least, which spans_destroy frees together. Memory is used when they are. */
struct spans *spans_create(uint32_t n, uint32_t size, uint32_t times);
void spans_destroy(struct spans *all);
/* One step, by a key that is a hash. */
struct spans_seen spans_step(struct spans *s, uint64_t key);
/* One step of something that is equal to nothing. */
void spans_pass(struct spans *s);
/* Says that a step by a key will come soon: the table is seldom in the cache. */
static inline void spans_expect(const struct spans *s, uint64_t key) {
    __builtin_prefetch(&s->table[key & s->mask], 1);
}

#endif
