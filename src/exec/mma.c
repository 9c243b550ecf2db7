/* Matrix products of a warp: from registers to matrices, products, and back. What is added in which order is
 * told in mma.h; here is where each element lies. */
#include "exec/mma.h"

#include <math.h>
#include <string.h>

#include "exec/convert.h"
#include "exec/warp.h"

enum { HALF = 8 }; /* rows of A that lie in one register */

/* One product on its way. */
struct mma {
    const struct exec *x;
    const struct warp *w;
    const struct xinst *i;
    const struct imods *m;
    uint32_t rows, k; /* of A as it is stored: half of all columns where it is sparse */
    uint32_t bits;    /* of an element of A and B */
};

static const uint32_t *word(const struct mma *p, uint32_t src, uint32_t n) {
    return src_lanes(p->x, p->w, p->i->s[p->i->first[src] + n]);
}

/* Bits of the elements of a source, row by row: of A where along is true, else of B, whose columns the
 * registers have. Lane 4 * l + t holds line l (a row modulo 8, or a column), and of it those elements that
 * start at t words; registers follow along the lines, and those of A's second eight rows after each of the
 * first. */
static void gather(const struct mma *p, uint32_t src, uint32_t lines, uint32_t n, bool along, uint32_t width,
                   uint32_t *out) {
    uint32_t per = 32 / p->bits, halves = lines / HALF,
             mask = p->bits == 32 ? UINT32_MAX : (1u << p->bits) - 1;
    for (uint32_t part = 0; part < n / (4 * per); part++)
        for (uint32_t h = 0; h < halves; h++) {
            const uint32_t *v = word(p, src, part * halves + h);
            for (uint32_t lane = 0; lane < WARP_LANES; lane++)
                for (uint32_t j = 0; j < per; j++) {
                    uint32_t line = h * HALF + lane / 4, at = (part * 4 + lane % 4) * per + j;
                    out[along ? line * width + at : at * width + line] = v[lane] >> j * p->bits & mask;
                }
        }
}

static void gather_a(const struct mma *p, uint32_t width, uint32_t *out) {
    gather(p, 0, p->rows, p->k, true, width, out);
}

static void gather_b(const struct mma *p, uint32_t *out) {
    gather(p, 1, MMA_N, mma_k(p->m->mode), false, MMA_N, out);
}

/* The same of doubles, which take two registers each. */
static double wide_element(const struct mma *p, uint32_t src, uint32_t line, uint32_t n, uint32_t first,
                           uint32_t step) {
    uint32_t at = 2 * (first + n / 4 * step), lane = line * 4 + n % 4;
    uint64_t v = word(p, src, at)[lane] | (uint64_t)word(p, src, at + 1)[lane] << 32;
    double d;
    memcpy(&d, &v, sizeof d);
    return d;
}

/* ---- sparsity ---- */

/* The four bits of metadata of a group of a row: two indices of two bits. Lane 4 * r + t has those of rows r
 * and r + 8; the groups of a row are spread over as many t as it takes, from the selector on. */
static uint32_t metadata(const struct mma *p, uint32_t row, uint32_t group, uint32_t groups) {
    const uint32_t *e = word(p, 3, 0);
    uint32_t select = mma_selector(p->m->mode), lane = row % HALF * 4;
    if (groups == 4)
        return e[lane + select] >> (row / HALF * 16 + group * 4) & 15;
    if (groups == 8 && p->bits > 8)
        return e[lane + 2 * select + group / 4] >> (row / HALF * 16 + group % 4 * 4) & 15;
    if (groups == 8)
        return e[lane + 2 * select + row / HALF] >> group * 4 & 15;
    return e[lane + 2 * (group / 8) + row / HALF] >> group % 8 * 4 & 15;
}

/* The row of B that stored column k of a row of A meets. */
static uint32_t row_of_b(const struct mma *p, uint32_t row, uint32_t k) {
    if (!(p->m->mode & MMA_SPARSE))
        return k;
    uint32_t per = p->bits == 32 ? 1 : p->bits == 4 ? 4 : 2; /* elements of a group that are stored */
    uint32_t group = k / per, meta = metadata(p, row, group, p->k / per);
    if (per == 1)
        return 2 * k + (meta >> 1 & 1);
    if (per == 2)
        return 4 * group + (meta >> 2 * (k % 2) & 3);
    return 8 * group + 2 * (meta >> 2 * (k % 4 / 2) & 3) + k % 2;
}

/* ---- floating point ---- */

static const struct mma_format f16 = {5, 10}, bf16 = {8, 7}, tf32 = {8, 10}, f32 = {8, 23};

/* A number's kind, where that is not all. */
struct kind {
    bool nan, inf, zero, minus;
};

static struct kind kind_of(uint32_t v, const struct mma_format *f) {
    uint32_t sign = 1u << (f->ebits + f->mbits), inf = ((1u << f->ebits) - 1) << f->mbits,
             size = v & (sign - 1);
    return (struct kind){.nan = size > inf, .inf = size == inf, .zero = !size, .minus = v & sign};
}

static const struct mma_format *format_of(enum mtype t) {
    return t == MT_BF16 ? &bf16 : t == MT_TF32 ? &tf32 : &f16;
}

/* Numbers of eight bits as f16. */
static uint16_t halves_of[2][256];

__attribute__((constructor)) static void fill_halves(void) {
    static const struct imods widen[] = {{.dtype = MT_F16X2, .stype = MT_E4M3X2},
                                         {.dtype = MT_F16X2, .stype = MT_E5M2X2}};
    for (uint32_t t = 0; t < 2; t++)
        for (uint32_t v = 0; v < 256; v++)
            halves_of[t][v] = (uint16_t)convert_value(&widen[t], v);
}

/* What is multiplied: tf32 has no more than 19 bits, and numbers of eight bits become f16 first. */
static void narrow(uint32_t *v, uint32_t n, enum mtype t) {
    for (uint32_t i = 0; i < n && t == MT_TF32; i++)
        v[i] >>= 13;
    for (uint32_t i = 0; i < n && (t == MT_E4M3 || t == MT_E5M2); i++)
        v[i] = halves_of[t == MT_E5M2][v[i]];
}

/* Factors, their bits, and whether infinities or NaNs are among them. */
struct float_mma {
    struct mma_factors f;
    const struct mma_format *fa, *fb;
    bool special_a, special_b;
    uint32_t a[MMA_MAX_M][MMA_TERMS], b[MMA_TERMS][MMA_N];
};

/* Elements of eight bits: sm_90 has no such products, and its compiler adds those of the lower halves of all
 * words, then those of the upper ones, then the accumulator. Where stored column k of A goes in that order.
 */
static uint32_t place_of(const struct mma *p, uint32_t k) {
    return p->bits == 8 ? k / 4 * 2 + k % 2 + (k % 4 / 2) * (p->k / 2) : k;
}

static void unpack_floats(const struct mma *p, struct float_mma *q) {
    uint32_t bits[MMA_MAX_M * MMA_TERMS], all = mma_k(p->m->mode);
    q->fa = format_of(p->m->stype);
    q->fb = format_of(p->m->lut);
    q->f.up = (uint32_t)(MMA_FRACTION - q->fa->mbits - q->fb->mbits);
    q->special_a = false;
    gather_a(p, p->k, bits);
    narrow(bits, p->rows * p->k, p->m->stype);
    for (uint32_t r = 0; r < p->rows; r++) {
        for (uint32_t k = 0; k < p->k; k++) {
            q->a[r][place_of(p, k)] = bits[r * p->k + k];
            q->f.row[r][place_of(p, k)] = (uint8_t)row_of_b(p, r, k);
        }
        q->special_a |= lane_matrix.unpack(q->a[r], p->k, q->fa, q->f.a[r], q->f.a_exp[r]);
    }
    gather_b(p, q->b[0]);
    narrow(q->b[0], all * MMA_N, p->m->lut);
    q->special_b = lane_matrix.unpack(q->b[0], all * MMA_N, q->fb, q->f.b[0], q->f.b_exp[0]);
}

/* A sum in units of 2^unit as f32, cut off, or as f16, rounded to the nearest. */
static uint32_t round_sum(int64_t sum, int32_t unit, const struct mma_format *f, bool nearest) {
    if (!sum)
        return 0;
    uint64_t size = (uint64_t)(sum < 0 ? -sum : sum);
    uint32_t sign = (uint32_t)(sum < 0) << (f->ebits + f->mbits);
    int32_t bias = (1 << (f->ebits - 1)) - 1, exp = 63 - __builtin_clzll(size) + unit;
    int32_t least = exp < 1 - bias ? 1 - bias : exp;
    int32_t down = least - f->mbits - unit; /* bits that go */
    uint64_t kept = down > 63 ? 0 : down > 0 ? size >> down : size << -down;
    if (nearest && down > 0 && down < 63) {
        uint64_t gone = size & ((UINT64_C(1) << down) - 1), half = UINT64_C(1) << (down - 1);
        kept += gone > half || (gone == half && kept & 1);
    }
    if (!kept)
        return 0;
    /* A significand that rounding carried, or a subnormal number that became normal, runs over into the
     * exponent. */
    uint64_t field = kept >> f->mbits ? (uint64_t)(least + bias - 1) : 0;
    uint64_t v = (field << f->mbits) + kept;
    uint64_t infinity = ((UINT64_C(1) << f->ebits) - 1) << f->mbits;
    return sign | (uint32_t)(v > infinity ? infinity : v);
}

/* What infinities and NaNs among the terms make of a sum; false: there are none. */
static bool special_sum(const struct float_mma *q, uint32_t row, uint32_t column, uint32_t first,
                        uint32_t end, struct kind c, bool half, uint32_t *v) {
    bool nan = c.nan, plus = c.inf && !c.minus, minus = c.inf && c.minus;
    for (uint32_t k = first; k < end; k++) {
        struct kind a = kind_of(q->a[row][k], q->fa), b = kind_of(q->b[q->f.row[row][k]][column], q->fb);
        if (a.nan || b.nan || (a.inf && b.zero) || (b.inf && a.zero))
            nan = true;
        else if (a.inf || b.inf)
            *(a.minus != b.minus ? &minus : &plus) = true;
    }
    if (!nan && !plus && !minus)
        return false;
    uint32_t infinity = half ? 0x7c00 : 0x7f800000u, sign = half ? 0x8000 : 0x80000000u;
    *v = nan || (plus && minus) ? half ? MMA_NAN >> 16 : MMA_NAN : minus ? infinity | sign : infinity;
    return true;
}

/* Adds products [first, end) to a row of accumulators. */
static void fused_row(const struct float_mma *q, uint32_t row, uint32_t first, uint32_t end, bool half,
                      uint32_t *d) {
    const struct mma_format *f = half ? &f16 : &f32;
    _Alignas(64) int32_t sig[MMA_N], exp[MMA_N], top[MMA_N];
    _Alignas(64) int64_t sum[MMA_N];
    bool special = lane_matrix.unpack(d, MMA_N, f, sig, exp) || q->special_a || q->special_b;
    for (uint32_t j = 0; j < MMA_N; j++)
        sig[j] *= 1 << (MMA_FRACTION - f->mbits);
    lane_matrix.fused(&q->f, row, first, end, sig, exp, sum, top);
    for (uint32_t j = 0; j < MMA_N; j++)
        if (!special || !special_sum(q, row, j, first, end, kind_of(d[j], f), half, &d[j]))
            d[j] = round_sum(sum[j], top[j] - MMA_FRACTION, f, half);
}

/* c + d, rounded to the nearest as f32 or f16. */
static uint32_t add_rounded(uint32_t c, uint32_t d, bool half) {
    static const struct imods widen = {.dtype = MT_F32, .stype = MT_F16},
                              narrow = {.dtype = MT_F16, .stype = MT_F32};
    uint32_t v[2] = {c, d};
    float x[2];
    for (int k = 0; k < 2 && half; k++)
        v[k] = (uint32_t)convert_value(&widen, v[k]);
    memcpy(x, v, sizeof x);
    float sum = x[0] + x[1];
    memcpy(v, &sum, sizeof sum);
    if (isnan(sum))
        return half ? MMA_NAN >> 16 : MMA_NAN;
    return half ? (uint32_t)convert_value(&narrow, v[0]) & 0xffff : v[0];
}

static void multiply_floats(const struct mma *p, uint32_t d[MMA_MAX_M][MMA_N]) {
    struct float_mma q;
    bool half = p->m->dtype == MT_F16;
    unpack_floats(p, &q);
    if (p->bits > 8) {
        for (uint32_t r = 0; r < p->rows; r++)
            fused_row(&q, r, 0, p->k, half, d[r]);
        return;
    }
    for (uint32_t r = 0; r < p->rows; r++) {
        uint32_t sum[MMA_N] = {0};
        fused_row(&q, r, 0, p->k / 2, half, sum);
        fused_row(&q, r, p->k / 2, p->k, half, sum);
        for (uint32_t j = 0; j < MMA_N; j++)
            d[r][j] = add_rounded(d[r][j], sum[j], half);
    }
}

/* ---- doubles ---- */

/* Which NaN comes out where one does: that of the factor from B before that of the sum, and that one before
 * the factor's from A; without any among them the usual one. */
static uint64_t chain_nan(const double *a, const double (*b)[MMA_N], uint32_t n, uint32_t column, double c) {
    const uint64_t quiet = UINT64_C(1) << 51, made = UINT64_C(0xfff8000000000000);
    uint64_t v = made;
    for (uint32_t k = 0; k < n; k++) {
        double from = isnan(b[k][column]) ? b[k][column] : isnan(c) ? c : a[k];
        double next = fma(a[k], b[k][column], c);
        memcpy(&v, isnan(from) ? &from : &next, sizeof v);
        v = isnan(from) ? v | quiet : isnan(next) ? made : v;
        memcpy(&c, &v, sizeof c);
    }
    return v;
}

static void multiply_doubles(const struct mma *p, uint64_t d[MMA_MAX_M][MMA_N]) {
    double b[MMA_MAX_M][MMA_N], a[MMA_MAX_M], sum[MMA_N];
    for (uint32_t k = 0; k < p->k; k++)
        for (uint32_t j = 0; j < MMA_N; j++)
            b[k][j] = wide_element(p, 1, j, k, 0, 1);
    lane_set_rounding(p->m->rnd);
    for (uint32_t r = 0; r < p->rows; r++) {
        for (uint32_t k = 0; k < p->k; k++)
            a[k] = wide_element(p, 0, r % HALF, k, r / HALF, p->rows / HALF);
        double c[MMA_N];
        memcpy(c, d[r], sizeof c);
        memcpy(sum, c, sizeof sum);
        lane_matrix.chain(a, b, p->k, sum);
        memcpy(d[r], sum, sizeof sum);
        for (uint32_t j = 0; j < MMA_N; j++)
            if (isnan(sum[j]))
                d[r][j] = chain_nan(a, b, p->k, j, c[j]);
    }
    lane_set_rounding(RND_RN);
}

/* ---- integers ---- */

/* Brings elements to 32 bits, by their sign if they have one. */
static void extend(uint32_t *v, uint32_t n, enum mtype t) {
    uint32_t sign = t == MT_S8 ? 0x80 : t == MT_S4 ? 8 : 0;
    for (uint32_t i = 0; i < n; i++)
        v[i] = (v[i] ^ sign) - sign;
}

enum { MAX_INTEGERS = 128 }; /* elements of a row of integers */

static void multiply_integers(const struct mma *p, uint32_t d[MMA_MAX_M][MMA_N]) {
    _Alignas(64) uint32_t a[MMA_MAX_M][MAX_INTEGERS], b[MAX_INTEGERS][MMA_N];
    uint8_t row[MAX_INTEGERS];
    gather_a(p, MAX_INTEGERS, a[0]);
    gather_b(p, b[0]);
    extend(b[0], mma_k(p->m->mode) * MMA_N, p->m->lut);
    for (uint32_t r = 0; r < p->rows; r++) {
        int64_t sum[MMA_N];
        extend(a[r], p->k, p->m->stype);
        for (uint32_t k = 0; k < p->k; k++)
            row[k] = (uint8_t)row_of_b(p, r, k);
        for (uint32_t j = 0; j < MMA_N; j++)
            sum[j] = (int32_t)d[r][j];
        lane_matrix.integer((const int32_t *)a[r], (const int32_t(*)[MMA_N])b, row, p->k, sum);
        for (uint32_t j = 0; j < MMA_N; j++) {
            int64_t s = sum[j];
            if (p->m->sat)
                s = s > INT32_MAX ? INT32_MAX : s < INT32_MIN ? INT32_MIN : s;
            d[r][j] = (uint32_t)s;
        }
    }
}

/* Bits: a word of A and one of B hold the same columns, wherever those are. */
static void multiply_bits(const struct mma *p, uint32_t d[MMA_MAX_M][MMA_N]) {
    uint32_t parts = p->k / 128;
    for (uint32_t r = 0; r < p->rows; r++)
        for (uint32_t j = 0; j < MMA_N; j++)
            for (uint32_t n = 0; n < 4 * parts; n++) {
                uint32_t a = word(p, 0, r / HALF + n / 4 * (p->rows / HALF))[r % HALF * 4 + n % 4];
                uint32_t b = word(p, 1, n / 4)[j * 4 + n % 4];
                d[r][j] += (uint32_t)__builtin_popcount(p->m->mode & MMA_AND ? a & b : a ^ b);
            }
}

/* ---- accumulators ---- */

/* Lane 4 * r + t holds columns 2 * t and 2 * t + 1 of row r, then of row r + 8. */
static void load_sums(const struct mma *p, uint32_t d[MMA_MAX_M][MMA_N], uint64_t wide[MMA_MAX_M][MMA_N]) {
    for (uint32_t r = 0; r < p->rows; r++)
        for (uint32_t j = 0; j < MMA_N; j++) {
            uint32_t lane = r % HALF * 4 + j / 2, n = r / HALF * 2 + j % 2;
            if (p->m->dtype == MT_F64)
                wide[r][j] = word(p, 2, 2 * n)[lane] | (uint64_t)word(p, 2, 2 * n + 1)[lane] << 32;
            else if (p->m->dtype == MT_F16)
                d[r][j] = word(p, 2, n / 2)[lane] >> 16 * (n % 2) & 0xffff;
            else
                d[r][j] = word(p, 2, n)[lane];
        }
}

static void store_sums(const struct mma *p, struct warp *w, uint32_t m, uint32_t d[MMA_MAX_M][MMA_N],
                       uint64_t wide[MMA_MAX_M][MMA_N]) {
    _Alignas(64) uint32_t v[8][WARP_LANES] = {{0}};
    for (uint32_t r = 0; r < p->rows; r++)
        for (uint32_t j = 0; j < MMA_N; j++) {
            uint32_t lane = r % HALF * 4 + j / 2, n = r / HALF * 2 + j % 2;
            if (p->m->dtype == MT_F64) {
                v[2 * n][lane] = (uint32_t)wide[r][j];
                v[2 * n + 1][lane] = (uint32_t)(wide[r][j] >> 32);
            } else if (p->m->dtype == MT_F16) {
                v[n / 2][lane] |= d[r][j] << 16 * (n % 2);
            } else {
                v[n][lane] = d[r][j];
            }
        }
    for (uint32_t n = 0; n < p->i->ndw; n++)
        lane_blend(w->r[p->i->d + n], v[n], m);
}

static bool run_mma(struct exec *x, struct warp *w, const struct xinst *i, uint32_t m) {
    uint32_t d[MMA_MAX_M][MMA_N];
    uint64_t wide[MMA_MAX_M][MMA_N];
    const struct imods *q = &i->in->m;
    struct mma p = {.x = x,
                    .w = w,
                    .i = i,
                    .m = q,
                    .rows = mma_m(q->mode),
                    .k = mma_k(q->mode) / (q->mode & MMA_SPARSE ? 2 : 1),
                    .bits = mma_bits(q->stype)};
    load_sums(&p, d, wide);
    if (q->dtype == MT_F64)
        multiply_doubles(&p, wide);
    else if (q->stype == MT_B1)
        multiply_bits(&p, d);
    else if (q->dtype == MT_S32)
        multiply_integers(&p, d);
    else
        multiply_floats(&p, d);
    store_sums(&p, w, m, d, wide);
    return true;
}

/* ---- Volta's shape ---- */

/* Four products of 8 by 8 by 4, each of the eight lanes with the same l % 16 / 4. Later GPUs compute them
 * with multiply-adds of f32: to f32 one after the other, the accumulator last; to f16 two pairs, after the
 * accumulator. */
static float sum884(const float a[4], const float b[4], float c, bool half) {
    if (half)
        return (c + fmaf(a[1], b[1], a[0] * b[0])) + fmaf(a[3], b[3], a[2] * b[2]);
    float s = 0;
    for (int k = 0; k < 4; k++)
        s = fmaf(a[k], b[k], s);
    return c + s;
}

static float half_to_float(uint32_t v) {
    static const struct imods widen = {.dtype = MT_F32, .stype = MT_F16};
    uint32_t bits = (uint32_t)convert_value(&widen, v & 0xffff);
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* Row and column of element n of a lane's accumulators. */
static void place884(uint32_t lane, uint32_t n, bool half, uint32_t *row, uint32_t *column) {
    uint32_t low = lane / 16 * 4;
    *row = low + (half ? lane % 4 : (lane & 1) + (n & 2));
    *column = half ? n : (n & 4) + (lane & 2) + (n & 1);
}

/* Element k of row (A) or column (B) n: its own lane's, or, stored the other way round, that of lane k. */
static float factor884(const struct mma *p, uint32_t src, uint32_t quad, uint32_t n, uint32_t k, bool along) {
    uint32_t lane = quad * 4 + n / 4 * 16 + (along ? n % 4 : k), at = along ? k : n % 4;
    return half_to_float(word(p, src, at / 2)[lane] >> 16 * (at % 2));
}

/* The accumulator at a row and a column, which other lanes hold where it is narrower than the result. */
static float addend884(const struct mma *p, uint32_t quad, uint32_t row, uint32_t column) {
    uint32_t lane = quad * 4 + row / 4 * 16, bits;
    if (p->m->lut == MT_F16)
        return half_to_float(word(p, 2, column / 2)[lane + row % 4] >> 16 * (column % 2));
    float c;
    bits = word(p, 2, (row & 2) | (column & 5))[lane + (row & 1) + (column & 2)];
    memcpy(&c, &bits, sizeof c);
    return c;
}

static bool run_mma884(struct exec *x, struct warp *w, const struct xinst *i, uint32_t m) {
    static const struct imods narrow = {.dtype = MT_F16, .stype = MT_F32};
    const struct imods *q = &i->in->m;
    struct mma p = {.x = x, .w = w, .i = i, .m = q};
    bool half = q->dtype == MT_F16;
    _Alignas(64) uint32_t v[8][WARP_LANES] = {{0}};
    for (uint32_t l = 0; l < WARP_LANES; l++)
        for (uint32_t n = 0; n < 8; n++) {
            uint32_t row, column, bits;
            float a[4], b[4], c, sum;
            place884(l, n, half, &row, &column);
            c = addend884(&p, l % 16 / 4, row, column);
            for (uint32_t k = 0; k < 4; k++) {
                a[k] = factor884(&p, 0, l % 16 / 4, row, k, !(q->mode & MMA_A_COL));
                b[k] = factor884(&p, 1, l % 16 / 4, column, k, !(q->mode & MMA_B_ROW));
            }
            sum = sum884(a, b, c, half);
            memcpy(&bits, &sum, sizeof bits);
            if (isnan(sum))
                bits = MMA_NAN;
            if (half)
                v[n / 2][l] |= ((uint32_t)convert_value(&narrow, bits) & 0xffff) << 16 * (n % 2);
            else
                v[n][l] = bits;
        }
    for (uint32_t n = 0; n < i->ndw; n++)
        lane_blend(w->r[i->d + n], v[n], m);
    return true;
}

bool exec_mma(struct exec *x, struct warp *w, const struct xinst *i, uint32_t m) {
    return i->in->op == OP_MMA ? run_mma(x, w, i, m) : run_mma884(x, w, i, m);
}
