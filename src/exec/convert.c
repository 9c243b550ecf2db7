#include "exec/convert.h"

#include <stddef.h>

/* ---- formats ---- */
struct format {
    uint8_t bits, mant; /* mant: 0 for integers */
    bool sgn, finite;   /* finite: the format has no infinity (e4m3) */
    uint8_t parts;
};

static const struct format formats[MT_COUNT] = {
    [MT_U8] = {8, 0, false, false, 1},     [MT_S8] = {8, 0, true, false, 1},
    [MT_U16] = {16, 0, false, false, 1},   [MT_S16] = {16, 0, true, false, 1},
    [MT_U32] = {32, 0, false, false, 1},   [MT_S32] = {32, 0, true, false, 1},
    [MT_U64] = {64, 0, false, false, 1},   [MT_S64] = {64, 0, true, false, 1},
    [MT_F16] = {16, 10, true, false, 1},   [MT_BF16] = {16, 7, true, false, 1},
    [MT_F32] = {32, 23, true, false, 1},   [MT_F64] = {64, 52, true, false, 1},
    [MT_TF32] = {19, 10, true, false, 1},  [MT_F16X2] = {16, 10, true, false, 2},
    [MT_BF16X2] = {16, 7, true, false, 2}, [MT_E4M3X2] = {8, 3, true, true, 2},
    [MT_E5M2X2] = {8, 2, true, false, 2},  [MT_B128] = {64, 0, false, false, 1},
};

static uint64_t low_bits(unsigned n) {
    return n > 63 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
}

static uint64_t exponent_ones(const struct format *f) {
    return low_bits(f->bits - 1u - f->mant);
}

/* Magnitude bits of infinity; in a format without, the first pattern past the largest number. */
static uint64_t limit_bits(const struct format *f) {
    return f->finite ? low_bits(f->bits - 1u) : exponent_ones(f) << f->mant;
}

static uint64_t nan_bits(const struct format *f) {
    return f->bits == 64 ? UINT64_C(0xfff8000000000000) : low_bits(f->bits - 1u);
}

static int min_exponent(const struct format *f) {
    return 1 - (int)(exponent_ones(f) >> 1);
}

/* ---- numbers ---- */
enum kind { ZERO, NORMAL, INFINITE, NOT_A_NUMBER };

/* (-1)^sign * sig * 2^(exp - 63), with the top bit of sig set when NORMAL. */
struct number {
    enum kind kind;
    bool sign;
    uint64_t sig;
    int exp;
};

static struct number make_number(bool sign, uint64_t sig, int exp) {
    if (!sig)
        return (struct number){ZERO, sign, 0, 0};
    int lead = __builtin_clzll(sig);
    return (struct number){NORMAL, sign, sig << lead, exp - lead};
}

static struct number unpack_float(const struct format *f, uint64_t v) {
    bool sign = v >> (f->bits - 1u) & 1;
    uint64_t mag = v & low_bits(f->bits - 1u), limit = limit_bits(f);
    if (mag >= limit)
        return (struct number){mag == limit && !f->finite ? INFINITE : NOT_A_NUMBER, sign, 0, 0};
    uint64_t field = mag >> f->mant, frac = mag & low_bits(f->mant);
    int least = min_exponent(f);
    if (field)
        return make_number(sign, frac | UINT64_C(1) << f->mant, least + (int)field - 1 + 63 - f->mant);
    return make_number(sign, frac, least + 63 - f->mant);
}

static struct number unpack_int(const struct format *f, uint64_t v) {
    v &= low_bits(f->bits);
    bool sign = f->sgn && v >> (f->bits - 1u) & 1;
    struct number n = make_number(sign, sign ? (0 - v) & low_bits(f->bits) : v, 63);
    if (n.kind == ZERO)
        n.sign = false;
    return n;
}

/* sig shifted right by n (any n >= 0) and rounded. */
static uint64_t shift_round(uint64_t sig, int n, bool sign, unsigned rnd) {
    if (n <= 0)
        return sig;
    uint64_t kept = n > 63 ? 0 : sig >> n, rest = n > 63 ? sig : sig & low_bits((unsigned)n);
    uint64_t half = n > 64 ? UINT64_MAX : UINT64_C(1) << (n - 1);
    bool over = n > 64 ? false : rest > half, tie = n > 64 ? false : rest == half;
    switch (rnd) {
    case RND_RN:
        return kept + (over || (tie && (kept & 1)));
    case RND_RNA:
        return kept + (over || tie);
    case RND_RM:
        return kept + (sign && rest);
    case RND_RP:
        return kept + (!sign && rest);
    default:
        return kept;
    }
}

/* What an overflow in direction rnd gives, as magnitude bits. */
static uint64_t overflow_bits(const struct format *f, bool sign, unsigned rnd, bool finite) {
    bool down = rnd == RND_RZ || (rnd == RND_RM && !sign) || (rnd == RND_RP && sign);
    return limit_bits(f) - (finite || f->finite || down);
}

static uint64_t pack_float(const struct format *f, struct number n, unsigned rnd, bool finite) {
    uint64_t sign = (uint64_t)n.sign << (f->bits - 1u), mag = 0;
    if (n.kind == NOT_A_NUMBER)
        return nan_bits(f);
    if (n.kind == INFINITE) {
        mag = limit_bits(f) - (finite || f->finite);
    } else if (n.kind == NORMAL) {
        int least = min_exponent(f), below = n.exp < least ? least - n.exp : 0;
        int field = n.exp < least ? 0 : n.exp - least;
        if (field > (int)exponent_ones(f))
            return sign | overflow_bits(f, n.sign, rnd, finite);
        uint64_t sig = shift_round(n.sig, 63 - f->mant + below, n.sign, rnd);
        mag = sig + ((uint64_t)field << f->mant); /* a normal's leading one steps the exponent field */
        if (mag >= limit_bits(f))
            mag = overflow_bits(f, n.sign, rnd, finite);
    }
    return sign | mag;
}

/* Magnitude of n as an integer; UINT64_MAX also stands for anything larger. */
static uint64_t integral(struct number n, unsigned rnd) {
    if (n.kind != NORMAL)
        return n.kind == ZERO ? 0 : UINT64_MAX;
    return n.exp > 63 ? UINT64_MAX : shift_round(n.sig, 63 - n.exp, n.sign, rnd);
}

static struct number round_integral(struct number n, unsigned rnd) {
    if (n.kind != NORMAL || n.exp >= 63)
        return n;
    return make_number(n.sign, integral(n, rnd), 63);
}

/* ---- conversions ---- */
static uint64_t clamp_int(const struct format *f, bool sign, uint64_t mag) {
    uint64_t top = low_bits(f->bits - (f->sgn ? 1u : 0u)), bottom = f->sgn ? top + 1 : 0;
    uint64_t limit = sign ? bottom : top;
    mag = mag > limit ? limit : mag;
    return sign ? 0 - mag : mag;
}

/* NaN has no integer: 0 between 32-bit types, the value that is only a sign bit where 64 bits are involved.
 */
static uint64_t nan_int(const struct format *from, const struct format *to) {
    uint64_t v = from->bits == 64 || to->bits == 64 ? UINT64_C(1) << (to->bits - 1u) : 0;
    return to->sgn && v ? 0 - v : v;
}

static uint64_t saturate_float(const struct format *f, uint64_t v) {
    uint64_t one = (exponent_ones(f) >> 1) << f->mant;
    bool sign = v >> (f->bits - 1u) & 1;
    if (sign || v > limit_bits(f))
        return 0;
    return v > one ? one : v;
}

static struct number flush_number(const struct format *f, struct number n) {
    if (n.kind == NORMAL && n.exp < min_exponent(f))
        n.kind = ZERO;
    return n;
}

/* Whether n, rounded as if exponents had no end, is below the normal range. */
static bool is_tiny(const struct format *f, struct number n, unsigned rnd) {
    if (n.kind != NORMAL)
        return false;
    bool carry = shift_round(n.sig, 63 - f->mant, n.sign, rnd) >> (f->mant + 1) & 1;
    return n.exp + carry < min_exponent(f);
}

static uint64_t to_float(const struct imods *m, const struct format *f, struct number n) {
    uint64_t v = pack_float(f, n, m->rnd, m->mode & CVT_SATFINITE);
    bool nan = n.kind == NOT_A_NUMBER;
    if (m->ftz && m->dtype == MT_F32 && is_tiny(f, n, m->rnd))
        v &= UINT64_C(1) << (f->bits - 1u);
    if (m->sat)
        v = saturate_float(f, v);
    if (m->relu && !nan && v >> (f->bits - 1u) & 1)
        v = 0;
    return m->dtype == MT_TF32 ? nan ? 0x7fffffffu : v << 13 : v;
}

static uint64_t convert_one(const struct imods *m, const struct format *from, const struct format *to,
                            uint64_t v) {
    if (from->mant == 0) {
        struct number n = unpack_int(from, v);
        return to->mant ? to_float(m, to, n) : clamp_int(to, n.sign, integral(n, RND_RZ));
    }
    struct number n = unpack_float(from, v);
    if (m->ftz && m->stype == MT_F32 &&
        (to->mant == 0 || to->mant > 10)) /* f16 is within f32's normal range */
        n = flush_number(from, n);
    if (m->dtype == MT_TF32 && m->rnd == RND_RNA && n.kind == NOT_A_NUMBER)
        return v & 0xffffe000u; /* the hardware only cuts it off, which may leave infinity */
    if (to->mant)
        return to_float(m, to, m->rint ? round_integral(n, m->rnd) : n);
    return n.kind == NOT_A_NUMBER ? nan_int(from, to) : clamp_int(to, n.sign, integral(n, m->rnd));
}

/* Result v as a register holds it. */
static uint64_t extend(enum mtype t, uint64_t v) {
    switch (t) {
    case MT_S8:
        return (uint32_t)(int8_t)v;
    case MT_S16:
        return (uint32_t)(int16_t)v;
    case MT_U64:
    case MT_S64:
    case MT_F64:
        return v;
    default:
        return v & low_bits(8u * mtype_size(t));
    }
}

uint64_t convert_value(const struct imods *m, uint64_t v) {
    const struct format *from = &formats[m->stype], *to = &formats[m->dtype];
    if (to->parts == 1)
        return extend(m->dtype, convert_one(m, from, to, v));
    uint64_t lo = convert_one(m, from, to, v), hi = convert_one(m, from, to, v >> from->bits);
    return lo | hi << to->bits;
}

uint32_t convert_pack(const struct imods *m, uint32_t hi, uint32_t lo) {
    struct imods each = *m;
    each.stype = MT_F32;
    each.sat = false;
    each.mode = m->sat || m->mode & CVT_SATFINITE ? CVT_SATFINITE : 0;
    const struct format *from = &formats[MT_F32], *to = &formats[m->dtype];
    return (uint32_t)(convert_one(&each, from, to, lo) | convert_one(&each, from, to, hi) << to->bits);
}
