/* Division by a number that stays the same: one multiplication instead, where that is exact. */
#ifndef REPRISE_SIM_DIVIDE_H
#define REPRISE_SIM_DIVIDE_H

#include <stdint.h>

struct divisor {
    uint64_t by, magic; /* magic: floor((2^64 - 1) / by) */
};

/* by is at least 1. */
static inline struct divisor divisor_make(uint64_t by) {
    return (struct divisor){by, UINT64_MAX / by};
}

/* floor(x / by). (x + 1) * magic / 2^64 is less than (x + 1) / by, and no less than floor(x / by) as long as
 * (x + 1) * by fits into 64 bits. */
static inline uint64_t divide(const struct divisor *d, uint64_t x) {
    __extension__ typedef unsigned __int128 wide;
    return x < d->magic ? (uint64_t)((wide)(x + 1) * d->magic >> 64) : x / d->by;
}

static inline uint64_t divide_rest(const struct divisor *d, uint64_t x) {
    return x - divide(d, x) * d->by;
}

#endif
