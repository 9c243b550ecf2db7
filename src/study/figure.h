/* A paper's figures: which runs they need, what they show, which claims they are compared with.
 *
 * The tables come from repro_PAPER.def, which says what its rows mean. */
#ifndef REPRISE_STUDY_FIGURE_H
#define REPRISE_STUDY_FIGURE_H

#include "study/claims.h"
#include "study/plan.h"

struct repro_model {
    const char *label, *model;
};
struct repro_figure {
    const char *id;
    bool geometric; /* averages are geometric means */
    const char *title;
};
struct repro_series {
    const char *figure, *column, *model, *formula;
};
struct repro_claim {
    const char *figure, *id, *formula;
};
struct repro_unable {
    const char *id, *reason;
};

/* All of a paper; each list ends with a row of NULLs. */
struct repro_paper {
    const char *name, *title, *gpu, *suite;
    int bits;
    const struct repro_model *models;
    const struct repro_figure *figures;
    const struct repro_series *series;
    const struct repro_claim *claims;
    const struct repro_unable *unable;
};
extern const struct repro_paper repro_papers[];
extern const uint32_t repro_paper_count;

/* A column of a figure with its values. */
struct repro_column {
    const struct repro_series *series;
    double *values; /* one for each workload */
};

/* A figure with its data. */
struct repro_data {
    const struct repro_paper *paper;
    const struct repro_figure *figure;
    const struct results *results;
    VEC(struct repro_column) columns;
};

/* Computes the columns of a figure. */
void repro_fill(struct repro_data *d, const struct repro_paper *p, const struct repro_figure *f,
                const struct results *r);
void repro_data_free(struct repro_data *d);
/* The average of a column, as the figure has them. */
double repro_average(const struct repro_data *d, uint32_t column);
/* Ours for a claim's formula; star is what * in it stands for. NAN when a part is missing. */
double repro_value(const struct repro_data *d, const char *formula, const char *star);
/* The paper's abbreviation of workload w of the results; its name when there is none. */
const char *repro_benchmark(const struct repro_data *d, uint32_t w, char *out, size_t size);

/* A claim with what a figure gives for it. */
struct repro_row {
    struct claim claim;
    const char *figure, *explanation;
    double ours;
};
struct repro_rows {
    struct repro_row *at;
    uint32_t len, cap;
};
/* Appends a row for each claim of the figure. */
void repro_compare(const struct repro_data *d, const struct claims *c, struct repro_rows *out);

/* Prints a figure: every benchmark, or, in short, averages and extremes. */
void repro_print(const struct repro_data *d, bool all);
void repro_print_rows(const struct repro_rows *rows, uint32_t from);
void repro_csv(const struct repro_data *d, struct str *out);
void repro_rows_csv(const struct repro_rows *rows, struct str *out);

#endif
