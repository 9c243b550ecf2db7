/* Building machine code: functions, registers, blocks, instructions. */
#include "ir/ir.h"

struct fn *fn_create(struct program *p, const char *name) {
    struct fn *f = arena_new(&p->arena, struct fn);
    f->name = name;
    f->fp = VREG_RZ;
    return f;
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
