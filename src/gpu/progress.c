/* The lines that show how far a run is. */
#include "gpu/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/demangle.h"
#include "base/vec.h"

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void run_progress_read(struct run_progress *r) {
    static const char *const names[] = {[PROGRESS_BAR] = "bar", [PROGRESS_LINES] = "lines"};
    const char *text = getenv("REPRISE_PROGRESS");
    *r = (struct run_progress){.patience = 1};
    for (int i = PROGRESS_BAR; text && i <= PROGRESS_LINES; i++)
        if (!strncmp(text, names[i], strlen(names[i])))
            r->how = (enum progress_how)i;
    const char *colon = text ? strchr(text, ':') : NULL;
    if (colon)
        r->patience = strtod(colon + 1, NULL);
    colon = colon ? strchr(colon + 1, ':') : NULL;
    r->expected = colon ? strtoull(colon + 1, NULL, 10) : 0;
}

void launch_progress_begin(struct launch_progress *p, struct run_progress *r, uint64_t launch,
                           const char *kernel, uint64_t blocks, uint64_t before) {
    if (r->how == PROGRESS_NONE)
        return;
    *p = (struct launch_progress){r, kernel, launch, blocks, before, seconds()};
    if (!(r->began > 0))
        r->began = p->began;
}

/* Whether it is time to show something: on a terminal a few times a second, and soon again where a short
 * launch has taken the line with it; in a log after longer and longer times. */
static bool is_time(const struct run_progress *r, double now) {
    double since = now - (r->told > 0 ? r->told : r->began), spent = now - r->began;
    if (r->how == PROGRESS_LINES)
        return since >= (spent / 4 > r->patience ? spent / 4 : r->patience);
    return spent >= r->patience && (!(r->told > 0) || since >= (r->shown ? 0.25 : 0.05));
}

static void add_time(struct str *s, double t) {
    str_printf(s, "%.0f:%02d", (t - (double)((long)t % 60)) / 60, (int)((long)t % 60));
}

/* The bar, the share that is done and the time that is left: of the run, if somebody knows how long it is,
 * else of the launch. */
static void add_share(struct str *s, const struct launch_progress *p, double now, uint64_t blocks,
                      uint64_t insts) {
    enum { BAR = 24 };
    const struct run_progress *r = p->run;
    double share = r->expected ? (double)(p->before + insts) / (double)r->expected
                               : (double)blocks / (double)p->blocks,
           spent = now - (r->expected ? r->began : p->began);
    share = share < 0.99 ? share : 0.99;
    if (r->how == PROGRESS_BAR)
        str_printf(s, "[%.*s%*s] ", (int)(share * BAR), "========================", BAR - (int)(share * BAR),
                   "");
    str_printf(s, "%.0f%%%s  ", 100 * share, r->expected ? "" : " of this launch");
    add_time(s, spent);
    if (share > 0.005) {
        str_printf(s, ", about ");
        add_time(s, spent / share - spent);
        str_printf(s, " left");
    }
}

void launch_progress_tell(struct launch_progress *p, uint64_t blocks, uint64_t insts, uint64_t cycles) {
    struct run_progress *r = p->run;
    const double brief = 0.05; /* seconds of which no speed is told */
    double now = seconds(), spent = now - p->began;
    if (!is_time(r, now))
        return;
    struct str line = {0};
    add_share(&line, p, now, blocks, insts);
    str_printf(&line, "  launch %" PRIu64 ": %" PRIu64 " of %" PRIu64 " blocks", p->launch, blocks,
               p->blocks);
    if (spent > brief && cycles)
        str_printf(&line, ", %.0f thousand cycles a second", (double)cycles / spent / 1e3);
    else if (spent > brief && insts)
        str_printf(&line, ", %.1f M warp instructions a second", (double)insts / spent / 1e6);
    str_printf(&line, ", ");
    str_add_name(&line, p->kernel);
    if (r->how == PROGRESS_BAR) {
        struct winsize size = {.ws_col = 80};
        ioctl(STDERR_FILENO, TIOCGWINSZ, &size);
        fprintf(stderr, "\r\033[K%.*s", size.ws_col > 1 ? size.ws_col - 1 : 79, line.at);
        r->shown = true;
    } else {
        fprintf(stderr, "reprise: %s\n", line.at);
    }
    fflush(stderr);
    str_free(&line);
    r->told = now;
}

void launch_progress_end(struct launch_progress *p) {
    if (p->run && p->run->shown)
        fputs("\r\033[K", stderr);
    if (p->run)
        p->run->shown = false;
}
