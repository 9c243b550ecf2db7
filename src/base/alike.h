/* Whether two floats are alike, as a small circuit tells it that neither subtracts nor divides floats: the
 * comparison unit of Lock and Load (Liu, section 3.3.2), which AxMemo's quality monitor has, too. */
#ifndef REPRISE_BASE_ALIKE_H
#define REPRISE_BASE_ALIKE_H

#include <stdbool.h>
#include <stdint.h>

/* The reciprocal of a divisor of eight bits, 1.f in steps of 1/128, from its fraction of seven bits: in steps
 * of 1/256, within 3.4%. */
uint32_t alike_reciprocal(uint32_t fraction);
/* A threshold as the comparison unit has it: relative errors are in steps of 2^-15. */
uint32_t alike_threshold(double threshold);
/* Is the relative difference of the floats with bits a and b below a threshold? Zero is only like zero.
 * finite: infinities and what is no number are alike only if they are equal. */
bool alike_floats(uint32_t a, uint32_t b, uint32_t threshold, bool finite);

#endif
