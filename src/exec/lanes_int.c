/* Executors of integer operations that the table does not express: carries, comparisons, field insertion,
 * predicate logic. */
#include "exec/lanes_isa.h"
#include "isa/semantics.h"

/* ---- carries ---- */
static void exec_iaddc(struct lane_io *io) {
    const uint32_t *s0 = lane_src(io, 0), *s1 = lane_src(io, 1);
    uint32_t *d = lane_dst(io, 0);
    LANE_TEMP(uint32_t, in);
    LANE_TEMP(uint32_t, out);
    spread_mask(in, io->pin[0]);
    FOR_LANES {
        uint32_t a = s0[i], sum = a + s1[i], all = sum - in[i];
        out[i] = (sum < a ? 1u : 0u) | (all < sum ? 1u : 0u);
        d[i] = all;
    }
    io->pout[0] = pack_mask(out);
}

/* a + ~b + carry: a carry means no borrow, in and out. */
static void exec_isubc(struct lane_io *io) {
    const uint32_t *s0 = lane_src(io, 0), *s1 = lane_src(io, 1);
    uint32_t *d = lane_dst(io, 0);
    LANE_TEMP(uint32_t, in);
    LANE_TEMP(uint32_t, out);
    spread_mask(in, io->pin[0]);
    FOR_LANES {
        uint32_t a = s0[i], b = s1[i];
        out[i] = (a > b ? 1u : 0u) | (a == b ? in[i] & 1u : 0u);
        d[i] = a - b - 1 - in[i];
    }
    io->pout[0] = pack_mask(out);
}

/* ---- comparisons ---- */
struct relation {
    uint32_t lt, eq;
};

#if defined(__AVX512F__)
LANE_INLINE struct relation compare_words(const uint32_t *a, const uint32_t *b, const bool sgn) {
    struct relation r = {0, 0};
    for (unsigned k = 0; k < 2; k++) {
        __m512i x = _mm512_load_si512(a + 16 * k), y = _mm512_load_si512(b + 16 * k);
        uint32_t lt = sgn ? _mm512_cmplt_epi32_mask(x, y) : _mm512_cmplt_epu32_mask(x, y);
        r.lt |= lt << (16 * k);
        r.eq |= (uint32_t)_mm512_cmpeq_epi32_mask(x, y) << (16 * k);
    }
    return r;
}
#elif defined(__AVX2__)
LANE_INLINE uint32_t sign_mask8(__m256i v) {
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(v));
}

LANE_INLINE struct relation compare_words(const uint32_t *a, const uint32_t *b, const bool sgn) {
    const __m256i flip = _mm256_set1_epi32(sgn ? 0 : INT32_MIN);
    struct relation r = {0, 0};
    for (unsigned k = 0; k < 4; k++) {
        __m256i x = _mm256_load_si256((const __m256i *)(a + 8 * k));
        __m256i y = _mm256_load_si256((const __m256i *)(b + 8 * k));
        r.eq |= sign_mask8(_mm256_cmpeq_epi32(x, y)) << (8 * k);
        x = _mm256_xor_si256(x, flip);
        y = _mm256_xor_si256(y, flip);
        r.lt |= sign_mask8(_mm256_cmpgt_epi32(y, x)) << (8 * k);
    }
    return r;
}
#else
LANE_INLINE struct relation compare_words(const uint32_t *a, const uint32_t *b, const bool sgn) {
    struct relation r = {0, 0};
    for (unsigned i = 0; i < WARP_LANES; i++) {
        r.lt |= (uint32_t)(sgn ? (int32_t)a[i] < (int32_t)b[i] : a[i] < b[i]) << i;
        r.eq |= (uint32_t)(a[i] == b[i]) << i;
    }
    return r;
}
#endif

LANE_INLINE void isetp(struct lane_io *io, const bool sgn) {
    struct relation r = compare_words(lane_src(io, 0), lane_src(io, 1), sgn);
    compare_out(io, relation_mask(io->m->cmp, r.lt, r.eq, 0));
}

/* The upper half of a 64-bit comparison; where it is equal the lower half, in pin[1], decides. */
LANE_INLINE void isetpx(struct lane_io *io, const bool sgn) {
    struct relation r = compare_words(lane_src(io, 0), lane_src(io, 1), sgn);
    uint32_t outer = relation_mask(io->m->cmp & (CMP_LT | CMP_GT), r.lt, r.eq, 0);
    compare_out(io, outer | (r.eq & io->pin[1]));
}

static void exec_isetp_u(struct lane_io *io) {
    isetp(io, false);
}

static void exec_isetp_s(struct lane_io *io) {
    isetp(io, true);
}

static void exec_isetpx_u(struct lane_io *io) {
    isetpx(io, false);
}

static void exec_isetpx_s(struct lane_io *io) {
    isetpx(io, true);
}

/* ---- bit fields ---- */
static void exec_bfi(struct lane_io *io) {
    const uint32_t *a = lane_src(io, 0), *b = lane_src(io, 1), *c = lane_src(io, 2), *len = lane_src(io, 3);
    uint32_t *d = lane_dst(io, 0);
    FOR_LANES d[i] = op_bfi(a[i], b[i], c[i], len[i]);
}

static void exec_bfe64(struct lane_io *io) {
    const uint32_t *lo = lane_src(io, 0), *hi = lane_src(io, 1), *pos = lane_src(io, 2),
                   *len = lane_src(io, 3);
    uint32_t *d0 = lane_dst(io, 0), *d1 = lane_dst(io, 1);
    const bool sgn = io->m->sgn;
    FOR_LANES {
        uint64_t r = op_bfe64(pair64(lo[i], hi[i]), pos[i], len[i], sgn);
        d0[i] = (uint32_t)r;
        d1[i] = (uint32_t)(r >> 32);
    }
}

static void exec_bfi64(struct lane_io *io) {
    const uint32_t *a0 = lane_src(io, 0), *a1 = lane_src(io, 1), *b0 = lane_src(io, 2), *b1 = lane_src(io, 3);
    const uint32_t *pos = lane_src(io, 4), *len = lane_src(io, 5);
    uint32_t *d0 = lane_dst(io, 0), *d1 = lane_dst(io, 1);
    FOR_LANES {
        uint64_t r = op_bfi64(pair64(a0[i], a1[i]), pair64(b0[i], b1[i]), pos[i], len[i]);
        d0[i] = (uint32_t)r;
        d1[i] = (uint32_t)(r >> 32);
    }
}

static void exec_plop(struct lane_io *io) {
    io->pout[0] = combine_mask(io->m->bop, io->pin[0], io->pin[1]);
    io->pout[1] = ~io->pout[0];
}

/* ---- pickers ---- */
PICK(IADDC, exec_iaddc)
PICK(ISUBC, exec_isubc)
PICK(ISETP, m->sgn ? exec_isetp_s : exec_isetp_u)
PICK(ISETPX, m->sgn ? exec_isetpx_s : exec_isetpx_u)
PICK(BFI, exec_bfi)
PICK(BFE64, exec_bfe64)
PICK(BFI64, exec_bfi64)
PICK(PLOP, exec_plop)
