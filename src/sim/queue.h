/* Queues of fixed capacity in an arena: the buffers of hardware. They never grow; whoever pushes asks first.
 */
#ifndef REPRISE_SIM_QUEUE_H
#define REPRISE_SIM_QUEUE_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

/* Declares a first-in first-out queue of T. */
#define QUEUE(T)                                                                                             \
    struct {                                                                                                 \
        T *at;                                                                                               \
        uint32_t head, len, cap, mask;                                                                       \
    }

/* Slots that hold n items, a power of two so that positions wrap by a mask. */
static inline uint32_t queue_slots(uint32_t n) {
    uint32_t slots = 1;
    while (slots < n)
        slots *= 2;
    return slots;
}

#define queue_init(q, arena, n)                                                                              \
    do {                                                                                                     \
        (q)->cap = (n);                                                                                      \
        (q)->mask = queue_slots(n) - 1;                                                                      \
        (q)->at = arena_alloc((arena), sizeof *(q)->at * ((size_t)(q)->mask + 1));                           \
    } while (0)

#define queue_empty(q) ((q)->len == 0)
#define queue_full(q)  ((q)->len == (q)->cap)
#define queue_room(q)  ((q)->cap - (q)->len)
/* The oldest item; the queue must not be empty. */
#define queue_head(q) (&(q)->at[(q)->head & (q)->mask])
/* Item i from the oldest. */
#define queue_item(q, i) (&(q)->at[((q)->head + (i)) & (q)->mask])
/* Appends one item, given as an expression. */
#define queue_push(q, ...)                                                                                   \
    do {                                                                                                     \
        assert(!queue_full(q));                                                                              \
        (q)->at[((q)->head + (q)->len++) & (q)->mask] = (__VA_ARGS__);                                       \
    } while (0)
/* The same of one that is still to be written. */
#define queue_add(q) (assert(!queue_full(q)), &(q)->at[((q)->head + (q)->len++) & (q)->mask])
#define queue_pop(q)                                                                                         \
    do {                                                                                                     \
        assert(!queue_empty(q));                                                                             \
        (q)->head++;                                                                                         \
        (q)->len--;                                                                                          \
    } while (0)

#endif
