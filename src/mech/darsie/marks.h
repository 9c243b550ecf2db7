/* What DARSIE's compiler pass says of instructions, and what a launch makes of it.
 *
 * The classes of the paper, DR > CR > V, are sets of indices on which a value may depend (flow/classes.h): DR
 * is a set within ctaid, CR one within ctaid and tid.x (with the 3D extension also tid.y), V any other. An
 * instruction is marked with the class of its result. When a kernel is launched, the block's shape says
 * whether CR counts as redundant.
 *
 * Two things are known beside the class. A value is stable if it has this class without regard to memory that
 * the kernel may write: then all warps that come to the instruction in the same round have the same value,
 * whatever was stored meanwhile. What is not stable is the same only in warps that have it from the same
 * leader. And a barrier is level if all threads of the block that still run pass it equally often, so that
 * warps which meet there are in the same round of every loop around it. */
#ifndef REPRISE_MECH_DARSIE_MARKS_H
#define REPRISE_MECH_DARSIE_MARKS_H

#include "core/view.h"
#include "mech/darsie/pass.h"

/* An instruction as the hardware of a launch sees it. */
struct darsie_mark {
    uint16_t versions;    /* bit k: source register k must be of the leader's version */
    bool redundant : 1;   /* led and followed */
    bool old_version : 1; /* guarded: the old value of the destination must be of the leader's version */
    bool load : 1;        /* redundant, and of memory that may be written */
    bool global : 1;      /* such a load may be of global memory */
    bool special : 1;     /* redundant, ordered or control: decoding it is more than renaming */
    bool ordered : 1;     /* store, atomic, asynchronous copy, ordered load: no redundant load overtakes it */
    bool sync : 1;        /* branch at which the majority path waits for all its warps */
    bool level : 1;       /* barrier at which warps are in the same round of all loops */
};

/* Of one kernel, before the shape of its blocks is known. */
struct darsie_marks;

/* The kernel-load point: shared is not used. */
const void *darsie_kernel(void *shared, struct arena *launch, const struct image *img);
/* The marks of all instructions for a launch; counts those that are redundant. */
const struct darsie_mark *darsie_finalise(const struct darsie_params *p, const struct darsie_marks *m,
                                          const struct exec *x, uint32_t *redundant);

#endif
