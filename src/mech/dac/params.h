/* Parameters of DAC. */
#ifndef REPRISE_MECH_DAC_PARAMS_H
#define REPRISE_MECH_DAC_PARAMS_H

#include <stdbool.h>
#include <stdint.h>

/* Rules that tests can leave out, to see that each is needed. */
enum dac_rule {
    DAC_RULE_ALIAS = 1 << 0,     /* no data ahead of a store that may write them */
    DAC_RULE_ARGUMENTS = 1 << 1, /* ... nor where arguments of the launch meet */
    DAC_RULE_BARRIER = 1 << 2,   /* a barrier holds expansion */
    DAC_RULE_ROUNDS = 1 << 3,    /* what a loop leaves that threads leave in different rounds is not affine */
    DAC_RULE_MERGE = 1 << 4,     /* nor what depends on the way that a thread came */
    DAC_RULE_TURNS = 1 << 5,     /* arms of a branch do not share registers */
    DAC_RULE_ENDS = 1 << 6,      /* two comparisons decide only without wrap-around */
    DAC_RULE_WIDTH = 1 << 7,     /* numbers wrap around before they are widened */
    DAC_RULE_ORDER = 1 << 8,     /* the affine warp takes the ways of a branch in the order of the warps */
    DAC_RULE_APART = 1 << 9,     /* no split where threads of a block come to different barriers */
    DAC_RULE_FACTORS = 1 << 10,  /* factors are the same in the whole grid */
    DAC_RULE_WHOLE = 1 << 11,    /* a scalar replaces all of a tuple, offsets included */
    DAC_RULE_NAMED = 1 << 12,    /* conditions that tuples in the queue name are kept for them */
    DAC_RULE_LINES = 1 << 13,    /* a load takes its lines as they come, and does not wait for all */
    DAC_RULE_POLLS = 1 << 14,    /* no split where a loop waits for memory */
    DAC_RULE_GUARD = 1 << 15,    /* the affine warp must have the guard of an access */
    DAC_RULE_SIDES = 1 << 16,    /* two comparisons decide only if both lie on the same side, */
    DAC_RULE_ROWS = 1 << 17,     /* ... for threads of one row, */
    DAC_RULE_PLAIN = 1 << 18,    /* ... of one tuple without a remainder */
    DAC_RULE_SCALE = 1 << 19,    /* the factor of a remainder stands beside it */
    DAC_RULE_FENCES = 1 << 20,   /* no data ahead of fences, atomics and ordered accesses */
    DAC_RULE_PLACES = 1 << 21,   /* no split where a barrier has a number, or is one of some threads only */
};

struct dac_params {
    int32_t atq, pwaq, pwpq, stack, dcrf, lanes, registers, without;
    bool prefetch, first, ask, shared;
    double pj_atq, pj_pwaq, pj_pwpq, pj_stack, pj_alu;
};

static inline bool dac_rule(const struct dac_params *p, enum dac_rule r) {
    return !((uint32_t)p->without & r);
}

#endif
