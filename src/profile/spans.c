#include "profile/spans.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arena.h"

static uint64_t slots_of(uint32_t size, uint32_t times) {
    uint64_t slots = 4;
    while (2 * slots < 3 * (uint64_t)size * times)
        slots *= 2;
    return slots;
}

/* Has memory lie in large pages, where the host offers them. */
static void use_large_pages(void *from, uint64_t bytes) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = ((uintptr_t)from + page - 1) & ~(page - 1),
              end = ((uintptr_t)from + bytes) & ~(page - 1);
    if (at < end)
        madvise((void *)at, end - at, MADV_HUGEPAGE);
}

/* All tables lie in one piece: steps go everywhere in them, and with small pages to find the page would cost
 * more than the step. */
struct spans *spans_create(uint32_t n, uint32_t size, uint32_t times) {
    uint64_t slots = slots_of(size, times);
    struct spans *all = xcalloc(n, sizeof *all);
    struct spans_entry *tables = xcalloc(n * slots, sizeof *tables);
    use_large_pages(tables, n * slots * sizeof *tables);
    for (uint32_t i = 0; i < n; i++)
        all[i] = (struct spans){.size = size,
                                .times = times,
                                .span = 1,
                                .first = 1,
                                .table = tables + i * slots,
                                .mask = slots - 1};
    return all;
}

void spans_destroy(struct spans *all) {
    free(all[0].table);
    free(all);
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
