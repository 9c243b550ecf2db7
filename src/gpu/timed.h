/* The timed machine: SMs and the memory system, kept from launch to launch. */
#ifndef REPRISE_GPU_TIMED_H
#define REPRISE_GPU_TIMED_H

#include "cfg/gpu.h"
#include "core/core.h"
#include "gpu/progress.h"
#include "mech/registry.h"
#include "sim/calendar.h"
#include "stats/registry.h"

struct machine {
    struct arena arena;
    struct core_spec core;
    struct mem_spec memory;
    struct memsys *mem;
    struct sm **sms;
    uint64_t *wake;           /* cycle in which each SM must be ticked next */
    struct bits awake;        /* SMs to be ticked in the next cycle that has anything to do */
    struct calendar calendar; /* when the others must be; who was woken before may still stand in it */
    uint32_t *gpcs, ngpcs;    /* groups of SMs: their sizes */
    uint32_t nsms;
    uint64_t now;        /* cycles since the machine was made */
    struct probe *probe; /* watchers, or NULL */
    struct mech_set mechs;
    void *shared[MECH_MAX]; /* what the SMs share of each mechanism */
    struct str checked;     /* what --check found */
    struct crew *crew;      /* threads that help, or NULL */
    uint32_t threads;       /* that may work at once, this one included */
    uint8_t *later;         /* where they note accesses that take effect later, with its size */
    size_t later_bytes;
    uint64_t rounds; /* in which SMs went ahead by themselves, of all launches */
};

/* config has the parameters of the GPU and of the mechanisms. check: compare the values that mechanisms
 * supply with those the instructions compute. threads: that may work at once; 0: the machine goes cycle by
 * cycle. Results are the same. */
struct machine *machine_create(const struct config *config, const struct mech_set *mechs, bool check,
                               uint32_t threads);
void machine_free(struct machine *m);
/* How far a launch is timed, and how far it came. */
struct timed_span {
    uint64_t max_cycles, max_insts;  /* UINT64_MAX: to its end; neither is 0 */
    uint64_t max_blocks;             /* the first so many, which come to their end; UINT64_MAX: all */
    struct launch_progress progress; /* that is told of it, if somebody wants to see it */
    uint64_t
        cycles; /* that it took: at most max_cycles, unless it has a second stream, which comes to its end */
    uint64_t insts;        /* warp instructions that were timed */
    bool cut;              /* there is a rest */
    struct grid_rest rest; /* for exec_run_grid */
};

/* Runs a launch with at most per_sm blocks on an SM, as far as the span says; false on a fault (x->fault,
 * x->report). A cut falls between two cycles; with a second stream, between two blocks: those that have begun
 * come to their end. Values take effect when instructions issue, so that registers
 * and memory are whole there; of what is on its way, only the timing is lost. */
bool machine_run(struct machine *m, struct exec *x, uint32_t per_sm, struct timed_span *span);

/* Values that mechanisms which approximate have supplied, and check found to differ from those computed. */
uint64_t machine_differing(const struct machine *m);

/* Registers the counters of a machine with these mechanisms (NULL: none), without one. */
void machine_counters(struct counter_registry *r, const struct mech_set *mechs);
/* Binds the machine's units to counters that were registered so, before all others. */
void machine_bind(struct machine *m, struct counter_registry *r);

#endif
