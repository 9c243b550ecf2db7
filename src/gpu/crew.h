/* Threads that work on pieces of one job, together with the thread that has it. */
#ifndef REPRISE_GPU_CREW_H
#define REPRISE_GPU_CREW_H

#include <stdbool.h>
#include <stdint.h>

struct crew;

/* Starts threads beside the caller's, for jobs whose pieces have numbers below pieces. */
struct crew *crew_create(uint32_t threads, uint32_t pieces);
void crew_free(struct crew *c);
/* Whether the threads belong to this process; a child that was forked has none of them. */
bool crew_is_here(const struct crew *c);
/* Does n pieces of a job, each once, in any order and by any thread; returns when all are done. numbers: of
 * the pieces, ascending; NULL: from 0 on. A piece mostly goes to the thread that had the one of its number
 * before. A thread that is late, because the host has other work for its processor, is not waited for unless
 * it has begun a piece; when that happens often the caller works alone for a while. */
void crew_work(struct crew *c, const uint32_t *numbers, uint32_t n, void (*piece)(void *ctx, uint32_t number),
               void *ctx);

#endif
