/* What L2 has promised to an SM: replies that are ready there in a tick that is known, or later, and then
 * enter the network. A network that has not moved all promised ones by then may bring one at any time; else
 * it is known for how long none comes. */
#ifndef REPRISE_MEM_PROMISE_H
#define REPRISE_MEM_PROMISE_H

#include <stdint.h>

#include "sim/clock.h"

enum { PROMISES_KNOWN = 64 }; /* of more than these, the oldest count as ready */

struct promises {
    uint32_t made;               /* so many replies were promised in all ... */
    uint32_t past;               /* ... and so many of them for ticks that L2 has gone through */
    uint64_t at[PROMISES_KNOWN]; /* by number: when they are ready at the earliest, ascending */
};

/* One more reply is ready in that tick, at the earliest. */
static inline void promise_reply(struct promises *p, uint64_t tick) {
    p->at[p->made++ % PROMISES_KNOWN] = tick;
}

/* L2 has gone through the ticks before now, in which the network moved so many replies in all: the tick in
 * which the next one that it has not moved is ready, NEVER if none is promised. Before now: there is no
 * telling. */
static inline uint64_t promise_next(struct promises *p, uint64_t now, uint32_t moved) {
    if (p->made - p->past > PROMISES_KNOWN)
        p->past = p->made - PROMISES_KNOWN;
    while (p->past != p->made && p->at[p->past % PROMISES_KNOWN] < now)
        p->past++;
    if (p->past != moved)
        return 0;
    return p->past == p->made ? NEVER : p->at[p->past % PROMISES_KNOWN];
}

#endif
