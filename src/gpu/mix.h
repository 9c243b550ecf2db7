/* The instruction mix: which counter each instruction belongs to. */
#ifndef REPRISE_GPU_MIX_H
#define REPRISE_GPU_MIX_H

#include "exec/warp.h"
#include "stats/counter.h"

/* Counters of every run, functional or timed. */
enum counter {
#define COUNTER(field, ...) COUNTER_##field,
#include "gpu/mix.def"
#undef COUNTER
    COUNTER_COUNT,
    COUNTER_MIX = COUNTER_insts_warp + 1 /* the counters below this one are the instruction mix */
};

extern const struct counter_table mix_table; /* of an array of COUNTER_COUNT values */

/* The counter of the mix that executions of in belong to. */
enum counter mix_counter(const struct inst *in);
/* Adds a launch's executions, counted for each instruction of its image, to the counters of the mix. */
void mix_count(const struct image *img, const uint64_t *executed, uint64_t to[COUNTER_COUNT]);

#endif
