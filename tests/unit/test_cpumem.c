/* The memory of the CPU: misses that are resolved at once take the same time, and leave the same behind, as
 * those that go their way step by step; and so do requests that are alone in a channel of DRAM. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cpu/cpumem.h"

static uint32_t draw(uint64_t *rng, uint32_t n) {
    *rng = *rng * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(*rng >> 33) % n;
}

/* ---- a channel --------------------------------------------------------------------------------------- */

enum { COMMANDS = 100000 };

struct history {
    struct {
        uint64_t at, row;
        uint32_t bank, what;
    } list[COMMANDS];
    uint32_t n;
};

static void record(void *ctx, uint64_t now, enum dram_command what, uint32_t bank, uint64_t row) {
    struct history *h = ctx;
    assert_true(h->n < COMMANDS);
    h->list[h->n].at = now;
    h->list[h->n].row = row;
    h->list[h->n].bank = bank;
    h->list[h->n++].what = (uint32_t)what;
}

static struct dram_spec channel_spec(uint32_t banks, uint32_t starve, uint32_t burst_bytes) {
    return (struct dram_spec){
        .banks = banks,
        .groups = 1,
        .line = 64,
        .row = 8192,
        .chunk = 128,
        .hash = true,
        .burst_bytes = burst_bytes,
        .burst_ticks = 4,
        .queue = 8,
        .write_queue = 8,
        .reads = 64,
        .write_high = 6,
        .write_low = 2,
        .starve = starve,
        .latency = 16,
        .t = {11, 11, 28, 39, 5, 24, 11, 8, 4, 4, 12, 6, 6},
    };
}

/* dram_run, called now and then, gives the commands that dram_tick gives, and leaves the channel so. */
static void test_run(void **state) {
    (void)state;
    static struct history h[2];
    uint64_t commands = 0, starved = 0;
    for (uint32_t trial = 0; trial < 12; trial++) {
        struct arena arena = {0};
        struct dram_spec s = channel_spec(trial % 3 ? 8 : 1, trial & 1 ? 30 : 1000, trial & 2 ? 32 : 64);
        struct dram *d[2] = {dram_create(&arena, &s), dram_create(&arena, &s)};
        uint64_t rng = trial + 1, now = 0;
        memset(h, 0, sizeof h);
        for (uint32_t k = 0; k < 2; k++)
            dram_watch(d[k], record, &h[k]);
        for (uint32_t i = 0; i < 4000; i++) {
            uint64_t line = draw(&rng, draw(&rng, 2) ? 64 : 1 << 16) * UINT64_C(64);
            bool write = draw(&rng, 3) == 0;
            now += draw(&rng, trial < 6 ? 150 : 12); /* mostly one at a time; several */
            dram_run(d[0], now);
            while (dram_next(d[1]) <= now)
                dram_tick(d[1], dram_next(d[1]));
            assert_true(dram_next(d[0]) == dram_next(d[1]) && dram_pop_at(d[0]) == dram_pop_at(d[1]) &&
                        dram_pop_from(d[0]) == dram_pop_from(d[1]));
            while (dram_pop_at(d[0]) <= now)
                for (uint32_t k = 0; k < 2; k++) {
                    uint32_t id;
                    uint8_t sectors;
                    dram_pop(d[k], &id, &sectors);
                }
            for (uint32_t k = 0; k < 2; k++)
                if (dram_has_room(d[k], write))
                    dram_push(d[k], now + 1, line, 3, write, i);
        }
        assert_int_equal(h[0].n, h[1].n);
        assert_memory_equal(h[0].list, h[1].list, h[0].n * sizeof *h[0].list);
        assert_memory_equal(dram_counters(d[0]), dram_counters(d[1]), sizeof(struct dram_counters));
        commands += h[0].n;
        starved += dram_counters(d[0])->starved;
        arena_free(&arena);
    }
    assert_true(commands > 40000 && starved > 100);
}

/* ---- misses ------------------------------------------------------------------------------------------ */

static struct cpu_config config(uint32_t kind) {
    struct cpu_config c;
    param_defaults(&cpu_params, &c);
    if (kind & 1) { /* small caches, so that much is written back */
        c.l1d_size = 1024;
        c.l1i_size = 1024;
        c.l2_size = 16 * 1024;
        c.l2_ways = 4;
    }
    if (kind & 2) { /* few places, and another clock */
        c.l2_mshrs = 1;
        c.dram_queue = 1;
        c.dram_channels = 1;
        c.dram_clock = 133;
        c.dram_latency = 0; /* writes still go on when a read has come */
        c.dram_rp = 100;
    }
    if (kind & 4) {
        c.l2_latency = 1;
        c.dram_clock *= 7;
    }
    return c;
}

static void expect_same(const struct cpumem *a, const struct cpumem *b) {
    assert_true(a->now == b->now);
    for (uint32_t k = 0; k < a->nports; k++) {
        const struct port *p = &a->port[k], *q = &b->port[k];
        assert_memory_equal(&p->l1d->n, &q->l1d->n, sizeof p->l1d->n);
        assert_memory_equal(&p->l1d->bank.n, &q->l1d->bank.n, sizeof p->l1d->bank.n);
        assert_memory_equal(&p->l1i->n, &q->l1i->n, sizeof p->l1i->n);
        assert_memory_equal(p->done, q->done, sizeof p->done);
    }
    assert_memory_equal(&a->l2->n, &b->l2->n, sizeof a->l2->n);
    assert_memory_equal(&a->l2->bank.n, &b->l2->bank.n, sizeof a->l2->bank.n);
}

/* Accesses under way: the same in both memories, but for their numbers. */
struct flight {
    int number[2];
    uint32_t port;
};

/* Random accesses of two cores, most loads waited for at once. In the second memory every miss goes its way
 * step by step. */
static void compare(uint32_t kind, uint32_t *resolved) {
    static struct cpumem m[2];
    struct cpu_config c = config(kind);
    struct flight under_way[CPUMEM_CORES][2];
    uint32_t n[CPUMEM_CORES] = {0};
    uint64_t rng = kind + 7, now[CPUMEM_CORES] = {0};
    for (uint32_t k = 0; k < 2; k++) {
        cpumem_init(&m[k], &c, (uint32_t)c.l2_ways);
        m[k].stepwise = k;
    }
    for (uint32_t i = 0; i < 20000; i++) {
        uint32_t p = draw(&rng, 8) == 0, what = draw(&rng, 10), far = draw(&rng, 3);
        uint64_t line = draw(&rng, far == 0   ? 1 << 18
                                   : far == 1 ? 2000
                                              : 300),
                 address = line * 64 + 8 * draw(&rng, 8);
        bool waits = draw(&rng, 4) != 0, streams = draw(&rng, 4) == 0;
        if (streams)
            address = UINT64_C(64) * i;
        uint64_t at[2] = {0};
        struct flight f = {.port = p};
        now[p] += draw(&rng, draw(&rng, 10) ? 4 : 600);
        for (uint32_t k = 0; k < 2; k++) {
            struct port *q = &m[k].port[p];
            if (what == 0)
                at[k] = cpumem_fetch(q, now[p], address);
            else if (what < 4)
                f.number[k] = cpumem_store(q, now[p], address, 8);
            else
                f.number[k] = cpumem_load(q, now[p], address, 8, streams ? 4 : 8);
            *resolved += m[k].lone.on;
            if (draw(&(uint64_t){rng}, 16) == 0)
                cpumem_use_l2(&m[k], now[p]);
        }
        assert_true(at[0] == at[1] && m[0].port[p].extra == m[1].port[p].extra);
        assert_int_equal(f.number[0] == CPUMEM_HIT, f.number[1] == CPUMEM_HIT);
        if (what && f.number[0] != CPUMEM_HIT)
            under_way[p][n[p]++] = f;
        while (n[p] && (waits || n[p] == 2)) {
            struct flight *x = &under_way[p][--n[p]];
            for (uint32_t k = 0; k < 2; k++)
                at[k] = cpumem_wait(&m[k].port[p], x->number[k]);
            assert_true(at[0] == at[1]);
            now[p] = at[0] > now[p] ? at[0] : now[p];
        }
        expect_same(&m[0], &m[1]);
    }
    for (uint32_t k = 0; k < 2; k++)
        cpumem_settle(&m[k]);
    expect_same(&m[0], &m[1]);
    for (int32_t k = 0; k < c.dram_channels; k++)
        assert_memory_equal(dram_counters(m[0].channel[k].dram), dram_counters(m[1].channel[k].dram),
                            sizeof(struct dram_counters));
    for (uint32_t k = 0; k < 2; k++)
        cpumem_free(&m[k]);
}

static void test_alone(void **state) {
    (void)state;
    for (uint32_t kind = 0; kind < 8; kind++) {
        uint32_t resolved = 0;
        compare(kind, &resolved);
        assert_true(resolved > 500);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_run),
        cmocka_unit_test(test_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
