/* The line that shows how far a launch is. */
#include "gpu/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/demangle.h"
#include "base/vec.h"

/* Short launches show nothing; the others a few lines a second. */
static const double patience = 1, pause_s = 0.25;

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void launch_progress_begin(struct launch_progress *p, uint64_t launch, const char *kernel, uint64_t blocks) {
    *p = (struct launch_progress){.launch = launch, .blocks = blocks};
    if (!getenv("REPRISE_PROGRESS"))
        return;
    p->kernel = kernel;
    p->began = seconds();
}

void launch_progress_tell(struct launch_progress *p, uint64_t blocks, uint64_t done, bool timed) {
    double now = seconds(), spent = now - p->began;
    if (spent < patience || now - p->told < pause_s)
        return;
    struct winsize size = {.ws_col = 80};
    ioctl(STDERR_FILENO, TIOCGWINSZ, &size);
    struct str line = {0};
    str_printf(&line, "launch %" PRIu64 ": %" PRIu64 " of %" PRIu64 " blocks, ", p->launch, blocks,
               p->blocks);
    double rate = (double)done / spent;
    if (timed)
        str_printf(&line, "%" PRIu64 " cycles, %.1f thousand a second; ", done, rate / 1e3);
    else
        str_printf(&line, "%.1f M warp instructions, %.1f M a second; ", (double)done / 1e6, rate / 1e6);
    str_add_name(&line, p->kernel);
    fprintf(stderr, "\r\033[K%.*s", size.ws_col > 1 ? size.ws_col - 1 : 79, str_text(&line));
    fflush(stderr);
    str_free(&line);
    p->told = now;
}

void launch_progress_end(struct launch_progress *p) {
    if (p->told > 0)
        fputs("\r\033[K", stderr);
}
