/* From the configuration to the specification of an SM: the only place of core/ that knows the configuration.
 */
#ifndef REPRISE_CORE_SPEC_H
#define REPRISE_CORE_SPEC_H

#include "cfg/gpu.h"
#include "core/core.h"

struct core_spec core_spec(const struct gpu_config *c);

#endif
