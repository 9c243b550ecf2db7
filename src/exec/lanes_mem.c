/* Address arithmetic and plain memory access of 32 lanes. */
#include "exec/lanes_isa.h"

typedef uint32_t __attribute__((may_alias, aligned(4))) word;
typedef uint16_t __attribute__((may_alias, aligned(2))) halfword;

/* Inactive lanes get the offset of an active one, so that they can be checked and loaded like the others. */
LANE_INLINE void make_safe(uint32_t *off, uint32_t mask) {
    if (mask == 0xffffffffu)
        return;
    LANE_TEMP(uint32_t, in);
    spread_mask(in, mask);
    uint32_t safe = off[__builtin_ctz(mask)];
    FOR_LANES off[i] = in[i] ? off[i] : safe;
}

#if defined(__AVX2__)

LANE_INLINE __m256i eight(const uint32_t *v, unsigned k) {
    return _mm256_loadu_si256((const __m256i *)(v + 8 * k));
}

LANE_INLINE __m256i each(uint32_t v) {
    return _mm256_set1_epi32((int)v);
}

LANE_INLINE bool all_fit(const uint32_t *off, uint32_t limit, uint32_t align) {
    __m256i most = eight(off, 0), low = most;
    for (unsigned k = 1; k < 4; k++) {
        most = _mm256_max_epu32(most, eight(off, k));
        low = _mm256_or_si256(low, eight(off, k));
    }
    __m256i far = _mm256_xor_si256(_mm256_max_epu32(most, each(limit)), each(limit));
    __m256i wrong = _mm256_or_si256(far, _mm256_and_si256(low, each(align - 1)));
    return _mm256_testz_si256(wrong, wrong);
}

/* The host's instruction takes offsets as signed: they count from 2 GB behind the base. */
LANE_INLINE void gather_words(uint32_t *d, const uint8_t *base, const uint32_t *off, uint32_t mask) {
    const uint32_t middle = UINT32_C(1) << 31;
    const int *from = (const int *)((uintptr_t)base + middle);
    for (unsigned k = 0; k < 4; k++) {
        __m256i at = _mm256_xor_si256(eight(off, k), each(middle)), got;
        if (mask == UINT32_MAX)
            got = _mm256_i32gather_epi32(from, at, 1);
        else
            got = _mm256_mask_i32gather_epi32(eight(d, k), from, at, spread8(mask >> (8 * k)), 1);
        _mm256_storeu_si256((__m256i *)(d + 8 * k), got);
    }
}

LANE_INLINE enum lane_shape find_shape(const uint32_t *lo, const uint32_t *hi, uint32_t mask, uint32_t first,
                                       enum lane_shape shape) {
    uint32_t step = shape == LANES_ROW ? 4 : 0;
    __m256i places = _mm256_and_si256(_mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28), each(0u - step / 4));
    __m256i want = _mm256_add_epi32(each(lo[first] - step * first), places), wrong = _mm256_setzero_si256();
    uint32_t right = 0;
    for (unsigned k = 0; k < 4; k++) {
        __m256i differ = _mm256_xor_si256(want, eight(lo, k));
        if (hi)
            differ = _mm256_or_si256(differ, _mm256_xor_si256(each(hi[first]), eight(hi, k)));
        want = _mm256_add_epi32(want, each(8 * step));
        if (mask == UINT32_MAX) {
            wrong = _mm256_or_si256(wrong, differ);
        } else {
            __m256i is0 = _mm256_cmpeq_epi32(differ, _mm256_setzero_si256());
            right |= (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(is0)) << (8 * k);
        }
    }
    bool all = mask == UINT32_MAX ? _mm256_testz_si256(wrong, wrong) : !(mask & ~right);
    return all ? shape : LANES_ANY;
}

void LANE_NAME(lane_load_row)(uint32_t *d, uintptr_t at, uint32_t mask);
void LANE_NAME(lane_load_row)(uint32_t *d, uintptr_t at, uint32_t mask) {
    if (mask == UINT32_MAX) {
        for (unsigned k = 0; k < 4; k++)
            _mm256_storeu_si256((__m256i *)(d + 8 * k), eight((const uint32_t *)at, k));
        return;
    }
    for (unsigned k = 0; k < 4; k++) {
        __m256i in = spread8(mask >> (8 * k));
        _mm256_maskstore_epi32((int *)(d + 8 * k), in, _mm256_maskload_epi32((const int *)(at + 32 * k), in));
    }
}

void LANE_NAME(lane_store_row)(uintptr_t at, const uint32_t *s, uint32_t mask);
void LANE_NAME(lane_store_row)(uintptr_t at, const uint32_t *s, uint32_t mask) {
    if (mask == UINT32_MAX) {
        for (unsigned k = 0; k < 4; k++)
            _mm256_storeu_si256((__m256i *)(at + 32 * k), eight(s, k));
        return;
    }
    for (unsigned k = 0; k < 4; k++)
        _mm256_maskstore_epi32((int *)(at + 32 * k), spread8(mask >> (8 * k)), eight(s, k));
}

#else

LANE_INLINE bool all_fit(const uint32_t *off, uint32_t limit, uint32_t align) {
    uint32_t most = 0, low = 0;
    FOR_LANES {
        most = off[i] > most ? off[i] : most;
        low |= off[i];
    }
    return most <= limit && !(low & (align - 1));
}

LANE_INLINE void gather_words(uint32_t *d, const uint8_t *base, const uint32_t *off, uint32_t mask) {
    LANE_TEMP(uint32_t, got);
    FOR_LANES got[i] = *(const word *)(base + off[i]);
    blend_lanes(d, got, mask);
}

LANE_INLINE enum lane_shape find_shape(const uint32_t *lo, const uint32_t *hi, uint32_t mask, uint32_t first,
                                       enum lane_shape shape) {
    uint32_t step = shape == LANES_ROW ? 4 : 0, from = lo[first] - step * first;
    LANE_TEMP(uint32_t, wrong);
    FOR_LANES wrong[i] = lo[i] ^ (from + step * i);
    if (hi)
        FOR_LANES wrong[i] |= hi[i] ^ hi[first];
    return pack_mask(wrong) & mask ? LANES_ANY : shape;
}

void LANE_NAME(lane_load_row)(uint32_t *d, uintptr_t at, uint32_t mask);
void LANE_NAME(lane_load_row)(uint32_t *d, uintptr_t at, uint32_t mask) {
    for (uint32_t left = mask; left; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctz(left);
        d[i] = *(const word *)(at + 4 * i);
    }
}

void LANE_NAME(lane_store_row)(uintptr_t at, const uint32_t *s, uint32_t mask);
void LANE_NAME(lane_store_row)(uintptr_t at, const uint32_t *s, uint32_t mask) {
    for (uint32_t left = mask; left; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctz(left);
        *(word *)(at + 4 * i) = s[i];
    }
}

#endif

/* The first and the last lane tell which shape it could be. */
enum lane_shape LANE_NAME(lane_shape)(const uint32_t *lo, const uint32_t *hi, uint32_t mask);
enum lane_shape LANE_NAME(lane_shape)(const uint32_t *lo, const uint32_t *hi, uint32_t mask) {
    uint32_t first = (uint32_t)__builtin_ctz(mask), last = 31 - (uint32_t)__builtin_clz(mask);
    uint32_t far = lo[last] - lo[first];
    if ((far && far != 4 * (last - first)) || (hi && lo[last] < lo[first]))
        return LANES_ANY;
    return find_shape(lo, hi, mask, first, far ? LANES_ROW : LANES_SAME);
}

bool LANE_NAME(lane_offsets32)(uint32_t *off, const uint32_t *lo, uint32_t add, uint32_t mask, uint32_t limit,
                               uint32_t align);
bool LANE_NAME(lane_offsets32)(uint32_t *off, const uint32_t *lo, uint32_t add, uint32_t mask, uint32_t limit,
                               uint32_t align) {
    FOR_LANES off[i] = lo[i] + add;
    make_safe(off, mask);
    return all_fit(off, limit, align);
}

bool LANE_NAME(lane_offsets64)(uint32_t *off, const uint32_t *lo, const uint32_t *hi, uint64_t add,
                               uint32_t mask, uint32_t limit, uint32_t align);
bool LANE_NAME(lane_offsets64)(uint32_t *off, const uint32_t *lo, const uint32_t *hi, uint64_t add,
                               uint32_t mask, uint32_t limit, uint32_t align) {
    LANE_TEMP(uint32_t, high);
    FOR_LANES {
        uint64_t v = ((uint64_t)hi[i] << 32 | lo[i]) + add;
        off[i] = (uint32_t)v;
        high[i] = (uint32_t)(v >> 32);
    }
    make_safe(off, mask);
    return !(pack_mask(high) & mask) && all_fit(off, limit, align);
}

void LANE_NAME(lane_gather)(uint32_t *d, const uint8_t *base, const uint32_t *off, uint32_t mask,
                            uint32_t size, bool sgn);
void LANE_NAME(lane_gather)(uint32_t *d, const uint8_t *base, const uint32_t *off, uint32_t mask,
                            uint32_t size, bool sgn) {
    if (size == 4) {
        gather_words(d, base, off, mask);
        return;
    }
    LANE_TEMP(uint32_t, got);
    if (size == 2) {
        for (unsigned i = 0; i < WARP_LANES; i++) {
            uint32_t v = *(const halfword *)(base + off[i]);
            got[i] = sgn ? (uint32_t)(int16_t)v : v;
        }
    } else {
        for (unsigned i = 0; i < WARP_LANES; i++) {
            uint32_t v = base[off[i]];
            got[i] = sgn ? (uint32_t)(int8_t)v : v;
        }
    }
    blend_lanes(d, got, mask);
}

void LANE_NAME(lane_scatter)(uint8_t *base, const uint32_t *off, const uint32_t *s, uint32_t mask,
                             uint32_t size);
void LANE_NAME(lane_scatter)(uint8_t *base, const uint32_t *off, const uint32_t *s, uint32_t mask,
                             uint32_t size) {
    if (size == 4 && mask == 0xffffffffu) {
        for (unsigned i = 0; i < WARP_LANES; i++)
            *(word *)(base + off[i]) = s[i];
        return;
    }
    for (uint32_t left = mask; left; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctz(left);
        if (size == 4)
            *(word *)(base + off[i]) = s[i];
        else if (size == 2)
            *(halfword *)(base + off[i]) = (uint16_t)s[i];
        else
            base[off[i]] = (uint8_t)s[i];
    }
}
