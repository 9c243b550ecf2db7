/* Launches, or what is left of them, that run untimed. */
#ifndef REPRISE_GPU_BLOCKS_H
#define REPRISE_GPU_BLOCKS_H

#include "gpu/timed.h"

/* What several threads need, kept from launch to launch. */
struct blocks {
    struct ahead *ahead;
    struct crew *crew; /* threads beside the caller's */
    uint64_t settled;  /* blocks that ran at the same time as others, of all launches */
};

/* Runs the rest of a launch functionally, by so many threads if the kernel permits it; *blocks is NULL at
 * first. False on a fault (x->fault). Results do not depend on the number of threads. */
bool blocks_run(struct exec *x, uint32_t slots, struct timed_span *span, uint32_t threads,
                struct blocks **blocks);
void blocks_free(struct blocks *b);

#endif
