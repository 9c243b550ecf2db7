/* Whether there is a block between two instructions, proved on the code: where it is entered and left, what
 * it reads on any path, what is live behind it, and what must be done when it is skipped. */
#include <string.h>

#include "cpu/region_model.h"

enum { CHAIN = 6 /* instructions that make a passenger */ };

static bool is_movable(const struct cputrace_code *c) {
    return !c->is_branch && c->class != CLASS_SYS && c->op != A64_ADR && c->op != A64_ADRP &&
           (c->word & 0x3b000000) != 0x18000000; /* loads of what stands beside the code */
}

/* Where a block begins or ends a branch is put, and the instruction stands elsewhere; a call can, too. */
static bool is_edge(const struct cputrace_code *c) {
    return is_movable(c) || c->op == A64_BL;
}

/* Bytes of register r that an instruction reads; 16: more than memoization can take. */
static uint32_t width(uint32_t word, const struct cputrace_code *c, uint32_t r) {
    bool scalar = (word >> 24 & 0x7e) == 0x1e;
    if (r >= A64_V0) {
        if (c->is_load || c->is_store)
            return a64_access_size(word);
        return scalar ? (word >> 22 & 3 ? 8 : 4) : 16;
    }
    uint32_t rm = word >> 16 & 31, rn = word >> 5 & 31, option = word >> 13 & 7;
    bool extends = (word & 0x1f200000) == 0x0b200000 || (word & 0x3b200c00) == 0x38200800;
    if (extends && r == rm && r != rn && !(c->is_store && r == (word & 31)))
        return (option & 3) == 3 ? 8 : 4;
    if ((word & 0xfffffc00) == 0x93407c00) /* SXTW */
        return 4;
    if (c->is_store && r == (word & 31) && (word >> 5 & 31) != r)
        return a64_access_size(word) > 4 ? 8 : 4;
    if (c->is_load || c->is_store)
        return 8;
    return word >> 31 ? 8 : 4;
}

struct attempt {
    const struct finder *f;
    const struct loop *l;
    const struct pair *p;
    struct flowset *flow;
    bool *in;               /* of each node: whether it is in the block */
    bool *outside;          /* ... and is apart, see below */
    bool loaded[SPINE];     /* of the spine: a load that is done before the block */
    bool carried[SPINE];    /* ... a load that must be a passenger */
    bool taken[SPINE];      /* ... a passenger */
    bool apart[SPINE];      /* ... that, and what it reads is no input */
    struct regset pointers; /* registers that only lead to inputs in memory */
    struct region *out;
};

static bool is_of_spine(const struct attempt *b, uint32_t node) {
    uint32_t s = b->flow->at.at[node].spine;
    return s != NO_VERTEX && s >= b->p->a && s < b->p->b;
}

/* Marks the nodes from the first to the end; false when the block can be left elsewhere, or entered. */
static bool mark(struct attempt *b) {
    VEC(uint32_t) todo = {0};
    bool ok = true;
    uint32_t end = flow_at(b->flow, b->out->end);
    vec_push(&todo, 0);
    b->in[0] = true;
    while (todo.len && ok) {
        const struct flow_node *x = &b->flow->at.at[todo.at[--todo.len]];
        ok = !x->is_end;
        for (int k = 0; ok && k < 2; k++) {
            if (x->to[k] == NO_VERTEX || x->to[k] == end)
                continue;
            ok = x->to[k] != 0;
            if (!b->in[x->to[k]])
                vec_push(&todo, x->to[k]);
            b->in[x->to[k]] = true;
        }
    }
    vec_free(&todo);
    for (uint32_t k = 0; ok && k < b->flow->entries.len; k++) {
        const struct flow_entry *e = &b->flow->entries.at[k];
        ok = !e->to || !b->in[e->to] || (e->from != NO_VERTEX && b->in[e->from]);
    }
    return ok && end != NO_VERTEX;
}

/* Registers that some path through the block reads before it writes them. */
static struct regset exposed(const struct attempt *b) {
    uint32_t n = b->flow->at.len;
    struct regset *live = xcalloc(n, sizeof *live), first;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t k = n; k-- > 0;) {
            const struct flow_node *x = &b->flow->at.at[k];
            for (int w = 0; b->in[k] && w < 2; w++) {
                uint64_t out = 0;
                for (int s = 0; s < 2; s++)
                    if (x->to[s] != NO_VERTEX && b->in[x->to[s]])
                        out |= live[x->to[s]].w[w];
                uint64_t now = (b->outside[k] ? 0 : x->use.w[w]) | (out & ~x->def.w[w]);
                changed |= now != live[k].w[w];
                live[k].w[w] = now;
            }
        }
    }
    first = live[0];
    free(live);
    return first;
}

/* Whether a register never changes between two times that the block is reached in one call. */
static bool is_invariant(const struct attempt *b, uint32_t r) {
    for (uint32_t k = 0; k < b->flow->at.len; k++)
        if (b->flow->at.at[k].comes_back && regset_has(&b->flow->at.at[k].def, r))
            return false;
    return true;
}

/* The widest use of a register in a part of the rounds: operands that were made before the block, or in it.
 */
static uint32_t width_in_rounds(const struct attempt *b, uint32_t r, bool input) {
    uint32_t widest = 0;
    for (uint32_t k = 0; k < b->l->rounds.len; k++) {
        const struct round *x = &b->l->rounds.at[k];
        uint32_t from = x->pos[b->p->a], to = x->pos[b->p->b];
        uint32_t first = input ? from : to, last = input ? to : x->end + (x->end - x->begin);
        for (uint32_t v = first; v < last && v < b->f->t->at.len; v++) {
            const struct cputrace_code *c = region_code(b->f, v);
            for (uint32_t s = 0; s < c->uses.nsrc; s++) {
                uint32_t made = b->f->t->at.at[v].src[s];
                bool ours =
                    input ? made == NO_VERTEX || made < from : made != NO_VERTEX && made >= from && made < to;
                if (c->uses.src[s] == r && ours) {
                    uint32_t w = width(c->word, c, r);
                    widest = w > widest ? w : widest;
                }
            }
        }
    }
    return widest ? widest : 8;
}

/* Whether something that is done, or may be, before spine position s writes a register; or, if reads, reads
 * it. */
static bool is_touched(const struct attempt *b, uint32_t s, uint32_t r, bool reads) {
    const struct cputrace *t = b->f->t;
    uint64_t pc = t->code.at[b->l->spine[s]].pc;
    for (uint32_t n = 0; n < b->flow->at.len; n++) {
        const struct flow_node *x = &b->flow->at.at[n];
        if (!b->in[n] || x->pc == pc)
            continue;
        uint32_t order = is_of_spine(b, n) ? x->spine : b->p->b;
        bool before = order < s || order == b->p->b;
        if (before &&
            (regset_has(&x->def, r) || (reads && regset_has(&x->use, r) && (order < s || x->pc < pc))))
            return true;
    }
    return false;
}

/* Whether a load of the spine, or one of a pair, can be done before the block. */
static bool is_early(const struct attempt *b, const struct cputrace_code *c, uint32_t s) {
    uint32_t n = b->out->inputs + c->uses.ndst;
    bool early = c->uses.ndst && c->uses.ndst <= 2 && !a64_writes_base(c->word) &&
                 a64_access_size(c->word) <= 8 && n <= b->f->l->inputs && n <= REGION_INPUTS;
    for (uint32_t d = 0; early && d < c->uses.ndst; d++)
        early = !is_touched(b, s, c->uses.dst[d], true);
    for (uint32_t k = 0; early && k < c->uses.nsrc; k++) {
        for (uint32_t d = 0; d < c->uses.ndst; d++)
            early &= c->uses.src[k] != c->uses.dst[d];
        early &= !is_touched(b, s, c->uses.src[k], false);
    }
    return early;
}

/* Loads whose values may be inputs are done before the block, or, if they cannot, carried as passengers. */
static bool set_loads(struct attempt *b) {
    struct region *o = b->out;
    const struct round *r = &b->l->rounds.at[0];
    bool unused;
    for (uint32_t s = b->p->a; s < b->p->b; s++) {
        const struct cputrace_code *c = &b->f->t->code.at[b->l->spine[s]];
        bool cut = false;
        for (uint32_t k = 0; k < b->l->rounds.len; k++) {
            r = &b->l->rounds.at[k];
            cut |= region_is_cut(b->f, r, r->pos[b->p->a], r->pos[s], &unused);
        }
        if (!cut)
            continue;
        uint32_t bytes = a64_access_size(c->word);
        bool early = is_early(b, c, s);
        if (!is_movable(c))
            return false;
        b->carried[s] = !early;
        if (!early)
            continue;
        o->load_at[o->loads] = c->pc;
        o->load[o->loads++] = c->word;
        for (uint32_t k = 0; k < c->uses.ndst; k++)
            o->input[o->inputs++] = (struct region_value){c->uses.dst[k], (uint8_t)(bytes < 4 ? 4 : bytes)};
        b->loaded[s] = true;
    }
    o->loaded = o->inputs;
    return true;
}

/* Registers that vertices of the block read and that were made before, callees' among them. */
static struct regset read_in_rounds(const struct attempt *b) {
    struct regset all = {{0, 0}};
    bool *outside = xcalloc(b->f->t->code.len + 1, sizeof *outside);
    for (uint32_t s = b->p->a; s < b->p->b; s++)
        outside[b->l->spine[s]] = b->apart[s];
    for (uint32_t k = 0; k < b->l->rounds.len; k++) {
        const struct round *r = &b->l->rounds.at[k];
        for (uint32_t v = r->pos[b->p->a]; v < r->pos[b->p->b]; v++) {
            const struct cputrace_vertex *x = &b->f->t->at.at[v];
            const struct a64_uses *u = &b->f->t->code.at[x->code].uses;
            for (uint32_t s = 0; !outside[x->code] && s < u->nsrc; s++)
                if (region_can_read(b->f, r, v, u->src[s]) &&
                    (x->src[s] == NO_VERTEX || x->src[s] < r->pos[b->p->a]))
                    regset_add(&all, u->src[s]);
        }
    }
    free(outside);
    return all;
}

/* Adds what a call reads behind its arguments, by the registers that the block begins with; false when that
 * is not known, or too much. */
static bool add_pointed(struct attempt *b, const struct callee *c, const struct places *s) {
    struct region *o = b->out;
    for (uint32_t k = 0; k < c->reads; k++) {
        struct pointed p = c->read[k];
        struct place at = s->at[p.reg];
        uint32_t n = 0;
        p.reg = at.base;
        p.offset += at.offset;
        while (n < o->pointers && !(o->pointed[n].reg == p.reg && o->pointed[n].offset == p.offset &&
                                    o->pointed[n].bytes == p.bytes))
            n++;
        if (at.base >= PLACES || p.offset < 0 || p.offset > 0xfff || o->pointers == REGION_INPUTS)
            return false;
        if (n == o->pointers)
            o->pointed[o->pointers++] = p;
    }
    return true;
}

/* Inputs in memory, and registers that are none because they only lead to these. */
static bool set_pointed(struct attempt *b) {
    if (!b->p->reads_behind)
        return true;
    bool ok = true;
    struct places *before = places_follow(b->flow, b->in);
    struct regset used = places_used(b->flow, b->in, before);
    for (uint32_t n = 0; ok && n < b->flow->at.len; n++) {
        const struct flow_node *x = &b->flow->at.at[n];
        if (!b->in[n] || !x->is_call)
            continue;
        const struct callee *c = region_callee(b->f, x->word, x->pc);
        const struct regset *values = c ? &c->values : &x->use;
        for (uint32_t r = 0; r <= 8; r++)
            if (regset_has(values, r) && before[n].at[r].base < PLACES)
                regset_add(&used, before[n].at[r].base);
        ok = !c || add_pointed(b, c, &before[n]);
    }
    for (uint32_t k = 0; k < b->out->pointers; k++)
        if (!regset_has(&used, b->out->pointed[k].reg))
            regset_add(&b->pointers, b->out->pointed[k].reg);
    free(before);
    return ok;
}

static bool set_inputs(struct attempt *b) {
    struct region *o = b->out;
    bool forgets = b->p->assumes_memory;
    for (uint32_t n = 0; n < b->flow->at.len; n++)
        if (is_of_spine(b, n))
            b->outside[n] = b->apart[b->flow->at.at[n].spine];
    struct regset all = exposed(b), read = read_in_rounds(b);
    for (int w = 0; w < 2; w++)
        all.w[w] |= read.w[w];
    for (uint32_t r = 0; r < A64_REGS; r++) {
        bool loaded = false;
        for (uint32_t k = 0; k < o->loaded; k++)
            loaded |= o->input[k].reg == r;
        if (!regset_has(&all, r) || r == A64_SP || r == A64_ZERO || loaded || regset_has(&b->pointers, r))
            continue;
        if (r == A64_NZCV || r == A64_MEMO_ORDER)
            return false;
        if (o->entry && is_invariant(b, r)) {
            forgets = true;
            continue;
        }
        uint32_t bytes = width_in_rounds(b, r, true);
        if (region_inputs(o) == b->f->l->inputs || o->inputs == REGION_INPUTS || bytes > 8)
            return false;
        o->input[o->inputs++] = (struct region_value){(uint8_t)r, (uint8_t)(bytes < 4 ? 4 : bytes)};
    }
    if (b->p->assumes_memory && !o->entry)
        return false;
    if (!forgets)
        o->entry = 0;
    o->assumes_memory = b->p->assumes_memory;
    return region_inputs(o) > 0 && region_inputs(o) <= b->f->l->inputs;
}

/* ---- passengers and outputs ---- */

struct carry {
    bool clean[SPINE]; /* of each instruction of the spine: it needs nothing that the block computes dearly */
    bool taken[SPINE];
};

static bool is_cheap(const struct cputrace_code *c) {
    return (c->class == CLASS_ALU || c->class == CLASS_SHIFT) && is_movable(c);
}

/* Whether what a store of the spine writes is read behind the block, or may be. */
static bool is_visible(const struct attempt *b, uint32_t s) {
    bool visible = false;
    for (uint32_t k = 0; b->f->t->code.at[b->l->spine[s]].is_store && k < b->l->rounds.len; k++) {
        const struct round *r = &b->l->rounds.at[k];
        uint32_t reader = b->f->t->at.at[r->pos[s]].last_reader;
        visible |= reader == NO_VERTEX || reader >= r->pos[b->p->b];
    }
    return visible;
}

/* An instruction of the spine is clean if it is cheap, or must be a passenger, and needs nothing that others
 * compute; what is not of the spine has no place in its order, so that registers it writes are never clean.
 */
static void find_clean(const struct attempt *b, struct carry *c) {
    const struct cputrace *t = b->f->t;
    struct regset always = {{0, 0}};
    for (uint32_t n = 0; n < b->flow->at.len; n++)
        for (int w = 0; b->in[n] && !is_of_spine(b, n) && w < 2; w++)
            always.w[w] |= b->flow->at.at[n].def.w[w];
    struct regset tainted = always;
    for (uint32_t s = b->p->a; s < b->p->b; s++) {
        const struct cputrace_code *x = &t->code.at[b->l->spine[s]];
        const struct regset *def = &b->flow->at.at[flow_at(b->flow, x->pc)].def;
        bool clean = is_cheap(x) || is_visible(b, s) || b->carried[s];
        for (uint32_t k = 0; k < x->uses.nsrc; k++)
            clean &= !regset_has(&tainted, x->uses.src[k]);
        clean |= b->loaded[s];
        c->clean[s] = clean;
        for (int w = 0; w < 2; w++)
            tainted.w[w] =
                clean ? (tainted.w[w] & ~def->w[w]) | (always.w[w] & def->w[w]) : tainted.w[w] | def->w[w];
    }
}

/* Takes the chain of instructions that makes register r before spine position s; false when it is too long or
 * not clean. */
static bool take_chain(const struct attempt *b, struct carry *c, uint32_t r, uint32_t s, uint32_t *n) {
    const struct cputrace *t = b->f->t;
    while (s-- > b->p->a) {
        const struct cputrace_code *x = &t->code.at[b->l->spine[s]];
        bool makes = regset_has(&b->flow->at.at[flow_at(b->flow, x->pc)].def, r);
        if (!makes)
            continue;
        if (c->taken[s])
            return true;
        if (b->loaded[s])
            return true;
        if (!c->clean[s] || ++*n > CHAIN)
            return false;
        c->taken[s] = true;
        for (uint32_t k = 0; k < x->uses.nsrc; k++)
            if (!take_chain(b, c, x->uses.src[k], s, n))
                return false;
        return true;
    }
    return true; /* it was made before the block */
}

/* Whether something that is not of the spine writes a register. */
static bool is_made_elsewhere(const struct attempt *b, uint32_t r) {
    for (uint32_t n = 0; n < b->flow->at.len; n++)
        if (b->in[n] && regset_has(&b->flow->at.at[n].def, r) && !is_of_spine(b, n))
            return true;
    return false;
}

/* Whether the last that the block does with a register is to load it, which is done before. */
static bool is_loaded_last(const struct attempt *b, uint32_t r) {
    bool loaded = false;
    for (uint32_t s = b->p->a; s < b->p->b; s++)
        if (regset_has(&b->flow->at.at[flow_at(b->flow, b->f->t->code.at[b->l->spine[s]].pc)].def, r))
            loaded = b->loaded[s];
    return loaded && !is_made_elsewhere(b, r);
}

/* Whether the block computes something of a result of the spine, be it through passengers. */
static bool is_needed(const struct attempt *b, uint32_t s) {
    const struct a64_uses *u = &b->f->t->code.at[b->l->spine[s]].uses;
    for (uint32_t k = 0; k < u->ndst; k++) {
        bool gone = false;
        for (uint32_t n = 0; n < b->flow->at.len; n++)
            if (b->in[n] && !is_of_spine(b, n) && regset_has(&b->flow->at.at[n].use, u->dst[k]))
                return true;
        for (uint32_t o = s + 1; !gone && o < b->p->b; o++) {
            const struct flow_node *x =
                &b->flow->at.at[flow_at(b->flow, b->f->t->code.at[b->l->spine[o]].pc)];
            if (!b->apart[o] && regset_has(&x->use, u->dst[k]))
                return true;
            gone = regset_has(&x->def, u->dst[k]);
        }
    }
    return false;
}

/* Finds out what reads nothing for the block: loads that are done before it, and passengers that it does not
 * need. False when it needs a load that must be a passenger. */
static bool set_apart(struct attempt *b) {
    for (uint32_t s = b->p->b; s-- > b->p->a;) {
        bool needed = is_needed(b, s);
        if (needed && b->carried[s])
            return false;
        b->apart[s] = b->loaded[s] || (b->taken[s] && !needed);
    }
    return true;
}

static bool set_outputs(struct attempt *b) {
    struct region *o = b->out;
    struct carry c = {{false}, {false}};
    struct regset live = b->flow->at.at[flow_at(b->flow, o->end)].live, def = {{0, 0}};
    uint32_t bytes = 0;
    for (uint32_t n = 0; n < b->flow->at.len; n++)
        for (int w = 0; b->in[n] && w < 2; w++)
            def.w[w] |= b->flow->at.at[n].def.w[w];
    find_clean(b, &c);
    for (uint32_t s = b->p->a; s < b->p->b; s++) {
        const struct cputrace_code *x = &b->f->t->code.at[b->l->spine[s]];
        uint32_t n = 0;
        if (!is_visible(b, s))
            continue;
        if (!c.clean[s] || !is_movable(x))
            return false;
        c.taken[s] = true;
        for (uint32_t k = 0; k < x->uses.nsrc; k++)
            if (!take_chain(b, &c, x->uses.src[k], s, &n))
                return false;
    }
    for (uint32_t r = 0; r < A64_REGS; r++) {
        if (!regset_has(&live, r) || !regset_has(&def, r) || r == A64_SP || r == A64_MEMO_ORDER ||
            is_loaded_last(b, r))
            continue;
        struct carry with = c;
        uint32_t n = 0;
        if (!is_made_elsewhere(b, r) && take_chain(b, &with, r, b->p->b, &n)) {
            c = with;
            continue;
        }
        uint32_t w = width_in_rounds(b, r, false);
        w = w < 4 ? 4 : w;
        bytes += w;
        if (r == A64_NZCV || o->outputs == REGION_OUTPUTS || bytes > 8)
            return false;
        o->output[o->outputs++] = (struct region_value){(uint8_t)r, (uint8_t)w};
    }
    memcpy(b->taken, c.taken, sizeof b->taken);
    for (uint32_t s = b->p->a; s < b->p->b; s++)
        if (c.taken[s]) {
            if (o->passengers == REGION_PASSENGERS)
                return false;
            o->passenger[o->passengers++] = b->f->t->code.at[b->l->spine[s]].word;
        }
    return o->outputs > 0 && set_apart(b);
}

/* Integer registers that nobody needs behind the block: two to pack two outputs, one to keep one output until
 * passengers are done that use its register. */
static bool set_scratch(struct attempt *b) {
    struct region *o = b->out;
    struct regset busy = b->flow->at.at[flow_at(b->flow, o->end)].live;
    struct regset carried = {{0, 0}};
    uint32_t found = 0;
    for (uint32_t k = 0; k < o->passengers; k++) {
        struct a64_uses u;
        a64_uses(o->passenger[k], &u);
        for (uint32_t s = 0; s < u.nsrc; s++)
            regset_add(&carried, u.src[s]);
        for (uint32_t s = 0; s < u.ndst; s++)
            regset_add(&carried, u.dst[s]);
    }
    for (int w = 0; w < 2; w++)
        busy.w[w] |= carried.w[w];
    for (uint32_t k = 0; k < o->outputs; k++)
        regset_add(&busy, o->output[k].reg);
    for (uint32_t r = 0; r <= 30 && found < 2; r++)
        if (!regset_has(&busy, r) && r != 18 && r != 29)
            *(found++ ? &o->scratch2 : &o->scratch) = (uint8_t)r;
    o->pointer_scratch = A64_SP;
    for (uint32_t r = 0; r <= 17; r++) {
        bool base = false;
        for (uint32_t k = 0; k < o->pointers; k++)
            base |= o->pointed[k].reg == r;
        for (uint32_t k = 0; k < o->inputs; k++)
            base |= o->input[k].reg == r;
        if (!base && !regset_has(&busy, r) && !regset_has(&b->flow->at.at[0].live, r))
            o->pointer_scratch = (uint8_t)r;
    }
    if (o->pointers && o->pointer_scratch == A64_SP)
        return false;
    o->direct = o->outputs == 1 && !regset_has(&carried, o->output[0].reg);
    return o->direct || found >= o->outputs;
}

/* Whether a pair is a block of the program; what it is. */
bool region_prove(const struct finder *f, const struct loop *l, const struct pair *p, struct flowset *flow,
                  struct region *out) {
    const struct cputrace_code *first = &f->t->code.at[l->spine[p->a]],
                               *last = &f->t->code.at[l->spine[p->b]];
    const struct round *r = &l->rounds.at[l->rounds.len - 1];
    *out = (struct region){.begin = first->pc,
                           .end = last->pc,
                           .entry = r->function == NO_VERTEX ? 0 : region_code(f, r->function)->pc,
                           .times = l->count,
                           .weight = (uint32_t)(p->weight / l->rounds.len)};
    if (!is_edge(first) || !is_edge(last) || flow->incomplete || regset_has(&flow->at.at[0].live, A64_NZCV))
        return false;
    if (out->entry == out->begin || !l->repeats || !flow->at.at[0].comes_back ||
        (out->entry && !is_movable(region_code(f, r->function))))
        out->entry = 0;
    bool *in = xcalloc(flow->at.len, sizeof *in), *outside = xcalloc(flow->at.len, sizeof *outside);
    struct attempt b = {.f = f, .l = l, .p = p, .flow = flow, .in = in, .outside = outside, .out = out};
    bool ok =
        mark(&b) && set_loads(&b) && set_outputs(&b) && set_pointed(&b) && set_inputs(&b) && set_scratch(&b);
    free(in);
    free(outside);
    return ok && out->weight >= f->l->weight && out->weight >= f->l->ratio * region_inputs(out);
}
