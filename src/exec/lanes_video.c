/* Executors of the scalar and SIMD video instructions.
 *
 * Current GPUs have no such instructions; the assembler expands them, and its expansions differ from what the
 * PTX ISA writes down where values overflow. What is here are those expansions' results, as seen on an H200:
 * unsigned saturation only stops at zero, multiplication and comparison go through signed words, merging into
 * .h1 takes the upper half. Lanes are computed one by one, in arithmetic wide enough not to overflow by
 * itself. */
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
    const unsigned lut = m->lut, shift = lut & VLUT_SHR7 ? 7 : lut & VLUT_SHR15 ? 15 : 0;
    bool sgn = lut & (VLUT_A_SIGNED | VLUT_B_SIGNED | VLUT_NEG_AB | VLUT_NEG_C);
    wide product = (wide)(int32_t)a * (int32_t)b, addend = (int32_t)c;
    if (lut & VLUT_NEG_AB)
        product = -product;
    if (lut & VLUT_NEG_C)
        addend = -addend;
    int64_t sum = (int64_t)(product + addend + (lut & VLUT_PO ? 1 : 0));
    wide scaled = sgn || !shift ? (wide)(sum >> shift) : (wide)((uint64_t)sum >> shift);
    return (uint32_t)(m->sat ? limit(scaled, 32, sgn) : scaled);
}

static bool is_shift(const struct imods *m) {
    return (m->mode & 15) == VID_SHL || (m->mode & 15) == VID_SHR;
}

static bool is_sum(const struct imods *m) {
    return (m->mode & 15) == VID_ADD || (m->mode & 15) == VID_SUB;
}

static wide video_saturate(const struct imods *m, wide t) {
    const unsigned dsel = m->mode >> 10 & 7;
    const bool sgn = m->lut & VLUT_D_SIGNED;
    if (is_shift(m)) {
        wide span = (wide)1 << 34; /* of what is left of a shifted word */
        t &= span - 1;
        return limit(t >> 33 ? t - span : t, 32, sgn);
    }
    bool mixed = !(m->lut & VLUT_A_SIGNED) != !(m->lut & VLUT_B_SIGNED);
    if (dsel != SEL_ALL)
        return limit(is_sum(m) && mixed ? (wide)(uint32_t)t : t, sel_bits(dsel), sgn);
    return sgn ? limit(t, 32, true) : t < 0 ? 0 : t;
}

/* Result t put into part dsel of c. */
static uint32_t video_merge(unsigned dsel, uint32_t t, uint32_t c) {
    uint32_t mask = (sel_bits(dsel) == 8 ? 0xffu : 0xffffu) << sel_shift(dsel);
    uint32_t placed = dsel == SEL_H1 ? t : t << sel_shift(dsel);
    return (c & ~mask) | (placed & mask);
}

static uint32_t video_secondary(const struct imods *m, wide t, uint32_t c) {
    const unsigned dsel = m->mode >> 10 & 7, op2 = m->mode >> 13 & 3;
    const unsigned any = m->lut & (VLUT_A_SIGNED | VLUT_B_SIGNED);
    const bool set = (m->mode & 15) == VID_SET, sgn = m->lut & (set ? VLUT_A_SIGNED : VLUT_D_SIGNED);
    if (m->sat)
        t = video_saturate(m, t);
    if (dsel != SEL_ALL)
        return video_merge(dsel, (uint32_t)t, c);
    if (op2 == VOP2_NONE || op2 == VOP2_ADD)
        return (uint32_t)t + (op2 == VOP2_ADD ? c : 0);
    if (is_sum(m))
        t = any ? (wide)(int32_t)t : (wide)(uint32_t)t;
    bool less = sgn ? t < (int32_t)c : (uint64_t)t < c;
    return less == (op2 == VOP2_MIN) ? (uint32_t)t : c;
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
