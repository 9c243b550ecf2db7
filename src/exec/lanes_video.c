/* Executors of the scalar and SIMD video instructions. Current GPUs run them as instruction sequences; here
 * they are computed lane by lane in arithmetic wide enough never to overflow. */
#include "exec/lanes_isa.h"

__extension__ typedef __int128 wide;

static wide clamp(wide v, wide low, wide high) {
    return v < low ? low : v > high ? high : v;
}

static unsigned sel_bits(unsigned sel) {
    return sel == SEL_ALL ? 32 : sel >= SEL_H0 ? 16 : 8;
}

static unsigned sel_shift(unsigned sel) {
    return sel == SEL_ALL ? 0 : sel >= SEL_H0 ? 16 * (sel - SEL_H0) : 8 * (sel - SEL_B0);
}

/* v, bits wide, as a number. */
static wide extend(uint32_t v, unsigned bits, bool sgn) {
    uint32_t top = v << (32 - bits);
    return sgn ? (wide)((int32_t)top >> (32 - bits)) : (wide)(top >> (32 - bits));
}

static wide limit(wide v, unsigned bits, bool sgn) {
    wide span = (wide)1 << bits;
    return sgn ? clamp(v, -(span >> 1), (span >> 1) - 1) : clamp(v, 0, span - 1);
}

static bool related(wide a, wide b, unsigned cmp) {
    return cmp & (a < b ? CMP_LT : a == b ? CMP_EQ : CMP_GT);
}

/* ---- scalar ---- */
static wide video_primary(const struct imods *m, wide a, wide b) {
    switch (m->mode & 15) {
    case VID_ADD:
        return a + b;
    case VID_SUB:
        return a - b;
    case VID_ABSDIFF:
        return a < b ? b - a : a - b;
    case VID_MIN:
        return a < b ? a : b;
    case VID_MAX:
        return a > b ? a : b;
    case VID_SHL:
    case VID_SHR: {
        unsigned by = (uint32_t)b;
        by = m->mode >> 15 ? by & 31 : by > 32 ? 32 : by;
        return (m->mode & 15) == VID_SHL ? a * ((wide)1 << by) : a >> by;
    }
    default:
        return related(a, b, m->cmp);
    }
}

static uint32_t video_mad(const struct imods *m, wide a, wide b, uint32_t c) {
    const unsigned lut = m->lut;
    bool sgn = lut & (VLUT_A_SIGNED | VLUT_B_SIGNED | VLUT_NEG_AB | VLUT_NEG_C);
    wide product = a * b, one = 0;
    if (lut & VLUT_PO) {
        one = 1;
    } else if (lut & VLUT_NEG_AB) {
        product = ~product;
        one = 1;
    } else if (lut & VLUT_NEG_C) {
        c = ~c;
        one = 1;
    }
    wide sum = product + extend(c, 32, sgn) + one;
    sum >>= lut & VLUT_SHR7 ? 7 : lut & VLUT_SHR15 ? 15 : 0;
    return (uint32_t)(m->sat ? limit(sum, 32, sgn) : sum);
}

static uint32_t video_secondary(const struct imods *m, wide primary, uint32_t c) {
    const unsigned dsel = m->mode >> 10 & 7, op2 = m->mode >> 13 & 3;
    const bool sgn = m->lut & VLUT_D_SIGNED;
    uint32_t t = (uint32_t)(m->sat ? limit(primary, sel_bits(dsel), sgn) : primary);
    if (dsel != SEL_ALL) {
        uint32_t mask = (sel_bits(dsel) == 8 ? 0xffu : 0xffffu) << sel_shift(dsel);
        return (c & ~mask) | (t << sel_shift(dsel) & mask);
    }
    bool less = sgn ? (int32_t)t < (int32_t)c : t < c;
    switch (op2) {
    case VOP2_ADD:
        return t + c;
    case VOP2_MIN:
        return less ? t : c;
    case VOP2_MAX:
        return less ? c : t;
    default:
        return t;
    }
}

static void exec_video(struct lane_io *io) {
    const struct imods *m = io->m;
    const unsigned asel = m->mode >> 4 & 7, bsel = m->mode >> 7 & 7;
    for (unsigned i = 0; i < WARP_LANES; i++) {
        wide a = extend(io->s[0][i] >> sel_shift(asel), sel_bits(asel), m->lut & VLUT_A_SIGNED);
        wide b = extend(io->s[1][i] >> sel_shift(bsel), sel_bits(bsel), m->lut & VLUT_B_SIGNED);
        uint32_t c = io->s[2][i];
        io->d[0][i] =
            (m->mode & 15) == VID_MAD ? video_mad(m, a, b, c) : video_secondary(m, video_primary(m, a, b), c);
    }
}
PICK(VIDEO, exec_video)

/* ---- SIMD ---- */
static int32_t simd_part(const struct imods *m, int32_t a, int32_t b) {
    switch (m->mode & 7) {
    case SIMD_ADD:
        return a + b;
    case SIMD_SUB:
        return a - b;
    case SIMD_AVRG:
        return (a + b + (a + b >= 0)) >> 1;
    case SIMD_ABSDIFF:
        return a < b ? b - a : a - b;
    case SIMD_MIN:
        return a < b ? a : b;
    case SIMD_MAX:
        return a > b ? a : b;
    default:
        return related(a, b, m->cmp);
    }
}

static uint32_t simd_word(const struct imods *m, uint32_t a, uint32_t b, uint32_t c) {
    const unsigned bits = m->mode & 8 ? 8 : 16, mask = m->mode >> 4 & 15;
    const bool add = m->mode >> 8 & 1;
    uint32_t ones = (1u << bits) - 1, d = c;
    for (unsigned at = 0, k = 0; at < 32; at += bits, k++) {
        if (!(mask >> k & 1))
            continue;
        int32_t x = (int32_t)extend(a >> at, bits, m->lut & VLUT_A_SIGNED);
        int32_t y = (int32_t)extend(b >> at, bits, m->lut & VLUT_B_SIGNED), t = simd_part(m, x, y);
        if (m->sat)
            t = (int32_t)limit(t, bits, m->lut & VLUT_D_SIGNED);
        if (m->relu && t < 0)
            t = 0;
        d = add ? d + (uint32_t)t : (d & ~(ones << at)) | ((uint32_t)t & ones) << at;
    }
    return d;
}

static void exec_simd2(struct lane_io *io) {
    for (unsigned i = 0; i < WARP_LANES; i++)
        io->d[0][i] = simd_word(io->m, io->s[0][i], io->s[1][i], io->s[2][i]);
}
PICK(SIMD2, exec_simd2)
