/* Plans: which benchmarks run on which models. The outcome is their table.
 *
 * A benchmark is written NAME[:size=S][:bits=B][:seed=N][:SETTING=VALUE]..., where NAME is a workload or a
 * suite of them and a SETTING one that the workload's README names. A model is written
 * MECH[:gpu=GPU][:PATH=VALUE][:PROBE]...: a mechanism, or a stack of them, with settings of its own and
 * probes that watch it; or PROGRAM:cpu=CPU[:PATH=VALUE]..., see study/cpu.h. */
#ifndef REPRISE_STUDY_PLAN_H
#define REPRISE_STUDY_PLAN_H

#include "study/table.h"

struct plan {
    struct table table; /* the rows to run, then what came of them */
    /* What holds for benchmarks and models that do not say otherwise. */
    enum workload_size size;
    int bits;            /* 32 or 64 */
    const char *gpu;     /* NULL: the default */
    VEC(char *) set;     /* "path=value", before a model's own; the caller's texts */
    VEC(char *) results; /* of a program: which they are, as report/results.h has it; the caller's texts */
    const char *const
        *load; /* shared objects whose mechanisms models may name, NULL-terminated; NULL: none */
    /* How they run. */
    uint64_t max_insts; /* warp instructions of a run that are timed, spread over it; 0: all */
    bool usual_part;    /* max_insts is what it usually is: all, where a model approximates */
    bool check;         /* every value that a mechanism supplies is compared with the one computed */
    uint32_t jobs;      /* in parallel; 0: as many as there are processors */
    const char *store;  /* where finished runs are kept; NULL: where they usually are */
    bool fresh;         /* what was finished is done again */
};

/* What a program is called that nobody named: its file, its arguments, and what it reads, unless that is
 * NULL; the caller frees it. */
char *plan_program_label(char **program, const char *input);
/* Adds what a text means, each benchmark once, under its text as a label; false after a message. */
bool plan_add_bench(struct plan *p, const char *text);
/* Adds a program of the user's, given as a NULL-terminated command line, which must outlive the plan, under
 * the name of its file; valid until the next benchmark is added. NULL when there is one of that label. */
struct bench *plan_add_program(struct plan *p, char **program);
/* The same under a label, in which control characters become blanks. */
struct bench *plan_add_program_as(struct plan *p, char **program, const char *label);
/* Adds a model under a label, once, and before the first one on a GPU, unless it is that, the base machine to
 * compare with; false, after a message, when the text is no model. */
bool plan_add_model(struct plan *p, const char *label, const char *text);
/* Adds a machine under a label, once: a model's text with a GPU, unless the text has one, and settings. base
 * is the number of the model with which it is compared, UINT32_MAX: itself. Its number; UINT32_MAX, after a
 * message, when the text is no model. */
uint32_t plan_add_machine(struct plan *p, const char *label, const char *text, const char *gpu,
                          char *const *set, uint32_t nset, uint32_t base);
/* Adds a row for every benchmark on every model. */
void plan_add_rows(struct plan *p);
/* Fills in what benchmarks and models leave open, and sees that there are such machines, and files that
 * programs read, and that results are known by which to measure those that approximate; false after a
 * message. */
bool plan_complete(struct plan *p);
/* Warp instructions that a run of the benchmark executes, when only a part of them is to be timed; 0: all
 * are, or it is not known how many there are. */
uint64_t plan_sampled(const struct plan *p, const struct bench *b);
/* Whether that is done in whole blocks: a mechanism makes other code of kernels, of which instructions are no
 * measure. */
bool plan_whole_blocks(const struct plan *p);
/* Which part of a run of b is timed, for its key; 0: all. */
uint64_t plan_part(const struct plan *p, const struct bench *b);
void plan_free(struct plan *p);

#endif
