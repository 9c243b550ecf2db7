/* Floating point as the architecture defines it, on bits, without the host's floating-point unit.
 *
 * The executors use the host where it gives the same answer and come here for the rest: NaNs, results at the
 * edge of the subnormal numbers, modes the host does not have. Functions take and return the bits of numbers
 * of format f and gather exceptions in the environment; FP_ names of the modes and exceptions are the
 * architecture's. */
#ifndef REPRISE_CPU_SOFTFP_H
#define REPRISE_CPU_SOFTFP_H

#include <stdbool.h>
#include <stdint.h>

/* Rounding: the four modes of FPCR in its order, then ties away from zero and to odd. */
enum fp_round { FP_RN, FP_RP, FP_RM, FP_RZ, FP_RA, FP_RO };

enum { /* FPSR */
       FP_INVALID = 1,
       FP_DIV_ZERO = 2,
       FP_OVERFLOW = 4,
       FP_UNDERFLOW = 8,
       FP_INEXACT = 16,
       FP_INPUT_DENORMAL = 128,
       FP_SATURATED = 1 << 27,
};

enum { /* FPCR */
       FPCR_FZ = 1 << 24,
       FPCR_DN = 1 << 25,
       FPCR_AHP = 1 << 26,
       FPCR_MODE_SHIFT = 22,
};

struct fp_env {
    uint32_t fpcr, fpsr;
};

struct fp_format {
    uint8_t ebits, fbits; /* of the exponent and of the fraction */
};
extern const struct fp_format fp_half, fp_single, fp_double;

typedef uint64_t fp_unary(struct fp_env *e, const struct fp_format *f, uint64_t a);
typedef uint64_t fp_binary(struct fp_env *e, const struct fp_format *f, uint64_t a, uint64_t b);
/* a * b + d, with signs changed as the name says */
typedef uint64_t fp_ternary(struct fp_env *e, const struct fp_format *f, uint64_t a, uint64_t b, uint64_t d);

fp_binary fp_add, fp_sub, fp_mul, fp_nmul, fp_div, fp_abd, fp_mulx, fp_recps, fp_rsqrts;
fp_ternary fp_madd, fp_msub, fp_nmadd, fp_nmsub;
fp_unary fp_sqrt, fp_recpe, fp_rsqrte, fp_recpx;
fp_unary fp_rintn, fp_rintp, fp_rintm, fp_rintz, fp_rinta, fp_rintx, fp_rinti;
fp_binary fp_max, fp_min, fp_maxnm, fp_minnm;
/* All ones or zero. */
fp_binary fp_cmeq, fp_cmge, fp_cmgt, fp_acge, fp_acgt;
fp_unary fp_cmeq0, fp_cmge0, fp_cmgt0, fp_cmle0, fp_cmlt0;
/* The flags NZCV; signal: every NaN is invalid, not only signalling ones. */
uint32_t fp_compare(struct fp_env *e, const struct fp_format *f, uint64_t a, uint64_t b, bool signal);

/* From one format to another. */
uint64_t fp_convert(struct fp_env *e, const struct fp_format *to, const struct fp_format *from, uint64_t a);
/* To single from double, rounding to odd. */
uint64_t fp_convert_odd(struct fp_env *e, uint64_t a);
/* To an integer of bits bits with fraction of them behind the point; saturates. */
uint64_t fp_to_int(struct fp_env *e, const struct fp_format *f, uint64_t a, uint32_t fraction,
                   enum fp_round r, bool is_unsigned, uint32_t bits);
/* From an integer of 64 bits. */
uint64_t fp_from_int(struct fp_env *e, const struct fp_format *f, uint64_t v, uint32_t fraction,
                     bool is_unsigned);

/* Estimates for integers. */
uint32_t fp_recip_u32(uint32_t a);
uint32_t fp_rsqrt_u32(uint32_t a);

/* The mode that FPCR asks for. */
static inline enum fp_round fp_mode(const struct fp_env *e) {
    return (enum fp_round)(e->fpcr >> FPCR_MODE_SHIFT & 3);
}

#endif
