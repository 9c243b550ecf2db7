#include "base/diag.h"

#include <stdio.h>
#include <string.h>

enum { DEFAULT_LIMIT = 20, MAX_SHOWN = 160, MAX_WORD = 63 };

static const char *const level_name[] = {"error", "warning", "note"};

static bool count(struct diag *d, enum diag_level level) {
    uint32_t limit = d->limit ? d->limit : DEFAULT_LIMIT;
    if (level == DIAG_WARNING)
        d->warnings++;
    if (level == DIAG_ERROR && ++d->errors == limit + 1)
        str_printf(&d->text, "more errors follow; only the first %u are shown\n", limit);
    return d->errors <= limit;
}

void diag_line_col(const struct diag_source *src, size_t at, uint32_t *line, uint32_t *col) {
    uint32_t l = 1, c = 1;
    if (src->lines) {
        uint32_t lo = 0, hi = src->nlines;
        while (hi - lo > 1) {
            uint32_t mid = lo + (hi - lo) / 2;
            if (src->lines[mid] <= at)
                lo = mid;
            else
                hi = mid;
        }
        *line = lo + 1;
        *col = (uint32_t)(at - src->lines[lo]) + 1;
        return;
    }
    for (size_t i = 0; i < at && i < src->len; i++) {
        c++;
        if (src->text[i] == '\n') {
            l++;
            c = 1;
        }
    }
    *line = l;
    *col = c;
}

/* The source line that holds offset at, with unprintable bytes shown as '?', and a caret below. */
static void show_line(struct diag *d, const struct diag_source *src, size_t at) {
    size_t start = at, end = at;
    while (start > 0 && at - start <= MAX_SHOWN && src->text[start - 1] != '\n')
        start--;
    while (end < src->len && end - at <= MAX_SHOWN && src->text[end] != '\n')
        end++;
    const char *before = "";
    if (at - start > MAX_SHOWN / 2) { /* generated code has very long lines: show the part around the caret */
        start = at - MAX_SHOWN / 2;
        before = "...";
    }
    if (end - start > MAX_SHOWN)
        end = start + MAX_SHOWN;
    str_printf(&d->text, "    %s", before);
    for (size_t i = start; i < end; i++) {
        unsigned char ch = (unsigned char)src->text[i];
        char shown = ch == '\t' ? ' ' : ch < 32 || ch > 126 ? '?' : (char)ch;
        str_add(&d->text, &shown, 1);
    }
    str_printf(&d->text, "\n    %*s^\n", (int)(strlen(before) + at - start), "");
}

void diag_at(struct diag *d, enum diag_level level, const struct diag_source *src, size_t at, const char *fmt,
             ...) {
    if (!count(d, level))
        return;
    if (at > src->len)
        at = src->len;
    uint32_t line, col;
    diag_line_col(src, at, &line, &col);
    str_printf(&d->text, "%s:%u:%u: %s: ", src->name, line, col, level_name[level]);
    va_list ap;
    va_start(ap, fmt);
    str_vprintf(&d->text, fmt, ap);
    va_end(ap);
    str_printf(&d->text, "\n");
    show_line(d, src, at);
}

void diag_add(struct diag *d, enum diag_level level, const char *fmt, ...) {
    if (!count(d, level))
        return;
    str_printf(&d->text, "%s: ", level_name[level]);
    va_list ap;
    va_start(ap, fmt);
    str_vprintf(&d->text, fmt, ap);
    va_end(ap);
    str_printf(&d->text, "\n");
}

void diag_free(struct diag *d) {
    str_free(&d->text);
    *d = (struct diag){0};
}

/* Edit distance in which a swap of neighbours counts once; both words are at most MAX_WORD long. */
static uint32_t distance(const char *a, size_t n, const char *b, size_t m) {
    uint32_t row[3][MAX_WORD + 1];
    for (size_t j = 0; j <= m; j++)
        row[0][j] = (uint32_t)j;
    for (size_t i = 1; i <= n; i++) {
        uint32_t *cur = row[i % 3], *up = row[(i - 1) % 3], *up2 = row[(i + 1) % 3];
        cur[0] = (uint32_t)i;
        for (size_t j = 1; j <= m; j++) {
            uint32_t best = up[j - 1] + (a[i - 1] != b[j - 1]);
            if (up[j] + 1 < best)
                best = up[j] + 1;
            if (cur[j - 1] + 1 < best)
                best = cur[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && up2[j - 2] + 1 < best)
                best = up2[j - 2] + 1;
            cur[j] = best;
        }
    }
    return row[n % 3][m];
}

const char *diag_nearest(const char *word, size_t len, const char *(*next)(void *ctx, uint32_t i),
                         void *ctx) {
    if (len > MAX_WORD)
        return NULL;
    const char *best = NULL, *cand;
    uint32_t best_d = (uint32_t)(len <= 3 ? 1 : len <= 7 ? 2 : len / 3) + 1;
    for (uint32_t i = 0; (cand = next(ctx, i)); i++) {
        size_t m = strlen(cand);
        if (m > MAX_WORD)
            continue;
        uint32_t d = distance(word, len, cand, m);
        if (d < best_d) {
            best_d = d;
            best = cand;
        }
    }
    return best;
}
