/* Arithmetic on unpacked numbers: sign, exponent, and 64 bits of significand of which the highest is set. */
#include "cpu/softfp.h"

typedef unsigned __int128 u128;

const struct fp_format fp_half = {5, 10}, fp_single = {8, 23}, fp_double = {11, 52};

enum kind { ZERO, FINITE, INFINITE, QUIET, SIGNALLING };

/* The value of a FINITE one is sig / 2^63 * 2^exp. */
struct number {
    enum kind kind;
    bool sign;
    int exp;
    uint64_t sig;
};

static int bias(const struct fp_format *f) {
    return (1 << (f->ebits - 1)) - 1;
}

static uint64_t sign_bit(const struct fp_format *f) {
    return 1ull << (f->ebits + f->fbits);
}

static uint64_t exp_mask(const struct fp_format *f) {
    return (1ull << f->ebits) - 1;
}

static uint64_t frac_mask(const struct fp_format *f) {
    return (1ull << f->fbits) - 1;
}

static uint64_t infinity(const struct fp_format *f, bool sign) {
    return (sign ? sign_bit(f) : 0) | exp_mask(f) << f->fbits;
}

static uint64_t zero(const struct fp_format *f, bool sign) {
    return sign ? sign_bit(f) : 0;
}

static uint64_t default_nan(const struct fp_format *f) {
    return infinity(f, false) | 1ull << (f->fbits - 1);
}

static uint64_t largest(const struct fp_format *f, bool sign) {
    return infinity(f, sign) - 1;
}

static uint64_t invalid(struct fp_env *e, const struct fp_format *f) {
    e->fpsr |= FP_INVALID;
    return default_nan(f);
}

static bool is_half(const struct fp_format *f) {
    return f->ebits == 5;
}

static struct number unpack(struct fp_env *e, const struct fp_format *f, uint64_t bits) {
    uint64_t exp = bits >> f->fbits & exp_mask(f), frac = bits & frac_mask(f);
    struct number n = {.sign = bits & sign_bit(f)};
    bool alternative = is_half(f) && (e->fpcr & FPCR_AHP);
    if (exp == exp_mask(f) && !alternative) {
        n.kind = !frac ? INFINITE : frac >> (f->fbits - 1) ? QUIET : SIGNALLING;
        return n;
    }
    if (!exp && frac && (e->fpcr & FPCR_FZ) && !is_half(f)) {
        e->fpsr |= FP_INPUT_DENORMAL;
        frac = 0;
    }
    if (!exp && !frac) {
        n.kind = ZERO;
        return n;
    }
    n.kind = FINITE;
    n.exp = (exp ? (int)exp : 1) - bias(f);
    n.sig = (frac | (uint64_t)(exp != 0) << f->fbits) << (63 - f->fbits);
    int shift = __builtin_clzll(n.sig);
    n.sig <<= shift;
    n.exp -= shift;
    return n;
}

static uint64_t overflow(struct fp_env *e, const struct fp_format *f, bool sign, enum fp_round r) {
    if (is_half(f) && (e->fpcr & FPCR_AHP)) {
        e->fpsr |= FP_INVALID;
        return zero(f, sign) | (sign_bit(f) - 1);
    }
    e->fpsr |= FP_OVERFLOW | FP_INEXACT;
    bool to_infinity = r == FP_RN || r == FP_RA || (r == FP_RP && !sign) || (r == FP_RM && sign);
    return to_infinity ? infinity(f, sign) : largest(f, sign);
}

static bool rounds_up(enum fp_round r, bool sign, bool odd, uint64_t rest, uint64_t half) {
    switch (r) {
    case FP_RN:
        return rest > half || (rest == half && odd);
    case FP_RP:
        return rest && !sign;
    case FP_RM:
        return rest && sign;
    case FP_RA:
        return rest >= half;
    default:
        return false;
    }
}

/* Packs sig / 2^63 * 2^exp; the lowest bit of sig also stands for all bits below it. */
static uint64_t pack(struct fp_env *e, const struct fp_format *f, bool sign, int exp, uint64_t sig,
                     enum fp_round r) {
    int biased = exp + bias(f), shift = 63 - f->fbits;
    bool tiny = biased <= 0;
    if (tiny) {
        if ((e->fpcr & FPCR_FZ) && !is_half(f)) {
            e->fpsr |= FP_UNDERFLOW;
            return zero(f, sign);
        }
        int by = 1 - biased;
        sig = by > 63 ? sig != 0 : sig >> by | ((sig & ((1ull << by) - 1)) != 0);
        biased = 1;
    }
    uint64_t rest = sig & ((1ull << shift) - 1), frac = sig >> shift;
    if (r == FP_RO)
        frac |= rest != 0;
    else
        frac += rounds_up(r, sign, frac & 1, rest, 1ull << (shift - 1));
    /* The hidden bit adds one to the exponent field; a carry out of the fraction does, too. */
    uint64_t bits = ((uint64_t)(biased - 1) << f->fbits) + frac;
    bool alternative = is_half(f) && (e->fpcr & FPCR_AHP);
    if (bits >> f->fbits >= exp_mask(f) + alternative)
        return overflow(e, f, sign, r);
    if (rest)
        e->fpsr |= FP_INEXACT | (tiny ? FP_UNDERFLOW : 0);
    return zero(f, sign) | bits;
}

/* The same from 128 bits, of which bit 126 has the weight 2^exp. */
static uint64_t pack128(struct fp_env *e, const struct fp_format *f, bool sign, int exp, u128 sig,
                        enum fp_round r) {
    uint64_t hi = (uint64_t)(sig >> 64);
    int shift = hi ? __builtin_clzll(hi) : 64 + __builtin_clzll((uint64_t)sig);
    sig <<= shift;
    return pack(e, f, sign, exp + 1 - shift, (uint64_t)(sig >> 64) | ((uint64_t)sig != 0), r);
}

static uint64_t quiet(struct fp_env *e, const struct fp_format *f, uint64_t nan) {
    return e->fpcr & FPCR_DN ? default_nan(f) : nan | 1ull << (f->fbits - 1);
}

/* The NaN that results from operands of which one is: signalling ones go first. False: none is. */
static bool nan_of(struct fp_env *e, const struct fp_format *f, const struct number *const *n,
                   const uint64_t *bits, int count, uint64_t *out) {
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < count; k++)
            if (n[k]->kind == (pass ? QUIET : SIGNALLING)) {
                if (!pass)
                    e->fpsr |= FP_INVALID;
                *out = quiet(e, f, bits[k]);
                return true;
            }
    return false;
}

static bool nan2(struct fp_env *e, const struct fp_format *f, const struct number *x, const struct number *y,
                 uint64_t a, uint64_t b, uint64_t *out) {
    return nan_of(e, f, (const struct number *[]){x, y}, (uint64_t[]){a, b}, 2, out);
}

static bool nan1(struct fp_env *e, const struct fp_format *f, const struct number *x, uint64_t a,
                 uint64_t *out) {
    return nan_of(e, f, &x, &a, 1, out);
}

static u128 shift_right_sticky(u128 v, int by) {
    return by > 127 ? v != 0 : by ? v >> by | ((v & (((u128)1 << by) - 1)) != 0) : v;
}

/* x + y for finite ones, given as 128 bits with bit 126 of weight 2^exp. */
static uint64_t add_finite(struct fp_env *e, const struct fp_format *f, bool xs, int xe, u128 x, bool ys,
                           int ye, u128 y, enum fp_round r) {
    int exp = xe > ye ? xe : ye;
    x = shift_right_sticky(x, exp - xe);
    y = shift_right_sticky(y, exp - ye);
    if (xs == ys)
        return pack128(e, f, xs, exp, x + y, r);
    if (x == y)
        return zero(f, r == FP_RM);
    return x > y ? pack128(e, f, xs, exp, x - y, r) : pack128(e, f, ys, exp, y - x, r);
}

static uint64_t add(struct fp_env *e, const struct fp_format *f, uint64_t a, uint64_t b, bool negate) {
    struct number x = unpack(e, f, a), y = unpack(e, f, b);
    uint64_t nan;
    if (nan2(e, f, &x, &y, a, b, &nan))
        return nan;
    y.sign ^= negate;
    enum fp_round r = fp_mode(e);
    if (x.kind == INFINITE || y.kind == INFINITE) {
        if (x.kind == y.kind && x.sign != y.sign)
            return invalid(e, f);
        return infinity(f, x.kind == INFINITE ? x.sign : y.sign);
    }
    if (x.kind == ZERO && y.kind == ZERO)
        return zero(f, x.sign == y.sign ? x.sign : r == FP_RM);
    if (x.kind == ZERO || y.kind == ZERO) {
        struct number *n = x.kind == ZERO ? &y : &x;
        return pack(e, f, n->sign, n->exp, n->sig, r);
    }
    return add_finite(e, f, x.sign, x.exp, (u128)x.sig << 63, y.sign, y.exp, (u128)y.sig << 63, r);
}

uint64_t fp_add(struct fp_env *e, const struct fp_format *f, uint64_t a, uint64_t b) {
    return add(e, f, a, b, false);
}

uint64_t fp_sub(struct fp_env *e, const struct fp_format *f, uint64_t a, uint64_t b) {
    return add(e, f, a, b, true);
}

uint64_t fp_abd(struct fp_env *e, const struct fp_format *f, uint64_t a, uint64_t b) {
    return add(e, f, a, b, true) & ~sign_bit(f);
}

/* extended: infinity times zero is two. */
static uint64_t multiply(struct fp_env *e, const struct fp_format *f, uint64_t a, uint64_t b, bool extended) {
    struct number x = unpack(e, f, a), y = unpack(e, f, b);
    uint64_t nan;
    if (nan2(e, f, &x, &y, a, b, &nan))
        return nan;
    bool sign = x.sign != y.sign;
    if (x.kind == INFINITE || y.kind == INFINITE) {
        if (x.kind != ZERO && y.kind != ZERO)
            return infinity(f, sign);
        return extended ? zero(f, sign) | (uint64_t)(bias(f) + 1) << f->fbits : invalid(e, f);
    }
    if (x.kind == ZERO || y.kind == ZERO)
        return zero(f, sign);
    return pack128(e, f, sign, x.exp + y.exp, (u128)x.sig * y.sig, fp_mode(e));
}

uint64_t fp_mul(struct fp_env *e, const struct fp_format *f, uint64_t a, uint64_t b) {
    return multiply(e, f, a, b, false);
}

uint64_t fp_nmul(struct fp_env *e, const struct fp_format *f, uint64_t a, uint64_t b) {
    return multiply(e, f, a, b, false) ^ sign_bit(f);
}

uint64_t fp_mulx(struct fp_env *e, const struct fp_format *f, uint64_t a, uint64_t b) {
    return multiply(e, f, a, b, true);
}

uint64_t fp_div(struct fp_env *e, const struct fp_format *f, uint64_t a, uint64_t b) {
    struct number x = unpack(e, f, a), y = unpack(e, f, b);
    uint64_t nan;
    if (nan2(e, f, &x, &y, a, b, &nan))
        return nan;
    bool sign = x.sign != y.sign;
    if (x.kind == y.kind && x.kind != FINITE)
        return invalid(e, f);
    if (x.kind == INFINITE)
        return infinity(f, sign);
    if (y.kind == ZERO) {
        e->fpsr |= FP_DIV_ZERO;
        return infinity(f, sign);
    }
    if (x.kind == ZERO || y.kind == INFINITE)
        return zero(f, sign);
    u128 q = ((u128)x.sig << 63) / y.sig, rest = ((u128)x.sig << 63) % y.sig;
    /* q has 63 or 64 bits; 60 more make room for what is behind them */
    return pack128(e, f, sign, x.exp - y.exp, q << 63 | (rest != 0), fp_mode(e));
}

/* d + a * b, rounded once, times 2^scale. */
static uint64_t fused(struct fp_env *e, const struct fp_format *f, uint64_t a, uint64_t b, uint64_t d,
                      int scale) {
    struct number z = unpack(e, f, d), x = unpack(e, f, a), y = unpack(e, f, b);
    bool no_product = (x.kind == INFINITE && y.kind == ZERO) || (x.kind == ZERO && y.kind == INFINITE);
    if (no_product && z.kind == QUIET)
        return invalid(e, f);
    uint64_t nan;
    if (nan_of(e, f, (const struct number *[]){&z, &x, &y}, (uint64_t[]){d, a, b}, 3, &nan))
        return nan;
    bool sign = x.sign != y.sign, infinite = x.kind == INFINITE || y.kind == INFINITE;
    if (no_product || (infinite && z.kind == INFINITE && sign != z.sign))
        return invalid(e, f);
    if (infinite || z.kind == INFINITE)
        return infinity(f, infinite ? sign : z.sign);
    enum fp_round r = fp_mode(e);
    if (x.kind == ZERO || y.kind == ZERO) {
        if (z.kind == ZERO)
            return zero(f, sign == z.sign ? sign : r == FP_RM);
        return pack(e, f, z.sign, z.exp + scale, z.sig, r);
    }
    u128 product = (u128)x.sig * y.sig;
    int exp = x.exp + y.exp;
    if (product >> 127) { /* the low bits of a product are zero */
        product >>= 1;
        exp++;
    }
    if (z.kind == ZERO)
        return pack128(e, f, sign, exp + scale, product, r);
    return add_finite(e, f, sign, exp + scale, product, z.sign, z.exp + scale, (u128)z.sig << 63, r);
}

uint64_t fp_madd(struct fp_env *e, const struct fp_format *f, uint64_t a, uint64_t b, uint64_t d) {
    return fused(e, f, a, b, d, 0);
}

uint64_t fp_msub(struct fp_env *e, const struct fp_format *f, uint64_t a, uint64_t b, uint64_t d) {
    return fused(e, f, a ^ sign_bit(f), b, d, 0);
}

uint64_t fp_nmadd(struct fp_env *e, const struct fp_format *f, uint64_t a, uint64_t b, uint64_t d) {
    return fused(e, f, a ^ sign_bit(f), b, d ^ sign_bit(f), 0);
}

uint64_t fp_nmsub(struct fp_env *e, const struct fp_format *f, uint64_t a, uint64_t b, uint64_t d) {
    return fused(e, f, a, b, d ^ sign_bit(f), 0);
}

/* constant - a * b, times 2^scale; where there is no product, constant times 2^scale is given. */
static uint64_t step(struct fp_env *e, const struct fp_format *f, uint64_t a, uint64_t b, uint64_t constant,
                     uint64_t scaled, int scale) {
    a ^= sign_bit(f);
    struct number x = unpack(e, f, a), y = unpack(e, f, b);
    uint64_t nan;
    if (nan2(e, f, &x, &y, a, b, &nan))
        return nan;
    if ((x.kind == INFINITE && y.kind == ZERO) || (x.kind == ZERO && y.kind == INFINITE))
        return scaled;
    return fused(e, f, a, b, constant, scale);
}

static uint64_t small_constant(const struct fp_format *f, int exp, int half) {
    return (uint64_t)(bias(f) + exp) << f->fbits | (half ? 1ull << (f->fbits - 1) : 0);
}

uint64_t fp_recps(struct fp_env *e, const struct fp_format *f, uint64_t a, uint64_t b) {
    uint64_t two = small_constant(f, 1, 0);
    return step(e, f, a, b, two, two, 0);
}

uint64_t fp_rsqrts(struct fp_env *e, const struct fp_format *f, uint64_t a, uint64_t b) {
    return step(e, f, a, b, small_constant(f, 1, 1), small_constant(f, 0, 1), -1);
}

uint64_t fp_sqrt(struct fp_env *e, const struct fp_format *f, uint64_t a) {
    struct number x = unpack(e, f, a);
    uint64_t nan;
    if (nan1(e, f, &x, a, &nan))
        return nan;
    if (x.kind == ZERO)
        return zero(f, x.sign);
    if (x.sign)
        return invalid(e, f);
    if (x.kind == INFINITE)
        return infinity(f, false);
    int odd = x.exp & 1;
    u128 v = (u128)x.sig << (61 + odd), root = 0; /* between 2^124 and 2^126 */
    for (int bit = 62; bit >= 0; bit--) {
        u128 next = root | (u128)1 << bit;
        if (next * next <= v)
            root = next;
    }
    return pack128(e, f, false, (x.exp - odd) / 2, root << 64 | (root * root != v), fp_mode(e));
}

/* ---- to integers ---- */

static uint64_t rint_mode(struct fp_env *e, const struct fp_format *f, uint64_t a, enum fp_round r,
                          bool exact) {
    struct number x = unpack(e, f, a);
    uint64_t nan;
    if (nan1(e, f, &x, a, &nan))
        return nan;
    if (x.kind == INFINITE)
        return a;
    if (x.kind == ZERO)
        return zero(f, x.sign);
    if (x.exp >= f->fbits)
        return a;
    uint64_t rest, half, whole;
    if (x.exp < -1) {
        whole = 0;
        rest = 1;
        half = 2;
    } else { /* bits behind the point: 63 - exp, between 12 and 64 */
        int behind = 63 - x.exp;
        whole = behind > 63 ? 0 : x.sig >> behind;
        rest = behind > 63 ? x.sig : x.sig & ((1ull << behind) - 1);
        half = 1ull << (behind - 1);
    }
    whole += rounds_up(r, x.sign, whole & 1, rest, half);
    if (rest && exact)
        e->fpsr |= FP_INEXACT;
    if (!whole)
        return zero(f, x.sign);
    int shift = __builtin_clzll(whole);
    return pack(e, f, x.sign, 63 - shift, whole << shift, FP_RZ);
}

#define RINT(name, mode, exact)                                                                              \
    uint64_t name(struct fp_env *e, const struct fp_format *f, uint64_t a) {                                 \
        return rint_mode(e, f, a, mode, exact);                                                              \
    }
RINT(fp_rintn, FP_RN, false)
RINT(fp_rintp, FP_RP, false)
RINT(fp_rintm, FP_RM, false)
RINT(fp_rintz, FP_RZ, false)
RINT(fp_rinta, FP_RA, false)
RINT(fp_rintx, fp_mode(e), true)
RINT(fp_rinti, fp_mode(e), false)

uint64_t fp_to_int(struct fp_env *e, const struct fp_format *f, uint64_t a, uint32_t fraction,
                   enum fp_round r, bool is_unsigned, uint32_t bits) {
    struct number x = unpack(e, f, a);
    uint64_t mask = bits == 64 ? ~0ull : (1ull << bits) - 1, top = 1ull << (bits - 1);
    if (x.kind == QUIET || x.kind == SIGNALLING) {
        e->fpsr |= FP_INVALID;
        return 0;
    }
    if (x.kind == ZERO)
        return 0;
    int exp = x.exp + (int)fraction;
    bool huge = x.kind == INFINITE || exp > 63;
    uint64_t whole = 0, rest = 1, half = 2;
    if (!huge && exp >= -1) {
        int behind = 63 - exp;
        whole = behind > 63 ? 0 : x.sig >> behind;
        rest = !behind ? 0 : behind > 63 ? x.sig : x.sig & ((1ull << behind) - 1);
        half = behind ? 1ull << (behind - 1) : 0;
    }
    if (!huge && rest && rounds_up(r, x.sign, whole & 1, rest, half))
        huge = ++whole == 0;
    uint64_t limit = is_unsigned ? (x.sign ? 0 : mask) : x.sign ? top : top - 1;
    if (huge || whole > limit) {
        e->fpsr |= FP_INVALID;
        return limit;
    }
    if (rest)
        e->fpsr |= FP_INEXACT;
    return (x.sign ? 0 - whole : whole) & mask;
}

uint64_t fp_from_int(struct fp_env *e, const struct fp_format *f, uint64_t v, uint32_t fraction,
                     bool is_unsigned) {
    bool sign = !is_unsigned && v >> 63;
    if (!v)
        return 0;
    if (sign)
        v = 0 - v;
    int shift = __builtin_clzll(v);
    return pack(e, f, sign, 63 - shift - (int)fraction, v << shift, fp_mode(e));
}

/* ---- between formats ---- */

static uint64_t convert(struct fp_env *e, const struct fp_format *to, const struct fp_format *from,
                        uint64_t a, enum fp_round r) {
    struct number x = unpack(e, from, a);
    bool alternative = is_half(to) && (e->fpcr & FPCR_AHP);
    if (x.kind == QUIET || x.kind == SIGNALLING) {
        if (alternative) {
            e->fpsr |= FP_INVALID;
            return zero(to, x.sign);
        }
        if (x.kind == SIGNALLING)
            e->fpsr |= FP_INVALID;
        if (e->fpcr & FPCR_DN)
            return default_nan(to);
        uint64_t frac = a & frac_mask(from);
        frac =
            to->fbits > from->fbits ? frac << (to->fbits - from->fbits) : frac >> (from->fbits - to->fbits);
        return infinity(to, x.sign) | frac | 1ull << (to->fbits - 1);
    }
    if (x.kind == ZERO)
        return zero(to, x.sign);
    if (x.kind == INFINITE)
        return alternative ? overflow(e, to, x.sign, r) : infinity(to, x.sign);
    return pack(e, to, x.sign, x.exp, x.sig, r);
}

uint64_t fp_convert(struct fp_env *e, const struct fp_format *to, const struct fp_format *from, uint64_t a) {
    return convert(e, to, from, a, fp_mode(e));
}

uint64_t fp_convert_odd(struct fp_env *e, uint64_t a) {
    return convert(e, &fp_single, &fp_double, a, FP_RO);
}

/* ---- comparisons ---- */

/* A whole number that is ordered as the floating-point numbers are. */
static int64_t rank(const struct fp_format *f, uint64_t bits) {
    int64_t magnitude = (int64_t)(bits & (sign_bit(f) - 1));
    return bits & sign_bit(f) ? -magnitude : magnitude;
}

static uint64_t flush(struct fp_env *e, const struct fp_format *f, uint64_t bits) {
    struct number n = unpack(e, f, bits);
    return n.kind == ZERO ? zero(f, n.sign) : bits;
}

enum order { LESS, EQUAL, GREATER, UNORDERED };

static enum order compare(struct fp_env *e, const struct fp_format *f, uint64_t a, uint64_t b, bool signal) {
    struct number x = unpack(e, f, a), y = unpack(e, f, b);
    if (x.kind >= QUIET || y.kind >= QUIET) {
        if (signal || x.kind == SIGNALLING || y.kind == SIGNALLING)
            e->fpsr |= FP_INVALID;
        return UNORDERED;
    }
    int64_t p = x.kind == ZERO ? 0 : rank(f, a), q = y.kind == ZERO ? 0 : rank(f, b);
    return p < q ? LESS : p > q ? GREATER : EQUAL;
}

uint32_t fp_compare(struct fp_env *e, const struct fp_format *f, uint64_t a, uint64_t b, bool signal) {
    static const uint32_t flags[] = {[LESS] = 8, [EQUAL] = 6, [GREATER] = 2, [UNORDERED] = 3};
    return flags[compare(e, f, a, b, signal)];
}

static uint64_t all(const struct fp_format *f, bool yes) {
    return yes ? sign_bit(f) | (sign_bit(f) - 1) : 0;
}

uint64_t fp_cmeq(struct fp_env *e, const struct fp_format *f, uint64_t a, uint64_t b) {
    return all(f, compare(e, f, a, b, false) == EQUAL);
}

uint64_t fp_cmge(struct fp_env *e, const struct fp_format *f, uint64_t a, uint64_t b) {
    enum order o = compare(e, f, a, b, true);
    return all(f, o == GREATER || o == EQUAL);
}

uint64_t fp_cmgt(struct fp_env *e, const struct fp_format *f, uint64_t a, uint64_t b) {
    return all(f, compare(e, f, a, b, true) == GREATER);
}

uint64_t fp_acge(struct fp_env *e, const struct fp_format *f, uint64_t a, uint64_t b) {
    return fp_cmge(e, f, a & ~sign_bit(f), b & ~sign_bit(f));
}

uint64_t fp_acgt(struct fp_env *e, const struct fp_format *f, uint64_t a, uint64_t b) {
    return fp_cmgt(e, f, a & ~sign_bit(f), b & ~sign_bit(f));
}

uint64_t fp_cmeq0(struct fp_env *e, const struct fp_format *f, uint64_t a) {
    return fp_cmeq(e, f, a, 0);
}

uint64_t fp_cmge0(struct fp_env *e, const struct fp_format *f, uint64_t a) {
    return fp_cmge(e, f, a, 0);
}

uint64_t fp_cmgt0(struct fp_env *e, const struct fp_format *f, uint64_t a) {
    return fp_cmgt(e, f, a, 0);
}

uint64_t fp_cmle0(struct fp_env *e, const struct fp_format *f, uint64_t a) {
    return fp_cmge(e, f, 0, a);
}

uint64_t fp_cmlt0(struct fp_env *e, const struct fp_format *f, uint64_t a) {
    return fp_cmgt(e, f, 0, a);
}

/* Unlike a comparison, this tells the zeros apart. */
static uint64_t extreme(struct fp_env *e, const struct fp_format *f, uint64_t a, uint64_t b, bool greatest) {
    struct number x = unpack(e, f, a), y = unpack(e, f, b);
    uint64_t nan;
    if (nan2(e, f, &x, &y, a, b, &nan))
        return nan;
    struct fp_env none = {.fpcr = e->fpcr};
    a = flush(&none, f, a);
    b = flush(&none, f, b);
    int64_t p = rank(f, a), q = rank(f, b);
    bool first = p != q ? (p > q) == greatest : x.sign != greatest;
    return first ? a : b;
}

uint64_t fp_max(struct fp_env *e, const struct fp_format *f, uint64_t a, uint64_t b) {
    return extreme(e, f, a, b, true);
}

uint64_t fp_min(struct fp_env *e, const struct fp_format *f, uint64_t a, uint64_t b) {
    return extreme(e, f, a, b, false);
}

/* A quiet NaN beside a number is as if it were the other extreme. */
static uint64_t extreme_number(struct fp_env *e, const struct fp_format *f, uint64_t a, uint64_t b,
                               bool greatest) {
    struct fp_env none = {.fpcr = e->fpcr};
    struct number x = unpack(&none, f, a), y = unpack(&none, f, b);
    if (x.kind == QUIET && y.kind < QUIET)
        a = infinity(f, greatest);
    else if (y.kind == QUIET && x.kind < QUIET)
        b = infinity(f, greatest);
    return extreme(e, f, a, b, greatest);
}

uint64_t fp_maxnm(struct fp_env *e, const struct fp_format *f, uint64_t a, uint64_t b) {
    return extreme_number(e, f, a, b, true);
}

uint64_t fp_minnm(struct fp_env *e, const struct fp_format *f, uint64_t a, uint64_t b) {
    return extreme_number(e, f, a, b, false);
}

/* ---- estimates ---- */

/* 256 times the reciprocal of a / 512, for a from 256 to 511. */
static uint32_t recip_estimate(uint32_t a) {
    return ((1u << 19) / (2 * a + 1) + 1) / 2;
}

/* 256 times the reciprocal square root of a / 512, for a from 128 to 511. */
static uint32_t rsqrt_estimate(uint32_t a) {
    a = a < 256 ? 2 * a + 1 : ((a & ~1u) + 1) * 2;
    uint32_t b = 512;
    while ((uint64_t)a * (b + 1) * (b + 1) < 1u << 28)
        b++;
    return (b + 1) / 2;
}

uint32_t fp_recip_u32(uint32_t a) {
    return a >> 31 ? recip_estimate(a >> 23) << 23 : ~0u;
}

uint32_t fp_rsqrt_u32(uint32_t a) {
    return a >> 30 ? rsqrt_estimate(a >> 23) << 23 : ~0u;
}

uint64_t fp_recpe(struct fp_env *e, const struct fp_format *f, uint64_t a) {
    struct number x = unpack(e, f, a);
    uint64_t nan;
    if (nan1(e, f, &x, a, &nan))
        return nan;
    if (x.kind == INFINITE)
        return zero(f, x.sign);
    if (x.kind == ZERO) {
        e->fpsr |= FP_DIV_ZERO;
        return infinity(f, x.sign);
    }
    int top = bias(f); /* exponents of the largest numbers */
    if (x.exp < -top - 1)
        return overflow(e, f, x.sign, fp_mode(e));
    if ((e->fpcr & FPCR_FZ) && x.exp >= top - 1) {
        e->fpsr |= FP_UNDERFLOW;
        return zero(f, x.sign);
    }
    uint32_t estimate = recip_estimate((uint32_t)(x.sig >> 55));
    int exp = top - 1 - x.exp; /* of the result, biased */
    uint64_t frac = (uint64_t)(estimate & 255) << (f->fbits - 8), hidden = 1ull << f->fbits;
    if (exp <= 0) { /* subnormal */
        frac = (frac | hidden) >> (1 - exp);
        exp = 0;
    }
    return zero(f, x.sign) | (uint64_t)exp << f->fbits | frac;
}

uint64_t fp_rsqrte(struct fp_env *e, const struct fp_format *f, uint64_t a) {
    struct number x = unpack(e, f, a);
    uint64_t nan;
    if (nan1(e, f, &x, a, &nan))
        return nan;
    if (x.kind == ZERO) {
        e->fpsr |= FP_DIV_ZERO;
        return infinity(f, x.sign);
    }
    if (x.sign)
        return invalid(e, f);
    if (x.kind == INFINITE)
        return 0;
    int biased = x.exp + bias(f); /* may be negative for subnormals */
    uint32_t scaled = biased & 1 ? (uint32_t)(x.sig >> 56) : (uint32_t)(x.sig >> 55);
    uint32_t estimate = rsqrt_estimate(scaled);
    int exp = (3 * bias(f) - 1 - biased) >> 1;
    return (uint64_t)exp << f->fbits | (uint64_t)(estimate & 255) << (f->fbits - 8);
}

uint64_t fp_recpx(struct fp_env *e, const struct fp_format *f, uint64_t a) {
    struct number x = unpack(e, f, a);
    uint64_t nan;
    if (nan1(e, f, &x, a, &nan))
        return nan;
    uint64_t exp = a >> f->fbits & exp_mask(f);
    return zero(f, x.sign) | (exp ? ~exp & exp_mask(f) : exp_mask(f) - 1) << f->fbits;
}
