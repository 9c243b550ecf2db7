/* The timed machine: SMs and the memory system, kept from launch to launch. */
#ifndef REPRISE_GPU_TIMED_H
#define REPRISE_GPU_TIMED_H

#include "cfg/config.h"
#include "core/core.h"
#include "mech/registry.h"
#include "stats/stats.h"

struct machine {
    struct arena arena;
    struct core_spec core;
    struct mem_spec memory;
    struct memsys *mem;
    struct sm **sms;
    uint64_t *wake;        /* cycle in which each SM must be ticked next */
    uint32_t *gpcs, ngpcs; /* groups of SMs: their sizes */
    uint32_t nsms;
    uint64_t now;        /* cycles since the machine was made */
    struct probe *probe; /* watchers, or NULL */
    struct mech_set mechs;
    void *shared[MECH_MAX]; /* what the SMs share of each mechanism */
    struct str checked;     /* what --check found */
};

/* check: compare the values that mechanisms supply with those the instructions compute. */
struct machine *machine_create(const struct gpu_config *cfg, const struct mech_set *mechs, bool check);
void machine_free(struct machine *m);
/* How far a launch is timed, and how far it came. */
struct timed_span {
    uint64_t max_cycles, max_insts; /* UINT64_MAX: to its end; neither is 0 */
    uint64_t cycles;                /* that it took, at most max_cycles */
    bool cut;                       /* there is a rest */
    struct grid_rest rest;          /* for exec_run_grid */
};

/* Runs a launch with at most per_sm blocks on an SM, as far as the span says; false on a fault (x->fault,
 * x->report). A cut falls between two cycles. Values take effect when instructions issue, so that registers
 * and memory are whole there; of what is on its way, only the timing is lost. */
bool machine_run(struct machine *m, struct exec *x, uint32_t per_sm, struct timed_span *span);

/* Counters of all units: how many there are, their values so far, and what number i is (its full name goes to
 * name). */
uint32_t machine_counter_count(const struct mech_set *mechs);
void machine_counters(struct machine *m, uint64_t *to);
/* One SM's share of them, with its caches; 0 for counters that are not of SMs. */
void machine_sm_counters(struct machine *m, uint32_t sm, uint64_t *to);
bool machine_counter_of_sms(const struct mech_set *mechs, uint32_t i);
struct counter_info machine_counter_info(const struct mech_set *mechs, uint32_t i, char *name, size_t size);
/* The number of the counter called name, or UINT32_MAX; an energy_find, whose ctx is a struct mech_set,
 * or NULL: no mechanisms. */
uint32_t machine_counter_find(const void *ctx, const char *name);

#endif
