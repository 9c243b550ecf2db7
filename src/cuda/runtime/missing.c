/* libcudart: every function of the runtime API that no other file defines says so when called. They are weak,
 * so the list need not know which ones those are. */
#include "cuda/core.h"

#define CALL(name)                                                                                           \
    __attribute__((weak, visibility("default"))) int name(void);                                             \
    __attribute__((weak)) int name(void) {                                                                   \
        static bool named;                                                                                   \
        return cud_unsupported(#name, &named);                                                               \
    }
#include "cuda/runtime/calls.def"
