/* How far a run is, for people who wait for it (base/waiting.h): its launches, and how many of the warp
 * instructions that all together will execute. */
#ifndef REPRISE_GPU_PROGRESS_H
#define REPRISE_GPU_PROGRESS_H

#include "base/waiting.h"

/* Of one launch. */
struct launch_progress {
    struct waiting_line *run; /* NULL: nobody wants to see it */
    const char *kernel;
    uint64_t launch, blocks, before; /* before: warp instructions of the launches before it */
    double began;
};

/* A launch begins, the first is number 1, of a kernel whose name must stay; before: warp instructions that
 * launches before it have executed. */
void launch_progress_begin(struct launch_progress *p, struct waiting_line *w, uint64_t launch,
                           const char *kernel, uint64_t blocks, uint64_t before);
/* It has come so far: blocks that ended, warp instructions, and cycles, 0 where it is not timed; may be
 * called often. */
void launch_progress_tell(struct launch_progress *p, uint64_t blocks, uint64_t insts, uint64_t cycles);
/* It has ended: the line goes. */
void launch_progress_end(struct launch_progress *p);

#endif
