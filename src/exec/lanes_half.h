/* 16-bit floats in executors: conversion of 32 lanes to and from f32, exact and with the GPU's NaN. */
#ifndef REPRISE_EXEC_LANES_HALF_H
#define REPRISE_EXEC_LANES_HALF_H

#include "exec/lanes_isa.h"

#define F16_NAN 0x7fffu /* also the NaN of bf16 */

/* x[i] = the f16 at bit shift of s[i]. */
LANE_INLINE void f16_to_f32(float *x, const uint32_t *s, const unsigned shift) {
#if defined(__AVX512F__)
    for (unsigned k = 0; k < WARP_LANES; k += 16) {
        __m512i v = _mm512_srli_epi32(_mm512_load_si512(s + k), shift);
        _mm512_store_ps(x + k, _mm512_cvtph_ps(_mm512_cvtepi32_epi16(v)));
    }
#elif defined(__F16C__) && defined(__AVX2__)
    for (unsigned k = 0; k < WARP_LANES; k += 8) {
        __m256i v = _mm256_srli_epi32(_mm256_load_si256((const __m256i *)(s + k)), (int)shift);
        v = _mm256_and_si256(v, _mm256_set1_epi32(0xffff));
        v = _mm256_permute4x64_epi64(_mm256_packus_epi32(v, v), 8);
        _mm256_store_ps(x + k, _mm256_cvtph_ps(_mm256_castsi256_si128(v)));
    }
#else
    FOR_LANES {
        uint32_t h = s[i] >> shift, mag = h & 0x7fff;
        uint32_t normal = (mag << 13) + (mag >= 0x7c00 ? 0x70000000u : 0x38000000u);
        uint32_t subnormal = f32_bits((float)(int32_t)mag * 0x1p-24f);
        x[i] = as_f32((h & 0x8000u) << 16 | (mag < 0x400 ? subnormal : normal));
    }
#endif
}

/* h[i] = x[i] rounded to the nearest f16, zero-extended. Needs the host to round to nearest. */
LANE_INLINE void f32_to_f16(uint32_t *h, const float *x) {
#if defined(__AVX512F__)
    for (unsigned k = 0; k < WARP_LANES; k += 16) {
        __m256i v = _mm512_cvtps_ph(_mm512_load_ps(x + k), _MM_FROUND_TO_NEAREST_INT);
        _mm512_store_si512(h + k, _mm512_cvtepu16_epi32(v));
    }
#elif defined(__F16C__) && defined(__AVX2__)
    for (unsigned k = 0; k < WARP_LANES; k += 8) {
        __m128i v = _mm256_cvtps_ph(_mm256_load_ps(x + k), _MM_FROUND_TO_NEAREST_INT);
        _mm256_store_si256((__m256i *)(h + k), _mm256_cvtepu16_epi32(v));
    }
#else
    FOR_LANES {
        uint32_t v = f32_bits(x[i]), mag = v & 0x7fffffffu;
        uint32_t normal = mag - 0x38000000u;
        normal = (normal + 0xfff + (normal >> 13 & 1)) >> 13;
        /* 0.5 has the spacing of f16 subnormals, so the addition rounds. */
        uint32_t subnormal = f32_bits(as_f32(mag) + 0.5f) - 0x3f000000u;
        uint32_t r = mag < 0x38800000u ? subnormal : mag >= 0x47800000u ? 0x7c00u : normal;
        r = mag > 0x7f800000u ? F16_NAN : r;
        h[i] = (v >> 16 & 0x8000u) | r;
    }
#endif
    FOR_LANES h[i] = (h[i] & 0x7fff) > 0x7c00 ? F16_NAN : h[i];
}

LANE_INLINE void bf16_to_f32(float *x, const uint32_t *s, const unsigned shift) {
    FOR_LANES x[i] = as_f32((s[i] >> shift) << 16);
}

LANE_INLINE uint32_t bf16_round(uint32_t v) {
    return is_nan32(v) ? F16_NAN : (v + 0x7fff + (v >> 16 & 1)) >> 16;
}

LANE_INLINE void f32_to_bf16(uint32_t *h, const float *x) {
    FOR_LANES h[i] = bf16_round(f32_bits(x[i]));
}

LANE_INLINE void half_to_f32(float *x, const uint32_t *s, const unsigned shift, const bool bf) {
    if (bf)
        bf16_to_f32(x, s, shift);
    else
        f16_to_f32(x, s, shift);
}

LANE_INLINE void f32_to_half(uint32_t *h, const float *x, const bool bf) {
    if (bf)
        f32_to_bf16(h, x);
    else
        f32_to_f16(h, x);
}

/* Properties of the two formats as bit patterns. */
LANE_INLINE uint32_t half_inf(const bool bf) {
    return bf ? 0x7f80u : 0x7c00u;
}

LANE_INLINE uint32_t half_one(const bool bf) {
    return bf ? 0x3f80u : 0x3c00u;
}

LANE_INLINE uint32_t half_flush(uint32_t h, const bool bf) {
    return h & half_inf(bf) ? h : h & 0x8000u;
}

/* h flushed if the number it was rounded from, whose f32 bits are exact or rounded to odd, is below the
 * normal range after rounding with unlimited exponents. */
LANE_INLINE uint32_t half_flush_result(uint32_t h, float exact, const bool bf) {
    uint32_t least = bf ? 0x007fc000u : 0x387ff000u; /* half a unit below the least normal number */
    return (f32_bits(exact) & 0x7fffffffu) < least ? h & 0x8000u : h;
}

/* Negative numbers become +0. NaN has no sign here. */
LANE_INLINE uint32_t half_relu(uint32_t h) {
    return h & 0x8000u ? 0 : h;
}

/* h limited to [0, 1]; NaN becomes 0. */
LANE_INLINE uint32_t half_sat(uint32_t h, const bool bf) {
    uint32_t r = h & 0x8000u || h > half_inf(bf) ? 0 : h;
    return r > half_one(bf) ? half_one(bf) : r;
}

#endif
