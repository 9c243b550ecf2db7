/* The structures of WIR, each for itself; the rules for loads are in test_wir_loads.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "mech/wir/h3.h"
#include "mech/wir/pendq.h"
#include "mech/wir/rb.h"
#include "mech/wir/vc.h"
#include "mech/wir/vsb.h"

static struct arena arena;

static int release(void **state) {
    (void)state;
    arena_free(&arena);
    return 0;
}

/* Numbers that look random and are the same everywhere. */
static uint64_t rng = 1;

static uint32_t draw(uint32_t below) {
    rng = rng * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((rng >> 32) * below >> 32);
}

/* ---- hash -------------------------------------------------------------------------------------------- */

struct value {
    _Alignas(64) uint32_t lane[H3_LANES];
};

static struct value random_value(void) {
    struct value v;
    for (int i = 0; i < H3_LANES; i++)
        v.lane[i] = draw(UINT32_MAX);
    return v;
}

/* The matrix, a column for each bit of the value. */
static void columns(const struct h3 *h, uint32_t to[32 * H3_LANES]) {
    for (uint32_t i = 0; i < 32 * H3_LANES; i++) {
        struct value v = {{0}};
        v.lane[i / 32] = 1u << i % 32;
        to[i] = h3_hash(h, v.lane);
    }
}

/* The hash is the sum of the columns of the value's ones: a matrix and nothing else. */
static void test_h3_linear(void **state) {
    (void)state;
    const struct h3 *h = h3_create(&arena, 32);
    uint32_t column[32 * H3_LANES];
    columns(h, column);
    assert_int_equal(h3_hash(h, (struct value){{0}}.lane), 0);
    for (int t = 0; t < 1000; t++) {
        struct value a = random_value(), b = random_value(), c;
        uint32_t sum = 0;
        for (int i = 0; i < H3_LANES; i++) {
            c.lane[i] = a.lane[i] ^ b.lane[i];
            for (int bit = 0; bit < 32; bit++)
                sum ^= a.lane[i] >> bit & 1 ? column[32 * i + bit] : 0;
        }
        assert_int_equal(h3_hash(h, a.lane), sum);
        assert_int_equal(h3_hash(h, c.lane), h3_hash(h, a.lane) ^ h3_hash(h, b.lane));
    }
}

static uint32_t rank(const uint32_t column[32]) {
    uint32_t basis[32] = {0}, n = 0;
    for (int i = 0; i < 32; i++)
        for (uint32_t c = column[i]; c;) {
            uint32_t top = 31 - (uint32_t)__builtin_clz(c);
            if (!basis[top]) {
                basis[top] = c;
                n++;
                break;
            }
            c ^= basis[top];
        }
    return n;
}

/* No column twice, none of zeros; each row and the whole about half ones; no lane loses anything. */
static void test_h3_matrix(void **state) {
    (void)state;
    enum { COLUMNS = 32 * H3_LANES };
    const struct h3 *h = h3_create(&arena, 32);
    uint32_t column[COLUMNS], row[32] = {0}, ones = 0;
    columns(h, column);
    for (int i = 0; i < COLUMNS; i++) {
        assert_int_not_equal(column[i], 0);
        for (int j = 0; j < i; j++)
            assert_int_not_equal(column[i], column[j]);
        for (int bit = 0; bit < 32; bit++)
            row[bit] += column[i] >> bit & 1;
    }
    for (int bit = 0; bit < 32; bit++) {
        assert_in_range(row[bit], COLUMNS / 2 - 80, COLUMNS / 2 + 80); /* five standard deviations */
        ones += row[bit];
    }
    assert_in_range(ones, 16 * COLUMNS - 500, 16 * COLUMNS + 500);
    for (int l = 0; l < H3_LANES; l++)
        assert_int_equal(rank(column + 32 * l), 32);
}

/* Values as programs make them do not collide, but for as many as chance allows. */
static void test_h3_spread(void **state) {
    (void)state;
    enum { BUCKETS = 256, VALUES = 64 * BUCKETS };
    const struct h3 *h = h3_create(&arena, 32);
    static uint32_t seen[VALUES];
    uint32_t filled[BUCKETS] = {0}, equal = 0;
    for (uint32_t n = 0; n < VALUES; n++) { /* base + lane * stride */
        struct value v;
        for (uint32_t i = 0; i < H3_LANES; i++)
            v.lane[i] = n / 64 * 4 + i * (n % 64);
        seen[n] = h3_hash(h, v.lane);
        filled[seen[n] % BUCKETS]++;
    }
    for (uint32_t i = 0; i < VALUES; i++)
        for (uint32_t j = 0; j < i; j++)
            equal += seen[i] == seen[j];
    assert_in_range(equal, 0, 2); /* 2^27 pairs of 2^32 */
    for (uint32_t i = 0; i < BUCKETS; i++)
        assert_in_range(filled[i], 24, 104); /* five standard deviations */
}

/* Fewer bits: the low ones, and collisions where there were none. */
static void test_h3_weak(void **state) {
    (void)state;
    const struct h3 *h = h3_create(&arena, 32), *weak = h3_create(&arena, 1);
    uint32_t ones = 0;
    for (int t = 0; t < 1000; t++) {
        struct value v = random_value();
        assert_int_equal(h3_hash(weak, v.lane), h3_hash(h, v.lane) & 1);
        ones += h3_hash(weak, v.lane);
    }
    assert_in_range(ones, 420, 580);
}

/* Not a test of speed, which depends on the host: prints it. */
static void test_h3_speed(void **state) {
    (void)state;
    enum { VALUES = 64, ROUNDS = 2000 };
    const struct h3 *h = h3_create(&arena, 32);
    static struct value v[VALUES];
    double best = 1e9;
    uint32_t sum = 0;
    for (int i = 0; i < VALUES; i++)
        v[i] = random_value();
    for (int r = 0; r < ROUNDS; r++) {
        struct timespec a, b;
        clock_gettime(CLOCK_MONOTONIC, &a);
        for (int i = 0; i < VALUES; i++)
            sum ^= h3_hash(h, v[i].lane);
        clock_gettime(CLOCK_MONOTONIC, &b);
        double ns = ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) / VALUES;
        best = ns < best ? ns : best;
    }
    assert_int_equal(sum, 0); /* every value an even number of times */
    printf("h3_hash: %.1f ns\n", best);
}

/* ---- reuse buffer ------------------------------------------------------------------------------------ */

static struct rb_tag add(uint32_t a, uint32_t b) {
    return (struct rb_tag){.op = 7, .word = {a, b}, .regs = 3, .kind = RB_ARITH, .block = RB_NO_BLOCK};
}

static void test_rb_entry(void **state) {
    (void)state;
    struct rb b;
    struct rb_entry old;
    rb_init(&b, &arena, 256);
    struct rb_tag t = add(8, 11);
    uint32_t at = rb_index(&b, &t);
    assert_int_equal(rb_lookup(&b, at, &t), RB_MISS);
    assert_false(rb_evict(&b, at, &old));
    rb_insert(&b, at, &t, 31, &old);
    assert_false(old.valid);
    assert_int_equal(rb_lookup(&b, at, &t), RB_HIT);
    assert_int_equal(b.entry[at].result, 31);
    assert_true(rb_evict(&b, at, &old));
    assert_int_equal(old.result, 31);
    assert_memory_equal(&old.tag, &t, sizeof t);
    assert_int_equal(rb_lookup(&b, at, &t), RB_MISS);
    uint32_t i = 0, reg, sources = 0;
    for (; rb_source(&old.tag, &i, &reg); sources++)
        assert_int_equal(reg, sources ? 11 : 8);
    assert_int_equal(sources, 2);
}

/* Every field tells tags apart. */
static void test_rb_tags(void **state) {
    (void)state;
    struct rb b;
    struct rb_entry old;
    rb_init(&b, &arena, 1); /* all in one place */
    struct rb_tag t = {9, {1, 2, 3, 4}, 0x7, RB_SHARED, 2, 5, 0xffff}, other[11];
    for (int i = 0; i < 11; i++)
        other[i] = t;
    other[0].op++;
    for (int i = 0; i < RB_OPERANDS; i++)
        other[1 + i].word[i] ^= 0x80000000;
    other[5].regs = 0xf; /* register 4 is not the number 4 */
    other[6].kind = RB_GLOBAL;
    other[7].block = 3;
    other[8].count = 6;
    other[9].block = RB_NO_BLOCK;
    other[10].lanes = 0xffffffff;
    rb_insert(&b, 0, &t, 1, &old);
    assert_int_equal(rb_index(&b, &t), 0);
    assert_int_equal(rb_lookup(&b, 0, &t), RB_HIT);
    for (int i = 0; i < 11; i++) {
        assert_int_equal(rb_index(&b, &other[i]), 0);
        assert_int_equal(rb_lookup(&b, 0, &other[i]), RB_MISS);
    }
}

/* A result reaches its reservation, and nobody else's. */
static void test_rb_pending(void **state) {
    (void)state;
    struct rb b;
    struct rb_entry old;
    rb_init(&b, &arena, 1);
    struct rb_tag t = add(1, 2), u = add(3, 4);
    uint64_t first = rb_reserve(&b, 0, &t, &old);
    assert_false(old.valid);
    assert_int_equal(rb_lookup(&b, 0, &t), RB_PENDING);
    assert_int_equal(rb_lookup(&b, 0, &u), RB_MISS);
    uint64_t second = rb_reserve(&b, 0, &u, &old); /* takes the place */
    assert_true(old.valid && old.pending && old.result == RB_NO_RESULT && old.tag.word[0] == 1);
    assert_false(rb_fill(&b, 0, first, 50));
    assert_int_equal(rb_lookup(&b, 0, &u), RB_PENDING);
    uint64_t third = rb_reserve(&b, 0, &t, &old); /* the first tag again, by another instruction */
    assert_false(rb_fill(&b, 0, first, 50));
    assert_false(rb_fill(&b, 0, second, 51));
    assert_int_equal(rb_lookup(&b, 0, &t), RB_PENDING);
    assert_true(rb_fill(&b, 0, third, 52));
    assert_int_equal(rb_lookup(&b, 0, &t), RB_HIT);
    assert_int_equal(b.entry[0].result, 52);
    rb_reserve(&b, 0, &t, &old);
    assert_true(rb_evict(&b, 0, &old));
    assert_false(rb_fill(&b, 0, old.stamp, 53)); /* nor an empty place */
    assert_int_equal(b.used, 0);
}

/* Who waited takes the entry it waited for; arithmetic also an equal one, a load does not. */
static void test_rb_retry(void **state) {
    (void)state;
    struct rb b;
    struct rb_entry old;
    rb_init(&b, &arena, 4);
    static const enum rb_kind kinds[] = {RB_ARITH, RB_CONST, RB_GLOBAL, RB_SHARED};
    for (int k = 0; k < 4; k++) {
        struct rb_tag t = add(1, 2);
        t.kind = kinds[k];
        uint32_t at = rb_index(&b, &t);
        uint64_t stamp = rb_reserve(&b, at, &t, &old);
        assert_int_equal(rb_retry(&b, at, &t, stamp), RB_PENDING);
        assert_true(rb_fill(&b, at, stamp, 9));
        assert_int_equal(rb_retry(&b, at, &t, stamp), RB_HIT);
        rb_evict(&b, at, &old);
        assert_int_equal(rb_retry(&b, at, &t, stamp), RB_MISS);
        uint64_t later = rb_reserve(&b, at, &t, &old);
        assert_int_equal(rb_retry(&b, at, &t, stamp), k < 2 ? RB_PENDING : RB_MISS);
        rb_fill(&b, at, later, 9);
        assert_int_equal(rb_retry(&b, at, &t, stamp), k < 2 ? RB_HIT : RB_MISS);
        rb_evict(&b, at, &old);
    }
}

/* All places of any size are used, about equally by registers as they are numbered. */
static void test_rb_index(void **state) {
    (void)state;
    static const uint32_t sizes[] = {1, 2, 3, 32, 48, 100, 256, 512};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        struct rb b;
        uint32_t hits[512] = {0}, n = sizes[s];
        rb_init(&b, &arena, n);
        for (uint32_t i = 0; i < 64 * n; i++) {
            struct rb_tag t = add(draw(1024), draw(1024));
            t.op = draw(40);
            uint32_t at = rb_index(&b, &t);
            assert_true(at < n);
            hits[at]++;
        }
        for (uint32_t i = 0; i < n; i++)
            assert_in_range(hits[i], 16, 192);
    }
}

/* Every reference that goes in comes out again exactly once, whatever happens in between. */
static void test_rb_references(void **state) {
    (void)state;
    enum { REGS = 64 };
    struct rb b;
    struct rb_entry e;
    uint32_t refs[REGS] = {0}, cursor;
    rb_init(&b, &arena, 32);
#define COUNT(entry, by)                                                                                     \
    do {                                                                                                     \
        uint32_t i_ = 0, reg_;                                                                               \
        while (rb_source(&(entry)->tag, &i_, &reg_))                                                         \
            refs[reg_] += (by);                                                                              \
        if ((entry)->valid && !(entry)->pending)                                                             \
            refs[(entry)->result] += (by);                                                                   \
    } while (0)
    for (int step = 0; step < 20000; step++) {
        struct rb_tag t = add(draw(REGS), draw(REGS));
        t.kind = (uint8_t)draw(4);
        t.block = t.kind == RB_SHARED ? (uint8_t)draw(8) : RB_NO_BLOCK;
        uint32_t at = rb_index(&b, &t);
        switch (draw(8)) {
        case 0 ... 1:
            rb_insert(&b, at, &t, draw(REGS), &e);
            COUNT(&b.entry[at], 1u);
            COUNT(&e, -1u);
            break;
        case 2 ... 4: {
            uint64_t stamp = rb_reserve(&b, at, &t, &e);
            COUNT(&b.entry[at], 1u);
            COUNT(&e, -1u);
            uint32_t result = draw(REGS);
            if (draw(2) && rb_fill(&b, at, stamp, result))
                refs[result]++;
            break;
        }
        case 5:
            if (rb_evict(&b, at, &e))
                COUNT(&e, -1u);
            break;
        case 6:
            if (rb_evict_random(&b, &e))
                COUNT(&e, -1u);
            break;
        default:
            for (cursor = 0; rb_take_block(&b, t.block, &cursor, &e);)
                COUNT(&e, -1u);
        }
        uint32_t have[REGS] = {0}, n = 0;
        const struct rb_entry *p;
        for (cursor = 0; (p = rb_next(&b, &cursor)); n++) {
            uint32_t i = 0, reg;
            while (rb_source(&p->tag, &i, &reg))
                have[reg]++;
            if (!p->pending)
                have[p->result]++;
        }
        assert_int_equal(n, b.used);
        assert_memory_equal(have, refs, sizeof refs);
    }
#undef COUNT
}

/* Loads of one block, and then all loads, go; the rest stays. */
static void test_rb_take(void **state) {
    (void)state;
    struct rb b;
    struct rb_entry e;
    uint32_t cursor, n = 0;
    rb_init(&b, &arena, 64);
    for (uint32_t i = 0; i < 64; i++) {
        struct rb_tag t = add(i, 0);
        t.kind = (uint8_t)(i % 4);
        t.block = t.kind == RB_SHARED ? (uint8_t)(i / 4 % 8) : RB_NO_BLOCK;
        rb_insert(&b, i, &t, i, &e);
    }
    for (cursor = 0; rb_take_block(&b, 3, &cursor, &e); n++)
        assert_true(e.valid && e.tag.block == 3 && e.tag.kind == RB_SHARED);
    assert_int_equal(n, 2);
    for (cursor = 0, n = 0; rb_take_loads(&b, &cursor, &e); n++)
        assert_true(e.valid && e.tag.kind != RB_ARITH);
    assert_int_equal(n, 46);
    assert_int_equal(b.used, 16);
}

/* Random evictions empty the buffer in as many steps as it has entries, and are the same every time. */
static void test_rb_random(void **state) {
    (void)state;
    uint32_t order[2][32];
    bool rising = true;
    for (int run = 0; run < 2; run++) {
        struct rb b;
        struct rb_entry e;
        rb_init(&b, &arena, 32);
        for (uint32_t i = 0; i < 32; i++)
            rb_insert(&b, i, &(struct rb_tag){.op = i}, i, &e);
        for (uint32_t i = 0; i < 32; i++) {
            assert_true(rb_evict_random(&b, &e));
            order[run][i] = e.tag.op;
            rising &= !i || order[run][i] > order[run][i - 1];
        }
        assert_false(rb_evict_random(&b, &e));
    }
    assert_memory_equal(order[0], order[1], sizeof order[0]);
    assert_false(rising);
}

/* ---- value signature buffer -------------------------------------------------------------------------- */

static void test_vsb(void **state) {
    (void)state;
    static const uint32_t sizes[] = {1, 2, 96, 256};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        struct vsb b;
        struct vsb_entry old;
        uint32_t n = sizes[s], cursor = 0;
        vsb_init(&b, &arena, n);
        assert_false(vsb_evict(&b, 5, &old));
        assert_true(vsb_insert(&b, 5, 40, &old));
        assert_false(old.valid);
        assert_int_equal(vsb_lookup(&b, 5), 40);
        assert_int_equal(vsb_lookup(&b, 5 + n), VSB_MISS); /* same place, another hash */
        assert_true(vsb_insert(&b, 5 + n, 41, &old));
        assert_true(old.valid && old.hash == 5 && old.reg == 40);
        assert_int_equal(vsb_lookup(&b, 5), VSB_MISS);
        assert_int_equal(vsb_lookup(&b, 5 + n), 41);
        assert_int_equal(vsb_next(&b, &cursor)->reg, 41);
        assert_null(vsb_next(&b, &cursor));
        assert_true(vsb_insert(&b, 5 + n, 42, &old)); /* a collision replaces the register */
        assert_int_equal(old.reg, 41);
        assert_true(vsb_evict(&b, 5, &old)); /* whatever is at the place of a hash */
        assert_int_equal(old.reg, 42);
        assert_int_equal(vsb_lookup(&b, 5 + n), VSB_MISS);
        for (uint32_t i = 0; i < n; i++)
            assert_true(vsb_insert(&b, i, i, &old));
        assert_int_equal(b.used, n);
        uint32_t sum = 0;
        while (vsb_evict_random(&b, &old))
            sum += old.reg;
        assert_int_equal(sum, n * (n - 1) / 2);
        assert_int_equal(b.used, 0);
    }
}

static void test_vsb_none(void **state) {
    (void)state;
    struct vsb b;
    struct vsb_entry old;
    uint32_t cursor = 0;
    vsb_init(&b, &arena, 0);
    assert_false(vsb_insert(&b, 5, 40, &old));
    assert_false(old.valid);
    assert_int_equal(vsb_lookup(&b, 5), VSB_MISS);
    assert_false(vsb_evict(&b, 5, &old));
    assert_false(vsb_evict_random(&b, &old));
    assert_null(vsb_next(&b, &cursor));
}

/* ---- verify cache ------------------------------------------------------------------------------------ */

static void fill(struct vc *c, uint32_t reg, uint32_t x) {
    uint32_t v[VC_LANES];
    for (int i = 0; i < VC_LANES; i++)
        v[i] = x + (uint32_t)i;
    vc_fill(c, reg, v);
}

static void expect_line(struct vc *c, uint32_t reg, uint32_t x) {
    const uint32_t *v = vc_lookup(c, reg);
    assert_non_null(v);
    for (int i = 0; i < VC_LANES; i++)
        assert_int_equal(v[i], x + (uint32_t)i);
}

static void test_vc(void **state) {
    (void)state;
    struct vc c;
    vc_init(&c, &arena, 3, 8);
    assert_null(vc_lookup(&c, 0)); /* an empty line is not register 0's */
    for (uint32_t r = 0; r < 3; r++)
        fill(&c, r, 100 * r);
    expect_line(&c, 0, 0); /* now 1 is the oldest */
    fill(&c, 7, 700);
    assert_null(vc_lookup(&c, 1));
    expect_line(&c, 0, 0);
    expect_line(&c, 2, 200);
    expect_line(&c, 7, 700);
    fill(&c, 2, 201); /* a line is filled anew, not twice */
    expect_line(&c, 2, 201);
    expect_line(&c, 0, 0);
    expect_line(&c, 7, 700);
}

/* Lines are copies: what changes behind them is seen only after an invalidation. */
static void test_vc_invalidate(void **state) {
    (void)state;
    struct vc c;
    uint32_t bank[VC_LANES] = {1, 2, 3};
    vc_init(&c, &arena, 2, 9);
    vc_fill(&c, 5, bank);
    bank[1] = 99;
    assert_int_equal(vc_lookup(&c, 5)[1], 2);
    assert_true(vc_invalidate(&c, 5));
    assert_null(vc_lookup(&c, 5));
    assert_false(vc_invalidate(&c, 5));
    vc_fill(&c, 5, bank);
    assert_int_equal(vc_lookup(&c, 5)[1], 99);
    vc_fill(&c, 6, bank);
    vc_invalidate(&c, 5);
    fill(&c, 8, 0); /* takes the free line */
    assert_non_null(vc_lookup(&c, 6));
    vc_init(&c, &arena, 0, 6);
    fill(&c, 5, 0);
    assert_null(vc_lookup(&c, 5));
    assert_false(vc_invalidate(&c, 5));
}

/* ---- pending queue ----------------------------------------------------------------------------------- */

static void test_pendq(void **state) {
    (void)state;
    static const uint32_t sizes[] = {1, 5, 16};
    for (size_t s = 0; s < 3; s++) {
        struct pendq q;
        uint32_t n = sizes[s];
        pendq_init(&q, &arena, n);
        assert_true(pendq_empty(&q));
        for (uint32_t i = 0; i < n; i++) {
            assert_false(pendq_full(&q));
            pendq_push(&q, 10 + i);
        }
        assert_true(pendq_full(&q));
        for (uint32_t round = 0; round < 3 * n; round++) { /* all come round in order */
            assert_int_equal(pendq_head(&q), 10 + round % n);
            pendq_requeue(&q);
            assert_true(pendq_full(&q));
        }
        for (uint32_t i = 0; i < n; i++)
            assert_int_equal(pendq_pop(&q), 10 + i);
        assert_true(pendq_empty(&q));
    }
    struct pendq none;
    pendq_init(&none, &arena, 0);
    assert_true(pendq_empty(&none) && pendq_full(&none));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_h3_linear),     cmocka_unit_test(test_h3_matrix),
        cmocka_unit_test(test_h3_spread),     cmocka_unit_test(test_h3_weak),
        cmocka_unit_test(test_h3_speed),      cmocka_unit_test(test_rb_entry),
        cmocka_unit_test(test_rb_tags),       cmocka_unit_test(test_rb_pending),
        cmocka_unit_test(test_rb_retry),      cmocka_unit_test(test_rb_index),
        cmocka_unit_test(test_rb_take),       cmocka_unit_test(test_rb_references),
        cmocka_unit_test(test_rb_random),     cmocka_unit_test(test_vsb),
        cmocka_unit_test(test_vsb_none),      cmocka_unit_test(test_vc),
        cmocka_unit_test(test_vc_invalidate), cmocka_unit_test(test_pendq),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}
