/* DARSIE as a mechanism: its parameters, its state, blocks and warps that come and go. */
#include "mech/darsie/darsie.h"

#include <stddef.h>
#include <string.h>

#include "mech/mechanism.h"

/* The README says where the energies are from. */
static const struct param params[] = {
    {"darsie.entries", PARAM_AT(struct darsie_params, entries), 1, 32, 8, "entries",
     "DARSIE: entries of the PC skip table for each block."},
    {"darsie.registers", PARAM_AT(struct darsie_params, registers), 0, DARSIE_MOST, 32, "registers",
     "DARSIE: warp registers for renamed values of each block, at most; as many as can be had without fewer "
     "blocks on an SM."},
    {"darsie.ports", PARAM_AT(struct darsie_params, ports), 1, DARSIE_MOST, 2, "lookups",
     "DARSIE: different instructions that the PC coalescer looks up in a cycle."},
    {"darsie.elections", PARAM_AT(struct darsie_params, elections), 1, DARSIE_MOST, 1, "leaders",
     "DARSIE: leaders that can be entered in the skip table in a cycle."},
    {"darsie.loads", PARAM_AT(struct darsie_params, loads), 0, 1, true, "",
     "DARSIE: loads of memory that the kernel may write are skipped, too."},
    {"darsie.ignore_store", PARAM_AT(struct darsie_params, ignore_store), 0, 1, false, "",
     "DARSIE: stores do not end the skipping of loads, which may give wrong results."},
    {"darsie.cf_sync", PARAM_AT(struct darsie_params, cf_sync), 0, 1, true, "",
     "DARSIE: warps of the majority path wait for each other at branches; otherwise entries of the skip "
     "table are told apart by the branches that led there."},
    {"darsie.three_d", PARAM_AT(struct darsie_params, three_d), 0, 1, false, "",
     "DARSIE: tid.y counts as redundant, too, in blocks of three dimensions whose planes fill warps."},
    {"darsie.pessimistic", PARAM_AT(struct darsie_params, pessimistic), 0, 1, false, "",
     "DARSIE: the compiler takes what goes around a loop for vectors, instead of looking for the best "
     "solution."},
    {"darsie.why", PARAM_AT(struct darsie_params, why), 0, 1, false, "",
     "DARSIE: disasm says where the class of each instruction comes from."},
    {"darsie.conflicts", PARAM_AT(struct darsie_params, conflicts), 0, 1, true, "",
     "DARSIE: followers read the leader's register in its bank; otherwise as if each had a copy in its own."},
    {"darsie.omit", PARAM_AT(struct darsie_params, omit), 0, 1023, 0, "",
     "DARSIE: rules of correctness that are left out, for tests: a sum of bits (enum darsie_rule)."},
    {"darsie.pj.skip", PARAM_AT(struct darsie_params, pj_skip), 0, 1e6, 2.0, "pJ",
     "DARSIE: an access to the PC skip table."},
    {"darsie.pj.rename", PARAM_AT(struct darsie_params, pj_rename), 0, 1e6, 0.5, "pJ",
     "DARSIE: an access to the rename and version tables of a block."},
    {"darsie.pj.mask", PARAM_AT(struct darsie_params, pj_mask), 0, 1e6, 0.2, "pJ",
     "DARSIE: an access to the mask of the majority path."},
};

static const struct counter_info counters[] = {
#define COUNTER(field, name, unit, help) {name, unit, help, offsetof(struct darsie_counters, field)},
#include "mech/darsie/counters.def"
#undef COUNTER
};

static const struct counter_rule counter_rules[] = {
#define RULE(left, relation, right, when) {left, #relation, right, when},
#include "mech/darsie/rules.def"
#undef RULE
};

static const struct energy_event energy[] = {
    {ENERGY_MECHANISM, "darsie.lookups", "darsie.pj.skip", ENERGY_PJ_FIXED},
    {ENERGY_MECHANISM, "darsie.updates", "darsie.pj.skip", ENERGY_PJ_FIXED},
    {ENERGY_MECHANISM, "darsie.renames", "darsie.pj.rename", ENERGY_PJ_FIXED},
    {ENERGY_MECHANISM, "darsie.mask.ops", "darsie.pj.mask", ENERGY_PJ_FIXED},
};

static const struct mech_model models[] = {
    {"darsie-ignore-store", "DARSIE whose skipped loads do not mind stores: may be wrong",
     MECH_SETTINGS("darsie.ignore_store=true")},
    {"darsie-no-cf-sync", "DARSIE that does not wait at branches", MECH_SETTINGS("darsie.cf_sync=false")},
    {0},
};

static void *create(struct arena *a, const void *params, void *shared, struct sm *sm) {
    (void)shared;
    struct darsie *d = arena_new(a, struct darsie);
    uint32_t blocks = sm->spec->blocks, warps = CORE_MAX_WARPS;
    d->params = params;
    d->sm = sm;
    d->blocks = arena_array(a, struct darsie_block, blocks);
    d->map = arena_alloc(a, warps * (MAX_GPR + 1) * sizeof *d->map);
    d->latched = arena_alloc(a, warps * (MAX_GPR + 1) * sizeof *d->latched);
    for (d->buffer = 1; d->buffer < sm->spec->ibuffer;)
        d->buffer *= 2;
    d->buffered = arena_array(a, struct darsie_inst, warps * d->buffer);
    d->ops = arena_array(a, struct darsie_inst, CORE_OPS);
    d->copy_of = arena_array(a, struct darsie_copy, CORE_OPS);
    d->value = arena_alloc(a, (size_t)blocks * DARSIE_MOST * sizeof *d->value);
    d->serial = arena_array(a, uint64_t, blocks * DARSIE_MOST);
    d->refs = arena_array(a, uint32_t, blocks * DARSIE_MOST);
    for (uint32_t b = 0; b < blocks; b++) {
        d->blocks[b].entries = arena_array(a, struct darsie_entry, d->params->entries);
        d->blocks[b].pcs = arena_array(a, uint32_t, d->params->entries);
    }
    queue_init(&d->copies, a, warps * CORE_BUFFER * DARSIE_WORDS + CORE_OPS * DARSIE_WORDS);
    d->reading = arena_array(a, int32_t, 2 * CORE_OPS);
    d->movs = core_copies(a);
    darsie_number_places(d);
    return d;
}

/* Warp registers that each block gets for renaming, so that as many blocks fit on the SM as without. */
static uint32_t spare_registers(const struct darsie *d) {
    const struct exec *x = d->sm->x;
    uint32_t warps = (x->block[0] * x->block[1] * x->block[2] + WARP_LANES - 1) / WARP_LANES;
    uint32_t used = d->sm->fit * warps * x->img->prog->nregs, all = d->sm->spec->registers;
    uint32_t each = all > used && d->sm->fit ? (all - used) / d->sm->fit : 0;
    return warps < 2 ? 0 : each < (uint32_t)d->params->registers ? each : (uint32_t)d->params->registers;
}

static void start(void *m, const void *marks) {
    struct darsie *d = m;
    uint32_t blocks = d->sm->spec->blocks, redundant;
    d->marks = darsie_finalise(d->params, marks, d->sm->x, &redundant);
    d->regs = spare_registers(d);
    d->on = d->regs && redundant;
    d->row = (d->sm->x->img->prog->nregs + 7u) / 8 * 8;
    d->broken = false;
    d->majority = d->waiting = d->leaving = d->held = d->ordering = 0;
    d->in_use = d->elected = d->turn = 0;
    d->elected_at = UINT64_MAX;
    d->copies.len = d->nreading = 0;
    memset(d->renamed, 0, sizeof d->renamed);
    memset(d->copying, 0, sizeof d->copying);
    memset(d->refs, 0, (size_t)blocks * DARSIE_MOST * sizeof *d->refs);
    if (!d->on)
        core_rest(d->sm, d);
}

static const char *finish(void *m, bool cut) {
    const struct darsie *d = m;
    if (cut)
        return NULL;
    if (d->broken)
        return "DARSIE gave a register back twice";
    if (d->in_use)
        return "DARSIE holds registers after the end of the launch";
    if (!queue_empty(&d->copies) || d->majority || d->waiting || d->leaving)
        return "DARSIE waits for warps after the end of the launch";
    return NULL;
}

static void block(void *m, uint32_t slot, bool enters) {
    struct darsie *d = m;
    struct darsie_block *b = &d->blocks[slot];
    if (!darsie_is_on(d))
        return;
    if (!enters) {
        darsie_clear(d, slot);
        return;
    }
    for (uint32_t k = 0; k < (uint32_t)d->params->entries; k++)
        b->entries[k].valid = false;
    *b = (struct darsie_block){.entries = b->entries,
                               .pcs = b->pcs,
                               .free = d->regs == DARSIE_MOST ? ~UINT64_C(0) : (UINT64_C(1) << d->regs) - 1};
}

static void warp(void *m, uint32_t slot, bool enters) {
    struct darsie *d = m;
    uint64_t others = ~(UINT64_C(1) << slot);
    if (!darsie_is_on(d))
        return;
    if (enters) {
        uint32_t regs = d->sm->x->img->prog->nregs;
        memset(darsie_latched(d, slot, 0), 0, regs * sizeof *d->latched);
        memset(d->loaded[slot], 0, sizeof d->loaded[slot]);
        memset(darsie_mapped(d, slot, 0), 0xff, regs * sizeof *d->map);
        d->naming[slot] = 0;
        d->stands_at[slot] = NULL;
        d->standing &= ~warp_bit(slot);
        darsie_enter(d, slot);
        return;
    }
    darsie_end_warp(d, slot);
    d->blocks[d->sm->warps[slot].block].members &= others;
}

static EVERY_TIME void darsie_tick(void *m, uint64_t now) {
    (void)now;
    struct darsie *d = m;
    d->n.register_cycles += d->in_use;
    if (d->nreading)
        darsie_release_read(d);
    if (d->leaving || !queue_empty(&d->copies))
        darsie_copy(d);
}

static uint64_t next(const void *m, uint64_t now) {
    const struct darsie *d = m;
    return d->leaving || !queue_empty(&d->copies) ? now + 1 : UINT64_MAX;
}

static void elapsed(void *m, uint64_t cycles) {
    struct darsie *d = m;
    d->n.register_cycles += d->in_use;
    darsie_release_read(d); /* as a tick in the first of these cycles would have */
    d->n.register_cycles += d->in_use * (cycles - 1);
}

static void describe(const void *m, struct str *out) {
    const struct darsie *d = m;
    str_printf(
        out,
        "  DARSIE: %d warps on majority paths, %d wait at branches, %d leave, %u copies wait, %u registers "
        "in use\n",
        __builtin_popcountll(d->majority), __builtin_popcountll(d->waiting), __builtin_popcountll(d->leaving),
        d->copies.len, d->in_use);
}

static const void *counts(const void *m) {
    return &((const struct darsie *)m)->n;
}

MECHANISM(darsie) = {
    .name = "darsie",
    .help = "Dimensionality-aware redundant SIMT instruction elimination",
    .models = models,
    .order = 15,
    .points =
        {
            .life = {.start = start,
                     .finish = finish,
                     .block = block,
                     .warp = warp,
                     .tick = darsie_tick,
                     .next = next,
                     .elapsed = elapsed,
                     .describe = describe,
                     .apart = true},
            .watch = {.control = darsie_control,
                      .barrier = darsie_barrier,
                      .issued = darsie_issued,
                      .result = darsie_result,
                      .retire = darsie_retire},
            .stream =
                {.fetch = darsie_fetch, .decoded = darsie_decoded, .recalled = darsie_recalled, .most = 1},
            .registers = {.fill = darsie_fill,
                          .place = darsie_place,
                          .own = darsie_own,
                          .silent = darsie_silent,
                          .places = darsie_places,
                          .restore = darsie_restore,
                          .holds = darsie_holds},
        },
    .params = PARAM_TABLE(struct darsie_params, params, NULL),
    .counters = COUNTER_TABLE_RULES(counters, counter_rules),
    .energy = ENERGY_TABLE(energy),
    .passes = darsie_passes,
    .kernel = darsie_kernel,
    .create = create,
    .counts = counts,
};
