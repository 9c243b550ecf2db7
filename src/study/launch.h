/* Running a plan: what the store does not have yet, as processes of this machine. */
#ifndef REPRISE_STUDY_LAUNCH_H
#define REPRISE_STUDY_LAUNCH_H

#include "study/jobs.h"
#include "study/plan.h"
#include "study/store.h"

/* Fills the rows of a complete plan, from the store or by runs that go into it, each once however many rows
 * want it; then checks them against their bases. The exit status: 0; 1 when runs failed or gave wrong
 * results; JOBS_STOPPED when the user stopped it, with what was finished in the table. */
int launch_plan(struct plan *p, struct store *s);

#endif
