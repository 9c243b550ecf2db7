/* The hash of a register's value: 1024 bits to 32, of the H3 family (Ramakrishna, Fu, Bahcekapili 1997).
 *
 * A member of H3 is a matrix of zeros and ones: every bit of the result is the exclusive or of a fixed set of
 * bits of the value. Here the matrix is H3_SEED's, the same in every run:
 *   - equal values have equal hashes, and hash(a ^ b) = hash(a) ^ hash(b);
 *   - values that differ in a single lane have different hashes (with all 32 bits kept), since what the
 * matrix does to one lane can be undone;
 *   - about half of the matrix is ones, and no two columns are equal. */
#ifndef REPRISE_MECH_WIR_H3_H
#define REPRISE_MECH_WIR_H3_H

#include <stdint.h>

#include "base/arena.h"

#define H3_SEED UINT64_C(0x5752502d48332d31)

enum { H3_LANES = 32, H3_ROUNDS = 4 };

/* The matrix, as factors that are quick to apply. */
struct h3 {
    uint32_t mask[H3_ROUNDS][H3_LANES]; /* which bits a lane's rounds mix */
    uint32_t sum[4][256]; /* what each byte of the folded lanes adds to the bits that are kept */
    uint32_t (*hash)(const struct h3 *h, const uint32_t *value); /* all of it, as this host does it best */
};

/* A hash of which only the low bits (1 to 32) are kept; fewer than 32 force collisions. */
struct h3 *h3_create(struct arena *a, uint32_t bits);
/* The hash of a value, which must be aligned to 64 bytes. */
uint32_t h3_hash(const struct h3 *h, const uint32_t value[H3_LANES]);

#endif
