/* What annotations speak of (section 3.3.1): the loads whose values are compared, values that are pixels, the
 * threshold. Before register allocation, so that a mark keeps no value alive; starts and ends of regions stay
 * for the other pass. */
#include <stdarg.h>
#include <string.h>

#include "mech/lnl/compile.h"

enum { MAX_STEPS = 64 };

void lnl_say(const struct pass_run *r, enum diag_level level, const struct inst *i, const char *fmt, ...) {
    const struct program *p = r->p;
    struct str text = {0};
    if (i->dbg_line && i->dbg_file < p->nfiles && p->files[i->dbg_file])
        str_printf(&text, "%s:%u", p->files[i->dbg_file], i->dbg_line);
    else
        str_printf(&text, "%s:%u", p->source ? p->source : "PTX", i->line);
    str_printf(&text, ": %s: ", p->name);
    va_list ap;
    va_start(ap, fmt);
    str_vprintf(&text, fmt, ap);
    va_end(ap);
    diag_add(r->d, level, "%s", str_text(&text));
    str_free(&text);
}

uint32_t lnl_source(const struct lnl_code *c, uint32_t block, uint32_t index, uint32_t s, uint32_t w) {
    const struct opd *o = &lnl_inst(c, block, index)->src[s];
    if (o->kind != O_REG || is_rz(o))
        return NONE;
    return reach_read(&c->reach, block, index, value_of_opd(&c->reach.v, o) + w);
}

/* Operations that leave a loaded value what it is, but for its width. */
static bool keeps_value(const struct inst *i) {
    switch (i->op) {
    case OP_MOV:
    case OP_AND:
    case OP_SEXT:
    case OP_PRMT:
    case OP_I2F:
    case OP_F2F:
        return true;
    default:
        return false;
    }
}

static bool is_load(const struct inst *i) {
    return i->op == OP_LD || i->op == OP_LDC || i->op == OP_TEX || i->op == OP_SULD;
}

/* Marks the loads from which a version comes; returns how many there are. */
static uint32_t mark_loads(struct lnl_code *c, uint32_t v, const struct inst *mark) {
    uint32_t stack[MAX_STEPS], n = 0, found = 0, steps = 0;
    stack[n++] = v;
    while (n && steps++ < MAX_STEPS) {
        const struct version *x = &c->reach.at[stack[--n]];
        if (x->kind == VERSION_MERGE) {
            const struct block *b = &c->f->blocks.at[x->block];
            for (uint32_t k = 0; k < b->pred.len && n < MAX_STEPS; k++)
                stack[n++] = c->reach.inputs[x->input + k];
            continue;
        }
        if (x->kind != VERSION_WRITE)
            continue;
        struct inst *i = lnl_inst(c, x->block, x->index);
        if (is_load(i)) {
            struct lnl_fact *f = lnl_fact(c, i);
            f->check = true;
            f->integer = mark->m.mode == MARK_CHECK_INT;
            f->uses |= (uint32_t)mark->imm;
            found++;
        }
        if (x->before != NONE && n < MAX_STEPS)
            stack[n++] = x->before;
        for (uint32_t s = 0; keeps_value(i) && s < i->nsrc && n < MAX_STEPS; s++) {
            uint32_t from = lnl_source(c, x->block, x->index, s, 0);
            if (from != NONE)
                stack[n++] = from;
        }
    }
    return found;
}

/* Marks the instructions that made a version as makers of pixels. */
static void mark_pixels(struct lnl_code *c, uint32_t v) {
    uint32_t *list, n = reach_definitions(c->arena, &c->reach, v, &list);
    for (uint32_t k = 0; k < n; k++)
        if (c->reach.at[list[k]].kind == VERSION_WRITE)
            lnl_fact(c, lnl_inst(c, c->reach.at[list[k]].block, c->reach.at[list[k]].index))->pixels = true;
}

static void name_threshold(struct lnl_code *c, const struct inst *mark) {
    struct lnl_kernel *k = fact_make(c->run->p, LNL_OWNER, NULL, sizeof *k);
    float th;
    memcpy(&th, &mark->imm, sizeof th);
    if (k->named && k->threshold != th)
        lnl_say(c->run, DIAG_ERROR, mark, "a kernel has one threshold; this is another");
    k->threshold = th;
    k->named = true;
}

static void resolve(struct lnl_code *c, uint32_t block, uint32_t index) {
    struct inst *i = lnl_inst(c, block, index);
    uint32_t v = lnl_source(c, block, index, 0, 0);
    if (i->m.mode == MARK_THRESHOLD)
        name_threshold(c, i);
    else if (i->m.mode == MARK_PIXELS && v != NONE)
        mark_pixels(c, v);
    else if (i->m.mode != MARK_PIXELS && (v == NONE || !mark_loads(c, v, i)))
        lnl_say(c->run, DIAG_ERROR, i, "approx_load of a value that was not loaded from memory");
}

bool lnl_marks_pass(const struct pass_run *r) {
    bool changed = false;
    for (uint32_t n = 0; n < r->p->fns.len; n++) {
        struct arena a = {0};
        struct lnl_code c = {.run = r, .arena = &a, .f = r->p->fns.at[n]};
        cfg_joins(c.f);
        c.reach = reach_of(&a, c.f);
        for (uint32_t b = 0; b < c.f->blocks.len; b++)
            for (uint32_t k = 0; k < c.f->blocks.at[b].insts.len; k++) {
                struct inst *i = lnl_inst(&c, b, k);
                if (i->op != OP_MARK)
                    continue;
                if (n)
                    lnl_say(r, DIAG_ERROR, i, "annotations in a function that is called, not inlined");
                if (lnl_is(i, MARK_START) || lnl_is(i, MARK_END))
                    continue;
                resolve(&c, b, k);
                changed = true;
            }
        for (uint32_t b = 0; b < c.f->blocks.len; b++)
            for (uint32_t k = 0; k < c.f->blocks.at[b].insts.len; k++) {
                struct inst *i = lnl_inst(&c, b, k);
                if (i->op == OP_MARK && !lnl_is(i, MARK_START) && !lnl_is(i, MARK_END))
                    *i = inst_new(OP_NOP);
            }
        arena_free(&a);
    }
    return changed;
}
