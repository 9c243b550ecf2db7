/* Where blocks are looked for: loops of a trace, their rounds, pairs of instructions that every round passes,
 * and which of the blocks between them saves most.
 *
 * A path of conditional code, and a function, are looked at like loops: a round goes from where the path
 * begins to where it begins again in the same call or, if it never does, to the end of the call. */
#include <string.h>

#include "cpu/region_model.h"

enum {
    LOOPS = 24,         /* looked at, the heaviest first */
    PATHS = 48,         /* the same of what is no loop */
    ROUNDS = 40,        /* of a loop, spread over the trace */
    TRIES = 8000,       /* pairs of a loop that are tried on the code */
    RIVALS = 12,        /* of those, blocks whose inputs are compared */
    DEPTHS = 4096,      /* of calls */
    STABLE_PLACES = 64, /* that a load of unchanging memory reads, each so often: */
    STABLE_TIMES = 16,
    WORTH = 100,   /* of all cycles a block must have this part */
    OVERHEAD = 12, /* cycles of a look-up, about */
};

/* ---- what is known before ---- */

static void find_stable_loads(struct finder *f) {
    const struct cputrace *t = f->t;
    struct {
        uint64_t place[STABLE_PLACES];
        uint32_t n;
    } *seen = xcalloc(t->code.len + 1, sizeof *seen);
    for (uint32_t c = 0; c < t->code.len; c++)
        f->stable[c] = t->code.at[c].is_load;
    for (uint32_t v = 0; v < t->at.len; v++) {
        const struct cputrace_vertex *x = &t->at.at[v];
        uint32_t k = 0;
        if (!f->stable[x->code])
            continue;
        while (k < seen[x->code].n && seen[x->code].place[k] != x->ea)
            k++;
        if (k == STABLE_PLACES)
            f->stable[x->code] = false;
        else if (k == seen[x->code].n)
            seen[x->code].place[seen[x->code].n++] = x->ea;
    }
    for (uint32_t c = 0; c < t->code.len; c++)
        f->stable[c] &= t->code.at[c].times >= STABLE_TIMES * seen[c].n;
    free(seen);
}

/* All direct branches of the program, in order to see where a block is entered. */
static void find_branches(struct finder *f) {
    const struct space *s = f->t->space;
    for (uint64_t page = 0; page < SPACE_PAGES / 4; page++) {
        if (!(s->perm[page] & PERM_EXEC))
            continue;
        for (uint64_t pc = page << PAGE_BITS; pc < (page + 1) << PAGE_BITS; pc += 4) {
            struct branch b = {.from = pc};
            uint32_t word;
            memcpy(&word, s->mem + pc, 4);
            if (flow_target(word, pc, &b.to))
                vec_push(&f->branches, b);
        }
    }
}

/* Functions whose accesses are understood and that read behind their arguments. */
static void find_callees(struct finder *f) {
    const struct cputrace *t = f->t;
    struct map seen = {0};
    for (uint32_t c = 0; c < t->code.len; c++) {
        uint64_t to;
        struct callee x;
        if (t->code.at[c].op != A64_BL || !flow_target(t->code.at[c].word, t->code.at[c].pc, &to) ||
            map_get_u64(&seen, to))
            continue;
        map_set_u64(&seen, to, f);
        callee_find(t, to, &x);
        if (x.understood && x.reads)
            vec_push(&f->callees, x);
    }
    map_free(&seen);
}

const struct callee *region_callee(const struct finder *f, uint32_t word, uint64_t pc) {
    uint64_t to;
    if (a64_find(word) != A64_BL || !flow_target(word, pc, &to))
        return NULL;
    for (uint32_t k = 0; k < f->callees.len; k++)
        if (f->callees.at[k].pc == to)
            return &f->callees.at[k];
    return NULL;
}

/* ---- loops ---- */

static struct loop *loop_with(struct finder *f, uint32_t head) {
    for (uint32_t k = 0; k < f->loops.len; k++)
        if (f->loops.at[k].head == head)
            return &f->loops.at[k];
    vec_push(&f->loops, (struct loop){.head = head});
    return &f->loops.at[f->loops.len - 1];
}

/* What may be a head: where a branch led, or did not lead away, and where a function begins. */
static void find_heads(struct finder *f) {
    const struct cputrace *t = f->t;
    enum { PATH = 1, LOOP };
    uint8_t *known = xcalloc(t->code.len + 1, sizeof *known);
    for (uint32_t v = 0; v + 1 < t->at.len; v++) {
        const struct cputrace_code *c = region_code(f, v), *next = region_code(f, v + 1);
        uint8_t *k = &known[t->at.at[v + 1].code];
        if (!c->is_branch || c->is_return || *k == LOOP)
            continue;
        bool back = !c->is_call && next->pc <= c->pc;
        if (!*k || back)
            loop_with(f, t->at.at[v + 1].code)->is_loop = back;
        *k = back ? LOOP : PATH;
    }
    free(known);
}

/* Keeps some of the rounds. */
static void keep_rounds(struct loop *l, const struct round *all, uint32_t n) {
    l->count = n;
    for (uint32_t k = 0; k < ROUNDS && k < n; k++)
        vec_push(&l->rounds, all[(uint64_t)k * n / (n < ROUNDS ? n : ROUNDS)]);
}

/* The rounds of a loop: from one arrival at its head to the next in the same call; those of a path that no
 * call passes twice: to the end of the call. */
static void find_rounds(struct finder *f, struct loop *l) {
    const struct cputrace *t = f->t;
    VEC(struct round) all = {0}, once = {0};
    uint64_t weight_once = 0;
    uint32_t begin = NO_VERTEX, depth = 0, inside = NO_VERTEX, first = 0, started[DEPTHS];
    uint64_t weight = 0;
    for (uint32_t d = 0; d < DEPTHS; d++)
        started[d] = NO_VERTEX;
    for (uint32_t v = 0; v < t->at.len; v++) {
        uint32_t d = t->at.at[v].depth;
        if (v && d > t->at.at[v - 1].depth)
            started[d % DEPTHS] = v;
        if (begin != NO_VERTEX && d < depth) {
            vec_push(&once, (struct round){.begin = begin, .end = v, .function = inside});
            weight_once += weight;
            begin = NO_VERTEX;
        }
        if (t->at.at[v].code == l->head && (begin == NO_VERTEX || d == depth)) {
            if (begin != NO_VERTEX) {
                vec_push(&all, (struct round){.begin = begin, .end = v, .function = inside, .first = first});
                l->weight += weight;
            } else {
                if (!first || inside != started[d % DEPTHS])
                    first = v;
                inside = started[d % DEPTHS];
            }
            begin = v;
            depth = d;
            weight = 0;
        }
        weight += region_code(f, v)->latency;
    }
    l->repeats = l->is_loop || all.len;
    if (!l->repeats)
        l->weight = weight_once;
    keep_rounds(l, l->repeats ? all.at : once.at, l->repeats ? all.len : once.len);
    vec_free(&all);
    vec_free(&once);
}

/* Loops first, then the heaviest. */
static int by_weight(const void *a, const void *b) {
    const struct loop *x = a, *y = b;
    if (x->is_loop != y->is_loop)
        return x->is_loop ? -1 : 1;
    return x->weight < y->weight ? 1 : x->weight > y->weight ? -1 : 0;
}

/* Where in a round an instruction of the loop's own function is executed; NO_VERTEX unless once. */
static uint32_t place_in(const struct finder *f, const struct round *r, uint32_t code) {
    uint32_t found = NO_VERTEX, depth = f->t->at.at[r->begin].depth;
    for (uint32_t v = r->begin; v < r->end; v++)
        if (f->t->at.at[v].code == code && f->t->at.at[v].depth == depth) {
            if (found != NO_VERTEX)
                return NO_VERTEX;
            found = v;
        }
    return found;
}

static void find_spine(const struct finder *f, struct loop *l) {
    const struct round *first = &l->rounds.at[0];
    uint32_t depth = f->t->at.at[first->begin].depth;
    for (uint32_t v = first->begin; v < first->end && l->n < SPINE; v++) {
        bool all = f->t->at.at[v].depth == depth;
        for (uint32_t k = 0; all && k < l->rounds.len; k++)
            all = place_in(f, &l->rounds.at[k], f->t->at.at[v].code) != NO_VERTEX;
        if (all)
            l->spine[l->n++] = f->t->at.at[v].code;
    }
    l->own = xcalloc(f->t->code.len + 1, sizeof *l->own);
    for (uint32_t s = 0; s < l->n; s++) {
        l->own[l->spine[s]] = true;
        f->passed[l->spine[s]] = true;
    }
    for (uint32_t k = 0; k < l->rounds.len; k++) {
        struct round *r = &l->rounds.at[k];
        r->pos = xcalloc(l->n + 1, sizeof *r->pos);
        for (uint32_t s = 0; s < l->n; s++)
            r->pos[s] = place_in(f, r, l->spine[s]);
    }
}

/* ---- pairs, in the trace ---- */

struct scan {
    uint64_t weight;
    struct regset inputs;
    uint32_t last_reader;        /* of what was stored */
    uint32_t cut;                /* loads whose values are inputs */
    const struct callee *callee; /* whose code it is, if it is understood */
    bool assumes_memory, reads_behind, stuck;
};

/* Whether a vertex can get data of the caller in a register: by the calling convention a callee only saves
 * the others. */
bool region_can_read(const struct finder *f, const struct round *r, uint32_t v, uint32_t reg) {
    return reg != A64_SP && (f->t->at.at[v].depth == f->t->at.at[r->begin].depth || reg <= 8 ||
                             (reg >= A64_V0 && reg < A64_V0 + 8));
}

/* Whether a load reads what was there before the block and may be another value the next time: it is done
 * before the block, and its value is an input. */
bool region_is_cut(const struct finder *f, const struct round *r, uint32_t from, uint32_t v, bool *assumes) {
    const struct cputrace_vertex *x = &f->t->at.at[v];
    if (!region_code(f, v)->is_load || (x->mem != NO_VERTEX && x->mem >= from) ||
        cputrace_reads_constant(f->t, x))
        return false;
    bool before = x->mem == NO_VERTEX || x->mem < r->first;
    if (!f->stable[x->code] || !before)
        return true;
    *assumes = true;
    return false;
}

/* What functions of the C library leave beside their results is lost when a block is skipped. */
static bool is_errno(const struct cputrace *t, uint64_t address) {
    return t->tls && address - t->tls < PAGE_SIZE;
}

/* Goes over a vertex of a block that began at from. Loads and stores of the spine may be done outside. */
static void scan_vertex(const struct finder *f, const struct loop *l, const struct round *r, uint32_t from,
                        uint32_t v, struct scan *s) {
    const struct cputrace_vertex *x = &f->t->at.at[v];
    const struct cputrace_code *c = region_code(f, v);
    bool own = l->own[x->code] && x->depth == f->t->at.at[r->begin].depth;
    for (uint32_t k = 0; k < c->uses.nsrc; k++)
        if (region_can_read(f, r, v, c->uses.src[k]) && (x->src[k] == NO_VERTEX || x->src[k] < from))
            regset_add(&s->inputs, c->uses.src[k]);
    if (x->depth == f->t->at.at[r->begin].depth)
        s->callee = c->is_call ? region_callee(f, c->word, c->pc) : NULL;
    if (s->callee && c->is_call)
        s->cut += s->callee->reads;
    if (s->callee && c->is_load) {
        s->reads_behind = true;
    } else if (region_is_cut(f, r, from, v, &s->assumes_memory)) {
        s->stuck |= !own;
        s->cut++;
    }
    if (c->is_store && !own && !s->callee && !is_errno(f->t, x->ea)) {
        s->stuck |= x->last_reader == NO_VERTEX;
        s->last_reader =
            x->last_reader > s->last_reader && x->last_reader != NO_VERTEX ? x->last_reader : s->last_reader;
    }
    s->stuck |= c->op == A64_SVC || c->op == A64_BRK;
    s->weight += c->latency;
}

/* Measures the pairs that begin at a: in sum[b] what all rounds have in common; those that are no blocks have
 * no weight. */
static void measure(const struct finder *f, const struct loop *l, uint32_t a, struct pair *sum) {
    memset(sum, 0, l->n * sizeof *sum);
    for (uint32_t b = a + 1; b < l->n; b++)
        sum[b].gain = 1;
    for (uint32_t k = 0; k < l->rounds.len; k++) {
        const struct round *r = &l->rounds.at[k];
        struct scan s = {.last_reader = 0};
        uint32_t v = r->pos[a], from = v;
        for (uint32_t b = a + 1; b < l->n; b++) {
            bool ordered = r->pos[b] > v;
            for (; ordered && v < r->pos[b] && !s.stuck; v++)
                scan_vertex(f, l, r, from, v, &s);
            if (s.stuck || !ordered || s.last_reader >= r->pos[b]) {
                sum[b].gain = 0;
                continue;
            }
            sum[b].a = a;
            sum[b].b = b;
            sum[b].weight += s.weight;
            sum[b].cut = s.cut;
            sum[b].assumes_memory |= s.assumes_memory;
            sum[b].reads_behind |= s.reads_behind;
            for (int w = 0; w < 2; w++)
                sum[b].inputs.w[w] |= s.inputs.w[w];
        }
    }
}

static uint32_t count(const struct regset *s) {
    return (uint32_t)(__builtin_popcountll(s->w[0]) + __builtin_popcountll(s->w[1]));
}

static int by_gain(const void *a, const void *b) {
    const struct pair *x = a, *y = b;
    if (x->gain != y->gain)
        return x->gain < y->gain ? 1 : -1;
    return x->a != y->a ? (x->a < y->a ? -1 : 1) : x->b < y->b ? -1 : x->b > y->b;
}

/* ---- all of it ---- */

/* How often a block's inputs were there before, by the values of the trace. */
struct reuse {
    struct map seen;
    uint64_t hash, place[REGION_INPUTS];
    uint32_t times, again;
    bool inside;
};

static uint64_t mix(uint64_t h, uint64_t value, uint32_t bytes) {
    h = (h ^ (bytes < 8 ? value & 0xffffffff : value)) * 0x9e3779b97f4a7c15ull;
    return h ^ h >> 29;
}

static void follow(const struct region *r, struct reuse *u, const struct cputrace_code *c,
                   const struct cputrace_vertex *v, const uint64_t *value) {
    if (c->pc == r->begin) {
        u->inside = true;
        u->hash = 1;
        for (uint32_t k = r->loaded; k < r->inputs; k++)
            u->hash = mix(u->hash, value[r->input[k].reg], r->input[k].bytes);
        for (uint32_t k = 0; k < r->pointers; k++)
            u->place[k] = value[r->pointed[k].reg] + (uint64_t)r->pointed[k].offset;
    }
    for (uint32_t k = 0; u->inside && k < r->loads; k++)
        for (uint32_t n = 0; c->pc == r->load_at[k] && n < c->uses.ndst && n < 2; n++)
            u->hash = mix(u->hash, v->value[n], r->input[k].bytes);
    for (uint32_t k = 0; u->inside && c->is_load && k < r->pointers; k++)
        for (uint32_t n = 0; n < c->uses.ndst && n < 2; n++) /* in whatever order they are loaded */
            if (u->place[k] == v->ea + n * c->size / c->uses.ndst)
                u->hash += mix(k + 1, v->value[n], r->pointed[k].bytes);
    if (u->inside && c->pc == r->end) {
        u->inside = false;
        u->times++;
        u->again += map_get_u64(&u->seen, u->hash) != NULL;
        map_set_u64(&u->seen, u->hash, u);
    }
}

/* The block that saves most: by its cycles, and by how often its inputs come again. */
static uint32_t best_of_rivals(const struct finder *f, struct region *rival, uint32_t n) {
    struct reuse *u = xcalloc(RIVALS, sizeof *u);
    uint64_t value[A64_REGS] = {0};
    uint32_t best = 0;
    double most = -1;
    for (uint32_t v = 0; v < f->t->at.len; v++) {
        const struct cputrace_code *c = region_code(f, v);
        for (uint32_t k = 0; k < n; k++)
            follow(&rival[k], &u[k], c, &f->t->at.at[v], value);
        for (uint32_t k = 0; k < c->uses.ndst; k++)
            value[c->uses.dst[k]] = k < 2 ? f->t->at.at[v].value[k] : ~(uint64_t)v;
    }
    for (uint32_t k = 0; k < n; k++) {
        rival[k].again = u[k].times ? (double)u[k].again / u[k].times : 0;
        double saved = u[k].times ? rival[k].again * rival[k].weight - region_inputs(&rival[k]) : 0;
        if (saved > most) {
            most = saved;
            best = k;
        }
        map_free(&u[k].seen);
    }
    free(u);
    return best;
}

/* Registers that callers of a function, which know its code, may read behind a call: what is live there. All,
 * if another function ends by going to it. */
static struct regset kept_by_callers(const struct finder *f, uint32_t function) {
    struct regset kept = {{0, 0}};
    if (function == NO_VERTEX)
        return (struct regset){{~0ull, ~0ull}};
    for (uint32_t k = 0; k < f->branches.len; k++) {
        struct flowset flow;
        uint32_t word;
        if (f->branches.at[k].to != region_code(f, function)->pc)
            continue;
        memcpy(&word, f->t->space->mem + f->branches.at[k].from, 4);
        if (a64_find(word) != A64_BL)
            return (struct regset){{~0ull, ~0ull}};
        flow_build(&flow, f->t, f->branches.at[k].from + 4, NULL);
        for (int w = 0; w < 2; w++)
            kept.w[w] |= flow.incomplete ? ~0ull : flow.at.at[0].live.w[w];
        flow_free(&flow);
    }
    return kept;
}

/* The code from an instruction of a loop on, with its places in the loop and who branches to it. */
static void build_flow(const struct finder *f, const struct loop *l, uint32_t a, const struct regset *kept,
                       struct flowset *flow) {
    flow_build(flow, f->t, f->t->code.at[l->spine[a]].pc, kept);
    for (uint32_t s = 0; s < l->n; s++) {
        uint32_t n = flow_at(flow, f->t->code.at[l->spine[s]].pc);
        if (n != NO_VERTEX)
            flow->at.at[n].spine = s;
    }
    for (uint32_t k = 0; k < f->branches.len; k++) {
        uint32_t to = flow_at(flow, f->branches.at[k].to);
        if (to != NO_VERTEX)
            vec_push(&flow->entries, (struct flow_entry){flow_at(flow, f->branches.at[k].from), to});
    }
}

/* The best block of a loop; false when it has none. */
static bool best_of(const struct finder *f, const struct loop *l, struct region *out) {
    VEC(struct pair) pairs = {0};
    struct pair *sum = xcalloc(l->n + 1, sizeof *sum);
    for (uint32_t a = 0; a < l->n; a++) {
        measure(f, l, a, sum);
        for (uint32_t b = a + 1; b < l->n; b++) {
            double weight = (double)sum[b].weight / l->rounds.len;
            sum[b].gain *= weight - OVERHEAD - count(&sum[b].inputs) - sum[b].cut;
            bool forward = f->t->code.at[l->spine[a]].pc < f->t->code.at[l->spine[b]].pc;
            if (forward && sum[b].gain > 0 && weight >= f->l->weight)
                vec_push(&pairs, sum[b]);
        }
    }
    if (pairs.len)
        qsort(pairs.at, pairs.len, sizeof *pairs.at, by_gain);
    struct region rival[RIVALS];
    uint32_t n = 0;
    struct flowset *flows = xcalloc(l->n + 1, sizeof *flows);
    const struct regset kept = kept_by_callers(f, l->rounds.at[0].function);
    for (uint32_t k = 0; n < RIVALS && k < pairs.len && k < TRIES; k++) {
        struct flowset *flow = &flows[pairs.at[k].a];
        if (!flow->at.len)
            build_flow(f, l, pairs.at[k].a, &kept, flow);
        n += region_prove(f, l, &pairs.at[k], flow, &rival[n]);
    }
    if (n)
        *out = rival[best_of_rivals(f, rival, n)];
    for (uint32_t k = 0; k < l->n; k++)
        flow_free(&flows[k]);
    free(flows);
    free(sum);
    vec_free(&pairs);
    return n > 0;
}

static bool overlap(const struct region *a, const struct region *b) {
    return a->begin <= b->end && b->begin <= a->end;
}

/* Whether a block was reached in the trace while another was executed, in a function that it calls. */
static bool is_inside(const struct finder *f, const struct region *a, const struct region *b) {
    bool inside = false;
    for (uint32_t v = 0; v < f->t->at.len; v++) {
        uint64_t pc = region_code(f, v)->pc;
        inside = pc == b->begin || (inside && pc != b->end);
        if (inside && pc == a->begin)
            return true;
    }
    return false;
}

static void free_loop(struct loop *l) {
    for (uint32_t k = 0; k < l->rounds.len; k++)
        free(l->rounds.at[k].pos);
    vec_free(&l->rounds);
    free(l->own);
}

uint32_t region_find(const struct cputrace *t, const struct region_limits *l, struct region out[REGION_MAX]) {
    struct finder f = {.t = t, .l = l, .stable = xcalloc(t->code.len + 1, sizeof *f.stable)};
    uint32_t n = 0;
    f.passed = xcalloc(t->code.len + 1, sizeof *f.passed);
    find_stable_loads(&f);
    find_branches(&f);
    find_callees(&f);
    find_heads(&f);
    for (uint32_t k = 0; k < f.loops.len; k++)
        find_rounds(&f, &f.loops.at[k]);
    if (f.loops.len)
        qsort(f.loops.at, f.loops.len, sizeof *f.loops.at, by_weight);
    VEC(struct region) found = {0};
    uint32_t left[2] = {PATHS, LOOPS};
    for (uint32_t k = 0; k < f.loops.len; k++) {
        struct loop *x = &f.loops.at[k];
        struct region r;
        if ((x->is_loop || !f.passed[x->head]) && left[x->is_loop] && x->rounds.len > 1) {
            left[x->is_loop]--;
            find_spine(&f, x);
            if (best_of(&f, x, &r) && (uint64_t)r.weight * r.times * WORTH >= t->weight)
                vec_push(&found, r);
        }
        free_loop(x);
    }
    while (n < REGION_MAX) { /* those that cover most first */
        struct region *best = NULL;
        for (uint32_t k = 0; k < found.len; k++) {
            struct region *x = &found.at[k];
            bool clear = true;
            for (uint32_t o = 0; o < n; o++)
                clear &= !overlap(x, &out[o]) && !is_inside(&f, x, &out[o]) && !is_inside(&f, &out[o], x);
            if (clear && (!best || (uint64_t)x->weight * x->times > (uint64_t)best->weight * best->times))
                best = x;
        }
        if (!best)
            break;
        out[n++] = *best;
    }
    vec_free(&found);
    vec_free(&f.loops);
    vec_free(&f.branches);
    vec_free(&f.callees);
    free(f.passed);
    free(f.stable);
    return n;
}
