/* An in-order core of the kind of ARM's HPI, in time.
 *
 * Values are computed by the executors; the core is told of every instruction behind that, in order, and
 * works out the cycle in which it issues: when it has been fetched, when its operands can be taken over, when
 * a unit is free, in order and so many in a cycle. Nothing is simulated cycle by cycle but the memory behind
 * the first caches.
 *
 * Instructions end in order, too, and each keeps its place in its unit until it ends: as many as a unit takes
 * cycles. So one that ends late lets only a few issue behind it. A load that misses holds up those that need
 * its result, and others when the units are full. */
#ifndef REPRISE_CPU_HPI_H
#define REPRISE_CPU_HPI_H

#include "cpu/cpu.h"
#include "cpu/cpumem.h"
#include "cpu/konata.h"
#include "cpu/memo.h"
#include "cpu/predict.h"
#include "stats/counter.h"

enum hpi_unit { UNIT_ALU, UNIT_MUL, UNIT_DIV, UNIT_FP, UNIT_MEM, UNIT_MEMO, UNITS };

/* What a step must look after: a load or store that nothing else is, an operation of a unit that always takes
 * the same time, ...; everything. */
enum hpi_kind { HPI_ALU, HPI_FP, HPI_BRANCH, HPI_LOAD, HPI_STORE, HPI_ANY, HPI_KINDS };

enum { HPI_PLACES = 64, HPI_AHEAD = 64, HPI_LOADS = 8, HPI_STORES = 16, HPI_INPUTS = 32 };

/* What the core must know about an instruction; made once for each address. */
struct hpi_inst {
    uint64_t pc;
    uint64_t times; /* that it was executed and not yet counted */
    struct hpi_inst *next;
    uint32_t word;
    uint8_t class, unit, nsrc, ndst, step;          /* step: enum hpi_kind */
    uint8_t src[A64_MAX_USES], early[A64_MAX_USES]; /* registers, and how long before they are complete they
                                                       are taken; behind nsrc one that always is */
    uint8_t dst[A64_MAX_USES];                      /* behind ndst one that nobody reads */
    uint8_t latency;
    uint8_t base; /* the destination that is an address written back, among dst, or 255 */
    uint8_t busy; /* cycles until the unit takes the next one */
    uint8_t size; /* bytes that a load or store touches */
    bool is_branch, is_load, is_store, is_signed, is_memo, reads_flags, writes_flags;
    uint8_t table; /* of the memoization unit */
    enum branch_kind kind;
    uint8_t rn, rm; /* of a division */
};

struct hpi_counters { /* in words: hpi.c */
    uint64_t cycles, insts, classes[A64_CLASSES], reads, writes, branches, mispredicts, taken, lines,
        stall_front, stall_operand, stall_load, stall_unit, stall_store, stall_window, stall_memo,
        memo_branches;
};

/* A load that has not come, and the registers that wait for it. */
struct hpi_load {
    int number;     /* of the memory; CPUMEM_HIT: the slot is free */
    uint64_t shown; /* in the trace */
    uint64_t inst;
    uint8_t ndst, dst[A64_MAX_USES];
};

/* The memoization unit in time: inputs in the order of the program, which a load that has not come holds up.
 */
struct hpi_memo {
    struct hpi_input {
        int slot; /* of the load that brings it, or -1 */
        uint64_t at;
        uint32_t table, bytes;
    } inputs[HPI_INPUTS];
    uint32_t n;
    uint64_t starts[HPI_INPUTS]; /* when the last inputs went into the CRC unit: until then each has a place
                                    of the queue */
    uint32_t next;
    uint64_t free_at, done[MEMO_TABLES]; /* the CRC unit, and the hash of each table */
};

struct hpi {
    const struct cpu_config *cfg;
    struct port *port;
    struct predictor predictor;
    struct arena *arena;
    struct hpi_inst *code; /* all that were described */
    uint64_t cycle;        /* in which the last instruction issued */
    uint32_t issued, alus; /* in that cycle */
    uint64_t free_at[UNITS];
    uint64_t complete[A64_REGS]; /* the cycle in which a register's value is; LOAD_PENDING + slot: when that
                                    load has come */
    uint8_t producer[A64_REGS];  /* the unit that it comes from */
    uint64_t issue[HPI_AHEAD];   /* cycles of the last instructions, by number */
    uint64_t last_end;
    struct hpi_places { /* of a unit: when the last ones that it took end, and their numbers */
        uint32_t size, next;
        uint64_t end[HPI_PLACES], inst[HPI_PLACES];
    } places[UNITS];
    struct hpi_load loads[HPI_LOADS];
    uint32_t nloads; /* under way */
    int slot;        /* of the instruction that issued last, if it is a load that missed, or -1 */
    struct hpi_store {
        int number;
        uint64_t address;
        uint32_t size;
    } stores[HPI_STORES];
    uint32_t nstores;
    /* front end */
    uint64_t front, line,
        line_at;      /* cycle of the next arrival, the line it comes from, and when that one began */
    uint32_t arrived; /* in that cycle */
    uint32_t shift;   /* of an address, to its line */
    const struct hpi_inst *branch; /* whose outcome the next instruction tells */
    uint64_t branch_at, branch_end;
    uint64_t until; /* the core stops when it is past this cycle */
    struct hpi_memo memo;
    bool by_lookup;       /* the flags are those of a look-up: a branch by them belongs to it */
    struct konata *trace; /* NULL: none */
    uint32_t id;          /* of the core, in it */
    struct hpi_counters n;
};

extern const struct counter_table hpi_counters;

void hpi_init(struct hpi *c, const struct cpu_config *cfg, struct port *port, struct arena *a);
/* What there is to know about a word at pc. */
struct hpi_inst *hpi_describe(struct hpi *c, uint32_t word, uint64_t pc, const struct a64_inst *i);
/* Everything under way ends. */
void hpi_finish(struct hpi *c);

/* Lets a CPU's instructions take their time on a core, from the next one on; the CPU must not be executing.
 */
void hpi_attach(struct hpi *c, struct cpu *cpu);
/* The following ones take none. */
void hpi_suspend(struct hpi *c, struct cpu *cpu);

#endif
