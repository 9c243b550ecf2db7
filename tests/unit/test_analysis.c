/* The analysis for memoization: the graph of a traced run worked out by hand, blocks proved on the code, and
 * rewritten programs that compute the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cpu/dddg.h"
#include "cpu/machine.h"
#include "cpu/rewrite.h"
#include "guest_rig.h"

#define LEN(a) (sizeof(a) / sizeof *(a))

static struct config config;
static const struct cpu_config *cfg;

static int load(void **unused) {
    (void)unused;
    struct diag d = {0};
    bool ok = cpu_machine_config(&config, NULL, NULL, &d);
    cfg = config_values(&config, &cpu_params);
    diag_free(&d);
    return !ok;
}

static int unload(void **unused) {
    (void)unused;
    config_free(&config);
    return 0;
}

/* ---- the graph ---- */

/* Fifty times: two numbers are loaded, (a + b)^2 / a is stored. */
static const uint32_t formula[] = {
    0xd2800654, /* movz x20, #50 */
    0xd2a00a15, /* movz x21, #0x50, lsl #16 */
    0xbd4002a0, /* ldr s0, [x21] */
    0xbd4006a1, /* ldr s1, [x21, #4] */
    0x1e212802, /* fadd s2, s0, s1 */
    0x1e220842, /* fmul s2, s2, s2 */
    0x1e201843, /* fdiv s3, s2, s0 */
    0xbd000aa3, /* str s3, [x21, #8] */
    0xf1000694, /* subs x20, x20, #1 */
    0x54ffff21, /* b.ne */
    0xd2800000, 0xd2800ba8, 0xd4000001,
};

static void test_graph(void **unused) {
    (void)unused;
    struct guest *g = rig_guest(formula, LEN(formula));
    struct cputrace t;
    struct dddg_result r;
    struct dddg_limits l = {.ratio = 5, .weight = 20, .inputs = 8, .vertices = 100, .overlap = 0.5};
    cputrace_run(&t, g, cfg, 100000, false, 0);
    assert_int_equal(t.at.len, 2 + 50 * 8 + 3);
    dddg_find(&t, &l, &r);
    /* one in each round: its result is the quotient, its inputs the two loads */
    uint64_t weight = (uint64_t)(2 * cfg->latency_fp + cfg->latency_fdiv_single);
    assert_int_equal(r.candidates, 50);
    assert_int_equal(r.unique, 1);
    assert_int_equal((uint64_t)r.weight, weight);
    assert_int_equal((uint64_t)r.inputs, 2);
    assert_int_equal(r.covered, 50 * weight);
    assert_int_equal(r.total, t.weight);
    dddg_free(&r);
    l.inputs = 1; /* then the sum is no part of it, and the square is the input */
    dddg_find(&t, &l, &r);
    assert_int_equal(r.candidates, 0);
    dddg_free(&r);
    l.ratio = 1000;
    dddg_find(&t, &l, &r);
    assert_int_equal(r.covered, 0);
    dddg_free(&r);
    cputrace_free(&t);
    rig_free(g);
}

/* Candidates of fifty rounds of a body of words; x20 counts. */
static uint64_t count_candidates(const uint32_t *body, uint32_t n) {
    uint32_t code[64] = {0xd2800654 /* movz x20, #50 */},
             end[] = {0xf1000694 /* subs x20, x20, #1 */, 0, 0xd2800000, 0xd2800ba8, 0xd4000001};
    struct cputrace t;
    struct dddg_result r;
    const struct dddg_limits l = {.ratio = 5, .weight = 20, .inputs = 8, .vertices = 100, .overlap = 0.5};
    memcpy(code + 1, body, 4 * n);
    memcpy(code + 1 + n, end, sizeof end);
    code[2 + n] = 0x54000001 | (-(n + 1) & 0x7ffff) << 5; /* b.ne */
    struct guest *g = rig_guest(code, n + 1 + LEN(end));
    cputrace_run(&t, g, cfg, 100000, false, 0);
    dddg_find(&t, &l, &r);
    uint64_t found = r.candidates;
    dddg_free(&r);
    cputrace_free(&t);
    rig_free(g);
    return found;
}

/* What goes from one round to the next is no candidate, nor what is only moved over the stack. */
static void test_no_candidates(void **unused) {
    (void)unused;
    static const uint32_t sums[] = {0x1e220821 /* fmul s1, s1, s2 */, 0x1e222821 /* fadd s1, s1, s2 */};
    uint32_t moves[16];
    for (uint32_t k = 0; k < LEN(moves); k += 2) {
        moves[k] = 0xbd0003e1 | k << 9;     /* str s1, [sp, #2k] */
        moves[k + 1] = 0xbd4003e1 | k << 9; /* ldr s1, [sp, #2k] */
    }
    assert_int_equal(count_candidates(sums, LEN(sums)), 0);
    assert_int_equal(count_candidates(moves, LEN(moves)), 0);
    for (uint32_t k = 0; k < LEN(moves); k++)
        moves[k] = sums[0];
    assert_true(count_candidates(moves, LEN(moves)) > 0); /* which computes as much in each round */
}

/* A trace ends where its limit is, and begins where it should. */
static void test_limits(void **unused) {
    (void)unused;
    struct guest *g = rig_guest(formula, LEN(formula));
    struct cputrace t;
    cputrace_run(&t, g, cfg, 20, false, 10);
    assert_int_equal(t.at.len, 20);
    assert_true(t.full);
    assert_int_equal(t.code.at[t.at.at[0].code].pc, RIG_CODE + 4 * 2); /* the second round */
    cputrace_free(&t);
    rig_free(g);
}

/* ---- blocks ---- */

/* For 96 numbers of eight different values: w2 = w1 < 0 ? w7 + w1 : w1 + w9, then much computing. No number
 * is negative, so that w7, which changes, is never read; w9 does not change. x21 is where the result goes and
 * moves on in the middle of it. */
static const uint32_t one_path[] = {
    0xd2800c14, /* mov x20, #0x60 */
    0xd2a00a15, /* mov x21, #0x500000 */
    0xd2800027, /* mov x7, #0x1 */
    0x94000004, /* bl 1c */
    0xd2800000, /* mov x0, #0x0 */
    0xd2800ba8, /* mov x8, #0x5d */
    0xd4000001, /* svc #0x0 */
    0xa9bf7bfd, /* stp x29, x30, [sp, #-16]! */
    0x528000e9, /* mov w9, #0x7 */
    0x12000a81, /* and w1, w20, #0x7 */
    0x1e220023, /* scvtf s3, w1 */
    0x1e21c063, /* fsqrt s3, s3 */
    0x1e232863, /* fadd s3, s3, s3 */
    0x37f80061, /* tbnz w1, #31, 40 */
    0x0b090022, /* add w2, w1, w9 */
    0x14000002, /* b 44 */
    0x0b0100e2, /* add w2, w7, w1 */
    0x1e220040, /* scvtf s0, w2 */
    0x1e200801, /* fmul s1, s0, s0 */
    0x1e21c002, /* fsqrt s2, s0 */
    0x1e221821, /* fdiv s1, s1, s2 */
    0x1e232821, /* fadd s1, s1, s3 */
    0x910012b5, /* add x21, x21, #0x4 */
    0x1e220821, /* fmul s1, s1, s2 */
    0xbd0002a1, /* str s1, [x21] */
    0x53057e87, /* lsr w7, w20, #5 */
    0xf1000694, /* subs x20, x20, #0x1 */
    0x54fffdc1, /* b.ne 24 */
    0xa8c17bfd, /* ldp x29, x30, [sp], #16 */
    0xd65f03c0, /* ret */
};
enum { WORK = RIG_CODE + 4 * 7, BEGIN = RIG_CODE + 4 * 10, STORE = RIG_CODE + 4 * 24, ROUNDS = 96 };

static uint32_t find(const uint32_t *code, uint32_t words, double ratio, struct region out[REGION_MAX]) {
    struct guest *g = rig_guest(code, words);
    struct cputrace t;
    const struct region_limits l = {.ratio = ratio, .weight = 20, .inputs = 8};
    cputrace_run(&t, g, cfg, 100000, false, 0);
    uint32_t n = region_find(&t, &l, out);
    cputrace_free(&t);
    rig_free(g);
    return n;
}

static bool has_input(const struct region *r, uint8_t reg) {
    for (uint32_t k = 0; k < r->inputs; k++)
        if (r->input[k].reg == reg)
            return true;
    return false;
}

/* Inputs are what any path reads, not only those that were traced; what does not change in the function is
 * none, and its table is forgotten where that begins. */
static void test_all_paths(void **unused) {
    (void)unused;
    struct region r[REGION_MAX];
    uint32_t n = find(one_path, LEN(one_path), 5, r);
    assert_int_equal(n, 1);
    assert_int_equal(r[0].begin, BEGIN);
    assert_int_equal(r[0].inputs, 2);
    assert_true(has_input(&r[0], 1) && has_input(&r[0], 7));
    assert_int_equal(r[0].entry, WORK);
    assert_int_equal(r[0].end, STORE);
    assert_int_equal(r[0].outputs, 1);
    assert_int_equal(r[0].output[0].reg, A64_V0 + 1);
    assert_int_equal(r[0].output[0].bytes, 4);
    assert_int_equal(r[0].passengers, 1); /* x21 moves on when the block is skipped, too */
    assert_int_equal(r[0].passenger[0], 0x910012b5);
}

/* What stores something that the block computes, or calls the system, is in no block. */
static void test_not_in_blocks(void **unused) {
    (void)unused;
    static const uint32_t words[] = {0xd4000001 /* svc #0 */, 0xbd0003e3 /* str s3, [sp] */};
    struct region r[REGION_MAX];
    assert_int_equal(find(one_path, LEN(one_path), 500, r), 0); /* not worth it */
    for (uint32_t w = 0; w < LEN(words); w++)
        for (uint32_t k = 12; k < 24; k++) {
            uint32_t code[LEN(one_path)];
            memcpy(code, one_path, sizeof code);
            if ((code[k] >> 24 & 0x7f) != 0x1e || (w && k > 12))
                continue;
            code[k] = words[w];
            uint32_t n = find(code, LEN(code), 5, r);
            for (uint32_t i = 0; i < n; i++)
                assert_false(r[i].begin <= RIG_CODE + 4 * k && RIG_CODE + 4 * k < r[i].end);
        }
}

/* ---- rewriting ---- */

/* The image of a program with a note beside its segments, which a new segment can replace. */
static uint8_t *image_with_note(const uint32_t *code, uint32_t words, size_t *size) {
    uint8_t *image = rig_image(code, words, size);
    const uint8_t note = 4; /* PT_NOTE */
    size_t extra = 56, head = 64 + 2 * 56;
    uint8_t *new = xcalloc(*size + extra, 1);
    memcpy(new, image, head);
    new[head] = note;
    memcpy(new + head + extra, image + head, *size - head);
    new[56] = 3; /* headers */
    uint64_t offset = head + extra;
    memcpy(new + 64 + 8, &offset, 8); /* of the code */
    *size += extra;
    free(image);
    return new;
}

/* Runs an image with a memoization unit; what is in its data. */
static void run_image(const uint8_t *image, size_t size, struct memo *m, uint32_t *data) {
    static const char *const argv[] = {"test", NULL};
    struct guest_options o = {.argv = argv};
    struct guest g;
    struct diag d = {0};
    if (!guest_init_image(&g, &o, image, size, &d))
        fail_msg("%s", str_text(&d.text));
    g.cpu.memo = m;
    assert_int_equal(guest_run(&g, UINT64_MAX), CPU_SYSCALL);
    assert_true(space_read(&g.space, RIG_DATA, data, 4 * (ROUNDS + 1)));
    guest_free(&g);
}

/* Runs a program as it is and with regions of it memoized; what both leave is the same. What the unit
 * counted. */
static struct memo_counters run_rewritten(const uint32_t *code, uint32_t len, struct region *r, uint32_t n,
                                          uint32_t right[ROUNDS + 1]) {
    struct diag d = {0};
    struct arena arena = {0};
    struct memo m;
    const struct memo_spec spec = {.l1_bytes = 8192, .truncate = true, .window = 100, .epoch_bits = 4};
    const uint8_t bits[REGION_MAX] = {0};
    uint32_t got[ROUNDS + 1];
    size_t size, new_size;
    uint8_t *image = image_with_note(code, len, &size);
    uint8_t *new = rewrite(image, size, r, bits, n, &new_size, &d);
    assert_non_null(new);
    memo_init(&m, &arena, &spec, 0, NULL);
    run_image(image, size, NULL, right);
    run_image(new, new_size, &m, got);
    assert_memory_equal(right, got, sizeof got);
    struct memo_counters counts = m.n;
    free(new);
    free(image);
    memo_free(&m);
    arena_free(&arena);
    return counts;
}

static void test_rewritten(void **unused) {
    (void)unused;
    struct region r[REGION_MAX];
    struct diag d = {0};
    struct arena arena = {0};
    struct memo m;
    const struct memo_spec spec = {
        .l1_bytes = 8192, .truncate = true, .window = 100, .bad = 10, .error = 0.1, .epoch_bits = 4};
    const uint8_t bits[REGION_MAX] = {0};
    uint32_t right[ROUNDS + 1], got[ROUNDS + 1], n = find(one_path, LEN(one_path), 5, r);
    size_t size, new_size;
    uint8_t *image = image_with_note(one_path, LEN(one_path), &size);
    uint8_t *new = rewrite(image, size, r, bits, n, &new_size, &d);
    assert_non_null(new);
    memo_init(&m, &arena, &spec, 0, NULL);
    run_image(image, size, NULL, right);
    run_image(new, new_size, &m, got);
    assert_memory_equal(right, got, sizeof right);
    assert_true(right[5] != 0);
    assert_int_equal(m.n.lookups, ROUNDS);
    assert_int_equal(m.n.l1_hits,
                     ROUNDS - 25); /* w7 has 1, 3, then 2, 1 and 0 for all eight values, one of which was */
    assert_int_equal(m.n.stale_updates, 0);
    run_image(new, new_size, NULL, got); /* without a unit everything is computed */
    assert_memory_equal(right, got, sizeof right);
    free(new);
    free(image);
    /* a program without a note cannot be rewritten */
    image = rig_image(one_path, LEN(one_path), &size);
    assert_null(rewrite(image, size, r, bits, n, &new_size, &d));
    assert_non_null(strstr(str_text(&d.text), "has no note"));
    diag_free(&d);
    /* but with no block there is nothing to do */
    new = rewrite(image, size, r, bits, 0, &new_size, &d);
    assert_int_equal(new_size, size);
    assert_memory_equal(new, image, size);
    free(new);
    free(image);
    memo_free(&m);
    arena_free(&arena);
}

/* One passenger needs another, which is live behind the block, too. */
static void test_chained_passengers(void **unused) {
    (void)unused;
    struct region r[REGION_MAX];
    uint32_t code[LEN(one_path)], right[ROUNDS + 1];
    memcpy(code, one_path, sizeof code);
    code[23] = 0x910002a8; /* add x8, x21, #0 */
    code[24] = 0xbd000101; /* str s1, [x8] */
    uint32_t n = find(code, LEN(code), 5, r);
    assert_int_equal(n, 1);
    assert_int_equal(r[0].outputs, 1);
    assert_int_equal(r[0].passengers, 2);
    assert_true(run_rewritten(code, LEN(code), r, n, right).l1_hits > 0);
}

/* A passenger whose result the block computes with: what that reads is an input. Here w1 is stored, and
 * hashed. */
static void test_needed_passengers(void **unused) {
    (void)unused;
    struct region r[REGION_MAX];
    uint32_t code[LEN(one_path)];
    memcpy(code, one_path, sizeof code);
    code[9] = 0x0b140281;  /* add w1, w20, w20 */
    code[10] = 0x11001021; /* add w1, w1, #4 */
    code[11] = 0xb90002a1; /* str w1, [x21] */
    code[24] = 0xbd0006a1; /* str s1, [x21, #4] */
    uint32_t n = find(code, LEN(code), 5, r);
    for (uint32_t i = 0; i < n; i++)
        if (r[i].begin == RIG_CODE + 4 * 10)
            assert_true(has_input(&r[i], 1));
        else if (r[i].begin < RIG_CODE + 4 * 10)
            assert_true(has_input(&r[i], 20));
    assert_true(n > 0 && r[0].begin <= RIG_CODE + 4 * 11);
}

/* In 96 of 192 rounds a function is called, with a pointer to one of four pairs of numbers; it reads the
 * second only if the first is negative, which none is. x9 and x10 stay where they are over the call, since
 * the function leaves them alone. */
static const uint32_t pointer[] = {
    0xd2a00a09, /* mov x9, #0x500000 */
    0xd2a00a0a, /* mov x10, #0x500000 */
    0x9120014a, /* add x10, x10, #0x800 */
    0xd2800101, /* mov x1, #0x8 */
    0x8b010d42, /* add x2, x10, x1, lsl #3 */
    0xb9000041, /* str w1, [x2] */
    0xb9000441, /* str w1, [x2, #4] */
    0xf1000421, /* subs x1, x1, #0x1 */
    0x54ffff81, /* b.ne 10 */
    0xd2801814, /* mov x20, #0xc0 */
    0x94000004, /* bl 38 */
    0xd2800000, /* mov x0, #0x0 */
    0xd2800ba8, /* mov x8, #0x5d */
    0xd4000001, /* svc #0x0 */
    0xa9bf7bfd, /* stp x29, x30, [sp, #-16]! */
    0x92400a81, /* and x1, x20, #0x7 */
    0x8b010d40, /* add x0, x10, x1, lsl #3 */
    0x36000074, /* tbz w20, #0, 50 */
    0x94000006, /* bl 60 */
    0xbc004d20, /* str s0, [x9, #4]! */
    0xf1000694, /* subs x20, x20, #0x1 */
    0x54ffff41, /* b.ne 3c */
    0xa8c17bfd, /* ldp x29, x30, [sp], #16 */
    0xd65f03c0, /* ret */
    0xb9400002, /* ldr w2, [x0] */
    0x37f80062, /* tbnz w2, #31, 70 */
    0x1e220040, /* scvtf s0, w2 */
    0x14000002, /* b 74 */
    0xbd400400, /* ldr s0, [x0, #4] */
    0x1e21c001, /* fsqrt s1, s0 */
    0x1e201820, /* fdiv s0, s1, s0 */
    0x1e212800, /* fadd s0, s0, s1 */
    0x1e21c000, /* fsqrt s0, s0 */
    0x1e210800, /* fmul s0, s0, s1 */
    0xd65f03c0, /* ret */
};
enum { CALL = RIG_CODE + 4 * 18 };

/* A function that a path of a loop calls is a block; its inputs are what any path of it loads behind a
 * pointer, not the pointer. */
static void test_pointers(void **unused) {
    (void)unused;
    struct region r[REGION_MAX];
    uint32_t right[ROUNDS + 1], n = find(pointer, LEN(pointer), 5, r);
    assert_int_equal(n, 1);
    assert_int_equal(r[0].begin, CALL);
    assert_int_equal(r[0].end, CALL + 4);
    assert_int_equal(r[0].inputs, 0);
    assert_int_equal(r[0].pointers, 2);
    for (uint32_t k = 0; k < 2; k++) {
        assert_int_equal(r[0].pointed[k].reg, 0);
        assert_int_equal(r[0].pointed[k].bytes, 4);
        assert_int_equal(r[0].pointed[k].offset, 4 * k);
    }
    assert_int_equal(r[0].outputs, 1);
    assert_int_equal(r[0].output[0].reg, A64_V0);
    assert_true(r[0].pointer_scratch != 9 && r[0].pointer_scratch != 10);
    assert_true(r[0].again > 0.9);
    struct memo_counters counts = run_rewritten(pointer, LEN(pointer), r, n, right);
    assert_true(right[ROUNDS] != 0);
    assert_int_equal(counts.lookups, ROUNDS);
    assert_int_equal(counts.l1_hits, ROUNDS - 4);
}

/* A function of which not every access is understood is none: here it stores something, or adds a register
 * to the pointer, or calls the system. */
static void test_no_pointers(void **unused) {
    (void)unused;
    static const uint32_t words[] = {
        0xb9000002, /* str w2, [x0] */
        0xb8616802, /* ldr w2, [x0, x1] */
        0xd4000001, /* svc #0 */
    };
    struct region r[REGION_MAX];
    for (uint32_t w = 0; w < LEN(words); w++) {
        uint32_t code[LEN(pointer)];
        memcpy(code, pointer, sizeof code);
        code[28] = words[w];
        uint32_t n = find(code, LEN(code), 5, r);
        for (uint32_t k = 0; k < n; k++)
            assert_int_equal(r[k].pointers, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_graph),
        cmocka_unit_test(test_no_candidates),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_all_paths),
        cmocka_unit_test(test_not_in_blocks),
        cmocka_unit_test(test_rewritten),
        cmocka_unit_test(test_chained_passengers),
        cmocka_unit_test(test_needed_passengers),
        cmocka_unit_test(test_pointers),
        cmocka_unit_test(test_no_pointers),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
