/* Uniform Vector (UV), as DARSIE is compared with it (section 5 there, after Xiang et al., "Exploiting
 * uniform vector instructions for GPGPU performance, energy efficiency, and opportunistic reliability
 * enhancement", ICS 2013): an instruction whose operands have one value in all lanes is not executed if a
 * warp of the same block has executed it with the same operands. It has been fetched and decoded, and takes
 * its issue slot.
 *
 * The reuse buffer is direct-mapped by address of the instruction and slot of the block; an entry is the
 * instruction, one word for each operand, and one for the result. It is reserved when an instruction misses,
 * and can be used when that has its result. Values are compared, so that nothing else has to be ordered.
 *
 * Left out, as by its authors: memory operations. Ours: results of more than one word, predicates. */
#include <string.h>

#include "mech/mechanism.h"
#include "mech/uv/uv.h"

enum { SOURCES = 4, ALL_LANES = -1 };

struct uv_params {
    int32_t entries;
    double pj_lookup;
};

static const struct param params[] = {
    {"uv.entries", PARAM_AT(struct uv_params, entries), 1, 65536, 256, "entries",
     "UV: entries of the reuse buffer of an SM."},
    {"uv.pj.lookup", PARAM_AT(struct uv_params, pj_lookup), 0, 1e6, 4.71, "pJ",
     "UV: an access to the reuse buffer; that of WIR's, which has as many entries."},
};

struct uv_entry {
    const struct xinst *i; /* NULL: empty */
    uint32_t block;
    int32_t op; /* that computes the result; CORE_NONE: it is there */
    uint32_t source[SOURCES], result;
};

struct uv {
    struct sm *sm;
    const struct uv_params *params;
    const bool *fits; /* by instruction of the launch */
    struct uv_entry *table;
    uint32_t source[SOURCES]; /* of the instruction that is about to take effect, if uniform */
    bool uniform;
    uint64_t lookups, hits, writes;
};

bool uv_fits(const struct xinst *i) {
    return i->kind == X_ALU && opkey_basis(i) == BASIS_INPUTS && i->ndw == 1 && i->nsw <= SOURCES &&
           (i->pd[0] & i->pd[1] & i->ps[0] & i->ps[1]) == PRED_PT;
}

static const void *kernel(void *shared, struct arena *launch, const struct image *img) {
    (void)shared;
    bool *fits = arena_array(launch, bool, img->ncode + 1);
    for (uint32_t pc = 0; pc < img->ncode; pc++)
        fits[pc] = uv_fits(&img->code[pc]);
    return fits;
}

static void start(void *m, const void *marks) {
    struct uv *u = m;
    u->fits = marks;
    memset(u->table, 0, (size_t)u->params->entries * sizeof *u->table);
}

/* A block leaves: what its warps computed is nobody's any more. */
static void block(void *m, uint32_t slot, bool enters) {
    struct uv *u = m;
    for (uint32_t k = 0; !enters && k < (uint32_t)u->params->entries; k++)
        if (u->table[k].block == slot)
            u->table[k].i = NULL;
}

static bool is_uniform(const uint32_t *v) {
    uint32_t differ = 0;
    for (uint32_t l = 1; l < WARP_LANES; l++)
        differ |= v[l] ^ v[0];
    return !differ;
}

static void before(void *m, uint32_t warp, const struct xinst *i, uint32_t mask) {
    struct uv *u = m;
    const struct core_warp *cw = &u->sm->warps[warp];
    u->uniform = mask == (uint32_t)ALL_LANES && u->fits[cw->next];
    for (uint32_t k = 0; u->uniform && k < i->nsw; k++) {
        const uint32_t *v = src_lanes(cw->x, cw->w, i->s[k]);
        u->source[k] = v[0];
        u->uniform = is_uniform(v);
    }
}

static struct uv_entry *entry_of(struct uv *u, const struct core_op *o) {
    uint32_t block = u->sm->warps[o->warp].block;
    return &u->table[((uint32_t)o->pc + block * 37) % (uint32_t)u->params->entries];
}

static enum mech_verdict take(void *m, int32_t op, uint64_t now) {
    (void)now;
    struct uv *u = m;
    const struct core_op *o = &u->sm->ops[op];
    uint32_t block = u->sm->warps[o->warp].block;
    if (!u->uniform)
        return MECH_PASS;
    struct uv_entry *e = entry_of(u, o);
    u->lookups++;
    if (e->i != o->i || e->block != block || memcmp(e->source, u->source, o->i->nsw * sizeof e->source[0])) {
        *e = (struct uv_entry){.i = o->i, .block = block, .op = op};
        memcpy(e->source, u->source, sizeof e->source);
    } else if (e->op == CORE_NONE) {
        uint32_t value[WARP_LANES];
        for (uint32_t l = 0; l < WARP_LANES; l++)
            value[l] = e->result;
        u->hits++;
        core_supply(u->sm, op, value);
        return MECH_TAKEN;
    }
    return MECH_PASS;
}

static void result(void *m, int32_t op) {
    struct uv *u = m;
    const struct core_op *o = &u->sm->ops[op];
    if (o->pc == CORE_NO_PC)
        return;
    struct uv_entry *e = entry_of(u, o);
    if (e->i == o->i && e->op == op) {
        e->result = u->sm->warps[o->warp].w->r[o->i->d][0];
        e->op = CORE_NONE;
        u->writes++;
    }
}

static void *create(struct arena *a, const void *params, void *shared, struct sm *sm) {
    struct uv *u = arena_new(a, struct uv);
    (void)shared;
    *u = (struct uv){.sm = sm, .params = params};
    u->table = arena_array(a, struct uv_entry, u->params->entries);
    return u;
}

static const struct counter_info counters[] = {
    {"uv.lookups", "instructions", "instructions with uniform operands, looked up in the reuse buffer",
     offsetof(struct uv, lookups)},
    {"uv.hits", "instructions", "... not executed, because a warp of the block had",
     offsetof(struct uv, hits)},
    {"uv.writes", "accesses", "results entered in the reuse buffer", offsetof(struct uv, writes)},
};

static const struct counter_rule counter_rules[] = {
#define RULE(left, relation, right, when) {left, #relation, right, when},
#include "mech/uv/rules.def"
#undef RULE
};
static const struct energy_event energy[] = {
    {ENERGY_MECHANISM, "uv.lookups", "uv.pj.lookup", ENERGY_PJ_FIXED},
    {ENERGY_MECHANISM, "uv.writes", "uv.pj.lookup", ENERGY_PJ_FIXED},
};

MECHANISM(uv) = {
    .name = "uv",
    .help = "Uniform Vector: repeats of uniform operands in a block are not executed",
    .order = 20,
    .points = {.life = {.start = start, .block = block, .apart = true},
               .watch = {.before = before, .result = result},
               .front = {.take = take}},
    .params = PARAM_TABLE(struct uv_params, params, NULL),
    .counters = COUNTER_TABLE_RULES(counters, counter_rules),
    .energy = ENERGY_TABLE(energy),
    .kernel = kernel,
    .create = create,
};
