/* Random kernels for mechanisms that look at register values: what lanes have in common, guards, divergent
 * paths; and the registers of a run as a plain reference sees them. */
#ifndef REPRISE_TEST_REGS_RIG_H
#define REPRISE_TEST_REGS_RIG_H

#include "core/view.h"
#include "timing_rig.h"

enum { REGS_ROWS = 8, REGS_WORDS = 1024, REGS_RESULT = REGS_ROWS * REGS_WORDS };

/* The text of a kernel k(buffer, n, x): loads rows of the buffer, computes, and stores REGS_ROWS words of
 * each thread behind them. To be freed. */
char *regs_kernel(uint64_t seed);
/* Fills the rows: equal lanes, lanes that share bytes, equal halves, small numbers of both signs, anything.
 */
void regs_fill(const struct rig *r, uint64_t seed);
/* A GPU of the register file's papers with a mechanism, checked. */
void regs_open(struct rig *r, const char *gpu, const char *mech, const char *const *set, const char *text);
/* What kernel k leaves in its results without a mechanism. */
void regs_base(const char *gpu, const char *text, uint64_t seed, uint32_t threads, uint32_t *result);
/* The next of a sequence of random numbers, below n. */
uint32_t regs_random(uint64_t *x, uint32_t n);

#endif
