#include "profile/spans.h"

#include <stdlib.h>

#include "base/arena.h"

void spans_init(struct spans *s, uint32_t size, uint32_t times) {
    uint64_t slots = 4;
    while (2 * slots < 3 * (uint64_t)size * times)
        slots *= 2;
    *s = (struct spans){.size = size,
                        .times = times,
                        .span = 1,
                        .first = 1,
                        .table = xcalloc(slots, sizeof *s->table),
                        .mask = slots - 1};
}

void spans_free(struct spans *s) {
    free(s->table);
}

void spans_pass(struct spans *s) {
    if (++s->at < s->size)
        return;
    s->at = 0;
    s->span++;
    if (s->span - s->first == s->times)
        s->first = s->span;
}

struct spans_seen spans_step(struct spans *s, uint64_t key) {
    uint64_t i = key & s->mask;
    while (s->table[i].span >= s->first && s->table[i].key != key)
        i = (i + 1) & s->mask;
    struct spans_entry *e = &s->table[i];
    struct spans_seen seen = {.in_short = e->span == s->span && e->key == key,
                              .in_long = e->span >= s->first && e->key == key};
    *e = (struct spans_entry){key, s->span};
    spans_pass(s);
    return seen;
}
