/* Building machine code: functions, registers, blocks, instructions. */
#include "ir/facts.h"

struct fn *fn_create(struct program *p, const char *name) {
    struct fn *f = arena_new(&p->arena, struct fn);
    f->name = name;
    f->fp = VREG_RZ;
    return f;
}

struct program *program_stream(struct program *p, const char *name) {
    struct program *s = xcalloc(1, sizeof *s);
    s->name = arena_printf(&s->arena, "%s", name);
    s->kernel = p;
    s->facts = p->facts;
    s->reg_limit = p->reg_limit;
    s->shared_static = p->shared_static;
    s->shared_align = p->shared_align;
    s->param_bytes = p->param_bytes;
    s->const_bytes = p->const_bytes;
    s->address_bits = p->address_bits;
    struct fn *f = fn_create(s, s->name);
    f->entry = true;
    vec_push(&s->fns, f);
    vec_push(&s->fn_ids, p->fn_ids.len ? p->fn_ids.at[0] : 0);
    vec_push(&p->streams, s);
    return s;
}

uint32_t fn_vreg(struct fn *f, uint32_t words) {
    vec_push(&f->vregs, (uint8_t)words);
    return f->vregs.len - 1;
}

uint32_t fn_pred(struct fn *f) {
    return f->npreds++;
}

uint32_t fn_block(struct fn *f) {
    vec_push(&f->blocks, (struct block){.ipdom = NO_BLOCK});
    return f->blocks.len - 1;
}

struct inst inst_new(enum op op) {
    const struct popd pt = {.id = VPRED_PT};
    return (struct inst){.op = (uint16_t)op,
                         .guard = pt,
                         .pdst = {pt, pt},
                         .psrc = {pt, pt},
                         .target = NO_BLOCK,
                         .rpc = NO_RPC};
}

void block_insert(struct block *b, uint32_t at, const struct inst *list, uint32_t n) {
    vec_reserve(&b->insts, b->insts.len + n);
    for (uint32_t k = b->insts.len; k-- > at;)
        b->insts.at[k + n] = b->insts.at[k];
    b->insts.len += n;
    for (uint32_t k = at; k < at + n; k++) {
        b->insts.at[k] = list[k - at];
        if (at + n < b->insts.len)
            inst_from(&b->insts.at[k], &b->insts.at[at + n]);
    }
}

void block_free(struct block *b) {
    vec_free(&b->insts);
    vec_free(&b->succ);
    vec_free(&b->pred);
}

void program_free(struct program *p) {
    for (uint32_t i = 0; i < p->fns.len; i++) {
        struct fn *f = p->fns.at[i];
        for (uint32_t b = 0; b < f->blocks.len; b++)
            block_free(&f->blocks.at[b]);
        vec_free(&f->blocks);
        vec_free(&f->vregs);
        vec_free(&f->tables);
    }
    for (uint32_t i = 0; i < p->streams.len; i++)
        program_destroy(p->streams.at[i]);
    vec_free(&p->streams);
    if (!p->kernel)
        facts_free(p->facts);
    vec_free(&p->fns);
    vec_free(&p->fn_ids);
    vec_free(&p->literals);
    vec_free(&p->tables);
    arena_free(&p->arena);
    *p = (struct program){0};
}

void program_destroy(struct program *p) {
    if (!p)
        return;
    program_free(p);
    free(p);
}
