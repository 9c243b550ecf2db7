/* CMRC as a mechanism (Radaideh and Gratz), its rivals and limits among its models: parameters, tables,
 * points. */
#include "mech/cmrc/cmrc.h"

#include <string.h>

static const char *const pairings[] = {
    [PAIR_ALL] = "all", [PAIR_READS] = "operands", [PAIR_ANY] = "any", [PAIR_IDEAL] = "ideal", NULL};
static const char *const signs[] = {
    [SIGN_UNIFORM] = "uniform", [SIGN_THREAD] = "thread", [SIGN_FILL] = "fill", NULL};

static const struct param params[] = {
    {"cmrc.pairing", PARAM_AT(struct cmrc_params, pairing), PAIR_ALL, PAIR_IDEAL, PAIR_ALL, "",
     "CMRC: which two accesses a bank serves in a cycle: all, whose sub-banks differ; operands, of one "
     "instruction, as CORF; any, whatever their sub-banks; ideal, everything that waits.",
     pairings},
    {"cmrc.sign", PARAM_AT(struct cmrc_params, sign), SIGN_UNIFORM, SIGN_FILL, SIGN_UNIFORM, "",
     "CMRC: planes that are not stored: uniform, all zeros or all ones with the sign below; thread, each "
     "lane's own sign; fill, all zeros or all ones, with one bit more for each register.",
     signs},
    {"cmrc.depth", PARAM_AT(struct cmrc_params, depth), 1, 1024, 1024, "requests",
     "CMRC: requests of a bank, of each kind, among which one to be served and a partner are looked for."},
    {"cmrc.latency", PARAM_AT(struct cmrc_params, latency), 0, 16, 0, "cycles",
     "CMRC: added to every instruction, for widths and swapped bytes; the paper has none."},
    {"cmrc.omit", PARAM_AT(struct cmrc_params, omit), 0, 63, 0, "",
     "CMRC: rules left out, for tests: bits of enum cmrc_rule."},
    {"cmrc.pj.control", PARAM_AT(struct cmrc_params, pj_control), 0, 1e6, 9.1, "pJ",
     "CMRC: width, multiplexers and controls of an access: 2% of a register's read, the bound of Section "
     "IV-C."},
    {"cmrc.pj.unsent", PARAM_AT(struct cmrc_params, pj_unsent), -1e6, 0, -7.75, "pJ",
     "CMRC: what the crossbar does not spend on an array's bytes that are not sent: an eighth of 62 pJ."},
};

static const struct counter_info counters[] = {
#define COUNTER(field, name, unit, help) {name, unit, help, offsetof(struct cmrc_counters, field)},
#include "mech/cmrc/counters.def"
#undef COUNTER
};

static const struct counter_rule counter_rules[] = {
#define RULE(left, relation, right, when) {left, #relation, right, when},
#include "mech/cmrc/rules.def"
#undef RULE
};

static const struct energy_event energy[] = {
    {ENERGY_MECHANISM, "rf.reads", "cmrc.pj.control", ENERGY_PJ},
    {ENERGY_MECHANISM, "rf.writes", "cmrc.pj.control", ENERGY_PJ},
    {ENERGY_MECHANISM, "cmrc.expansions", "cmrc.pj.control", ENERGY_PJ},
    {ENERGY_REGISTER_FILE, "cmrc.expansions.arrays", "energy.rf.read", ENERGY_PJ},
    {ENERGY_COLLECTORS, "cmrc.unsent", "cmrc.pj.unsent", ENERGY_PJ},
};

static const struct mech_model models[] = {
    {"corf", "two narrow operands of one instruction share a port; registers are not renamed",
     MECH_SETTINGS("cmrc.pairing=operands")},
    {"cmrc-bound", "any two accesses share a port", MECH_SETTINGS("cmrc.pairing=any")},
    {"rf-ideal", "no port conflicts, of banks or collectors",
     MECH_SETTINGS("cmrc.pairing=ideal", "cmrc.pj.control=0")},
    {0},
};

static void *create(struct arena *a, const void *params, void *shared, struct sm *sm) {
    (void)shared;
    struct cmrc *m = arena_new(a, struct cmrc);
    enum { PLACES = CORE_NO_PLACE + 1 };
    m->sm = sm;
    m->params = params;
    m->regs = arena_array(a, struct cmrc_reg, PLACES);
    m->kept = arena_array(a, uint8_t, PLACES);
    m->slots = arena_array(a, uint16_t, PLACES);
    m->odd = arena_array(a, bool, PLACES);
    m->ops = arena_array(a, struct cmrc_op, CORE_OPS + 1) + 1;
    m->frozen = arena_array(a, uint8_t, sm->nreads);
    uint64_t *const by_width[] = {NULL, &m->n.width1, &m->n.width2, &m->n.width3, &m->n.width4};
    for (uint32_t mask = 0; mask < 1 << CMRC_FULL; mask++)
        m->by_mask[mask] = by_width[__builtin_popcount(mask)];
    return m;
}

/* Registers that a warp takes: spread over the banks, two warps must not come to share an entry. */
static uint32_t padded(const struct cmrc *m, uint32_t regs) {
    uint32_t banks = m->sm->spec->banks;
    if (m->sm->spec->mapping == MAP_WID || !cmrc_keeps(m, CM_PAD))
        return regs;
    return regs % banks < 2 ? regs : (regs + banks - 1) / banks * banks;
}

static void start(void *state, const void *marks) {
    (void)marks;
    struct cmrc *m = state;
    m->owned = m->sm->mech.owns >> MECH_registers & 1;
    m->usual =
        !m->owned && !m->params->omit && m->params->pairing == PAIR_ALL && m->params->depth >= CORE_OPS;
    m->copied = CMRC_ALONE && m->usual && !m->params->latency && !m->sm->check.on && !m->sm->ports;
    if (!m->copied)
        core_leave_copy(m->sm);
    m->reads_before = m->sm->n.rf_reads;
    m->writes_before = m->sm->n.rf_writes;
    m->before = m->n;
    memset(m->frozen, 0, m->nfrozen ? m->sm->nreads : 0);
    m->nfrozen = 0;
    m->regs_of_warp = padded(m, m->sm->x->img->prog->nregs);
    cmrc_lay_out(m);
    m->warps = 0;
    m->refuses = false;
    m->wrong = NULL;
    core_ignore(m->sm, m, MECH_AT_watch_retire);    /* who is alone has all results written ... */
    core_ignore(m->sm, m, MECH_AT_watch_collected); /* ... and all operands read at once */
    if (!m->params->latency)
        core_ignore(m->sm, m, MECH_AT_watch_issued);
}

/* A block needs the padding, too. How often this is asked is the SM's affair: each wait counts once. */
static bool admit(void *state, uint32_t warps) {
    struct cmrc *m = state;
    bool fits = m->owned || !m->warps || m->params->pairing == PAIR_IDEAL ||
                (m->warps + warps) * m->regs_of_warp <= m->sm->spec->registers;
    m->n.refused += !fits && !m->refuses;
    m->refuses = !fits;
    return fits;
}

/* What a register holds before it is written is in its latch. */
static void warp(void *state, uint32_t slot, bool enters) {
    struct cmrc *m = state;
    m->warps += enters ? 1 : UINT32_MAX;
    if (!enters)
        return;
    for (uint32_t r = 0; r < m->sm->x->img->prog->nregs; r++) {
        uint32_t place = core_holds(m->sm, slot, r);
        if (place != CORE_NO_PLACE)
            cmrc_unlearn(m, place);
    }
    memset(m->raw[slot], 0, sizeof m->raw[slot]);
}

/* Results of barriers and calls come without a word to the banks. */
static void control(void *state, uint32_t slot, const struct xinst *i, uint32_t mask) {
    if (CMRC_ALONE && mask && i->ndw)
        cmrc_freeze(state, slot, i->d, i->ndw);
    if (mask)
        cmrc_forget(state, slot, i->d, i->ndw);
}

/* A result that somebody supplied was not written to its bank. */
static void retire(void *state, int32_t id) {
    struct cmrc *m = state;
    const struct core_op *op = &m->sm->ops[id];
    if (op->pc != CORE_NO_PC && !m->owned && op->next_write < op->writes)
        cmrc_forget(m, op->warp, op->i->d + op->next_write, op->writes - op->next_write);
}

static const char *finish(void *state, bool cut) {
    (void)cut;
    return ((struct cmrc *)state)->wrong;
}

static const void *counts(const void *m) {
    return &((const struct cmrc *)m)->n;
}

const struct mechanism mech_cmrc = {
    .name = "cmrc",
    .help = "registers in planes of bytes; two narrow accesses share a port",
    .models = models,
    .order = 30,
    .points =
        {
            .life = {.start = start,
                     .finish = finish,
                     .admit = admit,
                     .warp = warp,
                     .apart = true,
                     .beside = true,
                     .ignores = UINT64_C(1) << MECH_AT_watch_collected | UINT64_C(1) << MECH_AT_watch_retire},
            .watch = {.control = control,
                      .issued = cmrc_issued,
                      .collected = cmrc_collected,
                      .retire = retire,
                      .places = true},
            .values = {.sources = CMRC_ALONE ? NULL : cmrc_sources},
            .banks = {.arbitrate = cmrc_arbitrate, .write = cmrc_write_now, .lone = true},
            .forms = {.arrays = cmrc_arrays},
        },
    .params = PARAM_TABLE(struct cmrc_params, params, NULL),
    .counters = COUNTER_TABLE_RULES(counters, counter_rules),
    .energy = ENERGY_TABLE(energy),
    .create = create,
    .counts = counts,
    .tally = cmrc_tally,
};
