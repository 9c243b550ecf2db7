/* Miss registers: a small hash table over two pools. */
#include "mem/mshr.h"

#include "base/often.h"
#include "sim/queue.h"

void mshr_init(struct mshr *m, struct arena *a, uint32_t entries, uint32_t merges, uint32_t line) {
    assert(entries && merges);
    m->shift = mem_line_shift(line);
    m->merges = merges;
    m->entry = arena_array(a, struct mshr_entry, entries);
    m->waiter = arena_array(a, struct mshr_waiter, (size_t)entries * merges);
    pool_init(&m->entries, a, entries);
    pool_init(&m->waiters, a, entries * merges);
    m->mask = queue_slots(2 * entries) - 1;
    m->bucket = arena_array(a, uint32_t, m->mask + 1);
    for (uint32_t i = 0; i <= m->mask; i++)
        m->bucket[i] = NO_SLOT;
}

static uint32_t *bucket_of(const struct mshr *m, uint64_t line) {
    uint64_t h = (line >> m->shift) * UINT64_C(0x9e3779b97f4a7c15);
    return &m->bucket[(uint32_t)(h >> 32) & m->mask];
}

EVERY_TIME uint32_t mshr_find(const struct mshr *m, uint64_t line) {
    uint32_t e = *bucket_of(m, line);
    while (e != NO_SLOT && m->entry[e].line != line)
        e = m->entries.next[e];
    return e;
}

EVERY_TIME uint32_t mshr_add(struct mshr *m, uint64_t line) {
    uint32_t e = pool_take(&m->entries), *b = bucket_of(m, line);
    m->entry[e] = (struct mshr_entry){.line = line, .slot = NO_SLOT, .first = NO_SLOT, .last = NO_SLOT};
    m->entries.next[e] = *b;
    *b = e;
    return e;
}

EVERY_TIME void mshr_wait(struct mshr *m, uint32_t e, const struct mem_packet *p, uint8_t needs) {
    assert(mshr_has_room(m, e));
    struct mshr_entry *x = &m->entry[e];
    uint32_t w = pool_take(&m->waiters);
    m->waiter[w].packet = *p;
    m->waiter[w].needs = needs;
    if (x->first == NO_SLOT)
        x->first = w;
    else
        m->waiters.next[x->last] = w;
    x->last = w;
    x->waiters++;
}

EVERY_TIME bool mshr_take(struct mshr *m, uint32_t e, struct mem_packet *out) {
    struct mshr_entry *x = &m->entry[e];
    uint32_t before = NO_SLOT, w = x->first;
    while (w != NO_SLOT && m->waiter[w].needs & x->wanted) {
        before = w;
        w = m->waiters.next[w];
    }
    if (w == NO_SLOT)
        return false;
    *out = m->waiter[w].packet;
    uint32_t after = m->waiters.next[w];
    if (before == NO_SLOT)
        x->first = after;
    else
        m->waiters.next[before] = after;
    if (after == NO_SLOT)
        x->last = before;
    x->waiters--;
    pool_give(&m->waiters, w);
    return true;
}

EVERY_TIME void mshr_remove(struct mshr *m, uint32_t e) {
    assert(!m->entry[e].waiters && !m->entry[e].wanted);
    uint32_t *p = bucket_of(m, m->entry[e].line);
    while (*p != e)
        p = &m->entries.next[*p];
    *p = m->entries.next[e];
    pool_give(&m->entries, e);
}
