/* Blocks of a functional run that are executed at the same time, as if one came after the other.
 *
 * A window of blocks runs on memory as it is when the window begins. Nobody writes to it meanwhile: stores,
 * and atomics whose result nobody wants, are kept (later.h). Then the blocks are settled in their order: one
 * that has read no line that a block before it in the window wrote has seen what it would have seen behind
 * them, and what it kept is carried out. The first for which that does not hold, or that did what cannot be
 * kept, and all behind it leave no trace: they are executed again, in the usual way. So results, counts and
 * faults are those of blocks that run one by one, whatever the program does, and however many threads there
 * are. */
#ifndef REPRISE_EXEC_AHEAD_H
#define REPRISE_EXEC_AHEAD_H

#include "exec/warp.h"

enum { AHEAD_BLOCKS = 32 }; /* of a window at most */

struct ahead;

struct ahead *ahead_create(void);
void ahead_free(struct ahead *a);
/* Gets ready for a launch; false when its code does not permit it, or somebody watches. */
bool ahead_open(struct ahead *a, struct exec *x);
void ahead_close(struct ahead *a);
/* A window begins with block first, in the order in which blocks begin. */
void ahead_begin(struct ahead *a, uint64_t first);
/* Runs block i of it; several may run at the same time. a: the struct ahead. */
void ahead_run(void *a, uint32_t i);
/* All n blocks have run: settles those that can be; returns how many, from the first on. */
uint32_t ahead_settle(struct ahead *a, uint32_t n);

#endif
