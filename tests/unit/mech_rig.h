/* Mechanisms made for a test, on a GPU of one SM. */
#ifndef REPRISE_TEST_MECH_RIG_H
#define REPRISE_TEST_MECH_RIG_H

#include "core/view.h"
#include "mech/registry.h"
#include "timing_rig.h"

extern struct sm *mech_sm; /* of the mechanism that was created last */

/* Opens a GPU (set: "path=value" words, or NULL) with these mechanisms, in this order; create, counts and
 * the like need not be given: their state is mech_sm. n 0: the base machine. */
void mech_rig_open(struct rig *r, const char *gpu, const char *set, const char *ptx, uint32_t n,
                   const struct mech_points *const *points);

/* Before the first launch: has --check look at what the mechanisms supply, and says whether they approximate.
 */
void mech_rig_check(struct rig *r, bool approximate);

/* Kernels that take a buffer, n and x: each thread t has the address of word t of the buffer in %l1, its
 * number in %r0, n in %r8 and x in %r9. */
#define KERNELS ".version 7.0\n.target sm_70\n.address_size 64\n"
#define KERNEL(name, body)                                                                                   \
    ".visible .entry " name "(.param .u64 buffer, .param .u32 n, .param .u32 x)\n"                           \
    "{ .reg .b32 %r<16>; .reg .b64 %l<4>; .reg .pred %p<4>;\n"                                               \
    "ld.param.u64 %l0, [buffer]; ld.param.u32 %r8, [n]; ld.param.u32 %r9, [x];\n"                            \
    "mov.u32 %r0, %tid.x; mul.wide.u32 %l1, %r0, 4; add.u64 %l1, %l0, %l1;\n" body " exit; }\n"

static inline uint32_t rig_word(const struct rig *r, uint32_t i) {
    return ((const uint32_t *)(uintptr_t)r->buffer)[i];
}

#endif
