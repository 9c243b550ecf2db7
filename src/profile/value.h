/* Vectors of 32 words as profiles see them: sums by which they are compared, and their form. One definition
 * for all profiles.
 *
 * A sum is one of products with random keys (the NH family), which maps unequal vectors to one value with
 * probability 2^-64, whatever their structure. It can be kept with the vector and mixed into any hash. */
#ifndef REPRISE_PROFILE_VALUE_H
#define REPRISE_PROFILE_VALUE_H

#include <stdint.h>

#include "isa/isa.h"

struct value_sum {
    uint64_t low, high;
};

/* What a vector looks like; of several, the last of them in this order. */
enum value_form { VALUE_UNIFORM, VALUE_AFFINE, VALUE_UNSTRUCTURED, VALUE_FORMS };

/* Adds a number to a hash. */
static inline uint64_t value_mix(uint64_t h, uint64_t v) {
    __extension__ typedef unsigned __int128 wide;
    wide p = (wide)(h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint64_t)p ^ (uint64_t)(p >> 64);
}

/* The sum of these lanes; the others do not matter. */
struct value_sum value_sum(const uint32_t v[WARP_LANES], uint32_t lanes);
static inline uint64_t value_mix_sum(uint64_t h, struct value_sum s) {
    return value_mix(value_mix(h, s.low), s.high);
}
/* One value, base + lane x stride, or neither, in all lanes. */
enum value_form value_form(const uint32_t v[WARP_LANES]);

#endif
