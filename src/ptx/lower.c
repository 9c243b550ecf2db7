/* The frame of the lowering: functions, blocks, operands, emission. */
#include "ptx/lower.h"

#include <stdio.h>
#include <string.h>

#include "ptx/lower_table.h"

/* ---- refusal ---- */

_Noreturn void lower_refuse(struct lower *l, const char *fmt, ...) {
    char why[256], text[128];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(why, sizeof why, fmt, ap);
    va_end(ap);
    if (l->in)
        diag_at(l->diag, DIAG_ERROR, &l->mod->src, l->in->at, "%s: %s (in %s)",
                ptx_inst_text(l->in, text, sizeof text), why, l->func->name);
    else
        diag_at(l->diag, DIAG_ERROR, &l->mod->src, l->func->at, "%s: %s", l->func->name, why);
    longjmp(*l->fail, 1);
}

/* What to do about instructions that are not simulated; what nothing is said about is rare and new. */
static const struct {
    uint16_t op;
    const char *advice;
} advices[] = {
    {PTXOP_MULTIMEM,
     "memory that several GPUs share is not simulated; run the program on one GPU, or without multicast"},
    {PTXOP_WGMMA,
     "not simulated; build the program for an earlier architecture, whose kernels use mma (compute_80)"},
    {PTXOP_TCGEN05,
     "not simulated; build the program for an earlier architecture, whose kernels use mma (compute_80)"},
    {PTXOP_CP, "tensor maps, reductions and multicast are not simulated; build the program for an earlier "
               "architecture, whose kernels copy by plain cp.async (compute_80)"},
    {PTXOP_TENSORMAP, "not simulated; build the program for an earlier architecture, whose kernels copy by "
                      "cp.async (compute_80)"},
};

_Noreturn void lower_refuse_form(struct lower *l) {
    for (size_t i = 0; i < sizeof advices / sizeof *advices; i++)
        if (advices[i].op == l->in->op)
            lower_refuse(l, "%s", advices[i].advice);
    lower_refuse(l, "not simulated; build the program for an earlier architecture, or without it");
}

const struct ptx_opd *arg(struct lower *l, uint32_t i) {
    if (i >= l->in->nopds)
        lower_refuse(l, "too few operands");
    return &l->in->opds[i];
}

/* ---- emission ---- */

uint32_t tmp(struct lower *l, uint32_t words) {
    return fn_vreg(l->fn, words);
}

uint32_t tmp_pred(struct lower *l) {
    return fn_pred(l->fn);
}

static struct block *cur(struct lower *l) {
    return &l->fn->blocks.at[l->block];
}

static void append(struct lower *l, struct inst i) {
    if (l->in) {
        i.line = l->in->line;
        i.dbg_file = l->in->dbg_file;
        i.dbg_line = l->in->dbg_line;
        i.dbg_site = l->in->dbg_site;
    }
    vec_push(&cur(l)->insts, i);
}

/* Words that cannot stay an immediate or a constant move into a register. */
static void legalise(struct lower *l, struct inst *i) {
    bool used = false;
    for (uint32_t s = 0; s < i->nsrc; s++) {
        struct opd *o = &i->src[s];
        if (o->kind != O_IMM && o->kind != O_CONST)
            continue;
        if ((!used || inst_has_free_operands(i)) && inst_src_may_be_const(i, s)) {
            used = true;
            continue;
        }
        uint32_t words = inst_src_words(i, s);
        uint32_t t = tmp(l, words > 2 ? words : words ? words : 1);
        for (uint32_t w = 0; w < (words ? words : 1); w++) {
            struct opd from = *o;
            from.mod = 0;
            if (o->kind == O_CONST)
                from.v += 4 * w;
            else if (words == 2)
                from.v = w ? o->v : 0;
            struct inst mov = inst_new(OP_MOV);
            mov.nsrc = 1;
            mov.dst = opd_reg(t, w);
            mov.src[0] = from;
            append(l, mov);
        }
        uint8_t mod = o->mod;
        *o = opd_reg(t, 0);
        o->mod = mod;
    }
}

static bool is_temp(struct lower *l, const struct inst *i) {
    bool reg = i->dst.kind != O_REG || i->dst.v == VREG_RZ || i->dst.v >= l->vmark;
    for (int k = 0; k < 2; k++)
        reg = reg && (i->pdst[k].id == VPRED_PT || i->pdst[k].id >= l->pmark);
    return reg;
}

void emit(struct lower *l, struct inst i) {
    legalise(l, &i);
    bool harmless = inst_is_pure(&i) && !(op_info[i.op].flags & OPF_LOAD);
    if (l->in && l->in->guarded && !(is_temp(l, &i) && harmless))
        i.guard = (struct popd){l->func->regs[l->in->guard].user, l->in->guard_neg};
    append(l, i);
}

struct inst mk(enum op op, struct opd d, struct opd a, struct opd b, struct opd c) {
    struct inst i = inst_new(op);
    i.dst = d;
    i.src[0] = a;
    i.src[1] = b;
    i.src[2] = c;
    i.nsrc = c.kind ? 3 : b.kind ? 2 : a.kind ? 1 : 0;
    return i;
}

static const struct opd none = {0};

void emit1(struct lower *l, enum op op, struct opd d, struct opd a) {
    emit(l, mk(op, d, a, none, none));
}

void emit2(struct lower *l, enum op op, struct opd d, struct opd a, struct opd b) {
    emit(l, mk(op, d, a, b, none));
}

void emit3(struct lower *l, enum op op, struct opd d, struct opd a, struct opd b, struct opd c) {
    emit(l, mk(op, d, a, b, c));
}

void emit_mode(struct lower *l, enum op op, struct opd d, struct opd a, struct opd b, struct opd c,
               uint32_t mode, bool sgn) {
    struct inst i = mk(op, d, a, b, c);
    i.m.mode = (uint16_t)mode;
    i.m.sgn = sgn;
    emit(l, i);
}

void emit_carry(struct lower *l, enum op op, struct opd d, uint32_t cout, struct opd a, struct opd b,
                uint32_t cin) {
    struct inst i = mk(op, d, a, b, none);
    i.pdst[0].id = cout;
    i.psrc[0] = (struct popd){cin, cin == VPRED_PT &&
                                       op == OP_IADDC}; /* a carry into a subtraction means no borrow */
    emit(l, i);
}

uint32_t emit_isetp(struct lower *l, uint32_t cmp, bool sgn, struct opd a, struct opd b) {
    struct inst i = mk(OP_ISETP, none, a, b, none);
    i.m.cmp = (uint8_t)cmp;
    i.m.sgn = sgn;
    i.pdst[0].id = tmp_pred(l);
    emit(l, i);
    return i.pdst[0].id;
}

void emit_sel(struct lower *l, struct opd d, struct opd a, struct opd b, struct popd p) {
    struct inst i = mk(OP_SEL, d, a, b, none);
    i.psrc[0] = p;
    emit(l, i);
}

void emit_plop(struct lower *l, uint32_t d, enum bool_op op, struct popd a, struct popd b) {
    struct inst i = inst_new(OP_PLOP);
    i.m.bop = op;
    i.pdst[0].id = d;
    i.psrc[0] = a;
    i.psrc[1] = b;
    emit(l, i);
}

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
    double d;
    memcpy(&d, &bits, sizeof d);
    float f = (float)d;
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}

static uint64_t double_of_f32(uint32_t bits) {
    float f;
    memcpy(&f, &bits, sizeof f);
    double d = f;
    uint64_t u;
    memcpy(&u, &d, sizeof u);
    return u;
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

/* ---- functions ---- */

uint32_t lower_place_params(struct lower *l, struct ptx_var *const *vars, uint32_t n, uint32_t at) {
    for (uint32_t i = 0; i < n; i++) {
        at = align_up(at, var_align(vars[i]));
        map_set_u64(&l->places, (uintptr_t)vars[i], (void *)(uintptr_t)(at + 1));
        at += (uint32_t)vars[i]->size;
    }
    return at;
}

uint32_t lower_fn_index(struct lower *l, struct ptx_func *f) {
    uintptr_t known = (uintptr_t)map_get_u64(&l->fn_index, (uintptr_t)f);
    if (known)
        return (uint32_t)known - 1;
    uint32_t n = l->queue.len;
    vec_push(&l->queue, f);
    map_set_u64(&l->fn_index, (uintptr_t)f, (void *)(uintptr_t)(n + 1));
    return n;
}

static bool ends_block(const struct ptx_inst *i) {
    return i->op == PTXOP_BRA || i->op == PTXOP_BRX || i->op == PTXOP_RET || i->op == PTXOP_EXIT;
}

/* Blocks start at labels and after control transfers; returns the block of each instruction that starts one.
 */
static uint32_t *make_blocks(struct lower *l) {
    struct ptx_func *f = l->func;
    uint32_t *start = arena_array(&l->prog->arena, uint32_t, f->ninsts + 1);
    start[0] = start[f->ninsts] = 1;
    for (uint32_t i = 0; i < f->nlabels; i++)
        start[f->labels[i].inst] = 1;
    for (uint32_t i = 0; i < f->ninsts; i++)
        if (ends_block(&f->insts[i]))
            start[i + 1] = 1;
    for (uint32_t i = 0; i <= f->ninsts; i++)
        start[i] = start[i] ? fn_block(l->fn) + 1 : 0;
    l->label_block = arena_array(&l->prog->arena, uint32_t, f->nlabels + 1);
    for (uint32_t i = 0; i < f->nlabels; i++)
        l->label_block[i] = start[f->labels[i].inst] - 1;
    return start;
}

static void make_registers(struct lower *l) {
    for (uint32_t i = 0; i < l->func->nregs; i++) {
        struct ptx_reg *r = &l->func->regs[i];
        r->user = r->type == PTX_PRED ? fn_pred(l->fn) : fn_vreg(l->fn, type_words(r->type));
    }
    l->cc = fn_pred(l->fn);
}

/* Function parameters declared as registers (old style) are loaded from and stored to the frame. */
static void register_params(struct lower *l, struct ptx_var **vars, uint32_t n, enum op op) {
    for (uint32_t i = 0; i < n; i++) {
        if (vars[i]->space != SPACE_REG)
            continue;
        for (uint32_t r = 0; r < l->func->nregs; r++) {
            if (strcmp(l->func->regs[r].name, vars[i]->name))
                continue;
            struct inst m = inst_new(op);
            m.m.space = MS_LOCAL;
            m.m.size = (uint8_t)ptx_type_size(vars[i]->type);
            m.m.vec = 1;
            m.nsrc = op == OP_ST ? 2 : 1;
            m.src[0] = opd_reg(l->fn->fp, 0);
            m.imm = (int32_t)(uintptr_t)map_get_u64(&l->places, (uintptr_t)vars[i]) - 1;
            if (op == OP_ST)
                m.src[1] = opd_reg(l->func->regs[r].user, 0);
            else
                m.dst = opd_reg(l->func->regs[r].user, 0);
            emit(l, m);
        }
    }
}

static bool has_opcode(const struct ptx_func *f, enum ptx_opcode op) {
    for (uint32_t i = 0; i < f->ninsts; i++)
        if (f->insts[i].op == op)
            return true;
    return false;
}

static void begin_function(struct lower *l) {
    struct ptx_func *f = l->func;
    l->fn->entry = f->entry;
    l->fn->fp = VREG_RZ;
    make_registers(l);
    if (!f->entry || has_opcode(f, PTXOP_CALL))
        l->fn->fp = fn_vreg(l->fn, 1);
    l->top = has_opcode(f, PTXOP_ALLOCA) || has_opcode(f, PTXOP_STACKSAVE) ? fn_vreg(l->fn, 1) : VREG_RZ;
    if (f->entry) {
        for (uint32_t i = 0; i < f->nparams; i++)
            f->params[i]->user = PARAM_BASE + ptx_param_offset(f, i);
        l->prog->param_bytes = ptx_param_bytes(f);
    } else {
        uint32_t at = lower_place_params(l, f->rets, f->nrets, 0);
        at = lower_place_params(l, f->params, f->nparams, at);
        l->fn->args = l->fn->frame = align_up(at, 16);
    }
    lower_plan_calls(l);
    l->fn->calls = l->fn->fp != VREG_RZ;
}

/* Successors follow from the last instruction of each block. */
static void link_blocks(struct lower *l) {
    struct fn *f = l->fn;
    for (uint32_t b = 0; b < f->blocks.len; b++) {
        struct block *k = &f->blocks.at[b];
        const struct inst *last = k->insts.len ? &k->insts.at[k->insts.len - 1] : NULL;
        bool guarded = last && last->guard.id != VPRED_PT;
        if (last && last->op == OP_BRA)
            vec_push(&k->succ, last->target);
        if (last && last->op == OP_BRX)
            for (uint32_t i = 0; i < f->tables.at[last->target].n; i++)
                vec_push(&k->succ, f->tables.at[last->target].blocks[i]);
        bool ends = last && (op_info[last->op].flags & OPF_END);
        if ((!ends || (guarded && last->op != OP_BRX)) && b + 1 < f->blocks.len)
            vec_push(&k->succ, b + 1);
    }
}

static void lower_function(struct lower *l) {
    struct ptx_func *f = l->func;
    l->in = NULL;
    if (f->refused) {
        str_printf(&l->diag->text, "%s", f->refused);
        l->diag->errors++;
        longjmp(*l->fail, 1);
    }
    l->fn = fn_create(l->prog, f->name);
    vec_push(&l->prog->fns, l->fn);
    uint32_t *start = make_blocks(l);
    begin_function(l);
    l->exit_block = start[f->ninsts] - 1;
    l->block = 0;
    l->vmark = l->pmark = UINT32_MAX;
    if (f->entry && l->fn->fp != VREG_RZ)
        emit1(l, OP_MOV, opd_reg(l->fn->fp, 0), opd_imm(0));
    if (l->top != VREG_RZ)
        lower_stack_begin(l);
    register_params(l, f->params, f->nparams, OP_LD);
    for (uint32_t i = 0; i < f->ninsts; i++) {
        if (start[i])
            l->block = start[i] - 1;
        l->in = &f->insts[i];
        l->vmark = l->fn->vregs.len;
        l->pmark = l->fn->npreds;
        if (!lower_table[l->in->op])
            lower_refuse_form(l);
        lower_table[l->in->op](l);
    }
    l->in = NULL;
    l->block = l->exit_block;
    if (!f->entry)
        register_params(l, f->rets, f->nrets, OP_ST);
    append(l, inst_new(f->entry ? OP_EXIT : OP_RET));
    l->fn->vars = l->fn->frame;
    link_blocks(l);
}

/* Lowers everything in the queue, which grows as calls are met. */
static bool lower_all(struct lower *l, struct ptx_func *k) {
    jmp_buf fail;
    l->fail = &fail;
    if (setjmp(fail))
        return false;
    lower_fn_index(l, k);
    for (uint32_t i = 0; i < l->queue.len; i++) {
        l->func = l->queue.at[i];
        uint32_t id = 0;
        while (l->mod->funcs[id] != l->func)
            id++;
        vec_push(&l->prog->fn_ids, id);
        lower_function(l);
    }
    return true;
}

/* What places in the code are called: the program may outlive the module. */
static void name_sources(struct program *p, const struct ptx_module *m) {
    const char **files = arena_array(&p->arena, const char *, m->nfiles + 1);
    for (uint32_t i = 0; i < m->nfiles; i++)
        if (m->files[i].name)
            files[i] = arena_strndup(&p->arena, m->files[i].name, strlen(m->files[i].name));
    p->source = arena_strndup(&p->arena, m->src.name, strlen(m->src.name));
    p->files = files;
    p->nfiles = m->nfiles;
}

struct program *ptx_lower(struct ptx_module *m, struct ptx_func *k, struct diag *d) {
    struct program *p = xcalloc(1, sizeof *p);
    struct lower *l = xcalloc(1, sizeof *l); /* not on the stack: it changes between setjmp and longjmp */
    *l = (struct lower){.mod = m, .prog = p, .diag = d};
    p->name = k->name;
    name_sources(p, m);
    p->address_bits = m->address_bits;
    p->shared_align = 16;
    bool ok = lower_all(l, k);
    map_free(&l->fn_index);
    map_free(&l->places);
    vec_free(&l->queue);
    free(l);
    if (ok)
        return p;
    program_destroy(p);
    return NULL;
}
