/* Executors of a64_simdfp.def: variant 3f + log2 of the number of elements, which is in aux too.
 *
 * Elements are computed by the host; those it may have got wrong are computed again by software. */
#include "cpu/exec_fp.h"

#define SINGLE uint32_t, float, float_of, bits_of_float, odd32, fp_single, s
#define DOUBLE uint64_t, double, double_of, bits_of_double, odd64, fp_double, d

/* M(id, suffix, T, ftype, make, bits, odd, fmt, lane, number of elements, rest) for each variant. */
#define EXPAND(M, ...) M(__VA_ARGS__)
#define VARIANTS(M, id, ...)                                                                                 \
    EXPAND(M, id, s1, SINGLE, 1, __VA_ARGS__)                                                                \
    EXPAND(M, id, s2, SINGLE, 2, __VA_ARGS__)                                                                \
    EXPAND(M, id, s4, SINGLE, 4, __VA_ARGS__)                                                                \
    EXPAND(M, id, d1, DOUBLE, 1, __VA_ARGS__)                                                                \
    EXPAND(M, id, d2, DOUBLE, 2, __VA_ARGS__)                                                                \
    EXECS(id, id##_s1, id##_s2, id##_s4, id##_d1, id##_d2)

#define UNUSED  __attribute__((unused))
#define SOURCES union vreg vn = c->v[i->rn], vm UNUSED = c->v[i->rm & 31], vd UNUSED = c->v[i->rd], r = {0}

/* ---- by the host, and by software what is odd ---- */

#define HOST(id, suffix, T, ftype, make, bits, odd, fmt, lane, count, second, host, soft)                    \
    EXEC(id##_##suffix) {                                                                                    \
        SOURCES;                                                                                             \
        bool any = false;                                                                                    \
        for (uint32_t k = 0; k < (count); k++) {                                                             \
            ftype a = make(vn.lane[k]), b UNUSED = make(vm.lane[second]), d UNUSED = make(vd.lane[k]);       \
            r.lane[k] = bits(host);                                                                          \
            any |= odd(c, r.lane[k]);                                                                        \
        }                                                                                                    \
        if (unlikely(any))                                                                                   \
            for (uint32_t k = 0; k < (count); k++)                                                           \
                if (very_##odd(c, r.lane[k])) {                                                              \
                    T a = vn.lane[k], b UNUSED = vm.lane[second], d UNUSED = vd.lane[k];                     \
                    const struct fp_format *f = &fmt;                                                        \
                    r.lane[k] = (T)(soft);                                                                   \
                }                                                                                            \
        c->v[i->rd] = r;                                                                                     \
        NEXT;                                                                                                \
    }
#define T_VF1(id, host, soft)  VARIANTS(HOST, id, k, host, soft(&c->fp, f, a))
#define T_VF2(id, host, soft)  VARIANTS(HOST, id, k, host, soft(&c->fp, f, a, b))
#define T_VF3(id, host, soft)  VARIANTS(HOST, id, k, host, soft(&c->fp, f, a, b, d))
#define T_VFE2(id, host, soft) VARIANTS(HOST, id, i->ra, host, soft(&c->fp, f, a, b))
#define T_VFE3(id, host, soft) VARIANTS(HOST, id, i->ra, host, soft(&c->fp, f, a, b, d))

/* ---- always by software, or on bits ---- */

#define SOFT(id, suffix, T_, ftype, make, bits, odd, fmt, lane, count, second, ...)                          \
    EXEC(id##_##suffix) {                                                                                    \
        typedef T_ T;                                                                                        \
        SOURCES;                                                                                             \
        const struct fp_format *f UNUSED = &fmt;                                                             \
        for (uint32_t k = 0; k < (count); k++) {                                                             \
            T a = vn.lane[k], b UNUSED = vm.lane[second];                                                    \
            r.lane[k] = (T)(__VA_ARGS__);                                                                    \
        }                                                                                                    \
        c->v[i->rd] = r;                                                                                     \
        NEXT;                                                                                                \
    }
#define T_VB1(id, ...)   VARIANTS(SOFT, id, k, __VA_ARGS__)
#define T_VS1(id, soft)  VARIANTS(SOFT, id, k, soft(&c->fp, f, a))
#define T_VS2(id, soft)  VARIANTS(SOFT, id, k, soft(&c->fp, f, a, b))
#define T_VSE2(id, soft) VARIANTS(SOFT, id, i->ra, soft(&c->fp, f, a, b))

/* ---- comparisons: the host signals for NaNs where the architecture does ---- */

#define COMPARE(id, suffix, T, ftype, make, bits, odd, fmt, lane, count, host, soft)                         \
    EXEC(id##_##suffix) {                                                                                    \
        SOURCES;                                                                                             \
        for (uint32_t k = 0; k < (count); k++) {                                                             \
            T x = vn.lane[k], y UNUSED = vm.lane[k];                                                         \
            ftype a = make(x), b UNUSED = make(y);                                                           \
            const struct fp_format *f = &fmt;                                                                \
            if (unlikely(c->fp_soft))                                                                        \
                r.lane[k] = (T)(soft);                                                                       \
            else                                                                                             \
                r.lane[k] = (host) ? (T)-1 : 0;                                                              \
        }                                                                                                    \
        c->v[i->rd] = r;                                                                                     \
        NEXT;                                                                                                \
    }
#define T_VCMP(id, host, soft)   VARIANTS(COMPARE, id, host, soft(&c->fp, f, x, y))
#define T_VCMP_Z(id, host, soft) VARIANTS(COMPARE, id, host, soft(&c->fp, f, x))

/* ---- neighbours and across ---- */

#define PAIRS(id, suffix, T, ftype, make, bits, odd, fmt, lane, count, soft)                                 \
    EXEC(id##_##suffix) {                                                                                    \
        SOURCES;                                                                                             \
        for (uint32_t k = 0; 2 * k < (count); k++) {                                                         \
            r.lane[k] = (T)soft(&c->fp, &fmt, vn.lane[2 * k], vn.lane[2 * k + 1]);                           \
            r.lane[(count) / 2 + k] = (T)soft(&c->fp, &fmt, vm.lane[2 * k], vm.lane[2 * k + 1]);             \
        }                                                                                                    \
        c->v[i->rd] = r;                                                                                     \
        NEXT;                                                                                                \
    }
#define T_VFP(id, soft)                                                                                      \
    EXPAND(PAIRS, id, s2, SINGLE, 2, soft)                                                                   \
    EXPAND(PAIRS, id, s4, SINGLE, 4, soft)                                                                   \
    EXPAND(PAIRS, id, d2, DOUBLE, 2, soft)                                                                   \
    EXECS(id, NULL, id##_s2, id##_s4, NULL, id##_d2)

/* Halves are combined until one is left. */
#define ACROSS(id, suffix, T, ftype, make, bits, odd, fmt, lane, unused, soft)                               \
    EXEC(id##_##suffix) {                                                                                    \
        union vreg v = c->v[i->rn];                                                                          \
        for (uint32_t n = i->aux; n > 1; n /= 2)                                                             \
            for (uint32_t k = 0; k < n / 2; k++)                                                             \
                v.lane[k] = (T)soft(&c->fp, &fmt, v.lane[2 * k], v.lane[2 * k + 1]);                         \
        c->v[i->rd].q = v.lane[0];                                                                           \
        NEXT;                                                                                                \
    }
#define T_VFA(id, soft)                                                                                      \
    EXPAND(ACROSS, id, s, SINGLE, 0, soft)                                                                   \
    EXPAND(ACROSS, id, d, DOUBLE, 0, soft)                                                                   \
    EXECS(id, id##_s, id##_d)

/* ---- conversions: ra is the number of fraction bits of the integers ---- */

#define T_VCVT(id, mode, is_unsigned)                                                                        \
    VARIANTS(SOFT, id, k, fp_to_int(&c->fp, f, a, i->ra, mode, is_unsigned, 8 * sizeof(T)))
#define SIGNED(T, v) (sizeof(T) == 8 ? (uint64_t)(v) : (uint64_t)(int64_t)(int32_t)(v))
#define T_VFROM(id, is_unsigned)                                                                             \
    VARIANTS(SOFT, id, k,                                                                                    \
             fp_from_int(&c->fp, f, (is_unsigned) ? (uint64_t)a : SIGNED(T, a), i->ra, is_unsigned))

/* To numbers twice as wide, from the half that aux picks. */
#define LENGTHEN(id, suffix, wide, wide_fmt, narrow, narrow_fmt, count)                                      \
    EXEC(id##_##suffix) {                                                                                    \
        SOURCES;                                                                                             \
        for (uint32_t k = 0; k < (count); k++)                                                               \
            r.wide[k] = (__typeof__(r.wide[0]))fp_convert(&c->fp, &wide_fmt, &narrow_fmt,                    \
                                                          vn.narrow[(i->aux ? (count) : 0) + k]);            \
        c->v[i->rd] = r;                                                                                     \
        NEXT;                                                                                                \
    }
#define T_FCVTL(id, unused)                                                                                  \
    LENGTHEN(id, s, s, fp_single, h, fp_half, 4)                                                             \
    LENGTHEN(id, d, d, fp_double, s, fp_single, 2)                                                           \
    EXECS(id, id##_s, id##_d)

/* To numbers half as wide, into the half that aux picks. */
#define SHORTEN(id, suffix, wide, narrow, count, ...)                                                        \
    EXEC(id##_##suffix) {                                                                                    \
        SOURCES;                                                                                             \
        for (uint32_t k = 0; k < (i->imm ? 1 : (count)); k++) {                                              \
            uint64_t a = vn.wide[k];                                                                         \
            r.narrow[(i->aux ? (count) : 0) + k] = (__typeof__(r.narrow[0]))(__VA_ARGS__);                   \
        }                                                                                                    \
        if (i->aux)                                                                                          \
            r.d[0] = vd.d[0];                                                                                \
        c->v[i->rd] = r;                                                                                     \
        NEXT;                                                                                                \
    }
#define T_FCVTN(id, soft)                                                                                    \
    SHORTEN(id, s, s, h, 4, soft(&c->fp, &fp_half, &fp_single, a))                                           \
    SHORTEN(id, d, d, s, 2, soft(&c->fp, &fp_single, &fp_double, a))                                         \
    EXECS(id, id##_s, id##_d)
#define T_FCVTXN(id, unused)                                                                                 \
    SHORTEN(id, x, d, s, 2, fp_convert_odd(&c->fp, a))                                                       \
    EXECS(id, id##_x)

#define A64(id, name, encoding, form, arg, class, flags, template, ...) T_##template(id, __VA_ARGS__)
#include "cpu/a64_simdfp.def"
