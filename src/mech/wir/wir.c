/* Warp instruction reuse as a mechanism: its points, its state, low-register mode. */
#include "mech/wir/wir.h"

#include <stddef.h>
#include <string.h>

static const char *const policies[] = {[WIR_MAX] = "max", [WIR_CAPPED] = "capped", NULL};
static const char *const load_rules[] = {[WIR_SAFE] = "safe", [WIR_PAPER] = "paper", NULL};

static const struct param params[] = {
    {"wir.rb_entries", PARAM_AT(struct wir_params, rb_entries), 1, 65536, 256, "entries",
     "WIR: entries of the reuse buffer."},
    {"wir.vsb_entries", PARAM_AT(struct wir_params, vsb_entries), 0, 65536, 256, "entries",
     "WIR: entries of the value signature buffer; 0: every result gets a register of its own."},
    {"wir.vc_entries", PARAM_AT(struct wir_params, vc_entries), 0, 64, 8, "entries",
     "WIR: entries of the verify cache; 0: none."},
    {"wir.queue", PARAM_AT(struct wir_params, queue), 1, 64, 16, "instructions",
     "WIR: instructions that wait for a pending result."},
    {"wir.loads", PARAM_AT(struct wir_params, loads), 0, 1, true, "",
     "WIR: loads are reused, too, from global, shared and constant memory and textures."},
    {"wir.pending", PARAM_AT(struct wir_params, pending), 0, 1, true, "",
     "WIR: an instruction reserves its place in the reuse buffer before it executes; others wait for it."},
    {"wir.policy", PARAM_AT(struct wir_params, policy), WIR_MAX, WIR_CAPPED, WIR_MAX, "",
     "WIR: max, all physical registers may be used; capped, as many as the resident warps name.", policies},
    {"wir.load_rule", PARAM_AT(struct wir_params, load_rule), WIR_SAFE, WIR_PAPER, WIR_SAFE, "",
     "WIR: when a load may reuse another's result: safe, never when a store could have come between; "
     "paper, as published, which lets blocks with equal barrier counts share what one of them has since "
     "overwritten.",
     load_rules},
    {"wir.bank_copies", PARAM_AT(struct wir_params, bank_copies), 0, 1, false, "",
     "WIR: lanes that a divergent write leaves alone come to their new register by a read and a write of the "
     "register file, not by a dummy MOV through a collector and an SP unit, as published."},
    {"wir.predicates", PARAM_AT(struct wir_params, predicates), 0, 1, false, "",
     "WIR: instructions that read predicates as operands are reused, too; predicates are compared by value."},
    {"wir.immediate_bits", PARAM_AT(struct wir_params, immediate_bits), 0, 32, 32, "bits",
     "WIR: immediates that need more bits than these do not fit an entry of the reuse buffer; 10 is an "
     "operand field."},
    {"wir.front", PARAM_AT(struct wir_params, front), 1, 16, 2, "cycles",
     "WIR: added between issue and operand read: rename, reuse."},
    {"wir.alloc", PARAM_AT(struct wir_params, alloc), 1, 16, 2, "cycles",
     "WIR: added between execution and writeback: register allocation."},
    {"wir.release", PARAM_AT(struct wir_params, release), 0, 64, 2, "cycles",
     "WIR: from the end of a register's last reference to its place in the free list."},
    {"wir.ports", PARAM_AT(struct wir_params, ports), 0, 8, 0, "lookups",
     "WIR: lookups of each buffer in a cycle; 0: as many as instructions can issue."},
    {"wir.hash_bits", PARAM_AT(struct wir_params, hash_bits), 1, 32, 32, "bits",
     "WIR: bits kept of the hash of a value."},
    {"wir.pj.rename", PARAM_AT(struct wir_params, pj_rename), 0, 1e6, 3.5, "pJ",
     "WIR: an access to the rename tables."},
    {"wir.pj.rb", PARAM_AT(struct wir_params, pj_rb), 0, 1e6, 4.71, "pJ",
     "WIR: an access to the reuse buffer."},
    {"wir.pj.hash", PARAM_AT(struct wir_params, pj_hash), 0, 1e6, 4.85, "pJ", "WIR: the hash of a result."},
    {"wir.pj.vsb", PARAM_AT(struct wir_params, pj_vsb), 0, 1e6, 4.96, "pJ",
     "WIR: an access to the value signature buffer."},
    {"wir.pj.alloc", PARAM_AT(struct wir_params, pj_alloc), 0, 1e6, 1.35, "pJ",
     "WIR: a register taken from or returned to the free list."},
    {"wir.pj.refcount", PARAM_AT(struct wir_params, pj_refcount), 0, 1e6, 0.32, "pJ",
     "WIR: an update of a reference counter."},
    {"wir.pj.vc", PARAM_AT(struct wir_params, pj_vc), 0, 1e6, 2.93, "pJ",
     "WIR: an access to the verify cache."},
};

static const struct counter_info counters[] = {
#define COUNTER(field, name, unit, help) {name, unit, help, offsetof(struct wir_counters, field)},
#include "mech/wir/counters.def"
#undef COUNTER
};

static const struct counter_rule counter_rules[] = {
#define RULE(left, relation, right, when) {left, #relation, right, when},
#include "mech/wir/rules.def"
#undef RULE
};

/* What the added structures cost: Table III. */
static const struct energy_event energy[] = {
    {ENERGY_MECHANISM, "wir.rename.ops", "wir.pj.rename", ENERGY_PJ_FIXED},
    {ENERGY_MECHANISM, "wir.rb.ops", "wir.pj.rb", ENERGY_PJ_FIXED},
    {ENERGY_MECHANISM, "wir.hash.ops", "wir.pj.hash", ENERGY_PJ_FIXED},
    {ENERGY_MECHANISM, "wir.vsb.ops", "wir.pj.vsb", ENERGY_PJ_FIXED},
    {ENERGY_MECHANISM, "wir.alloc.ops", "wir.pj.alloc", ENERGY_PJ_FIXED},
    {ENERGY_MECHANISM, "wir.refcount.ops", "wir.pj.refcount", ENERGY_PJ_FIXED},
    {ENERGY_MECHANISM, "wir.vc.ops", "wir.pj.vc", ENERGY_PJ_FIXED},
};

static const struct mech_model models[] = {
    {"wir-rlpv", "the same", NULL},
    {"wir-r", "rename, reuse buffer and value signature buffer only",
     MECH_SETTINGS("wir.loads=false", "wir.pending=false", "wir.vc_entries=0")},
    {"wir-rl", "R with reuse of loads", MECH_SETTINGS("wir.pending=false", "wir.vc_entries=0")},
    {"wir-rlp", "RL with the pending-retry queue", MECH_SETTINGS("wir.vc_entries=0")},
    {"wir-rpv", "RLPV without reuse of loads", MECH_SETTINGS("wir.loads=false")},
    {"wir-rlpvc", "RLPV that uses no more registers than the program names",
     MECH_SETTINGS("wir.policy=capped")},
    {"wir-novsb", "R with a new register for each result: values are not shared",
     MECH_SETTINGS("wir.loads=false", "wir.pending=false", "wir.vc_entries=0", "wir.vsb_entries=0")},
    {0},
};

enum { MAX_COUNT = 31 }; /* of barriers, at which a block stops reusing loads */

static void *create(struct arena *a, const void *params, void *shared, struct sm *sm) {
    struct wir *w = arena_new(a, struct wir);
    const struct wir_params *p = params;
    const struct core_spec *s = sm->spec;
    w->params = p;
    w->sm = sm;
    regfile_init(&w->regs, a, s->registers, s->warps, MAX_GPR, (uint32_t)p->release);
    rb_init(&w->rb, a, (uint32_t)p->rb_entries);
    vsb_init(&w->vsb, a, (uint32_t)p->vsb_entries);
    vc_init(&w->vc, a, (uint32_t)p->vc_entries, s->registers);
    pendq_init(&w->waiting, a, (uint32_t)p->queue);
    blocks_init(&w->blocks, a,
                &(struct blocks_spec){.warps = s->warps,
                                      .blocks = s->blocks,
                                      .max_count = MAX_COUNT,
                                      .rule = p->load_rule == WIR_SAFE ? BLOCKS_SAFE : BLOCKS_PAPER});
    w->h3 = wir_hash(shared);
    w->ports = p->ports ? (uint32_t)p->ports : s->schedulers * s->width;
    w->delay = (uint64_t)p->front + 1;
    w->room = w->ports * ((uint32_t)p->front + 1);
    w->most = CORE_OPS - WIR_COPY_RESERVE;
    w->capped = p->policy == WIR_CAPPED;
    w->has_signatures = p->vsb_entries > 0;
    w->ops = arena_array(a, struct wir_op, CORE_OPS);
    uint32_t most = queue_slots(w->room + s->schedulers * s->width);
    for (uint32_t k = 0; k < COLLECT_KINDS; k++)
        w->front[k] = (struct wir_front){.mask = most - 1, .at = arena_array(a, struct wir_due, most)};
    w->alloc.at = UINT64_MAX;
    w->alloc.first = CORE_NONE;
    queue_init(&w->unwritten, a, CORE_OPS);
    queue_init(&w->starved, a, CORE_OPS);
    queue_init(&w->copies, a, CORE_OPS);
    w->movs = core_copies(a);
    return w;
}

/* Ops between issue and the reuse stage. */
static uint32_t before_reuse(const struct wir *w) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < COLLECT_KINDS; k++)
        n += wir_in_front(w, k);
    return n;
}

/* After a launch that was cut short: registers and buffers as if nothing had run. */
static void forget(struct wir *w) {
    struct rb_entry e;
    struct vsb_entry s;
    while (rb_evict_random(&w->rb, &e))
        continue;
    while (vsb_evict_random(&w->vsb, &s))
        continue;
    for (uint32_t r = 0; r < w->regs.n; r++)
        vc_invalidate(&w->vc, r);
    regfile_reset(&w->regs, w->sm->spec->warps);
    for (uint32_t k = 0; k < COLLECT_KINDS; k++)
        w->front[k].head = w->front[k].tail = 0;
    w->full = 0;
    w->alloc.at = UINT64_MAX;
    w->alloc.first = CORE_NONE;
    w->turns = 0;
    w->unwritten.len = w->starved.len = w->copies.len = w->waiting.ops.len = 0;
}

/* The resident warps name more or fewer registers. */
static void set_cap(struct wir *w, uint32_t cap) {
    w->cap = cap;
    w->spare = w->capped && w->regs.n > cap ? w->regs.n - cap : 0;
}

static void start(void *m, const void *marks) {
    struct wir *w = m;
    if (w->running)
        forget(w);
    w->running = true;
    w->marks = marks;
    for (uint32_t k = 0; k < COLLECT_KINDS; k++)
        w->front[k].first = UINT64_MAX;
    w->peak = 0;
    set_cap(w, 0);
    w->low = w->wanted = false;
    w->at_barrier = 0;
    w->inflight = w->nfresh = 0;
    w->regs.most_refs = 0;
}

/* References that the buffers hold. */
static uint64_t held(const struct wir *w) {
    uint64_t n = 0;
    uint32_t at = 0, reg;
    for (const struct rb_entry *e; (e = rb_next(&w->rb, &at));) {
        n += !e->pending;
        for (uint32_t i = 0; rb_source(&e->tag, &i, &reg);)
            n++;
    }
    return n + w->vsb.used;
}

static const char *finish(void *m, bool cut) {
    struct wir *w = m;
    struct rb_entry e;
    uint32_t at = 0;
    w->n.reg_peak += w->peak;
    w->n.most_refs += w->regs.most_refs;
    if (cut)
        return NULL; /* start() forgets what is under way */
    w->running = false;
    while (rb_take_loads(&w->rb, &at, &e))
        wir_drop(w, &e);
    if (before_reuse(w) || w->alloc.first != CORE_NONE || !pendq_empty(&w->waiting))
        return "WIR holds instructions after the end of the launch";
    return regfile_check(&w->regs, held(w));
}

static void block(void *m, uint32_t slot, bool enters) {
    struct wir *w = m;
    struct rb_entry e;
    uint32_t at = 0;
    w->now = w->sm->now;
    if (enters) {
        blocks_start(&w->blocks, slot);
        w->opened[slot] = 0;
        return;
    }
    while (rb_take_block(&w->rb, slot, &at, &e)) {
        wir_drop(w, &e);
        w->changed = true;
    }
}

static void warp(void *m, uint32_t slot, bool enters) {
    struct wir *w = m;
    uint32_t regs = w->sm->x->img->prog->nregs;
    w->now = w->sm->now;
    if (enters) {
        blocks_start_warp(&w->blocks, slot, w->sm->warps[slot].block);
        set_cap(w, w->cap + regs);
        return;
    }
    set_cap(w, w->cap - regs);
    w->at_barrier &= ~(UINT64_C(1) << slot);
    for (uint32_t r = 0; r < regs; r++) {
        struct reg_map *map = regfile_map(&w->regs, slot, r);
        if (map->id != REG_NONE)
            wir_unref(w, map->id);
        *map = (struct reg_map){.id = REG_NONE};
    }
}

/* New instructions go as far as there is room for those of their kind on the way to the reuse stage; control
 * instructions do not take that way, but some write registers. */
static uint64_t eligible(void *m, uint64_t ready, uint64_t now) {
    (void)now;
    struct wir *w = m;
    const struct sm *sm = w->sm;
    uint64_t set = w->inflight < w->most ? ready : ready & sm->control;
    for (uint32_t k = 0; k < COLLECT_KINDS; k++)
        if (wir_in_front(w, k) >= w->room)
            set &= (sm->kinds_apart ? ~sm->kind[k] : 0) | sm->control;
    if (w->regs.nfree >= WIR_MAX_RESULT)
        return set;
    for (uint64_t left = set & sm->control; left; left &= left - 1) {
        uint32_t s = (uint32_t)__builtin_ctzll(left);
        const struct xinst *i = &sm->x->img->code[sm->warps[s].next];
        if (i->ndw && !wir_can_write(w, s, i)) {
            set &= ~(UINT64_C(1) << s);
            w->wanted = true;
        }
    }
    return set;
}

/* As long as the first op of a kind waits for a collector, and others have no room behind it. */
static uint64_t refused(const void *m, uint64_t ready) {
    const struct wir *w = m;
    const struct sm *sm = w->sm;
    uint64_t set = 0;
    if (w->inflight >= w->most || w->regs.nfree < WIR_MAX_RESULT)
        return 0;
    for (uint32_t k = 0; k < COLLECT_KINDS; k++)
        if (wir_in_front(w, k) >= w->room)
            set |= sm->kinds_apart ? sm->kind[k] : ready;
    return set & ready & ~sm->control;
}

static uint32_t wir_place(void *m, int32_t op, uint32_t k, bool write) {
    const struct wir *w = m;
    return write ? w->ops[op].dst : w->ops[op].src[k];
}

static uint32_t holds(void *m, uint32_t warp, uint32_t reg) {
    const struct wir *w = m;
    return regfile_map(&w->regs, warp, reg)->id; /* REG_NONE is CORE_NO_PLACE */
}

void wir_free(struct wir *w, uint32_t reg) {
    w->n.alloc_ops++;
    regfile_leave(&w->regs, (uint16_t)reg, w->now);
}

void wir_drop_some(struct wir *w, struct wir_op *o) {
    for (uint32_t k = 0; k < o->nsrc; k++)
        if (o->src[k] != REG_NONE)
            wir_unref(w, o->src[k]);
    o->nsrc = 0;
}

static void retire(void *m, int32_t op) {
    struct wir *w = m;
    w->now = w->sm->now;
    wir_leave(w, op);
}

static uint32_t in_use(const struct wir *w) {
    return w->regs.n - w->regs.nfree;
}

/* Low-register mode: the pool is empty, or the cap is reached. */
static bool few_registers(const struct wir *w) {
    return (w->regs.nfree <= w->spare) | !queue_empty(&w->starved) | w->wanted;
}

/* In a cycle of low-register mode in which no buffer was accessed, one entry goes at random. */
static void evict_one(struct wir *w) {
    struct rb_entry e;
    struct vsb_entry s;
    if (w->rb.used >= w->vsb.used && rb_evict_random(&w->rb, &e)) {
        wir_drop(w, &e);
        w->changed = true;
    } else if (vsb_evict_random(&w->vsb, &s)) {
        wir_drop_signature(w, &s);
    } else {
        return;
    }
    w->n.evictions++;
}

/* The end of a cycle in that mode. */
static APART void low_cycle(struct wir *w) {
    w->n.low_cycles++;
    if (!w->touched || !queue_empty(&w->starved))
        evict_one(w);
}

/* Registers in use in one cycle. */
static void count_registers(struct wir *w, uint32_t n) {
    w->n.reg_cycles += n;
    w->peak = n > w->peak ? n : w->peak;
}

static void wir_tick(void *m, uint64_t now) {
    struct wir *w = m;
    w->now = now;
    w->touched = false;
    regfile_tick(&w->regs, now);
    w->low = few_registers(w);
    w->wanted = false;
    wir_allocation_stage(w);
    wir_reuse_stage(w);
    if (__builtin_expect(w->low, 0))
        low_cycle(w);
    count_registers(w, in_use(w));
    wir_gate_again(w); /* where ops are many it shuts at issue */
    wir_write_stage(w);
}

static uint64_t next(const void *m, uint64_t now) {
    const struct wir *w = m;
    uint32_t waiting = w->waiting.ops.len;
    bool looks = waiting && (w->changed | (w->looked < waiting));
    if (w->low | few_registers(w) | looks | !queue_empty(&w->unwritten) | !queue_empty(&w->copies))
        return now + 1;
    uint64_t turn = UINT64_MAX;
    for (uint32_t k = 0; k < COLLECT_KINDS; k++)
        if (w->front[k].first < turn && !wir_front_stays(w, k))
            turn = w->front[k].first;
    uint64_t at = turn == UINT64_MAX ? turn : wir_turn_cycle(turn);
    at = min_u64(at, w->alloc.at);
    return at > now ? at : now + 1;
}

static void elapsed(void *m, uint64_t cycles) {
    struct wir *w = m;
    uint64_t first = w->now + 1, last = w->now + cycles;
    uint32_t n = in_use(w);
    w->n.reg_cycles += cycles * n;
    if (w->regs.next_free <= last) {
        w->n.reg_cycles -= regfile_idle(&w->regs, first, last);
        n -= (uint32_t)regfile_idle(&w->regs, first, first);
    }
    w->peak = n > w->peak ? n : w->peak;
    wir_waited(w, cycles);
}

static void describe(const void *m, struct str *out) {
    const struct wir *w = m;
    uint32_t allocates = 0;
    for (int32_t id = w->alloc.first; id != CORE_NONE; id = id == w->alloc.last ? CORE_NONE : w->ops[id].next)
        allocates++;
    str_printf(out,
               "  WIR: %u of %u registers free, %u ops before reuse, %u wait for a pending result, %u for a "
               "register, %u for allocation\n",
               w->regs.nfree, w->regs.n, before_reuse(w), w->waiting.ops.len, w->starved.len, allocates);
}

static const void *counts(const void *m) {
    return &((const struct wir *)m)->n;
}

const struct mechanism mech_wir = {
    .name = "wir",
    .help = "Warp instruction reuse with everything: RLPV",
    .models = models,
    .order = 10,
    .points =
        {
            .life = {.start = start,
                     .finish = finish,
                     .block = block,
                     .warp = warp,
                     .tick = wir_tick,
                     .next = next,
                     .elapsed = elapsed,
                     .describe = describe,
                     .apart = true},
            .watch = {.control = wir_control, .retire = retire},
            .gate = {.eligible = eligible, .refused = refused},
            .registers = {.fill = wir_fill, .place = wir_place, .restore = wir_restore, .holds = holds},
            .front = {.every = true}, /* they are on their way since wir_fill */
            .back = {.result = wir_result, .written = wir_written, .read_done = wir_read_done},
        },
    .shared = wir_shared,
    .release = wir_release,
    .kernel = wir_kernel,
    .params = PARAM_TABLE(struct wir_params, params, NULL),
    .counters = COUNTER_TABLE_RULES(counters, counter_rules),
    .energy = ENERGY_TABLE(energy),
    .create = create,
    .counts = counts,
};
