/* The options that compare and repro share. */
#ifndef REPRISE_CLI_STUDY_OPTIONS_H
#define REPRISE_CLI_STUDY_OPTIONS_H

#include "study/plan.h"

#define STUDY_OPTIONS_HELP                                                                                   \
    "  --gpu NAME|FILE   the GPU: a name from 'reprise list gpus' or a .yaml file\n"                         \
    "  --set PATH=VALUE  change one parameter for all runs (repeatable)\n"                                   \
    "  --load FILE.so    know its mechanism as those built in (repeatable)\n"                                \
    "  --size S          tiny, small, medium or large (on a paper's machine medium, else small)\n"           \
    "  --max-insts N     warp instructions of a run that are timed, spread over its launches, or all;\n"     \
    "                    the rest runs functionally, and exactly (on a paper's machine 4000000, else\n"      \
    "                    all; all, too, where a machine approximates, since errors are of what is timed)\n"  \
    "  --bits 32|64      width of addresses in the kernels of workloads\n"                                   \
    "  -j N              runs at a time (default: the number of processors)\n"                               \
    "  --store DIR       where finished runs are kept and found (see docs/results.md)\n"                     \
    "  --fresh           do all runs, also those that were finished before\n"

/* Takes an option at argv (NULL-terminated) with its value. Returns the number of words used; 0 when it is
 * one of own, the caller's; -1 after a message. */
int study_option(struct plan *p, char **argv, const char *const *own, const char *help);
/* What sizes and sampling are when nobody says: paper: the machine is that of a paper. */
void study_defaults(struct plan *p, bool paper);
/* plan_complete, with the mechanisms that were loaded. */
bool study_complete(struct plan *p);

#endif
