/* Masks of lanes as masks of their words. */
#ifndef REPRISE_ISA_LANE_BITS_H
#define REPRISE_ISA_LANE_BITS_H

#include "isa/isa.h"

/* All bits if lane l is among lanes, else none. From a table, so that compilers make vectors of loops over l
 * also where the host cannot shift each word of a vector by its own number. */
static inline uint32_t lane_bits(uint32_t lanes, uint32_t l) {
    static const uint32_t bit[WARP_LANES] = {
#define EIGHT(l) 1u << (l), 2u << (l), 4u << (l), 8u << (l), 16u << (l), 32u << (l), 64u << (l), 128u << (l)
        EIGHT(0), EIGHT(8), EIGHT(16), EIGHT(24)
#undef EIGHT
    };
    return 0u - ((lanes & bit[l]) != 0);
}

#endif
