/* An independent proof of register allocation.
 *
 * Walks the code with virtual registers and the allocated code side by side and keeps, for every virtual
 * value that is live, the set of machine places (registers, predicates, words of the frame) known to hold it.
 * A write makes its place the only one; overwriting a place takes it from all other values; copies, spills
 * and reloads extend sets; where paths meet, sets intersect. Every read must find its value in the register
 * it names. A value that was never written is everywhere. Nothing of the allocator (ranges, placement, spill
 * slots) is used. */
#include <string.h>

#include "opt/ranges.h"

enum { AT_PRED = 256, AT_SLOT = 512 };
#define ANYWHERE UINT32_MAX

/* Value is held at place. */
struct fact {
    uint32_t value, place;
};
typedef VEC(struct fact) facts;

struct prover {
    struct program *p;
    const struct fn *v, *m; /* virtual and machine code */
    struct values values;
    struct live live;
    const struct inst **constant; /* by word: what makes it, when every write makes the same constant */
    facts *in;                    /* by block, sorted */
    bool *reached;
    facts now;
    bool report; /* the sets are final: failures are failures */
    const char *error;
    uint32_t block, index;
};

static void fail(struct prover *c, const char *what, uint32_t value) {
    if (!c->report || c->error)
        return;
    struct str text = {0};
    if (c->index < c->m->blocks.at[c->block].insts.len)
        ir_print_inst(&text, &c->m->blocks.at[c->block].insts.at[c->index]);
    c->error = arena_printf(&c->p->arena, "allocation of %s is wrong in block %u at %u: %s (value %u): %s",
                            c->m->name, c->block, c->index, what, value, str_text(&text));
    str_free(&text);
}

/* ---- the set of facts ---- */

static bool holds(const struct prover *c, uint32_t value, uint32_t place) {
    for (uint32_t k = 0; k < c->now.len; k++)
        if (c->now.at[k].value == value && (c->now.at[k].place == place || c->now.at[k].place == ANYWHERE))
            return true;
    return false;
}

static void forget_value(struct prover *c, uint32_t value) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < c->now.len; k++)
        if (c->now.at[k].value != value)
            c->now.at[n++] = c->now.at[k];
    c->now.len = n;
}

static void forget_place(struct prover *c, uint32_t place) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < c->now.len; k++)
        if (c->now.at[k].place != place)
            c->now.at[n++] = c->now.at[k];
    c->now.len = n;
}

static void learn(struct prover *c, uint32_t value, uint32_t place) {
    if (!holds(c, value, place))
        vec_push(&c->now, (struct fact){value, place});
}

/* Place to now holds what place from does. */
static void move_place(struct prover *c, uint32_t to, uint32_t from) {
    if (to == from)
        return;
    forget_place(c, to);
    for (uint32_t k = 0, n = c->now.len; k < n; k++)
        if (c->now.at[k].place == from)
            vec_push(&c->now, (struct fact){c->now.at[k].value, to});
}

static int by_value(const void *x, const void *y) {
    const struct fact *a = x, *b = y;
    if (a->value != b->value)
        return a->value < b->value ? -1 : 1;
    return a->place < b->place ? -1 : a->place > b->place;
}

/* ---- instructions ---- */

static void check_words(struct prover *c, const struct opd *v, const struct opd *m, uint32_t words) {
    uint32_t first = value_of_opd(&c->values, v);
    if (v->mod != m->mod)
        fail(c, "modifiers differ", first);
    for (uint32_t w = 0; w < words; w++)
        if (!holds(c, first + w, is_rz(m) ? ANYWHERE : m->v + w))
            fail(c, "a source does not hold its value", first + w);
}

static void check_pred(struct prover *c, const struct popd *v, const struct popd *m) {
    if (v->neg != m->neg || (v->id == VPRED_PT) != (m->id == VPRED_PT))
        fail(c, "predicates differ", NONE);
    else if (v->id != VPRED_PT && !holds(c, value_of_pred(&c->values, v->id), AT_PRED + m->id))
        fail(c, "a predicate does not hold its value", value_of_pred(&c->values, v->id));
}

static void check_reads(struct prover *c, const struct inst *v, const struct inst *m) {
    if (v->op != m->op || v->nsrc != m->nsrc || memcmp(&v->m, &m->m, sizeof v->m) || v->imm != m->imm ||
        v->target != m->target || v->frame != m->frame)
        fail(c, "the instruction changed", NONE);
    for (uint32_t s = 0; s < v->nsrc; s++) {
        if (v->src[s].kind == O_REG && v->src[s].v != VREG_RZ && m->src[s].kind == O_REG)
            check_words(c, &v->src[s], &m->src[s], inst_src_words(v, s));
        else if (!opd_eq(&v->src[s], &m->src[s]))
            fail(c, "a source changed", s);
    }
    check_pred(c, &v->guard, &m->guard);
    for (uint32_t k = 0; k < 2; k++)
        check_pred(c, &v->psrc[k], &m->psrc[k]);
}

/* A guarded write keeps the old value where it is skipped; when that was elsewhere the value is lost, which
 * only matters to whoever reads it. */
static void write(struct prover *c, uint32_t value, uint32_t place, bool guarded) {
    bool whole = !guarded || holds(c, value, place);
    forget_value(c, value);
    forget_place(c, place);
    if (whole)
        learn(c, value, place);
}

static bool plain_copy(const struct inst *i) {
    return i->op == OP_MOV && !is_guarded(i) && !i->frame && i->dst.kind == O_REG && !is_rz(&i->dst) &&
           i->src[0].kind == O_REG && !is_rz(&i->src[0]);
}

/* Value to becomes equal to value from. */
static void copy_value(struct prover *c, uint32_t to, uint32_t from) {
    if (to == from)
        return;
    forget_value(c, to);
    for (uint32_t k = 0, n = c->now.len; k < n; k++)
        if (c->now.at[k].value == from)
            vec_push(&c->now, (struct fact){to, c->now.at[k].place});
}

static void apply_writes(struct prover *c, const struct inst *v, const struct inst *m) {
    if (v->dst.kind != m->dst.kind || is_rz(&v->dst) != is_rz(&m->dst)) {
        fail(c, "the destination changed", NONE);
        return;
    }
    if (plain_copy(v)) { /* both values are equal now, wherever they are */
        uint32_t to = value_of_opd(&c->values, &v->dst), from = value_of_opd(&c->values, &v->src[0]);
        forget_value(c, to);
        if (!is_rz(&m->src[0]))
            move_place(c, m->dst.v, m->src[0].v);
        copy_value(c, to, from);
        learn(c, to, m->dst.v);
        return;
    }
    for (uint32_t w = 0; v->dst.kind == O_REG && !is_rz(&v->dst) && w < inst_dst_words(v); w++)
        write(c, value_of_opd(&c->values, &v->dst) + w, m->dst.v + w, is_guarded(v));
    for (uint32_t k = 0; k < 2; k++) {
        if ((v->pdst[k].id == VPRED_PT) != (m->pdst[k].id == VPRED_PT))
            fail(c, "a predicate destination changed", k);
        else if (v->pdst[k].id != VPRED_PT)
            write(c, value_of_pred(&c->values, v->pdst[k].id), AT_PRED + m->pdst[k].id, is_guarded(v));
    }
}

/* The same constant or special register. */
static bool same_source(const struct inst *x, const struct inst *y) {
    return x->op == y->op && x->m.mode == y->m.mode && x->frame == y->frame &&
           (!x->nsrc || opd_eq(&x->src[0], &y->src[0]));
}

static bool makes_constant(const struct inst *i) {
    return !is_guarded(i) && !i->frame &&
           (i->op == OP_S2R || (i->op == OP_MOV && (is_const(&i->src[0]) || is_rz(&i->src[0]))));
}

static const struct inst not_constant;

/* Notes what instruction i says about the constants its destination holds; true when that is news. */
static bool note_constant(struct prover *c, const struct inst *i) {
    struct span span[MAX_SPANS];
    uint32_t n = inst_writes(&c->values, i, span);
    bool changed = false;
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t w = 0; w < span[k].n; w++) {
            uint32_t v = span[k].first + w;
            const struct inst *now = makes_constant(i) ? i : &not_constant,
                              *had = v < c->values.nwords ? c->constant[v] : now;
            if (i->op == OP_MOV && i->src[0].kind == O_REG && !is_rz(&i->src[0]) && !i->frame)
                now = c->constant[value_of_opd(&c->values, &i->src[0])];
            if (!now || now == had || had == &not_constant)
                continue;
            if (had && now != &not_constant && same_source(had, now))
                continue;
            c->constant[v] = had ? &not_constant : now;
            changed = true;
        }
    return changed;
}

/* Constants that reach a register through any number of copies; the allocator may make them again anywhere.
 */
static void find_constants(struct prover *c, struct arena *a) {
    c->constant = arena_array(a, const struct inst *, c->values.nwords + 1);
    for (bool again = true; again;) {
        again = false;
        for (uint32_t b = 0; b < c->v->blocks.len; b++)
            for (uint32_t k = 0; k < c->v->blocks.at[b].insts.len; k++)
                again |= note_constant(c, &c->v->blocks.at[b].insts.at[k]);
    }
}

/* An instruction of the virtual code that the allocator removed: a copy, or a constant that is made where it
 * is used. */
static void apply_missing(struct prover *c, const struct inst *v) {
    if (v->op == OP_MOV && v->src[0].kind == O_REG && opd_eq(&v->dst, &v->src[0]))
        return;
    if (plain_copy(v))
        copy_value(c, value_of_opd(&c->values, &v->dst), value_of_opd(&c->values, &v->src[0]));
    else if (v->op == OP_MOV && is_guarded(v) && v->src[0].kind == O_REG && !is_rz(&v->src[0]) &&
             !is_rz(&v->dst)) {
        /* Wherever both the old and the new value are, nothing had to happen; one that was never written is
         * anything, so also the new one. */
        uint32_t to = value_of_opd(&c->values, &v->dst), from = value_of_opd(&c->values, &v->src[0]), n = 0;
        if (holds(c, to, ANYWHERE)) {
            copy_value(c, to, from);
            return;
        }
        for (uint32_t k = 0; k < c->now.len; k++)
            if (c->now.at[k].value != to || holds(c, from, c->now.at[k].place))
                c->now.at[n++] = c->now.at[k];
        c->now.len = n;
    } else if (makes_constant(v) && v->dst.kind == O_REG && !is_rz(&v->dst)) {
        uint32_t to = value_of_opd(&c->values, &v->dst);
        if (c->constant[to] == &not_constant) /* else it is made again, perhaps already */
            forget_value(c, to);
    } else
        fail(c, "an instruction is missing", NONE);
}

static void apply_transfer(struct prover *c, const struct inst *m) {
    bool load = m->op == OP_LD;
    const struct opd *reg = load ? &m->dst : &m->src[1];
    bool base = is_rz(&m->src[0]) || m->src[0].v == REG_FRAME;
    if (m->m.space != MS_LOCAL || m->m.size != 4 || m->imm < 0 || m->imm % 4 || !base || is_guarded(m)) {
        fail(c, "an added memory access is no spill", NONE);
        return;
    }
    for (uint32_t w = 0; w < m->m.vec; w++) {
        uint32_t slot = AT_SLOT + (uint32_t)m->imm / 4 + w;
        if (load)
            move_place(c, reg->v + w, slot);
        else if (is_rz(reg))
            forget_place(c, slot);
        else
            move_place(c, slot, reg->v + w);
    }
}

/* An instruction that the allocator added. */
static void apply_added(struct prover *c, const struct inst *m) {
    if (m->op == OP_LD || m->op == OP_ST) {
        apply_transfer(c, m);
    } else if (m->op == OP_SEL && is_rz(&m->src[0]) && m->src[1].kind == O_IMM && m->src[1].v == 1 &&
               m->psrc[0].neg) {
        move_place(c, m->dst.v, AT_PRED + m->psrc[0].id);
    } else if (m->op == OP_ISETP && m->m.cmp == (CMP_LT | CMP_GT) && is_rz(&m->src[1]) &&
               is_pt(&m->psrc[0])) {
        forget_place(c, AT_PRED + m->pdst[0].id);
        if (!is_rz(&m->src[0]))
            move_place(c, AT_PRED + m->pdst[0].id, m->src[0].v);
    } else if (makes_constant(m)) {
        forget_place(c, m->dst.v);
        for (uint32_t v = 0; v < c->values.nwords; v++)
            if (c->constant[v] && c->constant[v] != &not_constant && same_source(c->constant[v], m))
                learn(c, v, m->dst.v);
    } else {
        fail(c, "an added instruction is no copy", NONE);
    }
}

static void walk_block(struct prover *c, uint32_t b) {
    const struct block *v = &c->v->blocks.at[b], *m = &c->m->blocks.at[b];
    uint32_t done = 0;
    c->block = b;
    for (c->index = 0; c->index < m->insts.len; c->index++) {
        const struct inst *i = &m->insts.at[c->index];
        if (!i->rpc) {
            apply_added(c, i);
            continue;
        }
        if (i->rpc <= done || i->rpc > v->insts.len) {
            fail(c, "instructions are out of order", i->rpc);
            return;
        }
        while (done + 1 < i->rpc)
            apply_missing(c, &v->insts.at[done++]);
        check_reads(c, &v->insts.at[done], i);
        apply_writes(c, &v->insts.at[done++], i);
    }
    while (done < v->insts.len)
        apply_missing(c, &v->insts.at[done++]);
}

/* ---- control flow ---- */

/* Facts about one value: [from, to) of list. */
static uint32_t group_end(const facts *list, uint32_t from) {
    uint32_t k = from;
    while (k < list->len && list->at[k].value == list->at[from].value)
        k++;
    return k;
}

static bool has_place(const facts *list, uint32_t from, uint32_t to, uint32_t place) {
    for (uint32_t k = from; k < to; k++)
        if (list->at[k].place == place || list->at[k].place == ANYWHERE)
            return true;
    return false;
}

/* Keeps of have what from agrees with; both are sorted. True when something was lost. */
static bool intersect(facts *have, const facts *from) {
    facts out = {0};
    uint32_t j = 0;
    for (uint32_t i = 0; i < have->len;) {
        uint32_t end = group_end(have, i), value = have->at[i].value;
        while (j < from->len && from->at[j].value < value)
            j++;
        uint32_t stop = j < from->len && from->at[j].value == value ? group_end(from, j) : j;
        if (have->at[end - 1].place == ANYWHERE) { /* never written on the paths so far */
            for (uint32_t k = j; k < stop; k++)
                vec_push(&out, from->at[k]);
        } else {
            for (uint32_t k = i; k < end; k++)
                if (has_place(from, j, stop, have->at[k].place))
                    vec_push(&out, have->at[k]);
        }
        i = end;
    }
    bool changed = out.len != have->len || (out.len && memcmp(out.at, have->at, out.len * sizeof *out.at));
    vec_free(have);
    have->at = out.at;
    have->len = out.len;
    have->cap = out.cap;
    return changed;
}

/* Hands the facts at the end of block b to a successor; true when they changed what it knew. */
static bool flow(struct prover *c, uint32_t to) {
    facts given = {0};
    for (uint32_t k = 0; k < c->now.len; k++)
        if (live_at(&c->live, c->live.in, to, c->now.at[k].value))
            vec_push(&given, c->now.at[k]);
    if (given.len)
        qsort(given.at, given.len, sizeof *given.at, by_value);
    if (!c->reached[to]) {
        c->reached[to] = true;
        c->in[to].at = given.at;
        c->in[to].len = given.len;
        c->in[to].cap = given.cap;
        return true;
    }
    bool changed = intersect(&c->in[to], &given);
    vec_free(&given);
    return changed;
}

static void load_state(struct prover *c, uint32_t b) {
    c->now.len = 0;
    for (uint32_t k = 0; k < c->in[b].len; k++)
        vec_push(&c->now, c->in[b].at[k]);
}

/* What is known before the first instruction: the frame register; all else was never written. */
static void start(struct prover *c) {
    for (uint32_t g = 0; g < c->live.n; g++)
        if (bits_get(c->live.in, g)) {
            bool frame = c->v->fp != VREG_RZ && !c->v->entry && c->live.value[g] == c->values.base[c->v->fp];
            vec_push(&c->in[0], (struct fact){c->live.value[g], frame ? REG_FRAME : ANYWHERE});
        }
    if (c->in[0].len)
        qsort(c->in[0].at, c->in[0].len, sizeof *c->in[0].at, by_value);
    c->reached[0] = true;
}

const char *regalloc_check(struct program *p, const struct fn *before, const struct fn *f) {
    struct arena a = {0};
    struct prover c = {.p = p, .v = before, .m = f};
    uint32_t n = before->blocks.len, *order;
    c.values = values_of(&a, before);
    c.live = live_of(&a, before);
    find_constants(&c, &a);
    c.in = arena_array(&a, facts, n + 1);
    c.reached = arena_array(&a, bool, n + 1);
    uint32_t count = cfg_rpo(&a, before, &order);
    start(&c);
    bool *dirty = arena_array(&a, bool, n + 1);
    dirty[0] = true;
    for (bool again = true; again;) {
        again = false;
        for (uint32_t k = 0; k < count; k++) {
            uint32_t b = order[k];
            if (!dirty[b])
                continue;
            dirty[b] = false;
            load_state(&c, b);
            walk_block(&c, b);
            for (uint32_t s = 0; s < before->blocks.at[b].succ.len; s++)
                if (flow(&c, before->blocks.at[b].succ.at[s]))
                    dirty[before->blocks.at[b].succ.at[s]] = again = true;
        }
    }
    c.report = true;
    for (uint32_t k = 0; k < count && !c.error; k++) {
        load_state(&c, order[k]);
        walk_block(&c, order[k]);
    }
    for (uint32_t b = 0; b < n; b++)
        vec_free(&c.in[b]);
    vec_free(&c.now);
    arena_free(&a);
    return c.error;
}
