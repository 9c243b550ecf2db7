/* Lane executors: every instruction set of the host computes the same bits, and those bits are what plain
 * scalar code says. Conversions and 16-bit floats have test_convert.c. */
#include <fenv.h>
#include <stdio.h>

#include "isa/eval.h"
#include "lanes_util.h"

static const char *const isas[] = {"generic", "avx2", "avx512"};

static unsigned pick_from(const uint8_t *list, unsigned n) {
    return list[rng() % n];
}

/* Modifiers of op that a lowering could have produced. */
static struct imods random_mods(enum op op) {
    static const uint8_t halves[] = {MT_F16, MT_BF16, MT_F16X2, MT_BF16X2};
    static const uint8_t packed[] = {MT_F16X2, MT_BF16X2, MT_E4M3X2, MT_E5M2X2};
    static const uint8_t floats[] = {MT_F16, MT_BF16, MT_F32, MT_F64};
    struct imods m = {0};
    unsigned form = op_info[op].form;
    m.sgn = rng() & 1;
    m.cmp = rng() & 15;
    m.bop = rng() % 3;
    m.ftz = rng() & 1;
    m.sat = (rng() & 3) == 0;
    m.relu = (rng() & 3) == 0;
    m.lut = (uint8_t)rng();
    m.dtype = (uint8_t)pick_from(halves, 4);
    if (form >= FORM_F1_1 && form <= FORM_D2_222)
        m.rnd = rng() & 3;
    if (op_info[op].flags & OPF_MODE)
        m.mode = rng() % 8;
    if (op == OP_LOP3)
        m.mode = rng() & 255;
    if (op == OP_VIDEO)
        m.mode = VIDEO_MODE(rng() % VID_COUNT, rng() % 7, rng() % 7, rng() % 7, rng() % 4, rng() % 2);
    if (op == OP_SIMD2)
        m.mode = SIMD_MODE(rng() % SIMD_COUNT, rng() % 2, rng() % 16, rng() % 2);
    if (op == OP_F2FP || op == OP_F2F)
        m.mode = rng() & 1;
    if (op == OP_F2FP)
        m.dtype = (uint8_t)pick_from(packed, 4);
    if (form == FORM_FN_CVT) {
        m.rnd = rng() & 3;
        m.rint = rng() & 1;
        m.stype = (uint8_t)(op == OP_F2F || op == OP_F2I ? pick_from(floats, 4) : rng() % 8);
        m.dtype = (uint8_t)(op == OP_F2F || op == OP_I2F ? pick_from(floats, 4) : rng() % 8);
    }
    return m;
}

static void check_agreement(enum op op, const struct imods *m) {
    struct trial first, next;
    trial_fill(&first);
    next = first;
    assert_true(lane_use("generic"));
    if (!trial_run(&first, op, m))
        return;
    for (unsigned k = 0; k < 3; k++) {
        struct trial again = next;
        if (!lane_use(isas[k]))
            continue;
        trial_run(&again, op, m);
        if (memcmp(again.d, first.d, sizeof again.d) || memcmp(again.pout, first.pout, sizeof again.pout)) {
            for (unsigned i = 0; i < WARP_LANES; i++)
                if (again.d[0][i] != first.d[0][i] || again.d[1][i] != first.d[1][i])
                    print_message(
                        "lane %u: (%08x %08x, %08x %08x, %08x %08x) gives %08x %08x, not %08x %08x\n", i,
                        next.s[0][i], next.s[1][i], next.s[2][i], next.s[3][i], next.s[4][i], next.s[5][i],
                        again.d[0][i], again.d[1][i], first.d[0][i], first.d[1][i]);
            fail_msg("%s on %s: mode %x rnd %u ftz %d sat %d dtype %u stype %u: differs from generic",
                     op_info[op].name, isas[k], m->mode, m->rnd, m->ftz, m->sat, m->dtype, m->stype);
        }
    }
}

static void test_sets_agree(void **state) {
    (void)state;
    for (unsigned op = 0; op < OP_COUNT; op++)
        for (unsigned n = 0; n < 400; n++) {
            struct imods m = random_mods(op);
            check_agreement(op, &m);
        }
}

/* A destination that is also a source of the same lane. */
static void test_aliases(void **state) {
    (void)state;
    for (unsigned k = 0; k < 3; k++) {
        if (!lane_use(isas[k]))
            continue;
        for (unsigned op = 0; op < OP_COUNT; op++)
            for (unsigned n = 0; n < 20; n++) {
                struct imods m = random_mods(op);
                struct trial apart, same;
                trial_fill(&apart);
                same = apart;
                if (!trial_run(&apart, op, &m))
                    break;
                struct inst inst = {.op = (uint16_t)op, .m = m};
                struct lane_io io = {
                    .d = {same.s[n % 2], same.s[n % 2 + 1]}, .pin = {same.pin[0], same.pin[1]}, .m = &m};
                for (unsigned s = 0; s < 8; s++)
                    io.s[s] = same.s[s];
                lane_run(lane_pick(&inst), &io);
                if (memcmp(apart.d[0], same.s[n % 2], sizeof apart.d[0]) != 0 && apart.d[0][0] != 0xa5a5a5a5u)
                    fail_msg("%s on %s: wrong when the destination is a source", op_info[op].name, isas[k]);
            }
    }
}

/* Every operation of the table is executed here or belongs to the engine. */
static void test_every_operation(void **state) {
    (void)state;
    for (unsigned op = 0; op < OP_COUNT; op++) {
        struct inst inst = {.op = (uint16_t)op};
        unsigned form = op_info[op].form;
        bool engine = form >= FORM_MEM || form == FORM_FN_W1 || form == FORM_FN_P2R || form == FORM_FN_R2P ||
                      form == FORM_FN_SPACE;
        assert_int_equal(lane_pick(&inst).fn == NULL, engine);
    }
}

/* ---- integer references, written bit by bit where the executor is not ---- */
static uint32_t ref_bfe(uint32_t a, uint32_t b, uint32_t c, bool sgn) {
    uint32_t pos = b & 255, len = c & 255, d = 0;
    uint32_t last = pos + len - 1 < 31 ? pos + len - 1 : 31;
    uint32_t fill = sgn && len ? a >> last & 1 : 0;
    for (unsigned i = 0; i < 32; i++)
        d |= (i < len && pos + i < 32 ? a >> (pos + i) & 1 : fill) << i;
    return d;
}

static uint32_t ref_bfi(uint32_t a, uint32_t b, uint32_t pos, uint32_t len) {
    pos &= 255;
    len &= 255;
    for (unsigned i = 0; i < len && pos + i < 32; i++)
        b = (b & ~(1u << (pos + i))) | (a >> i & 1) << (pos + i);
    return b;
}

static uint32_t ref_lop3(uint32_t a, uint32_t b, uint32_t c, unsigned table) {
    uint32_t d = 0;
    for (unsigned i = 0; i < 32; i++)
        d |= (table >> ((a >> i & 1) * 4 + (b >> i & 1) * 2 + (c >> i & 1)) & 1) << i;
    return d;
}

static uint32_t ref_prmt(uint32_t a, uint32_t b, uint32_t c) {
    uint8_t bytes[8], out[4];
    memcpy(bytes, &a, 4);
    memcpy(bytes + 4, &b, 4);
    for (unsigned i = 0; i < 4; i++) {
        unsigned n = c >> (4 * i) & 15;
        out[i] = n & 8 ? (uint8_t)(bytes[n & 7] & 0x80 ? 0xff : 0) : bytes[n];
    }
    uint32_t d;
    memcpy(&d, out, 4);
    return d;
}

static uint32_t ref_shf(uint32_t a, uint32_t b, uint32_t c, unsigned mode) {
    uint32_t n = mode & SHF_WRAP ? b % 32 : b < 32 ? b : 32;
    for (; n; n--) {
        if (mode & SHF_RIGHT) {
            a = a >> 1 | c << 31;
            c = c >> 1;
        } else {
            c = c << 1 | a >> 31;
            a = a << 1;
        }
    }
    return mode & SHF_RIGHT ? a : c;
}

static uint32_t ref_bmsk(uint32_t a, uint32_t b, bool wrap) {
    uint32_t d = 0;
    uint64_t pos = wrap ? a % 32 : a, len = wrap ? b % 32 : b;
    for (unsigned i = 0; i < 32; i++)
        d |= (uint32_t)(i >= pos && i < pos + len) << i;
    return d;
}

static uint32_t ref_clamp(int64_t v) {
    return (uint32_t)(v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v);
}

static uint32_t ref_dp4a(uint32_t a, uint32_t b, uint32_t c, unsigned mode) {
    for (unsigned i = 0; i < 4; i++) {
        int x = mode & 1 ? (int8_t)(a >> 8 * i) : (uint8_t)(a >> 8 * i);
        int y = mode & 2 ? (int8_t)(b >> 8 * i) : (uint8_t)(b >> 8 * i);
        c += (uint32_t)(x * y);
    }
    return c;
}

static uint32_t ref_dp2a(uint32_t a, uint32_t b, uint32_t c, unsigned mode) {
    for (unsigned i = 0; i < 2; i++) {
        int x = mode & 1 ? (int16_t)(a >> 16 * i) : (uint16_t)(a >> 16 * i);
        unsigned at = 8 * i + (mode & 4 ? 16 : 0);
        int y = mode & 2 ? (int8_t)(b >> at) : (uint8_t)(b >> at);
        c += (uint32_t)((int64_t)x * y);
    }
    return c;
}

static uint32_t ref_bfind(uint32_t a, bool sgn, unsigned mode) {
    if (sgn && (int32_t)a < 0)
        a = ~a;
    for (int i = 31; i >= 0; i--)
        if (a >> i & 1)
            return (uint32_t)(mode ? 31 - i : i);
    return UINT32_MAX;
}

static uint32_t ref_word(enum op op, const struct imods *m, uint32_t a, uint32_t b, uint32_t c, uint32_t e) {
    int64_t x = m->sgn ? (int32_t)a : (int64_t)a, y = m->sgn ? (int32_t)b : (int64_t)b;
    switch (op) {
    case OP_IADDSAT:
        return ref_clamp((int64_t)(int32_t)a + (int32_t)b);
    case OP_ISUBSAT:
        return ref_clamp((int64_t)(int32_t)a - (int32_t)b);
    case OP_IMADHISAT:
        return ref_clamp((((int64_t)(int32_t)a * (int32_t)b) >> 32) + (int32_t)c);
    case OP_PRMT:
        return ref_prmt(a, b, c);
    case OP_LOP3:
        return ref_lop3(a, b, c, m->mode);
    case OP_BFE:
        return ref_bfe(a, b, c, m->sgn);
    case OP_BFI:
        return ref_bfi(a, b, c, e);
    case OP_SHF:
        return ref_shf(a, b, c, m->mode);
    case OP_SHL:
        return b > 31 ? 0 : a << b;
    case OP_SHR:
        return (uint32_t)(x >> (b > 40 ? 40 : b));
    case OP_BMSK:
        return ref_bmsk(a, b, m->mode);
    case OP_DP4A:
        return ref_dp4a(a, b, c, m->mode);
    case OP_DP2A:
        return ref_dp2a(a, b, c, m->mode);
    case OP_FLO:
        return ref_bfind(a, m->sgn, m->mode);
    case OP_IMULHI:
        return (uint32_t)((m->sgn ? (uint64_t)(x * y) : (uint64_t)a * b) >> 32);
    case OP_IMIN:
        return x < y ? a : b;
    case OP_IMAX:
        return x > y ? a : b;
    case OP_ISAD:
        return c + (uint32_t)(x < y ? y - x : x - y);
    case OP_IDIV:
        return b == 0 ? UINT32_MAX : (uint32_t)(x / y);
    case OP_IREM:
        return b == 0 ? UINT32_MAX : (uint32_t)(x % y);
    default:
        return a + b;
    }
}

static void test_words(void **state) {
    static const struct {
        enum op op;
        unsigned modes;
    } ops[] = {
        {OP_IADD, 1}, {OP_IADDSAT, 1}, {OP_ISUBSAT, 1}, {OP_IMADHISAT, 1}, {OP_PRMT, 1}, {OP_LOP3, 256},
        {OP_BFE, 1},  {OP_BFI, 1},     {OP_SHF, 4},     {OP_SHL, 1},       {OP_SHR, 1},  {OP_BMSK, 2},
        {OP_DP4A, 4}, {OP_DP2A, 8},    {OP_FLO, 2},     {OP_IMULHI, 1},    {OP_IMIN, 1}, {OP_IMAX, 1},
        {OP_ISAD, 1}, {OP_IDIV, 1},    {OP_IREM, 1},
    };
    (void)state;
    lane_use(NULL);
    for (unsigned k = 0; k < sizeof ops / sizeof *ops; k++)
        for (unsigned n = 0; n < 1024; n++) {
            struct imods m = {.mode = (uint16_t)(n % ops[k].modes), .sgn = n / ops[k].modes & 1};
            struct trial t;
            trial_fill(&t);
            assert_true(trial_run(&t, ops[k].op, &m));
            for (unsigned i = 0; i < WARP_LANES; i++) {
                uint32_t a = t.s[0][i], b = t.s[1][i], c = t.s[2][i], folded;
                uint32_t want = ref_word(ops[k].op, &m, a, b, c, t.s[3][i]);
                if (t.d[0][i] != want)
                    fail_msg("%s %x,%x,%x mode %u sgn %d: %x, not %x", op_info[ops[k].op].name, a, b, c,
                             m.mode, m.sgn, t.d[0][i], want);
                if (isa_eval(ops[k].op, &m, a, b, c, 1, &folded))
                    assert_int_equal(folded, want);
            }
        }
}

static void test_wide(void **state) {
    (void)state;
    for (unsigned n = 0; n < 2000; n++) {
        struct imods m = {.sgn = n & 1};
        struct trial t;
        trial_fill(&t);
        trial_run(&t, OP_IMADW, &m);
        for (unsigned i = 0; i < WARP_LANES; i++) {
            uint64_t a = t.s[0][i], b = t.s[1][i], c = (uint64_t)t.s[3][i] << 32 | t.s[2][i];
            uint64_t want = (m.sgn ? (uint64_t)((int64_t)(int32_t)a * (int32_t)b) : a * b) + c;
            assert_int_equal((uint64_t)t.d[1][i] << 32 | t.d[0][i], want);
        }
    }
}

/* 64-bit additions, subtractions and comparisons out of their halves. */
static void test_carries(void **state) {
    (void)state;
    for (unsigned n = 0; n < 2000; n++) {
        struct trial lo, hi;
        struct imods m = {.sgn = n & 1, .bop = BOOL_AND}, low = m;
        trial_fill(&lo);
        trial_fill(&hi);
        if (n & 2)
            memcpy(hi.s[1], hi.s[0], sizeof hi.s[0]);
        enum op op = n & 4 ? OP_ISUBC : OP_IADDC;
        lo.pin[0] = op == OP_ISUBC ? UINT32_MAX : 0;
        trial_run(&lo, op, &m);
        hi.pin[0] = lo.pout[0];
        trial_run(&hi, op, &m);
        struct trial cmp = lo;
        m.cmp = low.cmp = rng() & 7;
        low.sgn = false;
        cmp.pin[0] = UINT32_MAX;
        trial_run(&cmp, OP_ISETP, &low);
        uint32_t low_half = cmp.pout[0];
        cmp = hi;
        cmp.pin[0] = UINT32_MAX;
        cmp.pin[1] = low_half;
        trial_run(&cmp, OP_ISETPX, &m);
        for (unsigned i = 0; i < WARP_LANES; i++) {
            uint64_t a = (uint64_t)hi.s[0][i] << 32 | lo.s[0][i], b = (uint64_t)hi.s[1][i] << 32 | lo.s[1][i];
            assert_int_equal((uint64_t)hi.d[0][i] << 32 | lo.d[0][i], op == OP_IADDC ? a + b : a - b);
            assert_int_equal(hi.pout[0] >> i & 1, op == OP_IADDC ? a + b < a : a >= b);
            bool less = m.sgn ? (int64_t)a < (int64_t)b : a < b;
            unsigned rel = a == b ? CMP_EQ : less ? CMP_LT : CMP_GT;
            assert_int_equal(cmp.pout[0] >> i & 1, (m.cmp & rel) != 0);
            assert_int_equal(cmp.pout[1] >> i & 1, (m.cmp & rel) == 0);
        }
    }
}

/* ---- floating point ---- */
static float flush(float x, bool ftz) {
    return ftz && fabsf(x) < 0x1p-126f ? copysignf(0, x) : x;
}

/* The result as the instruction returns it; scaled is the same operation with more room for exponents. */
static uint32_t finish(float r, float scaled, const struct imods *m) {
    if (m->ftz && fabsf(scaled) < 0x1p-26f)
        r = copysignf(0, r);
    if (m->sat)
        r = !(r > 0) ? 0 : r > 1 ? 1 : r;
    return isnan(r) ? 0x7fffffffu : bits_of_float(r);
}

/* The operation in long double, which holds its result with room for double rounding to show nowhere near
 * 2^-126. */
static long double ref_float(enum op op, long double a, long double b, long double c) {
    switch (op) {
    case OP_FADD:
        return a + b;
    case OP_FMUL:
        return a * b;
    case OP_FDIV:
        return a / b;
    case OP_FRCP:
        return 1 / a;
    default:
        return a * b + c;
    }
}

static float ref_rounded(enum op op, float x, float y, float z) {
    volatile float a = x, b = y, c = z, r;
    switch (op) {
    case OP_FADD:
        r = a + b;
        break;
    case OP_FMUL:
        r = a * b;
        break;
    case OP_FFMA:
        r = fmaf(a, b, c);
        break;
    case OP_FDIV:
        r = a / b;
        break;
    case OP_FRCP:
        r = 1 / a;
        break;
    default:
        r = sqrtf(a);
    }
    return r;
}

static void test_f32(void **state) {
    static const enum op ops[] = {OP_FADD, OP_FMUL, OP_FFMA, OP_FDIV, OP_FRCP, OP_FSQRT};
    static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    (void)state;
    for (unsigned n = 0; n < 6 * 16 * 40; n++) {
        struct imods m = {.rnd = n & 3, .ftz = n >> 2 & 1, .sat = n >> 3 & 1};
        enum op op = ops[n / 16 % 6];
        struct trial t;
        trial_fill(&t);
        trial_run(&t, op, &m);
        assert_int_equal(fegetround(), FE_TONEAREST);
        for (unsigned i = 0; i < WARP_LANES; i++) {
            float x = flush(float_of(t.s[0][i]), m.ftz), y = flush(float_of(t.s[1][i]), m.ftz);
            fesetround(modes[m.rnd]);
            float z = flush(float_of(t.s[2][i]), m.ftz), r = ref_rounded(op, x, y, z);
            volatile float scaled = op == OP_FSQRT ? 1 : (float)(ref_float(op, x, y, z) * 0x1p100L);
            fesetround(FE_TONEAREST);
            if (t.d[0][i] != finish(r, scaled, &m))
                fail_msg("%s %a %a rnd %u: %x, not %x", op_info[op].name, (double)x, (double)y, m.rnd,
                         t.d[0][i], finish(r, scaled, &m));
        }
    }
}

static uint32_t run_one(enum op op, struct imods m, uint32_t a, uint32_t b, uint32_t c) {
    struct trial t = {0};
    t.s[0][3] = a;
    t.s[1][3] = b;
    t.s[2][3] = c;
    trial_run(&t, op, &m);
    return t.d[0][3];
}

/* Results between the largest subnormal and the least normal number: flushed unless rounding with unlimited
 * exponents reaches the normal range. Values from an H200. */
static void test_flush_edge(void **state) {
    (void)state;
    const struct imods ftz = {.ftz = true}, up = {.ftz = true, .rnd = RND_RP}, plain = {0};
    for (unsigned k = 0; k < 3; k++) {
        if (!lane_use(isas[k]))
            continue;
        assert_int_equal(run_one(OP_FMUL, ftz, 0x3f7fffff, 0x00800000, 0), 0);
        assert_int_equal(run_one(OP_FMUL, plain, 0x3f7fffff, 0x00800000, 0), 0x00800000);
        assert_int_equal(run_one(OP_FMUL, up, 0x3f7fffff, 0x00800000, 0), 0);
        assert_int_equal(run_one(OP_FDIV, up, 0x00800000, 0x3f800001, 0), 0);
        assert_int_equal(run_one(OP_FRCP, up, 0x7e800001, 0, 0), 0);
        /* 2^-126 - 2^-176: not exact, and back at the least normal number */
        assert_int_equal(run_one(OP_FFMA, ftz, 0x80800000, 0x26800000, 0x00800000), 0x00800000);
        struct imods half = {.ftz = true, .dtype = MT_F16};
        assert_int_equal(run_one(OP_HMUL2, half, 0x3bff, 0x0400, 0), 0);
    }
    lane_use(NULL);
}

static void test_f64(void **state) {
    static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    (void)state;
    for (unsigned n = 0; n < 1600; n++) {
        struct imods m = {.rnd = n & 3};
        enum op op = n & 4 ? OP_DFMA : OP_DDIV;
        struct trial t;
        trial_fill(&t);
        trial_run(&t, op, &m);
        for (unsigned i = 0; i < WARP_LANES; i++) {
            volatile double x = double_of((uint64_t)t.s[1][i] << 32 | t.s[0][i]), r;
            volatile double y = double_of((uint64_t)t.s[3][i] << 32 | t.s[2][i]);
            volatile double z = double_of((uint64_t)t.s[5][i] << 32 | t.s[4][i]);
            fesetround(modes[m.rnd]);
            r = op == OP_DFMA ? fma(x, y, z) : x / y;
            fesetround(FE_TONEAREST);
            uint64_t want = isnan(r) ? UINT64_C(0xfff8000000000000) : bits_of_double(r);
            assert_int_equal((uint64_t)t.d[1][i] << 32 | t.d[0][i], want);
        }
    }
}

static void test_minmax(void **state) {
    (void)state;
    for (unsigned n = 0; n < 1600; n++) {
        struct imods m = {.ftz = n & 1, .mode = n >> 1 & 3};
        bool max = n >> 3 & 1;
        struct trial t;
        trial_fill(&t);
        trial_run(&t, max ? OP_FMAX : OP_FMIN, &m);
        for (unsigned i = 0; i < WARP_LANES; i++) {
            float x = flush(float_of(t.s[0][i]), m.ftz), y = flush(float_of(t.s[1][i]), m.ftz);
            bool odd = m.mode & MINMAX_XORSIGN && (signbit(x) != 0) != (signbit(y) != 0);
            if (m.mode & MINMAX_XORSIGN)
                x = fabsf(x), y = fabsf(y);
            float r = isnan(x)         ? y
                      : isnan(y)       ? x
                      : x == y         ? (signbit(x) ? (max ? y : x) : (max ? x : y))
                      : (x < y) != max ? x
                                       : y;
            if (m.mode & MINMAX_NAN && (isnan(x) || isnan(y)))
                r = NAN;
            uint32_t want = isnan(r) ? 0x7fffffffu : bits_of_float(odd ? -r : r);
            assert_int_equal(t.d[0][i], want);
        }
    }
}

static void test_float_compare(void **state) {
    (void)state;
    for (unsigned n = 0; n < 1600; n++) {
        struct imods m = {.cmp = n & 15, .ftz = n >> 4 & 1, .bop = (uint8_t)(n % 3)};
        struct trial t;
        trial_fill(&t);
        trial_run(&t, OP_FSETP, &m);
        for (unsigned i = 0; i < WARP_LANES; i++) {
            float x = flush(float_of(t.s[0][i]), m.ftz), y = flush(float_of(t.s[1][i]), m.ftz);
            unsigned rel = isnan(x) || isnan(y) ? CMP_UN : x < y ? CMP_LT : x == y ? CMP_EQ : CMP_GT;
            bool yes = m.cmp & rel, p = t.pin[0] >> i & 1;
            bool want = m.bop == BOOL_AND ? yes && p : m.bop == BOOL_OR ? yes || p : yes != p;
            bool other = m.bop == BOOL_AND ? !yes && p : m.bop == BOOL_OR ? !yes || p : !yes != p;
            assert_int_equal(t.pout[0] >> i & 1, want);
            assert_int_equal(t.pout[1] >> i & 1, other);
        }
    }
}

static void test_classes(void **state) {
    static const int classes[] = {FP_NORMAL, FP_SUBNORMAL};
    (void)state;
    for (unsigned n = 0; n < 600; n++) {
        struct imods m = {.mode = (uint16_t)(n % 6)};
        struct trial t;
        trial_fill(&t);
        trial_run(&t, OP_FTESTP, &m);
        for (unsigned i = 0; i < WARP_LANES; i++) {
            float x = float_of(t.s[0][i]);
            bool want[] = {isfinite(x),
                           isinf(x),
                           !isnan(x),
                           isnan(x),
                           fpclassify(x) == classes[0] || x == 0,
                           fpclassify(x) == classes[1]};
            assert_int_equal(t.pout[0] >> i & 1, want[m.mode]);
        }
    }
}

/* ---- approximate functions: inside the error the PTX ISA states ---- */
static void test_mufu(void **state) {
    static double (*const fns[])(double) = {[MUFU_SQRT] = sqrt, [MUFU_LG2] = log2, [MUFU_EX2] = exp2,
                                            [MUFU_SIN] = sin,   [MUFU_COS] = cos,  [MUFU_TANH] = tanh};
    static const double log2_error[] = {-23, -22.9, -23, -22, -22, -20.5, -20.5, -11};
    (void)state;
    for (unsigned n = 0; n < 8 * 400; n++) {
        struct imods m = {.mode = (uint16_t)(n % 8)};
        struct trial t;
        trial_fill(&t);
        trial_run(&t, OP_FAPX, &m);
        for (unsigned i = 0; i < WARP_LANES; i++) {
            double x = float_of(t.s[0][i]), got = float_of(t.d[0][i]);
            double want = m.mode == MUFU_RCP ? 1 / x : m.mode == MUFU_RSQ ? 1 / sqrt(x) : fns[m.mode](x);
            bool trig = m.mode == MUFU_SIN || m.mode == MUFU_COS;
            if (trig && fabs(x) > 6.28)
                continue;
            if (m.mode == MUFU_RSQ && x == 0)
                want = copysign(INFINITY, x);
            double scale = trig || (m.mode == MUFU_LG2 && x > 0.5 && x < 2) ? 1 : fmax(fabs(want), 0x1p-126);
            double tolerance = exp2(log2_error[m.mode]) * scale;
            bool ok = isnan(want)          ? isnan(got)
                      : isinf((float)want) ? got == (float)want
                                           : fabs(got - want) <= tolerance;
            if (!ok)
                fail_msg("function %u of %a: %a, not %a", m.mode, x, got, want);
        }
    }
}

static void test_div_approx(void **state) {
    static const struct {
        float x, y, want;
    } cases[] = {
        {1, 0x1p127f, 0},
        {-1, 0x1p127f, -0.0f},
        {INFINITY, 0x1p127f, NAN},
        {0x1p127f, 0x1p126f, 2},
        {3, 4, 0.75f},
        {1, 0, INFINITY},
        {0, 0, NAN},
    };
    (void)state;
    struct imods m = {.mode = FDIV_APPROX};
    for (unsigned k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct trial t = {0};
        t.s[0][5] = bits_of_float(cases[k].x);
        t.s[1][5] = bits_of_float(cases[k].y);
        trial_run(&t, OP_FDIVA, &m);
        assert_int_equal(t.d[0][5], isnan(cases[k].want) ? 0x7fffffffu : bits_of_float(cases[k].want));
    }
}

/* ---- video ---- */
static void test_video(void **state) {
    (void)state;
    struct imods add = {.mode = VIDEO_MODE(VID_ADD, SEL_B1, SEL_H1, SEL_ALL, VOP2_NONE, 0),
                        .lut = VLUT_A_SIGNED};
    assert_int_equal(run_one(OP_VIDEO, add, 0x0000ff00, 0x00050000, 9), 4);
    struct imods merge = {.mode = VIDEO_MODE(VID_SUB, 0, 0, SEL_B2, VOP2_NONE, 0), .sat = true};
    assert_int_equal(run_one(OP_VIDEO, merge, 300, 1, 0x11223344), 0x11ff3344);
    assert_int_equal(run_one(OP_VIDEO, merge, 1, 300, 0x11223344), 0x11003344);
    struct imods max = {.mode = VIDEO_MODE(VID_ABSDIFF, 0, 0, 0, VOP2_MAX, 0),
                        .lut = VLUT_A_SIGNED | VLUT_B_SIGNED | VLUT_D_SIGNED};
    assert_int_equal(run_one(OP_VIDEO, max, (uint32_t)-7, 5, 3), 12);
    struct imods shl = {.mode = VIDEO_MODE(VID_SHL, 0, 0, 0, 0, MODE_CLAMP)};
    assert_int_equal(run_one(OP_VIDEO, shl, 1, 33, 0), 0);
    shl.mode = VIDEO_MODE(VID_SHL, 0, 0, 0, 0, MODE_WRAP);
    assert_int_equal(run_one(OP_VIDEO, shl, 1, 33, 0), 2);
    struct imods mad = {.mode = VIDEO_MODE(VID_MAD, 0, 0, 0, 0, 0), .lut = VLUT_NEG_AB | VLUT_SHR7};
    assert_int_equal(run_one(OP_VIDEO, mad, 1024, 10, 0), (uint32_t)-80);
    /* results of an H200 where they are not what the PTX ISA says */
    struct imods wrap = {.mode = VIDEO_MODE(VID_ADD, 0, 0, 0, 0, 0), .sat = true};
    assert_int_equal(run_one(OP_VIDEO, wrap, 0xffffffff, 1, 0), 0);
    struct imods least = {.mode = VIDEO_MODE(VID_ADD, 0, 0, 0, VOP2_MIN, 0), .lut = VLUT_B_SIGNED};
    assert_int_equal(run_one(OP_VIDEO, least, 0x80000000, 0, 0xffffffff), 0xffffffff);
    struct imods upper = {.mode = VIDEO_MODE(VID_SHR, SEL_H1, SEL_B0, SEL_H1, 0, 0), .lut = 5, .sat = true};
    assert_int_equal(run_one(OP_VIDEO, upper, 0x80000000, 0, 0x1234), 0xffff1234);
    struct imods set = {.mode = VIDEO_MODE(VID_SET, 0, 0, 0, VOP2_ADD, 0), .cmp = CMP_LT};
    assert_int_equal(run_one(OP_VIDEO, set, 1, 2, 41), 42);
}

static void test_simd(void **state) {
    (void)state;
    struct imods add = {.mode = SIMD_MODE(SIMD_ADD, 0, 3, 0)};
    assert_int_equal(run_one(OP_SIMD2, add, 0xffff0001, 0x00010002, 0), 0x00000003);
    struct imods sat = {.mode = SIMD_MODE(SIMD_ADD, 1, 5, 0), .sat = true};
    assert_int_equal(run_one(OP_SIMD2, sat, 0xf0f0f0f0, 0x20202020, 0x01020304), 0x01ff03ff);
    struct imods sad = {.mode = SIMD_MODE(SIMD_ABSDIFF, 1, 15, 1)};
    assert_int_equal(run_one(OP_SIMD2, sad, 0x01020304, 0x04030201, 100), 108);
    struct imods avrg = {.mode = SIMD_MODE(SIMD_AVRG, 0, 3, 0),
                         .lut = VLUT_A_SIGNED | VLUT_B_SIGNED | VLUT_D_SIGNED};
    assert_int_equal(run_one(OP_SIMD2, avrg, 0x00010001, 0xfffc0002, 0), 0xfffe0002);
    struct imods relu = {.mode = SIMD_MODE(SIMD_MIN, 0, 3, 0), .lut = 7, .relu = true};
    assert_int_equal(run_one(OP_SIMD2, relu, 0x0005ffff, 0x00060001, 0), 0x00050000);
}

/* Memory of 32 lanes: offsets that fit or do not, words in a row or nearly, and what is loaded from there. */
static void test_memory(void **state) {
    (void)state;
    enum { WORDS = 256, ROUNDS = 3000 };
    _Alignas(64) uint32_t lo[WARP_LANES], hi[WARP_LANES], off[WARP_LANES], got[WARP_LANES], memory[WORDS];
    for (uint32_t k = 0; k < WORDS; k++)
        memory[k] = rng();
    for (unsigned round = 0; round < 3 * ROUNDS; round++) {
        if (!lane_use(isas[round % 3]))
            continue;
        uint32_t shape = rng() % 4, base = shape == 3 ? UINT32_MAX - rng() % 128 : rng() % 128 * 4;
        uint32_t wrong = rng() % (2 * WARP_LANES), add = rng() % 16, limit = 4 * WORDS - 4;
        for (uint32_t l = 0; l < WARP_LANES; l++) {
            lo[l] = shape ? base + 4 * l : rng() % WORDS * 4;
            hi[l] = 7;
        }
        if (shape == 1 && wrong < WARP_LANES)
            lo[wrong] += 4;
        if (shape == 2 && wrong < WARP_LANES)
            hi[wrong]++;
        bool row = true, wraps = lo[WARP_LANES - 1] < lo[0], level = true, fits = true, even = true;
        for (uint32_t l = 0; l < WARP_LANES; l++) {
            row &= lo[l] == lo[0] + 4 * l;
            level &= hi[l] == hi[0];
            fits &= lo[l] + add <= limit;
            even &= (lo[l] + add) % 4 == 0;
        }
        uint32_t mask = rng() | 1u << round % 32, one = 0, in_row = 0, first = (uint32_t)__builtin_ctz(mask);
        for (uint32_t l = 0; l < WARP_LANES; l++) {
            one |= (uint32_t)(lo[l] == lo[first]) << l;
            in_row |= (uint32_t)(lo[l] - 4 * l == lo[first] - 4 * first) << l;
        }
        enum lane_shape shaped = !(mask & ~one) ? LANES_SAME : !(mask & ~in_row) ? LANES_ROW : LANES_ANY;
        assert_int_equal(lane_memory.shape(lo, NULL, mask), shaped);
        assert_int_equal(lane_memory.shape(lo, NULL, UINT32_MAX) == LANES_ROW, row);
        assert_int_equal(lane_memory.shape(lo, hi, UINT32_MAX) == LANES_ROW, row && level && !wraps);
        assert_int_equal(lane_memory.offsets32(off, lo, add, UINT32_MAX, limit, 4), fits && even);
        if (!fits || !even)
            continue;
        lane_memory.gather(got, (const uint8_t *)memory, off, UINT32_MAX, 4, false);
        for (uint32_t l = 0; l < WARP_LANES; l++)
            assert_int_equal(got[l], memory[(lo[l] + add) / 4]);
        memset(got, 0, sizeof got);
        lane_memory.gather(got, (const uint8_t *)memory, off, mask, 4, false);
        for (uint32_t l = 0; l < WARP_LANES; l++)
            assert_int_equal(got[l], mask >> l & 1 ? memory[(lo[l] + add) / 4] : 0);
        lane_memory.load_row(got, (uintptr_t)(memory + 3), mask);
        for (uint32_t l = 0; l < WARP_LANES; l++)
            assert_int_equal(got[l], mask >> l & 1 ? memory[3 + l] : 0);
        uint32_t to[WARP_LANES] = {0};
        lane_memory.store_row((uintptr_t)to, got, mask);
        assert_memory_equal(to, got, sizeof to);
    }
    lane_use(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_operation),
        cmocka_unit_test(test_sets_agree),
        cmocka_unit_test(test_aliases),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_wide),
        cmocka_unit_test(test_carries),
        cmocka_unit_test(test_f32),
        cmocka_unit_test(test_flush_edge),
        cmocka_unit_test(test_f64),
        cmocka_unit_test(test_minmax),
        cmocka_unit_test(test_float_compare),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_mufu),
        cmocka_unit_test(test_div_approx),
        cmocka_unit_test(test_video),
        cmocka_unit_test(test_simd),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
