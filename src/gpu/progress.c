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

void launch_progress_begin(struct launch_progress *p, uint64_t launch, const char *kernel, uint64_t blocks,
                           const char *unit) {
    *p = (struct launch_progress){.launch = launch, .blocks = blocks, .unit = unit};
    if (!getenv("REPRISE_PROGRESS"))
        return;
    p->kernel = kernel;
    p->began = seconds();
}

void launch_progress_tell(struct launch_progress *p, uint64_t blocks, uint64_t done) {
    double now = seconds(), spent = now - p->began;
    if (spent < patience || now - p->told < pause_s)
        return;
    struct winsize size = {.ws_col = 80};
    ioctl(STDERR_FILENO, TIOCGWINSZ, &size);
    char *name = demangle(p->kernel);
    struct str line = {0};
    str_printf(&line,
               "launch %" PRIu64 ": %" PRIu64 " of %" PRIu64 " blocks, %" PRIu64
               " %s, %.1f thousand a second; %s",
               p->launch, blocks, p->blocks, done, p->unit, (double)done / spent / 1e3,
               name ? name : p->kernel);
    fprintf(stderr, "\r\033[K%.*s", size.ws_col > 1 ? size.ws_col - 1 : 79, str_text(&line));
    fflush(stderr);
    str_free(&line);
    free(name);
    p->told = now;
}

void launch_progress_end(struct launch_progress *p) {
    if (p->told > 0)
        fputs("\r\033[K", stderr);
}
