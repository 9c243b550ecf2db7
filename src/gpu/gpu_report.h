/* The report of a GPU's launches: what report/report.h writes, of a GPU.
 *
 * With REPRISE_DIGEST in the environment each launch, and the totals, also have a digest: a hash of the whole
 * device memory as the launch left it, and of all of these in turn. Two runs of a program that give the same
 * digest computed the same. When the GPU keeps counters of each SM, sms has them. Where mechanisms only
 * approximate, each launch and the totals say how many values --check found to be approximated. */
#ifndef REPRISE_GPU_GPU_REPORT_H
#define REPRISE_GPU_GPU_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "reprise.h"

struct gpu_report;

/* A report without launches, of a GPU that must stay until it is freed. */
struct gpu_report *gpu_report_create(struct rp_gpu *g);
/* Notes a launch that has just ended; before: the totals when it began. */
void gpu_report_launch(struct gpu_report *r, struct rp_kernel *k, const struct rp_launch *l,
                       struct rp_totals before);
/* Writes the report of the launches noted to path; false after a message. incomplete: as of report_write. May
 * be called while a launch runs. */
bool gpu_report_write(struct gpu_report *r, const char *incomplete, const char *path);
void gpu_report_free(struct gpu_report *r);

/* Prints for people which part of the run so far was timed, and what that cost. */
void gpu_report_summary(const struct rp_gpu *g, FILE *to);

#endif
