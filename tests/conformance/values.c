/* Inputs: edge cases crossed with each other, then seeded random values that lean towards trouble.
 *
 * With one input, every edge value of its set comes first; with two, the first CROSS2 of each are crossed;
 * with three, the first CROSS3. All later tuples are random: each operand is an edge value, a value near an
 * earlier operand of the tuple, or one of the set's own random values. */
#include "conform.h"

#include <math.h>
#include <string.h>

enum { CROSS2 = 22, CROSS3 = 8, WARP = 32 };

uint64_t rng_next(struct rng *r) {
    r->s ^= r->s << 13;
    r->s ^= r->s >> 7;
    r->s ^= r->s << 17;
    return r->s * UINT64_C(0x9e3779b97f4a7c15);
}

uint32_t rng_below(struct rng *r, uint32_t n) {
    return (uint32_t)((rng_next(r) >> 32) * n >> 32);
}

/* A named set of values: its edge cases, and how to make random ones. t is the tuple, for sets that depend on
 * the warp. */
struct value_set {
    const char *name;
    const uint64_t *edge;
    uint32_t nedge;
    uint64_t (*random)(struct rng *r, uint32_t t);
    int width;  /* bits of a component, where several are packed */
    bool plain; /* no crossing of edge cases, no near values: random alone */
};

uint8_t values_pattern(uint32_t i) {
    uint32_t x = i * 0x9e3779b1u + 0x7f4a7c15u;
    x ^= x >> 15;
    x *= 0x85ebca6bu;
    return (uint8_t)(x >> 24);
}

/* FNV-1a over words of eight bytes, the rest bytewise. */
uint32_t values_hash(const void *p, size_t n, uint32_t seed) {
    const uint8_t *b = p;
    uint64_t h = UINT64_C(0xcbf29ce484222325) ^ seed;
    for (; n >= 8; n -= 8, b += 8) {
        uint64_t w;
        memcpy(&w, b, 8);
        h = (h ^ w) * UINT64_C(0x100000001b3);
        h ^= h >> 29;
    }
    for (; n; n--)
        h = (h ^ *b++) * UINT64_C(0x100000001b3);
    return (uint32_t)(h ^ h >> 32);
}

/* ---- integers --------------------------------------------------------------------------------------- */

static const uint64_t int16_edges[] = {0,      1,      0xffff, 0x8000, 0x7fff, 2,      0x5555, 0xfffe,
                                       0xaaaa, 0x00ff, 0xff00, 0x0080, 0x007f, 0x0100, 3,      0xfffd,
                                       16,     15,     0x8001, 0x4000, 10,     7,      0xff80, 0xff7f};
static const uint64_t int32_edges[] = {
    0,          1,          0xffffffff, 0x80000000, 0x7fffffff, 2,          0x55555555, 0xfffffffe,
    0x80000001, 0xffff,     0x10000,    0xffff0000, 0x7fff,     0x8000,     0xffff8000, 3,
    31,         32,         0x00ffffff, 0x01000000, 0x40000000, 0xaaaaaaaa, 0xff,       0x80,
    0x7f,       0xffffff80, 0x00800000, 0xff800000, 0x01000001, 10,         0xfffffffd, 0x7fffff80};
static const uint64_t int64_edges[] = {0,
                                       1,
                                       UINT64_MAX,
                                       UINT64_C(0x8000000000000000),
                                       INT64_MAX,
                                       2,
                                       UINT64_C(0x5555555555555555),
                                       UINT64_C(0xfffffffffffffffe),
                                       UINT64_C(0xffffffff),
                                       UINT64_C(0x100000000),
                                       UINT64_C(0xffffffff00000000),
                                       UINT64_C(0x7fffffff),
                                       UINT64_C(0x80000000),
                                       UINT64_C(0xffffffff80000000),
                                       UINT64_C(0xffffffff7fffffff),
                                       63,
                                       64,
                                       3,
                                       UINT64_C(0x8000000000000001),
                                       UINT64_C(0xffff),
                                       UINT64_C(0xaaaaaaaaaaaaaaaa),
                                       10,
                                       UINT64_C(0x1fffffffffffff),
                                       UINT64_C(0x20000000000001),
                                       UINT64_C(0x7ffffffffffffdff),
                                       UINT64_C(0x7ffffffffffffe00),
                                       UINT64_C(0xfffffffffffffbff),
                                       UINT64_C(0xfffffffffffffc00),
                                       0xff,
                                       0x80,
                                       UINT64_C(0xffffffffffff8000),
                                       31,
                                       32};

static uint64_t random_int(struct rng *r, int width) {
    uint64_t x = rng_next(r);
    switch (rng_below(r, 8)) {
    case 0: /* small, either sign */
        x = (uint64_t)(int64_t)((int)rng_below(r, 33) - 16);
        break;
    case 1: /* near a power of two */
        x = (UINT64_C(1) << rng_below(r, (uint32_t)width)) + rng_below(r, 3) - 1;
        break;
    case 2: /* any magnitude */
        x = (x >> (64 - width)) >> rng_below(r, (uint32_t)width);
        break;
    case 3:
        x = -((x >> (64 - width)) >> rng_below(r, (uint32_t)width));
        break;
    default:
        break;
    }
    return width == 64 ? x : x & ((UINT64_C(1) << width) - 1);
}

static uint64_t random_int16(struct rng *r, uint32_t t) {
    (void)t;
    return random_int(r, 16);
}
static uint64_t random_int32(struct rng *r, uint32_t t) {
    (void)t;
    return random_int(r, 32);
}
static uint64_t random_int64(struct rng *r, uint32_t t) {
    (void)t;
    return random_int(r, 64);
}

/* ---- floating point --------------------------------------------------------------------------------- */

static const uint64_t f16_edges[] = {0x0000, 0x8000, 0x3c00, 0x7c00, 0xfc00, 0x7e00, 0x0001, 0xfbff,
                                     0x7c01, 0xbc00, 0x83ff, 0x0400, 0x8401, 0x7bff, 0x4000, 0x3800,
                                     0x3bff, 0x3c01, 0xc248, 0x6400, 0xfe55, 0x3555, 0x5bf8, 0x1400};
static const uint64_t bf16_edges[] = {0x0000, 0x8000, 0x3f80, 0x7f80, 0xff80, 0x7fc0, 0x0001, 0xff7f,
                                      0x7f81, 0xbf80, 0x807f, 0x0080, 0x8081, 0x7f7f, 0x4000, 0x3f00,
                                      0x3f7f, 0x3f81, 0xc049, 0x4b80, 0xffd5, 0x3eab, 0x4f00, 0x3380};
static const uint64_t f32_edges[] = {
    0x00000000, 0x80000000, 0x3f800000, 0x7f800000, 0xff800000, 0x7fc00000, 0x00000001, 0xff7fffff,
    0x7f800001, 0xbf800000, 0x807fffff, 0x00800000, 0x80800001, 0x7f7fffff, 0x40000000, 0x3f000000,
    0x3f7fffff, 0x3f800001, 0xc0490fdb, 0x4b800000, 0xffd2345b, 0x3eaaaaab, 0x4f000000, 0xcf000000,
    0x5f000000, 0xdf000000, 0x4f800000, 0x5f800000, 0x33800000, 0x33000000, 0x477fe000, 0x477fefff,
    0x477ff000, 0x47800000, 0x38800000, 0x387fc000, 0x33000001, 0x7f000000, 0x7e800000, 0x7e800001,
    0x00400000, 0x00200000, 0x00200001, 0x007fffff, 0x4effffff, 0x4f7fffff, 0x5effffff, 0x43e00000,
    0x43e80000, 0x43e80001, 0x47600000, 0x47700000, 0x3c800000, 0x3f400000, 0x3fc00000, 0x40200000,
    0xbf000000, 0xbfc00000, 0xc0200000, 0x4b000001, 0x4affffff, 0x42fe0000, 0x42ff0000, 0x43000000,
    0xc3000000, 0xc3010000, 0x437f0000, 0x437f8000, 0x43800000, 0x46fffe00, 0x46ffff00, 0x47000000,
    0xc7000000, 0xc7000100, 0x477fff00, 0x477fff80, 0xc2fc0000, 0xc3150000, 0xc3160000, 0x43000001};
static const uint64_t f64_edges[] = {
    UINT64_C(0x0000000000000000), UINT64_C(0x8000000000000000), UINT64_C(0x3ff0000000000000),
    UINT64_C(0x7ff0000000000000), UINT64_C(0xfff0000000000000), UINT64_C(0x7ff8000000000000),
    UINT64_C(0x0000000000000001), UINT64_C(0xffefffffffffffff), UINT64_C(0x7ff0000000000001),
    UINT64_C(0xbff0000000000000), UINT64_C(0x800fffffffffffff), UINT64_C(0x0010000000000000),
    UINT64_C(0x8010000000000001), UINT64_C(0x7fefffffffffffff), UINT64_C(0x4000000000000000),
    UINT64_C(0x3fe0000000000000), UINT64_C(0x3fefffffffffffff), UINT64_C(0x3ff0000000000001),
    UINT64_C(0xc00921fb54442d18), UINT64_C(0x4330000000000000), UINT64_C(0xfffa3456789abcde),
    UINT64_C(0x3fd5555555555555), UINT64_C(0x41e0000000000000), UINT64_C(0x41dfffffffc00000),
    UINT64_C(0x41dfffffffe00000), UINT64_C(0xc1e0000000000000), UINT64_C(0xc1e0000000200000),
    UINT64_C(0x41f0000000000000), UINT64_C(0x41efffffffe00000), UINT64_C(0x43e0000000000000),
    UINT64_C(0x43dfffffffffffff), UINT64_C(0xc3e0000000000000), UINT64_C(0x43f0000000000000),
    UINT64_C(0x43efffffffffffff), UINT64_C(0x47efffffe0000000), UINT64_C(0x47efffffefffffff),
    UINT64_C(0x47effffff0000000), UINT64_C(0x3810000000000000), UINT64_C(0x380fffffffffffff),
    UINT64_C(0x36a0000000000000), UINT64_C(0x3690000000000000), UINT64_C(0x3690000000000001),
    UINT64_C(0x40effc0000000000), UINT64_C(0x40effe0000000000), UINT64_C(0x3ff0000010000000),
    UINT64_C(0x3ff0000030000000), UINT64_C(0x3ff0000010000001), UINT64_C(0x3ff8000000000000),
    UINT64_C(0x4004000000000000), UINT64_C(0xbfe0000000000000), UINT64_C(0xbff8000000000000),
    UINT64_C(0x406fe00000000000), UINT64_C(0x40efffe000000000), UINT64_C(0x40dfffc000000000),
    UINT64_C(0x3ff0010000000000), UINT64_C(0x3e60000000000000), UINT64_C(0x000fffffffffffff),
    UINT64_C(0x0008000000000000)};

/* Integers and halves below 1024, positive. */
static uint64_t small_integer(struct rng *r, int bias, int mant) {
    double x = (double)rng_below(r, 2048) / 2;
    int k;
    if (x == 0)
        return 0;
    x = frexp(x, &k); /* [0.5, 1) */
    uint64_t m = (uint64_t)ldexp(x, mant + 1) & ((UINT64_C(1) << mant) - 1);
    return (uint64_t)(k - 1 + bias) << mant | m;
}

/* A random value of a binary format with the given explicit mantissa bits. */
static uint64_t random_float(struct rng *r, int width, int mant) {
    int ebits = width - 1 - mant, bias = (1 << (ebits - 1)) - 1;
    uint64_t bits = rng_next(r) >> (64 - width), sign = bits >> (width - 1) << (width - 1);
    uint64_t frac = bits & ((UINT64_C(1) << mant) - 1);
    int e = bias;
    switch (rng_below(r, 12)) {
    case 0:
    case 1: /* any bits at all */
        return bits;
    case 2: /* subnormal */
        return sign | frac >> rng_below(r, (uint32_t)mant);
    case 3:
        return sign | small_integer(r, bias, mant);
    case 4: /* few bits set: exact results */
        frac = frac >> (mant - 3) << (mant - 3);
        e += (int)rng_below(r, 17) - 8;
        break;
    case 5: /* the whole range of integers */
        e += (int)rng_below(r, (uint32_t)(bias < 70 ? bias : 70));
        break;
    case 6: /* about the range of f16, from half its least number to beyond its greatest */
        e += (int)rng_below(r, 44) - 26;
        break;
    case 7: /* trailing zeros: ties when rounded to any narrower format */
        frac &= UINT64_MAX << rng_below(r, (uint32_t)mant);
        e += (int)rng_below(r, 44) - 26;
        break;
    case 8: /* products and quotients of two of these are about the least or the greatest number */
        e += (rng_below(r, 2) ? bias / 2 : -bias / 2) + (int)rng_below(r, 9) - 4;
        break;
    default:
        e += (int)rng_below(r, 9) - 4;
        break;
    }
    e = e < 1 ? 1 : e > 2 * bias ? 2 * bias : e;
    return sign | (uint64_t)e << mant | frac;
}

static uint64_t random_f16(struct rng *r, uint32_t t) {
    (void)t;
    return random_float(r, 16, 10);
}
static uint64_t random_bf16(struct rng *r, uint32_t t) {
    (void)t;
    return random_float(r, 16, 7);
}
static uint64_t random_f32(struct rng *r, uint32_t t) {
    (void)t;
    return random_float(r, 32, 23);
}
static uint64_t random_f64(struct rng *r, uint32_t t) {
    (void)t;
    return random_float(r, 64, 52);
}

/* Angles: mostly within [-2pi, 2pi], some to a few hundred. */
static uint64_t random_trig(struct rng *r, uint32_t t) {
    (void)t;
    int e = rng_below(r, 4) ? -28 : -22; /* drawn before the number: the order decides the inputs */
    float x = ldexpf((float)(int32_t)(rng_next(r) >> 32), e);
    uint32_t u;
    memcpy(&u, &x, 4);
    return rng_below(r, 8) ? u : random_float(r, 32, 23);
}

/* Exponents of two: within the range whose powers are finite. */
static uint64_t random_exponent(struct rng *r, uint32_t t) {
    (void)t;
    int e = rng_below(r, 4) ? -24 : -31;
    float x = ldexpf((float)(int32_t)(rng_next(r) >> 32), e);
    uint32_t u;
    memcpy(&u, &x, 4);
    return rng_below(r, 8) ? u : random_float(r, 32, 23);
}

/* ---- special purposes ------------------------------------------------------------------------------- */

static const uint64_t shift_edges[] = {0,  1,  31,  32,  33,  15,         16,          17,         63,
                                       64, 65, 127, 128, 255, 256,        257,         0xffffffff, 0x80000000,
                                       2,  8,  24,  30,  48,  0x10000001, 0x100000000, 0x7fffffff};
static const uint64_t bool_edges[] = {0, 1};

static uint64_t random_shift(struct rng *r, uint32_t t) {
    (void)t;
    return rng_below(r, 8) ? rng_below(r, 72) : rng_next(r) >> 32;
}
static uint64_t random_bool(struct rng *r, uint32_t t) {
    (void)t;
    return rng_next(r) >> 63;
}
static uint64_t random_lane(struct rng *r, uint32_t t) {
    (void)t;
    return rng_below(r, 8) ? rng_below(r, 34) : rng_next(r) >> 32;
}
/* The clamp operand of shfl: segment mask in bits 8..12, clamp in bits 0..4. */
static uint64_t random_clamp(struct rng *r, uint32_t t) {
    (void)t;
    static const uint16_t usual[] = {0x1f, 0x0, 0x1f, 0x101f, 0x181f, 0x1c1f, 0x1c00, 0x1e01, 0x1800, 0x1000};
    return rng_below(r, 2) ? usual[rng_below(r, 10)] : rng_next(r) & 0x1f1f;
}
/* A predicate as warps meet it: all set, none, one lane apart, random. */
static uint64_t random_warp_bool(struct rng *r, uint32_t t) {
    uint32_t w = t / WARP, lane = t % WARP;
    switch (w % 5) {
    case 0:
        return 1;
    case 1:
        return 0;
    case 2:
        return lane == w % WARP;
    case 3:
        return lane != (w * 7) % WARP;
    default:
        return rng_next(r) >> 63;
    }
}
/* Values that agree across some or all lanes of a warp. */
static uint64_t random_few(struct rng *r, uint32_t t) {
    uint32_t w = t / WARP, lane = t % WARP, pick = 0;
    switch (w % 4) {
    case 0:
        break;
    case 1:
        pick = lane == (w * 5) % WARP;
        break;
    case 2:
        pick = rng_below(r, 4);
        break;
    default:
        return rng_next(r) >> 32;
    }
    return UINT64_C(0x9e3779b97f4a7c15) * (pick + w);
}
/* A warp-wide nonzero mask of lanes, the same in all lanes of the warp. */
static uint64_t random_warp_mask(struct rng *r, uint32_t t) {
    (void)r;
    uint32_t w = t / WARP;
    if (w % 4 == 0)
        return 0xffffffff;
    struct rng own = {(w + 1) * UINT64_C(0x9e3779b97f4a7c15)};
    rng_next(&own);
    return (rng_next(&own) >> 32) | 1u << w % WARP;
}
static uint64_t random_nonzero32(struct rng *r, uint32_t t) {
    uint64_t x = random_int32(r, t);
    return x ? x : 1;
}
/* Values whose sums are exact in any order: small integers. */
static uint64_t random_small(struct rng *r, uint32_t t) {
    (void)t;
    return rng_below(r, 16);
}
static uint64_t random_small_f32(struct rng *r, uint32_t t) {
    (void)t;
    float x = (float)((int)rng_below(r, 64) - 32);
    uint32_t u;
    memcpy(&u, &x, 4);
    return u;
}
static uint64_t random_small_f64(struct rng *r, uint32_t t) {
    (void)t;
    double x = (double)((int)rng_below(r, 64) - 32);
    uint64_t u;
    memcpy(&u, &x, 8);
    return u;
}
/* Offsets for fns: -32..32 and zero. */
static uint64_t random_offset(struct rng *r, uint32_t t) {
    (void)t;
    return (uint32_t)((int)rng_below(r, 80) - 40);
}

#define EDGES(a) a, sizeof(a) / sizeof *(a)

static const struct value_set sets[] = {{"pred", EDGES(bool_edges), random_bool, 1, false},
                                        {"b8", EDGES(int16_edges), random_int16, 16, false},
                                        {"b16", EDGES(int16_edges), random_int16, 16, false},
                                        {"u16", EDGES(int16_edges), random_int16, 16, false},
                                        {"s16", EDGES(int16_edges), random_int16, 16, false},
                                        {"b32", EDGES(int32_edges), random_int32, 32, false},
                                        {"u32", EDGES(int32_edges), random_int32, 32, false},
                                        {"s32", EDGES(int32_edges), random_int32, 32, false},
                                        {"b64", EDGES(int64_edges), random_int64, 64, false},
                                        {"u64", EDGES(int64_edges), random_int64, 64, false},
                                        {"s64", EDGES(int64_edges), random_int64, 64, false},
                                        {"f16", EDGES(f16_edges), random_f16, 16, false},
                                        {"bf16", EDGES(bf16_edges), random_bf16, 16, false},
                                        {"f16x2", EDGES(f16_edges), random_f16, 16, false},
                                        {"bf16x2", EDGES(bf16_edges), random_bf16, 16, false},
                                        {"f32", EDGES(f32_edges), random_f32, 32, false},
                                        {"tf32", EDGES(f32_edges), random_f32, 32, false},
                                        {"f64", EDGES(f64_edges), random_f64, 64, false},
                                        {"shift", EDGES(shift_edges), random_shift, 64, false},
                                        {"trig", EDGES(f32_edges), random_trig, 32, false},
                                        {"exponent", EDGES(f32_edges), random_exponent, 32, false},
                                        {"int16", EDGES(int16_edges), random_int16, 32, false},
                                        {"lane", EDGES(int32_edges), random_lane, 32, true},
                                        {"clamp", EDGES(int32_edges), random_clamp, 32, true},
                                        {"warppred", EDGES(bool_edges), random_warp_bool, 1, true},
                                        {"few", EDGES(int32_edges), random_few, 64, true},
                                        {"warpmask", EDGES(int32_edges), random_warp_mask, 32, true},
                                        {"nonzero", EDGES(int32_edges), random_nonzero32, 32, true},
                                        {"small", EDGES(int32_edges), random_small, 32, true},
                                        {"smallf32", EDGES(f32_edges), random_small_f32, 32, true},
                                        {"smallf64", EDGES(f64_edges), random_small_f64, 64, true},
                                        {"offset", EDGES(int32_edges), random_offset, 32, false},
#define X(name) {"matrix_" #name, EDGES(int32_edges), random_matrix_##name, 64, true},
                                        MATRIX_SETS(X)
#undef X
};

const struct value_set *values_find(const char *name, size_t len) {
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        if (strlen(sets[i].name) == len && !memcmp(sets[i].name, name, len))
            return &sets[i];
    return NULL;
}

/* ---- tuples ----------------------------------------------------------------------------------------- */

static uint64_t one_value(struct rng *r, const struct value_set *s, uint32_t t, const uint64_t *earlier) {
    if (s->plain)
        return s->random(r, t);
    uint32_t kind = rng_below(r, 16);
    if (kind < 3)
        return s->edge[rng_below(r, s->nedge)];
    if (kind < 6 && earlier &&
        s->width >= 16) { /* near an earlier operand: equal, a few units off, negated */
        uint64_t x = *earlier + rng_below(r, 5) - 2;
        return rng_below(r, 2) ? x : x ^ UINT64_C(1) << (s->width - 1);
    }
    return s->random(r, t);
}

/* A value of the operand's type: one component, or two packed. */
static uint64_t packed_value(struct rng *r, const struct operand *o, uint32_t t, const uint64_t *earlier) {
    int bits = o->type->bits;
    uint64_t x = one_value(r, o->set, t, earlier);
    if (o->set->width == 16 && bits == 32 && o->type->fp_bits == 16) {
        uint64_t up = earlier ? *earlier >> 16 : 0;
        x = (x & 0xffff) | (one_value(r, o->set, t, earlier ? &up : NULL) & 0xffff) << 16;
    }
    if (bits == 1)
        return x & 1;
    return bits == 64 ? x : x & ((UINT64_C(1) << (bits < 16 ? 16 : bits)) - 1);
}

/* The edge case that crossing gives operand k of tuple t; false beyond them. */
static bool crossed(const struct variant *v, uint32_t t, int k, uint64_t *x) {
    if (v->nin > 3)
        return false;
    uint32_t limit = v->nin == 1 ? 1000 : v->nin == 2 ? CROSS2 : CROSS3, div = 1, total = 1, size = 0;
    for (int j = 0; j < v->nin; j++) {
        const struct value_set *s = v->in[j].set;
        if (s->plain)
            return false;
        uint32_t n = s->nedge < limit ? s->nedge : limit;
        if (j < k)
            div *= n;
        if (j == k)
            size = n;
        total *= n;
    }
    if (t >= total)
        return false;
    const struct value_set *s = v->in[k].set;
    *x = s->edge[t / div % size];
    if (v->in[k].type->fp_bits == 16 && v->in[k].type->bits == 32) /* the upper half runs through them too */
        *x |= s->edge[(t / div + t / size + 1) % s->nedge] << 16;
    return true;
}

void values_fill(const struct variant *v, uint64_t *in) {
    struct rng r = {values_hash(v->name, strlen(v->name), 1) * UINT64_C(0x9e3779b97f4a7c15) | 1};
    for (int k = 0; k < 4; k++)
        rng_next(&r);
    for (uint32_t t = 0; t < TUPLES; t++) {
        for (int k = 0; k < v->nin; k++) {
            uint64_t *x = &in[(size_t)k * TUPLES + t];
            const uint64_t *earlier = k ? &in[(size_t)(k - 1) * TUPLES + t] : NULL;
            if (!crossed(v, t, k, x))
                *x = packed_value(&r, &v->in[k], t, earlier);
            else if (v->in[k].type->bits < 64)
                *x &= (UINT64_C(1) << (v->in[k].type->bits < 16 ? 16 : v->in[k].type->bits)) - 1;
        }
    }
}
