/* Control flow, calls, barriers and warp-wide operations. */
#include <string.h>

#include "ptx/lower.h"

#define T(i)   in_type(l, i)
#define U32(i) src_word(l, arg(l, i), PTX_U32, 0)

static struct popd guard_of(struct lower *l) {
    if (!l->in->guarded)
        return (struct popd){VPRED_PT, false};
    return (struct popd){l->func->regs[l->in->guard].user, l->in->guard_neg};
}

static void emit_branch(struct lower *l, uint32_t block, bool uni) {
    struct inst i = inst_new(OP_BRA);
    i.guard = guard_of(l);
    i.target = block;
    i.m.uni = uni;
    emit(l, i);
}

void lower_bra(struct lower *l) {
    if (arg(l, 0)->kind != OPD_LABEL)
        lower_refuse(l, "a label is needed");
    emit_branch(l, l->label_block[arg(l, 0)->label], has(l, MOD_UNI));
}

void lower_brx(struct lower *l) {
    const struct ptx_opd *t = arg(l, 1);
    if (t->kind != OPD_TARGETS || !t->targets->nlabels)
        lower_refuse(l, "a list of branch targets is needed");
    if (l->in->guarded)
        lower_refuse(l, "a guarded indexed branch is not supported");
    struct fn *f = l->fn;
    vec_reserve(&f->tables, f->tables.len + 1);
    f->tables.at[f->tables.len].n = t->targets->nlabels;
    uint32_t *blocks = arena_array(&l->prog->arena, uint32_t, t->targets->nlabels);
    for (uint32_t k = 0; k < t->targets->nlabels; k++)
        blocks[k] = l->label_block[t->targets->labels[k]];
    f->tables.at[f->tables.len].blocks = blocks;
    struct inst i = inst_new(OP_BRX);
    i.src[0] = U32(0);
    i.nsrc = 1;
    i.target = f->tables.len++;
    emit(l, i);
}

void lower_ret(struct lower *l) {
    if (l->func->entry) {
        lower_exit(l);
        return;
    }
    emit_branch(l, l->exit_block, has(l, MOD_UNI));
}

void lower_exit(struct lower *l) {
    emit(l, inst_new(OP_EXIT));
}

void lower_trap(struct lower *l) {
    emit(l, inst_new(OP_TRAP));
}

void lower_nanosleep(struct lower *l) {
    emit(l, inst_new(OP_NANOSLEEP));
}

/* ---- calls ---- */

/* The parts of a call instruction. */
struct call {
    const struct ptx_opd *rets, *target, *args; /* rets, args may be NULL */
    const struct ptx_func *sig;
};

static struct call call_parts(struct lower *l, const struct ptx_inst *in) {
    struct call c = {0};
    uint32_t i = 0;
    if (i < in->nopds && in->opds[i].kind == OPD_LIST)
        c.rets = &in->opds[i++];
    if (i < in->nopds)
        c.target = &in->opds[i++];
    if (i < in->nopds && in->opds[i].kind == OPD_LIST)
        c.args = &in->opds[i++];
    const struct ptx_targets *t =
        i < in->nopds && in->opds[i].kind == OPD_TARGETS ? in->opds[i].targets : NULL;
    if (c.target && c.target->kind == OPD_FUNC)
        c.sig = c.target->func;
    else if (t)
        c.sig = t->proto ? t->proto : t->nfuncs ? t->funcs[0] : NULL;
    if (!c.target || (c.target->kind != OPD_FUNC && c.target->kind != OPD_REG) || !c.sig)
        lower_refuse(l, "the callee is not known");
    uint32_t nr = c.rets ? c.rets->nelems : 0, na = c.args ? c.args->nelems : 0;
    if (nr != c.sig->nrets || na != c.sig->nparams)
        lower_refuse(l, "the call does not match '%s'", c.sig->name ? c.sig->name : "the prototype");
    return c;
}

/* Walks results, then parameters, with their offsets in the callee's frame; returns the end. */
static uint32_t each_param(struct lower *l, const struct call *c,
                           void (*visit)(struct lower *, const struct ptx_var *, const struct ptx_opd *,
                                         uint32_t, bool)) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < c->sig->nrets; at += (uint32_t)c->sig->rets[i++]->size) {
        at = align_up(at, c->sig->rets[i]->align);
        if (visit)
            visit(l, c->sig->rets[i], &c->rets->elems[i], at, true);
    }
    for (uint32_t i = 0; i < c->sig->nparams; at += (uint32_t)c->sig->params[i++]->size) {
        at = align_up(at, c->sig->params[i]->align);
        if (visit)
            visit(l, c->sig->params[i], &c->args->elems[i], at, false);
    }
    return at;
}

static void plan_param(struct lower *l, const struct ptx_var *sig, const struct ptx_opd *o, uint32_t at,
                       bool ret) {
    (void)sig;
    (void)ret;
    if (o->kind != OPD_VAR || o->var->space != SPACE_PARAM || lower_is_incoming(l->func, o->var))
        return;
    uintptr_t known = (uintptr_t)map_get_u64(&l->places, (uintptr_t)o->var);
    if (known && known != (uintptr_t)at + 1)
        lower_refuse(l, "parameter '%s' is used at different places of two calls", o->var->name);
    map_set_u64(&l->places, (uintptr_t)o->var, (void *)(uintptr_t)(at + 1));
}

void lower_plan_calls(struct lower *l) {
    for (uint32_t i = 0; i < l->func->ninsts; i++) {
        if (l->func->insts[i].op != PTXOP_CALL)
            continue;
        l->in = &l->func->insts[i];
        struct call c = call_parts(l, l->in);
        each_param(l, &c, plan_param);
    }
    l->in = NULL;
}

/* A value passed in a register, or an immediate, goes to and comes from the callee's frame. */
static void pass(struct lower *l, const struct ptx_var *sig, const struct ptx_opd *o, uint32_t at, bool ret,
                 bool now_rets) {
    if (ret != now_rets || o->kind == OPD_SINK ||
        (o->kind == OPD_VAR && o->var->space == SPACE_PARAM && !lower_is_incoming(l->func, o->var)))
        return;
    if (o->kind == OPD_VAR && o->var->space == SPACE_PARAM)
        lower_refuse(l, "passing on a parameter is not supported");
    struct inst i = inst_new(ret ? OP_LD : OP_ST);
    i.m.space = MS_LOCAL;
    i.m.size = (uint8_t)ptx_type_size(sig->type);
    i.m.vec = 1;
    i.m.sgn = type_is_signed(sig->type);
    struct address place = lower_outgoing(l, (int32_t)at);
    i.src[0] = place.base;
    i.imm = place.imm;
    i.frame = place.frame;
    i.nsrc = ret ? 1 : 2;
    if (ret)
        i.dst = dst_word(l, o, 0);
    else
        i.src[1] = src_group(l, o, sig->type);
    emit(l, i);
}

static void pass_arg(struct lower *l, const struct ptx_var *sig, const struct ptx_opd *o, uint32_t at,
                     bool ret) {
    pass(l, sig, o, at, ret, false);
}

static void take_ret(struct lower *l, const struct ptx_var *sig, const struct ptx_opd *o, uint32_t at,
                     bool ret) {
    pass(l, sig, o, at, ret, true);
}

/* Brings the frame register behind the caller's frame (sign 1) or back. Between the two nothing of the
 * caller's can be reached, so that the way back is kept in memory where it depends on what was allocated. */
static void move_frame(struct lower *l, uint32_t sign) {
    if (l->top != VREG_RZ) {
        bool back = sign != 1;
        struct inst keep = inst_new(back ? OP_LD : OP_ST);
        keep.m.space = MS_LOCAL;
        keep.m.size = 4;
        keep.m.vec = 1;
        keep.nsrc = back ? 1 : 2;
        keep.src[0] = opd_reg(back ? l->fn->fp : l->top, 0);
        keep.imm = back ? -LINKAGE : 0;
        if (back)
            keep.dst = opd_reg(l->fn->fp, 0);
        else
            keep.src[1] = opd_reg(l->fn->fp, 0);
        emit(l, keep);
        if (!back)
            emit2(l, OP_IADD, opd_reg(l->fn->fp, 0), opd_reg(l->top, 0), opd_imm(LINKAGE));
        return;
    }
    struct inst i = mk(OP_IADD, opd_reg(l->fn->fp, 0), opd_reg(l->fn->fp, 0), opd_imm(sign), none);
    i.frame = true;
    emit(l, i);
}

/* Functions the device runtime provides. */
static const struct {
    const char *name;
    uint32_t id;
} system_calls[] = {
#define SYSCALL(id, name, print) {name, SYS_##id},
#include "isa/syscalls.def"
#undef SYSCALL
    {"__assert_fail", SYS_ASSERTFAIL},
};

static bool system_call(struct lower *l, const struct call *c) {
    for (uint32_t k = 0; k < sizeof system_calls / sizeof system_calls[0]; k++) {
        if (strcmp(c->sig->name, system_calls[k].name))
            continue;
        struct inst i = inst_new(OP_SYSCALL);
        i.m.mode = (uint16_t)system_calls[k].id;
        i.m.size = (uint8_t)(l->mod->address_bits / 8);
        i.m.space = MS_LOCAL;
        struct address args = lower_outgoing(l, 0);
        i.src[0] = args.base;
        i.imm = args.imm;
        i.frame = args.frame;
        i.nsrc = 1;
        emit(l, i);
        return true;
    }
    return false;
}

/* Every function whose address may be in a register: named by an initialiser or taken by an instruction. */
static void queue_address_taken(struct lower *l) {
    if (l->indirect)
        return;
    l->indirect = true;
    for (uint32_t v = 0; v < l->mod->nvars; v++)
        for (uint32_t k = 0; k < l->mod->vars[v]->ninit; k++)
            if (l->mod->vars[v]->init[k].func && l->mod->vars[v]->init[k].func->defined &&
                !l->mod->vars[v]->init[k].func->entry)
                lower_fn_index(l, (struct ptx_func *)l->mod->vars[v]->init[k].func);
    for (uint32_t f = 0; f < l->mod->nfuncs; f++) {
        const struct ptx_func *g = l->mod->funcs[f];
        for (uint32_t i = 0; i < g->ninsts; i++) {
            if (g->insts[i].op == PTXOP_CALL)
                continue;
            for (uint32_t k = 0; k < g->insts[i].nopds; k++) {
                const struct ptx_func *h =
                    g->insts[i].opds[k].kind == OPD_FUNC ? g->insts[i].opds[k].func : NULL;
                if (h && h->defined && !h->entry)
                    lower_fn_index(l, (struct ptx_func *)h);
            }
        }
    }
}

void lower_call(struct lower *l) {
    struct call c = call_parts(l, l->in);
    uint32_t end = each_param(l, &c, pass_arg);
    if (end > l->fn->outgoing)
        l->fn->outgoing = end;
    bool direct = c.target->kind == OPD_FUNC;
    if (direct && !c.sig->defined) {
        if (!system_call(l, &c))
            lower_refuse(l, "function '%s' is not defined in this module", c.sig->name);
        each_param(l, &c, take_ret);
        return;
    }
    struct inst i = inst_new(direct ? OP_CALL : OP_CALLI);
    if (direct) {
        i.target = lower_fn_index(l, (struct ptx_func *)c.sig);
    } else {
        queue_address_taken(l);
        i.m.a64 = l->mod->address_bits == 64;
        i.src[0] = src_group(l, c.target, i.m.a64 ? PTX_U64 : PTX_U32);
        i.nsrc = 1;
    }
    move_frame(l, 1);
    emit(l, i);
    move_frame(l, 0xffffffffu);
    each_param(l, &c, take_ret);
}

/* ---- the stack ---- */

enum { STACK_ALIGN = 16 };

void lower_stack_begin(struct lower *l) {
    struct opd fp = l->fn->fp == VREG_RZ ? opd_rz() : opd_reg(l->fn->fp, 0);
    struct inst i = mk(OP_IADD, opd_reg(l->top, 0), fp, opd_imm(1), none);
    i.frame = true;
    emit(l, i);
    l->prog->recursive = true; /* no size is known that suffices */
}

/* a rounded up to a multiple of align, a power of two. */
static void round_up(struct lower *l, struct opd d, struct opd a, uint32_t align) {
    struct opd t = opd_reg(tmp(l, 1), 0);
    emit2(l, OP_IADD, t, a, opd_imm(align - 1));
    emit2(l, OP_AND, d, t, opd_imm(0u - align));
}

void lower_alloca(struct lower *l) {
    uint64_t align = l->in->nopds > 2 ? arg(l, 2)->imm : 8;
    struct opd p = opd_reg(tmp(l, 1), 0), end = opd_reg(tmp(l, 1), 0), top = opd_reg(l->top, 0);
    if (align & (align - 1) || !align || align > 1 << 20)
        lower_refuse(l, "the alignment must be a power of two");
    if (align > STACK_ALIGN)
        round_up(l, p, top, (uint32_t)align);
    else
        emit1(l, OP_MOV, p, top);
    emit2(l, OP_IADD, end, p, src_word(l, arg(l, 1), PTX_U32, 0));
    round_up(l, top, end, STACK_ALIGN);
    emit1(l, OP_MOV, dst_word(l, arg(l, 0), 0), p);
    if (dst_words(l, arg(l, 0)) > 1)
        emit1(l, OP_MOV, dst_word(l, arg(l, 0), 1), opd_rz());
}

void lower_stacksave(struct lower *l) {
    emit1(l, OP_MOV, dst_word(l, arg(l, 0), 0), opd_reg(l->top, 0));
    if (dst_words(l, arg(l, 0)) > 1)
        emit1(l, OP_MOV, dst_word(l, arg(l, 0), 1), opd_rz());
}

void lower_stackrestore(struct lower *l) {
    if (l->top == VREG_RZ)
        lower_refuse(l, "nothing was saved");
    emit1(l, OP_MOV, opd_reg(l->top, 0), src_word(l, arg(l, 0), PTX_U32, 0));
}

/* ---- barriers ---- */

static struct opd in_reg_or_imm(struct lower *l, uint32_t k) {
    return k < l->in->nopds ? U32(k) : opd_imm(0);
}

void lower_bar(struct lower *l) {
    struct inst i = inst_new(OP_BAR);
    i.nsrc = 2;
    if (has(l, MOD_WARP)) {
        struct inst w = inst_new(OP_WARPSYNC);
        w.src[0] = U32(0);
        w.nsrc = 1;
        emit(l, w);
        return;
    }
    if (has(l, MOD_CLUSTER)) {
        bool arrive = has(l, MOD_ARRIVE);
        if (arrive && !has(l, MOD_RELAXED)) /* what was written before is visible behind the barrier */
            emit(l, inst_new(OP_MEMBAR));
        i.m.mode = arrive ? BAR_CLUSTER_ARRIVE : BAR_CLUSTER_WAIT;
        i.src[0] = i.src[1] = opd_imm(0);
        emit(l, i);
        return;
    }
    bool red = has(l, MOD_RED);
    uint32_t first = red ? 1 : 0;
    i.m.aligned = l->in->op == PTXOP_BAR || has(l, MOD_ALIGNED);
    i.m.mode = has(l, MOD_ARRIVE) ? BAR_ARRIVE
               : !red             ? BAR_SYNC
               : has(l, MOD_POPC) ? BAR_RED_POPC
               : has(l, MOD_OR)   ? BAR_RED_OR
                                  : BAR_RED_AND;
    i.src[0] = in_reg_or_imm(l, first);
    bool count = l->in->nopds > first + 1 + (red ? 1u : 0u);
    i.src[1] = count ? U32(first + 1) : opd_imm(0);
    if (red) {
        i.psrc[0] = src_pred(l, arg(l, l->in->nopds - 1u));
        if (i.m.mode == BAR_RED_POPC)
            i.dst = dst_word(l, arg(l, 0), 0);
        else
            i.pdst[0].id = dst_pred(l, arg(l, 0));
    }
    for (uint32_t s = 0; s < 2; s++) { /* two immediates are usual and need no registers here */
        if (i.src[s].kind != O_CONST)
            continue;
        struct opd t = opd_reg(tmp(l, 1), 0);
        emit1(l, OP_MOV, t, i.src[s]);
        i.src[s] = t;
    }
    emit(l, i);
}

/* ---- across the warp ---- */

/* The member mask at operand k of .sync forms; the old forms name none and concern the active threads. */
static struct opd member_mask(struct lower *l, struct inst *i, uint32_t k) {
    if (has(l, MOD_SYNC))
        return U32(k);
    i->m.lut = 1;
    return opd_imm(0xffffffffu);
}

void lower_shfl(struct lower *l) {
    struct inst i = inst_new(OP_SHFL);
    const struct ptx_opd *d = arg(l, 0);
    i.m.mode = has(l, MOD_UP)     ? SHFL_UP
               : has(l, MOD_DOWN) ? SHFL_DOWN
               : has(l, MOD_BFLY) ? SHFL_BFLY
                                  : SHFL_IDX;
    i.dst = dst_word(l, d->kind == OPD_PAIR ? &d->elems[0] : d, 0);
    if (d->kind == OPD_PAIR)
        i.pdst[0].id = dst_pred(l, &d->elems[1]);
    i.src[0] = U32(1);
    i.src[1] = U32(2);
    i.src[2] = U32(3);
    i.src[3] = member_mask(l, &i, 4);
    i.nsrc = 4;
    emit(l, i);
}

void lower_vote(struct lower *l) {
    struct inst i = inst_new(OP_VOTE);
    i.m.mode = has(l, MOD_BALLOT) ? VOTE_BALLOT
               : has(l, MOD_ALL)  ? VOTE_ALL
               : has(l, MOD_ANY)  ? VOTE_ANY
                                  : VOTE_UNI;
    i.psrc[0] = src_pred(l, arg(l, 1));
    i.src[0] = member_mask(l, &i, 2);
    i.nsrc = 1;
    if (i.m.mode == VOTE_BALLOT)
        i.dst = dst_word(l, arg(l, 0), 0);
    else
        i.pdst[0].id = dst_pred(l, arg(l, 0));
    emit(l, i);
}

void lower_match(struct lower *l) {
    struct inst i = inst_new(OP_MATCH);
    const struct ptx_opd *d = arg(l, 0);
    i.m.mode = has(l, MOD_ALL) ? MATCH_ALL : MATCH_ANY;
    i.dst = dst_word(l, d->kind == OPD_PAIR ? &d->elems[0] : d, 0);
    if (d->kind == OPD_PAIR)
        i.pdst[0].id = dst_pred(l, &d->elems[1]);
    i.m.size = (uint8_t)ptx_type_size(T(0));
    i.src[0] = src_word(l, arg(l, 1), T(0), 0);
    i.src[1] = member_mask(l, &i, 2);
    i.nsrc = 2;
    if (i.m.size == 8) {
        i.src[2] = src_word(l, arg(l, 1), T(0), 1);
        i.nsrc = 3;
    }
    emit(l, i);
}

void lower_redux(struct lower *l) {
    struct inst i = inst_new(OP_REDUX);
    if (type_is_float(T(0)))
        lower_refuse_form(l);
    i.m.mode = has(l, MOD_ADD)   ? REDUX_ADD
               : has(l, MOD_MIN) ? REDUX_MIN
               : has(l, MOD_MAX) ? REDUX_MAX
               : has(l, MOD_AND) ? REDUX_AND
               : has(l, MOD_OR)  ? REDUX_OR
                                 : REDUX_XOR;
    i.m.sgn = type_is_signed(T(0));
    i.dst = dst_word(l, arg(l, 0), 0);
    i.src[0] = U32(1);
    i.src[1] = member_mask(l, &i, 2);
    i.nsrc = 2;
    emit(l, i);
}

void lower_activemask(struct lower *l) {
    struct inst i = inst_new(OP_VOTE); /* a ballot of true among the active threads */
    i.m.mode = VOTE_BALLOT;
    i.m.lut = 1;
    i.src[0] = opd_imm(0xffffffffu);
    i.nsrc = 1;
    i.dst = dst_word(l, arg(l, 0), 0);
    emit(l, i);
}

void lower_elect(struct lower *l) {
    struct inst i = inst_new(OP_ELECT);
    const struct ptx_opd *d = arg(l, 0);
    if (d->kind == OPD_PAIR) {
        if (d->elems[0].kind != OPD_SINK)
            i.dst = dst_word(l, &d->elems[0], 0);
        i.pdst[0].id = dst_pred(l, &d->elems[1]);
    }
    i.src[0] = U32(1);
    i.nsrc = 1;
    emit(l, i);
}
