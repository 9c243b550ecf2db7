/* Physical registers: free list, references, the delay before a register is free again, what the check finds.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/regfile.h"

enum { N = 70, WARPS = 3, REGS = 5, DELAY = 2 };

static struct arena arena;

static int release(void **state) {
    (void)state;
    arena_free(&arena);
    return 0;
}

static struct regfile *create(uint32_t delay) {
    struct regfile *f = arena_new(&arena, struct regfile);
    regfile_init(f, &arena, N, WARPS, REGS, delay);
    return f;
}

/* All are given out once, in order; then there is none. */
static void test_alloc(void **state) {
    (void)state;
    struct regfile *f = create(DELAY);
    assert_null(regfile_check(f, 0));
    for (uint32_t k = 0; k < N; k++) {
        assert_int_equal(regfile_alloc(f), k);
        assert_int_equal(f->refs[k], 1);
        assert_null(regfile_check(f, k + 1));
    }
    assert_int_equal(f->nfree, 0);
    assert_int_equal(regfile_alloc(f), REG_NONE);
}

/* A register is free again so many cycles after its last reference has gone, and not one earlier. */
static void test_delay(void **state) {
    (void)state;
    for (uint32_t delay = 0; delay < 4; delay++) {
        struct regfile *f = create(delay);
        while (regfile_alloc(f) != REG_NONE)
            continue;
        regfile_ref(f, 9);
        regfile_unref(f, 9, 100);
        regfile_tick(f, 1000);
        assert_int_equal(f->nfree, 0);
        regfile_unref(f, 9, 1000);
        assert_null(regfile_check(f, N - 1));
        if (delay) {
            regfile_tick(f, 1000 + delay - 1);
            assert_int_equal(regfile_alloc(f), REG_NONE);
        }
        regfile_tick(f, 1000 + delay);
        assert_int_equal(f->nfree, 1);
        assert_null(regfile_check(f, N - 1));
        assert_int_equal(regfile_alloc(f), 9);
    }
}

/* Those that come later go behind: first in, first out, round and round. */
static void test_order(void **state) {
    (void)state;
    struct regfile *f = create(DELAY);
    for (uint64_t now = 0; now < 5 * N; now++) {
        uint16_t id = regfile_alloc(f);
        assert_int_equal(id, now % N);
        regfile_unref(f, id, now);
        regfile_tick(f, now);
        assert_null(regfile_check(f, 0));
    }
}

/* What sleepers did not see: registers that would have been freed, in each cycle. */
static void test_idle(void **state) {
    (void)state;
    struct regfile *f = create(3);
    for (uint32_t k = 0; k < 3; k++)
        assert_int_equal(regfile_alloc(f), k);
    regfile_unref(f, 0, 10); /* free in 13 */
    regfile_unref(f, 1, 12); /* 15 */
    regfile_unref(f, 2, 12);
    assert_int_equal(regfile_idle(f, 11, 12), 0);
    assert_int_equal(regfile_idle(f, 11, 13), 1);
    assert_int_equal(regfile_idle(f, 11, 14), 2);
    assert_int_equal(regfile_idle(f, 11, 15), 5);
    assert_int_equal(regfile_idle(f, 15, 15), 3);
    assert_int_equal(regfile_idle(f, 16, 19), 12);
}

/* References are counted, and the most that one register had. */
static void test_refs(void **state) {
    (void)state;
    struct regfile *f = create(0);
    uint16_t a = regfile_alloc(f), b = regfile_alloc(f);
    for (uint32_t k = 0; k < 5000; k++)
        regfile_ref(f, b);
    assert_null(regfile_check(f, 5002));
    assert_non_null(regfile_check(f, 5001)); /* the owner has lost one */
    assert_non_null(regfile_check(f, 5003)); /* or counts one twice */
    for (uint32_t k = 0; k < 5000; k++)
        regfile_unref(f, b, k);
    assert_int_equal(f->most_refs, 5001);
    assert_int_equal(f->refs[a], 1);
    assert_int_equal(f->refs[b], 1);
    assert_null(regfile_check(f, 2));
}

/* A register that is neither free nor referenced is missed, and so is one that is both. */
static void test_lost(void **state) {
    (void)state;
    struct regfile *f = create(DELAY);
    uint16_t a = regfile_alloc(f);
    f->refs[a] = 0;
    assert_non_null(regfile_check(f, 0));
    f->refs[a] = 1;
    assert_null(regfile_check(f, 1));
    f->refs[N - 1] = 1;
    assert_non_null(regfile_check(f, 2));
}

/* A reference that is dropped twice ends the program rather than giving a register to two. */
static void test_double_free(void **state) {
    (void)state;
    struct regfile *f = create(DELAY);
    uint16_t a = regfile_alloc(f);
    regfile_unref(f, a, 0);
    pid_t child = fork();
    if (!child) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        signal(SIGABRT, SIG_DFL);
        if (!freopen("/dev/null", "w", stderr))
            _exit(1);
        regfile_unref(f, a, 1);
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

/* Reset makes everything free and unmapped, whatever was under way. */
static void test_reset(void **state) {
    (void)state;
    struct regfile *f = create(DELAY);
    for (uint32_t k = 0; k < 40; k++) {
        uint16_t id = regfile_alloc(f);
        regfile_write(f, id);
        *regfile_map(f, k % WARPS, k % REGS) = (struct reg_map){.id = id, .pinned = true};
        if (k % 3 == 0)
            regfile_unref(f, id, k);
        regfile_tick(f, k);
    }
    assert_true(regfile_unwritten(f, 39) && !regfile_unwritten(f, 40));
    regfile_reset(f, WARPS);
    assert_null(regfile_check(f, 0));
    assert_int_equal(f->nfree, N);
    for (uint32_t w = 0; w < WARPS; w++)
        for (uint32_t r = 0; r < REGS; r++)
            assert_int_equal(regfile_map(f, w, r)->id, REG_NONE);
    for (uint16_t k = 0; k < N; k++) {
        assert_false(regfile_unwritten(f, k));
        assert_int_equal(regfile_alloc(f), k);
    }
}

/* A latch is filled when it is said to hold something else: the value of another register, or another value.
 */
static void test_latches(void **state) {
    (void)state;
    struct regfile *f = create(DELAY);
    uint16_t a = regfile_alloc(f), b = regfile_alloc(f);
    uint32_t latch[WARP_LANES];
    for (uint32_t k = 0; k < WARP_LANES; k++) {
        f->v[a][k] = 100 + k;
        f->v[b][k] = 200 + k;
        latch[k] = 7;
    }
    regfile_read(f, regfile_map(f, 1, 2), latch); /* never written */
    assert_int_equal(latch[31], 0);
    *regfile_map(f, 1, 2) = (struct reg_map){.id = a};
    regfile_read(f, regfile_map(f, 1, 2), latch);
    assert_int_equal(latch[31], 131);
    f->v[a][31] = 5;
    regfile_map(f, 1, 2)->latched = false;
    regfile_read(f, regfile_map(f, 1, 2), latch);
    assert_int_equal(latch[31], 5);
    *regfile_map(f, 1, 2) = (struct reg_map){.id = b};
    regfile_read(f, regfile_map(f, 1, 2), latch);
    assert_int_equal(latch[0], 200);
    latch[0] = 1; /* what a latch is said to have is not read again */
    regfile_read(f, regfile_map(f, 1, 2), latch);
    assert_int_equal(latch[0], 1);
    regfile_map(f, 1, 2)->latched = false; /* somebody computed into it */
    regfile_read(f, regfile_map(f, 1, 2), latch);
    assert_int_equal(latch[0], 200);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alloc), cmocka_unit_test(test_delay),       cmocka_unit_test(test_order),
        cmocka_unit_test(test_idle),  cmocka_unit_test(test_refs),        cmocka_unit_test(test_lost),
        cmocka_unit_test(test_reset), cmocka_unit_test(test_double_free), cmocka_unit_test(test_latches),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}
