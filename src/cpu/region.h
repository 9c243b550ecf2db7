/* Blocks of a program's code that can be memoized: found in a trace, proved on the code.
 *
 * A block begins at one instruction of a loop's body and ends before another, and every round of the loop
 * passes both. What it computes must follow from registers, its inputs, and from memory that does not change:
 * it stores nothing that is read behind it. Its outputs are the registers that are live behind it, eight
 * bytes in all; a short chain of integer operations, such as a loop's counter, does not count as an output
 * but is done again when the block is skipped: those instructions are passengers.
 *
 * What callees read, and that memory does not change, is known from the trace alone. */
#ifndef REPRISE_CPU_REGION_H
#define REPRISE_CPU_REGION_H

#include "cpu/flowset.h"

enum { REGION_INPUTS = 16, REGION_OUTPUTS = 2, REGION_PASSENGERS = 24, REGION_MAX = 8 };

struct region_value {
    uint8_t reg, bytes;
};

struct region {
    uint64_t begin, end;    /* addresses of the first instruction and of the first behind it */
    uint64_t entry;         /* of the function, where its table is forgotten; 0: nowhere */
    uint32_t times, weight; /* in the trace, and cycles each time */
    struct region_value input[REGION_INPUTS], output[REGION_OUTPUTS];
    uint32_t inputs, outputs, passengers, loads;
    uint64_t load_at[REGION_INPUTS]; /* addresses and */
    uint32_t load[REGION_INPUTS]; /* words of loads that are done before the block; their values are inputs */
    uint32_t passenger[REGION_PASSENGERS]; /* words */
    bool direct;                           /* its one output can be looked up into its register */
    uint8_t scratch; /* else: an integer register that may be written when the block is skipped, or is over */
    uint8_t scratch2;
    bool assumes_memory; /* that memory it reads does not change */
};

struct region_limits {
    double ratio;    /* cycles for each input, at least */
    uint32_t weight; /* cycles, at least */
    uint32_t inputs; /* at most */
};

/* The best blocks, which do not overlap; how many. */
uint32_t region_find(const struct cputrace *t, const struct region_limits *l, struct region out[REGION_MAX]);

#endif
