/* DAC-IDEAL, as DARSIE is compared with it (section 5 there): decoupled affine computation (Wang and Lin,
 * HPCA 2017) without its costs. An instruction whose operands and result are base + lane x stride in a warp
 * is affine. One warp of a block executes it, for the rest it is gone before it is fetched, and nobody waits
 * for anything.
 *
 * Found at run time: the first warp of a block that comes to an instruction executes it from then on, as long
 * as it lives, and what its operands look like says whether the others do. What these do not execute takes
 * effect when their path passes over it, with their own operands: values are the program's. If a warp's
 * operands turn out not to be affine, then that instruction was removed wrongly; it is counted, and the
 * others execute it until the leader finds it affine again.
 *
 * Rows of 16 threads are two to a warp: tid.x is no base and stride then, and what depends on it stays.
 * Memory operations, guarded instructions, predicates and diverged warps stay, too. */
#include <string.h>

#include "exec/opkey.h"
#include "mech/mechanism.h"

enum { ALL_LANES = -1, SOURCES = 8, CODE = 4096 /* instructions of a kernel that are looked at */ };
enum { NO_LEADER = 0xff };

/* What is known of an instruction in a block. */
struct dac_inst {
    uint8_t leader; /* warp slot, or NO_LEADER */
    bool affine;    /* as the leader last found it */
};

struct dac_ideal {
    struct sm *sm;
    const bool *fits;            /* by instruction of the launch */
    struct dac_inst (*at)[CODE]; /* by block slot */
    bool sources;                /* of the instruction that is about to take effect: they are affine */
    uint64_t removed, fetched, wrong;
};

/* One register comes out of registers, constants and indices of threads. */
static const void *kernel(void *shared, struct arena *launch, const struct image *img) {
    (void)shared;
    bool *fits = arena_array(launch, bool, img->ncode + 1);
    for (uint32_t pc = 0; pc < img->ncode && pc < CODE; pc++) {
        const struct xinst *i = &img->code[pc];
        bool index = i->kind == X_S2R && i->in->m.mode <= SR_CTAID_Z;
        fits[pc] = (index || (i->kind == X_ALU && opkey_basis(i) == BASIS_INPUTS)) && i->ndw == 1 &&
                   i->nsw <= SOURCES && i->guard == PRED_PT && !i->gneg &&
                   (i->pd[0] & i->pd[1] & i->ps[0] & i->ps[1]) == PRED_PT;
    }
    return fits;
}

static void start(void *m, const void *marks) {
    ((struct dac_ideal *)m)->fits = marks;
}

static void block(void *m, uint32_t slot, bool enters) {
    struct dac_ideal *d = m;
    for (uint32_t pc = 0; enters && pc < CODE; pc++)
        d->at[slot][pc] = (struct dac_inst){.leader = NO_LEADER};
}

static void warp(void *m, uint32_t slot, bool enters) {
    struct dac_ideal *d = m;
    struct dac_inst *at = d->at[d->sm->warps[slot].block];
    for (uint32_t pc = 0; !enters && pc < CODE; pc++)
        if (at[pc].leader == slot)
            at[pc] = (struct dac_inst){.leader = NO_LEADER};
}

static bool is_affine(const uint32_t *v) {
    uint32_t stride = v[1] - v[0], differ = 0;
    for (uint32_t l = 2; l < WARP_LANES; l++)
        differ |= v[l] - v[l - 1] - stride;
    return !differ;
}

static bool sources_affine(const struct core_warp *cw, const struct xinst *i) {
    bool all = true;
    for (uint32_t k = 0; k < i->nsw; k++)
        all &= is_affine(src_lanes(cw->x, cw->w, i->s[k]));
    return all;
}

static bool is_whole(const struct core_warp *cw) {
    return cw->w->live == UINT32_MAX && cw->w->depth == 1;
}

static void before(void *m, uint32_t slot, const struct xinst *i, uint32_t mask) {
    struct dac_ideal *d = m;
    const struct core_warp *cw = &d->sm->warps[slot];
    d->sources = d->fits[cw->next] && mask == (uint32_t)ALL_LANES && sources_affine(cw, i);
}

/* An instruction was executed: its warp leads, unless another does. */
static void issued(void *m, int32_t op) {
    struct dac_ideal *d = m;
    const struct core_op *o = &d->sm->ops[op];
    const struct core_warp *cw = &d->sm->warps[o->warp];
    if (!d->fits[o->pc])
        return;
    struct dac_inst *at = &d->at[cw->block][o->pc];
    if (at->leader == NO_LEADER)
        at->leader = (uint8_t)o->warp;
    if (at->leader == o->warp)
        at->affine = d->sources && is_affine(cw->w->r[o->i->d]);
}

static bool removable(const struct dac_ideal *d, uint32_t slot, uint32_t pc) {
    const struct core_warp *cw = &d->sm->warps[slot];
    if (!d->fits[pc] || !is_whole(cw))
        return false;
    const struct dac_inst *at = &d->at[cw->block][pc];
    return at->affine && at->leader != slot;
}

/* All that can be removed up to the next control instruction is. */
static uint64_t fetch(void *m, uint64_t wanting, uint64_t now) {
    (void)now;
    struct dac_ideal *d = m;
    struct sm *sm = d->sm;
    for (uint64_t left = wanting; left; left &= left - 1) {
        uint32_t slot = (uint32_t)__builtin_ctzll(left);
        const struct core_warp *cw = &sm->warps[slot];
        if (!core_can_skip(sm, slot))
            continue;
        for (uint32_t pc = cw->fetch_pc; pc < cw->ncode && !cw->needs[pc].control; pc++) {
            if (pc - cw->fetch_pc >= CORE_AHEAD)
                break;
            if (pc >= cw->fetch_pc && !(cw->skips >> (pc - cw->fetch_pc) & 1) && removable(d, slot, pc)) {
                core_skip(sm, slot, pc);
                d->removed++;
            }
        }
    }
    return wanting;
}

static enum mech_decode decoded(void *m, uint32_t slot, uint32_t pc, uint64_t now) {
    (void)now;
    struct dac_ideal *d = m;
    const struct core_warp *cw = &d->sm->warps[slot];
    for (uint32_t k = 0; k < cw->buffered; k++)
        if (cw->needs[cw->buffer[(cw->first + k) % CORE_BUFFER]].control)
            return DECODE_KEEP;
    if ((d->sm->blocked >> slot & 1) || !removable(d, slot, pc))
        return DECODE_KEEP;
    d->fetched++;
    return DECODE_DROP;
}

/* It takes effect, and is counted as no instruction that was executed. */
static void passed(void *m, uint32_t slot, uint32_t pc) {
    struct dac_ideal *d = m;
    struct core_warp *cw = &d->sm->warps[slot];
    const struct xinst *i = &cw->x->img->code[pc];
    bool affine = sources_affine(cw, i);
    warp_step(cw->x, cw->w);
    cw->x->warp_insts--;
    cw->x->thread_insts -= WARP_LANES;
    cw->x->executed[pc]--;
    if (affine && is_affine(cw->w->r[i->d]))
        return;
    d->wrong++;
    d->at[cw->block][pc].affine = false;
}

static void *create(struct arena *a, const void *params, void *shared, struct sm *sm) {
    struct dac_ideal *d = arena_new(a, struct dac_ideal);
    (void)params;
    (void)shared;
    d->sm = sm;
    d->at = arena_alloc(a, sm->spec->blocks * sizeof *d->at);
    return d;
}

static const struct counter_info counters[] = {
    {"dac_ideal.removed", "instructions", "affine instructions that a warp did not fetch",
     offsetof(struct dac_ideal, removed)},
    {"dac_ideal.dropped", "instructions", "... that it had fetched, and dropped",
     offsetof(struct dac_ideal, fetched)},
    {"dac_ideal.wrong", "instructions", "... whose operands turned out not to be affine",
     offsetof(struct dac_ideal, wrong)},
};

static const struct counter_rule counter_rules[] = {
#define RULE(left, relation, right, when) {left, #relation, right, when},
#include "mech/dac_ideal/rules.def"
#undef RULE
};

MECHANISM(dac_ideal) = {
    .name = "dac-ideal",
    .help = "DAC without its costs: affine instructions once in a block",
    .order = 15,
    .points = {.life = {.start = start, .block = block, .warp = warp},
               .watch = {.before = before, .issued = issued},
               .stream = {.fetch = fetch, .decoded = decoded, .passed = passed}},
    .counters = COUNTER_TABLE_RULES(counters, counter_rules),
    .kernel = kernel,
    .create = create,
};
