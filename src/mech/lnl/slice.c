/* What of a region all lanes compute, and what is interpolated (section 3.2.3).
 *
 * Anchors alone compute what is not needed to the last bit: data. All lanes compute what addresses and guards
 * of stores, critical branches and barriers depend on, backwards through the region: the precise slice. A
 * branch is critical if it is a loop's, or if something precise, a store or a barrier depends on it; at
 * others, such as those around the rare cases of a division, lanes go where their anchor goes. A store whose
 * data anchors computed gets them interpolated. What lives on behind the end is interpolated there if it is
 * floating point, and otherwise belongs to the slice, too. This is found out in allocated code, where spills
 * are instructions like others: what goes to local memory is precise.
 *
 * An anchor has in its registers what its thread would have there. So a store may use them for neighbours
 * even where the anchor does not go, unless what it stores was made on such a way, too: that is refused. */
#include <string.h>

#include "mech/lnl/compile.h"

struct slicer {
    struct lnl_code *c;
    struct lnl_region *r;
    bits *needed;  /* versions */
    bits *tainted; /* versions that anchors alone may have made */
    uint32_t *stack, n;
};

static bool inside(const struct slicer *s, uint32_t block, uint32_t index) {
    return bits_get(s->r->in, lnl_number(s->c, block, index));
}

static void need(struct slicer *s, uint32_t v) {
    if (v == NONE || bits_get(s->needed, v))
        return;
    bits_set(s->needed, v);
    s->stack[s->n++] = v;
}

/* All that an instruction reads is needed. */
static void make_precise(struct slicer *s, uint32_t block, uint32_t index) {
    uint32_t number = lnl_number(s->c, block, index), at = s->c->reach.read_at[number];
    if (bits_get(s->r->precise, number))
        return;
    bits_set(s->r->precise, number);
    if (at == NONE)
        return; /* nobody comes here */
    struct span span[MAX_SPANS];
    uint32_t n = inst_reads(&s->c->reach.v, lnl_inst(s->c, block, index), span);
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t w = 0; w < span[k].n; w++)
            need(s, s->c->reach.reads[at++]);
}

/* Follows what is needed back to where the region began. */
static void follow(struct slicer *s) {
    while (s->n) {
        const struct version *x = &s->c->reach.at[s->stack[--s->n]];
        if (x->kind == VERSION_MERGE) {
            for (uint32_t k = 0; k < s->c->f->blocks.at[x->block].pred.len; k++)
                need(s, s->c->reach.inputs[x->input + k]);
        } else if (x->kind == VERSION_WRITE) {
            need(s, x->before);
            if (inside(s, x->block, x->index))
                make_precise(s, x->block, x->index);
        }
    }
}

static void need_pred(struct slicer *s, uint32_t block, uint32_t index, const struct popd *p) {
    if (p->id != VPRED_PT)
        need(s, reach_read(&s->c->reach, block, index, value_of_pred(&s->c->reach.v, p->id)));
}

static bool is_local(const struct slicer *s, uint32_t block, uint32_t index) {
    const struct access *x = access_at(s->c->accesses, 0, block, index);
    return x && x->spaces == IN_LOCAL;
}

static bool is_store(const struct inst *i) {
    return i->op == OP_ST;
}

/* What must be right in any case. */
static void seed(struct slicer *s, uint32_t block, uint32_t index) {
    struct inst *i = lnl_inst(s->c, block, index);
    const struct lnl_fact *f = fact_get(s->c->run->p, LNL_OWNER, i);
    if (is_store(i)) {
        need_pred(s, block, index, &i->guard);
        for (uint32_t w = 0; w < inst_src_words(i, 0); w++)
            need(s, lnl_source(s->c, block, index, 0, w));
        if (is_local(s, block, index) && lnl_keeps(s->c, LNL_SPILLS))
            make_precise(s, block, index);
    } else if (i->op != OP_BRA &&
               (op_info[i->op].unit == UNIT_CTRL || (op_info[i->op].flags & OPF_EFFECT) || i->op == OP_R2P ||
                i->op == OP_P2R || (f && f->check && lnl_keeps(s->c, LNL_INSIDE)))) {
        make_precise(s, block, index);
    }
}

/* Runs body for each instruction of the function, as block b and index k. */
#define EACH_INST(c, ...)                                                                                    \
    for (uint32_t b = 0; b < (c)->f->blocks.len; b++)                                                        \
        for (uint32_t k = 0; k < (c)->f->blocks.at[b].insts.len; k++) {                                      \
            __VA_ARGS__;                                                                                     \
        }

/* The branch at the end of block b decides on block x, or on a branch that does. */
static bool decides(const struct slicer *s, uint32_t b, uint32_t x, bool *seen) {
    const struct control *ctl = &s->c->control;
    for (uint32_t k = ctl->dep_at[x]; k < ctl->dep_at[x + 1]; k++) {
        uint32_t on = ctl->deps[k];
        if (on == b)
            return true;
        if (seen[on])
            continue;
        seen[on] = true;
        if (decides(s, b, on, seen))
            return true;
    }
    return false;
}

/* Something in the block must be done by the right lanes. */
static bool is_critical(const struct slicer *s, uint32_t block) {
    for (uint32_t k = 0; k < s->c->f->blocks.at[block].insts.len; k++)
        if (inside(s, block, k) &&
            (is_store(lnl_inst(s->c, block, k)) || bits_get(s->r->precise, lnl_number(s->c, block, k))))
            return true;
    return false;
}

/* Branches on which something critical depends are precise; true: there was a new one. */
static bool add_branches(struct slicer *s) {
    const struct fn *f = s->c->f;
    bool more = false, *seen = arena_array(s->c->arena, bool, f->blocks.len + 1);
    for (uint32_t b = 0; b < f->blocks.len; b++) {
        uint32_t last = f->blocks.at[b].insts.len - 1;
        if (!f->blocks.at[b].insts.len || !inside(s, b, last) || lnl_inst(s->c, b, last)->op != OP_BRA ||
            bits_get(s->r->precise, lnl_number(s->c, b, last)))
            continue;
        for (uint32_t x = 0; x < f->blocks.len; x++) {
            memset(seen, 0, f->blocks.len);
            if ((x != b && !is_critical(s, x)) || !decides(s, b, x, seen))
                continue;
            make_precise(s, b, last);
            more = true;
            break;
        }
    }
    return more;
}

/* Versions that anchors alone may have made. */
static void taint(struct slicer *s) {
    const struct reach *x = &s->c->reach;
    memset(s->tainted, 0, bits_words(x->n) * sizeof(bits));
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t v = 0; v < x->n; v++) {
            const struct version *at = &x->at[v];
            bool now = false;
            if (at->kind == VERSION_WRITE)
                now = (inside(s, at->block, at->index) &&
                       !bits_get(s->r->precise, lnl_number(s->c, at->block, at->index))) ||
                      (at->before != NONE && bits_get(s->tainted, at->before));
            else if (at->kind == VERSION_MERGE)
                for (uint32_t k = 0; k < s->c->f->blocks.at[at->block].pred.len; k++) {
                    uint32_t from = x->inputs[at->input + k];
                    now |= from != NONE && bits_get(s->tainted, from);
                }
            if (now && !bits_get(s->tainted, v)) {
                bits_set(s->tainted, v);
                changed = true;
            }
        }
    }
}

/* What a value is, by the operations that make it. */
static bool makes_float(const struct inst *i) {
    switch (i->op) {
    case OP_FADD:
    case OP_FMUL:
    case OP_FFMA:
    case OP_FMIN:
    case OP_FMAX:
    case OP_MUFU:
    case OP_FCOPYSIGN:
        return true;
    case OP_I2F:
    case OP_F2F:
        return i->m.dtype == MT_F32;
    case OP_TEX:
        return i->m.dtype == MT_F32;
    default:
        return false;
    }
}

enum { MAX_DEPTH = 16 };

/* Every tainted definition of version v is floating point (pixels: was marked as pixels). */
static bool all_are(const struct slicer *s, uint32_t v, bool pixels, uint32_t depth) {
    uint32_t *list, n = reach_definitions(s->c->arena, &s->c->reach, v, &list);
    for (uint32_t k = 0; k < n; k++) {
        const struct version *x = &s->c->reach.at[list[k]];
        if (x->kind != VERSION_WRITE || !inside(s, x->block, x->index) || !bits_get(s->tainted, list[k]))
            continue;
        const struct inst *i = lnl_inst(s->c, x->block, x->index);
        const struct lnl_fact *f = fact_get(s->c->run->p, LNL_OWNER, i);
        if (pixels ? f && f->pixels : makes_float(i))
            continue;
        if ((i->op != OP_MOV && i->op != OP_SEL) || depth == MAX_DEPTH)
            return false;
        for (uint32_t w = 0; w < i->nsrc; w++) {
            uint32_t from = lnl_source(s->c, x->block, x->index, w, 0);
            if (from != NONE && bits_get(s->tainted, from) && !all_are(s, from, pixels, depth + 1))
                return false;
        }
    }
    return true;
}

/* A predicate is not the same in all lanes that ask it. */
static bool differs(const struct slicer *s, uint32_t block, uint32_t index, const struct popd *p) {
    if (p->id == VPRED_PT)
        return false;
    uint32_t v = reach_read(&s->c->reach, block, index, value_of_pred(&s->c->reach.v, p->id));
    return v == NONE || !class_uniform_warp(class_read(s->c->classes, v, block));
}

/* Some lanes of the region may not come to a block. */
static bool is_conditional(const struct slicer *s, uint32_t block, bool *seen) {
    const struct control *ctl = &s->c->control;
    for (uint32_t k = ctl->dep_at[block]; k < ctl->dep_at[block + 1]; k++) {
        uint32_t b = ctl->deps[k], last = s->c->f->blocks.at[b].insts.len;
        if (!last || !inside(s, b, last - 1) || seen[b])
            continue;
        seen[b] = true;
        if (!bits_get(s->r->precise, lnl_number(s->c, b, last - 1)))
            continue; /* lanes go where their anchor goes */
        if (differs(s, b, last - 1, &lnl_inst(s->c, b, last - 1)->guard) || is_conditional(s, b, seen))
            return true;
    }
    return false;
}

static bool some_skip(const struct slicer *s, uint32_t block, uint32_t index) {
    bool *seen = arena_array(s->c->arena, bool, s->c->f->blocks.len + 1);
    return differs(s, block, index, &lnl_inst(s->c, block, index)->guard) || is_conditional(s, block, seen);
}

/* Refuses what is stored where an anchor may not go, and was made where it may not. */
static bool made_where_anchors_go(const struct slicer *s, uint32_t block, uint32_t index, uint32_t v) {
    if (!lnl_keeps(s->c, LNL_PLACES) || !some_skip(s, block, index))
        return true;
    uint32_t *list, n = reach_definitions(s->c->arena, &s->c->reach, v, &list);
    for (uint32_t k = 0; k < n; k++) {
        const struct version *x = &s->c->reach.at[list[k]];
        if (x->kind == VERSION_WRITE && inside(s, x->block, x->index) && bits_get(s->tainted, list[k]) &&
            some_skip(s, x->block, x->index)) {
            lnl_say(s->c->run, DIAG_ERROR, lnl_inst(s->c, x->block, x->index),
                    "an approximable region stores a value that only some of its threads compute");
            return false;
        }
    }
    return true;
}

/* Looks at a store: sets its fact. *more: something was added to the slice. */
static bool look_at_store(struct slicer *s, uint32_t block, uint32_t index, bool *more) {
    struct inst *i = lnl_inst(s->c, block, index);
    struct lnl_fact *f = lnl_fact(s->c, i);
    bool floats = lnl_keeps(s->c, LNL_FLOATS);
    f->words = 0;
    for (uint32_t w = 0; w < inst_src_words(i, 1) && !bits_get(s->r->precise, lnl_number(s->c, block, index));
         w++) {
        uint32_t v = lnl_source(s->c, block, index, 1, w);
        if (v == NONE || !bits_get(s->tainted, v))
            continue;
        bool pixels = all_are(s, v, true, 0);
        if (!pixels && floats && (i->m.size != 4 || !all_are(s, v, false, 0))) {
            lnl_say(
                s->c->run, DIAG_WARNING, i,
                "what is stored is neither floating point nor marked as pixels: computed for all threads");
            need(s, v);
            *more = true;
            continue;
        }
        if (!made_where_anchors_go(s, block, index, v))
            return false;
        f->words |= (uint8_t)(1u << w);
        f->pixels = pixels && lnl_keeps(s->c, LNL_BYTES);
    }
    return true;
}

/* Looks at what an instruction outside reads: floating point is interpolated at the end, the rest is precise.
 */
static void look_outside(struct slicer *s, uint32_t block, uint32_t index, bool *more) {
    const struct reach *x = &s->c->reach;
    struct span span[MAX_SPANS];
    uint32_t n = inst_reads(&x->v, lnl_inst(s->c, block, index), span);
    uint32_t at = x->read_at[lnl_number(s->c, block, index)];
    for (uint32_t k = 0; at != NONE && k < n; k++)
        for (uint32_t w = 0; w < span[k].n; w++, at++) {
            uint32_t v = x->reads[at], value = span[k].first + w;
            if (v == NONE || !bits_get(s->tainted, v))
                continue;
            if (value < x->v.nwords && all_are(s, v, false, 0)) {
                bits_set(s->r->values, value);
            } else {
                need(s, v);
                *more = true;
            }
        }
}

/* Something precise depends on what an instruction writes. */
static bool is_needed(const struct slicer *s, uint32_t block, uint32_t index) {
    struct span span[MAX_SPANS];
    uint32_t n = inst_writes(&s->c->reach.v, lnl_inst(s->c, block, index), span);
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t w = 0; w < span[k].n; w++) {
            uint32_t v = reach_written(&s->c->reach, block, index, span[k].first + w);
            if (v != NONE && bits_get(s->needed, v))
                return true;
        }
    return false;
}

/* A precise load must not see what was stored approximately. */
static bool check_memory(const struct slicer *s) {
    const struct lnl_code *c = s->c;
    EACH_INST(c, {
        const struct access *load = access_at(c->accesses, 0, b, k);
        if (!load || !load->reads || !inside(s, b, k) || !is_needed(s, b, k))
            continue;
        for (uint32_t n = 0; n < c->accesses->n && lnl_keeps(c, LNL_MEMORY); n++) {
            const struct access *store = &c->accesses->at[n];
            if (store->fn || !store->writes || !inside(s, store->block, store->index))
                continue;
            const struct lnl_fact *f =
                fact_get(c->run->p, LNL_OWNER, lnl_inst(c, store->block, store->index));
            if (f && f->words && access_alias(c->accesses, load, store) == ALIAS_MAY) {
                lnl_say(c->run, DIAG_ERROR, lnl_inst(c, b, k),
                        "what this loads decides on addresses or branches, and the region may have stored it "
                        "approximately");
                return false;
            }
        }
    })
    return true;
}

bool lnl_slice(struct lnl_code *c, struct lnl_region *r) {
    struct slicer s = {.c = c, .r = r};
    s.needed = arena_array(c->arena, bits, bits_words(c->reach.n));
    s.tainted = arena_array(c->arena, bits, bits_words(c->reach.n));
    s.stack = arena_array(c->arena, uint32_t, c->reach.n + 1);
    EACH_INST(c, if (inside(&s, b, k)) seed(&s, b, k))
    for (bool more = true; more;) {
        do
            follow(&s);
        while (add_branches(&s));
        more = false;
        taint(&s);
        memset(r->values, 0, bits_words(c->reach.v.n) * sizeof(bits));
        EACH_INST(c, if (inside(&s, b, k) ? is_store(lnl_inst(c, b, k)) && !look_at_store(&s, b, k, &more)
                                          : (look_outside(&s, b, k, &more), false)) return false)
    }
    return check_memory(&s);
}
