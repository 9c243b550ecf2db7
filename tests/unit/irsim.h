/* Random machine code and a reference interpreter for one thread, to compare code before and after passes.
 *
 * What a program does is what it stores to global memory, in order. Floating-point operations are not
 * computed: a hash of the operation and its operands, after their sign modifiers, stands for the result, so
 * that any change of an operand shows; a fused multiply-add gives what its parts would. */
#ifndef REPRISE_TESTS_IRSIM_H
#define REPRISE_TESTS_IRSIM_H

#include "ir/ir.h"

enum { SIM_MEM = 4096, SIM_LOCAL = 65536, SIM_CONST = 1024 };

/* The stores of a run, hashed in order, and why it ended. */
struct sim_result {
    uint64_t hash;
    uint32_t stores, steps;
    const char *error; /* NULL: reached EXIT */
};

/* Runs function 0 of p: its blocks with virtual registers, or, when linked, p->code. garbage fills registers
 * and local memory at the start. */
struct sim_result sim_virtual(const struct program *p, uint32_t garbage);
struct sim_result sim_linked(const struct program *p, uint32_t garbage);

/* What to generate. */
struct gen_options {
    uint32_t seed;
    uint32_t size;  /* statements */
    uint32_t vars;  /* registers that live through the whole program: pressure */
    uint32_t preds; /* predicates that do */
    bool calls;     /* with a device function */
    /* For warps of threads on a machine: memory accesses stay within GEN_SHARED bytes of shared memory and
     * GEN_BUFFER bytes behind each of the GEN_BUFFERS pointers that are the parameters, loops end after
     * different rounds, and threads leave them, or the kernel, in the middle. */
    bool threads;
};
enum { GEN_SHARED = 8192, GEN_BUFFER = 8192, GEN_BUFFERS = 3, GEN_THREADS = 128 };
/* A program that always ends. */
void gen_program(struct program *p, const struct gen_options *o);

#endif
