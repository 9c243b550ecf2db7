/* The memoization unit: what hits, what must not, and when it gives up. The traps that AxMemo's text leaves
 * open are here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cpu/memo.h"

enum { SP = 0x1000 };

static struct arena arena;

static int free_arena(void **state) {
    (void)state;
    arena_free(&arena);
    return 0;
}

static struct memo_spec spec(uint32_t l1, uint32_t l2) {
    return (struct memo_spec){.l1_bytes = l1,
                              .l2_bytes = l2,
                              .truncate = true,
                              .window = 100,
                              .bad = 10,
                              .error = 0.1,
                              .epoch_bits = 4};
}

static struct memo *unit(const struct memo_spec *s) {
    struct memo *m = arena_new(&arena, struct memo);
    memo_init(m, &arena, s, 0, s->l2_bytes ? memo_l2_create(&arena, s) : NULL);
    return m;
}

/* Looks x up in a table, and puts x * 3 there if it is not: whether it hit. The result must be right in any
 * case. */
static bool use(struct memo *m, uint32_t table, uint32_t x) {
    uint64_t data = 0;
    memo_input(m, table, x, 4, 0);
    bool hit = memo_lookup(m, table, 4, SP, &data);
    if (hit)
        assert_int_equal(data, x * 3);
    else
        memo_update(m, table, x * 3, 4, SP, MEMO_INTEGER);
    return hit;
}

static void test_crc(void **state) {
    (void)state;
    /* the check value of CRC-32, whose last step inverts */
    uint32_t c = MEMO_START;
    for (const char *p = "123456789"; *p; p++)
        c = memo_crc(c, (uint64_t)*p, 1);
    assert_int_equal(~c, 0xcbf43926u);
    /* little-endian, any sizes */
    assert_int_equal(memo_crc(memo_crc(MEMO_START, 0x3231, 2), 0x36353433, 4),
                     memo_crc(MEMO_START, 0x363534333231, 6));
}

static void test_hits(void **state) {
    (void)state;
    struct memo_spec s = spec(4096, 0);
    struct memo *m = unit(&s);
    assert_false(use(m, 0, 5));
    assert_true(use(m, 0, 5));
    assert_false(use(m, 0, 6));
    assert_false(use(m, 1, 5)); /* another table */
    assert_true(use(m, 0, 6));
    assert_int_equal(m->n.lookups, 5);
    assert_int_equal(m->n.l1_hits, 2);
    assert_int_equal(m->n.misses, 3);
}

/* Inputs of different tables may come in any order; each has its own hash. */
static void test_interleaved(void **state) {
    (void)state;
    struct memo_spec s = spec(4096, 0);
    struct memo *m = unit(&s);
    uint64_t data;
    for (int round = 0; round < 2; round++) {
        memo_input(m, 2, 1, 4, 0);
        memo_input(m, 3, 7, 8, 0);
        memo_input(m, 2, 2, 4, 0);
        assert_int_equal(memo_lookup(m, 2, 4, SP, &data), round);
        assert_int_equal(memo_lookup(m, 3, 4, SP, &data), round);
        if (!round) {
            memo_update(m, 3, 33, 4, SP, MEMO_INTEGER);
            memo_update(m, 2, 22, 4, SP, MEMO_INTEGER);
        } else {
            assert_int_equal(data, 33);
        }
    }
}

static void test_truncation(void **state) {
    (void)state;
    struct memo_spec s = spec(4096, 0);
    for (int truncate = 0; truncate < 2; truncate++) {
        s.truncate = truncate;
        struct memo *m = unit(&s);
        uint64_t data;
        memo_input(m, 0, 0x12345678, 4, 8);
        assert_false(memo_lookup(m, 0, 4, SP, &data));
        memo_update(m, 0, 1, 4, SP, MEMO_INTEGER);
        memo_input(m, 0, 0x123456ff, 4, 8); /* the same but for its low bits */
        assert_int_equal(memo_lookup(m, 0, 4, SP, &data), truncate);
    }
    struct memo *m = unit(&s);
    uint64_t data;
    memo_input(m, 0, UINT64_MAX, 8, 63);
    memo_lookup(m, 0, 4, SP, &data);
    memo_update(m, 0, 1, 4, SP, MEMO_INTEGER);
    memo_input(m, 0, 1ull << 63, 8, 63);
    assert_true(memo_lookup(m, 0, 4, SP, &data));
}

/* ---- traps ------------------------------------------------------------------------------------------- */

/* A block that is left early must not spoil the next hash, nor put anything under a wrong key. */
static void test_a_block_left_early(void **state) {
    (void)state;
    struct memo_spec s = spec(4096, 0);
    struct memo *m = unit(&s);
    uint64_t data;
    memo_input(m, 0, 1, 4, 0);
    assert_false(memo_lookup(m, 0, 4, SP, &data)); /* and no update follows */
    assert_false(use(m, 0, 2));
    assert_true(use(m, 0, 2));
    assert_false(use(m, 0, 1)); /* nothing was put there */
    assert_true(use(m, 0, 1));
}

/* Inputs without a look-up are part of the next key: a program must not do that; invalidate forgets them. */
static void test_invalidate_forgets_inputs(void **state) {
    (void)state;
    struct memo_spec s = spec(4096, 0);
    struct memo *m = unit(&s);
    use(m, 0, 9);
    memo_input(m, 0, 1, 4, 0);
    memo_invalidate(m, 0);
    assert_false(use(m, 0, 9));
    assert_true(use(m, 0, 9));
}

/* A recursive block: the inner look-up takes the place of the outer one, whose update does nothing. */
static uint64_t recursive(struct memo *m, uint32_t x, uint64_t sp, bool leave_early) {
    uint64_t data;
    memo_input(m, 0, x, 4, 0);
    if (memo_lookup(m, 0, 8, sp, &data))
        return data;
    if (leave_early && x == 0)
        return 1000;
    data = x ? recursive(m, x - 1, sp - 64, leave_early) + x : 0;
    memo_update(m, 0, data, 8, sp, MEMO_INTEGER);
    return data;
}

static void test_recursion(void **state) {
    (void)state;
    struct memo_spec s = spec(4096, 0);
    for (int early = 0; early < 2; early++) {
        struct memo *m = unit(&s);
        uint64_t base = early ? 1000 : 0;
        for (int round = 0; round < 4; round++)
            for (uint32_t x = 0; x < 20; x++)
                assert_int_equal(recursive(m, x, SP, early), base + x * (x + 1) / 2);
        assert_true(m->n.stale_updates > 0);
    }
}

/* An update that has lost its look-up, or had none, changes nothing. */
static void test_stale_updates(void **state) {
    (void)state;
    struct memo_spec s = spec(4096, 0);
    struct memo *m = unit(&s);
    uint64_t data;
    memo_update(m, 0, 7, 4, SP, MEMO_INTEGER);
    assert_int_equal(m->n.stale_updates, 1);
    use(m, 0, 1);
    use(m, 0, 1); /* hit */
    memo_update(m, 0, 7, 4, SP, MEMO_INTEGER);
    assert_true(use(m, 0, 1)); /* still the right result */
    memo_input(m, 0, 50, 4, 0);
    memo_lookup(m, 0, 4, SP, &data);
    memo_invalidate(m, 0); /* cancels what is pending */
    memo_update(m, 0, 7, 4, SP, MEMO_INTEGER);
    assert_false(use(m, 0, 50));
    memo_input(m, 0, 60, 4, 0);
    memo_lookup(m, 0, 4, SP, &data);
    memo_update(m, 0, 7, 4, SP - 16, MEMO_INTEGER); /* from another frame */
    assert_false(use(m, 0, 60));
}

/* Two misses of one set, one inside of the other, get an entry each. */
static void test_nested_misses(void **state) {
    (void)state;
    struct memo_spec s = spec(64, 0); /* one set */
    struct memo *m = unit(&s);
    uint64_t data;
    for (uint32_t k = 0; k < 7; k++)
        use(m, 2, 100 + k); /* one of eight entries is left */
    memo_input(m, 0, 1, 4, 0);
    assert_false(memo_lookup(m, 0, 4, SP, &data));
    memo_input(m, 1, 2, 4, 0);
    assert_false(memo_lookup(m, 1, 4, SP, &data));
    memo_update(m, 1, 6, 4, SP, MEMO_INTEGER);
    memo_update(m, 0, 3, 4, SP, MEMO_INTEGER);
    assert_true(use(m, 0, 1));
    assert_true(use(m, 1, 2));
    assert_int_equal(m->n.evictions, 1);
}

/* Epochs forget a table at once; when they begin again, nothing of the past comes back. */
static void test_invalidate(void **state) {
    (void)state;
    struct memo_spec s = spec(4096, 65536);
    struct memo *m = unit(&s);
    use(m, 1, 77);
    for (int round = 0; round < 40; round++) {
        for (uint32_t x = 0; x < 10; x++)
            assert_false(use(m, 0, x));
        for (uint32_t x = 0; x < 10; x++)
            assert_true(use(m, 0, x));
        memo_invalidate(m, 0);
    }
    assert_int_equal(m->n.invalidates, 40);
    assert_int_equal(m->n.sweeps, 2);
    assert_true(use(m, 1, 77)); /* other tables stay */
}

/* The program of one core does not see the results of the other's, although both use the same table of L2. */
static void test_owners(void **state) {
    (void)state;
    struct memo_spec s = spec(4096, 65536);
    struct memo_l2 *l2 = memo_l2_create(&arena, &s);
    struct memo *a = arena_new(&arena, struct memo), *b = arena_new(&arena, struct memo);
    uint64_t data;
    memo_init(a, &arena, &s, 0, l2);
    memo_init(b, &arena, &s, 1, l2);
    assert_false(use(a, 0, 1));
    memo_input(b, 0, 1, 4, 0);
    assert_false(memo_lookup(b, 0, 4, SP, &data));
    memo_update(b, 0, 1234, 4, SP, MEMO_INTEGER); /* another program's function */
    assert_true(use(a, 0, 1));
    memo_input(b, 0, 1, 4, 0);
    assert_true(memo_lookup(b, 0, 4, SP, &data));
    assert_int_equal(data, 1234);
}

/* ---- arrays ------------------------------------------------------------------------------------------ */

/* Inputs whose keys fall into one set of an array of so many. */
static uint32_t same_set(uint32_t sets, uint32_t set, uint32_t *at) {
    for (;; ++*at)
        if ((memo_crc(MEMO_START, *at, 4) & (sets - 1)) == set)
            return (*at)++;
}

static void test_lru_and_ways(void **state) {
    (void)state;
    struct memo_spec s = spec(4096, 0);
    for (int wide = 0; wide < 2; wide++) {
        struct memo *m = unit(&s);
        uint32_t ways = wide ? 4 : 8, at = 0, x[9];
        uint64_t data;
        if (wide) { /* the first result of eight bytes makes entries of eight bytes */
            memo_input(m, 7, 1, 4, 0);
            memo_lookup(m, 7, 8, SP, &data);
            memo_invalidate(m, 7);
        }
        for (uint32_t k = 0; k <= ways; k++)
            x[k] = same_set(64, 3, &at);
        for (uint32_t k = 0; k < ways; k++)
            assert_false(use(m, 0, x[k]));
        for (uint32_t k = 0; k < ways; k++)
            assert_true(use(m, 0, x[k]));
        assert_true(use(m, 0, x[0]));
        assert_false(use(m, 0, x[ways])); /* throws out x[1], used longest ago */
        assert_true(use(m, 0, x[0]));
        assert_false(use(m, 0, x[1]));
        assert_int_equal(m->n.evictions, 2);
    }
}

/* What leaves the small table is still in L2; what leaves L2 leaves the small one, too. */
static void test_l2(void **state) {
    (void)state;
    struct memo_spec s = spec(64, 256 * 1024); /* one set beside the core */
    struct memo *m = unit(&s);
    for (uint32_t x = 0; x < 200; x++)
        assert_false(use(m, 0, x));
    for (uint32_t x = 0; x < 200; x++)
        assert_true(use(m, 0, x));
    assert_int_equal(m->n.l2_hits, 200);
    assert_true(use(m, 0, 199)); /* promoted */
    assert_int_equal(m->n.l1_hits, 1);

    s = spec(4096, 4096);
    m = unit(&s); /* as large as each other: every set of both holds the same */
    for (uint32_t x = 0; x < 3000; x++)
        use(m, 0, x);
    assert_true(m->n.l2_evictions > 0);
    uint32_t in_l1 = 0;
    for (uint32_t k = 0; k < m->l1.sets * MEMO_WAYS; k++)
        in_l1 += m->l1.entry[k].used != 0;
    assert_true(in_l1 <= 512);
    assert_true(m->n.back_invalidations + m->n.evictions >= 3000 - 512);
}

/* The table of L2 holds all that the cores' hold. One core's inputs crowd out the other's in L2, whose own
 * table would have kept them. */
static void test_inclusion(void **state) {
    (void)state;
    struct memo_spec s = spec(4096, 4096);
    struct memo_l2 *l2 = memo_l2_create(&arena, &s);
    struct memo *a = arena_new(&arena, struct memo), *b = arena_new(&arena, struct memo);
    memo_init(a, &arena, &s, 0, l2);
    memo_init(b, &arena, &s, 1, l2);
    uint32_t at = 0, x = same_set(64, 3, &at);
    assert_false(use(a, 0, x));
    assert_true(use(a, 0, x));
    for (uint32_t k = 0; k < 8; k++) { /* as many as a set has ways */
        at++;
        assert_false(use(b, 0, same_set(64, 3, &at)));
    }
    assert_int_equal(b->n.l2_evictions, 1);
    assert_int_equal(a->n.back_invalidations, 1);
    assert_false(use(a, 0, x));
}

/* What an epoch left behind is thrown out first, although it was used last. */
static void test_forgotten_entries_go_first(void **state) {
    (void)state;
    struct memo_spec s = spec(64, 0); /* one set */
    struct memo *m = unit(&s);
    for (uint32_t x = 0; x < 7; x++)
        assert_false(use(m, 0, x));
    assert_false(use(m, 1, 100));
    memo_invalidate(m, 1);
    assert_false(use(m, 2, 200));
    for (uint32_t x = 0; x < 7; x++)
        assert_true(use(m, 0, x));
    assert_int_equal(m->n.evictions, 0);
}

/* The first result of eight bytes makes all entries twice as wide; those that were there are gone. */
static void test_widening(void **state) {
    (void)state;
    struct memo_spec s = spec(4096, 65536);
    struct memo *m = unit(&s);
    uint64_t data;
    assert_false(use(m, 0, 1));
    assert_true(use(m, 0, 1));
    memo_input(m, 1, 1, 4, 0);
    memo_lookup(m, 1, 8, SP, &data);
    assert_false(use(m, 0, 1));
    assert_true(use(m, 0, 1));
}

/* Inputs that come round again and again, more of them than there are entries, never hit with LRU. */
static void test_thrashing(void **state) {
    (void)state;
    struct memo_spec s = spec(4096, 0), l = spec(8192, 256 * 1024);
    struct memo *small = unit(&s), *large = unit(&l);
    for (int round = 0; round < 3; round++)
        for (uint32_t x = 0; x < 5000; x++) {
            use(small, 0, x);
            use(large, 0, x);
        }
    assert_true(small->n.l1_hits < 100);
    assert_true(large->n.l1_hits + large->n.l2_hits > 9900);
}

/* ---- quality ----------------------------------------------------------------------------------------- */

static void test_collisions_are_counted(void **state) {
    (void)state;
    struct memo_spec s = spec(4096, 0);
    struct memo *m = unit(&s);
    uint64_t data;
    use(m, 0, 1);
    m->l1.entry[(memo_crc(MEMO_START, 1, 4) & 63) * MEMO_WAYS].true_key ^=
        1; /* as if it had been another input */
    memo_input(m, 0, 1, 4, 0);
    assert_true(memo_lookup(m, 0, 4, SP, &data));
    assert_int_equal(m->n.collisions, 1);
}

/* Uses one input over and over, with a result that drifts. */
static void drift(struct memo *m, uint32_t table, int n, float from, float step) {
    uint64_t data;
    for (int k = 0; k < n; k++) {
        float v = from + step * (float)k;
        uint32_t bits;
        memcpy(&bits, &v, 4);
        memo_input(m, table, 5, 4, 0);
        if (!memo_lookup(m, table, 4, SP, &data))
            memo_update(m, table, bits, 4, SP, MEMO_FLOAT);
    }
}

static void test_monitor(void **state) {
    (void)state;
    struct memo_spec s = spec(4096, 0);
    s.sample = 100;
    struct memo *m = unit(&s);
    drift(m, 0, 9901, 1, 0); /* a miss, then hits, of which every hundredth is told as a miss */
    assert_int_equal(m->n.samples, 99);
    assert_int_equal(m->n.comparisons, 99);
    assert_int_equal(m->n.l1_hits, 9900); /* told or not */
    assert_int_equal(m->n.bad_comparisons, 0);
    assert_int_equal(m->n.switched_off, 0);
    drift(m, 1, 1000, 1, 100000); /* each sample is off by more than a tenth */
    assert_int_equal(m->n.bad_comparisons, 9);
}

/* More than ten of a hundred comparisons that are off by more than a tenth switch memoization off, for the
 * rest of the run; other tables stay on only if the unit is told so. Those of another table do not count. */
static void test_switching_off(void **state) {
    (void)state;
    struct memo_spec s = spec(4096, 0);
    s.sample = 1; /* every hit is compared */
    for (int way = 0; way < 4; way++) {
        int bad = 10 + way % 2;
        s.apart = way / 2;
        struct memo *m = unit(&s);
        uint64_t data;
        for (int k = 0; k < 101; k++) {
            float v = k && k <= bad ? (k % 2 ? 2.0f : 1.0f) : bad % 2 ? 2.0f : 1.0f;
            uint32_t bits;
            if (!k)
                v = 1.0f;
            memcpy(&bits, &v, 4);
            memo_input(m, 0, 5, 4, 0);
            assert_false(memo_lookup(m, 0, 4, SP, &data));
            memo_update(m, 0, bits, 4, SP, MEMO_FLOAT);
        }
        assert_int_equal(m->n.comparisons, 100);
        assert_int_equal(m->n.bad_comparisons, bad);
        assert_int_equal(m->n.switched_off, bad > 10);
        assert_int_equal(m->monitor[0].off, bad > 10);
        assert_int_equal(m->monitor[1].off, bad > 10 && !s.apart);
        drift(m, 1, 2, 1, 0);
        assert_int_equal(m->n.refused, bad > 10 && !s.apart ? 2 : 0);
        memo_input(m, 0, 5, 4, 0);
        assert_false(memo_lookup(m, 0, 4, SP, &data));
        memo_invalidate(m, 0);
        assert_int_equal(m->monitor[0].off, bad > 10); /* for the rest of the run */
    }
}

/* Comparisons are counted for each table: six bad ones of a hundred in each of two are not twelve. */
static void test_counts_are_apart(void **state) {
    (void)state;
    struct memo_spec s = spec(4096, 0);
    s.sample = 1;
    struct memo *m = unit(&s);
    for (int k = 0; k < 101; k++)
        for (uint32_t table = 0; table < 2; table++)
            drift(m, table, 1, k > 0 && k <= 6 && k % 2 ? 2.0f : 1.0f, 0);
    assert_int_equal(m->n.comparisons, 200);
    assert_int_equal(m->n.bad_comparisons, 12);
    assert_int_equal(m->n.switched_off, 0);
}

/* Each hundred comparisons are counted by themselves: six bad ones in each of two hundreds are not twelve. */
static void test_windows_are_apart(void **state) {
    (void)state;
    struct memo_spec s = spec(4096, 0);
    s.sample = 1;
    struct memo *m = unit(&s);
    for (int k = 0; k < 201; k++)
        drift(m, 0, 1, k % 100 > 0 && k % 100 <= 6 && k % 2 ? 2.0f : 1.0f, 0);
    assert_int_equal(m->n.comparisons, 200);
    assert_int_equal(m->n.bad_comparisons, 12);
    assert_int_equal(m->n.switched_off, 0);
}

/* Errors by kind of data: zeros, signs, halves, NaN. */
static void test_comparisons(void **state) {
    (void)state;
    static const struct {
        uint64_t was, is;
        uint32_t bytes;
        enum memo_kind kind;
        bool bad;
    } cases[] = {
        {0x3f800000, 0x3f800000, 4, MEMO_FLOAT, false}, /* 1, 1 */
        {0x3f8ccccc, 0x3f800000, 4, MEMO_FLOAT, false}, /* 1.0999999, 1: 12/128 in eight bits, of 0xff/256 */
        {0x3f8e0000, 0x3f800000, 4, MEMO_FLOAT, true},  /* 1.109375, 1: 14/128 */
        {0x3f8d999a, 0x3f800000, 4, MEMO_FLOAT, true},  /* 1.10625, 1: 13/128 is more than a tenth */
        {0x3f8cffff, 0x3f80ffff, 4, MEMO_FLOAT, false}, /* 1.1015624, 1.0078124: 9.3%, 12/128 of 0xfd/256 */
        {0x3f8cffff, 0x3f800000, 4, MEMO_FLOAT, false}, /* 1.1015624, 1: 10.2%, but 12/128 in eight bits */
        {0x3f8d0000, 0x3f80ffff, 4, MEMO_FLOAT, true},  /* 1.1015625, 1.0078124: 9.3%, but 13/128 */
        {0x3f7f0000, 0x40000000, 4, MEMO_FLOAT, true},  /* 0.996, 2: exponents differ by two */
        {0x3f73ffff, 0x3f800000, 4, MEMO_FLOAT, false}, /* 0.953, 1: exponents differ by one */
        {0x7f800000, 0x7f7fffff, 4, MEMO_FLOAT, true},  /* infinite, and the largest number */
        {0x00000003, 0x00000002, 4, MEMO_FLOAT, true},  /* below the normal numbers: only if equal */
        {0, 0, 4, MEMO_FLOAT, false},
        {0x80000000, 0, 4, MEMO_FLOAT, false}, /* -0, 0 */
        {1, 0, 4, MEMO_FLOAT, true},
        {0xbf800000, 0x3f800000, 4, MEMO_FLOAT, true},
        {0x7fc00000, 0x7fc00000, 4, MEMO_FLOAT, false},
        {0x7fc00000, 0x3f800000, 4, MEMO_FLOAT, true},
        {0x3ff199999999999a, 0x3ff0000000000000, 8, MEMO_FLOAT, true}, /* just above a tenth */
        {109, 100, 4, MEMO_INTEGER, false},
        {111, 100, 4, MEMO_INTEGER, true},
        {(uint32_t)-111, (uint32_t)-100, 4, MEMO_INTEGER, true},
        {1, 0, 8, MEMO_INTEGER, true},
        {0x3f8000003f800000, 0x3f8000003f800000, 8, MEMO_TWO_FLOATS, false},
        {0x3f8000004f800000, 0x3f8000003f800000, 8, MEMO_TWO_FLOATS, true},
        {0x4f8000003f800000, 0x3f8000003f800000, 8, MEMO_TWO_FLOATS, true},
        {5ull << 32 | 100, 5ull << 32 | 100, 8, MEMO_TWO_INTEGERS, false},
        {6ull << 32 | 100, 5ull << 32 | 100, 8, MEMO_TWO_INTEGERS, true},
        {0x0001ffff00010003, 0x0000000000000002, 8, MEMO_FOUR_SHORTS, false}, /* each one off */
        {0x0002000000000000, 0, 8, MEMO_FOUR_SHORTS, true},
        {0x00000000fffe0000, 0, 8, MEMO_FOUR_SHORTS, true},
        {109ull << 48, 100ull << 48, 8, MEMO_FOUR_SHORTS, false},
        {111, 100, 8, MEMO_FOUR_SHORTS, true},
    };
    struct memo_spec s = spec(4096, 0);
    s.sample = 1;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        struct memo *m = unit(&s);
        uint64_t data;
        memo_input(m, 0, 1, 4, 0);
        memo_lookup(m, 0, cases[k].bytes, SP, &data);
        memo_update(m, 0, cases[k].was, cases[k].bytes, SP, cases[k].kind);
        memo_input(m, 0, 1, 4, 0);
        assert_false(memo_lookup(m, 0, cases[k].bytes, SP, &data));
        memo_update(m, 0, cases[k].is, cases[k].bytes, SP, cases[k].kind);
        if (m->n.bad_comparisons != cases[k].bad)
            fail_msg("case %zu", k);
    }
}

/* Tables as software has them: as many entries as bits say, and nothing tells inputs apart. */
static void test_direct(void **state) {
    (void)state;
    struct memo_spec s = spec(64, 0);
    s.direct = 28;
    struct memo *m = unit(&s);
    for (uint32_t x = 0; x < 5000; x++)
        assert_false(use(m, 1, x));
    for (uint32_t x = 0; x < 5000; x++)
        assert_true(use(m, 1, x));
    assert_int_equal(m->n.l1_hits, 5000);
    assert_false(use(m, 2, 7)); /* of another table */
    memo_invalidate(m, 1);
    assert_false(use(m, 1, 7));
    assert_true(use(m, 2, 7));
    for (uint32_t k = 0; k < 1u << s.epoch_bits; k++) /* also when epochs begin again */
        memo_invalidate(m, 2);
    assert_false(use(m, 2, 7));
    memo_free(m);
    s.direct = 4; /* sixteen entries: others' results, which are counted */
    m = unit(&s);
    for (uint32_t x = 0; x < 100; x++) {
        uint64_t data;
        memo_input(m, 0, x, 4, 0);
        if (!memo_lookup(m, 0, 4, SP, &data))
            memo_update(m, 0, x, 4, SP, MEMO_INTEGER);
    }
    assert_int_equal(m->n.misses, 16);
    assert_int_equal(m->n.collisions, 84);
    memo_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_crc, free_arena),
        cmocka_unit_test_teardown(test_hits, free_arena),
        cmocka_unit_test_teardown(test_interleaved, free_arena),
        cmocka_unit_test_teardown(test_truncation, free_arena),
        cmocka_unit_test_teardown(test_a_block_left_early, free_arena),
        cmocka_unit_test_teardown(test_invalidate_forgets_inputs, free_arena),
        cmocka_unit_test_teardown(test_recursion, free_arena),
        cmocka_unit_test_teardown(test_stale_updates, free_arena),
        cmocka_unit_test_teardown(test_nested_misses, free_arena),
        cmocka_unit_test_teardown(test_invalidate, free_arena),
        cmocka_unit_test_teardown(test_owners, free_arena),
        cmocka_unit_test_teardown(test_lru_and_ways, free_arena),
        cmocka_unit_test_teardown(test_l2, free_arena),
        cmocka_unit_test_teardown(test_inclusion, free_arena),
        cmocka_unit_test_teardown(test_forgotten_entries_go_first, free_arena),
        cmocka_unit_test_teardown(test_widening, free_arena),
        cmocka_unit_test_teardown(test_thrashing, free_arena),
        cmocka_unit_test_teardown(test_collisions_are_counted, free_arena),
        cmocka_unit_test_teardown(test_monitor, free_arena),
        cmocka_unit_test_teardown(test_switching_off, free_arena),
        cmocka_unit_test_teardown(test_counts_are_apart, free_arena),
        cmocka_unit_test_teardown(test_windows_are_apart, free_arena),
        cmocka_unit_test_teardown(test_comparisons, free_arena),
        cmocka_unit_test_teardown(test_direct, free_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
