/* CAE, compact affine execution: the affine datapath of Kim et al. (ISCA 2013) as DAC is compared with it.
 * Registers whose lanes are base + lane x stride are tuples; an instruction of a whole warp all of whose
 * operands are such, and whose operation has a rule for them, goes to an affine unit: it takes a cycle
 * instead of two, and no operand collector. Where others need the lanes, the tuple is expanded first.
 * README.md has what is decided here. */
#include "mech/mechanism.h"

#include <string.h>

struct cae_params {
    double pj_unit, pj_tuple;
};
static const struct param params[] = {
    {"cae.pj.unit", PARAM_AT(struct cae_params, pj_unit), 0, 1e6, 4, "pJ",
     "CAE: an operation of an affine unit: base and stride, two lanes of an integer multiply-add."},
    {"cae.pj.tuple", PARAM_AT(struct cae_params, pj_tuple), 0, 1e6, 3.4, "pJ",
     "CAE: an access to the tuples of registers, of the size of DAC's address queue."},
};

/* What a register is known to be. */
struct cae_tuple {
    bool known, lanes; /* lanes: it has been written out to the lanes, too */
    uint32_t base, stride;
};
struct cae {
    struct sm *sm;
    const struct cae_params *params;
    struct cae_tuple (*regs)[MAX_GPR + 1]; /* by warp */
    uint32_t slots;                        /* that expansions still take */
    uint64_t executed, scalar, expansions, accesses, reads, writes;
};

static struct cae_tuple scalar(uint32_t x) {
    return (struct cae_tuple){.known = true, .base = x};
}

static struct cae_tuple source(const struct cae *c, const struct core_op *o, uint32_t k) {
    uint32_t s = o->i->s[k];
    return s & POOL ? scalar(c->sm->warps[o->warp].x->pool[s & ~POOL][0]) : c->regs[o->warp][s];
}

/* The warp is one row of its block, or a part of one: then tid.x grows by one from lane to lane. */
static bool one_row(const struct cae *c) {
    return c->sm->x->block[0] % WARP_LANES == 0;
}

static bool special(const struct cae *c, const struct core_op *o, struct cae_tuple *r) {
    uint32_t mode = o->i->in->m.mode;
    if (mode > SR_CTAID_Z || (mode <= SR_TID_Z && !one_row(c)))
        return false;
    r->known = true;
    r->base = c->sm->warps[o->warp].w->r[o->i->d][0];
    r->stride = mode == SR_TID_X;
    return true;
}

static bool product(struct cae_tuple a, struct cae_tuple b, struct cae_tuple *r) {
    if (a.stride && b.stride)
        return false;
    *r = (struct cae_tuple){
        .known = true, .base = a.base * b.base, .stride = a.stride * b.base + b.stride * a.base};
    return true;
}

/* The result of an operation on tuples; false: there is no rule for it. */
static bool compute(const struct cae *c, const struct core_op *o, struct cae_tuple *r) {
    struct cae_tuple s[3] = {{0}};
    if (o->i->kind == X_S2R)
        return special(c, o, r);
    if (o->i->kind != X_ALU || o->i->nsw > 3 || o->i->ndw != 1)
        return false;
    for (uint32_t k = 0; k < o->i->nsw; k++) {
        s[k] = source(c, o, k);
        if (!s[k].known)
            return false;
    }
    *r = scalar(0);
    switch ((enum op)o->i->in->op) {
    case OP_MOV:
        *r = s[0];
        r->lanes = false;
        return true;
    case OP_NOT:
        *r = (struct cae_tuple){.known = true, .base = ~s[0].base, .stride = 0u - s[0].stride};
        return true;
    case OP_IADD:
        *r = (struct cae_tuple){
            .known = true, .base = s[0].base + s[1].base, .stride = s[0].stride + s[1].stride};
        return true;
    case OP_ISUB:
        *r = (struct cae_tuple){
            .known = true, .base = s[0].base - s[1].base, .stride = s[0].stride - s[1].stride};
        return true;
    case OP_IMUL:
        return product(s[0], s[1], r);
    case OP_IMAD:
        if (!product(s[0], s[1], r))
            return false;
        r->base += s[2].base;
        r->stride += s[2].stride;
        return true;
    case OP_SHL:
        return !s[1].stride && product(s[0], scalar(s[1].base > 31 ? 0 : 1u << s[1].base), r);
    case OP_AND:
    case OP_OR:
    case OP_XOR:
    case OP_SHR: /* of scalars alone, as exec computed it */
        if (s[0].stride | s[1].stride)
            return false;
        *r = scalar(c->sm->warps[o->warp].w->r[o->i->d][0]);
        return true;
    default:
        return false;
    }
}

/* A value of a tuple, as a comparison reads it; false if it wraps around between the first and last lane. */
static bool ends(struct cae_tuple t, bool sgn, int64_t *first, int64_t *last) {
    *first = sgn ? (int64_t)(int32_t)t.base : (int64_t)t.base;
    *last = *first + (int64_t)(int32_t)t.stride * (WARP_LANES - 1);
    return sgn ? *last >= INT32_MIN && *last <= INT32_MAX : *last >= 0 && *last <= UINT32_MAX;
}

/* A comparison with a scalar that comes out alike in the first and the last lane, and so in all. */
static bool compares(const struct cae *c, const struct core_op *o) {
    int64_t first[2], last[2];
    struct cae_tuple s[2];
    if (o->i->in->op != OP_ISETP)
        return false;
    for (uint32_t k = 0; k < 2; k++) {
        s[k] = source(c, o, k);
        if (!s[k].known || !ends(s[k], o->i->in->m.sgn, &first[k], &last[k]))
            return false;
    }
    int64_t before = first[0] - first[1], behind = last[0] - last[1];
    return !(s[0].stride && s[1].stride) && (before > 0) == (behind > 0) && (before < 0) == (behind < 0);
}

/* Lanes of a register are needed: the tuple is written out by an instruction on the lanes, once; it stays
 * what it is. */
static void expand(struct cae *c, uint32_t warp, uint32_t reg, int32_t op) {
    struct cae_tuple *t = &c->regs[warp][reg];
    if (!t->known || t->lanes)
        return;
    t->lanes = true;
    c->expansions++;
    c->slots++;
    core_delay(c->sm, op, c->sm->spec->units[UNIT_SP].interval);
}

/* Addresses that are tuples are taken as such; everything else needs lanes. */
static void expand_sources(struct cae *c, int32_t op) {
    const struct core_op *o = &c->sm->ops[op];
    bool memory = o->need->memory && o->i->kind != X_TEX;
    uint32_t first = memory ? o->i->in->m.a64 ? 2 : 1 : 0;
    for (uint32_t k = first; k < o->i->nsw; k++)
        if (!(o->i->s[k] & POOL))
            expand(c, o->warp, o->i->s[k], op);
}

/* The address of an access is a tuple; same: all lanes load the same word. In local memory, to which generic
 * addresses may lead, too, each has its own. */
static bool address_known(const struct cae *c, const struct core_op *o, bool *same) {
    if (!o->need->memory || o->i->kind == X_TEX)
        return false;
    uint32_t words = o->i->in->m.a64 ? 2 : 1;
    uint32_t space = o->i->in->m.space;
    *same = o->i->kind == X_LDC || (o->i->kind == X_LOAD && (space == MS_GLOBAL || space == MS_SHARED));
    for (uint32_t k = 0; k < words && k < o->i->nsw; k++) {
        struct cae_tuple s = source(c, o, k);
        if (!s.known)
            return *same = false;
        *same &= !s.stride;
    }
    return true;
}

static enum mech_verdict take(void *m, int32_t op, uint64_t now) {
    struct cae *c = m;
    bool same = false;
    const struct core_op *o = &c->sm->ops[op];
    bool whole = o->mask == UINT32_MAX, predicate = whole && compares(c, o);
    struct cae_tuple r = {0};
    if (predicate || (whole && compute(c, o, &r))) {
        c->executed++;
        c->scalar += !r.stride;
        c->reads += o->need->nreads;
        if (!predicate) {
            uint32_t value[WARP_LANES];
            for (uint32_t l = 0; l < WARP_LANES; l++)
                value[l] = r.base + r.stride * l;
            core_give(c->sm, op, value);
            c->regs[o->warp][o->i->d] = r;
            c->writes++;
        }
        uint32_t latency = c->sm->spec->latency[op_info[o->i->in->op].latency];
        core_finish(c->sm, op, now + (latency > 2 ? latency - 1 : 1)); /* as on the lanes */
        return MECH_TAKEN;
    }
    bool tuple = address_known(c, o, &same);
    c->accesses += whole && tuple;
    expand_sources(c, op);
    for (uint32_t k = 0; k < o->i->ndw; k++) {
        struct cae_tuple *t = &c->regs[o->warp][o->i->d + k];
        if (!whole) /* other lanes of the tuple stay, which must be there */
            expand(c, o->warp, o->i->d + k, op);
        *t = (struct cae_tuple){0};
        if (whole && same && o->need->load) /* all lanes get the same word, which is on the lanes */
            *t = (struct cae_tuple){
                .known = true, .lanes = true, .base = c->sm->warps[o->warp].w->r[o->i->d + k][0]};
    }
    return MECH_PASS;
}

static void control(void *m, uint32_t warp, const struct xinst *i, uint32_t mask) {
    struct cae *c = m;
    (void)mask;
    for (uint32_t k = 0; k < i->ndw; k++)
        c->regs[warp][i->d + k].known = false;
}

static void warp(void *m, uint32_t slot, bool enters) {
    struct cae *c = m;
    if (enters)
        memset(c->regs[slot], 0, sizeof c->regs[slot]);
}

static uint32_t slots(void *m, uint32_t sched, uint32_t free, uint64_t now) {
    struct cae *c = m;
    (void)sched, (void)free, (void)now;
    if (!c->slots)
        return 0;
    c->slots--;
    return 1;
}

static void *create(struct arena *a, const void *values, void *shared, struct sm *sm) {
    struct cae *c = arena_new(a, struct cae);
    (void)shared;
    *c = (struct cae){.sm = sm, .params = values};
    c->regs = arena_alloc(a, CORE_MAX_WARPS * sizeof *c->regs);
    return c;
}

static const struct counter_info counters[] = {
    {"cae.executed", "instructions", "instructions on the affine units", offsetof(struct cae, executed)},
    {"cae.scalar", "instructions", "... whose result is the same in all lanes", offsetof(struct cae, scalar)},
    {"cae.expansions", "instructions",
     "expansions of tuples to lanes, which are no instructions of the program",
     offsetof(struct cae, expansions)},
    {"cae.accesses", "instructions", "accesses of whole warps whose address is a tuple",
     offsetof(struct cae, accesses)},
    {"cae.reads", "accesses", "tuples read by affine units", offsetof(struct cae, reads)},
    {"cae.writes", "accesses", "tuples written by affine units", offsetof(struct cae, writes)},
};
static const struct energy_event energy[] = {
    {ENERGY_MECHANISM, "cae.executed", "cae.pj.unit", ENERGY_PJ_FIXED},
    {ENERGY_MECHANISM, "cae.reads", "cae.pj.tuple", ENERGY_PJ_FIXED},
    {ENERGY_MECHANISM, "cae.writes", "cae.pj.tuple", ENERGY_PJ_FIXED},
};
MECHANISM(cae) = {
    .name = "cae",
    .help = "Compact affine execution: affine operands go to units of their own",
    .order = 21,
    .points = {.life = {.warp = warp},
               .watch = {.control = control, .every = true},
               .gate = {.slots = slots},
               .front = {.take = take}},
    .params = PARAM_TABLE(struct cae_params, params, NULL),
    .counters = COUNTER_TABLE(counters),
    .energy = ENERGY_TABLE(energy),
    .create = create,
};
