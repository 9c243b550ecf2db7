/* The simulated processor: cores with their caches, shared memory, and the programs that run on them.
 * Functional: the programs alone. */
#ifndef REPRISE_CPU_MACHINE_H
#define REPRISE_CPU_MACHINE_H

#include <signal.h>
#include <stdio.h>

#include "base/waiting.h"
#include "cpu/guest.h"
#include "cpu/hpi.h"
#include "energy/energy.h"
#include "report/report.h"
#include "stats/registry.h"

struct machine_options {
    const char *cpu;        /* a name in configs/cpu or a .yaml path; NULL: the default */
    const char *const *set; /* "path=value", NULL-terminated, or NULL */
    bool functional;
    bool region;        /* only what is between marks of programs takes time */
    uint32_t nprograms; /* at most as many as there are cores */
    struct guest_options programs[CPUMEM_CORES];
    uint64_t max_insts;                /* of each program */
    const volatile sig_atomic_t *stop; /* when it is not 0, programs are stopped soon; NULL: never */
    struct waiting_line *waiting;      /* is shown how far it is; NULL: nobody waits */
    const char *trace;                 /* a file, or NULL; cycles of it: */
    uint64_t trace_first, trace_last;
};

struct cpu_machine {
    struct config config;
    const struct cpu_config *cfg;
    bool functional, region;
    uint32_t n; /* programs */
    uint64_t max_insts;
    const volatile sig_atomic_t *interrupt;
    struct waiting_line *waiting;
    struct guest guest[CPUMEM_CORES];
    enum cpu_stop stop[CPUMEM_CORES];
    struct cpumem memory;
    struct hpi core[CPUMEM_CORES];
    struct arena arena; /* of the memoization units */
    struct memo memo[CPUMEM_CORES];
    struct konata *trace;
    struct counter_registry mix, timed;
    struct energy_model energy;
    double seconds; /* of the host */
};

/* Builds a machine and loads the programs. NULL: the reason is in d. */
struct cpu_machine *cpu_machine_create(const struct machine_options *o, struct diag *d);
void cpu_machine_free(struct cpu_machine *m);
/* Runs all programs to their ends. */
void cpu_machine_run(struct cpu_machine *m);
/* Cycles until all had ended; 0 when functional. */
uint64_t cpu_machine_cycles(const struct cpu_machine *m);

/* Writes the trace that was wanted; false when that cannot be done. */
bool cpu_machine_end_trace(struct cpu_machine *m);
/* Writes the report of the run; false when that cannot be done. incomplete: why programs did not end, or
 * NULL. */
bool cpu_machine_report(struct cpu_machine *m, const char *incomplete, const char *path);
/* Says what it cost, for people. */
void cpu_machine_summary(const struct cpu_machine *m, FILE *to);

/* Adds the parameters of a CPU to a configuration. */
void cpu_machine_params(struct config *c);
/* Reads a configuration of a CPU: a name in configs/cpu, a path or NULL, and settings, which may be NULL. The
 * caller frees it; false: the reason is in d. */
bool cpu_machine_config(struct config *c, const char *cpu, const char *const *set, struct diag *d);
/* Where the configurations of CPUs are; false, with a message, when there is no such folder. */
bool cpu_machine_config_dir(struct str *out, struct diag *d);

/* Parts of its energy. */
enum cpu_part {
    CPU_FETCH,
    CPU_DECODE,
    CPU_REGISTERS,
    CPU_INTEGER,
    CPU_FLOAT,
    CPU_L1D,
    CPU_L2,
    CPU_MEMO,
    CPU_CLOCK,
    CPU_DYNAMIC, /* those before are the processor's dynamic energy */
    CPU_DRAM = CPU_DYNAMIC,
    CPU_STATIC,
    CPU_PARTS
};
extern const struct energy_part cpu_parts[CPU_PARTS];
extern const struct energy_table cpu_energy;
extern const struct formula_table cpu_formulas;

#endif
