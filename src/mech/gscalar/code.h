/* How a register of 32 lanes lies in the arrays of its bank, and what of it is kept beside them.
 *
 * Planes (G-Scalar, section 2.2): byte k of all lanes lies in arrays of its own, one for each 16 lanes. Of
 * the leading bytes that all lanes share the arrays hold nothing: they are those of the base value, which a
 * small array keeps, for the whole register or for each half. Scalar: the same, but all bytes are shared or
 * none counts. BDI (Warped-Compression): the base value and the differences to it, of no, one or two bytes,
 * lie in as many arrays as they fill.
 *
 * What some lanes wrote is never compressed: it lies in the arrays as it is. The small array then has the
 * lanes of the last write, and whether they are all equal. Nothing here knows about warps or time. */
#ifndef REPRISE_MECH_GSCALAR_CODE_H
#define REPRISE_MECH_GSCALAR_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/isa.h"

enum gscalar_code { CODE_PLANES, CODE_SCALAR, CODE_BDI };

enum { CODE_HALF = WARP_LANES / 2, CODE_WORD = 4 /* bytes */, CODE_ARRAYS = 8 };
#define CODE_ALL UINT32_MAX

/* What the small arrays keep of one register: base values, enc, D, FS, and lanes in the base's place. */
struct code_reg {
    uint32_t base[2];  /* of each half */
    uint32_t lanes;    /* divergent: of the last write */
    uint8_t shared[2]; /* leading bytes that all lanes of a half share: enc, as a number */
    uint8_t whole;     /* ... that all lanes share */
    bool full_scalar;  /* FS: all lanes have one value; divergent: those of the last write */
    bool divergent;    /* D: not compressed */
    bool known;        /* false: what the arrays hold is all that is known */
};

/* The encoding in use. */
struct code_spec {
    enum gscalar_code code;
    bool halves; /* planes: each half has a base value */
};

/* The form of a register that all lanes wrote: leading bytes that all lanes share, and those of each half
 * that are not stored. */
enum { CODE_FORMS = (CODE_WORD + 1) * (CODE_WORD + 1) * (CODE_WORD + 1) };
static inline uint32_t code_form(uint32_t whole, uint32_t low, uint32_t high) {
    return (whole * (CODE_WORD + 1) + low) * (CODE_WORD + 1) + high;
}
/* A register of a form, less its base values. */
struct code_reg code_of_form(uint32_t form);
/* A value that all lanes wrote. */
struct code_reg code_full(const struct code_spec *s, const uint32_t v[WARP_LANES]);
/* A value of which lanes wrote theirs; these are not none. */
struct code_reg code_part(const uint32_t v[WARP_LANES], uint32_t lanes);
/* The lane that stands for others: the leading one. */
static inline uint32_t code_leader(uint32_t lanes) {
    return 31u - (uint32_t)__builtin_clz(lanes);
}

/* Some of it is not in the arrays. */
static inline bool code_compressed(const struct code_reg *r) {
    return r->known && !r->divergent && (r->shared[0] | r->shared[1]);
}

/* Arrays that do not hold anything of a compressed register. */
static inline uint32_t code_spared(const struct code_spec *s, const struct code_reg *r) {
    if (s->code == CODE_BDI) /* the base lies in one, then bytes of 32 lanes */
        return CODE_ARRAYS - 1u - 2u * (uint32_t)(CODE_WORD - r->shared[0]);
    return (uint32_t)r->shared[0] + r->shared[1];
}
/* Arrays that a read of the register, or the write that made it what it is, activates. */
static inline uint32_t code_read_arrays(const struct code_spec *s, const struct code_reg *r) {
    return code_compressed(r) ? CODE_ARRAYS - code_spared(s, r) : CODE_ARRAYS;
}
uint32_t code_write_arrays(const struct code_spec *s, const struct code_reg *r);

/* What comes back of v, which r says how to store, from the arrays and the base values. */
void code_back(const struct code_spec *s, const struct code_reg *r, const uint32_t v[WARP_LANES],
               uint32_t back[WARP_LANES]);
/* Planes with a base value for each half: a value that all lanes wrote goes to the arrays and comes back.
 * Returns its form. */
uint32_t code_through_planes(uint32_t v[WARP_LANES]);
/* The same function, for those who call it often. */
uint32_t (*code_through_planes_here(void))(uint32_t v[WARP_LANES]);
/* What is left of v in these lanes if others are written while it is compressed: what the arrays do not hold
 * reads as what they held before, of which nothing is known. */
void code_lose(const struct code_spec *s, const struct code_reg *r, uint32_t v[WARP_LANES], uint32_t lanes);

#endif
