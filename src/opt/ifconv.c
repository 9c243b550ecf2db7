/* If-conversion: a branch around a few instructions costs more than skipping them by guard.
 *
 * The sides of a small if become guarded instructions of the block that branched. An instruction without
 * effect whose result the other path does not look at needs no guard. Barriers, calls, atomics and whatever
 * reads other threads stay where they are, because guards do not change which threads are active for them. */
#include "opt/pass.h"

enum { MAX_SIDE = 4 };

struct converter {
    struct fn *f;
    struct live l;
    bool *touched; /* blocks whose liveness is no longer known */
};

static bool simple(const struct inst *i, uint32_t guard) {
    uint16_t flags = op_info[i->op].flags;
    bool memory = i->op == OP_LD || i->op == OP_ST || i->op == OP_LDC;
    if (is_guarded(i) || i->m.vol || (flags & (OPF_CROSS | OPF_ATOMIC | OPF_END)) || i->frame)
        return false;
    if (!memory && (flags & (OPF_EFFECT | OPF_LOAD | OPF_STORE)))
        return false;
    if (i->op == OP_R2P || i->op == OP_P2R || (i->op == OP_S2R && i->m.mode > SR_LANEMASK_GE))
        return false;
    return i->pdst[0].id != guard && i->pdst[1].id != guard;
}

/* True when block b is a side: few simple instructions, entered only from head, leaving only to *join. */
static bool is_side(const struct converter *c, uint32_t b, uint32_t head, uint32_t guard, uint32_t *join) {
    const struct block *k = &c->f->blocks.at[b];
    if (b == head || k->pred.len != 1 || k->succ.len != 1 || k->insts.len > MAX_SIDE || c->touched[b])
        return false;
    for (uint32_t n = 0; n < k->insts.len; n++)
        if (!simple(&k->insts.at[n], guard))
            return false;
    *join = k->succ.at[0];
    return *join != head && *join != b;
}

static bool writes_live(const struct converter *c, const struct inst *i, uint32_t block) {
    struct span span[MAX_SPANS];
    uint32_t n = inst_writes(&c->l.v, i, span);
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t w = 0; w < span[k].n; w++)
            if (live_at(&c->l, c->l.in, block, span[k].first + w))
                return true;
    return false;
}

/* Appends a side to the head; other is where values that must survive are looked at. */
static void append(struct converter *c, uint32_t head, uint32_t side, struct popd guard, uint32_t other) {
    const struct block *from = &c->f->blocks.at[side];
    for (uint32_t n = 0; n < from->insts.len; n++) {
        struct inst i = c->f->blocks.at[side].insts.at[n];
        bool harmless = inst_is_pure(&i) && !(op_info[i.op].flags & OPF_LOAD);
        if (!harmless || writes_live(c, &i, other))
            i.guard = guard;
        vec_push(&c->f->blocks.at[head].insts, i);
    }
}

static bool convert(struct converter *c, uint32_t head) {
    struct block *k = &c->f->blocks.at[head];
    struct inst *last = block_last(k);
    if (!last || last->op != OP_BRA || last->guard.id == VPRED_PT || k->succ.len != 2 || c->touched[head])
        return false;
    uint32_t yes = k->succ.at[0], no = k->succ.at[1], yes_join = NONE, no_join = NONE;
    struct popd taken = last->guard, skipped = taken;
    skipped.neg = !skipped.neg;
    if (yes == no)
        return false;
    bool yes_side = is_side(c, yes, head, taken.id, &yes_join),
         no_side = is_side(c, no, head, taken.id, &no_join);
    uint32_t join;
    bool use_yes = false, use_no = false;
    if (yes_side && no_side && yes_join == no_join) {
        join = yes_join;
        use_yes = use_no = true;
    } else if (yes_side && yes_join == no) {
        join = no;
        use_yes = true;
    } else if (no_side && no_join == yes) {
        join = yes;
        use_no = true;
    } else {
        return false;
    }
    k->insts.len--;
    if (use_yes)
        append(c, head, yes, taken, use_no ? no : join);
    if (use_no)
        append(c, head, no, skipped, join);
    k = &c->f->blocks.at[head];
    k->succ.len = 0;
    vec_push(&k->succ, join);
    c->touched[head] = c->touched[yes] = c->touched[no] = true;
    return true;
}

bool opt_ifconv(struct program *p, struct fn *f) {
    (void)p;
    struct arena a = {0};
    struct converter c = {.f = f};
    bool changed = false;
    cfg_edges(f);
    c.l = live_of(&a, f);
    c.touched = arena_array(&a, bool, f->blocks.len + 1);
    for (uint32_t b = 0; b < f->blocks.len; b++)
        changed |= convert(&c, b);
    arena_free(&a);
    if (changed)
        cfg_edges(f);
    return changed;
}
