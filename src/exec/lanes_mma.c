/* The loops of matrix products: a row of the result, eight columns side by side. */
#include "exec/lanes_isa.h"
#include "exec/mma.h"

#define FOR_COLUMNS LANE_IVDEP for (unsigned j = 0; j < MMA_N; j++)

LANE_INLINE bool unpack_as(const uint32_t *v, uint32_t n, int32_t *sig, int32_t *exp, const unsigned ebits,
                           const unsigned mbits) {
    const uint32_t top = (1u << ebits) - 1, hidden = 1u << mbits;
    uint32_t any = 0;
    LANE_IVDEP for (uint32_t i = 0; i < n; i++) {
        uint32_t e = v[i] >> mbits & top, frac = v[i] & (hidden - 1), special = e == top;
        int32_t sign = -(int32_t)(v[i] >> (ebits + mbits) & 1);
        int32_t size = (int32_t)(special ? 0 : e ? frac | hidden : frac);
        sig[i] = (size ^ sign) - sign;
        exp[i] = size ? (int32_t)(e ? e : 1) - (int32_t)(top >> 1) : MMA_NO_EXP;
        any |= special;
    }
    return any;
}

static bool unpack(const uint32_t *v, uint32_t n, const struct mma_format *f, int32_t *sig, int32_t *exp) {
    if (f->mbits == 10 && f->ebits == 5)
        return unpack_as(v, n, sig, exp, 5, 10);
    if (f->mbits == 10)
        return unpack_as(v, n, sig, exp, 8, 10);
    if (f->mbits == 7)
        return unpack_as(v, n, sig, exp, 8, 7);
    return unpack_as(v, n, sig, exp, 8, 23);
}

static void fused(const struct mma_factors *f, uint32_t row, uint32_t first, uint32_t end, const int32_t *c,
                  const int32_t *c_exp, int64_t *sum, int32_t *top) {
    _Alignas(64) int32_t high[MMA_N];
    _Alignas(64) int64_t s[MMA_N];
    FOR_COLUMNS high[j] = c_exp[j];
    for (uint32_t k = first; k < end; k++) {
        const int32_t *b_exp = f->b_exp[f->row[row][k]];
        int32_t a_exp = f->a_exp[row][k];
        FOR_COLUMNS {
            int32_t e = a_exp + b_exp[j];
            high[j] = e > high[j] ? e : high[j];
        }
    }
    FOR_COLUMNS {
        int32_t down = high[j] - c_exp[j], v = c[j], sign = v >> 31;
        uint32_t size = (uint32_t)((v ^ sign) - sign) >> (down < 31 ? down : 31);
        s[j] = ((int32_t)size ^ sign) - sign;
    }
    for (uint32_t k = first; k < end; k++) {
        const int32_t *b = f->b[f->row[row][k]], *b_exp = f->b_exp[f->row[row][k]];
        int32_t a = f->a[row][k], a_exp = f->a_exp[row][k];
        FOR_COLUMNS {
            int32_t down = high[j] - a_exp - b_exp[j], v = a * b[j], sign = v >> 31;
            uint32_t size = (uint32_t)((v ^ sign) - sign) << f->up >> (down < 31 ? down : 31);
            s[j] += ((int32_t)size ^ sign) - sign;
        }
    }
    FOR_COLUMNS sum[j] = s[j];
    FOR_COLUMNS top[j] = high[j];
}

static void integer(const int32_t *a, const int32_t (*b)[MMA_N], const uint8_t *row, uint32_t n, int64_t *d) {
    _Alignas(64) int32_t s[MMA_N] = {0};
    for (uint32_t k = 0; k < n; k++)
        FOR_COLUMNS s[j] += a[k] * b[row[k]][j];
    FOR_COLUMNS d[j] += s[j];
}

static void chain(const double *a, const double (*b)[MMA_N], uint32_t n, double *d) {
    for (uint32_t k = 0; k < n; k++)
        FOR_COLUMNS d[j] = fma(a[k], b[k][j], d[j]);
}

extern const struct lane_matrix LANE_NAME(lane_matrix_set);
const struct lane_matrix LANE_NAME(lane_matrix_set) = {unpack, fused, integer, chain};
