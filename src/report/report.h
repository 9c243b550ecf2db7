/* Reports of a run: what each launch cost, written as one JSON object.
 *
 * The object has schema, gpu, mech, settings, kernels (one entry for each launch), totals, and host.
 * Everything but host is the same from run to run.
 *
 * Each kernel and the totals say how much was timed: "all", "part" or "none". Instructions and the counters
 * of the mix are of everything that ran; cycles, ipc, timed_warp_insts and the other counters of what was
 * timed.
 *
 * derived has the formulas of stats/formulas.def, those that have a value. With REPRISE_PER_SM in the
 * environment sms has, for each counter of SMs, an array with a value for each SM.
 *
 * The report of a GPU whose mechanisms only approximate has approximate, which is true; each launch and the
 * totals then say how many values --check found to be approximated.
 *
 * With REPRISE_DIGEST in the environment each launch, and the totals, also have a digest: a hash of the whole
 * device memory as the launch left it, and of all of these in turn. Two runs of a program that give the same
 * digest computed the same. */
#ifndef REPRISE_REPORT_REPORT_H
#define REPRISE_REPORT_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "reprise.h"

/* The launches noted so far; owned by the caller, made by the first note. */
struct report;

/* Notes a launch that has just ended; before: the totals when it began. */
void report_launch(struct report **r, struct rp_gpu *gpu, struct rp_kernel *k, const struct rp_launch *l,
                   struct rp_totals before);
/* Writes the report to path; false when that cannot be done. r may be NULL: no launches. */
bool report_write(const struct report *r, struct rp_gpu *gpu, const char *path);
void report_free(struct report *r);
/* Prints what was timed of the run so far, for people: time, energy, power and where the energy went. Nothing
 * when nothing was timed. */
void report_summary(const struct rp_gpu *gpu, FILE *to);

#endif
