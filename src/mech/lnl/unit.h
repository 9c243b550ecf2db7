/* Units that compare what lanes have loaded, beside that of base/alike.h, and those that fill in what lanes
 * have not computed: functions of words alone. */
#ifndef REPRISE_MECH_LNL_UNIT_H
#define REPRISE_MECH_LNL_UNIT_H

#include <stdbool.h>
#include <stdint.h>

/* Is b like the anchor's a? By |a - b| / |a| of floats, exactly, where alike_floats is near it; by the
 * difference of integers. */
bool unit_alike_exact(uint32_t a, uint32_t b, double threshold);
bool unit_alike_int(uint32_t a, uint32_t b, double threshold);

/* What lies at place x of 0..n between a (at 0) and b (at n), or beyond: a float; four bytes, each rounded.
 */
uint32_t unit_between(uint32_t a, uint32_t b, uint32_t x, uint32_t n);
uint32_t unit_between_bytes(uint32_t a, uint32_t b, uint32_t x, uint32_t n);
/* The same as a weighted sum, which does not always give back equal ends. */
uint32_t unit_weighted(uint32_t a, uint32_t b, uint32_t x, uint32_t n);

#endif
