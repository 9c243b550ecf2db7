/* Traces of a program on the simulated CPU: what was executed, and where each value came from.
 *
 * This is the dynamic data-dependence graph that AxMemo's analysis works on (Liu, Section 4.4): a vertex for
 * every executed instruction, with the cycles it takes as its weight, and edges from those that made its
 * operands, through registers and through memory. */
#ifndef REPRISE_CPU_CPUTRACE_H
#define REPRISE_CPU_CPUTRACE_H

#include "base/map.h"
#include "cpu/config.h"
#include "cpu/guest.h"

enum { NO_VERTEX = UINT32_MAX, TRACE_FIRST = 8 };

/* An instruction of the program. */
struct cputrace_code {
    uint64_t pc;
    uint32_t word;
    uint16_t op;
    uint8_t class, latency, size; /* size: bytes that a load or store touches */
    bool is_load, is_store, is_call, is_return, is_branch;
    struct a64_uses uses;
    uint32_t times, first[TRACE_FIRST]; /* how often it was executed, and the first of these */
};

/* One execution of it. */
struct cputrace_vertex {
    uint32_t code;
    uint32_t depth;             /* of calls; it starts at a number above zero */
    uint32_t src[A64_MAX_USES]; /* who made each operand, as uses has them, or NO_VERTEX: before the trace */
    uint32_t mem;               /* of a load: the last store to its first bytes, or NO_VERTEX */
    uint32_t last_reader;       /* of a store: the last load of what it wrote, or NO_VERTEX */
    uint64_t ea;                /* of a load or store */
    uint64_t value[2];          /* of its first results; of a division a number that no other has */
};

struct cputrace {
    VEC(struct cputrace_code) code;
    VEC(struct cputrace_vertex) at;
    uint64_t weight;       /* of all vertices */
    struct map by_pc;      /* numbers of code, from 1 */
    struct map stored;     /* addresses that were written, by eights: the last store, from 1 */
    struct map *functions; /* facts of functions, by their addresses: flowset.h */
    struct space *space;   /* of the guest, as the trace left it */
    uint64_t tls;          /* where its thread keeps what is its own, errno among it */
    const struct cpu_config *cfg;
    uint32_t limit, depth;
    uint32_t writer[A64_REGS];
    bool full;
};

/* Runs a guest and keeps what it executes, up to limit instructions: from the first mark of a region to the
 * next if region is true, else from skip instructions on. The guest must be fresh, and stay. */
void cputrace_run(struct cputrace *t, struct guest *g, const struct cpu_config *cfg, uint32_t limit,
                  bool region, uint64_t skip);
void cputrace_free(struct cputrace *t);

/* Whether a vertex is a load from memory that nothing can write. */
bool cputrace_reads_constant(const struct cputrace *t, const struct cputrace_vertex *v);

#endif
