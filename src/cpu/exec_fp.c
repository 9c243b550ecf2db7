/* Executors of a64_fp.def. Writing a scalar clears the rest of its vector register. */
#include "cpu/exec_fp.h"

/* ---- arithmetic: variant 3f ---- */

#define HOST(id, suffix, T, ftype, make, bits, odd, fmt, decls, host, soft)                                  \
    EXEC(id##_##suffix) {                                                                                    \
        decls(T, ftype, make);                                                                               \
        T r = bits(host);                                                                                    \
        if (unlikely(odd(c, r)) && very_##odd(c, r))                                                         \
            r = (T)soft;                                                                                     \
        c->v[i->rd].q = r;                                                                                   \
        NEXT;                                                                                                \
    }
#define HOST_BOTH(id, decls, host, soft_s, soft_d)                                                           \
    HOST(id, s, uint32_t, float, float_of, bits_of_float, odd32, fp_single, decls, host, soft_s)             \
    HOST(id, d, uint64_t, double, double_of, bits_of_double, odd64, fp_double, decls, host, soft_d)          \
    EXECS(id, id##_s, NULL, NULL, id##_d)

#define READ(T, reg) ((T)c->v[i->reg].d[0])
#define DECLS1(T, ftype, make)                                                                               \
    T ra = READ(T, rn);                                                                                      \
    ftype a = make(ra)
#define DECLS2(T, ftype, make)                                                                               \
    DECLS1(T, ftype, make);                                                                                  \
    T rb = READ(T, rm);                                                                                      \
    ftype b = make(rb)
#define DECLS3(T, ftype, make)                                                                               \
    DECLS2(T, ftype, make);                                                                                  \
    T rd = READ(T, ra);                                                                                      \
    ftype d = make(rd)
#define T_F1(id, host, soft)                                                                                 \
    HOST_BOTH(id, DECLS1, host, soft(&c->fp, &fp_single, ra), soft(&c->fp, &fp_double, ra))
#define T_F2(id, host, soft)                                                                                 \
    HOST_BOTH(id, DECLS2, host, soft(&c->fp, &fp_single, ra, rb), soft(&c->fp, &fp_double, ra, rb))
#define T_F3(id, host, soft)                                                                                 \
    HOST_BOTH(id, DECLS3, host, soft(&c->fp, &fp_single, ra, rb, rd), soft(&c->fp, &fp_double, ra, rb, rd))

/* Bits, and functions that are only in software. */
#define BITS(id, suffix, type, ...)                                                                          \
    EXEC(id##_##suffix) {                                                                                    \
        typedef type T;                                                                                      \
        T a = READ(T, rn);                                                                                   \
        c->v[i->rd].q = (T)(__VA_ARGS__);                                                                    \
        NEXT;                                                                                                \
    }
#define T_B1(id, ...)                                                                                        \
    BITS(id, s, uint32_t, __VA_ARGS__)                                                                       \
    BITS(id, d, uint64_t, __VA_ARGS__)                                                                       \
    EXECS(id, id##_s, NULL, NULL, id##_d)
#define BITS2(id, suffix, type, ...)                                                                         \
    EXEC(id##_##suffix) {                                                                                    \
        typedef type T;                                                                                      \
        T a = READ(T, rn), b = READ(T, rm);                                                                  \
        c->v[i->rd].q = (T)(__VA_ARGS__);                                                                    \
        NEXT;                                                                                                \
    }
#define T_B2(id, ...)                                                                                        \
    BITS2(id, s, uint32_t, __VA_ARGS__)                                                                      \
    BITS2(id, d, uint64_t, __VA_ARGS__)                                                                      \
    EXECS(id, id##_s, NULL, NULL, id##_d)
#define T_S1(id, soft)                                                                                       \
    BITS(id, s, uint32_t, soft(&c->fp, &fp_single, a))                                                       \
    BITS(id, d, uint64_t, soft(&c->fp, &fp_double, a))                                                       \
    EXECS(id, id##_s, NULL, NULL, id##_d)
#define T_S2(id, soft)                                                                                       \
    BITS2(id, s, uint32_t, soft(&c->fp, &fp_single, a, b))                                                   \
    BITS2(id, d, uint64_t, soft(&c->fp, &fp_double, a, b))                                                   \
    EXECS(id, id##_s, NULL, NULL, id##_d)
#define T_FMOV_I(id, unused)                                                                                 \
    EXEC(id##_x) {                                                                                           \
        c->v[i->rd].q = (uint64_t)i->imm;                                                                    \
        NEXT;                                                                                                \
    }                                                                                                        \
    EXECS(id, id##_x, NULL, NULL, id##_x)

/* ---- conversions ---- */

#define T_F_DS(id, unused)                                                                                   \
    EXEC(id##_x) {                                                                                           \
        uint32_t a = c->v[i->rn].s[0];                                                                       \
        uint64_t r = bits_of_double(float_of(a));                                                            \
        if (unlikely(odd64(c, r)) && very_odd64(c, r))                                                       \
            r = fp_convert(&c->fp, &fp_double, &fp_single, a);                                               \
        c->v[i->rd].q = r;                                                                                   \
        NEXT;                                                                                                \
    }                                                                                                        \
    EXECS(id, id##_x)
#define T_F_SD(id, unused)                                                                                   \
    EXEC(id##_x) {                                                                                           \
        uint64_t a = c->v[i->rn].d[0];                                                                       \
        uint32_t r = bits_of_float((float)double_of(a));                                                     \
        if (unlikely(odd32(c, r)) && very_odd32(c, r))                                                       \
            r = (uint32_t)fp_convert(&c->fp, &fp_single, &fp_double, a);                                     \
        c->v[i->rd].q = r;                                                                                   \
        NEXT;                                                                                                \
    }                                                                                                        \
    EXECS(id, id##_x)
#define T_F_CVT(id, to, to_format, from, from_format)                                                        \
    EXEC(id##_x) {                                                                                           \
        c->v[i->rd].q = fp_convert(&c->fp, to_format, from_format, c->v[i->rn].from[0]);                     \
        NEXT;                                                                                                \
    }                                                                                                        \
    EXECS(id, id##_x)

/* The host's conversion to signed integers, towards zero, where it is the architecture's: in the range, which
 * also excludes NaN. */
#define TO_INT(id, suffix, bits, T, ftype, make, itype, fmt, limit, mode, is_unsigned)                       \
    EXEC(id##_##suffix) {                                                                                    \
        T a = READ(T, rn);                                                                                   \
        ftype v = make(a);                                                                                   \
        if (mode == FP_RZ && !(is_unsigned) &&                                                               \
            likely(!i->aux && !c->fp_soft && v > -(limit) && v < (limit)))                                   \
            c->x[i->rd] = (itype)(int##bits##_t)v;                                                           \
        else                                                                                                 \
            c->x[i->rd] = (itype)fp_to_int(&c->fp, &fmt, a, i->aux, mode, is_unsigned, bits);                \
        NEXT;                                                                                                \
    }
#define T_TO_INT(id, mode, is_unsigned)                                                                      \
    TO_INT(id, ws, 32, uint32_t, float, float_of, uint32_t, fp_single, 0x1p31f, mode, is_unsigned)           \
    TO_INT(id, wd, 32, uint64_t, double, double_of, uint32_t, fp_double, 0x1p31, mode, is_unsigned)          \
    TO_INT(id, xs, 64, uint32_t, float, float_of, uint64_t, fp_single, 0x1p63f, mode, is_unsigned)           \
    TO_INT(id, xd, 64, uint64_t, double, double_of, uint64_t, fp_double, 0x1p63, mode, is_unsigned)          \
    EXECS(id, id##_ws, id##_wd, id##_xs, id##_xd)

#define FROM_INT(id, suffix, itype, wide, ftype, bits, fmt)                                                  \
    EXEC(id##_##suffix) {                                                                                    \
        itype v = (itype)c->x[i->rn];                                                                        \
        if (likely(!c->fp_soft))                                                                             \
            c->v[i->rd].q = bits((ftype)v);                                                                  \
        else                                                                                                 \
            c->v[i->rd].q = fp_from_int(&c->fp, &fmt, (uint64_t)(wide)v, 0, (itype)-1 > 0);                  \
        NEXT;                                                                                                \
    }
#define T_FROM_INT(id, kind)                                                                                 \
    FROM_INT(id, ws, kind##32_t, kind##64_t, float, bits_of_float, fp_single)                                \
    FROM_INT(id, wd, kind##32_t, kind##64_t, double, bits_of_double, fp_double)                              \
    FROM_INT(id, xs, kind##64_t, kind##64_t, float, bits_of_float, fp_single)                                \
    FROM_INT(id, xd, kind##64_t, kind##64_t, double, bits_of_double, fp_double)                              \
    EXECS(id, id##_ws, id##_wd, id##_xs, id##_xd)
#define FROM_FIXED(id, suffix, value, fmt, is_unsigned)                                                      \
    EXEC(id##_##suffix) {                                                                                    \
        c->v[i->rd].q = fp_from_int(&c->fp, &fmt, value, i->aux, is_unsigned);                               \
        NEXT;                                                                                                \
    }
#define FIXED_W(is_unsigned) ((is_unsigned) ? (uint32_t)c->x[i->rn] : (uint64_t)(int64_t)(int32_t)c->x[i->rn])
#define T_FROM_FIXED(id, is_unsigned)                                                                        \
    FROM_FIXED(id, ws, FIXED_W(is_unsigned), fp_single, is_unsigned)                                         \
    FROM_FIXED(id, wd, FIXED_W(is_unsigned), fp_double, is_unsigned)                                         \
    FROM_FIXED(id, xs, c->x[i->rn], fp_single, is_unsigned)                                                  \
    FROM_FIXED(id, xd, c->x[i->rn], fp_double, is_unsigned)                                                  \
    EXECS(id, id##_ws, id##_wd, id##_xs, id##_xd)
#define T_TO_GPR(id, ...)                                                                                    \
    EXEC(id##_x) {                                                                                           \
        c->x[i->rd] = __VA_ARGS__;                                                                           \
        NEXT;                                                                                                \
    }                                                                                                        \
    EXECS(id, id##_x)
#define T_FROM_GPR(id, low, high)                                                                            \
    EXEC(id##_x) {                                                                                           \
        c->v[i->rd].q = (u128)(high) << 64 | (low);                                                          \
        NEXT;                                                                                                \
    }                                                                                                        \
    EXECS(id, id##_x)

/* ---- comparisons ---- */

/* The flags of a comparison. A quiet one must not use the host's relational operators, which signal for every
 * NaN. */
#define COMPARE(T, ftype, make, fmt, x, y, signal)                                                           \
    ({                                                                                                       \
        T ca_ = (T)(x), cb_ = (T)(y);                                                                        \
        ftype fa_ = make(ca_), fb_ = make(cb_);                                                              \
        uint32_t flags_;                                                                                     \
        if (unlikely(c->fp_soft))                                                                            \
            flags_ = fp_compare(&c->fp, &fmt, ca_, cb_, signal);                                             \
        else if ((signal) ? fa_ < fb_ : __builtin_isless(fa_, fb_))                                          \
            flags_ = 8;                                                                                      \
        else if ((signal) ? fa_ > fb_ : __builtin_isgreater(fa_, fb_))                                       \
            flags_ = 2;                                                                                      \
        else                                                                                                 \
            flags_ = fa_ == fb_ ? 6 : 3;                                                                     \
        flags_;                                                                                              \
    })
#define T_FCMP(id, second, signal)                                                                           \
    EXEC(id##_s) {                                                                                           \
        union vreg b = second;                                                                               \
        c->nzcv = COMPARE(uint32_t, float, float_of, fp_single, c->v[i->rn].s[0], b.s[0], signal);           \
        NEXT;                                                                                                \
    }                                                                                                        \
    EXEC(id##_d) {                                                                                           \
        union vreg b = second;                                                                               \
        c->nzcv = COMPARE(uint64_t, double, double_of, fp_double, c->v[i->rn].d[0], b.d[0], signal);         \
        NEXT;                                                                                                \
    }                                                                                                        \
    EXECS(id, id##_s, NULL, NULL, id##_d)
#define FCCMP(id, suffix, T, ftype, make, fmt, signal)                                                       \
    EXEC(id##_##suffix) {                                                                                    \
        if (holds(c, i))                                                                                     \
            c->nzcv = COMPARE(T, ftype, make, fmt, READ(T, rn), READ(T, rm), signal);                        \
        else                                                                                                 \
            c->nzcv = i->ra;                                                                                 \
        NEXT;                                                                                                \
    }
#define T_FCCMP(id, signal)                                                                                  \
    FCCMP(id, s, uint32_t, float, float_of, fp_single, signal)                                               \
    FCCMP(id, d, uint64_t, double, double_of, fp_double, signal)                                             \
    EXECS(id, id##_s, NULL, NULL, id##_d)

#define A64(id, name, encoding, form, arg, class, flags, template, ...) T_##template(id, __VA_ARGS__)
#include "cpu/a64_fp.def"
