/* Between the files of the compiler passes. */
#ifndef REPRISE_MECH_LNL_COMPILE_H
#define REPRISE_MECH_LNL_COMPILE_H

#include "flow/classes.h"
#include "mech/lnl/pass.h"

/* A place in the function. */
struct lnl_place {
    uint32_t block, index;
};

struct lnl_region {
    struct lnl_place start, end;
    uint32_t name;  /* its number in the program */
    bits *in;       /* instructions, counted through the function */
    bits *precise;  /* those that all lanes execute */
    bits *values;   /* that live on behind the end and are interpolated there: by number of struct values */
    uint8_t loads;  /* entries of the table that it asks */
    uint8_t sticky; /* of these: those it leaves as they are */
    bool dropped;   /* not approximated, after a warning */
};

struct lnl_code {
    const struct pass_run *run;
    struct arena *arena;
    struct fn *f;
    struct reach reach;
    struct control control;
    const struct classes *classes;
    const struct accesses *accesses;
    VEC(struct lnl_region) regions;
    uint32_t n; /* instructions */
};

/* The rule holds. */
static inline bool lnl_keeps(const struct lnl_code *c, enum lnl_rule rule) {
    return !(((const struct lnl_params *)c->run->params)->omit & (int32_t)rule);
}
static inline struct inst *lnl_inst(const struct lnl_code *c, uint32_t block, uint32_t index) {
    return &c->f->blocks.at[block].insts.at[index];
}
static inline uint32_t lnl_number(const struct lnl_code *c, uint32_t block, uint32_t index) {
    return c->reach.first[block] + index;
}
static inline struct lnl_fact *lnl_fact(const struct lnl_code *c, struct inst *i) {
    return fact_make(c->run->p, LNL_OWNER, i, sizeof(struct lnl_fact));
}
static inline bool lnl_is(const struct inst *i, enum mark_mode mode) {
    return i->op == OP_MARK && i->m.mode == mode;
}

/* Refuses the kernel, or warns, because of instruction i: with file and line. */
void lnl_say(const struct pass_run *r, enum diag_level level, const struct inst *i, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Finds the regions; false: refused. */
bool lnl_find_regions(struct lnl_code *c);
/* Chooses entries for checked loads, and which of them each region asks. */
void lnl_choose_entries(struct lnl_code *c);
/* Finds what is precise in a region, and what is interpolated; false: refused. */
bool lnl_slice(struct lnl_code *c, struct lnl_region *r);
/* The version that an instruction reads of word w of source s; NONE: that is no register. */
uint32_t lnl_source(const struct lnl_code *c, uint32_t block, uint32_t index, uint32_t s, uint32_t w);

bool lnl_marks_pass(const struct pass_run *r);
bool lnl_regions_pass(const struct pass_run *r);

#endif
