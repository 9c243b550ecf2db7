/* Runs that are compared with an exact one. */
#ifndef REPRISE_CLI_RUN_ERROR_H
#define REPRISE_CLI_RUN_ERROR_H

/* Runs a program (go, in a process of its own) exactly and as it is asked for, prints how far the results of
 * the second are off, and adds that to its report. The exit status: 1 where they are further off than `most`
 * percent of their mean. */
int cli_run_measured(double most, int (*go)(void *), void *ctx);

#endif
