/* One SM: blocks and warps come and go, the stages tick in reverse order, and the SM says when to wake it. */
#include "core/points.h"
#include "core/view.h"

#include <string.h>

enum { ACCESS_SLOTS = 64, READ_RECORDS = 4096 };

static void add_reg(struct core_need *n, uint32_t reg) {
    n->regs[reg / 64] |= UINT64_C(1) << (reg % 64);
}

static void add_source(struct core_need *n, uint32_t reg) {
    for (uint32_t k = 0; k < n->nreads; k++)
        if (n->reads[k] == reg)
            return;
    if (n->nreads < sizeof n->reads)
        n->reads[n->nreads++] = (uint8_t)reg;
}

/* Which collectors the instructions of a unit take where they are divided. */
static const uint8_t collect_kinds[UNIT_COUNT] = {
    [UNIT_SFU] = COLLECT_SFU, [UNIT_DP] = COLLECT_SFU, [UNIT_MEM] = COLLECT_MEM, [UNIT_TEX] = COLLECT_MEM};

struct core_need core_need(const struct xinst *i) {
    struct core_need n = {0};
    for (uint32_t k = 0; k < i->nsw; k++)
        if (!(i->s[k] & POOL)) {
            add_reg(&n, i->s[k]);
            add_source(&n, i->s[k]);
        }
    for (uint32_t k = 0; k < i->in->nsrc; k++)
        n.nconsts += i->in->src[k].kind == O_CONST && i->in->src[k].bank != BANK_QUEUE;
    for (uint32_t k = 0; k < i->ndw; k++)
        add_reg(&n, i->d + k);
    n.nwrites = i->ndw;
    n.dest_word = i->ndw ? (uint8_t)(i->d / 64) : 0;
    n.parted = i->ndw && (i->d + i->ndw - 1) / 64 != n.dest_word;
    n.dest = n.parted ? 0 : ((UINT64_C(1) << i->ndw) - 1) << i->d % 64;
    const struct op_info *o = &op_info[i->in->op];
    n.i = i;
    n.unit = o->unit;
    n.latency = o->latency;
    n.energy = o->energy;
    n.control = o->unit == UNIT_CTRL || i->kind == X_NOP || i->kind == X_WARPSYNC;
    n.memory = i->kind >= X_LOAD && i->kind <= X_TEX;
    n.queues = n.memory || n.unit == UNIT_MEM;
    n.simple = !n.queues && n.unit != UNIT_TENSOR;
    n.load = n.memory && o->flags & OPF_LOAD;
    n.loaded = n.load ? n.dest : 0;
    n.store = n.memory && o->flags & OPF_STORE;
    n.beyond = n.regs[1] | n.regs[2] | n.regs[3];
    n.steps = warp_can_take(i);
    n.computes = i->kind == X_ALU;
    n.told = true;
    uint8_t all = (1u << PRED_PT) - 1;
    n.preds = (uint8_t)(1u << i->guard | 1u << i->ps[0] | 1u << i->ps[1] | 1u << i->pd[0] | 1u << i->pd[1]);
    n.preds = i->kind == X_P2R || i->kind == X_R2P ? all : n.preds & all;
    n.sets = (uint8_t)(i->kind == X_R2P ? all : (1u << i->pd[0] | 1u << i->pd[1]) & all);
    return n;
}

/* The bank of a register of a warp, or of their sum. */
static uint32_t bank_index(const struct core_spec *s, uint32_t warp, uint32_t reg) {
    return (warp + (s->mapping == MAP_WID ? 0 : reg)) % s->banks;
}

void core_needs_fill(struct core_need *all, const struct image *img, const struct core_spec *s) {
    uint32_t line = s->coalescer.line / INST_BYTES;
    for (uint32_t c = 0; c < img->ncode; c++) {
        struct core_need *n = &all[c];
        *n = core_need(&img->code[c]);
        bool tensor = n->unit == UNIT_TENSOR;
        n->cycles = (uint16_t)(tensor ? tensor_latency(s, n->i->in) : s->latency[n->latency]);
        n->kind = s->collectors[collect_kinds[n->unit]] ? collect_kinds[n->unit] : COLLECT_SP;
        n->beats = (uint16_t)(tensor ? tensor_interval(s, n->i->in) : s->units[n->unit].interval);
        for (uint32_t k = 0; k < n->nreads; k++)
            n->read_banks |= UINT64_C(1) << bank_index(s, 0, n->reads[k]);
        n->apart = (uint32_t)__builtin_popcountll(n->read_banks) == n->nreads;
        n->read_banks |= n->read_banks << s->banks;
        n->left = (uint8_t)min_u64(line - c % line, img->ncode - c);
    }
}

struct core_need *core_needs(struct arena *a, const struct image *img, const struct core_spec *s) {
    struct core_need *all = arena_array(a, struct core_need, img->ncode + 1);
    core_needs_fill(all, img, s);
    return all;
}

/* Schedulers own warps by runs of so many slots. */
static void own_warps(struct sm *sm, uint32_t run) {
    memset(sm->group, 0, sizeof sm->group);
    memset(sm->fetch_group, 0, sizeof sm->fetch_group);
    for (uint32_t w = 0; w < CORE_MAX_WARPS; w++) {
        sm->group[w / run % sm->spec->schedulers] |= warp_bit(w);
        sm->fetch_group[w / run % sm->spec->fetch_groups] |= warp_bit(w);
    }
}

void core_pair_warps(struct sm *sm) {
    own_warps(sm, 2);
}

struct sm *sm_create(struct arena *a, const struct core_spec *s, struct memsys *mem, uint32_t id) {
    struct sm *sm = arena_new(a, struct sm);
    sm->spec = s;
    sm->mem = mem;
    sm->port = memsys_port_times(mem, id);
    for (uint32_t k = 0; k < MEM_CLIENTS; k++)
        sm->epoch[k] = memsys_port_epoch(mem, id, (enum mem_client)k);
    sm->fetch_latency = sm->port->inst->spec.latency;
    sm->arrive_after = sm->fetch_latency + s->decode;
    sm->arrive_slot = min_u64(sm->arrive_after, CORE_ARRIVALS - 1);
    sm->line_mask = ~(uint64_t)(s->coalescer.line - 1);
    sm->id = id;
    sm->kinds_apart = s->collectors[COLLECT_SFU] || s->collectors[COLLECT_MEM];
    sm->nreads = READ_RECORDS;
    sm->reads = arena_array(a, struct core_read, READ_RECORDS);
    memset(sm->wheel, 0xff, sizeof sm->wheel);
    sm->ports = s->collector_ports ? arena_array(a, struct core_port, CORE_OPS) : NULL;
    sm->access_pool = arena_array(a, struct mem_access, ACCESS_SLOTS * COALESCER_MAX);
    own_warps(sm, 1);
    units_init(sm);
    sm->place_bits = s->banks & (s->banks - 1) ? 0 : s->banks - 1;
    sm->bank_regs = s->mapping == MAP_WID ? 0 : UINT32_MAX;
    for (uint32_t k = 0; k < sizeof sm->bank_at; k++)
        sm->bank_at[k] = (uint8_t)bank_index(s, k, 0);
    for (uint32_t k = 0; k < sizeof sm->banks_past; k++)
        sm->banks_past[k] = (uint8_t)(s->banks - sm->bank_at[k]);
    sm->all_banks = (uint32_t)((UINT64_C(1) << s->banks) - 1);
    return sm;
}

static void clear_fifos(int32_t (*q)[2], uint32_t n) {
    for (uint32_t k = 0; k < n; k++)
        q[k][0] = q[k][1] = CORE_NONE;
}

static sm_run_fn *version_of(const struct sm *sm);

/* SHAPE_USUAL holds as long as nobody watches. */
static bool is_usual(const struct sm *sm) {
    const struct core_spec *s = sm->spec;
    return !sm->x->watch && s->policy == SCHED_GTO && s->width == 1 && !s->collector_ports;
}

void sm_start(struct sm *sm, struct exec *x, const struct core_need *needs, const void *const *marks) {
    sm->x = x;
    sm->later = NULL;
    sm->later_ends = 0;
    sm->needs = needs;
    sm->ticks = 0;
    sm->resident = sm->valid = sm->clear = sm->on_memory = sm->blocked = sm->parked = sm->held = sm->hungry =
        sm->arriving = sm->streaming = sm->holding = sm->kept = 0;
    sm->fetchers = ~UINT64_C(0);
    memset(sm->arrivals, 0, sizeof sm->arrivals);
    sm->arrive_slots = 0;
    sm->nblocks = sm->nwarps = sm->nstreams = 0;
    sm->served = sm->fetched = UINT64_MAX;
    sm->resident_before = sm->n.resident_warps;
    sm->cycles_before = sm->n.cycles;
    sm->hold_first = sm->hold_count = 0;
    sm->hold_next = NEVER;
    memcpy(sm->collectors_free, sm->spec->collectors, sizeof sm->collectors_free);
    sm->cluster_wake = NEVER;
    sm->lsu_length = sm->tex_length = sm->outstanding = 0;
    sm->reads_waiting = sm->writes_waiting = sm->nlone = sm->lone_banks = 0;
    sm->read_banks = sm->write_banks = sm->written_banks = sm->ready_units = sm->full_units = 0;
    sm->halts = 0;
    sm->lsu_epoch = sm->tex_epoch = UINT32_MAX;
    sm->lsu_free = 0;
    for (uint32_t s = 0; s < CORE_MAX_WARPS; s++)
        sm->warps[s].w = NULL;
    memset(sm->blocks, 0, sizeof sm->blocks);
    memset(sm->active, 0, sizeof sm->active);
    memset(sm->last, 0, sizeof sm->last);
    for (uint32_t g = 0; g < sm->spec->fetch_groups; g++)
        sm->fetch_above[g] = 0 - (warp_bit(0) << 1);
    if (sm->ends_soon || sm->wheel_words) { /* the last launch was cut short */
        memset(sm->wheel, 0xff, sizeof sm->wheel);
        memset(sm->wheel_bits, 0, sizeof sm->wheel_bits);
        sm->ends_soon = sm->wheel_words = 0;
    }
    clear_fifos(sm->bank_reads, CORE_MAX_BANKS);
    clear_fifos(sm->bank_writes, CORE_MAX_BANKS);
    for (uint32_t u = 0; u < UNIT_COUNT; u++) {
        memset(sm->units[u].free, 0, sizeof sm->units[u].free);
        clear_fifos(&sm->units[u].ready, 1);
    }
    clear_fifos(&sm->lsu, 1);
    clear_fifos(&sm->tex, 1);
    sm->free_op = sm->fresh_op = sm->free_read = sm->fresh_read = 0;
    for (uint32_t k = 0; k < ACCESS_SLOTS; k++)
        sm->access_free[k] = (int16_t)k;
    sm->naccess_free = ACCESS_SLOTS;
    mechs_wake(sm);
    sm->copied = sm->alone && is_usual(sm) && !sm->probe;
    if (sm->alone)
        mech_call_at(&sm->mech, sm->copied ? sm->alone->points : sm->points);
    point_life_start(sm, marks);
    if (sm->alone && !sm->copied)
        mech_call_at(&sm->mech, sm->points);
    mechs_rest(sm);
    sm->run = version_of(sm);
}

void sm_watch(struct sm *sm, struct probe *p) {
    sm->probe = p;
}

const char *sm_finish(struct sm *sm, uint64_t cycles, bool cut) {
    cache_count(sm->port->inst);
    uint64_t busy = sm->n.cycles - sm->cycles_before;
    sm->n.empty_cycles += cycles > busy ? cycles - busy : 0;
    /* All warps of a launch have as many registers: their sum need not be kept in every cycle. */
    sm->n.resident_regs += (sm->n.resident_warps - sm->resident_before) * sm->x->img->prog->nregs;
    mechs_wake(sm);
    return point_life_finish(sm, cut);
}

void sm_halt(struct sm *sm, uint64_t now) {
    sm->fetchers = 0;
    for (uint64_t left = sm->resident; left; left &= left - 1)
        buffer_undecoded(sm, (uint32_t)__builtin_ctzll(left), now);
}

bool sm_quiet(const struct sm *sm) {
    uint32_t unused = (uint32_t)(CORE_OPS - sm->fresh_op);
    if (sm->outstanding || sm->hold_count || ready_warps(sm))
        return false;
    for (uint64_t left = sm->resident; left; left &= left - 1)
        if (sm->warps[__builtin_ctzll(left)].inflight)
            return false;
    for (int32_t op = sm->free_op; op != CORE_NONE && op < sm->fresh_op; op = next_free_op(sm, op))
        unused++;
    return unused == CORE_OPS;
}

bool sm_idle(const struct sm *sm) {
    return !sm->nblocks && !sm->outstanding && !sm->streaming;
}

bool sm_admits(struct sm *sm, uint32_t warps) {
    return !HAS(sm, life, admit) || point_life_admit(sm, warps);
}

void warp_enter(struct sm *sm, uint32_t s, struct core_warp start) {
    start.epoch = sm->warps[s].epoch + 1;
    start.ncode = start.x->img->ncode;
    start.words = (uint8_t)((start.x->img->prog->nregs + 63) / 64);
    start.code_at = start.x->img->address;
    start.most = (uint8_t)sm->spec->fetch_width;
    start.found = NEVER;
    start.buffer = sm->buffers[s];
    warp_next(&start, start.next);
    sm->warps[s] = start;
    for (uint32_t k = 0; k < CORE_MAX_WARPS; k++)
        sm->older[k] &= ~warp_bit(s);
    sm->older[s] = ~warp_bit(s);
    sm->resident |= warp_bit(s);
    sm->nwarps += start.block != CORE_NO_BLOCK;
    sm->valid &= ~warp_bit(s);
    sm->blocked &= ~warp_bit(s);
    sm->parked &= ~warp_bit(s);
    TELL(sm, tell_warp(sm, PROBE_WARP_BEGIN, s));
    warp_update(sm, s);
    AT_POINT(sm, life, warp, s, true);
}

static uint64_t free_slots(const struct sm *sm) {
    return ~sm->resident & (sm->spec->warps == 64 ? ~UINT64_C(0) : (UINT64_C(1) << sm->spec->warps) - 1);
}

bool sm_has_room(const struct sm *sm, uint32_t warps) {
    return sm->nblocks < sm->spec->blocks && (uint32_t)__builtin_popcountll(free_slots(sm)) >= warps;
}

bool sm_add_block(struct sm *sm, struct cta *c) {
    uint32_t slot = 0;
    while (slot < sm->spec->blocks && sm->blocks[slot].cta)
        slot++;
    uint64_t free = free_slots(sm);
    if (!sm_has_room(sm, c->nwarps))
        return false;
    sm->blocks[slot] = (struct core_block){.cta = c, .warps = c->nwarps};
    sm->nblocks++;
    sm->n.blocks++;
    TELL(sm, tell_block(sm, PROBE_BLOCK_BEGIN, c));
    AT_POINT(sm, life, block, slot, true);
    for (uint32_t k = 0; k < c->nwarps; k++) {
        uint32_t s = (uint32_t)__builtin_ctzll(free);
        free &= free - 1;
        sm->blocks[slot].slots |= warp_bit(s);
        uint64_t local =
            UINT64_C(0x400000000000) + ((uint64_t)sm->id * CORE_MAX_WARPS + s) *
                                           (((uint64_t)sm->x->local_bytes * WARP_LANES + MEM_MAX_LINE - 1) &
                                            ~(uint64_t)(MEM_MAX_LINE - 1));
        warp_enter(
            sm, s,
            (struct core_warp){
                .w = &c->warps[k], .x = sm->x, .needs = sm->needs, .block = slot, .local_base = local});
    }
    return true;
}

/* A block has no warp left. */
static struct cta *end_block(struct sm *sm, uint32_t block) {
    AT_POINT(sm, life, block, block, false);
    struct cta *c = sm->blocks[block].cta;
    TELL(sm, tell_block(sm, PROBE_BLOCK_END, c));
    sm->blocks[block].cta = NULL;
    sm->nblocks--;
    return c;
}

/* Frees the slots of warps that have ended, and of their blocks. */
static void retire_warps(struct sm *sm, void (*done)(void *ctx, struct cta *c), void *ctx) {
    sm->halts &= (uint8_t)~HALT_ENDED;
    for (uint64_t left = sm->resident; left; left &= left - 1) {
        uint32_t s = (uint32_t)__builtin_ctzll(left);
        struct core_warp *cw = &sm->warps[s];
        if (cw->w->live || cw->inflight)
            continue;
        uint64_t others = ~warp_bit(s);
        sm->resident &= others;
        sm->valid &= others;
        sm->blocked &= others;
        sm->hungry &= others;
        sm->arriving &= others;
        TELL(sm, tell_warp(sm, PROBE_WARP_END, s));
        AT_POINT(sm, life, warp, s, false);
        cw->w = NULL;
        if (cw->block == CORE_NO_BLOCK) {
            stream_ended(sm, s);
            continue;
        }
        sm->nwarps--;
        sm->blocks[cw->block].slots &= others;
        if (!--sm->blocks[cw->block].warps)
            done(ctx, end_block(sm, cw->block));
    }
}

/* The next cycle in which an op ends that was far from its end when that was known. */
static uint64_t next_far_end(const struct sm *sm, uint64_t now) {
    uint32_t at = (now + 1) % CORE_WHEEL, w = at / 64;
    uint64_t here = sm->wheel_bits[w] >> (at % 64);
    if (here)
        return now + 1 + (uint64_t)__builtin_ctzll(here);
    /* The words after this one, then, around the end, those up to it. */
    uint32_t after = sm->wheel_words & (uint32_t)(~UINT64_C(1) << w);
    w = (uint32_t)__builtin_ctz(after ? after : sm->wheel_words);
    uint32_t bit = w * 64 + (uint32_t)__builtin_ctzll(sm->wheel_bits[w]);
    return now + 1 + (bit + CORE_WHEEL - at) % CORE_WHEEL;
}

static uint64_t next_end(const struct sm *sm, uint64_t now) {
    uint64_t next = sm->ends_soon ? next_slot(sm->ends_soon, now) : NEVER;
    return sm->wheel_words ? min_u64(next, next_far_end(sm, now)) : next;
}

/* The next cycle in which something can happen here, given that memory only answers later, and there is
 * nothing that makes it the next one most often: somebody waits for a bank, fetches, or has an access to
 * send. */
static APART uint64_t next_cycle(const struct sm *sm, uint64_t now) {
    if (sm_idle(sm))
        return NEVER;
    /* What a mechanism has to do beside instructions comes first: it is the most frequent reason. */
    const bool beside = AHEAD(SHAPE_HERE) && HAS(sm, life, next);
    if (!sm->spec->sleep || sm->halts & HALT_ENDED || (!beside && sm_can_issue(sm)))
        return now + 1;
    uint64_t next = beside ? NEVER : next_end(sm, now);
    if (HAS(sm, life, next)) {
        next = min_u64(next, point_life_next(sm, now));
        if (next <= now + 1) /* nothing is earlier */
            return now + 1;
    }
    if (beside) {
        if (sm_can_issue(sm))
            return now + 1;
        next = min_u64(next, next_end(sm, now));
    }
    if (sm->ready_units)
        next = min_u64(next, units_next(sm, now));
    next = min_u64(next, sm->hold_next);
    if (sm->tex[0] != CORE_NONE && !tex_refused(sm))
        return now + 1;
    if (sm->lsu[0] != CORE_NONE && !lsu_refused(sm))
        next = min_u64(next, sm->lsu_free > now ? sm->lsu_free : now + 1);
    next = min_u64(next, min_u64(sm->port->first, sm->port->retry));
    return sm->arrive_slots ? fetch_wakes(sm, now, next) : next;
}

void sm_sleep(struct sm *sm, uint64_t cycles) {
    for (uint64_t at = sm->now;
         sm->arrive_slots && (at = next_slot(sm->arrive_slots, at)) <= sm->now + cycles;)
        sm_arrivals(sm, at);
    sm_account(sm, cycles);
    AT_POINT(sm, life, elapsed, cycles);
}

/* The queues towards memory, of which one at least is not empty. Where a mechanism accesses the same cache,
 * what the cache refused is offered again whenever the mechanism may have been refused, too: for whom it
 * counts the time must not depend on when the SM learns of changes that are none for either. */
static EVERY_TIME void serve_queues(struct sm *sm, uint64_t now, enum core_shape shape) {
    if (shape < SHAPE_BASE && HAS(sm, memory, arrived))
        sm->lsu_epoch = UINT32_MAX;
    if (sm->lsu_length && sm->lsu_free <= now) {
        if (lsu_refused(sm))
            sm->n.lsu_stalls++;
        else
            sm_lsu(sm, now);
    }
    if (sm->tex_length)
        sm_tex(sm, now);
}

static EVERY_TIME void tick(struct sm *sm, uint64_t now, enum core_shape shape) {
    if (now > sm->now + 1)
        sm_sleep(sm, now - sm->now - 1);
    sm->now = now;
    if (sm->port->first <= now && sm->outstanding)
        sm_answers(sm, now);
    if (sm->wheel[now % CORE_WHEEL] != CORE_NONE)
        sm_complete(sm, now, shape);
    if (sm->hold_next <= now)
        sm_release(sm, now);
    if (shape < SHAPE_BASE)
        AT_POINT(sm, life, tick, now);
    sm_collect(sm, now, shape);
    if (sm->ready_units & ~sm->full_units)
        sm_dispatch(sm, now, shape);
    if (sm->lsu_length | sm->tex_length)
        serve_queues(sm, now, shape);
    sm_issue(sm, now, shape);
    sm_fetch(sm, now, shape);
    if (!AHEAD(shape))
        sm->fetched = now;
}

/* The next cycle in which something can happen here, as far as is known. */
static EVERY_TIME uint64_t next_tick(const struct sm *sm, uint64_t now, enum core_shape shape) {
    if (sm->read_banks | sm->write_banks || sm->wheel[(now + 1) % CORE_WHEEL] != CORE_NONE ||
        sm->hungry & sm->fetchers & ~sm->blocked ||
        (sm->lsu[0] != CORE_NONE && sm->lsu_free <= now + 1 && sm->lsu_epoch == UINT32_MAX))
        return now + 1;
    uint64_t next = max_u64(now + 1, next_cycle(sm, now));
    if (shape == SHAPE_ANY && next > now + 1)
        TELL(sm, issue_sleep(sm, now + 1));
    return next;
}

/* Has nobody else anything to do before the SM's next cycle? Its port may have, at its end. */
static EVERY_TIME bool goes_on_alone(const struct sm *sm, uint64_t next) {
    return next <= sm->port->due && !(sm_may_wait(sm, next) && sm_must_wait(sm, next));
}

static EVERY_TIME uint64_t go(struct sm *sm, uint64_t *now, uint64_t end,
                              void (*done)(void *ctx, struct cta *c), void *ctx, enum core_shape shape) {
    uint64_t at = *now, next, awake = 0;
    if (!sm->nblocks) /* somebody may have another one */
        end = 0;
    for (;; at = next) {
        tick(sm, at, shape);
        awake++;
        next = next_tick(sm, at, shape);
        if (next >= end || sm->halts || !goes_on_alone(sm, next))
            break;
    }
    sm->ticks += awake;
    sm->n.cycles += awake;
    sm->n.resident_warps += awake * sm->nwarps; /* whose number is the same all the time */
    if (sm->halts & HALT_ENDED) {
        retire_warps(sm, done, ctx);
        next = next_tick(sm, at, shape);
    }
    *now = at;
    return next;
}

/* The versions of it. */
#define VERSION(name, shape)                                                                                 \
    static APART uint64_t name(struct sm *sm, uint64_t *now, uint64_t end,                                   \
                               void (*done)(void *ctx, struct cta *c), void *ctx) {                          \
        return go(sm, now, end, done, ctx, shape);                                                           \
    }
VERSION(run_any, SHAPE_ANY)
VERSION(run_usual, SHAPE_USUAL)
VERSION(run_base, SHAPE_BASE)
VERSION(run_single, SHAPE_SINGLE)
VERSION(run_pair, SHAPE_PAIR)
#undef VERSION

static sm_run_fn *version_of(const struct sm *sm) {
    const struct core_spec *s = sm->spec;
    if (!is_usual(sm))
        return run_any;
    if (sm->mech.n || sm->kinds_apart)
        return !sm->mech.n ? run_base : sm->copied ? sm->alone->run : run_usual;
    return s->schedulers == 2 && s->fetch_groups == 1 ? run_pair : run_single;
}

uint64_t sm_run(struct sm *sm, uint64_t *now, uint64_t end, void (*done)(void *ctx, struct cta *c),
                void *ctx) {
    return (__builtin_expect(sm->probe != NULL, 0) ? run_any : sm->run)(sm, now, end, done, ctx);
}

uint64_t sm_tick(struct sm *sm, uint64_t now, void (*done)(void *ctx, struct cta *c), void *ctx) {
    return sm_run(sm, &now, now + 1, done, ctx);
}
