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

/* What part of all the work has been done. A job of which nobody knows how long it takes counts as much as
 * the others do on average. */
static double share_done(const struct jobs *j, const enum job_state *states) {
    double known = 0, known_done = 0;
    uint32_t n = 0, n_done = 0, done = 0;
    for (uint32_t i = 0; i < j->count; i++) {
        double weight = j->weight ? j->weight(j->ctx, i) : 0;
        bool over = ended(states[i]);
        known += weight;
        known_done += over ? weight : 0;
        n += weight > 0;
        n_done += weight > 0 && over;
        done += over;
    }
    double mean = n ? known / n : 1;
    return (known_done + mean * (done - n_done)) / (known + mean * (j->count - n));
}

/* One line that fits the terminal: bar, count, time spent and left, what runs. */
static void draw(const struct progress *p, const enum job_state *states) {
    struct winsize size = {.ws_col = 80};
    struct str line = {0};
    uint32_t done = 0, n = p->jobs->count;
    for (uint32_t i = 0; i < n; i++)
        done += ended(states[i]);
    ioctl(STDERR_FILENO, TIOCGWINSZ, &size);
    double share = share_done(p->jobs, states);
    int filled = (int)(share * BAR + 1e-9), spent = (int)(now() - p->began);
    str_printf(&line, "[%.*s%*s] %u/%u  %d:%02d", filled, "========================", BAR - filled, "", done,
               n, spent / 60, spent % 60);
    if (done) {
        int left = (int)((now() - p->began) * (1 - share) / share);
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
