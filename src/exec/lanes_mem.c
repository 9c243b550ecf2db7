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

LANE_INLINE bool all_fit(const uint32_t *off, uint32_t limit, uint32_t align) {
    uint32_t most = 0, low = 0;
    FOR_LANES {
        most = off[i] > most ? off[i] : most;
        low |= off[i];
    }
    return most <= limit && !(low & (align - 1));
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

/* Consecutive words and one word for all are what most code does. */
LANE_INLINE bool is_row(const uint32_t *off) {
    uint32_t bad = 0;
    FOR_LANES bad |= off[i] - off[0] - 4 * i;
    return !bad;
}

void LANE_NAME(lane_gather)(uint32_t *d, const uint8_t *base, const uint32_t *off, uint32_t size, bool sgn);
void LANE_NAME(lane_gather)(uint32_t *d, const uint8_t *base, const uint32_t *off, uint32_t size, bool sgn) {
    if (size == 4) {
        if (is_row(off)) {
            memcpy(d, base + off[0], 4 * WARP_LANES);
            return;
        }
        FOR_LANES d[i] = *(const word *)(base + off[i]);
    } else if (size == 2) {
        for (unsigned i = 0; i < WARP_LANES; i++) {
            uint32_t v = *(const halfword *)(base + off[i]);
            d[i] = sgn ? (uint32_t)(int16_t)v : v;
        }
    } else {
        for (unsigned i = 0; i < WARP_LANES; i++) {
            uint32_t v = base[off[i]];
            d[i] = sgn ? (uint32_t)(int8_t)v : v;
        }
    }
}

void LANE_NAME(lane_scatter)(uint8_t *base, const uint32_t *off, const uint32_t *s, uint32_t mask,
                             uint32_t size);
void LANE_NAME(lane_scatter)(uint8_t *base, const uint32_t *off, const uint32_t *s, uint32_t mask,
                             uint32_t size) {
    if (size == 4 && mask == 0xffffffffu) {
        if (is_row(off)) {
            memcpy(base + off[0], s, 4 * WARP_LANES);
            return;
        }
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
