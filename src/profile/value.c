#include "profile/value.h"

#include <string.h>

#include "isa/lane_bits.h"

__extension__ typedef unsigned __int128 wide;

enum { WORD_KEYS = WARP_LANES / 2 };

static const uint64_t keys[WORD_KEYS] = {
    UINT64_C(0x71c814721232e3a0), UINT64_C(0xb44536211de47d90), UINT64_C(0xb45d01ba3d8821ee),
    UINT64_C(0x5588119170d37c09), UINT64_C(0xe709a296abfbbbe0), UINT64_C(0x2b2e2d5f661488da),
    UINT64_C(0x12349b7427dcbdb1), UINT64_C(0x79070f4e992eb55a), UINT64_C(0x7a45d12f0fafc46d),
    UINT64_C(0x1c0b0b93fc711d0d), UINT64_C(0xfee68a1dcefab09e), UINT64_C(0x7d352e43579c1ed9),
    UINT64_C(0x23987afe38304aa7), UINT64_C(0x79bb0a3f0de8454b), UINT64_C(0xa750594020698de9),
    UINT64_C(0xf0477dffb0520576),
};

struct value_sum value_sum(const uint32_t v[WARP_LANES], uint32_t lanes) {
    uint32_t some[WARP_LANES];
    wide sum = 0;
    if (lanes != UINT32_MAX) {
        for (uint32_t l = 0; l < WARP_LANES; l++)
            some[l] = v[l] & lane_bits(lanes, l);
        v = some;
    }
    for (uint32_t k = 0; k < WORD_KEYS; k += 2) {
        uint64_t pair[2];
        memcpy(pair, v + 2 * k, sizeof pair);
        sum += (wide)(pair[0] + keys[k]) * (pair[1] + keys[k + 1]);
    }
    return (struct value_sum){(uint64_t)sum, (uint64_t)(sum >> 64)};
}

enum value_form value_form(const uint32_t v[WARP_LANES]) {
    uint32_t stride = v[1] - v[0], differ = 0;
    for (uint32_t l = 2; l < WARP_LANES; l++)
        differ |= v[l] - v[l - 1] - stride;
    return differ ? VALUE_UNSTRUCTURED : stride ? VALUE_AFFINE : VALUE_UNIFORM;
}
