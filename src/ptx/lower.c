/* The frame of the lowering: functions, their blocks and registers. */
#include "ptx/lower.h"

#include <stdio.h>
#include <string.h>

#include "ptx/lower_table.h"

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
    vec_push(&l->fn->blocks.at[l->block].insts, inst_new(f->entry ? OP_EXIT : OP_RET));
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
