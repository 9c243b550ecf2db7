/* A line that says how far something is, for people who wait for it: on a terminal one line with a bar,
 * written again and again and taken away at the end; in a log plain lines, fewer and fewer. REPRISE_PROGRESS
 * in the environment asks for it, as HOW[:SECONDS[:AMOUNT]]: HOW is bar or lines, anything else for nothing;
 * SECONDS pass before the first; AMOUNT is how much there is to be done, in the unit of who does it. The
 * command sets it. */
#ifndef REPRISE_BASE_WAITING_H
#define REPRISE_BASE_WAITING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

enum waiting_how { WAITING_NONE, WAITING_BAR, WAITING_LINES };

struct waiting_line {
    enum waiting_how how;
    double patience;    /* seconds before anything is shown */
    uint64_t expected;  /* 0: nobody knows */
    double began, told; /* seconds; 0: not yet; when something was shown last, 0: not yet */
    bool shown;         /* a line is there to be removed */
};

/* Seconds of a clock that nobody sets. */
double waiting_clock(void);

/* Something that may do nothing for long, which is to be mentioned once. */
struct waiting_quiet {
    double since; /* 0: it does something */
    bool told;
};
/* quiet: it does nothing now. True when that has been so for some seconds, for the first time. */
bool waiting_too_long(struct waiting_quiet *q, bool quiet);
/* Asks for a bar after a second where errors go to a terminal, else for lines after half a minute, unless it
 * has been said before how it is to be shown. expected: as above. */
void waiting_ask(uint64_t expected);
/* Reads what the environment asks for. */
void waiting_read(struct waiting_line *w);
/* The work begins, unless it has. */
void waiting_begin(struct waiting_line *w);
/* Whether it is time to show something; may be called often. */
bool waiting_is_time(const struct waiting_line *w, double now);
/* Adds to a line the bar, the share of the work that is done, what of it that is, the time spent and the time
 * left. */
void waiting_add_share(struct str *line, const struct waiting_line *w, double share, const char *what,
                       double spent);
/* Adds a time: minutes and seconds. */
void waiting_add_time(struct str *line, double seconds);
/* Shows a line, at this time. */
void waiting_show(struct waiting_line *w, const struct str *line, double now);
/* The line goes. */
void waiting_end(struct waiting_line *w);

#endif
