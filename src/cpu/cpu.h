/* A simulated AArch64 CPU: the registers, and how code is executed.
 *
 * Code is decoded once into blocks of instructions, each of which calls the next one. A block starts where a
 * branch leads and goes on behind conditional branches up to one that is always taken. Branches remember the
 * block they led to, so that taking one again costs a look at a pointer. Nothing here knows what a system
 * call does: cpu_run returns at one. */
#ifndef REPRISE_CPU_CPU_H
#define REPRISE_CPU_CPU_H

#include "base/map.h"
#include "cpu/a64.h"
#include "cpu/softfp.h"
#include "cpu/space.h"

typedef unsigned __int128 u128;

union vreg {
    uint8_t b[16];
    uint16_t h[8];
    uint32_t s[4];
    uint64_t d[2];
    u128 q;
};

enum { BLOCK_MAX = 64, JUMPS = 4096 };

/* Code from one address on. */
struct block {
    uint64_t pc;
    uint32_t n;     /* instructions of the guest; all of them run unless a branch leaves it */
    uint32_t shift; /* each of them has 1 << shift entries of at */
    struct a64_inst at[];
};

/* Why cpu_run returned. */
enum cpu_stop {
    CPU_BUDGET,  /* as many instructions were executed as were asked for */
    CPU_SYSCALL, /* behind an SVC */
    CPU_FAULT,   /* the instruction at pc cannot be executed; see fault */
    CPU_PAUSE,   /* the watcher wants it */
    CPU_MARK,    /* behind a hint that begins or ends a region; see mark */
};

/* Is told of every instruction: behind it, or, where an instruction may not go on to the next one or its
 * operands matter (branches, divisions, the last of a block), before it. */
struct cpu_watch {
    /* Fills in fn, which ends in NEXT or cpu_pause, and note for the entry beside an instruction. NULL:
     * nobody watches. */
    void (*describe)(void *ctx, uint32_t word, uint64_t pc, const struct a64_inst *i, struct a64_inst *note);
    void *ctx;
};

/* Hints that mark the part of a program that is of interest; on every CPU they do nothing. */
enum { MARK_BEGIN = 0x7e, MARK_END = 0x7f };

enum cpu_fault_kind { FAULT_FETCH, FAULT_READ, FAULT_WRITE, FAULT_ALIGN, FAULT_UNDEFINED, FAULT_BREAKPOINT };

struct cpu {
    uint64_t x[A64_XREGS]; /* with the stack pointer, zero, and a place for what is written to zero */
    uint32_t nzcv;         /* the condition flags, four bits */
    bool fp_soft;          /* the host has no such mode: all results come from software */
    int64_t left; /* instructions that may still be executed; those of the current block are taken off */
    uint8_t *mem; /* as in space */
    const uint8_t *perm;
    uint64_t ea;                     /* address of the last load or store */
    struct block *block;             /* the one that is being executed */
    uint32_t odd32_base, odd32_span; /* results that software must look at, see exec.h */
    uint64_t odd64_base, odd64_span;
    union vreg v[32] __attribute__((aligned(16)));
    struct fp_env fp;                       /* exceptions the host saw are added when cpu_run returns */
    uint64_t exclusive, exclusive_value[2]; /* address and contents of an exclusive load; NO_ADDRESS: none */
    uint64_t tpidr;
    uint64_t pc; /* while nothing is executed */
    enum cpu_stop stop;
    struct {
        enum cpu_fault_kind kind;
        uint64_t address; /* of memory */
    } fault;
    uint64_t
        granted; /* instructions that all calls of cpu_run together were allowed; less left: those executed */

    bool marks; /* stop at marks of regions */
    uint8_t mark;
    struct memo *memo;             /* NULL: none */
    uint64_t memo_data;            /* what it found last */
    const struct a64_inst *resume; /* where a pause ended the last run; NULL: pc tells */
    struct cpu_watch watch;        /* when it is set, code must be forgotten */

    struct space *space;
    struct map blocks;          /* by address */
    struct arena code;          /* holds them */
    bool stale;                 /* they must be forgotten before more is executed */
    struct block *jumps[JUMPS]; /* the blocks that were looked for last */
};

/* A CPU with zeroed registers that executes in s. */
void cpu_init(struct cpu *c, struct space *s);
void cpu_free(struct cpu *c);
/* Executes from pc on, at most so many instructions. */
enum cpu_stop cpu_run(struct cpu *c, uint64_t budget);
/* Adds what went wrong at a CPU_FAULT: instruction, address, encoding, memory. */
void cpu_describe_fault(const struct cpu *c, struct str *out);
/* Code was changed, or what pages allow. */
void cpu_forget_code(struct cpu *c);

/* Sets FPCR, and with it how results are computed. */
void cpu_set_fpcr(struct cpu *c, uint32_t value);
/* FPSR, while code is executed and while not. */
uint32_t cpu_fpsr(struct cpu *c);
void cpu_set_fpsr(struct cpu *c, uint32_t value);
/* Instructions executed so far; while one is executed, those of its whole block. It is also the clock that
 * programs see. */
uint64_t cpu_counter(const struct cpu *c);

#endif
