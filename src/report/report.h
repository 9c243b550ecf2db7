/* Reports of a run: what each part of it cost, written as one JSON object.
 *
 * The object has schema, the machine's name under what such machines are called ("gpu"), mech, settings, a
 * list of what ran ("kernels": one entry for each launch), totals, and host. Everything but host is the same
 * from run to run.
 *
 * Each entry and the totals say how much was timed: "all", "part" or "none". Instructions and the counters of
 * everything that ran are of all of it; cycles, ipc, the number of timed instructions and the other counters
 * of what was timed. derived has the machine's formulas, those that have a value. The report of a machine
 * whose mechanisms only approximate has approximate, which is true; that of a run which was ended by a signal
 * has incomplete, which says so, and what had ended before it. units, where it is wanted, has for each object
 * of numbers in the totals what these are: their unit, and their meaning in a sentence. */
#ifndef REPRISE_REPORT_REPORT_H
#define REPRISE_REPORT_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cfg/config.h"
#include "energy/energy.h"
#include "stats/formula.h"
#include "stats/registry.h"

/* The machine that a report is about. */
struct report_machine {
    const char *kind,
        *name;        /* what such a machine is called in reports, and what it is called: "gpu", its name */
    const char *mech; /* its mechanisms */
    bool approximate; /* they only approximate what programs compute */
    const char *runs; /* the list of what ran: "kernels" */
    const char *timed_insts; /* the instructions that were timed: "timed_warp_insts" */
    const char *parts;       /* counters of each part of the machine: "sms" */
    const struct config *config;
    const struct counter_registry *counters; /* of everything that ran */
    const struct counter_registry *timed;    /* of what was timed */
    const struct energy_model *energy;       /* one for each account of it; the first is the machine's own */
    uint32_t naccounts;
    const struct formula_table *formulas;
    bool units; /* reports say what their numbers are */
};

/* A number that some machine tells of its runs, or a few of them: instructions, the size of a grid. */
struct report_fact {
    const char *name;
    uint32_t n; /* 1: a number, else a list */
    uint64_t value[3];
};

enum report_timing { REPORT_TIMED_NONE, REPORT_TIMED_PART, REPORT_TIMED_ALL };

/* Something that ran, or all of it together. */
struct report_run {
    const char *name;      /* NULL: all together */
    const char *demangled; /* ... as people write it; NULL: the same */
    const char *remark;    /* what a mechanism says of it; NULL: nothing */
    const struct report_fact *facts;
    uint32_t nfacts;
    enum report_timing timing; /* of all together it follows from the others */
    uint64_t cycles, timed_insts;
    const uint64_t *counters, *timed; /* values by number; timed may be NULL when nothing was */
    const uint64_t *parts; /* those of timed for each part of the machine in turn; NULL: not kept */
    uint32_t nparts;
    const uint64_t *digest; /* a hash of what it left in memory; NULL: none is wanted */
};

/* What depends on the host. */
struct report_host {
    double seconds, rate;
    const char *rate_name; /* "warp_insts_per_s" */
};

/* The part of a report that is not the same for two runs: how long the run took, where, when, of which
 * version, and its command. */
json_t *report_host_json(const struct report_host *h);

struct report;

/* A report without entries. The machine must stay as it is until the report is freed. */
struct report *report_create(const struct report_machine *m);
/* Adds what ran next. */
void report_add(struct report *r, const struct report_run *run);
/* Writes the report, with what all runs together cost; false after a message. incomplete: why there might
 * have been more runs, or NULL. */
bool report_write(struct report *r, const struct report_run *totals, const struct report_host *host,
                  const char *incomplete, const char *path);
void report_free(struct report *r);

/* Prints what was timed, for people: time, energy, power and where the energy went. Nothing when nothing was
 * timed. */
void report_summary(const struct report_machine *m, const struct report_run *totals, FILE *to);

#endif
