/* Lock and Load: load-triggered approximation of regions (Liu, "Exploiting Computation Redundancy for Energy
 * Efficiency on GPU and CPU", chapter 3). README.md says which section is where. */
#include "mech/lnl/lnl.h"
#include "base/alike.h"
#include "mech/lnl/unit.h"

static const char *const metrics[] = {[LNL_HARDWARE] = "hardware", [LNL_RELATIVE] = "relative", NULL};
static const char *const fills[] = {[LNL_INTERPOLATE] = "interpolate", [LNL_REPLICATE] = "replicate", NULL};
static const char *const triggers[] = {[LNL_LOADS] = "loads", [LNL_OPERANDS] = "operands", NULL};

static const struct param params[] = {
    {"lnl.threshold", PARAM_AT(struct lnl_params, threshold), -1, 65536, -1, "",
     "Lock and Load: values that differ by less are alike; -1: what the kernel says, or 0.1."},
    {"lnl.levels", PARAM_AT(struct lnl_params, levels), -1, 65536, -1, "",
     "Lock and Load: the same of integers, as a difference; -1: what the kernel says, or 1."},
    {"lnl.group", PARAM_AT(struct lnl_params, group), 2, 32, 4, "lanes",
     "Lock and Load: lanes of a group, of which the first computes; 4, 8 or 16 (Section 3.5.1)."},
    {"lnl.entries", PARAM_AT(struct lnl_params, entries), 1, LNL_ENTRIES, 4, "entries",
     "Lock and Load: of a warp's load checking history table; three are needed (Section 3.5.3)."},
    {"lnl.check.cycles", PARAM_AT(struct lnl_params, check_cycles), 0, 64, 3, "cycles",
     "Lock and Load: added to a load whose values are compared (Section 3.5.2)."},
    {"lnl.store.passes", PARAM_AT(struct lnl_params, store_passes), 1, 8, 2, "passes",
     "Lock and Load: of an interpolated store through the load/store unit; two for 32 lanes: choice."},
    {"lnl.metric", PARAM_AT(struct lnl_params, metric), 0, LNL_RELATIVE, LNL_HARDWARE, "",
     "Lock and Load: how floats are compared: by the hardware's unit, or exactly.", metrics},
    {"lnl.fill", PARAM_AT(struct lnl_params, fill), 0, LNL_REPLICATE, LNL_INTERPOLATE, "",
     "Lock and Load: what lanes get that did not compute: between two anchors, or their own anchor's.",
     fills},
    {"lnl.edges", PARAM_AT(struct lnl_params, edges), 0, 1, true, "",
     "Lock and Load: neighbouring anchors are compared, too, and nothing is interpolated across a "
     "difference."},
    {"lnl.extrapolate", PARAM_AT(struct lnl_params, extrapolate), 0, 1, false, "",
     "Lock and Load: lanes behind the last anchor go on as between the last two; otherwise they get its "
     "value."},
    {"lnl.rows", PARAM_AT(struct lnl_params, rows), 0, 1, false, "",
     "Lock and Load: nothing is interpolated from one row of a block to the next."},
    {"lnl.fusion", PARAM_AT(struct lnl_params, fusion), 0, 1, true, "",
     "Lock and Load: two neighbouring warps in an approximated region issue as one (Section 3.4)."},
    {"lnl.timeout", PARAM_AT(struct lnl_params, time_out), 0, 1 << 20, 1000, "cycles",
     "Lock and Load: after which a warp waits no longer for its partner: choice."},
    {"lnl.trigger", PARAM_AT(struct lnl_params, trigger), 0, LNL_OPERANDS, LNL_LOADS, "",
     "Lock and Load: what is looked at: loads before a region, or the operands of each of its instructions.",
     triggers},
    {"lnl.low_bits", PARAM_AT(struct lnl_params, low_bits), 0, 32, 8, "bits",
     "Warp Approximation: low bits of operands that are not compared (0, 4, 8, 12, 16: choice)."},
    {"lnl.profile", PARAM_AT(struct lnl_params, profile), 0, 1, false, "",
     "Lock and Load: counts how far values in regions are apart; for a threshold of 0."},
    {"lnl.omit", PARAM_AT(struct lnl_params, omit), 0, 32767, 0, "",
     "Lock and Load: rules left out, for tests: bits of enum lnl_rule."},
    {"lnl.pj.check", PARAM_AT(struct lnl_params, pj_check), 0, 1e6, 0.214, "pJ",
     "Lock and Load: a comparison of two lanes: 0.3 mW at 1.4 GHz (Section 3.5.2)."},
    {"lnl.pj.interpolate", PARAM_AT(struct lnl_params, pj_interpolate), 0, 1e6, 150, "pJ",
     "Lock and Load: four lanes interpolated: what a lane costs in the texture unit (energy.tex.lane)."},
};

static const struct counter_info counters[] = {
#define COUNTER(field, name, unit, help) {name, unit, help, offsetof(struct lnl_counters, field)},
#include "mech/lnl/counters.def"
#undef COUNTER
};

static const struct counter_rule counter_rules[] = {
#define RULE(left, relation, right, when) {left, #relation, right, when},
#include "mech/lnl/rules.def"
#undef RULE
};

static const struct energy_event energy[] = {
    {ENERGY_MECHANISM, "lnl.comparisons", "lnl.pj.check", ENERGY_PJ_FIXED},
    {ENERGY_CONST_TEX, "lnl.filters", "lnl.pj.interpolate", ENERGY_PJ},
};

static const struct mech_model models[] = {
    {"lnl-nofusion", "Lock and Load without fusion of warps", MECH_SETTINGS("lnl.fusion=false")},
    {"lnl-replicate", "Lock and Load whose lanes get the result of their anchor",
     MECH_SETTINGS("lnl.fill=replicate")},
    {"warp-approx", "one lane executes what has the same operands in all, but for their low bits",
     MECH_SETTINGS("lnl.trigger=operands", "lnl.fusion=false")},
    {0},
};

/* Jumps that the linker wrote belong to the region to which they lead. */
static void add_jumps(struct lnl_marks *m) {
    for (bool more = true; more;) {
        more = false;
        for (uint32_t pc = 0; pc < m->img->ncode; pc++) {
            const struct xinst *i = &m->img->code[pc];
            if (i->kind != X_BRA || i->guard != PRED_PT || fact_get(m->img->prog, LNL_OWNER, i->in))
                continue;
            uint8_t region = m->at[i->in->target].region;
            more |= m->at[pc].region != region;
            m->at[pc].region = region;
        }
    }
}

const void *lnl_kernel(void *shared, struct arena *launch, const struct image *img) {
    (void)shared;
    struct lnl_marks *m = arena_new(launch, struct lnl_marks);
    const struct lnl_kernel *k = fact_get(img->prog, LNL_OWNER, NULL);
    m->img = img;
    m->at = arena_array(launch, struct lnl_fact, img->ncode + 1);
    m->threshold = k && k->named ? k->threshold : -1;
    for (uint32_t pc = 0; pc < img->ncode; pc++) {
        const struct lnl_fact *f = fact_get(img->prog, LNL_OWNER, img->code[pc].in);
        if (f)
            m->at[pc] = *f;
        m->any |= f != NULL;
    }
    add_jumps(m);
    return m;
}

static void *create(struct arena *a, const void *values, void *shared, struct sm *sm) {
    (void)shared;
    struct lnl *m = arena_new(a, struct lnl);
    m->sm = sm;
    m->params = values;
    m->ops = arena_array(a, struct lnl_op, CORE_OPS);
    m->fuse = m->params->fusion ? lnl_fuse_create(a, sm) : NULL;
    return m;
}

static void clear_warp(struct lnl *m, uint32_t warp) {
    m->warps[warp] = (struct lnl_warp){0};
    for (uint32_t k = 0; k < LNL_ENTRIES; k++)
        m->warps[warp].entries[k].op = CORE_NONE;
    m->waiting &= ~warp_bit(warp);
}

/* Lanes with which a row of the block begins, but for the first; 0: rows are not cut into warps evenly. */
static uint32_t row_starts(const struct exec *x) {
    uint32_t all = 0;
    for (uint32_t l = x->block[0]; l < WARP_LANES; l += x->block[0])
        all |= 1u << l;
    return WARP_LANES % x->block[0] ? 0 : all;
}

static void start(void *state, const void *marks) {
    enum { UNNAMED_PERCENT = 10 };
    struct lnl *m = state;
    m->marks = marks;
    bool named = m->marks->threshold >= 0;
    m->threshold = m->params->threshold >= 0 ? m->params->threshold
                   : named                   ? m->marks->threshold
                                             : UNNAMED_PERCENT / 100.0;
    m->levels = m->params->levels >= 0 ? m->params->levels : named ? m->marks->threshold : 1;
    m->fixed = alike_threshold(m->threshold);
    m->row_ends = m->params->rows ? row_starts(m->sm->x) : 0;
    m->leader = WARP_LANES;
    m->untimed = false;
    if (m->params->profile)
        lnl_profile_unit(m);
    for (uint32_t w = 0; w < CORE_MAX_WARPS; w++)
        clear_warp(m, w);
    core_want_slots(m->sm, m, SLOTS_NEVER);
    if (m->fuse)
        lnl_fuse_start(m);
    if (!m->marks->any)
        core_rest(m->sm, m);
}

static void warp(void *state, uint32_t slot, bool enters) {
    struct lnl *m = state;
    clear_warp(m, slot);
    if (m->fuse)
        lnl_fuse_warp(m, slot);
    (void)enters;
}

/* By loads: lanes that their anchors do not compute for. By operands: all, or one. */
static uint32_t choose(void *state, uint32_t slot, const struct xinst *i, uint32_t mask) {
    struct lnl *m = state;
    const struct lnl_fact *f = lnl_fact_of(m, i);
    m->leader = WARP_LANES;
    m->filled = false;
    m->n.region += f->region > 0;
    if (m->params->trigger == LNL_OPERANDS)
        return f->kind == LNL_APPROX && mask ? lnl_compare_operands(m, slot, i, mask) : mask;
    if (f->start) {
        bool yes = lnl_start(m, slot, i, f, mask);
        if (m->fuse && !m->untimed)
            lnl_fuse_started(m, slot, yes);
        return mask;
    }
    uint32_t off = lnl_off(m, slot, f, mask);
    if (!off)
        return mask;
    if (f->kind != LNL_APPROX) {
        m->n.precise++;
        return mask;
    }
    m->n.gated++;
    m->n.lanes_gated += (uint32_t)__builtin_popcount(off);
    return mask & ~off;
}

/* Timing was cut. Lanes that left instructions to their anchors get what they store, or what lives on, before
 * their warp leaves the region, and no other region is approximated. */
static bool bound(void *state, uint32_t slot) {
    struct lnl *m = state;
    if (!m->untimed)
        m->timed = m->n;
    m->untimed = true;
    return lnl_inside(m, slot);
}

static const char *finish(void *state, bool cut) {
    struct lnl *m = state;
    (void)cut;
    if (m->untimed)
        m->n = m->timed;
    return NULL;
}

static void sources(void *state, uint32_t slot, const struct xinst *i, uint32_t mask) {
    struct lnl *m = state;
    const struct lnl_fact *f = lnl_fact_of(m, i);
    if (f->kind == LNL_APPROX && i->kind == X_BRA && m->params->trigger == LNL_LOADS)
        lnl_lead(m, slot, i, f);
    if (f->kind == LNL_STORE && m->params->trigger == LNL_LOADS)
        m->filled = lnl_fill_in(m, slot, i, f, mask);
    if (f->kind == LNL_STORE && m->params->profile)
        lnl_profile_store(m, slot, i, f, mask);
}

void lnl_issued(void *state, int32_t id) {
    struct lnl *m = state;
    const struct core_op *op = &m->sm->ops[id];
    if (op->pc == CORE_NO_PC)
        return;
    const struct lnl_fact *f = lnl_fact_of(m, op->i);
    m->ops[id] = (struct lnl_op){.filled = m->filled, .one = m->leader != WARP_LANES};
    if (m->leader != WARP_LANES)
        core_spread(m->sm, id, m->leader, m->led);
    else if (f->check && m->params->trigger == LNL_LOADS)
        lnl_load_issued(m, id, f);
}

static void result(void *state, int32_t id) {
    struct lnl *m = state;
    const struct core_op *op = &m->sm->ops[id];
    if (op->pc != CORE_NO_PC && lnl_fact_of(m, op->i)->check && m->params->trigger == LNL_LOADS)
        lnl_load_done(m, id, lnl_fact_of(m, op->i));
    if (m->fuse)
        lnl_fuse_result(m, id);
}

static void control(void *state, uint32_t slot, const struct xinst *i, uint32_t mask) {
    struct lnl *m = state;
    (void)mask;
    m->n.region += lnl_fact_of(m, i)->region > 0;
    if (m->fuse)
        lnl_fuse_control(m, slot, i);
}

static uint64_t eligible(void *state, uint64_t ready, uint64_t now) {
    struct lnl *m = state;
    for (uint64_t left = ready & m->waiting; left; left &= left - 1) {
        uint32_t slot = (uint32_t)__builtin_ctzll(left);
        if (lnl_must_wait(m, slot)) {
            ready &= ~warp_bit(slot);
            m->n.waits++;
        }
    }
    return m->fuse ? lnl_fuse_eligible(m, ready, now) : ready;
}

/* An interpolated store passes more than once, one lane may work for all, and lanes of two warps work
 * together. */
static struct mech_work dispatch(void *state, int32_t id, struct mech_work work) {
    struct lnl *m = state;
    const struct core_op *op = &m->sm->ops[id];
    if (op->pc == CORE_NO_PC)
        return work;
    const struct lnl_op *o = &m->ops[id];
    if (m->fuse)
        lnl_fuse_dispatch(m, id);
    if (o->filled)
        work.beats *= (uint32_t)m->params->store_passes;
    work.lanes = o->one ? 1 : work.lanes + o->extra;
    return work;
}

static void describe(const void *state, struct str *out) {
    const struct lnl *m = state;
    str_printf(out, "  Lock and Load: %u warps wait for loads to be compared\n",
               (uint32_t)__builtin_popcountll(m->waiting));
    if (m->fuse)
        lnl_fuse_describe(m, out);
}

static const void *counts(const void *m) {
    return &((const struct lnl *)m)->n;
}

const struct mechanism mech_lnl = {
    .name = "lnl",
    .help = "approximates annotated regions where loads were alike, and fuses such warps",
    .models = models,
    .order = 40,
    .approximate = true,
    .points =
        {
            .life = {.start = start, .finish = finish, .warp = warp, .describe = describe, .apart = true},
            .watch = {.control = control, .issued = lnl_issued, .result = result},
            .gate = {.eligible = eligible, .slots = lnl_fuse_slots},
            .stream = {.fetch = lnl_fuse_fetch},
            .lanes = {.choose = choose, .bound = bound},
            .values = {.sources = sources},
            .front = {.take = lnl_fuse_take},
            .units = {.dispatch = dispatch},
        },
    .params = PARAM_TABLE(struct lnl_params, params, NULL),
    .counters = COUNTER_TABLE_RULES(counters, counter_rules),
    .energy = ENERGY_TABLE(energy),
    .passes = lnl_passes,
    .kernel = lnl_kernel,
    .create = create,
    .counts = counts,
};
