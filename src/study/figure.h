/* A paper's figures from a table of runs, and its claims beside what they give. */
#ifndef REPRISE_STUDY_FIGURE_H
#define REPRISE_STUDY_FIGURE_H

#include "study/claims.h"
#include "study/paper.h"
#include "study/plan.h"

/* Adds the models that a figure needs to a plan: the paper's base machine, those of its columns, and those
 * that their formulas name; false after a message. */
bool figure_add_models(struct plan *p, const struct paper *paper, const struct paper_row *figure);

/* A column of a figure with its values. */
struct figure_column {
    const struct paper_row *series;
    double *values; /* one for each benchmark of the table; NAN where there is no row */
};

/* A figure with its data. */
struct figure {
    struct paper paper;
    const struct paper_row *row;
    const struct table *table;
    VEC(struct figure_column) columns;
};

/* Computes the columns of a figure. */
void figure_fill(struct figure *f, const struct paper *p, const struct paper_row *row, const struct table *t);
void figure_free(struct figure *f);
/* The average of a column, as the figure has them; over a group, a row of the paper, when that is not NULL.
 */
double figure_average(const struct figure *f, uint32_t column, const struct paper_row *group);
/* Ours for a claim's formula; star is what * in it stands for. NAN when a part is missing. */
double figure_value(const struct figure *f, const char *formula, const char *star);
/* The paper's abbreviation of a benchmark of the table; its label when there is none. */
const char *figure_bench(const struct figure *f, uint32_t bench, char *out, size_t size);

/* A claim with what a figure gives for it. */
struct claim_row {
    struct claim claim;
    const char *figure, *explanation;
    char *formula; /* what of the figure it is compared with, * replaced */
    double ours;
    bool part; /* ours is not of all that the claim is of */
};
struct claim_rows {
    struct claim_row *at;
    uint32_t len, cap;
};
/* How much of what the paper's figures rest on ours do: all, some benchmarks, or all or some at sizes that
 * leave the machine empty. A claim is said to agree or to differ only where ours is of the same; what
 * parameters alone give always is. */
enum figure_cover { FIGURE_WHOLE, FIGURE_SUBSET, FIGURE_OTHER_SIZE };
/* Appends a row for each claim of the figure; claim_rows_free frees them. */
void figure_claims(const struct figure *f, const struct claims *c, enum figure_cover cover,
                   struct claim_rows *out);
void claim_rows_free(struct claim_rows *rows);
enum verdict figure_verdict(const struct claim_row *r);

/* Prints a figure: every benchmark, or, in short, averages and extremes. */
void figure_print(const struct figure *f, bool all, FILE *to);
/* Prints the claims from a number on, with explanations where ours differs. */
void figure_print_claims(const struct claim_rows *rows, uint32_t from, FILE *to);
void figure_csv(const struct figure *f, struct str *out);
void figure_claims_csv(const struct claim_rows *rows, struct str *out);
/* What a chart of kind "curve" draws, by the text of its row (papers.def): {"from": number of the first value
 * in the benchmark's first result, "lines": [{"name", "values"}]}, or null where nothing has run. The stretch
 * is the one in which the others are furthest from the first. */
json_t *figure_curve(const struct figure *f, const char *text);
/* The same as JSON, for the report: a figure with its charts and its claims, those of rows from a number on.
 */
json_t *figure_json(const struct figure *f, const struct claim_rows *rows, uint32_t from);
/* All that is known of a paper's figures: figures is a list of them, which is taken over. */
json_t *figures_json(const struct paper *p, const struct table *t, json_t *figures);

#endif
