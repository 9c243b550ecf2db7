/* Threads that share the pieces of jobs. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "gpu/crew.h"

enum { PIECES = 23, JOBS = 4000 };

static void do_piece(void *ctx, uint32_t i) {
    ((uint32_t *)ctx)[i]++;
}

static void every_piece_is_done_once(void **state) {
    (void)state;
    for (uint32_t threads = 0; threads < 4; threads++) {
        uint32_t done[PIECES] = {0}, want[PIECES] = {0};
        struct crew *c = crew_create(threads, PIECES);
        assert_true(crew_is_here(c));
        for (uint32_t k = 0; k < JOBS; k++) {
            crew_work(c, NULL, k % (PIECES + 1), do_piece, done);
            for (uint32_t i = 0; i < k % (PIECES + 1); i++)
                want[i]++;
        }
        for (uint32_t k = 0; k < JOBS; k++) {
            uint32_t numbers[PIECES], n = 0;
            for (uint32_t i = 0; i < PIECES; i++)
                if (k >> i % 11 & 1) {
                    numbers[n++] = i;
                    want[i]++;
                }
            crew_work(c, numbers, n, do_piece, done);
        }
        assert_memory_equal(done, want, sizeof done);
        crew_free(c);
    }
}

/* Who did pieces, and how long others than the caller take for one. */
struct late {
    pthread_t caller;
    atomic_uint others;
    unsigned others_us;
};

static void come_late(void *ctx, uint32_t i) {
    struct late *l = ctx;
    (void)i;
    if (pthread_equal(pthread_self(), l->caller)) {
        usleep(100); /* so that others come to take one */
        return;
    }
    atomic_fetch_add(&l->others, 1);
    usleep(l->others_us);
}

/* Does jobs until others have a part in so many, or have had none in so many; true: they have. */
static bool others_help(struct crew *c, struct late *l, uint32_t most) {
    unsigned before = atomic_load(&l->others);
    for (uint32_t k = 0; k < most; k++) {
        crew_work(c, NULL, 4, come_late, l);
        if (atomic_load(&l->others) != before)
            return true;
    }
    return false;
}

static void who_is_late_too_often_is_done_without(void **state) {
    (void)state;
    struct late l = {.caller = pthread_self(), .others_us = 15000};
    struct crew *c = crew_create(1, 4);
    assert_true(others_help(c, &l, 10000));
    assert_true(others_help(c, &l, 10000));
    assert_false(others_help(c, &l, 60)); /* for at least a tenth of a second */
    l.others_us = 0;
    assert_true(others_help(c, &l, 10000)); /* and again after some time */
    crew_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_piece_is_done_once),
                                       cmocka_unit_test(who_is_late_too_often_is_done_without)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
