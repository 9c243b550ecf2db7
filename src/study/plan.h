/* Every workload on every model of the machine: what compare and repro run, and how.
 *
 * A model is written MECH[:PATH=VALUE|:PROBE]...: a mechanism, or a stack of them, with settings of its own
 * and probes that watch it. The first is always the base machine. */
#ifndef REPRISE_STUDY_PLAN_H
#define REPRISE_STUDY_PLAN_H

#include "base/diag.h"
#include "study/suites.h"
#include "study/table.h"

struct matrix_model {
    char *mech;
    struct str probes; /* NAME[+NAME...] */
    VEC(char *) set;   /* "path=value" */
};

struct matrix {
    /* What to run; with a program, there is one row and workloads is empty. */
    struct workload_list workloads;
    char **program; /* NULL-terminated command line of a CUDA program, or NULL */
    VEC(struct matrix_model) models;
    /* How to run it. */
    struct workload_run run;
    const char *gpu;  /* NULL: the default */
    VEC(char *) set;  /* for every model; the caller's texts */
    bool check;       /* every value that a mechanism supplies is compared with the one computed */
    uint32_t jobs;    /* in parallel; 0: as many as there are processors */
    const char *keep; /* folder in which reports are kept and looked for first; NULL: nothing is kept */

    struct results results; /* the outcome; models as results.models names them */
};

/* Adds a model under a label, once; its number, or -1 after a message when the text is no model. */
int matrix_add_model(struct matrix *x, const char *label, const char *text);
/* Adds a workload, a suite's workloads, or all of them, each once; false after a message. */
bool matrix_add_workloads(struct matrix *x, const char *name);
/* Looks at the settings of every model before anything runs; false after a message. */
bool matrix_check(const struct matrix *x);
/* Runs what is not kept already and fills results. The exit status: 0; 1 when runs failed or gave wrong
 * results; 130 when the user stopped it, with what was finished in results. */
int matrix_run(struct matrix *x);
void matrix_free(struct matrix *x);

#endif
