/* The loops over lanes that encode registers and put them together again, for functions that are compiled for
 * several hosts (base/wide.h). They are written so that compilers make vectors of them. */
#ifndef REPRISE_MECH_GSCALAR_CODE_LANES_H
#define REPRISE_MECH_GSCALAR_CODE_LANES_H

#include "base/wide.h"
#include "mech/gscalar/code.h"

/* Some lanes of a register; what is put together again may take the place of what it is made of. */
typedef uint32_t lanes_some __attribute__((vector_size(32), aligned(4), may_alias));

/* Leading bytes in which words do not differ. */
static WIDE_PART uint8_t same_bytes(uint32_t differ) {
    return differ ? (uint8_t)(__builtin_clz(differ) / 8) : CODE_WORD;
}

/* Bits in which some of these lanes differ from a word. */
static WIDE_PART uint32_t differences(const uint32_t *v, uint32_t n, uint32_t base) {
    uint32_t differ = 0;
    for (uint32_t l = 0; l < n; l++)
        differ |= v[l] ^ base;
    return differ;
}

/* Bits of the bytes behind the leading ones. */
static WIDE_PART uint32_t low_bytes(uint32_t leading) {
    return (uint32_t)((uint64_t)CODE_ALL >> 8 * leading);
}

/* BDI: bytes of a word that the differences to lane 0 leave, 4, 3 or 2; 0: they do not fit. */
static WIDE_PART uint8_t spared_bytes(const uint32_t *v) {
    uint32_t wide = 0;
    for (uint32_t l = 0; l < WARP_LANES; l++) {
        uint32_t delta = v[l] - v[0];
        wide |= delta ^ (0u - (delta >> 31)); /* what the sign does not say */
    }
    return !wide && !differences(v, WARP_LANES, v[0]) ? 4 : wide < 0x80 ? 3 : wide < 0x8000 ? 2 : 0;
}

/* The form of a value that all lanes wrote (code_form). */
static WIDE_PART uint32_t lanes_form(const struct code_spec *s, const uint32_t v[WARP_LANES]) {
    uint32_t low = differences(v, CODE_HALF, v[0]);
    uint32_t high = differences(v + CODE_HALF, CODE_HALF, v[CODE_HALF]);
    uint32_t all = low | high | (v[0] ^ v[CODE_HALF]), whole = same_bytes(all);
    if (s->code == CODE_PLANES)
        return s->halves ? code_form(whole, same_bytes(low), same_bytes(high))
                         : code_form(whole, whole, whole);
    uint32_t spared = s->code == CODE_BDI ? spared_bytes(v) : all ? 0 : CODE_WORD;
    return code_form(whole, spared, spared);
}

/* Differences to the base, of as many bytes as are stored. */
static WIDE_PART void back_from_base(const struct code_reg *r, const uint32_t *v, uint32_t *back) {
    uint32_t kept = low_bytes(r->shared[0]), sign = kept ^ kept >> 1;
    for (uint32_t l = 0; l < WARP_LANES; l++)
        back[l] = r->base[0] + ((((v[l] - r->base[0]) & kept) ^ sign) - sign);
}

/* code_back. */
static WIDE_PART void lanes_back(const struct code_spec *s, const struct code_reg *r,
                                 const uint32_t v[WARP_LANES], uint32_t back[WARP_LANES]) {
    if (s->code == CODE_BDI) {
        back_from_base(r, v, back);
        return;
    }
    const lanes_some *from = (const lanes_some *)v;
    lanes_some *to = (lanes_some *)back;
    enum { VECTORS = CODE_HALF * sizeof *v / sizeof *to };
    for (uint32_t h = 0; h < 2; h++) {
        uint32_t kept = low_bytes(r->shared[h]), base = r->base[h] & ~kept;
        for (uint32_t k = h * VECTORS; k < (h + 1) * VECTORS; k++)
            to[k] = (from[k] & kept) | base;
    }
}

#endif
