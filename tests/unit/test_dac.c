/* DAC on kernels made for it: what is split and what is not, what it costs, and hazards. Without one of its
 * rules (dac.without) the hazards that are about it come out wrong, so each rule is needed. */
#include <stdio.h>

#include "mech/dac/params.h"
#include "mech_rig.h"

enum { WORDS = 65536, THREADS = 64, GRID = 4 };

/* Kernels take a buffer of WORDS words, word i = i, and n and x; %l0 is the buffer, %l1 the thread's own word
 * in its first half, %r0 tid.x, %r8 n, %r9 x. What is compared is the second half. */
#define SELF                                                                                                 \
    "mov.u32 %r14, %ctaid.x; mad.lo.u32 %r14, %r14, 64, %r0; mul.wide.u32 %l2, %r14, 4; add.u64 %l2, %l0, "  \
    "%l2;\n"
static const char text[] = KERNELS
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
    /* Remainders by what is no power of two, of what wraps around, and times what may be 0 or large. */
    KERNEL("remainders", SELF
           "sub.u32 %r1, 63, %r0; rem.u32 %r1, %r1, 10; mul.wide.u32 %l3, %r1, 4; add.u64 %l3, %l0, %l3;\n"
           "ld.global.u32 %r2, [%l3]; st.global.u32 [%l2+131072], %r2; sub.u32 %r1, 20, %r0; rem.s32 %r1, "
           "%r1, 7;\n"
           "add.u32 %r1, %r1, 9; mul.wide.s32 %l3, %r1, 4; add.u64 %l3, %l0, %l3; ld.global.u32 %r2, [%l3];\n"
           "st.global.u32 [%l2+139264], %r2; sub.u32 %r3, %r9, 3; and.b32 %r1, %r0, 7; mul.lo.u32 %r4, %r1, "
           "%r3;\n"
           "mul.wide.u32 %l3, %r4, 4; add.u64 %l3, %l0, %l3; ld.global.u32 %r2, [%l3];\n"
           "st.global.u32 [%l2+147456], %r2; mul.lo.u32 %r4, %r1, 1000; mul.wide.u32 %l3, %r4, 4;\n"
           "add.u64 %l3, %l0, %l3; ld.global.u32 %r2, [%l3]; st.global.u32 [%l2+155648], %r2;")
    /* (unsigned)(tid - 16) < 8, tid == 5. */
    KERNEL("compares",
           SELF "sub.u32 %r1, %r0, 16; setp.lt.u32 %p0, %r1, 8; setp.eq.u32 %p1, %r0, 5;\n"
                "@%p0 st.global.u32 [%l2+131072], %r0; @%p1 st.global.u32 [%l2+139264], %r0;\n"
                "sub.u32 %r2, 5, %r0; setp.gt.s32 %p0, %r2, -20; @%p0 st.global.u32 [%l2+147456], %r2;")
    /* A[(u64)(u32)(tid - 4)] where tid >= 4. */
    KERNEL("width", SELF
           "sub.u32 %r1, %r0, 4; setp.ge.u32 %p0, %r0, 4; mul.wide.u32 %l3, %r1, 4; add.u64 %l3, %l0, %l3;\n"
           "@%p0 ld.global.u32 %r2, [%l3]; @%p0 st.global.u32 [%l2+131072], %r2;")
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

/* Two pointers, which the launch may let meet. */
static const char pointers[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                               ".visible .entry pair(.param .u64 a, .param .u64 b)\n{ .reg .b32 %r<8>; .reg "
                               ".b64 %l<8>; .reg .pred %p<2>;\n"
                               "ld.param.u64 %l0, [a]; ld.param.u64 %l4, [b]; mov.u32 %r0, %tid.x; "
                               "mul.wide.u32 %l1, %r0, 4; add.u64 %l0, %l0, %l1;\n"
                               "add.u64 %l4, %l4, %l1; mov.u32 %r2, 0;\nL: ld.global.u32 %r1, [%l0]; add.u32 "
                               "%r1, %r1, 1; st.global.u32 [%l4+256], %r1;\n"
                               "add.u64 %l0, %l0, 256; add.u64 %l4, %l4, 256; add.u32 %r2, %r2, 1; "
                               "setp.lt.u32 %p0, %r2, 30; @%p0 bra L; exit; }\n";

/* Which kernels a rule is about; 0: none, they are split and come out right, or stay whole. */
static const struct {
    const char *kernel;
    uint32_t rule;
    bool whole;      /* it cannot be split */
    const char *set; /* without the rule it comes out wrong if this is set */
} hazards[] = {
    {"rounds", DAC_RULE_ROUNDS, true, NULL},
    {"ways", DAC_RULE_MERGE, false, NULL},
    {"own", 0, false, NULL},
    {"kept", 0, true, NULL},
    {"product", DAC_RULE_FACTORS, false, NULL},
    {"webs", 0, false, NULL},
    {"again", DAC_RULE_WHOLE, false, NULL},
    {"renamed", DAC_RULE_NAMED, false, "dac.pwaq=1"}, /* tuples stay in the queue for long */
    {"remainders", 0, false, NULL},
    {"compares", DAC_RULE_ENDS, false, NULL},
    {"width", DAC_RULE_WIDTH, false, NULL},
    {"stale", DAC_RULE_ALIAS, false, NULL},
    {"barrier", DAC_RULE_BARRIER, false, NULL},
    {"arms", DAC_RULE_TURNS, false, NULL},
    {"turned", 0, false, NULL},
    {"order", DAC_RULE_ORDER, false, NULL},
    {"shortcut", DAC_RULE_MERGE, false, NULL},
    {"within", DAC_RULE_MERGE, false, NULL},
    {"stores", 0, false, NULL},
    {"lines", DAC_RULE_LINES, false, "dac.pwaq=1"},
    {"data", DAC_RULE_GUARD, false, NULL},
    {"strides", 0, false, NULL},
    {"vectors", 0, false, NULL},
    {"apart", DAC_RULE_APART, true, NULL},
    {"polls", DAC_RULE_POLLS, true, "sm.blocks=2"},
};
enum { HAZARDS = sizeof hazards / sizeof *hazards };

static const uint32_t *launch(struct rig *r, const char *kernel) {
    uint32_t *word = (uint32_t *)(uintptr_t)r->buffer;
    for (uint32_t i = 0; i < WORDS; i++)
        word[i] = i;
    struct rig_params p = {.buffer = r->buffer, .n = 7, .x = 3};
    struct rp_launch l = {
        .grid = {GRID, 1, 1}, .block = {THREADS, 1, 1}, .params = &p, .param_bytes = sizeof p};
    char *report = NULL;
    uint64_t before = rp_totals(r->g).cycles;
    enum rp_status s = rp_launch(r->g, rp_module_kernel(r->m, kernel), &l, &report);
    r->cycles = rp_totals(r->g).cycles - before;
    free(report);
    return s == RP_OK ? word + WORDS / 2 : NULL;
}

static uint32_t want[HAZARDS][WORDS / 2];

static int find_results(void **state) {
    (void)state;
    struct rig r;
    rig_open(&r, "dac", NULL, true, text);
    for (uint32_t k = 0; k < HAZARDS; k++) {
        const uint32_t *got = launch(&r, hazards[k].kernel);
        assert_non_null(got);
        memcpy(want[k], got, sizeof want[k]);
    }
    rig_close(&r);
    return 0;
}

/* The kernel leaves what it must, and no check or invariant says otherwise. */
static bool comes_out(struct rig *r, uint32_t k) {
    const uint32_t *got = launch(r, hazards[k].kernel);
    return got && !memcmp(got, want[k], sizeof want[k]) && !rig_counter(r, "check.wrong");
}

static void open_dac(struct rig *r, const char *const *set) {
    rig_open_options(
        r, &(struct rp_options){.gpu = "dac", .mech = "dac", .set = set, .check = true, .watchdog = 1000000},
        text);
}

static void test_hazards(void **state) {
    (void)state;
    static const char *const sets[][7] = {
        {"device.sms=1", NULL},
        {"device.sms=2", "dac.atq=1", "dac.pwaq=1", "dac.pwpq=1", NULL},
        {"device.sms=1", "dac.first=true", "issue.policy=lrr", "l1.size=4K", "l1.ways=2", NULL},
        {"device.sms=1", "dac.prefetch=false", "issue.policy=gto", NULL},
        {"device.sms=1", "l1.mshrs=1", "l1.merges=1", NULL},
        {"device.sms=1", "issue.active=1", "dac.atq=1", "dac.pwpq=1", NULL}, /* who waits makes way */
    };
    for (uint32_t s = 0; s < sizeof sets / sizeof *sets; s++) {
        struct rig r;
        open_dac(&r, sets[s]);
        for (uint32_t k = 0; k < HAZARDS; k++) {
            if (!comes_out(&r, k))
                fail_msg("%s with settings %u comes out wrong", hazards[k].kernel, s);
            assert_int_equal(rig_counter(&r, "dac.whole") > 0, hazards[k].whole);
            const char *remark = rp_module_kernel(r.m, hazards[k].kernel)->passed.prog->remark;
            assert_int_equal(remark && strstr(remark, "not split: "), hazards[k].whole);
        }
        rig_close(&r);
    }
}

/* Without its rule a hazard is one. */
static void test_rules(void **state) {
    (void)state;
    for (uint32_t k = 0; k < HAZARDS; k++) {
        if (!hazards[k].rule)
            continue;
        struct rig r;
        char without[32];
        snprintf(without, sizeof without, "dac.without=%u", hazards[k].rule);
        open_dac(&r, (const char *const[]){"device.sms=1", without, hazards[k].set, NULL});
        if (comes_out(&r, k))
            fail_msg("%s comes out right without its rule", hazards[k].kernel);
        rig_close(&r);
    }
}

/* Runs the kernel with two pointers, b so many words behind a; whether it comes out right. */
static bool run_pair(const char *without, uint64_t apart, uint64_t *fetched) {
    struct rig r;
    enum { ROWS = 31 };
    rig_open_options(&r,
                     &(struct rp_options){.gpu = "dac",
                                          .mech = "dac",
                                          .set = (const char *const[]){"device.sms=1", without, NULL},
                                          .check = true},
                     pointers);
    uint64_t other = rp_mem_alloc(r.g, RIG_BYTES, RP_MEM_DEVICE);
    uint32_t *a = (uint32_t *)(uintptr_t)r.buffer, *b = (uint32_t *)(uintptr_t)(apart ? other : r.buffer);
    for (uint32_t i = 0; i < 64 * (ROWS + 1); i++)
        a[i] = i * 3;
    uint64_t p[2] = {r.buffer, (uint64_t)(uintptr_t)b};
    struct rp_launch l = {.grid = {1, 1, 1}, .block = {64, 1, 1}, .params = p, .param_bytes = sizeof p};
    assert_int_equal(rp_launch(r.g, rp_module_kernel(r.m, "pair"), &l, NULL), RP_OK);
    bool ok = !rig_counter(&r, "check.wrong");
    for (uint32_t i = 64; i < 64 * ROWS; i++)
        ok &= b[i] == (apart ? (i - 64) * 3 + 1 : i % 64 * 3 + i / 64);
    *fetched = rig_counter(&r, "dac.deq.data");
    rig_close(&r);
    return ok;
}

/* What a launch's arguments decide: data are fetched ahead if they do not meet. */
static void test_arguments(void **state) {
    (void)state;
    uint64_t fetched;
    assert_true(run_pair("dac.without=0", 1, &fetched));
    assert_int_equal(fetched, 2 * 30);
    assert_true(run_pair("dac.without=0", 0, &fetched));
    assert_int_equal(fetched, 0);
    assert_false(run_pair("dac.without=2", 0, &fetched)); /* DAC_RULE_ARGUMENTS */
}

/* Figures by hand: "webs" has two warps in each of four blocks, and one batch. */
static void test_counts(void **state) {
    (void)state;
    struct rig r;
    open_dac(&r, (const char *const[]){"device.sms=1", NULL});
    assert_non_null(launch(&r, "webs"));
    enum { WARPS = GRID * THREADS / 32 };
    assert_int_equal(rig_counter(&r, "dac.batches"), 1);
    assert_int_equal(rig_counter(&r, "dac.enq.data"), 1);
    assert_int_equal(rig_counter(&r, "dac.enq.addr"), 1);
    assert_int_equal(rig_counter(&r, "dac.enq.pred"), 5);
    assert_int_equal(rig_counter(&r, "dac.deq.data"), WARPS);
    assert_int_equal(rig_counter(&r, "dac.deq.addr"), WARPS);
    assert_int_equal(rig_counter(&r, "dac.deq.pred"), 5 * WARPS);
    assert_int_equal(rig_counter(&r, "dac.pred.scalar"), 5 * WARPS);
    /* Each word is 20 bytes from the next: five lines and one that the last begins, for a warp that starts
     * one. */
    assert_true(rig_counter(&r, "dac.aeu.fetched") >= 5 * WARPS &&
                rig_counter(&r, "dac.aeu.fetched") <= 6 * WARPS);
    /* A load, a store, five branches, an exit; nothing else is left of the kernel. */
    assert_int_equal(rig_counter(&r, "sm.insts.warp"), 8 * WARPS);
    rig_close(&r);
}

/* The affine warp runs once for blocks that are on the SM together: what follows the second block waits for
 * the first, which runs long, and is a batch with what follows that. */
static void test_batches(void **state) {
    (void)state;
    static const char code[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n"
        ".visible .entry uneven(.param .u64 buffer, .param .u32 n, .param .u32 x)\n{\n"
        ".reg .b32 %r<8>; .reg .b64 %l<4>; .reg .pred %p<2>;\n"
        "ld.param.u64 %l0, [buffer]; mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r4, 0;\n"
        "setp.eq.u32 %p0, %r1, 0; selp.b32 %r2, 400, 2, %p0; mad.lo.u32 %r3, %r1, 64, %r0;\n"
        "mul.wide.u32 %l1, %r3, 4; add.u64 %l1, %l0, %l1;\n"
        "L: ld.global.u32 %r5, [%l1]; add.u32 %r5, %r5, %r4; st.global.u32 [%l1+131072], %r5;\n"
        "add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, %r2; @%p1 bra L; exit;\n}\n";
    struct rig r;
    rig_open_options(&r,
                     &(struct rp_options){.gpu = "dac",
                                          .mech = "dac",
                                          .set = (const char *const[]){"device.sms=1", "sm.blocks=2", NULL},
                                          .check = true},
                     code);
    const uint32_t *got = launch(&r, "uneven");
    assert_non_null(got);
    for (uint32_t t = 0; t < GRID * THREADS; t++)
        assert_int_equal(got[t], t + (t < THREADS ? 399 : 1));
    assert_int_equal(rig_counter(&r, "dac.batches"), 2);
    assert_int_equal(rig_counter(&r, "check.wrong"), 0);
    rig_close(&r);
}

/* A record of shared memory is a plain tuple, whatever its offset; where remainders are taken, it is of 128
 * bytes from any word on: one for a warp's row, wherever it begins, and one for each word of a column. */
static void test_windows(void **state) {
    (void)state;
    static const char code[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n"
        ".visible .entry windows(.param .u64 buffer, .param .u32 n, .param .u32 x)\n{\n"
        ".reg .b32 %r<8>; .shared .b32 s[512];\n"
        "mov.u32 %r0, %tid.x; mov.u32 %r1, s; mad.lo.u32 %r2, %r0, 4, %r1; st.shared.u32 [%r2+4], %r0;\n"
        "and.b32 %r3, %r0, 15; mad.lo.u32 %r4, %r3, 4, %r1; bar.sync 0; ld.shared.u32 %r5, [%r4+60];\n"
        "st.shared.u32 [%r2+1024], %r5; exit;\n}\n"
        ".visible .entry columns(.param .u64 buffer, .param .u32 n, .param .u32 x)\n{\n"
        ".reg .b32 %r<8>; .shared .b32 t[2112];\n"
        "mov.u32 %r0, %tid.x; mov.u32 %r1, t; mad.lo.u32 %r2, %r0, 132, %r1; st.shared.u32 [%r2], %r0;\n"
        "and.b32 %r3, %r0, 15; mad.lo.u32 %r4, %r3, 132, %r1; st.shared.u32 [%r4+4], %r0; exit;\n}\n";
    enum { WARPS = GRID * THREADS / 32 };
    struct rig r;
    rig_open_options(
        &r,
        &(struct rp_options){
            .gpu = "dac", .mech = "dac", .set = (const char *const[]){"device.sms=1", NULL}, .check = true},
        code);
    assert_non_null(launch(&r, "windows"));
    assert_int_equal(rig_counter(&r, "dac.deq.addr"), 3 * WARPS);
    assert_int_equal(rig_counter(&r, "dac.aeu.records"), 3 * WARPS);
    assert_non_null(launch(&r, "columns"));
    assert_int_equal(rig_counter(&r, "dac.deq.addr"), 2 * WARPS);
    assert_int_equal(rig_counter(&r, "dac.aeu.records"), (1 + 16) * WARPS);
    rig_close(&r);
}

/* Branches that data decide: two that all warps come to, and one for those with an odd word. Without asking
 * nothing behind the first is decoupled. */
static void test_vectors(void **state) {
    (void)state;
    enum { WARPS = GRID * THREADS / 32 };
    for (uint32_t ask = 0; ask < 2; ask++) {
        struct rig r;
        open_dac(&r, (const char *const[]){"device.sms=1", ask ? "dac.ask=true" : "dac.ask=false", NULL});
        assert_non_null(launch(&r, "vectors"));
        assert_int_equal(rig_counter(&r, "dac.vectors"), ask ? 3 * WARPS : 0);
        assert_int_equal(rig_counter(&r, "dac.deq.data") > WARPS, ask);
        assert_int_equal(rig_counter(&r, "check.wrong"), 0);
        assert_non_null(launch(&r, "stores"));
        assert_int_equal(rig_counter(&r, "dac.vectors"), 0);
        assert_int_equal(rig_counter(&r, "check.wrong"), 0);
        rig_close(&r);
    }
}

/* Those with which DAC is compared leave the same memory, and supply nothing that differs. */
static void test_rivals(void **state) {
    (void)state;
    static const char *const mechs[] = {"cae", "mta", "perfect-memory", "dac-noprefetch"};
    for (uint32_t m = 0; m < 4; m++) {
        struct rig r;
        rig_open_options(&r,
                         &(struct rp_options){.gpu = "dac",
                                              .mech = mechs[m],
                                              .set = (const char *const[]){"device.sms=1", NULL},
                                              .check = true},
                         text);
        for (uint32_t k = 0; k < HAZARDS; k++)
            if (!comes_out(&r, k))
                fail_msg("%s comes out wrong with %s", hazards[k].kernel, mechs[m]);
        rig_close(&r);
    }
}

/* What a launch of a kernel counts with a mechanism; its cycles. */
static uint64_t count(const char *mech, const char *kernel, const char *counter, uint64_t *n) {
    struct rig r;
    rig_open_options(
        &r,
        &(struct rp_options){.gpu = "dac", .mech = mech, .set = (const char *const[]){"device.sms=1", NULL}},
        text);
    assert_non_null(launch(&r, kernel));
    *n = counter ? rig_counter(&r, counter) : 0;
    uint64_t cycles = r.cycles;
    rig_close(&r);
    return cycles;
}

/* Perfect memory: every access takes no time. CAE: of "webs", what is affine is all but accesses and control.
 * MTA: a load in a loop, with one stride in all warps, is known after some rounds. */
static void test_rival_counts(void **state) {
    (void)state;
    enum { WARPS = GRID * THREADS / 32, ROUNDS = 20 };
    uint64_t n, base = count("base", "stale", NULL, &n);
    assert_true(count("perfect-memory", "stale", "perfect.accesses", &n) < base / 2);
    assert_int_equal(n, 2 * ROUNDS * WARPS);
    (void)count("cae", "webs", "cae.executed", &n);
    assert_true(n >= (1 + 3 * 5) * WARPS); /* a start, and three in each round of the loop */
    (void)count("mta", "stale", "mta.loads", &n);
    assert_int_equal(n, ROUNDS * WARPS);
    (void)count("mta", "stale", "mta.fetched", &n);
    assert_true(n > 0);
}

/* Lines that MTA fetches come from DRAM the first time, but for some that join the request of a load, and
 * from L2 when the same is launched again. */
static void test_coverage(void **state) {
    (void)state;
    static const char code[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n"
        ".visible .entry sum(.param .u64 buffer, .param .u32 n, .param .u32 x)\n{\n"
        ".reg .b32 %r<8>; .reg .b64 %l<3>; .reg .pred %p<2>;\n"
        "ld.param.u64 %l0, [buffer]; mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mad.lo.u32 %r0, %r1, 64, "
        "%r0;\n"
        "mul.wide.u32 %l1, %r0, 4; add.u64 %l1, %l0, %l1; mov.u32 %r2, 0; mov.u32 %r3, 0;\n"
        "L: ld.global.u32 %r4, [%l1]; add.u32 %r3, %r3, %r4; add.u64 %l1, %l1, 1024; add.u32 %r2, %r2, 1;\n"
        "setp.lt.u32 %p0, %r2, 64; @%p0 bra L; st.global.u32 [%l1+131072], %r3; exit;\n}\n";
    struct rig r;
    rig_open_options(
        &r,
        &(struct rp_options){.gpu = "dac", .mech = "mta", .set = (const char *const[]){"device.sms=1", NULL}},
        code);
    for (uint32_t again = 0; again < 2; again++) {
        assert_non_null(launch(&r, "sum"));
        uint64_t fetched = again ? 0 : rig_counter(&r, "mta.fetched"),
                 used = again ? 0 : rig_counter(&r, "mta.used");
        assert_true(rig_counter(&r, "mta.used") > 0);
        assert_in_range(rig_counter(&r, "mta.dram.fetched"), fetched - fetched / 100, fetched);
        assert_in_range(rig_counter(&r, "mta.dram.used"), used - used / 100, used);
    }
    rig_close(&r);
}

/* What CAE's units do, by hand: two moves of constants, tid.x, tid.x + 5, its comparison with 500, and its
 * sum with what all lanes load from one address; not products of 64 bits, nor sums with what each lane loads.
 * tid.x is written out for the product, and once only; that sum for the next. One access has a tuple for an
 * address. */
static void test_cae(void **state) {
    (void)state;
    static const char code[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                               ".visible .entry tuples(.param .u64 buffer, .param .u32 n, .param .u32 x)\n{\n"
                               ".reg .b32 %r<8>; .reg .b64 %l<3>; .reg .pred %p<2>;\n"
                               "ld.param.u64 %l0, [buffer]; mov.u32 %r0, %tid.x; mul.wide.u32 %l1, %r0, 4;\n"
                               "add.u64 %l1, %l0, %l1; ld.global.u32 %r1, [%l1]; add.u32 %r2, %r1, %r0;\n"
                               "add.u32 %r3, %r0, 5; setp.lt.u32 %p0, %r3, 500; ld.global.u32 %r4, [%l0+8];\n"
                               "add.u32 %r5, %r4, %r3; add.u32 %r6, %r5, %r2; selp.b32 %r6, %r6, %r1, %p0;\n"
                               "st.global.u32 [%l1+131072], %r6; exit;\n}\n";
    enum { WARPS = GRID * THREADS / 32 };
    struct rig r;
    rig_open_options(
        &r,
        &(struct rp_options){
            .gpu = "dac", .mech = "cae", .set = (const char *const[]){"device.sms=1", NULL}, .check = true},
        code);
    const uint32_t *got = launch(&r, "tuples");
    assert_non_null(got);
    for (uint32_t t = 0; t < THREADS; t++)
        assert_int_equal(got[t], 2 + t + 5 + 2 * t);
    assert_int_equal(rig_counter(&r, "cae.executed"), 6 * WARPS);
    assert_int_equal(rig_counter(&r, "cae.expansions"), 2 * WARPS);
    assert_int_equal(rig_counter(&r, "cae.accesses"), WARPS);
    assert_int_equal(rig_counter(&r, "check.wrong"), 0);
    rig_close(&r);
}

/* Limits of the affine stack and of conditions: what needs more stays in the other stream, and comes out
 * right all the same. */
static void test_limits(void **state) {
    (void)state;
    static const char code[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n"
        ".visible .entry nested(.param .u64 buffer, .param .u32 n, .param .u32 x)\n{\n"
        ".reg .b32 %r<8>; .reg .b64 %l<3>; .reg .pred %p<4>;\n"
        "ld.param.u64 %l0, [buffer]; mov.u32 %r0, %tid.x; mul.wide.u32 %l1, %r0, 4; add.u64 %l1, %l0, %l1;\n"
        "setp.lt.u32 %p0, %r0, 40; @!%p0 bra J; st.global.u32 [%l1+131072], %r0; mov.u32 %r1, 0;\n"
        "A: st.global.u32 [%l1+132096], %r1; add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, %r0; @%p1 bra A;\n"
        "J: exit;\n}\n"
        ".visible .entry chosen(.param .u64 buffer, .param .u32 n, .param .u32 x)\n{\n"
        ".reg .b32 %r<8>; .reg .b64 %l<5>; .reg .pred %p<4>;\n"
        "ld.param.u64 %l0, [buffer]; mov.u32 %r0, %tid.x; min.u32 %r1, %r0, 9; max.u32 %r2, %r0, 20;\n"
        "mul.wide.u32 %l1, %r1, 4; add.u64 %l1, %l0, %l1; mul.wide.u32 %l2, %r2, 4; add.u64 %l2, %l0, %l2;\n"
        "mul.wide.u32 %l3, %r0, 4; add.u64 %l3, %l0, %l3;\n"
        "ld.global.u32 %r3, [%l2]; ld.global.u32 %r4, [%l1+256]; add.u32 %r3, %r3, %r4;\n"
        "st.global.u32 [%l3+131072], %r3; exit;\n}\n";
    /* A warp takes from its queues the address of a guarded store, and with a deeper stack those of the loop;
     * three addresses of "chosen", or two, if both conditions do not fit. */
    enum { WARPS = GRID * THREADS / 32 };
    static const struct {
        const char *set, *kernel;
        uint64_t least, most;
    } tries[] = {{"dac.stack=8", "nested", 2 * WARPS, UINT64_MAX},
                 {"dac.stack=1", "nested", WARPS, WARPS},
                 {"dac.dcrf=8", "chosen", 3 * WARPS, 3 * WARPS},
                 {"dac.dcrf=1", "chosen", 2 * WARPS, 2 * WARPS}};
    for (uint32_t k = 0; k < 4; k++) {
        struct rig r;
        rig_open_options(
            &r,
            &(struct rp_options){.gpu = "dac",
                                 .mech = "dac",
                                 .set = (const char *const[]){"device.sms=1", tries[k].set, NULL},
                                 .check = true},
            code);
        const uint32_t *got = launch(&r, tries[k].kernel);
        assert_non_null(got);
        for (uint32_t t = 0; t < THREADS; t++)
            if (k < 2)
                assert_int_equal(got[t], t < 40 ? t : WORDS / 2 + t);
            else
                assert_int_equal(got[t], (t > 20 ? t : 20) + (t < 9 ? t : 9) + 64);
        uint64_t n = rig_counter(&r, "dac.deq.addr") + rig_counter(&r, "dac.deq.data");
        assert_in_range(n, tries[k].least, tries[k].most);
        assert_int_equal(rig_counter(&r, "check.wrong"), 0);
        rig_close(&r);
    }
}

/* Launches that are cut come to a right end, in the plain code. */
static void test_cut(void **state) {
    (void)state;
    for (uint64_t cycles = 1; cycles < 4000; cycles = cycles * 3 + 100)
        for (uint32_t k = 0; k < HAZARDS; k++) {
            struct rig r;
            rig_open_options(
                &r,
                &(struct rp_options){.gpu = "dac",
                                     .mech = "dac",
                                     .set = (const char *const[]){"device.sms=1", "sm.blocks=2", NULL},
                                     .check = true,
                                     .max_cycles = cycles},
                text);
            if (strcmp(hazards[k].kernel, "polls") && !comes_out(&r, k))
                fail_msg("%s, cut after %u cycles, comes out wrong", hazards[k].kernel, (unsigned)cycles);
            rig_close(&r);
        }
}

/* Sleeping through cycles in which nothing happens changes no counter, whoever waits for what. */
static void test_sleep(void **state) {
    (void)state;
    static uint64_t count[2][RIG_COUNTERS];
    static const char *const sets[][5] = {
        {"device.sms=2", NULL},
        {"device.sms=1", "dac.atq=2", "dac.pwaq=8", "dac.pwpq=8", NULL},
        {"device.sms=1", "issue.policy=gto", "l1.mshrs=2", NULL},
    };
    for (uint32_t k = 0; k < HAZARDS * 3; k++)
        for (uint32_t awake = 0; awake < 2; awake++) {
            struct rig r;
            struct rp_counter c;
            open_dac(&r, sets[k % 3]);
            r.g->machine = machine_create(&r.g->config, &r.g->mechs, true, 1);
            r.g->machine->core.sleep = !awake;
            assert_non_null(launch(&r, hazards[k / 3].kernel));
            for (uint32_t i = 0; rp_counter(r.g, i, &c); i++)
                count[awake][i] = c.launch;
            for (uint32_t i = 0; awake && rp_counter(r.g, i, &c); i++)
                if (count[0][i] != count[1][i])
                    fail_msg("%s: %s is %llu with sleep, %llu without", hazards[k / 3].kernel, c.name,
                             (unsigned long long)count[0][i], (unsigned long long)count[1][i]);
            rig_close(&r);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hazards), cmocka_unit_test(test_rules),    cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_counts),  cmocka_unit_test(test_batches),  cmocka_unit_test(test_windows),
        cmocka_unit_test(test_vectors), cmocka_unit_test(test_coverage), cmocka_unit_test(test_cae),
        cmocka_unit_test(test_limits),  cmocka_unit_test(test_rivals),   cmocka_unit_test(test_rival_counts),
        cmocka_unit_test(test_cut),     cmocka_unit_test(test_sleep),
    };
    return cmocka_run_group_tests(tests, find_results, NULL);
}
