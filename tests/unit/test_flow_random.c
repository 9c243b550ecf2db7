/* The analyses of src/flow against what happens: random kernels run on the functional machine, and every
 * value that an instruction writes, and every address it forms, is held against the class that was claimed
 * for it, in the code before and after register allocation. A wrong claim is one of
 * - two threads that agree in what the value is said to depend on, in the same rounds of all loops, and have
 *   different values; or two lanes of one issue;
 * - a value that is said to be affine and is not;
 * - two accesses that are said not to touch the same bytes, and do.
 * Reaching definitions are compared with those that plain iteration over sets finds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/map.h"
#include "exec/warp.h"
#include "flow/classes.h"
#include "irsim.h"
#include "opt/mech_pass.h"
#include "opt/opt.h"

enum { MAX_LOOPS = 64, MAX_WRITTEN = 10, DIMS = 6, WORDS = (GEN_BUFFERS * GEN_BUFFER + GEN_SHARED) / 64 };

/* ---- claims, made by a pass in each place ---- */

struct claim {
    uint32_t n;
    struct vclass of[MAX_WRITTEN]; /* of the words and predicates it writes */
    bool partial[MAX_WRITTEN];     /* keeps what was never written where it is skipped */
    bool address;
    struct vclass address_of;
};
/* Where the instruction is, for rounds of loops. */
struct place {
    uint32_t block, index;
};

static enum class_loads loads;
static uint32_t nloops, header[MAX_LOOPS];
static bool in_loop[MAX_LOOPS][4096]; /* by block */

static bool behind_nothing(struct arena *a, const struct reach *r, uint32_t version) {
    uint32_t *defs, n = reach_definitions(a, r, version, &defs);
    for (uint32_t k = 0; k < n; k++)
        if (r->at[defs[k]].kind == VERSION_ENTRY)
            return true;
    return false;
}

static void make_claim(const struct pass_run *r, struct arena *a, const struct classes *c, uint32_t block,
                       uint32_t index) {
    struct inst *i = &c->f->blocks.at[block].insts.at[index];
    struct claim *claim = fact_make(r->p, r->pass, i, sizeof *claim);
    struct span span[MAX_SPANS];
    uint32_t n = inst_writes(&c->reach.v, i, span), v = c->reach.write_at[c->reach.first[block] + index];
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t w = 0; w < span[k].n; w++, v++) {
            claim->partial[claim->n] =
                c->reach.at[v].before != NONE && behind_nothing(a, &c->reach, c->reach.at[v].before);
            claim->of[claim->n++] = class_of(c, v);
        }
    claim->address = (i->op == OP_LD || i->op == OP_ST) && i->m.a64;
    if (claim->address)
        claim->address_of = class_of_source(c, block, index, 0);
}

static bool claim_all(const struct pass_run *r) {
    struct arena a = {0};
    struct class_options o = {.loads = loads, .accesses = accesses_of(&a, r->p)};
    const struct classes *c = classes_of(&a, r->p->fns.at[0], &o);
    for (uint32_t b = 0; b < c->f->blocks.len; b++)
        for (uint32_t k = 0; k < c->f->blocks.at[b].insts.len; k++)
            make_claim(r, &a, c, b, k);
    arena_free(&a);
    return false;
}

/* Blocks of the natural loop of the edge from latch to head. */
static void add_loop(const struct fn *f, uint32_t head, uint32_t latch) {
    uint32_t n = 0, stack[4096], depth = 0;
    while (n < nloops && header[n] != head)
        n++;
    assert_true(n < MAX_LOOPS && f->blocks.len < 4096);
    if (n == nloops) {
        memset(in_loop[nloops++], 0, sizeof in_loop[n]);
        header[n] = head;
        in_loop[n][head] = true;
    }
    stack[depth++] = latch;
    while (depth) {
        uint32_t b = stack[--depth];
        if (in_loop[n][b])
            continue;
        in_loop[n][b] = true;
        for (uint32_t p = 0; p < f->blocks.at[b].pred.len; p++)
            stack[depth++] = f->blocks.at[b].pred.at[p];
    }
}

static bool note_places(const struct pass_run *r) {
    struct arena a = {0};
    const struct fn *f = r->p->fns.at[0];
    struct dom dom = dom_of(&a, f);
    nloops = 0;
    for (uint32_t b = 0; b < f->blocks.len; b++) {
        for (uint32_t s = 0; s < f->blocks.at[b].succ.len; s++)
            if (dom_block(&dom, f->blocks.at[b].succ.at[s], b))
                add_loop(f, f->blocks.at[b].succ.at[s], b);
        for (uint32_t k = 0; k < f->blocks.at[b].insts.len; k++)
            *(struct place *)fact_make(r->p, r->pass, &f->blocks.at[b].insts.at[k], sizeof(struct place)) =
                (struct place){b, k};
    }
    arena_free(&a);
    return false;
}

static const struct mech_pass passes[] = {{"claims before", BEFORE_REGISTERS, claim_all},
                                          {"claims after", AFTER_REGISTERS, claim_all},
                                          {"places", AFTER_REGISTERS, note_places},
                                          {NULL, 0, NULL}};
enum { CLAIMS = 2, PLACES = 2 };

/* ---- what happens ---- */

struct sample {
    uint32_t index[DIMS]; /* tid, ctaid */
    uint64_t value;
};
typedef VEC(struct sample) sample_list;

/* Values of one claim in one instance that must be on a plane. */
struct plane {
    sample_list at;
    uint64_t mask; /* bits of the value that count */
    uint32_t pc;
};

struct checker {
    uint32_t seed;
    struct exec *x;
    struct map values; /* from everything a value may depend on to the value */
    struct map planes; /* the same, without the indices */
    VEC(struct plane *) list;
    uint32_t iteration[GEN_THREADS][MAX_LOOPS], last[GEN_THREADS];
    uint64_t (*touched)[WORDS]; /* by pc: bytes it accessed */
    uint64_t checked, planes_checked, uniform;
};

static uint64_t mix(uint64_t h, uint64_t v) {
    h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 29;
}

static uint32_t thread_of(const struct warp *w, uint32_t lane) {
    return w->index * WARP_LANES + lane;
}

static void indices(const struct warp *w, uint32_t lane, uint32_t out[DIMS]) {
    const struct exec *x = w->cta->x;
    uint32_t t = thread_of(w, lane);
    out[0] = t % x->block[0];
    out[1] = t / x->block[0] % x->block[1];
    out[2] = t / x->block[0] / x->block[1];
    for (uint32_t d = 0; d < 3; d++)
        out[3 + d] = w->cta->id[d];
}

/* What the indices of a set are in a thread, as one number. */
static uint64_t depends(uint64_t h, const struct warp *w, uint32_t lane, uint32_t deps) {
    static const uint16_t dim[DIMS] = {DEP_TID_X,   DEP_TID_Y,   DEP_TID_Z,
                                       DEP_CTAID_X, DEP_CTAID_Y, DEP_CTAID_Z};
    uint32_t at[DIMS];
    indices(w, lane, at);
    for (uint32_t d = 0; d < DIMS; d++)
        h = mix(h, deps & dim[d] ? at[d] + 1 : 0);
    h = mix(h, deps & DEP_LANE ? lane + 1 : 0);
    return mix(h, deps & DEP_WARP ? w->cta->number * 64 + w->index + 1 : 0);
}

/* The rounds of the loops around a block in a thread. */
static uint64_t rounds(const struct checker *c, uint64_t h, uint32_t block, uint32_t thread) {
    for (uint32_t n = 0; n < nloops; n++)
        if (in_loop[n][block])
            h = mix(h, c->iteration[thread][n] + 1);
    return h;
}

static void enter_block(struct checker *c, uint32_t block, uint32_t thread) {
    for (uint32_t n = 0; n < nloops; n++)
        if (header[n] == block)
            c->iteration[thread][n] = in_loop[n][c->last[thread]] ? c->iteration[thread][n] + 1 : 0;
    c->last[thread] = block;
}

static void wrong(const struct checker *c, uint32_t pc, struct vclass of, const char *what) {
    struct str text = {0};
    ir_print_inst(&text, &c->x->img->prog->code[pc]);
    str_printf(&text, " is claimed to be ");
    class_print(&text, of);
    fail_msg("seed %u, loads %u, 0x%04x: %s: %s", c->seed, loads, pc * INST_BYTES, str_text(&text), what);
}

static void add_sample(struct checker *c, uint64_t key, uint32_t pc, const struct warp *w, uint32_t lane,
                       uint64_t value, uint64_t mask) {
    struct plane *p = map_get_u64(&c->planes, key);
    if (!p) {
        p = xcalloc(1, sizeof *p);
        p->pc = pc;
        p->mask = mask;
        vec_push(&c->list, p);
        map_set_u64(&c->planes, key, p);
    }
    struct sample s = {.value = value};
    indices(w, lane, s.index);
    vec_push(&p->at, s);
}

/* One value that lanes m have after (of addresses: before) an instruction. */
static void check_value(struct checker *c, uint64_t key, uint32_t pc, uint32_t block, const struct warp *w,
                        uint32_t m, struct vclass of, const uint64_t value[WARP_LANES], bool wide) {
    uint64_t seen[WARP_LANES];
    if (of.deps & DEP_ANY)
        return;
    for (uint32_t l = 0; l < WARP_LANES; l++) {
        if (!(m >> l & 1))
            continue;
        c->checked++;
        c->uniform += !of.deps;
        seen[l] = depends(0, w, l, of.deps);
        for (uint32_t k = 0; k < l; k++)
            if (m >> k & 1 && seen[k] == seen[l] && value[k] != value[l])
                wrong(c, pc, of, "lanes of one issue differ");
        if (loads == LOADS_BY_ADDRESS)
            continue; /* memory changes between issues */
        uint64_t instance = rounds(c, key, block, thread_of(w, l)), all = depends(instance, w, l, of.deps);
        uintptr_t had = (uintptr_t)map_get_u64(&c->values, all), now = (uintptr_t)mix(value[l], 1) | 1;
        if (!had)
            map_set_u64(&c->values, all, (void *)now);
        else if (had != now)
            wrong(c, pc, of, "threads differ");
        if (of.lack & ~(LACK_BLOCK | LACK_EXTENDED) || of.deps & ~(DEP_BLOCK | DEP_TID))
            continue;
        if (of.lack & LACK_BLOCK)
            instance = mix(instance, w->cta->number + 1);
        uint64_t mask = wide && !(of.lack & LACK_EXTENDED) ? UINT64_MAX : UINT32_MAX;
        add_sample(c, mix(instance, 7), pc, w, l, value[l], mask);
    }
}

static void check_written(struct checker *c, const struct claim *claim, uint64_t key, uint32_t pc,
                          uint32_t block, const struct warp *w, uint32_t active, uint32_t passed) {
    const struct xinst *i = &c->x->img->code[pc];
    uint32_t n = 0;
    for (uint32_t k = 0; k < i->ndw; k++, n++) {
        uint64_t value[WARP_LANES];
        for (uint32_t l = 0; l < WARP_LANES; l++)
            value[l] = w->r[i->d + k][l];
        check_value(c, mix(key, n), pc, block, w, claim->partial[n] ? passed : active, claim->of[n], value,
                    false);
    }
    for (uint32_t k = 0; k < 2; k++) {
        if (i->pd[k] == PRED_PT)
            continue;
        uint64_t value[WARP_LANES];
        for (uint32_t l = 0; l < WARP_LANES; l++)
            value[l] = w->p[i->pd[k]] >> l & 1;
        check_value(c, mix(key, n), pc, block, w, claim->partial[n] ? passed : active, claim->of[n], value,
                    false);
        n++;
    }
    assert_int_equal(n, claim->n);
}

/* Bytes of an access; shared memory lies behind the buffers. */
static void touch(struct checker *c, const struct xinst *i, uint32_t pc, const struct warp *w, uint32_t m) {
    uint64_t at[WARP_LANES];
    exec_addresses(c->x, w, i, m, at);
    uint32_t bytes = (uint32_t)i->in->m.size * i->in->m.vec;
    for (uint32_t l = 0; l < WARP_LANES; l++)
        for (uint32_t b = 0; b < bytes && m >> l & 1; b++) {
            uint64_t byte = at[l] + b, first;
            memcpy(&first, c->x->bank[BANK_PARAM] + PARAM_BASE, 8);
            byte = i->in->m.space == MS_SHARED ? GEN_BUFFERS * GEN_BUFFER + byte : byte - first;
            assert_true(byte < GEN_BUFFERS * GEN_BUFFER + GEN_SHARED);
            c->touched[pc][byte / 64] |= UINT64_C(1) << byte % 64;
        }
}

/* Runs one instruction of a warp and checks what it did. */
static enum warp_state step(struct checker *c, struct warp *w) {
    const struct simt_entry *top = simt_top(w);
    if (!top)
        return warp_step(c->x, w);
    uint32_t pc = top->pc, active = top->mask;
    const struct xinst *i = &c->x->img->code[pc];
    uint32_t passed = active & (w->p[i->guard] ^ (0u - (uint32_t)i->gneg));
    const struct place *at = fact_get(c->x->img->prog, &passes[PLACES], i->in);
    for (uint32_t l = 0; at && !at->index && l < WARP_LANES; l++)
        if (active >> l & 1)
            enter_block(c, at->block, thread_of(w, l));
    bool memory = i->kind == X_LOAD || i->kind == X_STORE;
    if (memory && i->in->m.space != MS_LOCAL && passed)
        touch(c, i, pc, w, passed);
    for (uint32_t k = 0; k < CLAIMS; k++) {
        const struct claim *claim = fact_get(c->x->img->prog, &passes[k], i->in);
        uint64_t value[WARP_LANES], key = mix(mix(mix(98, k), pc), 99);
        if (!claim || !claim->address || !passed)
            continue;
        exec_addresses(c->x, w, i, passed, value);
        check_value(c, key, pc, at->block, w, passed, claim->address_of, value, true);
    }
    enum warp_state s = warp_step(c->x, w);
    for (uint32_t k = 0; k < CLAIMS && at; k++) {
        const struct claim *claim = fact_get(c->x->img->prog, &passes[k], i->in);
        if (claim && claim->n)
            check_written(c, claim, mix(mix(98, k), pc), pc, at->block, w, active, passed);
    }
    return s;
}

/* All samples are on one plane: the first one, plus factors times differences of indices. A factor is known
 * where two samples differ in one index alone, by one. */
static void check_plane(struct checker *c, const struct plane *p) {
    uint64_t factor[DIMS] = {0};
    bool known[DIMS] = {0};
    const struct sample *first = &p->at.at[0];
    for (uint32_t d = 0; d < DIMS; d++)
        for (uint32_t i = 0; i < p->at.len && !known[d]; i++)
            for (uint32_t k = 0; k < p->at.len && !known[d]; k++) {
                struct sample next = p->at.at[i];
                next.index[d]++;
                if (memcmp(next.index, p->at.at[k].index, sizeof next.index))
                    continue;
                factor[d] = p->at.at[k].value - p->at.at[i].value;
                known[d] = true;
            }
    for (uint32_t i = 0; i < p->at.len; i++) {
        uint64_t want = first->value;
        bool all = true;
        for (uint32_t d = 0; d < DIMS; d++) {
            uint32_t by = p->at.at[i].index[d] - first->index[d];
            all &= !by || known[d];
            want += (uint64_t)(int32_t)by * factor[d];
        }
        if (all && (want ^ p->at.at[i].value) & p->mask)
            wrong(c, p->pc, (struct vclass){0}, "or something else that is affine, and is not");
        c->planes_checked += all && i;
    }
}

/* ---- a kernel ---- */

static struct memory memory;

static void check_accesses(struct checker *c, const struct program *p, const struct accesses *m) {
    const struct fn *f = p->fns.at[0];
    for (uint32_t x = 0; x < p->ncode; x++)
        for (uint32_t y = 0; y <= x; y++) {
            const struct place *px = fact_get(p, &passes[PLACES], &p->code[x]),
                               *py = fact_get(p, &passes[PLACES], &p->code[y]);
            const struct access *ax = px ? access_at(m, 0, px->block, px->index) : NULL,
                                *ay = py ? access_at(m, 0, py->block, py->index) : NULL;
            if (!ax || !ay || access_alias(m, ax, ay) == ALIAS_MAY)
                continue;
            for (uint32_t w = 0; w < WORDS; w++)
                if (c->touched[x][w] & c->touched[y][w])
                    fail_msg("seed %u: %s: 0x%04x and 0x%04x touch the same bytes", c->seed, f->name,
                             x * INST_BYTES, y * INST_BYTES);
        }
}

/* Runs a compiled program on a grid of blocks and checks all that is claimed. */
static void run(struct checker *c, const struct program *p, const uint32_t grid[3], const uint32_t block[3]) {
    struct image *img = image_create(p);
    uint8_t bank0[PARAM_BASE + 8 * GEN_BUFFERS] = {0};
    uint64_t buffer = memory_alloc(&memory, GEN_BUFFERS * GEN_BUFFER, RP_MEM_DEVICE);
    for (uint32_t k = 64; k < PARAM_BASE; k += 4)
        memcpy(bank0 + k, &(uint32_t){(uint32_t)(mix(c->seed, k) >> 40)}, 4);
    memcpy(bank0 + PARAM_NTID, block, 12);
    memcpy(bank0 + PARAM_NCTAID, grid, 12);
    for (uint32_t k = 0; k < GEN_BUFFERS; k++)
        memcpy(bank0 + PARAM_BASE + 8 * k, &(uint64_t){buffer + k * GEN_BUFFER}, 8);
    for (uint32_t k = 0; k < GEN_BUFFERS * GEN_BUFFER; k++)
        ((uint8_t *)(uintptr_t)buffer)[k] = (uint8_t)(mix(c->seed, k) >> 20);
    struct exec x = {.img = img,
                     .bank = {[BANK_PARAM] = bank0, [BANK_LITERAL] = (const uint8_t *)p->literals.at},
                     .bank_bytes = {[BANK_PARAM] = sizeof bank0, [BANK_LITERAL] = p->literals.len * 4},
                     .mem = &memory,
                     .grid = {grid[0], grid[1], grid[2]},
                     .block = {block[0], block[1], block[2]},
                     .cluster = {1, 1, 1},
                     .nsms = 2,
                     .local_bytes = (p->local_bytes + 15) & ~15u,
                     .shared_static = GEN_SHARED};
    x.pool = xaligned((img->pool.len + 1u) * sizeof *x.pool);
    image_fill_pool(&x, img, x.pool);
    x.executed = xcalloc(img->ncode + 1u, sizeof *x.executed);
    c->x = &x;
    c->touched = xcalloc(img->ncode + 1u, sizeof *c->touched);
    struct cta *cta = cluster_create(&x)->ctas[0];
    for (uint32_t n = 0; n < grid[0] * grid[1] * grid[2]; n++) {
        cluster_start(cta->cluster, n);
        for (uint32_t k = 0; k < GEN_SHARED; k++) /* each block has its own */
            cta->shared[k] = (uint8_t)(mix(c->seed + n, k) >> 30);
        memset(c->last, 0, sizeof c->last);
        for (uint32_t k = 0; k < cta->nwarps; k++)
            for (enum warp_state s = WARP_RUNNING; s != WARP_DONE;) {
                s = step(c, &cta->warps[k]);
                if (s == WARP_FAULT) {
                    fault_describe(&x, &x.report);
                    fail_msg("seed %u: %s", c->seed, str_text(&x.report));
                }
            }
    }
    cluster_free(cta->cluster);
    for (uint32_t k = 0; k < c->list.len; k++)
        check_plane(c, c->list.at[k]);
    struct arena a = {0};
    check_accesses(c, p, accesses_of(&a, p));
    arena_free(&a);
    free(c->touched);
    free(x.executed);
    free(x.pool);
    image_free(img);
    memory_free(&memory, buffer);
}

static void compile(struct program *p, const struct gen_options *g, uint32_t limit, uint64_t disable) {
    struct diag d = {0};
    const struct opt_mech mech = {.passes = passes};
    gen_program(p, g);
    p->reg_limit = limit;
    if (!opt_compile_with(p, &(struct opt_options){.disable = disable, .mechs = &mech, .nmechs = 1}, &d))
        fail_msg("seed %u: %s", g->seed, str_text(&d.text));
    diag_free(&d);
}

static uint64_t checked, planes_checked, uniform;

static void check_kernel(const struct gen_options *g, uint32_t limit, uint64_t disable,
                         const uint32_t grid[3], const uint32_t block[3]) {
    struct program p = {0};
    struct checker *c = xcalloc(1, sizeof *c);
    c->seed = g->seed;
    compile(&p, g, limit, disable);
    run(c, &p, grid, block);
    checked += c->checked;
    planes_checked += c->planes_checked;
    uniform += c->uniform;
    for (uint32_t k = 0; k < c->list.len; k++) {
        vec_free(&c->list.at[k]->at);
        free(c->list.at[k]);
    }
    vec_free(&c->list);
    map_free(&c->values);
    map_free(&c->planes);
    free(c);
    program_free(&p);
}

static const uint32_t shapes[][2][3] = {{{2, 1, 1}, {64, 1, 1}},
                                        {{2, 2, 1}, {8, 8, 1}},
                                        {{1, 1, 3}, {4, 4, 4}},
                                        {{3, 1, 1}, {5, 7, 2}},
                                        {{1, 1, 1}, {32, 3, 1}}};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static void check_seeds(enum class_loads how, uint32_t from, uint32_t n, bool calls) {
    loads = how;
    checked = planes_checked = uniform = 0;
    for (uint32_t seed = from; seed < from + n; seed++)
        check_kernel(&(struct gen_options){.seed = seed,
                                           .size = 15 + seed % 60,
                                           .vars = 3 + seed % 8,
                                           .preds = 2 + seed % 3,
                                           .calls = calls,
                                           .threads = true},
                     seed % 5 ? 255 : 24, seed % 3 ? 0 : (UINT64_C(1) << OPT_IFCONV),
                     shapes[seed % SHAPES][0], shapes[seed % SHAPES][1]);
    /* The checks find something to check. */
    assert_true(checked > 1000 * n && uniform > 100 * n &&
                (how == LOADS_BY_ADDRESS || planes_checked > 100 * n));
}

static void test_loads_vary(void **state) {
    (void)state;
    check_seeds(LOADS_VARY, 1, 120, false);
}

static void test_loads_read_only(void **state) {
    (void)state;
    check_seeds(LOADS_READ_ONLY, 1000, 80, false);
    check_seeds(LOADS_DISTINCT, 2000, 80, false);
}

static void test_loads_by_address(void **state) {
    (void)state;
    check_seeds(LOADS_BY_ADDRESS, 3000, 80, false);
}

static void test_calls(void **state) {
    (void)state;
    check_seeds(LOADS_DISTINCT, 4000, 40, true);
}

/* ---- reaching definitions, by sets ---- */

/* Definitions are numbered as the analysis numbers its versions; in: by block, those that reach its start. */
static void flow_sets(const struct reach *r, bits *in, uint32_t words) {
    const struct fn *f = r->f;
    for (uint32_t v = 0; v < r->n; v++)
        if (r->at[v].kind == VERSION_ENTRY)
            bits_set(in, v);
    bits *now = xcalloc(words, sizeof *now);
    for (bool again = true; again;) {
        again = false;
        for (uint32_t b = 0; b < f->blocks.len; b++) {
            memcpy(now, in + (size_t)b * words, words * sizeof *now);
            for (uint32_t v = 0; v < r->n; v++) {
                if (r->at[v].kind != VERSION_WRITE || r->at[v].block != b)
                    continue;
                for (uint32_t k = 0; k < r->n && r->at[v].before == NONE; k++)
                    if (r->at[k].value == r->at[v].value && bits_get(now, k))
                        bits_clear(now, k);
                bits_set(now, v);
            }
            for (uint32_t s = 0; s < f->blocks.at[b].succ.len; s++) {
                bits *to = in + (size_t)f->blocks.at[b].succ.at[s] * words;
                for (uint32_t w = 0; w < words; w++) {
                    again |= (now[w] & ~to[w]) != 0;
                    to[w] |= now[w];
                }
            }
        }
    }
    free(now);
}

/* What instruction index of a block sees of value, ascending. */
static uint32_t seen_by(const struct reach *r, const bits *in, uint32_t block, uint32_t index, uint32_t value,
                        uint32_t *out) {
    uint32_t n = 0;
    bool hidden = false;
    for (uint32_t v = r->n; v-- > 0;) { /* writes of a block have ascending numbers */
        const struct version *at = &r->at[v];
        if (at->kind != VERSION_WRITE || at->block != block || at->index >= index || at->value != value ||
            hidden)
            continue;
        out[n++] = v;
        hidden = at->before == NONE;
    }
    for (uint32_t v = 0; v < r->n && !hidden; v++)
        if (r->at[v].kind != VERSION_MERGE && r->at[v].value == value && bits_get(in, v)) {
            uint32_t k = 0;
            while (k < n && out[k] != v)
                k++;
            if (k == n)
                out[n++] = v;
        }
    for (uint32_t i = 1; i < n; i++)
        for (uint32_t k = i; k && out[k] < out[k - 1]; k--) {
            uint32_t t = out[k];
            out[k] = out[k - 1];
            out[k - 1] = t;
        }
    return n;
}

static uint32_t reads_compared;

static void compare_reads(const struct reach *r, const bits *in, uint32_t words, uint32_t seed) {
    struct arena a = {0};
    uint32_t *want = arena_array(&a, uint32_t, r->n + 1), *got;
    struct span span[MAX_SPANS];
    for (uint32_t b = 0; b < r->f->blocks.len; b++)
        for (uint32_t k = 0; k < r->f->blocks.at[b].insts.len; k++) {
            uint32_t n = inst_reads(&r->v, &r->f->blocks.at[b].insts.at[k], span);
            for (uint32_t s = 0; s < n; s++)
                for (uint32_t w = 0; w < span[s].n; w++) {
                    uint32_t value = span[s].first + w;
                    uint32_t nwant = seen_by(r, in + (size_t)b * words, b, k, value, want);
                    uint32_t ngot = reach_definitions(&a, r, reach_read(r, b, k, value), &got);
                    if (nwant != ngot || memcmp(want, got, ngot * sizeof *got))
                        fail_msg("seed %u: block %u, %u: value %u has %u definitions, not %u", seed, b, k,
                                 value, ngot, nwant);
                    reads_compared += nwant > 1;
                }
        }
    arena_free(&a);
}

static bool compare_reach(const struct pass_run *r) {
    struct arena a = {0};
    struct reach reach = reach_of(&a, r->p->fns.at[0]);
    uint32_t words = bits_words(reach.n);
    bits *in = arena_array(&a, bits, (size_t)reach.f->blocks.len * words + 1);
    flow_sets(&reach, in, words);
    compare_reads(&reach, in, words, *(const uint32_t *)r->params);
    arena_free(&a);
    return false;
}

static void test_reach(void **state) {
    (void)state;
    static const struct mech_pass both[] = {{"before", BEFORE_REGISTERS, compare_reach},
                                            {"after", AFTER_REGISTERS, compare_reach},
                                            {NULL, 0, NULL}};
    for (uint32_t seed = 1; seed <= 60; seed++) {
        const struct opt_mech mech = {both, &seed};
        struct program p = {0};
        struct diag d = {0};
        gen_program(
            &p, &(struct gen_options){.seed = seed, .size = 40, .vars = 6, .preds = 4, .threads = seed % 2});
        p.reg_limit = seed % 3 ? 255 : 20;
        assert_true(opt_compile_with(&p, &(struct opt_options){.mechs = &mech, .nmechs = 1}, &d));
        program_free(&p);
        diag_free(&d);
    }
    assert_true(reads_compared > 1000);
}

/* The allocator repeats instructions to save memory; facts stay with the one that they were made for. */
static void test_numbers(void **state) {
    (void)state;
    uint32_t added = 0;
    loads = LOADS_VARY;
    for (uint32_t seed = 1; seed <= 20; seed++) {
        struct program p = {0};
        compile(&p, &(struct gen_options){.seed = seed, .size = 60, .vars = 30, .preds = 4, .threads = true},
                16, 0);
        bool *met = xcalloc(p.facts->n + 1, sizeof *met);
        for (uint32_t k = 0; k < p.ncode; k++) {
            uint32_t id = p.code[k].id;
            assert_true(id <= p.facts->n && (!id || !met[id]));
            met[id] = true;
            added += !fact_get(&p, &passes[0], &p.code[k]);
        }
        free(met);
        program_free(&p);
    }
    assert_true(added > 100);
}

static int open_memory(void **state) {
    (void)state;
    return memory_init(&memory, 1 << 24) ? 0 : -1;
}

static int close_memory(void **state) {
    (void)state;
    memory_destroy(&memory);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reach),           cmocka_unit_test(test_loads_vary),
        cmocka_unit_test(test_loads_read_only), cmocka_unit_test(test_loads_by_address),
        cmocka_unit_test(test_calls),           cmocka_unit_test(test_numbers),
    };
    return cmocka_run_group_tests(tests, open_memory, close_memory);
}
