/* The units of the memory system, one by one: clocks, coalescing, caches, the interconnect, L2, DRAM.
 * Expectations are worked out by hand; latencies are probed at the edge and one cycle before it.
 * test_memsys.c has the whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mem/icnt.h"
#include "mem/l1.h"
#include "mem/l2.h"
#include "sim/calendar.h"

static struct arena arena;

static int free_arena(void **state) {
    (void)state;
    arena_free(&arena);
    return 0;
}

/* ---- sim --------------------------------------------------------------------------------------------- */

/* Ticks of a slower, an equal and a faster clock fall into the cycles they must, far out too. */
static void test_clock(void **state) {
    (void)state;
    struct clock half = clock_make(700500, 1401000), same = clock_make(5, 5),
                 odd = clock_make(924000, 700000);
    assert_true(half.num == 1 && half.den == 2 && same.num == 1 && odd.num == 33 && odd.den == 25);
    assert_int_equal(clock_cycle(&half, 3), 6);
    assert_int_equal(clock_tick(&half, 6), 3);
    assert_int_equal(clock_tick(&half, 7), 4);
    assert_int_equal(clock_tick(&same, 7), 7);
    assert_true(clock_cycle(&half, NEVER) == NEVER);
    for (uint32_t bit = 0; bit <= 60; bit += 10) {
        uint64_t start = bit ? UINT64_C(1) << bit : 0, ticks = 0;
        for (uint64_t c = start; c < start + 25; c++) {
            uint64_t first = clock_tick(&odd, c), end = clock_tick(&odd, c + 1);
            ticks += end - first;
            for (uint64_t t = first; t < end; t++)
                assert_int_equal(clock_cycle(&odd, t), c);
        }
        assert_int_equal(ticks, 33);
    }
}

/* Division by multiplication is exact, at the edges of every quotient and of what fits. */
static void test_divide(void **state) {
    (void)state;
    const uint64_t by[] = {1,         2, 3, 5, 7, 48, 96, 1000, 924001, UINT64_C(1) << 32, UINT64_MAX / 3,
                           UINT64_MAX};
    for (uint32_t k = 0; k < sizeof by / sizeof *by; k++) {
        struct divisor d = divisor_make(by[k]);
        for (uint32_t bit = 0; bit < 64; bit++)
            for (uint64_t off = 0; off < 5; off++) {
                uint64_t q = (UINT64_C(1) << bit) + off - 2;
                const uint64_t x[] = {q, q / by[k] * by[k], q / by[k] * by[k] - 1, d.magic + off - 2};
                for (uint32_t j = 0; j < 4; j++) {
                    assert_true(divide(&d, x[j]) == x[j] / by[k]);
                    assert_true(divide_rest(&d, x[j]) == x[j] % by[k]);
                }
            }
    }
}

static void test_pool(void **state) {
    (void)state;
    struct pool p;
    pool_init(&p, &arena, 3);
    assert_int_equal(pool_take(&p), 0);
    assert_int_equal(pool_take(&p), 1);
    pool_give(&p, 0);
    assert_int_equal(pool_take(&p), 0);
    assert_int_equal(pool_take(&p), 2);
    assert_true(pool_full(&p) && p.used == 3);
    struct bits b;
    bits_init(&b, &arena, 130);
    assert_int_equal(bits_next(&b, 0), NO_SLOT);
    bits_add(&b, 129);
    bits_add(&b, 63);
    bits_add(&b, 63);
    assert_int_equal(b.count, 2);
    assert_int_equal(bits_next(&b, 0), 63);
    assert_int_equal(bits_next(&b, 64), 129);
    bits_remove(&b, 129);
    assert_int_equal(bits_next(&b, 64), NO_SLOT);
}

/* Members are seen in order, once each, while the one in work goes. */
static void test_bits_each(void **state) {
    (void)state;
    static const uint32_t members[] = {0, 5, 63, 64, 129};
    struct bits b;
    uint32_t n = 0;
    bits_init(&b, &arena, 130);
    for (uint32_t k = 0; k < 5; k++)
        bits_add(&b, members[k]);
    BITS_EACH (&b, i) {
        assert_int_equal(i, members[n++]);
        bits_remove(&b, i);
    }
    assert_true(n == 5 && !b.count);
    BITS_EACH (&b, i)
        fail_msg("%u is there", i);
}

/* A calendar beside a list of the same numbers: each is found in its cycle, those far ahead by being told. */
static void test_calendar(void **state) {
    (void)state;
    enum { NUMBERS = 100 };
    struct calendar c = {.filled = 0};
    uint64_t due[NUMBERS], now = 1000, found = 0;
    uint32_t seed = 1;
    calendar_init(&c, &arena, NUMBERS);
    assert_true(calendar_next(&c, now) == NEVER);
    for (uint32_t k = 0; k < NUMBERS; k++) {
        seed = seed * 1664525u + 1013904223u;
        due[k] = now + 1 + (seed >> 16) % (k % 10 ? 60 : 500);
        calendar_add(&c, k, due[k], now);
    }
    while (found < NUMBERS) {
        uint64_t first = NEVER;
        for (uint32_t k = 0; k < NUMBERS; k++)
            first = min_u64(first, due[k]);
        assert_int_equal(calendar_next(&c, now), first);
        now = first;
        struct bits *today = calendar_today(&c, now);
        BITS_EACH (today, i) {
            assert_int_equal(due[i], now);
            bits_remove(today, i);
            due[i] = NEVER;
            found++;
        }
        if (c.far > now)
            continue;
        c.far = NEVER;
        for (uint32_t k = 0; k < NUMBERS; k++) {
            found += due[k] == now;
            due[k] = due[k] == now ? NEVER : due[k];
            if (due[k] != NEVER)
                calendar_add(&c, k, due[k], now);
        }
    }
    assert_true(calendar_next(&c, now) == NEVER);
    calendar_add(&c, 3, now + 7, now);
    calendar_add(&c, 4, now + 700, now);
    calendar_clear(&c);
    assert_true(calendar_next(&c, now) == NEVER && !calendar_today(&c, now + 7)->count);
}

/* ---- caches ------------------------------------------------------------------------------------------ */

static struct cache_spec small_cache(void) {
    return (struct cache_spec){
        .bank = {.tags = {.sets = 4, .ways = 2, .line = MEM_MAX_LINE},
                 .mshrs = 4,
                 .merges = 3,
                 .queue = 4,
                 .sectored = false},
        .latency = 10,
        .interval = 1,
        .stores = 4,
    };
}

static struct mem_access load(uint64_t line, uint8_t sectors) {
    return (struct mem_access){
        .line = line * MEM_MAX_LINE, .sectors = sectors, .kind = MEM_LOAD, .lanes = 1, .bytes = 4};
}

/* Takes the oldest request away as memory would, and answers it. */
static struct mem_packet serve(struct cache *c, uint64_t now) {
    const struct mem_packet *p = cache_out(c);
    assert_non_null(p);
    struct mem_packet q = *p;
    cache_sent(c, 1);
    if (q.kind == MEM_LOAD)
        cache_fill(c, now, &q);
    return q;
}

/* Nothing is ready in the cycle before, and the token is there in the cycle itself. */
static void expect_done(struct cache *c, uint64_t cycle, uint32_t token) {
    struct mem_done d;
    assert_int_equal(cache_next(c), cycle);
    assert_false(cache_pop(c, cycle - 1, &d));
    assert_true(cache_pop(c, cycle, &d));
    assert_true(d.token == token && d.ready == cycle);
}

/* What a load comes to was to be known before, of a cache that is not busy. */
static void expect_access(struct cache *c, uint64_t now, uint64_t line, uint32_t token, enum mem_result r) {
    struct mem_access x = load(line, 1);
    struct mem_packet p = {.line = x.line, .kind = x.kind, .flags = x.flags, .sectors = x.sectors};
    assert_int_equal(cache_is_busy(c, now) ? MEM_STALL_PORT : bank_would_read(&c->bank, &p), r);
    assert_int_equal(cache_access(c, now, &x, token), r);
}

static void test_cache_hits(void **state) {
    (void)state;
    struct cache_spec s = small_cache();
    struct cache *c = cache_create(&arena, &s, 3);
    expect_access(c, 0, 5, 1, MEM_MISS);
    assert_int_equal(cache_next(c), NEVER);
    struct mem_packet p = serve(c, 100);
    assert_true(p.line == 5 * MEM_MAX_LINE && p.sectors == 0xf && p.port == 3 && p.bytes == 0);
    expect_done(c, 101, 1);
    expect_access(c, 110, 5, 2, MEM_HIT);
    expect_done(c, 120, 2);
    assert_true(cache_idle(c));
    assert_true(c->n.reads == 2 && c->n.read_hits == 1 && c->n.read_misses == 1 && c->n.fills == 1);
    cache_flush(c);
    expect_access(c, 200, 5, 3, MEM_MISS);
    assert_false(cache_idle(c));
}

/* Two ways: the line used last stays; fifo: the one that came last. */
/* Of two caches that see the same fetches one is asked the short way first: results and counters agree. */
static void test_cache_finds(void **state) {
    (void)state;
    struct cache_spec s = small_cache();
    s.more = 1;
    struct cache *c[2] = {cache_create(&arena, &s, 0), cache_create(&arena, &s, 0)};
    uint32_t seed = 7, short_ways = 0, shortest_ways = 0;
    for (uint64_t now = 0; now < 4000; now++) {
        for (uint32_t n = now % 4 != 0; n < 3; n++) {
            seed = seed * 1664525u + 1013904223u;
            struct mem_access x = load((seed >> 20 & 3) + now / 16 % 13, c[0]->bank.all);
            bool again = cache_finds_again(c[0], now, x.line);
            bool finds = again || cache_finds(c[0], now, x.line);
            enum mem_result r = finds ? MEM_HIT : cache_look(c[0], now, &x, 1);
            assert_int_equal(r, cache_look(c[1], now, &x, 1));
            short_ways += finds;
            shortest_ways += again;
        }
        struct mem_done d;
        for (uint32_t k = 0; k < 2; k++) {
            if (seed >> 28 < 4 && cache_out(c[k]))
                serve(c[k], now);
            while (cache_pop(c[k], now, &d))
                continue;
        }
        cache_count(c[0]);
        assert_memory_equal(&c[0]->n, &c[1]->n, sizeof c[0]->n);
        assert_true(c[0]->free_at == c[1]->free_at && c[0]->bank.tags.time == c[1]->bank.tags.time);
    }
    assert_true(short_ways > 1000 && shortest_ways > 500 && shortest_ways < short_ways &&
                c[0]->n.stall_port && c[0]->n.read_misses > 100);
}

static void test_cache_replacement(void **state) {
    (void)state;
    for (enum replacement r = REPLACE_LRU; r <= REPLACE_FIFO; r++) {
        struct cache_spec s = small_cache();
        struct mem_done d;
        s.bank.tags.replacement = r;
        struct cache *c = cache_create(&arena, &s, 0);
        uint64_t now = 0;
        for (uint64_t line = 0; line <= 4; line += 4, now += 20) { /* both of set 0 */
            expect_access(c, now, line, 0, MEM_MISS);
            serve(c, now + 1);
        }
        expect_access(c, now, 0, 0, MEM_HIT);
        expect_access(c, now + 1, 8, 0, MEM_MISS); /* throws out 4, or 0 */
        serve(c, now + 2);
        expect_access(c, now + 20, r == REPLACE_LRU ? 0 : 4, 0, MEM_HIT);
        expect_access(c, now + 21, r == REPLACE_LRU ? 4 : 0, 0, MEM_MISS);
        assert_int_equal(c->bank.n.evictions, 2);
        while (cache_pop(c, NEVER - 1, &d))
            ;
    }
}

/* Later accesses of a line on its way join it, up to the limit; they complete one a cycle. */
static void test_cache_merging(void **state) {
    (void)state;
    struct cache_spec s = small_cache();
    struct cache *c = cache_create(&arena, &s, 0);
    expect_access(c, 0, 5, 10, MEM_MISS);
    expect_access(c, 1, 5, 11, MEM_MERGED);
    expect_access(c, 2, 5, 12, MEM_MERGED);
    expect_access(c, 3, 5, 13, MEM_STALL_MERGE);
    expect_access(c, 4, 5, 13, MEM_STALL_MERGE);
    serve(c, 50);
    expect_access(c, 50, 5, 13, MEM_HIT);
    expect_done(c, 51, 10);
    expect_done(c, 52, 11);
    expect_done(c, 53, 12);
    expect_done(c, 60, 13);
    assert_true(c->n.stall_merge == 47 && c->n.read_merged == 2 && c->n.reads == 4);
}

/* Each resource runs out with its own reason. */
static void test_cache_stalls(void **state) {
    (void)state;
    struct cache_spec s = small_cache();
    s.bank.queue = 8;
    struct cache *c = cache_create(&arena, &s, 0);
    expect_access(c, 0, 0, 0, MEM_MISS);
    expect_access(c, 0, 1, 0, MEM_STALL_PORT);
    expect_access(c, 1, 4, 0, MEM_MISS);
    expect_access(c, 2, 8, 0, MEM_STALL_WAYS); /* both ways of set 0 are pending */
    expect_access(c, 3, 1, 0, MEM_MISS);
    expect_access(c, 4, 2, 0, MEM_MISS);
    expect_access(c, 5, 3, 0, MEM_STALL_MSHR);
    serve(c, 7);
    expect_access(c, 9, 8, 0, MEM_MISS);
    assert_true(c->n.stall_port == 1 && c->n.stall_ways == 1 && c->n.stall_mshr == 4);
    s.bank.queue = 2;
    c = cache_create(&arena, &s, 0);
    expect_access(c, 0, 0, 0, MEM_MISS);
    expect_access(c, 1, 1, 0, MEM_STALL_QUEUE); /* one place is kept for a dirty line that must go */
    cache_sent(c, 1);
    expect_access(c, 5, 1, 0, MEM_MISS);
    assert_int_equal(c->n.stall_queue, 4);
}

/* Offered again in every cycle or only when the epoch changed: the same counters. */
static void test_cache_stall_count(void **state) {
    (void)state;
    struct cache_counters n[2];
    for (uint32_t jump = 0; jump < 2; jump++) {
        struct cache_spec s = small_cache();
        s.bank.mshrs = 1;
        struct cache *c = cache_create(&arena, &s, 0);
        expect_access(c, 0, 0, 0, MEM_MISS);
        expect_access(c, 1, 1, 0, MEM_STALL_MSHR);
        uint32_t epoch = *cache_epoch(c);
        for (uint64_t now = 2; now < 300; now++) {
            if (now == 40)
                cache_sent(c, 1);
            if (now == 200)
                cache_fill(c, now, &(struct mem_packet){.id = 0, .sectors = 0xf});
            if (!jump || epoch != *cache_epoch(c)) {
                struct mem_access x = load(1, 1);
                epoch = *cache_epoch(c);
                if (mem_accepted(cache_access(c, now, &x, 0)))
                    break;
            }
        }
        n[jump] = c->n;
        assert_int_equal(c->n.stall_mshr, 199);
    }
    assert_memory_equal(&n[0], &n[1], sizeof n[0]);
}

/* The same when nobody offers it any more from some cycle on; what comes later waits for nothing. */
static void test_cache_stop_waiting(void **state) {
    (void)state;
    for (uint32_t jump = 0; jump < 2; jump++) {
        struct cache_spec s = small_cache();
        s.bank.mshrs = 1;
        struct cache *c = cache_create(&arena, &s, 0);
        cache_stop_waiting(c, 0);
        expect_access(c, 0, 0, 0, MEM_MISS);
        expect_access(c, 1, 1, 0, MEM_STALL_MSHR);
        for (uint64_t now = 2; now < 30 && !jump; now++)
            expect_access(c, now, 1, 0, MEM_STALL_MSHR);
        cache_stop_waiting(c, 29);
        assert_int_equal(c->n.stall_mshr, 28);
        expect_access(c, 100, 1, 0, MEM_STALL_MSHR);
        assert_int_equal(c->n.stall_mshr, 28);
    }
}

/* A sectored cache fetches what is touched; sectors of one line come and complete on their own. */
static void test_cache_sectors(void **state) {
    (void)state;
    struct cache_spec s = small_cache();
    s.bank.sectored = true;
    struct cache *c = cache_create(&arena, &s, 0);
    struct mem_access a = load(5, 0x1), b = load(5, 0x3), d = load(5, 0x4);
    assert_int_equal(cache_access(c, 0, &a, 1), MEM_MISS);
    assert_int_equal(cache_access(c, 1, &b, 2), MEM_MISS); /* sector 1 only */
    assert_int_equal(cache_access(c, 2, &a, 3), MEM_MERGED);
    struct mem_packet first = *cache_out(c);
    cache_sent(c, 1);
    struct mem_packet second = *cache_out(c);
    cache_sent(c, 1);
    assert_true(first.sectors == 0x1 && second.sectors == 0x2 && first.id == second.id);
    cache_fill(c, 50, &first);
    expect_done(c, 51, 1);
    expect_done(c, 52, 3);
    assert_int_equal(cache_next(c), NEVER); /* b needs both */
    cache_fill(c, 60, &second);
    expect_done(c, 61, 2);
    assert_int_equal(cache_access(c, 70, &b, 4), MEM_HIT);
    assert_int_equal(cache_access(c, 71, &d, 5), MEM_MISS);
    assert_int_equal(c->bank.n.sectors_fetched, 3);
}

static void test_cache_prefetch(void **state) {
    (void)state;
    struct cache_spec s = small_cache();
    struct cache *c = cache_create(&arena, &s, 0);
    struct mem_access p = load(0, 1), q = load(4, 1), r = load(1, 1);
    p.kind = q.kind = r.kind = MEM_PREFETCH;
    assert_int_equal(cache_access(c, 0, &p, 0), MEM_MISS);
    assert_int_equal(cache_access(c, 1, &p, 0), MEM_MERGED);
    assert_int_equal(cache_access(c, 2, &q, 0), MEM_MISS);
    assert_int_equal(cache_access(c, 3, &r, 0), MEM_MISS);
    expect_access(c, 4, 1, 7, MEM_MERGED); /* useful, if late */
    serve(c, 10);
    serve(c, 11);
    serve(c, 12);
    expect_done(c, 13, 7); /* nobody waited for the others */
    expect_access(c, 20, 0, 8, MEM_HIT);
    expect_access(c, 21, 8, 9, MEM_MISS); /* throws out 4, which nobody used */
    assert_true(c->n.prefetches == 4 && c->n.prefetch_misses == 3 && c->n.reads == 3);
    assert_true(c->bank.n.prefetch_useful == 2 && c->bank.n.prefetch_unused == 1);
}

/* ---- the data cache ---------------------------------------------------------------------------------- */

static struct l1_spec small_l1(void) {
    return (struct l1_spec){small_cache(), true, true, L1_WRITE_EVICT};
}

static struct mem_access store(uint64_t line, uint8_t sectors, uint8_t full, uint8_t flags) {
    return (struct mem_access){
        .line = line * MEM_MAX_LINE, .sectors = sectors, .full = full, .kind = MEM_STORE, .flags = flags};
}

static struct mem_packet take(struct l1 *l) {
    struct mem_packet p = *cache_out(&l->cache);
    cache_sent(&l->cache, 1);
    return p;
}

static void fill_line(struct l1 *l, uint64_t now, uint64_t line) {
    struct mem_access x = load(line, 1);
    struct mem_done d;
    assert_int_equal(l1_access(l, now, &x, 0), MEM_MISS);
    struct mem_packet p = take(l);
    l1_fill(l, now + 1, &p);
    assert_true(l1_pop(l, now + 2, &d));
}

static void test_l1_write_through(void **state) {
    (void)state;
    for (enum l1_write policy = L1_WRITE_EVICT; policy <= L1_WRITE_UPDATE; policy++) {
        struct l1_spec s = small_l1();
        s.write_hit = policy;
        struct l1 *l = l1_create(&arena, &s, 2);
        struct mem_access w = store(5, 0x3, 0x1, 0), r = load(5, 1);
        fill_line(l, 0, 5);
        assert_int_equal(l1_access(l, 10, &w, 77), MEM_SENT);
        struct mem_packet p = take(l);
        assert_true(p.kind == MEM_STORE && p.bytes == 64 && p.sectors == 0x3 && p.full == 0x1 && p.id == 77 &&
                    p.port == 2);
        assert_false(l1_idle(l));
        p.bytes = 0;
        l1_fill(l, 90, &p);
        expect_done(&l->cache, 91, 77);
        assert_int_equal(l1_access(l, 95, &r, 0), policy == L1_WRITE_EVICT ? MEM_MISS : MEM_HIT);
        assert_true(l->n.writes == 1 && l->n.write_hits == 1 && l->n.write_through == 1);
        w = store(6, 0x1, 0, 0);
        assert_int_equal(l1_access(l, 96, &w, 0), MEM_SENT); /* and allocates nothing */
        r = load(6, 1);
        assert_int_equal(l1_access(l, 97, &r, 0), MEM_MISS);
    }
}

static void test_l1_store_limit(void **state) {
    (void)state;
    struct l1_spec s = small_l1();
    s.cache.bank.queue = 8;
    struct l1 *l = l1_create(&arena, &s, 0);
    struct mem_access w = store(5, 1, 0, 0);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(l1_access(l, i, &w, i), MEM_SENT);
    assert_int_equal(l1_access(l, 4, &w, 4), MEM_STALL_STORES);
    struct mem_packet p = take(l);
    assert_int_equal(l1_access(l, 5, &w, 4), MEM_STALL_STORES); /* leaving is not enough */
    l1_fill(l, 9, &p);
    assert_int_equal(l1_access(l, 9, &w, 4), MEM_SENT);
    assert_int_equal(l->cache.n.stall_stores, 5);
}

/* Local stores stay; a dirty line goes out when it must, a partly written sector is fetched when read. */
static void test_l1_write_back(void **state) {
    (void)state;
    struct l1_spec s = small_l1();
    struct l1 *l = l1_create(&arena, &s, 0);
    struct mem_access w = store(0, 0x3, 0x1, MEM_LOCAL), r = load(0, 0x1), part = load(0, 0x2);
    r.flags = part.flags = MEM_LOCAL;
    assert_int_equal(l1_access(l, 0, &w, 1), MEM_HIT);
    expect_done(&l->cache, 10, 1);
    assert_null(cache_out(&l->cache));
    assert_int_equal(l1_access(l, 11, &r, 2), MEM_HIT);
    assert_int_equal(l1_access(l, 12, &part, 3), MEM_MISS);
    struct mem_packet p = take(l);
    assert_int_equal(p.sectors, 0xe); /* the line is not sectored: all that is missing */
    l1_fill(l, 13, &p);
    fill_line(l, 20, 4);
    struct mem_access other = load(8, 1);
    assert_int_equal(l1_access(l, 30, &other, 4), MEM_MISS); /* throws out line 0 */
    p = take(l);
    assert_true(p.kind == MEM_STORE && p.line == 0 && p.sectors == 0x3 && p.bytes == 64 &&
                p.flags & MEM_SILENT);
    p = take(l);
    assert_true(p.kind == MEM_LOAD && p.line == 8 * MEM_MAX_LINE);
    assert_int_equal(l->cache.bank.n.write_backs, 1);
    s.local_write_back = false;
    l = l1_create(&arena, &s, 0);
    assert_int_equal(l1_access(l, 0, &w, 1), MEM_SENT);
}

static void test_l1_bypass(void **state) {
    (void)state;
    struct l1_spec s = small_l1();
    s.cache_global = false;
    struct l1 *l = l1_create(&arena, &s, 0);
    struct mem_access g = load(5, 0x2), loc = load(6, 0x1);
    loc.flags = MEM_LOCAL;
    struct mem_packet p;
    for (uint64_t now = 0; now < 40; now += 20) { /* global loads miss every time, and fetch sectors only */
        assert_int_equal(l1_access(l, now, &g, 1), MEM_MISS);
        p = take(l);
        assert_int_equal(p.sectors, 0x2);
        l1_fill(l, now + 1, &p);
    }
    assert_int_equal(l1_access(l, 50, &loc, 2), MEM_MISS);
    p = take(l);
    assert_int_equal(p.sectors, 0xf);
    l1_fill(l, 51, &p);
    assert_int_equal(l1_access(l, 52, &loc, 2), MEM_HIT);
    assert_int_equal(l->cache.n.bypasses, 2);
    s.cache_global = true;
    l = l1_create(&arena, &s, 0);
    fill_line(l, 0, 5);
    g.flags = MEM_BYPASS; /* ld.cg */
    assert_int_equal(l1_access(l, 10, &g, 1), MEM_MISS);
}

static void test_l1_atomics(void **state) {
    (void)state;
    struct l1_spec s = small_l1();
    struct l1 *l = l1_create(&arena, &s, 0);
    struct mem_access a = {.line = 5 * MEM_MAX_LINE,
                           .sectors = 1,
                           .kind = MEM_ATOMIC,
                           .flags = MEM_RETURN,
                           .bytes = 4,
                           .ops = 32,
                           .serial = 32},
                      r = load(5, 1);
    fill_line(l, 0, 5);
    assert_int_equal(l1_access(l, 10, &a, 9), MEM_SENT);
    struct mem_packet p = take(l);
    assert_true(p.kind == MEM_ATOMIC && p.ops == 32 && p.serial == 32 && p.bytes == 4 &&
                p.flags & MEM_RETURN);
    assert_int_equal(l1_access(l, 11, &r, 0), MEM_MISS); /* the line was dropped */
    l1_fill(l, 60, &p);
    expect_done(&l->cache, 61, 9);
}

/* Locked lines stay; one way of each set is never locked. */
static void expect_load(struct l1 *l, uint64_t now, const struct mem_access *x, uint32_t token,
                        enum mem_result r) {
    assert_int_equal(l1_would_load(l, x), r);
    assert_int_equal(l1_access(l, now, x, token), r);
}

static void test_l1_locks(void **state) {
    (void)state;
    struct l1_spec s = small_l1();
    s.cache.bank.tags.ways = 3;
    s.cache.bank.queue = 8;
    struct l1 *l = l1_create(&arena, &s, 0);
    struct mem_access x[4];
    for (uint32_t i = 0; i < 4; i++) {
        x[i] = load(i * 4, 1);
        x[i].flags = MEM_PIN;
    }
    struct mem_packet p;
    for (uint32_t i = 0; i < 2; i++) {
        expect_load(l, i, &x[i], i, MEM_MISS);
        p = take(l);
        l1_fill(l, i + 1, &p);
    }
    expect_load(l, 9, &x[2], 0, MEM_STALL_WAYS); /* the third way must stay free */
    expect_load(l, 10, &x[0], 0, MEM_HIT);       /* a second lock on the same line is fine */
    for (uint32_t i = 2; i < 8; i++)
        fill_line(l, 20 + 10 * i, i * 4); /* all through the free way */
    x[0].flags = MEM_UNPIN;
    expect_load(l, 200, &x[0], 0, MEM_HIT);
    expect_load(l, 201, &x[2], 0, MEM_STALL_WAYS); /* still locked once */
    assert_true(l1_unlock(l, 0));
    assert_false(l1_unlock(l, 0));
    assert_false(l1_unlock(l, 99 * MEM_MAX_LINE));
    expect_load(l, 202, &x[2], 0, MEM_MISS);
    assert_true(l->n.locks == 4 && l->n.unlocks == 2);
    struct mem_access w = store(4, 1, 0, 0);
    assert_int_equal(l1_access(l, 203, &w, 0), MEM_SENT); /* a store does not drop a locked line */
    x[1].flags = 0;
    expect_load(l, 204, &x[1], 0, MEM_HIT);
}

/* ---- interconnect ------------------------------------------------------------------------------------ */

static const struct icnt_spec small_icnt = {.inputs = 3,
                                            .outputs = 2,
                                            .input_bytes = 32,
                                            .output_bytes = 32,
                                            .header = 8,
                                            .latency = 5,
                                            .input_queue = 4,
                                            .output_queue = 2};

static void push_packet(struct icnt *n, uint64_t now, uint32_t in, uint32_t out, uint32_t id,
                        uint16_t bytes) {
    struct mem_packet p = {.id = id, .bytes = bytes};
    assert_true(icnt_has_room(n, in));
    icnt_push(n, now, in, out, &p);
}

/* Takes what comes out at one output, if there is something. */
struct taken {
    uint32_t output, id;
    bool any;
};

static bool take_packet(void *ctx, uint32_t output, const struct mem_packet *p) {
    struct taken *t = ctx;
    if (output != t->output)
        return false;
    t->id = p->id;
    return t->any = true;
}

/* What was refused is offered again. */
static void offer_all(struct icnt *n, uint32_t outputs) {
    for (uint32_t o = 0; o < outputs; o++)
        icnt_offer(n, o);
}

/* Ticks from from until something comes out; returns when. */
static uint64_t run_icnt(struct icnt *n, uint64_t from, uint32_t out, uint32_t *id) {
    for (uint64_t t = from;; t++) {
        if (icnt_next(n) <= t)
            icnt_tick(n, t);
        struct taken took = {.output = out};
        icnt_deliver(n, t, take_packet, &took);
        offer_all(n, small_icnt.outputs);
        if (took.any) {
            *id = took.id;
            return t;
        }
        assert_true(t < from + 1000);
    }
}

static void test_icnt_latency(void **state) {
    (void)state;
    struct icnt *n = icnt_create(&arena, &small_icnt);
    uint32_t id;
    push_packet(n, 100, 0, 1, 7, 0); /* a header alone: one tick */
    assert_int_equal(run_icnt(n, 100, 1, &id), 105);
    push_packet(n, 200, 0, 1, 8, 128); /* 136 bytes: five ticks */
    assert_int_equal(run_icnt(n, 200, 1, &id), 209);
    assert_true(icnt_idle(n) && icnt_next(n) == NEVER && icnt_ready_at(n) == NEVER);
    const struct icnt_counters *c = icnt_counters(n);
    assert_true(c->packets == 2 && c->bytes == 144 && c->input_busy == 6 && c->wait == 0);
}

/* A port carries its bytes and no more; inputs take turns at an output. */
static void test_icnt_bandwidth(void **state) {
    (void)state;
    struct icnt_spec s = small_icnt;
    s.output_queue = 4; /* as many as come out while the first is on its way */
    struct icnt *n = icnt_create(&arena, &s);
    uint32_t id, order[6];
    for (uint32_t i = 0; i < 6; i++)
        push_packet(n, 0, i % 3, 0, i, 120);
    for (uint32_t i = 0; i < 6; i++) /* 128 bytes: one every four ticks */
        assert_int_equal(run_icnt(n, i ? 8 + 4 * (i - 1) + 1 : 0, 0, &order[i]), 8 + 4 * i);
    for (uint32_t i = 0; i < 6; i++)
        assert_int_equal(order[i], i);
    push_packet(n, 1000, 0, 0, 10, 120);
    push_packet(n, 1000, 1, 1, 11, 120); /* other ports: at the same time */
    icnt_tick(n, 1000);
    assert_int_equal(icnt_ready_at(n), 1008);
    for (uint32_t o = 0; o < 2; o++)
        assert_int_equal(icnt_packet(n, o, icnt_came(n, o) - 1)->at, 1008);
    run_icnt(n, 1001, 0, &id);
    run_icnt(n, 1001, 1, &id);
    push_packet(n, 2000, 0, 0, 1, 120);
    push_packet(n, 2000, 0, 1, 2, 0); /* one input: one after the other, though the outputs differ */
    assert_int_equal(run_icnt(n, 2000, 0, &id), 2008);
    assert_int_equal(icnt_ready_at(n), 2004 + 5);
}

/* A full output buffer holds back its packets, not those for other outputs. */
static void test_icnt_pressure(void **state) {
    (void)state;
    struct icnt *n = icnt_create(&arena, &small_icnt);
    for (uint32_t i = 0; i < 4; i++)
        push_packet(n, 0, 0, 0, i, 0);
    assert_false(icnt_has_room(n, 0));
    for (uint64_t t = 0; t < 50; t++)
        icnt_tick(n, t);
    assert_true(icnt_has_room(n, 0)); /* two went into the buffer, two wait */
    push_packet(n, 50, 0, 1, 9, 0);
    uint32_t id;
    assert_int_equal(run_icnt(n, 50, 1, &id), 55);
    assert_int_equal(id, 9);
    for (uint32_t i = 0; i < 4; i++) {
        run_icnt(n, 60, 0, &id);
        assert_int_equal(id, i);
    }
    assert_true(icnt_idle(n));
}

/* Outputs that give packets away by themselves do so once in a core cycle, and have room from then on. */
static void test_icnt_gives(void **state) {
    (void)state;
    static const uint64_t at[] = {1, 2, 3, 4}; /* core cycles, of four ticks: out in ticks 5, 6, 13 and 17 */
    struct clock fast = clock_make(4, 1);
    struct icnt_spec s = small_icnt;
    s.gives = &fast;
    struct icnt *n = icnt_create(&arena, &s);
    for (uint32_t i = 0; i < 4; i++)
        push_packet(n, 0, 0, 0, i, 0);
    for (uint64_t t = 0; t < 20; t++)
        if (icnt_next(n) <= t)
            icnt_tick(n, t);
    assert_int_equal(icnt_came(n, 0), 4);
    for (uint32_t i = icnt_left(n, 0); i < 4; i++) {
        assert_int_equal(icnt_packet(n, 0, i)->at, at[i]);
        assert_int_equal(icnt_packet(n, 0, i)->packet.id, i);
    }
    assert_int_equal(icnt_left(n, 0), 2);
    icnt_gave(n, 0, 4);
    assert_int_equal(icnt_left(n, 0), 3);
    icnt_gave(n, 0, 5);
    assert_true(icnt_idle(n));
}

static bool take_none(void *ctx, uint32_t output, const struct mem_packet *p) {
    (void)output;
    (void)p;
    (*(uint32_t *)ctx)++;
    return false;
}

/* What is refused is not offered again before it may be taken, and who waits for room hears of it. */
static void test_icnt_waits(void **state) {
    (void)state;
    struct icnt *n = icnt_create(&arena, &small_icnt);
    uint32_t asked = 0, id;
    for (uint32_t i = 0; i < small_icnt.input_queue; i++)
        push_packet(n, 0, 0, 0, i, 0);
    icnt_await_room(n, 0);
    assert_false(icnt_roomy(n)->count);
    for (uint64_t t = 0; t < 20; t++) {
        icnt_tick(n, t);
        assert_int_equal(icnt_roomy(n)->count, 1); /* from the first packet on, for which there is a buffer */
        icnt_deliver(n, t, take_none, &asked);
    }
    assert_true(asked == 1 && icnt_ready_at(n) == NEVER);
    icnt_offer(n, 0);
    assert_int_equal(icnt_ready_at(n), 5);
    for (uint32_t i = 0; i < small_icnt.input_queue; i++)
        run_icnt(n, 20, 0, &id);
    assert_true(id == small_icnt.input_queue - 1 && icnt_idle(n));
}

static uint32_t any_number(uint64_t *seed, uint32_t below) {
    *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(*seed >> 33) % below;
}

static bool take_most(void *ctx, uint32_t output, const struct mem_packet *p) {
    (void)output;
    (void)p;
    return any_number(ctx, 8) != 0;
}

/* What is foreseen comes true, whatever is pushed and taken out meanwhile; and much of it is. */
static void test_icnt_foresees(void **state) {
    (void)state;
    enum { IN = 5, OUT = 3, LATENCY = 8, TICKS = 40000 };
    const struct icnt_spec s = {IN, OUT, 32, 64, 8, LATENCY, 12, 7, NULL};
    struct icnt *n = icnt_create(&arena, &s);
    struct icnt_moves moves[IN];
    uint64_t seed = 1, sure = 0, seen = 0, moved = 0, fresh_at[IN];
    for (uint64_t t = 0; t < TICKS; t++) {
        if (t % LATENCY == 0) {
            for (uint32_t i = 0; i < IN; i++)
                fresh_at[i] = t + any_number(&seed, 2 * LATENCY);
            sure = icnt_foresee(n, t, t + LATENCY, fresh_at);
            seen += sure - t;
            for (uint32_t i = 0; i < IN; i++) {
                moves[i] = icnt_foreseen(n, i);
                fresh_at[i] = icnt_has_room(n, i) ? fresh_at[i] : t;
            }
        }
        uint32_t room[IN];
        for (uint32_t i = 0; i < IN; i++)
            room[i] = icnt_room(n, i);
        icnt_tick(n, t);
        for (uint32_t i = 0; i < IN && t < sure; i++) {
            bool moves_now = moves[i].n && *moves[i].at == t;
            assert_int_equal(icnt_room(n, i) - room[i], moves_now);
            moves[i].at += moves_now;
            moves[i].n -= moves_now;
            moved += moves_now;
        }
        icnt_deliver(n, t, take_most, &seed);
        offer_all(n, OUT);
        for (uint32_t i = 0; i < IN; i++)
            if (icnt_has_room(n, i) && t + 1 >= fresh_at[i] && any_number(&seed, 4))
                push_packet(n, t + 1, i, any_number(&seed, OUT), 0, any_number(&seed, 2) ? 128 : 0);
    }
    assert_true(seen > TICKS / 4 && moved > TICKS / 4);
    assert_int_equal(icnt_foresee(n, TICKS, TICKS, fresh_at), TICKS);
}

/* ---- L2 ---------------------------------------------------------------------------------------------- */

static struct l2_spec small_l2(void) {
    return (struct l2_spec){.bank = {.tags = {.sets = 2, .ways = 2, .line = MEM_MAX_LINE},
                                     .mshrs = 2,
                                     .merges = 2,
                                     .queue = 4,
                                     .sectored = true},
                            .slices = 1,
                            .latency = 20,
                            .queue = 8,
                            .atomic_lanes = 8};
}

static struct mem_packet request(enum mem_kind kind, uint64_t line, uint8_t sectors, uint32_t id) {
    return (struct mem_packet){
        .line = line * MEM_MAX_LINE, .id = id, .kind = (uint8_t)kind, .sectors = sectors};
}

/* Ticks until a reply is ready, answering DRAM requests after delay ticks; returns when. */
static uint64_t l2_until_reply(struct l2 *l, uint64_t from, uint64_t delay, struct mem_packet *reply) {
    struct {
        uint64_t at;
        uint32_t id;
        uint8_t sectors;
    } fill[16];
    uint32_t fills = 0, filled = 0;
    for (uint64_t t = from;; t++) {
        while (filled < fills && fill[filled].at <= t) {
            l2_fill(l, t, fill[filled].id, fill[filled].sectors);
            filled++;
        }
        if (l2_next(l) <= t)
            l2_tick(l, t);
        const struct mem_packet *p = l2_out(l);
        if (p) {
            if (p->kind == MEM_LOAD) {
                fill[fills].at = t + delay;
                fill[fills].id = p->id;
                fill[fills++].sectors = p->sectors;
            }
            l2_sent(l);
        }
        p = l2_reply(l, t);
        if (p) {
            *reply = *p;
            l2_replied(l, t);
            return t;
        }
        assert_true(t < from + 100000);
    }
}

static void test_l2_latency(void **state) {
    (void)state;
    struct l2_spec s = small_l2();
    struct l2 *l = l2_create(&arena, &s);
    struct mem_packet p = request(MEM_LOAD, 3, 0x3, 5), r;
    l2_push(l, 100, &p);
    assert_int_equal(l2_until_reply(l, 100, 50, &r), 100 + 50 + 20);
    assert_true(r.id == 5 && r.bytes == 64);
    l2_push(l, 200, &p);
    assert_int_equal(l2_until_reply(l, 200, 50, &r), 220);
    assert_true(l2_idle(l));
    const struct l2_counters *n = l2_counters(l);
    assert_true(n->reads == 2 && n->read_hits == 1 && n->read_misses == 1 && n->fills == 1);
}

/* Whoever waits for a reply is told as soon as it is sure when one comes, and only that port; one that the
 * network has not moved by then may come at any time. */
static void test_l2_promises(void **state) {
    (void)state;
    struct l2_spec s = small_l2();
    struct l2 *l = l2_create(&arena, &s);
    struct promises to[2] = {{0}};
    struct mem_packet p = request(MEM_LOAD, 3, 0x1, 5);
    p.port = 1;
    l2_promise(l, to);
    l2_put(l, p.line);
    l2_push(l, 100, &p);
    assert_true(promise_next(&to[1], 100, 0) == NEVER);
    l2_tick(l, 100);
    assert_true(promise_next(&to[0], 101, 0) == NEVER && promise_next(&to[1], 101, 0) == 120);
    assert_true(promise_next(&to[1], 120, 0) == 120 && promise_next(&to[1], 121, 0) < 121);
    assert_true(promise_next(&to[1], 121, 1) == NEVER);
    for (uint32_t k = 0; k <= PROMISES_KNOWN; k++) /* one too many: the first counts as ready */
        promise_reply(&to[1], 200 + k);
    assert_true(promise_next(&to[1], 150, 1) < 150 && promise_next(&to[1], 150, 2) == 201);
}

/* Writes need no data from DRAM; a sector written in part is fetched only to be read; dirty lines go out. */
static void test_l2_writes(void **state) {
    (void)state;
    struct l2_spec s = small_l2();
    struct l2 *l = l2_create(&arena, &s);
    struct mem_packet w = request(MEM_STORE, 0, 0x3, 1), r, p;
    w.full = 0x1;
    w.bytes = 64;
    l2_push(l, 0, &w);
    assert_int_equal(l2_until_reply(l, 0, 50, &r), 20);
    assert_true(r.id == 1 && r.bytes == 0 && l2_counters(l)->fills == 0);
    p = request(MEM_LOAD, 0, 0x1, 2);
    l2_push(l, 100, &p);
    assert_int_equal(l2_until_reply(l, 100, 50, &r), 120);
    p.sectors = 0x2;
    l2_push(l, 200, &p);
    assert_int_equal(l2_until_reply(l, 200, 50, &r), 270);
    for (uint64_t line = 2; line <= 4; line += 2) { /* two more lines of the set: the first goes */
        p = request(MEM_LOAD, line, 0x1, 3);
        l2_push(l, 300 * line, &p);
        l2_until_reply(l, 300 * line, 50, &r);
    }
    assert_true(l2_bank_counters(l)->write_backs == 1 && l2_bank_counters(l)->evictions == 1);
    w.flags = MEM_SILENT;
    l2_push(l, 5000, &w);
    l2_tick(l, 5000);
    assert_true(l2_idle(l)); /* no answer */
}

/* Requests join a miss; when registers run out the oldest request waits, and that is counted. */
static void test_l2_merging(void **state) {
    (void)state;
    struct l2_spec s = small_l2();
    struct l2 *l = l2_create(&arena, &s);
    struct mem_packet r;
    for (uint32_t i = 0; i < 3; i++) {
        struct mem_packet p = request(MEM_LOAD, 1, 0x1, i);
        l2_push(l, 0, &p);
    }
    assert_int_equal(l2_until_reply(l, 0, 50, &r), 70); /* the third could not join until the data came */
    assert_int_equal(r.id, 0);
    l2_until_reply(l, 71, 50, &r);
    assert_int_equal(r.id, 1);
    l2_until_reply(l, 72, 50, &r);
    assert_int_equal(r.id, 2);
    assert_true(l2_counters(l)->read_merged == 1 && l2_counters(l)->read_hits == 1);
    assert_int_equal(l2_counters(l)->stall_merge, 50 - 2);
}

/* When nobody takes replies, requests wait; when one is taken, one goes on. */
static void test_l2_replies(void **state) {
    (void)state;
    struct l2_spec s = small_l2();
    struct l2 *l = l2_create(&arena, &s);
    struct mem_packet p = request(MEM_STORE, 1, 0x1, 0);
    uint64_t now = 0;
    for (; now < 200; now++) {
        if (l2_has_room(l))
            l2_push(l, now, &p);
        l2_tick(l, now);
    }
    uint64_t served = l2_counters(l)->writes;
    assert_true(served >= s.latency && served < 100);
    assert_non_null(l2_reply(l, now));
    l2_replied(l, now);
    l2_tick(l, now + 9);
    l2_tick(l, now + 10);
    assert_int_equal(l2_counters(l)->writes, served + 1);
    assert_true(l2_counters(l)->stall_reply > 100);
}

/* Lanes on one address follow one another; others share a tick. */
static void test_l2_atomics(void **state) {
    (void)state;
    struct l2_spec s = small_l2();
    struct l2 *l = l2_create(&arena, &s);
    struct mem_packet a = request(MEM_ATOMIC, 1, 0x1, 9), r;
    a.ops = a.serial = 32;
    a.bytes = 4;
    a.flags = MEM_RETURN;
    l2_push(l, 0, &a);
    assert_int_equal(l2_until_reply(l, 0, 50, &r), 50 + 32 + 20);
    assert_int_equal(r.bytes, 4);
    a.serial = 1;
    a.flags = 0;
    l2_push(l, 200, &a);
    assert_int_equal(l2_until_reply(l, 200, 50, &r), 200 + 4 + 20); /* 32 lanes, 8 in a tick */
    assert_int_equal(r.bytes, 0);
    l2_push(l, 300, &a);
    l2_push(l, 300, &a);
    assert_int_equal(l2_until_reply(l, 300, 50, &r), 324);
    assert_int_equal(l2_until_reply(l, 325, 50, &r), 328); /* the unit is busy with the first */
    assert_true(l2_counters(l)->atomics == 4 && l2_counters(l)->atomic_ops == 128);
    assert_true(l2_counters(l)->atomic_hits == 3 && l2_counters(l)->atomic_ticks == 32 + 3 * 4);
    struct mem_packet p = request(MEM_LOAD, 3, 1, 0);
    for (uint64_t line = 3; line <= 5; line += 2) { /* the line is dirty */
        p.line = line * MEM_MAX_LINE;
        l2_push(l, 1000 * line, &p);
        l2_until_reply(l, 1000 * line, 50, &r);
    }
    assert_int_equal(l2_bank_counters(l)->write_backs, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clock),
        cmocka_unit_test(test_divide),
        cmocka_unit_test_teardown(test_pool, free_arena),
        cmocka_unit_test_teardown(test_bits_each, free_arena),
        cmocka_unit_test_teardown(test_calendar, free_arena),
        cmocka_unit_test_teardown(test_cache_hits, free_arena),
        cmocka_unit_test_teardown(test_cache_finds, free_arena),
        cmocka_unit_test_teardown(test_cache_replacement, free_arena),
        cmocka_unit_test_teardown(test_cache_merging, free_arena),
        cmocka_unit_test_teardown(test_cache_stalls, free_arena),
        cmocka_unit_test_teardown(test_cache_stall_count, free_arena),
        cmocka_unit_test_teardown(test_cache_stop_waiting, free_arena),
        cmocka_unit_test_teardown(test_cache_sectors, free_arena),
        cmocka_unit_test_teardown(test_cache_prefetch, free_arena),
        cmocka_unit_test_teardown(test_l1_write_through, free_arena),
        cmocka_unit_test_teardown(test_l1_store_limit, free_arena),
        cmocka_unit_test_teardown(test_l1_write_back, free_arena),
        cmocka_unit_test_teardown(test_l1_bypass, free_arena),
        cmocka_unit_test_teardown(test_l1_atomics, free_arena),
        cmocka_unit_test_teardown(test_l1_locks, free_arena),
        cmocka_unit_test_teardown(test_icnt_latency, free_arena),
        cmocka_unit_test_teardown(test_icnt_bandwidth, free_arena),
        cmocka_unit_test_teardown(test_icnt_pressure, free_arena),
        cmocka_unit_test_teardown(test_icnt_gives, free_arena),
        cmocka_unit_test_teardown(test_icnt_waits, free_arena),
        cmocka_unit_test_teardown(test_icnt_foresees, free_arena),
        cmocka_unit_test_teardown(test_l2_latency, free_arena),
        cmocka_unit_test_teardown(test_l2_promises, free_arena),
        cmocka_unit_test_teardown(test_l2_writes, free_arena),
        cmocka_unit_test_teardown(test_l2_merging, free_arena),
        cmocka_unit_test_teardown(test_l2_replies, free_arena),
        cmocka_unit_test_teardown(test_l2_atomics, free_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
