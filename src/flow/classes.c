#include "flow/classes.h"

#include <string.h>

#include "flow/class_form.h"
#include "flow/class_pair.h"

/* ---- growing a class, with reasons ---- */

struct solver {
    struct classes *c;
    struct pair_set pairs;
    uint32_t fn;       /* number of the function, for the memory's accesses */
    bool again;        /* something grew */
    uint32_t *headers; /* by block: not 0 if an edge leads back to it */
};

/* Number of a member among CLASS_BITS: those of deps first. */
enum { FIRST_LACK = 9 };

static uint32_t members(struct vclass c) {
    return c.deps | (uint32_t)c.lack << FIRST_LACK;
}

/* Adds members to the class of node to; from, and how, is who brought them. */
static void grow(struct solver *s, uint32_t to, struct vclass with, uint32_t from, enum class_how how) {
    struct classes *c = s->c;
    uint32_t fresh = members(with) & ~members(c->of[to]);
    if (!fresh)
        return;
    c->of[to].deps |= with.deps;
    c->of[to].lack |= with.lack;
    s->again = true;
    for (uint32_t left = fresh; c->reasons && left; left &= left - 1)
        c->reasons[(size_t)to * CLASS_BITS + (uint32_t)__builtin_ctz(left)] =
            (struct class_reason){.from = from, .how = (uint8_t)how};
}

/* What the result of an operation lacks: of members that a source has, that one is the reason. */
static void grow_lack(struct solver *s, uint32_t to, uint32_t lack, const uint32_t *from, uint32_t n) {
    for (uint32_t k = 0; k < n; k++)
        if (from[k] != NONE)
            grow(s, to, (struct vclass){.lack = (uint16_t)(lack & class_of(s->c, from[k]).lack)}, from[k],
                 HOW_SOURCE);
    grow(s, to, (struct vclass){.lack = (uint16_t)lack}, NONE, HOW_SELF);
}

/* ---- reading ---- */

struct vclass class_of(const struct classes *c, uint32_t v) {
    return form_settle(c->of[v]);
}

static uint32_t node_of_split(const struct classes *c, uint32_t split) {
    return c->reach.n + c->npairs + split;
}

/* Where a version or pair is made. */
static uint32_t home_of(const struct classes *c, uint32_t node) {
    return node < c->reach.n ? c->reach.at[node].block : c->pairs[node - c->reach.n].block;
}

/* What a condition adds to what some threads have from another round than others. */
static struct vclass other_rounds(struct vclass cond) {
    return (struct vclass){cond.deps, cond.deps ? LACK_NONE : 0};
}

struct vclass class_read(const struct classes *c, uint32_t v, uint32_t block) {
    struct vclass all = c->of[v];
    for (uint32_t w = 0; w < c->control.words; w++)
        for (bits left = control_left(&c->control, home_of(c, v), block, w); left; left &= left - 1)
            all = class_meet(
                all, other_rounds(class_of(c, node_of_split(c, 64 * w + (uint32_t)__builtin_ctzll(left)))));
    return form_settle(all);
}

/* Node to reads version or pair from in block: it depends on what that does, and, with_lack, has its form. */
static void grow_read(struct solver *s, uint32_t to, uint32_t from, uint32_t block, enum class_how how,
                      bool with_lack) {
    struct classes *c = s->c;
    struct vclass had = class_of(c, from);
    grow(s, to, with_lack ? had : (struct vclass){.deps = had.deps}, from, how);
    for (uint32_t w = 0; w < c->control.words; w++)
        for (bits left = control_left(&c->control, home_of(c, from), block, w); left; left &= left - 1) {
            uint32_t split = node_of_split(c, 64 * w + (uint32_t)__builtin_ctzll(left));
            struct vclass more = other_rounds(class_of(c, split));
            grow(s, to, with_lack ? more : (struct vclass){.deps = more.deps}, split, HOW_ROUNDS);
        }
}

/* ---- instructions ---- */

/* Word w of source s: its class, and its version or NONE. */
static struct vclass source_word(const struct classes *c, uint32_t block, uint32_t index, uint32_t s,
                                 uint32_t w, uint32_t *version) {
    const struct opd *o = &c->f->blocks.at[block].insts.at[index].src[s];
    *version = NONE;
    if (o->kind != O_REG || o->v == VREG_RZ)
        return (struct vclass){0};
    *version = reach_read(&c->reach, block, index, value_of_opd(&c->reach.v, o) + w);
    return *version == NONE ? (struct vclass){DEP_ANY, LACK_NONE} : class_read(c, *version, block);
}

static struct vclass source_pred(const struct classes *c, uint32_t block, uint32_t index,
                                 const struct popd *p, uint32_t *version) {
    *version =
        p->id == VPRED_PT ? NONE : reach_read(&c->reach, block, index, value_of_pred(&c->reach.v, p->id));
    return *version == NONE ? (struct vclass){0} : class_read(c, *version, block);
}

/* Low bits of source 0 that are zero because it was shifted left. */
static uint32_t low_zero(const struct classes *c, uint32_t block, uint32_t index) {
    uint32_t version;
    source_word(c, block, index, 0, 0, &version);
    const struct inst *i = version == NONE ? NULL : reach_inst(&c->reach, version);
    if (!i || i->op != OP_SHL || is_guarded(i) || i->src[1].kind != O_IMM)
        return 0;
    return i->src[1].v < 31 ? i->src[1].v : 31;
}

/* What a load adds to what its address and the rest of its sources say. */
static struct vclass class_of_load(const struct solver *s, uint32_t block, uint32_t index) {
    const struct inst *i = &s->c->f->blocks.at[block].insts.at[index];
    const struct class_options *o = &s->c->o;
    const struct vclass any = {DEP_ANY, LACK_NONE}, by_address = {0, LACK_NONE};
    if (i->op == OP_LDC || i->op == OP_TEX || i->op == OP_TXQ)
        return by_address;
    if (op_info[i->op].flags & (OPF_ATOMIC | OPF_EFFECT | OPF_CROSS) || i->m.vol || o->loads == LOADS_VARY)
        return any;
    const struct access *x = access_at(o->accesses, s->fn, block, index);
    static const enum access_alias worst[] = {
        [LOADS_READ_ONLY] = ALIAS_NO, [LOADS_DISTINCT] = ALIAS_ARGUMENTS, [LOADS_BY_ADDRESS] = ALIAS_MAY};
    if (!x || x->spaces & IN_LOCAL || access_written(o->accesses, x) > worst[o->loads])
        return any;
    /* Each block has shared memory of its own. */
    return (struct vclass){x->spaces & IN_SHARED ? DEP_BLOCK : 0, LACK_NONE};
}

/* What an instruction's results depend on beside its sources. */
static struct vclass class_of_operation(const struct solver *s, uint32_t block, uint32_t index) {
    const struct inst *i = &s->c->f->blocks.at[block].insts.at[index];
    uint16_t flags = op_info[i->op].flags;
    if (i->op == OP_S2R)
        return form_special(i->m.mode);
    if (i->op == OP_VOTE || i->op == OP_REDUX) /* of the lanes that are there together */
        return (struct vclass){DEP_BLOCK | DEP_WARP, LACK_NONE};
    if (flags & OPF_LOAD)
        return class_of_load(s, block, index);
    if (flags & (OPF_EFFECT | OPF_CROSS | OPF_LANE) || i->op == OP_P2R)
        return (struct vclass){DEP_ANY, LACK_NONE};
    return (struct vclass){0};
}

/* What a word lacks that an instruction writes, apart from its guard. */
static uint32_t form_of_word(const struct classes *c, const struct version *v, struct form_sources *in) {
    const struct inst *i = &c->f->blocks.at[v->block].insts.at[v->index];
    if (v->value >= c->reach.v.nwords)
        return LACK_NONE;
    if (i->op == OP_S2R)
        return form_special(i->m.mode).lack;
    if (inst_dst_words(i) == 1)
        return form_result(i, in, low_zero(c, v->block, v->index));
    if ((i->op != OP_IMULW && i->op != OP_IMADW) || v->value != value_of_opd(&c->reach.v, &i->dst))
        return LACK_NONE;
    struct inst plain = *i; /* the lower word of a wide product is that of the plain one */
    uint32_t version;
    plain.op = i->op == OP_IMULW ? OP_IMUL : OP_IMAD;
    if (i->op == OP_IMADW)
        in->src[2] = source_word(c, v->block, v->index, 2, 0, &version);
    return form_result(&plain, in, 0);
}

/* A version that an instruction writes. */
static void solve_write(struct solver *s, uint32_t v, uint32_t block, uint32_t index) {
    const struct classes *c = s->c;
    const struct inst *i = &c->f->blocks.at[block].insts.at[index];
    struct form_sources in = {0};
    uint32_t from[6], n = 0, version;
    for (uint32_t k = 0; k < i->nsrc; k++)
        for (uint32_t w = 0; w < inst_src_words(i, k); w++) {
            in.src[k] = class_meet(in.src[k], source_word(c, block, index, k, w, &version));
            if (version != NONE)
                grow_read(s, v, version, block, HOW_SOURCE, false);
            if (!w)
                from[n++] = version;
        }
    for (uint32_t k = 0; k < 2; k++) {
        in.psrc[k] = source_pred(c, block, index, &i->psrc[k], &from[n++]);
        if (from[n - 1] != NONE)
            grow_read(s, v, from[n - 1], block, HOW_SOURCE, false);
    }
    grow(s, v, class_of_operation(s, block, index), NONE, HOW_SELF);
    grow_lack(s, v, form_of_word(c, &c->reach.at[v], &in), from, n);
    if (c->reach.at[v].before == NONE)
        return;
    struct vclass guard = source_pred(c, block, index, &i->guard, &version);
    if (version != NONE)
        grow_read(s, v, version, block, HOW_GUARD, false);
    grow(s, v, (struct vclass){.lack = (uint16_t)form_choice(guard)}, version, HOW_GUARD);
    grow_read(s, v, c->reach.at[v].before, block, HOW_OLD, true);
}

static void solve_inst(struct solver *s, uint32_t block, uint32_t index) {
    const struct reach *r = &s->c->reach;
    struct span span[MAX_SPANS];
    uint32_t v = r->write_at[r->first[block] + index];
    uint32_t n = inst_writes(&r->v, &s->c->f->blocks.at[block].insts.at[index], span);
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t w = 0; w < span[k].n; w++)
            solve_write(s, v++, block, index);
}

/* ---- merges ---- */

/* The inputs of a merge are not all the same. */
static bool differs(const uint32_t *input, uint32_t n, uint32_t self) {
    uint32_t only = NONE;
    for (uint32_t p = 0; p < n; p++) {
        if (input[p] == NONE || input[p] == self)
            continue;
        if (only != NONE && only != input[p])
            return true;
        only = input[p];
    }
    return false;
}

/* A node at the start of block whose inputs come over its edges; base: what numbers of inputs count from. */
static void solve_merge(struct solver *s, uint32_t node, uint32_t block, const uint32_t *input, uint32_t base,
                        bool constants) {
    const struct classes *c = s->c;
    uint32_t n = c->f->blocks.at[block].pred.len;
    for (uint32_t p = 0; p < n; p++)
        if (input[p] != NONE)
            grow_read(s, node, base + input[p], c->f->blocks.at[block].pred.at[p], HOW_INPUT, true);
    if (c->o.pessimistic && s->headers[block])
        grow(s, node, (struct vclass){DEP_ANY, LACK_NONE}, NONE, HOW_SELF);
    if (!constants && !differs(input, n, node - base))
        return;
    const bits *meets = control_meets(&c->control, block);
    for (uint32_t w = 0; w < c->control.words; w++)
        for (bits left = meets[w]; left; left &= left - 1) {
            uint32_t k = 64 * w + (uint32_t)__builtin_ctzll(left), split = node_of_split(c, k);
            struct vclass cond = class_of(c, split);
            struct vclass more = {cond.deps, (uint16_t)form_choice(cond)};
            grow(s, node, bits_get(c->control.again, k) ? other_rounds(cond) : more, split, HOW_BRANCH);
        }
}

static void solve_merges(struct solver *s, uint32_t block) {
    const struct reach *r = &s->c->reach;
    for (uint32_t k = r->merge_at[block]; k < r->merge_at[block + 1]; k++)
        solve_merge(s, r->merges[k], block, &r->inputs[r->at[r->merges[k]].input], 0, false);
}

/* ---- pairs ---- */

/* The class of a half as a number of its own, read where the pair was made. */
static struct vclass half_class(const struct classes *c, uint32_t half, uint32_t block) {
    return half < HALF_ZERO ? class_read(c, half, block) : (struct vclass){0};
}

static struct vclass part_class(const struct classes *c, uint32_t pair, uint32_t block) {
    return pair == NONE ? (struct vclass){0} : class_read(c, c->reach.n + pair, block);
}

static uint32_t form_of_pair(const struct classes *c, const struct class_pair *p) {
    struct vclass a = half_class(c, p->word[0], p->block), b = half_class(c, p->word[1], p->block),
                  x = part_class(c, p->part[0], p->block), y = part_class(c, p->part[1], p->block);
    bool wraps = (a.deps && !p->exact[0]) || (b.deps && !p->exact[1] && p->kind == PAIR_WIDE);
    uint32_t widened = wraps ? LACK_EXTENDED : 0;
    switch ((enum pair_kind)p->kind) {
    case PAIR_SUM:
        return form_sum(x, y);
    case PAIR_WIDE: {
        struct vclass product = {a.deps | b.deps, (uint16_t)(form_product(a, b) | widened)};
        return form_sum(form_settle(product), x);
    }
    case PAIR_SHIFT:
        return form_product(x, form_power(b));
    case PAIR_PRODUCT:
        return b.deps ? form_product(x, b) | LACK_EXTENDED : x.lack;
    case PAIR_SIGN:
    case PAIR_ZERO:
        return a.lack | widened;
    default:
        return LACK_NONE;
    }
}

static void solve_pair(struct solver *s, uint32_t n) {
    const struct class_pair *p = &s->c->pairs[n];
    uint32_t node = s->c->reach.n + n, halves[2] = {p->lo, p->hi}, from[2];
    for (uint32_t k = 0; k < 2; k++)
        if (halves[k] < HALF_ZERO)
            grow(s, node, (struct vclass){.deps = class_of(s->c, halves[k]).deps}, halves[k], HOW_SOURCE);
    for (uint32_t k = 0; k < 2; k++)
        from[k] = p->part[k] != NONE       ? s->c->reach.n + p->part[k]
                  : p->word[k] < HALF_ZERO ? p->word[k]
                                           : NONE;
    if (p->kind != PAIR_MERGE) {
        grow_lack(s, node, form_of_pair(s->c, p), from, 2);
        return;
    }
    const uint32_t *input = &s->pairs.inputs.at[p->parts];
    bool constants = false;
    for (uint32_t k = 0; k < s->c->f->blocks.at[p->block].pred.len; k++)
        constants |= input[k] == NONE;
    solve_merge(s, node, p->block, input, s->c->reach.n, constants);
}

/* ---- branches ---- */

/* The condition of a branch: its guard, or what an indexed branch goes by. */
static void solve_split(struct solver *s, uint32_t n) {
    const struct classes *c = s->c;
    const struct block *k = &c->f->blocks.at[c->control.splits[n].block];
    uint32_t index = k->insts.len - 1, value = NONE;
    const struct inst *last = &k->insts.at[index];
    if (last->op == OP_BRX && last->src[0].v != VREG_RZ)
        value = value_of_opd(&c->reach.v, &last->src[0]);
    else if (last->guard.id != VPRED_PT)
        value = value_of_pred(&c->reach.v, last->guard.id);
    uint32_t v = value == NONE ? NONE : reach_read(&c->reach, c->control.splits[n].block, index, value);
    if (v != NONE)
        grow_read(s, node_of_split(c, n), v, c->control.splits[n].block, HOW_SOURCE, false);
}

/* ---- the whole ---- */

static void find_headers(struct solver *s, struct arena *a) {
    const struct fn *f = s->c->f;
    struct arena temp = {0};
    struct dom dom = dom_of(&temp, f);
    s->headers = arena_array(a, uint32_t, f->blocks.len + 1);
    for (uint32_t b = 0; b < f->blocks.len; b++)
        for (uint32_t k = 0; k < f->blocks.at[b].succ.len; k++)
            if ((!b || dom.idom[b] != NONE) && dom_block(&dom, f->blocks.at[b].succ.at[k], b))
                s->headers[f->blocks.at[b].succ.at[k]] = 1;
    arena_free(&temp);
}

static void start(struct solver *s) {
    for (uint32_t v = 0; v < s->c->reach.n && !s->c->f->entry; v++)
        if (s->c->reach.at[v].kind == VERSION_ENTRY)
            grow(s, v, (struct vclass){DEP_ANY, LACK_NONE}, NONE, HOW_SELF);
    for (uint32_t k = 0; s->c->o.accesses && k < s->c->o.accesses->p->fns.len; k++)
        if (s->c->o.accesses->p->fns.at[k] == s->c->f)
            s->fn = k;
}

static void solve(struct solver *s) {
    struct arena temp = {0};
    uint32_t *order, n = cfg_rpo(&temp, s->c->f, &order);
    find_headers(s, &temp);
    start(s);
    do {
        s->again = false;
        for (uint32_t k = 0; k < n; k++) {
            solve_merges(s, order[k]);
            for (uint32_t i = 0; i < s->c->f->blocks.at[order[k]].insts.len; i++)
                solve_inst(s, order[k], i);
        }
        for (uint32_t k = 0; k < s->c->npairs; k++)
            solve_pair(s, k);
        for (uint32_t k = 0; k < s->c->control.nsplits; k++)
            solve_split(s, k);
    } while (s->again);
    arena_free(&temp);
}

struct classes *classes_of(struct arena *a, const struct fn *f, const struct class_options *o) {
    struct classes *c = arena_new(a, struct classes);
    struct solver s = {.c = c};
    c->f = f;
    c->o = *o;
    c->reach = reach_of(a, f);
    c->control = control_of(a, f);
    c->pair_at = arena_array(a, uint32_t, c->reach.nreads + 1);
    pairs_find(&s.pairs, &c->reach, c->pair_at);
    c->npairs = s.pairs.at.len;
    c->pairs = arena_array(a, struct class_pair, c->npairs + 1);
    if (c->npairs)
        memcpy(c->pairs, s.pairs.at.at, c->npairs * sizeof *c->pairs);
    uint32_t nodes = c->reach.n + c->npairs + c->control.nsplits;
    c->of = arena_array(a, struct vclass, nodes + 1);
    if (o->reasons) {
        c->reasons = arena_array(a, struct class_reason, (size_t)nodes * CLASS_BITS + 1);
        for (size_t k = 0; k < (size_t)nodes * CLASS_BITS; k++)
            c->reasons[k].from = NONE;
    }
    solve(&s);
    pairs_free(&s.pairs);
    return c;
}

/* ---- questions ---- */

struct vclass class_of_source(const struct classes *c, uint32_t block, uint32_t index, uint32_t s) {
    const struct inst *i = &c->f->blocks.at[block].insts.at[index];
    uint32_t at = c->reach.read_at[c->reach.first[block] + index], words = inst_src_words(i, s), version;
    if (at == NONE)
        return (struct vclass){DEP_ANY, LACK_NONE};
    if (words == 1 || i->src[s].kind != O_REG || i->src[s].v == VREG_RZ)
        return source_word(c, block, index, s, 0, &version);
    for (uint32_t k = 0; k < s; k++) /* place of the source among what is read */
        at += i->src[k].kind == O_REG && i->src[k].v != VREG_RZ ? inst_src_words(i, k) : 0;
    if (words == 2 && c->pair_at[at])
        return class_read(c, c->reach.n + c->pair_at[at] - 1, block);
    struct vclass all = {0};
    for (uint32_t w = 0; w < words; w++)
        all = class_meet(all, source_word(c, block, index, s, w, &version));
    return form_settle((struct vclass){all.deps, LACK_NONE});
}

struct vclass class_of_reads(const struct classes *c, uint32_t block, uint32_t index) {
    const struct inst *i = &c->f->blocks.at[block].insts.at[index];
    struct vclass all = {0};
    uint32_t version;
    for (uint32_t s = 0; s < i->nsrc; s++)
        all = class_meet(all, class_of_source(c, block, index, s));
    for (uint32_t k = 0; k < 2; k++)
        all = class_meet(all, source_pred(c, block, index, &i->psrc[k], &version));
    return form_settle(class_meet(all, source_pred(c, block, index, &i->guard, &version)));
}

struct vclass class_of_result(const struct classes *c, uint32_t block, uint32_t index, uint32_t k) {
    const struct inst *i = &c->f->blocks.at[block].insts.at[index];
    uint32_t v = reach_written(&c->reach, block, index, value_of_opd(&c->reach.v, &i->dst) + k);
    return v == NONE ? (struct vclass){DEP_ANY, LACK_NONE} : class_of(c, v);
}
