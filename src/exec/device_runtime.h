/* Launches by device code: what a grid asks to be run, and what the host of a launch must know to answer
 * device code.
 *
 * A child runs when the grid that launched it has ended, after the children launched before it; that
 * satisfies the order of every stream and event, because a grid cannot wait for its children. A tail launch
 * runs when all other children of its grid have. */
#ifndef REPRISE_EXEC_DEVICE_RUNTIME_H
#define REPRISE_EXEC_DEVICE_RUNTIME_H

#include "base/vec.h"
#include "reprise.h"

/* What the system functions of the device runtime return; libcudadevrt translates it. */
enum device_error {
    DEVICE_OK = 0,
    DEVICE_INVALID_VALUE = 1,
    DEVICE_MAX_DEPTH = 5,
    DEVICE_INVALID_CONFIG = 7,
    DEVICE_INVALID_LIMIT = 13,
};

enum { DEVICE_MAX_NESTING = 24 }; /* grids that may launch each other, the host's among them */

/* A launch: being prepared, or to be run. */
struct child {
    uint64_t func;   /* the kernel's address; 0: not known yet */
    uint64_t buffer; /* device memory for its parameters, while it is being prepared */
    uint32_t bytes;  /* of them */
    uint32_t grid[3], block[3], shared;
    uint8_t *params; /* owned */
    bool tail;
};

/* Who runs the launch. Functions return false for what they do not know. */
struct device_host {
    void *ctx;
    bool (*param_bytes)(void *ctx, uint64_t func, uint32_t *bytes);
    enum device_error (*check)(void *ctx, const struct child *c);
    bool (*func_attribute)(void *ctx, uint64_t func, int attribute, int *value);
    bool (*occupancy)(void *ctx, uint64_t func, uint32_t threads, uint64_t shared, int *blocks);
    bool (*attribute)(void *ctx, int attribute, int *value);
    bool (*limit)(void *ctx, int limit, uint64_t *value);
};

struct device_runtime {
    struct device_host host;
    uint32_t depth;             /* of the grid that runs: 0 for the host's */
    VEC(struct child) prepared; /* whose parameters are being written */
    VEC(struct child) children; /* of the grid, in order */
    uint64_t handles;           /* streams and events given out */
};

#endif
