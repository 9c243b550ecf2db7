/* What single operations compute, where the expression in ops.def would not fit on its row.
 *
 * Everything here is a pure function of its arguments, defined for all of them, and free of branches where
 * the executors should vectorise. Words are 32 bits; sgn is 0 or 1 and, like mode, constant in each executor.
 */
#ifndef REPRISE_ISA_SEMANTICS_H
#define REPRISE_ISA_SEMANTICS_H

#include "isa/isa.h"

static inline uint32_t op_addsat(uint32_t a, uint32_t b) {
    uint32_t sum = a + b, limit = 0x7fffffffu + (a >> 31);
    return (int32_t)((sum ^ a) & (sum ^ b)) < 0 ? limit : sum;
}

static inline uint32_t op_subsat(uint32_t a, uint32_t b) {
    uint32_t diff = a - b, limit = 0x7fffffffu + (a >> 31);
    return (int32_t)((diff ^ a) & (a ^ b)) < 0 ? limit : diff;
}

/* Which byte of {b, a} byte i of the result is; bit 3 asks for its sign instead. */
static inline uint32_t prmt_select(unsigned i, uint32_t sel, unsigned mode) {
    uint32_t n = sel & 3;
    switch (mode) {
    case PRMT_F4E:
        return n + i;
    case PRMT_B4E:
        return (n - i) & 7;
    case PRMT_RC8:
        return n;
    case PRMT_ECL:
        return n > i ? n : i;
    case PRMT_ECR:
        return n < i ? n : i;
    case PRMT_RC16:
        return (n & 1) * 2 + (i & 1);
    default:
        return sel >> (4 * i) & 15;
    }
}

static inline uint32_t op_prmt(uint32_t a, uint32_t b, uint32_t c, unsigned mode) {
    uint32_t out = 0;
    for (unsigned i = 0; i < 4; i++) {
        uint32_t k = prmt_select(i, c, mode), word = k & 4 ? b : a;
        uint32_t byte = word >> (8 * (k & 3)) & 0xff;
        uint32_t sign = (byte >> 7) * 0xff;
        out |= (k & 8 ? sign : byte) << (8 * i);
    }
    return out;
}

/* table bit (4a + 2b + c) gives each result bit. A tree of bitwise selections. */
static inline uint32_t op_lop3(uint32_t a, uint32_t b, uint32_t c, unsigned table) {
    uint32_t row[4];
    for (unsigned i = 0; i < 4; i++) {
        uint32_t zero = 0u - (table >> (2 * i) & 1), one = 0u - (table >> (2 * i + 1) & 1);
        row[i] = zero ^ ((zero ^ one) & c);
    }
    uint32_t low = (row[0] & ~b) | (row[1] & b), high = (row[2] & ~b) | (row[3] & b);
    return (low & ~a) | (high & a);
}

/* Funnel shift of {hi, lo} by n. */
static inline uint32_t op_shf(uint32_t lo, uint32_t n, uint32_t hi, unsigned mode) {
    uint64_t pair = (uint64_t)hi << 32 | lo;
    uint32_t by = mode & SHF_WRAP ? n & 31 : n > 32 ? 32 : n;
    return mode & SHF_RIGHT ? (uint32_t)(pair >> by) : (uint32_t)((pair << by) >> 32);
}

static inline uint32_t op_brev(uint32_t a) {
    a = (a >> 1 & 0x55555555u) | (a & 0x55555555u) << 1;
    a = (a >> 2 & 0x33333333u) | (a & 0x33333333u) << 2;
    a = (a >> 4 & 0x0f0f0f0fu) | (a & 0x0f0f0f0fu) << 4;
    a = (a >> 8 & 0x00ff00ffu) | (a & 0x00ff00ffu) << 8;
    return a >> 16 | a << 16;
}

/* Position of the most significant bit that differs from the sign (unsigned: from 0), or all ones. */
static inline uint32_t op_bfind(uint32_t a, unsigned sgn, unsigned mode) {
    uint32_t v = sgn ? a ^ (uint32_t)((int32_t)a >> 31) : a;
    uint32_t lead = (uint32_t)__builtin_clz(v | 1);
    return v ? (mode & FLO_SHIFTAMT ? lead : 31 - lead) : UINT32_MAX;
}

static inline uint32_t op_bfe(uint32_t a, uint32_t b, uint32_t c, unsigned sgn) {
    uint32_t pos = b & 0xff, len = c & 0xff, fill = (32 - len) & 31;
    uint32_t x = sgn ? (uint32_t)((int32_t)a >> (pos > 31 ? 31 : pos)) : pos > 31 ? 0 : a >> (pos & 31);
    uint32_t field = sgn ? (uint32_t)((int32_t)(x << fill) >> fill) : (x << fill) >> fill;
    return len == 0 ? 0 : len > 31 ? x : field;
}

/* b with the len bits from pos on replaced by the low bits of a. */
static inline uint32_t op_bfi(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    uint32_t pos = c & 0xff, len = d & 0xff;
    uint32_t ones = len > 31 ? UINT32_MAX : (1u << (len & 31)) - 1;
    uint32_t mask = pos > 31 ? 0 : ones << (pos & 31);
    return (b & ~mask) | ((a << (pos & 31)) & mask);
}

/* The 64-bit forms are instruction sequences on the GPU, which count all bits of position and length. */
static inline uint64_t op_bfe64(uint64_t a, uint32_t pos, uint32_t len, unsigned sgn) {
    uint32_t fill = (64 - len) & 63;
    uint64_t x = sgn ? (uint64_t)((int64_t)a >> (pos > 63 ? 63 : pos)) : pos > 63 ? 0 : a >> (pos & 63);
    uint64_t field = sgn ? (uint64_t)((int64_t)(x << fill) >> fill) : (x << fill) >> fill;
    return len == 0 ? 0 : len > 63 ? x : field;
}

static inline uint64_t op_bfi64(uint64_t a, uint64_t b, uint32_t pos, uint32_t len) {
    uint64_t ones = len > 63 ? UINT64_MAX : (UINT64_C(1) << (len & 63)) - 1;
    uint64_t mask = pos > 63 ? 0 : ones << (pos & 63);
    return (b & ~mask) | ((a << (pos & 63)) & mask);
}

/* b bits of ones from position a on. */
static inline uint32_t op_bmsk(uint32_t a, uint32_t b, unsigned mode) {
    uint32_t pos = a & 31, end = pos + (b & 31);
    bool clamp = mode == MODE_CLAMP, full = end > 31 || (clamp && b > 31);
    uint32_t from = clamp && a > 31 ? 0 : UINT32_MAX << pos;
    uint32_t above = full ? 0 : UINT32_MAX << (end & 31);
    return from & ~above;
}

/* The low b bits of a, sign- or zero-extended. */
static inline uint32_t op_szext(uint32_t a, uint32_t b, unsigned sgn, unsigned mode) {
    uint32_t len = b & 31, whole = mode == MODE_CLAMP && b > 31;
    uint32_t above = whole ? 0 : UINT32_MAX << len;
    uint32_t sign = sgn && len && !whole && (a >> ((len - 1) & 31) & 1);
    return (a & ~above) | (sign ? above : 0);
}

/* Position of the c-th set bit of mask a from position b on (negative: downwards), or all ones. */
static inline uint32_t op_fns(uint32_t a, uint32_t b, uint32_t c) {
    int32_t offset = (int32_t)c, step = offset > 0 ? 1 : -1;
    uint32_t count = offset > 0 ? c : 0u - c;
    if (b > 31)
        return UINT32_MAX;
    if (offset == 0)
        return a >> b & 1 ? b : UINT32_MAX;
    if (offset == INT32_MIN) /* has no magnitude: the hardware answers 0 */
        return 0;
    for (int32_t pos = (int32_t)b; pos >= 0 && pos < 32; pos += step)
        if ((a >> pos & 1) && --count == 0)
            return (uint32_t)pos;
    return UINT32_MAX;
}

static inline uint32_t op_ext(uint32_t a, unsigned mode) {
    uint32_t wide = mode & 2 ? 16 : 24;
    return mode & 1 ? (uint32_t)((int32_t)(a << wide) >> wide) : (a << wide) >> wide;
}

/* 24-bit factors, 48-bit product. */
static inline uint64_t mul24(uint32_t a, uint32_t b, unsigned sgn) {
    int64_t x = sgn ? (int32_t)(a << 8) >> 8 : (int64_t)(a & 0xffffff);
    int64_t y = sgn ? (int32_t)(b << 8) >> 8 : (int64_t)(b & 0xffffff);
    return (uint64_t)(x * y);
}

static inline uint32_t op_mul24lo(uint32_t a, uint32_t b, unsigned sgn) {
    return (uint32_t)mul24(a, b, sgn);
}

static inline uint32_t op_mul24hi(uint32_t a, uint32_t b, unsigned sgn) {
    return (uint32_t)(mul24(a, b, sgn) >> 16);
}

/* Part i of v, bits wide. */
static inline uint32_t lane_part(uint32_t v, unsigned i, unsigned bits, bool sgn) {
    uint32_t top = v << (32 - bits - i * bits);
    return sgn ? (uint32_t)((int32_t)top >> (32 - bits)) : top >> (32 - bits);
}

static inline uint32_t op_dp4a(uint32_t a, uint32_t b, uint32_t c, unsigned mode) {
    for (unsigned i = 0; i < 4; i++)
        c += lane_part(a, i, 8, mode & DP_A_SIGNED) * lane_part(b, i, 8, mode & DP_B_SIGNED);
    return c;
}

static inline uint32_t op_dp2a(uint32_t a, uint32_t b, uint32_t c, unsigned mode) {
    uint32_t bytes = mode & DP_HI ? b >> 16 : b;
    for (unsigned i = 0; i < 2; i++)
        c += lane_part(a, i, 16, mode & DP_A_SIGNED) * lane_part(bytes, i, 8, mode & DP_B_SIGNED);
    return c;
}

/* Whether steps of Newton's method, in f32, do not give a / b: one of them is zero, subnormal, infinite or
 * NaN, or the reciprocal, the quotient or what remains of the dividend would not be normal. */
static inline uint32_t op_fchk(uint32_t a, uint32_t b) {
    uint32_t ea = a >> 23 & 255, eb = b >> 23 & 255;
    return (eb - 1 > 251) | (ea - 26 > 228) | (ea - eb + 125 > 250);
}

/* Division by zero gives all ones, as the GPU's division routines do; the most negative number divided by -1
 * overflows to itself. */
static inline uint32_t op_div(uint32_t a, uint32_t b, unsigned sgn) {
    if (b == 0)
        return UINT32_MAX;
    if (!sgn)
        return a / b;
    return b == UINT32_MAX ? 0u - a : (uint32_t)((int32_t)a / (int32_t)b);
}

static inline uint32_t op_rem(uint32_t a, uint32_t b, unsigned sgn) {
    if (b == 0)
        return UINT32_MAX;
    if (!sgn)
        return a % b;
    return b == UINT32_MAX ? 0 : (uint32_t)((int32_t)a % (int32_t)b);
}

static inline uint64_t op_div64(uint64_t a, uint64_t b, unsigned sgn) {
    if (b == 0)
        return UINT64_MAX;
    if (!sgn)
        return a / b;
    return b == UINT64_MAX ? 0u - a : (uint64_t)((int64_t)a / (int64_t)b);
}

static inline uint64_t op_rem64(uint64_t a, uint64_t b, unsigned sgn) {
    if (b == 0)
        return UINT64_MAX;
    if (!sgn)
        return a % b;
    return b == UINT64_MAX ? 0 : (uint64_t)((int64_t)a % (int64_t)b);
}

#endif
