/* The Affine GPU that WIR is compared with (Kim and Ro, section VII-A): a register whose lanes are base +
 * lane
 * * stride is stored as the tuple of both in one array of its bank, and sums and products of tuples are
 * computed on one lane. It saves energy, not time: nothing here changes a cycle or a value.
 *
 * Every logical register of a warp has a form, found from its value when an instruction of all 32 lanes
 * writes it. It is set when the instruction issues, which the scoreboard makes indistinguishable from when
 * its result is written; the forms of the sources go with the op, as a later instruction may overwrite them
 * before they are read. Beneath an owner of the registers the forms remain those of logical registers: the
 * README says why that is the same.
 *
 * Left out: lanes of instructions that write predicates or pairs of words, and tuples of part of a warp. */
#include <string.h>

#include "core/view.h"

enum { ALL_LANES = -1, TUPLE_ARRAYS = 1 };

/* How a register is stored. The order matters: each is a case of the one before. */
enum form { VECTOR, STRIDED, UNIFORM };

struct affine_params {
    bool floats;
    double pj_compare, pj_flag;
};

/* The README says where the figures are from. */
static const struct param params[] = {
    {"affine.floats", PARAM_AT(struct affine_params, floats), 0, 1, false, "",
     "Affine: floating-point add, sub, mul and mad work on one lane when every lane has the same operands."},
    {"affine.pj.compare", PARAM_AT(struct affine_params, pj_compare), 0, 1e6, 4, "pJ",
     "Affine: finding out whether a result is affine: 31 differences of neighbours, 30 comparisons of "
     "these."},
    {"affine.pj.flag", PARAM_AT(struct affine_params, pj_flag), 0, 1e6, 0.29, "pJ",
     "Affine: the bit that says how a register is stored, with each access of the register banks."},
};

struct affine_counters {
#define COUNTER(field, ...) uint64_t field;
#include "mech/affine/counters.def"
#undef COUNTER
};

static const struct counter_info counters[] = {
#define COUNTER(field, name, unit, help) {name, unit, help, offsetof(struct affine_counters, field)},
#include "mech/affine/counters.def"
#undef COUNTER
};

static const struct counter_rule counter_rules[] = {
#define RULE(left, relation, right, when) {left, #relation, right, when},
#include "mech/affine/rules.def"
#undef RULE
};

/* The paper gives no cost of the model's own circuits; ours is in the README. A tuple that is expanded is
 * read first. */
static const struct energy_event energy[] = {
    {ENERGY_MECHANISM, "affine.compares", "affine.pj.compare", ENERGY_PJ_FIXED},
    {ENERGY_MECHANISM, "rf.reads", "affine.pj.flag", ENERGY_PJ_FIXED},
    {ENERGY_MECHANISM, "rf.writes", "affine.pj.flag", ENERGY_PJ_FIXED},
    {ENERGY_REGISTER_FILE, "affine.expansions", "energy.rf.read", ENERGY_PJ},
};

/* What is known of an op in flight; sets are bits by source as it is read, or by word of the result. */
struct affine_op {
    uint16_t reads;           /* sources that are tuples */
    uint16_t writes, uniform; /* words of the result that are tuples; of stride 0 */
    uint16_t expands;         /* words that are written over a tuple, in part */
    bool one_lane, scalar;    /* works on one lane; with operands of stride 0 only */
};

struct affine {
    const struct sm *sm;
    bool floats, wrong;                    /* wrong: a lane that worked for all did not give a tuple */
    uint8_t form[CORE_MAX_WARPS][MAX_GPR]; /* enum form of each register */
    uint8_t was[CORE_MAX_WARPS][MAX_GPR];  /* before the instruction that wrote it last */
    struct affine_op *ops;                 /* by number of the SM's op */
    struct affine_counters n;
};

/* When an operation on tuples gives a tuple. */
enum rule {
    RULE_NONE,
    RULE_SUM,     /* always */
    RULE_PRODUCT, /* when one of the first two operands has stride 0 */
    RULE_SHIFT,   /* when the second has */
    RULE_UNIFORM, /* floating point: when all have */
};

static const uint8_t rules[OP_COUNT] = {
    [OP_MOV] = RULE_SUM,       [OP_IADD] = RULE_SUM,      [OP_IADD3] = RULE_SUM,
    [OP_LEA] = RULE_SUM,       [OP_ISUB] = RULE_SUM,      [OP_IMUL] = RULE_PRODUCT,
    [OP_IMAD] = RULE_PRODUCT,  [OP_SHL] = RULE_SHIFT,     [OP_FADD] = RULE_UNIFORM,
    [OP_FMUL] = RULE_UNIFORM,  [OP_FFMA] = RULE_UNIFORM,  [OP_DADD] = RULE_UNIFORM,
    [OP_DMUL] = RULE_UNIFORM,  [OP_DFMA] = RULE_UNIFORM,  [OP_HADD2] = RULE_UNIFORM,
    [OP_HSUB2] = RULE_UNIFORM, [OP_HMUL2] = RULE_UNIFORM, [OP_HFMA2] = RULE_UNIFORM,
};

static enum form form_of(const uint32_t v[WARP_LANES]) {
    uint32_t stride = v[1] - v[0], differ = 0;
    for (uint32_t l = 1; l < WARP_LANES - 1; l++)
        differ |= (v[l + 1] - v[l]) ^ stride;
    return differ ? VECTOR : stride ? STRIDED : UNIFORM;
}

/* The form of an operand's word; immediates and constants are the same for all lanes. */
static enum form operand(const uint8_t *form, const struct xinst *i, uint32_t k) {
    return i->s[k] & POOL ? UNIFORM : (enum form)form[i->s[k]];
}

/* Whether an instruction, for all lanes, gives a tuple whatever the values are; sets scalar. */
static bool gives_tuple(const struct affine *m, const uint8_t *form, const struct xinst *i, bool *scalar) {
    enum rule rule = rules[i->in->op];
    enum form least = UNIFORM;
    if (rule == RULE_NONE)
        return false;
    for (uint32_t k = 0; k < i->nsw; k++)
        least = operand(form, i, k) < least ? operand(form, i, k) : least;
    *scalar = least == UNIFORM;
    switch (rule) {
    case RULE_PRODUCT:
        return least && (operand(form, i, 0) == UNIFORM || operand(form, i, 1) == UNIFORM);
    case RULE_SHIFT:
        return least && operand(form, i, 1) == UNIFORM;
    case RULE_UNIFORM:
        return *scalar && m->floats;
    default:
        return least != VECTOR;
    }
}

static void issued(void *state, int32_t id) {
    struct affine *m = state;
    const struct sm *sm = m->sm;
    const struct core_op *op = &sm->ops[id];
    const struct core_need *need = op->need;
    uint8_t *form = m->form[op->warp], *was = m->was[op->warp];
    struct affine_op *o = &m->ops[id];
    bool full = op->mask == (uint32_t)ALL_LANES;
    *o = (struct affine_op){0};
    for (uint32_t k = 0; k < need->nreads; k++)
        o->reads |= (uint16_t)((form[need->reads[k]] != VECTOR) << k);
    o->one_lane = full && gives_tuple(m, form, op->i, &o->scalar);
    for (uint32_t k = 0; k < op->writes; k++) {
        uint32_t reg = op->i->d + k;
        enum form new = full ? form_of(sm->warps[op->warp].w->r[reg]) : VECTOR;
        m->wrong |= new == VECTOR && o->one_lane;
        was[reg] = form[reg];
        form[reg] = (uint8_t) new;
        o->writes |= (uint16_t)((new != VECTOR) << k);
        o->uniform |= (uint16_t)((new == UNIFORM) << k);
        o->expands |= (uint16_t)((!full && was[reg] != VECTOR) << k);
    }
    if (sm->mech.owns >> MECH_registers & 1)
        o->expands = 0; /* their owner copies the other lanes, with an op of its own */
}

/* Results of barriers and calls come without a word to the banks: they are vectors. */
static void control(void *state, uint32_t warp, const struct xinst *i, uint32_t mask) {
    struct affine *m = state;
    if (mask)
        memset(&m->form[warp][i->d], VECTOR, i->ndw);
}

static uint32_t read_arrays(struct affine *m, int32_t id, int32_t k, uint32_t arrays) {
    const struct core_op *op = &m->sm->ops[id];
    bool tuple;
    if (op->pc == CORE_NO_PC) /* a copy of what its register held before the instruction it is for */
        tuple = m->was[op->warp][op->i->d] != VECTOR;
    else if (k < 0) /* a register that may equal the word in work: one of another form cannot */
        tuple = m->ops[id].writes >> op->next_write & 1;
    else
        tuple = m->ops[id].reads >> k & 1;
    m->n.reads += tuple;
    m->n.vector_reads += !tuple;
    return tuple ? TUPLE_ARRAYS : arrays;
}

static uint32_t write_arrays(struct affine *m, int32_t id, uint32_t k, uint32_t arrays) {
    const struct core_op *op = &m->sm->ops[id];
    const struct affine_op *o = &m->ops[id];
    bool tuple = op->pc != CORE_NO_PC && o->writes >> k & 1, expands = o->expands >> k & 1;
    m->n.writes += tuple;
    m->n.uniform_writes += tuple && o->uniform >> k & 1;
    m->n.vector_writes += !tuple;
    m->n.divergent_writes += op->mask != (uint32_t)ALL_LANES;
    m->n.expansions += expands;
    return tuple ? TUPLE_ARRAYS : expands ? CORE_ARRAYS : arrays;
}

static uint32_t arrays(void *state, int32_t id, int32_t k, bool write, uint32_t arrays) {
    return write ? write_arrays(state, id, (uint32_t)k, arrays) : read_arrays(state, id, k, arrays);
}

static struct mech_work dispatch(void *state, int32_t id, struct mech_work work) {
    struct affine *m = state;
    const struct affine_op *o = &m->ops[id];
    if (m->sm->ops[id].pc == CORE_NO_PC || !o->one_lane)
        return work;
    m->n.insts++;
    m->n.uniform_insts += o->scalar;
    work.lanes = 1;
    return work;
}

static void result(void *state, int32_t id) {
    struct affine *m = state;
    const struct core_op *op = &m->sm->ops[id];
    if (op->mask == (uint32_t)ALL_LANES)
        m->n.compares += op->writes;
}

/* What a register holds before it is written is a vector. */
static void warp(void *state, uint32_t slot, bool enters) {
    struct affine *m = state;
    if (!enters)
        return;
    memset(m->form[slot], VECTOR, sizeof m->form[slot]);
    memset(m->was[slot], VECTOR, sizeof m->was[slot]);
}

static const char *finish(void *state, bool cut) {
    (void)cut;
    struct affine *m = state;
    bool wrong = m->wrong;
    m->wrong = false;
    return wrong ? "Affine: an instruction that worked on one lane did not give a tuple" : NULL;
}

static void *create(struct arena *a, const void *params, void *shared, struct sm *sm) {
    (void)shared;
    const struct affine_params *p = params;
    struct affine *m = arena_new(a, struct affine);
    m->sm = sm;
    m->floats = p->floats;
    m->ops = arena_array(a, struct affine_op, CORE_OPS);
    return m;
}

static const void *counts(const void *m) {
    return &((const struct affine *)m)->n;
}

const struct mechanism mech_affine = {
    .name = "affine",
    .help = "registers of constant stride as base and stride, computed on one lane",
    .order = 5,
    .points =
        {
            .life = {.finish = finish, .warp = warp},
            .watch = {.control = control, .issued = issued, .result = result, .every = true},
            .forms = {.arrays = arrays},
            .units = {.dispatch = dispatch},
        },
    .params = PARAM_TABLE(struct affine_params, params, NULL),
    .counters = COUNTER_TABLE_RULES(counters, counter_rules),
    .energy = ENERGY_TABLE(energy),
    .create = create,
    .counts = counts,
};
