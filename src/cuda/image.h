/* From an image, as programs hand it over, to the PTX in it.
 *
 * Images lie in the program's own memory: PTX text, a fat binary, or the compiler's record of one. Nothing in
 * them is trusted, pointers and sizes included; what bounds them is the memory that is there. */
#ifndef REPRISE_CUDA_IMAGE_H
#define REPRISE_CUDA_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "cuda/fatbin.h"

/* Bytes from p on that can be read; 0 when there are none. */
size_t image_readable(const void *p);

/* The PTX in an image of size bytes (FATBIN_UNBOUNDED: nobody said how many), to be freed, for compute
 * capability cc. Parts of a device-linked image are linked; of what they define, kernels and variables called
 * roots are kept. NULL: *error is a cudaError and *log says why, to be freed. */
char *image_ptx(const void *image, size_t size, unsigned cc, const char *const *roots, uint32_t nroots,
                size_t *len, int *error, char **log);
/* The same of a compiler's record, wherever it points. */
char *image_ptx_of_wrapper(const struct fatbin_wrapper *w, unsigned cc, const char *const *roots,
                           uint32_t nroots, size_t *len, int *error, char **log);

#endif
