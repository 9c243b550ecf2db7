/* From the configuration of a GPU to the specs of the units of its memory system, which know no GPU. */
#ifndef REPRISE_GPU_MEM_SPEC_H
#define REPRISE_GPU_MEM_SPEC_H

#include "cfg/gpu.h"
#include "mem/memsys.h"

struct mem_spec mem_spec(const struct gpu_config *c);

#endif
