/* Control flow: the clean-up of branches.
 *
 * opt_simplify removes branches that never happen, follows jumps to jumps, gives threads that only leave a
 * guarded EXIT, appends a block to its only predecessor, and drops what cannot be reached. A reconvergence
 * point is a property of the graph and is computed afterwards, so none of this can lose one. */
#include <string.h>

#include "opt/pass.h"

void fn_compact(struct fn *f) {
    for (uint32_t b = 0; b < f->blocks.len; b++) {
        struct block *k = &f->blocks.at[b];
        uint32_t n = 0;
        for (uint32_t i = 0; i < k->insts.len; i++)
            if (k->insts.at[i].op != OP_NOP)
                k->insts.at[n++] = k->insts.at[i];
        k->insts.len = n;
    }
}

void fn_renumber(struct fn *f, const uint32_t *map, uint32_t n) {
    for (uint32_t b = 0; b < f->blocks.len; b++) {
        struct block *k = &f->blocks.at[b];
        if (map[b] == NONE)
            continue;
        struct inst *last = block_last(k);
        if (last && last->op == OP_BRA)
            last->target = map[last->target];
        for (uint32_t s = 0; s < k->succ.len; s++)
            k->succ.at[s] = map[k->succ.at[s]];
    }
    /* Entries of tables that no branch reads any more point nowhere; block 0 always exists. */
    for (uint32_t t = 0; t < f->tables.len; t++)
        for (uint32_t k = 0; k < f->tables.at[t].n; k++) {
            uint32_t to = map[f->tables.at[t].blocks[k]];
            f->tables.at[t].blocks[k] = to == NONE ? 0 : to;
        }
    for (uint32_t b = 0; b < f->blocks.len; b++) {
        if (map[b] == NONE)
            block_free(&f->blocks.at[b]);
        else
            f->blocks.at[map[b]] = f->blocks.at[b];
    }
    f->blocks.len = n;
}

static bool drop_unreachable(struct fn *f) {
    struct arena a = {0};
    uint32_t *order, n = cfg_rpo(&a, f, &order), kept = 0;
    if (n == f->blocks.len) {
        arena_free(&a);
        return false;
    }
    uint32_t *map = arena_array(&a, uint32_t, f->blocks.len);
    memset(map, 0xff, f->blocks.len * sizeof *map);
    for (uint32_t k = 0; k < n; k++)
        map[order[k]] = 0;
    for (uint32_t b = 0; b < f->blocks.len; b++)
        if (map[b] != NONE)
            map[b] = kept++;
    fn_renumber(f, map, kept);
    arena_free(&a);
    return true;
}

/* The block control reaches from b without doing anything, or b itself (also when b leads into an empty
 * loop). What is said of the loop that begins at a block that is passed is said of the one behind it. */
static uint32_t thread_through(struct fn *f, uint32_t start) {
    uint32_t b = start;
    for (uint32_t steps = 0; steps < 64; steps++) {
        const struct block *k = &f->blocks.at[b];
        bool empty = !k->insts.len ||
                     (k->insts.len == 1 && k->insts.at[0].op == OP_BRA && !is_guarded(&k->insts.at[0]));
        if (!empty || k->succ.len != 1 || k->succ.at[0] == b)
            return b;
        b = k->succ.at[0];
        f->blocks.at[b].no_unroll |= k->no_unroll;
    }
    return start;
}

static bool thread_edges(struct fn *f) {
    bool changed = false;
    for (uint32_t b = 0; b < f->blocks.len; b++) {
        struct block *k = &f->blocks.at[b];
        struct inst *last = block_last(k);
        for (uint32_t s = 0; s < k->succ.len; s++) {
            uint32_t to = thread_through(f, k->succ.at[s]);
            if (last && last->op == OP_BRX)
                continue;
            changed |= to != k->succ.at[s];
            k->succ.at[s] = to;
        }
        if (last && last->op == OP_BRA)
            last->target = k->succ.at[0];
    }
    for (uint32_t t = 0; t < f->tables.len; t++)
        for (uint32_t k = 0; k < f->tables.at[t].n; k++)
            f->tables.at[t].blocks[k] = thread_through(f, f->tables.at[t].blocks[k]);
    cfg_edges(f);
    return changed;
}

static bool only_exits(const struct fn *f, uint32_t b) {
    const struct block *k = &f->blocks.at[b];
    return k->insts.len == 1 && k->insts.at[0].op == OP_EXIT && !is_guarded(&k->insts.at[0]);
}

/* Turns the conditional branch that ends k into an exit for the threads with the given guard. */
static void make_exit(struct block *k, struct popd guard, uint32_t next) {
    struct inst *last = block_last(k);
    struct inst out = inst_new(OP_EXIT);
    out.id = last->id; /* what passes of mechanisms know of it still holds */
    out.guard = guard;
    inst_from(&out, last);
    *last = out;
    k->succ.len = 0;
    vec_push(&k->succ, next);
}

/* Simplifies the end of block b. */
static bool simplify_end(struct fn *f, uint32_t b) {
    struct block *k = &f->blocks.at[b];
    struct inst *last = block_last(k);
    if (!ends_block(last) || last->op == OP_BRX)
        return false;
    if (is_pf(&last->guard)) { /* never happens */
        uint32_t next = k->succ.at[k->succ.len - 1];
        k->insts.len--;
        k->succ.len = 0;
        vec_push(&k->succ, next);
        return true;
    }
    if (last->op != OP_BRA)
        return false;
    if (!is_guarded(last) || k->succ.at[0] == k->succ.at[1]) {
        k->insts.len--; /* layout puts a branch back where one is needed */
        k->succ.len = 1;
        return true;
    }
    uint32_t to = k->succ.at[0], next = k->succ.at[1];
    if (to <= b || next <= b || f->in_step) /* the end of a loop is one branch as it is */
        return false;
    if (only_exits(f, to)) {
        make_exit(k, last->guard, next);
        return true;
    }
    if (only_exits(f, next)) {
        struct popd guard = last->guard;
        guard.neg = !guard.neg;
        make_exit(k, guard, to);
        return true;
    }
    return false;
}

/* Appends the successor of b when nobody else goes there. */
static bool merge_next(struct fn *f, uint32_t b) {
    struct block *k = &f->blocks.at[b];
    if (k->succ.len != 1 || ends_block(block_last(k)))
        return false;
    uint32_t s = k->succ.at[0];
    struct block *next = &f->blocks.at[s];
    if (s == b || s == 0 || next->pred.len != 1)
        return false;
    for (uint32_t i = 0; i < next->insts.len; i++)
        vec_push(&k->insts, next->insts.at[i]);
    k->succ.len = 0;
    for (uint32_t i = 0; i < next->succ.len; i++) {
        struct block *after = &f->blocks.at[next->succ.at[i]];
        vec_push(&k->succ, next->succ.at[i]);
        for (uint32_t p = 0; p < after->pred.len; p++)
            if (after->pred.at[p] == s)
                after->pred.at[p] = b;
    }
    next->insts.len = next->succ.len = next->pred.len = 0;
    return true;
}

/* Nothing may jump to the first block: prologues go there. */
static void separate_entry(struct fn *f) {
    if (!f->blocks.at[0].pred.len)
        return;
    uint32_t n = f->blocks.len;
    struct arena a = {0};
    uint32_t *map = arena_array(&a, uint32_t, n + 1);
    struct block fresh = {.ipdom = NO_BLOCK};
    vec_push(&f->blocks, fresh);
    for (uint32_t b = 0; b < n; b++)
        map[b] = b + 1;
    for (uint32_t b = 0; b < n; b++) {
        struct inst *last = block_last(&f->blocks.at[b]);
        if (last && last->op == OP_BRA)
            last->target = map[last->target];
        for (uint32_t s = 0; s < f->blocks.at[b].succ.len; s++)
            f->blocks.at[b].succ.at[s] = map[f->blocks.at[b].succ.at[s]];
    }
    for (uint32_t t = 0; t < f->tables.len; t++)
        for (uint32_t k = 0; k < f->tables.at[t].n; k++)
            f->tables.at[t].blocks[k] = map[f->tables.at[t].blocks[k]];
    memmove(f->blocks.at + 1, f->blocks.at, n * sizeof *f->blocks.at);
    f->blocks.at[0] = fresh;
    vec_push(&f->blocks.at[0].succ, 1);
    arena_free(&a);
    cfg_edges(f);
}

bool opt_simplify(struct program *p, struct fn *f) {
    (void)p;
    bool changed = false;
    fn_compact(f);
    cfg_edges(f);
    for (bool again = true; again;) {
        again = thread_edges(f);
        for (uint32_t b = 0; b < f->blocks.len; b++)
            again |= simplify_end(f, b);
        cfg_edges(f);
        again |= drop_unreachable(f);
        cfg_edges(f);
        for (uint32_t b = 0; b < f->blocks.len; b++)
            while (merge_next(f, b))
                again = true;
        if (drop_unreachable(f))
            cfg_edges(f);
        changed |= again;
    }
    separate_entry(f);
    cfg_joins(f);
    return changed;
}
