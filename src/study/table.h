/* Results of many runs: every workload on every model of the machine, as their reports gave them.
 *
 * A model is a mechanism with settings; the first is the base machine, with which the others are compared.
 * This is the data; what is printed from it is in table_print.c and table_write.c. */
#ifndef REPRISE_STUDY_TABLE_H
#define REPRISE_STUDY_TABLE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/vec.h"

enum run_status {
    RUN_MISSING, /* not run, or stopped */
    RUN_OK,
    RUN_FAILED, /* ended with an error, or with a wrong result */
    RUN_WRONG,  /* ended well, but left other memory than the base machine */
};

struct run {
    enum run_status status;
    char *message;  /* of a run that is not RUN_OK, or NULL */
    json_t *report; /* what the run wrote, launches by name and digest only; NULL: nothing */
};

struct results {
    VEC(char *) workloads;
    VEC(char *) models; /* labels */
    struct run *runs;   /* of workload w on model m: [w * models.len + m] */
};

/* Makes room for the runs once workloads and models are complete. */
void results_begin(struct results *r);
struct run *results_run(const struct results *r, uint32_t w, uint32_t m);
void results_free(struct results *r);

/* Reads the report of a run, leaving out what is not kept; NULL, after a message to error, when there is
 * none.
 */
json_t *results_read(const char *path, struct str *error);
/* Compares the digests of every model with those of the base machine, and marks runs that differ. */
void results_check(struct results *r);

/* A figure of a run: total or counter by its name, "energy.X", "$PARAMETER" or a NAME of metrics.def, each
 * with "@MODEL" to mean another run of that workload ("@base": the first model). NAN when there is none. */
double results_value(const struct results *r, uint32_t w, uint32_t m, const char *name);
/* The value of a formula (stats/formula.h) for a run; NAN when a part is missing or the formula is none. */
double results_eval(const struct results *r, uint32_t w, uint32_t m, const char *formula);

/* The columns of a comparison, from metrics.def. */
enum metric_style { STYLE_COUNT, STYLE_JOULES, STYLE_FACTOR, STYLE_SAVING };
struct metric {
    const char *id, *title, *formula;
    enum metric_style style;
};
/* Metric i; NULL past the last one. */
const struct metric *metric_at(uint32_t i);
/* Its value in a run, per cent for savings; NAN when the run or a part of it is missing. */
double metric_value(const struct results *r, uint32_t w, uint32_t m, const struct metric *metric);
/* The geometric mean over all workloads of a model; NAN for styles that have none. */
double metric_mean(const struct results *r, uint32_t m, const struct metric *metric);

/* The table for people, at most 100 columns wide, then what went wrong. */
void results_print(const struct results *r, FILE *to);
/* The same data as JSON, with all counters, and as CSV, one line for each run. */
json_t *results_json(const struct results *r);
void results_csv(const struct results *r, struct str *out);

#endif
