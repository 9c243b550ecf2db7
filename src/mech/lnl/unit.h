/* The units that compare what lanes have loaded (section 3.3.2), and those that fill in what lanes have not
 * computed: functions of words alone. */
#ifndef REPRISE_MECH_LNL_UNIT_H
#define REPRISE_MECH_LNL_UNIT_H

#include <stdbool.h>
#include <stdint.h>

/* The reciprocal of a divisor of eight bits, 1.f in steps of 1/128, from its fraction of seven bits: in steps
 * of 1/256, within 3.4%. */
uint32_t unit_reciprocal(uint32_t fraction);
/* A threshold as the comparison units have it: relative errors are in steps of 2^-15. */
uint32_t unit_threshold(double threshold);
/* Is b like the anchor's a? By the comparison unit; by |a - b| / |a|, exactly; by the difference of integers.
 * The first two take floats. finite: infinities and what is no number are alike only if they are equal. */
bool unit_alike(uint32_t a, uint32_t b, uint32_t threshold, bool finite);
bool unit_alike_exact(uint32_t a, uint32_t b, double threshold);
bool unit_alike_int(uint32_t a, uint32_t b, double threshold);

/* What lies at place x of 0..n between a (at 0) and b (at n), or beyond: a float; four bytes, each rounded.
 */
uint32_t unit_between(uint32_t a, uint32_t b, uint32_t x, uint32_t n);
uint32_t unit_between_bytes(uint32_t a, uint32_t b, uint32_t x, uint32_t n);
/* The same as a weighted sum, which does not always give back equal ends. */
uint32_t unit_weighted(uint32_t a, uint32_t b, uint32_t x, uint32_t n);

#endif
