/* Encodings of registers, for the host there is. */
#include "mech/gscalar/code_lanes.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

/* Bits in which the active lanes of a half differ. All others count as the leading of these, so that their
 * number does not matter; an empty half has one value. */
static WIDE_PART uint32_t differing(const uint32_t *v, uint32_t lanes, uint32_t half) {
    static const uint32_t bit[CODE_HALF] = {1 << 0,  1 << 1,  1 << 2,  1 << 3, 1 << 4,  1 << 5,
                                            1 << 6,  1 << 7,  1 << 8,  1 << 9, 1 << 10, 1 << 11,
                                            1 << 12, 1 << 13, 1 << 14, 1 << 15};
    uint32_t here = lanes >> half * CODE_HALF & 0xffff, differ = 0;
    if (!here)
        return 0;
    v += half * CODE_HALF;
    uint32_t base = v[code_leader(here)];
    for (uint32_t l = 0; l < CODE_HALF; l++)
        differ |= (here & bit[l]) == bit[l] ? v[l] ^ base : 0;
    return differ;
}

static WIDE_PART struct code_reg part(const uint32_t v[WARP_LANES], uint32_t lanes) {
    uint32_t low = differing(v, lanes, 0), high = differing(v, lanes, 1), across = 0;
    bool both = lanes & 0xffff && lanes >> CODE_HALF;
    uint32_t leader = code_leader(lanes);
    if (both)
        across = v[leader] ^ v[code_leader(lanes & 0xffff)];
    uint32_t all = low | high | across;
    return (struct code_reg){.base = {v[leader], v[leader]},
                             .lanes = lanes,
                             .shared = {same_bytes(low), same_bytes(high)},
                             .whole = same_bytes(all),
                             .full_scalar = !all,
                             .divergent = true,
                             .known = true};
}

uint32_t code_write_arrays(const struct code_spec *s, const struct code_reg *r) {
    if (!r->divergent)
        return code_read_arrays(s, r);
    bool low = r->lanes & 0xffff, high = r->lanes >> CODE_HALF;
    return CODE_WORD * (uint32_t)(low + high);
}

struct code_reg code_of_form(uint32_t form) {
    uint32_t high = form % (CODE_WORD + 1), low = form / (CODE_WORD + 1) % (CODE_WORD + 1);
    uint32_t whole = form / (CODE_WORD + 1) / (CODE_WORD + 1);
    return (struct code_reg){.shared = {(uint8_t)low, (uint8_t)high},
                             .whole = (uint8_t)whole,
                             .full_scalar = whole == CODE_WORD,
                             .known = true};
}

WIDE_HERE(uint32_t, form_of, (const struct code_spec *s, const uint32_t v[WARP_LANES]), lanes_form, s, v)

struct code_reg code_full(const struct code_spec *s, const uint32_t v[WARP_LANES]) {
    struct code_reg r = code_of_form(form_of(s, v));
    r.base[0] = v[0];
    r.base[1] = v[s->halves ? CODE_HALF : 0];
    return r;
}

static uint32_t through_planes(uint32_t *v) {
    const struct code_spec planes = {CODE_PLANES, true};
    struct code_reg r = code_full(&planes, v);
    code_back(&planes, &r, v, v);
    return code_form(r.whole, r.shared[0], r.shared[1]);
}

#ifdef __x86_64__
/* Leading bytes of a word that are set in a set of its four bytes. */
static WIDE_PART uint32_t leading_of(uint32_t bytes) {
    static const uint8_t leading[16] = {[8] = 1, 1, 1, 1, 2, 2, 3, 4};
    return leading[bytes];
}

/* What comes back of a half of a register. */
static WIDE void put_back(uint32_t *v, __m256i low, __m256i high, __m256i base, uint32_t shared) {
    __m256i kept = _mm256_set1_epi32((int32_t)low_bytes(shared)), rest = _mm256_andnot_si256(kept, base);
    _mm256_storeu_si256((__m256i_u *)v, _mm256_or_si256(_mm256_and_si256(low, kept), rest));
    _mm256_storeu_si256((__m256i_u *)(v + 8), _mm256_or_si256(_mm256_and_si256(high, kept), rest));
}

/* The same in vectors: the bytes of all lanes are compared with those of the base value, and each lane's
 * results are bits beside the other lanes'. */
static WIDE uint32_t through_planes_wide(uint32_t *v) {
    __m256i a = _mm256_loadu_si256((const __m256i_u *)v), b = _mm256_loadu_si256((const __m256i_u *)(v + 8)),
            c = _mm256_loadu_si256((const __m256i_u *)(v + CODE_HALF)),
            d = _mm256_loadu_si256((const __m256i_u *)(v + CODE_HALF + 8)),
            low = _mm256_broadcastd_epi32(_mm256_castsi256_si128(a)),
            high = _mm256_broadcastd_epi32(_mm256_castsi256_si128(c));
    __m256i l = _mm256_and_si256(_mm256_cmpeq_epi8(a, low), _mm256_cmpeq_epi8(b, low)),
            h = _mm256_and_si256(_mm256_cmpeq_epi8(c, high), _mm256_cmpeq_epi8(d, high));
    l = _mm256_and_si256(_mm256_permute2x128_si256(l, h, 0x20), _mm256_permute2x128_si256(l, h, 0x31));
    l = _mm256_and_si256(l, _mm256_shuffle_epi32(l, 0x4e));
    uint32_t same = (uint32_t)_mm256_movemask_epi8(_mm256_and_si256(l, _mm256_shuffle_epi32(l, 0xb1)));
    uint32_t low_shared = leading_of(same & 15), high_shared = leading_of(same >> 28),
             whole = same_bytes(v[0] ^ v[CODE_HALF]);
    whole = whole < low_shared ? whole : low_shared;
    whole = whole < high_shared ? whole : high_shared;
    if (low_shared | high_shared) {
        put_back(v, a, b, low, low_shared);
        put_back(v + CODE_HALF, c, d, high, high_shared);
    }
    return code_form(whole, low_shared, high_shared);
}
#else
static uint32_t through_planes_wide(uint32_t *v) {
    return through_planes(v);
}
#endif

uint32_t (*code_through_planes_here(void))(uint32_t v[WARP_LANES]) {
    return HOST_IS_WIDE ? through_planes_wide : through_planes;
}

uint32_t code_through_planes(uint32_t v[WARP_LANES]) {
    return code_through_planes_here()(v);
}

#ifdef __x86_64__
/* Of each word of a half, bytes that are as the base value's, or of a lane that does not count. */
static WIDE __m256i same_part(const uint32_t *v, __m256i base, uint32_t lanes) {
    const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    __m256i here = _mm256_and_si256(_mm256_set1_epi32((int32_t)lanes), bit);
    __m256i away = _mm256_cmpeq_epi32(here, _mm256_setzero_si256());
    return _mm256_or_si256(_mm256_cmpeq_epi8(_mm256_loadu_si256((const __m256i_u *)v), base), away);
}

/* Leading bytes in which the active lanes of a half do not differ. */
static WIDE uint32_t shared_part(const uint32_t *v, uint32_t lanes) {
    if (!lanes)
        return CODE_WORD;
    __m256i base = _mm256_set1_epi32((int32_t)v[code_leader(lanes)]);
    uint32_t same = (uint32_t)_mm256_movemask_epi8(
        _mm256_and_si256(same_part(v, base, lanes), same_part(v + 8, base, lanes >> 8)));
    same &= same >> 16;
    same &= same >> 8;
    return leading_of(same & same >> 4 & 15);
}

static WIDE struct code_reg part_wide(const uint32_t *v, uint32_t lanes) {
    uint32_t in_low = lanes & 0xffff, leader = code_leader(lanes),
             across = in_low ? code_leader(in_low) : leader;
    uint32_t low = shared_part(v, in_low), high = shared_part(v + CODE_HALF, lanes >> CODE_HALF);
    uint32_t whole = same_bytes(v[leader] ^ v[across]);
    whole = whole < low ? whole : low;
    whole = whole < high ? whole : high;
    return (struct code_reg){.base = {v[leader], v[leader]},
                             .lanes = lanes,
                             .shared = {(uint8_t)low, (uint8_t)high},
                             .whole = (uint8_t)whole,
                             .full_scalar = whole == CODE_WORD,
                             .divergent = true,
                             .known = true};
}
#else
static struct code_reg part_wide(const uint32_t *v, uint32_t lanes) {
    return part(v, lanes);
}
#endif

struct code_reg code_part(const uint32_t v[WARP_LANES], uint32_t lanes) {
    return HOST_IS_WIDE ? part_wide(v, lanes) : part(v, lanes);
}
WIDE_TOO(void, code_back,
         (const struct code_spec *s, const struct code_reg *r, const uint32_t v[WARP_LANES],
          uint32_t back[WARP_LANES]),
         lanes_back, s, r, v, back)

void code_lose(const struct code_spec *s, const struct code_reg *r, uint32_t v[WARP_LANES], uint32_t lanes) {
    const uint32_t stale = 0xa5a5a5a5;
    uint32_t from = s->code == CODE_BDI ? r->base[0] : 0;
    for (uint32_t l = 0; l < WARP_LANES; l++) {
        uint32_t kept = low_bytes(r->shared[l / CODE_HALF]);
        if (lanes >> l & 1)
            v[l] = ((v[l] - from) & kept) | (stale & ~kept);
    }
}
