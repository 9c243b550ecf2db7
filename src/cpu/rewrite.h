/* Programs with blocks memoized: the file of a program, in which the first instruction of each block became a
 * branch to code behind the program that hashes its inputs and looks them up, and the first one behind the
 * block a branch to code that puts its result into the table. */
#ifndef REPRISE_CPU_REWRITE_H
#define REPRISE_CPU_REWRITE_H

#include "base/diag.h"
#include "cpu/region.h"

/* Rewrites a program of size bytes; block k has table k and clears bits[k] low bits of its inputs. Without
 * blocks it stays as it is. The caller frees the new one; NULL: the reason is in d. */
uint8_t *rewrite(const uint8_t *file, size_t size, const struct region *blocks, const uint8_t *bits,
                 uint32_t n, size_t *new_size, struct diag *d);

#endif
