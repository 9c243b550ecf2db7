/* Regions: what lies between a start and its end (section 3.3.1). One way in, one way out, and nothing inside
 * that lanes do together. */
#include "mech/lnl/compile.h"

/* Why an instruction cannot be in a region; NULL: it can. */
static const char *unfit(const struct inst *i) {
    uint16_t flags = op_info[i->op].flags;
    if (flags & OPF_ATOMIC)
        return "an atomic operation in an approximable region";
    if (flags & OPF_CROSS)
        return "a shuffle, vote or match in an approximable region";
    switch (i->op) {
    case OP_EXIT:
    case OP_RET:
        return "an approximable region that threads leave before its end";
    case OP_CALL:
    case OP_CALLI:
    case OP_SYSCALL:
        return "a call in an approximable region";
    case OP_BRX:
    case OP_TRAP:
    case OP_LDGSTS:
    case OP_SUST:
        return "an instruction in an approximable region that cannot be there";
    default:
        return NULL;
    }
}

struct walk {
    struct lnl_code *c;
    struct lnl_region *r;
    uint32_t *stack, n;
    bool *seen; /* blocks whose beginning is inside */
    bool ended;
};

static bool refuse(const struct walk *w, const struct inst *i, const char *why) {
    lnl_say(w->c->run, DIAG_ERROR, i, "%s", why);
    return false;
}

/* Adds a block from an instruction on; true: it leaves by its end. */
static bool walk_block(struct walk *w, uint32_t block, uint32_t from, bool *leaves) {
    const struct block *b = &w->c->f->blocks.at[block];
    *leaves = false;
    for (uint32_t k = from; k < b->insts.len; k++) {
        const struct inst *i = &b->insts.at[k];
        if (lnl_is(i, MARK_START))
            return refuse(w, i, "an approximable region begins before another has ended");
        if (lnl_is(i, MARK_END)) {
            if (w->ended && (w->r->end.block != block || w->r->end.index != k))
                return refuse(w, i, "an approximable region that has several ends");
            w->r->end = (struct lnl_place){block, k};
            w->ended = true;
            return true;
        }
        if (unfit(i))
            return refuse(w, i, unfit(i));
        bits_set(w->r->in, lnl_number(w->c, block, k));
    }
    *leaves = true;
    for (uint32_t k = 0; k < b->succ.len; k++)
        if (!w->seen[b->succ.at[k]]) {
            w->seen[b->succ.at[k]] = true;
            w->stack[w->n++] = b->succ.at[k];
        }
    return true;
}

/* Blocks inside are entered from inside. */
static bool single_entry(const struct walk *w, const bool *leaves) {
    const struct inst *start = lnl_inst(w->c, w->r->start.block, w->r->start.index);
    for (uint32_t b = 0; b < w->c->f->blocks.len; b++)
        for (uint32_t k = 0; w->seen[b] && k < w->c->f->blocks.at[b].pred.len; k++)
            if (!leaves[w->c->f->blocks.at[b].pred.at[k]])
                return refuse(w, start, "an approximable region that is entered behind its start");
    return true;
}

static bool find_region(struct lnl_code *c, uint32_t block, uint32_t index) {
    uint32_t nblocks = c->f->blocks.len;
    const struct inst *start = lnl_inst(c, block, index);
    struct lnl_region r = {.start = {block, index}, .name = (uint32_t)start->imm};
    r.in = arena_array(c->arena, bits, bits_words(c->n));
    r.precise = arena_array(c->arena, bits, bits_words(c->n));
    r.values = arena_array(c->arena, bits, bits_words(c->reach.v.n));
    struct walk w = {.c = c,
                     .r = &r,
                     .stack = arena_array(c->arena, uint32_t, nblocks + 1),
                     .seen = arena_array(c->arena, bool, nblocks + 1)};
    bool *leaves = arena_array(c->arena, bool, nblocks + 1);
    if (!walk_block(&w, block, index + 1, &leaves[block]))
        return false;
    while (w.n) {
        uint32_t b = w.stack[--w.n];
        if (!walk_block(&w, b, 0, &leaves[b]))
            return false;
    }
    if (!w.ended)
        return refuse(&w, start, "an approximable region without an end");
    if (!single_entry(&w, leaves))
        return false;
    if (c->regions.len == LNL_REGIONS)
        return refuse(&w, start, "too many approximable regions");
    vec_push(&c->regions, r);
    return true;
}

bool lnl_find_regions(struct lnl_code *c) {
    for (uint32_t b = 0; b < c->f->blocks.len; b++)
        for (uint32_t k = 0; k < c->f->blocks.at[b].insts.len; k++)
            if (lnl_is(lnl_inst(c, b, k), MARK_START) && !find_region(c, b, k))
                return false;
    for (uint32_t b = 0; b < c->f->blocks.len; b++)
        for (uint32_t k = 0; k < c->f->blocks.at[b].insts.len; k++) {
            bool known = !lnl_is(lnl_inst(c, b, k), MARK_END);
            for (uint32_t r = 0; r < c->regions.len; r++)
                known |= c->regions.at[r].end.block == b && c->regions.at[r].end.index == k;
            if (!known) {
                lnl_say(c->run, DIAG_ERROR, lnl_inst(c, b, k),
                        "the end of an approximable region that has no start");
                return false;
            }
        }
    return true;
}
