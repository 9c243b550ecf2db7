/* Papers: what their figures are made of, as the rows of study/papers/NAME.def give it. papers.def lists the
 * files. */
#ifndef REPRISE_STUDY_PAPER_H
#define REPRISE_STUDY_PAPER_H

#include <stdbool.h>
#include <stdint.h>

/* What a row is, by the macro of the .def file; papers.def says what each means. */
enum paper_kind {
    PAPER_PAPER,
    PAPER_MODEL,
    PAPER_GROUP,
    PAPER_FIGURE,
    PAPER_SERIES,
    PAPER_CHART,
    PAPER_CLAIM,
    PAPER_UNABLE
};

struct paper_row {
    enum paper_kind kind;
    const char
        *name; /* the paper's name, a model's label, a group's name, a column, a kind of chart, a claim */
    const char *figure; /* of a figure, a column, a chart, a claim: which */
    const char *model;  /* of a column */
    const char *axis;   /* of a chart: what its values are */
    const char *text;   /* title, model, benchmarks, formula, columns or reason */
    const char *gpu, *suite;
    int bits;       /* these three of a paper: what it runs unless the user wants otherwise */
    bool geometric; /* of a figure: averages are geometric means */
};

/* A paper: a row of its own, then those that belong to it. */
struct paper {
    const struct paper_row *head;
    uint32_t rows; /* with the head */
};

/* Paper i; false past the last one. */
bool paper_at(uint32_t i, struct paper *out);
/* The row of a kind that comes after another one of the paper, NULL: the first; NULL past the last one. */
const struct paper_row *paper_next(const struct paper *p, const struct paper_row *after,
                                   enum paper_kind kind);

#endif
