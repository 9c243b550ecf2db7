/* DRAM, and the memory system as a whole: timing constraints against an independent checker, latencies as
 * configured, bandwidth, and that results depend neither on jumping over idle cycles nor on anything but the
 * input. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "gpu/mem_spec.h"
#include "mem/counters.h"

static struct arena arena;

static int free_arena(void **state) {
    (void)state;
    arena_free(&arena);
    return 0;
}

/* Numbers that look random and are the same everywhere. */
static uint32_t draw(uint64_t *rng, uint32_t below) {
    *rng = *rng * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((*rng >> 33) % below);
}

static struct gpu_config load_config(const char *name, const char *const *set) {
    struct config all = {.what = "GPU"};
    struct diag d = {0};
    config_add(&all, &gpu_params);
    if (!config_load(&all, name, set, CONFIG_DIR, &d))
        fail_msg("%s", str_text(&d.text));
    struct gpu_config c = *(const struct gpu_config *)config_values(&all, &gpu_params);
    diag_free(&d);
    config_free(&all);
    return c;
}

static struct mem_spec load_spec(const char *name) {
    struct gpu_config c = load_config(name, NULL);
    return mem_spec(&c);
}

/* ---- DRAM -------------------------------------------------------------------------------------------- */

/* Every command given, in order. */
struct command {
    uint64_t at, row;
    enum dram_command what;
    uint32_t bank;
};

enum { MAX_COMMANDS = 400000 };

struct history {
    struct command *list;
    uint32_t count;
};

static void record(void *ctx, uint64_t now, enum dram_command what, uint32_t bank, uint64_t row) {
    struct history *h = ctx;
    assert_true(h->count < MAX_COMMANDS);
    h->list[h->count++] = (struct command){now, row, what, bank};
}

/* Checks that at least gap ticks lie between command c and the last one before it that is of a kind in kinds
 * and on the same bank (scope 0), bank group (1) or channel (2). */
static void expect_gap(const struct history *h, const struct dram_spec *s, uint32_t c, uint32_t kinds,
                       int scope, uint64_t gap, uint32_t skip) {
    const struct command *x = &h->list[c];
    for (uint32_t i = c; i-- > 0 && x->at - h->list[i].at < gap;) {
        const struct command *y = &h->list[i];
        bool same =
            scope == 2 || (scope == 1 ? y->bank % s->groups == x->bank % s->groups : y->bank == x->bank);
        if (!same || !(kinds >> y->what & 1))
            continue;
        if (skip-- > 0)
            continue;
        fail_msg("command %u (kind %d) at %lu comes %lu after kind %d, not %lu", c, x->what,
                 (unsigned long)x->at, (unsigned long)(x->at - y->at), y->what, (unsigned long)gap);
    }
}

enum { ACT = 1 << DRAM_ACTIVATE, PRE = 1 << DRAM_PRECHARGE, RD = 1 << DRAM_READ, WR = 1 << DRAM_WRITE };

/* The rules of the data sheet, each by itself, over the whole history. */
static void check_history(const struct history *h, const struct dram_spec *s) {
    const struct dram_timing *t = &s->t;
    uint64_t open[64], burst = s->burst_ticks;
    memset(open, 0xff, sizeof open);
    for (uint32_t i = 0; i < h->count; i++) {
        const struct command *c = &h->list[i];
        assert_true(c->bank < s->banks);
        assert_true(i == 0 || c->at > h->list[i - 1].at); /* one command bus */
        switch (c->what) {
        case DRAM_ACTIVATE:
            assert_true(open[c->bank] == UINT64_MAX);
            open[c->bank] = c->row;
            expect_gap(h, s, i, ACT, 0, t->rc, 0);
            expect_gap(h, s, i, ACT, 2, t->rrd, 0);
            expect_gap(h, s, i, ACT, 2, t->faw, 3);
            expect_gap(h, s, i, PRE, 0, t->rp, 0);
            break;
        case DRAM_PRECHARGE:
            assert_true(open[c->bank] == c->row);
            open[c->bank] = UINT64_MAX;
            expect_gap(h, s, i, ACT, 0, t->ras, 0);
            expect_gap(h, s, i, RD, 0, t->rtp, 0);
            expect_gap(h, s, i, WR, 0, t->wl + burst + t->wr, 0);
            break;
        case DRAM_READ:
            assert_true(open[c->bank] == c->row);
            expect_gap(h, s, i, ACT, 0, t->rcd, 0);
            expect_gap(h, s, i, RD, 2, burst > t->ccd ? burst : t->ccd, 0);
            expect_gap(h, s, i, RD, 1, t->ccdl, 0);
            expect_gap(h, s, i, WR, 2, t->wl + burst + t->wtr, 0);
            break;
        case DRAM_WRITE:
            assert_true(open[c->bank] == c->row);
            expect_gap(h, s, i, ACT, 0, t->rcd, 0);
            expect_gap(h, s, i, WR, 2, burst > t->ccd ? burst : t->ccd, 0);
            expect_gap(h, s, i, WR, 1, t->ccdl, 0);
            expect_gap(h, s, i, RD, 2, t->cl + burst + 1 - t->wl, 0);
            break;
        }
    }
}

/* The channel of a GTX 480. */
static struct dram_spec channel(void) {
    return load_spec("gtx480").dram;
}

/* Random requests, with bursts of locality, read and written; returns the ticks it took. pattern: 0 random, 1
 * a stream of reads, 2 a stream of writes, 3 a stream of both. */
static uint64_t run_channel(struct dram *d, uint32_t requests, uint32_t pattern, uint64_t seed) {
    uint64_t rng = seed, line = 0, tick = 0;
    uint32_t pushed = 0, reads = 0, done = 0, id;
    uint8_t sectors;
    uint8_t *state = arena_array(&arena, uint8_t, requests);
    while (pushed < requests || !dram_idle(d)) {
        bool write =
            pattern == 2 || (pattern == 3 && pushed / 16 % 2) || (pattern == 0 && draw(&rng, 3) == 0);
        bool wants = pattern != 0 || draw(&rng, 4) == 0;
        if (pushed < requests && wants && dram_has_room(d, write)) {
            line = pattern == 0 && draw(&rng, 4) == 0 ? draw(&rng, 1 << 20) : line + 1;
            state[pushed] = (uint8_t)(pattern == 0 ? 1 + draw(&rng, 15) : 15);
            dram_push(d, tick, line * MEM_MAX_LINE, state[pushed], write, pushed);
            reads += !write;
            pushed++;
        }
        if (dram_next(d) <= tick)
            dram_tick(d, tick);
        while (dram_pop_at(d) <= tick) { /* each comes back once, with what was asked for */
            dram_pop(d, &id, &sectors);
            assert_int_equal(state[id], sectors);
            state[id] = 0;
            done++;
        }
        tick++;
        assert_true(tick < 100 * (uint64_t)requests + 10000);
    }
    assert_int_equal(done, reads);
    return tick;
}

/* No constraint is broken, whatever comes; neither with timing in which every value is odd and large. */
static void test_dram_rules(void **state) {
    (void)state;
    struct dram_spec specs[] = {channel(), load_spec("gtx1080ti").dram, load_spec("h200").dram, channel()};
    specs[3].t = (struct dram_timing){.rcd = 23,
                                      .rp = 17,
                                      .ras = 31,
                                      .rc = 61,
                                      .rrd = 11,
                                      .faw = 71,
                                      .cl = 19,
                                      .wl = 7,
                                      .ccd = 5,
                                      .ccdl = 9,
                                      .wr = 29,
                                      .wtr = 13,
                                      .rtp = 15};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
        for (uint32_t pattern = 0; pattern < 4; pattern++) {
            struct history h = {arena_array(&arena, struct command, MAX_COMMANDS), 0};
            struct dram *d = dram_create(&arena, &specs[i]);
            dram_watch(d, record, &h);
            run_channel(d, 10000, pattern, i + 1);
            check_history(&h, &specs[i]);
            const struct dram_counters *n = dram_counters(d);
            assert_int_equal(n->read_bursts + n->write_bursts + n->activates + n->precharges, h.count);
            assert_int_equal(n->row_hits + n->row_misses, n->reads + n->writes);
            arena_free(&arena);
        }
}

/* Streams reach at least 85% of the bus, reads nearly all of it. */
static void test_dram_bandwidth(void **state) {
    (void)state;
    static const char *const gpus[] = {"gtx480", "gtx1080ti", "h200"};
    for (size_t i = 0; i < sizeof gpus / sizeof *gpus; i++)
        for (uint32_t pattern = 1; pattern < 4; pattern++) {
            struct dram_spec s = load_spec(gpus[i]).dram;
            struct dram *d = dram_create(&arena, &s);
            uint64_t ticks = run_channel(d, 20000, pattern, 1);
            double used = (double)dram_counters(d)->busy / (double)ticks;
            assert_true(used > (pattern == 1 ? 0.95 : pattern == 2 ? 0.85 : 0.70) && used <= 1);
            arena_free(&arena);
        }
}

/* Ticks until the read of one line is back. */
static uint64_t read_line(struct dram *d, uint64_t now, uint64_t line, uint8_t sectors) {
    uint32_t id;
    uint8_t got;
    dram_push(d, now, line * MEM_MAX_LINE, sectors, false, 1);
    for (uint64_t t = now;; t++) {
        dram_tick(d, t);
        if (dram_pop_at(d) <= t) {
            dram_pop(d, &id, &got);
            return t - now;
        }
        assert_true(t < now + 10000);
    }
}

static void test_dram_latency(void **state) {
    (void)state;
    struct dram_spec s = channel();
    s.hash = false;
    struct dram *d = dram_create(&arena, &s);
    const struct dram_timing *t = &s.t;
    uint64_t hit = t->cl + s.burst_ticks + s.latency, row_lines = s.row / MEM_MAX_LINE * s.banks;
    assert_int_equal(read_line(d, 1000, 0, 0x1), t->rcd + hit);                 /* closed */
    assert_int_equal(read_line(d, 2000, 1, 0x1), hit);                          /* open */
    assert_int_equal(read_line(d, 3000, 0, 0xf), hit + t->ccdl);                /* two bursts of one bank */
    assert_int_equal(read_line(d, 4000, 0, 0x9), hit + t->ccdl);                /* 64 bytes each */
    assert_int_equal(read_line(d, 5000, row_lines, 0x1), t->rp + t->rcd + hit); /* another row of the bank */
    assert_int_equal(read_line(d, 6000, row_lines + 2, 0x1), t->rcd + hit);     /* another bank */
    const struct dram_counters *n = dram_counters(d);
    assert_true(n->row_hits == 3 && n->row_misses == 3 && n->precharges == 1);
}

/* A row hit goes before an older request for another row, but not for ever. */
static void test_dram_order(void **state) {
    (void)state;
    struct dram_spec s = channel();
    s.hash = false;
    s.starve = 300;
    s.latency = 0;
    struct dram *d = dram_create(&arena, &s);
    uint64_t row_lines = s.row / MEM_MAX_LINE * s.banks, tick = 0, other_done = 0;
    uint32_t id, hits = 0, sent = 0;
    uint8_t sectors;
    read_line(d, 0, 0, 0x1);
    tick = 1000;
    dram_push(d, tick, row_lines * MEM_MAX_LINE, 1, false, 9999); /* same bank, other row */
    for (; !other_done; tick++) {
        if (dram_has_room(d, false)) /* a stream of hits to the open row */
            dram_push(d, tick, (sent++ % 2) * (uint64_t)MEM_MAX_LINE, 1, false, 0);
        dram_tick(d, tick);
        while (dram_pop_at(d) <= tick) {
            dram_pop(d, &id, &sectors);
            if (id == 9999)
                other_done = tick;
            else
                hits++;
        }
        assert_true(tick < 5000);
    }
    assert_true(hits > 50 && other_done > 1300 && other_done < 1400 && dram_counters(d)->starved > 0);
}

/* Reads and writes that are served as they come share a queue, and break no rule; a stream of both gets less
 * of the bus than where writes wait for each other. */
static void test_dram_mixed(void **state) {
    (void)state;
    double used[2];
    for (int mixed = 0; mixed < 2; mixed++) {
        struct dram_spec s = channel();
        s.queue = 16;
        s.mixed = mixed;
        for (uint32_t pattern = 0; pattern < 4; pattern++) {
            struct history h = {arena_array(&arena, struct command, MAX_COMMANDS), 0};
            struct dram *d = dram_create(&arena, &s);
            dram_watch(d, record, &h);
            uint64_t ticks = run_channel(d, 10000, pattern, 5);
            check_history(&h, &s);
            used[mixed] = (double)dram_counters(d)->busy / (double)ticks; /* of the last pattern */
            arena_free(&arena);
        }
        struct dram *d = dram_create(&arena, &s);
        for (uint32_t i = 0; i < s.queue; i++) {
            assert_true(dram_has_room(d, i % 2));
            dram_push(d, 0, i * (uint64_t)MEM_MAX_LINE, 1, i % 2, i);
        }
        assert_int_equal(dram_has_room(d, false), !mixed);
        assert_int_equal(dram_has_room(d, true), !mixed);
        arena_free(&arena);
    }
    assert_true(used[1] < used[0] && used[1] > 0.3);
}

/* One channel sees every tick, its twin only those in which it is given something or data may come: both give
 * the same data in the same ticks, and what is told of the next data is never too late. */
static void test_dram_seen_seldom(void **state) {
    (void)state;
    struct dram_spec s = channel();
    uint64_t seed = 9;
    for (uint32_t busy = 0; busy < 3; busy++) {
        struct dram *often = dram_create(&arena, &s), *seldom = dram_create(&arena, &s);
        uint64_t look = NEVER, reads = 0;
        uint32_t looks = 0;
        for (uint64_t tick = 1; tick < 60000; tick++) {
            seed = seed * 6364136223846793005 + 1442695040888963407;
            bool write = seed >> 40 & 1, push = (seed >> 50) % (busy == 0 ? 200 : busy == 1 ? 20 : 3) == 0;
            if (push) {
                dram_run(seldom, tick - 1);
                assert_int_equal(dram_has_room(seldom, write), dram_has_room(often, write));
            }
            if (push && dram_has_room(often, write)) {
                uint64_t line = (seed >> 20) % 4096 * s.line;
                dram_push(often, tick, line, 3, write, (uint32_t)tick);
                dram_push(seldom, tick, line, 3, write, (uint32_t)tick);
                look = dram_pop_from(seldom);
            }
            if (dram_next(often) <= tick)
                dram_tick(often, tick);
            if (look <= tick) {
                looks++;
                dram_run(seldom, tick);
                assert_true(dram_pop_at(seldom) == dram_pop_at(often));
            }
            while (dram_pop_at(often) <= tick) {
                uint32_t id[2];
                uint8_t sectors[2];
                assert_true(look <= tick && dram_pop_at(seldom) == dram_pop_at(often));
                dram_pop(often, &id[0], &sectors[0]);
                dram_pop(seldom, &id[1], &sectors[1]);
                assert_true(id[0] == id[1] && sectors[0] == sectors[1]);
                reads++;
            }
            if (look <= tick)
                look = dram_pop_from(seldom);
        }
        dram_run(seldom, 59999);
        assert_memory_equal(dram_counters(often), dram_counters(seldom), sizeof(struct dram_counters));
        assert_true(reads > 100 && (busy || looks < 2 * reads));
    }
}

/* ---- the whole: latency ------------------------------------------------------------------------------ */

/* Cycles from a load of one line to its completion. */
static uint64_t load_line(struct memsys *m, uint64_t *now, uint64_t line) {
    struct mem_access x = {
        .line = line * MEM_MAX_LINE, .sectors = 15, .kind = MEM_LOAD, .lanes = ~0u, .bytes = 128};
    struct mem_done d;
    memsys_tick(m, *now);
    uint64_t start = *now;
    struct bits *woken = memsys_woken(m);
    bits_remove(woken, 0);
    enum mem_result r = memsys_access(m, *now, 0, MEM_DATA, &x, 7);
    assert_true(mem_accepted(r) && !woken->count);
    while (!memsys_pop(m, *now, 0, MEM_DATA, &d))
        memsys_tick(m, ++*now);
    assert_true(bits_has(woken, 0) == (r != MEM_HIT) && woken->count <= 1); /* it was told of what came */
    assert_int_equal(d.token, 7);
    ++*now;
    return d.ready - start;
}

/* What the host copied lies in L2: a load of it takes no longer than one that was loaded before; what does
 * not fit is not there. */
static void test_copies(void **state) {
    (void)state;
    struct mem_spec s = load_spec("gtx480");
    const struct tags_spec *t = &s.l2.bank.tags;
    uint64_t lines = (uint64_t)s.partitions * t->sets * t->ways, now = 0;
    struct memsys *m = memsys_create(&arena, &s);
    uint64_t cold = load_line(m, &now, 8 * lines);
    memsys_copied(m, 0, 64 * MEM_MAX_LINE);
    uint64_t warm = load_line(m, &now, 17);
    memsys_flush_l1(m);
    uint64_t again = load_line(m, &now, 17);
    assert_true(warm < cold && warm <= again + 2 && again <= warm + 2);
    memsys_copied(m, 0, 4 * lines * MEM_MAX_LINE);
    memsys_flush_l1(m);
    assert_true(load_line(m, &now, 17) > warm + 20);
    assert_true(load_line(m, &now, 4 * lines - 1) <= warm + 2);
}

/* With equal clocks, every step can be counted. */
static void test_latency(void **state) {
    (void)state;
    struct mem_spec s = load_spec("gtx480");
    s.icnt_clock = s.l2_clock = s.dram_clock = clock_make(1, 1);
    struct memsys *m = memsys_create(&arena, &s);
    uint64_t now = 10, flits = (128 + s.reply.header + 31) / 32;
    /* Out of the SM, into L2 and the network back, and into registers: a cycle each. */
    uint64_t l2 = 4 + 2 * s.request.latency + s.l2.latency + flits;
    /* Into DRAM and back; a row is opened; two bursts. */
    uint64_t dram = 1 + s.dram.t.rcd + s.dram.t.ccdl + s.dram.t.cl + s.dram.burst_ticks + s.dram.latency;
    assert_int_equal(load_line(m, &now, 0), l2 + dram + 1);
    assert_int_equal(load_line(m, &now, 0), s.l1.cache.latency);
    memsys_flush_l1(m);
    assert_int_equal(load_line(m, &now, 0), l2);
    assert_true(memsys_idle(m) && memsys_next(m) == NEVER);
}

/* Table II of WIR: L2 after 200 cycles, DRAM after 440. */
static void test_latency_wir(void **state) {
    (void)state;
    struct mem_spec s = load_spec("wir");
    uint64_t sum = 0;
    for (uint64_t start = 0; start < 25; start++) { /* DRAM's clock is 33 / 25 of the core's */
        struct memsys *m = memsys_create(&arena, &s);
        uint64_t now = 1000 + start, dram = load_line(m, &now, 5);
        assert_true(dram >= 439 && dram <= 441);
        sum += dram;
        assert_int_equal(load_line(m, &now, 5), s.l1.cache.latency);
        memsys_flush_l1(m);
        assert_int_equal(load_line(m, &now, 5), 200);
        arena_free(&arena);
    }
    assert_true(sum > 25 * 439.5 && sum < 25 * 440.5);
}

/* ---- the whole: traffic ------------------------------------------------------------------------------ */

/* One SM's side of a run: the accesses it will make, one after the other. */
struct sm_state {
    uint64_t rng, at; /* next attempt */
    uint32_t left, waiting;
    struct mem_access x;
    enum mem_client client;
    uint32_t epoch;
    bool pending, stalled;
};

enum mode { EVERY_CYCLE, EAGER, JUMP };

/* Whether the SMs work before the memory system in each cycle, or after it. */
static bool sms_first;

struct outcome {
    uint64_t cycles, hash, completions;
    uint64_t counters;
};

static void mix(uint64_t *h, uint64_t v) {
    *h = (*h ^ v) * UINT64_C(0x100000001b3);
    *h ^= *h >> 29;
}

static uint32_t line_bytes; /* of the memory system that runs */

static void next_access(struct sm_state *s) {
    static const enum mem_client clients[] = {MEM_DATA,    MEM_DATA,     MEM_DATA, MEM_DATA,
                                              MEM_TEXTURE, MEM_CONSTANT, MEM_INST};
    uint32_t what = draw(&s->rng, 10);
    s->client = clients[draw(&s->rng, 7)];
    s->x = (struct mem_access){
        .line = (uint64_t)(draw(&s->rng, 3) ? draw(&s->rng, 64) : draw(&s->rng, 100000)) * line_bytes,
        .sectors = (uint8_t)(1 + draw(&s->rng, mem_all_sectors(line_bytes))),
        .lanes = ~0u,
        .bytes = 32,
        .kind = MEM_LOAD};
    if (s->client == MEM_DATA && what < 3) {
        s->x.kind = what == 0 ? MEM_ATOMIC : MEM_STORE;
        s->x.flags = draw(&s->rng, 2) ? MEM_LOCAL : 0;
        s->x.full = s->x.sectors & (uint8_t)draw(&s->rng, 16);
        s->x.ops = 32;
        s->x.serial = (uint8_t)(1 + draw(&s->rng, 32));
        if (what == 0)
            s->x.flags = draw(&s->rng, 2) ? MEM_RETURN : 0;
    } else if (s->client == MEM_DATA) {
        s->x.flags = (uint8_t)(what == 3 ? MEM_BYPASS : what == 4 ? MEM_LOCAL : 0);
    }
    s->pending = true;
    s->left--;
}

/* One SM in one cycle: takes completions, makes an access if it is time. */
static void step(struct memsys *m, struct sm_state *s, uint32_t sm, uint64_t now, bool jump,
                 struct outcome *o) {
    struct mem_done d;
    for (enum mem_client c = 0; c < MEM_CLIENTS; c++)
        while (memsys_pop(m, now, sm, c, &d)) {
            mix(&o->hash, now << 20 | sm << 8 | (uint64_t)c << 4 | d.kind);
            mix(&o->hash, d.token);
            o->completions++;
            s->waiting--;
        }
    if (!s->pending || now < s->at)
        return;
    if (jump && s->stalled && *memsys_port_epoch(m, sm, s->client) == s->epoch)
        return;
    s->epoch = *memsys_port_epoch(m, sm, s->client);
    enum mem_result r = memsys_access(m, now, sm, s->client, &s->x, s->left);
    s->stalled = !mem_accepted(r) && r != MEM_STALL_PORT;
    s->at = now + 1;
    if (!mem_accepted(r))
        return;
    s->waiting++;
    s->pending = false;
    if (s->left) {
        next_access(s);
        s->at = now + 1 + (draw(&s->rng, 20) ? draw(&s->rng, 3) : draw(&s->rng, 3000));
    }
}

/* The first cycle after now in which anyone has something to do. */
static uint64_t next_cycle(const struct memsys *m, const struct sm_state *s, uint32_t sms, uint64_t now) {
    uint64_t next = memsys_next(m);
    for (uint32_t i = 0; i < sms; i++) {
        next = min_u64(next, memsys_port_next(m, i));
        if (s[i].pending && !s[i].stalled)
            next = min_u64(next, s[i].at);
        if (s[i].stalled && *memsys_port_epoch(m, i, s[i].client) != s[i].epoch)
            next = now + 1;
    }
    return max_u64(next, now + 1);
}

static void mix_table(uint64_t *h, const struct counter_table *t, const void *counts) {
    for (uint32_t i = 0; i < t->count; i++)
        mix(h, counter_value(&t->rows[i], counts));
}

/* All counters of all units in one number. */
static uint64_t count_all(struct memsys *m, const struct mem_spec *s) {
    uint64_t h = 1;
    for (uint32_t i = 0; i < s->sms; i++) {
        for (enum mem_client c = 0; c < MEM_CLIENTS; c++) {
            const struct cache *x = memsys_cache(m, i, c);
            mix_table(&h, &cache_counter_table, &x->n);
            mix_table(&h, &cache_data_table, &x->n);
            mix_table(&h, &bank_counter_table, &x->bank.n);
            mix_table(&h, &bank_prefetch_table, &x->bank.n);
        }
        mix_table(&h, &l1_counter_table, &memsys_l1(m, i)->n);
    }
    for (uint32_t i = 0; i < s->partitions; i++) {
        mix_table(&h, &l2_counter_table, l2_counters(memsys_l2(m, i)));
        mix_table(&h, &dram_counter_table, dram_counters(memsys_dram(m, i)));
    }
    mix_table(&h, &icnt_counter_table, icnt_counters(memsys_requests(m)));
    mix_table(&h, &icnt_counter_table, icnt_counters(memsys_replies(m)));
    return h;
}

/* Runs the accesses of active SMs to the end. */
static struct outcome run(const struct mem_spec *s, enum mode mode, uint32_t active, uint32_t accesses) {
    struct memsys *m = memsys_create(&arena, s);
    struct sm_state *sm = arena_array(&arena, struct sm_state, s->sms);
    struct outcome o = {0};
    uint32_t busy = active;
    uint64_t now = 0;
    memsys_set_eager(m, mode == EAGER);
    line_bytes = s->dram.line;
    for (uint32_t i = 0; i < active; i++) {
        sm[i].rng = i + 1;
        sm[i].left = accesses;
        next_access(&sm[i]);
    }
    while (busy) {
        if (!sms_first)
            memsys_tick(m, now);
        busy = 0;
        for (uint32_t i = 0; i < active; i++) {
            step(m, &sm[i], i, now, mode == JUMP, &o);
            busy += sm[i].pending || sm[i].waiting;
        }
        if (sms_first)
            memsys_tick(m, now);
        if (busy)
            now = mode == JUMP ? next_cycle(m, sm, active, now) : now + 1;
        assert_true(now < 10000 * (uint64_t)accesses * active + 100000);
    }
    o.cycles = now;
    while (memsys_next(m) != NEVER) /* lines that were written back are still on their way */
        memsys_tick(m, now = max_u64(now + 1, mode == JUMP ? memsys_next(m) : 0));
    assert_true(memsys_idle(m));
    o.counters = count_all(m, s);
    arena_free(&arena);
    return o;
}

/* Every access completes once, and results are the same however cycles are gone through, and from run to run.
 */
static void test_jump(void **state) {
    (void)state;
    static const char *const gpus[] = {"gtx480", "wir", "dac", "gtx1080ti", "h200"};
    enum { GPUS = sizeof gpus / sizeof *gpus };
    for (size_t i = 0; i < 2 * GPUS; i++) {
        struct mem_spec s = load_spec(gpus[i % GPUS]);
        s.sms = 6;
        sms_first = i >= GPUS;
        if (i % GPUS == 2) { /* little of everything, so that everything stalls */
            s.l1.cache.bank.mshrs = s.l2.bank.mshrs = 2;
            s.l1.cache.bank.merges = s.l2.bank.merges = 2;
            s.l1.cache.bank.queue = s.l2.bank.queue = s.l2.queue = 2;
            s.l1.cache.stores = 2;
            s.l1.cache.interval = 3;
            s.request.input_queue = s.request.output_queue = s.reply.input_queue = s.reply.output_queue = 1;
            s.dram.queue = s.dram.write_queue = s.dram.write_high = 2;
            s.dram.write_low = 1;
            s.dram.starve = 50;
        }
        struct outcome a = run(&s, EVERY_CYCLE, 6, 1500), b = run(&s, EVERY_CYCLE, 6, 1500);
        struct outcome c = run(&s, EAGER, 6, 1500), d = run(&s, JUMP, 6, 1500);
        assert_int_equal(a.completions, 6 * 1500);
        assert_memory_equal(&a, &b, sizeof a);
        assert_memory_equal(&a, &c, sizeof a);
        assert_memory_equal(&a, &d, sizeof a);
    }
}

/* A value of a parameter for --set, most often a small one, where things run out. */
static const char *any_value(const struct param *p, uint64_t *rng) {
    double range = p->max - p->min;
    switch (p->type) {
    case PARAM_INT:
        return arena_printf(&arena, "%s=%d", p->path,
                            (int)(p->min + draw(rng, range < 40 ? (uint32_t)range + 1 : 40)));
    case PARAM_BYTES:
        return arena_printf(&arena, "%s=%u", p->path,
                            p->max > 128 ? 128u << draw(rng, 10) : 32u << draw(rng, 3));
    case PARAM_BOOL:
        return arena_printf(&arena, "%s=%s", p->path, draw(rng, 2) ? "true" : "false");
    case PARAM_ENUM:
        return arena_printf(&arena, "%s=%s", p->path, p->choices[draw(rng, 2)]);
    default:
        return arena_printf(&arena, "%s=%u", p->path, 100 + draw(rng, 4000));
    }
}

/* Whatever a valid configuration says, every access completes, and jumping changes nothing. */
static void test_any_config(void **state) {
    (void)state;
    static const char *const groups[] = {"cache.", "l1.", "texcache.", "constcache.", "icache.",
                                         "icnt.",  "l2.", "dram.",     "clock."};
    uint64_t rng = 7;
    uint32_t valid = 0, short_lines = 0;
    struct config config = {.what = "GPU"};
    config_add(&config, &gpu_params);
    while (valid < 40) {
        const char *set[512] = {"device.sms=3"};
        assert_true(gpu_params.count < 512);
        uint32_t n = 1;
        for (uint32_t i = 0; i < gpu_params.count; i++)
            for (size_t g = 0; g < sizeof groups / sizeof *groups; g++)
                if (!strncmp(gpu_params.rows[i].path, groups[g], strlen(groups[g])) && draw(&rng, 8) == 0)
                    set[n++] = any_value(&gpu_params.rows[i], &rng);
        struct diag d = {0};
        if (config_load(&config, draw(&rng, 2) ? "gtx480" : "gtx1080ti", set, CONFIG_DIR, &d)) {
            struct mem_spec s = mem_spec(config_values(&config, &gpu_params));
            arena_free(&arena);
            sms_first = valid % 2;
            struct outcome a = run(&s, EVERY_CYCLE, 3, 200), b = run(&s, JUMP, 3, 200),
                           e = run(&s, EAGER, 3, 200);
            assert_int_equal(a.completions, 600);
            assert_memory_equal(&a, &b, sizeof a);
            assert_memory_equal(&a, &e, sizeof a);
            short_lines += s.dram.line < MEM_MAX_LINE;
            valid++;
        }
        arena_free(&arena);
        diag_free(&d);
    }
    assert_true(short_lines > 1);
    config_free(&config);
}

/* ---- the whole: bandwidth and cost ------------------------------------------------------------------- */

/* All SMs read one long stream; returns the share of DRAM's peak. */
static double stream(const char *gpu, uint64_t lines) {
    struct gpu_config c = load_config(gpu, NULL);
    struct mem_spec s = mem_spec(&c);
    struct memsys *m = memsys_create(&arena, &s);
    uint64_t now = 0, sent = 0, done = 0;
    for (; done < lines; now++) {
        memsys_tick(m, now);
        for (uint32_t i = 0; i < s.sms; i++) {
            struct mem_done d;
            struct mem_access x = {
                .line = sent * MEM_MAX_LINE, .sectors = 15, .kind = MEM_LOAD, .lanes = ~0u};
            while (memsys_pop(m, now, i, MEM_DATA, &d))
                done++;
            sent += sent < lines && mem_accepted(memsys_access(m, now, i, MEM_DATA, &x, 0));
        }
    }
    arena_free(&arena);
    double seconds = (double)now / (c.clock_sm * 1e6), peak = c.dram_bus / 8.0 * 2e6 * c.clock_dram;
    return (double)lines * MEM_MAX_LINE / seconds / peak;
}

static void test_bandwidth(void **state) {
    (void)state;
    static const char *const gpus[] = {"gtx480", "gscalar", "cmrc", "dac", "gtx1080ti", "darsie"};
    for (size_t i = 0; i < sizeof gpus / sizeof *gpus; i++) {
        double share = stream(gpus[i], 30000);
        assert_true(share > 0.85 && share < 1);
    }
    /* WIR's network moves 32 bytes at each of 6 ports, 700 million times a second, a header with every line:
     * 107.5 GB/s of DRAM's 177.4. */
    double share = stream("wir", 30000);
    assert_true(share > 0.57 && share < 0.607);
}

/* Chunks go around the partitions, and addresses within one are as dense as those outside. */
static void test_partitions(void **state) {
    (void)state;
    for (uint32_t hash = 0; hash < 2; hash++) {
        struct mem_spec s = {.partitions = 6, .interleave = 256, .hash = hash};
        uint64_t local;
        uint32_t count[6] = {0};
        for (uint64_t round = 0; round < 600; round++) {
            uint32_t seen = 0;
            for (uint64_t i = 0; i < 6; i++) {
                uint32_t p = memsys_partition(&s, (round * 6 + i) * 256 + 160, &local);
                assert_int_equal(local, round * 256 + 160);
                seen |= 1u << p;
                count[p] += i == 0;
            }
            assert_int_equal(seen, 0x3f);
        }
        for (uint32_t i = 0; i < 6; i++) /* a stride of a whole round: one partition, or all of them */
            assert_true(hash ? count[i] > 50 && count[i] < 150 : count[i] == (i == 0 ? 600 : 0));
    }
}

static double cpu_seconds(const struct mem_spec *s, uint32_t active, uint32_t accesses) {
    double best = 1e9;
    for (uint32_t i = 0; i < 3; i++) {
        clock_t start = clock();
        run(s, JUMP, active, accesses);
        double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
        best = seconds < best ? seconds : best;
    }
    return best;
}

/* Idle SMs and partitions cost nothing but their making; twice the work costs twice the time. Bounds are
 * wide, since this is a clock: what is ruled out is cost that grows with the machine, or faster than the
 * work. */
static void test_cost(void **state) {
    (void)state;
    struct mem_spec s = load_spec("gtx480"), large = s;
    s.sms = 4;
    large.sms = 256;
    double few = cpu_seconds(&s, 2, 10000), many = cpu_seconds(&large, 2, 10000),
           idle = cpu_seconds(&large, 2, 1);
    assert_true(many - idle < 4 * few + 0.05);
    double twice = cpu_seconds(&s, 2, 40000);
    assert_true(twice < 10 * few + 0.05);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_dram_rules, free_arena),
        cmocka_unit_test_teardown(test_dram_bandwidth, free_arena),
        cmocka_unit_test_teardown(test_dram_latency, free_arena),
        cmocka_unit_test_teardown(test_dram_order, free_arena),
        cmocka_unit_test_teardown(test_dram_mixed, free_arena),
        cmocka_unit_test_teardown(test_dram_seen_seldom, free_arena),
        cmocka_unit_test_teardown(test_copies, free_arena),
        cmocka_unit_test_teardown(test_latency, free_arena),
        cmocka_unit_test_teardown(test_latency_wir, free_arena),
        cmocka_unit_test_teardown(test_jump, free_arena),
        cmocka_unit_test_teardown(test_any_config, free_arena),
        cmocka_unit_test_teardown(test_bandwidth, free_arena),
        cmocka_unit_test(test_partitions),
        cmocka_unit_test_teardown(test_cost, free_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
