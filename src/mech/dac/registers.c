/* Registers of the affine stream.
 *
 * The affine warp has one register where the threads have one each. Both arms of a branch run one after the
 * other, on the same registers: what one arm writes must not be what the other still reads. So every
 * version of a register becomes a register of its own first, and merges become copies; and the allocator
 * sees, besides the edges that threads take, those on which the warp goes on with another path: from where
 * one arm of a branch ends to the beginning of the other. */
#include "mech/dac/registers.h"

#include <string.h>

#include "mech/dac/joins.h"
#include "mech/dac/split.h"
#include "opt/pass.h"

struct web {
    uint32_t words; /* 0: nobody uses it */
    uint32_t at;    /* the register, or predicate, that it becomes */
};

/* A copy that goes before an instruction. */
struct kept {
    uint32_t block, index;
    struct inst copy;
};

struct webs {
    const struct program *p;
    struct fn *f;
    struct reach r;
    struct control c;
    struct joins joins;
    const struct join_plan **plan; /* by version: how threads choose at a merge; NULL: it is copied */
    uint32_t *parent;              /* by version */
    uint32_t *kept_in;  /* by version: the same for what guarded writes keep in their own register */
    uint32_t *uses;     /* by version: who reads it, or keeps it where a guard skips a write */
    bool *needed;       /* by version */
    uint32_t *group_of; /* by value: its virtual register; of predicates NONE */
    uint32_t *word_of;  /* ... and which of its words */
    struct web *web;    /* by representative version */
    VEC(uint32_t) work;
    VEC(struct kept) kept;
};

static uint32_t root(uint32_t *parent, uint32_t v) {
    while (parent[v] != v)
        v = parent[v] = parent[parent[v]];
    return v;
}

static uint32_t find(struct webs *w, uint32_t v) {
    return root(w->parent, v);
}

static void join(struct webs *w, uint32_t a, uint32_t b) {
    if (a != NONE && b != NONE)
        w->parent[find(w, a)] = find(w, b);
}

/* Calls the statement with each version v that instruction k of block b reads or writes, and its value. */
#define EACH_VERSION(w, b, k, reads, value, v, ...)                                                          \
    do {                                                                                                     \
        struct span span_[MAX_SPANS];                                                                        \
        const struct inst *i_ = &(w)->f->blocks.at[b].insts.at[k];                                           \
        uint32_t n_ = (reads) ? inst_reads(&(w)->r.v, i_, span_) : inst_writes(&(w)->r.v, i_, span_);        \
        for (uint32_t j_ = 0; j_ < n_; j_++)                                                                 \
            for (uint32_t x_ = 0; x_ < span_[j_].n; x_++) {                                                  \
                uint32_t value = span_[j_].first + x_;                                                       \
                uint32_t v =                                                                                 \
                    (reads) ? reach_read(&(w)->r, b, k, value) : reach_written(&(w)->r, b, k, value);        \
                if (v != NONE) {                                                                             \
                    __VA_ARGS__                                                                              \
                }                                                                                            \
            }                                                                                                \
    } while (0)

static void need(struct webs *w, uint32_t v) {
    if (v == NONE || w->needed[v])
        return;
    w->needed[v] = true;
    vec_push(&w->work, v);
}

/* What those need that are needed. */
static void close_needed(struct webs *w) {
    while (w->work.len) {
        uint32_t v = w->work.at[--w->work.len];
        const struct version *x = &w->r.at[v];
        for (uint32_t k = 0; x->kind == VERSION_MERGE && k < w->f->blocks.at[x->block].pred.len; k++) {
            uint32_t in = w->r.inputs[x->input + k];
            need(w, in);
            w->uses[in == NONE ? v : in]++;
        }
        if (x->kind == VERSION_WRITE && x->before != NONE) {
            need(w, x->before);
            w->uses[x->before]++;
        }
    }
}

static uint32_t roles_of(const struct webs *w, const struct inst *i) {
    const struct dac_fact *x = fact_get(w->p, &dac_passes[0], i);
    return x ? x->roles : 0;
}

/* Versions that somebody reads. A branch that the warps decide reads nothing here. */
static void find_needed(struct webs *w) {
    for (uint32_t b = 0; b < w->f->blocks.len; b++)
        for (uint32_t k = 0; k < w->f->blocks.at[b].insts.len; k++)
            if (!(roles_of(w, &w->f->blocks.at[b].insts.at[k]) & DAC_ASK))
                EACH_VERSION(w, b, k, true, value, v, (void)value; need(w, v); w->uses[v]++;);
    close_needed(w);
}

/* What a guarded write keeps, it finds in its own register. That may be the register of the version before
 * only if nobody else reads this one: threads of another path might, and the write is for all. */
static void connect_kept(struct webs *w) {
    for (uint32_t b = 0; b < w->f->blocks.len; b++)
        for (uint32_t k = 0; k < w->f->blocks.at[b].insts.len; k++) {
            bool alone = true;
            EACH_VERSION(w, b, k, false, value, v, (void)value; uint32_t before = w->r.at[v].before;
                         alone &= before == NONE || w->uses[before] == 1;);
            if (!alone)
                continue;
            EACH_VERSION(
                w, b, k, false, value, v, (void)value; uint32_t before = w->r.at[v].before;
                if (before != NONE && w->needed[v]) {
                    join(w, v, before);
                    w->kept_in[root(w->kept_in, v)] = root(w->kept_in, before);
                });
        }
}

/* The words of one operand are one web. */
static void connect_words(struct webs *w) {
    for (uint32_t b = 0; b < w->f->blocks.len; b++)
        for (uint32_t k = 0; k < w->f->blocks.at[b].insts.len; k++)
            for (uint32_t reads = 0; reads < 2; reads++) {
                uint32_t before = NONE, group = NONE;
                EACH_VERSION(w, b, k, reads, value, v, {
                    if (w->group_of[value] == group && group != NONE)
                        join(w, before, v);
                    group = w->group_of[value];
                    before = v;
                });
            }
}

/* No web holds two versions of one word, but for those that guarded writes keep: one might be written while
 * threads of another path still need the other. */
static bool webs_apart(struct webs *w, struct arena *a) {
    uint32_t most = 1;
    for (uint32_t g = 0; g < w->f->vregs.len; g++)
        most = w->f->vregs.at[g] > most ? w->f->vregs.at[g] : most;
    uint32_t *first = arena_array(a, uint32_t, (size_t)w->r.n * most + 1);
    for (uint32_t v = 0; v < w->r.n; v++) {
        const struct version *x = &w->r.at[v];
        if (x->kind == VERSION_ENTRY || (x->kind == VERSION_MERGE && !w->needed[v]))
            continue;
        uint32_t *at = &first[(size_t)find(w, v) * most + w->word_of[x->value]];
        uint32_t own = root(w->kept_in, v) + 1;
        if (*at && *at != own)
            return false;
        *at = own;
    }
    return true;
}

/* Every web becomes a register. */
static void place(struct webs *w, uint32_t v, uint32_t value) {
    struct web *x = &w->web[find(w, v)];
    uint32_t group = w->group_of[value];
    if (x->words)
        return;
    x->words = group == NONE ? 1 : w->f->vregs.at[group];
    x->at = group == NONE ? fn_pred(w->f) : fn_vreg(w->f, x->words);
}

static void place_all(struct webs *w) {
    for (uint32_t b = 0; b < w->f->blocks.len; b++)
        for (uint32_t k = 0; k < w->f->blocks.at[b].insts.len; k++)
            for (uint32_t reads = 0; reads < 2; reads++)
                EACH_VERSION(w, b, k, reads, value, v, place(w, v, value););
    for (uint32_t v = 0; v < w->r.n; v++)
        if (w->needed[v])
            place(w, v, w->r.at[v].value);
}

/* ---- merges ---- */

/* A copy between two words, or predicates; of a merge of that value. */
static struct inst copy_of(const struct webs *w, uint32_t value, uint32_t to, uint32_t to_word, uint32_t from,
                           uint32_t from_word) {
    bool pred = w->group_of[value] == NONE;
    struct inst i = inst_new(pred ? OP_PLOP : OP_MOV);
    if (pred) {
        i.pdst[0].id = to;
        i.psrc[0].id = from;
    } else {
        i.dst = opd_reg(to, to_word);
        i.src[0] = opd_reg(from, from_word);
        i.nsrc = 1;
    }
    return i;
}

/* Where instructions go that stand at the end of a block, before its branch. */
static uint32_t end_of(const struct block *b) {
    return b->insts.len - (b->insts.len && ends_block(&b->insts.at[b->insts.len - 1]));
}

/* Every edge brings its version to a place of the merge, from which it is taken at the beginning of the
 * block: so no merge is overwritten that another one still reads, or another successor. */
static void copy_merge(struct webs *w, uint32_t v) {
    const struct version *x = &w->r.at[v];
    uint32_t word = w->word_of[x->value];
    uint32_t place = w->group_of[x->value] == NONE ? fn_pred(w->f) : fn_vreg(w->f, 1);
    struct block *b = &w->f->blocks.at[x->block];
    struct inst take = copy_of(w, x->value, w->web[find(w, v)].at, word, place, 0);
    block_insert(b, 0, &take, 1);
    for (uint32_t k = 0; k < b->pred.len; k++) {
        uint32_t in = w->r.inputs[x->input + k];
        if (in == NONE)
            continue;
        struct block *from = &w->f->blocks.at[b->pred.at[k]];
        struct inst give = copy_of(w, x->value, place, 0, w->web[find(w, in)].at, word);
        block_insert(from, end_of(from), &give, 1);
    }
}

/* ---- merges of ways ---- */

/* What is known of the branches. */
static void find_branches(struct webs *w, struct arena *a) {
    w->c = control_of(a, w->f);
    bool *parts = arena_array(a, bool, w->c.nsplits + 1), *asks = arena_array(a, bool, w->f->blocks.len + 1);
    for (uint32_t k = 0; k < w->c.nsplits; k++) {
        uint32_t b = w->c.splits[k].block, roles = roles_of(w, block_last(&w->f->blocks.at[b]));
        parts[k] = roles & DAC_PARTS;
        asks[b] = roles & DAC_ASK;
    }
    w->joins = (struct joins){
        .f = w->f, .c = &w->c, .r = &w->r, .dom = dom_of(a, w->f), .parts = parts, .asks = asks};
    w->plan = arena_array(a, const struct join_plan *, w->r.n + 1);
}

/* The predicates of the branches of a plan are read where the ways meet. */
static void need_predicates(struct webs *w, const struct join_plan *p) {
    for (uint32_t k = 0; k < p->nbranches; k++) {
        need(w, p->pred[k]);
        w->uses[p->pred[k]]++;
    }
}

/* Finds out which merges are of ways on which threads part, and how they choose; false: of one that cannot be
 * told. Predicates that are needed for it may be merges, too. */
static bool find_plans(struct webs *w, struct arena *a) {
    bool *seen = arena_array(a, bool, w->r.n + 1);
    for (bool again = true; again;) {
        again = false;
        for (uint32_t v = 0; v < w->r.n; v++) {
            if (seen[v] || !w->needed[v] || w->r.at[v].kind != VERSION_MERGE)
                continue;
            seen[v] = again = true;
            if (!join_differs(&w->joins, v))
                continue;
            w->plan[v] = w->group_of[w->r.at[v].value] == NONE ? NULL : join_plan(a, &w->joins, v);
            if (!w->plan[v])
                return false;
            need_predicates(w, w->plan[v]);
            close_needed(w);
        }
    }
    return true;
}

/* Code that goes to the beginning of a block, and the conditions that it makes. */
struct made {
    uint32_t edges, other;
    struct popd p;
};
struct beginning {
    VEC(struct inst) code;
    VEC(struct made) made;
};

static struct popd condition(struct webs *w, struct beginning *out, const struct join_cond *c) {
    if (c->kind == JOIN_IF)
        return (struct popd){.id = w->web[find(w, c->pred)].at, .neg = c->neg};
    struct inst i = inst_new(OP_PLOP);
    for (uint32_t k = 0; k < 2; k++)
        i.psrc[k] = condition(w, out, c->of[k]);
    i.m.bop = c->kind == JOIN_AND ? BOOL_AND : BOOL_OR;
    i.pdst[0].id = fn_pred(w->f);
    vec_push(&out->code, i);
    return i.pdst[0];
}

/* The k-th condition of a plan; merges to which threads come by the same edges share them. */
static struct popd condition_of(struct webs *w, struct beginning *out, const struct join_plan *p,
                                uint32_t k) {
    struct made m = {.edges = p->edges[k], .other = k ? p->edges[0] : 0};
    for (uint32_t n = 0; n < out->made.len; n++)
        if (out->made.at[n].edges == m.edges && out->made.at[n].other == m.other)
            return out->made.at[n].p;
    m.p = condition(w, out, p->cond[k]);
    vec_push(&out->made, m);
    return m.p;
}

static struct opd place_of(struct webs *w, uint32_t v) {
    return opd_reg(w->web[find(w, v)].at, w->word_of[w->r.at[v].value]);
}

/* A SEL; of what was never written it does not matter what it is. */
static void select_word(struct beginning *out, struct opd to, struct opd a, struct opd b, struct popd by,
                        struct popd guard) {
    struct inst i = inst_new(OP_SEL);
    i.guard = guard;
    i.dst = to;
    i.src[0] = a;
    i.src[1] = b;
    i.nsrc = 2;
    i.psrc[0] = by;
    vec_push(&out->code, i);
}

/* Threads choose among what they bring to merge v. */
static void merge_webs(struct webs *w, struct beginning *out, uint32_t v) {
    const struct join_plan *p = w->plan[v];
    const struct popd all = {.id = VPRED_PT};
    struct opd from[JOIN_VERSIONS], rest;
    uint32_t written = 0;
    while (written + 1 < p->n && w->r.at[p->version[written]].kind == VERSION_ENTRY)
        written++;
    for (uint32_t k = 0; k < p->n; k++)
        from[k] = place_of(w, p->version[w->r.at[p->version[k]].kind == VERSION_ENTRY ? written : k]);
    struct popd first = condition_of(w, out, p, 0);
    rest = from[1];
    if (p->n > 2) {
        struct popd others = {.id = first.id, .neg = !first.neg};
        rest = opd_reg(fn_vreg(w->f, 1), 0);
        select_word(out, rest, from[1], from[2], condition_of(w, out, p, 1), others);
    }
    select_word(out, place_of(w, v), from[0], rest, first, all);
}

static void copy_merges(struct webs *w) {
    for (uint32_t b = 0; b < w->f->blocks.len; b++) {
        struct beginning out = {0};
        for (uint32_t k = w->r.merge_at[b]; k < w->r.merge_at[b + 1]; k++)
            if (w->plan[w->r.merges[k]])
                merge_webs(w, &out, w->r.merges[k]);
            else if (w->needed[w->r.merges[k]])
                copy_merge(w, w->r.merges[k]);
        if (out.code.len)
            block_insert(&w->f->blocks.at[b], 0, out.code.at, out.code.len);
        vec_free(&out.code);
        vec_free(&out.made);
    }
}

static struct web *web_of(struct webs *w, uint32_t b, uint32_t k, bool reads, uint32_t value) {
    uint32_t v = reads ? reach_read(&w->r, b, k, value) : reach_written(&w->r, b, k, value);
    return v == NONE ? NULL : &w->web[find(w, v)];
}

static void set_opd(struct webs *w, uint32_t b, uint32_t k, bool reads, struct opd *o) {
    if (o->kind != O_REG || o->v == VREG_RZ)
        return;
    const struct web *x = web_of(w, b, k, reads, value_of_opd(&w->r.v, o));
    o->v = x ? x->at : o->v;
}

static void rename_pred(struct webs *w, uint32_t b, uint32_t k, bool reads, struct popd *p) {
    if (p->id == VPRED_PT)
        return;
    const struct web *x = web_of(w, b, k, reads, value_of_pred(&w->r.v, p->id));
    p->id = x ? x->at : p->id;
}

static void rewrite(struct webs *w) {
    for (uint32_t b = 0; b < w->f->blocks.len; b++)
        for (uint32_t k = 0; k < w->f->blocks.at[b].insts.len; k++) {
            struct inst *i = &w->f->blocks.at[b].insts.at[k], was = *i;
            for (uint32_t s = 0; s < was.nsrc; s++)
                set_opd(w, b, k, true, &was.src[s]);
            set_opd(w, b, k, false, &was.dst);
            rename_pred(w, b, k, true, &was.guard);
            for (uint32_t n = 0; n < 2; n++) {
                rename_pred(w, b, k, true, &was.psrc[n]);
                rename_pred(w, b, k, false, &was.pdst[n]);
            }
            *i = was;
        }
}

/* Where a guarded write has a register of its own, what it keeps is brought there before. */
static void find_kept(struct webs *w) {
    for (uint32_t b = 0; b < w->f->blocks.len; b++)
        for (uint32_t k = 0; k < w->f->blocks.at[b].insts.len; k++)
            EACH_VERSION(
                w, b, k, false, value, v, uint32_t before = w->r.at[v].before;
                if (before != NONE && w->r.at[before].kind != VERSION_ENTRY && w->needed[v] &&
                    find(w, v) != find(w, before)) {
                    uint32_t word = w->word_of[value], from = w->web[find(w, before)].at;
                    struct inst copy = copy_of(w, value, w->web[find(w, v)].at, word, from, word);
                    vec_push(&w->kept, (struct kept){b, k, copy});
                });
}

/* From the last on, so that those before stay where they are. */
static void copy_kept(struct webs *w) {
    for (uint32_t n = w->kept.len; n-- > 0;)
        block_insert(&w->f->blocks.at[w->kept.at[n].block], w->kept.at[n].index, &w->kept.at[n].copy, 1);
}

/* NULL, or why it cannot be. */
static const char *rename_webs(const struct program *p, struct fn *f, bool merges) {
    struct arena a = {0};
    struct webs w = {.p = p, .f = f, .r = reach_of(&a, f)};
    w.parent = arena_array(&a, uint32_t, w.r.n + 1);
    w.kept_in = arena_array(&a, uint32_t, w.r.n + 1);
    w.uses = arena_array(&a, uint32_t, w.r.n + 1);
    w.needed = arena_array(&a, bool, w.r.n + 1);
    w.web = arena_array(&a, struct web, w.r.n + 1);
    w.group_of = arena_array(&a, uint32_t, w.r.v.n + 1);
    w.word_of = arena_array(&a, uint32_t, w.r.v.n + 1);
    memset(w.group_of, 0xff, (w.r.v.n + 1) * sizeof *w.group_of);
    for (uint32_t g = 0; g < f->vregs.len; g++)
        for (uint32_t n = 0; n < f->vregs.at[g]; n++) {
            w.group_of[w.r.v.base[g] + n] = g;
            w.word_of[w.r.v.base[g] + n] = n;
        }
    for (uint32_t v = 0; v < w.r.n; v++)
        w.parent[v] = w.kept_in[v] = v;
    find_needed(&w);
    find_branches(&w, &a);
    bool planned = !merges || find_plans(&w, &a);
    connect_kept(&w);
    connect_words(&w);
    bool apart = webs_apart(&w, &a);
    if (planned && apart) {
        place_all(&w);
        find_kept(&w);
        rewrite(&w);
        copy_kept(&w);
        copy_merges(&w);
    }
    vec_free(&w.work);
    vec_free(&w.kept);
    arena_free(&a);
    return !planned ? "ways of the affine stream meet elsewhere"
           : apart  ? NULL
                    : "words of the affine stream share a register";
}

/* A path of a branch may end in this block, before the join. */
static bool path_ends(const struct fn *f, uint32_t b, uint32_t join) {
    const struct block *x = &f->blocks.at[b];
    if (x->insts.len && x->insts.at[x->insts.len - 1].op == OP_EXIT)
        return true;
    for (uint32_t k = 0; k < x->succ.len; k++)
        if (x->succ.at[k] == join)
            return true;
    return false;
}

/* Adds the edges on which the warp turns to the other arm of a branch. */
static void add_turns(struct fn *f) {
    struct arena a = {0};
    struct control c = control_of(&a, f);
    for (uint32_t n = 0; n < c.nsplits; n++) {
        uint32_t at = c.splits[n].block, arm[2] = {f->blocks.at[at].succ.at[0], f->blocks.at[at].succ.at[1]};
        for (uint32_t b = 0; b < f->blocks.len; b++)
            for (uint32_t k = 0; k < 2; k++)
                if (bits_get(control_region(&c, b), n) && arm[k] != c.splits[n].join &&
                    path_ends(f, b, c.splits[n].join))
                    vec_push(&f->blocks.at[b].succ, arm[k]);
    }
    arena_free(&a);
}

/* What the allocator may have added is nothing that the affine warp could do. */
static bool spilled(const struct fn *f) {
    for (uint32_t b = 0; b < f->blocks.len; b++)
        for (uint32_t k = 0; k < f->blocks.at[b].insts.len; k++) {
            uint16_t op = f->blocks.at[b].insts.at[k].op;
            if (op == OP_LD || op == OP_ST || op == OP_P2R || op == OP_R2P)
                return true;
        }
    return false;
}

const char *dac_registers(struct program *p, struct fn *f, const struct dac_params *params) {
    uint32_t limit = (uint32_t)params->registers;
    cfg_joins(f);
    const char *why = rename_webs(p, f, dac_rule(params, DAC_RULE_MERGE));
    if (why)
        return why;
    uint32_t *edges = xcalloc(f->blocks.len + 1, sizeof *edges);
    for (uint32_t b = 0; b < f->blocks.len; b++)
        edges[b] = f->blocks.at[b].succ.len;
    if (dac_rule(params, DAC_RULE_TURNS))
        add_turns(f);
    p->reg_limit = limit;
    bool done = !regalloc(p, f, true);
    for (uint32_t b = 0; b < f->blocks.len; b++)
        f->blocks.at[b].succ.len = edges[b];
    free(edges);
    return done && f->nregs <= limit && !spilled(f) ? NULL : "the affine stream needs too many registers";
}
