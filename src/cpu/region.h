/* Blocks of a program's code that can be memoized: found in a trace, proved on the code.
 *
 * A block begins at one instruction and ends before another, and who passes the first passes both: in every
 * round of a loop, or wherever a path of conditional code, or a function, goes. What it computes must follow
 * from registers, its inputs, and from memory that does not change: it stores nothing that is read behind it.
 * Its outputs are the registers that are live behind it, eight bytes in all; a short chain of integer
 * operations, such as a loop's counter, does not count as an output but is done again when the block is
 * skipped: those instructions are passengers.
 *
 * What callees read, and that memory does not change, is known from the trace alone. */
#ifndef REPRISE_CPU_REGION_H
#define REPRISE_CPU_REGION_H

#include "cpu/callee.h"

enum { REGION_INPUTS = 32, REGION_OUTPUTS = 2, REGION_PASSENGERS = 24, REGION_MAX = 8 };

struct region_value {
    uint8_t reg, bytes;
};

struct region {
    uint64_t begin, end;    /* addresses of the first instruction and of the first behind it */
    uint64_t entry;         /* of the function, where its table is forgotten; 0: nowhere */
    uint32_t times, weight; /* in the trace, and cycles each time */
    struct region_value input[REGION_INPUTS], output[REGION_OUTPUTS];
    struct pointed pointed[REGION_INPUTS]; /* inputs in memory: what its callees load behind pointers */
    uint32_t inputs, outputs, passengers, loads, loaded, pointers; /* loaded: of the inputs, the first */
    uint64_t load_at[REGION_INPUTS];                               /* addresses and */
    uint32_t load[REGION_INPUTS]; /* words of loads that are done before the block; their values are inputs */
    uint32_t passenger[REGION_PASSENGERS]; /* words */
    bool direct;                           /* its one output can be looked up into its register */
    uint8_t scratch; /* else: an integer register that may be written when the block is skipped, or is over */
    uint8_t scratch2;
    uint8_t pointer_scratch; /* a register that may be written where the block begins, if it has pointers */
    double again;            /* of its times in the trace, how many had inputs that had been there, 0 to 1 */
    bool assumes_memory;     /* that memory it reads does not change */
};

struct region_limits {
    double ratio;    /* cycles for each input, at least */
    uint32_t weight; /* cycles, at least */
    uint32_t inputs; /* at most */
};

/* Inputs of a block, in registers and in memory. */
static inline uint32_t region_inputs(const struct region *r) {
    return r->inputs + r->pointers;
}

/* The best blocks, which do not overlap; how many. */
uint32_t region_find(const struct cputrace *t, const struct region_limits *l, struct region out[REGION_MAX]);

#endif
