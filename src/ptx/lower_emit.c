/* Instructions as they are added to a function, and refusals of those that cannot be. */
#include <stdarg.h>
#include <stdio.h>

#include "ptx/lower.h"

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
