/* Encodings of registers. The loops over lanes are written so that compilers make vectors of them. */
#include "mech/gscalar/code.h"

#include "base/wide.h"

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

static WIDE_PART struct code_reg full(const struct code_spec *s, const uint32_t v[WARP_LANES]) {
    uint32_t low = differences(v, CODE_HALF, v[0]);
    uint32_t high = differences(v + CODE_HALF, CODE_HALF, v[CODE_HALF]);
    uint32_t all = low | high | (v[0] ^ v[CODE_HALF]);
    struct code_reg r = {.base = {v[0], v[0]}, .whole = same_bytes(all), .full_scalar = !all, .known = true};
    r.shared[0] = r.shared[1] = r.whole;
    if (s->code == CODE_SCALAR) {
        r.shared[0] = r.shared[1] = all ? 0 : CODE_WORD;
    } else if (s->code == CODE_BDI) {
        r.shared[0] = r.shared[1] = spared_bytes(v);
    } else if (s->halves) {
        r.base[1] = v[CODE_HALF];
        r.shared[0] = same_bytes(low);
        r.shared[1] = same_bytes(high);
    }
    return r;
}

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

/* Differences to the base, of as many bytes as are stored. */
static WIDE_PART void back_from_base(const struct code_reg *r, const uint32_t *v, uint32_t *back) {
    uint32_t kept = low_bytes(r->shared[0]), sign = kept ^ kept >> 1;
    for (uint32_t l = 0; l < WARP_LANES; l++)
        back[l] = r->base[0] + ((((v[l] - r->base[0]) & kept) ^ sign) - sign);
}

static WIDE_PART void back_from(const struct code_spec *s, const struct code_reg *r,
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

/* ---- for the host there is ---- */

WIDE_TOO(struct code_reg, code_full, (const struct code_spec *s, const uint32_t v[WARP_LANES]), full, s, v)
/* Both at once, while the value is at hand. */
static WIDE_PART void store(const struct code_spec *s, uint32_t v[WARP_LANES], struct code_reg *r) {
    *r = full(s, v);
    if (r->shared[0] | r->shared[1])
        back_from(s, r, v, v);
}
WIDE_TOO(void, code_store, (const struct code_spec *s, uint32_t v[WARP_LANES], struct code_reg *r), store, s,
         v, r)
WIDE_TOO(struct code_reg, code_part, (const uint32_t v[WARP_LANES], uint32_t lanes), part, v, lanes)
WIDE_TOO(void, code_back,
         (const struct code_spec *s, const struct code_reg *r, const uint32_t v[WARP_LANES],
          uint32_t back[WARP_LANES]),
         back_from, s, r, v, back)

void code_lose(const struct code_spec *s, const struct code_reg *r, uint32_t v[WARP_LANES], uint32_t lanes) {
    const uint32_t stale = 0xa5a5a5a5;
    uint32_t from = s->code == CODE_BDI ? r->base[0] : 0;
    for (uint32_t l = 0; l < WARP_LANES; l++) {
        uint32_t kept = low_bytes(r->shared[l / CODE_HALF]);
        if (lanes >> l & 1)
            v[l] = ((v[l] - from) & kept) | (stale & ~kept);
    }
}
