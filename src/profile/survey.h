/* Surveys: how much of a program is redundant, instruction by instruction, without any mechanism.
 *
 * A survey sees every instruction that the launches of a GPU execute: in functional runs as an observer
 * (exec/observe.h), in timed ones as a probe. survey.def lists what it counts. Definitions are those of the
 * probes (profile/compute.h, value.h) and of the mechanisms, asked of values and not of what a mechanism
 * would know of them.
 *
 * Each code, a kernel as it was compiled, is described when it is first launched, so that its module may go.
 * Counts of all its launches are added up. */
#ifndef REPRISE_PROFILE_SURVEY_H
#define REPRISE_PROFILE_SURVEY_H

#include "base/diag.h"
#include "exec/observe.h"
#include "profile/reason.h"
#include "sim/probe.h"

struct survey_counts {
#define KIND(field, ...) uint64_t field;
#include "profile/survey.def"
#undef KIND
};

struct survey_kind {
    const char *name, *unit, *meaning;
    size_t offset; /* in struct survey_counts */
};
/* Kind i; NULL past the last one. */
const struct survey_kind *survey_kind(uint32_t i);
static inline uint64_t survey_count(const struct survey_counts *c, const struct survey_kind *k) {
    return *(const uint64_t *)(const void *)((const char *)c + k->offset);
}
/* Adds all counts of from to to. */
void survey_add(struct survey_counts *to, const struct survey_counts *from);

/* A place in a source file. */
struct survey_place {
    const char *file; /* "": unknown */
    uint32_t line;
};

/* An instruction of a code; texts are the survey's. */
struct survey_inst {
    const char *text;
    uint32_t ptx_line;
    const char *ptx_text;     /* of that line */
    struct survey_place at;   /* source line; file "" and line 0: the module says nothing */
    struct survey_place *via; /* if it was inlined: where, from the innermost call on */
    uint32_t nvia;
    const struct reason_fact *fact; /* NULL: the compiler added it behind the analysis */
    const char *origin;             /* file of the fact's origin, or NULL */
    bool computes;
};

/* A kernel as it was compiled. */
struct survey_code {
    const char *name, *module;
    uint64_t address; /* by which it is known */
    uint32_t ncode;
    struct survey_inst *insts;
    struct survey_counts *counts; /* by instruction */
    uint64_t launches, cycles, blocks;
    uint32_t grid[3], block[3];  /* of the last launch */
    uint64_t untracked;          /* instructions whose like in other blocks could not be kept */
    struct reason_static affine; /* of its instructions, executed or not */
};

struct survey;

/* Of a GPU with so many SMs. */
struct survey *survey_create(uint32_t sms);
void survey_destroy(struct survey *s);
/* Code i, in the order of first launches; NULL past the last one. */
const struct survey_code *survey_code(const struct survey *s, uint32_t i);
/* What sees timed launches. */
struct probe *survey_probe(struct survey *s);

/* How a launch's module names things. */
struct survey_names {
    const struct diag_source *ptx;
    /* Place number site where a function was inlined; the next one is *out of it, 0: none. */
    bool (*site)(void *names, uint32_t site, uint32_t *file, uint32_t *line, uint32_t *out);
};
/* A launch begins: from here on x->observer sees it. */
void survey_begin(struct survey *s, struct exec *x, const struct survey_names *names);
/* It has ended, in so many cycles; its blocks are gone. */
void survey_end(struct survey *s, struct exec *x, uint64_t cycles);

#endif
