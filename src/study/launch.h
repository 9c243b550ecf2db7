/* Running a plan: what the store does not have yet, as processes of this machine or by way of others. */
#ifndef REPRISE_STUDY_LAUNCH_H
#define REPRISE_STUDY_LAUNCH_H

#include "study/jobs.h"
#include "study/plan.h"
#include "study/store.h"

/* A run that has to be done, once, however many rows want it. */
struct launch_run {
    struct run_key key;
    uint32_t row;     /* the first that wants it */
    bool results;     /* its declared results are wanted */
    json_t *report;   /* what came of it, where the store could not keep that */
    char *message;    /* why it failed, or NULL */
    double began;     /* seconds of a clock */
    double weight;    /* how long it takes, beside the others of the plan; 0: nobody knows */
    json_t *manifest; /* while it runs */
};

/* The runs of a plan. */
struct launch {
    struct plan *plan;
    struct store *store;
    bool fresh;           /* also those that have been done */
    struct run_key *keys; /* of each row */
    VEC(struct launch_run) todo;
    struct map by_key; /* from hashes to numbers of todo, from 1 */
};

/* Finds out which runs of a complete plan have to be done. */
void launch_begin(struct launch *l, struct plan *p, struct store *s, bool fresh);
/* Finds out how long they take, going by runs of the past, and without any by how much they have to do: the
 * weight of each. Seconds of one processor for all; NAN when nothing has run yet. */
double launch_estimate(struct launch *l);
/* Does them on this machine, sharing the work with other processes that are at the same runs. 0; 1 when runs
 * failed; JOBS_STOPPED when the user stopped it, and what was finished is kept. */
int launch_local(struct launch *l);
/* Compares finished runs with those on their base machines, where nobody has; calls wrong for each row that
 * did not compute the same. */
void launch_compare(struct launch *l, void (*wrong)(void *ctx, uint32_t row, const char *message), void *ctx);
/* What people call a run: benchmark and model; the caller frees it. */
char *launch_title(const struct launch *l, const struct launch_run *r);
void launch_end(struct launch *l);

/* Does run r by its command line in a process of its own, which must not return here; report and results are
 * the files that it writes. */
void launch_become(char *const *words);
/* What there is of a run that has ended with a status: its report, which the caller owns, or NULL after a
 * message to error, with an excerpt of the text that it printed. */
json_t *launch_outcome(int status, const char *report, const char *text, struct str *error);

/* All of it: fills the rows of the table, from the store or by runs that go into it, then checks them against
 * their bases. The exit status: 0; 1 when runs failed or gave wrong results; JOBS_STOPPED when the user
 * stopped it, with what was finished in the table. */
int launch_plan(struct plan *p, struct store *s, bool fresh);

#endif
