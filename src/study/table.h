/* Results of many runs, as rows by key.
 *
 * The key of a row says what ran and on which machine. What ran is a benchmark: a workload or a program, with
 * its size, width and arguments. The machine is a model: a GPU with mechanisms, probes and settings. Each
 * benchmark and each model stands in the table once, under a label by which people and formulas name it, and
 * a row is a pair of them with what the run's report said. Any pair may have a row or none, so that several
 * sizes, seeds and GPUs fit into one table, and parts of it are tables too.
 *
 * This is the data and what is computed from it; what is printed is in table_print.c and table_write.c. */
#ifndef REPRISE_STUDY_TABLE_H
#define REPRISE_STUDY_TABLE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/map.h"
#include "base/vec.h"
#include "study/workload.h"

/* The first half of a key: what ran. */
struct bench {
    char *label;
    const struct workload *workload; /* NULL: a program of the user's */
    char **program;                  /* the command line of that, NULL-terminated; the caller's */
    const char *input;               /* the file that it reads as its standard input; NULL: it has none */
    enum workload_size size;         /* of a workload, as what follows */
    int bits;
    VEC(char *) arguments; /* for the workload's program */
    VEC(char *) results;   /* of a program: which they are, as report/results.h has it; the caller's texts */
};

/* The second half: on which machine. */
struct model {
    char *label;
    char *gpu;         /* NULL: the default */
    char *cpu;         /* NULL: it is a GPU; else see study/cpu.h */
    char *mech;        /* NAME[+NAME...]; "base": none */
    struct str probes; /* NAME[+NAME...] */
    VEC(char *) set;   /* "path=value" */
    uint32_t base;     /* the model with which it is compared; itself when it is one of those */
    uint64_t machine;  /* what the machine is, see key_machine; plan_complete finds out */
    bool streams;      /* found by it, too: runs of its paper are sampled in whole blocks */
    bool approximate;  /* ... also this, unless it is set: the error of its results is measured */
};

enum row_status {
    ROW_MISSING, /* not run, or stopped */
    ROW_OK,
    ROW_FAILED, /* ended with an error, or with a wrong result */
    ROW_WRONG,  /* ended well, but did not compute what the base machine did */
};

struct row {
    uint32_t bench, model; /* numbers in the table */
    enum row_status status;
    char *message;  /* of a row that is not ROW_OK, or NULL */
    json_t *report; /* what the run wrote, as far as the store keeps it; NULL: nothing */
    char *results;  /* the file of its declared results, or NULL */
};

/* A zeroed struct is an empty table. */
struct table {
    VEC(struct bench) benches;
    VEC(struct model) models;
    VEC(struct row) rows; /* in the order in which they were added */
    struct map index;     /* from pairs to rows */
    double max_error; /* of approximated results, RMSE over mean in %, beyond which they are wrong; 0: none */
};

/* Adds a benchmark or a model under a label, unless there is one already; its number. A model is compared
 * with the first one until its base is set. */
uint32_t table_add_bench(struct table *t, const char *label);
uint32_t table_add_model(struct table *t, const char *label);
/* Adds the row of a benchmark and a model, unless there is one already; valid until the next one is added. */
struct row *table_add(struct table *t, uint32_t bench, uint32_t model);
/* The row of a benchmark and a model; NULL when there is none. */
struct row *table_row(const struct table *t, uint32_t bench, uint32_t model);
bool table_is_base(const struct table *t, const struct row *r);
void table_free(struct table *t);

/* Reads the report of a run, leaving out what rows do not keep; NULL, after a message to error, when there is
 * none. */
json_t *table_read_report(const char *path, struct str *error);
/* Compares every row with its base, and marks those that are wrong: an exact machine must leave the same
 * memory. One that approximates must have results; their error is added to the report (study/error.h). */
void table_check(struct table *t);
/* An error as reports have it. */
struct error;
json_t *table_error_json(const struct error *e);
/* Those of single launches, a list: each an error with "launch", its number, and "result", which one it is;
 * or with a "message", why it cannot be told. */
struct results;
json_t *table_launch_errors(const struct results *right, const struct results *got);
/* Prints such a list, a line for each up to so many, behind what names the run. */
void table_print_launches(const json_t *list, const char *name, uint32_t most, FILE *to);
/* Whether the run of a row was on a machine that approximates. */
bool row_approximates(const struct row *r);

/* A figure of a row: total or counter by its name, "energy.X", "gpuwattch.X" (the accounts), "error.X",
 * "$PARAMETER" or a NAME of metrics.def, each with "@MODEL" to mean another row of that benchmark ("@base":
 * that of the model it is compared with). NAN when there is none, or no row. */
double table_value(const struct table *t, const struct row *r, const char *name);
/* The value of a formula (stats/formula.h) for a row; NAN when a part is missing or the formula is none. */
double table_eval(const struct table *t, const struct row *r, const char *formula);

/* The columns of a comparison, from metrics.def: what the machine did, where its energy went, and, where it
 * approximates, the error. */
enum metric_part { PART_MACHINE, PART_ENERGY, PART_ERROR, METRIC_PARTS };
enum metric_style { STYLE_COUNT, STYLE_JOULES, STYLE_FACTOR, STYLE_SAVING, STYLE_PERCENT, STYLE_NUMBER };
struct metric {
    const char *id, *title, *formula;
    enum metric_style style;
};
/* Metric i of a part; NULL past the last one. */
const struct metric *metric_at(enum metric_part part, uint32_t i);
/* The parts of a table: those below, which are fewer unless a row approximates. */
enum metric_part table_parts(const struct table *t);
/* Its value in a row, per cent for savings; NAN when the row or a part of it is missing. */
double metric_value(const struct table *t, const struct row *r, const struct metric *metric);
/* The geometric mean over all rows of a model; NAN for styles that have none. */
double metric_mean(const struct table *t, uint32_t model, const struct metric *metric);
bool metric_has_mean(const struct metric *metric);

/* The table for people, at most 100 columns wide, then what went wrong. */
void table_print(const struct table *t, FILE *to);
/* The same for where energy goes. */
void table_print_energy(const struct table *t, FILE *to);
/* The same data as JSON, with all counters, and as CSV, one line for each row. */
json_t *table_json(const struct table *t);
void table_csv(const struct table *t, struct str *out);

#endif
