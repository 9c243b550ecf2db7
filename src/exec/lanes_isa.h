/* What the executor files share. Each of them is compiled once per instruction set of the host, with LANE_ISA
 * defined as generic, avx2 or avx512 and the compiler flags to match; every symbol they export carries that
 * name. */
#ifndef REPRISE_EXEC_LANES_ISA_H
#define REPRISE_EXEC_LANES_ISA_H

#include <math.h>
#include <string.h>

#include "exec/lanes.h"

#ifndef LANE_ISA
#define LANE_ISA generic
#endif
#define LANE_PASTE2(x, isa) x##_##isa
#define LANE_PASTE(x, isa)  LANE_PASTE2(x, isa)
/* The name of an exported symbol in this compilation. */
#define LANE_NAME(x) LANE_PASTE(x, LANE_ISA)

/* Chooses the executor of an operation by its modifiers. */
typedef lane_fn *lane_picker(const struct imods *m);

/* Everything one instruction set offers. Pickers return NULL for operations without an executor. */
struct lane_set {
    const char *name;
    lane_picker *pick[OP_COUNT];
    /* An executor that rounds as m says whatever the host's mode, or NULL: switching the mode is slow. */
    lane_fn *(*pick_rounded)(enum op op, const struct imods *m);
    void (*modify)(uint32_t *d, const uint32_t *s, uint32_t and_mask, uint32_t xor_mask);
    void (*blend)(uint32_t *d, const uint32_t *s, uint32_t mask);
    struct lane_memory memory;
    const struct lane_texture *texture;
    const struct lane_matrix *matrix;
};

lane_fn *LANE_NAME(lane_pick_rounded)(enum op op, const struct imods *m);

/* Exports the picker of operation id: an expression over the modifiers m. */
#define PICK(id, choice)                                                                                     \
    lane_fn *LANE_NAME(pick_##id)(const struct imods *m);                                                    \
    lane_fn *LANE_NAME(pick_##id)(const struct imods *m) {                                                   \
        (void)m;                                                                                             \
        return choice;                                                                                       \
    }

/* Lanes are independent, though a destination may be a source of the same lane. */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed"
#define LANE_IVDEP _Pragma("clang loop vectorize(assume_safety) unroll(disable)")
#else
#define LANE_IVDEP _Pragma("GCC ivdep")
#endif
#define FOR_LANES LANE_IVDEP for (unsigned i = 0; i < WARP_LANES; i++)

#define LANE_INLINE static inline __attribute__((always_inline))
/* A 32-lane temporary. */
#define LANE_TEMP(type, name) type name[WARP_LANES] __attribute__((aligned(64)))

LANE_INLINE const uint32_t *lane_src(const struct lane_io *io, unsigned k) {
    return __builtin_assume_aligned(io->s[k], 64);
}

LANE_INLINE uint32_t *lane_dst(const struct lane_io *io, unsigned k) {
    return __builtin_assume_aligned(io->d[k], 64);
}

/* ---- bit patterns ---- */
LANE_INLINE float as_f32(uint32_t v) {
    float f;
    memcpy(&f, &v, sizeof f);
    return f;
}

LANE_INLINE uint32_t f32_bits(float f) {
    uint32_t v;
    memcpy(&v, &f, sizeof v);
    return v;
}

LANE_INLINE double as_f64(uint64_t v) {
    double f;
    memcpy(&f, &v, sizeof f);
    return f;
}

LANE_INLINE uint64_t f64_bits(double f) {
    uint64_t v;
    memcpy(&v, &f, sizeof v);
    return v;
}

LANE_INLINE uint64_t pair64(uint32_t lo, uint32_t hi) {
    return (uint64_t)hi << 32 | lo;
}

/* The NaN the GPU produces; payloads of operands are not kept, so results do not depend on operand order. */
#define F32_NAN 0x7fffffffu
#define F64_NAN UINT64_C(0xfff8000000000000)

LANE_INLINE bool is_nan32(uint32_t v) {
    return (v & 0x7fffffffu) > 0x7f800000u;
}

LANE_INLINE bool is_nan64(uint64_t v) {
    return (v & INT64_MAX) > UINT64_C(0x7ff0000000000000);
}

/* v with a subnormal number replaced by zero of its sign. */
LANE_INLINE uint32_t flush32(uint32_t v) {
    return (v & 0x7f800000u) ? v : v & 0x80000000u;
}

/* Bits of r with the GPU's NaN. */
LANE_INLINE uint32_t canon32(float r) {
    uint32_t v = f32_bits(r);
    return is_nan32(v) ? F32_NAN : v;
}

LANE_INLINE uint64_t canon64(double r) {
    uint64_t v = f64_bits(r);
    return is_nan64(v) ? F64_NAN : v;
}

/* .sat: clamp to [0, 1]; NaN and -0 become +0. Works on canonical bits, as integers. */
LANE_INLINE uint32_t sat32(uint32_t v) {
    return (int32_t)v <= 0 || v > 0x7f800000u ? 0 : v > 0x3f800000u ? 0x3f800000u : v;
}

LANE_INLINE uint64_t sat64(uint64_t v) {
    const uint64_t one = UINT64_C(0x3ff0000000000000), inf = UINT64_C(0x7ff0000000000000);
    return (int64_t)v <= 0 || v > inf ? 0 : v > one ? one : v;
}

/* ---- masks: one bit per lane <-> one word per lane ---- */
#if defined(__AVX2__)
#include <immintrin.h>

/* Eight lanes of a mask's low byte as words. */
LANE_INLINE __m256i spread8(uint32_t mask) {
    const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32((int)mask), bit), bit);
}

#endif

#if defined(__AVX512F__)
/* Bit i is set when t[i] is not zero. */
LANE_INLINE uint32_t pack_mask(const uint32_t *t) {
    __m512i lo = _mm512_load_si512(t), hi = _mm512_load_si512(t + 16);
    return _mm512_test_epi32_mask(lo, lo) | (uint32_t)_mm512_test_epi32_mask(hi, hi) << 16;
}

/* t[i] becomes all ones where bit i is set, else zero. */
LANE_INLINE void spread_mask(uint32_t *t, uint32_t mask) {
    _mm512_store_si512(t, _mm512_maskz_set1_epi32((__mmask16)mask, -1));
    _mm512_store_si512(t + 16, _mm512_maskz_set1_epi32((__mmask16)(mask >> 16), -1));
}

LANE_INLINE void blend_lanes(uint32_t *d, const uint32_t *s, uint32_t mask) {
    _mm512_mask_store_epi32(d, (__mmask16)mask, _mm512_load_si512(s));
    _mm512_mask_store_epi32(d + 16, (__mmask16)(mask >> 16), _mm512_load_si512(s + 16));
}

#elif defined(__AVX2__)
LANE_INLINE uint32_t pack_mask(const uint32_t *t) {
    uint32_t zero = 0;
    for (unsigned k = 0; k < 4; k++) {
        __m256i is0 =
            _mm256_cmpeq_epi32(_mm256_load_si256((const __m256i *)(t + 8 * k)), _mm256_setzero_si256());
        zero |= (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(is0)) << (8 * k);
    }
    return ~zero;
}

LANE_INLINE void spread_mask(uint32_t *t, uint32_t mask) {
    for (unsigned k = 0; k < 4; k++)
        _mm256_store_si256((__m256i *)(t + 8 * k), spread8(mask >> (8 * k)));
}

LANE_INLINE void blend_lanes(uint32_t *d, const uint32_t *s, uint32_t mask) {
    for (unsigned k = 0; k < 4; k++) {
        __m256i *to = (__m256i *)(d + 8 * k);
        __m256i from = _mm256_load_si256((const __m256i *)(s + 8 * k));
        _mm256_store_si256(to, _mm256_blendv_epi8(_mm256_load_si256(to), from, spread8(mask >> (8 * k))));
    }
}

#elif defined(__SSE2__)
#include <emmintrin.h>

LANE_INLINE uint32_t pack_mask(const uint32_t *t) {
    uint32_t zero = 0;
    for (unsigned k = 0; k < 2; k++) {
        __m128i is0[4];
        for (unsigned j = 0; j < 4; j++)
            is0[j] =
                _mm_cmpeq_epi32(_mm_load_si128((const __m128i *)(t + 16 * k + 4 * j)), _mm_setzero_si128());
        __m128i bytes = _mm_packs_epi16(_mm_packs_epi32(is0[0], is0[1]), _mm_packs_epi32(is0[2], is0[3]));
        zero |= (uint32_t)_mm_movemask_epi8(bytes) << (16 * k);
    }
    return ~zero;
}

/* All ones in each of the four lanes from first on whose bit is set in all. */
LANE_INLINE __m128i spread4(__m128i all, unsigned first) {
    __m128i bits = _mm_slli_epi32(_mm_set_epi32(8, 4, 2, 1), (int)first);
    return _mm_cmpeq_epi32(_mm_and_si128(all, bits), bits);
}

LANE_INLINE void spread_mask(uint32_t *t, uint32_t mask) {
    __m128i all = _mm_set1_epi32((int)mask);
    for (unsigned k = 0; k < 8; k++)
        _mm_store_si128((__m128i *)(t + 4 * k), spread4(all, 4 * k));
}

LANE_INLINE void blend_lanes(uint32_t *d, const uint32_t *s, uint32_t mask) {
    __m128i all = _mm_set1_epi32((int)mask);
    for (unsigned k = 0; k < 8; k++) {
        __m128i *to = (__m128i *)(d + 4 * k), old = _mm_load_si128(to);
        __m128i differ = _mm_xor_si128(old, _mm_load_si128((const __m128i *)(s + 4 * k)));
        _mm_store_si128(to, _mm_xor_si128(old, _mm_and_si128(differ, spread4(all, 4 * k))));
    }
}

#else

LANE_INLINE uint32_t pack_mask(const uint32_t *t) {
    uint32_t mask = 0;
    for (unsigned i = 0; i < WARP_LANES; i++)
        mask |= (uint32_t)(t[i] != 0) << i;
    return mask;
}

LANE_INLINE void spread_mask(uint32_t *t, uint32_t mask) {
    FOR_LANES t[i] = 0u - (mask >> i & 1);
}

LANE_INLINE void blend_lanes(uint32_t *d, const uint32_t *s, uint32_t mask) {
    LANE_TEMP(uint32_t, all);
    spread_mask(all, mask);
    FOR_LANES d[i] = (d[i] & ~all[i]) | (s[i] & all[i]);
}

#endif

/* x bop y, on masks. */
LANE_INLINE uint32_t combine_mask(unsigned bop, uint32_t x, uint32_t y) {
    return bop == BOOL_AND ? x & y : bop == BOOL_OR ? x | y : x ^ y;
}

/* Lanes whose relation is in the set cmp, given the lanes that are less, equal and unordered. */
LANE_INLINE uint32_t relation_mask(unsigned cmp, uint32_t lt, uint32_t eq, uint32_t un) {
    uint32_t gt = ~(lt | eq | un);
    return (cmp & CMP_LT ? lt : 0) | (cmp & CMP_EQ ? eq : 0) | (cmp & CMP_GT ? gt : 0) |
           (cmp & CMP_UN ? un : 0);
}

/* Both predicate results of a comparison. */
LANE_INLINE void compare_out(struct lane_io *io, uint32_t yes) {
    io->pout[0] = combine_mask(io->m->bop, yes, io->pin[0]);
    io->pout[1] = combine_mask(io->m->bop, ~yes, io->pin[0]);
}

#endif
