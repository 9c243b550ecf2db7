/* Conversions and 16-bit floats against a reference that searches: it decodes every candidate of the target
 * format to an exact number and takes the neighbour the rounding mode asks for. */
#include <float.h>

#include "lanes_util.h"

/* Needs a long double with 64 significant bits, so that every source value is exact. */
#if LDBL_MANT_DIG < 64
#error "the reference needs 80-bit long double"
#endif

struct kind {
    enum mtype type;
    bool is_float, sgn, finite;
    unsigned bits, mant;
};

static const struct kind kinds[] = {
    {MT_U8, false, false, false, 8, 0},   {MT_S8, false, true, false, 8, 0},
    {MT_U16, false, false, false, 16, 0}, {MT_S16, false, true, false, 16, 0},
    {MT_U32, false, false, false, 32, 0}, {MT_S32, false, true, false, 32, 0},
    {MT_U64, false, false, false, 64, 0}, {MT_S64, false, true, false, 64, 0},
    {MT_F16, true, true, false, 16, 10},  {MT_BF16, true, true, false, 16, 7},
    {MT_F32, true, true, false, 32, 23},  {MT_F64, true, true, false, 64, 52},
    {MT_E4M3X2, true, true, true, 8, 3},  {MT_E5M2X2, true, true, false, 8, 2},
};
enum { INT_KINDS = 8, PLAIN_KINDS = 12 };

static const struct kind *kind_of(enum mtype t) {
    for (unsigned k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (kinds[k].type == t)
            return &kinds[k];
    return NULL;
}

static uint64_t ones(unsigned n) {
    return n > 63 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
}

/* Magnitude pattern of infinity, or the first unused one. */
static uint64_t top_of(const struct kind *k) {
    return k->finite ? ones(k->bits - 1) : ones(k->bits - 1 - k->mant) << k->mant;
}

/* The number a magnitude pattern stands for; patterns from top_of on go on as if the format had more
 * exponents. */
static long double magnitude(const struct kind *k, uint64_t mag) {
    uint64_t frac = mag & ones(k->mant), field = mag >> k->mant;
    int bias = (int)(ones(k->bits - 1 - k->mant) >> 1);
    if (field == 0)
        return ldexpl((long double)frac, 1 - bias - (int)k->mant);
    return ldexpl((long double)(frac | UINT64_C(1) << k->mant), (int)field - bias - (int)k->mant);
}

static long double decode(const struct kind *k, uint64_t v) {
    if (!k->is_float) {
        v &= ones(k->bits);
        if (k->sgn && v >> (k->bits - 1))
            return -(long double)((~v & ones(k->bits)) + 1);
        return (long double)v;
    }
    uint64_t mag = v & ones(k->bits - 1);
    long double sign = v >> (k->bits - 1) & 1 ? -1 : 1;
    if (mag > top_of(k) || (k->finite && mag == top_of(k)))
        return NAN;
    return sign * (mag == top_of(k) ? INFINITY : magnitude(k, mag));
}

static bool goes_up(long double below, long double x, long double above, bool odd, bool neg, unsigned rnd) {
    if (x == below)
        return false;
    if (rnd == RND_RN || rnd == RND_RNA) {
        long double d = (x - below) - (above - x);
        return d > 0 || (d == 0 && (odd || rnd == RND_RNA));
    }
    return rnd == RND_RP ? !neg : rnd == RND_RM ? neg : false;
}

/* x as bits of a float kind. */
static uint64_t encode(const struct kind *k, long double x, unsigned rnd, bool finite) {
    uint64_t sign = signbit(x) ? UINT64_C(1) << (k->bits - 1) : 0, top = top_of(k), low = 0, high = top;
    if (isnan(x))
        return k->bits == 64 ? UINT64_C(0xfff8000000000000) : ones(k->bits - 1);
    long double mag = fabsl(x);
    if (isinf(x))
        return sign | (top - (finite || k->finite));
    while (high - low > 1) { /* magnitude(low) <= mag < magnitude(high), or beyond the top */
        uint64_t mid = low + (high - low) / 2;
        if (magnitude(k, mid) <= mag)
            low = mid;
        else
            high = mid;
    }
    bool beyond = mag >= magnitude(k, top);
    if (beyond || goes_up(magnitude(k, low), mag, magnitude(k, low + 1), low & 1, x < 0, rnd))
        low++;
    if (low == top) {
        bool down = rnd == RND_RZ || (rnd == RND_RM && x > 0) || (rnd == RND_RP && x < 0);
        low -= finite || k->finite || down;
    }
    return sign | low;
}

static long double to_integral(long double x, unsigned rnd) {
    long double down = floorl(x), up = ceill(x);
    if (rnd == RND_RM)
        return down;
    if (rnd == RND_RP)
        return up == 0 ? copysignl(0, x) : up;
    if (rnd == RND_RZ)
        return truncl(x);
    long double r = x - down < up - x ? down : x - down > up - x ? up : fmodl(down, 2) == 0 ? down : up;
    return r == 0 ? copysignl(0, x) : r;
}

static uint64_t to_int(const struct kind *from, const struct kind *to, long double x) {
    if (isnan(x)) {
        bool wide = from->bits == 64 || to->bits == 64;
        return wide ? UINT64_C(1) << (to->bits - 1) : 0;
    }
    long double high = (long double)ones(to->bits - (to->sgn ? 1 : 0)), low = to->sgn ? -high - 1 : 0;
    x = x > high ? high : x < low ? low : x;
    return x < 0 ? 0 - (uint64_t)-x : (uint64_t)x;
}

/* Below the normal range after rounding where exponents have room. */
static bool is_tiny(const struct kind *k, long double x, unsigned rnd) {
    long double least = magnitude(k, UINT64_C(1) << k->mant);
    return fabsl(x) < least && fabsl(decode(k, encode(k, x * 64, rnd, false))) < least * 64;
}

static uint64_t ref_convert(const struct imods *m, uint64_t v) {
    const struct kind *from = kind_of(m->stype), *to = kind_of(m->dtype);
    long double x = decode(from, v);
    if (m->ftz && m->stype == MT_F32 && (!to->is_float || to->mant > 10) && fabsl(x) < 0x1p-126L)
        x = copysignl(0, x);
    uint64_t r;
    if (to->is_float) {
        r = encode(to, from->is_float && m->rint ? to_integral(x, m->rnd) : x, m->rnd,
                   m->mode & CVT_SATFINITE);
        if (m->ftz && m->dtype == MT_F32 && is_tiny(to, x, m->rnd))
            r &= 0x80000000u;
        long double y = decode(to, r);
        if (m->sat)
            r = !(y > 0) ? 0 : y > 1 ? encode(to, 1, RND_RN, false) : r;
        if (m->relu && signbit(y) && !isnan(y))
            r = 0;
    } else {
        r = to_int(from, to, from->is_float ? to_integral(x, m->rnd) : x);
    }
    r &= ones(to->bits);
    if (!to->is_float && to->sgn && to->bits < 32 && r >> (to->bits - 1))
        r |= 0xffffffffu & ~ones(to->bits);
    return r;
}

static enum op conversion(enum mtype from, enum mtype to) {
    bool f = kind_of(from)->is_float, t = kind_of(to)->is_float;
    return f ? (t ? OP_F2F : OP_F2I) : t ? OP_I2F : OP_I2ISAT;
}

static void check_conversion(const struct imods *m) {
    enum op op = conversion(m->stype, m->dtype);
    struct trial t;
    trial_fill(&t);
    if (kind_of(m->stype)->bits == 64 && rng() & 1) /* near the ranges of 32- and 64-bit types */
        for (unsigned i = 0; i < WARP_LANES; i++)
            t.s[1][i] = (t.s[1][i] & 0x800fffff) | (1023 - 2 + rng() % 68) << 20;
    assert_true(trial_run(&t, op, m));
    for (unsigned i = 0; i < WARP_LANES; i++) {
        uint64_t in = (uint64_t)t.s[1][i] << 32 | t.s[0][i], want = ref_convert(m, in);
        uint64_t got = t.d[0][i] | (kind_of(m->dtype)->bits == 64 ? (uint64_t)t.d[1][i] << 32 : 0);
        if (got != want)
            fail_msg("%s on %s: %s to %s of %llx, rnd %u rint %d ftz %d sat %d mode %u: %llx, not %llx",
                     op_info[op].name, lane_isa(), mtype_name(m->stype), mtype_name(m->dtype),
                     (unsigned long long)in, m->rnd, m->rint, m->ftz, m->sat, m->mode,
                     (unsigned long long)got, (unsigned long long)want);
    }
}

static void test_conversions(void **state) {
    (void)state;
    lane_use(*state);
    for (unsigned from = 0; from < PLAIN_KINDS; from++)
        for (unsigned to = 0; to < PLAIN_KINDS; to++)
            for (unsigned n = 0; n < 64; n++) {
                struct imods m = {
                    .stype = (uint8_t)kinds[from].type, .dtype = (uint8_t)kinds[to].type, .rnd = n & 3};
                bool floats = from >= INT_KINDS && to >= INT_KINDS;
                m.ftz = n >> 2 & 1;
                m.sat = n >> 3 & 1 && to >= INT_KINDS;
                m.rint = n >> 4 & 1 && from == to;
                m.relu = n >> 5 && floats && !m.rint && !m.sat;
                m.mode = (n % 7) == 0 && floats && !m.rint && !m.sat ? CVT_SATFINITE : 0;
                check_conversion(&m);
            }
}

/* Every f16 and bf16, and every value whose rounding to them is a close call. */
static void test_halves_exhaustively(void **state) {
    lane_use(*state);
    for (unsigned bf = 0; bf < 2; bf++) {
        struct imods widen = {.stype = bf ? MT_BF16 : MT_F16, .dtype = MT_F32};
        struct imods narrow = {.stype = MT_F32, .dtype = widen.stype};
        for (uint32_t base = 0; base < 0x10000; base += WARP_LANES) {
            struct trial t = {0};
            for (unsigned i = 0; i < WARP_LANES; i++)
                t.s[0][i] = (base + i) | 0xbeef0000u;
            trial_run(&t, OP_F2F, &widen);
            for (unsigned i = 0; i < WARP_LANES; i++)
                assert_int_equal(t.d[0][i], ref_convert(&widen, base + i));
            for (int delta = -1; delta <= 1; delta++) { /* around the midpoint to the next number */
                for (unsigned i = 0; i < WARP_LANES; i++)
                    t.s[0][i] = t.d[0][i] + (bf ? 0x8000u : 0x1000u) + (uint32_t)delta;
                struct trial u = t;
                trial_run(&u, OP_F2F, &narrow);
                for (unsigned i = 0; i < WARP_LANES; i++)
                    assert_int_equal(u.d[0][i], ref_convert(&narrow, u.s[0][i]));
            }
        }
    }
}

static void test_packed(void **state) {
    static const uint8_t types[] = {MT_F16X2, MT_BF16X2, MT_E4M3X2, MT_E5M2X2};
    static const uint8_t parts[] = {MT_F16, MT_BF16, MT_E4M3X2, MT_E5M2X2};
    lane_use(*state);
    for (unsigned n = 0; n < 800; n++) {
        struct imods m = {.dtype = types[n % 4], .relu = n >> 2 & 1, .sat = n >> 3 & 1};
        struct imods one = {.stype = MT_F32, .dtype = parts[n % 4], .relu = m.relu, .mode = m.sat};
        unsigned bits = kind_of(parts[n % 4])->bits;
        struct trial t;
        trial_fill(&t);
        trial_run(&t, OP_F2FP, &m);
        for (unsigned i = 0; i < WARP_LANES; i++)
            assert_int_equal(t.d[0][i], ref_convert(&one, t.s[1][i]) | ref_convert(&one, t.s[0][i]) << bits);
    }
}

/* 8-bit floats to f16x2 and back are the identity but for NaN. */
static void test_eight_bits(void **state) {
    lane_use(*state);
    for (unsigned e5 = 0; e5 < 2; e5++)
        for (uint32_t v = 0; v < 256; v++) {
            const struct kind *k = kind_of(e5 ? MT_E5M2X2 : MT_E4M3X2);
            struct imods up = {.stype = (uint8_t)k->type, .dtype = MT_F16X2},
                         down = {.stype = MT_F16X2, .dtype = (uint8_t)k->type};
            struct trial t = {0};
            t.s[0][0] = v << 8 | 0x38;
            trial_run(&t, OP_F2F, &up);
            long double x = decode(k, v), y = decode(kind_of(MT_F16), t.d[0][0] >> 16);
            assert_true(isnan(x) ? isnan(y) : x == y);
            if (isinf(x) && down.dtype == MT_E5M2X2)
                down.mode = 0;
            t.s[0][0] = t.d[0][0];
            trial_run(&t, OP_F2F, &down);
            assert_int_equal(t.d[0][0] >> 8, isnan(x) ? 0x7f : v);
        }
}

static void test_tf32(void **state) {
    struct imods m = {.stype = MT_F32, .dtype = MT_TF32, .rnd = RND_RNA};
    lane_use(*state);
    for (unsigned n = 0; n < 500; n++) {
        struct trial t;
        trial_fill(&t);
        trial_run(&t, OP_F2F, &m);
        for (unsigned i = 0; i < WARP_LANES; i++) {
            float x = float_of(t.s[0][i]);
            uint32_t want = isnan(x) || isinf(x) ? t.s[0][i] & ~0x1fffu : (t.s[0][i] + 0x1000) & ~0x1fffu;
            assert_int_equal(t.d[0][i], want);
        }
    }
}

/* ---- arithmetic ---- */

/* hi + lo, an exact sum of two, rounded to the nearest of kind k. */
static uint32_t round_pair(const struct kind *k, long double hi, long double lo) {
    /* lo only matters where hi is a number of k or halfway between two. Those have an even last bit, and so
     * stepping aside by one unit, less than k can see, takes it to the right side without reaching another
     * tie. */
    uint64_t significand;
    memcpy(&significand, &hi, sizeof significand);
    if (lo != 0 && isfinite(hi) && significand % 2 == 0)
        hi = nextafterl(hi, lo > 0 ? INFINITY : -INFINITY);
    return (uint32_t)encode(k, hi, RND_RN, false);
}

static uint32_t ref_half(const struct kind *k, enum op op, const struct imods *m, uint32_t a, uint32_t b,
                         uint32_t c) {
    long double v[3], least = ldexpl(1, k->mant == 10 ? -14 : -126);
    uint32_t in[3] = {a, b, c};
    for (unsigned i = 0; i < 3; i++) {
        v[i] = decode(k, in[i] & 0xffff);
        if (m->ftz && fabsl(v[i]) < least)
            v[i] = copysignl(0, v[i]);
    }
    long double p = op == OP_HMUL2 || op == OP_HFMA2 ? v[0] * v[1] : v[0];
    long double q = op == OP_HFMA2 ? v[2] : op == OP_HSUB2 ? -v[1] : v[1];
    volatile long double s = op == OP_HMUL2 ? p : p + q, part = s - p, rest = s - part;
    long double err = op == OP_HMUL2 ? 0 : (p - rest) + (q - part);
    uint32_t r = round_pair(k, s, err);
    bool tiny = fabsl(s) < least && fabsl(decode(k, round_pair(k, s * 64, err * 64))) < least * 64;
    if (m->ftz && tiny)
        r &= 0x8000u;
    long double x = decode(k, r);
    if (m->sat)
        r = !(x > 0) ? 0 : x > 1 ? (uint32_t)encode(k, 1, RND_RN, false) : r;
    if (m->relu && r & 0x8000u)
        r = 0;
    return r;
}

static void test_half_arithmetic(void **state) {
    static const enum op ops[] = {OP_HADD2, OP_HSUB2, OP_HMUL2, OP_HFMA2};
    static const uint8_t types[] = {MT_F16, MT_F16X2, MT_BF16, MT_BF16X2};
    lane_use(*state);
    for (unsigned n = 0; n < 8000; n++) {
        struct imods m = {
            .dtype = types[n >> 2 & 3], .ftz = (n >> 4 & 3) == 3, .sat = n >> 6 & 1, .relu = n >> 7 & 1};
        const struct kind *k = kind_of(n >> 3 & 1 ? MT_BF16 : MT_F16);
        bool pair = n >> 2 & 1;
        struct trial t;
        trial_fill(&t);
        trial_run(&t, ops[n & 3], &m);
        for (unsigned i = 0; i < WARP_LANES; i++) {
            uint32_t a = t.s[0][i], b = t.s[1][i], c = t.s[2][i];
            uint32_t want = ref_half(k, ops[n & 3], &m, a, b, c);
            if (pair)
                want |= ref_half(k, ops[n & 3], &m, a >> 16, b >> 16, c >> 16) << 16;
            if (t.d[0][i] != want)
                fail_msg("%s.%s on %s of %x %x %x: %x, not %x", op_info[ops[n & 3]].name, mtype_name(m.dtype),
                         lane_isa(), a, b, c, t.d[0][i], want);
        }
    }
}

static void test_half_compare(void **state) {
    static const uint8_t types[] = {MT_F16, MT_F16X2, MT_BF16, MT_BF16X2};
    lane_use(*state);
    for (unsigned n = 0; n < 640; n++) {
        struct imods m = {.dtype = types[n & 3], .cmp = n >> 2 & 15, .mode = n >> 6 & 1};
        const struct kind *k = kind_of(n & 2 ? MT_BF16 : MT_F16);
        struct trial t, set;
        trial_fill(&t);
        set = t;
        trial_run(&t, OP_HSETP2, &m);
        trial_run(&set, OP_HSET2, &m);
        for (unsigned i = 0; i < WARP_LANES; i++) {
            bool yes[2], p = t.pin[0] >> i & 1;
            for (unsigned h = 0; h < 2; h++) {
                long double x = decode(k, t.s[0][i] >> 16 * h & 0xffff),
                            y = decode(k, t.s[1][i] >> 16 * h & 0xffff);
                unsigned rel = isnan(x) || isnan(y) ? CMP_UN : x < y ? CMP_LT : x == y ? CMP_EQ : CMP_GT;
                yes[h] = m.cmp & rel;
            }
            uint32_t one = m.mode ? 0xffff : (uint32_t)encode(k, 1, RND_RN, false);
            bool high = n & 1 ? yes[1] : m.mode && yes[0];
            assert_int_equal(t.pout[0] >> i & 1, yes[0] && p);
            assert_int_equal(t.pout[1] >> i & 1, (n & 1 ? yes[1] : !yes[0]) && p);
            assert_int_equal(set.d[0][i], (yes[0] && p ? one : 0) | (high && p ? one << 16 : 0));
        }
    }
}

#define ON_EACH(f)                                                                                           \
    {#f " generic", f, NULL, NULL, "generic"}, {#f " avx2", f, NULL, NULL, "avx2"}, {                        \
#f " avx512", f, NULL, NULL, "avx512"                                                                \
    }

int main(void) {
    const struct CMUnitTest tests[] = {
        ON_EACH(test_conversions),  ON_EACH(test_halves_exhaustively),
        ON_EACH(test_packed),       ON_EACH(test_eight_bits),
        ON_EACH(test_tf32),         ON_EACH(test_half_arithmetic),
        ON_EACH(test_half_compare),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
