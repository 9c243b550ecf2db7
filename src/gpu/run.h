/* A timed launch in execution, between the files that run it. */
#ifndef REPRISE_GPU_RUN_H
#define REPRISE_GPU_RUN_H

#include "gpu/crew.h"
#include "gpu/timed.h"

struct strand;

struct run {
    struct machine *m;
    struct exec *x;
    uint64_t total, next;      /* blocks in all, next to start */
    uint32_t per_sm, together; /* together: blocks of a cluster */
    uint32_t gpc;              /* group of SMs that gets the next cluster */
    VEC(struct cluster *) all, spare;
    uint64_t ended; /* blocks that have ended */
    uint32_t warps; /* of a block */
    bool halted;    /* the SMs bring to an end what they have begun; then the launch is cut */
    uint64_t
        untimed;   /* instructions behind a cut that warps took because they could not be handed over yet */
    bool *refused; /* SMs whose mechanisms did not let a block enter that had room otherwise */
    /* SMs that go ahead by themselves (strands.c); NULL: those of this launch cannot. */
    struct strand *strands;
    struct bits open;          /* those that have something to do, or may */
    uint32_t *due;             /* who takes part in a round */
    uint64_t *written;         /* lines that accesses of a round write to */
    uint64_t ahead;            /* cycles of a round */
    uint64_t longest;          /* ... if more is known of replies */
    uint64_t reached;          /* the first cycle that not all SMs have gone through */
    uint64_t followed;         /* ... and the memory system */
    uint64_t round_end;        /* where a round ends ... */
    uint64_t limit;            /* ... and what no SM may go through in it */
    uint64_t most_insts_ahead; /* that all SMs can have executed, or passed over, two such rounds from now */
    uint64_t most_insts;       /* a limit of executed instructions ends the launch, or its timing */
    uint32_t trial;            /* rounds since it was last seen whether they pay */
    uint64_t plain_until;      /* they do not: until then the machine goes cycle by cycle */
    uint32_t failures;         /* how often in a row they did not */
    bool busy;                 /* memory has much to do */
    uint64_t seen_packets, seen_insts; /* in its networks, and of SMs, when that was last looked at */
    uint64_t drain_from;               /* after a fault: some parts of the machine have come as far as that */
};

/* A block has ended; ctx: the run. */
void run_block_done(void *ctx, struct cta *c);
/* Gives an SM one block if there is one and it has room. */
bool run_feed(struct run *r, uint32_t i);
/* Nothing is on any SM. */
bool machine_idle(const struct machine *m);

/* ---- strands.c ---- */
/* Before the SMs are prepared: decides whether they can go ahead by themselves in this launch. */
void strands_begin(struct run *r, struct arena *a);
/* The execution state that an SM is to use: its own, or the launch's. */
struct exec *strands_exec(struct run *r, uint32_t sm);
/* Can they, from cycle now on and up to limit, before max_insts instructions are reached? Asked just before
 * strands_run. */
bool strands_can(struct run *r, uint64_t now, uint64_t limit, uint64_t max_insts);
/* Lets them, from *now on, which nobody has gone through, up to limit, or until there is nothing to do. Sets
 * *now to the last cycle that all have gone through. False after a fault. */
bool strands_run(struct run *r, uint64_t *now, uint64_t limit);
/* Brings what the launch counts up to date. */
void strands_count(struct run *r);
/* Others may have changed what is mapped. */
void strands_paused(struct run *r);
/* The same, with how often each instruction was executed: for those who look at it, and at the end. */
void strands_gather(struct run *r);

#endif
