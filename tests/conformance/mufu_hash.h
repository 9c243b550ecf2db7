/* Operands and hashes of results of approximate functions: mufu_check.c makes the hashes on a GPU, the unit
 * test compares Reprise's with them. */
#ifndef TESTS_CONFORMANCE_MUFU_HASH_H
#define TESTS_CONFORMANCE_MUFU_HASH_H

#include <stdint.h>

/* What an operand's number stands for: f32 bits, the upper word of an f64, 16 bits, or a pair of f32. */
enum mufu_kind { MUFU_F32, MUFU_HIGH, MUFU_B16, MUFU_DIV };

/* Pair number u, scattered so that all magnitudes meet. */
static inline void pair_of(uint32_t u, uint32_t *x, uint32_t *y) {
    uint32_t h = (u ^ u >> 15) * 0x2c1b3c6du;
    h = (h ^ h >> 12) * 0x297a2d39u;
    h ^= h >> 15;
    *x = h;
    h += u * 0x9e3779b1u;
    *y = (h ^ h >> 16) * 0x85ebca6bu;
}

/* Hashes of results over a sample: all operands of octave [1, 2) and every MUFU_STEP-th of the whole range,
 * in order, one hash for each sixteenth of all operand numbers and one of the octave. */
enum { MUFU_HASHES = 17, MUFU_STEP = 1021 };
#define MUFU_HASH_START UINT32_C(0x811c9dc5)

/* Operands of a kind, less one. */
static inline uint32_t mufu_last(enum mufu_kind kind) {
    return kind == MUFU_B16 ? 0xffffu : kind == MUFU_DIV ? (1u << 28) - 1 : UINT32_MAX;
}

static inline uint32_t mufu_hash(enum mufu_kind kind, uint32_t h, uint32_t result) {
    uint32_t inf = kind == MUFU_HIGH ? 0x7ff00000u : kind == MUFU_B16 ? UINT32_MAX : 0x7f800000u;
    result = (result & 0x7fffffffu) > inf ? 0x7fffffffu : result; /* one NaN is as good as another */
    h = (h ^ (result & 0xffff)) * UINT32_C(0x01000193);
    return (h ^ result >> 16) * UINT32_C(0x01000193);
}

/* Takes results of operands from, from + 1, ... into the hashes they belong to. */
static inline void mufu_hash_chunk(enum mufu_kind kind, uint32_t *hashes, uint32_t from, uint32_t count,
                                   const uint32_t *results) {
    const uint32_t step = kind == MUFU_B16 ? 1 : MUFU_STEP, part = mufu_last(kind) / 16 + 1;
    for (uint32_t i = (step - from % step) % step; i < count; i += step)
        hashes[(from + i) / part] = mufu_hash(kind, hashes[(from + i) / part], results[i]);
    for (uint32_t i = 0; kind == MUFU_F32 && i < count; i++)
        if ((from + i) >> 23 == 127)
            hashes[16] = mufu_hash(kind, hashes[16], results[i]);
}

#endif
