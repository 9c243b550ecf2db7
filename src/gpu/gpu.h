/* The simulated GPU: what include/reprise.h hands out. */
#ifndef REPRISE_GPU_GPU_H
#define REPRISE_GPU_GPU_H

#include "cfg/gpu.h"
#include "energy/gpu.h"
#include "exec/device_runtime.h"
#include "exec/texture_ops.h"
#include "exec/warp.h"
#include "gpu/mix.h"
#include "gpu/progress.h"
#include "mech/registry.h"
#include "opt/opt.h"
#include "profile/profile.h"
#include "profile/survey.h"
#include "ptx/lower.h"
#include "sanitize/sanitize.h"
#include "stats/formula.h"

/* A launch by device code. */
struct device_launch {
    struct rp_kernel *kernel;
    struct child child;
    uint32_t depth; /* of nesting; 1 and up */
};

/* Bytes that the host copied to the device. */
struct gpu_copy {
    uint64_t addr, bytes;
};

struct rp_gpu {
    struct config config;         /* the parameters of everything */
    const struct gpu_config *cfg; /* the GPU's own of them */
    struct rp_gpu_info info;
    struct rp_options opt; /* its strings are not kept */
    struct mech_set mechs;
    char *mech_name; /* of all of them, as the user ordered them */
    struct memory mem;
    struct textures tex;
    struct str out, err; /* device printf, assert: since the last rp_take_* */
    struct str out_given, err_given;
    size_t limits[3]; /* enum rp_limit */
    uint64_t clock;   /* what %clock had come to when the last launch ended */
    uint64_t heap_used;
    uint64_t begun;                  /* launches */
    struct running *running;         /* the launch that has the machine, or NULL */
    const char *(*pause)(void *ctx); /* see rp_gpu_pause */
    void *pause_ctx;
    struct device_runtime runtime;
    struct {
        bool (*attribute)(int, int *);
        bool (*limit)(int, size_t *);
    } answers;
    VEC(struct device_launch) waiting; /* by device code, the next one last */
    struct device_launch current;      /* the one handed out last */
    uint64_t param_block;    /* device memory that holds bank 0 of the launch, for addresses of parameters */
    uint64_t grid_workspace; /* barrier of cooperative launches */
    struct rp_totals totals;
    uint64_t code_end;           /* where the next kernel's instructions will lie */
    struct probe *probe;         /* watchers of timed launches, or NULL */
    struct sanitizer *san;       /* tools that look for mistakes, or NULL */
    struct survey *survey;       /* what is redundant in all launches, or NULL */
    struct str found_given;      /* what rp_take_findings gave last */
    VEC(struct gpu_copy) copies; /* from the host since the last timed launch, if it is to know of them */
    struct machine *machine;     /* timed runs; made by the first launch that is timed */
    struct blocks *blocks;       /* what untimed ones need where several threads run them, or NULL */
    struct profile_set profiles;
    struct counter_registry timed;            /* its counters, then the profiles', unless all is functional */
    uint64_t *timed_total, *timed_launch;     /* their values */
    uint64_t *sm_total, *sm_launch;           /* the same of each SM in turn, if they are kept */
    uint64_t sampled;                         /* timed warp instructions, as sampling planned them */
    uint64_t program_insts;                   /* those of all launches, also of what was passed over */
    uint64_t launch_cycles;                   /* of the last launch */
    struct waiting_line progress;             /* that is shown of all launches */
    struct energy_model energy[GPU_ACCOUNTS]; /* empty when all is functional */
    uint64_t counters[COUNTER_COUNT], launch_counters[COUNTER_COUNT]; /* of the run, of the last launch */
};

/* A kernel's machine code. */
struct kernel_code {
    struct program *prog; /* NULL until compiled */
    struct image *img;
    uint32_t limit; /* registers it was compiled for */
    bool alters;    /* it may allocate and free memory, or launch kernels */
};

/* A kernel: parsed with its module, compiled when first needed. */
struct rp_kernel {
    struct rp_module *mod;
    struct ptx_func *func;
    struct kernel_code plain;  /* without mechanisms: what functional launches run */
    uint64_t blocks, sampled;  /* of its launches so far: blocks, and those of them that sampling has timed */
    struct kernel_code passed; /* with the passes of the GPU's mechanisms, which are the same for its life */
};

struct rp_module {
    struct rp_gpu *gpu;
    char *name;
    struct ptx_module *ptx;
    struct ptx_layout layout;
    uint8_t *symbols;    /* bank BANK_SYMBOL */
    uint64_t const_base; /* device address of the .const space, or 0 */
    struct rp_kernel *kernels;
    uint32_t nkernels;
    VEC(uint64_t) allocs; /* device memory of its variables */
};

/* What reports derive from counters and parameters. */
extern const struct formula_table gpu_formulas;

/* The code that timed or functional launches of k run; it need not be compiled yet. */
struct kernel_code *kernel_code(struct rp_kernel *k, bool timed);
/* Compiles code, one of k's, for at most limit registers per thread (0: what the GPU and the kernel's
 * directives allow). */
enum rp_status kernel_compile(struct rp_kernel *k, struct kernel_code *code, uint32_t limit, char **log);
/* rp_kernel_info of that code. */
enum rp_status kernel_info(struct rp_kernel *k, struct kernel_code *code, struct rp_kernel_info *info,
                           char **log);

/* A launch of kernel k begins and has ended: what its grid may launch, and what it has. */
void children_begin(struct rp_gpu *g, struct rp_kernel *k);
void children_end(struct rp_gpu *g, struct rp_kernel *k, bool ok);
/* Forgets all launches by device code. */
void children_free(struct rp_gpu *g);
/* Whether a launch of that code, one of k's, is one that the GPU can run, as far as its sizes go. */
enum rp_status launch_check(struct rp_gpu *g, struct rp_kernel *k, struct kernel_code *code,
                            const struct rp_launch *l, char **report);

#endif
