/* Tensor cores and matrices in shared memory in the timed machine: latencies, throughput, counts, on the
 * H200, where they were timed. As in test_timing.c, launches with different numbers of repetitions are
 * subtracted from each other. */
#include <stdio.h>

#include "timing_rig.h"

static const char head[] =
    ".version 8.4\n.target sm_90\n.address_size 64\n"
    ".visible .entry k(.param .u64 buffer, .param .u32 n, .param .u32 x)\n{\n"
    ".reg .b32 %r<8>, %a<4>, %b<4>, %c<4>; .reg .f32 %f<4>; .reg .f64 %d<4>, %e<8>; .reg .b64 %l<4>; .reg "
    ".pred %p;\n"
    ".shared .align 128 .b8 table[16384];\n"
    "ld.param.u64 %l0, [buffer]; ld.param.u32 %r0, [n]; mov.u32 %r1, %tid.x;\n"
    "mov.b32 %a0, %r1; mov.b32 %a1, %r1; mov.b32 %a2, %r1; mov.b32 %a3, %r1; mov.b32 %b0, %r1; mov.b32 %b1, "
    "%r1;\n"
    "mov.b32 %b2, %r1; mov.b32 %b3, %r1; mov.b32 %c0, 0; mov.b32 %c1, 0; mov.b32 %c2, 0; mov.b32 %c3, 0;\n"
    "mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;\n"
    "cvt.rn.f64.u32 %e0, %r1; mov.f64 %e1, %e0; mov.f64 %e2, %e0; mov.f64 %e3, %e0; mov.f64 %d0, %e0;\n"
    "mov.f64 %d1, %e0; mov.f64 %d2, %e0; mov.f64 %d3, %e0; mov.u32 %r2, table; mov.u32 %r3, 0; mov.u32 %r4, "
    "table;\n";
static const char tail[] =
    "sub.u32 %r0, %r0, 1; setp.ne.u32 %p, %r0, 0; @%p bra LOOP;\n"
    "add.f32 %f0, %f0, %f1; add.f32 %f2, %f2, %f3; add.f32 %f0, %f0, %f2; add.f64 %d0, %d0, %d1; add.f64 "
    "%d0, %d0, %d2;\n"
    "add.f64 %d0, %d0, %d3; add.u32 %c0, %c0, %c1; add.u32 %c0, %c0, %c2; add.u32 %c0, %c0, %c3;\n"
    "st.global.f32 [%l0], %f0; st.global.f64 [%l0+8], %d0; st.global.u32 [%l0+16], %c0; st.global.u32 "
    "[%l0+20], %r3;\n"
    "exit;\n}\n";

enum { FEW = 10, MANY = 20, SHORT = 4, LONG = 12 };

#define F32   "{%f0,%f1,%f2,%f3}"
#define S32   "{%c0,%c1,%c2,%c3}"
#define A4B2  "{%a0,%a1,%a2,%a3},{%b0,%b1}"
#define A2B1  "{%a0,%a1},{%b0}"
#define D4    "{%d0,%d1,%d2,%d3}"
#define MMA   "mma.sync.aligned."
#define H16   MMA "m16n8k16.row.col.f32.f16.f16.f32 " F32 "," A4B2 "," F32 ";"
#define H8    MMA "m16n8k8.row.col.f32.f16.f16.f32 " F32 "," A2B1 "," F32 ";"
#define TF32  MMA "m16n8k8.row.col.f32.tf32.tf32.f32 " F32 "," A4B2 "," F32 ";"
#define I32   MMA "m16n8k32.row.col.s32.s8.s8.s32 " S32 "," A4B2 "," S32 ";"
#define I8816 MMA "m8n8k16.row.col.s32.s8.s8.s32 {%c0,%c1},{%a0},{%b0},{%c0,%c1};"
#define I64   MMA "m16n8k64.row.col.s32.s4.s4.s32 " S32 "," A4B2 "," S32 ";"
#define B256  MMA "m16n8k256.row.col.s32.b1.b1.s32.and.popc " S32 "," A4B2 "," S32 ";"
#define SPARSE                                                                                               \
    "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 " F32                            \
    ",{%a0,%a1,%a2,%a3},{%b0,%b1,%b2,%b3}," F32 ",%r1,0;"
#define D884  MMA "m8n8k4.row.col.f64.f64.f64.f64 {%d0,%d1},{%e0},{%e1},{%d0,%d1};"
#define D1684 MMA "m16n8k4.row.col.f64.f64.f64.f64 " D4 ",{%e0,%e1},{%e2}," D4 ";"

/* A round of a loop of so many steps: cycles, or a counter's gain, for warps on one SM. */
static int64_t round_of(uint32_t threads, const char *const *set, const char *begin, const char *step,
                        uint32_t steps, const char *counter) {
    const char *all[8] = {"device.sms=1"};
    struct str s = {0};
    struct rig r;
    uint64_t by[2];
    for (uint32_t i = 0; set && set[i]; i++)
        all[i + 1] = set[i];
    str_printf(&s, "%s%s\nLOOP:\n", head, begin);
    for (uint32_t i = 0; i < steps; i++)
        str_printf(&s, "%s\n", step);
    str_printf(&s, "%s", tail);
    rig_open(&r, "h200", all, false, str_text(&s));
    rig_run(&r, "k", 1, threads, (struct rig_params){.n = 1});
    for (int i = 0; i < 2; i++) {
        by[i] = rig_run(&r, "k", 1, threads, (struct rig_params){.n = i ? MANY : FEW});
        by[i] = counter ? rig_counter(&r, counter) : by[i];
    }
    rig_close(&r);
    str_free(&s);
    return (int64_t)(by[1] - by[0]) / (MANY - FEW);
}

/* What a step adds to a round. */
static int64_t per_step(uint32_t threads, const char *const *set, const char *begin, const char *step,
                        const char *counter) {
    int64_t more = round_of(threads, set, begin, step, LONG, counter) -
                   round_of(threads, set, begin, step, SHORT, counter);
    assert_int_equal(more % (LONG - SHORT), 0);
    return more / (LONG - SHORT);
}

/* A chain through the accumulator takes the latency of the product. */
static void test_latency(void **state) {
    (void)state;
    static const struct {
        const char *step, *set;
        int64_t cycles;
    } cases[] = {
        {H16, NULL, 24},
        {H8, NULL, 17},
        {TF32, NULL, 24},
        {I32, NULL, 24},
        {I8816, NULL, 13},
        {B256, NULL, 24},
        {D884, NULL, 26},
        {D1684, NULL, 34},
        {"movmatrix.sync.aligned.m8n8.trans.b16 %c0, %c0;", NULL, 24},
        {H16, "latency.mma=11", 25},
        {H16, "latency.mma_step=8", 26},
        {H8, "latency.mma_step=8", 18},
        {D884, "latency.dmma=19", 27},
        {D1684, "latency.dmma_step=9", 36},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const set[] = {cases[i].set, NULL};
        int64_t got = per_step(32, set, "", cases[i].step, NULL);
        if (got != cases[i].cycles)
            fail_msg("%s: %ld cycles, not %ld", cases[i].step, (long)got, (long)cases[i].cycles);
    }
}

/* With enough warps a tensor core is always busy. */
static void test_throughput(void **state) {
    (void)state;
    enum { WARPS = 32, CORES = 4 };
    static const struct {
        const char *step, *set;
        int64_t cycles;
    } cases[] = {
        {H16, NULL, 6},
        {H8, NULL, 4},
        {TF32, NULL, 6},
        {I32, NULL, 6},
        {I8816, NULL, 4},
        {I64, NULL, 6},
        {B256, NULL, 6},
        {SPARSE, NULL, 10},
        {D884, NULL, 8},
        {D1684, NULL, 16},
        {H16, "unit.tensor_f16=512", 4},
        {D884, "unit.tensor_f64=16", 16},
        {I8816, "unit.tensor_least=5", 5},
        {H16, "unit.tensor=2", 12},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const set[] = {cases[i].set, NULL};
        double got = (double)round_of(32 * WARPS, set, "", cases[i].step, LONG, NULL) * CORES / WARPS / LONG;
        if (got < (double)cases[i].cycles * 0.98 || got > (double)cases[i].cycles * 1.1)
            fail_msg("%s %s: %g cycles, not %ld", cases[i].step, cases[i].set ? cases[i].set : "", got,
                     (long)cases[i].cycles);
    }
}

static void test_counts(void **state) {
    (void)state;
    static const struct {
        const char *step, *counter;
        int64_t n;
    } cases[] = {
        {H16, "tensor.macs.f16", 16 * 8 * 16},
        {H8, "tensor.macs.f16", 16 * 8 * 8},
        {SPARSE, "tensor.macs.f16", 16 * 8 * 16},
        {TF32, "tensor.macs.tf32", 16 * 8 * 8},
        {I32, "tensor.macs.s8", 16 * 8 * 32},
        {I64, "tensor.macs.s4", 16 * 8 * 64},
        {B256, "tensor.macs.b1", 16 * 8 * 256},
        {D884, "tensor.macs.f64", 8 * 8 * 4},
        {H16, "unit.tensor", 1},
        {H16, "insts.tensor", 1},
        {H16, "lanes.mma", 32},
        {H16, "lanes.idle.tensor", 0},
        {H16, "rf.reads", 10},
        {H16, "rf.writes", 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t got = per_step(32, NULL, "", cases[i].step, cases[i].counter);
        if (got != cases[i].n)
            fail_msg("%s: %s %ld, not %ld", cases[i].step, cases[i].counter, (long)got, (long)cases[i].n);
    }
    assert_int_equal(per_step(20, NULL, "", H16, "lanes.idle.tensor"), 12);
}

/* Eight rows side by side are one pass; rows that lie in the same banks follow one another. */
static void test_shared(void **state) {
    (void)state;
#define LDSM(n, list) "ldmatrix.sync.aligned.m8n8.x" n ".shared.b16 " list ", [%r4]; add.u32 %r3, %r3, %a0;"
    static const struct {
        const char *begin, *step;
        int64_t passes, words;
    } cases[] = {
        {"mad.lo.u32 %r4, %r1, 16, %r4;", LDSM("4", "{%a0,%a1,%a2,%a3}"), 4, 128},
        {"mad.lo.u32 %r4, %r1, 16, %r4;", LDSM("2", "{%a0,%a1}"), 2, 64},
        {"mad.lo.u32 %r4, %r1, 16, %r4;", LDSM("1", "{%a0}"), 1, 32},
        {"mad.lo.u32 %r4, %r1, 128, %r4;", LDSM("1", "{%a0}"), 8, 32},
        {"mad.lo.u32 %r4, %r1, 144, %r4;", LDSM("4", "{%a0,%a1,%a2,%a3}"), 4, 128},
        {"mad.lo.u32 %r4, %r1, 16, %r4;",
         "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r4], {%b0,%b1,%b2,%b3};", 4, 128},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(per_step(32, NULL, cases[i].begin, cases[i].step, "shared.passes"), cases[i].passes);
        assert_int_equal(per_step(32, NULL, cases[i].begin, cases[i].step, "shared.words"), cases[i].words);
    }
}

/* What is not there is refused with its name and a reason, and the module still loads. */
static void test_refused(void **state) {
    (void)state;
    static const struct {
        const char *inst, *name, *why;
    } cases[] = {
        {MMA "m16n8k32.row.col.f32.f16.f16.f32 " F32 "," A4B2 "," F32 ";", "mma.sync",
         "no such shape for this type"},
        {MMA "m8n8k16.row.col.f32.f16.f16.f32 " F32 "," A4B2 "," F32 ";", "mma.sync",
         "no such shape for this type"},
        {MMA "m16n8k16.row.col.f32.f16.bf16.f32 " F32 "," A4B2 "," F32 ";", "mma.sync", "do not go together"},
        {MMA "m16n8k16.row.col.f64.f16.f16.f64 " D4 "," A4B2 "," D4 ";", "mma.sync", "do not go together"},
        {MMA "m16n8k256.row.col.s32.b1.b1.s32 " S32 "," A4B2 "," S32 ";", "mma.sync", "need .and or .xor"},
        {MMA "m16n8k16.row.col.f32.f16.f16.f32 " F32 "," A2B1 "," F32 ";", "mma.sync", "too short"},
        {"wmma.mma.sync.aligned.row.col.m16n16k8.f32.f32 " F32 "," A4B2 "," F32 ";", "wmma.mma",
         "no such shape for this type"},
        {"wmma.load.a.sync.aligned.row.m16n16k16.shared.f64 {%d0}, [%r2];", "wmma.load",
         "no such shape for this type"},
        {"ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b6x16_p32 {%a0}, [%r2];", "ldmatrix", "up to sm_90"},
        {"wgmma.fence.sync.aligned;", "wgmma.fence", "not simulated"},
        {"cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%l0, {%r2}], "
         "[%r2];",
         "cp.async.bulk.tensor", "not simulated; build the program for an earlier architecture"},
        {"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r2], %a0, [%r2];", "st.async",
         "not simulated; build the program for an earlier architecture"},
        {"redux.sync.min.f32 %f0, %f1, -1;", "redux.sync", "not simulated; build the program"},
        {"multimem.red.release.sys.global.add.u32 [%l0], %a0;", "multimem.red", "not simulated"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct str s = {0};
        struct rig r;
        struct rp_kernel_info info;
        char *log = NULL;
        str_printf(&s, "%s%s\nLOOP:\n%s", head, cases[i].inst, tail);
        rig_open(&r, "h200", NULL, true, str_text(&s));
        assert_int_equal(rp_kernel_info(rp_module_kernel(r.m, "k"), &info, &log), RP_UNSUPPORTED);
        if (!log || !strstr(log, cases[i].name) || !strstr(log, cases[i].why))
            fail_msg("%s: %s", cases[i].inst, log ? log : "nothing was said");
        free(log);
        rig_close(&r);
        str_free(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_latency), cmocka_unit_test(test_throughput), cmocka_unit_test(test_counts),
        cmocka_unit_test(test_shared),  cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
