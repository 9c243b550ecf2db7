/* The Affine GPU: kernels whose tuples can be counted by hand, alone and beneath WIR; the energy that
 * follows; the base machine's cycles and memory. */
#include <math.h>
#include <stdio.h>

#include "timing_rig.h"

/* One warp. %r1: the thread's number; %r0: its place in the buffer; %r2: a number, 2. The value is in %r3. */
static const char head[] = ".version 7.0\n.target sm_70\n.address_size 32\n"
                           ".visible .entry k(.param .u64 buffer, .param .u32 n, .param .u32 x)\n{\n"
                           ".reg .b32 %r<16>; .reg .f32 %f<8>; .reg .pred %p<4>;\n"
                           "ld.param.u32 %r0, [buffer]; ld.param.u32 %r2, [x];\n"
                           "mov.u32 %r1, %tid.x; mad.lo.u32 %r0, %r1, 4, %r0;\n";
static const char tail[] = "\nst.global.u32 [%r0+16384], %r3;\nexit;\n}\n";

/* Registers and instructions: tuples and vectors read; tuples written, of these with stride 0; vectors
 * written, of these by fewer lanes than all, of these over a tuple; instructions on one lane, of these with
 * equal operands. */
struct tuples {
    uint32_t reads, vector_reads, writes, uniform, vector_writes, divergent, expansions, insts, scalar;
};

/* Head and tail: MOV, S2R, IMAD; the address of ST. */
static const struct tuples frame = {.reads = 3, .writes = 3, .uniform = 1, .insts = 2, .scalar = 1};

#define LANES "setp.lt.u32 %p1, %r1, 5; @%p1 " /* ISETP reads a tuple */
static const struct test {
    const char *name, *body;
    struct tuples want; /* beside the frame */
} tests[] = {
    /* IMAD, ISUB, and the store's value. */
    {"strided",
     "mul.lo.u32 %r3, %r1, 12; add.u32 %r4, %r3, %r1; sub.u32 %r3, %r4, %r2;",
     {.reads = 3, .writes = 2, .insts = 2}},
    /* A product of two strides has none. IMAD reads one register, and overwrites it. */
    {"product",
     "mul.lo.u32 %r4, %r1, %r1; add.u32 %r3, %r4, %r1;",
     {.reads = 1, .vector_reads = 1, .vector_writes = 1}},
    {"mad", "mad.lo.u32 %r3, %r1, %r2, %r0;", {.reads = 3, .writes = 1, .insts = 1}},
    /* MOV of %r2; a stride shifted is one, a shift by a stride is none. */
    {"shift",
     "shl.b32 %r4, %r1, %r2; shl.b32 %r3, %r2, %r1; add.u32 %r3, %r3, %r4;",
     {.reads = 4, .vector_reads = 2, .writes = 2, .uniform = 1, .vector_writes = 2, .insts = 2, .scalar = 1}},
    {"logic",
     "and.b32 %r4, %r1, 1; xor.b32 %r3, %r4, 7;",
     {.reads = 1, .vector_reads = 2, .vector_writes = 2}},
    {"uniform",
     "mov.u32 %r5, %ctaid.x; add.u32 %r4, %r5, 5; mul.lo.u32 %r3, %r4, %r4;",
     {.reads = 3, .writes = 3, .uniform = 3, .insts = 2, .scalar = 2}},
    /* Conversions and floating point work on all lanes, whatever they write. */
    {"uniform float",
     "mov.u32 %r5, %ctaid.x; cvt.rn.f32.u32 %f1, %r5; add.f32 %f2, %f1, 0f3F800000; mul.f32 %f3, %f2, %f2; "
     "mov.b32 %r3, %f3;",
     {.reads = 4, .writes = 4, .uniform = 4}},
    {"float",
     "cvt.rn.f32.u32 %f1, %r1; add.f32 %f2, %f1, 0f3F800000; mov.b32 %r3, %f2;",
     {.reads = 1, .vector_reads = 2, .vector_writes = 2}},
    /* After the guarded move the values have a stride, but the register is a vector; the sum is a tuple
       again. */
    {"partly written",
     "max.u32 %r3, %r1, 5; " LANES "mov.u32 %r3, %r1; add.u32 %r3, %r3, 1;",
     {.reads = 4, .vector_reads = 1, .writes = 1, .vector_writes = 2, .divergent = 1}},
    {"partly overwritten",
     "add.u32 %r3, %r1, 77; " LANES "xor.b32 %r3, %r1, %r2; add.u32 %r3, %r3, 1;",
     {.reads = 3,
      .vector_reads = 2,
      .writes = 1,
      .vector_writes = 2,
      .divergent = 1,
      .expansions = 1,
      .insts = 1}},
    /* Nobody is active: the register is what it was. */
    {"not written",
     "add.u32 %r3, %r1, 77; setp.gt.u32 %p1, %r1, 50; @%p1 xor.b32 %r3, %r3, %r2; add.u32 %r3, %r3, 1;",
     {.reads = 5, .writes = 2, .insts = 2}},
    {"load", "ld.global.u32 %r3, [%r0]; add.u32 %r3, %r3, %r2;", {.reads = 3, .writes = 2, .insts = 1}},
    {"load of squares",
     "ld.global.u32 %r3, [%r0+8192]; add.u32 %r3, %r3, %r2;",
     {.reads = 1, .vector_reads = 2, .vector_writes = 2}},
    /* The last lane is one too far. */
    {"load past the end",
     "ld.global.u32 %r3, [%r0+8068]; add.u32 %r3, %r3, %r2;",
     {.reads = 1, .vector_reads = 2, .vector_writes = 2}},
    {"load of pairs",
     "mad.lo.u32 %r6, %r1, 4, %r0; ld.global.v2.u32 {%r3, %r4}, [%r6]; add.u32 %r3, %r3, %r4;",
     {.reads = 6, .writes = 4, .insts = 2}},
    /* The count comes from the barrier, not from a unit: a vector, though all lanes have the same. */
    {"barrier",
     "and.b32 %r4, %r1, 1; setp.eq.u32 %p1, %r4, 0; bar.red.popc.u32 %r5, 0, %p1; add.u32 %r3, %r5, 1;",
     {.reads = 2, .vector_reads = 2, .writes = 1, .uniform = 1, .vector_writes = 1}},
};
enum { TESTS = sizeof tests / sizeof *tests, SQUARES = 2048, RESULT = 4096 /* words of the buffer */ };

static void open_mech(struct rig *r, const char *mech, const char *const *set, const char *body) {
    char text[2048];
    snprintf(text, sizeof text, "%s%s%s", head, body, tail);
    rig_open_options(r, &(struct rp_options){.gpu = "wir", .mech = mech, .set = set, .check = true}, text);
    uint32_t *word = (uint32_t *)(uintptr_t)r->buffer;
    for (uint32_t i = 0; i < RESULT; i++)
        word[i] = i < SQUARES ? i : i * i;
}

static uint64_t run(struct rig *r, uint32_t threads) {
    return rig_run(r, "k", 1, threads, (struct rig_params){.x = 2});
}

static const char *running; /* whose counters are looked at */

static void expect(const struct rig *r, const char *counter, uint64_t want) {
    uint64_t got = rig_counter(r, counter);
    if (got != want)
        fail_msg("%s: %s is %u, must be %u", running, counter, (unsigned)got, (unsigned)want);
}

static void expect_tuples(const struct rig *r, const struct tuples *w) {
    expect(r, "affine.reads", frame.reads + w->reads);
    expect(r, "affine.reads.vector", w->vector_reads);
    expect(r, "affine.writes", frame.writes + w->writes);
    expect(r, "affine.writes.uniform", frame.uniform + w->uniform);
    expect(r, "affine.writes.vector", w->vector_writes);
    expect(r, "affine.writes.divergent", w->divergent);
    expect(r, "affine.expansions", w->expansions);
    expect(r, "affine.compares", frame.writes + w->writes + w->vector_writes - w->divergent);
    expect(r, "affine.insts", frame.insts + w->insts);
    expect(r, "affine.insts.uniform", frame.scalar + w->scalar);
}

/* What must hold of any run. */
static void expect_sums(const struct rig *r) {
    expect(r, "rf.reads", rig_counter(r, "affine.reads") + rig_counter(r, "affine.reads.vector"));
    expect(r, "rf.writes", rig_counter(r, "affine.writes") + rig_counter(r, "affine.writes.vector"));
    expect(r, "rf.read.arrays",
           rig_counter(r, "affine.reads") + CORE_ARRAYS * rig_counter(r, "affine.reads.vector"));
}

static double part_of(const struct rig *r, enum rp_account account, const char *name) {
    struct rp_energy e;
    for (uint32_t i = 0; rp_energy(r->g, account, i, &e); i++)
        if (!strcmp(e.name, name))
            return e.launch;
    fail_msg("no part is called %s", name);
    return 0;
}

static double part(const struct rig *r, const char *name) {
    return part_of(r, RP_ENERGY_PHYSICAL, name);
}

static void expect_close(double got, double want) {
    if (!(fabs(got - want) <= 1e-12 * fabs(want)))
        fail_msg("%s: %.17g J, not %.17g", running, got, want);
}

/* The run of the base machine that another is compared with. */
struct base {
    uint64_t cycles, counters[RIG_COUNTERS];
    uint32_t n, result[WARP_LANES];
    double sp;
};

static void run_base(struct base *b, const char *body) {
    struct rig r;
    open_mech(&r, "base", NULL, body);
    b->cycles = run(&r, WARP_LANES);
    b->n = rig_counters(&r, b->counters);
    memcpy(b->result, (uint32_t *)(uintptr_t)r.buffer + RESULT, sizeof b->result);
    b->sp = part(&r, "sp");
    rig_close(&r);
}

/* Nothing differs but arrays and lanes. */
static void expect_base(const struct rig *r, const struct base *b) {
    struct rp_counter c;
    uint64_t lanes = 0, all = 0, idle = 0;
    assert_int_equal(r->cycles, b->cycles);
    assert_memory_equal((uint32_t *)(uintptr_t)r->buffer + RESULT, b->result, sizeof b->result);
    for (uint32_t i = 0; i < b->n; i++) {
        assert_true(rp_counter(r->g, i, &c));
        if (!strncmp(c.name, "lanes.idle", 10))
            idle += c.launch - b->counters[i];
        else if (!strncmp(c.name, "lanes.", 6))
            lanes += c.launch, all += b->counters[i];
        else if (!strstr(c.name, ".arrays") && c.launch != b->counters[i])
            fail_msg("%s: %s is not the base machine's", running, c.name);
    }
    assert_int_equal(all - lanes, (WARP_LANES - 1) * rig_counter(r, "affine.insts"));
    assert_int_equal(idle, all - lanes);
}

static void test_tuples(void **state) {
    (void)state;
    for (uint32_t t = 0; t < TESTS; t++) {
        const struct tuples *w = &tests[t].want;
        struct base b;
        struct rig r;
        running = tests[t].name;
        run_base(&b, tests[t].body);
        open_mech(&r, "affine", NULL, tests[t].body);
        run(&r, WARP_LANES);
        expect_base(&r, &b);
        expect_tuples(&r, w);
        expect_sums(&r);
        /* Five lanes lie in two arrays; over a tuple all are written. */
        expect(&r, "rf.write.arrays",
               frame.writes + w->writes + CORE_ARRAYS * (w->vector_writes - w->divergent + w->expansions) +
                   2 * (w->divergent - w->expansions));
        rig_close(&r);
    }
}

/* Energy falls with arrays and lanes; the added circuits cost what their parameters say. In GPUWattch's
 * account the arrays that a tuple leaves alone cost the share of collectors and wires. */
static void test_energy(void **state) {
    (void)state;
    static const char *const set[] = {"energy.scale=1", "affine.pj.compare=100", "affine.pj.flag=3", NULL};
    const double pj = 1e-12;
    for (uint32_t t = 0; t < TESTS; t++) {
        struct base b;
        struct rig r;
        running = tests[t].name;
        run_base(&b, tests[t].body);
        open_mech(&r, "affine", NULL, tests[t].body);
        run(&r, WARP_LANES);
        assert_true(part(&r, "sp") < b.sp);
        rig_close(&r);
        open_mech(&r, "affine", set, tests[t].body);
        run(&r, WARP_LANES);
        double reads = (double)(rig_counter(&r, "rf.read.arrays") + tests[t].want.expansions);
        expect_close(part(&r, "register_file"),
                     (reads * 56.8 + (double)rig_counter(&r, "rf.write.arrays") * 103.6) * pj);
        uint64_t spared = CORE_ARRAYS * rig_counter(&r, "rf.reads") - rig_counter(&r, "rf.read.arrays");
        expect(&r, "rf.read.arrays.spared", spared);
        expect(&r, "rf.write.arrays.spared", (CORE_ARRAYS - 1) * rig_counter(&r, "affine.writes"));
        assert_true(spared > 0 && rig_counter(&r, "rf.write.arrays.spared") > 0);
        expect_close(part_of(&r, RP_ENERGY_GPUWATTCH, "register_file") - part(&r, "register_file"),
                     ((double)spared * 11.6 + (double)rig_counter(&r, "rf.write.arrays.spared") * 7.75) * pj);
        expect_close(part(&r, "mechanism"),
                     ((double)rig_counter(&r, "affine.compares") * 100 +
                      (double)(rig_counter(&r, "rf.reads") + rig_counter(&r, "rf.writes")) * 3) *
                         pj);
        rig_close(&r);
    }
}

static const struct test *find(const char *name) {
    for (uint32_t t = 0; t < TESTS; t++)
        if (!strcmp(tests[t].name, name))
            return &tests[t];
    fail_msg("no test is called %s", name);
    return NULL;
}

static void test_floats(void **state) {
    (void)state;
    static const char *const set[] = {"affine.floats=true", NULL};
    struct rig r;
    struct tuples w = find("uniform float")->want;
    running = "floats";
    open_mech(&r, "affine", set, find("uniform float")->body);
    run(&r, WARP_LANES);
    w.insts = w.scalar = 2; /* the sum and the product */
    expect_tuples(&r, &w);
    rig_close(&r);
}

/* A warp that is not full writes no tuples. */
static void test_part_of_a_warp(void **state) {
    (void)state;
    struct rig r;
    running = "20 threads";
    open_mech(&r, "affine", NULL, find("strided")->body);
    run(&r, 20);
    for (int i = 0; i < 2; i++) {
        expect(&r, i ? "affine.reads" : "affine.writes", 0);
        expect(&r, i ? "affine.insts" : "affine.compares", 0);
    }
    expect(&r, "affine.writes.divergent", rig_counter(&r, "rf.writes"));
    expect_sums(&r);
    rig_close(&r);
}

/* A warp does not find what the one before it left in its registers. */
static void test_next_warp(void **state) {
    (void)state;
    struct rig r;
    running = "next warp";
    open_mech(&r, "affine", NULL,
              LANES "xor.b32 %r3, %r1, %r2; st.global.u32 [%r0+20480], %r3; add.u32 %r3, %r1, 1;");
    for (int i = 0; i < 2; i++) {
        run(&r, WARP_LANES);
        expect(&r, "affine.writes.divergent", 1);
        expect(&r, "affine.expansions", 0);
    }
    rig_close(&r);
}

/* Beneath WIR: its cycles, its results. */
static void run_wir(struct rig *r, const char *wir, const char *body, uint32_t threads) {
    struct base b;
    char both[64];
    open_mech(r, wir, NULL, body);
    uint64_t cycles = run(r, threads);
    memcpy(b.result, (uint32_t *)(uintptr_t)r->buffer + RESULT, sizeof b.result);
    rig_close(r);
    snprintf(both, sizeof both, "%s+affine", wir);
    open_mech(r, both, NULL, body);
    assert_int_equal(run(r, threads), cycles);
    assert_memory_equal((uint32_t *)(uintptr_t)r->buffer + RESULT, b.result, sizeof b.result);
    expect_sums(r);
}

/* WIR's copy reads what the register was, a tuple or not, and fills the lanes from the sixth on. The copy is
 * made after a sum of tuples ended, whose place among the ops in flight it takes. */
static void test_copies(void **state) {
    (void)state;
    static const struct {
        const char *body;
        struct tuples want;
    } copied[] = {
        {"add.u32 %r3, %r1, 77; add.u32 %r4, %r3, -70; setp.lt.u32 %p1, %r4, 12; @%p1 xor.b32 %r3, %r1, %r2;",
         {.reads = 5, .vector_reads = 1, .writes = 2, .vector_writes = 2, .divergent = 2, .insts = 2}},
        {"xor.b32 %r3, %r1, 5; add.u32 %r5, %r1, 77; add.u32 %r4, %r5, -70; setp.lt.u32 %p1, %r4, 12; "
         "@%p1 xor.b32 %r3, %r1, %r2;",
         {.reads = 5, .vector_reads = 2, .writes = 2, .vector_writes = 3, .divergent = 2, .insts = 2}},
    };
    for (uint32_t k = 0; k < 2; k++) {
        const struct tuples *w = &copied[k].want;
        struct rig r;
        running = copied[k].body;
        run_wir(&r, "wir", running, WARP_LANES);
        expect(&r, "wir.movs", 1);
        expect(&r, "wir.verify.reads", 0);
        expect_tuples(&r, w);
        expect(&r, "rf.write.arrays",
               frame.writes + w->writes + CORE_ARRAYS * (w->vector_writes - w->divergent) + 2 + 7);
        rig_close(&r);
    }
}

/* A result that equals a register is compared with it, in its form, and not written. */
static void test_verify_reads(void **state) {
    (void)state;
    static const struct {
        const char *body;
        uint32_t reads, vector_reads;
    } equal[] = {
        {"sub.u32 %r4, %r1, %r2; add.u32 %r3, %r4, 2;", 1, 0}, /* the thread's number again */
        {"xor.b32 %r4, %r1, 2; add.u32 %r5, %r4, %r2; sub.u32 %r3, %r5, 2;", 0, 1},
    };
    for (uint32_t k = 0; k < 2; k++) {
        struct rig r;
        running = equal[k].body;
        open_mech(&r, "affine", NULL, equal[k].body);
        run(&r, WARP_LANES);
        uint64_t reads = rig_counter(&r, "affine.reads"),
                 vector_reads = rig_counter(&r, "affine.reads.vector");
        uint64_t writes = rig_counter(&r, "affine.writes"), insts = rig_counter(&r, "affine.insts");
        uint64_t vector_writes = rig_counter(&r, "affine.writes.vector");
        rig_close(&r);
        run_wir(&r, "wir-rlp", equal[k].body, WARP_LANES);
        expect(&r, "wir.verify.reads", 1);
        expect(&r, "wir.vsb.shared", 1);
        expect(&r, "affine.reads", reads + equal[k].reads);
        expect(&r, "affine.reads.vector", vector_reads + equal[k].vector_reads);
        expect(&r, "affine.writes", writes - equal[k].reads);
        expect(&r, "affine.writes.vector", vector_writes - equal[k].vector_reads);
        expect(&r, "affine.insts", insts);
        rig_close(&r);
    }
}

/* What WIR supplies works on no lane, but has its form: the store reads a tuple. */
static void test_supplied(void **state) {
    (void)state;
    struct rig r;
    running = "supplied";
    run_wir(&r, "wir", find("uniform")->body, 2 * WARP_LANES);
    uint64_t reused = rig_counter(&r, "wir.reused");
    assert_int_equal(reused, 3); /* of the second warp: MOV, IADD, IMUL */
    expect(&r, "affine.insts", 2 * (frame.insts + 2) - reused);
    expect(&r, "affine.compares", 2 * (frame.writes + 3) - reused);
    expect(&r, "affine.reads.vector", 0);
    expect(&r, "affine.writes.vector", 0);
    rig_close(&r);
}

static void test_stack(void **state) {
    (void)state;
    char *log = NULL;
    struct rig r;
    uint64_t counters[2][RIG_COUNTERS];
    uint32_t n = 0;
    for (int i = 0; i < 2; i++) { /* the order in which they are named does not matter */
        open_mech(&r, i ? "wir+affine" : "affine+wir", NULL, find("partly overwritten")->body);
        run(&r, 3 * WARP_LANES);
        n = rig_counters(&r, counters[i]);
        rig_close(&r);
    }
    assert_memory_equal(counters[0], counters[1], n * sizeof counters[0][0]);
    assert_null(rp_gpu_create(&(struct rp_options){.gpu = "wir", .mech = "affine+affine"}, &log));
    assert_non_null(strstr(log, "models of one mechanism"));
    free(log);
}

int main(void) {
    const struct CMUnitTest all[] = {
        cmocka_unit_test(test_tuples),       cmocka_unit_test(test_energy),
        cmocka_unit_test(test_floats),       cmocka_unit_test(test_part_of_a_warp),
        cmocka_unit_test(test_copies),       cmocka_unit_test(test_next_warp),
        cmocka_unit_test(test_verify_reads), cmocka_unit_test(test_supplied),
        cmocka_unit_test(test_stack),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
