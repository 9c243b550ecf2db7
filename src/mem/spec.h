/* From the configuration to the specs of the units: the only place of the memory system that knows the
 * configuration. */
#ifndef REPRISE_MEM_SPEC_H
#define REPRISE_MEM_SPEC_H

#include "cfg/gpu.h"
#include "mem/coalescer.h"
#include "mem/memsys.h"

struct mem_spec mem_spec(const struct gpu_config *c);
struct coalescer_spec coalescer_spec(const struct gpu_config *c);

#endif
