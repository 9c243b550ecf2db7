#include "base/host.h"

#include <sched.h>

uint32_t host_processors(void) {
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
    return n < 1 ? 1 : (uint32_t)n;
}
