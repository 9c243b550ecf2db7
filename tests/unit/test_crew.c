/* Threads that share the pieces of jobs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_piece_is_done_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
