/* Operands and addresses of PTX instructions as those of machine instructions. */

#include "base/ieee.h"
#include "ptx/lower.h"

/* ---- operands ---- */

struct opd literal64(struct lower *l, uint64_t bits) {
    uint32_t n = l->prog->literals.len, at = 0;
    for (at = 0; at + 1 < n; at += 2)
        if (l->prog->literals.at[at] == (uint32_t)bits &&
            l->prog->literals.at[at + 1] == (uint32_t)(bits >> 32))
            return opd_const(BANK_LITERAL, at * 4);
    vec_push(&l->prog->literals, (uint32_t)bits);
    vec_push(&l->prog->literals, (uint32_t)(bits >> 32));
    return opd_const(BANK_LITERAL, n * 4);
}

uint32_t f32_of_double(uint64_t bits) {
    return bits_of_float((float)double_of(bits));
}

static uint64_t double_of_f32(uint32_t bits) {
    return bits_of_double(float_of(bits));
}

static uint64_t imm_bits(const struct ptx_opd *o, enum ptx_type t) {
    if (o->kind == OPD_F64 && t == PTX_F32)
        return f32_of_double(o->imm);
    if (o->kind == OPD_F32 && t == PTX_F64)
        return double_of_f32((uint32_t)o->imm);
    return o->imm;
}

/* Offset assigned to a variable in this program; made on first use for shared and local ones. */
static uint32_t place_of(struct lower *l, const struct ptx_var *v) {
    uintptr_t known = (uintptr_t)map_get_u64(&l->places, (uintptr_t)v);
    if (known)
        return (uint32_t)(known - 1);
    uint32_t at;
    if (v->space == SPACE_SHARED) {
        uint32_t align = var_align(v);
        if (align > l->prog->shared_align)
            l->prog->shared_align = align;
        if (v->unsized || (v->linkage == LINK_EXTERN && !v->size))
            return UINT32_MAX; /* dynamic: after all static ones, see shared_dynamic */
        at = align_up(l->prog->shared_static, align);
        if (v->size > (1u << 24) || at + v->size > (1u << 24))
            lower_refuse(l, "shared variable '%s' is too large", v->name);
        l->prog->shared_static = at + (uint32_t)v->size;
    } else if (v->space == SPACE_LOCAL) {
        at = align_up(l->fn->frame, var_align(v));
        if (v->size > (1u << 19) || at + v->size > (1u << 19))
            lower_refuse(l, "local variable '%s' is too large", v->name);
        l->fn->frame = at + (uint32_t)v->size;
    } else {
        lower_refuse(l, "variable '%s' has no place here", v->name);
    }
    map_set_u64(&l->places, (uintptr_t)v, (void *)(uintptr_t)(at + 1));
    return at;
}

bool lower_is_incoming(const struct ptx_func *f, const struct ptx_var *v) {
    for (uint32_t i = 0; i < f->nparams; i++)
        if (f->params[i] == v)
            return true;
    for (uint32_t i = 0; i < f->nrets; i++)
        if (f->rets[i] == v)
            return true;
    return false;
}

/* A local address: frame register + offset. */
static struct opd local_address(struct lower *l, uint32_t at, bool beyond) {
    struct opd base = l->fn->fp == VREG_RZ ? opd_rz() : opd_reg(l->fn->fp, 0);
    if (!beyond && l->fn->fp == VREG_RZ)
        return opd_imm(at);
    struct opd t = opd_reg(tmp(l, 1), 0);
    emit2(l, OP_IADD, t, base, opd_imm(at));
    if (beyond) {
        struct inst add = mk(OP_IADD, opd_reg(tmp(l, 1), 0), t, opd_imm(1), none);
        add.frame = true;
        emit(l, add);
        t = add.dst;
    }
    return t;
}

/* Offset of dynamic shared memory: a word of bank 0 is not needed, S2R reads it from the launch. */
static struct opd shared_dynamic(struct lower *l) {
    struct opd t = opd_reg(tmp(l, 1), 0);
    emit_mode(l, OP_S2R, t, none, none, none, SR_DYN_SMEM, false);
    return t;
}

static struct opd plus(struct lower *l, struct opd a, uint64_t k) {
    if (!(uint32_t)k)
        return a;
    if (a.kind == O_IMM)
        return opd_imm(a.v + (uint32_t)k);
    struct opd t = opd_reg(tmp(l, 1), 0);
    emit2(l, OP_IADD, t, a, opd_imm((uint32_t)k));
    return t;
}

/* Word w of a variable's address in its own space, plus k. */
static struct opd var_word(struct lower *l, const struct ptx_var *v, uint64_t k, uint32_t w) {
    if (v->space == SPACE_GLOBAL || v->space == SPACE_TEX || type_is_reference(v->type)) {
        struct opd c = opd_const(BANK_SYMBOL, (uint32_t)v->user);
        if (!k) {
            c.v += 4 * w;
            return c;
        }
        /* 64-bit sum; the unused half of the pair is removed as dead code */
        uint32_t t = tmp(l, 2), p = tmp_pred(l);
        emit_carry(l, OP_IADDC, opd_reg(t, 0), p, c, opd_imm((uint32_t)k), VPRED_PT);
        struct opd hi = opd_reg(tmp(l, 1), 0);
        c.v += 4;
        emit1(l, OP_MOV, hi, c);
        emit_carry(l, OP_IADDC, opd_reg(t, 1), VPRED_PT, hi, opd_imm((uint32_t)(k >> 32)), p);
        return opd_reg(t, w);
    }
    if (w)
        return opd_imm(0);
    if (v->space == SPACE_CONST)
        return opd_imm((uint32_t)(v->user + k));
    if (v->space == SPACE_PARAM) {
        if (l->func->entry && lower_is_incoming(l->func, v))
            return opd_imm((uint32_t)(v->user + k));
        return plus(l, local_address(l, place_of(l, v), !lower_is_incoming(l->func, v)), k);
    }
    uint32_t at = place_of(l, v);
    if (v->space == SPACE_SHARED)
        return plus(l, at == UINT32_MAX ? shared_dynamic(l) : opd_imm(at), k);
    return plus(l, local_address(l, at, false), k);
}

/* Special registers. */
static struct opd sreg_word(struct lower *l, const struct ptx_opd *o, uint32_t w) {
    uint32_t comp = o->comp < 0 ? 0 : (uint32_t)o->comp;
    static const struct {
        uint8_t sreg, lo, hi;
    } table[] = {
        {SREG_LANEID, SR_LANEID, SR_ZERO},
        {SREG_WARPID, SR_WARPID, SR_ZERO},
        {SREG_NWARPID, SR_NWARPID, SR_ZERO},
        {SREG_SMID, SR_SMID, SR_ZERO},
        {SREG_NSMID, SR_NSMID, SR_ZERO},
        {SREG_GRIDID, SR_GRIDID, SR_ZERO},
        {SREG_LANEMASK_EQ, SR_LANEMASK_EQ, SR_ZERO},
        {SREG_LANEMASK_LE, SR_LANEMASK_LE, SR_ZERO},
        {SREG_LANEMASK_LT, SR_LANEMASK_LT, SR_ZERO},
        {SREG_LANEMASK_GE, SR_LANEMASK_GE, SR_ZERO},
        {SREG_LANEMASK_GT, SR_LANEMASK_GT, SR_ZERO},
        {SREG_CLOCK, SR_CLOCK_LO, SR_ZERO},
        {SREG_CLOCK_HI, SR_CLOCK_HI, SR_ZERO},
        {SREG_CLOCK64, SR_CLOCK_LO, SR_CLOCK_HI},
        {SREG_GLOBALTIMER, SR_GLOBALTIMER_LO, SR_GLOBALTIMER_HI},
        {SREG_GLOBALTIMER_LO, SR_GLOBALTIMER_LO, SR_ZERO},
        {SREG_GLOBALTIMER_HI, SR_GLOBALTIMER_HI, SR_ZERO},
        {SREG_TOTAL_SMEM_SIZE, SR_TOTAL_SMEM, SR_ZERO},
        {SREG_AGGR_SMEM_SIZE, SR_TOTAL_SMEM, SR_ZERO},
        {SREG_DYNAMIC_SMEM_SIZE, SR_DYN_SIZE, SR_ZERO},
        {SREG_CLUSTER_CTARANK, SR_CLUSTER_CTARANK, SR_ZERO},
    };
    uint32_t reg = SR_COUNT;
    switch (o->sreg) {
    case SREG_NTID:
        return w || comp > 2 ? opd_imm(0) : opd_const(BANK_PARAM, PARAM_NTID + 4 * comp);
    case SREG_NCTAID:
        return w || comp > 2 ? opd_imm(0) : opd_const(BANK_PARAM, PARAM_NCTAID + 4 * comp);
    case SREG_ENVREG1:
    case SREG_ENVREG2:
        return w ? opd_imm(0) : opd_const(BANK_PARAM, PARAM_ENVREG + 4 * (o->sreg == SREG_ENVREG1));
    case SREG_CLUSTER_NCTAID:
        return w || comp > 2 ? opd_imm(0) : opd_const(BANK_PARAM, PARAM_CLUSTER + 4 * comp);
    case SREG_NCLUSTERID:
        return w || comp > 2 ? opd_imm(0) : opd_const(BANK_PARAM, PARAM_NCLUSTER + 4 * comp);
    case SREG_CLUSTER_NCTARANK:
        return w ? opd_imm(0) : opd_const(BANK_PARAM, PARAM_CLUSTER_SIZE);
    case SREG_CLUSTERID:
        reg = w || comp > 2 ? SR_ZERO : SR_CLUSTERID_X + comp;
        break;
    case SREG_CLUSTER_CTAID:
        reg = w || comp > 2 ? SR_ZERO : SR_CLUSTER_CTAID_X + comp;
        break;
    case SREG_TID:
        reg = w || comp > 2 ? SR_ZERO : SR_TID_X + comp;
        break;
    case SREG_CTAID:
        reg = w || comp > 2 ? SR_ZERO : SR_CTAID_X + comp;
        break;
    default:
        for (uint32_t i = 0; i < sizeof table / sizeof table[0]; i++)
            if (table[i].sreg == o->sreg)
                reg = w == 0 ? table[i].lo : w == 1 ? table[i].hi : SR_ZERO;
    }
    if (reg == SR_COUNT || reg == SR_ZERO)
        return opd_imm(0); /* performance counters, reserved offsets */
    struct opd t = opd_reg(tmp(l, 1), 0);
    emit_mode(l, OP_S2R, t, none, none, none, reg, false);
    return t;
}

static const struct ptx_reg *reg_of(struct lower *l, const struct ptx_opd *o) {
    const struct ptx_reg *r = &l->func->regs[o->reg];
    if (r->type == PTX_PRED)
        lower_refuse(l, "predicate '%s' where a value is needed", r->name);
    return r;
}

struct opd src_word(struct lower *l, const struct ptx_opd *o, enum ptx_type t, uint32_t w) {
    switch (o->kind) {
    case OPD_REG: {
        const struct ptx_reg *r = reg_of(l, o);
        return w < type_words(r->type) ? opd_reg(r->user, w) : opd_imm(0);
    }
    case OPD_INT:
    case OPD_F32:
    case OPD_F64: {
        uint64_t bits = imm_bits(o, t);
        return opd_imm(w > 1 ? 0 : (uint32_t)(bits >> (32 * w)));
    }
    case OPD_VAR:
        return var_word(l, o->var, o->imm, w);
    case OPD_FUNC:
        return opd_const(BANK_SYMBOL, ptx_func_slot(o->func) + 4 * w);
    case OPD_SREG:
        return sreg_word(l, o, w);
    case OPD_SINK:
        return opd_imm(0);
    default:
        lower_refuse(l, "an operand of this kind is not allowed here");
    }
}

struct opd make_pair(struct lower *l, struct opd lo, struct opd hi) {
    uint32_t t = tmp(l, 2);
    emit1(l, OP_MOV, opd_reg(t, 0), lo);
    emit1(l, OP_MOV, opd_reg(t, 1), hi);
    return opd_reg(t, 0);
}

struct opd pair_word(struct opd g, uint32_t w) {
    if (g.kind == O_CONST)
        g.v += 4 * w;
    else if (g.kind == O_REG && g.v != VREG_RZ)
        g.word = (uint8_t)(g.word + w);
    return g;
}

struct opd src_group(struct lower *l, const struct ptx_opd *o, enum ptx_type t) {
    uint32_t words = type_words(t);
    if (words == 1)
        return src_word(l, o, t, 0);
    if (o->kind == OPD_REG && type_words(reg_of(l, o)->type) >= words)
        return opd_reg(reg_of(l, o)->user, 0);
    if (words == 2 && (o->kind == OPD_F64 || o->kind == OPD_INT || o->kind == OPD_F32))
        return literal64(l, imm_bits(o, t));
    uint32_t g = tmp(l, words);
    for (uint32_t w = 0; w < words; w++)
        emit1(l, OP_MOV, opd_reg(g, w), src_word(l, o, t, w));
    return opd_reg(g, 0);
}

struct opd src_ext(struct lower *l, const struct ptx_opd *o, enum ptx_type t) {
    struct opd a = src_word(l, o, t, 0);
    uint32_t size = ptx_type_size(t);
    if (size >= 4)
        return a;
    bool sgn = type_is_signed(t);
    if (a.kind == O_IMM)
        return opd_imm(size == 1 ? (sgn ? (uint32_t)(int8_t)a.v : (uint8_t)a.v)
                       : sgn     ? (uint32_t)(int16_t)a.v
                                 : (uint16_t)a.v);
    struct opd d = opd_reg(tmp(l, 1), 0);
    emit_mode(l, OP_SEXT, d, a, none, none,
              size == 1 ? (sgn ? EXT_S8 : EXT_U8)
              : sgn     ? EXT_S16
                        : EXT_U16,
              false);
    return d;
}

struct popd src_pred(struct lower *l, const struct ptx_opd *o) {
    if (o->kind == OPD_INT)
        return (struct popd){VPRED_PT, !o->imm != o->neg};
    if (o->kind == OPD_SREG && o->sreg == SREG_IS_EXPLICIT_CLUSTER) {
        struct opd is = opd_reg(tmp(l, 1), 0);
        emit1(l, OP_MOV, is, opd_const(BANK_PARAM, PARAM_CLUSTER_EXPLICIT));
        return (struct popd){emit_isetp(l, CMP_LT | CMP_GT, false, is, opd_imm(0)), o->neg};
    }
    if (o->kind != OPD_REG || l->func->regs[o->reg].type != PTX_PRED)
        lower_refuse(l, "a predicate is needed");
    return (struct popd){l->func->regs[o->reg].user, o->neg};
}

uint32_t dst_words(struct lower *l, const struct ptx_opd *o) {
    return o->kind == OPD_SINK ? 1 : type_words(reg_of(l, o)->type);
}

struct opd dst_word(struct lower *l, const struct ptx_opd *o, uint32_t w) {
    if (o->kind == OPD_SINK)
        return opd_rz();
    if (o->kind != OPD_REG)
        lower_refuse(l, "the destination must be a register");
    const struct ptx_reg *r = reg_of(l, o);
    if (w >= type_words(r->type))
        lower_refuse(l, "the result does not fit register '%s'", r->name);
    return opd_reg(r->user, w);
}

uint32_t dst_pred(struct lower *l, const struct ptx_opd *o) {
    if (o->kind == OPD_SINK)
        return VPRED_PT;
    if (o->kind != OPD_REG || l->func->regs[o->reg].type != PTX_PRED)
        lower_refuse(l, "the destination must be a predicate");
    return l->func->regs[o->reg].user;
}

/* ---- addresses ---- */

enum mem_space inst_space(struct lower *l) {
    if (has(l, MOD_GLOBAL))
        return MS_GLOBAL;
    if (has(l, MOD_SHARED) || has(l, MOD_SHARED_CTA) || has(l, MOD_SHARED_CLUSTER))
        return MS_SHARED;
    if (has(l, MOD_LOCAL))
        return MS_LOCAL;
    if (has(l, MOD_CONST))
        return MS_CONST;
    return MS_GENERIC;
}

static bool imm_fits(int64_t k) {
    return k >= -(1 << 23) && k < (1 << 23);
}

/* base + k with k too large for the instruction's offset field. */
static struct opd add_wide(struct lower *l, struct opd base, int64_t k, bool a64) {
    if (!a64)
        return plus(l, base, (uint64_t)k);
    uint32_t t = tmp(l, 2), p = tmp_pred(l);
    emit_carry(l, OP_IADDC, opd_reg(t, 0), p, pair_word(base, 0), opd_imm((uint32_t)k), VPRED_PT);
    emit_carry(l, OP_IADDC, opd_reg(t, 1), VPRED_PT, pair_word(base, 1), opd_imm((uint32_t)(k >> 32)), p);
    return opd_reg(t, 0);
}

struct address lower_outgoing(struct lower *l, int32_t at) {
    if (l->top != VREG_RZ)
        return (struct address){.base = opd_reg(l->top, 0), .imm = at + LINKAGE};
    struct opd fp = l->fn->fp == VREG_RZ ? opd_rz() : opd_reg(l->fn->fp, 0);
    return (struct address){.base = fp, .imm = at, .frame = true};
}

static struct address var_address(struct lower *l, const struct ptx_opd *o, int64_t k, enum mem_space space) {
    const struct ptx_var *v = o->var;
    struct address a = {.imm = (int32_t)k};
    if (v->space == SPACE_PARAM && !lower_is_incoming(l->func, v))
        return lower_outgoing(l, a.imm + (int32_t)place_of(l, v));
    if (v->space == SPACE_PARAM || v->space == SPACE_LOCAL) {
        a.base = l->fn->fp == VREG_RZ ? opd_rz() : opd_reg(l->fn->fp, 0);
        a.imm += (int32_t)place_of(l, v);
        return a;
    }
    if (v->space == SPACE_SHARED || v->space == SPACE_CONST) {
        struct opd w = var_word(l, v, 0, 0);
        a.base = opd_rz();
        if (w.kind == O_IMM)
            a.imm += (int32_t)w.v;
        else
            a.base = w;
        return a;
    }
    a.a64 = l->mod->address_bits == 64;
    struct opd c = opd_const(BANK_SYMBOL, (uint32_t)v->user);
    a.base = a.a64 ? make_pair(l, c, pair_word(c, 1)) : opd_reg(tmp(l, 1), 0);
    if (!a.a64)
        emit1(l, OP_MOV, a.base, c);
    (void)space;
    return a;
}

struct address lower_address(struct lower *l, const struct ptx_opd *o, enum mem_space space) {
    if (o->kind != OPD_ADDR || !o->nelems)
        lower_refuse(l, "an address in brackets is needed");
    const struct ptx_opd *b = &o->elems[0];
    int64_t k = (int64_t)o->imm;
    bool wide = (space == MS_GLOBAL || space == MS_GENERIC) && l->mod->address_bits == 64;
    if (b->kind == OPD_VAR) {
        k += (int64_t)b->imm;
        if (imm_fits(k))
            return var_address(l, b, k, space);
        struct address a = var_address(l, b, 0, space);
        a.base = add_wide(l, a.base, k, a.a64);
        return a;
    }
    struct address a = {.a64 = wide};
    if (b->kind == OPD_INT) {
        k += (int64_t)b->imm;
        a.base = opd_rz();
        if (!imm_fits(k)) {
            a.base = wide ? make_pair(l, opd_imm((uint32_t)k), opd_imm((uint32_t)(k >> 32)))
                          : opd_reg(tmp(l, 1), 0);
            if (!wide)
                emit1(l, OP_MOV, a.base, opd_imm((uint32_t)k));
            k = 0;
        }
        a.imm = (int32_t)k;
        return a;
    }
    a.base = wide ? src_group(l, b, PTX_U64) : src_word(l, b, PTX_U32, 0);
    if (a.base.kind != O_REG) {
        struct opd t = opd_reg(tmp(l, wide ? 2 : 1), 0);
        for (uint32_t w = 0; w < (wide ? 2u : 1u); w++)
            emit1(l, OP_MOV, opd_reg(t.v, w), pair_word(a.base, w));
        a.base = t;
    }
    if (!imm_fits(k)) {
        a.base = add_wide(l, a.base, k, wide);
        k = 0;
    }
    a.imm = (int32_t)k;
    return a;
}

struct opd lower_address_sum(struct lower *l, const struct address *a) {
    return a->imm ? add_wide(l, a->base, a->imm, a->a64) : a->base;
}
