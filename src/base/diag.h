/* Diagnostics: what is wrong with an input, where, and what was probably meant.
 *
 * Input never ends the process. A reader records errors here and goes on or gives up; its caller decides
 * whether the text goes to a terminal, an error log of the CUDA API, or a test. */
#ifndef REPRISE_BASE_DIAG_H
#define REPRISE_BASE_DIAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

/* A text being read; it need not be NUL-terminated. */
struct diag_source {
    const char *name, *text;
    size_t len;
    const uint32_t
        *lines; /* offsets at which lines start, the first 0, or NULL: only makes finding them quick */
    uint32_t nlines;
};

enum diag_level { DIAG_ERROR, DIAG_WARNING, DIAG_NOTE };

/* The messages collected so far. A zeroed struct is empty. */
struct diag {
    struct str text;
    uint32_t errors, warnings;
    uint32_t limit; /* errors printed before the rest is only counted; 0 means 20 */
};

/* Adds "name:line:col: error: message", the source line and a caret under byte offset at. */
void diag_at(struct diag *d, enum diag_level level, const struct diag_source *src, size_t at, const char *fmt,
             ...) __attribute__((format(printf, 5, 6)));
/* Adds a message without a place in a text. */
void diag_add(struct diag *d, enum diag_level level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Line and column (from 1) of byte offset at. */
void diag_line_col(const struct diag_source *src, size_t at, uint32_t *line, uint32_t *col);
void diag_free(struct diag *d);

/* The candidate nearest to word by edit distance, or NULL when none is near enough to be worth naming.
 * Candidates come one at a time from next(ctx, i), which returns NULL at the end. */
const char *diag_nearest(const char *word, size_t len, const char *(*next)(void *ctx, uint32_t i), void *ctx);

#endif
