/* Floating point: arithmetic, functions, sign, tests; conversions of every kind. */
#include "ptx/lower.h"

#define T(i) in_type(l, i)
#define G(i) src_group(l, arg(l, i), T(0))
#define D(w) dst_word(l, arg(l, 0), w)

enum rounding inst_rounding(struct lower *l) {
    return has(l, MOD_RZ) || has(l, MOD_RZI)   ? RND_RZ
           : has(l, MOD_RM) || has(l, MOD_RMI) ? RND_RM
           : has(l, MOD_RP) || has(l, MOD_RPI) ? RND_RP
           : has(l, MOD_RNA)                   ? RND_RNA
                                               : RND_RN;
}

/* Adds the modifiers every float operation has and emits. */
static void emit_float(struct lower *l, struct inst i) {
    if (T(0) == PTX_F64)
        D(1); /* the destination must be 64 bits wide */
    i.m.rnd = inst_rounding(l);
    i.m.ftz = has(l, MOD_FTZ);
    i.m.sat = has(l, MOD_SAT);
    i.m.relu = has(l, MOD_RELU);
    i.m.dtype = (uint8_t)type_machine(T(0));
    bool rounded = has(l, MOD_RN) || has(l, MOD_RZ) || has(l, MOD_RM) || has(l, MOD_RP);
    i.m.fuse = !rounded && (i.op == OP_FADD || i.op == OP_FMUL || i.op == OP_DADD || i.op == OP_DMUL);
    emit(l, i);
}

static enum op pick(struct lower *l, enum op f32, enum op f64, enum op half) {
    return type_is_half(T(0)) ? half : T(0) == PTX_F64 ? f64 : f32;
}

void lower_fadd(struct lower *l, bool neg) {
    struct inst i = mk(pick(l, OP_FADD, OP_DADD, neg ? OP_HSUB2 : OP_HADD2), D(0), G(1), G(2), none);
    if (neg && !type_is_half(T(0)))
        i.src[1].mod = OMOD_NEG;
    emit_float(l, i);
}

void lower_fmul(struct lower *l) {
    emit_float(l, mk(pick(l, OP_FMUL, OP_DMUL, OP_HMUL2), D(0), G(1), G(2), none));
}

void lower_fma(struct lower *l) {
    emit_float(l, mk(pick(l, OP_FFMA, OP_DFMA, OP_HFMA2), D(0), G(1), G(2), G(3)));
}

void lower_fminmax(struct lower *l, bool max) {
    enum op op = max ? pick(l, OP_FMAX, OP_DMAX, OP_HMAX2) : pick(l, OP_FMIN, OP_DMIN, OP_HMIN2);
    struct inst i = mk(op, D(0), G(1), G(2), none);
    i.m.mode =
        (uint16_t)((has(l, MOD_NAN_WINS) ? MINMAX_NAN : 0) | (has(l, MOD_XORSIGN) ? MINMAX_XORSIGN : 0));
    if (l->in->nopds > 3) { /* three inputs: the smaller of two, then the third */
        i.dst = opd_reg(tmp(l, type_words(T(0))), 0);
        struct opd first = i.dst;
        emit_float(l, i);
        i = mk(op, D(0), first, G(3), none);
        i.m.mode = has(l, MOD_NAN_WINS) ? MINMAX_NAN : 0;
    }
    emit_float(l, i);
}

void lower_fdiv(struct lower *l) {
    if (T(0) == PTX_F64) {
        emit_float(l, mk(OP_DDIV, D(0), G(1), G(2), none));
    } else if (has(l, MOD_APPROX) || has(l, MOD_FULL)) {
        struct inst i = mk(OP_FDIVA, D(0), G(1), G(2), none);
        i.m.mode = has(l, MOD_FULL) ? FDIV_FULL : FDIV_APPROX;
        emit_float(l, i);
    } else {
        emit_float(l, mk(OP_FDIV, D(0), G(1), G(2), none));
    }
}

/* neg and abs change the sign bit; .ftz also flushes, which an addition of -0 does. */
void lower_fsign(struct lower *l, bool abs) {
    bool wide = T(0) == PTX_F64, pair = T(0) == PTX_F16X2 || T(0) == PTX_BF16X2, half = type_is_half(T(0));
    if (has(l, MOD_FTZ) && !half) {
        struct inst i = mk(OP_FADD, D(0), G(1), opd_imm(0x80000000u), none);
        i.src[0].mod = abs ? OMOD_ABS : OMOD_NEG;
        emit_float(l, i);
        return;
    }
    uint32_t sign = pair ? 0x80008000u : half ? 0x8000u : 0x80000000u;
    uint32_t hi = wide ? 1 : 0;
    struct opd src = src_word(l, arg(l, 1), T(0), hi);
    if (has(l, MOD_FTZ)) { /* half: flush through a multiplication by one */
        struct inst i = mk(OP_HMUL2, opd_reg(tmp(l, 1), 0), src,
                           opd_imm(T(0) == PTX_F16 || T(0) == PTX_F16X2 ? 0x3c003c00u : 0x3f803f80u), none);
        emit_float(l, i);
        src = i.dst;
    }
    if (wide)
        emit1(l, OP_MOV, D(0), src_word(l, arg(l, 1), T(0), 0));
    emit2(l, abs ? OP_AND : OP_XOR, D(hi), src, opd_imm(abs ? ~sign : sign));
}

static const struct {
    uint16_t op;
    uint8_t mufu;
} functions[] = {
    {PTXOP_RCP, MUFU_RCP}, {PTXOP_RSQRT, MUFU_RSQ}, {PTXOP_SQRT, MUFU_SQRT}, {PTXOP_SIN, MUFU_SIN},
    {PTXOP_COS, MUFU_COS}, {PTXOP_LG2, MUFU_LG2},   {PTXOP_EX2, MUFU_EX2},   {PTXOP_TANH, MUFU_TANH},
};

void lower_mufu(struct lower *l) {
    uint32_t fn = 0;
    for (uint32_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        if (functions[i].op == l->in->op)
            fn = functions[i].mufu;
    struct inst i = mk(pick(l, OP_FAPX, OP_MUFU64H, OP_HMUFU), D(0), G(1), none, none);
    i.m.mode = (uint16_t)fn;
    if (!has(l, MOD_APPROX) && fn == MUFU_RCP)
        i.op = T(0) == PTX_F64 ? OP_DRCP : OP_FRCP;
    else if (!has(l, MOD_APPROX) && fn == MUFU_SQRT)
        i.op = T(0) == PTX_F64 ? OP_DSQRT : OP_FSQRT;
    else if (i.op == OP_MUFU64H && fn == MUFU_RSQ && !has(l, MOD_FTZ))
        i.op = OP_DRSQ; /* with .ftz it is the seed */
    if (!(op_info[i.op].flags & OPF_MODE))
        i.m.mode = 0;
    emit_float(l, i);
}

void lower_testp(struct lower *l) {
    static const struct {
        uint16_t mod;
        uint8_t mode;
    } tests[] = {{MOD_FINITE, TESTP_FINITE}, {MOD_INFINITE, TESTP_INFINITE},
                 {MOD_NUMBER, TESTP_NUMBER}, {MOD_NOTANUMBER, TESTP_NOTANUMBER},
                 {MOD_NORMAL, TESTP_NORMAL}, {MOD_SUBNORMAL, TESTP_SUBNORMAL}};
    struct inst i = mk(T(0) == PTX_F64 ? OP_DTESTP : OP_FTESTP, none, G(1), none, none);
    for (uint32_t k = 0; k < sizeof tests / sizeof tests[0]; k++)
        if (has(l, (enum ptx_mod)tests[k].mod))
            i.m.mode = tests[k].mode;
    i.pdst[0].id = dst_pred(l, arg(l, 0));
    emit(l, i);
}

void lower_copysign(struct lower *l) {
    uint32_t hi = T(0) == PTX_F64;
    emit2(l, OP_FCOPYSIGN, D(hi), src_word(l, arg(l, 1), T(0), hi), src_word(l, arg(l, 2), T(0), hi));
    if (hi)
        emit1(l, OP_MOV, D(0), src_word(l, arg(l, 2), T(0), 0));
}

/* ---- conversions ---- */

static bool is_int(enum ptx_type t) {
    return !type_is_float(t) && t != PTX_E4M3X2 && t != PTX_E5M2X2;
}

/* Sign- or zero-extends word lo of type t into the destination's remaining words. */
static void extend_into(struct lower *l, const struct ptx_opd *d, struct opd lo, bool sgn, uint32_t from) {
    for (uint32_t w = from; w < dst_words(l, d); w++) {
        if (sgn)
            emit_mode(l, OP_SHR, dst_word(l, d, w), lo, opd_imm(31), none, 0, true);
        else
            emit1(l, OP_MOV, dst_word(l, d, w), opd_rz());
    }
}

static void int_to_int(struct lower *l, enum ptx_type dt, enum ptx_type st) {
    const struct ptx_opd *d = arg(l, 0), *s = arg(l, 1);
    uint32_t dsize = ptx_type_size(dt), ssize = ptx_type_size(st);
    bool narrowing = dsize < ssize || (dsize == ssize && type_is_signed(dt) != type_is_signed(st)) ||
                     (type_is_signed(st) && !type_is_signed(dt));
    if (has(l, MOD_SAT) && narrowing) {
        struct inst i = mk(OP_I2ISAT, D(0), src_group(l, s, st), none, none);
        i.m.dtype = (uint8_t)type_machine(dt);
        i.m.stype = (uint8_t)type_machine(st);
        i.m.sat = true;
        emit(l, i);
        if (dsize < 8)
            extend_into(l, d, D(0), type_is_signed(dt), 1);
        return;
    }
    if (dsize == 8 && ssize == 8) {
        emit1(l, OP_MOV, D(0), src_word(l, s, st, 0));
        emit1(l, OP_MOV, D(1), src_word(l, s, st, 1));
        return;
    }
    if (dsize < ssize ||
        dsize == ssize) { /* truncation, then the destination's own extension to its register */
        struct opd lo = src_word(l, s, st, 0);
        if (dsize < 4 && d->kind == OPD_REG &&
            (dst_words(l, d) > 1 || ptx_type_size(l->func->regs[d->reg].type) > dsize)) {
            emit_mode(l, OP_SEXT, D(0), lo, none, none,
                      dsize == 1           ? (type_is_signed(dt) ? EXT_S8 : EXT_U8)
                      : type_is_signed(dt) ? EXT_S16
                                           : EXT_U16,
                      false);
            extend_into(l, d, D(0), type_is_signed(dt), 1);
        } else {
            emit1(l, OP_MOV, D(0), lo);
            extend_into(l, d, D(0), type_is_signed(dt), 1);
        }
        return;
    }
    struct opd lo = src_ext(l, s, st);
    emit1(l, OP_MOV, D(0), lo);
    /* widening: the source's sign decides; a narrower destination type than its register then extends as
     * itself */
    bool sgn = dsize == 8 ? type_is_signed(st) : type_is_signed(dt);
    extend_into(l, d, D(0), sgn, 1);
}

/* cvt.pack.sat.TYPE.s32[.b32] d, a, b[, c]: a and b saturated side by side, b lowest; what is left of c goes
 * above. */
static void cvt_pack(struct lower *l) {
    static const struct {
        uint8_t type, bits, sgn;
    } kinds[] = {{PTX_U16, 16, 0}, {PTX_S16, 16, 1}, {PTX_U8, 8, 0}, {PTX_S8, 8, 1},
                 {PTX_U4, 4, 0},   {PTX_S4, 4, 1},   {PTX_U2, 2, 0}, {PTX_S2, 2, 1}};
    uint32_t k = 0;
    while (k < sizeof kinds / sizeof kinds[0] && kinds[k].type != T(0))
        k++;
    if (k == sizeof kinds / sizeof kinds[0])
        lower_refuse_form(l);
    uint32_t bits = kinds[k].bits;
    int32_t lo = kinds[k].sgn ? -(1 << (bits - 1)) : 0,
            hi = kinds[k].sgn ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
    struct opd w[2], sum = opd_rz();
    for (uint32_t n = 0; n < 2; n++) {
        struct opd a = opd_reg(tmp(l, 1), 0), b = opd_reg(tmp(l, 1), 0);
        w[n] = opd_reg(tmp(l, 1), 0);
        emit_mode(l, OP_IMAX, a, src_word(l, arg(l, 1 + n), PTX_S32, 0), opd_imm((uint32_t)lo), none, 0,
                  true);
        emit_mode(l, OP_IMIN, b, a, opd_imm((uint32_t)hi), none, 0, true);
        emit2(l, OP_AND, w[n], b, opd_imm((1u << bits) - 1));
    }
    if (l->in->nopds > 3) {
        sum = opd_reg(tmp(l, 1), 0);
        emit2(l, OP_SHL, sum, src_word(l, arg(l, 3), PTX_B32, 0), opd_imm(2 * bits));
    }
    struct opd high = opd_reg(tmp(l, 1), 0), both = opd_reg(tmp(l, 1), 0);
    emit2(l, OP_SHL, high, w[0], opd_imm(bits));
    emit2(l, OP_OR, both, high, w[1]);
    emit2(l, OP_OR, D(0), both, sum);
}

/* Two floats to a packed pair, or one packed pair to another. */
static void cvt_pairs(struct lower *l, enum ptx_type dt, enum ptx_type st) {
    struct inst i;
    if (l->in->nopds > 2)
        i = mk(OP_F2FP, D(0), src_word(l, arg(l, 1), st, 0), src_word(l, arg(l, 2), st, 0), none);
    else
        i = mk(OP_F2F, D(0), src_word(l, arg(l, 1), st, 0), none, none);
    i.m.dtype = (uint8_t)type_machine(dt);
    i.m.stype = (uint8_t)type_machine(st);
    i.m.rnd = inst_rounding(l);
    i.m.relu = has(l, MOD_RELU);
    i.m.mode = has(l, MOD_SATFINITE) ? CVT_SATFINITE : 0;
    emit(l, i);
}

void lower_cvt(struct lower *l) {
    enum ptx_type dt = T(0), st = T(1);
    if (has(l, MOD_PACK)) {
        cvt_pack(l);
        return;
    }
    if (dt == PTX_F16X2 || dt == PTX_BF16X2 || dt == PTX_E4M3X2 || dt == PTX_E5M2X2) {
        cvt_pairs(l, dt, st);
        return;
    }
    bool known = (is_int(dt) || type_is_float(dt)) && (is_int(st) || type_is_float(st));
    if (!known || has(l, MOD_RS))
        lower_refuse_form(l);
    if (is_int(dt) && is_int(st)) {
        int_to_int(l, dt, st);
        return;
    }
    struct inst i = mk(is_int(dt)   ? OP_F2I
                       : is_int(st) ? OP_I2F
                                    : OP_F2F,
                       D(0), src_group(l, arg(l, 1), st), none, none);
    if (ptx_type_size(dt) == 8)
        D(1);
    i.m.dtype = (uint8_t)type_machine(dt);
    i.m.stype = (uint8_t)type_machine(st);
    i.m.rnd = inst_rounding(l);
    i.m.rint = has(l, MOD_RNI) || has(l, MOD_RZI) || has(l, MOD_RMI) || has(l, MOD_RPI);
    i.m.ftz = has(l, MOD_FTZ);
    i.m.sat = has(l, MOD_SAT);
    i.m.relu = has(l, MOD_RELU);
    i.m.mode = has(l, MOD_SATFINITE) ? CVT_SATFINITE : 0;
    emit(l, i);
    if (is_int(dt) && ptx_type_size(dt) < 8)
        extend_into(l, arg(l, 0), D(0), type_is_signed(dt), 1);
}
