/* How far a run is, for people who wait for it: on a terminal one line with a bar, written again and again
 * and gone when a launch has ended; in a log plain lines, fewer and fewer. REPRISE_PROGRESS in the
 * environment asks for it, as HOW[:SECONDS[:INSTRUCTIONS]]: HOW is bar or lines, anything else for nothing;
 * SECONDS pass before the first; all launches together will execute about so many warp INSTRUCTIONS. The
 * command sets it. */
#ifndef REPRISE_GPU_PROGRESS_H
#define REPRISE_GPU_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

enum progress_how { PROGRESS_NONE, PROGRESS_BAR, PROGRESS_LINES };

/* Of all launches of a GPU. */
struct run_progress {
    enum progress_how how;
    double patience;    /* seconds before anything is shown */
    uint64_t expected;  /* warp instructions; 0: nobody knows */
    double began, told; /* seconds; the first launch; when something was shown last, 0: not yet */
    bool shown;         /* a line is there to be removed */
};

/* Of one launch. */
struct launch_progress {
    struct run_progress *run; /* NULL: nobody wants to see it */
    const char *kernel;
    uint64_t launch, blocks, before; /* before: warp instructions of the launches before it */
    double began;
};

/* Reads what the environment asks for. */
void run_progress_read(struct run_progress *r);
/* A launch begins, the first is number 1, of a kernel whose name must stay; before: warp instructions that
 * launches before it have executed. */
void launch_progress_begin(struct launch_progress *p, struct run_progress *r, uint64_t launch,
                           const char *kernel, uint64_t blocks, uint64_t before);
/* It has come so far: blocks that ended, warp instructions, and cycles, 0 where it is not timed; may be
 * called often. */
void launch_progress_tell(struct launch_progress *p, uint64_t blocks, uint64_t insts, uint64_t cycles);
/* It has ended: the line goes. */
void launch_progress_end(struct launch_progress *p);

#endif
