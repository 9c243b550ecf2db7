/* Launches that have begun and not ended: the one that has the machine, and those that run beside it. */
#ifndef REPRISE_GPU_RUNNING_H
#define REPRISE_GPU_RUNNING_H

#include "gpu/gpu.h"

/* Device memory that a launch needs for itself. */
struct launch_places {
    uint64_t params;    /* bank 0, for addresses of parameters */
    uint64_t workspace; /* the barrier of cooperative launches */
};

/* The code in which a launch goes on untimed when what it runs timed has a second stream, which only the
 * timed machine can run; no image: in the same. */
struct rest_code {
    const struct program *prog;
    const struct image *img;
    uint64_t *executed;
};

struct running {
    struct exec x;
    uint8_t *bank0;
    struct rest_code rest;
    uint64_t cycles; /* that it took, where it was timed */
    /* What rp_launch_waits has seen: what was executed besides spinning, and since when that is so. */
    uint64_t other, spun;
    uint32_t quiet; /* times it was asked meanwhile */
};

/* Whether code of k can run the launch, for which it is compiled if need be; *slots: blocks that fit on the
 * GPU.
 */
enum rp_status launch_fits(struct rp_gpu *g, struct rp_kernel *k, struct kernel_code *code,
                           const struct rp_launch *l, uint32_t *slots, char **report);
/* Prepares a launch that has been checked, and gives back what it holds, adding it to what the run counts. */
void launch_open(struct running *r, struct rp_gpu *g, struct rp_kernel *k, struct kernel_code *code,
                 const struct rp_launch *l, const struct launch_places *at);
void launch_close(struct running *r, struct rp_gpu *g);

#endif
