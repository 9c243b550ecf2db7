/* What DARSIE is compared with, on kernels of which it is known by hand what each can remove: Uniform Vector,
 * DAC-IDEAL, and the base machine with barriers at basic blocks. */
#include <stdio.h>

#include "mech_rig.h"

enum { ROUNDS = 8, WARPS = 4, THREADS = 32 * WARPS };

/* The loops have ROUNDS rounds, and beside the counter, which is uniform, two instructions of one kind. */
#define LOOP(body)                                                                                           \
    "mov.u32 %r1, %r8; mov.u32 %r2, %r0; mov.u32 %r5, 0;\n"                                                  \
    "L: " body " add.u32 %r5, %r5, 1; setp.lt.u32 %p0, %r5, 8; @%p0 bra L;\n"                                \
    "add.u32 %r1, %r1, %r2; mov.u32 %r6, %ctaid.x; mov.u32 %r7, %tid.y; mov.u32 %r3, %ntid.x;\n"             \
    "mad.lo.u32 %r7, %r7, %r3, %r0; mad.lo.u32 %r6, %r6, 128, %r7; mul.wide.u32 %l2, %r6, 4;\n"              \
    "add.u64 %l2, %l0, %l2; st.global.u32 [%l2], %r1;"
/* Each warp, and each block, begins later than the one before it, so that results are there when it comes.
 * What it does meanwhile differs between lanes. */
#define LATER                                                                                                \
    "shr.u32 %r4, %r0, 5; mov.u32 %r11, %ctaid.x; add.u32 %r4, %r4, %r11; and.b32 %r10, %r0, 31;\n"          \
    "mad.lo.u32 %r4, %r4, 640, %r10;\n"                                                                      \
    "W: setp.lt.u32 %p1, %r4, 32; @%p1 bra V; sub.u32 %r4, %r4, 32; bra W;\nV:\n"
static const char text[] = KERNELS
    /* The same in all lanes. */
    KERNEL("uniform", LOOP("mad.lo.u32 %r1, %r1, 3, %r9; xor.b32 %r1, %r1, %r5;"))
    /* A base and a stride, in rows of a warp and more. */
    KERNEL("affine", LOOP("mad.lo.u32 %r2, %r2, 3, %r9; add.u32 %r2, %r2, %r0;"))
    /* Neither. */
    KERNEL("vector", "mul.lo.u32 %r4, %r0, %r0;\n" LOOP("xor.b32 %r2, %r2, %r4; mul.lo.u32 %r2, %r2, %r2;"))
    /* A result that is the same in all lanes, of operands that are neither; and the other way around. */
    KERNEL("flat", "mul.lo.u32 %r4, %r0, %r0;\n" LOOP("add.u32 %r3, %r4, %r5; shr.u32 %r1, %r3, 20;"))
        KERNEL("square", LOOP("add.u32 %r3, %r0, %r5; mul.lo.u32 %r2, %r3, %r3;"))
/* The first warp whole; of the others, which come when it has long been through, one half: the other has
 * ended, or comes back. */
#define HALF                                                                                                 \
    LATER "and.b32 %r4, %r0, 16; setp.ne.u32 %p1, %r4, 0; setp.ge.and.u32 %p1, %r0, 32, %p1; @%p1 bra "      \
          "D;\n" LOOP("mad.lo.u32 %r1, %r1, 3, %r9; xor.b32 %r1, %r1, %r5;") "\nD:"
            KERNEL("half", HALF) KERNEL("half_back", HALF "st.global.u32 [%l1], %r0;")
    /* A sum that is affine in the first warp alone, which waits for the others. */
    KERNEL("first", "setp.lt.u32 %p0, %r0, 32; mul.lo.u32 %r2, %r0, %r0; selp.b32 %r2, %r0, %r2, %p0;\n" LATER
                    "add.u32 %r1, %r2, %r9; bar.sync 0; st.global.u32 [%l1], %r1;")
    /* Four that are the same in all lanes, once. */
    KERNEL("once", LATER "mad.lo.u32 %r1, %r8, 3, %r9; xor.b32 %r1, %r1, %r8; mul.lo.u32 %r1, %r1, %r1;\n"
                         "xor.b32 %r1, %r1, %r9; mov.u32 %r6, %ctaid.x; mad.lo.u32 %r6, %r6, 128, %r0;\n"
                         "mul.wide.u32 %l2, %r6, 4; add.u64 %l2, %l0, %l2; st.global.u32 [%l2], %r1;")
    /* Rounds that differ by thread: nobody may wait for a block there. */
    KERNEL("rounds",
           "and.b32 %r4, %r0, 3; mov.u32 %r5, 0;\nL: add.u32 %r5, %r5, 1; setp.le.u32 %p0, %r5, %r4;\n"
           "@%p0 bra L;\nst.global.u32 [%l1], %r5;");

struct counts {
    uint64_t insts, n, more;
    uint32_t memory[4 * THREADS];
};

/* A launch of the kernel on one SM: instructions, and two counters, if they are named. */
static struct counts run(const char *mech, const char *kernel, uint32_t x, uint32_t y, uint32_t blocks,
                         const char *counter, const char *other) {
    struct rig r;
    struct counts c = {0};
    rig_open_options(
        &r,
        &(struct rp_options){
            .gpu = "darsie", .mech = mech, .set = (const char *const[]){"device.sms=1", NULL}, .check = true},
        text);
    memset((void *)(uintptr_t)r.buffer, 0, RIG_BYTES);
    struct rig_params p = {.buffer = r.buffer, .n = 7, .x = 5};
    struct rp_launch l = {.grid = {blocks, 1, 1}, .block = {x, y, 1}, .params = &p, .param_bytes = sizeof p};
    assert_int_equal(rp_launch(r.g, rp_module_kernel(r.m, kernel), &l, NULL), RP_OK);
    memcpy(c.memory, (const void *)(uintptr_t)r.buffer, sizeof c.memory);
    c.insts = rig_counter(&r, "sm.insts.warp");
    c.n = counter ? rig_counter(&r, counter) : 0;
    c.more = other ? rig_counter(&r, other) : 0;
    assert_int_equal(rig_counter(&r, "check.wrong"), 0);
    rig_close(&r);
    return c;
}

static void same_memory(const struct counts *a, const struct counts *b) {
    assert_memory_equal(a->memory, b->memory, sizeof a->memory);
}

/* UV: what one warp of a block has computed, the others need not, if the result is there when they come; as
 * many instructions are issued. What differs between lanes is not looked up, and a block finds nothing of
 * another. */
static void test_uv(void **state) {
    (void)state;
    enum { ONCE = 4, OUTSIDE = 8 }; /* uniform ones; besides, such as copies of parameters */
    struct counts base = run("base", "once", THREADS, 1, 1, NULL, NULL),
                  uv = run("uv", "once", THREADS, 1, 1, "uv.hits", "uv.lookups");
    same_memory(&base, &uv);
    assert_int_equal(uv.insts, base.insts);
    assert_in_range(uv.n, ONCE * (WARPS - 1), (ONCE + OUTSIDE) * (WARPS - 1));
    assert_in_range(uv.more, ONCE * WARPS, (ONCE + OUTSIDE) * WARPS);
    uv = run("uv", "vector", THREADS, 1, 1, "uv.hits", "uv.lookups");
    assert_in_range(uv.more, ROUNDS * WARPS, (ROUNDS + OUTSIDE) * WARPS); /* the counter alone */
    uv = run("uv", "once", 32, 1, 4, "uv.hits", NULL);
    assert_int_equal(uv.n, 0);
}

/* DAC-IDEAL: of what is uniform or affine one warp executes each, the others up to none; with rows of 16
 * threads, affine ones stay; with neither, only the counter goes. */
static void test_dac_ideal(void **state) {
    (void)state;
    enum { LOOP_INSTS = 3, OUTSIDE = 12 };
    static const char *const kernels[] = {"uniform", "affine", "vector"};
    uint64_t gone[3], narrow[3];
    for (uint32_t k = 0; k < 3; k++) {
        struct counts base = run("base", kernels[k], THREADS, 1, 1, NULL, NULL),
                      ideal = run("dac-ideal", kernels[k], THREADS, 1, 1, "dac_ideal.removed",
                                  "dac_ideal.dropped");
        same_memory(&base, &ideal);
        gone[k] = ideal.n + ideal.more;
        assert_int_equal(ideal.insts + gone[k], base.insts);
        base = run("base", kernels[k], 16, 8, 1, NULL, NULL);
        ideal = run("dac-ideal", kernels[k], 16, 8, 1, "dac_ideal.removed", "dac_ideal.dropped");
        same_memory(&base, &ideal);
        narrow[k] = ideal.n + ideal.more;
    }
    for (uint32_t k = 0; k < 2; k++)
        assert_in_range(gone[k], LOOP_INSTS * (ROUNDS - 1) * (WARPS - 1),
                        (LOOP_INSTS * ROUNDS + OUTSIDE) * (WARPS - 1));
    assert_in_range(narrow[0], LOOP_INSTS * (ROUNDS - 1) * (WARPS - 1),
                    (LOOP_INSTS * ROUNDS + OUTSIDE) * (WARPS - 1));
    assert_true(narrow[1] <= (ROUNDS + OUTSIDE) * (WARPS - 1));
    assert_true(gone[2] <= (ROUNDS + OUTSIDE) * (WARPS - 1));
}

/* What it leaves: of operands and result both must be affine, and the warp be whole; and how it finds out
 * that it was wrong, once for all warps. */
static void test_dac_ideal_stays(void **state) {
    (void)state;
    enum { OUTSIDE = 12 };
    static const struct {
        const char *kernel;
        uint32_t insts; /* of a round that go */
    } kernels[] = {{"flat", 1}, {"square", 2}, {"half", 0}, {"half_back", 0}};
    for (uint32_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        struct counts base = run("base", kernels[k].kernel, THREADS, 1, 1, NULL, NULL),
                      ideal = run("dac-ideal", kernels[k].kernel, THREADS, 1, 1, "dac_ideal.wrong", NULL);
        same_memory(&base, &ideal);
        assert_int_equal(ideal.n, 0);
        assert_in_range(base.insts - ideal.insts, kernels[k].insts * (ROUNDS - 1) * (WARPS - 1),
                        (kernels[k].insts * ROUNDS + OUTSIDE) * (WARPS - 1));
    }
    struct counts base = run("base", "first", THREADS, 1, 1, NULL, NULL),
                  ideal = run("dac-ideal", "first", THREADS, 1, 1, "dac_ideal.wrong", NULL);
    same_memory(&base, &ideal);
    assert_int_equal(ideal.n, 1);
    enum { LESS = 42 }; /* threads: a warp, and part of one */
    base = run("base", "once", LESS, 1, 1, NULL, NULL);
    ideal = run("dac-ideal", "once", LESS, 1, 1, "dac_ideal.removed", "dac_ideal.dropped");
    same_memory(&base, &ideal);
    assert_int_equal(ideal.n + ideal.more, 0);
}

/* Barriers: one in each round of a loop that all run alike, and behind it; none where threads leave a loop in
 * different rounds. */
static void test_silicon_sync(void **state) {
    (void)state;
    struct counts base = run("base", "affine", THREADS, 1, 1, "sm.barriers", NULL),
                  sync = run("silicon-sync", "affine", THREADS, 1, 1, "sm.barriers", NULL);
    same_memory(&base, &sync);
    assert_int_equal(base.n, 0);
    assert_int_equal(sync.n, (ROUNDS + 1) * WARPS);
    assert_int_equal(sync.insts, base.insts + sync.n);
    sync = run("silicon-sync", "rounds", THREADS, 1, 1, "sm.barriers", NULL);
    base = run("base", "rounds", THREADS, 1, 1, NULL, NULL);
    same_memory(&base, &sync);
    assert_int_equal(sync.n, WARPS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_uv),
        cmocka_unit_test(test_dac_ideal),
        cmocka_unit_test(test_dac_ideal_stays),
        cmocka_unit_test(test_silicon_sync),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
