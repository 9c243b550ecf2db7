/* Registers of the affine stream.
 *
 * The affine warp has one register where the threads have one each. Both arms of a branch run one after the
 * other, on the same registers: what one arm writes must not be what the other still reads. An allocator that
 * follows the paths of single threads would let them share. So every web, the versions of a register that
 * merges connect, gets a register of its own; what lives in one block only shares registers with the like of
 * other blocks, because a block runs to its end before another path goes on. */
#include "mech/dac/registers.h"

#include <string.h>

#include "flow/reach.h"

struct web {
    uint32_t group, words; /* virtual register, or, of predicates, NONE and 1 */
    bool global;
    uint32_t block, first, last; /* of a local one: where it is used */
    uint32_t at;                 /* machine register */
};

struct webs {
    struct arena *a;
    struct fn *f;
    struct reach r;
    uint32_t *parent;         /* by version */
    bool *needed;             /* by version */
    uint32_t *group_of;       /* by value: its virtual register; of predicates NONE */
    struct web *web;          /* by representative version */
    VEC(uint32_t) work;
};

static uint32_t find(struct webs *w, uint32_t v) {
    while (w->parent[v] != v)
        v = w->parent[v] = w->parent[w->parent[v]];
    return v;
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
                uint32_t v = (reads) ? reach_read(&(w)->r, b, k, value) : reach_written(&(w)->r, b, k, value); \
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

/* Versions that somebody reads, and merges and guarded writes between them: those are one web. */
static void connect(struct webs *w) {
    for (uint32_t b = 0; b < w->f->blocks.len; b++)
        for (uint32_t k = 0; k < w->f->blocks.at[b].insts.len; k++)
            EACH_VERSION(w, b, k, true, value, v, (void)value; need(w, v););
    while (w->work.len) {
        uint32_t v = w->work.at[--w->work.len];
        const struct version *x = &w->r.at[v];
        for (uint32_t k = 0; x->kind == VERSION_MERGE && k < w->f->blocks.at[x->block].pred.len; k++) {
            need(w, w->r.inputs[x->input + k]);
            join(w, v, w->r.inputs[x->input + k]);
        }
        if (x->kind == VERSION_WRITE && x->before != NONE) {
            need(w, x->before);
            join(w, v, x->before);
        }
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

static void use(struct webs *w, uint32_t v, uint32_t value, uint32_t b, uint32_t k) {
    struct web *x = &w->web[find(w, v)];
    if (!x->words) {
        *x = (struct web){.group = w->group_of[value],
                          .words = w->group_of[value] == NONE ? 1 : w->f->vregs.at[w->group_of[value]],
                          .block = b,
                          .first = k,
                          .last = k};
    }
    x->global |= b != x->block || w->r.at[v].kind != VERSION_WRITE;
    x->first = k < x->first ? k : x->first;
    x->last = k > x->last ? k : x->last;
}

static void find_webs(struct webs *w) {
    for (uint32_t b = 0; b < w->f->blocks.len; b++)
        for (uint32_t k = 0; k < w->f->blocks.at[b].insts.len; k++)
            for (uint32_t reads = 0; reads < 2; reads++)
                EACH_VERSION(w, b, k, reads, value, v, use(w, v, value, b, k););
    for (uint32_t v = 0; v < w->r.n; v++)
        if (w->needed[v] && w->r.at[v].kind != VERSION_WRITE)
            w->web[find(w, v)].global = true;
}

static uint32_t align_of(uint32_t words) {
    return words < 4 ? words : 4;
}

/* Gives registers from first on to the local webs of a block; returns the end of what they take. */
static uint32_t place_local(struct webs *w, uint32_t b, bool preds, uint32_t first) {
    uint32_t end = first, free_at[MAX_GPR + 1] = {0}; /* by register: position from which it is free, plus 1 */
    for (uint32_t k = 0; k < w->f->blocks.at[b].insts.len; k++)
        for (uint32_t v = 0; v < w->r.n; v++) {
            struct web *x = &w->web[v];
            if (w->parent[v] != v || !x->words || x->global || x->block != b || x->first != k ||
                (x->group == NONE) != preds)
                continue;
            uint32_t at = (first + align_of(x->words) - 1) / align_of(x->words) * align_of(x->words);
            for (;; at += align_of(x->words)) {
                bool fits = true;
                for (uint32_t n = 0; n < x->words && at + n < MAX_GPR; n++)
                    fits &= free_at[at + n] <= k + 1;
                if (fits || at >= MAX_GPR)
                    break;
            }
            x->at = at;
            for (uint32_t n = 0; n < x->words && at + n < MAX_GPR; n++)
                free_at[at + n] = x->last + 2;
            end = at + x->words > end ? at + x->words : end;
        }
    return end;
}

/* All webs of one kind; how many registers they take. */
static uint32_t place(struct webs *w, bool preds) {
    uint32_t next = 0;
    for (uint32_t v = 0; v < w->r.n; v++) {
        struct web *x = &w->web[v];
        if (w->parent[v] != v || !x->words || !x->global || (x->group == NONE) != preds)
            continue;
        next = (next + align_of(x->words) - 1) / align_of(x->words) * align_of(x->words);
        x->at = next;
        next += x->words;
    }
    uint32_t most = next;
    for (uint32_t b = 0; b < w->f->blocks.len; b++) {
        uint32_t end = place_local(w, b, preds, next);
        most = end > most ? end : most;
    }
    return most;
}

static struct web *web_of(struct webs *w, uint32_t b, uint32_t k, bool reads, uint32_t value) {
    uint32_t v = reads ? reach_read(&w->r, b, k, value) : reach_written(&w->r, b, k, value);
    return v == NONE ? NULL : &w->web[find(w, v)];
}

static void set_opd(struct webs *w, uint32_t b, uint32_t k, bool reads, struct opd *o) {
    if (o->kind != O_REG || o->v == VREG_RZ)
        return;
    const struct web *x = web_of(w, b, k, reads, value_of_opd(&w->r.v, o));
    o->v = x ? x->at + o->word : 0;
    o->word = 0;
}

static void set_pred(struct webs *w, uint32_t b, uint32_t k, bool reads, struct popd *p) {
    if (p->id == VPRED_PT)
        return;
    const struct web *x = web_of(w, b, k, reads, value_of_pred(&w->r.v, p->id));
    p->id = x ? x->at : 0;
}

static void rewrite(struct webs *w) {
    for (uint32_t b = 0; b < w->f->blocks.len; b++)
        for (uint32_t k = 0; k < w->f->blocks.at[b].insts.len; k++) {
            struct inst *i = &w->f->blocks.at[b].insts.at[k], was = *i;
            for (uint32_t s = 0; s < was.nsrc; s++)
                set_opd(w, b, k, true, &was.src[s]);
            set_opd(w, b, k, false, &was.dst);
            set_pred(w, b, k, true, &was.guard);
            for (uint32_t n = 0; n < 2; n++) {
                set_pred(w, b, k, true, &was.psrc[n]);
                set_pred(w, b, k, false, &was.pdst[n]);
            }
            *i = was;
        }
}

bool dac_registers(struct fn *f, uint32_t limit) {
    struct arena a = {0};
    cfg_joins(f);
    struct webs w = {.a = &a, .f = f, .r = reach_of(&a, f)};
    w.parent = arena_array(&a, uint32_t, w.r.n + 1);
    w.needed = arena_array(&a, bool, w.r.n + 1);
    w.web = arena_array(&a, struct web, w.r.n + 1);
    w.group_of = arena_array(&a, uint32_t, w.r.v.n + 1);
    memset(w.group_of, 0xff, (w.r.v.n + 1) * sizeof *w.group_of);
    for (uint32_t g = 0; g < f->vregs.len; g++)
        for (uint32_t n = 0; n < f->vregs.at[g]; n++)
            w.group_of[w.r.v.base[g] + n] = g;
    for (uint32_t v = 0; v < w.r.n; v++)
        w.parent[v] = v;
    connect(&w);
    connect_words(&w);
    find_webs(&w);
    bool fits = place(&w, false) <= limit && place(&w, true) <= NUM_PRED;
    if (fits) {
        rewrite(&w);
        f->allocated = true;
    }
    vec_free(&w.work);
    arena_free(&a);
    return fits;
}
