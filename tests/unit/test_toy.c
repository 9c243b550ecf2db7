/* The toy of docs/adding-a-mechanism.md: what it hits, what that saves, and that programs do not notice. */
#include <math.h>
#include <stdio.h>

#include "mech_rig.h"

/* A chain of three instructions whose operands are the same each time around; all warps have the same ones.
 */
static const char kernels[] =
    KERNELS KERNEL("again", "and.b32 %r1, %r0, 31; mov.u32 %r2, 0;\n"
                            "LOOP: mul.lo.u32 %r3, %r1, %r9; xor.b32 %r4, %r3, %r9;\n"
                            "add.u32 %r5, %r4, %r1; add.u32 %r2, %r2, 1;\n"
                            "setp.lt.u32 %p0, %r2, %r8; @%p0 bra LOOP;\n"
                            "st.global.u32 [%l1], %r5;")
    /* Different instructions with equal operands, of which the second waits for the first. */
    KERNEL("twins",
           "mul.lo.u32 %r1, %r0, 5; setp.eq.u32 %p0, %r1, 1; @%p0 exit;\n"
           "xor.b32 %r3, %r1, %r9; setp.eq.u32 %p0, %r3, 0xfffff; @%p0 exit;\n"
           "and.b32 %r4, %r1, %r9; shl.b32 %r4, %r4, 16; add.u32 %r3, %r3, %r4; st.global.u32 [%l1], %r3;");

static void open_toy(struct rig *r, const char *mech, const char *set) {
    const char *const settings[] = {"device.sms=1", "latency.alu=40", "latency.imul=40", set, NULL};
    rig_open_options(r, &(struct rp_options){.gpu = "gtx480", .mech = mech, .set = settings, .check = true},
                     kernels);
}

static uint64_t cycles_of(const char *mech, const char *set, uint32_t n) {
    struct rig r;
    open_toy(&r, mech, set);
    rig_run(&r, "again", 1, 32, (struct rig_params){.n = n, .x = 7});
    rig_close(&r);
    return r.cycles;
}

/* From the second time around the chain is in the table, and takes the table's latency. */
static void test_chain(void **state) {
    (void)state;
    struct rig r;
    enum { N = 50 };
    open_toy(&r, "toy", NULL);
    rig_run(&r, "again", 1, 32, (struct rig_params){.n = N, .x = 7});
    for (uint32_t t = 0; t < 32; t++)
        assert_int_equal(rig_word(&r, t), ((t * 7) ^ 7) + t);
    assert_int_equal(rig_counter(&r, "toy.hits"), 3 * (N - 1));
    assert_int_equal(rig_counter(&r, "check.wrong"), 0);
    assert_int_equal(rig_counter(&r, "lanes.logic"), 32 + 32); /* AND, and XOR the first time */
    rig_close(&r);
    static const char *const slow = "toy.latency=60", *const slower = "toy.latency=61";
    uint64_t one = cycles_of("toy", slow, N), other = cycles_of("toy", slower, N);
    assert_int_equal(other - one, 2 * (N - 1)); /* the loop goes on while the last one is on its way */
    assert_true(cycles_of("toy", NULL, N) < cycles_of("base", NULL, N));
}

/* Another warp hits what the first one computed; fewer lanes than all never do; a table of one entry keeps
 * nothing from one instruction to the next. */
static void test_table(void **state) {
    (void)state;
    struct rig r;
    open_toy(&r, "toy", NULL);
    rig_run(&r, "again", 1, 64, (struct rig_params){.n = 50, .x = 7});
    assert_int_equal(rig_counter(&r, "toy.hits"), 2 * 3 * 49); /* at first both compute */
    rig_run(&r, "again", 40, 32, (struct rig_params){.n = 1, .x = 7});
    assert_true(rig_counter(&r, "toy.hits") > 3 * 20); /* warps that come when the first have ended */
    rig_run(&r, "again", 1, 31, (struct rig_params){.n = 50, .x = 7});
    assert_int_equal(rig_counter(&r, "toy.lookups"), 0);
    /* Another launch, another factor: nothing is left of the table. */
    rig_run(&r, "again", 1, 32, (struct rig_params){.n = 1, .x = 8});
    assert_int_equal(rig_counter(&r, "toy.hits"), 0);
    assert_int_equal(rig_word(&r, 31), ((31 * 8) ^ 8) + 31);
    rig_close(&r);
    open_toy(&r, "toy", "toy.entries=1");
    rig_run(&r, "twins", 1, 32, (struct rig_params){.x = 7});
    for (uint32_t k = 0; k < 32; k++)
        assert_int_equal(rig_word(&r, k), ((5 * k) ^ 7) + (((5 * k) & 7) << 16));
    assert_int_equal(rig_counter(&r, "check.wrong"), 0);
    rig_run(&r, "again", 1, 32, (struct rig_params){.n = 50, .x = 7});
    assert_int_equal(rig_counter(&r, "toy.hits"), 0);
    rig_close(&r);
}

/* A look costs what the parameter says. */
static void test_energy(void **state) {
    (void)state;
    struct rig r;
    open_toy(&r, "toy", "toy.pj.lookup=3");
    rig_run(&r, "again", 1, 32, (struct rig_params){.n = 50, .x = 7});
    struct rp_energy e;
    double joules = -1;
    for (uint32_t i = 0; rp_energy(r.g, RP_ENERGY_PHYSICAL, i, &e); i++)
        if (!strcmp(e.name, "mechanism"))
            joules = e.launch;
    double want = 3e-12 * (double)rig_counter(&r, "toy.lookups");
    assert_true(want > 0 && fabs(joules - want) < 1e-6 * want);
    rig_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_chain), cmocka_unit_test(test_table),
                                       cmocka_unit_test(test_energy)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
