/* Executors of a64_simd.def.
 *
 * Element-wise ones compute all sixteen bytes and clear what a shorter vector does not have, which lets the
 * compiler use the host's vectors; those that saturate look at the elements there are, since the others must
 * not set the flag. */
#include "cpu/exec.h"

typedef __int128 i128;

/* ---- types: M(id, suffix, T, W, UW, expression) for each size; N and T of long and narrow ones are the
 * narrow and the wide type ---- */

#define U_B(M, id, ...)  M(id, b, uint8_t, int64_t, uint64_t, __VA_ARGS__)
#define U_H(M, id, ...)  M(id, h, uint16_t, int64_t, uint64_t, __VA_ARGS__)
#define U_S(M, id, ...)  M(id, s, uint32_t, int64_t, uint64_t, __VA_ARGS__)
#define U_D(M, id, ...)  M(id, d, uint64_t, i128, u128, __VA_ARGS__)
#define S_B(M, id, ...)  M(id, b, int8_t, int64_t, uint64_t, __VA_ARGS__)
#define S_H(M, id, ...)  M(id, h, int16_t, int64_t, uint64_t, __VA_ARGS__)
#define S_S(M, id, ...)  M(id, s, int32_t, int64_t, uint64_t, __VA_ARGS__)
#define S_D(M, id, ...)  M(id, d, int64_t, i128, u128, __VA_ARGS__)
#define S_S2(M, id, ...) M(id, s, int32_t, i128, u128, __VA_ARGS__) /* for products */

#define MAKE_U_B(M, id, ...)  U_B(M, id, __VA_ARGS__) EXECS(id, id##_b)
#define MAKE_U_S(M, id, ...)  U_S(M, id, __VA_ARGS__) EXECS(id, NULL, NULL, id##_s)
#define MAKE_U_D(M, id, ...)  U_D(M, id, __VA_ARGS__) EXECS(id, NULL, NULL, NULL, id##_d)
#define MAKE_S_D(M, id, ...)  S_D(M, id, __VA_ARGS__) EXECS(id, NULL, NULL, NULL, id##_d)
#define MAKE_U_HS(M, id, ...) U_H(M, id, __VA_ARGS__) U_S(M, id, __VA_ARGS__) EXECS(id, NULL, id##_h, id##_s)
#define MAKE_S_HS(M, id, ...) S_H(M, id, __VA_ARGS__) S_S2(M, id, __VA_ARGS__) EXECS(id, NULL, id##_h, id##_s)
#define MAKE_U_BHS(M, id, ...)                                                                               \
    U_B(M, id, __VA_ARGS__) U_H(M, id, __VA_ARGS__) U_S(M, id, __VA_ARGS__) EXECS(id, id##_b, id##_h, id##_s)
#define MAKE_S_BHS(M, id, ...)                                                                               \
    S_B(M, id, __VA_ARGS__) S_H(M, id, __VA_ARGS__) S_S(M, id, __VA_ARGS__) EXECS(id, id##_b, id##_h, id##_s)
#define MAKE_U_BHSD(M, id, ...)                                                                              \
    U_B(M, id, __VA_ARGS__)                                                                                  \
    U_H(M, id, __VA_ARGS__)                                                                                  \
    U_S(M, id, __VA_ARGS__) U_D(M, id, __VA_ARGS__) EXECS(id, id##_b, id##_h, id##_s, id##_d)
#define MAKE_S_BHSD(M, id, ...)                                                                              \
    S_B(M, id, __VA_ARGS__)                                                                                  \
    S_H(M, id, __VA_ARGS__)                                                                                  \
    S_S(M, id, __VA_ARGS__) S_D(M, id, __VA_ARGS__) EXECS(id, id##_b, id##_h, id##_s, id##_d)

/* The type of twice the size, and W for narrowing from it. */
#define WIDE_uint8_t  uint16_t
#define WIDE_uint16_t uint32_t
#define WIDE_uint32_t uint64_t
#define WIDE_int8_t   int16_t
#define WIDE_int16_t  int32_t
#define WIDE_int32_t  int64_t
#define ROOM_uint8_t  int64_t
#define ROOM_uint16_t int64_t
#define ROOM_uint32_t i128
#define ROOM_int8_t   int64_t
#define ROOM_int16_t  int64_t
#define ROOM_int32_t  i128

#define UNUSED __attribute__((unused))
#define TYPES(T_, W_, UW_)                                                                                   \
    typedef T_ T;                                                                                            \
    typedef W_ W UNUSED;                                                                                     \
    typedef UW_ UW UNUSED
/* Element k of a register's copy. */
#define AT(T, v, k) (((T *)&(v))[k])
#define SOURCES     union vreg n = c->v[i->rn], m UNUSED = c->v[i->rm & 31], o UNUSED = c->v[i->rd], r = {0}

/* ---- what expressions are made of ---- */

#define BITS(T) ((int)(8 * sizeof(T)))
/* Unsigned, so that sums wrap. */
#define WRAP(x)      ((UW)(x))
#define AS_SIGNED(x) ((W)((x) & ((UW)1 << (BITS(T) - 1)) ? (W)(x) - ((W)1 << BITS(T)) : (W)(x)))

static inline i128 saturate(i128 x, i128 low, i128 high, bool *saturated) {
    if (x >= low && x <= high)
        return x;
    *saturated = true;
    return x < low ? low : high;
}

#define SATS(x) saturate(x, -((i128)1 << (BITS(T) - 1)), ((i128)1 << (BITS(T) - 1)) - 1, &saturated)
#define SATU(x) saturate(x, 0, ((i128)1 << BITS(T)) - 1, &saturated)

/* Shifts by a signed number of bits, to the right if it is negative. */
static inline i128 shift_right(i128 a, int by, int bits, bool rounds) {
    if (by > bits)
        return rounds || a >= 0 ? 0 : -1;
    return rounds ? (a + ((i128)1 << (by - 1))) >> by : a >> by;
}

static inline i128 shift_any(i128 a, int by, int bits, bool rounds) {
    return by >= bits ? 0 : by >= 0 ? (i128)((u128)a << by) : shift_right(a, -by, bits, rounds);
}

static inline i128 shift_saturating_signed(i128 a, int by, int bits, bool rounds, bool *saturated) {
    i128 high = ((i128)1 << (bits - 1)) - 1, low = -high - 1;
    if (by < 0)
        return shift_right(a, -by, bits, rounds);
    if (by >= bits && a) {
        *saturated = true;
        return a < 0 ? low : high;
    }
    return a ? saturate((i128)((u128)a << by), low, high, saturated) : 0;
}

static inline i128 shift_saturating_unsigned(i128 a, int by, int bits, bool rounds, bool *saturated) {
    if (by < 0)
        return shift_right(a, -by, bits, rounds);
    if (a && (by >= bits || a >> (bits - by))) {
        *saturated = true;
        return ((i128)1 << bits) - 1;
    }
    return a ? (i128)((u128)a << by) : 0;
}

#define SHIFT_S(a, b)     shift_any(a, (int8_t)(b), BITS(T), false)
#define SHIFT_U(a, b)     shift_any(a, (int8_t)(b), BITS(T), false)
#define SHIFT_SR(a, b)    shift_any(a, (int8_t)(b), BITS(T), true)
#define SHIFT_UR(a, b)    shift_any(a, (int8_t)(b), BITS(T), true)
#define SHIFT_SQ(a, b, r) shift_saturating_signed(a, (int8_t)(b), BITS(T), r, &saturated)
#define SHIFT_UQ(a, b, r) shift_saturating_unsigned(a, (int8_t)(b), BITS(T), r, &saturated)

#define LEADING(a) ((a) ? __builtin_clz(a) - (32 - BITS(T)) : BITS(T))

/* A product without carries. */
static inline uint32_t multiply_bits(uint32_t a, uint32_t b) {
    uint32_t r = 0;
    for (int k = 0; k < 8; k++)
        r ^= b >> k & 1 ? a << k : 0;
    return r;
}

static inline uint8_t reverse_byte(uint8_t v) {
    v = (uint8_t)((v >> 1 & 0x55) | (v & 0x55) << 1);
    v = (uint8_t)((v >> 2 & 0x33) | (v & 0x33) << 2);
    return (uint8_t)(v >> 4 | v << 4);
}

/* ---- element by element ---- */

#define ALL(id, suffix, T_, W_, UW_, decls, ...)                                                             \
    EXEC(id##_##suffix) {                                                                                    \
        TYPES(T_, W_, UW_);                                                                                  \
        SOURCES;                                                                                             \
        uint32_t sh UNUSED = i->ra;                                                                          \
        for (uint32_t k = 0; k < 16 / sizeof(T); k++) {                                                      \
            T a = AT(T, n, k), d UNUSED = AT(T, o, k);                                                       \
            decls;                                                                                           \
            AT(T, r, k) = (T)(__VA_ARGS__);                                                                  \
        }                                                                                                    \
        r.d[1] &= (uint64_t)i->imm;                                                                          \
        c->v[i->rd] = r;                                                                                     \
        NEXT;                                                                                                \
    }
#define SOME(id, suffix, T_, W_, UW_, decls, ...)                                                            \
    EXEC(id##_##suffix) {                                                                                    \
        TYPES(T_, W_, UW_);                                                                                  \
        SOURCES;                                                                                             \
        uint32_t sh UNUSED = i->ra;                                                                          \
        bool saturated = false;                                                                              \
        for (uint32_t k = 0; k < i->aux / sizeof(T); k++) {                                                  \
            T a = AT(T, n, k), d UNUSED = AT(T, o, k);                                                       \
            decls;                                                                                           \
            AT(T, r, k) = (T)(__VA_ARGS__);                                                                  \
        }                                                                                                    \
        if (saturated)                                                                                       \
            c->fp.fpsr |= FP_SATURATED;                                                                      \
        c->v[i->rd] = r;                                                                                     \
        NEXT;                                                                                                \
    }
#define T_V1(id, types, ...)  MAKE_##types(ALL, id, (void)0, __VA_ARGS__)
#define T_V1Q(id, types, ...) MAKE_##types(SOME, id, (void)0, __VA_ARGS__)
#define T_V3(id, types, ...)  MAKE_##types(ALL, id, T b = AT(T, m, k), __VA_ARGS__)
#define T_V3Q(id, types, ...) MAKE_##types(SOME, id, T b = AT(T, m, k), __VA_ARGS__)
#define T_VE(id, types, ...)  MAKE_##types(ALL, id, T b = AT(T, m, i->ra), __VA_ARGS__)
#define T_VEQ(id, types, ...) MAKE_##types(SOME, id, T b = AT(T, m, i->ra), __VA_ARGS__)

#define T_VB(id, ...)                                                                                        \
    EXEC(id##_x) {                                                                                           \
        SOURCES;                                                                                             \
        for (uint32_t k = 0; k < 2; k++) {                                                                   \
            uint64_t a = n.d[k], b = m.d[k], d UNUSED = o.d[k];                                              \
            r.d[k] = (__VA_ARGS__);                                                                          \
        }                                                                                                    \
        r.d[1] &= (uint64_t)i->imm;                                                                          \
        c->v[i->rd] = r;                                                                                     \
        NEXT;                                                                                                \
    }                                                                                                        \
    EXECS(id, id##_x)

/* Neighbours of the first source, then of the second. */
#define PAIRS(id, suffix, T_, W_, UW_, ...)                                                                  \
    EXEC(id##_##suffix) {                                                                                    \
        TYPES(T_, W_, UW_);                                                                                  \
        SOURCES;                                                                                             \
        uint32_t half = (i->imm ? 8 : 4) / sizeof(T);                                                        \
        for (uint32_t k = 0; k < half; k++) {                                                                \
            T a = AT(T, n, 2 * k), b = AT(T, n, 2 * k + 1);                                                  \
            AT(T, r, k) = (T)(__VA_ARGS__);                                                                  \
            a = AT(T, m, 2 * k);                                                                             \
            b = AT(T, m, 2 * k + 1);                                                                         \
            AT(T, r, half + k) = (T)(__VA_ARGS__);                                                           \
        }                                                                                                    \
        c->v[i->rd] = r;                                                                                     \
        NEXT;                                                                                                \
    }
#define T_VP(id, types, ...) MAKE_##types(PAIRS, id, __VA_ARGS__)

#define ACROSS(id, suffix, T_, W_, UW_, ...)                                                                 \
    EXEC(id##_##suffix) {                                                                                    \
        TYPES(T_, W_, UW_);                                                                                  \
        SOURCES;                                                                                             \
        T a = AT(T, n, 0);                                                                                   \
        for (uint32_t k = 1; k < i->aux / sizeof(T); k++) {                                                  \
            T b = AT(T, n, k);                                                                               \
            a = (T)(__VA_ARGS__);                                                                            \
        }                                                                                                    \
        AT(T, r, 0) = a;                                                                                     \
        c->v[i->rd] = r;                                                                                     \
        NEXT;                                                                                                \
    }
#define T_VA(id, types, ...) MAKE_##types(ACROSS, id, __VA_ARGS__)

#define T_ADDP_SC(id, unused)                                                                                \
    EXEC(id##_x) {                                                                                           \
        c->v[i->rd].q = c->v[i->rn].d[0] + c->v[i->rn].d[1];                                                 \
        NEXT;                                                                                                \
    }                                                                                                        \
    EXECS(id, id##_x)

/* ---- long: T is the wide type, N the narrow one; aux picks the upper half of the narrow sources ---- */

#define LONG_(id, suffix, N, W_, UW_, T_, flag, first, decls, ...)                                           \
    EXEC(id##_##suffix) {                                                                                    \
        TYPES(T_, W_, UW_);                                                                                  \
        SOURCES;                                                                                             \
        uint32_t count = i->imm ? 1 : 16 / sizeof(T), from UNUSED = i->aux ? count : 0;                      \
        uint32_t sh UNUSED = i->ra;                                                                          \
        bool saturated UNUSED = false;                                                                       \
        for (uint32_t k = 0; k < count; k++) {                                                               \
            T a = first, d UNUSED = AT(T, o, k);                                                             \
            decls;                                                                                           \
            AT(T, r, k) = (T)(__VA_ARGS__);                                                                  \
        }                                                                                                    \
        if (flag && saturated)                                                                               \
            c->fp.fpsr |= FP_SATURATED;                                                                      \
        c->v[i->rd] = r;                                                                                     \
        NEXT;                                                                                                \
    }
#define LONG(id, suffix, N, W_, UW_, ...)                                                                    \
    LONG_(id, suffix, N, W_, UW_, WIDE_##N, false, AT(N, n, from + k), T b = AT(N, m, from + k), __VA_ARGS__)
#define LONG_SAT(id, suffix, N, W_, UW_, ...)                                                                \
    LONG_(id, suffix, N, W_, UW_, WIDE_##N, true, AT(N, n, from + k), T b = AT(N, m, from + k), __VA_ARGS__)
#define LONG_ELEM(id, suffix, N, W_, UW_, ...)                                                               \
    LONG_(id, suffix, N, W_, UW_, WIDE_##N, false, AT(N, n, from + k), T b = AT(N, m, i->ra), __VA_ARGS__)
#define LONG_ELEM_SAT(id, suffix, N, W_, UW_, ...)                                                           \
    LONG_(id, suffix, N, W_, UW_, WIDE_##N, true, AT(N, n, from + k), T b = AT(N, m, i->ra), __VA_ARGS__)
#define WIDE(id, suffix, N, W_, UW_, ...)                                                                    \
    LONG_(id, suffix, N, W_, UW_, WIDE_##N, false, AT(T, n, k), T b = AT(N, m, from + k), __VA_ARGS__)
#define LONG_ONE(id, suffix, N, W_, UW_, ...)                                                                \
    LONG_(id, suffix, N, W_, UW_, WIDE_##N, false, AT(N, n, from + k), (void)0, __VA_ARGS__)
#define T_VL(id, types, ...)   MAKE_##types(LONG, id, __VA_ARGS__)
#define T_VLQ(id, types, ...)  MAKE_##types(LONG_SAT, id, __VA_ARGS__)
#define T_VEL(id, types, ...)  MAKE_##types(LONG_ELEM, id, __VA_ARGS__)
#define T_VELQ(id, types, ...) MAKE_##types(LONG_ELEM_SAT, id, __VA_ARGS__)
#define T_VW(id, types, ...)   MAKE_##types(WIDE, id, __VA_ARGS__)
#define T_VX(id, types, ...)   MAKE_##types(LONG_ONE, id, __VA_ARGS__)

#define PAIRS_LONG_(id, suffix, N, W_, UW_, T_, ...)                                                         \
    EXEC(id##_##suffix) {                                                                                    \
        TYPES(T_, W_, UW_);                                                                                  \
        SOURCES;                                                                                             \
        for (uint32_t k = 0; k < i->aux / sizeof(T); k++) {                                                  \
            T a = AT(N, n, 2 * k), b = AT(N, n, 2 * k + 1), d UNUSED = AT(T, o, k);                          \
            AT(T, r, k) = (T)(__VA_ARGS__);                                                                  \
        }                                                                                                    \
        c->v[i->rd] = r;                                                                                     \
        NEXT;                                                                                                \
    }
#define PAIRS_LONG(id, suffix, N, W_, UW_, ...) PAIRS_LONG_(id, suffix, N, W_, UW_, WIDE_##N, __VA_ARGS__)
#define T_VPL(id, types, ...)                   MAKE_##types(PAIRS_LONG, id, __VA_ARGS__)

#define ACROSS_LONG_(id, suffix, N, W_, UW_, T_, ...)                                                        \
    EXEC(id##_##suffix) {                                                                                    \
        TYPES(T_, W_, UW_);                                                                                  \
        SOURCES;                                                                                             \
        T a = AT(N, n, 0);                                                                                   \
        for (uint32_t k = 1; k < i->aux / sizeof(N); k++) {                                                  \
            T b = AT(N, n, k);                                                                               \
            a = (T)(__VA_ARGS__);                                                                            \
        }                                                                                                    \
        AT(T, r, 0) = a;                                                                                     \
        c->v[i->rd] = r;                                                                                     \
        NEXT;                                                                                                \
    }
#define ACROSS_LONG(id, suffix, N, W_, UW_, ...) ACROSS_LONG_(id, suffix, N, W_, UW_, WIDE_##N, __VA_ARGS__)
#define T_VAL(id, types, ...)                    MAKE_##types(ACROSS_LONG, id, __VA_ARGS__)

/* ---- narrow: T is the narrow type, V the wide one; aux: into the upper half, the lower one stays ---- */

#define NARROW_(id, suffix, T_, W_, V, decls, ...)                                                           \
    EXEC(id##_##suffix) {                                                                                    \
        TYPES(T_, W_, u128);                                                                                 \
        SOURCES;                                                                                             \
        uint32_t count = i->imm ? 1 : 8 / sizeof(T), to = i->aux ? count : 0;                                \
        uint32_t sh UNUSED = i->ra;                                                                          \
        bool saturated UNUSED = false;                                                                       \
        for (uint32_t k = 0; k < count; k++) {                                                               \
            V a = AT(V, n, k);                                                                               \
            decls;                                                                                           \
            AT(T, r, to + k) = (T)(__VA_ARGS__);                                                             \
        }                                                                                                    \
        if (i->aux)                                                                                          \
            r.d[0] = o.d[0];                                                                                 \
        if (saturated)                                                                                       \
            c->fp.fpsr |= FP_SATURATED;                                                                      \
        c->v[i->rd] = r;                                                                                     \
        NEXT;                                                                                                \
    }
#define NARROW(id, suffix, T_, W_, UW_, ...)                                                                 \
    NARROW_(id, suffix, T_, ROOM_##T_, WIDE_##T_, (void)0, __VA_ARGS__)
#define NARROW_HIGH(id, suffix, T_, W_, UW_, ...)                                                            \
    NARROW_(id, suffix, T_, WIDE_##T_, WIDE_##T_, WIDE_##T_ b = AT(WIDE_##T_, m, k),                         \
            (WIDE_##T_)(__VA_ARGS__) >> BITS(T))
#define T_VN(id, types, ...)  MAKE_##types(NARROW, id, __VA_ARGS__)
#define T_VNQ(id, types, ...) MAKE_##types(NARROW, id, __VA_ARGS__)
#define T_VH(id, types, ...)  MAKE_##types(NARROW_HIGH, id, __VA_ARGS__)

/* ---- moves ---- */

#define REVERSE(id, suffix, T, container)                                                                    \
    EXEC(id##_##suffix) {                                                                                    \
        SOURCES;                                                                                             \
        for (uint32_t k = 0; k < 16 / sizeof(T); k++)                                                        \
            AT(T, r, k) = AT(T, n, k ^ ((container) / sizeof(T) - 1));                                       \
        r.d[1] &= (uint64_t)i->imm;                                                                          \
        c->v[i->rd] = r;                                                                                     \
        NEXT;                                                                                                \
    }
#define REV_B(id, container) REVERSE(id, b, uint8_t, container) EXECS(id, id##_b)
#define REV_BH(id, container)                                                                                \
    REVERSE(id, b, uint8_t, container) REVERSE(id, h, uint16_t, container) EXECS(id, id##_b, id##_h)
#define REV_BHS(id, container)                                                                               \
    REVERSE(id, b, uint8_t, container)                                                                       \
    REVERSE(id, h, uint16_t, container) REVERSE(id, s, uint32_t, container) EXECS(id, id##_b, id##_h, id##_s)
#define T_REV(id, container, sizes) REV_##sizes(id, container)

/* Element k of the result is this one of both sources in a row. */
#define PERMUTE(id, suffix, T, ...)                                                                          \
    EXEC(id##_##suffix) {                                                                                    \
        union vreg x = c->v[i->rn], y = c->v[i->rm], r = {0};                                                \
        uint32_t n = i->aux / sizeof(T);                                                                     \
        for (uint32_t k = 0; k < n; k++) {                                                                   \
            uint32_t from = (__VA_ARGS__);                                                                   \
            AT(T, r, k) = from < n ? AT(T, x, from) : AT(T, y, from - n);                                    \
        }                                                                                                    \
        c->v[i->rd] = r;                                                                                     \
        NEXT;                                                                                                \
    }
#define T_PERM(id, ...)                                                                                      \
    PERMUTE(id, b, uint8_t, __VA_ARGS__)                                                                     \
    PERMUTE(id, h, uint16_t, __VA_ARGS__)                                                                    \
    PERMUTE(id, s, uint32_t, __VA_ARGS__)                                                                    \
    PERMUTE(id, d, uint64_t, __VA_ARGS__)                                                                    \
    EXECS(id, id##_b, id##_h, id##_s, id##_d)

#define BY_SIZE(M, id, ...)                                                                                  \
    M(id, b, uint8_t, __VA_ARGS__)                                                                           \
    M(id, h, uint16_t, __VA_ARGS__)                                                                          \
    M(id, s, uint32_t, __VA_ARGS__)                                                                          \
    M(id, d, uint64_t, __VA_ARGS__)                                                                          \
    EXECS(id, id##_b, id##_h, id##_s, id##_d)
#define DUPLICATE(id, suffix, T, ...)                                                                        \
    EXEC(id##_##suffix) {                                                                                    \
        T v = (T)(__VA_ARGS__);                                                                              \
        c->v[i->rd].q = 0;                                                                                   \
        for (uint32_t k = 0; k < i->aux / sizeof(T); k++)                                                    \
            AT(T, c->v[i->rd], k) = v;                                                                       \
        NEXT;                                                                                                \
    }
#define DUPLICATE_E(id, suffix, T, unused) DUPLICATE(id, suffix, T, AT(T, c->v[i->rn], i->ra))
#define T_DUP_E(id, unused)                BY_SIZE(DUPLICATE_E, id, 0)
#define T_DUP_R(id, unused)                BY_SIZE(DUPLICATE, id, c->x[i->rn])
#define INSERT(id, suffix, T, ...)                                                                           \
    EXEC(id##_##suffix) {                                                                                    \
        AT(T, c->v[i->rd], i->ra) = (T)(__VA_ARGS__);                                                        \
        NEXT;                                                                                                \
    }
#define INSERT_E(id, suffix, T, unused) INSERT(id, suffix, T, AT(T, c->v[i->rn], i->aux))
#define T_INS_E(id, unused)             BY_SIZE(INSERT_E, id, 0)
#define T_INS_R(id, unused)             BY_SIZE(INSERT, id, c->x[i->rn])
#define TO_REGISTER(id, suffix, T, to)                                                                       \
    EXEC(id##_##suffix) {                                                                                    \
        c->x[i->rd] = (to)AT(T, c->v[i->rn], i->ra);                                                         \
        NEXT;                                                                                                \
    }
#define T_UMOV(id, unused) BY_SIZE(TO_REGISTER, id, uint64_t)
#define T_SMOV(id, unused)                                                                                   \
    TO_REGISTER(id, wb, int8_t, uint32_t)                                                                    \
    TO_REGISTER(id, wh, int16_t, uint32_t)                                                                   \
    TO_REGISTER(id, xb, int8_t, uint64_t)                                                                    \
    TO_REGISTER(id, xh, int16_t, uint64_t)                                                                   \
    TO_REGISTER(id, xs, int32_t, uint64_t)                                                                   \
    EXECS(id, id##_wb, id##_wh, NULL, id##_xb, id##_xh, id##_xs)

#define T_EXT(id, unused)                                                                                    \
    EXEC(id##_x) {                                                                                           \
        SOURCES;                                                                                             \
        for (uint32_t k = 0; k < i->aux; k++) {                                                              \
            uint32_t from = k + i->ra;                                                                       \
            r.b[k] = from < i->aux ? n.b[from] : m.b[from - i->aux];                                         \
        }                                                                                                    \
        c->v[i->rd] = r;                                                                                     \
        NEXT;                                                                                                \
    }                                                                                                        \
    EXECS(id, id##_x)

/* Bytes of a table of registers; an index outside of it gives zero, or leaves the byte as it was. */
#define T_TBL(id, keeps)                                                                                     \
    EXEC(id##_x) {                                                                                           \
        union vreg m = c->v[i->rm], r = {0};                                                                 \
        for (uint32_t k = 0; k < i->aux; k++) {                                                              \
            uint32_t at = m.b[k];                                                                            \
            r.b[k] = at < 16u * i->ra ? c->v[(i->rn + at / 16) & 31].b[at % 16]                              \
                     : (keeps)        ? c->v[i->rd].b[k]                                                     \
                                      : 0;                                                                          \
        }                                                                                                    \
        c->v[i->rd] = r;                                                                                     \
        NEXT;                                                                                                \
    }                                                                                                        \
    EXECS(id, id##_x)

#define T_VIMM(id, ...)                                                                                      \
    EXEC(id##_x) {                                                                                           \
        uint64_t m = (uint64_t)i->imm;                                                                       \
        union vreg r = {0};                                                                                  \
        for (uint32_t k = 0; k < i->aux / 8u; k++) {                                                         \
            uint64_t d UNUSED = c->v[i->rd].d[k];                                                            \
            r.d[k] = (__VA_ARGS__);                                                                          \
        }                                                                                                    \
        c->v[i->rd] = r;                                                                                     \
        NEXT;                                                                                                \
    }                                                                                                        \
    EXECS(id, id##_x)

#define A64(id, name, encoding, form, arg, class, flags, template, ...) T_##template(id, __VA_ARGS__)
#include "cpu/a64_simd.def"
