/* Kernels in which DAC gives a wrong answer, or none, if one of its rules is left out (test_dac.c). */
#ifndef REPRISE_TEST_DAC_HAZARDS_H
#define REPRISE_TEST_DAC_HAZARDS_H

#include "mech/dac/params.h"
#include "mech_rig.h"

enum { WORDS = 65536, THREADS = 64, GRID = 4 };

/* Kernels take a buffer of WORDS words, word i = i, and n and x; %l0 is the buffer, %l1 the thread's own word
 * in its first half, %r0 tid.x, %r8 n, %r9 x. What is compared is the second half. */
#define SELF                                                                                                 \
    "mov.u32 %r14, %ctaid.x; mad.lo.u32 %r14, %r14, 64, %r0; mul.wide.u32 %l2, %r14, 4; add.u64 %l2, %l0, "  \
    "%l2;\n"
/* The same in blocks of 16 x 4 threads; %r15 is tid.y. */
#define SELF_ROWS                                                                                            \
    "mov.u32 %r15, %tid.y; mov.u32 %r14, %ctaid.x; shl.b32 %r14, %r14, 2; add.u32 %r14, %r14, %r15;\n"       \
    "mad.lo.u32 %r14, %r14, 16, %r0; mul.wide.u32 %l2, %r14, 4; add.u64 %l2, %l0, %l2;\n"
/* Waits for long, in a loop of %r1 rounds and perhaps one more, as data say. */
#define DELAY                                                                                                \
    "mov.u32 %r13, 0;\nW: ld.global.u32 %r12, [%l1+8192]; and.b32 %r12, %r12, 1; add.u32 %r12, %r12, %r1;\n" \
    "add.u32 %r13, %r13, 1; setp.lt.u32 %p2, %r13, %r12; @%p2 bra W;\n"
/* Block 0 stores to a line, and then a flag. The others look at the flag much later, in this way, so that
 * they find it set, and then at the line. */
#define FLAGGED(name, look)                                                                                  \
    KERNEL(name,                                                                                             \
           "mov.u32 %r3, %ctaid.x; setp.ne.u32 %p0, %r3, 0; add.u64 %l2, %l1, 200000; @%p0 bra L;\n"         \
           "ld.global.u32 %r4, [%l1+4096]; add.u32 %r4, %r4, 5; st.global.u32 [%l2], %r4; membar.gl;\n"      \
           "st.volatile.global.u32 [%l0+16], 77; exit;\nL: mov.u32 %r1, 200;\n" DELAY look                   \
           "ld.global.u32 %r5, [%l2]; setp.eq.u32 %p1, %r2, 77; selp.b32 %r5, %r5, 1, %p1;\n"                \
           "mad.lo.u32 %r3, %r3, 64, %r0; mul.wide.u32 %l3, %r3, 4; add.u64 %l3, %l0, %l3;\n"                \
           "st.global.u32 [%l3+131072], %r5;")

static const char text[] = KERNELS
    /* A function that is called stores what is loaded behind it. */
    ".func twice (.param .b64 place, .param .b32 number)\n{ .reg .pred %p; .reg .b32 %a, %in; .reg .b64 "
    "%to;\n"
    "ld.param.b32 %in, [number]; ld.param.b64 %to, [place]; mul.lo.u32 %a, %in, %in; setp.gt.u32 %p, %a, "
    "50;\n"
    "@%p bra LARGE; add.u32 %a, %a, 7;\nLARGE: add.u32 %a, %a, %in; st.global.b32 [%to+131072], %a; ret; "
    "}\n" KERNEL(
        "calls", SELF
        "ld.global.u32 %r1, [%l1+64]; { .param .b64 a; .param .b32 b; st.param.b64 [a], %l2;\n"
        "st.param.b32 [b], %r1; call twice, (a, b); } ld.global.u32 %r2, [%l2+131072]; add.u32 %r2, %r2, 1;\n"
        "st.global.u32 [%l2+147456], %r2;")
        FLAGGED("flag_volatile", "ld.volatile.global.u32 %r2, [%l0+16];\n")
            FLAGGED("flag_cv", "ld.global.cv.u32 %r2, [%l0+16];\n")
                FLAGGED("flag_cg", "ld.global.cg.u32 %r2, [%l0+16];\n")
                    FLAGGED("flag_atomic", "atom.global.add.u32 %r2, [%l0+16], 0;\n")
                        FLAGGED("flag_fence",
                                "cvt.u64.u32 %l3, %r12; shr.u64 %l3, %l3, 20; add.u64 %l3, %l0, %l3;\n"
                                "ld.global.u32 %r2, [%l3+16]; membar.gl;\n")
    /* A thread loads again what it has stored: behind a barrier that not all ways pass. */
    KERNEL("paths", SELF
           "mov.u32 %r1, 200;\n" DELAY "st.global.u32 [%l2+131072], %r0; setp.lt.u32 %p0, %r8, 100;\n"
           "mov.u32 %r3, 0; @%p0 bra J;\nL: bar.sync 0; add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, %r8;\n"
           "@%p1 bra L; st.global.u32 [%l2+147456], %r3;\nJ: ld.global.u32 %r2, [%l2+131072]; add.u32 "
           "%r2, %r2, 9;\n"
           "st.global.u32 [%l2+139264], %r2;")
    /* What another lane of the warp has stored, without a barrier of the block. */
    KERNEL("mates",
           SELF "mov.u32 %r1, 200;\n" DELAY "st.global.u32 [%l2+131072], %r0; bar.warp.sync 0xffffffff;\n"
                "and.b32 %r3, %r0, 31; setp.ne.u32 %p0, %r3, 0; mov.u32 %r2, 5; @%p0 ld.global.u32 %r2, "
                "[%l2+131068];\n"
                "st.global.u32 [%l2+139264], %r2;")
    /* One warp stores between the words of lines that are locked for another. */
    KERNEL(
        "between",
        "mul.wide.u32 %l2, %r0, 8; and.b32 %r1, %r0, 31; mul.wide.u32 %l3, %r1, 8; add.u64 %l3, %l0, %l3;\n"
        "add.u64 %l2, %l0, %l2; add.u64 %l3, %l3, 131072; mov.u32 %r3, %ctaid.x; shl.b32 %r1, %r3, 12;\n"
        "cvt.u64.u32 %l1, %r1; add.u64 %l3, %l3, %l1; add.u64 %l2, %l2, %l1; add.u64 %l1, %l0, 64;\n"
        "shr.u32 %r1, %r0, 5; mul.lo.u32 %r1, %r1, 200;\n" DELAY
        "ld.global.u32 %r4, [%l3]; ld.global.u32 %r5, [%l3+256]; add.u32 %r4, %r4, %r5;\n"
        "st.global.u32 [%l3+4], %r4; st.global.u32 [%l2+147456], %r4;")
    /* Rows of 16 threads, two in a warp: its first and last thread decide for none in between. */
    KERNEL("rows", SELF_ROWS
           "mad.lo.u32 %r1, %r15, 100, %r0; setp.lt.u32 %p0, %r1, 50; @%p0 st.global.u32 [%l2+131072], %r1;\n"
           "setp.lt.u32 %p1, %r0, 12; @%p1 st.global.u32 [%l2+139264], %r1;")
    /* Rows that share a line, lie apart, and go backwards. */
    KERNEL(
        "pitches", SELF_ROWS
        "mul.wide.u32 %l3, %r15, 64; add.u64 %l3, %l3, %l1; ld.global.u32 %r1, [%l3+4];\n"
        "mul.wide.u32 %l3, %r15, 1000; add.u64 %l3, %l3, %l1; ld.global.u32 %r2, [%l3];\n"
        "sub.u32 %r3, 3, %r15; mul.wide.u32 %l3, %r3, 516; sub.u64 %l3, %l3, %l1; add.u64 %l3, %l3, %l0;\n"
        "add.u64 %l3, %l3, %l0; ld.global.u32 %r3, [%l3+260]; mul.wide.u32 %l3, %r15, 4; add.u64 %l3, %l3, "
        "%l0;\n"
        "ld.global.u32 %r4, [%l3]; add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3; add.u32 %r1, %r1, %r4;\n"
        "st.global.u32 [%l2+131072], %r1;")
    /* The first and the last thread are not the one that is asked for. */
    KERNEL("equals",
           SELF "setp.eq.u32 %p1, %r0, 5; @%p1 st.global.u32 [%l2+139264], %r0; setp.ne.u32 %p0, %r0, 40;\n"
                "@%p0 st.global.u32 [%l2+131072], %r0;")
    /* Nor do they decide of remainders and of choices. */
    KERNEL("bent",
           SELF "and.b32 %r1, %r0, 7; setp.lt.u32 %p0, %r1, 4; @%p0 st.global.u32 [%l2+131072], %r1;\n"
                "sub.u32 %r2, 200, %r0; min.u32 %r2, %r2, %r0; max.u32 %r3, %r0, 15; setp.lt.u32 %p1, "
                "%r3, 16;\n"
                "@%p1 st.global.u32 [%l2+139264], %r2;")
    /* A choice between four remainders: more than there are lanes. */
    KERNEL(
        "many", SELF
        "and.b32 %r1, %r0, 7; and.b32 %r2, %r0, 15; setp.lt.u32 %p0, %r0, 20; selp.b32 %r3, %r1, %r2, %p0;\n"
        "setp.lt.u32 %p1, %r0, 50; and.b32 %r1, %r0, 31; selp.b32 %r3, %r3, %r1, %p1; mul.wide.u32 %l3, %r3, "
        "4;\n"
        "add.u64 %l3, %l0, %l3; ld.global.u32 %r4, [%l3]; st.global.u32 [%l2+131072], %r4;")
        KERNEL("few", SELF "and.b32 %r1, %r0, 7; and.b32 %r2, %r0, 15; setp.lt.u32 %p0, %r0, 20; selp.b32 "
                           "%r3, %r1, %r2, %p0;\n"
                           "mul.wide.u32 %l3, %r3, 4; add.u64 %l3, %l0, %l3; ld.global.u32 %r4, [%l3];\n"
                           "st.global.u32 [%l2+131072], %r4;")
    /* What one arm writes under guards, the other still needs as it was before. */
    KERNEL(
        "guarded", SELF
        "mad.lo.u32 %r1, %r0, 3, 5; add.u32 %r6, %r0, 9; setp.lt.u32 %p0, %r0, 20; setp.gt.u32 %p2, %r8, "
        "3; @%p0 bra T;\n"
        "mul.wide.u32 %l3, %r1, 4; add.u64 %l3, %l0, %l3; ld.global.u32 %r3, [%l3]; mul.wide.u32 %l3, %r6, "
        "4;\n"
        "add.u64 %l3, %l0, %l3; ld.global.u32 %r4, [%l3+8]; add.u32 %r3, %r3, %r4; st.global.u32 "
        "[%l2+131072], %r3;\n"
        "ld.global.u32 %r3, [%l1+400]; st.global.u32 [%l2+139264], %r3; bra J;\n"
        "T: setp.gt.u32 %p1, %r0, 9; @%p1 add.u32 %r1, %r0, 100; @%p2 add.u32 %r6, %r0, 200; mul.wide.u32 "
        "%l3, %r1, 4;\n"
        "add.u64 %l3, %l0, %l3; ld.global.u32 %r3, [%l3]; mul.wide.u32 %l3, %r6, 4; add.u64 %l3, %l0, "
        "%l3;\n"
        "ld.global.u32 %r5, [%l3+16]; add.u32 %r3, %r3, %r5; st.global.u32 [%l2+131072], %r3;\n"
        "st.global.u32 [%l2+147456], %r5;\nJ:")
    /* Threads go around more and less often, and load and store in each round. */
    KERNEL("trips",
           SELF "and.b32 %r1, %r0, 3; mov.u32 %r2, 0;\nL: ld.global.u32 %r3, [%l1+1024]; add.u32 %r3, "
                "%r3, %r2;\n"
                "st.global.u32 [%l2+131072], %r3; add.u64 %l1, %l1, 260; add.u64 %l2, %l2, 1024;\n"
                "add.u32 %r2, %r2, 1; setp.le.u32 %p0, %r2, %r1; @%p0 bra L;")
    /* Threads leave early, a block as a whole, while others go on. */
    KERNEL("leavers", SELF
           "mov.u32 %r3, %ctaid.x; ld.global.u32 %r1, [%l1+64]; st.global.u32 [%l2+131072], %r1;\n"
           "setp.eq.u32 %p0, %r3, 1; @%p0 exit; setp.gt.u32 %p1, %r0, 37; @%p1 exit; setp.lt.u32 %p0, %r0, "
           "9;\n"
           "@%p0 bra T; ld.global.u32 %r2, [%l1+128]; st.global.u32 [%l2+139264], %r2; exit;\n"
           "T: ld.global.u32 %r2, [%l1+512]; st.global.u32 [%l2+147456], %r2;")
    /* 2, 8 and 16 bytes, words that are not aligned to lines, each with its stride. */
    KERNEL(
        "pieces", SELF
        "mul.wide.u32 %l3, %r0, 2; add.u64 %l3, %l0, %l3; ld.global.u16 %r1, [%l3+122];\n"
        "mul.wide.u32 %l3, %r0, 24; add.u64 %l3, %l0, %l3; ld.global.v2.u32 {%r2, %r3}, [%l3+40];\n"
        "add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3; ld.global.u64 %l3, [%l3+16]; cvt.u32.u64 %r2, %l3;\n"
        "shr.u64 %l3, %l3, 32; cvt.u32.u64 %r3, %l3; add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3;\n"
        "sub.u32 %r4, 63, %r0; mul.wide.u32 %l3, %r4, 16; add.u64 %l3, %l0, %l3;\n"
        "ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%l3+16]; add.u32 %r1, %r1, %r4; mad.lo.u32 %r1, %r5, 3, "
        "%r1;\n"
        "mad.lo.u32 %r1, %r6, 5, %r1; mad.lo.u32 %r1, %r7, 7, %r1; mul.wide.u32 %l3, %r14, 8;\n"
        "add.u64 %l3, %l0, %l3; st.global.v2.u32 [%l3+131072], {%r1, %r4}; mul.wide.u32 %l3, %r0, 12;\n"
        "add.u64 %l3, %l0, %l3; ld.global.s8 %r2, [%l3+77];\n"
        "ld.global.u32 %r3, [%l0+60]; add.u32 %r2, %r2, %r3; st.global.u32 [%l2+147456], %r2;")
    /* Bytes come where words were before. */
    KERNEL("bytes", SELF
           "mov.u32 %r5, 0; mov.u32 %r6, 0;\nL: ld.global.u32 %r1, [%l1+260]; cvt.u64.u32 %l3, %r0; add.u64 "
           "%l3, %l0, %l3;\n"
           "ld.global.u8 %r2, [%l3+301]; ld.global.s8 %r3, [%l3+517]; mul.wide.u32 %l3, %r0, 2; add.u64 %l3, "
           "%l0, %l3;\n"
           "ld.global.u16 %r4, [%l3+70]; ld.global.u32 %r7, [%l1+768]; add.u32 %r1, %r1, %r7;\n"
           "mad.lo.u32 %r6, %r6, 3, %r1; mad.lo.u32 %r6, %r6, 3, %r2;\n"
           "mad.lo.u32 %r6, %r6, 3, %r3; mad.lo.u32 %r6, %r6, 3, %r4; add.u64 %l1, %l1, 36; add.u64 %l0, "
           "%l0, 16;\n"
           "add.u32 %r5, %r5, 1; setp.lt.u32 %p0, %r5, 20; @%p0 bra L; st.global.u32 [%l2+131072], %r6;")
    /* By a predicate of the affine warp, which needs it for nothing itself, the warps choose among data. */
    KERNEL("picks", SELF
           "ld.global.u32 %r1, [%l1]; ld.global.u32 %r2, [%l1+512]; setp.lt.u32 %p0, %r0, 40; setp.gt.u32 "
           "%p1, %r0, 7;\n"
           "selp.b32 %r3, %r1, %r2, %p0; selp.b32 %r4, %r2, %r1, %p1; mad.lo.u32 %r3, %r3, 3, %r4;\n"
           "st.global.u32 [%l2+131072], %r3;")
    /* One warp of each block comes to a branch that data decide, the other goes around it. */
    KERNEL(
        "some", SELF
        "setp.gt.u32 %p0, %r0, 31; @%p0 bra J; ld.global.u32 %r1, [%l1]; and.b32 %r2, %r1, 5;\n"
        "setp.eq.u32 %p1, %r2, 1; @%p1 bra T; ld.global.u32 %r3, [%l1+64]; st.global.u32 [%l2+131072], %r3;\n"
        "ld.global.u32 %r3, [%l1+68]; ld.global.u32 %r4, [%l1+72]; add.u32 %r3, %r3, %r4; bra U;\n"
        "T: ld.global.u32 %r3, [%l1+512]; ld.global.u32 %r4, [%l1+640]; add.u32 %r3, %r3, %r4;\n"
        "U: st.global.u32 [%l2+139264], %r3;\nJ: ld.global.u32 %r5, [%l1+96]; st.global.u32 [%l2+155648], "
        "%r5;")
    /* A guarded write, a choice, logic of predicates, bits set where there were none, numbers of 64 bits. */
    KERNEL("forms", SELF
           "setp.lt.u32 %p0, %r0, 20; setp.gt.u32 %p1, %r0, 10; and.pred %p2, %p0, %p1; mov.u32 %r1, 4;\n"
           "@%p2 add.u32 %r1, %r0, 40; mul.wide.u32 %l3, %r1, 4; add.u64 %l3, %l0, %l3; ld.global.u32 %r2, "
           "[%l3];\n"
           "shl.b32 %r3, %r0, 3; or.b32 %r3, %r3, 5; mul.wide.u32 %l3, %r3, 4; add.u64 %l3, %l0, %l3;\n"
           "ld.global.u32 %r4, [%l3]; add.u32 %r2, %r2, %r4; shr.u32 %r5, %r8, 1; mad.lo.u32 %r5, %r5, %r0, "
           "2;\n"
           "cvt.s64.s32 %l3, %r5; shl.b64 %l3, %l3, 2; add.s64 %l3, %l3, %l0; ld.global.u32 %r4, [%l3];\n"
           "add.u32 %r2, %r2, %r4; setp.lt.u64 %p3, %l3, %l0; @%p3 add.u32 %r2, %r2, 1000;\n"
           "not.pred %p2, %p2; @%p2 st.global.u32 [%l2+131072], %r2; @!%p2 st.global.u32 [%l2+139264], %r2;")
    /* Threads come to a barrier twice, and wait for others the second time only. */
    KERNEL("named", SELF
           "add.u64 %l2, %l2, 131072; mov.u32 %r3, 0; mov.u32 %r4, %ctaid.x; mad.lo.u32 %r4, %r4, 64, 63;\n"
           "sub.u32 %r4, %r4, %r0; mul.wide.u32 %l3, %r4, 4; add.u64 %l3, %l0, %l3;\n"
           "L: ld.global.u32 %r1, [%l1+64]; add.u32 %r1, %r1, %r3; st.global.u32 [%l2], %r1; bar.arrive 1, "
           "128;\n"
           "st.global.u32 [%l2+16384], %r3; bar.sync 1, 128; ld.global.u32 %r2, [%l3+131072]; bar.sync 0;\n"
           "add.u32 %r2, %r2, 1; st.global.u32 [%l2+32768], %r2; add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, "
           "4;\n"
           "@%p1 bra L;")
    /* The flag of "polls", looked at by atomics, and past L1. */
    KERNEL("spins",
           SELF "mov.u32 %r1, %ctaid.x; mov.u32 %r5, 0; setp.eq.u32 %p0, %r1, 0; @%p0 bra W;\n"
                "ld.global.u32 %r2, [%l1+64]; st.global.u32 [%l2+131072], %r2; membar.gl;\n"
                "setp.eq.u32 %p1, %r1, 3; @%p1 st.volatile.global.u32 [%l0+16], 77; exit;\n"
                "W: atom.global.or.b32 %r2, [%l0+16], 0; add.u32 %r5, %r5, 1; setp.eq.u32 %p1, %r2, 77;\n"
                "@%p1 bra D; setp.lt.u32 %p2, %r5, 1000; @%p2 bra W;\nD: st.global.u32 [%l2+131072], %r2;")
        KERNEL("looks", SELF
               "mov.u32 %r1, %ctaid.x; mov.u32 %r5, 0; setp.eq.u32 %p0, %r1, 0; @%p0 bra W;\n"
               "ld.global.u32 %r2, [%l1+64]; st.global.u32 [%l2+131072], %r2; membar.gl;\n"
               "setp.eq.u32 %p1, %r1, 3; @%p1 st.volatile.global.u32 [%l0+16], 77; exit;\n"
               "W: ld.global.cg.u32 %r2, [%l0+16]; add.u32 %r5, %r5, 1; setp.eq.u32 %p1, %r2, 77;\n"
               "@%p1 bra D; setp.lt.u32 %p2, %r5, 1000; @%p2 bra W;\nD: st.global.u32 [%l2+131072], %r2;")
    /* i = 0; while (i < tid) i++; out[i] = tid: threads leave the loop in different rounds. */
    KERNEL("rounds",
           "mov.u32 %r1, 0;\nL: setp.ge.u32 %p0, %r1, %r0; @%p0 bra D; add.u32 %r1, %r1, 1; bra L;\n"
           "D: mul.wide.u32 %l2, %r1, 4; add.u64 %l2, %l0, %l2; st.global.u32 [%l2+131072], %r0;")
    /* Which value a thread has depends on the way that it came. */
    KERNEL("ways", SELF
           "setp.lt.u32 %p0, %r0, 20; mov.u32 %r5, 0;\n@%p0 bra E;\nshl.b32 %r2, %r0, 1;\n"
           "M: ld.global.u32 %r3, [%l1]; st.global.u32 [%l2+131072], %r3; add.u32 %r5, %r5, 1;\n"
           "setp.lt.u32 %p1, %r5, 3; @%p1 bra M; bra J;\n"
           "E: mov.u32 %r2, 12;\n"
           "N: st.global.u32 [%l2+131072], %r0; add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 4; @%p1 bra N;\n"
           "J: mul.wide.u32 %l3, %r2, 4; add.u64 %l3, %l0, %l3; ld.global.u32 %r4, [%l3];\n"
           "st.global.u32 [%l2+139264], %r4;")
    /* The same by two branches, one of the ways of which is taken from both; and with one in the other. */
    KERNEL("shortcut",
           SELF "setp.lt.u32 %p0, %r0, 20; @%p0 bra E; setp.gt.u32 %p1, %r0, 40; @%p1 bra E;\n"
                "shl.b32 %r2, %r0, 1; ld.global.u32 %r3, [%l1]; st.global.u32 [%l2+131072], %r3; bra J;\n"
                "E: sub.u32 %r2, 100, %r0; st.global.u32 [%l2+131072], %r0;\n"
                "J: mul.wide.u32 %l3, %r2, 4; add.u64 %l3, %l0, %l3; ld.global.u32 %r4, [%l3];\n"
                "st.global.u32 [%l2+139264], %r4;")
        KERNEL("within",
               SELF "mov.u32 %r2, 5; setp.lt.u32 %p0, %r0, 50; @%p0 bra J; ld.global.u32 %r3, [%l1]; add.u32 "
                    "%r2, %r0, 7;\n"
                    "st.global.u32 [%l2+131072], %r3; setp.lt.u32 %p1, %r0, 57; @%p1 bra I; ld.global.u32 "
                    "%r3, [%l1+4];\n"
                    "mad.lo.u32 %r2, %r0, 3, 1; st.global.u32 [%l2+147456], %r3;\nI: st.global.u32 "
                    "[%l2+155648], %r0;\n"
                    "J: mul.wide.u32 %l3, %r2, 4; add.u64 %l3, %l0, %l3; ld.global.u32 %r4, [%l3];\n"
                    "st.global.u32 [%l2+139264], %r4;")
    /* Three ways that meet in one place, one of them within another; what decides is made anew on one of
     * them, and some threads leave there. */
    KERNEL(
        "three", SELF
        "setp.lt.u32 %p0, %r0, 40; @%p0 bra T; add.u32 %r2, %r0, 300; ld.global.u32 %r3, [%l1];\n"
        "st.global.u32 [%l2+131072], %r3; setp.gt.u32 %p0, %r0, 60; @%p0 exit; bra J;\n"
        "T: setp.lt.u32 %p1, %r0, 13; ld.global.u32 %r3, [%l1+64]; st.global.u32 [%l2+147456], %r3; @%p1 bra "
        "U;\n"
        "mul.lo.u32 %r2, %r0, 5; ld.global.u32 %r3, [%l1+128]; st.global.u32 [%l2+155648], %r3; bra J;\n"
        "U: sub.u32 %r2, 700, %r0; mov.u32 %r5, 0;\nM: add.u32 %r5, %r5, 1; st.global.u32 [%l2+163840], "
        "%r5;\n"
        "setp.lt.u32 %p3, %r5, %r8; @%p3 bra M;\n"
        "J: mul.wide.u32 %l3, %r2, 4; add.u64 %l3, %l0, %l3; ld.global.u32 %r4, [%l3];\n"
        "st.global.u32 [%l2+139264], %r4;")
    /* In some rounds nobody takes a way on which threads choose, in others all do. */
    KERNEL(
        "nobody", SELF
        "mov.u32 %r5, 0; mov.u32 %r6, 0;\nL: mul.lo.u32 %r7, %r5, 20; setp.lt.u32 %p0, %r0, %r7; add.u32 "
        "%r2, %r0, 9; @%p0 bra J;\n"
        "ld.global.u32 %r3, [%l1]; st.global.u32 [%l2+131072], %r3; and.b32 %r10, %r5, 1; setp.lt.u32 %p1, "
        "%r0, %r7;\n"
        "min.u32 %r2, %r0, 50; mad.lo.u32 %r2, %r5, 3, %r2; ld.global.u32 %r3, [%l1+64];\n"
        "st.global.u32 [%l2+147456], %r3;\nJ: mul.wide.u32 %l3, %r2, 4; add.u64 %l3, %l0, %l3;\n"
        "ld.global.u32 %r4, [%l3]; add.u32 %r6, %r6, %r4; add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 6;\n"
        "@%p2 bra L; st.global.u32 [%l2+139264], %r6;")
    /* What was chosen in rounds before is added: each has a condition of its own. */
    KERNEL(
        "carried", SELF
        "mov.u32 %r2, 1; mov.u32 %r3, 2; mov.u32 %r4, 0; mov.u32 %r7, 0;\n"
        "L: setp.lt.u32 %p0, %r0, %r4; selp.b32 %r1, %r0, 77, %p0; add.u32 %r5, %r1, %r2; add.u32 %r5, %r5, "
        "%r3;\n"
        "mul.wide.u32 %l3, %r5, 4; add.u64 %l3, %l0, %l3; ld.global.u32 %r6, [%l3]; add.u32 %r7, %r7, %r6;\n"
        "mov.u32 %r3, %r2; mov.u32 %r2, %r1; add.u32 %r4, %r4, %r8; setp.lt.u32 %p1, %r4, 60; @%p1 bra L;\n"
        "st.global.u32 [%l2+131072], %r7;")
    /* One condition of several values counts once; and of pointers of which threads have one. */
    KERNEL(
        "once", SELF
        "setp.lt.u32 %p0, %r0, 20; selp.b32 %r1, %r0, 40, %p0; selp.b32 %r2, 7, %r0, %p0; mov.u32 %r3, 5;\n"
        "@!%p0 add.u32 %r3, %r0, 2; add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3; mul.wide.u32 %l3, %r1, 4;\n"
        "add.u64 %l3, %l0, %l3; ld.global.u32 %r4, [%l3]; st.global.u32 [%l2+131072], %r4;")
    /* Behind what data decide there are stores alone: not worth asking. */
    KERNEL(
        "stores", SELF
        "ld.global.u32 %r1, [%l1]; and.b32 %r1, %r1, 1; setp.eq.u32 %p0, %r1, 0; @%p0 bra J; mov.u32 %r5, "
        "0;\n"
        "L: st.global.u32 [%l2+131072], %r5; add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 3; @%p1 bra L;\nJ:")
    /* One address in local memory is a word of each thread, by either kind of address. */
    KERNEL("own",
           SELF ".local .align 4 .b8 own[8]; st.local.u32 [own], %r0; st.local.u32 [own+4], %r0;\n"
                "ld.local.u32 %r1, [own]; add.u32 %r1, %r1, 1; st.global.u32 [%l2+131072], %r1;\n"
                "mov.u64 %l3, own; cvta.local.u64 %l3, %l3; ld.u32 %r2, [%l3+4]; add.u32 %r2, %r2, 3;\n"
                "st.global.u32 [%l2+139264], %r2;")
    /* The warps need the address itself, and nothing is loaded: a split would save nothing. */
    KERNEL("kept", SELF "xor.b64 %l3, %l2, %l0; mov.b64 {%r1, %r2}, %l3; add.u32 %r1, %r1, %r2;\n"
                        "st.global.u32 [%l2+131072], %r1;")
    /* The offset of a block is another one in each: no tuple has it. */
    KERNEL("product",
           SELF "mov.u32 %r1, %ctaid.x; mul.lo.u32 %r1, %r1, %r0; mul.wide.u32 %l3, %r1, 4;\n"
                "add.u64 %l3, %l0, %l3; ld.global.u32 %r2, [%l3]; st.global.u32 [%l2+131072], %r2;")
    /* x = n; loop x += tid: one register for both. */
    KERNEL("webs",
           SELF "mov.u32 %r1, %r8; mov.u32 %r2, 0;\nL: add.u32 %r1, %r1, %r0; add.u32 %r2, %r2, 1;\n"
                "setp.lt.u32 %p0, %r2, 5; @%p0 bra L; mul.wide.u32 %l3, %r1, 4; add.u64 %l3, %l0, %l3;\n"
                "ld.global.u32 %r3, [%l3]; st.global.u32 [%l2+131072], %r3;")
    /* The same twice, so that the register has had offsets when it gets n again. */
    KERNEL("again",
           SELF "mov.u32 %r4, 0;\nM: mov.u32 %r1, %r8; mov.u32 %r2, 0;\nL: add.u32 %r1, %r1, %r0; add.u32 "
                "%r2, %r2, 1;\n"
                "setp.lt.u32 %p0, %r2, 5; @%p0 bra L; mul.wide.u32 %l3, %r1, 4; add.u64 %l3, %l0, %l3;\n"
                "ld.global.u32 %r3, [%l3]; st.global.u32 [%l2+131072], %r3; add.u64 %l2, %l2, 1024;\n"
                "add.u32 %r4, %r4, 1; setp.lt.u32 %p0, %r4, 3; @%p0 bra M;")
    /* Each round chooses anew, while tuples of earlier ones are in the queue. */
    KERNEL("renamed",
           SELF "mov.u32 %r4, 0;\nL: setp.lt.u32 %p0, %r0, %r4; selp.b32 %r1, %r0, 77, %p0;\n"
                "mad.lo.u32 %r1, %r4, 600, %r1; mul.wide.u32 %l3, %r1, 4; add.u64 %l3, %l0, %l3;\n"
                "ld.global.u32 %r3, [%l3]; st.global.u32 [%l2+131072], %r3; add.u64 %l2, %l2, 1024;\n"
                "add.u32 %r4, %r4, 3; setp.lt.u32 %p1, %r4, 48; @%p1 bra L;")
    /* Remainders by what is no power of two, of what wraps around, and times what is 0, negative or large. */
    KERNEL(
        "remainders", SELF
        "sub.u32 %r1, 63, %r0; rem.u32 %r1, %r1, 10; mul.wide.u32 %l3, %r1, 4; add.u64 %l3, %l0, %l3;\n"
        "ld.global.u32 %r2, [%l3]; st.global.u32 [%l2+131072], %r2; sub.u32 %r1, 20, %r0; rem.s32 %r1, "
        "%r1, 7;\n"
        "add.u32 %r1, %r1, 9; mul.wide.s32 %l3, %r1, 4; add.u64 %l3, %l0, %l3; ld.global.u32 %r2, [%l3];\n"
        "st.global.u32 [%l2+139264], %r2; sub.u32 %r3, %r9, 3; and.b32 %r1, %r0, 7; mul.lo.u32 %r4, %r1, "
        "%r3;\n"
        "mul.wide.u32 %l3, %r4, 4; add.u64 %l3, %l0, %l3; ld.global.u32 %r2, [%l3];\n"
        "st.global.u32 [%l2+147456], %r2; mul.lo.u32 %r4, %r1, 1000; mul.wide.u32 %l3, %r4, 4;\n"
        "add.u64 %l3, %l0, %l3; ld.global.u32 %r2, [%l3]; st.global.u32 [%l2+155648], %r2;\n"
        "sub.u32 %r3, %r9, 13; mad.lo.u32 %r4, %r1, %r3, 300; mul.wide.s32 %l3, %r4, 4; add.u64 %l3, %l0, "
        "%l3;\n"
        "ld.global.u32 %r2, [%l3]; st.global.u32 [%l2+163840], %r2; sub.u32 %r4, 63, %r0; and.b32 %r4, %r4, "
        "15;\n"
        "mad.lo.u32 %r4, %r4, 0x40000003, 5; shl.b32 %r4, %r4, 2; cvt.u64.u32 %l3, %r4; add.u64 %l3, %l0, "
        "%l3;\n"
        "ld.global.u32 %r2, [%l3]; st.global.u32 [%l2+172032], %r2;")
    /* (unsigned)(tid - 16) < 8. */
    KERNEL("compares",
           SELF "sub.u32 %r1, %r0, 16; setp.lt.u32 %p0, %r1, 8; @%p0 st.global.u32 [%l2+131072], %r0;\n"
                "sub.u32 %r2, 5, %r0; setp.gt.s32 %p0, %r2, -20; @%p0 st.global.u32 [%l2+147456], %r2;")
    /* A[(u64)(u32)(tid - 4)] where tid >= 4; and numbers of 32 bits that are no signed ones. */
    KERNEL("width", SELF
           "sub.u32 %r1, %r0, 4; setp.ge.u32 %p0, %r0, 4; mul.wide.u32 %l3, %r1, 4; add.u64 %l3, %l0, %l3;\n"
           "@%p0 ld.global.u32 %r2, [%l3]; @%p0 st.global.u32 [%l2+131072], %r2; mad.lo.u32 %r1, %r0, 8, "
           "0x90000000;\n"
           "cvt.u64.u32 %l3, %r1; add.s64 %l3, %l3, -2415919104; add.u64 %l3, %l0, %l3; ld.global.u32 %r2, "
           "[%l3+4];\n"
           "st.global.u32 [%l2+139264], %r2;")
    /* b[(i + 1) * 64 + tid] = b[i * 64 + tid] + 1. */
    KERNEL("stale",
           "mov.u32 %r2, 0; add.u64 %l1, %l1, 131072;\nL: ld.global.u32 %r1, [%l1]; add.u32 %r1, %r1, 1;\n"
           "st.global.u32 [%l1+256], %r1; add.u64 %l1, %l1, 256; add.u32 %r2, %r2, 1; setp.lt.u32 %p0, %r2, "
           "20;\n"
           "@%p0 bra L;")
    /* A barrier between a store and another thread's load. */
    KERNEL("barrier", SELF
           "mov.u32 %r2, 0; add.u64 %l2, %l2, 131072;\nmov.u32 %r3, %ctaid.x; mul.lo.u32 %r3, %r3, 64;\n"
           "sub.u32 %r4, 63, %r0; add.u32 %r3, %r3, %r4; mul.wide.u32 %l3, %r3, 4; add.u64 %l3, %l0, %l3;\n"
           "L: add.u32 %r1, %r0, %r2; st.global.u32 [%l2], %r1; bar.sync 0;\n"
           "ld.global.u32 %r5, [%l3+131072]; bar.sync 0; st.global.u32 [%l2+65536], %r5;\n"
           "add.u32 %r2, %r2, 1; setp.lt.u32 %p0, %r2, 6; @%p0 bra L;")
    /* Both arms enqueue, read what was computed before, and compute on. */
    KERNEL(
        "arms", SELF
        "mul.lo.u32 %r1, %r0, 3; add.u32 %r2, %r0, 70; setp.lt.u32 %p0, %r0, 20;\n@%p0 bra T;\n"
        "mul.wide.u32 %l3, %r2, 4; add.u64 %l3, %l0, %l3; ld.global.u32 %r3, [%l3]; ld.global.u32 %r4, "
        "[%l3+8];\n"
        "add.u32 %r3, %r3, %r4; st.global.u32 [%l2+131072], %r3; bra J;\n"
        "T: shl.b32 %r5, %r1, 1; add.u32 %r6, %r5, 9; mul.wide.u32 %l3, %r6, 4; add.u64 %l3, %l0, %l3;\n"
        "ld.global.u32 %r3, [%l3]; mul.lo.u32 %r7, %r6, 2; mul.wide.u32 %l1, %r7, 4; add.u64 %l1, %l0, %l1;\n"
        "ld.global.u32 %r4, [%l1]; add.u32 %r3, %r3, %r4; st.global.u32 [%l2+131072], %r3;\n"
        "J: st.global.u32 [%l2+139264], %r0;")
    /* A loop inside which layout turns a branch around. */
    KERNEL("turned", SELF
           "mov.u32 %r2, 0; add.u64 %l2, %l2, 131072;\nL: and.b32 %r1, %r0, 7; setp.lt.u32 %p0, %r1, %r2; "
           "@%p0 bra T;\n"
           "ld.global.u32 %r3, [%l1+64]; st.global.u32 [%l2], %r3; bra J;\n"
           "T: ld.global.u32 %r3, [%l1+1024]; st.global.u32 [%l2+16384], %r3; setp.eq.u32 %p1, %r2, 5; @%p1 "
           "bra J;\n"
           "st.global.u32 [%l2+32768], %r2;\nJ: add.u32 %r2, %r2, 1; setp.lt.u32 %p0, %r2, 7; @%p0 bra L;")
    /* Where one arm begins with a loop that the affine warp does not have, layout turns the branch around in
     * one stream only; both arms enqueue. */
    KERNEL(
        "order", SELF
        "setp.lt.u32 %p0, %r0, 16; setp.lt.u32 %p1, %r0, 24; setp.lt.u32 %p2, %r0, 8; mov.u32 %r5, 0;\n"
        "@%p0 bra X;\n@%p1 bra F; bra T;\nX: @%p2 bra F;\n"
        "T: ld.global.u32 %r1, [%l1]; add.u32 %r5, %r5, 1; and.b32 %r1, %r1, 3; setp.lt.u32 %p3, %r5, %r1;\n"
        "@%p3 bra T;\nld.global.u32 %r2, [%l1+64]; st.global.u32 [%l2+131072], %r2; bra J;\n"
        "F: ld.global.u32 %r2, [%l1+1024]; st.global.u32 [%l2+139264], %r2;\n"
        "J: st.global.u32 [%l2+147456], %r5;")
    /* Every thread in a line of its own, all lines in one set. */
    KERNEL("lines", SELF "mul.wide.u32 %l3, %r0, 2048; add.u64 %l3, %l0, %l3; ld.global.u32 %r1, [%l3]; "
                         "ld.global.u32 %r2, [%l3+128];\n"
                         "add.u32 %r1, %r1, %r2; st.global.u32 [%l2+131072], %r1;")
    /* A guard that is data; exits by data; zero and negative strides; vectors, bytes, partial lines. */
    KERNEL(
        "data", SELF
        "ld.global.u32 %r1, [%l1]; and.b32 %r1, %r1, 3; setp.eq.u32 %p0, %r1, 1;\n"
        "@%p0 ld.global.u32 %r2, [%l1+128]; @%p0 st.global.u32 [%l2+131072], %r2;\n"
        "ld.global.u32 %r3, [%l0+400]; st.global.u32 [%l2+139264], %r3; setp.eq.u32 %p1, %r1, 2; @%p1 exit;\n"
        "ld.global.u32 %r4, [%l1+36]; st.global.u32 [%l2+147456], %r4;")
        KERNEL("strides", SELF
               "sub.u32 %r1, 100, %r0; mul.wide.u32 %l3, %r1, 4; add.u64 %l3, %l0, %l3; ld.global.u32 %r2, "
               "[%l3];\n"
               "cvt.u64.u32 %l3, %r0; add.u64 %l3, %l0, %l3; ld.global.s8 %r3, [%l3+1021];\n"
               "mul.wide.u32 %l3, %r0, 16; add.u64 %l3, %l0, %l3; ld.global.v4.u32 {%r4, %r5, %r6, %r7}, "
               "[%l3+64];\n"
               "add.u32 %r2, %r2, %r3; add.u32 %r4, %r4, %r5; add.u32 %r6, %r6, %r7; add.u32 %r2, %r2, %r4;\n"
               "add.u32 %r2, %r2, %r6; st.global.u32 [%l2+131072], %r2;")
    /* Data decide about arms that both enqueue, one of them about arms of its own; and about who leaves. */
    KERNEL("vectors", SELF
           "ld.global.u32 %r1, [%l1]; and.b32 %r2, %r1, 1; setp.eq.u32 %p0, %r2, 0; @%p0 bra T;\n"
           "ld.global.u32 %r3, [%l1+64]; st.global.u32 [%l2+131072], %r3; and.b32 %r2, %r3, 6;\n"
           "setp.eq.u32 %p1, %r2, 2; @%p1 bra U; ld.global.u32 %r4, [%l1+1024]; ld.global.u32 %r5, "
           "[%l1+1028];\n"
           "add.u32 %r4, %r4, %r5; ld.global.u32 %r5, [%l1+1032]; add.u32 %r4, %r4, %r5;\n"
           "ld.global.u32 %r5, [%l1+1036]; add.u32 %r4, %r4, %r5; st.global.u32 [%l2+163840], %r4; bra V;\n"
           "U: ld.global.u32 %r4, [%l1+2048]; ld.global.u32 %r5, [%l1+2052]; add.u32 %r4, %r4, %r5;\n"
           "ld.global.u32 %r5, [%l1+2056]; add.u32 %r4, %r4, %r5; st.global.u32 [%l2+172032], %r4;\n"
           "V: st.global.u32 [%l2+139264], %r4; bra J;\n"
           "T: ld.global.u32 %r3, [%l1+512]; st.global.u32 [%l2+147456], %r3;\n"
           "J: setp.gt.u32 %p1, %r3, 200; @%p1 exit; ld.global.u32 %r5, [%l1+96];\n"
           "st.global.u32 [%l2+155648], %r5;")
    /* Rounds that differ by thread, and a barrier in each: threads come to different ones. */
    KERNEL("apart",
           SELF "ld.global.u32 %r6, [%l1]; and.b32 %r6, %r6, 3; mov.u32 %r5, 0;\n"
                "L: st.global.u32 [%l2+131072], %r5; bar.sync 0; ld.global.u32 %r7, [%l1+8]; bar.sync 0;\n"
                "add.u32 %r5, %r5, 1; setp.lt.u32 %p0, %r5, %r6; @%p0 bra L;\n"
                "ld.global.u32 %r3, [%l1+64]; st.global.u32 [%l2+139264], %r3; bar.sync 0;\n"
                "ld.global.u32 %r3, [%l1+128]; st.global.u32 [%l2+147456], %r3;")
    /* Block 0 waits for a flag that the last one sets, which may enter only when another has left; it gives
     * up after many rounds. */
    KERNEL("polls",
           SELF "mov.u32 %r1, %ctaid.x; mov.u32 %r5, 0; setp.eq.u32 %p0, %r1, 0; @%p0 bra W;\n"
                "ld.global.u32 %r2, [%l1+64]; st.global.u32 [%l2+131072], %r2; membar.gl;\n"
                "setp.eq.u32 %p1, %r1, 3; @%p1 st.volatile.global.u32 [%l0+16], 77; exit;\n"
                "W: ld.volatile.global.u32 %r2, [%l0+16]; add.u32 %r5, %r5, 1; setp.eq.u32 %p1, %r2, 77;\n"
                "@%p1 bra D; setp.lt.u32 %p2, %r5, 1000; @%p2 bra W;\nD: st.global.u32 [%l2+131072], %r2;");

/* Which kernels a rule is about; 0: none, they are split and come out right, or stay whole. */
static const struct {
    const char *kernel;
    uint32_t rule;
    bool whole;      /* it cannot be split */
    const char *set; /* without the rule it comes out wrong if this is set */
    uint32_t rows;   /* of threads in a block; 0: one */
} hazards[] = {
    {"rounds", DAC_RULE_ROUNDS, true, NULL, 0},
    {"ways", DAC_RULE_MERGE, false, NULL, 0},
    {"own", 0, false, NULL, 0},
    {"kept", 0, true, NULL, 0},
    {"product", DAC_RULE_FACTORS, false, NULL, 0},
    {"webs", 0, false, NULL, 0},
    {"again", DAC_RULE_WHOLE, false, NULL, 0},
    {"renamed", DAC_RULE_NAMED, false, "dac.pwaq=1", 0}, /* tuples stay in the queue for long */
    {"remainders", DAC_RULE_SCALE, false, NULL, 0},
    {"compares", DAC_RULE_ENDS, false, NULL, 0},
    {"equals", DAC_RULE_SIDES, false, NULL, 0},
    {"rows", DAC_RULE_ROWS, false, NULL, 4},
    {"bent", DAC_RULE_PLAIN, false, NULL, 0},
    {"width", DAC_RULE_WIDTH, false, NULL, 0},
    {"stale", DAC_RULE_ALIAS, false, NULL, 0},
    {"paths", DAC_RULE_ALIAS, false, NULL, 0},
    {"mates", DAC_RULE_ALIAS, false, NULL, 0},
    {"between", 0, false, NULL, 0},
    {"flag_volatile", DAC_RULE_FENCES, false, NULL, 0},
    {"flag_cv", DAC_RULE_FENCES, false, NULL, 0},
    {"flag_cg", DAC_RULE_FENCES, false, NULL, 0},
    {"flag_atomic", DAC_RULE_FENCES, false, NULL, 0},
    {"flag_fence", DAC_RULE_FENCES, false, NULL, 0},
    {"barrier", DAC_RULE_BARRIER, false, NULL, 0},
    {"arms", DAC_RULE_TURNS, false, NULL, 0},
    {"turned", 0, false, NULL, 0},
    {"order", DAC_RULE_ORDER, false, NULL, 0},
    {"shortcut", DAC_RULE_MERGE, false, NULL, 0},
    {"within", DAC_RULE_MERGE, false, NULL, 0},
    {"three", DAC_RULE_MERGE, false, NULL, 0},
    {"nobody", DAC_RULE_MERGE, false, NULL, 0},
    {"carried", 0, false, NULL, 0},
    {"once", 0, false, NULL, 0},
    {"stores", 0, false, NULL, 0},
    {"lines", DAC_RULE_LINES, false, "dac.pwaq=1", 0},
    {"data", DAC_RULE_GUARD, false, NULL, 0},
    {"strides", 0, false, NULL, 0},
    {"pieces", 0, false, NULL, 0},
    {"pitches", 0, false, NULL, 4},
    {"forms", 0, false, NULL, 0},
    {"vectors", 0, false, NULL, 0},
    {"many", 0, false, NULL, 0},
    {"few", 0, false, NULL, 0},
    {"bytes", 0, false, NULL, 0},
    {"picks", 0, false, NULL, 0},
    {"some", 0, false, NULL, 0},
    {"guarded", 0, false, NULL, 0},
    {"trips", 0, false, NULL, 0},
    {"leavers", 0, false, NULL, 0},
    {"apart", DAC_RULE_APART, true, NULL, 0},
    {"named", DAC_RULE_PLACES, true, NULL, 0},
    {"calls", 0, true, NULL, 0},
    {"polls", DAC_RULE_POLLS, true, "sm.blocks=2", 0},
    {"spins", DAC_RULE_POLLS, true, "sm.blocks=2", 0},
    {"looks", DAC_RULE_POLLS, true, "sm.blocks=2", 0},
};
enum { HAZARDS = sizeof hazards / sizeof *hazards };

#endif
