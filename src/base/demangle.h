/* Names of C++ as people write them. */
#ifndef REPRISE_BASE_DEMANGLE_H
#define REPRISE_BASE_DEMANGLE_H

#include "base/vec.h"

/* The declaration behind a mangled name, which the caller frees: "_Z4gemmIfEvPT_" is "void
 * gemm<float>(float*)". NULL when the name is none, or when the host has no C++ library, which knows how. */
char *demangle(const char *name);
/* Adds a name as people write it: demangled where it can be, else as it is. */
void str_add_name(struct str *to, const char *name);

#endif
