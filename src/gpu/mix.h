/* The instruction mix: which counter each instruction belongs to. */
#ifndef REPRISE_GPU_MIX_H
#define REPRISE_GPU_MIX_H

#include "exec/warp.h"
#include "stats/stats.h"

/* The counter of the mix that executions of in belong to. */
enum counter mix_counter(const struct inst *in);
/* Adds a launch's executions, counted for each instruction of its image, to the counters of the mix. */
void mix_count(const struct image *img, const uint64_t *executed, uint64_t to[COUNTER_COUNT]);

#endif
