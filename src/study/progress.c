/* Progress of jobs. */
#include "study/progress.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/vec.h"

enum { BAR = 24 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void progress_begin(struct progress *p, const struct jobs *j) {
    *p = (struct progress){.jobs = j, .terminal = isatty(STDERR_FILENO), .began = now()};
}

static bool ended(enum job_state s) {
    return s == JOB_DONE || s == JOB_FAILED;
}

static const char *title(const struct progress *p, uint32_t i) {
    return p->jobs->title(p->jobs->ctx, i);
}

/* One line that fits the terminal: bar, count, time spent and left, what runs. */
static void draw(const struct progress *p, const enum job_state *states) {
    struct winsize size = {.ws_col = 80};
    struct str line = {0};
    uint32_t done = 0, n = p->jobs->count;
    for (uint32_t i = 0; i < n; i++)
        done += ended(states[i]);
    ioctl(STDERR_FILENO, TIOCGWINSZ, &size);
    int filled = (int)(n ? done * BAR / n : BAR), spent = (int)(now() - p->began);
    str_printf(&line, "[%.*s%*s] %u/%u  %d:%02d", filled, "========================", BAR - filled, "", done,
               n, spent / 60, spent % 60);
    if (done) {
        int left = (int)((now() - p->began) * (n - done) / done);
        str_printf(&line, ", about %d:%02d left", left / 60, left % 60);
    }
    for (uint32_t i = 0, k = 0; i < n; i++)
        if (states[i] == JOB_RUNNING)
            str_printf(&line, "%s%s", k++ ? ", " : "  ", title(p, i));
    fprintf(stderr, "\r\033[K%.*s", size.ws_col > 1 ? size.ws_col - 1 : 79, str_text(&line));
    str_free(&line);
}

void progress_show(struct progress *p, const enum job_state *states) {
    uint32_t n = p->jobs->count;
    if (!p->jobs->title || !n)
        return;
    if (p->terminal) {
        draw(p, states);
        return;
    }
    for (; p->printed < n && ended(states[p->printed]); p->printed++)
        fprintf(stderr, "[%u/%u] %s%s\n", p->printed + 1, n, title(p, p->printed),
                states[p->printed] == JOB_FAILED ? ": failed" : "");
}

void progress_end(struct progress *p) {
    if (p->terminal && p->jobs->title && p->jobs->count)
        fputs("\r\033[K", stderr);
}
