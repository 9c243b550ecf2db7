/* The papers' rows, all in one list. */
#include "study/paper.h"

#include <stddef.h>

enum { average_mean, average_geomean };

#define PAPER(n, g, s, b, t) {.kind = PAPER_PAPER, .name = n, .gpu = g, .suite = s, .bits = b, .text = t},
#define MODEL(n, t)          {.kind = PAPER_MODEL, .name = n, .text = t},
#define GROUP(n, t)          {.kind = PAPER_GROUP, .name = n, .text = t},
#define FIGURE(f, mean, t)   {.kind = PAPER_FIGURE, .figure = f, .text = t, .geometric = average_##mean},
#define SERIES(f, n, m, t)   {.kind = PAPER_SERIES, .figure = f, .name = n, .model = m, .text = t},
#define CHART(f, k, a, c)    {.kind = PAPER_CHART, .figure = f, .name = #k, .axis = a, .text = c},
#define CLAIM(f, n, t)       {.kind = PAPER_CLAIM, .figure = f, .name = n, .text = t},
#define UNABLE(n, t)         {.kind = PAPER_UNABLE, .name = n, .text = t},
static const struct paper_row rows[] = {
#include "study/papers/papers.def"
};
enum { NROWS = sizeof rows / sizeof rows[0] };

bool paper_at(uint32_t i, struct paper *out) {
    uint32_t first = 0, end;
    for (;; first++) {
        if (first == NROWS)
            return false;
        if (rows[first].kind == PAPER_PAPER && !i--)
            break;
    }
    for (end = first + 1; end < NROWS && rows[end].kind != PAPER_PAPER;)
        end++;
    *out = (struct paper){&rows[first], end - first};
    return true;
}

const struct paper_row *paper_next(const struct paper *p, const struct paper_row *after,
                                   enum paper_kind kind) {
    for (const struct paper_row *r = after ? after + 1 : p->head; r < p->head + p->rows; r++)
        if (r->kind == kind)
            return r;
    return NULL;
}
