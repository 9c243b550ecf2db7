/* A kernel whose instructions are the same in a warp, a block or the grid, each as it says: what is behind
 * its parameters, for who counts redundancy. */
#ifndef REPRISE_TEST_LEVELS_H
#define REPRISE_TEST_LEVELS_H

/* clang-format off */
#define LEVELS_BODY \
    "{ .reg .b32 %r<16>; .reg .b64 %l<4>;\n" \
    "ld.param.u64 %l0, [buffer];\n" \
    "mov.u32 %r1, %tid.x;\n"                         /* the same in all warps: affine */ \
    "mov.u32 %r2, %tid.y;\n"                         /* uniform in a warp, of each its own */ \
    "mov.u32 %r3, %ctaid.x;\n"                       /* uniform, the same in a block */ \
    "shl.b32 %r4, %r1, 2;\n"                         /* affine, the same in the grid */ \
    "and.b32 %r5, %r4, 12;\n"                        /* the same: sources are affine */ \
    "mad.lo.u32 %r7, %r5, %r5, %r3;\n"               /* unstructured, the same in a block */ \
    "add.u32 %r8, %r7, %r2;\n"                       /* of each warp its own */ \
    "shl.b32 %r9, %r2, 7;\n"                         /* uniform in a warp */ \
    "add.u32 %r9, %r9, %r4;\n"                       /* of each warp its own */ \
    "cvt.u64.u32 %l1, %r9; add.u64 %l1, %l1, %l0;\n" /* two, the upper of which is the same in the grid */ \
    "st.global.u32 [%l1], %r8; exit; }\n"
/* clang-format on */

#endif
