/* Splits a kernel into two streams (section 4.7), before registers are allocated.
 *
 * Addresses of memory accesses that the affine warp can compute (candidates.c), and comparisons, go to the
 * affine stream, with all they need; the other stream takes them from queues, and what it no longer needs
 * goes as dead code (streams.c). */
#include <stdio.h>
#include <string.h>

#include "mech/dac/splitter.h"

/* ---- data that may be fetched ahead ---- */

/* Walks from behind instruction k of block b to all that may follow before a barrier of both streams. */
static void reach_from(const struct splitter *s, uint32_t b, uint32_t k, bool *seen_block, bool *reached) {
    const struct fn *f = s->f;
    for (; k < f->blocks.at[b].insts.len; k++) {
        if (s->barrier[no_of(s, b, k)])
            return;
        reached[no_of(s, b, k)] = true;
    }
    for (uint32_t x = 0; x < f->blocks.at[b].succ.len; x++) {
        uint32_t to = f->blocks.at[b].succ.at[x];
        if (!seen_block[to]) {
            seen_block[to] = true;
            reach_from(s, to, 0, seen_block, reached);
        }
    }
}

static bool add_base(uint32_t *list, uint8_t *n, const struct access_base *b) {
    if (b->kind != BASE_PARAM && b->kind != BASE_SYMBOL)
        return false;
    uint32_t v = b->v | (b->kind == BASE_SYMBOL ? DAC_SYMBOL : 0);
    for (uint32_t k = 0; k < *n; k++)
        if (list[k] == v)
            return true;
    if (*n == DAC_BASES)
        return false;
    list[(*n)++] = v;
    return true;
}

static bool add_bases(const struct splitter *s, uint32_t *list, uint8_t *n, uint64_t bases) {
    bool ok = !(bases & BASE_UNKNOWN);
    for (uint64_t left = bases; ok && left; left &= left - 1)
        ok = add_base(list, n, &s->accesses->bases[__builtin_ctzll(left)]);
    return ok;
}

/* Something that loads must not be fetched ahead of, and all that may follow it in its barrier interval,
 * around loops, too. */
struct writer {
    const struct access *x; /* NULL: a fence, or an atomic, ordered with all */
    const bool *reached;
};
struct writers {
    struct writer *at;
    uint32_t n;
};

static struct writers find_writers(struct splitter *s) {
    struct writers all = {.at = arena_array(s->a, struct writer, s->n + 1)};
    EACH_INST(s, b, k, i) {
        const struct access *x = access_at(s->accesses, 0, b, k);
        bool fence = i->op == OP_MEMBAR || i->m.vol ||
                     ((op_info[i->op].flags & OPF_ATOMIC) && i->m.space != MS_SHARED);
        if (!fence && !(x && x->writes && x->spaces & ~IN_SHARED))
            continue;
        bool *seen = arena_array(s->a, bool, s->f->blocks.len + 1);
        bool *reached = arena_array(s->a, bool, s->n + 1);
        reach_from(s, b, k + 1, seen, reached);
        all.at[all.n++] = (struct writer){fence ? NULL : x, reached};
    }
    return all;
}

/* Whether a load may be fetched ahead. Bases that a launch has to compare are added to f. */
static bool may_fetch(struct splitter *s, const struct writers *all, uint32_t b, uint32_t k,
                      struct dac_fact *f) {
    const struct access *x = access_at(s->accesses, 0, b, k);
    if (!x || x->spaces != IN_GLOBAL)
        return false;
    for (uint32_t n = 0; n < all->n; n++) {
        const struct writer *w = &all->at[n];
        enum access_alias alias = w->x ? access_alias(s->accesses, x, w->x) : ALIAS_MAY;
        if (alias == ALIAS_NO || !w->reached[no_of(s, b, k)] ||
            !dac_rule(s->params, w->x ? DAC_RULE_ALIAS : DAC_RULE_FENCES))
            continue;
        if (alias != ALIAS_ARGUMENTS || !add_bases(s, f->load, &f->nload, x->bases) ||
            !add_bases(s, f->store, &f->nstore, w->x->bases))
            return false;
    }
    return true;
}

/* ---- what the other stream still needs ---- */

struct needs {
    struct splitter *s;
    bool *inst; /* by instruction */
    VEC(uint32_t) work;
};

static void need_version(struct needs *m, uint32_t v) {
    if (v != NONE)
        vec_push(&m->work, v);
}

/* The copy of instruction k in the other stream reads these. */
static void need_reads(struct needs *m, uint32_t b, uint32_t k) {
    struct splitter *s = m->s;
    uint32_t n = no_of(s, b, k);
    const struct inst *i = inst_at(s, b, k);
    if (s->pred[n])
        return;
    struct span span[MAX_SPANS];
    uint32_t spans = inst_reads(&s->r->v, i, span);
    for (uint32_t j = 0; j < spans; j++)
        for (uint32_t w = 0; w < span[j].n; w++) {
            uint32_t value = span[j].first + w;
            bool guard = i->guard.id != VPRED_PT && value == value_of_pred(&s->r->v, i->guard.id);
            if (s->address[n] && !guard && dac_copy_reads(s, i, value)) {
                bool also = false; /* data that is in the address's register, too */
                for (uint32_t x = 1; x < i->nsrc; x++)
                    also |= i->src[x].kind == O_REG && i->src[x].v != VREG_RZ &&
                            value - value_of_opd(&s->r->v, &i->src[x]) < inst_src_words(i, x);
                if (!also)
                    continue;
            }
            need_version(m, reach_read(s->r, b, k, value));
        }
}

/* Marks what the other stream is made of. */
static void find_needs(struct needs *m) {
    struct splitter *s = m->s;
    bool *seen = arena_array(s->a, bool, s->r->n + 1);
    EACH_INST(s, b, k, i) {
        m->inst[no_of(s, b, k)] = false;
        if (!inst_is_pure(i)) {
            m->inst[no_of(s, b, k)] = true;
            need_reads(m, b, k);
        }
    }
    while (m->work.len) {
        uint32_t v = m->work.at[--m->work.len];
        const struct version *x = &s->r->at[v];
        if (seen[v])
            continue;
        seen[v] = true;
        EACH_INPUT(s, v, in, need_version(m, in););
        if (x->kind != VERSION_WRITE)
            continue;
        need_version(m, x->before);
        if (!m->inst[no_of(s, x->block, x->index)]) {
            m->inst[no_of(s, x->block, x->index)] = true;
            need_reads(m, x->block, x->index);
        }
    }
}

/* ---- choosing ---- */

/* The branches behind which a block stands, directly or not, and that the affine warp has to ask for: adds
 * them to those that are asked for, or finds whether all of them are. */
static bool asked_before(const struct splitter *s, uint32_t block, bool *asked, bool add) {
    struct arena temp = {0};
    const struct control *c = &s->c->control;
    bool *seen = arena_array(&temp, bool, s->f->blocks.len + 1), all = true;
    uint32_t *work = arena_array(&temp, uint32_t, s->f->blocks.len + 1), len = 0;
    work[len++] = block;
    seen[block] = true;
    while (len) {
        uint32_t b = work[--len];
        for (uint32_t k = c->dep_at[b]; k < c->dep_at[b + 1]; k++) {
            uint32_t from = c->deps[k], n = no_of(s, from, s->f->blocks.at[from].insts.len - 1);
            asked[n] |= add && s->asks[n];
            all &= !s->asks[n] || asked[n];
            if (!seen[from])
                work[len++] = from;
            seen[from] = true;
        }
    }
    arena_free(&temp);
    return all;
}

/* The affine warp asks the warps at a branch where a load stands behind it, which it might fetch ahead. For
 * stores alone it would wait until the warps have computed what they store, while blocks that have entered
 * wait for it. */
static void choose_accesses(struct splitter *s) {
    bool *asked = arena_array(s->a, bool, s->n + 1);
    EACH_INST(s, b, k, i)
    if (s->good[no_of(s, b, k)] && i->op == OP_LD && is_access(i) && i->m.space == MS_GLOBAL)
        asked_before(s, b, asked, true);
    EACH_INST(s, b, k, i) {
        uint32_t n = no_of(s, b, k);
        bool here = s->params->shared || i->m.space != MS_SHARED;
        s->address[n] = is_access(i) && here && s->good[n] && asked_before(s, b, asked, false);
        s->barrier[n] = i->op == OP_BAR && s->good[n];
        s->pred[n] = s->affine[n] = false;
    }
}

/* A comparison whose result the other stream takes from a queue. */
static bool can_dequeue(const struct inst *i) {
    return is_compare(i) && !is_guarded(i) && i->pdst[0].id != VPRED_PT && i->pdst[1].id == VPRED_PT;
}

/* Blocks whose comparisons may go to the affine warp: those for which it need not ask the warps, or has to
 * because of an access. Comparisons alone are not worth the wait. */
static const bool *find_worthy(const struct splitter *s) {
    bool *asked = arena_array(s->a, bool, s->n + 1), *worthy = arena_array(s->a, bool, s->f->blocks.len + 1);
    EACH_INST(s, b, k, i)
    if (s->address[no_of(s, b, k)])
        asked_before(s, b, asked, true);
    for (uint32_t b = 0; b < s->f->blocks.len; b++)
        worthy[b] = asked_before(s, b, asked, false);
    return worthy;
}

/* Comparisons that the other stream would do itself. A predicate that it takes from a queue makes others
 * unnecessary, so this goes on until nothing changes. */
static void choose_predicates(struct splitter *s) {
    struct needs m = {.s = s, .inst = arena_array(s->a, bool, s->n + 1)};
    const bool *worthy = find_worthy(s);
    for (bool again = true; again;) {
        again = false;
        find_needs(&m);
        EACH_INST(s, b, k, i) {
            uint32_t n = no_of(s, b, k);
            bool want = s->good[n] && can_dequeue(i) && m.inst[n] && worthy[b];
            again |= want != s->pred[n] && want;
            s->pred[n] |= want;
        }
    }
    find_needs(&m);
    EACH_INST(s, b, k, i)
    s->pred[no_of(s, b, k)] &= m.inst[no_of(s, b, k)];
    vec_free(&m.work);
}

static void choose_work(struct splitter *s) {
    choose_accesses(s);
    choose_predicates(s);
}

/* ---- the whole ---- */

/* The split is good for something: the warps are rid of an instruction, or data are fetched ahead for them.
 */
static bool saves_something(struct splitter *s) {
    struct needs m = {.s = s, .inst = arena_array(s->a, bool, s->n + 1)};
    bool any = false;
    find_needs(&m);
    EACH_INST(s, b, k, i) {
        uint32_t n = no_of(s, b, k);
        any |= s->data[n] || s->pred[n] || !m.inst[n];
    }
    vec_free(&m.work);
    return any;
}

static void note_reasons(struct splitter *s) {
    EACH_INST(s, b, k, i) {
        uint32_t n = no_of(s, b, k);
        if ((is_access(i) || can_dequeue(i)) && !s->address[n] && !s->pred[n] && s->why[n])
            note_add(s->p, i, "stays: %s", s->why[n]);
        else if (s->address[n] && i->op == OP_LD && !s->data[n])
            note_add(s->p, i, "not fetched ahead");
    }
}

static void allocate(struct splitter *s) {
    s->good = arena_array(s->a, bool, s->n + 1);
    s->vgood = arena_array(s->a, bool, s->r->n + 1);
    s->bgood = arena_array(s->a, bool, s->f->blocks.len + 1);
    s->choices = arena_array(s->a, uint64_t, s->r->n + 1);
    s->merge_choices = arena_array(s->a, uint64_t, s->r->n + 1);
    s->differs = arena_array(s->a, bool, s->r->n + 1);
    s->plan = arena_array(s->a, const struct join_plan *, s->r->n + 1);
    s->traits = arena_array(s->a, uint8_t, s->r->n + 1);
    s->choice_no = arena_array(s->a, int32_t, s->n + 1);
    s->why = arena_array(s->a, const char *, s->n + 1);
    s->address = arena_array(s->a, bool, s->n + 1);
    s->data = arena_array(s->a, bool, s->n + 1);
    s->pred = arena_array(s->a, bool, s->n + 1);
    s->affine = arena_array(s->a, bool, s->n + 1);
    s->barrier = arena_array(s->a, bool, s->n + 1);
    s->asks = arena_array(s->a, bool, s->n + 1);
    s->branch = arena_array(s->a, struct dac_fact, s->f->blocks.len + 1);
    s->block_why = arena_array(s->a, const char *, s->f->blocks.len + 1);
    memset(s->vgood, 1, s->r->n * sizeof *s->vgood);
    memset(s->bgood, 1, s->f->blocks.len * sizeof *s->bgood);
}

/* Finds where threads meet that have parted, and what they bring there. */
static void find_joins(struct splitter *s) {
    const struct control *c = &s->c->control;
    bool *parts = arena_array(s->a, bool, c->nsplits + 1);
    for (uint32_t k = 0; k < c->nsplits; k++)
        parts[k] = class_of(s->c, s->r->n + s->c->npairs + k).deps;
    s->joins = (struct joins){.f = s->f, .c = c, .r = s->r, .dom = dom_of(s->a, s->f), .parts = parts};
    uint32_t *order, n = cfg_rpo(s->a, s->f, &order);
    s->rank = arena_array(s->a, uint32_t, s->f->blocks.len + 1);
    for (uint32_t k = 0; k < n; k++)
        s->rank[order[k]] = k;
    for (uint32_t v = 0; v < s->r->n && dac_rule(s->params, DAC_RULE_MERGE); v++) {
        bool merge = s->r->at[v].kind == VERSION_MERGE;
        s->differs[v] = merge && join_differs(&s->joins, v);
        bool word = s->r->at[v].value < s->r->v.nwords; /* no predicate */
        s->plan[v] = s->differs[v] && word && s->ways ? join_plan(s->a, &s->joins, v) : NULL;
    }
}

/* Finds out what goes where; NULL, or why the kernel stays whole. */
static const char *decide_split(struct splitter *s) {
    const char *why = dac_obstacle(s);
    if (why)
        return why;
    EACH_INST(s, b, k, i)
    s->good[no_of(s, b, k)] = dac_knows(s, b, k);
    dac_limit_paths(s);
    do {
        do
            dac_settle(s);
        while (dac_settle_choices(s));
        choose_work(s);
        dac_find_slice(s);
    } while (dac_limit_conditions(s));
    bool any = false;
    EACH_INST(s, b, k, i)
    any |= s->address[no_of(s, b, k)];
    return any ? NULL : "no address is affine";
}

uint32_t dac_affine(const struct classes *c, uint32_t b, uint32_t k) {
    const struct inst *i = &c->f->blocks.at[b].insts.at[k];
    uint32_t is = 0;
    if (!(op_info[i->op].flags & (OPF_LOAD | OPF_CROSS)) && class_affine(class_of_reads(c, b, k), ALLOWED))
        is |= DAC_AFFINE_OPERANDS;
    if (is_access(i))
        is |= DAC_ADDRESS | (class_affine(class_of_source(c, b, k, 0), ALLOWED) ? DAC_AFFINE_ADDRESS : 0);
    if (is_compare(i))
        is |= DAC_PREDICATE | (class_affine(class_of_source(c, b, k, 0), ALLOWED) &&
                                       class_affine(class_of_source(c, b, k, 1), ALLOWED)
                                   ? DAC_AFFINE_PREDICATE
                                   : 0);
    return is;
}

/* Instructions that compute on scalars and indices of threads (figure 6). */
static void count_affine(struct splitter *s) {
    struct dac_static *n = fact_make(s->p, dac_static_owner(), NULL, sizeof *n);
    EACH_INST(s, b, k, i) {
        n->insts++;
        n->affine += (dac_affine(s->c, b, k) & DAC_AFFINE_OPERANDS) != 0;
    }
}

/* Decides, and makes the affine stream; NULL, or why the kernel stays whole. */
static const char *try_split(struct splitter *s, struct dac_fact *facts) {
    allocate(s);
    find_joins(s);
    const char *why = decide_split(s);
    if (why)
        return why;
    const struct writers writers = find_writers(s);
    EACH_INST(s, b, k, i) {
        uint32_t n = no_of(s, b, k);
        facts[n] = (struct dac_fact){0};
        if (s->address[n] || s->pred[n] || s->barrier[n])
            facts[n].number = ++s->count;
        s->data[n] =
            s->address[n] && i->op == OP_LD && s->params->prefetch && may_fetch(s, &writers, b, k, &facts[n]);
        facts[n].data = s->data[n];
    }
    if (!saves_something(s))
        return "nothing would be saved: no instruction of the warps, and no wait for data";
    s->built = true;
    return dac_build_affine(s, facts);
}

static bool split_kernel(const struct pass_run *run) {
    struct arena a = {0};
    struct splitter s = {.run = run, .p = run->p, .f = run->p->fns.at[0], .a = &a, .params = run->params};
    cfg_joins(s.f);
    s.accesses = accesses_of(&a, s.p);
    s.c = classes_of(&a, s.f, &(struct class_options){.loads = LOADS_VARY, .accesses = s.accesses});
    s.r = &s.c->reach;
    for (uint32_t b = 0; b < s.f->blocks.len; b++)
        s.n += s.f->blocks.at[b].insts.len;
    count_affine(&s);
    struct dac_fact *facts = arena_array(&a, struct dac_fact, s.n + 1);
    s.ways = true;
    const char *why = try_split(&s, facts);
    if (why && s.built) { /* its branches have become others, or predicates are kept for too long */
        s.ways = false;
        why = try_split(&s, facts);
    }
    if (!why) {
        note_reasons(&s);
        dac_rewrite(&s, facts);
    } else if (s.f->blocks.at[0].insts.len) {
        note_add(s.p, &s.f->blocks.at[0].insts.at[0], "not split: %s", why);
        s.p->remark = arena_printf(&s.p->arena, "not split: %s", why);
    }
    arena_free(&a);
    return !why;
}

const struct mech_pass dac_passes[] = {
    {"dac", BEFORE_REGISTERS, split_kernel}, {"dac-takes", AFTER_REGISTERS, dac_fold_takes}, {NULL, 0, NULL}};
