/* Caches that write back, with lines of 64 bytes, over a DRAM channel: what a CPU is made of, with no GPU
 * anywhere. One level and two, against a plain model of a cache, and with many accesses under way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "mem/cache.h"
#include "mem/counters.h"
#include "mem/dram.h"
#include "stats/registry.h"

enum { LINE = 64, ALL = 3, SETS = 8, WAYS = 2, LATENCY = 3 };

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

/* ---- the machine ------------------------------------------------------------------------------------- */

static struct cache_spec cache_of(uint32_t sets, uint32_t latency) {
    return (struct cache_spec){
        .bank = {.tags = {.sets = sets, .ways = WAYS, .replacement = REPLACE_LRU, .line = LINE},
                 .mshrs = 4,
                 .merges = 4,
                 .queue = 8},
        .latency = latency,
        .interval = 1,
        .write_back = true,
    };
}

/* A channel of DDR3: a burst is a line. */
static const struct dram_spec ddr3 = {
    .banks = 8,
    .groups = 1,
    .line = LINE,
    .row = 8192,
    .chunk = 128,
    .burst_bytes = 64,
    .burst_ticks = 4,
    .queue = 16,
    .write_queue = 16,
    .reads = 16,
    .write_high = 12,
    .write_low = 4,
    .starve = 1000,
    .latency = 10,
    .t = {.rcd = 11,
          .rp = 11,
          .ras = 28,
          .rc = 39,
          .rrd = 5,
          .faw = 24,
          .cl = 11,
          .wl = 8,
          .ccd = 4,
          .ccdl = 4,
          .wr = 12,
          .wtr = 6,
          .rtp = 6},
};

/* Levels of caches over one channel, all of one clock; level 0 is the processor's. */
struct memory {
    struct cache *level[2];
    uint32_t levels;
    struct dram *dram;
    uint64_t now, written; /* lines written to DRAM */
};

static void make(struct memory *m, uint32_t levels) {
    *m = (struct memory){.levels = levels, .dram = dram_create(&arena, &ddr3)};
    for (uint32_t i = 0; i < levels; i++) {
        struct cache_spec s = cache_of(i ? 8 * SETS : SETS, i ? 4 * LATENCY : LATENCY);
        m->level[i] = cache_create(&arena, &s, 0);
    }
}

/* Moves what leaves a level to the next one, and back what has come. */
static void connect(struct memory *m, uint32_t i) {
    const struct mem_packet *p;
    struct mem_done d;
    while ((p = cache_out(m->level[i]))) {
        struct mem_access x = {
            .line = p->line, .sectors = p->sectors, .full = p->full, .kind = p->kind, .flags = p->flags};
        if (!mem_accepted(cache_access(m->level[i + 1], m->now, &x, p->id)))
            break;
        cache_sent(m->level[i], 1);
    }
    while (cache_pop(m->level[i + 1], m->now, &d))
        cache_fill(m->level[i], m->now, &(struct mem_packet){.id = d.token, .sectors = d.sectors});
}

static void tick(struct memory *m) {
    struct cache *last = m->level[m->levels - 1];
    const struct mem_packet *p;
    for (uint32_t i = 0; i + 1 < m->levels; i++)
        connect(m, i);
    while ((p = cache_out(last)) && dram_has_room(m->dram, p->kind == MEM_STORE)) {
        assert_true(p->line % LINE == 0 && p->sectors && p->sectors <= ALL);
        m->written += p->kind == MEM_STORE;
        dram_push(m->dram, m->now, p->line, p->sectors, p->kind == MEM_STORE, p->id);
        cache_sent(last, 1);
    }
    dram_tick(m->dram, m->now);
    while (dram_pop_at(m->dram) <= m->now) {
        struct mem_packet q = {0};
        dram_pop(m->dram, &q.id, &q.sectors);
        cache_fill(last, m->now, &q);
    }
    m->now++;
}

/* Makes one access and waits for its end; the cycles it took. */
static uint64_t access(struct memory *m, enum mem_kind kind, uint64_t line, uint8_t sectors, uint8_t full) {
    struct mem_access x = {.line = line * LINE, .sectors = sectors, .full = full, .kind = (uint8_t)kind};
    struct mem_done d;
    uint64_t start = m->now;
    while (!mem_accepted(cache_access(m->level[0], m->now, &x, 77)))
        tick(m);
    while (!cache_pop(m->level[0], m->now, &d))
        tick(m);
    assert_true(d.token == 77 && d.kind == kind && d.sectors == sectors);
    return d.ready - start;
}

/* Until nothing is under way. */
static void settle(struct memory *m) {
    bool busy = true;
    for (uint32_t n = 0; busy; n++) {
        tick(m);
        busy = !dram_idle(m->dram);
        for (uint32_t i = 0; i < m->levels; i++)
            busy |= !cache_idle(m->level[i]);
        assert_true(n < 100000);
    }
}

/* ---- one level --------------------------------------------------------------------------------------- */

static void test_lines(void **state) {
    (void)state;
    struct memory m;
    make(&m, 1);
    const struct cache_counters *n = &m.level[0]->n;
    const struct bank_counters *b = &m.level[0]->bank.n;
    uint64_t miss = access(&m, MEM_LOAD, 5, 1, 0);
    assert_true(miss > ddr3.t.rcd + ddr3.t.cl + ddr3.latency);
    assert_int_equal(access(&m, MEM_LOAD, 5, 2, 0), LATENCY); /* the whole line came */
    assert_true(access(&m, MEM_LOAD, 6, 1, 0) > LATENCY);     /* which has 64 bytes */
    assert_true(n->reads == 3 && n->read_hits == 1 && n->read_misses == 2 && b->sectors_fetched == 4);
    assert_int_equal(dram_counters(m.dram)->read_bursts, 2);
    access(&m, MEM_LOAD, 5 + SETS, 1, 0);
    access(&m, MEM_LOAD, 5 + 2 * SETS, 1, 0); /* a third line of the set: the first goes, and was clean */
    assert_true(access(&m, MEM_LOAD, 5, 1, 0) > LATENCY);
    settle(&m);
    assert_true(b->evictions == 2 && b->write_backs == 0 && m.written == 0);
}

/* A line takes as many bursts as it has of their bytes. */
static void test_bursts(void **state) {
    (void)state;
    static const uint32_t bytes[] = {16, 32, 64, 128}, bursts[] = {4, 2, 1, 1};
    for (uint32_t k = 0; k < 4; k++) {
        struct dram_spec s = ddr3;
        s.burst_bytes = bytes[k];
        struct dram *d = dram_create(&arena, &s);
        dram_push(d, 0, 3 * LINE, ALL, true, 0);
        for (uint64_t now = 0; !dram_idle(d); now++)
            dram_tick(d, now);
        assert_int_equal(dram_counters(d)->write_bursts, bursts[k]);
    }
}

static void test_stores(void **state) {
    (void)state;
    struct memory m;
    make(&m, 1);
    const struct cache_counters *n = &m.level[0]->n;
    const struct bank_counters *b = &m.level[0]->bank.n;
    assert_true(access(&m, MEM_STORE, 5, 1, 0) > LATENCY); /* in part: the line is fetched */
    assert_true(n->write_misses == 1 && b->sectors_fetched == 2);
    assert_int_equal(access(&m, MEM_STORE, 5, 1, 0), LATENCY);
    assert_int_equal(access(&m, MEM_LOAD, 5, 3, 0), LATENCY);
    assert_int_equal(access(&m, MEM_STORE, 6, 3, 3), LATENCY); /* whole: nothing is */
    assert_int_equal(access(&m, MEM_LOAD, 6, 3, 0), LATENCY);
    assert_true(n->writes == 3 && n->write_hits == 1 && n->write_misses == 2 && n->write_sectors == 4);
    assert_int_equal(b->sectors_fetched, 2);
    assert_int_equal(access(&m, MEM_STORE, 7, 1, 1), LATENCY); /* half of a line, and all of it */
    assert_true(access(&m, MEM_LOAD, 7, 2, 0) > LATENCY);      /* the other half was not there */
    assert_int_equal(b->sectors_fetched, 3);
    settle(&m);
    assert_int_equal(m.written, 0);
    access(&m, MEM_LOAD, 5 + SETS, 1, 0);
    access(&m, MEM_LOAD, 5 + 2 * SETS, 1, 0); /* the line that was written goes, and is written once */
    settle(&m);
    assert_true(b->write_backs == 1 && m.written == 1 && dram_counters(m.dram)->writes == 1);
    access(&m, MEM_LOAD, 5, 1, 0);
    access(&m, MEM_LOAD, 5 + SETS, 1, 0);
    access(&m, MEM_LOAD, 5 + 2 * SETS, 1, 0); /* clean now */
    settle(&m);
    assert_int_equal(b->write_backs, 1);
}

/* Stores to a line on its way wait for it, and make it dirty. */
static void test_merged(void **state) {
    (void)state;
    struct memory m;
    make(&m, 1);
    struct mem_access load = {.line = 5 * LINE, .sectors = 1, .kind = MEM_LOAD}, store = load, quiet = load;
    struct mem_done d;
    store.kind = quiet.kind = MEM_STORE;
    quiet.flags = MEM_SILENT;
    assert_int_equal(cache_access(m.level[0], m.now, &load, 1), MEM_MISS);
    tick(&m);
    assert_int_equal(cache_access(m.level[0], m.now, &store, 2), MEM_MERGED);
    tick(&m);
    assert_int_equal(cache_access(m.level[0], m.now, &quiet, 3), MEM_MERGED);
    for (uint32_t want = 1; want <= 2; want++) { /* the load, then the store, and nothing of the silent one */
        while (!cache_pop(m.level[0], m.now, &d))
            tick(&m);
        assert_int_equal(d.token, want);
    }
    settle(&m);
    assert_false(cache_pop(m.level[0], m.now, &d));
    assert_int_equal(m.level[0]->n.write_merged, 2);
    access(&m, MEM_LOAD, 5 + SETS, 1, 0);
    access(&m, MEM_LOAD, 5 + 2 * SETS, 1, 0);
    settle(&m);
    assert_int_equal(m.written, 1);
}

/* ---- against a plain model --------------------------------------------------------------------------- */

/* A set of lines, the last used first. */
struct plain {
    uint64_t line[WAYS];
    bool dirty[WAYS];
    uint32_t n;
};

/* An access to it; true: a hit. Counts lines that are written back. */
static bool plain_access(struct plain *p, uint64_t line, bool store, uint64_t *written) {
    uint32_t at = 0;
    while (at < p->n && p->line[at] != line)
        at++;
    bool hit = at < p->n, dirty = (hit && p->dirty[at]) || store;
    if (!hit && p->n == WAYS) {
        at = WAYS - 1;
        *written += p->dirty[at];
    } else if (!hit) {
        p->n++;
    }
    for (; at; at--) {
        p->line[at] = p->line[at - 1];
        p->dirty[at] = p->dirty[at - 1];
    }
    p->line[0] = line;
    p->dirty[0] = dirty;
    return hit;
}

static void test_model(void **state) {
    (void)state;
    struct memory m;
    struct plain plain[SETS] = {0};
    uint64_t rng = 1, written = 0;
    make(&m, 1);
    for (uint32_t i = 0; i < 3000; i++) {
        uint64_t line = draw(&rng, 40);
        bool store = draw(&rng, 3) == 0, whole = draw(&rng, 2);
        bool hit = plain_access(&plain[line % SETS], line, store, &written);
        uint64_t took = access(&m, store ? MEM_STORE : MEM_LOAD, line, ALL, store && whole ? ALL : 0);
        assert_int_equal(took == LATENCY, hit || (store && whole));
    }
    settle(&m);
    assert_true(written > 300 && m.written == written && m.level[0]->bank.n.write_backs == written);
}

/* ---- two levels, and many accesses ------------------------------------------------------------------- */

/* The second level answers what the first has lost, and only what it loses itself reaches DRAM. */
static void test_levels(void **state) {
    (void)state;
    struct memory m;
    make(&m, 2);
    uint64_t far = access(&m, MEM_STORE, 5, 1, 0);
    access(&m, MEM_LOAD, 5 + SETS, 1, 0);
    access(&m, MEM_LOAD, 5 + 2 * SETS, 1, 0); /* 5 goes to the second level */
    settle(&m);
    assert_true(m.level[0]->bank.n.write_backs == 1 && m.level[1]->n.write_hits == 1 && m.written == 0);
    uint64_t near = access(&m, MEM_LOAD, 5, 1, 0);
    assert_true(near > LATENCY && near < far);
    access(&m, MEM_STORE, 100, ALL, ALL); /* never fetched, and not in the second level */
    access(&m, MEM_LOAD, 100 + SETS, 1, 0);
    access(&m, MEM_LOAD, 100 + 2 * SETS, 1, 0);
    settle(&m);
    assert_int_equal(m.level[1]->n.write_misses, 1);
    uint64_t reads = dram_counters(m.dram)->reads;
    assert_true(access(&m, MEM_LOAD, 100, ALL, 0) < far);
    settle(&m);
    assert_int_equal(dram_counters(m.dram)->reads, reads);
}

/* However many are under way, each access is answered once, and the registered counters say what happened. */
static void test_many(void **state) {
    (void)state;
    enum { ACCESSES = 20000 };
    struct memory m;
    static uint8_t answered[ACCESSES];
    uint64_t rng = 3;
    uint32_t done = 0;
    memset(answered, 0, sizeof answered);
    make(&m, 2);
    struct counter_registry r = {0};
    static const char *const names[] = {"l1.", "l2."};
    for (uint32_t i = 0; i < 2; i++) {
        counters_bind(&r, counters_add(&r, names[i], &cache_counter_table, true), &m.level[i]->n);
        counters_bind(&r, counters_add(&r, names[i], &cache_write_table, true), &m.level[i]->n);
        counters_bind(&r, counters_add(&r, names[i], &bank_counter_table, true), &m.level[i]->bank.n);
    }
    counters_bind(&r, counters_add(&r, "dram.", &dram_counter_table, false), dram_counters(m.dram));
    for (uint32_t sent = 0; done < ACCESSES; tick(&m)) {
        struct mem_done d;
        while (cache_pop(m.level[0], m.now, &d)) {
            assert_int_equal(answered[d.token]++, 0);
            done++;
        }
        uint8_t sectors = (uint8_t)(1 + draw(&rng, ALL));
        struct mem_access x = {.line = (uint64_t)draw(&rng, draw(&rng, 2) ? 30 : 2000) * LINE,
                               .sectors = sectors};
        x.kind = draw(&rng, 3) ? MEM_LOAD : MEM_STORE;
        x.full = x.kind == MEM_STORE && draw(&rng, 2) ? sectors : 0;
        if (sent < ACCESSES && mem_accepted(cache_access(m.level[0], m.now, &x, sent)))
            sent++;
        assert_true(m.now < 100 * ACCESSES);
    }
    settle(&m);
    uint64_t v[64];
    assert_true(r.count < 64);
    counters_read(&r, v);
#define VALUE(name) v[counters_find(&r, name)]
    assert_int_equal(VALUE("l1.reads") + VALUE("l1.writes"), ACCESSES);
    assert_int_equal(VALUE("l1.reads"),
                     VALUE("l1.read_hits") + VALUE("l1.read_misses") + VALUE("l1.read_merged"));
    assert_int_equal(VALUE("l1.writes"),
                     VALUE("l1.write_hits") + VALUE("l1.write_misses") + VALUE("l1.write_merged"));
    assert_int_equal(VALUE("l2.writes"), VALUE("l1.write_backs"));
    assert_int_equal(VALUE("l2.reads"), VALUE("l1.fills"));
    assert_int_equal(VALUE("dram.reads"), VALUE("l2.fills"));
    assert_int_equal(VALUE("dram.writes"), VALUE("l2.write_backs"));
    assert_true(VALUE("l1.write_backs") > 1000 && VALUE("l2.write_backs") > 100 &&
                VALUE("l1.stall_mshr") > 0);
#undef VALUE
    counters_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_lines, free_arena),
        cmocka_unit_test_teardown(test_bursts, free_arena),
        cmocka_unit_test_teardown(test_stores, free_arena),
        cmocka_unit_test_teardown(test_merged, free_arena),
        cmocka_unit_test_teardown(test_model, free_arena),
        cmocka_unit_test_teardown(test_levels, free_arena),
        cmocka_unit_test_teardown(test_many, free_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
