/* How many bytes of each lane a register needs, and which sub-banks of its bank hold them.
 *
 * Byte k of all lanes is a plane, which lies in a sub-bank of its own: in sub-bank k for even entries of the
 * bank, in 3 - k for odd ones. The planes above a register's width are not stored; what they would hold
 * follows from the highest stored byte of each lane (its sign), or, with fills, from one bit. */
#ifndef REPRISE_MECH_CMRC_WIDTH_H
#define REPRISE_MECH_CMRC_WIDTH_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/isa.h"

/* When planes need not be stored. */
enum cmrc_sign {
    SIGN_UNIFORM, /* all zeros, or all ones, and the sign below agrees, in all lanes together */
    SIGN_THREAD,  /* each lane's is its own sign */
    SIGN_FILL,    /* all zeros, or all ones, whatever is below: one more bit says which */
};

/* How a register is stored. */
struct cmrc_form {
    uint8_t width; /* bytes, 1 to 4 */
    bool ones;     /* fills: the planes above are ones */
};

enum { CMRC_FULL = 4 };

/* The form of a value in these lanes, which are not none; the others do not matter. */
struct cmrc_form cmrc_form_of_all(enum cmrc_sign sign, const uint32_t v[WARP_LANES], uint32_t lanes);
/* The same; often one lane, which needs all bytes, decides. */
static inline struct cmrc_form cmrc_form(enum cmrc_sign sign, const uint32_t v[WARP_LANES], uint32_t lanes) {
    uint32_t one = v[lanes & 1 ? 0 : __builtin_ctz(lanes)];
    if (sign != SIGN_FILL && (one ^ (0u - (one >> 31))) >> 23)
        return (struct cmrc_form){CMRC_FULL, false};
    return cmrc_form_of_all(sign, v, lanes);
}
/* The form of a value that all lanes have, which goes to the planes and comes back. */
struct cmrc_form cmrc_through_all(enum cmrc_sign sign, uint32_t v[WARP_LANES]);
static inline struct cmrc_form cmrc_through(enum cmrc_sign sign, uint32_t v[WARP_LANES]) {
    if (sign != SIGN_FILL && (v[0] ^ (0u - (v[0] >> 31))) >> 23)
        return (struct cmrc_form){CMRC_FULL, false};
    return cmrc_through_all(sign, v);
}
/* Whether the value of each of these lanes can be stored so. */
bool cmrc_fits(enum cmrc_sign sign, struct cmrc_form f, const uint32_t v[WARP_LANES], uint32_t lanes);
/* What comes back of v from the planes that the form has. */
void cmrc_load(enum cmrc_sign sign, struct cmrc_form f, const uint32_t v[WARP_LANES],
               uint32_t back[WARP_LANES]);
/* What these lanes of v are if its form is said to be another: planes that were never stored hold something.
 */
void cmrc_lose(struct cmrc_form f, uint32_t v[WARP_LANES], uint32_t lanes);
/* The sub-banks, as bits, that an entry of this width lies in. */
static inline uint8_t cmrc_mask(uint32_t width, bool odd) {
    static const uint8_t masks[2][CMRC_FULL + 1] = {{0, 1, 3, 7, 15}, {0, 8, 12, 14, 15}};
    return masks[odd][width];
}

#endif
