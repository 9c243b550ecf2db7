/* The rules for reusing loads: scenarios, and random programs against what the order of the program demands.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "mech/wir/blocks.h"
#include "mech/wir/rb.h"

static struct arena arena;

static int release(void **state) {
    (void)state;
    arena_free(&arena);
    return 0;
}

enum { WARPS = 6, BLOCKS = 3, WORDS = 3, FLAGS = 2, PER_BLOCK = WARPS / BLOCKS };

/* An SM with a memory of few words. A store's value is its number, so values say how old they are. */
struct sm {
    struct blocks b;
    struct rb rb;
    uint32_t stores;
    uint32_t global[WORDS], shared[BLOCKS][WORDS];
    uint32_t reused, crossed; /* loads that took a result; of another block */
    uint32_t maker[64];       /* block that made the entry at each place */
    /* What the program's order demands: the last store to each word that each warp must see. */
    struct seen {
        uint32_t global[WORDS], shared[WORDS];
    } must[WARPS], flag[FLAGS], launch;
    uint32_t wrong; /* loads that gave something older */
};

static void start_block(struct sm *s, uint32_t block) {
    blocks_start(&s->b, block);
    for (uint32_t w = block * PER_BLOCK; w < (block + 1) * PER_BLOCK; w++) {
        blocks_start_warp(&s->b, w, block);
        s->must[w] = s->launch;
    }
    /* Shared memory starts as it pleases; a first value that no block has written makes old ones show. */
    for (uint32_t i = 0; i < WORDS; i++) {
        s->shared[block][i] = ++s->stores;
        for (uint32_t w = block * PER_BLOCK; w < (block + 1) * PER_BLOCK; w++)
            s->must[w].shared[i] = s->stores;
    }
}

static void open_sm(struct sm *s, enum blocks_rule rule, uint32_t max_count) {
    struct blocks_spec spec = {WARPS, BLOCKS, max_count, rule};
    memset(s, 0, sizeof *s);
    blocks_init(&s->b, &arena, &spec);
    rb_init(&s->rb, &arena, 64);
    for (uint32_t i = 0; i < BLOCKS; i++)
        start_block(s, i);
}

static uint32_t block_of(uint32_t warp) {
    return warp / PER_BLOCK;
}

static void join(struct seen *to, const struct seen *from) {
    for (uint32_t i = 0; i < WORDS; i++) {
        to->global[i] = from->global[i] > to->global[i] ? from->global[i] : to->global[i];
        to->shared[i] = from->shared[i] > to->shared[i] ? from->shared[i] : to->shared[i];
    }
}

/* Only global memory is known from block to block. */
static void join_global(struct seen *to, const struct seen *from) {
    struct seen f = *from;
    memset(f.shared, 0, sizeof f.shared);
    join(to, &f);
}

static uint32_t *word_at(struct sm *s, uint32_t warp, unsigned space, uint32_t word) {
    return space == BLOCKS_GLOBAL ? &s->global[word] : &s->shared[block_of(warp)][word];
}

static uint32_t *must_see(struct sm *s, uint32_t warp, unsigned space, uint32_t word) {
    return space == BLOCKS_GLOBAL ? &s->must[warp].global[word] : &s->must[warp].shared[word];
}

static void store(struct sm *s, uint32_t warp, unsigned space, uint32_t word) {
    blocks_store(&s->b, warp, space);
    *word_at(s, warp, space, word) = *must_see(s, warp, space, word) = ++s->stores;
}

static uint32_t load(struct sm *s, uint32_t warp, unsigned space, uint32_t word) {
    struct blocks_scope scope;
    uint32_t value = *word_at(s, warp, space, word);
    if (blocks_scope(&s->b, warp, space, &scope)) {
        struct rb_tag t = {.op = 1,
                           .word = {word},
                           .kind = space == BLOCKS_GLOBAL ? RB_GLOBAL : RB_SHARED,
                           .block = scope.block,
                           .count = scope.count};
        uint32_t at = rb_index(&s->rb, &t);
        struct rb_entry old;
        if (rb_lookup(&s->rb, at, &t) == RB_HIT) {
            value = s->rb.entry[at].result;
            s->reused++;
            s->crossed += s->maker[at] != block_of(warp);
        } else {
            rb_insert(&s->rb, at, &t, value, &old);
            s->maker[at] = block_of(warp);
        }
    }
    s->wrong += value < *must_see(s, warp, space, word);
    return value;
}

static void barrier(struct sm *s, uint32_t block) {
    uint32_t first = block * PER_BLOCK;
    blocks_barrier(&s->b, block);
    for (uint32_t w = first; w < first + PER_BLOCK; w++) {
        blocks_pass(&s->b, w);
        join(&s->must[first], &s->must[w]);
    }
    for (uint32_t w = first; w < first + PER_BLOCK; w++)
        s->must[w] = s->must[first];
}

/* A warp publishes what it has done, by a volatile store to a flag, or learns what others have. */
static void publish(struct sm *s, uint32_t warp, uint32_t flag) {
    blocks_store(&s->b, warp, BLOCKS_GLOBAL);
    join_global(&s->flag[flag], &s->must[warp]);
}

static void learn(struct sm *s, uint32_t warp, uint32_t flag) {
    blocks_sync_load(&s->b, warp);
    join_global(&s->must[warp], &s->flag[flag]);
}

static void atomic(struct sm *s, uint32_t warp, uint32_t flag) {
    blocks_atomic(&s->b, warp, BLOCKS_GLOBAL);
    join_global(&s->flag[flag], &s->must[warp]);
    join_global(&s->must[warp], &s->flag[flag]);
}

static void end_block(struct sm *s, uint32_t block) {
    struct rb_entry e;
    for (uint32_t at = 0; rb_take_block(&s->rb, block, &at, &e);)
        ;
    start_block(s, block);
}

static void end_kernel(struct sm *s) {
    struct rb_entry e;
    for (uint32_t at = 0; rb_take_loads(&s->rb, &at, &e);)
        ;
    for (uint32_t i = 0; i < WORDS; i++)
        s->launch.global[i] = s->global[i];
    for (uint32_t i = 0; i < BLOCKS; i++)
        end_block(s, i);
}

/* ---- scenarios --------------------------------------------------------------------------------------- */

static const enum blocks_rule rules[] = {BLOCKS_SAFE, BLOCKS_PAPER};

/* What the paper promises, under both rules. */
static void test_paper_cases(void **state) {
    (void)state;
    for (int r = 0; r < 2; r++) {
        struct sm s;
        open_sm(&s, rules[r], 31);
        load(&s, 0, BLOCKS_GLOBAL, 0);
        load(&s, 1, BLOCKS_GLOBAL, 0); /* its neighbour's */
        load(&s, 4, BLOCKS_GLOBAL, 0); /* another block's */
        assert_int_equal(s.reused, 2);
        assert_int_equal(s.crossed, 1);
        store(&s, 0, BLOCKS_GLOBAL, 0);
        load(&s, 0, BLOCKS_GLOBAL, 0); /* after its own store: no */
        assert_int_equal(s.reused, 2);
        load(&s, 4, BLOCKS_GLOBAL, 0); /* another block still may */
        assert_int_equal(s.reused, 3);
        load(&s, 0, BLOCKS_SHARED, 0);
        load(&s, 1, BLOCKS_SHARED, 0);
        assert_int_equal(s.reused, 4); /* the flag of global memory is not that of shared memory */
        load(&s, 2, BLOCKS_SHARED, 0); /* another block's shared memory is another memory */
        assert_int_equal(s.reused, 4);
        store(&s, 1, BLOCKS_SHARED, 0);
        load(&s, 0, BLOCKS_SHARED, 0); /* nothing says that it has seen it */
        assert_int_equal(s.reused, 5);
        barrier(&s, 0);
        load(&s, 0, BLOCKS_SHARED, 0); /* now something does */
        assert_int_equal(s.reused, 5);
        load(&s, 1, BLOCKS_SHARED, 0); /* the flag is clear again */
        assert_int_equal(s.reused, 6);
        assert_int_equal(s.wrong, 0);
    }
}

/* Block 1 passes a barrier and reads; block 0 stores, passes its first barrier too, and must read its own
 * store. */
static void test_equal_counts(void **state) {
    (void)state;
    for (int r = 0; r < 2; r++)
        for (uint32_t reader = 0; reader < 2; reader++) {
            struct sm s;
            open_sm(&s, rules[r], 31);
            barrier(&s, 1);
            load(&s, 2, BLOCKS_GLOBAL, 0);
            store(&s, 0, BLOCKS_GLOBAL, 0);
            barrier(&s, 0);
            load(&s, reader, BLOCKS_GLOBAL, 0); /* who stored, or its neighbour */
            assert_int_equal(s.wrong, rules[r] == BLOCKS_PAPER);
            load(&s, 1 - reader, BLOCKS_GLOBAL, 0); /* within the block it may be shared */
            assert_int_equal(s.reused, rules[r] == BLOCKS_PAPER ? 2 : 1);
        }
}

/* The same with a fence instead of the barrier. */
static void test_own_store_and_fence(void **state) {
    (void)state;
    for (int r = 0; r < 2; r++) {
        struct sm s;
        open_sm(&s, rules[r], 31);
        blocks_fence(&s.b, 2);
        load(&s, 2, BLOCKS_GLOBAL, 0);
        store(&s, 0, BLOCKS_GLOBAL, 0);
        blocks_fence(&s.b, 0);
        load(&s, 0, BLOCKS_GLOBAL, 0);
        assert_int_equal(s.wrong, rules[r] == BLOCKS_PAPER);
    }
}

/* A block that never stores hears of another block's store. */
static void test_message(void **state) {
    (void)state;
    for (int r = 0; r < 2; r++)
        for (int fenced = 0; fenced < 2; fenced++) {
            struct sm s;
            open_sm(&s, rules[r], 31);
            barrier(&s, 1);
            load(&s, 2, BLOCKS_GLOBAL, 0); /* block 1, one barrier: the old value */
            load(&s, 0, BLOCKS_GLOBAL, 0); /* block 0, none: the old value */
            store(&s, 4, BLOCKS_GLOBAL, 0);
            blocks_fence(&s.b, 4);
            publish(&s, 4, 0);
            learn(&s, 0, 0);
            if (fenced)
                blocks_fence(&s.b, 0);
            load(&s, 0, BLOCKS_GLOBAL, 0); /* unfenced it counts 0, as before; fenced 1, as block 1 */
            assert_int_equal(s.wrong, rules[r] == BLOCKS_PAPER);
            barrier(&s, 0);
            load(&s, 1, BLOCKS_GLOBAL, 0); /* told by its neighbour */
            assert_int_equal(s.wrong, rules[r] == BLOCKS_PAPER ? 1 + !fenced : 0);
        }
}

/* A fence makes sense only after some news, however it was read; the next block of the slot has none. */
static void test_fence_exposes(void **state) {
    (void)state;
    struct sm s;
    struct blocks_scope scope;
    open_sm(&s, BLOCKS_SAFE, 31);
    barrier(&s, 1);
    load(&s, 2, BLOCKS_GLOBAL, 0);
    store(&s, 4, BLOCKS_GLOBAL, 0);
    blocks_fence(&s.b, 4);
    store(&s, 4, BLOCKS_GLOBAL, 1);
    assert_int_equal(load(&s, 0, BLOCKS_GLOBAL, 1), s.stores); /* a flag, read by a plain load */
    blocks_fence(&s.b, 0);
    assert_int_equal(load(&s, 0, BLOCKS_GLOBAL, 0), s.stores - 1);
    end_block(&s, 0);
    assert_true(blocks_scope(&s.b, 0, BLOCKS_GLOBAL, &scope));
    assert_int_equal(scope.block, RB_NO_BLOCK);
}

/* A lock in shared memory that guards a word of global memory, and the other way round. */
static void test_lock(void **state) {
    (void)state;
    struct sm s;
    struct blocks_scope scope;
    open_sm(&s, BLOCKS_SAFE, 31);
    assert_true(blocks_scope(&s.b, 0, BLOCKS_GLOBAL, &scope));
    blocks_atomic(&s.b, 0, BLOCKS_SHARED);
    assert_false(blocks_scope(&s.b, 0, BLOCKS_GLOBAL, &scope));
    blocks_atomic(&s.b, 1, BLOCKS_GLOBAL);
    assert_false(blocks_scope(&s.b, 1, BLOCKS_SHARED, &scope));
    barrier(&s, 0);
    assert_true(blocks_scope(&s.b, 0, BLOCKS_GLOBAL, &scope));
    assert_int_equal(scope.block, 0);
    open_sm(&s, BLOCKS_PAPER, 31);
    blocks_atomic(&s.b, 0, BLOCKS_SHARED);
    assert_true(blocks_scope(&s.b, 0, BLOCKS_GLOBAL, &scope));
    assert_false(blocks_scope(&s.b, 0, BLOCKS_SHARED, &scope));
    assert_false(blocks_scope(&s.b, 0, BLOCKS_SHARED | BLOCKS_GLOBAL, &scope));
}

/* The count stops at its maximum, where it no longer tells before from after; the block's loads are out. */
static void test_saturation(void **state) {
    (void)state;
    for (int r = 0; r < 2; r++) {
        struct sm s;
        struct blocks_scope scope;
        open_sm(&s, rules[r], 31);
        for (uint32_t i = 0; i < 40; i++) {
            assert_int_equal(blocks_scope(&s.b, 0, BLOCKS_SHARED, &scope), i < 31);
            assert_int_equal(scope.count, i < 31 ? i : 31);
            load(&s, 0, BLOCKS_SHARED, 0);
            store(&s, 1, BLOCKS_SHARED, 0);
            barrier(&s, 0);
            load(&s, 0, BLOCKS_SHARED, 0);
        }
        assert_int_equal(s.wrong, 0);
        end_block(&s, 0);
        assert_true(blocks_scope(&s.b, 0, BLOCKS_SHARED, &scope));
        assert_int_equal(scope.count, 0);
    }
}

/* The next block of a slot, and the next kernel, start afresh. */
static void test_slot(void **state) {
    (void)state;
    for (int r = 0; r < 2; r++) {
        struct sm s;
        open_sm(&s, rules[r], 31);
        store(&s, 0, BLOCKS_SHARED, 0);
        barrier(&s, 0);
        load(&s, 0, BLOCKS_SHARED, 0);
        load(&s, 2, BLOCKS_GLOBAL, 1);
        end_block(&s, 0);
        barrier(&s, 0);
        load(&s, 0, BLOCKS_SHARED, 0);
        assert_int_equal(s.reused, 0);
        store(&s, 4, BLOCKS_GLOBAL, 1);
        end_kernel(&s);
        load(&s, 0, BLOCKS_GLOBAL, 1);
        assert_int_equal(s.reused, 0);
        assert_int_equal(s.wrong, 0);
    }
}

/* ---- random programs --------------------------------------------------------------------------------- */

static uint64_t rng;

static uint32_t draw(uint32_t below) {
    rng = rng * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((rng >> 32) * below >> 32);
}

/* Runs one random program; how often each thing happens is itself random. */
static void run_random(struct sm *s, uint64_t seed) {
    enum { LOAD, STORE, BARRIER, FENCE, PUBLISH, LEARN, ATOMIC, END_BLOCK, END_KERNEL, ACTS };
    uint32_t weight[ACTS] = {[LOAD] = 60, [END_BLOCK] = 1, [END_KERNEL] = 1}, sum = 62;
    rng = seed;
    for (int i = STORE; i <= ATOMIC; i++)
        sum += weight[i] = draw(2) ? draw(16) : 0;
    for (int step = 0; step < 300; step++) {
        uint32_t warp = draw(WARPS), word = draw(WORDS), flag = draw(FLAGS), at = draw(sum), act = 0;
        unsigned space = draw(3) ? BLOCKS_GLOBAL : BLOCKS_SHARED;
        for (; at >= weight[act]; act++)
            at -= weight[act];
        switch (act) {
        case LOAD:
            load(s, warp, space, word);
            break;
        case STORE:
            store(s, warp, space, word);
            break;
        case BARRIER:
            barrier(s, block_of(warp));
            break;
        case FENCE:
            blocks_fence(&s->b, warp);
            break;
        case PUBLISH:
            publish(s, warp, flag);
            break;
        case LEARN:
            learn(s, warp, flag);
            break;
        case ATOMIC:
            atomic(s, warp, flag);
            break;
        case END_BLOCK:
            end_block(s, block_of(warp));
            break;
        default:
            end_kernel(s);
        }
    }
}

/* The safe rule never gives a value that is too old, and still reuses much; the paper's does both. */
static void test_random(void **state) {
    (void)state;
    uint32_t wrong[2] = {0}, reused[2] = {0}, crossed[2] = {0};
    for (uint64_t seed = 1; seed <= 3000; seed++)
        for (int r = 0; r < 2; r++) {
            struct sm s;
            open_sm(&s, rules[r], seed % 2 ? 31 : 3);
            run_random(&s, seed);
            wrong[r] += s.wrong;
            reused[r] += s.reused;
            crossed[r] += s.crossed;
            arena_free(&arena);
        }
    assert_int_equal(wrong[BLOCKS_SAFE], 0);
    assert_true(wrong[BLOCKS_PAPER] > 100);
    assert_true(crossed[BLOCKS_SAFE] > 1000);
    assert_true(reused[BLOCKS_SAFE] > reused[BLOCKS_PAPER] / 4);
    assert_true(reused[BLOCKS_SAFE] < reused[BLOCKS_PAPER]);
}

/* Whatever the safe rule lets look, the paper's does too, at the same count. */
static void test_subset(void **state) {
    (void)state;
    struct blocks b[2];
    for (int r = 0; r < 2; r++) {
        struct blocks_spec spec = {WARPS, BLOCKS, 31, rules[r]};
        blocks_init(&b[r], &arena, &spec);
        for (uint32_t w = 0; w < WARPS; w++)
            blocks_start_warp(&b[r], w, block_of(w));
    }
    rng = 5;
    for (int step = 0; step < 20000; step++) {
        uint32_t warp = draw(WARPS), block = block_of(warp), act = draw(8);
        unsigned spaces = 1 + draw(3);
        struct blocks_scope scope[2];
        for (int r = 0; r < 2; r++) {
            if (act == 0)
                blocks_store(&b[r], warp, spaces);
            else if (act == 1)
                blocks_atomic(&b[r], warp, spaces);
            else if (act == 2)
                blocks_sync_load(&b[r], warp);
            else if (act == 3)
                blocks_fence(&b[r], warp);
            else if (act == 4 && step % 40 == 0)
                blocks_start(&b[r], block);
            else if (act == 5)
                blocks_pass(&b[r], warp);
        }
        bool safe = blocks_scope(&b[0], warp, spaces, &scope[0]);
        bool paper = blocks_scope(&b[1], warp, spaces, &scope[1]);
        assert_true(!safe || paper);
        assert_int_equal(scope[0].count, scope[1].count);
        assert_true(scope[1].block == (spaces & BLOCKS_SHARED ? block : RB_NO_BLOCK));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paper_cases),
        cmocka_unit_test(test_equal_counts),
        cmocka_unit_test(test_own_store_and_fence),
        cmocka_unit_test(test_message),
        cmocka_unit_test(test_fence_exposes),
        cmocka_unit_test(test_lock),
        cmocka_unit_test(test_saturation),
        cmocka_unit_test(test_slot),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_subset),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}
