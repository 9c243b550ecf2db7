/* The queue of the pending-retry mechanism (WIR, section VI-B): instructions whose result another one is
 * computing.
 *
 * First in, first out; an item whose result has still not come goes back to the end. */
#ifndef REPRISE_MECH_WIR_PENDQ_H
#define REPRISE_MECH_WIR_PENDQ_H

#include "sim/queue.h"

struct pendq {
    QUEUE(uint32_t) ops; /* the caller's numbers */
};

/* A queue of any size; one without room is always full, and empty. */
static inline void pendq_init(struct pendq *q, struct arena *a, uint32_t size) {
    *q = (struct pendq){0};
    queue_init(&q->ops, a, size);
}

static inline bool pendq_empty(const struct pendq *q) {
    return queue_empty(&q->ops);
}

static inline bool pendq_full(const struct pendq *q) {
    return queue_full(&q->ops);
}

/* Appends to a queue that is not full. */
static inline void pendq_push(struct pendq *q, uint32_t op) {
    queue_push(&q->ops, op);
}

/* The oldest of a queue that is not empty; it stays. */
static inline uint32_t pendq_head(const struct pendq *q) {
    return *queue_head(&q->ops);
}

/* Takes the oldest out. */
static inline uint32_t pendq_pop(struct pendq *q) {
    uint32_t op = pendq_head(q);
    queue_pop(&q->ops);
    return op;
}

/* Puts the oldest behind all others. */
static inline void pendq_requeue(struct pendq *q) {
    pendq_push(q, pendq_pop(q));
}

#endif
