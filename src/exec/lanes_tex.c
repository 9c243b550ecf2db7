/* Textures, for 32 lanes: from coordinates to offsets, from texels to colours.
 *
 * Indices are worked out in double precision, where every step is exact: coordinates are kept within 2^40. */
#include "exec/lanes_isa.h"

/* ---- coordinates to indices ---- */

/* A coordinate in texels; NaN reads as 0. */
LANE_INLINE double scaled(const struct tex_axis *a, uint32_t bits) {
    double v = (double)as_f32(bits) * a->scale;
    v = v != v ? 0 : v;
    v = v > 0x1p40 ? 0x1p40 : v;
    return v < -0x1p40 ? -0x1p40 : v;
}

LANE_INLINE double index_clamp(double i, double n) {
    i = i > n - 1 ? n - 1 : i;
    return i < 0 ? 0 : i;
}

/* The quotient is far enough from the next integer, by 1 / n, not to be rounded to it. */
LANE_INLINE double index_wrap(double i, double n) {
    return i - n * floor(i / n);
}

LANE_INLINE double index_mirror(double i, double n) {
    double turn = index_wrap(i, 2 * n);
    return turn < n ? turn : 2 * n - 1 - turn;
}

/* What is outside stays outside. */
LANE_INLINE double index_border(double i, double n) {
    i = i > n ? n : i;
    return i < -1 ? -1 : i;
}

/* The weight of the upper texel, in 256ths. A coordinate that is clamped is the edge texel's own. */
#define fraction_wrap(w, k, n)   (w)
#define fraction_mirror(w, k, n) (w)
#define fraction_border(w, k, n) (w)
#define fraction_clamp(w, k, n)  ((k) < 0 || (k) >= (n)-1 ? 0 : (w))

/* For each mode: the two texels to blend, with the weight of the upper one; and the nearest texel. */
#define LINEAR(name)                                                                                         \
    static void linear_##name(const struct tex_axis *a, const uint32_t *coord, int32_t *lower,               \
                              int32_t *upper, uint32_t *weight) {                                            \
        FOR_LANES {                                                                                          \
            double fixed = floor((scaled(a, coord[i]) - 0.5) * 256 + 0.5), k = floor(fixed / 256);           \
            lower[i] = (int32_t)index_##name(k, a->n);                                                       \
            upper[i] = (int32_t)index_##name(k + 1, a->n);                                                   \
            weight[i] = (uint32_t)(int32_t)fraction_##name(fixed - k * 256, k, a->n);                        \
        }                                                                                                    \
    }
LINEAR(clamp)
LINEAR(wrap)
LINEAR(mirror)
LINEAR(border)

#define POINT(name)                                                                                          \
    static void point_##name(const struct tex_axis *a, const uint32_t *coord, int32_t *at) {                 \
        FOR_LANES at[i] = (int32_t)index_##name(floor(scaled(a, coord[i])), a->n);                           \
    }
POINT(wrap)
POINT(mirror)
POINT(border)

/* What is clamped need not be kept from growing too large before, and not rounded down but cut off. */
static void point_clamp(const struct tex_axis *a, const uint32_t *coord, int32_t *at) {
    double last = (double)a->n - 1;
    if (a->scale == 1 && a->n <= 0x1p24) { /* floats are as exact */
        float end = (float)last;
        FOR_LANES {
            float v = as_f32(coord[i]);
            v = v > 0 ? v : 0;
            at[i] = (int32_t)(v < end ? v : end);
        }
        return;
    }
    FOR_LANES {
        double v = (double)as_f32(coord[i]) * a->scale;
        v = v > 0 ? v : 0; /* also for NaN */
        at[i] = (int32_t)(v < last ? v : last);
    }
}

#define BY_MODE(kind)                                                                                        \
    {                                                                                                        \
        [RP_ADDR_WRAP] = kind##_wrap, [RP_ADDR_CLAMP] = kind##_clamp, [RP_ADDR_MIRROR] = kind##_mirror,      \
        [RP_ADDR_BORDER] = kind##_border                                                                     \
    }

static void point(const struct tex_axis *a, const uint32_t *coord, int32_t *at) {
    static void (*const by_mode[])(const struct tex_axis *, const uint32_t *, int32_t *) = BY_MODE(point);
    by_mode[a->mode](a, coord, at);
}

static void linear(const struct tex_axis *a, const uint32_t *coord, int32_t *lower, int32_t *upper,
                   uint32_t *weight) {
    static void (*const by_mode[])(const struct tex_axis *, const uint32_t *, int32_t *, int32_t *,
                                   uint32_t *) = BY_MODE(linear);
    by_mode[a->mode](a, coord, lower, upper, weight);
}

LANE_INLINE uint32_t part_of(uint32_t share, uint32_t weight) {
    return (share * weight + 128) >> 8;
}

/* A share in 256ths is divided along z, then x, then y, and rounded each time: as an H200 does, down to which
 * of the two parts is rounded and which is the rest. */
static void weigh(double *d, const uint32_t *const weight[3], unsigned corner, const uint32_t *share) {
    const uint32_t *x = weight[0], *y = weight[1], *z = weight[2];
    bool right = corner & 1, upper = corner >> 1 & 1, back = corner >> 2 & 1;
    LANE_TEMP(uint32_t, s);
    FOR_LANES s[i] = share[i];
    if (z)
        FOR_LANES {
            uint32_t front = part_of(s[i], 256 - z[i]);
            s[i] = back ? s[i] - front : front;
        }
    FOR_LANES {
        uint32_t part = part_of(s[i], x[i]);
        s[i] = right ? part : s[i] - part;
    }
    if (y && right)
        FOR_LANES {
            uint32_t part = part_of(s[i], y[i]);
            s[i] = upper ? part : s[i] - part;
        }
    else if (y)
        FOR_LANES {
            uint32_t part = part_of(s[i], 256 - y[i]);
            s[i] = upper ? s[i] - part : part;
        }
    FOR_LANES d[i] = (int32_t)s[i] / 256.0;
}

/* ---- indices to offsets ---- */

/* Lanes whose index along one axis is in range are left as they are in out, others get a bit there. */
LANE_INLINE void check_axis(const struct tex_layout *t, unsigned axis, uint32_t *out) {
    const int32_t *index = t->index[axis];
    uint32_t n = t->extent[axis];
    FOR_LANES out[i] |= (uint32_t)index[i] >= n;
}

/* Rows, and within them bytes. */
static void in_rows(const struct tex_layout *t, uint64_t *off) {
    const int32_t *x = t->index[0], *y = t->index[1];
    uint32_t bytes = t->texel_bytes;
    FOR_LANES off[i] = (uint64_t)(uint32_t)x[i] * bytes;
    if (y && t->pitch <= UINT32_MAX) {
        uint32_t pitch = (uint32_t)t->pitch;
        FOR_LANES off[i] += (uint64_t)(uint32_t)y[i] * pitch;
    } else if (y) {
        FOR_LANES off[i] += (uint64_t)(uint32_t)y[i] * t->pitch;
    }
}

static void in_tiles(const struct tex_layout *t, uint64_t *off) {
    const int32_t *x = t->index[0], *y = t->index[1];
    if (y && t->pitch < UINT32_C(1) << 29 && (uint64_t)t->extent[0] * t->texel_bytes <= t->pitch) {
        uint32_t pitch = (uint32_t)t->pitch, bytes = t->texel_bytes; /* a row of tiles has 32-bit offsets */
        FOR_LANES {
            uint32_t at = (uint32_t)x[i] * bytes, row = (uint32_t)y[i];
            off[i] = (uint64_t)(row & ~UINT32_C(7)) * pitch + ((at >> 6 << 9) + tex_offset_in_tile(at, row));
        }
        return;
    }
    FOR_LANES off[i] =
        tex_tile_offset((uint64_t)(uint32_t)x[i] * t->texel_bytes, y ? (uint32_t)y[i] : 0, t->pitch);
}

/* Whether all offsets of a texture of one slice, or of its indices that are in range, have 32 bits. */
static bool is_small(const struct tex_layout *t) {
    uint64_t row = (uint64_t)t->extent[0] * t->texel_bytes;
    bool one = !t->index[2] && !t->slice && t->texel_bytes <= 16 && row <= t->pitch;
    return one && t->pitch < UINT32_C(1) << 24 && t->pitch * (t->extent[1] + UINT64_C(8)) <= UINT32_MAX;
}

/* The same of such a texture, with two indices. */
static uint32_t small_offsets(const struct tex_layout *t, uint64_t *off) {
    const uint32_t *x = (const uint32_t *)t->index[0], *y = (const uint32_t *)t->index[1];
    const uint32_t width = t->extent[0], height = t->extent[1], bytes = t->texel_bytes,
                   pitch = (uint32_t)t->pitch;
    LANE_TEMP(uint32_t, out);
    LANE_TEMP(uint32_t, at);
    FOR_LANES out[i] = (uint32_t)(x[i] >= width) | (uint32_t)(y[i] >= height);
    if (t->tiled)
        FOR_LANES {
            uint32_t b = x[i] * bytes;
            at[i] = (y[i] & ~UINT32_C(7)) * pitch + ((b >> 6 << 9) + tex_offset_in_tile(b, y[i]));
        }
    else
        FOR_LANES at[i] = x[i] * bytes + y[i] * pitch;
    uint32_t outside = pack_mask(out);
    if (outside)
        FOR_LANES at[i] = out[i] ? 0 : at[i];
    FOR_LANES off[i] = at[i];
    return ~outside;
}

static uint32_t offsets(const struct tex_layout *t, uint64_t *off) {
    if (t->index[1] && is_small(t))
        return small_offsets(t, off);
    LANE_TEMP(uint32_t, out);
    memset(out, 0, sizeof out);
    for (unsigned k = 0; k < 3; k++)
        if (t->index[k])
            check_axis(t, k, out);
    if (t->tiled)
        in_tiles(t, off);
    else
        in_rows(t, off);
    const int32_t *z = t->index[2];
    if (z)
        FOR_LANES off[i] += (uint64_t)(uint32_t)z[i] * t->slice_bytes;
    if (t->slice)
        FOR_LANES off[i] += (uint64_t)t->slice[i] * t->slice_bytes;
    uint32_t outside = pack_mask(out);
    if (outside)
        FOR_LANES off[i] = out[i] ? 0 : off[i];
    return ~outside;
}

/* ---- texels to colours ---- */

typedef uint32_t __attribute__((may_alias, aligned(1))) word;
typedef uint16_t __attribute__((may_alias, aligned(1))) halfword;

#if defined(__AVX2__)
LANE_INLINE void load_words(uint32_t *d, const uint8_t *base, const uint64_t *off) {
    for (unsigned i = 0; i < WARP_LANES; i += 4)
        _mm_store_si128((__m128i *)(d + i),
                        _mm256_i64gather_epi32((const int *)(uintptr_t)base,
                                               _mm256_load_si256((const __m256i *)(off + i)), 1));
}
#else
LANE_INLINE void load_words(uint32_t *d, const uint8_t *base, const uint64_t *off) {
    for (unsigned i = 0; i < WARP_LANES; i++)
        d[i] = *(const word *)(base + off[i]);
}
#endif

/* Of texels that are whole words, those are loaded in which the channel lies. */
static void load(uint32_t *d, const uint8_t *base, const uint64_t *off, uint32_t texel_bytes,
                 uint32_t channel, uint32_t size, bool sgn) {
    uint32_t first = channel * size, rest = 32 - 8 * size, above = rest - 8 * (first & 3);
    if (texel_bytes % 4 == 0) {
        load_words(d, base + (first & ~3u), off);
        if (size < 4 && sgn)
            FOR_LANES d[i] = (uint32_t)((int32_t)(d[i] << above) >> rest);
        else if (size < 4)
            FOR_LANES d[i] = d[i] << above >> rest;
        return;
    }
    base += first;
    if (size == 2) {
#pragma GCC unroll 8
        for (unsigned i = 0; i < WARP_LANES; i++)
            d[i] = *(const halfword *)(base + off[i]);
    } else {
#pragma GCC unroll 8
        for (unsigned i = 0; i < WARP_LANES; i++)
            d[i] = base[off[i]];
    }
    if (sgn)
        FOR_LANES d[i] = (uint32_t)((int32_t)(d[i] << rest) >> rest);
}

static void normalize(uint32_t *d, float top) {
    FOR_LANES {
        float f = (float)(int32_t)d[i] / top;
        d[i] = f32_bits(f < -1.0f ? -1.0f : f);
    }
}

/* A texel that does not count must not bring its NaN. */
static void add(double *sum, const double *weight, const uint32_t *texel) {
    FOR_LANES {
        double part = weight[i] * (double)as_f32(texel[i]);
        sum[i] += weight[i] == 0 ? 0 : part;
    }
}

/* To the nearest float, half of the last place away from zero, unless the float is denormal or none. */
static void to_words(uint32_t *d, const double *sum) {
    const uint64_t lost = (UINT64_C(1) << 29) - 1, least = UINT64_C(0x381) << 52, top = UINT64_C(0x7ff) << 52;
    FOR_LANES {
        uint64_t bits, away;
        memcpy(&bits, &sum[i], sizeof bits);
        away = (bits + (UINT64_C(1) << 28)) & ~lost;
        uint64_t size = bits & ~(UINT64_C(1) << 63);
        bits = size >= least && size < top ? away : bits;
        double v;
        memcpy(&v, &bits, sizeof v);
        d[i] = canon32((float)v);
    }
}

const struct lane_texture LANE_NAME(lane_texture_set) = {point, linear,    weigh, offsets,
                                                         load,  normalize, add,   to_words};
