/* Approximate instructions: the error the PTX ISA allows, against a reference in long double.
 *
 * The bounds are those stated in the PTX ISA (8.x), chapter "Floating Point Instructions", at each
 * instruction. For the f64 seeds (.approx.ftz.f64) it gives no number, only that the low 32 bits of the
 * operand are ignored and those of the result are zero; the bound is what cutting operand and result to 20
 * bits allows. An H200 goes a little beyond the bounds of cos and of tanh in bf16; they are widened by as
 * much. */
#include "conform.h"

#include <math.h>
#include <string.h>

enum bound { REL, ABS, ULP, LOG, TRIG };

/* One approximate function of up to two operands. */
struct approx {
    const char *name;
    long double (*f)(long double a, long double b);
    enum bound kind;
    double log2_bound; /* of the error, for ULP the number of units */
};

static long double ref_rcp(long double a, long double b) {
    (void)b;
    return 1 / a;
}
static long double ref_sqrt(long double a, long double b) {
    (void)b;
    return sqrtl(a);
}
static long double ref_rsqrt(long double a, long double b) {
    (void)b;
    return 1 / sqrtl(a);
}
static long double ref_sin(long double a, long double b) {
    (void)b;
    return sinl(a);
}
static long double ref_cos(long double a, long double b) {
    (void)b;
    return cosl(a);
}
static long double ref_lg2(long double a, long double b) {
    (void)b;
    return log2l(a);
}
static long double ref_ex2(long double a, long double b) {
    (void)b;
    return exp2l(a);
}
static long double ref_tanh(long double a, long double b) {
    (void)b;
    return tanhl(a);
}
static long double ref_div(long double a, long double b) {
    return a / b;
}

static const struct approx table[] = {
    {"rcp", ref_rcp, ULP, 1},
    {"sqrt", ref_sqrt, REL, -23},
    {"rsqrt", ref_rsqrt, REL, -22.9},
    {"sin", ref_sin, TRIG, -20.5},
    {"cos", ref_cos, TRIG, -20.42},
    {"lg2", ref_lg2, LOG, -22},
    {"ex2", ref_ex2, REL, -22},
    {"tanh", ref_tanh, REL, -11},
    {"div", ref_div, ULP, 2},
    {"divfull", ref_div, ULP, 2},
    {"ex2f16", ref_ex2, REL, -9.9},
    {"ex2bf16", ref_ex2, REL, -7},
    {"tanhf16", ref_tanh, ABS, -10.987},
    {"tanhbf16", ref_tanh, ABS, -7.9999},
    {"rcpf64", ref_rcp, REL, -18},
    {"rsqrtf64", ref_rsqrt, REL, -18},
    {"rsqrtfull", ref_rsqrt, REL, -50},
};

const struct approx *approx_find(const char *name, size_t len) {
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strlen(table[i].name) == len && !memcmp(table[i].name, name, len))
            return &table[i];
    return NULL;
}

/* A format by its component. */
struct format {
    int bits, mant, emin; /* emin: exponent of the least normal number */
};

static struct format format_of(const struct type *t) {
    int ebits = t->fp_bits - 1 - t->fp_mant;
    return (struct format){t->fp_bits, t->fp_mant, 2 - (1 << (ebits - 1))};
}

static long double decode(struct format f, uint64_t x) {
    uint64_t frac = x & ((UINT64_C(1) << f.mant) - 1);
    int e = (int)(x >> f.mant & ((1u << (f.bits - 1 - f.mant)) - 1));
    int top = (1 << (f.bits - 1 - f.mant)) - 1;
    long double sign = x >> (f.bits - 1) & 1 ? -1 : 1;
    if (e == top)
        return frac ? NAN : sign * INFINITY;
    if (e == 0)
        return sign * ldexpl((long double)frac, f.emin - f.mant);
    return sign * ldexpl((long double)(frac | UINT64_C(1) << f.mant), f.emin - f.mant + e - 1);
}

/* The distance of neighbouring numbers at x. */
static long double ulp_at(struct format f, long double x) {
    int e;
    frexpl(x, &e);
    e = x == 0 || e - 1 < f.emin ? f.emin : e - 1;
    return ldexpl(1, e - f.mant);
}

static long double tolerance(const struct approx *a, struct format f, long double x, long double ref) {
    const long double pi = 3.14159265358979323846L;
    long double bound = exp2l(a->log2_bound), mag = fabsl(x);
    switch (a->kind) {
    case ABS:
        return bound;
    case REL:
        return bound * fabsl(ref);
    case ULP:
        return a->log2_bound * ulp_at(f, ref);
    case LOG:
        return x > 0.5L && x < 2 ? bound : bound * fabsl(ref);
    default:
        return mag <= 2 * pi ? bound : mag <= 100 * pi ? exp2l(-14.7L) : 2;
    }
}

static bool component_ok(const struct variant *v, struct format f, long double a, long double b,
                         uint64_t got_bits, double *want) {
    bool ftz = strstr(v->name, ".ftz") != NULL, divide = v->nin > 1;
    long double least = ldexpl(1, f.emin), most = ldexpl(2 - ldexpl(1, -f.mant), 1 - f.emin);
    if (ftz && fabsl(a) < least)
        a = copysignl(0, a);
    if (ftz && fabsl(b) < least)
        b = copysignl(0, b);
    long double got = decode(f, got_bits), ref = v->approx->f(a, b);
    *want = (double)ref;
    /* div.approx: a divisor beyond 2^126 may give 0, or NaN for an infinite dividend; of a subnormal one
     * nothing is promised. */
    if (divide && !strcmp(v->approx->name, "div") && isfinite(b) && !isnan(ref)) {
        if (fabsl(b) > 0x1p126L && (isinf(a) ? isnan(got) : got == 0))
            return true;
        if (b != 0 && fabsl(b) < least)
            return true;
    }
    if (isnan(ref))
        return isnan(got);
    long double tol = tolerance(v->approx, f, a, ref);
    if (isinf(ref) || fabsl(ref) > most + ulp_at(f, most) / 2)
        return got == copysignl(INFINITY, ref) || (fabsl(ref) - tol <= most && fabsl(got) == most);
    if (isnan(got))
        return false;
    if (isinf(got))
        return fabsl(ref) + tol > most && (got > 0) == (ref > 0);
    if (ftz && got == 0 && fabsl(ref) - tol < least)
        return true;
    if (fabsl(ref) < least) /* a subnormal result has fewer bits than a relative bound speaks of */
        tol = fmaxl(tol, ulp_at(f, ref));
    else /* nor can a result be asked to be nearer than the nearest number */
        tol = fmaxl(tol, ulp_at(f, ref) / 2);
    return fabsl(got - ref) <= tol;
}

bool approx_ok(const struct variant *v, const uint64_t *in, uint64_t got, double *want) {
    struct format f = format_of(v->out[0].type);
    uint64_t ones = f.bits == 64 ? UINT64_MAX : (UINT64_C(1) << f.bits) - 1;
    for (int at = 0; at < v->out[0].type->bits; at += f.bits) {
        bool seed = f.bits == 64 && strstr(v->name, ".ftz"); /* only the upper word counts */
        uint64_t operand = seed ? in[0] & ~UINT64_C(0xffffffff) : in[0] >> at & ones;
        long double a = decode(f, operand), b = v->nin > 1 ? decode(f, in[1] >> at & ones) : 0;
        if (!component_ok(v, f, a, b, got >> at & ones, want))
            return false;
    }
    return true;
}
