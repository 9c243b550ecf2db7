/* Pools of numbered slots, and sets of numbers: both fixed in size, in an arena, without allocation in use.
 */
#ifndef REPRISE_SIM_POOL_H
#define REPRISE_SIM_POOL_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

#define NO_SLOT UINT32_MAX

/* Which of size slots are free: those given back, as a list through next, and those from fresh on, which were
 * never taken and cost nothing until they are. A slot in use may use its next for a list of its own. The slot
 * given back last is taken first, so the order is the same in every run. */
struct pool {
    uint32_t *next;
    uint32_t first, fresh, used, size;
};

static inline void pool_init(struct pool *p, struct arena *a, uint32_t size) {
    *p = (struct pool){.next = arena_array(a, uint32_t, size), .first = NO_SLOT, .size = size};
}

static inline bool pool_full(const struct pool *p) {
    return p->used == p->size;
}

/* Takes a slot; there must be one. */
static inline uint32_t pool_take(struct pool *p) {
    uint32_t i = p->first;
    assert(!pool_full(p));
    if (i != NO_SLOT)
        p->first = p->next[i];
    else
        i = p->fresh++;
    p->next[i] = NO_SLOT;
    p->used++;
    return i;
}

static inline void pool_give(struct pool *p, uint32_t i) {
    p->next[i] = p->first;
    p->first = i;
    p->used--;
}

/* A set of numbers below size. */
struct bits {
    uint64_t *word;
    uint32_t words, count;
};

static inline void bits_init(struct bits *b, struct arena *a, uint32_t size) {
    b->words = (size + 63) / 64;
    b->word = arena_array(a, uint64_t, b->words);
    b->count = 0;
}

static inline bool bits_has(const struct bits *b, uint32_t i) {
    return b->word[i / 64] >> i % 64 & 1;
}

static inline void bits_add(struct bits *b, uint32_t i) {
    b->count += !bits_has(b, i);
    b->word[i / 64] |= UINT64_C(1) << i % 64;
}

static inline void bits_remove(struct bits *b, uint32_t i) {
    b->count -= bits_has(b, i);
    b->word[i / 64] &= ~(UINT64_C(1) << i % 64);
}

/* The smallest member that is at least from, or NO_SLOT. */
static inline uint32_t bits_next(const struct bits *b, uint32_t from) {
    uint32_t w = from / 64;
    if (w >= b->words)
        return NO_SLOT;
    uint64_t x = b->word[w] & ~UINT64_C(0) << from % 64;
    while (!x) {
        if (++w == b->words)
            return NO_SLOT;
        x = b->word[w];
    }
    return w * 64 + (uint32_t)__builtin_ctzll(x);
}

/* For each member i, in order. Members that come or go meanwhile, but for the one in work, may be seen or
 * not. */
#define BITS_EACH(b, i)                                                                                      \
    for (uint32_t i##_word = 0, i; i##_word < (b)->words; i##_word++)                                        \
        for (uint64_t i##_left = (b)->word[i##_word];                                                        \
             i##_left && (i = i##_word * 64 + (uint32_t)__builtin_ctzll(i##_left), true);                    \
             i##_left &= i##_left - 1)

#endif
