/* What a long launch has done so far, for people at a terminal: one line on stderr that is written again and
 * again, and is gone when the launch has ended. REPRISE_PROGRESS in the environment asks for it; the command
 * sets it when stderr is a terminal, so that logs have none of this. */
#ifndef REPRISE_GPU_PROGRESS_H
#define REPRISE_GPU_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct launch_progress {
    const char *kernel; /* NULL: nobody wants to see it */
    uint64_t launch, blocks;
    double began, told; /* seconds; told: when it last was, 0: not yet */
};

/* A launch begins, the first is number 1, of a kernel whose name must stay. */
void launch_progress_begin(struct launch_progress *p, uint64_t launch, const char *kernel, uint64_t blocks);
/* It has come so far: blocks that ended, and cycles, or warp instructions where it is not timed; may be
 * called often. */
void launch_progress_tell(struct launch_progress *p, uint64_t blocks, uint64_t done, bool timed);
/* It has ended: the line goes. */
void launch_progress_end(struct launch_progress *p);

#endif
