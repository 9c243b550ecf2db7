/* Programs of the simulated CPU in studies.
 *
 * A benchmark of the CPU is one C program that was built in several ways, and a model says which: "base" is
 * the program as it is, another word a file of that ending beside it. So "memo:cpu=memo-8k" is NAME.memo on
 * the CPU memo-8k. "analysis" is the program as it is, analysed (reprise cpu memo) instead of run; its sample
 * is the smallest input, whatever size is wanted. */
#ifndef REPRISE_STUDY_CPU_H
#define REPRISE_STUDY_CPU_H

#include "study/table.h"

#define CPU_ANALYSIS "analysis"

typedef VEC(char *) cpu_words;

/* Finds out what the CPU of a model is; false, after a message, when there is none. */
bool cpu_look(struct model *m);
/* Whether every benchmark can run on every model; false after a message. */
bool cpu_fits(const struct table *t);
/* Whether the programs of all benchmarks were built, in the ways that models want; false after a message. */
bool cpu_built(const struct table *t);
/* What decides the outcome of a benchmark on a model, beside simulator and machine: hashes of the program and
 * of its arguments. */
void cpu_key(const struct bench *b, const struct model *m, uint64_t *program, uint64_t *input);
/* The command line of a run, which the caller frees: report and results go to files where these are not
 * NULL. False, after a message, when the program was not built. */
bool cpu_command(const struct bench *b, const struct model *m, const char *report, const char *results,
                 char ***words);

#endif
