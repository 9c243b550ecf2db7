/* What simulated code can reach of memory: as on hardware, pages of 2 MB that hold something live, and of
 * registered host memory exactly what was registered; and what allocations hold at first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "exec/memory.h"
#include "isa/isa.h"

#define MAPPED (UINT64_C(2) << 20)
#define FIRST  (RP_REGION + WINDOW_END)

static int open_memory(void **state) {
    static struct memory m;
    assert_true(memory_init(&m, (size_t)64 << 30));
    *state = &m;
    return 0;
}

static int close_memory(void **state) {
    memory_destroy(*state);
    return 0;
}

static bool reaches(const struct memory *m, uint64_t addr) {
    return memory_reaches(m, addr, 1);
}

static void pages_are_mapped_as_a_whole(void **state) {
    struct memory *m = *state;
    assert_false(reaches(m, FIRST));
    assert_true(memory_reaches(m, RP_REGION + LOCAL_END, WINDOW_END - LOCAL_END)); /* the driver's */
    uint64_t a = memory_alloc(m, 1000, RP_MEM_DEVICE), b = memory_alloc(m, 4, RP_MEM_DEVICE);
    assert_int_equal(a, FIRST);
    assert_int_equal(b, FIRST + 1024);
    for (uint64_t at = a; at < a + MAPPED; at += 4096)
        assert_true(reaches(m, at));
    assert_true(reaches(m, b - 1));
    assert_true(reaches(m, a + MAPPED - 1));
    assert_false(reaches(m, a + MAPPED));
    assert_true(memory_reaches(m, a - 8 * MAPPED, 9 * MAPPED));
    assert_false(reaches(m, RP_REGION + LOCAL_END - 1));
    assert_false(memory_reaches(m, a + MAPPED - 4, 8));
    memory_free(m, a);
    assert_true(reaches(m, a)); /* b keeps the page */
    memory_free(m, b);
    assert_false(reaches(m, a));
}

static void spans_join_neighbours(void **state) {
    struct memory *m = *state;
    struct mem_span s;
    uint64_t a = memory_alloc(m, 5 * MAPPED, RP_MEM_DEVICE), b = memory_alloc(m, 3 * MAPPED, RP_MEM_MANAGED);
    assert_true(memory_span(m, b + 10, &s));
    assert_int_equal(s.addr, RP_REGION + LOCAL_END);
    assert_int_equal(s.addr + s.size, a + 8 * MAPPED);
    memory_free(m, a);
    assert_true(memory_span(m, b + 10, &s));
    assert_int_equal(s.addr, b);
    assert_int_equal(s.size, 3 * MAPPED);
    uint64_t large = memory_alloc(m, (size_t)12 << 30, RP_MEM_DEVICE);
    assert_true(memory_reaches(m, large, (uint64_t)12 << 30));
    for (uint64_t at = large; at < large + ((uint64_t)12 << 30); at += (uint64_t)1 << 30) {
        assert_true(memory_span(m, at, &s));
        assert_in_range(at, s.addr, s.addr + s.size - 1);
        assert_in_range(s.size, 1, UINT32_MAX + UINT64_C(1) + MAPPED);
    }
}

static void registered_memory_is_exact(void **state) {
    struct memory *m = *state;
    uint8_t *page = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory_register(m, page + 4096, 100));
    uint64_t at = (uintptr_t)page + 4096;
    assert_true(memory_reaches(m, at, 100));
    assert_false(reaches(m, at - 1));
    assert_false(reaches(m, at + 100));
    assert_false(memory_register(m, page + 4100, 4)); /* overlaps */
    memory_free(m, at);
    assert_false(reaches(m, at));
    munmap(page + 8192, 4096);
    assert_false(memory_register(m, page, 3 * 4096)); /* the host has nothing in the third page */
    assert_true(memory_register(m, page, 2 * 4096));
    munmap(page, 8192);
    memory_free(m, (uintptr_t)page);
    assert_false(memory_register(m, (void *)(uintptr_t)(FIRST + 64 * MAPPED), 100)); /* the GPU's own range */
}

static bool is_zero(uint64_t at, size_t size) {
    const uint8_t *p = (const uint8_t *)(uintptr_t)at;
    for (size_t i = 0; i < size; i++)
        if (p[i])
            return false;
    return true;
}

/* Stray writes land beside allocations; what is allocated there later still begins as zeros. */
static void new_memory_is_zero(void **state) {
    struct memory *m = *state;
    static const size_t sizes[] = {4, 256, 5000, 4096, 100000, 3 << 20};
    uint64_t anchor = memory_alloc(m, 16, RP_MEM_DEVICE);
    memset((void *)(uintptr_t)(anchor + 16), 0xab, MAPPED - 16);
    for (uint32_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint64_t a = memory_alloc(m, sizes[i], RP_MEM_DEVICE);
        assert_true(is_zero(a, sizes[i]));
        memset((void *)(uintptr_t)a, 0xcd, sizes[i]);
        uint64_t next = memory_alloc(m, 8, RP_MEM_DEVICE);
        memset((void *)(uintptr_t)next, 0xee, 8);
        memory_free(m, a);
        assert_int_equal(((uint8_t *)(uintptr_t)next)[7], 0xee);
        uint64_t again = memory_alloc(m, sizes[i], RP_MEM_DEVICE);
        assert_int_equal(again, a);
        assert_true(is_zero(again, sizes[i]));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(pages_are_mapped_as_a_whole, open_memory, close_memory),
        cmocka_unit_test_setup_teardown(spans_join_neighbours, open_memory, close_memory),
        cmocka_unit_test_setup_teardown(registered_memory_is_exact, open_memory, close_memory),
        cmocka_unit_test_setup_teardown(new_memory_is_zero, open_memory, close_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
