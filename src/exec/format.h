/* Device printf: formats the argument buffer a kernel filled. */
#ifndef REPRISE_EXEC_FORMAT_H
#define REPRISE_EXEC_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

/* Finds the string at a device address: its bytes and *len, or NULL when there is none. */
typedef const char *format_string_fn(void *ctx, uint64_t addr, size_t *len);

/* Appends fmt (NUL-terminated) with its arguments to out, as C's printf would on the GPU. args holds nargs
 * bytes laid out as vprintf's caller does: each argument at its natural alignment, int and char in 4 bytes,
 * long, long long, size_t, pointers and double in 8. Arguments that are missing read as zero; a conversion
 * that does not exist is printed as it stands; widths and precisions are limited. %s asks read_string. */
void format_device(struct str *out, const char *fmt, const uint8_t *args, size_t nargs,
                   format_string_fn *read_string, void *ctx);

#endif
