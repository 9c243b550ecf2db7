/* Lock and Load: what is approximated and what it becomes, against plain references; that nothing changes
 * with a threshold of 0 or constant input; and its rules, each with a kernel that comes out wrong without it.
 */
#include <math.h>
#include <stdio.h>

#include "mech/lnl/pass.h"
#include "timing_rig.h"

enum { OUT = 16384, WARP = 32 }; /* words: where results begin */

/* A kernel: thread t of the grid has the address of word t in %l1, of its result in %l2, t in %r0, its lane
 * in %r1, x in %r9. */
#define K(name, body)                                                                                        \
    ".visible .entry " name "(.param .u64 buffer, .param .u32 n, .param .u32 x)\n"                           \
    "{ .reg .b32 %r<24>; .reg .f32 %f<24>; .reg .b64 %l<8>; .reg .pred %p<8>; .local .b32 spill[4];\n"       \
    ".shared .b32 tile[1024];\n"                                                                             \
    "ld.param.u64 %l0, [buffer]; ld.param.u32 %r9, [x];\n"                                                   \
    "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r0, %tid.x; and.b32 %r1, %r0, 31;\n"              \
    "mov.u32 %r4, %r0; mad.lo.u32 %r0, %r2, %r3, %r0;\n"                                                     \
    "mul.wide.u32 %l1, %r0, 4; add.u64 %l1, %l0, %l1; add.u64 %l2, %l1, 65536;\n" body "\nDONE: exit; }\n"
#define CHECK(r)  ".pragma \"reprise check f32 1 " r "\";\n"
#define CHECK2(r) ".pragma \"reprise check f32 2 " r "\";\n"
#define START     ".pragma \"reprise start 0\";\n"
#define START2    ".pragma \"reprise start 1\";\n"
#define END       ".pragma \"reprise end\";\n"
#define LOAD      "ld.global.f32 %f0, [%l1];\n"
#define F         "fma.rn.f32 %f1, %f0, %f0, 0f3F800000;\n"
#define STORE     "st.global.f32 [%l2], %f1;\n"

/* clang-format off */
static const char kernels[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n" K("plain", LOAD CHECK("%f0") START F STORE END)
        K("scaled", LOAD CHECK("%f0") START "mul.f32 %f1, %f0, 0f0D800000;\n" STORE END)
    /* The region is in a loop, and its load is not. */
    K("sticky", LOAD CHECK("%f0") "mov.u32 %r5, 0;\nL: " START F "st.global.f32 [%l2], %f1;\n" END
                                  "add.u32 %r5, %r5, 1; setp.lt.u32 %p0, %r5, 3; @%p0 bra L;")
    /* Half of the lanes were loaded and compared, all are in the region. */
    K("mask",
      "cvt.rn.f32.u32 %f0, %r1; mul.f32 %f0, %f0, 0f42480000; setp.ge.u32 %p0, %r1, 16; @%p0 bra J;\n" LOAD
          CHECK("%f0") "J: " START F STORE END)
    /* A checked load inside a region: of what the next region needs. */
    K("inside", LOAD CHECK("%f0") START F "ld.global.f32 %f2, [%l1+32768];\n" CHECK2("%f2") STORE END START2
      "fma.rn.f32 %f3, %f2, %f2, 0f3F800000; st.global.f32 [%l2+16384], %f3;\n" END)
    /* Anchors do not store; what the others store comes from them. */
    K("others_store", LOAD CHECK("%f0") START F
      "and.b32 %r5, %r1, 3; setp.eq.u32 %p0, %r5, 0; @%p0 bra J;\n" STORE
      "bar.sync 1, 32;\nJ: setp.ne.u32 %p1, %r5, 0; @%p1 bra J2; bar.sync 1, 32;\nJ2:\n" END)
    /* Anchors do not even compute it. */
    K("others_compute",
      LOAD CHECK("%f0") START "and.b32 %r5, %r1, 3; setp.eq.u32 %p0, %r5, 0; @%p0 bra J;\n" F
                              "add.f32 %f1, %f1, 0f3F800000; mul.f32 %f1, %f1, %f1; add.f32 %f1, %f1, "
                              "0f3F800000; mul.f32 %f1, %f1, %f1;\n" STORE "J: " END)
    /* Another path of the warp runs while this one waits in its region. */
    K("paths", LOAD CHECK("%f0") "setp.ge.u32 %p0, %r1, 16; @%p0 bra ELSE;\n" START F
                                 "bar.sync 0; bar.sync 0;\n" STORE END
                                 "bra JOIN;\nELSE: bar.sync 0; add.f32 %f1, %f0, %f0; bar.sync 0; "
                                 "st.global.f32 [%l2], %f1;\nJOIN:")
    /* Integers are not interpolated, wherever they go. */
    K("integers", LOAD CHECK("%f0") START F STORE
      "cvt.rni.s32.f32 %r5, %f1; shl.b32 %r5, %r5, 3; xor.b32 %r5, %r5, %r1;\n"
      "st.global.u32 [%l2+16384], %r5;\n" END)
        K("lives_on", LOAD CHECK("%f0") START F
          "cvt.rni.s32.f32 %r5, %f1; setp.gt.f32 %p0, %f1, 0f46000000;\n" STORE END
          "selp.u32 %r6, 1, 2, %p0; mad.lo.u32 %r5, %r5, 16, %r6; st.global.u32 [%l2+16384], %r5;")
    /* A float that lives on is interpolated at the end. */
    K("float_lives", LOAD CHECK("%f0") START F END "add.f32 %f1, %f1, 0f3F800000;\n" STORE)
    /* What was stored approximately decides where something is stored. */
    K("index",
      LOAD CHECK(
          "%f0") "mul.wide.u32 %l4, %r4, 4; mov.u64 %l5, tile; add.u64 %l4, %l4, %l5; cvt.u32.u64 %r6, "
                 "%l4;\n" START F "st.shared.f32 [%r6], %f1; ld.shared.f32 %f2, [%r6]; cvt.rni.u32.f32 %r5, "
                 "%f2; and.b32 %r5, %r5, 1023;\n"
                 "mul.wide.u32 %l4, %r5, 4; add.u64 %l4, %l0, %l4; st.global.f32 [%l4+65536], %f1;\n" END)
    /* The same through local memory, as a spilled register goes. */
    K("spilled", LOAD CHECK("%f0") START F
      "cvt.rn.f32.u32 %f2, %r0; add.f32 %f2, %f2, 0f3F800000;\n"
      "st.local.f32 [spill], %f2; ld.local.f32 %f3, [spill]; cvt.rni.u32.f32 %r5, %f3; sub.u32 %r5, %r5, 1;\n"
      "mul.wide.u32 %l4, %r5, 4; add.u64 %l4, %l0, %l4; st.global.f32 [%l4+65536], %f1;\n" END)
    /* Packed pixels: the bytes are x, 255 - x, 7 and x / 2 of what was loaded. */
    K("pixels",
      LOAD CHECK("%f0") START "cvt.rni.u32.f32 %r5, %f0; sub.u32 %r6, 255, %r5; shr.u32 %r7, %r5, 1;\n"
                              "shl.b32 %r6, %r6, 8; shl.b32 %r7, %r7, 24; or.b32 %r5, %r5, %r6; or.b32 %r5, "
                              "%r5, %r7; or.b32 %r5, %r5, 0x70000;\n"
                              ".pragma \"reprise pixels %r5\"; st.global.u32 [%l2], %r5;\n" END)
    /* Loads that are still on their way. */
    K("pending",
      "mov.u32 %r5, 0; mov.u64 %l4, %l1;\nL: ld.global.f32 %f0, [%l4];\n" CHECK(
          "%f0") "add.u64 %l4, %l4, 32768; add.u32 %r5, %r5, 1; setp.lt.u32 %p0, %r5, 2; @%p0 bra L;\n" START
          F STORE END)
    /* Warps of a pair are in different regions. */
    K("two_regions",
      LOAD CHECK("%f0") CHECK2("%f0") "shr.u32 %r5, %r4, 5; and.b32 %r5, %r5, 1; setp.ne.u32 %p0, %r5, 0;\n"
                                      "@%p0 bra B;\n" START F STORE END "bra DONE;\nB: " START2
                                      "add.f32 %f1, %f0, %f0; add.f32 %f1, %f1, %f1;\n" STORE END)
    /* The partner exits, waits at a barrier, never comes. */
    K("exits",
      LOAD CHECK(
          "%f0") "shr.u32 %r5, %r4, 5; and.b32 %r5, %r5, 1; setp.ne.u32 %p0, %r5, 0; @%p0 bra DONE;\n" START F
          STORE END)
        K("waits",
          LOAD CHECK(
              "%f0") "shr.u32 %r5, %r4, 5; and.b32 %r5, %r5, 1; setp.ne.u32 %p0, %r5, 0; @%p0 bra B;\n" START
              F STORE END "B: bar.sync 0;")
        K("spins",
          LOAD CHECK("%f0") "shr.u32 %r5, %r4, 5; and.b32 %r5, %r5, 1; setp.ne.u32 %p0, %r5, 0; @%p0 bra S;\n" START F STORE END
          "st.volatile.shared.u32 [tile], 1; bra DONE;\n"
          "S: ld.volatile.shared.u32 %r6, [tile]; setp.ne.u32 %p1, %r6, 1; @%p1 bra S;")
    /* The checked load was passed over; of a vector the other half is not alike; thresholds that kernels name. */
    K("absent", "cvt.rn.f32.u32 %f0, %r1; setp.eq.u32 %p0, %r9, 1; @%p0 bra J;\n" LOAD CHECK("%f0") "J: " START F STORE END)
        K("vector", "mul.wide.u32 %l4, %r0, 8; add.u64 %l4, %l0, %l4; ld.global.v2.f32 {%f0, %f2}, [%l4];\n" CHECK("%f0")
          START F "fma.rn.f32 %f1, %f2, 0f3F000000, %f1;\n" STORE END)
            K("named", ".pragma \"reprise threshold 0.01\";\n" LOAD CHECK("%f0") START F STORE END)
    /* A barrier, a divergent branch, nested loops, an approximate branch and a precise load inside. */
    K("barrier", LOAD CHECK("%f0") START F "bar.sync 0; add.f32 %f1, %f1, 0f3F800000;\n" STORE END)
    K("diverges", LOAD CHECK("%f0") START F
      "mov.f32 %f2, %f1; shr.u32 %r5, %r4, 5; add.u32 %r6, %r5, 3; and.b32 %r5, %r5, 1;\n"
      "setp.ne.u32 %p1, %r5, 0; setp.lt.u32 %p0, %r1, %r6; and.pred %p0, %p0, %p1; @%p0 bra E;\n"
      "st.global.f32 [%l2+16384], %f2; mul.lo.u32 %r7, %r1, %r1; add.u32 %r7, %r7, %r6; mul.lo.u32 %r7, %r7, %r7;\n"
      "add.u32 %r7, %r7, %r1; mul.lo.u32 %r7, %r7, %r6; st.global.u32 [%l2+24576], %r7; bra J;\n"
      "E: st.global.f32 [%l2+32768], %f2; mul.lo.u32 %r7, %r6, %r6; add.u32 %r7, %r7, %r1; mul.lo.u32 %r7, %r7, %r7;\n"
      "add.u32 %r7, %r7, %r1; mul.lo.u32 %r7, %r7, %r6; st.global.u32 [%l2+40960], %r7;\n"
      "J: add.f32 %f1, %f1, 0f3F800000;\n" STORE END)
    K("loops", LOAD CHECK("%f0") START
                                     "mov.f32 %f1, 0f00000000; mov.u32 %r5, 0;\nA: mov.u32 %r6, 0;\n"
                                     "B: fma.rn.f32 %f1, %f0, 0f3F000000, %f1; add.u32 %r6, %r6, 1; "
                                     "setp.lt.u32 %p0, %r6, 3; @%p0 bra B;\n"
                                     "add.u32 %r5, %r5, 1; setp.lt.u32 %p0, %r5, 2; @%p0 bra A;\n" STORE END)
        K("branches",
          LOAD CHECK("%f0") START F "setp.gt.f32 %p0, %f0, 0f42CC0000; @%p0 bra J;\n"
                                    "div.rn.f32 %f1, %f1, %f0; add.f32 %f1, %f1, %f0; mul.f32 %f1, %f1, %f1; "
                                    "add.f32 %f1, %f1, %f0; mul.f32 %f1, %f1, %f1;\n"
                                    "J: " STORE END)
            K("skips",
              LOAD CHECK(
                  "%f0") "shr.u32 %r5, %r4, 5; setp.eq.u32 %p0, %r5, %r9; @%p0 bra DONE;\n" START F STORE END)
    /* A guard that is computed inside, a branch at which lanes go where their anchor goes, work for both schedulers. */
    K("guarded", LOAD CHECK("%f0") START F "setp.ge.u32 %p0, %r1, 2; @%p0 st.global.f32 [%l2], %f1;\n" END)
    K("leads", LOAD CHECK("%f0") START F "setp.lt.f32 %p0, %f0, 0f42CC0000; @%p0 bra J;\n"
      "mul.f32 %f1, %f1, %f0; max.f32 %f1, %f1, 0f3F000000; mul.f32 %f1, %f1, %f0; max.f32 %f1, %f1, 0f3F000000; mul.f32 %f1, %f1, %f0; max.f32 %f1, %f1, 0f3F000000; mul.f32 %f1, %f1, %f0; max.f32 %f1, %f1, 0f3F000000;\n"
      "mul.f32 %f1, %f1, %f0; max.f32 %f1, %f1, 0f3F000000; mul.f32 %f1, %f1, %f0; max.f32 %f1, %f1, 0f3F000000; mul.f32 %f1, %f1, %f0; max.f32 %f1, %f1, 0f3F000000; mul.f32 %f1, %f1, %f0; max.f32 %f1, %f1, 0f3F000000;\n"
      "mul.f32 %f1, %f1, %f0; max.f32 %f1, %f1, 0f3F000000; mul.f32 %f1, %f1, %f0; max.f32 %f1, %f1, 0f3F000000; mul.f32 %f1, %f1, %f0; max.f32 %f1, %f1, 0f3F000000; mul.f32 %f1, %f1, %f0; max.f32 %f1, %f1, 0f3F000000;\n"
      "mul.f32 %f1, %f1, %f0; max.f32 %f1, %f1, 0f3F000000; mul.f32 %f1, %f1, %f0; max.f32 %f1, %f1, 0f3F000000; mul.f32 %f1, %f1, %f0; max.f32 %f1, %f1, 0f3F000000; mul.f32 %f1, %f1, %f0; max.f32 %f1, %f1, 0f3F000000;\n"
      "J: " STORE END)
    K("busy", LOAD CHECK("%f0") START "mov.u32 %r5, 0; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0; mov.f32 %f4, %f0; mov.f32 %f5, %f0; mov.f32 %f6, %f0; mov.f32 %f7, %f0; mov.f32 %f8, %f0; \n"
      "mov.f32 %f9, %f0; mov.f32 %f10, %f0; mov.f32 %f11, %f0; mov.f32 %f12, %f0; mov.f32 %f13, %f0; mov.f32 %f14, %f0; mov.f32 %f15, %f0; mov.f32 %f16, %f0; \n"
      "L: fma.rn.f32 %f1, %f0, 0f3F000000, %f1; fma.rn.f32 %f2, %f0, 0f3F000000, %f2; fma.rn.f32 %f3, %f0, 0f3F000000, %f3; fma.rn.f32 %f4, %f0, 0f3F000000, %f4; \n"
      "fma.rn.f32 %f5, %f0, 0f3F000000, %f5; fma.rn.f32 %f6, %f0, 0f3F000000, %f6; fma.rn.f32 %f7, %f0, 0f3F000000, %f7; fma.rn.f32 %f8, %f0, 0f3F000000, %f8; \n"
      "fma.rn.f32 %f9, %f0, 0f3F000000, %f9; fma.rn.f32 %f10, %f0, 0f3F000000, %f10; fma.rn.f32 %f11, %f0, 0f3F000000, %f11; fma.rn.f32 %f12, %f0, 0f3F000000, %f12; \n"
      "fma.rn.f32 %f13, %f0, 0f3F000000, %f13; fma.rn.f32 %f14, %f0, 0f3F000000, %f14; fma.rn.f32 %f15, %f0, 0f3F000000, %f15; fma.rn.f32 %f16, %f0, 0f3F000000, %f16; \n"
      "add.u32 %r5, %r5, 1; setp.lt.u32 %p0, %r5, 40; @%p0 bra L;\n"
      "add.f32 %f1, %f1, %f2; add.f32 %f1, %f1, %f3; add.f32 %f1, %f1, %f4; add.f32 %f1, %f1, %f5; add.f32 %f1, %f1, %f6; add.f32 %f1, %f1, %f7; add.f32 %f1, %f1, %f8; \n"
      "add.f32 %f1, %f1, %f9; add.f32 %f1, %f1, %f10; add.f32 %f1, %f1, %f11; add.f32 %f1, %f1, %f12; add.f32 %f1, %f1, %f13; add.f32 %f1, %f1, %f14; add.f32 %f1, %f1, %f15; add.f32 %f1, %f1, %f16; \n" STORE END)
    /* Refused. */
    K("atomic", LOAD CHECK("%f0") START F "atom.global.add.u32 %r5, [%l2], 1;\n" END)
        K("shuffle",
          LOAD CHECK("%f0") START F "shfl.sync.bfly.b32 %r5, %r1, 1, 31, -1; st.global.u32 [%l2], %r5;\n" END)
            K("vote", LOAD CHECK("%f0") START F
              "setp.gt.u32 %p0, %r1, 3; vote.sync.ballot.b32 %r5, %p0, -1; st.global.u32 [%l2], %r5;\n" END)
                K("leaves", LOAD CHECK("%f0") START F "setp.gt.u32 %p0, %r1, 3; @%p0 bra DONE;\n" STORE END)
                    K("enters",
                      LOAD CHECK("%f0") "setp.gt.u32 %p0, %r1, 3; @%p0 bra J;\n" START F "J: " STORE END)
                        K("endless", LOAD CHECK("%f0") START F STORE)
                            K("startless", LOAD CHECK("%f0") F STORE END)
                                K("nested", LOAD CHECK("%f0") START F START STORE END END)
                                    K("computed", LOAD F CHECK("%f1") START STORE END)
    K("two_thresholds", ".pragma \"reprise threshold 0.1\";\n.pragma \"reprise threshold 0.2\";\n" LOAD CHECK("%f0") START F STORE END)
    K("matches", LOAD CHECK("%f0") START F "match.any.sync.b32 %r5, %r1, -1; st.global.u32 [%l2], %r5;\n" END)
    /* Not approximated: no load, too many regions for one load. */
    K("loadless", LOAD START F STORE END)
        K("five",
          LOAD CHECK("%f0")
              START F STORE END START F STORE END START F STORE END START F STORE END START F STORE END);
/* clang-format on */

#define SET(...) ((const char *const[]){"device.sms=1", __VA_ARGS__, NULL})

static void open_machine(struct rig *r, const char *mech, const char *const *set) {
    rig_open_options(
        r, &(struct rp_options){.gpu = "lnl", .mech = mech, .set = set, .check = true, .watchdog = 200000},
        kernels);
}

/* Input by its number: a ramp, a constant, an edge, noise, infinities beside large numbers, a ramp with noise
 * in between, numbers that differ in their last five bits. */
enum input { RAMP, CONSTANT, EDGE, NOISE, LARGE, HALF, LOW_BITS };

static float input_of(enum input kind, uint32_t t) {
    uint32_t lane = t % WARP;
    switch (kind) {
    case RAMP:
        return 100 + (float)(lane * 1.25);
    case CONSTANT:
        return 0.57f;
    case EDGE:
        return lane < 4 ? 1 : 1000;
    case LARGE:
        return lane % 4 == 2 ? INFINITY : 3e38f;
    case HALF:
        return input_of(t % 2 ? NOISE : RAMP, t);
    case LOW_BITS:
        return 100 * (1 + (float)lane * 0x1p-23f);
    default:
        return 1 + (float)(t * 2654435761u % 1000);
    }
}

static float *words(const struct rig *r) {
    return (float *)(uintptr_t)r->buffer;
}

/* Launches; the first words of the buffer are input, those 8192 words on as well, of another kind if that is
 * given. */
static enum rp_status launch(struct rig *r, const char *kernel, uint32_t grid, uint32_t block,
                             enum input kind, enum input other, char **report) {
    for (uint32_t i = 0; i < RIG_BYTES / 4; i++)
        words(r)[i] = i < 8192 ? input_of(kind, i) : i < 16384 ? input_of(other, i) : -1;
    struct rig_params p = {.buffer = r->buffer, .n = 1, .x = 1};
    return rig_try(r, kernel, grid, block, 0, p, report);
}

static void run(struct rig *r, const char *kernel, uint32_t grid, uint32_t block, enum input kind,
                enum input other) {
    char *report = NULL;
    if (launch(r, kernel, grid, block, kind, other, &report) != RP_OK)
        fail_msg("%s: %s", kernel, report ? report : "?");
    free(report);
    assert_int_equal(rig_counter(r, "check.wrong"), 0);
}

static float f_of(float v) {
    return fmaf(v, v, 1);
}

/* What a lane gets that does not compute: n lanes of a group, anchors at its beginning. */
static float filled(enum input kind, uint32_t t, uint32_t n) {
    uint32_t lane = t % WARP, before = lane / n * n, next = before + n;
    float a = f_of(input_of(kind, before));
    if (next >= WARP)
        return a;
    float b = f_of(input_of(kind, next));
    return a == b ? a : a + (float)(lane - before) / (float)n * (b - a);
}

static void lanes_are_interpolated(void **state) {
    (void)state;
    static const char *const groups[] = {"lnl.group=4", "lnl.group=8", "lnl.group=16"};
    for (uint32_t g = 0; g < 3; g++) {
        struct rig r;
        open_machine(&r, "lnl-nofusion", SET("lnl.threshold=0.3", groups[g]));
        run(&r, "plain", 2, 128, RAMP, RAMP);
        for (uint32_t t = 0; t < 256; t++)
            assert_float_equal(words(&r)[OUT + t], filled(RAMP, t, 4u << g), 0);
        assert_int_equal(rig_counter(&r, "lnl.starts.approximated"), 8);
        assert_int_equal(rig_counter(&r, "lnl.loads.alike"), 8);
        assert_int_equal(rig_counter(&r, "lnl.stores"), 8);
        assert_int_equal(rig_counter(&r, "lnl.filled"), 8 * (32 - 32 / (4u << g)));
        assert_int_equal(rig_counter(&r, "lnl.lanes.gated"), 8 * (32 - 32 / (4u << g)));
        run(&r, "float_lives", 1, 64, RAMP, RAMP);
        for (uint32_t t = 0; t < 64; t++)
            assert_float_equal(words(&r)[OUT + t], filled(RAMP, t, 4u << g) + 1, 0);
        rig_close(&r);
    }
}

static void fills_and_options(void **state) {
    (void)state;
    struct rig r;
    open_machine(&r, "lnl-replicate", SET("lnl.threshold=0.3"));
    run(&r, "plain", 1, 64, RAMP, RAMP);
    for (uint32_t t = 0; t < 64; t++)
        assert_float_equal(words(&r)[OUT + t], f_of(input_of(RAMP, t / 4 * 4)), 0);
    rig_close(&r);
    open_machine(&r, "lnl", SET("lnl.threshold=0.3", "lnl.extrapolate=true"));
    run(&r, "plain", 1, 32, RAMP, RAMP);
    float a = f_of(input_of(RAMP, 24)), b = f_of(input_of(RAMP, 28));
    assert_float_equal(words(&r)[OUT + 31], a + 7.0f / 4 * (b - a), 0);
    rig_close(&r);
    open_machine(&r, "lnl", SET("lnl.threshold=0.3", "lnl.rows=true"));
    run(&r, "plain", 4, 16, RAMP, RAMP); /* rows of 16 lanes; a warp has one here */
    assert_float_equal(words(&r)[OUT + 13], f_of(input_of(RAMP, 12)), 0);
    rig_close(&r);
    open_machine(&r, "lnl", SET("lnl.threshold=0.02", "lnl.metric=relative"));
    run(&r, "plain", 1, 64, RAMP, RAMP); /* 100, 101.25, 102.5, 103.75: not alike by 2% */
    assert_int_equal(rig_counter(&r, "lnl.starts.unlike"), 2);
    rig_close(&r);
}

static const char *const all_kernels[] = {
    "plain",    "sticky",      "mask",     "inside",  "others_store", "paths",       "integers",
    "lives_on", "float_lives", "spilled",  "pixels",  "pending",      "two_regions", "exits",
    "waits",    "barrier",     "diverges", "loops",   "branches",     "skips",       "loadless",
    "absent",   "vector",      "five",     "guarded", "leads",        "busy"};
enum { ALL = sizeof all_kernels / sizeof *all_kernels };
static const uint32_t shapes[][2] = {{1, 32}, {2, 64}, {3, 96}, {2, 40}, {2, 33}, {1, 256}, {5, 160}};

enum { SHAPES = sizeof shapes / sizeof *shapes, RESULTS = 16384 };
static float want[ALL][SHAPES][RESULTS];

static bool fits(uint32_t k, uint32_t s) {
    return strcmp(all_kernels[k], "others_store") || shapes[s][1] == WARP; /* a barrier of one warp */
}

/* Every kernel in every shape is as on the base machine. */
static void expect_base(const char *mech, const char *const *set, enum input kind) {
    for (int base = 1; base >= 0; base--) {
        struct rig r;
        open_machine(&r, base ? "base" : mech, base ? SET("lnl.omit=0") : set);
        for (uint32_t k = 0; k < ALL; k++)
            for (uint32_t s = 0; s < SHAPES; s++) {
                if (!fits(k, s))
                    continue;
                run(&r, all_kernels[k], shapes[s][0], shapes[s][1], kind, kind);
                if (base)
                    memcpy(want[k][s], words(&r) + OUT, sizeof want[k][s]);
                for (uint32_t i = 0; i < RESULTS; i++)
                    if (memcmp(&words(&r)[OUT + i], &want[k][s][i], sizeof want[k][s][i]))
                        fail_msg("%s, %s, block %u: word %u is %g, must be %g", mech, all_kernels[k],
                                 shapes[s][1], i, words(&r)[OUT + i], want[k][s][i]);
            }
        rig_close(&r);
    }
}

static const char *const models[] = {"lnl", "lnl-nofusion", "lnl-replicate"};

static void nothing_is_alike_at_0(void **state) {
    (void)state;
    for (uint32_t m = 0; m < 3; m++) {
        expect_base(models[m], SET("lnl.threshold=0"), RAMP);
        expect_base(models[m], SET("lnl.threshold=0"), NOISE);
    }
    expect_base("warp-approx", SET("lnl.low_bits=0"), NOISE);
    expect_base("warp-approx", SET("lnl.low_bits=0"), CONSTANT);
}

static void constant_input_is_exact(void **state) {
    (void)state;
    for (uint32_t m = 0; m < 3; m++) {
        expect_base(models[m], SET("lnl.threshold=0.5"), CONSTANT);
        expect_base(models[m], SET("lnl.threshold=0.01", "lnl.group=16"), CONSTANT);
    }
    expect_base("warp-approx", SET("lnl.low_bits=16"), CONSTANT);
}

/* Where loads are not alike nothing is approximated, whatever the threshold allows elsewhere. */
static void noise_is_exact(void **state) {
    (void)state;
    expect_base("lnl", SET("lnl.threshold=0.01"), NOISE);
}

/* What a kernel leaves with one rule left out. */
static void run_without(const char *mech, enum lnl_rule rule, const char *kernel, uint32_t block,
                        enum input kind, enum input other, float *to) {
    struct rig r;
    char omit[32];
    snprintf(omit, sizeof omit, "lnl.omit=%d", (int)rule);
    open_machine(&r, mech, SET("lnl.threshold=0.3", omit));
    char *report = NULL;
    enum rp_status s = launch(&r, kernel, 1, block, kind, other, &report);
    free(report);
    memcpy(to, words(&r), RIG_BYTES);
    if (s != RP_OK)
        to[OUT] = NAN;
    rig_close(&r);
}

/* What is approximated is what is stored, and never where: no word is written that the base machine does not
 * write, none is left out, and no input changes. */
static void nothing_else_changes(void **state) {
    (void)state;
    static float base[RIG_BYTES / 4], got[RIG_BYTES / 4];
    for (uint32_t m = 0; m < 3; m++) {
        uint32_t differ = 0;
        for (uint32_t k = 0; k < ALL; k++) {
            uint32_t block = fits(k, 5) ? 256 : 32;
            run_without("base", 0, all_kernels[k], block, RAMP, RAMP, base);
            run_without(models[m], 0, all_kernels[k], block, RAMP, RAMP, got);
            for (uint32_t i = 0; i < RIG_BYTES / 4; i++) {
                if (i < OUT ? base[i] != got[i] : (base[i] == -1) != (got[i] == -1))
                    fail_msg("%s, %s: word %u is %g, on the base machine %g", models[m], all_kernels[k], i,
                             got[i], base[i]);
                differ += memcmp(&base[i], &got[i], sizeof *got) != 0;
            }
        }
        assert_true(differ > 0);
    }
}

/* The kernel's words from first on are as wanted with the rule, and not without it. */
static void rule_matters(const char *mech, enum lnl_rule rule, const char *kernel, uint32_t block,
                         enum input kind, enum input other, float (*value)(uint32_t t), uint32_t first) {
    static float got[RIG_BYTES / 4];
    for (int omit = 0; omit < 2; omit++) {
        uint32_t wrong = 0;
        run_without(mech, omit ? rule : (enum lnl_rule)0, kernel, block, kind, other, got);
        for (uint32_t t = 0; t < block; t++) {
            float w = value(t);
            wrong += memcmp(&got[first + t], &w, sizeof w) != 0;
        }
        if (!wrong != !omit)
            fail_msg("%s: %u words wrong %s rule %x", kernel, wrong, omit ? "without" : "with",
                     (unsigned)rule);
    }
}

static float exact_plain(uint32_t t) {
    return f_of(input_of(RAMP, t));
}
static float noisy(uint32_t t) {
    return f_of(input_of(NOISE, t + 8192));
}
static float of_mask(uint32_t t) {
    return t % WARP < 16 ? f_of(input_of(RAMP, t)) : f_of((float)(t % WARP) * 50);
}
static float of_others(uint32_t t) {
    return t % 4 ? filled(RAMP, t, 4) : -1;
}
static float of_paths(uint32_t t) {
    if (t % WARP >= 16)
        return 2 * input_of(RAMP, t);
    return t % WARP < 12 ? filled(RAMP, t, 4) : f_of(input_of(RAMP, 12));
}
static float of_integers(uint32_t t) {
    uint32_t v = ((uint32_t)(int32_t)rintf(f_of(input_of(RAMP, t))) << 3) ^ t % WARP;
    float f;
    memcpy(&f, &v, sizeof f);
    return f;
}
static float of_lives_on(uint32_t t) {
    float v = f_of(input_of(RAMP, t)), f;
    uint32_t w = (uint32_t)(int32_t)rintf(v) * 16 + (v > 8192 ? 1 : 2);
    memcpy(&f, &w, sizeof f);
    return f;
}
static float of_plain(uint32_t t) {
    return filled(RAMP, t, 4);
}
static float of_pixels(uint32_t t) {
    uint32_t v = 0, lane = t % WARP, before = lane / 4 * 4, next = before < 28 ? before + 4 : before;
    uint32_t at[2];
    for (int k = 0; k < 2; k++) {
        uint32_t x = (uint32_t)rintf(input_of(RAMP, k ? next : before));
        at[k] = x | (255 - x) << 8 | 7 << 16 | x / 2 << 24;
    }
    for (uint32_t k = 0; k < 32; k += 8) {
        double a = at[0] >> k & 255, b = at[1] >> k & 255;
        v |= (uint32_t)lround(a + (lane - before) * (b - a) / 4) << k;
    }
    float f;
    memcpy(&f, &v, sizeof f);
    return f;
}
static float of_guarded(uint32_t t) {
    return t % WARP < 2 ? -1 : filled(RAMP, t, 4);
}
static float of_large(uint32_t t) {
    return input_of(LARGE, t) * 0x1p-100f;
}
static float of_two(uint32_t t) {
    if (t % 64 < 32)
        return filled(RAMP, t, 4);
    uint32_t lane = t % WARP, before = lane / 4 * 4, next = before < 28 ? before + 4 : before;
    float a = 4 * input_of(RAMP, before), b = 4 * input_of(RAMP, next);
    return a + (float)(lane - before) / 4 * (b - a);
}
static float of_alone(uint32_t t) {
    return t % 64 < 32 ? filled(RAMP, t, 4) : -1;
}

static void every_rule_matters(void **state) {
    (void)state;
    rule_matters("lnl-nofusion", LNL_MASK, "mask", 64, RAMP, RAMP, of_mask, OUT);
    rule_matters("lnl-nofusion", LNL_INSIDE, "inside", 64, RAMP, NOISE, noisy, OUT + 4096);
    rule_matters("lnl-nofusion", LNL_ANCHORS, "others_store", 32, RAMP, RAMP, of_others, OUT);
    rule_matters("lnl-nofusion", LNL_PATHS, "paths", 32, RAMP, RAMP, of_paths, OUT);
    rule_matters("lnl-nofusion", LNL_FLOATS, "integers", 64, RAMP, RAMP, of_integers, OUT + 4096);
    rule_matters("lnl-nofusion", LNL_SPILLS, "spilled", 64, RAMP, RAMP, of_plain, OUT);
    rule_matters("lnl-nofusion", LNL_BYTES, "pixels", 64, RAMP, RAMP, of_pixels, OUT);
    rule_matters("lnl-nofusion", LNL_WAIT, "pending", 64, RAMP, NOISE, noisy, OUT);
    rule_matters("lnl-nofusion", LNL_FINITE, "scaled", 64, LARGE, LARGE, of_large, OUT);
    rule_matters("lnl", LNL_SAME, "two_regions", 64, RAMP, RAMP, of_two, OUT);
    rule_matters("lnl", LNL_RELEASE, "exits", 64, RAMP, RAMP, of_alone, OUT);
    rule_matters("lnl", LNL_RELEASE, "waits", 64, RAMP, RAMP, of_alone, OUT);
}

/* A warp whose partner waits for it in a loop goes on alone when its time is over, and otherwise never. */
static void spinning_partners_are_left(void **state) {
    (void)state;
    enum { LONG = 20000 };
    for (int omit = 0; omit < 2; omit++) {
        struct rig r;
        char set[32];
        snprintf(set, sizeof set, "lnl.omit=%d", omit ? LNL_RELEASE : 0);
        open_machine(&r, "lnl", SET("lnl.threshold=0.3", set));
        r.g->opt.max_cycles = LONG;
        run(&r, "spins", 1, 64, RAMP, RAMP);
        assert_int_equal(r.cycles >= LONG, omit);
        assert_int_equal(rig_counter(&r, "lnl.pairs.releases"), !omit);
        for (uint32_t t = 0; !omit && t < 64; t++)
            assert_float_equal(words(&r)[OUT + t], of_alone(t), 0);
        rig_close(&r);
    }
}

/* A constant image stays what it is; a weighted sum of its ends would be another number. */
static void equal_ends_are_kept(void **state) {
    (void)state;
    for (int omit = 0; omit < 2; omit++) {
        struct rig r;
        char set[32];
        snprintf(set, sizeof set, "lnl.omit=%d", omit ? LNL_EXACT : 0);
        open_machine(&r, "lnl-nofusion", SET("lnl.threshold=0.3", "lnl.group=16", set));
        run(&r, "plain", 1, 64, CONSTANT, CONSTANT);
        uint32_t wrong = 0;
        for (uint32_t t = 0; t < 64; t++)
            wrong += words(&r)[OUT + t] != f_of(0.57f);
        assert_int_equal(wrong, omit ? 4 : 0);
        rig_close(&r);
    }
}

static void integers_stay_exact(void **state) {
    (void)state;
    struct rig r;
    open_machine(&r, "lnl", SET("lnl.threshold=0.3"));
    run(&r, "lives_on", 1, 64, RAMP, RAMP);
    for (uint32_t t = 0; t < 64; t++) {
        float w = of_lives_on(t);
        assert_memory_equal(&words(&r)[OUT + 4096 + t], &w, sizeof w);
        assert_float_equal(words(&r)[OUT + t], exact_plain(t), 0); /* so that all of it is precise */
    }
    rig_close(&r);
}

/* An entry serves a region in a loop in every round; without the rule in the first alone. */
static void entries_are_sticky(void **state) {
    (void)state;
    for (int omit = 0; omit < 2; omit++) {
        struct rig r;
        char set[32];
        snprintf(set, sizeof set, "lnl.omit=%d", omit ? LNL_STICKY : 0);
        open_machine(&r, "lnl-nofusion", SET("lnl.threshold=0.3", set));
        run(&r, "sticky", 1, 128, RAMP, RAMP);
        assert_int_equal(rig_counter(&r, "lnl.starts"), 12);
        assert_int_equal(rig_counter(&r, "lnl.starts.approximated"), omit ? 4 : 12);
        rig_close(&r);
    }
}

/* Every group of an edge is constant; only comparing anchors tells that interpolation across it is hundreds
 * off. */
static void edges_are_kept(void **state) {
    (void)state;
    for (int edges = 0; edges < 2; edges++) {
        struct rig r;
        open_machine(&r, "lnl-nofusion",
                     SET("lnl.threshold=0.3", edges ? "lnl.edges=true" : "lnl.edges=false"));
        run(&r, "plain", 1, 32, EDGE, EDGE);
        assert_int_equal(rig_counter(&r, "lnl.starts.approximated"), 1);
        float off = words(&r)[OUT + 2] - f_of(1);
        assert_true(edges ? off == 0 : off > 100);
        rig_close(&r);
    }
}

static void expect_refused(const char *kernel, const char *const *set, const char *why) {
    struct rig r;
    char *report = NULL;
    open_machine(&r, "lnl", set);
    enum rp_status s = launch(&r, kernel, 1, 32, RAMP, RAMP, &report);
    if (s == RP_OK || !report || !strstr(report, why) || !strstr(report, ":"))
        fail_msg("%s: status %d, %s", kernel, s, report ? report : "no report");
    free(report);
    rig_close(&r);
}

static void bad_regions_are_refused(void **state) {
    (void)state;
    const char *const *set = SET("lnl.threshold=0.3");
    expect_refused("atomic", set, "an atomic operation");
    expect_refused("shuffle", set, "a shuffle, vote or match");
    expect_refused("vote", set, "a shuffle, vote or match");
    expect_refused("leaves", set, "leave before its end");
    expect_refused("enters", set, "entered behind its start");
    expect_refused("endless", set, "leave before its end");
    expect_refused("startless", set, "that has no start");
    expect_refused("nested", set, "begins before another has ended");
    expect_refused("matches", set, "a shuffle, vote or match");
    expect_refused("computed", set, "was not loaded");
    expect_refused("two_thresholds", set, "a kernel has one threshold");
    expect_refused("others_compute", set, "only some of its threads compute");
    expect_refused("index", set, "may have stored it approximately");
}

/* Without these rules such kernels run, and what they leave is wrong. */
static void refusals_are_needed(void **state) {
    (void)state;
    static float got[RIG_BYTES / 4], base[RIG_BYTES / 4];
    run_without("base", 0, "others_compute", 32, RAMP, RAMP, base);
    run_without("lnl-nofusion", LNL_PLACES, "others_compute", 32, RAMP, RAMP, got);
    uint32_t far = 0;
    for (uint32_t t = 0; t < 32; t++)
        far += fabsf(got[OUT + t] / base[OUT + t] - 1) > 0.5f;
    assert_true(far > 8);
    run_without("base", 0, "index", 32, RAMP, RAMP, base);
    run_without("lnl-nofusion", LNL_MEMORY, "index", 32, RAMP, RAMP, got);
    uint32_t elsewhere = 0; /* stored where nothing should be, or not stored */
    for (uint32_t i = OUT; i < OUT + 1024; i++)
        elsewhere += (got[i] == -1) != (base[i] == -1);
    assert_true(elsewhere > 0);
}

static void regions_that_are_not_approximated(void **state) {
    (void)state;
    struct rig r;
    open_machine(&r, "lnl-nofusion", SET("lnl.threshold=0.3"));
    run(&r, "loadless", 1, 32, RAMP, RAMP);
    assert_int_equal(rig_counter(&r, "lnl.starts"), 0);
    run(&r, "five", 1, 32, RAMP, RAMP);
    assert_int_equal(rig_counter(&r, "lnl.starts"), 4);
    assert_int_equal(rig_counter(&r, "lnl.starts.approximated"), 4);
    rig_close(&r);
}

/* Loads of other lanes say nothing of these. */
static void unknown_loads_count(void **state) {
    (void)state;
    struct rig r;
    open_machine(&r, "lnl-nofusion", SET("lnl.threshold=0.3"));
    run(&r, "mask", 1, 64, RAMP, RAMP);
    assert_int_equal(rig_counter(&r, "lnl.starts.unknown"), 2);
    rig_close(&r);
}

/* A load that did not come says nothing, and of a vector every component counts. */
static void every_load_must_say_so(void **state) {
    (void)state;
    struct rig r;
    open_machine(&r, "lnl-nofusion", SET("lnl.threshold=0.3"));
    run(&r, "absent", 1, 64, RAMP, RAMP);
    assert_int_equal(rig_counter(&r, "lnl.starts.unknown"), 2);
    for (uint32_t t = 0; t < 64; t++)
        assert_float_equal(words(&r)[OUT + t], f_of((float)(t % WARP)), 0);
    run(&r, "vector", 1, 64, HALF, HALF);
    assert_int_equal(rig_counter(&r, "lnl.starts.unlike"), 2);
    for (uint32_t t = 0; t < 64; t++)
        assert_float_equal(words(&r)[OUT + t],
                           fmaf(input_of(HALF, 2 * t + 1), 0.5f, f_of(input_of(HALF, 2 * t))), 0);
    run(&r, "vector", 1, 64, RAMP, RAMP);
    assert_int_equal(rig_counter(&r, "lnl.starts.approximated"), 2);
    rig_close(&r);
}

/* The threshold is the kernel's, unless the machine has one. */
static void kernels_name_thresholds(void **state) {
    (void)state;
    for (int own = 0; own < 2; own++) {
        struct rig r;
        open_machine(&r, "lnl-nofusion", SET(own ? "lnl.threshold=0.3" : "lnl.threshold=-1"));
        run(&r, "named", 1, 64, RAMP, RAMP); /* values are up to 3.75% apart */
        assert_int_equal(rig_counter(&r, "lnl.starts.approximated"), own ? 2 : 0);
        run(&r, "plain", 1, 64, RAMP, RAMP); /* 10% where nobody says */
        assert_int_equal(rig_counter(&r, "lnl.starts.approximated"), 2);
        rig_close(&r);
    }
}

static uint64_t cycles_of(const char *mech, const char *set, const char *kernel, uint32_t block) {
    struct rig r;
    open_machine(&r, mech, SET("lnl.threshold=0.3", set));
    run(&r, kernel, 1, block, RAMP, RAMP);
    uint64_t cycles = r.cycles;
    rig_close(&r);
    return cycles;
}

/* A checked load takes three cycles more, and an interpolated store passes the unit twice. */
static void checks_and_stores_take_time(void **state) {
    (void)state;
    uint64_t usual = cycles_of("lnl-nofusion", "lnl.omit=0", "plain", 32);
    assert_int_equal(cycles_of("lnl-nofusion", "lnl.check.cycles=3", "plain", 32), usual);
    assert_true(cycles_of("lnl-nofusion", "lnl.check.cycles=0", "plain", 32) < usual);
    assert_int_equal(cycles_of("lnl-nofusion", "lnl.check.cycles=43", "plain", 32), usual + 40);
    usual = cycles_of("lnl-nofusion", "lnl.store.passes=2", "sticky", 512);
    assert_int_equal(cycles_of("lnl-nofusion", "lnl.omit=0", "sticky", 512), usual);
    assert_true(cycles_of("lnl-nofusion", "lnl.store.passes=8", "sticky", 512) > usual);
}

static uint64_t slots_of(const char *mech, const char *set, const char *kernel) {
    struct rig r;
    open_machine(&r, mech, SET(set));
    run(&r, kernel, 1, 256, CONSTANT, CONSTANT);
    uint64_t n = rig_counter(&r, "sm.insts.warp");
    rig_close(&r);
    return n;
}

/* Guards are computed for all lanes. At other branches lanes whose predicate nobody computed go where their
 * anchor goes: an approximated warp executes no more than one that is not. */
static void guards_and_branches(void **state) {
    (void)state;
    struct rig r;
    open_machine(&r, "lnl-nofusion", SET("lnl.threshold=0.3"));
    run(&r, "guarded", 1, 64, RAMP, RAMP);
    for (uint32_t t = 0; t < 64; t++)
        assert_float_equal(words(&r)[OUT + t], of_guarded(t), 0);
    assert_int_equal(rig_counter(&r, "lnl.starts.approximated"), 2);
    rig_close(&r);
    assert_int_equal(slots_of("lnl-nofusion", "lnl.threshold=0.3", "leads"),
                     slots_of("lnl-nofusion", "lnl.threshold=0", "leads"));
}

/* Pairs are spread over the schedulers, or what fusion saves one of them the other does not get. */
static void fusion_saves_time(void **state) {
    (void)state;
    uint64_t alone = cycles_of("lnl-nofusion", "lnl.omit=0", "busy", 512),
             fused = cycles_of("lnl", "lnl.omit=0", "busy", 512);
    if (fused > alone * 2 / 3)
        fail_msg("%u cycles fused, %u alone", (unsigned)fused, (unsigned)alone);
}

/* Warp Approximation: operands that differ in their last five bits are alike if those do not count, and one
 * lane's result is all lanes'. */
static void low_bits_do_not_count(void **state) {
    (void)state;
    static const char *const bits[] = {"lnl.low_bits=4", "lnl.low_bits=8"};
    for (uint32_t b = 0; b < 2; b++) {
        struct rig r;
        open_machine(&r, "warp-approx", SET(bits[b]));
        run(&r, "plain", 1, 64, LOW_BITS, LOW_BITS);
        for (uint32_t t = 0; t < 64; t++)
            assert_float_equal(words(&r)[OUT + t], f_of(input_of(LOW_BITS, b ? 0 : t)), 0);
        assert_int_equal(rig_counter(&r, "lnl.operands.alike") > 0, b);
        rig_close(&r);
    }
}

/* Whenever warps stop waiting for their partner, they compute the same. */
static void time_out_changes_no_value(void **state) {
    (void)state;
    static float alone[RIG_BYTES / 4];
    uint64_t splits = 0, releases = 0;
    run_without("lnl-nofusion", 0, "diverges", 256, RAMP, RAMP, alone);
    for (uint32_t cycles = 1; cycles < 200; cycles += 7) {
        struct rig r;
        char set[32];
        snprintf(set, sizeof set, "lnl.timeout=%u", cycles);
        open_machine(&r, "lnl", SET("lnl.threshold=0.3", set));
        run(&r, "diverges", 1, 256, RAMP, RAMP);
        assert_memory_equal(words(&r), alone, RIG_BYTES);
        splits += rig_counter(&r, "lnl.pairs.splits");
        releases += rig_counter(&r, "lnl.pairs.releases");
        rig_close(&r);
    }
    assert_true(splits > 0);
    assert_true(releases > 0);
}

/* Fusion changes when things happen, and nothing that is computed; it saves slots. */
static void fusion_computes_the_same(void **state) {
    (void)state;
    static float alone[RIG_BYTES / 4], fused[RIG_BYTES / 4];
    for (uint32_t k = 0; k < ALL; k++) {
        uint32_t block = strcmp(all_kernels[k], "others_store") ? 256 : 32;
        run_without("lnl-nofusion", 0, all_kernels[k], block, RAMP, RAMP, alone);
        run_without("lnl", 0, all_kernels[k], block, RAMP, RAMP, fused);
        for (uint32_t i = 0; i < RIG_BYTES / 4; i++)
            if (memcmp(&alone[i], &fused[i], sizeof *alone))
                fail_msg("%s: word %u is %g fused, %g alone", all_kernels[k], i, fused[i], alone[i]);
    }
    struct rig r;
    open_machine(&r, "lnl-nofusion", SET("lnl.threshold=0.3"));
    run(&r, "loops", 1, 256, RAMP, RAMP);
    uint64_t slots = rig_counter(&r, "sm.insts.warp");
    rig_close(&r);
    open_machine(&r, "lnl", SET("lnl.threshold=0.3"));
    run(&r, "loops", 1, 256, RAMP, RAMP);
    assert_int_equal(rig_counter(&r, "lnl.pairs"), 4);
    assert_true(rig_counter(&r, "lnl.fused") > 0);
    assert_int_equal(rig_counter(&r, "sm.insts.warp") + rig_counter(&r, "lnl.fused") +
                         rig_counter(&r, "lnl.pairs.precise"),
                     slots);
    run(&r, "diverges", 1, 256, RAMP, RAMP);
    assert_int_equal(rig_counter(&r, "lnl.pairs"), 4);
    rig_close(&r);
}

/* Fused or not, the banks serve the reads and writes of both warps. */
static void fused_operands_take_the_banks(void **state) {
    (void)state;
    uint64_t reads[2], writes[2];
    for (int fused = 0; fused < 2; fused++) {
        struct rig r;
        open_machine(&r, fused ? "lnl" : "lnl-nofusion", SET("lnl.threshold=0.3"));
        run(&r, "loops", 1, 256, RAMP, RAMP);
        reads[fused] = rig_counter(&r, "rf.reads");
        writes[fused] = rig_counter(&r, "rf.writes");
        assert_int_equal(rig_counter(&r, "lnl.fused") > 0, fused);
        rig_close(&r);
    }
    assert_int_equal(reads[1], reads[0]);
    assert_int_equal(writes[1], writes[0]);
}

/* Wherever timing is cut, a warp that had begun a region leaves what it would have left, and the others what
 * the base machine leaves: what came to the end of the region untimed is not counted. */
static void cuts_end_regions(void **state) {
    (void)state;
    static const char *const cut_kernels[] = {"plain",    "float_lives", "barrier", "loops",   "pixels",
                                              "diverges", "branches",    "paths",   "integers"};
    static float base[RIG_BYTES / 4], whole[RIG_BYTES / 4];
    uint32_t mixed = 0;
    for (uint32_t k = 0; k < sizeof cut_kernels / sizeof *cut_kernels; k++) {
        uint32_t block = strcmp(cut_kernels[k], "paths") ? 256 : 32;
        run_without("base", 0, cut_kernels[k], block, RAMP, RAMP, base);
        run_without("lnl", 0, cut_kernels[k], block, RAMP, RAMP, whole);
        for (uint64_t n = 1;; n += 3) {
            struct rig r;
            open_machine(&r, "lnl", SET("lnl.threshold=0.3"));
            r.g->opt.max_cycles = n;
            run(&r, cut_kernels[k], 1, block, RAMP, RAMP);
            uint32_t approximated = 0;
            for (uint32_t w = 0; w < block / WARP; w++) {
                bool as_base = true, as_whole = true;
                for (uint32_t i = OUT + w * WARP; i < RIG_BYTES / 4; i += 4096)
                    for (uint32_t l = 0; l < WARP; l++) {
                        as_base &= !memcmp(&words(&r)[i + l], &base[i + l], sizeof *base);
                        as_whole &= !memcmp(&words(&r)[i + l], &whole[i + l], sizeof *base);
                    }
                if (!as_base && !as_whole)
                    fail_msg("%s, cut after %u cycles: warp %u is neither exact nor approximated",
                             cut_kernels[k], (unsigned)n, w);
                approximated += as_whole && !as_base;
            }
            mixed += approximated && rig_counter(&r, "lnl.stores") < approximated;
            assert_true(approximated <= rig_counter(&r, "lnl.starts.approximated"));
            bool over = r.cycles < n;
            rig_close(&r);
            if (over)
                break;
        }
    }
    assert_true(mixed > 0);
}

/* Profiles count what they look at, and that the units' reciprocals are as near as the paper says. */
static void profiles_count(void **state) {
    (void)state;
    struct rig r;
    open_machine(&r, "lnl-nofusion", SET("lnl.threshold=0", "lnl.profile=true"));
    run(&r, "plain", 1, 64, RAMP, RAMP);
    assert_int_equal(rig_counter(&r, "lnl.profile.loads"), 2);
    assert_int_equal(rig_counter(&r, "lnl.profile.load.lanes"), 48);
    assert_int_equal(rig_counter(&r, "lnl.profile.store.lanes"), 48);
    uint64_t loads = rig_counter(&r, "lnl.profile.load.distance"),
             stores = rig_counter(&r, "lnl.profile.store.distance");
    assert_true(loads > 0 && stores > loads); /* f is a square */
    assert_int_equal(rig_counter(&r, "lnl.profile.units"), 1);
    assert_int_equal(rig_counter(&r, "lnl.profile.reciprocal"), 33203);
    assert_int_equal(rig_counter(&r, "lnl.profile.reciprocal.56"), 33203);
    assert_int_equal(rig_counter(&r, "lnl.profile.reciprocal.0"), 7110);
    rig_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_are_interpolated),
        cmocka_unit_test(fills_and_options),
        cmocka_unit_test(nothing_is_alike_at_0),
        cmocka_unit_test(constant_input_is_exact),
        cmocka_unit_test(noise_is_exact),
        cmocka_unit_test(nothing_else_changes),
        cmocka_unit_test(every_rule_matters),
        cmocka_unit_test(equal_ends_are_kept),
        cmocka_unit_test(integers_stay_exact),
        cmocka_unit_test(entries_are_sticky),
        cmocka_unit_test(edges_are_kept),
        cmocka_unit_test(bad_regions_are_refused),
        cmocka_unit_test(refusals_are_needed),
        cmocka_unit_test(regions_that_are_not_approximated),
        cmocka_unit_test(unknown_loads_count),
        cmocka_unit_test(time_out_changes_no_value),
        cmocka_unit_test(fusion_computes_the_same),
        cmocka_unit_test(fused_operands_take_the_banks),
        cmocka_unit_test(cuts_end_regions),
        cmocka_unit_test(profiles_count),
        cmocka_unit_test(every_load_must_say_so),
        cmocka_unit_test(kernels_name_thresholds),
        cmocka_unit_test(checks_and_stores_take_time),
        cmocka_unit_test(low_bits_do_not_count),
        cmocka_unit_test(spinning_partners_are_left),
        cmocka_unit_test(guards_and_branches),
        cmocka_unit_test(fusion_saves_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
