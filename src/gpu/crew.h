/* Threads that work on pieces of one job, together with the thread that has it. */
#ifndef REPRISE_GPU_CREW_H
#define REPRISE_GPU_CREW_H

#include <stdbool.h>
#include <stdint.h>

struct crew;

/* Starts threads beside the caller's, for jobs of at most so many pieces. */
struct crew *crew_create(uint32_t threads, uint32_t pieces);
void crew_free(struct crew *c);
/* Whether the threads belong to this process; a child that was forked has none of them. */
bool crew_is_here(const struct crew *c);
/* Does pieces 0 to n - 1 of a job, each once, in any order and by any thread; returns when all are done. A
 * thread that is late, because the host has other work for its processor, is not waited for unless it has
 * begun a piece. */
void crew_work(struct crew *c, uint32_t n, void (*piece)(void *ctx, uint32_t i), void *ctx);

#endif
