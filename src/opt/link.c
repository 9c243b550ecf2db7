/* Layout: all functions in one array, branches to instruction indices, sizes of the whole program. */
#include <string.h>

#include "opt/pass.h"

/* The block that follows b when no branch is taken, or NONE. */
static uint32_t falls_into(const struct block *b) {
    const struct inst *last = b->insts.len ? &b->insts.at[b->insts.len - 1] : NULL;
    if (!ends_block(last))
        return b->succ.len ? b->succ.at[0] : NONE;
    if (last->op == OP_BRX || !is_guarded(last))
        return NONE;
    return b->succ.at[b->succ.len - 1];
}

/* True when all that leads forward to block b has a place. */
static bool may_follow(const struct fn *f, const bool *placed, uint32_t b) {
    for (uint32_t p = 0; p < f->blocks.at[b].pred.len; p++)
        if (f->blocks.at[b].pred.at[p] < b && !placed[f->blocks.at[b].pred.at[p]])
            return false;
    return true;
}

/* Order of blocks: as they are, except that a block is followed by the one it falls into where that is free
 * and does not come before others that lead to it. */
static uint32_t *block_order(struct arena *a, const struct fn *f) {
    uint32_t *order = arena_array(a, uint32_t, f->blocks.len + 1), n = 0;
    bool *placed = arena_array(a, bool, f->blocks.len + 1);
    for (uint32_t b = 0; b < f->blocks.len; b++) {
        uint32_t k = b;
        while (k != NONE && !placed[k]) {
            placed[k] = true;
            order[n++] = k;
            k = falls_into(&f->blocks.at[k]);
            if (k != NONE && !may_follow(f, placed, k))
                break;
        }
    }
    return order;
}

/* Ends block b so that control is right when next follows; may add a branch. */
static void close_block(struct fn *f, uint32_t b, uint32_t next) {
    struct block *k = &f->blocks.at[b];
    uint32_t to = falls_into(k);
    struct inst *last = block_last(k);
    if (to == NONE || to == next)
        return;
    if (ends_block(last) && last->op == OP_BRA && k->succ.at[0] == next) {
        last->guard.neg = !last->guard.neg;
        last->target = to;
        k->succ.at[0] = to;
        k->succ.at[1] = next;
        return;
    }
    /* Neither way is next: the one that stays deeper in loops takes one branch, the other two. */
    if (ends_block(last) && last->op == OP_BRA && f->blocks.at[to].depth > f->blocks.at[last->target].depth) {
        uint32_t outer = last->target;
        last->guard.neg = !last->guard.neg;
        last->target = k->succ.at[0] = to;
        to = k->succ.at[1] = outer;
    }
    struct inst jump = inst_new(OP_BRA);
    jump.target = to;
    if (last)
        inst_from(&jump, last);
    vec_push(&k->insts,
             jump); /* from here on the block may hold two branches; only the linked form sees it */
}

/* Copies f's code to p->code; where[b] becomes the index of each block. */
static void emit_fn(struct program *p, struct fn *f, const uint32_t *order, uint32_t *where) {
    uint32_t start = p->ncode;
    for (uint32_t k = 0; k < f->blocks.len; k++) {
        const struct block *b = &f->blocks.at[order[k]];
        where[order[k]] = p->ncode;
        if (b->insts.len)
            memcpy(p->code + p->ncode, b->insts.at, b->insts.len * sizeof *b->insts.at);
        p->ncode += b->insts.len;
    }
    uint32_t at = start;
    for (uint32_t k = 0; k < f->blocks.len; k++) {
        const struct block *b = &f->blocks.at[order[k]];
        for (uint32_t n = 0; n < b->insts.len; n++, at++) {
            struct inst *i = &p->code[at];
            i->rpc = NO_RPC;
            if (i->op == OP_BRA)
                i->target = where[i->target];
            if ((i->op == OP_BRA || i->op == OP_BRX) && b->ipdom != NO_BLOCK)
                i->rpc = where[b->ipdom];
        }
    }
    for (uint32_t t = 0; t < f->tables.len; t++)
        for (uint32_t k = 0; k < f->tables.at[t].n; k++)
            f->tables.at[t].blocks[k] = where[f->tables.at[t].blocks[k]];
}

/* Local memory from f down its deepest call chain. */
struct depths {
    struct program *p;
    uint64_t *bytes;
    uint8_t *state; /* 1: being computed, 2: done */
};

/* Visits the call graph without recursion of our own, since its depth is the user's. */
static uint64_t deepest(struct depths *d, uint32_t root) {
    VEC(uint32_t) stack = {0};
    vec_push(&stack, root);
    while (stack.len) {
        uint32_t n = stack.at[stack.len - 1];
        struct fn *f = d->p->fns.at[n];
        uint64_t below = f->outgoing;
        bool ready = true;
        if (d->state[n] == 2) {
            stack.len--;
            continue;
        }
        bool first = d->state[n] == 0;
        d->state[n] = 1;
        for (uint32_t b = 0; b < f->blocks.len; b++)
            for (uint32_t k = 0; k < f->blocks.at[b].insts.len; k++) {
                const struct inst *i = &f->blocks.at[b].insts.at[k];
                d->p->recursive |= i->op == OP_CALLI;
                if (i->op != OP_CALL)
                    continue;
                if (d->state[i->target] == 0 && first) {
                    vec_push(&stack, i->target);
                    ready = false;
                } else if (d->state[i->target] == 1) {
                    d->p->recursive = true;
                } else if (d->bytes[i->target] > below) {
                    below = d->bytes[i->target];
                }
            }
        if (ready) {
            d->bytes[n] = f->frame + below;
            d->state[n] = 2;
            stack.len--;
        }
    }
    vec_free(&stack);
    return d->bytes[root];
}

static void sizes(struct program *p) {
    struct arena a = {0};
    struct depths d = {.p = p,
                       .bytes = arena_array(&a, uint64_t, p->fns.len),
                       .state = arena_array(&a, uint8_t, p->fns.len)};
    uint64_t bytes = deepest(&d, 0);
    p->nregs = 1;
    for (uint32_t n = 0; n < p->fns.len; n++) {
        bytes = d.bytes[n] > bytes ? d.bytes[n] : bytes;
        if (p->fns.at[n]->nregs > p->nregs)
            p->nregs = p->fns.at[n]->nregs;
    }
    p->local_bytes = bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes;
    if (!p->const_bytes)
        p->const_bytes = PARAM_BASE + p->param_bytes + p->literals.len * 4;
    arena_free(&a);
}

void link_program(struct program *p) {
    struct arena a = {0};
    uint32_t **order = arena_array(&a, uint32_t *, p->fns.len), total = 0;
    for (uint32_t n = 0; n < p->fns.len; n++) {
        struct fn *f = p->fns.at[n];
        order[n] = block_order(&a, f);
        for (uint32_t k = 0; k < f->blocks.len; k++) {
            close_block(f, order[n][k], k + 1 < f->blocks.len ? order[n][k + 1] : NONE);
            total += f->blocks.at[order[n][k]].insts.len;
        }
    }
    sizes(p);
    p->code = arena_array(&p->arena, struct inst, total + 1);
    p->fn_entry = arena_array(&p->arena, uint32_t, p->fns.len);
    p->ncode = 0;
    for (uint32_t n = 0; n < p->fns.len; n++) {
        struct fn *f = p->fns.at[n];
        p->fn_entry[n] = p->ncode;
        uint32_t first_table = p->tables.len;
        uint32_t *where = arena_array(&a, uint32_t, f->blocks.len + 1), start = p->ncode;
        emit_fn(p, f, order[n], where);
        for (uint32_t t = 0; t < f->tables.len; t++)
            vec_push(&p->tables, (struct branch_table){f->tables.at[t].blocks, f->tables.at[t].n});
        for (uint32_t k = start; k < p->ncode; k++)
            if (p->code[k].op == OP_BRX)
                p->code[k].target += first_table;
    }
    arena_free(&a);
}
