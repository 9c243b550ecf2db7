/* Runs in processes of their own, several at once; what they print comes in order, whatever ends first. */
#ifndef REPRISE_CLI_JOBS_H
#define REPRISE_CLI_JOBS_H

#include <stdbool.h>
#include <stdint.h>

struct jobs {
    uint32_t count, at_once;
    /* Job i, in its process: what it returns is its status. It may become another program. */
    int (*run)(void *ctx, uint32_t i);
    /* Job i has ended and its output been printed; called in the order of i. May be NULL. */
    void (*ended)(void *ctx, uint32_t i, int status);
    void *ctx;
};

/* Runs all; the status of the first job that did not succeed (a signal: 128 and its number), or 0. */
int jobs_run(const struct jobs *j);
/* Jobs that this machine can run at once. */
uint32_t jobs_default(void);

#endif
