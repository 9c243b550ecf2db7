/* libcuda: every function of the driver API that no other file defines says so when called. They are weak,
 * so the list need not know which ones those are. */
#include "cuda/core.h"

#define MISSING(name)                                                                                        \
    __attribute__((weak, visibility("default"))) int name(void);                                             \
    __attribute__((weak)) int name(void) {                                                                   \
        static bool named;                                                                                   \
        return cud_unsupported(#name, &named);                                                               \
    }

#define PROC(name, suffix, version)      MISSING(name##suffix)
#define PROC_PTSZ(name, suffix, version) MISSING(name##suffix) MISSING(name##suffix##_ptsz)
#define PROC_PTDS(name, suffix, version) MISSING(name##suffix) MISSING(name##suffix##_ptds)
#include "cuda/driver/procs.def"
