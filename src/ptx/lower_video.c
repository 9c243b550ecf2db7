/* Video instructions: scalar ones on selected bytes or halves, SIMD ones on two halves or four bytes. */
#include "ptx/lower.h"

#define T(i)   in_type(l, i)
#define U32(i) src_word(l, arg(l, i), PTX_U32, 0)

static const struct {
    uint16_t op;
    uint8_t video, simd, bytes;
} ops[] = {
    {PTXOP_VADD, VID_ADD, 0, 0},           {PTXOP_VSUB, VID_SUB, 0, 0},
    {PTXOP_VABSDIFF, VID_ABSDIFF, 0, 0},   {PTXOP_VMIN, VID_MIN, 0, 0},
    {PTXOP_VMAX, VID_MAX, 0, 0},           {PTXOP_VSHL, VID_SHL, 0, 0},
    {PTXOP_VSHR, VID_SHR, 0, 0},           {PTXOP_VMAD, VID_MAD, 0, 0},
    {PTXOP_VSET, VID_SET, 0, 0},           {PTXOP_VADD2, 0, SIMD_ADD, 0},
    {PTXOP_VSUB2, 0, SIMD_SUB, 0},         {PTXOP_VAVRG2, 0, SIMD_AVRG, 0},
    {PTXOP_VABSDIFF2, 0, SIMD_ABSDIFF, 0}, {PTXOP_VMIN2, 0, SIMD_MIN, 0},
    {PTXOP_VMAX2, 0, SIMD_MAX, 0},         {PTXOP_VSET2, 0, SIMD_SET, 0},
    {PTXOP_VADD4, 0, SIMD_ADD, 1},         {PTXOP_VSUB4, 0, SIMD_SUB, 1},
    {PTXOP_VAVRG4, 0, SIMD_AVRG, 1},       {PTXOP_VABSDIFF4, 0, SIMD_ABSDIFF, 1},
    {PTXOP_VMIN4, 0, SIMD_MIN, 1},         {PTXOP_VMAX4, 0, SIMD_MAX, 1},
    {PTXOP_VSET4, 0, SIMD_SET, 1},
};

static uint32_t row(struct lower *l) {
    uint32_t k = 0;
    while (ops[k].op != l->in->op)
        k++;
    return k;
}

/* .b0 .. .b3, .h0, .h1 or nothing. */
static uint32_t selector(struct lower *l, const struct ptx_opd *o) {
    if (!o->nsel)
        return SEL_ALL;
    if (o->nsel != 1)
        lower_refuse(l, "one byte or half may be selected here");
    return (o->sel_half ? SEL_H0 : SEL_B0) + (o->sel & 15u);
}

/* vset names two types (of a and b); the others dtype, atype, btype; vmad dtype and one type for each of a,
 * b. */
static uint32_t signs(struct lower *l) {
    bool set = l->in->ntypes == 2;
    uint32_t a = set ? 0 : 1, b = set ? 1 : 2;
    uint32_t s = 0;
    if (!set && type_is_signed(T(0)))
        s |= VLUT_D_SIGNED;
    if (type_is_signed(T(a)))
        s |= VLUT_A_SIGNED;
    if (type_is_signed(T(b < l->in->ntypes ? b : a)))
        s |= VLUT_B_SIGNED;
    return s;
}

static bool is_minus(const struct ptx_opd *o) {
    return o->kind == OPD_REG && o->neg;
}

void lower_video(struct lower *l) {
    uint32_t k = row(l);
    const struct ptx_opd *d = arg(l, 0), *a = arg(l, 1), *b = arg(l, 2);
    bool mad = ops[k].video == VID_MAD;
    uint32_t op2 = mad               ? VOP2_NONE
                   : has(l, MOD_ADD) ? VOP2_ADD
                   : has(l, MOD_MIN) ? VOP2_MIN
                   : has(l, MOD_MAX) ? VOP2_MAX
                                     : VOP2_NONE;
    struct inst i = mk(OP_VIDEO, dst_word(l, d, 0), U32(1), U32(2), l->in->nopds > 3 ? U32(3) : opd_rz());
    i.m.mode =
        VIDEO_MODE(ops[k].video, selector(l, a), selector(l, b), selector(l, d), op2, has(l, MOD_WRAP));
    i.m.lut = (uint8_t)signs(l);
    if (mad) {
        i.m.lut |= (uint8_t)((has(l, MOD_SHR7) ? VLUT_SHR7 : 0) | (has(l, MOD_SHR15) ? VLUT_SHR15 : 0) |
                             (has(l, MOD_PO) ? VLUT_PO : 0));
        i.m.lut |= (uint8_t)((is_minus(a) != is_minus(b) ? VLUT_NEG_AB : 0) |
                             (l->in->nopds > 3 && is_minus(arg(l, 3)) ? VLUT_NEG_C : 0));
    }
    i.m.sat = has(l, MOD_SAT);
    if (ops[k].video == VID_SET)
        i.m.cmp = (uint8_t)inst_cmp(l);
    emit(l, i);
}

/* Bytes or halves of a and b chosen by an operand's selector; the others are in their places already. */
static struct opd select_lanes(struct lower *l, const struct ptx_opd *o, struct opd a, struct opd b) {
    if (!o->nsel)
        return (struct opd){0};
    uint32_t sel = 0;
    for (uint32_t k = 0; k < o->nsel; k++) {
        uint32_t which = o->sel >> (4 * k) & 15u;
        sel |= o->sel_half ? (which * 2 | (which * 2 + 1) << 4) << (8 * k) : which << (4 * k);
    }
    struct opd t = opd_reg(tmp(l, 1), 0);
    emit3(l, OP_PRMT, t, a, b, opd_imm(sel));
    return t;
}

void lower_simd(struct lower *l) {
    uint32_t k = row(l), lanes = ops[k].bytes ? 4 : 2;
    const struct ptx_opd *d = arg(l, 0);
    struct opd a = U32(1), b = U32(2), sa = select_lanes(l, arg(l, 1), a, b),
               sb = select_lanes(l, arg(l, 2), a, b);
    uint32_t mask = 0;
    for (uint32_t n = 0; n < d->nsel; n++) /* the destination's selector names the lanes that are written */
        mask |= 1u << (d->sel >> (4 * n) & 15u);
    if (!d->nsel)
        mask = (1u << lanes) - 1;
    struct inst i = mk(OP_SIMD2, dst_word(l, d, 0), sa.kind ? sa : a, sb.kind ? sb : b,
                       l->in->nopds > 3 ? U32(3) : opd_rz());
    i.m.mode = SIMD_MODE(ops[k].simd, ops[k].bytes, mask, has(l, MOD_ADD));
    i.m.lut = (uint8_t)signs(l);
    i.m.sat = has(l, MOD_SAT);
    if (ops[k].simd == SIMD_SET)
        i.m.cmp = (uint8_t)inst_cmp(l);
    emit(l, i);
}
