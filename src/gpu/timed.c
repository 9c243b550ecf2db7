/* Timed launches: the whole machine, cycle by cycle. Blocks go to the SMs in turn, those of a cluster
 * together to different SMs of one group; the clock jumps over cycles in which no SM and nothing in the
 * memory system can do anything. */
#include "gpu/run.h"

#include <string.h>

#include "core/spec.h"
#include "gpu/mem_spec.h"

enum { HANG_CYCLES = 2000000, SHOW_CYCLES = 1000, PAUSE_CYCLES = 1000 };

/* The mechanisms' states on one SM. */
static void add_mechanisms(struct machine *m, const struct config *config, struct sm *sm) {
    for (uint32_t k = 0; k < m->mechs.n; k++) {
        const struct mechanism *mech = m->mechs.at[k];
        const void *params = config_values(config, &mech->params);
        mech_push(&sm->mech, mech, mech->create(&m->arena, params, m->shared[k], sm));
    }
    sm->alone = m->mechs.n == 1 ? mech_alone(m->mechs.at[0]) : NULL;
    sm->points = sm->mech.at[0].points;
}

struct machine *machine_create(const struct config *config, const struct mech_set *mechs, bool check,
                               uint32_t threads) {
    struct machine *m = xcalloc(1, sizeof *m);
    m->threads = threads;
    const struct gpu_config *cfg = config_values(config, &gpu_params);
    m->core = core_spec(cfg);
    m->memory = mem_spec(cfg);
    m->nsms = m->memory.sms;
    m->mem = memsys_create(&m->arena, &m->memory);
    m->sms = arena_array(&m->arena, struct sm *, m->nsms);
    m->wake = arena_array(&m->arena, uint64_t, m->nsms);
    bits_init(&m->awake, &m->arena, m->nsms);
    calendar_init(&m->calendar, &m->arena, m->nsms);
    m->mechs = *mechs;
    m->gpcs = arena_array(&m->arena, uint32_t, m->nsms + 1);
    while ((m->gpcs[m->ngpcs] = config_gpc(cfg, m->ngpcs)))
        m->ngpcs++;
    for (uint32_t k = 0; k < m->mechs.n; k++)
        if (m->mechs.at[k]->shared)
            m->shared[k] = m->mechs.at[k]->shared(&m->arena, config_values(config, &m->mechs.at[k]->params));
    for (uint32_t i = 0; i < m->nsms; i++) {
        m->sms[i] = sm_create(&m->arena, &m->core, m->mem, i);
        m->sms[i]->check.on = check;
        m->sms[i]->check.approximate = mech_approximate(mechs);
        m->sms[i]->check.out = &m->checked;
        m->sms[i]->peers = m->sms;
        add_mechanisms(m, config, m->sms[i]);
    }
    return m;
}

void machine_free(struct machine *m) {
    if (!m)
        return;
    for (uint32_t k = 0; k < m->mechs.n; k++)
        if (m->mechs.at[k]->release)
            m->mechs.at[k]->release(m->shared[k]);
    str_free(&m->checked);
    crew_free(m->crew);
    free(m->later);
    arena_free(&m->arena);
    free(m);
}

void run_block_done(void *ctx, struct cta *c) {
    struct run *r = ctx;
    if (cluster_end(c))
        vec_push(&r->spare, c->cluster);
    r->ended++;
}

/* The next cluster, started. */
static struct cluster *next_cluster(struct run *r) {
    struct cluster *k = r->spare.len ? r->spare.at[--r->spare.len] : NULL;
    if (!k) {
        k = cluster_create(r->x);
        vec_push(&r->all, k);
    }
    cluster_start(k, r->next);
    return k;
}

bool run_feed(struct run *r, uint32_t i) {
    struct sm *sm = r->m->sms[i];
    r->refused[i] = false;
    if (r->halted || r->next == r->total || sm->nblocks >= r->per_sm)
        return false;
    if (!sm_admits(sm, r->warps)) {
        r->refused[i] = true;
        return false;
    }
    struct cluster *k = next_cluster(r);
    if (!sm_add_block(sm, k->ctas[0])) {
        vec_push(&r->spare, k);
        return false;
    }
    k->ctas[0]->sm = i;
    r->next++;
    return true;
}

/* SMs of a group, from first on, that are to get a block each of a cluster: those with the fewest blocks.
 * False when there are not enough with room. */
static bool choose_sms(const struct run *r, uint32_t first, uint32_t size, uint32_t *to) {
    uint32_t n = 0;
    for (uint32_t blocks = 0; blocks < r->per_sm && blocks < CLUSTER_PER_SM && n < r->together; blocks++)
        for (uint32_t i = first; i < first + size && n < r->together; i++)
            if (r->m->sms[i]->nblocks == blocks && sm_has_room(r->m->sms[i], r->warps)) {
                r->refused[i] = !sm_admits(r->m->sms[i], r->warps);
                to[n] = i;
                n += !r->refused[i];
            }
    return n == r->together;
}

/* Gives a cluster to the next group of SMs that has room for one; between two cycles. */
static bool feed_cluster(struct run *r, uint64_t now) {
    struct machine *m = r->m;
    uint32_t to[CLUSTER_MAX], first = 0;
    if (r->next == r->total)
        return false;
    for (uint32_t k = 0; k < r->gpc; k++)
        first += m->gpcs[k];
    for (uint32_t tries = 0; tries < m->ngpcs; tries++) {
        bool fits = choose_sms(r, first, m->gpcs[r->gpc], to);
        first += m->gpcs[r->gpc];
        r->gpc = r->gpc + 1 < m->ngpcs ? r->gpc + 1 : 0;
        first = r->gpc ? first : 0;
        if (!fits)
            continue;
        struct cluster *k = next_cluster(r);
        for (uint32_t n = 0; n < r->together; n++) {
            struct sm *sm = m->sms[to[n]];
            if (!sm_idle(sm) && sm->now < now)
                sm_sleep(sm, now - sm->now);
            sm->now = now;
            sm_add_block(sm, k->ctas[n]);
            k->ctas[n]->sm = to[n];
            m->wake[to[n]] = now + 1;
            bits_add(&m->awake, to[n]);
        }
        r->next += r->together;
        return true;
    }
    return false;
}

static void feed_all(struct run *r, uint64_t now) {
    if (r->together > 1) {
        while (feed_cluster(r, now))
            continue;
        return;
    }
    for (bool any = true; any;) {
        any = false;
        for (uint32_t i = 0; i < r->m->nsms; i++)
            if (run_feed(r, i)) {
                any = true;
                r->m->wake[i] = now;
                bits_add(&r->m->awake, i);
            }
    }
}

static uint64_t issued(const struct machine *m) {
    uint64_t n = 0;
    for (uint32_t i = 0; i < m->nsms; i++)
        n += m->sms[i]->n.warp_insts;
    return n;
}

bool machine_idle(const struct machine *m) {
    for (uint32_t i = 0; i < m->nsms; i++)
        if (!sm_idle(m->sms[i]))
            return false;
    return true;
}

static bool hang(struct run *r, const char *what) {
    struct exec *x = r->x;
    x->fault = (struct fault){.status = RP_TIMEOUT, .what = what, .pc = UINT32_MAX};
    fault_describe(x, &x->report);
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->m->nsms; i++)
        n += sm_describe(r->m->sms[i], &x->report, n < STUCK_WARPS ? STUCK_WARPS - n : 0);
    if (n > STUCK_WARPS)
        str_printf(&x->report, "  and %u more warps\n", n - STUCK_WARPS);
    return false;
}

/* Wakes SMs that slept until now. */
static void wake_due(struct machine *m, uint64_t now) {
    struct bits *today = calendar_today(&m->calendar, now);
    BITS_EACH (today, i) {
        bits_remove(today, i);
        if (m->wake[i] <= now)
            bits_add(&m->awake, i);
    }
    if (m->calendar.far > now)
        return;
    m->calendar.far = NEVER;
    for (uint32_t i = 0; i < m->nsms; i++)
        if (m->wake[i] <= now)
            bits_add(&m->awake, i);
        else if (m->wake[i] != NEVER && !bits_has(&m->awake, i))
            calendar_add(&m->calendar, i, m->wake[i], now);
}

/* An SM sleeps until the cycle that it was told. */
static void fall_asleep(struct machine *m, uint32_t i, uint64_t now) {
    bits_remove(&m->awake, i);
    if (m->wake[i] != NEVER)
        calendar_add(&m->calendar, i, m->wake[i], now);
}

/* Ticks the SMs that are due; false after a fault. */
static bool tick_sms(struct run *r, uint64_t now) {
    struct machine *m = r->m;
    if (m->calendar.filled >> now % CALENDAR_SLOTS & 1 || m->calendar.far <= now)
        wake_due(m, now);
    uint64_t before = r->ended;
    bool denied = false;
    BITS_EACH (&m->awake, i) {
        if (m->wake[i] > now) /* a block entered between two cycles */
            continue;
        uint64_t ended = r->ended;
        bool refused = r->refused[i];
        denied |= refused;
        m->wake[i] = sm_tick(m->sms[i], now, run_block_done, r);
        if (sm_faulted(m->sms[i]))
            return false;
        /* Several blocks may have ended in this cycle, or while nobody could enter. */
        while ((r->ended != ended || refused) && r->together == 1 && run_feed(r, i))
            m->wake[i] = now + 1;
        if (m->wake[i] > now + 1)
            fall_asleep(m, i, now);
    }
    if (r->together > 1 && (r->ended != before || denied))
        feed_all(r, now);
    return true;
}

/* The next cycle after now in which something can happen; NEVER: in none. */
static uint64_t next_event(const struct run *r, uint64_t now) {
    struct machine *m = r->m;
    const struct port_times *port = memsys_port_times(m->mem, 0);
    struct bits *woken = memsys_woken(m->mem);
    for (uint32_t i = 0; r->together > 1 && i < m->nsms; i++)
        if (m->sms[i]->cluster_wake < m->wake[i]) /* another SM opened a barrier */
            bits_add(woken, i);
    for (uint32_t i = 0; woken->count && (i = bits_next(woken, i)) != NO_SLOT; i++) {
        uint64_t answer = min_u64(min_u64(port[i].first, port[i].retry), m->sms[i]->cluster_wake);
        bits_remove(woken, i);
        if (answer >= m->wake[i] || sm_idle(m->sms[i]))
            continue;
        m->wake[i] = answer;
        if (answer <= now + 1)
            bits_add(&m->awake, i);
        else
            calendar_add(&m->calendar, i, answer, now);
    }
    return m->awake.count ? now + 1 : min_u64(calendar_next(&m->calendar, now), memsys_next(m->mem));
}

/* Lets memory finish what nobody waits for any more: prefetched instructions, stores. */
static void drain(struct machine *m, uint64_t now) {
    struct mem_done d;
    while (!memsys_idle(m->mem)) {
        for (uint32_t i = 0; i < m->nsms; i++)
            for (uint32_t c = 0; c < MEM_CLIENTS; c++)
                while (memsys_pop(m->mem, now, i, (enum mem_client)c, &d))
                    continue;
        memsys_tick(m->mem, now);
        uint64_t next = memsys_next(m->mem);
        for (uint32_t i = 0; i < m->nsms; i++)
            next = min_u64(next, memsys_port_next(m->mem, i));
        now = next == NEVER || next <= now ? now + 1 : next;
    }
    m->now = now;
}

static uint32_t block_warps(const struct exec *x) {
    return (x->block[0] * x->block[1] * x->block[2] + WARP_LANES - 1) / WARP_LANES;
}

static void print_inst(const struct probe_kernel *k, uint32_t pc, struct str *inst, struct str *where) {
    const struct machine *m = k->ctx;
    const struct exec *x = k->exec;
    for (uint32_t s = 0; pc >= x->img->ncode; x = &m->sms[0]->streams[s++].x)
        pc -= x->img->ncode;
    const struct inst *in = &x->img->prog->code[pc];
    ir_print_inst(inst, in);
    str_printf(where, "%s:%u", x->module_name ? x->module_name : "ptx", in->line);
    if (in->dbg_line && x->file_name)
        str_printf(where, ", %s:%u", x->file_name(x->names, in->dbg_file), in->dbg_line);
}

/* The launch as probes see it; the SMs have opened their second streams, if they have any. */
static struct probe_kernel probe_kernel(const struct machine *m, const struct exec *x) {
    struct probe_kernel k = {
        .name = x->img->prog->name,
        .launch = x->grid_id - 1,
        .grid = {x->grid[0], x->grid[1], x->grid[2]},
        .block = {x->block[0], x->block[1], x->block[2]},
        .warps = block_warps(x),
        .ncode = x->img->ncode,
        .sms = m->nsms,
        .slots = m->core.warps,
        .nops = CORE_OPS,
        .print = print_inst,
        .ctx = m,
        .exec = x,
    };
    k.streams = m->sms[0]->nstreams;
    if (k.streams)
        k.slots = CORE_MAX_WARPS;
    for (uint32_t s = 0; s < k.streams; s++)
        k.ncode += m->sms[0]->streams[s].x.img->ncode;
    return k;
}

static void tell_kernel(const struct machine *m, enum probe_kind kind, const struct probe_kernel *k,
                        uint64_t now) {
    probe_tell(m->probe, &(struct probe_event){.kind = (uint8_t)kind, .cycle = now, .kernel = k});
}

/* Instructions that concern no mechanism: nobody is told when they issue. */
static void find_told(const struct machine *m, const struct image *img, const void *const *marks,
                      struct core_need *needs) {
    for (uint32_t pc = 0; pc < img->ncode; pc++) {
        bool told = false;
        for (uint32_t k = 0; k < m->mechs.n; k++)
            told |= !m->mechs.at[k]->concerns || m->mechs.at[k]->concerns(marks[k], pc);
        needs[pc].told = told;
    }
}

/* The SMs are ready for the launch; no block is on them. */
static void start(struct run *r, struct arena *launch) {
    struct machine *m = r->m;
    struct core_need *needs = core_needs(launch, r->x->img, m->sms[0]->spec);
    const void *marks[MECH_MAX] = {0};
    for (uint32_t k = 0; k < m->mechs.n; k++)
        if (m->mechs.at[k]->kernel)
            marks[k] = m->mechs.at[k]->kernel(m->shared[k], launch, r->x->img);
    find_told(m, r->x->img, marks, needs);
    memsys_flush_l1(m->mem);
    calendar_clear(&m->calendar);
    for (uint32_t i = 0; i < m->nsms; i++) {
        m->sms[i]->fit = r->per_sm;
        sm_watch(m->sms[i], m->probe);
        sm_start(m->sms[i], strands_exec(r, i), needs, marks);
        m->sms[i]->now = m->now;
        m->wake[i] = NEVER;
        bits_remove(&m->awake, i);
    }
}

/* Why the launch cannot go on, or NULL. */
static const char *stuck(const struct run *r, uint64_t idle, uint64_t next) {
    if (r->x->watchdog && r->x->warp_insts > r->x->watchdog)
        return "the limit of executed instructions was reached";
    if (next == NEVER && !machine_idle(r->m))
        return "nothing can happen any more: every warp waits";
    return idle > HANG_CYCLES ? "no instruction was issued for a long time" : NULL;
}

/* Blocks that a second stream runs beside cannot go on without it: no other begins, and these come to their
 * end, timed. */
static void wind_up(struct run *r) {
    r->total = r->next;
}

static void gather_run(void *run) {
    strands_gather(run);
}

/* Lets others act; false, with a report, when they want the launch to end. */
static bool let_others(struct run *r) {
    strands_count(r);
    r->x->gather = gather_run;
    r->x->gather_ctx = r;
    bool ok = exec_pause(r->x);
    r->x->gather = NULL;
    strands_paused(r);
    for (uint32_t i = 0; i < r->m->nsms; i++)
        for (uint32_t s = 0; s < r->m->sms[i]->nstreams; s++)
            r->m->sms[i]->streams[s].x.hint = r->x->hint;
    return ok || hang(r, r->x->stop);
}

/* Does a mechanism hold values that the machine without it could not find? */
static bool values_held(const struct machine *m) {
    for (uint32_t k = 0; k < m->mechs.n; k++)
        if (m->mechs.at[k]->points.registers.restore)
            return true;
    return false;
}

/* From now on no SM begins anything. */
static void halt(struct run *r, uint64_t now) {
    r->halted = true;
    for (uint32_t i = 0; i < r->m->nsms; i++)
        if (!sm_idle(r->m->sms[i])) {
            sm_halt(r->m->sms[i], now);
            r->m->wake[i] = now;
            bits_add(&r->m->awake, i);
        }
}

/* Has all ended that SMs had begun when they were halted? */
static bool quiet(const struct machine *m) {
    for (uint32_t i = 0; i < m->nsms; i++)
        if (!sm_quiet(m->sms[i]))
            return false;
    return true;
}

/* Lets warps go on, untimed, that cannot do so without a mechanism, until they can; false after a fault. */
static bool unbind(struct run *r) {
    enum { ALONE = 8, PAUSE = 1024 }; /* rounds */
    for (uint32_t round = 0;; round++) {
        uint64_t before = r->x->warp_insts;
        bool bound = false, others = round % ALONE == ALONE - 1, split = false;
        for (uint32_t i = 0; i < r->m->nsms; i++) {
            struct sm *sm = r->m->sms[i];
            bound |= sm_bound(sm);
            if (bound && !sm_unbind(sm, others)) {
                fault_describe(r->x, &r->x->report);
                return false;
            }
        }
        bool stands = bound && others && r->x->warp_insts == before;
        for (uint32_t i = 0; stands && i < r->m->nsms; i++)
            split |= sm_split_waiting(r->m->sms[i]);
        if (!bound || (stands && !split)) /* every thread waits: the rest of the launch will tell */
            return true;
        if (r->x->watchdog && r->x->warp_insts > r->x->watchdog)
            return hang(r, "the limit of executed instructions was reached");
        if (r->x->pause && round % PAUSE == PAUSE - 1 && !let_others(r))
            return false;
    }
}

/* Ends timing before cycle end: SMs that sleep count up to there, and the blocks are handed over. False after
 * a fault. */
static bool cut(struct run *r, uint64_t end, struct timed_span *span) {
    strands_count(r);
    for (uint32_t i = 0; i < r->m->nsms; i++) {
        struct sm *sm = r->m->sms[i];
        if (!sm_idle(sm) && sm->now + 1 < end)
            sm_sleep(sm, end - 1 - sm->now);
        sm_restore(sm);
    }
    memsys_stop_waiting(r->m->mem, end - 1);
    uint64_t before = r->x->warp_insts;
    r->x->clock = end - before; /* so that %clock goes on from here */
    if (!unbind(r))
        return false;
    r->untimed = r->x->warp_insts - before;
    for (uint32_t i = 0; i < r->m->nsms; i++) {
        struct sm *sm = r->m->sms[i];
        for (uint32_t b = 0; b < r->m->core.blocks; b++)
            if (sm->blocks[b].cta) {
                vec_push(&span->rest.begun, sm->blocks[b].cta);
                sm->blocks[b].cta = NULL;
            }
    }
    for (uint32_t i = 0; i < r->all.len; i++) /* blocks of a cluster stay together */
        for (uint32_t n = 0; r->all.at[i]->running && n < r->all.at[i]->n; n++)
            if (r->all.at[i]->ctas[n]->ended)
                vec_push(&span->rest.begun, r->all.at[i]->ctas[n]);
    span->rest.next = r->next;
    span->cut = true;
    return true;
}

/* Frees clusters, but for those that the rest of the launch still needs. */
static void free_blocks(struct run *r, bool cut) {
    for (uint32_t i = 0; i < r->m->nsms; i++)
        sm_close(r->m->sms[i]);
    for (uint32_t i = 0; i < r->all.len && !cut; i++)
        cluster_free(r->all.at[i]);
    for (uint32_t i = 0; i < r->spare.len && cut; i++)
        cluster_free(r->spare.at[i]);
    vec_free(&r->all);
    vec_free(&r->spare);
}

/* The launch, or what of it is timed, has ended: what SMs count at its end, and invariants of mechanisms. */
static void finish_sms(struct machine *m, uint64_t cycles, bool cut) {
    for (uint32_t i = 0; i < m->nsms; i++) {
        const char *wrong = sm_finish(m->sms[i], cycles, cut);
        if (wrong) {
            m->sms[i]->n.check_wrong++;
            str_printf(&m->checked, "check: SM %u: %s\n", i, wrong);
        }
    }
}

/* Counters of mechanisms are about to be read. */
static void tally(struct machine *m) {
    for (uint32_t i = 0; i < m->nsms; i++)
        for (uint32_t k = 0; k < m->mechs.n; k++)
            if (m->mechs.at[k]->tally)
                m->mechs.at[k]->tally(
                    (m->sms[i]->mech.n ? &m->sms[i]->mech : &m->sms[i]->resting)->at[k].state);
}

uint64_t machine_differing(const struct machine *m) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < m->nsms; i++)
        sum += m->sms[i]->check.differing;
    return sum;
}

/* Cycles for which it is sure that no limit of executed instructions is reached, of which so many may be;
 * mechanisms may pass over any number of them in one. */
static uint64_t cycles_below(const struct machine *m, const struct exec *x, uint64_t most) {
    uint64_t limit = min_u64(most, x->watchdog ? x->watchdog : UINT64_MAX);
    uint64_t each = (uint64_t)m->core.schedulers * m->core.width * m->nsms;
    return m->mechs.n || x->warp_insts >= limit ? 0 : (limit - x->warp_insts) / each;
}

bool machine_run(struct machine *m, struct exec *x, uint32_t per_sm, struct timed_span *span) {
    struct run r = {.m = m,
                    .x = x,
                    .total = (uint64_t)x->grid[0] * x->grid[1] * x->grid[2],
                    .per_sm = per_sm,
                    .warps = block_warps(x),
                    .together = x->cluster[0] * x->cluster[1] * x->cluster[2]};
    struct arena arena = {0};
    r.refused = arena_array(&arena, bool, m->nsms);
    uint64_t now = m->now, progress = now, last = issued(m);
    uint64_t end = span->max_cycles < NEVER - now ? now + span->max_cycles : NEVER;
    uint64_t show = span->progress.run ? now : NEVER, pause = x->pause ? now + PAUSE_CYCLES : NEVER;
    strands_begin(&r, &arena);
    start(&r, &arena);
    struct probe_kernel kernel = probe_kernel(m, x);
    tell_kernel(m, PROBE_KERNEL_BEGIN, &kernel, now);
    const uint64_t blocks = r.total;
    r.total = min_u64(r.total, span->max_blocks);
    feed_all(&r, now);
    uint64_t max_insts = span->max_insts;
    bool counts = x->watchdog || max_insts != UINT64_MAX; /* a number of instructions ends it ... */
    uint64_t sure = now;                                  /* ... but not before this cycle */
    bool ok = true;
    while (ok) {
        uint64_t limit = min_u64(min_u64(end, progress + HANG_CYCLES / 2), min_u64(show, pause));
        if (strands_can(&r, now, limit, max_insts)) {
            ok = strands_run(&r, &now, limit);
        } else {
            ok = tick_sms(&r, now);
            memsys_tick(m->mem, now);
            if (!ok || (counts && now >= sure)) {
                strands_count(&r);
                sure = now + cycles_below(m, x, max_insts);
            }
        }
        uint64_t next = next_event(&r, now);
        if (now - progress > HANG_CYCLES / 2) {
            uint64_t n = issued(m);
            progress = n != last ? now : progress;
            last = n;
        }
        const char *why = ok && !r.halted ? stuck(&r, now - progress, next) : NULL;
        if (!ok)
            fault_describe(x, &x->report);
        else if (why)
            ok = hang(&r, why);
        if (!ok || (r.ended == r.total && machine_idle(m)))
            break;
        if (now >= show) {
            strands_count(&r);
            launch_progress_tell(&span->progress, r.ended, x->warp_insts + x->passed, now - m->now);
            show = now + SHOW_CYCLES;
        }
        if (now >= pause) {
            pause = now + PAUSE_CYCLES;
            ok = let_others(&r);
            if (!ok)
                break;
        }
        bool most = x->warp_insts + x->passed >= max_insts && r.total == blocks;
        if (r.halted && now - progress > HANG_CYCLES && !quiet(m)) {
            ok = hang(&r, "what had begun when timing ended does not come to its end");
            break;
        }
        if (r.halted ? quiet(m) : most)
            end = now + 1;
        now = next == NEVER || next <= now ? now + 1 : next;
        if (now >= end && x->img->nstreams) {
            wind_up(&r);
            end = NEVER;
            max_insts = UINT64_MAX;
            counts = x->watchdog;
        } else if (now >= end && !r.halted && values_held(m)) {
            halt(&r, now = end);
            end = NEVER;
        } else if (now >= end) {
            now = end - 1;
            ok = cut(&r, end, span);
            break;
        }
    }
    span->cycles = ++now - m->now;
    strands_gather(&r);
    span->insts = x->warp_insts - r.untimed;
    if (!span->cut) /* what runs untimed behind it reads the clock from here on */
        x->clock = now - x->warp_insts;
    if (ok)
        finish_sms(m, span->cycles, span->cut);
    tally(m);
    if (ok && r.total != blocks) {
        span->rest.next = r.next;
        span->cut = true;
    }
    tell_kernel(m, PROBE_KERNEL_END, &kernel, now);
    drain(m, max_u64(now, r.drain_from));
    free_blocks(&r, span->cut);
    arena_free(&arena);
    return ok;
}
