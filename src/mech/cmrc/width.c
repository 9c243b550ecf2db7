/* Widths of registers. The loops over lanes are written so that compilers make vectors of them. */
#include "mech/cmrc/width.h"

#include "base/wide.h"
#include "isa/lane_bits.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

/* Bytes that words with these significant bits need. */
static WIDE_PART uint8_t bytes_of(uint32_t bits) {
    return bits < 1u << 8 ? 1 : bits < 1u << 16 ? 2 : bits < 1u << 24 ? 3 : 4;
}

/* Each lane by itself: bits that its sign does not say, and the sign; the bit beside them is the stored sign.
 */
static WIDE_PART uint8_t signed_bytes(const uint32_t *v, uint32_t lanes) {
    uint32_t bits = 0;
    for (uint32_t l = 0; l < WARP_LANES; l++)
        bits |= (v[l] ^ (0u - (v[l] >> 31))) << 1 & lane_bits(lanes, l);
    return bits >> 31 ? 4 : bytes_of(bits);
}

/* A value that all lanes have: what is below without a look at which they are, which is the common case. */
static WIDE_PART struct cmrc_form whole_form(const uint32_t v[WARP_LANES]) {
    uint32_t any = 0, all = UINT32_MAX;
    for (uint32_t l = 0; l < WARP_LANES; l++) {
        any |= v[l];
        all &= v[l];
    }
    uint32_t bits = all >> 31 ? ~all : any; /* of values with one sign, those that it does not say */
    bool full = (any ^ all) >> 31 || bits >> 30;
    return (struct cmrc_form){full ? CMRC_FULL : bytes_of(bits << 1), false};
}

static WIDE_PART struct cmrc_form form(enum cmrc_sign sign, const uint32_t v[WARP_LANES], uint32_t lanes) {
    uint32_t any = 0, lacking = 0;
    if (sign == SIGN_UNIFORM && lanes == UINT32_MAX)
        return whole_form(v);
    for (uint32_t l = 0; l < WARP_LANES; l++) {
        any |= v[l] & lane_bits(lanes, l);
        lacking |= ~v[l] & lane_bits(lanes, l);
    }
    if (sign == SIGN_FILL) {
        uint8_t zeros = bytes_of(any), ones = bytes_of(lacking);
        return ones < zeros ? (struct cmrc_form){ones, true} : (struct cmrc_form){zeros, false};
    }
    bool mixed = any >> 31 && lacking >> 31;
    if (sign == SIGN_UNIFORM && mixed)
        return (struct cmrc_form){CMRC_FULL, false};
    return (struct cmrc_form){signed_bytes(v, lanes), false};
}

WIDE_TOO(struct cmrc_form, cmrc_form_of_all,
         (enum cmrc_sign sign, const uint32_t v[WARP_LANES], uint32_t lanes), form, sign, v, lanes)

/* The value that the stored bytes of a word stand for. */
static WIDE_PART uint32_t extend(enum cmrc_sign sign, struct cmrc_form f, uint32_t word) {
    uint32_t above = 32 - 8u * f.width;
    if (sign != SIGN_FILL)
        return (uint32_t)((int32_t)(word << above) >> above);
    uint32_t kept = UINT32_MAX >> above;
    return (word & kept) | (f.ones ? ~kept : 0);
}

static WIDE_PART bool fits(enum cmrc_sign sign, struct cmrc_form f, const uint32_t v[WARP_LANES],
                           uint32_t lanes) {
    uint32_t differ = 0;
    for (uint32_t l = 0; l < WARP_LANES; l++)
        differ |= (extend(sign, f, v[l]) ^ v[l]) & lane_bits(lanes, l);
    return !differ;
}

WIDE_HERE(bool, fits_narrow,
          (enum cmrc_sign sign, struct cmrc_form f, const uint32_t v[WARP_LANES], uint32_t lanes), fits, sign,
          f, v, lanes)

bool cmrc_fits(enum cmrc_sign sign, struct cmrc_form f, const uint32_t v[WARP_LANES], uint32_t lanes) {
    return f.width == CMRC_FULL || fits_narrow(sign, f, v, lanes);
}

static WIDE_PART void load(enum cmrc_sign sign, struct cmrc_form f, const uint32_t v[WARP_LANES],
                           uint32_t back[WARP_LANES]) {
    for (uint32_t l = 0; l < WARP_LANES; l++)
        back[l] = extend(sign, f, v[l]);
}

WIDE_TOO(void, cmrc_load,
         (enum cmrc_sign sign, struct cmrc_form f, const uint32_t v[WARP_LANES], uint32_t back[WARP_LANES]),
         load, sign, f, v, back)

static struct cmrc_form through_any(enum cmrc_sign sign, uint32_t v[WARP_LANES]) {
    struct cmrc_form f = cmrc_form_of_all(sign, v, UINT32_MAX);
    if (f.width < CMRC_FULL)
        cmrc_load(sign, f, v, v);
    return f;
}

#ifdef __x86_64__
/* The same in vectors where signs are the same. */
static WIDE struct cmrc_form through_uniform(uint32_t *v) {
    __m256i_u *at = (__m256i_u *)v;
    __m256i part[4], any, all, bits;
    for (int k = 0; k < 4; k++)
        part[k] = _mm256_loadu_si256(at + k);
    any = _mm256_or_si256(_mm256_or_si256(part[0], part[1]), _mm256_or_si256(part[2], part[3]));
    all = _mm256_and_si256(_mm256_and_si256(part[0], part[1]), _mm256_and_si256(part[2], part[3]));
    int some = _mm256_movemask_ps(_mm256_castsi256_ps(any)),
        every = _mm256_movemask_ps(_mm256_castsi256_ps(all));
    if (some && every != 0xff) /* some are negative, but not all */
        return (struct cmrc_form){CMRC_FULL, false};
    /* Bits that the sign does not say, behind which its own lies; bytes in which there are none. */
    bits = some ? _mm256_xor_si256(all, _mm256_set1_epi32(-1)) : any;
    bits = _mm256_cmpeq_epi8(_mm256_slli_epi32(bits, 1), _mm256_setzero_si256());
    uint32_t none = (uint32_t)_mm256_movemask_epi8(bits);
    none &= none >> 16;
    none &= none >> 8;
    none &= none >> 4;
    static const uint8_t bytes[16] = {4, 4, 4, 4, 4, 4, 4, 4, 3, 3, 3, 3, 2, 2, 1, 1};
    struct cmrc_form f = {bytes[none & 15], false};
    __m128i above = _mm_cvtsi32_si128(32 - 8 * f.width);
    for (int k = 0; k < 4 && f.width < CMRC_FULL; k++)
        _mm256_storeu_si256(at + k, _mm256_sra_epi32(_mm256_sll_epi32(part[k], above), above));
    return f;
}
#else
static struct cmrc_form through_uniform(uint32_t *v) {
    return through_any(SIGN_UNIFORM, v);
}
#endif

struct cmrc_form cmrc_through_all(enum cmrc_sign sign, uint32_t v[WARP_LANES]) {
    return sign == SIGN_UNIFORM && HOST_IS_WIDE ? through_uniform(v) : through_any(sign, v);
}

void cmrc_lose(struct cmrc_form f, uint32_t v[WARP_LANES], uint32_t lanes) {
    const uint32_t stale = 0x5a5a5a5a;
    uint32_t kept = f.width == CMRC_FULL ? UINT32_MAX : (1u << 8 * f.width) - 1;
    for (uint32_t l = 0; l < WARP_LANES; l++)
        v[l] = lanes >> l & 1 ? (v[l] & kept) | (stale & ~kept) : v[l];
}
