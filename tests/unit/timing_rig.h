/* A GPU with one module loaded, for timing tests: launches, cycles, counters. */
#ifndef REPRISE_TEST_TIMING_RIG_H
#define REPRISE_TEST_TIMING_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/diag.h"
#include "gpu/gpu.h"
#include "gpu/timed.h"

/* RIG_FILL: what each word of the buffer holds until something is stored there, so that a result of 0 is not
 * taken for granted. */
enum { RIG_COUNTERS = 512, RIG_BYTES = 1 << 20, RIG_FILL = 0x5a5a5a5a };

struct rig {
    struct rp_gpu *g;
    struct rp_module *m;
    uint64_t buffer; /* RIG_BYTES of device memory, RIG_FILL at first */
    uint64_t cycles; /* of the last launch */
};

/* What kernels here take: a buffer, a count, a number. */
struct rig_params {
    uint64_t buffer;
    uint32_t n, x;
};

/* Makes a GPU (set: NULL-terminated "path=value", or NULL) and loads PTX text into it. */
void rig_open(struct rig *r, const char *gpu, const char *const *set, bool functional, const char *ptx);
/* The same with all that can be chosen. */
void rig_open_options(struct rig *r, const struct rp_options *options, const char *ptx);
void rig_close(struct rig *r);
/* Zeroes the buffer, for kernels that count or wait in it. */
void rig_zero(const struct rig *r);
/* Launches; also checks, in timed runs, that the issue slots are all accounted for. */
enum rp_status rig_try(struct rig *r, const char *kernel, uint32_t grid, uint32_t block, uint32_t shared,
                       struct rig_params p, char **report);
/* The same where nothing may fail; returns cycles. p.buffer 0: the rig's own. */
uint64_t rig_run(struct rig *r, const char *kernel, uint32_t grid, uint32_t block, struct rig_params p);
/* What a counter gained in the last launch. */
uint64_t rig_counter(const struct rig *r, const char *name);
/* All of them. */
uint32_t rig_counters(const struct rig *r, uint64_t to[RIG_COUNTERS]);
/* A file of tests/timing/, to be freed. */
char *rig_file(const char *name);

#endif
