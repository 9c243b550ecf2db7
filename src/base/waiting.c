#include "base/waiting.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

double waiting_clock(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

bool waiting_too_long(struct waiting_quiet *q, bool quiet) {
    enum { SECONDS = 5 };
    double now = waiting_clock();
    if (!quiet)
        q->since = 0;
    else if (!(q->since > 0))
        q->since = now;
    if (q->told || !quiet || now - q->since < SECONDS)
        return false;
    return q->told = true;
}

void waiting_ask(uint64_t expected) {
    char text[64];
    snprintf(text, sizeof text, "%s:%" PRIu64, isatty(STDERR_FILENO) ? "bar:1" : "lines:30", expected);
    setenv("REPRISE_PROGRESS", text, 0);
}

void waiting_read(struct waiting_line *w) {
    static const char *const names[] = {[WAITING_BAR] = "bar", [WAITING_LINES] = "lines"};
    const char *text = getenv("REPRISE_PROGRESS");
    *w = (struct waiting_line){.patience = 1};
    for (int i = WAITING_BAR; text && i <= WAITING_LINES; i++)
        if (!strncmp(text, names[i], strlen(names[i])))
            w->how = (enum waiting_how)i;
    const char *colon = text ? strchr(text, ':') : NULL;
    if (colon)
        w->patience = strtod(colon + 1, NULL);
    colon = colon ? strchr(colon + 1, ':') : NULL;
    w->expected = colon ? strtoull(colon + 1, NULL, 10) : 0;
}

void waiting_begin(struct waiting_line *w) {
    if (!(w->began > 0))
        w->began = waiting_clock();
}

/* On a terminal a few times a second, and soon again where something short has taken the line with it; in a
 * log after longer and longer times. */
bool waiting_is_time(const struct waiting_line *w, double now) {
    double since = now - (w->told > 0 ? w->told : w->began), spent = now - w->began;
    if (w->how == WAITING_NONE)
        return false;
    if (w->how == WAITING_LINES)
        return since >= (spent / 4 > w->patience ? spent / 4 : w->patience);
    return spent >= w->patience && (!(w->told > 0) || since >= (w->shown ? 0.25 : 0.05));
}

void waiting_add_time(struct str *line, double seconds) {
    str_printf(line, "%.0f:%02d", (seconds - (double)((long)seconds % 60)) / 60, (int)((long)seconds % 60));
}

void waiting_add_share(struct str *line, const struct waiting_line *w, double share, const char *what,
                       double spent) {
    enum { BAR = 24 };
    share = share < 0.99 ? share : 0.99;
    if (w->how == WAITING_BAR)
        str_printf(line, "[%.*s%*s] ", (int)(share * BAR),
                   "========================", BAR - (int)(share * BAR), "");
    str_printf(line, "%.0f%%%s  ", 100 * share, what);
    waiting_add_time(line, spent);
    if (share > 0.005) {
        str_printf(line, ", about ");
        waiting_add_time(line, spent / share - spent);
        str_printf(line, " left");
    }
}

void waiting_show(struct waiting_line *w, const struct str *line, double now) {
    if (w->how == WAITING_BAR) {
        struct winsize size = {.ws_col = 80};
        ioctl(STDERR_FILENO, TIOCGWINSZ, &size);
        fprintf(stderr, "\r\033[K%.*s", size.ws_col > 1 ? size.ws_col - 1 : 79, str_text(line));
        w->shown = true;
    } else {
        fprintf(stderr, "reprise: %s\n", str_text(line));
    }
    fflush(stderr);
    w->told = now;
}

void waiting_end(struct waiting_line *w) {
    if (w->shown)
        fputs("\r\033[K", stderr);
    w->shown = false;
}
