/* G-Scalar as a mechanism (Liu, chapter 2), its rivals among its models: parameters, tables, points. */
#include "mech/gscalar/marks.h"

#include <string.h>

static const char *const codes[] = {
    [CODE_PLANES] = "planes", [CODE_SCALAR] = "scalar", [CODE_BDI] = "bdi", NULL};

static const struct param params[] = {
    {"gscalar.code", PARAM_AT(struct gscalar_params, code), CODE_PLANES, CODE_BDI, CODE_PLANES, "",
     "G-Scalar: how registers are stored: planes, without the leading bytes that all lanes share; scalar, in "
     "a "
     "scalar file if all lanes have one value; bdi, base and differences, as Warped-Compression.",
     codes},
    {"gscalar.halves", PARAM_AT(struct gscalar_params, halves), 0, 1, true, "",
     "G-Scalar: planes: each half of a register has a base value (Section 2.3.3)."},
    {"gscalar.alu", PARAM_AT(struct gscalar_params, alu), 0, 1, true, "",
     "G-Scalar: one lane executes arithmetic and logic whose operands are the same in all lanes."},
    {"gscalar.sfu", PARAM_AT(struct gscalar_params, sfu), 0, 1, true, "", "G-Scalar: ... special functions."},
    {"gscalar.mem", PARAM_AT(struct gscalar_params, mem), 0, 1, true, "", "G-Scalar: ... loads and stores."},
    {"gscalar.half", PARAM_AT(struct gscalar_params, half), 0, 1, true, "",
     "G-Scalar: ... for each half by itself."},
    {"gscalar.divergent", PARAM_AT(struct gscalar_params, divergent), 0, 1, true, "",
     "G-Scalar: ... of the active lanes of a divergent instruction."},
    {"gscalar.subset", PARAM_AT(struct gscalar_params, subset), 0, 1, false, "",
     "G-Scalar: what some lanes wrote is scalar for any of them, not for exactly these."},
    {"gscalar.one_beat", PARAM_AT(struct gscalar_params, one_beat), 0, 1, false, "",
     "G-Scalar: what one lane executes occupies its unit for one cycle; published is the time of 32 lanes."},
    {"gscalar.dedicated", PARAM_AT(struct gscalar_params, dedicated), 0, 1, false, "",
     "G-Scalar: what one lane executes has a pipeline of its own, and does not occupy the unit."},
    {"gscalar.skip_dead", PARAM_AT(struct gscalar_params, skip_dead), 0, 1, false, "",
     "G-Scalar: no special move for a register that nobody reads any more."},
    {"gscalar.pairs", PARAM_AT(struct gscalar_params, pairs), 0, 1, false, "",
     "G-Scalar: counts what neighbouring warps would be as one of 64 lanes; changes nothing."},
    {"gscalar.latency", PARAM_AT(struct gscalar_params, latency), 0, 64, 3, "cycles",
     "G-Scalar: added to every instruction: small array, decompression, compression (Section 2.4.1)."},
    {"gscalar.file_ports", PARAM_AT(struct gscalar_params, file_ports), 0, 16, 0, "operands",
     "G-Scalar: that the scalar file gives in a cycle; 0: as many as are wanted, as each bank has its own."},
    {"gscalar.omit", PARAM_AT(struct gscalar_params, omit), 0, 1023, 0, "",
     "G-Scalar: rules left out, for tests: bits of enum gscalar_rule."},
    {"gscalar.pj.small_read", PARAM_AT(struct gscalar_params, pj_small_read), 0, 1e6, 23.6, "pJ",
     "G-Scalar: a read of a small array: 5.2% of that of a register (Section 2.4.1)."},
    {"gscalar.pj.small_write", PARAM_AT(struct gscalar_params, pj_small_write), 0, 1e6, 43.1, "pJ",
     "G-Scalar: a write of a small array."},
    {"gscalar.pj.compress", PARAM_AT(struct gscalar_params, pj_compress), 0, 1e6, 11.6, "pJ",
     "G-Scalar: a result in the compressor: 16.22 mW at 1.4 GHz (Table 2.3)."},
    {"gscalar.pj.decompress", PARAM_AT(struct gscalar_params, pj_decompress), 0, 1e6, 11.3, "pJ",
     "G-Scalar: an operand in the decompressor: 15.86 mW at 1.4 GHz (Table 2.3)."},
    {"gscalar.pj.unsent", PARAM_AT(struct gscalar_params, pj_unsent), -1e6, 0, -7.75, "pJ",
     "G-Scalar: what the crossbar does not spend on an array's bytes that are not sent: an eighth of 62 pJ."},
};

static const struct counter_info counters[] = {
#define COUNTER(field, name, unit, help) {name, unit, help, offsetof(struct gscalar_counters, field)},
#include "mech/gscalar/counters.def"
#undef COUNTER
};

static const struct counter_rule counter_rules[] = {
#define RULE(left, relation, right, when) {left, #relation, right, when},
#include "mech/gscalar/rules.def"
#undef RULE
};

static const struct energy_event energy[] = {
    {ENERGY_REGISTER_FILE, "gscalar.small.reads", "gscalar.pj.small_read", ENERGY_PJ},
    {ENERGY_REGISTER_FILE, "gscalar.small.writes", "gscalar.pj.small_write", ENERGY_PJ},
    {ENERGY_REGISTER_FILE, "gscalar.expansions.arrays", "energy.rf.read", ENERGY_PJ},
    {ENERGY_COLLECTORS, "gscalar.unsent", "gscalar.pj.unsent", ENERGY_PJ},
    {ENERGY_MECHANISM, "gscalar.compressions", "gscalar.pj.compress", ENERGY_PJ},
    {ENERGY_MECHANISM, "gscalar.decompressions", "gscalar.pj.decompress", ENERGY_PJ},
    {ENERGY_FRONT_END, "gscalar.moves", "energy.fetch.issue", ENERGY_PJ},
};

#define NO_SCALAR                                                                                            \
    "gscalar.alu=false", "gscalar.sfu=false", "gscalar.mem=false", "gscalar.half=false",                     \
        "gscalar.divergent=false"
static const struct mech_model models[] = {
    {"gscalar-nodiv", "G-Scalar without halves and divergent instructions",
     MECH_SETTINGS("gscalar.half=false", "gscalar.divergent=false")},
    {"alu-scalar", "a scalar pipeline for arithmetic and logic, a scalar file of one bank",
     MECH_SETTINGS("gscalar.code=scalar", "gscalar.halves=false", "gscalar.sfu=false", "gscalar.mem=false",
                   "gscalar.half=false", "gscalar.divergent=false", "gscalar.latency=0",
                   "gscalar.dedicated=true", "gscalar.file_ports=1", "gscalar.pj.unsent=0")},
    {"scalar-rf", "registers with one value in a scalar file",
     MECH_SETTINGS("gscalar.code=scalar", "gscalar.halves=false", NO_SCALAR, "gscalar.latency=0")},
    {"warped-compression", "registers as base and differences",
     MECH_SETTINGS("gscalar.code=bdi", "gscalar.halves=false", NO_SCALAR, "gscalar.pj.compress=22.3",
                   "gscalar.pj.decompress=21.7")},
    {0},
};

/* What the points at which kernels are marked must know. */
static void *share(struct arena *a, const void *params) {
    struct gscalar_params *p = arena_new(a, struct gscalar_params);
    *p = *(const struct gscalar_params *)params;
    return p;
}

static void *create(struct arena *a, const void *params, void *shared, struct sm *sm) {
    (void)shared;
    enum { PLACES = CORE_NO_PLACE + 1 };
    struct gscalar *m = arena_new(a, struct gscalar);
    m->sm = sm;
    m->params = params;
    m->spec = (struct code_spec){(enum gscalar_code)m->params->code,
                                 m->params->code == CODE_PLANES && m->params->halves};
    const struct gscalar_params *p = m->params;
    m->small = m->spec.code == CODE_PLANES ? (uint8_t)gscalar_sets(m) : 0;
    m->half_flags = p->half && m->spec.halves ? READ_HALVES : 0;
    m->regs = arena_array(a, struct code_reg, PLACES);
    m->kind = arena_array(a, uint8_t, PLACES);
    m->forms = arena_array(a, struct code_reg, CODE_FORMS);
    m->through_planes = code_through_planes_here();
    gscalar_list_kinds(m);
    m->ops = arena_array(a, struct gscalar_op, CORE_OPS + 1) + 1;
    m->before = (uint16_t(*)[GSCALAR_WORDS])arena_alloc(a, (CORE_OPS + 1) * sizeof *m->before) + 1;
    m->movs = core_copies(a);
    m->pairs = m->params->pairs ? gscalar_pairs_create(a) : NULL;
    return m;
}

static void start(void *state, const void *marks) {
    struct gscalar *m = state;
    m->marks = marks;
    m->facts = m->marks->facts;
    m->owned = m->sm->mech.owns >> MECH_registers & 1;
    m->in_order = !(m->sm->mech.owns >> MECH_stream & 1); /* nor has code of its own */
    m->plain = m->in_order && !m->owned && !m->pairs && !m->sm->check.on && !m->params->omit;
    m->byte_planes = m->plain && m->spec.code == CODE_PLANES && m->spec.halves;
    m->early = GSCALAR_EARLY && m->plain;
    if (GSCALAR_EARLY && !m->plain)
        core_leave_copy(m->sm);
    m->checked = m->wanting = m->started = m->file_free = 0;
    core_want_slots(m->sm, m, m->owned ? SLOTS_NEVER : SLOTS_READY); /* those who wait for moves are ready */
    memset(m->moving, 0, sizeof m->moving);
    core_ignore(m->sm, m, MECH_AT_watch_collected); /* of moves alone it is to know ... */
    core_ignore(m->sm, m, MECH_AT_watch_retire);    /* ... and who is alone has all results written */
}

/* What a register holds before it is written is in its latch. */
static void warp(void *state, uint32_t slot, bool enters) {
    struct gscalar *m = state;
    uint64_t bit = UINT64_C(1) << slot;
    if (!enters)
        return;
    for (uint32_t r = 0; r < m->sm->x->img->prog->nregs; r++) {
        uint32_t place = core_holds(m->sm, slot, r);
        if (place != CORE_NO_PLACE)
            gscalar_unlearn(m, place);
    }
    memset(m->raw[slot], 0, sizeof m->raw[slot]);
    memset(m->preds[slot], 0, sizeof m->preds[slot]);
    m->wanting &= ~bit;
    m->started &= ~bit;
    gscalar_went(m, slot);
    if (m->pairs)
        gscalar_pairs_start(m, slot);
}

/* Results of barriers and calls come without a word to the banks. */
static void control(void *state, uint32_t slot, const struct xinst *i, uint32_t mask) {
    struct gscalar *m = state;
    gscalar_went(m, slot);
    if (!mask)
        return;
    gscalar_forget(m, slot, i);
    gscalar_predicates(m, slot, i, 0, true);
}

/* A result that somebody supplied was not written to its bank. */
static void retire(void *state, int32_t id) {
    struct gscalar *m = state;
    const struct core_op *op = &m->sm->ops[id];
    if (op->pc == CORE_NO_PC) {
        if (m->ops[id].move) {
            if (GSCALAR_EARLY)
                gscalar_expanded(m, id);
            gscalar_moved(m, op->warp);
        }
        return;
    }
    for (uint32_t k = op->next_write; !m->owned && k < op->writes; k++)
        gscalar_unlearn(m, op->warp * MAX_GPR + op->i->d + k);
}

static const char *finish(void *state, bool cut) {
    (void)cut;
    struct gscalar *m = state;
    bool wrong = m->wrong;
    m->wrong = false;
    return wrong ? "G-Scalar: an instruction that one lane computed for all did not give one value" : NULL;
}

static void describe(const void *state, struct str *out) {
    const struct gscalar *m = state;
    str_printf(out, "  G-Scalar: %u warps wait for special moves\n",
               (uint32_t)__builtin_popcountll(m->wanting));
}

static const void *counts(const void *m) {
    return &((const struct gscalar *)m)->n;
}

const struct mechanism mech_gscalar = {
    .name = "gscalar",
    .help = "compressed registers; one lane executes what is the same in others",
    .models = models,
    .order = 30,
    .points =
        {
            .life = {.start = start,
                     .finish = finish,
                     .warp = warp,
                     .describe = describe,
                     .any_order = true,
                     .apart = true,
                     .beside = true,
                     .ignores = UINT64_C(1) << MECH_AT_watch_collected | UINT64_C(1) << MECH_AT_watch_retire},
            .watch = {.control = control,
                      .issued = gscalar_issued,
                      .collected = gscalar_collected,
                      .result = GSCALAR_EARLY ? gscalar_result : NULL,
                      .retire = retire,
                      .places = true},
            .gate = {.eligible = gscalar_eligible, .slots = gscalar_slots},
            .values = {.sources = gscalar_sources},
            .forms = {.arrays = GSCALAR_EARLY ? NULL : gscalar_arrays},
            .units = {.dispatch = gscalar_dispatch},
        },
    .params = PARAM_TABLE(struct gscalar_params, params, NULL),
    .counters = COUNTER_TABLE_RULES(counters, counter_rules),
    .energy = ENERGY_TABLE(energy),
    .shared = share,
    .kernel = gscalar_kernel,
    .create = create,
    .counts = counts,
    .tally = gscalar_tally,
};
