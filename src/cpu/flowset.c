#include "cpu/flowset.h"

#include <string.h>

enum { MOST = 8192 };

bool flow_target(uint32_t word, uint64_t pc, uint64_t *to) {
    int64_t by;
    if ((word & 0x7c000000) == 0x14000000) /* B, BL */
        by = (int64_t)(int32_t)(word << 6) >> 6;
    else if ((word & 0xff000010) == 0x54000000 || (word & 0x7e000000) == 0x34000000) /* B.cond, CBZ */
        by = (int64_t)(int32_t)(word << 8) >> 13;
    else if ((word & 0x7e000000) == 0x36000000) /* TBZ */
        by = (int64_t)(int32_t)(word << 13) >> 18;
    else
        return false;
    *to = pc + 4 * (uint64_t)by;
    return true;
}

static bool is_always_taken(uint32_t word) {
    return (word & 0xfc000000) == 0x14000000;
}

static bool is_call(uint32_t word) {
    return (word & 0xfc000000) == 0x94000000 || (word & 0xfffffc1f) == 0xd63f0000;
}

static bool is_return(uint32_t word) {
    return (word & 0xfffffc1f) == 0xd65f0000;
}

uint32_t flow_at(const struct flowset *f, uint64_t pc) {
    uintptr_t n = (uintptr_t)map_get_u64(&f->by_pc, pc);
    return n ? (uint32_t)n - 1 : NO_VERTEX;
}

/* The node of an address, made when there is none. */
static uint32_t node(struct flowset *f, const struct cputrace *t, uint64_t pc) {
    uint32_t n = flow_at(f, pc), word;
    struct flow_node x = {.pc = pc, .spine = NO_VERTEX, .to = {NO_VERTEX, NO_VERTEX}};
    if (n != NO_VERTEX)
        return n;
    if (f->at.len == MOST || !space_read(t->space, pc, &word, 4) || a64_find(word) == A64_OPS) {
        f->incomplete = true;
        return NO_VERTEX;
    }
    x.word = word;
    a64_uses(word, &x.uses);
    vec_push(&f->at, x);
    map_set_u64(&f->by_pc, pc, (void *)(uintptr_t)f->at.len);
    return f->at.len - 1;
}

static void follow(struct flowset *f, const struct cputrace *t, uint32_t n) {
    uint64_t pc = f->at.at[n].pc, to;
    uint32_t word = f->at.at[n].word;
    const struct a64_info *info = a64_info(a64_find(word));
    f->at.at[n].is_call = is_call(word);
    bool direct = !is_call(word) && flow_target(word, pc, &to);
    bool ends = is_return(word) || (info->flags & A64_ENDS && !direct && !is_call(word));
    f->at.at[n].is_end = ends;
    f->incomplete |= ends && !is_return(word) && info->class == CLASS_BRANCH;
    if (direct) {
        uint32_t next = node(f, t, to);
        f->at.at[n].to[1] = next;
    }
    if (!ends && !(direct && is_always_taken(word))) {
        uint32_t next = node(f, t, pc + 4);
        f->at.at[n].to[0] = next;
    }
}

/* ---- registers ---- */

static bool is_saved_by_caller(uint32_t r) {
    return r <= 18 || r == A64_LR || r == A64_NZCV || (r >= A64_V0 && (r < A64_V0 + 8 || r >= A64_V0 + 16));
}

static bool is_argument(uint32_t r) {
    return r <= 8 || (r >= A64_V0 && r < A64_V0 + 8);
}

/* What the callee of a traced call read of its arguments. */
static void add_arguments(const struct cputrace *t, uint32_t call, struct regset *use) {
    uint32_t depth = t->at.at[call].depth;
    for (uint32_t v = call + 1; v < t->at.len && t->at.at[v].depth > depth; v++) {
        const struct a64_uses *u = &t->code.at[t->at.at[v].code].uses;
        for (uint32_t k = 0; k < u->nsrc; k++)
            if (is_argument(u->src[k]) && (t->at.at[v].src[k] == NO_VERTEX || t->at.at[v].src[k] < call))
                regset_add(use, u->src[k]);
    }
}

/* What was read behind a return of what the callee left. */
static void add_results(const struct cputrace *t, uint32_t ret, struct regset *use) {
    uint32_t depth = t->at.at[ret].depth - 1;
    struct regset written = {{0, 0}};
    for (uint32_t v = ret + 1, n = 0; v < t->at.len && n < 64 && t->at.at[v].depth == depth; v++, n++) {
        const struct a64_uses *u = &t->code.at[t->at.at[v].code].uses;
        for (uint32_t k = 0; k < u->nsrc; k++)
            if (is_argument(u->src[k]) && !regset_has(&written, u->src[k]))
                regset_add(use, u->src[k]);
        for (uint32_t k = 0; k < u->ndst; k++)
            regset_add(&written, u->dst[k]);
    }
}

/* What a call or a return reads, by the trace. */
static void add_traced(const struct cputrace *t, struct flow_node *x) {
    uintptr_t code = (uintptr_t)map_get_u64(&t->by_pc, x->pc);
    uint32_t seen = code ? t->code.at[code - 1].times : 0;
    for (uint32_t k = 0; k < seen && k < TRACE_FIRST; k++) {
        if (x->is_call)
            add_arguments(t, t->code.at[code - 1].first[k], &x->use);
        else
            add_results(t, t->code.at[code - 1].first[k], &x->use);
    }
    for (uint32_t r = 0; !seen && x->is_call && r < A64_REGS; r++)
        if (is_argument(r))
            regset_add(&x->use, r);
}

/* What is known of the function that a call calls. */
static const struct function_facts *callee_facts(const struct cputrace *t, const struct flow_node *x) {
    uint64_t to;
    return flow_target(x->word, x->pc, &to) ? flow_function(t, to) : NULL;
}

/* What a call reads and writes: by the code of the function; if not all of that is known, what it was seen to
 * read and all that a function may write. Whether it is known. */
static bool add_call(const struct cputrace *t, struct flow_node *x) {
    const struct function_facts *c = callee_facts(t, x);
    bool known = c && c->known;
    if (!known)
        add_traced(t, x);
    for (uint32_t r = 0; r < A64_REGS; r++) {
        if (known && regset_has(&c->reads, r))
            regset_add(&x->use, r);
        if (is_saved_by_caller(r) && (!known || regset_has(&c->writes, r)))
            regset_add(&x->def, r);
    }
    return known;
}

/* Whether all of it is known. */
static bool set_uses(const struct cputrace *t, struct flow_node *x, bool alone) {
    for (uint32_t k = 0; k < x->uses.nsrc; k++)
        regset_add(&x->use, x->uses.src[k]);
    for (uint32_t k = 0; k < x->uses.ndst; k++)
        regset_add(&x->def, x->uses.dst[k]);
    bool known = !x->is_call || add_call(t, x);
    if (x->is_end && !alone)
        add_traced(t, x);
    return known;
}

/* What may be read behind returns beside results: registers that functions must restore, and any that this
 * code leaves alone, since a caller that knows so may keep values there: those in kept, if it is not NULL. */
static void set_ends(struct flowset *f, const struct regset *kept) {
    struct regset written = {{0, 0}};
    for (uint32_t n = 0; n < f->at.len; n++)
        for (int w = 0; w < 2; w++)
            written.w[w] |= f->at.at[n].def.w[w];
    for (uint32_t n = 0; n < f->at.len; n++)
        for (uint32_t r = 0; f->at.at[n].is_end && r < A64_REGS; r++)
            if (r != A64_ZERO && r != A64_SINK && r != A64_NZCV &&
                (!is_saved_by_caller(r) || (!regset_has(&written, r) && (!kept || regset_has(kept, r)))))
                regset_add(&f->at.at[n].use, r);
}

static bool update(struct flowset *f, struct flow_node *x) {
    struct regset out = {{0, 0}}, before = x->live;
    for (int k = 0; k < 2; k++)
        for (int w = 0; w < 2 && x->to[k] != NO_VERTEX; w++)
            out.w[w] |= f->at.at[x->to[k]].live.w[w];
    for (int w = 0; w < 2; w++)
        x->live.w[w] = x->use.w[w] | (out.w[w] & ~x->def.w[w]);
    return memcmp(&before, &x->live, sizeof before) != 0;
}

/* alone: what is behind returns does not count, and what is not known of functions that are called makes it
 * incomplete. */
static void build(struct flowset *f, const struct cputrace *t, uint64_t pc, bool alone,
                  const struct regset *kept) {
    *f = (struct flowset){0};
    node(f, t, pc);
    for (uint32_t n = 0; n < f->at.len; n++)
        follow(f, t, n);
    for (uint32_t n = 0; n < f->at.len; n++)
        f->incomplete |= !set_uses(t, &f->at.at[n], alone) && alone;
    if (!alone)
        set_ends(f, kept);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t n = f->at.len; n-- > 0;) {
            struct flow_node *x = &f->at.at[n];
            bool back = x->comes_back;
            for (int k = 0; k < 2; k++)
                back |= x->to[k] != NO_VERTEX && (!x->to[k] || f->at.at[x->to[k]].comes_back);
            changed |= update(f, x) || back != x->comes_back;
            x->comes_back = back;
        }
    }
}

void flow_build(struct flowset *f, const struct cputrace *t, uint64_t pc, const struct regset *kept) {
    build(f, t, pc, false, kept);
}

const struct function_facts *flow_function(const struct cputrace *t, uint64_t pc) {
    struct function_facts *x = map_get_u64(t->functions, pc);
    if (x)
        return x;
    struct flowset f;
    x = xcalloc(1, sizeof *x);
    map_set_u64(t->functions, pc, x); /* one that calls itself meets what is not known yet */
    build(&f, t, pc, true, NULL);
    for (uint32_t r = 0; f.at.len && r < A64_REGS; r++)
        if (is_argument(r) && regset_has(&f.at.at[0].live, r))
            regset_add(&x->reads, r);
    for (uint32_t n = 0; n < f.at.len; n++)
        for (int w = 0; w < 2; w++)
            x->writes.w[w] |= f.at.at[n].def.w[w];
    x->known = !f.incomplete;
    flow_free(&f);
    return x;
}

void flow_free(struct flowset *f) {
    vec_free(&f->at);
    vec_free(&f->entries);
    map_free(&f->by_pc);
}
