/* Observers of execution: they see every instruction of a functional run and change nothing. A launch without
 * one pays nothing for this: the interpreter's loop exists once more for those that have one. Of timed runs
 * an observer sees where blocks begin and end; the instructions are told by probes (sim/probe.h). */
#ifndef REPRISE_EXEC_OBSERVE_H
#define REPRISE_EXEC_OBSERVE_H

#include "exec/warp.h"

struct observer {
    /* A block begins in c, which may have held another; c is given back. */
    void (*begin)(struct observer *, struct cta *c);
    void (*end)(struct observer *, struct cta *c);
    /* Instruction i is about to be carried out on a path of these lanes, for lanes m of them. The one that
     * was told before it has taken effect. */
    void (*step)(struct observer *, struct exec *x, struct warp *w, const struct xinst *i, uint32_t path,
                 uint32_t m);
    /* So has the last one: nothing more is told for now. */
    void (*settle)(struct observer *);
};

#endif
