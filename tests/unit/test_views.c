/* What threads know of each other's past: joining, what counts as known, and limits of what is kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sanitize/view.h"

static void one_block(void **state) {
    (void)state;
    struct view *v = view_create(7, 10, (struct view_item[]){{3, 1, 15}, {32, 32, 12}, {40, 1, 9}}, 3);
    assert_int_equal(view_of_block(v, 7), 10);
    assert_int_equal(view_of_block(v, 8), 0);
    assert_int_equal(view_of_thread(v, 7, 3), 15);
    assert_int_equal(view_of_thread(v, 7, 4), 10);
    assert_int_equal(view_of_thread(v, 7, 40), 12); /* with its warp; an item behind the base says nothing */
    assert_int_equal(view_of_warp(v, 7, 0), 10);    /* lane 3 alone is not the warp */
    assert_int_equal(view_of_warp(v, 7, 1), 12);
    assert_int_equal(v->nitems, 2);
    view_drop(v);
}

static void joining(void **state) {
    (void)state;
    struct view *a = view_create(1, 5, (struct view_item[]){{0, 1, 8}}, 1),
                *b = view_create(1, 6, (struct view_item[]){{0, 1, 7}, {1, 1, 9}}, 2),
                *c = view_create(4, 2, NULL, 0);
    struct view *ab = view_join(a, b), *abc = view_join(ab, c), *again = view_join(abc, a),
                *none = view_join(NULL, c);
    assert_int_equal(view_of_block(ab, 1), 6);
    assert_int_equal(view_of_thread(ab, 1, 0), 8);
    assert_int_equal(view_of_thread(ab, 1, 1), 9);
    assert_int_equal(abc->nblocks, 2);
    assert_int_equal(abc->least, 2);
    assert_int_equal(view_of_block(abc, 4), 2);
    assert_ptr_equal(again, abc); /* nothing new: the same view */
    assert_ptr_equal(none, c);
    struct view *all[] = {a, b, c, ab, abc, again, none};
    for (uint32_t i = 0; i < sizeof all / sizeof *all; i++)
        view_drop(all[i]);
}

/* Items of all threads of a warp become one when there are many. */
static void warps_are_packed(void **state) {
    (void)state;
    struct view *v = NULL;
    for (uint32_t t = 0; t < 96; t++) {
        struct view *one = view_create(0, 1, &(struct view_item){(uint16_t)t, 1, 100 + t}, 1),
                    *joined = view_join(v, one);
        view_drop(v);
        view_drop(one);
        v = joined;
    }
    assert_true(v->nitems <= 64);
    assert_int_equal(view_of_block(v, 0), 1);
    assert_int_equal(view_of_warp(v, 0, 0), 131);
    assert_int_equal(view_of_thread(v, 0, 95), 195);
    assert_int_equal(view_of_warp(v, 0, 5), 1);
    view_drop(v);
}

/* Of very many threads all over the block the latest time is taken for all: races are missed, none made up.
 */
static void many_items_become_the_block(void **state) {
    (void)state;
    struct view *v = NULL;
    for (uint32_t t = 0; t < 70; t++) {
        struct view *one = view_create(0, 1, &(struct view_item){(uint16_t)(t * 13), 1, 50 + t}, 1),
                    *joined = view_join(v, one);
        view_drop(v);
        view_drop(one);
        v = joined;
    }
    assert_true(view_of_block(v, 0) >= 50 + 64);
    assert_int_equal(view_of_thread(v, 0, 69 * 13), 119);
    view_drop(v);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_block),
        cmocka_unit_test(joining),
        cmocka_unit_test(warps_are_packed),
        cmocka_unit_test(many_items_become_the_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
