/* DAC: parameters, counters, launches and batches of blocks. */
#include "mech/dac/dac.h"

#include <string.h>

#include "core/slots.h"

static const struct param params[] = {
    {"dac.atq", PARAM_AT(struct dac_params, atq), 1, 192, 24, "entries",
     "DAC: tuples in the queue of an SM (table 1)."},
    {"dac.pwaq", PARAM_AT(struct dac_params, pwaq), 1, 192, 192, "entries",
     "DAC: lines in the address queues of all warps of an SM, divided among those that run (table 1)."},
    {"dac.pwpq", PARAM_AT(struct dac_params, pwpq), 1, 192, 192, "entries",
     "DAC: predicates in the queues of all warps, divided in the same way (section 4.8)."},
    {"dac.stack", PARAM_AT(struct dac_params, stack), 1, 64, 8, "entries",
     "DAC: paths on the stack of the affine warp (section 4.8); what nests deeper is not decoupled."},
    {"dac.dcrf", PARAM_AT(struct dac_params, dcrf), 1, 64, 8, "entries",
     "DAC: conditions of divergent tuples at a time (section 4.8: as many as the stack has entries)."},
    {"dac.lanes", PARAM_AT(struct dac_params, lanes), 7, 32, 7, "lanes",
     "DAC: lanes on which the affine warp works: a base and six offsets (section 4.4)."},
    {"dac.registers", PARAM_AT(struct dac_params, registers), 8, 254, 63, "registers",
     "DAC: registers of the affine warp, which has a context of its own; a kernel that needs more is not "
     "split."},
    {"dac.without", PARAM_AT(struct dac_params, without), 0, (1 << 22) - 1, 0, "",
     "DAC: rules left out, a sum of bits, for tests: results are then wrong (src/mech/dac/params.h)."},
    {"dac.prefetch", PARAM_AT(struct dac_params, prefetch), 0, 1, 1, "",
     "DAC: data of loads are fetched ahead; without, only their addresses are computed ahead."},
    {"dac.ask", PARAM_AT(struct dac_params, ask), 0, 1, 1, "",
     "DAC: at a branch outside loops that depends on data the affine warp takes the bit vectors of the warps "
     "(section 4.5); without, nothing behind it is decoupled."},
    {"dac.shared", PARAM_AT(struct dac_params, shared), 0, 1, 1, "",
     "DAC: addresses in shared memory are decoupled, too; without, only those in global and local memory."},
    {"dac.first", PARAM_AT(struct dac_params, first), 0, 1, 0, "",
     "DAC: the affine warp issues before others that are ready; without, it takes turns."},
    {"dac.pj.atq", PARAM_AT(struct dac_params, pj_atq), 0, 1e6, 5.3, "pJ",
     "DAC: an access to the tuple queue (table 1)."},
    {"dac.pj.pwaq", PARAM_AT(struct dac_params, pj_pwaq), 0, 1e6, 3.4, "pJ",
     "DAC: an access to an address queue (table 1)."},
    {"dac.pj.pwpq", PARAM_AT(struct dac_params, pj_pwpq), 0, 1e6, 3.0, "pJ",
     "DAC: an access to a predicate queue; the row is missing in table 1, scaled from the address queue."},
    {"dac.pj.stack", PARAM_AT(struct dac_params, pj_stack), 0, 1e6, 3.4, "pJ",
     "DAC: an access to the affine stack or a condition register, of about the address queue's size."},
    {"dac.pj.alu", PARAM_AT(struct dac_params, pj_alu), 0, 1e6, 1.0, "pJ",
     "DAC: an operation of an expansion unit's ALU: one lane of an integer addition."},
};

/* ---- launches ---- */

struct dac_marks {
    const struct dac_static *code;
    const struct image *img, *affine;
    struct dac_mark *main, *side;
};

static struct dac_mark *marks_of(struct arena *a, const struct program *facts, const struct image *img) {
    struct dac_mark *m = arena_array(a, struct dac_mark, img->ncode + 1);
    for (uint32_t pc = 0; pc < img->ncode; pc++) {
        m[pc].fact = fact_get(facts, &dac_passes[0], img->code[pc].in);
        if (m[pc].fact && !m[pc].fact->roles)
            m[pc].fact = NULL;
        m[pc].roles = m[pc].fact ? m[pc].fact->roles : 0;
        m[pc].address = m[pc].roles == DAC_DEQ && img->code[pc].guard == PRED_PT && !img->code[pc].gneg;
    }
    for (uint32_t pc = 0; pc + 1 < img->ncode; pc++) {
        m[pc].then_none = !m[pc + 1].roles;
        m[pc].quiet = !m[pc].roles && m[pc].then_none && img->code[pc].kind != X_LOAD;
    }
    for (uint32_t pc = 0; pc < img->ncode; pc++) /* the warp may go on with another path there */
        if (img->code[pc].in->rpc && img->code[pc].in->rpc <= img->ncode)
            m[img->code[pc].in->rpc - 1].quiet = false;
    return m;
}

/* Branches that layout turned around in one of the streams. */
static void find_flips(struct dac_marks *m) {
    for (uint32_t pc = 0; pc < m->affine->ncode; pc++)
        for (uint32_t k = 0; m->side[pc].fact && m->side[pc].fact->roles & DAC_BRANCH && k < m->img->ncode;
             k++)
            if (m->main[k].fact && m->main[k].fact->roles & DAC_BRANCH &&
                m->main[k].fact->number == m->side[pc].fact->number)
                m->side[pc].flip = m->img->code[k].gneg != m->affine->code[pc].gneg;
}

static const void *kernel(void *shared, struct arena *launch, const struct image *img) {
    (void)shared;
    struct dac_marks *m = arena_new(launch, struct dac_marks);
    m->img = img;
    m->code = fact_get(img->prog, dac_static_owner(), NULL);
    m->affine = image_stream(img, DAC_STREAM);
    if (m->affine) {
        m->main = marks_of(launch, img->prog, img);
        m->side = marks_of(launch, img->prog, m->affine);
        find_flips(m);
    }
    return m;
}

/* Loads that take nothing are counted. */
static bool concerns(const void *marks, uint32_t pc) {
    const struct dac_marks *m = marks;
    return m->affine ? !m->main[pc].quiet : m->img->code[pc].kind == X_LOAD;
}

/* The allocation that a base of the launch points into, or NULL. */
static const struct rp_alloc *allocation(const struct exec *x, uint32_t base, uint32_t bits) {
    uint32_t bank = base & DAC_SYMBOL ? BANK_SYMBOL : BANK_PARAM, at = base & ~DAC_SYMBOL;
    uint64_t p = 0;
    if (x->bank_bytes[bank] < at + bits / 8)
        return NULL;
    memcpy(&p, x->bank[bank] + at, bits / 8);
    if (bits == 32)
        p |= (uint64_t)WINDOW_HI << 32;
    return memory_find(x->mem, p);
}

/* No base of a list lies in the allocation of one of another list. */
static bool lie_apart(const struct exec *x, const uint32_t *list, uint32_t n, const uint32_t *other,
                      uint32_t others) {
    uint32_t bits = x->img->prog->address_bits;
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t j = 0; j < others; j++) {
            const struct rp_alloc *a = allocation(x, list[k], bits), *b = allocation(x, other[j], bits);
            if (!a || !b || a == b)
                return false;
        }
    return true;
}

/* Data of a load are fetched ahead unless the launch's arguments let a store meet it. */
static bool fetches(const struct exec *x, const struct dac_params *p, const struct dac_fact *f) {
    bool asked = dac_rule(p, DAC_RULE_ARGUMENTS);
    return f->data && (!asked || lie_apart(x, f->load, f->nload, f->store, f->nstore));
}

static void start(void *m, const void *marks) {
    struct dac *d = m;
    const struct dac_marks *k = marks;
    const struct exec *x = d->sm->x;
    d->on = k->affine != NULL;
    d->broken = false;
    d->n.static_insts += k->code ? k->code->insts : 0;
    d->n.static_affine += k->code ? k->code->affine : 0;
    *(d->on ? &d->n.split_launches : &d->n.whole_launches) += 1;
    d->able = 0;
    core_concern(d->sm, d, d->on ? UINT64_MAX : 0);
    d->split = d->on ? x : NULL;
    if (!d->on)
        return;
    d->affine = k->affine;
    d->main = k->main;
    d->side = k->side;
    /* One way of a set is never locked: of one alone none can be. */
    bool locks = memsys_l1(d->sm->mem, d->sm->id)->cache.bank.tags.spec.ways > 1;
    for (uint32_t pc = 0; pc < k->img->ncode; pc++)
        d->main[pc].data = locks && d->main[pc].roles & DAC_DEQ && fetches(x, d->params, d->main[pc].fact);
    for (uint32_t pc = 0; pc < k->affine->ncode; pc++)
        d->side[pc].data = locks && d->side[pc].fact && fetches(x, d->params, d->side[pc].fact);
    if (memcmp(&d->dims.n[1], x->block, sizeof x->block))
        memset(d->coords_of, 0, sizeof d->coords_of);
    for (uint32_t n = 0; n < 3; n++) {
        d->dims.n[1 + n] = x->block[n];
        d->dims.n[4 + n] = x->grid[n];
    }
    d->dims.never_wraps = !dac_rule(d->params, DAC_RULE_WIDTH);
    d->stream = core_stream_open(d->sm, k->affine);
    d->head = d->tail = d->peu = d->peu_warps = d->peu_wait = 0;
    d->draining = d->blocks = d->batch = d->served = d->sent = 0;
    d->used = d->slots = d->nnamed = 0;
    d->asking = 0;
    d->changed = d->lines_came = UINT64_MAX;
    d->affine_unchanged = d->affine_goes = d->stays = false;
    d->over = true;
    dac_rouse(d, UINT64_MAX);
    core_want_slots(d->sm, d, SLOTS_NEVER);
    memset(d->q, 0, sizeof d->q);
    memset(d->mask_refs, 0, DAC_MASKS * sizeof *d->mask_refs);
    memset(d->named, 0, sizeof d->named);
    memset(d->preds, 0, sizeof d->preds);
    for (uint32_t k = 0; k < d->affine->prog->nregs; k++)
        val_const(&d->regs[k], 0);
    for (uint32_t w = 0; w < DAC_WARPS; w++)
        d->q[w].pred = d->taken + (size_t)w * DAC_RING;
}

static const char *finish(void *m, bool cut) {
    struct dac *d = m;
    if (!d->on || cut)
        return NULL;
    if (d->broken)
        return "DAC's streams disagree";
    if (!dac_drained(d))
        return "DAC's queues are not empty at the end of the launch";
    const struct l1_counters *n = &memsys_l1(d->sm->mem, d->sm->id)->n;
    return n->locks == n->unlocks ? NULL : "DAC left lines locked at the end of the launch";
}

/* A slot is kept for the affine warp. */
static bool admit(void *m, uint32_t warps) {
    const struct dac *d = m;
    uint64_t others = d->sm->resident & ~d->sm->streaming;
    return !d->on || !d->sm->nblocks || (uint32_t)__builtin_popcountll(others) + warps < CORE_MAX_WARPS;
}

static void block(void *m, uint32_t block, bool enters) {
    struct dac *d = m;
    if (!d->on)
        return;
    dac_rouse(d, UINT64_C(1) << block);
    d->passed[block] = 0;
    d->at_bar[block] = false;
    if (!enters)
        d->blocks &= ~(UINT64_C(1) << block);
}

static void warp(void *m, uint32_t warp, bool enters) {
    struct dac *d = m;
    if (!d->on)
        return;
    dac_changed(d, warp);
    dac_know(d, warp_bit(warp), false);
    if (!enters)
        d->served &= ~(UINT64_C(1) << warp);
}

static void barrier_opened(void *m, uint32_t block, uint64_t warps, bool opened) {
    struct dac *d = m;
    if (!d->on || !opened)
        return;
    d->changed |= warps;
    if (d->at_bar[block]) {
        d->passed[block]++;
        dac_rouse(d, UINT64_C(1) << block);
        d->at_bar[block] = false;
    }
}

/* ---- instructions ---- */

static void control(void *m, uint32_t warp, const struct xinst *i, uint32_t mask) {
    struct dac *d = m;
    (void)mask;
    if (!d->on)
        return;
    if (d->sm->streaming >> warp & 1)
        dac_affine_control(d, i);
    else
        dac_know(d, warp_bit(warp), false);
}

/* An instruction of the affine warp, or any in a launch that is not split. */
static APART void other_issued(struct dac *d, const struct core_op *o) {
    if (d->on)
        dac_affine_issued(d, o->i, (uint32_t)o->pc);
    else
        dac_count_load(d, o);
}

static EVERY_TIME void issued(void *m, int32_t op) {
    struct dac *d = m;
    const struct core_op *o = &d->sm->ops[op];
    const struct core_warp *cw = &d->sm->warps[o->warp];
    if (__builtin_expect(cw->x != d->split, 0)) {
        other_issued(d, o);
        return;
    }
    const struct dac_mark *mark = &d->main[o->pc];
    if (mark->data && o->mask) {
        dac_given(d, op);
    } else {
        d->n.deq_addr += mark->roles & DAC_DEQ && o->mask;
        dac_count_load(d, o);
    }
    /* On one path the next instruction is the one behind; most take nothing. */
    dac_know(d, warp_bit(o->warp), mark->then_none && cw->w->depth == 1);
}

static EVERY_TIME void dac_tick(void *m, uint64_t now) {
    struct dac *d = m;
    if (!d->on)
        return;
    if (!d->served)
        dac_begin_batch(d);
    if (d->draining & d->lines_came)
        dac_drain(d, now);
    if (d->head != d->tail) {
        if (dac_expansion_rests(d))
            dac_count_expansion(d, 1);
        else
            dac_expand(d, now);
    }
    const struct sm *sm = d->sm;
    if (!sm->parked)
        return;
    uint64_t own = sm->parked & sm->streaming, look = sm->parked & (d->changed | ~sm->resident) & ~own;
    if (own && d->affine_unchanged)
        dac_count_affine(d, 1);
    else
        look |= own;
    if (look)
        dac_unpark(d, look);
    d->changed = 0;
}

static uint64_t next(const void *m, uint64_t now) {
    const struct dac *d = m;
    if (!d->on)
        return UINT64_MAX;
    uint64_t look = d->sm->parked & (d->affine_unchanged ? d->changed : d->changed | d->sm->streaming);
    bool busy = dac_expands(d) || look || d->slots || d->draining & d->lines_came || dac_can_begin(d);
    return busy ? now + 1 : UINT64_MAX;
}

static void elapsed(void *m, uint64_t cycles) {
    struct dac *d = m;
    if (!d->on)
        return;
    const struct sm *sm = d->sm;
    if (d->head != d->tail)
        dac_count_expansion(d, cycles);
    if (sm->parked & sm->streaming)
        dac_count_affine(d, cycles);
    if (sm->spec->policy == SCHED_TWO_LEVEL)
        return; /* warps that wait are in no active set */
    enum shortage why;
    uint64_t refused = issue_possible(sm, ready_warps(sm), &why, false);
    d->n.wait_warps += cycles * warps_of(refused & ~sm->streaming);
    if (refused & sm->streaming)
        dac_count_affine(d, cycles);
}

/* Comparisons of all threads of a warp take issue slots. */
static uint32_t slots(void *m, uint32_t sched, uint32_t free, uint64_t now) {
    struct dac *d = m;
    (void)sched, (void)free, (void)now;
    if (!d->on || !d->slots)
        return 0;
    if (!--d->slots)
        core_want_slots(d->sm, d, SLOTS_NEVER);
    return 1;
}

static void describe(const void *m, struct str *out) {
    const struct dac *d = m;
    if (d->on)
        str_printf(out,
                   "  DAC: %u tuples in the queue, affine warp on %u paths, loads of %d warps take lines\n",
                   (uint32_t)(d->tail - d->head), d->depth, __builtin_popcountll(d->draining));
}

/* ---- tables ---- */

static void *create(struct arena *a, const void *values, void *shared, struct sm *sm) {
    struct dac *d = arena_new(a, struct dac);
    (void)shared;
    *d = (struct dac){.sm = sm, .params = values};
    d->regs = arena_array(a, struct val, MAX_GPR);
    d->path = arena_array(a, struct dac_path, DAC_PATHS);
    d->coords = arena_array(a, struct coords, DAC_WARPS);
    d->carry = arena_array(a, struct dac_carry, NUM_PRED + 1);
    d->masks = arena_array(a, struct dac_mask, DAC_MASKS);
    d->mask_refs = arena_array(a, uint16_t, DAC_MASKS);
    d->tuples = arena_array(a, struct dac_tuple, DAC_RING);
    uint32_t accesses = (uint32_t)d->params->pwaq + DAC_WARPS * (1 + DAC_FLYING);
    d->accesses = arena_array(a, struct dac_access, accesses);
    for (uint32_t k = 0; k < accesses; k++)
        d->accesses[k].at = arena_new(a, struct dac_place);
    d->access_of = arena_array(a, struct dac_access *, CORE_OPS);
    d->taken = arena_array(a, struct dac_taken, DAC_WARPS * DAC_RING);
    if (sm->check.on)
        d->shadow = arena_alloc(a, (size_t)MAX_GPR * sizeof *d->shadow);
    return d;
}

static const void *counts(const void *m) {
    return &((const struct dac *)m)->n;
}

static const struct counter_info counters[] = {
#define COUNTER(field, name, unit, help) {name, unit, help, offsetof(struct dac_counters, field)},
#include "mech/dac/counters.def"
#undef COUNTER
};
static const struct counter_rule counter_rules[] = {
#define RULE(left, relation, right, when) {left, #relation, right, when},
#include "mech/dac/rules.def"
#undef RULE
};
static const struct energy_event energy[] = {
    {ENERGY_MECHANISM, "dac.atq.accesses", "dac.pj.atq", ENERGY_PJ_FIXED},
    {ENERGY_MECHANISM, "dac.pwaq.accesses", "dac.pj.pwaq", ENERGY_PJ_FIXED},
    {ENERGY_MECHANISM, "dac.pwpq.accesses", "dac.pj.pwpq", ENERGY_PJ_FIXED},
    {ENERGY_MECHANISM, "dac.stack.accesses", "dac.pj.stack", ENERGY_PJ_FIXED},
    {ENERGY_MECHANISM, "dac.alu.ops", "dac.pj.alu", ENERGY_PJ_FIXED},
};
static const struct mech_model models[] = {
    {"dac-noprefetch", "DAC without fetching data ahead: addresses and predicates alone",
     MECH_SETTINGS("dac.prefetch=false")},
    {NULL, NULL, NULL},
};

MECHANISM(dac) = {
    .name = "dac",
    .help = "Decoupled affine computation: one warp computes addresses for all, ahead",
    .models = models,
    .order = 30,
    .points = {.life = {.start = start,
                        .finish = finish,
                        .admit = admit,
                        .block = block,
                        .warp = warp,
                        .tick = dac_tick,
                        .next = next,
                        .elapsed = elapsed,
                        .describe = describe,
                        .any_order = true,
                        .apart = true,
                        .ahead = true},
               .watch = {.control = control, .barrier = barrier_opened, .issued = issued},
               .gate = {.eligible = dac_eligible, .slots = slots, .refused = dac_refused},
               .stream = {.own_code = true},
               .values = {.sources = dac_sources},
               .memory = {.access = dac_access,
                          .arrived = dac_arrived,
                          .again = dac_again,
                          .given = dac_given_again}},
    .params = PARAM_TABLE(struct dac_params, params, NULL),
    .counters = COUNTER_TABLE_RULES(counters, counter_rules),
    .energy = ENERGY_TABLE(energy),
    .passes = dac_passes,
    .kernel = kernel,
    .concerns = concerns,
    .create = create,
    .counts = counts,
};
