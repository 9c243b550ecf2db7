/* Random numbers for evictions: Marsaglia's xorshift, the same sequence in every run. */
#ifndef REPRISE_MECH_WIR_PICK_H
#define REPRISE_MECH_WIR_PICK_H

#include <stdint.h>

#define PICK_SEED UINT64_C(0x57495265766963)

/* The next number below n, which must not be 0. */
static inline uint32_t wir_pick(uint64_t *state, uint32_t n) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (uint32_t)((*state >> 32) * n >> 32);
}

#endif
